"""Stored results: what was measured, when, on which machine, with which packages, and what stood there before.

A file of ``benchmarks/results`` is one suite. Its records have a *name* (what was measured: data, budget, method), a
*key* (what the figure depends on: the plan, the rows, the runs, the version) and the figures themselves. A record whose
key is the one asked for is not measured again; a record that is replaced is kept as `before`, so that a fall can be
shown. Only the standard library is used: the peers' environment stores its results with this module, too.
"""

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import sqrt
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("equipoise", "numpy", "scipy", "scikit-learn", "numba", "opendp", "diffprivlib", "interpret-core")
# A ratio of times that is so much larger than the one before is shown as a regression.
WORSE = 1.10
# So is a score that fell by more standard errors of the difference than this: one of 700 does by chance.
ERRORS = 3.0

Record = dict[str, Any]
Named = dict[str, Any]


@dataclass(frozen=True)
class Session:
    """One run of the program: where and when records were measured."""

    date: str
    commit: str
    machine: str
    python: str
    packages: dict[str, str]
    load: float

    @classmethod
    def now(cls) -> "Session":
        """Describe this machine and this moment."""
        return cls(time.strftime("%Y-%m-%d"), commit(), machine(), platform.python_version(), packages(), load())


def packages() -> dict[str, str]:
    """Return the versions of the packages that matter, as far as they are installed here."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def git(*words: str) -> str:
    """Return what git says about the repository, or nothing where there is none."""
    found = subprocess.run(["git", *words], capture_output=True, text=True, cwd=RESULTS.parents[1])  # noqa: S603, S607
    return found.stdout.strip()


def commit() -> str:
    """Return the commit that is measured, with a word where the program or its benchmarks differ from it."""
    changed = git("status", "--porcelain", "--", "src", "benchmarks", ":!benchmarks/results")
    return (git("rev-parse", "--short=8", "HEAD") or "no repository") + (", changed" if changed else "")


@cache
def program() -> str:
    """Return the last commit that changed the program: what times depend on."""
    return git("log", "-1", "--format=%h", "--abbrev=8", "--", "src/equipoise")


def machine() -> str:
    """Return the machine in words, without its name."""
    model = platform.machine()
    described = Path("/proc/cpuinfo")
    if described.exists():
        lines = [line for line in described.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores of {model}, {memory:.0f} GiB"


def load() -> float:
    """Return how many processes wanted a core during the last minute."""
    return round(os.getloadavg()[0], 1)


class Store:
    """The records of one suite, in a file that is written after every record."""

    def __init__(self, suite: str, folder: Path = RESULTS) -> None:
        """Read what is stored, if anything is."""
        self.path = folder / f"{suite}.json"
        found = json.loads(self.path.read_text()) if self.path.exists() else {"sessions": [], "records": []}
        self.sessions: list[dict[str, Any]] = found["sessions"]
        self.records: list[Record] = found["records"]
        self.current: int | None = None

    def find(self, name: Named) -> Record | None:
        """Return the record of this name, or nothing."""
        return next((record for record in self.records if record["name"] == name), None)

    def has(self, name: Named, key: Named) -> bool:
        """Whether a record of this name was measured under this key."""
        found = self.find(name)
        return found is not None and found["key"] == key

    def put(self, name: Named, key: Named, figures: Record) -> Record:
        """Store figures, with what stood there before, and write the file."""
        if self.current is None:
            self.sessions.append(asdict(Session.now()))
            self.current = len(self.sessions) - 1
        self.sessions[self.current]["load"] = max(self.sessions[self.current]["load"], load())
        old = self.find(name)
        before = None
        if old is not None:
            kept = {part: old[part] for part in ("mean", "deviation", "runs", "value", "taken") if part in old}
            then, today = self.sessions[old["session"]], self.sessions[self.current]
            # Ratios within a run can be compared between machines, other times cannot.
            alike = figures.get("ratio", True) or then["machine"] == today["machine"]
            before = kept | {"date": then["date"], "commit": then["commit"], "comparable": alike}
        same = old is not None and old["key"].get("version") == key.get("version")
        best = best_of(before, old if old is not None and same else {})
        record = {"name": name, "key": key, **figures, "session": self.current, "before": before, "best": best}
        if old is None:
            self.records.append(record)
        else:
            self.records[self.records.index(old)] = record
        self.write()
        return record

    def keep_only(self, names: Iterable[Named]) -> None:
        """Forget records that nothing asks for any more."""
        wanted = list(names)
        self.records = [record for record in self.records if record["name"] in wanted]
        self.write()

    def write(self) -> None:
        """Write the file, a line a record; sessions of which no record is left go."""
        used = sorted({record["session"] for record in self.records} | ({self.current} - {None}))  # type: ignore[operator]
        place = {old: new for new, old in enumerate(used)}
        self.sessions = [self.sessions[old] for old in used]
        self.records = [record | {"session": place[record["session"]]} for record in self.records]
        self.current = None if self.current is None else place[self.current]
        self.path.parent.mkdir(exist_ok=True)
        lines = [",\n".join(json.dumps(rounded(part)) for part in found) for found in (self.sessions, self.records)]
        text = '{\n"sessions": [\n' + lines[0] + '\n],\n"records": [\n' + lines[1] + "\n]\n}\n"
        beside = self.path.with_suffix(".part")
        beside.write_text(text)
        beside.replace(self.path)


def rounded(found: Any, digits: int = 6) -> Any:
    """Return the same with few digits a number: more are noise, and every change of them a line of history."""
    if isinstance(found, float):
        return float(f"{found:.{digits}g}")
    if isinstance(found, dict):
        return {name: rounded(part, digits) for name, part in found.items()}
    return [rounded(part, digits) for part in found] if isinstance(found, list | tuple) else found


def measure_or_keep(
    store: Store, tasks: list[tuple[Named, Named, Callable[[], Record]]], again: bool, tell: Callable[[str], None]
) -> None:
    """Measure what is not stored under its key, or everything if asked; a line of progress a record."""
    for number, (name, key, measure) in enumerate(tasks, 1):
        said = f"[{number}/{len(tasks)}] {store.path.stem}: {' '.join(str(part) for part in name.values())}"
        key = rounded(key)
        if store.has(name, key) and not again:
            tell(f"{said}: stored")
            continue
        record = store.put(name, key, rounded(measure()))
        tell(f"{said}: {record.get('mean', record.get('value')):.4g}{_compared(record)}")


def _compared(record: Record) -> str:
    """Return what a line of progress says about the figure before."""
    said = regression(record)
    return f"   REGRESSION: {said}" if said else ""


def best_of(before: Record | None, old: Record) -> Record | None:
    """Return the best that was measured of a cell before, as far as it can be compared with what is measured now.

    `before` is the last result; `old`, which it was taken from, has those before that. Falls that each stay within the
    limit so add up to one that is shown, and one that is shown stays so when it is measured again. Another version of
    the package begins anew, at the last result of the one before.
    """
    if before is None:
        return None
    known = [before]
    if before["comparable"]:
        known += [found for found in (old.get("best"), old.get("before")) if found and found["comparable"]]
    return min(known, key=lambda found: found["value"] if "value" in found else -found["mean"])


def against(record: Record) -> Record | None:
    """Return the result that a record is compared with: the best before it, or where none is kept the last."""
    found: Record | None = record.get("best") or record.get("before")
    return found


def regression(record: Record) -> str:
    """Return in words by how much a record is worse than the best before it, or nothing.

    Times are compared as ratios within a run; what is no ratio only with the same machine. Scores fall beyond error.
    """
    before = against(record)
    if not before or not before["comparable"]:
        return ""
    if "value" in record and "value" in before:
        grown = record["value"] / before["value"]
        return f"{100 * (grown - 1):.0f} % more" if grown > WORSE else ""
    if "deviation" not in before or not record.get("runs") or not before.get("runs"):
        return ""
    fallen = before["mean"] - record["mean"]
    error = sqrt(record["deviation"] ** 2 / record["runs"] + before["deviation"] ** 2 / before["runs"])
    return f"{fallen:.4f} less, {fallen / error:.1f} standard errors" if fallen > ERRORS * error > 0 else ""
