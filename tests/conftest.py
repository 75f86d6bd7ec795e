"""What must be set before anything is imported, and what tests of several rooms share."""

import itertools
import os
import sys
from collections.abc import Callable

# Without it scikit-learn skips its check of array-API input.
os.environ["SCIPY_ARRAY_API"] = "1"

# Workers of pytest share the cores already; a second thread of linear algebra in each would only wait for its turn.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

import witnesses
from fixed_coins import FixedCoins

# No test is about time: the first example of one may load what compiles loops, and others may keep the machine busy.
settings.register_profile("fast lane", deadline=None, derandomize=True)
settings.register_profile("slow lane", deadline=None)


def pytest_configure(config: pytest.Config) -> None:
    """Let the fast lane draw the same in every run; the slow one has fresh examples and the operating system's bits."""
    if "statistics" in config.option.markexpr.split(" or "):
        settings.load_profile("slow lane")
    else:
        settings.load_profile("fast lane")
        config.pluginmanager.register(FixedCoins())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep only the tests that have a witness where the site asks for what they attain."""
    if witnesses.KEPT in os.environ:
        items[:] = [item for item in items if "witness" in getattr(item, "fixturenames", ())]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep what JAX compiles from one run of the tests to the next, as Numba does.

    The folder is pytest's own. It is set in this process alone: a process that a test kills must not leave half a file.
    """
    if "jax" in sys.modules and hasattr(session.config, "cache"):
        import jax

        jax.config.update("jax_compilation_cache_dir", str(session.config.cache.mkdir("jax")))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


@pytest.fixture(autouse=True, scope="session")
def past_the_second_fit() -> None:
    """Begin past the second private fit of the process, which warns: which test makes it is a matter of order."""
    from equipoise.release import account

    account._uncounted = itertools.count(3)


@pytest.fixture
def witness() -> Callable[..., None]:
    """Return what keeps a bound and what is attained of it, for the picture below the proof (tests/witnesses.py)."""
    return witnesses.noted


@pytest.fixture
def plain_page(monkeypatch) -> None:
    """Leave out the charts of a saved release, which take seconds: tests/artifact/test_page.py looks at pages."""
    for place in ("folder", "page_check"):
        monkeypatch.setattr(
            f"equipoise.artifact.{place}.page_of", lambda certificate, *_, **__: f"<p>{certificate.digest}</p>"
        )
    monkeypatch.setattr("equipoise.evaluation.page.page_of", lambda certificate, target: f"<p>{certificate.digest}</p>")
