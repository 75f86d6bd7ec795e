"""Certified dropout against ridge at equal budget, on Boston housing and Adult: when released curvature pays."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import equipoise as eq
from equipoise.errors import InvalidParameter
from equipoise.estimators.regressor import REGRESSION_INTERCEPT_SHARE
from equipoise.lab.estimate import Estimate
from equipoise.lab.row_removal import mean
from equipoise_studies.adult import adult_columns
from equipoise_studies.claims import Claim
from equipoise_studies.data import ADULT
from equipoise_studies.dropout_stability import preparation
from equipoise_studies.dropout_stability.preparation import Array, Table
from equipoise_studies.dropout_stability.removals import share_below
from equipoise_studies.frame import Report, Session
from equipoise_studies.intrinsic_privacy.preparation import unit_rows
from equipoise_studies.study_charts import bands
from equipoise_studies.study_page import Figure, Section, number
from equipoise_studies.study_page import Table as Cells

DELTA = 1e-6
EPSILONS = (0.5, 1.0, 3.0)
# The budget at which rows are drawn anew, and of which the page says why.
MIDDLE = 1.0
KEEPS = (0.5, 0.9, 0.99)
BOSTON_TRAINING = 400
# Small, so that a test can ever confirm it: rows that spread evenly over 13 columns have nearly 0.08.
PROPOSAL = 0.001
# Public constants: the largest value of each number in the code book.
OUTPUT, AUTO = "noise on the weights", "automatic"
# The control: the constraint of the dropout model, and no curvature.
MATCHED = "noise on the weights, longer radius"
LOW = "dropout 0.99"
LONGER, LONGER_FLAT = "dropout 0.99, longer radius", "dropout 0.5, longer radius"
TESTED_FLAT = "dropout 0.5, proposal"
# Below this an eigenvalue of a matrix with entries near 1 is 0.
ROUNDING = 1e-12
AIM = "aim: certified dropout at equal budget"
SURELY = "interval: budgets at which the whole interval is below, and not above"


@dataclass(frozen=True)
class Grid:
    """How often Boston and Adult are drawn, rows of Adult, and the sizes to which Boston is drawn anew."""

    boston: int
    adult: int
    adult_rows: int
    sizes: tuple[int, ...]
    epsilons: tuple[float, ...] = EPSILONS


FULL = Grid(20, 10, 20_000, (400, 4_000, 40_000, 400_000))
QUICK = Grid(3, 2, 1_000, (400, 4_000), (1.0, 3.0))


@dataclass(frozen=True, eq=False)
class Cell:
    """One model at one budget, by repetition: test errors, released curvatures, the noise they left, refusals.

    `noise` is its scale over that of the same model with no curvature released; `faults` are what one certificate's
    verification found. A cell without errors was not planned: no rows of this number could confirm the proposal.
    """

    errors: Array
    curvatures: Array
    noise: Array
    refused: NDArray[np.bool_]
    faults: tuple[str, ...]

    @property
    def planned(self) -> bool:
        """Whether there is anything in the cell."""
        return len(self.errors) > 0


Row = dict[float, Cell]


@dataclass(frozen=True, eq=False)
class Task:
    """A dataset drawn several times into training and test rows, and the models that are compared on it.

    `scale` divides root mean squared errors; a task of classes has none, and counts wrong answers.
    """

    key: str
    name: str
    draws: Sequence[tuple[Table, Table]]
    models: Mapping[str, Any]
    scale: float | None = None
    found: dict[str, Row] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """Training rows and columns."""
        rows, columns = self.draws[0][0].rows.shape
        return int(rows), int(columns)

    def error(self, truth: NDArray[Any], said: NDArray[Any]) -> float:
        """Return how wrong the answers are."""
        if self.scale is None:
            return float(np.mean(truth != said))
        return float(np.sqrt(np.mean(np.square(truth - said)))) / self.scale

    def apart(self, model: str, rival: str) -> list[Estimate]:
        """Return the mean difference of errors on the same draws at each budget at which both were planned."""
        pairs = [(cell.errors, self.found[rival][epsilon].errors) for epsilon, cell in self.found[model].items()]
        return [mean(one - other) for one, other in pairs if len(one)]


def clipped_rows(rows: Array) -> Array:
    """Return every row divided by its norm where that is above 1.

    Examples
    --------
    >>> clipped_rows(np.array([[3.0, 4.0], [0.3, 0.4]])).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    return np.asarray(rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True)))


def boston_table(folder: Path) -> Table:
    """Return Boston housing with clipped rows, and values in 0 .. 50 thousand dollars moved to [-1, 1]."""
    table = preparation.boston(folder)
    return Table(clipped_rows(table.rows), table.outcomes / 25 - 1)


def adult_tables(folder: Path) -> tuple[Table, Table]:
    """Return Adult's training and test rows: its columns by the code book, each row divided by its norm."""
    table = ADULT.read(folder)
    rows = unit_rows(adult_columns(table))
    outcomes = (np.asarray(table["income"].to_pylist()) == ">50K").astype(int)
    train = np.asarray(table["split"].to_pylist()) == "train"
    return Table(rows[train], outcomes[train]), Table(rows[~train], outcomes[~train])


def compared(plain: Any, dropout: Any, domain: eq.Domain, radius: float) -> dict[str, Any]:
    """Return the models of a task by their names, those without dropout first."""
    shared = {"delta": DELTA, "domain": domain, "random_state": 0}
    lower = {f"dropout {keep:g}": dropout(**shared, keep_probability=keep) for keep in KEEPS}
    return {
        OUTPUT: plain(**shared, mechanism="output"),
        MATCHED: plain(**shared | {"domain": replace(domain, radius=radius)}, mechanism="output"),
        AUTO: plain(**shared),
        **lower,
        LONGER: dropout(**shared, keep_probability=0.99, radius=radius),
        TESTED_FLAT: dropout(**shared, keep_probability=0.5, proposal=PROPOSAL),
        "dropout 0.99, proposal": dropout(**shared, keep_probability=0.99, proposal=PROPOSAL),
    }


def boston_task(table: Table, repetitions: int) -> Task:
    """Return ridge against dropout on so many random splits of Boston."""
    draws = [table.split(BOSTON_TRAINING, seed) for seed in range(repetitions)]
    models = compared(eq.Ridge, eq.DropoutRegressor, eq.Domain(row_norm=1.0, labels=(-1.0, 1.0)), 2.0)
    return Task("boston", "Boston housing", draws, models, float(table.outcomes.std()))


def drawn_anew(task: Task, size: int) -> Task:
    """Return the task with its training rows drawn with replacement up to a size: a larger town of the same kind."""
    draws = []
    for seed, (train, test) in enumerate(task.draws):
        n_rows = len(train.outcomes)
        drawn = np.random.default_rng((5, seed)).integers(0, n_rows, size) if size > n_rows else np.arange(n_rows)
        draws.append((Table(train.rows[drawn], train.outcomes[drawn]), test))
    models = {name: task.models[name] for name in (OUTPUT, MATCHED, AUTO, LOW, LONGER, TESTED_FLAT)}
    models[LONGER_FLAT] = clone(task.models[LONGER]).set_params(keep_probability=0.5)
    return Task(task.key, task.name, draws, models, task.scale)


def adult_task(train: Table, test: Table, repetitions: int, n_rows: int) -> Task:
    """Return logistic regression against dropout on so many draws of Adult's training rows, tested on its test rows."""
    draws = [(train.split(n_rows, seed)[0], test) for seed in range(repetitions)]
    models = compared(eq.LogisticRegression, eq.DropoutClassifier, eq.Domain(row_norm=1.0, classes=(0, 1)), 10.0)
    return Task("adult", "Adult", draws, models)


def data_curvature(rows: Array, keep: float) -> float:
    """Return the smallest curvature of the rows with their constant column, dropout included; looks at the data (G3).

    Examples
    --------
    >>> round(data_curvature(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), 0.5), 3)
    0.25
    """
    whole = np.column_stack([rows, np.full(len(rows), REGRESSION_INTERCEPT_SHARE)])
    squares = whole.T @ whole / len(whole)
    dropped = np.diag(squares).copy()
    dropped[-1] = 0
    return float(np.linalg.eigvalsh(squares + (1 - keep) / keep * np.diag(dropped))[0])


def measure_cell(task: Task, name: str, epsilon: float) -> Cell:
    """Train a model on every draw with seeded noise, and verify one certificate of it."""
    model = clone(task.models[name]).set_params(epsilon=epsilon, random_state=0)
    try:
        plan = model.plan(*task.shape)
    except InvalidParameter:
        # Only a proposal may be beyond what so many rows can show; anything else is a fault of this study.
        if getattr(model, "proposal", None) is None:
            raise
        return Cell(np.empty(0), np.empty(0), np.empty(0), np.empty(0, bool), ())
    rule: Any = plan.claim
    errors, curvatures, noise, refused = [], [], [], []
    for seed, (train, test) in enumerate(task.draws):
        model.set_params(random_state=seed).fit(train.rows, train.outcomes)
        errors.append(task.error(test.outcomes, model.predict(test.rows)))
        released = model.certificate_.released
        passed = released is not None and released.passed
        curvatures.append(released.low if passed else 0.0)
        noise.append(rule.distance(released.low) / rule.distance(0.0) if passed else 1.0)
        refused.append(released is not None and not passed)
    return Cell(np.array(errors), np.array(curvatures), np.array(noise), np.array(refused), model.certificate_.verify())


def measure_task(task: Task, epsilons: Sequence[float], report: Report, what: str) -> Task:
    """Fill the task with a cell for every model and budget."""
    for place, name in enumerate(task.models):
        report(what, place, len(task.models))
        task.found[name] = {epsilon: measure_cell(task, name, epsilon) for epsilon in epsilons}
    report(what, len(task.models), len(task.models))
    return task


def rows_needed(task: Task, keep: float, epsilon: float) -> float:
    """Return the rows at which half of epsilon shows the curvature that the data have; looks at the data.

    The margin falls like 1/n (G4), so that a plan for any large n gives the number.
    """
    many = 10**5
    model = clone(task.models[LOW]).set_params(epsilon=epsilon, keep_probability=keep, curvature_share=0.5)
    margin = model.plan(many, task.shape[1]).claim.noisy().margin
    found = data_curvature(task.draws[0][0].rows, keep)
    return many * margin / found if found > ROUNDING else math.inf


def certified_section(session: Session) -> tuple[Section, tuple[Claim, ...]]:
    """Measure certified dropout against ridge, and return the page's section with its claims."""
    grid = QUICK if session.quick else FULL
    houses = boston_task(boston_table(session.data), grid.boston)
    train, test = adult_tables(session.data)
    # A draw leaves some rows out, so that draws differ and intervals cover the rows as well as the noise.
    n_rows = min(grid.adult_rows, int(0.9 * len(train.outcomes)))
    incomes = adult_task(train, test, grid.adult, n_rows)
    for task in (houses, incomes):
        measure_task(task, grid.epsilons, session.report, f"certified dropout, {task.name}")
    larger = [
        measure_task(drawn_anew(houses, size), (MIDDLE,), session.report, f"certified dropout, {size:,} rows")
        for size in grid.sizes
    ]
    return section(houses, incomes, larger), tuple(claims(houses, incomes, larger))


def claims(houses: Task, incomes: Task, larger: Sequence[Task]) -> Iterator[Claim]:
    """Yield the aims: that every certificate holds, and that released curvature pays."""
    faults = [bool(cell.faults) for task in (houses, incomes, *larger) for cell in _cells(task)]
    what = f"share of {len(faults)} certificates, of every kind of model and budget, that verify"
    yield Claim("certified.verified", AIM, 1.0, 1 - sum(faults) / len(faults), what=what)
    for task in (houses, incomes):
        for rival, key in ((OUTPUT, "output"), (AUTO, "auto")):
            below = share_below(task.apart(LOW, rival))
            what = f"share of budgets: {task.name}, {LOW}'s test error below that of {_without(task)} ({rival})"
            name = f"certified.error.{task.key}-{key}"
            yield Claim(name, AIM, 1.0, below.value, below.low, below.high, what=what, note=SURELY)


def _cells(task: Task) -> Iterator[Cell]:
    return (cell for row in task.found.values() for cell in row.values() if cell.planned)


def _without(task: Task) -> str:
    return "logistic regression" if task.scale is None else "ridge"


def _text(task: Task, cell: Cell) -> str:
    if not cell.planned:
        return "not planned"
    unit, digits = (100, 1) if task.scale is None else (1, 3)
    found = mean(cell.errors)
    value, low, high = (f"{unit * each:.{digits}f}" for each in (found.value, found.low, found.high))
    return f"{value} ({low} .. {high})"


def numbers(tasks: Sequence[Task]) -> Cells:
    """Return the table: a row for each model of each task, a column for each budget."""
    epsilons = list(next(iter(tasks[0].found.values())))
    rows = []
    for task in tasks:
        for name, row in task.found.items():
            last = row[epsilons[-1]]
            low = number(float(np.median(last.curvatures))) if "dropout" in name and last.planned else ""
            refused = f"{100 * last.refused.mean():.0f} %" if "proposal" in name and last.planned else ""
            label = name if "dropout" in name else f"{_without(task)}, {name}"
            rows.append((task.name, label, *(_text(task, row[epsilon]) for epsilon in epsilons), low, refused))
    at = f"epsilon {epsilons[-1]:g}"
    header = ("data", "model", *(f"epsilon {epsilon:g}" for epsilon in epsilons), f"curvature, {at}", f"refused, {at}")
    note = (
        "Boston: root mean squared error over the standard deviation of the target. Adult: wrong answers in percent. "
        "Means with 95 % intervals by Student's law; draws share rows, so that these are short. Curvature: the median "
        "released or confirmed. Not planned: no so few rows could confirm the proposal, and the plan says so."
    )
    return Cells(header, tuple(rows), "Certified dropout against models without it, at equal budget", note)


def figure(larger: Sequence[Task]) -> Figure:
    """Return the errors on Boston drawn anew over the number of rows."""
    records = []
    for name, ink in ((OUTPUT, f"ridge, {OUTPUT}"), (AUTO, f"ridge, {AUTO}"), (LOW, LOW), (LONGER, LONGER)):
        for task in larger:
            found = mean(task.found[name][MIDDLE].errors)
            low = max(found.low, found.value / 10)
            point = {"x": task.shape[0], "y": found.value, "low": low, "high": found.high}
            records.append({**point, "ink": ink, "dash": "mean"})
    about = f"Boston's training rows drawn with replacement, epsilon {MIDDLE:g}; means with 95 % intervals."
    chart = bands(records, x="training rows", y="error / deviation")
    return Figure("certified-rows", "A larger town of the same kind", about, chart)


def counted(apart: Sequence[Estimate]) -> str:
    """Return in words how often a model was better, worse, or neither.

    Examples
    --------
    >>> counted([Estimate(-1, -2, -0.5, 0.95), Estimate(1, -2, 3, 0.95), Estimate(1, 0.5, 2, 0.95)])
    'better in 1, worse in 1 and not told apart in 1 of 3'
    """
    better, worse = sum(each.high < 0 for each in apart), sum(each.low > 0 for each in apart)
    return f"better in {better}, worse in {worse} and not told apart in {len(apart) - better - worse} of {len(apart)}"


def section(houses: Task, incomes: Task, larger: Sequence[Task]) -> Section:
    """Return what the page says."""
    words, everything = [_prepared(houses, incomes)], []
    for task in (houses, incomes):
        models = [name for name in task.found if "dropout" in name]
        output, auto = ([each for name in models for each in task.apart(name, rival)] for rival in (OUTPUT, AUTO))
        words.append(
            f"{task.name}: a dropout model was {counted(output)} comparisons with {_without(task)} that has noise on "
            f"its weights, and {counted(auto)} with {_without(task)} as it chooses for itself. {_why(task)}"
        )
        everything += output + auto
    words += [_radius(houses, incomes, larger[-1]), f"{_pays(larger)} {_plainly(everything)}"]
    tables = numbers((houses, incomes)), growth(larger)
    return Section("Certified dropout at equal budget", tuple(words), (figure(larger),), tables)


def _plainly(apart: Sequence[Estimate]) -> str:
    if any(each.high < 0 for each in apart):
        return f"On the two tables as they are, certified dropout was {counted(apart)} comparisons."
    return "On the two tables as they are, released curvature does not pay at any of these budgets."


def _prepared(houses: Task, incomes: Task) -> str:
    (n_houses, _), (n_incomes, columns) = houses.shape, incomes.shape
    return (
        "The models with a certificate: a part of the budget releases a lower bound on the data's curvature (G3, G4), "
        f"or tests a proposed one ({PROPOSAL:g}), and the noise on the weights is scaled by it. Boston: {n_houses} "
        f"training rows, {len(houses.draws)} splits. Adult: {n_incomes:,} training rows of {columns} columns, "
        f"{len(incomes.draws)} draws, the official test rows. Public preparation, delta {DELTA:g}, seeded noise, the "
        "same rows for every model. The number after dropout is the chance that a column is kept."
    )


def _why(task: Task) -> str:
    dropped = [cell for name, row in task.found.items() if "dropout" in name for cell in row.values() if cell.planned]
    shown = sum(bool(np.median(cell.curvatures) > 0) for cell in dropped)
    parts = []
    for keep in (0.5, 0.99):
        rows = rows_needed(task, keep, MIDDLE)
        count = f"about {float(f'{rows:.2g}'):,.0f} rows" if math.isfinite(rows) else "no number of rows"
        found = number(max(0.0, round(data_curvature(task.draws[0][0].rows, keep), 12)))
        parts.append(f"{found} if {keep:g} of the entries are kept ({count})")
    return (
        f"Most runs released a curvature above 0 in {shown} of {len(dropped)} cells. The least curvature that the "
        f"training rows have is {' and '.join(parts)}; in brackets is what it takes to show through the noise of half "
        f"of epsilon {MIDDLE:g}."
    )


def _at(task: Task, name: str) -> str:
    return _text(task, task.found[name][MIDDLE])


def _radius(houses: Task, incomes: Task, largest: Task) -> str:
    return (
        "A dropout model also bounds the norm of its weights, and the public radius can be too short. At epsilon "
        f"{MIDDLE:g} Adult has {_at(incomes, LOW)} % wrong at the public radius and {_at(incomes, LONGER)} % at radius "
        f"{incomes.models[LONGER].radius:g}; always saying the first class is wrong in "
        f"{100 * float(np.mean(incomes.draws[0][1].outcomes)):.1f} %. Boston has {_at(houses, LOW)} and, at radius "
        f"{houses.models[LONGER].radius:g}, {_at(houses, LONGER)}; with {largest.shape[0]:,} rows drawn anew "
        f"{_at(largest, LOW)} and {_at(largest, LONGER)}. The longer radii were settled with "
        "test rows in view; the tables are public."
    )


def _pays(larger: Sequence[Task]) -> str:
    """Return from how many rows on the curvature shows, and whether the model is better for it."""
    shown = [task.shape[0] for task in larger if np.median(task.found[LONGER][MIDDLE].noise) < 1]
    rivals = (OUTPUT, MATCHED, AUTO)
    better = {rival: [task.shape[0] for task in larger if task.apart(LONGER, rival)[0].high < 0] for rival in rivals}

    def at(sizes: Sequence[int]) -> str:
        return f"at {' and '.join(f'{size:,}' for size in sizes)} rows" if sizes else "at none of these sizes"

    return (
        "Boston's training rows, drawn with replacement, stand for a larger town of the same kind. With 0.99 of the "
        f"entries kept and the longer radius, curvature shows {at(shown)}. The model is surely better than ridge "
        f"with noise on its weights {at(better[OUTPUT])}, than that ridge with the same radius {at(better[MATCHED])}, "
        f"and than ridge as it chooses for itself {at(better[AUTO])}."
    )


def growth(larger: Sequence[Task]) -> Cells:
    """Return the table of Boston drawn anew: noise, confirmed proposals, and differences on the same draws."""
    rows = []
    for task in larger:
        steep, flat, tested = (task.found[name][MIDDLE] for name in (LONGER, LONGER_FLAT, TESTED_FLAT))
        confirmed = f"{100 * (1 - tested.refused.mean()):.0f} %" if tested.planned else "not planned"
        apart = [task.apart(model, rival)[0] for model in (LONGER, LONGER_FLAT) for rival in (OUTPUT, MATCHED, AUTO)]
        noise = (f"{float(np.median(cell.noise)):.2f}" for cell in (steep, flat))
        differences = (f"{each.value:+.3f} ({each.low:+.3f} .. {each.high:+.3f})" for each in apart)
        rows.append((f"{task.shape[0]:,}", *noise, confirmed, *differences))
    differences_of = (f"{keep} less ridge, {rival}" for keep in ("0.99", "0.5") for rival in (OUTPUT, MATCHED, AUTO))
    header = ("rows", "noise, 0.99", "noise, 0.5", f"{PROPOSAL:g} confirmed, 0.5", *differences_of)
    note = (
        "Noise: its scale, median, over that of the same model with nothing released. Differences of errors on the "
        "same draws with 95 % intervals; below 0 dropout is better. Longer radius, but for the proposal."
    )
    return Cells(header, tuple(rows), f"Boston drawn anew, epsilon {MIDDLE:g}", note)
