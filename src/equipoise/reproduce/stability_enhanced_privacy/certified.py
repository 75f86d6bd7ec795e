"""The product on publicly prepared rows: `eq.ElasticNetClassifier` at the paper's penalty, and `eq.LogisticRegression`.

Every model here is planned from public numbers, fitted with seeded noise, and its certificate checked. The seeds make
it a study: the certificates say so, and nothing here is a release.
"""

import math
from dataclasses import dataclass

import numpy as np

import equipoise as eq
from equipoise.proof.mechanisms import named
from equipoise.reproduce.frame import Session
from equipoise.reproduce.stability_enhanced_privacy.linear import minimise, product_penalty, similarity, support
from equipoise.reproduce.stability_enhanced_privacy.measure import EPSILONS, MIDDLE, MULTIPLES, Found, one_per_split
from equipoise.reproduce.stability_enhanced_privacy.preparation import Array, Prepared, by_public_rules


@dataclass(frozen=True, eq=False)
class Certified:
    """What the product reached on one table.

    Parameters
    ----------
    found : Found
        What was measured on the same rows.
    accuracy, similarity : array (epsilons, strengths, splits)
        Of `eq.ElasticNetClassifier`; the F1 score of its selection at 3 deviations, for two classes only.
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
    accuracy: Array
    similarity: Array | None
    default: Array
    checked: int
    faults: int
    certificate: eq.Certificate
    two_classes: float

    @property
    def predicted(self) -> float:
        """What F1 predicts for the paper's bound over A1's: ``2 sqrt(n / kappa)``."""
        return 2 * math.sqrt(self.found.rows.n_rows / self.found.rows.longest)


def elastic_net(classes: int, strength: float, epsilon: float) -> eq.ElasticNetClassifier:
    """Return the product's estimator for the paper's penalty on unit rows.

    Examples
    --------
    >>> elastic_net(2, 0.1, 1.0).plan(1000, 32).theorem
    'A2+A4'
    """
    alpha, share = product_penalty(strength)
    domain = eq.Domain(row_norm=1.0, classes=tuple(range(classes)))
    return eq.ElasticNetClassifier(
        epsilon=epsilon, domain=domain, alpha=alpha, l1_ratio=share, mechanism="output", random_state=0
    )


def _released(model: eq.LogisticRegression, rows: Prepared, seed: int) -> float:
    model.set_params(random_state=seed).fit(rows.features, rows.labels)
    return float(np.mean(model.predict(rows.test_features) == rows.test_labels))


def _selection(model: eq.ElasticNetClassifier, rows: Prepared, strength: float) -> float:
    """Return the F1 score of the weights beyond 3 deviations of the noise (F3) against the minimiser's support."""
    certificate = model.certificate_
    size = rows.features.shape[1] + 1
    scale = certificate.noise_scale
    deviation = named(certificate.mechanism).deviation(0.0 if scale is None else scale, size)
    chosen = np.abs(model.coef_) > MULTIPLES[-1] * deviation
    return float(similarity(support(minimise(rows, strength)), chosen[None])[0])


def certify(session: Session, found: Found) -> Certified:
    """Plan, fit and check every model on one table."""
    epsilons, strengths, splits = EPSILONS[found.source.key], found.strengths, found.plain.shape[1]
    classes = found.source.classes
    shape = (len(epsilons), len(strengths), splits)
    accuracy, chosen = np.empty(shape), np.empty(shape)
    default = np.empty((len(epsilons), splits))
    domain = eq.Domain(row_norm=1.0, classes=tuple(range(classes)))
    # Every fit has noise of its own.
    seeds = np.random.default_rng((9, 3)).integers(2**31, size=(len(epsilons), len(strengths) + 1, splits)).tolist()
    checked = faults = 0
    for split, rows in one_per_split(session, found.source, by_public_rules, splits, f"{found.source.name}, certified"):
        for level, epsilon in enumerate(epsilons):
            plain = eq.LogisticRegression(epsilon=epsilon, domain=domain, random_state=0)
            plain.plan(*rows.features.shape)
            default[level, split] = _released(plain, rows, seeds[level][-1][split])
            models = [(plain, plain.certificate_)]
            for place, strength in enumerate(strengths):
                model = elastic_net(classes, strength, epsilon)
                model.plan(*rows.features.shape)
                accuracy[level, place, split] = _released(model, rows, seeds[level][place][split])
                if classes == 2:
                    chosen[level, place, split] = _selection(model, rows, strength)
                models.append((model, model.certificate_))
            checked += len(models)
            faults += sum(bool(certificate.verify()) for _, certificate in models)
    shown = elastic_net(classes, MIDDLE, epsilons[1]).plan(*found.rows.features.shape)
    # Where the penalty is weak, slopes reach 1, as F1 takes them; elsewhere the certificate knows better.
    two = elastic_net(2, strengths[0], epsilons[1]).plan(*found.rows.features.shape)
    value = next(bound.value for bound in two.bounds if bound.theorem == "A1+A4")
    return Certified(
        found, accuracy, chosen if classes == 2 else None, default, checked, faults, shown,
        math.nan if value is None else value,
    )  # fmt: skip
