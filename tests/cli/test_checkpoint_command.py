"""`equipoise ledger checkpoint`, and `equipoise ledger verify --against` what it wrote."""

import json
import shutil

import pytest

import equipoise as eq
from equipoise.keys import fingerprint, new_key
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from program import run_program

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
PLAN = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1)))


@pytest.fixture
def ledger(tmp_path) -> str:
    reference = f"sqlite:///{tmp_path}/ledger.db#trial"
    eq.Ledger(reference).create(eq.Budget(1.0))
    eq.Ledger(reference).admit(PLAN)
    new_key(tmp_path / "owner.key")
    return reference


@pytest.fixture
def run(tmp_path, ledger):
    """Return what runs a command of `equipoise ledger` on the ledger."""
    return lambda command, *words: run_program("ledger", command, ledger, *words, folder=tmp_path)


def test_a_checkpoint_is_written_and_the_history_verified_against_it(run, ledger, tmp_path):
    made = run("checkpoint", "--key", "owner.key", "--out", "head.json")
    assert (made.returncode, made.stderr) == (0, "")
    assert "signed: entry 2 of 'trial'" in made.stdout
    eq.Ledger(ledger).admit(PLAN)
    good = run("verify", "--against", "head.json", "--key", "owner.key.pub")
    assert good.returncode == 0
    assert "intact: 3 entry(s)" in good.stdout
    assert "has entry 2 as head.json has it" in good.stdout
    told = json.loads(run("verify", "--against", "head.json", "--key", "owner.key.pub", "--json").stdout)
    assert (told["intact"], told["faults"], len(told["confirmed"])) == (True, [], 1)


def test_a_restored_copy_does_not_verify_and_trains_nothing(run, ledger, tmp_path, monkeypatch):
    shutil.copy(tmp_path / "ledger.db", tmp_path / "yesterday.db")
    eq.Ledger(ledger).admit(PLAN)
    witness = f"sqlite:///{tmp_path}/witness.db"
    assert run("checkpoint", "--key", "owner.key", "--to", witness).returncode == 0
    shutil.copy(tmp_path / "yesterday.db", tmp_path / "ledger.db")
    found = run("verify", "--against", witness, "--key", "owner.key.pub")
    assert found.returncode == 1
    assert "the histories part at entry 3 or before it: this one ends at entry 2" in found.stdout
    again = run("checkpoint", "--key", "owner.key", "--to", witness)
    assert again.returncode == 3
    assert "an older copy" in again.stderr
    monkeypatch.setenv("EQUIPOISE_WITNESS", witness)
    monkeypatch.setenv("EQUIPOISE_WITNESS_KEY", str(tmp_path / "owner.key.pub"))
    with pytest.raises(eq.errors.LedgerTampered, match="ends at entry 2"):
        eq.Ledger(ledger).admit(PLAN)


def test_a_checkpoint_as_json_is_the_file(run, tmp_path):
    done = run("checkpoint", "--key", "owner.key", "--out", "head.json", "--json")
    assert done.stdout == (tmp_path / "head.json").read_text()
    record = json.loads(done.stdout)
    assert record["checkpoint"]["number"] == 2
    shown = json.loads(run_program("key", "show", "owner.key.pub", "--json", folder=tmp_path).stdout)
    assert record["key"] == shown["key"]
    assert fingerprint(bytes.fromhex(record["key"])) == shown["fingerprint"]


def test_the_same_entry_is_kept_once(run, tmp_path):
    words = ("checkpoint", "--key", "owner.key", "--to", f"sqlite:///{tmp_path}/witness.db")
    assert "already" not in run(*words).stdout
    assert "already" in run(*words).stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--key", "owner.key"), "neither --out nor --to"),
        (("--key", "owner.key.pub", "--out", "head.json"), "a file that others than its owner may use"),
        (("--key", "none.key", "--out", "head.json"), "No such file"),
        (("--key", "owner.key", "--out", "taken.json"), "one that exists"),
        (("--key", "owner.key", "--to", "sqlite:///ledger.db"), "the ledger's own"),
        (("--key", "owner.key", "--to", "sqlite:///none/witness.db"), "No such file"),
    ],
)
def test_what_cannot_be_signed_or_kept_is_told_in_three_lines(run, tmp_path, words, found):
    (tmp_path / "taken.json").write_text("kept")
    before = sorted(tmp_path.iterdir())
    refused = run("checkpoint", *words)
    assert refused.returncode in (2, 3)
    assert len(refused.stderr.splitlines()) == 3
    assert found in refused.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_a_checkpoint_without_a_key_to_trust_does_not_verify(run):
    run("checkpoint", "--key", "owner.key", "--out", "head.json")
    refused = run("verify", "--against", "head.json")
    assert refused.returncode == 3
    assert "--key FILE.pub" in refused.stderr
