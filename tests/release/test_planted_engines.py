"""Engines that go wrong: the same bits, or a failure whose text tells nothing; never another answer, and one spend."""

import numpy as np
import pyarrow
import pytest

import equipoise as eq
from equipoise.errors import PrivateFailure
from equipoise.ledger import Ledger
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.questions import Expansion
from planted_engines import (
    CONSTANT,
    HARMFUL,
    HARMLESS,
    ROWS,
    Planted,
    another_later,
    encoding,
    lost,
    parts,
    schema,
)


class Changing(Planted):
    """A table whose first part has another row from the second pass on."""

    def answers(self, work, names, n_samples):
        if self.passes == 1:
            age = self._parts[0]._frame.to_native()["age"].to_pylist()
            self._parts = Planted(tables=[altered(parts()[0], [99.0, *age[1:]]), *parts()[1:]])._parts
        yield from super().answers(work, names, n_samples)


def altered(table, ages):
    return table.set_column(0, "age", pyarrow.array(ages))


def two_passes(table):
    rows = PartedRows(table, encoding(), ROWS)
    question = Expansion(encoding().problem.loss, np.full(3, 0.1), True)
    return [part.tobytes() for _ in range(2) for part in rows.sums(question)]


@pytest.fixture(scope="module")
def honest():
    return two_passes(Planted())


@pytest.mark.parametrize("fault", HARMLESS)
def test_parts_that_come_again_or_in_another_order_change_no_bit(honest, fault):
    assert two_passes(Planted(fault)) == honest


@pytest.mark.parametrize("fault", HARMFUL)
def test_parts_that_are_lost_or_are_not_what_they_were_never_give_an_answer(fault):
    with pytest.raises((ValueError, PrivateFailure)):
        two_passes(Planted(fault))


def test_rows_that_change_between_passes_never_give_an_answer():
    with pytest.raises(PrivateFailure):
        two_passes(Changing())


def ending(table, folder):
    """How a fit ends, with the spends that it left in a ledger."""
    ledger = f"sqlite:///{folder}/ledger.db#people"
    Ledger(ledger).create(eq.Budget(10.0, 1e-3), "basic")
    model = eq.LogisticRegression(epsilon=1.0, domain=schema(), mechanism="output", ledger=ledger)
    try:
        model.fit(table)
        told = "fitted"
    except PrivateFailure as error:
        told = f"{error} {error.__cause__} {error.__context__}"
    return told, len(Ledger(ledger).releases())


@pytest.mark.parametrize("fault", [*HARMLESS, *HARMFUL])
def test_a_fit_ends_in_a_model_or_in_the_constant_with_one_spend(tmp_path, fault):
    told = "fitted" if fault in HARMLESS else CONSTANT
    assert ending(Planted(fault), tmp_path) == (told, 1)


def test_a_fit_of_rows_that_change_ends_in_the_constant_with_one_spend(tmp_path):
    assert ending(Changing(), tmp_path) == (CONSTANT, 1)


@pytest.mark.parametrize("fault", [None, lost, another_later])
def test_neighbouring_tables_end_alike(tmp_path, fault):
    found = []
    for name, age in (("plain", 31.0), ("missing", None), ("huge", 1e308), ("endless", float("inf"))):
        (tmp_path / name).mkdir()
        first, *others = parts()
        table = Planted(fault, [altered(first, [age, *first["age"].to_pylist()[1:]]), *others])
        found.append(ending(table, tmp_path / name))
    assert len(set(found)) == 1


class Watched(Planted):
    """A table that says when it is made ready, gone through and let go."""

    def __init__(self, refusal=None):
        super().__init__()
        self.seen, self._refusal = [], refusal

    def ready(self):
        self.seen.append("ready")
        if self._refusal is not None:
            raise self._refusal

    def close(self):
        self.seen.append("closed")

    def answers(self, work, names, n_samples):
        self.seen.append("pass")
        yield from super().answers(work, names, n_samples)


def test_a_table_is_made_ready_before_the_spend_and_let_go_after_the_fit(tmp_path):
    table = Watched()
    assert ending(table, tmp_path) == ("fitted", 1)
    assert table.seen[0] == "ready"
    assert table.seen[-1] == "closed"
    assert set(table.seen[1:-1]) == {"pass"}


def test_a_table_that_is_not_ready_costs_nothing(tmp_path):
    table = Watched(eq.errors.InvalidParameter("a scheduler", "none", "start one"))
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    Ledger(ledger).create(eq.Budget(10.0, 1e-3), "basic")
    with pytest.raises(eq.errors.InvalidParameter, match="start one"):
        eq.LogisticRegression(epsilon=1.0, domain=schema(), ledger=ledger).fit(table)
    assert len(Ledger(ledger).history()) == 1
    assert table.seen == ["ready"]
