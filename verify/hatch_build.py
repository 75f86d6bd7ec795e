"""Which files equipoise-verify is made of: in the repository they lie beside it, in its source archive with it."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Shared with the distribution equipoise, under a name of their own: both install side by side.
SHARED = (
    "errors.py",
    "wording.py",
    "py.typed",
    "vocabulary",
    "certify",
    "rigorous",
    "artifact/enclosing.py",
    "artifact/findings.py",
    "artifact/page_file.py",
    "artifact/parts.py",
    "artifact/shipped.py",
    "artifact/statement.py",
    "keys/signatures.py",
)
OWN = ("__init__.py", "command.py")
# Where a source archive has what is shared, and the licence.
ARCHIVED = "shared"


class SharedFiles(BuildHookInterface):  # type: ignore[misc] # hatchling carries no types
    """Puts the files into a wheel, or into the source archive that a wheel can be made from."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say where each file comes from and goes to."""
        here = Path(self.root)
        archive = here / ARCHIVED
        sources = archive if archive.is_dir() else here.parent / "src" / "equipoise"
        licence = archive / "LICENSE" if archive.is_dir() else here.parent / "LICENSE"
        into = ARCHIVED if self.target_name == "sdist" else "equipoise_verify"
        files = {str(sources / name): f"{into}/{name}" for name in SHARED} | {str(licence): f"{into}/LICENSE"}
        if self.target_name == "wheel":
            files |= {str(here / name): f"{into}/{name}" for name in OWN}
        build_data["force_include"].update(files)
