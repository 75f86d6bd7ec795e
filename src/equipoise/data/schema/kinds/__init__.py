"""Kinds of columns, one file each; members are discovered from this folder."""

from functools import partial
from typing import Any

from equipoise.data.schema.kinds.base import Column
from equipoise.data.schema.kinds.category import CategoryColumn
from equipoise.data.schema.kinds.identifier import REFUSAL
from equipoise.data.schema.text import Faults, place
from equipoise.vocabulary.discovery import discover

__all__ = ["Column", "members", "read_columns"]

# Kinds that take part in nothing: they are names, and have no facts.
UNUSED, IDENTIFIER = "unused", "identifier"


def members() -> dict[str, type[Column]]:
    """Return every kind of feature by its name.

    Examples
    --------
    >>> sorted(members())
    ['category', 'curve', 'date', 'hashed', 'number', 'ordered', 'yes-no']
    """
    return discover(__name__, Column, key="kind")


def read_columns(tables: object, faults: Faults) -> tuple[tuple[Column, ...], tuple[str, ...], tuple[str, ...]]:
    """Return what TOML tables describe: features, blank where they are at fault, unused columns, and identifiers."""
    columns: list[Column] = []
    others: dict[str, list[str]] = {UNUSED: [], IDENTIFIER: []}
    known = members()
    if not isinstance(tables, dict):
        faults.add("columns", "a table [columns.NAME] for each column", tables)
        tables = {}
    for name, table in tables.items():
        path = place("columns", name)
        if not isinstance(table, dict):
            faults.add(path, f"a table [{path}]", table)
            continue
        kind = table.get("kind")
        if not isinstance(kind, str) or kind not in (*known, *others):
            faults.add(f"{path}.kind", f"one of {', '.join(sorted([*known, *others]))}, in quotes", kind)
            continue
        if kind in others:
            if kind == IDENTIFIER and len(table) > 1:
                faults.found.append(f"{path}: {REFUSAL}; found the keys of a feature")
            elif faults.table(path, table, ("kind",)):
                others[kind].append(name)
            continue
        facts = faults.table(path, table, ("kind", *known[kind].keys))
        del facts["kind"]
        if (column := faults.attempt(partial(_made, known[kind], name, facts))) is not None:
            columns.append(column)
    # A column at fault is no reason to say that there is none.
    read = tuple(columns) or ((CategoryColumn("?"),) if faults.found else ())
    return read, tuple(others[UNUSED]), tuple(others[IDENTIFIER])


def _made(kind: Any, name: str, facts: dict[str, Any]) -> Column:
    column: Column = kind(name, **facts)
    return column
