"""Everything that an observer has of a fit or of a command, and whether two observers could tell their tables apart."""

import contextlib
import io
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.certify.certificate import Certificate

# What is released through noise: these may differ between neighbours, their types and shapes may not.
NOISY = {"coef_", "intercept_", "best_params_", "column_"}


@dataclass(frozen=True)
class Observation:
    """How something ended and all that it left."""

    ending: str
    text: str
    warned: tuple[str, ...]
    printed: tuple[str, str]
    attributes: tuple[str, ...] = ()
    certificate: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    exit_code: int | None = None


def differences(first: Observation, second: Observation) -> list[str]:
    """Return by what two observers can tell their tables apart, in words."""
    names = [field.name for field in fields(Observation)]
    pairs = ((name, getattr(first, name), getattr(second, name)) for name in names)
    return [f"{name}: {one!r} / {two!r}" for name, one, two in pairs if one != two]


def observed(act: Callable[[], Any], folder: Path | None = None) -> Observation:
    """Return what is seen when something is done: its result is a fitted object, an exit code, or nothing."""
    result, ending, text = None, "answer", ""
    with warnings.catch_warnings(record=True) as warned, _captured() as printed:
        warnings.simplefilter("always")
        try:
            result = act()
        except Exception as error:
            ending, text = f"{type(error).__module__}.{type(error).__qualname__}", _whole_text(error)
    certificate = getattr(result, "certificate_", None)
    return Observation(
        ending=ending,
        text=text,
        warned=tuple(f"{each.category.__name__}: {each.message}" for each in warned),
        printed=(printed[0], printed[1]),
        attributes=() if result is None or isinstance(result, int) else tuple(_attributes(result)),
        certificate=_public(certificate) if isinstance(certificate, Certificate) else (),
        files=() if folder is None else tuple(_files(folder)),
        exit_code=result if isinstance(result, int) else None,
    )


def _whole_text(error: BaseException) -> str:
    """Return an exception's text with that of the causes that a traceback would show."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return f"{error}" if cause is None else f"{error} <- {type(cause).__name__}: {_whole_text(cause)}"


@contextlib.contextmanager
def _captured() -> Iterator[list[str]]:
    """Collect what is printed, by Python and by libraries that write to the process's own outputs."""
    found: list[str] = []
    streams = io.StringIO(), io.StringIO()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        files, kept = (output, errors), (os.dup(1), os.dup(2))
        for number, file in zip((1, 2), files, strict=True):
            os.dup2(file.fileno(), number)
        try:
            with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
                yield found
        finally:
            for number, saved in zip((1, 2), kept, strict=True):
                os.dup2(saved, number)
                os.close(saved)
            for stream, file in zip(streams, files, strict=True):
                file.seek(0)
                found.append(stream.getvalue() + file.read().decode(errors="replace"))


def _attributes(value: Any) -> Iterator[str]:
    """Yield every attribute's name with its type and shape, and its value where that must be public."""
    for name, held in sorted(vars(value).items()):
        shape = f"{held.dtype}{held.shape}" if isinstance(held, np.ndarray) else ""
        shown = "" if name in NOISY or isinstance(held, Certificate) else _shown(held)
        yield f"{name}: {type(held).__name__}{shape} {shown}"


def _shown(held: Any) -> str:
    return f"{held.tolist()}" if isinstance(held, np.ndarray) else repr(held)


def _public(certificate: Certificate) -> tuple[str, ...]:
    """Return what a certificate says before any row is read; what it adds afterwards was released through noise."""
    return (
        certificate.planned_digest,
        certificate.kind,
        certificate.grade,
        *certificate.caveats,
        repr(certificate.terms),
    )


def _files(folder: Path) -> Iterator[str]:
    yield from sorted(f"{path.relative_to(folder)}" for path in folder.rglob("*"))
