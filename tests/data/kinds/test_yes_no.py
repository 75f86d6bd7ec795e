"""Answers: every spelling, whatever the letters."""

import numpy as np
import pytest

from equipoise.data.encoder import Encoder
from equipoise.data.schema import Schema, Target, YesNoColumn
from equipoise.errors import SchemaInvalid
from sample_kinds import objects


def numbers(column: YesNoColumn, *values: object) -> list[float]:
    encoder = Encoder(Schema(None, (column,), Target("y", classes=(0, 1)), missing=("", "0")))
    return encoder.encode({column.name: objects(values)}, len(values))[:, 0].tolist()


def test_usual_spellings_of_several_languages_are_read():
    assert numbers(YesNoColumn("a"), "Yes", "y", "TRUE", 1, 1.0, "1.0", True, "ja", "Oui", "s\u00ed") == [1.0] * 10
    assert numbers(YesNoColumn("a"), "NO", "n", "False", 0, "0.0", False, np.bool_(False), "nein", "off") == [-1.0] * 9


def test_what_is_neither_is_half_way_or_what_was_declared():
    assert numbers(YesNoColumn("a"), "perhaps", None, "", 7) == [0.0] * 4
    assert numbers(YesNoColumn("a", unknown="no"), "perhaps", None) == [-1.0, -1.0]
    assert numbers(YesNoColumn("a", unknown="no", fill="yes"), "perhaps", None) == [-1.0, 1.0]


def test_a_missing_text_that_is_a_spelling_is_that_answer():
    assert numbers(YesNoColumn("a"), "0", "") == [-1.0, 0.0]


def test_a_declared_list_replaces_the_usual_one():
    assert numbers(YesNoColumn("a", yes=("hai",)), "HAI", "yes", "no") == [1.0, 0.0, -1.0]


def test_the_canonical_text_holds_the_spellings_so_that_defaults_may_change():
    assert '"nein"' in "\n".join(YesNoColumn("a").lines())


@pytest.mark.parametrize(
    "facts", [{"yes": ("No",)}, {"no": ()}, {"unknown": "perhaps"}, {"yes": "yes"}, {"fill": 1}], ids=str
)
def test_facts_that_cannot_be_so_are_refused(facts):
    with pytest.raises(SchemaInvalid, match=r"columns\.a"):
        YesNoColumn("a", **facts)


def test_a_column_of_dates_cannot_answer():
    assert not YesNoColumn("a").fits("date")
    assert YesNoColumn("a").fits("number")
    assert not YesNoColumn("a", yes=("has",), no=("has not",)).fits("number")
