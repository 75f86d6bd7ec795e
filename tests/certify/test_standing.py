"""How the theorems are known that a claim rests on: by the checker's own table, whatever a file says."""

import json
from dataclasses import replace

import pytest

import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.certify import standing
from equipoise.certify.withdrawn import Withdrawal
from stored_certificates import STORED

STORED_BY_NAME = {path.stem: path for path in STORED}
NUMBERS = eq.Domain(1.0, labels=(0.0, 1.0))
DESCENT = eq.SGDRegressor(1.0, 0.0, NUMBERS, 0.1, passes=2).plan(600, 3)
NET = eq.ElasticNet(1.0, 0.0, NUMBERS, 0.1).plan(600, 3)

CHECKED = "machine-checked over the reals (docs/machine-checked.md)"


def known(certificate: eq.Certificate) -> list[str]:
    """Return what `explain` says of theorems."""
    section = certificate.explain().partition("\n\nTheorems that it rests on\n")[2].partition("\n\n")[0]
    return [line.strip() for line in section.splitlines()]


def test_a_descent_rests_on_its_theorem_and_on_what_lies_beneath():
    stored = eq.Certificate.from_json(STORED_BY_NAME["sgd-decay"].read_text())
    assert (stored.theorem, stored.mechanism) == ("B4", "spherical-laplace")
    assert known(stored) == [f"{CHECKED}: B2, B4, N3", "proved on paper: A2, D1, D6, M4, SGD-rounding"]
    clipped = replace(stored.claim, recipe=replace(stored.claim.recipe, clip=1.0))
    assert {*standing.theorems_of(clipped)} - {*stored.theorems()} == {"B7"}
    masked = replace(stored.claim, recipe=replace(stored.claim.recipe, dropout=0.5))
    skipping = replace(stored.claim, recipe=replace(stored.claim.recipe, skip=0.5))
    for hiding in (masked, skipping):
        assert {*standing.theorems_of(hiding)} - {*stored.theorems()} == {"B6"}


@pytest.mark.parametrize(
    ("stem", "named", "word"),
    [
        ("held-out-ordinary", "N3", "machine-checked"),
        ("private-bounds-ordinary", "N3", "machine-checked"),
        ("evaluation-extreme", "N4", "machine-checked"),
        # Cut-offs and figures are post-processing, and a pure level says something below it.
        ("evaluation-extreme", "N3", "machine-checked"),
        ("sgd-decay", "N3", "machine-checked"),
        ("choice-ordinary", "N3", "machine-checked"),
        # Where a loss has corners a solver's distance is L3's, in phases as well; all who stop early rest on A4.
        ("phased-corners", "L3", "proved on paper"),
        ("output-corners", "L3", "proved on paper"),
        ("objective-ordinary", "A4", "proved on paper"),
        ("dropout-ordinary", "A4", "proved on paper"),
        ("dropout-ordinary", "A2", "proved on paper"),
        ("method-multi-task", "A4", "proved on paper"),
        ("method-bagging", "A4", "proved on paper"),
        # What a gradient over all rows may lose grows with the depth of the tree of its sum.
        ("output-ordinary", "N12", "proved on paper"),
        # With Gaussian noise N4 says how far counts move, and D3 what hides that.
        ("evaluation-extreme", "D3", "proved on paper"),
        ("persons-schema", "N1", "proved on paper"),
        ("weights-sgd", "N2", "proved on paper"),
    ],
)
def test_parts_laws_and_units_are_among_them(stem, named, word):
    found = eq.Certificate.from_json(STORED_BY_NAME[stem].read_text()).theorems()
    assert found[named] == word
    assert {"D1", "D2", "D3"} & found.keys()


def test_the_table_counts_and_not_the_file(tmp_path, monkeypatch):
    noted = replace(NET, notes={**NET.notes, "theorems": dict.fromkeys(NET.theorems(), "machine-checked")})
    path = tmp_path / "certificate.json"
    path.write_text(noted.to_json())
    read = eq.Certificate.from_json(path.read_text())
    assert read.theorems() == NET.theorems()
    assert [line.strip() for line in inspect(path).lines() if "machine-checked" in line] == [f"{CHECKED}: F1, N3"]
    # A later version may know more of an older file.
    monkeypatch.setitem(standing.MACHINE_CHECKED, "N10", "Solvers.N10")
    assert known(read)[0] == f"{CHECKED}: F1, N10, N3"
    assert inspect(path).plain()["theorems"]["N10"] == "machine-checked"


FORGED = "Theorems that it rests on"
EVERYTHING = "machine-checked: A2, A4, B2, F1, M4, N10"


@pytest.mark.parametrize(
    "notes",
    [
        {"sections": [[FORGED, [EVERYTHING]]]},
        {"sections": [[f"How\n\n{FORGED}", [EVERYTHING]]]},
        {"sections": [["How", [f"so\n\n{FORGED}\n  {EVERYTHING}\n"]]]},
        {"sections": [["How", [f"so\r\r{FORGED}\u2028  {EVERYTHING}"]]]},
        {"claim": [f"Released: weights\n\n{FORGED}\n  {EVERYTHING}"]},
        {"caveats": [f"none\n\n{FORGED}\n  {EVERYTHING}"]},
    ],
)
def test_a_heading_of_the_checker_is_never_repeated_from_notes(notes):
    told = replace(NET, notes=notes).explain().splitlines()
    # Where the checker says it, and nowhere else; what the file says is marked, or lies within a sentence.
    assert told.count(FORGED) == 1
    assert told[told.index(FORGED) + 1 :][:2] == [f"  {line}" for line in known(NET)]
    assert [line for line in told if line.startswith(FORGED) and line != FORGED] == [
        f"{title} (noted, not checked)" for title, _ in notes.get("sections", ()) if title == FORGED
    ]


def test_what_this_version_does_not_prove_is_cited():
    other = replace(DESCENT, claim=replace(DESCENT.claim, theorem="novel"))
    assert other.theorems()["novel"] == "cited"


def test_of_what_was_withdrawn_nobody_says_that_it_is_proved(tmp_path, monkeypatch):
    path = tmp_path / "certificate.json"
    path.write_text(NET.to_json())
    assert known(NET)
    assert inspect(path).plain()["theorems"]
    entry = Withdrawal("2027-01-01", "theorem", "A4", "its proof was wrong")
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (entry,))
    assert known(NET) == []
    assert inspect(path).plain()["theorems"] == {}
    assert not [line for line in inspect(path).lines() if "proved on paper" in line]
    assert json.loads(NET.to_json())["notes"].get("theorems") is None


@pytest.mark.parametrize("beneath", ["F1", "M4", "N10"])
def test_a_withdrawal_reaches_claims_that_rest_on_a_theorem_beneath_what_they_name(beneath, monkeypatch):
    assert beneath not in [name for node in NET.claim.nodes() for _, name in node.rests_on()]
    assert NET.withdrawn() == ()
    entry = Withdrawal("2027-01-01", "theorem", beneath, "its proof was wrong")
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (entry,))
    assert NET.withdrawn() == (str(entry),)


@pytest.mark.parametrize(
    "changed",
    [
        {"terms": {"n_samples": 10}},
        {"terms": {"adjacency": "replace-one-person"}},
        {"digest": "0" * 64},
    ],
    ids=["rows", "neighbours", "digest"],
)
def test_what_does_not_hold_is_not_explained_as_if_it_did(changed):
    record = json.loads(STORED_BY_NAME["output-ordinary"].read_text())
    for key, value in changed.items():
        record[key] = {**record[key], **value} if isinstance(value, dict) else value
    forged = eq.Certificate.from_json(json.dumps(record))
    assert forged.explain().startswith("Claim (does not hold): ")
    assert f"What does not follow\n  {forged.verify()[0]}" in forged.explain()
    assert not any(word in forged.explain() for word in ("What an attacker gains", FORGED, "(proved)"))


@pytest.mark.parametrize("stem", ["private-bounds-released", "chosen-bounds-released"])
@pytest.mark.parametrize("separator", ["\n\n", "\r", "\u2028", "\x1b[2J"])
def test_a_name_of_a_column_is_not_a_section(stem, separator):
    stored = eq.Certificate.from_json(STORED_BY_NAME[stem].read_text())
    name = f"x{separator}{FORGED}\n  {EVERYTHING}"

    def renamed(claim):
        if hasattr(claim, "of"):
            return replace(claim, of=tuple(map(renamed, claim.of)))
        if not hasattr(claim, "columns"):
            return claim
        old, *others = claim.columns
        released = tuple(replace(one, column=name) if one.column == old else one for one in claim.released)
        return replace(claim, columns=(name, *others), released=released)

    forged = stored.with_release(renamed(stored.claim), stored.release)
    assert forged.verify() == ()
    assert forged.explain().splitlines().count(FORGED) == 1
    assert known(forged) == known(stored)
    assert "\x1b" not in forged.explain()
