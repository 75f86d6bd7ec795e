"""How often approximate intervals for the population's coefficients hold: the tables of docs/coefficients.md.

Worlds with known coefficients: four columns, evenly spread, and labels

- by the model: log odds ``2 x1 - x2 + x3 + 0.3``, rows that are hardly ever clipped;
- by another one: to the log odds comes ``6 (x1^2 - 0.16)``, and the population's coefficients are those of the best
  logistic model, found on 10^6 rows;
- clipped: rows twice as long as the declared row norm, and longer;
- correlated columns: evenly spread, each two with a correlation of about 0.8; the same with ten columns, shorter by the
  root of their number, and a regression on four, with errors of deviation 0.5;
- few public rows: correlated columns, and 300 public rows in place of 2,000.

Private rows and public ones are drawn apart from the same population.
``python benchmarks/coefficients.py [--worlds N] [--refits 20] [--kind KIND] [--rows N] [NAME ...]``: about 0.15 s of
one core a world and line of the tables for output and objective perturbation, a second for noisy gradients. Results are
stored in ``benchmarks/results/coefficients.json``, a record a line; `make bench-page` writes the page from them.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial

import numpy as np
from scipy.special import ndtr
from scores import plan_key
from stored import Named, Record, Store, measure_or_keep

import equipoise as eq
from equipoise import __version__
from equipoise.data.products import products
from equipoise.evaluation.mean_training import MeanDescent, MeanTraining, Slope, TwoClasses
from equipoise.planning.losses import known
from equipoise.vocabulary.losses import Loss, named

WORLDS, REFITS, PUBLIC = 100, 20, 2000
# More where 100 left open whether the level is kept; fewer where nearly all are refused, after many times the work.
MORE_WORLDS = {"a regression": 400}
FEWER_WORLDS = {("clipped rows", 1000, "noisy-gradient"): 20}
INTERCEPT, ERRORS = 0.3, 0.5
KINDS = {"output": 0.0, "objective": 0.0, "noisy-gradient": 1e-6}
CELLS = {
    "the model": [(n, epsilon) for n in (1000, 10_000) for epsilon in (0.5, 1.0, 3.0)],
    "another model": [(1000, 1.0), (10_000, 1.0)],
    "clipped rows": [(1000, 1.0), (10_000, 1.0)],
    "correlated columns": [(1000, 1.0), (1000, 3.0)],
    "ten correlated columns": [(1000, 3.0)],
    "a regression": [(1000, 3.0)],
    "few public rows": [(1000, 3.0)],
}
# Noisy gradients take several times as long, and are for squared losses only where labels are clipped.
FEWER_KINDS = ("correlated columns", "ten correlated columns", "a regression", "few public rows")


class World:
    """A population whose coefficients are known."""

    def __init__(self, name: str) -> None:
        self.columns = 10 if name.startswith("ten") else 4
        self.half = {"clipped rows": 1.4, "ten correlated columns": 0.44}.get(name, 0.7)
        self.bent = 6.0 if name == "another model" else 0.0
        self.shared = 0.8 if name in FEWER_KINDS else 0.0
        self.regression = name == "a regression"
        self.public = 300 if name == "few public rows" else PUBLIC
        self.slopes = np.resize([2.0, -1.0, 1.0, 0.0], self.columns)

    @cached_property
    def truth(self) -> np.ndarray:
        """The population's coefficients, the intercept last; what a plan needs not, since it takes a second."""
        if not self.bent:
            return np.append(self.slopes, INTERCEPT)
        return _best(*self.drawn(np.random.default_rng(0), 10**6))

    def drawn(self, stream: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and labels."""
        if self.shared:
            normal = stream.standard_normal((count, self.columns + 1))
            mixed = np.sqrt(1 - self.shared) * normal[:, :-1] + np.sqrt(self.shared) * normal[:, -1:]
            rows = self.half * (2 * ndtr(mixed) - 1)
        else:
            rows = stream.uniform(-self.half, self.half, (count, self.columns))
        odds = self.odds(rows)
        if self.regression:
            return rows, odds + stream.normal(0.0, ERRORS, count)
        return rows, (stream.random(count) < 1 / (1 + np.exp(-odds))).astype(int)

    def odds(self, rows: np.ndarray) -> np.ndarray:
        """Return the log odds of rows, or of a regression the means."""
        return np.asarray(rows @ self.slopes + INTERCEPT + self.bent * (rows[:, 0] ** 2 - 0.16))

    def model(self, epsilon: float, delta: float, kind: str, seed: int) -> eq.LogisticRegression | eq.Ridge:
        """Return what is trained."""
        if self.regression:
            return eq.Ridge(epsilon, delta, eq.Domain(1.0, labels=(-4.0, 4.0)), mechanism=kind, random_state=seed)
        domain = eq.Domain(row_norm=1.0, classes=(0, 1))
        return eq.LogisticRegression(epsilon, delta, domain, mechanism=kind, random_state=seed)


def _best(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the best logistic model of many rows, the intercept last, by Newton's method."""
    rows, weights = np.column_stack([rows, np.ones(len(rows))]), np.zeros(rows.shape[1] + 1)
    for _ in range(20):
        chances = 1 / (1 + np.exp(-rows @ weights))
        slopes = rows.T @ (chances - labels)
        weights -= np.linalg.solve(rows.T @ (rows * (chances * (1 - chances))[:, None]), slopes)
    return weights


@cache
def world(name: str) -> World:
    """Return a population, made once."""
    return World(name)


def kinds(name: str) -> list[str]:
    """Return the kinds of release that a population is measured with."""
    return [kind for kind in KINDS if kind != "noisy-gradient" or name not in FEWER_KINDS]


def measured(name: str, n: int, epsilon: float, kind: str, worlds: int, refits: int) -> Record:
    """Release a model in each of many worlds, and count how many of its intervals hold.

    Stored is how many hold, a world; `mean` is their share, `deviation` that of worlds, since intervals of one world
    hang together, and `runs` how many worlds were not refused.
    """
    here = world(name)
    released, estimated, widths, held, untold = [], [], [], [], 0
    for seed in range(worlds):
        stream = np.random.default_rng((n, round(10 * epsilon), seed))
        public = here.drawn(stream, here.public)[0]
        model = here.model(epsilon, KINDS[kind], kind, seed).fit(*here.drawn(stream, n))
        weights = np.append(np.atleast_2d(model.coef_)[0], np.atleast_1d(model.intercept_)[0])
        released.append(weights - here.truth)
        noise = {"label_noise": ERRORS} if here.regression else {}
        try:
            found = eq.population_intervals(model, public, refits=refits, seed=seed, **noise)
        except eq.errors.InvalidParameter:
            continue
        pairs = list(zip([*found.coefficients, found.intercept], here.truth, strict=True))
        held.append(sum(bool(one.low <= true <= one.high) for one, true in pairs))
        estimated.append([one.value - true for one, true in pairs])
        widths.append([one.high - one.low for one, _ in pairs])
        untold += sum(not one.told for one, _ in pairs)
    each = here.columns + 1
    # Of the coefficients the one that is farthest off in the middle of all worlds.
    said: Record = {"released": float(np.abs(np.median(released, axis=0))[: here.columns].max())}
    if held:
        said["left"] = float(np.abs(np.median(estimated, axis=0))[: here.columns].max())
        said["width"] = float(np.median(np.array(widths)[:, : here.columns]))
        said["untold"] = untold / (each * len(held))
    shares = np.array(held) / each
    mean = float(shares.mean()) if held else 0.0
    deviation = float(shares.std(ddof=1)) if len(held) > 1 else 0.0
    runs = {"mean": mean, "deviation": deviation, "runs": len(held), "refused": worlds - len(held)}
    return {"truth": here.truth.tolist(), "held": held, "each": each, **said, **runs}


class Followed(TwoClasses):
    """Two classes by given log odds, whatever is taken for the truth."""

    def __init__(self, loss: Loss, domain: eq.Domain, odds: np.ndarray) -> None:
        super().__init__(loss, domain)
        self._odds = odds

    def slope(self, scores: np.ndarray, truth: np.ndarray) -> Slope:
        """Return the mean over both classes."""
        return super().slope(scores, self._odds)


@cache
def put_back(name: str, n: int, epsilon: float, kind: str, public: int = 10**4) -> np.ndarray:
    """Return what is put back with ever more private rows and no noise, less the best model of these public rows."""
    here = world(name)
    claim = here.model(epsilon, KINDS[kind], kind, 0).plan(n, here.columns).claim
    problem = claim.problem
    clip = getattr(claim, "clip", None)
    loss = problem.loss if clip is None else known(problem.loss).clipped(clip)
    rows = here.drawn(np.random.default_rng(1), public)[0]
    ends = np.full((len(rows), 1), problem.intercept)
    whole = np.hstack([rows, ends])
    clipped = np.hstack([products(rows, problem.domain, np.eye(here.columns)), ends])

    def training(labels: TwoClasses) -> MeanTraining:
        if clip is None:
            return MeanTraining(whole, clipped, labels, problem.penalty.alpha)
        return MeanDescent(whole, clipped, labels, problem.penalty.alpha, claim)

    units = np.append(np.ones(here.columns), problem.intercept)
    odds, start = here.odds(rows), here.truth / units
    best = MeanTraining(whole, whole, Followed(named("logistic"), problem.domain, odds), 0.0).weights(start)
    tends = training(Followed(loss, problem.domain, odds)).weights(start)
    return np.asarray((training(TwoClasses(loss, problem.domain)).truth(tends) - best) * units)


@cache
def _planned(name: str, n: int, epsilon: float, kind: str) -> tuple[str, str]:
    return plan_key(world(name).model(epsilon, KINDS[kind], kind, 0).plan(n, world(name).columns))


def plan_today(name: Named) -> list[str]:
    """Return the kind of release that is planned today for a line of the tables, and a digest of the plan."""
    return list(_planned(name["labels"], name["n"], name["epsilon"], name["kind"]))


def tasks(names: list[str], chosen: list[str], rows: list[int], worlds: int | None, refits: int) -> Iterator[tuple]:
    """Yield what is to be measured: a record a line of the tables."""
    for name in names:
        for kind in kinds(name):
            for n, epsilon in CELLS[name]:
                if kind not in chosen or n not in rows:
                    continue
                named: Named = {"labels": name, "n": n, "epsilon": epsilon, "kind": kind}
                many = worlds or FEWER_WORLDS.get((name, n, kind)) or MORE_WORLDS.get(name, WORLDS)
                key = {"plan": plan_today(named), "worlds": many, "refits": refits, "version": __version__}
                make: Callable[[], Record] = partial(measured, name, n, epsilon, kind, many, refits)
                yield named, key, make


def main() -> None:
    """Measure what is not stored."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CELLS)}; all unless said")
    parser.add_argument("--worlds", type=int, help=f"a line of the tables; {WORLDS} of most unless said")
    parser.add_argument("--refits", type=int, default=REFITS, help="simulated trainings an interval")
    parser.add_argument("--kind", choices=KINDS, action="append", help="a kind of release; all unless said")
    parser.add_argument("--rows", type=int, action="append", help="a number of private rows; all unless said")
    asked = parser.parse_args()
    rows = asked.rows or [n for places in CELLS.values() for n, _ in places]
    found = tasks(asked.names or list(CELLS), asked.kind or list(KINDS), rows, asked.worlds, asked.refits)
    measure_or_keep(Store("coefficients"), list(found), False, partial(print, flush=True))


if __name__ == "__main__":
    main()
