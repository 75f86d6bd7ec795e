"""What steps on secret batches spend (C3), by another way than the product's: a transform of the losses, inverted."""

import math

import numpy as np
import scipy.optimize
import scipy.special

# Integrals over a step's loss: so many panels with so many nodes each.
PANELS = 600
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
# Terms of the sum count until so many in a row are below so small a share of it.
ROW, SMALL = 50, 1e-11
# The trapezoid rule adds less than some exp(-NEGLIGIBLE) of the largest term.
NEGLIGIBLE = 35.0
# Where Chernoff's bound is asked, beyond the tilt.
FARTHER = (0.05, 0.1, 0.2, 0.4, 0.8)


def inverted_delta(multiplier: float, share: float, steps: int, epsilon: float, beside: float = 1.0) -> float:
    """Return the delta at epsilon of the losses of all steps: no grid, no normal law, as good for one draw as for many.

    With ``M(s) = E exp(s X)`` of one step's loss X, and ``K = T ln M``,

    ``delta(epsilon) = 1/(2 pi i) integral of exp(K(s) - s epsilon) / (s (s + 1)) ds`` along a line of real part t > 0,

    because ``exp(s S) / (s (s + 1))`` is the transform of ``(1 - exp(e - S))_+`` in e. Every line has the same
    integral; on the one through the saddle point, `beside` 1, terms fall at once and nothing cancels. With a period P
    the trapezoid rule adds ``exp(k t P) delta(epsilon + k P)`` for every whole k but 0: at most ``exp(-t P)`` for
    k = -1, and for k = 1, by Chernoff's bound at any r > t, ``exp(K(r) - r epsilon - (r - t) P)``.
    One step's loss is 0 with some probability, so that terms of few steps hardly fall: not for those.

    Examples
    --------
    >>> f"{inverted_delta(1.0, 0.01, 100, 1.0):.4e}", f"{inverted_delta(1.0, 0.01, 100, 1.0, beside=0.8):.4e}"
    ('9.8670e-07', '9.8670e-07')
    """

    def exponent(tilt: float) -> float:
        _, up, down = _tilted(multiplier, share, tilt)
        return steps * math.log1p(tilt * (tilt + 1) * float((up + down).sum()))

    def height(logarithm: float) -> float:
        tilt = math.exp(logarithm)
        return exponent(tilt) - tilt * epsilon - math.log(tilt * (tilt + 1))

    tilt = beside * math.exp(scipy.optimize.minimize_scalar(height, bounds=(-5.0, 5.0), method="bounded").x)
    most = exponent(tilt)
    above = min((exponent((1 + more) * tilt) - most - more * tilt * epsilon + NEGLIGIBLE) / more for more in FARTHER)
    step = 2 * math.pi * tilt / max(above, tilt * epsilon - most + NEGLIGIBLE)
    losses, up, down = _tilted(multiplier, share, tilt)
    turn, back = np.exp(1j * step * losses), np.exp(-1j * step * losses)
    terms: list[float] = []
    while len(terms) < ROW or max(map(abs, terms[-ROW:])) > SMALL * sum(terms):
        place = complex(tilt, len(terms) * step)
        power = steps * np.log1p(place * (place + 1) * complex((up + down).sum()))
        terms.append(float((np.exp(power - most - 1j * place.imag * epsilon) / (place * (place + 1))).real))
        up, down = up * turn, down * back
    return math.exp(most - tilt * epsilon) * (math.fsum(terms) - terms[0] / 2) * step / math.pi


def _tilted(multiplier: float, share: float, tilt: float):
    """Return losses x > 0, and what the profile h contributes there: ``h exp(t x)`` and ``h exp(-(t + 1) x)``.

    ``E exp(s X) - 1`` is ``s (s + 1)`` times the integral over x > 0 of ``h(x) (exp(s x) + exp(-(s + 1) x))`` (C3,
    "By Renyi divergences"). In ``u = ln(1 + (exp(x) - 1)/q)`` the profile is that of two normal laws, however small the
    share: ``h = q phi(p) (m(p) - m(p + 1/z))``, ``p = u z - 1/(2z)``, m Mills' ratio.
    """
    end = (1 + tilt) / multiplier**2 + 14 / multiplier
    exponents = (np.arange(PANELS)[:, None] + (NODES + 1) / 2).ravel() * end / PANELS
    # The loss ln(1 + q (exp(u) - 1)), where that neither cancels nor overflows, and its slope in u.
    near = np.log1p(share * np.expm1(np.minimum(exponents, 30.0)))
    losses = np.where(exponents < 30, near, exponents + np.log(share + (1 - share) * np.exp(-exponents)))
    slopes = share / (share + (1 - share) * np.exp(-exponents))
    points = exponents * multiplier - 0.5 / multiplier
    mills, farther = (scipy.special.erfcx(place / math.sqrt(2)) for place in (points, points + 1 / multiplier))
    heights = (
        math.log(share / 2)
        + np.log((mills - farther) * slopes * np.tile(WEIGHTS, PANELS) * end / 2 / PANELS)
        - points**2 / 2
    )
    return losses, np.exp(heights + tilt * losses), np.exp(heights - (tilt + 1) * losses)
