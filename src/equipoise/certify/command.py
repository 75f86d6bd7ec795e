"""The command `equipoise-verify`: whether a release is as it was made, and whether its claim follows."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import EquipoiseError, MissingExtra, NotCheckable
from .folder import Findings, inspect

DONE, CHECK_FAILED, REFUSED, WITHDRAWN, NOT_CHECKABLE = 0, 1, 2, 5, 6


def exit_code(found: Findings) -> int:
    """Return what a script is told."""
    if found.faults:
        return CHECK_FAILED
    return WITHDRAWN if found.withdrawn else DONE


def lines(found: Findings) -> Iterator[str]:
    """Yield the answer for people: the verdict, what it rests on or what is wrong, and what was not checked."""
    claim = found.certificate
    private = f"({claim.epsilon:g}, {claim.delta:g})-differential privacy, {claim.adjacency}, {claim.grade}"
    yield f"{found.verdict}: {private}, by {claim.theorem}, {claim.kind} and {claim.mechanism}"
    yield from (f"  {line}" for line in (*found.faults, *found.withdrawn))
    yield from (f"  assumed: {line}" for line in claim.assumptions)
    yield from (f"  not checked: {line}" for line in found.unchecked)


def plain(found: Findings) -> dict[str, object]:
    """Return the answer for programs."""
    lists = {"faults": list(found.faults), "withdrawn": list(found.withdrawn), "unchecked": list(found.unchecked)}
    return {"verdict": found.verdict, "consistent": not found.faults and not found.withdrawn, **lists}


def main() -> None:
    """Run the program; an error is three lines on standard error and an exit code."""
    parser = argparse.ArgumentParser(prog="equipoise-verify", description="Check a released folder, without its data.")
    parser.add_argument("release", type=Path, help="a released folder, or a certificate.json")
    parser.add_argument("--json", action="store_true", help="print JSON instead of sentences")
    asked = parser.parse_args()
    try:
        found = inspect(asked.release)
    except EquipoiseError as error:
        # A check that needs more than was installed says nothing about the release.
        beyond = isinstance(error, NotCheckable | MissingExtra)
        sys.stderr.write(f"asked  {error.asked}\nfound  {error.found}\nto do  {error.remedy}\n")
        sys.exit(NOT_CHECKABLE if beyond else REFUSED)
    print(json.dumps(plain(found), indent=2) if asked.json else "\n".join(lines(found)))
    sys.exit(exit_code(found))
