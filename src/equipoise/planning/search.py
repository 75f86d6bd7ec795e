"""What a search asks for, in public facts only, and what follows from it: every training, the noise, the curve.

Two ways are proved. E5 (docs/proofs/E5.md): every candidate has rows of its own, and rows of nobody choose among them.
E6 (docs/proofs/E6.md): a random number of runs on the same rows, of which only the best is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Claim
from equipoise.certify.claims.choice import (
    LEVELS,
    MOST_VALIDATION_ROWS,
    Choice,
    Scoring,
    Stopping,
    is_gaussian,
    mean_of,
)
from equipoise.certify.claims.compositions import Disjoint
from equipoise.errors import InvalidParameter, NoTheoremApplies
from equipoise.planning.issue import checked, ends, issue
from equipoise.planning.laws.gaussian import largest_mu
from equipoise.planning.notes import Notes, caveats_of
from equipoise.planning.random_stopping import best_order, gaussian_run, pure_run, stopping_chance
from equipoise.planning.request import Request
from equipoise.planning.words import Section
from equipoise.planning.work import remembered
from equipoise.vocabulary.facts import Budget, Domain
from equipoise.vocabulary.numbers import plain, require_count, require_number

Method = Literal["chunks", "random-stopping"]

MOST_RUNS = 1e4

# In what domains of candidates may differ.
ALIKE = (
    "vary row_norm, row_sum, radius, prevalence and, where there are no bounds, fill of the domain, and nothing else "
    "in it; rows of other bounds are another search"
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter in which a candidate differs from the estimator that is searched over."""

    name: str
    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate: its parameters, and what its training asks for, on its own rows with its own budget."""

    parameters: tuple[Parameter, ...]
    request: Request

    @property
    def words(self) -> str:
        """The parameters in one line."""
        return ", ".join(f"{entry.name}={entry.value!r}" for entry in self.parameters)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The public inputs from which a search's certificate follows.

    Parameters
    ----------
    method : str
        "chunks" (E5) or "random-stopping" (E6).
    candidates : tuple of Candidate
        At least two, each with its request.
    n_samples, n_features : int
        The public shape of the table.
    budget : Budget
        The privacy loss of the whole search.
    validation_rows : int
        How many rows score the candidates and train none.
    score_bound : float
        The most that one row can say against a candidate: an error counts 1, a squared error at most this.
    public_seed, seeded, ledger
        As in a `Request`; the seed also splits the rows.
    shape : int
        The law of the number of runs: 1 geometric, 0 logarithmic.
    mean_runs : float
        Its mean, 0 where nothing is stopped at random.
    """

    method: Method
    candidates: tuple[Candidate, ...]
    n_samples: int
    n_features: int
    budget: Budget
    validation_rows: int
    score_bound: float
    public_seed: int = 0
    seeded: bool = False
    ledger: str | None = None
    shape: int = 0
    mean_runs: float = 0.0

    @property
    def training_rows(self) -> int:
        """How many rows train a candidate."""
        return rows_to_train(self.method, self.n_samples, self.validation_rows, len(self.candidates))


def rows_to_train(method: Method, n_samples: int, validation_rows: int, candidates: int) -> int:
    """Return how many rows train one candidate: an even share of its own, or all that do not validate.

    Examples
    --------
    >>> rows_to_train("chunks", 100, 20, 8), rows_to_train("random-stopping", 100, 20, 8)
    (10, 80)
    """
    left = n_samples - validation_rows
    return left // candidates if method == "chunks" else left


def run_budget(method: Method, budget: Budget, shape: int = 0, mean_runs: float = 0.0) -> Budget:
    """Return what the training of one candidate may spend.

    Examples
    --------
    >>> run_budget("chunks", Budget(1.0)), round(run_budget("random-stopping", Budget(1.0), 1, 10.0).epsilon, 6)
    (Budget(epsilon=1.0, delta=0.0), 0.333333)
    """
    if method not in ("chunks", "random-stopping"):
        remedy = 'pass method="chunks" or method="random-stopping"'
        raise InvalidParameter("a known method", f"method={method!r}", remedy)
    if method == "chunks":
        if (shape, mean_runs) != (0, 0.0):
            found = f"shape={shape!r}, mean_runs={mean_runs!r}"
            raise InvalidParameter("no number of runs for chunks", found, 'pass method="random-stopping"')
        return budget
    if isinstance(plain(shape), bool) or plain(shape) not in (0, 1):
        remedy = "pass shape=0 (logarithmic) or shape=1 (geometric)"
        raise InvalidParameter("shape, 0 or 1", f"shape={shape!r}", remedy)
    require_number("mean_runs", plain(mean_runs), above=1.0, largest=MOST_RUNS, remedy="pass mean_runs=20.0")
    if budget.delta == 0:
        return Budget(pure_run(budget.epsilon, shape))
    return gaussian_run(budget, shape, stopping_chance(shape, mean_runs))


@remembered(most=256)
def issue_search(request: SearchRequest) -> Certificate:
    """Return the certificate of a whole search, or refuse it: every training, the noise that chooses, one budget.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Domain
    >>> asked = Request("squared", "l2", 0.1, Domain(1.0, labels=(0.0, 1.0)), 0.0, 400, 3, Budget(1.0))
    >>> candidates = tuple(Candidate((Parameter("alpha", a),), replace(asked, alpha=a)) for a in (0.1, 1.0))
    >>> certificate = issue_search(SearchRequest("chunks", candidates, 1000, 3, Budget(1.0), 200, 1.0))
    >>> certificate.epsilon, certificate.theorem, certificate.verify()
    (1.0, 'E5', ())
    """
    run = run_budget(request.method, request.budget, request.shape, request.mean_runs)
    _check_rows(request)
    _check_candidates(request, run)
    trainings = tuple(issue(candidate.request).claim for candidate in request.candidates)
    claim = _by_chunks(request, trainings) if request.method == "chunks" else _by_stopping(request, run, trainings)
    fewer = "search over fewer candidates" if request.method == "chunks" else "pass a smaller mean_runs"
    ends(claim, f"{fewer}, leave out the smallest alpha, or train on fewer rows")
    checked(claim)
    first = request.candidates[0].request
    terms = replace(first.terms(), n_samples=request.n_samples)
    notes = Notes(
        claim=(f"Released: the noisy weights of one candidate of {len(trainings)}, and which it is.",),
        sections=(_how(request, claim, run), _candidates(request, trainings, run)),
        caveats=caveats_of(terms, claim),
    )
    return Certificate.seal(terms, claim, notes.plain())


def _by_chunks(request: SearchRequest, trainings: tuple[Claim, ...]) -> Disjoint:
    """Return the claim of E5: every candidate has rows of its own, and rows of nobody choose among them."""
    budget = request.budget
    # Rounded up: more noise is never less private.
    scale = math.nextafter(2 * LEVELS / budget.epsilon * (1 + 1e-15), math.inf)
    scoring = Scoring(request.score_bound)
    choice = Choice(Budget(budget.epsilon), request.validation_rows, len(trainings), scale, scoring)
    return Disjoint(budget, request.n_samples, (*trainings, choice))


def _by_stopping(request: SearchRequest, run: Budget, trainings: tuple[Claim, ...]) -> Stopping:
    """Return the claim of E6: a random number of runs on the same rows, of which only the best is seen."""
    budget, mu, order = request.budget, 0.0, 0.0
    gamma = stopping_chance(request.shape, request.mean_runs)
    if budget.delta > 0:
        mu = largest_mu(run.epsilon, run.delta) * (1 + 1e-12)
        _check_gaussian(request, trainings, mu)
        order = best_order(mu, request.shape, gamma, budget.epsilon)
    scale = math.nextafter(LEVELS / (mu or run.epsilon) * (1 + 1e-15), math.inf)
    return Stopping(
        budget=budget,
        n_samples=request.n_samples,
        of=trainings,
        validation_rows=request.validation_rows,
        run=run,
        shape=1 if request.shape == 1 else 0,
        gamma=gamma,
        scale=scale,
        procedure=Scoring(request.score_bound),
        mu=mu,
        order=order,
    )


def _how(request: SearchRequest, claim: Disjoint | Stopping, run: Budget) -> Section:
    """Say how a search goes, and why its budget covers all of it."""
    count, scale = request.validation_rows, float(getattr(claim.main, "scale", 0.0))
    own, total = f"({run.epsilon:.6g}, {run.delta:.6g})", f"({request.budget.epsilon:.6g}, {request.budget.delta:.6g})"
    scored = (
        f"- {count} rows score: the mean of losses clipped at {request.score_bound:.6g}, which one row moves by at "
        f"most {request.score_bound / count:.6g}; noise of scale {scale * request.score_bound / LEVELS / count:.6g} on "
        "it"
    )
    split = f"- public seed {request.public_seed} splits the rows, and no row is in two parts"
    if isinstance(claim, Disjoint):
        return "How", (
            split,
            f"- E5: every candidate has {request.training_rows} rows of its own and the whole budget on them",
            scored,
            f"- a row trains one candidate or helps to choose, so the search is as private as its worst part: {total}",
        )
    law = "geometric" if request.shape == 1 else "logarithmic"
    price = (
        f"(2 + {request.shape}) times epsilon of a run" if request.budget.delta == 0 else "Renyi divergences of a run"
    )
    return "How", (
        split,
        f"- E6: a secret number of runs, {law} with mean {mean_of(request.shape, claim.gamma):.6g}; each draws a "
        f"candidate, trains it on the same {request.training_rows} rows and scores it, privately with {own}; the best "
        "score wins, the first of equals",
        scored,
        f"- only the best run is seen: {price} cover all of them, {total}",
    )


def _candidates(request: SearchRequest, trainings: tuple[Claim, ...], run: Budget) -> Section:
    lines = (
        f"{place}  {candidate.words}: theorem {training.theorem} on {training.n_samples} rows, {training.kind} with "
        f"{getattr(training.main, 'law', '')} noise of scale {getattr(training.main, 'scale', 0.0):.6g}"
        for place, (candidate, training) in enumerate(zip(request.candidates, trainings, strict=True))
    )
    return f"Candidates, each trained with ({run.epsilon:.6g}, {run.delta:.6g})", tuple(lines)


def _check_rows(request: SearchRequest) -> None:
    count = len(request.candidates)
    if count < 2:
        remedy = "fit the estimator itself: it has all rows and the whole budget for its one candidate"
        raise InvalidParameter("a search over two candidates or more", f"{count}", remedy)
    require_count("n_samples", request.n_samples, "pass the public number of rows")
    require_count("validation_rows", request.validation_rows, "leave at least one row for the choice")
    if request.validation_rows > MOST_VALIDATION_ROWS:
        raise InvalidParameter(
            f"at most {MOST_VALIDATION_ROWS} validation rows", "more, whose scores no double adds up", "use fewer"
        )
    if request.training_rows < 1:
        raise InvalidParameter(
            f"rows for {count} candidates of their own and for the choice",
            f"n_samples={request.n_samples}, of which {request.validation_rows} choose",
            'search over fewer candidates, or pass method="random-stopping", whose candidates share their rows',
        )
    if request.method == "chunks" and request.validation_rows + count * request.training_rows != request.n_samples:
        found = f"{request.n_samples} rows, {count} candidates, {request.validation_rows} validation rows"
        raise InvalidParameter("chunks of one size and no row left over", found, "add the rest to the validation rows")


def _check_candidates(request: SearchRequest, run: Budget) -> None:
    first = request.candidates[0].request
    for place, candidate in enumerate(request.candidates):
        asked = candidate.request
        due = replace(
            asked,
            n_samples=request.training_rows,
            n_features=request.n_features,
            budget=run,
            public_seed=request.public_seed,
            seeded=request.seeded,
            ledger=request.ledger,
        )
        if asked != due:
            found = f"candidate {place} asks for other rows, another budget, seed or ledger"
            raise InvalidParameter("trainings as the search plans them", found, "let PrivateGridSearch make the plan")
        if asked.domain.class_weights is not None:
            found, remedy = "no proof: N2 is about one model", "leave class_weight out, or fit one model with it"
            raise NoTheoremApplies("a search among models with class weights", found, remedy)
        if asked.domain.unit == "person":
            found, remedy = "rows of persons, which N3 cannot deal by their places", "fit one model with groups"
            raise NoTheoremApplies("a search that covers all rows of a person", found, remedy)
        if asked.private_bounds is not None:
            found = "a schema with private bounds, whose release sees the rows of every candidate"
            raise InvalidParameter("rows that are encoded by public facts", found, "declare the bounds in the schema")
        if asked.domain.classes == "observed" or asked.observed_classes:
            remedy = "declare the classes in the domain: classes=(0, 1)"
            raise InvalidParameter("declared classes", 'classes="observed"', remedy)
        if (asked.domain.classes, asked.domain.labels, asked.schema) != (
            first.domain.classes,
            first.domain.labels,
            first.schema,
        ):
            raise InvalidParameter("candidates that are scored on one target", f"another in candidate {place}", ALIKE)
        if _scaled_by(asked.domain) != _scaled_by(first.domain):
            found = f"other bounds, or another fill beside them, in candidate {place}"
            raise InvalidParameter("candidates whose rows are scaled alike, once for all of them", found, ALIKE)
    bound = require_number("score_bound", request.score_bound, above=0.0, remedy="pass a public bound of a row's loss")
    if first.domain.classes is not None and bound != 1:
        raise InvalidParameter(
            "score_bound=1 for a classifier, whose error counts 0 or 1", f"score_bound={bound!r}", "leave it out"
        )


def _scaled_by(domain: Domain) -> object:
    """Return what rows are scaled by before any candidate sees them; each has its own norm, sum and fill after that."""
    return None if domain.bounds is None else (domain.bounds, domain.fill)


def _check_gaussian(request: SearchRequest, trainings: tuple[Claim, ...], mu: float) -> None:
    """Refuse trainings whose divergences are not those of a Gaussian of this mu (E6, hypothesis 4)."""
    for candidate, training in zip(request.candidates, trainings, strict=True):
        if not is_gaussian(training, mu):
            raise InvalidParameter(
                "Gaussian noise on the weights of every candidate, since delta > 0 and runs are stopped at random",
                f"{training.kind} with {getattr(training.main, 'law', 'other')} noise for {candidate.words}",
                'pass mechanism="gaussian", delta=0.0, or method="chunks"',
            )
