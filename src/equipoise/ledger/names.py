"""One dataset, one name: the public normal form under which dataset ids are compared.

``people``, ``People`` and ``people `` read alike, and would be three budgets if they were three ids.
"""

from __future__ import annotations

import difflib
import re
import shlex
import unicodedata
from collections.abc import Iterable

from equipoise.errors import LedgerRefused

# What Unicode lets a font draw as nothing (Default_Ignorable_Code_Point) though Python calls it printable, and the
# blank of Braille.
_INVISIBLE = {
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0xFE00, 0xFE10),
    *range(0xE0100, 0xE01F0),
}


def normal_form(name: str) -> str:
    """Return the id that a name stands for: NFKC, case folded, without what nobody sees, blanks trimmed and single.

    Examples
    --------
    >>> normal_form(" People  of 2026 "), normal_form("people of 2026")
    ('people of 2026', 'people of 2026')
    """
    seen = "".join(letter for letter in name if ord(letter) not in _INVISIBLE)
    # Folding may leave letters that compose, and composing letters that fold.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold()).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


# Letters of other alphabets that look like Latin ones, digits and signs that look like letters, and letters that look
# alike.
_CYRILLIC = (
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u043a\u043c\u0442\u0501\u04cf\u04bb\u051b\u051d\u0475"
)
_GREEK = "\u03b1\u03bf\u03c1\u03bd\u03b9\u03ba\u03c4"
_LATIN = "\u0251\u0131\u0261\u0269"
_LOOK_ALIKE = str.maketrans(f"{_CYRILLIC}{_GREEK}{_LATIN}i01|", "aeopcyxljskmtdlhqwvaopvlktalglloll")
# Letters that look like another one when they stand together.
_GROUPS = (("rn", "m"), ("vv", "w"))
# Two more, of which many words have one or the other (close and dose): they make names near, and not the same.
_NEAR_GROUPS = (("cl", "d"), ("\u00e6", "ae"), ("\u0153", "oe"))
# Words that people add to a name when they mean the same rows.
FILLERS = frozenset(["copy", "final", "new", "old", "data", "table", "file", "csv", "xlsx", "parquet", "the"])
# Roman numbers of two letters or more; single letters are marks themselves.
_TENS, _ONES = ("", "x"), ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_ROMAN = {
    f"{ten}{one}": str(10 * tens + ones)
    for tens, ten in enumerate(_TENS)
    for ones, one in enumerate(_ONES)
    if len(ten + one) > 1
}
# A digit that people take for a letter where it stands alone; inside of a number nobody does.
_LETTER_OF_A_DIGIT = str.maketrans("015", "ols")
# Scripts that are written together, and with Latin letters, and pass for none of the others. Every other name is
# written in one alphabet.
_EAST_ASIAN = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"}

# Words of so many letters are alike if they differ by one slip.
LONG = 5

# So many datasets are named where one was asked for that is not there.
NAMED = 5


def _is_separator(letter: str) -> bool:
    """Return whether people leave a sign out where they say a name: blanks, punctuation, symbols, loose accents."""
    if letter == "|":  # it looks like a letter
        return False
    return letter == " " or unicodedata.category(letter)[0] in "PS" or _script(letter) == "MODIFIER"


def _script(letter: str) -> str:
    """Return the script of a letter: the first word of its name in Unicode."""
    return unicodedata.name(letter, "").partition(" ")[0]


def outline(name: str) -> str:
    """Return what two names have in common that people take for each other: no separators, one letter for look-alikes.

    Examples
    --------
    >>> outline("people-2026"), outline("Pe0ple_2O26"), outline("people 2025")
    ('people2o26', 'people2o26', 'people2o25')
    """
    return _look("".join(letter for letter in normal_form(name) if not _is_separator(letter)))


def _look(letters: str) -> str:
    """Return letters as they look: one for those that look alike, and for groups that look like one."""
    capitals = (re.fullmatch(r"LATIN LETTER SMALL CAPITAL (\w)", unicodedata.name(letter, "")) for letter in letters)
    small = (letter if found is None else found[1].lower() for letter, found in zip(letters, capitals, strict=True))
    seen = "".join(small).translate(_LOOK_ALIKE)
    for group, letter in _GROUPS:
        seen = seen.replace(group, letter)
    return seen


def _without_accents(text: str) -> str:
    """Return a text whose Latin letters have nothing above, below or through them."""
    plain = "".join(letter for letter in unicodedata.normalize("NFD", text) if unicodedata.category(letter) != "Mn")
    struck = (re.fullmatch(r"LATIN SMALL LETTER (\w) WITH .*", unicodedata.name(letter, "")) for letter in plain)
    return "".join(letter if found is None else found[1].lower() for letter, found in zip(plain, struck, strict=True))


def words_and_marks(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the words of a name, joined, and its marks: numbers and single letters, which tell a series apart.

    Words of the public list `FILLERS` are left out beside others, and a roman number after a word is a number.

    Examples
    --------
    >>> words_and_marks("people-2024"), words_and_marks("Ward 01b"), words_and_marks("group_a")
    (('people', ('2024',)), ('ward', ('l', 'b')), ('group', ('a',)))
    >>> words_and_marks("the people copy.csv"), words_and_marks("ward ii"), words_and_marks("data")
    (('people', ()), ('ward', ('2',)), ('data', ()))
    """
    spaced = "".join(" " if _is_separator(letter) else letter for letter in _without_accents(normal_form(name)))
    runs = re.findall(r"\d+|[^\d ]+", spaced)
    kept = [run for run in runs if run not in FILLERS]
    if not any(len(run) > 1 and not run.isdecimal() for run in kept):
        kept = runs  # a name of nothing else
    words, marks = "", []
    for written in kept:
        run = _ROMAN.get(written, written) if words else written
        for group, letters in _NEAR_GROUPS:
            run = run.replace(group, letters)
        if run.isdecimal():
            mark = "".join(str(unicodedata.decimal(digit)) for digit in run).lstrip("0")
            marks.append(mark.translate(_LETTER_OF_A_DIGIT) if len(mark) == 1 else mark)
        elif len(run) == 1:
            marks.append(_look(run))
        else:
            words += _look(run)
    return words, tuple(marks)


def are_near(one: str, other: str) -> bool:
    """Return whether two names could be meant for the same people, by a public rule.

    Their words are alike: the same, accents and fillers left out, but for an s at the end or two neighbours swapped,
    or, where they are long, for one letter more, less or another. And their marks do not tell them apart: those of one
    begin with those of the other, where 24 is 2024. The members of a series have different marks.

    Examples
    --------
    >>> are_near("people", "people-1"), are_near("patients", "pateints"), are_near("trial", "trials")
    (True, True, True)
    >>> are_near("people", "people_final.csv"), are_near("ehr", "her"), are_near("people-2024", "people 24")
    (True, True, True)
    >>> are_near("people-2024", "people-2025"), are_near("ward-1", "ward-2"), are_near("people", "patients")
    (False, False, False)
    """
    (words, marks), (others, other_marks) = words_and_marks(one), words_and_marks(other)
    together = zip(marks, other_marks, strict=False)
    return all(_are_one(mark, twin) for mark, twin in together) and _are_alike(words, others)


def _are_one(mark: str, twin: str) -> bool:
    """Return whether two marks are one: the same, or a year with its century and without."""
    short, long = sorted((mark, twin), key=len)
    return mark == twin or (len(short) == 2 and short.isdecimal() and long in (f"19{short}", f"20{short}"))


def _are_alike(words: str, others: str) -> bool:
    short, long = sorted((words, others), key=len)
    if short == long or f"{short}s" == long:
        return True
    if len(long) - len(short) > 1:
        return False
    start = next((place for place, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    rest, longer = short[start:], long[start:]
    if len(rest) == len(longer) and rest[:2] == longer[1::-1] and rest[2:] == longer[2:]:
        return True
    return len(long) >= LONG and (rest[1:] if len(rest) == len(longer) else rest) == longer[1:]


def require_apart(name: str, recorded: Iterable[object], apart_from: Iterable[str] = ()) -> None:
    """Refuse a name for a new budget that people would take for one that is there.

    Parameters
    ----------
    name : str
        The new name.
    recorded : iterable
        The ids that are there.
    apart_from : iterable of str
        Those of which the owner says that they are other people's, though the names are near. Of names that look the
        same nobody can say that.

    Examples
    --------
    >>> require_apart("people 2026", ["people 2025"])
    >>> require_apart("people-1", ["people"], apart_from=["people"])
    """
    names = sorted(found for found in recorded if isinstance(found, str))
    if alike := [found for found in names if outline(found) == outline(name)]:
        found = f"{alike[0]!r}, which differs in separators, or in letters and digits that look alike"
        remedy = f"spend of {alike[0]!r} if these are the same people, else choose a name that nobody takes for it"
        raise LedgerRefused(f"a new budget for {name!r}", found, remedy)
    said = {normal_form(other) for other in apart_from}
    if near := [found for found in names if normal_form(found) not in said and are_near(found, name)]:
        found = f"budgets of nearly the same name: {', '.join(map(repr, near))}"
        options = " ".join(f"--apart-from {shlex.quote(other)}" for other in near)
        remedy = f"spend of {near[0]!r} if these are the same people; if they are others, say so: {options}"
        raise LedgerRefused(f"a new budget for {name!r}", found, remedy)


def require_new(name: str) -> None:
    """Refuse a name for a new budget that another person could not type from what a screen shows.

    Examples
    --------
    >>> require_new("people")
    """
    hidden = any(ord(letter) in _INVISIBLE or not letter.isprintable() for letter in name)
    # The normal form of a trade mark is letters, with which the name would be another one.
    signs = [letter for letter in name if unicodedata.category(letter)[0] == "S" and normal_form(letter).isalnum()]
    if hidden or signs or not normal_form(name):
        found = "a name with control characters or characters that nobody sees" if hidden else "a name of blanks"
        found = f"a sign that is read as letters, {signs[0]!r}" if signs and not hidden else found
        raise LedgerRefused("a dataset's name that people can read", found, "write letters, digits, hyphens and blanks")


def require_one_script(name: str) -> None:
    """Refuse a name for a new budget whose letters are of several alphabets, of which some pass for each other's.

    Examples
    --------
    >>> require_one_script("people 2026"), require_one_script("\u043b\u044e\u0434\u0438 2026")
    (None, None)
    """
    first = {_script(letter) for letter in normal_form(name) if letter.isalpha() and not _is_separator(letter)}
    if len(used := sorted(first - _EAST_ASIAN)) > 1:
        found = f"letters of several alphabets: {', '.join(used).title()}"
        raise LedgerRefused(f"a new budget for {name!r}", found, "write its letters in one alphabet")


def is_about(named: str | None, dataset: str) -> bool:
    """Return whether a certificate may be recorded under a dataset: it names that one, however spelled, or none.

    Examples
    --------
    >>> is_about("people", "People "), is_about(None, "people"), is_about("trial", "people")
    (True, True, False)
    """
    return named is None or normal_form(named) == normal_form(dataset)


def meant_by(written: str, recorded: Iterable[object]) -> tuple[str, ...]:
    """Return the recorded ids that a written one stands for, the one that is spelled the same first.

    A ledger of this version holds at most one; ledgers before it compared spellings.

    Examples
    --------
    >>> meant_by("people ", ["People", "trial"]), meant_by("people", ["People", "people"])
    (('People',), ('people', 'People'))
    """
    normal = normal_form(written)
    # What was overwritten may hold anything, text or not.
    alike = [name for name in recorded if isinstance(name, str) and normal_form(name) == normal]
    return tuple(sorted(alike, key=lambda name: (name != written, name)))


def others_in_words(name: str, recorded: Iterable[object]) -> str:
    """Return what to do before a budget is created under a name that is not recorded: look at those that are.

    Examples
    --------
    >>> others_in_words("peple", ["people", "trial"]), others_in_words("ward", ["people", "trial"])
    ("did you mean 'people'? Else ", "spend of one of 'people', 'trial' if these are the same people; else ")
    >>> others_in_words("ward", [])
    ''
    """
    names = sorted(found for found in recorded if isinstance(found, str))
    close = difflib.get_close_matches(name, names, NAMED)
    if near := [found for found in names if are_near(found, name) or found in close][:NAMED]:
        return f"did you mean {' or '.join(f'{found!r:.80}' for found in near)}? Else "
    if not names:
        return ""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    listed = f"{', '.join(f'{found!r:.80}' for found in names[:NAMED])}{more}"
    return f"spend of {'one of ' if names[1:] else ''}{listed} if these are the same people; else "
