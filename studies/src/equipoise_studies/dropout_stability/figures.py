"""The figures of the page from what was measured."""

from collections.abc import Mapping, Sequence

from equipoise.lab.row_removal import RemovalFinding
from equipoise_studies.dropout_stability.hidden_nodes import Learning
from equipoise_studies.dropout_stability.theory import Example, Neighbours, Risks
from equipoise_studies.study_charts import bands, lines
from equipoise_studies.study_page import Figure


def removal(name: str, heading: str, findings: Mapping[str, RemovalFinding], way: str) -> tuple[Figure, Figure]:
    """Return the pictures of one experiment: test error and marginal error over the fraction removed."""
    error, marginal = [], []
    for model, found in findings.items():
        curve = found.curves[way]
        points = [(0.0, found.baseline.value), *zip(found.fractions, (each.value for each in curve.error), strict=True)]
        error += [{"x": x, "y": round(y, 6), "ink": model, "dash": "mean"} for x, y in points]
        points = [(0.0, 0.0), *zip(found.fractions, (each.value for each in curve.marginal), strict=True)]
        marginal += [{"x": x, "y": round(y, 6), "ink": model, "dash": "mean"} for x, y in points]
    measured = next(iter(findings.values()))
    about = f"{way.capitalize()} removal, means over {measured.repetitions} repetitions."
    x = "share of training rows removed"
    return (
        Figure(f"{name}-error", f"{heading}: error", about, lines(error, x=x, y=measured.error, floor=False)),
        Figure(f"{name}-marginal", f"{heading}: marginal error", about, lines(marginal, x=x, y="marginal error")),
    )


def risks(name: str, found: Risks) -> Figure:
    """Return Theorems 3 and 10 on a population."""
    tables = {
        "Algorithm 1, corrected": found.corrected,
        "Algorithm 1, as printed": found.printed,
        "minimiser, a mask a row": found.minimised,
    }
    records = []
    for ink, table in tables.items():
        for size, values in table.items():
            spread = 2 * float(values.std(ddof=1)) / len(values) ** 0.5
            middle = float(values.mean())
            low = max(middle - spread, middle / 10)
            records.append({"x": size, "y": middle, "low": low, "high": middle + spread, "ink": ink, "dash": "mean"})
    about = "Mean excess dropout risk (13) with two standard errors, T = n^2 steps."
    return Figure(name, found.population.name, about, bands(records, x="training rows n", y="excess dropout risk"))


def neighbours(name: str, found: Neighbours) -> Figure:
    """Return Theorem 14 on a population."""
    tables = {
        "independent coins": found.independent,
        "the same coins": found.shared,
        f"best of {found.runs} runs": found.boosted,
        "exact minimisers": found.minimisers,
    }
    records = []
    for ink, table in tables.items():
        for size, values in table.items():
            middle, spread = float(values.mean()), 2 * float(values.std(ddof=1)) / len(values) ** 0.5
            low = max(middle - spread, middle / 10)
            records.append({"x": size, "y": middle, "low": low, "high": middle + spread, "ink": ink, "dash": "mean"})
    about = "Mean distance between the models of two neighbours, T = n^2 steps, with two standard errors."
    return Figure(name, found.population.name, about, bands(records, x="training rows n", y="distance"))


def curvature(found: Sequence[Example]) -> Figure:
    """Return how the curvature of the paper's example falls as rows are taken away."""
    records = [
        {"x": gamma / each.n_samples, "y": round(value, 5), "ink": f"n = {each.n_samples}", "dash": "least"}
        for each in found
        for gamma, value in zip(each.gammas, each.curvatures, strict=True)
    ]
    about = "Lambda_Gamma: the least mean square of a column after an adversary took the Gamma worst rows away."
    chart = lines(records, x="share of rows taken away", y="curvature")
    return Figure("appendix-c-curvature", "What is left of the curvature", about, chart)


def adversary(found: Example) -> Figure:
    """Return Theorem 16 on the paper's example."""
    records = []
    for ink, values in (("minimiser moved", found.moved), ("Theorem 16 with G3", found.bounds)):
        for count, value in zip(found.changes, values, strict=True):
            records.append({"x": count, "y": value, "low": value, "high": value, "ink": ink, "dash": "one"})
    about = f"n = {found.n_samples} rows, the worst of them replaced; the bound is m times that of one row."
    chart = bands(records, x="rows changed m", y="distance")
    return Figure("theorem-16", f"Adversarial changes, n = {found.n_samples}", about, chart)


def learning(found: Learning) -> Figure:
    """Return how the errors of polynomial networks are spread, from the smallest to the largest."""
    records = []
    for ink, values in (
        ("descent alone", found.alone),
        ("with dropout", found.dropout),
        ("with shifted weights", found.additive),
    ):
        ordered = sorted(values.tolist())
        for place, value in enumerate(ordered):
            level = max(value, 1e-9)
            records.append({"x": place + 1, "y": level, "low": level, "high": level, "ink": ink, "dash": "one"})
    heading = f"Degree {found.degree}, {found.nodes} nodes, {found.columns} columns"
    about = "Squared error over the target's square after equal numbers of steps, starts in order of their error."
    return Figure("section-2-1", heading, about, bands(records, x="start, by rank", y="relative squared error"))
