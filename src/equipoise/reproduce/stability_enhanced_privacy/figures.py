"""The paper's figures from what was measured, with three curves wherever the paper has one."""

from collections.abc import Iterator, Sequence

from equipoise.report.study_charts import lines
from equipoise.report.study_page import Figure
from equipoise.reproduce.stability_enhanced_privacy.certified import Certified
from equipoise.reproduce.stability_enhanced_privacy.measure import (
    CONSTANT_SCALE,
    CUTOFFS,
    FIXED,
    MULTIPLES,
    REFERENCE,
    SCALES,
    SWEPT,
    WIDE,
    Found,
)
from equipoise.reproduce.stability_enhanced_privacy.noises import BOUND, DIRECT, PRINTED
from equipoise.reproduce.stability_enhanced_privacy.preparation import Array

Record = dict[str, object]
LAMBDA, ACCURACY, SIMILARITY = "lambda", "test accuracy", "F1 score"
PLAIN, CERTIFIED = "no noise", "ours, certified"
# Ours first: the page gives the first line its first colour.
SHOWN = (DIRECT, PRINTED, BOUND)


def _records(x: Sequence[float], y: Array, ink: str, dash: str) -> Iterator[Record]:
    """Yield the points of one line: the mean over the last axis, the splits."""
    for at, value in zip(x, y.mean(-1).tolist(), strict=True):
        yield {"x": at, "y": round(value, 4), "ink": ink, "dash": dash}


def _figure(name: str, heading: str, words: str, records: list[Record], x: str, y: str) -> Figure:
    return Figure(name, heading, words, lines(records, x=x, y=y, logarithmic=True, floor=False))


def figure_1(found: Found, certified: Certified | None = None) -> Figure:
    """Return Figure 1 of a table: accuracy over lambda, noise tuned to stability, for two epsilons."""
    records: list[Record] = []
    for level in (1, 2):
        dash = f"epsilon {found.epsilons[level]:g}"
        for noise in SHOWN:
            if certified is not None and noise is DIRECT:
                records += _records(found.strengths, certified.accuracy[level], CERTIFIED, dash)
            else:
                records += _records(found.strengths, found.private[noise.key][level], noise.name, dash)
        records += _records(found.strengths, found.plain, PLAIN, dash)
    public = found.preparation == "public"
    words = f"{found.rows.n_rows} training rows, {found.source.classes} classes, means over the splits."
    if public:
        words += " Random projection by a public seed; ours is eq.ElasticNetClassifier, its certificate checked."
    name = f"figure-1-{found.source.key}{'-public' if public else ''}"
    return _figure(name, found.source.name, words, records, LAMBDA, ACCURACY)


def figure_2(found: Found) -> Figure:
    """Return Figure 2 of a table: accuracy over lambda at a constant scale of noise."""
    records: list[Record] = []
    for noise in SHOWN:
        records += _records(found.strengths, found.constant[noise.key], noise.name, "constant")
    records += _records(found.strengths, found.plain, PLAIN, "constant")
    words = f"The scale that lambda = {REFERENCE:g} needs at epsilon {found.epsilons[-1]:g}, kept for every lambda."
    return _figure(f"figure-2-{found.source.key}", found.source.name, words, records, LAMBDA, ACCURACY)


def figure_4(found: Found) -> tuple[Figure, Figure]:
    """Return Figure 4 of a table: accuracy over the scale at fixed lambdas, and over the epsilon it would buy."""
    records: list[Record] = []
    for strength in FIXED:
        records += _records(SCALES, found.scaled[strength], f"lambda {strength:g}", "scale")
    words = "Independent Laplace noise of a scale that nothing is tuned to."
    key, name = found.source.key, found.source.name
    first = _figure(f"figure-4-{key}", f"{name}, over the scale", words, records, "scale of the noise", ACCURACY)
    swept: list[Record] = []
    for noise in SHOWN:
        swept += _records(WIDE, found.swept[noise.key], noise.name, "epsilon")
    words = f"The same at lambda = {SWEPT[found.preparation]:g}, over the epsilon that each account gives to the noise."
    second = _figure(f"figure-4-{key}-epsilon", f"{name}, over epsilon", words, swept, "epsilon", ACCURACY)
    return first, second


def figure_3(found: Found, level: int) -> Figure:
    """Return Figure 3: F1 of the selected weights over lambda, thresholds in deviations of the noise (F3)."""
    records: list[Record] = []
    for noise in SHOWN:
        for multiple in MULTIPLES:
            values = found.dynamic[noise.key, multiple][level]
            records += _records(
                found.strengths, values, noise.name, f"{multiple:g} deviation{'' if multiple == 1 else 's'}"
            )
    words = (
        f"Epsilon {found.epsilons[level]:g}. Against the weights that are not 0 without noise; two empty sets agree."
    )
    return _figure(f"figure-3-{found.source.key}", found.source.name, words, records, LAMBDA, SIMILARITY)


def figure_3_certified(certified: Certified) -> Figure | None:
    """Return the same for certified weights, where there are two classes."""
    if certified.similarity is None:
        return None
    found = certified.found
    records: list[Record] = []
    for level, epsilon in enumerate(found.epsilons):
        records += _records(found.strengths, certified.similarity[level], f"epsilon {epsilon:g}", "certified")
    words = "Released weights of the product, public preparation, threshold of 3 deviations: free after the release."
    heading = f"{found.source.name}, certified"
    return _figure(f"figure-3-{found.source.key}-certified", heading, words, records, LAMBDA, SIMILARITY)


def fixed_cutoffs(found: Found) -> tuple[Figure, Figure]:
    """Return Figures 5 and 6: F1 over lambda for fixed cutoffs."""
    drawn = []
    for number, table, words in (
        (5, found.static, f"Printed noise, epsilon {found.epsilons[-1]:g}."),
        (6, found.held, f"Noise of one scale, {CONSTANT_SCALE:g}: the paper's caption is that of Figure 5 again."),
    ):
        records: list[Record] = []
        for cutoff in CUTOFFS:
            records += _records(found.strengths, table[cutoff], f"cutoff {cutoff:g}", "fixed")
        name = f"figure-{number}"
        drawn.append(_figure(name, f"Figure {number}: {found.source.name}", words, records, LAMBDA, SIMILARITY))
    return drawn[0], drawn[1]
