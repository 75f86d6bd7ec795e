"""The cryptographic stream: known answers of the cipher, no word used twice, and the laws of what is made of words.

Fresh keys make these tests random. Each comparison with a law raises a false alarm with probability 1e-6.
"""

import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from equipoise.noise import ExactSource, NoiseSource, SeededSource, stream
from equipoise.noise.stream import LAYERS, TAIL, WIDTHS, CipherStream

FALSE_ALARM = 1e-6
COUNT = 400_000

every_source = pytest.mark.parametrize("source", [ExactSource(), SeededSource(3)], ids=["exact", "seeded"])


def normals(source, count: int):
    out = np.empty(count)
    source.normals(out)
    return out


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


def by_the_book(words, count: int):
    """Return normal numbers by the ziggurat, one word after the other, and how many words they took."""
    rest = iter(words.tolist())
    uniform = lambda word: ((word >> 11) + 0.5) / 2**53  # noqa: E731
    density = lambda x: math.exp(-x * x / 2)  # noqa: E731
    out, used = [], 0
    while len(out) < count:
        word = next(rest)
        used += 1
        layer, value = word % 256, uniform(word) * WIDTHS[word % 256]
        if value >= WIDTHS[layer + 1]:
            if layer == 0:
                while True:
                    excess, height = -math.log(uniform(next(rest))) / TAIL, -math.log(uniform(next(rest)))
                    used += 2
                    if 2 * height > excess**2:
                        break
                value = TAIL + excess
            else:
                low, high = density(WIDTHS[layer]), density(WIDTHS[layer + 1])
                used += 1
                if low + uniform(next(rest)) * (high - low) >= density(value):
                    continue
        out.append(-value if word >> 8 & 1 else value)
    return np.array(out), used


@pytest.mark.parametrize("piece", [8, 9, 64, 2**14])
def test_normals_take_each_word_once_and_in_order(piece, monkeypatch):
    # Pieces of 8 words end within corners and tails: the draw goes on with the next piece's words.
    monkeypatch.setattr(stream, "PIECE", piece)
    source = CipherStream(bytes(range(32)))
    found = np.concatenate([normals(source, 7), normals(source, 20_000), normals(source, 1)])
    wanted, _ = by_the_book(CipherStream(bytes(range(32))).words(21_000), len(found))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert (np.abs(found) > TAIL).sum() > 0


@pytest.mark.parametrize("piece", [8, 2**14])
def test_integers_take_each_word_once_and_in_order(piece, monkeypatch):
    monkeypatch.setattr(stream, "PIECE", piece)
    source = CipherStream(bytes(range(32)))
    found = np.concatenate([integers(source, 5, 3), integers(source, 5, 1000)])
    low = CipherStream(bytes(range(32))).words(3000) & np.uint64(7)
    np.testing.assert_array_equal(found, low[low < 5][: len(found)])


def test_two_sources_and_two_calls_differ():
    source = ExactSource()
    draws = [normals(source, 100), normals(source, 100), normals(ExactSource(), 100)]
    assert len(np.unique(draws)) == 300
    np.testing.assert_array_equal(normals(SeededSource(5), 9), normals(SeededSource(5), 9))


# --- laws -------------------------------------------------------------------------------------------------------------


def test_the_layers_of_the_ziggurat_have_one_area_and_end_at_the_top():
    heights = np.exp(-np.square(WIDTHS[1:]) / 2)
    areas = WIDTHS[1:LAYERS] * np.diff(heights)
    lowest = TAIL * heights[0] + math.sqrt(2 * math.pi) * scipy.stats.norm.sf(TAIL)
    np.testing.assert_allclose(areas, lowest, rtol=1e-11)
    assert math.isclose(WIDTHS[0] * heights[0], lowest, rel_tol=1e-14)


@every_source
def test_normals_follow_their_law(source):
    sample = normals(source, COUNT)
    assert scipy.stats.kstest(sample, "norm").pvalue > FALSE_ALARM
    # The sum of squares is chi-square, the sum normal: both exactly.
    assert scipy.stats.chi2(COUNT).cdf(np.square(sample).sum()) == pytest.approx(0.5, abs=0.5 - FALSE_ALARM / 2)
    assert abs(sample.sum()) / math.sqrt(COUNT) < scipy.stats.norm.isf(FALSE_ALARM / 2)
    # Neighbours are independent: their products have mean 0 and variance 1, and are many.
    assert abs(sample[:-1] @ sample[1:]) / math.sqrt(COUNT) < 1.01 * scipy.stats.norm.isf(FALSE_ALARM / 2)


def test_cells_of_normals_hold_what_they_should_tails_included():
    # Cells narrower than the layers of the ziggurat would show a wrong corner; the outermost begin beyond its edge.
    edges = np.concatenate([[-np.inf, -4.0], np.arange(-3.9, 3.95, 0.1), [4.0, np.inf]])
    sample = np.concatenate([normals(ExactSource(), 2_000_000) for _ in range(3)])
    found, _ = np.histogram(sample, edges)
    wanted = len(sample) * np.diff(scipy.stats.norm.cdf(edges))
    assert wanted.min() > 50
    assert scipy.stats.chisquare(found, wanted).pvalue > FALSE_ALARM


def test_the_tail_has_the_normal_law():
    # One in 3,900 is beyond the edge; given that, its law is the normal one cut off there.
    sample = np.concatenate([normals(ExactSource(), 2**21) for _ in range(4)])
    tail = np.abs(sample[np.abs(sample) > TAIL])
    assert scipy.stats.binomtest(len(tail), len(sample), 2 * scipy.stats.norm.sf(TAIL)).pvalue > FALSE_ALARM
    survival = lambda x: scipy.stats.norm.sf(x) / scipy.stats.norm.sf(TAIL)  # noqa: E731
    assert scipy.stats.kstest(tail, lambda x: 1 - survival(x)).pvalue > FALSE_ALARM


def test_the_tail_is_not_cut_off():
    # Words that ask for layer 0 beyond its edge, an excess of 8.2 and a height above 8.2^2 / 2 = 33.6.
    words = np.array([2**64 - 512, int(math.exp(-8.2 * TAIL) * 2**64), 0], dtype=np.uint64)
    out = np.empty(1)
    assert stream.fill_normals(words, WIDTHS, out, 0) == (1, 3)
    assert out[0] == pytest.approx(TAIL + 8.2, abs=0.1)


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
    """A source that knows the laws alone: normal and whole numbers come of them."""

    def __init__(self) -> None:
        self._inner = SeededSource(11)

    seeded = True

    def add(self, law, weights, scale):
        return self._inner.add(law, weights, scale)

    def subset(self, count, size):
        return self._inner.subset(count, size)


def test_a_source_of_laws_alone_has_normals_and_integers_too():
    out = np.empty((500, 4))
    Slow().normals(out)
    assert scipy.stats.kstest(out.ravel(), "norm").pvalue > FALSE_ALARM
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
