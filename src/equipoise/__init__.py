"""Equipoise: convex models on sensitive rows, released with a privacy guarantee that a stranger can check."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equipoise import errors, lab
    from equipoise.artifact.folder import load
    from equipoise.certify.certificate import Certificate
    from equipoise.data.diagnosis import check_rows
    from equipoise.data.engines import open_table
    from equipoise.data.schema import Schema
    from equipoise.estimators.additive import AdditiveClassifier, AdditiveRegressor
    from equipoise.estimators.bridge import BridgeClassifier, BridgeRegressor
    from equipoise.estimators.bring_your_own import release_solution
    from equipoise.estimators.dropout import DropoutClassifier, DropoutRegressor
    from equipoise.estimators.elastic_net import ElasticNet, ElasticNetClassifier
    from equipoise.estimators.feature_selector import FeatureSelector
    from equipoise.estimators.grid_search import PrivateGridSearch
    from equipoise.estimators.huber import HuberRegressor
    from equipoise.estimators.image_features import ImageFeatures
    from equipoise.estimators.logistic import LogisticRegression
    from equipoise.estimators.noisy_sgd import NoisySGDClassifier, NoisySGDRegressor
    from equipoise.estimators.other_methods import plan_method, release_method
    from equipoise.estimators.phased import PhasedClassifier, PhasedRegressor
    from equipoise.estimators.ridge import Ridge
    from equipoise.estimators.schema_encoder import SchemaEncoder
    from equipoise.estimators.sgd import SGDClassifier, SGDRegressor
    from equipoise.estimators.simplex_selector import SimplexSelector
    from equipoise.estimators.svm import LinearSVC
    from equipoise.evaluation.evaluate import evaluate
    from equipoise.evaluation.evaluation import Evaluation
    from equipoise.evaluation.held_out import train_and_evaluate
    from equipoise.evaluation.population import population_intervals
    from equipoise.evaluation.prevalence import private_prevalence
    from equipoise.ledger import Ledger
    from equipoise.planning.risk import risk
    from equipoise.planning.stability import bounds
    from equipoise.release.account import account
    from equipoise.saving import save
    from equipoise.vocabulary import losses, penalties
    from equipoise.vocabulary.facts import Bound, Budget, Domain, Problem, Recipe

__all__ = [
    "AdditiveClassifier",
    "AdditiveRegressor",
    "Bound",
    "BridgeClassifier",
    "BridgeRegressor",
    "Budget",
    "Certificate",
    "Domain",
    "DropoutClassifier",
    "DropoutRegressor",
    "ElasticNet",
    "ElasticNetClassifier",
    "Evaluation",
    "FeatureSelector",
    "HuberRegressor",
    "ImageFeatures",
    "Ledger",
    "LinearSVC",
    "LogisticRegression",
    "NoisySGDClassifier",
    "NoisySGDRegressor",
    "PhasedClassifier",
    "PhasedRegressor",
    "PrivateGridSearch",
    "Problem",
    "Recipe",
    "Ridge",
    "SGDClassifier",
    "SGDRegressor",
    "Schema",
    "SchemaEncoder",
    "SimplexSelector",
    "account",
    "bounds",
    "check_rows",
    "errors",
    "evaluate",
    "lab",
    "load",
    "losses",
    "open_table",
    "penalties",
    "plan_method",
    "population_intervals",
    "private_prevalence",
    "release_method",
    "release_solution",
    "risk",
    "save",
    "train_and_evaluate",
]
__version__ = "0.2.0"

# Imports are lazy: `import equipoise` costs nothing, and checking a certificate never loads data libraries.
_ROOMS = {
    "errors": "equipoise.errors",
    "lab": "equipoise.lab",
    "losses": "equipoise.vocabulary.losses",
    "penalties": "equipoise.vocabulary.penalties",
}
_HOMES = {
    "AdditiveClassifier": "equipoise.estimators.additive",
    "AdditiveRegressor": "equipoise.estimators.additive",
    "Bound": "equipoise.vocabulary.facts",
    "BridgeClassifier": "equipoise.estimators.bridge",
    "BridgeRegressor": "equipoise.estimators.bridge",
    "Budget": "equipoise.vocabulary.facts",
    "Certificate": "equipoise.certify.certificate",
    "Domain": "equipoise.vocabulary.facts",
    "DropoutClassifier": "equipoise.estimators.dropout",
    "DropoutRegressor": "equipoise.estimators.dropout",
    "ElasticNet": "equipoise.estimators.elastic_net",
    "ElasticNetClassifier": "equipoise.estimators.elastic_net",
    "Evaluation": "equipoise.evaluation.evaluation",
    "FeatureSelector": "equipoise.estimators.feature_selector",
    "HuberRegressor": "equipoise.estimators.huber",
    "ImageFeatures": "equipoise.estimators.image_features",
    "LinearSVC": "equipoise.estimators.svm",
    "release_solution": "equipoise.estimators.bring_your_own",
    "Ledger": "equipoise.ledger",
    "LogisticRegression": "equipoise.estimators.logistic",
    "SGDClassifier": "equipoise.estimators.sgd",
    "SGDRegressor": "equipoise.estimators.sgd",
    "NoisySGDClassifier": "equipoise.estimators.noisy_sgd",
    "NoisySGDRegressor": "equipoise.estimators.noisy_sgd",
    "PhasedClassifier": "equipoise.estimators.phased",
    "PhasedRegressor": "equipoise.estimators.phased",
    "PrivateGridSearch": "equipoise.estimators.grid_search",
    "Problem": "equipoise.vocabulary.facts",
    "Recipe": "equipoise.vocabulary.facts",
    "Ridge": "equipoise.estimators.ridge",
    "Schema": "equipoise.data.schema",
    "SchemaEncoder": "equipoise.estimators.schema_encoder",
    "SimplexSelector": "equipoise.estimators.simplex_selector",
    "account": "equipoise.release.account",
    "bounds": "equipoise.planning.stability",
    "check_rows": "equipoise.data.diagnosis",
    "evaluate": "equipoise.evaluation.evaluate",
    "load": "equipoise.artifact.folder",
    "open_table": "equipoise.data.engines",
    "plan_method": "equipoise.estimators.other_methods",
    "population_intervals": "equipoise.evaluation.population",
    "private_prevalence": "equipoise.evaluation.prevalence",
    "release_method": "equipoise.estimators.other_methods",
    "risk": "equipoise.planning.risk",
    "save": "equipoise.saving",
    "train_and_evaluate": "equipoise.evaluation.held_out",
}


# To a type checker a module with `__getattr__` has every name; what there is stands above.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return importlib.import_module(_ROOMS[name])
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        if name[:1].isupper():  # an estimator that somebody put beside ours
            from equipoise import estimators

            for member in estimators.members().values():
                if member.__name__ == name:
                    return member
        raise AttributeError(f"module 'equipoise' has no attribute {name!r}; public names: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
