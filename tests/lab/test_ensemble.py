"""The ensemble engine: every run inside it is the run that a plain loop makes, and it is the same every time."""

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from equipoise.lab.ensemble import device, sections, train
from equipoise.lab.ensemble_models import EnsembleError, Neighbours, Training

LAB = Path(__file__).parents[2] / "src" / "equipoise" / "lab"
ROWS, FEATURES = 37, 5
BASE = Training(n_steps=45, batch_size=8, step=0.4)


def neighbours(model: str = "logistic", shared: bool = True) -> Neighbours:
    """Six datasets: the base, one that replaces the first row, one the last, two the same row, one more."""
    stream = np.random.default_rng(7)
    features = stream.standard_normal((ROWS, FEATURES)).astype(np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    labels = np.sign(features[:, 0] + 0.3 * stream.standard_normal(ROWS))
    if model == "multinomial":
        labels = stream.integers(0, 3, ROWS)
    replaced = [-1, 0, ROWS - 1, 5, 5, 20]
    if shared:
        return Neighbours(features, labels, replaced, -features[3], labels[3])
    others = stream.standard_normal((6, FEATURES))
    return Neighbours(features, labels, replaced, others, labels[:6])


def slopes(training: Training, products: np.ndarray, label: float, head: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return one row's gradient in its products with the first layer, and in the head."""
    margin, nothing = products[0], np.zeros_like(head)
    if training.model == "multinomial":
        chances = np.exp(products - products.max())
        chances /= chances.sum()
        chances[int(label)] -= 1
        return chances, nothing
    if training.model == "squared":
        return np.array([2 * (margin - label)]), nothing
    if training.model == "hinge":
        return np.array([-label if label * margin < 1 else 0]), nothing
    if training.model == "smooth-hinge":
        return np.array(
            [-label * min(1, max(0, (1 + training.width - label * margin) / (2 * training.width)))]
        ), nothing
    if training.model == "logistic":
        return np.array([-label / (1 + np.exp(label * margin))]), nothing
    units = np.maximum(products, 0)
    slope = -label / (1 + np.exp(label * (units @ head[:-1] + head[-1])))
    return slope * head[:-1] * (products > 0), slope * np.append(units, np.float32(1))


def run_alone(training: Training, data: Neighbours, seed: int, dataset: int) -> np.ndarray:
    """Train one run by a plain loop over its own dataset, in 32-bit floats."""
    features, labels = data.features.copy(), data.labels.copy()
    if data.replaced_index[dataset] >= 0:
        place = data.replaced_index[dataset]
        features[place] = np.broadcast_to(data.replacement_rows, (6, FEATURES))[dataset]
        labels[place] = np.broadcast_to(data.replacement_labels, 6)[dataset]
    if training.intercept:
        features = np.column_stack([features, np.ones(ROWS, np.float32)])
    first, head = training.draw_initial(FEATURES, seed)
    weights = [first, head]
    velocity = [np.zeros_like(first), np.zeros_like(head)]
    kept = training.draw_masks(FEATURES, seed) / np.float32(1 - training.dropout)
    if training.intercept:
        kept[..., -1] = 1
    for time, (batch, step) in enumerate(zip(training.draw_order(ROWS, seed), training.steps(), strict=True)):
        gradient = [np.zeros_like(first), np.zeros_like(head)]
        rows = [(place, row) for place, row in enumerate(batch) if row < ROWS]
        for place, row in rows:
            inputs = features[row] * kept[time, place] if training.dropout else features[row]
            lower, upper = slopes(training, inputs @ weights[0], labels[row], weights[1])
            gradient[0] += np.outer(inputs, lower)
            gradient[1] += upper
        size = training.batch_size if training.last_batch == "nominal" else len(rows)
        for layer in (0, 1):
            move = -step * (gradient[layer] / np.float32(size) + np.float32(training.alpha) * weights[layer])
            velocity[layer] = np.float32(training.momentum) * velocity[layer] + move
            weights[layer] = weights[layer] + velocity[layer]
        norm = math.sqrt(sum(float(np.square(layer).sum()) for layer in weights))
        if norm > training.radius:
            weights = [layer * np.float32(training.radius / norm) for layer in weights]
    assert all(layer.dtype == np.float32 for layer in weights)
    return np.append(weights[0].T.ravel(), weights[1])


CASES = {
    "logistic": BASE,
    "multinomial": replace(BASE, model="multinomial", classes=3),
    "squared, steps that fall like a root": replace(BASE, model="squared", schedule="root", step=0.2),
    "hinge, one permutation": replace(BASE, model="hinge", order="permutation", last_batch="nominal"),
    "smooth hinge, fixed initial weights, no intercept": replace(
        BASE, model="smooth-hinge", width=0.3, initialisation="fixed", intercept=False
    ),
    "network": replace(BASE, model="network", hidden=4),
    "network with dropout, momentum and a ball": replace(
        BASE, model="network", hidden=3, dropout=0.3, momentum=0.5, radius=1.5
    ),
    "steps that fall like 1/t under a cap, ridge": replace(
        BASE, schedule="inverse", step=5.0, largest_step=0.5, alpha=0.2
    ),
    "with replacement": replace(BASE, order="replacement", batch_size=20),
    "with replacement and dropout": replace(BASE, order="replacement", batch_size=20, dropout=0.5),
    "the short batch left out": replace(BASE, last_batch="drop", n_steps=8),
    "from zero in a ball": replace(BASE, initialisation="zero", radius=0.4),
    "one row a step, momentum with ridge": replace(BASE, batch_size=1, n_steps=80, momentum=0.9, alpha=0.1, step=0.05),
}


# All cases as a CPU runs them, with replacements of their own in every other one; and as a GPU does where that differs.
LAYOUTS = [(case, False, place % 2 == 0) for place, case in enumerate(CASES)] + [
    ("logistic", True, True),
    ("logistic", True, False),
    ("multinomial", True, True),
    ("network", True, False),
    ("network with dropout, momentum and a ball", True, True),
    ("with replacement", True, True),
    ("with replacement and dropout", True, False),
]


# Each layout is compiled anew; what these do is a part of what another one does.
PARTS = [
    ("logistic", False, True),
    ("network", False, False),
    ("with replacement", False, True),
    ("logistic", True, True),
    ("logistic", True, False),
    ("network", True, False),
    ("with replacement", True, True),
]


@pytest.mark.parametrize(
    ("case", "together", "shared"),
    [
        pytest.param(
            *layout,
            marks=pytest.mark.statistics if layout in PARTS else (),
            id=f"{layout[0]}, {'together' if layout[1] else 'seed by seed'}, "
            f"{'one replacement' if layout[2] else 'own replacements'}",
        )
        for layout in LAYOUTS
    ],
)
def test_a_run_in_an_ensemble_is_the_run_that_a_plain_loop_makes(case, together, shared):
    training = CASES[case]
    data = neighbours(training.model, shared)
    # Sections of 7 steps do not divide 45, so that the last has steps to leave out.
    runs = train(training, data, (3, 11), backend="cpu", together=together, trace=7)
    assert runs.weights.dtype == np.float32
    moved = 0
    for place, seed in enumerate(runs.seeds):
        for dataset in range(data.n_datasets):
            alone = run_alone(training, data, seed, dataset)
            difference = np.linalg.norm(runs.weights[place, dataset] - alone)
            assert difference <= 1e-5 * np.linalg.norm(alone), (seed, dataset, difference)
            moved += not np.array_equal(runs.weights[place, dataset], runs.weights[place, 0])
    assert moved >= 8, "replaced rows must matter, or the correction was not tested"


def test_the_same_seeds_give_the_same_weights_whatever_else_is_in_the_ensemble():
    data = neighbours()
    whole = train(BASE, data, range(4), backend="cpu", threads=2)
    again = train(BASE, data, (2, 1), backend="cpu", threads=1)
    assert np.array_equal(whole.weights[[2, 1]], again.weights)
    assert not np.array_equal(whole.weights[0], whole.weights[1])


def test_a_trace_holds_the_weights_along_the_way():
    data = neighbours()
    runs = train(BASE, data, (5,), backend="cpu", trace=20)
    assert runs.trace_steps == (20, 40, 45)
    shorter = train(replace(BASE, n_steps=40), data, (5,), backend="cpu")
    assert np.allclose(runs.trace[:, 1], shorter.weights, rtol=0, atol=1e-6)
    assert np.array_equal(runs.trace[:, -1], runs.weights)


def test_fixed_initial_weights_are_shared_and_drawn_ones_are_not():
    fixed = replace(BASE, initialisation="fixed", initial_seed=4)
    assert np.array_equal(fixed.draw_initial(9, 0)[0], fixed.draw_initial(9, 1)[0])
    assert not np.array_equal(BASE.draw_initial(9, 0)[0], BASE.draw_initial(9, 1)[0])
    assert np.array_equal(fixed.draw_initial(9, 0)[0], BASE.draw_initial(9, 4)[0])


@pytest.mark.parametrize("order", ["fresh", "permutation"])
def test_an_epoch_visits_every_row_once_and_the_seed_alone_decides_when(order):
    drawn = replace(BASE, order=order, n_steps=15).draw_order(ROWS, 2).reshape(3, -1)
    for epoch in drawn:
        assert sorted(epoch) == [*range(ROWS), *[ROWS] * 3]
        assert (epoch[ROWS:] == ROWS).all()
    assert np.array_equal(drawn[0], drawn[1]) == (order == "permutation")


def test_glorot_weights_fill_their_interval():
    first, head = Training("network", hidden=50).draw_initial(400, 0)
    assert 0.99 < abs(first[:-1]).max() / math.sqrt(6 / 450) <= 1
    assert 0.8 < abs(head[:-1]).max() / math.sqrt(6 / 51) <= 1
    assert not first[-1].any()
    assert head[-1] == 0


def test_a_diverging_run_is_named_and_leaves_the_others_alone():
    data = neighbours("squared", shared=False)
    wild = replace(BASE, model="squared", step=0.1)
    # One dataset's replacement is so long that no step size of the others would do for it.
    rows = data.replacement_rows.copy()
    rows[3] *= 1e15
    torn = Neighbours(data.features, data.labels, data.replaced_index, rows, data.replacement_labels)
    for together in (False, True):
        runs = train(wild, torn, (8, 9), backend="cpu", together=together)
        assert runs.diverged == ((8, 3), (9, 3))
        others = [0, 1, 2, 4, 5]
        calm = train(wild, data, (8, 9), backend="cpu", together=together)
        assert np.array_equal(runs.weights[:, others], calm.weights[:, others])


def test_sections_waste_few_steps():
    for steps in (1, 7, 160, 161, 1850, 3400, 8400, 10007):
        length = sections(steps, 160, 8)
        assert length % 8 == 0
        assert -(-steps // length) * length - steps < max(8, 0.01 * steps)


@pytest.mark.parametrize(
    ("settings", "words"),
    {
        "model": ({"model": "tree"}, "'tree'.*logistic, multinomial"),
        "order": ({"order": "sorted"}, "fresh, permutation, replacement"),
        "step": ({"step": 0.0}, "step above 0"),
        "not a number": ({"step": math.nan}, "step above 0"),
        "momentum": ({"momentum": 1.0}, "momentum at least 0 and below 1"),
        "dropout": ({"dropout": -0.1}, "dropout at least 0"),
        "steps": ({"n_steps": 0}, "n_steps: a whole number of at least 1"),
        "batch": ({"batch_size": 2.5}, "batch_size: a whole number"),
        "radius": ({"radius": 0.0}, "radius above 0"),
    }.values(),
)
def test_settings_out_of_range_are_refused(settings, words):
    with pytest.raises(EnsembleError, match=words):
        Training(**settings)


def test_datasets_that_make_no_sense_are_refused():
    x, y = np.eye(4), np.array([1, -1, 1, -1])
    with pytest.raises(EnsembleError, match=r"one label a row.*labels \(3,\)"):
        Neighbours(x, y[:3], [0], x[0], y[0])
    with pytest.raises(EnsembleError, match=r"from -1 to 3.*-2"):
        Neighbours(x, y, [-2, 1], x[0], y[0])
    with pytest.raises(EnsembleError, match="from -1 to 3"):
        Neighbours(x, y, [0.5], x[0], y[0])
    with pytest.raises(EnsembleError, match="replacement rows"):
        Neighbours(x, y, [0, 1], x[:3], y[:3])
    with pytest.raises(EnsembleError, match="finite features"):
        Neighbours(np.where(x > 0, np.inf, x), y, [0], x[0], y[0])
    good = Neighbours(x, y, [-1, 1], x[0], y[0])
    with pytest.raises(EnsembleError, match=r"at most 4 rows.*batch_size=32"):
        train(Training(), good, (0,))
    with pytest.raises(EnsembleError, match=r"labels among \[-1, 1\].*\[0.0\]"):
        train(replace(BASE, batch_size=2), Neighbours(x, np.maximum(y, 0), [0], x[0], 1), (0,))
    with pytest.raises(EnsembleError, match="distinct seeds"):
        train(replace(BASE, batch_size=2), good, (1, 1))
    with pytest.raises(EnsembleError, match="distinct seeds"):
        train(replace(BASE, batch_size=2), good, ())


def test_a_gpu_that_is_not_there_is_refused_with_what_to_install():
    if device("auto").platform != "cpu":
        pytest.skip("this machine has one")
    with pytest.raises(EnsembleError, match=r"a gpu that JAX can use.*pip install \"jax\[cuda13\]\".*backend=\"cpu\""):
        device("gpu")
    with pytest.raises(EnsembleError, match="'tpu'"):
        device("tpu")


ALONE = """
import sys
sys.path.insert(0, {lab!r})
sys.modules["equipoise"] = None
import numpy as np, ensemble
x, y = np.eye(4), np.array([1, -1, 1, -1])
pair = ensemble.Neighbours(x, y, [-1, 2], x[0], y[0])
print(ensemble.train(ensemble.Training(n_steps=5, batch_size=2), pair, range(3)).weights.shape)
assert not [name for name in sys.modules if name.split(".")[0] in ("sklearn", "pandas", "pyarrow")]
"""


def test_the_engine_runs_as_two_files_alone():
    done = subprocess.run(
        [sys.executable, "-c", ALONE.format(lab=str(LAB))], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "(3, 2, 5)"


def test_a_missing_jax_is_named_with_the_line_that_installs_it():
    program = f"import sys; sys.path.insert(0, {str(LAB)!r}); sys.modules['jax'] = None; import ensemble"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert 'pip install "equipoise[lab]"' in done.stderr
