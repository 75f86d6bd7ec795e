"""From frozen records to plain JSON values and back, driven by the records' own type annotations.

A claim is written with its kind, a loss by its name, a penalty by its name and strength, infinity as a word.
"""

import dataclasses
import json
import math
import types
from collections import Counter
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from ..errors import CertificateUnreadable, EquipoiseError, UnknownMember, UnknownName
from ..vocabulary import losses, penalties
from ..vocabulary.losses import Loss
from ..vocabulary.penalties import Penalty
from . import claims
from .claims import Claim

Made = TypeVar("Made")

INFINITY = "infinity"
AGAIN = "ask for the file again"

# What an entry of a file weighs in memory: a list or an object as much as several numbers. A model of 4 million weights
# without names has as many entries; a certificate of a thousand claims some 200,000.
MOST_ENTRIES, MOST_ENTRIES_OF_A_CERTIFICATE = 2**22, 2**20


def to_plain(value: object, keep_defaults: bool = True, released: bool = True) -> Any:
    """Return a record as dictionaries, lists, strings and numbers.

    Without defaults, a field that a later version adds changes nothing about today's records: that form is digested.
    Without `released`, what a fit appended is left out: that form is what was planned.

    Examples
    --------
    >>> from ..vocabulary.facts import Budget
    >>> to_plain(Budget(1.0)), to_plain(Budget(1.0), keep_defaults=False)
    ({'epsilon': 1.0, 'delta': 0.0}, {'epsilon': 1.0})
    """
    if isinstance(value, Loss):
        return value.name
    if isinstance(value, Penalty):
        return {"name": value.name, "alpha": value.alpha}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {"kind": value.kind, "theorem": value.theorem} if isinstance(value, Claim) else {}
        for field in dataclasses.fields(value):
            entry = getattr(value, field.name)
            if (keep_defaults or entry != field.default) and (released or field.name != "released"):
                found[field.name] = to_plain(entry, keep_defaults, released)
        return found
    if isinstance(value, tuple):
        return [to_plain(entry, keep_defaults, released) for entry in value]
    # JSON has no infinity; the limit of an absent one needs it.
    return INFINITY if value == math.inf else value


def canonical(value: object, released: bool = True) -> str:
    """Return the text of a record that is digested: sorted keys, no spaces, no defaults."""
    plain = to_plain(value, keep_defaults=False, released=released)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)


def parse(text: str, most: int = MOST_ENTRIES) -> Any:
    """Return the values of a JSON text; a key twice, NaN and numbers beyond doubles are refused like broken text.

    So is a text with more entries than `most`, before it is parsed: marks inside texts count as well.

    Examples
    --------
    >>> parse('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    equipoise.errors.CertificateUnreadable: asked: a certificate in JSON; found: text that does not parse (the key 'a' \
twice); to do: ask for the file again
    """
    try:
        if weight_of(text) > most:
            raise ValueError(f"more than {most} entries")
        return json.loads(text, parse_constant=_finite, parse_float=_finite, parse_int=_whole, object_pairs_hook=_once)
    except (ValueError, RecursionError, TypeError, AttributeError) as error:
        found = f"text that does not parse ({str(error) or type(error).__name__:.120})"
        raise CertificateUnreadable("a certificate in JSON", found, AGAIN) from None


def weight_of(text: str) -> int:
    """Return how many entries a JSON text may have; a letter written as a number widens its text up to four times."""
    return text.count(",") + text.count("\\") + 8 * (text.count("{") + text.count("["))


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text:.20} is no number that a double holds")
    return number


def _whole(text: str) -> int:
    # Longer ones are beyond doubles, and take long to read.
    return int(text) if len(text) < 300 else int(_finite(text))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the key {Counter(key for key, _ in pairs).most_common(1)[0][0]!r:.80} twice")
    return found


@cache
def _hints(record_type: Any) -> dict[str, Any]:
    return get_type_hints(record_type)


def build(record_type: type[Made], value: object, path: str) -> Made:
    """Return the record that a plain value stands for; unknown, missing and mistyped fields are named.

    A field with a default may be missing: certificates outlive the version that wrote them.

    Examples
    --------
    >>> from ..vocabulary.facts import Budget
    >>> build(Budget, {"epsilon": 1.0, "delta": 0.0}, "budget")
    Budget(epsilon=1.0, delta=0.0)
    """
    fields = dataclasses.fields(record_type)  # type: ignore[arg-type]
    known = {field.name for field in fields}
    required = {field.name for field in fields if field.default is field.default_factory is dataclasses.MISSING}
    keys = set(value) if isinstance(value, dict) else set()
    if not isinstance(value, dict) or not required <= keys <= known:
        found = f"missing {sorted(required - keys)}, unknown {sorted(keys - known)}" if keys else type(value).__name__
        raise CertificateUnreadable(f"{path} with fields {sorted(known)}", f"{found:.300}", AGAIN)
    hints = _hints(record_type)  # type: ignore[arg-type] # every class can be hashed
    made: Made = _made(record_type, path, {name: read(hints[name], value[name], f"{path}.{name}") for name in value})
    return made


def _made(make: Any, path: str, arguments: dict[str, Any]) -> Any:
    try:
        return make(**arguments)
    except UnknownName as error:
        raise UnknownMember(f"{path} {error.found:.80}") from None
    except (EquipoiseError, ArithmeticError, ValueError, TypeError) as error:
        raise CertificateUnreadable(f"a valid {path}", f"{error!s:.300}", AGAIN) from None


def read(annotation: Any, value: object, path: str) -> Any:
    """Return the value that a plain one stands for, by its annotation."""
    origin, choices = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return _read_union(choices, value, path)
    if origin is Literal and any(type(value) is type(choice) and value == choice for choice in choices):
        return value
    if origin is tuple and isinstance(value, list):
        if choices[1:] == (Ellipsis,):
            return _read_many(choices[0], value, path)
        if len(choices) == len(value):
            return tuple(read(choices[place], entry, f"{path}[{place}]") for place, entry in enumerate(value))
    if annotation is Claim:
        return _read_claim(value, path)
    if annotation is Loss:
        return _made(losses.named, path, {"name": read(str, value, path)})
    if annotation is Penalty and isinstance(value, dict) and value.keys() == {"name", "alpha"}:
        arguments = {"name": read(str, value["name"], path), "alpha": read(float, value["alpha"], path)}
        return _made(penalties.named, path, arguments)
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return build(annotation, value, path)
    if annotation is float and (value == INFINITY or type(value) is int):
        return math.inf if value == INFINITY else float(cast(int, value))
    if isinstance(annotation, type) and origin is None and type(value) is annotation:
        return value
    name = getattr(annotation, "__name__", annotation)
    raise CertificateUnreadable(f"{path} of type {name}", f"{value!r:.80}", AGAIN)


def _read_many(each: Any, values: list[Any], path: str) -> tuple[Any, ...]:
    """Return a list of any length; millions of weights or names, each read by itself, would take minutes."""
    kinds = get_args(each) if get_origin(each) in (Union, types.UnionType) else (each,)
    plain: dict[type, Any] = {kind: kind for kind in kinds if kind in (str, int, float, bool)}
    if each is float:
        plain[int] = float
    return tuple(
        plain[type(entry)](entry) if type(entry) in plain else read(each, entry, f"{path}[{place}]")
        for place, entry in enumerate(values)
    )


def _read_claim(value: object, path: str) -> Claim:
    known, value = claims.members(), value if isinstance(value, dict) else {}
    kind = read(str, value.get("kind"), f"{path}.kind")
    if kind not in known:
        raise UnknownMember(f"{path} of kind {kind!r:.80}")
    own = {field.name for field in dataclasses.fields(known[kind])}
    stated = {name: entry for name, entry in value.items() if name in own or name not in ("kind", "theorem")}
    claim = build(known[kind], stated, path)
    if value.get("theorem") != claim.theorem:
        raise CertificateUnreadable(f"{path} of kind {kind} by {claim.theorem}", f"{value.get('theorem')!r:.80}", AGAIN)
    return claim


def _read_union(choices: tuple[Any, ...], value: object, path: str) -> Any:
    # The exact type first, so that a label 1 does not become 1.0.
    for choice in sorted(choices, key=lambda choice: type(value) is not choice):
        try:
            return read(choice, value, path)
        except CertificateUnreadable:
            continue
    raise CertificateUnreadable(f"{path} of a known type", f"{value!r:.80}", AGAIN)
