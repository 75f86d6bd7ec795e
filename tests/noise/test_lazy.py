"""Numbers by comparisons alone: exact probabilities, by driving the draws with every string of bits up to a length.

No test here is random. What a string does not decide stays open, and the exact probability of D7 must lie between what
was found and that plus what is open. Every check is shown to see a fault that is planted.
"""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from equipoise.noise import draws, lazy
from equipoise.noise.draws import LAWS, NO, OUT, UNDECIDED, YES, filled_from
from equipoise.noise.lazy import Tape, Uniform

HALF = math.exp(-0.5)


class EndedError(Exception):
    """A tape has no words left."""


def word_of(tape):
    words = iter(tape)

    def word() -> int:
        for found in words:
            return found
        raise EndedError

    return word


def masses(procedure, length: int, tape_type=Tape, **given):
    """Return the exact probability of every outcome over all strings of so many bits, and of those that are open."""
    found, undecided, strings = defaultdict(Fraction), Fraction(0), [()]
    while strings:
        bits = strings.pop()
        word = word_of(bits)
        try:
            outcome = procedure(tape_type(word, word, 1), **given)
        except EndedError:
            if len(bits) == length:
                undecided += Fraction(1, 2**length)
            else:
                strings += [(*bits, 0), (*bits, 1)]
            continue
        found[outcome] += Fraction(1, 2 ** len(bits))
    return found, undecided


def agrees(found, undecided, expected: dict) -> bool:
    """Return whether each probability lies between what was found and that plus what is open, and all are known."""
    inside = (
        found[outcome] - 1e-12 <= chance <= found[outcome] + undecided + 1e-12 for outcome, chance in expected.items()
    )
    return all(inside) and set(found) <= set(expected)


def first_digit(fraction: Uniform) -> int:
    return fraction.value >> (fraction.bits - 1)


# --- coins and trials, bit by bit -------------------------------------------------------------------------------------


def test_the_half_coin_has_its_probability():
    found, undecided = masses(Tape.half_coin, 17)
    assert undecided < 0.02
    assert agrees(found, undecided, {True: HALF, False: 1 - HALF})


def test_an_exponential_trial_has_its_density_in_each_half():
    def outcome(tape):
        fraction = tape.exponential_trial()
        return None if fraction is None else first_digit(fraction)

    found, undecided = masses(outcome, 16)
    assert undecided < 0.06
    expected = {0: 1 - HALF, 1: HALF - HALF**2, None: HALF**2}
    assert agrees(found, undecided, expected)
    assert not agrees(found, undecided, {**expected, 0: HALF - HALF**2, 1: 1 - HALF})


class KnownFraction(Uniform):
    """A number all of whose digits are known: those of a fraction of 2^-8, and then 0."""

    def extend(self):
        self.value <<= self.word_bits
        self.bits += self.word_bits


def tilted(tape, whole: int, eighths: int) -> bool:
    return tape.tilted_coin(whole, KnownFraction(eighths, 3, None, 1))


@pytest.mark.parametrize(("whole", "eighths"), [(0, 1), (0, 7), (1, 3), (2, 5)])
def test_a_tilted_coin_has_its_probability(whole, eighths):
    found, undecided = masses(tilted, 15, whole=whole, eighths=eighths)
    place = eighths / 8
    chance = math.exp(-place * (2 * whole + place) / (2 * whole + 2))
    assert undecided < 0.07
    assert agrees(found, undecided, {True: chance, False: 1 - chance})


# --- planted faults ---------------------------------------------------------------------------------------------------


class OddRuns(Tape):
    def half_coin(self):
        return not super().half_coin()


class TiesAreLarger(Tape):
    """Takes equal first words for a rise, as a loop on words would that did not look further."""

    def half_coin(self):
        last, even = self.uniform(), True
        if last.value >> (self.bits - 1):
            return True
        while True:
            following, even = self.uniform(), not even
            if not following.value < last.value:
                return even
            last = following


@pytest.mark.parametrize("fault", [OddRuns, TiesAreLarger])
def test_a_faulty_half_coin_is_seen(fault):
    found, undecided = masses(fault.half_coin, 17, fault)
    assert not agrees(found, undecided, {True: HALF, False: 1 - HALF})


@pytest.mark.parametrize("sides", [1, 3])
def test_a_share_of_other_sides_is_seen(monkeypatch, sides):
    right = lazy._below_share
    monkeypatch.setattr(lazy, "_below_share", lambda share, whole, fraction: right(share, whole + sides, fraction))
    found, undecided = masses(tilted, 15, whole=0, eighths=7)
    chance = math.exp(-((7 / 8) ** 2) / 2)
    assert not agrees(found, undecided, {True: chance, False: 1 - chance})


# --- what trials are made of ------------------------------------------------------------------------------------------


class Weighed(Tape):
    """Coins whose outcomes are told beforehand, each with its probability as D7 has it; one fraction, known."""

    def __init__(self, told, place: float) -> None:
        super().__init__()
        self.told, self.place, self.chance = iter(told), place, 1.0

    def _coin(self, chance: float) -> bool:
        for outcome in self.told:
            self.chance *= chance if outcome else 1 - chance
            return outcome
        raise EndedError

    def half_coin(self):
        return self._coin(HALF)

    def tilted_coin(self, whole, fraction):
        return self._coin(math.exp(-self.place * (2 * whole + self.place) / (2 * whole + 2)))

    def uniform(self):
        return Uniform(0)


def densities(trial, place: float, length: int) -> dict:
    """Return the density of every whole part at one fraction, over all coins."""
    found, strings = defaultdict(float), [()]
    while strings:
        told = strings.pop()
        tape = Weighed(told, place)
        try:
            outcome = trial(tape)
        except EndedError:
            if len(told) < length:
                strings += [(*told, True), (*told, False)]
            continue
        found[None if outcome is None else outcome[0]] += tape.chance
    return found


@pytest.mark.parametrize("place", [0.0, 0.3, 0.9])
def test_a_normal_trial_has_the_normal_density(place):
    found = densities(Tape.normal_trial, place, 14)
    for whole in (0, 1, 2, 3):
        assert found[whole] == pytest.approx((1 - HALF) * math.exp(-((whole + place) ** 2) / 2), rel=1e-12), whole


class OneCoinLess(Weighed):
    def normal_trial(self):
        whole = self.whole_part()
        return None if whole is None or not all(self.tilted_coin(whole, None) for _ in range(whole)) else (whole, None)


class SquaredCoins(Weighed):
    def normal_trial(self):
        whole = 0
        while self.half_coin():
            whole += 1
        kept = all(self.half_coin() for _ in range(whole * whole))
        return (whole, None) if kept and all(self.tilted_coin(whole, None) for _ in range(whole + 1)) else None


@pytest.mark.parametrize("fault", [OneCoinLess, SquaredCoins])
def test_a_trial_with_other_coins_is_seen(fault):
    found = densities(fault.normal_trial, 0.9, 14)
    expected = [(1 - HALF) * math.exp(-((whole + 0.9) ** 2) / 2) for whole in (0, 1)]
    assert [found[0], found[1]] != pytest.approx(expected, rel=1e-3)


def test_trials_are_repeated_and_signs_are_fair():
    # A trial that fails is followed by another; the last bit is the sign, the bits before it continue the fraction.
    tape = Tape(word_of([2**31 - 1, 2**32 - 1, 6, 7, 0, 0x80000003]))
    found = tape.normal()  # no success, so k = 0; x = 6 and 7 is above it; then the word 0 is sign and digits
    assert (found.whole, found.fraction.value, found.fraction.bits, found.negative) == (0, 6 << 31, 63, False)
    assert tape.taken == 5
    tape = Tape(word_of([3, 2, 5, 9, 10, 0x80000003]))  # a run of two is no number, one of one is
    found = tape.exponential()
    assert (found.whole, found.fraction.value, found.negative) == (1, 9 << 31 | 0x40000001, True)


# --- the compiled loops do the same -----------------------------------------------------------------------------------

# Words of which many are equal, on both sides of one half, and some next to each other.
ALPHABET = [0, 1, 0x20000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


def same(compiled_trial, by_word, words) -> str:
    """Return how a compiled trial ended; it must be as the trial by words ends that may draw no further digits."""
    coin, used, whole, fraction = compiled_trial(np.array(words, dtype=np.uint32), 0)
    tape = Tape(word_of(words), word_of(()))
    try:
        expected = by_word(tape)
    except EndedError:
        # Out of words, or of digits.
        assert coin in (OUT, UNDECIDED), words
        return "open"
    if coin == NO:
        assert expected is None
    elif coin == YES:
        expected_whole, expected_fraction = expected
        assert (whole, fraction) == (expected_whole, expected_fraction.value), words
    else:
        # The compiled loop may stop a little early: at the last word, or where an interval touches a limit.
        return "open"
    assert used == tape.taken
    return "decided"


def exponential_trial(tape):
    found = tape.exponential_trial()
    return None if found is None else (0, found)


@pytest.mark.parametrize(
    ("compiled_trial", "by_word"),
    [(draws.normal_trial, Tape.normal_trial), (draws.exponential_trial, exponential_trial)],
    ids=["normal", "exponential"],
)
def test_compiled_trials_end_as_trials_by_words_do_on_all_strings_of_a_few_words(compiled_trial, by_word):
    ends = defaultdict(int)
    for number in range(6**5):
        words = [ALPHABET[number // 6**place % 6] for place in range(5)]
        ends[same(compiled_trial, by_word, words)] += 1
    coins = np.random.default_rng(4)
    for _ in range(400):
        ends[same(compiled_trial, by_word, coins.choice(ALPHABET, 40).tolist())] += 1
        ends[same(compiled_trial, by_word, coins.integers(2**32, size=60).tolist())] += 1
    assert min(ends["open"], ends["decided"]) > 1000


@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_arrays_are_filled_as_one_by_one_where_many_comparisons_need_more_digits(kind):
    # The same words for both, and the same digits that continue them.
    coins = np.random.default_rng(5)
    words = coins.choice(ALPHABET, 40_000).astype(np.uint32)
    more = coins.integers(2**32, size=100_000).tolist()
    supplied = iter([words])
    wholes, digits = np.empty(300, dtype=np.int64), np.empty(300, dtype=np.uint64)
    known = filled_from(LAWS[kind], lambda count: next(supplied), wholes, digits, word_of(more))
    tape = Tape(word_of(words.tolist()), word_of(more))
    assert 20 < len(known) < 280
    for place in range(300):
        expected = LAWS[kind].one(tape)
        assert expected.negative == bool(digits[place] & np.uint64(1))
        if place in known:
            assert known[place].bounds() == expected.bounds()
        else:
            assert (wholes[place], int(digits[place]) >> 1) == (expected.whole, expected.fraction.value)
