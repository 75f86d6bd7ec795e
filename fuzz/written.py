"""Inputs as files of a folder that lasts as long as the process: readers of paths are tried with paths."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path


@functools.cache
def folder() -> Path:
    """Return a folder in memory, where the system has one."""
    memory = Path("/dev/shm")  # noqa: S108 # a folder of our own is made in it
    made = Path(tempfile.mkdtemp(prefix="equipoise-fuzz-", dir=memory if memory.is_dir() else None))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def written(data: bytes, name: str) -> Path:
    """Return the path of a file with these bytes."""
    path = folder() / name
    path.write_bytes(data)
    return path
