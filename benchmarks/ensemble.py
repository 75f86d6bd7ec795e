"""The ensemble engine: against a Numba loop that trains one model at a time, and on the grids of the paper.

python benchmarks/ensemble.py [--quick]           the loop and the engine side by side, and the Adult grid on this CPU
python benchmarks/ensemble.py --grids [--json]    the three grids at full size, on a GPU where there is one

Rows are drawn at random in the shapes of the real data, since neither arithmetic nor memory depends on their values.
Drawing (orders and initial weights, by NumPy), transfer to the device, compilation and fetching are stated apart from
the run. With `--grids` nothing is imported but NumPy, JAX and the two files of the engine, so that it works on a
machine where Equipoise is not installed.
"""

import argparse
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np


def engine() -> ModuleType:
    """Load the engine by its path: this file has the same name, and Equipoise may not be installed."""
    lab = Path(__file__).parents[1] / "src" / "equipoise" / "lab"
    sys.path.append(str(lab))
    spec = importlib.util.spec_from_file_location("ensemble_engine", lab / "ensemble.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


ensemble = engine()
Neighbours, Training = ensemble.Neighbours, ensemble.Training

# Of each study: rows, features, seeds (and as many datasets), steps, rows a batch, step size.
GRIDS = {
    "adult": (29305, 100, 160, 3400, 32, 0.5),
    "forest": (378783, 49, 127, 8400, 50, 1.0),
    "mnist": (10397, 50, 99, 1850, 32, 0.1),
}
SHAPE = "adult"


def grid(name: str, own_rows: bool = False) -> tuple[Training, Neighbours, range]:
    n, d, runs, steps, batch, step = GRIDS[name]
    stream = np.random.default_rng(0)
    features = stream.standard_normal((n + 1, d), np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    labels = np.where(features[:, 0] + 0.05 * stream.standard_normal(n + 1) > 0, 1, -1)
    replaced = stream.choice(n, runs, replace=False)
    other, label = features[0], labels[0]
    if own_rows:
        other, label = np.tile(other, (runs, 1)), np.tile(label, runs)
    return (
        Training(n_steps=steps, batch_size=batch, step=step),
        Neighbours(features[1:], labels[1:], replaced, other, label),
        range(runs),
    )


def checksum(weights: np.ndarray) -> float:
    return float(np.abs(weights, dtype=np.float64).sum())


def run_grids(names: list[str], backend: str, repeats: int, own_rows: bool) -> dict[str, object]:
    report: dict[str, object] = {"device": str(ensemble.device(backend)), "jax": ensemble.jax.__version__}
    total = 0.0
    for name in names:
        training, neighbours, seeds = grid(name, own_rows)
        first = ensemble.train(training, neighbours, seeds, backend=backend)
        times = [ensemble.train(training, neighbours, seeds, backend=backend) for _ in range(repeats)]
        runs = sorted(each.seconds["run"] for each in times) or [first.seconds["run"]]
        same = all(np.array_equal(each.weights, first.weights) for each in times)
        total += runs[len(runs) // 2]
        report[name] = {
            "grid": f"{len(seeds)} x {neighbours.n_datasets}, {training.n_steps} steps",
            **{f"{stage}_s": round(taken, 4) for stage, taken in first.seconds.items()},
            "run_median_s": round(runs[len(runs) // 2], 4),
            "run_best_s": round(runs[0], 4),
            "microseconds_a_step": round(1e6 * runs[0] / training.n_steps, 2),
            "checksum": checksum(first.weights),
            "same_every_time": same,
            "diverged": len(first.diverged),
        }
    report["total_run_median_s"] = round(total, 4)
    return report


def numba_loops() -> dict[str, Callable[..., np.ndarray]]:
    import numba

    @numba.njit(fastmath=True)
    def one(features, labels, order, replaced, other, label, weights, step):
        steps, size = order.shape
        gradient = np.empty_like(weights)
        for t in range(steps):
            gradient[:] = 0
            for place in range(size):
                row = order[t, place]
                x, y = features[row], labels[row]
                if row == replaced:
                    x, y = other, label
                margin = np.float32(0)
                for j in range(len(weights)):
                    margin += x[j] * weights[j]
                slope = -y / (np.float32(1) + np.exp(y * margin))
                for j in range(len(weights)):
                    gradient[j] += slope * x[j]
            for j in range(len(weights)):
                weights[j] -= step / np.float32(size) * gradient[j]

    @numba.njit(fastmath=True)
    def serial(features, labels, order, replaced, other, label, weights, step):
        for run in range(len(replaced)):
            one(features, labels, order, replaced[run], other, label, weights[run], step)

    @numba.njit(fastmath=True, parallel=True)
    def parallel(features, labels, order, replaced, other, label, weights, step):
        for run in numba.prange(len(replaced)):
            one(features, labels, order, replaced[run], other, label, weights[run], step)

    return {"serial": serial, "parallel": parallel}


def against_numba(repeats: int, seeds: int, loop_runs: int) -> dict[str, object]:
    training, neighbours, _ = grid(SHAPE)
    # The loop knows no short batches: both leave them out.
    training = Training(**{**vars(training), "last_batch": "drop"})
    features = np.column_stack([neighbours.features, np.ones(neighbours.n_samples, np.float32)])
    other = np.append(neighbours.replacement_rows, np.float32(1))
    order, (first, _) = training.draw_order(neighbours.n_samples, 0), training.draw_initial(neighbours.n_features, 0)
    common = (features, neighbours.labels)
    rest = (neighbours.replaced_index[:loop_runs], other, np.float32(neighbours.replacement_labels))

    def loop(run: Callable[..., np.ndarray], order: np.ndarray) -> tuple[float, float, np.ndarray]:
        weights = np.repeat(first.T, loop_runs, axis=0)
        start, busy = time.perf_counter(), time.process_time()
        run(*common, order, *rest, weights, np.float32(training.step))
        return time.perf_counter() - start, time.process_time() - busy, weights

    loops = numba_loops()
    compiling = {name: round(loop(run, order[:1])[0], 3) for name, run in loops.items()}
    ready = ensemble.train(training, neighbours, range(seeds), backend="cpu")
    rates: dict[str, list[float]] = {"serial": [], "parallel": [], "engine": []}
    busy: dict[str, list[float]] = {"serial": [], "parallel": [], "engine": []}
    for _ in range(repeats):
        for name, run in loops.items():
            taken, used, weights = loop(run, order)
            rates[name].append(loop_runs / taken)
            busy[name].append(1e3 * used / loop_runs)
        used = time.process_time()
        runs = ensemble.train(training, neighbours, range(seeds), backend="cpu")
        busy["engine"].append(1e3 * (time.process_time() - used) / runs.weights[..., 0].size)
        rates["engine"].append(runs.weights[..., 0].size / runs.seconds["run"])
    gap = np.linalg.norm(weights - runs.weights[0, :loop_runs], axis=1) / np.linalg.norm(weights, axis=1)
    medians = {name: float(np.median(each)) for name, each in rates.items()}
    return {
        "runs_a_second": {name: round(rate, 1) for name, rate in medians.items()},
        "ratio_to_one_model_at_a_time": round(medians["engine"] / medians["serial"], 2),
        "ratio_to_a_loop_on_every_core": round(medians["engine"] / medians["parallel"], 2),
        # Of the processor, whatever else the machine does; the engine's with drawing, transfer and fetching.
        "processor_milliseconds_a_run": {name: round(float(np.median(each)), 3) for name, each in busy.items()},
        "largest_relative_gap_of_weights": float(f"{gap.max():.2g}"),
        "numba_compile_s": compiling,
        "engine_apart_s": {stage: round(taken, 3) for stage, taken in ready.seconds.items() if stage != "run"},
    }


def adult_on_this_cpu(seeds: int) -> dict[str, object]:
    training, neighbours, _ = grid("adult")
    runs = ensemble.train(training, neighbours, range(seeds), backend="cpu")
    return {
        "grid": f"{seeds} x {neighbours.n_datasets}, {training.n_steps} steps",
        **{f"{stage}_s": round(taken, 3) for stage, taken in runs.seconds.items()},
        "checksum": checksum(runs.weights),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="under a minute: fewer repetitions, a tenth of the grid")
    parser.add_argument("--grids", action="store_true", help="the three grids at full size")
    parser.add_argument("--only", choices=GRIDS, action="append", help="with --grids: this grid alone")
    parser.add_argument("--backend", default="auto", choices=("auto", "cpu", "gpu"))
    parser.add_argument("--repeats", type=int, default=5, help="with --grids: timed runs after the first")
    parser.add_argument("--unroll", type=int, help="with --grids, on a GPU: steps in the body of the loop")
    parser.add_argument("--own-rows", action="store_true", help="with --grids: a replacement row for each dataset")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    options = parser.parse_args()
    if options.unroll:
        ensemble.GPU_UNROLL = options.unroll
    if options.grids:
        report = run_grids(options.only or list(GRIDS), options.backend, options.repeats, options.own_rows)
    else:
        report = {
            "cores": ensemble.cores(),
            "load_before": [round(each, 2) for each in os.getloadavg()],
            "against_numba": against_numba(*((3, 4, 32) if options.quick else (7, 16, 160))),
            "adult_on_this_cpu": adult_on_this_cpu(16 if options.quick else 160),
            "load_after": [round(each, 2) for each in os.getloadavg()],
        }
    print(json.dumps(report) if options.json else json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
