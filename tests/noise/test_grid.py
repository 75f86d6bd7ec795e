"""Sums rounded to the grid: what is not decided by known digits is asked for, and never guessed.

Fresh entropy makes the comparisons with laws random; each raises a false alarm with probability 1e-6.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from equipoise.noise import ExactSource, SeededSource, draws, grid, numbers, source
from equipoise.noise.draws import Draws, grid_noise
from equipoise.noise.exact import opendp, vector_space
from equipoise.noise.grid import (
    GridNoise,
    KnownWidth,
    ListedNumbers,
    Width,
    grid_of,
    in_steps,
    listed_noise,
    steps_to,
)
from equipoise.noise.lazy import Deviate, Uniform
from equipoise.noise.numbers import whole_numbers
from equipoise.noise.samplers import sampler_of, spherical_laplace
from equipoise.noise.samplers.spherical_laplace import DrawnWidth

FALSE_ALARM = 1e-6
LAWS = ("gaussian", "laplace", "spherical-laplace")


def known_width(scale: float) -> KnownWidth:
    return KnownWidth(in_steps(scale, grid_of(scale)))


def noise_of(scale: float, drawn: list[tuple[int, int, bool]], in_bulk: bool) -> GridNoise:
    """Return noise of given numbers, each a whole part, 63 digits and a sign."""
    return gridded(drawn, known_width(scale), grid_of(scale), in_bulk)


def gridded(drawn: list[tuple[int, int, bool]], width: Width, exponent: int, in_bulk: bool) -> GridNoise:
    """Return given numbers times a width as noise on a grid."""
    if in_bulk:
        found = Draws(
            np.array([whole for whole, _, _ in drawn]),
            np.array([digits << 1 | negative for _, digits, negative in drawn], dtype=np.uint64),
            {},
        )
        return grid_noise(found, width, exponent)
    listed = [Deviate(whole, Uniform(digits, 63), negative) for whole, digits, negative in drawn]
    return listed_noise(ListedNumbers(listed), width, exponent)


both_ways = pytest.mark.parametrize("in_bulk", [True, False], ids=["compiled", "listed"])


# --- arithmetic -------------------------------------------------------------------------------------------------------


def test_products_of_two_words_are_those_of_whole_numbers():
    coins = np.random.default_rng(0)
    pairs = [(2**61 - 1, 7, 2**63 - 1), (1, 0, 0), (2**60, 7, 1)]
    pairs += [(int(coins.integers(2**61)), int(coins.integers(8)), int(coins.integers(2**63))) for _ in range(500)]
    for multiple, whole, fraction in pairs:
        high, low = draws.product(multiple, whole, fraction)
        assert (int(high) << 64) + int(low) == multiple * ((whole << 63) + fraction)


@both_ways
@pytest.mark.parametrize("scale", [1e-300, 0.03, 1.0, math.nextafter(2.0, 0.0), 1e300])
def test_sums_are_the_nearest_points_of_the_grid(scale, in_bulk):
    coins = np.random.default_rng(1)
    drawn = [(int(coins.integers(12)), int(coins.integers(2**63)), bool(coins.integers(2))) for _ in range(300)]
    values = np.concatenate([[0.0, 5e-324, -5e-324, 1e308, -1e308, scale / 2], scale * coins.normal(size=294) * 1e3])
    noise = noise_of(scale, drawn, in_bulk)
    # Whole parts from 8 on are left to exact arithmetic.
    assert np.isnan(noise.parts).tolist() == [whole >= 8 for whole, _, _ in drawn]
    found = noise.sums(values)
    for place, (whole, digits, negative) in enumerate(drawn):
        size = in_steps(scale, grid_of(scale)) * (whole + Fraction(2 * digits + 1, 2**64))
        steps = math.floor(
            in_steps(float(values[place]), grid_of(scale)) + (-size if negative else size) + Fraction(1, 2)
        )
        if abs(steps) < 2**1023:
            assert found[place] == math.ldexp(float(steps), grid_of(scale)), place
        else:
            assert found[place] == values[place]


@both_ways
@pytest.mark.parametrize("scale", [2.0**-1000, 1.0, 2.0**960, 2.0**1000])
@pytest.mark.parametrize("value", [1.7976931348623157e308, -1.7976931348623157e308, 1e308, 2.0**1000])
def test_a_point_beyond_all_doubles_becomes_the_last_one_however_it_was_found(scale, value, in_bulk):
    coins = np.random.default_rng(3)
    drawn = [(whole, int(coins.integers(2**63)), negative) for whole in range(8) for negative in (False, True)]
    noise = noise_of(scale, drawn, in_bulk)
    quick = noise.sums(np.full(len(drawn), value)).tolist()
    assert quick == [noise.settled(place, value) for place in range(len(drawn))]
    last = Fraction(math.nextafter(math.inf, 0.0))
    for place, found in enumerate(quick):
        steps = steps_to(value, grid_of(scale), noise.width, noise.numbers.at(place))
        point = steps * Fraction(2) ** grid_of(scale)
        assert found == float(max(-last, min(last, point)))


# Widths of the spherical law's noise on a hundred million weights and on two hundred thousand, and one too wide.
WIDE = [Fraction(2**110 // 3, 2**55), Fraction(2**110 // 7, 2**58), Fraction(2**60 + 1, 3)]


@pytest.mark.parametrize("width", WIDE)
def test_sums_of_wide_noise_are_the_nearest_points_of_the_grid(width, monkeypatch):
    coins = np.random.default_rng(4)
    drawn = [(int(coins.integers(9)), int(coins.integers(2**63)), bool(coins.integers(2))) for _ in range(2000)]
    noise, settled = gridded(drawn, KnownWidth(width), 0, in_bulk=True), []
    sizes = [width * (whole + Fraction(2 * digits + 1, 2**64)) for whole, digits, _ in drawn]
    # Values that noise nearly takes back leave sums of which every step is seen.
    values = [float(size if negative else -size) + 0.25 for size, (_, _, negative) in zip(sizes, drawn, strict=True)]
    values = np.concatenate([[0.0, 0.5, 1e300, -1e300, 2.0**61, -(2.0**61), 2.0**62], values[7:]])
    monkeypatch.setattr(GridNoise, "settled", lambda self, place, value: settled.append(place) or math.nan)
    found = noise.sums(values)
    for place, (_, _, negative) in enumerate(drawn):
        point = math.floor(Fraction(values[place]) + (-sizes[place] if negative else sizes[place]) + Fraction(1, 2))
        assert math.isnan(found[place]) or found[place] == float(point), place
    # What is left open: whole parts of 8, values beyond a word, and what 63 digits of a number do not tell.
    beyond = {place for place, (whole, _, _) in enumerate(drawn) if whole == 8} | set(range(2, 7))
    left = [place for place in settled if place not in beyond]
    assert beyond <= set(settled)
    assert len(left) <= (2000 if width == WIDE[2] else 4 + 3 * 2000 * 2 * noise.margin)
    assert noise.margin < float(width) * 2.0**-62


def test_a_multiple_without_its_last_digits_would_be_seen():
    # The fault: of the multiple of wide noise a word is used, and the rest is forgotten.
    width, coins = WIDE[0], np.random.default_rng(5)
    drawn = [(whole % 8, int(coins.integers(2**63)), False) for whole in range(4000)]
    found = Draws(
        np.array([each for each, _, _ in drawn]), np.array([each << 1 for _, each, _ in drawn], np.uint64), {}
    )
    values = np.array([-float(width * (whole + Fraction(digits, 2**63))) for whole, digits, _ in drawn])
    right = grid_noise(found, KnownWidth(width), 0).sums(values)
    leading, places, rest = KnownWidth(width).multiple().of_a_word()
    assert rest > 0
    wrong = grid_noise(found, KnownWidth(Fraction(leading, 2**places)), 0).sums(values)
    assert np.count_nonzero(wrong != right) > 10


def test_noise_on_many_weights_is_settled_for_few(monkeypatch):
    # With 400,000 weights whole parts are beyond what doubles hold, and one by one they took most of the time.
    asked = []
    settle = GridNoise.settled
    monkeypatch.setattr(GridNoise, "settled", lambda self, *given: asked.append(given) or settle(self, *given))
    noise = sampler_of("spherical-laplace").noise(400_000, 0.7)
    assert noise.wholes.dtype == np.int64
    assert np.abs(noise.wholes).max() > 2**50
    noise.sums(np.zeros(400_000))
    # The mean is 400,000 times twice the margin, 300 or less; the chance of three times as many is below 1e-100.
    assert len(asked) < 900
    assert 2 * noise.margin * 400_000 < 300


# --- what known digits do not decide ----------------------------------------------------------------------------------


def between(scale: float, value: float, digits: int) -> Fraction:
    """Return the fraction of a drawn number at which the sum with a value lies between two points of the grid."""
    width = in_steps(scale, grid_of(scale))
    near = math.floor(width * Fraction(digits, 2**63) + in_steps(value, grid_of(scale)))
    return (near + Fraction(1, 2) - in_steps(value, grid_of(scale))) / width


@both_ways
@pytest.mark.parametrize("negative", [False, True])
def test_a_sum_between_two_points_is_decided_by_digits_that_are_drawn_for_it(monkeypatch, in_bulk, negative):
    scale, digits = 0.7, 0x123456789ABCDEF0
    limit = between(scale, 0.0, digits)
    known = math.floor(limit * 2**63)
    further = limit * 2**63 - known
    assert 0 < further < 1
    # The next 64 digits put the number just below the limit, or just above it.
    results = []
    for shift in (-1, 1):
        word = math.floor(further * 2**64) + shift
        words = iter([word >> 32, word & 0xFFFFFFFF])
        monkeypatch.setattr(grid.Deviate, "extend", lambda self, words=words: _continue(self, words))
        noise = noise_of(scale, [(0, known, negative)], in_bulk)
        results.append(noise.sums(np.zeros(1))[0] / 2.0 ** grid_of(scale))
        assert next(words, None) is None  # both words were needed
    assert abs(results[1]) - abs(results[0]) == 1


def _continue(deviate: Deviate, words) -> None:
    fraction = deviate.fraction
    fraction.value, fraction.bits = fraction.value << 32 | next(words), fraction.bits + 32


@both_ways
def test_a_margin_of_nothing_would_be_seen(in_bulk):
    # The fault: to believe the known digits. Numbers next to a limit are then rounded to the wrong point.
    scale, digits = 0.7, 0x123456789ABCDEF0
    known = math.floor(between(scale, 0.0, digits) * 2**63)
    noise = noise_of(scale, [(0, known, False)] * 64, in_bulk)
    right = noise.sums(np.zeros(64))
    assert len(set(right.tolist())) == 2  # as further digits fall, but for a chance of 2^-63
    noise.margin = 0.0
    assert len(set(noise.sums(np.zeros(64)).tolist())) == 1


def test_digits_that_were_drawn_are_kept():
    noise = noise_of(0.7, [(0, math.floor(between(0.7, 0.0, 2**62) * 2**63), False)], in_bulk=True)
    assert len({noise.settled(0, 0.0) for _ in range(20)}) == 1
    assert noise.numbers.at(0).fraction.bits > 63


def test_a_drawn_width_becomes_narrower_and_stays_where_it_was():
    for dimension in (1, 2, 7, 1200):
        width = DrawnWidth.of(dimension, Fraction(2**40))
        low, high = width.bounds()
        width.extend()
        narrow_low, narrow_high = width.bounds()
        assert low <= narrow_low < narrow_high <= high
        assert narrow_high - narrow_low < (high - low) / 2**20


@pytest.mark.parametrize(("bits", "which"), [(63, "number"), (200, "width")])
def test_digits_are_drawn_of_what_is_known_worse(bits, which):
    # A width is shared by all numbers: to extend it for each of them would cost more the more there are.
    width = DrawnWidth.of(1200, Fraction(2**40))
    known, noise = width.bits, 4
    least, most = width.bounds()
    number = Deviate(0, Uniform(math.floor(2**bits * noise / (least + most) * 2), bits), False)
    near, far = number.bounds()
    assert least * near < noise < most * far  # so that 1/2 - noise lies between two points of the grid
    steps_to(0.5 - noise, 0, width, number)
    assert (width.bits > known, number.fraction.bits > bits) == (which == "width", which == "number")


def test_a_width_of_many_numbers_is_the_root_of_twice_their_sum():
    drawn = draws.draws("exponential", 1000)
    total, bits = drawn.total()
    width = DrawnWidth(Fraction(2**40), total, 1000 - len(drawn.known), bits, list(drawn.known.values()), None)
    exact = sum(drawn.at(place).bounds()[0] for place in range(1000))
    low, high = width.bounds()
    assert low**2 <= 2 * exact * 4**40 <= high**2
    assert high - low < 2.0**-10


# --- the laws ---------------------------------------------------------------------------------------------------------


def fits(sample, law, cells: int = 64) -> bool:
    """Return False with probability 1e-6 if the sample follows the law, by chi-square over cells of equal chance."""
    edges = law.ppf(np.linspace(0, 1, cells + 1)[1:-1])
    counts = np.bincount(np.searchsorted(edges, sample), minlength=cells)
    return scipy.stats.chisquare(counts).pvalue > FALSE_ALARM


# A scale that is wrong by a relative 6 % on half of the line is seen with near certainty by a hundred thousand numbers,
# one that is wrong by 0.6 % by ten million.
sizes = pytest.mark.parametrize("count", [100_000, pytest.param(10_000_000, marks=pytest.mark.statistics)])


@sizes
@pytest.mark.parametrize(("law", "ideal"), [("gaussian", scipy.stats.norm), ("laplace", scipy.stats.laplace)])
def test_many_numbers_have_their_law(law, ideal, count):
    drawn = np.concatenate([ExactSource().add(law, np.zeros(100_000), 1.0) for _ in range(count // 100_000)])
    assert fits(drawn, ideal)
    wrong = 0.06 * math.sqrt(100_000 / count)
    assert not fits(drawn * np.where(drawn > 0, 1 + wrong, 1 - wrong), ideal)
    # All digits are random, not the leading ones alone.
    last = np.ldexp(drawn, 40).astype(np.int64) % 1024
    assert scipy.stats.chisquare(np.bincount(last, minlength=1024)).pvalue > FALSE_ALARM


def reference(law: str, count: int, scale: float):
    """Return OpenDP's noise, on the lattice that holds every double."""
    dp = opendp()
    metric = dp.l2_distance(T=float) if law == "gaussian" else dp.l1_distance(T=float)
    make = dp.m.make_gaussian if law == "gaussian" else dp.m.make_laplace
    return np.array(make(*vector_space(dp, count, metric), scale=scale)([0.0] * count))


@pytest.mark.parametrize("count", [3000, pytest.param(100_000, marks=pytest.mark.statistics)])
@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_noise_has_the_law_of_opendp(law, count):
    # Two samples; with a hundred thousand of OpenDP's, a scale that is wrong by 8 % is seen with a chance above 0.999.
    theirs, ours = reference(law, count, 0.3), ExactSource().add(law, np.zeros(10 * count), 0.3)
    assert scipy.stats.ks_2samp(theirs, ours).pvalue > FALSE_ALARM
    wrong = 1 + 0.08 * math.sqrt(100_000 / count)
    assert scipy.stats.ks_2samp(theirs, wrong * ours).pvalue <= FALSE_ALARM


def whole_chances(scale: float, most: int):
    ratio = math.exp(-1 / scale)
    chances = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-most, most + 1))
    return np.append(chances, 1 - chances.sum())


@sizes
@pytest.mark.parametrize("scale", [0.4, 1.0, 3.7])
def test_whole_numbers_have_their_law(scale, count):
    drawn, most = whole_numbers(scale, count), max(1, round(4 * scale))
    cells = np.where(np.abs(drawn) <= most, drawn + most, 2 * most + 1)
    counts, chances = np.bincount(cells, minlength=2 * most + 2), whole_chances(scale, most)
    assert scipy.stats.chisquare(counts, count * chances).pvalue > FALSE_ALARM
    # The fault: both zeros kept.
    double = chances.copy()
    double[most] *= 2
    assert scipy.stats.chisquare(counts, count * double / double.sum()).pvalue <= FALSE_ALARM


@pytest.mark.parametrize("count", [2000, pytest.param(50_000, marks=pytest.mark.statistics)])
def test_whole_numbers_have_the_law_of_opendp(count):
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64"), size=count), dp.l1_distance(T="i64")
    theirs = np.array(dp.m.make_laplace(*space, scale=2.0)([0] * count))
    ours = whole_numbers(2.0, count)
    table = np.array([np.bincount(np.clip(sample, -8, 8) + 8, minlength=17) for sample in (theirs, ours)])
    assert scipy.stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > FALSE_ALARM


@both_ways
@pytest.mark.parametrize("scale", [2.0**50, 2.0**52, 3.0 * 2**51, 2.0**60, 2.0**62, 2.0**80, 2.0**130, 2.0**400])
def test_noisy_counts_are_a_function_of_the_exact_sum(monkeypatch, scale, in_bulk):
    coins = np.random.default_rng(2)
    sizes = [(whole, int(coins.integers(2**62, 2**63))) for whole in (0, 1, 2, 7, 8, 30)]
    # Next to where doubles cease to hold every whole number, and next to where sums are cut off.
    limits = (Fraction(limit + beside) / Fraction(scale) for limit in (2**53, 2**52) for beside in (-1, 0, 1, 2, 3))
    sizes += [(math.floor(size), math.floor(size % 1 * 2**63)) for size in limits]
    drawn = [(whole, digits, negative) for whole, digits in sizes for negative in (False, True)]
    noise = gridded(drawn, KnownWidth(Fraction(scale)), 0, in_bulk)
    monkeypatch.setattr(numbers, "noise_of", lambda *_: noise)
    counts = np.resize(np.array([0, 1, -1, 5, 10**6]), len(drawn))
    found = ExactSource().add_whole("laplace", counts, scale).tolist()
    for place, count in enumerate(counts.tolist()):
        number = noise.numbers.at(place)
        size, above = (math.floor(Fraction(scale) * end) for end in number.bounds())
        exact = count - size if number.negative else count + size
        assert found[place] == max(-(2**52), min(2**52, exact)), (exact, above - size)


def test_seeded_counts_do_not_wrap_around():
    found = SeededSource(0).add_whole("laplace", np.tile([-1, 0, 1], 30), 2.0**80)
    assert set(np.abs(found).tolist()) <= {0, 1, 2**52}
    assert {-(2**52), 2**52} <= set(ExactSource().add_whole("laplace", np.tile([-1, 0, 1], 30), 2.0**80).tolist())


@pytest.mark.parametrize("law", LAWS)
def test_a_few_numbers_and_many_have_one_law(law, monkeypatch):
    # Short vectors are drawn one by one where no compiler is loaded.
    sampler = sampler_of(law)
    monkeypatch.setattr(numbers, "in_bulk", lambda count: False)
    monkeypatch.setattr("equipoise.noise.samplers.spherical_laplace.in_bulk", lambda count: False)
    few = np.concatenate([sampler.exact(np.zeros(3), 1.0) for _ in range(300)])
    monkeypatch.undo()
    many = np.concatenate([sampler.exact(np.zeros(3), 1.0) for _ in range(1500)])
    assert scipy.stats.ks_2samp(few, many).pvalue > FALSE_ALARM
    assert scipy.stats.ks_2samp(2.5 * few, many).pvalue <= FALSE_ALARM


def test_few_numbers_need_no_compiler(monkeypatch):
    asked = []
    monkeypatch.delitem(numbers.sys.modules, numbers.COMPILED, raising=False)
    monkeypatch.setattr(numbers, "loops", lambda: asked.append(True))
    monkeypatch.setattr(numbers.OneByOne, "drawn", 0)
    assert [numbers.in_bulk(count) for count in (1, numbers.FEW, numbers.FEW + 1)] == [False, False, True]
    assert len(asked) == 1
    # What was drawn before counts, too: many fits of a few numbers each do not stay slow.
    numbers.listed("normal", 5)
    assert [numbers.in_bulk(count) for count in (numbers.FEW - 5, numbers.FEW - 4)] == [False, True]
    monkeypatch.undo()
    numbers.loops()
    assert numbers.in_bulk(1)


def test_many_numbers_are_drawn_one_by_one_where_no_compiler_can_be_loaded(monkeypatch):
    def missing():
        raise ModuleNotFoundError("No module named 'numba'")

    monkeypatch.delitem(numbers.sys.modules, numbers.COMPILED)
    monkeypatch.setattr(numbers, "FEW", 1)
    for place in (numbers, source, spherical_laplace):
        monkeypatch.setattr(place, "loops", missing)
    exact = ExactSource()
    exact.ready(2000)
    for law in LAWS:
        noise = exact.noise(law, 2000, 1.0)
        assert isinstance(noise.numbers, ListedNumbers)
        assert len(set(noise.sums(np.zeros(2000)).tolist())) == 2000
    assert len(whole_numbers(1.0, 2000)) == 2000
    # Secret coins come from a stream that is compiled.
    with pytest.raises(ModuleNotFoundError):
        exact.ready(1, streaming=True)


def test_a_step_is_the_floor_of_the_exact_sum():
    number = Deviate(2, Uniform(3 << 61, 63), True)  # 2.75 or a little more
    assert steps_to(1.0, -1, KnownWidth(Fraction(3)), number) == math.floor(2 - 8.25 + 0.5)
    assert steps_to(1.0, -1, KnownWidth(Fraction(3)), Deviate(2, number.fraction, False)) == math.floor(2 + 8.25 + 0.5)


@pytest.mark.parametrize("made", [ExactSource, lambda: SeededSource(0)], ids=["exact", "seeded"])
def test_noise_that_was_drawn_is_the_same_for_every_sum_and_new_noise_is_not(made):
    """What `GridNoise.sums` says of a second call: differences of its sums have no noise."""
    noises = made()
    noise, other = (noises.noise("gaussian", 50, 1.0) for _ in range(2))
    first, second = noise.sums(np.zeros(50)), noise.sums(np.ones(50))
    np.testing.assert_allclose(second - first, 1.0, atol=1e-9)
    assert np.all(other.sums(np.zeros(50)) != first)
