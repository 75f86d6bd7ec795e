"""Who decides the dose of each day: nobody after the first, or a clinic that tests the INR and adjusts.

The clinic follows the table of the Intermountain clinics (Anderson et al. 2007), which starts on the eighth day of
treatment; until then the patient takes the predicted dose. `parameters.ZONES` is the table.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise_studies.private_regression import parameters as known

Floats = NDArray[np.float64]


class Prescriber(Protocol):
    """Decides each day's doses; told each morning's measured INR."""

    def doses(self) -> Floats:
        """Return today's doses in milligrams."""

    def measured(self, day: int, inr: Floats) -> None:
        """Take the INR of the morning after `day` days of treatment."""


class FixedDose:
    """The predicted dose every day, whatever the INR.

    Parameters
    ----------
    daily : array
        Milligrams a day.

    Examples
    --------
    >>> FixedDose(np.array([5.0])).doses()
    array([5.])
    """

    def __init__(self, daily: Floats) -> None:
        self._daily = daily

    def doses(self) -> Floats:
        """Return today's doses in milligrams."""
        return self._daily

    def measured(self, day: int, inr: Floats) -> None:
        """Ignore the INR."""


class Titration:
    """The predicted dose for a week, then the Intermountain table at each test (`parameters.ZONES`).

    Parameters
    ----------
    daily : array
        Milligrams a day to start with.

    Examples
    --------
    >>> clinic = Titration(np.array([5.0]))
    >>> clinic.measured(7, np.array([1.2]))
    >>> clinic.doses()  # twice the dose once, then a tenth more
    array([10.])
    >>> clinic.doses().round(2)
    array([5.5])
    """

    _HOLD = len(known.ZONES) - 1

    def __init__(self, daily: Floats) -> None:
        n = len(daily)
        self._daily = daily.copy()
        self._special = np.zeros(n)  # the dose while special days last
        self._special_days = np.zeros(n, dtype=int)
        self._next_test = np.full(n, int(known.FIRST_CHECK.value))
        self._zone = np.full(n, -1)

    def doses(self) -> Floats:
        """Return today's doses in milligrams."""
        special = self._special_days > 0
        self._special_days -= special
        return np.where(special, self._special, self._daily)

    def measured(self, day: int, inr: Floats) -> None:
        """Adjust the doses of the patients whose test is due."""
        zone = np.searchsorted([zone.below for zone in known.ZONES], inr, side="right")
        held = self._zone == self._HOLD
        resumed = held & (inr < known.HOLD_UNTIL.value)
        # A held patient who has not come down enough is held again, whatever the zone.
        zone = np.where(held & ~resumed, self._HOLD, zone)
        again = zone == self._zone

        def entry(name: str) -> Floats:
            return np.array([getattr(zone, name) for zone in known.ZONES], dtype=float)[zone]

        special = entry("next_dose") * self._daily
        left_out = (zone == self._HOLD - 1) & (inr >= known.FULL_HOLD.value)
        special[left_out] = 0.0
        days = np.where(resumed, 0, entry("next_days")).astype(int)
        weekly = np.where(again, entry("weekly_again"), entry("weekly"))
        weekly = np.where(resumed, known.RESTART.value, weekly)
        wait = np.where(again, entry("test_after_again"), entry("test_after"))
        wait = np.where(resumed, known.RESTART_CHECK.value, wait).astype(int)

        due = self._next_test == day
        self._special = np.where(due, special, self._special)
        self._special_days = np.where(due, days, self._special_days)
        self._daily = np.where(due, self._daily * weekly, self._daily)
        self._next_test = np.where(due, day + wait, self._next_test)
        self._zone = np.where(due, zone, self._zone)
