"""Signed releases, and what a release is held against: keys, a ledger, witnesses. What is forged is refused by name."""

import base64
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.artifact import folder as released
from equipoise.artifact import page_check, page_file, statement
from equipoise.artifact.findings import NOT_SEEN, NOTES, contents_of
from equipoise.artifact.parts import BEYOND_POLICY, FILES_SEEN, NOT_PAID, NOT_SIGNED, NOT_TRUSTED, OTHER_HISTORY
from equipoise.artifact.payment import EXPORT_NOT_SEEN, FILES_NOT_SEEN, History, payment, recorded_in
from equipoise.artifact.signing import sign_folder
from equipoise.artifact.verdict import STATE_NOT_SHOWN, Against, examine
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import (
    CERTIFICATE,
    CHECK_FAILED,
    DONE,
    MANIFEST,
    MODEL,
    PAGE,
    REFUSED,
    REPORT,
    SCHEMA,
    STATEMENT,
)
from equipoise.errors import InvalidParameter, OutputRefused, ReleaseUnreadable
from equipoise.keys import private_key, sign
from equipoise.ledger.checkpoints import Checkpoint, signed
from equipoise.ledger.currencies.base import NOTHING
from equipoise.ledger.signing import signed_head
from equipoise.ledger.statements import balance_after
from equipoise.ledger.walk import Walk
from program import run_program
from released_folders import changed, sealed
from signed_releases import Hospital


@pytest.fixture(scope="module", autouse=True)
def plain_pages():
    """Leave out the charts: tests/artifact/test_page_check.py compares whole pages."""
    with pytest.MonkeyPatch.context() as patch:
        for place in (released, page_check):
            patch.setattr(place, "page_of", page_without_charts)
        yield


def page_without_charts(certificate, shown, balance=None, at="", attack=None) -> str:
    left = None if balance is None else balance.epsilon_left
    return f"<p>{certificate.digest} {shown.coefficients} {left} {at}</p>"


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Hospital:
    return Hospital(tmp_path_factory.mktemp("house"))


@pytest.fixture(scope="module")
def release(house) -> Path:
    return house.release("release")


@pytest.fixture(scope="module")
def second(house) -> Path:
    return house.release("second")


@pytest.fixture
def copy(release, tmp_path) -> Path:
    return Path(shutil.copytree(release, tmp_path / "release"))


@pytest.fixture
def verify(house):
    """Return what runs `equipoise verify` where the keys are, and gives its exit code and what it said."""

    def call(*words: object) -> tuple[int, str]:
        done = run_program("verify", *words, folder=house.folder)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout + done.stderr

    return call


def resigned(folder: Path, house: Hospital, payload: bytes) -> None:
    """Let the owner sign another payload, as whoever holds the key could."""
    key = house.key
    text = statement.written(payload, key.public, sign(key, statement.PAYLOAD_TYPE, payload))
    (folder / STATEMENT).write_text(text)


# --- what is signed ---------------------------------------------------------------------------------------------------


def test_a_statement_names_every_file_and_the_facts_of_the_release(house, release):
    envelope = json.loads((release / STATEMENT).read_text())
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    said = json.loads(base64.b64decode(envelope["payload"]))
    assert (said["_type"], said["predicateType"]) == ("https://in-toto.io/Statement/v1", "urn:equipoise:release:v1")
    names = {path.name for path in release.iterdir()} - {STATEMENT}
    assert [one["name"] for one in said["subject"]] == sorted(names)
    certificate, facts = eq.load(release).certificate_, said["predicate"]
    assert facts["release"] == certificate.release.id
    assert facts["certificate"] == certificate.digest
    assert facts["schema"] == certificate.terms.schema != ""
    assert facts["ledger"]["dataset"] == "people"
    assert facts["ledger"]["entry"] == certificate.release.entry
    assert facts["ledger"]["head"] == eq.Ledger(house.ledger).entry(3).place
    assert dict(facts["software"])["equipoise"] == eq.__version__
    assert [name for name, _ in facts["renderer"]] == ["equipoise", "vl-convert-python"]
    assert facts["producer"] == "Data office"
    assert facts["made"] <= facts["signed"]


READER = """
import base64, hashlib, json, sys
from pathlib import Path
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey

folder = Path(sys.argv[1])
envelope = Envelope.from_dict(json.loads((folder / "statement.dsse.json").read_text()))
key = SSlibKey(sys.argv[2], "ed25519", "ed25519", {"public": sys.argv[2]})
assert envelope.verify([key], 1) == {key.keyid: key}
said = json.loads(envelope.payload)
for one in said["subject"]:
    assert hashlib.sha256((folder / one["name"]).read_bytes()).hexdigest() == one["digest"]["sha256"]
print(said["predicateType"], len(said["subject"]))
"""


def test_an_existing_reader_of_envelopes_verifies_the_signature(house, release):
    pytest.importorskip("securesystemslib", reason="pip install securesystemslib")
    done = subprocess.run(
        [sys.executable, "-c", READER, release, house.key.public.hex()], capture_output=True, text=True, check=True
    )
    assert done.stdout == "urn:equipoise:release:v1 6\n"


def test_without_anything_it_is_consistent_and_what_was_not_checked_is_named(verify, release):
    code, said = verify(release)
    first, *rest = said.splitlines()
    assert (code, first) == (DONE, "consistent; origin unproved: (1, 0)-differential privacy, replace-one")
    unchecked = [line.removeprefix("  not checked: ") for line in rest if "not checked" in line]
    assert [line.split(":")[0] for line in unchecked] == [
        "who made the release and when",
        "whether a ledger recorded the spend",
        "sentences and figures of the certificate's notes, which the page and explain repeat",
        NOT_SEEN[-1].split(":")[0],
    ]
    assert "whether noise was drawn" in unchecked[-1]
    assert "'Data office' signed it on " in unchecked[0]


def test_with_a_key_it_is_said_whose_it_is_and_with_a_ledger_which_entry_paid(verify, house, release):
    code, said = verify(release, "--key", "owner.key.pub", "--ledger", house.ledger)
    first, *rest = said.splitlines()
    assert code == DONE
    assert first.startswith("consistent; signed by owner.key.pub; paid for by entry 2: ")
    assert any(line.startswith("  checked: every file signed by owner.key.pub, ") for line in rest)
    assert "  checked: paid for by entry 2 of the ledger's 'people', and by it alone" in rest
    assert f"  checked: {FILES_SEEN}" in rest
    assert "notes, which the page and explain repeat" not in said
    (house.folder / "export.json").write_text(eq.Ledger(house.ledger).export())
    code, said = verify(release, "--export", "export.json", "--json")
    told = json.loads(said)
    said = "consistent; origin unproved; paid for by entry 2, as an export that nobody signed says"
    assert (code, told["exit_code"], told["verdict"]) == (0, 0, said)
    # Whoever forges a folder writes an export for it, too: nothing is confirmed by one.
    assert not any("paid for" in line or line == FILES_SEEN for line in told["confirmed"])
    assert {EXPORT_NOT_SEEN, NOTES} <= set(told["unchecked"])


def test_an_export_shows_a_policy_that_a_ledger_paid_only_with_a_witness_whose_key_was_passed(verify, house, release):
    place = house.folder
    (place / "export.json").write_text(eq.Ledger(house.ledger).export())
    (place / "policy.toml").write_text("ledger = true\n")
    for number, code in ((2, BEYOND_POLICY), (3, DONE)):
        # The outcome is entry 3: it names the files.
        head = Checkpoint.of(eq.Ledger(house.ledger).entry(number), "basic", NOTHING)
        (place / "head.json").write_text(signed(head, house.key).to_json())
        words = (release, "--export", "export.json", "--policy", "policy.toml", "--witness", "head.json")
        assert verify(*words, "--witness-key", "owner.key.pub")[0] == code
    code, said = verify(*words, "--witness-key", "owner.key.pub")
    assert "checked: paid for by entry 2 of an export of 'people', and by it alone" in said
    code, said = verify(*words[:5])
    assert (code, "policy: ledger: required, and none was shown: pass --ledger, or --export with" in said) == (11, True)
    assert verify(release, "--ledger", house.ledger, "--policy", "policy.toml")[0] == DONE


def test_a_folder_is_signed_later_and_once_and_only_if_it_holds(house, release, tmp_path):
    plain = Path(shutil.copytree(release, tmp_path / "plain"))
    (plain / STATEMENT).unlink()
    run = run_program("sign", plain, "--key", house.folder / "owner.key", "--by", "A. Officer", "--json")
    assert (run.returncode, run.stderr) == (0, "")
    assert json.loads(run.stdout)["key"] == house.key.public.hex()
    assert examine(plain, Against()).answer[0] == DONE
    again = run_program("sign", plain, "--key", house.folder / "owner.key")
    assert again.returncode == REFUSED
    sign_folder(plain, house.key, "B. Officer", force=True)
    assert "B. Officer" in str(statement.read((plain / STATEMENT).read_text()).producer)
    assert sorted(path.name for path in plain.iterdir()) == sorted(path.name for path in release.iterdir())
    (plain / STATEMENT).unlink()
    (plain / REPORT).write_text("<p>epsilon 0.01</p>")
    sealed(plain)
    with pytest.raises(ReleaseUnreadable, match="not the page that the other files call for"):
        sign_folder(plain, house.key)
    assert not (plain / STATEMENT).exists()


@pytest.mark.parametrize("name", ["two\nlines", "x" * 201, "\x1b[31m", " "])
def test_a_name_that_is_no_line_of_text_signs_nothing(house, copy, name):
    (copy / STATEMENT).unlink()
    run = run_program("sign", copy, "--key", house.folder / "owner.key", "--by", name)
    assert run.returncode == REFUSED
    assert not (copy / STATEMENT).exists()


def test_a_folder_without_page_json_is_neither_signed_nor_consistent(house, copy):
    for name in (STATEMENT, PAGE):
        (copy / name).unlink()
    sealed(copy)
    assert any(fault.startswith("page.json: missing") for fault in examine(copy, Against()).whole.faults)
    with pytest.raises(ReleaseUnreadable, match="whose page can be drawn again"):
        sign_folder(copy, house.key)


# --- what is refused --------------------------------------------------------------------------------------------------


def forged(house: Hospital, release: Path, place: Path) -> Path:
    """Make a folder of numbers, without data, noise or a spend, under the ledger's name."""
    folder = Path(shutil.copytree(release, place))
    (folder / STATEMENT).unlink()
    certificate = Certificate.from_json((folder / CERTIFICATE).read_text())
    made = replace(certificate.release, id="31337" * 6 + "31", entry=f"2:{'31337' * 12}3133")
    (folder / CERTIFICATE).write_text(replace(certificate, release=made).to_json())
    changed(folder, MODEL, coefficients=[[31337.0]], intercepts=[31337.0])
    redrawn(folder)
    return folder


def redrawn(folder: Path) -> None:
    """Draw the page that the files call for, and write the manifest anew."""
    facts = page_file.read((folder / PAGE).read_text())
    (folder / REPORT).write_text(page_check.drawn_again(contents_of(folder), facts))
    sealed(folder)


def test_a_forged_folder_is_refused_by_key_and_by_ledger(verify, house, release, tmp_path):
    folder = forged(house, release, tmp_path / "forged")
    code, said = verify(folder)
    assert (code, "origin unproved" in said) == (DONE, True)
    code, said = verify(folder, "--key", "owner.key.pub")
    assert (code, "nobody signed this folder" in said) == (NOT_SIGNED, True)
    code, said = verify(folder, "--ledger", house.ledger)
    assert (code, "ledger: the ledger has no spend 2:31337" in said) == (NOT_PAID, True)


def test_a_forger_who_copies_the_entry_and_the_id_is_refused_too(verify, house, release, tmp_path):
    folder = forged(house, release, tmp_path / "forged")
    certificate = Certificate.from_json((folder / CERTIFICATE).read_text())
    true = eq.load(release).certificate_.release
    for stolen in (replace(true, made="2026-01-01T00:00:00+00:00"), replace(true, id="0" * 32)):
        (folder / CERTIFICATE).write_text(replace(certificate, release=stolen).to_json())
        sealed(folder)
        assert verify(folder, "--ledger", house.ledger)[0] == NOT_PAID
    # With the whole certificate, the ledger and an export of it still name the model; and so does the signature.
    shutil.copy(release / CERTIFICATE, folder / CERTIFICATE)
    sealed(folder)
    redrawn(folder)
    assert verify(folder)[0] == DONE
    (house.folder / "paid.json").write_text(eq.Ledger(house.ledger).export())
    for where in (("--ledger", house.ledger), ("--export", "paid.json")):
        code, said = verify(folder, *where)
        assert (code, "ledger: entry 2 paid for another certificate.json or model.json than these" in said) == (
            NOT_PAID,
            True,
        )
        assert said.startswith("not paid for: ")
    shutil.copy(release / STATEMENT, folder / STATEMENT)
    code, said = verify(folder, "--ledger", house.ledger)
    assert (code, "about another folder, whose files are other ones: MANIFEST.sha256, model.json, report" in said) == (
        7,
        True,
    )


def test_an_outcome_of_an_earlier_version_names_no_files_and_that_is_said(tmp_path, monkeypatch):
    house, conclude = Hospital(tmp_path), eq.Ledger.conclude
    monkeypatch.setattr(eq.Ledger, "conclude", lambda self, *words: conclude(self, *words[:3]))
    found = examine(house.release("release", signed=False), Against(history=recorded_in(house.ledger)))
    assert found.answer == (DONE, "consistent; origin unproved; paid for by entry 2")
    assert FILES_NOT_SEEN in found.whole.unchecked
    assert "paid for by entry 2 of the ledger's 'people', and by it alone" in found.confirmed


@pytest.mark.parametrize("name", ["ridge", "softmax", "simplex-selector", "feature-selector", "grid-search"])
def test_the_files_of_every_kind_are_those_that_the_ledger_names(tmp_path, name):
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (900, 3))
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    eq.Ledger(ledger).create(eq.Budget(10.0, 1e-5), "basic")
    numbers, letters = eq.Domain(1.0, labels=(5.0, 11.0)), eq.Domain(1.0, classes=("a", "b", "c"))
    model, target = {
        "ridge": (eq.Ridge(1.0, 0.0, numbers, 0.1, ledger=ledger), 7 + rows[:, 0]),
        "softmax": (eq.LogisticRegression(1.0, 0.0, letters, 0.1, ledger=ledger), np.array(list("abc") * 300)),
        "simplex-selector": (eq.SimplexSelector(1.0, 1e-6, ledger=ledger), None),
        "feature-selector": (eq.FeatureSelector(eq.Ridge(1.0, 0.0, numbers, 0.1, "output", ledger=ledger)), rows[:, 0]),
        "grid-search": (
            eq.PrivateGridSearch(eq.Ridge(domain=numbers), {"alpha": [0.1, 1.0]}, epsilon=1.0, ledger=ledger),
            7 + rows[:, 1],
        ),
    }[name]
    model.plan(900, 3)
    eq.save(model.fit((rows > 0).astype(float) if target is None else rows, target), tmp_path / "release")
    found = examine(tmp_path / "release", Against(history=recorded_in(ledger)))
    assert (found.answer[0], found.whole.faults) == (DONE, ())
    assert FILES_SEEN in found.confirmed
    # Opened and saved again, they are the same.
    if name != "grid-search":
        eq.save(eq.load(tmp_path / "release"), tmp_path / "again")
        assert FILES_SEEN in examine(tmp_path / "again", Against(history=recorded_in(ledger))).confirmed


@pytest.mark.parametrize("altered", ["notes", "names", "settings", "estimator"])
def test_notes_names_and_settings_are_those_that_the_ledger_names(house, release, tmp_path, altered):
    folder = Path(shutil.copytree(release, tmp_path / "altered"))
    (folder / STATEMENT).unlink()
    model = json.loads((folder / MODEL).read_text())
    if altered == "notes":
        record = json.loads((folder / CERTIFICATE).read_text())
        record["notes"]["caveats"] = ["effective epsilon of this release: 0.01"]
        changed(folder, CERTIFICATE, notes=record["notes"])
    elif altered == "names":
        changed(folder, MODEL, features=["weight"])
    elif altered == "settings":
        others = [{**one, "value": 0.01} if one["name"] == "epsilon" else one for one in model["model"]["settings"]]
        changed(folder, MODEL, model={**model["model"], "settings": others})
    else:
        changed(folder, MODEL, model={"name": "svm", "settings": []})
    if altered != "names":
        redrawn(folder)
        found = examine(folder, Against())
        assert (found.answer[0], NOTES in found.whole.unchecked) == (DONE, True)
    found = examine(folder, Against(history=recorded_in(house.ledger)))
    assert "ledger: entry 2 paid for another certificate.json or model.json than these" in found.whole.faults
    assert found.answer[0] == (CHECK_FAILED if altered == "names" else NOT_PAID)


def test_of_two_folders_for_one_entry_one_at_most_is_paid_for(verify, house, release, second, tmp_path):
    assert verify(second, "--ledger", house.ledger)[0] == DONE
    folder = Path(shutil.copytree(second, tmp_path / "twin"))
    certificate = Certificate.from_json((folder / CERTIFICATE).read_text())
    entry = eq.load(release).certificate_.release.entry
    (folder / CERTIFICATE).write_text(replace(certificate, release=replace(certificate.release, entry=entry)).to_json())
    (folder / STATEMENT).unlink()
    sealed(folder)
    code, said = verify(folder, "--ledger", house.ledger)
    assert code == NOT_PAID
    assert "ledger: entry 2 paid for the release " in said
    assert "entry 2 ended otherwise: released, and not with this certificate" in said
    # One that its owner signed is refused all the same.
    sign_folder(folder, house.key)
    assert verify(folder, "--key", "owner.key.pub", "--ledger", house.ledger)[0] == NOT_PAID


@pytest.mark.parametrize("name", [REPORT, SCHEMA, MODEL, CERTIFICATE, PAGE, MANIFEST, STATEMENT])
@pytest.mark.parametrize("fresh", [False, True])
def test_every_file_swapped_between_two_releases_is_refused(house, second, copy, name, fresh):
    shutil.copy(second / name, copy / name)
    if fresh and name not in (MANIFEST, STATEMENT):
        sealed(copy)
    same = (second / name).read_bytes() == (house.folder / "release" / name).read_bytes()
    code = examine(copy, Against()).answer[0]
    assert code == (DONE if same else NOT_SIGNED if name == STATEMENT else code)
    assert same is (code == DONE)
    assert same is (name == SCHEMA)


@pytest.mark.parametrize("name", [REPORT, SCHEMA])
def test_a_swapped_page_or_schema_is_refused_without_any_signature(copy, name):
    (copy / STATEMENT).unlink()
    (copy / name).write_text((copy / name).read_text().replace("0", "1"))
    sealed(copy)
    found = examine(copy, Against())
    assert found.answer == (CHECK_FAILED, "does not hold")
    assert any(fault.startswith(name) for fault in found.whole.faults)


def test_a_statement_of_another_folder_is_refused_with_and_without_a_key(verify, second, copy):
    shutil.copy(second / STATEMENT, copy / STATEMENT)
    for words in ((), ("--key", "owner.key.pub")):
        code, said = verify(copy, *words)
        assert code == NOT_SIGNED
        assert said.startswith("not as it was signed: ")
        assert "statement.dsse.json: about another folder, whose files are other ones: MANIFEST.sha256, " in said


def test_another_key_is_refused_and_told_apart_from_a_broken_signature(verify, house, copy):
    code, said = verify(copy, "--key", "other.key.pub")
    assert code == NOT_TRUSTED
    assert said.startswith("signed by a key that is not trusted: ")
    # Somebody else's signature under the owner's name.
    read = statement.read((copy / STATEMENT).read_text())
    other = private_key(house.folder / "other.key")
    signature = sign(other, statement.PAYLOAD_TYPE, read.payload)
    (copy / STATEMENT).write_text(statement.written(read.payload, read.key, signature))
    code, said = verify(copy, "--key", "owner.key.pub")
    assert (code, "whom it names, did not make" in said) == (NOT_SIGNED, True)
    # A signature that the owner made for another purpose is none of a release.
    signature = sign(house.key, "application/vnd.equipoise.checkpoint.v1+json", read.payload)
    (copy / STATEMENT).write_text(statement.written(read.payload, read.key, signature))
    assert verify(copy, "--key", "owner.key.pub")[0] == NOT_SIGNED


def altered(said: dict) -> list[tuple[str, dict]]:
    """Return a statement with each of its fields altered, left out, or one added, one at a time."""
    found = []

    def walk(value, path, put):
        if isinstance(value, dict):
            for key in value:
                walk(value[key], f"{path}.{key}", lambda new, key=key, value=value: put({**value, key: new}))
                found.append((f"{path} without {key}", put({name: value[name] for name in value if name != key})))
            found.append((f"{path} with more", put({**value, "more": 1})))
        elif isinstance(value, list):
            for place, entry in enumerate(value):
                walk(
                    entry,
                    f"{path}[{place}]",
                    lambda new, place=place, value=value: put([*value[:place], new, *value[place + 1 :]]),
                )
            found.append((f"{path} shorter", put(value[:-1])))
            found.append((f"{path} longer", put([*value, value[-1]])))
        else:
            found.extend(
                (f"{path} = {new!r}", put(new)) for new in (f"{value}0", "", None, True, 1, ["a"], {}) if new != value
            )

    walk(said, "", lambda new: new)
    return found


def test_every_field_of_the_statement_altered_breaks_the_signature_and_most_are_refused_though_signed_anew(house, copy):
    read = statement.read((copy / STATEMENT).read_text())
    said = json.loads(read.payload)
    passed, ways = [], altered(said)
    assert len(ways) > 200
    for name, other in ways:
        payload = json.dumps(other, sort_keys=True, separators=(",", ":")).encode()
        (copy / STATEMENT).write_text(statement.written(payload, read.key, read.signature))
        assert examine(copy, Against()).answer[0] == NOT_SIGNED, name
        resigned(copy, house, payload)
        if examine(copy, Against()).answer[0] == DONE:
            passed.append(name)
    # Who signs is the signer's word.
    assert passed == [".predicate.producer = 'Data office0'", ".predicate.producer = ''"]


# --- rolled back ledgers ----------------------------------------------------------------------------------------------


def test_of_a_rolled_back_pair_the_half_that_the_witness_does_not_know_is_refused(tmp_path):
    house = Hospital(tmp_path)
    shutil.copy(tmp_path / "ledger.db", tmp_path / "yesterday.db")
    known = house.release("known")
    (tmp_path / "head.json").write_text(signed_head(house.ledger, house.key)[0].to_json())
    (tmp_path / "before.json").write_text(eq.Ledger(house.ledger).export())
    shutil.copy(tmp_path / "yesterday.db", tmp_path / "ledger.db")
    unknown = house.release("unknown")

    def verify(*words: object) -> tuple[int, str]:
        done = run_program("verify", *words, "--key", "owner.key.pub", folder=tmp_path)
        return done.returncode, done.stdout + done.stderr

    witness = ("--witness", "head.json", "--witness-key", "owner.key.pub")
    # Each has a ledger that paid for it, and the same owner signed both.
    assert verify(unknown, "--ledger", house.ledger)[0] == DONE
    assert verify(known, "--export", "before.json")[0] == DONE
    assert verify(known, "--ledger", house.ledger)[0] == NOT_PAID
    code, said = verify(known, "--export", "before.json", *witness)
    assert (code, "checked: the history holds entry 3, which head.json knows, signed by " in said) == (DONE, True)
    code, said = verify(unknown, "--ledger", house.ledger, *witness)
    assert code == OTHER_HISTORY
    assert said.startswith("paid for in another history: ")
    assert "witness: the history of 'people' that head.json knows, which has entry 3" in said
    # An export that is kept elsewhere is a witness, too.
    assert verify(unknown, "--ledger", house.ledger, "--witness", "before.json")[0] == OTHER_HISTORY
    # It can refuse, and vouches for nothing: not for another export, and not for itself.
    code, said = verify(known, "--export", "before.json", "--witness", "before.json")
    assert (code, "checked: the history holds" in said) == (DONE, False)
    assert "  not checked: whether the ledger was rolled back: the witness is an export that nobody signed" in said
    # A witness whose key is not trusted vouches for nothing.
    code, said = verify(known, "--export", "before.json", *witness[:3], "other.key.pub")
    assert code == OTHER_HISTORY


def test_a_checkpoint_by_a_key_that_only_the_history_names_is_told_apart(house, release, tmp_path):
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    eq.Ledger(ledger).create(eq.Budget(1.0), key=house.key.public.hex())
    (tmp_path / "head.json").write_text(signed_head(ledger, house.key)[0].to_json())
    facts = eq.load(release).certificate_, History(eq.Ledger(ledger).history(), "another ledger"), None
    for keys, named in ((), True), ((house.folder / "owner.key.pub",), False):
        (known,) = payment(*facts, [str(tmp_path / "head.json")], keys)[0].confirmed
        assert known.endswith(", a key that the history itself names") is named


def test_witnesses_of_the_environment_are_asked(house, release, monkeypatch, tmp_path):
    empty = f"sqlite:///{tmp_path}/none.db"
    monkeypatch.setenv("EQUIPOISE_WITNESS", empty)
    done = run_program("verify", release, "--ledger", house.ledger)
    assert done.returncode == 3
    assert "while a named witness cannot be read" in done.stderr


def test_an_export_that_was_altered_vouches_for_nothing(verify, house, release):
    text = eq.Ledger(house.ledger).export()
    path = house.folder / "altered.json"
    path.write_text(text.replace('"epsilon": "1.0"', '"epsilon": "0.1"', 1))
    code, said = verify(release, "--export", path)
    assert (code, "ledger: entry 2: a field was altered after it was written" in said) == (OTHER_HISTORY, True)
    record = json.loads(text)
    for spoiled in (
        {**record, "entries": []},
        {**record, "dataset": "others"},
        {**record, "note": "signed by the owner"},
        {**record, "export_version": True},
        {**record, "export_version": 3},
        {**record, "entries": [{**entry, "epsilon": ["1"]} for entry in record["entries"]]},
        {**record, "entries": [{**entry, "more": "1"} for entry in record["entries"]]},
        [],
    ):
        path.write_text(json.dumps(spoiled))
        code, said = verify(release, "--export", path)
        assert (code, said.count("\n")) == (REFUSED, 3)


def test_an_export_from_before_the_release_is_called_older(verify, house, release, second):
    record = json.loads(eq.Ledger(house.ledger).export())
    (house.folder / "older.json").write_text(json.dumps({**record, "entries": record["entries"][:3]}))
    assert verify(release, "--export", "older.json")[0] == DONE
    code, said = verify(second, "--export", "older.json")
    assert (code, "ends with entry 3, before the entry 4:" in said) == (NOT_PAID, True)
    assert "it is older than the release, or of another ledger" in said


def test_a_ledger_that_is_not_there_is_not_to_be_created(verify, house, release):
    code, said = verify(release, "--ledger", house.ledger.replace("#people", "#nosuch"))
    assert (code, "ledger create" in said, "an export of it (--export)" in said) == (3, False, True)


def test_what_the_page_says_of_the_ledger_is_looked_up(verify, house, release, tmp_path):
    folder = Path(shutil.copytree(release, tmp_path / "richer"))
    (folder / STATEMENT).unlink()
    (folder / PAGE).write_text((folder / PAGE).read_text().replace('"epsilon_left": "9.0"', '"epsilon_left": "9.9"'))
    facts = page_file.read((folder / PAGE).read_text())
    assert facts.ledger.epsilon_left == "9.9"
    sealed(folder)
    redrawn(folder)
    assert verify(folder)[0] == DONE
    code, said = verify(folder, "--ledger", house.ledger)
    assert (code, "never said what page.json and the page say it did" in said) == (NOT_PAID, True)


@pytest.mark.parametrize("entry", [1, 2, None])
def test_a_page_shows_no_state_of_the_ledger_from_before_the_spend(verify, house, release, tmp_path, entry):
    folder = Path(shutil.copytree(release, tmp_path / "before"))
    (folder / STATEMENT).unlink()
    facts, walk, before = page_file.read((folder / PAGE).read_text()), Walk(), None
    for one in eq.Ledger(house.ledger).history()[: entry or 0]:
        list(walk.take(one))
        balance = balance_after(walk)
        left = str(balance.epsilon_left), str(balance.delta_left)
        before = replace(facts.ledger, epsilon_left=left[0], delta_left=left[1], head=one.place, at=one.made)
    (folder / PAGE).write_text(page_file.written(replace(facts, ledger=before)))
    sealed(folder)
    redrawn(folder)
    code, said = verify(folder, "--ledger", house.ledger)
    if entry == 1:
        assert (code, "page.json: the ledger as of entry 1, before entry 2, which paid" in said) == (CHECK_FAILED, True)
        assert "ledger: from that entry to its last it never said what page.json" in said
        with pytest.raises(ReleaseUnreadable, match="before entry 2, which paid"):
            sign_folder(folder, house.key)
    else:
        # The spend itself is in what it says; and a page may say nothing of the ledger's state.
        assert (code, f"not checked: {STATE_NOT_SHOWN}" in said) == (DONE, entry is None)


def test_a_page_shows_no_ledger_that_the_certificate_does_not_name(house, release, tmp_path):
    folder = Path(shutil.copytree(release, tmp_path / "free"))
    (folder / STATEMENT).unlink()
    certificate = Certificate.from_json((folder / CERTIFICATE).read_text())
    (folder / CERTIFICATE).write_text(replace(certificate, release=replace(certificate.release, entry=None)).to_json())
    sealed(folder)
    redrawn(folder)
    assert any("names no entry that paid" in fault for fault in examine(folder, Against()).whole.faults)


def test_a_seeded_release_is_not_signed(house, tmp_path):
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 2))
    model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(False, True)), alpha=0.1, random_state=0)
    eq.save(model.fit(rows, rows[:, 0] > 0), tmp_path / "seeded")
    with pytest.raises(ReleaseUnreadable, match="fit without random_state"):
        sign_folder(tmp_path / "seeded", house.key)
    assert not (tmp_path / "seeded" / STATEMENT).exists()


def test_files_that_are_put_there_during_the_check_change_nothing(house, release, second, copy, monkeypatch):
    # A certificate under the page of another release, which is there when the folder is looked at again.
    for name in (REPORT, PAGE):
        shutil.copy(second / name, copy / name)
    (copy / STATEMENT).unlink()
    sealed(copy)
    drawn = page_check.drawn_again

    def swapped(*given: object) -> str:
        for path in second.iterdir():
            shutil.copy(path, copy)
        return drawn(*given)

    monkeypatch.setattr(page_check, "drawn_again", swapped)
    assert examine(copy, Against()).answer == (CHECK_FAILED, "does not hold")
    assert (copy / CERTIFICATE).read_bytes() == (second / CERTIFICATE).read_bytes()


# --- options that do not go together ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("--key", "owner.key.pub", "--trust", "trust.toml"),
        ("--ledger", "people", "--export", "export.json"),
        ("--witness", "head.json"),
        ("--key", "owner.key"),
        ("--key", "nothing.pub"),
        ("--trust", "nothing.toml"),
        ("--policy", "nothing.toml"),
        ("--export", "nothing.json"),
    ],
)
def test_what_cannot_be_held_against_is_refused_in_three_lines(verify, release, words):
    code, said = verify(release, *words)
    assert code == REFUSED
    assert [line.split("  ")[0] for line in said.splitlines()] == ["asked", "found", "to do"]


def test_a_certificate_by_itself_has_no_signature(verify, house, release):
    assert verify(release / CERTIFICATE, "--key", "owner.key.pub")[0] == REFUSED
    code, said = verify(release / CERTIFICATE, "--ledger", house.ledger)
    assert (code, "paid for by entry 2" in said) == (DONE, True)


def test_saving_again_needs_force_and_leaves_no_signature_behind(house, copy):
    model = eq.load(copy)
    with pytest.raises(OutputRefused):
        eq.save(model, copy)
    eq.save(model, copy, force=True)
    assert not (copy / STATEMENT).exists()


def test_a_plan_is_not_signed(house, copy):
    certificate = Certificate.from_json((copy / CERTIFICATE).read_text())
    (copy / CERTIFICATE).write_text(replace(certificate, release=None).to_json())
    sealed(copy)
    with pytest.raises((ReleaseUnreadable, InvalidParameter)):
        sign_folder(copy, house.key, force=True)
