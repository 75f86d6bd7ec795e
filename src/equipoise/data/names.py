"""Whether the name of a column may be somebody's value: names are published, also those that were a first row.

The rule is public, and looks at one name at a time, after invisible characters and accents were taken away. A name
reads as a value if it has no letter but numerals ("五"); if it begins with a digit, whatever marks or currency stand
before that; if it is a word for a missing value, an answer (yes, no, true, false) or an e-mail address; if it is one
number with one currency before it; or if it is a date: digits with a month or a weekday, and no other words than those
of dates. What begins with a letter and has another word is a name: "income 2020", "Q1", "visit 1". So are single words
that only programs write, with an underscore or an ordinal and letters behind it ("2hr_glucose", "1stFlrSF"), and
letters with one or two digits right behind them ("OCT4", "Mar2").
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
# Whole names alone: "no. 5" and "yes_count" are names.
_ANSWERS = _words("yes no true false")

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
# A currency, and nothing but one number behind it.
_AMOUNT = re.compile(r"(?P<currency>[^\W\d_]+)\.?\s*[-+(\[<>=≤≥~±]*\d(?:[\d.,'\u2019\s_]*\d)?[)\]]*")
# Signs, comparisons, brackets and currencies may stand before the digit. "rs7412" is a variant of a gene.
_DIGIT_FIRST = re.compile(r"(?:\W*|(?:us|ca?|au?|nz|hk|nt|r)\$\W*|rs(?:\.\s*|\s+))\d")
# How programs write names in one word: 2hr_glucose, 1st_visit, 1stFlrSF.
_OF_PROGRAMS = re.compile(r"\d+(?:[a-z]*_.*[a-z]{3}|(?:st|nd|rd|th)[a-z]{3})")
_ADDRESS = re.compile(r"[^\s@]+@[^\s@.]+\.[^\s@]+")


def reads_as_a_value(name: str) -> bool:
    """Return whether the name of a column reads as a number, a date or another value, by the rule of this file.

    Examples
    --------
    >>> [reads_as_a_value(name) for name in ("31", "3,5", "72 kg", "45 yo", "5. Mai 1970", "N/A", "yes")]
    [True, True, True, True, True, True, True]
    >>> [reads_as_a_value(name) for name in ("age", "income_2019", "income 2020", "Q1", "1st_visit", "May", "PM2.5")]
    [False, False, False, False, False, False, False]
    """
    if name.strip() in DEFAULT_MISSING:
        return True
    text = _plain(name)
    if text in _MISSING | _ANSWERS or any(not math.isnan(way.number_of(text)) for way in KNOWN):
        return True
    if _DIGIT_FIRST.match(text):
        one_word = re.fullmatch(r"\w+", text) is not None
        return not (one_word and _OF_PROGRAMS.match(text)) or _is_a_date(text)
    letters = (character for character in text if unicodedata.numeric(character, None) is None)
    if not any(character.isalpha() for character in letters) or _ADDRESS.fullmatch(text):
        return True
    return _is_an_amount(text) or _is_a_date(text)


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


def _is_an_amount(text: str) -> bool:
    """Return whether a text is a currency with a number behind it."""
    found = _AMOUNT.fullmatch(text)
    return found is not None and found["currency"] in _CURRENCIES and not _VARIABLE.fullmatch(text)


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
