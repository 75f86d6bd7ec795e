"""What a disk holds after a loss of power: SQLite's writes are recorded below it, by a VFS of `apsw`, and played back.

The ledger's own statements are captured from SQLAlchemy while the real store runs, and repeated through apsw on the
same file. It shows what these statements, in this order and with these PRAGMAs, leave on a disk that keeps its word
about fsync and otherwise does what it likes. It does not show: the SQLite that Python's sqlite3 is linked with (apsw
brings its own), a file system that reorders metadata in other ways, or a disk that lies about fsync.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import sqlalchemy as sql

SECTOR = 512
OPENING = "PRAGMA synchronous = EXTRA"


@contextmanager
def captured() -> Iterator[list[tuple[str, Any]]]:
    """Yield the list of statements that SQLAlchemy sends meanwhile, with their parameters; commits are statements."""
    statements: list[tuple[str, Any]] = []

    def sent(_connection, _cursor, statement, parameters, _context, _many):
        statements.append((statement, parameters))

    def committed(_connection):
        statements.append(("COMMIT", ()))

    sql.event.listen(sql.Engine, "before_cursor_execute", sent)
    sql.event.listen(sql.Engine, "commit", committed)
    try:
        yield statements
    finally:
        sql.event.remove(sql.Engine, "before_cursor_execute", sent)
        sql.event.remove(sql.Engine, "commit", committed)


@dataclass
class Recorder:
    """Everything that was asked of the disk, in its order; `fail` may refuse an operation by raising."""

    operations: list[tuple] = field(default_factory=list)
    fail: Callable[[str], None] = lambda kind: None

    def note(self, kind: str, *details: object) -> None:
        self.fail(kind)
        self.operations.append((kind, *details))


class RecordingFile(apsw.VFSFile):
    def __init__(self, recorder: Recorder, name: Any, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        super().__init__("", name, flags)
        self._recorder, self._name = recorder, Path(path).name

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  (SQLite names it)
        self._recorder.note("write", self._name, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802  (SQLite names it)
        self._recorder.note("truncate", self._name, size)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802  (SQLite names it)
        self._recorder.note("sync", self._name)
        super().xSync(flags)


class RecordingDisk(apsw.VFS):
    """A VFS that writes where the usual one does, and tells a recorder first."""

    def __init__(self, name: str) -> None:
        self.name, self.recorder = name, Recorder()
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  (SQLite names it)
        return RecordingFile(self.recorder, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802  (SQLite names it)
        self.recorder.note("delete", Path(filename).name, bool(syncdir))
        super().xDelete(filename, syncdir)


def repeat(statements: list[tuple[str, Any]], path: Path, disk: RecordingDisk) -> None:
    """Send the statements again, to this file on this disk; a connection for each transaction, as the store has."""
    connection = None
    for statement, parameters in statements:
        if connection is None or statement.startswith("PRAGMA synchronous"):
            if connection is not None:
                connection.close()
            connection = apsw.Connection(str(path), vfs=disk.name)
        if statement != "COMMIT":
            connection.execute(statement, parameters or ()).fetchall()
        elif connection.in_transaction:
            connection.execute("COMMIT")
            disk.recorder.operations.append(("acknowledged",))
    if connection is not None:
        connection.close()


def surviving(operations: list[tuple], source: random.Random | None, everything: bool = False) -> dict[str, bytes]:
    """Return what the disk holds if the power fails after these operations.

    What was synced is there. Of the rest nothing is, or everything, or, by the source, some sectors and some not.
    """
    files: dict[str, bytearray] = {}
    pending: dict[str, list[tuple]] = {}
    gone: set[str] = set()
    for kind, *details in operations:
        if kind == "acknowledged":
            continue
        name = details[0]
        if kind in ("write", "truncate"):
            if name in gone:
                # A new file of that name: the deletion of the former one came first.
                gone.discard(name)
                files.pop(name, None)
            pending.setdefault(name, []).append((kind, *details[1:]))
        elif kind == "sync":
            if name in pending or name in files:
                content = files.setdefault(name, bytearray())
                for change in pending.pop(name, []):
                    _apply(content, change)
        elif details[1]:
            files.pop(name, None)
            pending.pop(name, None)
            gone.discard(name)
        else:
            pending.pop(name, None)
            gone.add(name)
    for name in gone:
        if everything or (source is not None and source.random() < 0.5):
            files.pop(name, None)
    for name, changes in pending.items():
        kept = [change for change in _sectors(changes) if everything or (source is not None and source.random() < 0.5)]
        if kept or name in files:
            content = files.setdefault(name, bytearray())
            for change in kept:
                _apply(content, change)
    return {name: bytes(content) for name, content in files.items()}


def _sectors(changes: list[tuple]) -> Iterator[tuple]:
    for kind, *details in changes:
        if kind == "truncate":
            yield kind, *details
            continue
        offset, data = details
        while data:
            length = SECTOR - offset % SECTOR
            yield "write", offset, data[:length]
            offset, data = offset + length, data[length:]


def _apply(content: bytearray, change: tuple) -> None:
    kind, *details = change
    if kind == "truncate":
        del content[details[0] :]
        return
    offset, data = details
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data
