"""Code blocks of a page, run in their order in one fresh process and one empty folder, with what they printed below them.

A block of Python is run as it stands. Above a block a comment may say why it is not (`<!-- not run: it needs a cluster -->`),
or which test runs it (`<!-- run by tests/test_tutorial.py -->`); the site repeats that sentence for the reader. What later
blocks start from, rows for example, is a block like the others, folded (`<details>`) where it would be in the way. A page may
name a folder of packages that come before all others: `<!-- packages .diffprivlib -->`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(
    r"(?:^<!-- (?P<word>not run: |run by )(?P<why>.*?) -->\n)?^```(?P<language>python|sh|sql)\n(?P<code>.*?)^```\n",
    re.M | re.S,
)
# What a site folds or sets side by side: a notebook and a terminal show its text alone.
LAYOUT = re.compile(r"^(?:</?(?:details|div)[^>\n]*>)+\n", re.M)
SUMMARY = re.compile(r"^<summary>(.*)</summary>$", re.M)
PACKAGES = re.compile(r"^<!-- packages (\S+) -->\n", re.M)
LONGEST = 40
WIDEST = 160
SECONDS = 300
ROOT = Path(__file__).parents[1]

# What runs in the other process: blocks from standard input, one list of printed texts to standard output. The last expression
# of a block is shown as a notebook would show it.
RUNNER = """
import ast, contextlib, io, json, sys
printed, names = [], {"__name__": "__main__"}
for code in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<page>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<page>", "eval"), names)
            if value is not None:
                print(value if isinstance(value, str) else repr(value))
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
"""


class BlockFailed(RuntimeError):
    """A block of a page did not run."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of one page that are run, and the sentences for those that are not.

    `packages` are folders whose packages come before all others.
    """

    python: tuple[str, ...]
    excused: tuple[str, ...]
    packages: tuple[str, ...] = ()


def blocks_of(page: str) -> Blocks:
    r"""Return what a page asks to run.

    Examples
    --------
    >>> blocks_of("text\n```python\n1 + 1\n```\n").python
    ('1 + 1\n',)
    """
    found = list(FENCE.finditer(page))
    python = tuple(each["code"] for each in found if each["word"] is None and each["language"] == "python")
    excused = tuple(f"{each['word']}{each['why']}" for each in found if each["word"] is not None)
    return Blocks(python, excused, tuple(PACKAGES.findall(page)))


def run(blocks: Blocks, name: str) -> list[str]:
    """Return what each block printed; a block that fails raises `BlockFailed` with its traceback."""
    if not blocks.python:
        return []
    missing = [folder for folder in blocks.packages if not (ROOT / folder).is_dir()]
    if missing:
        raise BlockFailed(f"{name}: the packages of {missing[0]} are not there: make {missing[0]}/.ready")
    first = [str(ROOT / folder) for folder in blocks.packages]
    path = os.pathsep.join([*first, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONWARNINGS": "ignore", "PYTHONPATH": path}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", RUNNER],
            input=json.dumps(blocks.python),
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            timeout=SECONDS,
            check=False,
        )
    if done.returncode:
        raise BlockFailed(f"{name}: a block of this page does not run\n{done.stderr[-3000:]}")
    printed: list[str] = json.loads(done.stdout)
    return printed


def with_outputs(page: str, outputs: list[str]) -> str:
    """Return a page whose blocks were run, each followed by what it printed."""
    printed = iter(outputs)

    def shown(found: re.Match[str]) -> str:
        fence = f"```{found['language']}\n{found['code']}```\n"
        if found["word"] is not None:
            return f"{fence}\n*This block was {found['word']}{found['why']}.*\n"
        if found["language"] != "python":
            return fence
        output = next(printed)
        return fence + (f"\n```text\n{_shortened(output)}```\n" if output.strip() else "")

    return FENCE.sub(shown, PACKAGES.sub("", page))


def unexcused(page: str) -> list[str]:
    """Return the blocks of commands and of SQL that are neither run by a test nor excused."""
    return [each["code"] for each in FENCE.finditer(page) if each["language"] != "python" and each["word"] is None]


def _shortened(output: str) -> str:
    lines = [line if len(line) <= WIDEST else line[:WIDEST] + " ..." for line in output.rstrip("\n").split("\n")]
    if len(lines) <= LONGEST:
        return "\n".join(lines) + "\n"
    return "\n".join([*lines[:LONGEST], f"... and {len(lines) - LONGEST} lines more"]) + "\n"


def notebook(page: str, outputs: list[str]) -> str:
    """Return a page as a notebook: its prose and its blocks as cells, with what the blocks printed."""
    cells: list[dict[str, object]] = []
    position, number = 0, 0
    printed = iter(outputs)
    page = SUMMARY.sub(r"*\1*", LAYOUT.sub("", PACKAGES.sub("", page)))
    for found in [*FENCE.finditer(page), None]:
        prose = page[position : found.start() if found else None].strip("\n")
        if prose:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": prose.splitlines(keepends=True)})
        if found is None:
            break
        position = found.end()
        if found["language"] == "python" and found["word"] is None:
            number += 1
            cells.append(_code(found["code"], number, next(printed)))
        else:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": found[0].splitlines(keepends=True)})
    # The same page has the same notebook: a cell is named by its place.
    numbered = [{"id": f"cell-{place}", **cell} for place, cell in enumerate(cells, 1)]
    about = {"language_info": {"name": "python"}}
    return json.dumps({"cells": numbered, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _code(code: str, number: int, printed: str) -> dict[str, object]:
    """Return a cell of code, run as the block of that number."""
    shown = {"output_type": "stream", "name": "stdout", "text": printed.splitlines(keepends=True)}
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": number,
        "outputs": [shown] if printed else [],
        "source": code.strip("\n").splitlines(keepends=True),
    }


def run_tests(pages: list[str], root: Path) -> None:
    """Run the tests that pages name as running their blocks; one that fails raises `BlockFailed`."""
    named = sorted({found for page in pages for found in re.findall(r"^<!-- run by (tests/\S+\.py) -->$", page, re.M)})
    if named:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "pytest", "-q", "-m", "not statistics", *named],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BlockFailed(f"{', '.join(named)}\n{done.stdout[-3000:]}")
