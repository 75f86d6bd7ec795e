"""A model.json: weights, names and settings."""

from pathlib import Path

from equipoise.artifact import model_file
from equipoise.estimators.saved import Named, Saved, Setting
from fuzz.mutation import json_values

OLD = Path(__file__).parents[2] / "tests" / "released" / "0.1.0"
SHARE = 4.0

mutate = json_values


def examples() -> list[bytes]:
    """Return a regression, three classes, and models of version 0.1.0."""
    ridge = Saved(Named("ridge", (Setting("alpha", 0.5),)), ("a", "b"), (), ((0.5, -1e-3),), (0.0,))
    three = Saved(Named("logistic", ()), (), ("x", 2, True), ((0.5,), (1.0,), (2.0,)), (0.0, 1.0, 2.0))
    old = [path.read_bytes() for path in sorted(OLD.glob("*/model.json"))]
    return [model_file.written(saved, "ab").encode() for saved in (ridge, three)] + old


def read(data: bytes) -> None:
    """Read it."""
    model_file.read(data.decode("utf-8", "replace"))
