"""Rows times the weights of several outputs, and rows added up with several slopes, compiled.

BLAS copies what it multiplies, which is most of its work where outputs are few. These loops take four rows and two
outputs at a time as they lie. Sums are taken in an order of the compiler's, with products fused into them (A4, part 2);
which order that is follows from a row's place and from shapes, never from another row's values.

This module is imported when a large table is multiplied and not before: it loads Numba.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from equipoise.kept_loops import compiled

Array = NDArray[np.float64]
Compiled = TypeVar("Compiled", bound=Callable[..., Any])

# Rows that are read at a time; outputs come in pairs, the last one with zeros where their number is odd.
ROWS = 4


def _compiled(function: Compiled) -> Compiled:
    """Compile a loop whose sums may be taken in any order."""
    return compiled(function, fastmath={"reassoc", "contract"})


@_compiled
def multiply(table: Array, weights: Array, product: Array) -> None:
    """Fill `product` with every row times every output's weights, which lie one output after the other, in pairs.

    Examples
    --------
    >>> product = np.empty((5, 2))
    >>> multiply(np.eye(5), np.arange(10.0).reshape(2, 5), product)
    >>> product[4].tolist()
    [4.0, 9.0]
    """
    count, columns = table.shape
    whole = count - count % ROWS
    for output in range(0, len(weights), 2):
        for row in range(0, whole, ROWS):
            a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = 0.0
            for column in range(columns):
                first, second = weights[output, column], weights[output + 1, column]
                a, b = table[row, column], table[row + 1, column]
                c, d = table[row + 2, column], table[row + 3, column]
                a0 += a * first
                a1 += a * second
                b0 += b * first
                b1 += b * second
                c0 += c * first
                c1 += c * second
                d0 += d * first
                d1 += d * second
            product[row, output], product[row, output + 1] = a0, a1
            product[row + 1, output], product[row + 1, output + 1] = b0, b1
            product[row + 2, output], product[row + 2, output + 1] = c0, c1
            product[row + 3, output], product[row + 3, output + 1] = d0, d1
        for row in range(whole, count):
            a0 = a1 = 0.0
            for column in range(columns):
                a0 += table[row, column] * weights[output, column]
                a1 += table[row, column] * weights[output + 1, column]
            product[row, output], product[row, output + 1] = a0, a1


@_compiled
def add_up(table: Array, slopes: Array, sums: Array) -> None:
    """Add every row times its slopes to the sums, an output a row, in pairs.

    Examples
    --------
    >>> sums = np.zeros((2, 5))
    >>> add_up(np.eye(5), np.arange(10.0).reshape(2, 5), sums)
    >>> sums[1].tolist()
    [5.0, 6.0, 7.0, 8.0, 9.0]
    """
    count, columns = table.shape
    whole = count - count % ROWS
    for row in range(0, whole, ROWS):
        for output in range(0, len(slopes), 2):
            a0, a1 = slopes[output, row], slopes[output + 1, row]
            b0, b1 = slopes[output, row + 1], slopes[output + 1, row + 1]
            c0, c1 = slopes[output, row + 2], slopes[output + 1, row + 2]
            d0, d1 = slopes[output, row + 3], slopes[output + 1, row + 3]
            for column in range(columns):
                a, b = table[row, column], table[row + 1, column]
                c, d = table[row + 2, column], table[row + 3, column]
                sums[output, column] += a0 * a + b0 * b + c0 * c + d0 * d
                sums[output + 1, column] += a1 * a + b1 * b + c1 * c + d1 * d
    for row in range(whole, count):
        for output in range(len(slopes)):
            for column in range(columns):
                sums[output, column] += slopes[output, row] * table[row, column]
