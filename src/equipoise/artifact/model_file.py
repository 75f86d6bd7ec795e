"""model.json: what was released, and what is needed to predict with it (docs/release.md)."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from equipoise.artifact.findings import LARGEST
from equipoise.certify.folder import MODEL
from equipoise.certify.record import MOST_ENTRIES, build, parse, weight_of
from equipoise.errors import CertificateUnreadable, InvalidParameter, ReleaseUnreadable
from equipoise.estimators.saved import FORMAT_VERSION, Saved, written

__all__ = ["FORMAT_VERSION", "parsed", "read", "room_of", "settled", "written"]

AGAIN = "ask for the released folder again"

# A number's line is at most so long: sign, 17 digits, point, exponent, blanks, comma and the line's end.
BYTES_A_NUMBER = 32

# What settings and labels may take besides, in bytes and in entries.
SPARE = 2**16


def room_of(outputs: int, columns: int, names: Sequence[str]) -> int:
    """Return how many bytes a model may take, whatever its weights are; refuse more than readers take.

    Examples
    --------
    >>> room_of(10, 784, ()) < 10**6
    True
    >>> room_of(10, 500_000, ())
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: a model that can be released: at most 4194304 weights and names, and ...
    """
    numbers, named = outputs * (columns + 1), json.dumps(list(names), indent=1)
    entries = numbers + 8 * outputs + weight_of(named) + SPARE
    size = BYTES_A_NUMBER * numbers + len(named) + SPARE
    if entries > MOST_ENTRIES or size > LARGEST[MODEL]:
        raise InvalidParameter(
            f"a model that can be released: at most {MOST_ENTRIES} weights and names, and {LARGEST[MODEL]} bytes",
            f"{numbers} weights and {len(names)} names of columns, up to {size} bytes",
            "declare fewer columns, classes or levels, or shorter names",
        )
    return size


def read(text: str) -> Saved:
    """Return what a model.json holds; refuse anything else by name.

    Examples
    --------
    >>> from equipoise.estimators.saved import Named
    >>> saved = Saved(Named("ridge", ()), coefficients=((0.5,),), intercepts=(0.0,))
    >>> read(written(saved, "ab")) == saved
    True
    >>> read("[]")
    Traceback (most recent call last):
    equipoise.errors.ReleaseUnreadable: asked: a model of format 2; found: list; to do: ask for the released ...
    """
    return settled(parsed(text))


def parsed(text: str) -> dict[str, Any]:
    """Return the fields of a model.json as they are; refuse what is none of this format."""
    try:
        record = parse(text)
    except CertificateUnreadable as error:
        raise ReleaseUnreadable("a model in JSON", error.found, AGAIN) from None
    version = record.get("format_version") if isinstance(record, dict) else None
    if version != FORMAT_VERSION:
        found = type(record).__name__ if version is None else f"format {version!r:.80}"
        remedy = AGAIN if version is None else "install another version of Equipoise"
        raise ReleaseUnreadable(f"a model of format {FORMAT_VERSION}", found, remedy)
    return cast(dict[str, Any], record)


def settled(record: Mapping[str, Any]) -> Saved:
    """Return what the fields hold."""
    fields = {name: value for name, value in record.items() if name not in ("format_version", "certificate")}
    try:
        saved = build(Saved, fields, "model")
    except CertificateUnreadable as error:
        raise ReleaseUnreadable(error.asked, error.found, AGAIN) from None
    if not all(math.isfinite(number) for row in (*saved.coefficients, saved.intercepts) for number in row):
        raise ReleaseUnreadable("finite weights", "others", AGAIN)
    return saved
