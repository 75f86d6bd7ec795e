"""Privacy curves in balls: delta as a function of epsilon, from the proof pages' exact formulas."""

from collections.abc import Callable, Sequence

from flint import acb, arb

from .balls import Undecided, largest

# What OpenDP's lattice costs a Gaussian release (D3), and drawing and rounding a spherical one (D1), a coordinate.
LATTICE, SPHERICAL = arb(2) ** -500, arb(2) ** -56


def normal(place: arb) -> arb:
    """Return the standard normal distribution function.

    Examples
    --------
    >>> float(normal(arb(0)))
    0.5
    """
    return (-place / arb(2).sqrt()).erfc() / 2


class Curve:
    """A function epsilon -> delta; `level` is the epsilon from which on delta is 0, None where there is none."""

    level: arb | None = None

    def delta(self, epsilon: arb) -> arb:
        """Return a ball that holds the delta."""
        raise NotImplementedError


class Pure(Curve):
    """That of randomised response: ``(e^level - e^epsilon) / (e^level + 1)`` below the level."""

    def __init__(self, level: arb) -> None:
        """Take the level."""
        self.level: arb = level

    def delta(self, epsilon: arb) -> arb:
        """Return 0 from the level on."""
        if self.level <= epsilon:
            return arb(0)
        found = -(epsilon - self.level).expm1() / (1 + (-self.level).exp())
        return found if found > 0 else largest(found, arb(0))


class Gaussian(Curve):
    """``Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)`` (D3), and what lattices cost."""

    def __init__(self, mu: arb, releases: int = 1) -> None:
        """Take the sensitivity over sigma, and how many releases were drawn on a lattice."""
        self.mu, self.releases = mu, releases

    def delta(self, epsilon: arb) -> arb:
        """Return the exact delta and the lattices'."""
        near = normal(self.mu / 2 - epsilon / self.mu)
        found = near - epsilon.exp() * normal(-self.mu / 2 - epsilon / self.mu)
        # Tens of millions of deviations out, Arb knows of the second term only that it is at least 0.
        return (found if found <= 2 * near else near.union(arb(0))) + self.releases * LATTICE


class Spherical(Curve):
    """The law with density proportional to ``exp(-||k|| / scale)``, ``ratio = sensitivity / scale`` (D1, D6)."""

    def __init__(self, ratio: arb, dimension: int) -> None:
        """Take the ratio and the number of coordinates."""
        self.ratio, self.dimension, self.rounding = ratio, dimension, dimension * SPHERICAL
        self.level: arb = ratio + self.rounding

    def delta(self, epsilon: arb) -> arb:
        """Return ``e^r h(epsilon - r; ratio)``, for epsilons above the price r of rounding."""
        if self.level <= epsilon:
            return arb(0)
        rest = epsilon - self.rounding
        if not (rest >= 0 and rest < self.ratio):
            raise Undecided("the spherical law at an epsilon next to its own level or to the price of rounding")
        return self.rounding.exp() * profile(rest, self.ratio, self.dimension)


def profile(epsilon: arb, ratio: arb, dimension: int) -> arb:
    """Return D6's ``h(epsilon; ratio)`` for ``0 <= epsilon < ratio``: two integrals of entire functions.

    Examples
    --------
    >>> round(float(profile(arb(1), arb(2), 1)), 6), round(float(profile(arb(1), arb(2), 3)), 6)
    (0.393469, 0.16602)
    """
    if dimension == 1:
        return -((epsilon - ratio) / 2).expm1()
    half = ratio / 2
    share = half * half.bessel_k(arb(dimension) / 2 - 1) / ((dimension - 1) * half.bessel_k(arb(dimension) / 2))

    def weight(angle: acb) -> acb:
        sine = angle.sin()
        return sine ** (dimension - 2) * (1 + share * sine**2)

    def part(angle: acb, _: bool) -> acb:
        push = half * angle.cos()
        return weight(angle) * (push.exp() - (epsilon - push).exp())

    def whole(angle: acb, _: bool) -> acb:
        return weight(angle) * (half * angle.cos()).exp()

    return _integral(part, (epsilon / ratio).acos()) / _integral(whole, arb.pi())


def _integral(function: Callable[[acb, bool], acb], end: arb) -> arb:
    return acb.integral(function, 0, acb(end), rel_tol=arb(2) ** -80, eval_limit=10**6).real


class Tail(Curve):
    """``sqrt(2 pi) mu e^e Phi(-e/mu - mu/2)``, ``e = epsilon - price >= mu^2/2`` (E3c)."""

    def __init__(self, mu: arb, price: arb) -> None:
        """Take the diameter over sigma and the determinant's price."""
        self.mu, self.price = mu, price

    def delta(self, epsilon: arb) -> arb:
        """Return the bound."""
        rest = epsilon - self.price
        if not rest >= self.mu**2 / 2:
            return arb(1)
        return (2 * arb.pi()).sqrt() * self.mu * rest.exp() * normal(-rest / self.mu - self.mu / 2) + LATTICE


class Mean(Curve):
    """The least of ``e^-t sum m G(e; v)`` and ``e^-t sqrt(2 pi) mu Phi(mu/2 - e/mu)``, e less by ``e^t - 1 - t`` (N1).

    Every t >= 0 serves; this one is the trusted base's, as a double.
    """

    def __init__(self, corners: Sequence[tuple[int, arb]], mu: arb, price: arb, plane: bool) -> None:
        """Take corners over sigma, the diameter over sigma, the price, and whether a row has one prediction."""
        self.corners, self.mu, self.price, self.plane = corners, mu, price, plane

    def delta(self, epsilon: arb) -> arb:
        """Return the bound."""
        rest = epsilon - self.price
        if not rest > 0:
            return arb(1)
        place = largest(rest / self.mu - self.mu / 2, arb(0)) + arb(5) / 4
        excess = (self.mu / place).min(rest.sqrt()).mid()
        tangent = excess.log1p()
        rest -= excess - tangent
        bound = sum((count * excess_of(rest, length) for count, length in self.corners), arb(0))
        if self.plane and rest >= self.mu**2 / 2:
            bound = bound.min((2 * arb.pi()).sqrt() * self.mu * normal(self.mu / 2 - rest / self.mu))
        return (-tangent).exp() * bound + LATTICE


def excess_of(rest: arb, mu: arb) -> arb:
    """Return ``mu (phi(a) - a Phi(-a))`` with ``a = rest/mu - mu/2`` (N1)."""
    place = rest / mu - mu / 2
    density = (-(place**2) / 2).exp() / (2 * arb.pi()).sqrt()
    return mu * (density - place * normal(-place))


class Sum(Curve):
    """``sum of factor * curve(epsilon - price)``, and a delta on top."""

    def __init__(self, parts: Sequence[tuple[arb | int, Curve, arb]], added: arb | int = 0) -> None:
        """Take factors, curves and prices."""
        self.parts, self.added = parts, added
        levels = [None if curve.level is None else curve.level + price for _, curve, price in parts]
        known = [level for level in levels if level is not None]
        if len(known) == len(levels) and added == 0:
            self.level = largest(*known)

    def delta(self, epsilon: arb) -> arb:
        """Return the sum; 1 where a price may exceed epsilon."""
        if not all(price <= epsilon for _, _, price in self.parts):
            return arb(1)
        return sum((factor * curve.delta(epsilon - price) for factor, curve, price in self.parts), arb(self.added))


class Largest(Curve):
    """The largest of several curves, and of a delta."""

    def __init__(self, parts: Sequence[Curve], floor: arb | int = 0) -> None:
        """Take the curves."""
        self.parts, self.floor = parts, arb(floor)
        known = [curve.level for curve in parts if curve.level is not None]
        if len(known) == len(parts) and floor == 0:
            self.level = largest(*known)

    def delta(self, epsilon: arb) -> arb:
        """Return the largest delta."""
        return largest(self.floor, *(curve.delta(epsilon) for curve in self.parts))


def law_of(name: str, sensitivity: arb, dimension: int, scale: arb) -> Curve:
    """Return the curve of a law on so many numbers of an L2 sensitivity."""
    if name == "gaussian":
        return Gaussian(sensitivity / scale)
    if name == "laplace":
        return Pure(arb(dimension).sqrt() * sensitivity / scale)
    if name == "spherical-laplace":
        return Spherical(sensitivity / scale, dimension)
    raise Undecided(f"the law {name}")
