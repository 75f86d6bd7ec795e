"""Engines, one file each: how tables are gone through. Members are discovered from this folder.

The certificate does not change when data grows; only the source of rows does. An engine carries work to the parts of a
table and brings the answers back; where a part is, how often it is tried and by whom is the engine's business.
"""

from typing import Any

import numpy as np

from equipoise.data.engines.base import Engine, PartedTable
from equipoise.data.files import separated_by
from equipoise.data.raw import RawTable
from equipoise.data.schema import Schema
from equipoise.data.schema.file_format import COMMON_FILE
from equipoise.vocabulary.discovery import discover, look_up

__all__ = ["Engine", "PartedTable", "frame_table", "members", "open_table"]


def members() -> dict[str, type[Engine]]:
    """Return every engine by its id."""
    return discover(__name__, Engine)


def open_table(
    path: Any,
    delimiter: str | None = None,
    engine: str = "memory",
    scheduler: str | None = None,
    schema: Schema | None = None,
) -> RawTable:
    r"""Open a table on disk; only headers and footers are read.

    Parameters
    ----------
    path : str, path, or list of them
        A file, a folder of parts in the order of their names, or a list of files: CSV (.csv, .csv.gz; .tsv is delimited
        by tabs), Parquet (.parquet, .pq), Arrow (.arrow, .feather, .ipc) or Excel (.xlsx, .xlsm; engine "memory").
    delimiter : str, optional
        What stands between the fields of a CSV file: one character. Without it, what the schema's `[file]` says, or a
        comma.
    engine : "memory", "stream", "dask" or "spark"
        How a fit goes through the rows: held in memory, streamed pass by pass, or by workers of a cluster.
    scheduler : str, optional
        The address of a cluster's scheduler; without it, workers on this machine.
    schema : Schema, optional
        Its `[file]` says how CSV files are written, and which sheet of a workbook; without it, as most are, the first.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> for part in ("1", "2"):
    ...     _ = pathlib.Path(folder.name, f"{part}.csv").write_text(f"age,town\n{part},Graz\n")
    >>> table = open_table(folder.name, engine="stream")
    >>> table.names, [batch["age"].tolist() for batch in table.batches(["age"])]
    (('age', 'town'), [['1'], ['2']])
    >>> folder.cleanup()
    """
    file = COMMON_FILE if schema is None else schema.file
    if delimiter is not None:
        file = separated_by(file, delimiter)
    return look_up(members(), engine, "engine")().open(path, file, scheduler)


def frame_table(frame: Any) -> PartedTable | None:
    """Return a data frame that has an engine of its own as a table, None for any other object.

    Examples
    --------
    >>> frame_table([[1, 2]]) is None
    True
    """
    if isinstance(frame, np.ndarray):
        # The most common table of all needs no engine to be loaded.
        return None
    found = (member().frame_table(frame) for member in members().values())
    return next((table for table in found if table is not None), None)
