"""An export of a ledger, compared with the history that it came from."""

import json
from tempfile import TemporaryDirectory

from equipoise.ledger import Ledger, chain
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from equipoise.vocabulary.facts import Budget, Domain
from fuzz.mutation import json_values

SHARE = 2.0

mutate = json_values


def _history() -> list[chain.Entry]:
    entries = [chain.following((), "trial", "budget", Budget(1.0, 1e-6))]
    for _ in range(3):
        entries.append(chain.following(entries, "trial", "spend", Budget(0.1), "ab" * 32))
    return entries


def _recorded() -> list[chain.Entry]:
    """Return a history of this version: a budget, a spend and its outcome."""
    domain = Domain(1.0, classes=(0, 1))
    plan = issue(Request("logistic", "l2", 0.1, domain, 0.0, 40, 2, Budget(0.1), ledger="trial"))
    with TemporaryDirectory() as folder:
        ledger = Ledger(f"sqlite:///{folder}/ledger.db#trial")
        ledger.create(Budget(1.0), "basic")
        ledger.conclude(ledger.admit(plan, {"equipoise": "0.2.0"}, "ab" * 16), "failed")
        return list(ledger.history())


HISTORY, RECORDED = _history(), _recorded()


def examples() -> list[bytes]:
    """Return exports of a history without records and of one with them."""
    return [chain.export("trial", entries).encode() for entries in (HISTORY, RECORDED)]


def read(data: bytes) -> None:
    """Compare the history with it."""
    found = chain.departures("trial", HISTORY, data.decode("utf-8", "replace"))
    json.dumps(found)
