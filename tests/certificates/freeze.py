"""Writes the certificates of this version that are kept for ever: ``python tests/certificates/freeze.py``.

A stored file is never written again. Every kind has an ordinary case, an extreme one and variants; what was released
on the way comes from seeded fits, or from exact noise where the name says so.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import equipoise as eq
from equipoise.certify.certificate import Terms
from equipoise.certify.claims.evaluation import Cells
from equipoise.data.schema import NumberColumn, Target
from equipoise.evaluation.held_out import plan_held_out
from equipoise.planning.evaluation import EvaluationRequest, Look, issue_evaluation

HERE = Path(__file__).parent

TWO = eq.Domain(row_norm=1.0, classes=(0, 1))
NAMED = eq.Domain(row_norm=2.0, classes=("no", "yes"), radius=5.0)
FOUR = eq.Domain(row_norm=1.0, classes=("a", "b", "c", "d"))
LABELS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
WIDE = eq.Domain(row_norm=3.0, labels=(0.0, 400.0), radius=50.0, fill=0.5)

SCHEMA = """
schema_version = 1
n = 4000
vouched_by = "A. Tester"
vouched_on = 2026-11-16

[target]
name = "ill"
classes = ["no", "yes"]

[columns.age]
kind = "number"
bounds = [0, 120]

[columns.weight]
kind = "number"
"""


def table(n_samples: int, n_features: int, seed: int = 0) -> np.ndarray:
    """Return rows of no importance."""
    return np.random.default_rng(seed).uniform(-0.5, 0.5, size=(n_samples, n_features))


def split(rows: np.ndarray) -> np.ndarray:
    """Return two classes of rows, as 0 and 1."""
    return (rows[:, 0] + 0.1 * rows[:, -1] > 0).astype(int)


Made = Iterator[tuple[str, Callable[[], Any]]]


def planned(model: Any, n_samples: int, n_features: int) -> Callable[[], Any]:
    """Return what plans."""
    return lambda: model.plan(n_samples, n_features)


def fitted(model: Any, n_samples: int, n_features: int, regression: bool = False) -> Callable[[], Any]:
    """Return what plans and fits."""

    def made() -> Any:
        rows = table(n_samples, n_features)
        return model.fit(rows, rows[:, 0] if regression else split(rows)).certificate_

    return made


def minimisers() -> Made:
    """Yield noise on weights, in objectives, in gradients and on sums."""
    yield "output-ordinary", planned(eq.LogisticRegression(domain=TWO, mechanism="output"), 1000, 5)
    yield "output-extreme", planned(eq.LogisticRegression(0.001, 0.0, TWO, 3.0, "laplace", False), 10**9, 1)
    yield "output-loose", planned(eq.LinearSVC(1e4, 0.1, TWO, loss="hinge", mechanism="output"), 30, 300)
    yield "output-classes", planned(eq.LogisticRegression(1.0, 1e-6, FOUR, 0.05, "gaussian"), 5000, 20)
    yield "output-radius", planned(eq.HuberRegressor(0.5, 0.0, WIDE, mechanism="output"), 20_000, 7)
    yield "output-corners", planned(eq.LinearSVC(1.0, 1e-5, TWO, loss="hinge", mechanism="output"), 3000, 12)
    yield "output-sparse", planned(eq.ElasticNet(2.0, 0.0, LABELS, l1_ratio=0.3), 9000, 4)
    yield "output-bridge", planned(eq.BridgeClassifier(3.0, 1e-7, TWO, power=1.7), 9000, 6)
    exact = eq.LogisticRegression(1.0, 1e-6, TWO, mechanism="gaussian")
    yield "output-released-exact", fitted(exact, 200, 3)
    yield "objective-ordinary", planned(eq.LogisticRegression(domain=TWO, mechanism="objective"), 1000, 5)
    summed = eq.Domain(row_norm=1.0, classes=(0, 1), row_sum=2.0)
    yield "objective-sums", planned(eq.LogisticRegression(domain=summed, mechanism="objective"), 1000, 50)
    bounded = eq.Domain(bounds=[(17, 90), (0, 1), (-2.5, 2.5)], classes=(0, 1))
    yield "objective-bounds", planned(eq.LogisticRegression(domain=bounded, mechanism="objective"), 1000, 3)
    alike = eq.Domain(row_norm=4.0, labels=(0.0, 400.0), bounds=(0, 16))
    yield "output-bounds", planned(eq.Ridge(domain=alike, mechanism="output"), 1000, 64)
    labels = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0), row_sum=1.5, rows_a_person=7)
    yield "persons-objective-sums", planned(eq.Ridge(0.5, domain=labels, mechanism="objective"), 4000, 60)
    yield "objective-extreme", planned(eq.LogisticRegression(40.0, 1e-12, NAMED, 1e-6, "objective:1"), 10**7, 50)
    yield "objective-classes", planned(eq.LogisticRegression(1.0, 1e-6, FOUR, mechanism="objective"), 5000, 8)
    yield "objective-classes-pure", planned(eq.LogisticRegression(1.0, 0.0, FOUR, 0.02, "objective"), 150, 8)
    yield "objective-radius", planned(eq.Ridge(1.0, 0.0, WIDE, mechanism="objective", fit_intercept=False), 9000, 8)
    yield "objective-directions", planned(eq.LogisticRegression(0.05, 0.0, TWO, mechanism="objective"), 200, 64)
    yield "objective-directions-auto", planned(eq.LogisticRegression(0.05, 0.0, TWO), 200, 64)
    yield "noisy-gradient-ordinary", planned(eq.LogisticRegression(1, 1e-6, TWO, 0.01, "noisy-gradient"), 1000, 9)
    yield "noisy-gradient-extreme", planned(eq.Ridge(9.0, 1e-10, WIDE, 0.5, "noisy-gradient"), 10**6, 3)
    yield "noisy-gradient-classes", planned(eq.LogisticRegression(1, 1e-6, FOUR, mechanism="noisy-gradient"), 2000, 9)
    yield "noisy-gradient-batches", planned(eq.LogisticRegression(1, 1e-6, TWO, 0.01, "noisy-gradient:30"), 900, 9)
    yield "products-ordinary", planned(eq.Ridge(domain=LABELS, mechanism="sufficient-statistics"), 5000, 5)
    yield "products-extreme", planned(eq.Ridge(1e-3, 0.0, WIDE, 1e-4, "sufficient-statistics", False), 10**8, 1)
    yield "products-gaussian", planned(eq.Ridge(1.0, 1e-6, WIDE, mechanism="sufficient-statistics"), 5000, 40)
    yield "functional-ordinary", planned(eq.Ridge(domain=LABELS, mechanism="functional"), 5000, 5)
    yield "functional-extreme", planned(eq.Ridge(500.0, 0.0, WIDE, 2.0, "functional", False), 100, 1)
    yield "functional-radius", planned(eq.Ridge(1.0, 0.0, WIDE, mechanism="functional"), 10**6, 30)


def persons() -> Made:
    """Yield claims about all rows of a person."""
    two = eq.Domain(row_norm=1.0, classes=(0, 1), rows_a_person=100)
    four = eq.Domain(row_norm=1.0, classes=("a", "b", "c", "d"), rows_a_person=3)
    wide = eq.Domain(row_norm=3.0, labels=(0.0, 400.0), radius=50.0, rows_a_person=1000)
    schema = eq.Schema.from_text(f'{SCHEMA}bounds = [0, 300]\n[person]\ncolumn = "patient"\n')
    yield "persons-output-ordinary", planned(eq.LogisticRegression(domain=two, mechanism="output"), 1000, 5)
    yield "persons-output-extreme", planned(eq.Ridge(0.001, 0.0, wide, 3.0, "laplace", False), 10**4, 1)
    yield "persons-output-corners", planned(eq.LinearSVC(1.0, 1e-5, two, loss="hinge", mechanism="output"), 3000, 12)
    yield "persons-objective-pure", planned(eq.LogisticRegression(domain=two, mechanism="objective"), 1000, 5)
    yield "persons-objective-free", planned(eq.LogisticRegression(1.0, 0.0, two, 0.1, "objective:1"), 2000, 9)
    yield "persons-objective-gaussian", planned(eq.LogisticRegression(1.0, 1e-6, two, mechanism="objective"), 5000, 60)
    yield "persons-objective-diameter", planned(eq.Ridge(1.0, 1e-6, wide, 0.5, "objective:1e9"), 9000, 40)
    yield "persons-objective-classes", planned(eq.LogisticRegression(1.0, 1e-6, four, mechanism="objective"), 5000, 30)
    yield "persons-objective-classes-pure", planned(eq.LogisticRegression(1.0, 0.0, four, 0.02, "objective"), 150, 8)
    yield "persons-noisy-gradient", planned(eq.LogisticRegression(1, 1e-6, two, mechanism="noisy-gradient"), 1000, 9)
    yield "persons-noisy-batches", planned(eq.LogisticRegression(1, 1e-6, two, 0.01, "noisy-gradient:30"), 900, 9)
    yield "persons-sgd-ordinary", planned(eq.SGDClassifier(domain=two), 1000, 5)
    single = eq.SGDRegressor(0.01, 0.0, wide, 0.0, passes=1, batch_size=1, step=1e-9)
    yield "persons-sgd-extreme", planned(single, 900, 2)
    yield (
        "persons-sgd-fresh",
        planned(eq.SGDClassifier(1.0, 1e-6, two, loss="hinge", order="fresh", step=0.01), 4000, 6),
    )
    yield "persons-sgd-drawn", planned(eq.SGDClassifier(1.0, 1e-6, two, order="replacement", batch_size=8), 3000, 5)
    yield "persons-sgd-skipped", planned(eq.SGDClassifier(1.0, 1e-6, two, skip=0.3, dropout=0.2, passes=3), 3000, 5)
    yield "persons-noisy-sgd-ordinary", planned(eq.NoisySGDClassifier(1.0, 1e-6, two), 1000, 5)
    yield "persons-noisy-sgd-extreme", planned(eq.NoisySGDRegressor(9.0, 1e-9, wide, batch_size=300), 300, 2)
    streamed = eq.NoisySGDClassifier(1.0, 1e-6, two, loss="hinge", batch_size=4)
    yield "persons-noisy-sgd-stream", planned(streamed, 9000, 40)
    yield "persons-phased-ordinary", planned(eq.PhasedClassifier(1.0, 1e-6, two), 1000, 5)
    yield "persons-phased-pure", planned(eq.PhasedRegressor(1.0, 0.0, wide, loss="huber"), 5000, 3)
    yield "persons-phased-corners", planned(eq.PhasedClassifier(1.0, 1e-6, two, loss="hinge"), 2000, 4)
    yield "persons-schema", lambda: eq.LogisticRegression(1.0, 0.0, schema).plan()
    selector = eq.FeatureSelector(eq.LogisticRegression(domain=two, mechanism="output"))
    yield "persons-selection", lambda: selector.plan(1000, 5)

    def met() -> Any:
        model, rows = eq.LogisticRegression(2.0, 1e-6, two, mechanism="output", random_state=0), table(600, 3)
        model.plan(200, 3)
        return model.fit(rows, split(rows), groups=np.arange(600) % 190).certificate_

    yield "persons-released", met

    def descended() -> Any:
        model, rows = eq.SGDClassifier(2.0, 1e-6, two, batch_size=16, random_state=0), table(600, 3)
        model.plan(200, 3)
        return model.fit(rows, split(rows), groups=np.arange(600) % 190).certificate_

    yield "persons-sgd-released", descended


def descents() -> Made:
    """Yield noise after, inside and between descents."""
    yield "sgd-ordinary", planned(eq.SGDClassifier(domain=TWO), 1000, 5)
    yield "sgd-extreme", planned(eq.SGDRegressor(0.01, 0.0, WIDE, 0.0, passes=1, batch_size=1, step=1e-9), 10**6, 2)
    yield "sgd-decay", planned(eq.SGDClassifier(1.0, 0.0, TWO, 0.1, step="decay", average="suffix"), 4000, 6)
    yield "sgd-fresh", planned(eq.SGDClassifier(1.0, 1e-6, NAMED, 0.1, order="fresh", average="uniform"), 4000, 6)
    yield "sgd-drawn", planned(eq.SGDClassifier(1.0, 1e-6, TWO, order="replacement", batch_size=8), 3000, 5)
    yield "sgd-skipped", planned(eq.SGDClassifier(1.0, 1e-6, TWO, 0.0, skip=0.5, passes=3), 3000, 5)
    yield "sgd-corners", planned(eq.SGDClassifier(2.0, 0.0, NAMED, 0.02, loss="hinge", dropout=0.2, step=0.01), 4000, 6)
    yield (
        "sgd-corners-drawn",
        planned(eq.SGDRegressor(1.0, 1e-6, WIDE, 0.0, loss="absolute", skip=0.3, clip=0.5), 4000, 6),
    )
    yield "sgd-released", fitted(eq.SGDClassifier(domain=TWO, random_state=0), 300, 3)
    yield "noisy-sgd-ordinary", planned(eq.NoisySGDClassifier(domain=TWO), 1000, 5)
    yield "noisy-sgd-extreme", planned(eq.NoisySGDRegressor(30.0, 1e-3, WIDE, 0.1, batch_size=3, passes=0.01), 1000, 2)
    yield (
        "noisy-sgd-divergence",
        planned(eq.NoisySGDClassifier(1, 1e-6, TWO, passes="quadratic", batch_size=1), 12_000, 3),
    )
    yield "noisy-sgd-stream", planned(eq.NoisySGDClassifier(1.0, 1e-6, NAMED, passes=300), 50_000, 100)
    yield "noisy-sgd-langevin", planned(eq.NoisySGDClassifier(1.0, 1e-6, TWO, 0.01, step="langevin:1000"), 2000, 4)
    yield "sgd-classes", planned(eq.SGDClassifier(1.0, 0.0, FOUR, 0.02), 4000, 6)
    yield "sgd-classes-drawn", planned(eq.SGDClassifier(1.0, 1e-6, FOUR, 0.0, order="replacement", passes=2), 4000, 6)
    yield "noisy-sgd-classes", planned(eq.NoisySGDClassifier(1.0, 1e-6, FOUR), 4000, 6)
    yield "phased-classes", planned(eq.PhasedClassifier(1.0, 1e-6, FOUR), 9000, 6)
    yield "phased-ordinary", planned(eq.PhasedClassifier(domain=TWO), 10_000, 5)
    yield "phased-extreme", planned(eq.PhasedRegressor(0.01, 1e-9, WIDE, False, loss="squared"), 10**6, 200)
    yield "phased-corners", planned(eq.PhasedClassifier(1.0, 1e-6, NAMED, loss="hinge"), 20_000, 5)
    yield "phased-released", fitted(eq.PhasedRegressor(1.0, 0.0, LABELS, random_state=0), 800, 2, regression=True)


def methods() -> Made:
    """Yield noise on what a caller's own algorithm computes."""
    ridge = eq.penalties.named("l2", 0.5)
    logistic = eq.Problem(eq.losses.named("logistic"), ridge, TWO)
    squared = eq.Problem(eq.losses.named("squared"), eq.penalties.named("none", 0.0), LABELS)
    recipes = {
        "heavy-ball": (squared, eq.Recipe(passes=5, batch_size=1000, step=0.2, method="heavy-ball:0.5"), 1000, 3),
        "nesterov": (squared, eq.Recipe(passes=9, batch_size=500, step=0.1, method="nesterov:0.9"), 500, 2),
        "ranking": (logistic, eq.Recipe(tolerance=1e-6, method="ranking:400/600"), 1000, 4),
        "ranking-extreme": (logistic, eq.Recipe(tolerance=1e-9, method="ranking"), 10**6, 1),
        "multi-task": (logistic, eq.Recipe(tolerance=1e-6, method="multi-task:400/250/350"), 1000, 3),
        "graph": (logistic, eq.Recipe(tolerance=1e-6, method="graph-convolution:7"), 1000, 3),
        "bagging": (logistic, eq.Recipe(tolerance=1e-6, method="bagging:10"), 1000, 3),
        "bagging-clipped": (
            eq.Problem(eq.losses.named("squared"), eq.penalties.named("none", 0.0), WIDE),
            eq.Recipe(method="bagging:10/7"),
            1000,
            3,
        ),
        "bootstrap": (logistic, eq.Recipe(tolerance=1e-6, method="bootstrap:5/20"), 1000, 3),
    }
    for name, (problem, recipe, n_samples, n_features) in recipes.items():
        budget = eq.Budget(1.0, 1e-6 if name in ("graph", "nesterov") else 0.0)
        yield (
            f"method-{name}",
            lambda arguments=(problem, recipe, budget, n_samples, n_features): eq.plan_method(*arguments),
        )


def released_first() -> Made:
    """Yield claims that release something before the weights."""
    schema = eq.Schema.from_text(SCHEMA)
    # Bounds by quantiles (private-bounds-*.json) are no longer made.
    for name, n_samples, epsilon, share in (("ordinary", 4000, 1.0, 0.2), ("extreme", 20_000, 0.01, 0.009)):
        facts = replace(schema, n_samples=n_samples).with_private_bounds(share)
        yield f"chosen-bounds-{name}", eq.LogisticRegression(epsilon, 0.0, facts).plan

    def frame() -> Any:
        import pandas as pd

        rows = table(4000, 2)
        found = pd.DataFrame({"age": 60 + 50 * rows[:, 0], "weight": 70 + 30 * rows[:, 1]})
        return found.assign(ill=np.where(split(rows) > 0, "yes", "no"))

    def paid() -> Any:
        model = eq.LogisticRegression(1.0, 1e-6, schema.with_private_bounds(0.3), random_state=0)
        return model.fit(frame()).certificate_

    def target_paid() -> Any:
        facts = replace(schema, columns=(NumberColumn("age", None),), target=Target("weight"), unused=("ill",))
        model = eq.Ridge(1.0, 0.0, facts.with_private_bounds(0.3), mechanism="output", random_state=0)
        return model.fit(frame()).certificate_

    yield "chosen-bounds-released", paid
    yield "chosen-bounds-target", target_paid
    yield "dropout-ordinary", planned(eq.DropoutRegressor(1.0, 1e-6, LABELS), 5000, 4)
    yield "dropout-extreme", planned(eq.DropoutClassifier(20.0, 1e-3, TWO, radius=0.1, masks=1), 10**6, 1)
    yield "dropout-released", fitted(eq.DropoutRegressor(1.0, 1e-6, LABELS, random_state=0), 5000, 3, regression=True)
    kept = eq.DropoutClassifier(1.0, 1e-6, TWO, radius=1.0, proposal=0.01, random_state=0)
    yield "dropout-confirmed", fitted(kept, 5000, 2)
    refused = eq.DropoutRegressor(1.0, 1e-6, LABELS, proposal=0.15, curvature_share=0.3, random_state=0)
    yield "dropout-refused", fitted(refused, 5000, 2, regression=True)


def choices() -> Made:
    """Yield searches and selections."""
    grid = {"alpha": [0.01, 0.1, 1.0]}

    def searched(**settings: Any) -> eq.PrivateGridSearch:
        return eq.PrivateGridSearch(eq.LogisticRegression(domain=TWO), grid, **settings)

    yield "choice-ordinary", planned(searched(epsilon=1.0), 3000, 4)
    yield "choice-extreme", planned(searched(epsilon=0.01, delta=1e-9, validation_share=0.01), 10**6, 40)
    yield "choice-released", fitted(searched(epsilon=2.0, random_state=0), 900, 3)
    stopped = {"method": "random-stopping"}
    yield "stopping-ordinary", planned(searched(epsilon=1.0, **stopped), 3000, 4)
    yield "stopping-extreme", planned(searched(epsilon=30.0, delta=1e-4, shape=1, mean_runs=100.0, **stopped), 10**6, 9)
    yield "stopping-approximate", planned(searched(epsilon=1.0, delta=1e-6, **stopped), 3000, 4)
    yield "stopping-released", fitted(searched(epsilon=2.0, random_state=0, **stopped), 900, 3)
    yield "simplex-ordinary", planned(eq.SimplexSelector(1.0, 1e-6), 5000, 100)
    yield "simplex-extreme", planned(eq.SimplexSelector(10.0, 1e-12, test_share=0.5), 10**6, 10**4)
    for name, share in (("passed", 0.6), ("refused", 0.05)):
        rows = (np.random.default_rng(0).random((2000, 3)) < share).astype(float)
        model = eq.SimplexSelector(1.0, 1e-6, random_state=0)
        yield f"simplex-{name}", lambda model=model, rows=rows: model.fit(rows).certificate_
    yield "selection-ordinary", planned(eq.FeatureSelector(domain=TWO), 5000, 6)
    other = eq.FeatureSelector(eq.SGDRegressor(3.0, 1e-8, WIDE), threshold=0.25)
    yield "selection-extreme", planned(other, 10**5, 300)
    yield "selection-released", fitted(eq.FeatureSelector(threshold="deviations:3", domain=TWO, random_state=0), 500, 3)


def counted() -> Made:
    """Yield kinds whose solvers' passes are recorded (N10); what is above was stored before they were."""
    yield "output-passes", planned(eq.LogisticRegression(domain=TWO, mechanism="output"), 1000, 5)
    yield "output-passes-corners", planned(eq.LinearSVC(1.0, 1e-5, TWO, loss="hinge", mechanism="output"), 3000, 12)
    yield "output-passes-bridge", planned(eq.BridgeClassifier(3.0, 1e-7, TWO, power=1.7), 9000, 6)
    yield "output-passes-released", fitted(eq.ElasticNetClassifier(1.0, 1e-6, TWO, random_state=0), 400, 4)
    yield "objective-passes", planned(eq.LogisticRegression(domain=TWO, mechanism="objective"), 1000, 5)
    yield "phased-passes", planned(eq.PhasedClassifier(1.0, 1e-6, NAMED, loss="hinge"), 4000, 5)
    yield "dropout-passes", planned(eq.DropoutRegressor(1.0, 1e-6, LABELS), 5000, 4)


def weighted() -> Made:
    """Yield claims about classes with public weights (N2)."""
    rare, several = {0: 1.0, 1: 15.0}, {"a": 2.0, "b": 0.5, "c": 1.0, "d": 1.0}
    persons = eq.Domain(row_norm=1.0, classes=(0, 1), rows_a_person=100)
    schema = eq.Schema.from_text(
        SCHEMA.replace("[target]", "[target]\nclass_weight = [1, 15]", 1) + "bounds = [0, 300]\n"
    )
    output = eq.LogisticRegression(domain=TWO, mechanism="output", class_weight=rare)
    yield "weights-output", planned(output, 1000, 5)
    yield "weights-output-corners", planned(eq.LinearSVC(1.0, 1e-5, TWO, loss="hinge", class_weight=rare), 3000, 12)
    yield (
        "weights-output-released-exact",
        fitted(eq.LogisticRegression(1.0, 1e-6, TWO, 0.1, "gaussian", class_weight=rare), 200, 3),
    )
    pure = eq.LogisticRegression(1.0, 0.0, TWO, 0.1, "objective:1", class_weight=rare)
    yield "weights-objective-pure", planned(pure, 2000, 9)
    tilted = eq.LogisticRegression(1.0, 1e-6, TWO, mechanism="objective", class_weight=rare)
    yield "weights-objective-gaussian", planned(tilted, 5000, 60)
    classes = eq.LogisticRegression(1.0, 1e-6, FOUR, mechanism="objective", class_weight=several)
    yield "weights-objective-classes", planned(classes, 5000, 8)
    pure = eq.LogisticRegression(1.0, 0.0, FOUR, mechanism="objective", class_weight=several)
    yield "weights-objective-classes-pure", planned(pure, 500, 8)
    noisy = eq.LogisticRegression(1, 1e-6, TWO, 0.01, "noisy-gradient", class_weight=rare)
    yield "weights-noisy-gradient", planned(noisy, 1000, 9)
    yield "weights-sgd", planned(eq.SGDClassifier(domain=TWO, class_weight=rare), 1000, 5)
    yield "weights-noisy-sgd", planned(eq.NoisySGDClassifier(1.0, 1e-6, TWO, class_weight=rare), 1000, 5)
    yield "weights-phased", planned(eq.PhasedClassifier(1.0, 1e-6, TWO, class_weight=rare), 1000, 5)
    person = eq.LogisticRegression(1.0, 0.0, persons, mechanism="output", class_weight=rare)
    yield "weights-persons", planned(person, 1000, 5)
    yield "weights-schema", lambda: eq.LogisticRegression(1.0, 0.0, schema).plan()


def evaluated() -> Made:
    """Yield evaluations of released models (N4)."""

    def asked(epsilon: float, delta: float, n_samples: int, cells: Cells) -> Callable[[], Any]:
        return lambda: issue_evaluation(
            EvaluationRequest(Terms(n_samples, 4), eq.Budget(epsilon, delta), "ab" * 16, "cd" * 32, cells)
        )

    def counts(domain: eq.Domain, classes: tuple[Any, ...], **settings: Any) -> Callable[[], Any]:
        def made() -> Any:
            rows = table(3000, 4)
            labels = np.array(classes, dtype=object)[
                np.digitize(rows[:, 0], np.linspace(-0.5, 0.5, len(classes) + 1)) - 1
            ]
            model = eq.LogisticRegression(domain=domain, random_state=0).fit(rows[:2000], labels[:2000])
            return eq.evaluate(model, rows[2000:], labels[2000:], **settings).certificate

        return made

    def targets() -> Any:
        rows = table(3000, 4)
        model = eq.Ridge(domain=LABELS, random_state=0).fit(rows[:2000], rows[:2000, 0])
        return eq.evaluate(model, rows[2000:], rows[2000:, 0], epsilon=1.0, random_state=0).certificate

    tenths = tuple(place / 10 for place in range(1, 10))
    yield "evaluation-ordinary", asked(0.5, 0.0, 10_000, Cells(tenths, (0, 1)))
    yield "evaluation-extreme", asked(0.001, 0.01, 10**8, Cells((0.5,), ("no", "yes")))
    yield "evaluation-loose", asked(40.0, 0.0, 1, Cells((), tuple(range(100))))
    yield "evaluation-groups", asked(1.0, 0.0, 5000, Cells((0.5,), (0, 1), groups=("f", "m", "x"), by="sex"))
    yield (
        "evaluation-regression",
        asked(1.0, 1e-6, 5000, Cells((-1.0, 0.0, 1.0), predictions=(10.0, 20.0), range=(0.0, 30.0))),
    )
    numbers = Cells((-1.0, 0.0, 1.0), predictions=(10.0, 20.0), range=(0.0, 30.0), targets=(0.0, 10.0, 20.0, 30.0))
    yield "evaluation-targets-ordinary", asked(1.0, 0.0, 5000, numbers)
    yield "evaluation-targets-extreme", asked(0.001, 0.01, 10**8, replace(numbers, targets=(0.0, 30.0)))
    yield "evaluation-targets-released", targets
    yield "evaluation-shares-ordinary", asked(1.0, 0.0, 5000, Cells((0.5,), ("a", "b", "c"), true_shares=tenths))
    yield "evaluation-shares-extreme", asked(0.001, 0.01, 10**8, Cells((), (0, 1, 2), true_shares=(0.5,)))
    yield "evaluation-shares-released", counts(FOUR, ("a", "b", "c", "d"), epsilon=0.01, random_state=0)
    yield "evaluation-released", counts(TWO, (0, 1), epsilon=1.0, random_state=0)
    yield "evaluation-released-exact", counts(TWO, (0, 1), epsilon=0.5)
    yield "evaluation-released-classes", counts(FOUR, ("a", "b", "c", "d"), epsilon=2.0, delta=1e-6, random_state=0)


def looked() -> Made:
    """Yield evaluations whose bins follow from a first look (N3, N4)."""

    def asked(epsilon: float, delta: float, n_samples: int, share: float, cells: Cells) -> Callable[[], Any]:
        look = Look(share, Cells((0.25, 0.5, 0.75), cells.labels, groups=cells.groups, by=cells.by))
        about = Terms(n_samples, 4), eq.Budget(epsilon, delta), "ab" * 16, "cd" * 32
        return lambda: issue_evaluation(EvaluationRequest(*about, cells, look=look))

    def counts(seed: int | None, **settings: Any) -> Callable[[], Any]:
        def made() -> Any:
            rows = table(3000, 4)
            model = eq.LogisticRegression(domain=TWO, random_state=seed).fit(rows[:2000], split(rows[:2000]))
            held = rows[2000:], split(rows[2000:])
            return eq.evaluate(model, *held, random_state=seed, **settings).certificate

        return made

    tenths = tuple(place / 10 for place in range(1, 10))
    yield "looked-ordinary", asked(0.5, 0.0, 10_000, 0.1, Cells(tenths, (0, 1)))
    yield "looked-extreme", asked(0.001, 0.01, 10**8, 0.5, Cells((0.5,), ("no", "yes")))
    yield "looked-groups", asked(1.0, 0.0, 5000, 0.3, Cells((0.5,), (0, 1), groups=("f", "m", "x"), by="sex"))
    yield "looked-released", counts(0, epsilon=1.0, look=0.2)
    yield "looked-released-gaussian", counts(0, epsilon=0.02, delta=0.02, look=0.25)
    yield "looked-released-exact", counts(None, epsilon=0.5, look=0.1)


def held_out() -> Made:
    """Yield trainings with rows that are held out from them (N3, N4)."""

    def asked(model: Any, n_samples: int, n_features: int, share: float = 0.2) -> Callable[[], Any]:
        return lambda: plan_held_out(model, share, "", n_samples, n_features)

    def counted_after(model: Any, regression: bool = False) -> Callable[[], Any]:
        def made() -> Any:
            rows = table(2000, 4)
            return eq.train_and_evaluate(model, rows, rows[:, 0] if regression else split(rows)).certificate

        return made

    bounded = eq.Schema.from_text(SCHEMA).with_private_bounds(0.25)
    yield "held-out-ordinary", asked(eq.LogisticRegression(domain=TWO), 1000, 5)
    yield "held-out-extreme", asked(eq.LogisticRegression(0.001, 0.01, FOUR, 1.0, "gaussian"), 10**6, 1, 0.001)
    yield "held-out-loose", asked(eq.Ridge(40.0, 0.0, WIDE, mechanism="output"), 3, 30, 0.9)
    yield "held-out-phases", asked(eq.PhasedClassifier(1.0, 1e-6, TWO), 1000, 5)
    yield "held-out-bounds", lambda: plan_held_out(eq.LogisticRegression(1.0, 0.0, bounded))
    yield "held-out-released", counted_after(eq.LogisticRegression(domain=TWO, random_state=0))
    yield "held-out-released-exact", counted_after(eq.LogisticRegression(1.0, 1e-6, TWO, mechanism="output"))
    yield (
        "held-out-shares-released",
        lambda: (
            eq.train_and_evaluate(
                eq.LogisticRegression(1.0, 0.0, eq.Domain(1.0, classes=(0, 1, 2)), random_state=0),
                table(2000, 4),
                np.digitize(table(2000, 4)[:, 0], (-0.2, 0.2)),
            ).certificate
        ),
    )
    yield "held-out-targets-released", counted_after(eq.Ridge(1.0, 0.0, WIDE, random_state=0), regression=True)
    yield "held-out-released-numbers", counted_after(eq.Ridge(domain=LABELS, random_state=0), regression=True)


def samples() -> dict[str, Callable[[], Any]]:
    """Return everything that is kept, by its name, as what makes it."""
    kept = [*minimisers(), *descents(), *methods(), *released_first(), *choices(), *counted(), *persons(), *weighted()]
    return dict([*kept, *evaluated(), *held_out(), *looked()])


if __name__ == "__main__":
    folder = HERE / eq.__version__
    folder.mkdir(exist_ok=True)
    for name, make in samples().items():
        file = folder / f"{name}.json"
        if file.exists():
            print(f"kept     {file.name}")
            continue
        file.write_text(make().to_json(), encoding="utf-8")
        print(f"written  {file.name}")
