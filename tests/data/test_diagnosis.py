import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import equipoise as eq
from equipoise.data.diagnosis import check_table
from equipoise.data.frames import FrameTable
from equipoise.data.schema import NumberColumn, Schema, Target


def test_counts_are_those_of_the_rules_and_are_stamped():
    X = np.array([[0.1, 0.2], [3.0, 4.0], [np.nan, 0.5], [np.inf, 5.0], [1e300, 1e300]])
    found = eq.check_rows(X, ["a", "b", "c", None, "a"], eq.Domain(row_norm=1.0, classes=("a", "b")))
    assert (found.rows, found.filled, found.clipped, found.targets_mapped) == (5, 2, 3, 2)
    assert str(found).startswith("computed on raw rows: not for release")


def test_targets_outside_their_range_are_counted():
    domain = eq.Domain(row_norm=1.0, labels=(0.0, 10.0))
    frame = pd.DataFrame({"a": [0.1, 0.2, 0.3, 0.4]})
    assert eq.check_rows(frame, [0.0, 10.0, 10.5, np.nan], domain).targets_mapped == 2


def test_bad_shapes_are_refused_as_in_fit():
    with pytest.raises(eq.errors.InvalidData):
        eq.check_rows(np.zeros(3), [0, 1, 0], eq.Domain(row_norm=1.0, classes=(0, 1)))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_rows_are_counted_like_dense_ones(form):
    X = np.array([[0.0, 0.2], [3.0, 0.0], [np.nan, 0.5], [np.inf, 5.0]])
    domain = eq.Domain(row_norm=1.0, classes=("a", "b"))
    assert eq.check_rows(form(X), list("abca"), domain) == eq.check_rows(X, list("abca"), domain)


def test_rows_are_counted_in_blocks_to_the_last():
    X = np.zeros((70_001, 1))
    X[[0, 40_000, 70_000]] = 2.0
    X[[1, 69_999]] = np.nan
    found = eq.check_rows(X, np.zeros(70_001), eq.Domain(row_norm=1.0, classes=(0, 1)))
    assert (found.rows, found.filled, found.clipped, found.targets_mapped) == (70_001, 2, 3, 0)


@pytest.mark.parametrize(
    "target", [np.array(["a", "b"]), np.array([1.0, "secret"], dtype=object)], ids=["text", "objects"]
)
def test_a_target_of_a_regression_that_is_no_number_is_refused_by_its_type(target):
    with pytest.raises(eq.errors.InvalidData, match="numeric target") as refusal:
        eq.check_rows(np.zeros((2, 1)), target, eq.Domain(row_norm=1.0, labels=(0.0, 1.0)))
    assert "secret" not in str(refusal.value)


def test_a_schema_without_classes_cannot_count():
    schema = Schema(1, (NumberColumn("age", (0, 100)),), Target("ill", classes=()))
    with pytest.raises(eq.errors.SchemaInvalid, match=r"target\.classes"):
        check_table(schema, FrameTable(pd.DataFrame({"age": [1], "ill": [0]})))
