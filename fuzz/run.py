"""`make fuzz`: hostile inputs for every reader, and a table of how they ended. Exit code 1 if any escaped or hung."""

import argparse
import math
import subprocess
import sys
import time
from pathlib import Path

from fuzz.engine import Tally, read_tally, table
from fuzz.readers import members

INPUTS, LEAST = 1_000_000, 20_000
# A process that tells of no progress for so many seconds is ended from outside; starting one takes a few.
STILL = 90


def shares(inputs: int, least: int) -> dict[str, int]:
    """Return how many inputs each reader gets: at least so many, and the rest by their shares."""
    weights = {name: getattr(reader, "SHARE", 1.0) for name, reader in members().items()}
    rest = max(0, inputs - least * len(weights))
    return {name: least + math.ceil(rest * weight / sum(weights.values())) for name, weight in weights.items()}


def guided(name: str, inputs: int, folder: Path, seed: int) -> Tally:
    """Run a reader's inputs in processes of its own; one that ends too soon is an escape, and another follows."""
    whole = Tally(name)
    while whole.inputs < inputs:
        result, current = folder / f"{name}.tally", folder / f"{name}.current"
        for path in (result, current):
            path.unlink(missing_ok=True)
        left = inputs - whole.inputs
        words = [sys.executable, "-m", "fuzz.worker", name, str(left), str(seed), str(folder)]
        with (folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(words, stdout=log, stderr=log)
            tried, since = 0, time.monotonic()
            while process.poll() is None:
                time.sleep(0.5)
                found = read_tally(result).inputs if result.exists() else 0
                sys.stderr.write(f"\r{name:<16}{whole.inputs + found:>10} of {inputs}")
                sys.stderr.flush()
                if found > tried:
                    tried, since = found, time.monotonic()
                elif time.monotonic() - since > STILL:
                    process.kill()
        part = read_tally(result) if result.exists() else Tally(name, inputs=1)
        if process.returncode != 0 and not current.exists():
            # It would not start another time either.
            whole.add(Tally(name, escapes={f"no process started ({process.returncode}): {name}.log": 1}))
            return whole
        if process.returncode != 0:
            data = current.read_bytes()
            (folder / f"{name}-ended-{seed}").write_bytes(data[8 : 8 + int.from_bytes(data[:8], "little")])
            part.add(Tally(name, inputs=1, escapes={f"the process ended ({process.returncode})": 1}))
        whole.add(part)
        seed += 1
    return whole


def main() -> int:
    """Run all readers, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", help="all, unless some are named")
    parser.add_argument("--inputs", type=int, default=INPUTS, help="in all, over all readers")
    parser.add_argument("--least", type=int, default=LEAST, help="for every reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="where inputs that escape are kept")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    tallies = []
    for name, inputs in shares(asked.inputs, asked.least).items():
        if not asked.readers or name in asked.readers:
            tallies.append(guided(name, inputs, asked.folder, asked.seed))
            sys.stderr.write("\n")
            (asked.folder / "table.txt").write_text(table(tallies) + "\n")
    print(table(tallies))
    return int(any(tally.escapes or tally.hangs for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
