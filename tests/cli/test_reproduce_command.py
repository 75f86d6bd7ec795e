"""`equipoise reproduce` where the studies are not installed: they are a distribution of their own."""

import sys

import pytest

import equipoise_studies
from program import run_program as equipoise


class Without:
    """All finders of modules, but for one package and what lies in it, as if it were not installed."""

    def __init__(self, package: str) -> None:
        self.package, self.finders = package, tuple(sys.meta_path)

    def find_spec(self, name, path=None, target=None):
        """Return what the first of the finders that knows a module says of it."""
        if name.partition(".")[0] == self.package:
            return None
        found = (finder.find_spec(name, path, target) for finder in self.finders if hasattr(finder, "find_spec"))
        return next((spec for spec in found if spec is not None), None)


@pytest.fixture
def alone(monkeypatch) -> None:
    """Leave the studies out of what can be imported."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "equipoise_studies"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Without("equipoise_studies")])


@pytest.mark.parametrize(
    "arguments",
    [(), ("--json",), ("intrinsic-privacy", "--quick"), ("no-such-paper",)],
    ids=lambda words: " ".join(words),
)
def test_without_the_studies_the_command_says_what_to_install(alone, tmp_path, arguments):
    done = equipoise("reproduce", *arguments, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.split("  ")[0] for line in done.stderr.splitlines()] == ["asked", "found", "to do"]
    assert done.stderr.splitlines()[-1].endswith("  pip install equipoise-studies")
    assert not list(tmp_path.iterdir())


def test_without_the_studies_the_other_commands_stay(alone):
    assert "reproduce" in equipoise("--help").stdout
    assert equipoise("reproduce", "--help").returncode == 0
    assert equipoise("bounds", "-n", 1000, "--alpha", 0.1).returncode == 0


def test_studies_that_are_installed_and_broken_are_not_called_missing(monkeypatch):
    monkeypatch.delattr(equipoise_studies, "frame", raising=False)
    monkeypatch.setitem(sys.modules, "equipoise_studies.frame", None)
    done = equipoise("reproduce")
    assert done.returncode == 70
    assert "pip install" not in done.stderr


def test_with_the_studies_their_names_are_listed():
    done = equipoise("reproduce")
    assert done.returncode == 0, done.stderr
    assert "intrinsic-privacy  " in done.stdout
