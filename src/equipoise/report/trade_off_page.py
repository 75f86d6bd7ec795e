"""The page of the trade-off: error bounds over alpha and epsilon, from public facts alone; self-contained."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.charts import altair, specification
from equipoise.report.page import document, escape, figure, folded, table
from equipoise.report.release_charts import marks
from equipoise.report.runtime import runtime

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
    ("published", "by the sensitivities of [000]", "var(--muted)", [6, 3]),
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
        "noise, rises and falls alike: the smallest of the bounds that hold, of three. Where the loss is Lipschitz for "
        "all weights, Lemma 11 of [000] is one of them, corrected: the Lipschitz constant times the mean length of the "
        "noise (docs/proofs/J5.md).",
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
        (where the plan itself puts its noise), planned_alpha (the plan's own alpha), picked (whether alpha was picked
        from public facts), reasons (for the key of a line without numbers, why there are none), refused and refusal
        (at how many places of the grid nothing can be certified, and why).
    points : sequence of mapping
        With the keys alpha, epsilon, sensitivity, noise_deviation, privacy, lemma_11, generalisation, training_high,
        training_low, together; a bound is None where there is none.
    gains : sequence of mapping
        With the keys alpha, budget, sensitivity_ratio, epsilon, published.

    Examples
    --------
    >>> facts = {"loss": "logistic", "penalty": "l2", "n_samples": 100, "n_features": 2, "epsilon": 1.0, "delta": 0.0,
    ...          "alpha": 0.5, "norm": 3.0, "ceiling": 0.7, "mechanism": "laplace", "planned": "output",
    ...          "planned_alpha": 0.5, "picked": True, "reasons": {}, "refused": 0, "refusal": ""}
    >>> bounds = {name: 0.1 for name, *_ in LINES} | {"together": 0.2, "sensitivity": 0.04, "noise_deviation": 0.1}
    >>> points = [{"alpha": alpha, "epsilon": 1.0, **bounds} for alpha in (0.5, 1.0)]
    >>> gains = [{"alpha": 1.0, "budget": 1.0, "sensitivity_ratio": 0.5, "epsilon": 0.5, "published": 0.5}]
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
    ceiling = float(facts["ceiling"])
    places = {"alpha": ("epsilon", (alpha, epsilon)), "epsilon": ("alpha", (epsilon, alpha))}
    charts = {
        f"over-{across}": over(points, across, chosen, plan, ceiling) for across, (chosen, plan) in places.items()
    } | {"gain": gain_chart(gains, alpha, epsilon)}
    missing = {
        across: "".join(f"<li>{escape(words)}</li>" for words in absences(points, chosen, plan[1], facts))
        for across, (chosen, plan) in places.items()
    }
    lists = {across: f'<ul class="soft">{lines}</ul>' if lines else "" for across, lines in missing.items()}
    meanings = "".join(f"<h3>{escape(name)}</h3><p>{escape(words)}</p>" for name, words in MEANINGS)
    body = f"""<h1>{escape(title)}</h1><p class="soft">{escape(lead)}</p>
<p class="notice">{escape(_notice(facts))}</p>
<h2>Over the penalty</h2>
{figure("over-alpha", "Error bounds over alpha; the table has the numbers.", _over_alpha_words(facts))}{lists["alpha"]}
<h2>Over the budget</h2>
{figure("over-epsilon", "Error bounds over epsilon; the table has the numbers.", OVER_EPSILON_WORDS)}{lists["epsilon"]}
<h2>What more stability is worth at the same noise</h2>
{figure("gain", "Epsilon over alpha at fixed noise; the table has the numbers.", _gain_words(facts, gains))}
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
            f" The plan itself puts its noise elsewhere ({facts['planned']}) and has alpha = "
            f"{float(facts['planned_alpha']):.4g}; this page is about noise on the weights, of which these bounds "
            f"speak, and which would take alpha = {float(facts['alpha']):.4g}."
        )
    if facts["refused"]:
        words += f" At {facts['refused']} places of the grid nothing can be certified: {facts['refusal']}."
    return words


def _over_alpha_words(facts: Record) -> str:
    picked = "picked from public facts" if facts["picked"] else "asked for"
    line, own = "the plan's alpha", ""
    if facts["planned"] != "output":
        line = "the alpha that noise on the weights would take"
        own = f" The plan's own alpha is {float(facts['planned_alpha']):.4g}, for noise elsewhere ({facts['planned']})."
    return (
        f"The vertical line is {line}, {float(facts['alpha']):.4g}, {picked}.{own} A larger alpha makes the model "
        "more stable: noise and chance count less, and the training error grows. The horizontal line is the loss of a "
        "model that says nothing; bounds above it have no meaning. Training errors are measured against weights of "
        f"norm G = {float(facts['norm']):.4g}. Choose another epsilon below the picture."
    )


OVER_EPSILON_WORDS = (
    "Only the privacy error follows epsilon: what sampling and the penalty cost is paid without privacy as well. "
    "Where its line falls below the others, a larger budget buys little. Choose another alpha below the picture."
)
GAIN_WORDS = (
    "At a larger alpha the model moves less, and the same noise is worth a smaller epsilon: for delta = 0 by the whole "
    "ratio of the sensitivities, for delta > 0 by the curve of the noise. To the left of the vertical line the same "
    "noise hides less. The grey line takes the sensitivity that [000] computes, sqrt(2 beta/lambda) with stability "
    "beta and strength lambda, at both alphas, and epsilon in proportion, as for Laplace noise. Corollary 13 of [000] "
    "says sqrt(beta_2/beta_1) and is about one lambda, at which only the known stability improves: right as such a "
    "scaling, and another question than this axis asks, along which lambda changes as well. Choose another epsilon "
    "below the picture."
)


def _gain_words(facts: Record, gains: Sequence[Record]) -> str:
    line = "the plan needs" if facts["planned"] == "output" else "noise on the weights would need"
    words = f"The noise stays the one that {line} at alpha = {float(facts['alpha']):.4g}, for the chosen epsilon. "
    if any(gain["epsilon"] <= 0 for gain in gains):
        words += (
            "A line ends where this delta alone is enough and epsilon is 0, which a logarithmic axis does not have. "
        )
    return words + GAIN_WORDS


def absences(points: Sequence[Record], chosen: str, value: float, facts: Record) -> list[str]:
    """Return one sentence for every line that the picture at one value of `chosen` lacks, in whole or in part: why."""
    low, high = _limits(points, float(facts["ceiling"]))
    shown = [point for point in points if point[chosen] == value]
    found, at = [], f"At {chosen} = {value:.4g}"
    for key, name, *_ in LINES:
        numbers = [point[key] for point in shown if point[key] is not None]
        positive = [number for number in numbers if number > 0]
        if not numbers:
            why = facts["reasons"].get(key, "public facts give no bound")
            found.append(f"No line for \u201c{name}\u201d: {why}.")
        elif not positive:
            found.append(f"{at} no line for \u201c{name}\u201d: it is 0, which a logarithmic axis does not have.")
        elif all(number > high for number in positive) or all(number < low for number in positive):
            side = "above" if positive[0] > high else "below"
            found.append(f"{at} no line for \u201c{name}\u201d: it lies {side} the picture; the table has the numbers.")
        elif len(positive) < len(numbers):
            found.append(f"{at} \u201c{name}\u201d ends where it is 0, which a logarithmic axis does not have.")
        elif len(numbers) < len(shown):
            found.append(f"{at} \u201c{name}\u201d ends where public facts give no bound.")
    return found


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


def _limits(points: Sequence[Record], ceiling: float) -> tuple[float, float]:
    """Return the lowest and highest loss of a picture."""
    bounds = [record[key] for record, key, _ in _named(points, LINES)]
    return max(min(bounds), ceiling / BELOW), min(max(*bounds, 1.2 * ceiling), ABOVE * ceiling)


def _choice(alt: Any, chosen: str, values: set[float], value: float) -> Any:
    """Return the list below a chart, which sets the parameter `at` to one of the values."""
    groups = list(dict.fromkeys(f"{each:.4g}" for each in sorted(values)))
    return alt.param(name="at", value=f"{value:.4g}", bind=alt.binding_select(options=groups, name=f"{chosen} "))


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
    places = [value["place"] for value in values]
    low, high = _limits(points, ceiling)
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
    at = _choice(alt, chosen, {record[chosen] for record in points}, plan[1])
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
        _rule(alt, [{"place": plan[0]}], "soft").encode(x=horizontal),
        _rule(alt, [{"bound": ceiling}], "muted").encode(y=vertical),
    ]
    return _responsive(alt.layer(*rules, lines), f"Bounds on error over {across}.")


def gain_chart(gains: Sequence[Record], alpha: float, epsilon: float) -> Any:
    """Return what fixed noise is worth over alpha, for one budget, which a list below the chart changes."""
    alt = altair()
    found = _named(gains, GAINS)
    values = [
        {"place": record["alpha"], "group": f"{record['budget']:.4g}", "worth": record[key], "line": name}
        for record, key, name in found
    ]
    places, worths = [value["place"] for value in values], [value["worth"] for value in values]
    horizontal = alt.X(
        "place:Q",
        title="alpha",
        scale=alt.Scale(type="log", domain=[min(places), max(places)], nice=False),
        axis=alt.Axis(values=marks(min(places), max(places)), format="~g", grid=False, labelFlush=False),
    )
    vertical = alt.Y(
        "worth:Q",
        title="epsilon of the same noise",
        scale=alt.Scale(type="log", domain=[min(worths), max(worths)], nice=False),
        axis=alt.Axis(values=marks(min(worths), max(worths)), format="~g"),
    )
    tooltip = [
        alt.Tooltip("line:N", title="what"),
        alt.Tooltip("worth:Q", title="epsilon", format=".4g"),
        alt.Tooltip("place:Q", title="alpha", format=".4g"),
        alt.Tooltip("group:N", title="noise for epsilon"),
    ]
    budgets = {record["budget"] for record in gains}
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line(strokeWidth=2.2)
        .encode(x=horizontal, y=vertical, tooltip=tooltip, **_encoding(alt, GAINS, {name for _, _, name in found}))
        .transform_filter("datum.group == at")
        .add_params(_choice(alt, "epsilon", budgets, epsilon))
    )
    levels = [{"worth": budget, "group": f"{budget:.4g}"} for budget in sorted(budgets)]
    rules = [
        _rule(alt, [{"place": alpha}], "soft").encode(x=horizontal),
        _rule(alt, levels, "muted").encode(y=vertical).transform_filter("datum.group == at"),
    ]
    return _responsive(alt.layer(*rules, lines), "What fixed noise is worth over alpha.")


def _rule(alt: Any, records: Sequence[Record], style: str) -> Any:
    data = alt.Data(values=[dict(record) for record in records])
    return alt.Chart(data).mark_rule(style=style, strokeDash=[5, 4], strokeWidth=1.4)


def _responsive(chart: Any, description: str) -> Any:
    # The width is that of the place on the page, whatever the screen.
    return chart.properties(
        width="container", height=HEIGHT, description=description, autosize={"type": "fit-x", "contains": "padding"}
    )


def _numbers(facts: Record, points: Sequence[Record], gains: Sequence[Record]) -> str:
    """Return the tables: over alpha at the plan's epsilon, over epsilon at one alpha, and the gains over both."""
    over_alpha = [point for point in points if point["epsilon"] == facts["epsilon"]]
    over_epsilon = [point for point in points if point["alpha"] == facts["alpha"]]
    note = (
        "All together: the population risk of the release above that of weights of norm G, in the mean "
        "(J4.linear.mean). It can be below the privacy error, which counts rises and falls alike: in the mean they "
        "cancel to first order."
    )
    for key, why in facts["reasons"].items():
        note += f" No bound for \u201c{COLUMNS[key]}\u201d: {why}."
    first = table(["alpha", *COLUMNS.values()], [_cells(point, "alpha") for point in over_alpha], note)
    second = table(["epsilon", *COLUMNS.values()], [_cells(point, "epsilon") for point in over_epsilon])
    budgets = sorted({float(gain["budget"]) for gain in gains})
    worth = {(gain["alpha"], gain["budget"]): f"{float(gain['epsilon']):.4g}" for gain in gains}
    rows = [
        [f"{strength:.4g}", *(worth.get((strength, budget), "-") for budget in budgets)]
        for strength in sorted({gain["alpha"] for gain in gains})
    ]
    third = table(["alpha", *(f"noise for {budget:.4g}" for budget in budgets)], rows)
    alpha = f"{float(facts['alpha']):.4g}"
    return (
        folded(f"over alpha, at epsilon = {float(facts['epsilon']):g}", first, opened=True)
        + folded(f"over epsilon, at alpha = {alpha}", second)
        + folded(f"the epsilon that the noise of alpha = {alpha} is worth at another alpha", third)
    )


def _cells(point: Record, place: str) -> list[str]:
    keys = (place, *COLUMNS)
    return ["no bound" if point[key] is None else f"{float(point[key]):.4g}" for key in keys]
