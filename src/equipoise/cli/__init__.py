"""The command line, one file a command."""

from equipoise.cli.application import main

__all__ = ["main"]
