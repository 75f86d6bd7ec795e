"""Digits: a model of 64 pixels can be looked at, and so can what noise does to it.

python examples/gallery/digits.py

The images come with scikit-learn, and stand in for those of patients.
"""

import numpy as np
from drawing import squares
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILONS = (10.0, 3.0, 1.0)


def main(rows: int = 360, picture: str = "digits.svg") -> None:
    """Tell zeros from ones and draw the weights, without privacy and with more and more of it."""
    images, labels = load_digits(return_X_y=True)
    chosen = labels < 2
    X, y = normalize(images[chosen])[:rows], labels[chosen][:rows]
    weights = {"without privacy": LogisticRegression(C=100.0).fit(X, y).coef_}
    for epsilon in EPSILONS:
        model = eq.LogisticRegression(epsilon=epsilon, domain=eq.Domain(row_norm=1.0, classes=(0, 1)), random_state=0)
        weights[f"epsilon = {epsilon:g}"] = model.fit(X, y).coef_
        print(f"epsilon {epsilon:>3g}: {model.score(X, y):.3f} of these public images right")
    squares(
        [
            {"model": name, "row": place // 8, "column": place % 8, "value": float(weight)}
            for name, found in weights.items()
            for place, weight in enumerate(np.ravel(found))
        ],
        "model",
        picture,
    )


if __name__ == "__main__":
    main()
