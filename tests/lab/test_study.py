"""A study: tiles within a stated memory, one Parquet file, a stop that loses nothing finished, workers that may die."""

import functools
import io
import multiprocessing
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from equipoise.errors import InvalidParameter, MissingExtra, OutputRefused
from equipoise.lab import ensemble, study
from equipoise.lab.ensemble_models import Neighbours, Training
from equipoise.lab.study import Study, run_study
from equipoise.lab.tiles import Tile, cut, memory_needed

TRAINING = Training(n_steps=30, batch_size=4, step=0.3)


def neighbours(n_datasets: int = 5) -> Neighbours:
    stream = np.random.default_rng(3)
    features = stream.standard_normal((40, 6))
    return Neighbours(features, np.sign(features[:, 0]), np.arange(n_datasets) - 1, features[39], -1.0)


class Stopped(Exception):  # noqa: N818 - it stands for Ctrl-C
    """What a progress callback raises to stop a study in the middle."""


def stop_after(runs: int):
    def progress(done: int, total: int) -> None:
        if done >= runs:
            raise Stopped

    return progress


def parts(path: Path) -> list[Path]:
    return sorted(path.with_name(path.name + ".parts").glob("*"))


@pytest.fixture
def few_seeds_a_tile(monkeypatch):
    monkeypatch.setattr("equipoise.lab.tiles.SEEDS_A_THREAD", 1)
    monkeypatch.setattr("equipoise.lab.ensemble.cores", lambda: 2)


def test_the_file_holds_a_row_a_run_and_its_configuration(tmp_path):
    data, seeds = neighbours(), (4, 0, 9)
    done = run_study(TRAINING, data, seeds, tmp_path / "runs.parquet", backend="cpu")
    trained = ensemble.train(TRAINING, data, seeds, backend="cpu").weights
    assert np.array_equal(done.weights(), trained)
    table = pq.read_table(tmp_path / "runs.parquet")
    assert table.schema.field("weights").type == pa.list_(pa.float32(), 7)
    assert table["seed"].to_pylist() == [4] * 5 + [0] * 5 + [9] * 5
    assert table["dataset"].to_pylist() == [0, 1, 2, 3, 4] * 3
    opened = Study.open(done.path)
    assert opened == done
    assert opened.configuration["training"]["step"] == 0.3
    assert opened.configuration["training"]["radius"] == "inf"
    assert len(opened.digest) == 64
    assert [len(seed) for seed, _, _ in opened.batches()] == [15]
    assert not parts(done.path)


def test_a_stopped_study_continues_where_it_stopped(tmp_path, monkeypatch, few_seeds_a_tile):
    data, path, seeds = neighbours(), tmp_path / "runs.parquet", range(8)
    with pytest.raises(Stopped):
        run_study(TRAINING, data, seeds, path, backend="cpu", progress=stop_after(20))
    assert not path.exists()
    assert len(parts(path)) == 2
    before = {part: part.stat().st_mtime_ns for part in parts(path)}
    told = []
    trained = []
    train = ensemble.train
    monkeypatch.setattr(ensemble, "train", lambda *args, **more: trained.append(args[2]) or train(*args, **more))
    told = []
    done = run_study(TRAINING, data, seeds, path, backend="cpu", progress=lambda *now: told.append(now))
    assert told == [(30, 40), (40, 40)]
    assert trained == [(4, 5), (6, 7)]
    assert before
    assert np.array_equal(done.weights(), train(TRAINING, data, seeds, backend="cpu").weights)
    assert not parts(path)
    again = run_study(TRAINING, data, seeds, path, backend="cpu", progress=lambda *now: told.append(now))
    assert again == done
    assert len(told) == 2, "a finished study is not run again"


def test_a_stopped_study_continues_in_other_tiles(tmp_path, few_seeds_a_tile, monkeypatch):
    data, path, seeds = neighbours(), tmp_path / "runs.parquet", range(5)
    with pytest.raises(Stopped):
        run_study(TRAINING, data, seeds, path, backend="cpu", progress=stop_after(10))
    monkeypatch.setattr("equipoise.lab.tiles.SEEDS_A_THREAD", 2)
    tiny = memory_needed(TRAINING, 40, 6, 3, 2, 2)
    monkeypatch.setattr("equipoise.lab.ensemble.cores", lambda: 1)
    done = run_study(TRAINING, data, seeds, path, backend="cpu", memory=tiny)
    assert pq.read_metadata(path).num_rows == 25, "runs that two tiles hold are taken once"
    assert np.allclose(done.weights(), ensemble.train(TRAINING, data, seeds, backend="cpu").weights, atol=1e-6)


@pytest.mark.parametrize(
    "moment", ["a part half written", "a part damaged", "the join half written", "joined, not tidied"]
)
def test_a_stop_at_any_moment_corrupts_nothing(moment, tmp_path, monkeypatch, few_seeds_a_tile):
    data, path, seeds = neighbours(), tmp_path / "runs.parquet", range(4)
    expected = ensemble.train(TRAINING, data, seeds, backend="cpu").weights
    if moment == "a part half written":
        monkeypatch.setattr(study.os, "fsync", lambda _: (_ for _ in ()).throw(Stopped))
    elif moment == "a part damaged":
        monkeypatch.setattr(study._Store, "join", lambda self: (_ for _ in ()).throw(Stopped))
    elif moment == "the join half written":
        monkeypatch.setattr(study.pq, "read_table", lambda _: (_ for _ in ()).throw(Stopped))
    else:
        monkeypatch.setattr(study.shutil, "rmtree", lambda _: (_ for _ in ()).throw(Stopped))
    with pytest.raises(Stopped):
        run_study(TRAINING, data, seeds, path, backend="cpu")
    monkeypatch.undo()
    assert path.exists() == (moment == "joined, not tidied")
    assert parts(path)
    if moment == "a part damaged":
        parts(path)[0].write_bytes(parts(path)[0].read_bytes()[:-9])
    done = run_study(TRAINING, data, seeds, path, backend="cpu")
    assert np.array_equal(done.weights(), expected)
    assert not parts(path)


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
import test_study
from equipoise.lab import study, tiles

def die(done, total):
    if done >= 20:
        os.kill(os.getpid(), signal.SIGKILL)

tiles.SEEDS_A_THREAD = 1
study.run_study(
    test_study.TRAINING, test_study.neighbours(), range(16), Path({path!r}), backend="cpu", processes=1, progress=die
)
"""


def test_a_killed_study_continues(tmp_path):
    path = tmp_path / "runs.parquet"
    program = KILLED.format(tests=str(Path(__file__).parent), path=str(path))
    killed = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert parts(path)
    told = []
    done = run_study(TRAINING, neighbours(), range(16), path, backend="cpu", progress=lambda *now: told.append(now[0]))
    assert told[0] > 20
    assert np.array_equal(done.weights(), ensemble.train(TRAINING, neighbours(), range(16), backend="cpu").weights)


@pytest.mark.parametrize("state", ["finished", "stopped"])
@pytest.mark.parametrize("change", ["another step", "other seeds", "another row", "another place"])
def test_results_of_another_configuration_are_refused_and_left_alone(state, change, tmp_path):
    data, path = neighbours(), tmp_path / "runs.parquet"
    if state == "finished":
        run_study(TRAINING, data, range(2), path, backend="cpu")
    else:
        with pytest.raises(Stopped):
            run_study(TRAINING, data, range(2), path, backend="cpu", progress=stop_after(1))
    kept = {file: file.read_bytes() for file in [path, *parts(path)] if file.exists()}
    assert kept
    features = data.features.copy()
    features[17, 2] += 1e-3
    other = {
        "another step": (replace(TRAINING, step=0.31), data, range(2)),
        "other seeds": (TRAINING, data, range(3)),
        "another row": (TRAINING, Neighbours(features, data.labels, data.replaced_index, features[39], -1.0), range(2)),
        "another place": (
            TRAINING,
            Neighbours(data.features, data.labels, [4, 3, 2, 1, 0], data.features[39], -1),
            (0, 1),
        ),
    }[change]
    with pytest.raises(
        OutputRefused, match=r"another configuration; to do: pass another path, or delete .*runs\.parquet"
    ):
        run_study(*other, path, backend="cpu")
    assert kept == {file: file.read_bytes() for file in [path, *parts(path)] if file.exists()}


def test_a_file_that_is_no_study_is_refused(tmp_path):
    path = tmp_path / "notes.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(OutputRefused, match="not the results of a study"):
        run_study(TRAINING, neighbours(), range(2), path, backend="cpu")
    with pytest.raises(InvalidParameter, match="a file that is none"):
        Study.open(path)
    with pytest.raises(InvalidParameter, match="no such file"):
        Study.open(tmp_path / "nothing.parquet")
    with pytest.raises(OutputRefused, match="No such file or directory"):
        run_study(TRAINING, neighbours(), range(2), tmp_path / "missing" / "runs.parquet", backend="cpu")


def test_runs_that_diverge_are_kept_as_data_and_named_on_request(tmp_path):
    wild = replace(TRAINING, model="squared", step=1e30)
    done = run_study(wild, neighbours(), (7, 8), tmp_path / "wild.parquet", backend="cpu")
    assert done.diverged() == tuple((seed, dataset) for seed in (7, 8) for dataset in range(5))
    assert not np.isfinite(done.weights()).any(axis=2).all()
    words = r"10 runs that diverged: \(seed 7, dataset 0\), .* and 5 more; to do: lower the step size \(step=1e\+30\)"
    with pytest.raises(InvalidParameter, match=words):
        done.require_finite()
    calm = run_study(TRAINING, neighbours(), (7, 8), tmp_path / "calm.parquet", backend="cpu")
    calm.require_finite()


@pytest.mark.parametrize("on_cpu", [True, False], ids=["cpu", "gpu"])
@pytest.mark.parametrize("model", ["logistic", "network"])
def test_tiles_cover_the_grid_once_and_fit_the_memory(model, on_cpu):
    training, data = replace(TRAINING, model=model, n_steps=500), neighbours(41)
    least = memory_needed(training, 40, 6, 1, 1, 1)
    whole = memory_needed(training, 40, 6, 23, 41, 23)
    for memory in (least, least + 5000, (least + whole) // 2, whole):
        tiles = cut(training, data, 23, memory=memory, threads=2, on_cpu=on_cpu)
        covered = np.zeros((23, 41), int)
        for tile in tiles:
            covered[tile.cells] += 1
            seeds, datasets = covered[tile.cells].shape
            at_once = min(2, seeds) if on_cpu else seeds
            assert memory_needed(training, 40, 6, seeds, datasets, at_once) <= memory
        assert (covered == 1).all()
        assert sum(tile.runs for tile in tiles) == 23 * 41
    assert cut(training, data, 23, memory=whole, threads=2, on_cpu=False) == [Tile(0, 23, 0, 41)]


# Each is compiled; a plain model asks for less than the same with masks or units.
more = functools.partial(pytest.param, marks=pytest.mark.statistics)


@pytest.mark.parametrize(
    ("training", "together"),
    {
        "logistic": more(Training(n_steps=400), False),
        "logistic, seeds together": more(Training(n_steps=400), True),
        "network, momentum, together": (Training("network", hidden=8, n_steps=400, momentum=0.9), True),
        "dropout": (Training(n_steps=400, dropout=0.5, radius=1.0), False),
    }.values(),
)
def test_the_memory_that_is_stated_holds_what_the_compiler_asks_for(training, together, monkeypatch):
    compiled = []
    build = ensemble._compiled
    monkeypatch.setattr(ensemble, "_compiled", lambda *args: compiled.append(build(*args)) or compiled[0])
    stream = np.random.default_rng(0)
    features, labels = stream.standard_normal((3000, 30)), stream.integers(0, 2, 3000)
    data = Neighbours(features, 2 * labels - 1, np.arange(60), features[0], 1.0)
    ensemble.train(training, data, range(4), backend="cpu", together=together, threads=1)
    asked = compiled[0].memory_analysis()
    bytes_asked = asked.temp_size_in_bytes + asked.argument_size_in_bytes + asked.output_size_in_bytes
    seeds = 4 if together else 1
    assert bytes_asked <= memory_needed(training, 3000, 30, seeds, 60, seeds)


def test_too_little_memory_is_refused_with_the_least_that_would_do(tmp_path):
    with pytest.raises(InvalidParameter, match="memory for one run at least") as caught:
        run_study(TRAINING, neighbours(), range(9), tmp_path / "runs.parquet", backend="cpu", memory=1000)
    least = int(re.search(r"memory=(\d+) or more", str(caught.value))[1])
    with pytest.raises(InvalidParameter, match="or more"):
        run_study(TRAINING, neighbours(), range(9), tmp_path / "runs.parquet", backend="cpu", memory=least - 1)
    done = run_study(TRAINING, neighbours(), range(2), tmp_path / "runs.parquet", backend="cpu", memory=least)
    assert done.weights().shape == (2, 5, 7)


def test_a_process_that_is_killed_has_its_tiles_done_again(tmp_path, monkeypatch):
    monkeypatch.setattr("equipoise.lab.tiles.SEEDS_A_THREAD", 2)
    killed = []

    def kill_one(done: int, total: int) -> None:
        if not killed and done < total:
            killed.append(multiprocessing.active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    path, data = tmp_path / "runs.parquet", neighbours()
    done = run_study(TRAINING, data, range(12), path, backend="cpu", processes=2, progress=kill_one)
    assert killed
    assert np.array_equal(done.weights(), ensemble.train(TRAINING, data, range(12), backend="cpu").weights)


def test_workers_that_die_without_end_are_given_up():
    def attempt(tiles):
        raise study._WorkersLost
        yield

    with pytest.raises(InvalidParameter, match="died 3 times without finishing one; 1 tiles are left"):
        list(study._persistently([Tile(0, 1, 0, 1)], attempt))


def test_a_dask_scheduler_gives_the_same_weights(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("equipoise.lab.tiles.SEEDS_A_THREAD", 2)
    path, data, told = tmp_path / "runs.parquet", neighbours(), []
    # Workers that are threads of this process: nobody has to be started, and nobody can be killed.
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
    ) as cluster:
        address = cluster.scheduler_address
        done = run_study(
            TRAINING, data, range(12), path, backend="cpu", scheduler=address, progress=lambda *now: told.append(now)
        )
    assert told[-1] == (60, 60)
    assert np.array_equal(done.weights(), ensemble.train(TRAINING, data, range(12), backend="cpu").weights)


@pytest.mark.statistics
def test_a_dask_worker_that_is_killed_has_its_tiles_done_again(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("equipoise.lab.tiles.SEEDS_A_THREAD", 2)
    path, data, killed = tmp_path / "runs.parquet", neighbours(), []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:

        def kill_one(done: int, total: int) -> None:
            if not killed and done < total:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        address = cluster.scheduler_address
        done = run_study(TRAINING, data, range(12), path, backend="cpu", scheduler=address, progress=kill_one)
    assert killed
    assert np.array_equal(done.weights(), ensemble.train(TRAINING, data, range(12), backend="cpu").weights)


def test_an_address_where_no_scheduler_answers_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "ANSWER_SECONDS", 0.5)
    with pytest.raises(InvalidParameter, match=r"no answer from 'tcp://127\.0\.0\.1:9'"):
        run_study(TRAINING, neighbours(), (0,), tmp_path / "r.parquet", backend="cpu", scheduler="tcp://127.0.0.1:9")


def test_missing_extras_are_named_with_the_line_that_installs_them(tmp_path, monkeypatch):
    path = tmp_path / "runs.parquet"
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r'pip install "equipoise\[dask\]"'):
        run_study(TRAINING, neighbours(), (0,), path, backend="cpu", scheduler="tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "equipoise.lab.ensemble", None)
    monkeypatch.delattr("equipoise.lab.ensemble")
    with pytest.raises(MissingExtra, match=r'pip install "equipoise\[lab\]"'):
        run_study(TRAINING, neighbours(), (0,), path, backend="cpu")


def test_what_the_engine_refuses_is_an_error_of_the_product(tmp_path):
    path = tmp_path / "runs.parquet"
    with pytest.raises(InvalidParameter, match="batch_size=99"):
        run_study(replace(TRAINING, batch_size=99), neighbours(), (0,), path, backend="cpu")
    with pytest.raises(InvalidParameter, match="distinct seeds"):
        run_study(TRAINING, neighbours(), (0, 0), path, backend="cpu")
    with pytest.raises(InvalidParameter, match="processes=0"):
        run_study(TRAINING, neighbours(), (0,), path, backend="cpu", processes=0)
    if ensemble.device("auto").platform == "cpu":
        with pytest.raises(InvalidParameter, match="a gpu that JAX can use"):
            run_study(TRAINING, neighbours(), (0,), path, backend="gpu")
    assert not list(tmp_path.iterdir())


def test_the_bar_shows_runs_a_second_and_the_time_left(tmp_path, monkeypatch):
    shown = io.StringIO()
    screen = Console(file=shown, force_terminal=True, width=120)
    monkeypatch.setattr(study, "Console", lambda **_: screen)
    run_study(TRAINING, neighbours(), range(4), tmp_path / "runs.parquet", backend="cpu", progress=True)
    assert "20/20" in shown.getvalue()
    assert re.search(r"[\d,]+ runs/s", shown.getvalue())
    assert "0:00:00" in shown.getvalue()
