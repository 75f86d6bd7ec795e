"""Whose signature counts: the keys that a trust file lists, each with a name and the days on which it is trusted."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.artifact.parts import NOT_SIGNED, NOT_TRUSTED, Part
from equipoise.artifact.statement import Found, Signed, digests_of, found_in, is_producer
from equipoise.artifact.toml_file import read_toml
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import STATEMENT
from equipoise.errors import InvalidParameter, ReleaseRefused
from equipoise.keys import fingerprint
from equipoise.keys.signatures import is_weak

# What is said where no key that counts signed.
UNPROVED = "origin unproved"

REMEDY = "list every key as [[key]] with name, key (64 hexadecimal digits), from and until (docs/keys.md)"
FIELDS = {"name", "key", "from", "until"}


@dataclass(frozen=True, slots=True)
class Trusted:
    """A key that counts: whose it is, and on which days; the last one included. None is no limit."""

    name: str
    first: datetime.date | None = None
    last: datetime.date | None = None

    def fault(self, day: datetime.date, what: str) -> str | None:
        """Return why the key does not count for something of that day, or None."""
        if self.first is not None and day < self.first:
            return f"{what}, {day}, is before {self.first}, from when on the key of {self.name} is trusted"
        if self.last is not None and day > self.last:
            return f"{what}, {day}, is after {self.last}, until when the key of {self.name} is trusted"
        return None


def trusted_in(path: Path) -> dict[bytes, Trusted]:
    """Return the keys of a trust file by their 32 bytes."""
    asked = f"a trust file {path.name}"
    record = read_toml(path, asked, REMEDY)
    listed = record.get("key")
    if record.keys() != {"key"} or not isinstance(listed, list) or not listed:
        raise InvalidParameter(asked, "no list [[key]], or more than it", REMEDY)
    found: dict[bytes, Trusted] = {}
    for place, entry in enumerate(listed, start=1):
        if fault := _fault(entry):
            raise InvalidParameter(asked, f"key {place}: {fault}", REMEDY)
        public = bytes.fromhex(entry["key"])
        if public in found:
            raise InvalidParameter(asked, f"key {place}: listed twice ({fingerprint(public)})", "list it once")
        found[public] = Trusted(entry["name"], entry["from"], entry.get("until"))
    return found


def _fault(entry: Any) -> str | None:
    """Return what is wrong with one key of a trust file, or None."""
    if not isinstance(entry, dict) or not entry.keys() <= FIELDS:
        return "other fields than name, key, from and until"
    if missing := FIELDS - {"until"} - entry.keys():
        return f"without {', '.join(sorted(missing))}"
    if not entry["name"] or not is_producer(entry["name"]):
        return "no name that can be read"
    if not isinstance(entry["key"], str) or not re.fullmatch(r"[0-9a-f]{64}", entry["key"]):
        return "not 64 hexadecimal digits, as equipoise key show prints them"
    if is_weak(bytes.fromhex(entry["key"])):
        return "a key for which anybody can sign anything"
    # A time of day is a date too, and would be compared with none.
    if not all(type(entry[name]) is datetime.date for name in entry.keys() & {"from", "until"}):
        return "a day that is not written as 2026-11-17, without quotes"
    return "it ends before it begins" if entry.get("until", entry["from"]) < entry["from"] else None


def origin(found: Found, trusted: Mapping[bytes, Trusted] | None, today: datetime.date) -> Part:
    """Return what a folder's signature proves.

    Parameters
    ----------
    found : Found
        The folder's statement.
    trusted : mapping, or None
        The keys that count; None where nobody named any, and so nothing is proved.
    today : date
        In UTC. Who signs writes the date, and whoever stole a key would write an earlier one; so a key must be trusted
        on the day of the signature and today.
    """
    signed = found.signed
    if found.faults:
        return Part(NOT_SIGNED, found.faults)
    if signed is None:
        if trusted is None:
            return Part(NOT_SIGNED, unchecked=("who made the release and when: nobody signed it",))
        return Part(NOT_SIGNED, (f"{STATEMENT}: missing; nobody signed this folder",))
    if not signed.holds():
        # Faults name a signature that does not hold. One that nothing here can verify proves as little.
        unseen = "signature not verified, for which cryptography must be installed"
        if trusted is None:
            return Part(NOT_TRUSTED, unchecked=(f"who made the release and when: {unseen}",))
        return Part(NOT_SIGNED, (f"{STATEMENT}: {unseen}",))
    if trusted is None:
        who = f"{signed.producer!r} signed it" if signed.producer else "it was signed"
        said = f"the statement says that {who} on {signed.time} with the key {signed.name}: pass --key or --trust"
        return Part(NOT_TRUSTED, unchecked=(f"who made the release and when: {said}",))
    if signed.key not in trusted:
        known = ", ".join(fingerprint(key) for key in list(trusted)[:5])
        return Part(NOT_TRUSTED, (f"{STATEMENT}: the key {signed.name}, and those trusted are {known}",))
    return _dated(signed, trusted[signed.key], today)


def signer_of(
    contents: Mapping[str, bytes], certificate: Certificate, trusted: Mapping[bytes, Trusted] | None
) -> dict[str, Any]:
    """Return who signed a folder, as a card has it; refuse a signature that a check with these keys refuses.

    Parameters
    ----------
    contents : mapping of str to bytes
        The folder's files, read once.
    certificate : Certificate
        That of the folder.
    trusted : mapping, or None
        The keys that count; None where nobody named any: then `origin` is "origin unproved".
    """
    found = found_in(contents, digests_of(contents), certificate)
    part = origin(found, trusted, datetime.datetime.now(datetime.UTC).date())
    if part.faults:
        asked = "a folder as it was signed" if part.code == NOT_SIGNED else "a folder signed by a key that is trusted"
        remedy = "ask whoever made it; equipoise verify says more"
        raise ReleaseRefused(part.code, asked, f"{'; '.join(part.faults):.300}", remedy)
    signature = None
    if (signed := found.signed) is not None:
        facts = {"producer": signed.producer or None, "signed": signed.time}
        signature = {**facts, "key": signed.key.hex(), "fingerprint": signed.name}
    return {"signature": signature, "origin": part.summary or UNPROVED}


def _dated(signed: Signed, whose: Trusted, today: datetime.date) -> Part:
    day = datetime.datetime.fromisoformat(signed.time).date()
    reasons = [whose.fault(day, "the day of the signature"), whose.fault(today, "today")]
    # Clocks differ, but not by more than a day.
    if day > today + datetime.timedelta(days=1):
        reasons.append(f"the day of the signature, {day}, is still to come")
    faults = tuple(f"{STATEMENT}: {reason}" for reason in reasons if reason)
    if faults:
        return Part(NOT_TRUSTED, faults)
    says = f", who says to be {signed.producer!r}" if signed.producer else ""
    signature = f"every file signed by {whose.name}, {signed.name}{says}, on {signed.time}"
    return Part(NOT_TRUSTED, confirmed=(signature,), summary=f"signed by {whose.name}")
