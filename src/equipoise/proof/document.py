"""From frozen records to plain JSON values and back, driven by the records' own type annotations."""

import dataclasses
import math
import types
import typing
from typing import Any, Literal, TypeVar, Union

from equipoise.errors import CertificateUnreadable, EquipoiseError

Record = TypeVar("Record")

INFINITY = "infinity"


def to_plain(value: object, keep_defaults: bool = True) -> Any:
    """Return a record as dictionaries, lists, strings and numbers.

    Without defaults, a field that a later version adds changes nothing about today's records: that form is digested.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget
    >>> to_plain(Budget(1.0)), to_plain(Budget(1.0), keep_defaults=False)
    ({'epsilon': 1.0, 'delta': 0.0}, {'epsilon': 1.0})
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: to_plain(getattr(value, field.name), keep_defaults)
            for field in dataclasses.fields(value)
            if keep_defaults or getattr(value, field.name) != field.default
        }
    if isinstance(value, tuple):
        return [to_plain(entry, keep_defaults) for entry in value]
    # JSON has no infinity; the smoothness of a loss with corners needs one.
    return INFINITY if value == math.inf else value


def build(record_type: type[Record], value: object, path: str) -> Record:
    """Return the record that a plain value stands for; unknown, missing and mistyped fields are named.

    A field with a default may be missing: certificates outlive the version that wrote them.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget
    >>> build(Budget, {"epsilon": 1.0, "delta": 0.0}, "budget")
    Budget(epsilon=1.0, delta=0.0)
    """
    fields = dataclasses.fields(record_type)  # type: ignore[arg-type]
    known = {field.name for field in fields}
    required = {field.name for field in fields if field.default is dataclasses.MISSING}
    if not isinstance(value, dict) or not required <= set(value) <= known:
        keys = set(value) if isinstance(value, dict) else set()
        found = (
            f"missing {sorted(required - keys)}, unknown {sorted(keys - known)}" if keys else repr(type(value).__name__)
        )
        raise CertificateUnreadable(f"{path} with fields {sorted(known)}", f"{found:.300}", "ask for the file again")
    hints = typing.get_type_hints(record_type)
    arguments = {name: _read(hints[name], value[name], f"{path}.{name}") for name in value}
    try:
        return record_type(**arguments)
    except EquipoiseError as error:
        raise CertificateUnreadable(f"a valid {path}", str(error), "ask for the file again") from None


def _read(annotation: Any, value: object, path: str) -> Any:
    origin, choices = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        return _read_union(choices, value, path)
    if origin is Literal and value in choices:
        return value
    if origin is tuple and isinstance(value, list):
        if len(choices) == 2 and choices[1] is Ellipsis:
            return tuple(_read(choices[0], entry, f"{path}[{index}]") for index, entry in enumerate(value))
        if len(choices) == len(value):
            pairs = enumerate(zip(choices, value, strict=True))
            return tuple(_read(choice, entry, f"{path}[{index}]") for index, (choice, entry) in pairs)
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return build(annotation, value, path)
    if isinstance(annotation, type) and origin is None:
        if annotation is float and value == INFINITY:
            return math.inf
        if annotation is float and type(value) in (int, float):
            return float(typing.cast(float, value))
        if type(value) is annotation:
            return value
    raise CertificateUnreadable(
        f"{path} of type {getattr(annotation, '__name__', annotation)}", f"{value!r:.80}", "ask for the file again"
    )


def _read_union(choices: tuple[Any, ...], value: object, path: str) -> Any:
    if value is None and type(None) in choices:
        return None
    # The exact type first, so that a label 1 does not become 1.0.
    for choice in choices:
        if isinstance(choice, type) and type(value) is choice:
            return value
    for choice in choices:
        try:
            return _read(choice, value, path)
        except CertificateUnreadable:
            continue
    raise CertificateUnreadable(f"{path} of a known type", f"{value!r:.80}", "ask for the file again")
