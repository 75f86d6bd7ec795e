"""A plan in a few lines: what stands among the three things to mind."""

import pytest

import equipoise as eq
from equipoise.cli.summary import summary
from equipoise.planning.notes import NOT_RECORDED


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 100.0])
def test_that_nobody_counts_the_spend_is_said_whatever_else_there_is_to_mind(epsilon):
    plan = eq.LogisticRegression(epsilon=epsilon, domain=eq.Domain(1.0, classes=(0, 1))).plan(500, 4)
    minded = [line.split(maxsplit=1)[1] for line in summary(plan) if line.startswith("  mind")]
    assert len(minded) == 3
    assert NOT_RECORDED in minded


def test_a_spend_that_a_ledger_keeps_is_not_called_unrecorded(tmp_path):
    ledger = f"sqlite:///{tmp_path / 'ledger.db'}#table"
    model = eq.LogisticRegression(epsilon=100.0, domain=eq.Domain(1.0, classes=(0, 1)), ledger=ledger)
    assert not any(NOT_RECORDED in line for line in summary(model.plan(500, 4)))
