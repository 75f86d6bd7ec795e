"""What a terminal shows to those who wait, on standard error; nothing where nobody sits there or wants to know.

While private rows are trained on it is the time that has passed, and nothing else: how far a training has come depends
on rows. Counts are for rows that their owner looks at and for new ones, and for work whose amount is public.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO, cast

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

# Is told what is counted, how much of it is done, and of how much: None where nobody knows.
Report = Callable[[str, int, int | None], None]


@contextmanager
def waiting(what: str, quiet: bool = False) -> Iterator[None]:
    """Show what is going on, and since when."""
    if not _watched(quiet):
        yield
        return
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn  # for those who watch alone

    with _shown(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as progress:
        progress.add_task(what, total=None)
        yield


@contextmanager
def counting(quiet: bool = False) -> Iterator[Report]:
    """Show how much of each thing is done, against its total where there is one, and the time that has passed."""
    if not _watched(quiet):
        yield lambda what, done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with _shown(*columns, TimeElapsedColumn(), TimeRemainingColumn()) as progress:
        tasks: dict[str, TaskID] = {}

        def report(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done, total=total)

        yield report


def _watched(quiet: bool) -> bool:
    """Return whether somebody sits at a terminal and wants to know; a variable that asks for colours is no terminal."""
    return not quiet and sys.stderr.isatty()


@contextmanager
def _shown(*columns: "ProgressColumn") -> Iterator["Progress"]:
    """Show something while the block runs, and leave no line of it."""
    from rich.console import Console
    from rich.progress import Progress

    # What the block prints is its own, and may go to a file.
    console = Console(file=cast(TextIO, _Lasting(sys.stderr)))
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        yield progress


class _Lasting:
    """A terminal that may be closed meanwhile: that must not cost what a block has made, and perhaps paid for."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self.encoding = terminal.encoding

    def isatty(self) -> bool:
        """Return that it is a terminal: it was one."""
        return True

    def write(self, text: str) -> int:
        """Write where somebody still reads."""
        with suppress(OSError, ValueError):
            self._terminal.write(text)
        return len(text)

    def flush(self) -> None:
        """Show what was written, where somebody still reads."""
        with suppress(OSError, ValueError):
            self._terminal.flush()
