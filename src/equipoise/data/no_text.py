"""Files that are called CSV and hold something else: told by their first bytes, with what to do about each."""

import codecs

from equipoise.errors import InvalidData

# Each holds a byte that no line of names begins with.
_SIGNATURES = {
    b"PK\x03\x04": (
        "a packed archive, as workbooks of Excel are",
        'rename a workbook to .xlsx, or save its sheet as "CSV UTF-8"; unpack any other archive',
    ),
    b"\xd0\xcf\x11\xe0": ("an old workbook of Excel (.xls)", 'save it as .xlsx, or its sheet as "CSV UTF-8"'),
    b"\x1f\x8b": ("a file that gzip packed", "rename it to .csv.gz, or unpack it"),
}
SAVE_AS_UTF_8 = 'save the file as UTF-8 ("CSV UTF-8")'
UTF_16 = f'write encoding = "utf-16" into the schema\'s [file], or {SAVE_AS_UTF_8}'


def refuse_other_contents(first: bytes, asked: str) -> None:
    r"""Refuse a file that is packed, a workbook, or in UTF-32, which nothing reads here.

    Examples
    --------
    >>> refuse_other_contents(b"age,town\n", "a header line")
    >>> refuse_other_contents("age,town\n".encode("utf-32"), "a header line")
    Traceback (most recent call last):
    equipoise.errors.InvalidData: asked: a header line; found: UTF-32 text; to do: save the file as UTF-8 ("CSV UTF-8")
    """
    for signature, (found, remedy) in _SIGNATURES.items():
        if first.startswith(signature):
            raise InvalidData(asked, found, remedy)
    if is_utf_32(first):
        raise InvalidData(asked, "UTF-32 text", SAVE_AS_UTF_8)


def refuse_zero_bytes(line: bytes, asked: str) -> None:
    r"""Refuse a first line that is UTF-16, or that holds zeros and is no text in any encoding.

    Examples
    --------
    >>> refuse_zero_bytes(b"a\0ge,town\n", "a header line")
    Traceback (most recent call last):
    equipoise.errors.InvalidData: asked: a header line; found: a first line with a zero byte; to do: ...
    """
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or 0 < len(line) <= 3 * line.count(0):
        raise InvalidData(f"{asked}, in UTF-8", "UTF-16 text, or no text at all", UTF_16)
    if b"\0" in line:
        remedy = "delete the zero bytes, or write the file again: text has none"
        raise InvalidData(asked, "a first line with a zero byte", remedy)


def is_utf_32(first: bytes) -> bool:
    r"""Return whether bytes begin with a mark of UTF-32, or have three zeros in four as it writes most letters.

    Examples
    --------
    >>> is_utf_32("age".encode("utf-32-be")), is_utf_32("age".encode("utf-16")), is_utf_32(b"age")
    (True, False, False)
    """
    if first.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return True
    head = first[: min(len(first), 200) // 4 * 4]
    places = [head[place::4] for place in range(4)]
    zeros = [2 * part.count(0) > len(part) for part in places]
    return zeros in ([False, True, True, True], [True, True, True, False])
