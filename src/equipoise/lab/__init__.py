"""The laboratory: it trains many times over and measures. What it finds are findings, never certificates."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equipoise.lab.attack_finding import AttackCurve, Ceiling, attack_curve
    from equipoise.lab.auditing import Finding, audit, lower_bound
    from equipoise.lab.estimate import Bootstrap, Estimate
    from equipoise.lab.inversion_attack import InversionFinding, inversion
    from equipoise.lab.membership_attack import MembershipFinding, membership
    from equipoise.lab.net_movement import NetStability, net_stability
    from equipoise.lab.outcome_likelihoods import Agreement, ConfusionTable, GaussianError, PredictedProbabilities
    from equipoise.lab.regularisation_path import RegularisationPath, solution_path
    from equipoise.lab.row_removal import RemovalFinding, removal

__all__ = [
    "Agreement",
    "AttackCurve",
    "Bootstrap",
    "Ceiling",
    "ConfusionTable",
    "Estimate",
    "Finding",
    "GaussianError",
    "InversionFinding",
    "MembershipFinding",
    "NetStability",
    "PredictedProbabilities",
    "RegularisationPath",
    "RemovalFinding",
    "attack_curve",
    "audit",
    "inversion",
    "lower_bound",
    "membership",
    "net_stability",
    "removal",
    "solution_path",
]

# Imports are lazy: an ensemble runs on a machine with NumPy and JAX alone, and loads nothing of the other rooms.
_HOMES = {
    "Agreement": "equipoise.lab.outcome_likelihoods",
    "AttackCurve": "equipoise.lab.attack_finding",
    "Bootstrap": "equipoise.lab.estimate",
    "Ceiling": "equipoise.lab.attack_finding",
    "ConfusionTable": "equipoise.lab.outcome_likelihoods",
    "Estimate": "equipoise.lab.estimate",
    "Finding": "equipoise.lab.auditing",
    "GaussianError": "equipoise.lab.outcome_likelihoods",
    "InversionFinding": "equipoise.lab.inversion_attack",
    "MembershipFinding": "equipoise.lab.membership_attack",
    "NetStability": "equipoise.lab.net_movement",
    "PredictedProbabilities": "equipoise.lab.outcome_likelihoods",
    "RegularisationPath": "equipoise.lab.regularisation_path",
    "RemovalFinding": "equipoise.lab.row_removal",
    "attack_curve": "equipoise.lab.attack_finding",
    "audit": "equipoise.lab.auditing",
    "inversion": "equipoise.lab.inversion_attack",
    "lower_bound": "equipoise.lab.auditing",
    "membership": "equipoise.lab.membership_attack",
    "net_stability": "equipoise.lab.net_movement",
    "removal": "equipoise.lab.row_removal",
    "solution_path": "equipoise.lab.regularisation_path",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'equipoise.lab' has no attribute {name!r}; public names: {', '.join(__all__)}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
