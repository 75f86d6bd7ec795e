"""The command line inside the tests' own process: what a shell would see of it, without loading it every time."""

import io
import os
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

from equipoise.cli import main

VARIABLES = {"COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb"}


def run_program(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `equipoise` with these arguments in a folder, and return its exit code and what it printed."""
    words, output, errors = ["equipoise", *map(str, arguments)], io.StringIO(), io.StringIO()
    before, code = Path.cwd(), 0
    with (
        mock.patch("sys.argv", words),
        mock.patch.dict(os.environ, VARIABLES),
        redirect_stdout(output),
        redirect_stderr(errors),
    ):
        os.chdir(folder or before)
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        finally:
            os.chdir(before)
    return subprocess.CompletedProcess(words, code, output.getvalue(), errors.getvalue())
