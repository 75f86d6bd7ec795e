"""The cryptographic stream: known answers of the cipher, no word used twice, and the laws of what is made of words.

Fresh keys make these tests random. Each comparison with a law raises a false alarm with probability 1e-6.
"""

import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from equipoise.noise import ExactSource, NoiseSource, SeededSource, stream
from equipoise.noise.stream import CipherStream

FALSE_ALARM = 1e-6

every_source = pytest.mark.parametrize("source", [ExactSource(), SeededSource(3)], ids=["exact", "seeded"])


def integers(source, bound: int, count: int):
    out = np.empty(count, dtype=np.int64)
    source.integers(bound, out)
    return out


# --- words ------------------------------------------------------------------------------------------------------------


def test_words_are_the_known_answer_of_aes_in_counter_mode():
    # A block of zeros under a key of zeros, then the counter at 1.
    words = CipherStream(bytes(32)).words(4).astype("<u8").tobytes()
    assert words[:16].hex() == "dc95c078a2408989ad48a21492842087"
    block = Cipher(algorithms.AES256(bytes(32)), modes.ECB()).encryptor()  # noqa: S305 - one block, to compare with
    assert words[16:] == block.update((1).to_bytes(16, "big"))


def test_no_word_comes_twice_however_they_are_asked_for():
    key = bytes(range(32))
    whole = CipherStream(key).words(1000)
    assert len(np.unique(whole)) == 1000
    parts = CipherStream(key)
    taken = [parts.words(count) for count in (1, 2, 3, 500, 494)]
    np.testing.assert_array_equal(np.concatenate(taken), whole)


@pytest.mark.parametrize("piece", [8, 2**14])
def test_integers_take_each_word_once_and_in_order(piece, monkeypatch):
    monkeypatch.setattr(stream, "PIECE", piece)
    source = CipherStream(bytes(range(32)))
    found = np.concatenate([integers(source, 5, 3), integers(source, 5, 1000)])
    low = CipherStream(bytes(range(32))).words(3000) & np.uint64(7)
    np.testing.assert_array_equal(found, low[low < 5][: len(found)])


def test_two_sources_and_two_calls_differ():
    source = ExactSource()
    draws = [integers(one, 2**62, 100) for one in (source, source, ExactSource())]
    assert len(np.unique(draws)) == 300
    np.testing.assert_array_equal(integers(SeededSource(5), 99, 9), integers(SeededSource(5), 99, 9))


# --- laws -------------------------------------------------------------------------------------------------------------


@every_source
@pytest.mark.parametrize("bound", [2, 5, 100, 257])
def test_integers_are_uniform(source, bound):
    found = integers(source, bound, 100_000)
    assert found.min() >= 0
    assert found.max() < bound
    assert scipy.stats.chisquare(np.bincount(found, minlength=bound)).pvalue > FALSE_ALARM


def test_integers_reach_from_one_value_to_beyond_32_bits():
    assert not integers(ExactSource(), 1, 100).any()
    bound = 3 * 2**60
    found = integers(ExactSource(), bound, 20_000)
    assert scipy.stats.kstest(found / bound, "uniform").pvalue > FALSE_ALARM


class Slow(NoiseSource):
    """A source that knows the laws alone: noise for steps and whole numbers come of them."""

    def __init__(self) -> None:
        self._inner = SeededSource(11)

    seeded = True

    def add(self, law, weights, scale):
        return self._inner.add(law, weights, scale)

    def subset(self, count, size):
        return self._inner.subset(count, size)


def test_a_source_of_laws_alone_has_noise_for_steps_and_integers_too():
    found = Slow().noise("gaussian", 2000, 2.0).sums(np.ones(2000))
    assert scipy.stats.kstest((found - 1) / 2, "norm").pvalue > FALSE_ALARM
    assert scipy.stats.chisquare(np.bincount(integers(Slow(), 5, 2000), minlength=5)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("source", [ExactSource(), SeededSource(4), Slow()], ids=["exact", "seeded", "laws alone"])
def test_a_choice_has_the_chances_of_the_exponential_mechanism(source):
    scores, scale, runs = np.array([0.0, 3.0, 1.0, -2.0]), 2.0, 2000
    counts = np.bincount([source.choose(scores, scale) for _ in range(runs)], minlength=4)
    chances = np.exp(scores / scale) / np.exp(scores / scale).sum()
    assert scipy.stats.chisquare(counts, runs * chances).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    "name", ["equipoise.noise", "equipoise.solve.descents.stochastic", "equipoise.certify.certificate"]
)
def test_neither_compiler_nor_cipher_is_loaded_before_it_is_needed(name):
    program = f"import sys, {name}; assert not {{'numba', 'cryptography'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
