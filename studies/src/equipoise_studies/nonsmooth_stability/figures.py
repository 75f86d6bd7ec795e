"""The study's figures from what was measured."""

import math
from collections.abc import Sequence

import numpy as np

from equipoise.lab.estimate import Estimate
from equipoise_studies.nonsmooth_stability import corrected, published
from equipoise_studies.nonsmooth_stability.measure import Curve, Distances, Noise, Noisy
from equipoise_studies.study_charts import bands, lines
from equipoise_studies.study_page import Figure

THROUGHOUT = "C4's step for n passes, throughout. Bands are 95 % intervals of the mean."
EACH = "C4's step for each n. Bands are 95 % intervals of the mean."
LAST, AVERAGE = "last iterate", "average"


def _digits(value: float) -> float:
    return float(f"{value:.5g}")


def distances(found: Distances) -> Figure:
    """Return the simulated distances of a rule and its bounds over the passes."""
    records: list[dict[str, object]] = [
        {
            "x": step // found.n_samples,
            "y": _digits(found.rule.printed(found.n_samples, step)),
            "ink": "Table 1",
            "dash": LAST,
        }
        for step in found.steps
    ]
    for dash, pairs in ((LAST, found.last), (AVERAGE, found.average)):
        shown = {"C1 recursion": next(iter(pairs.values())).bound.mean(0)}
        shown |= {f"simulated, {name}": pair.simulated.mean(0) for name, pair in pairs.items()}
        for ink, values in shown.items():
            for step, value in zip(found.steps, values, strict=True):
                records.append({"x": step // found.n_samples, "y": _digits(value), "ink": ink, "dash": dash})
    chart = lines(records, x=f"steps T over rows n = {found.n_samples}", y="distance of neighbours")
    coins = ", on average over the coins" if found.rule.random else ""
    pairs_found = (*found.last.values(), *found.average.values())
    share = sum(pair.within for pair in pairs_found) / len(pairs_found)
    description = f"Step length and slopes 1{coins}. {share:.0%} of the simulated distances are within the recursion."
    return Figure(f"table-1-{found.rule.key}", found.rule.name, description, chart)


def failure() -> Figure:
    """Return the failure probability of Theorem 3.2 and what it is, over n."""
    records: list[dict[str, object]] = []
    for size in np.unique(np.geomspace(50, 30_000, 45).astype(int)).tolist():
        shown = {
            "printed, n exp(-n/2)": published.log_failure(size),
            "T = n, last iterate: at least": corrected.log_violation(size, size, averages=False),
            "T = n, average: at least": corrected.log_violation(size, size, averages=True),
            "T = n^2: at most": corrected.log_union(size, size**2),
        }
        records += [
            {"x": size, "y": _digits(value / size), "ink": ink, "dash": "all"}
            for ink, value in shown.items()
            if value > -3 * size
        ]
    chart = lines(records, x="rows n", y="log of the probability, over n", logarithmic=True, floor=False)
    description = (
        "Natural logarithms divided by n, so that exp(-n/2) is level. For T = n the bound is exceeded more often than "
        "printed where a line lies above the printed one; for T = n^2 it is exceeded less often."
    )
    return Figure("theorem-3-2", "Failure probability of Theorem 3.2", description, chart)


def _band(size: int, value: float, low: float, high: float, ink: str, dash: str) -> dict[str, object]:
    # A logarithmic axis has no place for an interval that reaches 0.
    floor = value / 10
    numbers = {"y": value, "low": max(low, floor), "high": high}
    return {"x": size, **{name: _digits(each) for name, each in numbers.items()}, "ink": ink, "dash": dash}


def _level(size: int, value: float, ink: str, dash: str) -> dict[str, object]:
    return _band(size, value, value, value, ink, dash)


def _measured(size: int, found: Estimate, dash: str) -> dict[str, object]:
    return _band(size, abs(found.value), found.low, found.high, "measured", dash)


def generalisation(curves: Sequence[Curve], shown: int) -> tuple[Figure, Figure]:
    """Return the generalisation error over the passes of one size, and after n passes over the rows."""
    over_passes, over_sizes = [], []
    for curve in curves:
        plan = curve.runs[shown].plan
        for look, updates in enumerate(plan.updates):
            passes = updates // shown
            over_passes += [
                _measured(passes, curve.gap(shown, look), curve.name),
                _level(passes, corrected.generalisation(shown, passes, plan.step), "C4", curve.name),
                _level(passes, published.generalisation(shown, passes, plan.step), "Theorem 4.1", curve.name),
            ]
        for size in curve.sizes:
            step = curve.runs[size].plan.step
            over_sizes += [
                _measured(size, curve.gap(size), curve.name),
                _level(size, corrected.generalisation(size, size, step), "C4", curve.name),
                _level(size, published.generalisation(size, size, step), "Theorem 4.1", curve.name),
            ]
    up = "expected generalisation error"
    return (
        Figure("gap-passes", f"{shown} rows", THROUGHOUT, bands(over_passes, x="passes", y=up)),
        Figure("gap-rows", "n passes", EACH, bands(over_sizes, x="rows n", y=up)),
    )


def excess(curves: Sequence[Curve], shown: int) -> tuple[Figure, Figure]:
    """Return the excess risk over the passes of one size, and after n passes over the rows."""
    over_passes, over_sizes = [], []
    for curve in curves:
        for look, updates in enumerate(curve.runs[shown].plan.updates):
            over_passes += [
                _measured(updates // shown, curve.excess(shown, look), curve.name),
                _level(updates // shown, curve.risk_bound(shown, look), "C4", curve.name),
            ]
        for size in curve.sizes:
            over_sizes += [
                _measured(size, curve.excess(size), curve.name),
                _level(size, curve.risk_bound(size), "C4", curve.name),
                _level(size, curve.populations[size].radius / math.sqrt(size), "L R / sqrt(n)", curve.name),
            ]
    up = "expected excess risk"
    return (
        Figure("excess-passes", f"{shown} rows", THROUGHOUT, bands(over_passes, x="passes", y=up)),
        Figure("excess-rows", "n passes", EACH, bands(over_sizes, x="rows n", y=up)),
    )


def noisy_risk(found: tuple[Noisy, Noisy]) -> Figure:
    """Return the excess risk of Algorithm 2 over the rows, with C4's bound."""
    records = []
    for each in found:
        for size in each.curve.sizes:
            measured, bound = each.curve.excess(size), each.curve.risk_bound(size, noise=each.noise[size])
            records.append(_band(size, measured.value, measured.low, measured.high, each.curve.name, "measured"))
            records.append(_band(size, bound, bound, bound, each.curve.name, "bound (C4)"))
    chart = bands(records, x="rows n", y="expected excess risk")
    description = "n^2 steps, (1, 1e-6)-private, 10 columns."
    return Figure("noisy-rows", "Noisy SGD on few columns", description, chart)


def noise(found: tuple[Noise, ...]) -> Figure:
    """Return how much of Theorem 5.1's noise is needed, over the budget."""
    records = [
        {
            "x": each.epsilon,
            "y": _digits(each.calibrated / each.printed),
            "ink": f"delta = {each.delta:g}",
            "dash": "all",
        }
        for each in found
    ]
    chart = lines(records, x="epsilon", y="calibrated over printed noise", logarithmic=True, floor=False)
    rows = found[0].n_samples
    description = f"{rows} rows, {rows**2} steps on one row each, drawn uniformly. Hardly different for other n."
    return Figure("theorem-5-1", "How much of the printed noise is needed", description, chart)
