"""Audits of descents and searches that can fail: what is measured of honest releases and of ones with a planted fault.

python benchmarks/audits.py [--runs 3000]

The audits of tests/release on their neighbouring tables: a lower bound on epsilon for the honest release, whose claim
is 1, and for one with the fault. A fault that is caught is above 1; an honest release is above 1 with at most the
false-alarm rate of the suite. Seeds are those of the tests. It takes some ten minutes of one core.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "tests"))
sys.path.append(str(Path(__file__).parents[1] / "tests" / "release"))
import test_audit_chunks as chunks
import test_audit_sgd as descents
import test_audit_stopping as stopping

from auditing import HalvedNoise
from equipoise.noise import SeededSource


def lengthened(name: str, runs: int) -> float:
    """Return what is observed of a descent whose steps are twice as long as recorded."""
    with pytest.MonkeyPatch.context() as patch:
        descents.lengthen_steps(patch)
        return descents.observed(name, SeededSource, runs)


def line(name: str, fault: str, honest: float, planted: float, runs: int) -> str:
    """Return a line of the table."""
    caught = "caught" if planted > 1.0 else "missed"
    return f"| {name} | {honest:.2f} | {fault} | {runs:,} | {planted:.2f} | {caught} |"


def stopped() -> Iterator[tuple[str, type[HalvedNoise], int]]:
    """Yield the searches that stop at random: privacy, the fault, and the runs in which the tests catch it."""
    for privacy, (source, enough) in stopping.CAUGHT.items():
        yield privacy, source, enough


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3000)
    runs = parser.parse_args().runs
    print("| release | honest, at least | fault | runs | with the fault, at least | |\n|---|---|---|---|---|---|")
    for name in descents.CASES:
        honest = descents.observed(name, SeededSource, runs)
        print(line(name, "noise halved", honest, descents.observed(name, HalvedNoise, runs), runs), flush=True)
        if name in descents.LENGTHENED:
            print(line(name, "steps twice as long", honest, lengthened(name, runs), runs), flush=True)
    honest, planted = (chunks.observed(source, runs) for source in (SeededSource, HalvedNoise))
    print(line("search, a row of a chunk", "noise halved", honest, planted, runs), flush=True)
    for privacy, source, enough in stopped():
        honest, planted = stopping.observed(privacy, SeededSource, enough), stopping.observed(privacy, source, enough)
        fault = f"noise times {source.fraction:.2f}"
        print(line(f"search that stops at random, {privacy}", fault, honest, planted, enough), flush=True)


if __name__ == "__main__":
    main()
