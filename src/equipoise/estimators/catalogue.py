"""Every model by the name that the command line and a released folder call it."""

from equipoise.errors import UnknownName
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.bridge import BridgeClassifier, BridgeRegressor
from equipoise.estimators.dropout import DropoutClassifier, DropoutRegressor
from equipoise.estimators.elastic_net import ElasticNet, ElasticNetClassifier
from equipoise.estimators.huber import HuberRegressor
from equipoise.estimators.logistic import LogisticRegression
from equipoise.estimators.noisy_sgd import NoisySGDClassifier, NoisySGDRegressor
from equipoise.estimators.phased import PhasedClassifier, PhasedRegressor
from equipoise.estimators.ridge import Ridge
from equipoise.estimators.sgd import SGDClassifier, SGDRegressor
from equipoise.estimators.svm import LinearSVC

MODELS: dict[str, type[PrivateLinearModel]] = {
    "logistic": LogisticRegression,
    "ridge": Ridge,
    "svm": LinearSVC,
    "huber": HuberRegressor,
    "elastic-net": ElasticNet,
    "elastic-net-classifier": ElasticNetClassifier,
    "bridge-regressor": BridgeRegressor,
    "bridge-classifier": BridgeClassifier,
    "sgd-classifier": SGDClassifier,
    "sgd-regressor": SGDRegressor,
    "noisy-sgd-classifier": NoisySGDClassifier,
    "noisy-sgd-regressor": NoisySGDRegressor,
    "phased-classifier": PhasedClassifier,
    "phased-regressor": PhasedRegressor,
    "dropout-classifier": DropoutClassifier,
    "dropout-regressor": DropoutRegressor,
}


def model_named(name: str) -> type[PrivateLinearModel]:
    """Return a model's class by its name.

    Examples
    --------
    >>> model_named("ridge").__name__
    'Ridge'
    """
    if name not in MODELS:
        raise UnknownName("a known model", f"{name!r:.80}", f"choose one of {', '.join(MODELS)}")
    return MODELS[name]


def name_of(model: PrivateLinearModel) -> str:
    """Return the name of a model.

    Examples
    --------
    >>> name_of(LinearSVC())
    'svm'
    """
    for name, kind in MODELS.items():
        if type(model) is kind:
            return name
    raise UnknownName("a model of this library", f"a {type(model).__name__}", f"use one of {', '.join(MODELS)}")
