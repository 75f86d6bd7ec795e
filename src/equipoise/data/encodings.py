"""Text files in other encodings, as the UTF-8 that the readers know: each character by itself, and no byte raises."""

import codecs
import io
from typing import BinaryIO

# Encodings in which every byte is a character, those of UTF-8's byte-order mark too.
ONE_BYTE = ("latin-1", "cp1252")
# What is decoded at once, in bytes.
PIECE_BYTES = 2**16


def as_utf_8(file: BinaryIO, encoding: str) -> BinaryIO:
    r"""Return a file that reads as UTF-8 what another one holds in its encoding.

    What is no character of the encoding becomes the replacement character. In Latin-1 and CP 1252 a byte is a
    character, so no value changes its neighbour. In UTF-16 two bytes are a unit, by their place in the file: units are
    structure (docs/readers.md), and a unit that is half of a character is replaced alone.

    Examples
    --------
    >>> as_utf_8(io.BytesIO("größe\n".encode("latin-1")), "latin-1").readline().decode()
    'größe\n'
    """
    return file if encoding == "utf-8" else io.BufferedReader(_Decoded(file, encoding), PIECE_BYTES)


def mark_in(encoding: str) -> bytes:
    """Return how UTF-8's byte-order mark reads at the beginning of a file of this encoding, in UTF-8.

    Examples
    --------
    >>> mark_in("cp1252").decode()
    'ï»¿'
    """
    return codecs.BOM_UTF8.decode(encoding).encode() if encoding in ONE_BYTE else codecs.BOM_UTF8


class _Decoded(io.RawIOBase):
    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._begun = encoding != "utf-16"
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, room: memoryview) -> int:  # type: ignore[override] # a buffer, as io passes it
        while not self._left:
            piece = self._file.read(PIECE_BYTES)
            if not self._begun and piece:
                self._begun = True
                # Without a byte-order mark Python would take the order of the machine that reads.
                if not piece.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    piece = codecs.BOM_UTF16_LE + piece
            self._left = self._decoder.decode(piece, final=not piece).encode()
            if not piece:
                break
        count = min(len(room), len(self._left))
        room[:count], self._left = self._left[:count], self._left[count:]
        return count

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
