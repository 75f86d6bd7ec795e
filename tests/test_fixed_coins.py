"""The fast lane draws by the name of a test, whatever is drawn: what failed fails again."""

import numpy as np
import pytest

from equipoise.noise import ExactSource
from fixed_coins import FixedCoins, _fixed_by


def drawn(source: ExactSource) -> list[list[float]]:
    """Return something of everything that is secret but what OpenDP chooses."""
    many = np.empty(200, dtype=np.int64)
    source.integers(2**40, many)
    return [
        *(source.add(law, np.zeros(4), 2.0).tolist() for law in ("laplace", "gaussian", "spherical-laplace")),
        source.add("gaussian", np.zeros(3000), 2.0).tolist(),
        source.add_whole("laplace", np.zeros(50, dtype=np.int64), 4.0).tolist(),
        source.coins(5).tolist(),
        source.subset(1000, 10).tolist(),
        source.permutation(20).tolist(),
        many.tolist(),
    ]


def test_what_is_drawn_follows_from_the_name_of_the_test(pytestconfig: pytest.Config):
    coins = next(each for each in pytestconfig.pluginmanager.get_plugins() if isinstance(each, FixedCoins))
    found = []
    for name in ("one test", "one test", "another"):
        coins._bits = _fixed_by(name)
        found.append(drawn(ExactSource()))
    assert found[0] == found[1]
    assert all(once != other for once, other in zip(found[0], found[2], strict=True))
