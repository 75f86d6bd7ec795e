"""An evaluation: the counts that were paid for, their certificate, and a folder to keep them in."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from equipoise.artifact.folder import staging
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.evaluation import Evaluation as EvaluationClaim
from equipoise.certify.folder import CERTIFICATE, MANIFEST, SCHEMA, contents_of, inspect, manifest_of, text_of
from equipoise.data.schema import Schema
from equipoise.errors import InvalidParameter, ReleaseUnreadable
from equipoise.evaluation.histogram import NoisyCounts


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What an evaluation released, with its certificate; all that is computed from it is free (N3, N4).

    Parameters
    ----------
    certificate : Certificate
        Of kind "evaluation": it holds the counts, the public cells, and names the release that they are about.
    schema : Schema, optional
        That of the model, by which rows were encoded.
    """

    certificate: Certificate
    schema: Schema | None = None

    @property
    def claim(self) -> EvaluationClaim:
        """What was claimed and released."""
        claim = self.certificate.claim.main
        if not isinstance(claim, EvaluationClaim) or claim.released is None:
            found, remedy = f"one of kind {claim.kind!r}", "pass the folder that evaluate wrote"
            raise ReleaseUnreadable("the certificate of an evaluation", found, remedy)
        return claim

    @property
    def counts(self) -> NoisyCounts:
        """The noisy counts by group, true class and output."""
        return NoisyCounts.of(self.claim)

    @property
    def accuracy(self) -> float:
        """The share of rows whose predicted class is the true one, by the noisy counts; without an interval."""
        counts, labels = self.counts, self.claim.cells.labels
        if not labels:
            remedy = "look at evaluation.counts"
            raise InvalidParameter("the accuracy of classes", "the evaluation of a regression", remedy)
        by_class = counts.counts.sum(axis=0)
        if len(labels) > 2:
            right = sum(int(by_class[place].reshape(len(labels), -1)[place].sum()) for place in range(len(labels)))
        else:
            below = counts.edges.index(0.5) + 1
            right = int(by_class[0, :below].sum() + by_class[1, below:].sum())
        return min(max(right / counts.n_samples, 0.0), 1.0)

    def files(self) -> dict[str, str]:
        """Return the files of the folder by name: functions of the certificate and the schema alone."""
        files = {CERTIFICATE: self.certificate.to_json()}
        if self.schema is not None:
            files[SCHEMA] = self.schema.to_toml()
        files[MANIFEST] = manifest_of({name: text.encode() for name, text in files.items()})
        return files

    def save(self, folder: str | os.PathLike[str], force: bool = False) -> None:
        """Write the evaluation as a folder of its own, whole or not at all; the release's own folder never changes."""
        with staging(folder, force) as place:
            place.publish(self.files())

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Return the evaluation in a folder, if its files are as they were made and its claim follows."""
        if faults := inspect(Path(folder)).faults:
            raise ReleaseUnreadable("an evaluation as it was made", "; ".join(faults[:3]), "ask for the folder again")
        contents = contents_of(Path(folder))
        schema = Schema.from_text(text_of(contents, SCHEMA)) if SCHEMA in contents else None
        made = cls(Certificate.from_json(text_of(contents, CERTIFICATE)), schema)
        made.claim  # noqa: B018 - a certificate of another kind is refused here
        return made
