"""What proof pages are pinned to: the code that each of them proves, by a digest of it.

A page ends with a line for every class, function or constant that it is about::

    - Pinned: `certify.theorems.minimisers.GradientDiameter` 0f3a9c1b2d4e

The digest is that of the code without docstrings, comments and white space. Where it changes, a test fails until
somebody has looked at the page again and says so: ``python tests/proof_pins.py A2`` writes the digests of today.
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
    node, lines = tree_of(path)
    found: ast.AST = node
    for name in names:
        found = next((child for child in getattr(found, "body", ()) if name in _names(child)), None)
        if found is None:
            raise LookupError(f"{'.'.join(names)} is not in {path.relative_to(ROOT)}")
    prose = {
        line
        for entry in ast.walk(found)
        if isinstance(entry, ast.Expr) and isinstance(entry.value, ast.Constant) and isinstance(entry.value.value, str)
        for line in range(entry.lineno, entry.end_lineno + 1)
    }
    first = min([found.lineno, *(decorator.lineno for decorator in getattr(found, "decorator_list", ()))])
    kept = (lines[number - 1] for number in range(first, found.end_lineno + 1) if number not in prose)
    code = "".join(re.sub(r"\s+", "", line) for line in kept if not line.strip().startswith("#"))
    return hashlib.sha256(code.encode()).hexdigest()[:12]


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
