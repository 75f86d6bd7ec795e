"""What a check costs: lines executed, time and memory of `equipoise-verify` where nothing else is installed.

python benchmarks/checking.py [--turns 5]

One stored certificate of every kind, each in a process of its own. Lines are those of functions of `vocabulary` and
`certify` that a check executes, each counted once, and the files they are in; beside them all lines that a process
executes there, definitions on import included. Times are those of whole processes, medians of turns that alternate
with `equipoise verify`; memory is the most that a process held. A kind that needs the extra `composition` is measured
by its lines alone.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))

from empty_environment import VERIFY, Environment, wheel_of  # noqa: E402

SECONDS, MEMORY = 2.0, 60.0
STORED = ROOT / "tests" / "certificates" / "0.2.0"
OTHERS = ("method-ranking", "noisy-gradient-batches", "output-classes", "objective-directions", "output-bridge")

# Functions are compiled with local variables in fixed places (flag 1); bodies of modules and classes are not.
TRACED = """
import json, os, sys

inside, executed = tuple(f"{os.sep}equipoise{os.sep}{room}{os.sep}" for room in ("vocabulary", "certify")), set()

def entered(frame, event, argument):
    code = frame.f_code
    if not any(room in code.co_filename for room in inside):
        return None

    def line(frame, event, argument):
        if event == "line":
            executed.add((code.co_filename, frame.f_lineno, code.co_flags & 1))
        return line

    return line

sys.settrace(entered)
from pathlib import Path
from equipoise.artifact.findings import inspect

code = inspect(Path(sys.argv[1])).verdict[0]
sys.settrace(None)
print(json.dumps([code, sorted(executed)]))
"""


Lines = set[tuple[str, int, int]]


def executed(path: Path) -> Lines:
    """Return the lines that a check executes: the file, the number, and whether it is one of a function."""
    command = [sys.executable, "-c", TRACED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    code, found = json.loads(done.stdout)
    if code != 0:
        raise SystemExit(f"{path} does not check")
    return {(file, line, function) for file, line, function in found}


def counted(name: str, lines: Lines) -> str:
    """Return the first columns of a row."""
    checked = {(file, line) for file, line, function in lines if function}
    whole = {(file, line) for file, line, _ in lines}
    return f"| {name} | {len(checked)} | {len({file for file, _ in checked})} | {len(whole)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    turns = parser.parse_args().turns
    chosen = sorted({*STORED.glob("*-ordinary.json"), *(STORED / f"{name}.json" for name in OTHERS)})
    with tempfile.TemporaryDirectory() as place:
        alone = Environment(Path(place) / "alone")
        alone.install(wheel_of(VERIFY, Path(place) / "wheel"))
        larger = Path(sys.executable).parent / "equipoise"
        alone.measured("equipoise-verify", chosen[0])  # compiles the files
        print("| certificate | lines | files | with definitions | seconds | MiB | time of `equipoise verify` |")
        print("|---|---|---|---|---|---|---|")
        slowest, largest, together = 0.0, 0.0, Lines()
        for path in chosen:
            lines = executed(path)
            together |= lines
            own, theirs, memory = [], [], 0.0
            for _ in range(turns):
                done, seconds, used = alone.measured("equipoise-verify", path)
                if done.returncode != 0:
                    break
                own.append(seconds)
                memory = max(memory, used)
                theirs.append(alone.measured(str(larger), "verify", path)[1])
            row = counted(path.stem, lines)
            if not own:
                print(row, "needs the extra | | |", flush=True)
                continue
            seconds = statistics.median(own)
            print(row, f"{seconds:.2f} | {memory:.1f} | {statistics.median(theirs) / seconds:.1f} times |", flush=True)
            slowest, largest = max(slowest, seconds), max(largest, memory)
        print(counted("all of them", together), "| | |")
    print(f"SLOWEST {slowest:.2f} s, at most {SECONDS:g}: {'met' if slowest <= SECONDS else 'MISSED'}")
    print(f"LARGEST {largest:.1f} MiB, at most {MEMORY:g}: {'met' if largest <= MEMORY else 'MISSED'}")


if __name__ == "__main__":
    main()
