"""Sets of classes, or intervals, for new rows: what a paid evaluation knows of a released model's errors (N4-sets)."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.artifact.about import require_about
from equipoise.artifact.findings import contents_of
from equipoise.artifact.predictions import predictor
from equipoise.artifact.trust import Trusted, signer_of
from equipoise.data.raw import RawTable
from equipoise.errors import InvalidParameter
from equipoise.evaluation.evaluation import Evaluation
from equipoise.release.carriers.evaluation import outputs_of, share_bins
from equipoise.wording import class_text


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
    public_seed : int, optional
        Drives the coins that let in labels at the boundary of sets of classes, by each row's place.
    """

    def __init__(
        self,
        release: str | os.PathLike[str],
        evaluation: str | os.PathLike[str],
        coverage: float = 0.9,
        trusted: Mapping[bytes, Trusted] | None = None,
        public_seed: int = 0,
    ) -> None:
        contents = contents_of(Path(evaluation))
        found = Evaluation.of(contents)
        signer_of(contents, found.certificate, trusted)
        require_about(found.certificate, Path(release))
        model = predictor(release)
        if model is None:
            remedy = "open both in Python, with equipoise.load and equipoise.Evaluation.load"
            raise InvalidParameter("a release of a model with a schema", "one without", remedy)
        if tuple(model.labels) != found.claim.cells.labels:
            same = len(model.labels) == len(found.claim.cells.labels)
            what = "one of other classes" if same else f"one of {found.claim.cells.labels[-1]!r:.80} against the rest"
            raise InvalidParameter("sets of the model's classes", what, "evaluate without --positive, for such sets")
        self._model, self._cells = model, found.claim.cells
        self.labels = found.claim.cells.labels
        self._sets = found.prediction_sets(coverage, public_seed) if self.labels else None
        self._reach = (0.0, 0.0) if self.labels else found.prediction_intervals(coverage)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what is said of a row: for every class whether it is in the set, or the interval's ends."""
        return tuple(f"set holds {class_text(label)}" for label in self.labels) or ("low", "high")

    def of(self, table: RawTable) -> list[list[Any]]:
        """Return for every row 1 or 0 a class, or the ends of its interval, inside the target's range."""
        scores = self._model.scores(table)
        if self._sets is not None:
            outputs = (share_bins if self._cells.true_shares else outputs_of)(self._cells, scores)
            found: list[list[Any]] = self._sets.of(outputs).astype(int).tolist()
            return found
        low, high = self._cells.range or (-np.inf, np.inf)
        ends = self._model.decided(scores)[:, None] + np.array(self._reach)
        clipped: list[list[Any]] = np.clip(ends, low, high).tolist()
        return clipped

    def sentences(self) -> tuple[str, ...]:
        """Return what whoever reads sets has to know of coins; of intervals there is nothing to say."""
        if self._sets is None:
            return ()
        seed = self._sets.public_seed
        said = f"a label at the boundary of a set was let in by a coin, of the public seed {seed} and the row's place"
        return (said,)

    def plain(self, said: list[Any]) -> dict[str, Any]:
        """Return for programs what is said of a row."""
        if self._sets is None:
            return {"interval": said}
        return {"set": [label for label, inside in zip(self.labels, said, strict=True) if inside]}
