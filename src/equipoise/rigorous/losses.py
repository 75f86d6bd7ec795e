"""Losses in balls: the constants of docs/proofs/A2.md, each an upper bound of a supremum (a lower one of an infimum).

Written from the proof pages, not from the trusted base: two programs would have to be wrong in the same way.
"""

from typing import Any, NamedTuple

from flint import arb

from ..vocabulary.losses.logistic_table import DIAMETERS, NORMS
from .balls import INFINITY, Undecided, certain, number, smallest


class Loss:
    """A convex function of one prediction; `reach` bounds predictions, `label` targets."""

    outputs = 1
    one_sided = False

    @property
    def spread(self) -> arb:
        """Half of the range of slopes at one target, over their bound."""
        return arb(1) / 2 if self.one_sided else arb(1)

    def slope(self, reach: arb, label: arb) -> arb:
        """Return ``sup |slope|``; 1 unless the loss knows better."""
        return arb(1)

    def floor(self, reach: arb) -> arb:
        """Return ``inf |slope|``."""
        return arb(0)

    def curvature(self) -> arb:
        """Return ``sup curvature``, infinite where there are corners."""
        return INFINITY

    def pull(self, reach: arb, label: arb) -> arb:
        """Return ``sup -m slope(m)`` over predictions up to `reach`."""
        raise NotImplementedError

    def diameter(self, row: arb, radius: arb, label: arb) -> arb:
        """Return the largest distance of two rows' gradients at weights of norm up to `radius`."""
        return 2 * row * self.slope(row * radius, label)

    def vertices(self, row: arb, radius: arb, label: arb) -> list[tuple[int, arb]]:
        """Return how many corners, of which length, hold every change of a gradient (E3a)."""
        high = row * self.slope(row * radius, label)
        if not self.one_sided:
            return [(2, 2 * high), (2, arb(2).sqrt() * high)]
        low = row * self.floor(row * radius)
        return [(1, 2 * high), (2, high + low), (1, 2 * low)]

    def price(self, share: arb) -> arb:
        """Return ``ln(1 + c share)`` (E2)."""
        return (self.curvature() * share).log1p()

    def bend(self, pull: arb) -> tuple[arb, arb]:
        """Return how curved a row is whose slope is so long, and how fast that grows (E2a, E2e)."""
        raise Undecided("how curved a row is that pulls so hard")


class Hinge(Loss):
    """``max(0, 1 - z)``."""

    one_sided = True

    def pull(self, reach: arb, label: arb) -> arb:
        """Return ``min(reach, 1)``."""
        return smallest(reach, arb(1))


class Absolute(Loss):
    """``|m - y|``."""

    def pull(self, reach: arb, label: arb) -> arb:
        """Return ``min(reach, Y)``."""
        return smallest(reach, label)


def sigmoid(place: arb) -> arb:
    """Return ``1 / (1 + e^-place)``.

    Examples
    --------
    >>> float(sigmoid(arb(0))), float(sigmoid(INFINITY))
    (0.5, 1.0)
    """
    return 1 / (1 + (-place).exp())


class Logistic(Loss):
    """``log(1 + e^-z)``, with slopes clipped at `cap` where there is one."""

    one_sided = True

    def __init__(self, cap: float | None = None) -> None:
        """Take the cap; from 1 on nothing is clipped."""
        self.cap = INFINITY if cap is None or cap >= 1 else number(cap)

    def slope(self, reach: arb, label: arb) -> arb:
        """Return ``min(cap, sigmoid(reach))``."""
        return smallest(self.cap, sigmoid(reach))

    def floor(self, reach: arb) -> arb:
        """Return ``min(cap, sigmoid(-reach))``."""
        return smallest(self.cap, sigmoid(-reach)) if reach.is_finite() else arb(0)

    def curvature(self) -> arb:
        """Return ``p (1 - p)`` at the steepest p that is not clipped, or at one half."""
        if not self.cap.is_finite() or certain(arb(1) / 2, self.cap):
            return arb(1) / 4
        return self.cap * (1 - self.cap)

    def pull(self, reach: arb, label: arb) -> arb:
        """Return ``max z min(cap, sigmoid(-z))``: W(1/e) or, where the cap begins later, at the cap's place."""
        highest = arb(-1).exp().lambertw()
        place = 1 + highest
        if self.cap.is_finite():
            corner = (1 - self.cap).log() - self.cap.log()
            if not certain(corner, place):
                place, highest = corner, corner * self.cap
        return reach * self.floor(reach) if reach < place else highest

    def bend(self, pull: arb) -> tuple[arb, arb]:
        """Return ``p (1 - p)`` and its derivative."""
        return pull * (1 - pull), 1 - 2 * pull

    def diameter(self, row: arb, radius: arb, label: arb) -> arb:
        """Return the smaller of twice the longest gradient and what the table says about ``B R``."""
        twice = 2 * row * self.slope(row * radius, label)
        return smallest(twice, row * logistic_diameter(row * radius)) if radius.is_finite() else twice


def logistic_diameter(reach: arb) -> arb:
    """Return a bound on the distance of two gradients of unit rows at weights of norm up to `reach` (A2).

    The entry at the next node bounds it, and so does the entry at the last node with ``2 sup |dp/dk|`` times the way
    from there. The second is taken right after a node, where only the rounding of rows and weights has carried `reach`
    past it; elsewhere the first, which is what the trusted base takes, so that room shows what its margin has left.

    Examples
    --------
    >>> round(float(logistic_diameter(arb(1) + arb(10) ** -15)), 12), float(logistic_diameter(arb(1.001)))
    (1.1005, 1.1069)
    """
    # The bound grows with the norm, so that the upper end of the ball counts, an exact number.
    most = reach.upper()
    places = [place for place in range(len(NORMS)) if number(NORMS[place]) <= most]
    following = _entry(len(places)) if len(places) < len(NORMS) else INFINITY
    node = number(NORMS[places[-1]]) if places else arb(0)
    if not places or most > node * (1 + arb(10) ** -8):
        return following
    steepest = smallest(arb(1) / 4, number(2239) / 10_000 / node)
    return smallest(following, _entry(places[-1]) + 2 * steepest * (most - node))


def _entry(place: int) -> arb:
    """Return an entry of the table: ten-thousandths, exactly."""
    return arb(round(DIAMETERS[place] * 10_000)) / 10_000


class Multinomial(Loss):
    """``log sum e^m - m_y`` over K classes."""

    def __init__(self, classes: float) -> None:
        """Take the number of classes."""
        self.outputs = int(classes)

    def slope(self, reach: arb, label: arb) -> arb:
        """Return ``sqrt(2) (1 - p)``, p the smallest probability."""
        if not reach.is_finite():
            return arb(2).sqrt()
        return arb(2).sqrt() * (1 - 1 / (1 + (self.outputs - 1) * (arb(2).sqrt() * reach).exp()))

    def curvature(self) -> arb:
        """Return 1/2."""
        return arb(1) / 2

    def pull(self, reach: arb, label: arb) -> arb:
        """Return ``W((K - 1) / e)``."""
        return ((self.outputs - 1) * arb(-1).exp()).lambertw()

    def vertices(self, row: arb, radius: arb, label: arb) -> list[tuple[int, arb]]:
        """Return the corners of several classes (E3a)."""
        others = self.outputs - 1
        lengths = 2 * arb(2).sqrt(), arb(6).sqrt(), arb(2).sqrt()
        counts = others, others * (others - 1), 2 * others
        return [(count, length * row) for count, length in zip(counts, lengths, strict=True)]

    def price(self, share: arb) -> arb:
        """Return ``(K - 1) ln(1 + share / K)`` (E2)."""
        return (self.outputs - 1) * (share / self.outputs).log1p()

    def bend(self, pull: arb) -> tuple[arb, arb]:
        """Return ``min(1 - 1/K, 2 - g^2)``; where the two cannot be told apart, it is said not to fall."""
        most, straight = 1 - arb(1) / self.outputs, 2 - pull**2
        return smallest(most, straight), -2 * pull if straight < most else arb(0)


class Residual(Loss):
    """A slope ``clip(stretch r, -cap, cap) / divisor`` of the residual r; `far` is the largest at prediction 0."""

    def __init__(self, cap: arb, stretch: int = 1, divisor: arb | None = None, far: arb | None = None) -> None:
        """Take what makes it of Huber's loss; a `far` of its own belongs to margins, which have one sign."""
        self.cap, self.stretch, self.divisor, self.far = cap, stretch, divisor or arb(1), far
        self.one_sided = far is not None

    def _furthest(self, label: arb) -> arb:
        return self.stretch * (label if self.far is None else self.far)

    def slope(self, reach: arb, label: arb) -> arb:
        """Return the largest residual, clipped."""
        if not reach.is_finite():
            return self.cap / self.divisor
        return smallest(self.cap, self.stretch * reach + self._furthest(label)) / self.divisor

    def curvature(self) -> arb:
        """Return the curvature below the cap."""
        return self.stretch / self.divisor

    def pull(self, reach: arb, label: arb) -> arb:
        """Return ``max m min(cap, Y - m)`` over m up to `reach`, which peaks at ``max(Y - cap, Y/2)``."""
        far = self._furthest(label)
        capped = self.cap.is_finite() and not certain(far / 2, self.cap)
        place = smallest(self.stretch * reach, far - self.cap if capped else far / 2)
        return place * smallest(self.cap, far - place) / (self.stretch * self.divisor)

    def diameter(self, row: arb, radius: arb, label: arb) -> arb:
        """Return ``2 B max_c min(cap, Y + R B c) sqrt(1 - c^2)`` over c in [0, 1]."""
        far, reach = self._furthest(label), self.stretch * row * radius
        twice = 2 * row / self.divisor
        if self.cap.is_finite() and (not reach.is_finite() or certain(self.cap, far)):
            return twice * self.cap
        cosine = 2 * reach / (far + (far**2 + 8 * reach**2).sqrt())
        free = twice * (far + reach * cosine) * (1 - cosine**2).sqrt()
        if not self.cap.is_finite() or certain(reach * cosine, self.cap - far):
            return free
        return twice * self.cap * (1 - ((self.cap - far) / reach) ** 2).sqrt()


def loss_of(text: str) -> Loss:
    """Return the loss of a certificate's name for it."""
    name, _, parameter = text.partition(":")
    value = float(parameter) if parameter else None
    if name in ("hinge", "absolute", "logistic"):
        return {"hinge": Hinge, "absolute": Absolute, "logistic": Logistic}[name]()
    if name == "squared":
        return Residual(INFINITY, 2)
    if value is not None and name == "clipped-logistic":
        return Logistic(value)
    if value is not None and name == "multinomial":
        return Multinomial(value)
    if value is not None and name == "huber":
        return Residual(number(value))
    if value is not None and name == "clipped-squared":
        return Residual(number(value), 2)
    if value is not None and name == "smooth-absolute":
        return Residual(number(value), divisor=number(value))
    if value is not None and name == "smooth-hinge":
        return Residual(2 * number(value), divisor=2 * number(value), far=1 + number(value))
    raise Undecided(f"the loss {text}")


class Penalty(NamedTuple):
    """A penalty by its name: the ridge's strength in it, and for a bridge its power."""

    name: str
    alpha: arb
    ridge: arb
    power: arb

    def curvature(self, radius: arb) -> arb:
        """Return its strong convexity on a ball: a bridge's fades with the radius, others' do not."""
        if self.name != "bridge":
            return self.ridge
        return self.alpha * self.power * (self.power - 1) * radius ** (self.power - 2)


def penalty_of(record: dict[str, Any]) -> Penalty:
    """Return the penalty of a certificate's record of it."""
    name, _, parameter = record["name"].partition(":")
    alpha = number(record["alpha"])
    if name in ("l2", "none"):
        return Penalty(name, alpha, alpha, arb(2))
    if name == "elastic-net":
        # The ridge of steps and objectives is this very double.
        return Penalty(name, alpha, number(record["alpha"] * (1 - float(parameter))), arb(2))
    if name == "bridge":
        return Penalty(name, alpha, arb(0), number(float(parameter)))
    raise Undecided(f"the penalty {record['name']}")
