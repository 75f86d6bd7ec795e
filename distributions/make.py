"""`make dist`: wheels and source archives of the three distributions, built twice, installed apart and tried.

They are built from two copies of the repository's files, and must have the same bytes; so must a wheel that is made
from a source archive. Then each is installed into environments that hold nothing else, of every Python that is named
here and found on this machine (on the path, in pyenv, or with `--python`), and `smoke.py` is run in them. What was not
tried is said.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).parent
PROJECTS = {"equipoise": ".", "equipoise-verify": "verify", "equipoise-studies": "studies"}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")

# What `pip install equipoise` may take on a disk, and equipoise-verify, in bytes.
LARGEST = {"equipoise": 650 * 10**6, "equipoise-verify": 50 * 10**6}

# Every extra that one machine can use, and what a user's script is checked with.
WHOLE = "fast,files,ledger,report"

# What users come from; it works with no scikit-learn above 1.7.2.
PEER = "diffprivlib==0.6.6"


def run(*words: object, folder: Path | None = None, **settings: str) -> str:
    """Run a program and return what it prints; one that fails ends all of this, with its words."""
    # Nothing of this environment's own packages is seen by another one.
    around = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    command = [str(word) for word in words]
    done = subprocess.run(  # noqa: S603
        command, cwd=folder, env=around | settings, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def copied(place: Path) -> Path:
    """Copy the repository's files, and nothing that git ignores."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, place / name)
    return place


def built(project: Path, out: Path, *targets: str) -> None:
    """Build a project's files, as of the last commit's time."""
    epoch = run("git", "log", "-1", "--format=%ct", folder=ROOT).strip()
    chosen = [word for target in targets for word in ("-t", target)]
    run(sys.executable, "-m", "hatchling", "build", *chosen, "-d", out, folder=project, SOURCE_DATE_EPOCH=epoch)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a folder by its name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def build_all(work: Path, out: Path) -> None:
    """Build everything twice and compare; then each wheel once more, from its source archive."""
    shutil.rmtree(out, ignore_errors=True)
    places = {copied(work / "first"): out, copied(work / "second"): work / "again"}
    for tree, place in places.items():
        for folder in PROJECTS.values():
            built(tree / folder, place, "sdist", "wheel")
    first, again = map(digests, places.values())
    if first != again:
        sys.exit(f"built twice, these differ: {sorted(name for name in first if first[name] != again.get(name))}")
    for archive in sorted(out.glob("*.tar.gz")):
        with tarfile.open(archive) as opened:
            opened.extractall(work / "archives", filter="data")
        built(work / "archives" / archive.name.removesuffix(".tar.gz"), work / "wheels", "wheel")
    unlike = [name for name, digest in digests(work / "wheels").items() if first[name] != digest]
    if unlike:
        sys.exit(f"made from their source archives, these differ: {unlike}")
    (out / "SHA256SUMS").write_text("".join(f"{digest}  {name}\n" for name, digest in first.items()))
    print(f"built twice with the same bytes, and wheels from source archives as well: {', '.join(first)}")


def check_citations(out: Path) -> None:
    """Refuse a page of docs that a file of the wheel cites, and that the source archive does not have."""
    (archive,) = out.glob("equipoise-[0-9]*.tar.gz")
    with tarfile.open(archive) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    cited: set[str] = set()
    for wheel in out.glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            for name in packed.namelist():
                cited |= set(re.findall(r"docs/[\w/-]+\.(?:md|toml|svg)", packed.read(name).decode("utf-8", "ignore")))
    if cited - held:
        sys.exit(f"cited and not there: {sorted(cited - held)}")
    print(f"{len(cited)} pages are cited, and every one is in {archive.name}")


class Environment:
    """An environment with what a distribution brings, and nothing else, not even pip."""

    def __init__(self, place: Path, python: str) -> None:
        run(python, "-m", "venv", "--without-pip", place)
        self.place = place
        (self.packages,) = place.glob("lib/python*/site-packages")

    def install(self, *words: object) -> None:
        """Install with the pip of whoever runs this: wheels from here, what they need from the registry."""
        run(sys.executable, "-m", "pip", "--python", self.place, "install", "--quiet", *words)

    def size(self) -> int:
        """Return the bytes that its packages take on the disk, as `du` counts them."""
        return sum(path.lstat().st_blocks * 512 for path in self.packages.rglob("*"))

    def run(self, program: str, *words: object, folder: Path) -> str:
        """Run one of its programs."""
        programs = self.place / "bin"
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        return run(programs / program, *words, folder=folder, PATH=path, NO_COLOR="1")


def small(environment: Environment, name: str) -> str:
    """Return an environment's size in words; refuse one that is larger than it may be."""
    size = environment.size()
    if size > LARGEST[name]:
        sys.exit(f"{name} takes {size / 1e6:.0f} MB, and may take {LARGEST[name] / 1e6:.0f}")
    return f"{size / 1e6:.0f} MB"


def lowest() -> str:
    """Return the lowest version of everything that the plain distribution asks for, as constraints."""
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return "".join(f"{name}=={version}.*\n" for name, version in (re.split(">=|,", line)[:2] for line in asked))


def tried(python: str, out: Path, work: Path, oldest: bool) -> Iterator[str]:
    """Yield what was tried with one Python, in words."""
    wheels = {name: next(out.glob(f"{name.replace('-', '_')}-[0-9]*.whl")) for name in PROJECTS}
    releases = work / "releases"
    releases.mkdir(parents=True)

    plain = Environment(work / "plain", python)
    plain.install(wheels["equipoise"])
    plain.run("python", HERE / "smoke.py", "plain", folder=releases)
    yield f"equipoise alone ({small(plain, 'equipoise')}): the README's first minute, train, save, verify, demo"

    if oldest:
        (work / "lowest.txt").write_text(lowest())
        low = Environment(work / "low", python)
        low.install("--constraint", work / "lowest.txt", wheels["equipoise"])
        (work / "low-releases").mkdir()
        low.run("python", HERE / "smoke.py", "plain", folder=work / "low-releases")
        yield "equipoise alone, with the lowest versions that it allows: the same"
        low.install("--constraint", work / "lowest.txt", PEER)
        low.run("python", HERE / "smoke.py", "moving", folder=work / "low-releases")
        yield f"equipoise beside {PEER}: the notebook of docs/from-diffprivlib.md"

    whole = Environment(work / "whole", python)
    # Of this one no size is told, and compiling all of it takes minutes.
    whole.install("--no-compile", f"{wheels['equipoise']}[{WHOLE}]", "mypy")
    whole.run("python", HERE / "smoke.py", "whole", folder=releases)
    whole.run("python", HERE / "user.py", folder=releases)
    whole.run("mypy", "--strict", "--no-incremental", HERE / "user.py", HERE / "mistakes.py", folder=releases)
    yield f"equipoise[{WHOLE}]: pages, SGD, Parquet, a ledger; mypy --strict of a user's script, and of mistakes in one"

    checker = Environment(work / "checker", python)
    checker.install(wheels["equipoise-verify"])
    for release in sorted(path.parent for path in releases.glob("*/MANIFEST.sha256")):
        checker.run("equipoise-verify", release, folder=releases)
    yield f"equipoise-verify alone ({small(checker, 'equipoise-verify')}): every release of the two above"

    whole.install("--no-compile", wheels["equipoise-verify"], wheels["equipoise-studies"], wheels["equipoise"])
    whole.run("python", HERE / "smoke.py", "studies", folder=releases)
    yield "equipoise-studies beside both: its list of studies"


def answer(*words: str) -> str:
    """Return what a program prints; nothing where it is missing or fails."""
    if shutil.which(words[0]) is None:
        return ""
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() if done.returncode == 0 else ""


def python_of(version: str, named: list[str]) -> str | None:
    """Return a Python of a version: one that was named, the path's, or the newest that pyenv has.

    What pyenv puts on the path for a version that is not chosen does not run, so each is asked for its version.
    """
    prefix = answer("pyenv", "prefix", version)
    for python in [*named, f"python{version}", *([f"{prefix}/bin/python"] if prefix else [])]:
        if answer(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])") == version:
            return shutil.which(python)
    return None


def main() -> None:
    """Build, then try with every Python that is there; say which are not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder for what is built")
    parser.add_argument("--python", action="append", default=[], help="a Python that neither the path nor pyenv has")
    parser.add_argument("--only-build", action="store_true", help="install and try nothing")
    asked = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        build_all(work / "builds", asked.out.resolve())
        check_citations(asked.out)
        if asked.only_build:
            return
        found = {version: python_of(version, asked.python) for version in PYTHONS}
        for version, python in found.items():
            if python is None:
                print(f"Python {version}: neither named nor on the path nor in pyenv, not tried")
                continue
            # The lowest versions have wheels for the oldest Python alone.
            for line in tried(python, asked.out.resolve(), work / version, version == PYTHONS[0]):
                print(f"Python {version}: {line}")
            shutil.rmtree(work / version)


if __name__ == "__main__":
    main()
