"""The command `equipoise-verify`: whether a release is as it was made, and whether its claim follows."""

# ruff: noqa: TID252 # these files ship under a name of their own

import argparse
import json
import os
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from .artifact.findings import Findings, files_at, findings_of
from .artifact.parts import NOT_SIGNED, WORDS
from .artifact.shipped import strangers
from .artifact.statement import digests_of, found_in
from .certify.folder import CHECK_FAILED, DONE, NOT_CHECKABLE, REFUSED, STATEMENT, WITHDRAWN
from .errors import EquipoiseError, MissingExtra, NotCheckable, UnknownMember

# The first words of a line about an inequality (rigorous/balls.py, which needs python-flint).
HOLDS, EXCEEDS = "holds", "exceeds"
# What is said instead where the ordinary check, which decides what the inequalities are about, does not pass.
NOT_EVALUATED = ("not evaluated: inequalities in balls, since the ordinary check comes first and does not pass",)


def main() -> None:
    """Run the program; an error is three lines on standard error and an exit code."""
    parser = argparse.ArgumentParser(prog="equipoise-verify", description="Check a released folder, without its data.")
    parser.add_argument("release", type=Path, help="a released folder, or a certificate.json")
    parser.add_argument("--json", action="store_true", help="print JSON instead of sentences")
    what = "enclose every inequality as well: nothing is granted for rounding (needs python-flint)"
    parser.add_argument("--rigorous", action="store_true", help=what)
    parser.add_argument("--version", action="version", version=f"equipoise-verify {version('equipoise-verify')}")
    asked = parser.parse_args()
    try:
        found, (code, verdict) = examined(asked.release)
        enclosed = (enclosures(found) if code in (DONE, WITHDRAWN) else NOT_EVALUATED) if asked.rigorous else ()
    except EquipoiseError as error:
        beyond = isinstance(error, NotCheckable | UnknownMember)
        sys.stderr.write(f"asked  {error.asked}\nfound  {error.found}\nto do  {error.remedy}\n")
        sys.exit(NOT_CHECKABLE if beyond else REFUSED)
    try:
        lines = [f"{verdict}{next(found.lines()).removeprefix(found.verdict[1])}", *list(found.lines())[1:]]
        plain = {**found.plain(), "verdict": verdict} | ({"enclosed": enclosed} if asked.rigorous else {})
        print(json.dumps(plain, indent=2) if asked.json else "\n".join((*lines, *enclosed)), flush=True)
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    verdicts = {line.partition(":")[0] for line in enclosed}
    if code == DONE and verdicts - {HOLDS}:
        code = CHECK_FAILED if EXCEEDS in verdicts else NOT_CHECKABLE
    sys.exit(code)


def enclosures(found: Findings) -> tuple[str, ...]:
    """Return one line for every inequality of a certificate, evaluated in balls (docs/rigorous.md)."""
    try:
        from .rigorous import findings
    except ImportError:
        remedy = 'pip install "equipoise-verify[rigorous]"'
        raise MissingExtra("inequalities in balls", "python-flint is not installed", remedy) from None
    return tuple(f"{entry.verdict}: {entry}" for entry in findings(json.loads(found.certificate.to_json())))


def examined(path: Path) -> tuple[Findings, tuple[int, str]]:
    """Return what a check finds, and its verdict; a statement beside the other files must be about them."""
    contents = files_at(path)
    digests = digests_of(contents)
    found = known(findings_of(contents))
    if STATEMENT not in contents:
        return found, found.verdict
    statement, verdict = found_in(contents, digests, found.certificate), found.verdict
    signed = statement.signed
    if statement.faults:
        whole = replace(found, faults=(*found.faults, *statement.faults))
        return whole, (NOT_SIGNED, WORDS[NOT_SIGNED]) if verdict[0] in (DONE, WITHDRAWN) else verdict
    if signed is None or signed.holds() is None:
        who = "who made the release and when: signature not looked at, since cryptography is not installed"
    else:
        who = f"whose key {signed.name} is, which signed all of it on {signed.time}: ask, or equipoise verify --key"
    return replace(found, unchecked=(who, *found.unchecked[1:])), verdict


def known(found: Findings) -> Findings:
    """Return findings, unless they rest on a member that somebody else put among those that ship."""
    for member in strangers(found.certificate):
        raise UnknownMember(member)
    return found
