"""An evaluation's folder: signed, held against keys, ledgers and its release, on the card, and tampered with."""

import base64
import json
import random
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.artifact import folder as released
from equipoise.artifact import page_check, page_file, statement
from equipoise.artifact.parts import BEYOND_POLICY, NOT_PAID, NOT_SIGNED, NOT_TRUSTED
from equipoise.artifact.signing import sign_folder
from equipoise.artifact.trust import Trusted
from equipoise.artifact.verdict import Against, examine
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import (
    CERTIFICATE,
    CHECK_FAILED,
    DONE,
    MANIFEST,
    NOT_CHECKABLE,
    PAGE,
    REFUSED,
    REPORT,
    SCHEMA,
    STATEMENT,
)
from equipoise.cli.exit_codes import code_of
from equipoise.errors import EquipoiseError, InvalidParameter, MissingExtra, ReleaseUnreadable
from equipoise.evaluation import page as evaluation_pages
from equipoise.evaluation.drawing import evaluation_page
from equipoise.keys import sign
from equipoise.report.card import html, markdown
from program import run_program
from released_folders import changed, sealed
from signed_releases import Hospital

FILES = (CERTIFICATE, MANIFEST, STATEMENT, SCHEMA, PAGE, REPORT)


@pytest.fixture(scope="module", autouse=True)
def plain_pages():
    """Leave out charts and figures: tests/evaluation/test_evaluation_page.py compares whole pages."""
    with pytest.MonkeyPatch.context() as patch:
        for place in (released, page_check):
            patch.setattr(place, "page_of", lambda certificate, *_, **__: f"<p>{certificate.digest}</p>")
        patch.setattr(evaluation_pages, "page_of", lambda one, target: f"<p>{target} {one.digest}</p>" * 20)
        yield


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Hospital:
    return Hospital(tmp_path_factory.mktemp("house"))


@pytest.fixture(scope="module")
def release(house) -> Path:
    return house.release("release")


@pytest.fixture(scope="module")
def evaluation(house, release) -> Path:
    return house.evaluation("evaluation", release)


@pytest.fixture(scope="module")
def second(house, release) -> Path:
    return house.evaluation("second", release)


@pytest.fixture
def copy(evaluation, tmp_path) -> Path:
    return Path(shutil.copytree(evaluation, tmp_path / "evaluation"))


@pytest.fixture
def verify(house):
    """Return what runs `equipoise verify` where the keys are, and gives its exit code and what it said."""

    def call(*words: object) -> tuple[int, str]:
        done = run_program("verify", *words, folder=house.folder)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout + done.stderr

    return call


# --- what is signed, and what is said ---------------------------------------------------------------------------------


def test_a_statement_names_every_file_and_the_release_that_the_evaluation_is_about(evaluation, release):
    said = json.loads(base64.b64decode(json.loads((evaluation / STATEMENT).read_text())["payload"]))
    assert said["predicateType"] == "urn:equipoise:evaluation:v1"
    assert {one["name"] for one in said["subject"]} == {path.name for path in evaluation.iterdir()} - {STATEMENT}
    model = eq.load(release)
    digest = eq.Evaluation.load(evaluation).claim.model
    assert said["predicate"]["about"] == {"release": model.certificate_.release.id, "model": digest}
    assert said["predicate"]["release"] == eq.Evaluation.load(evaluation).certificate.release.id
    # The folder of the release says nothing of it: its statement is of another kind.
    own = json.loads(base64.b64decode(json.loads((release / STATEMENT).read_text())["payload"]))
    assert own["predicateType"] == "urn:equipoise:release:v1"
    assert "about" not in own["predicate"]


def test_without_anything_it_is_consistent_and_the_release_is_named_as_unseen(verify, evaluation):
    code, said = verify(evaluation)
    first, *rest = said.splitlines()
    assert (code, first) == (DONE, "consistent; origin unproved: (1, 0)-differential privacy, replace-one")
    unchecked = [line.removeprefix("  not checked: ").split(":")[0] for line in rest if "not checked" in line]
    assert unchecked == [
        "the release that it is about, which lies apart",
        "who made the release and when",
        "whether a ledger recorded the spend",
        "sentences and figures of the certificate's notes, which the page and explain repeat",
        rest[-1].removeprefix("  not checked: ").split(":")[0],
    ]
    assert "whether noise was drawn" in unchecked[-1]
    assert f"  checked: {page_check.COMPARED}" in rest


def test_with_a_key_a_ledger_and_the_release_all_of_it_is_checked(verify, house, evaluation, release):
    code, said = verify(evaluation, "--key", "owner.key.pub", "--ledger", house.ledger, "--release", release)
    first, *rest = said.splitlines()
    assert (code, first.split(":")[0]) == (DONE, "consistent; signed by owner.key.pub; paid for by entry 4")
    assert "  checked: it is about release: its id and model are those that are named, and its claim holds" in rest
    assert not any("lies apart" in line for line in rest)
    (house.folder / "export.json").write_text(eq.Ledger(house.ledger).export())
    code, said = verify(evaluation, "--export", "export.json", "--json")
    told = json.loads(said)
    assert (code, told["verdict"]) == (
        DONE,
        "consistent; origin unproved; paid for by entry 4, as an export that nobody signed says",
    )
    # Its counts are in the certificate, which the ledger names: there are no weights to tie.
    assert not any("weights" in line for line in told["unchecked"])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--key", "other.key.pub"), NOT_TRUSTED, "and those trusted are"),
        (("--ledger", "sqlite:///{folder}/ledger.db#people", "--release", "other"), CHECK_FAILED, "about the release"),
        (("--release", "second"), REFUSED, "one without a model, as of an evaluation"),
        (("--release", "nothing"), REFUSED, "nothing"),
        (("--policy", "policy.toml"), BEYOND_POLICY, "policy: largest_epsilon: 0.5"),
    ],
)
def test_what_does_not_hold_is_told_by_the_codes_of_releases(verify, house, evaluation, second, words, code, said):
    if not (house.folder / "other").exists():
        house.release("other")
        (house.folder / "policy.toml").write_text("largest_epsilon = 0.5\npage = true\n")
    found = verify(evaluation, *(word.format(folder=house.folder) for word in words))
    assert found[0] == code
    assert said in found[1]
    assert "page: required" not in found[1]


def test_another_ledger_did_not_pay_for_it(verify, house, evaluation, tmp_path):
    elsewhere = f"sqlite:///{tmp_path}/ledger.db#people"
    eq.Ledger(elsewhere).create(eq.Budget(1.0), "basic")
    assert verify(evaluation, "--ledger", elsewhere)[0] == NOT_PAID


def test_a_release_is_about_no_release(verify, release):
    code, said = verify(release, "--release", release)
    assert (code, "leave --release out" in said) == (REFUSED, True)


def test_a_folder_is_signed_later_and_only_if_it_holds(house, verify, copy):
    (copy / STATEMENT).unlink()
    assert verify(copy, "--key", "owner.key.pub")[0] == NOT_SIGNED
    done = run_program("sign", copy, "--key", house.folder / "owner.key", "--by", "A. Officer")
    assert done.returncode == DONE, done.stderr
    assert verify(copy, "--key", "owner.key.pub")[0] == DONE
    (copy / STATEMENT).unlink()
    (copy / REPORT).write_text("<p>accuracy 100 %</p>")
    sealed(copy)
    with pytest.raises(ReleaseUnreadable, match="not the page that the other files call for"):
        sign_folder(copy, house.key, evaluation_page=evaluation_page)
    with pytest.raises(InvalidParameter, match="what draws pages of evaluations"):
        sign_folder(copy, house.key)
    assert not (copy / STATEMENT).exists()


def test_without_what_draws_it_a_page_is_named_as_not_compared(evaluation):
    found = examine(evaluation, Against())
    assert found.answer[0] == DONE
    assert any(line.startswith("what the page says: not compared") for line in found.whole.unchecked)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_page_that_the_counts_do_not_call_for_is_refused_under_a_fresh_manifest(copy):
    (copy / STATEMENT).unlink()
    (copy / REPORT).write_text((copy / REPORT).read_text() + "<script>alert(1)</script>")
    sealed(copy)
    found = examine(copy, Against(), evaluation_page)
    assert found.answer[0] == CHECK_FAILED
    assert [fault.partition(":")[0] for fault in found.whole.faults] == [REPORT]


def test_a_page_json_with_what_a_ledger_said_has_no_place_in_an_evaluation(copy):
    said = page_file.LedgerSaid(1.0, 0.0, "1.0", "0.0", f"3:{'a' * 64}", "2026-11-17T10:00:00+00:00")
    (copy / STATEMENT).unlink()
    (copy / PAGE).write_text(page_file.written(page_file.PageFacts(page_file.renderer(), said)))
    sealed(copy)
    assert examine(copy, Against(), evaluation_page).answer[0] == CHECK_FAILED


def test_a_page_json_that_is_missing_is_noticed(copy):
    for name in (STATEMENT, PAGE):
        (copy / name).unlink()
    sealed(copy)
    found = examine(copy, Against(), evaluation_page)
    assert any(fault.startswith("page.json: missing") for fault in found.whole.faults)


@pytest.mark.parametrize("name", FILES)
def test_every_file_swapped_between_two_evaluations_is_refused(house, second, copy, name):
    shutil.copy(second / name, copy / name)
    against = Against(keys={house.key.public: Trusted("Office")})
    same = (copy / name).read_bytes() == (house.folder / "evaluation" / name).read_bytes()
    assert same is (name in (SCHEMA, PAGE))
    assert (answer(copy, against) == DONE) is same
    if not same and name not in (MANIFEST, STATEMENT):
        sealed(copy)
        assert answer(copy, against) != DONE


@pytest.mark.parametrize("field", ["release", "model"])
def test_a_statement_about_another_release_is_refused_though_the_right_key_signed_it(house, copy, field):
    said = json.loads(statement.read((copy / STATEMENT).read_text()).payload)
    said["predicate"]["about"][field] = "0" * len(said["predicate"]["about"][field])
    payload = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    text = statement.written(payload, house.key.public, sign(house.key, statement.PAYLOAD_TYPE, payload))
    (copy / STATEMENT).write_text(text)
    found = examine(copy, Against(keys={house.key.public: Trusted("Office")}), evaluation_page)
    assert found.answer[0] == NOT_SIGNED
    assert any("another release than the certificate's" in fault for fault in found.whole.faults)


def test_an_evaluation_of_another_model_under_the_same_id_is_noticed(verify, copy, release):
    certificate = Certificate.from_json((copy / CERTIFICATE).read_text())
    claim = replace(certificate.claim, model="0" * 64)
    (copy / CERTIFICATE).write_text(certificate.with_release(claim, certificate.release).to_json())
    (copy / STATEMENT).unlink()
    sealed(copy)
    (copy / REPORT).write_text(evaluation_pages.drawn_again({p.name: p.read_bytes() for p in copy.iterdir()}))
    sealed(copy)
    assert verify(copy)[0] == DONE
    code, said = verify(copy, "--release", release)
    assert (code, "with the SHA-256 0000000000000000" in said) == (CHECK_FAILED, True)


def answer(folder: Path, against: Against) -> int:
    """Return the exit code of a check, whether it is a verdict or a refusal."""
    try:
        return examine(folder, against, evaluation_page).answer[0]
    except EquipoiseError as error:
        return code_of(error)


def flips(house: Hospital, place: Path, name: str, most: int | None) -> Counter[int]:
    """Flip one bit in every byte of a file, or in so many bytes drawn at random; return the exit codes."""
    folder = Path(shutil.copytree(house.folder / "evaluation", place / "copy"))
    against = (Against(), Against(keys={house.key.public: Trusted("Office")}))
    path, chance, codes = folder / name, random.Random(name), Counter[int]()  # noqa: S311
    data = path.read_bytes()
    places = range(len(data)) if most is None else [chance.randrange(len(data)) for _ in range(most)]
    for number in places:
        altered = bytearray(data)
        altered[number] ^= 1 << chance.randrange(8)
        path.write_bytes(bytes(altered))
        found = answer(folder, against[number % 2])
        assert found in {CHECK_FAILED, REFUSED, NOT_CHECKABLE, NOT_SIGNED, NOT_TRUSTED}, (name, number, found)
        codes.update([found])
    path.write_bytes(data)
    assert [answer(folder, one) for one in against] == [DONE, DONE]
    return codes


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_anywhere_is_refused(house, evaluation, tmp_path, name):
    assert sum(flips(house, tmp_path, name, 20).values()) == 20


@pytest.mark.statistics
@pytest.mark.parametrize("name", FILES)
def test_every_byte_of_every_file_counts(house, evaluation, tmp_path, name):
    codes = flips(house, tmp_path, name, None)
    print(name, sum(codes.values()), dict(codes))


# --- on the card, and for new rows ------------------------------------------------------------------------------------


def test_a_card_shows_the_evaluation_of_its_own_release(house, evaluation, release):
    before = {path.name: path.read_bytes() for path in release.iterdir()}
    done = run_program("card", "release", "--evaluation", "evaluation", "--json", folder=house.folder)
    assert done.returncode == 0, done.stderr
    card, found = json.loads(done.stdout), eq.Evaluation.load(evaluation)
    assert card["evaluation"]["figures"][0]["low"] == found.accuracy.low
    text, page = markdown(card), html(card)
    for said in (
        "On 200 further rows, for (1, 0)-differential privacy of those rows, all figures together (proved)",
        "| accuracy: the share of rows that get their true class | ",
        "but for the evaluation, which was paid for",
        found.certificate.digest,
    ):
        assert said in text, said
    assert "<script" not in page
    assert "<td>accuracy: the share of rows that get their true class</td>" in page
    assert {path.name: path.read_bytes() for path in release.iterdir()} == before


def test_a_card_takes_no_evaluation_of_another_release_and_none_that_fails(house, evaluation, copy):
    other = house.release("another", signed=False)
    refused = run_program("card", other, "--evaluation", evaluation)
    assert (refused.returncode, refused.stdout) == (REFUSED, "")
    assert "about the release" in refused.stderr
    record = json.loads((copy / CERTIFICATE).read_text())
    record["claim"]["noise"]["scale"] /= 2
    changed(copy, CERTIFICATE, claim=record["claim"])
    refused = run_program("card", house.folder / "release", "--evaluation", copy)
    assert (refused.returncode, refused.stdout) == (REFUSED, "")
    assert "an evaluation as it was made" in refused.stderr


EXPIRED = '[[key]]\nname = "Office"\nkey = "{}"\nfrom = 2020-01-01\nuntil = 2020-12-31\n'


def test_card_and_sets_look_at_the_evaluations_signature_as_verify_does(house, evaluation, release, copy):
    new, trust = house.folder / "new.csv", house.folder / "expired.toml"
    new.write_text("age\n1\n")
    trust.write_text(EXPIRED.format(house.key.public.hex()))
    words = ("card", release, "--evaluation", evaluation), ("predict", release, new, "--sets", evaluation)
    for command in words:
        for keys, code in (
            ((), DONE),
            (("--key", "owner.key.pub"), DONE),
            (("--key", "other.key.pub"), NOT_TRUSTED),
            (("--trust", "expired.toml"), NOT_TRUSTED),
        ):
            done = run_program(*command, *keys, folder=house.folder)
            assert done.returncode == code, (command[0], keys, done.stderr)
            assert (code == DONE) or ("signed by a key that is trusted" in done.stderr and not done.stdout)
    for keys, origin in (((), "origin unproved"), (("--key", "owner.key.pub"), "signed by owner.key.pub")):
        card = json.loads(run_program(*words[0], "--json", *keys, folder=house.folder).stdout)
        assert card["evaluation"]["origin"] == card["release"]["origin"] == origin
        assert markdown(card).lower().count(origin) == 2
    # Nobody signed this one; and a statement of other files is none, whether or not a key is named.
    (copy / STATEMENT).unlink()
    for command in (("card", release, "--evaluation", copy), ("predict", release, new, "--sets", copy)):
        assert run_program(*command, folder=house.folder).returncode == DONE
        done = run_program(*command, "--key", "owner.key.pub", folder=house.folder)
        assert (done.returncode, "nobody signed this folder" in done.stderr) == (NOT_SIGNED, True)
        shutil.copy(release / STATEMENT, copy / STATEMENT)
        assert run_program(*command, folder=house.folder).returncode == NOT_SIGNED
        (copy / STATEMENT).unlink()


def test_a_key_without_an_evaluation_checks_nothing_of_a_prediction(house, release):
    done = run_program("predict", release, "new.csv", "--key", "owner.key.pub", folder=house.folder)
    assert (done.returncode, "without --sets" in done.stderr) == (REFUSED, True)


def test_sets_of_new_rows_come_from_an_evaluation_of_the_same_release(house, evaluation, release, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("age\n1\n44\n99\n")
    words = ("predict", release, new, "--sets", evaluation)
    done = run_program(*words, "--coverage", "0.7")
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert header == "prediction,set holds no,set holds yes"
    assert "by a coin, of the public seed 0" in done.stderr
    found, shares = eq.Evaluation.load(evaluation), eq.load(release).predict_proba(eq.open_table(new))[:, 1]
    outputs = np.searchsorted(found.counts.edges, shares)
    for seed, said in (
        (0, rows),
        (3, run_program(*words, "--coverage", "0.7", "--public-seed", "3").stdout.split()[1:]),
    ):
        sets = found.prediction_sets(0.7, public_seed=seed).of(outputs).astype(int).tolist()
        assert [[int(field) for field in row.split(",")[1:]] for row in said[-3:]] == sets
    told = json.loads(run_program(*words, "--json").stdout)
    assert all(set(one["set"]) <= {"no", "yes"} for one in told)
    other = house.release("a third", signed=False)
    for wrong in (("predict", other, new, "--sets", evaluation), ("predict", release, new, "--coverage", "0.7")):
        assert run_program(*wrong).returncode == REFUSED
    assert run_program(*words, "--coverage", "1.5").returncode == REFUSED
    assert run_program(*words, "--public-seed", "-1").returncode == REFUSED
    assert run_program("predict", release, new, "--public-seed", "1").returncode == REFUSED


def test_an_evaluation_is_signed_at_once_and_its_key_is_looked_at_before_the_spend(house, release, tmp_path):
    rows = tmp_path / "held.csv"
    rows.write_text("age,ill\n" + "70,yes\n20,no\n" * 100)
    words = ("evaluate", release, rows, "--epsilon", "1", "--rows", "200", "--ledger", house.ledger)
    before = eq.Ledger(house.ledger).balance()
    for wrong in (("--sign", house.folder / "missing.key"), ("--signer", "Data office")):
        assert run_program(*words, *wrong, folder=tmp_path).returncode == REFUSED
    assert eq.Ledger(house.ledger).balance() == before
    done = run_program(*words, "--sign", house.folder / "owner.key", "--signer", "Data office", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    against = Against(keys={house.key.public: Trusted("Office")}, release=release)
    assert examine(tmp_path / "evaluation", against, evaluation_page).answer == (DONE, "consistent; signed by Office")


def test_where_no_page_can_be_drawn_nothing_is_spent(house, release, tmp_path, monkeypatch):
    def nothing_installed() -> None:
        raise MissingExtra("a page", "vl-convert-python is not installed", 'pip install "equipoise[report]"')

    monkeypatch.setattr(page_file, "renderer", nothing_installed)
    (tmp_path / "held.csv").write_text("age,ill\n70,yes\n")
    words = ("evaluate", release, "held.csv", "--epsilon", "1", "--rows", "200", "--ledger", house.ledger)
    before = eq.Ledger(house.ledger).balance()
    assert run_program(*words, folder=tmp_path).returncode == REFUSED
    assert eq.Ledger(house.ledger).balance() == before
