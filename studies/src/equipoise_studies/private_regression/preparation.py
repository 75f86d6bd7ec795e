"""The warfarin table, prepared as the dosing algorithm of the consortium prepares it, scaled by public constants.

Rows that lack a value are dropped. A study on public data may do that; a certified path does not: how many rows are
dropped depends on the rows, so the product keeps every row and maps what is missing by a public rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import InvalidData
from equipoise_studies.data import IWPC

Array = NDArray[np.float64]
Texts = NDArray[np.object_]

# Levels that have a column of their own; the first of each group has none.
VKORC1 = ("G/G", "A/G", "A/A")
CYP2C9 = ("*1/*1", "*1/*2", "*1/*3", "*2/*2", "*2/*3", "*3/*3")
RACES = ("White", "Asian", "Black or African American")
INDUCERS = ("carbamazepine_tegretol", "phenytoin_dilantin", "rifampin_or_rifampicin")
COLUMNS = (
    "age decade", "height", "weight", "VKORC1 A/G", "VKORC1 A/A",
    *(f"CYP2C9 {level}" for level in CYP2C9[1:]), "Asian", "Black", "enzyme inducer", "amiodarone",
)  # fmt: skip
VKORC1_COLUMNS = slice(3, 5)
# The square root of the weekly dose lies in 1.5 .. 9.5, that is 2.25 .. 90.25 mg: public constants.
CENTRE, HALF_RANGE = 5.5, 4.0
LEAST_ROWS = 500
# Other variants say the same of -1639; the second only where the race is known and not Black (NEJM 2009, appendix).
LINKED: tuple[tuple[str, Mapping[str, str], bool], ...] = (
    ("vkorc1_2255_consensus", {"C/C": "G/G", "C/T": "A/G", "T/T": "A/A"}, True),
    ("vkorc1_1173_consensus", {"C/C": "G/G", "C/T": "A/G", "T/T": "A/A"}, False),
    ("vkorc1_1542_consensus", {"G/G": "G/G", "C/G": "A/G", "C/C": "A/A"}, True),
)


@dataclass(frozen=True, eq=False)
class Rows:
    """Some patients: scaled features (norm at most 1), scaled target in [-1, 1], and the square root of the dose."""

    features: Array
    target: Array
    root_dose: Array
    places: NDArray[np.intp]

    def part(self, chosen: NDArray[Any]) -> "Rows":
        """Return some of the rows."""
        return Rows(self.features[chosen], self.target[chosen], self.root_dose[chosen], self.places[chosen])

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.target)


@dataclass(frozen=True, eq=False)
class Patients:
    """The complete rows of the table, as numbers to learn from and as facts for attack and pharmacology."""

    unscaled: Array
    dose: Array
    vkorc1: NDArray[np.intp]
    cyp2c9: Texts
    age: Array
    weight: Array
    n_table: int

    @property
    def rows(self) -> Rows:
        """All rows, scaled by the public constants."""
        root = np.sqrt(self.dose)
        return Rows(clipped(self.unscaled), scaled(root), root, np.arange(len(root)))

    def with_vkorc1(self, level: int, places: NDArray[np.intp]) -> Array:
        """Return the scaled features that some patients would have with another level of VKORC1."""
        other = self.unscaled[places].copy()
        other[:, VKORC1_COLUMNS] = np.eye(3)[level][1:]
        return clipped(other)


def clipped(unscaled: Array) -> Array:
    """Return rows divided by 2, and by their norm where that still exceeds 1; each row by itself.

    Examples
    --------
    >>> clipped(np.array([[6.0, 8.0], [0.6, 0.8]])).tolist()
    [[0.6, 0.8], [0.3, 0.4]]
    """
    half = unscaled / 2
    return np.asarray(half / np.maximum(1.0, np.linalg.norm(half, axis=1))[:, None])


def scaled(root_dose: Array) -> Array:
    """Return the target in [-1, 1]: the square root of the weekly dose by its public range.

    Examples
    --------
    >>> scaled(np.sqrt([30.25, 400.0])).tolist()
    [0.0, 1.0]
    """
    return np.clip((root_dose - CENTRE) / HALF_RANGE, -1.0, 1.0)


def _texts(table: Any, name: str) -> Texts:
    return np.array(table[name].to_pylist(), dtype=object)


def _numbers(table: Any, name: str) -> Array:
    found = [np.nan if value is None else float(value) for value in table[name].to_pylist()]
    return np.array(found, dtype=np.float64)


def vkorc1_calls(table: Any, imputed: bool) -> Texts:
    """Return the -1639 genotype, where it is missing from the linked variants by the published rules."""
    calls = _texts(table, "vkorc1_m1639_consensus")
    if imputed:
        race = _texts(table, "race")
        known = (race == "White") | (race == "Asian")
        for name, says, needs_race in LINKED:
            linked = np.array([says.get(value) for value in _texts(table, name)], dtype=object)
            fill = (calls == None) & (linked != None) & (known if needs_race else True)  # noqa: E711
            calls[fill] = linked[fill]
    return calls


def decade(age: str | None) -> float:
    """Return the decade of an age group of the table.

    Examples
    --------
    >>> decade("70 - 79"), decade("90+")
    (7.0, 9.0)
    """
    return float(age[0]) if age else np.nan


def patients(folder: Path, imputed: bool = True) -> Patients:
    """Return the patients with everything that the dosing algorithm needs.

    Parameters
    ----------
    folder : Path
        Where the table is.
    imputed : bool
        Whether a missing -1639 genotype is taken from linked variants, as published.
    """
    table = IWPC.read(folder)
    calls, cyp, race = vkorc1_calls(table, imputed), _texts(table, "cyp2c9_consensus"), _texts(table, "race")
    age = np.array([decade(value) for value in table["age"].to_pylist()])
    height, weight = _numbers(table, "height_cm"), _numbers(table, "weight_kg")
    dose = _numbers(table, "therapeutic_dose_of_warfarin")
    # As published: a drug that is not on the list of a patient's drugs is not taken.
    inducer = np.any([_texts(table, name) == "1" for name in INDUCERS], axis=0)
    amiodarone = _texts(table, "amiodarone_cordarone") == "1"
    complete = np.isfinite(age + height + weight + dose) & (dose > 0)
    complete &= np.isin(calls, VKORC1) & np.isin(cyp, CYP2C9) & np.isin(race, RACES)
    if complete.sum() < LEAST_ROWS:
        found = f"{int(complete.sum())} complete rows of {len(complete)}"
        raise InvalidData(f"a whole {IWPC.name} in {IWPC.file}", found, f"get it from {IWPC.address}")
    levels = [calls == level for level in VKORC1[1:]] + [cyp == level for level in CYP2C9[1:]]
    levels += [race == level for level in RACES[1:]] + [inducer, amiodarone]
    numbers = [(age - 5) / 4, (height - 168) / 40, (weight - 80) / 80]
    unscaled = np.column_stack([*numbers, *(level.astype(np.float64) for level in levels)])[complete]
    order = np.array([VKORC1.index(call) for call in calls[complete]], dtype=np.intp)
    kept = complete.nonzero()[0]
    # The pharmacology takes an age in years: the middle of the decade.
    years = 10 * age[kept] + 5
    return Patients(unscaled, dose[kept], order, cyp[kept], years, weight[kept], len(complete))


def split(rows: Rows, n_train: int, seed: int) -> tuple[Rows, Rows]:
    """Return training and test rows of a random split; the seed is public."""
    order = np.random.default_rng((2, seed)).permutation(len(rows))
    return rows.part(order[:n_train]), rows.part(order[n_train:])
