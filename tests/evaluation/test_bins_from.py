"""Bins where an earlier evaluation saw scores: edges follow from what was released alone, intervals hold, refusals."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom

import equipoise as eq
from equipoise.artifact.findings import bins_faults, findings_of
from equipoise.data.schema import NumberColumn, Target
from equipoise.errors import InvalidParameter
from equipoise.evaluation.evaluated import evaluated
from equipoise.evaluation.ranking import above
from equipoise.evaluation.two_classes import TwoClasses
from equipoise.lab.auditing import lower_bound
from equipoise.noise import SeededSource
from equipoise.planning.bins_from import edges_where, seen
from looked_worlds import Spends, counted, holds
from noisy_worlds import Cell, two_classes
from program import run_program

FAILURE = 1e-6

ROWS = np.random.default_rng(0).uniform(-0.5, 0.5, (2_400, 3))
LABELS = (ROWS[:, 0] + np.random.default_rng(1).normal(0, 0.2, 2_400) > 0.3).astype(int)
TRAINED, HELD = slice(0, 1_200), slice(1_200, 2_400)


@functools.cache
def model(seed: int | None = None) -> eq.LogisticRegression:
    made = eq.LogisticRegression(4.0, domain=eq.Domain(1.0, classes=(0, 1)), random_state=seed)
    return made.fit(ROWS[TRAINED], LABELS[TRAINED])


@functools.cache
def first() -> eq.Evaluation:
    return eq.evaluate(model(), ROWS[HELD], LABELS[HELD], epsilon=0.5)


# The rule


@given(
    rows=arrays(float, (2, 6), elements=st.floats(-1e4, 1e6)),
    margins=st.lists(st.floats(-30, 30), min_size=5, max_size=5, unique=True),
    most=st.integers(2, 50),
    deviation=st.floats(1e-6, 1e5),
    reach=st.sampled_from([(-31.0, 31.0), (0.0, 0.0), (2.0, 31.0), (-31.0, -2.0), (-31.0, 0.0)]),
)
def test_whatever_noise_made_of_counts_edges_ascend_and_0_is_one(rows, margins, most, deviation, reach):
    found = edges_where(seen(rows, np.sort(margins), reach, deviation), 10_000, 6.0, most)
    assert 0.0 in found
    assert 1 <= len(found) < most
    assert all(low < high for low, high in itertools.pairwise(found))
    assert min(reach[0], 0.0) <= found[0] <= found[-1] <= max(reach[1], 0.0)


FINE = np.linspace(-5, 5, 60)


def edges_of_law(share: float, deviation: float = 6.0, most: int = 50) -> tuple[float, ...]:
    rows = 10_000 * Spends(10_000, share, 1.0, 1.0).chances(FINE)
    return edges_where(seen(rows, FINE, (-6.0, 6.0), 1e-3), 10_000, deviation, most)


def doubt(edges: tuple[float, ...], share: float, deviation: float = 6.0) -> float:
    """Length of the area's interval and what bins hide, in deviations of sampling, by the very chances of bins."""
    spends, count = Spends(10_000, share, 1.0, 1.0), len(edges) + 1
    classes = spends.chances(edges)
    zero, one = classes / classes.sum(axis=1, keepdims=True)
    rows = 10_000 * classes.sum(axis=1)
    below, over = above(count) @ zero, one @ above(count)
    area = one @ below
    sampling = (one @ (below - area) ** 2) / rows[1] + (zero @ (over - area) ** 2) / rows[0]
    noise = deviation**2 * (np.sum((below - area) ** 2) / rows[1] ** 2 + np.sum((over - area) ** 2) / rows[0] ** 2)
    return 3.92 * np.sqrt(1 + noise / sampling) + (spends.area - area) / np.sqrt(sampling)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_no_edge_can_be_moved_added_or_left_out_for_less_doubt_where_nothing_is_noise(share):
    edges = edges_of_law(share)
    least = doubt(edges, share)
    others = [
        *(tuple(each for each in edges if each != one) for one in edges if one != 0.0),
        *(
            (*edges[:place], edge + step, *edges[place + 1 :])
            for place, edge in enumerate(edges)
            for step in (-0.1, 0.1)
        ),
        *(tuple(sorted((*edges, 0.5 * (low + high)))) for low, high in itertools.pairwise(edges)),
    ]
    # Laws are interpolated, the rarer one is the other's tilted, and places are a fifteenth of a unit apart.
    assert all(doubt(tuple(sorted(each)), share) > least - 0.02 for each in others)
    assert least < doubt(tuple(np.linspace(-3, 3, len(edges))), share) - 0.2


def test_fewer_rare_rows_and_more_noise_have_fewer_bins_and_no_score_more_than_it_may_have():
    found = [len(edges_of_law(share)) for share in (0.5, 0.25, 0.1, 0.05, 0.01)]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) >= 4
    assert len(edges_of_law(0.1, 20.0)) < len(edges_of_law(0.1))
    assert len(edges_of_law(0.5, most=10)) == 9
    assert len(edges_of_law(0.01, 1e4)) == 5


# What edges depend on


def test_edges_follow_from_what_was_released_and_from_no_row():
    other = eq.evaluate(model(), np.zeros((1_200, 3)), np.zeros(1_200, dtype=int), epsilon=0.5)
    plans = [
        eq.evaluate(model(), rows, labels, epsilon=1.0, bins_from=looked)
        for rows, labels, looked in (
            (ROWS[HELD], LABELS[HELD], first()),
            (np.zeros((1_200, 3)), np.zeros(1_200, dtype=int), first()),
            (ROWS[HELD], LABELS[HELD], other),
        )
    ]
    assert plans[0].certificate.planned_digest == plans[1].certificate.planned_digest
    assert plans[0].claim.cells.edges != plans[2].claim.cells.edges
    assert 0.5 in plans[0].claim.cells.edges
    assert plans[0].certificate.verify() == ()
    assert first().certificate.release.id in str(plans[0].certificate.notes)
    assert plans[0].claim.cells.bins_from == first().certificate.release.id
    assert first().claim.cells.bins_from is None


def test_both_spends_are_counted():
    with eq.account(epsilon=1.0) as account:
        looked = eq.evaluate(model(), ROWS[HELD], LABELS[HELD], epsilon=0.25)
        eq.evaluate(model(), ROWS[HELD], LABELS[HELD], epsilon=0.5, bins_from=looked)
        assert account.spent.epsilon == 0.75


class QuietLook(SeededSource):
    """A fault: the first look's noise, which is the loudest, is forgotten."""

    def add_whole(self, law, counts, scale):
        return counts if scale > 3.0 else super().add_whole(law, counts, scale)


def table(side: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of two scores, the first of which lies on this side of the decision.

    Nine rows of class 0 on one side are just as many as the rule takes for more than noise: with one fewer there are
    none for it.
    """
    rows = np.full((30, 3), -0.2)
    rows[:9] = 0.2
    rows[0] *= side
    return rows, np.array([*(0 for _ in range(21)), *(1 for _ in range(9))])


def edges_of(side: float, seed: int) -> tuple[float, ...]:
    """Return the edges that follow from a look of epsilon 0.5 at that table."""
    looked = eq.evaluate(model(0), *table(side), epsilon=0.5, random_state=seed)
    return eq.evaluate(model(0), *table(1.0), epsilon=1.5, bins_from=looked, random_state=seed).claim.cells.edges


@functools.cache
def exact_edges() -> tuple[float, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("equipoise.evaluation.evaluate.noise_source", QuietLook)
        return edges_of(-1.0, 0)


@pytest.mark.parametrize(("source", "caught"), [(SeededSource, False), (QuietLook, True)])
def test_an_attack_on_the_edges_finds_a_look_without_noise(monkeypatch, source, caught):
    exact_edges()
    monkeypatch.setattr("equipoise.evaluation.evaluate.noise_source", source)
    one, other = (
        np.array([float(edges_of(side, seed + run) == exact_edges()) for run in range(60)])
        for side, seed in ((-1.0, 10**6), (1.0, 2 * 10**6))
    )
    # Edges are a function of the look alone, which cost 0.5.
    assert (lower_bound(one, other, 0.0, np.array([0.5]), FAILURE).epsilon > 0.5) is caught


# Refusals, before the spend


@functools.cache
def of_three() -> eq.LogisticRegression:
    labels = np.digitize(ROWS[:, 0], (-0.2, 0.2))
    return eq.LogisticRegression(8.0, domain=eq.Domain(1.0, classes=(0, 1, 2))).fit(ROWS, labels)


@functools.cache
def of_numbers() -> eq.Ridge:
    return eq.Ridge(8.0, domain=eq.Domain(1.0, labels=(-1.0, 1.0))).fit(ROWS, ROWS[:, 0])


@functools.cache
def seeded() -> eq.Evaluation:
    return eq.evaluate(model(), ROWS[HELD], LABELS[HELD], epsilon=0.5, random_state=0)


@functools.cache
def of_another() -> eq.Evaluation:
    made = eq.LogisticRegression(4.0, domain=eq.Domain(1.0, classes=(0, 1))).fit(ROWS, LABELS)
    return eq.evaluate(made, ROWS[HELD], LABELS[HELD], epsilon=0.5)


@functools.cache
def of_a_class() -> eq.Evaluation:
    return eq.evaluate(of_three(), ROWS, np.digitize(ROWS[:, 0], (-0.2, 0.2)), epsilon=0.5, positive=1)


def altered(made: eq.Evaluation, **changes) -> eq.Evaluation:
    return replace(made, certificate=replace(made.certificate, **changes))


def other_counts() -> eq.Evaluation:
    claim = first().claim
    return altered(first(), claim=replace(claim, released=(9_999, *claim.released[1:])))


def hidden_seed() -> eq.Evaluation:
    return altered(seeded(), terms=replace(seeded().certificate.terms, seeded=False))


REFUSED = {
    "other counts": (model, {}, other_counts, "certificate fails: digest"),
    "a seed that is denied": (model, {}, hidden_seed, "certificate fails: digest"),
    "a seeded look": (model, {}, seeded, "bins_from a seeded one"),
    "another release": (model, {}, of_another, "another release"),
    "other classes": (of_three, {"positive": 2}, of_a_class, "same positive"),
    "several classes": (of_three, {}, of_a_class, "positive="),
    "a regression": (of_numbers, {}, first, "a regression"),
    "no evaluation": (model, {}, lambda: 0.5, "a float"),
}


def test_noise_beyond_any_table_is_refused_before_the_spend_by_the_loudest_of_counts(monkeypatch):
    # 8 times as much noise is on the counts by the true class's share: at 1e-11 that alone is too much.
    made = of_three()
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    with pytest.raises(InvalidParameter, match="more noise, than any table has"):
        eq.evaluate(made, ROWS, LABELS, epsilon=1e-11)


@pytest.mark.parametrize("case", REFUSED)
def test_what_says_nothing_of_these_scores_is_refused_before_the_spend(case, monkeypatch):
    made, more, looked, words = REFUSED[case]
    made, looked = made(), looked()
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    with pytest.raises(InvalidParameter, match=words):
        eq.evaluate(made, ROWS[HELD], LABELS[HELD], epsilon=1.0, bins_from=looked, **more)


def test_one_class_against_the_rest_can_be_looked_at_first():
    labels = np.digitize(ROWS[:, 0], (-0.2, 0.2))
    found = eq.evaluate(of_three(), ROWS, labels, epsilon=1.0, positive=1, bins_from=of_a_class())
    assert isinstance(found.figures(), TwoClasses)
    assert found.claim.cells.edges != of_a_class().claim.cells.edges


def test_the_command_takes_the_folder_of_a_look(tmp_path):
    schema = eq.Schema(
        1_200, (NumberColumn("x", (-0.5, 0.5)),), Target("ill", ("no", "yes")), vouched_by="A", vouched_on="2026-11-16"
    )
    frame = pd.DataFrame({"x": ROWS[:, 0], "ill": np.where(LABELS == 1, "yes", "no")})
    eq.save(eq.LogisticRegression(4.0, domain=schema).fit(frame[TRAINED]), tmp_path / "release")
    frame[HELD].to_csv(tmp_path / "held.csv", index=False)
    words = ("evaluate", "release", "held.csv", "--rows", "1200", "--epsilon")
    assert run_program(*words, "0.25", "--out", "look", folder=tmp_path).returncode == 0
    done = run_program(*words, "0.75", "--bins-from", "look", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    look, found = (eq.Evaluation.load(tmp_path / name) for name in ("look", "evaluation"))
    assert found.claim.cells.edges != look.claim.cells.edges
    assert run_program("verify", "evaluation", "--release", "release", folder=tmp_path).returncode == 0
    done = run_program(*words, "1", "--look", "0.25", "--out", "both", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert eq.Evaluation.load(tmp_path / "both").certificate.claim.kind == "looked"
    checked = run_program("verify", "both", "--release", "release", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout


# A look within one spend


def looked(seed: int | None = None, **settings) -> eq.Evaluation:
    settings = {"epsilon": 1.0, "look": 0.25} | settings
    return eq.evaluate(model(seed), ROWS[HELD], LABELS[HELD], random_state=seed, **settings)


def test_a_look_is_one_spend_with_one_certificate_that_holds_both_counts():
    model(None)  # as `looked` asks for it: trained before, outside of the account
    with eq.account(epsilon=1.0) as account:
        made = looked()
        assert account.spent.epsilon == 1.0
    whole = made.certificate.claim
    look, planned = whole.of
    assert (whole.kind, made.certificate.kind, made.certificate.epsilon) == ("looked", "evaluation", 1.0)
    assert (look.budget.epsilon, planned.budget.epsilon) == (0.25, 0.75)
    assert made.certificate.verify() == ()
    assert made.claim == whole.released
    assert None not in (look.released, made.claim.released)
    assert planned.released is None
    assert (made.claim.noise.law, made.claim.noise.scale) == (planned.noise.law, planned.noise.scale)
    assert 0.5 in made.claim.cells.edges
    assert made.claim.cells.edges not in (look.cells.edges, planned.cells.edges)
    assert "first look" in made.certificate.explain()


FORGED = {
    "classes swapped": ("not of one release", lambda whole: changed(whole, cells={"labels": (1, 0)})),
    "another release": (
        "not of one release",
        lambda whole: replace(whole, of=(replace(whole.of[0], release="another"), whole.of[1])),
    ),
    "no counts of the look": (
        "whose own counts are not there",
        lambda whole: replace(whole, of=(replace(whole.of[0], released=None), whole.of[1])),
    ),
}


def changed(whole, cells):
    return replace(whole, released=replace(whole.released, cells=replace(whole.released.cells, **cells)))


@pytest.mark.parametrize("name", FORGED)
def test_a_look_and_counts_that_are_not_of_one_release_fail_the_check(name):
    made = looked(3)
    assert list(bins_faults(made.certificate)) == []
    words, forged = FORGED[name]
    other = replace(made.certificate, claim=forged(made.certificate.claim))
    assert [line for line in bins_faults(other) if words in line]


def test_edges_after_a_look_are_those_that_its_counts_give_and_no_row_does():
    made = looked(0)
    look = eq.Evaluation(replace(made.certificate, claim=made.certificate.claim.of[0]))
    found = evaluated(model(0), "", None).after(look.claim)
    assert found.cells(1_200, made.claim.noise).edges == made.claim.cells.edges
    # The plan, under which a ledger records the spend, is that of any other rows.
    other = eq.evaluate(model(0), np.zeros((1_200, 3)), LABELS[HELD], epsilon=1.0, look=0.25, random_state=1)
    assert other.certificate.planned_digest == made.certificate.planned_digest
    assert other.claim.cells.edges != made.claim.cells.edges


@pytest.mark.parametrize(("source", "caught"), [(SeededSource, False), (QuietLook, True)])
def test_an_attack_on_the_edges_finds_a_look_without_noise_in_one_spend(monkeypatch, source, caught):
    def edges(side: float, seed: int) -> tuple[float, ...]:
        made = eq.evaluate(model(0), *table(side), epsilon=2.0, look=0.25, random_state=seed)
        return made.claim.cells.edges

    monkeypatch.setattr("equipoise.evaluation.evaluate.noise_source", QuietLook)
    exact = edges(-1.0, 0)
    monkeypatch.setattr("equipoise.evaluation.evaluate.noise_source", source)
    one, other = (
        np.array([float(edges(side, seed + run) == exact) for run in range(60)])
        for side, seed in ((-1.0, 10**6), (1.0, 2 * 10**6))
    )
    # Edges are a function of the look alone, which cost a quarter of 2.
    assert (lower_bound(one, other, 0.0, np.array([0.5]), FAILURE).epsilon > 0.5) is caught


def test_what_was_counted_is_what_was_planned_and_both_are_paid_for():
    claim = looked(0).certificate.claim
    look, planned = claim.of
    quiet = replace(claim.released, noise=replace(claim.released.noise, scale=claim.released.noise.scale / 2))
    assert claim.check() == ()
    assert replace(claim, of=(replace(look, released=None), planned), released=None).check() == ()
    for changed in (
        replace(claim, released=quiet),
        replace(claim, released=replace(claim.released, released=None)),
        replace(claim, released=look),
        replace(claim, of=(look, claim.released)),
        replace(claim, of=(planned,)),
        replace(claim, budget=eq.Budget(0.9)),
        replace(claim, of=(replace(look, n_samples=1_199), planned)),
    ):
        assert changed.check() != ()


def resealed(made: eq.Evaluation, **cells) -> eq.Evaluation:
    """Return an evaluation whose certificate says something else of its cells, with a digest that fits."""
    certificate = made.certificate
    claim = replace(certificate.claim, cells=replace(certificate.claim.cells, **cells))
    return replace(made, certificate=certificate.with_release(claim, certificate.release))


def test_bins_cannot_follow_from_this_very_evaluation_or_from_none_and_verify_says_what_it_cannot_tell():
    after = eq.evaluate(model(), ROWS[HELD], LABELS[HELD], epsilon=1.0, bins_from=first())
    earlier, own = (made.certificate.release.id for made in (first(), after))

    def told(made: eq.Evaluation):
        return findings_of({name: text.encode() for name, text in made.files().items()})

    assert told(after).faults == ()
    assert any(earlier in line and "adds to this one" in line for line in told(after).lines())
    assert earlier in after.files()["report.html"]
    for named in (own, "", " "):
        changed = resealed(after, bins_from=named)
        assert changed.certificate.verify() == ()
        assert any("no earlier evaluation" in fault for fault in told(changed).faults)
    assert any("counts of the first look" in line for line in told(looked()).unchecked)
    assert not any("edges of bins" in line for line in told(first()).lines())


WITHOUT = {
    "several classes": (of_three, {}, "positive="),
    "a regression": (of_numbers, {}, "a regression"),
    "all of epsilon": (model, {"look": 1.0}, "below 1"),
    "nothing": (model, {"look": 0.0}, "look"),
    "no number": (model, {"look": "a tenth"}, "look"),
    "an earlier one as well": (model, {"bins_from": True}, "both"),
}


@pytest.mark.parametrize("case", WITHOUT)
def test_a_look_that_tells_nothing_is_refused_before_the_spend(case, monkeypatch):
    made, more, words = WITHOUT[case]
    settings = {"look": 0.1, **more}
    if "bins_from" in settings:
        settings["bins_from"] = first()
    made = made()
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    with pytest.raises(InvalidParameter, match=words):
        eq.evaluate(made, ROWS[HELD], LABELS[HELD], epsilon=1.0, **settings)


# Intervals


def fewest(worlds: int) -> float:
    return float(binom.ppf(FAILURE, worlds, 0.943)) / worlds


def covered(spends: Spends, worlds: int, seed: int) -> dict[str, float]:
    coins = np.random.default_rng(seed)
    found = [holds(*counted(spends, coins)) for _ in range(worlds)]
    return {name: float(np.mean([each[name] for each in found])) for name in found[0]}


def test_intervals_hold_although_bins_follow_from_the_same_rows():
    found = covered(Spends(2_000, 0.1, 0.5, 1.5), 80, 1)
    assert min(found.values()) >= fewest(80)


def test_a_population_in_other_bins_would_be_noticed():
    # Held against the chances of other bins, the same intervals miss.
    coins, spends = np.random.default_rng(2), Spends(2_000, 0.5, 0.5, 1.5)
    missed = 0
    for _ in range(20):
        counts, chances = counted(spends, coins)
        missed += not holds(counts, chances[:, ::-1])["area"]
    assert missed == 20


@pytest.mark.statistics
@pytest.mark.parametrize("share", [0.05, 0.1, 0.5])
def test_intervals_hold_over_many_worlds_of_two_spends(share):
    found = covered(Spends(10_000, share, 0.05, 0.45), 10_000, 3)
    assert min(found.values()) >= 0.943


@pytest.mark.parametrize("share", [0.05, 0.1])
def test_with_few_rare_rows_the_area_is_less_than_1_6_times_as_wide_as_without_noise(share):
    ratios, usual = [], []
    plain = two_classes(Cell(10_000, 0.5, share))
    for world in range(4):
        coins = np.random.default_rng(world)
        looked, chances = counted(Spends(10_000, share, 0.05, 0.45), coins)
        for counts, laws, widths in (
            (looked, chances[None], ratios),
            (_with(plain.template, plain.worlds(coins, 1)[0]), plain.chances, usual),
        ):
            rows = coins.multinomial(10_000, laws.ravel()).reshape(laws.shape)
            noisy, exact = (TwoClasses(each).binned_auc for each in (counts, _with(counts, rows, 0.01)))
            widths.append((noisy.high - noisy.low) / (exact.high - exact.low))
    assert np.mean(ratios) < 1.6 < np.mean(usual)


def _with(counts, rows, scale=None):
    return replace(counts, counts=rows, scale=scale or counts.scale)
