"""An evaluation: the counts that were paid for, their certificate, and a folder to keep them in."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from equipoise.artifact import page_file
from equipoise.artifact.findings import contents_of, findings_of
from equipoise.artifact.folder import NO_PAGE, staging_of_evaluation
from equipoise.artifact.statement import evaluation_in
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.evaluation import Evaluation as EvaluationClaim
from equipoise.certify.folder import CERTIFICATE, MANIFEST, MODEL, PAGE, REPORT, SCHEMA, manifest_of, text_of
from equipoise.data.schema import Schema
from equipoise.errors import InvalidParameter, PageNotDrawn, ReleaseUnreadable
from equipoise.evaluation import page
from equipoise.evaluation.figure import Figure
from equipoise.evaluation.figures import Figures, figures_of
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.prediction_sets import PredictionSets, prediction_sets, sets_of_shares
from equipoise.evaluation.regression import Regression


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What an evaluation released, with its certificate; all that is computed from it is free (N3, N4).

    Parameters
    ----------
    certificate : Certificate
        It holds the counts, the public cells, and names the release that they are about; of rows that were held out
        it is that of the training, too.
    schema : Schema, optional
        That of the model, by which rows were encoded.
    """

    certificate: Certificate
    schema: Schema | None = None

    @property
    def claim(self) -> EvaluationClaim:
        """What was claimed and released."""
        claim = evaluation_in(self.certificate)
        if claim is not None:
            return claim
        found, remedy = f"one of kind {self.certificate.kind!r}", "pass the folder that evaluate wrote"
        raise ReleaseUnreadable("the certificate of an evaluation", found, remedy)

    @property
    def counts(self) -> NoisyCounts:
        """The noisy counts by group, true class and output."""
        return NoisyCounts.of(self.claim)

    def figures(self, groups: Sequence[int] | None = None) -> Figures:
        """Return every figure that follows from the counts, each with an interval; of some groups by their places.

        Intervals count the sampling of rows and the known noise; their coverage was measured, not proved
        (tests/evaluation/test_coverage.py).
        """
        if groups is not None:
            self._require_groups(groups)
        return figures_of(self.counts, groups, NoisyCounts.of_further(self.claim))

    def _require_groups(self, groups: object) -> None:
        known = self.claim.cells.groups
        within = range(len(self.counts.counts))
        places = list(groups) if isinstance(groups, Sequence | np.ndarray) else []
        if places and all(isinstance(each, int | np.integer) and each in within for each in places):
            return
        words = ", ".join(f"{place} for {name!r:.40}" for place, name in enumerate(known[:20]))
        remedy = f"choose from {words}" if words else "leave groups out: rows were not counted by any (by=...)"
        raise InvalidParameter("groups, the places of some in evaluation.claim.cells.groups", f"{groups!r:.80}", remedy)

    @property
    def accuracy(self) -> Figure:
        """The share of rows whose predicted class is the true one, with its interval."""
        figures = self.figures()
        if isinstance(figures, Regression):
            remedy = "ask for evaluation.figures().r2, mean_absolute_error or mean_squared_error"
            raise InvalidParameter("the accuracy of classes", "the evaluation of a regression", remedy)
        return figures.accuracy

    def prediction_sets(self, coverage: float = 0.9, public_seed: int = 0) -> PredictionSets:
        """Return sets of classes that hold the true one as often as asked for (N4-sets).

        A label at the boundary is let in by a coin: otherwise sets would be larger, and hold the truth too often. Coins
        follow from the public seed and a row's place, so that they are the same each time (`PredictionSets.of`). How
        often is proved where bins were chosen without the counted rows, and measured after a look at them (N4-sets).
        """
        if not self.claim.cells.labels:
            remedy = "ask for evaluation.prediction_intervals(coverage)"
            raise InvalidParameter("sets of classes", "the evaluation of a regression", remedy)
        shares = NoisyCounts.of_further(self.claim)
        if shares is None:
            return prediction_sets(self.counts, coverage, public_seed)
        return sets_of_shares(shares, len(self.claim.cells.labels), coverage, public_seed)

    def prediction_intervals(self, coverage: float = 0.9) -> tuple[float, float]:
        """Return what to add to a prediction so that the interval holds the truth as often as asked for (N4-sets)."""
        figures = self.figures()
        if not isinstance(figures, Regression):
            remedy = "ask for evaluation.prediction_sets(coverage)"
            raise InvalidParameter("intervals around predicted numbers", "the evaluation of a classifier", remedy)
        return figures.prediction_intervals(coverage)

    def files(self) -> dict[str, str]:
        """Return the files of the folder by name: functions of the certificate and the schema alone."""
        target = "" if self.schema is None else self.schema.target.name
        facts = page_file.PageFacts(page_file.renderer())
        files = {CERTIFICATE: self.certificate.to_json(), PAGE: page_file.written(facts)}
        if facts.drawn:
            files[REPORT] = page.page_of(self.certificate, target)
        if self.schema is not None:
            files[SCHEMA] = self.schema.to_toml()
        files[MANIFEST] = manifest_of({name: text.encode() for name, text in files.items()})
        return files

    def save(self, folder: str | os.PathLike[str], force: bool = False) -> None:
        """Write the evaluation as a folder of its own, whole or not at all; the release's own folder never changes.

        Where the extra `report` is not installed it has no page, and a warning says so.
        """
        with staging_of_evaluation(folder, force) as place:
            place.publish(files := self.files())
        if REPORT not in files:
            warnings.warn(NO_PAGE, PageNotDrawn, stacklevel=2)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Return the evaluation in a folder, if its files are as they were made and its claim follows."""
        return cls.of(contents_of(Path(folder), "the folder of an evaluation", "evaluate or train --holdout"))

    @classmethod
    def of(cls, contents: Mapping[str, bytes]) -> Self:
        """Return the evaluation in the files of a folder, which were read once."""
        if MODEL in contents:
            # The certificate of rows that were held out is in both folders.
            found = f"the folder of a release, with {MODEL}"
            remedy = "pass that of its evaluation, which evaluate or train wrote"
            raise ReleaseUnreadable("the folder of an evaluation", found, remedy)
        if faults := findings_of(dict(contents)).faults:
            raise ReleaseUnreadable("an evaluation as it was made", "; ".join(faults[:3]), "ask for the folder again")
        schema = Schema.from_text(text_of(contents, SCHEMA)) if SCHEMA in contents else None
        made = cls(Certificate.from_json(text_of(contents, CERTIFICATE)), schema)
        made.claim  # noqa: B018 - a certificate of another kind is refused here
        return made
