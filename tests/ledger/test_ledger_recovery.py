"""The way back from a malformed history: evidence is kept, and what was spent never becomes less."""

import json
from dataclasses import asdict, replace
from decimal import Decimal

import pytest
import sqlalchemy as sql
from typer.testing import CliRunner

import equipoise as eq
from equipoise.cli.ledger import group
from equipoise.errors import InvalidParameter, LedgerRefused, LedgerTampered, Overdraft
from equipoise.ledger import chain
from equipoise.ledger.currencies import Amount, currency_named
from equipoise.ledger.records import amount_of, canonical, of_plan, plain
from equipoise.ledger.recovery import evidence_faults, recover
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from former_ledgers import make_former

pytest_plugins = ["postgres_server"]

PLAN = issue(Request("logistic", "l2", 0.1, eq.Domain(1.0, classes=(0, 1)), 0.0, 40, 2, eq.Budget(0.1)))
STATED = Amount(Decimal("0.25"), Decimal(0))


@pytest.fixture
def ledger(database) -> eq.Ledger:
    """Return a ledger of 1 with two spends of 0.1."""
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(1.0))
    for _ in range(2):
        ledger.admit(PLAN)
    return ledger


def put(database, entry: chain.Entry) -> None:
    """Insert an entry as the owner can, or as everybody could in a ledger of 0.2.0."""
    with database.engine.begin() as connection:
        connection.execute(sql.insert(database.entries()).values(asdict(entry)))


def malformed(ledger: eq.Ledger, **fields: object) -> chain.Entry:
    """Return an entry at the end of the history that does not seal."""
    return replace(
        chain.following(ledger.history()[-1:], "trial", "spend", eq.Budget(0.05)), **{"digest": "x", **fields}
    )


def quarantined(database) -> list[dict[str, object]]:
    with database.engine.connect() as connection:
        rows = connection.execute(sql.text("SELECT evidence FROM quarantined ORDER BY recovery, place")).scalars().all()
    return [json.loads(row) for row in rows]


def test_a_malformed_entry_freezes_a_dataset_and_the_owner_brings_it_back(database, ledger):
    before = ledger.history()
    bad = malformed(ledger)
    put(database, bad)
    with pytest.raises(LedgerTampered):
        ledger.admit(PLAN)
    entry = recover(ledger, STATED)
    assert (entry.number, entry.kind, entry.previous) == (4, "recovery", before[-1].digest)
    assert ledger.history() == (*before, entry)
    assert ledger.balance().epsilon_left == Decimal("0.55")
    assert [found["entry"] for found in quarantined(database)] == [asdict(bad)]
    assert ledger.verify() == evidence_faults(ledger) == ()
    for _ in range(5):
        ledger.admit(PLAN)
    with pytest.raises(Overdraft):
        ledger.admit(PLAN)
    assert ledger.verify() == ()
    # What refuses changes is in place again.
    with pytest.raises(sql.exc.DBAPIError), database.engine.begin() as connection:
        connection.execute(sql.delete(database.entries()))


def test_everything_that_was_left_may_be_counted(database, ledger):
    put(database, malformed(ledger))
    recover(ledger, None)
    assert ledger.balance().epsilon_left == 0
    assert ledger.verify() == ()
    with pytest.raises(Overdraft):
        ledger.admit(PLAN)


def test_moved_entries_that_seal_count_with_what_they_say(database, ledger):
    """A field in the middle was altered: the spends after it are as they were written, and stay spent."""
    for _ in range(2):
        ledger.admit(PLAN)
    database.drop_triggers()
    table = database.entries()
    with database.engine.begin() as connection:
        connection.execute(sql.update(table).where(table.c.number == 3).values(made="never"))
    recover(ledger, STATED)
    # The first spend, what was stated for the altered one, and the two after it.
    assert ledger.balance().epsilon_left == 1 - Decimal("0.1") - Decimal("0.25") - Decimal("0.2")
    assert len(quarantined(database)) == 3
    assert ledger.verify() == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"number": 99},
        {"number": 0},
        {"epsilon": "-5.0"},
        {"epsilon": "NaN"},
        {"record": "{}"},
        {"kind": "budget"},
        {"kind": "migration", "record": "[]"},
        {"previous": ""},
    ],
)
def test_whatever_is_wrong_nothing_is_given_back(database, ledger, fields):
    draft = malformed(ledger, **fields)
    for bad in (draft, replace(draft, digest=draft.seal(), number=draft.number + 50)):
        put(database, bad)
    recover(ledger, Amount(Decimal(0), Decimal(0)))
    assert ledger.balance().epsilon_left <= Decimal("0.8")
    assert ledger.verify() == ()
    assert len(quarantined(database)) == 2
    if fields.get("kind") != "migration":  # what was spent after one is in another currency: everything is
        ledger.admit(PLAN)


def test_a_sealed_overdraft_is_counted_up_to_the_limit(database, ledger):
    put(database, chain.following(ledger.history()[-1:], "trial", "spend", eq.Budget(500.0)))
    recover(ledger, Amount(Decimal(0), Decimal(0)))
    assert ledger.verify() == ()
    assert ledger.balance().epsilon_left <= Decimal("0.8")


def plan_of(epsilon: float, delta: float = 0.0, **asked: object) -> eq.Certificate:
    domain = eq.Domain(1.0, classes=(0, 1), rows_a_person=asked.pop("rows_a_person", None))
    budget = eq.Budget(epsilon, delta)
    return issue(Request("logistic", "l2", 0.1, domain, 0.0, 40000, 2, budget, ledger="trial", **asked))


SMALL = plan_of(0.05, 1e-9, mechanism="gaussian")


def alter(database, number: int, **values: object) -> None:
    database.drop_triggers()
    table = database.entries()
    with database.engine.begin() as connection:
        connection.execute(sql.update(table).where(table.c.number == number).values(**values))


ALTERED = [{"epsilon": "0.09"}, {"kind": ""}, {"certificate": ""}, {"record": None}, {"epsilon": "", "made": "never"}]


@pytest.mark.parametrize("values", ALTERED)
@pytest.mark.parametrize("currency", ["basic", "gaussian"])
def test_an_altered_spend_counts_with_the_most_that_can_be_read_of_it(database, currency, values):
    """An altered field breaks the seal; the certificate is still there, and so is what was spent."""
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(1.0, 1e-6), currency)
    for _ in range(2):
        ledger.admit(PLAN)
    before = ledger.balance().spent
    alter(database, 3, **values)
    recover(ledger, Amount(Decimal(0), Decimal(0)))
    assert before.within(ledger.balance().spent)
    assert currency == "gaussian" or ledger.balance().spent == before
    assert ledger.verify() == ()


def test_a_total_in_an_altered_entry_still_tells_of_one_that_is_gone(database, ledger):
    ledger.admit(PLAN)
    alter(database, 4, made="never")
    with database.engine.begin() as connection:
        connection.execute(sql.text("DELETE FROM entries WHERE number = 3"))
    recover(ledger, Amount(Decimal(0), Decimal(0)))
    assert ledger.balance().epsilon_left == Decimal("0.7")


@pytest.mark.parametrize("hidden", [False, True])
def test_before_a_migration_nothing_is_given_back(database, hidden):
    """What was spent after it is in another currency; its kind may have been overwritten as well."""
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(3.0, 1e-6), "basic")
    ledger.admit(plan_of(0.01, 1e-12, mechanism="gaussian"))
    ledger.migrate("gaussian")
    ledger.admit(plan_of(1.0, 1e-7, mechanism="gaussian"))
    alter(database, 2, made="2026-11-17T00:00:00+00:00")
    if hidden:
        alter(database, 3, kind="")
    recover(ledger, Amount(Decimal("0.01"), Decimal("1e-12")))
    assert ledger.balance().epsilon_left == 0
    with pytest.raises(Overdraft):
        ledger.admit(plan_of(2.5))
    assert ledger.verify() == ()


def test_what_an_earlier_recovery_counted_stays_counted(database, ledger):
    put(database, malformed(ledger))
    recover(ledger, STATED)
    alter(database, 3, made="never")
    recover(ledger, Amount(Decimal(0), Decimal(0)))
    assert ledger.balance().epsilon_left == 0
    assert ledger.verify() == ()


def test_a_deleted_spend_is_still_in_the_totals_after_it(database, ledger):
    ledger.admit(PLAN)
    database.drop_triggers()
    with database.engine.begin() as connection:
        connection.execute(sql.text("DELETE FROM entries WHERE number = 3"))
    recover(ledger, Amount(Decimal(0), Decimal(0)))
    assert ledger.balance().epsilon_left == Decimal("0.7")
    assert ledger.verify() == ()


@pytest.mark.parametrize("altered", [2, 3])
def test_spends_about_rows_are_refused_beside_persons_after_a_recovery_too(database, altered):
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(3.0), "basic")
    for _ in range(2):
        ledger.admit(plan_of(0.5, rows_a_person=3))
    alter(database, altered, made="never")
    recover(ledger, Amount(Decimal("0.5"), Decimal(0)))
    with pytest.raises(LedgerRefused, match="earlier spends for neighbours 'replace-one-person'"):
        ledger.admit(plan_of(0.1))
    ledger.admit(plan_of(0.5, rows_a_person=3))
    assert ledger.balance().epsilon_left == Decimal("1.5")
    assert ledger.verify() == ()


@pytest.mark.parametrize("neighbours", ["foo", "replace-one-person", None])
def test_what_neighbours_are_is_what_the_certificate_says_and_not_the_client(database, neighbours):
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(1.0), "basic")
    ledger.admit(PLAN)
    first = ledger.history()[1]
    again = replace(first, record=first.record.replace('"replace-one"', json.dumps(neighbours)))
    alter(database, 2, record=again.record, digest=again.seal())
    entry = recover(ledger, Amount(Decimal(0), Decimal(0)))
    assert json.loads(entry.record)["adjacency"] == "replace-one"
    assert ledger.balance().epsilon_left == Decimal("0.9")
    ledger.admit(PLAN)
    assert ledger.verify() == ()


def test_where_certificates_are_about_different_neighbours_everything_is_spent(database):
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(3.0), "basic")
    ledger.admit(PLAN)
    persons = plan_of(0.5, rows_a_person=3)
    told = json.loads(ledger.history()[-1].record) | {"adjacency": persons.adjacency, "certificate": of_plan(persons)}
    told |= {"cost": {"amount": "0.5", "delta": "0.0"}, "spent": {"amount": "0.6", "delta": "0.0"}, "release": "other"}
    put(database, chain.following(ledger.history()[-1:], "trial", "spend", eq.Budget(0.5), "", canonical(told)))
    recover(ledger, Amount(Decimal(0), Decimal(0)))
    assert ledger.balance().epsilon_left == 0
    assert ledger.verify() == ()


@pytest.mark.parametrize("told", ["replace-one-person", "replace-one"])
def test_junk_says_nothing_about_neighbours_and_freezes_nothing(database, told):
    """One line that costs next to nothing would else decide what everybody may release."""
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(3.0, 1e-6))
    budget = ledger.history()
    cost = {"amount": "1E-20", "delta": "0"}
    record = {"adjacency": told, "certificate": {}, "cost": cost, "spent": cost, "under": 1}
    text = canonical({**record, "release": "junk", "software": {}})
    put(database, chain.following(budget, "trial", "spend", eq.Budget(1e-20), "a" * 64, text))
    assert ledger.verify() != ()
    entry = recover(ledger, Amount(Decimal(0), Decimal(0)))
    assert json.loads(entry.record)["adjacency"] is None
    ledger.admit(PLAN)
    assert ledger.verify() == ()


def test_a_price_that_was_lied_about_is_charged(database, ledger):
    """`verify` finds it, nothing else does; the owner charges it, and the entries after it stay spent."""
    honest = ledger.history()[2]
    told = json.loads(honest.record)
    told |= {"cost": {"amount": "1E-50", "delta": "0"}, "spent": {"amount": f"0.1{'0' * 48}1", "delta": "0"}}
    lie = replace(honest, record=json.dumps(told, sort_keys=True, separators=(",", ":")))
    lie = replace(lie, digest=lie.seal())
    alter(database, 3, record=lie.record, digest=lie.digest)
    ledger.admit(PLAN)
    (fault,) = ledger.verify()
    assert "costs more than it says" in fault
    recover(ledger, Amount(Decimal(0), Decimal(0)))
    assert ledger.balance().epsilon_left == Decimal("0.7")
    assert ledger.verify() == ()


def test_a_ledger_can_be_recovered_twice_and_evidence_that_is_altered_is_noticed(database, ledger):
    for _ in range(2):
        put(database, malformed(ledger))
        recover(ledger, STATED)
    assert ledger.balance().epsilon_left == Decimal("0.3")
    assert ledger.verify() == evidence_faults(ledger) == ()
    with database.engine.begin() as connection:
        connection.execute(sql.text("UPDATE quarantined SET evidence = '{}' WHERE recovery = 4"))
    assert evidence_faults(ledger) == ("entry 4: the evidence that it moved was altered, or is missing",)


def spent_before_a_fault(database, currency: str, epsilon: float = 3.0, spends: int = 1) -> eq.Ledger:
    """Return a ledger with some spends of (0.05, 1e-9) and a malformed entry after them."""
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(epsilon, 1e-6), currency)
    for _ in range(spends):
        ledger.admit(SMALL)
    put(database, malformed(ledger))
    return ledger


@pytest.mark.parametrize("currency", ["gaussian", "zcdp", "renyi:8"])
def test_a_recovered_ledger_migrates_with_what_was_lost_priced_as_one_release(database, currency):
    ledger = spent_before_a_fault(database, "basic")
    recover(ledger, Amount(Decimal("0.05"), Decimal("1e-9")))
    chosen = currency_named(currency)
    price, lost = chosen.price(SMALL.claim), chosen.price_of_budget(eq.Budget(0.05, 1e-9))
    assert amount_of(json.loads(ledger.migrate(currency).record)["spent"]) == price + lost
    assert ledger.verify() == ()
    ledger.admit(SMALL)
    assert ledger.balance().spent == price + lost + price
    # Back again, the sum is what it was.
    assert amount_of(json.loads(ledger.migrate("basic").record)["spent"]).amount == Decimal("0.15")
    assert ledger.verify() == ()


def test_a_migration_that_leaves_out_what_was_recovered_is_found(database):
    ledger = spent_before_a_fault(database, "basic")
    recover(ledger, Amount(Decimal("0.05"), Decimal("1e-9")))
    moved = ledger.migrate("zcdp")
    told = json.loads(moved.record) | {"spent": plain(currency_named("zcdp").price(SMALL.claim))}
    lie = replace(moved, record=canonical(told))
    alter(database, moved.number, record=lie.record, digest=lie.seal())
    assert ledger.verify() == ("'trial': entry 4: earlier spends are worth more in the new currency than it says",)


@pytest.mark.parametrize("currency", ["gaussian", "zcdp", "renyi:100"])
def test_where_a_recovery_counted_everything_no_other_currency_finds_something_left(database, currency):
    """Nearly all was spent in small portions: the 0.05 that the total was cut to would be worth little elsewhere."""
    ledger = spent_before_a_fault(database, "basic", 0.5, 9)
    recover(ledger, Amount(Decimal("0.2"), Decimal(0)))
    with pytest.raises(LedgerRefused, match=r"nobody knows how much was spent.*what is truly left"):
        ledger.migrate(currency)


def test_what_was_recovered_in_another_currency_stays_in_it(database):
    ledger = spent_before_a_fault(database, "zcdp")
    recover(ledger, Amount(Decimal("0.001"), Decimal("1e-9")))
    for currency in ("basic", "gaussian", "renyi:8"):
        with pytest.raises(LedgerRefused, match=r"of spends without certificates.*leave it in zcdp"):
            ledger.migrate(currency)
    assert ledger.verify() == ()


def test_show_counts_what_was_recovered(database, ledger):
    put(database, malformed(ledger))
    recover(ledger, STATED)
    shown = CliRunner().invoke(group, ["show", f"{database.address}#trial", "--json"])
    told = json.loads(shown.stdout)
    assert (told["spent"]["epsilon"], told["left"]["epsilon"], told["basic"]["epsilon"]) == ("0.45", "0.55", "0.2")
    assert told["recoveries"] == 1
    assert "recovered 1 time(s)" in CliRunner().invoke(group, ["show", f"{database.address}#trial"]).stdout


def test_a_history_that_holds_is_left_alone_and_a_lost_budget_cannot_be_recovered(database, ledger):
    with pytest.raises(LedgerRefused, match="holds together"):
        recover(ledger, STATED)
    with pytest.raises(InvalidParameter):
        recover(ledger, Amount(Decimal(-1), Decimal(0)))
    database.drop_triggers()
    table = database.entries()
    with database.engine.begin() as connection:
        connection.execute(sql.update(table).where(table.c.number == 1).values(epsilon="9.0"))
    with pytest.raises(LedgerRefused, match="malformed, or none"):
        recover(ledger, STATED)
    assert len(ledger.history()) == 3


def test_a_ledger_of_an_earlier_version_is_recovered_with_what_it_kept_beside(database):
    make_former(database.engine, ("trial", eq.Budget(1.0)))
    ledger = eq.Ledger(f"{database.address}#trial")
    for _ in range(2):
        ledger.admit(PLAN)
    database.drop_triggers()
    table = database.entries()
    with database.engine.begin() as connection:
        connection.execute(sql.update(table).where(table.c.number == 3).values(epsilon="0.05"))
    with pytest.raises(LedgerTampered):
        ledger.admit(PLAN)
    recover(ledger, Amount(Decimal("0.1"), Decimal(0)))
    assert ledger.balance().epsilon_left == Decimal("0.8")
    assert quarantined(database)[0]["grounds"]
    ledger.admit(PLAN)
    assert ledger.balance().epsilon_left == Decimal("0.7")
    assert ledger.verify() == ()


def test_what_was_kept_beside_a_spend_of_an_earlier_version_says_what_its_neighbours_are(database):
    make_former(database.engine, ("trial", eq.Budget(3.0)))
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.admit(plan_of(0.5, rows_a_person=3))
    alter(database, 2, made="never")
    recover(ledger, Amount(Decimal("0.5"), Decimal(0)))
    with pytest.raises(LedgerRefused, match="earlier spends for neighbours 'replace-one-person'"):
        ledger.admit(plan_of(0.1))


def test_the_command_says_what_it_moved_and_asks_how_much_to_count(database, ledger):
    put(database, malformed(ledger))
    reference, run = f"{database.address}#trial", CliRunner().invoke
    assert run(group, ["recover", reference]).exit_code != 0
    assert len(ledger.history()) == 4
    done = run(group, ["recover", reference, "--amount", "0.25", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["moved"] == 1
    assert run(group, ["verify", reference]).exit_code == 0


def test_recovering_is_the_owners(database, ledger, request):
    if database.engine.dialect.name == "sqlite":
        return  # whoever writes the file owns it
    put(database, malformed(ledger))
    server, name = request.getfixturevalue("postgres"), database.engine.url.database
    with server.connect(name) as connection:
        connection.execute(f"CREATE ROLE analyst_{name} LOGIN; GRANT SELECT ON entries TO analyst_{name}")
        connection.execute(f"GRANT EXECUTE ON FUNCTION equipoise_append(text, text) TO analyst_{name}")
    analyst = eq.Ledger(f"{database.address.replace('ledger@', f'analyst_{name}@')}#trial")
    with pytest.raises(LedgerRefused, match="owner"):
        recover(analyst, STATED)
    assert len(ledger.history()) == 4
    recover(ledger, STATED)
    assert (analyst.verify(), evidence_faults(analyst)) == ((), ())
