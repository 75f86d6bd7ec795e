"""Model inversion: from a model, a person's other attributes and outcome to the attribute that was to stay private.

The attack of Fredrikson, Lantz, Jha, Lin, Page and Ristenpart, "Privacy in Pharmacogenetics" (USENIX Security 2014):
every level of the sensitive attribute is tried, weighed by its prior probability times the likelihood of the known
outcome given the model's prediction, and the heaviest is guessed. What is measured is how often that is right, beside
the guess that needs no model (docs/attacks.md says what this does and does not show).

The module is not called like the function `inversion`, since ``equipoise.lab.inversion`` cannot name both.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import InvalidData, InvalidParameter
from equipoise.lab.attack_finding import paired_difference, proportion
from equipoise.lab.attack_tables import Column, Table, equals, table_of
from equipoise.lab.estimate import Array, Estimate
from equipoise.lab.outcome_likelihoods import Likelihood, likelihood_of, probabilities

Sensitive = Column | Mapping[Hashable, Mapping[Column, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class InversionFinding:
    """How often an attacker names the right level of a sensitive attribute, beside guessing by the prior.

    Parameters
    ----------
    accuracy : Estimate
        How often the guessed level is the true one: the measure of the papers. Its interval is exact (Clopper-Pearson).
    baseline : Estimate
        How often the prior's most probable level is the true one.
    advantage : Estimate
        The accuracy less the baseline on the same rows, with an exact interval for paired guesses.
    balanced_accuracy : Estimate
        The mean, over the levels that occur, of how often each is recognised: common levels do not outweigh rare ones.
    attribute : str
        The attribute in words.
    levels : tuple
        The levels, in the prior's order.
    confusion : array of shape (levels, levels)
        How many rows of each true level (first) were guessed to be of each level (second).
    knowledge : str
        How the outcome was weighed, and where the attacker has it from.
    rows : int
        How many rows were attacked.
    """

    accuracy: Estimate
    baseline: Estimate
    advantage: Estimate
    balanced_accuracy: Estimate
    attribute: str
    levels: tuple[Hashable, ...]
    confusion: NDArray[np.int64]
    knowledge: str
    rows: int
    grade: ClassVar[str] = "measured"

    @property
    def confidence(self) -> float:
        """The confidence of each interval."""
        return self.accuracy.confidence

    @property
    def recall(self) -> dict[Hashable, Estimate]:
        """How often each level that occurs is recognised, with an exact interval each."""
        counts = self.confusion.sum(1)
        return {
            level: proportion(int(self.confusion[place, place]), int(counts[place]), self.confidence)
            for place, level in enumerate(self.levels)
            if counts[place]
        }

    def explain(self) -> str:
        """Return the finding in plain words, a line for each thing."""
        width = max(len(str(level)) for level in self.levels)
        cells = [[f"{count:,}" for count in row] for row in self.confusion.tolist()]
        wide = max(width, *(len(cell) for row in cells for cell in row))
        head = " " * (width + 2) + "  ".join(f"{level!s:>{wide}}" for level in self.levels)
        lines = [
            f"{level!s:<{width}}  " + "  ".join(f"{cell:>{wide}}" for cell in row)
            for level, row in zip(self.levels, cells, strict=True)
        ]
        if self.advantage.low > 0:
            verdict = "The model helps the attacker."
        elif self.advantage.high < 0:
            verdict = "The attacker does worse than by the prior alone."
        else:
            verdict = "No difference from guessing by the prior was found. More rows could find one."
        return "\n".join(
            [
                f"{self.grade}: model inversion of {self.attribute}, {self.rows:,} rows",
                f"  right guesses:          {_percent(self.accuracy)}",
                f"  guessing by the prior:  {_percent(self.baseline)}",
                f"  difference:             {_percent(self.advantage, ' points')}",
                f"  mean over the levels:   {_percent(self.balanced_accuracy)}",
                f"  confidence of each interval: {100 * self.confidence:g} %",
                f"  what the attacker knows: the other attributes, the outcome, the prior, and {self.knowledge}",
                f"  {verdict}",
                "  true level (line) and guessed level (column):",
                *(f"    {line}" for line in (head, *lines)),
            ]
        )

    def __str__(self) -> str:
        """Return the finding in one sentence."""
        return (
            f"{self.grade}: the attacker names {self.attribute} rightly for {_percent(self.accuracy)} of "
            f"{self.rows:,} rows; guessing by the prior: {_percent(self.baseline)}; "
            f"difference: {_percent(self.advantage, ' points')}; confidence {100 * self.confidence:g} %"
        )


def inversion(
    model: Any,
    X: Any,  # noqa: N803 - the field's word for a table
    y: ArrayLike,
    sensitive: Sensitive,
    prior: Mapping[Any, float],
    *,
    likelihood: Likelihood | None = None,
    confidence: float = 0.95,
) -> InversionFinding:
    """Attack a fitted model: guess a sensitive attribute of every row from its other attributes and its outcome.

    Parameters
    ----------
    model : object
        A fitted regressor or classifier, or a pipeline that ends in one: `predict`, or `predict_proba` and `classes_`.
    X : array or data frame
        The attacked rows as the model takes them, the true levels among them; they are used to count, not to guess.
    y : array
        The true outcomes.
    sensitive : column, or mapping of level to mapping of column to value
        A single column, by name in a frame and by number in an array, whose values are the levels; or, for one-hot
        columns, what each of the columns holds for each level, for instance
        ``{"A/A": {"vk_aa": 1, "vk_ag": 0}, "A/G": {"vk_aa": 0, "vk_ag": 1}, "G/G": {"vk_aa": 0, "vk_ag": 0}}``.
    prior : mapping of level to probability
        What the attacker knows of the levels beforehand; it names every level and sums to 1.
    likelihood : GaussianError, PredictedProbabilities, Agreement or ConfusionTable, optional
        How likely an outcome is under a prediction. Left out: predicted probabilities where the model has them, else a
        Gaussian error whose deviation the attacker estimates. A classifier without probabilities needs one.
    confidence : float
        The confidence of each interval.

    Returns
    -------
    InversionFinding
        Accuracy, baseline and advantage with intervals. They hold for rows drawn independently from the population
        that the attacker aims at, by a rule that did not look at their levels.

    Examples
    --------
    The outcome tells the level apart but for its error.

    >>> class Known:
    ...     def predict(self, X):
    ...         return 2.0 * X[:, 0] + X[:, 1]
    >>> stream = np.random.default_rng(0)
    >>> X = np.column_stack([stream.random(500) < 0.3, stream.normal(size=500)])
    >>> y = Known().predict(X) + stream.normal(size=500)
    >>> print(inversion(Known(), X, y, 0, {0: 0.7, 1: 0.3}))
    measured: the attacker names column 0 rightly for 88.0 % [84.8 %, 90.7 %] of 500 rows; guessing by the prior: \
74.2 % [70.1 %, 78.0 %]; difference: 13.8 points [7.5 points, 21.0 points]; confidence 95 %
    """
    if not 0 < confidence < 1:
        raise InvalidParameter("a confidence above 0 and below 1", repr(confidence), "pass confidence=0.95")
    table, outcomes = table_of(X), np.asarray(y)
    if outcomes.shape not in ((table.n_rows,), (table.n_rows, 1)):
        found = f"outcomes of shape {outcomes.shape} for {table.n_rows:,} rows"
        raise InvalidData("one outcome for every row", found, "pass X and y of the same rows")
    chances = _checked_prior(prior)
    values, attribute = _level_values(sensitive, prior)
    truth = _true_levels(table, values)
    weigh = (likelihood or likelihood_of(model)).weigh
    logarithms, knowledge = weigh(model, _tables(table, values), outcomes.ravel(), chances)
    guesses = _heaviest(logarithms, chances)
    return _finding(truth, guesses, int(np.argmax(chances)), (attribute, tuple(prior), knowledge), confidence)


def _checked_prior(prior: Mapping[Any, float]) -> Array:
    if not isinstance(prior, Mapping) or len(prior) < 2:
        found = f"{len(prior)} levels" if isinstance(prior, Mapping) else f"a {type(prior).__name__}"
        remedy = "pass prior={level: probability, ...}"
        raise InvalidParameter("a prior over two levels or more, a mapping of level to probability", found, remedy)
    return probabilities(prior, "of the prior")


def _level_values(sensitive: Sensitive, prior: Mapping[Any, float]) -> tuple[dict[Hashable, Mapping[Column, Any]], str]:
    """Return for every level what its columns hold, in the prior's order, and the attribute in words."""
    if not isinstance(sensitive, Mapping):
        name = sensitive if isinstance(sensitive, str) else f"column {sensitive}"
        return {level: {sensitive: level} for level in prior}, name
    if not all(isinstance(held, Mapping) and held for held in sensitive.values()) or not sensitive:
        remedy = "pass sensitive={level: {column: value, ...}, ...}"
        raise InvalidParameter("for every level the values of its columns", "a level without columns", remedy)
    columns = tuple(next(iter(sensitive.values())))
    for level, held in sensitive.items():
        if set(held) != set(columns):
            found = f"{', '.join(map(str, held))} for {level!r}, {', '.join(map(str, columns))} for another"
            raise InvalidParameter("the same columns for every level", found, "say what each column holds for each")
    apart = {"in the prior only": set(prior) - set(sensitive), "without a prior": set(sensitive) - set(prior)}
    for where, levels in apart.items():
        if levels:
            found = f"{', '.join(sorted(map(str, levels)))} {where}"
            raise InvalidParameter("the same levels in prior and sensitive", found, "add them or leave them out")
    distinct = {tuple(held[column] for column in columns) for held in sensitive.values()}
    if len(distinct) < len(sensitive):
        raise InvalidParameter("levels that differ in some column", "two levels with the same values", "join them")
    return {level: sensitive[level] for level in prior}, f"columns {', '.join(map(str, columns))}"


def _true_levels(table: Table, values: Mapping[Hashable, Mapping[Column, Any]]) -> NDArray[np.intp]:
    """Return each row's level by its place in the prior."""
    columns = {name: table.column(name) for held in values.values() for name in held}
    fits = np.column_stack(
        [np.all([equals(columns[name], value) for name, value in held.items()], axis=0) for held in values.values()]
    )
    without = ~fits.any(axis=1)
    if without.any():
        row = int(np.argmax(without))
        held = ", ".join(f"{name}={column.tolist()[row]!r}" for name, column in columns.items())
        found = f"{int(without.sum()):,} of {table.n_rows:,} rows with another, the first: {held}"
        remedy = "give every level that occurs a probability in the prior, or leave these rows out"
        raise InvalidData("rows whose level the prior names", found, remedy)
    return np.asarray(np.argmax(fits, axis=1))


def _tables(table: Table, values: Mapping[Hashable, Mapping[Column, Any]]) -> Iterator[Any]:
    for held in values.values():
        yield table.overwritten(held)


def _heaviest(logarithms: Array, prior: Array) -> NDArray[np.intp]:
    """Return the level of the largest weight; the earlier in the prior of two that weigh the same."""
    # Only ratios matter. Where no level can explain an outcome the model says nothing, and the prior decides.
    most = logarithms.max(axis=1, keepdims=True)
    relative = np.where(np.isfinite(most), logarithms, 0.0) - np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.argmax(relative + np.log(prior), axis=1))


def _finding(
    truth: NDArray[np.intp],
    guesses: NDArray[np.intp],
    commonest: int,
    told: tuple[str, tuple[Hashable, ...], str],
    confidence: float,
) -> InversionFinding:
    attribute, levels, knowledge = told
    rows, size = len(truth), len(levels)
    confusion = np.bincount(truth * size + guesses, minlength=size * size).reshape(size, size)
    right, by_prior = guesses == truth, truth == commonest
    counts = confusion.sum(1)
    occurring = np.flatnonzero(counts)
    # Each level's interval fails with its share of what the confidence leaves; so all hold together, and their mean.
    each = 1 - (1 - confidence) / len(occurring)
    recalls = [proportion(int(confusion[level, level]), int(counts[level]), each) for level in occurring]
    mean, low, high = (float(np.mean([getattr(recall, end) for recall in recalls])) for end in ("value", "low", "high"))
    return InversionFinding(
        accuracy=proportion(int(right.sum()), rows, confidence),
        baseline=proportion(int(by_prior.sum()), rows, confidence),
        advantage=paired_difference(int((right & ~by_prior).sum()), int((by_prior & ~right).sum()), rows, confidence),
        balanced_accuracy=Estimate(mean, low, high, confidence),
        attribute=attribute,
        levels=levels,
        confusion=confusion,
        knowledge=knowledge,
        rows=rows,
    )


def _percent(estimate: Estimate, unit: str = " %") -> str:
    value, low, high = (100 * number for number in (estimate.value, estimate.low, estimate.high))
    return f"{value:.1f}{unit} [{low:.1f}{unit}, {high:.1f}{unit}]"
