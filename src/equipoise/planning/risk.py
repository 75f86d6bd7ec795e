"""Risk: what a certificate's public numbers say about training and population loss, before any row is read.

Every statement is a certified bound, proved in docs/proofs/J1.md, J3.md, J4.md, J5.md or J6.md, and says for which
weights and which risk it holds. The papers' own numbers stand beside them, marked. Nothing here plays a part in the
privacy claim. A statement about the population assumes rows that are independent draws from one distribution, which
no certificate can check.
"""

import itertools
import math
import textwrap
from dataclasses import dataclass

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.output import Output
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.certify.curves import Curve
from equipoise.errors import InvalidParameter
from equipoise.planning.laws import deviation_of, known
from equipoise.planning.penalties import known as known_penalty
from equipoise.planning.public_alpha import excess_risk, guessed_norm
from equipoise.vocabulary.facts import Problem
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.numbers import plain, require_number

# Covers the rounding of special functions and the grid that releases are rounded to, 2^-41 of the scale (D1).
NORM_MARGIN = 1e-9

COLUMNS = 108

REMEDIES = {
    "radius": "declare a weight radius in the domain, so that losses and slopes are bounded",
    "lipschitz": "the loss is not Lipschitz for all weights: take one that is, such as huber, or project the release",
    "cut": "pass loss_bound=M: noise has no largest length, so only a Lipschitz loss that is cut at M is bounded",
    "ridge": "the slope of the penalty is not bounded in every dimension: use a ridge",
    "corners": "the loss has corners: use the Lipschitz form",
    "alpha": "needs a ridge, and a Lipschitz loss or a declared weight radius",
    "interior": "a weight radius may bind, or there are corners: the gradient need not vanish at the minimiser",
    "large": "e^epsilon is too large for a number: use J3",
    "order": "an order of growth without a constant: use J4.convex.tail",
    "unsound": "with that factor it is no upper bound, with the spherical law it is exact: use J5.norm",
}

# For each statement: id | where | remedy | quantity, and on the next line what it means in full.
WORDS = """
J1.mean | docs/proofs/J1.md | radius | population minus training loss, in the mean over rows; before noise
    |E(population - training loss)| <= gam = rho Delta, {solver}
J1.tail | docs/proofs/J1.md | radius | the same with the confidence, for a loss in [0, {largest:.4g}]; before noise
    gam + (2 n gam + M) sqrt(ln(1/th)/(2n)), at most M, with probability 1 - th over rows, {solver}
J1.released.mean | docs/proofs/J1.md | lipschitz | population minus training loss, mean over rows and noise; released
    |E(population - training loss)| <= L Delta, {released}
J1.released.tail | docs/proofs/J1.md | cut | the same with the confidence, for the loss cut at loss_bound; released
    as J1.tail with gam = L Delta and M = loss_bound, with probability 1 - th over rows and noise, {released}
J3.signed | docs/proofs/J3.md | large | one {unit} replaced: |loss| <= M = {bound:.4g} ({kind}); released
    the mean loss at any row changes by at most 2 M (e^epsilon - 1 + 2 delta)/(e^epsilon + 1), {released}
J3.bounded | docs/proofs/J3.md | large | the same for a loss that is not negative; released
    M (e^epsilon - 1 + 2 delta)/(e^epsilon + 1), {released}
J3.curve | docs/proofs/J3.md | large | the same by the total variation of this very noise; released
    M delta(0), where delta(.) is the curve of this release, {released}
002-Prop10 | [002] Proposition 10 | large | paper: J3.signed as M (e^epsilon - 1), at delta = 0; released
    correct and loose: J3.signed is smaller for every epsilon
J4.solver.mean | docs/proofs/J4.md | radius | regularised population risk above its minimum, in the mean; before noise
    E F(w) - min F <= gam + tau^2/mu, F = population loss + penalty, w the solver's weights or the exact minimiser
J4.solver.tail | docs/proofs/J4.md | radius | the same with the confidence; before noise
    (gam + tau^2/mu)/th with probability 1 - th over the rows (Markov)
J4.strong.mean | docs/proofs/J4.md | ridge | the same in the mean over rows and noise; released, projected onto R
    gam + tau^2/mu + (rho + slope of the penalty) E||k||, for the release projected onto radius R + tau/mu
J4.strong.tail | docs/proofs/J4.md | ridge | the same with the confidence; released, projected onto R
    2 (gam + tau^2/mu)/th + (rho + slope of the penalty) q, q the 1 - th/2 quantile of the noise's length
J4.convex.mean | docs/proofs/J4.md | lipschitz | population risk above weights of norm {norm:.4g}, in the mean; released
    penalty(G) + gam + tau^2/mu + L E||k||, {released}, against any weights of norm G
J4.convex.tail | docs/proofs/J4.md | lipschitz | the same with the confidence; released
    penalty(G) + 2 (gam + tau^2/mu)/th + L q, with probability 1 - th over rows and noise, {released}
J4.linear.mean | docs/proofs/J4.md | radius | as J4.convex.mean, through the noise of one prediction; released
    penalty(G) + gam + tau^2/mu + the mean rise of one row's loss under the noise (J6 with J1), {released}
J4.smooth.tail | docs/proofs/J4.md | corners | as J4.convex.tail, through the smoothness of the loss; released
    penalty(G) + 2 (gam + tau^2/mu)/th + rho q + beta q^2/2, {released}
J4.alpha | docs/proofs/J4.md | alpha | alpha that makes J4.convex.mean smallest: a setting, not a bound
    alpha* = (2 L/G) sqrt(K/n), K = 1 + E||k||/Delta, from public numbers alone, for exact minimisers and A1
J4.best | docs/proofs/J4.md | alpha | J4.convex.mean at that alpha, for exact minimisers; released
    2 L G sqrt(K/n); a loss that is Lipschitz only within a declared radius needs the release projected onto it
J4.training | docs/proofs/J4.md | interior | regularised training risk above its minimum, with the confidence; released
    (beta + beta of the penalty)/2 (q + tau/mu)^2, q the 1 - th quantile, for every dataset, over the noise alone
002-Thm18 | [002] Theorems 9, 18 | ridge | paper: what its noise adds to the population risk, with the confidence
    rho 4 d ln(d/th) rho/(lambda n epsilon), rho with the penalty inside: loose, and the release must be projected
002-Thm19 | [002] Theorem 19 | ridge | paper: J4.solver.tail as 4 rho^2/(th lambda n)
    right, and at least twice too large: rho has the penalty inside, which the proof does not need
002-Thm20 | [002] Theorem 20, A.7 | ridge | paper: J4.strong.tail as printed in its proof, for its own noise
    4 rho^2/(lambda n) (2/th + 4 d ln(2d/th)/epsilon): the second 4 is counted twice, and the release must be projected
002-Thm21 | [002] Theorem 21 | order | paper: J4.convex.tail as O(rho R sqrt(d ln(d/th)/(n th epsilon)))
    {order:.6g} with constant 1, which is not a bound
002-Lemma22 | [002] Lemma 22 | interior | paper: J4.training as beta (4 d ln(d/th) rho/(lambda n epsilon))^2
    right for an interior minimiser, for the paper's larger noise, with beta where beta/2 is enough
J5.norm | docs/proofs/J5.md | lipschitz | training or population loss, released against before noise, in the mean
    E|loss(released) - loss(before noise)| <= L E||k||, for the training rows and for the population alike
J5.linear | docs/proofs/J5.md | lipschitz | the same through the noise of one prediction
    L s, s the deviation of one prediction's noise over the row norm: smaller than J5.norm by sqrt(d)
J5.smooth | docs/proofs/J5.md | corners | the same through the smoothness of the loss
    rho s + beta s^2/2
000-Lemma11 | [000] Lemma 11 | unsound | paper: J5.norm as (L d/epsilon) sqrt(2 beta/lambda)
    printed: {figure:.6g}; its independent Laplace noise lacks the factor sqrt(d) that privacy needs (D2)
J6 | docs/proofs/J6.md | radius | training risk above weights of norm {guess:.4g}, mean over noise; released
    excess_risk of the certificate, {released}
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """One certified bound, or one whose conditions fail, with what to do about it.

    `where` is the page of the proof or the place in a paper; `quantity` says what is bounded, for which weights and
    which risk; `meaning` says it in full. `value` is None where the statement does not hold.
    """

    id: str
    where: str
    quantity: str
    value: float | None
    holds: bool
    remedy: str
    meaning: str


@dataclass(frozen=True, slots=True)
class RiskReport:
    """The statements that follow from one certificate, with the certified numbers they were computed from."""

    confidence: float
    loss_bound: float | None
    radius: float
    numbers: tuple[tuple[str, float], ...]
    statements: tuple[Statement, ...]

    def __getitem__(self, name: str) -> Statement:
        """Return the statement with this id."""
        for statement in self.statements:
            if statement.id == name:
                return statement
        known = ", ".join(statement.id for statement in self.statements)
        raise InvalidParameter("the id of a statement", f"{name!r}", f"choose one of {known}")

    def __str__(self) -> str:
        """Return the table as plain text."""
        numbers = ", ".join(f"{name} = {value:.6g}" for name, value in self.numbers)
        facts = f"Confidence {self.confidence:g}, compared with weights of norm {self.radius:.6g}; {numbers}."
        lines = [
            "Certified bounds on risk (population: rows drawn independently from one distribution)",
            *textwrap.wrap(facts, COLUMNS, initial_indent="  ", subsequent_indent="  "),
        ]
        for statement in self.statements:
            value = "no bound" if statement.value is None else f"{statement.value:.6g}"
            lines.append(f"  {statement.id:<18}{value:<13}{statement.quantity}")
            lines += textwrap.wrap(
                statement.remedy, COLUMNS, initial_indent=" " * 33 + "-> ", subsequent_indent=" " * 36
            )
        lines.append("  Proofs: docs/proofs/J1.md, J3.md, J4.md, J5.md, J6.md. Papers [000], [002]: docs/errata.md.")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class StabilityGain:
    """What the first certificate's noise is worth at the second's sensitivity (J5; Corollary 13 of [000])."""

    sensitivity_ratio: float
    epsilon: float
    delta: float
    published_ratio: float


def risk(
    certificate: Certificate,
    *,
    confidence: float = 0.95,
    loss_bound: float | None = None,
    radius: float | None = None,
) -> RiskReport:
    """Return every generalisation and risk statement that a certificate's public numbers support.

    Parameters
    ----------
    certificate : Certificate
        Its numbers are taken as they are: `verify` first, if it came from somebody else.
    confidence : float
        The probability with which a statement that is not about a mean holds.
    loss_bound : float, optional
        Cut the loss at this value: statements that need a bounded loss then speak of the cut one. Without it they use
        the largest loss that the public facts allow, where there is one.
    radius : float, optional
        The norm of the weights that the release is compared with, at most a declared weight radius. The default is
        that radius, or else the certificate's comparator norm.

    Returns
    -------
    RiskReport
        A table of `Statement`; one whose conditions fail has ``holds=False`` and a remedy.

    Examples
    --------
    >>> import equipoise as eq
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> model = eq.LogisticRegression(epsilon=1.0, domain=domain, mechanism="output")
    >>> report = eq.risk(model.plan(n_samples=10_000, n_features=20))
    >>> round(report["J1.mean"].value, 4), report["J6"].value < report["J4.linear.mean"].value
    (0.0502, True)
    """
    level = require_number("confidence", plain(confidence), above=0.0, remedy="pass confidence=0.95")
    if not 0 < 1 - level < 1:
        raise InvalidParameter("a confidence between 0 and 1", f"confidence={confidence!r}", "pass confidence=0.95")
    if loss_bound is not None:
        remedy = "pass the value the loss is cut at, or leave it out"
        loss_bound = require_number("loss_bound", plain(loss_bound), above=0.0, remedy=remedy)
    norm = _comparator(certificate, radius)
    values, quoted, numbers = _values(certificate, 1 - level, loss_bound, norm)
    return RiskReport(level, loss_bound, norm, numbers, _statements(values, quoted))


def output_claim(certificate: Certificate) -> Output:
    """Return the claim of noise on a minimiser's weights, as bounds on risk need it; other releases are refused."""
    claim = certificate.claim
    if any(isinstance(node, PrivateBounds) for node in claim.nodes()):
        found = "private bounds, so that the encoding and with it the loss depend on rows"
        raise InvalidParameter("bounds on the risk of a fixed loss", found, "declare the bounds in the schema")
    if not isinstance(claim.main, Output):
        asked, found = "a certificate of output perturbation", f"one of {certificate.kind!r}"
        raise InvalidParameter(asked, found, 'plan with mechanism="output"')
    return claim.main


def _comparator(certificate: Certificate, radius: float | None) -> float:
    problem = output_claim(certificate).problem
    declared = problem.domain.radius
    if radius is None:
        return guessed_norm(problem) if declared is None else declared
    remedy = "pass the norm of the weights to compare with, or leave it out"
    norm = require_number("radius", plain(radius), above=0.0, remedy=remedy)
    if declared is not None and norm > declared:
        raise InvalidParameter("a norm that the constraint allows", f"radius={radius!r} > {declared:g}", remedy)
    return norm


def _statements(values: dict[str, float], quoted: dict[str, float | str]) -> tuple[Statement, ...]:
    """Join numbers and words; a statement holds when its number is finite."""
    lines = WORDS.strip().splitlines()
    found = []
    for head, meaning in zip(lines[::2], lines[1::2], strict=True):
        name, where, remedy, quantity = (part.strip().format(**quoted) for part in head.split("|", 3))
        value, said = values[name], meaning.strip().format(**quoted)
        if math.isfinite(value):
            found.append(Statement(name, where, quantity, value, True, "", said))
        else:
            found.append(Statement(name, where, quantity, None, False, REMEDIES[remedy], said))
    return tuple(found)


def _values(
    certificate: Certificate, failure: float, loss_bound: float | None, norm: float
) -> tuple[dict[str, float], dict[str, float | str], tuple[tuple[str, float], ...]]:
    """Return the number of every statement, infinite where there is none, what its words quote, and what it rests on.

    `rho`, `largest` and `slope` hold for weights of norm at most R + tau/mu, a ball that contains what the solver
    returns for every dataset (A4); `steepest` is the loss's Lipschitz constant for all weights.
    """
    claim = output_claim(certificate)
    problem, facts, n, epsilon = claim.problem, claim.constants, claim.n_samples, certificate.epsilon
    loss, penalty, declared = problem.loss, problem.penalty, problem.domain.radius
    noise, law, sensitivity, d = claim.noise, known(claim.law), claim.sensitivity, claim.noise.dimension
    comparator = guessed_norm(problem)
    certified = excess_risk(claim.setting(), noise, comparator)
    mu, beta, row_norm = facts.strong_convexity, facts.smoothness, facts.row_norm
    distance = claim.tolerance / mu
    ball = facts.radius + distance

    def lipschitz(radius: float) -> float:
        return row_norm * loss.slope_bound(row_norm * radius, facts.label_bound)

    rho, steepest = lipschitz(ball), lipschitz(math.inf)
    stability, released = rho * sensitivity, steepest * sensitivity
    cut = math.inf if loss_bound is None else loss_bound
    largest = min(cut, largest_loss(loss, row_norm * ball, facts.label_bound))

    def tail(movement: float, bound: float) -> float:
        value = movement + (2 * n * movement + bound) * math.sqrt(math.log(1 / failure) / (2 * n))
        return min(value, bound) if math.isfinite(value) else math.inf

    bound, kind = _bounded_loss(problem, loss_bound)
    variation = total_variation(epsilon, certificate.delta)
    curve = claim.curve()
    length = law.mean_norm(noise.scale, d) * (1 + NORM_MARGIN)
    deviation = deviation_of(noise) * math.sqrt(loss.free_outputs)
    full, half = (law.norm_quantile(noise.scale, d, share) * (1 + NORM_MARGIN) for share in (failure, failure / 2))
    start, usual = (known_penalty(penalty).largest(size, d) for size in (norm, comparator))
    slack = claim.tolerance * distance
    gap = stability + slack
    likely = 2 * gap / failure
    # The papers put the penalty inside the loss, and take 4 rho/(lambda n) for the sensitivity.
    slope = rho + known_penalty(penalty).slope_bound(ball)
    unit = 4 * slope / (mu * n)
    printed = unit * d * math.log(d / failure) / epsilon
    # The gradient vanishes at every minimiser only if there is no corner and the constraint never binds.
    interior = not penalty.kinked and (declared is None or facts.radius < declared)
    curvature = beta + penalty.smoothness() if interior else math.inf
    best = lipschitz(declared) if math.isinf(steepest) and declared is not None else steepest
    best *= math.sqrt((1 + length / sensitivity) / n) if penalty.id == "l2" else math.inf
    values = {
        "J1.mean": stability,
        "J1.tail": tail(stability, largest),
        "J1.released.mean": released,
        "J1.released.tail": tail(released, cut),
        "J3.signed": 2 * bound * variation,
        "J3.bounded": bound * variation,
        "J3.curve": bound * min(variation, curve.delta(0.0)),
        "002-Prop10": bound * math.expm1(epsilon) if epsilon < 700 else math.inf,
        "J4.solver.mean": gap,
        "J4.solver.tail": gap / failure,
        "J4.strong.mean": gap + slope * length,
        "J4.strong.tail": likely + slope * half,
        "J4.convex.mean": start + gap + steepest * length,
        "J4.convex.tail": start + likely + steepest * half,
        # The certificate's excess risk contains one half of the slack.
        "J4.linear.mean": certified + (start - usual) + stability + slack / 2,
        "J4.smooth.tail": start + likely + rho * half + beta * half**2 / 2,
        "J4.alpha": 2 * best / norm,
        "J4.best": 2 * best * norm,
        "J4.training": curvature / 2 * (full + distance) ** 2,
        "002-Thm18": slope * printed,
        "002-Thm19": slope * unit / failure,
        "002-Thm20": slope * unit * (2 / failure + 4 * d * math.log(2 * d / failure) / epsilon),
        "002-Thm21": math.inf,
        "002-Lemma22": curvature * printed**2,
        "J5.norm": steepest * length,
        "J5.linear": steepest * deviation,
        "J5.smooth": rho * deviation + beta * deviation**2 / 2,
        "000-Lemma11": math.inf,
        "J6": certified,
    }
    quoted: dict[str, float | str] = {
        "solver": "for the solver's weights, the exact minimiser, and the release projected onto radius R + tau/mu",
        "released": "for the released weights as they are",
        "largest": largest,
        "kind": kind,
        "bound": bound,
        "norm": norm,
        "guess": comparator,
        "unit": claim.unit,
        "order": slope * norm * math.sqrt(d * math.log(d / failure) / (n * failure * epsilon)),
        "figure": steepest * d / epsilon * math.sqrt(4 * rho * slope / n) / mu,
    }
    numbers = {"n": n, "d": d, "epsilon": epsilon, "delta": certificate.delta, "mu": mu, "beta": beta, "rho": rho}
    numbers |= {"L": steepest, "Delta with solver slack": sensitivity, f"scale of {noise.law}": noise.scale}
    return values, quoted, tuple((numbers | {"mean noise norm": length}).items())


def _bounded_loss(problem: Problem, loss_bound: float | None) -> tuple[float, str]:
    """Return the range of a bounded loss of the release, and its name."""
    if loss_bound is not None:
        return loss_bound, "cut loss"
    if problem.loss.task == "classification":
        return 1.0, "0/1 error"
    bound = problem.domain.label_bound
    return largest_loss(problem.loss, bound, bound), "clipped predictions"


def total_variation(epsilon: float, delta: float) -> float:
    """Return how far (epsilon, delta)-private outputs of neighbours can be apart: attained (J3).

    Examples
    --------
    >>> round(2 * total_variation(1.0, 0.0), 2)
    0.92
    """
    return min(1.0, math.tanh(epsilon / 2) + 2 * delta * math.exp(-epsilon) / (1 + math.exp(-epsilon)))


def largest_loss(loss: Loss, reach: float, label_bound: float) -> float:
    """Return a bound on the loss over predictions of norm at most `reach` and all targets of the domain (J1).

    The loss is convex in the prediction, for a regression in the residual, so its maximum lies at a corner. With
    several outputs the slope bounds it, from the value at prediction 0.
    """
    if not math.isfinite(reach):
        return math.inf
    if loss.outputs > 1:
        return loss.value((0.0,) * loss.outputs, 0) + reach * loss.slope_bound(reach, label_bound)
    corners = itertools.product((-reach, reach), (-label_bound, label_bound))
    return max(loss.value(prediction, target) for prediction, target in corners)


def stability_gain(first: Certificate, second: Certificate) -> StabilityGain:
    """Return the epsilon of the second model under the first one's noise: Corollary 13 of [000] (J5).

    At fixed noise the epsilon of a pure law is proportional to the sensitivity; that of the Gaussian follows its curve,
    at the first certificate's delta. [000] prints ``sqrt(beta_2 / beta_1)``, for one
    strength of the penalty; here `published_ratio`.

    Examples
    --------
    >>> import equipoise as eq
    >>> domain = eq.Domain(1.0, classes=(0, 1))
    >>> model = eq.LogisticRegression(domain=domain, mechanism="output")
    >>> plans = [model.set_params(alpha=alpha).plan(1000, 5) for alpha in (4.0, 8.0)]
    >>> gain = stability_gain(*plans)
    >>> round(gain.sensitivity_ratio, 2), round(gain.epsilon, 2)
    (0.5, 0.5)
    """
    old, new = output_claim(first), output_claim(second)
    if old.noise.dimension != new.noise.dimension:
        asked, found = f"a second certificate for {old.noise.dimension} weights", f"one for {new.noise.dimension}"
        raise InvalidParameter(asked, found, "compare models of the same size")
    before, after = old.sensitivity, new.sensitivity
    delta = old.curve().delta(first.epsilon)
    curve = old.noise.curve(after)
    ratio = after / before
    published = math.sqrt(ratio * new.constants.lipschitz / old.constants.lipschitz)
    return StabilityGain(ratio, _epsilon_at(curve, delta, first.epsilon), delta, published)


def _epsilon_at(curve: Curve, delta: float, start: float) -> float:
    """Return the private end of a bisection for the smallest epsilon whose delta is at most this one."""
    if curve.delta(0.0) <= delta:
        return 0.0
    low, high = 0.0, start
    while curve.delta(high) > delta:
        low, high = high, 2 * high
    # Until the two ends are neighbouring numbers.
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (low, middle) if curve.delta(middle) <= delta else (middle, high)
    return high
