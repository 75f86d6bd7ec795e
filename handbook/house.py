"""The house, drawn from the import graph: rooms, doors between them, and how much code stands in each.

`python -m handbook.house` (`make house`) draws docs/house.svg again; a test draws it and compares.
"""

import ast
import html
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "house.svg"
# From the street to the cellar, the one direction of flow. A room that is not named here fails the drawing.
FLOORS = (
    ("cli", "example", "demonstration", "saving"),
    ("evaluation", "report", "lab"),
    ("artifact",),
    ("estimators",),
    ("release",),
    ("planning", "noise", "ledger", "data", "solve"),
    ("certify", "rigorous", "keys"),
    ("vocabulary",),
    ("errors", "wording", "kept_loops"),
)
QUESTIONS = {
    "cli": "commands",
    "example": "made-up people to try",
    "demonstration": "the first minute",
    "saving": "folder and attack meet",
    "evaluation": "how good is it?",
    "report": "pictures",
    "lab": "measures, never claims",
    "artifact": "what leaves the building",
    "estimators": "what users call",
    "release": "the door",
    "planning": "which claim to make?",
    "noise": "where noise comes from",
    "ledger": "who may spend?",
    "data": "where rows come from",
    "solve": "which weights minimise?",
    "certify": "is this claim true?",
    "rigorous": "the same, in balls",
    "keys": "who says so?",
    "vocabulary": "what are we talking about?",
    "errors": "what to do about it",
    "wording": "numbers for people",
    "kept_loops": "compiled, and kept",
}
# These see rows; the door is the one place where rows, noise and a certificate meet.
SEE_ROWS = frozenset({"data", "solve", "release", "lab", "estimators", "evaluation"})
BASE = frozenset({"certify", "vocabulary"})
WIDTH, HEIGHT, ROOM, TALL = 1080, 860, 178, 62


@dataclass(frozen=True, slots=True)
class House:
    """Rooms with their lines of code, in hundreds, and the doors between them."""

    sizes: dict[str, int]
    doors: frozenset[tuple[str, str]]


def house() -> House:
    """Return the house as the code has it: what imports what when it is used, types left out."""
    graph = grimp.build_graph("equipoise", exclude_type_checking_imports=True)
    doors = set()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            one, other = _room(importer), _room(imported)
            if one and other and one != other:
                doors.add((one, other))
    sizes: dict[str, int] = defaultdict(int)
    source = ROOT / "src" / "equipoise"
    for path in source.rglob("*.py"):
        room = _room("equipoise." + ".".join(path.relative_to(source).with_suffix("").parts))
        if room:
            sizes[room] += _lines(path)
    return House({room: round(lines / 100) for room, lines in sorted(sizes.items())}, frozenset(doors))


def _room(module: str) -> str | None:
    parts = module.split(".")
    if len(parts) < 2 or parts[1] in ("__init__", "py"):
        return None
    return parts[1]


def _lines(path: Path) -> int:
    """Return how many lines of a file hold code: no blank, no comment, no docstring."""
    text = path.read_text()
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            first = node.body[0]
            prose |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return sum(
        1
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.strip().startswith("#") and number not in prose
    )


def _size(hundreds: int) -> str:
    return f"{hundreds * 100:,} lines" if hundreds else "at most 50 lines"


def drawn(found: House) -> str:
    """Return the house as a picture with a text for those who do not see it."""
    named = {room for floor in FLOORS for room in floor}
    if missing := set(found.sizes) - named:
        raise ValueError(f"no floor for {', '.join(sorted(missing))}: name it in handbook/house.py")
    places = {}
    step = (HEIGHT - 60) / len(FLOORS)
    for level, floor in enumerate(FLOORS):
        for place, room in enumerate(floor):
            places[room] = (WIDTH / 2 + (place - (len(floor) - 1) / 2) * (ROOM + 26), 60 + level * step + TALL / 2)
    lines = []
    for one, other in sorted(found.doors):
        (x, y), (u, v) = places[one], places[other]
        if v > y:
            lines.append(
                f'<path d="M{x:.0f} {y + TALL / 2:.0f} C{x:.0f} {(y + v) / 2:.0f} {u:.0f} {(y + v) / 2:.0f} {u:.0f} {v - TALL / 2:.0f}"/>'
            )
        else:
            lines.append(
                f'<path class="side" d="M{x:.0f} {y:.0f} C{x:.0f} {y - 54:.0f} {u:.0f} {v - 54:.0f} {u:.0f} {v:.0f}"/>'
            )
    rooms = []
    for room, (x, y) in places.items():
        kind = "base" if room in BASE else "rows" if room in SEE_ROWS else "plain"
        rooms.append(
            f'<g class="{kind}"><rect x="{x - ROOM / 2:.0f}" y="{y - TALL / 2:.0f}" width="{ROOM}" height="{TALL}" rx="7"/>'
            f'<text class="name" x="{x:.0f}" y="{y - 12:.0f}">{room}</text>'
            f'<text x="{x:.0f}" y="{y + 5:.0f}">{html.escape(QUESTIONS[room])}</text>'
            f'<text x="{x:.0f}" y="{y + 21:.0f}">{_size(found.sizes[room])}</text></g>'
        )
    told = "; ".join(
        f"{room} ({_size(found.sizes[room])}) uses {', '.join(sorted(other for one, other in found.doors if one == room)) or 'nothing'}"
        for floor in FLOORS
        for room in floor
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="house-title house-text">
<title id="house-title">The rooms of Equipoise and the doors between them</title>
<desc id="house-text">{html.escape(told)}.</desc>
<style>
text {{ font: 12px system-ui, sans-serif; text-anchor: middle; fill: #1b2330 }} .name {{ font-weight: 700; font-size: 15px }}
rect {{ stroke: #46566b; stroke-width: 1.2 }} .plain rect {{ fill: #f2f4f7 }} .rows rect {{ fill: #fde9d0 }} .base rect {{ fill: #d7eadb }}
path {{ fill: none; stroke: #6b7a90; stroke-width: 1; opacity: .45 }} .side {{ stroke-dasharray: 4 3 }}
.sheet {{ fill: #ffffff; stroke: none }}
</style>
<rect class="sheet" width="{WIDTH}" height="{HEIGHT}"/>
<text x="{WIDTH / 2}" y="24">orange: sees rows · green: the trusted base, which a check rests on · lines of code, rounded to hundreds · a line is an import, from above to below</text>
{chr(10).join(lines)}
{chr(10).join(rooms)}
</svg>
"""


if __name__ == "__main__":
    PICTURE.write_text(drawn(house()))
    print(PICTURE.relative_to(ROOT))
