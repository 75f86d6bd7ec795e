"""What must work where a wheel was just installed: run by `make.py` with the Python of that environment.

python smoke.py plain      the distribution alone: train, save, verify, demo; what needs an extra says so
python smoke.py whole      with its extras: pages, SGD, Parquet, a ledger
python smoke.py moving     beside diffprivlib: the page about moving from it, as a notebook
python smoke.py studies    the list of the papers' studies
"""

import importlib.metadata
import os
import re
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import equipoise as eq
from equipoise.errors import MissingExtra, PageNotDrawn

ROWS = np.random.default_rng(0).uniform(-0.5, 0.5, size=(500, 3))
LABELS = (ROWS[:, 0] > 0).astype(int)
DOMAIN = eq.Domain(row_norm=1.0, classes=(0, 1))


def program(*words: str, code: int = 0) -> str:
    """Run the command of this environment and return what it prints."""
    command = [str(Path(sys.executable).with_name("equipoise")), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == code, (command, done.stdout, done.stderr)
    return done.stdout + done.stderr


def readme() -> None:
    """Run every Python block of the README that the wheel carries as its description, as it stands."""
    text = importlib.metadata.metadata("equipoise").get_payload()
    blocks = re.findall(r"```python\n(.*?)```", str(text), re.DOTALL)
    assert blocks
    for block in blocks:
        Path("block.py").write_text(block)
        runpy.run_path("block.py", run_name="__main__")


def released(name: str) -> set[str]:
    """Train, save, open and check a model; return the files of its folder."""
    model = eq.LogisticRegression(epsilon=1.0, domain=DOMAIN).fit(ROWS, LABELS)
    assert model.certificate_.verify() == ()
    eq.save(model, name)
    np.testing.assert_array_equal(eq.load(name).predict(ROWS), model.predict(ROWS))
    assert "consistent" in program("verify", name)
    return set(os.listdir(name))


def refused(extra: str, asked: Callable[[], object]) -> None:
    """Check that something is refused with the line that installs what it needs."""
    found = ""
    try:
        asked()
    except MissingExtra as error:
        found = str(error)
    assert f'pip install "equipoise[{extra}]"' in found, (extra, found)


def plain() -> None:
    """Try the distribution alone."""
    assert importlib.metadata.version("equipoise") in program("--version")
    assert (Path(eq.__file__).parent / "py.typed").is_file()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PageNotDrawn)
        warnings.simplefilter("ignore", eq.errors.FitNotCounted)
        readme()
        assert "report.html" not in released("plain")
    # What a certificate, an error and a page cite.
    for cited, said in (("E2d+E4", "# E4"), ("docs/schema.md#what-is-a-number", "### What is"), ("Privacy.v", "(*")):
        assert said in program("docs", cited), cited
    program("example", "--out", "people")
    assert "Claim (proved)" in program("plan", "--schema", "people/people.toml", "--epsilon", "1")
    program("schema", "draft", "people/people.csv", "--out", "people/schema.toml")
    assert "no page" in program("demo", "--repetitions", "1", "--out", "demo")
    Path("table.parquet").write_bytes(b"PAR1")
    refused("fast", lambda: eq.SGDClassifier(epsilon=1.0, domain=DOMAIN).fit(ROWS, LABELS))
    refused("files", lambda: eq.open_table("table.parquet"))
    refused("ledger", lambda: eq.Ledger)
    assert "equipoise[ledger]" in program("ledger", "create", "people", "--epsilon", "3", code=2)
    assert "equipoise-studies" in program("reproduce", "intrinsic-privacy", code=2)


def whole() -> None:
    """Try what the extras bring."""
    import pyarrow
    from pyarrow import parquet

    os.environ["EQUIPOISE_HOME"] = str(Path("home").resolve())
    assert "report.html" in released("whole")
    # What was made without a page is still what it was.
    assert "consistent" in program("verify", "plain")
    assert eq.SGDClassifier(epsilon=1.0, domain=DOMAIN, random_state=0).fit(ROWS, LABELS).certificate_.verify() == ()
    parquet.write_table(pyarrow.table({"age": [31.0, 40.0]}), "people.parquet")
    assert eq.open_table("people.parquet").n_samples == 2
    program("ledger", "create", "trial", "--epsilon", "3")
    model = eq.LogisticRegression(epsilon=1.0, domain=DOMAIN, ledger="trial")
    model.plan(*ROWS.shape)
    model.fit(ROWS, LABELS)
    assert "trial" in program("ledger", "show", "trial")
    program("demo", "--repetitions", "1", "--out", "demonstration")
    assert Path("demonstration", "index.html").stat().st_size > 10_000


def moving() -> None:
    """Run the blocks of docs/from-diffprivlib.md one after the other, as its notebook has them."""
    page = (Path(eq.__file__).parent / "documents" / "docs" / "from-diffprivlib.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```\n", page, re.DOTALL | re.MULTILINE)
    assert any("diffprivlib" in block for block in blocks)
    Path("moving.py").write_text("".join(blocks))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eq.errors.FitNotCounted)
        runpy.run_path("moving.py", run_name="__main__")


def studies() -> None:
    """Try that the papers' studies are found."""
    assert "intrinsic-privacy" in program("reproduce")


if __name__ == "__main__":
    {"plain": plain, "whole": whole, "moving": moving, "studies": studies}[sys.argv[1]]()
