"""The page of an evaluation, from its certificate and the name of its target: everything on it follows from those two.

Nothing here sees a row. All figures come from the noisy counts that the certificate holds (N4).
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from equipoise.artifact import page_file
from equipoise.artifact.findings import bins_words
from equipoise.artifact.statement import evaluation_in
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.evaluation import Cells, Evaluation, HeldOut, Looked
from equipoise.certify.folder import CERTIFICATE, PAGE, SCHEMA, text_of
from equipoise.data.schema import Schema
from equipoise.errors import ReleaseUnreadable
from equipoise.evaluation.figure import Curve, Figure
from equipoise.evaluation.figures import Figures, figures_of
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.regression import Regression
from equipoise.evaluation.several_classes import SeveralClasses
from equipoise.evaluation.two_classes import TwoClasses
from equipoise.report.evaluation_page import evaluation_page
from equipoise.report.evaluation_record import Bars, EvaluationRecord, Line, Point, Shown
from equipoise.report.runtime import runtime

# More groups, or classes, nobody reads on a page.
MOST_GROUPS, MOST_CLASSES, MOST_IN_A_MATRIX = 40, 60, 8

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def page_of(certificate: Certificate, target: str = "") -> str:
    """Return the page of an evaluation as one self-contained HTML document; the same one gives the same page.

    Parameters
    ----------
    certificate : Certificate
        That of an evaluation, taken as it is: `verify` first, if it came from somebody else.
    target : str, optional
        The name of what is predicted, as the schema has it.
    """
    return evaluation_page(record_of(certificate, target))


def drawn_again(contents: Mapping[str, bytes]) -> str:
    """Return the page that the files of an evaluation call for."""
    facts = page_file.read(text_of(contents, PAGE))
    if facts.ledger is not None or facts.attack is not None:
        asked = f"{PAGE} of an evaluation, which shows nothing of a ledger or an attack"
        raise ReleaseUnreadable(asked, "what a ledger said, or an attack reached", page_file.AGAIN)
    target = Schema.from_text(text_of(contents, SCHEMA)).target.name if SCHEMA in contents else ""
    return page_of(Certificate.from_json(text_of(contents, CERTIFICATE)), target)


def require_drawing() -> None:
    """Refuse, before anything is spent, where a page is to be drawn afterwards and could not be."""
    if page_file.draws():
        runtime()


def record_of(certificate: Certificate, target: str = "") -> EvaluationRecord:
    """Return what `page_of` shows, as plain values."""
    # What somebody made up may be too large for doubles.
    with np.errstate(all="ignore"):
        return _record(certificate, target)


def _record(certificate: Certificate, target: str) -> EvaluationRecord:
    claim = evaluation_in(certificate)
    if claim is None:
        asked = "the certificate of an evaluation"
        raise ReleaseUnreadable(asked, f"one of kind {certificate.kind!r}", page_file.AGAIN)
    counts, cells, terms, made = NoisyCounts.of(claim), claim.cells, certificate.terms, certificate.release
    figures = figures_of(counts, further=NoisyCounts.of_further(claim))
    labels = tuple(map(str, cells.labels))
    return EvaluationRecord(
        task=_task(figures),
        target=target,
        release=claim.release,
        model=claim.model,
        labels=labels,
        n_samples=claim.n_samples,
        epsilon=certificate.epsilon,
        delta=certificate.delta,
        adjacency=certificate.adjacency,
        grade=certificate.grade,
        theorem=claim.theorem,
        law=claim.law,
        scale=claim.scale,
        cells=counts.counts.size,
        guess=certificate.gains().guess,
        seeded=terms.seeded,
        ledger=terms.ledger,
        evaluation_id=made.id if made else "",
        made=made.made if made else "",
        software=made.software if made else (),
        certificate_digest=certificate.digest,
        schema_digest=terms.schema,
        caveats=(*certificate.caveats, *(f"nobody checked {words}" for words in bins_words(certificate))),
        assumptions=certificate.assumptions,
        lines=lines_of(figures, labels),
        calibration=_points(figures.calibration, not isinstance(figures, Regression)),
        roc=_roc(figures),
        thresholds=_thresholds(figures),
        confusion=_confusion(figures),
        classes=_classes(figures),
        quantiles=_quantiles(figures),
        by=cells.by,
        groups=tuple(map(str, cells.groups[:MOST_GROUPS])),
        bars=bars_of(counts, cells),
        left_out=max(len(cells.groups) - MOST_GROUPS, 0),
        looked=_cells_of_a_look(certificate),
        further=claim.further_noise.dimension if claim.further_noise else 0,
        further_scale=claim.further_noise.scale if claim.further_noise else 0.0,
        held_out_of=certificate.n_samples if isinstance(certificate.claim, HeldOut) else 0,
    )


def _cells_of_a_look(certificate: Certificate) -> int:
    looks = certificate.claim.of[:1] if isinstance(certificate.claim, Looked) else ()
    return sum(look.noise.dimension for look in looks if isinstance(look, Evaluation))


def _task(figures: Figures) -> str:
    if isinstance(figures, Regression):
        return "regression"
    return "two classes" if isinstance(figures, TwoClasses) else "several classes"


def _shown(figure: Figure, share: bool = False) -> Shown:
    parts = (figure.value, figure.low, figure.high, figure.sampling, figure.noise)
    if not all(map(math.isfinite, parts)):
        # No evaluation is lost for numbers that are none.
        words = "cannot be told from these counts"
        return Shown(figure.least, figure.least, figure.greatest, 0.0, 0.0, words, share)
    note = "" if figure.verdict else figure.words
    return Shown(*parts, figure.verdict, share, note, figure.bins, figure.hidden)


def lines_of(figures: Figures, labels: Sequence[str]) -> tuple[Line, ...]:
    """Return the figures that stand for the whole, the most asked for first, each with what it means."""
    if isinstance(figures, Regression):
        width = "in units of the target"
        return (
            Line("mean absolute error", _shown(figures.mean_absolute_error), f"how far off it is in the mean, {width}"),
            Line("R2", _shown(figures.r2), "the part of the target's variance that it explains; 0 is a constant guess"),
            Line("mean squared error", _shown(figures.mean_squared_error), "the mean of squared residuals"),
            Line("mean residual", _shown(figures.mean_residual), "the truth less the prediction, in the mean"),
        )
    right = Line("accuracy", _shown(figures.accuracy, share=True), "the share of rows that get their true class")
    evened = _shown(figures.balanced_accuracy, share=True)
    balanced = Line("balanced accuracy", evened, "the mean of the classes' recalls, however rare a class is")
    off = _shown(figures.calibration_error, share=True)
    announced = Line("calibration error", off, "the mean distance of scores from the shares that they announce")
    if isinstance(figures, SeveralClasses):
        return (right, balanced, announced, *_of_true_shares(figures))
    recall, false_positive_rate, precision = (_shown(figure, share=True) for figure in figures.decided)
    no, yes = labels
    least = [f"{each:.2g}" for each in figures.least_scores]
    return (
        right,
        balanced,
        Line("AUC", _shown(figures.auc), f"how often a {yes} scores above a {no}; guessing is 0.5"),
        Line("recall", recall, f"of those who are {yes}, the share that it finds"),
        Line("precision", precision, f"where it says {yes}, the share that is so"),
        Line("false positives", false_positive_rate, f"of those who are {no}, the share that it calls {yes}"),
        Line(f"share of {yes}", _shown(figures.prevalence, share=True), f"the share of rows that are {yes} in truth"),
        announced,
        Line("Brier score", _shown(figures.brier), "the mean squared distance of score and class; less is better"),
        Line(
            "log loss",
            _shown(figures.log_loss),
            f"the mean of -log of the true class's score, which counts as no less than {least[0]} of a {no} and "
            f"{least[1]} of a {yes}; less is better",
        ),
        Line(
            f"AUC of scores in {figures.bins} bins",
            _shown(figures.binned_auc),
            "the AUC if two scores of one bin were a tie: another number, and better known",
        ),
    )


def _of_true_shares(figures: SeveralClasses) -> tuple[Line, ...]:
    """Return what follows from counts by the true class's share, where there are any."""
    if figures.brier is None or figures.log_loss is None:
        return ()
    cost = f"the mean of -log of the true class's score, which counts as no less than {figures.least_share:.2g}"
    return (
        Line("Brier score", _shown(figures.brier), "the squared distances of all scores from the truth, in the mean"),
        Line("log loss", _shown(figures.log_loss), f"{cost}; less is better"),
    )


def _points(curve: Curve, share: bool) -> tuple[Point, ...]:
    bins = tuple(pairwise(curve.ends)) if curve.ends else len(curve) * (None,)
    found = zip(curve.places, curve.figures, bins, strict=True)
    return tuple(Point(place, _shown(figure, share), ends) for place, figure, ends in found)


def _roc(figures: Figures) -> tuple[tuple[Point, Point], ...]:
    if not isinstance(figures, TwoClasses):
        return ()
    false, true = (_points(curve, share=True) for curve in figures.roc)
    return tuple(zip(false, true, strict=True))


def _thresholds(figures: Figures) -> tuple[tuple[str, tuple[Point, ...]], ...]:
    if not isinstance(figures, TwoClasses):
        return ()
    return tuple((name, _points(curve, share=True)) for name, curve in figures.at_thresholds.items())


def _confusion(figures: Figures) -> tuple[tuple[Shown, ...], ...]:
    if isinstance(figures, Regression) or figures.counts.counts.shape[1] > MOST_IN_A_MATRIX:
        return ()
    return tuple(tuple(_shown(figure, share=True) for figure in row) for row in figures.confusion)


def _classes(figures: Figures) -> tuple[tuple[Shown, Shown], ...]:
    if not isinstance(figures, SeveralClasses):
        return ()
    pairs = zip(figures.recall.figures[:MOST_CLASSES], figures.precision.figures[:MOST_CLASSES], strict=True)
    return tuple((_shown(recall, share=True), _shown(precision, share=True)) for recall, precision in pairs)


def _quantiles(figures: Figures) -> tuple[Point, ...]:
    if not isinstance(figures, Regression):
        return ()
    return tuple(Point(chance, _shown(figures.residual_quantile(chance))) for chance in QUANTILES)


def bars_of(counts: NoisyCounts, cells: Cells) -> tuple[Bars, ...]:
    """Return what is shown of each group: how good it is there, whom it finds, and whether it says too much."""
    apart = [figures_of(counts, [place]) for place in range(len(cells.groups[:MOST_GROUPS]))]
    if not apart:
        return ()
    if isinstance(apart[0], Regression):
        regressions = [each for each in apart if isinstance(each, Regression)]
        errors = tuple(_shown(each.mean_absolute_error) for each in regressions)
        means = tuple(_shown(each.mean_residual) for each in regressions)
        return (
            Bars("mean absolute error", "how far off it is in the mean", errors),
            Bars("mean residual", "the truth less the prediction: above 0 it says too little of this group", means),
        )
    classifiers = [each for each in apart if not isinstance(each, Regression)]
    right = tuple(_shown(each.accuracy, share=True) for each in classifiers)
    accuracy = Bars("accuracy", "the share of the group's rows that get their true class", right)
    pairs = [each for each in classifiers if isinstance(each, TwoClasses)]
    if not pairs:
        several = [each for each in classifiers if isinstance(each, SeveralClasses)]
        evened = tuple(_shown(each.balanced_accuracy, share=True) for each in several)
        promised = tuple(_shown(each.calibration_in_the_large, share=True) for each in several)
        words = "the accuracy less the mean score: above 0 scores are too low for this group, below too high"
        return (
            accuracy,
            Bars("balanced accuracy", "the mean of the classes' recalls in the group", evened),
            Bars("calibration", words, promised, least=-1.0),
        )
    found = tuple(_shown(each.decided[0], share=True) for each in pairs)
    offset = tuple(_shown(each.calibration_in_the_large, share=True) for each in pairs)
    yes = cells.labels[1]
    return (
        accuracy,
        Bars("recall", f"of the group's rows that are {yes}, the share that it finds", found),
        Bars(
            "calibration",
            f"the share that is {yes} less the mean score: above 0 scores are too low for this group, below too high; "
            "most of the interval is that scores may lie anywhere in their bins",
            offset,
            least=-1.0,
        ),
    )
