"""The command `equipoise-verify`: whether a release is as it was made, and whether its claim follows."""

# ruff: noqa: TID252 # these files ship under a name of their own

import argparse
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

from .artifact.shipped import strangers
from .certify.folder import NOT_CHECKABLE, REFUSED, Findings, inspect
from .errors import EquipoiseError, NotCheckable, UnknownMember


def main() -> None:
    """Run the program; an error is three lines on standard error and an exit code."""
    parser = argparse.ArgumentParser(prog="equipoise-verify", description="Check a released folder, without its data.")
    parser.add_argument("release", type=Path, help="a released folder, or a certificate.json")
    parser.add_argument("--json", action="store_true", help="print JSON instead of sentences")
    parser.add_argument("--version", action="version", version=f"equipoise-verify {version('equipoise-verify')}")
    asked = parser.parse_args()
    try:
        found = known(inspect(asked.release))
    except EquipoiseError as error:
        beyond = isinstance(error, NotCheckable | UnknownMember)
        sys.stderr.write(f"asked  {error.asked}\nfound  {error.found}\nto do  {error.remedy}\n")
        sys.exit(NOT_CHECKABLE if beyond else REFUSED)
    try:
        print(json.dumps(found.plain(), indent=2) if asked.json else "\n".join(found.lines()), flush=True)
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(found.verdict[0])


def known(found: Findings) -> Findings:
    """Return findings, unless they rest on a member that somebody else put among those that ship."""
    for member in strangers(found.certificate):
        raise UnknownMember(member)
    return found
