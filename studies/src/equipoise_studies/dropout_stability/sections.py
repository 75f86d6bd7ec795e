"""The sections of the page: the paper's experiments first, then its theorems in order."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from equipoise.lab.estimate import Estimate
from equipoise.lab.row_removal import RemovalFinding
from equipoise_studies.dropout_stability import figures, printed_simplex, theory
from equipoise_studies.dropout_stability.hidden_nodes import Learning, Network
from equipoise_studies.dropout_stability.networks import KEPT, Trained
from equipoise_studies.dropout_stability.removals import Compared
from equipoise_studies.dropout_stability.theory import Example, Neighbours, Risks
from equipoise_studies.study_page import Figure, Section, Table, number

MEASURE = (
    "A share of the training rows is removed, and the model is trained again. The marginal error is the absolute "
    "difference between the mean test error and the mean test error with all rows. Lines are means over repetitions; "
    "the numbers, with 95 % intervals by Student's law, are folded away after the experiments."
)


def _text(found: Estimate) -> str:
    if found.low == found.high:
        return number(found.value)
    return f"{number(found.value)} ({number(found.low)} .. {number(found.high)})"


def _numbers(findings: Mapping[str, RemovalFinding], way: str, name: str) -> Table:
    """Return a table of errors and marginal errors: a row for each share removed, a column for each model."""
    first = next(iter(findings.values()))
    in_percent = first.error.startswith("share")
    unit = 100 if in_percent else 1

    def cell(found: Estimate) -> str:
        low, middle, high = (unit * value for value in (found.low, found.value, found.high))
        return f"{middle:.2f} ({low:.2f} .. {high:.2f})"

    rows = [("error, none removed", *(cell(each.baseline) for each in findings.values()))]
    for what, field in (("marginal error", "marginal"), ("predictions moved", "moved")):
        for place, fraction in enumerate(first.fractions):
            cells = (cell(getattr(each.curves[way], field)[place]) for each in findings.values())
            rows.append((f"{what}, {100 * fraction:g} %", *cells))
    caption = f"{name}, {way} removal: {first.rows:,} training rows, {first.test_rows:,} test rows"
    return Table(("", *findings), tuple(rows), caption + (", in percent" if in_percent else ""))


def numbers(compared: Sequence[Compared], houses: Compared, trained: Trained) -> Section:
    """Return the numbers of the experiments, folded away."""
    tables = [
        _numbers(each.findings, way, each.name)
        for each in (*compared, houses)
        for way in next(iter(each.findings.values())).curves
    ]
    tables.append(_numbers(trained.findings, "random", "MNIST"))
    return Section("the numbers of the experiments, with intervals", (), (), tuple(tables), closed=True)


def texts(found: Sequence[Compared]) -> Section:
    """Return Figures 1 and 3."""
    drawn: list[Figure] = []
    for each in found:
        for way in next(iter(each.findings.values())).curves:
            figure = "figure-1" if each.key == "atheist" else "figure-3"
            heading = each.name + (", adversarial" if way == "adversarial" else "")
            drawn += figures.removal(f"{figure}-{each.key}-{way}", heading, each.findings, way)
    columns = ", ".join(f"{each.n_columns:,} for {each.name}" for each in found)
    chosen = sorted({alpha for each in found for alpha in each.alphas})
    words = (
        MEASURE,
        "Logistic regression on word counts, rows divided by their norm, without an intercept. Each repetition draws "
        "its own halves for training and testing. The paper does not print how it scales rows; its numbers of columns "
        f"(22,178, 31,822 and 24,977) are near those of a plain split into words ({columns}).",
        "Unregularised: L-BFGS from 0; the rows are separable, so there is no minimiser, and where it stops decides. "
        "L2: the strength is cross-validated once a repetition on all its training rows and kept "
        f"(chosen: {', '.join(f'{alpha:g}' for alpha in chosen)}). Dropout: a fresh mask at every visit of a row, half "
        "of the words dropped. Deterministic dropout (Wang and Manning 2013): the expected loss, masked margins being "
        "taken for normal.",
        "The adversary removes the rows with the least abs(<x, theta>), theta being the model of all rows; each model "
        "has its own.",
    )
    return Section("Logistic regression on text (Figures 1 and 3)", words, tuple(drawn))


def boston(found: Compared) -> Section:
    """Return Figure 2 (a, b)."""
    words = (
        f"{found.n_train} training rows, {found.n_columns} columns scaled to [-1, 1] by public ranges, an intercept "
        "that is never dropped, a twentieth of the entries dropped. Deterministic dropout is a closed form: a ridge "
        "whose strength in a column is the column's mean square times 0.05/0.95 (Lemma 4).",
    )
    drawn = figures.removal("figure-2-boston", found.name, found.findings, "random")
    return Section(
        "Linear regression on Boston housing (Figure 2 a, b)",
        words,
        drawn,
    )


def mnist(found: Trained) -> Section:
    """Return Figure 2 (c, d), and what became of Figure 4."""
    plan = found.plan
    sizes = "-".join(str(size) for size in (784, *plan.hidden, 10))
    inputs, hidden = KEPT["dropout"]
    words = (
        f"A network of {sizes} units, {plan.epochs} passes over at most {plan.rows:,} of the 60,000 training rows, "
        f"{plan.repetitions} repetitions. Rectified linear units, momentum, falling steps. Dropout "
        f"keeps {inputs:g} of the inputs and {hidden:g} of the hidden units.",
        "Two things differ from the paper. Its networks are pre-trained; these are not. Its size, 784-800-800-10 on "
        "all rows for 150 passes, is for a machine with an accelerator: docs/dropout-stability.md says how to ask for "
        "it and what it gave.",
        "The paper's Figure 4 uses 8,000 images of leaves that are not publicly available: it is not reproduced.",
    )
    drawn = figures.removal("figure-2-mnist", "MNIST", found.findings, "random")
    return Section(
        "Networks on MNIST (Figure 2 c, d)",
        words,
        drawn,
    )


def dropped_nodes(found: Sequence[Network], learned: Learning) -> Section:
    """Return Theorem 1 and section 2.1."""
    rows = tuple(
        (
            each.name,
            "yes" if each.error >= each.printed_floor else "no",
            number(each.printed_factor),
            _text(each.share(each.printed_factor)),
            "yes" if each.error >= each.corrected_floor else "no",
            _text(each.share(each.corrected_factor)),
        )
        for each in found
    )
    header = ("network", "printed applies", "factor", "share of masks", "corrected applies", "share of masks ")
    floors = (learned.nodes**1.5, learned.nodes * learned.columns**learned.degree)
    reached = [float(np.mean(values < 0.01)) for values in (learned.alone, learned.dropout, learned.additive)]
    words = (
        "Theorem 1 says: where the squared error is above a floor, dropping half of the nodes lowers it by a factor "
        "with probability 1/8. Both sides are counted here. The statement is false as printed, also with 1/12 in place "
        "of 1/8: on orthogonal nodes with target 0, and on 16 rectified linear nodes with random weights, it applies "
        "and the share of such masks is far below. Where alpha is large it promises a negative squared error.",
        "What the argument does give: let S = sum alpha_i^2 norm(g_i)^2 be the mean growth of the error. If norm(g) >= "
        "norm(f) and the squared error is at least 48 sqrt(2 m) S, then with probability at least 1/48 it falls by the "
        "factor 1 - 1/(2 sqrt(2 m)). Proof: by the fourth moment 3 and Paley and Zygmund, the square of the inner "
        "product with the error is at least half of its mean with probability 1/12; the growth exceeds 24 S with at "
        "most 1/24; both events ignore the sign of the mask, which is right half of the time. The condition needs at "
        "least 288 nodes, so it says nothing of small networks.",
        f"Section 2.1 compares floors of m^1.5 and m p^d squares of a node, up to constants: {floors[0]:.3g} and "
        f"{floors[1]:.3g} for the network below, whose target is a few such squares: neither says anything here. "
        f"Of the starts, {100 * reached[0]:.0f} % come below a hundredth of the target's square by descent alone, "
        f"{100 * reached[1]:.0f} % with rounds of dropout, {100 * reached[2]:.0f} % with shifted weights (real ones; "
        "Andoni et al. need complex shifts), after as many steps.",
    )
    table = Table(header, rows, "Share of masks after which the squared error has fallen by the factor")
    return Section("Dropping hidden nodes (Theorem 1, section 2.1)", words, (figures.learning(learned),), (table,))


def descent(found: Sequence[Risks], near: Sequence[Neighbours], ends: Estimate) -> Section:
    """Return Algorithm 1 with Theorems 3, 10, 14 and 15."""
    rows = []
    for each in near:
        for size, shape in each.shapes.items():
            rows.append(
                (
                    each.population.name,
                    str(size),
                    number(float(each.independent[size].mean())),
                    number(float(each.shared[size].mean())),
                    number(float(each.minimisers[size].mean())),
                    number(shape),
                    number(each.needed(size)),
                    number(each.needed_boosted(size)),
                )
            )
    header = (
        "population",
        "n",
        "independent coins",
        "same coins",
        "minimisers",
        "inside the O()",
        "constant needed, Theorem 14",
        "Theorem 15",
    )
    words = (
        "Algorithm 1 on the loss (u - y)^2/2, half of the columns kept, T = n^2 steps 1/(Delta_1 t), projected onto a "
        "ball. As printed it divides the step by alpha but takes the loss at <theta, b x>: it ends at "
        f"{_text(ends)} times the minimiser of its own objective, and its excess risk does not fall. Corrected, the "
        "loss is taken at 2 <theta, b x>. Theorem 10 is about the minimiser with one fixed mask a row.",
        "The second population has all rows on one line, where the paper says that rates of 1/n remain. They do, for "
        "the dropout risk (13); that is not the risk of the prediction <x, theta>.",
        "Theorems 14 and 15 have constants that the paper does not give, so they certify nothing. The last columns say "
        f"how large these would have to be at least for these runs. Boosting takes the best of {near[0].runs} runs for "
        f"a failure probability of {near[0].chance:g}; log to the base 2, where the paper has the natural one.",
    )
    drawn = (
        *(figures.risks(f"theorem-3-{place}", each) for place, each in enumerate(found)),
        *(figures.neighbours(f"theorem-14-{place}", each) for place, each in enumerate(near)),
    )
    table = Table(header, tuple(rows), "Distance between the models of neighbours")
    return Section("Dropout gradient descent (Theorems 3, 10, 14, 15)", words, drawn, (table,))


def adversary(found: Sequence[Example]) -> Section:
    """Return Theorems 16 and 17."""
    rows = tuple(
        (str(each.n_samples), str(each.distance), f"{100 * each.distance / each.n_samples:.1f} %") for each in found
    )
    changes = (1, 2, 5, 10, 20)
    slack = tuple((str(count), number(count * 1e-6), number(theory.group_delta(0.5, 1e-6, count))) for count in changes)
    words = (
        "The example of Appendix C: normal rows, clipped to norm 4 so that a bound exists, exact outcomes, dropout in "
        "closed form. The distance to instability is the most rows that an adversary may take until the bound for one "
        "row has doubled. It grows with n, as the paper says it may.",
        "Theorem 16 holds with the constants of G3 and is far from what was reached: the bound takes the longest row "
        "and the steepest slope for every changed row.",
        "Theorem 17 has m B delta as its additive term. A chain of laws, each (epsilon, delta)-close to the next, "
        "attains more.",
    )
    tables = (
        Table(("n", "distance to instability", "of the rows"), rows, "Distance to instability"),
        Table(("changes m", "m delta", "attained"), slack, "Additive term of Theorem 17 at (0.5, 1e-6)"),
    )
    drawn = (figures.curvature(found), figures.adversary(found[-1]))
    return Section("Adversarial changes (Theorems 16 and 17)", words, drawn, tables)


def simplex() -> Section:
    """Return Algorithm 2 as printed."""
    rows = tuple(
        (
            f"{case.epsilon:g}",
            str(case.columns),
            f"{case.neighbours[0][0]}, {case.neighbours[0][1]}",
            f"{case.neighbours[1][0]}, {case.neighbours[1][1]}",
            number(case.delta),
            number(case.delta_needed),
        )
        for case in printed_simplex.COUNTEREXAMPLES
    )
    header = ("epsilon", "columns", "ones: first, others", "neighbour", "claimed delta", "delta at 2 epsilon")
    words = (
        "Algorithm 2 chooses the column with the fewest surviving ones, after a noisy test that every column has "
        "enough of them. Its output law is a finite sum, so the delta of a pair of neighbours is exact. It exceeds "
        "what Theorem 7 claims: the printed threshold 2 log(1/delta)/epsilon ignores that the local statement "
        "(Theorem 6) needs some 18 log(p/delta)/epsilon^2 ones.",
    )
    return Section(
        "Learning over the simplex as printed (Algorithm 2)", words, (), (Table(header, rows, "Algorithm 2"),)
    )


def all_sections(
    compared: Sequence[Compared],
    houses: Compared,
    trained: Trained,
    nodes: tuple[Sequence[Network], Learning],
    descents: tuple[Sequence[Risks], Sequence[Neighbours], Estimate],
    examples: Sequence[Example],
) -> Iterator[Section]:
    """Yield the sections of the page in order."""
    yield texts(compared)
    yield boston(houses)
    yield mnist(trained)
    yield numbers(compared, houses, trained)
    yield dropped_nodes(*nodes)
    yield descent(*descents)
    yield adversary(examples)
    yield simplex()
