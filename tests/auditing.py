"""How the suite's audits share one false-alarm rate; the estimator itself is `equipoise.lab.auditing`."""

import numpy as np
from numpy.typing import NDArray

from equipoise.lab.auditing import Finding, lower_bound

Array = NDArray[np.float64]

# The false-alarm rate of the whole suite, shared evenly: every audit that may not fail uses `FAILURE`.
SUITE_FALSE_ALARM = 1e-4
# The audits of test_audit_sgd.py, and with them those of test_lab_audit.py; all others are counted in
# test_audit_estimators.py.
DESCENT_AUDITS = 8
LAB_AUDITS = 10 + DESCENT_AUDITS
AUDITS = 42 + LAB_AUDITS
FAILURE = SUITE_FALSE_ALARM / AUDITS


def audit(first: Array, second: Array, delta: float, thresholds: Array, failure: float = FAILURE) -> Finding:
    """Return the finding for releases that are numbers already, with the suite's share of false alarms."""
    return lower_bound(first, second, delta, thresholds, failure)
