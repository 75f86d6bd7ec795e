"""Minimisers of every loss and every penalty that the other settings leave out: a new member is found by itself."""

from collections.abc import Iterator

from contracts.settings import minimisers
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.facts import Domain, Problem, Recipe, Setting


def domain_of(loss: losses.Loss) -> Domain:
    if loss.task == "regression":
        return minimisers.LABELS
    return Domain(1.0, classes=tuple(range(max(2, loss.outputs))))


def settings() -> Iterator[tuple[str, Setting]]:
    problems = [situation.problem for _, situation in minimisers.settings()]
    ridge = penalties.named("l2", 0.5)
    for name in sorted(losses.members().keys() - {problem.loss.id for problem in problems}):
        loss = losses.named(name)
        yield name, setting(Problem(loss, ridge, domain_of(loss)), Recipe(), 6, 2)
    logistic = losses.named("logistic")
    for name in sorted(penalties.members().keys() - {"none", *(problem.penalty.id for problem in problems)}):
        penalty = penalties.named(name, 0.5)
        yield f"logistic and {name}", setting(Problem(logistic, penalty, domain_of(logistic)), Recipe(), 6, 2)
