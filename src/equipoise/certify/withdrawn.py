"""What was found false after it was released: a dated list that ships with the checker (docs/certificate.md)."""

from collections.abc import Iterable, Mapping
from typing import Literal

from ..vocabulary.records import Record


class Withdrawal(Record):
    """One theorem, law, kind or sampler that was found false, since when, in which versions, and why.

    `versions` are those of Equipoise for a member of a family, and of the library for a sampler; empty means all.
    """

    date: str
    family: Literal["kind", "theorem", "law", "loss", "penalty", "sampler"]
    name: str
    reason: str
    versions: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the sentence that `verify` answers with."""
        affected = f"versions {', '.join(self.versions)}" if self.versions else "all versions"
        return f"withdrawn on {self.date}: {self.family} {self.name}, {affected}: {self.reason}"


WITHDRAWN: tuple[Withdrawal, ...] = ()


def affecting(members: Iterable[tuple[str, str]], software: Mapping[str, str]) -> tuple[str, ...]:
    """Return one line for every withdrawal that concerns something that rests on these members, made by this software.

    Examples
    --------
    >>> affecting([("theorem", "A1")], {"equipoise": "0.2.0"})
    ()
    """
    used = {*members, *(("sampler", name) for name in software)}
    found = [entry for entry in WITHDRAWN if (entry.family, entry.name) in used]
    # Where a version is not known, it may be affected.
    made = [(entry, software.get(entry.name if entry.family == "sampler" else "equipoise")) for entry in found]
    return tuple(str(entry) for entry, by in made if not entry.versions or by in (None, *entry.versions))
