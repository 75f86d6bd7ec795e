"""Noise in every step on secret batches, in balls (C3): losses on a grid, composed by products of polynomials.

One step's profile h is joined by straight lines between dots of a grid, in ``e^epsilon``, in which it is convex: the
law that results has a profile nowhere below h. Sums of losses are products of polynomials in balls. Losses beyond a
window count as infinite, or as its lower end, which makes no profile smaller.
"""

import math

from flint import acb, arb, arb_poly

from . import curves
from .balls import Undecided, smallest

# Dots in a root mean square of one step's loss, root mean squares of all losses that a window holds on either side, and
# what may lie above it, in all.
FINENESS, WIDTH, ABOVE = 64, 12, 1e-17

# A polynomial with more dots than these would take minutes; who has them may ask for more (`findings`).
MOST_DOTS = 2**17


class Sampled(curves.Curve):
    """`steps` releases of Gaussian noise of `multiplier` sensitivities, each on the `share` q of the rows.

    With an order the Renyi divergence of that order accounts for them; 0 stands for the composed distribution, of which
    no sum has more dots than `most_dots`.
    """

    most_dots = MOST_DOTS

    def __init__(self, multiplier: arb, share: arb, steps: int, order: arb | None = None) -> None:
        """Take the run."""
        self.mu, self.share, self.steps = 1 / multiplier, share, steps
        self.order = None if order is None or order.is_zero() else order

    def delta(self, epsilon: arb) -> arb:
        """Return the least of what is known, and what lattices cost."""
        lattices = self.steps * curves.LATTICE
        if self.order is not None:
            return self._by_divergence(epsilon, self.order) + lattices
        whole = curves.Gaussian(arb(self.steps).sqrt() * self.mu, 0).delta(epsilon)
        if (1 - self.share).is_zero():
            return whole + lattices
        drawn = 1 - (1 - self.share) ** self.steps
        return smallest(whole, drawn, composed(self.mu, self.share, self.steps, epsilon, self.most_dots)) + lattices

    def _by_divergence(self, epsilon: arb, order: arb) -> arb:
        divergence = self.steps * divergence_of_a_step(self.mu, self.share, order)
        return ((order - 1) * (divergence - epsilon + (-1 / order).log1p())).exp() / order


def divergence_of_a_step(mu: arb, share: arb, order: arb) -> arb:
    """Return ``ln(1 + a (a - 1) q^2 I) / (a - 1)``, I the integral over ``g = e^x >= 1`` of page C3, and its tail."""

    def integrand(place: acb, analytic: bool) -> acb:
        near, far = (acb(mu) / 2 - place / mu), (-acb(mu) / 2 - place / mu)
        profile = _normal(near) - place.exp() * _normal(far)
        rise = (1 - share + share * place.exp()).log(analytic=analytic)
        return (((order - 2) * rise).exp() + (-(order + 1) * rise).exp()) * profile * place.exp()

    end = mu**2 * (order + 1) + mu * (2 * 745 + (mu * order) ** 2).sqrt()
    inside = acb.integral(integrand, 0, acb(end), rel_tol=arb(2) ** -60, eval_limit=10**6).real
    tail = 2 * ((order - 1).max(arb(1)) * end).exp() * curves.normal(mu / 2 - end / mu)
    return (order * (order - 1) * share**2 * (inside + tail)).log1p() / (order - 1)


def _normal(place: acb) -> acb:
    return (-place / acb(2).sqrt()).erfc() / 2


def step_profile(loss: arb, mu: arb, share: arb) -> arb:
    """Return ``h(e) = q delta_G(ln(1 + (e^e - 1)/q))`` for e >= 0, ``1 - e^e + e^e h(-e)`` below."""
    size = abs(loss)
    found = share * curves.Gaussian(mu, 0).delta((size.expm1() / share).log1p())
    return found if loss >= 0 else loss.exp() * found - loss.expm1()


def composed(mu: arb, share: arb, steps: int, epsilon: arb, most_dots: int = MOST_DOTS) -> arb:
    """Return the delta of all steps together, where it takes at most so many dots."""
    interval, highest, lowest = _grid(float(mu), float(share), steps)
    reach = math.ceil(WIDTH * FINENESS * math.sqrt(steps))
    window = -max(reach, -lowest), max(2 * reach, highest + reach)
    if window[1] - window[0] > most_dots:
        raise Undecided(f"{steps} steps of C3, whose sums of losses have {window[1] - window[0]:,} dots")
    place = arb(interval)
    step, infinite = _one_step(mu, share, place, highest, lowest)
    run = step, lowest, infinite
    for digit in bin(steps)[3:]:
        run = _then(run, run, window)
        if digit == "1":
            run = _then(run, (step, lowest, infinite), window)
    masses, first, infinite = run
    found, growth = infinite, epsilon.exp()
    ratio, factor = (-place).exp(), (-place * first).exp()
    for dot, mass in enumerate(masses.coeffs(), first):
        if place * dot > epsilon:
            found += mass * (1 - growth * factor)
        elif not place * dot <= epsilon:
            found += mass.nonnegative_part() * (1 - growth * factor).nonnegative_part()
        factor *= ratio
    return found


Losses = tuple[arb_poly, int, arb]


def _grid(mu: float, share: float, steps: int) -> tuple[float, int, int]:
    """Return the interval of the grid and the ends of one step's losses, in dots: any are valid."""
    places = [at / 50 for at in range(-1000, 1250)]
    losses = [math.log1p(share * math.expm1(mu * at)) for at in places]
    centre = math.sqrt(2 * math.pi)
    near, far = ([math.exp(-((at + way * mu / 2) ** 2) / 2) / centre for at in places] for way in (-1, 1))
    square = sum((share * a + (1 - share) * b) * loss**2 for a, b, loss in zip(near, far, losses, strict=True)) / 50
    interval = math.sqrt(square) / FINENESS
    # The place that a normal number exceeds with the chance that may be lost.
    lost = min(0.5, ABOVE / (steps * share))
    tail = math.sqrt(-2 * math.log(lost))
    highest = math.log1p(share * math.expm1(mu * (mu / 2 + tail)))
    # Both directions are covered by one profile, so that losses fall as low as they rise high.
    return interval, math.ceil(highest / interval), -math.ceil(highest / interval)


def _one_step(mu: arb, share: arb, interval: arb, highest: int, lowest: int) -> tuple[arb_poly, arb]:
    """Return the masses of one step's losses from `lowest` to `highest`, and that of the infinite loss."""
    values = [step_profile(interval * dot, mu, share) for dot in range(lowest, highest + 1)]
    places = [(interval * dot).exp() for dot in range(lowest, highest + 1)]
    # Slopes between dots, in e^loss; from 0, where the profile is 1, to the first, and 0 beyond the last.
    slopes = [(values[0] - 1) / places[0]]
    slopes += [(values[i + 1] - values[i]) / (places[i + 1] - places[i]) for i in range(len(values) - 1)]
    slopes.append(arb(0))
    masses = [(slopes[i + 1] - slopes[i]) * place for i, place in enumerate(places)]
    return arb_poly(masses), values[-1]


def _then(first: Losses, second: Losses, window: tuple[int, int]) -> Losses:
    """Return the sums of a loss of each: above the window they are infinite, below it they are its lower end."""
    low, high = window
    start, infinite = first[1] + second[1], first[2] + second[2]
    masses = (first[0] * second[0]).coeffs()
    if start + len(masses) - 1 > high:
        infinite += sum(masses[high + 1 - start :], arb(0))
        masses = masses[: high + 1 - start]
    if start < low:
        raised = sum(masses[: low - start], arb(0))
        masses, start = masses[low - start :], low
        masses[0] += raised
    return arb_poly(masses), start, infinite
