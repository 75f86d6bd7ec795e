"""Altering valid examples so that what comes out is nearly valid: random bytes only test a reader's first line."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

Mutation = Callable[[bytes, random.Random], bytes]

NUMBERS = (
    0,
    1,
    -1,
    2,
    255,
    10**6,
    2**31,
    2**53,
    2**63,
    10**18,
    10**400,
    0.0,
    -0.0,
    0.5,
    1e-9,
    5e-324,
    1e-100,
    1e9,
    1e300,
)
WORDS = ("", "x", "infinity", "NaN", "\x1b[2J", "\ud800", "é", "a" * 5000, "0", "1e999", "l2", "gaussian", "null", "\0")
EMPTY: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"": 0})
PIECES = (
    *(
        b"",
        b"\0",
        b"\n",
        b"\r\n",
        b'"',
        b",",
        b";",
        b"\t",
        b"{",
        b"}",
        b"[",
        b"]",
        b"=",
        b"#",
        b"\\",
        b"\xff\xfe",
        b"\xc3",
    ),
    *(b"nan", b"inf", b"-1", b"1e999", b"9" * 400, b"\xef\xbb\xbf", b"x" * 5000, b"[" * 200, b"a." * 70, b"2026-99-99"),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value inside JSON values.

    Examples
    --------
    >>> list(places({"a": [1]}))
    [('a',), ('a', 0)]
    """
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


def json_values(data: bytes, chance: random.Random) -> bytes:
    """Alter one value of a JSON text: another number, word, type or copy; a key lost, added or renamed."""
    try:
        record = json.loads(data)
        found = list(places(record))
    except (ValueError, RecursionError):
        found = []
    if not found or chance.random() < 0.1:
        return pieces(data, chance)
    *path, key = chance.choice(found)
    holder = record
    for step in path:
        holder = holder[step]
    _alter(holder, key, record, found, chance)
    return json.dumps(record).encode("utf-8", "surrogatepass")


def _alter(holder: Any, key: Any, record: Any, found: list[tuple[Any, ...]], chance: random.Random) -> None:
    way = chance.randrange(8)
    value = holder[key]
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[chance.choice((*WORDS, *(place[-1] for place in found if isinstance(place[-1], str))))] = holder.pop(key)
    elif way == 2:
        # A copy of a value from elsewhere: of the right shape, in the wrong place.
        other = record
        for step in chance.choice(found):
            other = other[step]
        holder[key] = json.loads(json.dumps(other))
    elif way == 3 and isinstance(value, list) and len(value) < 300:
        holder[key] = value * chance.choice((0, 2, 3, 20))
    elif way == 4 and isinstance(value, int | float):
        factor = chance.choice((-1, 2, 10, 1000))
        holder[key] = value * factor if chance.random() < 0.6 or isinstance(value, int) else value / factor / 100
    elif way == 5 and isinstance(value, str):
        holder[key] = pieces(value.encode("utf-8", "replace"), chance).decode("utf-8", "replace")
    else:
        holder[key] = chance.choice((*NUMBERS, *WORDS, *EMPTY))


def pieces(data: bytes, chance: random.Random) -> bytes:
    """Cut, repeat, overwrite or insert a stretch of bytes."""
    start = chance.randrange(len(data) + 1)
    length = chance.choice((0, 1, 1, 2, 4, 8, 40))
    way = chance.randrange(5)
    if way == 0:
        piece = b""
    elif way == 1:
        piece = data[start : start + length] * chance.choice((2, 3, 50))
    elif way == 2:
        piece = chance.choice(PIECES)
    elif way == 3:
        other = chance.randrange(len(data) + 1)
        piece = data[other : other + chance.choice((1, 8, 80))]
    else:
        piece = chance.randbytes(length)
    return data[:start] + piece + data[start + length :]


def lines(data: bytes, chance: random.Random) -> bytes:
    """Alter a text line by line: a line lost, doubled or swapped, a value of another kind after an equals sign."""
    texts = data.split(b"\n")
    place = chance.randrange(len(texts))
    way = chance.randrange(6)
    if way == 0:
        del texts[place]
    elif way == 1:
        texts.insert(chance.randrange(len(texts)), texts[place])
    elif way == 2:
        texts[place] = texts[chance.randrange(len(texts))]
    elif way == 3 and b"=" in texts[place]:
        value = chance.choice((*NUMBERS, *WORDS, [], [1, 2], [2, 1], ["a", "a"], {}, True))
        texts[place] = texts[place].split(b"=")[0] + b"= " + json.dumps(value).encode()
    else:
        return pieces(data, chance)
    return b"\n".join(texts)


def binary(data: bytes, chance: random.Random) -> bytes:
    """Alter a binary file: mostly single bytes and small numbers, half of the time near its end, where footers lie."""
    if not data:
        return chance.randbytes(8)
    if chance.random() < 0.2:
        return pieces(data, chance)
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        reach = len(data) if chance.random() < 0.5 else min(len(data), 600)
        place = len(data) - 1 - chance.randrange(reach)
        width = chance.choice((1, 1, 1, 4, 8))
        value = chance.choice((0, 1, 2**7, 2**8 - 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, chance.getrandbits(64)))
        changed[place : place + width] = (value % 256**width).to_bytes(width, "little")
    return bytes(changed[: len(data)])
