"""One reader in a process of its own, guided by the lines that inputs reach: `python -m fuzz.worker READER ...`.

The parent (`fuzz.run`) starts it again when an input ends the process; that input is in the file `current`.
"""

import faulthandler
import importlib
import json
import mmap
import os
import random
import re
import resource
import sys
import time
from pathlib import Path

import atheris

import equipoise
from fuzz.engine import BYTES, LARGEST_INPUT, SECONDS, Trial, altered

# Beyond the ceiling that is measured, this one ends an allocation that would end the machine.
ROOM = 4 * BYTES

WATCHED = ["equipoise", "equipoise_studies"]


def compiled_modules() -> list[str]:
    """Return the modules of loops that Numba compiles: from the code as it is written, not as it is watched."""
    root = Path(equipoise.__file__).parent
    texts = ((path, path.read_text()) for path in root.rglob("*.py"))
    loops = (path for path, text in texts if re.search(r"^@compiled|^import numba", text, re.MULTILINE))
    return [".".join(("equipoise", *path.relative_to(root).with_suffix("").parts)) for path in loops]


def main(name: str, inputs: int, seed: int, folder: Path) -> None:
    """Try so many inputs, write how they ended, and leave."""
    with atheris.instrument_imports(include=WATCHED, exclude=compiled_modules(), enable_loader_override=False):
        reader = importlib.import_module(f"fuzz.readers.{name}")
        examples = reader.examples()
    corpus = folder / f"{name}-corpus"
    corpus.mkdir(exist_ok=True)
    for place, data in enumerate(examples):
        (corpus / f"example-{place}").write_bytes(data)
    trial = Trial(name, reader.read, folder)
    current = _shared(folder / f"{name}.current")
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, size + ROOM))
    shown = [time.monotonic()]

    def one(data: bytes) -> None:
        current[: 8 + len(data)] = len(data).to_bytes(8, "little") + data
        # Code in C hears no alarm: then the whole process ends, and the parent counts it.
        faulthandler.dump_traceback_later(3 * SECONDS, exit=True)
        trial.one(data)
        if trial.tally.inputs >= inputs or time.monotonic() - shown[0] > 2:
            shown[0] = time.monotonic()
            _write(folder / f"{name}.tally", trial)
        if trial.tally.inputs >= inputs:
            os._exit(0)

    def mutator(data: bytes, size: int, number: int) -> bytes:
        chance = random.Random(number)
        return altered(reader, data, chance)[:size] if chance.random() < 0.8 else atheris.Mutate(data, size)

    options = [f"-max_len={LARGEST_INPUT}", f"-seed={seed}", "-timeout=0", "-rss_limit_mb=0", "-handle_alrm=0"]
    # `altered` makes several changes already; five times as many would leave nothing valid.
    options.append("-mutate_depth=1")
    atheris.Setup(["fuzz", *options, "-reload=0", "-print_final_stats=0", str(corpus)], one, custom_mutator=mutator)
    atheris.Fuzz()


def _shared(path: Path) -> mmap.mmap:
    with path.open("wb+") as file:
        file.truncate(LARGEST_INPUT + 8)
        return mmap.mmap(file.fileno(), LARGEST_INPUT + 8)


def _write(path: Path, trial: Trial) -> None:
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(trial.tally.plain()))
    beside.rename(path)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
