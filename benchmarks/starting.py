"""How long commands take to start beside Python itself, in processor time: `python benchmarks/starting.py`.

Ratios of one run: every command is measured in turn with a bare Python, and with the import of scikit-learn and OpenDP.
"""

import os
import subprocess
import sys

RUNS = 5
BARE = "pass"
LIBRARIES = "import sklearn.linear_model, opendp.prelude"
PROGRAM = "import sys; from equipoise.cli import main; sys.argv = ['equipoise', *{words!r}]; main()"


def seconds(program: str) -> float:
    """Return the processor time of one process that runs a program."""
    before = os.times()
    subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)  # noqa: S603 - our own words
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Print the least time of each, and what it is beside the import of scikit-learn and OpenDP."""
    commands = [["--help"], ["--version"], ["verify", "--help"], ["predict", "--help"], *map(str.split, sys.argv[1:])]
    programs = {"python": BARE, "libraries": LIBRARIES} | {
        " ".join(words): PROGRAM.format(words=words) for words in commands
    }
    found = {name: min(seconds(program) for _ in range(RUNS)) for name, program in programs.items()}
    unit = found["libraries"] - found["python"]
    for name, least in found.items():
        print(f"{name:<60} {least:6.2f} s, {(least - found['python']) / unit:5.2f} of importing the libraries")


if __name__ == "__main__":
    main()
