"""The `equipoise` program: commands are the modules of this folder that define `command`, or a `group` of them."""

import importlib
import os
import pkgutil
import sys

import typer
from rich.console import Console
from rich.markup import escape

import equipoise.cli
from equipoise.cli.exit_codes import INTERRUPTED, UNFORESEEN, code_of
from equipoise.errors import EquipoiseError


def build() -> typer.Typer:
    """Return the program with every command that the folder holds."""
    program = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        help="Private convex models whose certificate a stranger can check.",
    )
    for module_information in sorted(pkgutil.iter_modules(equipoise.cli.__path__), key=lambda entry: entry.name):
        module = importlib.import_module(f"equipoise.cli.{module_information.name}")
        if hasattr(module, "command"):
            program.command(name=module_information.name)(module.command)
        elif hasattr(module, "group"):
            program.add_typer(module.group, name=module_information.name)
    return program


def main() -> None:
    """Run the program; an error is three lines on standard error and an exit code, never a traceback."""
    try:
        build()()
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
