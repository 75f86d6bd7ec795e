"""One page of evidence: every claim of every study, published and measured, with its verdict.

`python -m handbook.evidence [--data FOLDER] [NAME ...]` runs the whole studies again, some 20 minutes of one core, and keeps
what they found in handbook/evidence/; docs/evidence.md is drawn from what is kept, with the date and the versions; --page
draws it alone. A quick grid leaves claims out, and is no evidence: nothing of it is kept.
"""

import argparse
import importlib
import json
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from equipoise import __version__

KEPT = Path(__file__).parent / "evidence"
PAGE = Path(__file__).parents[1] / "docs" / "evidence.md"
STUDIES = (
    "intrinsic-privacy",
    "nonsmooth-stability",
    "private-regression",
    "stability-enhanced-privacy",
    "dropout-stability",
)
# The erratum behind a claim that is corrected, or on which the paper contradicts itself: by how the claim's name begins, the
# longest beginning first.
ERRATA = {
    "intrinsic-privacy": {
        "table-1.experiments": "004-table-1-experiments",
        "table-3.mnist.bound": "004-table-3-passes",
        "table-3.forest.bound": "004-table-3-passes",
        "table-3.adult.bound": "004-table-3-passes",
        "table-3.mnist.epsilon.anisotropic": "004-directions",
        "table-3.forest.epsilon.anisotropic": "004-directions",
        "table-3.adult.epsilon.anisotropic": "004-directions",
        "table-3": "004-theorem-1",
        "table-4": "004-table-4-gains",
        "section-6e": "004-network",
        "setup.mnist": "004-mnist-rows",
        "algorithm-1.c": "004-algorithms",
    },
    "nonsmooth-stability": {
        "table-1": "001-lemma-3.1",
        "theorem-3.2.display": "001-theorem-3.2-display",
        "theorem-3.2": "001-theorem-3.2-failure",
        "theorem-4.1": "001-theorem-4.1",
        "theorem-5.1": "001-theorem-5.1",
    },
    "private-regression": {
        "figure-2.gap": "002-figure-2",
        "figure-4.gap": "002-figure-4",
        "algorithm-3": "002-section-5.2",
        "algorithm-4": "002-algorithm-4",
        "algorithm-5": "002-algorithm-5",
        "functional": "zhang",
    },
    "stability-enhanced-privacy": {
        "algorithm-1": "000-algorithm-1",
        "algorithm-2.delta": "000-algorithm-1",
        "algorithm-2.audit": "000-algorithm-1",
        "algorithm-2.epsilon": "000-section-6",
        "algorithm-2": "000-algorithm-2",
        "lemma-11": "000-lemma-11",
        "lemma-16.consequence": "000-lemma-16-consequence",
        "lemma-16": "000-lemma-16",
    },
    "dropout-stability": {
        "theorem-1.moment": "003-equation-3",
        "theorem-1.": "003-theorem-1",
        "theorem-15": "003-theorem-15",
        "theorem-17": "003-theorem-17",
        "theorem-7": "003-theorem-7",
        "algorithm-1": "003-algorithm-1",
        "appendix-b1": "003-appendix-b.1",
    },
}
VERDICTS = ("reproduced", "not reproduced", "corrected", "paper inconsistent")


def measure(name: str, data: Path | None) -> None:
    """Run one study on its full grid and keep its claims."""
    command = [sys.executable, "-c", "from equipoise.cli import main; main()", "reproduce", name, "--json"]
    study = importlib.import_module(f"equipoise_studies.{name.replace('-', '_')}.study").STUDY
    command += ["--data", str(data)] if data and study.datasets else []
    with tempfile.TemporaryDirectory() as folder:
        command += ["--out", str(Path(folder) / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    found = {
        "study": name,
        "grid": "full",
        "date": datetime.now(UTC).date().isoformat(),
        "version": __version__,
        "python": platform.python_version(),
        "claims": json.loads(done.stdout),
    }
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


def kept(name: str) -> dict[str, Any]:
    """Return what is kept of a study; a quick look is refused."""
    study: dict[str, Any] = json.loads((KEPT / f"{name}.json").read_text())
    if study["grid"] != "full":
        raise ValueError(f"{name}: evidence is of the full grid, not of the {study['grid']} one")
    return study


def page() -> str:
    """Return the page, in Markdown."""
    found = [kept(name) for name in STUDIES]
    lines = [
        "# Evidence",
        "",
        "Every number that the five papers claim and a study here measured again, with the verdict in the same size whatever it is.",
        "A verdict is a rule: *reproduced* where the measured number lies within a tolerance of the published one, a share of it that the study's code states; the interval stands beside it",
        "and rescues no number that lies outside, since a noisy measurement would otherwise reproduce anything (*none* where it is a point: arithmetic, or every run gave the same). *Corrected* and *paper inconsistent* are declared by hand, with the reason in the line:",
        "the published number follows from a mistake, or the paper contradicts itself. Links lead to the study's page, and from these two verdicts to the [erratum](errata.md) itself.",
        "All of it is measured on the full grid of each study: no claim that a study makes is left out. Run one yourself by `equipoise reproduce NAME` ([how](reproduce.md)); `--quick` takes fewer seeds and rows, leaves claims out, and is a look, not a verdict.",
        "",
        "| study | grid | date | " + " | ".join(VERDICTS) + " |",
        "|---|---|---|" + "---:|" * len(VERDICTS),
    ]
    for study in found:
        counts = [sum(claim["verdict"] == verdict for claim in study["claims"]) for verdict in VERDICTS]
        name = study["study"]
        lines.append(
            f"| [{name}]({name}.md) | {study['grid']} | {study['date']} | " + " | ".join(map(str, counts)) + " |"
        )
    for study in found:
        lines += _table(study)
    return "\n".join(lines) + "\n"


def _table(study: dict[str, Any]) -> list[str]:
    lines = [
        "",
        f"## {study['study']}",
        "",
        f"Version {study['version']}, Python {study['python']}, {study['grid']} grid.",
        "",
    ]
    lines += [
        "| claim | where | published | measured | interval | tolerance | verdict |",
        "|---|---|---:|---:|---|---:|---|",
    ]
    for claim in study["claims"]:
        words = claim["what"] or claim["id"]
        if claim["note"]:
            words += f" *({claim['note']})*"
        published, measured, low, high = (_number(claim[name]) for name in ("published", "measured", "low", "high"))
        ruled = claim["verdict"] in VERDICTS[:2]
        cells = (
            words.replace("|", "\\|"),
            f"[{claim['where']}]({study['study']}.md)",
            published,
            measured,
            "none" if claim["low"] == claim["high"] else f"{low} to {high}",
            f"{100 * claim['tolerance']:.3g} %" if ruled else "",
            claim["verdict"] if ruled else f"[{claim['verdict']}](errata.md#{erratum(study['study'], claim['id'])})",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def erratum(study: str, claim: str) -> str:
    """Return the mark of the erratum that a claim rests on; one that has none raises `KeyError`."""
    begun = [start for start in ERRATA[study] if claim.startswith(start)]
    if not begun:
        raise KeyError(f"{study}: no erratum for {claim}: name it in handbook/evidence.py")
    return ERRATA[study][max(begun, key=len)]


def _number(value: float) -> str:
    """Return a number as a reader wants it: counts whole, measurements to four digits."""
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.4g}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=STUDIES)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    for one in () if asked.page else asked.names:
        print(one, flush=True)
        measure(one, asked.data)
    PAGE.write_text(page())
