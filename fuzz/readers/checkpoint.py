"""A signed checkpoint of a ledger, held against the history that it came from."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from equipoise.keys import PrivateKey, verify
from equipoise.ledger import witness
from equipoise.ledger.checkpoints import Checkpoint, Recovered, from_json, signed
from equipoise.ledger.currencies.base import NOTHING
from fuzz.mutation import json_values
from fuzz.readers.ledger_export import HISTORY

SHARE = 1.0

mutate = json_values

# Nobody's key: the same in every run.
KEY = PrivateKey(Ed25519PrivateKey.from_private_bytes(bytes(32)))
WORDS = {len(HISTORY): None, 2: Recovered(HISTORY[1].place, (HISTORY[0].place, HISTORY[-1].place))}
SIGNED = [signed(Checkpoint.of(HISTORY[at - 1], "basic", NOTHING, said), KEY) for at, said in WORDS.items()]


def examples() -> list[bytes]:
    """Return a checkpoint of the whole history, and one of its beginning, after a recovery."""
    return [kept.to_json().encode() for kept in SIGNED]


def read(data: bytes) -> None:
    """Read it: only what was signed may verify, however it is written."""
    kept = from_json(data.decode("utf-8", "replace"), "checkpoint.json")
    said = kept.checkpoint
    known = [one.checkpoint for one in SIGNED]
    if verify(KEY.public, said.purpose, said.message, kept.signature) and said not in known:
        raise AssertionError("a forged checkpoint")
    evidence = witness.Evidence("checkpoint.json", said.dataset, said.number, said.digest, said.made, kept)
    witness.binding([evidence], {}.get, [KEY.public])
    witness.contradiction(evidence, len(HISTORY), {entry.number: entry.digest for entry in HISTORY}.get)
