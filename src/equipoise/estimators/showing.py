"""What an estimator shows of its parameters: an address without its password, wherever scikit-learn prints it.

An estimator refuses an address with a password when it plans, but exists before that, and a notebook shows it at once.
scikit-learn prints an estimator, and those inside of pipelines and searches, by asking each for its parameters; who
asks is seen on the stack alone. Everybody else gets them as they were given, so that clones are equal.
"""

import sys
from types import FrameType
from typing import Any


def as_asked(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that `get_params` found, as whoever called it may see them.

    Examples
    --------
    >>> as_asked({"ledger": "postgresql://officer:secret@localhost/budgets#trial"})
    {'ledger': 'postgresql://officer:secret@localhost/budgets#trial'}
    """
    if not _printing():
        return parameters
    hidden = {name: without_password(value) for name, value in parameters.items() if name.split("__")[-1] == "ledger"}
    return {**parameters, **hidden}


def without_password(ledger: object) -> object:
    """Return a ledger's reference with asterisks for its password, or for all of an address that is mistyped.

    Examples
    --------
    >>> without_password("postgresql://officer:secret@localhost/budgets#trial"), without_password("people")
    ('postgresql://officer:***@localhost/budgets#trial', 'people')
    """
    # Neither a name nor a file needs the database toolkit to be shown.
    if not isinstance(ledger, str) or (ledger.isascii() and not set(":@;&=#") & set(ledger)):
        return ledger
    if ledger.isascii() and ledger.startswith("sqlite:///") and not set(":@;&=?%") & set(ledger[len("sqlite:///") :]):
        return ledger
    try:
        from equipoise.ledger.store import shown_reference
    except ImportError:  # an estimator can be printed wherever it can be made
        return "***"
    return shown_reference(ledger)


def _printing() -> bool:
    """Tell whether scikit-learn asks for parameters to print them, on a console or on a page."""
    frame: FrameType | None = sys._getframe(2)
    # What an estimator contains is asked by the estimator, in its own name.
    while frame is not None and frame.f_code.co_name in ("get_params", "_get_params"):
        frame = frame.f_back
    if frame is None:
        return False
    printer = str(frame.f_globals.get("__name__", "")) == "sklearn.utils._pprint"
    return printer or frame.f_code.co_name == "_get_params_html"
