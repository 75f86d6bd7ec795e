"""Run in a house with toys: release a model with each of them, and print what became of it."""

import json
import sys
from pathlib import Path

import numpy as np

import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.artifact.shipped import strangers
from equipoise.solve import solvers

DOMAIN = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))

# How each toy is asked for, and what the claim then rests on.
WAYS = {
    "loss": ({"mechanism": "objective"}, "loss toy-log-cosh"),
    "penalty": ({"mechanism": "output", "penalty": "toy-whole-ridge"}, "penalty toy-whole-ridge"),
    "theorem": ({"mechanism": "output", "penalty": "toy-whole-ridge"}, "theorem A0.toy"),
    "law": ({"mechanism": "toy-gaussian", "delta": 1e-6}, "law toy-gaussian"),
    "kind": ({"mechanism": "toy-coarse"}, "kind toy-coarse"),
    "solver": ({"mechanism": "output"}, "loss toy-log-cosh"),
    "estimator": ({}, "loss toy-log-cosh"),
}


def table() -> tuple[np.ndarray, np.ndarray]:
    """Return rows and targets."""
    generator = np.random.default_rng(0)
    rows = generator.uniform(-0.5, 0.5, size=(2000, 3))
    return rows, np.clip(rows @ [1.0, -0.5, 0.25] + generator.normal(scale=0.1, size=2000), -1, 1)


def carried(way: dict[str, object], toy: str, folder: Path) -> dict[str, object]:
    """Release a model, and say what became of it."""
    rows, targets = table()
    model = eq.ToyRegressor(epsilon=1.0, domain=DOMAIN, alpha=0.1, **way).fit(rows, targets)
    certificate = model.certificate_
    eq.save(model, folder)
    opened, plain = eq.load(folder), model.to_sklearn()
    near = rows[np.abs(plain.predict(rows)) < 1]
    alike = len(near) > 0 and np.allclose(plain.predict(near), model.predict(near))
    words = certificate.explain()
    page = (folder / "report.html").read_text()
    told = [toy.split()[1]] if not toy.startswith("theorem") else [certificate.theorem]
    return {
        "toy": toy,
        "folder": str(folder),
        "faults": list(inspect(folder).faults),
        "trusted": list(strangers(certificate)),
        "rests on": [" ".join(member) for member in certificate.rests_on()],
        "explained": all(word in words for word in told),
        "on the page": all(word in page for word in told),
        "opened predicts the same": bool(np.array_equal(opened.predict(rows), model.predict(rows))),
        "plain scikit-learn predicts the same": bool(alike),
        "plain class": type(plain).__name__,
    }


def main() -> None:
    """Carry out every way."""
    solved: list[str] = []
    named = solvers.named
    solvers.named = lambda name: (solved.append(name), named(name))[1]
    found = {}
    for name, (way, toy) in WAYS.items():
        solved.clear()
        found[name] = carried(way, toy, Path(sys.argv[1]) / name)
        if name == "solver":
            assert solved == ["toy-steepest"], solved
    print(json.dumps(found))


if __name__ == "__main__":
    main()
