"""Rows of persons as users hold them: ids beside a table become slots (`equipoise.data.slots`)."""

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from equipoise.data.entries import is_undeclared
from equipoise.data.frames import column_ids, column_kind
from equipoise.data.slots import Slots
from equipoise.data.tables import feature_table, plain_array, target_column, wrapped
from equipoise.data.unread import Unread, type_in_words
from equipoise.errors import InvalidData

Array = NDArray[np.float64]
Places = NDArray[np.intp]

GROUPS = "pass groups=ids: one id a row, in a list, an array or a column"


@dataclass(frozen=True, slots=True, eq=False)
class PersonRows:
    """The kept rows of all persons and their targets, unread; `persons` is the slot of each.

    Their first length is the declared number of persons: how many rows there are is private.
    """

    features: Unread
    target: Unread
    persons: Unread


def person_rows(X: Any, y: Any, groups: Any, planned: tuple[int, int], rows_at_most: int) -> PersonRows:  # noqa: N803
    """Return a table of numbers with one id a row as rows of persons, unread.

    `planned` are the declared numbers of persons and of columns: a list of no rows has no columns of its own.

    Examples
    --------
    >>> rows = person_rows([[1.0], [2.0], [3.0]], [0, 1, 1], ["a", "b", "a"], planned=(5, 1), rows_at_most=1)
    >>> rows.features.shape, rows.features.read().tolist(), rows.persons.read().tolist()
    ((5, 1), [[1.0], [2.0]], [0, 1])
    """
    n_persons, width = planned
    table, ids = feature_table(X, width), id_column(groups)
    target = target_column(y, None)
    if {table.shape[0], *target.shape, *ids.shape} != {table.shape[0]}:
        # Their numbers are private.
        raise InvalidData("one target and one id a row", "inconsistent numbers of rows, targets and ids", GROUPS)
    dealt: list[tuple[Places, Places]] = []

    def kept() -> tuple[Places, Places]:
        if not dealt:
            dealt.append(Slots(n_persons, rows_at_most).of(ids.read()))
        return dealt[0]

    return PersonRows(
        Unread((n_persons, table.shape[1]), True, lambda: _chosen(table.read(), kept()[0])),
        replace(target, shape=(n_persons,), read=lambda: np.asarray(target.read())[kept()[0]]),
        Unread((n_persons,), True, lambda: kept()[1]),
    )


def _chosen(matrix: Any, places: Places) -> Any:
    # A sparse table in coordinates has no rows to choose from.
    return (matrix.tocsr() if hasattr(matrix, "tocsr") else matrix)[places]


def id_column(groups: Any) -> Unread:
    """Return ids, unread: what the container's type says is refused or taken, values are not looked at.

    Examples
    --------
    >>> id_column(np.array([7, 9])).read().tolist()
    [7, 9]
    """
    if groups is None:
        raise InvalidData("the person that each row belongs to", "no groups, though n counts persons", GROUPS)
    if is_undeclared(groups) and not isinstance(groups, np.ndarray):
        return Unread((len(groups),), False, lambda: groups)
    given = wrapped(groups)
    if isinstance(given, nw.DataFrame) and given.shape[1] == 1:
        given = next(given.iter_columns())
    if isinstance(given, nw.Series):
        if column_kind(given) is None:
            raise InvalidData("ids of numbers or text", "a column of another type", GROUPS)
        return Unread(given.shape, False, lambda: column_ids(given))
    array = plain_array(groups)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.dtype.kind == "c" or array.dtype.names is not None:
        found = f"an array of {array.ndim} dimension(s), {type_in_words(array.dtype)}"
        raise InvalidData("one id a row", found, GROUPS)
    return Unread(array.shape, False, lambda: array)
