"""The INR of patients who start warfarin on a predicted dose: kinetics, response, and the course of treatment.

The model is that of Hamberg et al. 2007: an oral two-compartment model of S-warfarin whose clearance falls with age and
with variant alleles of CYP2C9, an inhibitory effect whose EC50 depends on VKORC1, and two chains of transit
compartments that carry what is left of clotting activity to the INR. Weight enters by allometry, which is not theirs.
From the eighth day the dose follows `titration`. `parameters` holds every number and its source;
`docs/warfarin-model.md` has the equations and what they leave out.

Both the kinetics and the chains are linear, so a day is advanced by exact matrix exponentials; the one approximation is
that the inhibition, which joins them, is held at its value in the middle of each hour.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import expm

from equipoise.errors import InvalidData, InvalidParameter, UnknownName
from equipoise_studies.private_regression import parameters as known
from equipoise_studies.private_regression.titration import FixedDose, Prescriber, Titration

Floats = NDArray[np.float64]

HOURS = 24
FAST_COMPARTMENTS = 6
GUT, CENTRAL = 0, 1


@dataclass(frozen=True)
class Patients:
    """How each of some patients handles warfarin and responds to it; one entry a patient in every array.

    Parameters
    ----------
    clearance, exchange : array
        Litres an hour.
    central, peripheral : array
        Litres.
    ec50 : array
        Milligrams of S-warfarin a litre at half of the largest effect.
    fast, slow : array
        Hours on average through the first and the second chain.

    Examples
    --------
    >>> typical_patients(["*1/*1", "*3/*3"], ["G/G", "A/A"], [71, 71], [70, 70]).clearance.round(3)
    array([0.314, 0.046])
    """

    clearance: Floats
    exchange: Floats
    central: Floats
    peripheral: Floats
    ec50: Floats
    fast: Floats
    slow: Floats

    def __len__(self) -> int:
        """Return how many patients there are."""
        return len(self.clearance)

    def varied(self, generator: np.random.Generator) -> "Patients":
        """Return patients who differ from these, their typical values, by independent log-normal factors.

        Parameters
        ----------
        generator : numpy.random.Generator
            Where the factors are drawn from: the same state gives the same patients.

        Examples
        --------
        >>> typical = typical_patients(["*1/*1"], ["G/G"], [71], [70])
        >>> bool(typical.varied(np.random.default_rng(0)).clearance == typical.clearance)
        False
        """
        spreads = {
            "clearance": known.SPREAD_CLEARANCE,
            "central": known.SPREAD_CENTRAL,
            "peripheral": known.SPREAD_PERIPHERAL,
            "ec50": known.SPREAD_EC50,
            "fast": known.SPREAD_FAST,
            "slow": known.SPREAD_SLOW,
        }
        factors = np.exp(generator.standard_normal((len(spreads), len(self))))
        return replace(
            self,
            **{
                name: getattr(self, name) * factor**spread.value
                for (name, spread), factor in zip(spreads.items(), factors, strict=True)
            },
        )


@dataclass(frozen=True)
class Course:
    """What happened to some patients over some days.

    Parameters
    ----------
    inr : array of shape (patients, days)
        The INR 24 hours after each day's dose, before the next one.
    doses : array of shape (patients, days)
        Milligrams of warfarin given each day.

    Examples
    --------
    >>> course = Course(np.array([[1.5, 2.5, 2.5]]), np.full((1, 3), 5.0))
    >>> course.time_in_range, course.below, course.above
    (array([0.75]), array([0.25]), array([0.]))
    """

    inr: Floats
    doses: Floats

    @cached_property
    def below(self) -> Floats:
        """Return each patient's share of time below the therapeutic range, the INR linear between days (Rosendaal)."""
        return share_below(self.inr, known.RANGE_LOW.value)

    @cached_property
    def above(self) -> Floats:
        """Return each patient's share of time above the therapeutic range."""
        return 1.0 - share_below(self.inr, known.RANGE_HIGH.value)

    @cached_property
    def time_in_range(self) -> Floats:
        """Return each patient's share of time in the therapeutic range."""
        return 1.0 - self.below - self.above


def share_below(inr: Floats, level: float) -> Floats:
    """Return the share of time that each row, linear between its columns, is below a level.

    Parameters
    ----------
    inr : array of shape (patients, days)
        At least two days.
    level : float
        What to be below of.

    Examples
    --------
    >>> share_below(np.array([[1.0, 3.0], [2.0, 2.0]]), 2.5)
    array([0.75, 1.  ])
    """
    start, end = inr[:, :-1], inr[:, 1:]
    low, high = np.minimum(start, end), np.maximum(start, end)
    flat = high == low
    crossing = (level - low) / np.where(flat, 1.0, high - low)
    return np.asarray(np.where(flat, low < level, np.clip(crossing, 0.0, 1.0)).mean(axis=1))


def typical_patients(cyp2c9: ArrayLike, vkorc1: ArrayLike, age: ArrayLike, weight: ArrayLike) -> Patients:
    """Return the typical patient of each genotype, age and weight.

    Parameters
    ----------
    cyp2c9 : array of str
        "*1/*1", "*1/*2", "*1/*3", "*2/*2", "*2/*3" or "*3/*3".
    vkorc1 : array of str
        "G/G", "A/G" or "A/A" at position -1639 (rs9923231); the order of the letters does not matter.
    age : array
        Years, above 0 and at most 120.
    weight : array
        Kilograms, above 0 and at most 400.

    Examples
    --------
    >>> typical_patients(["*1/*1"], ["G/A"], [71], [70]).ec50
    array([3.02])
    """
    clearance_lost = _of_genotype("CYP2C9 genotype", cyp2c9, known.CLEARANCE_LOST)
    ec50 = _of_genotype("VKORC1 genotype", vkorc1, known.EC50)
    years, kilograms = _between("age in years", age, 120.0), _between("weight in kilograms", weight, 400.0)
    lengths = {len(column) for column in (clearance_lost, ec50, years, kilograms)}
    if len(lengths) > 1:
        raise InvalidData(
            "one genotype of each kind, one age and one weight for each patient",
            f"columns of {', '.join(map(str, sorted(lengths)))} entries",
            "pass columns of one length",
        )
    size = kilograms / known.REFERENCE_WEIGHT.value
    flow, volume = size**known.FLOW_EXPONENT.value, size**known.VOLUME_EXPONENT.value
    ageing = 1.0 - known.CLEARANCE_AGE.value * (years - known.REFERENCE_AGE.value)
    return Patients(
        clearance=known.CLEARANCE.value * ageing * (1.0 - clearance_lost) * flow,
        exchange=known.EXCHANGE.value * flow,
        central=known.CENTRAL_VOLUME.value * volume,
        peripheral=known.PERIPHERAL_VOLUME.value * volume,
        ec50=ec50,
        fast=np.full(len(years), known.FAST_TRANSIT.value),
        slow=np.full(len(years), known.SLOW_TRANSIT.value),
    )


class Body:
    """Patients with warfarin in them: a dose goes in, a day passes, an INR comes out.

    Parameters
    ----------
    patients : Patients
        Whose bodies they are; no warfarin is in them yet.

    Examples
    --------
    >>> body = Body(typical_patients(["*1/*1"], ["G/G"], [71], [70]))
    >>> body.advance(np.array([5.0])) > 1.0
    array([ True])
    """

    def __init__(self, patients: Patients) -> None:
        n = len(patients)
        self._patients = patients
        self.amounts: Floats = np.zeros((n, 3))  # milligrams of S-warfarin: gut, centre, periphery
        self.activity: Floats = np.ones((n, FAST_COMPARTMENTS + 1))  # the first chain, then the second

        half = expm(_flows(patients) / 2)
        hour = half @ half
        to_middles = np.empty((HOURS, n, 3))
        row = half[:, CENTRAL]
        for index in range(HOURS):
            to_middles[index] = row
            row = np.einsum("pi,pij->pj", row, hour)
        self._to_middles = to_middles  # from the amounts after a dose to the central amount amid each hour
        self._drug_day = np.linalg.matrix_power(hour, HOURS)

        # The exponential of [[A, b], [0, 0]] holds both exp(A) and the integral of exp(A s) b over the hour.
        step = expm(_chains(patients))
        chain_hour, gain = step[:, :-1, :-1], step[:, :-1, -1]
        gains = np.empty((HOURS, n, FAST_COMPARTMENTS + 1))
        for index in reversed(range(HOURS)):
            gains[index] = gain
            gain = np.einsum("pij,pj->pi", chain_hour, gain)
        self._gains = gains  # from the uninhibited share in each hour to the chains at the end of the day
        self._chain_day = np.linalg.matrix_power(chain_hour, HOURS)

    def advance(self, doses: Floats) -> Floats:
        """Give each patient a dose of warfarin in milligrams and return the INR a day later."""
        self.amounts[:, GUT] += known.S_SHARE.value * doses
        central = np.einsum("hpc,pc->ph", self._to_middles, self.amounts)
        # Rounding may leave a negative trace of a drug that is gone.
        concentration = np.maximum(central, 0.0) / self._patients.central[:, None]
        relative = (concentration / self._patients.ec50[:, None]) ** known.HILL.value
        uninhibited = 1.0 - known.MAXIMAL_EFFECT.value * relative / (1.0 + relative)
        self.amounts = np.einsum("pij,pj->pi", self._drug_day, self.amounts)
        self.activity = np.einsum("pij,pj->pi", self._chain_day, self.activity)
        self.activity += np.einsum("hpi,ph->pi", self._gains, uninhibited)
        lost = 1.0 - self.activity[:, FAST_COMPARTMENTS - 1] * self.activity[:, FAST_COMPARTMENTS]
        return np.asarray(
            known.INR_BASELINE.value + known.INR_RANGE.value * np.maximum(lost, 0.0) ** known.INR_POWER.value
        )


def simulate(
    doses_mg_per_week: ArrayLike,
    cyp2c9: ArrayLike,
    vkorc1: ArrayLike,
    age: ArrayLike,
    weight: ArrayLike,
    *,
    days: int = 90,
    seed: int = 0,
) -> Course:
    """Return the course of patients who start on a predicted dose, which the clinic then adjusts.

    Parameters
    ----------
    doses_mg_per_week : array
        The predicted weekly doses in milligrams, above 0 and at most 1000: bring a model's predictions into a range
        that a clinician would give before they come here.
    cyp2c9, vkorc1, age, weight : array
        As for `typical_patients`.
    days : int
        How long, at least 2.
    seed : int
        Draws how the patients differ from the typical ones, and the errors of measurement. The same seed and patients
        give the same draws whatever the doses, so that two courses differ by the doses alone.

    Examples
    --------
    >>> course = simulate([35.0, 35.0], ["*1/*1", "*3/*3"], ["G/G", "A/A"], [60, 60], [80, 80], days=30)
    >>> course.inr.shape, bool(course.above[1] > course.above[0])
    ((2, 30), True)
    """
    patients, daily = _enrolled(doses_mg_per_week, cyp2c9, vkorc1, age, weight)
    return _course(patients, Titration(daily), days, seed)


def simulate_fixed_dose(
    doses_mg_per_week: ArrayLike,
    cyp2c9: ArrayLike,
    vkorc1: ArrayLike,
    age: ArrayLike,
    weight: ArrayLike,
    *,
    days: int = 90,
    seed: int = 0,
) -> Course:
    """Return the course of the same patients when the predicted dose is never adjusted; parameters as for `simulate`.

    Examples
    --------
    >>> course = simulate_fixed_dose([35.0], ["*1/*1"], ["G/G"], [60], [80], days=3)
    >>> course.doses
    array([[5., 5., 5.]])
    """
    patients, daily = _enrolled(doses_mg_per_week, cyp2c9, vkorc1, age, weight)
    return _course(patients, FixedDose(daily), days, seed)


def _enrolled(
    doses_mg_per_week: ArrayLike, cyp2c9: ArrayLike, vkorc1: ArrayLike, age: ArrayLike, weight: ArrayLike
) -> tuple[Patients, Floats]:
    patients = typical_patients(cyp2c9, vkorc1, age, weight)
    weekly = _between("weekly dose in milligrams", doses_mg_per_week, 1000.0)
    if len(weekly) != len(patients):
        raise InvalidData(
            f"one dose for each of {len(patients)} patients", f"{len(weekly)} doses", "pass columns of one length"
        )
    return patients, weekly / 7.0


def _course(patients: Patients, prescriber: Prescriber, days: int, seed: int) -> Course:
    if days < 2:
        raise InvalidParameter("a course of at least 2 days", f"days={days}", "pass days=90")
    # Patients and errors come from separate streams, and errors day by day: a longer course begins as a shorter one.
    differences, errors = np.random.default_rng(seed).spawn(2)
    body = Body(patients.varied(differences))
    inr, doses = np.empty((len(patients), days)), np.empty((len(patients), days))
    error = known.MEASUREMENT_VARIANCE.value**0.5
    for day in range(days):
        doses[:, day] = prescriber.doses()
        inr[:, day] = body.advance(doses[:, day])
        prescriber.measured(day + 1, inr[:, day] * np.exp(error * errors.standard_normal(len(patients))))
    return Course(inr, doses)


def _flows(patients: Patients) -> Floats:
    """Return the hourly rates between gut, centre and periphery, one matrix a patient."""
    flows = np.zeros((len(patients), 3, 3))
    flows[:, GUT, GUT] = -known.ABSORPTION.value
    flows[:, CENTRAL, GUT] = known.ABSORPTION.value
    flows[:, CENTRAL, CENTRAL] = -(patients.clearance + patients.exchange) / patients.central
    flows[:, 2, CENTRAL] = patients.exchange / patients.central
    flows[:, CENTRAL, 2] = patients.exchange / patients.peripheral
    flows[:, 2, 2] = -patients.exchange / patients.peripheral
    return flows


def _chains(patients: Patients) -> Floats:
    """Return the hourly rates of both chains, with the inflow as a last, constant entry."""
    size = FAST_COMPARTMENTS + 2
    chains = np.zeros((len(patients), size, size))
    fast, slow = FAST_COMPARTMENTS / patients.fast, 1.0 / patients.slow
    for index in range(FAST_COMPARTMENTS):
        chains[:, index, index] = -fast
        chains[:, index, index - 1] = fast  # the first is fed by the last entry, the inflow
    chains[:, FAST_COMPARTMENTS, FAST_COMPARTMENTS] = -slow
    chains[:, FAST_COMPARTMENTS, -1] = slow
    return chains


def _of_genotype(what: str, levels: ArrayLike, table: Mapping[str, known.Parameter]) -> Floats:
    column = np.asarray(levels, dtype=object)
    if column.ndim != 1 or len(column) == 0:
        raise InvalidData(f"a column with the {what} of each patient", f"shape {column.shape}", "pass a list of levels")
    ordered = ["/".join(sorted(str(level).split("/"))) for level in column]
    strangers = sum(level not in table for level in ordered)
    if strangers:
        raise UnknownName(
            f"a {what} of {', '.join(table)}",
            f"{strangers} of {len(ordered)} patients with another one",
            "leave these patients out, or map their alleles to those above",
        )
    return np.array([table[level].value for level in ordered])


def _between(what: str, values: ArrayLike, most: float) -> Floats:
    column = np.asarray(values, dtype=float)
    if column.ndim != 1 or len(column) == 0:
        raise InvalidData(
            f"a column with the {what} of each patient", f"shape {column.shape}", "pass a list of numbers"
        )
    wrong = int(np.sum(~((column > 0.0) & (column <= most))))
    if wrong:
        raise InvalidParameter(
            f"a {what} above 0 and at most {most:g}",
            f"{wrong} of {len(column)} patients with another one, or none",
            "clip the predictions, or leave these patients out",
        )
    return column
