"""The sections of the page: the paper's statements in its order."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from equipoise.lab.estimate import Estimate
from equipoise_studies.nonsmooth_stability import corrected, figures, instances, published
from equipoise_studies.nonsmooth_stability.descent import slope
from equipoise_studies.nonsmooth_stability.measure import Curve, Distances, Noise, Noisy
from equipoise_studies.study_page import Section, Table, number


def _text(found: Estimate) -> str:
    if found.low == found.high:
        return number(found.value)
    return f"{number(found.value)} ({number(found.low)} .. {number(found.high)})"


def _rotated(rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(zip(*rows, strict=True))


def distances(found: Sequence[Distances]) -> Section:
    """Return Table 1: printed, corrected, simulated."""
    n_samples, n_steps = found[0].n_samples, found[0].steps[-1]
    names = (
        "Table 1",
        "Lemma 3.1",
        "recursion (C1)",
        "simulated, two-sided",
        "simulated, one-sided",
        "two-sided over C1: last iterate, average",
        "one-sided over C1: last iterate, average",
        "simulated over sqrt(T) + T/n, at least",
    )
    columns: list[tuple[str, ...]] = [names]
    for each in found:
        rule = each.rule
        later = n_steps / n_samples - (rule.key == "permutation")
        sharp, paper = each.last.values()
        sharp_average, paper_average = each.average.values()
        columns.append(
            (
                number(rule.printed(n_samples, n_steps)),
                "" if rule.random else number(published.lemma(n_steps, later)),
                number(float(sharp.bound[:, -1].mean())),
                _text(sharp.end),
                _text(paper.end),
                f"{sharp.attained:.2f}, {sharp_average.attained:.2f}",
                f"{paper.attained:.2f}, {paper_average.attained:.2f}",
                f"{each.constant:.2f}",
            )
        )
    header = ("", *(each.rule.name + (" (expected)" if each.rule.random else "") for each in found))
    note = (
        f"n = {n_samples}, T = {n_steps}, step and slopes 1: Table 1 omits the factor L. The last row is from one pass "
        "on: the constant of the lower bound, which the paper leaves unnamed, is at least this."
    )
    table = Table(header, _rotated(columns), "Table 1: bounds on the distance of neighbours, and distances", note)
    after = instances.orthogonal_rows(n_samples, 3)
    attained = float(
        instances.orthogonal_rows(n_samples, 1)[0] / instances.recursion(instances.permutation(100, 100))[-1]
    )
    words = (
        "All rows but one have the loss max(0, x_1, ..., x_D), with the first largest coordinate as subgradient; the "
        "swapped row is linear, nearly all of it a drift along an axis of its own, a thousandth of it raising all "
        "other coordinates. From then on every step goes down a coordinate that no step met before: the distance grows "
        "with the root of the steps, and the drift adds to it. One-sided is the paper's sketch, in which one dataset "
        "stays at the origin. In the two-sided instance, which is ours, both move, in blocks and drifts of their own.",
        "The bound counts the drift along the distance itself; in these instances it is orthogonal to it. That, and "
        "subgradients that differ by the root of 2 and not by 2, are why the simulated distance stays below. After one "
        "pass the absolute loss on orthogonal rows reaches 2 a step: its distance is "
        f"{attained:.2f} of the bound at n = {n_samples}, and tends to it as n grows; the second pass brings the two "
        f"sides together again (distances {', '.join(number(value) for value in after)} after three passes).",
        "Nothing is projected; with weights of norm R at most, the distance cannot exceed 2 R.",
    )
    drawn = tuple(figures.distances(each) for each in found)
    return Section("How far apart neighbours end (Table 1, Lemma 3.1)", words, drawn, (table,))


def failure() -> Section:
    """Return Theorem 3.2's failure probability."""
    rows = []
    for size in (100, 1000, 10_000):
        rows.append(
            (
                f"n = {size}",
                number(published.log_failure(size)),
                number(corrected.log_violation(size, size, averages=False)),
                number(corrected.log_violation(size, size, averages=True)),
                number(corrected.log_union(size, size**2)),
            )
        )
    header = ("", "printed", "T = n, last iterate: at least", "T = n, average: at least", "T = n^2: at most")
    last, average = (corrected.first_false(averages=averages) for averages in (False, True))
    words = (
        "Theorem 3.2 says that the bound fails with probability n exp(-n/2) at most, whatever the number of steps. "
        "Take losses that are linear in one column and slopes 1 and -1 for the swapped row: each time that it is "
        "drawn, the last iterates move apart by 2, the averages by 1 on average. The number of draws is binomial, and "
        f"its exact tail for T = n is above the printed probability from about n = {last} "
        f"on for the last iterate, and from about n = {average} on for the average, which "
        "Algorithm 1 returns. For T = n^2 the printed probability is right: by C1 and a union over all rows the bound "
        "fails less often.",
        "The first display of the theorem has the sum with 4/n inside of the root. Its value would be "
        f"{published.first_display(100, 10_000):.0f} for n = 100, T = 10000 and step 1; the two-sided instance goes "
        "farther. Outside of the root it holds.",
    )
    table = Table(header, tuple(rows), "Natural logarithm of the probability that the bound fails")
    return Section("The failure probability of Theorem 3.2", words, (figures.failure(),), (table,))


POPULATIONS = (
    "Algorithm 1 on the hinge loss: one row a step, drawn with replacement, weights projected onto a ball, iterates "
    "averaged. Rows have norm 1, so L = 1. Two made-up populations of finitely many rows make the population risk a "
    "sum: few columns (10 columns, rows on the sphere, the minimiser by a linear program, the ball through it), and a "
    "column each (as many columns as training rows, ball of radius 1). A fifth of the labels are flipped. The step is "
    "C4's for n passes."
)


def generalisation(curves: Sequence[Curve], shown: int) -> Section:
    """Return Theorems 2.1 and 4.1."""
    rows = []
    for curve in curves:
        for size in curve.sizes:
            step = curve.runs[size].plan.step
            rows.append(
                (
                    curve.name,
                    str(size),
                    _text(curve.gap(size)),
                    number(corrected.generalisation(size, size, step)),
                    number(published.generalisation(size, size, step)),
                    f"{curve.needed(size):.2g}",
                )
            )
    header = ("population", "n", "measured", "C4", "Theorem 4.1", "c needed")
    words = (
        POPULATIONS,
        "Generalisation error: population risk less training risk, on average over samples and coins. The bounds hold "
        "for every distribution; that these two stay far below says nothing about the worst one.",
        "Theorem 2.1, the second half of 4.1 and Theorem 5.2 have a constant c that the paper does not give, so no "
        "number can be printed for them. The last column says which c these runs would have needed at least: the 90 % "
        "quantile of the absolute error over the rest of Theorem 2.1's bound.",
    )
    note = "Means over repetitions, with 95 % intervals of the mean."
    table = Table(header, tuple(rows), "Generalisation error after n passes", note)
    return Section(
        "Generalisation of many passes (Theorems 2.1 and 4.1)", words, figures.generalisation(curves, shown), (table,)
    )


def risk(curves: Sequence[Curve], shown: int) -> Section:
    """Return the claim of optimal risk within n passes."""
    rows = []
    for curve in curves:
        for size in curve.sizes:
            plain = curve.populations[size].radius / math.sqrt(size)
            measured = _text(curve.excess(size))
            rows.append((curve.name, str(size), measured, number(plain), number(curve.risk_bound(size))))
    header = ("population", "n", "measured", "L R / sqrt(n)", "C4")
    few, each = (slope(curve.sizes, [curve.runs[size].excesses[:, -1] for size in curve.sizes]) for curve in curves)
    words = (
        "Section 4 says that many passes reach the optimal excess risk, about L R/sqrt(n), within n passes at a "
        "constant step. C4 at n passes is R sqrt(1 + 8 n)/n, which is 2.83 L R/sqrt(n). The measured excess risk after "
        f"n passes falls like n to the power {_text(each)} for a column each. For few columns the power is "
        f"{_text(few)}: over most of these sizes the start itself is below the bound, and the step that the worst case "
        "asks for is too short to go far.",
    )
    note = "Means over repetitions, with 95 % intervals of the mean."
    table = Table(header, tuple(rows), "Excess risk after n passes", note)
    return Section("Optimal risk within n passes (Section 4)", words, figures.excess(curves, shown), (table,))


def noise(judged: Sequence[Noise], over_sizes: Sequence[Noise]) -> Section:
    """Return Theorem 5.1."""
    rows = tuple(
        (
            str(each.n_samples),
            f"({each.epsilon:g}, {each.delta:g})",
            number(each.printed),
            number(each.calibrated),
            f"{100 * (1 - each.calibrated / each.printed):.0f} %",
            number(each.reached),
        )
        for each in (*judged, *over_sizes)
    )
    header = ("n", "budget", "printed", "calibrated", "less noise", "epsilon of the printed noise")
    words = (
        "Algorithm 2 adds normal noise of variance 8 L^2 log(1/beta)/alpha^2 to each of n^2 gradients of one row, "
        "drawn uniformly: sqrt(2 log(1/beta))/alpha times the distance 2 L that a replaced row can move a gradient. "
        "The paper argues by analogy with Poisson sampling. The exact curve of the composition says that its noise is "
        "enough wherever it was tried, and how much of it suffices.",
    )
    drawn = (figures.noise(tuple(over_sizes)),)
    return Section("The noise of Algorithm 2 (Theorem 5.1)", words, drawn, (Table(header, rows, "Noise"),))


def noisy_risk(found: tuple[Noisy, Noisy]) -> Section:
    """Return Theorem 5.2 and Remark 5.3."""
    rows = []
    for size in found[0].curve.sizes:
        cells = [str(size)]
        for each in found:
            cells += [_text(each.curve.excess(size)), number(each.curve.risk_bound(size, noise=each.noise[size]))]
        rows.append(tuple(cells))
    header = ("n", "as printed", "bound (C4)", "calibrated", "bound (C4) ")
    largest = found[0].curve.sizes[-1]
    longer = found[0].curve.runs[largest].plan.step / found[1].curve.runs[largest].plan.step
    start = float(found[0].curve.populations[found[0].curve.sizes[0]].risk(np.zeros((1, 10)))[0])
    start -= found[0].curve.populations[found[0].curve.sizes[0]].least
    words = (
        "Remark 5.3 gives the expected excess risk of Algorithm 2 up to a constant. C4 is explicit: (D/n) sqrt(L^2 + d "
        "sigma^2 + 8 L^2 n) at its own step, D being the distance from start to minimiser. Measured with noise and "
        "step as printed, and with calibrated noise and C4's step, on the population of few columns. The start's "
        f"excess risk is {number(start)}: below some n the bound says nothing. Theorem 5.2 holds with high probability "
        "and an unnamed constant, so that no number can be printed for it.",
        f"At n = {largest} the printed step is {longer:.1f} times C4's. C4's step has the smaller bound for the worst "
        "case; the risk on one population need not be smaller.",
    )
    table = Table(header, tuple(rows), "Expected excess risk of Algorithm 2 at (1, 1e-6)")
    title = "The risk of Algorithm 2 (Theorem 5.2, Remark 5.3)"
    return Section(title, words, (figures.noisy_risk(found),), (table,))


def all_sections(
    distances_found: Sequence[Distances],
    curves: Sequence[Curve],
    shown: int,
    noises: tuple[Sequence[Noise], Sequence[Noise]],
    noisy_found: tuple[Noisy, Noisy],
) -> Iterator[Section]:
    """Yield the sections of the page in order."""
    yield distances(distances_found)
    yield failure()
    yield generalisation(curves, shown)
    yield risk(curves, shown)
    yield noise(*noises)
    yield noisy_risk(noisy_found)
