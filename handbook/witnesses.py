"""What the witnesses of the tests attain, drawn below the proof that they belong to."""

import html
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

# The tests that note what they attain: tests/witnesses.py.
TESTS = (
    "tests/contracts/test_theorems.py",
    "tests/certify/test_descent_theorems.py",
    "tests/evaluation/test_privacy.py",
    "tests/release/test_class_weights.py",
)
WORDS = "attain or reach or comes_within"
WIDTH, LINE = 560, 26


def found(root: Path, folder: Path) -> dict[str, list[dict[str, object]]]:
    """Run the tests that have witnesses; return, for each theorem, its bound and what was attained."""
    # What an earlier build kept would be drawn twice.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {**os.environ, "EQUIPOISE_WITNESSES": str(folder)}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not statistics", "-k", WORDS, *TESTS]
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)  # noqa: S603
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def drawn(theorem: str, witnesses: list[dict[str, object]]) -> str:
    """Return a section of Markdown with a bar a witness: how much of the bound a pair of tables attains."""
    tests = sorted({str(each["test"]).split("[")[0] for each in witnesses})
    bars, told = [], []
    for place, each in enumerate(witnesses):
        share = float(each["attained"]) / float(each["bound"])  # type: ignore[arg-type]
        top = 8 + place * LINE
        words = html.escape(str(each["what"]))
        bars.append(
            f'<rect x="290" y="{top}" width="200" height="16" fill="none" stroke="#46566b"/>'
            f'<rect x="290" y="{top}" width="{200 * min(share, 1):.1f}" height="16" fill="#3a6ea5"/>'
            f'<text x="282" y="{top + 13}" text-anchor="end">{words}</text><text x="498" y="{top + 13}">{100 * share:.2f} %</text>'
        )
        told.append(f"{words}: {100 * share:.2f} % of the bound")
    height = 16 + LINE * len(witnesses)
    style = "text{font:13px system-ui,sans-serif;fill:#1b2330}"
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" '
        f'aria-label="{"; ".join(told)}"><style>{style}</style><rect width="{WIDTH}" height="{height}" fill="#fff"/>{"".join(bars)}</svg>'
    )
    named = ", ".join(f"`{test}`" for test in tests)
    return f"\n## Witness\n\nHow much of the bound neighbouring tables attain, as {named} found it when this site was built.\n\n{picture}\n"
