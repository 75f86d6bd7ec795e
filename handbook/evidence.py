"""One page of evidence: every claim of every study, published and measured, with its verdict.

`python -m handbook.evidence [--data FOLDER] [--full] [NAME ...]` runs the studies again and keeps what they found in
handbook/evidence/; docs/evidence.md is drawn from what is kept, with the date and the versions; --page draws it alone.
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
VERDICTS = ("reproduced", "not reproduced", "corrected", "paper inconsistent")


def measure(name: str, data: Path | None, *, full: bool) -> None:
    """Run one study and keep its claims."""
    command = [sys.executable, "-c", "from equipoise.cli import main; main()", "reproduce", name, "--json"]
    command += [] if full else ["--quick"]
    study = importlib.import_module(f"equipoise_studies.{name.replace('-', '_')}.study").STUDY
    command += ["--data", str(data)] if data and study.datasets else []
    with tempfile.TemporaryDirectory() as folder:
        command += ["--out", str(Path(folder) / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    kept = {
        "study": name,
        "grid": "full" if full else "quick",
        "date": datetime.now(UTC).date().isoformat(),
        "version": __version__,
        "python": platform.python_version(),
        "claims": json.loads(done.stdout),
    }
    KEPT.mkdir(exist_ok=True)
    (KEPT / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n")


def page() -> str:
    """Return the page, in Markdown."""
    found = [json.loads((KEPT / f"{name}.json").read_text()) for name in STUDIES if (KEPT / f"{name}.json").exists()]
    lines = [
        "# Evidence",
        "",
        "Every number that the five papers claim and a study here measured again, with the verdict in the same size whatever it is.",
        "A verdict is a rule: *reproduced* where the measured number lies within a tolerance of the published one, a share of it that the study's code states; the interval stands beside it",
        "and rescues no number that lies outside, since a noisy measurement would otherwise reproduce anything (*none* where it is a point: arithmetic, or every run gave the same). *Corrected* and *paper inconsistent* are declared by hand, with the reason in the line:",
        "the published number follows from a mistake, or the paper contradicts itself. Links lead to the study's page and to the list of [errata](errata.md).",
        "Run a study yourself by `equipoise reproduce NAME` ([how](reproduce.md)); a quick grid takes fewer seeds and rows than the full one.",
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
            claim["verdict"] if ruled else f"[{claim['verdict']}](errata.md)",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _number(value: float) -> str:
    """Return a number as a reader wants it: counts whole, measurements to four digits."""
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.4g}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=STUDIES)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    for one in () if asked.page else asked.names:
        print(one, flush=True)
        measure(one, asked.data, full=asked.full)
    PAGE.write_text(page())
