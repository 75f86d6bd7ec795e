"""An export of a ledger, compared with the history that it came from."""

import json

from equipoise.ledger import chain
from equipoise.vocabulary.facts import Budget
from fuzz.mutation import json_values

SHARE = 2.0

mutate = json_values


def _history() -> list[chain.Entry]:
    entries = [chain.following((), "trial", "budget", Budget(1.0, 1e-6))]
    for _ in range(3):
        entries.append(chain.following(entries, "trial", "spend", Budget(0.1), "ab" * 32))
    return entries


HISTORY = _history()


def examples() -> list[bytes]:
    """Return an export."""
    return [chain.export("trial", HISTORY).encode()]


def read(data: bytes) -> None:
    """Compare the history with it."""
    found = chain.departures("trial", HISTORY, data.decode("utf-8", "replace"))
    json.dumps(found)
