"""Opens a page in a real browser with the network cut off, and tells what it drew and what it complained about."""

import html
import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium")

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}

# Says afterwards how wide the page became, and whether a name managed to run as a program.
WATCH = (
    "<script>window.alert = window.intruder = () => { document.documentElement.dataset.intruded = 'yes'; };</script>"
)
MEASURE = """<script>addEventListener('load', () => setTimeout(() => {
  const root = document.documentElement, body = document.body;
  root.dataset.measured = JSON.stringify({inner: innerWidth, wide: Math.max(root.scrollWidth, body.scrollWidth),
    background: getComputedStyle(body).backgroundColor,
    ink: getComputedStyle(document.querySelector('svg text')).fill});
}, 3000));</script>"""


@dataclass(frozen=True)
class Visit:
    """The page as the browser left it, the lines it logged, and what the page measured of itself."""

    dom: str
    complaints: list[str]
    measured: dict[str, Any] = field(default_factory=dict)

    @property
    def intruded(self) -> bool:
        return "data-intruded=" in self.dom

    def drawn(self, name: str) -> str:
        """Return what stands where the chart of this name belongs."""
        return self.dom.split(f'id="{name}"', 1)[1].split("<figcaption", 1)[0]


def visit(page: Path, size: str = "desktop", *, dark: bool = False) -> Visit:
    """Open a page as it is."""
    width, height = SIZES[size]
    with tempfile.TemporaryDirectory() as profile:
        command = [
            *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
            *("--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}", "--enable-logging=stderr"),
            *(f"--window-size={width},{height}", "--virtual-time-budget=10000"),
            *(("--blink-settings=preferredColorScheme=0",) if dark else ()),
            *("--dump-dom", page.as_uri()),
        ]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    logged = [line for line in done.stderr.splitlines() if "CONSOLE" in line or "net::ERR_" in line]
    found = re.search(r'data-measured="([^"]*)"', done.stdout)
    return Visit(done.stdout, logged, json.loads(html.unescape(found.group(1))) if found else {})


def visit_without_policy(page: Path, size: str = "desktop", *, dark: bool = False) -> Visit:
    """Open a copy whose security policy is gone, so that escaping alone has to hold and the page can be measured."""
    text = page.read_text(encoding="utf-8")
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', WATCH, text, count=1)
    assert bare != text
    # A hostile name may say "</body>" as well: the last one is ours.
    head, tail = bare.rsplit("</body>", 1)
    copy = page.with_name(f"{page.stem}-without-policy.html")
    copy.write_text(f"{head}{MEASURE}</body>{tail}", encoding="utf-8")
    return visit(copy, size, dark=dark)
