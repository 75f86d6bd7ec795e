"""Repeated visits: everybody has several rows, and the promise is about a person with all of them.

python examples/gallery/repeated_visits.py

Simulated patients with one to nine visits each. A promise about single visits is weaker, and cheaper at a tiny epsilon.
"""

import numpy as np
from drawing import lines

import equipoise as eq

EPSILONS = (0.003, 0.01, 0.03, 0.1, 0.3)


def visits(persons: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, targets, and whose row each is."""
    coins = np.random.default_rng(seed)
    who = np.repeat(np.arange(persons), coins.integers(1, 10, persons))
    X = np.clip(coins.normal(size=(persons, 3))[who] / 3 + coins.normal(size=(len(who), 3)) / 6, -1, 1) / np.sqrt(3)
    return X, (X @ [6.0, -4.0, 2.0] + coins.logistic(size=len(who)) / 2 > 0).astype(int), who


def main(rows: int = 4_000, picture: str = "repeated-visits.svg") -> None:
    """Train for persons and for rows at several epsilons, and draw the accuracy on new people."""
    (X, y, who), (new, right, _) = visits(rows, 0), visits(2_000, 1)
    found = []
    for epsilon in EPSILONS:
        persons = eq.LogisticRegression(
            epsilon=epsilon, domain=eq.Domain(1.0, classes=(0, 1), rows_a_person=20), random_state=0
        )
        persons.plan(n_samples=rows, n_features=3)  # the number of persons is public, and declared
        persons.fit(X, y, groups=who)
        single = eq.LogisticRegression(epsilon=epsilon, domain=eq.Domain(1.0, classes=(0, 1)), random_state=0).fit(X, y)
        scores = {"protects a person": persons.score(new, right), "protects one visit": single.score(new, right)}
        found += [{"epsilon": epsilon, "accuracy on new people": score, "promise": to} for to, score in scores.items()]
        said = f"{persons.certificate_.adjacency}, n = {persons.certificate_.n_samples:,}"
        print(f"epsilon {epsilon:>5g}: {said}: {', '.join(f'{score:.3f} {to}' for to, score in scores.items())}")
    lines(found, "epsilon", "accuracy on new people", "promise", picture, log=True)


if __name__ == "__main__":
    main()
