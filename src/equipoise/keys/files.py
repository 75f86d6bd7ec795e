"""Key files: a private key in PKCS8, for its owner's eyes alone, and beside it the public key for everybody."""

from __future__ import annotations

import errno
import os
import shlex
import stat
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.errors import InvalidParameter, KeyRefused, OutputRefused
from equipoise.keys.signatures import fingerprint, is_weak, statement

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC_SUFFIX = ".pub"

# A key of this kind takes 200 bytes, the longest of another kind in use some 4,000.
LARGEST_KEY_FILE = 2**14

# The standard's encryption of key files tries 2,048 rounds a guess, which is not many: the passphrase must be long.
SHORTEST_PASSPHRASE = 16


class PrivateKey:
    """A private key in memory; `public` is its public half, and nothing shows the rest."""

    __slots__ = ("_key", "public")

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public: bytes = key.public_key().public_bytes_raw()

    def __repr__(self) -> str:
        """Return the fingerprint, never the key."""
        return f"PrivateKey({fingerprint(self.public)})"

    def __reduce__(self) -> tuple[object, ...]:
        """Refuse to be copied into another process or a file."""
        raise TypeError("a private key is read from its file, never pickled")


def sign(key: PrivateKey, purpose: str, message: bytes) -> bytes:
    """Return the signature of a message for one purpose.

    Parameters
    ----------
    key : PrivateKey
        What `private_key` read.
    purpose : str
        A media type with its version, in visible ASCII: ``application/vnd.equipoise.checkpoint.v1+json``.
    message : bytes
        What is signed.

    Examples
    --------
    >>> import tempfile
    >>> from equipoise.keys import verify
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     public = new_key(Path(folder) / "owner.key")
    ...     signature = sign(private_key(Path(folder) / "owner.key"), "text/plain", b"hello")
    >>> verify(public, "text/plain", b"hello", signature), verify(public, "text/html", b"hello", signature)
    (True, False)
    """
    if not purpose.isascii() or not purpose.isprintable() or not purpose.strip() or " " in purpose:
        raise InvalidParameter("a purpose to sign for", f"{purpose!r:.80}", "pass a media type, in visible ASCII")
    return key._key.sign(statement(purpose, message))


def new_key(path: Path, passphrase: str | None = None) -> bytes:
    """Write a new private key, which only this user can read, and its public key beside it; return the public one.

    Existing files are never replaced: a key that is lost cannot be made again.

    Parameters
    ----------
    path : Path
        Where the private key goes; the public key goes to the same name with ``.pub`` after it.
    passphrase : str, optional
        Encrypts the private key. At least 16 letters.
    """
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if passphrase is not None and len(passphrase) < SHORTEST_PASSPHRASE:
        found = f"one of {len(passphrase)} letter(s)"
        remedy = "write several words; whoever copies the file can try guesses as fast as machines allow"
        raise InvalidParameter(f"a passphrase of at least {SHORTEST_PASSPHRASE} letters", found, remedy)
    hidden: form.KeySerializationEncryption = form.NoEncryption()
    if passphrase is not None:
        hidden = form.BestAvailableEncryption(passphrase.encode())
    key = Ed25519PrivateKey.generate()
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, hidden)
    public = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    beside = public_path(path)
    if path.parent.is_dir():
        _require_closed_folder(path, f"a new private key in {path}")
    if os.path.lexists(beside):
        raise OutputRefused(f"a new file {beside.name}", "one that exists", "choose another name; keys are kept")
    _write_new(path, secret, 0o600)
    try:
        _write_new(beside, public, 0o644)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return key.public_key().public_bytes_raw()


def public_path(path: Path) -> Path:
    """Return where the public key of a private key's file is.

    Examples
    --------
    >>> public_path(Path("owner.key")).name
    'owner.key.pub'
    """
    return path.with_name(path.name + PUBLIC_SUFFIX)


def private_key(path: Path, passphrase: Callable[[], str] | None = None) -> PrivateKey:
    """Return the private key of a file that belongs to this user and that nobody else can read or replace.

    Parameters
    ----------
    path : Path
        What `new_key` wrote.
    passphrase : callable, optional
        Asked where the key is encrypted, and only then.
    """
    asked = f"a private key in {path}"
    content = _content(path, asked, "name the file that `equipoise key new` wrote", private=True)
    return PrivateKey(_loaded(content, path, asked, passphrase))


def public_key(path: Path) -> bytes:
    """Return the 32 bytes of the public key in a file."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    asked, remedy = f"a public key in {path}", f"name the file ending in {PUBLIC_SUFFIX} that `equipoise key new` wrote"
    content = _content(path, asked, remedy)
    if holds_private(content):
        raise KeyRefused(asked, "a private key", f"{remedy}, and keep this one to yourself")
    try:
        with warnings.catch_warnings(action="ignore"):
            key = form.load_pem_public_key(content)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyRefused(asked, "no public key, or a part of one", remedy) from None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyRefused(asked, f"one of another kind ({type(key).__name__.removesuffix('PublicKey')})", remedy)
    public = key.public_bytes_raw()
    if is_weak(public):
        raise KeyRefused(asked, "a key for which anybody can sign anything", f"ask who made it; {remedy}")
    return public


def holds_private(content: bytes) -> bool:
    """Return whether the text of a key file says that it is a private key.

    Examples
    --------
    >>> holds_private(b"-----BEGIN ENCRYPTED PRIVATE KEY-----"), holds_private(b"-----BEGIN PUBLIC KEY-----")
    (True, False)
    """
    return b"PRIVATE KEY-----" in content


def is_private(path: Path) -> bool:
    """Return whether a file holds a private key; what is no plain file of a key's size is refused."""
    return holds_private(_content(path, f"a key in {path}", "name a file that `equipoise key new` wrote"))


def _loaded(content: bytes, path: Path, asked: str, passphrase: Callable[[], str] | None) -> Ed25519PrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    remedy = "name the file that `equipoise key new` wrote, or make a new key"
    if b"PUBLIC KEY-----" in content:
        raise KeyRefused(asked, "a public key", f"name the private one, without {PUBLIC_SUFFIX}")
    secret = None
    if b"BEGIN ENCRYPTED" in content:
        if passphrase is None:
            raise KeyRefused(asked, "an encrypted one, and no passphrase", "set EQUIPOISE_KEY_PASSPHRASE")
        secret = passphrase().encode()
    try:
        with warnings.catch_warnings(action="ignore"):
            key = form.load_pem_private_key(content, secret)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        found = "no private key, or a part of one"
        if secret is not None:
            found, remedy = "one that this passphrase does not open, or a part of one", "try the passphrase again"
        raise KeyRefused(asked, found, remedy) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyRefused(asked, f"one of another kind ({type(key).__name__.removesuffix('PrivateKey')})", remedy)
    return key


def _content(path: Path, asked: str, remedy: str, private: bool = False) -> bytes:
    """Return the bytes of a key file: a plain file, of a key's size, and where it is private of this user's alone."""
    try:
        # What opens may be a pipe, on which opening would wait, or a terminal, which it would take over.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode):
                raise KeyRefused(asked, "no plain file", remedy)
            if private:
                _require_own(path, asked, facts)
                _require_closed_folder(path, asked)
            content = os.read(handle, LARGEST_KEY_FILE + 1)
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        if isinstance(error, KeyRefused):
            raise
        if getattr(error, "errno", None) == errno.ELOOP:
            raise KeyRefused(asked, "a link", "name the file itself, so that its permissions are those seen") from None
        found = getattr(error, "strerror", None) or "a path that no file has"
        raise KeyRefused(asked, found, remedy) from None
    if not content or len(content) > LARGEST_KEY_FILE or content.count(b"-----BEGIN") > 1:
        found = "several keys" if 0 < len(content) <= LARGEST_KEY_FILE else "a file that is too large to be one"
        raise KeyRefused(asked, found if content else "an empty file", remedy)
    return content


def _require_own(path: Path, asked: str, facts: os.stat_result) -> None:
    """Refuse a private key that is somebody else's, or that somebody else can read."""
    if facts.st_uid != os.geteuid():
        found = f"a file of user {facts.st_uid}, and this is user {os.geteuid()}"
        raise KeyRefused(asked, found, "run this as the key's owner, or make a key of your own")
    if facts.st_mode & 0o077:
        found = f"a file that others than its owner may use (mode {stat.S_IMODE(facts.st_mode):o})"
        remedy = f"chmod 600 {shlex.quote(str(path))}"
        raise KeyRefused(asked, found, f"{remedy}; if others could read it, make a new key")


def _require_closed_folder(path: Path, asked: str) -> None:
    """Refuse a private key in a folder in which others can put another one in its place.

    Where the folder is sticky, as the one of temporary files is, only the owner of a file can.
    """
    mode = path.parent.stat().st_mode
    if mode & 0o022 and not mode & stat.S_ISVTX:
        found = f"a folder that others than its owner may write (mode {stat.S_IMODE(mode):o}), and so change the key"
        remedy = f"chmod go-w {shlex.quote(str(path.parent))}"
        raise KeyRefused(asked, found, f"{remedy}; then check the fingerprint: equipoise key show")


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file that is not there yet, flushed to the disk; nobody ever sees it with other permissions."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise OutputRefused(
            f"a new file {path.name}", "one that exists", "choose another name; keys are kept"
        ) from None
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or "a path that no file has"
        raise OutputRefused(f"to write {path.name} in {path.parent}", found, "choose another folder") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        found = error.strerror or type(error).__name__
        raise OutputRefused(f"to write {path.name} in {path.parent}", found, "make room; nothing was left") from None
