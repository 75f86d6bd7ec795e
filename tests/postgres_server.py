"""A real PostgreSQL server for the tests of the ledger: started once a process, as a user that is not root.

A test module asks for its fixtures with ``pytest_plugins = ["postgres_server"]``: `postgres` is the server, `database`
an empty SQLite file or an empty database of the server, one after the other.
"""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sql

SUPERUSER = "ledger"


def programs() -> Path | None:
    """Return the folder of `initdb` and `pg_ctl`; Debian keeps them off the path."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return folders[-1] if folders and (folders[-1] / "pg_ctl").exists() else None


class PostgresServer:
    """A server in a folder of its own: trusted on its socket, with a password on loopback."""

    password = "not-to-be-shown"  # noqa: S105  (of a server that lives as long as the tests)

    def __init__(self, binaries: Path) -> None:
        self._binaries = binaries
        # The path of a socket may not be longer than about a hundred letters.
        self.folder = Path(tempfile.mkdtemp(prefix="equipoise-postgres-", dir="/tmp"))
        self._numbers = count(1)
        # PostgreSQL refuses to run as root.
        self._owner = {}
        if os.getuid() == 0:
            names = [name for name in ("postgres", "nobody") if name in {entry.pw_name for entry in pwd.getpwall()}]
            account = pwd.getpwnam(names[0])
            self._owner = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        secret = self.folder / "password"
        secret.write_text(self.password)
        secret.chmod(0o644)
        self._run(
            "initdb",
            "--no-sync",
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            f"--pwfile={secret}",
            "-U",
            SUPERUSER,
            "--locale=C",
            "--encoding=UTF8",
            "-D",
            self.folder / "data",
        )
        self.start()

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._binaries / program), *map(str, arguments)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=self.folder, **self._owner)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        """Start it, with defaults that the ledger must not rely on."""
        options = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.folder,
            "max_connections": 100,
            # Nobody pulls the plug of the machine here, but processes are killed.
            "fsync": "off",
            "synchronous_commit": "off",
            "default_transaction_isolation": "serializable",
            "max_prepared_transactions": 2,
        }
        line = " ".join(f"-c {name}={value}" for name, value in options.items())
        log = self.folder / "log"
        # The server would keep pipes to us open, so it gets none.
        self._run("pg_ctl", "start", "-w", "-s", "-t", "60", "-D", self.folder / "data", "-l", log, "-o", line)

    def crash(self) -> None:
        """Stop it at once, as if it had been killed: nothing is written out, and it must recover."""
        self._run("pg_ctl", "stop", "-w", "-s", "-m", "immediate", "-D", self.folder / "data")

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """Return a superuser's connection that commits every statement."""
        options = {"host": str(self.folder), "port": self.port, "user": SUPERUSER, "dbname": database}
        return psycopg.connect(**options, autocommit=True, connect_timeout=10)

    def new_database(self) -> str:
        """Create an empty database and return its name."""
        name = f"test_{next(self._numbers)}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return name

    def address(self, database: str) -> str:
        """Return the URL of a database, by the socket."""
        return f"postgresql://{SUPERUSER}@/{database}?host={self.folder}&port={self.port}"

    def address_with_password(self, database: str, password: str) -> str:
        """Return the URL of a database, by loopback."""
        return f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{self.port}/{database}"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    binaries = programs()
    if binaries is None:
        pytest.skip("no PostgreSQL: apt-get install postgresql")
    server = PostgresServer(binaries)
    yield server
    server.crash()
    shutil.rmtree(server.folder)


@dataclass(frozen=True)
class Database:
    """A place for a ledger, with a way in for those who bypass it."""

    address: str
    engine: sql.Engine

    def drop_triggers(self) -> None:
        """Take away what refuses changes, as someone with the rights to do so could."""
        found = (
            "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'"
            if self.engine.dialect.name == "sqlite"
            else "SELECT DISTINCT tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal"
        )
        with self.engine.begin() as connection:
            for trigger, table in connection.exec_driver_sql(found).all():
                where = "" if self.engine.dialect.name == "sqlite" else f" ON {table}"
                connection.exec_driver_sql(f"DROP TRIGGER {trigger}{where}")

    def forget_callers(self) -> None:
        """Take away who appended entries, which only a server records."""
        if self.engine.dialect.name != "sqlite":
            with self.engine.begin() as connection:
                connection.exec_driver_sql("DELETE FROM callers")

    def entries(self) -> sql.Table:
        """Return the table of entries as the database describes it."""
        return sql.Table("entries", sql.MetaData(), autoload_with=self.engine)

    def grounds(self, dataset: str) -> dict[int, str]:
        """Return what the table of grounds holds of a dataset, by the numbers of entries, as the database has it."""
        table = sql.Table("grounds", sql.MetaData(), autoload_with=self.engine)
        with self.engine.connect() as connection:
            rows = connection.execute(sql.select(table).where(table.c.dataset == dataset)).all()
        return {row.number: row.grounds for row in rows}


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path) -> Database:
    if request.param == "sqlite":
        address = f"sqlite:///{tmp_path}/ledger.db"
        engine = sql.create_engine(address, poolclass=sql.NullPool)
    else:
        server = request.getfixturevalue("postgres")
        address = server.address(server.new_database())
        driver = address.replace("postgresql://", "postgresql+psycopg://")
        engine = sql.create_engine(driver, poolclass=sql.NullPool, isolation_level="READ COMMITTED")
    return Database(address, engine)
