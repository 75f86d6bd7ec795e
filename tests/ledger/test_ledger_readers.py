"""PostgreSQL and Python read the same lines: what the function takes, every client goes through without a fault."""

import json
import random
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

import psycopg

import equipoise as eq
from equipoise.ledger import records
from equipoise.ledger.chain import Entry
from equipoise.ledger.currencies import Amount, currency_named
from equipoise.ledger.currencies.base import require_countable
from equipoise.ledger.statements import paid_by
from equipoise.ledger.walk import Walk
from ledger_lines import MADE, Line, Lines, amount, written

pytest_plugins = ["postgres_server"]

# What a hostile client may write where an honest one writes something else. About half of each is refused.
EPSILONS = ["0.5", "5e-324", "9.999999999999999e-101", "1e-100", "1e-99", "1e+15", "1000000000000000.0", "1e+16"]
EPSILONS += ["1000000000000001.0", "123456789012345.6", "999999999999999.9", "-0.0", "1e-05", "0.00001", "0.0001"]
DELTAS = ["0.0", "-0.0", "5e-324", "1e-320", "1e-07", "0.9999999999999999", "1.0", "0.1", "1e-400"]
TIMES = [MADE, "0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00", "0000-01-01T00:00:00+00:00"]
TIMES += ["2024-02-29T00:00:00+00:00", "1900-02-29T00:00:00+00:00", "2026-11-17T10:00:60+00:00", f"{MADE}\n"]
NEIGHBOURS = ["replace-one", "replace-one-person", "foo", "", "replace-one\u0000", None, ["replace-one"], True]
COSTS = ["0.125", "1E-400", "1E-401", "0E-400", "1E-7", "0.0000001", f"1.{'1' * 390}E-10", f"1.{'1' * 391}E-10"]
COSTS += ["0." + "1" * 400, "0." + "1" * 401, "0.25", "0.250000", "1E+0", "0", "1E-30", "9.9E-31", "1E-60", "1E-61"]
COSTS += ["0." + "1" * 60, "0." + "1" * 61]
PARTS = [-0.0, 1e15, 1e16, 1e22, 5e-324, 123456789012345680.0, 10**29, 10**30, -7, True, None, "", "\u007f", "\uffff"]
PARTS += [
    "\U0001f600",
    "\ud800",
    "\u0000",
    {},
    [],
    {"a": {}, "cost": 1},
    {"x}": '},"cost":{'},
    {"\ue000": 1, "\U0001f600": 2},
]
PARTS += [json.loads("[" * depth + "]" * depth) for depth in (40, 47, 48, 49, 50, 60)]
RELEASES = ["release-3", "", " ", "x" * 200, "x" * 201, '"', "\\", "\u00e9", 3]


def altered(draw: random.Random, lines: Lines) -> Line:
    """Return the next spend or outcome, with one field or a few as a hostile client might write them."""
    if draw.random() < 0.1:
        return lines.outcome(2, draw.choice(["released", "failed", "lost"]), adjacency=draw.choice(NEIGHBOURS))
    told, fields = {}, {}
    for part in draw.sample(
        ["epsilon", "delta", "made", "neighbours", "cost", "software", "certificate", "release"], 2
    ):
        if part in ("epsilon", "delta", "made"):
            fields[part] = draw.choice({"epsilon": EPSILONS, "delta": DELTAS, "made": TIMES}[part])
        elif part == "neighbours":
            told["adjacency"] = draw.choice(NEIGHBOURS)
        elif part == "cost":
            first, second = draw.choice(COSTS), draw.choice(["0", "1E-400", "0E-7", "1E-9", "1E-60", "1E-61", "0E-60"])
            totals = exactly(lines.spent[0], first), exactly(lines.spent[1], second)
            told |= {"cost": amount(first, second), "spent": amount(*totals)}
        elif part == "release":
            told["release"] = draw.choice(RELEASES)
        else:
            told[part] = {draw.choice(["a", "cost", "b"]): draw.choice(PARTS), "c": draw.choice(PARTS)}
    honest = lines.spend("0.125")
    return replace(honest, record=written({**json.loads(honest.record), **told}), **fields)


def exactly(one: Decimal, other: str) -> Decimal:
    """Return a sum with all its digits."""
    return (Amount(one, Decimal(0)) + Amount(Decimal(other), Decimal(0))).amount


def test_what_the_function_takes_every_reader_goes_through(postgres):
    name, draw = postgres.new_database(), random.Random(21)  # noqa: S311
    eq.Ledger(f"{postgres.address(name)}#other").create(eq.Budget(1.0))
    taken = 0
    with postgres.connect(name) as connection:
        connection.execute("SET default_transaction_isolation = 'read committed'")
        for started in (0, 1):
            limit = currency_named("gaussian").limit(eq.Budget(3.0, 1e-6))
            lines = Lines(f"started-{started}", amount(limit.amount, limit.delta))
            lines.took(lines.budget())
            row = lines.entries[0].row()
            marks = ", ".join(f"%({key})s" for key in row)
            connection.execute(f"INSERT INTO entries ({', '.join(row)}) VALUES ({marks})", row)  # noqa: S608
            for _ in range(started):
                lines.took(lines.spend("0.125"))
                connection.execute("SELECT equipoise_append(%s)", [str(lines.entries[-1])])
            for _ in range(300):
                line = altered(draw, lines)
                try:
                    with connection.transaction(force_rollback=True):
                        connection.execute("SELECT equipoise_append(%s)", [str(line)])
                except psycopg.Error:
                    continue
                taken += 1
                entries = [Entry(**found.row()) for found in (*lines.entries, line)]
                walk = Walk()
                assert [fault for entry in entries for fault in (*walk.take(entry), *walk.end())] == [], line
                if line.kind == "spend":
                    require_countable(records.amount_of(json.loads(line.record)["cost"]))
                assert len(paid_by(entries)) == sum(entry.kind == "spend" for entry in entries)
                datetime.fromisoformat(line.made)
                assert written(json.loads(line.record)) == line.record
    assert taken > 60, taken
