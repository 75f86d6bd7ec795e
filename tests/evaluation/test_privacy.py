"""N4: two counts move by 1 each, the noise has the law that the claim names, and audits catch planted faults."""

import functools
import math
from dataclasses import replace

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, norm

import equipoise as eq
from equipoise.certify.certificate import Terms
from equipoise.certify.claims import Noise
from equipoise.certify.claims.evaluation import Cells, Evaluation
from equipoise.lab.auditing import lower_bound
from equipoise.noise import ExactSource, SeededSource
from equipoise.planning.evaluation import EvaluationRequest, issue_evaluation, noise_on_counts
from equipoise.release.carriers import evaluation as carrier
from equipoise.release.carriers.evaluation import counted

# Of this file: three audits that may not fail, and four tests of a law.
FAILURE = 1e-6

TWO = Cells((0.2, 0.5, 0.8), ("no", "yes"))
FIVE = Cells((0.4, 0.7), (0, 1, 2, 3, 4))
APART = replace(TWO, groups=("f", "m", "x"), by="sex")
PAY = Cells((-1.0, 0.0, 1.0), predictions=(2.0, 4.0), range=(0.0, 6.0))
NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


# How far one row moves the counts


@pytest.mark.parametrize("cells", [TWO, FIVE, APART, PAY], ids=["two classes", "five classes", "groups", "numbers"])
@given(data=st.data())
def test_whatever_a_row_is_replaced_by_two_counts_move_by_one_or_none(cells, data):
    outputs, classes = (5, 5) if cells is FIVE else (1, 2)
    truth = st.integers(0, classes - 1) if cells.labels else NUMBERS
    row = st.tuples(st.lists(NUMBERS, min_size=outputs, max_size=outputs), truth, st.integers(0, cells.shape[0] - 1))
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    other = [data.draw(row), *rows[1:]]
    with np.errstate(all="ignore"):
        first, second = (
            counted(cells, np.array(scores), np.array(truth, dtype=float), np.array(groups))
            for scores, truth, groups in (zip(*table, strict=True) for table in (rows, other))
        )
    assert first.sum() == second.sum() == len(rows)
    assert len(first) == math.prod(cells.shape)
    assert sorted((first - second)[first != second].tolist()) in ([], [-1, 1])


# The law of the noise


@pytest.mark.parametrize("source", [ExactSource(), SeededSource(3)], ids=["exact", "seeded"])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_noise_on_counts_has_the_law_that_figures_rest_on(law, source):
    scale, size, reach = 1.5, 4000, 5
    noise = source.add_whole(law, np.full(size, 7), scale) - 7
    assert noise.dtype == np.int64
    places = np.arange(-reach, reach + 1)
    if law == "laplace":
        kept = math.exp(-1 / scale)
        masses = (1 - kept) / (1 + kept) * kept ** np.abs(places)
    else:
        masses = norm.cdf((places + 0.5) / scale) - norm.cdf((places - 0.5) / scale)
    found = [*((noise == place).sum() for place in places), (np.abs(noise) > reach).sum()]
    assert chisquare(found, size * np.array([*masses, 1 - masses.sum()])).pvalue > FAILURE


def test_opendp_itself_says_what_a_replaced_row_costs():
    dp.enable_features("contrib")
    noise = noise_on_counts(eq.Budget(0.5))
    space = dp.vector_domain(dp.atom_domain(T="i64"), size=8), dp.l1_distance(T="i64")
    assert dp.m.make_laplace(*space, scale=noise.scale).map(2) <= 0.5


# The claim


def claimed(budget: eq.Budget, cells: Cells = TWO) -> Evaluation:
    return issue_evaluation(EvaluationRequest(Terms(50, 3), budget, "id", "digest", cells)).claim


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.3, 1.0, 5.0])
def test_a_neighbouring_pair_attains_the_bound(epsilon):
    claim = claimed(eq.Budget(epsilon))
    scores, labels = np.array([[3.0], [-3.0]]), np.array([1.0, 0.0])
    first, second = (counted(TWO, scores, chosen, np.zeros(2, dtype=int)) for chosen in (labels, np.array([0.0, 0.0])))
    # Where the entered cell has few and the left one many, every unit of distance tells.
    seen = np.where(first > second, first, np.where(first < second, first, 0))
    loss = (np.abs(seen - second).sum() - np.abs(seen - first).sum()) / claim.scale
    assert 0.999999 * epsilon <= loss <= epsilon
    assert claim.curve().delta(epsilon) == 0.0
    assert claim.curve().delta(0.999 * loss) > 0.0


def test_gaussian_noise_is_taken_where_it_is_quieter_and_laplace_otherwise():
    assert claimed(eq.Budget(0.5, 1e-6)) == claimed(eq.Budget(0.5)), (
        "no delta is spent that Laplace noise does not need"
    )
    assert claimed(eq.Budget(0.5)).law == "laplace"
    wide = claimed(eq.Budget(0.01, 0.01))
    assert wide.law == "gaussian"
    assert wide.curve().mu == pytest.approx(math.sqrt(2) / wide.scale)


FAULTY = {
    "halved noise": lambda claim: replace(claim, noise=replace(claim.noise, scale=claim.scale / 2)),
    "noise of another law": lambda claim: replace(claim, noise=replace(claim.noise, law="spherical-laplace")),
    "a cell without noise": lambda claim: replace(claim, noise=replace(claim.noise, dimension=7)),
    "edges that do not ascend": lambda claim: replace(claim, cells=replace(TWO, edges=(0.2, 0.2, 0.8))),
    "an edge that is no number": lambda claim: replace(claim, cells=replace(TWO, edges=(0.2, math.nan, 0.8))),
    "a class twice": lambda claim: replace(claim, cells=replace(TWO, labels=("no", "no"))),
    "a count too few": lambda claim: replace(claim, released=(1,) * 7),
    "one class": lambda claim: replace(claim, cells=Cells((0.5,) * 0, ("no",)), noise=Noise("laplace", 9.0, 1)),
    "more cells than are read": lambda claim: replace(
        claim, cells=Cells((), tuple(range(400))), noise=Noise("laplace", 9.0, 160_000)
    ),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_claim_with_a_fault_does_not_follow(fault):
    claim = claimed(eq.Budget(1.0))
    assert claim.check() == ()
    assert FAULTY[fault](claim).check()


# Audits from end to end


class HalvedNoise(SeededSource):
    """A fault: half of the noise that was calibrated."""

    def add_whole(self, law, counts, scale):
        return super().add_whole(law, counts, scale / 2)


def in_two_cells(cells, scores, labels, groups):
    """Count with a fault: every row in its cell, and in the one of its class that comes next."""
    _, classes, outputs = cells.shape
    once = counted(cells, scores, labels, groups).reshape(classes, outputs)
    return (once + np.roll(once, 2, axis=1)).ravel()


@functools.cache
def model() -> eq.LogisticRegression:
    rows = np.linspace(-1, 1, 400)[:, None]
    return eq.LogisticRegression(4.0, 0.0, eq.Domain(1.0, classes=(0, 1)), random_state=0).fit(
        rows, (rows[:, 0] > 0).astype(int)
    )


def releases(label: int, seed: int, offsets: tuple[int, ...], runs: int) -> np.ndarray:
    """Return how much speaks for a first row of the second class, over many evaluations of three rows.

    Looked at are the bin in which all three lie, and others so far from it.
    """
    rows, labels, found = np.full((3, 1), 0.9), np.array([label, 0, 0]), []
    margins = model().decision_function(rows)[:, None]
    place = int(counted(cells_of_three(), margins, labels * 0.0, labels * 0).argmax())
    for run in range(runs):
        counts = eq.evaluate(model(), rows, labels, epsilon=2.0, random_state=seed + run).counts.counts[0]
        looked = counts[:, [(place + offset) % counts.shape[1] for offset in offsets]]
        # One row of the second class and two of the first, or none and three: more tells nothing more.
        found.append(np.sum(np.clip(2 * looked[1] - 1, -1, 1) - np.clip(2 * looked[0] - 5, -1, 1)))
    return np.array(found, dtype=float)


@functools.cache
def cells_of_three() -> Cells:
    return eq.evaluate(model(), np.zeros((3, 1)), np.zeros(3, dtype=int), epsilon=2.0, random_state=0).claim.cells


def audited(monkeypatch, source=SeededSource, count=counted, offsets=(0,), runs=400) -> float:
    """Return the epsilon that is measured at least, where 2 is claimed."""
    cells_of_three()
    monkeypatch.setattr("equipoise.evaluation.evaluate.noise_source", source)
    monkeypatch.setattr(carrier, "counted", count)
    first, second = (releases(label, seed, offsets, runs) for label, seed in ((1, 10**6), (0, 2 * 10**6)))
    return lower_bound(first, second, 0.0, np.arange(-3.5, 4.0), FAILURE).epsilon


def test_an_audit_does_not_refute_an_evaluation(monkeypatch):
    assert audited(monkeypatch) <= 2.0


def test_an_audit_catches_halved_noise(monkeypatch):
    assert audited(monkeypatch, source=HalvedNoise) > 2.0


def test_an_audit_catches_a_row_in_two_cells(monkeypatch):
    assert audited(monkeypatch, count=in_two_cells, offsets=(0, 2), runs=1200) > 2.0
