"""Text as bytes: numbers and words are, bit for bit, those that the rule finds in each text by itself."""

import sys
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equipoise.data.arrow_values import arrow_column, arrow_values
from equipoise.data.encoder import Encoder
from equipoise.data.files import open_table
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target
from equipoise.data.texts import Texts, padded
from equipoise.errors import MissingExtra

# Long levels that differ in the middle alone, one that is a replacement character, one inside of another.
LEVELS = (
    "State-gov",
    "a" * 9 + "b" + "c" * 9,
    "a" * 9 + "x" + "c" * 9,
    "\ufffd",
    "Gr\u00e4z",
    "e",
    "12345678",
    "1234567",
)
SCHEMA = Schema(
    None,
    (NumberColumn("age", (20, 60)), CategoryColumn("work", LEVELS, unknown="e", fill="State-gov")),
    Target("ill", classes=("no", "yes")),
    missing=("", "NA", "-999", "1e3", "\u00e4"),
)
ENCODER = Encoder(SCHEMA)


def texts_of(contents: list[bytes | None]) -> Texts:
    ends = np.cumsum([len(content or b"") for content in contents], dtype=np.int64)
    starts = ends - np.array([len(content or b"") for content in contents], dtype=np.int64)
    starts[[content is None for content in contents]] = -1
    return Texts(padded(*(content or b"" for content in contents)), starts, ends)


def one_by_one(name: str, contents: list[bytes | None]) -> np.ndarray:
    decoded = (None if content is None else content.decode("utf-8", errors="replace") for content in contents)
    return np.concatenate([ENCODER.read(name, np.array([text], dtype=object)) for text in decoded])


def bits(numbers: np.ndarray) -> list[int]:
    return numbers.view(np.int64).tolist()


digits = st.text("0123456789", min_size=1, max_size=19)
written = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    st.one_of(digits, digits.map("{}.".format), digits.map(".{}".format), st.builds("{}.{}".format, digits, digits)),
    st.sampled_from(["", "e", "E", "e+", "e-"]),
    st.integers(0, 330).map(str) | st.just(""),
)
around = st.sampled_from(["", " ", "\t", "\x0b", "\x1c", "\u00a0", "\u2003", "\0", "_"])
numbers = st.builds(
    "{}{}{}".format,
    around,
    st.one_of(
        written, st.floats().map(repr), st.integers().map(str), st.sampled_from(["inf", "-nan", "Infinity", "1_0"])
    ),
    around,
).map(str.encode)
hostile = st.text("0123456789.eE+-_ infay\t\x0b\x1c\0\u0661\u00a0\u2003", max_size=8).map(str.encode)


@given(st.lists(st.none() | numbers | hostile | st.binary(max_size=6), max_size=20))
@example(
    [
        b"-0",
        b"0e999",
        b"-.0",
        b"1e22",
        b"3e23",
        b"1e-23",
        b"9007199254740991",
        b"9007199254740993",
        b"900719925474099.25",
    ]
)
@example(
    [b"1e", b"e5", b"1e+", b".", b"-", b"1 2", b"1 \xc2\xa0", b"1e00000000000000000000005", b"12.5.5", b"\xd9\xa1"]
)
@settings(max_examples=1000, deadline=None)
def test_a_number_has_the_bits_that_python_gives_to_its_text_alone(contents):
    assert bits(ENCODER.read("age", texts_of(contents))) == bits(
        one_by_one("age", contents) if contents else np.empty(0)
    )


pieces = st.sampled_from([level.encode() for level in LEVELS] + [b"NA", b"\xff", b"\xef\xbf", b"a", b"c", b"\xc3\xa4"])
blanks = st.sampled_from([b"", b" ", b"\t", b"\x1f", b"\r", b"\n", "\u00a0".encode(), "\u0085".encode(), b"\0"])
words = st.builds(lambda *parts: b"".join(parts), blanks, pieces, st.one_of(st.just(b""), pieces), blanks)


@given(st.lists(st.none() | words | st.binary(max_size=12), min_size=1, max_size=20))
@settings(max_examples=1000, deadline=None)
def test_a_word_is_found_as_its_text_alone_is(contents):
    found = ENCODER.read("work", texts_of(contents))
    assert found.tolist() == one_by_one("work", contents).tolist()


def test_no_level_is_found_for_another_among_many():
    levels = tuple(f"level {place:07d} of a column" for place in range(5000))
    encoder = Encoder(Schema(None, (CategoryColumn("work", levels, unknown=levels[0]),), SCHEMA.target))
    assert encoder.read("work", texts_of([level.encode() for level in levels])).tolist() == list(range(5000))
    others = [level.replace("level", "Level").encode() for level in levels]
    assert not encoder.read("work", texts_of(others)).any()


@given(st.binary(max_size=8), st.sampled_from([b",", b"\t", b"|", b"1", b"\x7f"]), st.binary(max_size=8))
@settings(max_examples=1000, deadline=None)
def test_a_line_is_decoded_as_its_fields_are(left, delimiter, right):
    whole = (left + delimiter + right).decode("utf-8", errors="replace")
    assert whole == "".join(part.decode("utf-8", errors="replace") for part in (left, delimiter, right))


ARROW = {
    "text": pa.array(["a", None, "Gr\u00e4z", ""]),
    "long text": pa.array(["a", None, "b"], pa.large_string()),
    "a view": pa.array(["a", None, "b" * 20], pa.string_view()),
    "bytes": pa.array([b"a\xff", None, b"\xe2\x82"]),
    "bytes of one length": pa.array([b"ab", None, b"cd"], pa.binary(2)),
    "no UTF-8": pa.array([b"\xff", None, b"a"]).view(pa.string()),
    "codes": pa.array(["a", None, "b", "a"]).dictionary_encode(),
    "codes that stand for nothing": pa.DictionaryArray.from_arrays(
        pa.array([0, 7, None, -1], pa.int8()), pa.array(["a", None]), safe=False
    ),
    "codes of numbers": pa.array([1.5, None]).dictionary_encode(),
    "nothing": pa.array([], pa.string()),
    "nothing but missing texts": pa.array([None, None], pa.string()),
}


@pytest.mark.parametrize("case", ARROW)
def test_an_arrow_column_is_the_same_text_without_its_objects(case):
    for column in (ARROW[case], ARROW[case][1:], ARROW[case][:0]):
        np.testing.assert_equal(arrow_column(column).tolist(), arrow_values(column).tolist())


def test_loops_that_cannot_be_loaded_are_missed_before_a_file_is_read(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a\n1\n")
    with mock.patch.dict(sys.modules, {"equipoise.data.text_loops": None}), pytest.raises(MissingExtra, match="spent"):
        open_table(tmp_path / "t.csv")


def test_texts_stand_for_an_array_of_objects():
    texts = texts_of([b"1", None, b"\xff", b"22"])
    assert np.asarray(texts).tolist() == list(texts) == ["1", None, "\ufffd", "22"]
    assert texts[::-1].tolist() == texts.tolist()[::-1]
    assert [texts[place] for place in range(4)] == texts.tolist()
    assert texts[np.array([3, 0])].numbers().tolist() == [22.0, 1.0]
    assert np.concatenate([texts, texts]).tolist() == 2 * texts.tolist()
