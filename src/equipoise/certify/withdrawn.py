"""What was found false after it was released: a dated list that ships with the checker (docs/certificate.md)."""

from collections.abc import Collection, Iterable
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


def affecting(members: Iterable[tuple[str, str]], software: Collection[tuple[str, str]]) -> tuple[str, ...]:
    """Return one line for every withdrawal that concerns something that rests on these members, made by this software.

    Examples
    --------
    >>> affecting([("theorem", "A1")], [("equipoise", "0.2.0")])
    ()
    """
    used = {*members, *(("sampler", name) for name, _ in software)}
    found = [entry for entry in WITHDRAWN if (entry.family, entry.name) in used]
    makers = [entry.name if entry.family == "sampler" else "equipoise" for entry in found]
    made = [{version for name, version in software if name == maker} for maker in makers]
    # Where a version is not known, it may be affected.
    affected = (not entry.versions or not by or by & {*entry.versions} for entry, by in zip(found, made, strict=True))
    return tuple(str(entry) for entry, hit in zip(found, affected, strict=True) if hit)
