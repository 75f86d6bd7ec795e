"""What inequalities in balls add to a check: a line for each, and what they mean for its answer.

`equipoise.rigorous` evaluates them, which needs python-flint and is loaded only where it is asked for. This file ships
with equipoise-verify, too; that is why it imports relatively.
"""

# ruff: noqa: TID252

import json

from ..certify.certificate import Certificate
from ..certify.folder import CHECK_FAILED, DONE, NOT_CHECKABLE, WITHDRAWN
from .parts import Part

# What is said instead where the ordinary check, which decides what the inequalities are about, does not pass.
NOT_EVALUATED = ("not evaluated: inequalities in balls, since the ordinary check comes first and does not pass",)


def enclosed(certificate: Certificate, code: int) -> tuple[tuple[str, ...], Part]:
    """Return one line for every inequality, and those that do not hold as the part of a check.

    `code` is what the ordinary check ends with: a claim that rests on what was withdrawn keeps that answer. Raises
    ImportError where python-flint is missing.
    """
    if code not in (DONE, WITHDRAWN):
        return NOT_EVALUATED, Part(code)
    from ..rigorous import EXCEEDS, HOLDS, findings

    found = findings(json.loads(certificate.to_json()))
    lines = tuple(f"{entry.verdict}: {entry}" for entry in found)
    fallen = tuple(line for entry, line in zip(found, lines, strict=True) if entry.verdict != HOLDS)
    exceeds = any(entry.verdict == EXCEEDS for entry in found)
    return lines, Part(CHECK_FAILED if exceeds else NOT_CHECKABLE, fallen if code == DONE else ())
