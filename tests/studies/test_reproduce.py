"""Papers reproduced: the rule of the verdict, the command's contract, missing data, and one study from end to end."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from browser import PHONE, measure, needs_browser, visit
from devtools import browser_window, faults, needs_axe
from equipoise.cli.application import build
from equipoise.errors import EquipoiseError, InvalidData, InvalidParameter, OutputRefused, UnknownName
from equipoise_studies import frame
from equipoise_studies.claims import VERDICTS, Claim, distinct, tally
from equipoise_studies.data import ADULT, COVERTYPE, MNIST, data_folder
from equipoise_studies.frame import Outcome, Study, reproduce, studies, study_named
from equipoise_studies.study_charts import lines
from equipoise_studies.study_page import Figure, Section

CONTRACT = ["id", "where", "published", "measured", "low", "high", "tolerance", "verdict"]


def claim(published=1.0, measured=1.0, **others):
    return Claim("table-1.a", "Table I", published, measured, **others)


@pytest.mark.parametrize(
    ("published", "measured", "tolerance", "verdict"),
    [
        (0.108, 0.1075, 0.1, "reproduced"),
        (0.1, 0.11, 0.1, "reproduced"),
        (0.1, 0.111, 0.1, "not reproduced"),
        (0.1, 0.089, 0.1, "not reproduced"),
        (-2.0, -2.1, 0.1, "reproduced"),
        (50, 50, 0.0, "reproduced"),
        (50, 49, 0.0, "not reproduced"),
        (0.0, 1e-9, 0.5, "not reproduced"),
    ],
)
def test_a_number_is_reproduced_where_it_lies_within_its_tolerance(published, measured, tolerance, verdict):
    assert claim(published, measured, tolerance=tolerance).verdict == verdict


def test_a_wide_interval_rescues_no_number_outside_its_tolerance():
    assert claim(1.0, 2.0, low=0.5, high=3.0, tolerance=0.1).verdict == "not reproduced"


@pytest.mark.parametrize("declared", ["paper inconsistent", "corrected"])
def test_a_declared_verdict_stands_whatever_was_measured_and_needs_a_note(declared):
    assert claim(1.0, 1.0, declared=declared, note="it says both").verdict == declared
    with pytest.raises(InvalidParameter, match="note"):
        claim(1.0, 1.0, declared=declared)


@pytest.mark.parametrize(
    "others",
    [
        {"declared": "reproduced", "note": "because I say so"},
        {"measured": float("nan")},
        {"low": 2.0, "high": 3.0},
        {"tolerance": -0.1},
        {"tolerance": float("inf")},
    ],
)
def test_a_claim_that_cannot_be_judged_is_refused(others):
    with pytest.raises(InvalidParameter):
        claim(**others)


def test_claims_are_counted_by_verdict_and_have_distinct_ids():
    found = [claim(), claim(1.0, 2.0)]
    assert tally(found) == "1 reproduced, 1 not reproduced"
    with pytest.raises(InvalidParameter, match=r"table-1\.a"):
        distinct(found)


# The datasets in their format, small and made up.


def write_adult(folder: Path, rows: int = 400) -> None:
    draws = np.random.default_rng(0)
    numbers = {name: draws.integers(0, 90, rows) for name in ("age", "fnlwgt", "education_num")}
    numbers |= {name: draws.integers(0, 90, rows) for name in ("capital_gain", "capital_loss", "hours_per_week")}
    levels = ("workclass", "education", "marital_status", "occupation", "relationship", "race", "sex", "native_country")
    texts = {name: pa.array(draws.choice(["a", "b", "?"], rows)).dictionary_encode() for name in levels}
    income = np.where(numbers["age"] + draws.integers(0, 40, rows) > 65, ">50K", "<=50K")
    split = np.where(np.arange(rows) < 0.7 * rows, "train", "test")
    pq.write_table(pa.table(numbers | texts | {"income": income, "split": split}), folder / ADULT.file)


def write_covertype(folder: Path, rows: int = 700) -> None:
    draws = np.random.default_rng(1)
    columns = {"elevation": draws.integers(1800, 3800, rows)}
    columns |= {f"number{place}": draws.integers(0, 255, rows) for place in range(9)}
    columns |= {f"soil_type{place}": draws.integers(0, 2, rows) for place in range(6)} | {
        "soil_type9": np.zeros(rows, int)
    }
    cover = np.where(columns["elevation"] + draws.integers(0, 900, rows) > 3200, 2, 1)
    cover[::7] = 5
    pq.write_table(pa.table(columns | {"cover_type": cover.astype(np.uint8)}), folder / COVERTYPE.file)


def write_mnist(folder: Path, rows: int = 700) -> None:
    draws = np.random.default_rng(2)
    label = draws.choice(np.array([3, 5, 7], np.uint8), rows)
    pixels = draws.integers(0, 120, (rows, 784)) + 100 * (label == 5)[:, None] * (np.arange(784) < 300)
    images = pa.array([row.tobytes() for row in pixels.astype(np.uint8)], pa.binary(784))
    split = np.where(np.arange(rows) < 0.8 * rows, "train", "test")
    pq.write_table(pa.table({"image": images, "label": label, "split": split}), folder / MNIST.file)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for write in (write_adult, write_covertype, write_mnist):
        write(folder)
    return folder


def test_the_folder_of_datasets_is_the_option_or_the_variable(tmp_path, monkeypatch):
    monkeypatch.delenv("EQUIPOISE_DATA", raising=False)
    with pytest.raises(InvalidParameter, match="--data FOLDER, or set EQUIPOISE_DATA"):
        data_folder(None)
    monkeypatch.setenv("EQUIPOISE_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    assert data_folder(tmp_path / ".") == tmp_path
    with pytest.raises(InvalidParameter, match="no folder"):
        data_folder(tmp_path / "elsewhere")


@pytest.mark.parametrize("dataset", [ADULT, COVERTYPE, MNIST], ids=lambda dataset: dataset.name)
def test_a_missing_file_is_named_with_the_place_to_get_it(dataset, tmp_path):
    with pytest.raises(InvalidParameter) as caught:
        dataset.read(tmp_path)
    assert dataset.file in str(caught.value)
    assert re.search(r"https?://", caught.value.remedy)


def test_a_file_that_is_no_parquet_or_lacks_a_column_says_so(tmp_path):
    (tmp_path / ADULT.file).write_text("age,income\n1,2\n")
    with pytest.raises(InvalidData, match="Parquet"):
        ADULT.read(tmp_path)
    pq.write_table(pa.table({"age": [1]}), tmp_path / ADULT.file)
    with pytest.raises(InvalidData, match="workclass"):
        ADULT.read(tmp_path)


def test_data_of_the_right_columns_and_too_few_rows_is_refused(tmp_path):
    preparation = pytest.importorskip("equipoise_studies.intrinsic_privacy.preparation")
    write_adult(tmp_path, rows=60)
    with pytest.raises(InvalidData, match="training rows"):
        preparation.adult(tmp_path)


def test_an_unknown_study_is_answered_with_the_names():
    with pytest.raises(UnknownName, match="intrinsic-privacy"):
        study_named("intrinsic")
    assert all(study.name == name and study.notice for name, study in studies().items())


# The frame, on a study that takes no time.


def small_study(run=None) -> Study:
    chart = lines(
        [{"x": 1, "y": 2, "ink": "<b>", "dash": "d"}, {"x": 2, "y": 1, "ink": "</script>", "dash": "d"}], x="x", y="y"
    )
    section = Section("<i>Figures</i>", ("A paragraph.",), (Figure("figure-1", "heading", "words", chart),))
    found = Outcome((claim(1.0, 1.05, low=1.0, high=1.1, tolerance=0.1, what="a & b"),), (section,))
    return Study("small", "A small study", "A paper.", "No certificate.", run or (lambda session: found))


def test_a_study_writes_its_page_its_images_and_its_claims(tmp_path):
    out = tmp_path / "deep" / "small"
    claims = reproduce(small_study(), data=tmp_path, quick=True, out=out)
    assert sorted(path.name for path in out.iterdir()) == ["claims.json", "figure-1.svg", "index.html"]
    records = json.loads((out / "claims.json").read_text())
    assert [list(record)[: len(CONTRACT)] for record in records] == [CONTRACT]
    assert records == [each.record() for each in claims]
    page = (out / "index.html").read_text()
    assert "&lt;i&gt;Figures&lt;/i&gt;" in page
    assert "a &amp; b" in page
    assert "No certificate." in page
    assert not re.search(r"""(?:src|href)=["']https?:""", page)
    assert "var(--" not in (out / "figure-1.svg").read_text()


def test_what_exists_is_replaced_by_force_alone_and_only_if_it_is_a_study(tmp_path):
    out = tmp_path / "out"
    started = []
    study = small_study(lambda session: started.append(session) or Outcome((), ()))
    reproduce(study, data=tmp_path, quick=True, out=out)
    with pytest.raises(OutputRefused, match="--force"):
        reproduce(study, data=tmp_path, quick=True, out=out)
    assert len(started) == 1  # refused before the work
    reproduce(study, data=tmp_path, quick=True, out=out, force=True)
    assert len(started) == 2
    (out / "claims.json").unlink()
    with pytest.raises(OutputRefused, match="something else"):
        reproduce(study, data=tmp_path, quick=True, out=out, force=True)
    assert (out / "index.html").is_file()


def test_a_study_that_fails_leaves_nothing_behind(tmp_path):
    def fail(session):
        raise InvalidData("a", "b", "c")

    with pytest.raises(InvalidData):
        reproduce(small_study(fail), data=tmp_path, quick=True, out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@needs_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_draws_its_charts_in_a_browser(tmp_path, dark):
    reproduce(small_study(), data=tmp_path, quick=True, out=tmp_path / "out")
    seen = visit(tmp_path / "out" / "index.html", dark=dark)
    assert not seen.complaints
    for name in ("claims", "figure-1"):
        assert "<svg" in seen.drawn(name)


@needs_browser
def test_the_page_fits_a_phone(tmp_path):
    reproduce(small_study(), data=tmp_path, quick=True, out=tmp_path / "out")
    seen = measure(tmp_path / "out" / "index.html", PHONE).measured
    assert seen["wide"] <= seen["inner"] == PHONE
    assert not seen["intruded"]
    assert not seen["requests"]


@needs_browser
@needs_axe
def test_the_page_is_for_everybody(tmp_path):
    reproduce(small_study(), data=tmp_path, quick=True, out=tmp_path / "out")
    with browser_window() as window:
        assert faults(window, tmp_path / "out" / "index.html") == {}


# The command.


@pytest.fixture
def command(monkeypatch):
    def run(*arguments):
        return CliRunner().invoke(build(["reproduce"]), ["reproduce", *map(str, arguments)])

    return run


def test_without_a_name_the_studies_are_listed(command):
    assert "intrinsic-privacy" in command().stdout
    assert "intrinsic-privacy" in [each["name"] for each in json.loads(command("--json").stdout)]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (["no-such-paper"], UnknownName, "intrinsic-privacy"),
        (["small", "--data", "no/such/folder"], InvalidParameter, "EQUIPOISE_DATA"),
    ],
    ids=["unknown study", "no data"],
)
def test_what_cannot_be_done_is_refused_with_a_remedy(command, monkeypatch, arguments, error, says):
    monkeypatch.setattr(frame, "studies", lambda: {"small": small_study(), "intrinsic-privacy": None})
    result = command(*arguments)
    assert isinstance(result.exception, error)
    assert isinstance(result.exception, EquipoiseError)
    assert says in str(result.exception)


def test_the_command_prints_its_claims_as_json_and_nothing_else(command, monkeypatch, tmp_path):
    monkeypatch.setattr(frame, "studies", lambda: {"small": small_study()})
    result = command("small", "--data", tmp_path, "--out", tmp_path / "out", "--json")
    assert result.exception is None
    (record,) = json.loads(result.stdout)
    assert list(record)[: len(CONTRACT)] == CONTRACT
    result = command("small", "--data", tmp_path, "--out", tmp_path / "again")
    assert "table-1.a" in result.stdout
    assert "No certificate." in result.stdout


# The intrinsic-privacy study.


@pytest.fixture
def reduced(monkeypatch):
    """The study with few short runs, so that its paths are walked in seconds."""
    pytest.importorskip("jax")
    from equipoise_studies.intrinsic_privacy import grids

    monkeypatch.setattr(grids, "QUICK_SIDE", 8)
    monkeypatch.setattr(grids, "QUICK_NETWORK", (4, 4))
    for name in ("MAIN", "OTHERS"):
        monkeypatch.setattr(grids, name, tuple(replace(each, n_steps=12, side=8) for each in getattr(grids, name)))
    small = tuple(replace(each, n_steps=12, seeds=4, datasets=4) for each in grids.NETWORKS)
    monkeypatch.setattr(grids, "NETWORKS", small)


def test_the_intrinsic_study_runs_from_end_to_end_on_made_up_data(command, data, reduced, tmp_path):
    out, runs = tmp_path / "out", tmp_path / "runs"
    asked = ["intrinsic-privacy", "--data", data, "--quick", "--json", "--out", out, "--runs", runs]
    result = command(*asked)
    assert result.exception is None, result.exception
    records = json.loads(result.stdout)
    by_id = {record["id"]: record for record in records}
    assert len(by_id) == len(records)
    assert {record["verdict"] for record in records} <= set(VERDICTS)
    assert all(record["low"] <= record["measured"] <= record["high"] for record in records)
    # Made-up rows have other sizes than the paper's.
    assert by_id["table-1.adult.training"]["verdict"] == "not reproduced"
    for place in ("table-4.adult.bound.gain", "setup.mnist.row-norm", "section-6e.mnist.parameters", "algorithm-1.c"):
        assert by_id[place]["verdict"] == "paper inconsistent"
        assert by_id[place]["note"]
    for key in ("mnist", "forest", "adult"):
        assert by_id[f"table-3.{key}.epsilon.exact"]["verdict"] == "corrected"
        assert {f"table-3.{key}.{part}" for part in ("bound", "delta", "sigma", "epsilon")} <= set(by_id)
    images = {path.stem for path in out.glob("*.svg")}
    for number in (2, 4, 5, 8, 9):
        assert {f"figure-{number}-{key}" for key in ("mnist", "forest", "adult")} <= images
    assert {"figure-1", "figure-3", "figure-6-mnist", "figure-6-adult", "figure-7-mnist", "figure-7-adult"} <= images
    page = (out / "index.html").read_text()
    assert "not certificates" in page
    assert "the true delta is 1 for every epsilon" in page
    # Every grid is kept: three sources twice and on half the rows, two other preparations, two networks twice.
    assert len(list(runs.iterdir())) == 15


@pytest.mark.statistics
def test_the_whole_intrinsic_study_takes_kept_grids_as_they_are_and_has_claims_on_maxima_too(
    command, data, reduced, tmp_path
):
    # Its grid is here as small as that of the quick study.
    out, runs = tmp_path / "out", tmp_path / "runs"
    asked = ["intrinsic-privacy", "--data", data, "--quick", "--json", "--out", out, "--runs", runs]
    by_id = {record["id"]: record for record in json.loads(command(*asked).stdout)}
    kept = {path: path.stat().st_mtime_ns for path in runs.iterdir()}
    asked.remove("--quick")
    more = {record["id"]: record for record in json.loads(command(*asked, "--force").stdout)}
    assert {path: path.stat().st_mtime_ns for path in runs.iterdir()} == kept
    assert set(by_id) < set(more)
    for key in ("mnist", "forest", "adult"):
        assert {f"table-3.{key}.{part}" for part in ("empirical", "epsilon-empirical", "half-size")} <= set(more)
    assert more["table-3.adult.sigma"]["measured"] == by_id["table-3.adult.sigma"]["measured"]


@pytest.mark.parametrize("missing", [ADULT, COVERTYPE, MNIST], ids=lambda dataset: dataset.name)
def test_a_missing_dataset_is_noticed_before_anything_is_trained(command, data, reduced, missing, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for each in (ADULT, COVERTYPE, MNIST):
        if each is not missing:
            os.link(data / each.file, folder / each.file)
    runs = tmp_path / "runs"
    result = command("intrinsic-privacy", "--data", folder, "--quick", "--out", tmp_path / "out", "--runs", runs)
    assert isinstance(result.exception, InvalidParameter)
    assert missing.address in str(result.exception)
    assert not runs.exists()


REAL = Path(os.environ.get("EQUIPOISE_DATA") or Path(__file__).parents[3] / "shared" / "data")


@pytest.mark.statistics
@pytest.mark.skipif(not (REAL / ADULT.file).is_file(), reason="no real data: set EQUIPOISE_DATA")
def test_the_reduced_grid_on_real_data_agrees_with_the_paper_where_few_runs_can(command, tmp_path):
    pytest.importorskip("jax")
    result = command("intrinsic-privacy", "--data", REAL, "--quick", "--json", "--out", tmp_path / "out")
    verdicts = {record["id"]: record["verdict"] for record in json.loads(result.stdout)}
    for key in ("mnist", "forest", "adult"):
        for part in (
            "table-1.{}.training",
            "table-1.{}.test",
            "table-1.{}.columns",
            "table-3.{}.bound",
            "table-3.{}.sigma",
        ):
            assert verdicts[part.format(key)] == "reproduced", part.format(key)
        assert verdicts[f"table-4.{key}.noiseless"] == "reproduced"


def test_a_dataset_whose_names_are_no_text_is_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    from equipoise.errors import InvalidData
    from equipoise_studies.data import Dataset

    path = tmp_path / "study.parquet"
    pq.write_table(pa.table({"aé": [1]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xff"))
    dataset = Dataset("made up", path.name, "nowhere", "nowhere", "any", ("a",))
    with pytest.raises(InvalidData, match="cannot be read as Parquet"):
        dataset.require(tmp_path)
