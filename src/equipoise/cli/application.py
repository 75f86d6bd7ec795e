"""The `equipoise` program: commands are the modules of this folder that define `command`."""

import importlib
import pkgutil
import sys

import typer
from rich.console import Console
from rich.markup import escape

import equipoise.cli
from equipoise.errors import EquipoiseError

REFUSED = 2


def build() -> typer.Typer:
    """Return the program with every command that the folder holds."""
    program = typer.Typer(
        no_args_is_help=True, add_completion=False, help="Private convex models whose certificate a stranger can check."
    )
    for module_information in sorted(pkgutil.iter_modules(equipoise.cli.__path__), key=lambda entry: entry.name):
        module = importlib.import_module(f"equipoise.cli.{module_information.name}")
        if hasattr(module, "command"):
            program.command(name=module_information.name)(module.command)
    return program


def main() -> None:
    """Run the program; an error of ours is three lines on standard error and exit code 2, never a traceback."""
    try:
        build()()
    except EquipoiseError as error:
        console = Console(stderr=True, highlight=False, soft_wrap=True)
        console.print(f"[bold red]asked[/]  {escape(error.asked)}")
        console.print(f"[bold red]found[/]  {escape(error.found)}")
        console.print(f"[bold green]to do[/]  {escape(error.remedy)}")
        sys.exit(REFUSED)
