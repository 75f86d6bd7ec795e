"""For the data's owner alone: how many rows the public rules will touch. Computed on raw rows, it must stay inside."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.learn.rows import class_codes
from equipoise.learn.tables import feature_table, target_column
from equipoise.vocabulary.facts import Domain

STAMP = "computed on raw rows: not for release"


@dataclass(frozen=True, slots=True)
class RowDiagnosis:
    """Counts of rows that the domain's rules change. Every number here is private."""

    rows: int
    filled: int
    clipped: int
    targets_mapped: int

    def __str__(self) -> str:
        """Return the counts with the stamp."""
        return "\n".join(
            [
                f"{STAMP}",
                f"  rows                                {self.rows}",
                f"  with non-finite values, filled      {self.filled}",
                f"  longer than row_norm, clipped       {self.clipped}",
                f"  with an unknown or far target       {self.targets_mapped}",
            ]
        )


def check_rows(X: Any, y: Any, domain: Domain) -> RowDiagnosis:  # noqa: N803 - the field's word for a table
    """Count the rows that a domain's public rules will fill, clip or relabel; for the owner's eyes only.

    Examples
    --------
    >>> import numpy as np
    >>> print(check_rows(np.array([[3.0, 4.0], [0.1, np.nan]]), [1, 7], Domain(row_norm=1.0, classes=(0, 1))))
    computed on raw rows: not for release
      rows                                2
      with non-finite values, filled      1
      longer than row_norm, clipped       1
      with an unknown or far target       1
    """
    table = feature_table(X)
    matrix = table.read()[: table.shape[0]].astype(np.float64)
    finite = np.isfinite(matrix)
    with np.errstate(all="ignore"):
        norms = np.linalg.norm(np.where(finite, matrix, domain.fill), axis=1)
    target = target_column(y, table.shape[0]).read()
    return RowDiagnosis(
        rows=table.shape[0],
        filled=int(np.sum(~finite.all(axis=1))),
        clipped=int(np.sum(norms > domain.row_norm)),
        targets_mapped=_mapped_targets(target, domain),
    )


def _mapped_targets(target: NDArray[Any], domain: Domain) -> int:
    if domain.labels is not None:
        values = target.astype(np.float64)
        return int(np.sum(~(np.abs(values - domain.label_centre) <= domain.label_bound)))
    if domain.classes is None or domain.classes == "observed":
        return 0
    known = np.zeros(len(target), dtype=bool)
    for label in domain.classes:
        known |= class_codes(target, (domain.classes[0], label)) > 0
    return int(np.sum(~known))
