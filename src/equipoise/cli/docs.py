"""`equipoise docs`: the pages that errors and certificates cite, printed from what is installed."""

import difflib
import json
import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from equipoise.cli.options import AsJson
from equipoise.errors import UnknownName

PROOFS = "proofs"

# What pages link to besides pages: programs, proofs for Coq, a schema; and pages that stand at the repository's root.
FOLDERS = ("docs", "examples", PROOFS)
TEXTS = (".md", ".py", ".toml", ".v")
SOURCE = "src/equipoise/"
AT_THE_ROOT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "verify/README.md")

# So many names are shown that are like one that is unknown.
NEAR = 5
# What is as short as this is looked for among names alone.
SHORT = 3


def command(
    topic: Annotated[
        str | None,
        typer.Argument(
            help="A page by its name or as it is cited: mechanisms, A2+A4, docs/proofs/A2.md, "
            "docs/sgd.md#several-classes; without, a list."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print a page of the documentation: what texts cite as docs/schema.md is equipoise docs schema.

    On a terminal it is set, elsewhere it is printed as it was written, in Markdown. Of a citation with a mark, as in
    docs/sgd.md#several-classes, that section is printed; of several theorems, as in A2+A4, the page of each.
    """
    from rich.console import Console
    from rich.markdown import Markdown

    if topic is None:
        titles = {name: title_of(path.read_text("utf-8")) for name, path in pages_by_topic().items()}
        if as_json:
            print(json.dumps(titles, indent=2))
            return
        width = max(map(len, titles))
        for name, title in titles.items():
            print(f"{name:<{width}}  {title}")
        return
    found = texts_of(topic)
    if as_json:
        told = [{"topic": name, "title": title_of(text), "text": text} for name, text in found.items()]
        print(json.dumps(told[0] if len(told) == 1 else told, indent=2))
        return
    for name, text in found.items():
        if sys.stdout.isatty():
            # A program or a proof is no Markdown, and would be set as one line.
            code = PurePosixPath(name).suffix in TEXTS
            Console().print(text if code else Markdown(unfolded(text)), markup=False, highlight=False)
        else:
            print(text, end="")


def unfolded(text: str) -> str:
    r"""Return a page with the words over what a site folds: a terminal folds nothing, and would leave them out.

    Examples
    --------
    >>> unfolded("<details>\n<summary>Rows</summary>\n")
    '<details>\n\n*Rows*\n'
    """
    return re.sub(r"^<summary>(.*)</summary>$", r"\n*\1*", text, flags=re.MULTILINE)


def documents() -> Path:
    """Return the folder that holds docs and what they link to: beside the package, or the repository it is run from."""
    package = Path(__file__).parents[1]
    place = next((place for place in (package / "documents", package.parents[1]) if (place / "docs").is_dir()), None)
    if place is None:
        remedy = "install the distribution again, or read them where this one came from"
        raise UnknownName("the pages of the documentation", "none beside the package", remedy)
    return place


def pages_by_topic() -> dict[str, Path]:
    """Return the page of every topic.

    Examples
    --------
    >>> {"mechanisms", "proofs", "proofs/A2"} <= pages_by_topic().keys()
    True
    """
    folder = documents() / "docs"
    proofs = {f"{PROOFS}/{path.stem}": path for path in sorted((folder / PROOFS).glob("*.md"))}
    catalogue = proofs.pop(f"{PROOFS}/README", None)
    return {
        **{path.stem: path for path in sorted(folder.glob("*.md"))},
        **({} if catalogue is None else {PROOFS: catalogue}),
        **proofs,
    }


def other_files() -> dict[str, Path]:
    """Return by its path every text that pages link to and that is none of them: programs, proofs, root pages.

    Examples
    --------
    >>> {"proofs/Privacy.v", "examples/gallery/income.py", "SECURITY.md"} <= other_files().keys()
    True
    """
    root, pages = documents(), set(pages_by_topic().values())
    found = [root / name for name in AT_THE_ROOT if (root / name).is_file()]
    for folder in FOLDERS:
        found += [path for path in sorted((root / folder).rglob("*")) if path.suffix in TEXTS and path not in pages]
    return {path.relative_to(root).as_posix(): path for path in found}


def texts_of(cited: str) -> dict[str, str]:
    """Return what a citation means, by the topic of each page: whole pages, or the section that a mark names.

    Examples
    --------
    >>> list(texts_of("E2d+E4")), list(texts_of("docs/mechanisms.md#long-tables")), list(texts_of("income.py"))
    (['proofs/E2d', 'proofs/E4'], ['mechanisms'], ['examples/gallery/income.py'])
    """
    page, _, mark = cited.strip().partition("#")
    pages, others = pages_by_topic(), {**other_files(), **_own_file(page)}
    names = [page] if "+" not in page else page.split("+")
    topics = [topic_of(name, pages, others) for name in names]
    texts = {topic: {**others, **pages}[topic].read_text("utf-8") for topic in topics}
    return {topic: section(text, mark, topic) for topic, text in texts.items()} if mark else texts


def _own_file(cited: str) -> dict[str, Path]:
    """Return the package's own file that a page links to, as in ../src/equipoise/errors.py; nothing for other texts."""
    path = _without_steps(cited)
    own = Path(__file__).parents[1] / path.removeprefix(SOURCE)
    inside = path.startswith(SOURCE) and ".." not in PurePosixPath(path).parts and own.suffix in TEXTS
    return {path: own} if inside and own.is_file() else {}


def _without_steps(path: str) -> str:
    """Return a path without the steps upwards that a link from a page has."""
    return re.sub(r"^(?:\.\.?/)+", "", path)


def topic_of(cited: str, pages: dict[str, Path], others: dict[str, Path] | None = None) -> str:
    """Return the topic that a name or a citation means; refuse one that there is none of, with those like it.

    Examples
    --------
    >>> pages = {"sgd": Path("sgd.md"), "proofs": Path("README.md"), "proofs/A2": Path("A2.md")}
    >>> cited = ("sgd", "docs/sgd.md#several-classes", "docs/proofs/A2.md", "a2", "docs/proofs/")
    >>> [topic_of(name, pages) for name in cited]
    ['sgd', 'sgd', 'proofs/A2', 'proofs/A2', 'proofs']
    >>> topic_of("../../proofs/Privacy.v", pages, {"proofs/Privacy.v": Path("Privacy.v")})
    'proofs/Privacy.v'
    """
    others = others or {}
    path = _without_steps(cited.strip().partition("#")[0])
    # Names of proofs hold points, so that only the ending of a page is taken away.
    name = str(PurePosixPath(path.removesuffix(".md").removesuffix("/README"))).removeprefix("docs/")
    known = {topic.casefold(): topic for topic in (*others, *pages)}
    for wanted in (path.casefold(), f"{path}.md".casefold(), name.casefold(), f"{PROOFS}/{name}".casefold()):
        if wanted in known:
            return known[wanted]
    # A file by the end of its path or by its name alone, where only one has it.
    like = [topic for topic in others if _ends_in(topic.casefold(), path.casefold())]
    if len(like) == 1:
        return like[0]
    stems = {last: topic for topic in (*others, *pages) for last in (topic.rpartition("/")[2], topic)}
    near = dict.fromkeys([*like, *(stems[stem] for stem in difflib.get_close_matches(name, stems, n=NEAR))])
    near = near or dict.fromkeys(islice(_stating(cited.strip(), pages), NEAR))
    remedy = f"did you mean {', '.join(near)}?" if near else "equipoise docs lists them"
    raise UnknownName("a page of the documentation", repr(cited), remedy)


def _stating(cited: str, pages: dict[str, Path]) -> Iterator[str]:
    """Yield the pages on which what is cited, such as Lemma R, is a heading or begins a statement."""
    stated = re.compile(rf"^(?:> )?(?:#+ .*|\*\*)\b{re.escape(cited)}\b", re.IGNORECASE | re.MULTILINE)
    # A letter or two stand in many headings.
    able = {topic: path for topic, path in pages.items() if len(cited) > SHORT and path.is_file()}
    return (topic for topic, path in able.items() if stated.search(path.read_text("utf-8")))


def _ends_in(path: str, name: str) -> bool:
    """Return whether a file is named by the end of its path, with its ending or without."""
    return bool(name) and any(f"/{way}".endswith(f"/{name}") for way in (path, path.rpartition(".")[0]))


def section(text: str, mark: str, topic: str) -> str:
    r"""Return the section of a page that a mark names, to the next heading of its level; refuse a mark of none.

    A mark may also stand in a line of a table: then that line is the section, below the head of its table.

    Examples
    --------
    >>> section("# Noise\n\n## On grids\n\nFine.\n\n### Why?\n\nSo.\n\n## Else\n", "on-grids", "noise")
    '## On grids\n\nFine.\n\n### Why?\n\nSo.\n'
    >>> section('| of |\n|---|\n| <a id="x"></a>A |\n| B |\n', "x", "noise")
    '| of |\n|---|\n| A |\n'
    """
    lines, fenced = text.splitlines(), False
    if (marked := f'<a id="{mark}"></a>') in text:
        place = next(place for place, line in enumerate(lines) if marked in line)
        head = max(at for at in range(place) if lines[at].startswith("|---"))
        return "\n".join([*lines[head - 1 : head + 1], lines[place].replace(marked, "")]) + "\n"
    found: dict[str, tuple[int, int]] = {}
    for place, line in enumerate(lines):
        fenced ^= line.startswith("```")
        if not fenced and (heading := re.match(r"(#+) +(.*)", line)):
            found.setdefault(mark_of(heading[2]), (place, len(heading[1])))
    if mark not in found:
        near = ", ".join(f"{topic}#{name}" for name in difflib.get_close_matches(mark, found, n=NEAR))
        remedy = f"did you mean {near}?" if near else f"equipoise docs {topic} prints the whole page"
        raise UnknownName(f"a section of {topic}", f"#{mark}", remedy)
    first, level = found[mark]
    last = next((place for place, depth in found.values() if place > first and depth <= level), len(lines))
    return "\n".join(lines[first:last]).rstrip() + "\n"


def mark_of(heading: str) -> str:
    """Return the mark that links name a heading by, as forges make it.

    Examples
    --------
    >>> mark_of("Rows of `few` entries: why?")
    'rows-of-few-entries-why'
    """
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w -]", "", shown).strip().replace(" ", "-")


def title_of(text: str) -> str:
    r"""Return what stands behind the first mark of a title.

    Examples
    --------
    >>> title_of("# Noise\n\nOn grids.")
    'Noise'
    """
    return next((line.lstrip("#").strip() for line in text.splitlines() if re.match("#+ ", line)), "")
