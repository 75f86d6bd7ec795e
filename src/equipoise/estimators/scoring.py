"""From new rows to predictions by released weights: what needs nothing but public facts, weights and a table.

Estimators predict by it, and so does the command line, without loading them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Trained
from equipoise.data.encoded import encoded_rows
from equipoise.data.encoder import Encoder
from equipoise.data.projection import directions, shortening
from equipoise.data.raw import RawTable
from equipoise.data.schema import Schema
from equipoise.errors import InvalidParameter
from equipoise.vocabulary.constants import BLOCK_ROWS
from equipoise.vocabulary.facts import Domain

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PredictionFacts:
    """What predictions need besides weights, all of it public."""

    domain: Domain
    n_features: int
    projection: int
    public_seed: int

    @classmethod
    def of(cls, certificate: Certificate) -> Self:
        """Return those of a certificate about weights."""
        claim, terms = certificate.claim.trained, certificate.terms
        if not isinstance(claim, Trained):
            raise InvalidParameter("a certificate about weights", f"one of kind {claim.kind!r}", "use a model's own")
        projection = getattr(claim, "projection", 0)
        return cls(claim.problem.domain, terms.n_features, projection, terms.public_seed)

    @property
    def directions(self) -> Array | None:
        """The few random directions in which rows are clipped again, a column each; none for most models."""
        return directions(self.n_features, self.projection, self.public_seed) if self.projection else None

    def shortened(self, products: Array, reduced: Any) -> None:
        """Clip rows in their few directions as in training, so that the intercept weighs the same (P1).

        `reduced` returns the rows times columns.
        """
        columns = self.directions
        if columns is not None:
            products *= shortening(reduced(columns), self.domain)[:, None]


def encoded_products(schema: Schema, table: RawTable, weights: Array) -> Array:
    """Return encoded rows times the weights, batch by batch: a column an output."""
    batches = [rows @ weights for rows in encoded_rows(schema, table)]
    return np.concatenate(batches) if batches else np.empty((0, weights.shape[1]))


def decisions(scores: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the class with the highest score, or for one score a row the second class where it is positive.

    Examples
    --------
    >>> decisions(np.array([[0.5], [-0.5]]), np.array(["no", "yes"])).tolist()
    ['yes', 'no']
    """
    if scores.shape[1] > 1:
        best: NDArray[Any] = classes[scores.argmax(axis=1)]
        return best
    decided, predicted = (scores[:, 0] > 0).view(np.int8), np.empty(len(scores), dtype=classes.dtype)
    for start in range(0, len(scores), BLOCK_ROWS):
        # There may be only one class; and what NumPy makes of a block's decisions stays in the cache.
        rows = slice(start, start + BLOCK_ROWS)
        np.take(classes, decided[rows], out=predicted[rows], mode="clip")
    return predicted


def within_range(scores: Array, domain: Domain, schema: Schema | None) -> Array:
    """Return predictions inside the target's public range, in the units of the target."""
    low, high = domain.label_centre - domain.label_bound, domain.label_centre + domain.label_bound
    clipped: Array = np.clip(scores[:, 0], low, high)
    return clipped if schema is None else Encoder(schema).decode_target(clipped)
