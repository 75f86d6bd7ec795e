"""Losses whose slopes can be clipped: the clipped forms of the logistic, the squared and Huber's loss (B7)."""

from typing import ClassVar

from equipoise.planning.losses.base import KnownLoss
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.losses.clipped_logistic import ClippedLogistic
from equipoise.vocabulary.losses.clipped_squared import ClippedSquared
from equipoise.vocabulary.losses.huber import Huber
from equipoise.vocabulary.losses.logistic import Logistic
from equipoise.vocabulary.losses.squared import Squared


class KnownLogistic(KnownLoss):
    """The logistic loss, whose slope is at most 1."""

    of: ClassVar[type[Loss]] = Logistic

    def clipped(self, cap: float) -> Loss:
        """Return the clipped logistic loss, this one for a cap of 1 or more."""
        return self.loss if cap >= 1 else ClippedLogistic(cap)


class KnownSquared(KnownLoss):
    """The squared loss, whose slope has no bound."""

    of: ClassVar[type[Loss]] = Squared

    def clipped(self, cap: float) -> Loss:
        """Return the clipped squared loss."""
        return ClippedSquared(cap)


class KnownHuber(KnownLoss):
    """Huber's loss, which has a cap."""

    of: ClassVar[type[Loss]] = Huber

    def clipped(self, cap: float) -> Loss:
        """Return the loss with the smaller cap."""
        capped: Loss = type(self.loss)(min(self.loss.cap, cap))
        return capped


class KnownClippedLogistic(KnownHuber):
    """The clipped logistic loss, which has one too."""

    of: ClassVar[type[Loss]] = ClippedLogistic


class KnownClippedSquared(KnownHuber):
    """The clipped squared loss, which has one too."""

    of: ClassVar[type[Loss]] = ClippedSquared
