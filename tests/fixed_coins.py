"""Coins that fall the same in every run: the fast lane's noise is drawn as ever, from bits that the test's name fixes.

Released noise takes its bits from the operating system. A test that looks at what was released would then fail once in
so many runs, on a day when nothing was changed. Here the name of a test, or of the fixture that several tests share, is
the seed of those bits, so that a failure can be run again. The slow lane has the operating system's.

What OpenDP chooses (permute-and-flip, the exponential mechanism) it draws by itself, and nothing here can fix it: a
test of such a choice must hold whatever is chosen, or state its chance.
"""

import os
import random
import secrets
from collections.abc import Iterator
from typing import Any

import pytest


class _Subsets(random.Random):
    """Stand in for `random.SystemRandom`, by which subsets are drawn: its bits are those of `secrets`."""

    def getrandbits(self, k: int) -> int:
        """Return a number of so many bits."""
        return secrets.randbits(k)

    def random(self) -> float:
        """Return a number below 1, by 53 bits."""
        return secrets.randbits(53) * 2.0**-53


class FixedCoins:
    """Stand in for `secrets.token_bytes`, `secrets.randbits` and subsets in this process, as a plugin of pytest.

    Names of releases (`secrets.token_hex`) stay the operating system's: two of them must never be the same. So do the
    bits of a copy of this process, which would otherwise be those of its parent.
    """

    def __init__(self) -> None:
        """Keep what the operating system gives, and stand in for it from now on."""
        self._token_bytes, self._randbits = secrets.token_bytes, secrets.randbits
        self._process = os.getpid()
        self._bits = _fixed_by("before all tests")
        secrets.token_bytes, secrets.randbits, secrets.token_hex = self.token_bytes, self.randbits, self.token_hex
        random.SystemRandom = _Subsets  # type: ignore[misc,assignment]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Draw by the name of the test."""
        self._bits = _fixed_by(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        """Draw what several tests share by its own name, whichever of them is the first to ask for it."""
        if fixturedef.scope == "function":
            return (yield)
        before = self._bits
        self._bits = _fixed_by(f"{request.node.nodeid} {fixturedef.argname} {getattr(request, 'param_index', 0)}")
        try:
            return (yield)
        finally:
            self._bits = before

    def token_bytes(self, count: int = 32) -> bytes:
        """Return so many bytes."""
        return self._bits.randbytes(count) if os.getpid() == self._process else self._token_bytes(count)

    def randbits(self, count: int) -> int:
        """Return a number of so many bits."""
        return self._bits.getrandbits(count) if os.getpid() == self._process else self._randbits(count)

    def token_hex(self, count: int = 32) -> str:
        """Return a name that nothing else has."""
        return self._token_bytes(count).hex()


def _fixed_by(name: str) -> random.Random:
    return random.Random(name)  # noqa: S311 - told to be no secret
