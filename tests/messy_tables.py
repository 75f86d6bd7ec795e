"""One clean table, and the files in which people have it: every trap is a small change of how it is written.

A file comes with what its analyst knows (ranges, levels, classes: public facts), and with what this analyst does once a
command refuses it and says why. Nothing here looks at what the program does.
"""

import codecs
import gzip
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

ROWS = 600
TOWNS = ("Graz", "Linz", "Köln")
NUMBERS = ("weight", "income")
# Stands in the first row alone, so that whatever prints it has printed a person.
FIRST = {"patient": "P-770731", "weight": "97.37", "income": "48642.17", "visit": "2019-07-23"}

Cells = dict[str, tuple[str, ...]]
Facts = dict[str, object]


def _clean_cells() -> Cells:
    """Return texts by column; the label is the sign of a sum in which all five features weigh about the same."""
    generator = np.random.default_rng(20)
    weight = generator.uniform(40, 120, ROWS)
    income = generator.uniform(1_000, 90_000, ROWS)
    town = generator.choice(TOWNS, ROWS)
    smoker = generator.choice(["no", "yes"], ROWS)
    year, month, day = (generator.integers(low, high, ROWS) for low, high in ((1990, 2020), (1, 13), (1, 29)))
    score = (weight - 80) / 40 + (income - 45_500) / 44_500 + (year - 2004.5) / 15
    score += 0.8 * (town == "Graz") - 0.8 * (town == "Linz") + 1.2 * (smoker == "yes") - 0.6
    cells = {
        "patient": [f"P-{number}" for number in generator.permutation(10 * ROWS)[:ROWS]],
        "weight": [f"{value:.1f}" for value in weight],
        "income": [f"{value:.2f}" for value in income],
        "town": town.tolist(),
        "smoker": smoker.tolist(),
        "visit": [f"{y}-{m:02}-{d:02}" for y, m, d in zip(year, month, day, strict=True)],
        "ill": np.where(score > 0, "yes", "no").tolist(),
    }
    for name, text in FIRST.items():
        cells[name][0] = text
    return {name: tuple(texts) for name, texts in cells.items()}


CLEAN = _clean_cells()


@dataclass(frozen=True)
class Remedy:
    """What the analyst does when a command refuses with these words; nothing, if no file can be had from it."""

    words: str
    mend: "Trap | None"


@dataclass(frozen=True)
class Sheet:
    """A table, how it is written into a file, and what its analyst knows of it."""

    cells: Cells = field(default_factory=lambda: dict(CLEAN))
    names: Mapping[str, str] = field(default_factory=lambda: {name: name for name in CLEAN} | {"patient": "patient_id"})
    truth: tuple[str, ...] = CLEAN["ill"]
    # How lines are written.
    header: bool = True
    before: str = ""
    delimiter: str = ","
    decimal: str = "."
    thousands: str = ""
    quote: str = '"'
    all_quoted: bool = False
    never_quoted: bool = False
    nameless: str = ""
    end_of_header: str = ""
    end_of_row: str = ""
    line_end: str = "\n"
    after: str = ""
    encoding: str = "utf-8"
    mark: bytes = b""
    ending: str = ".csv"
    packed: bool = False
    # What the analyst knows, and does.
    n: int = ROWS
    classes: tuple[str, str] = ("no", "yes")
    missing: tuple[str, ...] = ()
    facts: Mapping[str, Facts] = field(
        default_factory=lambda: {
            "patient": {"kind": "identifier"},
            "weight": {"kind": "number", "bounds": [40, 120]},
            "income": {"kind": "number", "bounds": [1_000, 90_000]},
            "town": {"kind": "category", "levels": list(TOWNS), "unknown": "Graz"},
            "smoker": {"kind": "yes-no"},
            "visit": {"kind": "date", "parts": ["year"], "years": [1990, 2020]},
        }
    )
    code_book: bool = False
    options: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()

    def write(self, folder: Path) -> Path:
        """Write the file, and return where it is."""
        path = folder / f"people{self.ending}"
        content = self.mark + "".join(self._lines()).encode(self.encoding)
        if self.packed:
            packed = io.BytesIO()
            with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
                file.write(content)
            content = packed.getvalue()
        path.write_bytes(content)
        return path

    def _lines(self) -> Iterator[str]:
        yield self.before
        if self.header:
            yield (
                self._joined(self.names[name] for name in self.cells if name != self.nameless)
                + self.end_of_header
                + self.line_end
            )
        rows = list(zip(*map(self._texts, self.cells), strict=True))
        yield from (self._joined(row) + self.end_of_row + self.line_end for row in rows)
        yield self.after

    def _texts(self, name: str) -> list[str]:
        texts = self.cells[name]
        return [re.sub(r"\d+(\.\d+)?", self._number, text) for text in texts] if name in NUMBERS else list(texts)

    def _number(self, found: re.Match[str]) -> str:
        places = len(found[0].partition(".")[2])
        marks = {",": self.thousands, ".": self.decimal}
        return re.sub("[,.]", lambda mark: marks[mark[0]], f"{float(found[0]):,.{places}f}")

    def _joined(self, texts: Iterator[str] | tuple[str, ...]) -> str:
        return self.delimiter.join(map(self._field, texts))

    def _field(self, text: str) -> str:
        special = self.all_quoted or any(mark in text for mark in (self.delimiter, self.quote, "\n"))
        return f"{self.quote}{text}{self.quote}" if special and not self.never_quoted else text

    def first_person(self) -> list[str]:
        """Return the values of the first row as they are written, but for those that any row may have."""
        return [self._texts(name)[0] for name in self.cells if name in FIRST and self.truth]

    def column_names(self) -> dict[str, str]:
        """Return the names that a draft gives to the columns: those of the file, or positions."""
        places = (f"column {place}" for place in range(1, len(self.cells) + 1))
        return dict(zip(self.cells, (self.names[name] for name in self.cells) if self.header else places, strict=True))


Trap = Callable[[Sheet], Sheet]


def written(**facts: object) -> Trap:
    """Return the trap of a file that is written in this way."""
    return lambda sheet: replace(sheet, **facts)  # type: ignore[arg-type]


def spelled(name: str, texts: Mapping[str, str] | Callable[[str], str], **facts: object) -> Trap:
    """Return the trap of a column whose values are spelt otherwise; its analyst knows these facts besides."""
    rule = texts if callable(texts) else texts.__getitem__

    def trap(sheet: Sheet) -> Sheet:
        cells = sheet.cells | {name: tuple(map(rule, sheet.cells[name]))}
        return known(name, **facts)(replace(sheet, cells=cells)) if facts else replace(sheet, cells=cells)

    return trap


def some(name: str, *texts: str, every: int = 16) -> Trap:
    """Return the trap of a column of which one value in so many is one of these texts; the first row keeps its own."""

    def trap(sheet: Sheet) -> Sheet:
        cells = list(sheet.cells[name])
        for turn, place in enumerate(range(every // 2, len(cells), every)):
            cells[place] = texts[turn % len(texts)]
        return replace(sheet, cells=sheet.cells | {name: tuple(cells)})

    return trap


def half_in_capitals(name: str) -> Trap:
    """Return the trap of a column in which every other value is in capital letters."""

    def trap(sheet: Sheet) -> Sheet:
        texts = (text.upper() if place % 2 else text for place, text in enumerate(sheet.cells[name]))
        return replace(sheet, cells=sheet.cells | {name: tuple(texts)})

    return trap


def known(name: str, **facts: object) -> Trap:
    """Return the change of an analyst who knows more about a column."""
    return lambda sheet: replace(sheet, facts={**sheet.facts, name: {**sheet.facts.get(name, {}), **facts}})


def named(**names: str) -> Trap:
    """Return the trap of columns with other names."""
    return lambda sheet: replace(sheet, names={**sheet.names, **names})


def column(key: str, name: str, texts: Callable[[int], str], first: bool = False, **facts: object) -> Trap:
    """Return the trap of one more column, of which its analyst knows these facts."""

    def trap(sheet: Sheet) -> Sheet:
        more = {key: tuple(map(texts, range(len(sheet.truth))))}
        cells = more | sheet.cells if first else sheet.cells | more
        return known(key, **facts)(named(**{key: name})(replace(sheet, cells=cells)))

    return trap


def without(key: str) -> Trap:
    """Return the change of a file that is written again without a column."""
    return lambda sheet: replace(sheet, cells={name: cells for name, cells in sheet.cells.items() if name != key})


def rows(count: int) -> Trap:
    """Return the trap of a file with another number of rows than was declared; surplus ones are again the first."""

    def trap(sheet: Sheet) -> Sheet:
        taken = [place % ROWS for place in range(count)]
        cells = {name: tuple(texts[place] for place in taken) for name, texts in sheet.cells.items()}
        return replace(sheet, cells=cells, truth=tuple(sheet.truth[place] for place in taken))

    return trap


def together(*traps: Trap) -> Trap:
    """Return several changes, one after the other."""

    def trap(sheet: Sheet) -> Sheet:
        for one in traps:
            sheet = one(sheet)
        return sheet

    return trap


def refused(words: str, mend: Trap | None = None) -> Trap:
    """Return the note that a command must refuse this file with these words, and what the analyst does then."""
    return lambda sheet: replace(sheet, remedies=(*sheet.remedies, Remedy(words, mend)))


def _day(style: str) -> Callable[[str], str]:
    def day(text: str) -> str:
        year, month, day = text.split("-")
        return style.format(year=year, month=month, day=day)

    return day


GERMAN = {"no": "nein", "yes": "ja"}
# What a file without a header is told, and one whose names may be values.
NO_HEADER, RENAME = "--no-header", "if it is none, rename these columns"
FORMATS = "write formats as dates and times are written there"

TRAPS: dict[str, Trap] = {
    "clean": written(),
    # How lines are cut.
    "semicolons": written(delimiter=";"),
    "tabs": written(delimiter="\t"),
    "tabs in a tsv": written(delimiter="\t", ending=".tsv"),
    "bars": written(delimiter="|"),
    "all quoted": written(all_quoted=True),
    "single quotes": written(all_quoted=True, quote="'"),
    "lines of Windows": written(line_end="\r\n"),
    "blank lines at the end": written(after="\n" * 5),
    "double spaced": together(
        written(line_end="\n\n"), refused("many rows are without any value", written(line_end="\n"))
    ),
    "delimiters at the end": together(
        written(end_of_header=",", end_of_row=","),
        refused(
            RENAME,
            together(written(end_of_header="", end_of_row=""), column("last", "nothing", lambda _: "", kind="unused")),
        ),
    ),
    "delimiters at the end of rows": together(
        written(end_of_row=","), refused("end no line by a delimiter", written(end_of_row=""))
    ),
    "line breaks inside quotes": together(
        column("address", "address", lambda place: f"Street {place}\nAustria", kind="unused"),
        refused("many rows are without any value", without("address")),
    ),
    "a title above": together(written(before="People of the clinic\n"), refused("delete a title", written(before=""))),
    "row numbers without a name": together(
        column("index", "row", str, first=True, kind="unused"),
        written(nameless="index"),
        refused("give row numbers a name", written(nameless="")),
    ),
    "sep= above": together(
        written(delimiter=";", before="sep=;\n"), refused("delete this first line", written(before=""))
    ),
    # Numbers.
    "decimal commas": written(decimal=","),
    "decimal commas between commas": together(
        written(decimal=",", never_quoted=True),
        refused("put values that hold the delimiter in quotes", written(never_quoted=False)),
    ),
    "commas in thousands": written(thousands=","),
    "points in thousands": written(thousands=".", decimal=","),
    "blanks in thousands": written(thousands=" "),
    "apostrophes in thousands": written(thousands="'"),
    "units": together(spelled("weight", lambda text: f"{text} kg"), refused('unit = "', known("weight", unit="kg"))),
    "units before": together(
        spelled("income", lambda text: f"€{text}"), refused('unit = "', known("income", unit="€"))
    ),
    "texts among numbers": some("weight", "heavy", ">110", "see notes"),
    # Bytes.
    "latin-1": together(named(weight="größe"), written(encoding="latin-1")),
    "cp1252": together(named(income="income €"), written(encoding="cp1252")),
    "utf-16": written(encoding="utf-16"),
    "utf-16 without a mark": written(encoding="utf-16-le"),
    "a byte-order mark": written(mark=codecs.BOM_UTF8),
    "packed": written(packed=True, ending=".csv.gz"),
    "packed under a plain name": together(written(packed=True), refused("or unpack it", written(packed=False))),
    "plain under a packed name": together(
        written(ending=".csv.gz"), refused("rename it to end in .csv", written(ending=".csv"))
    ),
    "a spreadsheet's ending": together(written(ending=".xlsx"), refused("asked", written(ending=".csv"))),
    "an unknown ending": together(written(ending=".txt"), refused("rename the file", written(ending=".csv"))),
    # Names.
    "no header": together(written(header=False), refused(NO_HEADER, written(options=("--no-header",)))),
    "names twice": together(named(smoker="town"), refused(RENAME, named(smoker="smoker"))),
    "an index without a name": together(
        column("index", "", str, first=True, kind="unused"), refused("index=False", without("index"))
    ),
    "a number as a name": together(named(income="2019"), refused(RENAME, named(income="income 2019"))),
    "a date as a name": together(named(visit="2019-07-01"), refused(RENAME, named(visit="visit"))),
    "blanks and dots in names": named(weight="weight in kg.", income=" yearly income", town="home.town", ill="ill?"),
    "delimiters in names": named(income="income, yearly", weight="weight; kg"),
    # Answers, dates, levels.
    "yes in German": spelled("smoker", GERMAN),
    "yes as one": spelled("smoker", {"no": "0", "yes": "1"}),
    "yes as TRUE": spelled("smoker", {"no": "FALSE", "yes": "TRUE"}),
    "yes as nobody spells it": together(
        spelled("smoker", {"no": "never", "yes": "a lot"}),
        refused("none of the declared", known("smoker", yes=["a lot"], no=["never"])),
    ),
    "days with points": together(
        spelled("visit", _day("{day}.{month}.{year}")), refused(FORMATS, known("visit", formats=["%d.%m.%Y"]))
    ),
    "days of America": together(
        spelled("visit", _day("{month}/{day}/{year}")), refused(FORMATS, known("visit", formats=["%m/%d/%Y"]))
    ),
    "days without marks": together(
        spelled("visit", _day("{year}{month}{day}")), refused(FORMATS, known("visit", formats=["%Y%m%d"]))
    ),
    "days with times": spelled("visit", lambda text: f"{text}T14:30:00+02:00"),
    "levels in capitals": together(
        spelled("town", str.upper),
        refused("none of the declared", known("town", levels=["GRAZ", "LINZ", "KÖLN"], unknown="GRAZ")),
    ),
    "a category of hundreds": column(
        "postcode", "postcode", lambda place: f"A-{1000 + 37 * place % 900}", kind="hashed", buckets=4
    ),
    "identifiers": together(
        column("mail", "E-Mail", lambda place: f"p{place}@example.org", kind="identifier"),
        column("code", "code", lambda place: f"{7919 * place % 99991:05}", kind="unused"),
    ),
    "a code book": written(code_book=True),
    # Missing values.
    "NA": together(some("weight", "NA"), some("town", "NA"), some("visit", "NA")),
    "-999": together(some("weight", "-999"), some("income", "-999.0"), written(missing=("", "-999"))),
    "question marks": together(some("weight", "?"), some("smoker", "?"), written(missing=("", "?"))),
    # Labels.
    "blanks around labels": spelled("ill", lambda text: f" {text}  "),
    "labels in capitals": together(
        spelled("ill", str.upper), refused("none of the declared classes", written(classes=("NO", "YES")))
    ),
    "labels in some capitals": together(half_in_capitals("ill"), refused("capital letters", spelled("ill", str.lower))),
    "labels in German": together(
        spelled("ill", GERMAN), refused("none of the declared classes", written(classes=("nein", "ja")))
    ),
    "labels as numbers with points": together(
        spelled("ill", {"no": "0.0", "yes": "1.0"}),
        written(classes=("0", "1")),
        refused("none of the declared classes", written(classes=("0.0", "1.0"))),
    ),
    # Rows.
    "fewer rows": rows(570),
    "more rows": rows(630),
    "far fewer rows": together(rows(240), refused("correct n", written(n=240))),
    "no rows": together(rows(0), refused("correct n")),
}

# Two at a time: what meets in real files, and what might hide each other.
PAIRS = (
    ("semicolons", "decimal commas"),
    ("semicolons", "points in thousands"),
    ("semicolons", "lines of Windows"),
    ("tabs", "decimal commas"),
    ("tabs", "utf-16"),
    ("decimal commas", "no header"),
    ("decimal commas", "units"),
    ("decimal commas", "latin-1"),
    ("blanks in thousands", "cp1252"),
    ("commas in thousands", "all quoted"),
    ("all quoted", "lines of Windows"),
    ("single quotes", "delimiters in names"),
    ("no header", "days with points"),
    ("no header", "labels in German"),
    ("no header", "a byte-order mark"),
    ("no header", "a code book"),
    ("a byte-order mark", "all quoted"),
    ("a byte-order mark", "semicolons"),
    ("packed", "utf-16"),
    ("names twice", "units"),
    ("an index without a name", "labels in capitals"),
    ("blanks and dots in names", "a code book"),
    ("days of America", "labels in German"),
    ("-999", "texts among numbers"),
    ("question marks", "fewer rows"),
    ("delimiters at the end", "lines of Windows"),
    ("blank lines at the end", "lines of Windows"),
    ("sep= above", "decimal commas"),
)


def messy(*names: str) -> Sheet:
    """Return the file with these traps.

    Examples
    --------
    >>> messy("semicolons", "decimal commas").first_person()
    ['P-770731', '97,37', '48642,17', '2019-07-23']
    """
    return together(*(TRAPS[name] for name in names))(Sheet())
