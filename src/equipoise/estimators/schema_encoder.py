"""A schema as a step of a scikit-learn pipeline: raw columns in, rows of norm at most 1 out, nothing learned."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from equipoise.data.encoded import encoded_rows
from equipoise.data.encoder import Encoder
from equipoise.data.joined import new_rows, raw_table
from equipoise.data.schema import Schema
from equipoise.errors import DomainMissing, InvalidParameter
from equipoise.estimators.scikit_learn import TransformerMixin
from equipoise.estimators.unknown_arguments import KnownParameters, known_arguments

Array = NDArray[np.float64]

LINE = 'write SchemaEncoder(schema=Schema.from_toml("schema.toml"))'


class SchemaEncoder(TransformerMixin, KnownParameters):
    """Encodes raw columns by a schema's public rules: a feature map that is fixed before any row is seen.

    Parameters
    ----------
    schema : Schema
        Its columns and target must be complete; the number of rows and the voucher may be blank. One that a seeded run
        filled in is refused: no step behind it would know.

    Attributes
    ----------
    n_features_in_ : int
        The number of raw columns that are encoded.
    feature_names_in_ : array of str
        Their names.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.schema import CategoryColumn, NumberColumn, Target
    >>> columns = (NumberColumn("age", (20, 60)), CategoryColumn("job", ("none", "nurse"), unknown="none"))
    >>> encoder = SchemaEncoder(Schema(None, columns, Target("ill", classes=(0, 1)), row_norm=2.0))
    >>> encoder.fit_transform(pyarrow.table({"age": [60, 15], "job": ["nurse", None]}))
    array([[ 0.5,  0. ,  0.5],
           [-0.5,  0.5,  0. ]])
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'job=none', 'job=nurse']
    """

    @known_arguments
    def __init__(self, schema: Schema | None = None) -> None:
        self.schema = schema

    @known_arguments
    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that the columns are there; nothing is learned, and no row is read."""
        schema = self._encoder().schema
        encoded_rows(schema, raw_table(X))
        self.feature_names_in_ = np.array([column.name for column in schema.columns], dtype=object)
        self.n_features_in_ = len(schema.columns)
        return self

    def transform(self, X: Any) -> Array:
        """Return the encoded rows of a data frame; columns that are no features are ignored, and no value raises."""
        check_is_fitted(self, "n_features_in_")
        encoder = self._encoder()
        return np.concatenate([np.empty((0, encoder.width)), *encoded_rows(encoder.schema, new_rows(X))])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the encoded columns."""
        return np.array(self._encoder().names, dtype=object)

    def _encoder(self) -> Encoder:
        if self.schema is None:
            asked = "the public facts about the columns, by which SchemaEncoder encodes them"
            raise DomainMissing(asked, "schema=None, and nothing is ever inferred from the data", LINE)
        if not isinstance(self.schema, Schema):
            raise InvalidParameter("a Schema", f"schema of type {type(self.schema).__name__}", LINE)
        if self.schema.seeded:
            raise InvalidParameter(
                "public facts, for whatever model comes behind the encoder",
                "a schema whose prevalence or bounds a seeded run chose, for experiments only",
                "choose them without a seed; an experiment leaves the encoder out and passes domain=schema to a model "
                "with random_state",
            )
        return Encoder(self.schema)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that text and missing values are welcome, since both are encoded."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
