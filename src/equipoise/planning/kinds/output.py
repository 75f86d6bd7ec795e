"""Output perturbation: minimise, then add noise to the weights."""

from collections.abc import Iterator
from typing import ClassVar

from equipoise.certify.claims import Noise, Trained
from equipoise.certify.claims.output import Output
from equipoise.planning.kinds.base import Plan, Planner, exact_band
from equipoise.planning.laws import calibrations, quietest
from equipoise.planning.public_alpha import excess_risk, guessed_norm, public_alpha
from equipoise.planning.reference import of_problem, ridge_share
from equipoise.planning.request import Request
from equipoise.planning.rules import planned_setting
from equipoise.planning.stability import answers, smallest
from equipoise.planning.words import Section, number
from equipoise.planning.words import answers as answers_in_words
from equipoise.planning.work import passes_within
from equipoise.vocabulary.facts import Bound


class OutputPlanner(Planner[Output]):
    """Noise on the weights, calibrated to how far one row can move them. Serves every loss and penalty."""

    claim: ClassVar[type[Trained]] = Output
    words: ClassVar[str] = "noise on the weights"
    at_the_end: ClassVar[bool] = True

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan: the smallest certified sensitivity under the quietest noise."""
        self.no_parameter(parameter)
        alpha = public_alpha(request) if isinstance(request.alpha, str) else request.alpha
        problem = request.problem(alpha)
        situation = planned_setting(problem, request.n_samples, request.n_features, request.budget.epsilon)
        bound = smallest(situation)
        chosen = quietest(bound.sensitivity, situation.dimension, request.budget, request.mechanism)
        noise = chosen.noise(situation.dimension)
        imagined, ridge = of_problem(problem, request.n_features), situation.constants.strong_convexity
        share = ridge_share(imagined, ridge, 0.0, chosen.deviation)
        yield Plan(
            claim=Output(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=noise,
                sensitivity=bound.sensitivity,
                theorem=bound.theorem,
                tolerance=situation.recipe.tolerance,
                passes=passes_within(situation),
            ),
            share=share,
            noise=share - ridge_share(imagined, ridge, 0.0, 0.0),
            bounds=answers(situation),
            candidates=calibrations(bound.sensitivity, situation.dimension, request.budget, request.mechanism),
            excess_risk=excess_risk(situation, noise, guessed_norm(problem)),
        )

    def how(self, claim: Output, bounds: tuple[Bound, ...]) -> Section:
        """Say how far the weights can move."""
        slack = 2 * claim.tolerance / claim.constants.strong_convexity
        title = f"How far can the weights move? At most {number(claim.sensitivity)} (L2), by {claim.theorem}."
        included = (
            f"Each value includes 2 tau / mu = {number(slack)}, {slack / claim.sensitivity:.2%} of the sensitivity, "
            "for the solver's tolerance."
        )
        return title, (included, *answers_in_words(bounds, claim.theorem))

    def noise_of_a_weight(self, claim: Output) -> Noise | None:
        """Return the noise itself, which is the same for all weights."""
        return claim.noise

    def noise_words(self, claim: Output, deviation: float | None) -> str:
        """Say that it is exact."""
        return exact_band(deviation)
