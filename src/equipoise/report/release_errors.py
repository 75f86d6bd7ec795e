"""How far off a release can be: what is certified about its error, and what is modelled, as a section of its page."""

from collections.abc import Sequence

from equipoise.report import release_charts
from equipoise.report.page import figure, folded, number, paragraph, table
from equipoise.report.release_record import ErrorPoint, ReleaseRecord
from equipoise.report.vega import Record


def errors_section(record: ReleaseRecord, drawn: dict[str, str]) -> str:
    """Return the section on the error of a release as HTML, and put its charts among those that are drawn."""
    if not record.weights:
        return ""
    errors, title = record.errors, "<h2>How far off it can be</h2>"
    if not errors.over_epsilon:
        none = "No bound on the error of this release is certified: only noise on finished weights has one."
        if errors.modelled:
            picture = f'<div class="pair">{_modelled_figure(record, drawn)}</div>'
            return title + paragraph(none) + picture + folded("the numbers", _error_tables(record))
        return title + paragraph(none)
    whose = "These bounds are certified for this release, and for the same one at another epsilon or alpha."
    meaning = _meaning(record)
    mark = f"The dashed upright marks epsilon {number(record.epsilon)}; alpha is the same everywhere."
    if errors.picked:
        mark = (
            f"The dashed upright marks epsilon {number(record.epsilon)}. At every epsilon alpha is picked anew so that "
            "the training bound is smallest; the population bound need not fall with it."
        )
    figures = [
        _bounds_figure("over-epsilon", record, drawn, errors.over_epsilon, "epsilon", record.epsilon, mark),
    ]
    if errors.over_alpha:
        mark = f"The dashed upright marks alpha {number(errors.alpha)}."
        figures.append(_bounds_figure("over-alpha", record, drawn, errors.over_alpha, "alpha", errors.alpha, mark))
    pictures = f'<div class="pair">{"".join(figures)}</div>'
    numbers = folded("the numbers", _error_tables(record))
    return f"{title}{paragraph(whose)}{paragraph(meaning, 'soft')}{pictures}{numbers}"


def _meaning(record: ReleaseRecord) -> str:
    """Return what the bounds on the error are bounds of."""
    errors, unit = record.errors, record.unit
    meaning = (
        f"Training: in the mean over the noise, the loss on the training {unit}s is at most this far above that of any "
        f"weights of norm at most {number(errors.norm)} (J6)."
    )
    if any(point.population is not None for point in errors.over_epsilon):
        meaning += (
            f" Population: the same on new {unit}s, in the mean over training {unit}s too, if they are independent "
            "draws from one distribution, which no certificate can check (J4.linear.mean)."
        )
    if record.private_bounds:
        meaning += " Rows are meant as the released bounds encode them."
    if errors.ceiling:
        meaning += (
            f" Above the dashed level, {number(errors.ceiling)}, a bound says nothing: a model that always predicts 0 "
            "loses no more."
        )
    return meaning


def _modelled_figure(record: ReleaseRecord, drawn: dict[str, str]) -> str:
    points = [{"place": place, "bound": cost, "kind": record.kind} for place, cost in record.errors.modelled]
    drawn["modelled"] = release_charts.error_bounds(points, "epsilon", "modelled cost", record.epsilon, None)
    caption = (
        f"Modelled, not certified: what {record.kind} costs on the reference problem by which ways are compared, "
        "as a share of what a model that says nothing loses."
    )
    return figure("modelled", "The modelled cost of this release's own way over epsilon.", caption)


def _bounds_figure(
    name: str,
    record: ReleaseRecord,
    drawn: dict[str, str],
    points: Sequence[ErrorPoint],
    axis: str,
    claim: float,
    caption: str,
) -> str:
    shown: list[Record] = []
    for kind in ("training", "population"):
        values = [(point.place, getattr(point, kind)) for point in points]
        shown += [{"place": place, "bound": value, "kind": kind} for place, value in values if value is not None]
    unit = "certified bound on excess loss"
    drawn[name] = release_charts.error_bounds(shown, axis, unit, claim, record.errors.ceiling)
    return figure(name, f"{unit.capitalize()} over {axis}; the numbers are in a table below.", caption)


def _error_tables(record: ReleaseRecord) -> str:
    errors, parts = record.errors, []
    shown = (("epsilon", errors.over_epsilon), ("alpha", errors.over_alpha))
    for axis, points in ((axis, points) for axis, points in shown if points):
        rows = [
            (number(point.place), number(point.training), "" if point.population is None else number(point.population))
            for point in points
        ]
        parts.append(table((axis, "training", "population"), rows, caption=f"Certified bounds over {axis}"))
    if errors.modelled:
        costs = [(number(place), number(cost)) for place, cost in errors.modelled]
        parts.append(table(("epsilon", "modelled cost"), costs, caption=f"Modelled, not certified: {record.kind}"))
    if errors.statements:
        rows = [(entry.id, number(entry.value), entry.quantity) for entry in errors.statements]
        caption = f"Every certified bound for this release, at confidence {errors.confidence:g}; proofs: docs/proofs"
        parts.append(
            table(("statement", "at most", "what is bounded"), rows, caption=caption, texts=["what is bounded"])
        )
    return "".join(parts)
