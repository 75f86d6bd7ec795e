"""The sections of the page: the paper's tables and figures in its order, then what it leaves out."""

from collections.abc import Iterator, Sequence

from equipoise.lab.estimate import Estimate
from equipoise_studies.intrinsic_privacy import figures, published
from equipoise_studies.intrinsic_privacy.measure import SHOWN_WEIGHTS, Measured, MeasuredNetwork, Reading
from equipoise_studies.study_page import Section, Table, number

WHY_NO_CERTIFICATE = (
    "With a fixed start SGD takes finitely many values, one for each order of the rows, and on a neighbouring dataset "
    "other ones: seeing the weights tells the two apart, so the true delta is 1 for every epsilon. A start from a "
    "bounded law has the same fault at its edges.",
    "That single weights pass a test of normality says nothing about tails at 1/N, nor about the joint law.",
    "The mean and the covariance of the noise both depend on the data; the formula assumes that only the mean does.",
    "Sigma is estimated from runs on data that it is meant to protect, or on public data that may differ.",
    "Claims 1 and 2 compare upper bounds on variability with upper bounds on sensitivity; privacy needs a lower bound.",
    "The empirical sensitivity is a maximum over sampled pairs, so it bounds the true one from below, not from above.",
    "Two of the paper's datasets differ in two rows, each having the first row at a place of its own, so their "
    "distance may reach twice the bound for one row.",
)


def _text(found: Estimate | None) -> str:
    if found is None:
        return ""
    if found.low == found.high:
        return number(found.value)
    return f"{number(found.value)} ({number(found.low)} .. {number(found.high)})"


def _table(rows: Sequence[tuple[str, ...]], names: Sequence[str], caption: str, note: str = "") -> Table:
    return Table(("", *names), tuple(rows), caption, note)


def setting(all_found: Sequence[Measured]) -> Section:
    """Return Tables I and II."""
    names = [each.source.name for each in all_found]
    sizes = [
        ("training size", *(str(each.n_samples) for each in all_found)),
        ("test size", *(str(each.n_test) for each in all_found)),
        ("columns", *(str(each.n_features) for each in all_found)),
        ("seeds x datasets, for each start", *(f"{each.side} x {each.side}" for each in all_found)),
        ("preparation", *(each.source.preparation for each in all_found)),
    ]
    settings = [
        ("batch size", *(str(each.source.batch_size) for each in all_found)),
        ("step", *(number(each.source.step) for each in all_found)),
        ("steps", *(str(each.source.n_steps) for each in all_found)),
    ]
    words = (
        "Logistic regression with an intercept, trained by SGD: rows are shuffled anew in every epoch, the short batch "
        "at its end is left out. Each dataset has the first training row in the place of one of its own. Weights start "
        "from Glorot's uniform law, drawn by each seed (varying start) or once for all (fixed start); biases at 0.",
        "The paper does not print how columns are scaled. Preparations were tried and chosen by how close they come to "
        "its tables, so that this closeness is partly by choice; the section on preparations has others. For Adult and "
        "Forest the authors' published code does the same; for MNIST it scales rows to norm 1, as the text says.",
    )
    tables = (_table(sizes, names, "Table I: data sources"), _table(settings, names, "Table II: settings"))
    return Section("What was run (Tables I and II)", words, tables=tables)


def paths(found: Measured) -> Section:
    """Return Figure 1."""
    last = found.n_features - 1
    shown = (min(SHOWN_WEIGHTS[0], last - 1), min(SHOWN_WEIGHTS[1], last))
    figure = figures.path_figure(found.paths, found.path_steps, shown, found.source.name)
    return Section("SGD on one dataset ends in different places (Figure 1)", figures=(figure,))


def distances(all_found: Sequence[Measured]) -> Section:
    """Return Figure 2."""
    drawn = []
    for each in all_found:
        drawn.append(
            figures.distance_figure(f"figure-2-{each.source.key}", each.source.name, each.laws, each.bound.value)
        )
    rows = [
        (
            "median distance, another row",
            *(_text(each.finding.variability.varying.by_data.median) for each in all_found),
        ),
        (
            "largest distance, another row",
            *(_text(each.finding.variability.varying.by_data.maximum) for each in all_found),
        ),
        (
            "median distance, another seed",
            *(_text(each.finding.variability.varying.by_seed.median) for each in all_found),
        ),
        ("the same with a fixed start", *(_text(each.laws["fixed"].by_seed.median) for each in all_found)),
        ("varying over fixed start", *(_text(each.finding.variability.ratio) for each in all_found)),
    ]
    note = (
        "With 95 % intervals from drawing seeds and datasets anew. A largest distance is a maximum over sampled pairs."
    )
    table = _table(rows, [each.source.name for each in all_found], "Distances between runs, varying start", note)
    return Section("Seeds move the weights farther than one row does (Figure 2)", (), tuple(drawn), (table,))


def normality(found: Measured) -> Section:
    """Return Figure 3."""
    tests = found.finding.normality
    words = (
        "Each weight of each dataset is tested for a normal law over the seeds. A test that does not reject says only "
        f"that {found.side} seeds do not show a difference.",
    )
    figure = figures.p_value_figure(tests.p_values, tests.level, tests.corrected)
    return Section("Are single weights normal? (Figure 3)", words, (figure,))


def privacy(all_found: Sequence[Measured]) -> Section:
    """Return Table III and Figures 4 and 8."""
    names = [each.source.name for each in all_found]
    rows: list[tuple[str, ...]] = []
    printed = [published.TABLE_3[each.source.key] for each in all_found]
    parts = (
        ("theoretical sensitivity", "bound", [each.bound for each in all_found]),
        ("empirical sensitivity", "empirical", [each.finding.empirical.maximum for each in all_found]),
        ("sigma, varying start", "sigma", [each.finding.sigma for each in all_found]),
        ("intrinsic epsilon", "epsilon", [each.epsilons.paper for each in all_found]),
        (
            "by the empirical sensitivity",
            "epsilon_empirical",
            [each.finding.epsilon_empirical.paper for each in all_found],
        ),
    )
    for name, part, measured in parts:
        rows.append((f"{name}: published", *(number(getattr(row, part)) for row in printed)))
        rows.append(("measured", *(_text(each) for each in measured)))
    rows += [
        ("sigma, fixed start", *(_text(each.fixed.sigma) for each in all_found)),
        ("intrinsic epsilon, fixed start", *(_text(each.fixed.epsilon) for each in all_found)),
        ("by the empirical sensitivity, fixed start", *(_text(each.fixed.epsilon_empirical) for each in all_found)),
    ]
    drawn = []
    for each in all_found:
        key, name = each.source.key, each.source.name
        drawn.append(figures.epsilon_figure(f"figure-4-{key}", f"{name}, varying start", each.finding.pairwise.values))
    for each in all_found:
        key, name = each.source.key, each.source.name
        drawn.append(figures.epsilon_figure(f"figure-8-{key}", f"{name}, fixed start", each.fixed.pairwise.values))
    table = _table(rows, names, "Table III, published and measured, and the same with a fixed start")
    title = "How private would SGD be, were it a Gaussian mechanism? (Table III, Figures 4 and 8)"
    words = ("These epsilons rest on an assumption that is false: the end of the page says why.",)
    return Section(title, words, tuple(drawn), (table,))


def utility(all_found: Sequence[Measured]) -> Section:
    """Return Table IV and Figures 5 and 9."""
    rows: list[tuple[str, ...]] = []
    for name, measured in (
        ("noiseless", [each.utilities.noiseless for each in all_found]),
        ("bound: SGD as deterministic", [each.utilities.bound.deterministic for each in all_found]),
        ("bound: SGD as random", [each.utilities.bound.random for each in all_found]),
        ("bound: gain", [each.utilities.bound.gain for each in all_found]),
        ("empirical: SGD as deterministic", [each.utilities.empirical.deterministic for each in all_found]),
        ("empirical: SGD as random", [each.utilities.empirical.random for each in all_found]),
        ("empirical: gain", [each.utilities.empirical.gain for each in all_found]),
    ):
        rows.append((name, *(_text(each) for each in measured)))
    rows.append(("bound: p-value of the paired t-test", *(f"{each.utilities.bound.p_value:.2g}" for each in all_found)))
    rows.append(
        ("empirical: p-value of the paired t-test", *(f"{each.utilities.empirical.p_value:.2g}" for each in all_found))
    )
    words = (
        "Algorithm 2 adds only the noise that SGD's own is taken to lack of the target. It is a finding: its "
        "assumption is refuted, so it makes no certificate, and its gains are not bought at the same privacy.",
        "Both ways add the same drawn noise, scaled, to the same runs, so that a run's gain is due to the scale alone.",
    )
    drawn = []
    for figure, keep in (("figure-5", "fixed start"), ("figure-9", "")):
        for each in all_found:
            records = [record for record in each.utilities.curve if not keep or keep not in str(record["ink"])]
            heading = each.source.name + (", varying start" if keep else ", both starts")
            drawn.append(figures.utility_figure(f"{figure}-{each.source.key}", heading, records))
    names = [each.source.name for each in all_found]
    table = _table(rows, names, "Table IV: test accuracy at epsilon = 1, varying start, by the sensitivity used")
    return Section("What Algorithm 2 would gain (Table IV, Figures 5 and 9)", words, tuple(drawn), (table,))


def networks(found: Sequence[MeasuredNetwork]) -> Section:
    """Return Figures 6 and 7."""
    drawn = []
    for each in found:
        moved = each.variability
        laws = {"varying": moved.varying} | ({} if moved.fixed is None else {"fixed": moved.fixed})
        drawn.append(figures.distance_figure(f"figure-6-{each.network.key}", each.network.name, laws, None))
    for each in found:
        drawn.append(figures.epsilon_figure(f"figure-7-{each.network.key}", each.network.name, each.pairwise.values))
    words = (
        "One hidden layer of ReLU units. There is no bound on the sensitivity; sigma is of the varying start. The "
        "paper prints neither step nor length of training: step 0.5 and 4,750 (MNIST, unit rows) and 1,850 steps "
        "(Adult) are from its authors' published code (MNIST: for principal directions and 10 units), which also drops "
        "a fifth of the hidden units: not here.",
    )
    return Section("Networks (Figures 6 and 7)", words, tuple(drawn))


def other_preparations(all_found: Sequence[Measured], others: Sequence[Reading]) -> Section:
    """Return what other ways to prepare the data would have led to."""
    rows = []
    keys = {each.source.key.split("-")[0] for each in others}
    for each in all_found:
        if each.source.key in keys:
            printed = published.TABLE_3[each.source.key], published.TABLE_4[each.source.key]
            numbers = (printed[0].sigma, printed[0].empirical, printed[1].noiseless)
            rows.append((each.source.name, "published", *(number(value) for value in numbers)))
            measured = (each.finding.sigma, each.finding.empirical.maximum, each.utilities.noiseless)
            rows.append(("", each.source.preparation, *(_text(value) for value in measured)))
            for other in others:
                if other.source.key.split("-")[0] == each.source.key:
                    found = (other.sigma, other.empirical, other.accuracy)
                    rows.append(("", other.source.preparation, *(_text(value) for value in found)))
    header = ("data source", "preparation", "sigma", "empirical sensitivity", "accuracy without noise")
    words = (
        "What the paper leaves open, its numbers decide. Standardised Adult gives nearly the same sigma but a higher "
        "accuracy than printed. For MNIST the text says rows of norm 1; of the readings tried, rows as they come "
        "are closest to the printed numbers; for them neither L = sqrt 2 nor the bound holds.",
    )
    return Section("Which preparation?", words, tables=(Table(header, tuple(rows), texts=("preparation",)),))


def closer(all_found: Sequence[Measured]) -> Section:
    """Return what Algorithm 1's figures depend on: other sigmas, directions, half the rows, gradients."""
    names = [each.source.name for each in all_found]
    rows: list[tuple[str, ...]] = [
        (f"sigma, {way}", *(_text(each.finding.sigmas[way]) for each in all_found))
        for way in all_found[0].finding.sigmas
    ]
    # Without more seeds than dimensions the least noisy direction is one that the seeds happen to leave out.
    found = [each.finding.anisotropy for each in all_found]
    directions = [None if each.mahalanobis is None else each for each in found]
    rows += [
        ("least noisy direction's sigma", *(_text(each.least if each else None) for each in directions)),
        ("how optimistic one sigma is", *(_text(each.optimism if each else None) for each in directions)),
        ("sensitivity with whole passes (B1)", *(_text(each.rigorous) for each in all_found)),
        ("epsilon: exact Gaussian, whole passes", *(_text(each.rigorous_epsilons.gaussian) for each in all_found)),
        (
            "epsilon: the same in the least noisy direction",
            *(_text(each.epsilon_theoretical if each else None) for each in directions),
        ),
        ("sigma on half the rows over all", *(_text(each.half.sigma_ratio) for each in all_found)),
        (
            "empirical sensitivity on half the rows over all",
            *(_text(each.half.sensitivity_ratio) for each in all_found),
        ),
    ]
    claims = [each.finding.claims for each in all_found]
    rows += [
        (
            "Claim 1: bound on the distance of two seeds",
            *(number(each.variability_bound) if each else "" for each in claims),
        ),
        ("largest distance observed over that bound", *(_text(each.attained) if each else "" for each in claims)),
        ("Claim 2: Chebyshev's probability", *(number(each.probability) if each else "" for each in claims)),
    ]
    drawn = [
        figures.gradient_figure(
            f"gradients-{each.source.key}",
            f"{each.source.name}: gradients",
            each.gradients.steps,
            [value.value for value in each.gradients.maximum],
            [value.value for value in each.gradients.median],
            each.gradients.lipschitz,
        )
        for each in all_found
    ]
    words = (
        "The bound takes the Lipschitz constant for every gradient; gradients shrink as training goes on (Section "
        "VII). Shown is the average gradient between two traced steps.",
    )
    return Section("A closer look", words, tuple(drawn), (_table(rows, names, "What the figures depend on"),))


def no_certificate() -> Section:
    """Return why none of this certifies anything."""
    return Section("Why these measurements are no certificate", WHY_NO_CERTIFICATE)


def all_sections(
    found: Sequence[Measured], others: Sequence[Reading], trained: Sequence[MeasuredNetwork]
) -> Iterator[Section]:
    """Yield the sections of the page in order."""
    by_key = {each.source.key: each for each in found}
    yield setting(found)
    yield paths(by_key["forest"])
    yield distances(found)
    yield normality(by_key["mnist"])
    yield privacy(found)
    yield utility(found)
    yield networks(trained)
    yield other_preparations(found, others)
    yield closer(found)
    yield no_certificate()
