"""The demonstration's page, opened in a real browser with the network cut off."""

import shutil
import subprocess
import sys

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium")
def test_the_chart_is_drawn_without_errors_or_outside_requests(tmp_path):
    program = "from equipoise.cli import main; main()"
    demo = [sys.executable, "-c", program, "demo", "--repetitions", "1", "--out", str(tmp_path / "demo")]
    subprocess.run(demo, check=True, capture_output=True)
    browser = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
        *("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"),
        *(f"--user-data-dir={tmp_path / 'profile'}", "--enable-logging=stderr", "--virtual-time-budget=10000"),
        *("--dump-dom", (tmp_path / "demo" / "index.html").as_uri()),
    ]
    done = subprocess.run(browser, check=True, capture_output=True, text=True, timeout=120)
    chart = done.stdout.split('id="chart"', 1)[1].split("<h2>The numbers", 1)[0]
    assert "<svg" in chart
    for panel in ("breast cancer (accuracy)", "digits 3-vs-5 (accuracy)", "diabetes (R2)"):
        assert panel in chart
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line or "ERR_NAME_NOT_RESOLVED" in line]
    assert complaints == []
