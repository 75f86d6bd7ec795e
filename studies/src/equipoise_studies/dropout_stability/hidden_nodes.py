"""Theorem 1: whether dropping half of the hidden nodes lowers the error, on networks whose every figure is exact.

A network is given by what its nodes put out on finitely many points, which are the distribution. Dropping nodes adds
``sum_i mu_i alpha_i g_i`` with signs mu, so the squared error is quadratic in mu, and shares of masks are counted.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from equipoise.lab.attack_finding import proportion
from equipoise.lab.estimate import Estimate

Array = NDArray[np.float64]
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Network:
    """The nodes' outputs on the points, (points, nodes), the weights above them, and the target on the points."""

    name: str
    outputs: Array
    alphas: Array
    target: Array

    @property
    def moments(self) -> tuple[Array, Array, float]:
        """Inner products of weighted nodes with the error, with one another, and the squared error."""
        weighted = self.outputs * self.alphas
        error = weighted.sum(1) - self.target
        points = len(error)
        return weighted.T @ error / points, weighted.T @ weighted / points, float(error @ error / points)

    @property
    def larger(self) -> bool:
        """Whether the network's norm is at least the target's, as the theorem assumes; up to rounding."""
        found = np.square(self.outputs @ self.alphas).mean()
        return bool(found >= np.square(self.target).mean() * (1 - 1e-12))

    @property
    def printed_floor(self) -> float:
        """The squared error from which on the printed theorem applies."""
        largest = float(np.square(self.outputs).mean(0).max())
        roots = math.sqrt(len(self.alphas)) / (16 * math.sqrt(float(self.alphas.min())))
        return float(self.alphas @ self.alphas) * largest * roots

    @property
    def printed_factor(self) -> float:
        """The factor by which the printed theorem says that the squared error falls."""
        return 1 - math.sqrt(float(self.alphas.min()) / (16 * len(self.alphas)))

    @property
    def corrected_floor(self) -> float:
        """The squared error from which on the corrected theorem applies: ``48 sqrt(2 m) sum alpha_i^2 norm(g_i)^2``."""
        return 48 * math.sqrt(2 * len(self.alphas)) * float(np.trace(self.moments[1]))

    @property
    def corrected_factor(self) -> float:
        """The factor by which the squared error falls then, with probability 1/48 at least."""
        return 1 - 1 / (2 * math.sqrt(2 * len(self.alphas)))

    @property
    def error(self) -> float:
        """The squared error before dropout."""
        return self.moments[2]

    def share(self, factor: float, masks: int = 5000, seed: int = 0) -> Estimate:
        """Return the share of masks after which the squared error is at most `factor` times what it was."""
        linear, square, before = self.moments
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(masks, len(linear)))
        after = before + 2 * signs @ linear + np.einsum("mi,ij,mj->m", signs, square, signs, optimize=True)
        return proportion(int((after <= factor * before).sum()), masks, CONFIDENCE)

    def fourth_moment(self) -> float:
        """Return ``E Z^2/(E Z)^2`` for ``Z = <change, error>^2``: at most 3, where the paper has 2."""
        squares = np.square(self.moments[0])
        return float(3 - 2 * np.square(squares).sum() / squares.sum() ** 2)


def orthogonal_share(nodes: int) -> float:
    """Return the exact share of masks that the printed theorem counts, for orthonormal nodes and the target 0.

    With all alphas 1 the squared error is m, and 4 times the number of kept nodes afterwards.

    Examples
    --------
    >>> orthogonal_share(64) < 1e-4
    True
    """
    most = nodes * (1 - math.sqrt(1 / (16 * nodes))) / 4
    return float(binom.cdf(math.floor(most + 1e-12), nodes, 0.5))


def orthogonal(nodes: int) -> Network:
    """Return linear nodes of one column each on orthogonal points, with the target 0."""
    return Network(
        f"{nodes} orthogonal nodes, target 0", math.sqrt(nodes) * np.eye(nodes), np.ones(nodes), np.zeros(nodes)
    )


def rescaled(nodes: int = 4, alpha: float = 100.0) -> Network:
    """Return the orthogonal nodes with large weights above small outputs: the same function, another printed factor."""
    first = orthogonal(nodes)
    return Network(
        f"{nodes} nodes, alpha = {alpha:g}, target 0", first.outputs / alpha, first.alphas * alpha, first.target
    )


def aligned(nodes: int) -> Network:
    """Return equal nodes and the opposite target: the case in which the corrected theorem applies with fewest nodes."""
    points = np.array([[1.0], [-1.0]])
    return Network(
        f"{nodes} equal nodes, opposite target", np.repeat(points, nodes, 1), np.ones(nodes), -nodes * points[:, 0]
    )


def random_network(name: str, link: Callable[[Array], Array], nodes: int, columns: int, seed: int) -> Network:
    """Return a network with random weights, and a target of another one, scaled to no larger norm."""
    draws = np.random.default_rng((1, nodes, columns, seed))
    points = draws.standard_normal((2000, columns))
    now, truth = (link(points @ draws.standard_normal((columns, nodes)) / math.sqrt(columns)) for _ in range(2))
    alphas, target = np.ones(nodes), truth.sum(1)
    size = math.sqrt(np.square(now.sum(1)).mean() / np.square(target).mean())
    return Network(name, now, alphas, min(1.0, size) * target)


def networks() -> tuple[Network, ...]:
    """Return the networks on which Theorem 1 is looked at."""
    found = [orthogonal(64), rescaled(), aligned(16), aligned(400)]
    for name, link in (("ReLU", _relu), ("square", np.square), ("cube", lambda values: values**3)):
        found += [random_network(f"{name}, {nodes} nodes, 10 columns", link, nodes, 10, 0) for nodes in (16, 256)]
    return tuple(found)


def _relu(values: Array) -> Array:
    return np.maximum(values, 0.0)


@dataclass(frozen=True)
class Learning:
    """Relative squared errors of polynomial networks after descent alone and after rounds of each perturbation."""

    nodes: int
    columns: int
    degree: int
    alone: Array
    dropout: Array
    additive: Array


def learn_polynomials(
    starts: int, rounds: int, steps: int, nodes: int = 4, columns: int = 8, degree: int = 3
) -> Learning:
    """Return the errors of descent on a polynomial of the given degree, from random starts, with and without help.

    A round perturbs the network, descends, and is kept where the error fell. Dropout descends with half of the nodes
    gone and the others doubled, then with all nodes. The additive perturbation shifts the weights; Andoni et al. need
    complex shifts, these are real. Descent alone gets as many steps.

    Examples
    --------
    >>> found = learn_polynomials(3, 1, 20)
    >>> bool((found.dropout <= 1.01 * found.dropout.max()).all())
    True
    """
    draws = np.random.default_rng(11)
    points = draws.standard_normal((200, columns))
    truth = (points @ draws.standard_normal((columns, nodes)) / math.sqrt(columns)) ** degree
    target = truth.sum(1)
    target /= math.sqrt(np.square(target).mean())
    begin = draws.standard_normal((starts, columns, nodes)) / math.sqrt(columns)
    whole = np.ones((starts, 1, nodes))
    first = _descended(points, target, begin, whole, degree, steps)
    alone = _descended(points, target, first, whole, degree, 2 * rounds * steps)
    dropped, shifted = first, first
    for _ in range(rounds):
        masks = np.where(draws.random((starts, 1, nodes)) < 0.5, 2.0, 0.0)
        tried = _descended(points, target, dropped, masks, degree, steps)
        dropped = _better(points, target, dropped, _descended(points, target, tried, whole, degree, steps), degree)
        moved = shifted + 0.3 * draws.standard_normal(shifted.shape) / math.sqrt(columns)
        shifted = _better(points, target, shifted, _descended(points, target, moved, whole, degree, 2 * steps), degree)
    errors = [_errors(points, target, weights, whole, degree) for weights in (alone, dropped, shifted)]
    return Learning(nodes, columns, degree, *errors)


def _errors(points: Array, target: Array, weights: Array, masks: Array, degree: int) -> Array:
    outputs = ((points @ weights) ** degree * masks).sum(2)
    return np.asarray(np.square(outputs - target).mean(1))


def _better(points: Array, target: Array, old: Array, new: Array, degree: int) -> Array:
    whole = np.ones((len(old), 1, old.shape[2]))
    falls = _errors(points, target, new, whole, degree) < _errors(points, target, old, whole, degree)
    return np.where(falls[:, None, None], new, old)


def _descended(points: Array, target: Array, weights: Array, masks: Array, degree: int, steps: int) -> Array:
    """Return the weights after normalised gradient steps that shrink: the same rule for every method."""
    for step in range(steps):
        inner = points @ weights
        error = (inner**degree * masks).sum(2) - target
        slopes = points.T @ (error[:, :, None] * masks * degree * inner ** (degree - 1)) / len(points)
        norms = np.linalg.norm(slopes, axis=(1, 2), keepdims=True)
        weights = weights - 0.1 * (1 - step / steps) * slopes / np.maximum(norms, 1e-9)
    return weights
