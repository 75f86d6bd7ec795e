"""Altering released folders as an accident or a forger would, and whether that is found."""

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.certify.folder import MANIFEST, manifest_of
from equipoise.errors import CertificateUnreadable, EquipoiseError, ReleaseUnreadable


def same_predictions(first: Any, second: Any, rows: Any) -> None:
    """Check that two models predict the same, to the last digit."""
    for method in ("predict", "predict_proba", "decision_function"):
        assert hasattr(first, method) is hasattr(second, method)
        if hasattr(first, method):
            np.testing.assert_array_equal(getattr(first, method)(rows), getattr(second, method)(rows))


def sealed(folder: Path) -> None:
    """Write the manifest anew, as a forger would."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != MANIFEST}
    (folder / MANIFEST).write_text(manifest_of(files))


def changed(folder: Path, name: str, **fields: object) -> None:
    """Put other fields into a file, and seal the folder again."""
    record = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps({**record, **fields}))
    sealed(folder)


def found(folder: Path) -> None:
    """Check that a folder is found to be altered: a fault, or a refusal to read on."""
    with contextlib.suppress(ReleaseUnreadable, CertificateUnreadable):
        assert inspect(folder).faults


def flipped(path: Path, position: int) -> None:
    """Turn one bit of a file round."""
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(bytes(data))


def every_changed_byte_is_noticed(folder: Path, name: str) -> None:
    """Flip a bit in 25 places of a file, one at a time, and look for it by checking and by opening."""
    path = folder / name
    size = path.stat().st_size
    for position in {*np.linspace(0, size - 1, min(size, 25)).astype(int).tolist()}:
        flipped(path, position)
        found(folder)
        with pytest.raises(EquipoiseError):
            eq.load(folder)
        flipped(path, position)
    assert inspect(folder).faults == ()
