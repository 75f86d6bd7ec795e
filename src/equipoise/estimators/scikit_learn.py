"""scikit-learn's base classes with the types that it does not carry.

To a type checker a class below one without types has every attribute: `model.fti(X)` would pass. What estimators take
from these bases is therefore declared here, and at run time they are scikit-learn's own.
"""

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    class BaseEstimator:
        """What has parameters."""

        # Whoever was fitted says of how many columns, and how they are called if they have names.
        n_features_in_: int
        feature_names_in_: NDArray[np.object_]

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
        def set_params(self, **named: Any) -> Self: ...  # noqa: D102
        def __sklearn_tags__(self) -> Any: ...  # noqa: D105
        @classmethod
        def _get_param_names(cls) -> list[str]: ...

    class ClassifierMixin:
        """What predicts classes."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...  # noqa: D102

    class RegressorMixin:
        """What predicts numbers."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...  # noqa: D102

    class TransformerMixin:
        """What makes columns of columns."""

        def fit_transform(self, X: Any, y: Any = None, **settings: Any) -> Any: ...  # noqa: D102
        def set_output(self, *, transform: Any = None) -> Self: ...  # noqa: D102

    class SelectorMixin(TransformerMixin):
        """What selects columns."""

        def get_support(self, indices: bool = False) -> NDArray[Any]: ...  # noqa: D102
        def transform(self, X: Any) -> Any: ...  # noqa: D102
        def inverse_transform(self, X: Any) -> Any: ...  # noqa: D102
        def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]: ...  # noqa: D102

    class ClassNamePrefixFeaturesOutMixin:
        """What names its columns after itself."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]: ...  # noqa: D102

    class MetaEstimatorMixin:
        """What has an estimator in it."""
else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        MetaEstimatorMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.feature_selection import SelectorMixin

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "MetaEstimatorMixin",
    "RegressorMixin",
    "SelectorMixin",
    "TransformerMixin",
]
