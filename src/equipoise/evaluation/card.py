"""A paid evaluation as the model card has it: one plain record, from its folder and that of the release."""

import dataclasses
import os
from pathlib import Path
from typing import Any

from equipoise.artifact.about import require_about
from equipoise.evaluation.evaluation import Evaluation
from equipoise.evaluation.page import record_of


def evaluation_of(folder: str | os.PathLike[str], release: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the record of an evaluation of this release; refuse one of another, or one that does not hold.

    Parameters
    ----------
    folder, release : path
        What `equipoise evaluate` wrote, and the released folder that it is about.
    """
    evaluation = Evaluation.load(folder)
    certificate = evaluation.certificate
    require_about(certificate, Path(release))
    target = "" if evaluation.schema is None else evaluation.schema.target.name
    shown = record_of(certificate, target)
    return {
        "id": shown.evaluation_id,
        "made": shown.made,
        "certificate": shown.certificate_digest,
        "rows": shown.n_samples,
        "epsilon": shown.epsilon,
        "delta": shown.delta,
        "adjacency": shown.adjacency,
        "grade": shown.grade,
        "seeded": shown.seeded,
        "ledger": shown.ledger,
        "withdrawn": list(certificate.withdrawn()),
        "figures": [
            {"name": line.name, "meaning": line.meaning, **dataclasses.asdict(line.figure)} for line in shown.lines
        ],
        "by": shown.by or None,
        "groups": [
            {"name": name, "figures": {bars.title: dataclasses.asdict(bars.figures[place]) for bars in shown.bars}}
            for place, name in enumerate(shown.groups)
        ],
    }
