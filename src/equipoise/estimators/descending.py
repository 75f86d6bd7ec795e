"""What estimators that descend share: the recipe that their parameters build, and the losses they serve."""

import math
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

from equipoise.errors import InvalidParameter
from equipoise.estimators.base import PrivateLinearModel
from equipoise.planning.losses import known as known_loss
from equipoise.planning.request import Request
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Averaging, Domain, Label, Order, Recipe
from equipoise.vocabulary.numbers import plain, require_number

PUBLIC = "public"


# Steps so short, in a ball so small, that no loss bends: a meeting with the row moves the weights as far as it can.
EXTREME = {"alpha": 0.0, "passes": 1, "batch_size": 1, "step": 1e-5, "average": "last", "radius": 0.02, "clip": None}
# Noise in every step: a row is in half of the batches.
SECRET_BATCH = 2


class DescendingModel(PrivateLinearModel):
    """A private linear model whose weights come from passes over batches of rows, not from a minimiser."""

    _losses: ClassVar[tuple[str, ...]]
    # Whether gradients of several classes can be clipped: with noise in every step alone (B7).
    _clips_several_classes: ClassVar[bool] = False
    # What of the recipe may be left to planning, by the word "public"; a step may always be.
    _may_be_open: ClassVar[tuple[str, ...]] = ()

    loss: str = "logistic"
    l1_ratio: float = 0.0
    passes: float | str = 10
    batch_size: int | str = 64
    step: float | str = "public"
    order: Order = "permutation"
    average: Averaging | str = "last"
    radius: float | None = None
    clip: float | str | None = None
    dropout: float = 0.0
    skip: float = 0.0

    def fit(self, X: Any, y: Any = None, groups: Any = None, *, callback: None = None) -> Self:
        """Train on rows and release: the spend is recorded first; values are mapped by public rules and never raise.

        Parameters
        ----------
        X, y, groups
            As in `LogisticRegression` and `Ridge`.
        callback : None
            There is none: it would see weights before noise is added, so that any other value is refused.
        """
        if callback is not None:
            raise InvalidParameter(
                "a fit that shows nothing before noise is added",
                "a callback, which would see weights or losses that depend on rows",
                "leave callback out, and look at the released weights",
            )
        return self._fit_from(X, y, None, groups)

    @classmethod
    def _extreme(cls, at_the_end: bool) -> dict[str, Any]:
        own = EXTREME if at_the_end else EXTREME | {"batch_size": SECRET_BATCH}
        return {name: value for name, value in own.items() if name in cls._get_param_names()}

    def _loss_name(self, domain: Domain) -> str:
        allowed = ", ".join(repr(name) for name in self._losses)
        if not isinstance(self.loss, str) or self.loss.partition(":")[0] not in self._losses:
            raise InvalidParameter(f"a loss of {allowed}", f"loss={self.loss!r}", f"pass loss={self._losses[0]!r}")
        if domain.classes not in (None, "observed") and len(domain.classes) != 2:
            if self.loss != "logistic":
                remedy = 'pass loss="logistic", which takes more, or declare two classes'
                raise InvalidParameter(f"two classes for loss={self.loss!r}", f"classes={domain.classes!r}", remedy)
            return f"multinomial:{len(domain.classes)}"
        if self.loss == "huber":
            return f"huber:{domain.label_bound / 4!r}"
        return self.loss

    @abstractmethod
    def _penalty_name(self) -> str:
        """Return what holds the weights back, besides the number of steps."""

    def _constrained(self, domain: Domain) -> Domain:
        return domain if self.radius is None else replace(domain, radius=self.radius)

    def _clip(self, domain: Domain, intercept: float) -> float | None:
        """Return the largest norm of a row's gradient: as asked, or what a typical row pulls with (docs/sgd.md)."""
        if self.clip != PUBLIC:
            return self.clip  # type: ignore[return-value] # the recipe refuses what is no number
        loss = losses.named(self._loss_name(domain))
        if loss.outputs > 1 and not self._clips_several_classes:
            return None
        return known_loss(loss).typical_slope(domain.label_bound) * math.hypot(domain.row_norm, intercept)

    def _number_of_passes(self, n_samples: int) -> float:
        return require_number("passes", plain(self.passes), above=0.0, remedy="pass passes=10")

    def _batch(self, n_samples: int) -> Any:
        """Return how many rows a step sees: as asked; the default is all rows where there are fewer."""
        size, default = self.batch_size, type(self).batch_size
        return max(1, min(size, n_samples)) if isinstance(size, int) and size == default else size

    def _left_open(self) -> tuple[str, ...]:
        """Return what planning fills in."""
        return tuple(name for name in self._may_be_open if plain(getattr(self, name)) == PUBLIC)

    def _request(self, n_samples: int, n_features: int, found: tuple[Label, ...] = ()) -> Request:
        return replace(super()._request(n_samples, n_features, found), left_open=self._left_open())

    def _recipe(self, domain: Domain, intercept: float, n_samples: int) -> Recipe:
        left_open = self._left_open()
        return Recipe(
            passes=self._number_of_passes(n_samples),
            batch_size=1 if "batch_size" in left_open else self._batch(n_samples),
            step=self.step,
            order=self.order,
            average="last" if "average" in left_open else self.average,  # type: ignore[arg-type]
            clip=self._clip(domain, intercept),
            dropout=self.dropout,
            skip=self.skip,
        )
