"""What the page on paper finds is what the checker finds, or it refuses: on plans and on all stored claims."""

import copy
import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import equipoise as eq
from stored_certificates import STORED

PAGE = Path(__file__).parents[2] / "docs" / "by-hand.md"


@pytest.fixture(scope="module")
def by_hand():
    names = {}
    with redirect_stdout(StringIO()):
        code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
        exec(code, names)  # noqa: S102 # our own page
    return names["by_hand"]


def holds(record):
    try:
        return not eq.Certificate.from_json(json.dumps(record)).verify()
    except eq.errors.EquipoiseError:
        return False


def compared(by_hand, record):
    """Return whether the page covers a claim that holds; if so, both find that less noise is too little."""
    claim = record["claim"]
    try:
        found = by_hand(claim)
    except ValueError:  # what it says is "not covered: ..."; any other error is a fault of the page
        return False
    assert found <= claim["budget"]["epsilon"]
    less = copy.deepcopy(record)
    less["claim"]["noise"]["scale"] *= 0.9
    assert by_hand(less["claim"]) > claim["budget"]["epsilon"]
    assert not holds(less)
    return True


def test_stored_claims_hold_by_hand_or_are_refused(by_hand):
    records = [json.loads(path.read_text()) for path in STORED]
    held = [each for each in records if each.get("claim", {}).get("kind") == "objective" and holds(each)]
    covered = [each["claim"]["theorem"] for each in held if compared(by_hand, each)]
    assert set(covered) == {"E2+E4", "E2d+E4"}
    assert len(covered) < len(held)


TWO = {"row_norm": 1.0, "classes": (0, 1)}


@pytest.mark.parametrize(
    ("facts", "options", "covered"),
    [
        (TWO, {}, True),
        (TWO, {"fit_intercept": False}, True),
        ({"bounds": [(0, 90), (0, 1), (-1, 1)], "classes": (0, 1)}, {}, True),
        ({**TWO, "row_sum": 1.0}, {"mechanism": "objective"}, True),
        ({**TWO, "classes": (0, 1, 2)}, {"mechanism": "objective"}, False),
        (TWO, {"delta": 1e-6, "mechanism": "objective"}, False),
        (TWO, {"epsilon": 5.0, "rows": 50_000}, False),
        (TWO, {"mechanism": "output"}, False),
    ],
)
def test_a_plan_holds_by_hand_or_is_refused(by_hand, facts, options, covered):
    options = {"epsilon": 1.0, **options}
    rows = options.pop("rows", 2_000)
    model = eq.LogisticRegression(**options, domain=eq.Domain(**facts))
    width = len(facts.get("bounds", range(5)))
    assert compared(by_hand, json.loads(model.plan(rows, width).to_json())) == covered
