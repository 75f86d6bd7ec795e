"""The product on publicly prepared rows: `eq.ElasticNetClassifier` at the paper's penalty, and `eq.LogisticRegression`.

Every model here is planned from public numbers, fitted with seeded noise, and its certificate checked. The seeds make
it a study: the certificates say so, and nothing here is a release.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import equipoise as eq
from equipoise.planning.flips import WeightNoise
from equipoise_studies.frame import Session
from equipoise_studies.stability_enhanced_privacy.curves import (
    FIXED,
    SCALES,
    SELECTED,
    SWEPT,
    Account,
    Curves,
    curves_of,
)
from equipoise_studies.stability_enhanced_privacy.linear import product_penalty
from equipoise_studies.stability_enhanced_privacy.measure import EPSILONS, MIDDLE, Found, one_per_split
from equipoise_studies.stability_enhanced_privacy.preparation import Array, Prepared, by_public_rules


@dataclass(frozen=True, eq=False)
class Certified:
    """What the product reached on one table.

    Parameters
    ----------
    found : Found
        What was measured on the same rows.
    curves : Curves
        Of `eq.ElasticNetClassifier` with spherical Laplace noise.
    plain : array (strengths, splits)
        Its accuracy without noise.
    scales : array (strengths)
        The scale of its noise at epsilon 1, on the first split.
    scaled : mapping
        Its accuracy with independent Laplace noise by fixed lambda, (scales, splits): Figure 4 over the scale.
    default : array (epsilons, splits)
        Accuracy of `eq.LogisticRegression` with all its defaults.
    checked, faults : int
        Certificates that were checked, and how many had a fault.
    certificate : Certificate
        The one at lambda = 0.1 and the middle epsilon.
    two_classes : float
        The A1 bound of a two-class certificate at the smallest lambda for these rows: what F1 speaks of.
    """

    found: Found
    curves: Curves
    plain: Array
    scales: Array
    scaled: Mapping[float, Array]
    default: Array
    checked: int
    faults: int
    certificate: eq.Certificate
    two_classes: float

    @property
    def predicted(self) -> float:
        """What F1 predicts for the paper's bound over A1's: ``2 sqrt(n / kappa)``."""
        return 2 * math.sqrt(self.found.rows.n_rows / self.found.rows.longest)


def elastic_net(
    classes: int, strength: float, epsilon: float, mechanism: str = "spherical-laplace"
) -> eq.ElasticNetClassifier:
    """Return the product's estimator for the paper's penalty on unit rows.

    Examples
    --------
    >>> elastic_net(2, 0.1, 1.0).plan(1000, 32).theorem
    'A2+A4'
    """
    alpha, share = product_penalty(strength)
    domain = eq.Domain(row_norm=1.0, classes=tuple(range(classes)))
    return eq.ElasticNetClassifier(
        epsilon=epsilon, domain=domain, alpha=alpha, l1_ratio=share, mechanism=mechanism, random_state=0
    )


class Product(Account):
    """Releases of the product on the rows of one split: every fit has noise of its own, and its certificate is checked.

    Parameters
    ----------
    rows : Prepared
        Publicly prepared rows.
    strengths : sequence of float
        The lambdas at which `plain` will be asked.
    seed : int
        Of the split.
    """

    def __init__(self, rows: Prepared, strengths: Sequence[float], seed: int) -> None:
        super().__init__(rows, SELECTED["public"])
        self.checked = self.faults = 0
        self._stream = np.random.default_rng((9, 3, seed))
        self._plain: dict[float, Array] = dict(zip(sorted(strengths, reverse=True), self._path(strengths), strict=True))

    def _path(self, strengths: Sequence[float]) -> Array:
        """Return the weights without noise, from the largest lambda down."""
        classes, (unit, share) = self.rows.classes, product_penalty(1.0)
        path = eq.lab.solution_path(
            self.rows.features,
            self.rows.labels,
            [unit * each for each in strengths],
            domain=eq.Domain(row_norm=1.0, classes=tuple(range(classes))),
            loss="logistic" if classes == 2 else f"multinomial:{classes}",
            penalty=f"elastic-net:{share!r}",
            intercept=self.rows.constant,
        )
        return np.concatenate([path.weights, path.constants[:, :, None]], axis=2)

    def plain(self, strength: float) -> Array:
        """Return what the product minimises to; it releases the part of it that sums to zero over the classes."""
        return self._plain[strength]

    def _planned(self, strength: float, epsilon: float) -> eq.Certificate:
        return elastic_net(self.rows.classes, strength, epsilon).plan(*self.rows.features.shape)

    def scale(self, strength: float, epsilon: float) -> float:
        """Return the scale that the plan's certificate has."""
        return self._planned(strength, epsilon).noise_scale

    def deviation(self, strength: float, epsilon: float) -> float:
        """Return the deviation that follows from the plan's certificate."""
        return WeightNoise.of(self._planned(strength, epsilon)).deviation

    def fitted(self, model: eq.LogisticRegression) -> eq.LogisticRegression:
        """Plan, fit and check one model."""
        model.set_params(random_state=int(self._stream.integers(2**31)))
        model.plan(*self.rows.features.shape)
        model.fit(self.rows.features, self.rows.labels)
        self.checked += 1
        self.faults += bool(model.certificate_.verify())
        return model

    def _weights(self, model: eq.LogisticRegression) -> Array:
        """Return the weights of a model as one draw."""
        fitted = self.fitted(model)
        return np.column_stack([fitted.coef_, fitted.intercept_ / self.rows.constant])[None]

    def release(self, strength: float, epsilon: float) -> Array:
        """Return the weights that the product releases."""
        return self._weights(elastic_net(self.rows.classes, strength, epsilon))

    def release_at(self, strength: float, scale: float, mechanism: str = "spherical-laplace") -> Array:
        """Return them at the epsilon that this scale of noise is worth: the product is never asked for a scale."""
        unit = elastic_net(self.rows.classes, strength, 1.0, mechanism).plan(*self.rows.features.shape)
        return self._weights(elastic_net(self.rows.classes, strength, unit.noise_scale / scale, mechanism))


def certify(session: Session, found: Found) -> Certified:
    """Plan, fit and check every model on one table."""
    epsilons, strengths, splits = EPSILONS[found.source.key], found.strengths, found.plain.shape[1]
    classes = found.source.classes
    domain = eq.Domain(row_norm=1.0, classes=tuple(range(classes)))
    curves, scaled, alone, default = [], [], [], np.empty((len(epsilons), splits))
    checked = faults = 0
    for split, rows in one_per_split(session, found.source, by_public_rules, splits, f"{found.source.name}, certified"):
        product = Product(rows, strengths, split)
        for level, epsilon in enumerate(epsilons):
            plain = product.fitted(eq.LogisticRegression(epsilon=epsilon, domain=domain))
            default[level, split] = np.mean(plain.predict(rows.test_features) == rows.test_labels)
        alone.append([product.accuracy(product.plain(each)[None]) for each in strengths])
        curves.append(curves_of(product, strengths, epsilons, SWEPT["public"]))
        scaled.append(
            [[product.accuracy(product.release_at(each, scale, "laplace")) for scale in SCALES] for each in FIXED]
        )
        checked, faults = checked + product.checked, faults + product.faults
    shown = elastic_net(classes, MIDDLE, epsilons[1]).plan(*found.rows.features.shape)
    # Where the penalty is weak, slopes reach 1, as F1 takes them; elsewhere the certificate knows better.
    two = elastic_net(2, strengths[0], epsilons[1]).plan(*found.rows.features.shape)
    value = next(bound.value for bound in two.bounds if bound.theorem == "A1+A4")
    return Certified(
        found=found,
        curves=Curves.stacked(curves),
        plain=np.array(alone).T,
        scales=np.array(
            [elastic_net(classes, each, 1.0).plan(*found.rows.features.shape).noise_scale for each in strengths]
        ),
        scaled=dict(zip(FIXED, np.moveaxis(np.array(scaled), 0, -1), strict=True)),
        default=default,
        checked=checked,
        faults=faults,
        certificate=shown,
        two_classes=math.nan if value is None else value,
    )
