"""Certificates of released versions check for ever: whatever is added, tuned or said in other words since."""

import collections
import functools
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import equipoise
from equipoise.certify import claims
from equipoise.certify.certificate import Certificate
from equipoise.errors import NotCheckable
from equipoise.vocabulary import losses
from stored_certificates import SCHEMA_1, STORED, Place, leaves, name_of, outcomes, page, put, sealed_faults

ROOT = Path(__file__).parents[2]
SOURCE = Path(equipoise.__file__).parent

every_stored = pytest.mark.parametrize("path", STORED, ids=name_of)


def test_every_kind_is_stored_at_least_three_times():
    kinds = collections.Counter()
    for path in STORED:
        kinds.update({node.kind for node in Certificate.from_json(path.read_text()).claim.nodes()})
    assert kinds.keys() == claims.members().keys()
    assert min(kinds.values()) >= 3, kinds


def without_later_fields(written, stored):
    """Return what is written without fields that were added since and say nothing: null, nobody, an order of 0."""
    if isinstance(stored, dict) and isinstance(written, dict):
        later = {key for key in written.keys() - stored.keys() if written[key] in (None, [], 0.0)}
        return {key: without_later_fields(written[key], stored.get(key)) for key in written.keys() - later}
    if isinstance(stored, list) and isinstance(written, list) and len(stored) == len(written):
        return [without_later_fields(*pair) for pair in zip(written, stored, strict=True)]
    return written


@every_stored
def test_a_stored_certificate_checks_and_is_written_as_it_was_read(path):
    text = path.read_text(encoding="utf-8")
    certificate = Certificate.from_json(text)
    assert certificate.verify() == ()
    assert Certificate.from_json(certificate.to_json()) == certificate
    assert without_later_fields(json.loads(certificate.to_json()), json.loads(text)) == json.loads(text)
    assert certificate.curve().delta(certificate.epsilon) <= certificate.delta


@pytest.mark.parametrize("path", SCHEMA_1, ids=name_of)
def test_schema_1_is_not_checkable_and_says_what_to_do(path):
    with pytest.raises(
        NotCheckable, match=r"schema 1: not checkable by this version.*version 0.1.0, whose source CHANGELOG.md names"
    ):
        Certificate.from_json(path.read_text(encoding="utf-8"))


@every_stored
def test_whatever_the_notes_say_the_claim_holds(path):
    record = json.loads(path.read_text(encoding="utf-8"))
    for notes in ({}, {"anything": [1, "else"]}, _other(record["notes"])):
        assert Certificate.from_json(json.dumps({**record, "notes": notes})).verify() == ()
    assert Certificate.from_json(json.dumps({key: record[key] for key in record if key != "notes"})).verify() == ()


def _other(notes: dict) -> dict:
    for place, value in list(leaves(notes)):
        changed = {str: lambda text: text + "!", bool: lambda flag: not flag}.get(type(value), lambda number: 7.25)
        notes = put(notes, place, changed(value))
    return notes


# Each plant is a list of files to write into a copy of the package, or of words to replace in it.
PLANTS = {
    "a theorem that says less of everything": {
        "certify/theorems/planted.py": """
from .base import Theorem


class Planted(Theorem):
    id = "planted"

    def hypotheses(self, setting):
        return iter(())

    def sensitivity(self, setting):
        return 1e-9
"""
    },
    "a law of noise that is quieter than all": {
        "certify/laws/planted.py": """
from ..curves import PureCurve
from .base import Law


class Planted(Law):
    id = "planted"
    rotation_invariant = True

    def curve(self, sensitivity, dimension, scale):
        return PureCurve(1e-9)
"""
    },
    "a kind of claim": {
        "certify/claims/planted.py": """
from .base import Moved


class Planted(Moved):
    kind = "planted"

    def conditions(self):
        return iter(())
"""
    },
    "a loss": {
        "vocabulary/losses/planted.py": """
from .logistic import Logistic


class Planted(Logistic):
    id = "planted"
"""
    },
    "other constants of the planner": {
        "planning/menu.py": [("NEGLIGIBLE = 1e-4", "NEGLIGIBLE = 0.3")],
        "planning/reference.py": [("RESOLUTION = 1e-3", "RESOLUTION = 1e-2")],
        "planning/public_alpha.py": [("WEIGHT_GUESS = 3.0", "WEIGHT_GUESS = 30.0")],
        "planning/rules.py": [("TOLERANCE_SHARE = 0.001", "TOLERANCE_SHARE = 0.01")],
    },
    "other words": {
        "planning/words.py": [("Which noise hides that?", "And the noise?"), ("Public facts", "Facts")],
        "certify/theorems/minimisers.py": [("the objective is strongly convex", "curved"), ("add a ridge", "pass one")],
        "certify/claims/base.py": [("can be drawn", "is drawable")],
    },
}

CHECK = """
import sys
from pathlib import Path

from equipoise.certify import claims, laws, theorems
from equipoise.certify.certificate import Certificate
from equipoise.vocabulary import losses

assert Path(sys.modules["equipoise"].__file__).is_relative_to(sys.argv[1]), "the planted tree is not the one in use"
faults = {path: Certificate.from_json(Path(path).read_text()).verify() for path in sys.argv[3:]}
assert len(faults) > 50
assert set(sys.argv[2].split()) <= {*claims.members(), *laws.members(), *theorems.members(), *losses.members()}
print({path: found for path, found in faults.items() if found})
"""


@pytest.mark.parametrize("name", PLANTS)
def test_what_is_added_tuned_or_reworded_later_changes_no_verdict(name, tmp_path):
    shutil.copytree(SOURCE, tmp_path / "equipoise", ignore=shutil.ignore_patterns("__pycache__"))
    for place, planted in PLANTS[name].items():
        file = tmp_path / "equipoise" / place
        if isinstance(planted, str):
            assert not file.exists()
            file.write_text(planted)
            continue
        text = file.read_text()
        for before, after in planted:
            assert before in text, f"{before!r} is no longer in {place}"
            text = text.replace(before, after)
        file.write_text(text)
    member = "planted" if any(isinstance(planted, str) for planted in PLANTS[name].values()) else ""
    command = [sys.executable, "-c", CHECK, str(tmp_path), member, *map(str, STORED)]
    found = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert found.stdout.strip() == "{}", found.stdout + found.stderr


@pytest.mark.statistics
def test_the_page_says_what_becomes_of_every_altered_number():
    expected = (ROOT / "docs" / "altered-numbers.md").read_text(encoding="utf-8")
    assert page(outcomes(STORED)) == expected


# What no claim may get away with, whatever its kind, and on which side.
UNSAFE = {
    "budget.epsilon": 0.99,
    "budget.delta": 0.99,
    "noise.scale": 0.99,
    "finish.scale": 0.99,
    "scale": 0.99,
    "sensitivity": 0.9,
    "curvature_sensitivity": 0.99,
    "worst": 0.99,
    "tolerance": 1.01,
    "clip": 1.01,
    "moment_weight": 1.01,
    "row_norm": 1.01,
}


def at(record: Any, place: Place) -> Any:
    """Return what lies at a place of JSON values."""
    return functools.reduce(lambda value, key: value[key], place, record)


def longest_gradient(claim: dict) -> float:
    """Return a bound on the gradient of any row at any weights; infinity where there is none."""
    problem = claim["problem"]
    labels = problem["domain"]["labels"] or (-1.0, 1.0)
    slope = losses.named(problem["loss"]).slope_bound(math.inf, (labels[1] - labels[0]) / 2)
    return slope * math.hypot(problem["domain"]["row_norm"], problem["intercept"])


@every_stored
def test_no_number_can_be_moved_to_the_unsafe_side(path):
    record = json.loads(path.read_text(encoding="utf-8"))
    recorded = list(leaves(record["claim"], ("claim",)))
    # Where gradients or answers are clipped, no row pulls harder, however long it is.
    clipped = path.stem == "method-bagging-clipped" or any(
        place[-2:] == ("recipe", "clip") and value for place, value in recorded
    )
    tried = 0
    for place, value in recorded:
        if place[-2:] == ("recipe", "clip") and value and value >= longest_gradient(at(record, place[:-2])):
            continue  # a clip that no row's gradient reaches
        factor = next((UNSAFE[name] for name in (".".join(map(str, place[-2:])), place[-1]) if name in UNSAFE), None)
        if place[-2:-1] == ("class_weights",) and value == 1:
            factor = 1.01  # any count up to 1 is covered (N2)
        if factor is None or not value or "procedure" in place or (clipped and place[-1] == "row_norm"):
            continue
        faults = sealed_faults(put(record, place, value * factor))
        assert faults, f"{'.'.join(map(str, place))} times {factor} was not noticed"
        tried += 1
    assert tried >= 2


def test_the_folder_of_an_older_version_is_still_there():
    assert len(SCHEMA_1) >= 10
