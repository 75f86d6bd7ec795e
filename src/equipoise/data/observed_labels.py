"""The labels that are found in the data, where the user says that they are public."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data.unread import NUMERIC_KINDS, type_in_words
from equipoise.errors import ENDINGS, InvalidData
from equipoise.vocabulary.facts import Label, is_label
from equipoise.vocabulary.numbers import plain


def observed_classes(target: NDArray[Any]) -> tuple[Label, ...]:
    """Return the labels found in the data, which the user has declared public by ``classes="observed"``.

    Examples
    --------
    >>> observed_classes(np.array(["yes", "no", "yes"]))
    ('no', 'yes')
    """
    if target.dtype.kind not in f"{NUMERIC_KINDS}OUT":
        raise InvalidData("class labels", type_in_words(target.dtype), "pass numbers or text, or declare the classes")
    if target.dtype.kind == "f":
        # Of numbers that are longer than doubles Python makes no labels; one that no double holds is none.
        with np.errstate(all="ignore"):
            target = target.astype(np.float64)
        target = target[np.isfinite(target)]
        if not np.array_equal(target, np.round(target)):
            raise InvalidData(
                "class labels", "Unknown label type: continuous numbers", "use a regressor, or declare the classes"
            )
    typed = target.dtype.kind in NUMERIC_KINDS
    found = map(_label, (np.unique(target) if typed else target).tolist())
    # Entries without a type of their own: of 1 and 1.0 in several rows no row shall decide which is the label.
    found = found if typed else map(_whole, found)
    labels = {(type(label).__name__, label) for label in found if label is not None}
    if not labels:
        raise InvalidData("class labels", "none among the targets", "pass numbers or text, or declare the classes")
    try:
        # Of equal labels (1 and True) the same one is kept whatever the rows' order.
        return tuple(sorted(dict.fromkeys(label for _, label in sorted(labels))))
    except TypeError:
        raise InvalidData(
            "labels of one kind", "labels that cannot be ordered", "declare the classes in the domain"
        ) from None


def _label(entry: object) -> Label | None:
    """Return the label that an entry is, None for a value that is none and will count as the first class."""
    try:
        label = plain(entry)
    except ENDINGS:
        raise
    except BaseException:  # a value inside a private row never raises
        return None
    known = type(label) in (str, bool, int, float) and is_label(label)
    return label if known else None  # type: ignore[return-value] # as just tested


def _whole(label: Label | None) -> Label | None:
    return int(label) if isinstance(label, float) and label.is_integer() else label
