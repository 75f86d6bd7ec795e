"""Quantiles of Gamma variables, against SciPy's."""

import math

import pytest
import scipy.special

from equipoise.planning.gamma_quantile import upper_quantile


@pytest.mark.parametrize("shape", [0.5, 1, 1.5, 2, 17.5, 1000, 1e6])
@pytest.mark.parametrize("failure", [1e-300, 1e-30, 1e-6, 0.05, 0.5, 0.999])
def test_a_quantile_is_that_of_scipy(shape, failure):
    assert upper_quantile(shape, failure) == pytest.approx(scipy.special.gammainccinv(shape, failure), rel=1e-11)


@pytest.mark.parametrize("shape", [0.5, 3, 400])
def test_a_smaller_chance_of_failure_lies_farther_out(shape):
    found = [upper_quantile(shape, math.exp(-power)) for power in range(1, 600, 7)]
    assert found == sorted(set(found))
