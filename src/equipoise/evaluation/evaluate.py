"""`equipoise.evaluate`: scores of private rows, counted in public cells, with noise and a certificate of their own."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from equipoise.artifact.folder import load
from equipoise.certify.certificate import Terms
from equipoise.data.encoded import encoded_table
from equipoise.data.joined import raw_table
from equipoise.data.tables import target_column
from equipoise.data.unread import Unread
from equipoise.errors import InvalidData, InvalidParameter, LedgerRefused, NoTheoremApplies
from equipoise.estimators.base import PrivateLinearModel, dataset_of
from equipoise.estimators.intake import PlainRows
from equipoise.evaluation.evaluated import Evaluated, evaluated
from equipoise.evaluation.evaluation import Evaluation
from equipoise.evaluation.histogram import require_figures
from equipoise.noise import noise_source
from equipoise.planning.evaluation import EvaluationRequest, Look, issue_evaluation, noise_on_counts, spent_on
from equipoise.planning.held_out import require_told
from equipoise.release import release
from equipoise.vocabulary.facts import Budget, Label
from equipoise.vocabulary.numbers import plain, require_count, require_number
from equipoise.wording import of_type


def evaluate(
    model: PrivateLinearModel | str | os.PathLike[str],
    X: Any,
    y: Any = None,
    *,
    epsilon: float,
    delta: float = 0.0,
    ledger: str | None = None,
    groups: Any = None,
    by: str = "",
    positive: Label | None = None,
    bins_from: Evaluation | str | os.PathLike[str] | None = None,
    look: float | None = None,
    n_samples: int | None = None,
    random_state: int | None = None,
) -> Evaluation:
    """Count private rows by their true class and by what a released model says of them, with noise, once (N4).

    For a regression: by the prediction, and by the residual, the true number less the predicted one. Of several classes
    rows are counted once more, by the share of their true class, for prediction sets; of a regression by the true
    number, for R2.

    Every figure is computed from these counts and costs nothing more. The spend is recorded first, and values never
    raise: they are mapped into the model's domain as in training, and an unknown label counts as the first class.

    Parameters
    ----------
    model : fitted classifier or regressor, or the path of a released folder
        What is evaluated. Its release is named by the certificate.
    X, y : table and target
        Rows that had no part in the model or in its choice; as `fit` takes them. A model with a schema takes raw
        columns, a file opened by `equipoise.open_table`, and the target as a column.
    epsilon, delta : float
        What the counts may cost. Any of the figures alone would cost as much.
    ledger : str, optional
        The URL or name of the ledger that must admit the spend before a row is read.
    groups : None
        Nothing is proved about all rows of a person.
    by : str, optional
        A column of levels of the model's schema: rows are counted for each level apart. It costs no further epsilon,
        and accuracy: as many times more cells have noise.
    positive : label, optional
        One of several classes, which is evaluated against all others: ROC, AUC and every other figure of two classes,
        of the share that the model gives it.
    bins_from : Evaluation or path, optional
        An earlier evaluation of the same release, whose noisy counts say where scores are: bins of two classes are then
        put there. What that one cost adds to `epsilon` where both are about the same rows.
    look : float, optional
        A share of the budget, such as 0.1, for a first look at where scores are, of two classes: bins are then put
        there, as with `bins_from`, within this one spend and certificate. AUC of a rare class gains most.
    n_samples : int, optional
        The declared number of rows. Where a ledger is bound it never comes from the data; a file of text does not
        tell it.
    random_state : int, optional
        None draws from the operating system. A seed makes the counts repeatable and unfit for release.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.random.default_rng(0).uniform(-0.5, 0.5, (6000, 3))
    >>> y = (X[:, 0] + 0.3 * X[:, 1] + np.random.default_rng(1).normal(0.0, 0.2, 6000) > 0).astype(int)
    >>> model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), random_state=0).fit(X[:4000], y[:4000])
    >>> evaluation = eq.evaluate(model, X[4000:], y[4000:], epsilon=1.0, random_state=0)
    >>> evaluation.counts.counts.shape, evaluation.certificate.verify()
    ((1, 2, 16), ())
    >>> 0.8 < evaluation.accuracy.value < 0.9
    True
    """
    given: Any = load(model) if isinstance(model, str | os.PathLike) else model
    found = evaluated(given, by, positive)
    if groups is not None or found.facts.domain.unit == "person":
        raise NoTheoremApplies(
            "an evaluation that covers all rows of a person",
            "no proof: a person with several rows moves several counts (N4)",
            "leave persons out, in the training too, if nobody has two rows",
        )
    features, target = _rows(given, found, X, y, n_samples)
    if ledger is not None and n_samples is None:
        raise LedgerRefused(
            "a declared number of rows, since a ledger is bound",
            "an evaluation that would take n from the data",
            "pass n_samples=..., the public number of rows",
        )
    asked, source = Budget(epsilon, delta), noise_source(random_state)
    about = found.certificate.terms
    if about.seeded and not source.seeded:
        # The bins and the digest that are released follow from its weights, which nothing hides from who has the seed.
        raise InvalidParameter(
            "an evaluation of a release",
            "a seeded model, for experiments only",
            "train it with random_state=None, or pass random_state here too",
        )
    terms = Terms(
        features.shape[0],
        features.shape[1],
        seeded=source.seeded,
        # Cells are named by the model's classes: what they rest on, the evaluation rests on.
        observed_classes=about.observed_classes,
        ledger=dataset_of(ledger),
        schema=about.schema,
        vouched=about.vouched,
    )
    first = None if bins_from is None else _earlier(bins_from, found, source.seeded)
    found = found if first is None else found.after(first.claim)
    before, rest = (None, asked) if look is None else _looking(look, found, terms.n_samples, asked)
    noise = noise_on_counts(rest, found.further)
    cells = replace(found.cells(terms.n_samples, noise), bins_from=_id_of(first))
    # What no figure could follow from is not worth a spend.
    require_figures(cells, terms.n_samples, noise, look)
    certificate = issue_evaluation(
        EvaluationRequest(terms, asked, found.release, found.digest, cells, bool(found.classes), before)
    )
    if not source.seeded:
        # A seeded one is an experiment, such as an audit on a row or two, and no spend.
        require_told(certificate)
    released = release(certificate, features, target, source, ledger, scoring=found)
    return Evaluation(released.certificate, found.declared)


def _id_of(evaluation: Evaluation | None) -> str | None:
    made = None if evaluation is None else evaluation.certificate.release
    return None if made is None else made.id


def _looking(look: float, found: Evaluated, n_samples: int, budget: Budget) -> tuple[Look, Budget]:
    """Return a first look at the rows, and the budget that is left for their counts."""
    _require_two("look", found)
    remedy = "pass look=0.1, a tenth of epsilon"
    share = require_number("look", plain(look), above=0.0, remedy=remedy)
    if share >= 1:
        raise InvalidParameter("look, a share of epsilon below 1", f"look={look!r:.40}", remedy)
    if found.looked is not None:
        raise InvalidParameter("a look at these rows, or bins_from an earlier one", "both", "leave one of them out")
    first, rest = spent_on(budget, share)
    noise = noise_on_counts(first)
    cells = found.cells(n_samples, noise)
    require_figures(cells, n_samples, noise, look)
    return Look(share, cells), rest


def _require_two(name: str, found: Evaluated) -> None:
    if len(found.labels) != 2:
        what = "a model of several classes" if found.labels else "a regression"
        remedy = "leave it out" + (", or name one class with positive=..." if found.labels else "")
        raise InvalidParameter(f"{name}, for scores of two classes", what, remedy)


def _earlier(given: Any, found: Evaluated, seeded: bool) -> Evaluation:
    """Return the evaluation from whose counts bins are to follow; refuse one that says nothing of these scores."""
    asked = "bins_from, an evaluation of the same release and the same two classes"
    _require_two("bins_from", found)
    earlier = Evaluation.load(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(earlier, Evaluation):
        raise InvalidParameter(asked, of_type(earlier), "pass what evaluate returned, or its folder")
    if faults := earlier.certificate.verify():
        # Its counts, and that they were not seeded, are facts only while the certificate holds.
        raise InvalidParameter(asked, f"one whose certificate fails: {faults[0]}", "pass it as it was made")
    if earlier.certificate.terms.seeded and not seeded:
        # Whoever knows the seed takes the noise off its counts, and edges that follow from them would tell of rows.
        remedy = "make that one with random_state=None, or pass random_state here too"
        raise InvalidParameter("bins of an evaluation that is released", "bins_from a seeded one", remedy)
    if (earlier.claim.release, earlier.claim.cells.labels) != (found.release, found.labels):
        remedy = "pass one of this release" + (" with the same positive=..." if found.classes else "")
        raise InvalidParameter(asked, "one of another release, or of other classes", remedy)
    return earlier


def _rows(model: PrivateLinearModel, found: Evaluated, X: Any, y: Any, n_samples: int | None) -> tuple[Unread, Unread]:
    """Return rows and targets, unread; whatever names and types can tell is told now."""
    remedy = "pass n_samples=..., the public number of rows"
    if found.schema is None:
        table = PlainRows(found.facts.domain).known_columns(model, X)
        if n_samples is not None and table.shape[0] != require_count("n_samples", n_samples, remedy):
            raise InvalidData(f"the declared {n_samples} rows", f"{table.shape[0]} rows", remedy)
        return table, found.known_target(target_column(y, table.shape[0]))
    raw = raw_table(X, found.schema.target.name, y)
    if None not in (n_samples, raw.n_samples) and raw.n_samples != require_count("n_samples", n_samples, remedy):
        # The schema's own n is about the rows that trained.
        other = f"pass n_samples={raw.n_samples} (on the command line --rows {raw.n_samples}), or the table you meant"
        raise InvalidData(f"the declared {n_samples} rows", f"{raw.n_samples} rows in {raw.source}", other)
    count = raw.n_samples if n_samples is None else n_samples
    encoded = encoded_table(found.schema, raw, require_count("n_samples", count, remedy))
    return encoded.features, found.known_target(encoded.target)
