"""Weights that another solver found: private until noise is added, so that only shape and type are looked at."""

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from equipoise.data.entries import is_undeclared, listed_shape, listed_table, number_of_entry, numbers_of_entries
from equipoise.data.tables import feature_table, plain_array, wrapped
from equipoise.data.unread import NUMERIC_KINDS, Unread, type_in_words
from equipoise.errors import InvalidData

REMEDY = "pass the solver's coef_ and intercept_"


def unread_weights(given: Any) -> Unread:
    """Return weights, unread, in as many dimensions as they come; the type refuses them, or nothing does.

    They become numbers where they are read. An entry of a list is a number by itself or missing, and so is one number.

    Examples
    --------
    >>> [unread_weights(given).shape for given in (0.5, [1, 2], [[1.0, 10**400]], np.zeros((2, 3)))]
    [(), (2,), (1, 2), (2, 3)]
    >>> unread_weights([[1.0, 10**400]]).read()
    array([[ 1., nan]])
    """
    if isinstance(given, int | float):
        return Unread((), True, lambda: np.array(number_of_entry(given)))
    if is_undeclared(given):
        shape = listed_shape(given)
        if len(shape) == 2:
            return Unread(shape, True, lambda: listed_table(given, shape))
        return Unread(shape, True, lambda: numbers_of_entries(given, shape[0]))
    frame = wrapped(given)
    if isinstance(frame, nw.Series):
        column = feature_table(frame.to_frame().to_native())
        return replace(column, shape=column.shape[:1], read=lambda: column.read()[:][:, 0])
    if isinstance(frame, nw.DataFrame):
        table = feature_table(given)
        return replace(table, read=lambda: table.read()[:])
    array = plain_array(given)
    if array.dtype.kind not in NUMERIC_KINDS:
        raise InvalidData("weights that are numbers", type_in_words(array.dtype), REMEDY)
    return Unread(array.shape, True, lambda: array.astype(np.float64))
