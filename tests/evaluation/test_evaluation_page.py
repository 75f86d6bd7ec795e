"""The page of an evaluation: a function of its certificate alone, true to its figures, readable on a phone, inert."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import equipoise as eq
from browser import PHONE, Outline, measure, needs_browser, visit
from devtools import browser_window, faults, needs_axe
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.evaluation import Cells
from equipoise.certify.folder import REPORT
from equipoise.cli.figures import lines_of
from equipoise.errors import InvalidParameter, ReleaseUnreadable
from equipoise.evaluation.page import page_of, record_of
from equipoise.planning.evaluation import EvaluationRequest, issue_evaluation
from equipoise.report.evaluation_pictures import calibration_picture, group_picture
from equipoise.report.evaluation_record import PERCENT, Bars, Shown
from equipoise.report.still import still
from sample_releases import HOSTILE

EDGES = (0.3, 0.5, 0.7)
NAMES = tuple(HOSTILE.values())
CELLS = {
    "two classes": Cells(EDGES, ("no", "yes")),
    "by group": Cells(EDGES, ("no", "yes"), groups=("female", "male", "other"), by="sex"),
    "several classes": Cells((0.5, 0.7), ("north", "east", "south", "west")),
    "many classes": Cells((0.5,), tuple(range(12))),
    "regression": Cells((-60.0, 0.0, 60.0), (), (100.0, 200.0), (0.0, 300.0), groups=("f", "m"), by="sex"),
    "hostile": Cells((0.5,), NAMES[:5], groups=NAMES[5:], by=HOSTILE["script"]),
}
CHARTS = {
    "two classes": {"roc", "calibration"},
    "by group": {"roc", "calibration", "group-1", "group-2", "group-3"},
    "several classes": {"calibration"},
    "many classes": {"calibration"},
    "regression": {"calibration", "group-1", "group-2"},
    "hostile": {"calibration", "group-1", "group-2", "group-3"},
}


def evaluated(cells: Cells, counts: np.ndarray, epsilon: float = 0.5, n: int = 10_000) -> Certificate:
    """Return the certificate of an evaluation with these noisy counts."""
    from equipoise.certify.certificate import Release, Terms
    from equipoise.vocabulary.facts import Budget

    plan = issue_evaluation(EvaluationRequest(Terms(n, 3), Budget(epsilon), "0" * 32, "1" * 64, cells))
    claim = replace(plan.claim, released=tuple(int(count) for count in counts.ravel()))
    return plan.with_release(claim, Release("2" * 32, "2026-11-17T10:00:00+00:00", (("equipoise", eq.__version__),)))


@cache
def certificate(name: str) -> Certificate:
    """Return an evaluation of 10,000 rows that the model mostly gets right."""
    cells = CELLS[name]
    _, classes, outputs = cells.shape
    true, said = np.indices((classes, outputs))
    if cells.labels:
        nearness = np.abs(true - said / outputs * classes)
        weights = 3.0 ** -np.broadcast_to(nearness, cells.shape)
    else:
        weights = np.broadcast_to(np.array([1.0, 9.0, 9.0, 1.0]), cells.shape)
    counts = np.rint(10_000 * weights / weights.sum()).astype(int)
    return evaluated(cells, counts)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")

    @cache
    def page(name: str):
        place = folder / f"{name.replace(' ', '-')}.html"
        place.write_text(page_of(certificate(name), "ill"), encoding="utf-8")
        return place

    return page


# --- what it says -----------------------------------------------------------------------------------------------------


def test_the_page_shows_every_figure_with_its_interval_and_what_is_sampling_and_noise(pages):
    text = Outline(pages("by group").read_text()).text.replace(PERCENT, " %")
    found = eq.Evaluation(certificate("by group"))
    accuracy = found.accuracy
    record = record_of(found.certificate, "ill")
    line = record.lines[0].figure
    assert (line.value, line.low, line.high) == (accuracy.value, accuracy.low, accuracy.high)
    assert (line.sampling, line.noise) == (accuracy.sampling, accuracy.noise)
    for words in (line.text, line.interval, *line.parts, "0" * 32, "1" * 64, found.certificate.digest):
        assert words.replace(PERCENT, " %") in text
    for words in ("balanced accuracy", "AUC", "Brier score", "log loss", "said yes", "Group by group: sex", "female"):
        assert words in text
    recall, figures = found.figures([1]).decided[0], found.figures()
    assert record.bars[1].figures[1].low == recall.low == pytest.approx(found.figures([1]).recall[1].low, abs=1e-9)
    assert [point.figure.low for point in record.calibration] == figures.calibration.low.tolist()
    for place, (false, true) in enumerate(record.roc):
        assert (false.figure.value, true.figure.high) == (
            figures.false_positive_rate[place].value,
            figures.recall[place].high,
        )


OF_SCORES = ("AUC", "Brier score", "log loss", "calibration error")


@pytest.mark.parametrize("epsilon", [10.0, 100.0])
def test_counts_that_hide_next_to_nothing_are_called_that_at_the_top(epsilon):
    counts = np.full(CELLS["two classes"].shape, 100)
    text = Outline(page_of(evaluated(CELLS["two classes"], counts, epsilon))).text
    top = text[: text.index("Check it yourself")]
    words = f"Next to no protection: at epsilon = {epsilon:g} what an attacker gains is nearly everything"
    assert (words in top) is (epsilon == 100.0)


def test_the_page_counts_bins_in_intervals_of_scores_and_in_no_others(pages):
    record = record_of(certificate("two classes"), "ill")
    lines = {line.name: line.figure for line in record.lines}
    text = Outline(pages("two classes").read_text()).text.replace(PERCENT, " %")
    for name in OF_SCORES:
        assert lines[name].bins > 0.01
        assert lines[name].interval.replace(PERCENT, " %") in text
    assert lines["AUC"].low < lines["AUC of scores in 4 bins"].low < lines["AUC of scores in 4 bins"].high
    assert not any(lines[name].bins for name in lines if name not in OF_SCORES)


def test_the_page_has_every_figure_at_every_threshold_and_the_bins_of_calibration(pages):
    record, figures = record_of(certificate("two classes"), "ill"), eq.Evaluation(certificate("two classes")).figures()
    text = re.sub(r"\s+", " ", Outline(pages("two classes").read_text()).text)
    assert "threshold recall false positives precision accuracy balanced accuracy" in text
    found = dict(record.thresholds)
    assert [one.figure.low for one in found["accuracy"]] == figures.accuracies.low.tolist()
    assert [one.figure.high for one in found["balanced accuracy"]] == figures.balanced_accuracies.high.tolist()
    assert re.sub(r"\s+", " ", found["precision"][2].figure.interval) in text
    assert [one.ends for one in record.calibration] == [(0.0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 1.0)]
    assert "the mean score of its rows lies somewhere on it" in text
    assert '"start": 0.3, "stop": 0.5' in calibration_picture(record.calibration, record.task, ("", ""))


def test_the_page_is_a_function_of_the_certificate_and_the_name_of_the_target(pages):
    again = Certificate.from_json(certificate("two classes").to_json())
    assert page_of(again, "ill") == pages("two classes").read_text()
    other = replace(again.claim, released=(again.claim.released[0] + 30, *again.claim.released[1:]))
    assert page_of(again.with_release(other, again.release), "ill") != pages("two classes").read_text()


def test_what_the_noise_drowns_is_shown_as_such_and_never_as_a_number():
    draw = np.random.default_rng(3)
    drowned = evaluated(CELLS["two classes"], draw.laplace(0, 400, 8).round(), epsilon=0.005, n=60)
    text = Outline(page_of(drowned)).text
    assert "Accuracy cannot be told at this budget; it takes more than 10 times the epsilon or the rows" in text
    assert "At no threshold can false and true positives be told" in text
    record = record_of(drowned)
    assert all(line.figure.text == "cannot be told" for line in record.lines if line.figure.verdict)
    assert sum(1 for line in record.lines if line.figure.verdict) > 8


def test_figures_on_the_command_line_say_why_what_is_not_told_is_not_and_what_it_would_take():
    drowned = evaluated(CELLS["by group"], np.random.default_rng(1).integers(-40, 60, (3, 2, 4)), epsilon=0.02, n=300)
    record = record_of(drowned, "ill")
    said = list(lines_of(record))
    why = said[next(at for at, line in enumerate(said) if line.startswith("what cannot be told")) :]
    untold = {line.name: line.figure.verdict for line in record.lines if line.figure.verdict}
    assert {"accuracy", "recall"} <= untold.keys()
    for name, verdict in untold.items():
        assert any(line.startswith(f"{name}  ") and line.endswith(verdict) for line in why), name
    assert any(line.startswith("accuracy, female  ") and "it takes" in line for line in why)
    assert any(line.startswith("recall from 0.5 on  ") and "it takes" in line for line in why)
    told = record_of(certificate("two classes"), "ill")
    assert not any("it takes" in line for line in lines_of(told) if line.startswith("accuracy"))


def test_residuals_are_told_by_quantiles_and_means_and_the_coarseness_of_bins_is_named(pages):
    text = Outline(pages("regression").read_text()).text
    for words in ("mean absolute error", "R2", "Quantiles of residuals", "rows at the ends of their bins"):
        assert words in text
    assert "With 95 % confidence" in text


@pytest.mark.parametrize(
    ("shown", "text", "interval"),
    [
        (Shown(0.5, 0.0, 1.0, 0, 0, share=True), "50 %", "0 % to 100 %"),
        (Shown(0.12345, 0.1234, 0.1235, 0, 0, share=True), "12.3450 %", "12.3400 % to 12.3500 %"),
        (Shown(0.3, 0.3, 0.3, 0, 0), "0.3000", "0.3000 to 0.3000"),
        (Shown(-1.25, -2.51, 0.0, 0, 0), "-1.2", "-2.6 to 0.0"),
        (Shown(1e9, 0.9e9, 1.1e9, 0, 0), "1,000,000,000", "900,000,000 to 1,100,000,000"),
    ],
)
def test_intervals_are_written_outwards(shown, text, interval):
    assert (shown.text.replace(PERCENT, " %"), shown.interval.replace(PERCENT, " %")) == (text, interval)


LEFT = {
    "nothing": lambda size, _: np.zeros(size),
    "less than nothing": lambda size, _: np.full(size, -5),
    "noise alone": lambda size, draw: draw.laplace(0, 1e4, size).round(),
    "far too much": lambda size, _: np.full(size, 2**41),
}
SLOWER = [pytest.param(name, marks=pytest.mark.statistics) for name in CELLS if name != "two classes"]


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("name", ["two classes", *SLOWER])
def test_whatever_the_noise_left_a_page_is_drawn(name, left):
    counts = LEFT[left](int(np.prod(CELLS[name].shape)), np.random.default_rng(7))
    record = record_of(evaluated(CELLS[name], counts, n=200))
    assert all(np.isfinite([line.figure.value, line.figure.low, line.figure.high]).all() for line in record.lines)


@pytest.mark.parametrize(
    "cells",
    [
        Cells((), ("no", "yes")),
        Cells((2.0,), ("no", "yes")),
        Cells(tuple(np.linspace(0, 1, 60)), ("no", "yes")),
        Cells((0.0,), predictions=(1.0,)),
        Cells((0.0,), predictions=(1.0,), range=(5.0, 9.0)),
        Cells((0.0,), predictions=(1.0,), range=(0.0, 1e200)),
        Cells((9.0,), predictions=(1.0,), range=(0.0, 2.0)),
    ],
)
def test_cells_that_no_evaluation_has_are_refused_and_not_drawn(cells):
    with pytest.raises(ReleaseUnreadable, match="as evaluate makes them"):
        page_of(evaluated(cells, np.zeros(int(np.prod(cells.shape)))))


def test_counts_beyond_any_number_of_rows_are_refused():
    with pytest.raises(ReleaseUnreadable, match="beyond any number of rows"):
        page_of(evaluated(CELLS["two classes"], np.full(12, 2**60)))


def test_what_no_figure_could_follow_from_is_refused_before_the_spend(monkeypatch):
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (300, 2))
    domain = eq.Domain(1.0, labels=(0.0, 1e100))
    model = eq.Ridge(epsilon=1.0, domain=domain, random_state=0).fit(rows, 1e100 * (rows[:, 0] + 0.5))
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    with pytest.raises(InvalidParameter, match="from which figures follow"):
        eq.evaluate(model, rows, 1e99 * np.ones(300), epsilon=1.0, random_state=0)


def test_a_folder_with_its_charts_is_drawn_again_and_compared(tmp_path):
    from equipoise.artifact.page_check import COMPARED
    from equipoise.artifact.verdict import Against, examine
    from equipoise.evaluation.drawing import evaluation_page

    eq.Evaluation(certificate("several classes")).save(tmp_path / "evaluation")
    assert COMPARED in examine(tmp_path / "evaluation", Against(), evaluation_page).confirmed
    assert (tmp_path / "evaluation" / REPORT).stat().st_size > 100_000


# --- in a browser -----------------------------------------------------------------------------------------------------


def test_names_mean_themselves_on_the_page(pages):
    text = pages("hostile").read_text()
    body = re.sub(r"<script[^>]*>.*?</script>", "", text, flags=re.DOTALL)
    outline = Outline(body)
    assert not [tag for tag, _ in outline.elements if tag in ("img", "iframe", "object")]
    assert not [name for _, attributes in outline.elements for name in attributes if name.startswith("on")]
    assert sum(1 for tag, _ in Outline(text).elements if tag == "script") == 2 + 1 + len(CHARTS["hostile"])


@needs_browser
@pytest.mark.parametrize(
    "name", ["hostile", *(pytest.param(name, marks=pytest.mark.statistics) for name in CELLS if name != "hostile")]
)
def test_a_phone_shows_the_whole_page_without_scrolling_sideways(pages, name):
    seen = measure(pages(name), PHONE)
    assert seen.complaints == []
    assert seen.measured["requests"] == []
    assert seen.measured["wide"] <= PHONE
    assert seen.measured["widest"] <= PHONE
    assert seen.measured["cut"] == []
    assert seen.measured["intruded"] is False
    assert set(seen.measured["drawn"]) == CHARTS[name]


@needs_browser
@pytest.mark.statistics
@pytest.mark.parametrize("name", CELLS)
def test_every_chart_is_drawn_under_its_own_policy(pages, name):
    seen = visit(pages(name))
    assert seen.complaints == []
    for chart in CHARTS[name]:
        assert "<svg" in seen.drawn(chart), chart


@needs_browser
@needs_axe
@pytest.mark.parametrize(
    "name", ["hostile", *(pytest.param(name, marks=pytest.mark.statistics) for name in CELLS if name != "hostile")]
)
def test_the_page_is_for_everybody(pages, name):
    with browser_window() as window:
        assert faults(window, pages(name)) == {}


# --- what was counted once more, and rows that were held out ----------------------------------------------------------


def made(kind: str) -> eq.Evaluation:
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (900, 2))
    target = {"regression": rows[:, 0], "several classes": np.digitize(rows[:, 0], (-0.1, 0.2))}[kind]
    domain = eq.Domain(1.0, labels=(-0.5, 0.5)) if kind == "regression" else eq.Domain(1.0, classes=(0, 1, 2))
    model = (eq.Ridge if kind == "regression" else eq.LogisticRegression)(2.0, domain=domain, random_state=0)
    model = model.fit(rows[:400], target[:400])
    return eq.evaluate(model, rows[400:], target[400:], epsilon=2.0, random_state=0)


@pytest.mark.parametrize("kind", ["regression", "several classes"])
def test_the_page_says_what_was_counted_once_more_and_for_what(kind):
    found = made(kind)
    noise, text = found.claim.further_noise, Outline(page_of(found.certificate)).text
    assert "counted once," not in text
    assert (
        f"and once more, {'by the true number, for R2' if kind == 'regression' else 'by the score of the true'}" in text
    )
    assert f"in {noise.dimension} with more noise" in text
    assert f"{found.counts.counts.size:,} counts; scale {noise.scale:.3g}"[:20] in text
    assert f", {noise.dimension} more" in text


def test_a_table_of_figures_has_a_column_for_what_bins_add(pages):
    record = record_of(certificate("regression"), "ill")
    line = record.lines[0].figure
    assert line.bins == eq.Evaluation(certificate("regression")).figures().mean_absolute_error.bins > 0
    text = Outline(pages("regression").read_text()).text
    assert "noise bins what it is" in re.sub(r"\s+", " ", text)
    assert line.width_of_bins in text


def test_a_figure_that_bins_alone_hide_says_so():
    few = evaluated(Cells((0.1, 0.5, 0.9), ("no", "yes")), np.array([[[400, 4600, 0, 0], [0, 4400, 600, 0]]]))
    figure = eq.Evaluation(few).figures().auc
    assert figure.hidden
    shown = next(line.figure for line in record_of(few).lines if line.name == "AUC")
    assert (shown.text, shown.interval) == ("hidden by bins", "0.17 to 1.00")
    assert "not known" not in shown.parts


def test_the_page_of_held_out_rows_says_that_they_were_and_that_one_epsilon_paid_for_both():
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (1000, 2))
    model = eq.LogisticRegression(1.0, domain=eq.Domain(1.0, classes=(0, 1)), random_state=0)
    found = eq.train_and_evaluate(model, rows, (rows[:, 0] > 0).astype(int), holdout=0.4)
    text = Outline(page_of(found.certificate)).text
    assert "held out from its training" in text
    assert "They had no part in training it: of 1,000 rows" in text
    assert "The same epsilon paid for the training on the other 600 rows" in text
    assert "all figures together, and the training of the model" in text
    assert "nothing in this folder can tell" not in text


def test_the_page_of_other_rows_says_nothing_of_held_out_ones(pages):
    text = Outline(pages("two classes").read_text()).text
    assert "nothing in this folder can tell" in text
    assert "held out" not in text


@pytest.mark.parametrize(("top", "last"), [(12.0, "12"), (52_000.0, "50,000"), (0.02, "0.02")])
def test_an_axis_has_numbers_as_people_write_them(top, last):
    pytest.importorskip("vl_convert")
    bars = Bars("mean absolute error", "", tuple(Shown(each, 0.9 * each, each, 0, 0) for each in (0.5 * top, top)))
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", still(group_picture(("a", "b"), bars)))
    assert last in labels
    assert not [label for label in labels if "e+" in label or "e-" in label]
