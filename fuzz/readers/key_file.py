"""A public or a private key file, as it lies on the disk."""

from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from equipoise.keys import private_key, public_key
from equipoise.keys.files import is_private
from fuzz.mutation import lines
from fuzz.written import written

SHARE = 0.5

mutate = lines

# Nobody's key: the same in every run.
KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))


def examples() -> list[bytes]:
    """Return a key's two files."""
    secret = KEY.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    return [secret, KEY.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)]


def read(data: bytes) -> None:
    """Read it as what it says it is."""
    path = written(data, "some.key")
    path.chmod(0o600)
    if is_private(path):
        private_key(path, lambda: "a passphrase of nobody")
    else:
        public_key(path)
