"""A browser that is told what to do: its width, its colours, keys, and what it finds when axe-core looks at a page.

The network is cut off as in `browser`. A page's security policy is set aside, so that axe-core can be put into it; that
the policy holds is the business of other tests.
"""

import asyncio
import base64
import json
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from browser import CHROMIUM

AXE = Path(__file__).parent / "accessibility" / "node_modules" / "axe-core" / "axe.min.js"
PHONE, DESKTOP = (360, 740), (1280, 900)

needs_axe = pytest.mark.skipif(not AXE.exists(), reason="no axe-core: make tests/accessibility/.ready, which needs npm")

# Every chart that a page promises is there, and whatever can be opened is open.
SETTLED = """new Promise(resolve => { const began = Date.now(); const look = () => {
  const places = [...document.querySelectorAll('[data-chart]')];
  if (places.every(place => place.querySelector('svg')) || Date.now() - began > 20000) {
    document.querySelectorAll('details').forEach(place => { place.open = true; }); resolve(places.length);
  } else setTimeout(look, 50); }; look(); })"""

CHECK = """axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']}).then(
  found => found.violations.map(each => [each.id, each.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' ' +
    (node.any.concat(node.all)[0] || {message: ''}).message)]))"""

WIDTHS = "[document.documentElement.scrollWidth, innerWidth]"

FOCUSED = """(() => { const place = document.activeElement;
  if (place === document.body || !place) return null;
  const style = getComputedStyle(place), box = place.getBoundingClientRect();
  return [place.outerHTML.slice(0, 80), style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0
    || style.boxShadow !== 'none', box.width > 0 && box.height > 0]; })()"""


class Window:
    """One window of a browser, as its tools for developers drive it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: WebSocketClientConnection) -> None:
        self._loop, self._connection, self._count = loop, connection, 0
        self._call("Page.enable")
        self._call("Page.setBypassCSP", enabled=True)

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._count += 1
        return self._loop.run_until_complete(self._answer(self._count, method, parameters))

    async def _answer(self, number: int, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        await self._connection.write_message(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            text = await asyncio.wait_for(self._connection.read_message(), 120)
            assert text is not None, "the browser ended"
            message = json.loads(text)
            if message.get("id") == number:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result

    def evaluate(self, expression: str) -> Any:
        """Return what an expression of JavaScript gives in the page."""
        result = self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, page: Path, size: tuple[int, int] = DESKTOP, *, dark: bool = False) -> None:
        """Open a page in a window of this size, light or dark, and wait until its charts are drawn."""
        width, height = size
        # A phone as such would make room for what is too wide, by showing everything smaller.
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[feature])
        self._call("Page.navigate", url=page.resolve().as_uri())
        self.evaluate(
            "new Promise(resolve => { const look = () => document.readyState === 'complete' ? resolve() : "
            "setTimeout(look, 20); look(); })"
        )
        self.evaluate(SETTLED)

    def violations(self) -> list[Any]:
        """Return what axe-core finds against the guidelines for accessible content, level A and AA."""
        self.evaluate(AXE.read_text(encoding="utf-8") + ";0")
        found: list[Any] = self.evaluate(CHECK)
        return found

    def widths(self) -> tuple[int, int]:
        """Return how wide the page is, and how wide the window."""
        page, window = self.evaluate(WIDTHS)
        return page, window

    def tab(self) -> tuple[str, bool, bool] | None:
        """Press the tabulator, and return what has the focus then, whether that is seen, and whether it has a size."""
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        found = self.evaluate(FOCUSED)
        return None if found is None else tuple(found)

    def picture(self, path: Path) -> None:
        """Save what the whole page looks like."""
        taken = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))


def faults(window: Window, page: Path, most_stops: int = 60) -> dict[str, Any]:
    """Return what is wrong with a page for those who see, read or type otherwise; nothing where it is well.

    At either width it is looked at light and dark. The tabulator stops at places that have a size and show that they
    have the focus.
    """
    found: dict[str, Any] = {}
    for width, size in (("desktop", DESKTOP), ("phone", PHONE)):
        for colours in ("light", "dark"):
            name = f"{width}, {colours}"
            window.open(page, size, dark=colours == "dark")
            if violations := window.violations():
                found[name] = violations
            wide, inner = window.widths()
            if wide > inner:
                found[f"{name}, wider than the window"] = (wide, inner)
    for _ in range(most_stops):
        stop = window.tab()
        if stop is None:
            break
        place, seen, sized = stop
        if not seen or not sized:
            found.setdefault("focus not seen", []).append(place)
    return found


@contextmanager
def browser_window() -> Iterator[Window]:
    """Start a browser with one window, and end it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={profile}"),
            *("--remote-debugging-port=0", "--remote-allow-origins=*", "about:blank"),
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
            loop = asyncio.new_event_loop()
            try:
                yield Window(loop, loop.run_until_complete(_connected(_address(Path(profile)))))
            finally:
                browser.terminate()
                browser.wait(30)
                loop.close()


def _address(profile: Path) -> str:
    """Return the address of the window, which the browser tells once it runs."""
    place = profile / "DevToolsActivePort"
    for _ in range(1200):
        if place.exists() and place.read_text().count("\n"):
            break
        time.sleep(0.05)
    port = place.read_text().split("\n")[0]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=60) as answer:
        windows = json.load(answer)
    address: str = next(window["webSocketDebuggerUrl"] for window in windows if window["type"] == "page")
    return address


async def _connected(address: str) -> WebSocketClientConnection:
    return await websocket_connect(address, max_message_size=1 << 28)
