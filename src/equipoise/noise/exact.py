"""OpenDP, which chooses among scores, loaded where that is asked for and not before: it takes a second to import."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any


def opendp() -> Any:
    """Return OpenDP with the features that choosing needs."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


def vector_space(dp: Any, count: int, metric: Any) -> tuple[Any, Any]:
    """Return the space of vectors of finite doubles under a metric."""
    return dp.vector_domain(dp.atom_domain(T=float, nan=False), size=count), metric


@cache
def software(seeded: bool) -> tuple[tuple[str, str], ...]:
    """Return the libraries that noise comes from, with their versions; what is not installed draws nothing.

    Examples
    --------
    >>> [name for name, _ in software(seeded=False)]
    ['cryptography', 'numba', 'opendp']
    """
    names = ("numpy",) if seeded else ("cryptography", "numba", "opendp")
    return tuple((name, found) for name in names if (found := _version(name)) is not None)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
