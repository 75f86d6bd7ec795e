"""A signed checkpoint of a ledger, held against the history that it came from."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from equipoise.keys import PrivateKey, verify
from equipoise.ledger import witness
from equipoise.ledger.checkpoints import PURPOSE, Checkpoint, from_json, signed
from equipoise.ledger.currencies.base import NOTHING
from fuzz.mutation import json_values
from fuzz.readers.ledger_export import HISTORY

SHARE = 1.0

mutate = json_values

# Nobody's key: the same in every run.
KEY = PrivateKey(Ed25519PrivateKey.from_private_bytes(bytes(32)))
SIGNED = [signed(Checkpoint.of(HISTORY[length - 1], "basic", NOTHING), KEY) for length in (len(HISTORY), 2)]


def examples() -> list[bytes]:
    """Return checkpoints of the whole history and of its beginning."""
    return [kept.to_json().encode() for kept in SIGNED]


def read(data: bytes) -> None:
    """Read it: only what was signed may verify, however it is written."""
    kept = from_json(data.decode("utf-8", "replace"), "checkpoint.json")
    said = kept.checkpoint
    if verify(KEY.public, PURPOSE, said.message, kept.signature) and said not in [one.checkpoint for one in SIGNED]:
        raise AssertionError("a forged checkpoint")
    evidence = witness.Evidence("checkpoint.json", said.dataset, said.number, said.digest, said.made, kept)
    witness.contradiction(evidence, len(HISTORY), {entry.number: entry.digest for entry in HISTORY}.get)
