import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from equipoise.proof import routes
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from equipoise.certify.certificate import SCHEMA_VERSION, Certificate, _digest
from equipoise.certify.claims.dropout import Dropout
from equipoise.certify.claims.private_bounds import PrivateBounds, ReleasedBounds
from equipoise.errors import CertificateUnreadable, EquipoiseError, InvalidParameter
from equipoise.planning.request import Request

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
    return Certificate.issue(REQUESTS[request.param])


# Requests whose numbers go the way of another one's; every change of a number is planned anew.
ALIKE = ("given alpha", "auto, corners", "unclipped", "random descent", "momentum", "tasks")


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.statistics if name in ALIKE else ()) for name in REQUESTS],
    scope="module",
)
def altered(request) -> Certificate:
    """A certificate that a test alters number by number."""
    return Certificate.issue(REQUESTS[request.param])


def numbers(value, path=()):
    """Yield the path of every number in a JSON value."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from numbers(entry, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from numbers(entry, (*path, index))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def changed(record: dict, path: tuple, change) -> dict:
    copy = json.loads(json.dumps(record))
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = change(place[path[-1]])
    return copy


def test_every_route_is_here():
    assert {Certificate.issue(request).route for request in REQUESTS.values()} == set(routes.members())


def test_a_certificate_follows_and_survives_the_journey_through_json(certificate):
    assert certificate.verify() == ()
    assert Certificate.from_json(certificate.to_json()) == certificate


@pytest.mark.parametrize(
    "change",
    [
        # The smallest of the changes below, for every number; each change of the request is planned anew.
        pytest.param(lambda old: old * 1.01 if old and isinstance(old, float) else old + 1, id="a little"),
        pytest.param(lambda old: old + 1, marks=pytest.mark.statistics, id="one more"),
        pytest.param(
            lambda old: old * 1.01 if isinstance(old, float) else old + 7, marks=pytest.mark.statistics, id="a share"
        ),
    ],
)
def test_every_changed_number_is_noticed_and_a_field_is_named(altered, change):
    record = json.loads(altered.to_json())
    paths = [path for path in numbers(record) if path != ("schema_version",)]
    assert len(paths) > 30
    for path in paths:
        other = changed(record, path, change)
        if other == record:  # 1.01 times zero
            continue
        try:
            faults = Certificate.from_json(json.dumps(other)).verify()
        except CertificateUnreadable as error:
            faults = (str(error),)
        assert faults, path
        assert all(":" in fault for fault in faults)


def test_a_changed_derived_number_is_named_itself(altered):
    record = json.loads(altered.to_json())
    derived = [path for path in numbers(record) if path[0] == "argument"]
    for path in derived:
        text = json.dumps(changed(record, path, lambda old: old + 3 if isinstance(old, int) else old * 1.5 + 1))
        try:
            faults = Certificate.from_json(text).verify()
        except CertificateUnreadable as refusal:
            # A recipe or a budget that cannot be, such as one that skips more than all steps, is not even read.
            nested = path[1] == "recipe" or "statistic" in path or "weights" in path
            faults = (f"{refusal} {'.'.join(map(str, path))}",) if nested else ()
        assert any(str(path[-1]) in fault for fault in faults), path


@pytest.mark.parametrize("field", ["sensitivity", "noise_scale"])
def test_a_forged_digest_does_not_help_a_smaller_number(certificate, field):
    # Objective perturbation and the functional mechanism have no L2 sensitivity; claiming one is a forgery as well.
    forged = dataclasses.replace(certificate.argument, **{field: (getattr(certificate, field) or 1.0) / 2})
    resealed = dataclasses.replace(
        certificate, argument=forged, digest=_digest(certificate.schema_version, certificate.request, forged, (), None)
    )
    assert any(field in fault for fault in resealed.verify())
    assert not any("digest" in fault for fault in resealed.verify())


def to_items(record):
    return [(field.name, getattr(record, field.name)) for field in dataclasses.fields(record)]


def test_explain_shows_every_number_of_the_argument(certificate):
    text = certificate.explain()
    argument = certificate.argument
    nested = ("phases", "curvature")
    procedure = [value for field, value in to_items(argument.procedure) if field not in nested]
    if argument.procedure.curvature is not None:
        rule = argument.procedure.curvature
        procedure += [value for value in (*dataclasses.astuple(rule)[:3], rule.sensitivity, rule.most) if value]
        procedure += [*dataclasses.astuple(rule.statistic), *dataclasses.astuple(rule.weights)]
    procedure += [number for phase in argument.procedure.phases for number in dataclasses.astuple(phase)]
    shown = [
        argument.noise_scale,
        argument.noise_deviation,
        argument.alpha,
        *dataclasses.astuple(argument.constants),
        *(number for number in procedure if number and not isinstance(number, str)),
        *(choice.alpha for choice in argument.menu if choice.theorem),
        *(choice.clip for choice in argument.menu if choice.clip is not None),
        # Numbers that only some routes have.
        *([] if argument.sensitivity is None else [argument.sensitivity]),
        *([argument.tolerance] if argument.tolerance else []),
        *([argument.excess_risk] if argument.route == "output" else []),
        *(bound.value for bound in argument.bounds if bound.value is not None),
        *(candidate.scale for candidate in argument.candidates),
        *(point.delta for point in argument.curve),
    ]
    # The label bound is half the range that is printed.
    shown.remove(argument.constants.label_bound)
    for number in shown:
        assert f"{number:.6g}" in text
    for choice in argument.menu:
        assert choice.verdict in text
        assert not choice.theorem or f"{choice.cost:.4f}" in text
    named = (argument.theorem, argument.mechanism, argument.route, "replace-one")
    for words in (*argument.caveats, *argument.assumptions, *named):
        assert words in text


def test_a_claim_rests_on_the_smallest_certifying_bound(certificate):
    certified = {bound.theorem: bound.value for bound in certificate.bounds if bound.certifies and bound.value}
    if certificate.route == "objective":
        # Its theorems ask for a scale of noise and bound no distance; of two that agree to the fineness of calibration
        # the simpler one is quoted.
        assert certified[certificate.theorem] <= min(certified.values()) * (1 + 1e-6)
        assert certificate.noise_scale == certified[certificate.theorem]
    else:
        # Of phases on different rows the first moves furthest; random numbers of meetings are compared by their mean.
        smallest = max(certified.values()) if certificate.route == "phased" else min(certified.values())
        assert certified[certificate.theorem] == smallest
    if certificate.sensitivity is not None:
        assert certificate.sensitivity == certified[certificate.theorem]
    assert (certificate.sensitivity is None) == (certificate.route in ("objective", "functional"))
    epsilon, delta = certificate.epsilon, certificate.delta
    point = next(point for point in certificate.argument.curve if point.epsilon == epsilon)
    assert point.delta <= delta


def test_grades_and_stamps():
    plain = Certificate.issue(REQUESTS["pure"])
    assert plain.grade == "proved"
    assert plain.assumptions == ()
    assert any("not recorded" in caveat for caveat in plain.caveats)
    assert any("covers the rows as given" in caveat for caveat in plain.caveats)
    seeded = Certificate.issue(dataclasses.replace(REQUESTS["pure"], seeded=True))
    assert seeded.grade == "conditional"
    assert "seeded: for experiments, not for release" in seeded.caveats
    observed = dataclasses.replace(REQUESTS["pure"], domain=eq.Domain(1.0, classes="observed"))
    assert "public" in Certificate.issue(observed).assumptions[0]


def test_verify_needs_only_vocabulary_and_proof(tmp_path):
    # One process for all of them: what it has loaded at the end is what any of them needed.
    for name, request in REQUESTS.items():
        (tmp_path / f"{name}.json").write_text(Certificate.issue(request).to_json())
    program = f"""
import sys
from pathlib import Path
from equipoise.certify.certificate import Certificate
files = sorted(Path({str(tmp_path)!r}).glob("*.json"))
assert len(files) == {len(REQUESTS)}
for file in files:
    assert Certificate.from_json(file.read_text()).verify() == (), file
ours = {{name.split(".")[1] for name in sys.modules if name.startswith("equipoise.")}}
assert ours <= {{"errors", "vocabulary", "proof"}}, ours
assert not {{"sklearn", "pandas", "polars", "narwhals", "sqlalchemy", "opendp"}} & set(sys.modules)
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


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: {},
        lambda record: [],
        lambda record: "text",
        lambda record: {**record, "surprise": 1},
        lambda record: {key: value for key, value in record.items() if key != "digest"},
        lambda record: {**record, "request": None},
        lambda record: {**record, "request": {**record["request"], "n_samples": "many"}},
        lambda record: {**record, "request": {**record["request"], "n_samples": 0}},
        lambda record: {**record, "request": {**record["request"], "loss": "unheard-of"}},
        lambda record: {**record, "schema_version": True},
        lambda record: {**record, "schema_version": 0},
        lambda record: {**record, "argument": {**record["argument"], "grade": "measured"}},
        lambda record: {**record, "argument": {**record["argument"], "bounds": 3}},
    ],
)
def test_malformed_records_are_refused(certificate, damage):
    with pytest.raises(CertificateUnreadable):
        Certificate.from_json(json.dumps(damage(json.loads(certificate.to_json()))))


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
    issued = Certificate.issue(REQUESTS[data.draw(st.sampled_from(["pure", "objective"]))])
    record = json.loads(issued.to_json())
    place = record[data.draw(st.sampled_from(["request", "argument"]))]
    key = data.draw(st.sampled_from(sorted(place)))
    value = data.draw(json_values)
    if value == place[key] and type(value) is type(place[key]):
        return
    place[key] = value
    try:
        changed = Certificate.from_json(json.dumps(record))
    except EquipoiseError:
        return
    # A record may leave out fields at their defaults: an empty procedure is the plain one, and nothing was changed.
    assert changed.verify() or changed == issued


WITH_BOUNDS = Certificate.issue(
    dataclasses.replace(REQUESTS["approximate"], private_bounds=PrivateBounds(("age", "income"), 0.25))
).with_bounds((ReleasedBounds("age", 20.0, 100.0), ReleasedBounds("income", 0.0, 1e5)))


def test_a_certificate_with_private_bounds_claims_both_parts_and_verifies():
    plan = Certificate.issue(WITH_BOUNDS.request)
    assert WITH_BOUNDS.verify() == plan.verify() == ()
    assert Certificate.from_json(WITH_BOUNDS.to_json()) == WITH_BOUNDS
    assert WITH_BOUNDS.planned_digest == plan.digest != WITH_BOUNDS.digest
    model = Certificate.issue(WITH_BOUNDS.request.for_the_model())
    assert model.epsilon == pytest.approx(plan.epsilon - 0.25)
    assert plan.noise_scale == model.noise_scale
    assert [point.delta for point in plan.argument.curve][1] <= plan.delta
    assert "age in [20, 100]" in WITH_BOUNDS.explain()


@pytest.mark.parametrize(
    "wrong",
    {
        "a column that was not paid for": (ReleasedBounds("age", 20.0, 100.0), ReleasedBounds("height", 0.0, 1e5)),
        "one column of two": (ReleasedBounds("age", 20.0, 100.0),),
        "an end off the grid": (ReleasedBounds("age", 20.5, 100.0), ReleasedBounds("income", 0.0, 1e5)),
        "ends in the wrong order": (ReleasedBounds("age", 100.0, 20.0), ReleasedBounds("income", 0.0, 1e5)),
    }.items(),
    ids=lambda case: case[0],
)
def test_released_bounds_that_cannot_be_true_are_named(wrong):
    assert any("released_bounds" in fault for fault in WITH_BOUNDS.with_bounds(wrong[1]).verify())


def test_bounds_on_risk_speak_of_a_fixed_loss_only():
    plain = dataclasses.replace(REQUESTS["pure"], private_bounds=PrivateBounds(("age",), 0.25))
    assert eq.risk(Certificate.issue(REQUESTS["pure"]))["J6"].value > 0
    with pytest.raises(InvalidParameter, match="depend on rows"):
        eq.risk(Certificate.issue(plain))


def test_bounds_that_nobody_paid_for_are_named():
    free = Certificate.issue(REQUESTS["approximate"]).with_bounds((ReleasedBounds("age", 20.0, 100.0),))
    assert any("released_bounds" in fault for fault in free.verify())


def test_every_field_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "certificate.md").read_text()
    paths = set()

    def collect(value, path):
        if isinstance(value, dict):
            for key, entry in value.items():
                paths.add(f"{path}{key}")
                collect(entry, f"{path}{key}.")
        elif isinstance(value, list) and value:
            collect(value[0], f"{path[:-1]}[].")

    for name in ("approximate", "auto"):
        collect(json.loads(Certificate.issue(REQUESTS[name]).to_json()), "")
    collect(json.loads(WITH_BOUNDS.to_json()), "")
    assert "argument.menu[].cost" in paths
    assert {path for path in paths if f"| `{path}` |" not in page} == set()


def test_a_field_with_a_default_may_be_missing_and_the_digest_still_holds():
    """The evolution law: a certificate written before a field existed must still follow."""
    certificate = Certificate.issue(REQUESTS["pure"])
    record = json.loads(certificate.to_json())
    assert record["request"].pop("public_seed") == 0
    # What the routes added: a file of output perturbation that knows nothing of them says the same.
    assert record["request"].pop("mechanism") == "output"
    added = ("route", "loss", "procedure", "menu")
    assert all(field in record["argument"] for field in added)
    record["argument"] = {field: value for field, value in record["argument"].items() if field not in added}
    assert Certificate.from_json(json.dumps(record)).verify() == ()
