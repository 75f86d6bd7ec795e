"""The page of a release, from its certificate and its weights: everything on it is a function of those two.

Nothing here sees a row. Bounds at another epsilon or alpha come from certificates that are issued for the same public
facts; what noise a weight carries comes from the claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from equipoise.artifact.effects import effects_of
from equipoise.artifact.reading import trained_on
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Claim, Trained
from equipoise.certify.claims.choice import Choice, Stopping
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.certify.gains import true_positive_rate
from equipoise.data.schema import Schema
from equipoise.errors import EquipoiseError, InvalidParameter
from equipoise.planning.issue import issue
from equipoise.planning.kinds import planner_of, words_of
from equipoise.planning.laws import deviation_of
from equipoise.planning.menu import AUTOMATIC
from equipoise.planning.notes import Notes
from equipoise.planning.public_alpha import guessed_norm
from equipoise.planning.request import Request
from equipoise.planning.risk import RiskReport, largest_loss, output_claim, risk
from equipoise.planning.work import remembered
from equipoise.report.release_page import release_page
from equipoise.report.release_record import (
    AttackerGains,
    BoundLine,
    CurvePoint,
    Effect,
    ErrorBounds,
    ErrorPoint,
    LedgerState,
    MeasuredAttack,
    MenuLine,
    PrivateBound,
    ReleaseRecord,
    Statement,
    WeightLine,
)
from equipoise.vocabulary.facts import Bound, Budget, Label

if TYPE_CHECKING:
    from equipoise.artifact.page_file import Attack
    from equipoise.ledger import Balance

# Points on either side of the claim: three a decade of epsilon, and four octaves of alpha.
EPSILON_STEPS, ALPHA_STEPS = 3, 4

# The privacy curve is drawn from 0 to twice the claimed epsilon.
CURVE_POINTS = 80

# The trade-off is drawn over rates of false positives from this one to 1.
FEWEST_FALSE, TRADE_OFF_POINTS = 1e-3, 60

# The statement that is a setting and bounds nothing.
SETTING = "J4.alpha"

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Shown:
    """What was released, as a page shows it: weights, a row an output, or the names of selected columns.

    Without names, columns are numbered; without classes, they are those of the certificate. A schema names the column
    that is predicted, and its curves are drawn.
    """

    coefficients: Iterable[Iterable[float]] = ()
    intercepts: Iterable[float] = ()
    feature_names: Sequence[str] = ()
    classes: Sequence[Label] = ()
    selected: Sequence[int] | None = None
    schema: Schema | None = None


def page_of(
    certificate: Certificate,
    shown: Shown,
    balance: Balance | None = None,
    balance_at: str = "",
    attack: Attack | None = None,
) -> str:
    """Return the page of a release as one self-contained HTML document; the same release gives the same page.

    Parameters
    ----------
    certificate : Certificate
        Taken as it is: `verify` first, if it came from somebody else.
    shown : Shown
        What was released.
    balance, balance_at : Balance and str, optional
        The ledger's state, and the time at which it was read as text.
    attack : Attack, optional
        What an attack on simulated rows reached.

    Examples
    --------
    >>> import equipoise as eq
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> certificate = eq.LogisticRegression(epsilon=1.0, domain=domain).plan(n_samples=1000, n_features=2)
    >>> page = page_of(certificate, Shown([[1.2, -0.4]], [0.1], ["age", "height"]))
    >>> page.startswith("<!doctype html>"), "(1, 0)-differential privacy" in page
    (True, True)
    """
    return release_page(record_of(certificate, shown, balance, balance_at, attack))


def record_of(
    certificate: Certificate,
    shown: Shown,
    balance: Balance | None = None,
    balance_at: str = "",
    attack: Attack | None = None,
) -> ReleaseRecord:
    """Return what `page_of` shows, as plain values."""
    terms, claim, notes = certificate.terms, certificate.claim, Notes.of(certificate)
    names, made = _names(certificate, shown), certificate.release
    # Rows chose among candidates, by scores of noisy weights.
    searched = isinstance(claim.main, Choice | Stopping)
    weights = _NO_WEIGHTS
    paid = [node for node in claim.nodes() if isinstance(node, PrivateBounds)]
    bounds = {entry.column: (entry.low, entry.high) for node in paid for entry in node.released or ()}
    if isinstance(claim.trained, Trained):
        weights = _weights_of(claim.trained, shown, names, searched, bounds)
    return ReleaseRecord(
        model=_model(claim.trained),
        epsilon=certificate.epsilon,
        delta=certificate.delta,
        grade=certificate.grade,
        adjacency=certificate.adjacency,
        gains=_gains(certificate),
        theorem=certificate.theorem,
        kind=certificate.kind,
        law=certificate.mechanism,
        procedure=words_of(claim.main).words,
        n_samples=trained_on(certificate),
        held_out=certificate.n_samples - trained_on(certificate),
        n_features=certificate.n_features,
        alpha=certificate.alpha,
        alpha_words="of the candidate that was chosen" if searched else "fixed before any row was read",
        seeded=terms.seeded,
        vouched=terms.vouched,
        schema_digest=terms.schema,
        certificate_digest=certificate.digest,
        explanation=certificate.explain(),
        caveats=certificate.caveats,
        assumptions=certificate.assumptions,
        bounds=tuple(_bound_line(bound, certificate.theorem) for bound in notes.bounds),
        value_words=words_of(claim.main).changes,
        curve=_curve(certificate),
        # Of the plan: that of a release says the same, and was drawn before the spend.
        errors=_errors(replace(certificate, release=None), notes.asked),
        weights=weights.lines,
        weight_words=weights.words,
        noise_words=weights.noise,
        noise_exact=weights.exact,
        effects=weights.effects,
        menu=tuple(
            MenuLine(choice.kind, choice.theorem, choice.law, choice.alpha, choice.cost, choice.verdict)
            for choice in notes.menu
        ),
        private_bounds=tuple(
            PrivateBound(bounds.column, bounds.low, bounds.high) for node in paid for bounds in node.released or ()
        ),
        private_epsilon=sum(node.budget.epsilon for node in paid),
        selected=None if shown.selected is None else tuple(names[place] for place in shown.selected),
        ledger_name=terms.ledger,
        ledger=None if balance is None else _ledger_state(terms.ledger or "", balance, balance_at),
        target="" if shown.schema is None else shown.schema.target.name,
        classes=tuple(map(str, shown.classes or _declared(claim.trained))),
        release_id=made.id if made else "",
        made=made.made if made else "",
        software=made.software if made else (),
        attack=None if attack is None else _measured(attack),
    )


def _measured(attack: Attack) -> MeasuredAttack:
    return MeasuredAttack(attack.rows, attack.shadows, attack.targets, attack.confidence, attack.points)


def _gains(certificate: Certificate) -> AttackerGains:
    found, claimed = certificate.gains(), certificate.curve().claimed
    rates = [FEWEST_FALSE ** (1 - step / TRADE_OFF_POINTS) for step in range(TRADE_OFF_POINTS + 1)]
    points = tuple((rate, true_positive_rate(claimed, certificate.epsilon, rate)) for rate in rates)
    return AttackerGains(found.guess, found.advantage, found.true_positive_rates, points, found.mu)


def _declared(claim: Claim) -> Sequence[Label]:
    """Return the classes that the certificate declares."""
    classes = claim.problem.domain.classes if isinstance(claim, Trained) else None
    return () if classes == "observed" else tuple(classes or ())


def _model(claim: Claim) -> str:
    if not isinstance(claim, Trained):
        return "selection of a column"
    penalty = claim.problem.penalty.name
    known = "a ridge" if penalty == "l2" else f"penalty {penalty}"
    # A parameter of the loss stands in the whole argument, for those who can read it.
    return f"linear model with the {claim.problem.loss.name.partition(':')[0]} loss and {known}"


def _bound_line(bound: Bound, chosen: str) -> BoundLine:
    if bound.theorem == chosen:
        standing = "used: every condition was checked"
    elif bound.missing:
        standing = "; ".join(f"missing: {entry.claim} ({entry.remedy})" for entry in bound.missing)
    else:
        standing = "holds, and is not smaller" if bound.certifies else "as printed in a paper: never certifies"
    return BoundLine(bound.theorem, bound.value, standing)


def _curve(certificate: Certificate) -> tuple[CurvePoint, ...]:
    curve = certificate.curve()
    levels = (2 * certificate.epsilon * step / CURVE_POINTS for step in range(CURVE_POINTS + 1))
    return tuple(CurvePoint(level, curve.delta(level)) for level in levels)


@remembered(most=8)
def _errors(certificate: Certificate, asked: Request | None) -> ErrorBounds:
    """Return what is certified around the claim: noise on the weights is the only kind with a certified bound."""
    if asked is None:
        # A search, or a selection: nothing is certified for one candidate by itself.
        return ErrorBounds()
    budget = asked.budget
    around = [10 ** (step / EPSILON_STEPS) for step in range(-EPSILON_STEPS, EPSILON_STEPS + 1)]
    if certificate.kind != "output":
        return ErrorBounds(modelled=_modelled(certificate, asked, [budget.epsilon * factor for factor in around]))
    # What was chosen here need not be what is chosen at another epsilon or alpha: one kind is asked for all along.
    request = replace(asked, mechanism="output") if asked.mechanism == AUTOMATIC else asked
    octaves = [2.0**step for step in range(-ALPHA_STEPS, ALPHA_STEPS + 1)]

    def at_epsilon(value: float) -> Certificate:
        return issue(replace(request, budget=Budget(value, budget.delta)))

    def at_alpha(value: float) -> Certificate:
        return issue(replace(request, alpha=value))

    problem = request.problem(certificate.alpha)
    fixed = request.private_bounds is None
    return ErrorBounds(
        over_epsilon=_points([budget.epsilon * factor for factor in around], at_epsilon, fixed),
        over_alpha=_points([certificate.alpha * factor for factor in octaves], at_alpha, fixed),
        alpha=certificate.alpha,
        picked=request.alpha == "public",
        norm=guessed_norm(problem),
        ceiling=largest_loss(problem.loss, 0.0, problem.domain.label_bound),
        statements=_statements(certificate) if fixed else (),
        confidence=CONFIDENCE,
    )


def _points(places: Sequence[float], planned: Callable[[float], Certificate], fixed: bool) -> tuple[ErrorPoint, ...]:
    """Return the certified bounds at each place; where nothing can be certified there is no point."""
    found = []
    for place in places:
        try:
            certificate = planned(place)
        except EquipoiseError:
            continue
        training = Notes.of(certificate).excess_risk
        # With private bounds the loss itself depends on the rows, and J4 speaks of a fixed one.
        population = _at_the_guess(certificate)["J4.linear.mean"].value if fixed else None
        if math.isfinite(training):
            found.append(ErrorPoint(place, training, population))
    return tuple(found)


def _at_the_guess(certificate: Certificate) -> RiskReport:
    return risk(certificate, confidence=CONFIDENCE, radius=guessed_norm(output_claim(certificate).problem))


def _statements(certificate: Certificate) -> tuple[Statement, ...]:
    return tuple(
        Statement(entry.id, entry.value, entry.quantity)
        for entry in _at_the_guess(certificate).statements
        # Numbers as printed in papers stand in the risk report, not on the page of a release.
        if entry.value is not None and entry.id.startswith("J") and entry.id != SETTING
    )


def _modelled(certificate: Certificate, asked: Request, places: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Return the modelled cost of the release's own kind over epsilon, if it can be asked for by its name."""
    kind, claim = certificate.kind, certificate.claim.trained
    if not isinstance(claim, Trained) or not planner_of(claim).minimises:
        # A descent with other noise would take other steps, and long runs take seconds to calibrate.
        return ()
    mechanism = asked.mechanism if asked.mechanism.startswith(kind) else kind
    found: dict[float, float] = {}
    for place in places:
        budget = Budget(place, asked.budget.delta)
        try:
            found[place] = Notes.of(issue(replace(asked, mechanism=mechanism, budget=budget))).cost
        except EquipoiseError:
            continue
    # "auto" may have taken a plan of the kind that its name alone does not give, with slopes unclipped for example.
    own = found.get(certificate.epsilon)
    if own is None or not math.isclose(own, Notes.of(certificate).cost, rel_tol=1e-9):
        return ()
    return tuple((place, cost) for place, cost in found.items() if 0 < cost < math.inf)


@dataclass(frozen=True, slots=True)
class _Weights:
    """Lines of weights, and what is said about them."""

    lines: tuple[WeightLine, ...]
    words: str
    noise: str
    exact: bool
    effects: tuple[Effect, ...]


_NO_WEIGHTS = _Weights((), "", "", False, ())


def _names(certificate: Certificate, shown: Shown) -> list[str]:
    """Return the columns' names, numbers where there are none."""
    width = certificate.n_features
    names = [str(name) for name in shown.feature_names] or [f"column {place + 1}" for place in range(width)]
    if len(names) != width:
        raise InvalidParameter(
            f"names of {width} columns", f"{len(names)} names", "pass the names of the encoded columns"
        )
    return names


def _weights_of(
    claim: Trained, shown: Shown, names: Sequence[str], searched: bool, paid: Mapping[str, tuple[float, float]]
) -> _Weights:
    planner = planner_of(claim)
    # Noise that did well was kept: what law the chosen candidate's has depends on the rows.
    deviation = None if searched else planner.deviation_of_a_weight(claim)
    labels = tuple(shown.classes or _declared(claim))
    lines = _lines(claim, shown, names, labels, deviation)
    effects: tuple[Effect, ...] = ()
    if shown.schema is not None:
        matrix = [[float(weight) for weight in row] for row in shown.coefficients]
        effects = effects_of(shown.schema, matrix, _targets(claim, labels), deviation, paid)
    return _Weights(
        lines=lines,
        words=_weight_words(claim, labels, deviation, planner.at_the_end and not searched),
        noise=_searched_words(claim) if searched else planner.noise_words(claim, deviation),
        exact=planner.at_the_end and not searched,
        effects=effects,
    )


def _searched_words(claim: Trained) -> str:
    return (
        f"Noise of standard deviation {deviation_of(claim.noise):.4g} entered the training of this candidate, which "
        "was chosen by scores of noisy weights: no figure for one weight is known, and no band drawn."
    )


def _lines(
    claim: Trained, shown: Shown, names: Sequence[str], classes: Sequence[Label], deviation: float | None
) -> tuple[WeightLine, ...]:
    problem, outputs = claim.problem, claim.problem.loss.outputs
    matrix = [[float(value) for value in row] for row in shown.coefficients]
    constants = [float(value) for value in shown.intercepts]
    widths = [len(row) for row in matrix]
    if widths != [len(names)] * outputs or len(constants) != outputs:
        raise InvalidParameter(
            f"weights of {outputs} output(s) for {len(names)} columns, and as many intercepts as outputs",
            f"weights of {len(matrix)} output(s) for {max(widths, default=0)} columns, and {len(constants)} intercepts",
            "pass coef_ and intercept_ of the model that this certificate belongs to",
        )
    if not all(math.isfinite(value) for row in (*matrix, constants) for value in row):
        raise InvalidParameter("finite weights", "others", "pass the weights as they were released")
    targets = _targets(claim, classes)
    lines = [
        WeightLine(name, target, value, deviation)
        for target, row in zip(targets, matrix, strict=True)
        for name, value in zip(names, row, strict=True)
    ]
    if problem.intercept > 0:
        centre = problem.domain.label_centre
        name = "intercept" if centre == 0 else f"intercept above {centre:g}"
        # The intercept is the weight of the constant column times its entry, and so is its noise.
        spread = None if deviation is None else problem.intercept * deviation
        lines += [
            WeightLine(name, target, value - centre, spread) for target, value in zip(targets, constants, strict=True)
        ]
    return tuple(lines)


def _targets(claim: Trained, classes: Sequence[Label]) -> list[str]:
    outputs = claim.problem.loss.outputs
    if claim.problem.domain.classes is None:
        return ["the target"]
    if outputs == 1:
        return [str(classes[1]) if len(classes) > 1 else "the second class"]
    return [str(label) for label in classes] if len(classes) == outputs else [str(place) for place in range(outputs)]


def _weight_words(claim: Trained, classes: Sequence[Label], deviation: float | None, exact: bool) -> str:
    if claim.problem.domain.classes is None:
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


def _ledger_state(dataset: str, balance: Balance, at: str) -> LedgerState:
    return LedgerState(dataset, balance.limit.epsilon, balance.limit.delta, at)
