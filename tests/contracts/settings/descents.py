"""Descents on smooth losses: one row a step and several, every average, both orders, clipped, masked, with a ball."""

from collections.abc import Iterator
from dataclasses import replace

from equipoise.planning.rules import settled
from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.facts import Domain, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named

RIDGE = penalty_named("l2", 0.1)
LOGISTIC = Problem(loss_named("logistic"), RIDGE, Domain(1.0, classes=(0, 1)))
SQUARED = Problem(loss_named("squared"), RIDGE, Domain(2.0, labels=(-1.0, 3.0), radius=2.0), 0.5)
FREE = replace(LOGISTIC, penalty=penalty_named("none", 0.0))
SPARSE = replace(LOGISTIC, penalty=penalty_named("elastic-net:0.5", 0.2))


def settings() -> Iterator[tuple[str, Setting]]:
    single, several = Recipe(passes=3, step=0.1), Recipe(passes=5, batch_size=7, step=0.05)
    for problem in (LOGISTIC, SQUARED):
        name = problem.loss.id
        yield f"{name}, one row a step", setting(problem, single, 50, 3)
        yield f"{name}, seven rows a step", setting(problem, several, 50, 3)
    yield "no penalty, all rows in every step", setting(FREE, Recipe(passes=6, batch_size=50, step=0.3), 50, 3)
    yield "elastic net, a new order every pass", setting(SPARSE, replace(several, order="fresh"), 50, 3)
    for average in ("uniform", "suffix"):
        yield f"{average} average", setting(LOGISTIC, replace(several, average=average), 50, 3)
    for average in ("last", "uniform", "suffix"):
        recipe = settled(LOGISTIC, Recipe(passes=3, batch_size=4, step="decay", average=average))
        yield f"decaying steps, {average}", setting(LOGISTIC, recipe, 50, 3)
    yield "clipped gradients", setting(SQUARED, replace(several, clip=0.5), 50, 3)
    yield "masked columns", setting(LOGISTIC, replace(single, dropout=0.5), 50, 3)


def with_more_rows(situation: Setting) -> Iterator[Setting]:
    """Yield about as many steps of as many rows as before, in fewer passes over more rows: each is met less often.

    The number of passes stays whole: half a pass can be worse than a whole one, because of what is left to drift. Where
    a step saw all rows, it still does.
    """
    recipe, passes = situation.recipe, int(situation.recipe.passes)
    for factor in range(2, passes + 1):
        n_samples = situation.n_samples * factor
        if recipe.batch_size == situation.n_samples:
            fewer = replace(recipe, batch_size=n_samples)
        elif passes % factor == 0:
            fewer = replace(recipe, passes=passes // factor)
        else:
            continue
        yield setting(situation.problem, fewer, n_samples, situation.n_features)
