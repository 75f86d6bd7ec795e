"""What a card consists of: sections of sentences, tables and pictures, whatever it is written as."""

from collections.abc import Callable
from dataclasses import dataclass

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture with its words, and the same as a table, whose first line names its columns.

    `drawn` returns it as HTML without scripts; where it is only read as text, nothing is drawn.
    """

    title: str
    caption: str
    drawn: Callable[[], str]
    rows: Rows


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what stands below it in sentences, a table whose first line names its columns, and pictures."""

    title: str
    lines: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    rows: Rows = ()
    pictures: tuple[Picture, ...] = ()
