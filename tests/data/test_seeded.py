"""Facts that seeded noise chose are remembered by whatever holds them, and no release is planned for them."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import equipoise as eq
from equipoise.artifact.domain_check import domain_compared
from equipoise.artifact.predictions import predictor
from equipoise.data.schema import NumberColumn, Target
from equipoise.data.seeded import SeededDomain
from equipoise.errors import InvalidParameter, SchemaInvalid

ROWS = 3000
SEEDED = "a seeded run chose"


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(11)
    return generator.uniform(-0.5, 0.5, (ROWS, 3)), (generator.random(ROWS) < 0.06).astype(int)


@pytest.fixture(scope="module")
def frame(rows) -> pd.DataFrame:
    X, y = rows
    return pd.DataFrame({"a": X[:, 0] * 10 + 50, "b": X[:, 1], "ill": np.where(y == 1, "yes", "no")})


DOMAIN = eq.Domain(1.0, classes=(0, 1))
BLANK = eq.Schema(
    ROWS,
    (NumberColumn("a"), NumberColumn("b")),
    Target("ill", classes=("no", "yes")),
    vouched_by="A. Officer",
    vouched_on="2026-11-18",
)
SCHEMA = BLANK.with_bounds({"a": (0, 100), "b": (-1, 1)})


def bought(rows, random_state=7) -> eq.Domain:
    return eq.private_prevalence(rows[1], DOMAIN, epsilon=0.5, random_state=random_state).domain


def chosen(frame, random_state=7) -> eq.Schema:
    model = eq.LogisticRegression(1.0, domain=BLANK.with_private_bounds(0.5), random_state=random_state)
    return model.fit(frame).schema_


def copies(facts):
    """Yield what users make of a domain or a schema without writing one themselves."""
    yield facts
    yield pickle.loads(pickle.dumps(facts))  # noqa: S301 - made here
    yield copy.deepcopy(facts)
    yield clone(eq.LogisticRegression(domain=facts)).domain
    if isinstance(facts, eq.Schema):
        yield eq.Schema.from_text(facts.to_toml())
        yield replace(facts, unused=("c",))
        yield facts.domain
    else:
        yield replace(facts, row_norm=0.5)


def test_no_release_is_planned_for_a_seeded_prevalence(rows, frame):
    of_schema = eq.private_prevalence(frame, SCHEMA, epsilon=0.5, random_state=7).domain
    for facts in (*copies(bought(rows)), *copies(of_schema)):
        with pytest.raises(InvalidParameter, match=SEEDED):
            eq.LogisticRegression(domain=facts).plan(ROWS, 2)
        assert eq.LogisticRegression(domain=facts, random_state=3).plan(ROWS, 2).grade == "conditional"


def test_no_release_is_planned_for_seeded_bounds(frame):
    for facts in copies(chosen(frame)):
        with pytest.raises(InvalidParameter, match=SEEDED):
            eq.LogisticRegression(domain=facts).plan(ROWS, 2)
        assert eq.LogisticRegression(domain=facts, random_state=3).plan(ROWS, 2).grade == "conditional"


def test_what_was_paid_for_without_a_seed_is_as_public_as_ever(rows, frame):
    for facts in (*copies(bought(rows, None)), *copies(chosen(frame, None))):
        assert eq.LogisticRegression(domain=facts).plan(ROWS, 2).grade == "proved"
    of_schema = eq.private_prevalence(frame, SCHEMA, epsilon=0.5).domain
    assert "seeded" not in of_schema.to_toml()
    # Of a seeded run without bounds to pay for, the schema is the one that was declared.
    assert eq.LogisticRegression(1.0, domain=SCHEMA, random_state=7).fit(frame).schema_ == SCHEMA


def test_every_release_refuses_them_before_an_account_pays(rows, frame):
    X, y = rows
    domain, schema = bought(rows), chosen(frame)
    squared = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", 0.1), domain)
    steps = eq.Recipe(passes=5, batch_size=1000, step=0.2, method="heavy-ball:0.5")
    given = eq.LogisticRegression(domain=domain, mechanism="output")
    tries = [
        lambda: eq.LogisticRegression(domain=domain).fit(X, y),
        lambda: eq.LogisticRegression(domain=schema).fit(frame),
        lambda: eq.LogisticRegression(domain=domain, class_weight="balanced").fit(X, y),
        lambda: eq.AdditiveClassifier(domain=schema).fit(frame),
        lambda: eq.SGDClassifier(domain=domain).fit(X, y),
        lambda: eq.DropoutClassifier(domain=domain).fit(X, y),
        lambda: eq.train_and_evaluate(eq.LogisticRegression(domain=domain), X, y),
        lambda: eq.PrivateGridSearch(eq.LogisticRegression(domain=domain), {"alpha": [0.1, 1.0]}).fit(X, y),
        lambda: eq.PrivateGridSearch(eq.LogisticRegression(), {"domain": [DOMAIN, domain]}).fit(X, y),
        lambda: eq.FeatureSelector(domain=domain).fit(X, y),
        lambda: make_pipeline(eq.LogisticRegression(domain=domain)).fit(X, y),
        lambda: eq.release_solution(np.zeros((1, 3)), given, X, y),
        lambda: eq.plan_method(squared, steps, eq.Budget(1.0), ROWS, 3),
        lambda: eq.private_prevalence(y, domain, epsilon=0.5),
        lambda: eq.private_prevalence(frame, schema, epsilon=0.5),
    ]
    with eq.account(epsilon=100.0, currency="basic") as account:
        for attempt in tries:
            with pytest.raises(InvalidParameter, match=SEEDED):
                attempt()
    assert account.releases == ()


def test_seeded_runs_take_them_and_their_certificates_are_those_of_plain_facts(rows, frame):
    X, y = rows
    domain = bought(rows)
    plain = eq.Domain(1.0, classes=(0, 1), prevalence=domain.prevalence)
    assert domain != plain
    model = eq.LogisticRegression(domain=domain, random_state=3).fit(X, y)
    assert model.certificate_ == eq.Certificate.from_json(model.certificate_.to_json())
    assert model.certificate_.claim == eq.LogisticRegression(domain=plain, random_state=3).fit(X, y).certificate_.claim
    assert len(model.predict(X)) == ROWS
    again = eq.LogisticRegression(domain=chosen(frame), random_state=3).fit(frame)
    assert again.schema_.seeded
    assert len(again.predict(frame)) == ROWS


def test_a_folder_gives_them_back_as_seeded(rows, frame, tmp_path):
    X, y = rows
    prevalence, schema = bought(rows), chosen(frame)
    own = BLANK.with_private_bounds(0.5)
    for place, (model, given) in enumerate(
        (
            (eq.LogisticRegression(domain=prevalence, random_state=3), (X, y)),
            (eq.FeatureSelector(domain=prevalence, random_state=3), (X, y)),
            (eq.LogisticRegression(domain=schema, random_state=3), (frame,)),
            (eq.AdditiveClassifier(domain=schema, random_state=3), (frame,)),
            (eq.LogisticRegression(domain=own, random_state=3), (frame,)),
        )
    ):
        eq.save(model.fit(*given), tmp_path / str(place))
        opened = eq.load(tmp_path / str(place))
        facts = getattr(opened, "schema_", opened.domain)
        with pytest.raises(InvalidParameter, match=SEEDED):
            eq.LogisticRegression(domain=facts).plan(ROWS, 3 if isinstance(facts, eq.Domain) else None)
    # A released one has public facts, wherever its prevalence came from.
    eq.save(eq.LogisticRegression(domain=bought(rows, None)).fit(X, y), tmp_path / "released")
    assert eq.LogisticRegression(domain=eq.load(tmp_path / "released").domain).plan(ROWS, 3).grade == "proved"


def test_no_encoder_takes_them_since_the_model_behind_it_would_not_know(frame):
    schema = chosen(frame)
    public = eq.LogisticRegression(domain=eq.Domain(1.0, classes=("no", "yes")))
    with eq.account(epsilon=100.0, currency="basic") as account:
        behind = make_pipeline(eq.SchemaEncoder(schema), public)
        with pytest.raises(InvalidParameter, match=f"{SEEDED}.*random_state"):
            behind.fit(frame[["a", "b"]], frame["ill"])
    assert account.releases == ()
    make_pipeline(eq.SchemaEncoder(chosen(frame, None)), public).fit(frame[["a", "b"]], frame["ill"])


def test_a_seeded_folder_from_before_the_mark_gives_its_prevalence_back_as_seeded(frame, tmp_path):
    # Such folders have these bytes: nothing in them says where the prevalence came from.
    unmarked = replace(SCHEMA, target=replace(SCHEMA.target, prevalence=(0.94, 0.06)))
    for place, model in enumerate((eq.LogisticRegression, eq.AdditiveClassifier)):
        folder, again = tmp_path / f"{place}", tmp_path / f"{place} again"
        eq.save(model(domain=unmarked, random_state=3).fit(frame), folder)
        assert "seeded" not in (folder / "schema.toml").read_text()
        opened = eq.load(folder)
        facts = opened.domain, opened.schema_, opened.schema_.domain, clone(opened).domain, predictor(folder).schema_
        for fact in (*facts, eq.Schema.from_text(opened.schema_.to_toml())):
            with pytest.raises(InvalidParameter, match=SEEDED):
                eq.LogisticRegression(domain=fact).plan(ROWS, opened.certificate_.n_features)
        with pytest.raises(InvalidParameter, match=SEEDED):
            clone(opened).set_params(random_state=None).fit(frame)
        # What it was is written and certified as before.
        eq.save(opened, again)
        files = {file.name: file.read_bytes() for file in folder.iterdir()}
        assert files == {file.name: file.read_bytes() for file in again.iterdir()}
        found = eq.evaluate(opened, frame, epsilon=1.0, random_state=3)
        assert found.schema.digest == opened.certificate_.terms.schema
    eq.save(eq.LogisticRegression(domain=unmarked).fit(frame), tmp_path / "released")
    assert eq.load(tmp_path / "released").domain == unmarked


def test_what_predicts_without_an_estimator_marks_bounds_as_well(frame, tmp_path):
    for place, random_state in enumerate((7, None)):
        model = eq.LogisticRegression(1.0, domain=BLANK.with_private_bounds(0.5), random_state=random_state)
        eq.save(model.fit(frame), tmp_path / f"{place}")
        assert predictor(tmp_path / f"{place}").schema_ == model.schema_
        assert model.schema_.seeded is (random_state is not None)


def test_pickles_from_before_the_mark_open(frame):
    for facts in (SCHEMA, chosen(frame)):
        assert pickle.loads(pickle.dumps(facts)) == facts  # noqa: S301 - made here
    older = object.__new__(eq.Schema)
    older.__setstate__(SCHEMA.__getstate__()[:-1])
    assert older == SCHEMA
    assert eq.LogisticRegression(domain=older).plan().grade == "proved"


def test_the_text_of_a_schema_says_so_and_takes_nothing_else():
    seeded = replace(SCHEMA, seeded=True)
    assert "\nseeded = true\n" in seeded.to_toml()
    assert "seeded" not in SCHEMA.to_toml()
    assert seeded.digest != SCHEMA.digest
    assert isinstance(seeded.domain, SeededDomain)
    assert not isinstance(SCHEMA.domain, SeededDomain)
    with pytest.raises(SchemaInvalid, match="seeded: true or false"):
        eq.Schema.from_text(seeded.to_toml().replace("seeded = true", "seeded = 7"))


def test_a_check_of_a_folder_notices_a_seeded_schema_beside_a_certificate_without_a_seed():
    seeded = replace(SCHEMA, seeded=True)
    contents = {"schema.toml": seeded.to_toml().encode()}
    plan = eq.LogisticRegression(domain=seeded, random_state=3).plan()
    assert domain_compared(contents, plan).faults == ()
    assert "seeded run" in " ".join(domain_compared(contents, eq.LogisticRegression(domain=SCHEMA).plan()).faults)
