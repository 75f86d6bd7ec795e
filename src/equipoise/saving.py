"""`equipoise.save`: a released folder, and on its page, if asked for, what the laboratory's attack reaches.

The folder is `artifact`'s and the attack `lab`'s, and neither of them knows the other: they meet here.
"""

import os

from equipoise.artifact import folder as released
from equipoise.errors import InvalidParameter
from equipoise.estimators.base import PrivateEstimator


def save(model: PrivateEstimator, folder: str | os.PathLike[str], force: bool = False, attack: bool = False) -> None:
    """Write a fitted estimator as a released folder, whole or not at all.

    A search is saved as the model that it found, with the certificate of the whole search. Where the extra `report` is
    not installed the folder has no page, page.json says so, and so does a warning.

    Parameters
    ----------
    model : estimator
        Fitted.
    folder : path
        Where it is written.
    force : bool
        Whether an earlier release there is replaced.
    attack : bool
        Whether the page shows, beside the bound, what a membership attack reaches: on rows simulated from the
        certificate, never on others. It trains 80 models of the same kind, outside of any account.
    """
    if not isinstance(attack, bool):
        found, remedy = f"a {type(attack).__name__}", "pass attack=True, which attacks simulated rows"
        raise InvalidParameter("attack, True or False, and no finding of one's own", found, remedy)
    if not attack:
        released.save(model, folder, force)
        return
    # The laboratory is loaded only where something is measured.
    from equipoise.lab.membership_attack import membership

    released.save(model, folder, force, membership)
