"""The noise that many steps on secret batches ask for, by every way of accounting, beside the exact one (C3, N11).

python benchmarks/accounting.py [--epsilon 1] [--most 100000000]
python benchmarks/accounting.py --plans

Every line has a share q and a number T of steps with q^2 T = 1, or 10^-4 where most runs never draw the row, and the
noise multipliers for (epsilon, delta): ours (`smallest_multiplier`, composed in whole numbers), that of Renyi
divergences, that of dp-accounting's Fourier transforms without a tilt, whose rounding is charged, and a reference. The
reference composes the same profile by a transform of the losses that is inverted along a line (`inverted_losses` in
tests/), for few draws as for many: another line gives the same delta up to some 1e-8 of it.

With --plans: the processor seconds of ten new plans by batches, and how many exact compositions each took.
"""

import argparse
import math
import sys
import time
from pathlib import Path

import scipy.optimize

import equipoise as eq
from equipoise.certify import sampled
from equipoise.certify.curves import GaussianCurve
from equipoise.planning.loss_distribution import delta_of_losses
from equipoise.planning.sampling import renyi_multiplier, smallest_multiplier

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from inverted_losses import inverted_delta

RUNS = ((1e-2, 10**4), (1e-4, 10**4), (10**-2.5, 10**5), (1e-3, 10**6), (10**-3.5, 10**7), (1e-4, 10**8))
DELTAS = (1e-5, 1e-9, 1e-13)
# How near the root a multiplier is looked for, relative.
PRECISION = 1e-4


def reference_multiplier(share: float, steps: int, epsilon: float, delta: float, near: float) -> float:
    """Return the multiplier whose inverted transform is delta, not far from another one."""

    def excess(multiplier: float) -> float:
        return math.log(inverted_delta(multiplier, share, steps, epsilon) / delta)

    return float(scipy.optimize.brentq(excess, 0.97 * near, 1.01 * near, rtol=PRECISION / 10))


def untilted_delta(multiplier: float, share: float, steps: int, epsilon: float) -> float:
    """Return delta by Fourier transforms alone, or that of all rows in every batch where it is smaller."""
    whole = GaussianCurve(math.sqrt(steps) / multiplier).delta(epsilon)
    return min(whole, delta_of_losses(multiplier, share, steps, 0.0, epsilon))


def untilted_multiplier(share: float, steps: int, epsilon: float, delta: float, near: float) -> float:
    """Return the least multiplier by Fourier transforms alone, from a multiplier that is not too large."""
    low = high = near * 0.99
    while untilted_delta(high, share, steps, epsilon) > delta:
        low, high = high, high * (1.02 if high < 1.1 * near else 2.0)
    while high > low * (1 + 10 * PRECISION):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if untilted_delta(middle, share, steps, epsilon) <= delta else (middle, high)
    return high


def line(share: float, steps: int, epsilon: float, delta: float) -> str:
    """Return a line of the table."""
    start = time.process_time()
    ours = smallest_multiplier(epsilon, delta, share, steps)
    taken = time.process_time() - start
    exact = reference_multiplier(share, steps, epsilon, delta, ours)
    renyi, untilted = (
        renyi_multiplier(epsilon, delta, share, steps),
        untilted_multiplier(share, steps, epsilon, delta, ours),
    )
    shown = f"{share:.2g} | {steps:.0e} | {delta:.0e} | {ours:.4f} | {renyi:.3f} | {untilted:.4g} | {exact:.4f}"
    return f"| {shown} | {ours / exact:.4f} | {taken:.1f} s |"


def timed_plans() -> None:
    """Print a line for each of ten requests: shapes of public tables, a run of single rows, and one of n^2 steps."""
    two, seven, ten = (eq.Domain(row_norm=1.0, classes=tuple(range(count))) for count in (2, 7, 10))
    asked: list[tuple[str, int, int, float, eq.Domain, dict[str, object]]] = [
        ("Adult", 32_561, 108, 1.0, two, {}),
        ("Adult", 32_561, 108, 0.1, two, {}),
        ("MNIST 3-vs-5", 11_552, 50, 1.0, two, {}),
        ("Covertype 1-vs-2", 396_112, 54, 1.0, two, {}),
        ("Covertype 1-vs-2", 396_112, 54, 0.1, two, {}),
        ("Covertype, 7 classes", 464_809, 54, 1.0, seven, {}),
        ("MNIST, 10 classes", 60_000, 784, 1.0, ten, {}),
        ("1,000 rows", 1_000, 10, 1.0, two, {}),
        ("100,000 single rows, one pass", 100_000, 54, 5.0, two, {"passes": 1, "batch_size": 1}),
        ("n^2 single rows", 5_000, 50, 1.0, two, {"passes": "quadratic", "batch_size": 1}),
    ]
    # What is loaded once is not counted.
    eq.NoisySGDClassifier(delta=1e-3, domain=two).plan(100, 2)
    print("| request | epsilon | plan | exact compositions |\n|---|---|---|---|")
    for name, rows, columns, epsilon, domain, given in asked:
        before, start = sampled.composed.cache_info().misses, time.process_time()
        eq.NoisySGDClassifier(epsilon=epsilon, delta=1 / rows**2, domain=domain, **given).plan(rows, columns)
        taken = time.process_time() - start
        print(f"| {name} | {epsilon:g} | {taken:.2f} s | {sampled.composed.cache_info().misses - before} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--most", type=int, default=10**8, help="the most steps")
    parser.add_argument("--plans", action="store_true", help="time ten plans instead")
    given = parser.parse_args()
    if given.plans:
        timed_plans()
        return
    print("| q | T | delta | ours | Renyi | Fourier transforms | reference | ours / reference | search |")
    print("|---|---|---|---|---|---|---|---|---|")
    for share, steps in RUNS:
        for delta in DELTAS if steps <= given.most else ():
            print(line(share, steps, given.epsilon, delta), flush=True)


if __name__ == "__main__":
    main()
