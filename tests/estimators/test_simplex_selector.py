"""The selection over the simplex (G5): exact accounting against enumeration, the calculator, the test, the selector."""

import math
import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom, chisquare
from sklearn.base import clone

import equipoise as eq
from equipoise.certify.certificate import _digest
from equipoise.certify.claims.simplex import column_delta
from equipoise.errors import BudgetImpossible, CertificateUnreadable, InvalidParameter, PlanMismatch
from equipoise.lab.auditing import lower_bound
from equipoise.noise import ExactSource, SeededSource
from equipoise.planning.simplex import SimplexRequest, issue_simplex, smallest_columns
from equipoise.release.carriers.simplex import kept_of, ones_of
from equipoise.vocabulary.facts import Budget

# The statistical tests of this file that may not fail share this rate of false alarms.
FAILURE = 1e-6


def chances(ones):
    """Return the law of the chosen column where columns have so many ones: every score enumerated."""
    laws = [[Fraction(math.comb(count, k), 2**count) for k in range(count + 1)] for count in ones]
    found = [Fraction(0)] * len(ones)
    for scores in product(*(range(count + 1) for count in ones)):
        found[scores.index(min(scores))] += math.prod(law[k] for law, k in zip(laws, scores, strict=True))
    return found


def stick(first, second, epsilon):
    """Return the hockey-stick divergence of two laws."""
    growth = Fraction(math.exp(epsilon))
    return float(sum(max(Fraction(0), p - growth * q) for p, q in zip(first, second, strict=True)))


def naive_delta(ones, epsilon):
    """Return G5's maximum as it is written, over all thresholds, in whole numbers."""
    growth, best = Fraction(math.exp(epsilon)), Fraction(0)
    below = fewer = Fraction(0)
    for place in range(ones + 2):
        below += Fraction(math.comb(ones, place), 2**ones)
        fewer += Fraction(math.comb(ones + 1, place - 1), 2 ** (ones + 1)) if place else 0
        best = max(best, below - growth * fewer)
    return float(best)


@pytest.mark.parametrize("ones", [0, 1, 2, 7, 40, 186, 221])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0, 20.0])
def test_a_columns_delta_is_the_maximum_over_thresholds_rounded_up(ones, epsilon):
    exact = naive_delta(ones, epsilon)
    assert exact <= column_delta(ones, epsilon) <= exact * (1 + 1e-10)


@pytest.mark.parametrize("most", [80, pytest.param(300, marks=pytest.mark.statistics)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
def test_more_ones_never_cost_more(epsilon, most):
    deltas = [column_delta(ones, epsilon) for ones in range(most)]
    assert deltas == sorted(deltas, reverse=True)


def worst(common, epsilon):
    """Return the largest divergence over all pairs of rows beside what both tables have in common."""
    rows = list(product((0, 1), repeat=len(common)))
    laws = [chances([nu + x for nu, x in zip(common, row, strict=True)]) for row in rows]
    return max(stick(first, second, epsilon) for first, second in product(laws, laws))


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("common", [(3, 3), (2, 5), (6, 4, 5), (0, 4)])
def test_exact_enumeration_never_exceeds_the_sum_over_columns(common, epsilon):
    assert worst(common, epsilon) <= sum(column_delta(ones, epsilon) for ones in common)


def test_a_quarter_of_the_claim_is_attained(witness):
    witness("G5", 2 * column_delta(1, 0.3), worst((1, 1), 0.3), "two columns, every pair of rows: delta")
    assert worst((1, 1), 0.3) == pytest.approx(2 * column_delta(1, 0.3) / 4)


@pytest.mark.parametrize(("p", "expected"), [(10, (697, 186, 53)), (100, (838, 221, 63)), (1000, (981, 256, 73))])
def test_the_calculator_gives_the_catalogues_table(p, expected):
    assert tuple(smallest_columns(p, epsilon, 1e-6) for epsilon in (0.5, 1.0, 2.0)) == expected


def test_the_smallest_number_is_enough_and_one_less_is_not():
    for p, epsilon, delta in ((7, 0.8, 1e-5), (50, 0.3, 1e-8), (1, 2.0, 0.01)):
        ones = smallest_columns(p, epsilon, delta)
        assert p * column_delta(ones, epsilon) <= delta < p * column_delta(ones - 1, epsilon)


def test_the_papers_threshold_is_too_low_for_its_claim():
    # [003] Theorem 7: the test asks for 2 ln(1/delta)/epsilon ones and claims (2 epsilon, delta).
    epsilon, delta = 0.5, 1e-6
    asked = math.ceil(2 * math.log(1 / delta) / epsilon)
    assert asked < smallest_columns(2, 2 * epsilon, delta)
    assert 2 * column_delta(asked, 2 * epsilon) > 100 * delta


@pytest.mark.parametrize("wrong", [(0, 1.0, 1e-6), (3, 0.0, 1e-6), (3, 1.0, 0.0), (3, 1.0, 1.5)])
def test_the_calculator_refuses_what_is_no_budget(wrong):
    with pytest.raises(InvalidParameter):
        smallest_columns(*wrong)
    with pytest.raises(BudgetImpossible, match="raise epsilon"):
        smallest_columns(3, 1e-5, 1e-6)


# --- coins --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [SeededSource(1), ExactSource()], ids=["seeded", "exact"])
@pytest.mark.parametrize("ones", [0, 1, 9, 32, 33])
def test_coins_are_fair_and_as_many_as_there_are_ones(source, ones):
    runs = 400
    counts = np.bincount([kept_of(ones, source) for _ in range(runs)], minlength=ones + 1)
    assert len(counts) == ones + 1
    expected = runs * binom.pmf(np.arange(ones + 1), ones, 0.5)
    usual = expected > 8
    if usual.sum() > 1:
        seen = np.append(counts[usual], counts[~usual].sum())
        wanted = np.append(expected[usual], expected[~usual].sum())
        kept = wanted > 0
        assert chisquare(seen[kept], wanted[kept]).pvalue > FAILURE / 20


def test_many_coins_come_in_several_portions():
    count = 2**21 + 2**20 + 5
    assert abs(kept_of(count, SeededSource(2)) - count / 2) < 6 * math.sqrt(count) / 2


def test_entries_above_one_half_are_ones():
    X = np.array([[1.0, 0.5, np.nan], [0.51, -3.0, np.inf], [0.0, 2.0, 0.0]])
    np.testing.assert_array_equal(ones_of(X), [2, 1, 1])
    np.testing.assert_array_equal(ones_of(sparse.csr_array(np.nan_to_num(X, nan=0.0))), [2, 1, 1])


# --- the selector -------------------------------------------------------------------------------------------------


def table(n_samples=4000, shares=(0.7, 0.3, 0.6), seed=0):
    return (np.random.default_rng(seed).random((n_samples, len(shares))) < shares).astype(float)


def selector(**parameters):
    return eq.SimplexSelector(**{"epsilon": 1.0, "delta": 1e-6, "random_state": 0, **parameters})


def test_the_rarest_column_is_selected_and_the_certificate_follows():
    X = table()
    model = selector()
    plan = model.plan(*X.shape)
    model.fit(X)
    assert model.get_support().tolist() == [False, True, False]
    np.testing.assert_array_equal(model.transform(X), X[:, [1]])
    assert not model.refused_
    assert plan.verify() == model.certificate_.verify() == ()
    assert plan.released is None
    assert model.certificate_.released is True
    assert model.certificate_.planned_digest == plan.digest != model.certificate_.digest
    assert eq.Certificate.from_json(model.certificate_.to_json()) == model.certificate_
    assert "simplex: true" in str(model.certificate_)
    assert selector().fit(sparse.csr_array(X)).column_ == 1


def test_an_exact_selection_is_proved():
    model = selector(random_state=None).fit(table())
    assert model.certificate_.grade == "proved"
    assert model.column_ == 1


def test_a_column_with_too_few_ones_is_refused_and_the_first_stands_in():
    X = table()
    X[:, 2] = 0.0
    model = selector().fit(X)
    assert model.refused_
    assert model.certificate_.released is False
    assert model.get_support().tolist() == [True, False, False]
    assert model.certificate_.verify() == ()
    assert "simplex: false" in str(model.certificate_)


def threshold(claim):
    """Return what the noisy count must exceed."""
    return claim.ones + claim.noisy().margin


def test_the_split_adds_up_and_is_the_one_with_the_lowest_threshold():
    claim = selector().plan(4000, 10).claim
    assert claim.test.epsilon + claim.coins.epsilon <= 1.0
    assert claim.curve().delta(1.0) <= 1e-6
    assert claim.ones == smallest_columns(10, claim.coins.epsilon, 1e-6)
    for share in (0.1, 0.2, 0.3, 0.5):
        assert threshold(selector(test_share=share).plan(4000, 10).claim) >= threshold(claim)
    assert selector(test_share=0.25).plan(4000, 10).claim.test.epsilon == 0.25


UNSAFE = {
    "one a column less": lambda claim: replace(claim, ones=claim.ones - 1),
    "no ones": lambda claim: replace(claim, ones=0),
    "a dearer test": lambda claim: replace(claim, test=Budget(1.0, 1e-6)),
    "a test that errs more often": lambda claim: replace(claim, test=replace(claim.test, delta=1e-5)),
    "dearer coins": lambda claim: replace(claim, coins=Budget(1.0, 1e-6)),
    "more columns": lambda claim: replace(claim, n_features=40),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_numbers_altered_to_the_unsafe_side_are_found_under_a_fresh_digest(name):
    certificate = selector().fit(table()).certificate_
    claim = UNSAFE[name](certificate.claim)
    altered = replace(certificate, claim=claim, digest=_digest(certificate.terms, claim))
    assert any(fault.startswith("simplex: ") for fault in altered.verify())


def test_tampering_is_found():
    certificate = selector().fit(table()).certificate_
    for wrong in (replace(certificate.claim, released=False), replace(certificate.claim, ones=400)):
        faults = replace(certificate, claim=wrong).verify()
        assert faults == ("digest: a recorded field was changed after the certificate was made",)
    with pytest.raises(CertificateUnreadable):
        eq.Certificate.from_json(certificate.to_json()[:-20])
    with pytest.raises(CertificateUnreadable, match="schema_version None"):
        eq.Certificate.from_json("{}")


@pytest.mark.parametrize(
    ("parameters", "shape", "error", "words"),
    [
        ({"delta": 0.0}, (4000, 3), BudgetImpossible, "delta > 0"),
        ({"epsilon": -1.0}, (4000, 3), InvalidParameter, "epsilon"),
        ({"test_share": 0.0}, (4000, 3), InvalidParameter, "test_share"),
        ({"test_share": "much"}, (4000, 3), InvalidParameter, "test_share"),
        ({}, (100, 3), InvalidParameter, "more than .* rows"),
        ({"random_state": -1}, (4000, 3), InvalidParameter, "random_state"),
    ],
)
def test_bad_inputs_are_refused_before_a_row_is_read(parameters, shape, error, words):
    with pytest.raises(error, match=words):
        selector(**parameters).plan(*shape)


def test_another_shape_than_planned_is_refused():
    model = selector()
    model.plan(5000, 3)
    with pytest.raises(PlanMismatch):
        model.fit(table())


def test_clone_and_pickle_and_nothing_private_inside():
    X = table()
    model = selector().fit(X)
    assert not hasattr(clone(model), "column_")
    assert set(model.__dict__) - set(model.get_params()) == {"n_features_in_", "column_", "certificate_"}
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(again.get_support(), model.get_support())
    # Two tables of one shape leave the same object but for what was released, and when.
    other = selector().fit(table(seed=1))
    assert replace(other.certificate_, release=None) == replace(model.certificate_, release=None)


# --- an audit -----------------------------------------------------------------------------------------------------


def choices(ones, runs, seed):
    source = SeededSource(seed)
    return np.array([int(np.argmin([kept_of(count, source) for count in ones])) for _ in range(runs)], dtype=float)


def observed(common, epsilon_delta, runs=4000):
    first = choices((common, common + 1), runs, 1)
    second = choices((common + 1, common), runs, 2)
    return lower_bound(first, second, epsilon_delta, np.array([0.5]), FAILURE).epsilon


def test_choices_by_coins_stay_below_their_claim_and_too_few_ones_are_caught():
    epsilon, delta = 0.5, 0.02
    ones = smallest_columns(2, epsilon, delta)
    assert observed(ones, delta) <= epsilon
    # The planted fault: a threshold far below what the budget needs.
    assert ones > 4
    assert observed(2, delta) > epsilon


def test_a_certificate_of_another_kind_is_not_read():
    request = SimplexRequest(4000, 3, Budget(1.0, 1e-6))
    text = issue_simplex(request).to_json().replace('"ones"', '"zeros"')
    with pytest.raises(CertificateUnreadable, match="ones"):
        eq.Certificate.from_json(text)
