"""The model card: one page about a release, from its folder alone, for people and for disclosure control."""

import dataclasses
import json
import re
import shutil
import sys
import types
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from browser import needs_browser
from equipoise.artifact.card import card_of
from equipoise.artifact.disclosure import sacroml_target
from equipoise.artifact.parts import Part
from equipoise.artifact.signing import envelope_of
from equipoise.artifact.trust import Trusted
from equipoise.certify.folder import CERTIFICATE, CHECK_FAILED, MODEL, REPORT, SCHEMA, STATEMENT
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.errors import InvalidParameter, MissingExtra, NotCheckable, ReleaseUnreadable
from equipoise.keys import fingerprint, new_key, private_key
from equipoise.report import pdf
from equipoise.report.card import html, markdown
from program import run_program
from released_folders import changed, sealed
from sample_releases import HOSTILE

OLD = Path(__file__).parents[1] / "released" / "0.1.0" / "three-classes"
N = 200
FACTS = {"vouched_by": "A. Officer", "vouched_on": "2026-11-16"}
COLUMNS = (NumberColumn("age", (0, 100)), CategoryColumn("job", ("none", "nurse"), unknown="none"))


def table(target: str = "ill") -> pd.DataFrame:
    generator = np.random.default_rng(1)
    age = generator.uniform(10, 110, N)
    found = pd.DataFrame({"age": age, "job": generator.choice(["none", "nurse", "pilot"], N)})
    found[target] = np.where(age > 60, "yes", "no") if target != "dose" else 3 * age
    return found


# The page is another matter, and takes its time.
pytestmark = pytest.mark.usefixtures("plain_page")


def saved(folder: Path, model, rows) -> Path:
    eq.save(model.fit(rows), folder)
    return folder


@pytest.fixture
def release(tmp_path) -> Path:
    schema = eq.Schema(N, COLUMNS, Target("ill", classes=("no", "yes")), **FACTS)
    model = eq.LogisticRegression(epsilon=2.0, delta=1e-4, domain=schema, alpha=0.05, mechanism="gaussian")
    return saved(tmp_path / "release", model, table())


def test_a_card_says_who_signed_as_the_folder_says(release, tmp_path):
    new_key(tmp_path / "office.key")
    key = private_key(tmp_path / "office.key")
    contents = {path.name: path.read_bytes() for path in release.iterdir()}
    (release / STATEMENT).write_text(envelope_of(contents, key, "Data office, St. Anna"))
    card = card_of(release)
    assert card["release"]["signature"] == {
        "producer": "Data office, St. Anna",
        "signed": card["release"]["signature"]["signed"],
        "key": key.public.hex(),
        "fingerprint": fingerprint(key.public),
    }
    text = markdown(card)
    assert "Origin unproved: the folder says that Data office, St. Anna signed it on" in text
    assert fingerprint(key.public) in text
    assert "a signature would say so" not in text
    card = card_of(release, trusted={key.public: Trusted("Office")})
    assert card["release"]["origin"] == "signed by Office"
    assert "was signed by Office, who says to be Data office, St. Anna, on" in markdown(card)
    with pytest.raises(ReleaseUnreadable, match="signed by a key that is trusted"):
        card_of(release, trusted={bytes(32): Trusted("Somebody else")})
    (release / STATEMENT).write_text(envelope_of({**contents, REPORT: b""}, key))
    with pytest.raises(ReleaseUnreadable, match="as it was signed"):
        card_of(release)


def test_a_card_does_not_say_that_nobody_looked_at_what_was_looked_at(release, tmp_path, monkeypatch):
    said = card_of(release)["privacy"]["not_checked"]
    assert not any("the page says" in line for line in said), "it was drawn again and compared"
    assert any("no signature was looked at" in line for line in said)
    new_key(tmp_path / "office.key")
    key = private_key(tmp_path / "office.key")
    contents = {path.name: path.read_bytes() for path in release.iterdir()}
    (release / STATEMENT).write_text(envelope_of(contents, key))
    said = card_of(release, trusted={key.public: Trusted("Office")})["privacy"]["not_checked"]
    assert not any("no signature" in line for line in said)
    # Where the page could not be compared, the card says why.
    why = Part(CHECK_FAILED, unchecked=("what the page says: not compared, since Altair is not installed",))
    monkeypatch.setattr("equipoise.artifact.card.require_page", lambda contents: why)
    assert why.unchecked[0] in card_of(release)["privacy"]["not_checked"]


def test_what_an_attacker_gains_is_said_under_its_conditions(tmp_path):
    domain = eq.Domain(1.0, classes="observed")
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (N, 2))
    for name, seed, said in (
        ("open", None, "All of this holds only if the assumptions above do. Someone knows two rows"),
        ("seeded", 0, "Nothing of this holds against whoever knows or guesses the seed. Someone knows two rows"),
    ):
        model = eq.LogisticRegression(domain=domain, random_state=seed).fit(rows, rows[:, 0] > 0)
        eq.save(model, tmp_path / name)
        assert said in markdown(card_of(tmp_path / name))
        assert "What an attacker gains, at most, if the assumptions hold\n" in model.certificate_.explain()
        assert "Both being equally likely beforehand, the right one" in model.certificate_.explain()
        assert "as the columns above describe them" not in markdown(card_of(tmp_path / name))


class Words(HTMLParser):
    """The text and the tags of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.words.append(data)


def test_a_card_says_what_a_reader_asks(release):
    card = card_of(release)
    certificate = eq.Certificate.from_json((release / CERTIFICATE).read_text())
    gains = certificate.gains()
    text = markdown(card)
    for said in (
        "# Model card: ill",
        "ill: one of no, yes. A linear model (logistic), with noise",
        "age (number from 0 to 100); job (category, 2 levels).",
        "Trained on 200 rows",
        "The public facts are vouched for by A. Officer (2026-11-16).",
        f"equipoise {dict(certificate.release.software)['equipoise']}",
        certificate.release.made,
        certificate.release.id,
        "e^2 = 7.39 times as likely, and 0.0001 on top: (2, 0.0001)-differential privacy, replace-one",
        "It is proved, by",
        "the promise is for one row",
        "nothing says that a ledger recorded this release",
        "Not on this card: a score on private rows has to be paid for",
        "equipoise verify FOLDER",
        "with --key FILE.pub, or --trust FILE.toml",
        "with --ledger NAME, or --export FILE",
        "If both are equally likely beforehand",
        "a signature would say so, and the folder has none",
        certificate.digest,
    ):
        assert said in text, said
    assert card["privacy"]["gains"]["guess"] == gains.guess
    rows = [[float(cell) for cell in re.findall(r"([\d.]+) %", line)] for line in text.splitlines() if line[:1] == "|"]
    assert rows[0] == [0.1, 1.0, 10.0]
    for shown, (_, bound) in zip(rows[2], gains.true_positive_rates, strict=True):
        # Rounded up, in the third digit.
        assert 100 * bound <= shown * (1 + 1e-9) <= 101 * bound + 0.1
    # Both forms say the same.
    spoken = " ".join(" ".join(Words(html(card)).words).split())
    for line in text.splitlines():
        for sentence in re.split(r"[|#]|^- ", line):
            assert " ".join(sentence.replace("\\", "").split()).strip(" -") in spoken


def test_a_card_has_a_landmark_for_its_content(release):
    page = html(card_of(release))
    assert page.count("<main>") == page.count("</main>") == 1
    assert page.index("<body><main>") < page.index("<h1>")


def test_nothing_is_on_a_card_that_is_not_in_the_folder(release):
    card, own = card_of(release), {"card_version", "disclosure", "not_checked", "gains", "evaluation", "origin"}
    texts = " ".join(path.read_text() for path in release.iterdir())

    def values(entry, name=""):
        if name in own:
            return
        children = entry.items() if isinstance(entry, dict) else ((name, each) for each in entry)
        for key, each in children:
            if isinstance(each, dict | list):
                yield from values(each, key)
            elif each not in (None, False, True) and key not in own:
                yield key, each

    found = dict(values(card))
    assert len(found) > 20
    for key, value in found.items():
        stated = {str(value), json.dumps(value), f"{value:g}" if isinstance(value, float) else ""} - {""}
        # Two words of the record that the certificate has by other names.
        assert key in ("unit", "task") or any(text in texts for text in stated), (key, value)
    # Nor is anything that only rows could tell.
    assert card["disclosure"]["class_frequencies"] is card["disclosure"]["training_score"] is None


def test_a_regression_persons_and_a_selection_have_cards(tmp_path):
    schema = eq.Schema(N, COLUMNS, Target("dose", bounds=(0, 400)), **FACTS)
    ridge = eq.Ridge(domain=schema, alpha=0.1, mechanism="output")
    card = card_of(saved(tmp_path / "ridge", ridge, table("dose")))
    assert "dose, a number from 0 to 400." in markdown(card)
    assert card["disclosure"]["residual_degrees_of_freedom"] == N - card["disclosure"]["parameters"]
    people = eq.Domain(row_norm=1.0, classes=(0, 1), rows_a_person=3)
    rows, labels = np.zeros((20, 2)), np.arange(20) % 2
    model = eq.LogisticRegression(domain=people, alpha=0.5, mechanism="output")
    model.plan(n_samples=10, n_features=2)
    model.fit(rows, labels, groups=np.arange(20) // 2)
    eq.save(model, tmp_path / "persons")
    text = markdown(card_of(tmp_path / "persons"))
    assert "If all rows of one person are exchanged" in text
    assert "one row" not in text
    assert "The folder has no names of columns" in text
    ones = eq.SimplexSelector(epsilon=1.0, delta=1e-6).fit(np.ones((2000, 3)))
    eq.save(ones, tmp_path / "selection")
    assert "A selection of columns (simplex" in markdown(card_of(tmp_path / "selection"))


def test_hostile_names_mean_themselves(release):
    card = card_of(release)
    names = (*HOSTILE.values(), "[a](https://leak.example)", "# one", "- two", "1. three", "*b* `c` | d", "\ud800")
    for name in names:
        card["model"] |= {"target": name, "classes": [name] * 2, "columns": [{"name": name, "kind": "number"}] * 20}
        card["training"]["ledger"] = name
        parsed = Words(html(card))
        assert not {"script", "img", "iframe", "object"} & set(parsed.tags)
        assert (parsed.tags.count("style"), parsed.tags.count("body")) == (1, 1)
        written = markdown(card).encode("utf-8").decode()
        lines = written.splitlines()
        assert [line for line in lines if line.startswith("# ")] == lines[:1]
        assert not re.search(r"(?<!\\)[<\[`*]|://|^\d+\. ", written, flags=re.MULTILINE)
        assert "and 8 more, in schema.toml" in written


def test_a_card_is_written_as_its_name_ends_and_replaces_nothing(release, tmp_path):
    printed = run_program("card", "release", folder=tmp_path).stdout
    assert printed.startswith("# Model card: ill")
    assert run_program("card", "release", "--format", "html", folder=tmp_path).stdout.startswith("<!doctype html>")
    assert run_program("card", "release", "--out", "card.md", folder=tmp_path).stdout == "wrote card.md\n"
    assert (tmp_path / "card.md").read_text() == printed
    again = run_program("card", "release", "--out", "card.md", folder=tmp_path)
    assert (again.returncode, "one that exists" in again.stderr) == (2, True)
    assert run_program("card", "release", "--out", "card.html", "--quiet", folder=tmp_path).stdout == ""
    assert (tmp_path / "card.html").read_text() == html(card_of(release))
    told = run_program("card", "release", "--json", folder=tmp_path).stdout
    assert json.loads(told) == card_of(release)
    without = run_program("card", "release", "--format", "pdf", folder=tmp_path)
    assert (without.returncode, "--out card.pdf" in without.stderr) == (2, True)


@needs_browser
def test_a_card_on_paper_is_one_page(release, tmp_path):
    assert run_program("card", "release", "--out", "card.pdf", folder=tmp_path).returncode == 0
    page = (tmp_path / "card.pdf").read_bytes()
    assert page.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", page)) == 1


def test_without_a_browser_a_pdf_is_refused_with_what_to_do(release, tmp_path, monkeypatch):
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    done = run_program("card", "release", "--out", "card.pdf", folder=tmp_path)
    assert done.returncode == 2
    assert "--format html" in done.stderr
    assert not (tmp_path / "card.pdf").exists()


def test_an_altered_release_has_no_card(release, tmp_path):
    copy = Path(shutil.copytree(release, tmp_path / "copy"))
    (copy / CERTIFICATE).write_text((copy / CERTIFICATE).read_text().replace("2.0", "0.1", 1))
    with pytest.raises(ReleaseUnreadable, match="not those of the manifest"):
        card_of(copy)
    assert run_program("card", copy).returncode == CHECK_FAILED
    page = (release / REPORT).read_text()
    (release / REPORT).write_text("<p>epsilon 0.01</p>")
    sealed(release)
    done = run_program("card", release)
    assert (done.returncode, done.stdout) == (CHECK_FAILED, "")
    assert "not the page that the other files call for" in done.stderr
    (release / REPORT).write_text(page)
    certificate = json.loads((release / CERTIFICATE).read_text())
    certificate["claim"]["budget"]["epsilon"] = 0.1
    changed(release, CERTIFICATE, claim=certificate["claim"])
    sealed(release)
    with pytest.raises(ReleaseUnreadable, match="a release that holds"):
        card_of(release)
    for path in (CERTIFICATE, MODEL):
        shutil.copy(OLD / path, release / path)
    (release / SCHEMA).unlink()
    sealed(release)
    with pytest.raises(NotCheckable):
        card_of(release)
    assert run_program("card", release).returncode == 6


@dataclasses.dataclass
class FakeTarget:
    """What of SACRO-ML's target the adapter uses."""

    model: object
    model_name: str
    model_params: dict
    dataset_name: str
    safemodel: list
    features: dict = dataclasses.field(default_factory=dict)

    def add_feature(self, name, indices, encoding):
        self.features[len(self.features)] = {"name": name, "indices": indices, "encoding": encoding}


def test_the_package_sacroml_takes_a_released_classifier_and_answers_as_the_record_does(release, tmp_path, monkeypatch):
    pytest.importorskip("sacroml.attacks.target", reason="pip install sacroml")
    from sacroml.attacks.structural_attack import StructuralAttack
    from sacroml.attacks.worst_case_attack import WorstCaseAttack

    monkeypatch.chdir(tmp_path)
    target, model, rows = sacroml_target(release), eq.load(release), table()
    encoded = eq.SchemaEncoder(model._public_facts).fit_transform(rows)
    classes = (rows["ill"] == "yes").to_numpy().astype(int)
    target.X_train, target.X_test = encoded[: N // 2], encoded[N // 2 :]
    target.y_train, target.y_test = classes[: N // 2], classes[N // 2 :]
    said = StructuralAttack(output_dir=str(tmp_path / "structural")).attack(target)
    found = next(iter(said["attack_experiment_logger"]["attack_instance_logger"].values()))
    appetite = card_of(release)["disclosure"]["risk_appetite"]
    assert found["unnecessary_risk"] is appetite["unnecessary_risk"] is False
    assert found["dof_risk"] is (
        appetite["safe_dof_threshold"] < said["metadata"]["attack_params"]["safe_dof_threshold"]
    )
    assert WorstCaseAttack(n_reps=2, n_dummy_reps=1, output_dir=str(tmp_path / "worst")).attack(target)


def test_a_released_classifier_becomes_a_target_of_sacroml(release, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacroml.attacks.target", None)
    with pytest.raises(MissingExtra, match="pip install sacroml"):
        sacroml_target(release)
    module = types.ModuleType("sacroml.attacks.target")
    module.Target = FakeTarget
    for name in ("sacroml", "sacroml.attacks"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "sacroml.attacks.target", module)
    target, model = sacroml_target(release), eq.load(release)
    assert target.features == {
        0: {"name": "age", "indices": [0], "encoding": "float"},
        1: {"name": "job", "indices": [1, 2], "encoding": "onehot"},
    }
    assert target.safemodel == [card_of(release)]
    encoded = eq.SchemaEncoder(model._public_facts).fit_transform(table())
    assert (model.classes_[target.model.predict(encoded)] == model.predict(table())).all()
    schema = eq.Schema(N, COLUMNS, Target("dose", bounds=(0, 400)), **FACTS)
    ridge = saved(tmp_path / "ridge", eq.Ridge(domain=schema, alpha=0.1, mechanism="output"), table("dose"))
    with pytest.raises(InvalidParameter, match="a released classifier"):
        sacroml_target(ridge)
