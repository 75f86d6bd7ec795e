"""Trying inputs in this process, each under a ceiling of time and memory, and counting how they end.

An input ends well when its reader answers or raises one of the errors of `equipoise.errors`. Everything else is an
escape, and what does not end within the ceiling is a hang.
"""

import contextlib
import json
import random
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from equipoise.errors import EquipoiseError

SECONDS, BYTES = 10.0, 2**30
LARGEST_INPUT = 2**17


class Hang(BaseException):
    """The ceiling of time was reached; no `except Exception` on the way may take it for something else."""


@dataclass
class Tally:
    """How the inputs of one reader ended."""

    reader: str
    inputs: int = 0
    answered: int = 0
    hangs: int = 0
    seconds: float = 0.0
    memory: int = 0
    escapes: dict[str, int] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return asdict(self)

    def add(self, other: "Tally") -> None:
        """Take over what another process counted."""
        self.inputs += other.inputs
        self.answered += other.answered
        self.hangs += other.hangs
        self.seconds, self.memory = max(self.seconds, other.seconds), max(self.memory, other.memory)
        for place, count in other.escapes.items():
            self.escapes[place] = self.escapes.get(place, 0) + count


class Trial:
    """Tries inputs on one reader; inputs that escape or hang are kept in a folder, the first of each place."""

    def __init__(self, name: str, read: Callable[[bytes], object], keep: Path | None = None) -> None:
        self.tally = Tally(name)
        self._read = read
        self._keep = keep

    def one(self, data: bytes) -> None:
        """Try one input."""
        self.tally.inputs += 1
        before = _memory(reset=True)
        start = time.perf_counter()
        place = ""
        try:
            with _ceiling():
                self._read(data)
            self.tally.answered += 1
        except EquipoiseError:
            pass
        except Hang as error:
            self.tally.hangs += 1
            place = _place(error)
        except BaseException as error:
            place = _place(error)
            self.tally.escapes[place] = self.tally.escapes.get(place, 0) + 1
        self.tally.seconds = max(self.tally.seconds, time.perf_counter() - start)
        used = max(0, _memory() - before)
        self.tally.memory = max(self.tally.memory, used)
        if used > BYTES:
            place = "more memory than the ceiling"
            self.tally.escapes[place] = self.tally.escapes.get(place, 0) + 1
        if place and self._keep is not None:
            self._write(place, data)

    def _write(self, place: str, data: bytes) -> None:
        assert self._keep is not None
        file = self._keep / f"{self.tally.reader}-{''.join(c if c.isalnum() else '-' for c in place)[:100]}"
        if not file.exists():
            file.write_bytes(data)


def _place(error: BaseException) -> str:
    """Return the type of an escape and the last line of ours that it came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/equipoise" in frame.filename]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "outside"
    return f"{type(error).__name__} {where}"


@contextlib.contextmanager
def _ceiling() -> Iterator[None]:
    def late(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    # The processor's time, not the clock's: a machine that is busy with something else makes no reader hang.
    former = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


def _memory(reset: bool = False) -> int:
    """Return the largest resident size since it was last reset, in bytes; 0 where the system does not tell."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError):
        return 0


def altered(reader: ModuleType, data: bytes, chance: random.Random) -> bytes:
    """Return an input made from another by one to four alterations."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = reader.mutate(data, chance)
    return data[:LARGEST_INPUT]


def unguided(reader: ModuleType, name: str, inputs: int, seed: int, keep: Path | None = None) -> Tally:
    """Try altered examples, the same for the same seed, without looking at what they cover."""
    chance, examples, trial = random.Random(seed), reader.examples(), Trial(name, reader.read, keep)
    for data in examples[:inputs]:
        trial.one(data)
    while trial.tally.inputs < inputs:
        trial.one(altered(reader, chance.choice(examples), chance))
    return trial.tally


def table(tallies: list[Tally]) -> str:
    """Return the counts of all readers as a table, and every place where an input escaped.

    Examples
    --------
    >>> print(table([Tally("schema", inputs=2, answered=1)]).splitlines()[1].split()[:4])
    ['schema', '2', '1', '0']
    """
    head = f"{'reader':<16}{'inputs':>10}{'answered':>10}{'escapes':>9}{'hangs':>7}{'seconds':>9}{'MiB':>7}"
    rows = [
        f"{each.reader:<16}{each.inputs:>10}{each.answered:>10}{sum(each.escapes.values()):>9}{each.hangs:>7}"
        f"{each.seconds:>9.2f}{each.memory / 2**20:>7.0f}"
        for each in tallies
    ]
    whole = Tally("all")
    for each in tallies:
        whole.add(each)
    rows.append(
        f"{'all':<16}{whole.inputs:>10}{whole.answered:>10}{sum(whole.escapes.values()):>9}{whole.hangs:>7}"
        f"{whole.seconds:>9.2f}{whole.memory / 2**20:>7.0f}"
    )
    places = [f"  {each.reader}: {place} ({count})" for each in tallies for place, count in each.escapes.items()]
    return "\n".join((head, *rows, *places))


def read_tally(path: Path) -> Tally:
    """Return what a process wrote when it ended."""
    return Tally(**json.loads(path.read_text()))
