"""The noise that many steps on secret batches ask for, by every way of accounting, beside the exact one (C3, N11).

python benchmarks/accounting.py [--epsilon 1] [--most 100000000]

Every line has a share q and a number T of steps with q^2 T = 1, or 10^-4 where most runs never draw the row, and the
noise multipliers for (epsilon, delta): ours (`smallest_multiplier`, composed in whole numbers), that of Renyi
divergences, that of dp-accounting's Fourier transforms without a tilt, whose rounding is charged, and a reference. The
reference composes the same profile by its exact moments, with a normal law under the tilt that puts the mean loss at
epsilon: right but for some 1/(T q) of delta. Of few draws (T q below 100) it is none, and no ratio is printed.
"""

import argparse
import math
import time

import numpy as np
import scipy.optimize
import scipy.special

from equipoise.certify.curves import GaussianCurve
from equipoise.planning.loss_distribution import delta_of_losses, profile
from equipoise.planning.sampling import renyi_multiplier, smallest_multiplier

NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)
RUNS = ((1e-2, 10**4), (1e-4, 10**4), (10**-2.5, 10**5), (1e-3, 10**6), (10**-3.5, 10**7), (1e-4, 10**8))
DELTAS = (1e-5, 1e-9, 1e-13)
# How near the root a multiplier is looked for, relative, and from how many expected draws on the reference is one.
PRECISION, DRAWS = 1e-4, 100


def log_moments(multiplier: float, share: float, tilt: float) -> tuple[float, float, float]:
    """Return ln E exp(tilt X) of one step's loss X and its first two derivatives, as integrals of the profile (C3)."""
    top = math.log1p(share * math.expm1(min(700.0, (1 + tilt) / multiplier**2 + 14 / multiplier)))
    losses = (NODES + 1) * top / 2
    heights = profile(losses, multiplier, share) * WEIGHTS * top / 2
    # E exp(t X) = 1 + t (t + 1) times the integral over x > 0 of h(x) (exp(t x) + exp(-(t + 1) x)).
    up, down = np.exp(tilt * losses), np.exp(-(tilt + 1) * losses)
    first, second = heights @ (up + down), heights @ (losses * (up - down))
    third = heights @ (losses**2 * (up + down))
    quadratic, slope = tilt * (tilt + 1), 2 * tilt + 1
    moment = 1 + quadratic * first
    mean = (slope * first + quadratic * second) / moment
    square = (2 * first + 2 * slope * second + quadratic * third) / moment
    return math.log1p(quadratic * first), float(mean), float(square - mean**2)


def reference_delta(multiplier: float, share: float, steps: int, epsilon: float) -> float:
    """Return delta by a normal law of the losses under the exact saddle point."""

    def short(tilt: float) -> float:
        return steps * log_moments(multiplier, share, tilt)[1] - epsilon

    highest = 1.0
    while short(highest) < 0:
        highest *= 1.5
    tilt = float(scipy.optimize.brentq(short, 1e-6, highest))
    log_moment, _, variance = log_moments(multiplier, share, tilt)
    spread = math.sqrt(steps * variance)
    mills = [math.sqrt(math.pi / 2) * scipy.special.erfcx(power * spread / math.sqrt(2)) for power in (tilt, tilt + 1)]
    return float(math.exp(steps * log_moment - tilt * epsilon) * (mills[0] - mills[1]) / math.sqrt(2 * math.pi))


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
    exact, ratio = "", ""
    if steps * share >= DRAWS:
        root = float(
            scipy.optimize.brentq(
                lambda z: math.log(reference_delta(z, share, steps, epsilon) / delta),
                0.7 * ours,
                1.3 * ours,
                rtol=PRECISION / 10,
            )
        )
        exact, ratio = f"{root:.4f}", f"{ours / root:.4f}"
    renyi, untilted = (
        renyi_multiplier(epsilon, delta, share, steps),
        untilted_multiplier(share, steps, epsilon, delta, ours),
    )
    shown = f"{share:.2g} | {steps:.0e} | {delta:.0e} | {ours:.4f} | {renyi:.3f} | {untilted:.4g} | {exact} | {ratio}"
    return f"| {shown} | {taken:.1f} s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--most", type=int, default=10**8, help="the most steps")
    given = parser.parse_args()
    print("| q | T | delta | ours | Renyi | Fourier transforms | reference | ours / reference | search |")
    print("|---|---|---|---|---|---|---|---|---|")
    for share, steps in RUNS:
        for delta in DELTAS if steps <= given.most else ():
            print(line(share, steps, given.epsilon, delta), flush=True)


if __name__ == "__main__":
    main()
