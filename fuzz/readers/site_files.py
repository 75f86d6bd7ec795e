"""A trust file and a policy, which people write, and others may."""

from equipoise.artifact.policy import Shown, read_policy
from equipoise.artifact.trust import trusted_in
from fuzz.mutation import lines
from fuzz.readers.statement import RELEASED
from fuzz.written import written

SHARE = 0.5

mutate = lines

TRUST = b"""[[key]]
name = "Data office, St. Anna"
key = "d04ab232742bb4ab3a1368bd4615e4e6d0224ab71a016baf8520a332c9778737"
from = 2026-01-01
until = 2027-12-31
"""
POLICY = b"""largest_epsilon = 1.0
largest_delta = 1e-6
largest_advantage = 0.4
grade = "proved"
signature = true
ledger = true
page = true
"""


def examples() -> list[bytes]:
    """Return one of each."""
    return [TRUST, POLICY]


def read(data: bytes) -> None:
    """Read it as what it looks like."""
    path = written(data, "site.toml")
    if b"largest" in data or b"grade" in data:
        list(read_policy(path).faults(RELEASED, Shown()))
    else:
        trusted_in(path)
