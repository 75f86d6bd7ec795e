"""Where the coefficients without noise lie: exact intervals, from the certificate's law of noise alone."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from equipoise.certify import laws
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Claim
from equipoise.certify.claims.base import Moved
from equipoise.certify.claims.compositions import Sequence
from equipoise.certify.claims.evaluation import Evaluation, HeldOut
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.errors import InvalidParameter
from equipoise.planning.laws import known

Array = NDArray[np.float64]

# Quantiles are found to 1e-14, and rounded outwards by more.
_OUTWARDS = 1 + 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientIntervals:
    """An interval for each coefficient as it was before the noise, on the same rows.

    Parameters
    ----------
    level : float
        The chance, over the noise, that one interval holds; each for itself.
    low, high : array
        Of the shape of ``coef_`` and in its units.
    intercept_low, intercept_high : array
        Likewise for ``intercept_``; equal to it where none was trained.
    """

    level: float
    low: Array
    high: Array
    intercept_low: Array
    intercept_high: Array


def coefficient_intervals(model: Any, level: float) -> CoefficientIntervals:
    """Return ``coefficient -/+ factor scale q``, q the quantile of one coordinate of the certified noise.

    A released weight is the one that training ended at plus noise that is independent of it, so that the interval holds
    the latter with exactly this chance, whatever the rows are. The factor is 1, but for dropout, which shrinks finished
    weights, the constant column's length, which an intercept is in units of, and K tied outputs, of which each has the
    share ``1 - 1/K`` of the noise's variance in its direction (the law must then be invariant under rotations).
    """
    if not 0.0 < level < 1.0:
        raise InvalidParameter("a level between 0 and 1", f"{level!r:.80}", "ask for 0.95, say")
    check_is_fitted(model, "coef_")
    certificate = model.certificate_
    if not isinstance(certificate, Certificate):
        remedy = "train again with this version"
        raise InvalidParameter("a model with a certificate of this version", "one of an older version", remedy)
    noisy = _with_noise_on_weights(certificate.claim, certificate.claim.trained)
    loss = noisy.problem.loss
    tied = loss.outputs > loss.free_outputs
    if tied and not laws.named(noisy.law).rotation_invariant:
        raise InvalidParameter(
            "noise whose law is the same in every direction, for tied outputs",
            f"{noisy.law} noise",
            "train with two classes",
        )
    share = math.sqrt(1.0 - 1.0 / loss.outputs) if tied else 1.0
    quantile = known(noisy.law).quantile(0.5 * (1.0 - level), noisy.noise.dimension)
    reach = _OUTWARDS * share * noisy.scale * quantile
    kept = 1.0 - getattr(getattr(noisy, "recipe", None), "dropout", 0.0)
    coefficients, intercepts = np.asarray(model.coef_), np.asarray(model.intercept_, dtype=float)
    constant = reach * noisy.problem.intercept
    return CoefficientIntervals(
        level,
        coefficients - kept * reach,
        coefficients + kept * reach,
        intercepts - constant,
        intercepts + constant,
    )


def _with_noise_on_weights(whole: Claim, claim: Claim) -> Moved:
    """Return the claim, if noise was added once, to finished weights, and nothing chose between several of them."""
    others = (node for node in whole.nodes() if node is not claim)
    # Counts of rows that were held out have noise of their own, and no part in the weights.
    alone = all(isinstance(node, Sequence | PrivateBounds | HeldOut | Evaluation) for node in others)
    if isinstance(claim, Moved) and claim.on_weights and alone and not getattr(claim, "projection", 0):
        return claim
    raise InvalidParameter(
        "a release whose noise was added once, to finished weights",
        f"one of kind {whole.kind!r:.40}" if not alone else f"one of kind {claim.kind!r:.40}",
        'train with mechanism="output": elsewhere noise acts through the training, and its law on a weight is unknown',
    )
