"""Signing a checkpoint: only of a history that goes on from everything that was signed before."""

from __future__ import annotations

from equipoise.keys import PrivateKey
from equipoise.ledger import witness
from equipoise.ledger.book import Ledger
from equipoise.ledger.checkpoint_table import CheckpointTable
from equipoise.ledger.checkpoints import Checkpoint, SignedCheckpoint, signed


def signed_head(reference: str, key: PrivateKey, to: str | None = None) -> tuple[SignedCheckpoint, bool]:
    """Return the signed head of a ledger's history, and whether the table that it is kept in had none such yet.

    A key that signed whatever it is shown would make a rolled back history the true one. So the history must be intact,
    and hold what the witnesses of the environment and the table itself know of it.

    Parameters
    ----------
    reference : str
        The ledger.
    key : PrivateKey
        The owner's or a witness's: never one that an analyst can read.
    to : str, optional
        The URL of a second file or database, whose table of checkpoints it is added to.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from equipoise.keys import new_key, private_key
    >>> from equipoise.vocabulary.facts import Budget
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = new_key(Path(folder) / "owner.key")
    ...     Ledger(f"sqlite:///{folder}/ledger.db#trial").create(Budget(1.0))
    ...     key, to = private_key(Path(folder) / "owner.key"), f"sqlite:///{folder}/witness.db"
    ...     [signed_head(f"sqlite:///{folder}/ledger.db#trial", key, to)[1] for _ in range(2)]
    [True, False]
    """
    ledger = Ledger(reference)
    others = [name for name in witness.named() if name != to]
    table = None if to is None else CheckpointTable(to)
    if to is not None and table is not None:
        table.require_elsewhere(reference)
        others += [to] if table.exists() else []
    heard = witness.heard(ledger.dataset, others, signing=True)
    balance, entries = ledger.statement()
    keys = {key.public, *witness.trusted_keys(witness.owner_of(entries[0]))}
    witness.check(heard, len(entries), lambda number: entries[number - 1].digest, keys)
    kept = signed(Checkpoint.of(entries[-1], balance.currency, balance.spent), key)
    return kept, table is None or table.add(kept)
