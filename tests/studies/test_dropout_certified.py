"""Certified dropout against ridge: the preparation, the measuring, what is said of it, and the section end to end."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import equipoise as eq
from equipoise.errors import InvalidParameter
from equipoise.lab.estimate import Estimate
from equipoise_studies.adult import ADULT_LARGEST, ADULT_LEVELS
from equipoise_studies.data import ADULT, BOSTON
from equipoise_studies.dropout_stability import certified
from equipoise_studies.dropout_stability.preparation import BOSTON_RANGES, Table
from equipoise_studies.frame import Session
from equipoise_studies.study_charts import static_image

REGRESSION = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))


def quiet(*_):
    """Report to nobody."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Boston and Adult in their format, small and made up."""
    place, draws = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    columns = {name: draws.uniform(low, high, 460) for name, (low, high) in BOSTON_RANGES.items()}
    columns["medv"] = np.clip(10 * (columns["rm"] - 3) - 0.2 * columns["lstat"] + draws.normal(size=460), 0, 50)
    pq.write_table(pa.table(columns), place / BOSTON.file)
    numbers = {name: draws.integers(0, scale, 500) for name, scale in ADULT_LARGEST.items()}
    texts = {name: pa.array(draws.choice(levels, 500)).dictionary_encode() for name, levels in ADULT_LEVELS.items()}
    income = np.where(numbers["age"] > 60, ">50K", "<=50K")
    split = np.where(np.arange(500) < 300, "train", "test")
    pq.write_table(pa.table(numbers | texts | {"income": income, "split": split}), place / ADULT.file)
    return place


def regression(models, n_rows=60_000, repetitions=3, second=1.0):
    """Return a task of two even columns, whose curvature is plain to see; or with a smaller second one."""
    draws = []
    for seed in range(repetitions):
        stream = np.random.default_rng(seed)
        rows = certified.clipped_rows(stream.normal(size=(n_rows + 200, 2))) * [1.0, second]
        table = Table(rows, rows @ [0.5, -0.3])
        draws.append((Table(table.rows[200:], table.outcomes[200:]), Table(table.rows[:200], table.outcomes[:200])))
    return certified.Task("even", "even", draws, models, 0.5)


def every_model():
    return certified.compared(eq.Ridge, eq.DropoutRegressor, REGRESSION, 2.0)


# The preparation.


def test_rows_and_targets_lie_in_the_declared_domain(folder):
    houses = certified.boston_table(folder)
    train, test = certified.adult_tables(folder)
    assert np.abs(houses.outcomes).max() <= 1
    assert np.linalg.norm(houses.rows, axis=1).max() <= 1 + 1e-12
    assert train.rows.shape == (300, 108)
    assert test.rows.shape[0] == 200
    np.testing.assert_allclose(np.linalg.norm(train.rows, axis=1), 1)
    assert set(train.outcomes.tolist()) == {0, 1}


def test_a_larger_town_has_only_the_training_rows_and_the_same_test_rows(folder):
    small = certified.boston_task(certified.boston_table(folder), 2)
    large = certified.drawn_anew(small, 1000)
    assert large.shape == (1000, 13)
    for (few, test), (many, same) in zip(small.draws, large.draws, strict=True):
        assert set(map(bytes, many.rows)) <= set(map(bytes, few.rows))
        assert same is test
    np.testing.assert_array_equal(certified.drawn_anew(small, 400).draws[1][0].rows, small.draws[1][0].rows)


# The curvature.


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_the_curvature_is_that_of_the_mean_over_masks(keep):
    stream = np.random.default_rng(0)
    rows = certified.clipped_rows(stream.normal(size=(50, 3)))
    masks = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
    expected = np.zeros((4, 4))
    for mask in masks:
        chance = np.prod(np.where(mask == 1, keep, 1 - keep))
        whole = np.column_stack([rows * mask / keep, np.full(50, 0.5)])
        expected += chance * whole.T @ whole / 50
    assert certified.data_curvature(rows, keep) == pytest.approx(np.linalg.eigvalsh(expected)[0])


def test_curvature_is_released_with_the_rows_that_are_needed_and_not_with_half_of_them():
    model = eq.DropoutRegressor(delta=1e-6, domain=REGRESSION, keep_probability=0.9, curvature_share=0.5)
    task = regression({certified.LOW: model}, 4000, 1, 0.3)
    needed = certified.rows_needed(task, 0.9, 1.0)
    assert 500 < needed < 4000

    def released(n_rows):
        found = certified.measure_cell(regression({certified.LOW: model}, n_rows, 8, 0.3), certified.LOW, 1.0)
        return (found.curvatures > 0).mean()

    assert released(math.ceil(2 * needed)) == 1
    assert released(math.ceil(needed / 2)) == 0


def test_no_number_of_rows_shows_the_curvature_of_an_empty_column():
    task = certified.Task("empty", "empty", [(Table(np.zeros((9, 2)), np.zeros(9)),) * 2], every_model(), 1.0)
    assert certified.rows_needed(task, 0.5, 1.0) == math.inf


# The measuring.


def test_every_kind_of_certificate_verifies_and_curvature_cuts_the_noise():
    task = certified.measure_task(regression(every_model()), (1.0,), quiet, "even")
    cells = {name: row[1.0] for name, row in task.found.items()}
    assert {name: cell.faults for name, cell in cells.items()} == dict.fromkeys(cells, ())
    assert not any(cell.refused.any() for cell in cells.values())
    for name, cell in cells.items():
        if "dropout" in name:
            assert (cell.curvatures > 0).all()
            assert (cell.noise < 1).all()
        else:
            assert (cell.noise == 1).all()
    confirmed = cells["dropout 0.99, proposal"]
    assert set(confirmed.curvatures.tolist()) == {certified.PROPOSAL}


def test_a_refused_proposal_says_the_middle_and_its_certificate_verifies():
    model = eq.DropoutRegressor(delta=1e-6, domain=REGRESSION, keep_probability=0.99, proposal=0.2)
    task = regression({"asks too much": model}, 60_000, 2, 0.3)
    cell = certified.measure_cell(task, "asks too much", 1.0)
    assert cell.refused.all()
    assert cell.faults == ()
    expected = [np.sqrt(np.square(test.outcomes).mean()) / task.scale for _, test in task.draws]
    np.testing.assert_allclose(cell.errors, expected)


def test_a_proposal_that_no_rows_can_confirm_is_not_planned_and_other_refusals_are_raised():
    proposing = eq.DropoutRegressor(delta=1e-6, domain=REGRESSION, proposal=0.001)
    cell = certified.measure_cell(regression({"few": proposing}, 10), "few", 0.1)
    assert not cell.planned
    broken = eq.DropoutRegressor(delta=1e-6, domain=REGRESSION, radius=None)
    with pytest.raises(InvalidParameter, match="radius"):
        certified.measure_cell(regression({"broken": broken}, 10), "broken", 1.0)


def test_differences_are_taken_on_the_same_draws():
    nothing = np.zeros(3)
    task = regression({}, 10)
    for name, errors in (("one", [1.0, 2.0, 3.0]), ("other", [0.5, 1.5, 2.5])):
        task.found[name] = {1.0: certified.Cell(np.array(errors), nothing, nothing, nothing > 0, ())}
    assert task.apart("one", "other") == [Estimate(0.5, 0.5, 0.5, 0.95)]


# What is said.


def test_the_section_has_a_row_for_every_model_and_claims_that_follow_from_the_cells(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(certified, "QUICK", certified.Grid(2, 2, 250, (400, 2000), (1.0,)))
    section, claims = certified.certified_section(Session(folder, True, tmp_path, quiet))
    table, growth = section.tables
    assert len(table.rows) == 18
    assert {len(row) for row in table.rows} == {len(table.header)}
    assert [row[0] for row in growth.rows] == ["400", "2,000"]
    assert {len(row) for row in growth.rows} == {len(growth.header)}
    assert any("not planned" in row for row in table.rows)
    assert not any("nan" in text or "-0 " in text for text in section.paragraphs)
    by_id = {claim.id: claim for claim in claims}
    assert by_id["certified.verified"].measured == 1
    assert set(by_id) == {
        "certified.verified",
        *(f"certified.error.{data}-{rival}" for data in ("boston", "adult") for rival in ("output", "auto")),
    }
    assert all(static_image(figure.specification).startswith("<svg") for figure in section.figures)


def test_a_certificate_with_a_fault_is_counted():
    nothing = np.array([0.1, 0.2])
    task = regression({}, 10)
    for name in (certified.OUTPUT, certified.AUTO, certified.LOW):
        faults = ("digest",) if name == certified.LOW else ()
        task.found[name] = {1.0: certified.Cell(nothing, nothing, nothing, nothing > 1, faults)}
    first = next(certified.claims(task, task, []))
    assert first.measured == pytest.approx(2 / 3)
    assert first.verdict == "not reproduced"
