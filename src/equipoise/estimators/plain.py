"""A released model as plain scikit-learn objects, for places where this library is not installed.

Everything is made from public facts and released weights: the transformers are fitted on two made-up rows that hold the
schema's bounds and levels, and the weights are set by hand. scikit-learn neither clips long rows nor keeps predictions
inside the target's range; a schema that relies on the former is refused. Where a domain has bounds, NumPy clips.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
)

from equipoise.data.encoder import Encoder
from equipoise.data.schema import CategoryColumn, Column, CurveColumn, NumberColumn, Schema
from equipoise.errors import InvalidParameter, MissingExtra
from equipoise.vocabulary.facts import Domain

Array = NDArray[np.float64]


def plain_model(
    kind: Any, coefficients: Array, intercepts: Array, classes: NDArray[Any] | None, facts: Domain | Schema | None
) -> Any:
    """Return a linear model of a class of scikit-learn, behind what encodes columns by a schema or scales by bounds."""
    if not isinstance(facts, Schema):
        if facts is None or facts.bounds is None:
            return _linear(kind, coefficients, intercepts, classes)
        model = _linear(kind, np.hstack([coefficients, -coefficients]), intercepts, classes)
        return Pipeline([("columns", _scaler(facts, coefficients.shape[1])), ("model", model)])
    columns = _ColumnTransform(facts, coefficients)
    intercepts = intercepts + columns.constants
    weights = columns.weights
    if facts.target.bounds is not None:
        low, high = facts.target.bounds
        weights, intercepts = weights * (high - low) / 2, low + (intercepts + 1) / 2 * (high - low)
    return Pipeline([("columns", columns.transformer), ("model", _linear(kind, weights, intercepts, classes))])


def _linear(kind: Any, coefficients: Array, intercepts: Array, classes: NDArray[Any] | None) -> Any:
    plain = kind()
    plain.n_features_in_ = coefficients.shape[1]
    if classes is None:
        plain.coef_, plain.intercept_ = coefficients[0].copy(), float(intercepts[0])
    else:
        plain.coef_, plain.intercept_, plain.classes_ = coefficients.copy(), intercepts.copy(), classes.copy()
    return plain


def _scaler(domain: Domain, n_features: int) -> Pipeline:
    """Return what scales columns by their bounds and clips rows, fitted on two rows that hold nothing else.

    It puts out positive parts of all columns, then negative ones. Their row is as long as the scaled row, and clipped
    it is the smaller of itself and of its direction at the row norm, entry by entry.
    """
    ends = np.broadcast_to(np.array(domain.bounds), (n_features, 2)).T
    filler = SimpleImputer(strategy="constant", fill_value=min(max(domain.fill, -1.0), 1.0), keep_empty_features=True)
    positive = FunctionTransformer(partial(np.maximum, 0.0))
    negative = make_pipeline(FunctionTransformer(np.negative), positive)
    longest = make_pipeline(Normalizer(), FunctionTransformer(partial(np.multiply, domain.row_norm)))
    return make_pipeline(
        MinMaxScaler(feature_range=(-1, 1), clip=True),
        filler,
        FeatureUnion([("positive", positive), ("negative", negative)]),
        FeatureUnion([("as it is", "passthrough"), ("at the row norm", longest)]),
        FunctionTransformer(np.split, kw_args={"indices_or_sections": 2, "axis": 1}),
        FunctionTransformer(np.min, kw_args={"axis": 0}),
    ).fit(ends)


@dataclass(frozen=True)
class _Block:
    """What scikit-learn makes of a column, and how a row's entries follow: ``at_zeros + outputs @ entries``.

    It encodes an unknown level as zeros, so that the entry of the level that unknown values map to is there always,
    and every level brings its own in place of it.
    """

    step: Any
    at_zeros: Array
    entries: Array


class _ColumnTransform:
    """The schema's encoder as a column transformer, and the weights that go with what it puts out."""

    def __init__(self, schema: Schema, coefficients: Array) -> None:
        others = [column for column in schema.columns if not isinstance(column, NumberColumn | CategoryColumn)]
        others += [column for column in schema.columns if isinstance(column, NumberColumn) and column.unit is not None]
        if others:
            raise InvalidParameter(
                "columns of numbers without units and of categories",
                f"{others[0].name}, of kind {others[0].kind}, which scikit-learn does not read by these rules",
                "predict with equipoise.load, which does",
            )
        if schema.row_norm is not None and schema.row_norm < schema.longest_row:
            raise InvalidParameter(
                "a schema that clips no row",
                f"row_norm = {schema.row_norm:g}, and scikit-learn has nothing that clips rows",
                "predict with equipoise.load, which does",
            )
        self._missing = schema.missing
        scaled = coefficients / (schema.row_norm or schema.longest_row)
        self.constants: Array = np.zeros(len(coefficients))
        blocks: list[Array] = []
        steps: list[Any] = []
        place = 0
        for number, column in enumerate(schema.columns):
            block = self._block(column)
            weights = scaled[:, place : place + len(block.at_zeros)]
            steps.append((f"{number} {'levels' if column.spread else 'value'}", block.step, [column.name]))
            self.constants = self.constants + weights @ block.at_zeros
            blocks.append(weights @ block.entries.T)
            place += len(block.at_zeros)
            if getattr(column, "indicator", False):
                steps.append((f"{number} missing", MissingIndicator(features="all"), [column.name]))
                blocks.append(scaled[:, place : place + 1])
                place += 1
        for number, surface in enumerate(schema.surfaces):
            sides = [self._block(side) for side in surface.sides]
            named = [
                (f"side {place}", side.step, [column.name])
                for place, (side, column) in enumerate(zip(sides, surface.sides, strict=True))
            ]
            products = PolynomialFeatures(2, interaction_only=True, include_bias=False)
            steps.append(
                (
                    f"pair {number}",
                    make_pipeline(ColumnTransformer(named), products),
                    [column.name for column in surface.sides],
                )
            )
            constant, weights = _products(scaled[:, place : place + surface.width], *sides)
            self.constants = self.constants + constant
            blocks.append(weights)
            place += surface.width
        self.weights: Array = np.hstack(blocks)
        self.transformer = ColumnTransformer(steps).fit(_public_rows(schema))

    def _block(self, column: Column) -> _Block:
        if isinstance(column, CategoryColumn):
            return self._levels(column)
        assert isinstance(column, NumberColumn)  # noqa: S101 - others were refused
        wide = column.width - column.indicator
        return _Block(self._number(column), np.zeros(wide), np.eye(wide))

    def _number(self, column: NumberColumn) -> Pipeline:
        low, high = column.bounds or (-1.0, 1.0)
        middle = 0.0 if column.fill is None else 2 * (column.fill - low) / (high - low) - 1
        scaler = MinMaxScaler(feature_range=(-1, 1), clip=True)
        filler = SimpleImputer(strategy="constant", fill_value=middle)
        if not isinstance(column, CurveColumn):
            return make_pipeline(scaler, filler)
        # Splines of the first degree are hats.
        knots = np.linspace(-1.0, 1.0, column.cells + 1)[:, None]
        return make_pipeline(scaler, filler, SplineTransformer(degree=1, knots=knots, extrapolation="constant"))

    def _levels(self, column: CategoryColumn) -> _Block:
        found = np.eye(column.width)
        entries = dict(zip(column.levels, found, strict=False))
        # A level for all others has no text, and its entry comes last.
        unknown = found[-1] if column.unknown is None else entries[column.unknown]
        fill = column.fill or column.unknown or _no_level(column, self._missing)
        filled = entries.get(fill, unknown)
        # Texts that count as missing are levels of their own here, with the entry of the level they are filled by.
        entries |= {text: filled for text in self._missing if text not in entries}
        step = make_pipeline(
            SimpleImputer(strategy="constant", fill_value=fill),
            SimpleImputer(missing_values=None, strategy="constant", fill_value=fill),
            OneHotEncoder(categories=[list(entries)], handle_unknown="ignore", sparse_output=False),
        )
        return _Block(step, unknown, np.stack([entry - unknown for entry in entries.values()]))


def _products(weights: Array, first: _Block, second: _Block) -> tuple[Array, Array]:
    """Return the constant and the weights of two blocks' outputs and of all products of two outputs.

    With entries ``a + z A`` and ``b + y B`` of the two, a row weighs ``(a + z A) W (b + y B)'`` for each output: a
    constant, what z and y weigh alone, and the products of one of each. Products within a block weigh nothing.
    """
    constants, found = [], []
    for line in weights:
        surface = line.reshape(len(first.at_zeros), len(second.at_zeros))
        constants.append(first.at_zeros @ surface @ second.at_zeros)
        alone = [first.entries @ surface @ second.at_zeros, second.entries @ surface.T @ first.at_zeros]
        together = first.entries @ surface @ second.entries.T
        outputs = sum(map(len, alone))
        square = np.zeros((outputs, outputs))
        square[: len(together), len(together) :] = together
        found.append(np.concatenate([*alone, square[np.triu_indices(outputs, 1)]]))
    return np.array(constants), np.array(found)


def _no_level(column: CategoryColumn, missing: tuple[str, ...]) -> str:
    """Return a text that is no level and not missing: it counts as the level of all others."""
    text = "other"
    while text in column.levels or text in missing:
        text += " "
    return text


def _public_rows(schema: Schema) -> Any:
    """Return two rows with nothing in them but the schema's bounds and first levels."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("columns by their names", "pandas is not installed", "pip install pandas") from None
    Encoder(schema)  # refuses a schema with blanks
    rows = {
        column.name: [column.levels[0]] * 2
        if isinstance(column, CategoryColumn)
        else list(getattr(column, "bounds", None) or ())
        for column in schema.columns
    }
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=object if isinstance(values[0], str) else float)
            for name, values in rows.items()
        }
    )
