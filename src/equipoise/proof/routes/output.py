"""Output perturbation: minimise, then add noise to the weights."""

from collections.abc import Iterator
from typing import ClassVar

from equipoise.certify.claims import Noise
from equipoise.certify.claims.output import Output as Claim
from equipoise.proof.mechanisms import calibrations, named, quietest
from equipoise.proof.public_alpha import excess_risk, guessed_norm, planned_setting, public_alpha
from equipoise.proof.reference import of_problem, ridge_share
from equipoise.proof.request import Request
from equipoise.proof.routes.base import PLAIN, Plan, Route
from equipoise.proof.theorems import bounds, smallest


class Output(Route):
    """Noise on the weights, calibrated to how far one row can move them. Serves every loss and penalty."""

    id: ClassVar[str] = "output"
    words: ClassVar[str] = "noise on the weights"

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan: the smallest certified sensitivity under the quietest noise."""
        self.no_parameter(parameter)
        alpha = public_alpha(request) if isinstance(request.alpha, str) else request.alpha
        problem = request.problem(alpha)
        situation = planned_setting(problem, request.n_samples, request.n_features, request.budget.epsilon)
        dimension = problem.dimension(request.n_features)
        bound = smallest(situation)
        chosen = quietest(bound.sensitivity, dimension, request.budget, request.mechanism)
        law = named(chosen.mechanism)
        facts = situation.constants
        yield Plan(
            route=self.id,
            loss=problem.loss.name,
            alpha=alpha,
            constants=facts,
            tolerance=situation.recipe.tolerance,
            bounds=bounds(situation),
            theorem=bound.theorem,
            sensitivity=bound.sensitivity,
            dimension=dimension,
            candidates=calibrations(bound.sensitivity, dimension, request.budget, request.mechanism),
            mechanism=chosen.mechanism,
            noise_scale=chosen.scale,
            noise_deviation=chosen.deviation,
            curve=law.curve(bound.sensitivity, dimension, chosen.scale),
            rounding=law.rounding(dimension),
            excess_risk=excess_risk(situation, chosen, guessed_norm(problem)),
            share=ridge_share(of_problem(problem, request.n_features), facts.strong_convexity, 0.0, chosen.deviation),
            procedure=PLAIN,
            claim=Claim(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise(chosen.mechanism, chosen.scale, dimension),
                sensitivity=bound.sensitivity,
                theorem=bound.theorem,
                tolerance=situation.recipe.tolerance,
            ),
        )
