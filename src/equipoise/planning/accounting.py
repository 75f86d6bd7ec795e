"""Every way of accounting for steps on secret batches: the noise that each asks for, the smallest first (C3, M2)."""

import math
from dataclasses import dataclass

from equipoise.certify.curves import LATTICE_DELTA
from equipoise.certify.sampled import MOST_STEPS
from equipoise.errors import BudgetImpossible
from equipoise.planning.sampling import best_order, renyi_multiplier, smallest_multiplier
from equipoise.vocabulary.facts import Budget


@dataclass(frozen=True, slots=True)
class Accounted:
    """A noise multiplier, and whence it follows; `order` is that of a Renyi divergence, 0 for composed losses."""

    words: str
    multiplier: float
    order: float = 0.0


def accounted(budget: Budget, n_samples: int, steps: int, batch: int, sensitivity: float) -> list[Accounted]:
    """Return the noise that each way of accounting asks for, the smallest first: that one is used (M2).

    The composition of exact profiles for up to `MOST_STEPS` steps, and Renyi divergences for any number; beside them
    the paper's own formula, for the run that it is stated for, which is never used.
    """
    epsilon, left, share = budget.epsilon, budget.delta - steps * LATTICE_DELTA, batch / n_samples
    if left <= LATTICE_DELTA:
        small = f"delta={budget.delta:g}"
        raise BudgetImpossible(f"a delta that {steps:,} noisy steps can meet", small, "pass delta=1e-12")
    divergences = renyi_multiplier(epsilon, left, share, steps)
    found = []
    if steps <= MOST_STEPS:
        exact = smallest_multiplier(epsilon, left, share, steps, sensitivity)
        found.append(Accounted("gaussian (C3)", exact))
    if math.isfinite(divergences):
        order, _ = best_order(divergences, share, steps, epsilon)
        found.append(Accounted("gaussian (C3, Renyi)", divergences, order))
    if not found:
        remedy = f"allow a larger epsilon or delta, or take at most {MOST_STEPS:g} steps: fewer passes, larger batches"
        raise BudgetImpossible("noise in very many steps within the budget", f"{steps:g} steps", remedy)
    found.sort(key=lambda choice: choice.multiplier)
    if batch == 1 and steps == n_samples**2 and epsilon <= 1:
        paper = math.sqrt(2 * math.log(1 / budget.delta)) / epsilon
        found.append(Accounted("gaussian ([001] Theorem 5.1)", paper))
    return found
