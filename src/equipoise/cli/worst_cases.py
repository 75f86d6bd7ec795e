"""Neighbouring tables on which a model moves almost as far as its certificate allows, whatever its kind of release."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.certify import laws
from equipoise.certify.certificate import Certificate
from equipoise.data.persons import person_rows
from equipoise.data.tables import feature_table, target_column
from equipoise.data.unread import Unread
from equipoise.errors import InvalidParameter
from equipoise.estimators import model_named
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.lab.auditing import FAILURE, PILOTS, Finding, audit
from equipoise.noise import SeededSource
from equipoise.planning import kinds
from equipoise.planning.issue import asked_for
from equipoise.planning.kinds.base import Extreme
from equipoise.planning.menu import AUTOMATIC
from equipoise.release import release
from equipoise.release.carriers.sgd import public_order
from equipoise.vocabulary.facts import Budget, Domain

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WorstCase:
    """A planned release, the two tables it is made on, and how its weights become one number."""

    certificate: Certificate
    tables: tuple[Unread, Unread]
    target: Unread
    # The person that each row belongs to, where n counts persons.
    persons: Unread | None = None

    @property
    def loss(self) -> str:
        """The loss that was asked for."""
        return asked_for(self.certificate).loss

    @property
    def rows_a_person(self) -> int:
        """How many rows the replaced person has; 0 where one row is replaced."""
        return asked_for(self.certificate).domain.rows_a_person or 0

    def releases(self, side: int, seed: int) -> Callable[[], Array]:
        """Return what makes one release on a side for each call, from seeds that no other call uses."""
        seeds = itertools.count((2 * seed + side) << 64)
        given = self.certificate, self.tables[side], self.target
        return lambda: release(*given, SeededSource(next(seeds)), persons=self.persons).weights

    @staticmethod
    def statistic(weights: Array) -> float:
        """Return the sum of the weights: all of them point where the row does."""
        return float(weights.sum())


def worst_case(
    model: str,
    mechanism: str = "auto",
    epsilon: float = 1.0,
    delta: float = 0.0,
    n_features: int = 1,
    rows_a_person: int = 0,
) -> WorstCase:
    """Return the built-in worst case of a model and a mechanism at a budget; with rows a person, that of persons.

    Examples
    --------
    >>> case = worst_case("logistic", "output")
    >>> case.certificate.mechanism, case.certificate.n_samples
    ('laplace', 4)
    """
    chosen, budget = model_named(model), Budget(epsilon, delta)
    possible = chosen._kinds()
    name, _, parameter = mechanism.partition(":")
    if len(possible) == 1:
        _refuse_strangers(chosen, mechanism, possible[0])
        name = possible[0]
    elif mechanism == AUTOMATIC:
        # Public facts choose at the extreme of noise on the weights; what they chose has an extreme of its own.
        around = kinds.named()["output"]().extreme(budget, n_features, "")
        name = mechanism = _planned(chosen, AUTOMATIC, budget, n_features, around, rows_a_person=rows_a_person).kind
    planner = kinds.named()[name if name in possible else "output"]()
    extreme = planner.extreme(budget, n_features, parameter)
    return _turned(_planned(chosen, mechanism, budget, n_features, extreme, planner.at_the_end, rows_a_person))


def measure(
    case: WorstCase, runs: int, seed: int = 0, failure: float = FAILURE, pilots: int = PILOTS, progress: bool = False
) -> Finding:
    """Return what an audit of a worst case finds.

    Examples
    --------
    >>> measure(worst_case("ridge", "laplace"), runs=100).verdict
    'no fault found'
    """
    return audit(
        case.releases(0, seed),
        case.releases(1, seed),
        delta=case.certificate.delta,
        claimed=case.certificate.epsilon,
        statistic=case.statistic,
        runs=runs,
        pilots=pilots,
        failure=failure,
        progress=progress,
    )


def _refuse_strangers(chosen: type[PrivateLinearModel], mechanism: str, kind: str) -> None:
    """Refuse a mechanism that a model of one kind of release does not have."""
    open_laws = laws.members() if "mechanism" in chosen._get_param_names() else ()
    known = (AUTOMATIC, kind, *open_laws)
    if mechanism not in known:
        raise InvalidParameter(
            f"a mechanism of {chosen.__name__}", f"{mechanism!r:.80}", f"use one of {', '.join(known)}"
        )


def _planned(
    chosen: type[PrivateLinearModel],
    mechanism: str,
    budget: Budget,
    n_features: int,
    extreme: Extreme,
    at_the_end: bool = True,
    rows_a_person: int = 0,
) -> Certificate:
    target: dict[str, Any] = {"classes": (0, 1)} if issubclass(chosen, PrivateClassifier) else {"labels": (-1.0, 1.0)}
    domain = Domain(1.0, **target, rows_a_person=rows_a_person or None)
    asked: dict[str, Any] = {"alpha": extreme.alpha, "mechanism": mechanism} | chosen._extreme(at_the_end)
    if chosen._kinds() == (mechanism,):
        # The name of the only kind there is asks for nothing.
        del asked["mechanism"]
    known = {name: value for name, value in asked.items() if name in chosen._get_param_names()}
    estimator = chosen(
        epsilon=budget.epsilon, delta=budget.delta, domain=domain, fit_intercept=False, random_state=0, **known
    )
    return estimator.plan(extreme.n_samples, n_features)


def _turned(certificate: Certificate) -> WorstCase:
    """Return the tables of one long row, turned round in the second, among rows of zeros; descents meet it first.

    A person has as many such rows as one may have, all of them turned round, and all others have one row of zeros.
    """
    n_samples, n_features = certificate.n_samples, certificate.n_features
    place = int(public_order(n_samples, certificate.public_seed)[0])
    rows = np.zeros((n_samples, n_features))
    rows[place] = 1 / np.sqrt(n_features)
    labels = np.zeros(n_samples)
    labels[place] = 1
    if asked_for(certificate).domain.classes is not None:
        labels = labels.astype(int)
    most = asked_for(certificate).domain.rows_a_person
    if most is None:
        return WorstCase(certificate, (feature_table(rows), feature_table(-rows)), target_column(labels, n_samples))
    persons = np.concatenate([np.full(most, place), np.delete(np.arange(n_samples), place)])
    first, second = (person_rows(side[persons], labels[persons], persons, rows.shape, most) for side in (rows, -rows))
    return WorstCase(certificate, (first.features, second.features), first.target, first.persons)
