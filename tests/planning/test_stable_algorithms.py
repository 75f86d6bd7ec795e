"""Stable algorithms: bounds that witnesses reach, tables that never exceed them, and a page that tells what was run."""

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from scipy.optimize import minimize

import equipoise as eq
from contracts.pool import about
from equipoise.certify import theorems
from equipoise.certify.theorems.momentum import Momentum, responses
from equipoise.cli.bounds import command
from equipoise.data.rows import row_source
from equipoise.errors import InvalidParameter, NoTheoremApplies
from equipoise.lab.auditing import at_least, at_most
from equipoise.planning import stability
from equipoise.planning.measured_only import REASONS
from equipoise.solve.objective import Objective
from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.methods import FORMS, method_named
from equipoise_studies.stability_enhanced_privacy import (
    table,
    table_descents,
    table_figure,
    table_langevin,
    table_witnesses,
)
from equipoise_studies.stability_enhanced_privacy.table_settings import CHAIN, COLDER, DESCENT, FREE, LONGER, STRAIGHT

INTERVAL = r"[\d.]+ \[[\d.]+, [\d.]+\]"
PAGE = Path(__file__).parents[2] / "docs" / "stable-algorithms.md"
LOGISTIC = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", 0.1), eq.Domain(1.0, classes=(0, 1)))
LEAST_SQUARES = eq.Problem(
    eq.losses.named("squared"), eq.penalties.named("l2", 0.05), eq.Domain(1.0, labels=(-1.0, 1.0))
)


def bound_of(problem: eq.Problem, recipe: eq.Recipe, n_samples: int, theorem: str = "") -> float:
    found = [each for each in eq.bounds(problem, recipe, n_samples, 3) if theorem in ("", each.theorem)]
    assert found[0].certifies
    return found[0].sensitivity


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_is_what_the_table_says():
    assert PAGE.read_text(encoding="utf-8") == table.page()
    tables = table.table_section().tables
    assert [each.caption for each in tables if each.header == table.HEADER] == list(table.CAPTIONS)
    assert table.AVERAGE_CASE in tables[2].note
    # Every remark is shown.
    assert {line.remark for line in table.lines()} == {row[1] for each in tables[1::2] for row in each.rows}


def test_every_row_of_the_paper_has_an_answer():
    first, second = ({line.method for line in table.lines() if line.table == place} for place in (1, 2))
    assert (len(first), len(second)) == (14, 9)
    for line in table.lines():
        assert line.remark
        assert line.seen > 0
        # Nothing is ever seen beyond what is proved.
        assert line.bound is None or line.seen <= line.bound


def test_witnesses_reach_the_bounds(witness):
    loose = {"B9.nesterov": 0.9, "B9.heavy-ball": 0.99}
    for line in table.lines():
        if line.bound is not None and not line.unit:
            least = 0.98 if line.method == "Bridge regression" else loose.get(line.theorem, 1 - 1e-4)
            assert line.seen >= least * line.bound, line
            page = "bridge" if line.method == "Bridge regression" else line.theorem.partition("+")[0]
            witness(page, line.bound, line.seen, line.method)


def test_rows_without_a_bound_are_measured_with_a_confidence():
    measured = [line for line in table.lines() if line.bound is None]
    assert {line.method for line in measured} == {
        "SGD: batch normalisation", "SGD: dropout", "SGD: swapout", "Entropy-SGD",
    }  # fmt: skip
    for line in measured:
        assert "easured only" in line.remark
        assert re.fullmatch(INTERVAL + r" \(95 %\)", line.witness)
        for other in (
            "plain net of the same architecture: ",
            "Travelled from the start: ",
            "plain net, seed by seed: ",
        ):
            assert re.search(other + INTERVAL, line.remark)


def test_rows_are_asked_as_the_page_says():
    for line in table.lines():
        theorem = stability.members().get(line.theorem.partition("+")[0])
        by_name = theorem is not None and theorem.about in FORMS
        assert by_name == (line.asked == table.BY_METHOD), line
        assert (line.bound is None) == (line.asked == table.BY_MEASURING)
        assert line.unit == ("epsilon " if line.asked == table.BY_PLAN else "")


def test_the_pages_code_runs():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    found: dict = {}
    exec(block, found)  # noqa: S102 - the page's own code
    for problem, recipe in (
        (found["problem"], found["recipe"]),
        (found["problem"], eq.Recipe(tolerance=1e-9)),
        (found["bridge"], eq.Recipe()),
    ):
        assert bound_of(problem, recipe, 100) > 0
    assert found["model"].plan(1000, 3).theorem == "C3"


# --- the witnesses are runs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left_out", [{"dropout": 0.75}, {"clip": 0.25}, {"average": "uniform"}, {"batch_size": 10}])
def test_a_descent_that_leaves_its_protection_out_would_exceed_the_bound(left_out):
    bound = table.answer(FREE, replace(DESCENT, **left_out), "B1").sensitivity
    assert table_descents.descent_distance(FREE, replace(DESCENT, **left_out)) <= bound
    assert table_descents.descent_distance(FREE, DESCENT) > 1.4 * bound


def test_masks_hide_what_they_should():
    masks = table_descents.public_masks(replace(DESCENT, dropout=0.75))
    # 2,400 coins: six standard deviations, which chance exceeds with a probability of 2e-9; the seed is fixed.
    assert abs(masks.mean() - 0.25) < 6 * math.sqrt(0.25 * 0.75 / masks.size)
    never_hidden = masks.all(0)
    assert 0 < never_hidden.sum() < never_hidden.size


@pytest.mark.parametrize("solver", sorted(table_descents.SOLVERS))
def test_solvers_with_coins_draw_and_end_next_to_the_minimiser(solver):
    rows, targets = table_descents.mixed_table()
    objective = Objective(STRAIGHT.loss, STRAIGHT.penalty, row_source(rows, STRAIGHT.domain, 0.0), targets)
    run = table_descents.SOLVERS[solver]
    first, second = (run(objective, rows, 0.3, seed) for seed in (1, 2))
    assert np.linalg.norm(first - second) > 1e-3
    exact = table_witnesses.solved(STRAIGHT, rows, targets, 1e-9)
    # Both are within tau / mu of the minimiser (A4).
    assert np.linalg.norm(run(objective, rows, 1e-6) - exact) <= (1e-6 + 1e-9) / 0.1


def test_forgetting_the_neighbours_of_a_node_would_be_refuted():
    plain = bound_of(STRAIGHT, eq.Recipe(), table_witnesses.N_ROWS, "A1")
    assert table_witnesses.graph_distance(STRAIGHT, 4, 1e-9) > 4.9 * plain


@pytest.mark.parametrize("sizes", [(40, 60), (20, 30, 50), (10, 20, 30, 40)])
def test_public_classes_reach_their_bound(sizes):
    recipe = eq.Recipe(1e-6, method="ranking:" + "/".join(map(str, sizes)))
    moved = table_witnesses.partite_distance(table.PAIRS, sizes, 1e-6)
    assert 1 - 1e-3 <= moved / bound_of(table.PAIRS, recipe, sum(sizes)) <= 1


@pytest.mark.parametrize("sizes", [(60, 40), (50, 30, 20), (100,)])
def test_tasks_of_any_sizes_reach_their_bound(sizes, witness):
    recipe = eq.Recipe(1e-9, method="multi-task:" + "/".join(map(str, sizes)))
    moved = table_witnesses.multi_task_distance(STRAIGHT, sizes, 1e-9)
    witness("multi-task", bound_of(STRAIGHT, recipe, 100), moved, "tasks of " + ", ".join(map(str, sizes)) + " rows")
    assert 1 - 1e-6 <= moved / bound_of(STRAIGHT, recipe, 100) <= 1


def test_the_picture_shows_bounds_and_runs_below_them():
    points = list(table_figure.records())
    proved, seen = (
        {(each["ink"], each["x"]): each["y"] for each in points if each["dash"] == kind}
        for kind in (table_figure.BOUND, table_figure.WITNESS)
    )
    assert len(proved) == len(seen) == len(table_figure.METHODS) * len(table_figure.STEPS)
    for place, bound in proved.items():
        # One step from 0 reaches the bound: two opposite pushes.
        assert (1 - 1e-6 if place[1] == 1 else 0) < seen[place] / bound <= 1
    momentum = [proved[name, table_figure.STEPS[-1]] for name in table_figure.METHODS]
    assert momentum == sorted(momentum)
    assert table.table_section().figures[0].name == "stable-algorithms-steps"


# --- Langevin dynamics ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chain", [CHAIN, LONGER, COLDER])
def test_the_account_of_a_chain_is_the_products(chain):
    # Planned with the epsilon that the chain accounts for, the product takes the chain's step.
    model = eq.NoisySGDRegressor(
        loss="huber", epsilon=chain.epsilon(FREE), delta=1e-6, domain=FREE.domain, alpha=0.0, fit_intercept=False,
        step=f"langevin:{chain.beta}", passes=chain.steps * chain.batch / chain.n_samples, batch_size=chain.batch,
        average="last", clip=1.0,
    )  # fmt: skip
    recipe = model.plan(chain.n_samples, 1).claim.recipe
    assert recipe.steps(chain.n_samples) == chain.steps
    # The multiplier is found to 0.1 per cent and epsilon is rounded up to 0.001; the step goes with their squares.
    assert recipe.step == pytest.approx(chain.eta, rel=4e-3)


def test_epsilon_grows_with_steps_and_inverse_temperature():
    base, longer, colder = (chain.epsilon(FREE) for chain in (CHAIN, LONGER, COLDER))
    assert base < longer
    assert base < colder
    shown = {(line.method, line.bound) for line in table.lines() if line.theorem == "C3"}
    assert shown == {
        ("SGLD: aggregated step size", base), ("SGLD: aggregated step size", longer),
        ("SGLD: inverse temperature", base), ("SGLD: inverse temperature", colder),
    }  # fmt: skip


def test_chains_have_the_law_that_langevin_steps_have():
    # Equal rows pull straight: N(eta T, 2 eta T / beta). A row that turns takes 2 eta / b off whenever it is met.
    count, turned = 2000, np.ones((CHAIN.n_samples, 1))
    turned[0] = -1.0
    met = CHAIN.batch / CHAIN.n_samples
    shifts = 2 * CHAIN.eta / CHAIN.batch
    for rows, mean, variance in (
        (np.ones((CHAIN.n_samples, 1)), 0.0, 0.0),
        (turned, -shifts * CHAIN.steps * met, shifts**2 * CHAIN.steps * met * (1 - met)),
    ):
        ends = CHAIN.last_weights(FREE, rows, count, seed=5)
        mean += CHAIN.eta * CHAIN.steps
        variance += 2 * CHAIN.eta * CHAIN.steps / CHAIN.beta
        # Five and a half standard errors each: 4e-8 a statement, four statements, nearly normal numbers.
        assert abs(ends.mean() - mean) < 5.5 * math.sqrt(variance / count)
        assert abs(ends.var() / variance - 1) < 5.5 * math.sqrt(2 / count)


def unlucky_audit(chain: table_langevin.Chain, chains: int) -> float:
    """Return what an audit finds if every count is as bad as happens with a probability of 1e-8."""
    hits = np.arange(chain.steps + 1)
    chances = scipy.stats.binom.pmf(hits, chain.steps, chain.batch / chain.n_samples)
    # In standard deviations of the noise, from the middle between the two means.
    shifts = 2 / chain.batch * hits / (chain.deviation * math.sqrt(chain.steps))
    middle = float(chances @ shifts) / 2
    share = 1e-4 / (4 * len(table_langevin.PLACES))
    found = []
    for place in table_langevin.PLACES:
        here, there = scipy.stats.norm.cdf(place - middle), chances @ scipy.stats.norm.cdf(place + shifts - middle)
        for likely, rare in ((there, here), (1 - here, 1 - there)):
            few = int(scipy.stats.binom.ppf(1e-8, chains, likely))
            many = int(scipy.stats.binom.ppf(1 - 1e-8, chains, rare))
            found.append(math.log(at_least(few, chains, share) / at_most(many, chains, share)))
    return max(found)


def test_an_audit_of_chains_finds_what_is_there_and_no_more():
    # The audit may find more than the truth with a probability of 1e-4, by its own account; the seeds are fixed. That
    # it finds less than the floor has a probability of 2e-8 a chain.
    audited = {line.bound: line.seen for line in table.lines() if line.theorem == "C3"}
    for chain in (CHAIN, LONGER, COLDER):
        floor = unlucky_audit(chain, table_langevin.CHAINS)
        assert 0 < floor < audited[chain.epsilon(FREE)] < chain.epsilon(FREE)


def test_an_audit_of_chains_catches_an_eighth_of_the_noise():
    # The witness is weak: half the noise would pass.
    hardly_noisy = replace(CHAIN, beta=64 * CHAIN.beta)
    assert hardly_noisy.deviation == pytest.approx(CHAIN.deviation / 8)
    assert unlucky_audit(hardly_noisy, 1000) > CHAIN.epsilon(FREE)
    assert hardly_noisy.audit(FREE, chains=1000).epsilon > CHAIN.epsilon(FREE)


# --- what a bound says ------------------------------------------------------------------------------------------------


def test_bounds_are_those_of_the_catalogue():
    straight = table.STRAIGHT
    assert bound_of(straight, eq.Recipe(method="multi-task:60/40"), 100) == pytest.approx(
        2 * math.sqrt(2) / (2 * 40 * 0.1)
    )
    assert bound_of(straight, eq.Recipe(method="graph-convolution:4"), 100) == pytest.approx(5 * 2 / (100 * 0.1))
    assert bound_of(straight, eq.Recipe(method="bagging:3"), 100) == pytest.approx(2 / (3 * 33 * 0.1))
    assert bound_of(straight, eq.Recipe(method="bootstrap:10/25"), 100) == pytest.approx(2.5 * 2 / (100 * 0.1))
    # Pairs are twice as long: 4 rho_pair / (n mu), or the share of a record of the smaller class times rho_pair.
    assert bound_of(table.PAIRS, eq.Recipe(method="ranking"), 100) == pytest.approx(4 * 2 / (100 * 5))
    assert bound_of(table.PAIRS, eq.Recipe(method="ranking:40/60"), 100) == pytest.approx(60 / 2400 * 2 / 5)
    clipped = replace(LOGISTIC, domain=replace(LOGISTIC.domain, radius=3.0))
    assert bound_of(clipped, eq.Recipe(method="bagging:20"), 20, "bagging.clipped") == pytest.approx(2 * 3 / 20)


def test_a_tolerance_adds_what_a4_says():
    exact = bound_of(LOGISTIC, eq.Recipe(method="ranking"), 50)
    assert bound_of(LOGISTIC, eq.Recipe(1e-3, method="ranking"), 50) == pytest.approx(exact + 2e-3 / 0.1)


def test_equal_tasks_are_a_plain_ridge_on_longer_rows():
    longer = replace(LOGISTIC, domain=replace(LOGISTIC.domain, row_norm=math.sqrt(2)))
    plain = bound_of(longer, eq.Recipe(), 60, "A2")
    assert bound_of(LOGISTIC, eq.Recipe(method="multi-task:20/20/20"), 60) == pytest.approx(plain)


@pytest.mark.parametrize("theorem", [each for each in theorems.members().values() if each.about in FORMS])
def test_a_method_applies_to_settings_of_the_pool_and_refuses_others_with_a_remedy(theorem):
    answers = [theorem().bound(case.setting) for case in about(theorem.about)]
    applying = [answer for answer in answers if answer.value is not None]
    assert applying
    assert all(answer.sensitivity > 0 for answer in applying)
    for answer in answers:
        assert all(hypothesis.remedy for hypothesis in answer.missing)


@pytest.mark.parametrize(
    ("problem", "recipe", "missing"),
    [
        (LOGISTIC, eq.Recipe(method="multi-task:10/20"), "add up"),
        (LOGISTIC, eq.Recipe(method="ranking:10/20"), "add up"),
        (replace(LOGISTIC, intercept=0.5), eq.Recipe(method="ranking"), "constant column"),
        (LEAST_SQUARES, eq.Recipe(method="ranking"), "one sign"),
        (LOGISTIC, eq.Recipe(method="graph-convolution:60"), "n - 1 neighbours"),
        (LOGISTIC, eq.Recipe(method="bagging:61"), "every part has one"),
        (LOGISTIC, eq.Recipe(method="bootstrap:2/4", passes=2, step=0.1), "tau"),
        (replace(LOGISTIC, penalty=eq.penalties.named("none", 0.0)), eq.Recipe(method="ranking"), "strongly convex"),
        (replace(LOGISTIC, penalty=eq.penalties.named("bridge:1.5", 1.0)), eq.Recipe(method="ranking"), "elastic net"),
        (LOGISTIC, eq.Recipe(method="heavy-ball:0.5", passes=2, batch_size=60, step=0.1), "loss is squared"),
        (LEAST_SQUARES, eq.Recipe(method="heavy-ball:0.5", passes=2, batch_size=10, step=0.1), "all rows"),
        (LEAST_SQUARES, eq.Recipe(method="nesterov:0.5", passes=2, batch_size=60, step=0.6), "at most 1 /"),
        (LEAST_SQUARES, eq.Recipe(method="heavy-ball:0.5", passes=2, batch_size=60, step=1.6), "at most 3 /"),
        (LEAST_SQUARES, eq.Recipe(method="heavy-ball:0.5"), "at most 3 /"),
        (
            replace(LEAST_SQUARES, domain=eq.Domain(1.0, labels=(-1.0, 1.0), radius=1.0)),
            eq.Recipe(method="nesterov:0.5", passes=2, batch_size=60, step=0.1),
            "nothing projects",
        ),
    ],
)
def test_a_missing_hypothesis_is_named_with_a_remedy(problem, recipe, missing):
    answer = eq.bounds(problem, recipe, 60)[0]
    assert answer.value is None
    assert any(missing in hypothesis.claim for hypothesis in answer.missing), answer.missing
    with pytest.raises(NoTheoremApplies):
        answer.sensitivity  # noqa: B018 - reading the property is what raises


@pytest.mark.parametrize(
    "text",
    ["sgd", "heavy-ball", "heavy-ball:1.5", "nesterov:x", "multi-task", "multi-task:3.5", "ranking:10", "bagging:0",
     "bootstrap:10/9", "graph-convolution:1/2", "batch-norm:3", "bagging:nan", 7],
)  # fmt: skip
def test_what_is_no_method_is_refused(text):
    with pytest.raises(InvalidParameter, match=r"choose one of|write"):
        eq.Recipe(method=text)


def test_a_method_is_no_descent_that_an_estimator_could_run():
    assert not eq.Recipe(method="nesterov:0.5", passes=3, batch_size=10, step=0.1).descends
    assert method_named("bagging:3").counts == (3,)


# --- measured only ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", sorted(REASONS))
def test_measured_only_says_why_and_what_to_do(method):
    (answer,) = eq.bounds(LOGISTIC, eq.Recipe(method=method), 100)
    assert (answer.value, answer.certifies) == (None, False)
    (hypothesis,) = answer.missing
    assert hypothesis.claim.startswith("measured only: ")
    assert hypothesis.remedy


def test_every_name_has_a_theorem_or_a_reason():
    spoken = {theorem.about for theorem in stability.members().values()}
    assert all((name in spoken) != (name in REASONS) for name in FORMS)


def test_the_command_line_asks_for_methods(capsys):
    command(n_samples=100, alpha=0.1, method="ranking")
    assert "ranking" in capsys.readouterr().out
    command(n_samples=100, alpha=0.1, method="batch-norm")
    assert "measured-only" in capsys.readouterr().out


# --- momentum ---------------------------------------------------------------------------------------------------------


def polynomial(method: str, step_curvature: float, momentum: float, count: int) -> list[float]:
    """Return what a push becomes after every number of steps, along one eigenvector."""
    c, p = (1 + momentum - step_curvature, momentum)
    if method == "nesterov":
        c, p = (1 - step_curvature) * (1 + momentum), (1 - step_curvature) * momentum
    before, response, found = 0.0, 1.0, []
    for _ in range(count):
        found.append(response)
        before, response = response, c * response - p * before
    return found


def longest(member: Momentum, momentum: float) -> float:
    """Return what ``step (beta + alpha)`` may be at most."""
    return member.limit[0] + member.limit[1] * momentum


@pytest.mark.parametrize("method", ["heavy-ball", "nesterov"])
@pytest.mark.parametrize("momentum", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_responses_bound_every_eigenvalue_and_are_attained_without_a_ridge(method, momentum, alpha):
    member = next(each for each in theorems.members().values() if each.about == method)()
    step = 0.999 * longest(member, momentum) / (2 + alpha)
    problem = replace(
        LEAST_SQUARES, penalty=eq.penalties.named("l2", alpha) if alpha else eq.penalties.named("none", 0.0)
    )
    recipe = eq.Recipe(method=f"{method}:{momentum}", passes=3, batch_size=50, step=step)
    situation = setting(problem, recipe, 50, 3)
    assert (situation.constants.smoothness, situation.constants.strong_convexity) == (2.0, alpha)
    bound = list(itertools.islice(responses(*member.recursion(situation, momentum)), 40))
    for curvature in np.linspace(alpha, 2 + alpha, 101):
        observed = polynomial(method, step * curvature, momentum, 40)
        assert all(abs(one) <= most * (1 + 1e-9) for one, most in zip(observed, bound, strict=True))
    if alpha == 0:
        powers = [sum(momentum**i for i in range(k + 1)) for k in range(40)]
        assert bound == pytest.approx(powers, rel=1e-9)
        assert polynomial(method, 0.0, momentum, 40) == pytest.approx(powers, rel=1e-9)


def momentum_run(method, rows, targets, step, momentum, steps, alpha):
    before = weights = np.zeros(rows.shape[1])
    for _ in range(steps):
        ahead = weights + momentum * (weights - before)
        point = ahead if method == "nesterov" else weights
        gradient = 2 * rows.T @ (rows @ point - targets) / len(rows) + alpha * point
        before, weights = weights, ahead - step * gradient
    return weights


@pytest.mark.parametrize(("method", "share"), [("heavy-ball", 0.99), ("heavy-ball", 0.05), ("nesterov", 0.99)])
def test_no_tables_end_further_apart_than_momentum_allows(method, share):
    stream = np.random.default_rng(5)
    member = next(each for each in theorems.members().values() if each.about == method)()
    worst = 0.0
    for steps, momentum, n in itertools.product((1, 2, 5, 12), (0.0, 0.5, 0.95), (2, 5)):
        step = share * longest(member, momentum) / 2.05
        recipe = eq.Recipe(method=f"{method}:{momentum}", passes=steps, batch_size=n, step=step)
        bound = bound_of(LEAST_SQUARES, recipe, n)
        for _ in range(20):
            rows = stream.normal(size=(n + 1, 2))
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            targets = stream.choice([-1.0, 1.0], size=n + 1)
            ends = [
                momentum_run(method, rows[keep], targets[keep], step, momentum, steps, 0.05)
                for keep in (np.arange(n), np.r_[n, 1:n])
            ]
            worst = max(worst, float(np.linalg.norm(ends[0] - ends[1])) / bound)
    # One step from 0 has no error to grow: two opposite rows reach the bound.
    assert 0.8 < worst <= 1


def test_momentum_is_reached_as_steps_shrink():
    for method, momentum in (("heavy-ball", 0.5), ("nesterov", 0.9), ("nesterov", 1.0)):
        recipe = eq.Recipe(method=f"{method}:{momentum}", passes=6, batch_size=10**5, step=1e-5)
        rows, targets = np.zeros((10**5, 1)), np.zeros(10**5)
        rows[0] = 1.0
        ends = []
        for sign in (1.0, -1.0):
            targets[0] = sign
            ends.append(momentum_run(method, rows, targets, 1e-5, momentum, 6, 0.05))
        assert float(np.abs(ends[0] - ends[1])[0]) >= 0.999 * bound_of(LEAST_SQUARES, recipe, 10**5)


# --- weighted minimisers ----------------------------------------------------------------------------------------------

# A ridge that holds the weights near 0, where the logistic loss is as steep as its bound says, or nearly so.
HELD = replace(LOGISTIC, penalty=eq.penalties.named("l2", 50.0))


def minimiser(rows, weights, signs):
    """Return the minimiser of a weighted sum of logistic losses with the ridge of `HELD`."""

    def objective(found):
        margins = signs * (rows @ found)
        slopes = -weights * signs / (1 + np.exp(margins))
        return weights @ np.logaddexp(0, -margins) + 25.0 * found @ found, rows.T @ slopes + 50.0 * found

    return minimize(objective, np.zeros(rows.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9}).x


def unit(stream, *shape):
    rows = stream.normal(size=shape)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def multi_task_weights(rows, signs):
    stacked, weights = np.zeros((6, 6)), np.repeat([1 / 8, 1 / 4], [4, 2])
    stacked[:, :2] = rows
    stacked[:4, 2:4], stacked[4:, 4:] = rows[:4], rows[4:]
    return minimiser(stacked, weights, signs)


def ranked_weights(rows, grades):
    pairs = [(i, j) for i in range(6) for j in range(6) if grades[i] > grades[j]]
    differences = np.array([rows[i] - rows[j] for i, j in pairs]).reshape(-1, 2)
    return minimiser(differences, np.full(len(pairs), 1 / 15), np.ones(len(pairs)))


def partite_weights(rows, signs):
    # Three public classes of 1, 2 and 3 records, in this order.
    classes = np.repeat([0, 1, 2], [1, 2, 3])
    differences = np.array([rows[i] - rows[j] for i in range(6) for j in range(6) if classes[i] > classes[j]])
    return minimiser(differences, np.full(11, 1 / 11), np.ones(11))


def graph_weights(rows, signs):
    sums = rows + np.roll(rows, 1, axis=0) + np.roll(rows, -1, axis=0)
    clipped = sums / np.maximum(1.0, np.linalg.norm(sums, axis=1, keepdims=True))
    return minimiser(clipped, np.full(6, 1 / 6), signs)


BAGS = np.array([[2, 0, 1, 1, 1, 1], [3, 1, 1, 0, 1, 0], [0, 2, 1, 1, 1, 1]])


def bootstrap_weights(rows, signs):
    return np.mean([minimiser(rows, bag / 6, signs) for bag in BAGS], axis=0)


def bagged_weights(rows, signs):
    parts = np.arange(6).reshape(2, 3)
    return np.mean([minimiser(rows[part], np.full(3, 1 / 3), signs[part]) for part in parts], axis=0)


@pytest.mark.parametrize(
    ("method", "trained", "place", "others", "labels"),
    [
        ("multi-task:4/2", multi_task_weights, 5, 1.0, (1.0, -1.0)),
        ("ranking", ranked_weights, 0, -1.0, (1.0, -1.0)),
        ("ranking:1/2/3", partite_weights, 0, 1.0, None),
        ("graph-convolution:2", graph_weights, 0, 0.0, None),
        ("bootstrap:3/5", bootstrap_weights, 0, 1.0, (1.0, -1.0)),
        ("bagging:2", bagged_weights, 0, 1.0, (1.0, -1.0)),
    ],
)
def test_no_tables_end_further_apart_than_a_records_share_allows(method, trained, place, others, labels):
    # Aligned rows first, where the record changes its label, or its row turns round where labels are public. The other
    # rows are those with which its terms change most; their labels are in the middle where records are ranked.
    bound = bound_of(HELD, eq.Recipe(1e-6, method=method), 6)
    rows, signs = np.outer(np.full(6, others), [1.0, 0.0]), np.zeros(6) if method == "ranking" else np.ones(6)
    rows[place, 0] = 1.0
    other, other_signs = rows.copy(), signs.copy()
    if labels is None:
        other[place, 0] = -1.0
    else:
        signs[place], other_signs[place] = labels
    reached = float(np.linalg.norm(trained(rows, signs) - trained(other, other_signs))) / bound
    assert 0.9 < reached <= 1
    # Then tables of all kinds.
    stream = np.random.default_rng(11)
    for turn in range(12):
        rows, signs = unit(stream, 6, 2), stream.choice([-1.0, 1.0], size=6)
        other, other_signs = rows.copy(), signs.copy()
        other[place] = -rows[place] if turn % 4 == 0 else unit(stream, 2)
        if labels is not None and turn % 3 == 0:
            other_signs[place] *= -1
        ends = trained(rows, signs), trained(other, other_signs)
        assert float(np.linalg.norm(ends[0] - ends[1])) <= bound
