"""An attack beside the bound: run on simulated rows alone, shown as measured, and drawn again by whoever checks."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from browser import Outline
from equipoise.artifact import page_check, page_file, simulated
from equipoise.artifact.attack import AttackedPlan
from equipoise.artifact.findings import contents_of
from equipoise.artifact.page_check import ATTACK, ATTACKED, COMPARED
from equipoise.artifact.page_file import Attack, PageFacts
from equipoise.artifact.signing import sign_folder
from equipoise.artifact.trust import Trusted
from equipoise.artifact.verdict import Against, examine
from equipoise.certify import gains
from equipoise.certify.folder import CHECK_FAILED, DONE, PAGE, REFUSED, REPORT
from equipoise.data.schema import NumberColumn, Target
from equipoise.errors import InvalidParameter, ReleaseUnreadable
from equipoise.keys import new_key, private_key
from equipoise.lab import attack_finding
from program import run_program
from released_folders import sealed

DOMAIN = eq.Domain(row_norm=1.0, classes=("no", "yes"))
N = 60
FOUND = Attack("simulated", 64, 16, 0.95, ((0.001, 0.002, 0.0, 0.01), (0.01, 0.02, 0.01, 0.04), (0.1, 0.1, 0.0, 0.2)))


def model(seed: int = 0) -> eq.LogisticRegression:
    """Return a model fitted to rows that depend on the seed."""
    rows = np.random.default_rng(seed).uniform(-0.5, 0.5, (N, 2))
    chosen = eq.LogisticRegression(epsilon=1.0, domain=DOMAIN, alpha=0.1, mechanism="output")
    return chosen.fit(rows, np.where(rows[:, 0] > 0, "yes", "no"))


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("attacked") / "release"
    eq.save(model(), folder, attack=True)
    return folder


@pytest.fixture
def copy(release, tmp_path) -> Path:
    return Path(shutil.copytree(release, tmp_path / "release"))


def test_the_page_shows_what_an_attack_reached_and_on_which_rows(release):
    attack = page_file.read((release / PAGE).read_text()).attack
    page = (release / REPORT).read_text()
    text = Outline(page).text
    for said in (
        "One attack, measured on simulated rows",
        "Nobody's rows were attacked here: the rows are simulated.",
        "the private rows had no part in it",
        "80 models were trained on them as this one was",
        "Measured, not proved; each interval for itself with a confidence of 95 %.",
        "another may find more, up to the line and no further",
        "as the maker of this page measured them; equipoise verify --attack runs the attack again",
        f"{100 * attack.points[2][1]:.3g} %",
    ):
        assert said in text, said
    assert "no attack was run" not in text
    layers = json.loads(page.split('id="trade-off-data">', 1)[1].split("</script>", 1)[0])["layer"]
    assert [row["false"] for row in layers[-1]["data"]["values"]] == [0.001, 0.01, 0.1]


def test_a_check_draws_the_attack_again_and_says_that_it_was_not_run_again(release):
    found = examine(release, Against())
    assert found.answer == (DONE, "consistent; origin unproved")
    assert COMPARED in found.confirmed
    assert ATTACK in found.whole.unchecked


def test_a_folder_with_an_attack_is_signed_later_and_again(copy, tmp_path):
    new_key(tmp_path / "owner.key")
    key = private_key(tmp_path / "owner.key")
    sign_folder(copy, key)
    sign_folder(copy, key, force=True)
    found = examine(copy, Against(keys={key.public: Trusted("Office")}))
    assert found.answer == (DONE, "consistent; signed by Office")
    assert ATTACK in found.whole.unchecked


def test_other_numbers_than_the_pages_are_refused(copy):
    facts = page_file.read((copy / PAGE).read_text())
    for points in (FOUND.points, facts.attack.points[:2]):
        (copy / PAGE).write_text(page_file.written(replace(facts, attack=replace(facts.attack, points=points))))
        sealed(copy)
        assert examine(copy, Against()).answer[0] == CHECK_FAILED
    (copy / PAGE).write_text(page_file.written(replace(facts, attack=None)))
    sealed(copy)
    assert examine(copy, Against()).answer[0] == CHECK_FAILED


def forged(folder: Path, **facts) -> None:
    """Put another attack into a folder, with the page that it calls for."""
    shown = page_file.read((folder / PAGE).read_text())
    shown = replace(shown, attack=replace(shown.attack, **facts))
    (folder / PAGE).write_text(page_file.written(shown))
    sealed(folder)
    (folder / REPORT).write_text(page_check.drawn_again(contents_of(folder), shown))
    sealed(folder)


@pytest.mark.usefixtures("plain_page")
@pytest.mark.parametrize(
    "extent", [{"shadows": 2}, {"targets": 9999}, {"confidence": 0.5}, {"points": FOUND.points[:2]}]
)
def test_an_attack_of_another_extent_than_this_version_runs_is_refused(copy, extent):
    forged(copy, **extent)
    found = examine(copy, Against())
    assert found.answer[0] == CHECK_FAILED
    assert "page.json: an attack of another extent than this version runs" in found.whole.faults


@pytest.mark.usefixtures("plain_page")
def test_an_attack_that_is_run_again_reaches_the_numbers_of_its_page_and_no_others(release, copy, tmp_path):
    forged(copy)
    found = examine(copy, Against(attack=eq.lab.membership))
    assert (found.answer[0], ATTACKED in found.confirmed, ATTACK in found.whole.unchecked) == (DONE, True, False)
    forged(copy, points=FOUND.points)
    assert examine(copy, Against()).answer[0] == DONE
    done = run_program("verify", copy, "--attack")
    assert done.returncode == CHECK_FAILED
    assert "the attack, run again, found " in done.stdout
    assert "and the page says 0.2 % and 2 % and 10 %" in done.stdout
    # Of a page without an attack there is nothing to run.
    eq.save(model(), tmp_path / "without")
    assert run_program("verify", tmp_path / "without", "--attack").returncode == REFUSED


def test_an_attack_follows_from_what_is_public_alone(release):
    # Other rows, another release, and the plan that no row was read for.
    attack = page_file.read((release / PAGE).read_text()).attack
    plan = eq.LogisticRegression(epsilon=1.0, domain=DOMAIN, alpha=0.1, mechanism="output").plan(N, 2)
    assert AttackedPlan(plan).reached(eq.lab.membership) == attack
    plans = [AttackedPlan(given)._simulated._plan for given in (model(1).certificate_, plan)]
    assert plans[0] == plans[1]


def test_the_attack_keeps_to_the_bound_and_finds_those_who_are_hardly_hidden():
    points = {}
    for epsilon in (1.0, 5000.0):
        plan = eq.LogisticRegression(epsilon=epsilon, domain=DOMAIN, alpha=0.01, mechanism="output").plan(N, 20)
        points[epsilon] = AttackedPlan(plan).reached(eq.lab.membership).points
        bounds = dict(plan.gains().true_positive_rates)
        assert all(low <= bounds[false] for false, _, low, _ in points[epsilon])
    assert points[1.0][2][1] < 0.2
    # Where noise hides hardly anything, the whole interval lies above chance, which is 0.1 there.
    assert points[5000.0][2][2] > 0.15


@pytest.mark.parametrize(
    "wrong",
    [
        {"rows": "private"},
        {"rows": "<script>"},
        {"shadows": 0},
        {"targets": 10**9},
        {"confidence": 1.0},
        {"points": ()},
        {"points": ((0.001, 0.0021234567, 0.0, 0.01),)},
        {"points": ((0.001, 0.02, 0.0, 0.01),)},
        {"points": ((0.01, 0.02, 0.0, 0.1), (0.001, 0.02, 0.0, 0.1))},
        {"points": ((0.01, 0.02, -0.1, 0.1),)},
    ],
)
def test_page_json_has_room_for_nothing_but_a_measured_attack_on_rows_of_nobody(wrong):
    assert page_file.read(page_file.written(PageFacts((), None, FOUND))).attack == FOUND
    with pytest.raises(ReleaseUnreadable, match="attack"):
        page_file.read(page_file.written(PageFacts((), None, replace(FOUND, **wrong))))


def test_page_json_without_an_attack_is_as_it_was_before_there_were_any():
    assert "attack" not in page_file.written(PageFacts(()))


def blank() -> eq.Schema:
    """Return a schema whose bounds are paid for."""
    columns, target = (NumberColumn("age"),), Target("ill", classes=("no", "yes"))
    return eq.Schema(5000, columns, target, vouched_by="A.", vouched_on="2026-11-16").with_private_bounds(0.2)


@pytest.mark.parametrize(
    ("found", "plan"),
    [
        ("of more parts than a training", lambda: eq.LogisticRegression(domain=blank(), alpha=0.1).plan()),
        ("about persons", lambda: eq.LogisticRegression(domain=replace(DOMAIN, rows_a_person=3)).plan(N, 2)),
        ("numbers at most", lambda: eq.LogisticRegression(domain=DOMAIN, mechanism="output").plan(10**7, 2)),
    ],
)
def test_what_cannot_be_simulated_is_refused(found, plan):
    with pytest.raises(InvalidParameter, match=found):
        AttackedPlan(plan())


def test_the_page_shows_the_attack_at_the_rates_at_which_it_shows_the_bound():
    # Those of the laboratory are counted at its own: a page would put one beside the other.
    assert attack_finding.RATES == gains.RATES


def test_a_finding_of_ones_own_enters_no_folder(tmp_path):
    # It may have been measured on the private rows.
    with pytest.raises(InvalidParameter, match="no finding of one's own"):
        eq.save(model(), tmp_path / "release", attack=FOUND)
    assert not (tmp_path / "release").exists()


def test_a_training_is_attacked_before_the_spend_and_a_dry_run_says_what_cannot_be(tmp_path, monkeypatch):
    import pandas as pd

    schema = eq.Schema(
        N,
        (NumberColumn("age", (0, 1)),),
        Target("ill", classes=("no", "yes")),
        vouched_by="A.",
        vouched_on="2026-11-16",
    )
    (tmp_path / "schema.toml").write_text(schema.to_toml())
    pd.DataFrame({"age": np.linspace(0, 1, N), "ill": ["no", "yes"] * (N // 2)}).to_csv(tmp_path / "t.csv", index=False)
    words = ("train", "t.csv", "--schema", "schema.toml", "--epsilon", "1", "--alpha", "0.1", "--attack")
    read = []
    monkeypatch.setattr(AttackedPlan, "reached", lambda self, measure: read.append(list(tmp_path.glob(".*"))) or FOUND)
    done = run_program(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    # The place of the release is taken after it, and rows are read after that.
    assert read == [[]]
    assert page_file.read((tmp_path / "release" / PAGE).read_text()).attack == FOUND
    assert examine(tmp_path / "release", Against()).answer[0] == DONE
    monkeypatch.setattr(simulated, "MOST_NUMBERS", 10)
    done = run_program(*words, "--out", "second", "--dry-run", folder=tmp_path)
    assert done.returncode == REFUSED
    assert "numbers at most" in done.stderr
