"""A paid evaluation as the model card has it: one plain record, from its folder and that of the release."""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from equipoise.artifact.about import require_about
from equipoise.artifact.findings import contents_of
from equipoise.artifact.page_check import require_page
from equipoise.artifact.trust import Trusted, signer_of
from equipoise.certify.claims.evaluation import HeldOut
from equipoise.evaluation.drawing import evaluation_page
from equipoise.evaluation.evaluation import Evaluation
from equipoise.evaluation.page import record_of


def evaluation_of(
    folder: str | os.PathLike[str],
    release: str | os.PathLike[str],
    trusted: Mapping[bytes, Trusted] | None = None,
) -> dict[str, Any]:
    """Return the record of an evaluation of this release; refuse one of another, or one that does not hold.

    Parameters
    ----------
    folder, release : path
        What `equipoise evaluate` wrote, and the released folder that it is about.
    trusted : mapping, optional
        The keys that count: one of them must have signed the evaluation. Without them its origin stays unproved.
    """
    contents = contents_of(Path(folder))
    found = Evaluation.of(contents)
    certificate, made = found.certificate, found.certificate.release
    require_about(certificate, Path(release))
    require_page(contents, evaluation_page)
    shown = record_of(certificate, "" if found.schema is None else found.schema.target.name)
    return {
        "id": made.id if made else None,
        "made": made.made if made else None,
        "certificate": certificate.digest,
        **signer_of(contents, certificate, trusted),
        "rows": shown.n_samples,
        "epsilon": certificate.epsilon,
        "delta": certificate.delta,
        "adjacency": certificate.adjacency,
        "grade": certificate.grade,
        "seeded": certificate.terms.seeded,
        "ledger": certificate.terms.ledger,
        "withdrawn": list(certificate.withdrawn()),
        "held_out": isinstance(certificate.claim, HeldOut),
        "task": shown.task,
        "target": shown.target or None,
        "labels": list(shown.labels),
        "figures": [
            {"name": line.name, "meaning": line.meaning, **dataclasses.asdict(line.figure)} for line in shown.lines
        ],
        "confusion": [[dataclasses.asdict(figure) for figure in row] for row in shown.confusion],
        "roc": [
            {
                "threshold": false.place,
                "false": dataclasses.asdict(false.figure),
                "true": dataclasses.asdict(true.figure),
            }
            for false, true in shown.roc
        ],
        "calibration": [dataclasses.asdict(point) for point in shown.calibration],
        "by": shown.by or None,
        "groups": [
            {"name": name, "figures": {bars.title: dataclasses.asdict(bars.figures[place]) for bars in shown.bars}}
            for place, name in enumerate(shown.groups)
        ],
    }
