"""Frozen records: what facts, claims and curves are made of."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar, cast, dataclass_transform

Value = TypeVar("Value")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record:
    """A class whose subclasses are frozen dataclasses: annotated fields, compared by value, never changed.

    Examples
    --------
    >>> class Point(Record):
    ...     x: float
    ...     y: float = 0.0
    >>> Point(1.0), Point(1.0) == Point(1.0, 0.0)
    (Point(x=1.0, y=0.0), True)
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, **settings: Any) -> None:
        """Make the subclass a frozen dataclass."""
        super().__init_subclass__(**settings)
        dataclass(frozen=True)(cls)


class Of(Generic[Value]):
    """An attribute that is found further inside: ``epsilon = Of[float]("claim.budget.epsilon")``.

    A default stands for what is not there.
    """

    def __init__(self, path: str, *default: Value) -> None:
        self._names, self._default = path.split("."), default

    def __get__(self, owner: object, kind: type | None = None) -> Value:
        """Return what lies at the path."""
        found: Any = owner
        for name in self._names:
            found = getattr(found, name, *self._default)
        return cast(Value, found)
