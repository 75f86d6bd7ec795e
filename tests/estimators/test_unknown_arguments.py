"""Whoever comes from another library is told what stands in place of its arguments."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone

import equipoise as eq
from equipoise import estimators
from equipoise.errors import UnknownArgument
from equipoise.estimators.unknown_arguments import ELSEWHERE


@pytest.mark.parametrize("name", ["C", "data_norm", "max_iter", "penalty", "sample_weight", "tol", "accountant"])
def test_arguments_of_other_libraries_are_answered_with_ours(name):
    with pytest.raises(UnknownArgument) as refused:
        eq.LogisticRegression(epsilon=1.0, **{name: 1})
    assert refused.value.asked.startswith("arguments of LogisticRegression: epsilon, delta, domain")
    assert refused.value.found == name
    assert refused.value.remedy == ELSEWHERE[name]
    assert "Private" not in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "name", "value", "remedy"),
    [
        (eq.LogisticRegression, "penalty", "l2", "leave it out: l2 is what it is"),
        (eq.LogisticRegression, "penalty", "l1", "ElasticNetClassifier"),
        (eq.ElasticNet, "penalty", "l2", "l1_ratio=0.0 is l2 alone"),
        (eq.SchemaEncoder, "penalty", "l2", "choose the model by its penalty"),
        (eq.Ridge, "data_norm", 1.0, "labels=(low, high)"),
        (eq.LogisticRegression, "data_norm", 1.0, "classes="),
        (eq.Ridge, "n_jobs", -1, "leave it out: it would change nothing"),
    ],
)
def test_the_answer_fits_the_model_and_the_value_in_three_lines(kind, name, value, remedy):
    with pytest.raises(UnknownArgument) as refused:
        kind(**{name: value})
    assert remedy in refused.value.remedy
    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == ["asked", "found", "to do"]


ALL = [*estimators.members().values(), eq.SchemaEncoder, eq.ImageFeatures]


def made(kind: type) -> object:
    """Return an estimator with no more than its constructor asks for."""
    return kind(eq.Ridge(), {"alpha": [0.1, 1.0]}) if kind is eq.PrivateGridSearch else kind()


@pytest.mark.parametrize("name", ["C", "data_norm", "max_iter", "penalty", "sample_weight"])
@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_set_params_answers_as_the_constructor_does(kind, name):
    with pytest.raises(UnknownArgument) as constructed:
        kind(**{name: 2})
    with pytest.raises(UnknownArgument) as refused:
        made(kind).set_params(**{name: 2})
    assert str(refused.value) == str(constructed.value)


def test_parameters_of_a_component_are_answered_for_that_component():
    search = made(eq.PrivateGridSearch).set_params(epsilon=2.0, estimator__alpha=3.0)
    assert (search.epsilon, search.estimator.alpha) == (2.0, 3.0)
    with pytest.raises(UnknownArgument, match=r"arguments of Ridge: .*\nfound: C\nto do: write alpha = "):
        search.set_params(estimator__C=2)


def test_each_of_several_arguments_gets_its_answer():
    with pytest.raises(UnknownArgument) as refused:
        eq.LogisticRegression(C=1.0, penalty="l2", flavour="sweet")
    assert refused.value.found == "C, penalty, flavour"
    assert f"C: {ELSEWHERE['C']}; penalty: leave it out: l2 is what it is" in refused.value.remedy
    assert "flavour: leave it out" in refused.value.remedy


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_no_constructor_names_an_internal_class(kind):
    with pytest.raises(UnknownArgument, match=f"asked: arguments of {kind.__name__}: "):
        kind(flavour="sweet")
    # scikit-learn reads the parameters from the constructor's own signature.
    assert "given" not in inspect.signature(kind.__init__).parameters


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_weights_of_rows_are_refused_by_fit(kind):
    with pytest.raises(UnknownArgument, match=rf"arguments of {kind.__name__}.fit: X, y.*\nfound: sample_weight"):
        made(kind).fit(np.eye(3), np.ones(3), sample_weight=np.ones(3))


def test_it_is_a_type_error_as_python_has_it_and_known_arguments_pass():
    with pytest.raises(TypeError):
        eq.LinearSVC(C=1.0)
    assert clone(eq.LinearSVC(epsilon=2.0)).epsilon == 2.0
