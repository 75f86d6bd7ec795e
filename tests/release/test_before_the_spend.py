"""What can fail for a public reason fails before the spend: imports above all.

Every case runs in a process of its own that has imported little. The parent starts one fresh interpreter, which forks.
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CLASSIFY, REGRESS = {"classes": (0, 1)}, {"labels": (-1.0, 1.0)}
# Estimator, its domain, its parameters.
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "output": ("LogisticRegression", CLASSIFY, {"mechanism": "output"}),
    "objective": ("LogisticRegression", CLASSIFY, {"mechanism": "objective"}),
    "gaussian": ("LogisticRegression", CLASSIFY, {"mechanism": "gaussian", "delta": 1e-6}),
    "noisy gradient": ("LogisticRegression", CLASSIFY, {"mechanism": "noisy-gradient", "delta": 1e-3}),
    "hinge": ("LinearSVC", CLASSIFY, {"mechanism": "output", "loss": "hinge"}),
    "elastic net": ("ElasticNet", REGRESS, {"mechanism": "output"}),
    "sums": ("Ridge", REGRESS, {"mechanism": "sufficient-statistics"}),
    "sgd": ("SGDClassifier", CLASSIFY, {"batch_size": 4}),
    "sgd, drawn": ("SGDClassifier", CLASSIFY, {"batch_size": 1, "order": "replacement", "delta": 1e-3}),
    "sgd, skipping": ("SGDClassifier", CLASSIFY, {"batch_size": 4, "skip": 0.5}),
    "noisy sgd": ("NoisySGDClassifier", CLASSIFY, {"batch_size": 4, "passes": 1}),
    "phased": ("PhasedClassifier", CLASSIFY, {}),
    "phased hinge": ("PhasedClassifier", CLASSIFY, {"loss": "hinge"}),
    "dropout": ("DropoutRegressor", REGRESS, {}),
    "simplex": ("SimplexSelector", {}, {}),
}
# What may be missing, or broken, where Equipoise is installed, and who needs it.
MISSING = (
    ("sgd", "numba"),
    ("phased", "numba"),
    ("sgd, drawn", "cryptography"),
    ("noisy sgd", "numba"),
    ("noisy sgd", "cryptography"),
)
# Who does without: noise of the same law is drawn one by one, however many numbers there are.
SPARED = (("output", "numba"), ("gaussian", "cryptography"), ("noisy gradient", "numba"))


def outcome(case: str, folder: str, hidden: str = "", shut: bool = False) -> dict[str, Any]:
    """Fit one model with a ledger in this process; `shut` forbids packages that were not loaded before the spend."""
    import numpy as np

    import equipoise as eq
    from equipoise.ledger import Ledger
    from equipoise.noise import numbers

    name, facts, parameters = CASES[case]
    if hidden:
        for loaded in [module for module in sys.modules if f"{module}.".startswith(f"{hidden}.")]:
            del sys.modules[loaded]
        sys.modules[hidden] = None  # type: ignore[assignment]
        # Two numbers are many.
        numbers.FEW = 1
    ledger = f"sqlite:///{folder}/ledger.db#{case}"
    Ledger(ledger).create(eq.Budget(1.0, 1e-2), "basic")
    if shut:
        admit = Ledger.admit

        def admitted(self: Any, *arguments: Any) -> None:
            admit(self, *arguments)
            sys.meta_path.insert(0, Shut())

        Ledger.admit = admitted  # type: ignore[method-assign]
    domain = {"domain": eq.Domain(row_norm=1.0, **facts)} if facts else {}
    rows = np.linspace(-1, 1, 800).reshape(400, 2)
    targets = np.arange(400) % 2
    ending = "fitted"
    try:
        model = getattr(eq, name)(**parameters, **domain, ledger=ledger)
        model.plan(*rows.shape)
        model.fit(rows, targets)
    except eq.errors.EquipoiseError as error:
        ending = f"{type(error).__name__}: {error}"
    except Exception:
        ending = traceback.format_exc()
    return {"ending": ending, "spends": len(Ledger(ledger).releases())}


class Shut:
    """Finds no package that is not loaded yet; the standard library and ourselves are always there."""

    def find_spec(self, name: str, *_: object) -> None:
        top = name.partition(".")[0]
        if top not in sys.modules and top not in sys.stdlib_module_names:
            raise ImportError(f"{top} was asked for after the spend")


def apart(task: Callable[[], Any]) -> Any:
    """Return what a task returns in a process that is forked for it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, json.dumps(task()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)


def main() -> None:
    """Print how every case ends."""
    import equipoise as eq

    # What everybody who fits has loaded, whatever the kind.
    for name, _, _ in CASES.values():
        getattr(eq, name)
    found: dict[str, Any] = {}
    for case, hidden in (*((case, "") for case in CASES), *MISSING, *SPARED):
        with tempfile.TemporaryDirectory() as folder:
            found[f"{case}/{hidden}"] = apart(functools.partial(outcome, case, folder, hidden, shut=not hidden))
    print(json.dumps(found))


@pytest.fixture(scope="module")
def endings() -> dict[str, Any]:
    done = subprocess.run([sys.executable, Path(__file__)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_loaded_after_the_spend(endings, case):
    assert endings[f"{case}/"] == {"ending": "fitted", "spends": 1}


@pytest.mark.parametrize(("case", "hidden"), MISSING)
def test_what_is_missing_is_missed_before_the_spend_and_named(endings, case, hidden):
    found = endings[f"{case}/{hidden}"]
    assert found["spends"] == 0
    assert found["ending"].startswith("MissingExtra: ")
    assert hidden in found["ending"]
    assert "nothing was spent" in found["ending"]


@pytest.mark.parametrize(("case", "hidden"), SPARED)
def test_noise_is_drawn_without_what_only_makes_it_faster(endings, case, hidden):
    assert endings[f"{case}/{hidden}"] == {"ending": "fitted", "spends": 1}


if __name__ == "__main__":
    main()
