"""An HTML page on paper, by the browser that is there: nothing is fetched, and nothing is installed."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from equipoise.errors import MissingExtra

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge")

# Seconds that a browser gets for a page without scripts.
PATIENCE = 120


def printed(page: str) -> bytes:
    """Return a page without scripts as PDF."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    remedy = "install chromium, or take --format html and print it"
    if found is None:
        raise MissingExtra("a card as PDF", f"no browser among {', '.join(BROWSERS)}", remedy)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "card.html", Path(folder) / "card.pdf"
        source.write_text(page, encoding="utf-8")
        quiet = ("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
        # The page is our own, holds no script and asks for nothing: without a sandbox it also prints as root.
        alone = ("--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}/profile")
        command = (found, *quiet, *alone, "--no-pdf-header-footer", f"--print-to-pdf={target}", source.as_uri())
        try:
            # Its words are ours: a program by its name, and two files in a folder that we made.
            subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)  # noqa: S603
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise MissingExtra("a card as PDF", f"a browser that failed ({type(error).__name__})", remedy) from None
