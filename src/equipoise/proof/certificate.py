"""The certificate: a claim of privacy that anyone can replay from its JSON with `vocabulary` and `proof` alone.

The file is documented in docs/certificate.md. It holds the request (public inputs), the argument (everything that
follows from it) and a digest of both. `verify` derives the argument again; it cannot know whether noise was really
drawn.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from equipoise.errors import CertificateUnreadable, EquipoiseError, InvalidParameter
from equipoise.proof import dropout
from equipoise.proof.argument import Argument, derive
from equipoise.proof.claim import Claim
from equipoise.proof.document import build, to_plain
from equipoise.proof.dropout import ReleasedCurvature
from equipoise.proof.explanation import explain
from equipoise.proof.private_bounds import ReleasedBounds
from equipoise.proof.request import Request
from equipoise.proof.routes import Choice
from equipoise.vocabulary.facts import Bound

SCHEMA_VERSION = 1

# Two machines may differ in the last digits of exp or sqrt; the margin of 1e-9 on every bound has room for it (M4).
AGREEMENT = 1e-12


@dataclass(frozen=True, slots=True)
class Certificate(Claim):
    """An immutable claim: this release is (epsilon, delta)-private under replace-one adjacency, for these reasons.

    Made by an estimator's ``plan`` or ``fit``, or from a file by `from_json`.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget, Domain
    >>> certificate = Certificate.issue(
    ...     Request("logistic", "l2", 0.1, Domain(1.0, classes=(0, 1)), 0.0, 1000, 3, Budget(1.0)))
    >>> certificate.epsilon, certificate.theorem, certificate.verify()
    (1.0, 'A2+A4', ())
    >>> Certificate.from_json(certificate.to_json()) == certificate
    True
    """

    schema_version: int
    request: Request
    argument: Argument
    digest: str
    released_bounds: tuple[ReleasedBounds, ...] = ()
    released_curvature: ReleasedCurvature | None = None

    @classmethod
    def issue(cls, request: Request) -> Certificate:
        """Derive the argument for a request and seal both."""
        argument = derive(request)
        return cls(SCHEMA_VERSION, request, argument, _digest(SCHEMA_VERSION, request, argument, ()))

    def with_bounds(self, released: tuple[ReleasedBounds, ...]) -> Certificate:
        """Return the certificate with the private bounds that were released on the way, sealed again."""
        digest = _digest(self.schema_version, self.request, self.argument, released, self.released_curvature)
        return replace(self, digest=digest, released_bounds=released)

    def with_curvature(self, released: ReleasedCurvature) -> Certificate:
        """Return the certificate with the curvature that was released on the way, or refused, sealed again."""
        digest = _digest(self.schema_version, self.request, self.argument, self.released_bounds, released)
        return replace(self, digest=digest, released_curvature=released)

    @property
    def planned_digest(self) -> str:
        """The digest of the plan, under which a ledger records the spend before a row is read."""
        return _digest(self.schema_version, self.request, self.argument, ())

    @property
    def mechanism(self) -> str:
        """The id of the law that the noise is drawn from."""
        return self.argument.mechanism

    @property
    def theorem(self) -> str:
        """The id of the theorem that bounds the sensitivity."""
        return self.argument.theorem

    @property
    def sensitivity(self) -> float | None:
        """The bound on the L2 distance of the weights, None where a mechanism has none.

        Where a curvature was released, the bound that follows from it; before that, the worst case.
        """
        released = self.released_curvature
        return self.argument.sensitivity if released is None else released.sensitivity

    @property
    def output_sensitivity(self) -> float:
        """The sensitivity of weights that noise is added to, as bounds on risk need it; other releases are refused."""
        if self.request.private_bounds is not None:
            found = "private bounds, so that the encoding and with it the loss depend on rows"
            raise InvalidParameter("bounds on the risk of a fixed loss", found, "declare the bounds in the schema")
        if self.route != "output" or self.sensitivity is None:
            raise InvalidParameter(
                "a certificate of output perturbation", f"one of {self.route!r}", 'plan with mechanism="output"'
            )
        return self.sensitivity

    @property
    def route(self) -> str:
        """Where the noise enters: "output", "objective", "noisy-gradient", "sufficient-statistics", "functional"."""
        return self.argument.route

    @property
    def menu(self) -> tuple[Choice, ...]:
        """What ``mechanism="auto"`` chose from, cheapest first, with the modelled cost of each and the reason."""
        return self.argument.menu

    @property
    def noise_scale(self) -> float:
        """The scale of the mechanism's noise, by the released curvature where there is one."""
        released = self.released_curvature
        return self.argument.noise_scale if released is None else released.noise_scale

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """Every theorem's answer, with its hypotheses."""
        return self.argument.bounds

    @property
    def alpha(self) -> float:
        """The strength of the penalty."""
        return self.argument.alpha

    @property
    def public_seed(self) -> int:
        """The seed of the public coins."""
        return self.request.public_seed

    def explain(self) -> str:
        """Return the whole argument in plain words, with every number."""
        return explain(self.request, self.argument, self.released_bounds, self.released_curvature)

    def __str__(self) -> str:
        """Return the explanation."""
        return self.explain()

    def verify(self) -> tuple[str, ...]:
        """Derive everything again from the request and return one line for each field that does not follow."""
        try:
            expected = derive(self.request)
        except EquipoiseError as error:
            return (f"request: no certificate follows from it ({error})",)
        faults = _differences("argument", to_plain(self.argument), to_plain(expected))
        faults += _wrong_bounds(self.request, self.released_bounds)
        rule, argument = expected.procedure.curvature, self.argument
        faults += dropout.faults(rule, self.released_curvature, argument.mechanism, argument.dimension)
        if self.digest != _digest(
            self.schema_version, self.request, self.argument, self.released_bounds, self.released_curvature
        ):
            faults.append("digest: a recorded field was changed after the certificate was made")
        return tuple(faults)

    def to_json(self) -> str:
        """Return the certificate as JSON text (docs/certificate.md)."""
        return json.dumps(to_plain(self), indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate; refuse a truncated, malformed or newer one, and say where it is wrong."""
        try:
            record = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError, TypeError) as error:
            raise CertificateUnreadable(
                "a certificate in JSON", f"text that does not parse ({error})", "ask for the whole file again"
            ) from None
        if not isinstance(record, dict) or "schema_version" not in record:
            raise CertificateUnreadable(
                "a certificate with a schema_version",
                f"JSON of type {type(record).__name__} without one",
                "pass a certificate.json",
            )
        version = record["schema_version"]
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise CertificateUnreadable("a whole schema_version >= 1", f"{version!r}", "ask for the file again")
        if version > SCHEMA_VERSION:
            raise CertificateUnreadable(
                f"schema version {SCHEMA_VERSION} or older", f"schema version {version}", "install a newer Equipoise"
            )
        return build(cls, record, "certificate")


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _digest(
    version: int,
    request: Request,
    argument: Argument,
    released: tuple[ReleasedBounds, ...],
    curvature: ReleasedCurvature | None = None,
) -> str:
    record = [_text(version), _text(to_plain(request, keep_defaults=False)), _argument_text(argument)]
    # A plan releases nothing yet, and certificates without private bounds never do.
    record += [_text(to_plain(released))] if released else []
    record += [] if curvature is None else [_text(to_plain(curvature))]
    return hashlib.sha256(f"[{','.join(record)}]".encode()).hexdigest()


@lru_cache(maxsize=256)
def _argument_text(argument: Argument) -> str:
    """Return the longest part of what is digested; many releases of one study share it."""
    return _text(to_plain(argument, keep_defaults=False))


_text = partial(json.dumps, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _wrong_bounds(request: Request, released: tuple[ReleasedBounds, ...]) -> list[str]:
    """Return what is wrong with released bounds: a plan has none, a release those of every column it paid for."""
    paid = () if request.private_bounds is None else request.private_bounds.columns
    if released and tuple(bounds.column for bounds in released) != paid:
        return [f"released_bounds: not those of the columns {paid!r} that were paid for"]
    return [f"released_bounds.{bounds.column}: {fault}" for bounds in released for fault in bounds.faults()]


def _differences(path: str, recorded: object, expected: object) -> list[str]:
    if isinstance(recorded, dict) and isinstance(expected, dict):
        keys = sorted(recorded.keys() | expected.keys())
        return [line for key in keys for line in _differences(f"{path}.{key}", recorded.get(key), expected.get(key))]
    if isinstance(recorded, list) and isinstance(expected, list) and len(recorded) == len(expected):
        pairs = enumerate(zip(recorded, expected, strict=True))
        return [line for index, (old, new) in pairs for line in _differences(f"{path}[{index}]", old, new)]
    if isinstance(recorded, float) and isinstance(expected, float):
        same = recorded == expected or math.isclose(recorded, expected, rel_tol=AGREEMENT, abs_tol=0.0)
    else:
        same = type(recorded) is type(expected) and recorded == expected
    return [] if same else [f"{path}: recorded {recorded!r}, but {expected!r} follows from the request"]
