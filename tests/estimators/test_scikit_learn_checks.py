"""scikit-learn's own checks for dropout, selection by the simplex and the private search."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import equipoise as eq
from checking import expected_failures, run_check

# The checks' tables have few rows of their own scale; epsilon is so large that the noise does not decide them.
LARGE = {"epsilon": 1e8, "random_state": 0}
LABELS = eq.Domain(5.0, labels=(-200.0, 200.0))
CLASSES = eq.Domain(10.0, classes="observed")


@parametrize_with_checks(
    [
        eq.DropoutRegressor(**LARGE, delta=1e-3, domain=LABELS, alpha=1e-6, keep_probability=0.999, radius=300.0),
        eq.DropoutClassifier(**LARGE, delta=1e-3, domain=CLASSES, alpha=1e-3, radius=20.0),
        eq.SimplexSelector(epsilon=1e4, delta=1e-3, random_state=0),
        # Every check's table is planned anew; where the noise goes is named, so that no menu of kinds is ranked.
        eq.PrivateGridSearch(eq.Ridge(domain=LABELS, mechanism="output"), {"alpha": [1e-3, 1e-2]}, **LARGE),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check, request):
    run_check(estimator, check, request)


@pytest.mark.statistics
@parametrize_with_checks(
    [eq.PrivateGridSearch(eq.Ridge(domain=LABELS), {"alpha": [1e-3, 1e-2]}, **LARGE)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks_of_a_search_over_the_default_mechanism(estimator, check, request):
    run_check(estimator, check, request)
