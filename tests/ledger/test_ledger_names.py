"""One dataset has one budget, however its name is spelled; and a ledger is kept in a file that keeps it."""

import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sql
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import equipoise as eq
from equipoise.certify.certificate import Certificate
from equipoise.cli.ledger import group
from equipoise.errors import LedgerRefused, LedgerUnreachable
from equipoise.ledger import chain
from equipoise.ledger.names import are_near, normal_form
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from former_ledgers import make_former

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
# The same name with other capitals, blanks at its ends and inside, full-width letters, and a joiner that nobody sees.
WIDE = "".join(chr(ord(letter) + 0xFEE0) for letter in "people")
SPELLINGS = (
    "people of 2026",
    "People of 2026",
    "people of 2026 ",
    " people  of 2026",
    f"{WIDE} of 2026",
    "peo\u034fple of 2026",
)


def certificate(epsilon: float) -> Certificate:
    return issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(epsilon)))


def recorded_before(path: Path, *spends: tuple[str, float, float]) -> None:
    """Write a ledger as earlier versions did, ids as they were spelled: a budget and one spend for each."""
    address = f"sqlite:///{path}"
    make_former(sql.create_engine(address, poolclass=sql.NullPool), ("unrelated", eq.Budget(1.0)))
    for name, limit, spent in spends:
        budget = chain.following((), name, "budget", eq.Budget(limit))
        for entry in (budget, chain.following([budget], name, "spend", eq.Budget(spent), "0" * 64)):
            values = [getattr(entry, field) for field in entry.__dataclass_fields__ if field != "record"]
            with sqlite3.connect(path) as connection:
                connection.execute(f"INSERT INTO entries VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608
            connection.close()


@pytest.mark.parametrize("spelling", SPELLINGS[1:])
def test_every_spelling_of_a_name_spends_the_same_budget(tmp_path, spelling):
    address = f"sqlite:///{tmp_path}/ledger.db"
    eq.Ledger(f"{address}#{SPELLINGS[0]}").create(eq.Budget(1.0))
    eq.Ledger(f"{address}#{spelling}").admit(certificate(0.75))
    assert eq.Ledger(f"{address}#{SPELLINGS[0]}").balance().epsilon_left == Decimal("0.25")
    with pytest.raises(LedgerRefused, match=r"exists already|nobody sees"):
        eq.Ledger(f"{address}#{spelling}").create(eq.Budget(1.0))


def test_a_plan_and_a_fit_that_spell_the_name_differently_belong_together(tmp_path):
    address = f"sqlite:///{tmp_path}/ledger.db"
    eq.Ledger(f"{address}#people").create(eq.Budget(1.0))
    model = eq.LogisticRegression(epsilon=0.5, domain=CLASSES, ledger=f"{address}#People", alpha=1.0)
    model.plan(4, 1)
    model.set_params(ledger=f"{address}#people ").fit([[0.1], [0.2], [0.3], [0.4]], [0, 1, 0, 1])
    assert eq.Ledger(f"{address}#people").balance().epsilon_left == Decimal("0.5")


def test_a_ledger_of_an_earlier_version_keeps_its_spelling_its_chain_and_its_exports(tmp_path):
    path = tmp_path / "ledger.db"
    recorded_before(path, ("People ", 1.0, 0.5))
    before = eq.Ledger(f"sqlite:///{path}#People ").export()
    eq.Ledger(f"sqlite:///{path}#people").admit(certificate(0.25))
    for spelling in ("people", "People "):
        ledger = eq.Ledger(f"sqlite:///{path}#{spelling}")
        assert [entry.dataset for entry in ledger.history()] == ["People "] * 3
        assert ledger.balance().epsilon_left == Decimal("0.25")
        assert ledger.verify(against=before) == ()


def test_two_recorded_ids_that_are_one_name_are_read_as_spelled_and_admit_nothing_more(tmp_path):
    path = tmp_path / "ledger.db"
    recorded_before(path, ("People", 1.0, 0.5), ("people", 2.0, 0.25))
    for spelling, left in (("People", "0.5"), ("people", "1.75")):
        ledger = eq.Ledger(f"sqlite:///{path}#{spelling}")
        assert (ledger.balance().epsilon_left, ledger.verify()) == (Decimal(left), ())
        with pytest.raises(LedgerRefused, match=r"'People', 'people'.*under another name"):
            ledger.admit(certificate(0.1))
        assert len(ledger.history()) == 2
    with pytest.raises(LedgerRefused, match="spell the name"):
        eq.Ledger(f"sqlite:///{path}#PEOPLE").balance()


@pytest.mark.parametrize("name", ["icu\u2122", "\u24d8cu", "icu \u33cf"])
def test_signs_that_are_read_as_letters_are_no_part_of_a_new_name(tmp_path, name):
    with pytest.raises(LedgerRefused, match="read as letters"):
        eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#{name}").create(eq.Budget(1.0))


@pytest.mark.parametrize("names", [("people", "people.csv"), ("icu", "icu~"), ("wow", "w\u03bfw"), ("ehr", "her")])
def test_budgets_of_an_earlier_version_with_such_names_go_on(tmp_path, names):
    path = tmp_path / "ledger.db"
    recorded_before(path, *((name, 1.0, 0.5) for name in names))
    for name in names:
        eq.Ledger(f"sqlite:///{path}#{name}").admit(certificate(0.25))
        assert eq.Ledger(f"sqlite:///{path}#{name}").balance().epsilon_left == Decimal("0.25")


@pytest.mark.parametrize("name", ["peo\u034fple", "people\ufe0f", "\u3164", "\u2800", "   "])
def test_names_that_nobody_can_read_get_no_budget(tmp_path, name):
    with pytest.raises(LedgerRefused, match=r"nobody sees|blanks"):
        eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#{name}").create(eq.Budget(1.0))


@pytest.mark.parametrize(
    "near",
    [
        "people-2026",
        "people_2026",
        "people.2026",
        "People2026",
        "pe0ple 2026",
        "peop1e 2026",
        "p\u0435ople 2026",
        "peopie 2O26",
        "people\u20132026",
        "people\u22122026",
        "people/2026",
    ],
)
def test_a_name_that_people_would_take_for_another_gets_no_budget(tmp_path, near):
    address = f"sqlite:///{tmp_path}/ledger.db"
    eq.Ledger(f"{address}#people 2026").create(eq.Budget(1.0))
    with pytest.raises(LedgerRefused, match=r"'people 2026', which differs in separators.*spend of 'people 2026' if"):
        eq.Ledger(f"{address}#{near}").create(eq.Budget(1.0))
    # It is no other spelling of it, either: nothing is spent by mistake.
    with pytest.raises(LedgerRefused, match="a budget for"):
        eq.Ledger(f"{address}#{near}").admit(certificate(0.1))
    # Nor does anybody's word make it another name.
    with pytest.raises(LedgerRefused, match="differs in separators"):
        eq.Ledger(f"{address}#{near}").create(eq.Budget(1.0), apart_from=["people 2026"])
    eq.Ledger(f"{address}#people 2025").create(eq.Budget(1.0))


NEAR = [
    ("people", "people-1"),
    ("people", "People 2"),
    ("people-1", "people"),
    ("people", "people v2"),
    ("people", "peoples"),
    ("people", "poeple"),
    ("people", "peple"),
    ("people", "peopble"),
    ("people", "peiple"),
    ("people-2024", "people-02024"),
    ("people-2024", "people-2024-06"),
    ("people-2024", "2024 people"),
    ("people-2024", "peple_2024"),
    ("ward", "wards"),
    ("ward-1", "ward 1b"),
    ("patients", "patients\u0661"),
    ("p\u00e9rsons", "persons"),
    ("ward", "w\u00e1rd"),
    ("\u0142\u00f3d\u017a", "lodz"),
    ("adult", "adlut"),
    ("adult", "ad\u00falt"),
    ("adult", "adul"),
    ("cases", "bases"),
    ("ward-5", "ward-S"),
    ("ward-5", "wards"),
    # What people add to the name of the same rows.
    ("people", "people.csv"),
    ("people.xlsx", "people.parquet"),
    ("people", "people copy"),
    ("people", "people_final"),
    ("people", "people new"),
    ("people", "the people"),
    ("people", "people data"),
    ("people-2024", "old_people_table-2024.csv"),
    # Numbers that are one.
    ("ward 2", "ward ii"),
    ("ward-12", "ward xii"),
    ("people-2024", "people-24"),
    ("people-1999", "people 99"),
    # Slips in short words, letters that look alike, and ligatures.
    ("ehr", "her"),
    ("clinic", "dinic"),
    ("encyclop\u00e6dia", "encyclopaedia"),
    ("\u0153uvre", "oeuvre"),
]
APART = [
    ("people-2024", "people-2025"),
    ("people 2025", "people 2026"),
    ("ward-1", "ward-2"),
    ("ward-1", "ward-11"),
    ("ward-1", "wards-2"),
    ("clinic-a", "clinic-b"),
    ("trial-1a", "trial-1b"),
    ("2024-06", "2024-07"),
    ("ward", "word"),
    ("trial", "train"),
    ("ward-5", "ward-6"),
    ("ward-15", "ward-ls"),
    ("inpatients", "outpatients"),
    ("people", "person"),
    ("ward i", "ward ii"),
    ("ward ii", "ward iii"),
    ("people-24", "people-25"),
    ("people-2024", "people-1924"),
    ("people-124", "people-24"),
    ("a ward", "b ward"),
    ("data", "table"),
    ("data-2024", "2024"),
    ("ehr", "mri"),
    ("\u4eba\u53e3", "\u75c5\u9662"),
]


LOOK_ALIKE = [
    ("adult", "\u0430\u0501ult"),
    ("adult", "adu\u04cft"),
    ("adult", "adu|t"),
    ("adult", "\u0251dult"),
    ("heart", "\u04bbeart"),
    ("trial", "tr\u0131al"),
    ("march", "rnarch"),
    ("ward", "vvard"),
    ("ward", "VVARD"),
    ("pac", "\u0440\u0430\u0441"),
    ("wow", "\u1d21\u1d0f\u1d21"),
    ("wow-1", "W\u1d0fW 1"),
    ("icu", "icu~"),
    ("icu", "icu$"),
    ("mri", "mri+"),
    ("mri", "^mri`"),
    ("mri", "mri\u02bc"),
]


@pytest.mark.parametrize(("there", "new"), LOOK_ALIKE)
def test_letters_and_groups_that_look_alike_are_one_name(tmp_path, there, new):
    address = f"sqlite:///{tmp_path}/ledger.db"
    eq.Ledger(f"{address}#{there}").create(eq.Budget(1.0))
    with pytest.raises(LedgerRefused, match="look alike"):
        eq.Ledger(f"{address}#{new}").create(eq.Budget(1.0), apart_from=[there])


@pytest.mark.parametrize(
    "name",
    [
        *("\u0434\u0430ta", "\u03b2eta", "\u043b\u03b9", "people \u0436"),
        *("p\u0565ople", "pe\u0585ple", "\u2c9fne", "pe\u13a2ple", "\u0585\u043e", "people \u05d0"),
    ],
)
def test_a_name_is_written_in_one_alphabet(tmp_path, name):
    address = f"sqlite:///{tmp_path}/ledger.db"
    with pytest.raises(LedgerRefused, match="several alphabets"):
        eq.Ledger(f"{address}#{name}").create(eq.Budget(1.0))
    for whole in (
        "\u043b\u044e\u0434\u0438-2026",
        "\u03ac\u03bd\u03b8\u03c1\u03c9\u03c0\u03bf\u03b9",
        "\u4eba\u53e3 b",
        "\u7814\u7a76 \u30c7\u30fc\u30bf \u306e RNA",
        "\u0570\u0561\u0575\u0565\u0580 2026",
        "O'Brien & S\u00f6hne",
    ):
        eq.Ledger(f"{address}#{whole}").create(eq.Budget(1.0))


@pytest.mark.parametrize(("there", "new"), NEAR)
def test_a_name_that_is_nearly_one_that_is_there_needs_the_owners_word(tmp_path, there, new):
    address = f"sqlite:///{tmp_path}/ledger.db"
    eq.Ledger(f"{address}#{there}").create(eq.Budget(1.0))
    with pytest.raises(LedgerRefused, match=r"of nearly the same name: .*if these are the same people.*--apart-from"):
        eq.Ledger(f"{address}#{new}").create(eq.Budget(1.0))
    eq.Ledger(f"{address}#{new}").create(eq.Budget(1.0), apart_from=[f" {there.upper()}"])
    assert eq.Ledger(f"{address}#{new}").balance().epsilon_left == 1


@pytest.mark.parametrize(("there", "new"), APART)
def test_the_members_of_a_series_and_other_words_are_apart(there, new):
    assert not are_near(there, new)
    assert not are_near(new, there)


@given(st.text(st.characters(exclude_categories=["C"])), st.text(st.characters(exclude_categories=["C"])))
def test_nearness_is_mutual_and_every_name_is_near_itself(one, other):
    assert are_near(one, other) == are_near(other, one)
    assert are_near(one, one)


def test_the_command_takes_the_owners_word(tmp_path):
    address, run = f"sqlite:///{tmp_path}/ledger.db", CliRunner().invoke
    assert run(group, ["create", f"{address}#people", "--epsilon", "1"]).exit_code == 0
    assert isinstance(run(group, ["create", f"{address}#people-1", "--epsilon", "1"]).exception, LedgerRefused)
    asked = ["create", f"{address}#people-1", "--epsilon", "1", "--apart-from", "people"]
    assert run(group, asked).exit_code == 0


@given(st.text(st.characters(exclude_categories=["C"])))
def test_the_normal_form_of_a_normal_form_is_itself(name):
    assert normal_form(normal_form(name)) == normal_form(name)


@pytest.mark.parametrize(
    "address",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///./:memory:",
        "sqlite:///folder/../:memory:",
        "sqlite:///:MEMORY:",
        "sqlite:///file::memory:?uri=true",
        "sqlite:///file:ledger.db",
        "sqlite:///ledger.db?mode=memory",
        "sqlite:////tmp/ledger.db?mode=memory&uri=true",
    ],
)
@pytest.mark.parametrize("fragment", ["", "#x", "#"])
def test_a_ledger_that_would_keep_nothing_is_refused(tmp_path, monkeypatch, address, fragment):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerRefused, match=r"sqlite:///ledger\.db#dataset"):
        eq.Ledger(address + fragment).create(eq.Budget(1.0))


def test_a_device_is_no_ledger():
    with pytest.raises(LedgerUnreachable, match=r"no plain file.*local disk"):
        eq.Ledger("sqlite:////dev/null#x").create(eq.Budget(1.0))
