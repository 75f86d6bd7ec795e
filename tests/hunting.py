"""Hunts for a point that breaks a promise: few examples in the fast lane, many in the slow one."""

import inspect
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

Test = Callable[..., None]


def hunted(few: int, many: int, **strategies: SearchStrategy[object]) -> Callable[[Test], Test]:
    """Draw these arguments of a test, `few` times in the fast lane and `many` times in the slow one.

    What else the test asks for comes from its parameters and fixtures, and is the same in every example. The examples
    are the same in every run: a hunt of the fast lane fails for everybody or for nobody.
    """

    def decorated(test: Test) -> Test:
        def hunt(examples: int, **fixed: object) -> None:
            def example(**drawn: object) -> None:
                test(**fixed, **drawn)

            # Examples are drawn by the name, so that tests with the same arguments see different ones.
            example.__name__ = example.__qualname__ = test.__name__
            # How long a loaded machine takes to draw examples is no fact about the code.
            limits = settings(
                derandomize=True, deadline=None, max_examples=examples, suppress_health_check=[HealthCheck.too_slow]
            )
            limits(given(**strategies)(example))()

        asked = inspect.signature(test).parameters.values()
        unknown = set(strategies) - {parameter.name for parameter in asked}
        assert not unknown, f"{test.__name__} takes no {unknown}"
        hunt.__name__, hunt.__qualname__, hunt.__module__ = test.__name__, test.__qualname__, test.__module__
        hunt.__doc__ = test.__doc__
        hunt.__signature__ = inspect.Signature(
            [
                *(parameter for parameter in asked if parameter.name not in strategies),
                inspect.Parameter("examples", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            ]
        )
        lanes = [
            pytest.param(few, id=f"{few} examples"),
            pytest.param(many, id=f"{many} examples", marks=pytest.mark.statistics),
        ]
        return pytest.mark.parametrize("examples", lanes)(hunt)

    return decorated
