"""Power, disks, clocks, servers and processes that fail: spends lost, doubled or free: none.

The full counts are in the slow lane. Kills and races are in test_ledger_races.py.
"""

import os
import pwd
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import apsw
import pytest

import equipoise as eq
from crashing_disks import OPENING, RecordingDisk, captured, repeat, surviving
from equipoise.errors import LedgerError, LedgerUnreachable
from equipoise.ledger import chain, store
from equipoise.planning.issue import issue
from equipoise.planning.request import Request

pytest_plugins = ["postgres_server"]

SLOW = pytest.mark.statistics
PLAN = issue(Request("logistic", "l2", 0.1, eq.Domain(1.0, classes=(0, 1)), 0.0, 40, 2, eq.Budget(0.1)))


class Story:
    """A ledger that was created and spent from, and everything that SQLite asked of the disk for it."""

    def __init__(self, folder, spends: int, opening: str = OPENING) -> None:
        with captured() as statements:
            ledger = eq.Ledger(f"sqlite:///{folder}/real.db#trial")
            ledger.create(eq.Budget(100.0))
            for _ in range(spends):
                ledger.admit(PLAN)
        self.history, self.export = ledger.history(), ledger.export()
        self.statements = [(opening if text == OPENING else text, values) for text, values in statements]
        assert [text for text, _ in statements].count(OPENING) == 1 + spends
        disk = RecordingDisk(f"recording {secrets.token_hex(8)}")
        repeat(self.statements, folder / "ledger.db", disk)
        self.operations = disk.recorder.operations
        # What was repeated is what the store did.
        assert eq.Ledger(f"sqlite:///{folder}/ledger.db#trial").history() == self.history

    def after(self, end: int) -> int:
        """Return how many entries were acknowledged before the power failed."""
        return sum(operation == ("acknowledged",) for operation in self.operations[:end])


def reopened(files: dict[str, bytes], folder) -> eq.Ledger:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return eq.Ledger(f"sqlite:///{folder}/ledger.db#trial")


def found(ledger: eq.Ledger) -> tuple[chain.Entry, ...] | None:
    """Return the history that a ledger shows after a crash, () for none; None where it does not hold together."""
    try:
        entries = ledger.history()
    except LedgerError as error:
        return () if "no file" in str(error) or "a budget for" in str(error) else None
    return entries if ledger.verify() == () else None


def losses(story: Story, folder, seeds: int) -> tuple[int, int]:
    """Return how many crashes were tried, after every operation, and how many lost, doubled or broke something."""
    tried = lost = 0
    sources = [None, *(random.Random(secrets.randbits(64)) for _ in range(seeds))]  # noqa: S311  (sectors)
    for end in range(len(story.operations) + 1):
        for everything, source in [(True, None), *((False, source) for source in sources)]:
            files = surviving(story.operations[:end], source, everything)
            entries = found(reopened(files, folder / f"{end}-{tried}"))
            acknowledged = story.after(end)
            tried += 1
            # The one that was being written when the power failed may be there: it was not acknowledged, and is wasted.
            lost += entries not in (story.history[:acknowledged], story.history[: acknowledged + 1])
    return tried, lost


@pytest.mark.parametrize(("spends", "seeds"), [(2, 1), pytest.param(8, 12, marks=SLOW)])
def test_after_a_loss_of_power_every_acknowledged_spend_is_there_once(tmp_path, spends, seeds):
    tried, lost = losses(Story(tmp_path, spends), tmp_path, seeds)
    print(f"{tried} losses of power, {lost} lost, doubled or broken")
    assert tried > 100
    assert lost == 0


@pytest.mark.parametrize("level", ["OFF", "FULL"])
def test_with_a_weaker_promise_of_the_disk_spends_are_lost(tmp_path, level):
    """The simulation can fail: FULL does not sync the folder in which the journal was deleted."""
    _, lost = losses(Story(tmp_path, 1, f"PRAGMA synchronous = {level}"), tmp_path, 1)
    assert lost > 0


def test_a_disk_that_lies_about_fsync_can_lose_spends_and_an_export_shows_every_loss(tmp_path):
    """No file survives such a disk; what is kept elsewhere shows that something is missing."""
    story, harmless, noticed = Story(tmp_path, 1), 0, 0
    syncs = [place for place, operation in enumerate(story.operations) if operation[0] == "sync"]
    for place in syncs:
        # The power fails right after the spend was acknowledged.
        end = place + story.operations[place:].index(("acknowledged",)) + 1
        known = story.history[: story.after(end)]
        operations = [operation for other, operation in enumerate(story.operations[:end]) if other != place]
        ledger = reopened(surviving(operations, None), tmp_path / f"lie-{place}")
        try:
            departed = ledger.verify(chain.export("trial", known))
            harmless += not departed and ledger.history() == known
            noticed += bool(departed)
        except LedgerError:
            noticed += 1
    assert harmless + noticed == len(syncs)
    assert noticed > 0


@pytest.mark.parametrize(
    ("kind", "error"), [("write", apsw.FullError), ("write", apsw.IOError), ("sync", apsw.IOError)]
)
def test_a_disk_that_is_full_or_fails_admits_nothing_and_takes_nothing(tmp_path, kind, error):
    story = Story(tmp_path, 1)
    begun = [place for place, (text, _) in enumerate(story.statements) if text == OPENING][1]
    number = failed = 0
    while True:
        number += 1
        place = tmp_path / f"{kind}-{number}"
        place.mkdir()
        disk = RecordingDisk(f"failing {secrets.token_hex(8)}")
        repeat(story.statements[:begun], place / "ledger.db", disk)
        left = [number]

        def fail(asked: str, left: list[int] = left) -> None:
            left[0] -= asked == kind
            if asked == kind and left[0] == 0:
                raise error("planted")

        disk.recorder.fail = fail
        try:
            repeat(story.statements[begun:], place / "ledger.db", disk)
        except error:
            failed += 1
        ledger = eq.Ledger(f"sqlite:///{place}/ledger.db#trial")
        acknowledged = sum(operation == ("acknowledged",) for operation in disk.recorder.operations)
        assert len(ledger.history()) == acknowledged
        assert ledger.verify() == ()
        ledger.admit(PLAN)
        if left[0] > 0:
            break
    assert failed == number - 1 > 0


def until_refused(ledger: eq.Ledger) -> tuple[int, str]:
    """Spend until the ledger cannot be written; return how many spends were acknowledged, and the refusal."""
    admitted = 0
    while True:
        try:
            ledger.admit(PLAN)
        except LedgerUnreachable as error:
            return admitted, str(error)
        admitted += 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")
def test_on_a_real_disk_that_is_full_nothing_is_admitted_and_later_it_goes_on(tmp_path):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", tmp_path], check=False).returncode:  # noqa: S607
        pytest.skip("no mounts here")
    try:
        ledger = eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#trial")
        ledger.create(eq.Budget(100.0))
        admitted, refusal = until_refused(ledger)
        assert "full" in refusal
        assert len(ledger.history()) == 1 + admitted > 1
        assert ledger.verify() == ()
        subprocess.run(["mount", "-o", "remount,size=4m", tmp_path], check=True)  # noqa: S607
        ledger.admit(PLAN)
        assert ledger.balance().epsilon_left == 100 - Decimal(admitted + 1) / 10
    finally:
        subprocess.run(["umount", tmp_path], check=True)  # noqa: S607


def test_a_clock_that_jumps_back_changes_nothing_but_the_times(database, monkeypatch):
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(1.0))
    start = datetime(2026, 11, 17, tzinfo=UTC)
    for days in (0, -4000, 3, -1, 40_000):

        class Clock(datetime):
            @classmethod
            def now(cls, tz=None, *, moment=start + timedelta(days=days)):
                return moment

        monkeypatch.setattr(chain, "datetime", Clock)
        ledger.admit(PLAN)
    assert [entry.made[:4] for entry in ledger.history()[1:]] == ["2026", "2015", "2026", "2026", "2136"]
    assert ledger.verify() == ()
    assert ledger.balance().epsilon_left == Decimal("0.5")


# Holds the ledger's lock from the moment it says so until it is told to go on, and then spends.
HOLDER = """
import sys
import equipoise as eq
from equipoise.ledger.store import Store
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
plan = issue(Request("logistic", "l2", 0.1, eq.Domain(1.0, classes=(0, 1)), 0.0, 40, 2, eq.Budget(0.1)))
append = Store.append
def waiting(*arguments):
    print("holding", flush=True)
    sys.stdin.readline()
    append(*arguments)
Store.append = waiting
eq.Ledger(sys.argv[1]).admit(plan)
print("spent", flush=True)
"""


def test_a_stopped_process_that_holds_the_lock_delays_others_and_its_spend_counts_once(database, monkeypatch):
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(1.0))
    command = [sys.executable, "-c", HOLDER, f"{database.address}#trial"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "holding\n"
        holder.send_signal(signal.SIGSTOP)
        with monkeypatch.context() as hurried:
            hurried.setattr(store, "PATIENCE", 1)
            with pytest.raises(LedgerUnreachable, match="lock"):
                ledger.admit(PLAN)
        assert len(ledger.history()) == 1
        holder.send_signal(signal.SIGCONT)
        holder.stdin.write("\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == "spent\n"
    ledger.admit(PLAN)
    assert len(ledger.history()) == 3
    assert ledger.verify() == ()


@pytest.mark.parametrize(("restarts", "spenders"), [(1, 2), pytest.param(20, 8, marks=SLOW)])
def test_a_server_that_restarts_in_the_middle_loses_nothing(postgres, restarts, spenders):
    ledger = eq.Ledger(f"{postgres.address(postgres.new_database())}#trial")
    ledger.create(eq.Budget(1e6))
    admitted: list[str] = []
    doubted: list[str] = []
    done, progress = threading.Event(), threading.Semaphore(0)

    def spend() -> None:
        while not done.is_set():
            release = secrets.token_hex(16)
            try:
                ledger.admit(PLAN, release_id=release)
                admitted.append(release)
                progress.release()
            except LedgerUnreachable as error:
                if "may have been recorded" in str(error):
                    doubted.append(release)
                done.wait(0.05)

    threads = [threading.Thread(target=spend) for _ in range(spenders)]
    for thread in threads:
        thread.start()
    for _ in range(restarts):
        for _ in range(spenders):
            assert progress.acquire(timeout=60)
        postgres.crash()
        postgres.start()
    assert progress.acquire(timeout=60)
    done.set()
    for thread in threads:
        thread.join()
    recorded = [paid.release for paid in ledger.releases()]
    print(f"{restarts} restarts, {len(admitted)} spends, {len(doubted)} in doubt, of them recorded:", end=" ")
    print(len(set(recorded) - set(admitted)))
    assert len(set(recorded)) == len(recorded)
    assert set(admitted) <= set(recorded) <= {*admitted, *doubted}
    assert ledger.verify() == ()


@contextmanager
def another_user():
    """Act as somebody without rights to what root wrote."""
    nobody = pwd.getpwnam("nobody")
    group = os.getegid()
    os.setegid(nobody.pw_gid)
    os.seteuid(nobody.pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_reads_and_cannot_spend_and_after_a_crash_does_not_even_read(tmp_path):
    """A history that a journal would roll back is shown to nobody who cannot roll it back."""
    story = Story(tmp_path, 2)
    # The power failed in the middle of the second spend: the journal is on the disk, and so is half of the spend.
    half = [place for place, step in enumerate(story.operations) if step[:2] == ("sync", "ledger.db")][-1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        whole = reopened({"ledger.db": (tmp_path / "real.db").read_bytes()}, folder / "whole")
        crashed = reopened(surviving(story.operations[:half], None, everything=True), folder / "crashed")
        assert (folder / "crashed" / "ledger.db-journal").exists()
        with another_user():
            assert len(whole.history()) == 3
            assert whole.verify() == ()
            for act in (lambda: whole.admit(PLAN), crashed.history, crashed.verify, lambda: crashed.admit(PLAN)):
                with pytest.raises(LedgerUnreachable):
                    act()
        # Somebody who may write opens it once, and the spend that was not acknowledged is not there.
        assert len(crashed.history()) == 2
        assert crashed.verify() == ()
        assert whole.history() == story.history
