"""The file that keeps rows while a fit runs: every row in one slot, chosen by its place alone, and nothing is left."""

import os
import signal
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from equipoise.data import scratch
from equipoise.data.engines import piles as module
from equipoise.data.engines.piles import Piles, bytes_needed, require_piles
from equipoise.data.scratch import VARIABLE
from equipoise.errors import InvalidParameter
from equipoise.vocabulary.constants import BLOCK_ROWS

ROWS, COLUMNS = 2 * BLOCK_ROWS + 300, 3


@pytest.fixture(autouse=True)
def small_piles(monkeypatch, tmp_path):
    """Piles of about a thousand rows, and fewer that wait."""
    monkeypatch.setattr(module, "PILE_BYTES", 1000 * (8 * (COLUMNS + 1) + module.BYTES_BESIDES))
    monkeypatch.setattr(module, "WAITING_BYTES", 300 * (8 * (COLUMNS + 1) + module.BYTES_BESIDES))
    monkeypatch.setattr(module, "WINDOW_BYTES", 40 * 8 * COLUMNS)
    monkeypatch.setenv(VARIABLE, str(tmp_path))


def table(changed: int | None = None):
    rows = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    if changed is not None:
        rows[changed] = 9.0
    return rows, np.arange(ROWS, dtype=np.float64)


def filled(rows, targets, seed=0, length=BLOCK_ROWS):
    piles = Piles(len(rows), rows.shape[1], seed)
    for first in range(0, len(rows), BLOCK_ROWS):
        for begin in range(first, min(first + BLOCK_ROWS, len(rows)), length):
            end = min(begin + length, first + BLOCK_ROWS, len(rows))
            piles.add(begin, rows[begin:end], targets[begin:end])
    piles.finish()
    return piles


def each_pile(piles):
    for number, size in enumerate(piles.sizes):
        rows, targets = np.empty((size, piles.columns)), np.empty(size)
        assert piles.read_pile(number, rows, targets) == size
        yield rows, targets


def whole(piles):
    found = list(each_pile(piles))
    return np.concatenate([rows for rows, _ in found]), np.concatenate([targets for _, targets in found])


def test_every_row_lies_in_one_slot_with_its_target():
    rows, targets = table()
    with filled(rows, targets) as piles:
        found, places = whole(piles)
        assert len(piles.sizes) == 9
        assert sorted(places) == list(range(ROWS))
        assert found.tobytes() == rows[places.astype(int)].tobytes()


def test_how_rows_come_in_pieces_changes_no_bit():
    with filled(*table()) as first, filled(*table(), length=77) as second:
        assert [part.tobytes() for part in whole(first)] == [part.tobytes() for part in whole(second)]


def test_a_row_s_slot_follows_from_its_place_and_the_seed_and_from_nothing_in_it():
    with filled(*table()) as one, filled(*table(changed=5000)) as other, filled(*table(), seed=1) as reseeded:
        (rows, places), (changed, places_there), (_, elsewhere) = map(whole, (one, other, reseeded))
    assert places.tobytes() == places_there.tobytes() != elsewhere.tobytes()
    assert np.flatnonzero((rows != changed).any(axis=1)).tolist() == np.flatnonzero(places == 5000).tolist()


def test_each_pile_is_a_random_share_of_the_whole_table():
    with filled(*table()) as piles:
        for _, places in each_pile(piles):
            # The mean of 1,000 places has a deviation of 9 rows in a thousand.
            assert abs(places.mean() / ROWS - 0.5) < 6 * 0.009
            assert abs(len(places) - ROWS / 9) < 6 * ROWS**0.5 / 3


@pytest.mark.parametrize("count", [1, 7, 700, ROWS])
def test_rows_of_chosen_slots_are_those_of_the_piles(count):
    slots = np.sort(np.random.default_rng(2).choice(ROWS, count, replace=False))
    with filled(*table()) as piles:
        rows, targets = whole(piles)
        found, found_targets = piles.picked(slots)
    assert found.tobytes() == rows[slots].tobytes()
    assert found_targets.tobytes() == targets[slots].tobytes()


def test_rows_that_are_missing_or_come_twice_or_too_late_are_refused():
    rows, targets = table()
    with Piles(ROWS, COLUMNS, 0) as piles:
        with pytest.raises(ValueError, match="missing"):
            piles.finish()
        piles.add(0, rows[:9], targets[:9])
        for place in (0, 5, 10):
            with pytest.raises(ValueError, match="order"):
                piles.add(place, rows[:9], targets[:9])


def test_a_file_that_ends_early_fails():
    with filled(*table()) as piles:
        piles._file.truncate(1000)
        with pytest.raises(OSError, match="early"):
            whole(piles)


def test_the_file_is_as_long_as_was_said():
    with filled(*table()) as piles:
        assert os.fstat(piles._file.fileno()).st_size == bytes_needed(ROWS, COLUMNS)


# --- before the spend -------------------------------------------------------------------------------------------------


def test_a_folder_that_is_not_there_or_takes_no_file_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    for name in ("nowhere", "file"):
        monkeypatch.setenv(VARIABLE, str(tmp_path / name))
        with pytest.raises(InvalidParameter, match=f"{name}.*set {VARIABLE}"):
            require_piles(10, COLUMNS, 1)


def test_a_disk_that_is_too_small_is_refused_by_what_is_needed(monkeypatch):
    usage = namedtuple("Usage", "total used free")
    for free, fits in ((bytes_needed(ROWS, COLUMNS), True), (bytes_needed(ROWS, COLUMNS) - 1, False)):
        monkeypatch.setattr(scratch.shutil, "disk_usage", lambda _, free=free: usage(0, 0, free))
        if fits:
            require_piles(ROWS, COLUMNS, 1)
        else:
            with pytest.raises(InvalidParameter, match=f"GiB free in .*set {VARIABLE}"):
                require_piles(ROWS, COLUMNS, 1)


def test_batches_that_memory_does_not_hold_are_refused(monkeypatch):
    monkeypatch.setattr(module, "BATCH_BYTES", 100 * (8 * (COLUMNS + 1) + module.BYTES_BESIDES))
    require_piles(ROWS, COLUMNS, 100)
    with pytest.raises(InvalidParameter, match="smaller batches"):
        require_piles(ROWS, COLUMNS, 101)


# --- what is left -----------------------------------------------------------------------------------------------------


def test_nothing_is_left_in_the_folder_and_nothing_has_a_name_there(tmp_path):
    with filled(*table()):
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(RuntimeError), filled(*table()) as piles:
        raise RuntimeError
    assert piles._file.closed
    assert list(tmp_path.iterdir()) == []


KILLED = """
import numpy as np
from equipoise.data.engines.piles import Piles

piles = Piles(4096, 100, 0)
piles.add(0, np.ones((4096, 100)), np.ones(4096))
piles.finish()
print("written", flush=True)
input()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files without a name")
def test_a_process_that_is_killed_leaves_nothing(tmp_path):
    environment = {**os.environ, VARIABLE: str(tmp_path)}
    command = [sys.executable, "-c", KILLED]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "written\n"
        held = [os.readlink(path) for path in Path(f"/proc/{child.pid}/fd").iterdir()]
        assert any(str(tmp_path) in path for path in held)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert list(tmp_path.iterdir()) == []
