"""Whose key counts and when, and what a site accepts: files that people write, and that strangers may."""

import datetime
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import equipoise as eq
from equipoise.artifact import statement
from equipoise.artifact.parts import BEYOND_POLICY, NOT_SIGNED, NOT_TRUSTED
from equipoise.artifact.policy import Policy, Shown, advantage, read_policy
from equipoise.artifact.statement import Found
from equipoise.artifact.trust import origin, trusted_in
from equipoise.certify.folder import DONE, REFUSED, STATEMENT
from equipoise.errors import InvalidParameter
from equipoise.keys import PrivateKey, sign
from program import run_program
from released_folders import sealed
from signed_releases import Hospital
from stored_certificates import STORED

SIGNER = PrivateKey(Ed25519PrivateKey.from_private_bytes(bytes([7] * 32)))
KEY, OTHER = SIGNER.public, bytes([9] * 32)
SIGNATURE = sign(SIGNER, statement.PAYLOAD_TYPE, b"{}")
SIGNED = statement.Signed(b"{}", KEY, SIGNATURE, "Data office", "2026-06-15T12:00:00+00:00")
ENTRY = '[[key]]\nname = "Office"\nkey = "{key}"\nfrom = {first}\n{until}\n'


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def trust_file(place: Path, first: str = "2026-01-01", until: str = "until = 2026-12-31", key: bytes = KEY) -> Path:
    path = place / "trust.toml"
    path.write_text(ENTRY.format(key=key.hex(), first=first, until=until))
    return path


@pytest.mark.parametrize(
    ("first", "until", "today", "fault"),
    [
        ("2026-01-01", "until = 2026-12-31", "2026-07-01", None),
        ("2026-06-15", "until = 2026-06-15", "2026-06-15", None),
        ("2026-01-01", "", "2099-01-01", None),
        (
            "2026-06-16",
            "until = 2026-12-31",
            "2026-07-01",
            "the day of the signature, 2026-06-15, is before 2026-06-16",
        ),
        ("2026-01-01", "until = 2026-06-14", "2026-06-14", "the day of the signature, 2026-06-15, is after 2026-06-14"),
        ("2026-01-01", "until = 2026-12-31", "2027-01-01", "today, 2027-01-01, is after 2026-12-31"),
        ("2026-01-01", "", "2025-12-01", "today, 2025-12-01, is before 2026-01-01"),
        ("2026-01-01", "", "2026-06-01", "the day of the signature, 2026-06-15, is still to come"),
    ],
)
def test_a_key_counts_on_the_day_of_the_signature_and_today(tmp_path, first, until, today, fault):
    trusted = trusted_in(trust_file(tmp_path, first, until))
    part = origin(Found(SIGNED, ()), trusted, day(today))
    assert part.code == NOT_TRUSTED
    if fault is None:
        assert (part.faults, part.summary) == ((), "signed by Office")
    else:
        assert any(fault in line for line in part.faults)
        assert part.confirmed == ()


def test_a_key_that_the_file_does_not_know_and_a_folder_without_a_signature_are_told_apart(tmp_path):
    trusted = trusted_in(trust_file(tmp_path, key=OTHER))
    unknown = origin(Found(SIGNED, ()), trusted, day("2026-07-01"))
    unsigned = origin(Found(None, ()), trusted, day("2026-07-01"))
    broken = origin(Found(SIGNED, ("a fault",)), {KEY: trusted[OTHER]}, day("2026-07-01"))
    assert (unknown.code, unsigned.code, broken.code) == (NOT_TRUSTED, NOT_SIGNED, NOT_SIGNED)
    assert all(part.faults for part in (unknown, unsigned, broken))


def test_a_signature_that_does_not_hold_or_that_nothing_can_verify_proves_nothing(tmp_path, monkeypatch):
    trusted, today = trusted_in(trust_file(tmp_path)), day("2026-07-01")
    assert origin(Found(SIGNED, ()), trusted, today).confirmed
    forged = replace(SIGNED, signature=bytes(64))
    assert origin(Found(forged, ()), trusted, today).faults
    # As where cryptography is missing or broken: an import of what is None raises ImportError.
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    for unseen in (SIGNED, forged):
        part = origin(Found(unseen, ()), trusted, today)
        assert (part.code, part.confirmed, part.summary) == (NOT_SIGNED, (), "")
        assert part.faults == (f"{STATEMENT}: signature not verified, for which cryptography must be installed",)
        part = origin(Found(unseen, ()), None, today)
        assert (part.faults, part.confirmed) == ((), ())
        assert part.unchecked[0].startswith("who made the release and when: signature not verified")


GOOD = ENTRY.format(key=KEY.hex(), first="2026-01-01", until="")
BAD_TRUST = {
    "nothing": "",
    "no list": 'key = "abc"',
    "a table": '[key]\nname = "a"',
    "more besides": "everyone = true\n" + GOOD,
    "a short key": GOOD.replace(KEY.hex(), "07"),
    "capital digits": ENTRY.format(key=bytes([171] * 32).hex().upper(), first="2026-01-01", until=""),
    "a key that signs anything": GOOD.replace(KEY.hex(), "01" + 31 * "00"),
    "no name": GOOD.replace('"Office"', '""'),
    "a name that a terminal obeys": GOOD.replace('"Office"', '"\\u001b[31m"'),
    "no day": GOOD.replace("from = 2026-01-01\n", ""),
    "a day in quotes": GOOD.replace("2026-01-01", '"2026-01-01"'),
    "a time of day": GOOD.replace("2026-01-01", "2026-01-01T00:00:00Z"),
    "no such day": GOOD.replace("2026-01-01", "2026-02-30"),
    "an end before the beginning": GOOD + "until = 2025-01-01",
    "twice": GOOD + GOOD,
    "another field": GOOD + "always = true",
    "no TOML": "[[key]",
    "no text": b"\xff\xfe",
    "too long": "#" * (2**20 + 1),
    "too deep": "key = " + "[" * 100_000,
    "a key of many parts": "key" + ".a" * 10_000 + " = 1",
}
BAD_POLICY = {
    "nothing": "",
    "an unknown key": "largest_epsilons = 1.0",
    "a text": 'largest_epsilon = "1"',
    "a truth value": "largest_epsilon = true",
    "infinity": "largest_epsilon = inf",
    "no number": "largest_delta = nan",
    "below zero": "largest_advantage = -0.1",
    "an unknown grade": 'grade = "measured"',
    "a grade in a list": 'grade = ["proved"]',
    "a number for a requirement": "signature = 1",
    "a table": "[largest_epsilon]\nx = 1",
    "no TOML": "largest_epsilon 1",
    "a date": "largest_epsilon = 2026-01-01",
    "beyond doubles": f"largest_epsilon = 1{'0' * 400}",
    "no text": b"\xff\xfe",
    "too long": "#" * (2**20 + 1),
    "a key of many parts": "grade" + ".a" * 10_000 + " = 1",
    "a table of many parts": "[grade" + ". a" * 10_000 + "]",
    "tables within tables": "grade = " + ("{" + "a." * 60 + "a = ") * 100 + "1" + "}" * 100,
}


@pytest.mark.parametrize("name", BAD_TRUST)
def test_a_trust_file_that_is_none_is_refused(tmp_path, name):
    path = tmp_path / "trust.toml"
    path.write_bytes(BAD_TRUST[name] if isinstance(BAD_TRUST[name], bytes) else BAD_TRUST[name].encode())
    with pytest.raises(InvalidParameter):
        trusted_in(path)


@pytest.mark.parametrize("name", BAD_POLICY)
def test_a_policy_that_is_none_is_refused(tmp_path, name):
    path = tmp_path / "policy.toml"
    path.write_bytes(BAD_POLICY[name] if isinstance(BAD_POLICY[name], bytes) else BAD_POLICY[name].encode())
    with pytest.raises(InvalidParameter):
        read_policy(path)


def test_what_is_no_plain_file_is_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "none", Path(os.devnull)):
        for read in (trusted_in, read_policy):
            with pytest.raises(InvalidParameter):
                read(path)


def test_every_limit_is_named_that_a_release_exceeds():
    plan = eq.LogisticRegression(2.0, 1e-5, eq.Domain(1.0, classes="observed"), 0.1, "gaussian").plan(1000, 3)
    everything = Policy(1.0, 1e-6, 0.1, "proved", signature=True, ledger=True, page=True)
    named = [fault.partition(":")[0] for fault in everything.faults(plan, Shown())]
    assert named == [
        *("largest_epsilon", "largest_delta", "largest_advantage", "grade", "signature", "ledger", "page"),
    ]
    enough = Policy(2.0, 1e-5, advantage(plan), "conditional", signature=True, ledger=True, page=True)
    assert list(enough.faults(plan, Shown(True, True, True))) == []
    assert list(Policy().faults(plan, Shown())) == []


def test_the_advantage_is_that_of_the_curve_and_at_most_what_the_claim_leaves():
    for path in STORED[::7]:
        certificate = eq.Certificate.from_json(path.read_text())
        assert 0 < advantage(certificate) <= min(1.0, certificate.epsilon / 2 + certificate.delta)


def test_numbers_that_are_none_are_beyond_every_limit():
    plan = eq.Ridge(2.0, domain=eq.Domain(1.0, labels=(0, 1))).plan(1000, 3)
    spoiled = replace(plan, claim=replace(plan.claim, budget=replace(plan.claim.budget)))
    object.__setattr__(spoiled.claim.budget, "epsilon", float("nan"))
    assert [fault.partition(":")[0] for fault in Policy(1.0).faults(spoiled, Shown())] == ["largest_epsilon"]


@pytest.mark.usefixtures("plain_page")
def test_verify_refuses_a_release_beyond_the_policy_and_accepts_one_within(tmp_path):
    house = Hospital(tmp_path)
    release = house.release("release")
    policy = tmp_path / "policy.toml"
    policy.write_text('largest_epsilon = 1.0\nlargest_delta = 0\ngrade = "proved"\nsignature = true\nledger = true\n')
    trust_file(tmp_path, until="", key=house.key.public)

    def verify(*words: object):
        return run_program("verify", release, "--policy", "policy.toml", *words, folder=tmp_path)

    shown = ("--trust", "trust.toml", "--ledger", house.ledger)
    assert verify(*shown).returncode == DONE
    assert verify(*shown).stdout.startswith("consistent; signed by Office; paid for by entry 2: ")
    refused = verify()
    assert refused.returncode == BEYOND_POLICY
    assert [line for line in refused.stdout.splitlines() if line.startswith("  policy: ")] == [
        "  policy: signature: required, and none was shown: pass --key or --trust",
        "  policy: ledger: required, and none was shown: pass --ledger, or --export with --witness and --witness-key",
    ]
    policy.write_text("largest_epsilon = 0.5\npage = true\n")
    refused = verify(*shown)
    assert (refused.returncode, "  policy: largest_epsilon: 0.5, and the release has 1" in refused.stdout) == (11, True)
    # What does not hold shows nothing, and is told first.
    (release / STATEMENT).unlink()
    (release / "report.html").write_text("<p>")
    sealed(release)
    assert verify().returncode == 1
    assert "policy: page: required" in verify().stdout
    assert verify("--key", "owner.key.pub").returncode == 1
    policy.write_text("what = 1")
    assert verify().returncode == REFUSED
    assert len(verify().stderr.splitlines()) == 3
