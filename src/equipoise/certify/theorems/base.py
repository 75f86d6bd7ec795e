"""What every theorem says about itself."""

from abc import ABC, abstractmethod
from typing import ClassVar

from ...vocabulary.facts import Bound, Chance, Conditions, Hypothesis, Setting

# More rows or weights than these, and rounding may add up to more than it was priced at (M4).
MOST_ROWS, MOST_WEIGHTS = 10**15, 4 * 10**6

# Every bound is stated with this much on top, for the rounding of its own arithmetic and of the row clipping (M4).
ROUNDING_MARGIN = 1e-9


class Theorem(ABC):
    """A bound on how far the weights move when one row is replaced, with the hypotheses under which it holds.

    The statement is proved in ``docs/proofs/<id>.md``; a test requires the page. Members speak of the exact minimiser,
    which `minimisers.py` carries to what a solver returns, or of a descent over the reals, which `descent.py` carries
    to what a computer finds.
    """

    # "minimiser", "descent", or the name of another method.
    about = "minimiser"

    id: ClassVar[str]
    # Only the papers' own mistakes, which are kept for comparison in `planning`, say False.
    certifies = True
    # What may be replaced: it is proved for rows, and for all rows of a person only where a page says so (N1).
    units: ClassVar[tuple[str, ...]] = ("row",)

    @abstractmethod
    def hypotheses(self, setting: Setting) -> Conditions:
        """Yield every condition, met or not, each with its remedy."""

    @abstractmethod
    def sensitivity(self, setting: Setting) -> float:
        """Return the bound; called only when every hypothesis holds."""

    def law(self, setting: Setting) -> tuple[Chance, ...]:
        """Return how likely each distance is where secret coins decide, in rising order; nothing where none do."""
        return ()

    def bound(self, setting: Setting) -> Bound:
        """Return the answer for one setting: a value when every hypothesis holds, the missing ones otherwise."""
        hypotheses = (*self.hypotheses(setting), *proved_for(self.units, setting))
        if not all(hypothesis.holds for hypothesis in hypotheses):
            return Bound(self.id, self.certifies, None, hypotheses)
        return Bound(self.id, self.certifies, self.sensitivity(setting), hypotheses, self.law(setting))


def bearable(setting: Setting) -> bool:
    """Return whether rows and weights are of a number that double precision can bear (M4)."""
    return setting.rows <= MOST_ROWS and setting.dimension <= MOST_WEIGHTS


def proved_for(units: tuple[str, ...], setting: Setting) -> Conditions:
    """Yield that a theorem is proved for what is replaced; of rows, which all but N1 are about, nothing is said."""
    if units[:1] != ("row",) or setting.unit != "row":
        remedy = "use mechanism='output', 'objective' or 'noisy-gradient' for persons, and no other for rows alone"
        yield Hypothesis(f"it is proved for a {setting.unit} that is replaced (N1)", setting.unit in units, remedy)
    if setting.problem.domain.class_weights is not None:
        # To a theorem on persons, a row of weight c is a person who has the row and, for 1 - c, a row at the origin.
        proved = "person" in units or "weighted row" in units
        yield Hypothesis("it is proved for rows with class weights (N2)", proved, "leave class weights out")
