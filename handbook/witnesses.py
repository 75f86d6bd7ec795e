"""What the witnesses of the tests attain, drawn below the proof that they belong to.

A test that asks for the fixture `witness` notes a bound and what is attained of it (tests/witnesses.py). The table of
docs/proofs/README.md says which pages have a picture; a build whose tests note anything else fails.
"""

import html
import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

# A line of the table: of what, the file of its test, the test, and its picture.
ROW = re.compile(r"^\| (\S+) \| `([\w/]+\.py)` \| `(test_\w+)` \| (.+?) \|$", re.MULTILINE)
DRAWN = "drawn"
WIDTH, LINE = 560, 26
# Of a curve: the frame, and one colour a line, each dark enough on white.
LEFT, RIGHT, TOP, TALL = 64, 540, 14, 220
COLOURS = ("#1f5fa8", "#a8461f", "#1f7a4d", "#7a3fa0", "#8a6d00", "#b0185c", "#37474f")

Witnesses = list[dict[str, Any]]


def listed(catalogue: str) -> dict[str, str]:
    """Return what the catalogue says of the picture of each statement: drawn, on another's page, or why there is none."""
    return {name: picture for name, _, _, picture in ROW.findall(catalogue)}


def found(root: Path, folder: Path) -> dict[str, Witnesses]:
    """Run the tests that have witnesses; return, for each theorem, its bounds and what was attained."""
    # What an earlier build kept would be drawn twice.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = [path for path in sorted((root / "tests").rglob("test_*.py")) if "    witness(" in path.read_text()]
    environment = {**os.environ, "EQUIPOISE_WITNESSES": str(folder)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not statistics", *map(str, files)]
    done = subprocess.run(command, cwd=root, env=environment, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"the tests that have witnesses\n{done.stdout[-3000:]}")
    attained = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    compare(set(attained), (root / "docs" / "proofs" / "README.md").read_text())
    return attained


def compare(noted: set[str], catalogue: str) -> None:
    """Refuse what is noted and not listed as drawn, and what is listed and was not noted."""
    told = {name for name, picture in listed(catalogue).items() if picture == DRAWN}
    if noted != told:
        raise ValueError(f"docs/proofs/README.md, Witnesses: {', '.join(sorted(noted ^ told))} noted or listed alone")


def drawn(witnesses: Witnesses) -> str:
    """Return a section of Markdown: a bar a witness, and a chart of those that are points of curves."""
    tests = sorted({str(each["test"]).split("[")[0] for each in witnesses})
    bars: dict[str, float] = {}
    curves: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    for each in witnesses:
        bound, attained = each["bound"], each["attained"]
        if each.get("over"):
            along, place = each["over"]
            curves.setdefault(along, {}).setdefault(each["what"], []).append((place, bound, attained))
        else:
            # Where runs of one name differ, the least of them is told.
            bars[each["what"]] = min(bars.get(each["what"], math.inf), attained / bound)
    pictures = ([_bars(bars)] if bars else []) + [_chart(along, lines) for along, lines in curves.items()]
    named = ", ".join(f"`{test}`" for test in tests)
    told = f"How much of the bound is attained, as {named} found it when this site was built."
    if curves:
        told += " Of a curve the line is the bound, and the dots are what is attained."
    return "\n".join(["", "## Witness", "", told, "", *(f"{picture}\n" for picture in pictures)])


def _svg(inside: str, width: float, height: float, told: str) -> str:
    style = "text{font:13px system-ui,sans-serif;fill:#1b2330}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" '
        f'aria-label="{html.escape(told)}"><style>{style}</style><rect width="{width:g}" height="{height:g}" fill="#fff"/>{inside}</svg>'
    )


def _bars(shares: dict[str, float]) -> str:
    # Letters of 13 pixels are some 7 wide.
    left, lines = 20 + 7 * max(map(len, shares)), []
    for place, (what, share) in enumerate(shares.items()):
        top = 8 + place * LINE
        lines.append(
            f'<rect x="{left}" y="{top}" width="200" height="16" fill="none" stroke="#46566b"/>'
            f'<rect x="{left}" y="{top}" width="{200 * min(share, 1):.1f}" height="16" fill="#3a6ea5"/>'
            f'<text x="{left - 8}" y="{top + 13}" text-anchor="end">{html.escape(what)}</text><text x="{left + 208}" y="{top + 13}">{100 * share:.2f} %</text>'
        )
    told = "; ".join(f"{what}: {100 * share:.2f} % of the bound" for what, share in shares.items())
    return _svg("".join(lines), left + 274, 16 + LINE * len(shares), told)


def _chart(along: str, lines: dict[str, list[tuple[float, float, float]]]) -> str:
    points = [point for line in lines.values() for point in line]
    least, most = min(point[0] for point in points), max(point[0] for point in points)
    tallest = max(max(point[1:]) for point in points)
    # Over many sizes of a positive number its logarithm shows them all.
    by_size = least > 0 and most / least > 100

    def across(place: float) -> float:
        share = math.log(place / least) / math.log(most / least) if by_size else (place - least) / (most - least)
        return LEFT + share * (RIGHT - LEFT)

    def up(value: float) -> float:
        return TOP + TALL * (1 - value / tallest)

    frame = f'<path d="M{LEFT} {TOP}V{TOP + TALL}H{RIGHT}" fill="none" stroke="#46566b"/>'
    foot = TOP + TALL + 18
    texts = [
        f'<text x="{LEFT}" y="{foot}" text-anchor="middle">{least:.3g}</text>',
        f'<text x="{RIGHT}" y="{foot}" text-anchor="middle">{most:.3g}</text>',
        f'<text x="{(LEFT + RIGHT) / 2}" y="{foot}" text-anchor="middle">{html.escape(along)}{", by its logarithm" if by_size else ""}</text>',
        f'<text x="{LEFT - 8}" y="{TOP + 10}" text-anchor="end">{tallest:.3g}</text>',
        f'<text x="{LEFT - 8}" y="{TOP + TALL}" text-anchor="end">0</text>',
    ]
    drawn_lines, told = [], []
    for place, (what, line) in enumerate(lines.items()):
        colour = COLOURS[place % len(COLOURS)]
        ordered = sorted(line)
        corners = " ".join(f"{across(at):.1f},{up(bound):.1f}" for at, bound, _ in ordered)
        dots = "".join(f'<circle cx="{across(at):.1f}" cy="{up(seen):.1f}" r="3.4"/>' for at, _, seen in ordered)
        top = foot + 24 + place * 20
        drawn_lines.append(
            f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="1.6"/><g fill="{colour}">{dots}</g>'
            f'<path d="M{LEFT} {top - 4}h26" stroke="{colour}" stroke-width="1.6"/><circle cx="{LEFT + 13}" cy="{top - 4}" r="3.4" fill="{colour}"/>'
            f'<text x="{LEFT + 36}" y="{top}">{html.escape(what)}</text>'
        )
        shares = [seen / bound for _, bound, seen in ordered if bound > 0]
        told.append(f"{what} at {len(ordered)} places: {100 * min(shares):.2f} % of the bound or more")
    height = foot + 24 + 20 * len(lines)
    return _svg(frame + "".join(texts + drawn_lines), WIDTH, height, f"{along}: " + "; ".join(told))
