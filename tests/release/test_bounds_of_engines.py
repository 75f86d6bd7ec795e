"""Private bounds of tables that are never held (N6, N12): the same counts and certificate, and no other ending."""

import warnings
from dataclasses import replace

import numpy as np
import pyarrow
import pytest
from pyarrow import csv

import equipoise as eq
from equipoise.data.cells import CellWork, counts_of_parts
from equipoise.data.engines import open_table
from equipoise.data.schema import NumberColumn, Schema, Target
from equipoise.errors import PrivateFailure
from equipoise.release.intervals import CELLS
from planted_engines import ROWS, Planted, parts


def blank(n_samples=ROWS):
    columns = (NumberColumn("age", None), NumberColumn("dose", None, indicator=True))
    target, vouched = Target("ill", classes=("no", "yes")), {"vouched_by": "A. Officer", "vouched_on": "2026-11-16"}
    return Schema(n_samples, columns, target, **vouched).with_private_bounds(1.0)


def unfitted():
    return eq.LogisticRegression(2.0, domain=blank(), mechanism="output", alpha=0.05, random_state=3)


def alike(first, second):
    """Whether two models have one certificate, but for its random id and its date, and the same weights."""
    same = first.certificate_.claim == second.certificate_.claim and first.schema_ == second.schema_
    return same and first.certificate_.verify() == () and np.allclose(first.coef_, second.coef_, atol=1e-9)


@pytest.fixture(scope="module")
def in_memory():
    return unfitted().fit(pyarrow.concat_tables(parts()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("rows")
    for number, part in enumerate(parts()):
        csv.write_csv(part, place / f"{number}.csv")
    return place


def test_bounds_that_fit_were_released_and_are_the_models_own(in_memory):
    bounds, _ = in_memory.certificate_.claim.of
    table = pyarrow.concat_tables(parts())
    for released in bounds.released:
        low, high = np.quantile(table[released.column].to_numpy(), [0.05, 0.95])
        assert released.low <= low < high <= released.high
        assert released.high - released.low < 4 * (high - low)
    assert in_memory.schema_.columns[0].bounds == (bounds.released[0].low, bounds.released[0].high)


def test_a_stream_has_the_certificate_of_the_memory(in_memory, folder):
    assert alike(unfitted().fit(open_table(folder, engine="stream")), in_memory)


def test_dask_has_the_certificate_of_the_memory(in_memory, folder):
    pytest.importorskip("distributed")
    assert alike(unfitted().fit(open_table(folder, engine="dask")), in_memory)


def test_a_regressions_target_is_paid_for_as_well(folder):
    facts = replace(blank(), columns=(NumberColumn("age", None),), target=Target("dose"), unused=("ill",))
    models = [
        eq.Ridge(2.0, domain=facts, mechanism="output", alpha=0.05, random_state=3).fit(table)
        for table in (pyarrow.concat_tables(parts()), open_table(folder, engine="stream"))
    ]
    assert alike(*models)
    assert [bounds.column for bounds in models[0].certificate_.claim.of[0].released] == ["age", "dose"]


def counted(table, n_samples=ROWS):
    return counts_of_parts(table, CellWork(blank(n_samples), ("age", "dose"), CELLS), n_samples)


def again(_, found):
    return [*found, *reversed(found)]


def swapped(_, found):
    """Two parts answer under each other's number."""
    (_, first), (_, second), *others = found
    return [(0, second), (1, first), *others]


@pytest.mark.parametrize("fault", [None, again, swapped])
def test_parts_that_come_again_or_in_another_order_count_once(fault):
    table = pyarrow.concat_tables(parts())
    for counts, name in zip(counted(Planted(fault)), ("age", "dose"), strict=True):
        assert np.array_equal(counts, CELLS.counts(table[name].to_numpy()))


def lost(_, found):
    return found[1:]


def another(_, found):
    """A part's answer comes under the number of one that is lost."""
    (_, first), (_, _), *others = found
    return [(0, first), (1, first), *others]


def answers_change(_, found):
    """A part that is asked again answers for other rows."""
    (_, first), (_, second), *others = found
    return [(0, first), (1, second), *others, (0, second)]


@pytest.mark.parametrize("fault", [lost, another, answers_change])
def test_parts_that_are_lost_or_are_not_what_they_were_are_never_counted(fault):
    with pytest.raises(PrivateFailure):
        counted(Planted(fault))


def test_rows_that_lack_are_in_no_cell_and_surplus_ones_are_not_counted(folder):
    ages = pyarrow.concat_tables(parts())["age"].to_numpy()
    for declared in (ROWS - 1600, ROWS + 5000):
        counts = counted(open_table(folder, engine="stream"), declared)[0]
        assert np.array_equal(counts, CELLS.counts(ages[:declared]))


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_neighbours_end_alike_and_nothing_is_said(tmp_path, engine, capfd):
    planned = unfitted().plan()
    first, *others = parts()
    for number, entry in enumerate(("31", "", "NaN", "inf", "-inf", "1e308", "1e999", "a text", "\u00e9", "5e-324")):
        lines = [f"{age},{dose},{ill}" for age, dose, ill in zip(*first.to_pydict().values(), strict=True)]
        lines[7] = f"{entry},0.5,no"
        place = tmp_path / str(number)
        place.mkdir()
        (place / "0.csv").write_text("\n".join(["age,dose,ill", *lines]) + "\n", encoding="utf-8")
        for part, table in enumerate(others, start=1):
            csv.write_csv(table, place / f"{part}.csv")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = unfitted().fit(open_table(place, engine=engine))
        assert model.certificate_.planned_digest == planned.digest
    assert capfd.readouterr() == ("", "")
