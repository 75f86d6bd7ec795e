"""Text: short messages as counts of words of a public list, and which words the private model took up.

python examples/gallery/text.py

The list of words is public and comes first: words found in the messages would tell who wrote one of them.
"""

import numpy as np
from drawing import bars
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

import equipoise as eq

BAD = ("broken", "late", "refund", "rude", "lost")
GOOD = ("great", "thanks", "quick", "friendly", "perfect")
OTHER = ("parcel", "order", "shop", "monday", "call", "please", "colour", "size", "invoice", "blue")


def messages(rows: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Return made-up messages to a shop, and whether each is a complaint."""
    coins = np.random.default_rng(seed)
    complaint = coins.integers(2, size=rows)
    texts = []
    for sign in complaint:
        telling = coins.choice(BAD if sign else GOOD, 2) if coins.random() < 0.9 else coins.choice(BAD + GOOD, 2)
        texts.append(" ".join([*telling, *coins.choice(OTHER, coins.integers(2, 6))]))
    return texts, complaint


def main(rows: int = 10_000, picture: str = "text.svg") -> None:
    """Train on messages and draw the weight of every word."""
    words = CountVectorizer(vocabulary=sorted(BAD + GOOD + OTHER))
    (texts, y), (new, right) = messages(rows, 0), messages(2_000, 1)
    X, X_new = (normalize(words.transform(each).toarray().astype(float)) for each in (texts, new))
    model = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(row_norm=1.0, classes=(0, 1)), random_state=0).fit(X, y)
    print(f"epsilon 1: {np.mean(model.predict(X_new) == right):.1%} of {len(new):,} new messages are sorted right")
    sort = {
        **dict.fromkeys(BAD, "in complaints"),
        **dict.fromkeys(GOOD, "in praise"),
        **dict.fromkeys(OTHER, "in both"),
    }
    weights = sorted(zip(words.get_feature_names_out(), model.coef_.ravel(), strict=True), key=lambda pair: -pair[1])
    bars(
        [{"word": word, "weight": float(weight), "kind": sort[word]} for word, weight in weights],
        "word",
        "weight",
        "kind",
        picture,
    )


if __name__ == "__main__":
    main()
