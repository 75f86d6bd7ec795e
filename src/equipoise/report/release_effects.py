"""The curves of an additive model on its page: what each column of numbers adds, with a band for the noise."""

from equipoise.report import release_charts
from equipoise.report.page import figure, number, paragraph
from equipoise.report.release_record import Effect, ReleaseRecord
from equipoise.report.vega import Record

# As many curves are drawn, and as many letters of a column's name stand on an axis.
MOST_CURVES, LONGEST_NAME = 24, 32


def effects_section(record: ReleaseRecord, drawn: dict[str, str]) -> str:
    """Return the curves of an additive model, the largest first; nothing where there are none."""
    if not record.effects:
        return ""
    columns: dict[str, list[Effect]] = {}
    for effect in record.effects:
        columns.setdefault(effect.column, []).append(effect)
    ranked = sorted(columns, key=lambda name: -max(_swing(effect) for effect in columns[name]))
    said = "effect on the score" if record.classes else f"effect on {record.target}"
    pictures = []
    for place, name in enumerate(ranked[:MOST_CURVES]):
        rows: list[Record] = []
        for effect in columns[name]:
            for point in effect.points:
                width = None if point.deviation is None else 2 * point.deviation
                low, high = (None, None) if width is None else (point.value - width, point.value + width)
                rows.append(
                    {"place": point.place, "value": point.value, "output": effect.output, "low": low, "high": high}
                )
        label = " ".join(name.split())[:LONGEST_NAME] or "(no name)"
        drawn[f"effect-{place}"] = release_charts.effect_curve(rows, label, said)
        swing = max(_swing(effect) for effect in columns[name])
        words = f"{label}: from its lowest to its highest point the effect changes by {number(swing)}."
        pictures.append(figure(f"effect-{place}", words, words))
    known = any(point.deviation is not None for effect in record.effects for point in effect.points)
    band = (
        "no band is drawn, since how much of the noise is left in a weight depends on the private rows, and for this "
        "kind of release no public fact bounds it (it does for noise in the objective or on finished weights)"
    )
    if known and all(len(effects) > 1 for effects in columns.values()):
        band = "no band is drawn where there are several lines; the weights below have theirs"
    elif known:
        most = "the noise in it" if record.noise_exact else "the most noise there can be in it, of the mean weight"
        band = f"the band reaches two standard deviations of {most} to either side"
        if not record.noise_exact:
            band += " (rows hold a curve against the noise, so that there is often far less; how firmly is private)"
    rest = len(ranked) - MOST_CURVES
    more = f" The {MOST_CURVES} that change most of {len(ranked):,}." if rest > 0 else ""
    together = "; of a pair of columns, what both together add to that, a line for each value of the second"
    pairs = together if any(effect.pair for effect in record.effects) else ""
    intro = (
        "What each column of numbers adds, over its public bounds, before a row is clipped: a straight line between "
        f"knots, or one bent by the root of an amount{pairs}. Largest first; {band}.{more} Effects of all columns, "
        "and the intercept, add up to what the model says."
    )
    return f'<h2>The curves</h2>{paragraph(intro)}<div class="pair">{"".join(pictures)}</div>'


def _swing(effect: Effect) -> float:
    values = [point.value for point in effect.points]
    return max(values) - min(values)
