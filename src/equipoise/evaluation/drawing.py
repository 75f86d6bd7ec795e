"""The page of an evaluation, drawn again for a check: what figures need is loaded only where there is one to draw."""

from collections.abc import Mapping


def evaluation_page(contents: Mapping[str, bytes]) -> str:
    """Return the page that the files of an evaluation call for."""
    from equipoise.evaluation.page import drawn_again

    return drawn_again(contents)
