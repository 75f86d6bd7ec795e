"""The scratch: where a fit keeps on disk what it must not hold in memory, as files without a name.

Nobody else can open them and nothing is left of them, however the process ends; while a fit runs, what is private lies
on that disk. Rows lie there in piles (`equipoise.data.engines.piles`), runs of persons in buckets
(`equipoise.data.engines.buckets`).
"""

import os
import shutil
import tempfile
from typing import Any

from equipoise.errors import InvalidParameter

# Where the files lie; the system's folder for temporary files otherwise.
VARIABLE = "EQUIPOISE_SCRATCH"


def scratch_file(buffering: int = -1) -> Any:
    """Return a new file without a name, open for writing and reading.

    Examples
    --------
    >>> with scratch_file() as file:
    ...     file.write(b"rows")
    4
    """
    return tempfile.TemporaryFile(dir=_folder(), buffering=buffering)


def require_space(needed: int, purpose: str) -> None:
    """Refuse, before the spend, a folder that takes no file or has less room than what is needed.

    Examples
    --------
    >>> require_space(1000, "the rows of a fit")
    """
    try:
        folder = _folder()
        with scratch_file():
            free = shutil.disk_usage(folder).free
    except OSError as error:
        raise InvalidParameter(
            f"a folder for {purpose}, while it runs",
            f"{os.environ.get(VARIABLE) or 'the folder for temporary files'}: {error.strerror}",
            f"set {VARIABLE} to a folder on a disk that may hold private rows; nothing was read",
        ) from None
    if needed > free:
        raise InvalidParameter(
            f"{needed / 2**30:.3g} GiB of disk for {purpose}",
            f"{free / 2**30:.3g} GiB free in {folder}",
            f"set {VARIABLE} to a folder on a larger disk that may hold private rows; nothing was read",
        )


def _folder() -> str:
    return os.environ.get(VARIABLE) or tempfile.gettempdir()
