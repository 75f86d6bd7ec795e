"""The trade-off explorer: its numbers against brute force, and its page in a browser."""

import itertools
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equipoise as eq
from browser import PHONE, POLICY, Outline, measure, needs_browser, visit
from equipoise.errors import InvalidParameter
from equipoise.proof.certificate import Certificate
from equipoise.proof.risk import risk, stability_gain
from equipoise.proof.trade_off import _lengths, _unbalanced, least_training_error, trade_off
from equipoise.vocabulary.facts import Domain, Problem

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
LABELS = eq.Domain(row_norm=1.0, labels=(0.0, 10.0))
CHARTS = {"over-alpha", "over-epsilon", "gain"}
MODELS = {
    "logistic": eq.LogisticRegression(domain=CLASSES, mechanism="output"),
    "ridge": eq.Ridge(domain=LABELS, mechanism="output"),
    "svm": eq.LinearSVC(domain=CLASSES, mechanism="output"),
    "elastic net": eq.ElasticNet(domain=LABELS),
    "gaussian": eq.LogisticRegression(delta=1e-6, domain=CLASSES, mechanism="gaussian"),
}


@pytest.fixture(scope="module")
def explored():
    """Return a function that explores the plan of a model, once."""
    found = {}

    def explore(name):
        if name not in found:
            found[name] = trade_off(MODELS[name].plan(n_samples=5000, n_features=10))
        return found[name]

    return explore


@pytest.mark.parametrize("name", sorted(MODELS))
def test_more_stability_costs_training_error_and_saves_the_rest(explored, name):
    found = explored(name)
    points = {(point.alpha, point.epsilon): point for point in found.points}
    for epsilon in found.epsilons:
        for weak, strong in itertools.pairwise(points[alpha, epsilon] for alpha in found.alphas):
            assert strong.privacy < weak.privacy
            assert strong.generalisation < weak.generalisation
            # Equal up to the solver's tolerance where both are what a model that says nothing pays.
            assert strong.training_high >= weak.training_high * (1 - 1e-6)
            # The lower bound is the best of a grid, so that it may lag by a step of it.
            assert strong.training_low >= 0.99 * weak.training_low
    for alpha in found.alphas:
        for less, more in itertools.pairwise(points[alpha, epsilon] for epsilon in found.epsilons):
            assert more.privacy < less.privacy
            # What is paid without privacy as well hardly changes: the solver's tolerance alone follows epsilon.
            assert more.generalisation == pytest.approx(less.generalisation, rel=0.05)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_points_are_the_certified_statements(explored, name):
    found = explored(name)
    centre = found.certificate
    (point,) = (each for each in found.points if (each.alpha, each.epsilon) == (centre.alpha, centre.epsilon))
    report = risk(centre, radius=found.norm)
    assert point.generalisation == report["J1.mean"].value
    assert point.lemma_11 == report["J5.norm"].value
    assert point.privacy == min(
        value for form in ("norm", "linear", "smooth") if (value := report[f"J5.{form}"].value) is not None
    )
    assert point.together == report["J4.linear.mean"].value
    assert point.sensitivity == centre.sensitivity


@pytest.mark.parametrize("name", sorted(MODELS))
def test_at_least_never_exceeds_at_most(explored, name):
    for point in explored(name).points:
        assert 0 <= point.training_low <= point.training_high


@given(
    st.sampled_from(["logistic", "hinge", "smooth-hinge:0.5", "squared", "huber:1.0", "absolute"]),
    st.floats(1e-4, 10.0),
    st.integers(1, 10**6),
    st.floats(0.1, 20.0),
    st.sampled_from([0.0, 0.2, 0.5, 1.5]),
)
@settings(max_examples=150)
def test_both_ends_hold_for_every_minimiser(loss, alpha, n_samples, norm, intercept):
    kind = eq.losses.named(loss)
    domain = CLASSES if kind.task == "classification" else LABELS
    problem = Problem(kind, eq.penalties.named("l2", alpha), domain, intercept)
    sensitivity = min(bound.value for bound in eq.bounds(problem, eq.Recipe(), n_samples) if bound.certifies)
    low = least_training_error(problem, sensitivity, n_samples, norm)
    # A ridge's minimiser pays at most its penalty at the comparator (J6).
    assert 0 <= low <= alpha * norm**2 / 2 * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared", "absolute"])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
def test_the_tables_of_the_lower_bound_pay_it(loss, alpha):
    n_samples, norm = 12, 3.0
    kind = eq.losses.named(loss)
    domain = CLASSES if kind.task == "classification" else Domain(1.0, labels=(-1.0, 1.0))
    problem = Problem(kind, eq.penalties.named("l2", alpha), domain)
    sensitivity = min(bound.value for bound in eq.bounds(problem, eq.Recipe(), n_samples) if bound.certifies)
    bound = least_training_error(problem, sensitivity, n_samples, norm)
    assert bound > 0
    worst = 0.0
    for count, length in itertools.product(_unbalanced(n_samples, problem), _lengths(problem)):
        X = np.zeros((n_samples, 2))
        X[: int(count), 0] = length
        balanced = np.arange(n_samples) % 2
        y = np.where(np.arange(n_samples) < count, 1, balanced if kind.task == "classification" else 2 * balanced - 1)
        path = eq.lab.solution_path(X, y, [alpha], domain=domain, loss=loss, penalty="l2")
        reference = np.linspace(0, norm, 301)
        coded = np.where(y > 0, 1.0, -1.0)
        best = min(kind.value(X[:, 0] * weight, coded).mean() for weight in reference)
        worst = max(worst, path.training[0] - best)
    # The minimiser is one of the algorithms that the bound is about, and no more than ten times worse.
    assert bound <= worst <= 10 * bound


def test_slopes_that_stay_give_the_order_of_section_4_1_with_its_constant():
    problem = Problem(eq.losses.named("absolute"), eq.penalties.named("l2", 1.0), Domain(1.0, labels=(-50.0, 50.0)))
    for n_samples, sensitivity, norm in ((1000, 0.01, 5.0), (10_001, 0.004, 2.0), (400, 0.5, 10.0)):
        # rho^2 G^2 / (2 n beta) with beta = rho Delta, where that many rows exist.
        expected = norm**2 / (2 * n_samples * sensitivity)
        found = least_training_error(problem, sensitivity, n_samples, norm)
        assert 0.99 * expected <= found <= expected * (1 + 1e-9)
    # With fewer: rho (G - n Delta / 2), by all rows.
    assert least_training_error(problem, 0.001, 100, 5.0) == pytest.approx(5.0 - 0.05, rel=1e-9)


def test_several_outputs_have_no_lower_bound():
    model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1, 2)), mechanism="output")
    found = trade_off(model.plan(n_samples=5000, n_features=3))
    assert {point.training_low for point in found.points} == {None}
    assert all(point.privacy > 0 for point in found.points)


def test_the_gain_is_the_whole_ratio_of_the_sensitivities(explored):
    found = explored("svm")
    for gain in found.gains:
        factor = found.certificate.alpha / gain.alpha
        assert gain.sensitivity_ratio == pytest.approx(factor, rel=1e-9)
        assert gain.epsilon == pytest.approx(factor, rel=1e-9)
        assert gain.published == pytest.approx(factor**0.5, rel=1e-9)
    gaussian = explored("gaussian")
    for gain in gaussian.gains:
        other = eq.LogisticRegression(delta=1e-6, domain=CLASSES, mechanism="gaussian", alpha=gain.alpha)
        assert gain.epsilon == stability_gain(gaussian.certificate, other.plan(5000, 10)).epsilon


def test_a_plan_that_auto_put_elsewhere_is_explored_on_the_output():
    certificate = eq.LogisticRegression(domain=CLASSES).plan(n_samples=5000, n_features=10)
    assert certificate.route == "objective"
    found = trade_off(certificate)
    assert found.certificate.route == "output"
    assert isinstance(found.certificate, Certificate)
    assert found.ceiling == pytest.approx(np.log(2))


def test_other_places_of_noise_and_descents_are_refused():
    asked = eq.LogisticRegression(domain=CLASSES, mechanism="objective").plan(1000, 3)
    with pytest.raises(InvalidParameter, match='mechanism="output"'):
        trade_off(asked)
    with pytest.raises(InvalidParameter, match="descends"):
        trade_off(eq.SGDClassifier(domain=CLASSES, alpha=0.1).plan(1000, 3))


def equipoise(*arguments):
    command = [sys.executable, "-c", "from equipoise.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("trade-off") / "page.html"
    done = equipoise("plan", "-n", 5000, "-d", 10, "--epsilon", 1, "--curve", path)
    assert done.returncode == 0, done.stderr
    assert "Claim (proved)" in done.stdout
    assert f"wrote {path}" in done.stderr
    return path


def test_the_command_writes_one_page_that_asks_for_nothing(page):
    text = page.read_text(encoding="utf-8")
    outline = Outline(text)
    assert not [
        tag
        for tag, attributes in outline.elements
        if attributes.get("src") or attributes.get("href", "data:,") != "data:,"
    ]
    for said in ("no row was read", "puts its noise elsewhere (objective)", "Lemma 11", "Corollary 13", "at least"):
        assert said in outline.text
    assert {attributes["id"] for _, attributes in outline.elements if "data-chart" in attributes} == CHARTS


def test_an_existing_page_is_kept(page):
    before = page.read_bytes()
    done = equipoise("plan", "-n", 100, "-d", 2, "--epsilon", 1, "--curve", page)
    assert done.returncode == 2
    assert "one that exists" in done.stderr
    assert page.read_bytes() == before


@needs_browser
def test_every_chart_is_drawn_without_errors_or_outside_requests(page):
    seen = visit(page)
    assert seen.complaints == []
    for chart in CHARTS:
        assert "<svg" in seen.drawn(chart), chart
    assert "privacy error, at most" in seen.drawn("over-alpha")
    assert 'select name="at"' in seen.drawn("over-alpha")


@needs_browser
def test_a_phone_shows_the_whole_page(page):
    seen = measure(page, PHONE)
    assert seen.complaints == []
    assert seen.measured["requests"] == []
    assert seen.measured["wide"] <= PHONE
    assert set(seen.measured["drawn"]) == CHARTS
    assert seen.measured["widest"] <= PHONE


CHOOSE = """<script>addEventListener('load', () => setTimeout(() => {
  const lines = () => [...document.querySelectorAll('#over-alpha path')].map(path => path.getAttribute('d')).join();
  const before = lines(), list = document.querySelector('#over-alpha select');
  list.selectedIndex = 0;
  list.dispatchEvent(new Event('change', {bubbles: true})); list.dispatchEvent(new Event('input', {bubbles: true}));
  setTimeout(() => { document.body.dataset.redrawn = String(lines() !== before); }, 500);
}, 2500));</script>"""


@needs_browser
def test_another_epsilon_redraws_the_picture(page):
    bare = re.sub(POLICY, "", page.read_text(encoding="utf-8"), count=1)
    head, tail = bare.rsplit("</body>", 1)
    copy = page.with_name("chosen.html")
    copy.write_text(f"{head}{CHOOSE}</body>{tail}", encoding="utf-8")
    assert 'data-redrawn="true"' in visit(copy).dom
