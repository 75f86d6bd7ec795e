"""Pairs of columns: a surface that no sum of curves follows, inside the same bounds on rows, through every way out."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.artifact.effects import effects_of
from equipoise.artifact.exported import exported
from equipoise.artifact.exports.csv_weights import WeightTable
from equipoise.artifact.exports.sql_expression import SelectList
from equipoise.data.encoder import Encoder
from equipoise.data.schema import CategoryColumn, CurveColumn, NumberColumn, OrderedColumn, Pair, Schema, Target
from equipoise.data.schema.kinds.curve import entries_at_knots
from equipoise.errors import InvalidParameter, SchemaInvalid

ROWS = 8000
COLUMNS = (
    NumberColumn("age", (0, 100), fill=30, indicator=True),
    CurveColumn("dose", (-3, 3), cells=8),
    CategoryColumn("town", ("Graz", "Wien"), other=True),
    CategoryColumn("sex", ("f", "m"), unknown="m"),
)
ALONE = Schema(ROWS, COLUMNS, Target("ill", classes=("no", "yes")), vouched_by="a test", vouched_on="2026-11-18")
PAIRS = (Pair(("age", "dose"), cells=2), Pair(("town", "age")), Pair(("sex", "town")), Pair(("sex", "dose"), cells=1))
SCHEMA = replace(ALONE, pairs=PAIRS)
HOSTILE = pd.DataFrame(
    {
        "age": [0.0, 100.0, 1e300, -np.inf, np.nan, 33.3],
        "dose": [-3.0, 3.0, np.nan, 7.0, 0.1, -1e-300],
        "town": ["Graz", "Wien", None, "Linz", "", "NA"],
        "sex": ["f", "m", "x", None, "NA", "f"],
    }
)


def people(count: int, seed: int) -> pd.DataFrame:
    """Return people who are ill where age and dose are both high or both low: no sum of curves tells them."""
    coins = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": coins.uniform(0, 100, count), "dose": coins.uniform(-3, 3, count)})
    frame["town"], frame["sex"] = coins.choice(["Graz", "Wien", "Linz"], count), coins.choice(["f", "m"], count)
    frame["ill"] = np.where((frame["age"] > 50) == (frame["dose"] > 0), "yes", "no")
    return frame


TRAIN, TEST = people(ROWS, 0), people(2000, 1)


@pytest.fixture(scope="module")
def model() -> eq.LogisticRegression:
    return eq.LogisticRegression(epsilon=1.0, domain=SCHEMA, random_state=0).fit(TRAIN)


def test_a_pair_follows_what_no_sum_of_curves_can(model):
    curves = eq.AdditiveClassifier(epsilon=1.0, domain=ALONE, cells=8, random_state=0).fit(TRAIN)
    assert curves.score(TEST, TEST["ill"]) < 0.6
    asked = eq.AdditiveClassifier(epsilon=1.0, domain=ALONE, pairs=[("age", "dose")], random_state=0).fit(TRAIN)
    assert asked.schema_.pairs == (Pair(("age", "dose")),)
    assert min(asked.score(TEST, TEST["ill"]), model.score(TEST, TEST["ill"])) > 0.8


def test_entries_are_products_of_what_each_column_has_alone():
    encoder = Encoder(replace(SCHEMA, row_norm=1e-9))
    raw = {name: HOSTILE[name].to_numpy() for name in HOSTILE}
    # As long as the row is its own norm, so that ratios within a row are those of its entries.
    rows = encoder.encode(raw, len(HOSTILE)) * 1.0
    place = ALONE.n_features
    for surface in SCHEMA.surfaces:
        sides = []
        for side in surface.sides:
            alone = Encoder(Schema(None, (side,), ALONE.target, row_norm=side.squared_length**0.5))
            sides.append(alone.encode(raw, len(HOSTILE)) * side.squared_length**0.5)
        products = np.einsum("ni,nj->nij", *sides).reshape(len(HOSTILE), -1)
        found = rows[:, place : place + surface.width]
        lengths = [np.linalg.norm(entries, axis=1, keepdims=True) for entries in (products, found)]
        np.testing.assert_allclose(found * lengths[0], products * lengths[1], atol=1e-15)
        assert len(surface.encoded_names()) == surface.width
        place += surface.width
    assert place == SCHEMA.n_features == len(set(SCHEMA.encoded_names()))


def test_rows_lie_inside_what_the_domain_says_and_reach_it():
    coins = np.random.default_rng(2)
    knots = people(4000, 3)
    knots["age"] = coins.choice([*np.linspace(0, 100, 9), np.nan], 4000)
    knots["dose"] = coins.choice(np.linspace(-3, 3, 9), 4000)
    rows = Encoder(SCHEMA).encode({name: knots[name].to_numpy() for name in HOSTILE}, len(knots))
    lengths, sums = np.linalg.norm(rows, axis=1), np.abs(rows).sum(axis=1)
    assert lengths.max() <= 1.0 + 1e-15
    assert sums.max() <= SCHEMA.domain.row_sum
    # A missing age counts as its fill, which is at no knot; all other columns are at their longest.
    assert lengths.max() > 0.9
    assert sums.max() > 0.85 * SCHEMA.domain.row_sum


def test_one_row_is_encoded_as_among_others():
    encoder = Encoder(SCHEMA)
    raw = {name: HOSTILE[name].to_numpy() for name in HOSTILE}
    together = encoder.encode(raw, len(HOSTILE))
    for row in range(len(HOSTILE)):
        assert (encoder.encode({name: values[row : row + 1] for name, values in raw.items()}, 1) == together[row]).all()


def test_a_plain_pipeline_predicts_the_same_on_raw_rows(model):
    # scikit-learn refuses what is infinite.
    for rows in (TEST, HOSTILE.replace(-np.inf, np.nan)):
        np.testing.assert_allclose(
            model.to_sklearn().decision_function(rows), model.decision_function(rows), atol=1e-12
        )


def test_a_released_folder_has_the_pairs_and_predicts_the_same(tmp_path):
    asked = eq.AdditiveClassifier(epsilon=1.0, domain=ALONE, pairs=[("age", "dose"), ("town", "age")]).fit(TRAIN)
    eq.save(asked, tmp_path / "release")
    again = eq.load(tmp_path / "release")
    assert again.schema_.pairs == asked.schema_.pairs
    assert (again.decision_function(HOSTILE) == asked.decision_function(HOSTILE)).all()
    assert asked.certificate_.verify() == ()


def test_a_schema_with_pairs_is_written_and_read_and_one_without_is_what_it_was():
    assert Schema.from_text(SCHEMA.to_toml()) == SCHEMA
    assert "pairs" not in ALONE.to_toml()
    assert SCHEMA.digest != ALONE.digest


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ((Pair(("age", "nothing")),), "features"),
        ((Pair(("age", "ill")),), "features"),
        ((Pair(("age", "dose")), Pair(("dose", "age"))), "once"),
    ],
)
def test_pairs_that_cannot_be_are_refused(pairs, said):
    with pytest.raises(SchemaInvalid, match=said):
        replace(ALONE, pairs=pairs)


def test_pairs_of_other_kinds_sizes_and_shapes_are_refused():
    stage = OrderedColumn("stage", ("early", "late"), unknown="early")
    with pytest.raises(SchemaInvalid, match="kind ordered"):
        replace(ALONE, columns=(*COLUMNS, stage), pairs=(Pair(("stage", "age")),))
    for columns, cells in (
        (("age", "age"), 4),
        (("age",), 4),
        (("age", "dose"), 0),
        (("age", "dose"), 3),
        (("age", "dose"), 1000),
        ("ab", 2.5),
    ):
        with pytest.raises(SchemaInvalid, match="pairs"):
            Pair(columns, cells)
    for text in ('pairs = "age"', "[[pairs]]\ncells = 4", '[[pairs]]\ncolumns = ["age", "dose"]\ncolour = 1'):
        with pytest.raises(SchemaInvalid, match="pairs"):
            Schema.from_text(f"{text}\n{ALONE.to_toml()}" if text.startswith("pairs") else f"{ALONE.to_toml()}\n{text}")


@pytest.mark.parametrize("pairs", ["age dose", [("age",)], [5], ("age", "dose")])
def test_what_is_no_list_of_pairs_is_refused_before_a_row_is_read(pairs):
    with pytest.raises(InvalidParameter, match="pairs of columns' names"):
        eq.AdditiveClassifier(epsilon=1.0, domain=ALONE, pairs=pairs).plan(ROWS, 4)
    with pytest.raises(InvalidParameter, match="names columns"):
        eq.AdditiveClassifier(epsilon=1.0, domain=eq.Domain(1.0, (0, 1)), pairs=[("age", "dose")]).plan(ROWS, 4)


def test_lines_of_a_pair_are_products_and_are_drawn_from_end_to_end():
    lines = replace(ALONE, pairs=(Pair(("age", "dose"), cells=1), Pair(("town", "age"), cells=1)), row_norm=1.0)
    assert [surface.width for surface in lines.surfaces] == [1, 3]
    assert lines.encoded_names()[ALONE.n_features] == "age and dose"
    weights = [0.0] * ALONE.n_features + [2.0, 1.0, -3.0, 0.5]
    drawn = [effect for effect in effects_of(lines, [weights], ["yes"], None, {}) if effect.pair]
    found = [
        (effect.column, effect.output, [(point.place, point.value) for point in effect.points]) for effect in drawn
    ]
    assert found[:2] == [
        ("age with dose", "dose at -3", [(0.0, 2.0), (100.0, -2.0)]),
        ("age with dose", "dose at 3", [(0.0, -2.0), (100.0, 2.0)]),
    ]
    assert found[3] == ("age with town", "town=Wien", [(0.0, 3.0), (100.0, -3.0)])
    asked = eq.LogisticRegression(epsilon=1.0, domain=lines, random_state=0).fit(TRAIN)
    assert asked.score(TEST, TEST["ill"]) > 0.75
    rows = HOSTILE.replace(-np.inf, np.nan)
    np.testing.assert_allclose(asked.to_sklearn().decision_function(rows), asked.decision_function(rows), atol=1e-12)


def test_a_public_rule_has_all_pairs_where_they_are_worth_their_noise():
    def facts(rows: int, epsilon: float) -> Schema:
        return eq.AdditiveClassifier(
            epsilon=epsilon, domain=replace(ALONE, n_samples=rows), pairs="public"
        )._public_facts

    many, few = facts(100_000, 3.0), facts(1000, 0.1)
    assert few.pairs == ()
    assert all(pair.cells == 1 for pair in many.pairs)
    names = {("age", "dose"), ("age", "town"), ("age", "sex"), ("dose", "town"), ("dose", "sex")}
    assert {pair.columns for pair in many.pairs} == names
    # What stands in the schema stays as it is.
    own = eq.AdditiveClassifier(epsilon=3.0, domain=replace(SCHEMA, n_samples=100_000), pairs="public")._public_facts
    assert own.pairs[: len(PAIRS)] == PAIRS
    assert {pair.columns for pair in own.pairs[len(PAIRS) :]} == {("age", "sex"), ("dose", "town")}
    # Rows of numbers have no names, and there is nothing to pair.
    domain = eq.Domain(1.0, (0, 1))
    assert eq.AdditiveClassifier(domain=domain, pairs="public")._public_facts == domain


def test_exports_that_know_no_pairs_refuse_them_and_a_table_of_weights_has_them(tmp_path):
    asked = eq.AdditiveClassifier(epsilon=1.0, domain=ALONE, cells=0, pairs=[("age", "sex")]).fit(TRAIN)
    eq.save(asked, tmp_path / "release")
    found = exported(tmp_path / "release")
    with pytest.raises(InvalidParameter, match="the pair of age and sex"):
        SelectList().written(found)
    lines = WeightTable().written(found).decode().splitlines()
    assert sum(",pair," in line for line in lines) == asked.schema_.surfaces[0].width


def test_the_page_has_a_line_for_every_value_of_the_second_column(model):
    effects = effects_of(SCHEMA, model.coef_.tolist(), ["yes"], 0.5, {})
    of_pairs = [effect for effect in effects if effect.pair]
    # Of age and dose a line a knot of dose; of town and age a line a town; of two categories there is no curve.
    names = ["age with dose"] * 3 + ["age with town"] * 3 + ["dose with sex"] * 2
    assert [effect.column for effect in of_pairs] == names
    weights = model.coef_[0][ALONE.n_features :] / SCHEMA.longest_row
    two, four = (np.array(entries_at_knots(cells)) for cells in (2, 4))
    surface = two @ weights[:4].reshape(2, 2) @ two.T
    for knot, effect in enumerate(of_pairs[:3]):
        np.testing.assert_allclose([point.value for point in effect.points], surface[:, knot], atol=1e-15)
    of_towns = weights[4:16].reshape(3, 4) @ four.T
    np.testing.assert_allclose([point.value for point in of_pairs[5].points], of_towns[2], atol=1e-15)


def test_a_surface_of_roots_is_drawn_as_the_model_says():
    """What is drawn at a place is what the entries of a row there weigh."""
    columns = (NumberColumn("age", (0, 100), root=True), CurveColumn("dose", (0, 8), cells=4, root=True), *COLUMNS[2:])
    schema = replace(ALONE, columns=columns, pairs=(Pair(("age", "dose"), cells=2),), row_norm=1.0)
    weights = np.random.default_rng(0).normal(size=schema.n_features)
    found = effects_of(schema, [weights.tolist()], ["yes"], None, {})
    surface = [effect for effect in found if effect.pair]
    assert len(surface) == 3
    alone = schema.n_features - 4
    for effect in (*surface, next(effect for effect in found if effect.column == "dose")):
        ages = [point.place for point in effect.points] if effect.pair else [0.0] * len(effect.points)
        # The first root of a pair's knots is at 0, the next where (s + sqrt(s))/2 is a half.
        share = {0: 0.0, 1: (3 - math.sqrt(5)) / 2, 2: 1.0}[surface.index(effect)] if effect.pair else None
        doses = [8 * share] * len(ages) if effect.pair else [point.place for point in effect.points]
        raw = {"age": np.array(ages), "dose": np.array(doses)}
        raw |= {
            name: np.array(["Graz" if name == "town" else "f"] * len(ages), dtype=object) for name in ("town", "sex")
        }
        rows = Encoder(replace(schema, row_norm=100.0)).encode(raw, len(ages)) * 100.0
        own = slice(alone, None) if effect.pair else slice(1, 5)
        wanted = rows[:, own] @ weights[own]
        assert [point.value for point in effect.points] == pytest.approx(wanted, abs=1e-9)
