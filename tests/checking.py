"""How scikit-learn's own checks are run."""

from collections.abc import Callable

import pytest
from sklearn.base import is_regressor

Check = Callable[[object], object]

VALUES_NEVER_RAISE = "values inside private rows are mapped by a public rule and never raise"
WEIGHTS_ARE_PUBLIC = "class weights are public facts about declared classes; the checks' classes are found in the data"
DTYPE_IS_DECLARED = "object columns are refused by their data type: whether they can be parsed depends on values"


def expected_failures(estimator: object) -> dict[str, str]:
    """Return the checks that a private estimator fails on purpose, each with its argument."""
    found = {"check_dtype_object": DTYPE_IS_DECLARED}
    if "class_weight" in estimator.get_params():
        found["check_class_weight_classifiers"] = WEIGHTS_ARE_PUBLIC
    # A selector has no target; the classifiers here take the label set from the data, where infinity is no label.
    return found | {"check_supervised_y_no_nan": VALUES_NEVER_RAISE} if is_regressor(estimator) else found


def run_check(estimator: object, check: Check, request: pytest.FixtureRequest) -> None:
    """Run one of scikit-learn's checks; one that is expected to fail has to fail, in few words.

    Spelling out a traceback through scikit-learn's file of all checks takes longer than any of these checks.
    """
    if request.node.get_closest_marker("xfail") is None:
        check(estimator)
        return
    try:
        check(estimator)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}"[:500]) from None
