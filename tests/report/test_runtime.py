"""What draws charts is made once for a version, and a file that somebody damaged is not believed."""

import pytest

from equipoise.report import runtime as made

BUNDLE = "window.vegaEmbed = () => {};"


@pytest.fixture
def bundler(monkeypatch, tmp_path):
    """A bundler that counts its calls, and a cache folder of its own."""
    calls = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda snippet: calls.append(snippet) or BUNDLE)

    def run():
        made.runtime.cache_clear()
        return made.runtime()

    yield run, calls
    made.runtime.cache_clear()


def test_another_process_takes_what_the_first_one_made(bundler, tmp_path):
    run, calls = bundler
    assert run() == run() == BUNDLE
    assert len(calls) == 1
    assert [path.name.split("-")[0] for path in (tmp_path / "equipoise").iterdir()] == ["charts"]


def test_a_damaged_file_is_made_anew(bundler, tmp_path):
    run, calls = bundler
    run()
    (kept,) = (tmp_path / "equipoise").iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert run() == BUNDLE
    assert len(calls) == 2


def test_a_file_of_somebody_else_is_not_used(bundler, monkeypatch):
    run, calls = bundler
    run()
    monkeypatch.setattr("os.geteuid", lambda: -1)
    run()
    assert len(calls) == 2


def test_where_files_have_no_owners_only_a_home_is_believed(bundler, monkeypatch, tmp_path):
    run, calls = bundler
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    # As on Windows, which has no such numbers.
    monkeypatch.delattr("os.geteuid")
    assert run() == run() == BUNDLE
    assert len(calls) == 1
    assert [path.relative_to(tmp_path).parts[:2] for path in tmp_path.rglob("*.js")] == [("home", ".cache")]


def test_without_a_folder_for_it_the_page_is_made_all_the_same(bundler, monkeypatch, tmp_path):
    run, calls = bundler
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert run() == run() == BUNDLE
    assert len(calls) == 2
