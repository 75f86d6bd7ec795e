"""What a search may claim: the budget of a run, the law of the number of runs, the curve, and the certificate."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.dp_event import RepeatAndSelectDpEvent
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from scipy import stats

import equipoise as eq
from equipoise.certify.certificate import Certificate, Release
from equipoise.certify.claims.choice import LEVELS, ChosenCurve, mean_of
from equipoise.planning.laws.gaussian import largest_mu
from equipoise.planning.random_stopping import (
    DRAW_BITS,
    best_order,
    gaussian_run,
    pure_run,
    run_count,
    stopping_chance,
)
from equipoise.planning.request import Bounds, Request
from equipoise.planning.search import Candidate, Parameter, SearchRequest, issue_search, run_budget
from stored_certificates import put, sealed_faults

DOMAIN = eq.Domain(1.0, labels=(0.0, 1.0))
BUDGET = eq.Budget(1.0)


def asked(method="chunks", budget=BUDGET, n=1000, validation=200, alphas=(0.1, 1.0), shape=0, mean_runs=0.0, **changes):
    run = run_budget(method, budget, shape, mean_runs)
    rows = n - validation if method == "random-stopping" else (n - validation) // len(alphas)
    mechanism = "gaussian" if budget.delta > 0 and method == "random-stopping" else "output"
    request = Request("squared", "l2", 0.1, DOMAIN, 0.0, rows, 3, run, mechanism)
    request = dataclasses.replace(request, **changes)
    candidates = tuple(
        Candidate((Parameter("alpha", alpha),), dataclasses.replace(request, alpha=alpha)) for alpha in alphas
    )
    facts = {"public_seed": request.public_seed, "seeded": request.seeded, "ledger": request.ledger}
    return SearchRequest(method, candidates, n, 3, budget, validation, 1.0, shape=shape, mean_runs=mean_runs, **facts)


WAYS = {
    "chunks": asked(),
    "chunks with delta": asked(budget=eq.Budget(1.0, 1e-6)),
    "pure stopping": asked("random-stopping", mean_runs=10.0),
    "geometric stopping": asked("random-stopping", shape=1, mean_runs=10.0),
    "Gaussian stopping": asked("random-stopping", budget=eq.Budget(1.0, 1e-6), mean_runs=10.0),
}


def chosen(way: str, place: int) -> Certificate:
    """Return the certificate of a search that released the candidate at a place."""
    plan = issue_search(WAYS[way])
    if way.startswith("chunks"):
        *trainings, choice = plan.claim.of
        claim = dataclasses.replace(plan.claim, of=(*trainings, dataclasses.replace(choice, released=place)))
    else:
        claim = dataclasses.replace(plan.claim, released=place)
    return plan.with_release(claim, Release("a name", "2026-01-01", (("equipoise", "0.2.0"),)))


@pytest.mark.parametrize("way", WAYS)
def test_a_certificate_verifies_survives_json_and_tells_its_argument(way):
    certificate, plan = chosen(way, 1), issue_search(WAYS[way])
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.verify() == plan.verify() == ()
    assert certificate.planned_digest == plan.digest != certificate.digest
    assert (certificate.released, plan.released) == (1, None)
    # What was trained is the candidate that was chosen; in a plan, the first.
    assert (certificate.alpha, plan.alpha) == (1.0, 0.1)
    text = certificate.explain()
    assert "0  alpha=0.1: theorem" in text
    assert "1  alpha=1.0: theorem" in text
    assert f"{certificate.kind}: 1" in text
    assert certificate.theorem in text
    assert certificate.grade == "proved"
    assert certificate.curve().delta(certificate.epsilon) <= certificate.delta
    assert certificate.adjacency == "replace-one"


@pytest.mark.parametrize("way", WAYS)
def test_a_changed_field_is_noticed(way):
    record = json.loads(chosen(way, 0).to_json())
    chunks = way.startswith("chunks")
    choice = ("claim", "of", 2) if chunks else ("claim",)
    rows = (*choice, "n_samples") if chunks else ("claim", "validation_rows")
    scale = record["claim"]["of"][2]["scale"] if chunks else record["claim"]["scale"]
    more_rows = 1 + WAYS[way].validation_rows
    unsafe = [
        ((*choice, "scale"), scale / 10, "delta(" if chunks else "scores are as private as trainings"),
        # Rows that train a candidate and score it as well.
        (rows, more_rows, "rows"),
        (
            ("claim", "budget"),
            {"epsilon": 0.5, "delta": 0.0},
            "delta" if not chunks else "costs no more than the whole",
        ),
        ((*choice, "released"), 2, "what was chosen is a candidate"),
    ]
    for place, value, named in unsafe:
        altered = put(record, place, value)
        assert any("digest" in fault for fault in Certificate.from_json(json.dumps(altered)).verify())
        # With a digest that fits.
        faults = sealed_faults(altered)
        assert any(named in fault for fault in faults), (place, faults)
    # Another candidate could have been chosen as well: the digest is what tells.
    other = put(record, (*choice, "released"), 1)
    assert [fault.split(":")[0] for fault in Certificate.from_json(json.dumps(other)).verify()] == ["digest"]


def test_chunks_have_the_whole_budget_and_runs_a_part_of_it():
    assert run_budget("chunks", eq.Budget(1.0, 1e-6)) == eq.Budget(1.0, 1e-6)
    for shape in (0, 1):
        run = run_budget("random-stopping", BUDGET, shape, 10.0)
        assert 0.999999 <= (2 + shape) * run.epsilon <= 1.0
        assert run.delta == 0


def test_the_scales_are_those_of_the_theorems():
    one_row = LEVELS
    assert issue_search(WAYS["chunks"]).noise_scale == pytest.approx(2 * one_row / 1.0, rel=1e-12)
    pure = issue_search(WAYS["pure stopping"])
    assert pure.noise_scale == pytest.approx(one_row / pure.claim.run.epsilon, rel=1e-12)
    gaussian = issue_search(WAYS["Gaussian stopping"])
    mu = one_row / gaussian.noise_scale
    assert best_delta(mu, 0, gaussian.claim.gamma, 1.0) <= 1e-6
    for training in gaussian.claim.of:
        assert training.sensitivity / training.noise.scale <= mu * (1 + 1e-9)


def best_delta(mu: float, shape: int, gamma: float, epsilon: float) -> float:
    """Return delta at the order of the divergence with the least."""
    return ChosenCurve(mu, shape, gamma, best_order(mu, shape, gamma, epsilon)).delta(epsilon)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"n_samples": 400, "budget": eq.Budget(2.0)}, "another budget"),
        ({"n_samples": 401}, "other rows"),
        ({"private_bounds": Bounds(("age",), 0.1), "schema": "0" * 64}, "private bounds"),
        ({"domain": eq.Domain(1.0, labels=(0.0, 2.0))}, "another in candidate 1"),
    ],
)
def test_a_candidate_that_asks_for_something_else_is_refused(change, found):
    request = asked()
    second = dataclasses.replace(
        request.candidates[1], request=dataclasses.replace(request.candidates[1].request, **change)
    )
    with pytest.raises(eq.errors.InvalidParameter, match=found):
        issue_search(dataclasses.replace(request, candidates=(request.candidates[0], second)))


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (lambda: asked(alphas=(0.1,)), "1;"),
        (lambda: asked(n=1000, validation=199), "1000 rows, 2 candidates, 199"),
        (lambda: dataclasses.replace(asked(), score_bound=0.0), "score_bound"),
        (lambda: asked("random-stopping", shape=2, mean_runs=9.0), "shape=2"),
        (lambda: asked("random-stopping", mean_runs=1.0), "mean_runs"),
        (lambda: asked(mean_runs=9.0), "mean_runs=9.0"),
        (lambda: asked("roulette"), "roulette"),
    ],
)
def test_what_no_theorem_covers_is_refused(request_, found):
    with pytest.raises(eq.errors.InvalidParameter, match=found):
        issue_search(request_())


def test_renyi_runs_must_be_gaussian():
    budget = eq.Budget(1.0, 1e-6)
    for mechanism in ("objective", "spherical-laplace"):
        request = asked("random-stopping", budget=budget, mean_runs=10.0, mechanism=mechanism)
        with pytest.raises(eq.errors.InvalidParameter, match="Gaussian noise on the weights"):
            issue_search(request)


def test_a_seeded_search_is_conditional_and_no_ledger_takes_it(tmp_path):
    ledger = eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#trial")
    ledger.create(eq.Budget(3.0))
    seeded = issue_search(asked(seeded=True, ledger="trial"))
    assert seeded.grade == "conditional"
    with pytest.raises(eq.errors.LedgerRefused):
        ledger.admit(seeded)
    plan = issue_search(asked(ledger="trial"))
    ledger.admit(plan)
    spends = [entry for entry in ledger.history() if entry.kind == "spend"]
    assert [(spend.epsilon, spend.certificate) for spend in spends] == [("1.0", plan.planned_digest)]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": 99}', '{"schema_version": 2}', "NaN"])
def test_an_unreadable_certificate_is_refused(text):
    with pytest.raises(eq.errors.CertificateUnreadable):
        Certificate.from_json(text)


def chance_of_at_most(count, shape, gamma):
    """Return P[K <= count] from the draw itself: the first number that stands for more runs."""
    low, high = 0, 2**DRAW_BITS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if run_count(middle, shape, gamma) <= count else (low, middle)
    return (low + 1) / 2**DRAW_BITS


@pytest.mark.parametrize(("shape", "mean_runs"), list(itertools.product((0, 1), (2.0, 27.0))))
def test_the_number_of_runs_has_the_law_it_is_said_to_have(shape, mean_runs):
    gamma = stopping_chance(shape, mean_runs)
    law = stats.geom(gamma) if shape == 1 else stats.logser(1 - gamma)
    assert law.mean() == pytest.approx(mean_runs, rel=1e-9)
    assert mean_of(shape, gamma) == pytest.approx(mean_runs, rel=1e-9)
    for count in (1, 2, 5, 40):
        assert chance_of_at_most(count, shape, gamma) == pytest.approx(law.cdf(count), rel=1e-11)


def law_of_the_best(run, chances):
    """Return the law of the best of K runs: earlier runs scored less, later ones no more (the first of equals wins)."""
    counts = np.arange(1, len(chances) + 1)
    found = {}
    for (output, score), probability in run.items():
        less = sum(p for (_, other), p in run.items() if other < score)
        same = sum(p for (_, other), p in run.items() if other == score)
        # The sum over the winner's turn j < k of less^j (less + same)^(k - 1 - j).
        turns = ((less + same) ** counts - less**counts) / same
        found[output, score] = float(chances @ turns) * probability
    return found


def worst(first, second):
    return max(abs(math.log(first[key] / second[key])) for key in first)


def neighbours(generator, epsilon):
    """Return two laws of one run, outputs with scores, some of them equal: epsilon apart, in one direction or both."""
    size = int(generator.integers(2, 5))
    keys = [(place, float(generator.integers(0, 3))) for place in range(size)]
    share = generator.dirichlet(np.full(size, 0.3)) + 1e-7
    share /= share.sum()
    rising = generator.random(size) < 0.5
    rising[0], rising[-1] = True, False
    up = share[rising].sum()
    # e^epsilon on a part of the mass, unless the other part would then fall by more than e^-epsilon.
    lift = min(math.exp(epsilon), (1 - (1 - up) * math.exp(-epsilon)) / up)
    other = np.where(rising, share * lift, share * (1 - up * lift) / (1 - up))
    return tuple(dict(zip(keys, side, strict=True)) for side in (share, other))


@pytest.mark.parametrize("shape", [0, 1])
def test_the_best_of_a_random_number_of_runs_costs_two_plus_shape_and_of_a_fixed_number_more(shape, witness):
    epsilon, gamma = 0.3, 0.01
    law = stats.geom(gamma) if shape == 1 else stats.logser(1 - gamma)
    chances, thirty = law.pmf(np.arange(1, 4000)), np.eye(30)[29]
    generator = np.random.default_rng(0)
    observed, fixed = 0.0, 0.0
    for _ in range(500):
        first, second = neighbours(generator, epsilon)
        assert worst(first, second) <= epsilon + 1e-6
        observed = max(observed, worst(law_of_the_best(first, chances), law_of_the_best(second, chances)))
        fixed = max(fixed, worst(law_of_the_best(first, thirty), law_of_the_best(second, thirty)))
    law_name = "logarithmic" if shape == 0 else "geometric"
    witness("E6", (2 + shape) * epsilon, observed, f"{law_name} number of runs: epsilon")
    assert 0.8 * (2 + shape) * epsilon < observed <= (2 + shape) * (epsilon + 1e-6)
    assert fixed > 3 * epsilon


@pytest.mark.parametrize(("shape", "mu"), list(itertools.product((0, 1), (0.1, 0.5))))
def test_the_renyi_curve_agrees_with_dp_accounting_and_holds_for_gaussian_scores(shape, mu):
    gamma = stopping_chance(shape, 20.0)
    accountant = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    accountant.compose(RepeatAndSelectDpEvent(GaussianDpEvent(1 / mu), mean=mean_of(shape, gamma), shape=shape))
    epsilon = accountant.get_epsilon(1e-6)
    assert best_delta(mu, shape, gamma, epsilon) <= 1.001e-6
    assert best_delta(mu, shape, gamma, 0.97 * epsilon) > 1e-6
    # The release is the score itself, N(0, 1) or N(mu, 1): its exact delta, in both directions.
    at = np.linspace(-12, 12 + mu, 400_001)
    slope = lambda chance: (1 - (1 - gamma) * chance) ** -(1 + shape)  # noqa: E731
    densities = [slope(stats.norm.cdf(at - shift)) * stats.norm.pdf(at - shift) for shift in (0.0, mu)]
    densities = [density / np.trapezoid(density, at) for density in densities]
    for level in (0.5 * epsilon, epsilon):
        for one, two in (densities, densities[::-1]):
            exact = np.trapezoid(np.maximum(0.0, one - math.exp(level) * two), at)
            assert exact <= best_delta(mu, shape, gamma, level) + 1e-12


def test_a_gaussian_run_spends_what_is_left_and_no_more():
    budget = eq.Budget(1.0, 1e-6)
    for shape, gamma in itertools.product((0, 1), (0.3, 0.01)):
        run = gaussian_run(budget, shape, gamma)
        assert best_delta(largest_mu(run.epsilon, 1e-6), shape, gamma, 1.0) <= 1e-6
        assert best_delta(largest_mu(1.001 * run.epsilon, 1e-6), shape, gamma, 1.0) > 1e-6
        assert gaussian_run(eq.Budget(2.0, 1e-6), shape, gamma).epsilon > run.epsilon


def test_budgets_that_leave_nothing_are_refused():
    with pytest.raises(eq.errors.BudgetImpossible):
        pure_run(1e-10, 0)
    with pytest.raises(eq.errors.BudgetImpossible):
        gaussian_run(eq.Budget(1e-9, 1e-300), 1, 1e-4)


@pytest.mark.parametrize("way", ["chunks", "pure stopping"])
def test_no_part_has_less_than_one_row(way):
    # With rows that nobody has, another part could be about more rows than there are, and need less noise.
    record = json.loads(issue_search(WAYS[way]).to_json())
    for size in (0, -800):
        faults = sealed_faults(put(record, ("claim", "of", 0, "n_samples"), size))
        assert any("rows" in fault for fault in faults)
    lent = put(record, ("claim", "of", 0, "n_samples"), -800)
    lent = put(lent, ("claim", "of", 1, "n_samples"), 2000)
    assert any("rows" in fault for fault in sealed_faults(lent))
