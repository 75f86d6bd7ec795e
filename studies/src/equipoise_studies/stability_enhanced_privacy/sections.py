"""The sections of the page: first what to take from it, then the paper's figures."""

import math
from collections.abc import Iterator, Sequence

from equipoise.planning.flips import WeightNoise
from equipoise_studies.stability_enhanced_privacy import audited, figures
from equipoise_studies.stability_enhanced_privacy.audited import Audits
from equipoise_studies.stability_enhanced_privacy.certified import Certified
from equipoise_studies.stability_enhanced_privacy.curves import MULTIPLES, REFERENCE, SWEPT, enough
from equipoise_studies.stability_enhanced_privacy.measure import DRAWS, MIDDLE, Found, mean
from equipoise_studies.stability_enhanced_privacy.noises import BOUND, DIRECT, NOISES, PRINTED
from equipoise_studies.stability_enhanced_privacy.preparation import COLUMNS
from equipoise_studies.stability_enhanced_privacy.table import table_section
from equipoise_studies.study_page import Section, Table, number

# A private model is called usable when it is less than this below the model without noise.
SHORT = 0.05
# The lambdas at which noises are compared.
SHOWN = (0.001, 0.1, 10.0)


def _by_key(found: Sequence[Found], preparation: str) -> dict[str, Found]:
    return {each.source.key: each for each in found if each.preparation == preparation}


def summary(found: Sequence[Found], certified: Sequence[Certified], audits: Audits) -> Section:
    """Return the page in a few sentences and tables."""
    adult, small = _by_key(found, "paper")["adult"], _by_key(found, "paper")["khan"]
    one = adult.epsilons[1]
    printed, bound, direct = (adult.best(noise.key, one)[0].value for noise in (PRINTED, BOUND, DIRECT))
    checked, faults = sum(each.checked for each in certified), sum(each.faults for each in certified)
    words = (
        "The idea of the paper holds: a stabler minimiser needs less noise, so that under privacy a larger lambda is "
        "often the better one. Two things in its execution do not.",
        f"The mechanism is not epsilon-private. It puts independent Laplace noise at the L2 sensitivity on {COLUMNS} "
        f"columns; at epsilon 1 its delta is {audits.delta.value:.3f}, and an audit measures an epsilon of at least "
        f"{audits.as_printed.epsilon:.3g}. The tables of more than two classes have one such noise for every class, at "
        "one epsilon for all.",
        "The bound falls with sqrt(n) where 1/n is possible: on Adult, as the paper prepares it, its noise is "
        f"{predicted(adult):.0f} times ours. At epsilon {one:g} the best lambda reaches {printed:.3f} as printed, "
        f"{bound:.3f} with the paper's bound and a correct mechanism, and {direct:.3f} with the 1/n bound.",
        _above(found),
        _left(small),
        f"{checked} certificates were planned, fitted and checked on publicly prepared rows; {faults} had a fault.",
    )
    tables = (best(found, certified), factors(found, certified), limits(found, certified))
    return Section("What to take from this", words, tables=tables)


def predicted(found: Found) -> float:
    """Return what F1 predicts for the paper's noise over ours: ``2 sqrt(n / kappa)``."""
    return 2 * math.sqrt(found.rows.n_rows / found.rows.longest)


def _above(found: Sequence[Found]) -> str:
    """Say where the printed curve lies above ours, in the paper's preparation at the largest epsilon."""
    names = [
        each.source.name
        for each in found
        if each.preparation == "paper"
        and each.best(PRINTED.key, each.epsilons[-1])[0].low > each.best(DIRECT.key, each.epsilons[-1])[0].high
    ]
    if not names:
        return "At the largest epsilon the printed curve lies above ours on no table."
    return (
        f"At the largest epsilon, as the paper prepares its rows, the printed curve lies above ours on "
        f"{' and '.join(names)}. Nothing is proved of it there: what the mechanism leaves out, the number of classes "
        "times sqrt(d), is more than what its bound gives away."
    )


def _left(found: Found) -> str:
    """Say what is left on a small table at its smallest epsilon."""
    epsilon = found.epsilons[0]
    reached = [found.best(noise.key, epsilon)[0].value for noise in NOISES]
    return (
        f"On the {found.rows.n_rows} tissues of the Khan set, at epsilon {epsilon:g}, the best lambda in hindsight "
        f"reaches {reached[0]:.2f} as printed, {reached[1]:.2f} with the repaired bound and {reached[2]:.2f} with "
        f"ours; {found.best_plain()[0].value:.2f} is reached without noise, and {found.rows.most_frequent:.2f} by "
        "always naming the most frequent class. The last table says how many rows our account would need."
    )


def best(found: Sequence[Found], certified: Sequence[Certified]) -> Table:
    """Return the accuracy of the best lambda in hindsight, and of the product without hindsight."""
    products = {each.found.source.key: each for each in certified}
    rows, widths = [], []
    for each in found:
        public, product = each.preparation == "public", products[each.source.key]
        for level, epsilon in enumerate(each.epsilons):
            estimates = [each.best_plain()[0], *(each.best(noise.key, epsilon)[0] for noise in NOISES)]
            if public:
                reached = product.curves.private[level]
                estimates += [mean(reached[int(reached.mean(1).argmax())]), mean(product.default[level])]
            widths += [(one.high - one.low) / 2 for one in estimates]
            cells = [f"{one.value:.3f}" for one in estimates]
            rows.append((each.source.name, each.preparation, f"{epsilon:g}", *cells, *([""] * (6 - len(cells)))))
    header = (
        "table", "preparation", "epsilon", "no noise", "as printed", "paper's bound, repaired", "ours",
        "certified, elastic net", "certified, defaults",
    )  # fmt: skip
    note = (
        f"Means over the splits; 95 % intervals are at most {max(widths):.2f} to either side. All columns but the last "
        "take the best lambda in hindsight, which is not private; eq.LogisticRegression with its defaults, the last "
        f"one, chooses everything from public facts. Certified models are one release a split, the others {DRAWS}, "
        "so that hindsight flatters them a little more."
    )
    return Table(header, tuple(rows), "Test accuracy", note)


def factors(found: Sequence[Found], certified: Sequence[Certified]) -> Table:
    """Return the noise of the paper's bound, repaired, over ours: the second curve's scale over the third's."""
    products, rows = {each.found.source.key: each for each in certified}, []
    for each in found:
        ours = [DIRECT.scale(each.rows, strength, 1.0) for strength in each.strengths]
        if each.preparation == "public":
            ours = products[each.source.key].scales.tolist()
        ratios = [
            BOUND.scale(each.rows, strength, 1.0) / scale for strength, scale in zip(each.strengths, ours, strict=True)
        ]
        cells = [number(ratios[each.at(strength)]) for strength in SHOWN]
        rows.append((each.source.name, each.preparation, number(predicted(each)), *cells))
    header = ("table", "preparation", "2 sqrt(n / kappa)", *(f"lambda {strength:g}" for strength in SHOWN))
    note = (
        "F1 predicts the third column for one elastic net. On public rows ours is the certificate's noise: with a "
        "larger lambda slopes cannot reach 1, which it knows (A2), and for more than two classes it has one "
        "multinomial model to hide instead of a classifier a class."
    )
    return Table(header, tuple(rows), "Noise of the paper's bound, repaired, over ours", note)


def limits(found: Sequence[Found], certified: Sequence[Certified]) -> Table:
    """Return the epsilon that each table needs, and the rows that epsilon = 1 would need."""
    products, rows = {each.found.source.key: each for each in certified}, []
    for each in found:
        public, place = each.preparation == "public", each.at(SWEPT[each.preparation])
        product = products[each.source.key]
        curves, alone = (product.curves, product.plain) if public else (each.curves[DIRECT.key], each.plain)
        needed = enough(curves, alone[place], SHORT)
        size = WeightNoise.of(product.certificate).dimension
        weights = size if public else each.rows.outputs * (each.rows.features.shape[1] + 1)
        rows.append(
            (
                each.source.name, each.preparation, f"{each.rows.n_rows}", f"{weights}",
                f"{each.rows.most_frequent:.3f}", f"{alone[place].mean():.3f}",
                "beyond the grid" if needed is None else f"{needed:g}",
                "" if needed is None else f"about {number(float(f'{needed * each.rows.n_rows:.1g}'))}",
            )
        )  # fmt: skip
    header = (
        "table", "preparation", "training rows", "noisy numbers", "most frequent class", "no noise", "epsilon needed",
        "rows for epsilon 1",
    )  # fmt: skip
    note = (
        f"With our bound at lambda = {SWEPT['paper']:g}, or the certified model at {SWEPT['public']:g} on public rows: "
        f"the first epsilon of a half-decade grid that is less than {SHORT:g} below the accuracy without noise. Noise "
        "depends on n times epsilon alone, hence the last column, if more rows were like these."
    )
    return Table(header, tuple(rows), "What privacy needs", note)


def mechanism(audits: Audits, found: Sequence[Found]) -> Section:
    """Return the audit, and why two mistakes hide each other on Adult."""
    rows = tuple(
        (name, finding.words)
        for name, finding in (("as printed", audits.as_printed), ("spherical Laplace, same scale", audits.repaired))
    )
    table = Table(("mechanism", "finding"), rows, "Audits at epsilon 1 (equipoise.lab.auditing)", texts=("finding",))
    proved = "; ".join(f"{each.source.name} {each.proved_epsilon:.3g}" for each in found if each.preparation == "paper")
    words = (
        f"Algorithm 2, audited where its sensitivity is neither too large nor too small: {audited.N_ROWS} rows of norm "
        f"kappa = {audited.LONGEST:g} = 4 n along the diagonal, linear losses, and one row turned round. The elastic "
        "net moves by exactly the printed sensitivity, and the noise claims epsilon 1.",
        "On the tables of this page two mistakes pull against each other: the bound is too large by 2 sqrt(n / kappa), "
        "the law too small by sqrt(d), and by another factor of the number of classifiers. What A1 and D2 prove of the "
        f"printed noise, in units of the epsilon that it claims: {proved}. Below 1 the noise happens to be enough, "
        "though the paper's argument does not show it: 'not epsilon-DP' is said of the mechanism. Above 1 nothing is "
        "proved.",
    )
    return Section("The printed mechanism is not private", words, tables=(table,))


def tuned(found: Sequence[Found], certified: Sequence[Certified]) -> Iterator[Section]:
    """Yield Figure 1 in both preparations."""
    words = (
        "The paper's preparation: a truncated SVD to 32 columns and standardised columns, both fitted on the private "
        "training rows. No certificate covers that, for any of the curves. The paper names no norm of its rows; here "
        "they are clipped to sqrt(32), with a constant column of 1.",
    )
    drawn = tuple(figures.figure_1(each) for each in found if each.preparation == "paper")
    yield Section("Figure 1: noise tuned to stability, as the paper prepares its rows", words, drawn)
    products = {each.found.source.key: each for each in certified}
    words = (
        "Columns scaled by public constants, 32 directions drawn by a public seed, each row scaled to norm 1 by "
        "itself. Random directions keep less than the best ones: that is the price of not looking. With more than two "
        "classes the product fits all of them jointly by the multinomial loss, with one certificate.",
    )
    drawn = tuple(figures.figure_1(each, products[each.source.key]) for each in found if each.preparation == "public")
    rows = tuple(
        (
            each.found.source.name, f"{each.found.rows.n_rows}", each.certificate.theorem, each.certificate.mechanism,
            number(each.certificate.sensitivity or 0.0), f"{each.checked}", f"{each.faults}",
        )
        for each in certified
    )  # fmt: skip
    header = (
        "table", "rows", "theorem", "mechanism", "sensitivity at lambda 0.1", "certificates checked", "with a fault",
    )  # fmt: skip
    table = Table(header, rows, "Certificates", "Noise is seeded: the certificates say that they are for experiments.")
    yield Section("Figure 1: the same, prepared by public rules and certified", words, drawn, (table,))


def untuned(found: Sequence[Found], certified: Sequence[Certified]) -> Iterator[Section]:
    """Yield Figures 2 and 4 in both preparations."""
    paper = [each for each in found if each.preparation == "paper"]
    words = (
        "A constant scale gives away what a larger lambda would earn. The paper prints no scale; here it is the one "
        f"that each account asks for at lambda = {REFERENCE:g}, so that the promise is kept from there up.",
    )
    yield Section("Figure 2: noise of a constant scale", words, tuple(figures.figure_2(each) for each in paper))
    words = (
        "A scale is not a privacy level: the same noise is worth more or less by the account that one can prove. The "
        "second picture of each table says how much.",
    )
    drawn = tuple(figure for each in paper for figure in figures.figure_4(each))
    yield Section("Figure 4: changing scale at fixed regularisation", words, drawn)
    words = (
        "The product is asked for an epsilon, never for a scale: it is planned at the epsilon that the scale is worth "
        "at each lambda, and its certificate claims that one. A constant scale is thus a smaller epsilon for a larger "
        "lambda, and below the lambda that sets the scale a larger one.",
    )
    drawn = (
        *(figures.figure_2(each.found, each) for each in certified),
        *(figure for each in certified for figure in figures.figure_4(each.found, each)),
    )
    yield Section("Figures 2 and 4: the same, prepared by public rules and certified", words, drawn, closed=True)


def selection(found: Sequence[Found], certified: Sequence[Certified]) -> Iterator[Section]:
    """Yield Figures 3, 5 and 6 in both preparations."""
    paper, products = _by_key(found, "paper"), {each.found.source.key: each for each in certified}
    words = (
        "Which weights are selected: those beyond a threshold, in deviations of the noise (Figure 3) or fixed (Figures "
        "5 and 6). A threshold that is public costs nothing. The score is F1 against the weights that are not 0 "
        "without noise, over all classifiers, without the constant column.",
        "A zero weight is selected by mistake with probability exp(-sqrt(2) c) under independent Laplace noise and "
        "about 2 Phi(-c) under spherical noise, at c deviations (F3): 1.4 % and 0.3 % at c = 3, 24 % and 32 % at c = "
        "1.",
        "For Figure 3 the paper prints neither its epsilon nor how many deviations it took. A high score at the "
        "largest lambda says that both selections are empty.",
        "Figures 5 and 6 have one caption in the paper; here the noise of Figure 6 is that of Figure 2. Where nearly "
        "every weight counts, at a small lambda, a cutoff below the noise selects everything and scores high: there a "
        "noisier curve lies above a better one, and the score says nothing.",
    )
    drawn = (
        figures.figure_3(paper["khan"], 2),
        figures.figure_3(paper["adult"], 1),
        *figures.fixed_cutoffs(paper["khan"]),
    )
    table = _scores(((paper["khan"], 2), (paper["adult"], 1)))
    yield Section("Feature selection (Figures 3, 5 and 6)", words, drawn, (table,))
    khan, adult = products["khan"], products["adult"]
    free = (
        "Released weights of the product against public thresholds: free after the release. For more than two classes "
        "the product is one multinomial model, the other two curves one classifier a class. All of them select columns "
        "here, as eq.FeatureSelector does: those with a weight beyond the threshold for any class."
    )
    drawn = (
        figures.figure_3(khan.found, 2, khan),
        figures.figure_3(adult.found, 1, adult),
        *figures.fixed_cutoffs(khan.found, khan),
    )
    yield Section("Figures 3, 5 and 6: the same, prepared by public rules and certified", (free,), drawn, closed=True)


def _scores(drawn: Sequence[tuple[Found, int]]) -> Table:
    """Return what each noise scores in Figure 3, at the middle lambda and above."""
    places = (MIDDLE, 1.0)
    rows = tuple(
        (
            found.source.name, f"{found.epsilons[level]:g}", f"{multiple:g}", noise.name,
            *(
                f"{found.curves[noise.key].dynamic[multiple][level, found.at(strength)].mean():.2f}"
                for strength in places
            ),
        )
        for found, level in drawn for multiple in MULTIPLES for noise in (DIRECT, PRINTED, BOUND)
    )  # fmt: skip
    header = ("table", "epsilon", "deviations", "noise", *(f"F1 at lambda {strength:g}" for strength in places))
    return Table(header, rows, "Figure 3 in numbers", texts=("noise",))


def setting(found: Sequence[Found]) -> Section:
    """Return what was run."""
    rows = tuple(
        (
            each.source.name, each.preparation, f"{each.source.features.shape[0]}", f"{each.source.features.shape[1]}",
            f"{each.source.classes}", f"{each.rows.n_rows}", f"{each.rows.clipped:.0%}",
        )
        for each in found
    )  # fmt: skip
    header = ("table", "preparation", "rows", "columns before", "classes", "training rows", "rows clipped")
    remarks = dict.fromkeys(f"{each.source.name}: {each.source.remark}." for each in found if each.source.remark)
    table = Table(header, rows, "The tables", " ".join(remarks))
    words = (
        f"{found[0].plain.shape[1]} seeded splits, 80 to 20; 32 columns; weights 0.85 and 0.15 of the squared L2 and "
        "the L1 norm. The paper prints neither its lambdas, nor its epsilons, nor L and kappa; L is 1 for logistic "
        "losses.",
        "The objective is that of Algorithm 2, without a half before the squared norm, minimised to a tolerance of "
        "1e-7. The paper used scikit-learn's SGD, which has the half, an intercept without a penalty, and stops before "
        "the minimum: neither Theorem 7 nor Corollary 15 speaks of what it returns. More than two classes are one "
        "classifier a class against the rest, as there.",
    )
    return Section("What was run", words, tables=(table,))


def wrong() -> Section:
    """Return what is wrong with the paper, beyond the mechanism."""
    words = (
        "Algorithm 2: beta has kappa for kappa^2; the penalty lambda gamma |w|^2 has strong convexity 2 lambda gamma, "
        "not lambda gamma; and Theorem 7 turns 1/n into 1/sqrt(n) (A3, F1).",
        "Section 6: SVD and standardisation look at private rows; K classifiers see every row and are noised at one "
        "epsilon each; the experiments' SGD is no exact minimiser; Figures 5 and 6 have one caption.",
        "Lemma 16: right for weights of 0. Others are missed where the noisy weight ends within the threshold, which "
        "is not the printed event; eta is printed for gamma; the consequence's exponent is 1/2, not 2.",
        "Lemma 11: right for the printed noise and four times too large; exact for spherical noise; no upper bound for "
        "independent noise at the scale that is private.",
    )
    return Section("What is wrong with the paper, and what the product does instead", words)


def all_sections(found: Sequence[Found], certified: Sequence[Certified], audits: Audits) -> Iterator[Section]:
    """Yield the sections of the page in order."""
    yield summary(found, certified, audits)
    yield mechanism(audits, found)
    yield from tuned(found, certified)
    yield from untuned(found, certified)
    yield from selection(found, certified)
    yield table_section()
    yield setting(found)
    yield wrong()
