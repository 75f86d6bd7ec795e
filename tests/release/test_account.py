"""An account counts every fit of its block, whoever makes it, before a row is read."""

import doctest
import itertools
import json
import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, BaggingRegressor, StackingClassifier
from sklearn.feature_selection import RFECV
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.multiclass import OneVsOneClassifier
from sklearn.semi_supervised import SelfTrainingClassifier

import equipoise as eq
from equipoise.errors import (
    EquipoiseError,
    FitNotCounted,
    InvalidParameter,
    LedgerRefused,
    LedgerUnreachable,
    Overdraft,
    PrivateFailure,
    ScoresNotCovered,
)
from equipoise.ledger.currencies import default_for
from equipoise.release import account as accounts
from equipoise.release.account_book import VARIABLE, Book

ROWS = np.random.default_rng(21).uniform(-0.5, 0.5, (240, 3))
LABELS = (ROWS[:, 0] > 0).astype(int)
DOMAIN = eq.Domain(row_norm=1.0, classes=(0, 1))


def model(epsilon: float = 1.0, **parameters) -> eq.LogisticRegression:
    # Noise at the end of a fixed ridge: the plan that takes the shortest.
    given = {"alpha": 0.1, "mechanism": "output", "domain": DOMAIN, **parameters}
    return eq.LogisticRegression(epsilon=epsilon, **given)


def ridge(epsilon: float = 1.0) -> eq.Ridge:
    return eq.Ridge(epsilon=epsilon, alpha=0.1, mechanism="output", domain=eq.Domain(1.0, labels=(-1.0, 1.0)))


def counting(epsilon: float, delta: float = 0.0) -> accounts.Account:
    return eq.account(epsilon, delta, currency="basic")


@pytest.fixture
def never_read(monkeypatch):
    """Fail where rows are carried through, or classes are looked for."""

    def read(*_, **__):
        pytest.fail("rows were read")

    monkeypatch.setattr("equipoise.release.door.carriers.carry_out", read)
    monkeypatch.setattr("equipoise.estimators.classifier.observed_classes", read)


# --- what is counted --------------------------------------------------------------------------------------------------


def test_every_fit_is_counted_clones_and_searches_too():
    search = eq.PrivateGridSearch(eq.LogisticRegression(domain=DOMAIN), {"alpha": [0.1, 1.0]}, epsilon=0.75)
    with counting(3.0) as account:
        first = model().fit(ROWS, LABELS)
        clone(first).set_params(epsilon=0.5).fit(ROWS[:200], LABELS[:200])
        search.fit(ROWS, LABELS)
    assert [(each.number, each.epsilon, each.n_samples) for each in account.releases] == [
        (1, 1.0, 240),
        (2, 0.5, 200),
        (3, 0.75, 240),
    ]
    assert [each.kind for each in account.releases] == ["output", "output", search.certificate_.kind]
    assert account.releases[0].certificate == first.certificate_.planned_digest
    assert (account.spent.epsilon, account.left.epsilon) == (2.25, 0.75)


def test_an_account_is_read_by_people():
    account = counting(3.0, 1e-6)
    assert "not opened yet" in str(account)
    with account:
        model(1.5).fit(ROWS, LABELS)
        lines = str(account).splitlines()
    assert lines[0] == "Account of epsilon 3 and delta 1e-06 (currency basic), open"
    assert lines[1:3] == ["  spent  epsilon 1.5, delta 0, on 1 release(s)", "  left   epsilon 1.5, delta 1e-06"]
    assert lines[3] == "      1  epsilon 1.5, delta 0: output on 240 rows and 3 columns, neighbours replace-one"
    assert lines[4].startswith("  not counted: scores")
    assert str(account).splitlines()[0].endswith(", over")
    assert repr(account) == "account(epsilon=3.0, delta=1e-06, currency='basic')"


def test_amounts_add_up_as_people_write_them():
    with counting(1.0) as account:
        for _ in range(10):
            model(0.1).fit(ROWS, LABELS)
        assert (account.spent.epsilon, account.left.epsilon) == (1.0, 0.0)
        with pytest.raises(Overdraft):
            model(1e-9).fit(ROWS, LABELS)


def test_an_account_takes_the_currency_that_a_ledger_would():
    assert repr(eq.account(3.0, 1e-6)) == repr(eq.account(3.0, 1e-6, currency=default_for(eq.Budget(3.0, 1e-6)).name))
    with pytest.raises(InvalidParameter):
        eq.account(3.0, currency="shells")
    with pytest.raises(InvalidParameter):
        eq.account(0.0)


def test_what_is_kept_is_public(tmp_path):
    with counting(3.0) as account:
        one = model(domain=DOMAIN).fit(ROWS, LABELS)
        other = model(domain=DOMAIN).fit(-ROWS[::-1], 1 - LABELS)
        book = next(iter(Book.found().folder.iterdir())).read_bytes()
    kept = [(each.kind, each.epsilon, each.n_samples, each.certificate) for each in account.releases]
    assert kept[0] == kept[1]
    for fitted in (one, other):
        assert not any(repr(float(weight)).encode() in book for weight in fitted.coef_.ravel())


# --- what is refused --------------------------------------------------------------------------------------------------


def test_an_overdraft_is_refused_before_a_row_is_read(never_read):
    with counting(0.75) as account, pytest.raises(Overdraft) as refusal:
        model(1.0).fit(ROWS, LABELS)
    assert account.releases == ()
    assert refusal.value.asked == "a fit of epsilon=1, delta=0 in this account"
    assert refusal.value.found == "epsilon=0.75, delta=0 left after 0 fits, of epsilon=0.75, delta=0 in all"
    assert "PrivateGridSearch" in refusal.value.remedy
    assert refusal.value.remedy.endswith("Nothing was read and nothing was spent")


def test_delta_is_a_limit_of_its_own(never_read):
    with counting(5.0) as account, pytest.raises(Overdraft):
        model(1.0, delta=1e-9).fit(ROWS, LABELS)
    assert account.left.epsilon == 5.0


@pytest.mark.parametrize(
    "parameters",
    [{"random_state": 0}, {"domain": eq.Domain(row_norm=1.0, classes="observed")}],
    ids=["seeded", "classes that were found"],
)
def test_only_proved_releases_are_taken_and_nothing_is_read_for_others(never_read, parameters):
    with counting(5.0) as account, pytest.raises(LedgerRefused):
        model(**parameters).fit(ROWS, LABELS)
    assert account.releases == ()


def test_a_method_of_the_callers_own_is_refused(never_read):
    problem = eq.Problem(
        eq.losses.named("squared"), eq.penalties.named("none", 0.0), eq.Domain(1.0, labels=(-1.0, 1.0))
    )
    recipe = eq.Recipe(passes=5, batch_size=240, step=0.2, method="heavy-ball:0.5")
    with counting(5.0), pytest.raises(LedgerRefused, match="conditional"):
        eq.release_method(lambda rows, _: rows[0], ROWS, ROWS[:, 0], problem, recipe, eq.Budget(1.0))


def test_the_first_fit_decides_what_neighbours_are():
    persons = eq.Ridge(domain=eq.Domain(1.0, labels=(-1.0, 1.0), rows_a_person=2), alpha=0.1, mechanism="output")
    persons.plan(n_samples=120, n_features=3)
    with counting(5.0) as account:
        model().fit(ROWS, LABELS)
        with pytest.raises(LedgerRefused, match="replace-one-person"):
            persons.fit(ROWS, ROWS[:, 0], groups=np.arange(240) // 2)
    assert account.spent.epsilon == 1.0


# --- how a block begins and ends --------------------------------------------------------------------------------------


def test_a_fit_that_fails_after_its_spend_stays_counted(monkeypatch):
    def fail(*_, **__):
        raise ValueError("a value")

    monkeypatch.setattr("equipoise.release.door.carriers.carry_out", fail)
    with counting(1.5) as account:
        with pytest.raises(PrivateFailure):
            model().fit(ROWS, LABELS)
        with pytest.raises(Overdraft):
            model().fit(ROWS, LABELS)
    assert account.spent.epsilon == 1.0


def test_an_exception_ends_the_block_and_leaves_its_spends(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)

    def work(account):
        with account:
            model().fit(ROWS, LABELS)
            folder = Path(os.environ[VARIABLE])
            raise ZeroDivisionError(folder)

    account = counting(3.0)
    with pytest.raises(ZeroDivisionError) as ending:
        work(account)
    (folder,) = ending.value.args
    assert (account.spent.epsilon, len(account.releases)) == (1.0, 1)
    assert not folder.exists()
    assert VARIABLE not in os.environ
    assert not accounts.inside()


def test_one_account_at_a_time_which_may_be_entered_again():
    with counting(3.0) as account:
        with account:
            model().fit(ROWS, LABELS)
        with pytest.raises(LedgerRefused, match="open already"), counting(9.0):
            pytest.fail("a second account was opened")
        model().fit(ROWS, LABELS)
    assert account.spent.epsilon == 2.0
    with pytest.raises(LedgerRefused, match="over"), account:
        pytest.fail("a finished account was opened")
    with counting(1.0):
        assert accounts.inside()


def test_a_process_that_was_started_inside_opens_no_account_of_its_own(monkeypatch):
    # As a child's child sees it: the account is neither its own nor its parent's.
    with counting(3.0) as account:
        monkeypatch.setattr(Book, "near", lambda: None)
        with pytest.raises(LedgerRefused, match="open already"), counting(9.0):
            pytest.fail("a second account was opened")
        model().fit(ROWS, LABELS)
        monkeypatch.undo()
    assert account.spent.epsilon == 1.0


def test_without_temporary_files_there_is_no_account_and_fits_go_on(monkeypatch):
    def nowhere():
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr("tempfile.gettempdir", nowhere)
    model().fit(ROWS, LABELS)
    with pytest.raises(LedgerUnreachable, match="TMPDIR"), counting(1.0):
        pytest.fail("an account without a book was opened")


def test_an_account_is_not_sent_anywhere():
    with pytest.raises(InvalidParameter, match="counted all the same"):
        pickle.dumps(counting(1.0))


def test_without_its_book_an_account_admits_nothing(never_read):
    account = counting(3.0).__enter__()
    folder = Path(os.environ[VARIABLE])
    (folder / "book.db").unlink()
    with pytest.raises(LedgerUnreachable):
        model().fit(ROWS, LABELS)
    folder.rmdir()
    with pytest.raises(LedgerRefused, match="over"):
        model().fit(ROWS, LABELS)
    with pytest.raises(LedgerUnreachable):
        account.__exit__(None, None, None)
    assert not accounts.inside()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives folders away")
def test_a_folder_of_somebody_elses_is_no_book():
    with counting(3.0) as account:
        folder = Path(os.environ[VARIABLE])
        os.chown(folder, 12345, -1)
        try:
            assert Book.near() is None
            with pytest.raises(LedgerRefused):
                model().fit(ROWS, LABELS)
        finally:
            os.chown(folder, os.geteuid(), -1)
    assert account.releases == ()


# --- beside a ledger --------------------------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    reference = f"sqlite:///{tmp_path}/ledger.db#people"
    eq.Ledger(reference).create(eq.Budget(2.0))
    return reference


def recorded(ledger: str) -> list[str]:
    return [entry.kind for entry in eq.Ledger(ledger).history()]


def planned(epsilon: float, ledger: str) -> eq.LogisticRegression:
    bound = model(epsilon, ledger=ledger)
    bound.plan(*ROWS.shape)
    return bound


def test_a_fit_with_a_ledger_is_counted_in_both(ledger):
    with counting(3.0) as account:
        planned(1.0, ledger).fit(ROWS, LABELS)
    assert account.spent.epsilon == 1.0
    assert recorded(ledger).count("spend") == 1


def test_what_one_of_them_refuses_costs_the_other_nothing(ledger, never_read):
    with counting(0.5) as account, pytest.raises(Overdraft, match="in this account"):
        planned(1.0, ledger).fit(ROWS, LABELS)
    assert recorded(ledger).count("spend") == 0
    with counting(5.0) as account, pytest.raises(Overdraft, match="of 'people'"):
        planned(3.0, ledger).fit(ROWS, LABELS)
    assert account.releases == ()


# --- threads and processes --------------------------------------------------------------------------------------------


def attempt(epsilon: float = 1.0) -> str:
    try:
        model(epsilon).fit(ROWS, LABELS)
    except EquipoiseError as refusal:
        return type(refusal).__name__
    return "fitted"


def test_threads_share_the_account():
    ended: list[str] = []
    with counting(3.0) as account:
        threads = [threading.Thread(target=lambda: ended.append(attempt())) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(ended) == ["Overdraft"] * 3 + ["fitted"] * 3
    assert [each.number for each in account.releases] == [1, 2, 3]


def test_a_thread_that_was_started_inside_and_fits_after_the_block_is_refused_and_an_older_one_is_not():
    over, ended = threading.Event(), {}

    def late(name: str) -> threading.Thread:
        return threading.Thread(target=lambda: over.wait() and ended.update({name: attempt()}))

    threads = [late("older"), late("inside"), late("after")]
    threads[0].start()
    with counting(3.0) as account:
        threads[1].start()
    threads[2].start()
    over.set()
    for thread in threads:
        thread.join()
    assert ended == {"older": "fitted", "inside": "LedgerRefused", "after": "fitted"}
    assert account.releases == ()


def test_an_account_that_is_ended_inside_of_its_block_says_so_when_the_block_ends():
    with pytest.raises(LedgerRefused, match="ended before, inside of it"), counting(3.0) as account:
        account.__exit__(None, None, None)


forks = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")


def in_forks(count: int, work) -> None:
    """Run a function in so many copies of this process at once."""
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            try:
                work()
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


@forks
def test_copies_by_fork_race_for_what_is_left_and_never_overdraw():
    attempt()  # what is compiled or planned once is there before the race
    with counting(3.0) as account:
        in_forks(6, attempt)
        assert attempt() == "Overdraft"
    assert account.spent.epsilon == 3.0
    assert len({each.process for each in account.releases} - {os.getpid()}) == 3


@forks
def test_a_process_that_dies_after_its_spend_has_wasted_it(monkeypatch):
    monkeypatch.setattr("equipoise.release.door.carriers.carry_out", lambda *_: os._exit(9))
    with counting(1.0) as account:
        in_forks(1, attempt)
        assert attempt() == "Overdraft"
    assert account.spent.epsilon == 1.0


@forks
def test_a_copy_that_leaves_the_block_does_not_end_it():
    with counting(2.0) as account:
        in_forks(1, lambda: account.__exit__(None, None, None))
        assert attempt() == "fitted"
    assert account.spent.epsilon == 1.0


PROGRAM = """
import json, multiprocessing, os, subprocess, sys
import joblib, joblib.externals.loky, numpy as np
import equipoise as eq


def attempt(_=None):
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    model = eq.LogisticRegression(epsilon=1.0, alpha=0.1, mechanism="output", domain=domain)
    rows = np.linspace(-0.5, 0.5, 200)[:, None]
    try:
        model.fit(rows, (rows[:, 0] > 0).astype(int))
    except eq.errors.EquipoiseError as refusal:
        return type(refusal).__name__
    return "fitted"


def loky(count):
    # One worker, which joblib keeps from one call to the next.
    executor = joblib.externals.loky.get_reusable_executor(max_workers=1, timeout=None)
    return list(executor.map(attempt, range(count)))


def child(_):
    # A program that a worker starts: its parent knows of no account, its parent's parent holds one.
    program = [sys.executable, "-c", "import program; print(program.attempt())"]
    return subprocess.run(program, capture_output=True, text=True).stdout.strip()


def every(found):
    # What takes longer: programs, workers of every age, two of them at once.
    joblib.externals.loky.get_reusable_executor().shutdown()
    program = [sys.executable, "-c", "import program; print(program.attempt())"]
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(1) as early, eq.account(epsilon=4.0, currency="basic") as account:
        found["a worker from before"] = early.map(attempt, [0])
        found["a program"] = subprocess.run(program, capture_output=True, text=True).stdout.strip()
        found["joblib"] = sorted(joblib.Parallel(n_jobs=2)(joblib.delayed(attempt)(i) for i in range(3)))
        bare = {name: value for name, value in os.environ.items() if name != "EQUIPOISE_ACCOUNT"}
        untold = subprocess.run(program, env=bare, capture_output=True, text=True)
        found["a program told nothing"] = untold.stdout.strip()
    found["spent by all"] = account.spent.epsilon


def main():
    found = {"before": loky(1)}
    with eq.account(epsilon=3.0, currency="basic") as account:
        executor = joblib.externals.loky.get_reusable_executor(max_workers=1, timeout=None)
        found["a child of a worker from before"] = executor.submit(child, 0).result()
        pool = multiprocessing.get_context("spawn").Pool(1)
        found["spawn"] = pool.map(attempt, [0])
        found["loky"] = loky(2)
        found["spent"] = account.spent.epsilon
        found["processes"] = len({each.process for each in account.releases} - {os.getpid()})
    found["spawn afterwards"] = pool.map(attempt, [0])
    pool.terminate()
    found["loky afterwards"] = loky(1)
    if "every" in sys.argv:
        every(found)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
"""


def ran(folder: Path, *arguments: str) -> dict[str, object]:
    """Return what the program finds, run as its own process."""
    (folder / "program.py").write_text(PROGRAM)
    given = {**os.environ, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "program.py", *arguments]
    done = subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


# Joblib's worker is older than the account: it finds its parent's while there is one. The other was started inside, and
# what it fits when the account is over was to be counted.
WORKERS = {
    "before": ["fitted"],
    "a child of a worker from before": "fitted",
    "spawn": ["fitted"],
    "loky": ["fitted", "Overdraft"],
    "spent": 3.0,
    "processes": 3,
    "spawn afterwards": ["LedgerRefused"],
    "loky afterwards": ["fitted"],
}


def test_workers_by_spawn_and_of_joblib_are_counted(tmp_path):
    assert ran(tmp_path) == WORKERS


@pytest.mark.statistics
def test_workers_of_every_age_and_programs_are_counted(tmp_path):
    assert ran(tmp_path, "every") == WORKERS | {
        "a worker from before": ["fitted"],
        "a program": "fitted",
        "joblib": ["Overdraft", "fitted", "fitted"],
        "a program told nothing": "Overdraft",
        "spent by all": 4.0,
    }


def test_a_process_older_than_the_block_hands_the_account_on_and_takes_it_back(monkeypatch):
    with counting(3.0) as account:
        book = Book.found()
        # As a worker sees it that was started before: nothing in its environment, an ancestor with an account.
        del os.environ[VARIABLE]
        monkeypatch.setattr(Book, "near", lambda: book if book.folder.exists() else None)
        assert attempt() == "fitted"
        assert os.environ[VARIABLE] == str(book.folder)
    handed = str(book.folder)
    assert account.spent.epsilon == 1.0
    # The block has ended: what this process named itself refuses nothing, what a copy of it inherits does.
    os.environ[VARIABLE] = handed
    with monkeypatch.context() as copy:
        copy.setattr("equipoise.release.account_book.os.getpid", lambda: -1)
        assert attempt() == "LedgerRefused"
    assert attempt() == "fitted"
    assert VARIABLE not in os.environ


def test_a_process_that_inherits_the_name_of_a_finished_account_is_told(monkeypatch, never_read):
    monkeypatch.setenv(VARIABLE, "equipoise-account-of-long-ago")
    with pytest.raises(LedgerRefused, match=f"unset {VARIABLE}"):
        model().fit(ROWS, LABELS)
    # An account of its own helps too, and leaves the variable as it was.
    with counting(1.0):
        assert accounts.inside()
    assert os.environ[VARIABLE] == "equipoise-account-of-long-ago"


# --- scikit-learn around private models -------------------------------------------------------------------------------

FOLDS = KFold(3)
AROUND = {
    "GridSearchCV": (lambda: GridSearchCV(model(0.25), {"alpha": [0.1, 0.2, 0.3]}, cv=KFold(5)).fit(ROWS, LABELS), 16),
    "cross_val_score": (lambda: cross_val_score(model(0.25), ROWS, LABELS, cv=FOLDS), 3),
    "cross_validate": (lambda: cross_validate(model(0.25), ROWS, LABELS, cv=FOLDS), 3),
    "CalibratedClassifierCV": (lambda: CalibratedClassifierCV(model(0.25), cv=FOLDS).fit(ROWS, LABELS), 3),
    "RFECV": (lambda: RFECV(model(0.25), cv=FOLDS, min_features_to_select=3).fit(ROWS, LABELS), 3 + 2),
    "StackingClassifier": (
        lambda: StackingClassifier([("one", model(0.25))], final_estimator=model(0.25), cv=FOLDS).fit(ROWS, LABELS),
        1 + 3 + 1,
    ),
    "a regressor's GridSearchCV": (lambda: GridSearchCV(ridge(0.25), {"alpha": [0.1, 0.2]}).fit(ROWS, ROWS[:, 0]), 11),
}


@pytest.mark.parametrize("name", AROUND)
def test_fits_by_scikit_learn_are_counted_and_what_it_computes_beside_them_is_said_to_be_covered_by_nothing(name):
    work, fits = AROUND[name]
    with counting(0.25 * fits) as account, pytest.warns(ScoresNotCovered, match="no noise covers") as said:
        work()
    # Once an account, and at the line of whoever called scikit-learn.
    assert [Path(each.filename).name for each in said] == [Path(__file__).name]
    assert len(account.releases) == fits
    assert account.left.epsilon == 0.0


def rows_that_differ(rule: object, labels: np.ndarray, changed: np.ndarray) -> int:
    """Return in how many rows the training parts of a fold differ at most, of two tables that differ in one label."""
    rows = np.arange(len(labels))
    parts = [
        {(place, given[place]) for place in train}
        for given in (labels, changed)
        for train, _ in rule.split(rows, given)
    ]
    half = len(parts) // 2
    return max(len(one - other) for one, other in zip(parts[:half], parts[half:], strict=True))


def test_why_folds_by_labels_are_no_public_rule():
    changed = LABELS.copy()
    changed[0] = 1 - changed[0]
    assert rows_that_differ(KFold(5), LABELS, changed) == 1
    assert rows_that_differ(StratifiedKFold(5), LABELS, changed) > 1


def scores(estimator, rule, **arguments):
    return cross_val_score(estimator, ROWS, LABELS, cv=rule, error_score="raise", **arguments)


class LikeKFold(KFold):
    """Says that it is a KFold, and deals by labels."""

    def split(self, X, y=None, groups=None):
        return StratifiedKFold(3).split(X, y)


class Wrapped(RegressorMixin, BaseEstimator):
    """A private model inside of another, to which scikit-learn gives no random_state."""

    def fit(self, X, y):
        self.inner_ = ridge().fit(X, y)
        return self

    def predict(self, X):
        return self.inner_.predict(X)


BY_LABELS = {
    "GridSearchCV": lambda: GridSearchCV(model(), {"alpha": [0.1]}, error_score="raise").fit(ROWS, LABELS),
    "cross_val_score": lambda: cross_val_score(model(), ROWS, LABELS, error_score="raise"),
    "cross_validate": lambda: cross_validate(model(), ROWS, LABELS, error_score="raise"),
    "CalibratedClassifierCV": lambda: CalibratedClassifierCV(model()).fit(ROWS, LABELS),
    "RFECV": lambda: RFECV(model()).fit(ROWS, LABELS),
    "in threads": lambda: cross_val_score(model(), ROWS, LABELS, cv=StratifiedKFold(3), error_score="raise", n_jobs=2),
    "of a regressor": lambda: cross_val_score(ridge(), ROWS, LABELS, cv=StratifiedKFold(3), error_score="raise"),
    "of a regressor in threads": lambda: scores(ridge(), GroupKFold(3), groups=np.arange(240) % 7, n_jobs=2),
    "a search in each of two threads": lambda: scores(
        GridSearchCV(ridge(), {"alpha": [0.1]}, cv=KFold(3), error_score="raise"), StratifiedKFold(3), n_jobs=2
    ),
    "a list of splits": lambda: scores(model(), list(StratifiedKFold(3).split(ROWS, LABELS))),
    "PredefinedSplit": lambda: scores(model(), PredefinedSplit((np.arange(240) + LABELS) % 3)),
    "a class of one's own": lambda: scores(model(), LikeKFold(3)),
    "SelfTrainingClassifier": lambda: SelfTrainingClassifier(model()).fit(ROWS, np.where(ROWS[:, 1] > 0, LABELS, -1)),
    "a bag of wrapped models": lambda: BaggingRegressor(Wrapped(), n_estimators=2).fit(ROWS, LABELS),
    "OneVsOneClassifier": lambda: OneVsOneClassifier(model()).fit(ROWS, LABELS),
}


@pytest.mark.parametrize("name", BY_LABELS)
def test_fits_on_folds_by_labels_are_refused_with_the_remedy(name, never_read):
    refused = pytest.raises(LedgerRefused, match="PrivateGridSearch")
    with counting(99.0) as account, parallel_config("threading"), refused as refusal:
        BY_LABELS[name]()
    assert "cv=KFold(5)" in refusal.value.remedy
    assert account.releases == ()


def test_a_stack_refuses_at_its_first_fold_by_labels():
    # Its members are fitted on all rows first, which is covered and counted.
    stack = StackingClassifier([("one", model(0.25))], final_estimator=model(0.25))
    with counting(5.0) as account, pytest.raises(LedgerRefused, match="StratifiedKFold"):
        stack.fit(ROWS, LABELS)
    assert len(account.releases) == 1


def test_a_search_that_overdraws_ends_with_the_remedy():
    search = GridSearchCV(model(1.0), {"alpha": [0.1, 0.2, 0.3]}, cv=KFold(5), error_score="raise")
    with counting(3.0) as account, warnings.catch_warnings():
        warnings.simplefilter("ignore", ScoresNotCovered)
        with pytest.raises(Overdraft, match="PrivateGridSearch"):
            search.fit(ROWS, LABELS)
    assert account.spent.epsilon == 3.0
    assert not hasattr(search, "best_estimator_")


def test_members_of_a_bag_are_seeded_by_scikit_learn_and_refused(never_read):
    bag = BaggingClassifier(model(0.25), n_estimators=2)
    with counting(5.0) as account, pytest.raises(LedgerRefused, match=r"such as bagging.*eq\.PrivateGridSearch"):
        bag.fit(ROWS, LABELS)
    assert account.releases == ()


# --- outside of every account -----------------------------------------------------------------------------------------


@pytest.fixture
def fresh_process(monkeypatch):
    monkeypatch.setattr(accounts, "_uncounted", itertools.count(1))


def fits(count: int, **parameters) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(count):
            model(**parameters).fit(ROWS, LABELS)
    return said


def test_the_second_fit_that_nobody_counts_warns_once_at_the_users_line(fresh_process):
    assert fits(1) == []
    said = fits(3)
    assert [each.category for each in said] == [FitNotCounted]
    assert "with eq.account(epsilon=..., delta=...):" in str(said[0].message)
    assert "a second private release, a fit or an evaluation" in str(said[0].message)
    assert said[0].filename == __file__
    assert "model(**parameters).fit(" in Path(__file__).read_text().splitlines()[said[0].lineno - 1]


def test_the_warning_is_the_same_for_other_rows(fresh_process):
    model().fit(ROWS, LABELS)
    with pytest.warns(FitNotCounted) as one:
        model().fit(ROWS, LABELS)
    accounts._uncounted = itertools.count(2)
    with pytest.warns(FitNotCounted) as other:
        model().fit(np.full_like(ROWS, np.nan), 1 - LABELS)
    assert str(one[0].message) == str(other[0].message)


def test_as_an_error_the_warning_comes_before_a_row_is_read(fresh_process, never_read):
    next(accounts._uncounted)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FitNotCounted)
        with pytest.raises(FitNotCounted):
            model().fit(ROWS, LABELS)


def test_experiments_and_fits_that_are_counted_do_not_warn(fresh_process, ledger):
    assert fits(3, random_state=0) == []
    with counting(5.0):
        assert fits(3) == []
    bound = planned(0.5, ledger)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bound.fit(ROWS, LABELS)
        bound.fit(ROWS, LABELS)
    assert fits(1) == []
    assert len(fits(1)) == 1


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_about_accounts_runs_as_it_is_written():
    page = Path(__file__).parents[2] / "docs" / "account.md"
    with warnings.catch_warnings():
        failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried >= 8
    assert failed == 0


# --- able to fail -----------------------------------------------------------------------------------------------------


def test_a_book_that_another_hand_closed_admits_nothing(never_read):
    with counting(3.0) as account:
        connection = sqlite3.connect(Path(os.environ[VARIABLE]) / "book.db")
        connection.execute("UPDATE account SET open = 0")
        connection.commit()
        connection.close()
        with pytest.raises(LedgerRefused, match="over"):
            model().fit(ROWS, LABELS)
        # Also where it is closed between the question which account there is and the spend.
        with pytest.raises(LedgerRefused, match="over"):
            Book.inherited().admit(model().plan(*ROWS.shape))
    assert account.releases == ()
