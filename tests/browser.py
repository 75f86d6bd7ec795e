"""Reads a page, and opens it in a real browser with the network cut off: what it drew, what it complained about."""

import html
import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium")

PHONE = 375

POLICY = r'<meta http-equiv="Content-Security-Policy"[^>]*>'

# Says whether a name managed to run as a program.
WATCH = "<script>window.alert = window.intruder = () => { window.intruded = true; };</script>"

# Tells the page around it what became of this one.
MEASURE = """<script>addEventListener('load', () => setTimeout(() => {
  document.querySelectorAll('details').forEach(place => { place.open = true; });
  const cut = [...document.querySelectorAll('.wide, pre')].filter(place => place.scrollWidth > place.clientWidth + 1);
  const root = document.documentElement, body = document.body, places = [...document.querySelectorAll('[data-chart]')];
  const drawn = places.filter(place => place.querySelector('svg'));
  const words = cut.map(place => place.textContent.slice(0, 80));
  parent.postMessage(JSON.stringify({inner: innerWidth, cut: words, wide: Math.max(root.scrollWidth, body.scrollWidth),
    drawn: drawn.map(place => place.id), widest: Math.max(...drawn.map(place => place.scrollWidth)),
    requests: performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !/^data:/.test(name)),
    background: getComputedStyle(body).backgroundColor, intruded: window.intruded === true,
    ink: getComputedStyle(document.querySelector('svg text')).fill}), '*');
}, 3000));</script>"""

# A browser window cannot be as narrow as a phone; a frame in it can.
FRAME = """<!doctype html><title>frame</title><link rel="icon" href="data:,"><style>body { margin: 0; }</style><script>
addEventListener('message', event => { document.documentElement.dataset.measured = event.data; });
</script><iframe src="PAGE" style="width: WIDTHpx; height: 840px; border: 0"></iframe>"""


@dataclass(frozen=True)
class Visit:
    """The page as the browser left it, the lines it logged, and what it measured of itself."""

    dom: str
    complaints: list[str]
    measured: dict[str, Any] = field(default_factory=dict)

    def drawn(self, name: str) -> str:
        """Return what stands where the chart of this name belongs."""
        return self.dom.split(f'id="{name}"', 1)[1].split("<figcaption", 1)[0]


def visit(page: Path, *, dark: bool = False) -> Visit:
    """Open a page as it is."""
    with tempfile.TemporaryDirectory() as profile:
        command = [
            *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
            *("--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}", "--enable-logging=stderr"),
            *("--window-size=1280,900", "--virtual-time-budget=10000"),
            *(("--blink-settings=preferredColorScheme=0",) if dark else ()),
            *("--dump-dom", page.as_uri()),
        ]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    logged = [line for line in done.stderr.splitlines() if "CONSOLE" in line or "net::ERR_" in line]
    found = re.search(r'data-measured="([^"]*)"', done.stdout)
    return Visit(done.stdout, logged, json.loads(html.unescape(found.group(1))) if found else {})


def measure(page: Path, width: int = 1280, *, dark: bool = False) -> Visit:
    """Open a copy of a page without its security policy, so that escaping alone has to hold and it can be measured."""
    text = page.read_text(encoding="utf-8")
    bare = re.sub(POLICY, WATCH, text, count=1)
    assert bare != text
    # A hostile name may say "</body>" as well: the last one is ours.
    head, tail = bare.rsplit("</body>", 1)
    copy, frame = (page.with_name(f"{page.stem}-{kind}-{width}.html") for kind in ("copy", "frame"))
    copy.write_text(f"{head}{MEASURE}</body>{tail}", encoding="utf-8")
    frame.write_text(FRAME.replace("PAGE", copy.as_uri()).replace("WIDTH", str(width)), encoding="utf-8")
    return visit(frame, dark=dark)


class Outline(HTMLParser):
    """Elements of a page in order, and the text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._silent = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._silent = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._silent = False

    def handle_data(self, data):
        if not self._silent:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))
