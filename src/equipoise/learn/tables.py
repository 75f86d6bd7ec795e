"""From what users hold to arrays: shapes, data types and names are checked here, values never are."""

import warnings
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from equipoise.errors import InvalidData

NUMERIC_KINDS = "fiub"


def feature_matrix(X: Any) -> NDArray[Any]:  # noqa: N803 - the field's word for a table
    """Return a table of numbers as a two-dimensional array, without copying an array that already is one.

    Raises only for what is visible without reading a value: dimensions, emptiness, data types and column names.

    Examples
    --------
    >>> feature_matrix([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    matrix = _from_frame(frame) if isinstance(frame, nw.DataFrame) else _from_array(X)
    if matrix.ndim != 2:
        remedy = "Reshape your data to rows and columns: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        raise InvalidData("Expected 2D array of rows and columns", f"dim {matrix.ndim}, shape {matrix.shape}", remedy)
    if matrix.shape[0] == 0:
        raise InvalidData(
            "at least one row",
            f"0 sample(s) (shape={matrix.shape}) while a minimum of 1 is required.",
            "pass the table's rows",
        )
    if matrix.shape[1] == 0:
        raise InvalidData(
            "at least one column",
            f"0 feature(s) (shape={matrix.shape}) while a minimum of 1 is required.",
            "pass the table's columns",
        )
    return matrix


def _from_frame(frame: "nw.DataFrame[Any]") -> NDArray[Any]:
    wrong = [name for name, kind in frame.schema.items() if not (kind.is_numeric() or kind == nw.Boolean)]
    if wrong:
        raise InvalidData(
            "numeric columns",
            f"non-numeric columns {', '.join(map(str, wrong[:8]))}{' ...' if len(wrong) > 8 else ''}",
            "encode them by a public rule (levels known beforehand) or leave them out",
        )
    single = all(kind == nw.Float32 for kind in frame.schema.values())
    matrix = np.empty(frame.shape, dtype=np.float32 if single else np.float64, order="F")
    for position, column in enumerate(frame.iter_columns()):
        # A missing value becomes NaN, and NaN becomes the domain's fill: a public rule, so nothing raises.
        matrix[:, position] = column.cast(nw.Float32 if single else nw.Float64).to_numpy()
    return matrix


def _from_array(X: Any) -> NDArray[Any]:  # noqa: N803 - the field's word for a table
    if hasattr(X, "toarray"):
        raise InvalidData(
            "dense rows",
            f"sparse input of type {type(X).__name__}",
            "pass X.toarray(): sparse data is not supported yet",
        )
    try:
        matrix = np.asarray(X)
    except ValueError:
        raise InvalidData("a table of numbers", "rows of different lengths", "pass rows of one length") from None
    if matrix.dtype.kind == "c":
        raise InvalidData("real numbers", "Complex data not supported", "pass the real and imaginary parts as columns")
    if matrix.dtype.kind not in NUMERIC_KINDS:
        raise InvalidData(
            "an array of numbers",
            f"data type {matrix.dtype} of non-numeric columns",
            "convert them by a public rule, or X.astype(float) if every entry is a number",
        )
    return matrix


def target_column(y: Any, n_samples: int) -> NDArray[Any]:
    """Return the target as a one-dimensional array with one entry a row.

    Examples
    --------
    >>> target_column([0, 1, 1], 3)
    array([0, 1, 1])
    """
    if y is None:
        raise InvalidData("a target", "requires y to be passed, but the target y is None", "call fit(X, y)")
    series = nw.from_native(y, eager_only=True, series_only=True, pass_through=True)
    target = series.to_numpy() if isinstance(series, nw.Series) else np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected; its one column is taken."
        warnings.warn(message, DataConversionWarning, stacklevel=4)
        target = target[:, 0]
    if target.ndim != 1:
        raise InvalidData(
            "a 1d array of targets",
            f"y should be a 1d array, got an array of shape {target.shape} instead.",
            "pass one column",
        )
    if len(target) != n_samples:
        raise InvalidData(
            "one target a row",
            f"inconsistent numbers of samples: {n_samples} rows, {len(target)} targets",
            "pass X and y of the same table",
        )
    return target
