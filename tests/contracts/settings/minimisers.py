"""Minimisers: every kind of loss and penalty that solvers serve, few rows and many, and a constraint that binds."""

from collections.abc import Iterator

from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.facts import Domain, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named

CLASSES = Domain(1.0, classes=(0, 1))
LABELS = Domain(2.0, labels=(-1.0, 3.0))


def settings() -> Iterator[tuple[str, Setting]]:
    for alpha, n_samples in ((2.0, 4), (0.1, 50), (1e-3, 1000)):
        penalty, size = penalty_named("l2", alpha), f"ridge {alpha:g}, {n_samples} rows"
        yield f"logistic, {size}", setting(Problem(loss_named("logistic"), penalty, CLASSES), Recipe(), n_samples, 3)
        problem = Problem(loss_named("squared"), penalty, LABELS, 0.5)
        yield f"squared, {size}", setting(problem, Recipe(), n_samples, 3)
    for name, loss, penalty, alpha, domain in (
        ("hinge", "hinge", "l2", 0.5, CLASSES),
        ("absolute", "absolute", "l2", 0.5, LABELS),
        ("huber and elastic net", "huber:0.5", "elastic-net:0.5", 0.5, LABELS),
        ("bridge", "logistic", "bridge:1.5", 1.0, CLASSES),
        ("three classes", "multinomial:3", "l2", 0.5, Domain(1.0, classes=(0, 1, 2))),
        ("a radius that binds", "squared", "l2", 0.2, Domain(1.0, labels=(-1.0, 1.0), radius=0.3)),
    ):
        yield name, setting(Problem(loss_named(loss), penalty_named(penalty, alpha), domain), Recipe(), 6, 2)
