"""Columns of Arrow files: what one row holds is a value and never raises, what says where rows lie is structure."""

import struct

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.ipc
import pytest

from equipoise.data.arrow_columns import undamaged, with_all_digits
from equipoise.data.arrow_values import arrow_column, arrow_values
from equipoise.data.files import open_table
from equipoise.errors import InvalidData, TableUnreadable


def values_of(tmp_path, array, stream=False, packed=None) -> list[object]:
    """Return a column as it is read from a file."""
    path = tmp_path / "table.arrow"
    table = pa.table({"a": array})
    options = pa.ipc.IpcWriteOptions(compression=packed)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(path), table.schema, options=options) as writer:
        writer.write_table(table)
    (batch,) = open_table(path).batches(["a"])
    return [None if value is None or value != value else value for value in batch["a"].tolist()]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("packed", [None, "zstd"])
@pytest.mark.parametrize("words", [pa.array(["x", "y"]), pa.array([1.0, 2.0])], ids=["text", "numbers"])
@pytest.mark.parametrize(
    ("kind", "index"),
    [("int8", 2), ("int8", -1), ("int8", 127), ("int32", 2**31 - 1), ("uint8", 255), ("int64", -(2**63))],
)
def test_an_index_outside_of_its_dictionary_is_a_missing_value(tmp_path, stream, packed, words, kind, index):
    codes = pa.array(np.array([0, index, 1, 0], dtype=kind))
    array = pa.DictionaryArray.from_arrays(codes, words, safe=False)
    first, second = words.to_pylist()
    assert values_of(tmp_path, array, stream, packed) == [first, None, second, first]


LONG = "a text of more than twelve bytes"
VIEWS = {
    "outside of its buffer": struct.pack("<i4sii", 20, b"a te", 0, 20),
    "before its buffer": struct.pack("<i4sii", 20, b"a te", 0, -20),
    "in no buffer": struct.pack("<i4sii", 20, b"a te", 7, 0),
    "in a buffer before the first": struct.pack("<i4sii", 20, b"a te", -1, 0),
    "of a negative length": struct.pack("<i4sii", -1, b"a te", 0, 0),
}
ODD = {
    "another beginning": (struct.pack("<i4sii", len(LONG), b"zzzz", 0, 0), LONG),
    "bytes after a short text": (struct.pack("<i", 1) + b"abcdefghijkl", "a"),
}


def of_views(kind, *views: bytes) -> pa.Array:
    return pa.Array.from_buffers(kind, len(views), [None, pa.py_buffer(b"".join(views)), pa.py_buffer(LONG.encode())])


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()], ids=str)
@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("case", [*VIEWS, *ODD])
def test_a_view_that_leads_nowhere_is_a_missing_value(tmp_path, kind, coded, case):
    good, (odd, expected) = struct.pack("<i4sii", len(LONG), b"a te", 0, 0), ODD.get(case) or (VIEWS[case], None)
    array = of_views(kind, good, odd, good)
    if coded:
        array = pa.DictionaryArray.from_arrays(pa.array([2, 1, 0]), array)
    assert values_of(tmp_path, array) == [LONG, expected, LONG]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.float64()], ids=str)
def test_runs_are_read_in_every_slice(tmp_path, kind):
    texts = [LONG, None, "x"] if kind != pa.float64() else [1.0, None, 2.0]
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 7], pa.int16()), pa.array(texts, kind))
    expected = [texts[0]] * 2 + [None] + [texts[2]] * 4
    assert values_of(tmp_path, runs) == expected
    for start in range(7):
        found = arrow_values(runs.slice(start, 3)).tolist()
        assert [None if value != value else value for value in found] == expected[start : start + 3]


@pytest.mark.parametrize("ends", [[3, 3, 7], [3, 2, 7], [0, 3, 7], [-1, 3, 7], [2, 3, 6]])
def test_run_ends_that_tell_no_rows_apart_are_unreadable(tmp_path, ends):
    # One that is too small for its batch is refused by PyArrow, and the others by nobody else.
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 7], pa.int32()), pa.array([1.0, 2.0, 3.0]))
    table = pa.table({"a": runs})
    path = tmp_path / "table.arrow"
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    before, after = (np.array(each, dtype=np.int32).tobytes() for each in ([2, 3, 7], ends))
    content = path.read_bytes()
    assert content.count(before) == 1
    path.write_bytes(content.replace(before, after))
    with pytest.raises(TableUnreadable):
        list(open_table(path).batches(["a"]))


@pytest.mark.parametrize("outer", ["dictionary", "runs"])
def test_codes_of_codes_are_refused_by_their_type(tmp_path, outer):
    # A dictionary of two runs may have any number of entries.
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 2**20], pa.int32()), pa.array(["x", "y"]))
    array = pa.DictionaryArray.from_arrays(pa.array([0, 5, 2]), runs)
    if outer == "runs":
        coded = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["x"]))
        array = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), coded)
    with pytest.raises(InvalidData, match="other types: a"):
        values_of(tmp_path, array)


@pytest.mark.parametrize("odd", ["text that is no UTF-8", "25 o'clock", "a day and an hour"])
def test_a_value_of_a_run_raises_no_more_than_one_of_a_plain_column(odd):
    ends = pa.array([1, 2], pa.int32())
    if odd == "25 o'clock":
        values = pa.array([3600, 90000], pa.int32()).view(pa.time32("s"))
    elif odd == "a day and an hour":
        values = pa.array([86_400_000, 90_000_000], pa.int64()).view(pa.date64())
    else:
        values = pa.array([b"a", b"\xff"]).view(pa.string())
    plain = pa.RunEndEncodedArray.from_arrays(ends, pa.nulls(2))
    runs = pa.Array.from_buffers(pa.run_end_encoded(pa.int32(), values.type), 2, [None], children=[ends, values])
    assert len(plain) == len(runs)
    assert len(arrow_column(undamaged(runs))) == 2
    assert len(arrow_column(with_all_digits(undamaged(runs)))) == 2
