"""Every number of the warfarin simulation and of the risk of harm: value, unit, and where it comes from.

Nothing here is fitted to the study's data. A source says how far it was checked: no full text of the papers was at
hand, so a number is checked against a public abstract, against a public re-implementation that cites the paper's
table, or, where it says so, not at all. `docs/warfarin-model.md` prints these tables; a test compares them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

HAMBERG_KINETICS = "Hamberg et al. 2007, Clin Pharmacol Ther 81:529, Table 2; checked in a public re-implementation"
HAMBERG_RESPONSE = "Hamberg et al. 2007, Table 4; checked in a public re-implementation"
HAMBERG_SPREAD = (
    "; read as a standard deviation of the logarithm, because its square then agrees with the variances of Hamberg et "
    "al. 2010 (the re-implementation reads it as a variance)"
)
ALLOMETRY = "allometric theory as in Holford's warfarin model, seen in public model files; not part of Hamberg 2007"
OAKE = "Oake et al. 2008, CMAJ 179:235, abstract checked"
ATRIA = "Singer et al. 2009, Circ Cardiovasc Qual Outcomes 2:297 (ATRIA), abstract checked"
NELSON = "Nelson et al. 2015, Int J Clin Pharm 37:53, abstract checked"
JONES = "Jones et al. 2005, Heart 91:472; abstract checked, the journal's page from memory"
ANDERSON = "Anderson et al. 2007, Circulation 116:2563, appendix B; checked in a public re-implementation"


@dataclass(frozen=True)
class Parameter:
    """One number of the model.

    Parameters
    ----------
    name : str
        What it is, in words.
    value : float
        The number that the simulation uses.
    unit : str
        Its unit, or "-".
    source : str
        Where it comes from, and how far that was checked.

    Examples
    --------
    >>> CLEARANCE.value, CLEARANCE.unit
    (0.314, 'l/h')
    """

    name: str
    value: float
    unit: str
    source: str


CLEARANCE = Parameter("S-warfarin clearance, CYP2C9 *1/*1, 71 years, 70 kg", 0.314, "l/h", HAMBERG_KINETICS)
CLEARANCE_AGE = Parameter("clearance lost per year of age above 71", 0.0091, "1/year", HAMBERG_KINETICS)
REFERENCE_AGE = Parameter("age at which the clearance is stated", 71.0, "year", HAMBERG_KINETICS)
# The two published estimates *2/*2 and *2/*3 are not in the order of the alleles: few patients carried them.
CLEARANCE_LOST: Mapping[str, Parameter] = MappingProxyType(
    {
        genotype: Parameter(f"share of clearance lost, CYP2C9 {genotype}", lost, "-", HAMBERG_KINETICS)
        for genotype, lost in {
            "*1/*1": 0.0,
            "*1/*2": 0.315,
            "*1/*3": 0.453,
            "*2/*2": 0.722,
            "*2/*3": 0.690,
            "*3/*3": 0.852,
        }.items()
    }
)
CENTRAL_VOLUME = Parameter("central volume", 13.8, "l", HAMBERG_KINETICS)
PERIPHERAL_VOLUME = Parameter("peripheral volume", 6.59, "l", HAMBERG_KINETICS)
EXCHANGE = Parameter("flow between the two volumes", 0.131, "l/h", HAMBERG_KINETICS)
ABSORPTION = Parameter("rate of absorption", 2.0, "1/h", HAMBERG_KINETICS)
S_SHARE = Parameter("share of the tablet that is S-warfarin", 0.5, "-", "a racemate; both models use it")
REFERENCE_WEIGHT = Parameter("weight at which clearance and volumes are stated", 70.0, "kg", ALLOMETRY)
FLOW_EXPONENT = Parameter("power of weight in clearance and exchange", 0.75, "-", ALLOMETRY)
VOLUME_EXPONENT = Parameter("power of weight in volumes", 1.0, "-", ALLOMETRY)

EC50: Mapping[str, Parameter] = MappingProxyType(
    {
        genotype: Parameter(f"concentration of half effect, VKORC1 -1639 {genotype}", value, "mg/l", HAMBERG_RESPONSE)
        for genotype, value in {"G/G": 4.61, "A/G": 3.02, "A/A": 2.20}.items()
    }
)
HILL = Parameter("steepness of the effect (gamma)", 0.424, "-", HAMBERG_RESPONSE)
MAXIMAL_EFFECT = Parameter("largest effect (Emax)", 1.0, "-", HAMBERG_RESPONSE)
FAST_TRANSIT = Parameter("mean time through the first chain, six compartments", 11.6, "h", HAMBERG_RESPONSE)
SLOW_TRANSIT = Parameter("mean time through the second chain, one compartment", 120.0, "h", HAMBERG_RESPONSE)
INR_POWER = Parameter("power from lost activity to INR (lambda)", 3.61, "-", HAMBERG_RESPONSE)
INR_RANGE = Parameter("largest rise of the INR", 20.0, "-", HAMBERG_RESPONSE)
INR_BASELINE = Parameter(
    "INR without warfarin", 1.0, "-", "as later simulations fix it; Hamberg et al. take each patient's own"
)

SPREAD_CLEARANCE = Parameter("spread of clearance between patients", 0.310, "-", HAMBERG_KINETICS + HAMBERG_SPREAD)
SPREAD_CENTRAL = Parameter("spread of the central volume", 0.262, "-", HAMBERG_KINETICS + HAMBERG_SPREAD)
SPREAD_PERIPHERAL = Parameter("spread of the peripheral volume", 0.991, "-", HAMBERG_KINETICS + HAMBERG_SPREAD)
SPREAD_EC50 = Parameter("spread of EC50", 0.409, "-", HAMBERG_RESPONSE + HAMBERG_SPREAD)
SPREAD_FAST = Parameter("spread of the first transit time", 0.141, "-", HAMBERG_RESPONSE + HAMBERG_SPREAD)
SPREAD_SLOW = Parameter("spread of the second transit time", 1.020, "-", HAMBERG_RESPONSE + HAMBERG_SPREAD)
MEASUREMENT_VARIANCE = Parameter(
    "variance of the logarithm of a measured INR",
    0.0325,
    "-",
    HAMBERG_RESPONSE + "; read as a variance (18 per cent), since Hamberg et al. 2010 state 20 per cent",
)

FIRST_CHECK = Parameter("days on the predicted dose before the first adjustment", 7.0, "day", ANDERSON)
HOLD_UNTIL = Parameter("INR below which a held patient starts again", 3.4, "-", ANDERSON)
RESTART = Parameter("factor on the weekly dose after holding", 0.85, "-", ANDERSON)
RESTART_CHECK = Parameter("days to the next test after holding", 7.0, "day", ANDERSON)
FULL_HOLD = Parameter("INR from which the one reduced dose is left out altogether", 4.0, "-", ANDERSON)

RANGE_LOW = Parameter("lower end of the therapeutic range", 2.0, "-", "the usual target of 2 to 3; " + OAKE)
RANGE_HIGH = Parameter("upper end of the therapeutic range", 3.0, "-", "the usual target of 2 to 3; " + OAKE)
VERY_HIGH = Parameter("INR from which bleeding is far more frequent", 5.0, "-", OAKE)
STROKE_LOW = Parameter("relative risk of stroke, INR below 2", 3.5, "-", OAKE + "; for thromboembolism, 2.8 to 4.4")
STROKE_HIGH = Parameter("relative risk of stroke, INR above 3", 1.0, "-", ATRIA + ": low and stable above 1.8")
BLEEDING_LOW = Parameter("relative risk of bleeding, INR below 2", 1.0, "-", ATRIA + ": intracranial, not lower")
BLEEDING_HIGH = Parameter("relative risk of bleeding, INR 3 to 5", 2.7, "-", OAKE + "; 1.8 to 3.9")
BLEEDING_VERY_HIGH = Parameter("relative risk of bleeding, INR above 5", 21.8, "-", OAKE + "; 12.1 to 39.4")
DEATH_PER_TENTH = Parameter("odds of death, per tenth of the time out of range", 1.29, "-", JONES)
STROKE_RATE = Parameter(
    "strokes while in range", 0.1030 / 7.6, "1/year", NELSON + ": 10.30 per 100 years below 2, which is 7.6-fold"
)
BLEEDING_RATE = Parameter(
    "major bleeds while in range", 0.0455 / 2.6, "1/year", NELSON + ": 4.55 per 100 years below 2, which is 2.6-fold"
)
DEATH_RATE = Parameter(
    "deaths with no time out of range",
    0.0413 / 1.29**3.6,
    "1/year",
    "RE-LY, N Engl J Med 2009;361:1139: 4.13 per cent a year at 64 per cent in range, from memory, unverified; "
    "no ratio depends on it",
)

TABLE: tuple[Parameter, ...] = (
    CLEARANCE,
    CLEARANCE_AGE,
    REFERENCE_AGE,
    *CLEARANCE_LOST.values(),
    CENTRAL_VOLUME,
    PERIPHERAL_VOLUME,
    EXCHANGE,
    ABSORPTION,
    S_SHARE,
    REFERENCE_WEIGHT,
    FLOW_EXPONENT,
    VOLUME_EXPONENT,
    *EC50.values(),
    HILL,
    MAXIMAL_EFFECT,
    FAST_TRANSIT,
    SLOW_TRANSIT,
    INR_POWER,
    INR_RANGE,
    INR_BASELINE,
    SPREAD_CLEARANCE,
    SPREAD_CENTRAL,
    SPREAD_PERIPHERAL,
    SPREAD_EC50,
    SPREAD_FAST,
    SPREAD_SLOW,
    MEASUREMENT_VARIANCE,
    FIRST_CHECK,
    HOLD_UNTIL,
    RESTART,
    RESTART_CHECK,
    FULL_HOLD,
    RANGE_LOW,
    RANGE_HIGH,
    VERY_HIGH,
    STROKE_LOW,
    STROKE_HIGH,
    BLEEDING_LOW,
    BLEEDING_HIGH,
    BLEEDING_VERY_HIGH,
    DEATH_PER_TENTH,
    STROKE_RATE,
    BLEEDING_RATE,
    DEATH_RATE,
)


@dataclass(frozen=True)
class Zone:
    """What the protocol does when a measured INR falls into a zone.

    Parameters
    ----------
    name : str
        The protocol's name for it.
    below : float
        The zone ends below this INR.
    next_dose : float
        Factor on the daily dose for the days `next_days` that follow at once.
    next_days : int
        How many days that lasts; zero where nothing is done at once.
    weekly : float
        Factor on the weekly dose from then on.
    weekly_again : float
        The same, where the test before fell into this zone as well.
    test_after, test_after_again : int
        Days to the next test, at the first and at a repeated visit to the zone.

    Examples
    --------
    >>> [zone.name for zone in ZONES if zone.weekly == zone.weekly_again == 1.0]
    ['in range', 'hold']
    """

    name: str
    below: float
    next_dose: float
    next_days: int
    weekly: float
    weekly_again: float
    test_after: int
    test_after_again: int


ZONES: tuple[Zone, ...] = (
    Zone("far below", 1.6, 2.0, 1, 1.10, 1.10, 5, 14),
    Zone("below", 1.8, 1.5, 1, 1.05, 1.05, 7, 14),
    Zone("just below", 2.0, 1.0, 0, 1.0, 1.05, 14, 14),
    Zone("in range", 3.0, 1.0, 0, 1.0, 1.0, 14, 28),
    Zone("just above", 3.4, 1.0, 0, 1.0, 0.95, 14, 14),
    Zone("above", 5.0, 0.5, 1, 0.90, 0.90, 7, 14),
    Zone("hold", float("inf"), 0.0, 2, 1.0, 1.0, 2, 2),
)


def parameter_table() -> str:
    """Return the parameters as a table in Markdown.

    Examples
    --------
    >>> print(parameter_table().splitlines()[2])  # doctest: +ELLIPSIS
    | S-warfarin clearance, CYP2C9 *1/*1, 71 years, 70 kg | 0.314 | l/h | Hamberg et al. 2007, ...
    """
    rows = (f"| {row.name} | {row.value:.4g} | {row.unit} | {row.source} |" for row in TABLE)
    return "\n".join(("| parameter | value | unit | source |", "|---|---|---|---|", *rows))


def zone_table() -> str:
    """Return the protocol's zones as a table in Markdown.

    Examples
    --------
    >>> print(zone_table().splitlines()[5])
    | in range | 3 | - | 1 / 1 | 14 / 28 |
    """
    rows = (
        f"| {zone.name} | {zone.below:g} | {f'{zone.next_dose:g} x for {zone.next_days}' if zone.next_days else '-'} "
        f"| {zone.weekly:g} / {zone.weekly_again:g} | {zone.test_after} / {zone.test_after_again} |"
        for zone in ZONES
    )
    head = "| zone | INR below | daily dose, days | weekly dose, first / again | next test, first / again |"
    return "\n".join((head, "|---|---|---|---|---|", *rows))
