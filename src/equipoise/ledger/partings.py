"""Where two histories part: a ledger's own, and what an export, a checkpoint or a second database knows of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from equipoise.errors import InvalidParameter, LedgerRefused, LedgerUnreachable
from equipoise.ledger.addresses import shown_path
from equipoise.ledger.book import Ledger
from equipoise.ledger.chain import Entry
from equipoise.ledger.checkpoint_table import CheckpointTable
from equipoise.ledger.names import normal_form
from equipoise.ledger.witness import (
    Evidence,
    binding,
    contradiction,
    evidence_of,
    exported,
    owner_of,
    owners_among,
    read_file,
    require_signed,
    trusted_keys,
)

# So much of a field is shown: a digest's beginning, and not all of what somebody may have written into it.
SHOWN = 24


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of comparing a history: the `faults` of it, where it parts first, and what was `confirmed`."""

    faults: tuple[str, ...]
    confirmed: tuple[str, ...]


def parting(entries: Sequence[Entry], others: Sequence[Mapping[str, Any]], place: str) -> str | None:
    """Return the first entry at which a history is not the one that was kept elsewhere, and what each says.

    None where it begins with all of the other: it may have gone on since.

    Examples
    --------
    >>> from equipoise.ledger.chain import following
    >>> from equipoise.vocabulary.facts import Budget
    >>> budget = following((), "trial", "budget", Budget(1.0))
    >>> spend = following([budget], "trial", "spend", Budget(0.1))
    >>> parting([budget], [asdict(budget)], "export.json") is None
    True
    >>> parting([budget], [asdict(budget), asdict(spend) | {"made": "now"}], "export.json")
    "the histories part at entry 2: this one ends at entry 1, and export.json has a 'spend' of epsilon '0.1', delta \
'0.0', made 'now'"
    """
    for number, other in enumerate(others, start=1):
        if number > len(entries):
            end = f"this one ends at entry {len(entries)}" if entries else "this one has no entry"
            return f"the histories part at entry {number}: {end}, and {place} has {_said(other)}"
        own = asdict(entries[number - 1])
        # A field that one of them does not have is one that it leaves empty.
        differing = [name for name in {**own, **other} if own.get(name) != other.get(name)]
        if differing:
            sides = [
                f"{name} is {_shown(own.get(name))} here and {_shown(other.get(name))} there" for name in differing
            ]
            return f"the histories part at entry {number}, of which {place} says otherwise: {'; '.join(sides)}"
    return None


def compare(ledger: Ledger, witness: str, keys: Sequence[Path] = ()) -> Comparison:
    """Compare a ledger's history with an export, a checkpoint file, or a database with checkpoints, entries or both.

    Parameters
    ----------
    ledger : Ledger
        Whose history, intact or not.
    witness : str
        A file, or a ledger's URL.
    keys : sequence of Path, optional
        Files of the public keys whose checkpoints count; else as for a spend (`trusted_keys`).
    """
    entries = _history(ledger)
    if "://" in witness:
        table = CheckpointTable(witness)
        place, text = table.shown, None
        said = evidence_of(witness, ledger.dataset) if table.exists() else ()
        others = _others(ledger, witness, must_be=not table.exists())
    else:
        place, (record, text) = witness, _read(witness)
        others = exported(record, witness) if "export_version" in record else []
        said = () if others else evidence_of(witness, ledger.dataset)
        _require_same(ledger, str(record["dataset"] if others else record["checkpoint"]["dataset"]), witness)
    if not others and not said:
        raise LedgerRefused(f"what {place} knows of {ledger.dataset!r}", "nothing", "name a witness of this dataset")
    found, confirmed = [parting(entries, others, place)], []
    if others and found == [None]:
        confirmed.append(f"begins with all {len(others)} entry(s) that {place} has, which nobody signed")
    if said:
        owner = owner_of(entries[0]) if entries else None
        trusted = trusted_keys(owner, keys)
        require_signed(said, trusted)
        found.append(_parting_of(entries, said, owners_among(trusted, owner)))
        if found[-1] is None:
            confirmed.append(f"has entry {said[0].number} as {place} has it ({said[0].made}, signed {said[0].author})")
    own = ledger.verify(text if others else None) if entries or (others and text) else ()
    return Comparison((*filter(None, found), *own), tuple(confirmed))


def _parting_of(entries: Sequence[Entry], said: Sequence[Evidence], owners: Collection[bytes]) -> str | None:
    """Return between which entries a history parts from that of checkpoints: they know some entries, not all."""
    digests = {place: entry.digest for place, entry in enumerate(entries, start=1)}
    said = binding(said, digests.get, owners)
    wrong = [one for one in said if contradiction(one, len(entries), digests.get)]
    if not wrong:
        return None
    first = min(wrong, key=lambda one: one.number)
    before = max((one.number for one in said if one.number < first.number), default=0)
    if first.number > len(entries):
        own = f"this one ends at entry {len(entries)}" if entries else "this one has no entry"
    else:
        own = f"digest is {_shown(digests[first.number])} here and {_shown(first.digest)} there"
    since = f"after entry {before} and " if before else ""
    where = f"the histories part {since}at entry {first.number} or before it"
    return f"{where}: {own}; {first.witness} has entry {first.number} ({first.made}, signed {first.author})"


def _history(ledger: Ledger) -> tuple[Entry, ...]:
    """Return the entries as they are recorded; none where the dataset is gone, which is what is to be found out."""
    try:
        return ledger.history()
    except LedgerRefused as error:
        if not error.found.startswith("none in"):  # several that the name stands for
            raise
        return ()


def _read(witness: str) -> tuple[dict[str, Any], str]:
    try:
        return read_file(witness)
    except LedgerUnreachable as error:
        remedy = "pass what `equipoise ledger export` or `equipoise ledger checkpoint` wrote"
        raise InvalidParameter(f"an export or a checkpoint at {shown_path(witness)}", error.found, remedy) from None


def _others(ledger: Ledger, witness: str, must_be: bool) -> list[dict[str, Any]]:
    """Return the entries of the dataset in a second ledger; a database of checkpoints alone has none."""
    reference = witness if "#" in witness else f"{witness}#{ledger.dataset}"
    other = Ledger(reference)
    _require_same(ledger, other.dataset, repr(other))
    try:
        return [asdict(entry) for entry in other.history()]
    except (LedgerRefused, LedgerUnreachable) as error:
        if must_be:
            remedy = "name a database with checkpoints or entries of this dataset"
            raise LedgerUnreachable(f"what {other!r} knows of {ledger.dataset!r}", error.found, remedy) from None
        return []


def _require_same(ledger: Ledger, dataset: str, place: str) -> None:
    if normal_form(dataset) != normal_form(ledger.dataset):
        remedy = "pass a checkpoint, an export or a database of this dataset"
        raise InvalidParameter(f"what {place} knows of {ledger.dataset!r}", f"one of {dataset!r:.80}", remedy)


def _said(entry: Mapping[str, Any]) -> str:
    names = ("kind", "epsilon", "delta", "made")
    kind, epsilon, delta, made = (_shown(entry.get(name)) for name in names)
    return f"a {kind} of epsilon {epsilon}, delta {delta}, made {made}"


def _shown(field: object) -> str:
    """Return a field for people: what was overwritten may hold anything, even what a terminal obeys."""
    text = repr(field)
    return text if len(text) <= SHOWN + 8 else f"{text[:SHOWN]}...'"
