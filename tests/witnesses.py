"""Witnesses: pairs of tables that attain a bound, or come as near as a page says; the site draws what tests found.

A test that has a bound and a movement in hand notes both. Where EQUIPOISE_WITNESSES names a folder, as `make docs`
does, they are kept there, and the proof page shows them.
"""

import json
import os
from pathlib import Path

KEPT = "EQUIPOISE_WITNESSES"


def noted(theorem: str, bound: float, attained: float, what: str) -> None:
    """Keep how far a pair of neighbouring tables moved, beside what the theorem allows, for the theorem's page."""
    folder = os.environ.get(KEPT)
    if folder:
        path = Path(folder) / f"{theorem}.json"
        kept = json.loads(path.read_text()) if path.exists() else []
        test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
        path.write_text(json.dumps([*kept, {"bound": bound, "attained": attained, "what": what, "test": test}]))
