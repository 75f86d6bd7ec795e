"""What is said of an evaluation (N4)."""

from collections.abc import Iterator
from typing import Any, ClassVar

from equipoise.certify.claims import Claim
from equipoise.certify.claims.evaluation import Evaluation
from equipoise.planning.kinds.base import Words


class EvaluationWords(Words):
    """Counts of rows in public cells."""

    claim: ClassVar[type[Claim]] = Evaluation
    words: ClassVar[str] = "noise on counts of rows in public cells"
    changes: ClassVar[str] = "counts move by at most (L2)"

    def caveats(self, claim: Any) -> Iterator[str]:
        """Yield how noise is drawn, and what figures need besides privacy."""
        yield "the noise on counts is drawn exactly, Laplace noise on whole numbers (N4, D7)"
        yield "what figures say of new rows holds if these rows had no part in the model or in its choice"
