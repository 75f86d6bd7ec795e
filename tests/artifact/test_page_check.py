"""The page of a release is drawn again and compared: nothing finds room on it that the release does not call for."""

import json
import math
import random
import re
import shutil
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.artifact import page_check, page_file
from equipoise.artifact.page_check import COMPARED, compared, difference
from equipoise.artifact.verdict import Against, examine
from equipoise.certify.folder import CHECK_FAILED, DONE, PAGE, REPORT, contents_of
from equipoise.errors import MissingExtra, ReleaseUnreadable
from released_folders import sealed
from sample_releases import MODELS, SEARCHES, SELECTIONS
from signed_releases import Hospital


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    """A release with its charts, paid for by a ledger."""
    return Hospital(tmp_path_factory.mktemp("house")).release("release", signed=False)


@pytest.fixture
def copy(release, tmp_path) -> Path:
    return Path(shutil.copytree(release, tmp_path / "release"))


def test_a_page_with_charts_is_drawn_again_from_the_folder_alone(release):
    found = examine(release, Against())
    assert found.answer == (DONE, "consistent; origin unproved")
    assert COMPARED in found.confirmed
    assert "The ledger" in (release / REPORT).read_text()


def rewritten(page: str) -> dict[str, str]:
    """Return pages that somebody altered, by what they did."""
    script = "<script>alert(1)</script>"
    data = re.search(r'<script type="application/json" id="curve-data">', page)
    assert data is not None
    return {
        "another epsilon": page.replace("epsilon 1, delta 0", "epsilon 0.01, delta 0", 1),
        "a script at the end": page.replace("</body>", f"{script}</body>"),
        "a script after the end": page + script,
        "a script in a comment before the page": f"<!-- {script} -->" + page,
        "a script among the data": page.replace(data[0], f"{script}{data[0]}", 1),
        "a script called data": page.replace(data[0], f'<script type="application/json" id="x"></script>{data[0]}', 1),
        "data that runs": page.replace('type="application/json" id="curve-data"', 'type="text/javascript"', 1),
        "data of another name": page.replace('id="curve-data"', 'id="curve-date"', 1),
        "another number in a chart": page.replace('"delta": ', '"delta": 9', 1).replace('"delta":', '"delta": 9', 1),
        "words in a chart": page.replace(data[0], f'{data[0]}"hello"', 1),
        "a handler": page.replace("<body>", '<body onload="alert(1)">', 1),
        "another policy of scripts": page.replace("default-src 'none'", "default-src *", 1),
        "one letter of the library": page.replace("vegaEmbed", "vegaEmbod", 1),
        "one letter less": page[:-1],
        "nothing": "",
    }


def test_a_page_with_anything_added_or_altered_is_refused_under_a_fresh_manifest(copy, monkeypatch):
    page = (copy / REPORT).read_text()
    # Drawn once: the files that it is drawn from stay as they are.
    monkeypatch.setattr(page_check, "drawn_again", lambda *_: page)
    pages = rewritten(page)
    assert not [name for name, text in pages.items() if text == page]
    for name, text in pages.items():
        (copy / REPORT).write_text(text)
        sealed(copy)
        found = examine(copy, Against())
        assert found.answer == (CHECK_FAILED, "does not hold"), name
        assert [fault.partition(":")[0] for fault in found.whole.faults] == [REPORT], name


def test_bytes_that_are_no_text_are_refused(copy):
    (copy / REPORT).write_bytes(b"\xff" + (copy / REPORT).read_bytes())
    sealed(copy)
    assert examine(copy, Against()).answer[0] == CHECK_FAILED


def test_another_renderer_says_that_nothing_was_compared_and_why(copy):
    changed_facts = (copy / PAGE).read_text().replace(eq.__version__, "9.9.9")
    (copy / PAGE).write_text(changed_facts)
    sealed(copy)
    found = examine(copy, Against())
    assert found.answer[0] == DONE
    (line,) = (line for line in found.whole.unchecked if "page" in line)
    assert line.startswith("what the page says: not compared, drawn by equipoise 9.9.9 with vl-convert-python ")
    assert f"and here is equipoise {eq.__version__} with " in line


def test_where_pages_cannot_be_drawn_it_is_said(copy, monkeypatch):
    def nothing_installed() -> None:
        raise MissingExtra("a page", "vl-convert-python is not installed", 'pip install "equipoise[report]"')

    monkeypatch.setattr(page_file, "renderer", nothing_installed)
    found = compared(contents_of(copy))
    assert found.faults == ()
    assert found.unchecked == (
        'what the page says: not compared, since vl-convert-python is not installed: pip install "equipoise[report]"',
    )


HOSTILE = [
    "",
    "[]",
    "{}",
    '{"format_version": 1}',
    '{"format_version": 2, "renderer": [], "ledger": null}',
    '{"format_version": 1, "renderer": [], "ledger": null, "more": "<script>"}',
    '{"format_version": 1, "renderer": [["equipoise"]], "ledger": null}',
    '{"format_version": 1, "renderer": [["equipoise", 1]], "ledger": null}',
    '{"format_version":1,"renderer":[],"ledger":null}',
    page_file.written(page_file.PageFacts((("equipoise", "1"), ("equipoise", eq.__version__)))),
    page_file.written(page_file.PageFacts((("equipoise", "John Smith has HIV"),))),
    page_file.written(page_file.PageFacts((("<script>", "1"),))),
    "[" * 10_000,
]
SAID = {"epsilon": 3.0, "delta": 0.0, "epsilon_left": "2.0", "delta_left": "0.0", "head": f"3:{'a' * 64}", "at": "x"}


@pytest.mark.parametrize(
    "text", [*HOSTILE, *({**SAID, "at": f"2026-11-17T10:00:0{end}"} for end in ("0", "0+00:00 <"))]
)
def test_page_json_holds_nothing_but_its_facts(text):
    if isinstance(text, dict):
        text = json.dumps({"format_version": 1, "renderer": [], "ledger": text}, indent=1) + "\n"
    with pytest.raises(ReleaseUnreadable):
        page_file.read(text)


def test_numbers_of_charts_may_differ_in_their_last_digits_and_nothing_else_may(release):
    page = (release / REPORT).read_text()
    start = page.index('id="curve-data">')
    number = re.compile(r"0\.[0-9]{12,}").search(page, start)
    assert number is not None
    put = lambda text: page[: number.start()] + text + page[number.end() :]  # noqa: E731
    assert difference(put(repr(math.nextafter(float(number[0]), 1.0))), page) is None
    assert difference(put(f"{float(number[0]) * 1.00001}"), page) == (
        "not the page that the other files call for: the data of curve-data differs"
    )
    assert difference(put(f'"{number[0]}"'), page) is not None


DATA = '<script type="application/json" id="x-data">{"n": 8000000, "label": "0.5 mg \\" 0.5", "delta": %s}</script>'


@pytest.mark.parametrize(
    ("found", "alike"),
    [
        (DATA % "0.10000000000000002", True),
        (DATA % "00.1", False),
        (DATA % "0.10", False),
        (DATA % "0.10000000000000002314159", False),
        (DATA % "1e-1", False),
        (DATA % "+0.1", False),
        (DATA % "-0.1", False),
        (DATA % "0.1, 0.1", False),
        (DATA % '"0.1"', False),
        (DATA % '"', False),
        (DATA % "0.1" + " ", False),
        (DATA.replace("8000000", "8000001") % "0.1", False),
        (DATA.replace("8000000", "08000000") % "0.1", False),
        (DATA.replace("8000000", "8000000.0") % "0.1", False),
        (DATA.replace("0.5 mg", "0.5000001 mg") % "0.1", False),
        (DATA.replace(' 0.5"', ' 0.5000001"') % "0.1", False),
    ],
)
def test_every_number_of_a_chart_has_one_way_to_be_written_and_whole_ones_and_texts_one_value(found, alike):
    assert (difference(found, DATA % "0.1") is None) is alike


KINDS = {**MODELS, **SEARCHES, **SELECTIONS}


@pytest.mark.statistics
@pytest.mark.parametrize("name", KINDS)
def test_the_page_of_every_kind_is_drawn_again(name, tmp_path):
    import numpy as np

    model = KINDS[name].__class__(**{**KINDS[name].get_params(deep=False), "random_state": 0})
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (600, 4))
    domain = getattr(model, "domain", None) or getattr(getattr(model, "estimator", None), "domain", None)
    if isinstance(model, eq.SimplexSelector):
        model.fit((rows < [0.4, 0.0, 0.0, 0.0]).astype(float), rows[:, 1] > 0)
    elif domain.classes:
        model.fit(rows, np.array(domain.classes)[np.arange(600) % len(domain.classes)])
    else:
        model.fit(rows, 200 + 100 * rows[:, 0])
    eq.save(model, tmp_path / "release")
    found = compared(contents_of(tmp_path / "release"))
    assert (found.faults, found.confirmed) == ((), (COMPARED,))


@pytest.mark.statistics
def test_flipped_bits_of_a_page_are_refused_but_for_the_last_digits_of_charts(release):
    expected, chance, passed = (release / REPORT).read_text(), random.Random(22), 0  # noqa: S311
    data = [place for match in page_check._DATA.finditer(expected) for place in range(*match.span(2))]
    places = [*chance.sample(data, 2_000), *(chance.randrange(len(expected)) for _ in range(3_000))]
    for place in places:
        altered = chr(ord(expected[place]) ^ 1 << chance.randrange(7))
        if difference(f"{expected[:place]}{altered}{expected[place + 1 :]}", expected) is None:
            passed += 1
            assert place in data
            assert altered in "0123456789"
            assert expected[place] in "0123456789"
    assert 0 < passed < 2_000
    print("flipped:", len(places), "last digits of charts:", passed)
