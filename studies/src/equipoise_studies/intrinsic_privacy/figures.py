"""The paper's figures from what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.lab.variability import Distances
from equipoise_studies.study_charts import lines, paths
from equipoise_studies.study_page import Figure

Array = NDArray[np.float64]
BINS = 50
WAYS = {"data": "another row (data)", "seed": "another seed", "both": "both"}


def shares(values: Array, edges: Array, ink: str, dash: str) -> list[dict[str, object]]:
    """Return the steps of a histogram as records: the share of the values in each bin.

    Examples
    --------
    >>> [record["y"] for record in shares(np.array([1.0, 1.5, 2.5]), np.array([1.0, 2.0, 3.0]), "a", "b")]
    [0.6667, 0.3333, 0.0]
    """
    heights = np.histogram(values, edges)[0] / len(values)
    ends = [*heights.round(4).tolist(), 0.0]
    return [
        {"x": float(f"{edge:.5g}"), "y": height, "ink": ink, "dash": dash}
        for edge, height in zip(edges.tolist(), ends, strict=True)
    ]


def log_edges(values: Sequence[Array]) -> Array:
    """Return the edges of bins of equal width on a logarithmic axis that hold the values above a hundred-thousandth."""
    high = max(float(each.max()) for each in values)
    low = min(float(np.quantile(each[each > 0], 0.001)) for each in values if (each > 0).any())
    return np.geomspace(max(low, high * 1e-5), high * 1.0001, BINS + 1)


def distance_figure(name: str, heading: str, laws: Mapping[str, Distances], bound: float | None) -> Figure:
    """Return Figure 2 or 6 for a data source: how far apart runs lie that differ in data, seed or both."""
    found = {(way, start): getattr(law, way).distances for start, law in laws.items() for way in WAYS}
    edges = log_edges(list(found.values()))
    records = [
        record
        for (way, start), values in found.items()
        for record in shares(values, edges, WAYS[way], f"{start} start")
    ]
    rules = [] if bound is None else [(bound, "bound for one row")]
    chart = lines(
        records, x="distance between two runs' weights", y="share of pairs", logarithmic=True, rules=rules, steps=True
    )
    description = (
        "Distances between the weights of pairs of runs, each line adding up to 1. Click a name to single it out."
    )
    return Figure(name, heading, description, chart)


def epsilon_figure(name: str, heading: str, epsilons: Array) -> Figure:
    """Return Figure 4, 7 or 8 for a data source: the law of the pairwise epsilon."""
    edges = np.linspace(0, float(epsilons.max()) * 1.0001, BINS + 1)
    largest = float(epsilons.max())
    chart = lines(
        shares(epsilons, edges, "pairs of datasets", "all"),
        x="pairwise epsilon",
        y="share of pairs",
        rules=[(largest, f"largest {largest:.3g}")],
        steps=True,
    )
    description = f"Median {np.median(epsilons):.3g}, largest {largest:.3g}, over pairs of datasets and seeds."
    return Figure(name, heading, description, chart)


def p_value_figure(p_values: Array, level: float, corrected: float) -> Figure:
    """Return Figure 3: the law of the Shapiro-Wilk p-values."""
    found = p_values[np.isfinite(p_values)]
    edges = np.geomspace(min(corrected / 10, max(float(found.min()), 1e-12)), 1.0, BINS + 1)
    records = shares(np.clip(found, edges[0], 1.0), edges, "weights", "all")
    rules = [(corrected, f"{level:g} / weights"), (level, f"{level:g}")]
    chart = lines(records, x="p-value (Shapiro-Wilk)", y="share of tests", logarithmic=True, rules=rules, steps=True)
    description = (
        f"{(found < level).mean():.1%} of {len(found)} tests lie below {level:g}, "
        f"{(found < corrected).mean():.2%} below the corrected threshold."
    )
    return Figure("figure-3", "MNIST-binary", description, chart)


def path_figure(trace: NDArray[np.float32], steps: Sequence[int], weights: tuple[int, int], heading: str) -> Figure:
    """Return Figure 1: the paths of some seeds in two weights, from one start, on one dataset."""
    first, second = (trace[:, :, 0, weight] for weight in weights)
    records = [
        {
            "run": f"seed {run}",
            "step": step,
            "x": round(float(first[run, at]), 4),
            "y": round(float(second[run, at]), 4),
        }
        for run in range(len(trace))
        for at, step in enumerate(steps)
    ]
    chart = paths(records, x=f"weight {weights[0]}", y=f"weight {weights[1]}")
    description = (
        f"{len(trace)} seeds from one start on one dataset, ending at the dots. Only the order of rows differs."
    )
    return Figure("figure-1", heading, description, chart)


def utility_figure(name: str, heading: str, records: Sequence[Mapping[str, object]]) -> Figure:
    """Return Figure 5 or 9 for a data source: accuracy over epsilon."""
    chart = lines(records, x="epsilon", y="test accuracy", logarithmic=True, floor=False)
    description = (
        "Mean test accuracy over runs. Solid: with the theoretical bound; dashed: with the empirical sensitivity."
    )
    return Figure(name, heading, description, chart)


def gradient_figure(
    name: str, heading: str, steps: Sequence[int], largest: Sequence[float], median: Sequence[float], lipschitz: float
) -> Figure:
    """Return the gradient norms along training, beside the Lipschitz constant that the bound takes for every step."""
    records = [
        {"x": step, "y": value, "ink": ink, "dash": "all"}
        for ink, values in (("median over seeds", median), ("largest", largest))
        for step, value in zip(steps, values, strict=True)
    ] + [{"x": step, "y": lipschitz, "ink": "Lipschitz constant", "dash": "all"} for step in (steps[0], steps[-1])]
    chart = lines(records, x="step", y="norm of the average gradient", logarithmic=True)
    return Figure(name, heading, f"The bound takes {lipschitz:.3g} for every gradient.", chart)
