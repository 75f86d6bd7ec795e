"""The ledger: budgets and spends, committed before any row is read. A crash may waste budget, never overspend it.

Admission is by basic composition: the epsilons of all spends of a dataset add up, and so do the deltas. Amounts are
added as the decimals that people wrote (ten spends of 0.1 are 1), and one write lock covers reading the total and
recording the spend.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from equipoise.errors import InvalidParameter, LedgerRefused, LedgerUnreachable, Overdraft
from equipoise.proof.certificate import Certificate
from equipoise.vocabulary.facts import Budget

DEFAULT_DATASET = "default"

_METADATA = sql.MetaData()
_BUDGETS = sql.Table(
    "budgets",
    _METADATA,
    sql.Column("dataset", sql.String, primary_key=True),
    sql.Column("epsilon", sql.String, nullable=False),
    sql.Column("delta", sql.String, nullable=False),
    sql.Column("created", sql.String, nullable=False),
)
_SPENDS = sql.Table(
    "spends",
    _METADATA,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("dataset", sql.String, sql.ForeignKey("budgets.dataset"), nullable=False),
    sql.Column("epsilon", sql.String, nullable=False),
    sql.Column("delta", sql.String, nullable=False),
    sql.Column("certificate", sql.String, nullable=False),
    sql.Column("spent", sql.String, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Balance:
    """What a dataset's budget was, and what remains of it."""

    limit: Budget
    epsilon_left: Decimal
    delta_left: Decimal


class Ledger:
    """A ledger named by a URL or a dataset id, never held open.

    Parameters
    ----------
    reference : str
        ``sqlite:///folder/file.db`` with an optional ``#dataset`` (an absolute path has four slashes), or a plain
        dataset name, which is kept in ``ledger.db`` of the folder EQUIPOISE_HOME (``~/.equipoise`` if unset).

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"sqlite:///{folder}/ledger.db#trial")
    ...     ledger.create(Budget(3.0, 1e-6))
    ...     str(ledger.balance().epsilon_left)
    '3.0'
    """

    def __init__(self, reference: str) -> None:
        if not isinstance(reference, str) or not reference:
            found = f"ledger={reference!r}"
            raise InvalidParameter(
                "a ledger's URL or name", found, 'pass ledger="sqlite:///ledger.db#dataset" or ledger="dataset"'
            )
        if "://" not in reference:
            folder = Path(os.environ.get("EQUIPOISE_HOME", Path.home() / ".equipoise"))
            reference = f"sqlite:///{folder / 'ledger.db'}#{reference}"
        address, _, dataset = reference.partition("#")
        if not address.startswith("sqlite:///") or len(address) == len("sqlite:///"):
            raise LedgerRefused("a ledger in SQLite", f"{address!r}", "pass sqlite:///folder/file.db#dataset")
        self._path = Path(address.removeprefix("sqlite:///"))
        self.dataset = dataset or DEFAULT_DATASET

    def create(self, budget: Budget) -> None:
        """Create the dataset's budget, and the file if need be; an existing budget is never changed."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unreachable(error.strerror or "the folder cannot be made") from None
        with self._writing(create=True) as connection:
            _METADATA.create_all(connection)
            row = {
                "dataset": self.dataset,
                "epsilon": _text(budget.epsilon),
                "delta": _text(budget.delta),
                "created": _now(),
            }
            try:
                connection.execute(sql.insert(_BUDGETS).values(row))
            except IntegrityError:
                raise LedgerRefused(
                    f"a new budget for {self.dataset!r}",
                    "one that exists already",
                    "choose another dataset name; budgets are never changed",
                ) from None

    def admit(self, certificate: Certificate) -> None:
        """Record the spend of a certificate, or refuse it and record nothing."""
        if certificate.request.seeded:
            raise LedgerRefused(
                "a release", "a seeded run, for experiments only", "leave random_state=None where a ledger is bound"
            )
        if certificate.grade != "proved":
            raise LedgerRefused(
                'a certificate of grade "proved"',
                f"grade {certificate.grade!r}: {'; '.join(certificate.assumptions)}",
                "declare the classes in the domain",
            )
        with self._writing() as connection:
            balance = self._balance(connection)
            epsilon, delta = _decimal(certificate.epsilon), _decimal(certificate.delta)
            if epsilon > balance.epsilon_left or delta > balance.delta_left:
                raise Overdraft(
                    f"to spend epsilon={epsilon}, delta={delta} of {self.dataset!r}",
                    f"epsilon={balance.epsilon_left}, delta={balance.delta_left} remaining "
                    f"of {balance.limit.epsilon:g}, {balance.limit.delta:g}",
                    "lower epsilon and delta to what remains, or stop: nothing was read and nothing was spent",
                )
            row = {
                "dataset": self.dataset,
                "epsilon": str(epsilon),
                "delta": str(delta),
                "certificate": certificate.digest,
                "spent": _now(),
            }
            connection.execute(sql.insert(_SPENDS).values(row))

    def balance(self) -> Balance:
        """Return the budget and what remains of it."""
        with self._writing() as connection:
            return self._balance(connection)

    def _balance(self, connection: sql.Connection) -> Balance:
        limit = connection.execute(sql.select(_BUDGETS).where(_BUDGETS.c.dataset == self.dataset)).one_or_none()
        if limit is None:
            raise LedgerRefused(f"a budget for {self.dataset!r}", f"none in {self._path}", self._creation_line())
        spends = connection.execute(sql.select(_SPENDS).where(_SPENDS.c.dataset == self.dataset)).all()
        return Balance(
            Budget(float(limit.epsilon), float(limit.delta)),
            Decimal(limit.epsilon) - sum((Decimal(spend.epsilon) for spend in spends), Decimal(0)),
            Decimal(limit.delta) - sum((Decimal(spend.delta) for spend in spends), Decimal(0)),
        )

    @contextmanager
    def _writing(self, create: bool = False) -> Iterator[sql.Connection]:
        """Open the file under SQLite's write lock, commit at the end, roll back on any exception."""
        if not create and not self._path.is_file():
            raise self._unreachable("there is no such file")
        engine = sql.create_engine(sql.URL.create("sqlite", database=str(self._path)), poolclass=sql.NullPool)
        sql.event.listen(engine, "connect", _leave_transactions_to_us)
        sql.event.listen(engine, "begin", _lock_at_once)
        try:
            with engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise self._unreachable(str(getattr(error, "orig", None) or type(error).__name__)) from None

    def _unreachable(self, reason: str) -> LedgerUnreachable:
        return LedgerUnreachable(f"the ledger {self._path}", reason, f"check the path; {self._creation_line()}")

    def _creation_line(self) -> str:
        reference = f"sqlite:///{self._path}#{self.dataset}"
        return f"create it once: equipoise.Ledger({reference!r}).create(equipoise.Budget(epsilon, delta))"


def _leave_transactions_to_us(connection: Any, _record: Any) -> None:
    connection.isolation_level = None


def _lock_at_once(connection: sql.Connection) -> None:
    connection.exec_driver_sql("PRAGMA busy_timeout = 30000")
    connection.exec_driver_sql("PRAGMA synchronous = FULL")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _decimal(value: float) -> Decimal:
    return Decimal(_text(value))


def _text(value: float) -> str:
    return repr(float(value))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
