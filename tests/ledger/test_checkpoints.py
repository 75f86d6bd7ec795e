"""Checkpoints: what one says, who signed it, and that there is one way to write it."""

import dataclasses
import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.errors import InvalidParameter, LedgerRefused, LedgerTampered, LedgerUnreachable
from equipoise.keys import PrivateKey, new_key, private_key, sign
from equipoise.ledger import chain
from equipoise.ledger.checkpoint_table import CheckpointTable
from equipoise.ledger.checkpoints import LARGEST_CHECKPOINT, Checkpoint, Recovered, SignedCheckpoint, from_json, signed
from equipoise.ledger.currencies import Amount

pytest_plugins = ["postgres_server"]

NAMES = ["trial", "Menschen größer Ärzte", "研究 データ", "İstanbul", "a\u202eb", '"quoted"\\', "\ud800"]


def made_key(path: Path) -> PrivateKey:
    new_key(path)
    return private_key(path)


@pytest.fixture(scope="module")
def key(tmp_path_factory) -> PrivateKey:
    return made_key(tmp_path_factory.mktemp("keys") / "owner.key")


@pytest.fixture(scope="module")
def other_key(tmp_path_factory) -> PrivateKey:
    return made_key(tmp_path_factory.mktemp("keys") / "other.key")


def history(dataset: str = "trial", spends: int = 3) -> list[chain.Entry]:
    entries = [chain.following((), dataset, "budget", eq.Budget(1.0, 1e-5))]
    for _ in range(spends):
        entries.append(chain.following(entries, dataset, "spend", eq.Budget(0.1, 1e-7), "ab" * 32))
    return entries


def checkpoint_of(entries: Sequence[chain.Entry]) -> Checkpoint:
    """Return the checkpoint of a history that counts in basic composition."""
    spends = [entry for entry in entries if entry.kind == "spend"]
    amounts = (sum(Decimal(getattr(entry, name)) for entry in spends) for name in ("epsilon", "delta"))
    return Checkpoint.of(entries[-1], "basic", Amount(*(Decimal(amount) for amount in amounts)))


def test_a_checkpoint_says_the_last_entry_and_the_exact_sum():
    entries = history()
    said = checkpoint_of(entries)
    assert (said.dataset, said.number, said.digest) == ("trial", 4, entries[-1].digest)
    assert (said.currency, said.spent["amount"], float(said.spent["delta"])) == ("basic", "0.3", 3e-7)


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_is_written_and_read_whatever_the_name(key, name):
    kept = signed(checkpoint_of(history(name)), key)
    again = from_json(kept.to_json(), "file")
    assert again == kept
    again.require([key.public], "file")


def test_a_checkpoint_counts_only_if_a_trusted_key_signed_it(key, other_key):
    kept = signed(checkpoint_of(history()), key)
    kept.require([other_key.public, key.public], "file")
    with pytest.raises(LedgerTampered, match="those trusted are"):
        kept.require([other_key.public], "file")
    with pytest.raises(LedgerRefused, match="EQUIPOISE_WITNESS_KEY"):
        kept.require([], "file")


def test_a_key_that_was_swapped_in_the_file_is_noticed(key, other_key):
    said = checkpoint_of(history())
    # Signed by another key and said to be the owner's; and the other way round.
    with pytest.raises(LedgerTampered, match="did not make"):
        dataclasses.replace(signed(said, other_key), key=key.public).require([key.public], "file")
    with pytest.raises(LedgerTampered, match="those trusted are"):
        dataclasses.replace(signed(said, key), key=other_key.public).require([key.public], "file")


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": "Trial"},
        {"number": 3},
        {"digest": "0" * 64},
        {"currency": "gaussian"},
        {"spent": {"amount": "0.1", "delta": "0"}},
        {"made": "2027-01-01T00:00:00+00:00"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_field_is_under_the_signature(key, change):
    kept = signed(checkpoint_of(history()), key)
    forged = dataclasses.replace(kept, checkpoint=dataclasses.replace(kept.checkpoint, **change))
    assert from_json(forged.to_json(), "file") == forged
    with pytest.raises(LedgerTampered, match="did not make"):
        forged.require([key.public], "file")


def test_a_signature_for_another_purpose_is_none_of_a_checkpoint(key):
    said = checkpoint_of(history())
    release = sign(key, "application/vnd.in-toto+json", said.message)
    with pytest.raises(LedgerTampered, match="did not make"):
        SignedCheckpoint(said, key.public, release).require([key.public], "file")


ODD = {
    "a number with leading zeros": ('"number": 4', '"number": 004'),
    "a number as text": ('"number": 4', '"number": "4"'),
    "a number with a point": ('"number": 4', '"number": 4.0'),
    "a number with an exponent": ('"number": 4', '"number": 4e0'),
    "a number that is true": ('"number": 4', '"number": true'),
    "no entry's number": ('"number": 4', '"number": 0'),
    "a number below none": ('"number": 4', '"number": -4'),
    "a number beyond all": ('"number": 4', '"number": 1e400'),
    "a number of many digits": ('"number": 4', f'"number": {10**200}'),
    "a key twice": ('"number": 4', '"number": 9, "number": 4'),
    "a key twice, once escaped": ('"number": 4', '"number": 4, "n\\u0075mber": 9'),
    "a version twice": ('"checkpoint_version": 1', '"checkpoint_version": 2, "checkpoint_version": 1'),
    "another version": ('"checkpoint_version": 1', '"checkpoint_version": 3'),
    "a recovery's version without a recovery": ('"checkpoint_version": 1', '"checkpoint_version": 2'),
    "a version that is true": ('"checkpoint_version": 1', '"checkpoint_version": true'),
    "a further field": ('"number": 4', '"number": 4, "note": "x"'),
    "a further field outside": ('"checkpoint_version": 1', '"checkpoint_version": 1, "note": "x"'),
    "a missing field": ('"currency": "basic",', ""),
    "a currency with a break": ('"basic"', '"basic\\n"'),
    "digits of another script": ('"amount": "0.3"', '"amount": "0.\\u0663"'),
    "an amount of none": ('"amount": "0.3"', '"amount": "NaN"'),
    "an amount below nothing": ('"amount": "0.3"', '"amount": "-0.3"'),
    "a name of nothing": ('"trial"', '""'),
    "a name that is none": ('"trial"', "[]"),
    "no text": ("{", "["),
}


@pytest.mark.parametrize("kind", ODD)
def test_what_is_written_in_another_way_is_refused(key, kind):
    text = signed(checkpoint_of(history()), key).to_json()
    before, after = ODD[kind]
    assert before in text
    with pytest.raises(LedgerTampered, match=r"a checkpoint in people\.json"):
        from_json(text.replace(before, after, 1), "people.json")


@pytest.mark.parametrize("field", ["key", "signature", "digest"])
@pytest.mark.parametrize(
    "alter", [str.upper, lambda text: text + "\n", lambda text: text[:-1], lambda text: " " + text]
)
def test_hexadecimals_have_one_form(key, field, alter):
    record = json.loads(signed(checkpoint_of(history()), key).to_json())
    place = record["checkpoint"] if field == "digest" else record
    place[field] = alter(place[field])
    with pytest.raises(LedgerTampered, match=field):
        from_json(json.dumps(record), "file")


PLACES = tuple(f"{number}:{'ab' * 32}" for number in (9, 10))


def test_a_checkpoint_after_a_recovery_is_written_and_read_and_signed_for_its_own_purpose(key):
    said = dataclasses.replace(checkpoint_of(history()), recovered=Recovered(PLACES[0], PLACES))
    kept = signed(said, key)
    again = from_json(kept.to_json(), "file")
    assert again == kept
    again.require([key.public], "file")
    assert json.loads(kept.to_json())["checkpoint_version"] == 2
    # Neither is the signature that of an ordinary checkpoint, nor are the entries anybody's to change.
    for forged in (
        dataclasses.replace(kept, checkpoint=dataclasses.replace(said, recovered=Recovered(PLACES[0], PLACES[1:]))),
        dataclasses.replace(kept, signature=sign(key, "application/vnd.equipoise.checkpoint.v1+json", said.message)),
    ):
        with pytest.raises(LedgerTampered, match="did not make"):
            forged.require([key.public], "file")


@pytest.mark.parametrize(
    "recovered",
    [
        None,
        [],
        {"entry": PLACES[0]},
        {"entry": PLACES[0], "replaced": []},
        {"entry": PLACES[0], "replaced": "9"},
        {"entry": PLACES[0], "replaced": PLACES[::-1]},
        {"entry": PLACES[0], "replaced": PLACES[:1] * 2},
        {"entry": PLACES[0], "replaced": ["09:" + "ab" * 32]},
        {"entry": PLACES[0], "replaced": ["9:" + "AB" * 32]},
        {"entry": PLACES[0], "replaced": [PLACES]},
        {"entry": 9, "replaced": PLACES},
        {"entry": "0:" + "ab" * 32, "replaced": PLACES},
        {"entry": PLACES[0], "replaced": PLACES, "note": ""},
    ],
)
def test_what_a_recovery_replaced_is_written_in_one_way(key, recovered):
    record = json.loads(signed(checkpoint_of(history()), key).to_json())
    record["checkpoint_version"], record["checkpoint"]["recovered"] = 2, recovered
    with pytest.raises(LedgerTampered, match="no recovery, or not the entries"):
        from_json(json.dumps(record), "file")


def test_a_text_without_end_is_refused(key):
    with pytest.raises(LedgerTampered, match="too long"):
        from_json(signed(checkpoint_of(history()), key).to_json() + " " * LARGEST_CHECKPOINT, "file")


def test_a_table_keeps_checkpoints_of_several_datasets_and_keys_the_newest_first(key, other_key, tmp_path):
    table = CheckpointTable(f"sqlite:///{tmp_path}/witness.db")
    assert not table.exists()
    entries = history()
    kept = [signed(checkpoint_of(entries[:length]), key) for length in (1, 2, 3)]
    assert [table.add(one) for one in kept] == [True] * 3
    assert not table.add(kept[0])
    assert table.add(signed(checkpoint_of(entries[:3]), other_key))
    assert table.add(signed(checkpoint_of(history("people")), key))
    assert [one.checkpoint.number for one in table.read("trial")] == [3, 3, 2, 1]
    assert [one.checkpoint.number for one in table.read("Trial ", newest=2)] == [3, 3]
    assert [one.checkpoint.number for one in table.read("people")] == [4]
    assert table.read("nobody") == ()


def test_after_a_recovery_a_number_comes_again_and_its_checkpoint_is_kept_whatever_comes_later(key, tmp_path):
    table = CheckpointTable(f"sqlite:///{tmp_path}/witness.db")
    before, after = history(spends=3), history(spends=40)
    before[-1] = chain.following(before[:-1], "trial", "spend", eq.Budget(0.2), "cd" * 32)
    said = dataclasses.replace(checkpoint_of(after[:4]), recovered=Recovered(PLACES[0], PLACES))
    assert table.add(signed(checkpoint_of(before), key))
    assert [table.add(signed(said, key)) for _ in range(2)] == [True, False]
    for length in range(4, len(after) + 1):
        assert table.add(signed(checkpoint_of(after[:length]), key))
    newest = table.read("trial", newest=16)
    assert [one.checkpoint.number for one in newest] == [*range(41, 25, -1), 4]
    assert newest[-1].checkpoint.recovered == said.recovered


def test_a_row_whose_columns_say_otherwise_is_refused(key, tmp_path):
    table = CheckpointTable(f"sqlite:///{tmp_path}/witness.db")
    table.add(signed(checkpoint_of(history()), key))
    with table._store.opened(writing=True) as connection:
        connection.exec_driver_sql("UPDATE checkpoints SET number = 2")
    with pytest.raises(LedgerTampered, match="columns say otherwise"):
        table.read("trial")


def test_the_ledgers_own_file_is_no_witness(tmp_path):
    ledger = f"sqlite:///{tmp_path}/ledger.db#trial"
    eq.Ledger(ledger).create(eq.Budget(1.0))
    for same in (f"sqlite:///{tmp_path}/ledger.db", f"sqlite:///{tmp_path}/../{tmp_path.name}/ledger.db#people"):
        with pytest.raises(InvalidParameter, match="elsewhere"):
            CheckpointTable(same).require_elsewhere(ledger)
    CheckpointTable(f"sqlite:///{tmp_path}/witness.db").require_elsewhere(ledger)
    (tmp_path / "linked.db").hardlink_to(tmp_path / "ledger.db")
    with pytest.raises(InvalidParameter, match="elsewhere"):
        CheckpointTable(f"sqlite:///{tmp_path}/linked.db").require_elsewhere(ledger)


def test_the_ledgers_own_database_is_no_witness_however_it_is_reached(postgres):
    name = postgres.new_database()
    ledger = f"{postgres.address(name)}#trial"
    loopback = f"postgresql://ledger:{postgres.password}@127.0.0.1:{postgres.port}/{name}"
    for same in (f"{postgres.address(name)}&application_name=witness", loopback):
        with pytest.raises(InvalidParameter, match="elsewhere"):
            CheckpointTable(same).require_elsewhere(ledger)
    CheckpointTable(postgres.address(postgres.new_database())).require_elsewhere(ledger)


def test_passwords_are_not_shown(monkeypatch):
    table = CheckpointTable("postgresql://owner:secret@127.0.0.1:1/witness")
    assert "secret" not in table.shown
    with pytest.raises(LedgerUnreachable, match="checkpoints in postgresql") as caught:
        table.read("trial")
    assert "secret" not in str(caught.value)
