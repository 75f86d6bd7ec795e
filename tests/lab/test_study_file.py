"""A results file from anywhere is one of a study, or refused by the error that says so; nothing else leaves."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equipoise.errors import InvalidParameter
from equipoise.lab.study_file import FORMAT, KEY, Study, columns_of

HONEST = {"format": FORMAT, "seeds": [3, 5], "n_datasets": 2, "n_parameters": 2, "training": {"step": 0.1}}
SEEDS, DATASETS = [3, 3, 5, 5], [0, 1, 0, 1]


def written(path: Path, metadata: bytes | dict = HONEST, seeds=SEEDS, datasets=DATASETS, width: int = 2) -> Path:
    """Write a file of four runs, with metadata of any sort."""
    runs = [[float(seed)] * width for seed in seeds]
    table = pa.table([seeds, datasets, [True] * len(seeds), runs], schema=columns_of(width))
    text = metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode()
    pq.write_table(table.replace_schema_metadata({KEY: text}), path, use_dictionary=False)
    return path


def test_an_honest_file_is_opened_and_read(tmp_path):
    study = Study.open(written(tmp_path / "runs.parquet"))
    np.testing.assert_array_equal(study.weights()[:, :, 0], [[3, 3], [5, 5]])
    assert study.diverged() == ()


ODD = {
    "deep": b"[" * 200_000,
    "deep and closed": b"[" * 900 + b"]" * 900,
    "a list": b"[]",
    "null": b"null",
    "nothing": b"{}",
    "a text": b'"x"',
    "a long number": b"9" * 5000,
    "half a letter": b'"\\ud800"',
    "no text": b"\xff",
    "no training": {name: value for name, value in HONEST.items() if name != "training"},
    "another format": {**HONEST, "format": "equipoise study 9"},
    "huge": {**HONEST, "n_datasets": 10**12, "n_parameters": 10**6},
    "negative": {**HONEST, "n_datasets": -1},
    "a text for a count": {**HONEST, "n_datasets": "2"},
    "truth for a count": {**HONEST, "n_datasets": True},
    "seeds that are none": {**HONEST, "seeds": 2},
    "seeds of text": {**HONEST, "seeds": ["3", "5"]},
    "a seed twice": {**HONEST, "seeds": [3, 3]},
    "fewer runs than rows": {**HONEST, "seeds": [3]},
    "other weights": {**HONEST, "n_parameters": 3},
}


@pytest.mark.parametrize("name", ODD)
def test_a_file_with_odd_metadata_is_refused_at_once(name, tmp_path):
    with pytest.raises(InvalidParameter, match="a file that is none"):
        Study.open(written(tmp_path / "runs.parquet", ODD[name]))


def test_a_pipe_is_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidParameter, match="a file that is none"):
        Study.open(tmp_path / "pipe")


@pytest.mark.parametrize(
    "rows",
    [
        {"metadata": {**HONEST, "n_datasets": 2**30}},
        {"metadata": {**HONEST, "seeds": [3, 7]}},
        {"datasets": [0, 1, 0, 2]},
        {"datasets": [0, 1, 0, -1]},
        {"datasets": [0, 1, 0, 0]},
        {"datasets": [0, 1, 0, None]},
    ],
    ids=["part", "unknown seed", "unknown dataset", "negative dataset", "a run twice", "missing dataset"],
)
def test_weights_of_other_runs_than_stated_are_refused(rows, tmp_path):
    study = Study.open(written(tmp_path / "runs.parquet", **rows))
    with pytest.raises(InvalidParameter, match="a file that is none"):
        study.weights()
