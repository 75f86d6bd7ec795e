"""A stranger can compute a digest from docs/certificate.md alone: its table of defaults is whole and right."""

import dataclasses
import hashlib
import json
import re
from pathlib import Path

import pytest

from equipoise.certify import claims
from equipoise.certify.certificate import Terms
from equipoise.certify.claims.descents import Phase
from equipoise.certify.claims.evaluation import Cells
from equipoise.vocabulary.facts import Budget, Domain, Problem, Recipe
from stored_certificates import STORED, name_of

PAGE = (Path(__file__).parents[2] / "docs" / "certificate.md").read_text()
ROW = re.compile(r"^\| `([^`]+)`[^|]*\| ((?:`[^`]+` [^,|]+(?:, )?)+) \|$", flags=re.MULTILINE)
TABLE = PAGE[PAGE.index("The defaults, all of them") : PAGE.index("## What `verify()` says")]
DEFAULTS = {
    name: {field: json.loads(value) for field, value in re.findall(r"`([^`]+)` ([^,|]+)", fields)}
    for name, fields in ROW.findall(TABLE)
}


def recorded() -> dict[str, dict[str, object]]:
    """Return the defaults of the code."""
    parts = {"terms": Terms, "budget": Budget, "problem": Problem, "problem.domain": Domain, "recipe": Recipe}
    records = {**parts, "phases[]": Phase, "cells": Cells, **claims.members()}
    found = {
        name: {
            field.name: field.default
            for field in dataclasses.fields(record)
            if field.default is not dataclasses.MISSING
        }
        for name, record in records.items()
    }
    return {
        name: {key: [] if value == () else value for key, value in own.items()} for name, own in found.items() if own
    }


def test_the_table_of_defaults_is_whole():
    assert recorded() == DEFAULTS


# Where a part of a claim stands, and which row of the table is about it.
PLACES = {"problem": "problem", "domain": "problem.domain", "recipe": "recipe", "phases": "phases[]", "cells": "cells"}
SHARES = {"budget", "run", "statistic", "weights", "coins", "test"}


def stripped(value, row):
    """Return a value without what the table says is a default."""
    if isinstance(value, list):
        return [stripped(entry, row) for entry in value]
    if not isinstance(value, dict):
        return value
    row = value.get("kind", row)
    left = {}
    for key, entry in value.items():
        default = DEFAULTS.get(row, {}).get(key, ...)
        if entry == default and type(entry) is type(default):
            continue
        left[key] = stripped(entry, "budget" if key in SHARES else PLACES.get(key, ""))
    return left


@pytest.mark.parametrize("path", STORED, ids=name_of)
def test_a_digest_follows_from_the_page(path):
    record = json.loads(path.read_text())
    both = (stripped(record["terms"], "terms"), stripped(record["claim"], ""))
    text = ",".join(json.dumps(part, sort_keys=True, separators=(",", ":")) for part in both)
    assert hashlib.sha256(f"[2,{text}]".encode()).hexdigest() == record["digest"]
