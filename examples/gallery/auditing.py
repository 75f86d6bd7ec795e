"""Auditing a mechanism: release many times on two neighbouring tables, and see what can be told apart.

python examples/gallery/auditing.py

Somebody's mechanism claims epsilon = 1 for a count. The honest one stays below it, one with half the noise does not.
"""

import numpy as np
from drawing import lines

import equipoise as eq

CLAIMED = 1.0
SHARES = (0.25, 0.5, 0.75, 1.0, 1.5)


def main(rows: int = 20_000, picture: str = "auditing.svg") -> None:
    """Audit counts with more and less noise than the claim needs, `rows` releases each."""
    found = []
    for share in SHARES:
        coins = np.random.default_rng(0)
        # One person more or less moves a count by 1: the claim needs Laplace noise of scale 1.
        finding = eq.lab.audit(
            lambda coins=coins, share=share: coins.laplace(0, share / CLAIMED),
            lambda coins=coins, share=share: 1 + coins.laplace(0, share / CLAIMED),
            claimed=CLAIMED,
            runs=rows,
        )
        print(f"noise at {share:.0%} of what the claim needs: at least {finding.epsilon:.2f}; {finding.verdict}")
        values = {"measured, at least": finding.epsilon, "true": CLAIMED / share, "claimed": CLAIMED}
        found += [{"share of the noise": share, "epsilon": value, "what": name} for name, value in values.items()]
    lines(found, "share of the noise", "epsilon", "what", picture)


if __name__ == "__main__":
    main()
