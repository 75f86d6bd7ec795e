import ast
import importlib.util
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import equipoise
from auditing import module_at

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
# What a reader has before the eyes at once.
MOST_LINES = 80
every_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def test_there_are_examples():
    assert EXAMPLES


def assert_it_claims_and_follows(printed: str) -> None:
    assert any(line.startswith("Claim (") for line in printed.splitlines()), printed
    followed = [line for line in printed.splitlines() if "conditions that do not hold" in line]
    assert followed
    assert all(line.endswith("[]") for line in followed), followed


@every_example
def test_the_example_runs_and_prints_its_claim(path, tmp_path, monkeypatch, capsys):
    # As a program, but inside of the tests' process, which has loaded the libraries already.
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert_it_claims_and_follows(capsys.readouterr().out)


@pytest.mark.parametrize(
    "path",
    [EXAMPLES[0], *(pytest.param(path, marks=pytest.mark.statistics) for path in EXAMPLES[1:])],
    ids=lambda path: path.stem,
)
def test_the_example_is_a_program_of_its_own(path, tmp_path):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert_it_claims_and_follows(done.stdout)


@every_example
def test_the_example_is_short_and_goes_through_the_door(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    imported = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name.name for node in imported if isinstance(node, ast.Import) for name in node.names}
    modules = {node.module for node in imported if isinstance(node, ast.ImportFrom)}
    # Neither noise nor its scale is an example's business: the public names of the library are enough.
    assert not any(name.startswith("equipoise") for name in (names | modules) - {"equipoise"})


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.stem != "feature_map"], ids=lambda path: path.stem)
def test_importing_an_example_only_defines(path):
    *defined, last = ast.parse(path.read_text(encoding="utf-8")).body[1:]
    assert ast.unparse(last).splitlines() == ["if __name__ == '__main__':", "    main()"]
    kinds = ast.Import | ast.ImportFrom | ast.Assign | ast.FunctionDef | ast.ClassDef
    assert all(isinstance(node, kinds) for node in defined)


BENCHMARKS = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))


def test_there_are_benchmarks():
    assert BENCHMARKS


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_imports_what_there_is(path):
    # They take hours and real data: that the library still has what they name is seen without running them.
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    for node in (node for node in imported if node.module.partition(".")[0] == "equipoise"):
        for alias in node.names:
            named = f"{node.module}.{alias.name}"
            assert hasattr(importlib.import_module(node.module), alias.name) or importlib.util.find_spec(named), named
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "eq"]
    assert {node.attr for node in used} <= set(equipoise.__all__)


# --- values inside rows -----------------------------------------------------------------------------------------------

COUNT, COLUMNS = 240, 4
SIZES = (100, 80, 60)
# Every release with what it takes in the place of targets, and how many rows of its certificate one record moves.
RELEASES = {
    ("heavy_ball", "released"): ("numbers", 1),
    ("nesterov", "released"): ("numbers", 1),
    ("bootstrap", "released"): ("numbers", 1),
    ("bagging", "released_ridges"): ("numbers", 1),
    ("coordinate_descent", "released"): ("numbers", 1),
    ("multi_task", "released"): ("numbers, sizes", 1),
    ("multi_task", "released_equal"): ("numbers, tasks", 1),
    ("bagging", "released_votes"): ("classes", 1),
    ("bridge", "released"): ("classes", 1),
    ("svrg", "released"): ("classes", 1),
    ("sgld", "released"): ("classes", 1),
    ("graph_convolution", "released"): ("classes", 5),
    ("ranking", "released"): ("classes", 1),
    ("ranking", "released_classes"): ("sizes", 1),
}


def arguments(kind: str, rows: np.ndarray, targets: np.ndarray) -> tuple[object, ...]:
    public = {"sizes": (SIZES,), "tasks": (3,)}
    return (rows, *(given for word in kind.split(", ") for given in public.get(word, (targets,))))


def test_every_release_of_an_example_is_known():
    found = {
        (path.stem, name)
        for path in EXAMPLES
        for name in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(name, ast.FunctionDef) and name.name.startswith("released")
    }
    assert {(stem, node.name) for stem, node in found} == set(RELEASES)


@pytest.mark.parametrize("bad", [np.nan, pytest.param(np.inf, marks=pytest.mark.statistics), 1e6])
@pytest.mark.parametrize(("example", "name"), RELEASES)
def test_no_value_raises_or_warns_or_moves_the_weights_beyond_the_bound(example, name, bad):
    kind, moved = RELEASES[example, name]
    release = getattr(module_at(next(path for path in EXAMPLES if path.stem == example)), name)
    stream = np.random.default_rng(0)
    rows, targets = stream.normal(size=(COUNT, COLUMNS)) / 4, stream.integers(2, size=COUNT).astype(float)
    worse, wrong = rows.copy(), targets.copy()
    worse[0], wrong[0] = bad, bad
    tables = arguments(kind, rows, targets), arguments(kind, worse, wrong)

    (first, certificate), (second, other) = (release(*table, epsilon=1.0, seed=1) for table in tables)
    assert np.isfinite(first).all()
    assert np.isfinite(second).all()
    # The whole certificate follows from public facts, but for the moment of its release.
    assert replace(certificate, release=None) == replace(other, release=None)
    assert certificate.verify() == ()
    # One row was replaced. Noise in every step leaves no clean weights to compare.
    if example == "sgld":
        return
    clean = [release(*table, epsilon=1e9, seed=1)[0] for table in tables]
    assert np.linalg.norm(clean[0] - clean[1]) <= moved * certificate.sensitivity * (1 + 1e-6)
