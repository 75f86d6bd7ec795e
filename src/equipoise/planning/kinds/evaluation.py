"""What is said of an evaluation (N4)."""

from collections.abc import Iterator
from typing import Any, ClassVar

from equipoise.certify.claims import Claim
from equipoise.certify.claims.evaluation import Evaluation, Looked
from equipoise.planning.kinds.base import Words


class EvaluationWords(Words):
    """Counts of rows in public cells."""

    claim: ClassVar[type[Claim]] = Evaluation
    words: ClassVar[str] = "noise on counts of rows in public cells"
    changes: ClassVar[str] = "counts move by at most (L2)"

    def caveats(self, claim: Any) -> Iterator[str]:
        """Yield how noise is drawn, and what figures need besides privacy."""
        yield "the noise on counts is drawn exactly, Laplace noise on whole numbers (N4, D7)"
        # Counts by class alone are about no model.
        if claim.model:
            yield "what figures say of new rows holds if these rows had no part in the model or in its choice"


class LookedWords(Words):
    """Counts in bins that follow from a first look at the same rows."""

    claim: ClassVar[type[Claim]] = Looked
    words: ClassVar[str] = "a first look at rows, and noise on counts of them in bins that follow from it"
    changes: ClassVar[str] = EvaluationWords.changes
