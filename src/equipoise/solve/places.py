"""Sums over rows, added in a tree that the rows' places alone fix (docs/proofs/N12.md).

Blocks of `BLOCK_ROWS` rows are the leaves. Who adds what, in which order the answers come, and how many of them work,
changes no bit of the result.
"""

import math
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from equipoise.vocabulary.constants import BLOCK_ROWS

Array = NDArray[np.float64]
Sums = tuple[Array, ...]


class Tree:
    """A binary tree of sums over numbered leaves; two nodes become their parent as soon as both are there.

    Examples
    --------
    >>> tree = Tree()
    >>> for leaf in (2, 0, 1):
    ...     tree.add(leaf, (np.array([1.0 + leaf]),))
    >>> tree.total(3)
    (array([6.]),)
    """

    def __init__(self) -> None:
        self.nodes: dict[tuple[int, int], Sums] = {}

    def add(self, number: int, sums: Sums, level: int = 0) -> None:
        """Add a node, the leaves ``number 2^level`` and on; its arrays are the tree's from here on."""
        if (level, number) in self.nodes:
            raise ValueError("a node of the tree came twice")
        while (sibling := self.nodes.pop((level, number ^ 1), None)) is not None:
            sums = added(sibling, sums)
            level, number = level + 1, number >> 1
        self.nodes[level, number] = sums

    def total(self, leaves: int) -> Sums:
        """Return the sums over all leaves: a node without a sibling goes up as it is."""
        ends = sorted((number << level, level) for level, number in self.nodes)
        reached = 0
        for first, level in ends:
            if first != reached:
                raise ValueError("some leaves of the tree are not there")
            reached += 1 << level
        if reached != leaves:
            raise ValueError("the tree has another number of leaves")
        ordered = [self.nodes[level, first >> level] for first, level in reversed(ends)]
        total = tuple(np.array(part) for part in ordered[0])
        for node in ordered[1:]:
            total = added(total, node)
        return total


def added(left: Sums, right: Sums) -> Sums:
    """Return the sums of both, in the arrays of the first; adding knows no order of two."""
    for mine, theirs in zip(left, right, strict=True):
        mine += theirs
    return left


def folded(sums: Iterable[Sums], nothing: Sums = ()) -> Sums:
    """Return the sums of blocks that come one after the other, added in a tree; `nothing` where no block comes.

    Examples
    --------
    >>> folded((np.ones(2),) for _ in range(5))
    (array([5., 5.]),)
    """
    tree, count = Tree(), 0
    for count, term in enumerate(sums, start=1):
        tree.add(count - 1, term)
    return tree.total(count) if count else nothing


def _seams(reached: int, others: list[tuple[int, tuple[int, Sums]]]) -> Iterator[tuple[int, int]]:
    """Yield where each piece begins, with where the one before it ended."""
    for start, (stop, _) in others:
        yield start, reached
        reached = stop


class PlaceSums:
    """Sums over the rows of a table, from pieces of blocks that come in any order, each once.

    A block's pieces are added in a tree of their own once all are there, so that a row passes at most `BLOCK_ROWS`
    additions in its block, however the block was cut.

    Examples
    --------
    >>> whole, part = PlaceSums(5), PlaceSums(5)
    >>> part.add(3, 5, (np.array([4.0]),))
    >>> whole.add(0, 3, (np.array([2.0]),))
    >>> whole.merge(part)
    >>> whole.total()
    (array([6.]),)
    """

    def __init__(self, n_samples: int) -> None:
        self._n_samples = n_samples
        self._tree = Tree()
        # Pieces of blocks that are not whole yet: from the place where each begins to the one where it ends.
        self._pieces: dict[int, dict[int, tuple[int, Sums]]] = {}

    def add(self, start: int, stop: int, sums: Sums) -> None:
        """Add the sums over rows of one block, from one place up to another; a part adds its pieces in their order.

        A piece joins the one before it, so that many small ones need no memory of their own.
        """
        pieces = self._pieces.get(start // BLOCK_ROWS, {})
        begin = next((begin for begin, (end, _) in pieces.items() if end == start), None)
        if begin is not None and start % BLOCK_ROWS:
            start, sums = begin, added(pieces.pop(begin)[1], sums)
        self._put(start, stop, sums)

    def _put(self, start: int, stop: int, sums: Sums) -> None:
        number = start // BLOCK_ROWS
        first, last = number * BLOCK_ROWS, min((number + 1) * BLOCK_ROWS, self._n_samples)
        if not first <= start < stop <= last:
            raise ValueError("a piece does not lie in one block of the table")
        pieces = self._pieces.setdefault(number, {})
        if start in pieces:
            raise ValueError("a piece came twice")
        pieces[start] = stop, sums
        if sum(end - begin for begin, (end, _) in pieces.items()) >= last - first:
            self._close(number, first)

    def _close(self, number: int, first: int) -> None:
        """Make a leaf of a block all of whose pieces are there."""
        (begin, (reached, total)), *others = sorted(self._pieces.pop(number).items())
        if begin != first or any(start != stop for start, stop in _seams(reached, others)):
            raise ValueError("pieces of a block overlap")
        self._tree.add(number, folded([total, *(sums for _, (_, sums) in others)]))

    def merge(self, other: "PlaceSums") -> None:
        """Take over what another has, over other rows of the same table."""
        for (level, number), sums in other._tree.nodes.items():
            self._tree.add(number, sums, level)
        for pieces in other._pieces.values():
            # They stay as they are until their block is whole: who answered first must not decide what is added first.
            for start, (stop, sums) in pieces.items():
                self._put(start, stop, sums)

    def total(self) -> Sums:
        """Return the sums over all rows; ValueError where some are missing."""
        if self._pieces:
            raise ValueError("some blocks are not whole")
        return self._tree.total(math.ceil(self._n_samples / BLOCK_ROWS))
