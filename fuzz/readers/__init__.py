"""One file a reader: `examples` that are valid, a way to alter them (`mutate`), and `read`, what users call.

`SHARE` of a reader says how much of a long run it gets, where that is not 1.
"""

import importlib
import pkgutil
from types import ModuleType


def members() -> dict[str, ModuleType]:
    """Return every reader by its name."""
    names = sorted(entry.name for entry in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}
