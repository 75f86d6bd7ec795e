"""What a dry run says of a spend holds when it is made."""

import numpy as np

from equipoise.certify.claims.chosen_bounds import ChosenBounds
from equipoise.cli.dry_run import BlankBounds
from equipoise.noise import SeededSource
from equipoise.release.intervals import CELLS, PARTS, intervals
from equipoise.vocabulary.facts import Budget


def test_the_noise_of_private_bounds_costs_no_range_more_rows_than_is_said():
    told = BlankBounds.of(ChosenBounds(Budget(0.1), 2000, ("a",), 20.0), 0.1)
    grid, source = intervals(), SeededSource(0)
    values = np.random.default_rng(0).normal(170, 10, told.n_samples)
    scores = grid.scores(CELLS.counts(values))
    lost = [(scores.max() - scores[source.largest(scores, PARTS * told.scale)]) / PARTS for _ in range(200)]
    # Of 200 runs, each beyond it with probability 0.05 at most, more than 25 are with probability 1e-5.
    assert sum(rows > told.rows_at_stake for rows in lost) <= 25
    # And what is said is no gross exaggeration: some run loses a fifth of it.
    assert max(lost) > told.rows_at_stake / 5
    widths = grid.highs - grid.lows
    reach = np.maximum(np.abs(grid.lows), np.abs(grid.highs))
    assert np.min(widths / reach) == told.narrowest
