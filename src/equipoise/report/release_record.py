"""What the page of a release shows, as plain values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MenuLine:
    """One way to spend the budget that was considered; the cost is infinite where it was refused."""

    kind: str
    theorem: str
    law: str
    alpha: float
    cost: float
    verdict: str


@dataclass(frozen=True, slots=True)
class BoundLine:
    """One theorem's answer: a value, or None and what is missing."""

    theorem: str
    value: float | None
    standing: str


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of the privacy curve."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class AttackerGains:
    """The most that an attacker gains, who tells which of two records was in the table (N7).

    `guess` is the largest chance to name the right one, `advantage` the largest difference of true and false positive
    rate; `rates` and the finer `trade_off` have pairs of a rate of false positives and the largest rate of true ones.
    `mu` is the parameter of a release that is exactly Gaussian.
    """

    guess: float
    advantage: float
    rates: tuple[tuple[float, float], ...]
    trade_off: tuple[tuple[float, float], ...]
    mu: float | None = None


@dataclass(frozen=True, slots=True)
class MeasuredAttack:
    """What a membership attack reached on rows of nobody: `rows` says which ("simulated").

    `shadows` models were the attacker's own, and `targets` were attacked; `points` have a rate of false positives, the
    measured rate of true ones, and the ends of its interval at `confidence`.
    """

    rows: str
    shadows: int
    targets: int
    confidence: float
    points: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True, slots=True)
class ErrorPoint:
    """Certified bounds at one place: training loss, and population loss where there is such a bound."""

    place: float
    training: float
    population: float | None


@dataclass(frozen=True, slots=True)
class Statement:
    """One certified bound in words."""

    id: str
    value: float
    quantity: str


@dataclass(frozen=True, slots=True)
class ErrorBounds:
    """What is certified about the error of the release, and what is modelled.

    Parameters
    ----------
    over_epsilon, over_alpha : tuple of ErrorPoint
        Around the claim; empty where nothing can be certified: only noise on the weights has such bounds.
    alpha : float
        The strength of the penalty around which `over_alpha` lies.
    picked : bool
        Whether alpha is picked anew, from public facts, at every epsilon.
    norm : float
        The norm of the weights that the release is compared with.
    ceiling : float, optional
        What a model that says nothing can lose: a larger bound says nothing.
    modelled : tuple of (float, float)
        The modelled cost of the release's own kind over epsilon, which is not certified.
    statements : tuple of Statement
        Every certified bound at the claim, at the confidence of `confidence`.
    """

    over_epsilon: tuple[ErrorPoint, ...] = ()
    over_alpha: tuple[ErrorPoint, ...] = ()
    alpha: float = 0.0
    picked: bool = False
    norm: float = 0.0
    ceiling: float | None = None
    modelled: tuple[tuple[float, float], ...] = ()
    statements: tuple[Statement, ...] = ()
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class WeightLine:
    """A released weight and the standard deviation of the noise in it, or the most it can be; None if unknown."""

    name: str
    output: str
    value: float
    deviation: float | None


@dataclass(frozen=True, slots=True)
class EffectPoint:
    """What a curve says at one knot, and the standard deviation of the noise in it, or the most; None if unknown."""

    place: float
    value: float
    deviation: float | None


@dataclass(frozen=True, slots=True)
class Effect:
    """The curve of a column for one output, straight between its knots.

    Of a pair of columns it is the curve along the first for one value of the second, which `output` then says.
    """

    column: str
    output: str
    points: tuple[EffectPoint, ...]
    pair: bool = False


@dataclass(frozen=True, slots=True)
class PrivateBound:
    """Bounds of a column that were released with noise, paid for out of the same epsilon."""

    column: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class LedgerState:
    """A dataset's budget, at a time written as text."""

    dataset: str
    epsilon: float
    delta: float
    at: str = ""


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """Everything that the page of a release shows, as plain values.

    Parameters
    ----------
    model : str
        What was released, as a noun.
    epsilon, delta, grade, adjacency : float and str
        The claim.
    gains : AttackerGains
        What follows from it for whoever attacks the release.
    theorem, kind, law, procedure : str
        What proves it; where noise enters, its law, and both in a sentence.
    value_words : str
        What the values of `bounds` are.
    noise_words : str
        A sentence on the noise in a released weight.
    noise_exact : bool
        Whether the deviations of `weights` are exact, or the most that they can be.
    selected : tuple of str, optional
        The columns that were selected, where a selection was released.
    ledger_name : str, optional
        The dataset id under which the certificate records the spend.
    target, classes : str and tuple of str
        What is predicted; "" and none where it has no name, or is a number.
    release_id, made, software : str, str and tuple of (str, str)
        The release's random name, when it was made and by which versions; empty in a plan.
    attack : MeasuredAttack, optional
        What an attack reached, where one was run.
    held_out : int
        So many further rows were held out from the training, and counted by what it released.
    """

    model: str
    epsilon: float
    delta: float
    grade: str
    adjacency: str
    gains: AttackerGains
    theorem: str
    kind: str
    law: str
    procedure: str
    n_samples: int
    n_features: int
    alpha: float
    alpha_words: str
    seeded: bool
    vouched: str
    schema_digest: str
    certificate_digest: str
    explanation: str
    caveats: tuple[str, ...]
    assumptions: tuple[str, ...]
    bounds: tuple[BoundLine, ...]
    value_words: str
    curve: tuple[CurvePoint, ...]
    errors: ErrorBounds
    weights: tuple[WeightLine, ...]
    weight_words: str
    noise_words: str
    noise_exact: bool
    effects: tuple[Effect, ...] = ()
    menu: tuple[MenuLine, ...] = ()
    private_bounds: tuple[PrivateBound, ...] = ()
    private_epsilon: float = 0.0
    selected: tuple[str, ...] | None = None
    ledger_name: str | None = None
    ledger: LedgerState | None = None
    target: str = ""
    classes: tuple[str, ...] = ()
    release_id: str = ""
    made: str = ""
    software: tuple[tuple[str, str], ...] = ()
    attack: MeasuredAttack | None = None
    held_out: int = 0

    @property
    def unit(self) -> str:
        """What may be exchanged: a row, or a person with all rows."""
        return "person" if self.adjacency.endswith("person") else "row"

    @property
    def counted(self) -> str:
        """What the public number counts."""
        return f"{self.n_samples:,} rows" if self.unit == "row" else f"the rows of {self.n_samples:,} persons"

    @property
    def exchanged(self) -> str:
        """What the promise allows to be exchanged."""
        return "any one row for any other" if self.unit == "row" else "all rows of any one person for any others"

    @property
    def promised(self) -> str:
        """To whom the promise is made."""
        if self.unit == "row":
            return "The promise is for one row: a person with several rows has less."
        return "The promise is for a person, however many rows they have."
