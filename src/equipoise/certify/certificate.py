"""The certificate: a tree of claims that anyone can check from its JSON with `vocabulary` and `certify` alone.

The file is documented in docs/certificate.md. It holds the terms (what the claim is about), the claim, a digest of
both, the release that it was carried out in, and notes, on which no claim rests. `verify` tests the claim's
inequalities; it cannot know whether noise was really drawn.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Any, Literal, TypeVar

from ..errors import CertificateUnreadable, EquipoiseError, NotCheckable
from ..vocabulary.facts import Bound, Record
from ..vocabulary.records import Of
from .claims import Claim
from .curves import WholeCurve
from .gains import Gains, gains_of
from .record import AGAIN, MOST_ENTRIES_OF_A_CERTIFICATE, build, canonical, parse, read, to_plain
from .standing import standing, theorems_of
from .withdrawn import affecting

Answer = TypeVar("Answer")

SCHEMA_VERSION = 2

# More than these, together, would take longer to check than anyone waits for an answer.
MOST_CLAIMS, MOST_PASSES = 1000, 10**6

# What neighbours are called, by what they differ in.
ADJACENCIES = {"row": "replace-one", "person": "replace-one-person"}

ABOUT_NOTES = "written for people by the program that planned; no claim rests on them"


class Terms(Record):
    """What a claim is about: neighbours, the public shape of the table, and whose word its facts rest on.

    `schema` is the SHA-256 of the schema that encodes raw rows, "" where rows are taken as given, and `vouched` who
    vouches for its facts. `public_seed` drives public coins. `seeded` noise is repeatable, for experiments only.
    `observed_classes` were found in the data and declared public by the user's word. `ledger` is the dataset id under
    which the spend was to be recorded.
    """

    n_samples: int
    n_features: int
    public_seed: int = 0
    seeded: bool = False
    observed_classes: bool = False
    ledger: str | None = None
    schema: str = ""
    vouched: str = ""
    adjacency: Literal["replace-one", "replace-one-person"] = "replace-one"

    def assumptions(self) -> Iterator[str]:
        """Yield what makes the whole claim conditional."""
        if self.observed_classes:
            yield 'the label set found in the data is public (classes="observed")'
        if self.seeded:
            yield "the seed of the noise is secret and random, and its double-precision noise is as good as exact"


class Release(Record):
    """When and by which software a plan was carried out; `entry` is left for the ledger entry that paid for it.

    `software` names Equipoise and the libraries that the noise came from, with their versions; nobody is named.
    """

    id: str
    made: str
    software: tuple[tuple[str, str], ...]
    entry: str | None = None


class Certificate(Record):
    """An immutable claim: this release is (epsilon, delta)-private under replace-one adjacency, for these reasons.

    Made by an estimator's ``plan`` or ``fit``, or from a file by `from_json`.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), alpha=0.1, mechanism="output")
    >>> certificate = model.plan(n_samples=1000, n_features=3)
    >>> certificate.epsilon, certificate.theorem, certificate.verify()
    (1.0, 'A2+A4', ())
    >>> eq.Certificate.from_json(certificate.to_json()) == certificate
    True
    """

    schema_version: int
    terms: Terms
    claim: Claim
    digest: str
    release: Release | None = None
    notes: dict[str, Any] = field(default_factory=dict, hash=False)

    # The claim: epsilon and delta of the whole release (delta = 0 is pure), the kind of release that stands for it
    # ("output", "objective", "choice", ...), and the theorem that bounds what one row can change.
    epsilon = Of[float]("claim.budget.epsilon")
    delta = Of[float]("claim.budget.delta")
    kind = Of[str]("claim.main.kind")
    theorem = Of[str]("claim.main.theorem")
    # The law that noise is drawn from; for a kind that has none, its name.
    mechanism = Of[str]("claim.main.law")
    # The penalty's strength, 0 where nothing was trained; the L2 distance that noise hides, None where a kind has none;
    # the scale of the noise; what was released on the way, or which candidate was chosen, None in a plan.
    alpha = Of[float]("claim.trained.alpha", 0.0)
    sensitivity = Of[float | None]("claim.main.sensitivity", None)
    noise_scale = Of[float]("claim.main.scale", 0.0)
    released = Of[Any]("claim.main.released", None)
    # What it is about: when datasets are neighbours, the public shape of the table, the seed of public coins.
    adjacency = Of[str]("terms.adjacency")
    n_samples = Of[int]("terms.n_samples")
    n_features = Of[int]("terms.n_features")
    public_seed = Of[int]("terms.public_seed")

    @classmethod
    def seal(cls, terms: Terms, claim: Claim, notes: dict[str, Any]) -> "Certificate":
        """Return the certificate of a plan."""
        return cls(SCHEMA_VERSION, terms, claim, _digest(terms, claim), None, {"about": ABOUT_NOTES, **notes})

    def with_release(self, claim: Claim, release: Release) -> "Certificate":
        """Return the certificate of a release: the claim with what a fit appended to it, sealed again."""
        return replace(self, claim=claim, digest=_digest(self.terms, claim), release=release)

    @property
    def planned_digest(self) -> str:
        """The digest of the plan, under which a ledger records the spend before a row is read."""
        return _digest(self.terms, self.claim, released=False)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """Every theorem's answer, with its hypotheses, as the planner noted them."""
        return tuple(read(tuple[Bound, ...], self.notes.get("bounds", []), "notes.bounds"))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a conditional claim rests on, each once."""
        own = (entry for node in self.claim.nodes() for entry in node.assumptions())
        return tuple(dict.fromkeys((*own, *self.terms.assumptions())))

    @property
    def grade(self) -> str:
        """Either "proved" or "conditional", whose assumptions are named: the weakest node decides."""
        return "conditional" if self.assumptions else "proved"

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the claim does not cover, and what else to keep in mind, as the planner noted it."""
        return tuple(read(tuple[str, ...], self.notes.get("caveats", []), "notes.caveats"))

    def curve(self) -> WholeCurve:
        """Return the privacy curve of the whole release."""
        return _meant(lambda: WholeCurve(self.claim.curve(), self.epsilon))

    def gains(self) -> Gains:
        """Return what an attacker gains at most, if the claim holds (N7)."""
        return _meant(lambda: gains_of(self.claim.curve(), self.epsilon))

    def rests_on(self) -> tuple[tuple[str, str], ...]:
        """Return what the claim rests on, named in it or beneath what is named, each with its family, once."""
        named = [member for node in self.claim.nodes() for member in node.rests_on()]
        return tuple(dict.fromkeys([*named, *(("theorem", name) for name in theorems_of(self.claim))]))

    def theorems(self) -> dict[str, str]:
        """Return every theorem that the claim rests on, and how this version knows it (docs/machine-checked.md)."""
        return {name: standing(name) for name in theorems_of(self.claim)}

    def withdrawn(self) -> tuple[str, ...]:
        """Return one line for everything it rests on that was found false since, in a version that made it."""
        return affecting(self.rests_on(), self.release.software if self.release else ())

    def faults(self) -> tuple[str, ...]:
        """Return one line for everything that does not follow from what is recorded."""
        found, nodes, n = list(self.claim.check()), tuple(self.claim.nodes()), self.n_features
        # Of a projected table the claim is about the directions.
        wide = any(getattr(node, "n_features", n) not in (n, getattr(node, "projection", 0) or n) for node in nodes)
        unit = ADJACENCIES[self.claim.unit] != self.adjacency
        guessed = any(node.classes == "observed" for node in nodes) and not self.terms.observed_classes
        if self.claim.n_samples != self.n_samples or min(self.n_samples, n) < 1 or wide or guessed or unit:
            found.append("terms: rows, columns, neighbours or classes that the claim is not about")
        if self.digest != _digest(self.terms, self.claim):
            found.append("digest: a recorded field was changed after the certificate was made")
        return tuple(found)

    def verify(self) -> tuple[str, ...]:
        """Return one line for everything that does not follow, or was withdrawn; nothing where the claim holds."""
        return (*self.withdrawn(), *self.faults())

    def explain(self) -> str:
        """Return the claim in plain words, what the planner noted, and everything that was checked."""
        # A check needs no sentence.
        from ..wording import explained

        claim, amiss = self.claim, self.verify()
        held = ((node.kind, getattr(node, "released", None)) for node in claim.nodes())
        return explained(
            self,
            claim.unit,
            amiss,
            tuple((entry.claim, entry.holds) for entry in claim.checked()),
            tuple(f"{name}: {canonical(value)}" for name, value in held if value is not None),
            {} if amiss else to_plain(self.gains()),
            {} if amiss else self.theorems(),
            read(tuple[str, ...], self.notes.get("claim", []), "notes.claim"),
            read(tuple[tuple[str, tuple[str, ...]], ...], self.notes.get("sections", []), "notes.sections"),
        )

    __str__ = explain

    def to_json(self) -> str:
        """Return the certificate as JSON text (docs/certificate.md)."""
        return json.dumps({**to_plain(replace(self, notes={})), "notes": self.notes}, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """Read a certificate; refuse a truncated, malformed, older or newer one, and say where it is wrong."""
        record = parse(text, MOST_ENTRIES_OF_A_CERTIFICATE)
        stated = record if isinstance(record, dict) else {}
        version, notes = stated.get("schema_version"), stated.pop("notes", {})
        if type(version) is int and version != SCHEMA_VERSION:
            found = f"schema {version!s:.20}: not checkable by this version"
            old = "check it with version 0.1.0, whose source CHANGELOG.md names, or release again"
            raise NotCheckable(f"schema {SCHEMA_VERSION}", found, old if version == 1 else "install a newer Equipoise")
        if type(version) is not int or not isinstance(notes, dict):
            found = f"schema_version {version!r:.80} in a {type(record).__name__}"
            raise CertificateUnreadable(f"a certificate of schema {SCHEMA_VERSION} with notes", found, AGAIN)
        try:
            made = replace(build(cls, record, "certificate"), notes=notes)
        except RecursionError:
            raise CertificateUnreadable("a tree of claims", "one that is too deep", AGAIN) from None
        # Each is checked by itself, and some pass by pass.
        passes = [node.recipe.passes if hasattr(node, "recipe") else 0 for node in made.claim.nodes()]
        if len(passes) > MOST_CLAIMS or sum(passes) > MOST_PASSES:
            found = f"{len(passes)} claims with {sum(passes):g} passes"
            raise CertificateUnreadable(f"at most {MOST_CLAIMS} claims with {MOST_PASSES:g} passes", found, AGAIN)
        return made


def _meant(answer: Callable[[], Answer]) -> Answer:
    try:
        return answer()
    except EquipoiseError:
        raise
    except (ArithmeticError, ValueError, LookupError, TypeError):
        raise CertificateUnreadable("a claim with a curve", "numbers that mean nothing", AGAIN) from None


def _digest(terms: Terms, claim: Claim, released: bool = True) -> str:
    return hashlib.sha256(f"[{SCHEMA_VERSION},{canonical(terms)},{canonical(claim, released)}]".encode()).hexdigest()
