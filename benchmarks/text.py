"""Text by hashed n-grams and a private linear model: which messages of six newsgroups are about computers.

python benchmarks/text.py [--data FOLDER] [--seeds 5]

The hash is public: it has no vocabulary, and every message is hashed by itself. Split by date; the noise is exact. Mean
accuracy on the later messages, and without privacy scikit-learn's on the same features.
"""

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression

import equipoise as eq

MAPS = {
    "words": {"analyzer": "word"},
    "words and pairs": {"analyzer": "word", "ngram_range": (1, 2)},
    "3 to 5 characters": {"analyzer": "char_wb", "ngram_range": (3, 5)},
}
SIZES = 256, 1024, 4096
EPSILONS = 1.0, 3.0
DELTA = 1e-5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("EQUIPOISE_DATA"), help="folder of Parquet files")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    if given.data is None:
        parser.error("say where the Parquet files are: --data FOLDER, or set EQUIPOISE_DATA")
    warnings.simplefilter("ignore")
    frame = parquet.read_table(given.data / "newsgroups20_18828_6groups.parquet").to_pandas()
    y = frame["group"].str.startswith("comp.").to_numpy().astype(int)
    early = (frame["split"] == "train").to_numpy()
    print(
        f"{early.sum()} messages to train on, {(~early).sum()} to test, {y[~early].mean():.3f} of them about computers"
    )
    print(f"| n-grams | features | {' | '.join(f'epsilon {epsilon:g}' for epsilon in EPSILONS)} | not private |")
    print("|---|---|" + "---|" * len(EPSILONS) + "---|")
    for name, kind in MAPS.items():
        for size in SIZES:
            X = HashingVectorizer(n_features=size, **kind).transform(frame["text"])
            plain = PlainLogisticRegression(C=100.0, max_iter=1000).fit(X[early], y[early])
            found = []
            for epsilon in EPSILONS:
                domain = eq.Domain(row_norm=1.0, classes=(0, 1))
                model = eq.LogisticRegression(epsilon=epsilon, delta=DELTA, domain=domain)
                runs = [model.fit(X[early], y[early]).score(X[~early], y[~early]) for _ in range(given.seeds)]
                found.append(f"{np.mean(runs):.3f}")
            reached = plain.score(X[~early], y[~early])
            print(f"| {name} | {size} | {' | '.join(found)} | {reached:.3f} |", flush=True)


if __name__ == "__main__":
    main()
