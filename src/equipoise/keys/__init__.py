"""Keys: who says so. Ed25519 key files, signatures for one purpose each, and their verification.

`signatures` is all that whoever verifies needs, `files` makes and reads key files. docs/keys.md says who holds which.
"""

from equipoise.keys.files import PrivateKey, new_key, private_key, public_key, sign
from equipoise.keys.signatures import fingerprint, verify

__all__ = ["PrivateKey", "fingerprint", "new_key", "private_key", "public_key", "sign", "verify"]
