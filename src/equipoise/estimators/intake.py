"""How rows come to an estimator: as tables of numbers in a declared domain, or as raw columns that a schema encodes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from equipoise.data.bounded import bounded, require_columns
from equipoise.data.encoded import EncodedTable, encoded_table
from equipoise.data.entries import is_undeclared
from equipoise.data.joined import new_rows, raw_table
from equipoise.data.persons import person_rows
from equipoise.data.products import products
from equipoise.data.schema import Schema
from equipoise.data.schema.typical import shorter_row
from equipoise.data.schema.useful import require_useful
from equipoise.data.tables import as_frame, feature_table, require_labels, target_column
from equipoise.data.unread import Unread
from equipoise.errors import InvalidData, InvalidParameter, NoTheoremApplies
from equipoise.estimators.scikit_learn import BaseEstimator
from equipoise.estimators.scoring import encoded_products
from equipoise.planning.request import Bounds
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.numbers import require_count

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """Rows and targets, unread; `unbounded` is the same table where bounds of columns must be paid for first."""

    features: Unread
    target: Unread
    unbounded: EncodedTable | None = None
    # The slot of the person that each row belongs to, where n counts persons (N1).
    persons: Unread | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, or persons, and columns."""
        return self.features.shape[0], self.features.shape[1]


def refuse_persons(what: str, groups: Any, domain: Domain | None = None) -> None:
    """Refuse persons where nothing is proved about all rows of one (N1)."""
    if groups is not None or (domain is not None and domain.unit == "person"):
        raise NoTheoremApplies(
            f"{what} that covers all rows of a person",
            "no proof: what it releases depends on single rows",
            "fit one model with groups, such as LogisticRegression, or leave persons out if nobody has two rows",
        )


class Intake(ABC):
    """Where rows come from, and which public facts describe them."""

    domain: Domain

    @abstractmethod
    def shape(self, n_samples: int | None, n_features: int | None) -> tuple[int, int]:
        """Return the public shape of the table that a plan is made for."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what a request says about the rows besides their domain and shape."""

    @abstractmethod
    def training(self, X: Any, y: Any, groups: Any = None, planned: tuple[int, int] | None = None) -> TrainingRows:
        """Return the rows to train on, unread; `planned` is the shape of the plan, if one was made."""

    @abstractmethod
    def remember(self, model: BaseEstimator, X: Any, shape: tuple[int, int]) -> None:
        """Note the columns' number and names on a model, as scikit-learn does."""

    @abstractmethod
    def scores(self, model: BaseEstimator, X: Any, weights: Array) -> Array:
        """Return new rows, mapped as in training, times the weights: a column an output."""


class PlainRows(Intake):
    """Tables of numbers, scaled by the domain's bounds where it has any, and clipped into it row by row."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    def shape(self, n_samples: int | None, n_features: int | None) -> tuple[int, int]:
        """Return the numbers as given: somebody must declare them; bounds of every column tell how many there are."""
        remedy = "call plan(n_samples=..., n_features=...) with the public numbers"
        if n_features is None and (pairs := self.domain.bounds) is not None and isinstance(pairs[0], tuple):
            n_features = len(pairs)
        declared = require_count("n_samples", n_samples, remedy), require_count("n_features", n_features, remedy)
        require_columns(self.domain, declared[1])
        return declared

    def facts(self) -> dict[str, Any]:
        """Return nothing: the domain says it all."""
        return {}

    def training(self, X: Any, y: Any, groups: Any = None, planned: tuple[int, int] | None = None) -> TrainingRows:
        """Return a table of numbers and one target a row, or what is kept of every person's."""
        most = self.domain.rows_a_person
        if most is None:
            if groups is not None:
                line = f"Domain(row_norm={self.domain.row_norm:g}, ..., rows_a_person=100)"
                raise InvalidParameter(
                    "a domain that says how many rows of one person count at most, with groups",
                    "one that takes every row for a person",
                    f"write domain={line}, and plan(n_samples=...) with the public number of persons",
                )
            # Where no entry of a list is a row, the plan tells how wide rows are.
            table = feature_table(X, None if planned is None else planned[1])
            return TrainingRows(bounded(table, self.domain, X), self._labels(target_column(y, table.shape[0])))
        if planned is None:
            raise InvalidParameter(
                "the declared number of persons",
                "a fit that would take it from the data, where it is private",
                "call plan(n_samples=..., n_features=...) with the public number of persons first",
            )
        rows = person_rows(X, y, groups, planned, most)
        features = bounded(rows.features, self.domain, X)
        return TrainingRows(features, self._labels(rows.target), persons=rows.persons)

    def _labels(self, target: Unread) -> Unread:
        """Return the target, if its type can hold what the domain says."""
        if self.domain.classes is not None:
            require_labels(target, self.domain.classes)
        return target

    def remember(self, model: BaseEstimator, X: Any, shape: tuple[int, int]) -> None:
        """Note what scikit-learn notes."""
        note_columns(model, X, shape)

    def scores(self, model: BaseEstimator, X: Any, weights: Array) -> Array:
        """Return filled and clipped rows times the weights; other columns than those of the fit are refused."""
        return products(self.known_columns(model, X).read(), self.domain, weights)

    def known_columns(self, model: BaseEstimator, X: Any) -> Unread:
        """Return a table, unread, whose columns are those of a model's fit, scaled alike; others are refused."""
        table = feature_table(X)
        expected: int = model.n_features_in_
        if table.shape[1] != expected:
            raise InvalidData(
                f"the {expected} columns of the fit",
                f"X has {table.shape[1]} features, but {type(model).__name__} is expecting "
                f"{expected} features as input",
                "pass the same columns",
            )
        try:
            validate_data(model, _as_declared(X, table.shape), reset=False, skip_check_array=True)
        except (ValueError, TypeError) as error:
            raise InvalidData(
                "the column names of the fit", str(error), "pass the same columns in the same order"
            ) from None
        return bounded(table, self.domain, X)


def note_columns(model: BaseEstimator, X: Any, shape: tuple[int, ...]) -> None:
    """Note the number and the names of a table's columns on a model, as scikit-learn does."""
    try:
        validate_data(model, _as_declared(X, shape), skip_check_array=True)
    except TypeError:
        # It takes names of one type, or none; a value is not looked at.
        found, remedy = "names of several types", "name every column by text: X.columns = X.columns.astype(str)"
        raise InvalidData("columns whose names are all text", found, remedy) from None


def _as_declared(X: Any, shape: tuple[int, ...]) -> Any:
    """Return a table as scikit-learn may look at it; of a list, in which it would ask a row, no more than the shape."""
    return np.broadcast_to(0.0, shape) if is_undeclared(X) else as_frame(X)


class SchemaRows(Intake):
    """Raw columns of a frame or a file, encoded by a schema's public rules."""

    def __init__(self, schema: Schema) -> None:
        schema.require_complete()
        self._schema = schema
        self.domain = schema.domain

    def shape(self, n_samples: int | None, n_features: int | None) -> tuple[int, int]:
        """Return the schema's own numbers; others, if any were given, must be the same, and rows must be of use."""
        require_useful(self._schema)
        declared = self._schema.n_samples or 0, self._schema.n_features
        given = tuple(
            theirs if ours is None else ours for ours, theirs in zip((n_samples, n_features), declared, strict=True)
        )
        if given != declared:
            raise InvalidParameter(
                f"the {declared[0]} rows and {declared[1]} encoded columns that the schema declares",
                f"{given[0]} and {given[1]}",
                "call plan() without numbers, or correct the schema",
            )
        return declared

    def facts(self) -> dict[str, Any]:
        """Return the schema's digest, who vouches for it, bounds still to be paid for, and whether rows are short."""
        schema = self._schema
        bounds = None
        if schema.private_bounds is not None:
            bounds = Bounds(schema.unbounded, schema.private_bounds)
        vouched = f"{schema.vouched_by} ({schema.vouched_on})"
        lengths = shorter_row(schema)
        return {"schema": schema.digest, "vouched": vouched, "private_bounds": bounds, "row_norms": lengths}

    def training(self, X: Any, y: Any, groups: Any = None, planned: tuple[int, int] | None = None) -> TrainingRows:
        """Return the encoded table; its target is a column of it, or y, and so are its persons' ids."""
        schema = self._schema
        require_useful(schema)
        if groups is not None:
            raise InvalidParameter(
                "ids as a column of the table",
                "groups beside a schema",
                'write [person] column = "..." into the schema, and leave groups out',
            )
        table = encoded_table(schema, raw_table(X, schema.target.name, y), schema.n_samples or 0)
        unbounded = table if schema.private_bounds is not None else None
        return TrainingRows(table.features, table.target, unbounded, table.persons)

    def remember(self, model: BaseEstimator, X: Any, shape: tuple[int, int]) -> None:
        """Note the schema's columns, raw as they come."""
        model.feature_names_in_ = np.array([column.name for column in self._schema.columns], dtype=object)
        model.n_features_in_ = len(self._schema.columns)

    def scores(self, model: BaseEstimator, X: Any, weights: Array) -> Array:
        """Return encoded rows times the weights, batch by batch."""
        return encoded_products(self._schema, new_rows(X), weights)
