"""The benchmark's page is that of the stored results, and says so where they are older than the program."""

import importlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def benchmarks():
    # Benchmarks are programs that find each other in their own folder.
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module
    sys.path.remove(str(ROOT / "benchmarks"))


# --- audits -----------------------------------------------------------------------------------------------------------


def test_the_table_of_audits_has_a_line_for_every_case_of_the_tests(benchmarks, monkeypatch, capsys):
    audits = benchmarks("audits")
    asked = []

    def observed(*given):
        asked.append(given)
        return 0.5 if audits.SeededSource in given else 1.5

    for module in (audits.descents, audits.chunks, audits.stopping):
        monkeypatch.setattr(module, "observed", observed)
    monkeypatch.setattr(sys, "argv", ["audits.py", "--runs", "7"])
    audits.main()
    head, rule, *lines = capsys.readouterr().out.splitlines()
    assert {line.count("|") for line in (head, rule, *lines)} == {7}
    expected = len(audits.descents.CASES) + len(audits.descents.LENGTHENED) + 1 + len(audits.stopping.CAUGHT)
    assert len(lines) == expected
    # The searches that stop at random take the runs in which the tests catch their faults.
    assert {given[-1] for given in asked} == {7, *(runs for _, runs in audits.stopping.CAUGHT.values())}
    for privacy, (source, runs) in audits.stopping.CAUGHT.items():
        assert (privacy, source, runs) in asked


# --- noise ------------------------------------------------------------------------------------------------------------


def test_loading_the_loops_of_noise_is_not_counted_for_short_vectors_either(benchmarks, monkeypatch):
    noise, done = benchmarks("noise"), []
    monkeypatch.setattr(noise, "loops", lambda: done.append("loaded"))
    monkeypatch.setattr(noise, "ours", lambda law, count: done.append("drawn"))
    monkeypatch.setattr(noise, "per_number", lambda draw, count: done.append("timed") or 1.0)
    assert noise.costs("whole", 10, 1) == (1.0, 1.0)
    assert done == ["loaded", "drawn", "timed", "timed"]


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["utility.md", "sgd.md", "evaluation.md", "coefficients.md"])
def test_a_page_has_the_tables_of_the_stored_results(benchmarks, name):
    page = benchmarks("utility_page")
    (path,) = [path for path in page.PAGES if path.name == name]
    text = path.read_text(encoding="utf-8")
    remedy = "run `make bench-page`, or `make bench DATA=FOLDER` to measure again what has another plan"
    assert page.render(text, page.stores(), page.PAGES[path]) == text, remedy


def test_sets_of_another_plan_or_of_other_code_are_marked(benchmarks, monkeypatch):
    pages, sets = benchmarks("evaluation_pages"), benchmarks("prediction_sets")
    store = pages.Store("prediction-sets")
    monkeypatch.setattr(pages, "Store", lambda suite: store)
    for record in store.records:
        record["key"] |= sets.key_of(record["facts"])
    assert pages.OLDER not in pages.sets(None)
    store.records[0]["key"]["plan"] = "of another day"
    assert pages.sets(None).count(pages.OLDER) == 1
    # What the proof of the coverage is pinned to is code that sets are made by.
    monkeypatch.setattr(sets, "proved", lambda: "other code")
    assert pages.sets(None).count(pages.OLDER) == len(store.records)


def test_the_peer_made_its_sets_in_every_split(benchmarks):
    pages = benchmarks("evaluation_pages")
    records = pages.Store("prediction-sets").records
    lock = (ROOT / "benchmarks" / "requirements-peers.lock").read_text(encoding="utf-8")
    for record in records:
        (mapie,) = (found.split()[1] for found in record["peer"] if found.startswith("mapie"))
        assert f"mapie=={mapie} " in lock
        assert record["runs"] == record["key"]["runs"] == 1000, record["name"]
        assert 0.9 <= record["held"] <= 0.93


def test_sets_that_differ_from_those_of_the_peer_in_one_split_end_the_program(benchmarks):
    sets = benchmarks("prediction_sets")
    stream = np.random.default_rng(0)
    rows, second = 400, stream.random(400)
    shares = np.stack([1 - second, second], axis=1)
    true = (stream.random(rows) < second).astype(np.int64)
    outputs = np.minimum((10 * second).astype(np.int64), 9)
    edges = tuple(np.linspace(-2, 2, 9).tolist())
    template = sets.NoisyCounts(edges, np.zeros((1, 2, 10), dtype=np.int64), "laplace", 2.0, 200)
    levels = sets.levels_of_classes(template)
    scores, both = 1 - shares[np.arange(rows), true], np.repeat(outputs[:, None], 2, axis=1)
    table = sets.HeldOut("rows", 1.0, template, true, outputs, levels, scores, 1 - shares, both, shares, true * 1.0)

    def made(places):
        quantile = np.sort(scores[places[0]])[int(np.ceil(201 * 0.9)) - 1]
        return sets.without_noise(table, quantile, places[1])

    agreed = np.array([made(sets.dealt(world, rows, 200)) for world in range(3)])
    found = sets.measured(table, 3, lambda _: (agreed, ["mapie 0"]))
    assert found["size plain"] == pytest.approx(agreed[:, 1].mean())
    # One label of one set.
    agreed[1, 1] += 1 / 200
    with pytest.raises(SystemExit, match="differ"):
        sets.measured(table, 3, lambda _: (agreed, ["mapie 0"]))


def test_a_line_that_holds_less_often_than_stated_is_named(benchmarks):
    pages = benchmarks("evaluation_pages")
    record = {"name": {}, "mean": 0.92, "deviation": 0.1, "runs": 100}
    assert pages.held(record) == "**92.0 % ± 1.0**"
    assert pages.held(record | {"mean": 0.94}) == "94.0 % ± 1.0"


def test_every_line_of_intervals_has_many_worlds(benchmarks):
    coefficients, pages = benchmarks("coefficients"), benchmarks("evaluation_pages")
    store, rows = pages.Store("coefficients"), [1000, 10_000]
    asked = list(
        coefficients.tasks(list(coefficients.CELLS), list(coefficients.KINDS), rows, None, coefficients.REFITS)
    )
    assert store.records
    for name, key, _ in asked:
        # The page names the lines that are not measured.
        if (record := store.find(name)) is None:
            assert ", ".join(map(str, name.values())) in pages.sums(None)
            continue
        # A plan that changed is marked on the page; so many worlds are what is asked for.
        assert record["key"] | {"plan": None} == key | {"plan": None}
        assert record["runs"] + record["refused"] == key["worlds"]
        assert key["worlds"] >= 100 or not pages.is_told(record)
        assert sum(record["held"]) / record["each"] == pytest.approx(record["mean"] * record["runs"], rel=1e-5)


def test_what_is_put_back_is_the_truth_where_labels_follow_the_model_and_another_where_slopes_are_clipped(benchmarks):
    put_back = benchmarks("coefficients").put_back
    for kind in ("output", "objective", "noisy-gradient"):
        assert np.max(np.abs(put_back("the model", 10_000, 1.0, kind))) < 1e-6
    plain, clipped = (put_back("another model", 10_000, 1.0, kind)[-1] for kind in ("output", "objective"))
    # The intercept is what clipped slopes move most.
    assert abs(plain) < abs(clipped) / 3


def test_the_picture_is_drawn_from_the_stored_results(benchmarks):
    page = benchmarks("utility_page")
    assert page.drawing_mark(page.drawn(page.stores())) in page.PICTURE.read_text(encoding="utf-8"), "make bench-page"


def test_the_picture_of_additive_models_is_drawn_from_the_stored_results(benchmarks):
    page, additive = benchmarks("utility_page"), benchmarks("additive_picture")
    points = additive.drawn(additive.records())
    assert page.is_drawn(points, additive.PICTURE), "make bench-page"
    # A panel a table and kind of privacy has a line and an additive model at every epsilon, and DP-EBM with delta.
    for data in additive.DATA:
        for privacy, methods in (("pure", additive.METHODS[:2]), ("approximate", additive.METHODS)):
            here = [point for point in points if (point["data"], point["privacy"]) == (data, privacy)]
            assert {(point["method"], point["epsilon"]) for point in here} == {
                (method, epsilon) for method in methods for epsilon in (0.1, 0.3, 1.0, 3.0)
            }
    # Another score would be another picture.
    changed = [{**points[0], "score": points[0]["score"] + 0.01}, *points[1:]]
    assert not page.is_drawn(changed, additive.PICTURE)


def test_every_further_suite_calls_programs_with_options_that_they_have(benchmarks, monkeypatch):
    bench, called = benchmarks("bench"), []
    monkeypatch.setattr(bench.subprocess, "run", lambda command, check, env: called.append(command))
    for suite in bench.FURTHER:
        bench.further(suite, Path("a folder"), "a Python")
    assert len(called) == sum(map(len, bench.FURTHER.values()))
    # Options that several programs share are in one place.
    shared = (ROOT / "benchmarks" / "study.py").read_text(encoding="utf-8")
    for python, program, *options in called:
        assert python == sys.executable
        text = program.read_text(encoding="utf-8")
        for option in (option for option in options if option.startswith("--")):
            assert f'"{option}"' in text or ("import options" in text and f'"{option}"' in shared), (program, option)
        assert not any(option.startswith("{") for option in options)


def test_every_program_that_a_page_names_is_reached_by_make_bench(benchmarks):
    bench = benchmarks("bench")
    programs = {path.name for path in (ROOT / "benchmarks").glob("*.py") if '"__main__"' in path.read_text()}
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {
        name for page in pages for name in re.findall(r"\b(?:benchmarks/|`)(\w+\.py)", page.read_text())
    } & programs
    # Of the page's own suites programs are called by their names.
    own = set(re.findall(r'"(\w+\.py)"', Path(bench.__file__).read_text()))
    reached = {call[0] for calls in bench.FURTHER.values() for call in calls} | own | {"bench.py"}
    assert named - reached == set()
    assert {"scale.py", "evaluation_beside.py", "work.py"} <= named


def test_the_page_lists_every_further_suite_with_what_it_stores(benchmarks):
    bench = benchmarks("bench")
    text = (ROOT / "docs" / "utility.md").read_text(encoding="utf-8")
    lines = dict(re.findall(r"^\| `([a-z-]+)` \|.*\| (`[\w-]+\.json`|not stored) \|$", text, re.M))
    stored = {}
    for suite, calls in bench.FURTHER.items():
        texts = [(ROOT / "benchmarks" / program).read_text(encoding="utf-8") for program, *_ in calls]
        found = {name for each in texts for name in re.findall(r'\bStore\("([\w-]+)"\)', each)}
        stored[suite] = f"`{found.pop()}.json`" if found else "not stored"
    assert lines == stored


def test_a_suite_that_reads_no_files_runs_without_their_folder(benchmarks, monkeypatch, capsys):
    bench, called = benchmarks("bench"), []
    monkeypatch.setattr(bench, "measure", lambda suite, asked: called.append(suite))
    monkeypatch.setattr(bench, "write_page", lambda: None)
    monkeypatch.setattr(sys, "argv", ["bench.py", "scale", "work", "--data", ""])
    bench.main()
    assert called == ["scale", "work"]
    monkeypatch.setattr(sys, "argv", ["bench.py", "scale", "reading", "--data", ""])
    with pytest.raises(SystemExit):
        bench.main()
    assert "say where the Parquet files are" in capsys.readouterr().err


@pytest.mark.parametrize("only", ["", "covertype"])
def test_times_are_measured_by_name_and_the_others_are_kept(benchmarks, monkeypatch, only):
    bench, measured, kept = benchmarks("bench"), [], []
    tasks = [({"what": what}, {}, None) for what in ("output, Covertype 1-vs-2", "import equipoise")]
    monkeypatch.setattr(benchmarks("times"), "times", lambda folder, largest: iter(tasks))
    monkeypatch.setattr(bench, "measure_or_keep", lambda store, tasks, *_: measured.extend(tasks))
    monkeypatch.setattr(bench.Store, "keep_only", lambda store, names: kept.append(names))
    bench.measure("times", SimpleNamespace(data=Path(), largest=10, only=only, again=False))
    assert measured == (tasks[:1] if only else tasks)
    assert kept == ([] if only else [[name for name, _, _ in tasks]])


def test_a_name_leaves_out_what_has_no_such_names_and_is_refused_beside_it(benchmarks, monkeypatch, capsys, tmp_path):
    bench, called = benchmarks("bench"), []
    monkeypatch.setattr(bench, "measure", lambda suite, asked: called.append(suite))
    monkeypatch.setattr(bench, "write_page", lambda: None)
    line = ["bench.py", "--data", str(tmp_path), "--only", "Adult"]
    monkeypatch.setattr(sys, "argv", line)
    bench.main()
    assert called == [suite for suite in bench.SUITES if suite != "additive"]
    for suite in ("additive", "work"):
        monkeypatch.setattr(sys, "argv", [*line, suite])
        with pytest.raises(SystemExit):
            bench.main()
        assert f"--only says nothing to {suite}" in capsys.readouterr().err


def test_a_result_of_another_plan_is_marked(benchmarks):
    page = benchmarks("utility_page")
    found = page.stores()
    record = page.select(found["scores"].records, data="breast cancer", epsilon=1.0, privacy="pure", method="auto")[0]
    record["key"] = record["key"] | {"plan": page.planned(record)[1]}
    assert not page.is_older(record)
    line = next(line for line in page.comparison(found).splitlines() if "| breast cancer | 1 | pure |" in line)
    assert page.OLDER not in line
    record["key"] = record["key"] | {"plan": "of another day"}
    line = next(line for line in page.comparison(found).splitlines() if "| breast cancer | 1 | pure |" in line)
    assert page.OLDER in line
    assert "no longer makes" in page.measured(found)


def test_a_time_of_another_plan_is_marked_and_one_of_the_same_plan_is_not(benchmarks):
    page = benchmarks("utility_page")
    found = page.stores()
    fits = [record for record in found["times"].records if "fit" in record]
    for record in fits:
        record["key"] = record["key"] | {"plan": page.plan_today(record["fit"])}
    assert page.OLDER not in page.times(found)
    assert f"Of {len(fits)} times of fits none belongs to such a plan" in page.measured(found)
    record = next(record for record in fits if record["name"]["what"] == "noisy gradient, 1,000 x 100")
    # Steps, clip and noise are those of the budget: another one stands for a plan that changed.
    record["fit"] = record["fit"] | {"epsilon": 2.0}
    line = next(line for line in page.times(found).splitlines() if "| noisy gradient, 1,000 x 100 |" in line)
    assert page.OLDER in line
    assert found["times"].sessions[record["session"]]["date"] in line
    assert f"Of {len(fits)} times of fits 1 belongs to such a plan" in page.measured(found)


def test_the_gate_of_noisy_sgd_is_judged_by_the_stored_difference(benchmarks):
    page = benchmarks("utility_page")
    found = page.stores()
    ours, theirs = (
        page.one(found, "beside", "Adult", 1.0, "approximate", method) for method in ("NoisySGDClassifier", "auto")
    )
    ours["mean"] = theirs["mean"] - 0.0019
    assert "Adult at 1 by" not in page.noisy_beside(found)
    ours["mean"] = theirs["mean"] - 0.0023
    assert "Adult at 1 by 0.03" in page.noisy_beside(found)


def test_every_stored_score_has_what_a_reader_asks_for(benchmarks):
    for suite, store in benchmarks("utility_page").stores().items():
        assert store.records, suite
        for record in store.records:
            session = store.sessions[record["session"]]
            assert {"date", "commit", "machine", "packages", "load"} <= set(session)
            assert record["key"]
            assert "value" in record or record["runs"] >= 1
        assert not re.search(r"[\"' ]/(?:home|work|tmp|root|usr)", store.path.read_text(encoding="utf-8"))


# --- what is measured again -------------------------------------------------------------------------------------------


def measured(benchmarks, folder, key, mean, again=False):
    stored = benchmarks("stored")
    store, calls = stored.Store("scores", folder), []

    def measure():
        calls.append(mean)
        return {"mean": mean, "deviation": 0.01, "runs": 100}

    stored.measure_or_keep(store, [({"data": "a table"}, key, measure)], again, lambda said: None)
    return store.find({"data": "a table"}), len(calls)


def test_a_stored_cell_is_not_measured_again_unless_its_key_changed_or_it_is_asked_for(benchmarks, tmp_path):
    assert measured(benchmarks, tmp_path, {"plan": "one"}, 0.8)[1] == 1
    assert measured(benchmarks, tmp_path, {"plan": "one"}, 0.8)[1] == 0
    assert measured(benchmarks, tmp_path, {"plan": "one"}, 0.8, again=True)[1] == 1
    record, calls = measured(benchmarks, tmp_path, {"plan": "two"}, 0.9)
    assert calls == 1
    assert (record["mean"], record["before"]["mean"]) == (0.9, 0.8)
    assert len(json.loads((tmp_path / "scores.json").read_text())["records"]) == 1


def test_a_cell_is_forgotten_that_nothing_asks_for(benchmarks, tmp_path):
    measured(benchmarks, tmp_path, {"plan": "one"}, 0.8)
    store = benchmarks("stored").Store("scores", tmp_path)
    store.keep_only([])
    assert (store.records, store.sessions) == ([], [])


# --- regressions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("now", "shown"), [(1.09, False), (1.11, True), (0.5, False)])
def test_a_ratio_that_grew_by_more_than_a_tenth_is_shown(benchmarks, now, shown):
    record = {"value": now, "ratio": True, "before": {"value": 1.0, "comparable": True}}
    assert bool(benchmarks("stored").regression(record)) == shown


def test_seconds_of_another_machine_are_not_compared(benchmarks):
    record = {"value": 2.0, "ratio": False, "before": {"value": 1.0, "comparable": False}}
    assert not benchmarks("stored").regression(record)


@pytest.mark.parametrize(("now", "shown"), [(0.799, False), (0.795, True), (0.9, False)])
def test_a_score_that_fell_beyond_error_is_shown(benchmarks, tmp_path, now, shown):
    # Both means have a standard error of 0.001: the limit of three errors of the difference is 0.0042.
    measured(benchmarks, tmp_path, {"plan": "one"}, 0.8)
    record, _ = measured(benchmarks, tmp_path, {"plan": "two"}, now)
    assert bool(benchmarks("stored").regression(record)) == shown


def test_falls_that_each_stay_within_the_limit_are_shown_when_they_add_up(benchmarks, tmp_path):
    stored, shown = benchmarks("stored"), []
    for plan, mean in (
        ("one", 0.8),
        ("two", 0.797),
        ("three", 0.794),
        ("three", 0.794),
        ("four", 0.81),
        ("five", 0.807),
    ):
        record, _ = measured(benchmarks, tmp_path, {"plan": plan}, mean, again=True)
        shown.append(bool(stored.regression(record)))
    # The third and the same again are below the first; the last is within the limit of what is best since.
    assert shown == [False, False, True, True, False, False]
    assert record["best"]["mean"] == 0.81
    # Another version begins anew.
    record, _ = measured(benchmarks, tmp_path, {"plan": "six", "version": "9"}, 0.804)
    assert (record["best"]["mean"], bool(stored.regression(record))) == (0.807, False)


def test_ratios_that_grow_by_a_little_are_shown_when_they_add_up(benchmarks, tmp_path):
    stored, shown = benchmarks("stored"), []
    for value in (1.0, 1.09, 1.18, 1.18, 0.9, 1.0):
        record = stored.Store("times", tmp_path).put(
            {"what": "a fit"}, {"commit": value}, {"value": value, "ratio": True}
        )
        shown.append(bool(stored.regression(record)))
    assert shown == [False, False, True, True, False, True]


def test_seconds_of_another_machine_are_never_the_best(benchmarks, tmp_path, monkeypatch):
    stored = benchmarks("stored")
    for machine, value in (("fast", 1.0), ("slow", 2.0), ("slow", 2.1)):
        monkeypatch.setattr(stored, "machine", lambda machine=machine: machine)
        store = stored.Store("times", tmp_path)
        record = store.put({"what": "a fit"}, {}, {"value": value, "ratio": False})
        assert not stored.regression(record)
    assert record["best"]["value"] == 2.0


def test_falls_of_additive_models_are_on_the_page(benchmarks):
    page, stored = benchmarks("utility_page"), benchmarks("stored")
    fallen = [record for record in stored.Store("additive").records if stored.regression(record)]
    told = [line for line in page.changes(page.stores()).splitlines() if line.startswith("| additive |")]
    assert len(told) == len(fallen)
    record = stored.Store("additive").records[0]
    worse = {**record, "before": {**record["before"], "mean": record["mean"] + 1.0, "comparable": True}, "best": None}
    made = stored.Store("additive")
    made.records = [worse]
    assert page.changes({**page.stores(), "additive": made}).count("| additive |") == 1


# --- what the choice loses --------------------------------------------------------------------------------------------


def test_a_regret_among_equals_is_nothing_and_the_best_of_their_means_is_not(benchmarks):
    choices, generator = benchmarks("choices"), np.random.default_rng(0)
    names = [f"kind {number}" for number in range(5)]
    found, above = [], []
    for _ in range(200):
        scores = {name: [(score, score) for score in generator.normal(size=20)] for name in names}
        cell = choices.Cell("a table", "two classes", 1.0, False, scores)
        found.append(cell.regret(names[0], names))
        above.append(cell.most(names[0], names))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found)) < 4 * error
    assert np.mean(above) > 10 * error


def test_a_regret_that_is_there_is_found_with_its_error(benchmarks):
    choices, generator = benchmarks("choices"), np.random.default_rng(1)
    scores = {"worse": generator.normal(0.5, 0.02, 100), "better": generator.normal(0.6, 0.02, 100)}
    found = {name: [(float(score), 0.0) for score in drawn] for name, drawn in scores.items()}
    cell = choices.Cell("a table", "two classes", 1.0, False, found)
    assert cell.regret("worse", ["better"]) == pytest.approx(10.0, abs=4 * cell.error("worse", ["better"]))
    assert 0.1 < cell.error("worse", ["better"]) < 0.5
    assert cell.regret("better", ["worse"]) == 0.0
    assert cell.regret("worse", ["better"]) <= cell.most("worse", ["better"]) + 1e-9


def test_no_choice_for_tables_that_look_alike_is_better_than_the_bound(benchmarks):
    equal, generator = benchmarks("equal_facts"), np.random.default_rng(2)
    regrets = generator.exponential(size=(6, 3))
    place, mean, worst = equal.least(regrets)
    assert mean == pytest.approx(regrets.mean(axis=0).min())
    assert mean == pytest.approx(regrets[:, place].mean())
    coins = generator.dirichlet(np.ones(3), size=2_000)
    reached = (regrets @ coins.T).max(axis=0)
    assert worst <= reached.min() + 1e-4
    assert worst >= mean - 1e-4
    assert reached.min() < worst + 0.1


def test_what_is_stored_of_a_choice_is_what_was_measured(benchmarks, tmp_path):
    choices, generator = benchmarks("choices"), np.random.default_rng(3)
    cells = []
    for number in range(4):
        found = {
            name: [(float(score), float(score) / 2) for score in generator.normal(0.5, 0.1, 20)]
            for name in ("objective", "output", "auto")
        }
        cells.append(choices.Cell(f"table {number}", "several classes", 1.0, True, found, "objective"))
    store = choices.stored.Store("choices", tmp_path)
    records = choices.remember(store, cells, "judges")
    names = list(choices.MECHANISMS["several classes"])
    for cell, record in zip(cells, records, strict=True):
        assert record["regret"] == pytest.approx([cell.regret("auto", names, place) for place in (0, 1)], rel=1e-3)
        assert record["name"]["table"] == cell.table
    mean = np.mean([cell.regret("auto", names) for cell in cells])
    assert f"| several classes | judges | 1/n^2 | 4 | {mean:.2f} (" in choices.regrets_table(records)
    assert choices.stored.Store("choices", tmp_path).records == store.records


def test_the_page_has_the_regrets_of_the_stored_choices(benchmarks):
    choices = benchmarks("choices")
    page = (ROOT / "docs" / "mechanisms.md").read_text()
    assert choices.regrets_table(choices.stored.Store("choices").records) in page
    assert choices.gates_table(choices.stored.Store("choices").records) in page


def test_a_gate_is_missed_by_one_cell(benchmarks):
    choices = benchmarks("choices")

    def table(*regrets):
        names = [
            {"task": "regression", "group": "judges", "table": "rows", "epsilon": epsilon, "delta": "0"}
            for epsilon in (0.1, 0.3, 1.0)
        ]
        found = [
            {"name": name, "regret": [regret] * 2, "error": [0.5] * 2}
            for name, regret in zip(names, regrets, strict=True)
        ]
        return choices.gates_table(found).splitlines()[-1]

    assert table(0.0, 0.0, 0.1) == "| regression | judges | 0 | R2 | 0.03, met (0.3) | 0 of 3 above 2, met |  |"
    assert "| 0.70, **missed** (0.3) | 1 of 3 above 2, **missed** | rows at 1: 2.1 (0.5) |" in table(0.0, 0.0, 2.1)
