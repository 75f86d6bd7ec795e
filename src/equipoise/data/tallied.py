"""New rows whose values are counted as they are read: for those who hold them, never for a training."""

from collections.abc import Callable, Iterator, Sequence

from equipoise.data.arrow_values import Column
from equipoise.data.encoder import Encoder
from equipoise.data.mismatch import MOST
from equipoise.data.raw import RawTable
from equipoise.data.schema import Schema
from equipoise.data.watched import WatchedTable


class TalliedTable(WatchedTable):
    """A watched table that counts, column by column, the values that a schema's rules cannot read.

    Parameters
    ----------
    raw : RawTable
        New rows, which are whose they are who predicts.
    report : callable
        Is told the number of rows.
    schema : Schema
        What the columns are, with all bounds.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.frames import FrameTable
    >>> from equipoise.data.schema import CategoryColumn, Target
    >>> job = CategoryColumn("job", ("none", "nurse"), unknown="none")
    >>> schema = Schema(None, (job,), Target("ill", classes=(0, 1)))
    >>> table = TalliedTable(FrameTable(pyarrow.table({"job": ["nurse", "Nurse", None]})), lambda rows: None, schema)
    >>> rows = list(table.batches(["job"]))
    >>> print(*table.sentences())
    job: 1 of 3 values is none of the declared levels or spellings and was taken as the schema says
    """

    def __init__(self, raw: RawTable, report: Callable[[int], None], schema: Schema) -> None:
        super().__init__(raw, report)
        encoder = Encoder(schema)
        self._readings = {column.name: encoder.reading(column.name) for column in schema.columns}
        self._file = raw.file
        self._kinds = {column.name: column.kind for column in schema.columns}
        # Of each column: how many values there are, how many could not be read, and how many are unknown.
        self._tallies: dict[str, tuple[int, int, int]] = {}

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of these columns and count their values; another pass over a column counts it anew."""
        counted = [name for name in names if name in self._readings]
        self._tallies.update(dict.fromkeys(counted, (0, 0, 0)))
        for batch in super().batches(names):
            for name in counted:
                seen = self._readings[name].seen(batch[name])
                values, unreadable, unknown = self._tallies[name]
                counts = values + len(batch[name]), unreadable + (seen.unreadable or 0), unknown + (seen.unknown or 0)
                self._tallies[name] = counts
            yield batch

    def unread(self) -> dict[str, int]:
        """Return by their columns how many values could not be read, or are none of the declared ones."""
        sums = {name: unreadable + unknown for name, (_, unreadable, unknown) in self._tallies.items()}
        return {name: count for name, count in sums.items() if count}

    def sentences(self) -> Iterator[str]:
        """Yield a line for each column with such values."""
        for name, count in self.unread().items():
            values, unreadable, _ = self._tallies[name]
            is_one = count == 1
            fate = f"could not be read as a {self._kinds[name]} and {'was' if is_one else 'were'} taken as missing"
            if not unreadable:
                verb, were = ("is", "was") if is_one else ("are", "were")
                fate = f"{verb} none of the declared levels or spellings and {were} taken as the schema says"
            yield f"{name}: {count} of {values} values {fate}{self._hint(name)}"

    def _hint(self, name: str) -> str:
        """Return what to pass where most numbers of a text file could not be read: its marks may be others."""
        values, unreadable, _ = self._tallies[name]
        if self._file is None or self._kinds[name] != "number" or unreadable <= MOST * values:
            return ""
        read, other = (".", ",") if self._file.decimal == "." else (",", ".")
        thousands = "" if self._file.thousands == "" else f" and thousands={self._file.thousands}"
        both = " --file thousands=" if self._file.thousands == other else ""
        return f"; they were read with decimal={read}{thousands}: does --file decimal={other}{both} fit this file?"
