"""What a row counts for by its class, where classes have public weights (docs/proofs/N2.md)."""

import numpy as np
from numpy.typing import NDArray

from equipoise.vocabulary.facts import Problem

Array = NDArray[np.float64]


def weighed(coded: Array, problem: Problem, shares: Array | None = None) -> Array | None:
    """Return what every row counts for by its class, times what it counts for besides (N2); None where all count for 1.

    Examples
    --------
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.facts import Domain
    >>> domain = Domain(1.0, classes=("no", "yes"), class_weights=(0.25, 1.0))
    >>> problem = Problem(losses.named("logistic"), penalties.named("l2", 1.0), domain)
    >>> weighed(np.array([-1.0, 1.0, -1.0]), problem)
    array([0.25, 1.  , 0.25])
    """
    weights = problem.domain.class_weights
    if weights is None:
        return shares
    positions = (coded > 0).astype(np.intp) if problem.loss.outputs == 1 else coded.astype(np.intp)
    found: Array = np.array(weights)[positions]
    return found if shares is None else found * shares
