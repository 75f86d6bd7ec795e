"""What is said of a training with rows that are held out from it (N3, N4)."""

from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.certify.claims.evaluation import HeldOut
from equipoise.planning.kinds.base import Words


class HeldOutWords(Words):
    """A training, and its evaluation on other rows."""

    claim: ClassVar[type[Claim]] = HeldOut
    words: ClassVar[str] = "a training, and its evaluation on rows that were held out from it"
