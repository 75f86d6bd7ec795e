"""How much wider intervals are for the noise: accuracy and the area under the ROC curve at 10,000 rows and epsilon 0.5.

Beside each interval stands that of the same rows counted without noise, by the same tests (noise of scale 0.01 is zero
but with a chance of 1e-43 a cell). The promise is a ratio of at most 1.3 for accuracy and 1.6 for the area; with few
rows of one class the area has a larger one, printed too: ``PYTHONPATH=tests python benchmarks/evaluation.py``.
"""

from dataclasses import replace

import numpy as np

from equipoise.evaluation.two_classes import TwoClasses
from noisy_worlds import Cell, Population, two_classes

WORLDS = 10


def widths(population: Population, table: np.ndarray) -> tuple[float, float]:
    figures = TwoClasses(replace(population.template, counts=table))
    return tuple(figure.high - figure.low for figure in (figures.accuracy, figures.auc))


def main() -> None:
    for prevalence in (0.05, 0.1, 0.25, 0.5):
        noisy = two_classes(Cell(10_000, 0.5, prevalence))
        plain = replace(noisy, template=replace(noisy.template, scale=0.01))
        ratios = []
        for world in range(WORLDS):
            with_noise = widths(noisy, noisy.worlds(np.random.default_rng(world), 1)[0])
            without = widths(plain, plain.worlds(np.random.default_rng(world), 1)[0])
            ratios.append(np.array(with_noise) / np.array(without))
        mean, most = np.mean(ratios, axis=0), np.max(ratios, axis=0)
        told = (f"{name} {mean[place]:.3f} (most {most[place]:.3f})" for place, name in enumerate(("accuracy", "area")))
        print(f"prevalence {prevalence}:", *told)


if __name__ == "__main__":
    main()
