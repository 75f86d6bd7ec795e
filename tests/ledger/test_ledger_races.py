"""Processes that race for the last epsilon, and processes that are killed: nothing lost, doubled or overspent.

The full counts are in the slow lane.
"""

import dataclasses
import json
import secrets
import subprocess
import sys
from collections import Counter
from decimal import Decimal

import pytest

import equipoise as eq
from equipoise.planning.issue import issue
from equipoise.planning.request import Request

pytest_plugins = ["postgres_server"]

SLOW = pytest.mark.statistics

# A program of its own, which imports everything once and then forks: its children are processes that cost nothing to
# start, so that they meet in the ledger and not on the way to it.
NURSERY = """
import dataclasses, json, os, random, signal, sys, time, traceback
import psycopg
import sqlalchemy.dialects.postgresql.psycopg, sqlalchemy.dialects.sqlite.pysqlite
import equipoise as eq
from equipoise.planning.issue import issue
from equipoise.planning.request import Request

# The library's own imports are lazy: what a child would load is loaded here.
eq.Ledger, eq.Budget, eq.errors.Overdraft
PLAN = issue(Request("logistic", "l2", 0.1, eq.Domain(1.0, classes=(0, 1)), 0.0, 40, 2, eq.Budget(0.1)))


def child(work, *arguments):
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        code = work(*arguments)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def racer(act, reference, ready, go):
    os.write(ready, b".")
    os.read(go, 1)
    try:
        if act == "create":
            eq.Ledger(reference).create(eq.Budget(1.0))
        else:
            eq.Ledger(reference).admit(PLAN)
    except (eq.errors.Overdraft, eq.errors.LedgerRefused):
        return 1
    return 0


def race(act, reference, racers):
    ready, ready_end = os.pipe()
    go, go_end = os.pipe()
    children = [child(racer, act, reference, ready_end, go) for _ in range(racers)]
    waiting = racers
    while waiting:
        waiting -= len(os.read(ready, waiting))
    os.write(go_end, b"." * racers)
    return [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in children]


def spender(reference, markers, name):
    ledger, number = eq.Ledger(reference), 0
    while True:
        spend = dataclasses.replace(PLAN, terms=dataclasses.replace(PLAN.terms, vouched=f"{name}-{number}"))
        number += 1
        try:
            ledger.admit(spend)
        except eq.errors.Overdraft:
            continue
        with open(markers, "a") as file:
            file.write(spend.terms.vouched + "\\n")
            file.flush()
            os.fsync(file.fileno())


def kill(address, datasets, markers, kills, seed):
    source = random.Random(seed)
    eq.Ledger(f"{address}#pace").create(eq.Budget(1.0))
    start = time.perf_counter()
    eq.Ledger(f"{address}#pace").admit(PLAN)
    pace = time.perf_counter() - start
    codes = []
    for pair in range(0, kills, 2):
        reference = f"{address}#{datasets[pair * len(datasets) // kills]}"
        children = [child(spender, reference, markers, f"{pair + side}") for side in (0, 1)]
        for process in children:
            time.sleep(source.uniform(0, 4 * pace))
            os.kill(process, signal.SIGKILL)
        # Where nobody got far enough to spend, the next ones live longer.
        pace *= 1 if os.path.getsize(markers) else 2
        codes += [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in children]
    return codes


def told(task, arguments):
    print(json.dumps({"race": race, "kill": kill}[task](*arguments)), flush=True)
    return 0


# Every task is a process, too: what it opens is not there when the next one forks.
for line in sys.stdin:
    os.waitpid(child(told, *json.loads(line)), 0)
    print(flush=True)
"""


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    """Return a function that runs a task in a program of its own and says how each of its processes ended."""
    complaints = tmp_path_factory.mktemp("nursery") / "complaints"
    with (
        complaints.open("w") as errors,
        subprocess.Popen(
            [sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as program,
    ):

        def run(task: str, *arguments: object) -> list[int]:
            program.stdin.write(json.dumps([task, arguments]) + "\n")
            program.stdin.flush()
            answer = program.stdout.readline()
            # A task that fails answers nothing, and the blank line after it comes first.
            assert answer.strip(), complaints.read_text()
            assert not program.stdout.readline().strip()
            assert not complaints.read_text()
            return json.loads(answer)

        yield run
        program.stdin.close()
    assert program.returncode == 0
    assert not complaints.read_text()


@pytest.mark.parametrize(
    ("racers", "winners"),
    [(8, 1), pytest.param(32, 1, marks=SLOW), pytest.param(32, 9, marks=SLOW)],
)
def test_of_processes_that_race_exactly_as_many_win_as_the_budget_holds(database, nursery, racers, winners):
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(winners / 10))
    endings = nursery("race", "admit", f"{database.address}#trial", racers)
    assert Counter(endings) == {0: winners, 1: racers - winners}
    assert len(ledger.history()) == 1 + winners
    assert ledger.balance().epsilon_left == 0
    assert ledger.verify() == ()


@pytest.mark.parametrize("racers", [8, pytest.param(32, marks=SLOW)])
def test_of_processes_that_race_to_create_a_ledger_exactly_one_gives_the_budget(database, nursery, racers):
    endings = nursery("race", "create", f"{database.address}#trial", racers)
    assert Counter(endings) == {0: 1, 1: racers - 1}
    assert len(eq.Ledger(f"{database.address}#trial").history()) == 1


PLAN = issue(Request("logistic", "l2", 0.1, eq.Domain(1.0, classes=(0, 1)), 0.0, 40, 2, eq.Budget(0.1)))


def digest_of(name: str) -> str:
    """Return the digest under which a spender's spend of this name is recorded."""
    return dataclasses.replace(PLAN, terms=dataclasses.replace(PLAN.terms, vouched=name)).planned_digest


# Few enough that some budgets run out while their spenders are being killed.
SPENDS_TO_A_KILL = 2


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=SLOW)])
def test_killed_at_random_points_nothing_is_lost_doubled_or_overspent(database, nursery, tmp_path, kills):
    datasets = [f"trial {number}" for number in range(max(1, kills // 20))]
    affordable = SPENDS_TO_A_KILL * kills // len(datasets)
    for dataset in datasets:
        eq.Ledger(f"{database.address}#{dataset}").create(eq.Budget(affordable / 10))
    markers = tmp_path / "markers"
    markers.touch()
    endings = nursery("kill", database.address, datasets, str(markers), kills, secrets.randbelow(2**32))
    assert endings == [-9] * kills
    marked = markers.read_text().splitlines()
    assert marked
    recorded = []
    for dataset in datasets:
        ledger = eq.Ledger(f"{database.address}#{dataset}")
        assert ledger.verify() == ()
        spends = ledger.history()[1:]
        assert ledger.balance().epsilon_left == Decimal(affordable - len(spends)) / 10 >= 0
        recorded += [spend.certificate for spend in spends]
    assert len(set(recorded)) == len(recorded)
    assert {digest_of(name) for name in marked} <= set(recorded)
    # A process dies once, so between recording and marking it can leave one spend unmarked at the most: its next one.
    marks = Counter(name.split("-")[0] for name in marked)
    possible = {digest_of(f"{process}-{marks[str(process)]}") for process in range(kills)}
    assert set(recorded) - {digest_of(name) for name in marked} <= possible
