"""Certificates that can be read and mean nothing: every public attribute answers, or refuses like a reader."""

import inspect
import json
from collections.abc import Iterator

import pytest

from equipoise.certify.certificate import Certificate
from equipoise.errors import EquipoiseError
from stored_certificates import STORED, put

RECORDS = {record["claim"]["kind"]: record for record in (json.loads(path.read_text()) for path in STORED)}

# Made anew from others; checks and words have their own tests.
CONSTRUCTORS = {"from_json", "seal", "with_release", "verify", "faults", "explain"}
PUBLIC = [name for name in dir(Certificate) if not name.startswith("_") and name not in CONSTRUCTORS]


def places(value: object, place: tuple = ()) -> Iterator[tuple[tuple, object]]:
    """Yield the place of every list and number below a value, the first two of each list."""
    children = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, child in children:
        if isinstance(child, list | int | float):
            yield (*place, key), child
        yield from places(child, (*place, key))


def asked(certificate: Certificate, name: str) -> None:
    value = getattr(certificate, name)
    if inspect.ismethod(value):
        value()


@pytest.mark.parametrize("kind", sorted(RECORDS))
def test_every_attribute_of_a_tree_that_means_nothing_answers_or_refuses(kind):
    read = 0
    for place, value in places(RECORDS[kind]["claim"]):
        for odd in ([], [value]) if isinstance(value, list) else (0, -1):
            try:
                certificate = Certificate.from_json(json.dumps(put(RECORDS[kind], ("claim", *place), odd)))
            except EquipoiseError:
                continue
            read += 1
            for name in PUBLIC:
                try:
                    asked(certificate, name)
                except EquipoiseError:
                    pass
                except Exception as error:
                    pytest.fail(f"{name} with {place}={odd!r}: {error!r}")
    assert read > 0


def test_without_phases_there_is_no_sensitivity_and_no_claim():
    certificate = Certificate.from_json(json.dumps(put(RECORDS["phased"], ("claim", "phases"), [])))
    assert certificate.sensitivity is None
    assert certificate.faults()
