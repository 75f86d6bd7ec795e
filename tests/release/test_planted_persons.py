"""Engines that go wrong on rows of persons: the same bits, or the constant failure with one spend; nothing else."""

import contextlib

import numpy as np
import pyarrow
import pytest

import equipoise as eq
from equipoise.data.encoded import encoded_table
from equipoise.data.frames import FrameTable
from equipoise.errors import PrivateFailure
from equipoise.ledger import Ledger
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.questions import Expansion
from person_tables import PERSONS, in_parts, person_schema, person_table
from planted_engines import CONSTANT, HARMFUL, HARMLESS, Planted, backwards, lost, twice

# The first pass groups, the second sees ids and rows together, the third sees rows alone.
PASSES = (1, 2, 3)


def only_in(number, fault):
    return lambda passes, found: fault(passes, found) if passes == number else found


def lost_at_the_end(_, found):
    return found[:-1]


def planted(fault=None, tables=None):
    return Planted(fault, tables or in_parts(person_table()))


def two_passes(table):
    schema = person_schema()
    claim = eq.LogisticRegression(1.0, domain=schema, mechanism="output").plan().claim
    parts = encoded_table(schema, table, PERSONS).features.parts
    rows = PartedRows(parts.table, parts.pieces(claim.problem, ("no", "yes"), None), PERSONS)
    question = Expansion(claim.problem.loss, np.full(3, 0.1), True)
    with contextlib.closing(parts.table):
        return [part.tobytes() for _ in range(2) for part in rows.sums(question)]


@pytest.fixture(scope="module")
def honest():
    return two_passes(planted())


@pytest.mark.parametrize("fault", [*HARMLESS, *(only_in(number, twice) for number in PASSES), only_in(1, backwards)])
def test_parts_that_come_again_or_in_another_order_change_no_bit(honest, fault):
    assert two_passes(planted(fault)) == honest


@pytest.mark.parametrize("fault", [*HARMFUL, lost_at_the_end, *(only_in(number, lost) for number in PASSES)])
def test_parts_that_are_lost_or_are_not_what_they_were_never_give_an_answer(fault):
    with pytest.raises((ValueError, PrivateFailure)):
        two_passes(planted(fault))


class Moving(Planted):
    """A table whose last rows change places, or persons, after some pass; where rows stand they count by."""

    def __init__(self, after, change):
        super().__init__(tables=in_parts(person_table()))
        self._after, self._change = after, change

    def answers(self, work, names, n_samples):
        yield from super().answers(work, names, n_samples)
        if self.passes == self._after:
            *others, last = in_parts(person_table())
            self._parts = [FrameTable(part).with_ids(self.ids) for part in (*others, self._change(last))]


def turned(table):
    return table.take(pyarrow.array(np.arange(len(table))[::-1]))


def other_ids(table):
    return table.set_column(1, "patient", pyarrow.array(["eve"] * len(table)))


@pytest.mark.parametrize("change", [turned, other_ids])
def test_rows_that_move_between_grouping_and_the_first_sum_never_give_an_answer(change):
    with pytest.raises(PrivateFailure):
        two_passes(Moving(1, change))


def test_rows_that_move_later_never_give_an_answer():
    with pytest.raises(PrivateFailure):
        two_passes(Moving(2, turned))


def ending(table, folder):
    ledger = f"sqlite:///{folder}/ledger.db#people"
    Ledger(ledger).create(eq.Budget(10.0, 1e-3), "basic")
    try:
        eq.LogisticRegression(1.0, domain=person_schema(), mechanism="output", ledger=ledger).fit(table)
        told = "fitted"
    except PrivateFailure as error:
        told = f"{error} {error.__cause__} {error.__context__}"
    return told, len(Ledger(ledger).releases())


@pytest.mark.parametrize("fault", [None, twice, lost, only_in(1, lost), only_in(3, lost)])
def test_a_fit_ends_in_a_model_or_in_the_constant_with_one_spend(tmp_path, fault):
    told = "fitted" if fault in HARMLESS else CONSTANT
    assert ending(planted(fault), tmp_path) == (told, 1)


@pytest.mark.parametrize("fault", [None, lost])
def test_neighbouring_tables_end_alike(tmp_path, fault):
    first, *others = in_parts(person_table())
    found = []
    for rows in (0, 1, 1000):
        (tmp_path / f"{rows}").mkdir()
        replaced = first.slice(0, 1).set_column(1, "patient", pyarrow.array(["another"]))
        table = planted(fault, [pyarrow.concat_tables([first, *[replaced] * rows]), *others])
        found.append(ending(table, tmp_path / f"{rows}"))
    assert len(set(found)) == 1
