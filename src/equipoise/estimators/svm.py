"""Private linear support vector machines."""

from typing import Any, ClassVar

from equipoise.errors import InvalidParameter
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.vocabulary.facts import Domain


class LinearSVC(PrivateClassifier):
    """A linear support vector machine with a ridge for two classes, released with a privacy certificate.

    Minimises ``(1/n) sum loss(y (<w, x> + b)) + alpha/2 (||w||^2 + (b/s)^2)`` with noise where `mechanism` says. The
    hinge has a corner, so that noise can go to the output only, and no gradient can be small: its solver proves its
    distance from the minimiser by a duality gap, to a public tolerance that adds at most 4 % to the sensitivity
    unless rounding asks for more (docs/proofs/A4.md). The smooth hinge can be served by every mechanism of
    `LogisticRegression`.

    Parameters
    ----------
    loss : str
        "smooth-hinge" (the hinge, rounded off over a half-width of 0.5; "smooth-hinge:0.1" for another), or "hinge".
        On a large table a solver for the hinge itself provably ends only with a strong ridge, which leaves little to
        learn. Where by the reference problem less than half is left, and the smooth hinge keeps more, a public alpha
        is refused before anything is spent; a number is taken.
    epsilon, delta, domain, alpha, mechanism, fit_intercept, random_state, public_seed, ledger, class_weight
        As in `LogisticRegression`.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.array([[0.9, 0.1], [0.8, -0.1], [-0.9, 0.0], [-0.7, 0.2]] * 250)
    >>> y = np.array([1, 1, 0, 0] * 250)
    >>> model = eq.LinearSVC(epsilon=1.0, domain=eq.Domain(row_norm=1.0, classes=(0, 1)), random_state=0)
    >>> model.fit(X, y).predict([[0.5, 0.0], [-0.5, 0.0]])
    array([1, 0])
    """

    name: ClassVar[str] = "svm"
    loss: str = "smooth-hinge"

    _several_classes: ClassVar[bool] = False

    @classmethod
    def _extreme(cls, at_the_end: bool) -> dict[str, Any]:
        # The hinge has a corner: noise inside the training needs it rounded off.
        return {} if at_the_end else {"loss": "smooth-hinge"}

    def _loss_name(self, domain: Domain) -> str:
        if not isinstance(self.loss, str) or self.loss.partition(":")[0] not in ("hinge", "smooth-hinge"):
            raise InvalidParameter('loss "smooth-hinge" or "hinge"', f"loss={self.loss!r}", 'pass loss="smooth-hinge"')
        if domain.classes not in (None, "observed") and len(domain.classes) != 2:
            remedy = "declare two classes, or use LogisticRegression, which takes more"
            raise InvalidParameter("two classes", f"classes={domain.classes!r}", remedy)
        return self.loss
