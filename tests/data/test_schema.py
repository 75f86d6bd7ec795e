import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from equipoise.data.raw import RawTable
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target
from equipoise.data.schema.draft import draft
from equipoise.data.schema.record import DEFAULT_MISSING
from equipoise.errors import InvalidParameter, SchemaInvalid
from equipoise.vocabulary.facts import Domain
from sample_schemas import EXAMPLE

DOCS = Path(__file__).parents[2] / "docs"

BLANK = """
schema_version = 1
n = ""
vouched_by = ""
vouched_on = ""
[target]
name = ""
classes = []
[columns.age]
kind = "number"
bounds = []
[columns."hours.per week"]
kind = "category"
levels = []
unknown = ""
"""


def small(lines: str = "", target: str = 'name = "y"\nclasses = [0, 1]', column: str = "", top: str = "n = 10") -> str:
    """Return a schema of one column with some of its lines replaced."""
    column = column or f'kind = "number"\nbounds = [0, 1]\n{lines}'
    return f"schema_version = 1\n{top}\n[target]\n{target}\n[columns.age]\n{column}\n"


def test_the_example_of_the_guide_is_read():
    assert Schema.from_text(EXAMPLE) == Schema(
        n_samples=32561,
        columns=(
            NumberColumn("age", (17.0, 90.0), fill=40.0, indicator=True),
            CategoryColumn("workclass", ("Private", "State-gov", "?"), unknown="Private", fill="?"),
        ),
        target=Target("income", classes=("<=50K", ">50K")),
        unused=("id",),
        vouched_by="A. Officer",
        vouched_on="2026-11-16",
        missing=("", "NA", "?"),
        row_norm=2.0,
    )


def test_what_follows_from_the_facts():
    schema = Schema.from_text(EXAMPLE)
    assert schema.n_features == 1 + 1 + 3
    assert schema.task == "classification"
    # Of the five entries three can be other than 0, each 1 at most, over a row norm of 2.
    assert schema.domain == Domain(row_norm=1.0, classes=("<=50K", ">50K"), row_sum=1.5 * (1 + 1e-9))
    assert schema.blanks() == ()
    assert schema.unbounded == ()
    schema.require_complete()
    regression = Schema.from_text(small(target='name = "y"\nbounds = [0, 400]'))
    assert regression.task == "regression"
    assert regression.domain == Domain(row_norm=1.0, labels=(-1.0, 1.0))


def test_optional_lines_have_the_documented_defaults():
    schema = Schema.from_text(small())
    assert schema.missing == DEFAULT_MISSING
    assert schema.row_norm is None
    [column] = schema.columns
    assert (column.fill, column.indicator) == (None, False)


def test_a_date_may_be_a_text():
    assert Schema.from_text(small(top='n = 10\nvouched_on = "2026-11-16"')).vouched_on == "2026-11-16"


def test_levels_may_be_numbers_and_truth_values_and_are_kept_as_text():
    column = 'kind = "category"\nlevels = [0, 1.0, 2.5, true, "a"]\nunknown = 0\nfill = true'
    [found] = Schema.from_text(small(column=column)).columns
    assert found == CategoryColumn("age", ("0", "1", "2.5", "true", "a"), unknown="0", fill="true")


@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes"), (False, True), (1.5, 2)], ids=str)
def test_classes_keep_their_type(classes):
    schema = Schema(10, (NumberColumn("x", (0, 1)),), Target("y", classes=classes))
    read = Schema.from_text(schema.to_toml()).target.classes
    assert read == classes
    assert [type(label) for label in read] == [type(label) for label in classes]


def test_numpy_numbers_become_plain_ones():
    schema = Schema(
        np.int64(10), (NumberColumn("x", (np.float32(0), np.int8(1)), fill=np.float64(1)),), Target("y", ())
    )
    assert type(schema.n_samples) is int
    [column] = schema.columns
    assert {type(number) for number in (*column.bounds, column.fill)} == {float}


def test_every_blank_is_listed_by_its_place_and_refused_at_once():
    schema = Schema.from_text(BLANK)
    places = (
        "n",
        "vouched_by",
        "vouched_on",
        "target.name",
        "target.classes",
        "columns.age.bounds",
        'columns."hours.per week".levels',
        'columns."hours.per week".unknown',
    )
    assert schema.blanks() == places
    with pytest.raises(SchemaInvalid, match="8 blanks") as caught:
        schema.require_complete()
    assert all(path in caught.value.found for path in places)
    assert "--private-bounds 0.2" in caught.value.remedy
    assert "schema.with_private_bounds(0.2)" in caught.value.remedy
    with pytest.raises(SchemaInvalid, match=r"1 blank: target\.classes"):
        _ = schema.domain


def test_a_line_that_was_deleted_is_a_blank():
    schema = Schema.from_text('schema_version = 1\n[target]\nbounds = []\n[columns.a]\nkind = "number"\n')
    assert schema.blanks() == ("n", "vouched_by", "vouched_on", "target.name", "target.bounds", "columns.a.bounds")


FAULTS = {
    "no version": ('n = 1\n[target]\nname="y"\nclasses=[]\n[columns.a]\nkind="number"', "schema_version"),
    "a newer version": (EXAMPLE.replace("schema_version = 1", "schema_version = 2"), "schema_version"),
    "a version that is true": (EXAMPLE.replace("schema_version = 1", "schema_version = true"), "schema_version"),
    "an unknown key": (small(top="rows = 10"), "rows: no such key"),
    "an unknown key of the target": (small(target='name = "y"\nclasses = []\nlevels = []'), "target.levels"),
    "an unknown key of a column": (small("bound = [0, 1]"), "columns.age.bound: no such key; known here: kind, bounds"),
    "a key of another kind": (small("levels = []"), "columns.age.levels"),
    "a fraction of a row": (small(top="n = 10.5"), "n: a whole number"),
    "no rows": (small(top="n = 0"), "n: a whole number"),
    "true rows": (small(top="n = true"), "n: a whole number"),
    "more rows than arithmetic covers": (small(top="n = 1000000000000000000000"), "n: a whole number"),
    "a voucher who is a number": (small(top="vouched_by = 7"), "vouched_by: a text"),
    "a day that does not exist": (small(top='vouched_on = "2026-02-30"'), "vouched_on: a date"),
    "a day in another order": (small(top='vouched_on = "16.11.2026"'), "vouched_on: a date"),
    "a time": (small(top="vouched_on = 2026-11-16T10:00:00"), "vouched_on: a date"),
    "missing is a text": (small(top='missing = "NA"'), "missing: a list"),
    "a missing text twice": (small(top='missing = ["NA", "NA"]'), "missing[1]"),
    "a negative row norm": (small(top="row_norm = -1"), "row_norm"),
    "a row norm without end": (small(top="row_norm = inf"), "row_norm"),
    "no target": ('schema_version = 1\n[columns.a]\nkind="number"', "target: a table"),
    "a target that is a text": (
        'schema_version = 1\ntarget = "income"\n[columns.a]\nkind="number"',
        "target: a table [target]; found 'income'",
    ),
    "classes and bounds": (small(target='name = "y"\nclasses = []\nbounds = [0, 1]'), "found both"),
    "neither classes nor bounds": (small(target='name = "y"'), "found neither"),
    "one class": (small(target='name = "y"\nclasses = ["a"]'), "target.classes: two classes or more"),
    "classes of two kinds": (small(target='name = "y"\nclasses = [0, "yes"]'), "target.classes: two classes or more"),
    "classes with one text": (small(target='name = "y"\nclasses = [0, "0"]'), "target.classes[1]: each entry once"),
    "a class that is no number": (small(target='name = "y"\nclasses = [0, nan]'), "target.classes[1]"),
    "a class that is a date": (small(target='name = "y"\nclasses = [0, 2026-01-01]'), "target.classes[1]"),
    "a class that is empty": (
        small(target='name = "y"\nclasses = ["", "a"]'),
        "target.classes[0]: a text that is not empty",
    ),
    "target bounds upside down": (small(target='name = "y"\nbounds = [400, 0]'), "target.bounds: two numbers"),
    "no columns": ('schema_version = 1\n[target]\nname="y"\nclasses=[]', "columns: a table"),
    "only unused columns": (small(column='kind = "unused"'), "columns: at least one"),
    "a column that is a number": (
        small(column='kind = "unused"\n[columns]\nb = 3'),
        "columns.b: a table [columns.b]; found 3",
    ),
    "columns that are numbers": ('schema_version = 1\ncolumns = 3\n[target]\nname="y"\nclasses=[]', "columns: a table"),
    "a column without a kind": (small(column="bounds = [0, 1]"), "columns.age.kind"),
    "a kind that is a list": (small(column="kind = [1]"), "columns.age.kind"),
    "an unknown kind": (
        small(column='kind = "text"'),
        "columns.age.kind: one of category, curve, date, hashed, identifier, number, ordered, unused, yes-no, in quote",
    ),
    "a column without a name": (small() + '[columns.""]\nkind = "number"', "columns: a column's name"),
    "the target among the columns": (small(target='name = "age"\nclasses = [0, 1]'), "columns.age: each name once"),
    "three bounds": (small(column='kind = "number"\nbounds = [0, 1, 2]'), "columns.age.bounds"),
    "bounds upside down": (small(column='kind = "number"\nbounds = [90, 17]'), "columns.age.bounds"),
    "bounds that are equal": (small(column='kind = "number"\nbounds = [1, 1]'), "columns.age.bounds"),
    "bounds without end": (small(column='kind = "number"\nbounds = [0, inf]'), "columns.age.bounds"),
    "bounds that are no numbers": (small(column='kind = "number"\nbounds = ["0", "1"]'), "columns.age.bounds"),
    "bounds that are truth values": (small(column='kind = "number"\nbounds = [false, true]'), "columns.age.bounds"),
    "bounds beyond any float": (small(column=f'kind = "number"\nbounds = [0, 1{"0" * 400}]'), "columns.age.bounds"),
    "a fill outside": (small("fill = 2"), "columns.age.fill: a number inside the bounds; found 2"),
    "a fill that is a text": (small('fill = "1"'), "columns.age.fill: a finite number"),
    "an indicator that is a number": (small("indicator = 1"), "columns.age.indicator: true or false"),
    "a level twice": (
        small(column='kind = "category"\nlevels = ["a", "b", "a"]'),
        "columns.age.levels[2]: each entry once",
    ),
    "a level twice by its text": (small(column='kind = "category"\nlevels = [1, "1"]'), "columns.age.levels[1]"),
    "a level with blanks around it": (
        small(column='kind = "category"\nlevels = [" a"]'),
        "columns.age.levels[0]: a text without blanks around it; found ' a'",
    ),
    "an empty level": (small(column='kind = "category"\nlevels = [""]'), "columns.age.levels[0]"),
    "a level that is a list": (small(column='kind = "category"\nlevels = [["a"]]'), "columns.age.levels[0]"),
    "unknown is no level": (
        small(column='kind = "category"\nlevels = ["a"]\nunknown = "b"'),
        "columns.age.unknown: one of the levels; found 'b'",
    ),
    "fill is no level": (small(column='kind = "category"\nlevels = ["a"]\nfill = "b"'), "columns.age.fill: one of"),
    "an empty fill": (small(column='kind = "category"\nlevels = ["a"]\nfill = ""'), "columns.age.fill"),
    "a name in quotes": (small() + '[columns."a b"]\nkind = 1', 'columns."a b".kind'),
    "no TOML": ("bounds = [17, 90", "no TOML"),
    "a spreadsheet": ("PK\x03\x04", "no TOML"),
    "the same table twice": (small() + "[columns.age]", "no TOML"),
    "a huge number": (f"n = {'9' * 5000}", "cannot be read"),
    "deep lists": (f"n = {'[' * 100_000}", "nested too deeply"),
    "deep tables": (f"n = {'{a=' * 20_000}", "nested too deeply"),
    "a deep key": (f"a{'.a' * 1_000_000} = 1", "64 parts"),
    "a deep table": (f"[a{' . a' * 500_000}]", "64 parts"),
    "a deep key in quotes": ("'a'" + '."a"' * 100_000 + " = 1", "64 parts"),
    "a long text": ("#" + "a" * 2**22, "larger"),
    "half a character": (small(top='vouched_by = "\ud800"'), "not Unicode"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_refused_with_its_place(case):
    text, words = FAULTS[case]
    with pytest.raises(SchemaInvalid) as caught:
        Schema.from_text(text)
    assert words in caught.value.found
    assert len(caught.value.found) < 400


def test_all_faults_come_in_one_error():
    text = (
        EXAMPLE.replace("n = 32561", 'n = "many"')
        .replace("[17, 90]", "[90, 17]")
        .replace('unknown = "Private"', 'unknown = "private"')
        .replace('["<=50K", ">50K"]', '["<=50K"]')
        .replace('kind = "unused"', 'kind = "unused"\nlevels = []')
    )
    with pytest.raises(SchemaInvalid) as caught:
        Schema.from_text(text)
    assert [fault.split(":")[0] for fault in caught.value.faults] == [
        "target.classes",
        "columns.age.bounds",
        "columns.workclass.unknown",
        "columns.id.levels",
        "n",
    ]
    assert all(fault in caught.value.found for fault in caught.value.faults)


def test_of_very_many_faults_the_first_are_shown():
    text = small() + "".join(f"[columns.c{place}]\nkind = {place}\n" for place in range(100))
    with pytest.raises(SchemaInvalid) as caught:
        Schema.from_text(text)
    assert "columns.c19.kind" in caught.value.found
    assert "columns.c20.kind" not in caught.value.found
    assert "and 80 more" in caught.value.found


@pytest.mark.parametrize(
    ("columns", "levels", "refused"),
    [(10_000, 1, False), (10_001, 1, True), (1, 100_000, False), (1, 100_001, True)],
    ids=["as many columns as can be", "one more column", "as many levels as can be", "one more level"],
)
def test_hostile_sizes_are_refused(columns, levels, refused):
    text = small(column="kind = 'category'\nlevels = [" + ",".join(f"'{level}'" for level in range(levels - 2)) + "]")
    text += "".join(f"[columns.c{place}]\nkind='unused'\n" for place in range(columns - 1))
    if refused:
        with pytest.raises(SchemaInvalid, match="at most 10000 columns, and at most 100000 levels"):
            Schema.from_text(text)
    else:
        assert len(Schema.from_text(text).unused) == columns - 1


def test_a_schema_whose_text_nobody_could_read_back_cannot_be_made():
    with pytest.raises(SchemaInvalid, match="4 MiB"):
        Schema(10, (NumberColumn("\t" * 2**21, (0, 1)),), Target("y", classes=(0, 1)))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        (b"\xff\xfe" + EXAMPLE.encode("utf-16-le"), "not UTF-8"),
        (b"n = \xe9", "not UTF-8"),
        (b" " * (4 * 2**20 + 1), "larger"),
        (b"\x00" * 100, "no TOML"),
        (b"", "schema_version"),
    ],
    ids=["no file", "UTF-16", "Latin-1", "too large", "zeros", "empty"],
)
def test_a_file_that_cannot_be_a_schema_is_refused(content, words, tmp_path):
    path = tmp_path / "schema.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SchemaInvalid, match=words) as caught:
        Schema.from_toml(path)
    assert str(path) in str(caught.value)


def test_a_folder_and_an_impossible_name_are_refused(tmp_path):
    for path in (tmp_path, "schema\0.toml"):
        with pytest.raises(SchemaInvalid, match=r"schema\.toml"):
            Schema.from_toml(path)


def test_a_file_with_a_byte_order_mark_and_windows_line_ends_is_read(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    assert Schema.from_toml(str(path)) == Schema.from_text(EXAMPLE)


@pytest.mark.parametrize(
    "make",
    [
        lambda: NumberColumn("", (0, 1)),
        lambda: NumberColumn(3, (0, 1)),
        lambda: NumberColumn("a", (1, 0)),
        lambda: NumberColumn("a", "01"),
        lambda: NumberColumn("a", (0, 1), fill=2),
        lambda: NumberColumn("a\ud800", (0, 1)),
        lambda: CategoryColumn("a", "abc", "a"),
        lambda: CategoryColumn("a", ("b",), "c"),
        lambda: CategoryColumn("a", (10**5000,), None),
        lambda: Target("a", classes=(0, 1), bounds=(0, 1)),
        lambda: Target(None),
        lambda: Schema(10, "columns", Target("a")),
        lambda: Schema(10, (NumberColumn("a", (0, 1)),), "a"),
        lambda: Schema(10, (NumberColumn("a", (0, 1)),), Target("b"), unused=("",)),
        lambda: Schema(10, (NumberColumn("a", (0, 1)),) * 2, Target("b")),
        lambda: Schema(10, (NumberColumn("a", (0, 1)),), Target("b"), private_bounds=0.0),
    ],
)
def test_facts_that_cannot_be_so_are_refused_without_a_file_too(make):
    with pytest.raises(InvalidParameter):
        make()


def test_private_bounds_pay_for_blank_bounds_and_for_nothing_else():
    schema = Schema.from_text(BLANK.replace("classes", "bounds").replace('name = ""', 'name = "y"'))
    assert schema.unbounded == ("age", "y")
    paid = schema.with_private_bounds(0.1)
    assert paid.private_bounds == 0.1
    assert not [path for path in paid.blanks() if path.endswith("bounds")]
    assert set(paid.blanks()) == {path for path in schema.blanks() if not path.endswith("bounds")}
    assert paid.unbounded == schema.unbounded
    assert "private_bounds" not in paid.to_toml()
    filled = paid.with_bounds({"age": (0, 100), "y": (-1, 1)})
    assert (filled.columns[0].bounds, filled.target.bounds, filled.private_bounds) == ((0, 100), (-1, 1), None)
    assert filled.unbounded == ()


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf"), "1", True, None], ids=str)
def test_private_bounds_need_a_positive_epsilon(epsilon):
    with pytest.raises(InvalidParameter, match="for example"):
        Schema.from_text(BLANK).with_private_bounds(epsilon)


def test_a_schema_without_blank_bounds_has_nothing_to_pay_for():
    with pytest.raises(InvalidParameter, match="blank bounds"):
        Schema.from_text(EXAMPLE).with_private_bounds(0.1)


def test_the_remedy_speaks_of_private_bounds_only_where_bounds_are_blank():
    with pytest.raises(SchemaInvalid) as caught:
        Schema.from_text(EXAMPLE.replace("n = 32561", 'n = ""')).require_complete()
    assert "private" not in caught.value.remedy


def test_bounds_are_filled_in_only_where_they_are_blank():
    with pytest.raises(InvalidParameter, match="age"):
        Schema.from_text(EXAMPLE).with_bounds({"age": (0, 1)})
    with pytest.raises(SchemaInvalid, match=r"columns\.age\.bounds"):
        Schema.from_text(BLANK).with_bounds({"age": (1, 0)})


def test_a_declared_fill_outside_bounds_that_came_later_moves_to_the_nearer_one():
    schema = Schema.from_text(small(column='kind = "number"\nbounds = []\nfill = 40'))
    assert schema.with_bounds({"age": (50, 60)}).columns[0].fill == 50
    assert schema.with_bounds({"age": (0, 60)}).columns[0].fill == 40


def test_the_canonical_text_is_the_same_for_the_same_facts():
    shuffled = EXAMPLE.replace("[17, 90]", "[ 17.0, 9e1 ]").replace("row_norm = 2.0", "row_norm = 2")
    assert Schema.from_text(shuffled).to_toml() == Schema.from_text(EXAMPLE).to_toml()
    assert Schema.from_text(shuffled).digest == Schema.from_text(EXAMPLE).digest
    assert Schema.from_text(EXAMPLE.replace("90", "91")).digest != Schema.from_text(EXAMPLE).digest
    assert Schema.from_text(small("fill = 0.0")).digest == Schema.from_text(small("fill = -0.0")).digest


def test_a_schema_is_copied_pickled_and_hashed():
    schema = Schema.from_text(EXAMPLE)
    assert copy.deepcopy(schema) == pickle.loads(pickle.dumps(schema)) == schema  # noqa: S301 - our own bytes
    assert hash(copy.deepcopy(schema)) == hash(schema)


def test_an_error_survives_pickling_with_its_faults():
    with pytest.raises(SchemaInvalid) as caught:
        NumberColumn("a", (1, 0))
    assert pickle.loads(pickle.dumps(caught.value)).faults == caught.value.faults  # noqa: S301 - our own bytes


def test_the_whole_example_of_the_guide_is_complete():
    schema = Schema.from_toml(DOCS / "schema" / "adult.toml")
    schema.require_complete()
    assert schema.n_samples == 32561


def test_every_example_of_the_guide_reads_and_every_key_is_explained():
    guide = (DOCS / "schema.md").read_text(encoding="utf-8")
    examples = [text for text in re.findall(r"```toml\n(.*?)```", guide, flags=re.DOTALL) if "schema_version" in text]
    assert examples
    for text in examples:
        Schema.from_text(text).require_complete()
    keys = {key for text in (EXAMPLE, BLANK) for key in re.findall(r"^(\w+) =", text, flags=re.MULTILINE)}
    assert {key for key in (*keys, "bounds") if f"`{key}`" not in guide} == set()


class Memory(RawTable):
    """A table of texts in memory, whose kinds only its values could tell."""

    def __init__(self, columns: dict[str, list[object]]) -> None:
        self.names = tuple(columns)
        self.n_samples = None
        self.kinds = dict.fromkeys(columns, "unknown")
        self.source = "memory"
        self._columns = columns

    def batches(self, names):
        yield {name: np.array(self._columns[name], dtype=object) for name in names}


def test_a_draft_guesses_kinds_from_the_first_rows_alone():
    values = {
        "numbers": ["1", " 2.5", "NA", None],
        "mostly numbers": ["1", "2", "?"],
        "words": ["a", "1", "b"],
        "nothing": ["", None],
        "late words": ["1"] * 1000 + ["a"] * 5000,
        "infinite": ["inf", "nan"],
    }
    columns = Schema.from_text(draft(Memory(values))).columns
    numbers = [column.name for column in columns if isinstance(column, NumberColumn)]
    assert numbers == ["numbers", "mostly numbers", "late words"]


def test_a_draft_of_odd_names_reads_back_and_holds_no_value():
    names = ['a "b"', "a\n[columns.x]\nkind", "# no comment", "größe", "\x7f", "'", "{missing}"]
    text = draft(Memory({name: ["secret"] for name in names}))
    assert [column.name for column in Schema.from_text(text).columns] == names
    assert "secret" not in text


def test_a_draft_of_a_table_that_no_schema_can_describe_is_refused():
    with pytest.raises(SchemaInvalid, match="at most 10000 columns"):
        draft(Memory({f"c{place}": [1] for place in range(10_001)}))
