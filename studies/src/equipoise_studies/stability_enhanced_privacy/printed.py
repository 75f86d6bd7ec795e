"""The paper's mechanism and lemmas as it prints them. Nothing here can make a certificate.

What is wrong with each is said where it stands; docs/errata.md has the list. The rest of the study does not use these
formulas but to compare.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Section 6: the weights of the squared L2 norm and of the L1 norm, lambda (gamma |w|^2 + eta |w|_1).
GAMMA, ETA = 0.85, 0.15
# Logistic losses have slopes of at most 1.
SLOPE = 1.0


def sensitivity(strength: float, n_rows: int, longest: float) -> float:
    """Return Algorithm 2's ``sqrt(2 beta / (lambda gamma))`` with ``beta = 2 L^2 kappa / (n lambda gamma)``.

    It falls with sqrt(n) where n is possible, has `kappa` for `kappa^2`, and takes `lambda gamma` for the strong
    convexity, which is `2 lambda gamma` (F1). For ``kappa <= 4 n`` it is larger than the right one, so that noise of
    the right law at this scale is private.

    Examples
    --------
    >>> round(sensitivity(0.01, 10_000, 1.0), 3)
    2.353
    """
    stability = 2 * SLOPE**2 * longest / (n_rows * strength * GAMMA)
    return math.sqrt(2 * stability / (strength * GAMMA))


def noise(stream: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    """Return the noise of Algorithms 1 and 2: a Laplace law on every coordinate, at the L2 sensitivity over epsilon.

    It is not epsilon-private: a shift of L2 length 1 along the diagonal of d coordinates has L1 length sqrt(d) (D2).
    """
    return stream.laplace(scale=scale, size=shape)


def flip(weight: float, threshold: float, scale: float) -> float:
    """Return Lemma 16's probability that a selection changes, ``exp(-|T - |w|| / b)``.

    Right for a weight of 0. For others the event has one side, and below the threshold it is the likely one (F2).

    Examples
    --------
    >>> round(flip(0.4, 1.0, 0.7), 3)
    0.424
    """
    return math.exp(-abs(threshold - abs(weight)) / scale)


def privacy_error(n_columns: int) -> float:
    """Return Lemma 11's bound on the privacy error in units of ``L Delta / epsilon``: d.

    Examples
    --------
    >>> privacy_error(32)
    32.0
    """
    return float(n_columns)
