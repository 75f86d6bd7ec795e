"""The page of a release, from its certificate and its weights: everything on it is a function of those two.

Nothing here sees a row. Bounds at another epsilon or alpha come from certificates that are issued for the same public
facts; what noise a weight carries comes from the argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import EquipoiseError, InvalidParameter
from equipoise.proof.certificate import Certificate
from equipoise.proof.curves import AfterPure, Curve
from equipoise.proof.mechanisms import named
from equipoise.proof.request import Request
from equipoise.proof.risk import largest_loss, risk, total_variation
from equipoise.proof.routes import choose, members
from equipoise.proof.routes.objective import FINISHING_LAW
from equipoise.report.release_page import release_page
from equipoise.report.release_record import (
    BoundLine,
    CurvePoint,
    ErrorBounds,
    ErrorPoint,
    LedgerState,
    MenuLine,
    PrivateBound,
    ReleaseRecord,
    Statement,
    WeightLine,
)
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Bound, Budget, Label

if TYPE_CHECKING:
    from equipoise.proof.ledger import Balance

Array = NDArray[np.float64]

# Points on either side of the claim: four a decade of epsilon, and five octaves of alpha.
EPSILON_STEPS, ALPHA_STEPS = 4, 5

# The privacy curve is drawn from 0 to twice the claimed epsilon.
CURVE_POINTS = 80

# The statement that is a setting and bounds nothing.
SETTING = "J4.alpha"

# The routes that add noise to the weights themselves, once.
AT_THE_END = ("output", "sgd", "dropout")

VALUES = {
    "output": "weights move by at most (L2)",
    "objective": "scale of the tilt",
    "noisy-gradient": "a gradient changes by at most (L2)",
    "sufficient-statistics": "sums change by at most (L2)",
    "functional": "coefficients change by at most (L1)",
    "sgd": "weights move by at most (L2)",
    "noisy-sgd": "a batch's gradient changes by at most (L2)",
    "phased": "a phase moves by at most (L2)",
    "dropout": "weights move by at most (L2)",
}


def page_of(
    certificate: Certificate,
    coefficients: ArrayLike,
    intercepts: ArrayLike,
    *,
    feature_names: Sequence[str] = (),
    classes: Sequence[Label] = (),
    balance: Balance | None = None,
    balance_at: str = "",
) -> str:
    """Return the page of a release as one self-contained HTML document; the same release gives the same page.

    Parameters
    ----------
    certificate : Certificate
        Taken as it is: `verify` first, if it came from somebody else.
    coefficients, intercepts : array-like
        The released weights as estimators hold them: ``coef_`` and ``intercept_``.
    feature_names : sequence of str
        The names of the (encoded) columns; without them they are numbered.
    classes : sequence of labels
        The public label set of a classification; default: that of the certificate.
    balance : Balance, optional
        The ledger's state, and the time at which it was read as text.

    Examples
    --------
    >>> import equipoise as eq
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> certificate = eq.LogisticRegression(epsilon=1.0, domain=domain).plan(n_samples=1000, n_features=2)
    >>> page = page_of(certificate, [[1.2, -0.4]], [0.1], feature_names=["age", "height"])
    >>> page.startswith("<!doctype html>"), "(1, 0)-differential privacy" in page
    (True, True)
    """
    found = record_of(
        certificate,
        coefficients,
        intercepts,
        feature_names=feature_names,
        classes=classes,
        balance=balance,
        balance_at=balance_at,
    )
    return release_page(found)


def record_of(
    certificate: Certificate,
    coefficients: ArrayLike,
    intercepts: ArrayLike,
    *,
    feature_names: Sequence[str] = (),
    classes: Sequence[Label] = (),
    balance: Balance | None = None,
    balance_at: str = "",
) -> ReleaseRecord:
    """Return what `page_of` shows, as plain values."""
    request, argument = certificate.request, certificate.argument
    labels = tuple(classes) or (request.domain.classes if isinstance(request.domain.classes, tuple) else ())
    deviation = noise_of_a_weight(certificate)
    return ReleaseRecord(
        model=_model(request),
        epsilon=certificate.epsilon,
        delta=certificate.delta,
        grade=certificate.grade,
        adjacency=certificate.adjacency,
        chance=(1 + total_variation(certificate.epsilon, certificate.delta)) / 2,
        theorem=certificate.theorem,
        route=certificate.route,
        mechanism=certificate.mechanism,
        procedure=members()[certificate.route].words,
        n_samples=certificate.n_samples,
        n_features=certificate.n_features,
        alpha=certificate.alpha,
        seeded=request.seeded,
        vouched=request.vouched,
        schema_digest=request.schema,
        certificate_digest=certificate.digest,
        explanation=certificate.explain(),
        caveats=certificate.caveats,
        assumptions=certificate.assumptions,
        bounds=tuple(_bound_line(bound, certificate.theorem) for bound in certificate.bounds),
        value_words=VALUES.get(certificate.route, "value"),
        curve=_curve(certificate),
        errors=_errors(certificate),
        weights=_weights(certificate, coefficients, intercepts, feature_names, labels, deviation),
        weight_words=_weight_words(request, labels, deviation, certificate.route in AT_THE_END),
        noise_words=_noise_words(certificate, deviation),
        noise_exact=certificate.route in AT_THE_END,
        menu=tuple(
            MenuLine(choice.route, choice.theorem, choice.mechanism, choice.alpha, choice.cost, choice.verdict)
            for choice in argument.menu
        ),
        private_bounds=tuple(
            PrivateBound(bounds.column, bounds.low, bounds.high) for bounds in certificate.released_bounds
        ),
        private_epsilon=0.0 if request.private_bounds is None else request.private_bounds.epsilon,
        ledger_name=request.ledger,
        ledger=None if balance is None else _ledger_state(request.ledger or "", balance, balance_at),
    )


def noise_of_a_weight(certificate: Certificate) -> float | None:
    """Return the standard deviation of the noise in one weight, in the root mean square over all; None if unknown.

    Exact for noise on the weights, where it is the same for all of them. A tilt ``<b, w>/n`` moves the minimiser of an
    objective of strong convexity mu by at most ``||b||/(n mu)``, so for objective perturbation it is at most the tilt's
    deviation over ``n mu``, with the finishing noise on top. Weights of K classes that sum to zero carry the noise of
    K - 1 free ones.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(1.0, classes=(0, 1)), mechanism="output")
    >>> certificate = model.plan(n_samples=1000, n_features=2)
    >>> noise_of_a_weight(certificate) == certificate.argument.noise_deviation
    True
    """
    argument = certificate.argument
    loss = losses.named(certificate.request.loss)
    share = math.sqrt(loss.free_outputs / loss.outputs)
    if certificate.route in AT_THE_END:
        # What masks hid in training is made up for after the noise (B6).
        kept = 1.0 if argument.recipe is None else 1 - argument.recipe.dropout
        if certificate.released_curvature is None:
            return kept * share * argument.noise_deviation
        # A released curvature has shrunk the noise, or a refusal left none of it.
        return share * named(certificate.mechanism).deviation(certificate.noise_scale, argument.dimension)
    if certificate.route == "objective":
        moved = argument.noise_deviation / (certificate.n_samples * argument.constants.strong_convexity)
        finishing = named(FINISHING_LAW).deviation(argument.procedure.finishing_scale, argument.dimension)
        return share * math.hypot(moved, finishing)
    return None


def _model(request: Request) -> str:
    penalty = "a ridge" if request.penalty == "l2" else f"penalty {request.penalty}"
    return f"linear model with the {request.loss} loss and {penalty}"


def _bound_line(bound: Bound, chosen: str) -> BoundLine:
    if bound.theorem == chosen:
        standing = "used: every condition was checked"
    elif bound.missing:
        standing = "; ".join(f"missing: {entry.claim} ({entry.remedy})" for entry in bound.missing)
    else:
        standing = "holds, and is not smaller" if bound.certifies else "as printed in a paper: never certifies"
    return BoundLine(bound.theorem, bound.value, standing)


def _curve(certificate: Certificate) -> tuple[CurvePoint, ...]:
    """Return the curve on a fine grid, or at the certificate's own points if this code derives another one."""
    recorded = tuple(CurvePoint(point.epsilon, point.delta) for point in certificate.argument.curve)
    try:
        curve = _whole_curve(certificate.request)
    except EquipoiseError:
        return recorded
    if not all(math.isclose(curve.delta(point.epsilon), point.delta, rel_tol=1e-9) for point in recorded):
        return recorded
    levels = (2 * certificate.epsilon * step / CURVE_POINTS for step in range(CURVE_POINTS + 1))
    return tuple(CurvePoint(level, curve.delta(level)) for level in levels)


def _whole_curve(request: Request) -> Curve:
    plan, _ = choose(request.for_the_model())
    return plan.curve if request.private_bounds is None else AfterPure(plan.curve, request.private_bounds.epsilon)


def _errors(certificate: Certificate) -> ErrorBounds:
    """Return what noise on the weights certifies around the claim: the only route with a certified bound."""
    own = certificate.route == "output"
    request = certificate.request if own else replace(certificate.request, mechanism="output", recipe=None)
    try:
        reference = certificate if own else Certificate.issue(request)
    except EquipoiseError:
        return ErrorBounds()
    budget = request.budget
    around = [10 ** (step / EPSILON_STEPS) for step in range(-EPSILON_STEPS, EPSILON_STEPS + 1)]
    octaves = [2.0**step for step in range(-ALPHA_STEPS, ALPHA_STEPS + 1)]

    def at_epsilon(value: float) -> Certificate:
        return Certificate.issue(replace(request, budget=Budget(value, budget.delta)))

    def at_alpha(value: float) -> Certificate:
        return Certificate.issue(replace(request, alpha=value))

    over_epsilon = _points([budget.epsilon * factor for factor in around], at_epsilon)
    over_alpha = _points([reference.alpha * factor for factor in octaves], at_alpha)
    problem = request.problem(reference.alpha)
    confidence = 0.95
    return ErrorBounds(
        over_epsilon=over_epsilon,
        over_alpha=over_alpha,
        alpha=reference.alpha,
        own=own,
        picked=request.alpha == "public",
        norm=reference.argument.comparator_norm,
        ceiling=largest_loss(problem.loss, 0.0, problem.domain.label_bound),
        modelled=() if own else _modelled(certificate, [budget.epsilon * factor for factor in around]),
        statements=_statements(reference, confidence),
        confidence=confidence,
    )


def _points(places: Sequence[float], issue: Callable[[float], Certificate]) -> tuple[ErrorPoint, ...]:
    """Return the certified bounds at each place; where nothing can be certified there is no point."""
    found = []
    for place in places:
        try:
            certificate = issue(place)
        except EquipoiseError:
            continue
        training = certificate.argument.excess_risk
        if math.isfinite(training):
            found.append(ErrorPoint(place, training, _population(certificate)))
    return tuple(found)


def _population(certificate: Certificate) -> float | None:
    # With private bounds the loss itself depends on the rows, and J4 speaks of a fixed one.
    if certificate.request.private_bounds is not None:
        return None
    return risk(certificate, radius=certificate.argument.comparator_norm)["J4.linear.mean"].value


def _statements(certificate: Certificate, confidence: float) -> tuple[Statement, ...]:
    if certificate.request.private_bounds is not None:
        return ()
    report = risk(certificate, confidence=confidence, radius=certificate.argument.comparator_norm)
    return tuple(
        Statement(entry.id, entry.value, entry.quantity)
        for entry in report.statements
        # Numbers as printed in papers stand in the risk report, not on the page of a release.
        if entry.value is not None and entry.id.startswith("J") and entry.id != SETTING
    )


def _modelled(certificate: Certificate, places: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Return the modelled cost of the release's own route over epsilon, if it can be asked for by its name."""
    request, route = certificate.request, certificate.route
    if not members()[route].minimises:
        # A descent with other noise would take other steps, and long runs take seconds to calibrate.
        return ()
    asked = request.mechanism if request.mechanism.startswith(route) else route
    found: dict[float, float] = {}
    for place in places:
        budget = Budget(place, request.budget.delta)
        try:
            found[place] = Certificate.issue(replace(request, mechanism=asked, budget=budget)).argument.cost
        except EquipoiseError:
            continue
    # "auto" may have taken a plan of the route that its name alone does not give, with slopes unclipped for example.
    own = found.get(certificate.epsilon)
    if own is None or not math.isclose(own, certificate.argument.cost, rel_tol=1e-9):
        return ()
    return tuple((place, cost) for place, cost in found.items() if 0 < cost < math.inf)


def _weights(
    certificate: Certificate,
    coefficients: ArrayLike,
    intercepts: ArrayLike,
    feature_names: Sequence[str],
    classes: Sequence[Label],
    deviation: float | None,
) -> tuple[WeightLine, ...]:
    request, width = certificate.request, certificate.n_features
    outputs = losses.named(request.loss).outputs
    matrix: Array = np.atleast_2d(np.asarray(coefficients, dtype=np.float64))
    constants: Array = np.atleast_1d(np.asarray(intercepts, dtype=np.float64))
    if matrix.shape != (outputs, width) or constants.shape != (outputs,):
        raise InvalidParameter(
            f"weights of {outputs} output(s) for {width} columns, and as many intercepts as outputs",
            f"coefficients of shape {matrix.shape}, intercepts of shape {constants.shape}",
            "pass coef_ and intercept_ of the model that this certificate belongs to",
        )
    if not (np.isfinite(matrix).all() and np.isfinite(constants).all()):
        raise InvalidParameter("finite weights", "others", "pass the weights as they were released")
    names = list(feature_names) or [f"column {position + 1}" for position in range(width)]
    if len(names) != width:
        raise InvalidParameter(
            f"names of {width} columns", f"{len(names)} names", "pass the names of the encoded columns"
        )
    targets = _targets(request, classes, outputs)
    lines = [
        WeightLine(str(name), target, float(value), deviation)
        for target, row in zip(targets, matrix, strict=True)
        for name, value in zip(names, row, strict=True)
    ]
    if request.intercept > 0:
        centre = request.domain.label_centre
        name = "intercept" if centre == 0 else f"intercept above {centre:g}"
        # The intercept is the weight of the constant column times its entry, and so is its noise.
        spread = None if deviation is None else request.intercept * deviation
        lines += [
            WeightLine(name, target, float(value) - centre, spread)
            for target, value in zip(targets, constants, strict=True)
        ]
    return tuple(lines)


def _targets(request: Request, classes: Sequence[Label], outputs: int) -> list[str]:
    if request.domain.classes is None:
        return ["the target"]
    if outputs == 1:
        return [str(classes[1]) if len(classes) > 1 else "the second class"]
    return [str(label) for label in classes] if len(classes) == outputs else [str(place) for place in range(outputs)]


def _weight_words(request: Request, classes: Sequence[Label], deviation: float | None, exact: bool) -> str:
    if request.domain.classes is None:
        said = "A positive weight raises the prediction"
    elif len(classes) > 2:
        said = "A positive weight speaks for its class"
    else:
        said = f"A positive weight speaks for the class {classes[1]}" if len(classes) == 2 else "Weights of one score"
    words = f"{said}; columns are meant as the model sees them, scaled and clipped by the public facts."
    if exact:
        words += " Where rows say nothing, noise alone still leaves about one weight in twenty beyond the band."
    which = "no weight" if deviation is None else "no weight, within the band or beyond it,"
    return f"{words} Rows are a sample, too: {which} is by itself a finding about the population."


def _noise_words(certificate: Certificate, deviation: float | None) -> str:
    argument, procedure = certificate.argument, certificate.argument.procedure
    inside = f"{argument.noise_deviation:.4g}"
    if certificate.route in AT_THE_END:
        return (
            f"Each released weight carries noise of standard deviation {deviation:.4g}, exactly, whatever the rows "
            "are. The shaded band reaches two deviations to either side of zero: a weight within it cannot be told "
            "from noise."
        )
    if certificate.route == "objective":
        return (
            f"Noise of standard deviation {inside} a coordinate tilted the objective, a sum over "
            f"{certificate.n_samples:,} rows. It moves a weight by at most {deviation:.4g}, in the root mean square "
            "over all weights, and by less where the rows determine a weight well. The shaded band is twice that much."
        )
    places = {
        "noisy-gradient": f"each coordinate of every one of {procedure.steps:,} gradients",
        "sufficient-statistics": f"each of {argument.dimension:,} sums of products of columns",
        "functional": f"each of {argument.dimension:,} coefficients of the objective",
        "noisy-sgd": "each coordinate of the gradient of every step",
        "phased": f"each weight of the first of {len(procedure.phases)} phases, and less in every later one",
    }
    place = places.get(certificate.route, "what was computed from the rows")
    return (
        f"Noise of standard deviation {inside} entered {place}. How much of it a weight carries depends on the private "
        "rows, so no figure for a single weight is known and no band is drawn."
    )


def _ledger_state(dataset: str, balance: Balance, at: str) -> LedgerState:
    limit = balance.limit
    # Amounts are decimals as people wrote them: 3 less 0.1 is 2.9.
    spent = [
        float(Decimal(repr(whole)) - left)
        for whole, left in ((limit.epsilon, balance.epsilon_left), (limit.delta, balance.delta_left))
    ]
    return LedgerState(dataset, limit.epsilon, spent[0], limit.delta, spent[1], at)
