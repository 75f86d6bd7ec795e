"""Noise on weights that another algorithm computed: heavy ball, ranking, bagging and the others that have a theorem."""

import math
from collections.abc import Iterator
from typing import ClassVar

from equipoise.certify.claims import Noise
from equipoise.certify.claims.own_method import OwnMethod
from equipoise.errors import InvalidParameter
from equipoise.proof.mechanisms import calibrations, named, quietest
from equipoise.proof.request import Request
from equipoise.proof.routes.base import PLAIN, Plan, Route
from equipoise.proof.theorems import bounds, members, smallest
from equipoise.proof.theorems.momentum import Momentum
from equipoise.proof.theorems.weighted import WeightedMinimiser, structure
from equipoise.vocabulary.constants import constants, setting
from equipoise.vocabulary.methods import Method, method_named


class OtherMethod(Route):
    """The certified distance of an algorithm that the caller's code runs. Whether it runs that one is an assumption."""

    id: ClassVar[str] = "method"
    words: ClassVar[str] = "noise on weights that the caller's code computes"
    minimises: ClassVar[bool] = False

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan: the smallest certified distance under the quietest noise."""
        recipe = request.recipe
        if recipe is None or not recipe.method:
            raise InvalidParameter("a recipe with a method", "none", 'pass Recipe(method="heavy-ball:0.5", ...)')
        if isinstance(request.alpha, str):
            raise InvalidParameter("alpha, a number", f"alpha={request.alpha!r}", "pass the strength of the penalty")
        problem = request.problem(request.alpha)
        situation = setting(problem, recipe, request.n_samples, request.n_features)
        bound = smallest(situation)
        theorem, facts = members()[bound.theorem](), situation.constants
        if isinstance(theorem, Momentum):
            facts = constants(problem, theorem.radius(situation))
        if isinstance(theorem, WeightedMinimiser) and recipe.tolerance == 0:
            raise InvalidParameter(
                "a tolerance: the norm of the gradient at which the training ends, for every table (A4)",
                "tolerance=0.0, an exact minimiser, which no computer returns",
                "pass Recipe(tolerance=1e-8, ...)",
            )
        method = method_named(recipe.method)
        dimension = released_numbers(method, problem.dimension(request.n_features))
        chosen = quietest(bound.sensitivity, dimension, request.budget, request.mechanism)
        law = named(chosen.mechanism)
        computed = (
            f"the caller's code computes {recipe.method} as docs/proofs/{bound.theorem}.md describes it, on the rows "
            "that it is given and on nothing else"
        )
        yield Plan(
            route=self.id,
            loss=problem.loss.name,
            alpha=request.alpha,
            constants=facts,
            tolerance=recipe.tolerance,
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
            excess_risk=math.inf,
            share=math.inf,
            procedure=PLAIN,
            recipe=recipe,
            assumptions=(computed, *([structure(method)] if structure(method) else [])),
            claim=OwnMethod(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise(chosen.mechanism, chosen.scale, dimension),
                sensitivity=bound.sensitivity,
                theorem=bound.theorem,
                recipe=recipe,
            ),
        )


def released_numbers(method: Method, dimension: int) -> int:
    """Return how many numbers a method trains for a model of so many weights.

    Examples
    --------
    >>> released_numbers(method_named("multi-task:40/25"), 3), released_numbers(method_named("bagging:7/20"), 3)
    (9, 20)
    """
    if method.name == "multi-task":
        # The common weights and those of every task.
        return (len(method.numbers) + 1) * dimension
    return method.counts[1] if method.name == "bagging" and len(method.numbers) == 2 else dimension
