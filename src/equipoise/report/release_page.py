"""The page of one release: what was released, why it is private, what it can be off by. Plain values in, HTML out.

Everything shown is a function of the certificate, the schema, the released weights and bounds, and the ledger's state:
no date but the certificate's, and no measurement but that of an attack on rows of nobody, so that the same release
gives the same page.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from equipoise.report import release_charts
from equipoise.report.page import document, escape, figure, folded, hardly_private, number, paragraph, table
from equipoise.report.release_effects import effects_section
from equipoise.report.release_errors import errors_section
from equipoise.report.release_record import LedgerState, MeasuredAttack, ReleaseRecord, WeightLine
from equipoise.report.runtime import runtime
from equipoise.report.vega import Record
from equipoise.wording import four_digits, percent

# More weights than this make no picture, and more than that no table that anyone reads.
MOST_BARS, MOST_LINES = 40, 2000

# Letters in a line of a name on an axis, of which there are two; the table and a bar's own words have it in full.
LONGEST_LINE = 20


STYLE = """
.facts { display: grid; grid-template-columns: repeat(3, 1fr); gap: .6rem; margin: 1.4rem 0; }
@media (max-width: 40rem) { .facts { grid-template-columns: repeat(2, 1fr); } }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .55rem .8rem;
  min-width: 0; overflow-wrap: anywhere; }
.facts dt { color: var(--soft); font-size: .85rem; } .facts dd { margin: 0; font-weight: 600; }
.facts dd small { display: block; font-weight: 400; color: var(--soft); font-size: .85rem; }
.check { border: 1px solid var(--line); border-left: 4px solid var(--first); background: var(--card);
  padding: .8rem 1rem; max-width: 46rem; } .check h2 { margin: 0 0 .4rem; font-size: 1.05rem; }
.check pre { margin: .4rem 0; padding: .5rem .8rem; background: var(--paper); } .check p { margin: .3rem 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0 2rem; }
.digest { font-family: ui-monospace, monospace; font-size: .82rem; overflow-wrap: anywhere; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; font-size: .92rem; margin: .8rem 0 0; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .45em; }
"""


def release_page(record: ReleaseRecord) -> str:
    """Return the page of a release as one self-contained HTML document."""
    drawn: dict[str, str] = {}
    sections = (
        _summary(record),
        _facts(record),
        _check(record),
        _gains(record, drawn),
        _curve(record, drawn),
        errors_section(record, drawn),
        _selected(record),
        effects_section(record, drawn),
        _weights(record, drawn),
        _private_bounds(record),
        _ledger(record),
        _reasons(record),
        "<h2>The whole argument</h2>",
        folded("in words and numbers", f'<pre tabindex="0">{escape(record.explanation)}</pre>', opened=True),
        _list("Assumptions that make it conditional", record.assumptions),
        _list("What to keep in mind", record.caveats),
    )
    body = "\n".join(section for section in sections if section)
    return document(f"A private release: {record.model}", body, drawn, runtime(), STYLE)


def _list(title: str, entries: Sequence[str]) -> str:
    if not entries:
        return ""
    return f"<h2>{escape(title)}</h2><ul>" + "".join(f"<li>{escape(entry)}</li>" for entry in entries) + "</ul>"


def _claim(record: ReleaseRecord) -> str:
    return f"({number(record.epsilon)}, {number(record.delta)})-differential privacy"


def _summary(record: ReleaseRecord) -> str:
    lines = ["<h1>A private release</h1>"]
    what = f"The weights of a {record.model}" if record.weights else f"A {record.model}"
    also = " and the bounds of columns that were paid for" if record.private_bounds else ""
    lines.append(
        paragraph(
            f"{what}, from {record.counted} that stay private. This page shows "
            f"what was released{also}, and what follows from public facts; nothing on it was measured on the rows.",
            "soft",
        )
    )
    if record.seeded:
        lines.append(
            paragraph(
                "Seeded: for experiments, not for release. Whoever knows or guesses the seed can take the noise away.",
                "notice",
            )
        )
    lines.append(hardly_private(record.epsilon, record.gains.guess, record.unit))
    factor = math.exp(record.epsilon) if record.epsilon < 700 else math.inf
    times = f"e^{number(record.epsilon)}" + (f" = {number(factor)}" if math.isfinite(factor) else "")
    extra = f", and {number(record.delta)} on top" if record.delta > 0 else ""
    lines.append(
        paragraph(
            f"The promise is {_claim(record)}, {record.adjacency}: exchange {record.exchanged}, and whatever "
            f"might have been released is at most {times} times as likely as before{extra}. Put as a game: who knows "
            f"every other {record.unit}, and two candidates for the last, equally likely beforehand, names the right "
            f"one in no more than {percent(record.gains.guess)} of cases; tossing a coin, in half of them. "
            f"{record.promised}"
        )
    )
    lines.append(paragraph(f"{_grade(record)} {_vouched(record)}"))
    return "\n".join(lines)


def _grade(record: ReleaseRecord) -> str:
    if record.grade == "proved":
        return "The claim is proved: it follows from a theorem whose every condition the program checked."
    words = "; ".join(record.assumptions)
    return f"The claim is {record.grade}: it follows from a theorem, and rests on somebody's word that {words}."


def _vouched(record: ReleaseRecord) -> str:
    if record.vouched:
        return f"That the facts of the schema are public and true is vouched for by {record.vouched}."
    return "Nobody is named who vouches that the declared facts (columns, bounds, number of rows) are public."


def _facts(record: ReleaseRecord) -> str:
    apart = f"; {record.held_out:,} further rows were held out to evaluate it" if record.held_out else ""
    entries = [
        ("privacy", f"epsilon {number(record.epsilon)}, delta {number(record.delta)}", record.adjacency),
        ("grade", record.grade, f"by {record.theorem}"),
        ("where noise enters", record.kind, record.procedure),
        ("law of the noise", "none of its own" if record.law == record.kind else record.law, ""),
        ("table", record.counted, f"declared, public; {record.n_features:,} columns as the model sees them{apart}"),
    ]
    if record.target:
        among = f"one of {len(record.classes):,} classes" if record.classes else "a number"
        entries.insert(0, ("predicts", record.target, among))
    if record.made:
        day, _, time = record.made.partition("T")
        entries.append(("made", day, f"{time.removesuffix('+00:00')} UTC; release {record.release_id}"))
    if record.software:
        entries.append(("by", ", ".join(f"{name} {version}" for name, version in record.software), ""))
    if record.weights:
        entries.append(("penalty", f"alpha {number(record.alpha)}", record.alpha_words))
    cards = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}{f'<small>{escape(note)}</small>' if note else ''}</dd></div>"
        for name, value, note in entries
    )
    return f'<dl class="facts">{cards}</dl>'


def _check(record: ReleaseRecord) -> str:
    schema = ""
    if record.schema_digest:
        schema = f'<p>Schema: <span class="digest">{escape(record.schema_digest)}</span></p>'
    return f"""<section class="check"><h2>Check it yourself</h2><pre tabindex="0">pip install equipoise
equipoise verify release/
equipoise verify release/ --key THEIR.pub --ledger LEDGER</pre>
<p>The second line checks every file, this page and every inequality of the certificate again, without any data, and
answers “consistent; origin unproved” when all of them hold. The third also checks whose signature it bears and that a
ledger paid for it: ask whoever made it for the public key, and for the ledger or an export of it (--export).
Arithmetic cannot prove that noise was drawn: that rests on whoever ran the training. Names such as A2 or N7 are those
of proofs: equipoise docs A2 prints that one, and equipoise docs mechanisms what is cited as docs/mechanisms.md.</p>
<p>Certificate: <span class="digest">{escape(record.certificate_digest)}</span></p>{schema}</section>"""


def _curve(record: ReleaseRecord, drawn: dict[str, str]) -> str:
    points = [asdict(point) for point in record.curve]
    drawn["curve"] = release_charts.privacy_curve(points, record.epsilon, record.delta)
    caption = (
        "One release keeps many promises: at every epsilon it holds with some delta, and this line is an upper bound "
        "on that delta. The dot is the claim."
    )
    cells = table(
        ("epsilon", "delta at most"),
        [(number(point.epsilon), number(point.delta)) for point in record.curve],
        caption="The privacy curve of this release",
    )
    where = f"Delta over epsilon; the claim is epsilon {number(record.epsilon)}, delta {number(record.delta)}."
    return f"<h2>How private it is</h2>{figure('curve', where, caption)}{folded('the numbers', cells)}"


def _gains(record: ReleaseRecord, drawn: dict[str, str]) -> str:
    gains, unit = record.gains, record.unit
    attack = record.attack
    drawn["trade-off"] = release_charts.trade_off(gains.trade_off, gains.rates, attack.points if attack else ())
    words = (
        f"Someone knows two {unit}s, one of which was in the table, and everything else that was in it; sees this "
        "release; and says that it was the first, or the second. If both are equally likely beforehand, then however "
        f"clever the method, it names the right one in at most {percent(gains.guess)} of cases, where tossing a coin "
        "is right in 50 %."
    )
    if record.seeded:
        words = f"Nothing of this holds against whoever knows or guesses the seed. {words}"
    elif record.assumptions:
        words = f"All of this holds only if the assumptions below do. {words}"
    if gains.mu is not None:
        words += (
            " The noise is exactly Gaussian: telling is no easier than to tell two normal laws of deviation 1 whose "
            f"means are mu = {four_digits(gains.mu)} apart."
        )
    caption = (
        "The line is the most that any method can reach: how often the first is named where it was the first (true "
        "positives), over how often it is named where it was the second (false positives). Dashed: naming it by chance."
    )
    run = "no attack was run"
    if attack is not None:
        caption += f" Diamonds: what one attack reached on {attack.rows} rows, measured, with its intervals."
        run = "what an attack reached on rows of nobody stands below, and is measured"
    cells = table(
        ("false positives", "true positives at most"),
        [(percent(false), percent(true)) for false, true in gains.rates],
        f"The difference of the two rates, the advantage, is at most {percent(gains.advantage)}. All of this follows "
        f"from the claim (N7); {run}. It limits what is learned about one "
        f"{unit}, not what is learned about people like it: that is what a model is for.",
        caption="What an attacker gains, at most",
    )
    picture = figure("trade-off", "True positives over false positives; the numbers are in the table.", caption)
    measured = "" if attack is None else _attack(attack, dict(gains.rates))
    return f"<h2>What an attacker gains</h2>{paragraph(words)}{cells}{picture}{measured}"


def _attack(attack: MeasuredAttack, bounds: Mapping[float, float]) -> str:
    """Return what an attack reached, in words and numbers, and on what it was run."""
    words = (
        f"Nobody's rows were attacked here: the rows are {attack.rows}. A computer drew them at random from what the "
        "certificate says beforehand about any row (length and number of columns, classes or range of the target); the "
        f"private rows had no part in it. {attack.shadows + attack.targets:,} models were trained on them as this one "
        f"was, by the same rule on as many rows with as much noise. An attacker who made {attack.shadows:,} of them "
        f"then said of each of the other {attack.targets:,} which rows it had been trained on, by the likelihood-ratio "
        "attack (docs/attacks.md)."
    )
    above = [false for false, _, low, _ in attack.points if low > bounds.get(false, 1.0)]
    if above:
        words += " A measured rate lies above the line with its whole interval: that speaks against the claim."
    confidence = f"{100 * attack.confidence:g} %"
    cells = table(
        ("false positives", "true positives, measured", f"interval of {confidence}"),
        [
            (f"{100 * false:.3g} %", f"{100 * true:.3g} %", f"{100 * low:.3g} to {100 * high:.3g} %")
            for false, true, low, high in attack.points
        ],
        f"Measured, not proved; each interval for itself with a confidence of {confidence}. That this attack finds "
        "little on such rows proves nothing: another may find more, up to the line and no further. The numbers are as "
        "the maker of this page measured them; equipoise verify --attack runs the attack again and compares.",
        caption=f"What one attack reached on {attack.rows} rows",
    )
    return f"<h3>One attack, measured on {escape(attack.rows)} rows</h3>{paragraph(words)}{cells}"


def _selected(record: ReleaseRecord) -> str:
    if record.selected is None:
        return ""
    words = "No column was selected." if not record.selected else ""
    entries = "".join(f"<li>{escape(name)}</li>" for name in record.selected[:MOST_LINES])
    rest = len(record.selected) - MOST_LINES
    more = paragraph(f"And {rest:,} more; the released folder has them all.") if rest > 0 else ""
    return f"<h2>What was selected</h2>{paragraph(words) if words else ''}<ul>{entries}</ul>{more}"


def _weights(record: ReleaseRecord, drawn: dict[str, str]) -> str:
    if not record.weights:
        return ""
    ranked = sorted(record.weights, key=lambda line: -abs(line.value))
    shown, count = ranked[:MOST_BARS], len(ranked)
    clear, within = _kinds(record)
    kinds = [clear] if all(line.deviation is None for line in shown) else [clear, within]
    labels = _labels(shown)
    rows: list[Record] = []
    for label, line in zip(labels, shown, strict=True):
        width = None if line.deviation is None else 2 * line.deviation
        rows.append(
            {
                "label": label,
                "name": line.name,
                "output": line.output,
                "value": line.value,
                "kind": within if _is_within(line) else clear,
                "low": None if width is None else -width,
                "high": width,
            }
        )
    drawn["weights"] = release_charts.released_weights(rows, kinds)
    order = f"The {MOST_BARS} largest of {count:,} weights." if count > MOST_BARS else "All weights, the largest first."
    inside = sum(map(_is_within, ranked))
    tally = "" if len(kinds) == 1 else f" {inside:,} of {count:,} lie within the band."
    widest = max((line.deviation or 0.0 for line in shown), default=0.0)
    if release_charts.beyond_the_picture(2 * widest, abs(shown[0].value)):
        tally += " The band reaches beyond the picture."
    caption = f"{order}{tally} {record.weight_words}"
    description = f"Bars of {len(shown)} released weights.{tally}"
    header = ("column", "for", "weight", "noise deviation" if record.noise_exact else "noise deviation at most")
    cells = [
        (line.name, line.output, number(line.value), "unknown" if line.deviation is None else number(line.deviation))
        for line in ranked[:MOST_LINES]
    ]
    rest = "" if count <= MOST_LINES else f"The {MOST_LINES:,} largest of {count:,}; the released folder has them all."
    full = table(header, cells, rest, caption="Released weights, the largest first")
    return "".join(
        (
            "<h2>The released weights against the noise</h2>",
            paragraph(record.noise_words),
            _key(kinds),
            figure("weights", description, caption),
            folded("all weights" if count <= MOST_LINES else "the largest weights", full),
        )
    )


def _key(kinds: Sequence[str]) -> str:
    """Return the key of the picture as text: a legend inside it would not fit a phone."""
    if len(kinds) == 1:
        return ""
    entries = (*zip(("first", "muted"), kinds, strict=True), ("noise", "the band of noise"))
    spans = (f'<span><i style="background: var(--{colour})"></i>{escape(words)}</span>' for colour, words in entries)
    return f'<p class="key">{"".join(spans)}</p>'


def _kinds(record: ReleaseRecord) -> tuple[str, str]:
    if record.noise_exact:
        return "beyond two deviations of its noise", "within two deviations: cannot be told from noise"
    return "beyond twice the most noise there can be", "within twice the most noise: may be noise, may not"


def _is_within(line: WeightLine) -> bool:
    return line.deviation is not None and abs(line.value) <= 2 * line.deviation


def _in_lines(name: str, most: int = 2) -> str:
    """Return a name in so many lines at most; of a longer one the end stays, by which levels of a column differ.

    Examples
    --------
    >>> _in_lines("occupation of the father=nurse").splitlines()
    ['occupation of the', 'father=nurse']
    >>> _in_lines("occupation of the mother or guardian=professional specialty").splitlines()
    ['occupation of the…', '…fessional specialty']
    """
    words = " ".join(name.split())
    lines = textwrap.wrap(words, LONGEST_LINE)
    if len(lines) > most:
        first, last = (textwrap.wrap(text, LONGEST_LINE - 1)[0] for text in (words, words[::-1]))
        lines = [f"{first}…", f"…{last[::-1]}"][:most]
    return "\n".join(lines)


def _labels(lines: Sequence[WeightLine]) -> list[str]:
    """Return a short label for each line, different for all of them: equal labels would share one place."""
    several = len({line.output for line in lines}) > 1
    labels: list[str] = []
    for line in lines:
        name = _in_lines(line.name) or "(no name)"
        label = first = f"{name}\n{_in_lines(f'for {line.output}', 1)}" if several else name
        again = 2
        while label in labels:
            label, again = f"{first} ({again})", again + 1
        labels.append(label)
    # Shorter labels begin lower, so that all stand about the middle of their bars.
    most = max((label.count("\n") for label in labels), default=0)
    return ["\n" * ((most - label.count("\n")) // 2) + label for label in labels]


def _private_bounds(record: ReleaseRecord) -> str:
    if not record.private_bounds:
        return ""
    words = (
        f"Nobody could vouch for the bounds of these columns, so they were released with noise; epsilon "
        f"{number(record.private_epsilon)} of the {number(record.epsilon)} paid for that."
    )
    rows = [(bound.column, f"{bound.low:g}", f"{bound.high:g}") for bound in record.private_bounds]
    cells = table(("column", "low", "high"), rows, caption="Bounds that were paid for")
    return f"<h2>Private bounds</h2>{paragraph(words)}{cells}"


def _ledger(record: ReleaseRecord) -> str:
    title = "<h2>The ledger</h2>"
    state = record.ledger
    if state is not None:
        return title + _ledger_state(state, record)
    if record.ledger_name is None:
        words = (
            "Not recorded in a ledger: nothing keeps count of what else was released about the same rows. Losses of "
            "privacy add up over releases."
        )
    else:
        words = f"Recorded under the dataset id {record.ledger_name}; the ledger's state was not at hand for this page."
    return title + paragraph(words)


def _ledger_state(state: LedgerState, record: ReleaseRecord) -> str:
    # What was spent until now is no promise: which releases were made depends on what earlier ones showed (N5).
    words = (
        f"{f'Dataset {state.dataset}: the' if state.dataset else 'The'} budget is epsilon {state.epsilon:g} and delta "
        f"{state.delta:g}. Losses of privacy add up over releases; all that are recorded there, this one of epsilon "
        f"{record.epsilon:g} among them, together keep within the budget, whatever follows."
    )
    return paragraph(f"{words} As of {state.at}." if state.at else words)


def _reasons(record: ReleaseRecord) -> str:
    words = f"What hides one {record.unit} is {record.procedure}; the proof is that of {record.theorem}."
    parts = ["<h2>Why it is private</h2>", paragraph(words)]
    if record.menu:
        columns = ("way", "modelled cost", "theorem", "law", "alpha", "verdict")
        ways = [
            (
                line.kind,
                number(line.cost),
                line.theorem or "none",
                line.law or "none",
                number(line.alpha) if line.theorem else "none",
                line.verdict,
            )
            for line in record.menu
        ]
        caption = "Ways that were considered, from public facts alone (docs/mechanisms.md)"
        parts.append(table(columns, ways, caption=caption, texts=["verdict"]))
    if not record.bounds:
        return "".join(parts)
    header = ("theorem", record.value_words, "standing")
    rows = [
        (line.theorem, "does not apply" if line.value is None else number(line.value), line.standing)
        for line in record.bounds
    ]
    parts.append(table(header, rows, caption="What each theorem says", texts=["standing"]))
    return "".join(parts)
