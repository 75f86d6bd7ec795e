"""What the paper prints, as formulas in the Lipschitz constant's and the step's units (both 1 unless named).

T counts updates. The paper's T counts iterates, one more than updates; Table 1 ignores the difference, and so does
this study.
"""

import math


def table_full_batch(n_samples: int, n_steps: int) -> float:
    """Return Table 1's bound for full-batch descent, in either column.

    Examples
    --------
    >>> table_full_batch(100, 10_000)
    800.0
    """
    return 4 * (math.sqrt(n_steps) + n_steps / n_samples)


def table_replacement(n_samples: int, n_steps: int) -> float:
    """Return Table 1's bound in expectation for descent with replacement."""
    return min(1.0, n_steps / n_samples) * 3 * math.sqrt(n_steps) + 4 * n_steps / n_samples


def table_permutation(n_samples: int, n_steps: int) -> float:
    """Return Table 1's bound with high probability for one fixed order; the proof makes it certain."""
    return 2 * math.sqrt(n_steps) + 4 * n_steps / n_samples


def lemma(n_steps: int, later_shares: float) -> float:
    """Return Lemma 3.1's bound, `later_shares` being the swapped row's shares of all steps after its first.

    Examples
    --------
    >>> lemma(10_000, 99)
    596.0
    """
    return 2 * math.sqrt(n_steps) + 4 * later_shares


def first_display(n_samples: int, n_steps: int) -> float:
    """Return the first display of Theorem 3.2 as printed: the second sum stands inside the root.

    Examples
    --------
    >>> round(first_display(100, 10_000), 1)
    204.0
    """
    return 2 * math.sqrt(n_steps + 4 * n_steps / n_samples)


def log_failure(n_samples: int) -> float:
    """Return the logarithm of Theorem 3.2's failure probability, n exp(-n/2)."""
    return math.log(n_samples) - n_samples / 2


def generalisation(n_samples: int, passes: float, step: float) -> float:
    """Return Theorem 4.1's bound on the expected generalisation error, for Lipschitz constant 1."""
    return 4 * step * (math.sqrt(passes * n_samples) + passes)


def high_probability_shape(n_samples: int, stability: float, radius: float, chance: float) -> float:
    """Return Theorem 2.1's bound but for its unspecified constant c, for Lipschitz constant 1."""
    logs = math.log(n_samples) * math.log(n_samples / chance)
    return stability * logs + radius * math.sqrt(math.log(1 / chance) / n_samples)


def noise_multiplier(epsilon: float, delta: float) -> float:
    """Return the noise of Algorithm 2 over the sensitivity 2 L of one step.

    Examples
    --------
    >>> round(noise_multiplier(1.0, 1e-6), 3), round(noise_multiplier(0.5, 1e-8), 3)
    (5.257, 12.139)
    """
    return math.sqrt(2 * math.log(1 / delta)) / epsilon


def noisy_step(n_samples: int, n_columns: int, epsilon: float, delta: float, radius: float) -> float:
    """Return the step of Theorem 5.2, for Lipschitz constant 1."""
    return radius / (n_samples * max(math.sqrt(n_samples), math.sqrt(n_columns * math.log(1 / delta)) / epsilon))
