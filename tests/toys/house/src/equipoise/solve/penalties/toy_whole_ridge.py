"""A toy: a ridge without its half, on arrays."""

from equipoise.solve.penalties.base import Array, PenaltyArrays
from equipoise.vocabulary.penalties.toy_whole_ridge import ToyWholeRidge


class ToyWholeRidgeArrays(PenaltyArrays):
    """``alpha ||w||^2``."""

    of = ToyWholeRidge
    penalty: ToyWholeRidge

    def value(self, weights: Array) -> float:
        """Return ``alpha ||w||^2``."""
        return self.penalty.alpha * float(weights @ weights)

    def gradient(self, weights: Array) -> Array:
        """Return ``2 alpha w``."""
        return 2 * self.penalty.alpha * weights

    def add_curvature(self, hessian: Array) -> None:
        """Add ``2 alpha`` to the diagonal."""
        hessian.flat[:: len(hessian) + 1] += 2 * self.penalty.alpha
