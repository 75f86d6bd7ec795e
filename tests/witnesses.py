"""Witnesses: pairs of tables that attain a bound, or come as near as a page says; the site draws what tests found.

A test that has a bound and what is attained in hand asks for the fixture `witness` and notes both. Where
EQUIPOISE_WITNESSES names a folder, as `make docs` does, they are kept there, and the proof page shows them.
"""

import json
import math
import os
from pathlib import Path

KEPT = "EQUIPOISE_WITNESSES"


def noted(theorem: str, bound: float, attained: float, what: str, over: tuple[str, float] | None = None) -> None:
    """Keep what is attained beside what the theorem allows, for the theorem's page.

    Points of a curve are noted one by one, each with what it is drawn over: `over=("epsilon", 0.5)`.
    """
    bound, attained = float(bound), float(attained)
    assert math.isfinite(bound)
    assert math.isfinite(attained)
    folder = os.environ.get(KEPT)
    if folder:
        path = Path(folder) / f"{theorem}.json"
        kept = json.loads(path.read_text()) if path.exists() else []
        test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
        found = {"bound": bound, "attained": attained, "what": what, "over": over, "test": test}
        path.write_text(json.dumps([*kept, found]))
