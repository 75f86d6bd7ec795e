"""A new member is new files: a copy of the house with toys in it does everything with them, and nothing was changed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from equipoise.artifact.findings import inspect
from equipoise.errors import UnknownMember
from stored_certificates import STORED

ROOT = Path(__file__).parents[2]
TOYS = Path(__file__).parent / "house"
FILES = sorted(path.relative_to(TOYS) for path in TOYS.rglob("*.*") if "__pycache__" not in path.parts)

# What makes up each toy: nothing but files of its own.
MEMBERS = {
    "loss": ("vocabulary/losses/toy_log_cosh.py", "solve/losses/toy_log_cosh.py"),
    "penalty": ("vocabulary/penalties/toy_whole_ridge.py", "solve/penalties/toy_whole_ridge.py"),
    "theorem": ("certify/theorems/toy_minimisers.py", "../../docs/proofs/A0.toy.md"),
    "law": ("certify/laws/toy_gaussian.py", "noise/samplers/toy_gaussian.py"),
    "kind": ("certify/claims/toy_coarse.py", "planning/kinds/toy_coarse.py", "release/carriers/toy_coarse.py"),
    "solver": ("solve/solvers/toy_steepest.py",),
    "estimator": ("estimators/toy_regressor.py",),
    "command": ("cli/toy.py",),
    "kind of column": ("data/schema/kinds/toy_sign.py",),
}

# The command line of the copy.
PROGRAM = ("-c", "from equipoise.cli import main; main()")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Path:
    """Return a copy of the house, tests included, with every toy in it."""
    copy = tmp_path_factory.mktemp("house")
    leave = shutil.ignore_patterns("__pycache__", "house", "golden")
    for name in ("src", "studies/src", "tests", "handbook", "docs/proofs"):
        shutil.copytree(ROOT / name, copy / name, ignore=leave)
    shutil.copy(ROOT / "pyproject.toml", copy)
    for path in FILES:
        place = copy / path
        assert not place.exists(), f"{path} is a file of the house"
        assert place.parent.is_dir(), f"{path} needs a folder of its own"
        shutil.copy(TOYS / path, place)
    return copy


@pytest.fixture(scope="module")
def run(house) -> Run:
    """Return what runs Python in the copy."""
    environment = {**os.environ, "PYTHONPATH": str(house / "src"), "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=house, env=environment, capture_output=True, text=True)

    return run


@pytest.fixture(scope="module")
def used(house, run, tmp_path_factory) -> dict[str, dict[str, object]]:
    """Return what became of releases that use the toys, one a toy."""
    folder = tmp_path_factory.mktemp("released")
    done = run(str(Path(__file__).parent / "use_toys.py"), str(folder))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_toy_is_listed():
    package = Path("src/equipoise")
    listed = (os.path.normpath(package / name) for names in MEMBERS.values() for name in names)
    assert sorted(map(Path, listed)) == FILES


def test_no_file_of_the_house_knows_a_toy(house):
    for path in (house / "src").rglob("*.py"):
        if path.relative_to(house) not in FILES:
            assert "toy" not in path.read_text().lower().replace("toys", ""), path


@pytest.mark.parametrize("toy", ["loss", "penalty", "theorem", "law", "kind", "solver", "estimator"])
def test_a_release_works_with_a_toy(used, toy):
    found = used[toy]
    assert found["faults"] == []
    assert found["toy"] in found["rests on"]
    assert found["explained"]
    assert found["on the page"]
    assert found["opened predicts the same"]
    assert found["plain scikit-learn predicts the same"]
    assert found["plain class"] == "Ridge"


@pytest.mark.parametrize("toy", ["loss", "penalty", "theorem", "law", "kind"])
def test_a_check_names_the_toys_that_it_trusted(used, toy):
    assert used[toy]["toy"] in used[toy]["trusted"]


def test_the_command_names_them_too(used, run):
    done = run(*PROGRAM, "verify", str(used["kind"]["folder"]))
    assert done.returncode == 0, done.stderr
    assert "trusted: kind toy-coarse, which Equipoise" in done.stdout


@pytest.mark.parametrize("toy", ["loss", "penalty", "theorem", "law", "kind"])
def test_to_a_checker_without_the_toys_they_are_unknown(used, toy):
    try:
        found = inspect(Path(str(used[toy]["folder"])))
        assert found.verdict[1] == "unknown"
        told = "; ".join(found.faults)
    except UnknownMember as error:
        told = error.found
    assert any(member.split()[1] in told for member in used[toy]["trusted"])


def test_the_command_is_there(run):
    assert run(*PROGRAM, "toy").stdout == "a toy was run\n"
    assert "toy" in run(*PROGRAM, "--help").stdout


def test_a_schema_knows_the_kind_of_column(run):
    program = (
        "import numpy as np; from equipoise.data.encoder import Encoder; from equipoise.data.schema import Schema\n"
        'text = \'schema_version = 1\\n[target]\\nname = "y"\\nclasses = [0, 1]\\n[columns.a]\\nkind = "toy-sign"\'\n'
        "schema = Schema.from_text(text)\n"
        "assert Schema.from_text(schema.to_toml()) == schema\n"
        "print(Encoder(schema).encode({'a': np.array(['-3', 7, 'x'], dtype=object)}, 3).tolist())\n"
    )
    done = run("-c", program)
    assert (done.stdout, done.returncode) == ("[[-1.0], [1.0], [0.0]]\n", 0), done.stderr


def test_every_stored_certificate_checks_in_the_house_with_toys(run):
    assert len(STORED) > 40
    program = (
        "import sys, pathlib; from equipoise.certify.certificate import Certificate\n"
        "for path in sys.argv[1:]:\n"
        "    assert Certificate.from_json(pathlib.Path(path).read_text()).verify() == (), path\n"
    )
    done = run("-c", program, *map(str, STORED))
    assert done.returncode == 0, done.stderr


def test_the_contracts_meet_the_toys(run):
    options = ("-v", "-p", "no:cacheprovider", "-m", "not statistics", "-k", "toy")
    done = run("-m", "pytest", *options, "tests/contracts", "tests/test_catalogue.py")
    assert done.returncode == 0, done.stdout
    for member in ("toy-log-cosh", "toy-whole-ridge", "A0.toy", "toy-gaussian"):
        assert f"{member}]" in done.stdout or f"{member}-" in done.stdout, member
