"""Build the documentation site from docs/, offline: `make docs`, then open build/handbook/html/index.html.

Every block of code is run while it is built, every link must lead somewhere, and Sphinx's warnings are errors.
"""

import argparse
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from handbook import accessible, executed, house, mathematics, reference, witnesses

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
# A file of tests in a line of a table, which does not travel with an installed program and so has no link on the page.
ROW = re.compile(r"^\| .*\|$", re.MULTILINE)
TESTED = re.compile(r"(?<!\[)`((?:\w+/)*test_\w+\.py)`")
NOTEBOOKS = ("from-scikit-learn.md", "from-diffprivlib.md")


def prepare(source: Path, *, run_blocks: bool = True, run_tests: bool = True) -> None:
    """Write the pages as Sphinx will read them; their blocks are run, and the tests that they name as running some."""
    if source.exists():
        shutil.rmtree(source)
    shutil.copytree(DOCS, source)
    files = source / "files" / "repository"
    files.mkdir(parents=True)
    pages = sorted(source.rglob("*.md"))
    attained: dict[str, list[dict[str, object]]] = {}
    if run_blocks and run_tests:
        executed.run_tests([page.read_text() for page in pages], ROOT)
    if run_blocks:
        attained = witnesses.found(ROOT, source.parent / "witnesses")
    # A page waits for a process of its own, and pages wait side by side.
    with ThreadPoolExecutor(os.cpu_count()) as side_by_side:
        outputs = list(side_by_side.map(partial(_run, source, run_blocks), pages))
    for page, printed in zip(pages, outputs, strict=True):
        name, written = page.relative_to(source).as_posix(), page.read_text()
        text = executed.with_outputs(written, printed)
        if name in NOTEBOOKS:
            (source / "files" / f"{page.stem}.ipynb").write_text(executed.notebook(written, printed))
            heading, rest = text.split("\n", 1)
            text = f'{heading}\n\n<a href="{page.stem}.ipynb" download>This page as a notebook</a>\n{rest}'
        if name.startswith("proofs/"):
            text = mathematics.rendered(text)
            if page.stem in attained:
                text += witnesses.drawn(attained[page.stem])
        page.write_text(linked(text, name, files))
    (source / "house.svg").write_text(house.drawn(house.house()))
    reference.write(source / "reference")
    _complete_contents(source)


def _run(source: Path, run_blocks: bool, page: Path) -> list[str]:
    """Return what the blocks of a page printed; nothing for each where they are not run."""
    name = page.relative_to(source).as_posix()
    blocks = executed.blocks_of(page.read_text())
    if not run_blocks:
        return [""] * len(blocks.python)
    print(name, flush=True)
    return executed.run(blocks, name)


def linked(text: str, name: str, files: Path) -> str:
    """Return a page whose links out of docs/ lead to copies that travel with the site."""

    def link(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        if re.match(r"[a-z]+:", target):
            return found[0]
        goal = (DOCS / name).parent.joinpath(target).resolve()
        if goal.is_relative_to(DOCS):
            # Marks that stand in a page as HTML are none of Sphinx's own.
            if found[3] and f'<a id="{found[3][1:]}"></a>' in goal.read_text():
                return f'<a href="{target.removesuffix(".md")}.html{found[3]}">{words}</a>'
            return found[0]
        if not goal.is_relative_to(ROOT) or not goal.exists():
            raise FileNotFoundError(f"{name}: no {target}")
        place = goal.relative_to(ROOT)
        if goal.is_dir():
            return f"{words} (`{place}`)"
        copy = files / (str(place) + ("" if place.suffix in (".txt", ".svg") else ".txt"))
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(goal, copy)
        above = "../" * name.count("/")
        return f'<a href="{above}repository/{copy.relative_to(files).as_posix()}">{words}</a>'

    def tested(found: re.Match[str]) -> str:
        goal = ROOT / "tests" / found[1]
        steps = os.path.relpath(goal, (DOCS / name).parent)
        return f"[`{found[1]}`]({steps})" if goal.is_file() else found[0]

    return LINK.sub(link, ROW.sub(lambda row: TESTED.sub(tested, row[0]), text))


def _complete_contents(source: Path) -> None:
    """Let every page be reachable: what no list of contents names is put into the last list of the index."""
    index = source / "index.md"
    listed = set()
    for page in source.rglob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.S):
            for line in block.split("\n"):
                target = re.sub(r".*<(.*)>$", r"\1", line.strip())
                if target and not target.startswith(":"):
                    listed.add((page.parent / target).relative_to(source).as_posix())
    rest = [
        page.relative_to(source).with_suffix("").as_posix()
        for page in sorted(source.rglob("*.md"))
        if page != index and page.relative_to(source).with_suffix("").as_posix() not in listed
    ]
    proofs = [page for page in rest if page.startswith("proofs/")]
    others = [page for page in rest if not page.startswith("proofs/")]
    with (source / "proofs" / "README.md").open("a") as catalogue:
        names = [page.removeprefix("proofs/") for page in proofs if page != "proofs/README"]
        catalogue.write("\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n")
    with index.open("a") as contents:
        contents.write("\n```{toctree}\n:hidden:\n:caption: More pages\n\n" + "\n".join(others) + "\n```\n")


def main() -> None:
    """Prepare the pages and have Sphinx draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "handbook")
    parser.add_argument("--no-blocks", action="store_true", help="do not run the blocks: for a look at the layout")
    parser.add_argument("--after-tests", action="store_true", help="the tests that pages name have just passed")
    options = parser.parse_args()
    prepare(options.out / "source", run_blocks=not options.no_blocks, run_tests=not options.after_tests)
    from sphinx.cmd.build import build_main

    source, drawn = options.out / "source", options.out / "html"
    extra = f"html_extra_path={source / 'files'}"
    status = build_main(
        ["-q", "-W", "--keep-going", "-c", str(ROOT / "handbook"), "-D", extra, str(source), str(drawn)]
    )
    accessible.mend(drawn)
    print(f"open {drawn / 'index.html'}" if status == 0 else "the site was not built: see above")
    sys.exit(status)


if __name__ == "__main__":
    main()
