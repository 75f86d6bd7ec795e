"""The frame of every study: one folder a paper, found by its name; run it, and write its page, images and claims.

A study is a folder of this package with a file `study.py` that defines `STUDY`. Nothing else has to know of it.
"""

import functools
import importlib
import importlib.util
import json
import pkgutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import equipoise_studies
from equipoise.artifact.staging import Staging
from equipoise.errors import OutputRefused, UnknownName
from equipoise_studies.claims import Claim, distinct, tally
from equipoise_studies.data import Dataset, data_folder
from equipoise_studies.study_charts import static_image
from equipoise_studies.study_page import Contents, Section, study_page

PAGE, CLAIMS = "index.html", "claims.json"

# Told what is being done, how much of it is done, and how much there is.
Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Session:
    """What a study is run with: where the datasets are, whether the grid is reduced, where runs go, whom to tell."""

    data: Path
    quick: bool
    runs: Path
    report: Report


@dataclass(frozen=True)
class Outcome:
    """What a study found: claims and the sections of its page."""

    claims: tuple[Claim, ...]
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Study:
    """A paper and how its claims are measured.

    Parameters
    ----------
    name : str
        What `equipoise reproduce` calls it.
    title, paper, notice : str
        The page's title, the paper's citation, and what a reader must not take the page for.
    run : callable
        Measures the claims.
    datasets : tuple of Dataset
        What must be in the folder before the work begins.
    """

    name: str
    title: str
    paper: str
    notice: str
    run: Callable[[Session], Outcome]
    datasets: tuple[Dataset, ...] = ()


@functools.cache
def studies() -> Mapping[str, Study]:
    """Return every study by its name.

    Examples
    --------
    >>> "intrinsic-privacy" in studies()
    True
    """
    found: dict[str, Study] = {}
    for module in pkgutil.iter_modules(equipoise_studies.__path__):
        # A folder without a study.py is not a study yet.
        if module.ispkg and importlib.util.find_spec(f"equipoise_studies.{module.name}.study") is not None:
            study: Study = importlib.import_module(f"equipoise_studies.{module.name}.study").STUDY
            found[study.name] = study
    return dict(sorted(found.items()))


def study_named(name: str) -> Study:
    """Return the study of a name.

    Examples
    --------
    >>> study_named("intrinsic privacy")
    Traceback (most recent call last):
    equipoise.errors.UnknownName: asked: a study; found: 'intrinsic privacy'; to do: pass one of: ...
    """
    try:
        return studies()[name]
    except KeyError:
        raise UnknownName("a study", repr(name), f"pass one of: {', '.join(studies())}") from None


def reproduce(
    study: Study,
    *,
    data: Path | None,
    quick: bool,
    out: Path,
    force: bool = False,
    runs: Path | None = None,
    report: Report = lambda *_: None,
) -> tuple[Claim, ...]:
    """Run a study and write its folder: page, one static image a figure, and the claims as JSON.

    The place for the folder is taken first, so that hours of work are not lost to a name that exists already.
    """
    # A study of simulations needs no folder.
    folder = data_folder(data) if study.datasets or data is not None else Path()
    for dataset in study.datasets:
        dataset.require(folder)
    _refuse_what_exists(out, force)
    with Staging(out, (CLAIMS,), force, kind="study") as place, _place_for_runs(runs) as kept:
        started = time.perf_counter()
        found = study.run(Session(folder, quick, kept, report))
        claims = distinct(found.claims)
        report("drawing the page", 0, 1)
        place.publish(_files(study, claims, found.sections, quick, time.perf_counter() - started))
        report("drawing the page", 1, 1)
    return claims


def _refuse_what_exists(out: Path, force: bool) -> None:
    if out.is_symlink() or (out.exists() and not force):
        remedy = "pass --out with another name, or --force to replace an earlier study there"
        raise OutputRefused(f"a new folder {out}", "one that exists", remedy)
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or (out / CLAIMS).is_file())):
        found = f"something else: there is no {CLAIMS} in it"
        raise OutputRefused(f"an earlier study in {out}, to replace it", found, "pass --out with another name")


@contextmanager
def _place_for_runs(runs: Path | None) -> Iterator[Path]:
    if runs is None:
        with tempfile.TemporaryDirectory(prefix="equipoise-") as folder:
            yield Path(folder)
        return
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputRefused(
            f"a folder {runs} for the runs", error.strerror or "it cannot be made", "pass another --runs"
        ) from None
    yield runs


def _files(
    study: Study, claims: tuple[Claim, ...], sections: tuple[Section, ...], quick: bool, seconds: float
) -> dict[str, str]:
    records = [claim.record() for claim in claims]
    grid = (
        "a reduced grid (--quick): maxima over few runs are too small, and claims on them are left out" if quick else ""
    )
    lead = f"{study.paper} {len(claims)} claims: {tally(claims)}."
    remarks = f"Measured in {seconds:.0f} s{f', on {grid}' if grid else ''}. The same numbers as data: {CLAIMS}."
    notice = f"Reduced grid (--quick): for a look, not for a verdict. {study.notice}" if quick else study.notice
    contents = Contents(study.title, lead, notice, records, sections, remarks)
    images = {
        f"{figure.name}.svg": static_image(figure.specification, figure.heading)
        for section in sections
        for figure in section.figures
    }
    return {PAGE: study_page(contents), CLAIMS: json.dumps(records, indent=2) + "\n", **images}
