"""Every byte of a signed folder counts: flipped one at a time, in files as they lie, with the signer's key at hand."""

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipoise.artifact import page_check, page_file
from equipoise.artifact.findings import contents_of
from equipoise.artifact.parts import NOT_SIGNED, NOT_TRUSTED
from equipoise.artifact.trust import Trusted
from equipoise.artifact.verdict import Against, examine
from equipoise.certify.folder import (
    CERTIFICATE,
    CHECK_FAILED,
    DONE,
    MANIFEST,
    MODEL,
    NOT_CHECKABLE,
    PAGE,
    REFUSED,
    REPORT,
    SCHEMA,
    STATEMENT,
)
from equipoise.cli.exit_codes import code_of
from equipoise.errors import EquipoiseError
from signed_releases import Hospital

WHOLE, SAMPLED = (CERTIFICATE, MANIFEST, STATEMENT), (MODEL, SCHEMA, PAGE, REPORT)


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Iterator[Hospital]:
    """A release with its whole page, which is drawn again once: what it is drawn from does not change unnoticed."""
    made = Hospital(tmp_path_factory.mktemp("house"))
    folder = made.release("release")
    drawn = page_check.drawn_again(contents_of(folder), page_file.read((folder / PAGE).read_text()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_check, "drawn_again", lambda *_: drawn)
        yield made


def answer(folder: Path, against: Against) -> int:
    """Return the exit code of a check, whether it is a verdict or a refusal."""
    try:
        return examine(folder, against).answer[0]
    except EquipoiseError as error:
        return code_of(error)


def flips(house: Hospital, place: Path, name: str, most: int | None) -> Counter[int]:
    """Flip one bit in every byte of a file, or in so many bytes drawn at random; return the exit codes."""
    folder = Path(shutil.copytree(house.folder / "release", place / "copy"))
    against = (Against(), Against(keys={house.key.public: Trusted("Office")}))
    path, chance, codes = folder / name, random.Random(name), Counter[int]()  # noqa: S311
    data = path.read_bytes()
    places = range(len(data)) if most is None else [chance.randrange(len(data)) for _ in range(most)]
    for number in places:
        altered = bytearray(data)
        altered[number] ^= 1 << chance.randrange(8)
        path.write_bytes(bytes(altered))
        # By turns with the signer's key and without: what is signed names its own key.
        found = answer(folder, against[number % 2])
        assert found in {CHECK_FAILED, REFUSED, NOT_CHECKABLE, NOT_SIGNED, NOT_TRUSTED}, (name, number, found)
        codes.update([found])
    path.write_bytes(data)
    assert [answer(folder, one) for one in against] == [DONE, DONE]
    return codes


@pytest.mark.parametrize("name", [*WHOLE, *SAMPLED])
def test_a_flipped_bit_anywhere_is_refused(house, tmp_path, name):
    assert sum(flips(house, tmp_path, name, 30).values()) == 30


@pytest.mark.statistics
@pytest.mark.parametrize("name", WHOLE)
def test_every_byte_of_certificate_manifest_and_statement_counts(house, tmp_path, name):
    codes = flips(house, tmp_path, name, None)
    print(name, sum(codes.values()), dict(codes))


@pytest.mark.statistics
@pytest.mark.parametrize("name", SAMPLED)
def test_ten_thousand_flips_of_every_other_file_are_refused(house, tmp_path, name):
    codes = flips(house, tmp_path, name, 10_000)
    print(name, sum(codes.values()), dict(codes))
