"""Certificates that promise more than they can keep, with every digest computed again: none of them is accepted."""

import json
import math

import pytest

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Claim
from equipoise.certify.claims.choice import LEVELS
from equipoise.certify.curves import GaussianCurve, PureCurve
from equipoise.certify.record import parse
from equipoise.certify.sampled import divergence_of_a_step
from equipoise.certify.withdrawn import Withdrawal
from equipoise.errors import CertificateUnreadable
from stored_certificates import STORED, name_of, numbers, put, sealed_faults

RECORDS = {path.stem: json.loads(path.read_text()) for path in STORED}

# What is claimed about, asked for or spent, rather than promised: other facts may well need less noise.
FACTS = {"problem", "terms", "budget", "run", "statistic", "weights", "test", "coins", "recipe", "released"}
SIZES = {"n_samples", "n_features", "rows", "validation_rows", "candidates", "projection", "shape"}


def silenced(record, share=1e-9):
    """Return a record with hardly any noise."""
    for place, value in list(numbers(record)):
        if place[-1] in {"scale", "noise_scale"}:
            record = put(record, place, value * share)
    return record


# Every third in the fast lane: there are three or more of each kind.
SOME = [
    pytest.param(path, marks=pytest.mark.statistics if place % 3 else (), id=name_of(path))
    for place, path in enumerate(STORED)
]


@pytest.mark.parametrize("path", SOME)
def test_no_extreme_number_excuses_missing_noise(path):
    record = json.loads(path.read_text())
    # Coins are no noise of a scale: their number is what counts there.
    assert sealed_faults(silenced(record)) or record["claim"]["kind"] == "simplex"
    places = [
        (place, value)
        for place, value in numbers(record)
        if place[0] == "claim"
        and not FACTS & set(place)
        and place[-1] not in SIZES
        # Two of many phases or parts are as good as all.
        and not any(isinstance(key, int) and key > 1 for key in place)
    ]
    assert places
    for place, value in places:
        for extreme in (0, -value, -1e9, -1e-9, 1e200, "infinity") if isinstance(value, float) else (0, -value, 10**18):
            altered = silenced(record)
            # The altered number itself stays as it is altered.
            assert sealed_faults(put(altered, place, extreme)), (place, extreme)


@pytest.mark.parametrize("path", STORED, ids=name_of)
def test_noise_on_other_numbers_than_those_released_is_noticed(path):
    # The curve of spherical noise is better in more dimensions, and worse in fewer.
    record = json.loads(path.read_text())
    for place, value in numbers(record):
        if place[-1] == "dimension":
            assert sealed_faults(put(record, place, value + 1))
            assert sealed_faults(put(record, place, 20_000 * value))
            assert sealed_faults(put(record, place, value - 1))


@pytest.mark.parametrize("mu", [1e153, 1e155, 1e200, math.inf])
def test_a_curve_beyond_doubles_promises_nothing(mu):
    assert GaussianCurve(mu).delta(1.0) == 1.0


@pytest.mark.parametrize("level", [-1e-9, -1.0, -100.0, math.nan])
def test_a_negative_level_promises_nothing(level):
    assert PureCurve(level).delta(1.0) == 1.0


def test_a_phase_is_priced_as_it_is_carried_out():
    # The door solves where there is a ridge around the start, and descends elsewhere.
    smooth, kinked = RECORDS["phased-ordinary"], RECORDS["phased-corners"]
    for record, changes in (
        (smooth, {"alpha": 1e-3}),
        (smooth, {"tolerance": 1e-3}),
        (kinked, {"alpha": 0.0}),
        (kinked, {"tolerance": 0.0}),
    ):
        for name, value in changes.items():
            assert sealed_faults(put(record, ("claim", "phases", 0, name), value))
    assert sealed_faults(put(kinked, ("claim", "recipe", "clip"), 1e-9))


def test_a_pure_search_over_runs_that_are_not_pure_is_noticed():
    record = put(RECORDS["stopping-ordinary"], ("claim", "run", "delta"), 0.5)
    for place in range(len(record["claim"]["of"])):
        record = put(record, ("claim", "of", place, "budget", "delta"), 0.5)
    assert record["claim"]["budget"]["delta"] == 0
    assert any("pure where all is" in fault for fault in sealed_faults(record))


def test_a_run_of_a_search_is_about_the_rows_that_train_it():
    record = RECORDS["stopping-ordinary"]
    rows = record["claim"]["of"][0]["n_samples"]
    for other in (1, rows - 1, rows + 1):
        assert sealed_faults(put(record, ("claim", "of", 0, "n_samples"), other))


@pytest.mark.parametrize("name", ["choice-ordinary", "stopping-ordinary"])
@pytest.mark.parametrize("bound", [0.0, -1e-9])
def test_scores_without_a_bound_are_noticed(name, bound):
    record = RECORDS[name]
    (place,) = (place for place, _ in numbers(record) if place[-2:] == ("procedure", "bound"))
    assert any("bound above 0" in fault for fault in sealed_faults(put(record, place, bound)))


def test_the_curvature_of_a_loss_with_straight_stretches_counts_as_none():
    found = [
        record
        for record in RECORDS.values()
        if record["claim"]["kind"] == "dropout" and record["claim"]["problem"]["loss"] == "logistic"
    ]
    assert found
    for record in found:
        clipped = Certificate.from_json(json.dumps(put(record, ("claim", "problem", "loss"), "clipped-logistic:0.5")))
        assert clipped.claim.masks.factor(clipped.claim.problem) == 0.0


def test_classes_that_were_found_in_the_data_are_not_called_declared():
    record = put(RECORDS["output-ordinary"], ("claim", "problem", "domain", "classes"), "observed")
    assert any("classes" in fault for fault in sealed_faults(record))
    assert sealed_faults(put(record, ("terms", "observed_classes"), True)) == ()


@pytest.mark.parametrize("law", ["laplace", "gaussian", "spherical-laplace"])
def test_whoever_draws_from_a_withdrawn_law_is_told(law, monkeypatch):
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (Withdrawal("2027-01-01", "law", law, "wrong"),))
    for name, record in RECORDS.items():
        certificate = Certificate.from_json(json.dumps(record))
        drawn = {node.law for node in certificate.claim.nodes()} | {
            value["law"] for node in certificate.claim.nodes() for value in noises(node)
        }
        statistic = {"simplex", "dropout"} & {node.kind for node in certificate.claim.nodes()}
        assert bool(certificate.withdrawn()) is (law in drawn or (law == "laplace" and bool(statistic))), name


def noises(node: Claim) -> list[dict[str, str]]:
    """Return every record of noise in a claim."""
    return [{"law": value.law} for value in vars(node).values() if type(value).__name__ == "Noise"]


def test_a_version_that_was_added_acquits_nobody(monkeypatch):
    false = Withdrawal("2027-01-01", "theorem", "A2", "wrong", ("0.2.0",))
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (false,))
    record = next(record for record in RECORDS.values() if record["release"] and "A2" in str(record["claim"]))
    assert Certificate.from_json(json.dumps(record)).withdrawn()
    record = put(record, ("release", "software"), [*record["release"]["software"], ["equipoise", "0.9"]])
    assert Certificate.from_json(json.dumps(record)).withdrawn()


def test_what_a_terminal_obeys_is_shown_as_text():
    record = put(RECORDS["noisy-gradient-ordinary"], ("claim", "theorem"), "\x1b[2J\ud800 consistent")
    faults = sealed_faults(record)
    assert faults
    assert all(fault.isascii() and fault.isprintable() for fault in faults)


def test_many_keys_twice_are_refused_at_once():
    keys = ", ".join(f'"{number}": 0' for number in range(100_000))
    with pytest.raises(CertificateUnreadable, match="twice"):
        parse("{" + keys + ', "99999": 1}')


def test_a_part_without_a_place_is_no_candidate():
    record = RECORDS["choice-ordinary"]
    bounds = RECORDS["private-bounds-ordinary"]["claim"]["of"][0]
    swapped = put(record, ("claim", "of", len(record["claim"]["of"]) - 1), bounds)
    assert sealed_faults(swapped)
    assert Certificate.from_json(json.dumps(swapped)).alpha >= 0


def test_steps_with_so_much_noise_that_cells_vanish_are_still_counted():
    record = json.loads(json.dumps(RECORDS["noisy-sgd-divergence"]))
    claim = record["claim"]
    claim["noise"]["scale"], claim["recipe"]["passes"], claim["order"] = claim["sensitivity"] * 1e18, 1e60, 1e3
    assert sealed_faults(record)
    rate = 1 / claim["n_samples"]
    for multiplier in (1e6, 1e13, 1e17, 1e18, 1e30):
        # The divergence is at least half of order q^2 / z^2 where noise is large.
        assert divergence_of_a_step(multiplier, rate, 1e3) >= 0.45 * 1e3 * (rate / multiplier) ** 2


def test_no_rows_confirm_a_curvature_that_rows_cannot_have():
    record = json.loads(json.dumps(RECORDS["dropout-confirmed"]))
    claim = record["claim"]
    rate = claim["noise"]["scale"] / claim["worst"]
    claim["proposal"] = 1e60
    moved = Certificate.from_json(json.dumps(record)).claim.distance(1e60) * (1 + 1e-12)
    claim["worst"], claim["noise"]["scale"] = moved, moved * rate * (1 + 1e-9)
    claim["released"] = {"low": 1e60, "passed": True, "sensitivity": moved, "noise_scale": moved * rate * (1 + 1e-8)}
    assert any("rows can be so curved" in fault for fault in sealed_faults(record))


def test_scores_have_no_margin_to_lose():
    record = json.loads(json.dumps(RECORDS["stopping-ordinary"]))
    claim = record["claim"]
    claim["run"]["epsilon"] = 1e6
    for part in claim["of"]:
        part["budget"]["epsilon"] = 1e6
    claim["scale"] = LEVELS / (1e6 * (1 + 9.9e-13))
    claim["budget"]["epsilon"] = 1e7
    assert any("scores are as private" in fault for fault in sealed_faults(record))


@pytest.mark.parametrize("theorem", ["N3", "F3", "L3", "M1", "A4", "E4"])
def test_a_withdrawn_theorem_finds_the_certificates_that_rest_on_it_without_naming_it(theorem, monkeypatch):
    entry = Withdrawal("2027-01-01", "theorem", theorem, "planted")
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (entry,))
    assert any(Certificate.from_json(json.dumps(record)).withdrawn() for record in RECORDS.values())
