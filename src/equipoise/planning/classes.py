"""What plans assume of classes: how common each is, what its rows count for, how much predictions tell (docs/alpha.md).

A rare class is told from little: on rows of which 6 % are positive a typical prediction does not say odds of 20 to 1
beyond what is known of every row. The evidence of the reference problem goes with the variance of a label,

    m = 3 max(e, 1/3),    e = (1 - sum_k p_k^2) / (1 - 1/K),

which is 3 where all classes count alike, and never less than odds of e to 1. The p_k are the shares that the domain
declares, times what a row of the class counts for. Where none are declared, weights are taken for what evens the
classes out; without weights, all classes are as common (docs/alpha.md says what another assumption would cost).
"""

import math
from dataclasses import dataclass

from equipoise.vocabulary.facts import Domain

# However rare a class is, predictions tell this share of the usual evidence.
LEAST_TOLD = 1 / 3


@dataclass(frozen=True, slots=True)
class Classes:
    """How much of the usual evidence predictions tell, a row's mean weight, and what the rarer class's rows count for.

    The last is a share of what all rows count for.
    """

    told: float
    weight: float
    rarer: float


def classes_of(domain: Domain) -> Classes | None:
    """Return what is assumed of a domain's classes; None for a regression, and where classes are not declared.

    Examples
    --------
    >>> found = classes_of(Domain(1.0, classes=(0, 1), prevalence=(0.75, 0.25)))
    >>> found.told, found.weight, found.rarer
    (0.75, 1.0, 0.25)
    >>> evened = classes_of(Domain(1.0, classes=(0, 1), class_weights=(0.25, 1.0)))
    >>> round(evened.told, 6), round(evened.weight, 6), round(evened.rarer, 6)
    (1.0, 0.4, 0.5)
    """
    if not isinstance(domain.classes, tuple):
        return None
    count = len(domain.classes)
    weights = domain.class_weights or (1.0,) * count
    if domain.prevalence is not None:
        given = domain.prevalence
    elif domain.class_weights is not None:
        given = tuple(1 / weight for weight in weights)
    else:
        given = (1.0,) * count
    counted = [share * weight for share, weight in zip(given, weights, strict=True)]
    total = math.fsum(counted)
    even = (1 - math.fsum((each / total) ** 2 for each in counted)) / (1 - 1 / count)
    return Classes(max(even, LEAST_TOLD), total / math.fsum(given), min(counted) / total)
