"""The pool of settings on which every theorem is tried, apart from the theorems: one file a theme in `settings/`.

A theme has a function `settings`, which yields names and settings. Where more rows are more than a larger number, as
with public sizes or a number of steps, it also has `with_more_rows`, which yields a setting with more and more of them.
A new file is found by itself.
"""

import dataclasses
import functools
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

from equipoise.certify.theorems import Theorem
from equipoise.vocabulary.facts import Setting
from equipoise.vocabulary.methods import method_named

FOLDER = Path(__file__).parent / "settings"


@dataclasses.dataclass(frozen=True)
class Case:
    """A setting with its theme and name, and how the same has more rows."""

    name: str
    setting: Setting
    with_more_rows: Callable[[Setting], Iterator[Setting]]


def only_more_rows(situation: Setting) -> Iterator[Setting]:
    """Yield the setting with more and more rows, and everything else as it is."""
    for factor in (2, 3, 10, 1000):
        yield dataclasses.replace(situation, n_samples=situation.n_samples * factor)


@functools.cache
def cases(folder: Path = FOLDER) -> tuple[Case, ...]:
    """Return every case of every theme in a folder."""
    found: dict[str, Case] = {}
    for path in sorted(folder.glob("*.py")):
        specification = importlib.util.spec_from_file_location(f"contracts.settings.{path.stem}", path)
        theme = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(theme)
        with_more_rows = getattr(theme, "with_more_rows", only_more_rows)
        for name, situation in theme.settings():
            full = f"{path.stem}: {name}"
            assert full not in found, f"two settings are called {full!r}: rename one in {path}"
            found[full] = Case(full, situation, with_more_rows)
    return tuple(found.values())


def subject_of(situation: Setting) -> str:
    """Return what a theorem must be about to speak of a setting: minimisers, descents, or a method by its name."""
    if situation.recipe.method:
        return method_named(situation.recipe.method).name
    return "descent" if situation.recipe.descends else "minimiser"


def about(subject: str) -> list[Case]:
    """Return the cases of one subject."""
    return [case for case in cases() if subject_of(case.setting) == subject]


def cases_of(theorem: Theorem) -> list[Case]:
    """Return the cases to which a theorem applies; a theorem without any asks for a file."""
    found = [case for case in about(theorem.about) if theorem.bound(case.setting).applies]
    assert found, (
        f"{theorem.id} applies to no setting of the pool: write tests/contracts/settings/<theme>.py, whose function "
        f"settings() yields a name and a Setting about {theorem.about!r} for which every hypothesis holds"
    )
    return found
