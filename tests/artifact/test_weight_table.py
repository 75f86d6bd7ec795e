"""A table of weights is enough: a small program that knows nothing but the CSV predicts what the release does."""

import csv
import hashlib
import io
import math
import re
from collections import defaultdict
from dataclasses import replace
from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.artifact.exported import exported
from equipoise.artifact.exports import members
from equipoise.data.schema import (
    CategoryColumn,
    Pair,
    Schema,
    Target,
    kinds,
)
from exported_models import DATES, MODELS, NUMBERS, OTHERS, TEXTS, expected, raw_rows, release

pytestmark = pytest.mark.usefixtures("plain_page")

QUOTED = r"'(?:[^'\\]|\\.)*'" + r'|"(?:[^"\\]|\\.)*"'


# What a reader of the table writes who never saw this library: from here to the next fixture nothing of it is used.


def texts_in(words: str) -> list[str]:
    """The texts in quotation marks of a sentence."""
    return [eval(found) for found in re.findall(QUOTED, words)]  # noqa: S307 - what this test has written


def number_in(text: object) -> float:
    found = float(text) if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", str(text), re.ASCII) else math.nan
    return found if math.isfinite(found) else math.nan


def number_as_told(value: object, none: str) -> float:
    """A number, by what a sentence says of missing ones and of units."""
    gone, _, units = none.partition("; numbers are in ")
    plain = float(value) if isinstance(value, float) else number_in(value)
    if not math.isnan(plain):
        return math.nan if any(plain == float(told) for told in re.findall(r"and (-?[\d.e+-]+)", gone)) else plain
    known = re.match(QUOTED, units)
    if known is None or not isinstance(value, str):
        return math.nan
    factors = {texts_in(known[0])[0]: 1.0}
    factors |= {texts_in(name)[0]: float(size) for name, size in re.findall(rf"1 ({QUOTED}) is (\S+) of it", units)}
    for unit in sorted(factors, key=len, reverse=True):
        for rest in (value.removesuffix(unit), value.removeprefix(unit)):
            if rest != value and not math.isnan(number_in(rest.strip())):
                return number_in(rest.strip()) * factors[unit]
    return math.nan


def moment_as_told(value: object, none: str) -> datetime | None:
    """A moment, or the time of the first day of 1970, or nothing."""
    if value is None or value in texts_in(none.split("of strptime, which come first")[-1]):
        return None
    for form in re.findall(rf"none by ({QUOTED}) of strptime", none):
        try:
            return datetime.strptime(value, texts_in(form)[0])
        except ValueError:
            continue
    day, clock = r"\d{4}-\d\d-\d\d", r"(\d\d:\d\d(?::\d\d)?)(?:(?<=:\d\d:\d\d)[.,]\d+)?\s*(?:Z|[+-]\d\d:?\d\d)?"
    found = re.fullmatch(rf"({day})(?:[T ]{clock})?", value, re.ASCII)
    if found is None and "no time of day" in none and (alone := re.fullmatch(clock, value, re.ASCII)):
        found = re.fullmatch(r"(\S+) (\S+)", f"1970-01-01 {alone[1]}")
    try:
        return None if found is None else datetime.fromisoformat(f"{found[1]} {found[2] or '00:00'}")
    except ValueError:
        return None


def part_of(moment: datetime, name: str) -> float:
    if found := re.fullmatch(r"years of 365.2425 days from the date to (\S+)", name):
        return (datetime.fromisoformat(found[1]) - moment) / timedelta(days=365.2425)
    parts = {
        "year": moment.year, "month": moment.month, "day of the month": moment.day, "hour": moment.hour,
        "weekday (Monday is 0)": moment.weekday(),
        "day of the year (1 January is 1)": moment.date().toordinal() - date(moment.year, 1, 1).toordinal() + 1,
    }  # fmt: skip
    return float(parts[name])


def between(number: float, words: str) -> float:
    """What a number is on the way that a sentence gives it."""
    low, high = map(float, re.search(r"-1 at (\S+) and below, 1 at (\S+) and above", words).groups())
    share = min(max((number - low) / (high - low), 0.0), 1.0)
    return share + math.sqrt(share) - 1 if "s + sqrt(s) - 1" in words else 2 * share - 1


def entry(kind: str, says: str, value: object, before: dict[str, float], none: str) -> tuple[float, str]:
    """One entry by its sentence, and what the column's last sentence said of missing values."""
    told, _, gone = says.partition(". Missing is ")
    none = gone or none
    text = value.strip() if isinstance(value, str) else value
    filled = re.search(r"; (\S+) if missing", told)
    if kind in ("number", "curve"):
        if hat := re.fullmatch(r"(\S+) where the entry of (.+) is (\S+), 0 at (\S+) and (\S+) and beyond.*", told):
            height, top, low = float(hat[1]), float(hat[3]), float(hat[4])
            return max(0.0, height * (1 - abs(before[hat[2]] - top) / (top - low))), none
        number = number_as_told(text, none)
        if told == "1 if missing, else 0":
            return float(math.isnan(number)), none
        return (float(filled[1]) if math.isnan(number) else between(number, told)), none
    if kind == "date":
        moment = moment_as_told(text, none)
        if told == "1 if missing, else 0":
            return float(moment is None), none
        if moment is None:
            return float(filled[1]), none
        if circle := re.match(r"the (sine|cosine) of 2 pi / (\d+) times the (.+?);", told):
            angle = 2 * math.pi / int(circle[2]) * part_of(moment, circle[3])
            return (math.sin(angle) if circle[1] == "sine" else math.cos(angle)), none
        return between(part_of(moment, re.match(r"of the (.+?): ", told)[1]), told), none
    if kind in ("hashed", "yes-no"):
        missing = text is None or text in texts_in(none)
        if told == "1 if missing, else 0":
            return float(missing), none
        if kind == "hashed":
            rest, divisor = map(int, re.search(r"leaves (\d+) when divided by (\d+)", told).groups())
            digest = int(hashlib.sha256((text or "").encode()).hexdigest()[:16], 16)
            return float(not missing and digest % divisor == rest), none
        if missing:
            assert filled, (says, told)
            return float(filled[1]), none
        yes, no = re.findall(rf"(\S+) for ((?:{QUOTED})(?:, (?:{QUOTED}))*)", told)
        for number, spelt in (yes[:2], no[:2]):
            if text.casefold() in texts_in(spelt):
                return float(number), none
        return float(re.search(r"; (\S+) for any other text", told)[1]), none
    # Levels: the first of the sentence's parts that fits.
    listed = rf"(\S+) for ((?:{QUOTED})(?:, (?:{QUOTED}))*)|(\S+) if missing|(\S+) for any other text"
    for number, spelt, missing, other in ((each[0], each[1], *each[-2:]) for each in re.findall(listed, told)):
        if spelt and text in texts_in(spelt):
            return float(number), none
        if (missing and text is None) or (other and text is not None):
            return float(missing or other), none
    return 0.0, none


def entries_of(lines: list[dict[str, str]], row: dict[str, object]) -> list[float]:
    found: dict[str, float] = {}
    none = column = ""
    for line in lines:
        says, raw = line["meaning"], line["raw column"]
        none, column = (none, column) if raw == column else ("", raw)
        if pair := re.fullmatch(r"the product of two: of (.+?) \[(.*)\] and of (.+?) \[(.*)\]", says):
            (one, first, other, second) = pair.groups()
            kinds_of = [
                "number" if re.search("and above|where the entry", each) else "category" for each in (first, second)
            ]
            sides = zip((one, other), (first, second), kinds_of, strict=True)
            found[line["column"]] = math.prod(entry(kind, text, row[name], found, "")[0] for name, text, kind in sides)
            continue
        found[line["column"]], none = entry(line["kind"], says, row[raw], found, none)
    return list(found.values())


def predict(table: str, rows: list[dict[str, object]]) -> tuple[list[object], list[list[float]]]:
    """Return predictions and, where the table tells them, the probabilities of the classes."""
    outputs: dict[str, list[dict[str, str]]] = defaultdict(list)
    for line in csv.DictReader(io.StringIO(table)):
        outputs[line["output"]].append(line)
    scored = {name: lines for name, lines in outputs.items() if not name.startswith("(direction ")}
    directions = [lines for name, lines in outputs.items() if name.startswith("(direction ")]
    says = next(iter(scored.values()))[0]["meaning"]
    predictions: list[object] = []
    probabilities: list[list[float]] = []
    for row in rows:
        columns = next(iter(scored.values()))[1:]
        entries = entries_of(columns, row)
        length = max(math.sqrt(sum(entry * entry for entry in entries)), float(columns[0]["divided by"]))

        def weighed(lines: list[dict[str, str]], entries=entries, length=length) -> float:
            return sum(float(line["weight"]) * entry for line, entry in zip(lines, entries, strict=True)) / length

        factor = 1.0
        if directions:
            few = [weighed(lines) for lines in directions]
            size = math.sqrt(sum(part * part for part in few))
            if larger := re.search(r"the larger of .* and (\S+) times the sum of their absolute values", says):
                size = max(size, float(larger[1]) * sum(map(abs, few)))
            most = float(re.search(r"is more than ([\d.]+), every score", says)[1])
            factor = most / size if size > most else 1.0
        scores = {name: factor * weighed(lines[1:]) + float(lines[0]["weight"]) for name, lines in scored.items()}
        (score,) = scores.values() if len(scores) == 1 else (0.0,)
        if kept := re.search(r"the prediction is (\S+) at a score of (\S+) and below, (\S+) at (\S+) and above", says):
            least, low, most, high = map(float, kept.groups())
            predictions.append(least + (min(max(score, low), high) - low) / (high - low) * (most - least))
        elif two := re.search(rf"the class is ({QUOTED}) where the score is above 0, else ({QUOTED})", says):
            yes, no = texts_in(f"{two[1]} {two[2]}")
            predictions.append(yes if score > 0 else no)
            if "1 / (1 + exp(-score))" in says:
                probabilities.append([1 / (1 + math.exp(score)), 1 / (1 + math.exp(-score))])
        else:
            predictions.append(max(scores, key=scores.get))
            odds = [math.exp(score) for score in scores.values()]
            probabilities.append([each / sum(odds) for each in odds])
    return predictions, probabilities


# The program of that reader ends here.


def agrees(folder, model, rows: pd.DataFrame) -> None:
    table = members()["csv"]().written(exported(folder)).decode()
    plain = rows.astype(object).where(rows.notna(), None)
    wanted, *odds = expected(model, rows)
    found, probabilities = predict(table, plain.to_dict("records"))
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(np.array(found), wanted, rtol=1e-9, atol=1e-9)
    else:
        assert found == [str(label) for label in wanted]
    if odds:
        np.testing.assert_allclose(np.array(probabilities).T, odds, rtol=1e-9, atol=1e-12)
    assert len(set(found)) > 1


@pytest.mark.parametrize("norm", [None, 1.5], ids=["", "clipped"])
@pytest.mark.parametrize("kind", MODELS)
def test_a_reader_who_knows_the_table_alone_predicts_what_the_release_does(tmp_path, kind, norm):
    columns = (*NUMBERS, *TEXTS, *DATES, *OTHERS)
    model = release(tmp_path / "release", kind, columns, norm)
    agrees(tmp_path / "release", model, raw_rows(1, model.schema_.columns))


def test_every_kind_of_column_is_among_them():
    assert {column.kind for column in (*NUMBERS, *TEXTS, *DATES, *OTHERS)} == set(kinds.members())


def test_pairs_of_columns_are_told_as_products(tmp_path):
    columns = (*NUMBERS, *TEXTS[:2])
    pairs = (Pair(("age", "rooms")), Pair(("income", "rent"), 1), Pair(("name", "rooms")), Pair(("dose", "age"), 2))
    schema = Schema(120, columns, Target("ill", bounds=(-50, 400)), (), "A. Officer", "2026-11-18", ("", "NA", "-9"))
    schema = replace(schema, pairs=pairs)
    model = eq.Ridge(epsilon=20.0, domain=schema, random_state=1).fit(raw_rows(0, columns, schema.target))
    eq.save(model, tmp_path / "release")
    agrees(tmp_path / "release", model, raw_rows(1, columns))


def test_levels_whose_entry_is_zero_are_told_apart_from_any_other_text(tmp_path):
    # "b" has the entry 0 in the column of "a", which any other text counts as.
    column = CategoryColumn("mark", ("a", "b"), unknown="a")
    schema = Schema(40, (column,), Target("ill", classes=("no", "yes")), (), "A. Officer", "2026-11-18")
    table = pd.DataFrame({"mark": ["a", "b"] * 20, "ill": ["no", "yes"] * 20})
    eq.save(eq.LogisticRegression(epsilon=20.0, domain=schema, random_state=0).fit(table), tmp_path / "release")
    agrees(tmp_path / "release", eq.load(tmp_path / "release"), pd.DataFrame({"mark": ["a", "b", "c", None]}))
