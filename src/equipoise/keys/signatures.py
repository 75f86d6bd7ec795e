"""What a signature is over, whether it holds, and how people name a key: all that whoever verifies needs.

This file imports nothing of ours, so that it can ship with the checker alone; `cryptography` is loaded when a signature
is verified.
"""

import base64
import hashlib

# The field in which Ed25519 counts, and the constant of its curve: -x^2 + y^2 = 1 + d x^2 y^2.
_PRIME = 2**255 - 19
_CURVE = -121665 * pow(121666, -1, _PRIME) % _PRIME

# Of the key's digest so many bits are read out: nobody finds another key with the same in 2^100 trials.
_LETTERS, _GROUP = 20, 4


def statement(purpose: str, message: bytes) -> bytes:
    """Return the bytes that are signed: the purpose and the message, each behind its length.

    It is the pre-authentication encoding of DSSE, version 1. Lengths make it unambiguous, so that what was signed for
    one purpose (a checkpoint) is never a signature for another (a release); a purpose names its own version.

    Examples
    --------
    >>> statement("text/plain", b"hello")
    b'DSSEv1 10 text/plain 5 hello'
    """
    kind = purpose.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(message), message)


def verify(public: bytes, purpose: str, message: bytes, signature: bytes) -> bool:
    """Return whether the holder of a public key's private half signed this message for this purpose.

    Parameters
    ----------
    public : bytes
        The 32 bytes of the public key.
    purpose : str
        What the signature must have been made for.
    message : bytes
        What must have been signed.
    signature : bytes
        64 bytes; anything else does not hold.

    Examples
    --------
    >>> verify(bytes(32), "text/plain", b"hello", bytes(64))
    False
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if is_weak(public):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, statement(purpose, message))
    except (InvalidSignature, ValueError):
        return False
    return True


def is_weak(public: bytes) -> bool:
    """Return whether a public key is none: of another length, or a point for which anybody can sign anything.

    Those are the points (x, y) of order 1, 2, 4 or 8: y is 1, -1, 0, or, where doubling leads to y = 0, a root of
    d y^4 + 2 y^2 - 1. Ed25519 itself accepts them.

    Examples
    --------
    >>> is_weak(bytes(32)), is_weak(bytes([1] + 31 * [0])), is_weak(bytes([2] + 31 * [0]))
    (True, True, False)
    """
    # The highest bit is the sign of x; y may also be written with the prime added.
    y = int.from_bytes(public, "little") % 2**255 % _PRIME
    return len(public) != 32 or y in (0, 1, _PRIME - 1) or (_CURVE * pow(y, 4, _PRIME) + 2 * y * y - 1) % _PRIME == 0


def fingerprint(public: bytes) -> str:
    """Return the name of a public key that people can read out: 100 bits of its SHA-256, in letters and 2 to 7.

    Examples
    --------
    >>> fingerprint(bytes(32))
    'MZUH-VLPY-MK6X-O3EP-YGFY'
    """
    letters = base64.b32encode(hashlib.sha256(public).digest()).decode()[:_LETTERS]
    return "-".join(letters[place : place + _GROUP] for place in range(0, _LETTERS, _GROUP))
