"""The paper's figures from what was measured, with three curves wherever the paper has one."""

from collections.abc import Iterator, Sequence

import numpy as np

from equipoise_studies.stability_enhanced_privacy.certified import Certified
from equipoise_studies.stability_enhanced_privacy.curves import (
    CUTOFFS,
    FIXED,
    MULTIPLES,
    REFERENCE,
    SCALES,
    SWEPT,
    WIDE,
    Curves,
)
from equipoise_studies.stability_enhanced_privacy.measure import Found
from equipoise_studies.stability_enhanced_privacy.noises import BOUND, DIRECT, PRINTED
from equipoise_studies.stability_enhanced_privacy.preparation import Array
from equipoise_studies.study_charts import lines
from equipoise_studies.study_page import Figure

Record = dict[str, object]
LAMBDA, ACCURACY, SIMILARITY = "lambda", "test accuracy", "F1 score"
PLAIN, CERTIFIED = "no noise", "ours, certified"


def _accounts(found: Found, certified: Certified | None) -> Iterator[tuple[str, Curves]]:
    """Yield the three accounts; ours is the product where rows are prepared by public rules."""
    # Ours first: the page gives the first line its first colour.
    if certified is None:
        yield DIRECT.name, found.curves[DIRECT.key]
    else:
        yield CERTIFIED, certified.curves
    for noise in (PRINTED, BOUND):
        yield noise.name, found.curves[noise.key]


def _records(x: Sequence[float], y: Array, ink: str, dash: str) -> Iterator[Record]:
    """Yield the points of one line: the mean over the last axis, the splits."""
    for at, value in zip(x, y.mean(-1).tolist(), strict=True):
        yield {"x": at, "y": round(value, 4), "ink": ink, "dash": dash}


def _figure(
    name: str, heading: str, words: str, records: list[Record], x: str, y: str, certified: Certified | None
) -> Figure:
    stem = name if certified is None else f"{name}-public"
    return Figure(stem, heading, words, lines(records, x=x, y=y, logarithmic=True, floor=False))


def _plain(found: Found, certified: Certified | None) -> Array:
    """Return the accuracy without noise of what ours is made from."""
    return found.plain if certified is None else certified.plain


def figure_1(found: Found, certified: Certified | None = None) -> Figure:
    """Return Figure 1 of a table: accuracy over lambda, noise tuned to stability, for every epsilon."""
    records: list[Record] = []
    for level, epsilon in reversed(list(enumerate(found.epsilons))):
        dash = f"epsilon {epsilon:g}"
        for name, curves in _accounts(found, certified):
            records += _records(found.strengths, curves.private[level], name, dash)
    records += _records(found.strengths, _plain(found, certified), PLAIN, f"epsilon {found.epsilons[-1]:g}")
    words = f"{found.rows.n_rows} training rows, {found.source.classes} classes, means over the splits."
    if certified is not None:
        words += " Random projection by a public seed; ours is eq.ElasticNetClassifier, its certificate checked."
    name = f"figure-1-{found.source.key}"
    return _figure(name, found.source.name, words, records, LAMBDA, ACCURACY, certified)


def figure_2(found: Found, certified: Certified | None = None) -> Figure:
    """Return Figure 2 of a table: accuracy over lambda at a constant scale of noise."""
    records: list[Record] = []
    for name, curves in _accounts(found, certified):
        records += _records(found.strengths, curves.constant, name, "constant")
    records += _records(found.strengths, _plain(found, certified), PLAIN, "constant")
    words = f"The scale that lambda = {REFERENCE:g} needs at epsilon {found.epsilons[-1]:g}, kept for every lambda."
    name = f"figure-2-{found.source.key}"
    return _figure(name, found.source.name, words, records, LAMBDA, ACCURACY, certified)


def figure_4(found: Found, certified: Certified | None = None) -> tuple[Figure, Figure]:
    """Return Figure 4 of a table: accuracy over the scale at fixed lambdas, and over the epsilon it would buy."""
    scaled, plain = found.scaled if certified is None else certified.scaled, _plain(found, certified)
    records: list[Record] = []
    for strength in FIXED:
        alone = np.tile(plain[found.at(strength)], (len(SCALES), 1))
        records += _records(SCALES, scaled[strength], f"lambda {strength:g}", "with noise")
        records += _records(SCALES, alone, f"lambda {strength:g}", PLAIN)
    words = "Independent Laplace noise of a scale that nothing is tuned to, by every account the same."
    if certified is not None:
        words = "Laplace noise of a scale that nothing is tuned to, independent in the model's free coordinates."
    key, name = found.source.key, found.source.name
    x = "scale of the noise"
    first = _figure(f"figure-4-{key}", f"{name}, over the scale", words, records, x, ACCURACY, certified)
    swept: list[Record] = []
    for account, curves in _accounts(found, certified):
        swept += _records(WIDE, curves.swept, account, "epsilon")
    alone = np.tile(plain[found.at(SWEPT[found.preparation])], (len(WIDE), 1))
    swept += _records(WIDE, alone, PLAIN, "epsilon")
    words = f"At lambda = {SWEPT[found.preparation]:g}, over the epsilon that each account gives to its noise."
    heading = f"{name}, over epsilon"
    return first, _figure(f"figure-4-{key}-epsilon", heading, words, swept, "epsilon", ACCURACY, certified)


def figure_3(found: Found, level: int, certified: Certified | None = None) -> Figure:
    """Return Figure 3: F1 of the selected weights over lambda, thresholds in deviations of the noise (F3)."""
    records: list[Record] = []
    for name, curves in _accounts(found, certified):
        for multiple in MULTIPLES:
            dash = f"{multiple:g} deviation{'' if multiple == 1 else 's'}"
            records += _records(found.strengths, curves.dynamic[multiple][level], name, dash)
    words = (
        f"Epsilon {found.epsilons[level]:g}. Against the weights that are not 0 without noise; two empty sets agree."
    )
    heading = f"Figure 3: {found.source.name}"
    return _figure(f"figure-3-{found.source.key}", heading, words, records, LAMBDA, SIMILARITY, certified)


def fixed_cutoffs(found: Found, certified: Certified | None = None) -> Iterator[Figure]:
    """Yield Figures 5 and 6: F1 over lambda for fixed cutoffs, a picture each."""
    epsilon = found.epsilons[-1]
    for number, words in (
        (5, f"Tuned noise, epsilon {epsilon:g}."),
        (6, f"Noise of one scale: what lambda = {REFERENCE:g} needs at epsilon {epsilon:g}."),
    ):
        for cutoff in CUTOFFS:
            records: list[Record] = []
            for name, curves in _accounts(found, certified):
                scores = (curves.static if number == 5 else curves.held)[cutoff]
                records += _records(found.strengths, scores, name, "fixed")
            heading = f"Figure {number}: {found.source.name}, cutoff {cutoff:g}"
            yield _figure(f"figure-{number}-cutoff-{cutoff:g}", heading, words, records, LAMBDA, SIMILARITY, certified)
