"""What a plain install does without: it trains, saves and checks, and what needs an extra says which before a spend."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from equipoise.errors import EXTRAS, MissingExtra
from program import run_program

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# The distribution of a package, where it has another name.
DISTRIBUTIONS = {"vl_convert": "vl-convert-python", "flint": "python-flint", "llvmlite": "numba", "distributed": "dask"}


def names(requirements: list[str]) -> set[str]:
    """Return the distributions that are asked for; an extra that asks for another brings what that one does."""
    found = set()
    for line in requirements:
        name, extras = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", line).groups()  # type: ignore[union-attr]
        if name == "equipoise":
            for extra in extras.split(","):
                found |= names(PROJECT["project"]["optional-dependencies"][extra])
        else:
            found.add(name)
    return found


def test_every_extra_installs_what_the_errors_say():
    extras = PROJECT["project"]["optional-dependencies"]
    assert set(EXTRAS.values()) == extras.keys() - {"all"}
    for package, extra in EXTRAS.items():
        assert DISTRIBUTIONS.get(package, package) in names(extras[extra]), package


def test_the_plain_distribution_brings_none_of_them():
    plain = names(PROJECT["project"]["dependencies"])
    assert not plain & {DISTRIBUTIONS.get(package, package) for package in EXTRAS}


def test_development_and_all_have_whatever_one_machine_can_use():
    extras = PROJECT["project"]["optional-dependencies"]
    one_machine = names([f"equipoise[{extra}]" for extra in extras if extra not in ("dask", "spark", "all")])
    assert names(extras["all"]) == one_machine
    assert one_machine <= names(PROJECT["dependency-groups"]["dev"])


def unexplained(text: str) -> list[str]:
    """Return the ends of ranges that the comment above their line gives no reason for: "2.0: why", "Below 3: why"."""
    above, found, group = "", [], ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line
        if line.startswith("#"):
            above += f" {line.lstrip('# ')}"
            continue
        if group != "[dependency-groups]":
            for low, high in re.findall(r'"[\w\[\],-]+?>=([\d.]+)(?:,<([\d.]+))?"', line):
                known = re.search(rf"(?<![\w.]){re.escape(low)}:", above)
                found += [] if known else [f">={low} of {line}"]
                if high and not re.search(rf"Below {re.escape(high)}:", above):
                    found.append(f"<{high} of {line}")
        above = ""
    return found


@pytest.mark.parametrize("folder", ["", "verify", "studies"])
def test_both_ends_of_every_range_are_explained_above_it(folder):
    text = (ROOT / folder / "pyproject.toml").read_text()
    assert len(re.findall(r'>=[\d.]+(?:,<[\d.]+)?"', text)) >= 2
    assert unexplained(text) == []


def test_an_end_without_a_reason_is_seen():
    assert unexplained('# 2.0: why.\n"scipy>=2.0,<3",\n') == ['<3 of "scipy>=2.0,<3",']
    assert unexplained('# Below 3: why, since 12.0: so.\nfast = ["scipy>=2.0,<3"]\n') == [
        '>=2.0 of fast = ["scipy>=2.0,<3"]'
    ]
    assert unexplained('"scipy>=2.0",\n# 2.0: why.\n') == ['>=2.0 of "scipy>=2.0",']


def test_a_package_before_its_first_version_is_not_let_in_by_versions_that_nobody_tried():
    # Whose minor versions may change anything, and whose samplers and accountants claims rest on.
    lock = (ROOT / "requirements-dev.lock").read_text()
    for name in ("opendp", "dp-accounting"):
        (newest,) = re.findall(rf"^{name}==0\.(\d+)", lock, re.M)
        (bound,) = re.findall(rf'"{name}>=[\d.]+,<0\.(\d+)"', (ROOT / "pyproject.toml").read_text())
        assert int(bound) == int(newest) + 1


@pytest.mark.parametrize("broken", [ImportError("no such symbol", name="numba"), OSError("a library of C")])
def test_what_is_there_and_cannot_be_loaded_is_to_be_installed_again(broken):
    assert "--force-reinstall" in MissingExtra.of("a fit", broken).remedy


# Runs in an interpreter of its own, in which nothing that an extra brings can be imported.
PLAIN = """
import importlib.metadata, json, sys, warnings
from pathlib import Path

sys.modules.update(dict.fromkeys(%(hidden)r))
version = importlib.metadata.version
def hidden(name):
    if name == "vl-convert-python":
        raise importlib.metadata.PackageNotFoundError(name)
    return version(name)
importlib.metadata.version = hidden

import numpy as np
import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.data.schema import CategoryColumn, NumberColumn, Target

told = {}
rows = np.linspace(-1, 1, 1200).reshape(400, 3) / 2
targets = np.arange(400) %% 2
domain = eq.Domain(row_norm=1.0, classes=(0, 1))
model = eq.LogisticRegression(epsilon=1.0, domain=domain, alpha=0.1)
with warnings.catch_warnings(record=True) as heard, eq.account(epsilon=9.0):
    warnings.simplefilter("always", eq.errors.PageNotDrawn)
    eq.save(model.fit(rows, targets), "release")
    found = eq.evaluate(eq.load("release"), rows, targets, epsilon=1.0)
    found.save("evaluation")
    told["accuracy"] = found.accuracy.low <= found.accuracy.value <= found.accuracy.high
told["warned"] = [warning.category.__name__ for warning in heard]
told["verdicts"] = [inspect(Path(name)).verdict[0] for name in ("release", "evaluation")]
told["files"] = sorted(path.name for path in Path("release").iterdir())

Path("people.csv").write_text("age,job,ill\\n" + "30,nurse,yes\\n50,none,no\\n" * 50)
columns = (NumberColumn("age", (18, 90)), CategoryColumn("job", ("none", "nurse"), unknown="none"))
schema = eq.Schema(100, columns, Target("ill", classes=("no", "yes")), vouched_by="A. O.", vouched_on="2026-11-16")
with eq.account(epsilon=9.0):
    fitted = eq.LogisticRegression(epsilon=1.0, domain=schema, alpha=0.1).fit(eq.open_table("people.csv"))
told["csv"] = fitted.certificate_.n_samples

def refused(name, do):
    try:
        do()
    except eq.errors.MissingExtra as error:
        told[name] = str(error)

Path("people.parquet").write_bytes(b"PAR1")
Path("people.arrow").write_bytes(b"ARROW1")
with eq.account(epsilon=1.0) as account:
    refused("sgd", lambda: eq.SGDClassifier(epsilon=1.0, domain=domain).fit(rows, targets))
    refused("parquet", lambda: eq.open_table("people.parquet"))
    refused("arrow", lambda: eq.open_table("people.arrow"))
    refused("ledger", lambda: eq.LogisticRegression(epsilon=1.0, domain=domain, ledger="people").fit(rows, targets))
    told["spent"] = float(account.spent.epsilon)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> dict[str, Any]:
    program = PLAIN % {"hidden": tuple(EXTRAS)}
    place = tmp_path_factory.mktemp("plain")
    done = subprocess.run([sys.executable, "-c", program], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_plain_install_trains_saves_checks_and_evaluates(told):
    assert told["verdicts"] == [0, 0]
    assert told["accuracy"] is True
    assert told["csv"] == 100


def test_a_plain_install_draws_no_page_and_says_so(told):
    assert told["warned"] == ["PageNotDrawn", "PageNotDrawn"]
    assert told["files"] == ["MANIFEST.sha256", "certificate.json", "model.json", "page.json"]


@pytest.mark.parametrize(
    ("asked", "extra"), [("sgd", "fast"), ("parquet", "files"), ("arrow", "files"), ("ledger", "ledger")]
)
def test_what_needs_an_extra_is_refused_before_the_spend_with_the_line_to_type(told, asked, extra):
    assert f'pip install "equipoise[{extra}]"' in told[asked]
    assert "nothing was spent" in told[asked]
    assert told["spent"] == 0.0


@pytest.mark.parametrize("words", [(), ("create",), ("verify",), ("checkpoint",)])
def test_help_on_ledgers_needs_no_extra(words, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "sqlalchemy"]:
        monkeypatch.delitem(sys.modules, name)
    ours = [name for name in sys.modules if name.startswith(("equipoise.ledger", "equipoise.cli.ledger"))]
    for name in ours:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    done = run_program("ledger", *words, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage" in done.stdout
    refused = run_program("ledger", "create", "people", "--epsilon", "3")
    assert (refused.returncode, 'pip install "equipoise[ledger]"' in refused.stderr) == (2, True)
