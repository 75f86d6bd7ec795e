"""A hospital that signs what it releases: a ledger, the owner's key, and releases that were paid for."""

import shutil
from pathlib import Path

import numpy as np

import equipoise as eq
from equipoise.artifact.folder import files_of, staging
from equipoise.artifact.signing import envelope_of
from equipoise.certify.folder import STATEMENT
from equipoise.cli.ledger_state import state_of
from equipoise.data.schema import NumberColumn, Target
from equipoise.keys import PrivateKey, new_key, private_key

N = 200
AGE = np.random.default_rng(3).uniform(0, 100, N)
SCHEMA = eq.Schema(
    N,
    (NumberColumn("age", (0, 100)),),
    Target("ill", classes=("no", "yes")),
    vouched_by="A. Officer",
    vouched_on="2026-11-16",
)


class Hospital:
    """A ledger, two keys, and releases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ledger = f"sqlite:///{folder}/ledger.db#people"
        eq.Ledger(self.ledger).create(eq.Budget(10.0, 1e-5), "basic")
        new_key(folder / "owner.key")
        new_key(folder / "other.key")

    @property
    def key(self) -> PrivateKey:
        return private_key(self.folder / "owner.key")

    def trained(self, epsilon: float = 1.0) -> eq.LogisticRegression:
        """Fit a model to rows of no importance, paid for by the ledger."""
        import pandas as pd

        rows = pd.DataFrame({"age": AGE, "ill": np.where(AGE > 50, "yes", "no")})
        return eq.LogisticRegression(epsilon, 0.0, SCHEMA, 0.1, "output", ledger=self.ledger).fit(rows)

    def release(self, name: str, model: eq.LogisticRegression | None = None, signed: bool = True) -> Path:
        """Write a release, as `equipoise train` does, signed or not."""
        return self._written(name, files_of(model or self.trained(), state_of(self.ledger)), signed)

    def evaluation(self, name: str, release: Path, signed: bool = True) -> Path:
        """Write an evaluation of a release, as `equipoise evaluate` does, signed or not."""
        import pandas as pd

        rows = pd.DataFrame({"age": AGE, "ill": np.where(AGE > 45, "yes", "no")})
        made = eq.evaluate(release, rows, epsilon=1.0, ledger=self.ledger, n_samples=N)
        return self._written(name, made.files(), signed)

    def _written(self, name: str, files: dict[str, str], signed: bool) -> Path:
        if signed:
            contents = {file: text.encode() for file, text in files.items()}
            files[STATEMENT] = envelope_of(contents, self.key, "Data office")
        with staging(self.folder / name) as place:
            place.publish(files)
        return self.folder / name

    def copy(self, folder: Path, name: str) -> Path:
        return Path(shutil.copytree(folder, self.folder / name))
