"""What the name of a column hints at: its unit, or that it holds dates. No value is looked at.

A hint is a comment in a drafted schema, for whoever vouches: names are public, and so is what follows from them.
"""

import re

# Units that names end with, as they are written beside numbers. Those of one letter are units only in brackets.
UNITS = (
    *("mm", "cm", "km", "inch", "ft", "miles"),
    *("mg", "kg", "lb", "lbs", "oz", "tonnes"),
    *("ml", "dl", "cl", "litres", "liters"),
    *("ms", "sec", "seconds", "min", "minutes", "hours", "days", "weeks", "months", "years"),
    *("mmHg", "bpm", "kPa", "hPa", "Pa", "mmol", "mmol/l", "mg/dl", "g/dl", "g/l", "kg/m2", "kcal", "kJ"),
    *("km/h", "mph", "m/s", "m2", "m3", "sqm", "sqft", "kW", "kWh", "Hz", "°C", "°F", "%", "percent"),
    *("EUR", "USD", "GBP", "CHF", "€", "$", "£"),
)
LETTERS = ("m", "g", "t", "l", "L", "s", "h", "d", "K", "C", "F", "V", "W", "A", "J", "N")

_BRACKETS = re.compile(r"[(\[]\s*(?P<unit>[^()\[\]]+?)\s*[)\]]\s*$")
_LAST = re.compile(r"[_.\s](?P<unit>[^_.\s]+)$")
_KNOWN = {unit.casefold(): unit for unit in UNITS}

# What names of dates begin or end with; what was done on or at one has a word before it, also "admittedOn".
_DATES = re.compile(r"(^|[\W_])(date|datetime|timestamp|dob|birthday|birthdate)$|^date([\W_]|$)", re.IGNORECASE)
_DONE = re.compile(r"[^\W_][\W_](on|at)$|[a-z](Date|DateTime|Timestamp|On|At)$")


def unit_in(name: str) -> str | None:
    """Return the unit that stands at the end of a name, in brackets or after an underscore, a dot or a blank.

    Examples
    --------
    >>> [unit_in(name) for name in ("height_cm", "weight (kg)", "length [m]", "group_m", "country")]
    ['cm', 'kg', 'm', None, None]
    """
    bracketed = _BRACKETS.search(name)
    if bracketed and bracketed["unit"] in LETTERS:
        return bracketed["unit"]
    found = bracketed or _LAST.search(name)
    return _KNOWN.get(found["unit"].casefold()) if found else None


def names_dates(name: str) -> bool:
    """Return whether a name is that of dates: a date, a birthday, or something done on or at one.

    Examples
    --------
    >>> [names_dates(name) for name in ("dob", "admitted_on", "updatedAt", "date of birth", "candidate", "format")]
    [True, True, True, True, False, False]
    """
    return any(rule.search(name.strip()) for rule in (_DATES, _DONE))
