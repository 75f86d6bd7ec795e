"""Sources of randomness: noise of any law, secret subsets and choices."""

import random
import secrets
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import InvalidParameter
from equipoise.noise.exact import opendp, vector_space
from equipoise.noise.grid import GridNoise
from equipoise.noise.numbers import MOST_NOISE, in_bulk, loops, whole_numbers
from equipoise.noise.samplers import members as samplers
from equipoise.noise.samplers import sampler_of
from equipoise.vocabulary.numbers import plain

Array = NDArray[np.float64]

# A coin with many sides: a whole number below this, which a double holds.
COINS = 2**53

# Noisy counts are cut off here. A table has fewer rows.
MOST_NOISY = MOST_NOISE // 2


class NoiseSource(ABC):
    """Adds noise of a named law and scale to a vector, and draws everything else that is secret."""

    @property
    @abstractmethod
    def seeded(self) -> bool:
        """Whether somebody who knows the seed could subtract the noise."""

    def ready(self, numbers: int, streaming: bool = False, choosing: bool = False) -> None:
        """Load what draws so many numbers at a time, a stream of them, choices: what is missing is missed now."""
        samplers()

    @abstractmethod
    def add(self, law: str, weights: Array, scale: float) -> Array:
        """Return the weights plus noise of this law and scale."""

    def noise(self, law: str, count: int, scale: float) -> GridNoise:
        """Return noise for so many numbers that are not there yet, as many steps need it."""
        return GridNoise.of_doubles(self.add(law, np.zeros(count), scale), scale)

    def add_whole(self, law: str, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """Return the counts plus noise of this law and scale, rounded to whole numbers: post-processing (N4).

        Sources draw Laplace noise on the whole numbers themselves, where it is smaller: the probability of k is
        proportional to ``exp(-|k| / scale)``.
        """
        return _cut_off(np.rint(self.add(law, counts.astype(np.float64), scale)))

    @abstractmethod
    def subset(self, count: int, size: int) -> NDArray[np.intp]:
        """Return `size` different numbers below `count`, every set of them equally likely, in rising order."""

    def largest(self, scores: NDArray[np.int64], scale: float) -> int:
        """Return the place of the largest score with exponential noise of this scale on each: permute-and-flip (N6)."""
        # The size of a Laplace variable is an exponential one.
        return int(np.argmax(scores + np.abs(self.add("laplace", np.zeros(len(scores)), scale))))

    def choose(self, scores: Array, scale: float) -> int:
        """Return a place with probability proportional to ``exp(score / scale)``: the exponential mechanism (E5)."""
        # The logarithm of an exponential variable, turned round, is a Gumbel variable.
        return int(np.argmax(scores - scale * np.log(np.abs(self.add("laplace", np.zeros(len(scores)), 1.0)))))

    def integers(self, bound: int, out: NDArray[np.int64]) -> None:
        """Fill an array with independent whole numbers below `bound`, every one equally likely."""
        out[...] = np.array([self.subset(bound, 1)[0] for _ in range(out.size)]).reshape(out.shape)

    def coins(self, count: int) -> NDArray[np.int64]:
        """Return independent whole numbers below `COINS`, every one equally likely."""
        drawn = np.empty(count, dtype=np.int64)
        self.integers(COINS, drawn)
        return drawn

    def permutation(self, count: int) -> NDArray[np.int64]:
        """Return the numbers below `count` in an order, every order equally likely.

        The order of keys that are independent and all different; where two are equal, all are drawn again.
        """
        keys = np.empty(count, dtype=np.int64)
        while True:
            self.integers(2**62, keys)
            order = np.argsort(keys)
            if np.all(np.diff(keys[order]) > 0):
                return order


class SeededSource(NoiseSource):
    """NumPy's generator: fast, repeatable, and therefore for experiments only.

    Examples
    --------
    >>> SeededSource(0).add("laplace", np.zeros(2), 1.0).shape
    (2,)
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    @property
    def seeded(self) -> bool:
        """Return True: whoever knows the seed can subtract the noise."""
        return True

    def add(self, law: str, weights: Array, scale: float) -> Array:
        """Return the weights plus the law's noise, drawn by the generator."""
        return sampler_of(law).seeded(weights, scale, self._generator)

    def add_whole(self, law: str, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """Return the counts plus the generator's noise: of Laplace's law the difference of two geometric numbers."""
        if law != "laplace":
            return super().add_whole(law, counts, scale)
        stop = -np.expm1(-1 / scale)
        draw = self._generator.geometric
        noise = draw(stop, counts.size) - draw(stop, counts.size)
        return _cut_off(counts + np.clip(noise, -MOST_NOISE, MOST_NOISE))

    def subset(self, count: int, size: int) -> NDArray[np.intp]:
        """Return a random subset in rising order."""
        return np.sort(self._generator.choice(count, size=size, replace=False))

    def largest(self, scores: NDArray[np.int64], scale: float) -> int:
        """Return the place of the largest score with the generator's exponential noise."""
        return int(np.argmax(scores + self._generator.exponential(scale, size=len(scores))))

    def choose(self, scores: Array, scale: float) -> int:
        """Return the place whose score with Gumbel noise is best."""
        return int(np.argmax(scores + self._generator.gumbel(scale=scale, size=len(scores))))

    def integers(self, bound: int, out: NDArray[np.int64]) -> None:
        """Fill an array with the generator's whole numbers."""
        out[...] = self._generator.integers(bound, size=out.shape)


class ExactSource(NoiseSource):
    """Exact samplers on the operating system's entropy: what a release uses.

    Examples
    --------
    >>> ExactSource().add("spherical-laplace", np.zeros(3), 1.0).shape
    (3,)
    """

    @property
    def seeded(self) -> bool:
        """Return False: nobody can draw this noise again."""
        return False

    def ready(self, numbers: int, streaming: bool = False, choosing: bool = False) -> None:
        """Load the compiled draws where there are many and they can be had, a stream, and OpenDP where it chooses."""
        super().ready(numbers, streaming, choosing)
        in_bulk(numbers)
        if streaming:
            loops()
        if choosing:
            opendp()

    def add(self, law: str, weights: Array, scale: float) -> Array:
        """Return the weights plus the law's exact noise."""
        return sampler_of(law).exact(weights, scale)

    def noise(self, law: str, count: int, scale: float) -> GridNoise:
        """Return exact noise."""
        return sampler_of(law).noise(count, scale)

    def add_whole(self, law: str, counts: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
        """Return the counts plus exact noise: of Laplace's law on whole numbers (D7)."""
        if law != "laplace":
            return super().add_whole(law, counts, scale)
        return _cut_off(counts + whole_numbers(scale, counts.size))

    def subset(self, count: int, size: int) -> NDArray[np.intp]:
        """Return a random subset, drawn from the operating system's entropy without bias."""
        return np.array(sorted(random.SystemRandom().sample(range(count), size)), dtype=np.intp)

    def largest(self, scores: NDArray[np.int64], scale: float) -> int:
        """Return the place of OpenDP's largest noisy score: with this measure of privacy its noise is exponential."""
        dp = opendp()
        space = dp.vector_domain(dp.atom_domain(T=int), size=len(scores)), dp.linf_distance(T=int)
        return int(dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale)(scores.tolist()))

    def choose(self, scores: Array, scale: float) -> int:
        """Return the place of OpenDP's largest noisy score: with this measure of privacy its noise is Gumbel's."""
        dp = opendp()
        space = vector_space(dp, len(scores), dp.linf_distance(T=float))
        return int(dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)(scores.tolist()))

    def integers(self, bound: int, out: NDArray[np.int64]) -> None:
        """Fill an array with whole numbers of a cryptographic stream, without bias."""
        _stream().integers(bound, out)

    def coins(self, count: int) -> NDArray[np.int64]:
        """Return coins of the operating system's entropy: whole bits of it, so that no stream has to be loaded."""
        words = np.frombuffer(secrets.token_bytes(8 * count), dtype="<u8")
        return (words & np.uint64(COINS - 1)).astype(np.int64)


def _cut_off(noisy: NDArray[Any]) -> NDArray[np.int64]:
    # Noise was cut off at twice this. A count, which is below this, does not lead back from there: what is left is a
    # function of the exact sum, and cutting off is post-processing (D7, "whole numbers").
    whole: NDArray[np.int64] = np.clip(noisy, -MOST_NOISY, MOST_NOISY).astype(np.int64)
    return whole


def _stream() -> Any:
    # A key of its own for every call: no state that two threads, or a process and its fork, could share.
    from equipoise.noise.stream import CipherStream

    return CipherStream(secrets.token_bytes(32))


def noise_source(random_state: object) -> NoiseSource:
    """Return the exact source for None, a seeded one for a whole number.

    Examples
    --------
    >>> noise_source(None).seeded, noise_source(7).seeded
    (False, True)
    """
    seed = plain(random_state)
    if seed is None:
        return ExactSource()
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        remedy = "leave random_state=None for a release, or pass a whole number for an experiment"
        raise InvalidParameter("random_state, None or a whole number >= 0", f"random_state={random_state!r}", remedy)
    return SeededSource(seed)
