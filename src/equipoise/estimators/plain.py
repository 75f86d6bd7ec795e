"""A released model as plain scikit-learn objects, for places where this library is not installed.

Everything is made from public facts and released weights: the transformers are fitted on two made-up rows that hold the
schema's bounds and levels, and the weights are set by hand. scikit-learn has nothing that clips rows, so that NumPy's
functions do it, one after the other; nor does it keep predictions inside the target's range, and neither does this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
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
from equipoise.data.schema.kinds.curve import entries_at_knots
from equipoise.data.schema.pairs import Surface
from equipoise.errors import InvalidParameter, MissingExtra
from equipoise.vocabulary.facts import Domain

Array = NDArray[np.float64]

# What rounding may do to an entry between -1 and 1.
LARGEST_ERROR = 1e-6


def plain_model(
    kind: Any,
    coefficients: Array,
    intercepts: Array,
    classes: NDArray[Any] | None,
    domain: Domain,
    schema: Schema | None = None,
    directions: Array | None = None,
) -> Any:
    """Return a linear model of a class of scikit-learn, behind what encodes, scales and clips rows.

    `directions` has a column for each of the few in which a model saw its rows (P1): they are clipped there again.
    """
    steps: list[tuple[str, Any]] = []
    parts = coefficients.T
    if schema is not None:
        columns, norm = _Columns(schema), schema.row_norm or schema.longest_row
        steps.append(("columns", columns.transformer))
        if norm < schema.longest_row or directions is not None:
            steps += [("entries", _times(columns.entries / norm)), ("others", _plus(columns.constants / norm))]
        else:
            intercepts = intercepts + columns.constants / norm @ parts
            parts = columns.entries / norm @ parts
        clips = norm < schema.longest_row
    else:
        clips = domain.bounds is not None or directions is not None
        if domain.bounds is not None:
            steps.append(("columns", _scaler(domain, len(parts))))
    # What is clipped has its positive parts, then its negative ones.
    if clips:
        steps.append(("longest", _clipper(domain)))
        parts = np.vstack([parts, -parts])
    if directions is not None:
        signed = np.vstack([directions, -directions]) if clips else directions
        steps += [("directions", _times(signed)), ("longest there", _clipper(domain))]
        inside = np.linalg.lstsq(directions, coefficients.T, rcond=None)[0]
        parts = np.vstack([inside, -inside])
    if schema is not None and schema.target.bounds is not None:
        low, high = schema.target.bounds
        parts, intercepts = parts * (high - low) / 2, low + (intercepts + 1) / 2 * (high - low)
    model = _linear(kind, parts.T, intercepts, classes)
    return Pipeline([*steps, ("model", model)]) if steps else model


def _linear(kind: Any, coefficients: Array, intercepts: Array, classes: NDArray[Any] | None) -> Any:
    plain = kind()
    plain.n_features_in_ = coefficients.shape[1]
    if classes is None:
        plain.coef_, plain.intercept_ = coefficients[0].copy(), float(intercepts[0])
    else:
        plain.coef_, plain.intercept_, plain.classes_ = coefficients.copy(), intercepts.copy(), classes.copy()
    return plain


def _times(matrix: Array) -> FunctionTransformer:
    """Return what multiplies rows by a matrix."""
    return FunctionTransformer(np.tensordot, kw_args={"b": matrix, "axes": 1})


def _plus(constants: Array) -> FunctionTransformer:
    """Return what adds constants to rows."""
    return FunctionTransformer(partial(np.add, constants))


def _scaler(domain: Domain, n_features: int) -> Pipeline:
    """Return what scales columns by their bounds, fitted on two rows that hold nothing else."""
    ends = np.broadcast_to(np.array(domain.bounds), (n_features, 2)).T
    filler = SimpleImputer(strategy="constant", fill_value=min(max(domain.fill, -1.0), 1.0), keep_empty_features=True)
    return make_pipeline(MinMaxScaler(feature_range=(-1, 1), clip=True), filler).fit(ends)


def _clipper(domain: Domain) -> Pipeline:
    """Return what clips rows to the domain's row norm, and to its row sum where it has one.

    It puts out positive parts of all columns, then negative ones. Their row is as long as the row, and clipped it is
    the smallest of itself and of its direction at the row norm, and at the row sum, entry by entry.
    """
    positive = FunctionTransformer(partial(np.maximum, 0.0))
    negative = make_pipeline(FunctionTransformer(np.negative), positive)
    sizes = [("as it is", "passthrough"), ("at the row norm", _at(domain.row_norm, "l2"))]
    if domain.row_sum is not None:
        sizes.append(("at the row sum", _at(domain.row_sum, "l1")))
    return make_pipeline(
        FeatureUnion([("positive", positive), ("negative", negative)]),
        FeatureUnion(sizes),
        FunctionTransformer(np.split, kw_args={"indices_or_sections": len(sizes), "axis": 1}),
        FunctionTransformer(np.min, kw_args={"axis": 0}),
    )


def _at(size: float, norm: str) -> Pipeline:
    return make_pipeline(Normalizer(norm), FunctionTransformer(partial(np.multiply, size)))


@dataclass(frozen=True)
class _Block:
    """What scikit-learn makes of a column, and how a row's entries follow: what it puts out times `entries`, and more.

    It encodes an unknown level as zeros, so the entry of the level that unknown values map to is there `at_zeros`, and
    every other level takes it away and adds its own.
    """

    step: Any
    at_zeros: Array
    entries: Array


class _Columns:
    """The schema's encoder as a column transformer; entries are what it puts out times `entries`, plus `constants`."""

    def __init__(self, schema: Schema) -> None:
        others = [column for column in schema.columns if not isinstance(column, NumberColumn | CategoryColumn)]
        others += [column for column in schema.columns if isinstance(column, NumberColumn) and column.unit is not None]
        if others:
            raise InvalidParameter(
                "columns of numbers without units and of categories",
                f"{others[0].name}, of kind {others[0].kind}, which scikit-learn does not read by these rules",
                "predict with equipoise.load, which does",
            )
        self._missing = schema.missing
        steps: list[tuple[str, Any, list[str]]] = []
        blocks: list[_Block] = []
        for number, column in enumerate(schema.columns):
            blocks.append(self._block(column))
            steps.append((f"{number} {'levels' if column.spread else 'value'}", blocks[-1].step, [column.name]))
            if getattr(column, "indicator", False):
                steps.append((f"{number} missing", MissingIndicator(features="all"), [column.name]))
                blocks.append(_Block(None, np.zeros(1), np.eye(1)))
        for number, surface in enumerate(schema.surfaces):
            blocks.append(self._surface(surface))
            steps.append((f"pair {number}", blocks[-1].step, [side.name for side in surface.sides]))
        self.constants: Array = np.concatenate([block.at_zeros for block in blocks])
        self.entries: Array = block_diag(*(block.entries for block in blocks))
        self.transformer = ColumnTransformer(steps).fit(_public_rows(schema))

    def _block(self, column: Column) -> _Block:
        if isinstance(column, CategoryColumn):
            return self._levels(column)
        assert isinstance(column, NumberColumn)  # noqa: S101 - others were refused
        if isinstance(column, CurveColumn):
            # Splines of the first degree are straight between knots, and so are line and hats.
            return _Block(self._number(column), np.zeros(column.cells), np.array(entries_at_knots(column.cells)))
        if column.root:
            # Places between bounds and their roots go from 0 to 1 here, and the entry is 1 less than both together.
            return _Block(self._number(column), np.full(1, -1.0), np.ones((2, 1)))
        return _Block(self._number(column), np.zeros(1), np.eye(1))

    def _number(self, column: NumberColumn) -> Pipeline:
        low, high = column.bounds or (-1.0, 1.0)
        self._require_width(column.name, low, high)
        share = 0.5 if column.fill is None else (column.fill - low) / (high - low)
        least = 0.0 if column.root else -1.0
        steps: list[Any] = [
            MinMaxScaler(feature_range=(least, 1.0), clip=True),
            SimpleImputer(strategy="constant", fill_value=least + share * (1.0 - least)),
        ]
        if column.root:
            steps.append(FeatureUnion([("itself", "passthrough"), ("root", FunctionTransformer(np.sqrt))]))
        if isinstance(column, CurveColumn):
            if column.root:
                steps.append(FunctionTransformer(np.mean, kw_args={"axis": 1, "keepdims": True}))
            knots = np.linspace(least, 1.0, column.cells + 1)[:, None]
            steps.append(SplineTransformer(degree=1, knots=knots, extrapolation="constant"))
        return make_pipeline(*steps)

    @staticmethod
    def _require_width(name: str, low: float, high: float) -> None:
        """Refuse bounds so near each other that scikit-learn takes them for one, or scales what is rounded away."""
        wide, rounding = high - low, float(np.finfo(np.float64).eps)
        if wide < 10 * rounding or rounding * max(abs(low), abs(high)) > LARGEST_ERROR * wide:
            raise InvalidParameter(
                "bounds that scikit-learn can tell apart: it scales numbers before it takes the lower bound away",
                f"{name} between {low!r} and {high!r}",
                "predict with equipoise.load, which takes it away first; or train on the column in a smaller unit",
            )

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

    def _surface(self, surface: Surface) -> _Block:
        """Return what multiplies the outputs of two columns; products within one of them count for nothing.

        With entries ``a + z A`` and ``b + y B`` of the two, those of the pair are ``a b``, what z and y bring alone,
        and what the products of one of each do.
        """
        first, second = (self._block(side) for side in surface.sides)
        named = [("first", first.step, [surface.sides[0].name]), ("second", second.step, [surface.sides[1].name])]
        products = PolynomialFeatures(2, interaction_only=True, include_bias=False)
        alone = [np.kron(entry, second.at_zeros) for entry in first.entries]
        alone += [np.kron(first.at_zeros, entry) for entry in second.entries]
        count, together = len(alone), np.zeros((len(alone), len(alone), surface.width))
        together[: len(first.entries), len(first.entries) :] = np.kron(first.entries, second.entries).reshape(
            len(first.entries), len(second.entries), surface.width
        )
        entries = np.vstack([*alone, together[np.triu_indices(count, 1)]])
        constant: Array = np.kron(first.at_zeros, second.at_zeros).astype(np.float64)
        return _Block(make_pipeline(ColumnTransformer(named), products), constant, entries)


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
