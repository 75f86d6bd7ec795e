"""Dosing: how many patients get a dose within 20 % of the right one, from a private regression.

python examples/gallery/dosing.py

Simulated patients; the dose falls with age, rises with weight and depends on two genes, as that of warfarin does.
"""

import numpy as np
from drawing import lines

import equipoise as eq

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
DOSES = (0.0, 100.0)


def patients(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of norm at most 1 (entries by public ranges, divided by 2), and weekly doses in milligrams."""
    coins = np.random.default_rng(seed)
    features = np.column_stack(
        [
            coins.uniform(-1, 1, rows),
            coins.uniform(-1, 1, rows),
            coins.choice([-1, 0, 1], rows),
            coins.choice([-1, 1], rows),
        ]
    )
    dose = 35 + features @ [-8, 6, 9, 4] + coins.normal(0, 4, rows)
    return features / 2, np.clip(dose, *DOSES)


def near(predicted: np.ndarray, dose: np.ndarray) -> float:
    """Return the share of patients whose dose is within 20 %."""
    return float(np.mean(np.abs(predicted - dose) <= 0.2 * dose))


def main(rows: int = 5_000, picture: str = "dosing.svg") -> None:
    """Train at several epsilons, and compare with one dose for everybody."""
    (X, y), (new, right) = patients(rows, 0), patients(5_000, 1)
    domain, found = eq.Domain(row_norm=1.0, labels=DOSES), []
    for epsilon in EPSILONS:
        model = eq.Ridge(epsilon=epsilon, domain=domain, random_state=0).fit(X, y)
        shares = {
            "private regression": near(model.predict(new), right),
            "35 mg for everybody": near(np.full(5_000, 35.0), right),
        }
        found += [{"epsilon": epsilon, "share within 20 %": share, "rule": rule} for rule, share in shares.items()]
        print(f"epsilon {epsilon:>4g}: {shares['private regression']:.1%} within 20 %")
    print(f"35 mg for everybody: {shares['35 mg for everybody']:.1%}")
    lines(found, "epsilon", "share within 20 %", "rule", picture, log=True)


if __name__ == "__main__":
    main()
