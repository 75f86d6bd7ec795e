"""A class or level that no number of a column's declared type equals is refused before a row is read."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import equipoise as eq
from equipoise.data.encoded import check_columns, encoded_rows
from equipoise.data.frames import FrameTable
from equipoise.data.number_types import NumberType
from equipoise.data.schema import CategoryColumn, NumberColumn, OrderedColumn, Schema, Target, YesNoColumn
from equipoise.errors import InvalidData

# Columns by their types, classes that none of their numbers is, and classes that some are.
IMPOSSIBLE = {
    "pandas int64": (pd.Series([0, 1]), [(0, 2.5), ("0", "2.5"), (2.5, 1)], [(0, 1), ("other", "1"), (-1, 1)]),
    "pandas uint8": (pd.Series([0, 1], dtype="uint8"), [(-1, 1), (1, -1), (0, 256)], [(0, 255)]),
    "pandas Int8": (pd.Series([0, None], dtype="Int8"), [(0, 128), (0, 0.5)], [(-128, 127)]),
    "pandas float32": (pd.Series([0, 1], dtype="float32"), [(0, 0.1), (0, 2**30 + 1)], [(0, 0.5), (0, 2**30)]),
    "pandas Arrow": (pd.Series([0, None], dtype=pd.ArrowDtype(pa.uint16())), [(0, -1)], [(0, 65535)]),
    "Polars Int16": (pl.Series([0, 1], dtype=pl.Int16), [(0, 2.5), (0, 2**15)], [(0, 1)]),
    "Polars Float32": (pl.Series([0, 1], dtype=pl.Float32), [(0, 0.1)], [(0, 0.25)]),
    "Polars Int128": (pl.Series([0, 1], dtype=pl.Int128), [(0, 0.1)], [(0, 2**62)]),
    "Arrow int64": (pa.array([0, 1]), [(0, 2.5), ("0", "2.5")], [(0, 1)]),
    "Arrow half": (pa.array(np.array([0, 1], dtype="float16")), [(0, 0.1), (0, 70000)], [(0, 0.5)]),
    "Arrow codes": (pa.array([0, 1], pa.int32()).dictionary_encode(), [(0, 2.5)], [(0, 1)]),
    "real numbers": (pa.array([0.0, 1.0]), [], [(0, 0.1), (-1, 1)]),
    # Their type follows from the categories that pandas has met, and they are read one by one.
    "categories": (pd.Series([0, 1], dtype="category"), [], [(0, 2.5)]),
    "objects": (pd.Series([0, 1], dtype=object), [], [(0, 2.5)]),
}


def framed(column):
    if isinstance(column, pd.Series):
        return pd.DataFrame({"a": [0.1, 0.2], "y": column})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"a": [0.1, 0.2], "y": column})
    return pa.table({"a": [0.1, 0.2], "y": column})


def schema_of(classes):
    return Schema(
        2, (NumberColumn("a", (0, 1)),), Target("y", classes=classes), vouched_by="A", vouched_on="2026-11-16"
    )


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_every_class_must_be_a_number_that_the_targets_type_can_hold(case):
    column, wrong, fitting = IMPOSSIBLE[case]
    raw = FrameTable(framed(column))
    for classes in wrong:
        with pytest.raises(InvalidData, match=r"every declared class; found: numbers of type .*; to do: declare the"):
            check_columns(schema_of(classes), raw)
    for classes in fitting:
        check_columns(schema_of(classes), raw)


@pytest.mark.parametrize("through", ["schema", "domain"])
@pytest.mark.parametrize(
    "container", [lambda values: values, pd.Series, pl.Series, pa.array], ids=["NumPy", "pandas", "Polars", "Arrow"]
)
def test_a_target_beside_the_table_is_held_to_it_too(container, through):
    def fit(values, classes):
        domain = schema_of(classes) if through == "schema" else eq.Domain(1.0, classes=classes)
        model = eq.LogisticRegression(epsilon=1.0, domain=domain, alpha=1.0, mechanism="output", random_state=0)
        model.fit(pd.DataFrame({"a": [0.1, 0.2]}), container(values))

    for values, classes in ((np.array([0, 1]), (0, 2.5)), (np.array([0, 1], dtype="uint8"), (-1, 1))):
        with pytest.raises(InvalidData, match=r"numbers of type u?int"):
            fit(values, classes)
    fit(np.array([0, 1], dtype="uint8"), (0, 1))


def test_real_numbers_that_numpy_compares_in_their_own_precision_are_no_mistake():
    model = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(1.0, classes=(0, 0.1)), alpha=1.0, random_state=0)
    model.fit(np.array([[0.1], [0.2]]), np.array([0, 0.1], dtype="float32"))
    with pytest.raises(InvalidData, match=r"numbers of type float32, none of which can be the class 0\.1"):
        model.fit(np.array([[0.1], [0.2]]), pl.Series([0, 0.1], dtype=pl.Float32))


@pytest.mark.parametrize("engine", ["memory", "stream", "dask"])
def test_files_and_folders_tell_it_in_every_engine(tmp_path, engine):
    pa.parquet.write_table(pa.table({"a": [0.1], "y": pa.array([1], pa.uint8())}), tmp_path / "1.parquet")
    pa.parquet.write_table(pa.table({"a": [0.2], "y": pa.nulls(1)}), tmp_path / "2.parquet")
    for place in (tmp_path / "1.parquet", tmp_path):
        with pytest.raises(InvalidData, match="numbers of type uint8, none of which can be the class -1"):
            check_columns(schema_of((-1, 1)), eq.open_table(place, engine=engine))
    pa.parquet.write_table(pa.table({"a": [0.2], "y": [-1]}), tmp_path / "2.parquet")
    check_columns(schema_of((-1, 1)), eq.open_table(tmp_path, engine=engine))


LEVELS = {
    "categories": CategoryColumn("a", ("0.5", "1.5"), other=True),
    "levels in order": OrderedColumn("a", (-2.5, 0.1)),
    "spellings": YesNoColumn("a", yes=("1.5",), no=("0.5",)),
}


@pytest.mark.parametrize("case", LEVELS)
def test_a_column_none_of_whose_levels_its_type_can_hold_is_refused_where_rows_are_paid_for(case):
    schema = Schema(2, (LEVELS[case],), Target("y", classes=(0, 1)))
    whole = FrameTable(pa.table({"a": [1, 2], "y": [0, 1]}))
    with pytest.raises(InvalidData, match="numbers of type int64, none of which can be one: a"):
        check_columns(schema, whole)
    check_columns(schema, FrameTable(pa.table({"a": [1.0, 2.0], "y": [0, 1]})))
    # New rows may be whole numbers by chance, and nothing is paid for them.
    encoded_rows(schema, whole)
    one_of_them = Schema(2, (CategoryColumn("a", ("0.5", "1"), other=True),), Target("y", classes=(0, 1)))
    check_columns(one_of_them, whole)


def test_a_type_holds_what_its_values_are_read_as():
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        limits = np.iinfo(name)
        kind = NumberType(name)
        assert kind.holds(float(limits.min))
        assert kind.holds(float(limits.max))
        assert not kind.holds(limits.min * 2.0 - 1)
        assert not kind.holds(limits.max * 2.0)
        assert not any(kind.holds(number) for number in (0.5, np.nan, np.inf, -np.inf))
