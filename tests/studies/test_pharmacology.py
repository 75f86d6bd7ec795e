"""The warfarin simulation against independent integration, its known limits, and the risks that follow from it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad_vec, solve_ivp

from equipoise.errors import InvalidData, InvalidParameter, UnknownName
from equipoise_studies.private_regression import parameters as known
from equipoise_studies.private_regression.clinical_risk import HARMS, expected_events, relative_risks
from equipoise_studies.private_regression.pharmacology import (
    Body,
    Course,
    simulate,
    simulate_fixed_dose,
    typical_patients,
)
from equipoise_studies.private_regression.titration import Titration

PAGE = Path(__file__).parents[2] / "docs" / "warfarin-model.md"
DOSE = 5.0


def one(cyp2c9="*1/*1", vkorc1="A/G", age=71.0, weight=70.0):
    return typical_patients([cyp2c9], [vkorc1], [age], [weight])


def cohort(n=60):
    generator = np.random.default_rng(5)
    return (
        generator.choice(["*1/*1", "*1/*2", "*1/*3", "*2/*3"], n, p=[0.7, 0.15, 0.1, 0.05]),
        generator.choice(["G/G", "A/G", "A/A"], n),
        generator.uniform(30, 90, n),
        generator.uniform(45, 120, n),
    )


def flows(patients, amounts):
    """Return the rates of change of the drug, written out again from the published equations."""
    gut, centre, periphery = amounts
    k_a, flow = 2.0, patients.exchange[0] * (centre / patients.central[0] - periphery / patients.peripheral[0])
    return [-k_a * gut, k_a * gut - patients.clearance[0] * centre / patients.central[0] - flow, flow]


def published(patients, hours, dose):
    """Return the INR after one dose by integrating all ten equations at once, with the paper's numbers typed in."""

    def rates(_, state):
        relative = (max(state[1], 0.0) / patients.central[0] / patients.ec50[0]) ** 0.424
        inflow = 1.0 - relative / (1.0 + relative)
        chain = state[3:9]
        fast = (6 / patients.fast[0]) * (np.concatenate(([inflow], chain[:-1])) - chain)
        return [*flows(patients, state[:3]), *fast, (inflow - state[9]) / patients.slow[0]]

    found = solve_ivp(rates, (0, hours), [dose / 2, 0, 0, *np.ones(7)], method="LSODA", rtol=1e-9, atol=1e-11)
    state = found.y[:, -1]
    return 1.0 + 20.0 * (1.0 - state[8] * state[9]) ** 3.61, state[:3]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_dose_agrees_with_an_integration_of_the_published_equations(seed):
    patients = one("*1/*3", "A/A", 64.0, 82.0).varied(np.random.default_rng(seed))
    body, doses = Body(patients), np.array([30.0])
    for days in range(1, 7):
        inr = body.advance(doses if days == 1 else np.zeros(1))
        expected, amounts = published(patients, 24.0 * days, 30.0)
        np.testing.assert_allclose(body.amounts[0, 1:], amounts[1:], rtol=1e-6)
        np.testing.assert_allclose(inr - 1.0, expected - 1.0, rtol=0.02)
    np.testing.assert_allclose(inr, expected, rtol=1e-3)


def test_nothing_is_lost_where_nothing_is_cleared():
    body = Body(replace(one(), clearance=np.zeros(1)))
    for _ in range(10):
        body.advance(np.array([DOSE]))
    np.testing.assert_allclose(body.amounts.sum(), 10 * DOSE / 2, rtol=1e-10)


def test_at_steady_state_a_day_clears_the_dose_of_a_day():
    patients = one()
    body = Body(patients)
    for _ in range(90):
        inr = body.advance(np.array([DOSE]))
    start = body.amounts[0] + [DOSE / 2, 0, 0]
    day = solve_ivp(lambda _, x: flows(patients, x), (0, 24), start, rtol=1e-10, atol=1e-12, dense_output=True)
    exposure = quad_vec(lambda hour: day.sol(hour)[1] / patients.central[0], 0, 24)[0]
    steady = DOSE / 2 / patients.clearance[0]
    np.testing.assert_allclose(exposure, steady, rtol=1e-6)
    # The INR is that of the mean concentration, but for the swing within a day.
    relative = (steady / 24 / patients.ec50[0]) ** 0.424
    np.testing.assert_allclose(inr, 1 + 20 * (1 - (1 / (1 + relative)) ** 2) ** 3.61, rtol=0.02)


def test_the_usual_dose_brings_a_typical_patient_into_range():
    body = Body(one())
    for _ in range(90):
        inr = body.advance(np.array([DOSE]))
    assert 2.0 < inr[0] < 3.0


def maintenance_doses(patients):
    """Return the daily doses that hold the INR at 2.5, by bisection."""
    low, high = np.full(len(patients), 0.05), np.full(len(patients), 60.0)
    for _ in range(18):
        middle, body = (low + high) / 2, Body(patients)
        for _ in range(60):
            inr = body.advance(middle)
        low, high = np.where(inr < 2.5, middle, low), np.where(inr < 2.5, high, middle)
    return high


def test_variant_alleles_age_and_a_small_body_need_less():
    patients = typical_patients(
        ["*1/*1", "*1/*1", "*1/*1", "*1/*2", "*1/*3", "*3/*3", "*1/*1", "*1/*1"],
        ["G/G", "A/G", "A/A", "A/G", "A/G", "A/G", "A/G", "A/G"],
        [71, 71, 71, 71, 71, 71, 85, 71],
        [70, 70, 70, 70, 70, 70, 70, 50],
    )
    gg, ag, aa, one_two, one_three, three_three, old, small = maintenance_doses(patients)
    assert gg > ag > aa
    assert ag > one_two > one_three > three_three
    assert old < ag
    assert small < ag


def test_a_higher_dose_gives_a_higher_inr_to_everyone_every_day():
    patients = cohort()
    courses = [simulate_fixed_dose(np.full(60, dose), *patients, days=30).inr for dose in (10.0, 30.0, 60.0)]
    assert np.all(courses[0] < courses[1])
    assert np.all(courses[1] < courses[2])


def test_a_poor_metaboliser_is_exposed_more():
    course = simulate_fixed_dose([35.0, 35.0], ["*1/*1", "*3/*3"], ["A/G", "A/G"], [60, 60], [70, 70], days=60)
    bodies = Body(typical_patients(["*1/*1", "*3/*3"], ["A/G", "A/G"], [60, 60], [70, 70]))
    for _ in range(60):
        bodies.advance(np.full(2, 5.0))
    assert bodies.amounts[1, 1] > 3 * bodies.amounts[0, 1]
    assert course.doses.tolist() == [[5.0] * 60] * 2


def test_the_seed_fixes_the_course_and_the_patients_whatever_the_doses():
    patients = cohort()
    first = simulate(np.full(60, 35.0), *patients, days=20, seed=3)
    np.testing.assert_array_equal(first.inr, simulate(np.full(60, 35.0), *patients, days=20, seed=3).inr)
    assert not np.array_equal(first.inr, simulate(np.full(60, 35.0), *patients, days=20, seed=4).inr)
    longer = simulate(np.full(60, 35.0), *patients, days=30, seed=3)
    np.testing.assert_array_equal(longer.inr[:, :20], first.inr)
    # Only one patient's dose changes: nobody else's course does.
    doses = np.full(60, 35.0)
    doses[0] = 50.0
    other = simulate(doses, *patients, days=20, seed=3)
    np.testing.assert_array_equal(other.inr[1:], first.inr[1:])
    assert np.all(other.inr[0, :7] > first.inr[0, :7])


def test_a_clinic_does_better_than_a_wrong_dose_for_ever():
    patients = cohort()
    for weekly in (12.0, 70.0):
        doses = np.full(60, weekly)
        assert (
            simulate(doses, *patients).time_in_range.mean() > simulate_fixed_dose(doses, *patients).time_in_range.mean()
        )


@pytest.mark.parametrize(
    ("inr", "next_days", "next_test"),
    [
        (1.5, [10.0, 5.5, 5.5], 12),
        (1.7, [7.5, 5.25, 5.25], 14),
        (1.9, [5.0, 5.0, 5.0], 21),
        (2.5, [5.0, 5.0, 5.0], 21),
        (3.2, [5.0, 5.0, 5.0], 21),
        (3.6, [2.5, 4.5, 4.5], 14),
        (4.5, [0.0, 4.5, 4.5], 14),
        (6.0, [0.0, 0.0, 5.0], 9),
    ],
)
def test_the_first_test_is_followed_by_what_the_table_says(inr, next_days, next_test):
    clinic = Titration(np.array([DOSE]))
    for day in range(1, 7):
        clinic.measured(day, np.array([9.0]))
        assert clinic.doses()[0] == DOSE
    clinic.measured(7, np.array([inr]))
    np.testing.assert_allclose([clinic.doses()[0] for _ in next_days], next_days)
    daily = next_days[-1]
    for day in range(10, next_test):
        clinic.measured(day, np.array([1.0]))
        assert clinic.doses()[0] == pytest.approx(daily)
    clinic.measured(next_test, np.array([1.0]))
    assert clinic.doses()[0] != pytest.approx(daily)


def test_small_deviations_count_when_repeated():
    for inr, factor in ((1.9, 1.05), (3.2, 0.95)):
        clinic = Titration(np.array([DOSE]))
        clinic.measured(7, np.array([inr]))
        assert clinic.doses()[0] == DOSE
        clinic.measured(21, np.array([inr]))
        assert clinic.doses()[0] == pytest.approx(DOSE * factor)


def test_a_held_patient_starts_again_lower_once_the_inr_is_down():
    clinic = Titration(np.array([DOSE]))
    clinic.measured(7, np.array([7.0]))
    assert [clinic.doses()[0] for _ in range(2)] == [0.0, 0.0]
    clinic.measured(9, np.array([4.0]))
    assert [clinic.doses()[0] for _ in range(2)] == [0.0, 0.0]
    clinic.measured(11, np.array([2.8]))
    assert clinic.doses()[0] == pytest.approx(0.85 * DOSE)
    # From then on a patient like any other.
    clinic.measured(18, np.array([3.8]))
    assert [clinic.doses()[0] for _ in range(2)] == pytest.approx([0.425 * DOSE, 0.765 * DOSE])


def test_each_test_of_each_patient_has_an_error_of_its_own(monkeypatch):
    for name, value in vars(known).copy().items():
        if name.startswith("SPREAD_"):
            monkeypatch.setattr(known, name, replace(value, value=0.0))
    alike = (["*1/*1"] * 40, ["A/G"] * 40, [70.0] * 40, [70.0] * 40)
    course = simulate(np.full(40, 35.0), *alike, days=40)
    assert np.ptp(course.inr[:, 6]) == 0.0
    assert len(np.unique(course.doses[:, 7])) > 1
    assert len(np.unique(course.doses[:, -1])) > len(np.unique(course.doses[:, 8]))


def test_shares_of_time_are_those_of_the_broken_line():
    generator = np.random.default_rng(0)
    inr = generator.uniform(1.0, 5.0, (8, 40))
    course = Course(inr, np.zeros_like(inr))
    fine = np.array([np.interp(np.linspace(0, 39, 200_001), np.arange(40), row) for row in inr])
    np.testing.assert_allclose(course.below, (fine < 2).mean(axis=1), atol=1e-3)
    np.testing.assert_allclose(course.above, (fine > 3).mean(axis=1), atol=1e-3)
    np.testing.assert_allclose(course.below + course.time_in_range + course.above, 1.0)


GOOD = {"cyp2c9": ["*1/*1"], "vkorc1": ["A/G"], "age": [60], "weight": [70], "doses_mg_per_week": [35.0]}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"doses_mg_per_week": [0.0]}, InvalidParameter, "above 0 and at most 1000"),
        ({"doses_mg_per_week": [np.nan]}, InvalidParameter, "1 of 1 patients"),
        ({"doses_mg_per_week": [35.0, 35.0]}, InvalidData, "2 doses"),
        ({"doses_mg_per_week": 35.0}, InvalidData, "shape ()"),
        ({"age": [130]}, InvalidParameter, "at most 120"),
        ({"weight": [-1]}, InvalidParameter, "above 0"),
        ({"age": [60, 61]}, InvalidData, "columns of 1, 2 entries"),
        ({"cyp2c9": ["*1/*5"]}, UnknownName, "*1/*1, *1/*2, *1/*3"),
        ({"vkorc1": [None]}, UnknownName, "1 of 1 patients with another one"),
        ({"vkorc1": []}, InvalidData, "shape (0,)"),
        ({"days": 1}, InvalidParameter, "at least 2 days"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_words(change, error, words):
    with pytest.raises(error) as refused:
        simulate(**{**GOOD, **change})
    assert words in str(refused.value)


def steady(*levels, days=10):
    inr = np.repeat(np.array(levels)[:, None], days, axis=1)
    return Course(inr, np.zeros_like(inr))


def test_risks_are_the_published_ones_at_constant_inr():
    in_range = steady(2.5, 2.5)
    for inr, stroke, bleeding in ((1.2, 3.5, 1.0), (2.9, 1.0, 1.0), (4.0, 1.0, 2.7), (8.0, 1.0, 21.8)):
        risks = relative_risks(steady(inr, inr), in_range)
        assert risks["stroke"] == pytest.approx((stroke,) * 3)
        assert risks["bleeding"] == pytest.approx((bleeding,) * 3)
    half_out = Course(np.array([[2.5, 2.5, 1.5, 1.5, 1.5]]), np.zeros((1, 5)))
    below = float(half_out.below[0])
    assert relative_risks(half_out, steady(2.5, days=5))["death"][0] == pytest.approx(1.29 ** (10 * below))


def test_a_course_has_the_risk_of_itself():
    course = simulate(np.full(60, 35.0), *cohort(), days=30)
    assert relative_risks(course, course) == dict.fromkeys(HARMS, (1.0, 1.0, 1.0))


def test_underdosing_strikes_and_overdosing_bleeds():
    patients = cohort()
    right, low, high = (simulate_fixed_dose(np.full(60, dose), *patients) for dose in (32.0, 8.0, 110.0))
    under, over = relative_risks(low, right), relative_risks(high, right)
    assert under["stroke"][1] > 1.0 > under["bleeding"][2]
    assert over["bleeding"][1] > 1.0 > over["stroke"][2]
    for risks in (under, over):
        assert all(low < value < high for value, low, high in risks.values())


def test_an_interval_is_paired_by_patient_and_covers_the_spread_between_them():
    generator = np.random.default_rng(2)
    levels = generator.uniform(1.0, 6.0, 400)
    course, reference = steady(*levels), steady(*levels[::-1])
    _, low, high = relative_risks(course, reference)["stroke"]
    events, others = expected_events(course)["stroke"], expected_events(reference)["stroke"]
    # The delta method for a ratio of paired means whose true value is 1.
    error = (events - others).std() / others.mean() / np.sqrt(400)
    np.testing.assert_allclose(high - low, 2 * 1.96 * error, rtol=0.15)


def test_two_cohorts_are_not_compared():
    with pytest.raises(InvalidData, match="same patients over the same days"):
        relative_risks(steady(2.5, 2.5), steady(2.5))


def test_every_parameter_is_in_the_table_and_the_table_is_in_the_page():
    stated = [value for value in vars(known).values() if isinstance(value, known.Parameter)]
    stated += [*known.CLEARANCE_LOST.values(), *known.EC50.values()]
    assert set(stated) == set(known.TABLE)
    assert len({parameter.name for parameter in known.TABLE}) == len(known.TABLE)
    assert known.parameter_table() in PAGE.read_text()
    assert known.zone_table() in PAGE.read_text()
