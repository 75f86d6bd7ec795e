"""Whether the name of a column may be somebody's value: names are published, also those that were a first row.

The rule is public, and looks at one name at a time, after invisible characters and accents were taken away. A name
reads as a value if it has no letter; if it is a word for a missing value; if it is one number with one unit or currency
beside it; or if it is a date: digits with a month, a weekday, am or pm, or the marks of a date, and no other words than
those of dates. Whatever has another word is a name: "2020 income", "1st visit", "24h urine". So are one digit with one
letter ("5c", part of a question) and letters with one or two digits right behind them ("OCT4", "Mar2").
"""

import math
import re
import unicodedata
from collections.abc import Sequence

from equipoise.data.schema.numerals import KNOWN
from equipoise.data.schema.record import DEFAULT_MISSING


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Besides texts without a letter, such as "?" and "-". In small letters; "Na" is sodium, and "na" no English word.
_MISSING = _words("nan null none n/a #n/a <na> nat n.a. k.a. #null! #ref! #value!")

_MONTHS = _words(
    # English; German; French; Spanish; Italian; Portuguese; Dutch; Danish, Norwegian and Swedish; Polish; Czech.
    """
    jan feb mar apr may jun jul aug sep sept oct nov dec
    january february march april june july august september october november december
    mrz mai okt dez janner januar februar marz maerz juni juli oktober dezember
    janv fev fevr avr juil aout janvier fevrier mars avril juin juillet septembre octobre novembre decembre
    ene abr ago dic enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
    gen mag giu lug set ott gennaio febbraio aprile maggio giugno luglio settembre ottobre novembre dicembre
    fev mai out dez janeiro fevereiro marco maio junho julho setembro outubro novembro dezembro
    mrt mei januari februari maart augustus
    maj okt marts augusti
    sty lut kwi cze lip sie wrz paz lis gru stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia
    pazdziernika listopada grudnia
    ledna unora brezna dubna kvetna cervna cervence srpna zari rijna listopadu prosince
    年 月 日 년 월 일
    """
)
_WEEKDAYS = _words(
    """
    mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday
    mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
    lun mar mer jeu ven sam dim lundi mardi mercredi jeudi vendredi samedi dimanche
    lunes martes miercoles jueves viernes sabado domingo lunedi martedi mercoledi giovedi venerdi sabato domenica
    """
)
# They are other words too, such as "Set 1" and "FEV 1": beside a year or two numbers they are of a date.
_OTHER_WORDS = _words("set out gen mag fev sat mo di mi do fr sa so mer ven sam dim")
# Words beside a month, a weekday or digits with marks between them.
_BESIDE = _words("st nd rd th of the de del den der du le am at um uhr")
_ZONES = _words("utc gmt z cet cest mez mesz est edt cst cdt mst mdt pst pdt bst ist jst")
# By their codes: "rs" and "kr" begin other words too.
_CURRENCIES = _words(
    "eur usd gbp chf cny jpy inr sek nok dkk pln czk euro euros dollar dollars pound pounds franken yen"
)
_UNITS = _CURRENCIES | _words(
    """
    kg g mg \u03bcg ug ng lb lbs oz t m cm mm km \u03bcm nm in inch ft yd mi l ml dl cl \u03bcl mmol mol iu ie
    c f k celsius mmhg bpm kcal cal kj j w kw mw kwh mwh v a hz khz mhz ghz pa hpa
    kpa mpa bar psi n b kb mb gb tb kmh mph pct percent tsd mio mrd bn mn
    s sec secs second seconds ms min mins minute minutes h hr hrs hour hours d day days week weeks month months
    y yr yrs year years std stunde stunden minuten sekunden tag tage woche wochen monat monate jahr jahre
    heures jours semaines mois ans annees horas dias semanas meses anos ore giorni settimane mesi anni
    """
)
_INVISIBLE = ("Cf", "Cc", "Mn")
_WORDS = re.compile(r"[^\W\d_]+")
# What is told by its place: the time's T between digits, its Z and am or pm behind them.
_OF_TIMES = re.compile(r"(?<=\d)t(?=\d)|(?<=\d)z\b|(?<=\d)\s*[ap]\.?\s?m\b\.?")
# Three numbers, a year beside one of two digits, or hours and minutes.
_WITH_MARKS = re.compile(
    r"\d\s*[./-]\s*\d+\s*[./-]\s*\d|\d{4}\s*[./-]\s*\d{1,2}(?!\d)|(?<!\d)\d{1,2}\s*[./-]\s*\d{4}|\d\s*:\s*\d\d"
)
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
# The names of genes and variables: letters with a number behind them, such as OCT4.
_VARIABLE = re.compile(r"[^\W\d_]+\d{1,2}")
# One number, and nothing but one unit or currency behind or before it.
_NUMBER = r"[-+(\[<>=≤≥~±]*\d(?:[\d.,'\u2019\s_]*\d)?[)\]]*"
_UNIT = r"[^\W\d_]+(?:\s?[/*·]\s?[^\W\d_]+)?[23]?"  # squares and cubes, whose small digits are plain ones by now
_WITH_UNIT = re.compile(rf"{_NUMBER}\s*°?(?P<behind>{_UNIT})\.?|(?P<before>{_UNIT})\.?\s*{_NUMBER}")
_DOLLARS = re.compile(rf"(?:us|ca?|au?|nz|hk|nt|r)\$\s*{_NUMBER}")
# The parts of a question: 1a, 5c.
_ITEM = re.compile(r"\d[^\W\d_]")


def reads_as_a_value(name: str) -> bool:
    """Return whether the name of a column reads as a number, a date or a missing value, by the rule of this file.

    Examples
    --------
    >>> [reads_as_a_value(name) for name in ("31", "3,5", "72 kg", "1/2/2020 3:45 PM", "5. Mai 1970", "N/A", "")]
    [True, True, True, True, True, True, True]
    >>> [reads_as_a_value(name) for name in ("age", "income_2019", "2020 income", "Q1", "1st visit", "May", "PM2.5")]
    [False, False, False, False, False, False, False]
    """
    if name.strip() in DEFAULT_MISSING:
        return True
    text = _plain(name)
    if text in _MISSING or any(not math.isnan(way.number_of(text)) for way in KNOWN):
        return True
    return not any(character.isalpha() for character in text) or _has_a_unit(text) or _is_a_date(text)


def column_numbers(names: Sequence[str]) -> frozenset[str]:
    """Return all names where they number the columns from 0 or 1 on, as programs write them; otherwise none.

    Beside a word, small numbers may be somebody's values.

    Examples
    --------
    >>> sorted(column_numbers(["0", "1"])), column_numbers(["31", "2"]), column_numbers(["0", "1", "ill"])
    (['0', '1'], frozenset(), frozenset())
    """
    counted = any(list(names) == [str(start + place) for place in range(len(names))] for start in (0, 1))
    return frozenset(names) if counted else frozenset()


def _plain(name: str) -> str:
    """Return a name in small letters, without accents and invisible characters, with one kind of digits and minus."""
    parts = unicodedata.normalize("NFKD", name).replace("\u2212", "-")
    kept = "".join(part for part in parts if unicodedata.category(part) not in _INVISIBLE or part in "\t\r\n")
    return unicodedata.normalize("NFKC", kept).casefold().strip()


def _has_a_unit(text: str) -> bool:
    if _DOLLARS.fullmatch(text):
        return True
    found = _WITH_UNIT.fullmatch(text)
    if found is None or _ITEM.fullmatch(text):
        return False
    if found["before"] is not None:
        return found["before"] in _CURRENCIES and not _VARIABLE.fullmatch(text)
    return set(_WORDS.findall(found["behind"])) <= _UNITS


def _is_a_date(text: str) -> bool:
    """Return whether a text has digits, something of a date, and no other words than those of dates."""
    rest = _OF_TIMES.sub(" ", text)
    words = set(_WORDS.findall(rest)) - (_ZONES if ":" in text else frozenset())
    numbers = len(re.findall(r"\d+", text))
    if numbers == 0 or not words <= _MONTHS | _WEEKDAYS | _BESIDE or _VARIABLE.fullmatch(text):
        return False
    named = words & (_MONTHS | _WEEKDAYS)
    if named - _OTHER_WORDS or _WITH_MARKS.search(text):
        return True
    return numbers > 1 or _YEAR.search(text) is not None if named else rest != text and not words
