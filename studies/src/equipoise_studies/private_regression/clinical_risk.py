"""From the INR to harm: strokes, major bleeds and deaths that a course makes one expect, by published relations.

Strokes and bleeds follow the INR of the moment: a rate while in range, times the relative risk of the INR's range
(Oake et al. 2008, Singer et al. 2009). Deaths follow the share of time out of range (Jones et al. 2005). The numbers
and their sources are in `parameters`; what the relations cannot say is in `docs/warfarin-model.md`.
"""

from types import MappingProxyType

import numpy as np

from equipoise.errors import InvalidData
from equipoise_studies.private_regression import parameters as known
from equipoise_studies.private_regression.pharmacology import Course, Floats, share_below

RESAMPLES = 2000
HARMS = ("stroke", "bleeding", "death")


def expected_events(course: Course) -> MappingProxyType[str, Floats]:
    """Return each patient's expected events a year, at the rates of the days of the course.

    Parameters
    ----------
    course : Course
        What happened.

    Examples
    --------
    >>> steady = Course(np.full((1, 9), 2.5), np.full((1, 9), 5.0))
    >>> {harm: float(events[0].round(4)) for harm, events in expected_events(steady).items()}
    {'stroke': 0.0136, 'bleeding': 0.0175, 'death': 0.0165}
    """
    below, above, in_range = course.below, course.above, course.time_in_range
    very_high = 1.0 - share_below(course.inr, known.VERY_HIGH.value)
    strokes = in_range + known.STROKE_LOW.value * below + known.STROKE_HIGH.value * above
    bleeds = (
        in_range
        + known.BLEEDING_LOW.value * below
        + known.BLEEDING_HIGH.value * (above - very_high)
        + known.BLEEDING_VERY_HIGH.value * very_high
    )
    # The study reports odds; at a few per cent a year they are taken as ratios of rates.
    deaths = known.DEATH_PER_TENTH.value ** (10.0 * (1.0 - in_range))
    return MappingProxyType(
        {
            "stroke": known.STROKE_RATE.value * strokes,
            "bleeding": known.BLEEDING_RATE.value * bleeds,
            "death": known.DEATH_RATE.value * deaths,
        }
    )


def relative_risks(course: Course, reference_course: Course, *, seed: int = 0) -> dict[str, tuple[float, float, float]]:
    """Return each harm's risk relative to a reference, with a 95 % interval by resampling patients in pairs.

    Parameters
    ----------
    course, reference_course : Course
        The same patients over the same days, under two models' doses: simulated with one seed.
    seed : int
        Draws the resamples.

    Examples
    --------
    >>> low, right = (Course(np.full((2, 9), inr), np.full((2, 9), 5.0)) for inr in (1.5, 2.5))
    >>> {harm: value for harm, (value, _, _) in relative_risks(low, right).items() if harm != "death"}
    {'stroke': 3.5, 'bleeding': 1.0}
    """
    if course.inr.shape != reference_course.inr.shape:
        raise InvalidData(
            "two courses of the same patients over the same days",
            f"shapes {course.inr.shape} and {reference_course.inr.shape}",
            "simulate both with the same patients, days and seed",
        )
    events, reference = expected_events(course), expected_events(reference_course)
    n = len(course.inr)
    times_drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=RESAMPLES)
    risks = {}
    for harm in HARMS:
        resampled = (times_drawn @ events[harm]) / (times_drawn @ reference[harm])
        low, high = np.quantile(resampled, (0.025, 0.975))
        risks[harm] = (float(events[harm].sum() / reference[harm].sum()), float(low), float(high))
    return risks
