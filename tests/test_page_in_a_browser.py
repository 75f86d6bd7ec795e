"""Pages, opened in a real browser with the network cut off."""

import pytest

from browser import PHONE, Outline, measure, needs_browser, visit
from sample_releases import HOSTILE, hostile_page, page_of_sample, releases

pytestmark = needs_browser

CHARTS = {"curve", "over-epsilon", "over-alpha", "weights"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return a function that writes the page of a release once, and returns where it lies."""
    folder = tmp_path_factory.mktemp("pages")

    def written(name):
        page = folder / f"{name.replace(' ', '-')}.html"
        if not page.exists():
            page.write_text(hostile_page() if name == "hostile" else page_of_sample(name), encoding="utf-8")
        return page

    return written


@pytest.mark.parametrize("name", sorted(releases()))
def test_every_chart_of_a_release_is_drawn_without_errors_or_outside_requests(pages, name):
    seen = visit(pages(name))
    for chart in CHARTS:
        assert "<svg" in seen.drawn(chart), chart
    assert seen.complaints == []


@pytest.mark.parametrize("name", ["objective", "several classes", "hostile"])
def test_a_phone_shows_the_whole_page_without_scrolling_sideways(pages, name):
    seen = measure(pages(name), PHONE)
    assert seen.complaints == []
    assert seen.measured["requests"] == []
    assert seen.measured["inner"] == PHONE
    assert seen.measured["wide"] <= PHONE
    assert set(seen.measured["drawn"]) >= CHARTS
    assert seen.measured["widest"] <= PHONE


def test_page_and_charts_follow_light_and_dark(pages):
    light, dark = (measure(pages("output"), dark=dark).measured for dark in (False, True))
    assert (light["background"], light["ink"]) == ("rgb(251, 250, 247)", "rgb(28, 36, 48)")
    assert (dark["background"], dark["ink"]) == ("rgb(21, 24, 29)", "rgb(232, 230, 225)")


def test_hostile_names_stay_text(pages):
    seen = visit(pages("hostile"))
    assert seen.complaints == []
    assert not {"img", "link"} & {
        tag for tag, attributes in Outline(seen.dom).elements if attributes.get("href") != "data:,"
    }
    # A name that would be an expression is written out on the axis, not evaluated.
    assert HOSTILE["expression"] in seen.drawn("weights")


def test_hostile_names_stay_text_even_without_the_security_policy(pages):
    seen = measure(pages("hostile"))
    assert seen.complaints == []
    assert seen.measured["intruded"] is False
    assert seen.measured["requests"] == []
    assert set(seen.measured["drawn"]) == CHARTS
