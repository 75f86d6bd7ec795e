"""Where the entries are kept: a SQLite file or a PostgreSQL database. Never held open, and locked while it is written.

One lock covers reading the history and appending to it; a lock or a server that does not answer is given up on.
"""

from __future__ import annotations

import re
import shlex
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, fields
from itertools import accumulate
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import SQLAlchemyError

from equipoise.errors import (
    EquipoiseError,
    InvalidParameter,
    LedgerError,
    LedgerRefused,
    LedgerTampered,
    LedgerUnreachable,
    MissingExtra,
)
from equipoise.ledger import postgresql
from equipoise.ledger.addresses import (
    HIDDEN,
    NEVER_IN_NAMES,
    home,
    is_plain,
    is_plain_url,
    postgresql_url,
    require_file,
    secrets_in,
    shown_address,
)
from equipoise.ledger.chain import Entry
from equipoise.ledger.names import normal_form

DEFAULT_DATASET = "default"

# How long to wait for a server to be reached and for a lock, in seconds; twice that for a whole transaction, and for so
# many entries of a long history.
PATIENCE = 30
BATCH = 1000

# The number under which every Equipoise locks a PostgreSQL database: the letters "equipois".
ADVISORY_LOCK = int.from_bytes(b"equipois", "big")


# The column that ledgers of versions 0.1.0 and 0.2.0 lack, until a budget is created or migrated in them.
RECORD = "record"


def _table(name: str, texts: Sequence[str]) -> sql.Table:
    return sql.Table(
        name,
        sql.MetaData(),
        sql.Column("number", sql.Integer, primary_key=True, autoincrement=False),
        sql.Column("dataset", sql.String, primary_key=True),
        *(sql.Column(text, sql.String, nullable=text == RECORD) for text in texts),
        # Where rows have numbers of SQLite's own, REPLACE by such a number would pass the triggers.
        sqlite_with_rowid=False,
    )


_ENTRIES = _table("entries", [field.name for field in fields(Entry)][2:])
# The last entries of one dataset are found at once, however many there are of others.
_BY_DATASET = "CREATE INDEX IF NOT EXISTS entries_by_dataset ON entries (dataset, number)"
# What the certificate of an entry rests on, in ledgers of version 0.2.0; a record holds the certificate itself.
_GROUNDS = _table("grounds", ["grounds"])

# SQLite's REPLACE deletes without asking the triggers on DELETE, hence the one on INSERT.
_TAKEN = "WHEN EXISTS (SELECT 1 FROM entries WHERE number = NEW.number AND dataset = NEW.dataset)"
_REFUSAL = "'the ledger is append-only'"
_TRIGGERS = {
    "sqlite": [
        f"CREATE TRIGGER no_{event} BEFORE {event} ON entries {condition} BEGIN SELECT RAISE(ABORT, {_REFUSAL}); END"
        for event, condition in (("update", ""), ("delete", ""), ("insert", _TAKEN))
    ],
    "postgresql": [
        "CREATE FUNCTION entries_append_only() RETURNS trigger LANGUAGE plpgsql "
        f"AS $$ BEGIN RAISE EXCEPTION {_REFUSAL}; END $$",
        "CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries "
        "EXECUTE FUNCTION entries_append_only()",
    ],
}


# Views and virtual tables have no page of their own in the file; columns that are computed are hidden.
_ODD_TABLES = (
    "SELECT name FROM sqlite_master WHERE lower(name) IN ('entries', 'grounds') AND (type <> 'table' OR rootpage = 0) "
    "UNION ALL SELECT t.name FROM sqlite_master t, pragma_table_xinfo(t.name) c "
    "WHERE lower(t.name) IN ('entries', 'grounds') AND c.hidden"
)


# A server that was started at the same microsecond and numbers a database of the same name alike is the same.
_IDENTITY = (
    "SELECT datname, oid, extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text "
    "FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()"
)


class Store:
    """A database of entries, named by a reference.

    Examples
    --------
    >>> store = Store("postgresql://officer:secret@localhost/budgets#trial")
    >>> store.dataset, store.shown
    ('trial', 'postgresql://officer:***@localhost/budgets#trial')
    """

    def __init__(self, reference: str) -> None:
        remedy = 'pass ledger="sqlite:///ledger.db#dataset", "postgresql://user@host/database#dataset" or "dataset"'
        # An address that cannot be read is not repeated: part of it may be a password.
        if not isinstance(reference, str) or not reference or not reference.isprintable():
            raise InvalidParameter("a ledger's URL or name", f"something else ({type(reference).__name__})", remedy)
        address, _, dataset = reference.partition("#")
        scheme, separator, rest = address.partition("://")
        self.in_file, self.written, self.shown = scheme == "sqlite", dataset or DEFAULT_DATASET, reference
        if not separator:
            # A mistyped address is no name: its password would be shown, and its dataset would have another budget.
            if not NEVER_IN_NAMES.isdisjoint(reference):
                found = "a name with one of : @ = #; it is not shown, as it may hold a password"
                raise LedgerRefused("a dataset's name, or a ledger's URL", found, remedy)
            self.in_file, self.written, rest = True, reference, f"/{home()}/ledger.db"
        elif self.in_file:
            require_file(rest, dataset, remedy)
        self.dataset = normal_form(self.written)
        self.path = Path(rest[1:])
        if self.in_file:
            self.url = sql.URL.create("sqlite", database=str(self.path))
            self._plain = is_plain(str(self.path)) and is_plain(self.written)
        elif scheme == "postgresql":
            self.url = postgresql_url(address, dataset)
            # The driver is our affair; people write postgresql://.
            self.shown = f"{shown_address(self.url.set(drivername=scheme))}#{self.written}"
            self._plain = is_plain_url(self.url) and is_plain(self.written)
        else:
            kind = repr(scheme) if re.fullmatch(r"[a-z0-9+]{1,20}", scheme) else "another kind"
            raise LedgerRefused("a ledger in SQLite or PostgreSQL", f"an address of {kind}", remedy)
        # What may be a password in the wrong place is not shown, nor what a driver says of it.
        self.shown, self.shown_path = (self.shown, str(self.path)) if self._plain else (HIDDEN, HIDDEN)

    def command(self, name: str) -> str:
        """Return the line that runs a command of `equipoise ledger` on this ledger."""
        return f"equipoise ledger {name} {shlex.quote(self.shown)}"

    @property
    def creation(self) -> str:
        """The line that creates the ledger."""
        return f"create it once: {self.command('create')} --epsilon E --delta D"

    @contextmanager
    def opened(self, writing: bool = False, creating: bool = False) -> Iterator[sql.Connection]:
        """Open the database, under the write lock if asked; commit at the end, roll back on any exception."""
        asked, remedy = f"the ledger {self.shown}", "check the address, the permissions, and who else holds it locked"
        try:
            if self.in_file and not creating and not self.path.is_file():
                raise LedgerUnreachable(asked, f"there is no file {self.shown_path}", self.creation)
            if self.in_file and self.path.exists() and not self.path.is_file():
                # A device would forget its spends.
                raise LedgerUnreachable(asked, f"{self.shown_path} is no plain file", "name a file on a local disk")
            with ExitStack() as stack:
                connection = stack.enter_context(self._connection(stack, creating))
                transaction = connection.begin()
                for statement in self._beginning(writing):
                    connection.exec_driver_sql(statement)
                if self.in_file:
                    self._require_tables(connection)
                if creating:
                    self.make_tables(connection)
                yield connection
                if writing:
                    asked, remedy = f"to commit an entry to {asked}", f"look with {self.command('history')}"
                    remedy = f"no row was read, but the entry may have been recorded: {remedy} before you try again"
                transaction.commit()
        except LedgerError:
            raise
        except (SQLAlchemyError, OSError) as error:
            reason = " ".join(str(getattr(error, "orig", None) or error).split())
            if any(secret in reason for secret in secrets_in(self.url)):
                reason = "an error of the driver, not shown because a password or another secret occurs in it"
            elif not self._plain:
                reason = "an error, not shown because the address may hold a password in another place"
            raise LedgerUnreachable(asked, reason, remedy) from None

    def names(self, connection: sql.Connection, whole: bool = False) -> tuple[str, ...]:
        """Return the ids of the datasets that have a budget; of the whole table, also those whose budget is gone."""
        if not self._has(connection, _ENTRIES):
            return ()
        chosen = sql.select(_ENTRIES.c.dataset).distinct()
        return tuple(connection.execute(chosen if whole else chosen.where(_ENTRIES.c.number == 1)).scalars())

    def entry(self, connection: sql.Connection, dataset: str, number: int) -> Entry | None:
        """Return one entry."""
        place = (_ENTRIES.c.dataset == dataset) & (_ENTRIES.c.number == number)
        row = connection.execute(self._select(connection).where(place)).first()
        return None if row is None else Entry(*row)

    def last(self, connection: sql.Connection, dataset: str, most: int, letters: int) -> tuple[Entry, ...]:
        """Return the last entries of a dataset in their order: so many at most, or those of so many letters, or two.

        A record may be as long as a client likes; what a spend reads must not grow with that.
        """
        own, latest = _ENTRIES.c.dataset == dataset, _ENTRIES.c.number.desc()
        if self.records(connection):
            # Of what PostgreSQL keeps compressed, only the octets are known without reading it.
            length = (sql.func.length if self.in_file else sql.func.octet_length)(_ENTRIES.c.record)
            lengths = connection.execute(
                sql.select(sql.func.coalesce(length, 0)).where(own).order_by(latest).limit(most)
            )
            most = max(2, sum(total <= letters for total in accumulate(lengths.scalars())))
        rows = connection.execute(self._select(connection).where(own).order_by(latest).limit(most)).all()
        return tuple(Entry(*row) for row in reversed(rows))

    def spends_with(self, connection: sql.Connection, dataset: str, text: str) -> Iterator[Entry]:
        """Return the spends of a dataset in whose record a text occurs, capitals or not; it reads all of them."""
        chosen = self._select(connection).where(_ENTRIES.c.dataset == dataset, _ENTRIES.c.kind == "spend")
        for row in connection.execute(chosen.where(_ENTRIES.c.record.contains(text, autoescape=True))):
            yield Entry(*row)

    def history(
        self,
        connection: sql.Connection,
        dataset: str,
        before: int | None = None,
        after: int | None = None,
        most: int | None = None,
    ) -> Iterator[Entry]:
        """Return the entries of a dataset in their order, or so many around a number, read as they are asked for."""
        chosen = self._select(connection).where(_ENTRIES.c.dataset == dataset).order_by(_ENTRIES.c.number)
        if before is not None:
            chosen = chosen.where(_ENTRIES.c.number < before)
        if after is not None:
            chosen = chosen.where(_ENTRIES.c.number > after)
        if most is not None:
            chosen = chosen.limit(most)
        with connection.execute(chosen, execution_options={"yield_per": BATCH}) as rows:
            for batch in rows.partitions():
                connection.info["watch"].more()
                yield from (Entry(*row) for row in batch)

    def _select(self, connection: sql.Connection) -> sql.Select[Any]:
        *columns, record = _ENTRIES.c
        return sql.select(*columns, record if self.records(connection) else sql.null())

    def records(self, connection: sql.Connection) -> bool:
        """Return whether entries have a record here; ledgers of versions 0.1.0 and 0.2.0 have none."""
        if RECORD not in connection.info:
            columns = sql.inspect(connection).get_columns(_ENTRIES.name, self._schema)
            connection.info[RECORD] = any(column["name"] == RECORD for column in columns)
        return bool(connection.info[RECORD])

    def has_grounds(self, connection: sql.Connection) -> bool:
        """Return whether the ledger is one of version 0.2.0 that kept grounds beside its entries."""
        return self._has(connection, _GROUNDS)

    def grounds(self, connection: sql.Connection, dataset: str, number: int | None = None) -> dict[int, str]:
        """Return what the entries of a dataset rest on, by number, where version 0.2.0 kept it; or that of one."""
        if not self.has_grounds(connection):
            return {}
        chosen = sql.select(_GROUNDS).where(_GROUNDS.c.dataset == dataset)
        if number is not None:
            chosen = chosen.where(_GROUNDS.c.number == number)
        return {row.number: row.grounds for row in connection.execute(chosen)}

    def append(self, connection: sql.Connection, entry: Entry, grounds: str = "") -> None:
        """Insert an entry, and see that it is there: a rule or a trigger of somebody else's could have dropped it."""
        if postgresql.serves(connection, entry.kind):
            postgresql.append(connection, entry, grounds, self.shown)
        else:
            values = asdict(entry)
            if not self.records(connection):
                del values[RECORD]
            connection.execute(sql.insert(_ENTRIES).values(values))
            if grounds and self.has_grounds(connection):
                kept = {"number": entry.number, "dataset": entry.dataset, "grounds": grounds}
                connection.execute(sql.insert(_GROUNDS).values(kept))
        if self.entry(connection, entry.dataset, entry.number) != entry:
            remedy = "look for triggers and rules on the table `entries` that Equipoise did not make"
            raise LedgerTampered(
                f"an entry in {self.shown}", "a database that did not keep it; nothing is spent", remedy
            )

    def make_tables(self, connection: sql.Connection) -> None:
        """Make the table of entries, or give one of an earlier version the column that it lacks; as the owner."""
        if not self.in_file:
            postgresql.require_owner(connection)
        if not self._has(connection, _ENTRIES):
            _ENTRIES.create(connection)
            for statement in _TRIGGERS[connection.dialect.name]:
                connection.exec_driver_sql(statement)
        else:
            connection.execute(self._select(connection).limit(0))  # a table of somebody else's is left alone
            if not self.records(connection):
                connection.exec_driver_sql(f"ALTER TABLE {_ENTRIES.name} ADD COLUMN {RECORD} VARCHAR")
        connection.info.pop(RECORD, None)
        connection.exec_driver_sql(_BY_DATASET)
        if not self.in_file:
            postgresql.install(connection)

    def is_same(self, other: Store) -> bool:
        """Return whether two references name one file or database, by whatever way: a link, an option, another host."""
        if self.in_file != other.in_file or self.url == other.url:
            return self.url == other.url
        if not self.in_file:
            return self._identity() == other._identity()
        both = self.path.exists() and other.path.exists()
        return self.path.resolve() == other.path.resolve() or (both and self.path.samefile(other.path))

    def _identity(self) -> tuple[object, ...]:
        """Return what one database of one server has, and no other; everybody may ask for it."""
        with self.opened() as connection:
            return tuple(connection.exec_driver_sql(_IDENTITY).one())

    @property
    def _schema(self) -> str | None:
        """Where the tables are, whatever the search path of a server says."""
        return None if self.in_file else "public"

    def _has(self, connection: sql.Connection, table: sql.Table) -> bool:
        return sql.inspect(connection).has_table(table.name, self._schema)

    def _require_tables(self, connection: sql.Connection) -> None:
        """Refuse a file in which something else has a table's name: the rows of a view may have no end."""
        if connection.exec_driver_sql(_ODD_TABLES).first() is not None:
            found = "a view, or columns that are computed, where Equipoise makes plain tables"
            raise LedgerTampered(f"the ledger {self.shown}", found, "open nothing else in this file; ask who wrote it")
        if sql.inspect(connection).has_table("spends"):
            found = f"one of an earlier version in {self.shown_path}, whose spends would not be counted"
            remedy = "keep that file as a record, and give a new one the budget that remained"
            raise LedgerRefused("a ledger with a chained history", found, f"{remedy}; {self.creation}")

    def _beginning(self, writing: bool) -> list[str]:
        if self.in_file:
            # EXTRA outlasts a loss of power right after the commit; FULL may not, where a journal file is deleted.
            return ["PRAGMA synchronous = EXTRA", "BEGIN IMMEDIATE" if writing else "BEGIN"]
        # One ledger to a database: a schema or a temporary table of somebody's own would be a second budget.
        settings = [f"SET LOCAL lock_timeout = '{PATIENCE}s'", "SET LOCAL search_path = public, pg_temp"]
        if writing:
            lock = f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"
            settings += ["SET LOCAL synchronous_commit = on", lock]
        return settings

    def _connection(self, stack: ExitStack, creating: bool) -> sql.Connection:
        """Return a connection for one transaction; the stack ends the watch over it."""
        if self.in_file:
            if creating:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            arguments: dict[str, Any] = {"timeout": PATIENCE, "isolation_level": None}
            opened = sql.create_engine(self.url, poolclass=sql.NullPool, connect_args=arguments).connect()
            # A file may hold statements of its own, such as triggers, and those may have no end.
            watch = opened.info["watch"] = _Watch()
            raw: Any = opened.connection.driver_connection
            raw.set_progress_handler(watch.over, 100_000)
            return opened
        # A stricter isolation would read the history as it was before the lock was granted.
        options: dict[str, Any] = {"isolation_level": "READ COMMITTED", "connect_args": {"connect_timeout": PATIENCE}}
        try:
            engine = sql.create_engine(self.url, poolclass=sql.NullPool, **options)
        except ImportError:
            found, remedy = "its driver psycopg is not installed", 'pip install "equipoise[postgres]"'
            raise MissingExtra("a ledger in PostgreSQL", found, remedy) from None

        watch = _Watch()

        @sql.event.listens_for(engine, "do_connect")
        def connect(dialect: Any, _record: Any, arguments: Any, options: Any) -> Any:
            connection = dialect.connect(*arguments, **options)
            line = stack.enter_context(socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM))
            watch.over_a_line(line)
            stack.callback(watch.cancel)
            return connection

        connection = engine.connect()
        connection.info["watch"] = watch
        return connection


class _Watch:
    """Ends a conversation with a database that takes too long for its next step: a driver would wait for ever."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None
        self.more()

    def more(self) -> None:
        """Give as much time again, from now on."""
        self._end = time.monotonic() + 2 * PATIENCE

    def over(self) -> bool:
        """Return whether the time is up."""
        return time.monotonic() > self._end

    def over_a_line(self, line: socket.socket) -> None:
        """Cut a line to a server when the time is up."""
        if self.over():
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            return
        self._timer = threading.Timer(self._end - time.monotonic() + 0.01, self.over_a_line, [line])
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()


def shown_reference(reference: str) -> str:
    """Return a ledger's reference for people: asterisks for its password, or for all of what a ledger would refuse.

    Examples
    --------
    >>> shown_reference("postgresql://officer:secret@localhost/budgets#trial"), shown_reference("people")
    ('postgresql://officer:***@localhost/budgets#trial', 'people')
    >>> shown_reference("postgresql://officer:secret/budgets#trial"), shown_reference("officer:secret@localhost")
    ('***', '***')
    """
    try:
        return Store(reference).shown
    except EquipoiseError:
        return HIDDEN
