"""Where the rows of parts lie in a table: counted once a fit, cut at the declared number, the same in every pass."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from equipoise.data.engines.base import Answer, Batch, PartedTable, Work, as_declared, batch_length
from equipoise.errors import TableUnreadable


@dataclass(frozen=True, slots=True)
class Span:
    """Where a part's rows lie in the table: their first place, how many there are, and how many are wanted."""

    first: int
    count: int
    wanted: int

    def rows(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Yield the wanted rows of a part; one with another number of rows than were counted is no longer the same.

        Examples
        --------
        >>> import numpy as np
        >>> [batch["age"].tolist() for batch in Span(7, 2, 1).rows(iter([{"age": np.array([31.0, 52.0])}]))]
        [[31.0]]
        """
        left, whole = self.wanted, self.wanted == self.count
        if not left and not whole:
            return
        for batch in batches:
            length = batch_length(batch)
            if length > left and whole:
                raise TableUnreadable
            yield batch if length <= left else {name: values[:left] for name, values in batch.items()}
            left -= length
            if left <= 0 and not whole:
                return
        if left > 0:
            raise TableUnreadable


def spans(counts: Mapping[int, int], n_samples: int | None) -> dict[int, Span]:
    """Return where each part's rows lie, in the order of the parts' numbers; all are wanted where none are declared.

    Examples
    --------
    >>> spans({1: 3, 0: 2}, 4)
    {0: Span(first=0, count=2, wanted=2), 1: Span(first=2, count=3, wanted=2)}
    """
    found, first = dict[int, Span](), 0
    for part, count in sorted(counts.items()):
        found[part] = Span(first, count, count if n_samples is None else max(0, min(count, n_samples - first)))
        first += count
    return found


class CountedTable(PartedTable):
    """A table whose parts are gone through by workers: each knows the place of its first row once all are counted.

    Counts are private: they stay here until the fit ends.
    """

    def __init__(self) -> None:
        self._counts: Mapping[int, int] | None = None

    def close(self) -> None:
        """Forget how many rows its parts have."""
        self._counts = None

    @abstractmethod
    def _counted(self, names: Sequence[str]) -> Mapping[int, int]:
        """Return the number of rows of every part: what footers tell, or else by a pass over the rows."""

    @abstractmethod
    def _worked(
        self, work: Work[Answer], places: Mapping[int, Span], names: Sequence[str]
    ) -> Iterator[tuple[int, Answer]]:
        """Carry work to every part that has wanted rows, and yield what it returns."""

    def spans(self, names: Sequence[str], n_samples: int | None) -> dict[int, Span]:
        """Return where the rows of every part lie."""
        if self._counts is None:
            self._counts = self._counted(names)
        return spans(self._counts, n_samples)

    def answers(self, work: Work[Answer], names: Sequence[str], n_samples: int | None) -> Iterator[tuple[int, Answer]]:
        """Carry work to every part by workers; rows that lack are added up here."""
        self.require_same_files()
        places = self.spans(names, n_samples)
        total = sum(span.count for span in places.values())
        yield from self._worked(work, places, names)
        if n_samples is not None and total < n_samples:
            lacking = as_declared(iter(()), names, n_samples - total)
            yield max(places, default=-1) + 1, work(lacking, total)
        self.require_same_files()
