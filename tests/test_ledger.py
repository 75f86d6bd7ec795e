import dataclasses
import sqlite3
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import InvalidParameter, LedgerRefused, LedgerUnreachable, Overdraft, PlanMismatch, PrivateFailure
from equipoise.proof.certificate import Certificate
from equipoise.proof.request import Request

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
X = np.array([[0.5, 0.1], [-0.5, 0.2], [0.4, -0.1], [-0.3, 0.3]] * 10)
Y = np.array([1, 0, 1, 0] * 10)


def certificate(epsilon: float, delta: float = 0.0) -> Certificate:
    return Certificate.issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(epsilon, delta), ledger="x"))


@pytest.fixture
def reference(tmp_path) -> str:
    reference = f"sqlite:///{tmp_path}/ledger.db#trial"
    eq.Ledger(reference).create(eq.Budget(1.0, 1e-5))
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


def test_datasets_have_separate_budgets(tmp_path):
    first, second = (eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#{name}") for name in ("a", "b"))
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
    with pytest.raises(LedgerUnreachable, match=r"\.create\(equipoise\.Budget"):
        eq.Ledger(f"sqlite:///{tmp_path}/none.db").admit(certificate(0.1))
    assert not (tmp_path / "none.db").exists()


def test_a_file_that_is_no_database_is_unreachable(tmp_path):
    (tmp_path / "text.db").write_text("not a database, but long enough to be read as one " * 100)
    with pytest.raises(LedgerUnreachable, match="not a database"):
        eq.Ledger(f"sqlite:///{tmp_path}/text.db").admit(certificate(0.1))


def test_a_folder_that_cannot_be_made_is_unreachable(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerUnreachable):
        eq.Ledger(f"sqlite:///{tmp_path}/file/ledger.db").create(eq.Budget(1.0))


def test_an_unknown_dataset_is_refused(reference):
    with pytest.raises(LedgerRefused, match="other"):
        eq.Ledger(reference.replace("#trial", "#other")).admit(certificate(0.1))


@pytest.mark.parametrize("wrong", ["postgresql://host/db", "sqlite:///", "sqlite://"])
def test_other_databases_are_refused(wrong):
    with pytest.raises(LedgerRefused):
        eq.Ledger(wrong)


@pytest.mark.parametrize("wrong", ["", 3, b"bytes"])
def test_what_is_no_reference_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        eq.Ledger(wrong)


def test_seeded_and_conditional_certificates_are_refused(reference):
    plain = certificate(0.1).request
    with pytest.raises(LedgerRefused, match="seeded"):
        eq.Ledger(reference).admit(Certificate.issue(dataclasses.replace(plain, seeded=True)))
    observed = dataclasses.replace(plain, domain=eq.Domain(1.0, classes="observed"))
    with pytest.raises(LedgerRefused, match="conditional"):
        eq.Ledger(reference).admit(Certificate.issue(observed))
    assert left(reference) == 1


def model(reference: str, **parameters) -> eq.LogisticRegression:
    return eq.LogisticRegression(**{"epsilon": 0.4, "domain": CLASSES, "ledger": reference, **parameters})


def test_a_fit_spends_once_and_says_so(reference):
    private = model(reference)
    planned = private.plan(40, 2)
    private.fit(X, Y)
    assert left(reference) == Decimal("0.6")
    assert private.certificate_ == planned
    assert not any("not recorded" in caveat for caveat in planned.caveats)
    path = reference.removeprefix("sqlite:///").split("#")[0]
    with sqlite3.connect(path) as connection:
        assert connection.execute("select certificate from spends").fetchall() == [(planned.digest,)]
    connection.close()


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
    import equipoise.release as door

    def crash(*arguments):
        raise MemoryError("row 17 holds 3.5")

    monkeypatch.setattr(door, "row_source", crash)
    private = model(reference)
    private.plan(40, 2)
    with pytest.raises(PrivateFailure) as caught:
        private.fit(X, Y)
    assert left(reference) == Decimal("0.6")
    assert "17" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


SPENDER = """
import sys
import equipoise as eq
from equipoise.proof.certificate import Certificate
from equipoise.proof.request import Request
certificate = Certificate.issue(
    Request("logistic", "l2", 0.1, eq.Domain(1.0, classes=(0, 1)), 0.0, 40, 2, eq.Budget(0.3), ledger="x"))
print("ready", flush=True)
sys.stdin.readline()
try:
    eq.Ledger(sys.argv[1]).admit(certificate)
except eq.errors.Overdraft:
    print("refused")
else:
    print("admitted")
"""


def test_processes_that_race_never_overspend(reference):
    command = [sys.executable, "-c", SPENDER, reference]
    racers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    answers = [racer.communicate(timeout=60)[0].strip() for racer in racers]
    assert sorted(answers) == ["admitted"] * 3 + ["refused"] * 3
    assert left(reference) == Decimal("0.1")
