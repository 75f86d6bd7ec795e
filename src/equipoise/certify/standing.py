"""How each theorem is known on which a claim rests: checked by a machine, proved on paper, or cited.

The words are this version's, whoever made a certificate and whenever. docs/machine-checked.md says what of a theorem
on paper a machine has checked as well; tests compare this table with the Coq files and the catalogue.
"""

from .claims import Claim

MACHINE, PAPER, CITED = "machine-checked", "proved on paper", "cited"

# The theorem of proofs/ that states all of what certificates use, over the real numbers.
_COQ = """A1=Minimisers.A1_gradients B1=Descents.B1 B2=Averages.B2 B3=Descents.B3 B4=Descents.B4 D2=Independent.D2
    E5=Choice.E5_chunks F1=ElasticNet.F1 K1=Phases.K1 M1=Coins.M1 N3=Privacy.N3 N4=Discrete.N4 N6=Choice.N6
    Q1=Choice.Q1 ball=Minimisers.ball ball.descent=Reach.ball_descent"""
MACHINE_CHECKED = dict(entry.split("=") for entry in _COQ.split())

ON_PAPER = """A2 A4 B5 B6 B7 B9.heavy-ball B9.nesterov C1 C1.random C3 C5 D1 D3 D6 E2 E2a E2d E2e E3a E3b E3c E4
    E6 E7 F3 G3 G4 G5 L3 M4 N1 N10 N12 N2 P1 SGD-rounding SSP bagging.clipped bagging.minimisers bootstrap
    bridge graph-convolution multi-task ranking"""

# What members rest on besides the theorems that a claim names: constants, rounding, laws, compositions, what a pure
# level says below it (N3).
BENEATH = {
    "dropout method noisy-gradient noisy-sgd objective output": "A2 M4",
    "phased sgd": "A2 B2 M4 SGD-rounding",
    "bagging.minimisers bootstrap dropout graph-convolution multi-task objective ranking": "A4",
    "dropout functional noisy-gradient objective output phased sufficient-statistics": "M4 N12",
    "choice chosen-bounds evaluation held-out looked objective post-processing private-bounds sequence stopping": "N3",
    "spherical-laplace": "D1 D6 N3",
    "laplace": "D2 N3",
    "gaussian": "D3",
    "clipped-logistic clipped-squared": "B7",
    "bridge": "bridge",
    "elastic-net": "F1",
}


def standing(theorem: str) -> str:
    """Return how a theorem is known; one that this version does not prove is cited, whoever names it.

    Examples
    --------
    >>> standing("A1"), standing("A2"), standing("novel")
    ('machine-checked', 'proved on paper', 'cited')
    """
    return MACHINE if theorem in MACHINE_CHECKED else PAPER if theorem in ON_PAPER.split() else CITED


def theorems_of(claim: Claim) -> tuple[str, ...]:
    """Return every theorem that a claim and its parts rest on, named or beneath what is named, in order, once."""
    found: set[str] = set()
    for node, named in ((node, [*node.rests_on()]) for node in claim.nodes()):
        found |= {name for family, name in named if family == "theorem"}
        found.update(*(ids.split() for names, ids in BENEATH.items() for _, name in named if name in names.split()))
        solved = (getattr(each, "passes", None) for each in (node, *getattr(node, "phases", ())))
        clip, *hides = (getattr(getattr(node, "recipe", None), part, None) for part in ("clip", "dropout", "skip"))
        found.update(["N10"] * any(passes is not None for passes in solved), ["B7"] * bool(clip), ["B6"] * any(hides))
    return tuple(sorted(found))
