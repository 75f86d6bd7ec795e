"""The demonstration: what it prints, the page that it writes, and that page in a browser."""

import subprocess
from pathlib import Path

import pytest

from browser import needs_browser, visit
from equipoise import demonstration
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
    assert (folder / "privacy-utility.png").read_bytes().startswith(b"\x89PNG")


@needs_browser
def test_the_chart_is_drawn_without_errors_or_outside_requests(done, folder):
    assert done.returncode == 0, done.stderr
    seen = visit(folder / "index.html")
    assert "<svg" in seen.drawn("chart")
    for panel in ("breast cancer (accuracy)", "digits 3-vs-5 (accuracy)", "diabetes (R2)"):
        assert panel in seen.drawn("chart")
    assert seen.complaints == []


def test_a_demo_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    # It is noticed when all models are trained.
    monkeypatch.setattr(demonstration, "EPSILONS", EPSILONS[::3])
    (tmp_path / "file").write_text("")
    done = equipoise("demo", "--repetitions", 1, "--out", tmp_path / "file" / "demo")
    assert done.returncode == 2
    assert "--out" in done.stderr
