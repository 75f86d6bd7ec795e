"""How the suite's audits share one false-alarm rate; the estimator itself is `equipoise.lab.auditing`."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from equipoise.lab.auditing import Finding, lower_bound
from equipoise.noise import SeededSource

Array = NDArray[np.float64]

# The false-alarm rate of the fast lane, shared evenly: every audit that may not fail uses `FAILURE`. The slow lane
# repeats each audit at most three times, with more runs or fresh seeds: its rate is at most three times as large. Two
# audits by the command have the rate that it prints, 1e-4 each, and some files a rate of their own, beside this one.
SUITE_FALSE_ALARM = 1e-4
# The audits of test_audit_sgd.py, and with them those of test_lab_audit.py; all others are counted in
# test_audit_estimators.py.
DESCENT_AUDITS = 14
LAB_AUDITS = 10 + DESCENT_AUDITS
# The audits of test_audit_examples.py.
EXAMPLE_AUDITS = 16
AUDITS = 43 + LAB_AUDITS + EXAMPLE_AUDITS
FAILURE = SUITE_FALSE_ALARM / AUDITS
# So few runs refute a claim whose noise is a fifth of what it should be, and the fast lane shows that they do. Half of
# the noise takes some thousand runs, which the slow lane has.
FEW_RUNS = 200
# With fresh seeds, every night others: as many runs as an hour has room for.
FRESH_RUNS = 4_000


def audit(first: Array, second: Array, delta: float, thresholds: Array, failure: float = FAILURE) -> Finding:
    """Return the finding for releases that are numbers already, with the suite's share of false alarms."""
    return lower_bound(first, second, delta, thresholds, failure)


class HalvedNoise(SeededSource):
    """A fault: a fraction of the noise that was calibrated."""

    fraction = 1 / 2

    def add(self, law, weights, scale):
        return super().add(law, weights, scale * self.fraction)


class ThirdOfTheNoise(HalvedNoise):
    """A fault that is plain to see."""

    fraction = 1 / 3


class FifthOfTheNoise(HalvedNoise):
    """A fault that few runs show."""

    fraction = 1 / 5


class TenthOfTheNoise(HalvedNoise):
    """A fault that few runs show behind batches that are secret, or a secret number of runs."""

    fraction = 1 / 10


def module_at(path: Path) -> ModuleType:
    """Return the program at a path as a module of its own."""
    specification = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
