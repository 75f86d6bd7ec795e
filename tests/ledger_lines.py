"""The format of entries, written a second time: lines as any client could send them, honest or not."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal

MADE = "2026-11-17T10:00:00+00:00"
NOTHING_BEFORE = "0" * 64
NEIGHBOURS = "replace-one"


def written(value: object) -> str:
    """Return canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def amount(first: object, second: object = 0) -> dict[str, str]:
    return {"amount": str(first), "delta": str(second)}


@dataclass(frozen=True)
class Line:
    """The fields that an entry is sealed over."""

    number: object
    dataset: object
    kind: object
    epsilon: object = "0.0"
    delta: object = "0.0"
    certificate: object = ""
    made: object = MADE
    previous: object = NOTHING_BEFORE
    record: object = None

    def __str__(self) -> str:
        fields = [self.number, self.dataset, self.kind, self.epsilon, self.delta, self.certificate, self.made]
        fields += [self.previous, *([] if self.record is None else [self.record])]
        return json.dumps(fields, separators=(",", ":"))

    @property
    def digest(self) -> str:
        return hashlib.sha256(str(self).encode()).hexdigest()

    def row(self) -> dict[str, object]:
        return {**asdict(self), "digest": self.digest}


@dataclass
class Lines:
    """An honest client's history of one dataset, in a currency or, without one, as before records."""

    dataset: str
    limit: dict[str, str]
    currency: str | None = "gaussian"
    entries: list[Line] = field(default_factory=list)
    spent: tuple[Decimal, Decimal] = (Decimal(0), Decimal(0))

    def budget(self) -> Line:
        record = {"version": 2, "currency": self.currency, "limit": self.limit, "key": None}
        text = None if self.currency is None else written(record)
        return Line(1, self.dataset, "budget", "3.0", "1e-06", record=text)

    def spend(self, cost: str = "0.5", delta: str = "0", **record: object) -> Line:
        """Return the next spend; the record may be altered key by key."""
        spent = self.spent[0] + Decimal(cost), self.spent[1] + Decimal(delta)
        number = len(self.entries) + 1
        told = {"adjacency": NEIGHBOURS, "certificate": {"claim": [1, 0.25, 1e-07, None, "\u00e9"]}, "under": 1}
        told |= {"cost": amount(cost, delta), "release": f"release-{number}", "software": {"equipoise": "0.3.0"}}
        text = None if self.currency is None else written({**told, "spent": amount(*spent), **record})
        epsilon, share = (repr(float(value)) for value in (cost, delta))
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        return Line(number, self.dataset, "spend", epsilon, share, digest, previous=self._previous, record=text)

    def outcome(self, of: int, outcome: str = "released", **record: object) -> Line:
        told = {"adjacency": NEIGHBOURS, "of": of, "outcome": outcome, "release": f"release-{of}", "under": 1}
        text = written({**told, "spent": amount(*self.spent), **record})
        digest = "" if outcome == "failed" else "f" * 64
        number = len(self.entries) + 1
        return Line(number, self.dataset, "outcome", certificate=digest, previous=self._previous, record=text)

    def took(self, line: Line) -> None:
        """Go on after a line that the ledger took."""
        self.entries.append(line)
        if line.kind == "spend":
            told = json.loads(line.record)["cost"] if line.record else amount(line.epsilon, line.delta)
            self.spent = self.spent[0] + Decimal(told["amount"]), self.spent[1] + Decimal(told["delta"])

    @property
    def _previous(self) -> str:
        return self.entries[-1].digest if self.entries else NOTHING_BEFORE

    def altered(self, line: Line, **record: object) -> Line:
        """Return a line whose record says something else; a key that is None is left out."""
        told = {**json.loads(line.record), **record}
        return replace(line, record=written({key: value for key, value in told.items() if value is not None}))
