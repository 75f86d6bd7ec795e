"""Hashed categories: a bucket that nobody chooses, and that stays for ever."""

import hashlib

import numpy as np
import pytest

from equipoise.data.encoder import Encoder
from equipoise.data.schema import HashedColumn, Schema, Target
from equipoise.errors import SchemaInvalid
from sample_kinds import objects


def test_the_bucket_is_the_documented_one():
    for text in ("", "Graz", "Gr\u00e4z", "8010"):
        expected = int(hashlib.sha256(text.encode()).hexdigest()[:16], 16) % 64
        assert HashedColumn("a").bucket(text) == expected
    # Fixed for ever: a stored schema must encode as it did.
    assert [HashedColumn("a", 1000).bucket(text) for text in ("Graz", "Wien")] == [596, 668]


def test_values_are_hashed_by_their_text_and_missing_ones_have_their_own_column():
    encoder = Encoder(Schema(None, (HashedColumn("a", 7),), Target("y", classes=(0, 1))))
    found = encoder.read("a", objects([8010, "8010", 8010.0, " 8010 ", None, "NA", "\ud800"]))
    assert len(set(found[:4])) == 1
    assert found[4:6].tolist() == [7, 7]
    assert encoder.encode({"a": objects([None])}, 1).tolist() == [[0.0] * 7 + [1.0]]


def test_buckets_are_about_equally_full():
    column = HashedColumn("a", 16)
    counts = np.bincount([column.bucket(f"street {number}") for number in range(16_000)], minlength=16)
    assert counts.min() > 850
    assert counts.max() < 1150


@pytest.mark.parametrize("buckets", [1, 0, -1, 2.5, "64", None, 100_001, True])
def test_impossible_numbers_of_buckets_are_refused(buckets):
    with pytest.raises(SchemaInvalid, match=r"columns\.a\.buckets"):
        HashedColumn("a", buckets)


def test_buckets_count_as_levels_of_the_whole_schema():
    with pytest.raises(SchemaInvalid, match="at most 100000 levels"):
        Schema(None, (HashedColumn("a", 60_000), HashedColumn("b", 60_000)), Target("y", classes=(0, 1)))
