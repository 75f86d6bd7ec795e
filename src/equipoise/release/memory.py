"""How much memory a fit needs whose rows are never held: known from public facts, and refused before the spend.

Four batches of rows (one is decoded, one waits, one is read, one is encoded), a few pieces of encoded rows, and sums
over rows: one for every level of their tree (N12), and those that a solver
holds. No term grows with the number of rows but the tree's levels, of which 10^11 rows have 25. Rows of persons are
grouped before the first sum, which has pages of runs and a bucket in place of pieces, and the kept rows of a batch are
a copy.
"""

from equipoise.certify.claims import Trained
from equipoise.data.engines.person_piles import descending_bytes
from equipoise.data.engines.pieces import BYTES_AT_ONCE, EncodedParts
from equipoise.data.unpacked import LARGEST_BATCH
from equipoise.errors import InvalidParameter
from equipoise.planning.work import set_by
from equipoise.solve.objective import LARGEST_HESSIAN
from equipoise.vocabulary.constants import tree_depth

# What a fit may take above what the process had before, in MiB, unless the environment variable says otherwise.
BUDGET = 512
VARIABLE = "EQUIPOISE_MEMORY_LIMIT"

NUMBER, BATCHES, PIECES = 8, 4, 4
# Vectors, or matrices, that solvers and noise hold at once: points that are remembered, directions, copies.
HELD = 16


def numbers_of_a_sum(dimension: int, outputs: int, squares: bool) -> int:
    """Return how many numbers the sums over rows have that a fit asks for: a Hessian where one is worth forming.

    Examples
    --------
    >>> numbers_of_a_sum(21, 1, False), numbers_of_a_sum(10_001, 1, False), numbers_of_a_sum(10_001, 1, True)
    (463, 10002, 100030003)
    """
    linear = dimension * outputs + 1
    return linear + dimension**2 if squares or (outputs == 1 and dimension <= LARGEST_HESSIAN) else linear


def bytes_needed(rows: int, width: int, numbers: int, grouping: int = 0) -> int:
    """Return what a fit of rows of this encoded width needs, whose sums have so many numbers; pages of files apart.

    `grouping` is what it takes to group them by persons, if they are.

    Examples
    --------
    >>> [round(bytes_needed(10**11, width, width + 1) / 2**20) for width in (20, 10_000, 1_000_000)]
    [192, 195, 505]
    """
    sums = NUMBER * numbers * (tree_depth(rows) + HELD)
    batches = (BATCHES + (grouping > 0)) * LARGEST_BATCH
    return batches + max(PIECES * max(BYTES_AT_ONCE, NUMBER * width), grouping) + sums


def budget() -> int:
    """Return how many bytes a fit may take above what the process had before.

    Examples
    --------
    >>> budget() == 2**29
    True
    """
    return int(set_by(VARIABLE, BUDGET) * 2**20)


def require_memory(claim: Trained, parts: EncodedParts, squares: bool, descends: bool = False) -> None:
    """Refuse a fit that may need more than the budget: by public widths and numbers.

    How large the pages and batches of a file are depends on rows, so that nothing is refused for them.

    One that `descends` on persons deals them to places, after they were grouped.
    """
    table = parts.table
    width, problem = parts.schema.n_features + 1, claim.problem
    dimension = (getattr(claim, "projection", 0) or parts.schema.n_features) + 1
    numbers, rows = numbers_of_a_sum(dimension, problem.loss.outputs, squares), claim.setting().rows
    grouping = table.grouping()
    if descends and parts.schema.person is not None:
        grouping = max(grouping, PIECES * max(BYTES_AT_ONCE, NUMBER * width) + descending_bytes(claim.n_samples))
    needed = bytes_needed(rows, width, numbers, grouping)
    if needed > budget():
        persons = f" and the rows of {claim.n_samples} persons, {rows} at most" if rows > claim.n_samples else ""
        fewer = "levels, columns or rows a person" if persons else "levels or columns"
        raise InvalidParameter(
            f"a fit of rows that are never held in {budget() // 2**20} MiB",
            f"{needed // 2**20} MiB for {parts.schema.n_features} encoded columns{persons}",
            f'declare fewer {fewer}, choose another mechanism, set {VARIABLE} to more MiB, or use engine="memory"',
        )
