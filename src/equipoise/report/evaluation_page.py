"""The page of one evaluation: how good a released model is, and how sure that is. Plain values in, HTML out.

Everything shown is a function of the evaluation's certificate and of the target's name, so that the same evaluation
gives the same page. Nothing on it comes from rows but through the noisy counts, which were paid for.
"""

import math
from collections.abc import Sequence

from equipoise.report.evaluation_pictures import (
    MATRIX_STYLE,
    calibration_picture,
    calibration_titles,
    confusion_matrix,
    group_picture,
    roc_picture,
    scores_of,
)
from equipoise.report.evaluation_record import Bars, EvaluationRecord, Point, Shown, against_the_rest
from equipoise.report.page import document, escape, figure, folded, hardly_private, number, paragraph, table
from equipoise.report.release_page import STYLE as RELEASE_STYLE
from equipoise.report.runtime import runtime
from equipoise.wording import percent

STYLE = (
    RELEASE_STYLE
    + """
.answer { font-size: 1.15rem; max-width: 46rem; } .answer strong { font-size: 1.5rem; }"""
    + MATRIX_STYLE
)


def evaluation_page(record: EvaluationRecord) -> str:
    """Return the page of an evaluation as one self-contained HTML document."""
    drawn: dict[str, str] = {}
    sections = (
        _summary(record),
        _facts(record),
        _figures(record),
        _groups(record, drawn),
        _confusion(record),
        _roc(record, drawn),
        _calibration(record, drawn),
        _classes(record),
        _quantiles(record),
        _reading(record),
        _privacy(record),
        _check(record),
        _list("Assumptions that make it conditional", record.assumptions),
        _list("What to keep in mind", record.caveats),
    )
    body = "\n".join(section for section in sections if section)
    return document("How good is it? A paid evaluation", body, drawn, runtime(), STYLE)


def _list(title: str, entries: Sequence[str]) -> str:
    if not entries:
        return ""
    return f"<h2>{escape(title)}</h2><ul>" + "".join(f"<li>{escape(entry)}</li>" for entry in entries) + "</ul>"


def _summary(record: EvaluationRecord) -> str:
    first = record.lines[0]
    named = f"“{record.target}”" if record.target else "its target"
    ways = f"counted with noise in {record.cells:,} public cells; every number below follows from those counts."
    if record.further:
        ways = (
            f"counted with noise in {record.cells:,} public cells, and once more, {_by_what(record)}, in "
            f"{record.further:,} with more noise; every number below follows from these counts."
        )
    if record.looked:
        ways = (
            f"counted twice, with noise: in {record.looked:,} public cells, to see where scores are, and in "
            f"{record.cells:,} whose bins follow from that look; every number below follows from the second counts."
        )
    tried = (
        f"A released model that predicts {named} was tried on {record.n_samples:,} rows that stay private"
        f"{' and were held out from its training' if record.held_out_of else ''}. They were "
    )
    head = "<h1>How good is it?</h1>" + paragraph(tried + ways, "soft")
    if words := against_the_rest(record.labels):
        head += paragraph(words)
    if record.seeded:
        words = "Seeded: for experiments, not for release. Whoever knows or guesses the seed can take the noise away."
        head += paragraph(words, "notice")
    head += hardly_private(record.epsilon, record.guess, "row")
    shown = first.figure
    between = shown.interval.replace(" to ", " and ")
    if shown.verdict:
        words = f"{_sentence(first.name)} {shown.verdict}. All that is known: it lies between {between}."
        return head + paragraph(words, "notice")
    words = f"{first.name}: {first.meaning}. With 95 % confidence it lies between {between}."
    return f'{head}<p class="answer"><strong>{escape(shown.text)}</strong> {escape(words)}</p>'


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _by_what(record: EvaluationRecord) -> str:
    if record.task == "regression":
        return "by the true number, for R2"
    return "by the score of the true class, for log loss, Brier score and prediction sets"


def _facts(record: EvaluationRecord) -> str:
    among = f"one of {len(record.labels):,} classes" if record.labels else "a number"
    if against_the_rest(record.labels):
        among = f"{record.labels[1]} or not"
    made = f"evaluation {record.evaluation_id}"
    counts = f"scale {number(record.scale)}, {record.cells:,} counts"
    if record.further:
        counts += f"; scale {number(record.further_scale)}, {record.further:,} more"
    bought = "all figures together" + (", and the training of the model" if record.held_out_of else "")
    entries = [
        ("predicts", record.target or among, among if record.target else ""),
        ("tried on", f"{record.n_samples:,} rows", "declared, public"),
        ("what it cost", f"epsilon {number(record.epsilon)}, delta {number(record.delta)}", bought),
        ("noise on every count", record.law, counts),
        ("about the release", record.release or "none that has an id", ""),
        ("made", record.made or "a plan", made if record.made else ""),
    ]
    cards = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}{f'<small>{escape(note)}</small>' if note else ''}</dd></div>"
        for name, value, note in entries
    )
    return f'<dl class="facts">{cards}</dl>'


def _figures(record: EvaluationRecord) -> str:
    with_bins = any(line.figure.bins for line in record.lines)
    bins = ("bins",) if with_bins else ()
    header = ("figure", "value", "interval of 95 %", "sampling", "noise", *bins, "what it is")
    rows = []
    for line in record.lines:
        shown = line.figure
        widths = (*shown.parts, shown.width_of_bins) if with_bins else shown.parts
        rows.append((line.name, shown.text, shown.interval, *widths, _words(line.meaning, shown)))
    note = (
        "The interval counts both that other rows might have been drawn (sampling) and the noise that privacy needs; "
        "the two columns say how much each alone would scatter the value, as a standard deviation. More rows shrink "
        "both, a larger epsilon the noise alone."
    )
    if with_bins:
        note += (
            " Rows of one bin are not told apart, which makes the interval longer on either side by what stands under "
            "bins; more rows or a larger epsilon make more and narrower ones."
        )
    return f"<h2>In numbers</h2>{table(header, rows, note, caption='Each with an interval', texts=['what it is'])}"


def _words(meaning: str, shown: Shown) -> str:
    more = shown.verdict or shown.note
    return f"{_sentence(meaning)}. {_sentence(more)}." if more else f"{_sentence(meaning)}."


def _confusion(record: EvaluationRecord) -> str:
    if not record.confusion:
        return ""
    words = "A line is a true class, a column what the model said. On the diagonal it was right."
    return f"<h2>What it mistakes for what</h2>{paragraph(words)}{confusion_matrix(record.labels, record.confusion)}"


def _roc(record: EvaluationRecord, drawn: dict[str, str]) -> str:
    if not record.roc:
        return ""
    title, picture = "<h2>At every threshold (ROC)</h2>", roc_picture(record.roc)
    told = [pair for pair in record.roc if not (pair[0].figure.verdict or pair[1].figure.verdict)]
    if not picture:
        words = "At no threshold can false and true positives be told at this budget: the noise drowns them."
        return title + paragraph(words, "notice") + folded("the numbers", _thresholds(record))
    drawn["roc"] = picture
    positive = record.labels[1]
    caption = (
        f"Every dot is a threshold on the model's score from which on it says {positive}: how many of those who are "
        f"{positive} it finds (up), and how many of the others it wrongly calls so (across). Bands are intervals of "
        "95 %, each for itself. Dashed: guessing."
    )
    if len(told) < len(record.roc):
        caption += f" Left out: {len(record.roc) - len(told)} thresholds that cannot be told at this budget."
    place = figure("roc", "True positives over false positives; the numbers are in the table.", caption)
    return f"{title}{place}{folded('the numbers', _thresholds(record))}"


def _thresholds(record: EvaluationRecord) -> str:
    header = ("threshold", *(name for name, _ in record.thresholds))
    points = zip(*(points for _, points in record.thresholds), strict=True)
    rows = [(number(line[0].place), *(_with_interval(one.figure) for one in line)) for line in points]
    return table(header, rows, caption="At every threshold, each with its interval of 95 %", texts=header[1:])


def _with_interval(shown: Shown) -> str:
    return shown.interval if shown.verdict else f"{shown.text} ({shown.interval})"


def _calibration(record: EvaluationRecord, drawn: dict[str, str]) -> str:
    open_ones, places = sum(1 for one in record.calibration if one.figure.verdict), len(record.calibration)
    dotted = (
        f" Dotted: {open_ones} of {places} places at which so few rows lie that the noise leaves the answer open."
        if open_ones
        else ""
    )
    titles = calibration_titles(record.task, record.target, record.labels)
    drawn["calibration"] = calibration_picture(record.calibration, record.task, titles)
    if record.task == "regression":
        title, header = "Is it right in the mean?", ("prediction", "mean residual")
        caption = (
            "For rows with predictions in this bin, the bar across: by how much the truth lies above them in the mean. "
            f"On the dashed line predictions are neither too low nor too high.{dotted}"
        )
    else:
        title, header = "Do its scores mean what they say?", titles
        what = record.labels[1] if record.task == "two classes" else "right"
        caption = (
            f"Of rows with scores in this bin: the share that is {what} in truth. On the dashed line a score of 70 % "
            "means that it is so in 70 % of cases. A bar across is the bin: the mean score of its rows lies somewhere "
            f"on it, so that a bar which the dashed line meets shows no fault.{dotted}"
        )
    rows = [(scores_of(one), _with_interval(one.figure)) for one in record.calibration]
    cells = table(header, rows, caption="Each with its interval of 95 %", texts=header[:1])
    picture = figure("calibration", "Calibration; the numbers are in the table.", caption)
    return f"<h2>{escape(title)}</h2>{picture}{folded('the numbers', cells)}"


def _classes(record: EvaluationRecord) -> str:
    if not record.classes:
        return ""
    rows = [
        (label, _with_interval(recall), _with_interval(precision))
        for label, (recall, precision) in zip(record.labels, record.classes, strict=False)
    ]
    header = ("class", "recall", "precision")
    words = "Recall: of those who are of the class, the share that it finds. Precision: where it says so, how often."
    more = len(record.labels) - len(rows)
    note = f"And {more:,} more classes: eq.Evaluation.load opens them all." if more > 0 else ""
    cells = table(header, rows, note, caption="Each with its interval of 95 %", texts=header[1:])
    return f"<h2>Class by class</h2>{paragraph(words)}{cells}"


def _quantiles(record: EvaluationRecord) -> str:
    if not record.quantiles:
        return ""
    rows = [(_share_of(one), *_quantile(one.figure)) for one in record.quantiles]
    note = (
        "A residual is the true number less the predicted one. Residuals were counted in bins, so the ends of these "
        "intervals are edges of bins."
    )
    header = ("so many rows have a smaller residual", "residual", "interval of 95 %")
    return f"<h2>How far off it is</h2>{table(header, rows, note, caption='Quantiles of residuals', texts=header[2:])}"


def _share_of(point: Point) -> str:
    return f"{100 * point.place:g} %"


def _quantile(shown: Shown) -> tuple[str, str]:
    return shown.text, shown.interval


def _groups(record: EvaluationRecord, drawn: dict[str, str]) -> str:
    if not record.bars:
        return ""
    parts = [
        f"<h2>Group by group: {escape(record.by)}</h2>",
        paragraph(
            "The bar is the value, the line across its end the interval of 95 %; a group of few rows has a wide one. "
            "Where two intervals overlap, this does not tell the groups apart. It cost no further privacy, but "
            "accuracy: as many times more counts have noise."
        ),
    ]
    for place, bars in enumerate(record.bars):
        name = f"group-{place + 1}"
        drawn[name] = group_picture(record.groups, bars)
        picture = figure(name, f"{_sentence(bars.title)} by group; the numbers are below.", _caption(bars))
        parts.append(f"<h3>{escape(_sentence(bars.title))}</h3>{picture}")
    header = ("group", *(bars.title for bars in record.bars))
    table_rows = [
        (group, *(_words_of(bars.figures[place]) for bars in record.bars)) for place, group in enumerate(record.groups)
    ]
    more = f"And {record.left_out:,} more groups: eq.Evaluation.load opens them all." if record.left_out else ""
    parts.append(folded("the numbers", table(header, table_rows, more, texts=header[1:])))
    return "".join(parts)


def _words_of(shown: Shown) -> str:
    return f"{shown.interval}: {shown.verdict}" if shown.verdict else f"{shown.text} ({shown.interval})"


def _caption(bars: Bars) -> str:
    open_ones = sum(1 for one in bars.figures if one.verdict)
    dotted = f" Dotted: {open_ones} that cannot be told at this budget." if open_ones else ""
    return f"{_sentence(bars.meaning)}.{dotted}"


def _reading(record: EvaluationRecord) -> str:
    kinds = {
        "two classes": "Those of accuracy and of the confusion matrix come from an exact test; the others were tried "
        "on simulated tables, and are measured, not proved. Scores were counted in bins: values of AUC, calibration, "
        "Brier score and log loss are those of scores at the middles of their bins, and intervals hold those of the "
        "scores themselves, wherever in their bins they lie; of log loss with no row counted as more than the middle "
        "of an outermost bin costs, since it has no bound. A first look (--look) puts bins where scores are.",
        "several classes": "They were tried on simulated tables of three classes, and are measured, not proved. Scores "
        "were counted in bins: intervals of calibration error, Brier score and log loss also hold what rows at the "
        "ends of their bins would give, and that of the Brier score every way in which the scores of classes that are "
        "neither predicted nor true can add up to the rest.",
        "regression": "They were tried on simulated tables, and are measured, not proved. Predictions and residuals "
        "were counted in bins, and the middle of a bin stands for all in it; the intervals also hold what rows at the "
        "ends of their bins would give, which is most of their length where bins are wide. For R2 true numbers were "
        "counted once more, so that bins hide nothing of their variance; evaluations of older versions, and groups, do "
        "without. True numbers are clipped into their declared range.",
    }
    words = (
        "The figures say how good the model would be on further rows like these, if these were drawn at random and "
        "had no part in making or choosing it. On the rows of the training they would flatter; nothing in this folder "
        "can tell."
    )
    if record.held_out_of:
        words = (
            "The figures say how good the model would be on further rows like these, if these were drawn at random. "
            f"They had no part in training it: of {record.held_out_of:,} rows a public permutation dealt these to the "
            "evaluation and the others to the training, and the certificate is that of both. Who chose this model "
            "among several by such figures has to reckon with the best of them looking better than it is."
        )
    return f"<h2>How to read it</h2>{paragraph(words)}{paragraph('About the intervals: ' + kinds[record.task])}"


def _privacy(record: EvaluationRecord) -> str:
    factor = math.exp(record.epsilon) if record.epsilon < 700 else math.inf
    times = f"e^{number(record.epsilon)}" + (f" = {number(factor)}" if math.isfinite(factor) else "")
    extra = f", and {number(record.delta)} on top" if record.delta > 0 else ""
    recorded = (
        f"The spend was to be recorded in the ledger under {record.ledger}."
        if record.ledger
        else "It was not recorded in a ledger: nothing keeps count of what else was released about these rows."
    )
    both = (
        f"The same epsilon paid for the training on the other {record.held_out_of - record.n_samples:,} rows: each "
        "row is in one of the two parts, so that both together cost what one does (N3). "
        if record.held_out_of
        else ""
    )
    released = "model and counts together" if record.held_out_of else "counts"
    theorem = f"N3 and {record.theorem}" if record.held_out_of else record.theorem
    words = (
        f"({number(record.epsilon)}, {number(record.delta)})-differential privacy, {record.adjacency}, by "
        f"{theorem}: exchange one row for another, and any {released} are at most {times} times as likely as "
        f"before{extra}. Who knows every other row, and two candidates for the last, names the right one in no more "
        f"than {percent(record.guess)} of cases; tossing a coin, in half of them. The claim is {record.grade}. "
        f"{both}It adds to whatever else was released about the same rows. {recorded}"
    )
    return f"<h2>What the people in these rows were promised</h2>{paragraph(words)}"


def _check(record: EvaluationRecord) -> str:
    schema = ""
    if record.schema_digest:
        schema = f'<p>Schema: <span class="digest">{escape(record.schema_digest)}</span></p>'
    software = ", ".join(f"{name} {version}" for name, version in record.software)
    made = paragraph(f"Made by {software}.") if software else ""
    return f"""<section class="check"><h2>Check it yourself</h2>
<pre tabindex="0">equipoise verify evaluation/ --release release/</pre>
<p>checks this folder without any data, draws this page again and compares, and says whether the evaluation is about
that release. Arithmetic cannot prove that noise was drawn: that rests on whoever ran the evaluation.</p>
<p>Release: <span class="digest">{escape(record.release)}</span></p>
<p>Its model: <span class="digest">{escape(record.model)}</span></p>
<p>Certificate: <span class="digest">{escape(record.certificate_digest)}</span></p>{schema}{made}</section>"""
