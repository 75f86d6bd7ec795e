"""Where randomness comes from: exact samplers fed by the operating system, or a seeded source for experiments.

A source adds noise to weights. The exact source never rounds before it has added: OpenDP samples the Laplace and
Gaussian laws exactly on the lattice that holds every double, and the spherical law is drawn here in extended precision
and rounded to a public grid, because no library has it (docs/proofs/D1.md prices that rounding).
"""

import random
import secrets
from abc import ABC, abstractmethod
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The working precision of the spherical sampler, and the grid its sums are rounded to: 2^-40 of the scale, or a little
# less.
PRECISION_BITS = 320
GRID_BITS = 40


class NoiseSource(ABC):
    """Adds noise of a named law and scale to a vector."""

    @property
    @abstractmethod
    def seeded(self) -> bool:
        """Whether somebody who knows the seed could subtract the noise."""

    @abstractmethod
    def laplace(self, weights: Array, scale: float) -> Array:
        """Return the weights plus independent Laplace noise of this scale."""

    @abstractmethod
    def gaussian(self, weights: Array, scale: float) -> Array:
        """Return the weights plus independent Gaussian noise of this standard deviation."""

    @abstractmethod
    def spherical_laplace(self, weights: Array, scale: float) -> Array:
        """Return the weights plus noise of density proportional to ``exp(-||k|| / scale)``."""

    @abstractmethod
    def subset(self, count: int, size: int) -> NDArray[np.intp]:
        """Return `size` different numbers below `count`, every set of them equally likely, in rising order."""

    @abstractmethod
    def quantile(self, values: Array, candidates: tuple[float, ...], level: float, scale: float) -> float:
        """Return the candidate with the best noisy score ``-|(1 - level) #below - level #above|`` (Q1)."""

    def choose(self, scores: Array, scale: float) -> int:
        """Return a place with probability proportional to ``exp(score / scale)``: the exponential mechanism (E5)."""
        # The logarithm of an exponential variable, turned round, is a Gumbel variable.
        return int(np.argmax(scores - scale * np.log(np.abs(self.laplace(np.zeros(len(scores)), 1.0)))))

    def normals(self, out: Array) -> None:
        """Fill an array with independent standard normal numbers."""
        out[...] = self.gaussian(np.zeros(out.size), 1.0).reshape(out.shape)

    def integers(self, bound: int, out: NDArray[np.int64]) -> None:
        """Fill an array with independent whole numbers below `bound`, every one equally likely."""
        out[...] = np.array([self.subset(bound, 1)[0] for _ in range(out.size)]).reshape(out.shape)


class SeededSource(NoiseSource):
    """NumPy's generator: fast, repeatable, and therefore for experiments only.

    Examples
    --------
    >>> SeededSource(0).laplace(np.zeros(2), 1.0).shape
    (2,)
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    @property
    def seeded(self) -> bool:
        """Return True: whoever knows the seed can subtract the noise."""
        return True

    def laplace(self, weights: Array, scale: float) -> Array:
        """Return the weights plus independent Laplace noise of this scale."""
        return weights + self._generator.laplace(scale=scale, size=len(weights))

    def gaussian(self, weights: Array, scale: float) -> Array:
        """Return the weights plus independent Gaussian noise of this standard deviation."""
        return weights + self._generator.normal(scale=scale, size=len(weights))

    def spherical_laplace(self, weights: Array, scale: float) -> Array:
        """Return the weights plus a uniform direction times a Gamma(d) radius (D1)."""
        direction = self._generator.normal(size=len(weights))
        radius = self._generator.gamma(shape=len(weights), scale=scale)
        return weights + radius / np.linalg.norm(direction) * direction

    def subset(self, count: int, size: int) -> NDArray[np.intp]:
        """Return a random subset in rising order."""
        return np.sort(self._generator.choice(count, size=size, replace=False))

    def quantile(self, values: Array, candidates: tuple[float, ...], level: float, scale: float) -> float:
        """Return the candidate whose score with exponential noise is best."""
        ordered = np.sort(values)
        below, not_above = (np.searchsorted(ordered, candidates, side=side) for side in ("left", "right"))
        scores = -np.abs((1 - level) * below - level * (len(values) - not_above))
        return candidates[int(np.argmax(scores + self._generator.exponential(scale, size=len(scores))))]

    def choose(self, scores: Array, scale: float) -> int:
        """Return the place whose score with Gumbel noise is best."""
        return int(np.argmax(scores + self._generator.gumbel(scale=scale, size=len(scores))))

    def normals(self, out: Array) -> None:
        """Fill an array with the generator's normal numbers."""
        self._generator.standard_normal(out=out)

    def integers(self, bound: int, out: NDArray[np.int64]) -> None:
        """Fill an array with the generator's whole numbers."""
        out[...] = self._generator.integers(bound, size=out.shape)


class ExactSource(NoiseSource):
    """Exact samplers on the operating system's entropy: what a release uses.

    Examples
    --------
    >>> ExactSource().spherical_laplace(np.zeros(3), 1.0).shape
    (3,)
    """

    @property
    def seeded(self) -> bool:
        """Return False: nobody can draw this noise again."""
        return False

    def laplace(self, weights: Array, scale: float) -> Array:
        """Return OpenDP's exact Laplace release."""
        dp = _opendp()
        measurement = dp.m.make_laplace(*_vector_space(dp, len(weights), dp.l1_distance(T=float)), scale=scale)
        return np.array(measurement(weights.tolist()), dtype=np.float64)

    def gaussian(self, weights: Array, scale: float) -> Array:
        """Return OpenDP's exact Gaussian release."""
        dp = _opendp()
        measurement = dp.m.make_gaussian(*_vector_space(dp, len(weights), dp.l2_distance(T=float)), scale=scale)
        return np.array(measurement(weights.tolist()), dtype=np.float64)

    def spherical_laplace(self, weights: Array, scale: float) -> Array:
        """Return the sum rounded to the grid, each coordinate drawn to within ``2^-100 scale`` (docs/proofs/D1.md).

        The law is a Gaussian with a random variance: ``k = scale sqrt(2 S) (N_1, ..., N_d)`` with S ~ Gamma((d +
        1)/2). That form needs no division, so no small denominator can magnify an error.
        """
        draw = _ExtendedDraws()
        arithmetic = draw.arithmetic
        count = len(weights)
        shape = sum((draw.exponential() for _ in range((count + 1) // 2)), arithmetic.mpf(0))
        if count % 2 == 0:
            shape += draw.normal_pair()[0] ** 2 / 2
        width = arithmetic.mpf(scale) * arithmetic.sqrt(2 * shape)
        normals = [value for _ in range((count + 1) // 2) for value in draw.normal_pair()]
        grid = arithmetic.ldexp(1, int(np.frexp(scale)[1]) - 1 - GRID_BITS)
        sums = (
            arithmetic.mpf(float(weight)) + width * normal for weight, normal in zip(weights, normals, strict=False)
        )
        return np.array([float(arithmetic.floor(total / grid + 0.5) * grid) for total in sums], dtype=np.float64)

    def subset(self, count: int, size: int) -> NDArray[np.intp]:
        """Return a random subset, drawn from the operating system's entropy without bias."""
        return np.array(sorted(random.SystemRandom().sample(range(count), size)), dtype=np.intp)

    def quantile(self, values: Array, candidates: tuple[float, ...], level: float, scale: float) -> float:
        """Return OpenDP's private quantile of values whose number is public."""
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(values)), dp.symmetric_distance()
        chosen = dp.m.make_private_quantile(*space, dp.max_divergence(), list(candidates), level, scale)
        return float(chosen(values.tolist()))

    def choose(self, scores: Array, scale: float) -> int:
        """Return the place of OpenDP's largest noisy score: with this measure of privacy its noise is Gumbel's."""
        dp = _opendp()
        space = _vector_space(dp, len(scores), dp.linf_distance(T=float))
        return int(dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)(scores.tolist()))

    def normals(self, out: Array) -> None:
        """Fill an array with normal numbers of a cryptographic stream: in double precision, not exact (`stream`)."""
        _stream().normals(out)

    def integers(self, bound: int, out: NDArray[np.int64]) -> None:
        """Fill an array with whole numbers of a cryptographic stream, without bias."""
        _stream().integers(bound, out)


class _ExtendedDraws:
    """Exponential and normal variables whose absolute error is surely tiny, however far out in the tail they fall."""

    def __init__(self) -> None:
        self.arithmetic: Any = mpmath.MPContext()
        self.arithmetic.prec = PRECISION_BITS

    def fraction(self) -> Any:
        """Return the first 320 binary digits of a uniform variable in [0, 1)."""
        return self.arithmetic.ldexp(secrets.randbits(PRECISION_BITS), -PRECISION_BITS)

    def exponential(self) -> Any:
        """Return ``-ln U``, ``U = 2^-(1 + zeros) (1 + V)``: zeros are drawn until they end, so no tail is cut off."""
        zeros = 0
        while (word := secrets.randbits(64)) == 0:
            zeros += 64
        zeros += (word & -word).bit_length() - 1
        return (zeros + 1) * self.arithmetic.ln2 - self.arithmetic.log(1 + self.fraction())

    def normal_pair(self) -> tuple[Any, Any]:
        """Return two independent standard normal variables (Box and Muller)."""
        length = self.arithmetic.sqrt(2 * self.exponential())
        angle = 2 * self.fraction()
        return length * self.arithmetic.cospi(angle), length * self.arithmetic.sinpi(angle)


def _stream() -> Any:
    # A key of its own for every call: no state that two threads, or a process and its fork, could share.
    from equipoise.proof.stream import CipherStream

    return CipherStream(secrets.token_bytes(32))


def _opendp() -> Any:
    # OpenDP takes a second to import, so it is loaded when noise is drawn and not before.
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


def _vector_space(dp: Any, count: int, metric: Any) -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T=float, nan=False), size=count), metric
