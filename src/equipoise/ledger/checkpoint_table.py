"""A witness in a database: a table of signed checkpoints in a second SQLite file or PostgreSQL database."""

from __future__ import annotations

import sqlalchemy as sql

from equipoise.errors import InvalidParameter, LedgerError, LedgerTampered, LedgerUnreachable
from equipoise.ledger.checkpoints import SignedCheckpoint, from_json
from equipoise.ledger.names import normal_form
from equipoise.ledger.store import Store

UNREAD = "nothing is admitted while a named witness cannot be read; mend it, or ask the ledger's owner which one counts"

# A spend looks at so many of the newest checkpoints, and at all that followed a recovery: those before were looked at
# when the newest was signed.
NEWEST = 16

_CHECKPOINTS = sql.Table(
    "checkpoints",
    sql.MetaData(),
    # The normal form: one dataset, however its id is spelled.
    sql.Column("dataset", sql.String, primary_key=True),
    # In the order in which they were added: after a recovery a number may come again, of another entry.
    sql.Column("line", sql.BigInteger, primary_key=True, autoincrement=False),
    sql.Column("number", sql.BigInteger, nullable=False),
    sql.Column("key", sql.String, nullable=False),
    # The number of the recovery, in what was signed after one.
    sql.Column("recovery", sql.BigInteger),
    sql.Column("checkpoint", sql.String, nullable=False),
)


class CheckpointTable:
    """The checkpoints in a database that is named by a ledger's URL; what stands after # may be left out.

    Examples
    --------
    >>> CheckpointTable("postgresql://owner:secret@elsewhere/witness").shown
    'postgresql://owner:***@elsewhere/witness'
    """

    def __init__(self, reference: str) -> None:
        self._store = Store(reference)
        self.shown = self._store.shown if "#" in reference else self._store.shown.partition("#")[0]

    def require_elsewhere(self, ledger: str) -> None:
        """Refuse a table in the ledger's own file or database: a restored copy of it would restore the table, too."""
        there = Store(ledger)
        if self._store.is_same(there):
            remedy = "name another file or database, which whoever restores the ledger's cannot write"
            raise InvalidParameter("a witness elsewhere than the ledger", f"the ledger's own {self.shown}", remedy)

    def exists(self) -> bool:
        """Return whether the database has the table; a file that is not there has none, and a server must answer."""
        if self._store.in_file and not self._store.path.exists():
            return False
        return self.read("") is not None

    def read(self, dataset: str, newest: int | None = None) -> tuple[SignedCheckpoint, ...] | None:
        """Return the checkpoints of a dataset, the newest first; None where there is no such table.

        At most so many, if a number is given, and those after recoveries, whatever their age: other witnesses may be
        as old.
        """
        try:
            with self._store.opened() as connection:
                if not sql.inspect(connection).has_table(_CHECKPOINTS.name):
                    return None
                columns = _CHECKPOINTS.c
                chosen = sql.select(columns.line, columns.number, columns.key, columns.recovery, columns.checkpoint)
                chosen = chosen.where(columns.dataset == normal_form(dataset)).order_by(columns.line.desc())
                rows = connection.execute(chosen.limit(newest)).all()
                if newest is not None and len(rows) == newest:
                    earlier = chosen.where(columns.recovery.is_not(None), columns.line < rows[-1].line)
                    rows = [*rows, *connection.execute(earlier).all()]
        except LedgerError as error:
            raise LedgerUnreachable(f"the checkpoints in {self.shown}", error.found, UNREAD) from None
        return tuple(self._checked(dataset, *row[1:]) for row in rows)

    def _checked(self, dataset: str, number: object, key: object, recovery: object, text: object) -> SignedCheckpoint:
        """Return the checkpoint of a row, which must be what its columns say: they decide which rows are looked at."""
        kept = from_json(text if isinstance(text, str) else "", self.shown)
        if _columns(kept) != {"dataset": normal_form(dataset), "number": number, "key": key, "recovery": recovery}:
            remedy = "ask whoever keeps the checkpoints who wrote this row"
            raise LedgerTampered(f"checkpoints in {self.shown}", "a row whose columns say otherwise", remedy)
        return kept

    def add(self, kept: SignedCheckpoint) -> bool:
        """Keep a checkpoint, in a new file or table if need be; False where the key signed this entry before."""
        row, columns = _columns(kept), _CHECKPOINTS.c
        try:
            if self._store.in_file:
                self._store.path.touch(exist_ok=True)
            with self._store.opened(writing=True) as connection:
                _CHECKPOINTS.create(connection, checkfirst=True)
                own = columns.dataset == row["dataset"]
                same = sql.select(columns.checkpoint).where(
                    own, *(columns[name].is_not_distinct_from(row[name]) for name in ("number", "key", "recovery"))
                )
                # After a recovery another entry may have this number; what it replaced may be more than before.
                if any(_says_the_same(text, kept) for text in connection.execute(same).scalars()):
                    return False
                line = connection.execute(sql.select(sql.func.coalesce(sql.func.max(columns.line), 0)).where(own))
                values = {**row, "line": line.scalar_one() + 1, "checkpoint": kept.to_json()}
                connection.execute(sql.insert(_CHECKPOINTS).values(values))
        except (LedgerError, OSError, ValueError) as error:
            found = getattr(error, "found", None) or getattr(error, "strerror", None) or "a path that no file has"
            remedy = "check the address and the permissions; the ledger itself is as it was"
            raise LedgerUnreachable(f"to keep a checkpoint in {self.shown}", found, remedy) from None
        return True


def _columns(kept: SignedCheckpoint) -> dict[str, object]:
    """Return what the columns beside a checkpoint say."""
    said = kept.checkpoint
    recovery = None if said.recovered is None else said.recovered.number
    return {"dataset": normal_form(said.dataset), "number": said.number, "key": kept.key.hex(), "recovery": recovery}


def _says_the_same(text: object, kept: SignedCheckpoint) -> bool:
    """Return whether a text is a checkpoint of the same entry, about the same recovery."""
    said = from_json(str(text), "the table").checkpoint
    return (said.digest, said.recovered) == (kept.checkpoint.digest, kept.checkpoint.recovered)
