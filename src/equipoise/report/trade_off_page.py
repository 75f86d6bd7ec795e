"""The page of the trade-off: error bounds over alpha and epsilon, from public facts alone; self-contained."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.charts import altair, runtime, specification
from equipoise.report.page import document, escape, figure, folded, table
from equipoise.report.release_charts import marks

Record = Mapping[str, Any]

HEIGHT = 300
# A picture reaches so far above and below the loss of a model that says nothing.
ABOVE, BELOW = 10.0, 1e4

# For each line: the key of its numbers, its name, colour and dashes.
LINES = (
    ("privacy", "privacy error, at most", "var(--second)", [1, 0]),
    ("lemma_11", "privacy error as in Lemma 11, corrected", "var(--second)", [2, 3]),
    ("generalisation", "generalisation error, at most", "var(--edge)", [1, 0]),
    ("training_high", "training error, at most", "var(--first)", [1, 0]),
    ("training_low", "training error, at least", "var(--first)", [6, 3]),
)
GAINS = (
    ("epsilon", "certified by the curve of the noise", "var(--first)", [1, 0]),
    ("published", "as Corollary 13 prints it", "var(--muted)", [6, 3]),
)
COLUMNS = {
    "sensitivity": "sensitivity",
    "noise_deviation": "noise of a weight",
    "privacy": "privacy, at most",
    "lemma_11": "by Lemma 11, corrected",
    "generalisation": "generalisation, at most",
    "training_low": "training, at least",
    "training_high": "training, at most",
    "together": "all together, at most",
}
MEANINGS = (
    (
        "Privacy error, at most",
        "How far the loss of the released weights lies from that of the weights before noise, in the mean over the "
        "noise, rises and falls alike: the smallest of three bounds. Lemma 11 of [000] is one of them, corrected: "
        "the Lipschitz constant times the mean length of the noise (docs/proofs/J5.md).",
    ),
    (
        "Generalisation error, at most",
        "How far population and training loss lie apart before noise, in the mean over rows that are drawn "
        "independently from one distribution (docs/proofs/J1.md).",
    ),
    (
        "Training error, at most",
        "The training loss before noise above that of any weights of norm G, for every table: what the penalty costs.",
    ),
    (
        "Training error, at least",
        "The same, for some table, whatever the algorithm: one that moves by no more than the sensitivity when a row "
        "is replaced cannot follow the rows. Section 4.1 of [000] has this as an order of growth; here it is a number "
        "(docs/trade-off.md has the proof).",
    ),
)
STYLE = """
.vega-bindings { font-size: .92rem; padding: .4rem 0; } .vega-bind-name { color: var(--soft); padding-right: .4rem; }
.vega-bindings select { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line);
  padding: .15rem .4rem; }
.wide th { min-width: 4.6rem; } .wide td:first-child { min-width: 6rem; white-space: nowrap; }
"""


def trade_off_page(facts: Record, points: Sequence[Record], gains: Sequence[Record]) -> str:
    """Return the page.

    Parameters
    ----------
    facts : mapping
        With the keys loss, penalty, n_samples, n_features, epsilon, delta, alpha, norm, ceiling, mechanism, planned
        (where the plan itself puts its noise), picked (whether alpha was picked from public facts).
    points : sequence of mapping
        With the keys alpha, epsilon, sensitivity, noise_deviation, privacy, lemma_11, generalisation, training_high,
        training_low, together; a bound is None where there is none.
    gains : sequence of mapping
        With the keys alpha, sensitivity_ratio, epsilon, published.

    Examples
    --------
    >>> facts = {"loss": "logistic", "penalty": "l2", "n_samples": 100, "n_features": 2, "epsilon": 1.0, "delta": 0.0,
    ...          "alpha": 0.5, "norm": 3.0, "ceiling": 0.7, "mechanism": "laplace", "planned": "output", "picked": True}
    >>> bounds = {name: 0.1 for name, *_ in LINES} | {"together": 0.2, "sensitivity": 0.04, "noise_deviation": 0.1}
    >>> points = [{"alpha": alpha, "epsilon": 1.0, **bounds} for alpha in (0.5, 1.0)]
    >>> gains = [{"alpha": 1.0, "sensitivity_ratio": 0.5, "epsilon": 0.5, "published": 0.7}]
    >>> "no row was read" in trade_off_page(facts, points, gains)
    True
    """
    title = "The trade-off of stability, privacy and error"
    epsilon, alpha = float(facts["epsilon"]), float(facts["alpha"])
    claim = f"epsilon = {epsilon:g}, delta = {float(facts['delta']):g}"
    lead = (
        f"A linear model with the {facts['loss']} loss and penalty {facts['penalty']}, {facts['n_samples']:,} rows, "
        f"{facts['n_features']:,} columns, {claim}, noise on the weights ({facts['mechanism']})."
    )
    charts = {
        "over-alpha": over(points, "alpha", "epsilon", (alpha, epsilon), float(facts["ceiling"])),
        "over-epsilon": over(points, "epsilon", "alpha", (epsilon, alpha), float(facts["ceiling"])),
        "gain": gain_chart(gains, alpha, epsilon),
    }
    meanings = "".join(f"<h3>{escape(name)}</h3><p>{escape(words)}</p>" for name, words in MEANINGS)
    body = f"""<h1>{escape(title)}</h1><p class="soft">{escape(lead)}</p>
<p class="notice">{escape(_notice(facts))}</p>
<h2>Over the penalty</h2>
{figure("over-alpha", "Error bounds over alpha; the table has the numbers.", _over_alpha_words(facts))}
<h2>Over the budget</h2>
{figure("over-epsilon", "Error bounds over epsilon; the table has the numbers.", OVER_EPSILON_WORDS)}
<h2>What more stability is worth at the same noise</h2>
{figure("gain", "Epsilon over alpha at the noise of the plan.", GAIN_WORDS)}
<h2>What the lines mean</h2>{meanings}
<h2>The numbers</h2>{_numbers(facts, points, gains)}"""
    return document(title, body, {name: specification(chart) for name, chart in charts.items()}, runtime(), STYLE)


def _notice(facts: Record) -> str:
    words = (
        "Everything here follows from public facts: no row was read. These are bounds for all data of the domain: what "
        "is at most so much is far less for most tables. They play no part in the privacy claim."
    )
    if facts["planned"] != "output":
        words += (
            f" The plan itself puts its noise elsewhere ({facts['planned']}); this page is about noise on the weights, "
            "of which these bounds speak."
        )
    return words


def _over_alpha_words(facts: Record) -> str:
    picked = "picked from public facts" if facts["picked"] else "asked for"
    return (
        f"The vertical line is the plan's alpha, {float(facts['alpha']):.4g}, {picked}. A larger alpha makes the model "
        "more stable: noise and chance count less, and the training error grows. The horizontal line is the loss of a "
        "model that says nothing; bounds above it have no meaning. Training errors are measured against weights of "
        f"norm G = {float(facts['norm']):.4g}. Choose another epsilon below the picture."
    )


OVER_EPSILON_WORDS = (
    "Only the privacy error follows epsilon: what sampling and the penalty cost is paid without privacy as well. "
    "Where its line falls below the others, a larger budget buys little. Choose another alpha below the picture."
)
GAIN_WORDS = (
    "The noise stays that of the plan. At a larger alpha the model moves less, and the same noise is worth a smaller "
    "epsilon: for delta = 0 by the whole ratio of the sensitivities, where Corollary 13 of [000] prints its root. The "
    "corollary is about more stability, to the right of the vertical line; to its left the same noise hides less."
)


def _named(
    records: Sequence[Record], lines: Sequence[tuple[str, str, str, list[int]]]
) -> list[tuple[Record, str, str]]:
    """Return the records with every line that has a positive number there."""
    return [(record, key, name) for record in records for key, name, *_ in lines if (record[key] or 0.0) > 0]


def _encoding(alt: Any, lines: Sequence[tuple[str, str, str, list[int]]], shown: set[str]) -> dict[str, Any]:
    kept = [line for line in lines if line[1] in shown]
    names = [name for _, name, _, _ in kept]
    legend = alt.Legend(title=None, orient="top", columns=1, symbolType="stroke", symbolSize=260, symbolStrokeWidth=2.4)
    return {
        "color": alt.Color("line:N", scale=alt.Scale(domain=names, range=[ink for *_, ink, _ in kept]), legend=legend),
        "strokeDash": alt.StrokeDash(
            "line:N", scale=alt.Scale(domain=names, range=[dash for *_, dash in kept]), legend=legend
        ),
    }


def over(points: Sequence[Record], across: str, chosen: str, plan: tuple[float, float], ceiling: float) -> Any:
    """Return every bound over `across`, for one value of `chosen`, which a list below the chart changes.

    `plan` has the plan's values of both; `ceiling` is a level above which an error has no meaning.
    """
    alt = altair()
    found = _named(points, LINES)
    values = [
        {"place": record[across], "group": f"{record[chosen]:.4g}", "bound": record[key], "line": name}
        for record, key, name in found
    ]
    places, bounds = [value["place"] for value in values], [value["bound"] for value in values]
    low, high = max(min(bounds), ceiling / BELOW), min(max(*bounds, 1.2 * ceiling), ABOVE * ceiling)
    horizontal = alt.X(
        "place:Q",
        title=across,
        scale=alt.Scale(type="log", domain=[min(places), max(places)], nice=False),
        axis=alt.Axis(values=marks(min(places), max(places)), format="~g", grid=False, labelFlush=False),
    )
    vertical = alt.Y(
        "bound:Q",
        title="loss",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=marks(low, high), format="~g"),
    )
    groups = list(dict.fromkeys(f"{value:.4g}" for value in sorted({record[chosen] for record in points})))
    at = alt.param(name="at", value=f"{plan[1]:.4g}", bind=alt.binding_select(options=groups, name=f"{chosen} "))
    tooltip = [
        alt.Tooltip("line:N", title="what"),
        alt.Tooltip("bound:Q", title="loss", format=".4g"),
        alt.Tooltip("place:Q", title=across, format=".4g"),
        alt.Tooltip("group:N", title=chosen),
    ]
    encoding = _encoding(alt, LINES, {name for _, _, name in found})
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2.2, clip=True)
        .encode(x=horizontal, y=vertical, tooltip=tooltip, **encoding)
        .transform_filter("datum.group == at")
        .add_params(at)
    )
    rules = [
        _rule(alt, {"place": plan[0]}, "soft").encode(x=horizontal),
        _rule(alt, {"bound": ceiling}, "muted").encode(y=vertical),
    ]
    return _responsive(alt.layer(*rules, lines), f"Bounds on error over {across}.")


def gain_chart(gains: Sequence[Record], alpha: float, epsilon: float) -> Any:
    """Return what the noise of the plan is worth over alpha: certified, and as printed."""
    alt = altair()
    found = _named(gains, GAINS)
    values = [{"place": record["alpha"], "worth": record[key], "line": name} for record, key, name in found]
    places, worths = [value["place"] for value in values], [value["worth"] for value in values]
    horizontal = alt.X(
        "place:Q",
        title="alpha",
        scale=alt.Scale(type="log", domain=[min(places), max(places)], nice=False),
        axis=alt.Axis(values=marks(min(places), max(places)), format="~g", grid=False, labelFlush=False),
    )
    vertical = alt.Y(
        "worth:Q",
        title="epsilon of the plan's noise",
        scale=alt.Scale(type="log", domain=[min(worths), max(worths)], nice=False),
        axis=alt.Axis(values=marks(min(worths), max(worths)), format="~g"),
    )
    tooltip = [
        alt.Tooltip("line:N", title="what"),
        alt.Tooltip("worth:Q", title="epsilon", format=".4g"),
        alt.Tooltip("place:Q", title="alpha", format=".4g"),
    ]
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2.2)
        .encode(x=horizontal, y=vertical, tooltip=tooltip, **_encoding(alt, GAINS, {name for _, _, name in found}))
    )
    rules = [
        _rule(alt, {"place": alpha}, "soft").encode(x=horizontal),
        _rule(alt, {"worth": epsilon}, "muted").encode(y=vertical),
    ]
    return _responsive(alt.layer(*rules, lines), "What the plan's noise is worth over alpha.")


def _rule(alt: Any, record: Record, style: str) -> Any:
    return alt.Chart(alt.Data(values=[dict(record)])).mark_rule(style=style, strokeDash=[5, 4], strokeWidth=1.4)


def _responsive(chart: Any, description: str) -> Any:
    # The width is that of the place on the page, whatever the screen.
    return chart.properties(
        width="container", height=HEIGHT, description=description, autosize={"type": "fit-x", "contains": "padding"}
    )


def _numbers(facts: Record, points: Sequence[Record], gains: Sequence[Record]) -> str:
    """Return the tables: over alpha at the plan's epsilon, and over epsilon at the plan's alpha."""
    worth = {float(gain["alpha"]): f"{float(gain['epsilon']):.4g}" for gain in gains}
    over_alpha = [point for point in points if point["epsilon"] == facts["epsilon"]]
    over_epsilon = [point for point in points if point["alpha"] == facts["alpha"]]
    cells = [[*_cells(point, "alpha"), worth.get(float(point["alpha"]), "-")] for point in over_alpha]
    note = (
        "All together: the population risk of the release above that of weights of norm G, in the mean "
        "(J4.linear.mean). It can be below the privacy error, which counts rises and falls alike: in the mean they "
        "cancel to first order."
    )
    first = table(["alpha", *COLUMNS.values(), "epsilon at the plan's noise"], cells, note)
    second = table(["epsilon", *COLUMNS.values()], [_cells(point, "epsilon") for point in over_epsilon])
    return folded(f"over alpha, at epsilon = {float(facts['epsilon']):g}", first, opened=True) + folded(
        f"over epsilon, at alpha = {float(facts['alpha']):.4g}", second
    )


def _cells(point: Record, place: str) -> list[str]:
    keys = (place, *COLUMNS)
    return ["no bound" if point[key] is None else f"{float(point[key]):.4g}" for key in keys]
