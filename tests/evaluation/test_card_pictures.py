"""The pictures of an evaluation on the model card: drawn without a script, and as tables where nothing is drawn."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from browser import PHONE, Outline, measure, needs_browser
from devtools import browser_window, faults, needs_axe
from equipoise.artifact.card import card_of
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.evaluation.card import evaluation_of
from equipoise.report.card import html, markdown
from equipoise.report.evaluation_pictures import confusion_matrix
from equipoise.report.evaluation_record import Shown
from sample_releases import HOSTILE

N = 6000
GROUPS = ("north", HOSTILE["script"], HOSTILE["attribute"], "professional specialty or executive, managerial")
FACTS = {"vouched_by": "A. Officer", "vouched_on": "2026-11-16"}


def rows(target: str) -> pd.DataFrame:
    stream = np.random.default_rng(0)
    age = stream.uniform(0, 100, N)
    found = pd.DataFrame({"age": age, "where": stream.choice(GROUPS, N)})
    found[target] = np.where(age + stream.normal(0, 20, N) > 50, "yes", "no") if target == "ill" else 3 * age
    return found


def made(folder: Path, target: str, by: str = "") -> dict[str, Any]:
    columns = (NumberColumn("age", (0, 100)), CategoryColumn("where", GROUPS, unknown="north"))
    facts = {"classes": ("no", "yes")} if target == "ill" else {"bounds": (0, 300)}
    schema = eq.Schema(N, columns, Target(target, **facts), **FACTS)
    model = (eq.LogisticRegression if target == "ill" else eq.Ridge)(3.0, 0.0, schema, 0.01, "output", random_state=0)
    found = eq.train_and_evaluate(model, rows(target), by=by, holdout=0.5)
    eq.save(model, folder / "release")
    found.save(folder / "evaluation")
    return card_of(folder / "release", evaluation_of(folder / "evaluation", folder / "release"))


@pytest.fixture(scope="module")
def card(tmp_path_factory) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        for place in ("folder", "page_check"):
            patch.setattr(f"equipoise.artifact.{place}.page_of", lambda one, *_, **__: f"<p>{one.digest}</p>")
        patch.setattr("equipoise.evaluation.page.page_of", lambda one, target: f"<p>{target} {one.digest}</p>")
        return made(tmp_path_factory.mktemp("pair"), "ill", "where")


def test_the_card_draws_roc_calibration_confusion_and_groups_without_a_script(card):
    page = html(card)
    assert page.count("<figure>") == 5
    # The confusion matrix is a table; accuracy and recall have bars.
    assert page.count("<svg ") == 4
    assert '<table class="matrix">' in page
    text = Outline(page).text
    for said in (
        "At every threshold (ROC)",
        "Do its scores mean what they say?",
        "What it mistakes for what",
        "Recall.",
    ):
        assert said in text, said
    assert "script" not in {tag for tag, _ in Outline(page).elements}
    assert "default-src 'none'; style-src 'unsafe-inline'" in page


def test_names_of_groups_in_pictures_mean_themselves(card):
    elements = Outline(html(card)).elements
    assert not {tag for tag, _ in elements} & {"script", "img", "foreignObject", "a", "image", "use"}
    assert not [name for _, attributes in elements for name in attributes if name.startswith("on")]
    assert not re.search(r'(?:href|src)="(?!data:,)', html(card))


def test_pictures_show_the_numbers_of_the_evaluation(card):
    found = card["evaluation"]
    assert [one["threshold"] for one in found["roc"]] == sorted(one["threshold"] for one in found["roc"])
    assert found["calibration"][0]["figure"].keys() == found["figures"][0].keys() - {"name", "meaning"}
    total = sum(one["value"] for row in found["confusion"] for one in row)
    assert total == pytest.approx(1.0, abs=1e-9)


def test_markdown_has_a_table_for_every_picture(card):
    text = markdown(card)
    for said in (
        "### What it mistakes for what\n\n| in truth | said no | said yes |",
        "### At every threshold (ROC)\n\n| threshold | false positives | true positives |",
        "### Do its scores mean what they say?\n\n| score for yes | share that is yes |",
        "| group | accuracy | recall |",
    ):
        assert said in text, said
    assert "<svg" not in text


def test_a_regression_draws_its_residuals(tmp_path, plain_page):
    card = made(tmp_path, "dose")
    page = html(card)
    assert (page.count("<svg "), '<table class="matrix"' in page) == (1, False)
    assert "Is it right in the mean?" in Outline(page).text
    assert "| prediction of dose | true less predicted, mean |" in markdown(card)


@needs_browser
def test_a_phone_shows_the_whole_card_without_scrolling_sideways(card, tmp_path):
    (tmp_path / "card.html").write_text(html(card), encoding="utf-8")
    seen = measure(tmp_path / "card.html", PHONE)
    assert seen.measured["inner"] == PHONE
    assert seen.measured["wide"] <= PHONE
    assert (seen.measured["cut"], seen.measured["requests"], seen.measured["intruded"]) == ([], [], False)


LONG = ("not_economically_active_or_unknown", "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamte")


@pytest.mark.parametrize(
    ("labels", "stacked"),
    [
        (("no", "yes"), False),
        (("0", "1", "2", "3"), False),
        (tuple("abcde"), True),
        (("home", "another ward of this house", "nursing home"), False),
        (("home", "rehabilitation", "nursing home"), True),
        (LONG, True),
    ],
)
def test_on_a_phone_a_matrix_that_breaks_words_has_a_line_for_every_cell(labels, stacked):
    one = Shown(0.25, 0.2, 0.3, 0.01, 0.01, share=True)
    page = confusion_matrix(labels, [[one] * len(labels)] * len(labels))
    assert ('<table class="matrix lines">' in page) == stacked


@needs_browser
def test_long_names_fit_the_narrowest_phone(card, tmp_path):
    text = json.dumps(card)
    for name, long in zip(("no", "yes"), LONG, strict=True):
        text = text.replace(f'"{name}"', f'"{long}"')
    page = html(json.loads(text))
    assert f"said {LONG[1]}" in page
    (tmp_path / "card.html").write_text(page, encoding="utf-8")
    seen = measure(tmp_path / "card.html", 360)
    assert (seen.measured["wide"], seen.measured["cut"]) == (360, [])


@needs_browser
@needs_axe
def test_the_card_is_for_everybody(card, tmp_path):
    (tmp_path / "card.html").write_text(html(card), encoding="utf-8")
    with browser_window() as window:
        assert faults(window, tmp_path / "card.html") == {}
