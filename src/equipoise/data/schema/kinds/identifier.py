"""Identifiers: columns that name a row or a person. They are declared, and take part in nothing."""

import re

REFUSAL = (
    'kind = "identifier" alone, since it is no feature: what names one row says nothing about the next, and a model '
    "would only learn that row; if it names persons with several rows, its place is [person]"
)

# Words that name something by a number or an address, wherever they stand in a column's name.
WORDS = re.compile("ids?|uuid|guid|ssn|email|iban|passport|phone|telephone|mrn|ip|username|userid")
WHOLE = frozenset({"name", "full name", "first name", "last name", "given name", "family name", "surname", "e mail"})
JOINED = re.compile(
    "(patient|person|customer|client|user|member|account|record|row|case|order|subject|employee|student)(id|number|no)"
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def names_identifiers(name: str) -> bool:
    """Return whether a column is an identifier by its name alone: a public rule, which looks at no value.

    Examples
    --------
    >>> [names_identifiers(name) for name in ("patient_id", "customerID", "E-Mail", "Name", "paid", "hours")]
    [True, True, True, True, False, False]
    """
    words = [word.lower() for word in _PARTS.findall(name)]
    return any(map(WORDS.fullmatch, words)) or " ".join(words) in WHOLE or JOINED.fullmatch("".join(words)) is not None
