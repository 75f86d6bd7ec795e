"""A certificate's domain beside the schema of its folder: wider is sound, narrower is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.artifact.card import card_of
from equipoise.artifact.domain_check import COMPARED, narrower
from equipoise.artifact.signing import sign_folder
from equipoise.artifact.verdict import Against, examine
from equipoise.certify.folder import CHECK_FAILED, DONE
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.errors import EquipoiseError, ReleaseUnreadable
from equipoise.keys import new_key, private_key

N = 60
SCHEMA = eq.Schema(
    N,
    (NumberColumn("age", (0, 100)), CategoryColumn("job", ("none", "nurse", "cook"), unknown="none")),
    Target("ill", classes=("no", "yes")),
    vouched_by="A.",
    vouched_on="2026-11-16",
)
TABLE = pd.DataFrame({"age": np.arange(N), "job": ["nurse", "cook"] * 30, "ill": ["no", "yes", "yes"] * 20})
ENCODED = SCHEMA.domain
NUMBERS, PERSONS = eq.Domain(1.0, labels=(-1.0, 1.0)), replace(ENCODED, rows_a_person=4)


def released(folder, monkeypatch, **facts):
    """Write a release whose claim is about another domain than the schema's, and return what a check finds."""
    with monkeypatch.context() as patched:
        patched.setattr(eq.Schema, "domain", property(lambda schema: replace(ENCODED, **facts)))
        model = eq.LogisticRegression(epsilon=1.0, domain=SCHEMA, alpha=0.1, mechanism="output").fit(TABLE)
        eq.save(model, folder)
    return examine(folder, Against())


@pytest.mark.usefixtures("plain_page")
@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({"row_norm": 0.5}, "rows of norm 0.5 at most, and the schema encodes rows of norm 1"),
        ({"row_sum": 0.7}, "rows whose entries add up to 0.7 at most, and by the schema to 1.41"),
        ({"classes": ("yes", "no")}, "other classes than the schema's, or in another order"),
    ],
)
def test_a_claim_about_fewer_rows_than_the_schema_encodes_does_not_hold(tmp_path, monkeypatch, facts, found):
    verdict = released(tmp_path / "release", monkeypatch, **facts)
    assert verdict.answer[0] == CHECK_FAILED
    assert any(found in fault for fault in verdict.whole.faults), verdict.whole.faults
    # The claim follows for the rows that it is about, and every file is as the manifest says.
    assert not verdict.found.faults
    new_key(tmp_path / "owner.key")
    with pytest.raises(ReleaseUnreadable, match="to sign it"):
        sign_folder(tmp_path / "release", private_key(tmp_path / "owner.key"))
    with pytest.raises(EquipoiseError, match="a release that holds"):
        card_of(tmp_path / "release")


@pytest.mark.usefixtures("plain_page")
def test_the_schemas_own_domain_is_confirmed(tmp_path, monkeypatch):
    verdict = released(tmp_path / "release", monkeypatch)
    assert verdict.answer[0] == DONE
    assert COMPARED in verdict.confirmed


@pytest.mark.parametrize(
    ("claimed", "encoded", "found"),
    [
        (replace(ENCODED, row_norm=2.0, row_sum=None), ENCODED, ""),
        (replace(ENCODED, row_sum=9.0), ENCODED, ""),
        (ENCODED, replace(ENCODED, row_sum=None), "and by the schema to any"),
        (replace(ENCODED, class_weights=(1.0, 0.5)), ENCODED, ""),
        (ENCODED, replace(ENCODED, class_weights=(1.0, 0.5)), "other weights of classes"),
        (replace(NUMBERS, labels=(-2.0, 1.0)), NUMBERS, ""),
        (replace(NUMBERS, labels=(-1.0, 0.9)), NUMBERS, "targets from -1 to 0.9"),
        (NUMBERS, ENCODED, "a target of another kind"),
        (ENCODED, PERSONS, "neighbours that differ in a row, and the schema counts every person"),
        (replace(PERSONS, rows_a_person=3), PERSONS, "3 rows of a person at most, and the schema keeps 4"),
        (replace(PERSONS, rows_a_person=5), PERSONS, ""),
        (eq.Domain(1.0, classes=(0, 1)), eq.Domain(1.0, classes=(False, True)), "other classes"),
    ],
)
def test_only_a_domain_that_holds_all_that_is_encoded_passes(claimed, encoded, found):
    faults = "; ".join(narrower(claimed, encoded))
    assert found in faults
    assert bool(faults) is bool(found)
