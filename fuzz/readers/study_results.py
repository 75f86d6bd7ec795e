"""The results file of a study of many runs: its metadata, and the weights beside it."""

import json

import pyarrow as pa
import pyarrow.parquet as pq

from equipoise.lab.study_file import FORMAT, KEY, Study, columns_of
from fuzz.mutation import json_values
from fuzz.written import written

SHARE = 0.2

CONFIGURATION = {"format": FORMAT, "seeds": [3, 5], "n_datasets": 2, "n_parameters": 2, "training": {"step": 0.1}}
RUNS = {"seed": [3, 3, 5, 5], "dataset": [0, 1, 0, 1], "finite": [True] * 4, "weights": [[0.5, 1.0]] * 4}

mutate = json_values


def examples() -> list[bytes]:
    """Return a configuration and its runs."""
    return [json.dumps({"configuration": CONFIGURATION, "runs": RUNS}).encode()]


def read(data: bytes) -> None:
    """Write the runs as a study would, where Parquet takes them, then open the file and read its weights."""
    try:
        record = json.loads(data)
        columns = [record["runs"][name] for name in RUNS]
        table = pa.table(columns, schema=columns_of(2))
        text = json.dumps(record["configuration"])
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError, pa.ArrowException):
        return
    path = written(b"", "results.parquet")
    pq.write_table(table.replace_schema_metadata({KEY: text}), path, use_dictionary=False)
    study = Study.open(path)
    study.weights()
    study.require_finite()
