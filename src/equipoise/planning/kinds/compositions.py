"""What is said of claims that are no training by themselves: choices, selections, bounds, and compositions."""

from collections.abc import Iterator
from collections.abc import Sequence as Parts
from typing import Any, ClassVar

from equipoise.certify.claims import Claim
from equipoise.certify.claims.choice import Choice, Stopping, mean_of
from equipoise.certify.claims.compositions import Disjoint, PostProcessing, Sequence
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.certify.claims.simplex import Simplex
from equipoise.planning.kinds.base import Words


class ChoiceWords(Words):
    """One of several candidates."""

    claim: ClassVar[type[Claim]] = Choice
    words: ClassVar[str] = "noise on the scores by which one of several candidates is chosen"

    def caveats(self, claim: Any) -> Iterator[str]:
        """Yield that the grid is public."""
        yield "the candidates, the split and the score bound are taken to have been chosen without a look at the rows"


class StoppingWords(ChoiceWords):
    """The best of a random number of runs."""

    claim: ClassVar[type[Claim]] = Stopping
    words: ClassVar[str] = "noise on weights and scores, and a secret number of runs of which the best is seen"

    def work(self, claim: Stopping, parts: Parts[float]) -> float:
        """Return what the mean number of runs meets, each of the dearest candidate: coins decide it, and no row."""
        return mean_of(claim.shape, claim.gamma) * max(parts)


class SimplexWords(Words):
    """A column of zeros and ones."""

    claim: ClassVar[type[Claim]] = Simplex
    words: ClassVar[str] = "coins that keep or drop each entry 1 of the table, after a test with noise"

    def caveats(self, claim: Any) -> Iterator[str]:
        """Yield where the coins come from."""
        yield "the coins come from a cryptographic stream; the noise of the test is drawn exactly (D7)"


class PrivateBoundsWords(Words):
    """Bounds of columns."""

    claim: ClassVar[type[Claim]] = PrivateBounds
    words: ClassVar[str] = "noise on counts of rows, from which the bounds of columns follow"


class SequenceWords(Words):
    """Several releases of the same rows."""

    claim: ClassVar[type[Claim]] = Sequence
    words: ClassVar[str] = "releases one after the other"


class DisjointWords(Words):
    """Several releases of different rows."""

    claim: ClassVar[type[Claim]] = Disjoint
    words: ClassVar[str] = "releases of disjoint rows"


class PostProcessingWords(Words):
    """What follows from a release."""

    claim: ClassVar[type[Claim]] = PostProcessing
    words: ClassVar[str] = "a public rule applied to a release"
