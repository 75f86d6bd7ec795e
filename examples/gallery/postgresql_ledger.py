"""A ledger in PostgreSQL: several people spend from one budget, and the one who would overdraw it is refused.

python examples/gallery/postgresql_ledger.py postgresql://USER@HOST/DATABASE

Without an address the ledger is a file of SQLite, which keeps the same count for one machine.
"""

import sys
import tempfile

import numpy as np
from drawing import bars

import equipoise as eq


def main(rows: int = 2_000, picture: str = "postgresql-ledger.svg", database: str = "") -> None:
    """Spend until the ledger refuses, and draw what is left."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = f"{database or f'sqlite:///{folder}/ledger.db'}#patients"
        eq.Ledger(ledger).create(eq.Budget(3.0))
        coins = np.random.default_rng(0)
        X = coins.uniform(-1, 1, (rows, 2)) / np.sqrt(2)
        y = (X[:, 0] > 0).astype(int)
        found = [{"when": "at first", "epsilon": 3.0, "what": "left in the ledger"}]
        for fit in range(1, 8):
            # No seed here: a ledger refuses noise that can be repeated.
            model = eq.LogisticRegression(epsilon=0.8, domain=eq.Domain(1.0, classes=(0, 1)), ledger=ledger)
            model.plan(rows, 2)
            try:
                model.fit(X, y)
            except eq.errors.Overdraft as refused:
                print(f"fit {fit} was refused before a row was read: {refused.found}")
                break
            left = float(eq.Ledger(ledger).balance().epsilon_left)
            found.append({"when": f"after fit {fit}", "epsilon": left, "what": "left in the ledger"})
            print(f"fit {fit}: {left:.2f} of epsilon 3 left")
        print(f"the chain of entries holds: {eq.Ledger(ledger).verify() == ()}")
    bars(found, "when", "epsilon", "what", picture)


if __name__ == "__main__":
    main(database=sys.argv[1] if len(sys.argv) > 1 else "")
