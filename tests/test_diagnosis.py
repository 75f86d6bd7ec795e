import numpy as np
import pandas as pd
import pytest

import equipoise as eq


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
