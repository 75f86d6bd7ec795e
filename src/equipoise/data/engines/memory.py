"""The memory: rows are read once and held."""

from typing import Any, ClassVar

from equipoise.data.engines.base import Engine
from equipoise.data.many_files import open_files
from equipoise.data.raw import RawTable
from equipoise.data.schema.file_format import FileFormat


class Memory(Engine):
    """Fastest, for tables that fit: every kind of release can be made from them."""

    id: ClassVar[str] = "memory"

    def open(self, path: Any, file: FileFormat, scheduler: str | None) -> RawTable:
        """Return the files as they are; a fit reads them whole."""
        self.require_no_scheduler(scheduler)
        return open_files(path, file)
