"""The certificate of a search: several candidates are trained, one is released, and one claim covers all of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

from equipoise.errors import CertificateUnreadable, EquipoiseError
from equipoise.proof.argument import CurvePoint
from equipoise.proof.certificate import SCHEMA_VERSION, Certificate, _differences
from equipoise.proof.claim import Claim
from equipoise.proof.document import build, to_plain
from equipoise.proof.random_stopping import mean_of
from equipoise.proof.selection import LEVELS, Candidate, SearchArgument, SearchRequest, derive_search


@dataclass(frozen=True, slots=True)
class SearchCertificate(Claim):
    """An immutable claim about a whole search: training, scoring, choosing and the release of one model.

    `chosen` is the place of the released candidate: a private value that the budget paid for, None in a plan.

    Examples
    --------
    >>> from equipoise.proof.request import Request
    >>> from equipoise.proof.selection import Parameter
    >>> from equipoise.vocabulary.facts import Budget, Domain
    >>> asked = Request("squared", "l2", 0.1, Domain(1.0, labels=(0.0, 1.0)), 0.0, 400, 3, Budget(1.0))
    >>> candidates = tuple(Candidate((Parameter("alpha", a),), replace(asked, alpha=a)) for a in (0.1, 1.0))
    >>> certificate = SearchCertificate.issue(SearchRequest("chunks", candidates, 1000, 3, Budget(1.0), 200, 1.0))
    >>> certificate.epsilon, certificate.theorem, certificate.verify()
    (1.0, 'E5', ())
    >>> SearchCertificate.from_json(certificate.to_json()) == certificate
    True
    """

    schema_version: int
    request: SearchRequest
    argument: SearchArgument
    digest: str
    chosen: int | None = None

    @classmethod
    def issue(cls, request: SearchRequest) -> SearchCertificate:
        """Derive the argument for a request and seal both."""
        argument = derive_search(request)
        return cls(SCHEMA_VERSION, request, argument, _digest(SCHEMA_VERSION, request, argument))

    def with_choice(self, chosen: int) -> SearchCertificate:
        """Return the certificate with the candidate that was released, sealed again."""
        planned = self.digest if self.chosen is None else self.planned_digest
        return replace(self, digest=_with_choice(planned, chosen), chosen=chosen)

    def training(self, place: int) -> Certificate:
        """Return what the training of one candidate needs. It carries no digest: by itself it claims nothing."""
        request, argument = self.request.candidates[place].request, self.argument.trainings[place]
        return Certificate(self.schema_version, request, argument, "")

    @property
    def planned_digest(self) -> str:
        """The digest of the plan, under which a ledger records the spend before a row is read."""
        return _digest(self.schema_version, self.request, self.argument)

    @property
    def theorem(self) -> str:
        """The id of the theorem on the search: "E5" or "E6"; every training has its own."""
        return self.argument.theorem

    @property
    def mechanism(self) -> str:
        """The law by which noisy scores choose: "exponential", "laplace" or "gaussian"."""
        return self.argument.mechanism

    @property
    def noise_scale(self) -> float:
        """The scale of the noise on sums of scores, in units of ``score_bound / 2^20``."""
        return self.argument.noise_scale

    @property
    def curve(self) -> tuple[CurvePoint, ...]:
        """Points of the privacy curve of the whole search."""
        return self.argument.curve

    @property
    def public_seed(self) -> int:
        """The seed of the public coins, the split among them."""
        return self.request.public_seed

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """What was searched over."""
        return self.request.candidates

    @property
    def validation_rows(self) -> int:
        """How many rows scored, and trained nothing."""
        return self.request.validation_rows

    @property
    def score_bound(self) -> float:
        """The most that one row could say against a candidate."""
        return self.request.score_bound

    def explain(self) -> str:
        """Return the whole argument in plain words, with every number."""
        return _explained(self.request, self.argument, self.chosen)

    def __str__(self) -> str:
        """Return the explanation."""
        return self.explain()

    def verify(self) -> tuple[str, ...]:
        """Derive everything again from the request and return one line for each field that does not follow."""
        try:
            expected = derive_search(self.request)
        except EquipoiseError as error:
            return (f"request: no certificate follows from it ({error})",)
        faults = _differences("argument", to_plain(self.argument), to_plain(expected))
        if self.chosen is not None and not 0 <= self.chosen < len(self.request.candidates):
            faults.append(f"chosen: {self.chosen} is no candidate's place")
        planned = self.planned_digest
        if self.digest != (planned if self.chosen is None else _with_choice(planned, self.chosen)):
            faults.append("digest: a recorded field was changed after the certificate was made")
        return tuple(faults)

    def to_json(self) -> str:
        """Return the certificate as JSON text."""
        return json.dumps(to_plain(self), indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> SearchCertificate:
        """Read a search's certificate; refuse a truncated, malformed or newer one, and say where it is wrong."""
        try:
            record = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError, TypeError) as error:
            found = f"text that does not parse ({error})"
            raise CertificateUnreadable("a certificate in JSON", found, "ask for the whole file again") from None
        version = record.get("schema_version") if isinstance(record, dict) else None
        if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
            asked = f"a search's certificate of schema version {SCHEMA_VERSION} or older"
            remedy = "pass what SearchCertificate.to_json wrote, or install a newer Equipoise"
            raise CertificateUnreadable(asked, f"schema_version={version!r:.80}", remedy)
        return build(cls, record, "certificate")


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _digest(version: int, request: SearchRequest, argument: SearchArgument) -> str:
    record = [version, to_plain(request, keep_defaults=False), to_plain(argument, keep_defaults=False)]
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _with_choice(planned_digest: str, chosen: int) -> str:
    return hashlib.sha256(f"{planned_digest} {chosen}".encode()).hexdigest()


def _number(value: float) -> str:
    return f"{value:.6g}"


def _list(title: str, entries: tuple[str, ...]) -> str:
    return "\n".join([title, *(f"  - {entry}" for entry in entries)]) if entries else ""


def _explained(request: SearchRequest, argument: SearchArgument, chosen: int | None) -> str:
    """Return claim, split, candidates, choice, curve and caveats as text."""
    kind = "pure differential privacy" if request.budget.delta == 0 else "approximate differential privacy"
    total = f"({_number(request.budget.epsilon)}, {_number(request.budget.delta)})"
    released = "a plan" if chosen is None else f"candidate {chosen}: {request.candidates[chosen].words}"
    claim = (
        f"Claim ({argument.grade}): {total}-{kind}, of the whole search\n"
        f"  Neighbours: {argument.adjacency}; n = {request.n_samples} is public and one row is replaced.\n"
        f"  Released: the noisy weights of one candidate of {len(request.candidates)}, and which it is ({released})."
    )
    trained = (
        f"{place}{' *' if place == chosen else ''}  {candidate.words}: theorem {training.theorem} on "
        f"{argument.training_rows} rows, {training.route} with {training.mechanism} noise of scale "
        f"{_number(training.noise_scale)}"
        for place, (candidate, training) in enumerate(zip(request.candidates, argument.trainings, strict=True))
    )
    run = f"({_number(argument.run.epsilon)}, {_number(argument.run.delta)})"
    sections = (
        claim,
        _list("How", _ways(request, argument, run, total)),
        _list(f"Candidates, each trained with {run}", tuple(trained)),
        _list("Curve", tuple(f"delta({_number(p.epsilon)}) = {_number(p.delta)}" for p in argument.curve)),
        _list("Assumptions that make it conditional", argument.assumptions),
        _list("What to keep in mind", argument.caveats),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _ways(request: SearchRequest, argument: SearchArgument, run: str, total: str) -> tuple[str, ...]:
    scale = argument.noise_scale * request.score_bound / LEVELS / request.validation_rows
    scored = (
        f"{request.validation_rows} rows score: the mean of losses clipped at {_number(request.score_bound)}, which "
        f"one row moves by at most {_number(argument.score_sensitivity)}; noise of the {argument.mechanism} law, scale "
        f"{_number(scale)} on that mean"
    )
    split = f"public seed {request.public_seed} splits the rows, and no row is in two parts"
    if request.method == "chunks":
        return (
            split,
            f"E5: every candidate has {argument.training_rows} rows of its own and the whole budget on them",
            scored,
            f"a row trains one candidate or helps to choose, so the search is as private as its worst part: {total}",
        )
    law = "geometric" if request.shape == 1 else "logarithmic"
    mean = mean_of(request.shape, argument.stopping_chance)
    price = (
        f"(2 + {request.shape}) times epsilon of a run" if request.budget.delta == 0 else "Renyi divergences of a run"
    )
    return (
        split,
        f"E6: a secret number of runs, {law} with mean {_number(mean)}; each draws a candidate, trains it on the same "
        f"{argument.training_rows} rows and scores it, privately with {run}; the best score wins, the first of equals",
        scored,
        f"only the best run is seen: {price} cover all of them, {total}",
    )
