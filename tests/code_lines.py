"""What a file of Python holds: its syntax, and how many of its lines are code."""

import ast
import functools
from pathlib import Path


@functools.cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Return the syntax of a file, which several tests look at."""
    return list(ast.walk(ast.parse(path.read_text())))


def lines_of_code(path: Path) -> int:
    """Count the lines that hold code: neither blank nor comment nor docstring."""
    prose = {
        line
        for node in nodes_of(path)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    lines = enumerate(path.read_text().splitlines(), start=1)
    return sum(1 for number, line in lines if line.strip() and not line.strip().startswith("#") and number not in prose)
