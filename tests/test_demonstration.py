"""The demonstration: what it prints, the page that it writes, and that page in a browser."""

import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from browser import needs_browser, visit
from devtools import browser_window, faults, needs_axe
from equipoise import demonstration
from equipoise.cli import demo
from equipoise.report import demonstration_page
from program import run_program as equipoise


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("demonstration") / "demo"


EPSILONS = demonstration.EPSILONS


@pytest.fixture(
    scope="module", params=[EPSILONS[::3], pytest.param(EPSILONS, marks=pytest.mark.statistics)], ids=["few", "all"]
)
def done(request, folder) -> subprocess.CompletedProcess[str]:
    """The command, run once for all who look at what it left; every epsilon is planned and trained for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demonstration, "EPSILONS", request.param)
        return equipoise("demo", "--repetitions", 1, "--out", folder)


def test_the_demo_writes_a_page_that_needs_no_network(done, folder):
    assert done.returncode == 0, done.stderr
    for words in ("breast cancer", "digits 3-vs-5", "diabetes", "objective", "E2+E4", "Study on public data"):
        assert words in done.stdout
    assert "…" not in done.stdout
    page = (folder / "index.html").read_text()
    assert "Study on public data" in page
    for outside in ('src="http', "src='http", 'href="http', "@import", "url(http"):
        assert outside not in page


def test_the_page_shows_a_model_its_curve_what_an_attacker_gains_and_ten_lines_of_a_certificate(done, folder):
    page = (folder / "index.html").read_text()
    for title in ("A model", "Its curve over epsilon", "What an attacker gains", "The certificate in ten lines"):
        assert f"<h2>{title}</h2>" in page
    lines = re.findall(r"<li><span>(.*?)</span><div>(.*?)</div></li>", page)
    assert len(lines) == 10
    told = dict(lines)
    assert told["claim"] == "(1, 0)-differential privacy, proved"
    assert "all hold" in told["checked"]
    # The models that were trained are seeded, and the page says so beside the word.
    assert "seeded" in page.split("<dt>is that bound", 1)[1][:120]


def test_the_commands_that_the_page_ends_with_do_what_it_says_and_the_spend_is_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path))
    for line in demonstration_page.NEXT.splitlines():
        _, *words = shlex.split(line, comments=True)
        ended = equipoise(*words, folder=tmp_path)
        assert ended.returncode == 0, ended.stderr
    assert "2.0" in equipoise("ledger", "show", "people").stdout


def test_a_certificate_that_does_not_follow_says_so_in_its_ten_lines():
    plan = demonstration.LogisticRegression(epsilon=1.0, domain=demonstration.CLASSES).plan(365, 64)
    altered = replace(plan, terms=replace(plan.terms, n_samples=366))
    assert "all hold" in dict(demonstration.in_ten_lines(plan))["checked"]
    assert "failing" in dict(demonstration.in_ten_lines(altered))["checked"]


@needs_browser
def test_the_chart_is_drawn_without_errors_or_outside_requests(done, folder):
    assert done.returncode == 0, done.stderr
    seen = visit(folder / "index.html")
    names = re.findall(r'data-chart="(.*?)-data"', (folder / "index.html").read_text())
    assert len(names) == len(demonstration.DATASETS) + len(demonstration.LOOKED_AT) + 2
    for name in names:
        assert "<svg" in seen.drawn(name), name
    assert seen.complaints == []


@needs_browser
@needs_axe
def test_the_page_is_for_everybody(done, folder):
    with browser_window() as window:
        assert faults(window, folder / "index.html") == {}


def test_the_page_has_a_landmark_for_its_content(done, folder):
    # The library that draws charts has such words, too.
    page = (folder / "index.html").read_text().partition("<script")[0]
    assert re.findall(r"<body>\s*<(.*?)>", page) == ['div role="main"']
    assert len(re.findall(r'role="main"|<main', page)) == 1


def test_its_own_page_is_replaced_and_no_other(done, folder, monkeypatch):
    trained = []
    monkeypatch.setattr(demo, "_with_progress", lambda *asked: trained.append(asked) or [])
    monkeypatch.setattr(demo, "_write", lambda *asked: folder / "index.html")
    assert equipoise("demo", "--out", folder).returncode == 0
    mine = folder.with_name("mine")
    mine.mkdir(exist_ok=True)
    (mine / "index.html").unlink(missing_ok=True)
    (mine / "index.html").write_text("<title>My demo: What privacy costs</title>")
    refused = equipoise("demo", "--out", mine)
    assert (refused.returncode, "--force" in refused.stderr, len(trained)) == (2, True, 1)
    (mine / "index.html").unlink()
    (mine / "index.html").symlink_to(folder / "index.html")
    assert equipoise("demo", "--out", mine).returncode == 2
    assert equipoise("demo", "--out", mine, "--force").returncode == 0
    assert len(trained) == 2


def test_a_demo_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    # It is noticed when all models are trained.
    monkeypatch.setattr(demonstration, "EPSILONS", EPSILONS[::3])
    (tmp_path / "file").write_text("")
    done = equipoise("demo", "--repetitions", 1, "--out", tmp_path / "file" / "demo")
    assert done.returncode == 2
    assert "--out" in done.stderr
