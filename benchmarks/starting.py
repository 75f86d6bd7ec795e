"""How long commands take to start beside Python itself, in processor time: `python benchmarks/starting.py`.

Ratios of one run: every command is measured in turn with a bare Python, and with the import of scikit-learn and OpenDP.
Modules are compiled by a first run that does not count, as an installation compiles them.
"""

import os
import subprocess
import sys
import tempfile

RUNS = 5
BARE = "pass"
LIBRARIES = "import sklearn.linear_model, opendp.prelude"
PROGRAM = "import sys; from equipoise.cli import main; sys.argv = ['equipoise', *{words!r}]; main()"


def seconds(program: str, compiled: str) -> float:
    """Return the processor time of one process that runs a program, with a folder for compiled modules."""
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**known, "PYTHONPYCACHEPREFIX": compiled}
    before = os.times()
    subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, env=environment)  # noqa: S603 - our own words
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Print the least time of each, and what it is beside the import of scikit-learn and OpenDP."""
    commands = [["--help"], ["--version"], ["verify", "--help"], ["predict", "--help"], *map(str.split, sys.argv[1:])]
    programs = {"python": BARE, "libraries": LIBRARIES} | {
        " ".join(words): PROGRAM.format(words=words) for words in commands
    }
    with tempfile.TemporaryDirectory() as compiled:
        for program in programs.values():
            seconds(program, compiled)
        found = {name: min(seconds(program, compiled) for _ in range(RUNS)) for name, program in programs.items()}
    unit = found["libraries"] - found["python"]
    for name, least in found.items():
        print(f"{name:<60} {least:6.2f} s, {(least - found['python']) / unit:5.2f} of importing the libraries")


if __name__ == "__main__":
    main()
