"""`equipoise key new | show`."""

import getpass
import json
import warnings

import pytest

from equipoise.keys import fingerprint, public_key
from program import run_program

PASSPHRASE = "a rather long sentence"  # noqa: S105  (of keys that live as long as a test)


def test_a_key_is_made_once_and_shown(tmp_path):
    done = run_program("key", "new", "owner.key", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    name = fingerprint(public_key(tmp_path / "owner.key.pub"))
    assert f"fingerprint {name}" in done.stdout
    for file in ("owner.key", "owner.key.pub"):
        shown = run_program("key", "show", file, folder=tmp_path)
        assert f"fingerprint {name}" in shown.stdout
        assert (tmp_path / "owner.key").read_text().splitlines()[1] not in shown.stdout
    again = run_program("key", "new", "owner.key", folder=tmp_path)
    assert again.returncode == 2
    assert len(again.stderr.splitlines()) == 3


def test_keys_are_told_as_json(tmp_path):
    made = json.loads(run_program("key", "new", "owner.key", "--json", folder=tmp_path).stdout)
    assert made == {
        "private": "owner.key",
        "public": "owner.key.pub",
        "key": public_key(tmp_path / "owner.key.pub").hex(),
        "fingerprint": fingerprint(bytes.fromhex(made["key"])),
        "encrypted": False,
    }
    shown = json.loads(run_program("key", "show", "owner.key.pub", "--json", folder=tmp_path).stdout)
    assert shown == {"kind": "public", "key": made["key"], "fingerprint": made["fingerprint"]}


def test_a_passphrase_comes_from_the_environment_and_is_nowhere_shown(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_KEY_PASSPHRASE", PASSPHRASE)
    made = run_program("key", "new", "owner.key", "--encrypt", folder=tmp_path)
    assert made.returncode == 0
    assert "ENCRYPTED" in (tmp_path / "owner.key").read_text()
    assert run_program("key", "show", "owner.key", folder=tmp_path).returncode == 0
    monkeypatch.setenv("EQUIPOISE_KEY_PASSPHRASE", f"{PASSPHRASE}!")
    refused = run_program("key", "show", "owner.key", folder=tmp_path)
    assert refused.returncode == 2
    assert PASSPHRASE not in made.stdout + made.stderr + refused.stdout + refused.stderr


def test_a_passphrase_is_typed_twice(tmp_path, monkeypatch):
    typed = iter([PASSPHRASE, f"{PASSPHRASE}!", PASSPHRASE, PASSPHRASE, PASSPHRASE])
    monkeypatch.setattr(getpass, "getpass", lambda _prompt: next(typed))
    refused = run_program("key", "new", "owner.key", "--encrypt", folder=tmp_path)
    assert refused.returncode == 2
    assert "two that differ" in refused.stderr
    assert not list(tmp_path.iterdir())
    assert run_program("key", "new", "owner.key", "--encrypt", folder=tmp_path).returncode == 0
    assert run_program("key", "show", "owner.key", folder=tmp_path).returncode == 0


def test_nothing_is_typed_where_it_would_be_echoed(tmp_path, monkeypatch):
    def echoing(_prompt: str) -> str:
        warnings.warn("Can not control echo on the terminal.", getpass.GetPassWarning, stacklevel=2)
        raise AssertionError("it was typed all the same")

    monkeypatch.setattr(getpass, "getpass", echoing)
    refused = run_program("key", "new", "owner.key", "--encrypt", folder=tmp_path)
    assert refused.returncode == 2
    assert "set EQUIPOISE_KEY_PASSPHRASE" in refused.stderr


@pytest.mark.parametrize("path", ["/dev/zero", ".", "missing"])
def test_what_is_no_key_is_refused_in_three_lines(tmp_path, path):
    refused = run_program("key", "show", path, folder=tmp_path)
    assert refused.returncode == 2
    assert [line.split()[0] for line in refused.stderr.splitlines()] == ["asked", "found", "to"]
