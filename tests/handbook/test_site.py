"""The documentation site as `make docs` built it, in a browser: for everybody, and within the width of a phone."""

from pathlib import Path

import pytest

from browser import needs_browser
from devtools import browser_window, faults, needs_axe

SITE = Path(__file__).parents[2] / "build" / "handbook" / "html"
# One page of every sort: tables, blocks of code with their output, formulas, a picture, docstrings, a search box.
PAGES = (
    "index",
    "gallery",
    "from-scikit-learn",
    "from-diffprivlib",
    "evidence",
    "certificate",
    "architecture",
    "proofs/E2",
    "reference/LogisticRegression",
    "search",
)

needs_site = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="no site: make docs")


@pytest.fixture(scope="module")
def window():
    with browser_window() as found:
        yield found


@needs_browser
@needs_axe
@needs_site
@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_for_everybody(window, name):
    assert faults(window, SITE / f"{name}.html", most_stops=25) == {}


@needs_site
def test_no_page_shows_markup_of_a_formula():
    assert [page.name for page in SITE.rglob("*.html") if "&lt;math" in page.read_text()] == []
