"""Parts of Vega-Lite specifications, which all charts of pages are made of."""

import json
from collections.abc import Sequence
from typing import Any

Record = dict[str, object]


def quantity(field: str, **settings: Any) -> dict[str, Any]:
    """Return a field of numbers, with settings of its axis or scale."""
    return {"field": field, "type": "quantitative", **settings}


def word(field: str, **settings: Any) -> dict[str, Any]:
    """Return a field of names."""
    return {"field": field, "type": "nominal", **settings}


def logarithmic(low: float, high: float) -> dict[str, Any]:
    """Return a logarithmic scale between two ends."""
    return {"type": "log", "domain": [low, high], "nice": False}


def rule(style: str) -> dict[str, Any]:
    """Return a dashed line across the picture."""
    return {"type": "rule", "style": style, "strokeDash": [5, 4], "strokeWidth": 1.4}


def layer(mark: dict[str, Any], encoding: dict[str, Any], records: Sequence[Record] | None = None) -> dict[str, Any]:
    """Return one layer; without records of its own it shows those of the chart."""
    own = {} if records is None else {"data": {"values": list(records)}}
    return {"mark": mark, "encoding": encoding, **own}


def responsive(layers: list[dict[str, Any]], description: str, height: int = 260, **settings: Any) -> str:
    """Return a chart of layers as JSON; its width is that of the place on the page, whatever the screen."""
    return json.dumps(
        {
            "layer": layers,
            "width": "container",
            "height": height,
            "description": description,
            "autosize": {"type": "fit-x", "contains": "padding"},
            **settings,
        },
        sort_keys=True,
    )
