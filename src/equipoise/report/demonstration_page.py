"""The page of `equipoise demo`: a model, its curve over epsilon, what an attacker gains, a certificate in ten lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.report.page import document, escape, figure, folded, paragraph, table
from equipoise.report.runtime import runtime
from equipoise.report.vega import Record, layer, logarithmic, quantity, responsive, rule, word
from equipoise.wording import percent

# By it a page that an earlier demonstration wrote is known.
TITLE = "Equipoise: What privacy costs, and what it buys"

STYLE = """
.tiles, .panels, .images { display: grid; gap: .6rem 1.6rem; margin: 1.2rem 0; }
.tiles { grid-template-columns: repeat(auto-fit, minmax(min(100%, 13rem), 1fr)); gap: .6rem; }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; }
.tiles dd { margin: 0; font-size: 1.7rem; font-weight: 650; } .tiles dt { color: var(--soft); font-size: .92rem; }
.tiles div { display: flex; flex-direction: column-reverse; justify-content: flex-end; }
.panels { grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
.images { grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); }
.panels figure, .images figure { margin: 0; } .panels h3, .images h3 { margin: .2rem 0 .4rem; }
.certificate { counter-reset: line; list-style: none; padding: .8rem 1rem; margin: 1rem 0; max-width: 60rem;
  background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--first); border-radius: 6px; }
.certificate li { counter-increment: line; display: grid; grid-template-columns: 1.8rem 9.5rem 1fr; max-width: none;
  padding: .16rem 0; }
.certificate li::before { content: counter(line); color: var(--soft); font-variant-numeric: tabular-nums; }
.certificate span { color: var(--soft); } .certificate div { min-width: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { .certificate li { grid-template-columns: 1.8rem 1fr; }
  .certificate div { grid-column: 2; } th { overflow-wrap: break-word; } }
"""

Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Portrait:
    """The weights of one model of images, row by row, and what is written above and below them."""

    name: str
    words: str
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What the page shows, as plain values.

    Parameters
    ----------
    notice : str
        What these models are not for.
    repetitions : int
        Random splits of each dataset.
    cells : sequence of dict
        With the keys dataset, score, epsilon, private, low, high, plain, guess, found (the largest rate of true
        positives at one per cent of false ones).
    portraits : sequence of Portrait
        One model of images without privacy, then with more and more of it.
    signs : tuple of str
        What a positive weight speaks for, and a negative one.
    certificate : sequence of (str, str)
        Ten lines of a plan, each a name and what is claimed.
    grade : str
        Whether that plan is proved.
    numbers : str
        All cells as an HTML table.
    arguments : sequence of (str, str)
        Titles, and certificates in full.
    """

    notice: str
    repetitions: int
    cells: Sequence[Record]
    portraits: Sequence[Portrait]
    signs: tuple[str, str]
    certificate: Sequence[Line]
    grade: str
    numbers: str
    arguments: Sequence[tuple[str, str]]


def demonstration_page(shown: Demonstration) -> str:
    """Return the page as one self-contained HTML document."""
    drawn: dict[str, str] = {}
    body = "\n".join(
        (
            f"<h1>{escape(TITLE.removeprefix('Equipoise: '))}</h1>",
            paragraph(
                f"Private models on three public datasets, {shown.repetitions} random splits each, default parameters; "
                "pure differential privacy, one row replaced.",
                "soft",
            ),
            _tiles(shown),
            paragraph(shown.notice, "notice"),
            _model(shown, drawn),
            _scores(shown.cells, drawn),
            _attacker(shown.cells, drawn),
            _certificate(shown.certificate),
            "<h2>All numbers</h2>" + folded("every dataset at every epsilon", shown.numbers),
            "".join(folded(name, f'<pre tabindex="0">{escape(text)}</pre>') for name, text in shown.arguments),
            _next(),
        )
    )
    return document(TITLE, body, drawn, runtime(), STYLE)


def _number(record: Record, key: str) -> float:
    return float(str(record[key]))


def _epsilons(cells: Sequence[Record]) -> list[float]:
    return sorted({_number(cell, "epsilon") for cell in cells})


def _tiles(shown: Demonstration) -> str:
    """Return the page in four numbers: those of the model whose certificate stands below."""
    middle = _certified(shown.cells)
    entries = (
        (f"{100 * _number(middle, 'private'):.1f} %", f"right on new images at epsilon = {middle['epsilon']:g}"),
        (f"{100 * _number(middle, 'plain'):.1f} %", "right without any privacy"),
        (percent(_number(middle, "guess")), "right guesses of the best attacker, at most; a coin has 50 %"),
        (shown.grade, "is that bound, before a row was read, if nobody can repeat the noise: here it is seeded"),
    )
    tiles = "".join(f"<div><dt>{escape(words)}</dt><dd>{escape(value)}</dd></div>" for value, words in entries)
    return f'<dl class="tiles">{tiles}</dl>'


def _certified(cells: Sequence[Record]) -> Record:
    """Return the cell of images whose epsilon is nearest to 1."""
    images = [cell for cell in cells if str(cell["dataset"]).startswith("digits")]
    return min(images, key=lambda cell: abs(_number(cell, "epsilon") - 1))


def _model(shown: Demonstration, drawn: dict[str, str]) -> str:
    places = []
    for number, portrait in enumerate(shown.portraits):
        name = f"model-{number}"
        drawn[name] = portrait_chart(portrait, shown.signs)
        described = f"Weights of a model {portrait.name}, one square a pixel. {portrait.words}"
        places.append(f"<div><h3>{escape(portrait.name)}</h3>{figure(name, described, portrait.words)}</div>")
    words = (
        "Is this scanned digit a three or a five? The model has one weight for each of the 64 pixels, so it can be "
        f"looked at. Blue squares speak {shown.signs[0]}, orange ones {shown.signs[1]}; the fainter, the less. What "
        "one person's image adds to such a picture is what noise has to hide, and does from the second picture on."
    )
    return f'<h2>A model</h2>{paragraph(words)}<div class="images">{"".join(places)}</div>'


def portrait_chart(portrait: Portrait, signs: tuple[str, str]) -> str:
    """Return the weights of a model of images as squares: the colour is the sign, the strength the size."""
    largest = max(abs(weight) for line in portrait.weights for weight in line) or 1.0
    rows: list[Record] = [
        {"row": row, "column": column, "weight": weight, "size": abs(weight) / largest, "sign": signs[weight < 0]}
        for row, line in enumerate(portrait.weights)
        for column, weight in enumerate(line)
    ]
    encoding = {
        "x": {"field": "column", "type": "ordinal", "axis": None},
        "y": {"field": "row", "type": "ordinal", "axis": None},
        "opacity": quantity("size", scale={"domain": [0, 1], "range": [0.03, 1]}, legend=None),
        "color": word("sign", scale={"domain": list(signs)}, legend=None),
        "tooltip": [quantity("weight", format=".3g"), word("sign", title="speaks")],
    }
    return responsive([layer({"type": "rect"}, encoding, rows)], f"Weights {portrait.name}.", height=150, width=150)


def _scores(cells: Sequence[Record], drawn: dict[str, str]) -> str:
    panels = []
    for number, dataset in enumerate(dict.fromkeys(str(cell["dataset"]) for cell in cells)):
        own = [cell for cell in cells if cell["dataset"] == dataset]
        name, score = f"scores-{number}", str(own[0]["score"])
        drawn[name] = score_chart(own)
        first, last = own[0], own[-1]
        caption = (
            f"Without privacy {_number(first, 'plain'):.3f}. From {_number(first, 'private'):.3f} at epsilon = "
            f"{first['epsilon']:g} to {_number(last, 'private'):.3f} at {last['epsilon']:g}."
        )
        place = figure(name, f"{score} on {dataset} over epsilon. {caption}", caption)
        panels.append(f"<div><h3>{escape(dataset)}: {escape(score)}</h3>{place}</div>")
    words = (
        "Less privacy to the right. Solid: the private model, mean over the splits; band: four splits in five. Dashed: "
        "scikit-learn without privacy, hardly regularised. Scores below -1 are drawn at -1."
    )
    return f'<h2>Its curve over epsilon</h2>{paragraph(words)}<div class="panels">{"".join(panels)}</div>'


def _over_epsilon(epsilons: Sequence[float]) -> dict[str, Any]:
    axis = {"grid": False, "values": list(epsilons), "format": "~g", "labelFlush": False}
    return quantity("epsilon", title="epsilon", scale=logarithmic(epsilons[0], epsilons[-1]), axis=axis)


def score_chart(cells: Sequence[Record]) -> str:
    """Return the score of one dataset over epsilon with its spread, and the score without privacy as a dashed line."""
    # A noisy regression can score far below zero; the picture stops at -1 and the table tells the rest.
    shown: list[Record] = [
        {**cell, **{key: max(-1.0, _number(cell, key)) for key in ("private", "low", "high")}} for cell in cells
    ]
    horizontal = _over_epsilon(_epsilons(cells))
    vertical = {"title": None, "scale": {"zero": False}, "axis": {"tickCount": 5}}
    place = {"x": horizontal, "y": quantity("private", **vertical)}
    tooltip = [
        quantity("epsilon", format="~g"),
        quantity("private", title="private", format=".3f"),
        quantity("plain", title="without privacy", format=".3f"),
    ]
    band = {"x": horizontal, "y": quantity("low", **vertical), "y2": {"field": "high"}}
    plain = {"x": horizontal, "y": quantity("plain", **vertical)}
    layers = [
        layer({"type": "area", "style": "first", "opacity": 0.18}, band, shown),
        layer({"type": "line", "style": "second", "strokeDash": [6, 4], "strokeWidth": 1.6}, plain, shown),
        layer({"type": "line", "style": "first", "strokeWidth": 2.2}, place, shown),
        layer(
            {"type": "point", "style": "first", "filled": True, "size": 55, "opacity": 1},
            place | {"tooltip": tooltip},
            shown,
        ),
    ]
    return responsive(layers, "Test score over epsilon.", height=210)


def _attacker(cells: Sequence[Record], drawn: dict[str, str]) -> str:
    by_epsilon = {_number(cell, "epsilon"): cell for cell in cells}
    marked = [by_epsilon[epsilon] for epsilon in sorted(by_epsilon)]
    drawn["guesses"] = guess_chart(marked)
    words = (
        "An attacker knows two rows, one of which was in the table, and every other row that was in it; sees the "
        "model; and names one of the two. However clever the method, it is right no more often than this. The number "
        "follows from the certificate alone (N7): no attack was run, and none that anybody invents later does better."
    )
    rows = [
        (f"{cell['epsilon']:g}", percent(_number(cell, "guess")), percent(_number(cell, "found"))) for cell in marked
    ]
    numbers = table(("epsilon", "right guesses", "found, at 1 % false alarms"), rows, caption="At most")
    caption = "Right guesses over epsilon, at most; dashed: tossing a coin."
    told = "; ".join(f"{guess} at epsilon {epsilon}" for epsilon, guess, _ in rows)
    place = figure("guesses", f"The largest share of right guesses over epsilon: {told}.", caption)
    return f'<h2>What an attacker gains</h2>{paragraph(words)}<div class="panels">{place}{numbers}</div>'


def guess_chart(cells: Sequence[Record]) -> str:
    """Return the largest share of right guesses over epsilon, beside a coin's."""
    horizontal = _over_epsilon(_epsilons(cells))
    axis = {"values": [0.5, 0.6, 0.7, 0.8, 0.9, 1], "format": "%"}
    vertical = quantity("guess", title=None, scale={"domain": [0.45, 1.02], "nice": False}, axis=axis)
    place = {"x": horizontal, "y": vertical}
    tooltip = [quantity("epsilon", format="~g"), quantity("guess", title="right, at most", format=".1%")]
    layers = [
        layer(rule("soft"), {"y": vertical}, [{"guess": 0.5}]),
        layer({"type": "line", "style": "second", "strokeWidth": 2.2}, place, cells),
        layer(
            {"type": "point", "style": "second", "filled": True, "size": 60, "opacity": 1},
            place | {"tooltip": tooltip},
            cells,
        ),
    ]
    return responsive(layers, "Right guesses over epsilon.", height=230)


def _certificate(lines: Sequence[Line]) -> str:
    items = "".join(f"<li><span>{escape(name)}</span><div>{escape(words)}</div></li>" for name, words in lines)
    words = (
        "This is what a release of that model hands over beside its weights, with noise from the operating system in "
        "place of the seed. It is fixed before a row is read, and whoever receives it checks it by arithmetic alone: "
        "without the rows, and with equipoise-verify, which is small, in place of this program."
    )
    return f'<h2>The certificate in ten lines</h2>{paragraph(words)}<ol class="certificate">{items}</ol>'


NEXT = """equipoise example                            # a table of made-up people, and what is publicly known of it
equipoise ledger create people --epsilon 3   # one budget for one table
equipoise train people.csv --schema people.toml --epsilon 1 --ledger people --out release
equipoise verify release                     # what whoever receives it runs"""


def _next() -> str:
    return f'<h2>Now a release of your own</h2><pre tabindex="0">{escape(NEXT)}</pre>'
