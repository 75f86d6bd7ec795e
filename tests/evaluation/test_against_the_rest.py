"""One of several classes against all others: counts, bounds, refusals, the folder, its page and its card; attacks."""

import functools
import json
import math
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import brier_score_loss, roc_auc_score

import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.certify.certificate import Terms
from equipoise.certify.claims.evaluation import Cells
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.evaluation.evaluated import evaluated
from equipoise.evaluation.figure import Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.new_rows import NewRows
from equipoise.evaluation.several_classes import SeveralClasses
from equipoise.evaluation.two_classes import TwoClasses
from equipoise.lab.auditing import lower_bound
from equipoise.noise import SeededSource
from equipoise.planning.evaluation import EvaluationRequest, issue_evaluation, noise_on_counts
from equipoise.release.carriers import evaluation as carrier
from equipoise.release.carriers.evaluation import counted
from program import run_program

NO_NOISE = 60.0
FAILURE = 1e-6

DRAW = np.random.default_rng(0)
N = 6_000
ROWS = DRAW.uniform(-0.5, 0.5, (N, 3))
PLACES = np.digitize(ROWS[:, 0] + DRAW.normal(0, 0.2, N), (-0.2, 0.1, 0.35))
TEXTS = np.array(["a", "b", "c", "d"])[PLACES]
TRAINED, HELD = slice(0, 3_000), slice(3_000, N)


def fitted(labels: np.ndarray, classes: tuple, **more) -> eq.LogisticRegression:
    domain = eq.Domain(1.0, classes=classes)
    return eq.LogisticRegression(8.0, domain=domain, **more).fit(ROWS[TRAINED], labels[TRAINED])


@pytest.fixture(scope="module")
def model() -> eq.LogisticRegression:
    return fitted(TEXTS, ("a", "b", "c", "d"), random_state=0)


# What is counted


@pytest.mark.parametrize("place", [0, 2])
def test_without_noise_figures_are_those_of_the_classs_own_probability(model, place):
    label = "abcd"[place]
    found = eq.evaluate(model, ROWS[HELD], TEXTS[HELD], epsilon=NO_NOISE, positive=label, random_state=0)
    shares, own = model.predict_proba(ROWS[HELD])[:, place], TEXTS[HELD] == label
    assert found.claim.cells.labels == (f"not {label}", label)
    assert found.counts.counts.sum() == 3_000
    for true in (0, 1):
        bins = np.searchsorted(found.counts.edges, shares[own == bool(true)])
        assert found.counts.counts[0, true].tolist() == np.bincount(bins, minlength=found.counts.bins).tolist()
    figures = found.figures()
    assert isinstance(figures, TwoClasses)
    assert 0.5 in found.counts.edges
    assert figures.accuracy.value == pytest.approx(np.mean((shares > 0.5) == own), abs=1e-6)
    assert figures.auc.value == pytest.approx(roc_auc_score(own, shares), abs=0.01)
    assert figures.brier.value == pytest.approx(brier_score_loss(own, shares), abs=0.01)
    assert len(figures.roc[0]) == len(figures.precision) == len(found.counts.edges)
    assert found.certificate.verify() == ()


@pytest.mark.parametrize(
    ("labels", "classes", "positive"),
    [(PLACES, (0, 1, 2, 3), 2), (PLACES, (0, 1, 2, 3), np.int64(2)), (PLACES / 2, (0.0, 0.5, 1.0, 1.5), 1.0)],
    ids=["whole numbers", "of NumPy", "fractions"],
)
def test_classes_that_are_numbers_are_named_as_such(labels, classes, positive):
    made = fitted(labels, classes, random_state=0)
    found = eq.evaluate(made, ROWS[HELD], labels[HELD], epsilon=NO_NOISE, positive=positive, random_state=0)
    assert found.claim.cells.labels == (f"not {classes[2]}", classes[2])
    assert found.counts.counts[0, 1].sum() == (PLACES[HELD] == 2).sum()


def test_an_unknown_label_counts_as_the_first_class_as_in_training(model):
    labels = TEXTS[HELD].astype(object)
    labels[:7] = ["?", None, 3, "A", "", np.nan, "not a"]
    own = [(labels == label).sum() for label in ("a", "b")]
    for label, expected in (("a", own[0] + 7), ("b", own[1])):
        found = eq.evaluate(model, ROWS[HELD], labels, epsilon=NO_NOISE, positive=label, random_state=0)
        assert found.counts.counts[0, 1].sum() == expected


@given(
    weights=arrays(float, (4, 3), elements=st.floats(-9, 9)),
    intercepts=arrays(float, 4, elements=st.floats(-9, 9)),
    row=arrays(float, 3, elements=st.floats(-1, 1)),
    place=st.integers(0, 3),
)
def test_margins_lie_where_the_released_weights_say(model, weights, intercepts, row, place):
    found = evaluated(model, positive="abcd"[place])
    object.__setattr__(found, "weights", weights)
    object.__setattr__(found, "intercepts", intercepts)
    centre, reach = found._margins()
    row = row / max(1.0, float(np.linalg.norm(row)))
    margin = found._against((weights @ row + intercepts)[None])[0]
    assert abs(margin - centre) <= reach * (1 + 1e-9) + 1e-9


def test_groups_are_counted_apart_too():
    told = np.array(["f", "m"])[np.random.default_rng(3).integers(0, 2, N)]
    columns = (NumberColumn("x", (-0.5, 0.5)), CategoryColumn("sex", ("f", "m"), unknown="f"))
    schema = eq.Schema(3_000, columns, Target("stage", ("a", "b", "c", "d")), vouched_by="A", vouched_on="2026-11-16")
    frame = pd.DataFrame({"x": ROWS[:, 0], "sex": told, "stage": TEXTS})
    made = eq.LogisticRegression(8.0, domain=schema, random_state=0).fit(frame[TRAINED])
    found = eq.evaluate(made, frame[HELD], epsilon=NO_NOISE, positive="b", by="sex", random_state=0)
    for place, level in enumerate(("f", "m")):
        own = (told[HELD] == level) & (TEXTS[HELD] == "b")
        assert found.counts.counts[place, 1].sum() == own.sum()


# Refusals, before the spend


@functools.cache
def of_two() -> eq.LogisticRegression:
    return fitted(PLACES > 1, (False, True), random_state=0)


@functools.cache
def of_numbers() -> eq.Ridge:
    domain = eq.Domain(1.0, labels=(0.0, 3.0))
    return eq.Ridge(8.0, domain=domain, random_state=0).fit(ROWS, PLACES.astype(float))


REFUSED = {
    "no class of that name": (None, TEXTS, "e"),
    "the rest itself": (None, TEXTS, "not a"),
    "two classes": (of_two, PLACES > 1, True),
    "a regression": (of_numbers, PLACES, 1.0),
    "a target of numbers": (None, PLACES, "a"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_class_against_others_is_refused_before_the_spend(case, model, monkeypatch):
    other, labels, positive = REFUSED[case]
    made = model if other is None else other()
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    with pytest.raises((InvalidParameter, InvalidData)):
        eq.evaluate(made, ROWS, labels, epsilon=1.0, positive=positive, random_state=0)


# Privacy: the bound is attained, and planted faults are found

CELLS = Cells((0.2, 0.5, 0.8), ("not b", "b"))


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_a_neighbouring_pair_attains_the_bound(model, epsilon, witness):
    certificate = issue_evaluation(
        EvaluationRequest(Terms(2, 3), eq.Budget(epsilon), "id", "digest", CELLS, against_the_rest=True)
    )
    claim, found = certificate.claim, evaluated(model, positive="b")
    tables = []
    for truth in (np.array(["b", "a"]), np.array(["c", "a"])):
        target = found.known_target(_column(truth))
        codes = carrier.class_positions(target.read(), CELLS.labels)
        tables.append(counted(CELLS, found.scores(ROWS[:2]), codes, np.zeros(2, dtype=np.int64)))
    first, second = tables
    # Seen is the first table's count everywhere: each unit that the second lies off tells.
    loss = np.abs(first - second).sum() / claim.scale
    witness("N4", epsilon, loss, f"epsilon of one class's counts against the rest at {epsilon}")
    assert 0.999999 * epsilon <= loss <= epsilon
    assert claim.curve().delta(epsilon) == 0.0
    assert claim.curve().delta(0.999 * loss) > 0.0
    assert certificate.verify() == ()


def _column(values: np.ndarray):
    from equipoise.data.tables import target_column

    return target_column(values, len(values))


@given(data=st.data())
def test_whatever_a_row_is_replaced_by_two_counts_move_by_one_or_none(model, data):
    found, number = evaluated(model, positive="b"), st.floats(allow_nan=True, allow_infinity=True, width=32)
    row = st.tuples(st.lists(number, min_size=3, max_size=3), st.sampled_from(["a", "b", "c", "d", "?", ""]))
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    other, tables = [data.draw(row), *rows[1:]], []
    for table in (rows, other):
        features, truth = (np.array(each) for each in zip(*table, strict=True))
        with np.errstate(all="ignore"):
            codes = carrier.class_positions(found.known_target(_column(truth)).read(), CELLS.labels)
            tables.append(counted(CELLS, found.scores(features), codes, np.zeros(len(rows), dtype=np.int64)))
    moved = tables[0] - tables[1]
    assert tables[0].sum() == len(rows)
    assert sorted(moved[moved != 0].tolist()) in ([], [-1, 1])


class HalvedNoise(SeededSource):
    """A fault: half of the noise that was calibrated."""

    def add_whole(self, law, counts, scale):
        return super().add_whole(law, counts, scale / 2)


def evidence(model, label: str, seed: int, runs: int) -> np.ndarray:
    """How much the two counts of the bin in which all rows lie speak for a first row of class b rather than c."""
    rows, truth, found = np.full((3, 3), 0.1), np.array([label, "a", "a"]), []
    for run in range(runs):
        counts = eq.evaluate(model, rows, truth, epsilon=2.0, positive="b", random_state=seed + run).counts
        place = int(np.searchsorted(counts.edges, model.predict_proba(rows)[0, 1]))
        looked = counts.counts[0, :, place]
        found.append(np.clip(2 * looked[1] - 1, -1, 1) - np.clip(2 * looked[0] - 5, -1, 1))
    return np.array(found, dtype=float)


@pytest.mark.parametrize(("source", "caught"), [(SeededSource, False), (HalvedNoise, True)])
def test_an_audit_catches_halved_noise(model, monkeypatch, source, caught):
    monkeypatch.setattr("equipoise.evaluation.evaluate.noise_source", source)
    first, second = (evidence(model, label, seed, 400) for label, seed in (("b", 10**6), ("c", 2 * 10**6)))
    assert (lower_bound(first, second, 0.0, np.arange(-3.5, 4.0), FAILURE).epsilon > 2.0) is caught


def counted_for_every_class(cells, scores, truth, groups):
    """Count with a fault: a row is added once for each of the model's four classes, and paid for once."""
    return 4 * counted(cells, scores, truth, groups)


def test_an_audit_catches_a_row_that_is_counted_for_every_class(model, monkeypatch):
    monkeypatch.setattr(carrier, "counted", counted_for_every_class)

    def looked(label, seed):
        rows, truth, found = np.full((1, 3), 0.1), np.array([label]), []
        for run in range(400):
            counts = eq.evaluate(model, rows, truth, epsilon=2.0, positive="b", random_state=seed + run).counts
            place = int(np.searchsorted(counts.edges, model.predict_proba(rows)[0, 1]))
            found.append(np.clip(np.diff(counts.counts[0, :, place])[0], -4, 4))
        return np.array(found, dtype=float)

    first, second = looked("b", 10**6), looked("c", 2 * 10**6)
    assert lower_bound(first, second, 0.0, np.arange(-4.5, 5.0), FAILURE).epsilon > 2.0


# The folder, its page, the card, sets


COLUMNS = (NumberColumn("x", (-0.5, 0.5)), NumberColumn("z", (-0.5, 0.5)))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return the folders of a release, of its evaluation of one class, and the held-out rows' file."""
    place = tmp_path_factory.mktemp("stages")
    schema = eq.Schema(3_000, COLUMNS, Target("stage", ("a", "b", "c", "d")), vouched_by="A", vouched_on="2026-11-16")
    frame = pd.DataFrame({"x": ROWS[:, 0], "z": ROWS[:, 1], "stage": TEXTS})
    eq.save(eq.LogisticRegression(8.0, domain=schema).fit(frame[TRAINED]), place / "release")
    frame[HELD].to_csv(place / "held.csv", index=False)
    done = run_program(
        "evaluate", "release", "held.csv", "--rows", "3000", "--epsilon", "1", "--positive", "b", "--json", folder=place
    )
    assert done.returncode == 0, done.stderr
    return place, json.loads(done.stdout)


def test_the_command_writes_a_folder_that_holds_and_tells_the_area(folders):
    place, told = folders
    assert told["classes"] == ["not b", "b"]
    assert told["auc"]["low"] < told["auc"]["value"] < told["auc"]["high"]
    assert inspect(place / "evaluation").verdict[0] == 0
    done = run_program("verify", "evaluation", "--release", "release", folder=place)
    assert done.returncode == 0, done.stdout + done.stderr
    found = eq.Evaluation.load(place / "evaluation")
    assert any("b against all other classes" in line for line in found.certificate.caveats)
    assert "Counted was b against all others" in (place / "evaluation" / "report.html").read_text()


def test_labels_of_others_do_not_verify(folders, tmp_path):
    place, _ = folders
    shutil.copytree(place / "evaluation", tmp_path / "evaluation")
    path = tmp_path / "evaluation" / "certificate.json"
    record = json.loads(path.read_text())
    record["claim"]["cells"]["labels"] = ["not c", "c"]
    path.write_text(json.dumps(record))
    assert inspect(tmp_path / "evaluation").verdict[0] != 0


def test_the_card_says_what_was_counted(folders):
    place, _ = folders
    done = run_program("card", "release", "--evaluation", "evaluation", "--out", "card.md", folder=place)
    assert done.returncode == 0, done.stdout + done.stderr
    card = (place / "card.md").read_text()
    assert "Counted was b against all others" in card
    assert "AUC" in card


def test_sets_of_classes_are_refused_with_what_to_do(folders):
    place, _ = folders
    with pytest.raises(InvalidParameter, match="against the rest") as caught:
        NewRows(place / "release", place / "evaluation")
    assert "without --positive" in str(caught.value)


def test_the_command_names_the_classes_there_are(folders):
    place, _ = folders
    words = ("evaluate", "release", "held.csv", "--rows", "3000", "--epsilon", "1", "--positive", "e", "--out", "other")
    done = run_program(*words, folder=place)
    assert done.returncode != 0
    assert "choose from 'a', 'b', 'c', 'd'" in " ".join(done.stderr.split())
    assert not (place / "other").exists()


# Curves from a half on: of which class, and why they are empty


def test_curves_of_one_bin_say_what_they_would_take():
    noise, rows = noise_on_counts(eq.Budget(0.5), further=True), 1_000
    one = SeveralClasses(NoisyCounts((), np.full((1, 4, 4), 60), noise.law, noise.scale, rows)).against_the_rest(1)
    assert len(one.recall) == len(one.precision) == 0
    assert one.verdict.startswith("cannot be told from one bin of scores; it takes about ")
    times = float(one.verdict.split("about ")[1].split()[0])
    # With so many rows there are two bins, and with a fifth less one.
    from equipoise.planning.evaluation import bins

    assert bins(round(1.05 * times * rows), 4, noise) == 2
    assert bins(round(0.95 * times * rows), 4, noise) == 1
    assert math.isclose(times, float(one.verdict.split("or ")[1].split()[0]) ** 2, rel_tol=0.1)
    two = SeveralClasses(NoisyCounts((0.6,), np.full((1, 4, 8), 30), noise.law, noise.scale, rows)).against_the_rest(1)
    assert two.verdict == ""
    assert isinstance(two.recall[0], Figure)


def test_a_class_is_named_as_it_was_declared_and_no_other_has_figures():
    noise = noise_on_counts(eq.Budget(0.5), further=True)
    table = np.random.default_rng(0).integers(30, 90, (1, 3, 6))
    usual = SeveralClasses(NoisyCounts((0.6,), table, noise.law, noise.scale, int(table.sum())))
    named = SeveralClasses(
        NoisyCounts((0.6,), table, noise.law, noise.scale, int(table.sum()), labels=("mild", "2", "severe"))
    )
    for label, number in (("severe", 2), (2, 1), ("mild", 0)):
        one, other = named.against_the_rest(label), usual.against_the_rest(number)
        assert one.recall.value.tolist() == other.recall.value.tolist()
    for figures, label in ((usual, 3), (usual, -1), (usual, "severe"), (named, 0), (named, "ill")):
        with pytest.raises(InvalidParameter, match="choose from"):
            figures.against_the_rest(label)


def test_an_evaluations_figures_know_its_classes():
    model, rows = three_classes()
    found = eq.evaluate(model, rows, np.digitize(rows[:, 0], (-0.2, 0.2)) + 5, epsilon=50.0, random_state=0).figures()
    assert found.against_the_rest(7).recall.places == found.against_the_rest("7").recall.places
    with pytest.raises(InvalidParameter, match="choose from 5, 6, 7"):
        found.against_the_rest(0)


def three_classes() -> tuple[eq.LogisticRegression, np.ndarray]:
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (900, 3))
    made = eq.LogisticRegression(8.0, domain=eq.Domain(1.0, classes=(5, 6, 7)), random_state=0)
    return made.fit(rows, np.digitize(rows[:, 0], (-0.2, 0.2)) + 5), rows
