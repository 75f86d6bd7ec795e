"""The door of a search: plan -> admit -> split -> train, score and choose by noise -> seal.

One spend is recorded before the first row is read. Nothing leaves but the noisy weights of the chosen candidate and
which one it is: the weights and scores of the others are forgotten.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equipoise.errors import InvalidParameter, PlanMismatch, PrivateFailure
from equipoise.learn.projection import directions, shortening
from equipoise.learn.rows import coded_targets, row_source
from equipoise.learn.tables import Unread
from equipoise.proof.certificate import Certificate
from equipoise.proof.noise import NoiseSource
from equipoise.proof.random_stopping import DRAW_BITS, run_count
from equipoise.proof.search import SearchCertificate
from equipoise.proof.selection import LEVELS
from equipoise.release import Released, _check_ledger, _check_target, _noisy_weights
from equipoise.vocabulary.facts import Label

Array = NDArray[np.float64]
Places = NDArray[np.intp]

# Splits have coins of their own, whatever else a public seed drives.
_SPLIT_COINS = 5

# A uniform number comes in words of so many binary digits.
_WORD_BITS = 62


@dataclass(frozen=True, slots=True)
class Searched:
    """What leaves a search: the release of one candidate, and the certificate of all, which names it.

    The release carries what is needed to predict; its own certificate has no digest and claims nothing.
    """

    released: Released
    certificate: SearchCertificate


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The rows and targets of one part of a split."""

    features: Any
    target: NDArray[Any]


def split(n_samples: int, validation_rows: int, chunks: int, public_seed: int) -> tuple[Places, tuple[Places, ...]]:
    """Return the validation rows and the rows of each chunk, in rising order: every row is in exactly one of them.

    Examples
    --------
    >>> validation, chunks = split(10, 4, 2, public_seed=0)
    >>> len(validation), [len(chunk) for chunk in chunks]
    (4, [3, 3])
    >>> sorted([*validation.tolist(), *chunks[0].tolist(), *chunks[1].tolist()]) == list(range(10))
    True
    """
    # The legacy generator's stream is frozen: whoever repeats the split with another NumPy finds the same one.
    legacy = np.random.RandomState(np.random.MT19937(np.random.SeedSequence([public_seed, _SPLIT_COINS])))
    order = legacy.permutation(n_samples)
    parts = np.split(order[validation_rows:], chunks)
    return np.sort(order[:validation_rows]), tuple(np.sort(part) for part in parts)


def search(
    certificate: SearchCertificate, table: Unread, target: Unread, source: NoiseSource, ledger: str | None = None
) -> Searched:
    """Carry out a planned search on rows: record the one spend, then read, train, score, choose.

    Parameters
    ----------
    certificate : SearchCertificate
        The plan.
    table, target : Unread
        The rows and targets as given; no value has been fetched yet.
    source : NoiseSource
        Where all noise and all secret coins come from; a seeded one must have been planned as such.
    ledger : str, optional
        The URL or name of the ledger that must admit the spend first.
    """
    if table.shape != (certificate.n_samples, certificate.n_features):
        raise PlanMismatch(
            f"the {certificate.n_samples} rows and {certificate.n_features} columns that were planned",
            f"{table.shape[0]} rows and {table.shape[1]} columns",
            "plan again for this table, or pass the planned one: n is public and part of the claim",
        )
    if source.seeded is not certificate.request.seeded:
        raise InvalidParameter(
            "the noise source that was planned", "another one", "plan and fit with the same random_state"
        )
    _check_target(certificate.training(0), target)
    _check_ledger(certificate.training(0), ledger)
    if ledger is not None:
        # The database toolkit is loaded only where a ledger is bound.
        from equipoise.proof.ledger import Ledger

        Ledger(ledger).admit(certificate)
    # Rows are read from here on.
    classes = certificate.candidates[0].request.domain.classes
    try:
        # Overflow warnings would tell of values inside rows.
        with np.errstate(all="ignore"):
            found = _carried_out(certificate, table, target, tuple(classes or ()), source)
    except Exception:  # the cause may depend on rows, so it goes no further
        found = None
    if found is None:
        raise PrivateFailure
    return found


def _carried_out(
    certificate: SearchCertificate, table: Unread, target: Unread, classes: tuple[Label, ...], source: NoiseSource
) -> Searched:
    request = certificate.request
    chunks = len(request.candidates) if request.method == "chunks" else 1
    validating, training = split(request.n_samples, request.validation_rows, chunks, request.public_seed)
    matrix, targets = table.read(), np.asarray(target.read())
    matrix = sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix
    validation = _Table(matrix[validating], targets[validating])
    parts = tuple(_Table(matrix[places], targets[places]) for places in training)
    method = _by_chunks if request.method == "chunks" else _by_random_stopping
    place, weights = method(certificate, parts, validation, classes, source)
    return Searched(Released(weights, classes, certificate.training(place)), certificate.with_choice(place))


def _by_chunks(
    certificate: SearchCertificate,
    parts: tuple[_Table, ...],
    validation: _Table,
    classes: tuple[Label, ...],
    source: NoiseSource,
) -> tuple[int, Array]:
    """Train every candidate on its own rows, and choose one by the exponential mechanism on rows of nobody (E5)."""
    plans = [certificate.training(place) for place in range(len(parts))]
    weights = [_trained(plan, part, classes, source) for plan, part in zip(plans, parts, strict=True)]
    scores = [_score(certificate, plan, validation, classes, w) for plan, w in zip(plans, weights, strict=True)]
    place = source.choose(np.array(scores), certificate.noise_scale)
    return place, weights[place]


def _by_random_stopping(
    certificate: SearchCertificate,
    parts: tuple[_Table, ...],
    validation: _Table,
    classes: tuple[Label, ...],
    source: NoiseSource,
) -> tuple[int, Array]:
    """Train and score candidates drawn by secret coins, a secret number of times, and keep the best (E6)."""
    request, (part,) = certificate.request, parts
    add_noise = source.laplace if certificate.mechanism == "laplace" else source.gaussian
    kept: tuple[float, int, Array] | None = None
    for _ in range(run_count(_uniform(source), request.shape, certificate.argument.stopping_chance)):
        place = int(source.subset(len(request.candidates), 1)[0])
        plan = certificate.training(place)
        weights = _trained(plan, part, classes, source)
        score = _score(certificate, plan, validation, classes, weights)
        noisy = float(add_noise(np.array([score]), certificate.noise_scale)[0])
        # The first of equals: runs are exchangeable, so this breaks ties by coins that know nothing of the data (E6).
        if kept is None or noisy > kept[0]:
            kept = noisy, place, weights
    if kept is None:
        raise PrivateFailure
    return kept[1], kept[2]


def _uniform(source: NoiseSource) -> int:
    """Return a uniform whole number below ``2^DRAW_BITS``."""
    number = 0
    for _ in range(DRAW_BITS // _WORD_BITS):
        number = (number << _WORD_BITS) + int(source.subset(2**_WORD_BITS, 1)[0])
    return number


def _trained(plan: Certificate, part: _Table, classes: tuple[Label, ...], source: NoiseSource) -> Array:
    """Return the noisy weights of one training."""
    features = Unread(part.features.shape, True, lambda: part.features)
    target = Unread(part.target.shape, True, lambda: part.target)
    return _noisy_weights(plan, features, target, classes, source, None)


def _score(
    certificate: SearchCertificate, plan: Certificate, part: _Table, classes: tuple[Label, ...], weights: Array
) -> float:
    """Return minus the sum of clipped losses, in whole parts of the score bound: exact, and moved by one row alone."""
    problem = plan.request.problem(plan.alpha)
    predictions = np.nan_to_num(_predictions(plan, part.features, weights))
    coded = coded_targets(part.target, problem, classes)
    if problem.loss.task == "regression":
        bound = problem.domain.label_bound
        losses = (np.clip(predictions[:, 0], -bound, bound) - coded) ** 2
    elif predictions.shape[1] == 1:
        losses = ((predictions[:, 0] > 0) != (coded > 0)).astype(np.float64)
    else:
        losses = (predictions.argmax(axis=1) != coded).astype(np.float64)
    shares = np.minimum(losses / certificate.score_bound, 1.0)
    return -float(np.floor(LEVELS * shares).astype(np.int64).sum())


def _predictions(plan: Certificate, matrix: Any, weights: Array) -> Array:
    """Return every row times the weights, mapped into its domain as in training, a column an output."""
    request, count = plan.request, plan.argument.procedure.projection
    rows = row_source(matrix, request.domain, intercept=0.0)
    products = rows.predictions(np.ascontiguousarray(weights[:, : request.n_features].T))
    if count:
        # Rows are clipped in their few directions as in training (P1).
        columns = directions(request.n_features, count, request.public_seed)
        products *= shortening(rows.predictions(columns), request.domain.row_norm)[:, None]
    return products + request.intercept * weights[:, -1] if request.intercept > 0 else products
