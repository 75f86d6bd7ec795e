"""Other methods: momentum, tasks, pairs, graphs and bags, solved exactly and approximately."""

from collections.abc import Iterator
from dataclasses import replace

from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.facts import Domain, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.methods import method_named
from equipoise.vocabulary.penalties import named as penalty_named

CLASSES = Domain(1.0, classes=(0, 1))
MINIMISING = (
    "multi-task:40/20",
    "ranking",
    "ranking:40/20",
    "graph-convolution:3",
    "bagging:7",
    "bootstrap:7/19",
)


def settings() -> Iterator[tuple[str, Setting]]:
    for method in MINIMISING:
        for alpha, tolerance in ((0.1, 0.0), (0.5, 1e-6)):
            problem = Problem(loss_named("logistic"), penalty_named("l2", alpha), CLASSES)
            name = f"{method}, {'approximately' if tolerance else 'exactly'}"
            yield name, setting(problem, Recipe(tolerance, method=method), 60, 3)
    clipped = Problem(loss_named("logistic"), penalty_named("l2", 0.1), replace(CLASSES, radius=2.0))
    yield "bagging:7, clipped", setting(clipped, Recipe(method="bagging:7"), 60, 3)
    for method in ("heavy-ball:0.5", "nesterov:0.5"):
        for penalty, alpha in (("none", 0.0), ("l2", 0.1)):
            domain = Domain(1.0, labels=(-1.0, 1.0))
            problem = Problem(loss_named("squared"), penalty_named(penalty, alpha), domain)
            recipe = Recipe(passes=5, batch_size=60, step=0.1, method=method)
            yield f"{method}, {penalty}", setting(problem, recipe, 60, 3)


def with_more_rows(situation: Setting) -> Iterator[Setting]:
    """Yield the method with every public size as many times as large, and all rows in every step of a momentum."""
    method = method_named(situation.recipe.method)
    for factor in (2, 3, 10, 1000):
        recipe = situation.recipe
        if recipe.passes > 0:
            recipe = replace(recipe, batch_size=recipe.batch_size * factor)
        elif method.name in ("multi-task", "ranking") and method.counts:
            sizes = "/".join(str(size * factor) for size in method.counts)
            recipe = replace(recipe, method=f"{method.name}:{sizes}")
        yield setting(situation.problem, recipe, situation.n_samples * factor, situation.n_features)
