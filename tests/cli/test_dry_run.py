"""What a dry run says of a spend holds when it is made."""

import numpy as np
import pytest

from equipoise.certify.claims.chosen_bounds import ChosenBounds
from equipoise.cli.dry_run import BlankBounds, Purchase
from equipoise.noise import SeededSource
from equipoise.release.intervals import CELLS, PARTS, intervals
from equipoise.vocabulary.facts import Budget
from program import run_program


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


def test_what_is_bought_is_rounded_to_all_of_it_only_if_it_is_all():
    said = [Purchase(share, None, None).lines()[0].split(" %")[0] for share in (0.5, 0.9994, 0.9999, 1.0)]
    assert said == ["buys: 50", "buys: 99.9", "buys: over 99.9", "buys: 100"]


USELESS = {
    "a constant feature": ("", 'levels = ["A"]\nunknown = "A"\n', "one level in every column: site"),
    "a row_norm that no row reaches": ("row_norm = 1e4\n", 'levels = ["A", "B"]\nunknown = "A"\n', "row_norm = 1,"),
}


@pytest.mark.parametrize("dry", [["--dry-run"], []], ids=["dry run", "train"])
@pytest.mark.parametrize("case", USELESS)
def test_a_model_that_public_facts_show_to_be_useless_is_refused_unspent(tmp_path, case, dry):
    facts, column, says = USELESS[case]
    (tmp_path / "people.csv").write_text("site,ill\n" + "A,no\nA,yes\n" * 50)
    (tmp_path / "schema.toml").write_text(
        f'schema_version = 1\nn = 100\nvouched_by = "A"\nvouched_on = 2026-11-16\n{facts}[target]\nname = "ill"\n'
        f'classes = ["no", "yes"]\n[columns.site]\nkind = "category"\n{column}'
    )
    words = ("train", "people.csv", "--schema", "schema.toml", "--epsilon", 1, "--out", "released", *dry)
    done = run_program(*words, folder=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert not (tmp_path / "released").exists()
