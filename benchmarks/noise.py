"""What a number of exact noise costs: ours in bulk and one by one, and OpenDP's, in one run.

python benchmarks/noise.py [--numbers 10000 1000000 10000000] [--turns 5]

Processor time of one core, medians of turns that alternate, and the ratio to OpenDP's on the lattice that holds every
double, which samplers called before D7; counts have whole numbers. The spherical law has no peer. Every size is one
vector, of which the spherical law's width is the wider the longer it is; a number takes some 80 bytes of memory.
Compiling and loading are not counted, for short vectors either: they are in the last lines.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from equipoise.noise import ExactSource
from equipoise.noise.exact import opendp, vector_space
from equipoise.noise.numbers import listed, loops

GOAL = 0.5
LAWS = ("gaussian", "laplace", "whole", "spherical-laplace")
# OpenDP's numbers; our vectors; the least numbers of a turn, in several short vectors.
FEW, SIZES, LEAST = 2000, (10_000, 1_000_000, 10_000_000), 200_000


def per_number(draw: Callable[[int], object], count: int) -> float:
    """Return microseconds of processor time a number."""
    start = time.process_time()
    draw(count)
    return (time.process_time() - start) / count * 1e6


def theirs(law: str, count: int) -> object:
    dp = opendp()
    if law == "whole":
        space = dp.vector_domain(dp.atom_domain(T="i64"), size=count), dp.l1_distance(T="i64")
        return dp.m.make_laplace(*space, scale=5.0)([0] * count)
    metric = dp.l2_distance(T=float) if law == "gaussian" else dp.l1_distance(T=float)
    make = dp.m.make_gaussian if law == "gaussian" else dp.m.make_laplace
    return make(*vector_space(dp, count, metric), scale=0.05)([0.0] * count)


def ours(law: str, count: int) -> object:
    if law == "whole":
        return ExactSource().add_whole("laplace", np.zeros(count, dtype=np.int64), 5.0)
    return ExactSource().add(law, np.zeros(count), 0.05)


def repeated(law: str, count: int) -> float:
    """Return microseconds a number of vectors of so many, as many of them as make a time that can be measured."""
    vectors = max(1, LEAST // count)
    return per_number(lambda _: deque((ours(law, count) for _ in range(vectors)), 0), vectors * count)


def costs(law: str, numbers: int, turns: int) -> tuple[float, float | None]:
    """Return the microseconds of a number, ours and OpenDP's where it has the law."""
    # A process draws its first few numbers one by one, before it loads the loops; a long vector of the spherical law
    # has loops of its own.
    loops()
    ours(law, min(numbers, LEAST))
    found: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(turns):
        found["ours"].append(repeated(law, numbers))
        if law != "spherical-laplace":
            found["theirs"].append(per_number(lambda count: theirs(law, count), FEW))
    return statistics.median(found["ours"]), statistics.median(found["theirs"]) if found["theirs"] else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numbers", type=int, nargs="+", default=SIZES)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    print("| law | numbers | ours, microseconds | OpenDP | OpenDP / ours | goal of 0.5 |\n|---|---|---|---|---|---|")
    for law in LAWS:
        for size in given.numbers:
            cost, peer = costs(law, size, given.turns)
            shown = ["", ""] if peer is None else [f"{peer:.1f}", f"{peer / cost:.0f}"]
            met = "met" if cost <= GOAL else "missed"
            print(f"| {law} | {size:,} | {cost:.3f} | {shown[0]} | {shown[1]} | {met} |", flush=True)
    for kind in ("normal", "exponential"):
        print(f"\none by one, {kind}: {per_number(lambda count, kind=kind: listed(kind, count), FEW):.1f} microseconds")
    program = "import time; a = time.perf_counter(); from equipoise.noise.numbers import loops; l = loops(); l.draws('normal', 1); l.draws('exponential', 1); print(f'{time.perf_counter() - a:.2f} s')"  # fmt: skip  # noqa: E501
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    print(f"\nloading in a new process, compiled before: {loaded.stdout.strip()}")


if __name__ == "__main__":
    main()
