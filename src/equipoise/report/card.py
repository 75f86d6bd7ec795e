"""The model card of a release: one page for people, from the record of its folder, in Markdown and HTML."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.card_evaluation import evaluated
from equipoise.report.evaluation_pictures import MATRIX_STYLE
from equipoise.report.page import STYLE, escape
from equipoise.report.section import Picture, Rows, Section
from equipoise.wording import percent

# More columns or classes than these are left to the folder: a card is one page.
MOST_COLUMNS, MOST_CLASSES = 12, 6

CARD_STYLE = (
    MATRIX_STYLE
    + """
body { max-width: 820px; } h2 { font-size: 1.05rem; margin: 1.1rem 0 .25rem; } p, ul { margin: .25rem 0; }
ul { padding-left: 1.2rem; } td, th { white-space: normal; } .digest { overflow-wrap: anywhere; }
.matrix th, .matrix td { min-width: 0; padding: .25rem .4rem; }
@media (max-width: 30rem) { td:first-child { min-width: 7.5rem; }
  td:not(:first-child), th { overflow-wrap: break-word; }
  .matrix thead { display: none; } .matrix, .matrix caption, .matrix tbody, .matrix tr, .matrix td { display: block; }
  .matrix tr { border-bottom: 1px solid var(--line); padding: .3rem 0; } .matrix td::before { color: var(--soft);
    content: attr(data-name) ": "; } .matrix small { display: inline; margin: 0 .4rem; }
  .matrix tbody td, .matrix td:first-child { text-align: left; border: 0; padding: .1rem .3rem; min-width: 0;
    overflow-wrap: anywhere; } }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: .4rem 1.2rem; }
.pictures figure { margin: .5rem 0; } .pictures svg { display: block; width: 100%; max-width: 24rem; height: auto;
  overflow: visible; }
.pictures > * { min-width: 0; }
@page { size: A4; margin: 11mm 13mm; }
@media print { body { font-size: 9.6px; line-height: 1.36; } h1 { font-size: 17px; } h2 { font-size: 11.5px;
  margin: 8px 0 2px; } p, li { max-width: none; } td, th { padding: 1px 6px; } table { font-size: 9.6px; }
  .pictures { grid-template-columns: repeat(3, 1fr); } .pictures figure { margin: 3px 0; }
  figcaption { font-size: 8.6px; } }
"""
)

# What a record says where no key that counts signed.
UNPROVED = "origin unproved"

# What Markdown would take for something else: anywhere, at the beginning of a line, and inside an address.
ANYWHERE, AT_FIRST, ADDRESSES = (
    re.compile(r"([\\`*_\[\]|<>~&])"),
    re.compile(r"^([-+#=]|\d+(?=[.)]\s))"),
    ("://", "www."),
)


def markdown(card: Mapping[str, Any]) -> str:
    """Return the card as Markdown; names mean themselves, whatever they hold."""
    parts = [f"# {_inert(_title(card))}", _inert(_lead(card))]
    for section in _sections(card):
        parts.append(f"## {_inert(section.title)}")
        parts += map(_inert, section.lines)
        if section.points:
            parts.append("\n".join(f"- {_inert(point)}" for point in section.points))
        if section.rows:
            parts.append(_lines(section.rows))
        for picture in section.pictures:
            if picture.rows:
                parts += [f"### {_inert(picture.title)}", _lines(picture.rows)]
    return "\n\n".join(parts) + "\n"


def _lines(rows: Rows) -> str:
    """Return a table of Markdown."""
    head, *rest = ("| " + " | ".join(map(_inert, row)) + " |" for row in rows)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *rest])


def html(card: Mapping[str, Any]) -> str:
    """Return the card as one HTML page without any script; nothing in it can be fetched."""
    parts = [f'<h1>{_breakable(_title(card))}</h1><p class="soft">{_breakable(_lead(card))}</p>']
    for section in _sections(card):
        parts.append(f"<h2>{_breakable(section.title)}</h2>")
        parts += (f"<p>{_breakable(line)}</p>" for line in section.lines)
        if section.points:
            parts.append("<ul>" + "".join(f"<li>{_breakable(point)}</li>" for point in section.points) + "</ul>")
        if section.rows:
            head, *rest = section.rows
            cells = "".join(f'<th scope="col">{_breakable(name)}</th>' for name in head)
            body = "".join("<tr>" + "".join(f"<td>{_breakable(cell)}</td>" for cell in row) + "</tr>" for row in rest)
            parts.append(f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>")
        if section.pictures:
            parts.append(f'<div class="pictures">{"".join(map(_figure, section.pictures))}</div>')
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>{escape(_title(card))}</title><link rel="icon" href="data:,"><style>{STYLE}{CARD_STYLE}</style></head>
<body><main>
{"".join(parts)}
</main></body></html>
"""


def _breakable(text: str) -> str:
    """Return a text for HTML, in which a long name may be broken behind an underscore before it is anywhere else.

    Examples
    --------
    >>> _breakable("status_of_<x>")
    'status_<wbr>of_<wbr>&lt;x&gt;'
    """
    return escape(text).replace("_", "_<wbr>")


def _figure(picture: Picture) -> str:
    """Return a picture below its title; what it shows is in the figures above, or on the evaluation's own page."""
    words = f"{picture.title}. {picture.caption}".replace("?.", "?")
    return f"<figure>{picture.drawn()}<figcaption>{_breakable(words[:1].upper() + words[1:])}</figcaption></figure>"


def _inert(text: str) -> str:
    # One line each: a line's end would begin something else.
    line = ANYWHERE.sub(r"\\\1", " ".join(text.encode("utf-8", "replace").decode("utf-8").split()))
    for start in ADDRESSES:
        line = line.replace(start, f"{start[:-1]}\\{start[-1]}")
    return AT_FIRST.sub(r"\\\1" if line[:1] in "-+#=" else r"\1\\", line)


def _title(card: Mapping[str, Any]) -> str:
    target = card["model"]["target"]
    return f"Model card: {target}" if target else "Model card"


def _lead(card: Mapping[str, Any]) -> str:
    release = card["release"]
    return (
        f"Release {release['id']}, made {release['made']}. Everything here is in the released folder or follows from "
        f"its certificate; nothing was measured on the private rows{_but_for(card['evaluation'])}."
    )


def _but_for(evaluation: Mapping[str, Any] | None) -> str:
    return "" if evaluation is None else ", but for the evaluation, which was paid for"


def _sections(card: Mapping[str, Any]) -> Sequence[Section]:
    found = (
        _predicts(card["model"]),
        _columns(card["model"]),
        _people(card["training"], bool(card["model"]["columns"])),
        _made(card["release"], card["training"]),
        _promise(card),
        _gains(card["privacy"], card["training"]["unit"], card["training"]["seeded"]),
        _no_promise(card),
        Section("What to keep in mind", points=tuple(card["privacy"]["caveats"])),
        *evaluated(card["evaluation"], _signer(card["evaluation"], "evaluation") if card["evaluation"] else ""),
        _check(card["release"], card["privacy"]),
    )
    return [section for section in found if section.lines or section.points]


def _predicts(model: Mapping[str, Any]) -> Section:
    if model["task"] == "selection":
        return Section("What it is", (f"A selection of columns ({model['name']}): {len(model['selected'])} selected.",))
    named = model["target"] or "the target"
    if model["task"] == "regression":
        low, high = model["range"] or (None, None)
        what = f"{named}, a number" + ("" if low is None else f" from {low:g} to {high:g}")
    else:
        classes = [str(label) for label in model["classes"]]
        more = f" and {len(classes) - MOST_CLASSES} more" if len(classes) > MOST_CLASSES else ""
        what = f"{named}: one of {', '.join(classes[:MOST_CLASSES])}{more}"
    words = f"A linear model ({model['name']}), with noise."
    return Section("What it predicts", (f"{what}. {words}",))


def _columns(model: Mapping[str, Any]) -> Section:
    title = "From which columns"
    if model["columns"]:
        named = [f"{column['name']} ({_column_words(column)})" for column in model["columns"]]
        where = "schema.toml"
    elif model["encoded_columns"]:
        named, where = list(model["encoded_columns"]), "model.json"
    else:
        return Section(
            title, ("The folder has no names of columns: rows are taken as numbers, in the order of training.",)
        )
    more = f"; and {len(named) - MOST_COLUMNS} more, in {where}" if len(named) > MOST_COLUMNS else ""
    return Section(title, ("; ".join(named[:MOST_COLUMNS]) + more + ".",))


def _column_words(column: Mapping[str, Any]) -> str:
    if "bounds" in column:
        low, high = column["bounds"]
        unit = f" {column['unit']}" if "unit" in column else ""
        return f"{column['kind']} from {low:g} to {high:g}{unit}"
    return f"{column['kind']}, {len(column['levels'])} levels" if "levels" in column else str(column["kind"])


def _people(training: Mapping[str, Any], described: bool) -> Section:
    as_described = ", as the columns above describe them" if described else ""
    counted = f"{training['n']:,} rows" if training["unit"] == "row" else f"the rows of {training['n']:,} persons"
    return Section(
        "For whom",
        (
            f"Trained on {counted}{as_described}. The folder does not say which people they are or what the model may "
            "be used for: whoever hands it on must.",
        ),
    )


def _made(release: Mapping[str, Any], training: Mapping[str, Any]) -> Section:
    vouched = training["vouched"]
    versions = ", ".join(f"{name} {version}" for name, version in release["software"].items())
    words = (
        f"Made {release['made']} by {versions or 'software that is not named'}. "
        + (
            f"The public facts are vouched for by {vouched}. "
            if vouched
            else "Nobody is named who vouches for public facts. "
        )
        + _signer(release, "release")
    )
    return Section("By whom, and when", (words,))


def _signer(folder: Mapping[str, Any], what: str) -> str:
    """Return who signed a folder, and whether that was checked against a key that somebody trusts."""
    signature, origin = folder["signature"], folder["origin"]
    if signature is None:
        said = f"who made the {what} is not in the certificate: a signature would say so, and the folder has none"
        return f"{origin.capitalize()}: {said}."
    when = f"on {signature['signed']} with the key {signature['fingerprint']}"
    if origin != UNPROVED:
        says = f", who says to be {signature['producer']}," if signature["producer"] else ""
        return f"The {what} was {origin}{says} {when}: checked against the keys that this card was made with."
    who = f"{signature['producer']} signed it" if signature["producer"] else "it was signed"
    return (
        f"{origin.capitalize()}: the folder says that {who} {when}; whether that is so, equipoise verify FOLDER "
        "--key FILE.pub tells whoever has that public key."
    )


def _promise(card: Mapping[str, Any]) -> Section:
    privacy, unit = card["privacy"], card["training"]["unit"]
    epsilon, delta = privacy["epsilon"], privacy["delta"]
    factor = f" = {math.exp(epsilon):.3g}" if epsilon < 20 else ""
    extra = f", and {delta:.3g} on top" if delta > 0 else ""
    exchanged = "one row of the table is exchanged for any other"
    if unit != "row":
        exchanged = "all rows of one person are exchanged for any others"
    words = (
        f"If {exchanged}, no result of the training becomes more than e^{epsilon:.4g}{factor} "
        f"times as likely{extra}: ({epsilon:.6g}, {delta:.6g})-differential privacy, {privacy['adjacency']}."
    )
    grade = (
        f"It is proved, by {privacy['theorem']}."
        if privacy["grade"] == "proved"
        else f"It is {privacy['grade']}: it rests on somebody's word that {'; '.join(privacy['assumptions'])}."
    )
    withdrawn = tuple(f"Since then found false: {line}" for line in privacy["withdrawn"])
    seeded = ("Seeded: for experiments, not for release.",) if card["training"]["seeded"] else ()
    return Section("What is promised", (f"{words} {grade}", *withdrawn, *seeded))


def _gains(privacy: Mapping[str, Any], unit: str, seeded: bool) -> Section:
    gains = privacy["gains"]
    words = (
        f"Someone knows two {unit}s, one of which was in the table, and all the rest of it, and sees the release. If "
        f"both are equally likely beforehand, they name the right one in at most {percent(gains['guess'])} of cases "
        "by any method; a coin does in 50 %. The table says how often they can rightly name the first (true "
        "positives), if they wrongly name it this often (false positives)."
    )
    if seeded:
        words = f"Nothing of this holds against whoever knows or guesses the seed. {words}"
    elif privacy["assumptions"]:
        words = f"All of this holds only if the assumptions above do. {words}"
    rates = gains["true_positive_rates"]
    rows = (
        ("false positives", *(percent(false) for false, _ in rates)),
        ("true positives, at most", *(percent(true) for _, true in rates)),
    )
    return Section("What an attacker gains, at most", (words,), rows=rows)


def _no_promise(card: Mapping[str, Any]) -> Section:
    training = card["training"]
    recorded = (
        f"this release was to be recorded in the ledger under {training['ledger']}, which was not looked at"
        if training["ledger"]
        else "nothing says that a ledger recorded this release"
    )
    points = [
        "That nothing is learned about people like those in the table: that is what a model is for.",
        f"Anything about other releases from the same rows. Losses add up; {recorded}.",
        "That noise was drawn as the certificate says: that rests on whoever ran the training.",
    ]
    if training["unit"] == "row":
        points.insert(1, "As much to a person with several rows: the promise is for one row.")
    return Section("What is not promised", points=tuple(points))


def _check(release: Mapping[str, Any], privacy: Mapping[str, Any]) -> Section:
    schema = f", schema {release['schema']}" if release["schema"] else ""
    return Section(
        "How to check it",
        (
            "equipoise verify FOLDER, or equipoise-verify FOLDER, checks every file and every inequality of the claim, "
            "without any data; with --key FILE.pub, or --trust FILE.toml, also whose signature it bears, and with "
            "--ledger NAME, or --export FILE, also what paid for it. "
            f"Certificate {release['certificate']}{schema}.",
            f"Not checked: {'; '.join(privacy['not_checked'])}.",
        ),
    )
