"""How what was paid for reaches its folder."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.errors import OutputRefused, ReleaseNotWritten

if TYPE_CHECKING:
    from equipoise.artifact.staging import Staging


def publish(place: "Staging", files: dict[str, str], out: Path) -> None:
    """Write the files; what was paid for is kept elsewhere rather than lost."""
    from equipoise.artifact.folder import staging

    try:
        place.publish(files)
    except OutputRefused as error:
        try:
            kept = Path(tempfile.mkdtemp(prefix="equipoise-")) / out.name
            with staging(kept) as rescue:
                rescue.publish(files)
        except OSError:
            remedy = "the budget is spent and the release is lost: free some space before the next one"
        else:
            remedy = f"the release was kept: move {kept} to where it belongs"
        raise ReleaseNotWritten(error.asked, error.found, remedy) from None
