"""What every certificate says of itself, whatever it is about: the claim, read off its request and its argument."""

from typing import Protocol

from equipoise.vocabulary.facts import Budget


class Stated(Protocol):
    """What a request states: the budget, and the public shape of the data."""

    @property
    def budget(self) -> Budget:
        """The privacy loss allowed."""

    @property
    def n_samples(self) -> int:
        """The public number of rows."""

    @property
    def n_features(self) -> int:
        """The public number of columns."""


class Argued(Protocol):
    """What follows from a request."""

    @property
    def adjacency(self) -> str:
        """When datasets are neighbours."""

    @property
    def grade(self) -> str:
        """How strong the claim is."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What it rests on."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """What it does not cover."""


class Claim:
    """The part of a certificate that a ledger and a reader need first."""

    __slots__ = ()

    request: Stated
    argument: Argued

    @property
    def epsilon(self) -> float:
        """The claimed epsilon of the whole release."""
        return self.request.budget.epsilon

    @property
    def delta(self) -> float:
        """The claimed delta; 0 means pure differential privacy."""
        return self.request.budget.delta

    @property
    def adjacency(self) -> str:
        """When datasets are neighbours: "replace-one", with n public."""
        return self.argument.adjacency

    @property
    def grade(self) -> str:
        """Either "proved" or "conditional"; the assumptions of the latter are named."""
        return self.argument.grade

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a conditional claim rests on."""
        return self.argument.assumptions

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the claim does not cover, and what its arithmetic assumes."""
        return self.argument.caveats

    @property
    def n_samples(self) -> int:
        """The public number of rows."""
        return self.request.n_samples

    @property
    def n_features(self) -> int:
        """The public number of columns."""
        return self.request.n_features
