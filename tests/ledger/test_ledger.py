import dataclasses
import sqlite3
from contextlib import nullcontext
from decimal import Decimal, localcontext

import numpy as np
import pytest
import sqlalchemy as sql

import equipoise as eq
from equipoise.certify.certificate import Certificate
from equipoise.errors import InvalidParameter, LedgerRefused, LedgerUnreachable, Overdraft, PlanMismatch, PrivateFailure
from equipoise.ledger import store
from equipoise.planning.issue import asked_for, issue
from equipoise.planning.request import Request

pytest_plugins = ["postgres_server"]

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
X = np.array([[0.5, 0.1], [-0.5, 0.2], [0.4, -0.1], [-0.3, 0.3]] * 10)
Y = np.array([1, 0, 1, 0] * 10)


PLAN = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(1.0)))


def certificate(epsilon: float, delta: float = 0.0) -> Certificate:
    """Return a certificate of any amount; the ledger looks at the budget alone, and noise of any size can be had."""
    return dataclasses.replace(PLAN, claim=dataclasses.replace(PLAN.claim, budget=eq.Budget(epsilon, delta)))


@pytest.fixture
def reference(database) -> str:
    reference = f"{database.address}#trial"
    eq.Ledger(reference).create(eq.Budget(1.0, 1e-5), "basic")
    return reference


def left(reference: str) -> Decimal:
    return eq.Ledger(reference).balance().epsilon_left


def test_ten_tenths_are_one_and_the_eleventh_is_refused_with_what_remains(reference):
    for _ in range(10):
        eq.Ledger(reference).admit(certificate(0.1))
    assert left(reference) == 0
    with pytest.raises(Overdraft, match=r"epsilon=0\.0.* remaining"):
        eq.Ledger(reference).admit(certificate(0.1))


def test_an_overdraft_records_nothing(reference):
    eq.Ledger(reference).admit(certificate(0.75))
    with pytest.raises(Overdraft, match=r"0\.25"):
        eq.Ledger(reference).admit(certificate(0.5))
    assert left(reference) == Decimal("0.25")


def test_delta_is_budgeted_too(reference):
    eq.Ledger(reference).admit(certificate(0.1, 9e-6))
    with pytest.raises(Overdraft, match=r"delta=0\.000001"):
        eq.Ledger(reference).admit(certificate(0.1, 2e-6))


def test_amounts_of_very_different_size_are_added_exactly(database):
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(1e15, 0.5), "basic")
    for epsilon, delta in ((9e14, 5e-30), (1e-25, 2e-29), (1e14, 0.0)):
        with pytest.raises(Overdraft) if epsilon == 1e14 else nullcontext():
            ledger.admit(certificate(epsilon, delta))
    with localcontext() as context:
        context.prec = 1000
        assert ledger.balance().epsilon_left == Decimal("1e14") - Decimal("1e-25")
        assert ledger.balance().delta_left == Decimal("0.5") - Decimal("5e-30") - Decimal("2e-29")


def test_datasets_have_separate_budgets(database):
    first, second = (eq.Ledger(f"{database.address}#{name}") for name in ("a", "b"))
    first.create(eq.Budget(1.0))
    second.create(eq.Budget(1.0))
    first.admit(certificate(1.0))
    assert second.balance().epsilon_left == 1


def test_a_plain_name_lives_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    eq.Ledger("adult").create(eq.Budget(2.0))
    eq.Ledger("adult").admit(certificate(0.5))
    assert left("adult") == Decimal("1.5")
    assert (tmp_path / "home" / "ledger.db").is_file()


def test_an_existing_budget_is_never_changed(reference):
    with pytest.raises(LedgerRefused, match="never changed"):
        eq.Ledger(reference).create(eq.Budget(100.0))
    assert left(reference) == 1


def test_a_missing_ledger_is_unreachable_and_the_line_that_creates_it_is_shown(tmp_path):
    with pytest.raises(
        LedgerUnreachable, match=r"equipoise ledger create 'sqlite:.*none\.db#trial' --epsilon E --delta D"
    ):
        eq.Ledger(f"sqlite:///{tmp_path}/none.db#trial").admit(certificate(0.1))
    assert not (tmp_path / "none.db").exists()


def test_a_file_that_is_no_database_is_unreachable(tmp_path):
    (tmp_path / "text.db").write_text("not a database, but long enough to be read as one " * 100)
    with pytest.raises(LedgerUnreachable, match="not a database"):
        eq.Ledger(f"sqlite:///{tmp_path}/text.db").admit(certificate(0.1))


@pytest.mark.parametrize("path", ["file/ledger.db", "file/folder/ledger.db"])
def test_a_folder_that_cannot_be_made_is_unreachable(tmp_path, path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerUnreachable):
        eq.Ledger(f"sqlite:///{tmp_path}/{path}").create(eq.Budget(1.0))


def test_a_folder_in_the_place_of_the_file_is_unreachable(tmp_path):
    for use in (lambda ledger: ledger.create(eq.Budget(1.0)), eq.Ledger.balance):
        with pytest.raises(LedgerUnreachable):
            use(eq.Ledger(f"sqlite:///{tmp_path}"))


def test_an_unknown_dataset_is_refused_with_the_line_that_creates_it(reference):
    other = reference.replace("#trial", "#other")
    uses = (eq.Ledger.balance, eq.Ledger.history, eq.Ledger.export, eq.Ledger.verify)
    for use in (*uses, lambda ledger: ledger.admit(certificate(0.1))):
        with pytest.raises(LedgerRefused, match=r"'other'.*equipoise ledger create .*#other"):
            use(eq.Ledger(other))


def test_a_database_without_a_ledger_is_refused_and_left_empty(database):
    with database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE spoons (number INTEGER)")
    with pytest.raises(LedgerRefused, match="equipoise ledger create"):
        eq.Ledger(f"{database.address}#trial").admit(certificate(0.1))
    assert sql.inspect(database.engine).get_table_names() == ["spoons"]


def test_a_table_of_somebody_else_is_left_alone(database):
    with database.engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE entries (dish VARCHAR)")
    with pytest.raises(LedgerUnreachable):
        eq.Ledger(f"{database.address}#trial").create(eq.Budget(1.0))
    with database.engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO entries VALUES ('soup')")
        connection.exec_driver_sql("DELETE FROM entries")


def test_a_file_of_an_earlier_version_is_refused_since_its_spends_would_not_count(tmp_path):
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute("CREATE TABLE budgets (dataset, epsilon, delta, created)")
    connection.execute("CREATE TABLE spends (number, dataset, epsilon, delta, certificate, spent)")
    connection.close()
    ledger = eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#trial")
    for use in (lambda: ledger.create(eq.Budget(1.0)), lambda: ledger.admit(certificate(0.1)), ledger.balance):
        with pytest.raises(LedgerRefused, match="earlier version"):
            use()
    connection = sqlite3.connect(tmp_path / "ledger.db")
    assert len(connection.execute("SELECT * FROM sqlite_master").fetchall()) == 2
    connection.close()


def test_a_ledger_that_somebody_holds_locked_is_given_up_on_and_can_still_be_read(reference, database, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 1)
    with database.engine.connect() as holder:
        if database.engine.dialect.name == "sqlite":
            holder.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            holder.exec_driver_sql(f"SELECT pg_advisory_lock({store.ADVISORY_LOCK})")
        with pytest.raises(LedgerUnreachable, match=r"lock.*who else holds it locked"):
            eq.Ledger(reference).admit(certificate(0.1))
        assert left(reference) == 1
    eq.Ledger(reference).admit(certificate(0.1))
    assert left(reference) == Decimal("0.9")


@pytest.mark.parametrize("wrong", ["mysql://host/db", "sqlite:///", "sqlite://", "sqlite://file.db", "://", "http://x"])
def test_other_databases_are_refused(wrong):
    with pytest.raises(LedgerRefused, match="postgresql://user@host/database#dataset"):
        eq.Ledger(wrong)


@pytest.mark.parametrize("wrong", ["", 3, b"bytes", None, "two\nlines", "nothing\0", "half a \ud800"])
def test_what_is_no_reference_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        eq.Ledger(wrong)


def test_seeded_and_conditional_certificates_are_refused(reference):
    plain = asked_for(PLAN)
    with pytest.raises(LedgerRefused, match="seeded"):
        eq.Ledger(reference).admit(issue(dataclasses.replace(plain, seeded=True)))
    observed = dataclasses.replace(plain, domain=eq.Domain(1.0, classes="observed"))
    with pytest.raises(LedgerRefused, match="conditional"):
        eq.Ledger(reference).admit(issue(observed))
    assert left(reference) == 1


@pytest.mark.parametrize("wrong", [None, 0.1, {"epsilon": 0.1}, eq.Budget(0.1)])
def test_what_is_no_certificate_is_refused(reference, wrong):
    with pytest.raises(LedgerRefused, match="a finding is measured, not proved"):
        eq.Ledger(reference).admit(wrong)
    assert left(reference) == 1


def model(reference: str, **parameters) -> "eq.LogisticRegression":
    return eq.LogisticRegression(**{"epsilon": 0.4, "domain": CLASSES, "ledger": reference, **parameters})


def test_a_fit_spends_once_and_says_so(reference):
    private = model(reference)
    planned = private.plan(40, 2)
    private.fit(X, Y)
    assert left(reference) == Decimal("0.6")
    assert dataclasses.replace(private.certificate_, release=None) == planned
    assert not any("not recorded" in caveat for caveat in planned.caveats)
    budget, spend, outcome = eq.Ledger(reference).history()
    assert outcome.kind == "outcome"
    assert (spend.kind, spend.certificate, spend.epsilon) == ("spend", planned.digest, "0.4")
    assert planned.digest == private.certificate_.planned_digest
    assert planned.terms.ledger == budget.dataset == "trial"


def test_a_fit_without_a_declared_n_is_refused_before_the_spend(reference):
    with pytest.raises(LedgerRefused, match="plan"):
        model(reference).fit(X, Y)
    assert left(reference) == 1


def test_a_fit_of_another_n_is_refused_before_the_spend(reference):
    private = model(reference)
    private.plan(41, 2)
    with pytest.raises(PlanMismatch):
        private.fit(X, Y)
    assert left(reference) == 1


def test_an_overdrawn_fit_reads_no_row_and_leaves_no_model(reference):
    private = model(reference, epsilon=1.5)
    private.plan(40, 2)
    with pytest.raises(Overdraft):
        private.fit(X, Y)
    assert not hasattr(private, "coef_")


def test_a_seeded_fit_is_refused_where_a_ledger_is_bound(reference):
    private = model(reference, random_state=0)
    private.plan(40, 2)
    with pytest.raises(LedgerRefused, match="random_state=None"):
        private.fit(X, Y)


def test_a_crash_after_admission_keeps_the_spend(reference, monkeypatch):
    def crash(*arguments):
        raise MemoryError("row 17 holds 3.5")

    monkeypatch.setattr("equipoise.release.carriers.base.row_source", crash)
    private = model(reference)
    private.plan(40, 2)
    with pytest.raises(PrivateFailure) as caught:
        private.fit(X, Y)
    assert left(reference) == Decimal("0.6")
    assert "17" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
