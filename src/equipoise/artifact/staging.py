"""Writing a folder or a file so that nobody ever sees half of it: written beside, flushed to disk, then renamed.

What is written beside is locked by the process that writes it, and the system lifts the lock when that process ends, in
whatever way. So whoever writes into the same folder later can tell what nobody will finish, and sweeps it away.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from equipoise.certify.folder import CERTIFICATE, MANIFEST, MODEL
from equipoise.errors import OutputRefused

# Space that is taken before the budget is spent and given back when the files are written, so that a full disk is
# noticed while nothing is lost yet: a page with its charts takes about 2 MiB. A large model says what it needs besides.
RESERVED_BYTES = 16 * 2**20

# How the names of unfinished folders and files begin: nothing else is ever swept.
UNFINISHED = ".equipoise-unfinished-"
# Where an earlier release is while the new one takes its name: never swept, since it may be the only one.
REPLACED = ".equipoise-replaced-"


class Staging:
    """A folder that appears under its name only when it is complete.

    Entering it checks that the name is free (or that `force` may replace an earlier one of its `kind`), and reserves
    space, with `room` for so many bytes besides. One of its kind has all `markers` and not the file `never`.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with Staging(Path(parent) / "release", ("MANIFEST",), force=False) as staging:
    ...         staging.publish({"MANIFEST": "nothing else"})
    ...     sorted(path.name for path in (Path(parent) / "release").iterdir())
    ['MANIFEST']
    """

    def __init__(
        self,
        out: Path,
        markers: tuple[str, ...],
        force: bool,
        room: int = 0,
        kind: str = "release",
        never: str = "",
    ) -> None:
        self._out = out.absolute()
        self._markers, self._never, self._kind = markers, never, kind
        self._force = force
        self._room = room

    def __enter__(self) -> "Staging":
        """Take a place beside the folder, and the space that its files will need."""
        self._refuse_what_exists()
        with _as_refusal(self._out):
            self._made = [parent for parent in self._out.parents if not parent.exists()]
            try:
                self._out.parent.mkdir(parents=True, exist_ok=True)
                sweep(self._out.parent)
                self._folder, self._lock = _locked_folder(self._out.parent)
            except BaseException:
                self._remove_what_was_made()
                raise
            try:
                _write(self._reserve, "\0" * (RESERVED_BYTES + self._room))
            except BaseException:
                self._clean()
                raise
        return self

    @property
    def _reserve(self) -> Path:
        return self._folder / "reserve"

    def _refuse_what_exists(self) -> None:
        refuse_inside_a_release(self._out)
        folder = self._out.is_dir() and not self._out.is_symlink()
        if not os.path.lexists(self._out) or (folder and not any(self._out.iterdir())):
            return
        if not self._force:
            remedy = f"choose another name, or pass --force (in Python force=True) to replace an earlier {self._kind}"
            raise OutputRefused(f"a new or empty folder {self._out.name}", "one that exists", remedy)
        lacking = [name for name in self._markers if not (self._out / name).is_file()]
        strange = bool(self._never) and os.path.lexists(self._out / self._never)
        if not folder or lacking or strange:
            found = f"there is no {lacking[0]} in it" if lacking else f"there is {self._never} in it"
            raise OutputRefused(
                f"an earlier {self._kind} in {self._out.name}, to replace it",
                f"something else: {found}",
                f"choose another name; only an earlier {self._kind} is replaced",
            )

    def publish(self, files: Mapping[str, str]) -> None:
        """Write the files, flush them to disk, and give the folder its name."""
        with _as_refusal(self._out):
            self._reserve.unlink()
            for name, text in files.items():
                _write(self._folder / name, text)
            self._folder.chmod(0o777 & ~_mask())
            _flush(self._folder)
            replaced = self._folder.with_name(REPLACED + self._folder.name.removeprefix(UNFINISHED))
            if os.path.lexists(self._out):
                self._refuse_what_exists()
                self._out.rename(replaced)
            try:
                self._folder.rename(self._out)
            except OSError:
                if replaced.exists():
                    replaced.rename(self._out)
                raise
            _flush(self._out.parent)
        shutil.rmtree(replaced, ignore_errors=True)

    def __exit__(self, *_exception: object) -> None:
        """Leave nothing behind but a complete folder."""
        self._clean()

    def _clean(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._lock)
        self._remove_what_was_made()

    def _remove_what_was_made(self) -> None:
        """Remove the folders above that this one asked for, the innermost first, and keep what holds anything."""
        for parent in self._made:
            with suppress(OSError):
                parent.rmdir()


def sweep(parent: Path) -> None:
    """Remove what processes that have ended left unfinished in a folder; what a living one holds locked is kept.

    Only entries of this user, whose names begin with `UNFINISHED`; whatever cannot be locked or removed stays.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     (Path(parent) / f"{UNFINISHED}abc").mkdir()
    ...     sweep(Path(parent))
    ...     list(Path(parent).iterdir())
    []
    """
    for path in parent.glob(f"{UNFINISHED}*"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if os.fstat(handle).st_uid == os.geteuid():
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            finally:
                os.close(handle)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    """Return a new folder, and the handle by which this process holds it locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=parent))
        # Another process may sweep it before it is locked: then there is no such folder, and the next one is tried.
        with suppress(FileNotFoundError):
            handle = os.open(folder, os.O_RDONLY)
            if _held(handle, folder):
                return folder, handle
            os.close(handle)


def _locked_file(parent: Path) -> tuple[Path, int]:
    """Return a new file, and the handle by which this process holds it open and locked."""
    while True:
        handle, name = tempfile.mkstemp(prefix=UNFINISHED, dir=parent)
        if _held(handle, Path(name)):
            return Path(name), handle
        os.close(handle)


def _held(handle: int, path: Path) -> bool:
    """Return whether the handle is locked now, and still that of the path."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: nobody can sweep there either
        return True
    return path.exists()


def refuse_inside_a_release(path: Path) -> None:
    """Refuse to write inside a released folder or an evaluation: whatever comes in or changes there breaks its seal.

    Wherever the path leads, through links too; the folder itself may be the path, which `Staging` replaces as a whole.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     refuse_inside_a_release(Path(parent) / "list.csv")
    """
    for folder in path.absolute().parent.resolve().joinpath("file").parents:
        # A folder that cannot be looked into is none of ours; writing there says what is wrong.
        held = [name for name in (MANIFEST, CERTIFICATE, MODEL) if os.path.isfile(folder / name)]
        if MANIFEST in held and len(held) > 1:
            kind = "released folder" if MODEL in held else "evaluation"
            raise OutputRefused(
                f"to write {path.name} in {path.absolute().parent}",
                f"the {kind} {folder.name}, whose manifest lists every file that may be in it",
                "choose a place outside that folder; nothing in it was changed, and --force changes nothing in it",
            )


@contextmanager
def new_file(path: Path, force: bool | None = None, sealed: bool = False) -> Iterator[TextIO]:
    """Open a text file that appears under its name only when the block ends well.

    An existing file is replaced if `force` says so; None says that nothing can be forced here. Inside a released folder
    nothing is written but what belongs to it, which `sealed` says.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with new_file(Path(parent) / "list.csv") as file:
    ...         _ = file.write("a")
    ...     (Path(parent) / "list.csv").read_text()
    'a'
    """
    path = path.absolute()
    with _as_refusal(path):
        if not sealed:
            refuse_inside_a_release(path)
        if path.is_dir():
            remedy = "name a file, in that folder or elsewhere; a folder is never replaced by a file"
            raise OutputRefused(f"a new file {path.name}", "a folder of that name", remedy)
        if os.path.lexists(path) and not path.is_file():
            found = "a link to nothing" if path.is_symlink() and not path.exists() else "a device, a pipe or a socket"
            raise OutputRefused(f"a new file {path.name}", found, "choose another name; only a file is ever replaced")
        if path.is_file() and not force:
            remedy = "choose another name" + (
                "" if force is None else ", or pass --force (in Python force=True) to replace a file"
            )
            raise OutputRefused(f"a new file {path.name}", "one that exists", remedy)
    with _as_refusal(path):
        sweep(path.parent)
        beside, handle = _locked_file(path.parent)
    try:
        with _as_refusal(path), os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            beside.chmod(0o666 & ~_mask())
            # While it is open, and so locked: closed, it would look as if nobody wanted it.
            beside.rename(path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def _as_refusal(out: Path) -> Iterator[None]:
    try:
        yield
    except OutputRefused:
        raise
    except OSError as error:
        raise OutputRefused(
            f"to write {out.name} in {out.parent}",
            error.strerror or type(error).__name__,
            "make room or choose a folder that can be written; no part of it was left behind",
        ) from None


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _flush(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
