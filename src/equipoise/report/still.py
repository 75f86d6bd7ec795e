"""A chart as a still picture: SVG without any script, for what is printed or must not run anything."""

import json

from equipoise.errors import MissingExtra
from equipoise.report.page import THEME

# Letters are measured here by another font than the reader's may be: names on an axis get some room to be wider.
SPARE = {"left": 28, "right": 12, "top": 5, "bottom": 5}


def still(specification: str, width: int = 300, height: int | None = None) -> str:
    """Return a chart as SVG that stands in a page; its colours are the style sheet's, and it scales with its place.

    Parameters
    ----------
    specification : str
        As `equipoise.report.vega.responsive` returns it.
    width, height : int
        Of what the axes enclose, in pixels; without a height its own.

    Examples
    --------
    >>> from equipoise.report.vega import layer, quantity, responsive
    >>> picture = still(responsive([layer({"type": "point"}, {"x": quantity("a")}, [{"a": 1.0}])], "A point."))
    >>> picture.startswith("<svg "), "<script" in picture
    (True, False)
    """
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtra.of("a chart", error) from None
    chart = json.loads(specification)
    chart |= {"width": width, "autosize": {"type": "pad"}, "padding": SPARE}
    chart |= {} if height is None else {"height": height}
    drawn: str = vl_convert.vegalite_to_svg(chart, config=THEME)
    return drawn
