"""A release that was made where nothing draws pages: it has none, says so, and is checked, signed and opened alike."""

import importlib.metadata
import shutil
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.artifact import page_file
from equipoise.artifact.card import card_of
from equipoise.artifact.findings import PAGE_UNSEEN, contents_of, inspect
from equipoise.artifact.page_check import NO_PAGE
from equipoise.artifact.policy import Policy
from equipoise.artifact.signing import sign_folder
from equipoise.artifact.verdict import Against, examine
from equipoise.certify.folder import CHECK_FAILED, DONE, MANIFEST, PAGE, REPORT, STATEMENT
from equipoise.errors import MissingExtra, PageNotDrawn, ReleaseUnreadable
from equipoise.keys import new_key, private_key
from released_folders import same_predictions, sealed

ROWS = np.random.default_rng(0).uniform(-0.5, 0.5, size=(600, 3))
DOMAIN = eq.Domain(row_norm=1.0, classes=(0, 1))


def without_the_extra(patch: pytest.MonkeyPatch) -> None:
    """Have nothing that draws charts installed."""

    def version(name: str) -> str:
        if name != "equipoise":
            raise importlib.metadata.PackageNotFoundError(name)
        return eq.__version__

    patch.setattr(page_file, "version", version)


@pytest.fixture(scope="module")
def model() -> eq.LogisticRegression:
    return eq.LogisticRegression(epsilon=1.0, domain=DOMAIN, alpha=0.1).fit(ROWS, (ROWS[:, 0] > 0).astype(int))


@pytest.fixture(scope="module")
def plain(model, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("plain") / "release"
    with pytest.MonkeyPatch.context() as patch:
        without_the_extra(patch)
        with pytest.warns(PageNotDrawn, match=r'pip install "equipoise\[report\]"'):
            eq.save(model, folder)
    return folder


@pytest.fixture
def copy(plain, tmp_path) -> Path:
    return Path(shutil.copytree(plain, tmp_path / "release"))


def test_it_has_everything_but_a_page_and_its_checks_say_so(plain, model):
    assert REPORT not in contents_of(plain)
    assert page_file.read((plain / PAGE).read_text()).renderer == (("equipoise", eq.__version__),)
    alone = inspect(plain)
    assert alone.verdict[0] == DONE
    assert alone.checked.endswith("no page, as page.json says")
    assert PAGE_UNSEEN not in alone.unchecked
    found = examine(plain, Against())
    assert found.answer[0] == DONE
    assert NO_PAGE in found.confirmed
    same_predictions(eq.load(plain), model, ROWS)
    assert PAGE_UNSEEN not in card_of(plain)["privacy"]["not_checked"]


def test_a_page_that_was_taken_away_is_missed_under_a_fresh_manifest(model, tmp_path):
    eq.save(model, tmp_path / "release")
    (tmp_path / "release" / REPORT).unlink()
    sealed(tmp_path / "release")
    for look in (inspect, eq.load):
        with pytest.raises(ReleaseUnreadable, match=f"missing: {REPORT}"):
            look(tmp_path / "release")


def test_a_page_that_nobody_drew_is_refused(copy):
    (copy / REPORT).write_text("<p>safe</p>")
    sealed(copy)
    assert inspect(copy).faults == ("report.html: a page, and page.json says that none was drawn",)


def test_an_attack_that_no_page_shows_is_refused(copy):
    attack = page_file.Attack("simulated", 64, 16, 0.95, ((0.01, 0.02, 0.015, 0.025),))
    facts = page_file.PageFacts((("equipoise", eq.__version__),), attack=attack)
    (copy / PAGE).write_text(page_file.written(facts))
    sealed(copy)
    found = examine(copy, Against())
    assert found.answer[0] == CHECK_FAILED
    assert "an attack, and no page that shows it" in found.whole.faults[0]


@pytest.mark.parametrize("text", ["", "{}", None])
def test_without_a_page_a_page_json_must_say_so_as_it_is_written(copy, text):
    (copy / PAGE).unlink() if text is None else (copy / PAGE).write_text(text)
    sealed(copy)
    with pytest.raises(ReleaseUnreadable, match=f"missing: {REPORT}"):
        inspect(copy)


def test_it_can_be_signed_and_does_not_pass_for_one_whose_page_was_compared(copy, tmp_path):
    new_key(tmp_path / "owner.key")
    sign_folder(copy, private_key(tmp_path / "owner.key"))
    assert STATEMENT in contents_of(copy)
    assert MANIFEST in contents_of(copy)
    assert examine(copy, Against()).answer[0] == DONE
    refused = examine(copy, Against(policy=Policy(page=True))).whole.faults
    assert [fault for fault in refused if "page" in fault]


def test_a_page_that_cannot_be_drawn_again_is_not_compared_and_the_line_to_type_is_told(model, tmp_path, monkeypatch):
    eq.save(model, tmp_path / "release")
    without_the_extra(monkeypatch)
    found = examine(tmp_path / "release", Against())
    assert found.answer[0] == DONE
    assert [line for line in found.whole.unchecked if 'pip install "equipoise[report]"' in line]


def test_an_attack_is_refused_before_it_is_run_where_no_page_would_show_it(model, tmp_path, monkeypatch):
    without_the_extra(monkeypatch)
    with pytest.raises(MissingExtra, match=r"to show an attack"):
        eq.save(model, tmp_path / "release", attack=True)
    assert not (tmp_path / "release").exists()
