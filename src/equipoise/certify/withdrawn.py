"""What was found false after it was released: a dated list that ships with the checker (docs/certificate.md)."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """One theorem, law, kind or sampler that was found false, since when, in which versions, and why.

    `versions` are those of Equipoise for a member of a family, and of the library for a sampler; empty means all.
    """

    date: str
    family: Literal["kind", "theorem", "law", "loss", "penalty", "sampler"]
    name: str
    reason: str
    versions: tuple[str, ...] = ()

    def concerns(self, version: str | None) -> bool:
        """Return whether what a version made is affected; where it is not known, it may be."""
        return not self.versions or version is None or version in self.versions

    def __str__(self) -> str:
        """Return the sentence that `verify` answers with."""
        affected = f"versions {', '.join(self.versions)}" if self.versions else "all versions"
        return f"withdrawn on {self.date}: {self.family} {self.name}, {affected}: {self.reason}"


WITHDRAWN: tuple[Withdrawal, ...] = ()
