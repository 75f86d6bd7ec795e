"""`equipoise docs`: the pages that errors and certificates cite, printed from what is installed."""

import difflib
import json
import sys
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from equipoise.cli.options import AsJson
from equipoise.errors import UnknownName

PROOFS = "proofs"

# So many names are shown that are like one that is unknown.
NEAR = 5


def command(
    topic: Annotated[
        str | None,
        typer.Argument(
            help="A page by its name or as it is cited: mechanisms, A2, docs/proofs/A2.md; without, a list."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print a page of the documentation: what texts cite as docs/schema.md is equipoise docs schema.

    On a terminal it is set, elsewhere it is printed as it was written, in Markdown.
    """
    from rich.console import Console
    from rich.markdown import Markdown

    pages = pages_by_topic()
    if topic is None:
        titles = {name: title_of(path.read_text("utf-8")) for name, path in pages.items()}
        if as_json:
            print(json.dumps(titles, indent=2))
            return
        width = max(map(len, titles))
        for name, title in titles.items():
            print(f"{name:<{width}}  {title}")
        return
    name = topic_of(topic, pages)
    text = pages[name].read_text("utf-8")
    if as_json:
        print(json.dumps({"topic": name, "title": title_of(text), "text": text}, indent=2))
    elif sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        print(text, end="")


def pages_by_topic() -> dict[str, Path]:
    """Return the page of every topic: those beside the installed package, or in the repository that it is run from.

    Examples
    --------
    >>> {"mechanisms", "proofs", "proofs/A2"} <= pages_by_topic().keys()
    True
    """
    package = Path(__file__).parents[1]
    folders = (package / "docs", package.parents[1] / "docs")
    folder = next((place for place in folders if place.is_dir()), None)
    if folder is None:
        remedy = "install the distribution again, or read them where this one came from"
        raise UnknownName("the pages of the documentation", "none beside the package", remedy)
    proofs = {f"{PROOFS}/{path.stem}": path for path in sorted((folder / PROOFS).glob("*.md"))}
    catalogue = proofs.pop(f"{PROOFS}/README", None)
    return {
        **{path.stem: path for path in sorted(folder.glob("*.md"))},
        **({} if catalogue is None else {PROOFS: catalogue}),
        **proofs,
    }


def topic_of(cited: str, pages: dict[str, Path]) -> str:
    """Return the topic that a name or a citation means; refuse one that there is none of, with those like it.

    Examples
    --------
    >>> pages = {"sgd": Path("sgd.md"), "proofs": Path("README.md"), "proofs/A2": Path("A2.md")}
    >>> [topic_of(cited, pages) for cited in ("sgd", "docs/sgd.md#steps", "docs/proofs/A2.md", "a2", "docs/proofs/")]
    ['sgd', 'sgd', 'proofs/A2', 'proofs/A2', 'proofs']
    """
    # Names of proofs hold points, so that only the ending of a page is taken away.
    path = cited.strip().partition("#")[0].removesuffix(".md").removesuffix("/README")
    name = str(PurePosixPath(path)).removeprefix("docs/")
    known = {topic.casefold(): topic for topic in pages}
    for wanted in (name.casefold(), f"{PROOFS}/{name.casefold()}"):
        if wanted in known:
            return known[wanted]
    stems = {**{topic.rpartition("/")[2]: topic for topic in pages}, **{topic: topic for topic in pages}}
    near = dict.fromkeys(stems[stem] for stem in difflib.get_close_matches(name, stems, n=NEAR))
    remedy = f"did you mean {', '.join(near)}?" if near else "equipoise docs lists them"
    raise UnknownName("a page of the documentation", repr(cited), remedy)


def title_of(text: str) -> str:
    r"""Return what stands behind the first mark of a title.

    Examples
    --------
    >>> title_of("# Noise\n\nOn grids.")
    'Noise'
    """
    return next((line.removeprefix("# ").strip() for line in text.splitlines() if line.startswith("# ")), "")
