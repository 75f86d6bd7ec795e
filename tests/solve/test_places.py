import itertools
import math
import pickle

import numpy as np
import pytest

from equipoise.solve.places import PlaceSums, Tree, folded
from equipoise.vocabulary.constants import BLOCK_ROWS, tree_depth

ROWS = 5 * BLOCK_ROWS + 77


def terms(seed=0):
    """One number a row, of very different sizes: their sum depends on the order of additions."""
    coins = np.random.default_rng(seed)
    return coins.normal(size=ROWS) * 10.0 ** coins.integers(-8, 8, size=ROWS)


def part(values, start, stop, step=BLOCK_ROWS):
    """The sums of one part, in pieces that end at multiples of the step."""
    sums = PlaceSums(ROWS)
    while start < stop:
        end = min(stop, (start // step + 1) * step)
        sums.add(start, end, (np.array([values[start:end].sum()]),))
        start = end
    return sums


def total_of(parts):
    whole = PlaceSums(ROWS)
    for answer in parts:
        whole.merge(answer)
    return whole.total()


CUTS = [[0, ROWS], [0, BLOCK_ROWS, ROWS], [0, 100, 3000, 9000, 9001, ROWS], [0, 4095, 4097, 4100, 20000, ROWS]]


@pytest.mark.parametrize("cuts", CUTS)
def test_the_order_in_which_parts_answer_changes_no_bit(cuts):
    values = terms()
    parts = [part(values, *ends) for ends in itertools.pairwise(cuts)]
    totals = set()
    for order in itertools.islice(itertools.permutations(parts), 30):
        whole = PlaceSums(ROWS)
        for answer in order:
            whole.merge(pickle.loads(pickle.dumps(answer)))  # noqa: S301 - as an engine brings it
        totals.add(whole.total()[0].tobytes())
    assert len(totals) == 1
    assert np.frombuffer(totals.pop())[0] == pytest.approx(math.fsum(values), rel=1e-9)


def test_values_were_chosen_so_that_an_order_could_show():
    values = terms()
    assert values.sum() != np.sort(values).sum()


@pytest.mark.parametrize("lost", range(5))
def test_a_part_that_is_lost_gives_no_total(lost):
    values, cuts = terms(), CUTS[2]
    whole = PlaceSums(ROWS)
    for number, ends in enumerate(itertools.pairwise(cuts)):
        if number != lost:
            whole.merge(part(values, *ends))
    with pytest.raises(ValueError, match=r"leaves|whole"):
        whole.total()


@pytest.mark.parametrize("twice", range(5))
def test_a_part_that_counts_twice_gives_no_total(twice):
    values, cuts = terms(), CUTS[2]
    ends = list(itertools.pairwise(cuts))
    with pytest.raises(ValueError, match=r"twice|overlap|number|whole|leaves"):
        total_of(part(values, *found) for found in [*ends, ends[twice]])


def test_a_piece_lies_in_one_block_of_the_table():
    sums = PlaceSums(ROWS)
    for start, stop in [(4000, 4097), (ROWS - 1, ROWS + 1), (5, 5), (7, 6)]:
        with pytest.raises(ValueError, match="one block"):
            sums.add(start, stop, (np.zeros(1),))


class Depths:
    """How many additions the term of each leaf in a sum has passed."""

    def __init__(self, of):
        self.of = of

    def __add__(self, other):
        return Depths({leaf: depth + 1 for leaf, depth in (self.of | other.of).items()})


@pytest.mark.parametrize("leaves", [1, 2, 3, 5, 8, 13, 100])
def test_no_term_passes_more_additions_than_the_tree_is_deep(leaves):
    tree = Tree()
    for leaf in range(leaves):
        tree.add(leaf, (np.array([Depths({leaf: 0})], dtype=object),))
    (total,) = tree.total(leaves)
    assert sorted(total[0].of) == list(range(leaves))
    assert max(total[0].of.values()) <= tree_depth(leaves * BLOCK_ROWS) == math.ceil(math.log2(leaves))


def test_sums_of_blocks_in_a_row_are_those_of_the_tree():
    values = terms()
    blocks = [values[start : start + BLOCK_ROWS] for start in range(0, ROWS, BLOCK_ROWS)]
    (summed,) = folded((np.array([block.sum()]),) for block in blocks)
    whole = PlaceSums(ROWS)
    whole.merge(part(values, 0, ROWS))
    assert summed.tobytes() == whole.total()[0].tobytes()
