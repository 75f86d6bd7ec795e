"""Descents on persons of tables that are never held: the steps of the memory, in the same secret order."""

import secrets
import shutil

import numpy as np
import pyarrow
import pytest
from sklearn.base import clone

import equipoise as eq
from equipoise.data.engines import open_table, person_piles
from equipoise.data.engines.person_piles import PersonPiles
from equipoise.data.engines.piles import BYTES_BESIDES, PILE_BYTES
from equipoise.data.engines.stream import StreamTable
from equipoise.data.frames import FrameTable
from equipoise.data.scratch import VARIABLE
from equipoise.errors import InvalidParameter, PrivateFailure
from equipoise.ledger import Ledger
from equipoise.noise import SeededSource
from equipoise.release.dealt_persons import DealtPersons
from equipoise.release.dealt_rows import Turns
from person_tables import MOST, PERSONS, person_schema, person_table, written

COLUMNS = 2


@pytest.fixture(autouse=True)
def small_piles(monkeypatch, tmp_path_factory):
    """About five piles of twenty persons."""
    monkeypatch.setattr(person_piles, "PILE_BYTES", 20 * MOST * (8 * (COLUMNS + 3) + BYTES_BESIDES))
    monkeypatch.setenv(VARIABLE, str(tmp_path_factory.mktemp("scratch")))


@pytest.fixture
def before_noise(monkeypatch):
    """What noise is added to, in the order of additions."""
    seen, add = [], SeededSource.add

    def watched(self, law, weights, scale):
        seen.append(weights.copy())
        return add(self, law, weights, scale)

    monkeypatch.setattr(SeededSource, "add", watched)
    return seen


def stream(table=None):
    return StreamTable(FrameTable(person_table() if table is None else table))


RECIPES = {
    "one order": {"batch_size": 8, "passes": 4},
    "single persons": {"batch_size": 1, "passes": 1},
    "a batch that is a pile": {"batch_size": 20, "passes": 3},
    "decay": {"step": "decay", "alpha": 0.1, "batch_size": 5},
    "corners": {"loss": "hinge", "delta": 1e-6, "clip": 0.5, "radius": 2.0, "passes": 2, "step": 0.01},
    "no constant": {"fit_intercept": False, "batch_size": 3},
    "class weights": {"class_weight": {"no": 1.0, "yes": 0.5}, "batch_size": 4},
    "suffix mean": {"average": "suffix", "batch_size": 4},
}


SLOW = ("corners", "class weights")


@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param(recipe, id=name, marks=[pytest.mark.statistics] if name in SLOW else [])
        for name, recipe in RECIPES.items()
    ],
)
def test_streamed_steps_are_those_of_memory_in_the_same_secret_order(tmp_path, before_noise, recipe):
    path = written(tmp_path / "rows", person_table())
    model = eq.SGDClassifier(epsilon=1.0, domain=person_schema(), random_state=0, **recipe)
    held, streamed = (clone(model).fit(open_table(path, engine=engine)) for engine in ("memory", "stream"))
    assert held.certificate_.digest == streamed.certificate_.digest
    if "average" not in recipe:
        assert before_noise[0].tobytes() == before_noise[1].tobytes()
    # A mean adds the same weights in other groups: SGD-rounding, part 5.
    assert before_noise[0] == pytest.approx(before_noise[1], rel=1e-12)


def test_phases_are_those_of_memory(before_noise):
    for table in (FrameTable(person_table()), stream()):
        eq.PhasedClassifier(epsilon=1.0, domain=person_schema(), random_state=0).fit(table)
    phases = len(before_noise) // 2
    assert np.array(before_noise[:phases]) == pytest.approx(np.array(before_noise[phases:]), rel=1e-11)


def test_the_order_is_secret_and_not_the_public_seed_s(before_noise):
    for noise_seed, public_seed in ((0, 0), (0, 1), (1, 0)):
        model = eq.SGDClassifier(
            epsilon=1.0, domain=person_schema(), random_state=noise_seed, public_seed=public_seed, batch_size=8
        )
        model.fit(stream())
    assert before_noise[0].tobytes() == before_noise[1].tobytes()
    assert before_noise[0].tobytes() != before_noise[2].tobytes()


# --- persons at places ------------------------------------------------------------------------------------------------


def piled(counts, places, batch):
    """Persons with so many rows each, which come one of everybody after the other; a row's target is its slot."""
    piles = PersonPiles(places, MOST, COLUMNS, batch)
    for turn in range(max(counts)):
        slots = np.flatnonzero(np.array(counts) > turn)
        shares = 1.0 / np.array(counts)[slots]
        piles.add(slots, np.full((len(slots), COLUMNS), turn), slots.astype(float), shares)
    piles.finish()
    return piles


def met(hand, batch):
    """The slots that each step of a hand meets, and the rows of each, in order."""
    found = []
    for first in range(0, len(hand.order), batch):
        for person in hand.order[first : first + batch]:
            rows = hand.persons.rows[hand.persons.starts[person] : hand.persons.starts[person + 1]]
            found.append((hand.targets[rows].tolist(), hand.arrays.matrix[rows, 0].tolist(), hand.persons.shares[rows]))
    return found


def dealt(piles):
    problem = eq.LogisticRegression(1.0, domain=person_schema(), mechanism="output").plan().claim.problem
    return DealtPersons(piles, problem, 0)


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("batch", [1, 7, 20])
def test_a_pass_meets_everybody_once_with_all_rows_in_whole_batches(batch, fresh):
    coins = np.random.default_rng(1)
    counts, places = coins.integers(0, MOST + 1, PERSONS), coins.permutation(PERSONS)
    with piled(counts, places, batch) as piles:
        assert len(piles.ends) > 4
        hands, orders = dealt(piles).passes(batch, fresh), []
        for _ in range(2):
            order = []
            while len(order) < PERSONS:
                hand = next(hands)
                order += met(hand, batch)
                assert len(order) == PERSONS or len(hand.order) % batch == 0
            # Everybody who has rows, with the rows in the table's order and their shares.
            found = {owners[0]: (owners, rows, shares) for owners, rows, shares in order if owners}
            assert len(found) == np.count_nonzero(counts)
            for slot, (owners, rows, shares) in found.items():
                count = counts[int(slot)]
                assert owners == [slot] * count
                assert rows == list(range(count))
                assert set(shares) == {1.0 / count}
            orders.append([owners[:1] for owners, _, _ in order])
        in_places = [[float(slot)] if counts[slot] else [] for slot in np.argsort(places)]
        assert [order == in_places for order in orders] == ([False, False] if fresh else [True, True])
        assert (orders[0] == orders[1]) != fresh


def test_draws_are_fetched_with_all_rows_and_phases_share_nobody():
    coins = np.random.default_rng(2)
    counts, places = 1 + np.arange(PERSONS) % MOST, coins.permutation(PERSONS)
    with piled(counts, places, 1) as piles:
        drawn = coins.integers(PERSONS, size=300)
        owners = [found[0][0] for found in met(dealt(piles).drawn(drawn), 1)]
        assert places[np.array(owners, dtype=int)].tolist() == drawn.tolist()
        turns, phases = Turns(dealt(piles).passes(1, fresh=False)), []
        for persons in (50, 1, 30):
            phases += [found[0][0] for hand in turns.next_rows(persons) for found in met(hand, 1)]
        assert phases == np.argsort(places)[:81].tolist()


# --- how a fit ends ---------------------------------------------------------------------------------------------------

KINDS = {
    "sgd": eq.SGDClassifier(1.0, batch_size=1, passes=2),
    "fresh": eq.SGDClassifier(1.0, order="fresh", batch_size=8, passes=2.5),
    "drawn": eq.SGDClassifier(1.0, 1e-6, order="replacement", batch_size=4, passes=2),
    "dropout": eq.SGDClassifier(1.0, 1e-6, dropout=0.4, skip=0.3, batch_size=8, passes=2),
    "noisy sgd": eq.NoisySGDClassifier(1.0, 1e-6, batch_size=2, passes=2),
    "phased": eq.PhasedClassifier(1.0, 1e-6),
    "sampled gradients": eq.LogisticRegression(1.0, 1e-6, mechanism="noisy-gradient:2"),
}


def ending(model, table, folder, schema=None):
    """How a fit ends, and how many spends it leaves in a ledger."""
    ledger = f"sqlite:///{folder}/{secrets.token_hex(8)}.db#patients"
    Ledger(ledger).create(eq.Budget(10.0, 1e-3), "basic")
    try:
        clone(model).set_params(domain=schema or person_schema(), ledger=ledger).fit(table)
        told = "fitted"
    except (PrivateFailure, InvalidParameter) as error:
        told = f"{type(error).__name__}: {error} {error.__cause__} {error.__context__}"
    return told, len(Ledger(ledger).releases())


@pytest.mark.parametrize("name", KINDS)
def test_no_person_s_rows_decide_how_a_fit_ends(tmp_path, name):
    whole = person_table()
    tables = {
        "as it is": whole,
        "nobody": whole.slice(0, 0),
        "one": whole.filter(pyarrow.compute.equal(whole["patient"], "many")),
        "no numbers": whole.set_column(0, "age", pyarrow.array([float("nan")] * len(whole))),
    }
    for table in tables.values():
        # Some persons more than there are: they have no rows.
        assert ending(KINDS[name], stream(table), tmp_path, person_schema(PERSONS + 30)) == ("fitted", 1)


def test_a_table_whose_ids_change_after_they_were_grouped_is_the_constant_failure(tmp_path, monkeypatch):
    passes, batches = [], FrameTable.batches

    def other(self, names):
        passes.append(1)
        for batch in batches(self, names):
            if len(passes) > 1 and "patient" in batch:
                batch["patient"] = np.roll(np.asarray(batch["patient"], dtype=object), 1)
            yield batch

    monkeypatch.setattr(FrameTable, "batches", other)
    assert ending(KINDS["sgd"], stream(), tmp_path) == (f"PrivateFailure: {PrivateFailure()} None None", 1)


def test_a_disk_that_is_full_after_the_spend_is_the_constant_failure(tmp_path, monkeypatch):
    def full(self):
        raise OSError(28, "12 rows did not fit")

    monkeypatch.setattr(PersonPiles, "finish", full)
    assert ending(KINDS["sgd"], stream(), tmp_path) == (f"PrivateFailure: {PrivateFailure()} None None", 1)


def test_what_memory_or_disk_cannot_hold_is_refused_before_the_spend(tmp_path, monkeypatch):
    found = [ending(eq.SGDClassifier(1.0, batch_size=21), stream(), tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr(person_piles, "WAITING_BYTES", 100)
        found.append(ending(KINDS["sgd"], stream(), tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(0, 0, 1000))
        found.append(ending(KINDS["sgd"], stream(), tmp_path))
    monkeypatch.setattr(person_piles, "PILE_BYTES", PILE_BYTES)
    # More than it takes to group them.
    found.append(ending(KINDS["sgd"], stream(), tmp_path, person_schema(10**7)))
    for (told, spends), remedy in zip(
        found, ("take smaller batches", "fewer rows a person", "larger disk", "EQUIPOISE_MEMORY_LIMIT"), strict=True
    ):
        assert remedy in told
        assert spends == 0
