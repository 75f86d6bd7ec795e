"""The trade-off of stability, as numbers: what privacy, sampling and the penalty cost over alpha and epsilon.

Section 4.1 of [000] with constants: the error that noise adds (Lemma 11 corrected, J5), the generalisation error (J1),
what a stable algorithm must pay in training error, and what more stability is worth at fixed noise (Corollary 13, J5).
Everything follows from public facts, and nothing here plays a part in a privacy claim. The page docs/trade-off.md
explains the lines and proves the lower bound.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.certificate import Certificate
from equipoise.errors import EquipoiseError, InvalidParameter
from equipoise.planning.issue import asked_for, issue
from equipoise.planning.laws import deviation_of
from equipoise.planning.penalties import known as known_penalty
from equipoise.planning.public_alpha import guessed_norm
from equipoise.planning.risk import largest_loss, output_claim, risk, stability_gain
from equipoise.vocabulary.facts import Budget, Problem
from equipoise.vocabulary.losses import Loss

Array = NDArray[np.float64]

# The grid around the plan: steps an octave of alpha and a decade of epsilon, and how far it reaches to either side.
ALPHA_STEPS, ALPHA_OCTAVES = 2, 6
EPSILON_STEPS, EPSILON_DECADES = 4, 1
# Gains are computed at every second octave of alpha: over logarithms they are all but straight.
GAIN_OCTAVES = 2

# The tables that the lower bound tries: how many rows are unbalanced, and how long they are, down to a share of the
# row norm. Any one of them is a valid bound.
COUNTS, LENGTHS, SHORTEST = 100, 25, 0.01
# Halvings of an interval, after which doubles have no room left.
HALVINGS = 100

# The statements of `risk` that a line needs; the first one's remedy is the reason where the line has no number.
STATEMENTS = {
    "privacy": ("J5.norm", "J5.linear", "J5.smooth"),
    "lemma_11": ("J5.norm",),
    "generalisation": ("J1.mean",),
    "together": ("J4.linear.mean",),
}


@dataclass(frozen=True, slots=True)
class TradeOffPoint:
    """The bounds at one alpha and epsilon; None where public facts give none.

    Parameters
    ----------
    privacy : float, optional
        E|loss(released) - loss(before noise)|, at most: the smallest of J5.
    lemma_11 : float, optional
        The same as Lemma 11 of [000] states it, corrected: L E||k|| (J5.norm).
    generalisation : float, optional
        |E(population - training loss)| before noise, at most (J1).
    training_high : float
        The training loss before noise above that of any weights of norm G, at most, for every table (J6).
    training_low : float
        The same, at least, for some table (section 4.1 of [000], with constants).
    together : float, optional
        The population risk of the release above that of weights of norm G, in the mean, at most (J4.linear.mean).
    """

    alpha: float
    epsilon: float
    sensitivity: float
    noise_deviation: float
    privacy: float | None
    lemma_11: float | None
    generalisation: float | None
    training_high: float
    training_low: float
    together: float | None


@dataclass(frozen=True, slots=True)
class Gain:
    """What the noise that an alpha needs for a budget is worth at another alpha (Corollary 13 of [000], J5).

    Parameters
    ----------
    alpha : float
        The other alpha.
    budget : float
        The epsilon that the noise is for, at the alpha in the middle of the grid.
    sensitivity_ratio : float
        The sensitivity at the other alpha over that in the middle.
    epsilon : float
        Certified by the curve of that noise.
    published : float
        By the sensitivities of [000], ``sqrt(2 beta/lambda)``, each with its own stability and strength. The corollary
        prints ``sqrt(beta_2/beta_1)``, for one strength.
    """

    alpha: float
    budget: float
    sensitivity_ratio: float
    epsilon: float
    published: float


@dataclass(frozen=True, slots=True)
class TradeOff:
    """Bounds over a grid of alpha and epsilon around a plan of noise on the output.

    `reasons` says for each line of `TradeOffPoint` without a number at the plan why there is none, and what to do.
    `refused` counts places of the grid where nothing can be certified, and `refusal` is what the first one says.
    """

    certificate: Certificate
    alphas: tuple[float, ...]
    epsilons: tuple[float, ...]
    points: tuple[TradeOffPoint, ...]
    gains: tuple[Gain, ...]
    reasons: tuple[tuple[str, str], ...] = ()
    refused: int = 0
    refusal: str = ""

    @property
    def norm(self) -> float:
        """G, the norm of the weights that training errors are measured against."""
        return guessed_norm(output_claim(self.certificate).problem)

    @property
    def ceiling(self) -> float:
        """The loss of a model that says nothing: an error above it has no meaning."""
        return _without_weights(output_claim(self.certificate).problem)


def trade_off(certificate: Certificate) -> TradeOff:
    """Return the trade-off around a plan, without touching data.

    A plan that "auto" put elsewhere is planned anew with noise on the output, which all of these bounds are about.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), mechanism="output")
    >>> found = trade_off(model.plan(n_samples=10_000, n_features=20))
    >>> len(found.alphas), len(found.epsilons)
    (25, 9)
    >>> weak, strong = (point for point in found.points if point.epsilon == 10.0 and point.alpha in found.alphas[::24])
    >>> strong.privacy < weak.privacy, strong.training_low > weak.training_low
    (True, True)
    """
    centre = _on_the_output(certificate)
    request, alpha, budget = asked_for(centre), centre.alpha, centre.claim.budget
    octaves = range(-ALPHA_STEPS * ALPHA_OCTAVES, ALPHA_STEPS * ALPHA_OCTAVES + 1)
    decades = range(-EPSILON_STEPS * EPSILON_DECADES, EPSILON_STEPS * EPSILON_DECADES + 1)
    # The plan itself is on the grid, unrounded.
    alphas = [alpha * 2 ** (step / ALPHA_STEPS) if step else alpha for step in octaves]
    epsilons = [budget.epsilon * 10 ** (step / EPSILON_STEPS) if step else budget.epsilon for step in decades]
    issued: dict[tuple[float, float], Certificate] = {}
    refusals: list[str] = []
    for strength in alphas:
        for level in epsilons:
            try:
                issued[strength, level] = issue(replace(request, alpha=strength, budget=Budget(level, budget.delta)))
            except EquipoiseError as refusal:
                # Nothing can be certified there: too small an alpha for double precision, for example.
                refusals.append(str(refusal))
    points = tuple(_point(each) for each in issued.values())
    gains = tuple(
        _gain(issued[alpha, level], issued[strength, level])
        for level in epsilons
        for strength in alphas[:: GAIN_OCTAVES * ALPHA_STEPS]
        if (alpha, level) in issued and (strength, level) in issued
    )
    kept = tuple(strength for strength in alphas if any((strength, level) in issued for level in epsilons))
    levels = tuple(level for level in epsilons if any((strength, level) in issued for strength in alphas))
    return TradeOff(
        centre, kept, levels, points, gains, _reasons(centre), len(refusals), refusals[0] if refusals else ""
    )


def _reasons(centre: Certificate) -> tuple[tuple[str, str], ...]:
    """Return the lines that have no number at the plan, each with the remedy of the statement it needs."""
    report = risk(centre, radius=guessed_norm(output_claim(centre).problem))
    return tuple(
        (line, report[names[0]].remedy)
        for line, names in STATEMENTS.items()
        if not any(report[name].holds for name in names)
    )


def _on_the_output(certificate: Certificate) -> Certificate:
    request = asked_for(certificate)
    if request.recipe is not None:
        raise InvalidParameter(
            "a model whose objective is minimised, since alpha alone makes it stable",
            "one that descends by a recipe",
            "draw the trade-off of logistic, ridge, svm, huber or an elastic net",
        )
    if certificate.kind != "output" and request.mechanism == "auto":
        certificate = issue(replace(request, mechanism="output"))
    # Asking for it refuses every other release, with the remedy.
    output_claim(certificate)
    return certificate


def _point(certificate: Certificate) -> TradeOffPoint:
    claim = output_claim(certificate)
    problem, norm = claim.problem, guessed_norm(claim.problem)
    report = risk(certificate, radius=norm)
    forms = [report[name].value for name in ("J5.norm", "J5.linear", "J5.smooth")]
    weights = claim.noise.dimension // problem.loss.free_outputs * problem.loss.outputs
    slack = claim.tolerance**2 / (2 * claim.constants.strong_convexity)
    return TradeOffPoint(
        alpha=certificate.alpha,
        epsilon=certificate.epsilon,
        sensitivity=claim.sensitivity,
        noise_deviation=deviation_of(claim.noise),
        privacy=min((form for form in forms if form is not None), default=None),
        lemma_11=forms[0],
        generalisation=report["J1.mean"].value,
        # Weights of 0 pay no penalty, and no loss is below 0.
        training_high=min(known_penalty(problem.penalty).largest(norm, weights), _without_weights(problem)) + slack,
        training_low=least_training_error(problem, claim.sensitivity, claim.n_samples, norm),
        together=report["J4.linear.mean"].value,
    )


def _without_weights(problem: Problem) -> float:
    """Return the loss of a model that says nothing: its largest value at predictions of 0."""
    return largest_loss(problem.loss, 0.0, problem.domain.label_bound)


def _gain(centre: Certificate, other: Certificate) -> Gain:
    found = stability_gain(centre, other)
    before, after = (output_claim(each).constants.strong_convexity for each in (centre, other))
    published = centre.epsilon * found.published_ratio * math.sqrt(before / after)
    return Gain(other.alpha, centre.epsilon, found.sensitivity_ratio, found.epsilon, published)


def least_training_error(problem: Problem, sensitivity: float, n_samples: int, norm: float) -> float:
    """Return what any algorithm this stable pays on some table: training loss above that of weights of norm `norm`.

    Two tables agree but for m rows, which are all the same one, of norm b: labelled high in the first table and low in
    the second. Their weights are at most ``m Delta`` apart, so in one of the tables the prediction for that row stays
    below ``b m Delta/2``, where weights of norm G reach ``b G``. The other rows have predictions of 0 and cannot help
    (docs/trade-off.md). For K classes it is K tables, and the margin of the row's class over every other one stays
    below ``b m Delta/sqrt(2)``, where weights of norm G reach ``b G sqrt(K/(K - 1))``. It holds before noise, and in
    the mean over zero-mean noise as well, since losses are convex. The largest value over a grid of m and b counts.

    Examples
    --------
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.facts import Domain
    >>> problem = Problem(losses.named("absolute"), penalties.named("l2", 1.0), Domain(1.0, labels=(-9.0, 9.0)))
    >>> round(least_training_error(problem, 0.01, 1000, 5.0), 3)  # rho G^2 / (2 n Delta): the slopes stay 1
    1.25
    """
    loss = problem.loss
    counts, lengths = _unbalanced(n_samples, problem), _lengths(problem)[:, None]
    high = problem.domain.label_bound
    if loss.outputs > 1:
        best = norm * lengths * math.sqrt(loss.outputs / (loss.outputs - 1))
        reach = np.minimum(lengths * counts * sensitivity / math.sqrt(2), best)
    else:
        far = norm * lengths
        best = np.minimum(far, _turn(loss, float(far.max()), high))
        reach = np.minimum(lengths * counts * sensitivity / 2, best)
    gap = _costs(loss, reach, high) - _costs(loss, best, high)
    return max(0.0, float((counts / n_samples * gap).max()))


def _turn(loss: Loss, far: float, high: float) -> float:
    """Return the best prediction from 0 on to `far` at a target: where the slope turns, from below."""
    low = 0.0
    for _ in range(HALVINGS):
        middle = low + (far - low) / 2
        low, far = (middle, far) if loss.slope(middle, high) < 0 else (low, middle)
    return low


def _costs(loss: Loss, reached: Array, high: float) -> Array:
    """Return the losses at the high target, or of margins by which the row's own class is ahead of every other one."""
    if loss.outputs > 1:
        others = (0.0,) * loss.free_outputs
        costs = [loss.value((margin, *others), 0) for margin in reached.ravel().tolist()]
    else:
        costs = [loss.value(prediction, high) for prediction in reached.ravel().tolist()]
    return np.array(costs).reshape(reached.shape)


def _unbalanced(n_samples: int, problem: Problem) -> Array:
    """Return numbers m of rows, spread evenly in logarithms up to n; the others can be shared out among the labels.

    These are the two ends of a target, or all classes.
    """
    if problem.intercept > problem.domain.row_norm:
        # No row has a prediction of 0 where that one does not: all rows are the same.
        return np.array([float(n_samples)])
    labels = max(2, problem.loss.outputs)
    least = n_samples % labels or labels
    counts = {
        n_samples - labels * round((n_samples - least * (n_samples / least) ** (step / COUNTS)) / labels)
        for step in range(COUNTS + 1)
    }
    return np.array(sorted(counts), dtype=np.float64)


def _lengths(problem: Problem) -> Array:
    """Return row norms b, constant column included, for which another row of the domain is orthogonal."""
    constant, limit = problem.intercept, problem.domain.row_norm
    least = constant * math.hypot(1.0, constant / limit)
    if least >= problem.row_norm:
        return np.array([problem.row_norm])
    return np.geomspace(max(least, SHORTEST * problem.row_norm), problem.row_norm, LENGTHS)
