"""A schema that divides rows by far more than they are long: the plan says so, with the very line to write."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.cli.summary import summary
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.data.schema.typical import NEAR, crowded_row, shorter_row, typical_row
from program import run_program

NUMBERS = tuple(NumberColumn(f"column {place}", (0.0, 1.0)) for place in range(20))
ILL, DOSE = Target("ill", classes=(0, 1)), Target("dose", bounds=(0.0, 10.0))
FACTS = {"vouched_by": "A. Officer", "vouched_on": "2026-11-18"}
LEVELS = tuple(CategoryColumn(f"level {place}", ("a", "b", "c"), unknown="a") for place in range(20))


def model(schema: eq.Schema) -> eq.LogisticRegression | eq.Ridge:
    return (eq.Ridge if schema.target.classes is None else eq.LogisticRegression)(1.0, domain=schema)


@pytest.mark.parametrize("target", [ILL, DOSE])
def test_the_line_that_a_plan_tells_to_write_ends_the_waste_and_raises_what_is_bought(target):
    schema = eq.Schema(500, NUMBERS, target, **FACTS)
    told, *_ = model(schema).plan().caveats
    assert told.startswith("wasteful: the schema declares no row_norm")
    (line,) = re.findall(r"row_norm = [0-9.]+", told)
    above, below = schema.to_toml().split("\n[target]")
    written = eq.Schema.from_text(f"{above}\n{line}\n\n[target]{below}")
    expected = crowded_row(schema) if target is ILL else typical_row(schema)
    assert written.row_norm == pytest.approx(expected, rel=1e-3)
    assert not any("wasteful" in each for each in model(written).plan().caveats)


def test_it_wins_where_values_crowd_between_their_bounds():
    draw = np.random.default_rng(0)
    table = pd.DataFrame(np.clip(draw.normal(0.5, 0.1, (3000, 20)), 0, 1), columns=[each.name for each in NUMBERS])
    score = (table.to_numpy() - 0.5) @ draw.normal(size=20)
    table["ill"] = (score + draw.normal(0, 0.2, 3000) > 0).astype(int)
    train, test = table[:600], table[600:]
    schema = eq.Schema(600, NUMBERS, ILL, **FACTS)
    shorter = replace(schema, row_norm=shorter_row(schema)[1])

    def accuracy(facts: eq.Schema) -> float:
        made = (eq.LogisticRegression(1.0, domain=facts, random_state=seed).fit(train) for seed in range(10))
        return float(np.mean([each.score(test.drop(columns="ill"), test["ill"]) for each in made]))

    assert accuracy(shorter) > accuracy(schema) + 0.03


@pytest.mark.parametrize(
    "schema",
    [
        eq.Schema(500, NUMBERS, ILL, row_norm=4.0, **FACTS),
        eq.Schema(500, NUMBERS[:1], ILL, **FACTS),
        eq.Schema(500, LEVELS, ILL, **FACTS),
    ],
    ids=["declared", "one column", "levels, which are as long as they can be"],
)
def test_nothing_is_said_where_a_norm_is_declared_or_rows_are_nearly_as_long(schema):
    assert shorter_row(schema) is None
    assert not any("wasteful" in each for each in model(schema).plan().caveats)


def test_what_is_told_depends_on_the_lengths_alone():
    schema = eq.Schema(500, NUMBERS, ILL, **FACTS)
    longest, shorter = shorter_row(schema)
    assert (longest, shorter) == (schema.longest_row, crowded_row(schema))
    assert typical_row(schema) <= NEAR * longest
    silent = replace(schema, row_norm=longest)
    told, untold = model(schema).plan(), model(silent).plan()
    # What is claimed is the same, and so is the noise: the caveat is the one difference.
    assert told.claim == untold.claim
    assert set(told.caveats) - set(untold.caveats) >= {told.caveats[0]}


def test_the_short_plan_and_the_program_tell_it(tmp_path):
    schema = eq.Schema(500, NUMBERS, ILL, **FACTS)
    assert any("row_norm = " in line for line in summary(model(schema).plan()))
    (tmp_path / "schema.toml").write_text(schema.to_toml())
    done = run_program("plan", "--schema", "schema.toml", "--epsilon", "1", folder=tmp_path)
    assert "write row_norm = " in done.stdout
    assert "write row_norm = " in model(schema).plan().explain()
