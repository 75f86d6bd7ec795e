"""An account's book: one small SQLite file that every process of the block finds, reads and writes.

It lies in a folder of its own among the temporary files, named after the process that holds the account. A process asks
for the book of itself, then of every ancestor that lives, then of the environment variable that processes inherit:
workers that were started before the block, and their children, find it by the second way, whatever starts inside by the
third. Who finds it by the second hands it on by the third. It is gone with the block.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.certify.certificate import Certificate
from equipoise.errors import LedgerRefused, LedgerUnreachable, Overdraft
from equipoise.vocabulary.facts import Budget

if TYPE_CHECKING:
    from equipoise.ledger.currencies import Amount

# The folder of the book, for every process that is started inside of the block.
VARIABLE = "EQUIPOISE_ACCOUNT"

# How long a process waits for the others that write, in seconds.
PATIENCE = 30


@dataclass(frozen=True, slots=True)
class CountedRelease:
    """One release that an account paid for: public facts alone.

    Parameters
    ----------
    number : int
        Its place, from 1.
    kind : str
        Of the certificate, as `mechanism` asks for it: "output", "objective", ...
    epsilon, delta : float
        Those of its certificate.
    n_samples, n_features : int
        The table that it was planned for.
    adjacency : str
        What neighbours are.
    cost : Amount
        What it cost, exactly, in the account's currency.
    certificate : str
        The digest of the plan, as a ledger records it.
    made : str
        When it was paid for, in UTC.
    process : int
        The process that asked.
    """

    number: int
    kind: str
    epsilon: float
    delta: float
    n_samples: int
    n_features: int
    adjacency: str
    cost: Amount
    certificate: str
    made: str
    process: int


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an account may spend: the budget, and its limit in the currency of that name."""

    budget: Budget
    currency: str

    @property
    def limit(self) -> Amount:
        """The most that all costs may add up to."""
        from equipoise.ledger.currencies import currency_named

        return currency_named(self.currency).limit(self.budget)

    def price(self, certificate: Certificate) -> Amount:
        """Return what a release costs."""
        from equipoise.ledger.currencies import currency_named

        return currency_named(self.currency).price(certificate.claim)


class Book:
    """The book in a folder, never held open: every question is a transaction of its own, under the file's lock.

    Examples
    --------
    >>> book = Book.create(Allowance(Budget(3.0), "basic"))
    >>> Book.found() == book, book.close(), Book.found()
    (True, (), None)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __eq__(self, other: object) -> bool:
        """Tell whether another is the book in the same folder."""
        return isinstance(other, Book) and other.folder == self.folder

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def create(cls, allowance: Allowance) -> Book:
        """Make this process's book; a second one is refused."""
        folder = None
        try:
            folder = _place(os.getpid())
            # Made beside its place and then moved there at once: nobody finds half a book, and one of two threads wins.
            made = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
            try:
                with closing(sqlite3.connect(made / "book.db", isolation_level=None)) as connection:
                    connection.execute("CREATE TABLE account (allowance TEXT NOT NULL, open INTEGER NOT NULL)")
                    # Sums run along, so that a spend costs the same at any age.
                    columns = "number INTEGER PRIMARY KEY, adjacency TEXT, amount TEXT, delta TEXT, record TEXT"
                    connection.execute(f"CREATE TABLE releases ({columns})")
                    connection.execute("CREATE TABLE told (process INTEGER PRIMARY KEY)")
                    written = json.dumps([allowance.budget.epsilon, allowance.budget.delta, allowance.currency])
                    connection.execute("INSERT INTO account VALUES (?, 1)", (written,))
                made.rename(folder)
            except BaseException:
                shutil.rmtree(made, ignore_errors=True)
                raise
        except (sqlite3.Error, OSError) as error:
            remedy = f"set TMPDIR to a folder with room; remove {folder} if no process holds an account there"
            raise LedgerUnreachable("a place for an account's book", _reason(error), remedy) from None
        return cls(folder)

    @classmethod
    def found(cls) -> Book | None:
        """Return the book that counts a fit of this process now, None outside of every account.

        A process that was started inside of an account which is over is refused: its fits were to be counted.
        """
        if (book := cls.near()) is not None:
            book._hand_on()
            return book
        if (book := cls.inherited()) is not None and not book.open:
            if _take_back(book):
                return cls.found()
            raise book._over()
        return book

    @classmethod
    def near(cls) -> Book | None:
        """Return the open book of this process or of the nearest living ancestor, if there is one."""
        parent = multiprocessing.parent_process()
        # What a fork server or a launcher stands between is still the parent for `multiprocessing`.
        named = () if parent is None or parent.pid is None else _with_ancestors(parent.pid)
        try:
            books = [cls(_place(each)) for each in (os.getpid(), *_with_ancestors(os.getppid()), *named)]
        except OSError:  # nowhere are temporary files, so there is no book among them
            return None
        return next((book for book in books if book.open), None)

    @classmethod
    def inherited(cls) -> Book | None:
        """Return the book that the environment names, open or not."""
        named = os.environ.get(VARIABLE)
        return cls(Path(named)) if named else None

    @property
    def open(self) -> bool:
        """Whether it is there, this user's own, and not closed."""
        try:
            seen = self.folder.lstat()
        except (OSError, ValueError):
            return False
        # Anybody may make a folder of that name among the temporary files.
        if not stat.S_ISDIR(seen.st_mode) or (hasattr(os, "geteuid") and seen.st_uid != os.geteuid()):
            return False
        with self._transaction() as connection:
            return bool(connection.execute("SELECT open FROM account").fetchone()[0])

    @property
    def allowance(self) -> Allowance:
        """The budget and the currency."""
        with self._transaction() as connection:
            epsilon, delta, currency = json.loads(connection.execute("SELECT allowance FROM account").fetchone()[0])
        return Allowance(Budget(epsilon, delta), currency)

    def admit(self, certificate: Certificate) -> None:
        """Record the spend of a certificate, or refuse it and record nothing."""
        allowance = self.allowance
        cost, limit = allowance.price(certificate), allowance.limit
        with self._transaction() as connection:
            if not connection.execute("SELECT open FROM account").fetchone()[0]:
                raise self._over()
            last = connection.execute(
                "SELECT number, adjacency, amount, delta FROM releases ORDER BY number DESC LIMIT 1"
            ).fetchone()
            number, adjacency, amount, delta = last or (0, certificate.adjacency, "0", "0")
            if adjacency != certificate.adjacency:
                raise LedgerRefused(
                    f"a fit for neighbours {certificate.adjacency!r} in this account",
                    f"earlier fits for neighbours {adjacency!r}: a sum of both would promise neither",
                    "open an account of its own for this promise, after asking what the people have left in all",
                )
            before = amount_of(amount, delta)
            spent = before + cost
            if not spent.within(limit):
                raise _overdraft(certificate, allowance, cost, limit - before, number)
            release = CountedRelease(
                number=number + 1,
                kind=certificate.kind,
                epsilon=certificate.epsilon,
                delta=certificate.delta,
                n_samples=certificate.n_samples,
                n_features=certificate.n_features,
                adjacency=certificate.adjacency,
                cost=cost,
                certificate=certificate.planned_digest,
                made=datetime.now(UTC).isoformat(timespec="seconds"),
                process=os.getpid(),
            )
            record = json.dumps(asdict(release), default=str)
            row = release.number, adjacency, str(spent.amount), str(spent.delta), record
            connection.execute("INSERT INTO releases VALUES (?, ?, ?, ?, ?)", row)

    @property
    def left(self) -> Amount:
        """What may still be spent, in the account's currency."""
        with self._transaction() as connection:
            last = connection.execute("SELECT amount, delta FROM releases ORDER BY number DESC LIMIT 1").fetchone()
        return self.allowance.limit - amount_of(*(last or ("0", "0")))

    def first_word(self) -> bool:
        """Tell whether this process asks for the first time: what is said once an account is said then."""
        with self._transaction() as connection:
            return bool(connection.execute("INSERT OR IGNORE INTO told VALUES (?)", (os.getpid(),)).rowcount)

    def releases(self) -> tuple[CountedRelease, ...]:
        """Return every release that was paid for, in their order."""
        with self._transaction() as connection:
            return _releases(connection)

    def close(self) -> tuple[CountedRelease, ...]:
        """Admit nothing more, take the book away, and return what it counted."""
        with self._transaction() as connection:
            connection.execute("UPDATE account SET open = 0")
            counted = _releases(connection)
        shutil.rmtree(self.folder, ignore_errors=True)
        return counted

    def _hand_on(self) -> None:
        """Name the book in the environment, for children who may outlive this process, or cannot see ancestors."""
        global _handed_on
        before = os.environ.get(VARIABLE)
        if before != str(self.folder):
            _handed_on = _HandedOn(os.getpid(), str(self.folder), before)
            os.environ[VARIABLE] = str(self.folder)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Open the file under its write lock; commit at the end, and roll back on any exception.

        The lock is the file's own, so that threads and processes wait for each other alike, and none survives a fork.
        """
        try:
            address = f"{(self.folder / 'book.db').absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
                # What a loss of power takes away is the account itself, with every process that it counts.
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            remedy = "leave the block and open another account with what is truly left; nothing was read"
            raise LedgerUnreachable(f"the account's book in {self.folder}", _reason(error), remedy) from None

    def _over(self) -> LedgerRefused:
        return LedgerRefused(
            "a fit in a process that was started inside of an account",
            f"the account is over ({VARIABLE} names {self.folder})",
            "fit before the block ends, or start the process again outside of it (joblib keeps workers: "
            f"joblib.externals.loky.get_reusable_executor().shutdown()), or unset {VARIABLE} where it was inherited "
            "by chance; nothing was read and nothing was spent",
        )


@dataclass(frozen=True, slots=True)
class _HandedOn:
    """That a process, older than the block, named a book in its own environment, and what was named there before."""

    process: int
    folder: str
    before: str | None


# What this process handed on, if it did.
_handed_on: _HandedOn | None = None


def _take_back(book: Book) -> bool:
    """Leave the environment as it was before this process, which is older than the block, named a book there.

    A copy by fork was started inside of the block: it takes nothing back, and is refused when the account is over.
    """
    global _handed_on
    given = _handed_on
    if given is None or (given.process, given.folder) != (os.getpid(), str(book.folder)):
        return False
    _handed_on = None
    os.environ.pop(VARIABLE, None)
    if given.before is not None:
        os.environ[VARIABLE] = given.before
    return True


def amount_of(amount: str, delta: str) -> Amount:
    """Return an amount as it is written.

    Examples
    --------
    >>> amount_of("0.5", "1e-7").amount
    Decimal('0.5')
    """
    # The ledger's room loads the database toolkit, which nobody needs who opens no account.
    from equipoise.ledger.currencies import Amount

    return Amount(Decimal(amount), Decimal(delta))


def _releases(connection: sqlite3.Connection) -> tuple[CountedRelease, ...]:
    rows = connection.execute("SELECT record FROM releases ORDER BY number")
    records = (json.loads(record) for (record,) in rows)
    return tuple(CountedRelease(**{**record, "cost": amount_of(**record["cost"])}) for record in records)


def _overdraft(certificate: Certificate, allowance: Allowance, cost: Amount, left: Amount, fits: int) -> Overdraft:
    # The ledger's room loads the database toolkit, which nobody needs who opens no account.
    from equipoise.ledger.currencies import currency_named
    from equipoise.ledger.statements import dear_counts

    amount, delta = (f"{float(part):.12g}" for part in (left.amount, left.delta))
    asked = f"a fit of epsilon={certificate.epsilon:g}, delta={certificate.delta:g} in this account"
    if allowance.currency == "basic":
        remains = f"epsilon={amount}, delta={delta}"
    else:
        asked = f"{asked}, which costs {float(cost.amount):.12g} and delta={float(cost.delta):.12g}"
        remains = f"{amount} and delta={delta} in the currency {allowance.currency!r}"
    whole = f"epsilon={allowance.budget.epsilon:g}, delta={allowance.budget.delta:g}"
    found = f"{remains} left after {fits} fits, of {whole} in all"
    remedy = (
        "lower epsilon and delta, or stop; to choose parameters use eq.PrivateGridSearch, which pays for its whole "
        "search once. Nothing was read and nothing was spent"
    )
    remedy = f"{dear_counts(certificate.claim, currency_named(allowance.currency))}{remedy}"
    return Overdraft(asked, found, remedy)


def _place(process: int) -> Path:
    """Return the folder in which a process keeps the book of its account."""
    return Path(tempfile.gettempdir()) / f"equipoise-account-{process}-{_birth(process)}"


def _birth(process: int) -> str:
    """Return when a process was started, in the system's own ticks: process numbers are used again. Else "0"."""
    return _told_by_the_system(process, 19) or "0"


def _with_ancestors(process: int) -> Iterator[int]:
    """Yield a process and its living ancestors, from the nearest on; itself alone where the system does not tell."""
    while process > 0:
        yield process
        process = int(_told_by_the_system(process, 1) or 0)


def _told_by_the_system(process: int, field: int) -> str:
    """Return a field of Linux's /proc/PROCESS/stat after the program's name, "" elsewhere and of a process gone."""
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        return told.rpartition(")")[2].split()[field]
    except (OSError, IndexError):
        return ""


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
