"""The tables of docs/evaluation.md and docs/coefficients.md that are written from stored results.

`make bench-page` writes them, and `tests/test_benchmarks.py` compares both pages with what is written here.
"""

from math import sqrt
from typing import Any

from coefficients import CELLS, KINDS, kinds, plan_today, put_back
from prediction_sets import key_of
from stored import Record, Store
from study import OLDER, table_rows

from equipoise import __version__

LEVEL = 0.95
# A line is marked where fewer intervals hold than are meant to, by more standard errors than this: one of 40 by chance.
ERRORS = 2.0
# In the order in which they were asked for; results are stored as they were measured.
TABLES = ("Adult", "MNIST 3-vs-5", "Covertype 1-vs-2", "warfarin", "Covertype 7-class", "MNIST 10-class")


def sets(_: Any) -> str:
    """Return the table of prediction sets beside MAPIE's."""
    store, rows = Store("prediction-sets"), []
    for record in sorted(store.records, key=lambda one: (TABLES.index(one["name"]["data"]), one["name"]["epsilon"])):
        old = any(record["key"][part] != now for part, now in key_of(record["facts"]).items())
        held, empty, size, held_plain, size_plain = (
            f"{record[part]:.4f}" for part in ("held", "empty", "size", "held plain", "size plain")
        )
        named = [record["name"]["data"], f"{record['counted']:,}", f"{record['name']['epsilon']:g}"]
        ratio = f"{record['size'] / record['size plain']:.3f}"
        held += OLDER if old else ""
        rows.append([*named, f"{record['runs']:,}", held, empty, size, held_plain, size_plain, ratio])
    without = ["held without noise", "size without noise", "ratio"]
    header = ["table", "counted rows", "epsilon", "splits", "held", "empty", "size", *without]
    peers = sorted({", ".join(record["peer"]) for record in store.records})
    return f"{table_rows(header, rows)}\n\nWithout noise: {'; '.join(peers)}.\n\n{when(store)}"


def when(store: Store) -> str:
    """Return when, where and with what results were measured, runs of one day, machine and program in one line."""
    runs: dict[tuple[str, ...], list[Record]] = {}
    for number, session in enumerate(store.sessions):
        versions = ", ".join(f"{name} {version}" for name, version in session["packages"].items())
        where = session["date"], session["commit"], session["machine"], f"Python {session['python']}, {versions}"
        count = sum(record["session"] == number for record in store.records)
        runs.setdefault(where, []).append({"count": count, "load": session["load"]})
    rows = [
        [str(sum(run["count"] for run in found)), *where[:3], f"{max(run['load'] for run in found):g}", where[3]]
        for where, found in runs.items()
    ]
    return table_rows(["lines measured", "date", "commit", "machine", "load", "versions"], rows)


def held(record: Record) -> str:
    """Return how many intervals hold, marked where these are fewer than are meant to."""
    error = record["deviation"] / sqrt(record["runs"])
    said = f"{100 * record['mean']:.1f} % ± {100 * error:.1f}"
    return f"**{said}**" if is_below(record) else said


def is_below(record: Record) -> bool:
    """Whether fewer intervals hold than are meant to, beyond error."""
    return bool(record["mean"] + ERRORS * record["deviation"] / sqrt(record["runs"]) < LEVEL)


def is_told(record: Record) -> bool:
    """Whether there are worlds enough that were not refused for a standard error."""
    return bool(record["runs"] > 1)


def intervals(*labels: str) -> Any:
    """Return what writes the table of some populations."""

    def table(_: Any) -> str:
        found = {tuple(record["name"].values()): record for record in Store("coefficients").records}
        rows = []
        for name in labels:
            for place in CELLS[name]:
                rows += [line(found[name, *place, kind]) for kind in KINDS if (name, *place, kind) in found]
        head = ["labels"] if len(labels) > 1 else []
        head += ["n", "epsilon", "kind", "worlds", "hold", "width", "bias released", "bias left", "not told", "refused"]
        return table_rows(head, [row if len(labels) > 1 else row[1:] for row in rows])

    return table


def line(record: Record) -> list[str]:
    """Return a line of a table."""
    name, worlds = record["name"], record["runs"] + record["refused"]
    old = record["key"]["plan"] != plan_today(name) or record["key"]["version"] != __version__
    cells = [
        name["labels"],
        f"{name['n']:,}",
        f"{name['epsilon']:g}",
        name["kind"] + (OLDER if old else ""),
        str(worlds),
    ]
    refused = str(record["refused"])
    if not is_told(record):
        return [*cells, "-", "-", f"{record['released']:.2f}", "-", "-", refused]
    sizes = [f"{record[part]:.2f}" for part in ("width", "released", "left")]
    return [*cells, held(record), *sizes, f"{100 * record['untold']:.0f} %", refused]


def sums(_: Any) -> str:
    """Return how many intervals hold over all lines of a population and kind, and where these are too few."""
    records, rows = Store("coefficients").records, []
    for name in CELLS:
        row = [name]
        for kind in KINDS:
            alike = [
                one for one in records if (one["name"]["labels"], one["name"]["kind"]) == (name, kind) and is_told(one)
            ]
            runs = sum(one["runs"] for one in alike)
            mean = sum(one["mean"] * one["runs"] for one in alike) / runs if runs else 0.0
            # Lines are measured apart: the variances of their means add up.
            error = sqrt(sum(one["deviation"] ** 2 * one["runs"] for one in alike)) / runs if runs else 0.0
            row.append(f"{100 * mean:.1f} % ± {100 * error:.1f}" if runs else "not measured")
        rows.append(row)
    low = [one for one in records if is_told(one) and is_below(one)]
    places = [
        ", ".join(f"{part:,}" if isinstance(part, int) else str(part) for part in one["name"].values()) for one in low
    ]
    measured = sum(is_told(one) for one in records)
    said = f"Of {measured} lines {len(low)} hold less often than stated by more than {ERRORS:g} standard errors"
    said += f", bold above: {'; '.join(places)}." if low else "."
    asked = [(name, *place, kind) for name in CELLS for kind in kinds(name) for place in CELLS[name]]
    found = [tuple(record["name"].values()) for record in records]
    if left := [", ".join(map(str, one)) for one in asked if one not in found]:
        said += f" Not measured yet: {'; '.join(left)}."
    table = table_rows(["labels", "output", "objective", "noisy gradient"], rows)
    return f"{table}\n\n{said}\n\n{when(Store('coefficients'))}"


def limits(_: Any) -> str:
    """Return how far off the truth is that is put back with ever more rows and no noise, of labels by another model."""
    rows = []
    for kind in KINDS:
        off = put_back("another model", *CELLS["another model"][-1], kind, 40_000)
        rows.append([kind, *(f"{part:+.2f}" for part in off)])
    return table_rows(["kind", "x1", "x2", "x3", "x4", "intercept"], rows)


EVALUATION_TABLES = {"sets beside MAPIE": sets}
COEFFICIENT_TABLES = {
    "intervals of the model": intervals("the model"),
    "intervals of another model": intervals("another model"),
    "intervals of clipped rows": intervals("clipped rows"),
    "intervals of further populations": intervals(*list(CELLS)[3:]),
    "intervals together": sums,
    "what is put back of another model": limits,
}
