"""The `equipoise` program: commands are the modules of this folder that define `command`, or a `group` of them."""

import errno
import gc
import importlib
import inspect
import os
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from equipoise.cli.exit_codes import INTERRUPTED, REFUSED, UNFORESEEN, code_of
from equipoise.errors import EquipoiseError, MissingExtra

# What every complaint of Typer's about the words of a line is; which package it comes from has changed over the years.
_WrongWords: type[Exception] = typer.BadParameter.__mro__[1]

# How the file of a command begins.
_PURPOSE = re.compile(r'"""`equipoise (?P<name>\w+)`: (?P<purpose>.*?)"""', re.DOTALL)

# A number as it is written where a comma stands before decimals, and one with marks between thousands.
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
_WITH_MARKS = re.compile(r"[+-]?\d{1,3}(?:[.,]\d{3})+", re.ASCII)

# The start of a command makes fewer, so that nothing is looked through before it begins its work.
OBJECTS_BEFORE_GARBAGE = 100_000

# What the system says when a disk, or somebody's share of it, is full.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def commands() -> dict[str, str]:
    """Return what each command is for, by its name: a command's file begins with a line that says so.

    The files are neither run nor parsed: a list of commands needs none of what they need.

    Examples
    --------
    >>> commands()["explain"]
    'a certificate in plain words.'
    """
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        said = _PURPOSE.match(path.read_text("utf-8"))
        if said and said["name"] == path.stem:
            found[path.stem] = inspect.cleandoc(said["purpose"])
    return found


def build(words: Sequence[str] = ()) -> typer.Typer:
    """Return the program with the command that the words begin with, or with the names and purposes of all.

    What one command needs takes up to a second to load, and the others of it are not missed.
    """
    program = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        help="Private convex models with checkable certificates. The page docs/schema.md is: equipoise docs schema.",
    )
    known = commands()
    if words and words[0] in known:
        module = importlib.import_module(f"equipoise.cli.{words[0]}")
        if hasattr(module, "command"):
            program.command(name=words[0])(module.command)
        else:
            program.add_typer(module.group, name=words[0])
    else:
        for name, purpose in known.items():
            program.command(name=name, help=purpose[:1].upper() + purpose[1:])(lambda: None)
    # A program with a single command would not expect its name.
    program.callback()(_program)
    return program


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # it takes as long to load as this file

        print(f"equipoise {version('equipoise')}")
        raise typer.Exit


def _program(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def main() -> None:
    """Run the program; an error is three lines on standard error and an exit code, never a traceback."""
    # What modules make while they are loaded is no garbage: looking for some after every 700 objects of it takes a
    # tenth of the time in which a command starts.
    gc.set_threshold(OBJECTS_BEFORE_GARBAGE)
    try:
        # A shell that asks for completions passes the words of its line in a variable.
        words = (os.environ.get("COMP_WORDS", "").split() or sys.argv)[1:]
        code = build(words)(standalone_mode=False)
        sys.stdout.flush()  # what the system refuses to take is noticed here, and not when Python ends
        sys.exit(code)
    except EquipoiseError as error:
        _say(error.asked, error.found, error.remedy)
        sys.exit(code_of(error))
    except ModuleNotFoundError as error:
        # A module of our own that is not there is a fault of ours.
        if str(error.name).startswith("equipoise"):
            _unforeseen(error)
        absent = MissingExtra.of("what this command needs", error)
        _say(absent.asked, absent.found, absent.remedy)
        sys.exit(code_of(absent))
    except _WrongWords as error:
        _explain(error)
        sys.exit(REFUSED)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(UNFORESEEN)
    except OSError as error:
        if error.errno not in FULL:
            _unforeseen(error)
        # What could not be printed would be tried once more when Python closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        remedy = "make room, or send the output elsewhere; what the command wrote under a name before this is there"
        _say("room for what the command prints or keeps beside it", str(error.strerror), remedy)
        sys.exit(REFUSED)
    except Exception as error:
        _unforeseen(error)


def _unforeseen(error: Exception) -> NoReturn:
    """Say that the program is at fault. The text of the error might quote a file's contents; its type does not."""
    if os.environ.get("EQUIPOISE_DEBUG"):
        raise error
    _say(
        "a result",
        f"a fault of the program ({type(error).__name__})",
        "run it again on public data with EQUIPOISE_DEBUG=1 and report what it prints",
    )
    sys.exit(UNFORESEEN)


def _explain(error: Exception) -> None:
    """Say which words of the line are wrong; a line without any gets the help that it stands for."""
    place = getattr(error, "ctx", None)
    path = place.command_path if place is not None else "equipoise"
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined] # every complaint of Typer's can be shown
        return
    found = " ".join(str(error.format_message()).split())  # type: ignore[attr-defined]
    asked = (
        f"a command of {path}" if hasattr(getattr(place, "command", None), "commands") else f"options that {path} knows"
    )
    _say(asked, found, _number_meant(error, sys.argv[1:], found) or f"see {path} --help")


def _number_meant(error: Exception, words: Sequence[str], found: str) -> str:
    """Return how to write a number that has a comma or marks of thousands; nothing where that is not what is wrong.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> error = SimpleNamespace(param=SimpleNamespace(opts=["--epsilon"]))
    >>> _number_meant(error, ["plan", "--epsilon", "0,5"], "Input should be a valid number")
    'write 0.5, with a decimal point'
    """
    options = getattr(getattr(error, "param", None), "opts", ())
    pairs = [*pairwise(words), *(word.partition("=")[::2] for word in words)]
    given = next((value for option, value in pairs if option in options), "")
    if "integer" in found:
        return f"write {re.sub('[.,]', '', given)}, without marks of thousands" if _WITH_MARKS.fullmatch(given) else ""
    return f"write {given.replace(',', '.')}, with a decimal point" if _WITH_COMMA.fullmatch(given) else ""


def _say(asked: str, found: str, remedy: str) -> None:
    # What sets colours and lines takes as long to load as a certificate's check.
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(f"[bold red]asked[/]  {escape(asked)}")
    console.print(f"[bold red]found[/]  {escape(found)}")
    console.print(f"[bold green]to do[/]  {escape(remedy)}")
