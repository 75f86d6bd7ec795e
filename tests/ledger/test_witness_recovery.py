"""Witnesses follow a recovery by the owner's word and by nobody else's, and a rollback after it is noticed."""

import dataclasses
import shlex
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sql

import equipoise as eq
from equipoise.errors import LedgerRefused, LedgerTampered
from equipoise.keys import PrivateKey, new_key, private_key
from equipoise.ledger import chain, records, signing, walk
from equipoise.ledger.checkpoint_table import CheckpointTable
from equipoise.ledger.checkpoints import Checkpoint, Recovered, from_json, signed
from equipoise.ledger.currencies import Amount
from equipoise.ledger.partings import compare
from equipoise.ledger.recovery import recover
from equipoise.ledger.signing import signed_head
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from ledger_lines import NEIGHBOURS, amount, written
from program import run_program

pytest_plugins = ["postgres_server"]

PLAN = issue(Request("logistic", "l2", 0.1, eq.Domain(1.0, classes=(0, 1)), 0.0, 40, 2, eq.Budget(0.1)))
SMALL = issue(Request("logistic", "l2", 0.1, eq.Domain(1.0, classes=(0, 1)), 0.0, 40, 2, eq.Budget(0.003)))
ONE, NOTHING = eq.Budget(1.0), Amount(Decimal(0), Decimal(0))


def key_at(path: Path) -> PrivateKey:
    new_key(path)
    return private_key(path)


class House:
    """A ledger, of 1 unless told, with one spend of 0.1, in either database, the owner's key, checkpoints elsewhere."""

    def __init__(
        self,
        database,
        folder: Path,
        monkeypatch,
        owner: str | None = None,
        budget: eq.Budget = ONE,
        currency: str | None = None,
    ) -> None:
        self.database, self.folder = database, folder
        self.reference = f"{database.address}#trial"
        self.table = f"sqlite:///{folder}/witness.db"
        self.ledger = eq.Ledger(self.reference)
        self.key = key_at(folder / "owner.key")
        self.ledger.create(budget, currency, owner and self.key.public.hex())
        self.ledger.admit(PLAN)
        self._set = monkeypatch.setenv
        self._set("EQUIPOISE_WITNESS_KEY", shlex.quote(str(folder / "owner.key.pub")))

    def watch(self, witness: str | None = None) -> None:
        self._set("EQUIPOISE_WITNESS", witness or self.table)

    def sign(self, **options: bool) -> bool:
        return signed_head(self.reference, self.key, self.table, **options)[1]

    def sign_unseen(self) -> None:
        """Sign the head as a version did that computed no prices."""
        balance, last = self.ledger.balance(), self.ledger.history()[-1]
        CheckpointTable(self.table).add(signed(Checkpoint.of(last, balance.currency, balance.spent), self.key))

    def put_junk(self) -> None:
        """Append what the database's function takes from an analyst: a certificate that is none, at hardly any cost."""
        last = self.ledger.history()[-1]
        spent = self.ledger.balance().spent.amount + Decimal("1e-20")
        told = {"adjacency": NEIGHBOURS, "certificate": {"claim": 1}, "cost": amount("1E-20"), "release": "junk"}
        told |= {"software": {}, "spent": amount(spent), "under": 1}
        junk = chain.following([last], "trial", "spend", eq.Budget(1e-20), "ab" * 32, written(told))
        with self.database.engine.begin() as connection:
            connection.execute(sql.insert(self.database.entries()).values(dataclasses.asdict(junk)))

    def alter(self, number: int, **fields: str) -> None:
        """Damage an entry on the disk."""
        self.database.drop_triggers()
        table = self.database.entries()
        with self.database.engine.begin() as connection:
            connection.execute(sql.update(table).where(table.c.number == number).values(fields))

    def restore(self, entries: tuple[chain.Entry, ...]) -> None:
        """Put an older copy of the history in place of what is there."""
        self.database.drop_triggers()
        self.database.forget_callers()
        with self.database.engine.begin() as connection:
            connection.execute(sql.delete(self.database.entries()))
            rows = [dataclasses.asdict(entry) for entry in entries]
            connection.execute(sql.insert(self.database.entries()), rows)


@pytest.fixture
def house(database, tmp_path, monkeypatch) -> House:
    return House(database, tmp_path, monkeypatch)


def test_a_history_that_verify_refuses_is_not_signed_and_the_remedy_is_a_recovery(house):
    assert house.sign()
    house.put_junk()
    assert any("cannot be priced here" in fault for fault in house.ledger.verify())
    with pytest.raises(LedgerTampered, match=r"entry 3: its certificate cannot be priced") as caught:
        house.sign()
    assert "equipoise ledger recover" in caught.value.remedy
    # What nobody signed is moved, and witnesses need no word for it.
    house.watch()
    recover(house.ledger, NOTHING)
    house.ledger.admit(PLAN)
    assert house.sign()
    with pytest.raises(LedgerRefused, match="witnesses that know nothing else"):
        house.sign(after_recovery=True)


def test_prices_are_computed_again_from_the_last_checkpoint_on_unless_all_are_asked_for(house, monkeypatch):
    priced = []
    monkeypatch.setattr(walk, "judged", lambda *facts: priced.append(facts) or records.judged(*facts))
    house.ledger.admit(PLAN)
    for spends, options, expected in ((0, {}, 2), (1, {}, 1), (0, {}, 0), (0, {"full": True}, 3), (2, {}, 2)):
        for _ in range(spends):
            house.ledger.admit(PLAN)
        house.sign(**options)
        assert len(priced) == expected
        priced.clear()
    # Another's word is none on prices.
    signed_head(house.reference, key_at(house.folder / "auditor.key"))
    assert len(priced) == 5


@pytest.mark.parametrize("harm", ["junk", "field", "all of it"])
def test_witnesses_follow_a_recovery_by_the_owners_word_and_notice_rollbacks_after_it(house, harm):
    house.sign()
    if harm == "junk":
        house.put_junk()
        house.sign_unseen()
    else:
        house.ledger.admit(PLAN)
        house.sign()
        if harm == "field":
            house.ledger.admit(PLAN)
            house.sign()
        house.alter(3, **({"made": "never"} if harm == "field" else {"record": "", "epsilon": "", "digest": ""}))
    former = house.ledger.history()
    house.watch()
    recover(house.ledger, NOTHING)
    recovered = house.ledger.history()
    # Where nothing can be read of what was lost, the witness's word on what was spent counts.
    assert house.ledger.balance().spent.amount >= Decimal("0.1" if harm == "junk" else "0.2")
    for act in (lambda: house.ledger.admit(PLAN), house.sign, lambda: house.sign(full=True)):
        with pytest.raises(LedgerTampered, match=r"another entry 3|ends at entry 3") as caught:
            act()
    assert "--after-recovery" in caught.value.remedy
    assert compare(house.ledger, house.table).faults

    assert house.sign(after_recovery=True)
    house.ledger.admit(PLAN)
    assert compare(house.ledger, house.table).faults == ()
    assert house.sign()
    house.ledger.admit(PLAN)
    assert house.sign()
    now = house.ledger.history()
    assert now[:3] == recovered
    assert house.ledger.verify() == ()

    for older in (former, now[:2], now[:3], now[:4]):
        house.restore(older)
        with pytest.raises(LedgerTampered):
            house.ledger.admit(PLAN)
        with pytest.raises((LedgerTampered, LedgerRefused)):
            house.sign(after_recovery=True)
    house.restore(now)
    house.ledger.admit(PLAN)


def recovered_house(house: House) -> House:
    house.ledger.admit(PLAN)
    house.sign()
    house.alter(3, made="never")
    recover(house.ledger, NOTHING)
    house.watch()
    return house


def spend_by_the_word_of(house: House, key: PrivateKey) -> None:
    """Spend where a witness has the very statement that the owner would sign, signed by somebody."""
    said = signed_head(house.reference, house.key, after_recovery=True)[0].checkpoint
    (house.folder / "said.json").write_text(signed(said, key).to_json())
    house.watch(f"{house.table} {house.folder}/said.json")
    house.ledger.admit(PLAN)


@pytest.mark.parametrize("recorded", [None, "owner"])
def test_an_analyst_cannot_say_what_a_recovery_replaced(database, tmp_path, monkeypatch, recorded):
    house = recovered_house(House(database, tmp_path, monkeypatch, recorded))
    analyst = key_at(tmp_path / "analyst.key")
    with pytest.raises(LedgerRefused, match="not the owner's"):
        signed_head(house.reference, analyst, after_recovery=True)
    with pytest.raises(LedgerTampered, match="those trusted are"):
        spend_by_the_word_of(house, analyst)
    house.watch()
    spend_by_the_word_of(house, house.key)


def test_an_auditor_whose_checkpoints_count_is_not_the_owner(database, tmp_path, monkeypatch):
    house = recovered_house(House(database, tmp_path, monkeypatch, "owner"))
    auditor = key_at(tmp_path / "auditor.key")
    both = [str(tmp_path / f"{name}.key.pub") for name in ("owner", "auditor")]
    monkeypatch.setenv("EQUIPOISE_WITNESS_KEY", shlex.join(both))
    with pytest.raises(LedgerRefused, match="not the owner's"):
        signed_head(house.reference, auditor, after_recovery=True)
    with pytest.raises(LedgerTampered, match="another entry 3"):
        spend_by_the_word_of(house, auditor)


def test_a_recovery_of_an_older_copy_gives_nothing_back(house):
    """Spends that a witness knows are lost, and a malformed entry is put where they were, to have them recovered."""
    older = house.ledger.history()
    for _ in range(3):
        house.ledger.admit(PLAN)
    house.sign()
    harmed = (*older, dataclasses.replace(chain.following(older[-1:], "trial", "spend", eq.Budget(0.05)), digest="x"))
    house.restore(harmed)
    recover(house.ledger, NOTHING)
    with pytest.raises(LedgerTampered, match=r"counts less: 0\.15"):
        house.sign(after_recovery=True)
    # Where the witness is asked, the recovery counts what it knows.
    house.restore(harmed)
    with house.database.engine.begin() as connection:
        connection.execute(sql.text("DELETE FROM quarantined"))
    house.watch()
    recover(house.ledger, NOTHING)
    assert house.ledger.balance().epsilon_left == Decimal("0.6")
    house.sign(after_recovery=True)
    house.ledger.admit(PLAN)


def test_without_a_recovery_nothing_is_replaced(house):
    house.sign()
    older = house.ledger.history()
    house.ledger.admit(PLAN)
    house.sign()
    house.restore(older)
    with pytest.raises(LedgerRefused, match="a history without a recovery"):
        house.sign(after_recovery=True)


def test_what_was_witnessed_before_a_recovery_stays_bound(house):
    house.sign()
    house.restore(house.ledger.history()[:1])
    for _ in range(2):
        house.ledger.admit(PLAN)
    house.alter(3, made="never")
    recover(house.ledger, None)
    with pytest.raises(LedgerTampered, match=r"another entry 2 known by .* before the first recovery, entry 3"):
        house.sign(after_recovery=True)


def test_the_command_brings_witnesses_along(tmp_path, monkeypatch):
    from postgres_server import Database

    address = f"sqlite:///{tmp_path}/ledger.db"
    house = House(Database(address, sql.create_engine(address)), tmp_path, monkeypatch)
    recovered_house(house)
    words = ("ledger", "checkpoint", house.reference, "--key", "owner.key", "--to", house.table)
    refused = run_program(*words, "--full", folder=tmp_path)
    assert (refused.returncode, "--after-recovery" in refused.stderr) == (3, True)
    done = run_program(*words, "--after-recovery", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Witnesses follow the recovery, entry 3: it replaced 1 entry(s) that they knew." in done.stdout
    house.ledger.admit(PLAN)


@pytest.mark.parametrize("checkpoints", [2, 18])
def test_what_one_recovery_replaced_is_nothing_to_the_next_in_another_currency(
    database, tmp_path, monkeypatch, checkpoints
):
    """Also where more were signed since than the newest that a spend looks at."""
    house = House(database, tmp_path, monkeypatch, "owner", eq.Budget(3.0, 1e-6), "basic")
    for _ in range(checkpoints + 8):
        house.ledger.admit(SMALL)
    house.sign()
    house.watch()
    house.alter(3, made="never")
    recover(house.ledger, NOTHING)
    house.sign(after_recovery=True)
    house.ledger.migrate("gaussian")
    for _ in range(checkpoints):
        house.ledger.admit(SMALL)
        house.sign()
    spent = house.ledger.balance().spent
    house.alter(len(house.ledger.history()), made="never")
    recover(house.ledger, NOTHING)
    assert house.ledger.balance().spent == spent
    assert house.sign(after_recovery=True)
    house.ledger.admit(SMALL)
    assert compare(house.ledger, house.table).faults == ()


def test_a_recovery_counts_what_witnesses_know_of_entries_before_the_fault(house):
    """An older copy goes on by cheap spends past what the witness knows, and only then has a fault."""
    older = house.ledger.history()
    for _ in range(3):
        house.ledger.admit(PLAN)
    house.sign()
    house.restore(older)
    for _ in range(5):
        house.ledger.admit(SMALL)
    house.alter(7, made="never")
    house.watch()
    recover(house.ledger, NOTHING)
    assert house.ledger.balance().epsilon_left == Decimal("0.6")


def test_what_a_recovery_replaced_is_said_in_as_many_statements_as_readers_take(house, monkeypatch):
    for _ in range(4):
        house.ledger.admit(SMALL)
        house.sign()
    house.alter(3, made="never")
    house.watch()
    recover(house.ledger, NOTHING)
    monkeypatch.setattr(signing, "MOST_REPLACED", 3)
    with pytest.raises(LedgerRefused, match="more entries that witnesses know than the 3"):
        signed_head(house.reference, house.key, after_recovery=True)
    assert house.sign(after_recovery=True)
    said = [kept.checkpoint.recovered for kept in CheckpointTable(house.table).read("trial")]
    assert [len(one.replaced) for one in said if one] == [1, 3]
    house.ledger.admit(SMALL)
    house.sign()


def test_the_longest_statement_on_a_recovery_can_be_read(tmp_path):
    key = key_at(tmp_path / "owner.key")
    places = tuple(f"{10**15 + place}:{'ab' * 32}" for place in range(signing.MOST_REPLACED))
    recovered = Recovered(f"{10**15}:{'ab' * 32}", places)
    head = "n" * 200, 2**53, "ab" * 32, "basic", amount("1." + "1" * 400), "2026-11-18T00:00:00+00:00"
    kept = signed(Checkpoint(*head, recovered), key)
    assert from_json(kept.to_json(), "here") == kept
