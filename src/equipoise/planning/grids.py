"""Searching a grid for its cheapest step: every so many steps first, and then all around the best of those.

A cost over alpha falls and then rises, slowly beside a step of its grid: the penalty costs more with alpha, the noise
less. Where a cost should do otherwise a dearer step may be taken, which wastes accuracy and never privacy.
"""

from collections.abc import Callable, Sequence

# A cost, and before it whether the step is one that is taken only where there is no other.
Cost = tuple[bool, float]


def cheapest(steps: Sequence[int], cost: Callable[[int], Cost], stride: int) -> int:
    """Return the step with the smallest cost, the first of equals; all are tried where no `stride`-th is welcome.

    Examples
    --------
    >>> tried = []
    >>> cheapest(range(100), lambda step: (False, tried.append(step) or abs(step - 42.0)), stride=10)
    42
    >>> len(tried)
    29
    """
    known: dict[int, Cost] = {}

    def at(place: int) -> Cost:
        if place not in known:
            known[place] = cost(steps[place])
        return known[place]

    every = range(len(steps))
    middle = min((*every[::stride], every[-1]), key=at)
    unwelcome, found = at(middle)
    if not unwelcome and found < float("inf"):
        every = every[max(0, middle - stride + 1) : middle + stride]
    return steps[min(every, key=at)]
