"""The distribution equipoise-verify, installed where there is no NumPy: what it needs, answers and knows."""

import csv
import json
import os
import re
import shutil
import sysconfig
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from code_lines import lines_of_code
from empty_environment import ROOT, VERIFY, Environment, wheel_of
from equipoise.artifact import folder as released
from equipoise.artifact import statement
from equipoise.artifact.findings import contents_of, inspect
from equipoise.artifact.parts import NOT_SIGNED
from equipoise.artifact.signing import envelope_of
from equipoise.certify.certificate import Certificate, _digest
from equipoise.certify.folder import (
    CERTIFICATE,
    CHECK_FAILED,
    DONE,
    MODEL,
    NOT_CHECKABLE,
    REFUSED,
    REPORT,
    SCHEMA,
    STATEMENT,
    WITHDRAWN,
)
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.keys import fingerprint, new_key, private_key
from released_folders import changed, flipped, sealed
from stored_certificates import SCHEMA_1, STORED

TWO = eq.Domain(1.0, classes=("no", "yes"))
THREE = eq.Domain(1.0, classes=("a", "b", "c"))
NUMBERS = eq.Domain(1.0, labels=(0.0, 10.0))
COLUMNS = (NumberColumn("age", None), CategoryColumn("job", ("none", "nurse"), unknown="none"))
ROWS = eq.Schema(600, COLUMNS, Target("ill", classes=("no", "yes")), vouched_by="A. Officer", vouched_on="2026-11-16")
GRID = {"alpha": [0.05, 5.0]}

# One release of every kind that a folder can hold.
MODELS = {
    "output": eq.LogisticRegression(1.0, 0.0, TWO, 0.1, "output"),
    "objective": eq.LogisticRegression(1.0, 0.0, TWO, 0.1, "objective"),
    "several classes": eq.LogisticRegression(1.0, 0.0, THREE, 0.1, "output"),
    "noisy gradient": eq.LogisticRegression(1.0, 1e-6, TWO, 0.1, "noisy-gradient"),
    "sums": eq.Ridge(1.0, 0.0, NUMBERS, 0.1, "sufficient-statistics"),
    "functional": eq.Ridge(1.0, 0.0, NUMBERS, 0.1, "functional"),
    "sgd": eq.SGDRegressor(1.0, 0.0, NUMBERS, 0.1, passes=2),
    "phased": eq.PhasedRegressor(1.0, 0.0, NUMBERS),
    "dropout": eq.DropoutRegressor(20.0, 1e-3, NUMBERS),
    "search by chunks": eq.PrivateGridSearch(eq.Ridge(domain=NUMBERS), GRID, epsilon=20.0),
    "search by stopping": eq.PrivateGridSearch(eq.Ridge(domain=NUMBERS), GRID, epsilon=20.0, method="random-stopping"),
    "columns by weights": eq.FeatureSelector(epsilon=1.0, domain=TWO, alpha=0.05, threshold="deviations:3"),
    "a column of ones": eq.SimplexSelector(10.0, 1e-3),
    "schema with private bounds": eq.LogisticRegression(2.0, 0.0, ROWS.with_private_bounds(0.5), 0.1),
    "noise in every step": eq.NoisySGDRegressor(1.0, 1e-5, NUMBERS, 0.1, passes=2),
}


def saved(model, place: Path, seed: int | None = 0) -> Path:
    """Fit a copy of a model to rows of no importance, and save it; nobody signs what a seed can repeat."""
    uniform = np.random.default_rng(0).uniform(-0.5, 0.5, size=(600, 3))
    score = 5 + 6 * uniform[:, 0]
    model = model.__class__(**{**model.get_params(deep=False), "random_state": seed})
    if isinstance(model, eq.SimplexSelector):
        model.fit((uniform < [0.4, 0.0, 0.0]).astype(float), uniform[:, 1] > 0)
    elif isinstance(model.domain if hasattr(model, "domain") else None, type(ROWS.with_private_bounds(0.5))):
        frame = pd.DataFrame({"age": 50 + 60 * uniform[:, 0], "job": np.where(uniform[:, 1] > 0, "nurse", "none")})
        model.fit(frame.assign(ill=np.where(score > 5, "yes", "no")))
    else:
        classes = getattr(getattr(model, "domain", None), "classes", None)
        place_of = np.digitize(score, np.linspace(2, 8, len(classes or "..") + 1)[1:-1])
        model.fit(uniform, np.array(classes)[place_of] if classes else score)
    eq.save(model, place)
    return place


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """Released folders by name; their pages are looked at elsewhere."""
    place = tmp_path_factory.mktemp("releases")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(released, "page_of", lambda certificate, *_, **__: f"<p>{certificate.digest}</p>")
        return {
            name: saved(model, place / name, None if name == "schema with private bounds" else 0)
            for name, model in MODELS.items()
        }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return wheel_of(VERIFY, tmp_path_factory.mktemp("checker"))


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory) -> Environment:
    """An environment with the checker and mpmath, and nothing else."""
    made = Environment(tmp_path_factory.mktemp("alone"))
    made.install(wheel)
    return made


@pytest.fixture
def copy(folders, tmp_path) -> Path:
    return Path(shutil.copytree(folders["schema with private bounds"], tmp_path / "release"))


def written(certificate: Certificate, place: Path) -> Path:
    """Write a certificate whose digest fits what it says, as a forger or another version would."""
    path = place / CERTIFICATE
    path.write_text(replace(certificate, digest=_digest(certificate.terms, certificate.claim)).to_json())
    return path


def planned() -> Certificate:
    return eq.LogisticRegression(1.0, 1e-6, TWO, 0.1, "gaussian").plan(1000, 3)


def refused(done, code: int) -> str:
    """Check that the program answers in three lines, never by a traceback, and return them."""
    assert (done.returncode, done.stdout) == (code, ""), done
    assert [line.split("  ")[0] for line in done.stderr.splitlines()] == ["asked", "found", "to do"], done.stderr
    return done.stderr


# --- what is installed ------------------------------------------------------------------------------------------------


def test_the_wheel_holds_the_very_files_of_the_trusted_base(wheel):
    with zipfile.ZipFile(wheel) as opened:
        held = {name: opened.read(name) for name in opened.namelist() if ".dist-info/" not in name}
    sources = ROOT / "src" / "equipoise"
    shared = [*(sources / "vocabulary").rglob("*.py"), *(sources / "certify").rglob("*.py")]
    shared += (sources / "rigorous").rglob("*.py")
    shared += [sources / "errors.py", sources / "wording.py", sources / "keys" / "signatures.py", sources / "py.typed"]
    shared += [
        sources / "artifact" / f"{name}.py"
        for name in ("enclosing", "findings", "page_file", "parts", "shipped", "statement")
    ]
    expected = {path.relative_to(sources).as_posix(): path.read_bytes() for path in shared}
    expected |= {name: (VERIFY / name).read_bytes() for name in ("__init__.py", "command.py")}
    expected["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    assert held == {f"equipoise_verify/{name}": content for name, content in expected.items()}


def test_the_auditors_table_has_all_that_is_in_the_wheel(wheel, tmp_path):
    """Limits are in whole hundreds, and as small as that allows; the README has the same numbers."""
    page = (ROOT / "docs" / "for-auditors.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \| ([0-9,]+) \|", page, re.M)
    limits = {tuple(re.findall(r"`([^`]+)`", names)): int(limit.replace(",", "")) for names, limit in rows}
    counts = dict.fromkeys(limits, 0)
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if name.endswith(".py"):
                (part,) = [part for part in limits if name.split("/")[1] in part]
                counts[part] += lines_of_code(Path(files.extract(name, tmp_path)))
    assert {part: -(-count // 100) * 100 for part, count in counts.items()} == limits
    base, artifact, around, rigorous = limits.values()
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for told in (
        f"`vocabulary` and `certify` (at most {base:,} lines of code)",
        f"at most {artifact + around:,} lines around them",
        f"at most {rigorous:,} more run with `--rigorous` alone",
    ):
        assert told in readme


def test_it_is_small_and_brings_no_numpy(alone):
    size = sum(path.stat().st_size for path in alone.packages.rglob("*") if path.is_file())
    assert size <= 50 * 10**6
    program = """
import importlib.metadata, importlib.util
print(*sorted(found.name for found in importlib.metadata.distributions()))
print(*filter(importlib.util.find_spec, ("numpy", "scipy", "dp_accounting", "equipoise")))
print(*importlib.metadata.requires("equipoise-verify"), sep="; ")
"""
    done = alone.run("python", "-c", program)
    assert done.stdout.splitlines() == [
        "equipoise-verify mpmath",
        "",
        "mpmath<2,>=1.3; python-flint>=0.8; extra == 'rigorous'; cryptography>=44; extra == 'signature'",
    ]


# --- what it answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_a_released_folder_is_consistent_and_what_was_not_checked_is_named(alone, folders, name):
    done, _, memory = alone.measured("equipoise-verify", folders[name])
    assert (done.returncode, done.stderr) == (DONE, "")
    here = inspect(folders[name])
    assert done.stdout.splitlines() == list(here.lines())
    first, rests, *rest = done.stdout.splitlines()
    budget = f"({here.certificate.epsilon:g}, {here.certificate.delta:g})-differential privacy"
    assert first == f"consistent; origin unproved: {budget}, replace-one"
    assert here.certificate.theorem in rests
    # Repeatable noise, as tests draw it, makes a claim conditional, and that is said.
    assert ("conditional" in rests) is here.certificate.terms.seeded
    unchecked = [line for line in rest if line.startswith("  not checked: ")]
    for line, word in zip(
        unchecked, ("signature", "ledger", "noise was drawn", "notes", "what the page says"), strict=True
    ):
        assert word in line
    assert memory < 60


def test_the_answer_for_programs_is_json(alone, folders):
    done = alone.run("equipoise-verify", "--json", folders["output"])
    expected = {**inspect(folders["output"]).plain(), "exit_code": done.returncode}
    assert json.loads(done.stdout) == json.loads(json.dumps(expected))


def test_a_statement_beside_a_release_is_looked_at_where_cryptography_is_installed(alone, copy, tmp_path):
    new_key(tmp_path / "owner.key")
    key = private_key(tmp_path / "owner.key")
    (copy / STATEMENT).write_text(envelope_of(contents_of(copy), key))
    done = alone.run("equipoise-verify", copy)
    assert (done.returncode, done.stderr) == (DONE, "")
    assert done.stdout.startswith("consistent; origin unproved: ")
    assert "signature not looked at, since cryptography is not installed\n" in done.stdout
    # Where it is, a signature that its key did not make does not pass.
    dependencies = Path(sysconfig.get_path("purelib"))
    done = alone.run("equipoise-verify", copy, seen=dependencies)
    assert done.returncode == DONE
    assert f"not checked: whose key {fingerprint(key.public)} is, which signed all of it on " in done.stdout
    whole, signed = (copy / STATEMENT).read_text(), statement.read((copy / STATEMENT).read_text())
    (copy / STATEMENT).write_text(statement.written(signed.payload, signed.key, bytes(64)))
    done = alone.run("equipoise-verify", copy, seen=dependencies)
    assert done.returncode == NOT_SIGNED
    assert done.stdout.startswith("not as it was signed: ")
    # What it says of the folder needs no key.
    (copy / STATEMENT).write_text(whole)
    (copy / REPORT).write_text("<p>safe</p>")
    sealed(copy)
    done = alone.run("equipoise-verify", "--json", copy)
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (NOT_SIGNED, "not as it was signed")
    assert "about another folder, whose files are other ones: MANIFEST.sha256, report.html" in done.stdout


CHECK_ALL = """
import json, sys
from pathlib import Path
from equipoise_verify.artifact.findings import inspect

print(json.dumps({Path(path).stem: inspect(Path(path)).verdict[0] for path in sys.argv[1:]}))
assert not {"numpy", "scipy", "equipoise"} & set(sys.modules)
"""


def test_every_stored_certificate_checks_without_numpy(alone):
    done = alone.run("python", "-c", CHECK_ALL, *STORED)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout).values()) == {DONE}


def test_a_check_in_balls_says_what_it_needs_where_python_flint_is_missing(alone):
    path = next(path for path in STORED if path.stem == "output-ordinary")
    assert "python-flint is not installed" in refused(alone.run("equipoise-verify", "--rigorous", path), REFUSED)


def test_where_the_ordinary_check_fails_nothing_was_evaluated_in_balls_and_that_is_said(alone, copy):
    half_the_noise(copy)
    done = alone.run("equipoise-verify", "--rigorous", copy)
    said = "not evaluated: inequalities in balls, since the ordinary check comes first and does not pass"
    assert (done.returncode, done.stdout.splitlines()[-1]) == (CHECK_FAILED, said)
    done = alone.run("equipoise-verify", "--rigorous", "--json", copy)
    assert (done.returncode, json.loads(done.stdout)["enclosed"]) == (CHECK_FAILED, [said])


# What balls find is planted, since python-flint is not there; the rest of the command is as it is.
BALLS = """
import sys, types
from equipoise_verify import command
balls = types.ModuleType("equipoise_verify.rigorous")
balls.EXCEEDS, balls.HOLDS = "exceeds", "holds"
class Entry(str):
    verdict = sys.argv.pop(1)
balls.findings = lambda record: (Entry("output: A2 bounds the sensitivity"),)
sys.modules[balls.__name__] = balls
command.main()
"""


@pytest.mark.parametrize(
    ("verdict", "code", "words"),
    [
        ("holds", DONE, "consistent; origin unproved"),
        ("exceeds", CHECK_FAILED, "does not hold"),
        ("not enclosed", NOT_CHECKABLE, "not checkable by this version"),
    ],
)
def test_what_balls_find_decides_verdict_and_exit_code_alike(alone, verdict, code, words):
    path = next(path for path in STORED if path.stem == "output-ordinary")
    line = f"{verdict}: output: A2 bounds the sensitivity"
    done = alone.run("python", "-c", BALLS, verdict, "--rigorous", path)
    assert (done.returncode, done.stdout.partition(":")[0], done.stdout.splitlines()[-1]) == (code, words, line)
    done = alone.run("python", "-c", BALLS, verdict, "--rigorous", "--json", path)
    told = json.loads(done.stdout)
    assert (done.returncode, told["exit_code"], told["verdict"], told["consistent"]) == (code, code, words, code == 0)
    assert (told["faults"], told["enclosed"]) == ([line] if code else [], [line])


def test_a_divergence_that_accounts_for_the_steps_is_checked_in_little_memory(alone, tmp_path):
    (path,) = (path for path in STORED if path.stem == "noisy-sgd-ordinary")
    stored = Certificate.from_json(path.read_text())
    noise = replace(stored.claim.noise, scale=2 * stored.claim.scale)
    path = written(replace(stored, claim=replace(stored.claim, order=20.0, noise=noise)), tmp_path)
    done, _, memory = alone.measured("equipoise-verify", path)
    assert (done.returncode, done.stderr) == (DONE, "")
    assert memory < 60


def half_the_noise(folder: Path) -> None:
    """Halve it, and compute every digest again."""
    certificate = Certificate.from_json((folder / CERTIFICATE).read_text())
    bounds, weights = certificate.claim.of
    weaker = replace(weights, noise=replace(weights.noise, scale=weights.scale / 2))
    claim = replace(certificate.claim, of=(bounds, weaker))
    written(replace(certificate, claim=claim), folder)
    changed(folder, MODEL, certificate=json.loads((folder / CERTIFICATE).read_text())["digest"])


TAMPERED = {
    "a bit of the model": (lambda folder: flipped(folder / MODEL, 100), "model.json: its bytes are not those"),
    "another page": (lambda folder: (folder / REPORT).write_text("<p>safe</p>"), "report.html: its bytes are not"),
    "another schema": (
        lambda folder: ((folder / SCHEMA).write_text((folder / SCHEMA).read_text() + "\n"), sealed(folder)),
        "schema.toml: not the schema that the certificate names",
    ),
    "other classes": (lambda folder: changed(folder, MODEL, classes=["yes", "no"]), "model.json: other classes"),
    "another shape": (lambda folder: changed(folder, MODEL, intercepts=[0.0, 0.0]), "weights of another shape"),
    "half the noise": (half_the_noise, "certificate.json: sequence: "),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_folder_does_not_hold(alone, copy, name):
    tamper, fault = TAMPERED[name]
    tamper(copy)
    done = alone.run("equipoise-verify", copy)
    assert (done.returncode, done.stderr) == (CHECK_FAILED, "")
    assert done.stdout.startswith("does not hold: ")
    assert fault in done.stdout
    assert "not checked: " in done.stdout


def loop(folder: Path) -> Path:
    (folder / "first").symlink_to(folder / "second")
    (folder / "second").symlink_to(folder / "first")
    return folder / "first"


UNREADABLE = {
    "nothing there": lambda folder: folder / "nothing",
    "a name that is too long": lambda folder: folder / ("long" * 100),
    "a link that leads to itself": loop,
    "a device": lambda folder: Path(os.devnull),
    "a truncated certificate": lambda folder: (folder / CERTIFICATE).write_text("{") and folder,
    "bytes that are no text": lambda folder: (folder / CERTIFICATE).write_bytes(b"\xff") and folder,
    "a file too many": lambda folder: (folder / "notes.txt").write_text("hello") and folder,
    "a file too few": lambda folder: (folder / REPORT).unlink() or folder,
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_refused_in_three_lines(alone, copy, name):
    refused(alone.run("equipoise-verify", UNREADABLE[name](copy)), REFUSED)


def test_a_release_of_schema_1_is_not_checkable_and_says_what_to_do(alone, tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    for file in (MODEL, CERTIFICATE):
        shutil.copy(ROOT / "tests" / "released" / "0.1.0" / "three-classes" / file, folder)
    (folder / REPORT).write_text("<p>the page was left out of the repository</p>")
    sealed(folder)
    for path in (folder, SCHEMA_1[0]):
        said = refused(alone.run("equipoise-verify", path), NOT_CHECKABLE)
        assert "schema 1: not checkable by this version" in said
        assert "check it with version 0.1.0, whose source CHANGELOG.md names" in said


def test_a_newer_schema_is_not_checkable_and_says_what_to_do(alone, copy):
    changed(copy, CERTIFICATE, schema_version=3)
    said = refused(alone.run("equipoise-verify", copy), NOT_CHECKABLE)
    assert said == "asked  schema 2\nfound  schema 3: not checkable by this version\nto do  install a newer Equipoise\n"


# Nobody reads what it prints.
UNREAD = """
import os, subprocess, sys
reading, writing = os.pipe()
os.close(reading)
sys.exit(subprocess.run(sys.argv[1:], stdout=writing).returncode)
"""


def test_the_code_is_the_same_when_nobody_reads_on(alone, folders):
    done = alone.run("python", "-c", UNREAD, alone.programs / "equipoise-verify", folders["output"])
    assert (done.returncode, done.stderr) == (DONE, "")


def test_what_was_withdrawn_has_a_code_of_its_own(alone, folders):
    listed = alone.packages / "equipoise_verify" / "certify" / "withdrawn.py"
    text = listed.read_text()
    empty = "WITHDRAWN: tuple[Withdrawal, ...] = ()"
    entry = 'Withdrawal("2027-01-01", "theorem", "A2", "its proof was wrong")'
    assert empty in text
    try:
        listed.write_text(text.replace(empty, f"WITHDRAWN: tuple[Withdrawal, ...] = ({entry},)"))
        affected, other = (alone.run("equipoise-verify", folders[name]) for name in ("output", "functional"))
    finally:
        listed.write_text(text)
    assert (affected.returncode, affected.stderr) == (WITHDRAWN, "")
    assert affected.stdout.startswith("withdrawn: ")
    assert "withdrawn on 2027-01-01: theorem A2, all versions: its proof was wrong" in affected.stdout
    assert other.returncode == DONE


# --- what it knows ----------------------------------------------------------------------------------------------------


def renamed(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


@pytest.mark.parametrize(
    ("family", "before"),
    [("kind", '"kind": "output"'), ("loss", '"loss": "logistic"'), ("penalty", '"name": "l2"')],
)
def test_a_kind_a_loss_or_a_penalty_of_another_version_is_unknown(alone, tmp_path, family, before):
    path = written(planned(), tmp_path)
    renamed(path, before, f'"{before.split(chr(34))[1]}": "novel"')
    said = refused(alone.run("equipoise-verify", path), NOT_CHECKABLE)
    assert f"{family} 'novel', unknown here" in said
    assert "check it with the version that made it, or a newer one" in said


@pytest.mark.parametrize("family", ["theorem", "law"])
def test_a_theorem_or_a_law_of_another_version_is_unknown_and_not_false(alone, tmp_path, family):
    plan = planned()
    noise = replace(plan.claim.noise, law="novel")
    other = replace(plan.claim, theorem="novel") if family == "theorem" else replace(plan.claim, noise=noise)
    path = written(replace(plan, claim=other), tmp_path)
    done = alone.run("equipoise-verify", path)
    assert (done.returncode, done.stderr) == (NOT_CHECKABLE, "")
    assert done.stdout.startswith("unknown: ")
    assert f"  output: {family}: 'novel', unknown here\n" in done.stdout
    # Where something is wrong besides, the answer is that.
    renamed(path, '"n_samples": 1000', '"n_samples": 1001')
    assert alone.run("equipoise-verify", path).returncode == CHECK_FAILED


PLANTED = """
from .gaussian import Gaussian


class Planted(Gaussian):
    id = "planted"
"""


def resting_on_a_planted_law(place: Path) -> Path:
    plan = planned()
    return written(replace(plan, claim=replace(plan.claim, noise=replace(plan.claim.noise, law="planted"))), place)


def test_a_member_that_somebody_else_put_beside_those_that_ship_is_unknown(alone, folders, tmp_path):
    file = alone.packages / "equipoise_verify" / "certify" / "laws" / "planted.py"
    file.write_text(PLANTED)
    try:
        said = refused(alone.run("equipoise-verify", resting_on_a_planted_law(tmp_path)), NOT_CHECKABLE)
        assert "found  law planted, unknown here\n" in said
        assert alone.run("equipoise-verify", folders["output"]).returncode == DONE
    finally:
        file.unlink()


def test_what_is_out_of_reach_hides_no_other_fault(alone, folders, tmp_path):
    folder = Path(shutil.copytree(folders["output"], tmp_path / "release"))
    certificate = Certificate.from_json((folder / CERTIFICATE).read_text())
    noise = replace(certificate.claim.noise, law="planted")
    written(replace(certificate, claim=replace(certificate.claim, noise=noise)), folder)
    changed(folder, MODEL, certificate=json.loads((folder / CERTIFICATE).read_text())["digest"])
    assert alone.run("equipoise-verify", folder).returncode == NOT_CHECKABLE
    flipped(folder / MODEL, 100)
    done = alone.run("equipoise-verify", folder)
    assert done.returncode == CHECK_FAILED
    assert "model.json: its bytes are not those of the manifest" in done.stdout
    assert "law: 'planted', unknown here" in done.stdout


# --- beside equipoise -------------------------------------------------------------------------------------------------

CHECKERS = {"equipoise": ("equipoise", "verify"), "equipoise-verify": ("equipoise-verify",)}


def files_of(environment: Environment, name: str) -> set[Path]:
    """Return the files that a distribution has recorded as its own."""
    (record,) = environment.packages.glob(f"{name.replace('-', '_')}-[0-9]*.dist-info/RECORD")
    with record.open(newline="") as opened:
        return {(environment.packages / row[0]).resolve() for row in csv.reader(opened)}


def test_both_distributions_come_and_go_beside_each_other_in_either_order(wheel, tmp_path):
    both, dependencies = Environment(tmp_path / "both"), Path(sysconfig.get_path("purelib"))
    # With its charts: the larger one draws them again.
    release = saved(MODELS["output"], tmp_path / "release")
    wheels = {"equipoise": wheel_of(ROOT, tmp_path / "library"), "equipoise-verify": wheel}
    own = {}
    for name, brought in wheels.items():
        both.install(brought)
        own[name] = files_of(both, name)
    assert not own["equipoise"] & own["equipoise-verify"]
    # Each time the one that came first goes, and comes again as the last.
    for staying, going in (("equipoise-verify", "equipoise"), ("equipoise", "equipoise-verify")):
        both.uninstall(going)
        assert not [path for path in own[going] if path.exists()]
        assert not (both.packages / going.replace("-", "_")).exists()
        assert all(path.exists() for path in own[staying])
        program, *words = CHECKERS[staying]
        done = both.run(program, *words, release, seen=dependencies)
        assert done.returncode == DONE, done.stderr
        assert done.stdout.startswith("consistent; origin unproved: ")
        both.install(wheels[going])
    # The larger one trusts what is installed, and says so.
    file = both.packages / "equipoise" / "certify" / "laws" / "planted.py"
    file.write_text(PLANTED)
    done = both.run("equipoise", "verify", resting_on_a_planted_law(tmp_path), seen=dependencies)
    assert done.returncode == DONE, done.stderr
    assert done.stdout.splitlines()[-1] == (f"  trusted: law planted, which Equipoise {eq.__version__} does not ship")
