"""The `equipoise` program: commands are the modules of this folder that define `command`, or a `group` of them."""

import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.markup import escape

import equipoise.cli
from equipoise.cli.exit_codes import INTERRUPTED, UNFORESEEN, code_of
from equipoise.errors import EquipoiseError


def build(words: Sequence[str] = ()) -> typer.Typer:
    """Return the program with the command that the words begin with, or with every command that the folder holds.

    Loading one command takes a second less than loading all of them, which shows when a shell completes options.
    """
    program = typer.Typer(
        no_args_is_help=True, pretty_exceptions_enable=False, help="Private convex models with checkable certificates."
    )
    names = sorted(entry.name for entry in pkgutil.iter_modules(equipoise.cli.__path__))
    for name in [name for name in names if name in words[:1]] or names:
        module = importlib.import_module(f"equipoise.cli.{name}")
        if hasattr(module, "command"):
            program.command(name=name)(module.command)
        elif hasattr(module, "group"):
            program.add_typer(module.group, name=name)
    # A program with a single command would not expect its name.
    program.callback()(lambda: None)
    return program


def main() -> None:
    """Run the program; an error is three lines on standard error and an exit code, never a traceback."""
    try:
        # A shell that asks for completions passes the words of its line in a variable.
        build((os.environ.get("COMP_WORDS", "").split() or sys.argv)[1:])()
    except EquipoiseError as error:
        _say(error.asked, error.found, error.remedy)
        sys.exit(code_of(error))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(UNFORESEEN)
    except Exception as error:
        if os.environ.get("EQUIPOISE_DEBUG"):
            raise
        # The text of an unforeseen error might quote a file's contents; its type does not.
        _say(
            "a result",
            f"a fault of the program ({type(error).__name__})",
            "run it again on public data with EQUIPOISE_DEBUG=1 and report what it prints",
        )
        sys.exit(UNFORESEEN)


def _say(asked: str, found: str, remedy: str) -> None:
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(f"[bold red]asked[/]  {escape(asked)}")
    console.print(f"[bold red]found[/]  {escape(found)}")
    console.print(f"[bold green]to do[/]  {escape(remedy)}")
