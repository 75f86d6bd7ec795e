"""Public numbers whose products no double holds end in one refusal, wherever planning meets them."""

from collections.abc import Iterator
from contextlib import contextmanager

from equipoise.errors import NoTheoremApplies


@contextmanager
def within_doubles() -> Iterator[None]:
    """Turn an overflow or a division by what vanished into a refusal: nothing here depends on rows.

    Examples
    --------
    >>> with within_doubles():
    ...     (1e200) ** 2
    Traceback (most recent call last):
    ...
    equipoise.errors.NoTheoremApplies: asked: a plan in double precision; found: public numbers so large or so small \
that their products leave it; to do: change the units of rows and targets, or bring alpha, radius, step and budget \
nearer to 1
    """
    try:
        yield
    except ArithmeticError:
        raise NoTheoremApplies(
            "a plan in double precision",
            "public numbers so large or so small that their products leave it",
            "change the units of rows and targets, or bring alpha, radius, step and budget nearer to 1",
        ) from None
