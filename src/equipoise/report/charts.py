"""What pages need of the library that makes their charts."""

from typing import Any

from equipoise.errors import MissingExtra


def altair() -> Any:
    """Return the Altair module, or say how to install it."""
    try:
        import altair
        import vl_convert  # noqa: F401 - saves static images and inlines the interactive ones
    except ImportError as error:
        raise MissingExtra.of("a chart", error) from None
    return altair


def specification(chart: Any) -> str:
    """Return the chart's Vega-Lite specification as JSON text."""
    text: str = chart.to_json(indent=None)
    return text
