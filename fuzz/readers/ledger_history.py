"""The rows of a ledger's table, which anyone with the file can overwrite, and the grounds beside them."""

import json
from dataclasses import asdict, fields

from equipoise.ledger import book, chain, walk
from equipoise.ledger.statements import paid_by
from fuzz.mutation import json_values
from fuzz.readers.ledger_export import HISTORY, RECORDED

SHARE = 2.0

mutate = json_values


def examples() -> list[bytes]:
    """Return a history with grounds, and one with records."""
    grounds = json.dumps({"members": [["law", "gaussian"]], "software": {"equipoise": "0.2.0"}})
    histories = (HISTORY, RECORDED)
    return [json.dumps({"entries": [asdict(entry) for entry in one], "grounds": grounds}).encode() for one in histories]


def read(data: bytes) -> None:
    """Look for faults in the entries; a column of a database holds a number, a text or nothing."""
    try:
        record = json.loads(data)
        entries = [[row[field.name] for field in fields(chain.Entry)] for row in record["entries"]]
        grounds = record["grounds"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    scalar = (str, int, float, type(None))
    if not all(isinstance(value, scalar) for entry in entries for value in entry):
        return
    history = [chain.Entry(*entry) for entry in entries]
    walk.faults(history)
    paid_by(history)
    for entry in history:
        book._reasons(entry, grounds if isinstance(grounds, str) else "")
