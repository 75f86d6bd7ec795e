import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer

import equipoise as eq
from equipoise import estimators
from equipoise.artifact import shipped
from equipoise.artifact.enclosing import NOT_EVALUATED
from equipoise.certify.certificate import Certificate, _digest
from equipoise.certify.folder import manifest_of
from equipoise.certify.withdrawn import Withdrawal
from equipoise.cli.application import build, commands
from equipoise.cli.docs import texts_of
from program import VARIABLES
from program import run_program as equipoise
from stored_certificates import SCHEMA_1, STORED

ROOT = Path(__file__).parents[2]


@pytest.fixture
def certificate(tmp_path) -> Path:
    path = tmp_path / "certificate.json"
    done = equipoise("plan", "-n", 1000, "-d", 10, "--epsilon", 1, "--mechanism", "output", "--out", path, "--verbose")
    assert done.returncode == 0, done.stderr
    assert "Claim (proved): (1, 0)-pure differential privacy" in done.stdout
    assert "Certified bounds on risk" in done.stdout
    assert "J4.convex.tail" in done.stdout
    return path


def test_a_plan_chooses_the_way_and_shows_the_menu(tmp_path):
    path = tmp_path / "certificate.json"
    done = equipoise("plan", "-n", 1000, "-d", 10, "--epsilon", 1, "--out", path, "--verbose")
    assert done.returncode == 0, done.stderr
    assert "Claim (proved): (1, 0)-pure differential privacy" in done.stdout
    assert "Which way?" in done.stdout
    assert json.loads(path.read_text())["claim"]["kind"] == "objective"
    # The bounds on risk are those of noise on the weights.
    assert "Certified bounds on risk" not in done.stdout
    verified = equipoise("verify", path)
    assert verified.returncode == 0
    assert "objective and spherical-laplace" in verified.stdout
    assert "What does one row change?" in equipoise("explain", path).stdout


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        ("objective", "noise in the objective"),
        ("objective:50", "clipped"),
        ("noisy-gradient", "noise in every gradient"),
        ("noisy-gradient:100", "100 rows drawn in secret"),
        ("sufficient-statistics", "noise on sums of products"),
        ("functional", "noise on the objective's coefficients"),
        ("gaussian", "noise on the weights"),
    ],
)
def test_every_mechanism_plans(mechanism, words, tmp_path):
    path = tmp_path / "certificate.json"
    facts = ("--model", "ridge", "--labels", "0,400", "--delta", 1e-6, "--mechanism", mechanism)
    done = equipoise("plan", "-n", 1000, "-d", 5, "--epsilon", 1, *facts, "--out", path, "--verbose")
    assert done.returncode == 0, done.stderr
    assert words in done.stdout
    assert equipoise("verify", path).returncode == 0


def test_help_lists_the_commands():
    done = equipoise("--help")
    for command in ("bounds", "demo", "explain", "plan", "verify"):
        assert command in done.stdout


def test_the_version_is_printed():
    done = equipoise("--version")
    assert (done.returncode, done.stdout) == (0, f"equipoise {eq.__version__}\n")


@pytest.mark.parametrize("options", [(), ("--delta", 1e-6), ("--labels", "0,400"), ("--model", "sgd-classifier")])
def test_a_plan_is_told_in_a_few_lines(options):
    done = equipoise("plan", "-n", 1000, "-d", 10, "--epsilon", 1, *options)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Claim (")
    assert len(lines) <= 15
    # Told in full it is another page.
    assert len(equipoise("plan", "-n", 1000, "-d", 10, "--epsilon", 1, *options, "--verbose").stdout.splitlines()) > 30


def test_a_plan_ends_with_the_command_that_carries_it_out(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path))
    equipoise("example", "--out", tmp_path)
    words = ("--schema", "people.toml", "--epsilon", "0.5", "--mechanism", "output", "--no-intercept")
    done = equipoise("plan", *words, folder=tmp_path)
    said = done.stdout.splitlines()[-1].split("Next: equipoise ")[1]
    command = said.replace("TABLE", "people.csv").replace("DATASET", "people").split()
    assert (command[:2], command[-2:]) == (["train", "people.csv"], ["--ledger", "people"])
    assert set(words) <= set(command)
    uncounted = equipoise(*command, "--dry-run", folder=tmp_path)
    assert uncounted.returncode == 3
    assert "equipoise ledger create people" in uncounted.stderr
    equipoise("ledger", "create", "people", "--epsilon", 3, folder=tmp_path)
    carried = equipoise(*command, "--dry-run", folder=tmp_path)
    assert carried.returncode == 0, carried.stderr


def test_a_curve_that_cannot_be_drawn_is_refused_before_anything_is_printed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    words = ("plan", "-n", 1000, "-d", 10, "--epsilon", 1, "--out", "plan.json", "--curve", "curve.html")
    done = equipoise(*words, folder=tmp_path)
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert 'pip install "equipoise[report]"' in done.stderr


def test_a_plan_takes_bounds_of_columns_and_says_when_a_row_norm_is_wasteful():
    facts = ("plan", "-n", 5000, "-d", 64, "--epsilon", 1, "--bounds", "0,16")
    domain = json.loads(equipoise(*facts, "--json").stdout)["claim"]["problem"]["domain"]
    assert domain["bounds"] == [[0.0, 16.0]] * 64
    assert domain["row_norm"] == eq.Domain(bounds=[(0, 16)] * 64, classes=(0, 1)).row_norm
    said = equipoise(*facts, "--row-norm", 16).stdout
    assert (
        "wasteful: row_norm = 16 is declared, and by the bounds no row of 64 columns is longer than 8: declare 8"
        in said
    )
    wrong = equipoise(*facts[:-1], "16")
    assert wrong.returncode == 2
    assert "write two numbers, for example --bounds 0,16" in wrong.stderr


def test_without_a_model_the_target_decides():
    classes, numbers = (
        json.loads(equipoise("plan", "-n", 1000, "-d", 3, "--epsilon", 1, *facts, "--json").stdout)
        for facts in (("--classes", "no,yes"), ("--labels", "0,400"))
    )
    assert "logistic" in classes["claim"]["problem"]["loss"]
    assert "squared" in numbers["claim"]["problem"]["loss"]


@pytest.mark.parametrize(
    ("words", "program", "asked", "found"),
    [
        (("trian",), "equipoise", "a command of equipoise", "Did you mean 'train'?"),
        (("plan", "--epsilo", 1), "equipoise plan", "options that equipoise plan knows", "--epsilo"),
        (("plan", "-n", 10, "-d", 3), "equipoise plan", "options that equipoise plan knows", "--epsilon"),
        (("plan", "-n", "many"), "equipoise plan", "options that equipoise plan knows", "--n-samples"),
        (("ledger", "sell"), "equipoise ledger", "a command of equipoise ledger", "sell"),
    ],
)
def test_words_that_a_command_does_not_know_are_refused_in_three_lines(words, program, asked, found):
    done = equipoise(*words)
    assert done.returncode == 2
    first, second, third = done.stderr.splitlines()
    assert first == f"asked  {asked}"
    assert second.startswith("found  ")
    assert found in second
    assert third == f"to do  see {program} --help"


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("plan", "-n", 10, "-d", 3, "--epsilon", "0,5"), "write 0.5, with a decimal point"),
        (("plan", "-n", 10, "-d", 3, "--epsilon=1,5"), "write 1.5, with a decimal point"),
        (("train", "rows.csv", "--schema", "s.toml", "--epsilon", 1, "--delta", "0,00001"), "write 0.00001, with a"),
        (("ledger", "create", "people", "--epsilon", "2,5"), "write 2.5, with a decimal point"),
        (("plan", "-n", "8,000", "-d", 3, "--epsilon", 1), "write 8000, without marks of thousands"),
        # It was taken for 8.
        (("plan", "-n", "8.000", "-d", 3, "--epsilon", 1), "write 8000, without marks of thousands"),
        (("evaluate", "release", "rows.csv", "--epsilon", 1, "--rows", "1.234.567"), "write 1234567, without marks"),
        (("bounds", "--n-samples=1.000", "--alpha", 1), "write 1000, without marks of thousands"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", 1, "--alpha", "0,5"), "with a decimal point, such as 0.5"),
    ],
)
def test_a_number_with_a_comma_is_met_with_how_to_write_it(words, remedy):
    done = equipoise(*words)
    assert done.returncode == 2
    assert remedy in done.stderr.splitlines()[2]


HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow", "numba")


@pytest.mark.parametrize("words", [("--help",), ("--version",), *((name, "--help") for name in commands())])
def test_help_loads_nothing_that_computes(words):
    program = f"""
import sys
from equipoise.cli import main
sys.argv = ["equipoise", *{words!r}]
try:
    main()
except SystemExit:
    pass
print(*(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []


def test_verify_loads_only_what_it_uses(tmp_path, certificate, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    rows = np.random.default_rng(0).uniform(-1, 1, (200, 2)) / 2
    domain = eq.Domain(1.0, classes=(0, 1))
    eq.Ledger("people").create(eq.Budget(3.0))
    model = eq.LogisticRegression(epsilon=1.0, domain=domain, ledger="people")
    model.plan(n_samples=200, n_features=2)
    model.fit(rows, (rows[:, 0] > 0).astype(int))
    eq.save(model, tmp_path / "released")
    for path, unused in ((certificate, (*HEAVY, "rich")), (tmp_path / "released", (*HEAVY, "rich", "sqlalchemy"))):
        program = f"""
import sys
from equipoise.cli import main
sys.argv = ["equipoise", "verify", {str(path)!r}]
try:
    main()
except SystemExit as end:
    assert end.code == 0
print(*(name for name in {unused!r} if name in sys.modules), file=sys.stderr)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stderr.split() == []


def test_bounds_prints_every_theorem():
    done = equipoise("bounds", "-n", 1000, "--alpha", 0.1)
    for theorem in ("A1", "A2", "A3a", "A3b", "002-Thm14", "002-Alg2", "000-Thm4"):
        assert theorem in done.stdout
    rows = json.loads(
        equipoise("bounds", "-n", 1000, "--alpha", 0.1, "--loss", "squared", "--labels", "0,1", "--json").stdout
    )
    assert rows[0]["theorem"] == "A2"
    assert all(rows[0]["value"] <= row["value"] for row in rows)


def test_plan_explain_verify(certificate):
    explained = equipoise("explain", certificate)
    assert "How far can the weights move?" in explained.stdout
    verified = equipoise("verify", certificate)
    assert verified.returncode == 0
    assert "consistent; origin unproved" in verified.stdout


def test_what_is_cited_can_be_read_by_the_line_that_is_printed(certificate):
    told = [equipoise(command, certificate).stdout for command in ("verify", "explain")]
    asked = [re.search(r"equipoise docs (\S*\d\S*)", text)[1] for text in told]
    noted = json.loads(equipoise("explain", certificate, "--json").stdout)["notes"]
    assert asked[0] == asked[1] == "+".join(noted["theorems"])
    read = equipoise("docs", asked[0])
    assert (read.returncode, read.stdout.count("\n# ") + 1 >= len(asked[0].split("+"))) == (0, True)
    # Of a claim that does not follow nobody says where it is proved.
    altered = certificate.with_name("altered.json")
    altered.write_text(certificate.read_text().replace('"epsilon": 1.0', '"epsilon": 0.5'))
    assert "to read" not in equipoise("verify", altered).stdout


def test_every_theorem_that_a_stored_certificate_rests_on_can_be_read():
    named = set()
    for path in STORED:
        named |= Certificate.from_json(path.read_text()).theorems().keys()
    assert len(texts_of("+".join(sorted(named)))) == len(named) > 20


def test_verify_encloses_every_inequality_if_asked(certificate):
    pytest.importorskip("flint")
    plain, enclosed = equipoise("verify", certificate), equipoise("verify", certificate, "--rigorous")
    assert (plain.returncode, enclosed.returncode) == (0, 0)
    assert enclosed.stdout.startswith(plain.stdout)
    lines = enclosed.stdout.removeprefix(plain.stdout).splitlines()
    assert lines
    assert all(line.startswith("holds: ") for line in lines)
    told = json.loads(equipoise("verify", certificate, "--rigorous", "--json").stdout)
    assert told["enclosed"] == lines


@pytest.mark.parametrize(("verdict", "code"), [("exceeds", 1), ("not enclosed", 6), ("holds", 0)])
def test_an_inequality_that_does_not_hold_without_rounding_decides_the_exit_code(
    certificate, monkeypatch, verdict, code
):
    rigorous = pytest.importorskip("equipoise.rigorous")
    finding = rigorous.findings(json.loads(certificate.read_text()))
    entry = next(iter(finding))._replace(verdict=verdict)
    monkeypatch.setattr(rigorous, "findings", lambda record: [entry])
    words = {0: "consistent; origin unproved", 1: "does not hold", 6: "not checkable by this version"}[code]
    line = f"{verdict}: {entry}"
    done = equipoise("verify", certificate, "--rigorous")
    assert (done.returncode, done.stdout.partition(":")[0], done.stdout.splitlines()[-1]) == (code, words, line)
    assert ("  proved, by" in done.stdout) == (code == 0)
    done = equipoise("verify", certificate, "--rigorous", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["exit_code"], told["verdict"], told["consistent"]) == (code, code, words, code == 0)
    assert (told["faults"], told["enclosed"]) == ([line] if code else [], [line])


@pytest.mark.parametrize(("altered", "code"), [(True, 1), (False, 9)], ids=["a number was altered", "nobody paid"])
def test_where_the_ordinary_check_does_not_pass_nothing_is_evaluated_in_balls_and_that_is_said(
    certificate, tmp_path, monkeypatch, altered, code
):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    against = ()
    if altered:
        certificate.write_text(certificate.read_text().replace('"sensitivity": ', '"sensitivity": 9'))
    else:
        assert equipoise("ledger", "create", "people", "--epsilon", 1).returncode == 0
        against = ("--ledger", "people")
    done = equipoise("verify", certificate, "--rigorous", *against)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (code, *NOT_EVALUATED)
    done = equipoise("verify", certificate, "--rigorous", "--json", *against)
    told = json.loads(done.stdout)
    assert (done.returncode, told["exit_code"], told["enclosed"]) == (code, code, [*NOT_EVALUATED])


def test_without_its_extra_the_option_says_what_to_install(certificate, monkeypatch):
    for name in [
        name for name in sys.modules if name.split(".")[0] == "flint" or name.startswith("equipoise.rigorous")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "flint", None)
    done = equipoise("verify", certificate, "--rigorous")
    assert (done.returncode, 'pip install "equipoise[rigorous]"' in done.stderr) == (2, True)


def test_verify_names_the_field_and_fails(certificate):
    text = certificate.read_text().replace('"sensitivity": ', '"sensitivity": 9')
    certificate.write_text(text)
    verified = equipoise("verify", certificate)
    assert verified.returncode == 1
    first, *faults = verified.stdout.splitlines()
    assert first == "does not hold: (1, 0)-differential privacy, replace-one"
    assert faults[0].startswith("  output: delta(1) = ")
    assert faults[1] == "  digest: a recorded field was changed after the certificate was made"
    report = json.loads(equipoise("verify", certificate, "--json").stdout)
    assert (report["verdict"], report["consistent"]) == ("does not hold", False)
    assert [f"  {fault}" for fault in report["faults"]] == faults[:2]


CONSISTENT = """\
consistent; origin unproved: (1, 0)-differential privacy, replace-one
  proved, by A2+A4, output and spherical-laplace
  machine-checked over the reals (docs/machine-checked.md): N3
  proved on paper: A2, A4, D1, D6, M4, N10, N12
  to read them: equipoise docs A2+A4+D1+D6+M4+N10+N12+N3 (of the distribution equipoise)
  checked: claim
  not checked: who made the release and when: no signature was looked at
  not checked: whether a ledger recorded the spend
  not checked: sentences and figures of the certificate's notes, which the page and explain repeat: no claim rests \
on them
  not checked: whether noise was drawn and rows were mapped by the declared facts, whether those were chosen without a \
look at rows, and what else was released from them: no arithmetic can tell
  not checked: model, schema and page: this certificate lies apart from its release
"""


def test_verify_says_what_a_claim_rests_on_and_what_was_not_checked(certificate):
    verified = equipoise("verify", certificate)
    assert (verified.returncode, verified.stderr) == (0, "")
    assert verified.stdout == CONSISTENT
    report = json.loads(equipoise("verify", certificate, "--json").stdout)
    unchecked = [line.removeprefix("  not checked: ") for line in CONSISTENT.splitlines() if "not checked" in line]
    assert report == {
        "verdict": "consistent; origin unproved",
        "consistent": True,
        "faults": [],
        "withdrawn": [],
        "unchecked": unchecked,
        "theorems": dict.fromkeys(("A2", "A4", "D1", "D6", "M4", "N10", "N12"), "proved on paper")
        | {"N3": "machine-checked"},
        "confirmed": [],
        "exit_code": 0,
        "trusted": [],
    }
    assert equipoise("verify", certificate, "--quiet").stdout == ""
    assert equipoise("verify", certificate, "--quiet", "--json").stdout == ""


def test_verify_names_what_is_assumed(tmp_path):
    path = tmp_path / "certificate.json"
    observed = eq.LogisticRegression(domain=eq.Domain(1.0, classes="observed"), mechanism="output")
    path.write_text(observed.plan(1000, 3).to_json())
    verified = equipoise("verify", path)
    assert verified.returncode == 0
    assert "\n  conditional, by A2+A4, output and " in verified.stdout
    assert '\n  assumed: the label set found in the data is public (classes="observed")\n' in verified.stdout


FALSE = Withdrawal("2026-11-16", "theorem", "A2", "rows of [length] 0 were forgotten")


def test_verify_answers_withdrawn_with_the_reason_and_exit_code_5(certificate, monkeypatch):
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (FALSE,))
    verified = equipoise("verify", certificate)
    assert (verified.returncode, verified.stderr) == (5, "")
    first, second, third, *rest = verified.stdout.splitlines()
    assert first == "withdrawn: (1, 0)-differential privacy, replace-one"
    assert second == ("  withdrawn on 2026-11-16: theorem A2, all versions: rows of [length] 0 were forgotten")
    assert third.startswith("  once proved, by A2+A4, output and ")
    # Nobody says any more that what it rests on is proved.
    standing = ("  machine-checked", "  proved on paper", "  to read them")
    assert rest == [line for line in CONSISTENT.splitlines()[2:] if not line.startswith(standing)]
    done = equipoise("verify", certificate, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 5
    assert (report["verdict"], report["consistent"]) == ("withdrawn", False)
    assert (report["faults"], report["withdrawn"], report["theorems"]) == ([], [str(FALSE)], {})
    assert equipoise("verify", certificate, "--quiet").returncode == 5


@pytest.mark.parametrize(
    "other",
    [
        Withdrawal("2026-11-16", "theorem", "A3a", "another theorem"),
        Withdrawal("2026-11-16", "law", "A2", "another family"),
        Withdrawal("2026-11-16", "sampler", "opendp", "of a plan, no noise was drawn"),
    ],
    ids=lambda found: found.reason,
)
def test_what_was_withdrawn_elsewhere_leaves_a_certificate_consistent(certificate, monkeypatch, other):
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (other,))
    assert equipoise("verify", certificate).returncode == 0


def test_a_certificate_with_faults_that_was_withdrawn_as_well_does_not_hold(certificate, monkeypatch):
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (FALSE,))
    certificate.write_text(certificate.read_text().replace('"sensitivity": ', '"sensitivity": 9'))
    verified = equipoise("verify", certificate)
    assert verified.returncode == 1
    assert verified.stdout.startswith("does not hold: ")
    assert "  digest: a recorded field was changed" in verified.stdout
    assert f"  {FALSE}\n" in verified.stdout


@pytest.mark.parametrize("path", SCHEMA_1, ids=lambda path: path.stem)
def test_a_certificate_of_schema_1_is_not_checkable_and_ends_with_6(path):
    done = equipoise("verify", path)
    assert (done.returncode, done.stdout) == (6, "")
    assert [line.split("  ")[0] for line in done.stderr.splitlines()] == ["asked", "found", "to do"]
    assert "schema 1: not checkable by this version" in done.stderr
    assert "check it with version 0.1.0, whose source CHANGELOG.md names" in done.stderr


@pytest.mark.parametrize(
    "released",
    sorted(path for path in (ROOT / "tests/released/0.1.0").iterdir() if path.is_dir()),
    ids=lambda at: at.name,
)
def test_a_released_folder_of_schema_1_is_not_checkable_and_ends_with_6(released, tmp_path):
    names = ("model.json", "certificate.json", "schema.toml")
    files = {name: (released / name).read_bytes() for name in names if (released / name).exists()}
    files["report.html"] = b""
    for name, content in {**files, "MANIFEST.sha256": manifest_of(files).encode()}.items():
        (tmp_path / name).write_bytes(content)
    done = equipoise("verify", tmp_path)
    assert (done.returncode, done.stdout) == (6, "")
    assert "check it with version 0.1.0, whose source CHANGELOG.md names" in done.stderr


def with_another(text: str, place: tuple[str, ...], value: str) -> str:
    """Return a certificate whose claim has another value in one place."""
    record = json.loads(text)
    holder = record["claim"]
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return json.dumps(record)


@pytest.mark.parametrize(
    ("place", "named"),
    [
        (("kind",), "of kind 'mine'"),
        (("problem", "loss"), "problem.loss 'mine'"),
        (("problem", "penalty", "name"), "problem.penalty 'mine'"),
    ],
    ids=["kind", "loss", "penalty"],
)
def test_a_claim_that_this_version_cannot_read_ends_with_6(certificate, place, named):
    certificate.write_text(with_another(certificate.read_text(), place, "mine"))
    for command in ("verify", "explain"):
        done = equipoise(command, certificate)
        assert (done.returncode, done.stdout) == (6, "")
        assert [line.split("  ")[0] for line in done.stderr.splitlines()] == ["asked", "found", "to do"]
        assert f"{named}, unknown here" in done.stderr


@pytest.mark.parametrize("place", [("theorem",), ("noise", "law")], ids=lambda place: place[-1])
def test_a_member_that_this_version_does_not_know_ends_with_6_and_with_1_where_something_is_wrong_as_well(
    certificate, place
):
    altered = eq.Certificate.from_json(with_another(certificate.read_text(), place, "mine"))
    certificate.write_text(replace(altered, digest=_digest(altered.terms, altered.claim)).to_json())
    done = equipoise("verify", certificate)
    assert (done.returncode, done.stderr) == (6, "")
    first, second, *rest = done.stdout.splitlines()
    assert first == "unknown: (1, 0)-differential privacy, replace-one"
    assert second.startswith(f"  output: {place[-1]}")
    assert second.endswith(" 'mine', unknown here")
    assert rest == [line for line in CONSISTENT.splitlines() if line.startswith("  not checked")]
    told = equipoise("verify", certificate, "--json")
    report = json.loads(told.stdout)
    assert told.returncode == 6
    assert (report["verdict"], report["consistent"], report["faults"]) == ("unknown", False, [second.strip()])
    certificate.write_text(altered.to_json())
    done = equipoise("verify", certificate)
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:3] == [
        second,
        "  digest: a recorded field was changed after the certificate was made",
    ]


def test_certificates_of_schema_1_are_stored():
    assert len(SCHEMA_1) == 13
    assert equipoise("explain", SCHEMA_1[0]).returncode == 6


@pytest.mark.parametrize(
    ("family", "name"),
    [("kind", "output"), ("theorem", "A2"), ("law", "gaussian"), ("loss", "logistic"), ("penalty", "l2")],
)
def test_verify_names_a_member_that_it_trusted_and_no_version_ships(tmp_path, monkeypatch, family, name):
    path = tmp_path / "certificate.json"
    domain = eq.Domain(1.0, classes=(0, 1))
    model = eq.LogisticRegression(delta=1e-6, domain=domain, alpha=0.1, mechanism="gaussian")
    path.write_text(model.plan(1000, 3).to_json())
    assert "trusted" not in equipoise("verify", path).stdout
    others = " ".join(word for word in shipped.SHIPPED[family].split() if word != name)
    monkeypatch.setitem(shipped.SHIPPED, family, others)
    verified = equipoise("verify", path)
    assert verified.returncode == 0
    assert verified.stdout.splitlines()[-1] == (
        f"  trusted: {family} {name}, which Equipoise {eq.__version__} does not ship"
    )
    assert json.loads(equipoise("verify", path, "--json").stdout)["trusted"] == [f"{family} {name}"]


def test_plan_of_a_ridge_as_json():
    done = equipoise(
        "plan", "-n", 500, "-d", 3, "--epsilon", 2, "--delta", 1e-6, "--model", "ridge", "--labels", "0,400", "--json"
    )
    assert json.loads(done.stdout)["claim"]["budget"] == {"epsilon": 2.0, "delta": 1e-6}


@pytest.mark.parametrize(
    ("model", "facts", "loss", "penalty"),
    [
        ("logistic", (), "logistic", "l2"),
        ("logistic", ("--classes", "low,middle,high"), "multinomial:3", "l2"),
        ("ridge", ("--labels", "0,400"), "squared", "l2"),
        ("svm", (), "smooth-hinge", "l2"),
        ("huber", ("--labels", "0,400"), "huber:50.0", "l2"),
        ("elastic-net", ("--labels", "0,400"), "squared", "elastic-net:0.5"),
        ("elastic-net-classifier", (), "logistic", "elastic-net:0.5"),
        ("additive-regressor", ("--labels", "0,400"), "squared", "l2"),
        ("additive-classifier", (), "logistic", "l2"),
        ("bridge-regressor", ("--labels", "0,400"), "squared", "bridge:1.5"),
        ("bridge-classifier", (), "logistic", "bridge:1.5"),
        ("sgd-classifier", ("--recipe", "loss=hinge,passes=3,batch_size=1,order=fresh"), "hinge", "l2"),
        ("sgd-regressor", ("--labels", "0,400", "--recipe", "step=0.01,clip=none,radius=300"), "squared", "l2"),
        ("noisy-sgd-classifier", ("--delta", 1e-6, "--recipe", "passes=linear"), "logistic", "none"),
        ("noisy-sgd-regressor", ("--delta", 1e-6, "--labels", "0,400", "--alpha", 0.1), "squared", "l2"),
        ("phased-classifier", ("--recipe", "step=public"), "logistic", "none"),
        ("phased-regressor", ("--labels", "0,400", "--recipe", "loss=absolute"), "absolute", "none"),
        ("dropout-classifier", ("--delta", 1e-6), "logistic", "l2"),
        ("dropout-regressor", ("--delta", 1e-6, "--labels", "0,400"), "squared", "l2"),
    ],
)
def test_every_model_plans(model, facts, loss, penalty, tmp_path):
    path = tmp_path / "certificate.json"
    done = equipoise("plan", "-n", 1000, "-d", 5, "--epsilon", 1, "--model", model, *facts, "--out", path)
    assert done.returncode == 0, done.stderr
    budget = "(1, 1e-06)" if "--delta" in facts else "(1, 0)"
    assert f"Claim (proved): {budget}-differential privacy" in done.stdout
    asked = json.loads(path.read_text())["notes"]["asked"]
    assert (asked["loss"], asked["penalty"]) == (loss, penalty)
    assert equipoise("verify", path).returncode == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "sgd-classifier", "--recipe", "epochs=3"), "write NAME=VALUE"),
        (("--model", "sgd-classifier", "--recipe", "passes=0"), "pass passes=10"),
        (("--model", "sgd-classifier", "--recipe", "batch_size=65"), "batch_size=10 for all rows"),
        (("--model", "sgd-classifier", "--recipe", "batch_size=2,step=99"), "beyond which they overshoot"),
        (("--model", "sgd-classifier", "--recipe", "batch_size=2,step=slow"), "pass a number such as 0.1"),
        (("--model", "phased-classifier", "--alpha", 0.1), "leave them out"),
        (("--model", "logistic", "--recipe", "passes=3"), "leave them out"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused_with_what_to_do(options, words):
    done = equipoise("plan", "-n", 10, "-d", 5, "--epsilon", 1, *options)
    assert done.returncode == 2
    assert words in done.stderr


def test_bounds_of_a_descent():
    done = equipoise("bounds", "-n", 100, "--alpha", 0, "--penalty", "none", "--loss", "hinge", "--classes", "0,1",
                     "--recipe", "passes=100,step=1", "--json")  # fmt: skip
    answers = {answer["theorem"]: answer["value"] for answer in json.loads(done.stdout)}
    assert answers["C1"] == pytest.approx(259.427, abs=1e-2)
    assert answers["B1"] is None
    refused = equipoise("bounds", "-n", 100, "--alpha", 1, "--recipe", "radius=1,passes=1,step=1")
    assert refused.returncode == 2
    assert "--radius" in refused.stderr


def test_the_table_of_models_is_tested_whole():
    [planned] = [mark for mark in test_every_model_plans.pytestmark if mark.name == "parametrize"]
    assert {arguments[0] for arguments in planned.args[1]} == set(estimators.models())


def test_an_existing_file_is_kept(certificate):
    before = certificate.read_text()
    done = equipoise("plan", "-n", 10, "-d", 1, "--epsilon", 1, "--out", certificate)
    assert done.returncode == 2
    assert "one that exists" in done.stderr
    assert certificate.read_text() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "-n", 0, "-d", 3, "--epsilon", 1), "n_samples"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", -1), "epsilon"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", 1, "--alpha", "soft"), "--alpha public"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", 1, "--model", "forest"), "huber, logistic, noisy-sgd-classifier"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", 1, "--model", "ridge"), "--labels LOW,HIGH"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", 1, "--model", "svm", "--classes", "0,1,2"), "two classes"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", 1, "--model", "ridge", "--labels", "a,b"), "--labels"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", 1, "--mechanism", "[bold]"), "[bold]"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", 1, "--mechanism", "magic"), "noisy-gradient"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", 1, "--mechanism", "noisy-gradient"), "delta > 0"),
        (("plan", "-n", 10, "-d", 3, "--epsilon", 1, "--mechanism", "functional"), "Ridge"),
        (("bounds", "-n", 10, "--alpha", 0), "alpha"),
        (("bounds", "-n", 10, "--alpha", 1, "--loss", "hinge-ish"), "hinge, huber, logistic"),
        (("verify", "nowhere.json"), "nowhere.json"),
        (("explain", "."), "certificate"),
    ],
)
def test_bad_input_is_three_lines_and_exit_code_2(arguments, words):
    done = equipoise(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line]
    assert [line.split("  ")[0] for line in lines] == ["asked", "found", "to do"]
    assert words in done.stderr


def test_a_truncated_certificate_is_refused_and_a_newer_one_is_not_checkable(certificate):
    text = certificate.read_text()
    certificate.write_text(text[:500])
    assert equipoise("verify", certificate).returncode == 2
    certificate.write_text(text.replace('"schema_version": 2', '"schema_version": 99'))
    done = equipoise("verify", certificate)
    assert (done.returncode, done.stdout) == (6, "")
    assert "schema 99: not checkable by this version" in done.stderr
    assert "install a newer Equipoise" in done.stderr


# Completing an option takes what completing a command does.
@pytest.mark.parametrize(
    ("line", "completions"),
    [
        pytest.param("equipoise tr", {"train"}, marks=pytest.mark.statistics),
        pytest.param("equipoise ledger sh", {"show"}, marks=pytest.mark.statistics),
        ("equipoise verify --qu", {"--quiet"}),
    ],
)
def test_a_shell_completes_commands_and_options(line, completions):
    program = str(Path(sys.executable).parent / "equipoise")
    variables = {
        "_EQUIPOISE_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split()) - 1),
    }
    done = subprocess.run([program], capture_output=True, text=True, env={**os.environ, **variables}, check=False)
    assert completions <= set(done.stdout.split())


def test_the_program_stands_on_its_own(tmp_path):
    program = str(Path(sys.executable).parent / "equipoise")
    words = ["bounds", "-n", "1000", "--alpha", "0.1"]
    environment = {**os.environ, **VARIABLES}
    done = subprocess.run([program, *words], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, equipoise(*words).stdout)
    refused = subprocess.run(
        [program, "bounds", "-n", "0"], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert refused.returncode == equipoise("bounds", "-n", 0).returncode != 0
    assert refused.stderr == equipoise("bounds", "-n", 0).stderr


def test_every_command_is_documented_and_has_help():
    page = (ROOT / "docs" / "command-line.md").read_text()
    listed = equipoise("--help").stdout
    for path in (ROOT / "src" / "equipoise" / "cli").glob("*.py"):
        text = path.read_text()
        if "\ndef command(" not in text and "\ngroup = " not in text:
            continue
        assert f" {path.stem} " in listed
        assert re.search(rf"^\| `{path.stem}\b", page, re.MULTILINE), path.stem
        assert equipoise(path.stem, "--help").returncode == 0


def helped(program, path: tuple[str, ...]):
    """Yield every command below one, and every sentence of its help."""
    for name, below in getattr(program, "commands", {}).items():
        yield from helped(below, (*path, name))
    if not hasattr(program, "commands"):
        yield path, [program.help or "", *(getattr(option, "help", None) or "" for option in program.params)]


def test_names_in_brackets_are_shown_by_help_and_not_taken_for_styles():
    bracketed = re.compile(r"\[[a-z]+\]")
    found = 0
    for name in commands():
        for path, sentences in helped(typer.main.get_command(build([name])), ()):
            wanted = [word for sentence in sentences for word in bracketed.findall(sentence)]
            shown = bracketed.findall(equipoise(*path, "--help").stdout) if wanted else []
            assert [shown.count(word) >= wanted.count(word) for word in wanted] == [True] * len(wanted), path
            found += len(wanted)
    assert found >= 5


def test_certificates_of_a_search_and_of_a_selection_are_read_as_well(tmp_path):
    domain = eq.Domain(1.0, labels=(-1.0, 1.0))
    search = eq.PrivateGridSearch(eq.Ridge(domain=domain), {"alpha": [0.01, 0.1]}, epsilon=1.0)
    plans = {
        "proved, by E5, choice and exponential": search.plan(1000, 3),
        "proved, by G4+G5, simplex and ": eq.SimplexSelector().plan(5000, 4),
    }
    for words, plan in plans.items():
        path = tmp_path / "certificate.json"
        path.write_text(plan.to_json())
        explained, read_on = equipoise("explain", path).stdout.split("\nTo read on: equipoise docs ")
        assert explained == plan.explain()
        assert texts_of(read_on.split()[0])
        checked = equipoise("verify", path)
        assert checked.returncode == 0, checked.stderr
        assert words in checked.stdout
        path.write_text(plan.to_json().replace('"epsilon": 1.0', '"epsilon": 0.5', 1))
        assert equipoise("verify", path).returncode == 1


@pytest.mark.parametrize("command", ["explain", "verify"])
def test_a_wrong_path_is_to_be_checked_and_not_asked_for_again(command, tmp_path):
    (tmp_path / "people.csv").write_text("age,ill\n40,no\n")
    (tmp_path / "people.toml").write_text("format_version = 1\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "model.json").write_text('{"format_version": 2}')
    told = {
        "relase": "nothing at",
        "people.csv": "another file",
        "model.json": "another file",
        "people.toml": "another file",
        "folder": "missing: ",
    }
    for name, found in told.items():
        done = equipoise(command, tmp_path / name)
        assert (done.returncode, done.stdout) == (2, "")
        assert found in done.stderr, done.stderr
        assert "check the path; pass the folder that train or evaluate wrote" in " ".join(done.stderr.split())
    # A certificate that was cut off is still to be asked for again.
    (tmp_path / "certificate.json").write_text('{"schema_version": 2')
    assert "ask for the file again" in equipoise(command, tmp_path / "certificate.json").stderr


def test_figures_of_nothing_ask_for_an_evaluation(tmp_path):
    done = equipoise("figures", tmp_path / "nothing")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "the folder of an evaluation" in said
    assert "check the path; pass the folder that evaluate or train --holdout wrote" in said
