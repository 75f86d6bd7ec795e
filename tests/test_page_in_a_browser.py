"""Pages, opened in a real browser with the network cut off."""

import subprocess
import sys

import pytest

from browser import needs_browser, visit, visit_without_policy
from sample_releases import HOSTILE, hostile_page, page_of_sample, releases

pytestmark = needs_browser

CHARTS = ("curve", "over-epsilon", "over-alpha", "weights")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return a function that writes the page of a release once, and returns where it lies."""
    folder = tmp_path_factory.mktemp("pages")

    def written(name):
        page = folder / f"{name}.html"
        if not page.exists():
            text = hostile_page() if name == "hostile" else page_of_sample(name)
            page.write_text(text, encoding="utf-8")
        return page

    return written


def test_the_chart_is_drawn_without_errors_or_outside_requests(tmp_path):
    program = "from equipoise.cli import main; main()"
    demo = [sys.executable, "-c", program, "demo", "--repetitions", "1", "--out", str(tmp_path / "demo")]
    subprocess.run(demo, check=True, capture_output=True)
    seen = visit(tmp_path / "demo" / "index.html")
    assert "<svg" in seen.drawn("chart")
    for panel in ("breast cancer (accuracy)", "digits 3-vs-5 (accuracy)", "diabetes (R2)"):
        assert panel in seen.drawn("chart")
    assert seen.complaints == []


@pytest.mark.parametrize("size", ["desktop", "phone"])
@pytest.mark.parametrize("name", sorted(releases()))
def test_every_chart_of_a_release_is_drawn_without_errors_or_outside_requests(pages, name, size):
    seen = visit(pages(name), size)
    for chart in CHARTS:
        assert "<svg" in seen.drawn(chart), chart
    assert seen.complaints == []


@pytest.mark.parametrize("name", ["objective", "output", "hostile"])
def test_a_phone_shows_the_page_without_scrolling_sideways(pages, name):
    seen = visit_without_policy(pages(name), "phone")
    assert seen.measured["inner"] == 390
    assert seen.measured["wide"] <= 390


def test_page_and_charts_follow_light_and_dark(pages):
    light, dark = (visit_without_policy(pages("output"), dark=dark).measured for dark in (False, True))
    assert (light["background"], light["ink"]) == ("rgb(251, 250, 247)", "rgb(28, 36, 48)")
    assert (dark["background"], dark["ink"]) == ("rgb(21, 24, 29)", "rgb(232, 230, 225)")


@pytest.mark.parametrize("look", [visit, visit_without_policy], ids=["as it is", "without its policy"])
def test_hostile_names_stay_text(pages, look):
    seen = look(pages("hostile"))
    assert seen.complaints == []
    assert not seen.intruded
    assert "<img" not in seen.dom.replace("&lt;img", "")
    assert "<svg" in seen.drawn("weights")
    # A name that would be an expression is written out on the axis, not evaluated.
    assert HOSTILE["expression"] in seen.drawn("weights").replace("&quot;", '"')
