"""`equipoise.population_intervals`: where the coefficients of the population lie, approximately, from a release alone.

A parametric bootstrap: the release is taken apart into what training took off and a truth, labels of public rows are
drawn from that truth, and the same training, with noise of the same law, is carried out on them again and again. It is
post-processing of the release, and no spend. Nothing about it is proved; docs/coefficients.md measures how often
intervals hold, and where they do not.
"""

import math
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from equipoise.artifact.folder import load
from equipoise.artifact.simulated import Simulated
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Trained
from equipoise.certify.claims.noisy_gradient import NoisyGradient
from equipoise.data.encoded import encoded_rows
from equipoise.data.joined import new_rows
from equipoise.data.products import products
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.intake import PlainRows
from equipoise.evaluation.mean_training import Labels, MeanDescent, MeanTraining, Numbers, TwoClasses
from equipoise.evaluation.population_interval import PopulationInterval, PopulationIntervals
from equipoise.planning.losses import known as known_loss
from equipoise.planning.public_alpha import guessed_norm
from equipoise.vocabulary.facts import Problem
from equipoise.vocabulary.numbers import require_count, require_number
from equipoise.wording import of_type

Array = NDArray[np.float64]

# So many truths are tried, until their trainings end at the release on the average: as near as this, in deviations.
ROUNDS, NEAR = 8, 0.5
# How many tables are simulated, and how many at least: fewer tell too little of a spread.
REFITS, FEWEST = 100, 20

OTHERWISE = (
    "evaluate predictions on held-out rows instead (eq.evaluate): those intervals count the sampling of rows, and need "
    "no model of them"
)
MORE = "train with a larger epsilon, or on more rows"
ASSUMPTIONS = (
    "the public rows look like the population's: their spread decides the width",
    "rows of the private table are drawn from that population, each by itself",
    "labels follow the model: {labels}",
    "trainings of simulated rows differ from their mean as the release does from its own",
)


def population_intervals(
    model: PrivateLinearModel | str | os.PathLike[str],
    rows_like: Any,
    *,
    label_noise: float | None = None,
    level: float = 0.95,
    refits: int = REFITS,
    seed: int = 0,
) -> PopulationIntervals:
    """Return approximate intervals for the coefficients that the whole population would give.

    The population's coefficients are those of the model without ridge, noise and clipping. Bias and spread are those of
    `refits` trainings of the same plan on simulated tables: rows drawn from `rows_like` with replacement, labels from
    the truth whose training ends at the released weights. Nothing is spent, since no private row is used; inside of
    an `eq.account`, which takes no simulations, it is refused.

    Parameters
    ----------
    model : fitted classifier of two classes or regressor with a logistic or squared loss, or its released folder
        Trained by "output", "objective" or "noisy-gradient", or on sums of products.
    rows_like : array, frame or opened table
        *Public* rows, or simulated ones, that look like the population's, as `predict` takes them. Never the private
        rows: intervals would be a function of them that no noise covers.
    label_noise : float
        Of a regression: the standard deviation of the target around the line, in its own units, publicly known or paid
        for (the root of an evaluation's mean squared error).
    level : float
        The chance that each interval is meant to hold with.
    refits : int
        How many tables are simulated and trained on; at least 20, and at least ``level / (1 - level)``.
    seed : int
        Of the simulation.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> draw = np.random.default_rng(0)
    >>> public, X = draw.uniform(-0.7, 0.7, (2, 3000, 2))
    >>> y = (draw.random(3000) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(int)
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> model = eq.LogisticRegression(epsilon=2.0, domain=domain, mechanism="output", random_state=0).fit(X, y)
    >>> found = eq.population_intervals(model, public, refits=20)
    >>> found.grade, bool(np.all(found.low < [3.0, 0.0])), bool(np.all(found.high > [3.0, 0.0]))
    ('approximate', True, True)
    >>> found.coefficients[0].ridge < 0
    True
    """
    given: Any = load(model) if isinstance(model, str | os.PathLike) else model
    if not isinstance(given, PrivateLinearModel):
        found, remedy = of_type(given), "pass a fitted private model, or the folder of one"
        raise InvalidParameter("a private linear model", found, remedy)
    check_is_fitted(given, "coef_")
    if not 0.0 < level < 1.0:
        raise InvalidParameter("a level between 0 and 1", f"{level!r:.80}", "ask for 0.95, say")
    refits, least = (
        require_count("refits", refits, f"pass refits={REFITS}"),
        max(FEWEST, math.ceil(level / (1 - level))),
    )
    if refits < least:
        raise InvalidParameter(f"{least} refits or more for level {level:g}", f"{refits}", "raise refits")
    if not isinstance(seed, int) or seed < 0:
        raise InvalidParameter("seed, a whole number >= 0", f"{seed!r:.40}", "pass seed=0")
    simulated = _simulated(given.certificate_)
    labels = _labels(given, simulated.claim, label_noise)
    rows = _public_rows(given, rows_like)
    return _Bootstrap(given, simulated, labels, rows).intervals(level, refits, seed)


class _Bootstrap:
    """The simulation: everything in coordinates of the span of the public rows."""

    def __init__(self, model: PrivateLinearModel, simulated: Simulated, labels: Labels, rows: Array) -> None:
        problem = simulated.problem
        constant, domain = problem.intercept, problem.domain
        self._model, self._simulated, self._labels, self._table = model, simulated, labels, rows
        # Rows as they are, and as training sees them, each with its constant entry.
        ends = np.full((len(rows), int(constant > 0)), constant)
        clipped = np.hstack([products(rows, domain, np.eye(rows.shape[1])), ends])
        whole = np.hstack([rows, ends])
        self._span = _span(whole, clipped, model)
        self._rows, clipped = whole @ self._span, clipped @ self._span
        alpha, claim = float(getattr(problem.penalty, "alpha", 0.0)), simulated.claim

        def training(ridge: float) -> MeanTraining:
            if isinstance(claim, NoisyGradient):
                return MeanDescent(self._rows, clipped, labels, ridge, claim)
            return MeanTraining(self._rows, clipped, labels, ridge)

        self._training, self._without_ridge = training(alpha), training(0.0)
        weights = np.atleast_2d(model.coef_)[0]
        offset = [(float(np.atleast_1d(model.intercept_)[0]) - domain.label_centre) / constant] if constant > 0 else []
        self._released = np.concatenate([weights, offset]) @ self._span

    def intervals(self, level: float, refits: int, seed: int) -> PopulationIntervals:
        """Return the intervals; truths are tried until their trainings end at the release on the average."""
        truth = self._training.truth(self._released)
        tends = None if truth is None else self._training.weights(truth)
        back = None if truth is None or tends is None else self._training.put_back(truth, tends)
        earlier: tuple[Array, Array] | None = None
        for _ in range(ROUNDS):
            if truth is None or back is None or not np.all(np.isfinite(truth)):
                break
            # The same rows, coins and noise each time, so that the means differ by the truth alone.
            trained = self._trained(truth, refits, seed)
            mean = trained.mean(axis=0)
            if earlier is not None:
                back = _learnt(back, truth - earlier[0], mean - earlier[1])
            moved, apart = back @ (self._released - mean), (trained - mean) @ back.T
            if np.all(np.abs(self._span @ moved) <= NEAR * np.std(apart @ self._span.T, axis=0)):
                again = self._trained(truth, math.ceil(refits / 4), seed, again=True)
                by_noise = (trained[: len(again)] - again) @ back.T
                return self._found(truth, mean, truth + moved, apart, by_noise, level, seed)
            earlier, truth = (truth, mean), truth + moved
        asked = "a release that simulated trainings end at"
        found = "cannot be told at this budget: no coefficients of a population of such rows would lead there"
        raise InvalidParameter(asked, found, f"{MORE}; or pass public rows that look more like the private ones")

    def _trained(self, truth: Array, tables: int, seed: int, again: bool = False) -> Array:
        """Return weights, a row a simulated table; `again` trains on the same tables with other noise."""
        n_samples, trained = self._simulated.claim.n_samples, []
        for number in range(tables):
            stream = np.random.default_rng((seed, number))
            places = stream.integers(len(self._rows), size=n_samples)
            target = self._labels.drawn(self._rows[places] @ truth, stream)
            own, other = stream.integers(2**32, size=2).tolist()
            trained.append(self._simulated.weights(self._table[places], target, other if again else own)[0])
        return np.array(trained) @ self._span

    def _found(
        self, truth: Array, mean: Array, estimate: Array, apart: Array, by_noise: Array, level: float, seed: int
    ) -> PopulationIntervals:
        tends, unridged = self._training.weights(truth), self._without_ridge.weights(truth)
        # What cannot be told apart counts as the rest.
        tends = truth if tends is None or unridged is None else tends
        unridged = truth if unridged is None else unridged
        # Other public rows would have put back something else: another draw for each training.
        few = self._training.by_these_rows(truth, tends)
        apart = apart + np.random.default_rng(seed).multivariate_normal(np.zeros(len(few)), few, len(apart))
        # One training lies within the k-th smallest of B others with chance k/(B + 1); these B made their mean, which
        # is nearer to them than to another.
        count = len(apart)
        rank = math.ceil((count + 1) * level) - 1
        half = math.sqrt((count + 1) / (count - 1)) * np.sort(np.abs(apart @ self._span.T), axis=0)[rank]
        noise = np.sqrt(0.5 * np.mean((by_noise @ self._span.T) ** 2, axis=0))
        covariance = self._training.sampling(truth, tends, self._simulated.claim.n_samples)
        sampling, public = (np.sqrt(np.diag(self._span @ one @ self._span.T)) for one in (covariance, few))
        value, released = self._span @ estimate, self._span @ self._released
        parts = (self._span @ part for part in (tends - unridged, unridged - truth, mean - tends))
        problem, model = self._simulated.problem, self._model
        reaches = np.full(len(value), guessed_norm(problem))
        told = [released, value, value - half, value + half, *parts, sampling, noise, public, reaches]
        found = [PopulationInterval(*column) for column in np.array(told).T.tolist()]
        intercept = None
        if problem.intercept > 0:
            found, intercept = found[:-1], _constant(found[-1], problem)
        classes = problem.loss.task == "classification"
        said = "log odds are linear in a row" if classes else "linear in a row, with normal errors of the declared size"
        names = model._saved().features or tuple(f"x{place}" for place in range(len(found)))
        assumed = [line.format(labels=said) for line in ASSUMPTIONS]
        if self._span.shape[0] > self._span.shape[1]:
            assumed.append("of coefficients that predict the same on the public rows, the shortest are meant")
        return PopulationIntervals(level, tuple(found), intercept, names, count, tuple(assumed))


def _learnt(back: Array, truth: Array, mean: Array) -> Array:
    """Return the matrix from weights to truths, corrected along the last move by what came of it (Broyden's rule)."""
    along = truth @ back
    size = float(along @ mean)
    # Where a move came to nothing there is nothing to learn.
    return back if abs(size) < 1e-12 else back + np.outer(truth - back @ mean, along) / size


def _constant(found: PopulationInterval, problem: Problem) -> PopulationInterval:
    """Return the interval of the constant column in units of the intercept."""
    centre, length = problem.domain.label_centre, problem.intercept
    places = [centre + length * place for place in (found.released, found.value, found.low, found.high)]
    biases = found.ridge, found.clipping, found.rest
    sizes = [length * size for size in (*biases, found.sampling, found.noise, found.public)]
    sizes.append(problem.row_norm * found.reach)
    return PopulationInterval(*places, *sizes)


def _span(rows: Array, clipped: Array, model: PrivateLinearModel) -> Array:
    """Return an orthonormal basis of the directions in which the public rows lie; the axes, where these are all.

    Levels of a category add up to a constant: along such directions nothing is known of a population, and what was
    released there is noise.
    """
    flat = np.flatnonzero(~np.any(rows, axis=0))
    if len(flat):
        names = model._saved().features
        column = names[flat[0]] if names else f"number {flat[0]}"
        remedy = "pass public rows in which every column, and every level of a category, occurs"
        raise InvalidData("public rows that differ in every column", f"only 0 in the column {column!r:.80}", remedy)
    sizes, directions = np.linalg.eigh(rows.T @ rows / len(rows))
    kept = sizes > 1e-10 * sizes[-1]
    if np.all(kept):
        return np.eye(rows.shape[1])
    if not np.allclose(rows, clipped, rtol=1e-6, atol=1e-9):
        found = f"{rows.shape[1] - int(kept.sum())} columns that follow from others, in rows that are clipped"
        raise InvalidData("public rows whose columns can be told apart", found, "pass more rows, or raise row_norm")
    return np.asarray(directions[:, kept])


def _simulated(certificate: Any) -> Simulated:
    """Return the training, if it is one that is understood here."""
    if not isinstance(certificate, Certificate):
        remedy = "train again with this version"
        raise InvalidParameter("a model with a certificate of this version", "one of an older version", remedy)
    simulated = Simulated(certificate, OTHERWISE)
    problem, asked = simulated.problem, simulated.asked
    found = ""
    if asked.loss not in ("logistic", "squared"):
        found = f"the loss {asked.loss}"
    elif asked.penalty != "l2" or problem.domain.radius is not None:
        found = f"the penalty {asked.penalty}" if asked.penalty != "l2" else "weights inside of a declared radius"
    elif problem.domain.class_weights is not None:
        found = "weights of classes, which move the population's coefficients"
    elif asked.recipe is not None or asked.dropout is not None:
        found = "a descent by a recipe of its own" if asked.dropout is None else "dropout"
    elif getattr(simulated.claim, "projection", 0):
        found = "rows that were reduced to random directions"
    if found:
        asks = "a logistic model of two classes or least squares, with a ridge and nothing else"
        raise InvalidParameter(asks, found, OTHERWISE)
    return simulated


def _labels(model: PrivateLinearModel, claim: Trained, label_noise: float | None) -> Labels:
    """Return how labels follow from rows; noisy gradients clip slopes, which makes another loss of it (B7)."""
    domain, clip = claim.problem.domain, getattr(claim, "clip", None)
    loss = claim.problem.loss if clip is None else known_loss(claim.problem.loss).clipped(clip)
    if loss.task == "classification":
        if label_noise is not None:
            remedy = "leave it out: how often classes differ follows from the model"
            raise InvalidParameter("no label_noise, for classes", f"label_noise={label_noise!r:.40}", remedy)
        return TwoClasses(loss, domain)
    remedy = "pass label_noise=..., publicly known, or the root of a paid evaluation's mean squared error"
    deviation = require_number("label_noise", label_noise, above=0.0, remedy=remedy)
    schema = getattr(model, "schema_", None)
    low, high = (-1.0, 1.0) if schema is None or schema.target.bounds is None else schema.target.bounds
    return Numbers(loss, domain, deviation / ((high - low) / 2))


def _public_rows(model: PrivateLinearModel, rows_like: Any) -> Array:
    """Return public rows as numbers, encoded where there is a schema; what is no number becomes the declared one."""
    if rows_like is None:
        raise InvalidParameter(
            "public rows that look like the population's",
            "none: a schema or a domain bounds columns, and says nothing of their spread",
            "pass rows_like=..., public or simulated rows; their spread decides the width of the intervals",
        )
    schema, domain = getattr(model, "schema_", None), model._facts.domain
    if schema is not None:
        batches = list(encoded_rows(schema, new_rows(rows_like)))
        rows = np.concatenate(batches) if batches else np.empty((0, schema.n_features))
    else:
        read = PlainRows(domain).known_columns(model, rows_like).read()
        rows = np.array(read.toarray() if hasattr(read, "toarray") else read, dtype=np.float64)
    least = 10 * (rows.shape[1] + 1)
    if len(rows) < least:
        remedy = "pass more: how the columns hang together is learnt from them"
        raise InvalidData(f"{least} public rows or more for {rows.shape[1]} columns", f"{len(rows)}", remedy)
    return np.where(np.isfinite(rows), rows, domain.fill)
