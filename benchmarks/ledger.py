"""What a spend costs at any age of a ledger, and a full verification of a long one: the evidence in docs/ledger.md.

python benchmarks/ledger.py [--entries 1000000] [--folder FOLDER] [--database URL]

Ledgers of 10 entries and of many are written, whose spends share a few certificates: SQLite files in a folder, or
datasets of an empty PostgreSQL database of the caller's. Admissions of both are timed in turns, so that a busy machine
slows both down alike, and their medians are compared.
"""

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import astuple, fields, replace

import psycopg
from rich.progress import track

import equipoise as eq
from equipoise.certify.certificate import Certificate
from equipoise.ledger import Entry, chain, records
from equipoise.ledger.currencies import currency_named
from equipoise.ledger.currencies.base import NOTHING
from equipoise.ledger.records import plain
from equipoise.planning.issue import issue
from equipoise.planning.request import Request

CERTIFICATES, SPEND, YOUNG, TURNS = 5, 0.001, 10, 41
# Names that are near each other are refused.
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def plans(dataset: str) -> list[Certificate]:
    """Return a few certificates about a dataset."""
    domain = eq.Domain(1.0, classes=(0, 1))
    request = Request("logistic", "l2", 0.1, domain, 0.0, 40, 2, eq.Budget(SPEND), ledger=dataset)
    return [issue(replace(request, public_seed=seed)) for seed in range(CERTIFICATES)]


def history(last: Entry, shared: list[Certificate], entries: int) -> Iterator[Entry]:
    """Return spends and their outcomes, in turns, as a ledger writes them; quicker than by admission."""
    basic, spent = currency_named("basic"), NOTHING
    shares = [(plan, plan.planned_digest, records.of_plan(plan), basic.price(plan.claim)) for plan in shared]
    for number in track(range(1, entries), description=f"{entries} entries"):
        plan, planned, recorded, cost = shares[number % CERTIFICATES]
        release = f"{(number - 1) | 1:032x}"
        if number % 2:
            spent += cost
            record = {"adjacency": plan.adjacency, "certificate": recorded, "cost": plain(cost)}
            record |= {"spent": plain(spent), "under": 1, "release": release, "software": {"equipoise": "0.2.0"}}
            amount, kind, digest = plan.claim.budget, "spend", planned
        else:
            record = {"of": number, "release": release, "outcome": "released", "adjacency": plan.adjacency}
            record |= {"spent": plain(spent), "under": 1}
            amount, kind, digest = None, "outcome", "0" * 64
        last = chain.following((last,), last.dataset, kind, amount, digest, records.canonical(record))
        yield last


def written(place: str, dataset: str, entries: int) -> tuple[eq.Ledger, Certificate]:
    """Return a ledger of so many entries, and a certificate that it may admit."""
    ledger, shared = eq.Ledger(f"{place}#{dataset}"), plans(dataset)
    ledger.create(eq.Budget(1e6), "basic")
    rows = map(astuple, history(ledger.history()[0], shared, entries))
    if place.startswith("sqlite:///"):
        with closing(sqlite3.connect(place.removeprefix("sqlite:///"))) as connection, connection:
            connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    else:
        names = ", ".join(field.name for field in fields(Entry))
        with psycopg.connect(place) as server, server.cursor().copy(f"COPY entries ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
    return ledger, shared[0]


def admission(ledger: eq.Ledger, plan: Certificate) -> float:
    """Return how long an admission takes."""
    start = time.perf_counter()
    ledger.admit(plan)
    return time.perf_counter() - start


def main() -> None:
    """Write both ledgers, time admissions and one verification, and print what docs/ledger.md quotes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", type=int, default=10**6)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--database", default=None, help="postgresql://..., empty")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        place = chosen.database or f"sqlite:///{folder}/old.db"
        old, large = written(place, "old", chosen.entries)
        times: dict[str, list[float]] = {"young": [], "old": []}
        for turn in range(TURNS):
            # Every turn has its own young ledger, so that it stays one of ten entries.
            place = chosen.database or f"sqlite:///{folder}/young-{turn}.db"
            young, small = written(place, f"young-{WORDS[turn // 10]}-{WORDS[turn % 10]}", YOUNG)
            times["young"].append(admission(young, small))
            times["old"].append(admission(old, large))
        medians = {name: statistics.median(found) for name, found in times.items()}
        print(f"admission at {YOUNG} entries: {1000 * medians['young']:.1f} ms")
        print(f"admission at {chosen.entries} entries: {1000 * medians['old']:.1f} ms")
        print(f"ratio: {medians['old'] / medians['young']:.2f}")
        start, cpu = time.perf_counter(), time.process_time()
        faults = old.verify()
        taken = f"{time.perf_counter() - start:.1f} s, of which {time.process_time() - cpu:.1f} s at work"
        print(f"verification of {old.head().number} entries: {taken}; {len(faults)} fault(s) {faults[:2]}")


if __name__ == "__main__":
    main()
