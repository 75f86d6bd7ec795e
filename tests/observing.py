"""Everything that an observer has of a fit or of a command, and whether two observers could tell their tables apart."""

import contextlib
import io
import json
import os
import re
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.certify.certificate import Certificate, _digest
from equipoise.certify.folder import CERTIFICATE, MANIFEST, MODEL, manifest_of

# What is released through noise: these may differ between neighbours, their types and shapes may not.
NOISY = {"coef_", "intercept_", "best_params_", "column_"}
# The same in files: what a fit appends to a claim, and a model's weights.
NOISY_FIELDS = {"released", "coefficients", "intercepts", "selected"}
# Random names, digests of what is noisy, and times; whatever else is written is compared to the letter.
RANDOM = ((r"\b[0-9a-f]{64}\b", "a digest"), (r"\b[0-9a-f]{32}\b", "a random name"))
TIMES = ((r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?", "a time"),)


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
    before = {} if folder is None else _contents(folder)
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
        files=() if folder is None else tuple(_files(folder, before)),
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
    """Return all that a certificate says; of what was released through noise, its form."""
    follows = certificate.digest == _digest(certificate.terms, certificate.claim)
    return certificate.planned_digest, f"digest follows: {follows}", _said(certificate.to_json())


def _said(text: str) -> str:
    """Return a JSON text without the values that noise made, and without random names, digests and times."""
    return _veiled(json.dumps(_without_noise(json.loads(text)), sort_keys=True))


def _without_noise(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _form(held) if name in NOISY_FIELDS else _without_noise(held) for name, held in value.items()}
    return [_without_noise(held) for held in value] if isinstance(value, list) else value


def _form(value: Any) -> Any:
    """Return a value whose numbers are gone: how many there are, under which names, is not noisy."""
    if isinstance(value, dict):
        return {name: _form(held) for name, held in value.items()}
    if isinstance(value, list):
        return [_form(held) for held in value]
    return "a number" if isinstance(value, int | float) else value


def _veiled(text: str) -> str:
    for pattern, word in (*RANDOM, *TIMES):
        text = re.sub(pattern, word, text)
    return text


def _contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _files(folder: Path, before: dict[Path, bytes]) -> Iterator[str]:
    """Yield every name below a folder, and what the files say that were not there before."""
    after = _contents(folder)
    yield from sorted(f"{path.relative_to(folder)}" for path in folder.rglob("*"))
    for path, content in sorted(after.items()):
        if before.get(path) != content:
            yield f"{path.relative_to(folder)} says {_text(path, content)}"


def _text(path: Path, content: bytes) -> str:
    if content.startswith(b"SQLite format 3\0"):
        with contextlib.closing(sqlite3.connect(path)) as ledger:
            return _veiled("\n".join(ledger.iterdump()))
    text = content.decode(errors="backslashreplace")
    if path.name in (CERTIFICATE, MODEL):
        with contextlib.suppress(ValueError):
            return _said(text)
    if path.name == MANIFEST:
        others = {other.name: other.read_bytes() for other in path.parent.iterdir()}
        return f"what follows: {text == manifest_of(others)}"
    return _veiled(text)
