"""What every law of noise says about itself."""

from abc import ABC, abstractmethod
from typing import ClassVar

from ..curves import Curve


class Law(ABC):
    """A distribution of noise on d numbers, and the curve that results where they have a known sensitivity.

    Its sampler is in `noise`, paired with it by type. `log_density` is there for tests and audits: the contract
    compares it with what is drawn and with what `curve` claims.
    """

    id: ClassVar[str]
    # Whether the noise has the same law in every direction.
    rotation_invariant: ClassVar[bool]

    @abstractmethod
    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        """Return the privacy curve of this scale, for an L2 sensitivity."""
