"""Descents on losses with corners, without a ridge and with one, in one order and in fresh ones."""

from collections.abc import Iterator

from contracts.settings.descents import with_more_rows
from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.facts import Domain, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named

__all__ = ["settings", "with_more_rows"]


def settings() -> Iterator[tuple[str, Setting]]:
    domain = Domain(1.0, classes=(0, 1))
    for penalty, alpha in (("none", 0.0), ("l2", 0.01)):
        problem = Problem(loss_named("hinge"), penalty_named(penalty, alpha), domain)
        for order in ("permutation", "fresh"):
            recipe = Recipe(passes=4, batch_size=3, step=0.1, order=order)
            yield f"hinge, {penalty}, {order}", setting(problem, recipe, 50, 3)
        yield f"hinge, {penalty}, one row a step", setting(problem, Recipe(passes=4, step=0.1), 50, 3)
    free = Problem(loss_named("absolute"), penalty_named("none", 0.0), Domain(1.0, labels=(-1.0, 1.0)))
    for average in ("last", "uniform", "suffix"):
        yield f"absolute, {average}", setting(free, Recipe(passes=4, batch_size=3, step=0.1, average=average), 50, 3)
