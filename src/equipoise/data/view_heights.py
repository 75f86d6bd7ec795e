"""How many rows are multiplied at a time, by public shapes alone."""

from equipoise.vocabulary.constants import BLOCK_ROWS

# So many doubles stay in the cache of a core; fewer rows than these at a time are not worth a call.
CACHED = 2**18
LEAST_ROWS = 16
# OpenBLAS multiplies matrices of at most so many products without copying them first: twice as fast for few outputs.
SMALL_PRODUCT = 10**6
# Tables of at most so many numbers, 8 MiB of doubles, are converted once for all passes of a fit; of larger ones single
# precision is the quicker to fetch, and a part of it is converted in the cache.
KEPT_DOUBLES = 2**20
# Tables of at least so many numbers, 128 MiB of doubles, are multiplied with several outputs by compiled loops, which
# take half the time of BLAS, and a third of a second to load.
COMPILED = 2**24


def rows_of_a_view(columns: int) -> int:
    """Return how many rows, a power of two, a view has: as many numbers as a cache holds, and a block at most.

    Examples
    --------
    >>> rows_of_a_view(10), rows_of_a_view(1000), rows_of_a_view(10**6)
    (4096, 256, 16)
    """
    most = max(LEAST_ROWS, CACHED // max(columns, 1))
    return int(min(BLOCK_ROWS, 2 ** (most.bit_length() - 1)))


def rows_of_a_product(columns: int, outputs: int) -> int:
    """Return how many rows, a power of two, are multiplied at a time with several outputs: a block where few would be.

    Examples
    --------
    >>> rows_of_a_product(784, 10), rows_of_a_product(10, 3), rows_of_a_product(1000, 40)
    (64, 4096, 4096)
    """
    most = SMALL_PRODUCT // max(columns * outputs, 1)
    return int(min(BLOCK_ROWS, 2 ** (most.bit_length() - 1))) if most >= 2 * LEAST_ROWS else BLOCK_ROWS
