"""What a registry shows of the distribution equipoise: the README, with pages named by the command that prints them.

Links of a README lead to files beside it. On a registry's page, or in an installed package, there is nothing beside it;
what works there is `equipoise docs NAME`, for every page that a wheel brings.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"\[(?P<text>[^\]\[]+)\]\((?P<target>[^()\s]+)\)")
# What `equipoise docs` prints besides the pages of docs (equipoise.cli.docs).
ENDINGS = (".md", ".py", ".toml", ".v")


def description(readme: str) -> str:
    """Return a README whose links need no file beside it; blocks of code stay as they are.

    Examples
    --------
    >>> description("See [docs/sgd.md](docs/sgd.md#steps), [proofs](docs/proofs/README.md) and [the licence](LICENSE).")
    'See `equipoise docs sgd#steps`, proofs (`equipoise docs proofs`) and the licence.'
    """
    blocks = re.split(r"(^```.*?^```$)", readme, flags=re.M | re.S)
    return "".join(block if block.startswith("```") else LINK.sub(_named, block) for block in blocks)


def _named(link: re.Match[str]) -> str:
    text, target = link["text"], link["target"]
    if target.startswith(("https://", "http://")):
        return link[0]
    path, _, mark = target.partition("#")
    if not path.endswith(ENDINGS):
        return text
    inside = path.startswith("docs/")
    topic = path.removeprefix("docs/").removesuffix("/README.md").removesuffix(".md") if inside else path
    command = f"`equipoise docs {topic}{'#' * bool(mark)}{mark}`"
    return command if text == path else f"{text} ({command})"


class Description(MetadataHookInterface):  # type: ignore[misc] # hatchling carries no types
    """Gives the description to whatever is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the text in."""
        text = description((Path(self.root) / "README.md").read_text(encoding="utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
