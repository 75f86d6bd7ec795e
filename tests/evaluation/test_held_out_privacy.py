"""N3 and N4 together: rows are dealt by place to one part each, the pair costs the larger, and audits catch faults."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest

import equipoise as eq
from equipoise.certify.certificate import Terms
from equipoise.certify.claims.evaluation import Cells, HeldOut
from equipoise.data.unread import Unread
from equipoise.errors import PrivateFailure
from equipoise.evaluation.held_out import plan_held_out
from equipoise.lab.auditing import lower_bound
from equipoise.noise import SeededSource
from equipoise.release import carriers
from equipoise.release.carriers import evaluation as counting
from equipoise.release.carriers import held_out as carrier
from equipoise.release.carriers.evaluation import counted
from equipoise.release.job import Job
from equipoise.release.split import split

# Of this file: seven audits, of which four may not fail.
FAILURE = 1e-6
EPSILON = 2.0
TWO = Cells((0.2, 0.5, 0.8), (0, 1))
DOMAIN = eq.Domain(1.0, classes=(0, 1))


@functools.cache
def claim(epsilon: float = EPSILON, n_samples: int = 8) -> HeldOut:
    """Return a plan whose training is nearly as sensitive as is claimed: a strong ridge, one column, few rows."""
    model = eq.LogisticRegression(epsilon, 0.0, DOMAIN, 40.0, "laplace", False, random_state=0)
    found = plan_held_out(model, 0.5, "", n_samples, 1).claim
    assert isinstance(found, HeldOut)
    return found


class Fixed:
    """A model that says of a row what its column says: cells and scores that no training changes."""

    digest = "ab" * 32

    def scores(self, rows):
        return 3.0 * np.asarray(rows)[:, :1]

    def groups(self, rows):
        return np.zeros(len(rows), dtype=np.int64)

    def cells(self, n_samples, noise):
        return TWO

    def known_target(self, target):
        return target


def carried(planned: HeldOut, rows: np.ndarray, labels: np.ndarray, source) -> tuple[float, np.ndarray]:
    """Return the weight and the noisy counts of one run."""
    table = Unread(rows.shape, True, lambda: rows)
    target = Unread((len(rows),), True, lambda: labels)
    job = Job(
        Terms(len(rows), 1, seeded=True), table, target, (0, 1), source, evaluating=lambda _: Fixed(), release="id"
    )
    found = carriers.carry_out(planned, job)
    return float(found.weights[0, 0]), np.array(found.claim.released.released)


# Where rows go


def places(n_samples: int = 8) -> tuple[list[int], list[int]]:
    """Return which places are held out of the plan's, and which train."""
    held, (others,) = split(n_samples, n_samples // 2, [n_samples - n_samples // 2], 0)
    return held.tolist(), others.tolist()


def test_a_replaced_row_changes_one_of_the_two_parts_wherever_it_stands():
    rows, labels = np.full((8, 1), 0.4), np.array([0, 1] * 4)
    usual = carried(claim(), rows, labels, SeededSource(0))
    held, others = places()
    assert sorted(held + others) == list(range(8))
    for place in range(8):
        other_rows, other_labels = rows.copy(), labels.copy()
        other_rows[place], other_labels[place] = -0.9, 1 - labels[place]
        weight, counts = carried(claim(), other_rows, other_labels, SeededSource(0))
        assert (weight != usual[0], (counts != usual[1]).any()) == (place in others, place in held)


def test_places_are_those_of_the_declared_table_whatever_rows_hold():
    rows, labels = np.full((8, 1), 0.4), np.array([0, 1] * 4)
    usual, (held, _) = carried(claim(), rows, labels, SeededSource(0)), places()
    spoiled, unknown = rows.copy(), labels.astype(float)
    spoiled[held[0]], unknown[held[1]] = np.nan, np.nan
    assert carried(claim(), spoiled, unknown, SeededSource(0))[0] == usual[0], "no row moves to another part"


# What the pair costs


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_neighbouring_tables_attain_the_bound_of_the_pair(epsilon):
    planned = claim(epsilon)
    held, _ = places()
    rows, labels = np.full((8, 1), 0.9), np.zeros(8)
    other = labels.copy()
    other[held[0]] = 1.0
    first, second = (
        counted(TWO, Fixed().scores(rows[held]), chosen[held], np.zeros(4, dtype=int)) for chosen in (labels, other)
    )
    # The training reads the same rows, and the loss of the counts is that of the pair.
    seen = np.minimum(first, second) + np.maximum(first - second, 0)
    loss = (np.abs(seen - second).sum() - np.abs(seen - first).sum()) / planned.of[0].scale
    assert 0.999999 * epsilon <= loss <= epsilon == planned.budget.epsilon
    assert planned.curve().delta(epsilon) == 0.0
    assert planned.curve().delta(0.999 * loss) > 0.0


def test_the_pair_costs_the_larger_and_not_the_sum():
    planned, training = claim(), claim().of[1]
    for epsilon in (0.3, 1.0, 1.9):
        parts = [part.curve().delta(epsilon) for part in planned.of]
        assert planned.curve().delta(epsilon) == max(parts) < sum(parts)
    assert training.budget == planned.budget == planned.of[0].budget


FAULTY = {
    "halved noise on counts": lambda pair: replace(pair, of=(with_scale(pair.of[0], 0.5), pair.of[1])),
    "halved noise where it was counted": lambda pair: replace(pair, released=with_scale(pair.released, 0.5)),
    "more noise where it was planned": lambda pair: replace(pair, of=(with_scale(pair.of[0], 2.0), pair.of[1])),
    "halved noise on weights": lambda pair: replace(pair, of=(pair.of[0], with_scale(pair.of[1], 0.5))),
    "more rows than there are": lambda pair: replace(pair, n_samples=7),
    "rows in both parts": lambda pair: replace(pair, of=(replace(pair.of[0], n_samples=8), pair.of[1])),
    "other rows than were planned": lambda pair: replace(pair, released=replace(pair.released, n_samples=8)),
    "counts of two kinds": lambda pair: replace(pair, of=(pair.released, pair.of[1])),
    "two trainings": lambda pair: replace(pair, n_samples=12, of=(*pair.of, pair.of[1])),
    "no training": lambda pair: replace(pair, of=pair.of[:1]),
    "the training first": lambda pair: replace(pair, of=pair.of[::-1]),
    "no counts": lambda pair: replace(pair, released=pair.of[0]),
    "weights instead of counts": lambda pair: replace(pair, released=pair.of[1]),
    "a smaller budget": lambda pair: replace(pair, budget=eq.Budget(EPSILON / 2)),
}


def with_scale(part, factor: float):
    return replace(part, noise=replace(part.noise, scale=factor * part.scale))


@pytest.mark.parametrize("fault", FAULTY)
def test_a_claim_with_a_fault_does_not_follow(fault):
    model = eq.LogisticRegression(EPSILON, 0.0, DOMAIN, 40.0, "laplace", False, random_state=0)
    pair = eq.train_and_evaluate(model, np.full((80, 1), 0.5), np.array([0, 1] * 40), holdout=0.5).certificate.claim
    assert pair.check() == claim().check() == ()
    assert FAULTY[fault](pair).check()


def test_further_counts_of_held_out_rows_have_the_noise_that_was_planned():
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (300, 2))
    model = eq.LogisticRegression(1.0, 0.0, eq.Domain(1.0, classes=(0, 1, 2)), random_state=0)
    labels = np.digitize(rows[:, 0], (-0.2, 0.2))
    pair = eq.train_and_evaluate(model, rows, labels, holdout=0.5).certificate.claim
    assert pair.check() == ()
    found = pair.released
    assert len(found.released) == math.prod(found.cells.shape) + len(found.cells.true_shares) + 1
    more = replace(found.further_noise, scale=2 * found.further_noise.scale)
    # More noise is within the budget, and is not what was planned.
    assert replace(found, further_noise=more).check() == ()
    assert replace(pair, released=replace(found, further_noise=more)).check()


# Audits


class HalvedNoise(SeededSource):
    """A fault: half of the noise that was calibrated for the counts."""

    def add_whole(self, law, counts, scale):
        return super().add_whole(law, counts, scale / 2)


def in_two_cells(cells, scores, labels, groups):
    """Count with a fault: every row in its cell, and in the one of its class that comes next."""
    once = counted(cells, scores, labels, groups).reshape(cells.shape[1:])
    return (once + np.roll(once, 1, axis=1)).ravel()


def both_have_it(n_samples, rows, sizes, public_seed):
    """Deal with a fault: the first row that is held out trains, too."""
    held, (others,) = split(n_samples, rows, sizes, public_seed)
    return held, [np.sort([held[0], *others[1:]])]


@functools.cache
def centres(scale: float) -> tuple[float, float]:
    """Return the weights without noise: where the row that is looked at is of the first class, and of the second."""
    source = type("Silent", (SeededSource,), {"add": lambda self, law, values, scale: values})
    _, others = places()
    return tuple(carried(claim(), *table(others[0], label), source(0))[0] for label in (0, 1))


def table(place: int, label: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of zeros of the first class, but for one at a place."""
    rows, labels = np.zeros((8, 1)), np.zeros(8, dtype=int)
    rows[place], labels[place] = 1.0, label
    return rows, labels


def evidence(place: int, label: int, seed: int, runs: int, source, weighs: bool, looked: tuple[int, ...]) -> np.ndarray:
    """Return what speaks for the second class over many runs: the log-likelihood ratios of weight and counts, added.

    The row's score is beyond the last edge: of the first class it counts in cell 3, of the second in cell 7. Cells that
    are looked at besides tell nothing but in a fault, and so does the weight if it was not trained on the row.
    """
    low, high = centres(claim().of[1].scale)
    scale, found = claim().of[1].scale, []
    for run in range(runs):
        weight, counts = carried(claim(), *table(place, label), source(seed + run))
        told = weighs * (abs(weight - low) - abs(weight - high)) / scale
        for cell in looked:
            told += sum(
                sign * (abs(counts[at]) - abs(counts[at] - 1)) / claim().of[0].scale
                for at, sign in ((cell, -1), (4 + cell, 1))
            )
        found.append(told)
    return np.array(found)


def audited(place: int, runs: int, source=SeededSource, weighs: bool = True, looked: tuple[int, ...] = (3,)) -> float:
    """Return the epsilon that is measured at least, where 2 is claimed."""
    first, second = (
        evidence(place, label, seed, runs, source, weighs, looked) for label, seed in ((1, 10**6), (0, 2 * 10**6))
    )
    return lower_bound(first, second, 0.0, np.array([-3.5, -2.9, -1.9, 1.9, 2.9, 3.5]), FAILURE).epsilon


# As the faults below are caught, so that one in the carriers themselves is caught here.
LOOKS = {
    "noise on counts": (0, 400, False, (3,)),
    "two cells": (0, 1200, False, (3, 0)),
    "both parts": (0, 1200, True, (3,)),
    "trained on": (1, 300, True, (3,)),
}


@pytest.mark.parametrize("look", LOOKS)
def test_an_audit_does_not_refute_the_pair(look):
    part, runs, weighs, looked = LOOKS[look]
    assert audited(places()[part][0], runs, weighs=weighs, looked=looked) <= EPSILON


def test_an_audit_catches_halved_noise_on_counts():
    assert audited(places()[0][0], 400, HalvedNoise, weighs=False) > EPSILON


def test_an_audit_catches_a_row_in_two_cells(monkeypatch):
    monkeypatch.setattr(counting, "counted", in_two_cells)
    assert audited(places()[0][0], 1200, weighs=False, looked=(3, 0)) > EPSILON


def test_an_audit_catches_a_row_that_both_parts_were_dealt(monkeypatch):
    monkeypatch.setattr(carrier, "split", both_have_it)
    assert audited(places()[0][0], 1200) > EPSILON


def test_a_split_that_cannot_be_made_ends_without_a_word():
    planned = replace(claim(), n_samples=7)
    with pytest.raises(PrivateFailure):
        carried(planned, np.zeros((7, 1)), np.zeros(7), SeededSource(0))


def test_the_law_of_the_counts_is_that_of_an_evaluation():
    assert claim().of[0].scale == pytest.approx(2 / EPSILON)
    assert math.prod(TWO.shape) == 8
