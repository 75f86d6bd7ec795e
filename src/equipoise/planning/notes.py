"""What a planner notes beside a claim: the menu, modelled costs, every theorem's answer, sentences for people."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from equipoise.certify.certificate import ABOUT_NOTES, Certificate, Terms
from equipoise.certify.claims import Claim, Trained
from equipoise.certify.record import build, to_plain
from equipoise.planning import words
from equipoise.planning.kinds import Plan, planner_of, words_of
from equipoise.planning.laws import Calibration
from equipoise.planning.mean_alone import SAID, is_mean_alone
from equipoise.planning.menu import Choice
from equipoise.planning.public_alpha import WEIGHT_GUESS, guessed_norm
from equipoise.planning.request import Request
from equipoise.planning.words import Section, number
from equipoise.vocabulary.facts import Bound, Budget

ROWS_AS_GIVEN = "covers the rows as given: preprocessing, selection and scores that looked at the data are not covered"
DOUBLE_PRECISION = "the noise comes from NumPy's generator in double precision, which Mironov's attack can undo"
SEEDED = "seeded: for experiments, not for release"
NOT_RECORDED = "not recorded: no ledger keeps this spend"

# A row norm that is above the longest row by no more than this is it.
ROUNDING = 1e-4


@dataclass(frozen=True, slots=True)
class Notes:
    """Beside a claim, for people and pictures; no claim rests on any of it.

    Parameters
    ----------
    about : str
        That very sentence.
    claim : tuple of str
        What was released, in a line or two.
    sections : tuple of (title, lines)
        The argument in words.
    caveats : tuple of str
        How rounding was priced, and what else to keep in mind.
    asked : Request, optional
        What was asked for, of which the claim is one answer; a search asked for several.
    bounds, candidates, menu
        Every theorem's answer, the laws and the kinds of release that were considered.
    weight_guess, comparator_norm, excess_risk, cost : float
        The yardsticks of alpha="public", the certified bound on training risk (J6) and the modelled cost.
    """

    about: str = ABOUT_NOTES
    claim: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    caveats: tuple[str, ...] = ()
    asked: Request | None = None
    bounds: tuple[Bound, ...] = ()
    candidates: tuple[Calibration, ...] = ()
    menu: tuple[Choice, ...] = ()
    weight_guess: float = 0.0
    comparator_norm: float = 0.0
    excess_risk: float = float("inf")
    cost: float = float("inf")

    @classmethod
    def of(cls, certificate: Certificate) -> Self:
        """Return the notes of a certificate, as its file has them."""
        return build(cls, certificate.notes, "notes")

    def plain(self) -> dict[str, Any]:
        """Return them as a certificate carries them."""
        found: dict[str, Any] = to_plain(self)
        return found


def caveats_of(terms: Terms, claim: Claim) -> tuple[str, ...]:
    """Return what a claim does not cover, and what to keep in mind about its parts, each once."""
    parts = [] if terms.seeded else [line for node in claim.nodes() for line in words_of(node).caveats(node)]
    weak = (*_mean_alone(claim), *hardly_any(claim.budget), *_large_delta(claim.budget, terms.n_samples, claim.unit))
    return tuple(dict.fromkeys((*weak, *_wasteful(claim, terms.n_features), *_not_covered(terms), *parts)))


# Above this epsilon a promise lets somebody who knows two candidates name the right one in 9,999 of 10,000 cases.
MOST_EPSILON = 10.0


def hardly_any(budget: Budget) -> tuple[str, ...]:
    """Return that a budget protects next to nothing, where it does; it follows from the request alone.

    Examples
    --------
    >>> hardly_any(Budget(10.0)), hardly_any(Budget(1e9))[0][:55]
    ((), 'next to no protection: epsilon = 1e+09 promises hardly ')
    """
    if budget.epsilon <= MOST_EPSILON:
        return ()
    return (
        f"next to no protection: epsilon = {budget.epsilon:g} promises hardly more than none, since whoever knows two "
        f"candidate rows may tell which it was in {100 / (1 + math.exp(-budget.epsilon)):.6g} % of cases; take "
        f"{MOST_EPSILON:g} or less, better 1",
    )


def _mean_alone(claim: Claim) -> Iterator[str]:
    """Yield that the mean of a target is told alone, where it is, or by some of several candidates."""
    told = [is_mean_alone(node) for node in claim.nodes() if isinstance(node, Trained)]
    if any(told):
        yield SAID if all(told) else f"by some candidates {SAID}"


def _large_delta(budget: Budget, n_samples: int, unit: str) -> Iterator[str]:
    """Yield that a delta allows to show somebody, where it does: who publishes each row with that chance keeps it.

    Examples
    --------
    >>> list(_large_delta(Budget(1.0, 1e-5), 8000, "row")), next(_large_delta(Budget(1.0, 0.01), 8000, "row"))[:52]
    ([], 'a large delta: delta = 0.01 alone allows to publish ')
    """
    if (shown := budget.delta * n_samples) >= 1:
        yield (
            f"a large delta: delta = {budget.delta:g} alone allows to publish {shown:.3g} of {n_samples:,} {unit}s as "
            f"they are, on average, and promises no more; take one well below 1/n = {1 / n_samples:.3g}"
        )


def _wasteful(claim: Claim, columns: int) -> Iterator[str]:
    """Yield what to write where a declared row norm is above what bounds let any row have: noise grows with it.

    A schema of that kind is refused (`equipoise.data.schema.useful`).
    """
    trained = claim.trained
    if not isinstance(trained, Trained) or (domain := trained.problem.domain).bounds is None:
        return
    longest = math.sqrt(columns)
    if domain.row_norm > longest * (1 + ROUNDING):
        yield (
            f"wasteful: row_norm = {number(domain.row_norm)} is declared, and by the bounds no row of "
            f"{columns} columns is longer than {number(longest)}: declare {number(longest)} or less; "
            "noise grows with it, rows do not"
        )


def divided(request: Request) -> Iterator[str]:
    """Yield the line to write into a schema whose rows are divided by a length that hardly any of them has.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from equipoise.vocabulary.facts import Domain
    >>> asked = Request("logistic", "l2", 0.1, Domain(1.0, classes=(0, 1)), 0.5, 100, 30, Budget(1.0))
    >>> list(divided(asked)), next(divided(replace(asked, row_norms=(5.477, 2.185))))[:69]
    ([], 'wasteful: the schema declares no row_norm, and rows are divided by 5.')
    """
    if request.row_norms is not None:
        longest, shorter = request.row_norms
        yield (
            f"wasteful: the schema declares no row_norm, and rows are divided by {longest:.4g}, as long as one can be, "
            f"which hardly any is: write row_norm = {shorter:.4g} into it, above [target]; rows are then "
            f"{longest / shorter:.2g} times as long beside the same noise, and longer ones are clipped "
            "(docs/schema.md)"
        )


def _hardly_there(request: Request) -> Iterator[str]:
    """Yield that a class is declared of which the table may not have one row: its plan is one for next to nothing."""
    shares = request.domain.prevalence
    if shares is not None and (rarest := min(shares) * request.rows) < 1:
        yield (
            f"hardly there: by the declared prevalence {request.rows} rows have {number(rarest)} of a class, less than "
            "one; the ridge is made for that, and such a model says next to nothing: check the prevalence, or leave it "
            "out"
        )


def _not_covered(terms: Terms) -> Iterator[str]:
    raw = f"covers raw rows as the schema {terms.schema[:16]} encodes them"
    raw = f"{raw}, whose facts are vouched for by {terms.vouched}"
    yield f"{raw}; scores and choices that looked at the data are not covered" if terms.schema else ROWS_AS_GIVEN
    yield "the running time of a fit is not covered"
    yield from (DOUBLE_PRECISION, SEEDED) if terms.seeded else ()
    yield from () if terms.ledger else (NOT_RECORDED,)


def notes_of(request: Request, plan: Plan, menu: tuple[Choice, ...]) -> Notes:
    """Return what is noted beside the claim of a plan."""
    claim, norm = plan.claim, guessed_norm(plan.claim.problem)
    planner = planner_of(claim)
    released = (
        f"Released: a {request.loss} model with penalty {claim.problem.penalty.name}, by {claim.kind} "
        f"({planner.words}, {claim.noise.dimension} numbers)."
    )
    return Notes(
        claim=(released,),
        sections=tuple(_sections(request, plan, menu)),
        caveats=tuple(
            dict.fromkeys(
                (
                    *_mean_alone(claim),
                    *request.remarks,
                    *divided(request),
                    *_hardly_there(request),
                    *caveats_of(request.terms(), claim),
                )
            )
        ),
        asked=request,
        bounds=plan.bounds,
        candidates=plan.candidates,
        menu=menu,
        weight_guess=WEIGHT_GUESS,
        comparator_norm=norm,
        excess_risk=plan.excess_risk,
        cost=plan.share,
    )


def _sections(request: Request, plan: Plan, menu: tuple[Choice, ...]) -> list[Section]:
    claim: Trained = plan.claim
    planner, norm = planner_of(claim), guessed_norm(claim.problem)
    picked = f"picked from public facts, comparator norm {number(norm)}" if request.alpha == "public" else "given"
    tolerance = getattr(claim, "tolerance", 0.0) or getattr(getattr(claim, "recipe", None), "tolerance", 0.0)
    return [
        words.facts(claim, request.n_features, picked, planner.ball(claim), tolerance, request.public_seed),
        *([_menu(menu)] if menu else []),
        planner.how(claim, plan.bounds),
        words.noise(claim.noise, planner.place, plan.candidates),
        words.cost(plan.share, plan.excess_risk, norm, WEIGHT_GUESS),
    ]


def _menu(menu: tuple[Choice, ...]) -> Section:
    lines = []
    for choice in menu:
        if choice.theorem:
            clip = "unclipped" if choice.clip is None else f"clip {number(choice.clip)}"
            if choice.projection:
                clip += f", {choice.projection} direction" + ("s" if choice.projection > 1 else "")
            mark = "*" if choice.verdict.startswith("taken") else " "
            lines.append(
                f"{mark} {choice.kind:<22} cost {choice.cost:<8.4f} {choice.theorem:<8} {choice.law:<18} "
                f"alpha {number(choice.alpha):<12} {clip:<12} {choice.verdict}"
            )
        else:
            lines.append(f"  {choice.kind:<22} {choice.verdict}")
    lines.append("The cost is the expected loss above the best model's, over that of a model that says nothing.")
    title = "Which way? Chosen by the cost modelled on the reference problem, from public facts (docs/mechanisms.md)."
    return title, tuple(lines)
