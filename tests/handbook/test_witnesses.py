"""Pictures of witnesses: what tests note is what the catalogue lists, and what is drawn is what was noted."""

import re
from pathlib import Path

import pytest

from handbook import witnesses

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "docs" / "proofs" / "README.md"


def test_what_the_tests_note_is_what_the_catalogue_lists(tmp_path: Path) -> None:
    # It compares, and refuses what is noted or listed alone.
    found = witnesses.found(ROOT, tmp_path / "noted")
    assert len(found) > 30
    for name, noted in found.items():
        for each in noted:
            # A row that no step meets moves nothing, and may not.
            assert each["bound"] >= 0, name
            # Attained, not exceeded, but for the rounding of the test's own arithmetic.
            assert 0 <= each["attained"] <= each["bound"] * (1 + 1e-9), (name, each)
        drawn = witnesses.drawn(noted)
        assert drawn.count("<svg") >= 1
        assert {str(each["test"]).split("[")[0] for each in noted} == set(re.findall(r"`(tests/[^`]*)`", drawn))


@pytest.mark.parametrize("change", [lambda noted: noted - {"B1"}, lambda noted: noted | {"M1"}])
def test_a_page_that_is_noted_or_listed_alone_is_refused(change) -> None:
    catalogue = CATALOGUE.read_text()
    noted = {name for name, picture in witnesses.listed(catalogue).items() if picture == witnesses.DRAWN}
    witnesses.compare(noted, catalogue)
    with pytest.raises(ValueError, match=r"B1|M1"):
        witnesses.compare(change(noted), catalogue)


def point(place: float, bound: float, attained: float) -> dict[str, object]:
    return {
        "bound": bound,
        "attained": attained,
        "what": "delta",
        "over": ["epsilon", place],
        "test": "tests/one.py::a",
    }


def test_shares_are_bars_and_the_least_of_one_name_is_told() -> None:
    bars = [
        {"bound": 2.0, "attained": share, "what": "a row", "over": None, "test": "tests/one.py::a"} for share in (2, 1)
    ]
    drawn = witnesses.drawn(bars)
    assert drawn.count("a row: 50.00 % of the bound") == 1
    assert 'width="100.0"' in drawn


def test_points_of_a_curve_are_a_line_with_dots_in_their_order() -> None:
    drawn = witnesses.drawn([point(1.0, 1.0, 0.5), point(0.0, 2.0, 2.0)])
    line = re.search(r'points="([^"]*)"', drawn)
    assert line is not None
    assert line[1] == "64.0,14.0 540.0,124.0"
    assert 'cx="540.0" cy="179.0"' in drawn
    assert "delta at 2 places: 50.00 % of the bound or more" in drawn
