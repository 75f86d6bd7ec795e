"""The warfarin study: its table, the paper's mechanisms as printed, tuning, the attack, the page from end to end."""

import dataclasses
import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from equipoise.cli.application import build
from equipoise.errors import InvalidData
from equipoise.planning.laws import deviation_of
from equipoise_studies.claims import VERDICTS
from equipoise_studies.data import IWPC
from equipoise_studies.private_regression import (
    certified,
    consequences,
    hindsight,
    judged,
    measure,
    printed,
    tuning,
)
from equipoise_studies.private_regression.attack import Inversion, published_error
from equipoise_studies.private_regression.linear import Linear, Squares, spherical
from equipoise_studies.private_regression.mechanisms import LISTED, MECHANISMS, PAIRS, SAME_PRIVACY, SPENT, Training
from equipoise_studies.private_regression.preparation import (
    COLUMNS,
    CYP2C9,
    VKORC1,
    VKORC1_COLUMNS,
    clipped,
    patients,
    split,
    vkorc1_calls,
)

AGES = ("20 - 29", "40 - 49", "60 - 69", "70 - 79", "90+")


def table(rows: int = 900, seed: int = 0) -> dict[str, list]:
    """A made-up table in the consortium's format; the dose falls with A alleles and rises with weight."""
    draws = np.random.default_rng(seed)
    calls = draws.integers(0, 3, rows)
    weight = draws.normal(80, 15, rows).clip(40, 150)
    age = draws.integers(0, len(AGES), rows)
    root = 6.2 - 0.9 * calls + 0.02 * (weight - 80) - 0.2 * age + draws.normal(0, 0.7, rows)
    found = {
        "race": draws.choice(["White", "Asian", "Black or African American"], rows).tolist(),
        "age": [AGES[each] for each in age],
        "height_cm": draws.normal(168, 8, rows).tolist(),
        "weight_kg": weight.tolist(),
        "therapeutic_dose_of_warfarin": (root.clip(1.6, 10) ** 2).tolist(),
        "amiodarone_cordarone": draws.choice(["0", "1"], rows, p=[0.9, 0.1]).tolist(),
        "cyp2c9_consensus": draws.choice(CYP2C9, rows, p=[0.7, 0.12, 0.1, 0.03, 0.03, 0.02]).tolist(),
        "vkorc1_m1639_consensus": [VKORC1[each] for each in calls],
    }
    for name in ("carbamazepine_tegretol", "phenytoin_dilantin", "rifampin_or_rifampicin"):
        found[name] = draws.choice(["0", "1"], rows, p=[0.97, 0.03]).tolist()
    for name in ("vkorc1_1173_consensus", "vkorc1_1542_consensus", "vkorc1_2255_consensus"):
        found[name] = [None] * rows
    return found


def write(folder, columns) -> None:
    texts = {name: pa.array(values) if values[0] is not None else pa.array(values, pa.string())
             for name, values in columns.items()}  # fmt: skip
    pq.write_table(pa.table(texts), folder / IWPC.file)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write(folder, table())
    return folder


@pytest.fixture(scope="module")
def everyone(data):
    return patients(data)


@pytest.fixture(scope="module")
def halves(everyone):
    return split(everyone.rows, 600, 0)


# The table.


def test_columns_are_the_fourteen_of_the_paper_and_rows_lie_in_the_unit_ball(everyone):
    rows = everyone.rows
    assert rows.features.shape[1] == len(COLUMNS) == 14
    assert np.linalg.norm(rows.features, axis=1).max() <= 1 + 1e-12
    assert np.abs(rows.target).max() <= 1


def test_clipping_looks_at_one_row_at_a_time(everyone):
    other = everyone.unscaled.copy()
    other[0] *= 100
    assert np.array_equal(clipped(other)[1:], clipped(everyone.unscaled)[1:])


@pytest.mark.parametrize(
    ("race", "name", "call", "expected"),
    [
        ("White", "vkorc1_2255_consensus", "C/C", "G/G"),
        ("Asian", "vkorc1_2255_consensus", "T/T", "A/A"),
        ("Black or African American", "vkorc1_2255_consensus", "T/T", None),
        ("Unknown", "vkorc1_1542_consensus", "C/C", None),
        ("White", "vkorc1_1542_consensus", "C/G", "A/G"),
        ("Black or African American", "vkorc1_1173_consensus", "C/T", "A/G"),
        ("Unknown", "vkorc1_1173_consensus", "T/T", "A/A"),
    ],
)
def test_a_missing_genotype_comes_from_linked_variants_by_the_rule_for_the_race(race, name, call, expected):
    linked = ("vkorc1_1173_consensus", "vkorc1_1542_consensus", "vkorc1_2255_consensus")
    columns = {"race": [race, "White"], "vkorc1_m1639_consensus": [None, "G/G"]}
    columns |= {each: [call if each == name else None, "T/T"] for each in linked}
    found = pa.table({key: pa.array(values, pa.string()) for key, values in columns.items()})
    assert vkorc1_calls(found, imputed=True).tolist() == [expected, "G/G"]  # a measured call is never overwritten
    assert vkorc1_calls(found, imputed=False).tolist() == [None, "G/G"]


def test_rows_that_lack_something_are_dropped_and_unlisted_drugs_are_not_taken(tmp_path):
    columns = table(700)
    for place, name in enumerate(("age", "race", "cyp2c9_consensus", "vkorc1_m1639_consensus", "height_cm")):
        columns[name][place] = None
    columns["cyp2c9_consensus"][6] = "*1/*11"
    columns["race"][7] = "Unknown"
    columns["amiodarone_cordarone"][8] = None
    write(tmp_path, columns)
    found = patients(tmp_path)
    assert (len(found.dose), found.n_table) == (693, 700)
    assert found.unscaled[2, COLUMNS.index("amiodarone")] == 0


def test_too_few_complete_rows_are_refused(tmp_path):
    write(tmp_path, table(60))
    with pytest.raises(InvalidData, match="60 complete rows of 60"):
        patients(tmp_path)


# The mechanisms.


def test_the_minimiser_in_a_ball_is_stationary_or_on_the_sphere(halves):
    squares = Squares.of(halves[0])
    for ridge, radius in ((0.1, 100.0), (0.1, 0.2), (0.0, 0.05)):
        weights = squares.solve(ridge, radius)
        slope = 2 * (squares.gram @ weights - squares.moment) + ridge * weights
        length = np.linalg.norm(weights)
        assert length <= radius * (1 + 1e-9)
        if length < radius * (1 - 1e-6):
            assert np.linalg.norm(slope) < 1e-9
        else:
            assert np.linalg.norm(slope + weights * (np.linalg.norm(slope) / length)) < 1e-6


def test_spherical_noise_has_the_norm_of_its_density():
    stream = np.random.default_rng(0)
    norms = [np.linalg.norm(spherical(stream, 14, 0.5)) for _ in range(4000)]
    assert np.mean(norms) == pytest.approx(7.0, rel=0.03)  # d b
    assert np.var(norms) == pytest.approx(14 * 0.25, rel=0.15)


@pytest.mark.parametrize("radius", [0.5, 1.0])
def test_the_product_certifies_the_exact_diameter_and_no_less(radius):
    """Recomputed here: a theorem that wrongly applies shows as a smaller sensitivity, and as wonderful figures."""
    ridge, rows = 0.2, 2650
    cosine = (-1 + math.sqrt(1 + 8 * radius**2)) / (4 * radius)
    diameter = 4 * (1 + radius * cosine) * math.sqrt(1 - cosine**2)
    way = certified.Certified("output", ridge, radius, fit_intercept=False)
    claim = way.model(1.0, rows, 14).certificate_of_plan.claim
    assert diameter / (ridge * rows) <= claim.sensitivity <= 1.02 * diameter / (ridge * rows)
    assert claim.scale == pytest.approx(claim.sensitivity, rel=1e-6)
    assert printed.output_scale(ridge, radius, rows, 1.0) > 3 * claim.scale


def test_the_noise_of_a_fit_is_the_noise_of_its_certificate(halves):
    way = certified.OUTPUT
    drawn = np.stack([way.fit(halves[0], 0.5, seed).weights for seed in range(200)])
    promised = way.model(0.5, *halves[0].features.shape).certificate_of_plan.claim.noise
    assert drawn.std(0).mean() == pytest.approx(deviation_of(promised), rel=0.1)


def test_a_seed_repeats_a_fit_and_another_does_not(halves):
    first, again, other = (certified.DEFAULT.fit(halves[0], 1.0, seed).weights for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_objective_perturbation_as_printed_spends_more_than_it_says():
    # Noise exp(-norm/2) against gradients 3 sqrt(3) apart, and the bend of one row, 2 / (n lambda).
    expected = 1.5 * math.sqrt(3) + math.log(1 + 2 / (2650 * 0.07))
    assert printed.objective_epsilon(0.07, 1.0, 2650, 1.0) == pytest.approx(expected)


def test_the_least_alpha_is_where_the_bend_costs_half(halves):
    least = certified.least_alpha(106, 0.1)
    assert math.log1p(certified.BEND / (106 * least)) == pytest.approx(0.049)
    small = halves[0].part(np.arange(106))
    assert np.isfinite(certified.Certified("objective", 0.002, 1.0).fit(small, 0.1, 0).weights).all()


def test_every_row_is_counted_in_one_cell_of_the_histogram(everyone):
    features, target = printed.cells()
    places = printed.cell_of(everyone.unscaled, everyone.rows.target)
    assert places.min() >= 0
    assert places.max() < len(target)
    indicators = slice(3, 14)  # genotypes, races and drugs are kept exactly
    kept = np.isclose(features[places][:, indicators] != 0, everyone.unscaled[:, indicators] != 0)
    assert kept.all()


def test_without_noise_every_printed_mechanism_is_a_sensible_model(everyone, halves):
    """At a huge epsilon only bias is left: each must beat the mean dose."""
    train, test = halves
    training = Training(train, everyone.unscaled[train.places], printed.cells())
    spread = test.root_dose.var()
    for each in LISTED:
        # At an epsilon that is spent a mechanism is fitted like the corrected one, which is on the list too.
        if each.kind == SPENT:
            continue
        model = each.fit(training, 500.0, np.random.default_rng(0))
        error = np.mean((model.predict(test.features) - test.root_dose) ** 2)
        assert error < spread, each.key


def test_every_printed_mechanism_that_is_not_private_says_so():
    for key in ("printed-objective", "printed-tuned-output-r1", "printed-tuned-objective-r2", "reading-short-noise"):
        assert MECHANISMS[key].promise.startswith("not epsilon-private")
    assert set(PAIRS) >= {"functional", "data-independent output", "objective", "tuned output R1"}
    assert all(key in MECHANISMS for pair in PAIRS.values() for key in pair)


# Tuning.


def test_chunks_are_disjoint_and_the_share_takes_a_part_of_each(halves):
    parts, validation = tuning.chunks(halves[0], 0.5)
    places = np.concatenate([*(part.places for part in parts), validation.places])
    assert len(parts) == 24
    assert len(set(places.tolist())) == len(places)
    assert {len(part) for part in parts} == {12}


@pytest.mark.parametrize("way", ["output", "objective"])
def test_corrected_tuning_has_one_certificate_for_training_and_choosing(way, halves):
    search = tuning.chunk_search(way, "R1", 0.5, 2650, 14, 106)
    plan = search.plan(2650, 14)
    assert (plan.theorem, plan.epsilon, plan.delta, plan.verify()) == ("E5", 0.5, 0.0, ())
    *trainings, choice = plan.claim.of
    assert {(training.kind, training.budget.epsilon) for training in trainings} == {(way, 0.5)}
    assert choice.budget.epsilon == 0.5
    assert len({training.n_samples for training in trainings}) == 1
    assert choice.n_samples + sum(training.n_samples for training in trainings) == 2650
    if way == "output":
        assert (len(trainings), trainings[0].n_samples, choice.n_samples) == (24, 106, 106)


def test_a_planned_search_is_fitted_with_another_seed_and_not_planned_again(halves, monkeypatch):
    rows = halves[0]
    first = tuning.corrected(rows, "output", "R1", 5.0, np.random.default_rng(1))

    def refuse(*_):
        raise AssertionError("planned twice")

    monkeypatch.setattr(tuning.eq.PrivateGridSearch, "plan", refuse)
    again = tuning.corrected(rows, "output", "R1", 5.0, np.random.default_rng(1))
    other = tuning.corrected(rows, "output", "R1", 5.0, np.random.default_rng(2))
    assert np.array_equal(first.weights, again.weights)
    assert not np.array_equal(first.weights, other.weights)


def test_a_share_of_the_rows_takes_from_training_and_not_from_the_choice(halves, monkeypatch):
    asked = []
    planned = tuning.chunk_search

    def watched(way, radii, epsilon, n_rows, n_columns, choosing):
        asked.append((n_rows, choosing))
        return planned(way, radii, epsilon, n_rows, n_columns, choosing)

    monkeypatch.setattr(tuning, "chunk_search", watched)
    for share in (0.5, 1.0):
        tuning.corrected(halves[0], "output", "R1", 5.0, np.random.default_rng(0), share)
    assert asked == [(24 * 12 + 24, 24), (600, 24)]


def test_ridges_that_are_of_no_use_are_raised_and_tried_once():
    assert tuning.useful_ridges(10**9, 1.0) == printed.RIDGES
    assert tuning.useful_ridges(106, 0.1) == (certified.least_alpha(106, 0.1),)


def test_random_stopping_spends_half_on_each_run():
    plan = tuning.stopping_search(2.0, 600, 14).plan(600, 14)
    assert (plan.theorem, plan.epsilon, plan.verify()) == ("E6", 2.0, ())
    each = [training.budget.epsilon for training in plan.claim.of]
    assert max(each) == min(each) == pytest.approx(1.0)


def test_the_printed_choice_follows_the_odds_of_the_exponential_mechanism():
    stream = np.random.default_rng(0)
    drawn = [printed.exponential(np.log([0.7, 0.2, 0.1]), stream) for _ in range(5000)]
    assert np.bincount(drawn) / 5000 == pytest.approx([0.7, 0.2, 0.1], abs=0.03)


def test_algorithm_5_around_algorithm_3_spends_what_its_worst_candidate_does():
    # 24 rows a chunk, ridge 0.002: one row bends the objective by 2 / (24 * 0.002); slopes 3 sqrt(3) apart.
    expected = 1.5 * math.sqrt(3) + math.log(1 + 2 / (24 * 0.002))
    assert printed.tuned_objective_epsilon("R1", 600, 1.0) == pytest.approx(expected)
    # With few rows to choose by, choosing costs (R + 1)^2 / (rows R^2): never more than training here.
    assert printed.tuned_objective_epsilon("R1", 50, 1.0) > 4 / 2


@pytest.mark.parametrize("family", sorted(SAME_PRIVACY))
def test_a_fair_comparison_trains_at_the_epsilon_that_is_spent(family, everyone, halves):
    first, second, spent = SAME_PRIVACY[family]
    train = halves[0]
    training = Training(train, everyone.unscaled[train.places], printed.cells())
    assert spent(14, 600, 1.0) > 2.5
    corrected = PAIRS[family][1]
    expected = MECHANISMS[corrected].fit(training, spent(14, 600, 1.0), np.random.default_rng(5))
    found = MECHANISMS[second].fit(training, 1.0, np.random.default_rng(5))
    assert np.array_equal(found.weights, expected.weights)
    assert MECHANISMS[first].promise.startswith("not epsilon-private")


def test_hindsight_picks_the_smallest_mean_error_for_each_epsilon(everyone, halves):
    train, test = halves
    training = Training(train, everyone.unscaled[train.places], printed.cells())
    choices = (hindsight.Choice(0.05, 0.5, True), hindsight.Choice(1000.0, 0.5, False))
    oracle = hindsight.Hindsight("few", choices, hindsight.oracles()["oracle"].fit)
    for repetition in range(2):
        oracle.add(training, test, (1e-3, 100.0), repetition)
    # At a tiny epsilon only a model of almost nothing has little noise.
    assert oracle.picked() == [1, 0]


# The attack.


def test_the_sweep_of_the_attack_agrees_with_the_products_tool(everyone, halves):
    train, test = halves
    model = Linear(Squares.of(train).solve(0.01, 2.0))
    attack = Inversion.of(everyone, train, test)
    found = consequences.invert(model, everyone, train, test)
    assert attack.accuracy(model, published_error(model, train)) == pytest.approx(found.accuracy.value)
    assert attack.baseline == pytest.approx(found.baseline.value)
    assert found.advantage.low > 0  # the made-up dose depends on VKORC1


def test_the_attackers_spread_of_errors_does_not_come_from_the_attacked_levels(everyone, halves):
    """Whatever levels the attacked patients have in truth, the guesses are the same."""
    train, test = halves
    model = Linear(Squares.of(train).solve(0.01, 2.0))
    other = dataclasses.replace(everyone, unscaled=everyone.unscaled.copy(), vkorc1=everyone.vkorc1.copy())
    other.unscaled[test.places, VKORC1_COLUMNS] = 0.0
    other.vkorc1[test.places] = 0
    moved = dataclasses.replace(test, features=other.rows.features[test.places])
    guesses = [Inversion.of(who, train, rows).guesses(model, published_error(model, train))
               for who, rows in ((everyone, test), (other, moved))]  # fmt: skip
    assert np.array_equal(*guesses)
    found, again = consequences.invert(model, everyone, train, test), consequences.invert(model, other, train, moved)
    assert np.array_equal(found.confusion.sum(0), again.confusion.sum(0))


def test_a_model_that_says_nothing_is_inverted_no_better_than_by_guessing(everyone, halves):
    attack = Inversion.of(everyone, *halves)
    assert attack.accuracy(Linear(np.zeros(14)), 1.0) == attack.baseline


# From end to end.


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    """The whole study, small, on made-up data."""
    out = tmp_path_factory.mktemp("run") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hindsight, "PRINTED", hindsight.PRINTED[::6])
        patch.setattr(hindsight, "EXACT", hindsight.EXACT[::6])
        patch.setattr(consequences, "QUICK_PATIENTS", 30)
        asked = ["reproduce", "private-regression", "--quick", "--json", "--data", str(data), "--out", str(out)]
        result = CliRunner().invoke(build(asked), asked)
    assert result.exception is None, result.exception
    return out, {record["id"]: record for record in json.loads(result.stdout)}


# The other studies' whole runs are in the fast lane; this one takes longest, and test_golden.py runs it too.
@pytest.mark.statistics
def test_the_study_judges_every_published_anchor(run):
    _, claims = run
    anchors = {
        "section-5.3.error.oracle": 1.82,
        "section-5.3.error.functional": 22.57,
        "section-5.3.inversion.oracle": 0.45,
        "section-5.3.inversion.functional": 0.35,
        "figure-7.error.0.1": 5.05,
        "figure-7.error.0.9": 2.9,
        "figure-7.inversion.0.1": 0.36,
        "figure-7.inversion.0.9": 0.40,
        "figure-2.gap": 0.1,
        "figure-4.gap": 0.1,
    }
    assert {place: claims[place]["published"] for place in anchors} == anchors
    assert {each["verdict"] for each in claims.values()} <= set(VERDICTS)
    assert all(each["low"] <= each["measured"] <= each["high"] for each in claims.values())
    for place in ("algorithm-3.epsilon", "algorithm-4.constant", "algorithm-5.sensitivity", "functional.sensitivity"):
        assert claims[place]["verdict"] == "corrected"


@pytest.mark.statistics
def test_the_page_has_every_figure_and_says_what_it_is_not(run):
    out, _ = run
    images = {path.stem for path in out.glob("*.svg")}
    expected = {"figure-1", "figure-2", "figure-4", "figure-5", "figure-6", "figure-7", "figure-7-inversion"}
    expected |= {"figure-3-death", "figure-3-bleeding", "figure-3-stroke", "figure-monotone", "figure-membership"}
    assert expected <= images
    page = (out / "index.html").read_text()
    for words in ("medical advice", "not epsilon-private", "A certified path would not do that", "mg on average"):
        assert words in page


def test_gaps_are_never_negative_and_hold_their_interval():
    scores = {
        "a": measure.Scores(*(np.arange(21.0).reshape(7, 3),) * 3),
        "b": measure.Scores(*(np.zeros((7, 3)),) * 3),
    }
    found = measure.Measured(None, 0, 0, 3, measure.EPSILONS, scores, {}, (), {}, None, None, {})
    for first, second in (("a", "b"), ("b", "a")):
        gap, epsilon = judged.largest_gap(found, first, second)
        assert (gap.value, epsilon) == (19.0, 10.0)
        assert 0 <= gap.low <= gap.value <= gap.high
