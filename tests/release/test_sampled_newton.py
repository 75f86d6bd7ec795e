"""The first rows show the way to a long table's minimum: fewer sums a pass, the same tolerance, whatever they hold."""

from datetime import date

import numpy as np
import pyarrow
import pytest

import equipoise as eq
from equipoise.data.engines.stream import StreamTable
from equipoise.data.frames import FrameTable
from equipoise.data.schema import NumberColumn, Schema, Target
from equipoise.errors import PrivateFailure
from equipoise.noise import SeededSource
from equipoise.solve.questions import Expansion
from equipoise.solve.solvers import sampled
from equipoise.solve.solvers.newton import Newton
from equipoise.vocabulary.constants import BLOCK_ROWS

ROWS, COLUMNS = 32 * BLOCK_ROWS, 3


@pytest.fixture(autouse=True)
def short_tables_are_long(monkeypatch):
    monkeypatch.setattr(sampled, "LEAST_ROWS", ROWS)


@pytest.fixture
def asked(monkeypatch):
    """How many rows every expansion was asked of, and whether it wanted a Hessian."""
    from equipoise.release.parted_rows import PartedRows

    found, sums = [], PartedRows.sums

    def watched(self, question):
        assert isinstance(question, Expansion)
        found.append((self.n_samples, question.curved))
        return sums(self, question)

    monkeypatch.setattr(PartedRows, "sums", watched)
    return found


@pytest.fixture
def before_noise(monkeypatch):
    seen, add = [], SeededSource.add
    monkeypatch.setattr(
        SeededSource, "add", lambda self, law, weights, scale: seen.append(weights) or add(self, law, weights, scale)
    )
    return seen


def columns(kind):
    coins = np.random.default_rng(0)
    features, classes = coins.normal(size=(ROWS, COLUMNS)), coins.integers(0, 2, ROWS)
    first = ROWS // sampled.SHARE
    classes[features[:, 0] > 0.7] = 1
    if kind == "other first rows":
        classes[:first] = 1 - classes[:first]
        features[:first] *= 0.1
    if kind == "first rows all alike":
        features[:first], classes[:first] = 0.0, 1
    if kind == "first rows without a number":
        features[:first] = np.nan
    if kind == "separable first rows":
        classes[:first] = features[:first, 0] > 0
    return features, classes


def table_of(features, classes, loss="logistic"):
    target = np.where(classes == 1, "yes", "no") if loss == "logistic" else classes - 0.5
    return pyarrow.table({**{f"c{place}": features[:, place] for place in range(COLUMNS)}, "y": target})


def model(loss="logistic", **settings):
    facts = Schema(
        ROWS,
        tuple(NumberColumn(f"c{place}", (-3, 3)) for place in range(COLUMNS)),
        Target("y", classes=("no", "yes")) if loss == "logistic" else Target("y", bounds=(-1, 1)),
        vouched_by="a test",
        vouched_on=date(2026, 1, 1),
    )
    make = eq.LogisticRegression if loss == "logistic" else eq.HuberRegressor
    given = {"alpha": 1e-3, "mechanism": "output"} | settings
    return make(epsilon=1.0, domain=facts, random_state=0, **given)


def fitted(kind, loss="logistic", **settings):
    return model(loss, **settings).fit(StreamTable(FrameTable(table_of(*columns(kind), loss))))


KINDS = [
    "alike",
    "other first rows",
    "first rows all alike",
    "first rows without a number",
    "separable first rows",
]


@pytest.mark.parametrize("loss", ["logistic", "huber"])
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_the_first_rows_hold_the_end_is_newtons(kind, loss, before_noise, monkeypatch):
    fit = fitted(kind, loss)
    monkeypatch.setattr(sampled.SampledNewton, "suits", classmethod(lambda *_: 0.0))
    fitted(kind, loss)
    apart = float(np.linalg.norm(before_noise[0] - before_noise[1]))
    claim = fit.certificate_.claim
    # Each is within tau / mu of the minimiser.
    assert apart <= 2 * claim.tolerance / claim.alpha


def test_rows_that_are_alike_are_asked_for_slopes_alone(asked):
    fitted("alike")
    first = ROWS // sampled.SHARE
    assert (ROWS, True) not in asked
    assert asked.count((ROWS, False)) <= 6
    assert (first, True) in asked
    assert {rows for rows, _ in asked} == {first, ROWS}


def test_first_rows_that_mislead_leave_the_way_to_newton(asked, monkeypatch):
    went, onward = [], Newton.onward
    monkeypatch.setattr(Newton, "onward", lambda self, *given: went.append(1) or onward(self, *given))
    fitted("first rows without a number")
    assert went
    assert (ROWS, True) in asked


def test_a_tilted_objective_in_a_ball_ends_within_its_claim(asked):
    assert fitted("alike", mechanism="objective").certificate_.verify() == ()
    assert (ROWS, True) not in asked


def test_few_rows_many_weights_and_rows_held_in_memory_are_newtons(asked, monkeypatch):
    monkeypatch.setattr(sampled, "ROWS_A_WEIGHT", BLOCK_ROWS)
    fitted("alike")
    assert {rows for rows, _ in asked} == {ROWS}


def test_first_rows_of_a_share_count_as_a_share_of_a_pass(monkeypatch):
    counts, roughly = [], sampled._roughly

    def watched(first, target, weights):
        found = roughly(first, target, weights)
        counts.append(first.passes.made)
        return found

    monkeypatch.setattr(sampled, "_roughly", watched)
    monkeypatch.setattr(sampled, "accepted", lambda *_: True)
    made = []
    solve = sampled.SampledNewton.solve

    def solved(self, objective, target):
        found = solve(self, objective, target)
        made.append(objective.passes.made)
        return found

    monkeypatch.setattr(sampled.SampledNewton, "solve", solved)
    fitted("alike")
    assert counts[0] > 1
    assert made == [1 + -(-counts[0] // sampled.SHARE)]


def test_first_rows_that_change_before_the_first_pass_over_all_end_the_fit():
    features, classes = columns("alike")
    table, changed = table_of(features, classes), features.copy()
    changed[100, 0] += 0.5

    class Changing(StreamTable):
        def answers(self, work, names, count):
            source = self if count < ROWS else StreamTable(FrameTable(table_of(changed, classes)))
            yield from StreamTable.answers(source, work, names, count)

    with pytest.raises(PrivateFailure):
        model().fit(Changing(FrameTable(table)))
    model().fit(StreamTable(FrameTable(table)))
