"""The paper's figures from what was measured, and the ones that it lacks."""

from collections.abc import Iterator, Sequence

from equipoise_studies.private_regression import measure
from equipoise_studies.private_regression.consequences import MEMBER_EPSILON, Consequences
from equipoise_studies.private_regression.measure import Measured
from equipoise_studies.private_regression.mechanisms import CORRECTED, MECHANISMS, PRINTED
from equipoise_studies.study_charts import lines
from equipoise_studies.study_page import Figure

# Errors above this are drawn at it: some are in the thousands, and the mean dose has 2.
LARGEST_DRAWN = 6.0
EPSILON, ERROR, INVERSION = "epsilon", "mean squared error", "inversion accuracy"
Record = dict[str, object]
# (line, key as printed, key corrected)
ACCURACY = (
    ("functional", "printed-functional", "functional"),
    ("tuned output, R1", "printed-tuned-output-r1", "tuned-output-r1"),
    ("data-independent output", "printed-output", "output"),
    ("hindsight (not private)", "oracle-printed", "oracle"),
)
OBJECTIVE = (
    ("objective, data-independent", "printed-objective", "objective"),
    ("tuned objective, R1", "printed-tuned-objective-r1", "tuned-objective-r1"),
    ("tuned objective, R2", "printed-tuned-objective-r2", "tuned-objective-r2"),
    ("data-independent output", "printed-output", "output"),
)
# Short words: two columns of a legend have to fit the page.
OURS = {
    "default": "eq.Ridge, defaults",
    "histogram": "histogram",
    "random-stopping": "random stopping",
    "plain": "no noise",
}


def _curve(found: Measured, key: str, figure: str, ink: str, dash: str) -> Iterator[Record]:
    for epsilon in found.epsilons:
        value = getattr(found, figure)(key, epsilon).value
        drawn = min(value, LARGEST_DRAWN) if figure == "squared" else value
        yield {"x": epsilon, "y": round(drawn, 4), "ink": ink, "dash": dash}


def _pairs(found: Measured, figure: str, listed: Sequence[tuple[str, str, str]]) -> list[Record]:
    return [
        record
        for ink, first, second in listed
        for key, dash in ((first, PRINTED), (second, CORRECTED))
        for record in _curve(found, key, figure, ink, dash)
    ]


def _over_epsilon(name: str, heading: str, records: list[Record], y: str, words: str) -> Figure:
    return Figure(name, heading, words, lines(records, x=EPSILON, y=y, logarithmic=True, floor=False))


DRAWN = (
    f"Means over repetitions, on the square root of the weekly dose in mg. What exceeds {LARGEST_DRAWN:g} is drawn "
    f"at {LARGEST_DRAWN:g}."
)


def accuracy(found: Measured) -> tuple[Figure, ...]:
    """Return Figures 1, 2 and 4, and the product's own choices."""
    ours = [record for key, name in OURS.items() for record in _curve(found, key, "squared", name, CORRECTED)]
    return (
        _over_epsilon("figure-1", "Figure 1: output perturbation and functional mechanism",
                      _pairs(found, "squared", ACCURACY), ERROR, DRAWN),
        _over_epsilon("figure-ours", "The product's default beside others", ours, ERROR, DRAWN),
        _over_epsilon("figure-2", "Figure 2: data-independent and oracle",
                      _pairs(found, "squared", ACCURACY[2:]), ERROR, DRAWN),
        _over_epsilon("figure-4", "Figure 4: objective perturbation",
                      _pairs(found, "squared", OBJECTIVE), ERROR,
                      DRAWN + " Objective perturbation as printed is not epsilon-private."),
    )  # fmt: skip


def inversion(found: Measured) -> tuple[Figure, ...]:
    """Return Figures 5 and 6, and the attack on the product's default."""
    ours = [record for key, name in OURS.items() for record in _curve(found, key, "inversion", name, CORRECTED)]
    words = f"Guessing the most frequent level is right for {found.baseline.value:.1%} of the test patients."
    return (
        _over_epsilon("figure-5", "Figure 5", _pairs(found, "inversion", ACCURACY), INVERSION, words),
        _over_epsilon("figure-6", "Figure 6: data-independent and oracle",
                      _pairs(found, "inversion", ACCURACY[2:]), INVERSION, words),
        _over_epsilon("figure-5-ours", "The same attack on the default and others", ours, INVERSION, words),
        monotonicity(found),
    )  # fmt: skip


def monotonicity(found: Measured) -> Figure:
    """Return the assumption of section 5.3 as a chart: inversion over excess error."""
    keys = {"default": "default", "statistics": "sufficient statistics", "histogram": "projected histogram",
            "output-public": "output, public ridge"}  # fmt: skip
    least = found.squared("plain", found.epsilons[0]).value
    records: list[Record] = []
    for key, ink in keys.items():
        for epsilon in found.epsilons:
            x = max(found.squared(key, epsilon).value - least, 1e-3)
            records.append(
                {"x": round(x, 4), "y": round(found.inversion(key, epsilon).value, 4), "ink": ink, "dash": "all"}
            )
    chart = lines(records, x="excess error over least squares", y=INVERSION, logarithmic=True, floor=False)
    words = "Each point is a mechanism at an epsilon. The more a model is worth, the more it tells about anybody."
    return Figure("figure-monotone", "Section 5.3: the attack over the excess error", words, chart)


def shares(found: Measured) -> tuple[Figure, ...]:
    """Return Figure 7: error and inversion over the share of the training rows."""
    drawn = []
    for figure, y, name in (("squared", ERROR, "figure-7"), ("inversion", INVERSION, "figure-7-inversion")):
        records: list[Record] = []
        for key, scores in found.shares.items():
            for share, values in zip(found.sampled, getattr(scores, figure).mean(1).tolist(), strict=True):
                value = min(values, 20.0) if figure == "squared" else values
                records.append({"x": 100 * share, "y": round(value, 4), "ink": key, "dash": "all"})
        chart = lines(records, x="% of each training chunk", y=y, floor=False)
        words = f"Tuned output perturbation, R1, epsilon {measure.SHARE_EPSILON:g}."
        words += " What exceeds 20 is drawn at 20." if figure == "squared" else ""
        drawn.append(Figure(name, f"Figure 7: {y}", words, chart))
    return tuple(drawn)


def clinical(found: Consequences) -> tuple[Figure, ...]:
    """Return Figure 3: risks relative to the model without noise, and time in range."""
    drawn = []
    for harm, heading in (("death", "(a) Mortality"), ("bleeding", "(b) Bleeding"), ("stroke", "(c) Stroke")):
        records: list[Record] = [
            {
                "x": epsilon,
                "y": round(treated.risks[harm].value, 4),
                "ink": OURS[key] if key in OURS else MECHANISMS[key].family,
                "dash": "all",
            }
            for (key, epsilon), treated in found.treated.items()
        ]
        chart = lines(records, x=EPSILON, y="relative risk", logarithmic=True, floor=False)
        words = f"{found.n_patients} simulated patients over 90 days; 1 is the model without noise. All but "
        words += "eq.Ridge are as printed."
        drawn.append(Figure(f"figure-3-{harm}", f"Figure 3 {heading}", words, chart))
    return tuple(drawn)


def membership(found: Consequences) -> Figure:
    """Return the curves of the membership attacks, with what epsilon allows at most."""
    records: list[Record] = []
    for name, finding in found.memberships.items():
        curve = finding.likelihood_ratio
        keep = max(1, len(curve.false_positive_rate) // 200)
        for x, y in zip(curve.false_positive_rate[1::keep], curve.true_positive_rate[1::keep], strict=True):
            if x >= 1e-3:
                records.append({"x": round(float(x), 5), "y": round(float(y), 5), "ink": name, "dash": "attack"})
        if finding.ceiling is not None:
            records += [
                {
                    "x": x,
                    "y": round(float(finding.ceiling.at(x)), 5),
                    "ink": "most that epsilon allows",
                    "dash": "attack",
                }
                for x in (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.27, 0.4, 0.6, 0.8, 1.0)
            ]
    chart = lines(records, x="false positives", y="true positives", logarithmic=True)
    words = f"Likelihood-ratio attack. The ceiling is that of epsilon {MEMBER_EPSILON:g}."
    return Figure("figure-membership", "Was a patient in the table?", words, chart)
