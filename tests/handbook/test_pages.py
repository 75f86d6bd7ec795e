"""The documentation site: what its builder promises of every page, without building it."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from handbook import accessible, build, commands, evidence, executed, house, mathematics

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


def test_the_drawn_house_is_that_of_the_code_with_every_room() -> None:
    found = house.house()
    assert house.PICTURE.read_text() == house.drawn(found), "make house"
    rooms = {path.stem for path in (ROOT / "src" / "equipoise").iterdir() if path.suffix in ("", ".py")}
    assert set(found.sizes) == {name for name in rooms if not name.startswith("_")}
    assert ", 0 lines" not in house.PICTURE.read_text()
    assert ">0 lines" not in house.PICTURE.read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_every_block_of_commands_is_run_by_a_test_or_says_why_not(page: Path) -> None:
    assert executed.unexcused(page.read_text()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_every_line_of_commands_names_what_the_program_has(page: Path) -> None:
    assert [found for line in commands.shown(page.read_text()) if (found := commands.fault(line))] == []


def test_lines_of_commands_are_found_in_both_sorts_of_blocks() -> None:
    lines = {page.stem: list(commands.shown(page.read_text())) for page in PAGES}
    assert "equipoise reproduce intrinsic-privacy --quick" in lines["reproduce"]
    assert 'equipoise train ... --sign office.key --by "Data office, St. Anna"' in lines["release"]
    assert any(line.startswith("equipoise train people.csv") for line in lines["tutorial"])
    assert sum(map(len, lines.values())) > 60


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("equipoise reproduse", "equipoise has no reproduse"),
        ("equipoise reproduce NAME --fast", "equipoise reproduce has no --fast"),
        ("equipoise ledger make people", "equipoise ledger has no make"),
        ("equipoise ledger create people --epsilon", "equipoise ledger create: --epsilon needs a value"),
        ("equipoise verify one two", "equipoise verify takes 1 names, not 2"),
        ("equipoise docs income.py > income.py", None),
    ],
)
def test_what_a_line_of_commands_gets_wrong_is_named(line: str, found: str | None) -> None:
    assert commands.fault(line) == found


def test_a_file_of_tests_in_a_table_is_linked_on_the_site_to_a_copy(tmp_path: Path) -> None:
    row = "| A1 | `test_coq.py`, `test_extras`; `nobody/test_nothing.py` |"
    for name, above in (("page.md", ""), ("proofs/A1.md", "../")):
        link = f'<a href="{above}repository/tests/test_coq.py.txt">`test_coq.py`</a>'
        copies = tmp_path / "repository"
        assert build.linked(row, name, copies) == row.replace("`test_coq.py`", link)
        assert (copies / "tests" / "test_coq.py.txt").read_text() == (ROOT / "tests" / "test_coq.py").read_text()
    assert build.linked("As `test_coq.py` says.", "page.md", tmp_path) == "As `test_coq.py` says."


def test_the_index_counts_the_blocks_that_are_not_run() -> None:
    blocks = [each for page in PAGES for each in executed.FENCE.finditer(page.read_text())]
    excused = [each["language"] for each in blocks if each["word"] == "not run: "]
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    python, commands_ = (words[excused.count(language)] for language in ("python", "sh"))
    told = f"{python} blocks of Python and {commands_} of commands were not run"
    assert set(excused) == {"python", "sh"}
    assert told in " ".join((ROOT / "docs" / "index.md").read_text().split())


def test_tests_that_pages_name_read_those_pages() -> None:
    named = {(page, name) for page in PAGES for name in re.findall(r"^<!-- run by (.*?) -->$", page.read_text(), re.M)}
    assert named
    assert [(page.name, name) for page, name in named if f'"{page.name}"' not in (ROOT / name).read_text()] == []


def test_a_block_of_sql_is_run_by_a_test_or_says_why_not() -> None:
    assert executed.unexcused("```sql\nSELECT 1\n```\n") == ["SELECT 1\n"]
    assert executed.unexcused("<!-- not run: no database -->\n```sql\nSELECT 1\n```\n") == []


def run(page: str) -> list[str]:
    return executed.run(executed.blocks_of(page), "page.md")


def test_a_block_that_fails_stops_the_build() -> None:
    with pytest.raises(executed.BlockFailed, match="ZeroDivisionError"):
        run("```python\n1 / 0\n```\n")


def test_what_a_block_prints_and_its_last_value_stand_below_it() -> None:
    page = "```python\nx = 2\n```\n```python\nprint('seen')\nx + 1\n```\n"
    shown = "```python\nx = 2\n```\n```python\nprint('seen')\nx + 1\n```\n\n```text\nseen\n3\n```\n"
    assert executed.with_outputs(page, run(page)) == shown


def test_an_excused_block_is_not_run_and_the_reader_is_told() -> None:
    page = "<!-- not run: it needs a cluster -->\n```python\n1 / 0\n```\n"
    assert "*This block was not run: it needs a cluster.*" in executed.with_outputs(page, run(page))


def test_packages_of_a_page_come_before_all_others_and_must_be_there(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(executed, "ROOT", tmp_path)
    page = "<!-- packages .older -->\n```python\nimport numpy\nnumpy.__version__\n```\n"
    with pytest.raises(executed.BlockFailed, match=r"make \.older/\.ready"):
        run(page)
    (tmp_path / ".older").mkdir()
    (tmp_path / ".older" / "numpy.py").write_text('__version__ = "as it was"\n')
    printed = run(page)
    assert "```text\nas it was\n```" in executed.with_outputs(page, printed)
    assert "packages" not in executed.notebook(page, printed)


FOLDED = "# Title\n\n<details>\n<summary>Rows</summary>\n\n```python\nx = 1\n```\n\n</details>\n\n"
BESIDE = '<div class="beside"><div>\n\n```python\nx\n```\n\n</div><div>\n\n```sh\nls\n```\n\n</div></div>\n\nend\n'


def test_a_page_becomes_a_notebook_of_its_prose_and_its_blocks_with_what_they_printed() -> None:
    written = executed.notebook(FOLDED + BESIDE, run(FOLDED + BESIDE))
    cells = json.loads(written)["cells"]
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in cells] == [
        ("markdown", "# Title\n\n*Rows*"),
        ("code", "x = 1"),
        ("code", "x"),
        ("markdown", "```sh\nls\n```\n"),
        ("markdown", "end"),
    ]
    assert [cell["outputs"] for cell in cells if cell["cell_type"] == "code"] == [
        [],
        [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}],
    ]
    # Since version 4.5 every cell has a name, and the same page has the same notebook.
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert written == executed.notebook(FOLDED + BESIDE, run(FOLDED + BESIDE))


def test_no_block_is_hidden_from_the_reader() -> None:
    """Python of a page stands in blocks: what a comment held would run where no reader sees it."""
    hidden = re.compile(r"<!--(?:(?!-->).)*\n\s*(?:import|from) ", re.S)
    assert [page.name for page in PAGES if hidden.search(page.read_text())] == []


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("||w||_2 <= 2 rho", "‖w‖2≤2ρ"),
        ("<w, x>", "⟨w,x⟩"),
        ("a < b > c", "a<b>c"),
        ("sqrt(2 Y^2 / mu)", "2Y2/μ"),
        ("sum_{i=1}^n z_i", "∑i=1nzi"),
        ("l(., z')", "l(·,z′)"),
        ("e := 2 eta", "e:=2η"),
    ],
)
def test_signs_of_a_formula_are_those_of_the_field(written: str, shown: str) -> None:
    text = re.sub(r"<[^<>]*>", "", mathematics.mathml(written)).replace("&lt;", "<").replace("&gt;", ">")
    assert text == shown


@pytest.mark.parametrize("code", ["certify.curves", "row_norm=1.0", "tests/test_catalogue.py", "equipoise verify"])
def test_names_of_the_code_stay_code(code: str) -> None:
    assert mathematics.rendered(f"see `{code}` there") == f"see `{code}` there"


def test_a_definition_has_one_sign() -> None:
    assert "<mo>:=</mo>" in mathematics.mathml("p := q", display=True, words=True)


def test_what_stands_far_apart_in_a_block_does_so_in_the_drawing() -> None:
    drawn = mathematics.rendered("    a   <= b      w.p. 1 - th    (1)").split("\n")[1]
    assert drawn.count("<mspace width='2em'/>") == 2
    assert drawn.count("<math") == 1


def test_greek_names_before_a_hyphen_are_letters_and_code_stays_code() -> None:
    written = "If `F` is mu-strongly convex, `beta-name` and docs/mu-page.md stay."
    shown = mathematics.rendered(written)
    assert "<math><mi>μ</mi></math>-strongly convex" in shown
    assert "β" not in shown
    assert "docs/mu-page.md" in shown


def test_no_letter_of_a_proof_stays_unrendered_for_a_hyphen_or_a_place() -> None:
    unrendered = re.compile(r"(?<![\w`/-])(?:mu|rho|beta|epsilon|delta)-[a-z]+|`\w'?\(\., \w+'?\)`")
    for page in (ROOT / "docs" / "proofs").glob("*.md"):
        assert unrendered.findall(mathematics.rendered(page.read_text())) == [], page.name


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("so `a +\nb <= c` holds", "so a+b≤c holds"),
        ("> so `a +\n> b <= c` holds", "> so a+b≤c holds"),
        ("- so `a *\n  (1/(T - s))` holds", "- so a·(1/(T−s)) holds"),
        ("so `(d +\n3) u` holds, `b` too", "so (d+3)u holds, b too"),
        ("1. `a`\n2. `b`", "1. a\n2. b"),
    ],
)
def test_a_formula_may_go_over_the_end_of_a_line(written: str, shown: str) -> None:
    assert re.sub(r"<[^<>]*>", "", mathematics.rendered(written)) == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("gap+ <= gap - (L/2) s^2", "gap+≤gap−(L/2)s2"),
        ("t = 1..T", "t=1…T"),
        ("(p - c p')_+", "(p−cp′)+"),
        ("m^_i", "m^i"),
        ("E pbar in K", "Ep¯∈K"),
        ("(q -+ z)^2", "(q−+z)2"),
        ("P~(E)", "P∼(E)"),
    ],
)
def test_names_of_several_letters_and_lone_signs_are_drawn(written: str, shown: str) -> None:
    assert re.sub(r"<[^<>]*>", "", mathematics.mathml(written)).replace("&lt;", "<").replace("&gt;", ">") == shown


def test_a_root_is_over_all_that_its_brackets_hold() -> None:
    drawn = mathematics.mathml("sqrt((x - 1)(1 - y)) z")
    inside = re.search(r"<msqrt>(.*)</msqrt>", drawn)
    assert inside is not None
    assert re.sub(r"<[^<>]*>", "", inside[1]) == "(x−1)(1−y)"


@pytest.mark.parametrize("code", ["step=0.1", "slope_bound", "noise", "decay", "T*.py", "loss/squared.txt", "J1.*"])
def test_words_and_arguments_alone_are_no_formula(code: str) -> None:
    assert mathematics.rendered(f"`{code}`") == f"`{code}`"


PROOFS = sorted((ROOT / "docs" / "proofs").glob("*.md"))


def spans(page: str) -> list[str]:
    """Return the inline code of a page, as Markdown has it: over lines, within a paragraph, without blocks."""
    page = re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S)
    paragraphs = (part for part in re.split(r"\n(?:> *)?\n|^<!--.*?-->$", page) if not re.match(r"(?:> )?    ", part))
    return [
        re.sub(r"\s*\n(?:> ?)*\s*", " ", found[2]) for part in paragraphs for found in mathematics.CODE.finditer(part)
    ]


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_no_proof_shows_its_own_markup(page: Path) -> None:
    """Every backtick has its partner within the paragraph, and no MathML stands where it would be shown as text."""
    drawn = mathematics.rendered(page.read_text())
    assert [span for span in spans(drawn) if "<m" in span] == []
    prose = re.sub(r"^```.*?^```$", "", drawn, flags=re.M | re.S)
    assert [part for part in re.split(r"\n(?:> *)?\n", prose) if "`" in mathematics.CODE.sub("", part)] == []


# What has signs of a formula, and is code.
CODE = frozenset((
    'alpha="public"', 'order="permutation"', "GaussianCurve(1/z)", "smallest_columns(p, epsilon, delta)",
    "min(l, loss_bound)", "WEIGHT_GUESS = 3", "tau >= smallest_tolerance", "certifies = True",
    "scale/worst * sensitivity", "n_samples = m", "REGION = 1.001",
    "look=", "bins_from=", "J1.*", "J3.*", "J4.*", "J5.*",
))  # fmt: skip


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_what_has_signs_of_a_formula_is_drawn(page: Path) -> None:
    left = {span for span in spans(mathematics.rendered(page.read_text())) if re.search(r"[=<>^*]| [-+] ", span)}
    assert left <= CODE


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_every_script_hangs_on_one_element(page: Path) -> None:
    """A browser draws what has another number of parts as one line, so that nothing is raised or lowered."""
    parts = {"msub": 2, "msup": 2, "msubsup": 3, "mover": 2}
    for drawn in re.findall(r"<math.*?</math>", mathematics.rendered(page.read_text()), re.S):
        for each in ElementTree.fromstring(drawn.replace("&nbsp;", " ")).iter():  # noqa: S314 - our own
            assert len(each) == parts.get(each.tag, len(each)), drawn


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.stem)
def test_no_formula_of_the_proofs_loses_a_sign(page: Path) -> None:
    """Letters and digits of every page are the same before and after, but for names of signs."""
    for written in spans(page.read_text()):
        try:
            drawn = mathematics.mathml(written)
        except mathematics.NoFormula:
            continue
        digits = re.sub(r"<[^<>]*>", "", re.sub(r"width='.2em'", "", drawn))
        assert re.findall(r"\d", digits) == re.findall(r"\d", written), written


def test_keys_reach_what_scrolls_and_headings_have_a_level() -> None:
    page = '<p class="caption" role="heading">More</p><pre>x</pre><div class="formula">y</div>'
    better = accessible.mended(page)
    assert better.count('tabindex="0"') == 2
    assert 'role="heading" aria-level="2"' in better
    assert accessible.mended(better) == better


def test_a_picture_leads_to_itself_alone() -> None:
    picture = '<img alt="rooms" src="../_images/house.svg" />'
    better = accessible.mended(f"<p>{picture}</p>")
    assert better == f'<p><a class="whole" href="../_images/house.svg">{picture}</a></p>'
    assert accessible.mended(better) == better


def test_cells_of_a_table_of_many_columns_have_the_names_of_their_columns() -> None:
    head = "".join(f'<th class="head"><p>{name}</p></th>' for name in ("claim", "a &lt; b", "<em>c</em>", "d"))
    row = "<tr><td><p>1</p></td>" + '<td class="text-right"><p>2</p></td>' * 3 + "</tr>"
    table = f'<table class="docutils align-default"><thead><tr>{head}</tr></thead><tbody>{row}{row}</tbody></table>'
    better = accessible.mended(table)
    assert better.count('<td data-name="a &lt; b" class="text-right">') == 2
    assert better.count("data-name") == 8
    assert '<table class="docutils lines align-default">' in better
    assert accessible.mended(better) == better
    narrow = table.replace('<th class="head"><p>d</p></th>', "")
    assert accessible.mended(narrow) == narrow


def test_every_study_has_its_evidence_and_the_page_is_drawn_from_it() -> None:
    page = evidence.PAGE.read_text()
    assert page == evidence.page(), "python -m handbook.evidence --page"
    for name in evidence.STUDIES:
        assert f"## {name}\n" in page


@pytest.mark.parametrize("name", evidence.STUDIES)
def test_evidence_is_of_the_full_grid(name: str) -> None:
    assert evidence.kept(name)["grid"] == "full"


def test_a_quick_look_is_no_evidence(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(evidence, "KEPT", tmp_path)
    for name in evidence.STUDIES:
        (tmp_path / f"{name}.json").write_text('{"grid": "quick", "claims": []}')
    with pytest.raises(ValueError, match="not of the quick one"):
        evidence.page()


# What a study's own page counts, in the words in which it does.
COUNTED = {
    "intrinsic-privacy": "Of {all} claims {yes} are reproduced, {no} are not, on {unclear} "
    "the paper contradicts itself, {corrected} are corrected.",
    "nonsmooth-stability": "Of {all} claims {yes} are reproduced and {corrected} corrected.",
    "private-regression": "Of {all} claims {yes} are reproduced, {no} are not, {corrected} are corrected.",
    "stability-enhanced-privacy": "Of {all} claims {yes} are reproduced, {no} are not, and {corrected} are corrected.",
    "dropout-stability": "Of {all} claims {yes} are reproduced, {no} are not, {corrected} are corrected.",
}
OWN_PAGES = {"intrinsic-privacy": "reproduce", "nonsmooth-stability": "reproduce"}


@pytest.mark.parametrize("name", evidence.STUDIES)
def test_a_studys_own_page_counts_what_the_evidence_counts(name: str) -> None:
    claims = evidence.kept(name)["claims"]
    counts = [sum(claim["verdict"] == verdict for claim in claims) for verdict in evidence.VERDICTS]
    told = COUNTED[name].format_map(
        dict(zip(("yes", "no", "corrected", "unclear"), counts, strict=True), all=len(claims))
    )
    for page in {OWN_PAGES.get(name, name), *(["reproduce"] if name == "dropout-stability" else [])}:
        assert told in " ".join((ROOT / "docs" / f"{page}.md").read_text().split())


def test_every_claim_that_is_not_ruled_leads_to_its_erratum() -> None:
    errata = (ROOT / "docs" / "errata.md").read_text()
    marks = re.findall(r'<a id="([^"]*)"></a>', errata)
    assert len(set(marks)) == len(marks)
    used = set()
    for name in evidence.STUDIES:
        for claim in evidence.kept(name)["claims"]:
            if claim["verdict"] not in evidence.VERDICTS[:2]:
                used.add(evidence.erratum(name, claim["id"]))
    assert used == set(marks)
    assert "](errata.md))" not in evidence.PAGE.read_text().split("\n## ", 1)[1]


def test_links_to_marks_within_a_page_lead_there() -> None:
    drawn = build.linked("[corrected](errata.md#003-theorem-1)", "evidence.md", Path())
    assert drawn == '<a href="errata.html#003-theorem-1">corrected</a>'
    assert build.linked("[so](errata.md#mistakes)", "evidence.md", Path()) == "[so](errata.md#mistakes)"
