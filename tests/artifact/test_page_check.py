"""The page of a release is drawn again and compared: nothing finds room on it that the release does not call for."""

import hashlib
import json
import math
import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import equipoise as eq
from equipoise.artifact import page_check, page_file, page_rule
from equipoise.artifact.findings import contents_of
from equipoise.artifact.page_check import COMPARED, compared, difference
from equipoise.artifact.verdict import Against, examine
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import CERTIFICATE, CHECK_FAILED, DONE, MODEL, NOT_CHECKABLE, PAGE, REPORT
from equipoise.errors import InvalidParameter, MissingExtra, ReleaseUnreadable
from equipoise.report.page import beginning
from released_folders import changed, sealed
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


def made_by(folder: Path, version: str) -> None:
    """Let another version have made a folder, as its certificate and page.json say, under a fresh manifest."""
    certificate = Certificate.from_json((folder / CERTIFICATE).read_text())
    software = tuple((name, version if name == "equipoise" else own) for name, own in certificate.release.software)
    certificate = replace(certificate, release=replace(certificate.release, software=software))
    (folder / CERTIFICATE).write_text(certificate.to_json())
    drawn_with(folder, "equipoise", version)


def drawn_with(folder: Path, name: str, version: str) -> None:
    """Let page.json name another version of what draws pages, under a fresh manifest."""
    facts = page_file.read((folder / PAGE).read_text())
    renderer = tuple((one, version if one == name else own) for one, own in facts.renderer)
    (folder / PAGE).write_text(page_file.written(replace(facts, renderer=renderer)))
    sealed(folder)


def test_a_page_of_another_version_is_not_compared_and_it_is_said_why(copy):
    made_by(copy, "9.9.9")
    found = examine(copy, Against())
    assert found.answer[0] == DONE
    (line,) = (line for line in found.whole.unchecked if line.startswith("what the page"))
    assert line == f"what the page says: not compared, drawn by Equipoise 9.9.9, and here is {eq.__version__}"


def test_a_page_from_before_page_json_keeps_to_the_rule_too(copy):
    made_by(copy, "0.1.9")
    (copy / PAGE).unlink()
    sealed(copy)
    assert examine(copy, Against()).answer[0] == DONE
    (copy / REPORT).write_text("<p>epsilon 0.01</p>")
    sealed(copy)
    found = examine(copy, Against())
    assert found.answer[0] == CHECK_FAILED
    assert found.whole.faults == ("report.html: other scripts than the two that a page has",)


def test_page_json_cannot_name_another_version_than_the_certificate(copy):
    drawn_with(copy, "equipoise", "0.1.9")
    found = examine(copy, Against())
    assert found.answer == (CHECK_FAILED, "does not hold")
    (fault,) = found.whole.faults
    assert fault.startswith("page.json: drawn by equipoise 0.1.9 with vl-convert-python ")
    assert fault.endswith(f"and the certificate names Equipoise {eq.__version__}")


def with_library(page: str, library: str) -> str:
    """Return a page that brings another library, with the digest of it in its rule."""
    own, drawing = page_rule.scripts_in(page)
    page = page.replace(beginning(own, drawing), beginning(library, drawing))
    return page.replace(f"<script>{own}</script>", f"<script>{library}</script>")


def test_a_page_with_charts_of_another_known_library_is_compared_all_the_same(copy, monkeypatch):
    page, library = (copy / REPORT).read_text(), "window.vegaEmbed = () => {};"
    monkeypatch.setitem(page_rule.LIBRARIES, "1.8.9", hashlib.sha256(library.encode()).hexdigest())
    drawn_with(copy, "vl-convert-python", "1.8.9")
    (copy / REPORT).write_text(with_library(page, library))
    sealed(copy)
    assert COMPARED in examine(copy, Against()).confirmed
    # The forgery that a stranger made: words and a script, under a version that is not here.
    for name, text in rewritten(page).items():
        (copy / REPORT).write_text(with_library(text, library) if text.count("<script>") == 1 else text)
        sealed(copy)
        assert examine(copy, Against()).answer[0] in (CHECK_FAILED, NOT_CHECKABLE), name


def test_a_library_that_is_not_known_here_is_refused_whatever_version_it_claims(copy):
    page = (copy / REPORT).read_text()
    lying = with_library(page, "document.body.innerHTML = 'epsilon 0.01';")
    for version in ("1.8.0", "1.9.1"):
        drawn_with(copy, "vl-convert-python", version)
        for text in (page, lying):
            (copy / REPORT).write_text(text)
            sealed(copy)
            found = examine(copy, Against())
            assert found.answer == (NOT_CHECKABLE, "not checkable by this version")
            assert f"vl-convert-python {version}, whose script is not known here" in found.whole.faults[0]


def test_a_page_of_any_version_keeps_to_the_rule(copy):
    made_by(copy, "0.1.9")
    page = (copy / REPORT).read_text()
    pages = rewritten(page)
    # What it says nobody compares: that may be other words and numbers, but nothing that runs, fetches or leads away.
    spoken = {"another epsilon", "data of another name", "another number in a chart", "words in a chart"}
    inert = spoken | {"a script called data", "one letter less"}
    assert inert < pages.keys()
    image, jump = '<img src="https://example.org">', '<a href="https://example.org">more</a>'
    hostile = {name: text for name, text in pages.items() if name not in inert} | {
        "an image": page.replace("</body>", f"{image}</body>"),
        "a way out": page.replace("</body>", f"{jump}</body>"),
        "another icon": page.replace("</body>", '<link rel="stylesheet" href="https://example.org"></body>'),
        "a jump": page.replace("</title>", '</title><meta http-equiv="refresh" content="0;url=https://example.org">'),
        "a frame": page.replace("</body>", '<iframe srcdoc="x"></iframe></body>'),
        "a drawing": page.replace("</body>", "<svg><foreignObject></foreignObject></svg></body>"),
        "a form": page.replace("</body>", '<form action="https://example.org"></form></body>'),
        "quotes of another kind": page.replace("<h1>", "<h1 onclick='alert(1)'>"),
        "a script in capitals": page.replace("</body>", "<SCRIPT>alert(1)</SCRIPT></body>"),
        "no rule": page.replace("Content-Security-Policy", "Content-Security-Polity"),
        "two rules, the first of them mild": page.replace(
            "<meta http", '<meta http-equiv="Content-Security-Policy" content="x"><meta http', 1
        ),
        "another library": with_library(page, "alert(1)"),
    }
    for name, text in hostile.items():
        (copy / REPORT).write_text(text)
        sealed(copy)
        assert examine(copy, Against()).answer[0] in (CHECK_FAILED, NOT_CHECKABLE), name
    for name in spoken:
        (copy / REPORT).write_text(pages[name])
        sealed(copy)
        assert examine(copy, Against()).answer[0] == DONE, name


def test_what_draws_pages_here_is_among_the_scripts_that_are_known(release):
    scripts = page_rule.scripts_in((release / REPORT).read_text())
    assert page_rule.is_library(scripts[0], dict(page_file.renderer())["vl-convert-python"])
    assert page_rule.DRAWINGS[hashlib.sha256(scripts[1].encode()).hexdigest()] == "0.2.0"


def test_a_model_of_another_version_is_not_saved_anew(copy, tmp_path):
    made_by(copy, "0.1.9")
    with pytest.raises(InvalidParameter, match=r"one of version 0\.1\.9"):
        eq.save(eq.load(copy), tmp_path / "again")


def test_columns_cannot_be_renamed_beside_a_schema(copy):
    changed(copy, MODEL, features=["weight"])
    (fault,) = examine(copy, Against()).whole.faults
    assert "model.json: names of other columns than the schema's" in fault
    with pytest.raises(ReleaseUnreadable):
        eq.load(copy)


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
