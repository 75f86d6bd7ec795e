"""A paper's claims as data: what was published, what was measured, and one rule for the verdict."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from equipoise.errors import InvalidParameter

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
INCONSISTENT = "paper inconsistent"
CORRECTED = "corrected"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, INCONSISTENT, CORRECTED)
DECLARED = ("", INCONSISTENT, CORRECTED)


@dataclass(frozen=True)
class Claim:
    """One number of a paper beside the same number measured here.

    Parameters
    ----------
    id : str
        A short name that stays, such as "table-3.adult.sigma".
    where : str
        The place in the paper.
    published, measured : float
        What the paper says, and what was found.
    low, high : float, optional
        The interval of the measurement; by default the number itself, as for arithmetic.
    tolerance : float
        How far from the published number a measurement may lie, as a share of the published number.
    what : str
        The claim in words.
    note : str
        What a reader has to know; obligatory where a verdict is declared.
    declared : str
        "paper inconsistent" where the paper contradicts itself, so that no measurement can decide; "corrected" where
        the published number follows from a mistake and the measured one is the right one. Otherwise the rule decides.

    Examples
    --------
    >>> Claim("table-3.adult.sigma", "Table III", published=0.108, measured=0.1046, tolerance=0.1).verdict
    'reproduced'
    >>> Claim("table-3.adult.sigma", "Table III", published=0.108, measured=0.150, tolerance=0.1).verdict
    'not reproduced'
    """

    id: str
    where: str
    published: float
    measured: float
    low: float = math.nan
    high: float = math.nan
    tolerance: float = 0.0
    what: str = ""
    note: str = ""
    declared: str = ""

    def __post_init__(self) -> None:
        """Fill an interval that was not given, and refuse what cannot be judged."""
        for name in ("low", "high"):
            if math.isnan(getattr(self, name)):
                object.__setattr__(self, name, self.measured)
        numbers = {name: getattr(self, name) for name in ("published", "measured", "low", "high", "tolerance")}
        for name, value in numbers.items():
            if not math.isfinite(value):
                raise InvalidParameter(f"a finite number for {name} of the claim {self.id}", str(value), "measure it")
        if not self.low <= self.measured <= self.high or self.tolerance < 0:
            found = f"{self.measured} in {self.low} .. {self.high}, tolerance {self.tolerance}"
            raise InvalidParameter(
                f"a measurement inside its interval for the claim {self.id}", found, "check the order"
            )
        if self.declared not in DECLARED or (self.declared and not self.note):
            found = f"declared={self.declared!r}, note={self.note!r}"
            asked = f"no declared verdict, or {' or '.join(DECLARED[1:])} with a note, for the claim {self.id}"
            raise InvalidParameter(asked, found, "let the rule decide, or say why it cannot")

    @property
    def verdict(self) -> str:
        """The declared verdict, or whether the measured number lies within the tolerance of the published one.

        The interval is shown beside it and never rescues a number that lies outside: a noisy measurement would
        otherwise reproduce anything.
        """
        if self.declared:
            return self.declared
        # A number on the very edge counts: it must not be lost to the last binary digit.
        allowed = self.tolerance * abs(self.published) * (1 + 1e-9)
        return REPRODUCED if abs(self.measured - self.published) <= allowed else NOT_REPRODUCED

    def record(self) -> dict[str, str | float]:
        """Return the claim as plain data, in the order of the command's contract.

        Examples
        --------
        >>> list(Claim("a", "Table I", 1.0, 1.0).record())
        ['id', 'where', 'published', 'measured', 'low', 'high', 'tolerance', 'verdict', 'what', 'note']
        """
        plain = asdict(self)
        first = ("id", "where", "published", "measured", "low", "high", "tolerance")
        ordered: dict[str, str | float] = {name: plain[name] for name in first}
        return ordered | {"verdict": self.verdict, "what": self.what, "note": self.note}


def distinct(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Return the claims as a tuple; two of one id are refused.

    Examples
    --------
    >>> distinct([Claim("a", "Table I", 1.0, 1.0), Claim("a", "Table I", 1.0, 1.0)])
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: one claim of each id; found: two of the id 'a'; to do: rename one
    """
    found: dict[str, Claim] = {}
    for claim in claims:
        if claim.id in found:
            raise InvalidParameter("one claim of each id", f"two of the id {claim.id!r}", "rename one")
        found[claim.id] = claim
    return tuple(found.values())


def tally(claims: Iterable[Claim]) -> str:
    """Return how many claims have each verdict, in words.

    Examples
    --------
    >>> tally([Claim("a", "Table I", 1.0, 1.0), Claim("b", "Table I", 1.0, 2.0)])
    '1 reproduced, 1 not reproduced'
    """
    verdicts = [claim.verdict for claim in claims]
    return ", ".join(f"{verdicts.count(name)} {name}" for name in VERDICTS if name in verdicts) or "no claims"
