"""The claim of an evaluation in a folder that is sealed anew, as a forger would: what is left refuses or draws it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from equipoise.artifact import page_file
from equipoise.certify.certificate import Certificate, Release, Terms
from equipoise.certify.claims import Claim
from equipoise.certify.claims.evaluation import Cells
from equipoise.certify.folder import CERTIFICATE, MANIFEST, PAGE, REPORT, manifest_of
from equipoise.certify.record import parse, to_plain
from equipoise.certify.record import read as read_value
from equipoise.errors import CertificateUnreadable
from equipoise.evaluation.evaluation import Evaluation
from equipoise.evaluation.page import record_of
from equipoise.planning.evaluation import EvaluationRequest, issue_evaluation
from equipoise.report.evaluation_page import evaluation_page
from equipoise.vocabulary.facts import Budget
from fuzz.mutation import json_values
from fuzz.written import folder

# Figures take a tenth of a second.
SHARE = 0.01

mutate = json_values

CELLS = (
    Cells((0.5,), ("no", "yes")),
    Cells((0.6,), (0, 1, 2), groups=("f", "m"), by="sex"),
    Cells((0.0,), predictions=(1.0,), range=(0.0, 2.0)),
)
MADE = Release("0" * 32, "2026-11-17T10:00:00+00:00", ())
FACTS = page_file.written(page_file.PageFacts((("equipoise", "0.2.0"), ("vl-convert-python", "1.7.0"))))


def _released(cells: Cells) -> Certificate:
    plan = issue_evaluation(EvaluationRequest(Terms(100, 3), Budget(1.0), "1" * 32, "2" * 64, cells))
    size = int(np.prod(cells.shape))
    return plan.with_release(replace(plan.claim, released=tuple(range(size))), MADE)  # type: ignore[call-arg]


def examples() -> list[bytes]:
    """Return claims about two classes, several classes by group, and numbers."""
    return [json.dumps(to_plain(_released(cells).claim)).encode() for cells in CELLS]


SHELL = _released(CELLS[0])


def read(data: bytes) -> None:
    """Write the folder and open it; draw what opens."""
    try:
        claim = read_value(Claim, parse(data.decode("utf-8", "replace")), "claim")
    except RecursionError:
        raise CertificateUnreadable("a tree", "a deep one", "none") from None
    sealed = replace(SHELL, terms=replace(SHELL.terms, n_samples=claim.n_samples)).with_release(claim, MADE)
    files = {CERTIFICATE: sealed.to_json(), REPORT: "<p>", PAGE: FACTS}
    files[MANIFEST] = manifest_of({name: text.encode() for name, text in files.items()})
    at = Path(folder()) / "evaluation"
    shutil.rmtree(at, ignore_errors=True)
    at.mkdir()
    for name, text in files.items():
        (at / name).write_text(text)
    evaluation_page(record_of(Evaluation.load(at).certificate))
