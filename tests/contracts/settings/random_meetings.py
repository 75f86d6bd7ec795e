"""Descents in which secret coins decide how often a row is met: rows are drawn, or steps are skipped."""

from collections.abc import Iterator

from contracts.settings.descents import with_more_rows
from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.facts import Domain, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named

__all__ = ["settings", "with_more_rows"]


def settings() -> Iterator[tuple[str, Setting]]:
    domain = Domain(1.0, classes=(0, 1))
    smooth = Problem(loss_named("logistic"), penalty_named("l2", 0.1), domain)
    for batch in (1, 4):
        recipe = Recipe(passes=3, batch_size=batch, step=0.1, order="replacement")
        yield f"logistic, rows drawn, {batch} a step", setting(smooth, recipe, 50, 3)
    skipped = Recipe(passes=8, batch_size=4, step=0.1, skip=0.5)
    yield "logistic, steps skipped", setting(smooth, skipped, 50, 3)
    kinked = Problem(loss_named("hinge"), penalty_named("none", 0.0), domain)
    yield "hinge, rows drawn", setting(kinked, Recipe(passes=3, step=0.1, order="replacement"), 50, 3)
    yield "hinge, steps skipped", setting(kinked, skipped, 50, 3)
    small = Problem(kinked.loss, kinked.penalty, Domain(1.0, classes=(0, 1), radius=0.5))
    yield "hinge in a small ball", setting(small, Recipe(passes=4, step=1.0, order="replacement"), 50, 3)
