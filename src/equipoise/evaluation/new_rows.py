"""Sets of classes, or intervals, for new rows: what a paid evaluation knows of a released model's errors (N4-sets)."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.artifact.about import require_about
from equipoise.artifact.findings import contents_of
from equipoise.artifact.predictions import predictor
from equipoise.artifact.trust import Trusted, signer_of
from equipoise.data.raw import RawTable
from equipoise.errors import InvalidParameter
from equipoise.evaluation.evaluation import Evaluation
from equipoise.release.carriers.evaluation import outputs_of, share_bins
from equipoise.wording import class_text

Array = NDArray[np.float64]


class NewRows:
    """What holds the truth of new rows as often as asked for, by a released model and an evaluation of it.

    Rows must be drawn like those of the evaluation. Of a regression the truth is the number clipped into its declared
    range.

    Parameters
    ----------
    release, evaluation : path
        The folders of both; an evaluation of another release is refused.
    coverage : float
        The chance that a new row's truth is in its set or interval, at least.
    trusted : mapping, optional
        The keys that count: one of them must have signed the evaluation, which names the model.
    """

    def __init__(
        self,
        release: str | os.PathLike[str],
        evaluation: str | os.PathLike[str],
        coverage: float = 0.9,
        trusted: Mapping[bytes, Trusted] | None = None,
    ) -> None:
        contents = contents_of(Path(evaluation))
        found = Evaluation.of(contents)
        signer_of(contents, found.certificate, trusted)
        require_about(found.certificate, Path(release))
        model = predictor(release)
        if model is None:
            remedy = "open both in Python, with equipoise.load and equipoise.Evaluation.load"
            raise InvalidParameter("a release of a model with a schema", "one without", remedy)
        if len(model.labels) != len(found.claim.cells.labels):
            what = f"an evaluation of {found.claim.cells.labels[-1]!r:.80} against the rest"
            raise InvalidParameter("sets of the model's classes", what, "evaluate without --positive, for such sets")
        self._model, self._cells = model, found.claim.cells
        self.labels = found.claim.cells.labels
        self._members = found.prediction_sets(coverage).members if self.labels else None
        self._reach = (0.0, 0.0) if self.labels else found.prediction_intervals(coverage)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what is said of a row: for every class whether it is in the set, or the interval's ends."""
        return tuple(f"set holds {class_text(label)}" for label in self.labels) or ("low", "high")

    def of(self, table: RawTable) -> list[list[Any]]:
        """Return for every row 1 or 0 a class, or the ends of its interval, inside the target's range."""
        scores = self._model.scores(table)
        if self._members is not None:
            found: list[list[Any]] = self._inside(self._members, scores).astype(int).tolist()
            return found
        low, high = self._cells.range or (-np.inf, np.inf)
        ends = self._model.decided(scores)[:, None] + np.array(self._reach)
        clipped: list[list[Any]] = np.clip(ends, low, high).tolist()
        return clipped

    def _inside(self, members: NDArray[np.bool_], scores: Array) -> NDArray[np.bool_]:
        """Return which classes are in the set of each row (rows x classes)."""
        if self._cells.true_shares:
            return np.asarray(members[np.arange(len(members)), share_bins(self._cells, scores)])
        return np.asarray(members[:, outputs_of(self._cells, scores)].T)

    def plain(self, said: list[Any]) -> dict[str, Any]:
        """Return for programs what is said of a row."""
        if self._members is None:
            return {"interval": said}
        return {"set": [label for label, inside in zip(self.labels, said, strict=True) if inside]}
