"""Code blocks of a page, run in their order in one fresh process and one empty folder, with what they printed below them.

A block of Python is run as it stands. Above a block a comment may say why it is not (`<!-- not run: it needs a cluster -->`),
or which test runs it (`<!-- run by tests/test_tutorial.py -->`); the site repeats that sentence for the reader. A page may have
what its first block needs and no reader wants to see, rows for example: `<!-- setup` and Python up to `-->`; and a folder of
packages that come before all others on that page: `<!-- packages .diffprivlib -->`.
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
    r"(?:^<!-- (?P<word>not run: |run by )(?P<why>.*?) -->\n)?^```(?P<language>python|sh)\n(?P<code>.*?)^```\n",
    re.M | re.S,
)
SETUP = re.compile(r"^<!-- setup\n(.*?)^-->\n", re.M | re.S)
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
    """The blocks of one page that are run, what precedes them, and the sentences for those that are not.

    `packages` are folders whose packages come before all others.
    """

    setup: str
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
    return Blocks("".join(SETUP.findall(page)), python, excused, tuple(PACKAGES.findall(page)))


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
            input=json.dumps([blocks.setup, *blocks.python]),
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
    return printed[1:]


def with_outputs(page: str, name: str) -> str:
    """Return a page whose blocks were run, each followed by what it printed."""
    printed = iter(run(blocks_of(page), name))

    def shown(found: re.Match[str]) -> str:
        fence = f"```{found['language']}\n{found['code']}```\n"
        if found["word"] is not None:
            return f"{fence}\n*This block was {found['word']}{found['why']}.*\n"
        if found["language"] != "python":
            return fence
        output = next(printed)
        return fence + (f"\n```text\n{_shortened(output)}```\n" if output.strip() else "")

    return FENCE.sub(shown, PACKAGES.sub("", SETUP.sub("", page)))


def unexcused(page: str) -> list[str]:
    """Return the blocks of commands that are neither run by a test nor excused."""
    return [each["code"] for each in FENCE.finditer(page) if each["language"] == "sh" and each["word"] is None]


def _shortened(output: str) -> str:
    lines = [line if len(line) <= WIDEST else line[:WIDEST] + " ..." for line in output.rstrip("\n").split("\n")]
    if len(lines) <= LONGEST:
        return "\n".join(lines) + "\n"
    return "\n".join([*lines[:LONGEST], f"... and {len(lines) - LONGEST} lines more"]) + "\n"


def notebook(page: str) -> str:
    """Return a page as a notebook: its prose and its blocks as cells, nothing executed."""
    cells: list[dict[str, object]] = []
    position = 0
    setup = "".join(SETUP.findall(page))
    page = PACKAGES.sub("", SETUP.sub("", page))
    for found in FENCE.finditer(page):
        cells.append(_cell("markdown", page[position : found.start()]))
        if found["language"] == "python":
            cells.append(_cell("code", found["code"]))
        else:
            cells.append(_cell("markdown", found[0]))
        position = found.end()
    cells.append(_cell("markdown", page[position:]))
    if setup:
        cells.insert(1, _cell("code", setup))
    kept = [cell for cell in cells if "".join(cell["source"]).strip()]  # type: ignore[arg-type]
    return json.dumps(
        {"cells": kept, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def _cell(kind: str, text: str) -> dict[str, object]:
    cell: dict[str, object] = {"cell_type": kind, "metadata": {}, "source": text.strip("\n").splitlines(keepends=True)}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell


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
