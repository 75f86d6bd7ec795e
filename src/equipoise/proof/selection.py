"""What a search asks for, in public facts only, and what follows from it: every training, the noise, the curve.

Two ways are proved. E5 (docs/proofs/E5.md): every candidate has rows of its own, and rows of nobody choose among them.
E6 (docs/proofs/E6.md): a random number of runs on the same rows, of which only the best is seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from equipoise.errors import InvalidParameter
from equipoise.proof.argument import Argument, CurvePoint, Grade, derive
from equipoise.proof.curves import Curve, PureCurve, largest_mu
from equipoise.proof.random_stopping import SelectedCurve, gaussian_run, pure_run, stopping_chance
from equipoise.proof.request import Request
from equipoise.vocabulary.facts import Adjacency, Budget
from equipoise.vocabulary.numbers import plain, require_count, require_number

Method = Literal["chunks", "random-stopping"]

# A row's score is a whole number of such parts of the score bound, so that sums of scores are exact.
LEVELS = 2**20
MOST_VALIDATION_ROWS = 2**33
MOST_RUNS = 1e4

GRID = "the candidates, the split and the score bound are taken to have been chosen without a look at the rows"


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


@dataclass(frozen=True, slots=True)
class SearchArgument:
    """Everything that follows from a search request. `noise_scale` is in units of ``score_bound / 2^20``, on sums."""

    adjacency: str
    grade: Grade
    assumptions: tuple[str, ...]
    theorem: str
    mechanism: str
    training_rows: int
    run: Budget
    stopping_chance: float
    score_sensitivity: float
    noise_scale: float
    trainings: tuple[Argument, ...]
    curve: tuple[CurvePoint, ...]
    caveats: tuple[str, ...]


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


@lru_cache(maxsize=256)
def derive_search(request: SearchRequest) -> SearchArgument:
    """Return what follows from a search request, or refuse it: what every training needs, noise, curve, caveats."""
    run = run_budget(request.method, request.budget, request.shape, request.mean_runs)
    _check_rows(request)
    _check_candidates(request, run)
    trainings = tuple(derive(candidate.request) for candidate in request.candidates)
    chance = 0.0 if request.method == "chunks" else stopping_chance(request.shape, request.mean_runs)
    levels = tuple(factor * request.budget.epsilon for factor in (0.5, 1.0, 2.0))
    curve: Curve
    if request.method == "chunks":
        mechanism, scale, curve = "exponential", 2 * LEVELS / request.budget.epsilon, PureCurve(request.budget.epsilon)
    elif request.budget.delta == 0:
        mechanism, scale, curve = "laplace", LEVELS / run.epsilon, PureCurve(request.budget.epsilon)
    else:
        mu = largest_mu(run.epsilon, run.delta)
        _check_gaussian(request, trainings, mu)
        mechanism, scale, curve = "gaussian", LEVELS / mu, SelectedCurve(mu, request.shape, chance)
    deltas = [curve.delta(level) for level in levels]
    if request.method == "chunks":
        # A row trains one candidate or helps to choose: the worst of these curves is the whole search's (E5).
        deltas = [max(point.delta for point in points) for points in zip(*(t.curve for t in trainings), strict=True)]
        deltas = [max(delta, curve.delta(level)) for delta, level in zip(deltas, levels, strict=True)]
    assumptions = _united(training.assumptions for training in trainings)
    return SearchArgument(
        adjacency=Adjacency.REPLACE_ONE.value,
        grade="conditional" if assumptions else "proved",
        assumptions=assumptions,
        theorem="E5" if request.method == "chunks" else "E6",
        mechanism=mechanism,
        training_rows=request.training_rows,
        run=run,
        stopping_chance=chance,
        score_sensitivity=request.score_bound / request.validation_rows,
        # Rounded up: more noise is never less private.
        noise_scale=math.nextafter(scale * (1 + 1e-15), math.inf),
        trainings=trainings,
        curve=tuple(CurvePoint(level, delta) for level, delta in zip(levels, deltas, strict=True)),
        caveats=(*_united(training.caveats for training in trainings), GRID),
    )


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
            remedy = "vary row_norm and radius of the domain, and nothing else in it"
            raise InvalidParameter("candidates that are scored on one target", f"another in candidate {place}", remedy)
    bound = require_number("score_bound", request.score_bound, above=0.0, remedy="pass a public bound of a row's loss")
    if first.domain.classes is not None and bound != 1:
        raise InvalidParameter(
            "score_bound=1 for a classifier, whose error counts 0 or 1", f"score_bound={bound!r}", "leave it out"
        )


def _check_gaussian(request: SearchRequest, trainings: tuple[Argument, ...], mu: float) -> None:
    """Refuse trainings whose divergences are not those of a Gaussian of this mu (E6, hypothesis 4)."""
    for candidate, training in zip(request.candidates, trainings, strict=True):
        shift = math.inf if training.sensitivity is None else training.sensitivity / training.noise_scale
        if training.mechanism != "gaussian" or training.route not in ("output", "sgd") or shift > mu * (1 + 1e-12):
            raise InvalidParameter(
                "Gaussian noise on the weights of every candidate, since delta > 0 and runs are stopped at random",
                f"{training.route} with {training.mechanism} noise for {candidate.words}",
                'pass mechanism="gaussian", delta=0.0, or method="chunks"',
            )


def _united(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    entries: dict[str, None] = {}
    for texts in lists:
        entries |= dict.fromkeys(texts)
    return tuple(entries)
