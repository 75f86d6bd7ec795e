"""Entries say what they cost, and for which certificate; a spend reads few of them; who lies is found by verify."""

import dataclasses
import json
from datetime import datetime
from decimal import Context, Decimal, localcontext
from typing import ClassVar

import pytest
import sqlalchemy as sql

import equipoise as eq
from equipoise.artifact.payment import History, payment
from equipoise.certify.certificate import Release
from equipoise.certify.claims import Claim
from equipoise.certify.withdrawn import Withdrawal
from equipoise.errors import InvalidParameter, LedgerRefused, LedgerTampered, Overdraft
from equipoise.ledger import Entry, book, chain, currencies, postgresql, records, walk
from equipoise.ledger.currencies import Amount, Currency, Worth
from equipoise.ledger.statements import claim_faults, files_digest
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from equipoise.vocabulary.facts import Budget
from former_ledgers import make_former

pytest_plugins = ["postgres_server"]

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
PLAN = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1), ledger="trial"))
LARGE = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.4), ledger="trial"))


class Squares(Currency):
    """A toy currency: the squares of epsilons add up, to the square of the budget's."""

    id: ClassVar[str] = "squares"
    proof: ClassVar[str] = "none"

    def limit(self, budget: Budget) -> Amount:
        return Amount(Decimal(repr(budget.epsilon)) ** 2, Decimal(repr(budget.delta)))

    def price(self, claim: Claim) -> Amount:
        return self.limit(claim.budget)

    def price_of_budget(self, budget: Budget) -> Amount:
        """Return twice as much: of an old spend less is known."""
        known = self.limit(budget)
        return known + known

    def worth(self, spent: Amount, budget: Budget) -> Worth:
        return Worth(float(spent.amount) ** 0.5, budget.delta)


@pytest.fixture(autouse=True)
def squares(monkeypatch) -> None:
    monkeypatch.setitem(currencies.CURRENCIES, "squares", Squares)
    records.judged.cache_clear()


@pytest.fixture
def ledger(database) -> eq.Ledger:
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(1.0), "squares")
    return ledger


@pytest.fixture
def former(database) -> eq.Ledger:
    """Return a ledger of version 0.2.0 with three spends of 0.1."""
    make_former(database.engine, ("trial", eq.Budget(1.0)))
    ledger = eq.Ledger(f"{database.address}#trial")
    for _ in range(3):
        ledger.admit(PLAN)
    return ledger


def rewrite(database, entries) -> None:
    """Put other entries in the place of all, as someone who can drop the triggers could."""
    database.drop_triggers()
    with database.engine.begin() as connection:
        connection.execute(sql.delete(database.entries()))
        for entry in entries:
            connection.execute(sql.insert(database.entries()).values(dataclasses.asdict(entry)))


def sealed_again(entries, number: int, change) -> list[Entry]:
    """Return a history in which the record of one entry was changed by someone who computes all digests anew."""
    made: list[Entry] = []
    for entry in entries:
        record = json.loads(entry.record)
        if entry.number == number:
            entry = change(entry, record) or entry
        draft = dataclasses.replace(
            entry,
            previous=made[-1].digest if made else chain.NOTHING_BEFORE,
            record=records.canonical(record) if entry.number == number else entry.record,
        )
        made.append(dataclasses.replace(draft, digest=draft.seal()))
    return made


# --- records ----------------------------------------------------------------------------------------------------------


def test_a_budget_and_a_spend_record_what_the_book_says_they_do(ledger):
    entry = ledger.admit(LARGE, {"equipoise": "0.3.0"}, "cafe")
    budget, spend = ledger.history()
    assert spend == entry == ledger.entry(2)
    limit = {"amount": "1.00", "delta": "0.0"}
    assert json.loads(budget.record) == {"version": 2, "currency": "squares", "limit": limit, "key": None}
    record = json.loads(spend.record)
    assert record.keys() == records.SPEND_KEYS
    assert (record["release"], record["software"], record["under"]) == ("cafe", {"equipoise": "0.3.0"}, 1)
    assert Decimal(record["cost"]["amount"]) == Decimal(record["spent"]["amount"]) == Decimal("0.16")
    stored = eq.Certificate.from_json(json.dumps(record["certificate"]))
    assert stored == dataclasses.replace(LARGE, notes={})
    assert (spend.epsilon, spend.certificate) == ("0.4", LARGE.planned_digest)
    assert ledger.verify() == ()


def test_a_record_is_under_the_seal_and_an_entry_without_one_is_sealed_as_before(ledger):
    entry = ledger.admit(PLAN)
    fields = [getattr(entry, field.name) for field in dataclasses.fields(Entry) if field.name != "digest"]
    assert json.loads(entry.line) == fields
    assert json.loads(dataclasses.replace(entry, record=None).line) == fields[:-1]


def test_spends_are_admitted_by_the_currency_and_refused_in_its_words(ledger):
    for _ in range(6):
        ledger.admit(LARGE)
    with pytest.raises(Overdraft, match=r"costs 0\.16 and delta .* in squares.*0\.04 and delta .* remaining of 1\.00"):
        ledger.admit(LARGE)
    balance, head = ledger.balance(), ledger.head()
    assert (balance.currency, balance.spent.amount, balance.left.amount) == (
        "squares",
        Decimal("0.96"),
        Decimal("0.04"),
    )
    assert balance.limit == eq.Budget(1.0)
    assert float(balance.epsilon_left) == pytest.approx(1 - 0.96**0.5)
    assert (head.dataset, head.number, head.spent, head.digest) == (
        "trial",
        7,
        balance.spent,
        ledger.history()[-1].digest,
    )
    assert ledger.verify() == ()


def test_an_unknown_currency_is_refused_and_nothing_is_made(tmp_path):
    with pytest.raises((LedgerRefused, InvalidParameter), match="florins"):
        eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#trial").create(eq.Budget(1.0), "florins")
    assert not list(tmp_path.iterdir())


# --- admission at any age ---------------------------------------------------------------------------------------------


@pytest.fixture
def aged(ledger, monkeypatch) -> eq.Ledger:
    """Return a ledger that is older than what admission reads."""
    monkeypatch.setattr(book, "LAST", 4)
    for _ in range(4):
        ledger.conclude(ledger.admit(PLAN), "failed")
    return ledger


def test_admission_reads_the_budget_and_the_last_entries_and_nothing_else(aged, monkeypatch):
    asked: list[tuple[object, ...]] = []

    def watched(name, call):
        def watching(connection, dataset, *rest, **options):
            asked.append((name, *rest, *options.values()))
            return call(connection, dataset, *rest, **options)

        return watching

    for name in ("entry", "last", "history"):
        monkeypatch.setattr(aged._store, name, watched(name, getattr(aged._store, name)))
    spend = aged.admit(PLAN)
    assert asked == [("last", 4, book.LETTERS), ("entry", 1), ("entry", 1), ("entry", spend.number)]
    assert spend.number == 10
    assert aged.verify() == ()


@pytest.mark.parametrize("number", [1, 7, 8, 9])
@pytest.mark.parametrize("field", ["epsilon", "previous", "digest", "record", "made"])
def test_what_was_altered_in_the_budget_or_the_last_entries_stops_admission(aged, database, number, field):
    entries = list(aged.history())
    entries[number - 1] = dataclasses.replace(entries[number - 1], **{field: "0"})
    rewrite(database, entries)
    with pytest.raises(LedgerTampered):
        aged.admit(PLAN)


def test_what_was_altered_before_the_last_entries_is_found_by_verify(aged, database):
    entries = list(aged.history())
    entries[2] = dataclasses.replace(entries[2], made="2001-01-01T00:00:00+00:00")
    rewrite(database, entries)
    aged.admit(PLAN)
    assert "'trial': entry 3: a field was altered after it was written" in aged.verify()


def test_a_total_of_the_last_entries_that_does_not_follow_stops_admission(aged, database):
    def change(_entry, record):
        record["spent"]["amount"] = "0"

    rewrite(database, sealed_again(aged.history(), 9, change))
    with pytest.raises(LedgerTampered, match="not the sum"):
        aged.admit(PLAN)


# --- a certificate names its dataset ----------------------------------------------------------------------------------


def test_a_certificate_of_another_dataset_is_refused_before_anything_is_spent(database):
    others = eq.Ledger(f"{database.address}#Others ")
    others.create(eq.Budget(1.0))
    for ask in (others.admit, others.would_admit):
        with pytest.raises(LedgerRefused, match=r"planned for the dataset 'trial'.*plan again with this ledger"):
            ask(PLAN)
    for named in (None, "others"):
        others.admit(issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1), ledger=named)))
    assert (len(others.history()), others.verify()) == (3, ())


def test_a_certificate_of_another_dataset_that_was_recorded_is_found_and_pays_for_nothing(database, monkeypatch):
    others = eq.Ledger(f"{database.address}#others")
    others.create(eq.Budget(1.0))
    with monkeypatch.context() as patch:
        patch.setattr(book, "require_admissible", lambda *_: None)
        patch.setattr(postgresql, "serves", lambda *_: False)  # a client of its own, and the owner's right to insert
        entry = others.admit(PLAN, release_id="cafe")
    release = Release("cafe", entry.made, (), entry.place)
    released = dataclasses.replace(PLAN, release=release)
    others.conclude(entry, "released", released)
    assert others.verify() == ("'others': entry 2: its certificate was planned for another dataset",)
    assert others.claimed(released) == ("entry 2 is of 'others', and the certificate was planned for 'trial'",)
    (part,) = payment(released, History(others.history(), "the ledger"), None)
    assert part.faults == ("ledger: entry 2: its certificate was planned for another dataset",)


# --- liars are found afterwards ---------------------------------------------------------------------------------------


def cheaper(entry, record):
    record["cost"]["amount"] = record["spent"]["amount"] = "0.001"


def other_amount(entry, record):
    return dataclasses.replace(entry, epsilon="0.01")


def other_digest(entry, record):
    return dataclasses.replace(entry, certificate="f" * 64)


def false_claim(entry, record):
    record["certificate"]["claim"]["noise"]["scale"] /= 2


def other_neighbours(entry, record):
    record["adjacency"] = "replace-one-person"


def other_limit(entry, record):
    record["under"] = 2


def no_release(entry, record):
    record["release"] = ""


def no_cost(entry, record):
    del record["cost"]


LIES = {
    cheaper: "costs more than it says",
    other_amount: "not those of its certificate",
    other_digest: "not those of its certificate",
    false_claim: "does not follow",
    other_neighbours: "not one that a ledger admits",
    other_limit: "under another limit",
    no_release: "names no release",
    no_cost: "record is missing",
}


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_spend_that_lies_is_found_by_verify(ledger, lie):
    ledger.admit(LARGE)
    entries = sealed_again(ledger.history(), 2, lie)
    assert [fault for fault in walk.faults(entries) if LIES[lie] in fault]


def test_a_lying_client_is_admitted_and_found_afterwards(ledger, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Squares, "price", lambda _self, _claim: Amount(Decimal("0.01"), Decimal(0)))
        ledger.admit(LARGE)
    ledger.admit(LARGE)
    assert ledger.verify() == ("'trial': entry 2: its certificate costs more than it says",)


def test_a_limit_above_what_the_budget_allows_is_found(ledger):
    def change(_entry, record):
        record["limit"]["amount"] = "2"

    assert walk.faults(sealed_again(ledger.history(), 1, change)) == (
        "entry 1: its limit is more than the budget allows",
    )


@pytest.mark.parametrize("amount", ["-0.1", "NaN", "Infinity", "1e9999", "0.1 ", "", 0.1, None, ["0.1"]])
def test_what_is_no_amount_is_a_fault_and_no_crash(ledger, amount):
    def change(_entry, record):
        record["cost"]["amount"] = amount

    ledger.admit(PLAN)
    assert walk.faults(sealed_again(ledger.history(), 2, change))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '{"cost":', '},"cost":{}', "[" * 100_000])
def test_a_record_that_cannot_be_read_is_a_fault_and_no_crash(ledger, text):
    ledger.conclude(ledger.admit(PLAN), "failed")
    for place in range(3):
        entries = list(ledger.history())
        draft = dataclasses.replace(entries[place], record=text)
        entries[place] = dataclasses.replace(draft, digest=draft.seal())
        assert [fault for fault in walk.faults(entries) if "record is missing, or cannot be read" in fault]


def test_an_entry_without_a_record_after_one_that_has_one_is_a_fault(ledger):
    entries = ledger.history()
    former = chain.following(entries, "trial", "spend", eq.Budget(0.1), "0" * 64)
    assert walk.faults([*entries, former]) == ("entry 2: its record is missing, or cannot be read",)


# --- what earlier versions left ---------------------------------------------------------------------------------------


def test_a_ledger_of_0_2_0_goes_on_as_it_is_and_in_records_once_the_column_is_there(former, database):
    kept = former.export()
    assert json.loads(kept)["export_version"] == 1
    assert "record" not in json.loads(kept)["entries"][0]
    assert former.balance().epsilon_left == Decimal("0.7")
    eq.Ledger(f"{database.address}#new").create(eq.Budget(1.0))
    entry = former.admit(PLAN)
    assert json.loads(entry.record)["spent"] == {"amount": "0.4", "delta": "0.0"}
    former.conclude(entry, "failed")
    assert [found.record is None for found in former.history()] == [True] * 4 + [False] * 2
    assert former.verify(against=kept) == ()
    assert json.loads(former.export())["export_version"] == 2
    assert former.verify(against=former.export()) == ()
    assert former.balance().epsilon_left == Decimal("0.6")
    with pytest.raises(Overdraft):
        former.admit(dataclasses.replace(PLAN, claim=dataclasses.replace(PLAN.claim, budget=eq.Budget(0.7))))


def test_a_ledger_of_0_2_0_that_is_older_than_the_last_entries_goes_on(former, database, monkeypatch):
    monkeypatch.setattr(book, "LAST", 2)
    former.admit(PLAN)
    eq.Ledger(f"{database.address}#new").create(eq.Budget(1.0))
    for _ in range(3):
        former.admit(PLAN)
    assert former.balance().epsilon_left == Decimal("0.3")
    assert former.verify() == ()


def test_a_ledger_of_0_2_0_keeps_no_outcomes(former):
    entry = former.admit(PLAN)
    former.conclude(entry, "failed")
    assert len(former.history()) == 5
    assert {paid.outcome for paid in former.releases()} == {"unknown"}


# --- migration --------------------------------------------------------------------------------------------------------


def test_a_migration_prices_old_spends_by_their_budgets_and_new_ones_by_their_certificates(former, database):
    kept = former.export()
    eq.Ledger(f"{database.address}#new").create(eq.Budget(1.0))
    former.admit(LARGE)
    moved = former.migrate("squares")
    record = json.loads(moved.record)
    # Three of 0.1 of which nothing more is known, and one of 0.4 by its certificate.
    assert Decimal(record["spent"]["amount"]) == 3 * 2 * Decimal("0.01") + Decimal("0.16")
    assert (record["from"], record["currency"], record["adjacency"]) == ("basic", "squares", "replace-one")
    assert (moved.kind, moved.epsilon, moved.delta) == ("migration", "0.0", "0.0")
    for _ in range(4):
        former.admit(LARGE)
    with pytest.raises(Overdraft, match="squares"):
        former.admit(LARGE)
    assert former.verify(against=kept) == former.verify() == ()


def test_a_migration_of_a_file_of_0_2_0_adds_the_column(former):
    former.migrate("squares")
    assert former.balance().spent.amount == Decimal("0.06")
    former.conclude(former.admit(PLAN), "failed")
    assert former.verify() == ()


def test_after_a_migration_admission_still_reads_few_entries(former, monkeypatch):
    monkeypatch.setattr(book, "LAST", 2)
    former.migrate("squares")
    for _ in range(4):
        former.admit(PLAN)
    assert former.balance().currency == "squares"
    assert json.loads(former.history()[-1].record)["under"] == 5
    former.migrate("basic")
    former.admit(PLAN)
    assert former.balance().epsilon_left == Decimal("0.2")
    assert former.verify() == ()


@pytest.mark.parametrize("part", ["spent", "limit"])
def test_a_migration_that_lies_is_found(former, part):
    former.migrate("squares")
    *before, moved = former.history()
    record = json.loads(moved.record)
    record[part]["amount"] = "0" if part == "spent" else "7"
    draft = dataclasses.replace(moved, record=records.canonical(record))
    words = {"spent": "worth more in the new currency", "limit": "more than the budget allows"}
    [fault] = walk.faults([*before, dataclasses.replace(draft, digest=draft.seal())])
    assert words[part] in fault


def test_a_migration_that_would_change_nothing_is_refused(former):
    with pytest.raises(LedgerRefused, match="already"):
        former.migrate("basic")
    assert len(former.history()) == 4


def test_a_migration_that_would_overdraw_is_refused(database):
    make_former(database.engine, ("trial", eq.Budget(0.1)))
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.admit(PLAN)
    # Of an old spend nothing is known but its epsilon, and it costs twice as much here.
    with pytest.raises(LedgerRefused, match=r"spends worth 0\.02 .*leave it in basic"):
        ledger.migrate("squares")
    assert len(ledger.history()) == 2
    assert ledger.balance().epsilon_left == 0


def test_a_broken_history_is_not_moved(former, database):
    former.migrate("squares")
    entries = list(former.history())
    entries[1] = dataclasses.replace(entries[1], made="2001-01-01T00:00:00+00:00")
    rewrite(database, entries)
    with pytest.raises(LedgerTampered):
        former.migrate("basic")


# --- releases ---------------------------------------------------------------------------------------------------------


def released(entry: Entry, name: str) -> eq.Certificate:
    made = eq.certify.certificate.Release(name, "2026-11-17T10:00:00+00:00", (("equipoise", "0.3.0"),), entry.place)
    return PLAN.with_release(PLAN.claim, made)


def test_releases_are_listed_with_what_became_of_them(ledger):
    first, second, _third = (ledger.admit(PLAN, release_id=name) for name in ("one", "two", "three"))
    ledger.conclude(second, "failed")
    ledger.conclude(first, "released", released(first, "one"))
    listed = [(paid.entry.number, paid.release, paid.outcome) for paid in ledger.releases()]
    assert listed == [(2, "one", "released"), (3, "two", "failed"), (4, "three", "unknown")]
    assert ledger.verify() == ()
    assert ledger.balance().spent.amount == Decimal("0.03")


def test_an_outcome_does_not_tell_how_long_a_fit_took(ledger, monkeypatch):
    entry = ledger.admit(PLAN, release_id="one")
    other = ledger.admit(PLAN, release_id="two")

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime(2036, 1, 1, tzinfo=tz)

    monkeypatch.setattr(chain, "datetime", Later)
    ledger.conclude(other, "failed")
    ledger.conclude(entry, "released", released(entry, "one"))
    assert [found.made for found in ledger.history()[-2:]] == [other.made, entry.made]
    assert ledger.verify() == ()


def test_an_outcome_is_recorded_once_and_of_a_spend(ledger):
    entry = ledger.admit(PLAN, release_id="one")
    ledger.conclude(entry, "failed")
    with pytest.raises(LedgerRefused, match="recorded already"):
        ledger.conclude(entry, "released", released(entry, "one"))
    for wrong in (ledger.history()[0], ledger.history()[2], dataclasses.replace(entry, number=9)):
        with pytest.raises(LedgerRefused):
            ledger.conclude(wrong, "failed")
    for outcome, certificate in (("lost", None), ("released", None), ("failed", PLAN)):
        with pytest.raises(InvalidParameter):
            ledger.conclude(entry, outcome, certificate)
    assert len(ledger.history()) == 3


def test_a_second_outcome_or_one_of_no_spend_is_found_by_verify(ledger):
    entry = ledger.admit(PLAN, release_id="one")
    ledger.conclude(entry, "failed")
    entries = ledger.history()
    record = entries[-1].record
    again = chain.following(entries, "trial", "outcome", record=record)
    fault = "the outcome of no spend, or a second one of the same spend"
    assert walk.faults([*entries, again]) == (f"entry 4: {fault}",)
    stranger = chain.following(entries[:2], "trial", "outcome", record=record.replace('"one"', '"two"'))
    assert walk.faults([*entries[:2], stranger]) == (f"entry 3: {fault}",)


def test_an_outcome_names_the_files_that_hold_the_release_and_no_others(ledger):
    entry = ledger.admit(PLAN, release_id="one")
    mine, digest = released(entry, "one"), files_digest({"certificate.json": b"{}", "model.json": b"1.5"})
    ledger.conclude(entry, "released", mine, digest)
    assert ledger.verify() == ()
    (paid,) = ledger.releases()
    assert paid.files == digest
    assert claim_faults(mine, paid, digest) == claim_faults(mine, paid) == ()
    assert claim_faults(mine, paid, files_digest({"certificate.json": b"{}", "model.json": b"31337"})) == (
        "entry 2 paid for another certificate.json or model.json than these",
    )
    entries = ledger.history()
    record = entries[-1].record
    for other in (record.replace(digest, "31337"), record.replace(f'"{digest}"', "null"), f'{record[:-1]},"z":1}}'):
        forged = chain.following(entries[:2], "trial", "outcome", certificate=entries[-1].certificate, record=other)
        assert walk.faults([*entries[:2], forged]) == (f"entry 3: {walk.NO_RECORD}",)


def test_two_folders_cannot_claim_one_entry(ledger):
    entry = ledger.admit(PLAN, release_id="one")
    mine = released(entry, "one")
    assert "no outcome" in ledger.claimed(mine)[0]
    ledger.conclude(entry, "released", mine)
    assert ledger.claimed(mine) == ledger.claimed(dataclasses.replace(mine, notes={})) == ()
    later = dataclasses.replace(mine, release=dataclasses.replace(mine.release, made="2026-11-18T10:00:00+00:00"))
    assert ledger.claimed(later) == ("entry 2 ended otherwise: released, and not with this certificate",)
    assert "paid for the release one" in ledger.claimed(released(entry, "two"))[0]
    stranger = dataclasses.replace(mine, release=dataclasses.replace(mine.release, entry=f"2:{'0' * 64}"))
    assert ledger.claimed(stranger) == (f"the ledger has no spend 2:{'0' * 64}",)
    assert ledger.claimed(PLAN) == ("the certificate names no entry of a ledger",)
    other = LARGE.with_release(LARGE.claim, mine.release)
    assert ledger.claimed(other)[0] == "entry 2 paid for another plan"


# --- what a spend rests on --------------------------------------------------------------------------------------------


def test_what_was_withdrawn_is_looked_up_in_the_recorded_certificate(ledger, monkeypatch):
    ledger.admit(PLAN, {"equipoise": "0.3.0", "opendp": "0.14.1"})
    assert ledger.withdrawn() == ((), ())
    for family, name in (("theorem", "A2"), ("sampler", "opendp"), ("loss", "logistic")):
        false = Withdrawal("2026-11-17", family, name, "false")
        monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (false,))
        [(entry, reasons)], unknown = ledger.withdrawn()
        assert (entry.number, reasons, unknown) == (2, (str(false),), ())


@pytest.mark.parametrize(
    "under", ["Infinity", "NaN", "1e999", "1.9", "-1", "0", "null", "[1]", "9" * 30, f"-{'9' * 30}"]
)
def test_a_limit_that_no_entry_set_is_a_broken_history_and_no_crash(database, ledger, monkeypatch, under):
    for _ in range(3):
        ledger.admit(PLAN)
    monkeypatch.setattr(book, "LAST", 2)
    ledger.balance()
    entries = list(ledger.history())
    text = entries[2].record.replace('"under":1', f'"under":{under}')
    rewrite(database, [*entries[:2], dataclasses.replace(entries[2], record=text), entries[3]])
    with pytest.raises(LedgerTampered):
        ledger.balance()


@pytest.mark.parametrize("release", ["twice", "a_b.c", "ab" * 16])
def test_a_release_is_paid_for_once(ledger, monkeypatch, release):
    ledger.admit(PLAN, release_id=release)
    monkeypatch.setattr(book, "LAST", 2)
    for name in ("other", f"{release}s", release.upper()):
        with pytest.raises(LedgerRefused, match="an earlier spend that pays for it"):
            ledger.admit(PLAN, release_id=release)
        ledger.admit(PLAN, release_id=name)
    assert ledger.verify() == ()
    ledger.admit(PLAN)


@pytest.mark.parametrize("release", ["", "a b", "a%b", "é", "x" * 129, 'q"', "x\0", "\ud800", 5, b"x"])
def test_what_is_no_id_of_a_release_is_refused_alike_by_both_databases(ledger, release):
    with pytest.raises(InvalidParameter, match="the id of a release"):
        ledger.admit(PLAN, release_id=release)
    assert len(ledger.history()) == 1


def test_a_callers_way_to_write_decimals_is_not_the_ledgers(database):
    ledger = eq.Ledger(f"{database.address}#trial")
    plan = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1, 1e-8), ledger="trial"))
    with localcontext(Context(capitals=0)):
        ledger.create(eq.Budget(1.0, 1e-6), "basic")
        ledger.admit(plan)
    assert '"delta":"1E-8"' in ledger.admit(plan).record
    assert ledger.verify() == ()


def test_a_release_of_another_dataset_is_no_release_of_this(database, ledger):
    other = eq.Ledger(f"{database.address}#others")
    other.create(eq.Budget(1.0))
    other.admit(dataclasses.replace(PLAN, terms=dataclasses.replace(PLAN.terms, ledger="others")), release_id="one")
    ledger.admit(PLAN, release_id="one")


def test_a_spend_reads_few_of_the_letters_that_earlier_ones_recorded(ledger, monkeypatch):
    """Records may be as long as somebody likes, and what a spend reads is bounded; never fewer than two entries."""
    monkeypatch.setattr(book, "LETTERS", 20_000)
    read = []
    last = type(ledger._store).last
    monkeypatch.setattr(type(ledger._store), "last", lambda *facts: read.append(last(*facts)) or read[-1])
    for length, expected in ((10, 1), (3000, 2), (3000, 3), (30_000, 4), (30_000, 2), (30_000, 2), (10, 2), (10, 2)):
        ledger.admit(PLAN, {"long": "x" * length})
        assert len(read[-1]) == expected
    assert ledger.verify() == ()


def test_two_spends_for_one_release_are_found_by_verify(ledger, monkeypatch):
    monkeypatch.setattr(ledger, "_require_unpaid", lambda *_: None)  # a client of its own
    for _ in range(2):
        ledger.admit(PLAN, release_id="twice")
    (fault,) = ledger.verify()
    assert "entry 3: it pays for the release of an earlier spend" in fault


@pytest.mark.parametrize("budget", [eq.Budget(9e-31), eq.Budget(0.1, 1e-61), eq.Budget(0.1, 5e-324)])
def test_a_spend_that_would_only_make_totals_longer_is_refused(database, budget):
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(1.0, 1e-6), "basic")
    tiny = dataclasses.replace(PLAN, claim=dataclasses.replace(PLAN.claim, budget=budget))
    with pytest.raises(LedgerRefused, match=r"costs 1E-30 or more.*raise epsilon"):
        ledger.admit(tiny)
    assert len(ledger.history()) == 1


def test_a_total_of_many_digits_is_shown_in_few(tmp_path):
    """As a ledger may hold them from before costs had a bound."""
    ledger = eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#trial")
    ledger.create(eq.Budget(1.0), "basic")
    long = Amount(Decimal(f"0.9{'0' * 300}1"), Decimal(0))
    record = {"adjacency": None, "quarantined": [], "spent": records.plain(long), "under": 1}
    entry = chain.following(ledger.history(), "trial", "recovery", record=records.canonical(record))
    with ledger._store.opened(writing=True) as connection:
        ledger._store.append(connection, entry)
    with pytest.raises(Overdraft) as refused:
        ledger.admit(LARGE)
    assert len(str(refused.value)) < 400
