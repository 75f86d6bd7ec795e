"""Noise on weights that another algorithm computed: heavy ball, ranking, bagging and the others that have a theorem."""

import math
from collections.abc import Iterator
from typing import ClassVar

from equipoise.certify import theorems
from equipoise.certify.claims import Noise, Trained
from equipoise.certify.claims.own_method import OwnMethod, released_numbers
from equipoise.certify.theorems.weighted import WeightedMinimiser
from equipoise.errors import InvalidParameter
from equipoise.planning.kinds.base import Plan, Planner
from equipoise.planning.laws import calibrations, quietest
from equipoise.planning.request import Request
from equipoise.planning.stability import answers, smallest
from equipoise.planning.words import Section, number, passes
from equipoise.planning.words import answers as answers_in_words
from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.facts import Bound
from equipoise.vocabulary.methods import method_named


class OwnMethodPlanner(Planner[OwnMethod]):
    """The certified distance of an algorithm that the caller's code runs. Whether it runs that one is an assumption."""

    claim: ClassVar[type[Trained]] = OwnMethod
    words: ClassVar[str] = "noise on weights that the caller's code computes"
    place: ClassVar[str] = "number"
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
        if issubclass(theorems.members()[bound.theorem], WeightedMinimiser) and recipe.tolerance == 0:
            raise InvalidParameter(
                "a tolerance: the norm of the gradient at which the training ends, for every table (A4)",
                "tolerance=0.0, an exact minimiser, which no computer returns",
                "pass Recipe(tolerance=1e-8, ...)",
            )
        dimension = released_numbers(method_named(recipe.method), situation.dimension)
        chosen = quietest(bound.sensitivity, dimension, request.budget, request.mechanism)
        yield Plan(
            claim=OwnMethod(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise(chosen.law, chosen.scale, dimension),
                sensitivity=bound.sensitivity,
                theorem=bound.theorem,
                recipe=recipe,
            ),
            share=math.inf,
            bounds=answers(situation),
            candidates=calibrations(bound.sensitivity, dimension, request.budget, request.mechanism),
        )

    def how(self, claim: OwnMethod, bounds: tuple[Bound, ...]) -> Section:
        """Say how far the weights of the caller's own algorithm can move."""
        title = (
            f"How far can the weights of {claim.recipe.method} move? At most {number(claim.sensitivity)} (L2), by "
            f"{claim.theorem}."
        )
        return title, (
            "The caller's code trains them inside the door: rows are mapped into the domain first, and nothing leaves "
            "without noise.",
            *(passes(claim.recipe, claim.n_samples) if claim.recipe.passes else []),
            *answers_in_words(bounds, claim.theorem),
        )
