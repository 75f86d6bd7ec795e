"""The rigorous check: every inequality of a certificate, evaluated with enclosed errors (docs/rigorous.md).

A second implementation of the trusted base's arithmetic, written from the proof pages in Arb's balls (python-flint). It
reads the JSON of a certificate and imports nothing of `certify`. Recursions without a closed form (C1) go
step by step as the checker does: there it is a second arithmetic, not a second reading.
"""

from .balls import EXCEEDS, HOLDS, OPEN, Finding
from .tree import findings, verdict

__all__ = ["EXCEEDS", "HOLDS", "OPEN", "Finding", "findings", "verdict"]
