"""The command `equipoise-verify`: whether a release is as it was made, and whether its claim follows."""

# ruff: noqa: TID252 # these files ship under a name of their own

import argparse
import json
import os
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from .artifact.enclosing import enclosed
from .artifact.findings import Findings, files_at, findings_of
from .artifact.parts import NOT_SIGNED, WORDS
from .artifact.shipped import strangers
from .artifact.statement import digests_of, found_in
from .certify.folder import DONE, NOT_CHECKABLE, REFUSED, STATEMENT, WITHDRAWN
from .errors import EquipoiseError, MissingExtra, NotCheckable, UnknownMember


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
        lines: tuple[str, ...] = ()
        if asked.rigorous:
            lines, found, (code, verdict) = with_balls(found, (code, verdict))
    except EquipoiseError as error:
        beyond = isinstance(error, NotCheckable | UnknownMember)
        sys.stderr.write(f"asked  {error.asked}\nfound  {error.found}\nto do  {error.remedy}\n")
        sys.exit(NOT_CHECKABLE if beyond else REFUSED)
    first, *rest = found.lines()
    plain = {**found.plain(), "verdict": verdict, "exit_code": code} | ({"enclosed": lines} if asked.rigorous else {})
    told = [f"{verdict}{first.removeprefix(found.verdict[1])}", *rest, *lines]
    try:
        print(json.dumps(plain, indent=2) if asked.json else "\n".join(told), flush=True)
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def with_balls(found: Findings, answer: tuple[int, str]) -> tuple[tuple[str, ...], Findings, tuple[int, str]]:
    """Return one line for every inequality in balls (docs/rigorous.md), and findings and answer with what they add."""
    try:
        lines, part = enclosed(found.certificate, answer[0])
    except ImportError:
        remedy = 'pip install "equipoise-verify[rigorous]"'
        raise MissingExtra("inequalities in balls", "python-flint is not installed", remedy) from None
    if not part.faults:
        return lines, found, answer
    whole = replace(found, faults=part.faults)
    return lines, whole, (part.code, WORDS.get(part.code, whole.verdict[1]))


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
