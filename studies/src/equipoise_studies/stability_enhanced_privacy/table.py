"""Tables 1 and 2 of the paper, row by row: its order, our bound or why there is none, and a witness.

``python -m equipoise_studies.stability_enhanced_privacy.table docs/stable-algorithms.md`` writes the page.
"""

import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from equipoise.errors import NoTheoremApplies
from equipoise.lab.net_movement import net_stability
from equipoise.planning.stability import bounds
from equipoise.vocabulary.facts import Bound, Problem, Recipe
from equipoise.vocabulary.methods import method_named
from equipoise_studies.stability_enhanced_privacy import table_descents, table_witnesses
from equipoise_studies.stability_enhanced_privacy.table_figure import steps_figure
from equipoise_studies.stability_enhanced_privacy.table_langevin import CHAINS, DELTA
from equipoise_studies.stability_enhanced_privacy.table_settings import (
    BRIDGE,
    CHAIN,
    COLDER,
    CORNERED,
    DESCENT,
    ELASTIC,
    FREE,
    LONGER,
    MOMENTUM,
    PAIRS,
    SQUARED,
    STRAIGHT,
    TOLERANCE,
    chain_words,
    setting_words,
)
from equipoise_studies.stability_enhanced_privacy.table_witnesses import FAR, N_ROWS
from equipoise_studies.study_page import Section, Table, number

# Numbers stand before sentences, so that a narrow screen shows them; remarks have a table of their own.
HEADER = (
    "method",
    "the paper's order",
    "theorem",
    "our bound",
    "witness",
    "ratio",
    "worked setting",
)
REMARKS = ("method", "remark")
# The columns whose cells are sentences.
TEXTS = ("the paper's order", "worked setting", "remark")
CAPTIONS = ("Table 1 of the paper", "Table 2 of the paper")
AVERAGE_CASE = "By the paper's own caption the orders of Table 2 are in expectation, which certifies nothing (C2)."

# How a bound is asked for.
BY_RECIPE = "`Recipe(passes, step, ...)`, a descent"
BY_TOLERANCE = "`Recipe(tolerance)`, any solver that ends at this gradient norm"
BY_PENALTY = "the problem's penalty, `eq.penalties.named`"
BY_METHOD = "`Recipe(method)`"
BY_PLAN = '`step="langevin:B"` of a model with a budget, `eq.NoisySGDClassifier(...).plan(n, d)`'
BY_MEASURING = '`Recipe(method)`, which answers "measured only"; `eq.lab.net_stability(method)` measures'


@dataclass(frozen=True)
class Line:
    """One worked setting of a row of the paper: what is proved of it, how runs ended, and what to say.

    `seen` is the distance of runs, or what an audit found; `witness` says it in words where a number will not do, and
    `asked` how one asks for the bound.
    """

    table: int
    method: str
    order: str
    setting: str
    theorem: str
    bound: float | None
    seen: float
    remark: str
    asked: str
    unit: str = ""
    witness: str = ""

    def cells(self) -> tuple[str, ...]:
        """Return the line as a table shows it, but for the remark."""
        ratio = "" if self.bound is None else f"{self.seen / self.bound:.3f}"
        bound = "none" if self.bound is None else f"{self.unit}{number(self.bound)}"
        witness = self.witness or number(self.seen)
        return self.method, self.order, self.theorem, bound, witness, ratio, self.setting


def answer(problem: Problem, recipe: Recipe, theorem: str = "") -> Bound:
    """Return the smallest certified bound of `eq.bounds`, or the one of a theorem."""
    found = bounds(problem, recipe, N_ROWS)
    for bound in found:
        if bound.value is not None and bound.certifies and bound.theorem.startswith(theorem):
            return bound
    raise NoTheoremApplies("a certified bound", f"none by {theorem or 'any theorem'}", found[0].missing[0].remedy)


# --- the rows ---------------------------------------------------------------------------------------------------------


def first_table() -> Iterator[Line]:
    """Yield the 14 rows of Table 1."""

    def descent(method: str, order: str, recipe: Recipe, remark: str, problem: Problem = FREE, by: str = "B1") -> Line:
        bound, moved = answer(problem, recipe, by), table_descents.descent_distance(problem, recipe)
        words = setting_words(problem, recipe)
        return Line(1, method, order, words, bound.theorem, bound.sensitivity, moved, remark, BY_RECIPE)

    def minimiser(method: str, order: str, problem: Problem, remark: str, asked: str) -> Line:
        recipe = Recipe(TOLERANCE)
        bound, moved = answer(problem, recipe, "A1"), table_witnesses.minimiser_distance(problem, TOLERANCE)
        words = setting_words(problem, recipe)
        return Line(1, method, order, words, bound.theorem, bound.sensitivity, moved, remark, asked)

    yield minimiser(
        "Regularised ERM", "L^2/(n lambda)", STRAIGHT, "The order is right; the constant is 2 for distances.",
        BY_TOLERANCE,
    )  # fmt: skip
    yield descent(
        "SGD: steps", "L^2/T", replace(DESCENT, step="decay"),
        "T is in the wrong place: without a ridge the distance grows with T (SGD: step size); it stays bounded with "
        "decaying steps and a ridge.", STRAIGHT, "B4",
    )  # fmt: skip
    yield descent("SGD: step size", "alpha", DESCENT, "Right: proportional to the step.")
    yield descent(
        "SGD: model averaging", "sum of alpha_t", replace(DESCENT, average="uniform"),
        "Right and loose: (k + 1)/2 passes count, not k (B2).",
    )  # fmt: skip
    yield descent(
        "SGD: minibatch", "L^2/b", replace(DESCENT, batch_size=10),
        "Right, if the sum over a short last batch is divided by b as well.",
    )  # fmt: skip
    yield descent(
        "SGD: s-dropout", "s", replace(DESCENT, dropout=0.75),
        "Masked gradients as printed are no gradients of a convex function: not certified. Masked rows, clipped again, "
        "are (B6). Masks are public: the witness's row is one that they never hide.",
    )  # fmt: skip
    yield descent(
        "SGD: gradient clipping", "min(G, L)", replace(DESCENT, clip=0.25),
        "Right for one prediction a row (B7), false for nets and several classes.",
    )  # fmt: skip
    yield _net(1, "SGD: batch normalisation", "gamma^2/sigma^2", "batch-norm")
    for name, method, order, remark in (
        (
            "Nesterov's accelerated descent", "nesterov:0.9", "T^2",
            "Least squares and constant momentum only: a push on every step adds up to T/(1 - gamma), and to T^2 at "
            "gamma = 1; pushes grow with the weights besides. False in general: the distance can grow exponentially.",
        ),
        (
            "Heavy ball", "heavy-ball:0.5", "1/(1 - sqrt(gamma))",
            "Least squares only, where a push grows to 1/(1 - gamma) at most; pushes grow with the weights besides.",
        ),
    ):  # fmt: skip
        recipe = replace(MOMENTUM, method=method)
        bound, moved = answer(SQUARED, recipe), table_descents.momentum_distance(SQUARED, recipe)
        words = setting_words(SQUARED, recipe, f"gamma = {method_named(method).numbers[0]:g}")
        yield Line(1, name, order, words, bound.theorem, bound.sensitivity, moved, remark, BY_METHOD)
    sizes = (60, 40)
    yield _weighted(
        1, "Multi-task learning", "1/T", STRAIGHT, f"multi-task:{_listed(sizes)}",
        f"tasks of {' and '.join(map(str, sizes))} rows, the penalty on w0 and every v_t",
        table_witnesses.multi_task_distance(STRAIGHT, sizes, TOLERANCE),
        "For the stacked weights; with a ridge of lambda/T on v_t the gain is lost.",
    )  # fmt: skip
    yield minimiser(
        "Elastic net", "1/(lambda gamma)", ELASTIC, "The order lacks 1/n; the L1 part cancels (F1).", BY_PENALTY
    )
    yield minimiser(
        "Bridge regression", "(1/(p (p - 1))) (1/lambda)^((2 - p)/p)", BRIDGE,
        "The order is hard to read in the paper's table: the last fraction is taken for an exponent. It lacks 1/n, and "
        "holds on a ball that contains every minimiser.", BY_PENALTY,
    )  # fmt: skip
    classes = (20, 30, 50)
    for method, words, moved in (
        (
            "ranking", "three classes that records may leave, all pairs",
            table_witnesses.ranking_distance(PAIRS, CORNERED),
        ),
        (
            f"ranking:{_listed(classes)}", f"public classes of {', '.join(map(str, classes))} records",
            table_witnesses.partite_distance(PAIRS, classes, CORNERED),
        ),
    ):  # fmt: skip
        yield _weighted(
            1, "k-partite ranking", "1/lambda", PAIRS, method, words, moved,
            "The order lacks 1/n; the number that the sum is divided by must be public.", CORNERED,
        )  # fmt: skip


def second_table() -> Iterator[Line]:
    """Yield the 9 rows of Table 2."""
    yield _net(2, "SGD: dropout", "s", "dropout-net")
    yield _net(2, "SGD: swapout", "L", "swapout")
    yield from _langevin()
    recipe = Recipe(TOLERANCE)
    bound = answer(STRAIGHT, recipe, "A1")
    for method, order in (
        ("Random coordinate descent", "1/lambda"),
        ("SVRG", "(2 L gamma/(1 - 2 L gamma))^T"),
    ):
        yield Line(
            2, method, order, setting_words(STRAIGHT, recipe, "half of the targets near"), bound.theorem,
            bound.sensitivity, table_descents.solver_distance(STRAIGHT, method, TOLERANCE),
            "Any solver will do that ends at a public gradient norm (A4): eq.release_solution.",
            BY_TOLERANCE,
        )  # fmt: skip
    yield _net(2, "Entropy-SGD", "(not printed)", "entropy-sgd")
    degree = 4
    yield _weighted(
        2, "1-layer graph convolution", "largest eigenvalue", STRAIGHT, f"graph-convolution:{degree}",
        f"degree at most {degree}", table_witnesses.graph_distance(STRAIGHT, degree, TOLERANCE),
        "One linear layer, a public graph, rows clipped after the sum; private edges or ReLU layers "
        "can only be measured.",
    )  # fmt: skip
    parts, radius, counts = 10, 2.0, table_witnesses.bags(10)
    clipped = replace(STRAIGHT, domain=replace(STRAIGHT.domain, radius=radius))
    for problem, method, words, moved, theorem in (
        (
            STRAIGHT, f"bagging:{parts}", f"{parts} disjoint parts, {N_ROWS // parts} rows in each",
            table_witnesses.parts_distance(STRAIGHT, parts, TOLERANCE), "",
        ),
        (
            clipped, f"bagging:{N_ROWS}", f"{N_ROWS} disjoint parts, one row in each, weights clipped to {radius:g}",
            table_witnesses.parts_distance(STRAIGHT, N_ROWS, TOLERANCE, radius), "bagging.clipped",
        ),
        (
            STRAIGHT, f"bootstrap:{len(counts)}/{counts.sum(0).max()}",
            f"{len(counts)} bags of {N_ROWS} draws by public coins, a row drawn {counts.sum(0).max()} times at most",
            table_witnesses.bootstrap_distance(STRAIGHT, counts, TOLERANCE), "",
        ),
    ):  # fmt: skip
        yield _weighted(
            2, "Bagging", "1/m", problem, method, words, moved,
            "With secret coins the worst draw counts, or their law (M1).", theorem=theorem,
        )  # fmt: skip


def _listed(sizes: tuple[int, ...]) -> str:
    return "/".join(map(str, sizes))


def _weighted(
    table: int, name: str, order: str, problem: Problem, method: str, words: str, moved: float, remark: str,
    tolerance: float = TOLERANCE, theorem: str = "",
) -> Line:  # fmt: skip
    """Return the line of a method that minimises a sum in which a record has a share of its own."""
    recipe = Recipe(tolerance, method=method)
    bound, setting = answer(problem, recipe, theorem), setting_words(problem, recipe, words)
    return Line(table, name, order, setting, bound.theorem, bound.sensitivity, moved, remark, BY_METHOD)


def _langevin() -> Iterator[Line]:
    """Yield both rows on Langevin dynamics: epsilon follows from a chain's numbers, and chains are audited."""
    found = {chain: (chain.epsilon(FREE), chain.audit(FREE)) for chain in (CHAIN, LONGER, COLDER)}
    for method, order, name, chains, values in (
        ("SGLD: aggregated step size", "sqrt(T_k)", "T_k", (CHAIN, LONGER), (CHAIN.steps, LONGER.steps)),
        ("SGLD: inverse temperature", "sqrt(beta)", "beta", (CHAIN, COLDER), (CHAIN.beta, COLDER.beta)),
    ):
        times, growth = values[1] / values[0], found[chains[1]][0] / found[chains[0]][0]
        for chain in chains:
            epsilon, finding = found[chain]
            yield Line(
                2, method, order, f"{chain_words(chain)}, delta = {DELTA:g}", "C3", epsilon, finding.epsilon,
                f"C3 accounts for the noise of every step: {times:g} times {name} costs {growth:.2f} "
                f"times the epsilon, where the order says {times**0.5:g}. The witness is measured, by an audit of the "
                f"last weights of {CHAINS:,} chains on each of two tables, which could have shown up to "
                f"{finding.reach:.3g}. It is weak: the events that delta = {DELTA:g} is about are too rare to count.",
                BY_PLAN, "epsilon ",
                f"epsilon >= {number(finding.epsilon)} ({100 * finding.confidence:.6g} %)",
            )  # fmt: skip


def _net(table: int, name: str, order: str, method: str) -> Line:
    """Return the line of a method without a bound, with what the laboratory measures of it."""
    refusal = bounds(FREE, Recipe(method=method), N_ROWS)[0].missing[0]
    found = net_stability(method)
    setting = (
        f"net of {found.hidden} + {found.hidden} units, {found.rows} rows, {found.passes} passes; median over "
        f"{found.seeds} seeds of the worst of {found.replaced} replaced records"
    )
    remark = (
        f"{refusal.claim[0].upper()}{refusal.claim[1:]}. Instead: {refusal.remedy}. The plain net of the same "
        f"architecture: {found.plain.apart} apart. Travelled from the start: {found.net.travelled}, the plain net "
        f"{found.plain.travelled}. Times as far apart as the plain net, seed by seed: {found.ratio}."
    )
    return Line(
        table, name, order, setting, "none", None, found.net.apart.value, remark, BY_MEASURING,
        witness=f"{found.net.apart} ({100 * found.confidence:.6g} %)",
    )  # fmt: skip


@functools.cache
def lines() -> tuple[Line, ...]:
    """Return every line of both tables."""
    return (*first_table(), *second_table())


# --- the page ---------------------------------------------------------------------------------------------------------


def _tables() -> Iterator[Table]:
    """Yield the lines of each table of the paper, and the remarks on them, each once."""
    for place, (caption, note) in enumerate(zip(CAPTIONS, ("", AVERAGE_CASE), strict=True), start=1):
        shown = [line for line in lines() if line.table == place]
        yield Table(HEADER, tuple(line.cells() for line in shown), caption, note, TEXTS)
        remarks = dict.fromkeys((line.method, line.remark) for line in shown)
        yield Table(REMARKS, tuple(remarks), f"Remarks on {caption}", texts=TEXTS)


WORDS = (
    "Each row has the paper's order, one worked setting with the bound that eq.bounds proves for it, or the reason why "
    "there is none, and a witness: how far apart runs on two neighbouring tables ended. Runs are those of the "
    "library's solvers and loops without noise, or of the algorithm itself where the library has none. A ratio of 1 "
    "says that nothing smaller is true. Bounds are L2 distances of weights when one record is replaced; for SGLD, an "
    "epsilon that follows from the chain's numbers.",
    f"Unless a setting says otherwise, there are {N_ROWS} rows of norm at most {STRAIGHT.domain.row_norm:g}, and the "
    f"loss is {STRAIGHT.loss.name} with targets {FAR:g} away, which is straight where the weights are: a row pulls "
    "with the same force everywhere. For a logistic model the bounds are smaller, by A2. Solved to a number means that "
    "some subgradient has at most this norm (A4).",
    "Rows without a bound are measured by eq.lab.net_stability, by the same coins on both tables; intervals are in "
    "brackets. A percentage is the confidence of what was measured, of each interval by itself. A measurement is no "
    "bound, and certifies nothing.",
)


def table_section() -> Section:
    """Return both tables as a section of the study's page, and how bounds grow with the number of steps."""
    title = "Tables 1 and 2: what is certified, and what can only be measured"
    return Section(title, WORDS, (steps_figure(),), tuple(_tables()), closed=True)


def page() -> str:
    """Return the page docs/stable-algorithms.md."""
    parts = [HEAD, "| asked by | rows |\n|---|---|"]
    for asked in dict.fromkeys(line.asked for line in lines()):
        names = dict.fromkeys(line.method for line in lines() if line.asked == asked)
        parts.append(f"| {asked} | {', '.join(names)} |")
    parts.append("")
    for table in _tables():
        parts.append(f"## {table.caption}\n")
        parts.append("| " + " | ".join(table.header) + " |\n|" + "---|" * len(table.header))
        parts.extend("| " + " | ".join(cells) + " |" for cells in table.rows)
        parts.append(f"\n{table.note}\n" if table.note else "")
    parts.append(TAIL)
    return "\n".join(parts)


HEAD = f"""# Stable algorithms

Generated by `python -m equipoise_studies.stability_enhanced_privacy.table docs/stable-algorithms.md`; do not edit.

L. Watson, B. Rozemberczki and R. Sarkar list 14 and 9 stable algorithms in the Tables 1 and 2 of their paper. This page
goes through them.

{WORDS[0]}

{WORDS[1]}

{WORDS[2]}

## How to ask

```python
import equipoise as eq

domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", 0.1), domain)
recipe = eq.Recipe(passes=5, batch_size=100, step=0.1, method="heavy-ball:0.5")
eq.bounds(problem, recipe, n_samples=100)
eq.bounds(problem, eq.Recipe(tolerance=1e-9), n_samples=100)  # any solver
bridge = eq.Problem(problem.loss, eq.penalties.named("bridge:1.5", 0.1), domain)
eq.bounds(bridge, eq.Recipe(), n_samples=100)
model = eq.NoisySGDRegressor(epsilon=1.0, delta=1e-6, domain=domain, step="langevin:1000", batch_size=20)
model.plan(1000, 3)
```

or `equipoise bounds -n 100 --alpha 0.1 --loss squared --labels=-1,1 --recipe passes=5,batch_size=100,step=0.1 --method
heavy-ball:0.5`. A method's numbers are public: momentum, sizes of tasks or classes, the largest degree, the number of
parts. Not every row is asked by a method's name:
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
| bootstrap | `examples/bootstrap.py` | [bootstrap](proofs/bootstrap.md) |
| graph convolution | `examples/graph_convolution.py` | [graph-convolution](proofs/graph-convolution.md) |

`eq.bounds` gives a number, no certificate. What an estimator of the library can do, it does with a certificate and a
ledger; another solver's weights get the same by `eq.release_solution`. What has a theorem and no estimator is trained
by your own code inside `eq.release_method`, whose certificate is conditional on that code
([own-algorithm.md](own-algorithm.md)).
"""


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
