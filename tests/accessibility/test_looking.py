"""What looks at pages finds the faults that were planted in one, and none in a page without them."""

import pytest

from browser import needs_browser
from devtools import browser_window, faults, needs_axe

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
STYLE</style></head><body><main><h1>A page</h1>BODY</main></body></html>"""

GOOD = ("", '<p>Words.</p><p><a href="#top">A link</a></p>')
BAD = {
    "color-contrast": ("p { color: #bbb; background: #fff; }", "<p>Faint words.</p>"),
    "image-alt": ("", '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width="9" height="9">'),
    "wider than the window": ("", '<div style="width: 700px">Too wide for a phone.</div>'),
    "focus not seen": ("a:focus { outline: none; }", '<p><a href="#top">A link</a></p>'),
}


@pytest.fixture(scope="module")
def window():
    with browser_window() as found:
        yield found


def written(folder, style, body):
    page = folder / "page.html"
    page.write_text(PAGE.replace("STYLE", style).replace("BODY", body), encoding="utf-8")
    return page


@needs_browser
@needs_axe
@pytest.mark.parametrize("fault", BAD)
def test_a_planted_fault_is_found(fault, window, tmp_path):
    assert fault in str(faults(window, written(tmp_path, *BAD[fault])))


@needs_browser
@needs_axe
def test_nothing_is_found_where_nothing_is_wrong(window, tmp_path):
    assert faults(window, written(tmp_path, *GOOD)) == {}
