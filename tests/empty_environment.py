"""Environments with nothing in them but what a distribution brings, made from the development environment, offline."""

import os
import shutil
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERIFY = ROOT / "verify"

# Nothing is asked of a network, and nothing of this process's own environment is passed on.
SETTINGS = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

# The largest memory of a child is measured by a small parent: a child starts with the figure of the process it was
# forked from.
MEASURED = """
import resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.run(sys.argv[2:]).returncode
took, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
with open(sys.argv[1], "w") as file:
    file.write(f"{took} {used / (2**20 if sys.platform == 'darwin' else 2**10)}")
sys.exit(code)
"""


def _pip(*words: object) -> None:
    command = [sys.executable, "-m", "pip", *map(str, words)]
    done = subprocess.run(command, env=SETTINGS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def wheel_of(project: Path, place: Path) -> Path:
    """Build a project's wheel into a folder of its own, with the development environment's tools."""
    _pip("wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", place, project)
    (wheel,) = place.glob("*.whl")
    return wheel


class Environment:
    """A virtual environment without pip; a copy of mpmath, which the development environment has, is all it holds."""

    def __init__(self, place: Path) -> None:
        venv.create(place, with_pip=False, symlinks=True)
        self.place = place
        self.programs = place / "bin"
        (self.packages,) = place.glob("lib/python*/site-packages")
        copied = distribution("mpmath")
        for file in copied.files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (self.packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(copied.locate_file(file)), self.packages / file)

    def install(self, wheel: Path) -> None:
        """Install a wheel, without what it depends on."""
        _pip("--python", self.place, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", wheel)

    def uninstall(self, name: str) -> None:
        """Take a distribution out again."""
        _pip("--python", self.place, "uninstall", "--quiet", "--yes", name)

    def run(self, program: str, *words: object, seen: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run one of its programs; packages in a folder can be made visible to it."""
        command = [str(self.programs / program), *map(str, words)]
        around = {**SETTINGS, "COLUMNS": "160", "NO_COLOR": "1"} | ({"PYTHONPATH": str(seen)} if seen else {})
        return subprocess.run(command, env=around, capture_output=True, text=True, check=False)

    def measured(self, program: str, *words: object) -> tuple[subprocess.CompletedProcess[str], float, float]:
        """Run one of its programs, and return the seconds it took and the most memory it held, in MiB, as well."""
        figures = self.place / "figures"
        done = self.run("python", "-c", MEASURED, figures, self.programs / program, *words)
        seconds, memory = map(float, figures.read_text().split())
        return done, seconds, memory
