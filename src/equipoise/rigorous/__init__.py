"""The rigorous check: every inequality of a certificate, evaluated with enclosed errors (docs/rigorous.md).

A second implementation of the trusted base's arithmetic, written from the proof pages in Arb's balls (python-flint). It
reads the JSON of a certificate and imports nothing of `certify`, so that both would have to be wrong in the same way.
"""

from .balls import EXCEEDS, HOLDS, OPEN, Finding
from .tree import findings, verdict

__all__ = ["EXCEEDS", "HOLDS", "OPEN", "Finding", "findings", "verdict"]
