"""What proof pages are pinned to: the code that each of them proves, by a digest of it.

A page ends with a line for every class, function or constant that it is about::

    - Pinned: `certify.theorems.minimisers.GradientDiameter` 0f3a9c1b2d4e

The digest is that of the code without docstrings, comments and white space, with the functions and constants of its
file and the constants of other files that it reads. Where it changes, a test fails until somebody has looked at the
page again and says so: ``python tests/proof_pins.py A2`` writes the digests of today.
"""

import ast
import functools
import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROOFS = ROOT / "docs" / "proofs"
SOURCES = (ROOT / "src" / "equipoise", ROOT / "studies" / "src" / "equipoise_studies")
PIN = re.compile(r"^- Pinned: `([A-Za-z0-9_.]+)`(?: ([0-9a-f]{12}|new))?$", flags=re.MULTILINE)


@functools.cache
def tree_of(path: Path) -> tuple[ast.Module, tuple[str, ...]]:
    """Return the syntax of a file and its lines."""
    text = path.read_text(encoding="utf-8")
    return ast.parse(text), tuple(text.splitlines())


def digest_of(name: str) -> str:
    """Return the digest of the code that a dotted name stands for, counted from the package."""
    parts = name.split(".")
    for source in SOURCES:
        for length in range(len(parts) - 1, 0, -1):
            file = source.joinpath(*parts[:length])
            for path in (file.with_suffix(".py"), file / "__init__.py"):
                if path.is_file():
                    return _digest(path, parts[length:])
    raise LookupError(f"no module of {name}")


def _digest(path: Path, names: list[str]) -> str:
    found: ast.AST = tree_of(path)[0]
    for name in names:
        found = next((child for child in getattr(found, "body", ()) if name in _names(child)), None)
        if found is None:
            raise LookupError(f"{'.'.join(names)} is not in {path.relative_to(ROOT)}")
    code = [_code(path, found), *sorted(_code(*read) for read in _read(path, found))]
    return hashlib.sha256("".join(code).encode()).hexdigest()[:12]


def _code(path: Path, node: ast.AST) -> str:
    """Return the code of a node without docstrings, comments and white space."""
    lines = tree_of(path)[1]
    prose = {
        line
        for entry in ast.walk(node)
        if isinstance(entry, ast.Expr) and isinstance(entry.value, ast.Constant) and isinstance(entry.value.value, str)
        for line in range(entry.lineno, entry.end_lineno + 1)
    }
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    kept = (lines[number - 1] for number in range(first, node.end_lineno + 1) if number not in prose)
    return "".join(re.sub(r"\s+", "", line) for line in kept if not line.strip().startswith("#"))


def _read(path: Path, node: ast.AST) -> set[tuple[Path, ast.AST]]:
    """Return what code reads: functions and constants of its file, on and on, and constants that it imports."""
    body, found, waiting = tree_of(path)[0].body, set(), [node]
    while waiting:
        names = {entry.id for entry in ast.walk(waiting.pop()) if isinstance(entry, ast.Name)}
        for child in body:
            if isinstance(child, ast.ImportFrom) and child.level:
                constants = {alias.name for alias in child.names if alias.name.isupper() and alias.name in names}
                found |= {(file, each) for file in _imported(path, child) for each in _assigned(file, constants)}
            own = isinstance(child, ast.FunctionDef | ast.Assign) and child is not node
            if own and _names(child) & names and (path, child) not in found:
                found.add((path, child))
                waiting.append(child)
    return found


def _imported(path: Path, statement: ast.ImportFrom) -> list[Path]:
    """Return the file that a relative import names, if it is one."""
    folder = path.parents[statement.level - 1].joinpath(*(statement.module or "").split("."))
    return [file for file in (folder.with_suffix(".py"), folder / "__init__.py") if file.is_file()][:1]


def _assigned(path: Path, constants: set[str]) -> list[ast.AST]:
    return [child for child in tree_of(path)[0].body if isinstance(child, ast.Assign) and _names(child) & constants]


def _names(node: ast.AST) -> set[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return set()


def pins_of(page: Path) -> list[tuple[str, str]]:
    """Return what a page is pinned to, with the digests that it states."""
    return PIN.findall(page.read_text(encoding="utf-8"))


def pin(page: Path) -> None:
    """Write today's digests into a page: whoever does that has looked at it again."""
    text = page.read_text(encoding="utf-8")
    page.write_text(PIN.sub(lambda found: f"- Pinned: `{found[1]}` {digest_of(found[1])}", text), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        pin(PROOFS / f"{name}.md")
