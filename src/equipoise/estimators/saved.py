"""What a released folder keeps of an estimator: its name, its public settings, and what was released."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from equipoise import estimators
from equipoise.certify.record import to_plain
from equipoise.errors import InvalidParameter, ReleaseUnreadable
from equipoise.vocabulary.facts import Label
from equipoise.vocabulary.numbers import plain

if TYPE_CHECKING:
    from equipoise.estimators.base import PrivateEstimator
    from equipoise.release import Released

# The format of model.json.
FORMAT_VERSION = 2

# What stands elsewhere in a released folder, or is of no use to whoever predicts: where noise and spends came from.
KEPT_ELSEWHERE = ("domain", "class_weight", "random_state", "ledger", "estimator", "param_grid")


@dataclass(frozen=True, slots=True)
class Setting:
    """One parameter of a constructor."""

    name: str
    value: bool | int | float | str | None


@dataclass(frozen=True, slots=True)
class Named:
    """An estimator by its name, with its public settings.

    Examples
    --------
    >>> from equipoise.estimators.ridge import Ridge
    >>> Named("ridge", (Setting("alpha", 0.5),)).parameters(Ridge)
    {'alpha': 0.5}
    """

    name: str
    settings: tuple[Setting, ...]

    def parameters(self, kind: type[PrivateEstimator]) -> dict[str, Any]:
        """Return the settings as the constructor of that kind takes them; others are refused."""
        settings = {setting.name: setting.value for setting in self.settings}
        if not settings.keys() <= set(kind._get_param_names()) - set(KEPT_ELSEWHERE):
            raise ReleaseUnreadable(
                f"settings of a {kind.__name__}", "others among them", "ask for the released folder again"
            )
        return settings


@dataclass(frozen=True, slots=True)
class Saved:
    """A fitted estimator: weights, a row an output, or the places of selected columns; everything was released.

    `estimator` is the model that a selector trained.
    """

    model: Named
    features: tuple[str, ...] = ()
    classes: tuple[Label, ...] = ()
    coefficients: tuple[tuple[float, ...], ...] = ()
    intercepts: tuple[float, ...] = ()
    selected: tuple[int, ...] = ()
    estimator: Named | None = None


def written(saved: Saved, certificate: str) -> str:
    """Return the text of model.json, bound to its certificate's digest; numbers are read back exactly.

    Examples
    --------
    >>> written(Saved(Named("ridge", ()), coefficients=((0.5,),), intercepts=(0.0,)), "ab").splitlines()[:3]
    ['{', ' "format_version": 2,', ' "certificate": "ab",']
    """
    record = {"format_version": FORMAT_VERSION, "certificate": certificate, **to_plain(saved)}
    return json.dumps(record, indent=1, allow_nan=False) + "\n"


def writing(take: Callable[[Released], None], saved: Callable[[], Saved]) -> Callable[[Released], str]:
    """Return what the door asks for the text of model.json: it lets an estimator take a release, and writes it."""

    def text(released: Released) -> str:
        take(released)
        return written(saved(), released.certificate.digest)

    return text


def named(model: PrivateEstimator) -> Named:
    """Return an estimator's name and settings.

    Examples
    --------
    >>> from equipoise.estimators.svm import LinearSVC
    >>> named(LinearSVC()).name
    'svm'
    """
    name = getattr(type(model), "name", "")
    if estimators.members().get(name) is not type(model):
        found = f"a {type(model).__name__}, which none of its files defines"
        raise InvalidParameter("an estimator of this library", found, f"use one of {', '.join(estimators.members())}")
    own: dict[str, Any] = {
        name: plain(value) for name, value in model.get_params(deep=False).items() if name not in KEPT_ELSEWHERE
    }
    return Named(name, tuple(Setting(name, value) for name, value in sorted(own.items())))
