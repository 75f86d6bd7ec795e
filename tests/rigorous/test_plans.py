"""Plans of today in balls: whatever the ordinary check accepts holds there, at round numbers and at extreme ones."""

import json
import math

import pytest
from flint import arb

import extremes
import mild_plans
from equipoise.errors import EquipoiseError
from equipoise.rigorous import HOLDS, findings, verdict
from equipoise.rigorous.facts import problem_of
from equipoise.rigorous.kinds import left_by_masks
from equipoise.rigorous.losses import logistic_diameter
from equipoise.vocabulary.losses.logistic_table import DIAMETERS, NORMS
from extremes import Cell

# A node of the logistic table, a tolerance of 3 mu R, a bridge that is a ridge, a 1 - q below a ball's last bit.
UNIT = (("row_norm", 1.0), ("labels", (-1.0, 1.0)))
PLAIN = ("fit_intercept", False)
FOUND = {
    "a node of the table, objective": Cell("logistic", (("epsilon", 1.0), PLAIN), (*UNIT, ("radius", 1.0)), (1000, 5)),
    "a node of the table, output": Cell(
        "logistic", (("delta", 1e-6), ("mechanism", "output"), PLAIN), (*UNIT, ("radius", 1.0)), (1000, 5)
    ),
    "its first node": Cell(
        "logistic", (("delta", 1e-6), ("mechanism", "output"), PLAIN), (*UNIT, ("radius", 0.1)), (12345, 5)
    ),
    "a node of the table, phases": Cell(
        "phased-classifier", (("delta", 1e-6), ("clip", 1.0), ("radius", 10.0), PLAIN), UNIT, (1000, 1)
    ),
    "a node of the table, masks": Cell(
        "dropout-classifier", (("delta", 1e-6), ("radius", 0.5), ("keep_probability", 0.5), PLAIN), UNIT, (1000, 300)
    ),
    "a tolerance of 3 mu R": Cell("svm", (("alpha", 1e-6), ("delta", 1e-12), ("loss", "hinge")), UNIT, (10, 30)),
    "a tolerance of 3 mu R, long rows": Cell(
        "svm",
        (("alpha", 0.01), ("loss", "hinge"), ("mechanism", "laplace")),
        (("row_norm", 17.3), ("labels", (-1.0, 1.0))),
        (2, 30),
    ),
    "a bridge that is a ridge": Cell(
        "bridge-classifier",
        (("power", 2.0), ("mechanism", "output")),
        (("row_norm", 0.1), ("labels", (-1.0, 1.0))),
        (1, 5),
    ),
    "a bridge over a tiny ball": Cell("bridge-regressor", (("alpha", 1e90), ("epsilon", 1e-9), PLAIN), UNIT, (1000, 5)),
    "a ridge that hardly shrinks, corners": Cell(
        "sgd-regressor",
        (("loss", "absolute"), ("step", 0.3)),
        (("row_norm", 1e-9), ("labels", (-1e50, 1e50)), ("radius", 1e100)),
        (1000, 5),
    ),
    "a delta below a ball's last bit": Cell(
        "additive-regressor", (("alpha", 0.001), ("delta", 1e-100)), UNIT, (1000, 5)
    ),
    "a step that times the ridge rounds to 1": Cell(
        "sgd-classifier",
        (("delta", 1e-6), ("alpha", 10.0), ("batch_size", 1), ("step", 0.1), ("average", "suffix"), ("loss", "hinge")),
        (("row_norm", 0.1), ("labels", (-1.0, 1.0))),
        (10_000, 1),
    ),
    "a ridge that is rounded": Cell(
        "sgd-regressor",
        (("delta", 1e-6), ("batch_size", 2), ("step", "decay"), ("order", "replacement"), ("l1_ratio", 0.9)),
        UNIT,
        (10, 30),
    ),
    "a ridge beside which curvature is rounding": Cell(
        "sgd-classifier", (("alpha", 3e16), ("step", "decay"), PLAIN), UNIT, (1000, 5)
    ),
    "an epsilon of 1e15": Cell(
        "svm",
        (("alpha", 1e20), ("delta", 1e-15), ("epsilon", 1e15)),
        (("row_norm", 1e20), ("labels", (-1e-300, 1e-300))),
        (1000, 5),
    ),
    "a ridge that hardly shrinks": Cell(
        "sgd-regressor", (("epsilon", 1e15), ("loss", "squared"), ("step", 1e-90)), UNIT, (1000, 10**6)
    ),
}


def excess(cell: Cell) -> list[str]:
    """Return what does not hold of a cell's plan; a refusal has none."""
    try:
        certificate = extremes.plan(cell)
    except EquipoiseError:
        return []
    found = findings(json.loads(certificate.to_json()))
    assert found
    assert certificate.verify() == ()
    return [f"{finding.verdict}: {finding}" for finding in found if finding.verdict != HOLDS]


def quick(count: int, seed: int) -> list[Cell]:
    """Return extreme cells without those whose losses are composed, which takes seconds each."""
    return [cell for cell in extremes.cells(count, seed) if not cell.name.startswith(mild_plans.SLOW)]


@pytest.mark.parametrize("found", FOUND)
def test_a_true_certificate_that_was_said_to_exceed_holds(found):
    certificate = extremes.plan(FOUND[found])
    assert (certificate.verify(), excess(FOUND[found])) == ((), [])


def test_no_plan_at_round_numbers_exceeds():
    assert [(cell, found) for cell in mild_plans.cells(76, 0) if (found := excess(cell))] == []


def test_no_plan_at_extreme_numbers_exceeds():
    assert [(cell, found) for cell in quick(76, 0) if (found := excess(cell))] == []


@pytest.mark.statistics
@pytest.mark.parametrize("seed", range(100, 116))
def test_no_plan_exceeds_in_a_long_search(seed):
    cells = [*mild_plans.cells(300, seed), *quick(150, seed)]
    assert [(cell, found) for cell in cells if (found := excess(cell))] == []


def test_a_longer_row_never_jumps_to_the_next_entry_of_the_logistic_table():
    for place in (0, 60, 120, 180):
        node, entry = arb(NORMS[place]), arb(round(DIAMETERS[place] * 10_000)) / 10_000
        assert entry <= logistic_diameter(node * (1 + arb(2) ** -50)) <= entry * (1 + arb(2) ** -50)
        # A ball that contains the node is no worse.
        assert logistic_diameter(arb(node.mid(), arb(2) ** -60)) <= entry * (1 + arb(2) ** -50)


def test_what_is_said_between_two_nodes_is_above_distances_of_gradients():
    def gradient(norm: float, angle: float) -> complex:
        return complex(math.cos(angle), math.sin(angle)) / (1 + math.exp(-norm * math.cos(angle)))

    for norm in (0.02, 0.1001, 0.7, 0.99999, 1.00001, 3.3, 10.001, 99.0):
        # The pair that is mirrored in the weights, which is the farthest found so far (A2).
        farthest = max(abs(gradient(norm, turn / 500) - gradient(norm, -turn / 500)) for turn in range(1571))
        assert farthest <= logistic_diameter(arb(norm)) <= farthest * 1.02


def test_masked_rows_are_as_long_as_the_double_that_the_door_clips_to():
    claim = {
        "problem": {"loss": "logistic", "penalty": {"name": "l2", "alpha": 1.0}, "domain": {"row_norm": 3.0}},
        "n_features": 4,
    }
    door = arb(3.0 * math.sqrt(1 - 0.464))
    assert door > 3 * (1 - arb(0.464)).sqrt()
    row = problem_of(claim, kept=left_by_masks(3.0, 0.464)).row
    assert door * (1 + 7 * arb(2) ** -53) <= row * (1 + arb(2) ** -150)


def test_the_verdict_of_a_plan_is_one_of_all_its_inequalities():
    certificate = extremes.plan(FOUND["a node of the table, output"])
    assert verdict(findings(json.loads(certificate.to_json()))) == HOLDS
