"""Tables 1 and 2 of the paper, row by row: its order, our bound or why there is none, and a witness.

``python -m equipoise.reproduce.stability_enhanced_privacy.table docs/stable-algorithms.md`` writes the page.
"""

import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from equipoise.errors import NoTheoremApplies
from equipoise.estimators.noisy_sgd import NoisySGDClassifier
from equipoise.proof.stability import bounds
from equipoise.report.study_page import Section, Table, number
from equipoise.reproduce.stability_enhanced_privacy import table_nets, table_witnesses
from equipoise.reproduce.stability_enhanced_privacy.table_witnesses import (
    MOMENTUM_STEP,
    MOMENTUM_STEPS,
    N_ROWS,
    PASSES,
    RANKING_RIDGE,
    RIDGE,
    STEP,
)
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Bound, Domain, Problem, Recipe

# Huber's loss with targets so far away that every row pulls with 1, wherever the weights are.
FAR = 1e4
STRAIGHT = Problem(losses.named("huber:1"), penalties.named("l2", RIDGE), Domain(1.0, labels=(-FAR, FAR)))
FREE = replace(STRAIGHT, penalty=penalties.named("none", 0.0))
SQUARED = Problem(losses.named("squared"), penalties.named("none", 0.0), Domain(1.0, labels=(-1.0, 1.0)))
PAIRS = Problem(losses.named("hinge"), penalties.named("l2", RANKING_RIDGE), Domain(1.0, classes=(0, 1)))
DESCENT = Recipe(passes=PASSES, step=STEP)
# The gradient norm at which another solver ends.
TOLERANCE = 1e-6

HEADER = (
    "method",
    "the paper's order",
    "worked setting",
    "theorem",
    "our bound",
    "measured",
    "measured/bound",
    "remark",
)
AVERAGE_CASE = "The paper's order is in expectation, which certifies nothing (C2)."


@dataclass(frozen=True)
class Line:
    """One worked setting of a row of the paper: what is proved of it, what was measured, and what to say."""

    table: int
    method: str
    order: str
    setting: str
    theorem: str
    bound: float | None
    measured: float
    remark: str
    unit: str = ""

    def cells(self) -> tuple[str, ...]:
        """Return the line as a table shows it."""
        ratio = "" if self.bound is None else f"{self.measured / self.bound:.3f}"
        bound = "none" if self.bound is None else f"{self.unit}{_rounded(self.bound)}"
        measured = f"{self.unit}{_rounded(self.measured)}"
        return self.method, self.order, self.setting, self.theorem, bound, measured, ratio, self.remark


def _rounded(value: float) -> str:
    return number(float(f"{value:.3g}"))


def answer(problem: Problem, recipe: Recipe, theorem: str = "") -> Bound:
    """Return the smallest certified bound of `eq.bounds`, or the one of a theorem."""
    found = bounds(problem, recipe, N_ROWS)
    for bound in found:
        if bound.value is not None and bound.certifies and bound.theorem.startswith(theorem):
            return bound
    raise NoTheoremApplies("a certified bound", f"none by {theorem or 'any theorem'}", found[0].missing[0].remedy)


def first_table() -> Iterator[Line]:
    """Yield the 14 rows of Table 1."""

    def line(
        method: str, order: str, setting: str, problem: Problem, recipe: Recipe, measured: float, remark: str,
        theorem: str = "",
    ) -> Line:  # fmt: skip
        bound = answer(problem, recipe, theorem)
        return Line(1, method, order, setting, bound.theorem, bound.sensitivity, measured, remark)

    descent, ridge = table_witnesses.descent_distance, table_witnesses.ridge_distance
    base = f"n = {N_ROWS}, rows of norm 1"
    descended = f"{base}, {PASSES} passes, step {STEP:g}"
    yield line(
        "Regularised ERM", "L^2/(n lambda)", f"{base}, ridge {RIDGE:g}", STRAIGHT, Recipe(), ridge(),
        "The order is right; the constant is 2 for distances.", "A1",
    )  # fmt: skip
    limit = 1 / (1 + RIDGE)
    yield line(
        "SGD: steps", "L^2/T", f"{base}, ridge {RIDGE:g}, {PASSES} passes, step decay", STRAIGHT,
        replace(DESCENT, step="decay"), descent(ridge=RIDGE, limit=limit, decay=True),
        "T is in the wrong place: without a ridge the distance grows with T (next row); it stays bounded with decaying "
        "steps and a ridge.", "B4",
    )  # fmt: skip
    yield line("SGD: step size", "alpha", descended, FREE, DESCENT, descent(), "Right: proportional to the step.", "B1")
    yield line(
        "SGD: model averaging", "sum of alpha_t", f"{descended}, uniform average", FREE,
        replace(DESCENT, average="uniform"), descent(average=True),
        "Right and loose: (k + 1)/2 passes count, not k (B2).", "B1",
    )  # fmt: skip
    yield line(
        "SGD: minibatch", "L^2/b", f"{descended}, batches of 10", FREE, replace(DESCENT, batch_size=10),
        descent(batch=10), "Right, if the sum over a short last batch is divided by b as well.", "B1",
    )  # fmt: skip
    yield line(
        "SGD: s-dropout", "s", f"{descended}, masks hide 3/4 of the columns", FREE, replace(DESCENT, dropout=0.75),
        descent(pull=0.5), "Masked gradients as printed are no gradients of a convex function: not certified. Masked "
        "rows, clipped again, are (B6).", "B1",
    )  # fmt: skip
    yield line(
        "SGD: gradient clipping", "min(G, L)", f"{descended}, gradients clipped at 0.25", FREE,
        replace(DESCENT, clip=0.25), descent(pull=0.25),
        "Right for one prediction a row (B7), false for nets and several classes.", "B1",
    )  # fmt: skip
    yield _net(1, "SGD: batch normalisation", "gamma^2/sigma^2", "batch-norm", "")
    for name, method, order, momentum, remark in (
        (
            "Nesterov's accelerated descent", "nesterov", "T^2", 0.9,
            "Least squares and constant momentum only: T/(1 - gamma), T^2 at gamma = 1. False in general: the distance "
            "can grow exponentially.",
        ),
        (
            "Heavy ball", "heavy-ball", "1/(1 - sqrt(gamma))", 0.5,
            "Least squares only, where 1/(1 - gamma) is enough.",
        ),
    ):  # fmt: skip
        recipe = Recipe(passes=MOMENTUM_STEPS, batch_size=N_ROWS, step=MOMENTUM_STEP, method=f"{method}:{momentum}")
        yield line(
            name, order, f"{base}, least squares, {MOMENTUM_STEPS} steps of {MOMENTUM_STEP:g}, gamma = {momentum:g}",
            SQUARED, recipe, table_witnesses.momentum_distance(method, momentum), remark,
        )  # fmt: skip
    sizes = (60, 40)
    yield line(
        "Multi-task learning", "1/T", f"tasks of 60 and 40 rows, ridge {RIDGE:g} on w0 and every v_t", STRAIGHT,
        Recipe(method="multi-task:60/40"), table_witnesses.multi_task_distance(sizes),
        "For the stacked weights; with a ridge of lambda/T on v_t the gain is lost.",
    )  # fmt: skip
    net = replace(STRAIGHT, penalty=penalties.named("elastic-net:0.5", 2 * RIDGE))
    yield line(
        "Elastic net", "1/(lambda gamma)", f"{base}, ridge {RIDGE:g} and L1 norm {RIDGE:g}", net, Recipe(),
        ridge(l1=RIDGE), "The order lacks 1/n; the L1 part cancels (F1).", "A1",
    )  # fmt: skip
    bridge = replace(STRAIGHT, penalty=penalties.named("bridge:1.5", RIDGE))
    yield line(
        "Bridge regression", "(1/(p (p - 1))) (1/lambda)^((2 - p)/p)", f"{base}, p = 1.5, strength {RIDGE:g}", bridge,
        Recipe(), ridge(power=1.5), "The order lacks 1/n; it holds on a ball that contains every minimiser.", "A1",
    )  # fmt: skip
    for setting, method, classes in (
        (f"n = {N_ROWS}, three classes, all pairs", "ranking", ()),
        ("public classes of 40 and 60 records", "ranking:40/60", (40, 60)),
    ):
        yield line(
            "k-partite ranking", "1/lambda", f"{setting}, rows of norm 1, ridge {RANKING_RIDGE:g}", PAIRS,
            Recipe(method=method), table_witnesses.ranking_distance(classes),
            "The order lacks 1/n; the number that the sum is divided by must be public.",
        )  # fmt: skip


def second_table() -> Iterator[Line]:
    """Yield the 9 rows of Table 2."""
    yield _net(2, "SGD: dropout", "s", "dropout-net", AVERAGE_CASE)
    yield _net(2, "SGD: swapout", "L", "swapout", AVERAGE_CASE)
    certificate = langevin().plan(1000, 3)
    seen = table_witnesses.langevin_epsilon(certificate)
    for method, order in (("SGLD: aggregated step size", "sqrt(T_k)"), ("SGLD: inverse temperature", "sqrt(beta)")):
        yield Line(
            2, method, order, "n = 1,000, 50 steps of 20 rows, inverse temperature 1,000, delta = 1e-6", "C3",
            certificate.epsilon, seen,
            f"{AVERAGE_CASE} Accounted for as noise in every step, not as stability: (epsilon, delta) is certified.",
            "epsilon ",
        )  # fmt: skip
    bound = answer(STRAIGHT, Recipe(TOLERANCE), "A1")
    for method, order, solver in (
        ("Random coordinate descent", "1/lambda", "coordinate-descent"),
        ("SVRG", "(2 L gamma/(1 - 2 L gamma))^T", "svrg"),
    ):
        moved, norm = table_witnesses.solver_distance(solver)
        if norm > TOLERANCE:
            raise NoTheoremApplies(
                "a solver that meets its tolerance", f"a gradient of norm {norm:g}", "take more steps"
            )
        yield Line(
            2, method, order, f"n = {N_ROWS}, rows of norm 1, ridge {RIDGE:g}, gradient norm at most {TOLERANCE:g}",
            bound.theorem, bound.sensitivity, moved,
            f"{AVERAGE_CASE} Any solver will do that ends at a public gradient norm (A4): eq.release_solution.",
        )  # fmt: skip
    yield _net(2, "Entropy-SGD", "(not printed)", "entropy-sgd", AVERAGE_CASE)
    graph = answer(STRAIGHT, Recipe(method="graph-convolution:4"))
    yield Line(
        2, "1-layer graph convolution", "largest eigenvalue", f"n = {N_ROWS} nodes, degree at most 4, ridge {RIDGE:g}",
        graph.theorem, graph.sensitivity, table_witnesses.graph_distance(4),
        f"{AVERAGE_CASE} One linear layer, a public graph, rows clipped after the sum; private edges or ReLU "
        "layers can only be measured.",
    )  # fmt: skip
    counts = table_witnesses.bags(10)
    clipped = replace(STRAIGHT, domain=replace(STRAIGHT.domain, radius=2.0))
    for setting, problem, method, theorem, moved in (
        (f"10 disjoint parts of {N_ROWS} rows", STRAIGHT, "bagging:10", "", table_witnesses.parts_distance(10)),
        (
            f"{N_ROWS} parts of one row, weights clipped to 2", clipped, f"bagging:{N_ROWS}", "bagging.clipped",
            table_witnesses.parts_distance(N_ROWS, 2.0),
        ),
        (
            f"10 bags of {N_ROWS} draws by public coins", STRAIGHT, f"bootstrap:10/{int(counts.sum(0).max())}", "",
            table_witnesses.bootstrap_distance(counts),
        ),
    ):  # fmt: skip
        bound = answer(problem, Recipe(method=method), theorem)
        yield Line(
            2, "Bagging", "1/m", f"{setting}, ridge {RIDGE:g}", bound.theorem, bound.sensitivity, moved,
            f"{AVERAGE_CASE} With secret coins the worst draw counts, or their law (M1).",
        )  # fmt: skip


def langevin() -> NoisySGDClassifier:
    """Return the model by which both rows on Langevin dynamics are worked."""
    return NoisySGDClassifier(
        epsilon=1.0, delta=1e-6, domain=Domain(1.0, classes=(0, 1)), alpha=RIDGE, step="langevin:1000", passes=1,
        batch_size=20, average="last", random_state=0,
    )  # fmt: skip


def _net(table: int, name: str, order: str, method: str, before: str) -> Line:
    refusal = bounds(FREE, Recipe(method=method), N_ROWS)[0].missing[0]
    moved = table_nets.movement(method)
    plain = table_nets.movement("plain").end
    setting = (
        f"a net of {table_nets.HIDDEN} + {table_nets.HIDDEN} units, {table_nets.ROWS} rows, {table_nets.PASSES} passes"
    )
    remark = (
        f"{before} {refusal.claim[0].upper()}{refusal.claim[1:]}. Instead: {refusal.remedy}. "
        f"The same net by plain SGD moved by {_rounded(plain)}."
    )
    return Line(table, name, order, setting, "none", None, moved.end, remark.strip())


@functools.cache
def lines() -> tuple[Line, ...]:
    """Return every line of both tables."""
    return (*first_table(), *second_table())


def _tables() -> tuple[Table, Table]:
    captions = ("Table 1 of the paper", "Table 2 of the paper: average-case by its own caption")
    return tuple(  # type: ignore[return-value]
        Table(HEADER, tuple(line.cells() for line in lines() if line.table == place), caption, texts=("remark",))
        for place, caption in enumerate(captions, start=1)
    )


WORDS = (
    "Each row has the paper's order, one worked setting with the bound that eq.bounds certifies for it, or the reason "
    "why there is none, and how far neighbouring runs were seen to end apart. A ratio of 1 says that nothing smaller "
    "is true. Bounds are L2 distances of weights when one record is replaced.",
    "Most settings use a loss that is straight where the weights are, so that a row pulls with the same force "
    "everywhere; for a logistic model the bounds are smaller, by A2. Rows without a bound were measured once, by the "
    "same coins on both tables: a measurement is no bound, and certifies nothing.",
)


def table_section() -> Section:
    """Return both tables as a section of the study's page."""
    return Section(
        "Tables 1 and 2: what is certified, and what can only be measured", WORDS, tables=_tables(), closed=True
    )


def page() -> str:
    """Return the page docs/stable-algorithms.md."""
    parts = [HEAD]
    for table in _tables():
        parts.append(f"## {table.caption}\n")
        parts.append("| " + " | ".join(table.header) + " |\n|" + "---|" * len(table.header))
        parts.extend("| " + " | ".join(cells) + " |" for cells in table.rows)
        parts.append("")
    parts.append(TAIL)
    return "\n".join(parts)


HEAD = f"""# Stable algorithms

Generated by `python -m equipoise.reproduce.stability_enhanced_privacy.table docs/stable-algorithms.md`; do not edit.

L. Watson, B. Rozemberczki and R. Sarkar list 14 and 9 stable algorithms in the Tables 1 and 2 of their paper. This page
goes through them.

{WORDS[0]}

{WORDS[1]}

Ask for a bound with the algorithm's name as the recipe's method:

```python
import equipoise as eq

domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", 0.1), domain)
recipe = eq.Recipe(passes=5, batch_size=100, step=0.1, method="heavy-ball:0.5")
eq.bounds(problem, recipe, n_samples=100)
```

or `equipoise bounds -n 100 --alpha 0.1 --loss squared --labels=-1,1 --recipe passes=5,batch_size=100,step=0.1 --method
heavy-ball:0.5`. A method's numbers are public: momentum, sizes of tasks or classes, the largest degree, the number of
parts. Methods without a bound answer "measured only" with the reason and what to do instead.
"""

TAIL = """## Worked examples

Each trains, takes its sensitivity from a theorem, adds noise and prints its claim.

| algorithm | example | proof |
|---|---|---|
| bridge regression | `examples/bridge.py` | [bridge](proofs/bridge.md) |
| multi-task learning | `examples/multi_task.py` | [multi-task](proofs/multi-task.md) |
| ranking | `examples/ranking.py` | [ranking](proofs/ranking.md) |
| heavy ball | `examples/heavy_ball.py` | [B9.heavy-ball](proofs/B9.heavy-ball.md) |
| Nesterov | `examples/nesterov.py` | [B9.nesterov](proofs/B9.nesterov.md) |
| SVRG | `examples/svrg.py` | [A4](proofs/A4.md) |
| random coordinate descent | `examples/coordinate_descent.py` | [A4](proofs/A4.md) |
| SGLD | `examples/sgld.py` | [C3](proofs/C3.md) |
| bagging of ridges | `examples/bagging.py` | [bagging.minimisers](proofs/bagging.minimisers.md) |
| bagging of anything | `examples/bagging.py` | [bagging.clipped](proofs/bagging.clipped.md) |
| bootstrap | `examples/bagging.py` | [bootstrap](proofs/bootstrap.md) |
| graph convolution | `examples/graph_convolution.py` | [graph-convolution](proofs/graph-convolution.md) |

`eq.bounds` gives a number, no certificate: an example that solves by itself has to clip its rows, end at its tolerance
for every table, and draw its noise from the exact source, as the examples do. What an estimator of the library can do,
it does with a certificate and a ledger; the examples use one where there is one.
"""


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
