"""A restored copy of yesterday's ledger is refused where a witness knows today's, and what a witness cannot notice."""

import json
import os
import shlex
import shutil
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.errors import InvalidParameter, KeyRefused, LedgerRefused, LedgerTampered, LedgerUnreachable
from equipoise.keys import PrivateKey, fingerprint, new_key, private_key
from equipoise.ledger import chain, witness
from equipoise.ledger.checkpoint_table import CheckpointTable
from equipoise.ledger.checkpoints import Checkpoint, signed
from equipoise.ledger.currencies.base import NOTHING
from equipoise.ledger.partings import compare
from equipoise.ledger.signing import signed_head
from equipoise.planning.issue import issue
from equipoise.planning.request import Request

pytest_plugins = ["postgres_server"]

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
PLAN = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1)))
# What is spent after a restored copy.
OTHER = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.05)))


class House:
    """A hospital: a ledger, the owner's key, and places for witnesses that analysts cannot write."""

    def __init__(self, folder: Path, address: str | None = None, dataset: str = "trial") -> None:
        self.folder = folder
        self.file = folder / "ledger.db"
        self.reference = f"{address or f'sqlite:///{self.file}'}#{dataset}"
        self.ledger = eq.Ledger(self.reference)
        self.ledger.create(eq.Budget(1.0))
        new_key(folder / "owner.key")
        self.key: PrivateKey = private_key(folder / "owner.key")
        self.table = f"sqlite:///{folder}/witness.db"

    def spend(self, times: int = 1, plan: eq.Certificate = PLAN) -> None:
        for _ in range(times):
            self.ledger.admit(plan)

    def checkpoint(self, name: str) -> str:
        """Write a signed checkpoint to a file, as `equipoise ledger checkpoint --out` does."""
        (self.folder / name).write_text(signed_head(self.reference, self.key)[0].to_json())
        return str(self.folder / name)

    def export(self, name: str) -> str:
        (self.folder / name).write_text(self.ledger.export())
        return str(self.folder / name)

    def copy(self) -> Path:
        return Path(shutil.copy(self.file, self.folder / "yesterday.db"))

    def restore(self) -> None:
        shutil.copy(self.folder / "yesterday.db", self.file)


@pytest.fixture
def house(tmp_path, monkeypatch) -> House:
    monkeypatch.setenv("EQUIPOISE_WITNESS_KEY", shlex.quote(str(tmp_path / "owner.key.pub")))
    return House(tmp_path)


@pytest.fixture
def watched(monkeypatch):
    """Return what names witnesses, as whoever sets up a machine would."""
    return lambda *names: monkeypatch.setenv("EQUIPOISE_WITNESS", " ".join(map(shlex.quote, names)))


@pytest.mark.parametrize("kind", ["checkpoint", "export", "table"])
def test_yesterdays_copy_is_refused_where_a_witness_saw_a_later_head(house, watched, kind):
    house.spend(2)
    house.copy()
    house.spend()
    if kind == "table":
        signed_head(house.reference, house.key, house.table)
        watched(house.table)
    else:
        watched(getattr(house, kind)("witness.json"))
    house.spend()
    house.restore()
    assert len(house.ledger.history()) == 3
    assert house.ledger.verify() == ()
    for act in (house.ledger.admit, house.ledger.would_admit):
        with pytest.raises(LedgerTampered, match=r"has entry 4 .*ends at entry 3: an older copy") as caught:
            act(PLAN)
        assert "--against" in caught.value.remedy
    assert len(house.ledger.history()) == 3


def test_without_a_witness_yesterdays_copy_gives_the_budget_back(house):
    house.copy()
    house.spend()
    house.restore()
    house.spend()
    assert len(house.ledger.history()) == 2


@pytest.mark.parametrize("kind", ["checkpoint", "export", "table"])
def test_spends_after_a_restored_copy_do_not_hide_it(house, watched, monkeypatch, kind):
    house.copy()
    house.spend(2)
    if kind == "table":
        signed_head(house.reference, house.key, house.table)
        kept = house.table
    else:
        kept = getattr(house, kind)("witness.json")
    house.restore()
    # Whoever restored it spends without the witness until the history is as long as it was, and longer.
    house.spend(4, OTHER)
    watched(kept)
    with pytest.raises(LedgerTampered, match="another entry 3"):
        house.spend()
    with pytest.raises(LedgerTampered, match="another entry 3"):
        signed_head(house.reference, house.key)


def test_a_rollback_to_after_the_last_checkpoint_is_not_noticed(house, watched):
    watched(house.checkpoint("witness.json"))
    house.spend()
    house.copy()
    house.spend()
    house.restore()
    house.spend()
    assert len(house.ledger.history()) == 3


def test_an_older_checkpoint_is_valid_and_says_only_that_the_history_had_that_head(house, watched):
    house.spend()
    old = house.checkpoint("old.json")
    house.copy()
    house.spend()
    new = house.checkpoint("new.json")
    house.restore()
    watched(old)
    house.ledger.would_admit(PLAN)
    watched(old, new)
    with pytest.raises(LedgerTampered, match=r"new\.json"):
        house.spend()


def test_a_new_ledger_under_the_old_name_is_refused(house, watched):
    watched(house.checkpoint("witness.json"))
    house.file.unlink()
    house.ledger.create(eq.Budget(1000.0))
    with pytest.raises(LedgerTampered, match="another entry 1"):
        house.spend()


@pytest.mark.parametrize("spelling", ["People", "people ", "\uff30EOPLE"])
def test_another_spelling_of_the_name_is_the_same_dataset(tmp_path, monkeypatch, watched, spelling):
    house = House(tmp_path, dataset="people")
    monkeypatch.setenv("EQUIPOISE_WITNESS_KEY", str(tmp_path / "owner.key.pub"))
    house.copy()
    house.spend()
    watched(house.checkpoint("witness.json"))
    house.restore()
    with pytest.raises(LedgerTampered, match="ends at entry 1"):
        eq.Ledger(f"sqlite:///{house.file}#{spelling}").admit(PLAN)


def test_a_ledger_that_was_created_anew_in_another_spelling_does_not_escape(tmp_path, monkeypatch, watched):
    house = House(tmp_path, dataset="people")
    monkeypatch.setenv("EQUIPOISE_WITNESS_KEY", str(tmp_path / "owner.key.pub"))
    # As ledgers of 0.1.0 recorded it.
    entries = [chain.following((), "People", "budget", eq.Budget(1.0))]
    (tmp_path / "old.json").write_text(signed(Checkpoint.of(entries[0], "basic", NOTHING), house.key).to_json())
    watched(str(tmp_path / "old.json"))
    with pytest.raises(LedgerTampered, match="another entry 1"):
        house.spend()


def test_a_checkpoint_of_another_dataset_says_nothing_and_somebody_must_say_something(house, watched, tmp_path):
    (tmp_path / "b").mkdir()
    other = House(tmp_path / "b", dataset="people")
    foreign = other.checkpoint("people.json")
    watched(foreign)
    with pytest.raises(LedgerRefused, match="none knows it"):
        house.spend()
    watched(foreign, house.checkpoint("own.json"))
    house.spend()


@pytest.mark.parametrize(
    "kind", ["missing", "folder", "device", "pipe", "empty", "no text", "no object", "half", "bits"]
)
def test_a_witness_that_cannot_be_read_is_refused_and_never_left_out(house, watched, tmp_path, kind):
    good, bad = house.checkpoint("good.json"), tmp_path / "bad.json"
    text = Path(good).read_text()
    contents = {"empty": "", "no text": "\0\1", "no object": "[]", "half": text[:99], "bits": '{"a": 1}'}
    if kind == "folder":
        bad.mkdir()
    elif kind == "pipe":
        os.mkfifo(bad)
    elif kind in contents:
        bad.write_text(contents[kind])
    watched(good, "/dev/zero" if kind == "device" else str(bad))
    with pytest.raises(LedgerUnreachable, match="nothing is admitted while a named witness cannot be read"):
        house.spend()
    assert len(house.ledger.history()) == 1


@pytest.mark.parametrize("kind", ["no file", "no table", "no server", "unknown scheme"])
def test_a_database_that_does_not_answer_is_refused(house, watched, tmp_path, kind):
    eq.Ledger(f"sqlite:///{tmp_path}/second.db#trial").create(eq.Budget(1.0))
    addresses = {
        "no file": f"sqlite:///{tmp_path}/none.db",
        "no table": f"sqlite:///{tmp_path}/second.db",
        "no server": "postgresql://owner:secret@127.0.0.1:1/witness",
        "unknown scheme": "mysql://owner@127.0.0.1/witness",
    }
    watched(addresses[kind])
    with pytest.raises((LedgerUnreachable, LedgerRefused)) as caught:
        house.spend()
    assert "secret" not in str(caught.value)
    assert len(house.ledger.history()) == 1


def test_a_forged_checkpoint_refuses_a_spend_and_is_not_left_out(house, watched, tmp_path):
    new_key(tmp_path / "analyst.key")
    forged = signed(Checkpoint.of(house.ledger.history()[-1], "basic", NOTHING), private_key(tmp_path / "analyst.key"))
    path = tmp_path / "forged.json"
    path.write_text(forged.to_json())
    watched(str(path))
    with pytest.raises(LedgerTampered, match=fingerprint(forged.key)):
        house.spend()


def test_without_a_key_a_checkpoint_counts_for_nothing_and_the_remedy_names_the_variable(house, watched, monkeypatch):
    watched(house.checkpoint("witness.json"))
    monkeypatch.delenv("EQUIPOISE_WITNESS_KEY")
    with pytest.raises(LedgerRefused, match="EQUIPOISE_WITNESS_KEY"):
        house.spend()


def test_an_unsigned_export_needs_no_key(house, watched, monkeypatch):
    watched(house.export("export.json"))
    monkeypatch.delenv("EQUIPOISE_WITNESS_KEY")
    house.spend()


def test_a_key_file_that_cannot_be_read_refuses(house, watched, monkeypatch):
    watched(house.checkpoint("witness.json"))
    monkeypatch.setenv("EQUIPOISE_WITNESS_KEY", "/dev/null")
    with pytest.raises(KeyRefused):
        house.spend()


@pytest.mark.parametrize(
    "mistyped", ["postgresql:u:hidden@h/d", "postgresql:/u:hidden@h/d#p", "u:hidden@h", "sqlite:///u:hidden@h:5/x.db"]
)
def test_a_mistyped_address_of_a_witness_is_not_shown(house, watched, mistyped):
    watched(mistyped)
    for act in (house.spend, lambda: compare(house.ledger, mistyped)):
        with pytest.raises((LedgerRefused, LedgerUnreachable, InvalidParameter)) as caught:
            act()
        assert "hidden" not in str(caught.value)


def test_quotes_that_do_not_close_are_refused(house, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_WITNESS", "'half")
    with pytest.raises(InvalidParameter, match="quotes"):
        house.spend()


def test_names_with_blanks_are_quoted(house, watched, tmp_path):
    (tmp_path / "two words").mkdir()
    watched(str(Path(house.checkpoint("two words/a witness.json"))))
    house.spend()


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(entries=[]),
        lambda record: record.update(entries=record["entries"][1:]),
        lambda record: record["entries"][0].update(number="1"),
        lambda record: record["entries"][0].update(digest=None),
        lambda record: record.pop("dataset"),
    ],
)
def test_an_export_that_is_not_whole_is_refused(house, watched, change):
    path = Path(house.export("export.json"))
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    watched(str(path))
    with pytest.raises(LedgerUnreachable, match="not whole"):
        house.spend()


def test_a_key_of_the_budgets_record_is_trusted_unless_another_is_given(house, tmp_path):
    class Budget:
        record = json.dumps({"key": house.key.public.hex()})

    owner = witness.owner_of(Budget())
    assert owner == house.key.public
    new_key(tmp_path / "other.key")
    given = witness.trusted_keys(owner, [tmp_path / "other.key.pub"])
    assert owner not in given
    assert witness.owner_of(house.ledger.history()[0]) is None
    for odd in ("[]", "{", '{"key": 1}', '{"key": "xy"}', '{"key": null}'):
        Budget.record = odd
        assert witness.owner_of(Budget()) is None


def test_the_owners_key_in_the_budgets_record_is_trusted_without_a_variable(house, watched, monkeypatch, tmp_path):
    monkeypatch.delenv("EQUIPOISE_WITNESS_KEY")
    reference = f"sqlite:///{tmp_path}/second.db#trial"
    eq.Ledger(reference).create(eq.Budget(1.0), key=house.key.public.hex())
    signed_head(reference, house.key, house.table)
    watched(house.table)
    eq.Ledger(reference).admit(PLAN)
    new_key(tmp_path / "other.key")
    with pytest.raises(LedgerTampered, match="those trusted are"):
        compare(eq.Ledger(reference), house.table, [tmp_path / "other.key.pub"])


def test_the_same_plan_in_the_same_second_is_another_entry(house, watched):
    house.copy()
    house.spend()
    watched(house.checkpoint("witness.json"))
    house.restore()
    watched()
    house.spend()
    watched(str(house.folder / "witness.json"))
    with pytest.raises(LedgerTampered, match="another entry 2"):
        house.spend()


def test_the_nightly_job_signs_only_what_goes_on_from_what_it_signed(house):
    assert signed_head(house.reference, house.key, house.table)[1]
    house.copy()
    house.spend()
    assert signed_head(house.reference, house.key, house.table)[1]
    assert not signed_head(house.reference, house.key, house.table)[1]
    house.restore()
    for more in (0, 1, 2):
        house.spend(min(more, 1), OTHER)
        with pytest.raises(LedgerTampered):
            signed_head(house.reference, house.key, house.table)
    assert [one.checkpoint.number for one in CheckpointTable(house.table).read("trial")] == [2, 1]


def test_the_nightly_job_begins_where_the_environment_already_names_its_table(house, watched):
    watched(house.table)
    with pytest.raises(LedgerUnreachable):
        house.spend()
    signed_head(house.reference, house.key, house.table)
    house.spend()


def test_a_broken_history_is_not_signed(house):
    house.spend()
    with eq.Ledger(house.reference)._store.opened(writing=True) as connection:
        connection.exec_driver_sql("DROP TRIGGER no_update")
        connection.exec_driver_sql("UPDATE entries SET epsilon = '0.01' WHERE number = 2")
    with pytest.raises(LedgerTampered):
        signed_head(house.reference, house.key, house.table)


def test_a_cut_tail_is_refused_in_both_databases_and_by_a_witness_in_both(database, tmp_path, watched, monkeypatch):
    house = House(tmp_path, database.address)
    monkeypatch.setenv("EQUIPOISE_WITNESS_KEY", str(tmp_path / "owner.key.pub"))
    house.spend(2)
    second = house.table
    if database.engine.dialect.name == "postgresql":
        second = database.address.replace("/test_", "/witness_")
        name = second.partition("?")[0].rpartition("/")[2]
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}")
    signed_head(house.reference, house.key, second)
    watched(second)
    house.spend()
    database.drop_triggers()
    with database.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM entries WHERE number > 2")
    with pytest.raises(LedgerTampered, match="ends at entry 2"):
        house.spend()
    found = compare(house.ledger, second).faults
    assert len(found) == 1
    assert found[0].startswith("the histories part at entry 3 or before it: this one ends at entry 2")


def test_histories_part_at_the_first_entry_that_differs_and_both_sides_are_told(house):
    house.spend()
    house.copy()
    house.spend(2)
    kept, mine = house.export("export.json"), house.checkpoint("mine.json")
    assert compare(house.ledger, kept).faults == ()
    house.restore()
    cut = compare(house.ledger, kept).faults
    assert cut[0].startswith("the histories part at entry 3: this one ends at entry 2, and ")
    assert "has a 'spend' of epsilon '0.1'" in cut[0]
    house.spend(3, OTHER)
    forked = house.ledger.history()[2]
    found = compare(house.ledger, kept).faults
    assert found[0].startswith("the histories part at entry 3, of which ")
    assert f"digest is '{forked.digest[:12]}" in found[0]
    assert "the histories part at entry 4 or before it" in compare(house.ledger, mine).faults[0]


def test_checkpoints_of_several_nights_say_between_which_entries_histories_part(house):
    for _ in range(3):
        signed_head(house.reference, house.key, house.table)
        house.spend()
    house.copy()
    house.spend()
    signed_head(house.reference, house.key, house.table)
    house.restore()
    house.spend(2, OTHER)
    (found,) = compare(house.ledger, house.table).faults
    assert found.startswith("the histories part after entry 3 and at entry 5 or before it")


def test_a_second_ledger_is_compared_entry_by_entry(house, tmp_path):
    house.spend()
    second = Path(shutil.copy(house.file, tmp_path / "second.db"))
    house.spend()
    same = compare(house.ledger, f"sqlite:///{second}")
    assert same.faults == ()
    assert "begins with all 2 entry(s)" in same.confirmed[0]
    eq.Ledger(f"sqlite:///{second}#trial").admit(OTHER)
    assert compare(house.ledger, f"sqlite:///{second}#trial").faults
    with pytest.raises(LedgerUnreachable):
        compare(house.ledger, f"sqlite:///{tmp_path}/none.db")
    with pytest.raises(InvalidParameter, match="one of 'people'"):
        compare(house.ledger, f"sqlite:///{second}#people")


def test_a_dataset_that_is_gone_parts_at_its_first_entry(house):
    house.spend()
    kept, mine = house.export("export.json"), house.checkpoint("mine.json")
    house.file.unlink()
    eq.Ledger(f"sqlite:///{house.file}#people").create(eq.Budget(1.0))
    assert compare(house.ledger, kept).faults[0].startswith("the histories part at entry 1: this one has no entry")
    assert "this one has no entry" in compare(house.ledger, mine).faults[0]


def test_what_was_confirmed_says_by_whom(house, tmp_path):
    mine = house.checkpoint("mine.json")
    house.spend()
    good = compare(house.ledger, mine)
    assert good.faults == ()
    assert fingerprint(house.key.public) in good.confirmed[0]
    new_key(tmp_path / "other.key")
    with pytest.raises(LedgerTampered, match="those trusted are"):
        compare(house.ledger, mine, [tmp_path / "other.key.pub"])
    unsigned = compare(house.ledger, house.export("export.json"))
    assert "nobody signed" in unsigned.confirmed[0]
