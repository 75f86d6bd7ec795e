import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.certify.certificate import SCHEMA_VERSION, Certificate, Release
from equipoise.certify.claims.chosen_bounds import ChosenBounds
from equipoise.certify.claims.private_bounds import ReleasedBounds
from equipoise.errors import CertificateUnreadable, EquipoiseError, InvalidParameter
from equipoise.planning import kinds
from equipoise.planning.issue import asked_for, issue
from equipoise.planning.laws import deviation_of
from equipoise.planning.notes import Notes
from equipoise.planning.request import Bounds, Dropout, Request
from equipoise.vocabulary.penalties import Penalty
from stored_certificates import altered as smaller_and_larger
from stored_certificates import leaves, numbers, put, sealed_faults

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
LABELS = eq.Domain(row_norm=2.0, labels=(-1.0, 3.0), radius=4.0)
REQUESTS = {
    "pure": Request("logistic", "l2", "public", CLASSES, 0.2, 1000, 5, eq.Budget(1.0)),
    "given alpha": Request("logistic", "l2", 0.05, CLASSES, 0.0, 1000, 5, eq.Budget(0.5), mechanism="laplace"),
    "approximate": Request("squared", "l2", 0.05, LABELS, 0.4, 1000, 40, eq.Budget(1.0, 1e-6), public_seed=3),
    "auto": Request("logistic", "l2", "public", CLASSES, 0.2, 1000, 5, eq.Budget(1.0), mechanism="auto"),
    "auto, corners": Request("hinge", "l2", "public", CLASSES, 0.2, 1000, 5, eq.Budget(1.0), mechanism="auto"),
    "objective": Request("squared", "l2", "public", LABELS, 0.4, 1000, 5, eq.Budget(1.0), mechanism="objective"),
    "unclipped": Request("logistic", "l2", 0.05, CLASSES, 0.0, 1000, 5, eq.Budget(1.0, 1e-6), mechanism="objective:1"),
    "gradient": Request("logistic", "l2", 0.01, CLASSES, 0.2, 900, 9, eq.Budget(1.0, 1e-6), mechanism="noisy-gradient"),
    "batches": Request("logistic", "l2", 0.01, CLASSES, 0.2, 900, 9, eq.Budget(1, 1e-6), mechanism="noisy-gradient:30"),
    "sums": Request("squared", "l2", 0.05, LABELS, 0.4, 1000, 4, eq.Budget(1.0), mechanism="sufficient-statistics"),
    "coefficients": Request("squared", "l2", "public", LABELS, 0.4, 1000, 4, eq.Budget(1.0), mechanism="functional"),
    "descent": Request(
        "logistic", "l2", 0.1, CLASSES, 0.4, 1000, 4, eq.Budget(1.0), recipe=eq.Recipe(passes=3, step=0.1)
    ),
    "random descent": Request(
        *("hinge", "none", 0.0, CLASSES, 0.4, 100, 4, eq.Budget(1.0, 1e-6)),
        recipe=eq.Recipe(passes=2, step=0.1, order="replacement"),
    ),
    "noisy descent": Request(
        *("logistic", "none", 0.0, CLASSES, 0.4, 1000, 4, eq.Budget(1.0, 1e-6)),
        mechanism="noisy-sgd",
        recipe=eq.Recipe(passes=1, batch_size=10, step="public", order="replacement"),
    ),
    "dropout": Request(
        *("squared", "l2", 0.05, LABELS, 0.4, 1000, 4, eq.Budget(1.0, 1e-6)),
        mechanism="dropout",
        recipe=eq.Recipe(),
        dropout=Dropout(0.8, 0),
    ),
    "momentum": Request(
        *("squared", "none", 0.0, dataclasses.replace(LABELS, radius=None), 0.4, 1000, 4, eq.Budget(1.0)),
        recipe=eq.Recipe(passes=5, batch_size=1000, step=0.1, method="heavy-ball:0.5"),
    ),
    "tasks": Request(
        *("logistic", "l2", 0.1, CLASSES, 0.0, 1000, 4, eq.Budget(1.0, 1e-6)),
        recipe=eq.Recipe(1e-7, method="multi-task:600/400"),
    ),
    "phases": Request(
        *("hinge", "none", 0.0, CLASSES, 0.4, 100, 4, eq.Budget(1.0)),
        mechanism="phased",
        recipe=eq.Recipe(passes=1, step="public"),
    ),
}


@pytest.fixture(params=REQUESTS, scope="module")
def certificate(request) -> Certificate:
    return issue(REQUESTS[request.param])


def test_every_kind_that_is_planned_is_here():
    assert {issue(request).kind for request in REQUESTS.values()} == set(kinds.named())


def test_a_certificate_follows_and_survives_the_journey_through_json(certificate):
    assert certificate.verify() == ()
    assert Certificate.from_json(certificate.to_json()) == certificate


def test_every_changed_number_of_terms_and_claim_is_noticed(certificate):
    record = json.loads(certificate.to_json())
    places = list(numbers(record))
    assert len(places) > 15
    for place, value in places:
        for other in (value + 1, *smaller_and_larger(value)):
            try:
                faults = Certificate.from_json(json.dumps(put(record, place, other))).verify()
            except CertificateUnreadable as error:
                faults = (str(error),)
            assert faults, place
            assert all(":" in fault for fault in faults)


# Half of what the claim costs, of how far it says that one row moves something, or of the noise.
HALVED = (
    "budget.epsilon",
    "sensitivity",
    "curvature_sensitivity",
    "worst",
    "noise.scale",
    "finish.scale",
    "noise_scale",
)


def test_a_forged_digest_does_not_help_a_smaller_number(certificate):
    record, tried = json.loads(certificate.to_json()), set()
    for place, value in numbers(record):
        name = next((name for name in (".".join(map(str, place[-2:])), place[-1]) if name in HALVED), None)
        if name is not None:
            faults = sealed_faults(put(record, place, value / 2))
            assert faults, place
            assert not any("digest" in fault for fault in faults)
            tried.add(name)
    assert tried >= {"budget.epsilon", "noise.scale"}
    assert tried & {"sensitivity", "finish.scale", "worst"}


def test_explain_shows_every_number_of_the_claim_and_what_was_noted(certificate):
    text, notes = certificate.explain(), Notes.of(certificate)
    claim = certificate.claim
    facts = claim.constants
    shown = [
        claim.alpha,
        deviation_of(claim.noise),
        # The label bound is half the range that is printed.
        *(value for name, value in vars(facts).items() if name != "label_bound"),
        # Phases have steps of their own.
        *(value for place, value in numbers(json.loads(certificate.to_json())) if place[-2:] != ("recipe", "step")),
        *(choice.alpha for choice in notes.menu if choice.theorem),
        *(choice.clip for choice in notes.menu if choice.clip is not None),
        *([notes.excess_risk] if certificate.kind == "output" else []),
        *(bound.value for bound in notes.bounds if bound.value is not None),
        *(candidate.scale for candidate in notes.candidates),
    ]
    assert len(shown) > 20
    assert [number for number in shown if f"{number:.6g}" not in text] == []
    for choice in notes.menu:
        assert choice.verdict in text
        assert not choice.theorem or f"{choice.cost:.4f}" in text
    named = (certificate.theorem, certificate.mechanism, certificate.kind, "replace-one")
    for words in (*certificate.caveats, *certificate.assumptions, *named):
        assert words in text
    for condition in claim.conditions():
        assert condition.holds
        assert condition.claim in text


def test_a_claim_rests_on_the_smallest_certifying_bound(certificate):
    certified = {bound.theorem: bound.value for bound in certificate.bounds if bound.certifies and bound.value}
    if certificate.kind == "objective":
        # Its theorems ask for a scale of noise and bound no distance; of two that agree to the fineness of calibration
        # the simpler one is quoted.
        assert certified[certificate.theorem] <= min(certified.values()) * (1 + 1e-6)
        assert certificate.noise_scale == certified[certificate.theorem]
    else:
        # Of phases on different rows the first moves furthest; random numbers of meetings are compared by their mean.
        smallest = max(certified.values()) if certificate.kind == "phased" else min(certified.values())
        assert certified[certificate.theorem] == smallest
        assert certificate.sensitivity == certified[certificate.theorem]
    assert (certificate.sensitivity is None) == (certificate.kind == "objective")
    assert certificate.curve().delta(certificate.epsilon) <= certificate.delta


def test_grades_and_stamps():
    plain = issue(REQUESTS["pure"])
    assert plain.grade == "proved"
    assert plain.assumptions == ()
    assert any("not recorded" in caveat for caveat in plain.caveats)
    assert any("covers the rows as given" in caveat for caveat in plain.caveats)
    seeded = issue(dataclasses.replace(REQUESTS["pure"], seeded=True))
    assert seeded.grade == "conditional"
    assert "seeded: for experiments, not for release" in seeded.caveats
    observed = dataclasses.replace(REQUESTS["pure"], domain=eq.Domain(1.0, classes="observed"))
    assert "public" in issue(observed).assumptions[0]


def test_verify_needs_only_vocabulary_and_certify(tmp_path):
    # One process for all of them: what it has loaded at the end is what any of them needed.
    for name, request in REQUESTS.items():
        (tmp_path / f"{name}.json").write_text(issue(request).to_json())
    program = f"""
import sys
from pathlib import Path
from equipoise.certify.certificate import Certificate
files = sorted(Path({str(tmp_path)!r}).glob("*.json"))
assert len(files) == {len(REQUESTS)}
for file in files:
    assert Certificate.from_json(file.read_text()).verify() == (), file
ours = {{name.split(".")[1] for name in sys.modules if name.startswith("equipoise.")}}
assert ours <= {{"errors", "vocabulary", "certify"}}, ours
absent = {{"numpy", "scipy", "numba", "sklearn", "pandas", "polars", "narwhals", "sqlalchemy", "opendp"}}
assert not absent & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_a_truncated_file_is_refused(certificate, share):
    text = certificate.to_json()
    with pytest.raises(CertificateUnreadable, match="parse"):
        Certificate.from_json(text[: int(share * len(text.rstrip()))])


def test_a_newer_schema_is_refused_with_the_remedy(certificate):
    record = json.loads(certificate.to_json())
    with pytest.raises(CertificateUnreadable, match="install a newer Equipoise"):
        Certificate.from_json(json.dumps({**record, "schema_version": SCHEMA_VERSION + 1}))


def with_terms(record: dict, **changes: object) -> dict:
    return {**record, "terms": {**record["terms"], **changes}}


def with_claim(record: dict, **changes: object) -> dict:
    return {**record, "claim": {**record["claim"], **changes}}


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: {},
        lambda record: [],
        lambda record: "text",
        lambda record: {**record, "surprise": 1},
        lambda record: {key: value for key, value in record.items() if key != "digest"},
        lambda record: {**record, "terms": None},
        lambda record: {**record, "claim": None},
        lambda record: {**record, "notes": []},
        lambda record: with_terms(record, n_samples="many"),
        lambda record: with_terms(record, adjacency="add-or-remove"),
        lambda record: with_claim(record, surprise=1),
        lambda record: with_claim(record, kind="unheard-of"),
        lambda record: with_claim(record, n_samples="many"),
        lambda record: with_claim(record, problem={**record["claim"]["problem"], "loss": "unheard-of"}),
        lambda record: with_claim(record, noise=3),
        # Bounds of columns belong to a claim that pays for them.
        lambda record: with_claim(record, released=[{"column": "age", "low": 20.0, "high": 100.0}]),
        lambda record: {**record, "schema_version": True},
        lambda record: {**record, "schema_version": 0},
    ],
)
def test_malformed_records_are_refused(certificate, damage):
    with pytest.raises(CertificateUnreadable):
        Certificate.from_json(json.dumps(damage(json.loads(certificate.to_json()))))


@pytest.mark.parametrize("count", [0, -5])
@pytest.mark.parametrize("name", ["n_samples", "n_features"])
def test_no_claim_is_about_less_than_one_row_or_column(certificate, name, count):
    record = json.loads(certificate.to_json())
    for place, value in numbers(record):
        if place[-1] == name:
            record = put(record, place, count)
            assert value > 0
    assert sealed_faults(record)


@pytest.mark.parametrize("text", ["NaN", '{"schema_version": NaN}', '{"schema_version": 1e999}', "[" * 100_000])
def test_hostile_json_is_refused(text):
    with pytest.raises(CertificateUnreadable):
        Certificate.from_json(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=8,
)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(data=st.data())
def test_any_replaced_value_is_refused_or_noticed(data):
    issued = issue(REQUESTS[data.draw(st.sampled_from(["pure", "objective"]))])
    record = json.loads(issued.to_json())
    place = record[data.draw(st.sampled_from(["terms", "claim"]))]
    key = data.draw(st.sampled_from(sorted(place)))
    value = data.draw(json_values)
    if value == place[key] and type(value) is type(place[key]):
        return
    place[key] = value
    try:
        changed = Certificate.from_json(json.dumps(record))
    except EquipoiseError:
        return
    # A record may leave out fields at their defaults, and nothing was changed.
    assert changed.verify() or changed == issued


AGE, INCOME = ReleasedBounds("age", 16.0, 112.0), ReleasedBounds("income", 0.0, 98304.0)
PAID = dataclasses.replace(REQUESTS["approximate"], n_samples=2000, private_bounds=Bounds(("age", "income"), 0.25))


def with_bounds(*released: ReleasedBounds) -> Certificate:
    """Return the certificate of a fit that released bounds before the model."""
    plan = issue(PAID)
    bounds, model = plan.claim.of
    assert isinstance(bounds, ChosenBounds)
    claim = dataclasses.replace(plan.claim, of=(dataclasses.replace(bounds, released=released), model))
    return plan.with_release(claim, Release("a name", "2026-01-01", (("equipoise", "0.2.0"),)))


def test_a_certificate_with_private_bounds_claims_both_parts_and_verifies():
    plan, fitted = issue(PAID), with_bounds(AGE, INCOME)
    assert fitted.verify() == plan.verify() == ()
    assert Certificate.from_json(fitted.to_json()) == fitted
    assert fitted.planned_digest == plan.digest != fitted.digest
    model = issue(asked_for(plan).for_the_model())
    assert model.epsilon == pytest.approx(plan.epsilon - 0.25)
    assert plan.noise_scale == model.noise_scale
    assert plan.curve().delta(plan.epsilon) <= plan.delta
    # The curve belongs to both parts: what the bounds cost is not there for the model.
    assert plan.curve().delta(plan.epsilon - 0.25) > plan.delta
    assert '"column":"age","high":112.0,"low":16.0' in fitted.explain()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        pytest.param((AGE, ReleasedBounds("height", 0.0, 98304.0)), "paid for", id="a column that was not paid for"),
        pytest.param((AGE,), "paid for", id="one column of two"),
        pytest.param((ReleasedBounds("age", 20.5, 112.0), INCOME), "age lie on the public grid", id="an end off it"),
        pytest.param((ReleasedBounds("age", 112.0, 16.0), INCOME), "age lie on the public grid", id="the wrong order"),
    ],
)
def test_released_bounds_that_cannot_be_true_are_named(wrong, named):
    faults = with_bounds(*wrong).verify()
    assert len(faults) == 1
    assert named in faults[0]


def test_bounds_on_risk_speak_of_a_fixed_loss_only():
    plain = dataclasses.replace(REQUESTS["pure"], private_bounds=Bounds(("age",), 0.25))
    assert eq.risk(issue(REQUESTS["pure"]))["J6"].value > 0
    with pytest.raises(InvalidParameter, match="depend on rows"):
        eq.risk(issue(plain))


DOCUMENT = (Path(__file__).parents[2] / "docs" / "certificate.md").read_text(encoding="utf-8")
# Explained in a paragraph, or as a budget or noise, whose fields are.
SHARED = ("budget", "noise", "finish", "statistic", "weights", "recipe")
OF_SHARED = {"epsilon", "delta", "law", "scale", "dimension"}


def fields_of(claim: dict) -> set[str]:
    """Return the fields of one node as the page names them, those of its parts left out."""
    found = set()
    for place, _ in leaves({key: value for key, value in claim.items() if key not in ("of", "kind")}):
        path = ".".join("[]" if isinstance(key, int) else str(key) for key in place).replace(".[]", "[]")
        found.add(path.removesuffix("[]"))
    return found


def is_documented(field: str) -> bool:
    """Return whether the page names a field, or the shared record that it belongs to."""
    head, _, rest = field.partition(".")
    return f"`{field}`" in DOCUMENT or (head in SHARED and (rest in OF_SHARED or f"`{rest}`" in DOCUMENT))


def test_every_field_is_documented(certificate):
    for record in (json.loads(certificate.to_json()), json.loads(with_bounds(AGE, INCOME).to_json())):
        names = {*record, *record["terms"], *(record["release"] or {})}
        for node in (record["claim"], *record["claim"].get("of", ())):
            assert f"`{node['kind']}`" in DOCUMENT
            names |= fields_of(node)
        assert {name for name in names if not is_documented(name)} == set()
    assert not is_documented("surprise")


def test_a_field_with_a_default_may_be_missing_and_the_digest_still_holds(certificate):
    """The evolution law: a certificate written before a field existed must still follow."""

    def defaults(value: object, read: object) -> object:
        """Return JSON values without the fields that are at their defaults."""
        if isinstance(value, list):
            return [defaults(entry, part) for entry, part in zip(value, read, strict=True)]
        # A penalty is written by its name and strength, which are no fields of it.
        if not isinstance(value, dict) or isinstance(read, Penalty):
            return value
        at = {field.name: field.default for field in dataclasses.fields(read)}
        return {
            name: defaults(entry, getattr(read, name))
            for name, entry in value.items()
            if name not in at or at[name] is dataclasses.MISSING or getattr(read, name) != at[name]
        }

    record = json.loads(certificate.to_json())
    shorter = {**record, **{part: defaults(record[part], getattr(certificate, part)) for part in ("terms", "claim")}}
    assert "public_seed" not in shorter["terms"] or certificate.public_seed != 0
    assert len(list(leaves(shorter))) < len(list(leaves(record)))
    again = Certificate.from_json(json.dumps(shorter))
    assert again == certificate
    assert again.verify() == ()
