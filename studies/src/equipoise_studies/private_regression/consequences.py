"""What a model does to patients: INR and risk under its doses, and what attackers learn from it."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import equipoise as eq
from equipoise.lab.estimate import Estimate
from equipoise.lab.inversion_attack import InversionFinding
from equipoise.lab.membership_attack import MembershipFinding
from equipoise_studies.frame import Session
from equipoise_studies.private_regression.attack import Inversion, published_error
from equipoise_studies.private_regression.certified import DEFAULT, LABELS
from equipoise_studies.private_regression.clinical_risk import relative_risks
from equipoise_studies.private_regression.linear import Array, Linear
from equipoise_studies.private_regression.measure import Measured, mean
from equipoise_studies.private_regression.mechanisms import least_squares
from equipoise_studies.private_regression.pharmacology import Course, simulate
from equipoise_studies.private_regression.preparation import (
    CENTRE,
    HALF_RANGE,
    VKORC1,
    VKORC1_COLUMNS,
    Patients,
    Rows,
    clipped,
)

# Figure 3: the mechanisms whose doses are given, and to how many patients.
TREATED = ("printed-functional", "printed-tuned-output-r1", "printed-output", "default")
PATIENTS, QUICK_PATIENTS = 1000, 150
# The two controls of the simulation: what each patient in truth needs, and one dose for everybody.
TRUE_DOSE, ONE_DOSE = "the true stable dose", "one dose for everybody"
# Membership: the privacy of the attacked default, and how many models are trained.
MEMBER_EPSILON = 1.0
MODELS, QUICK_MODELS = (64, 16), (8, 2)
ATTACKED_EPSILONS = (0.1, 1.0, 10.0)


@dataclass(frozen=True, eq=False)
class Treated:
    """A course of treatment: share of time in range, and risks relative to the model without noise."""

    time_in_range: Estimate
    risks: Mapping[str, Estimate]


@dataclass(frozen=True, eq=False)
class Consequences:
    """What was found about patients and attackers."""

    reference: Treated
    treated: Mapping[tuple[str, float], Treated]
    controls: Mapping[str, Treated]
    n_patients: int
    inversions: Mapping[tuple[str, str], InversionFinding]
    memberships: Mapping[str, MembershipFinding]


def attacked_epsilons(found: Measured) -> tuple[float, ...]:
    """Return at which of the measured epsilons the default is attacked with the product's tool."""
    return tuple(epsilon for epsilon in ATTACKED_EPSILONS if epsilon in found.epsilons)


class Dosing:
    """A model as an attacker calls it: rows before they are clipped, as a level may change what is clipped."""

    def __init__(self, model: Linear) -> None:
        self.model = model

    def predict(self, unscaled: Array) -> Array:
        """Return the square root of the weekly dose."""
        return self.model.predict(clipped(unscaled))


# What the columns of VKORC1 hold for each level.
LEVELS: Mapping[Hashable, Mapping[str | int, float]] = {
    level: dict(zip(range(VKORC1_COLUMNS.start, VKORC1_COLUMNS.stop), np.eye(3)[place][1:].tolist(), strict=True))
    for place, level in enumerate(VKORC1)
}


def invert(model: Linear, patients: Patients, training: Rows, attacked: Rows) -> InversionFinding:
    """Attack a model with the product's own tool; the spread of its errors is that on the training rows."""
    attack = Inversion.of(patients, training, attacked)
    return eq.lab.inversion(
        Dosing(model),
        patients.unscaled[attacked.places],
        attacked.root_dose,
        LEVELS,
        dict(zip(VKORC1, np.exp(attack.log_prior).tolist(), strict=True)),
        likelihood=eq.lab.GaussianError(published_error(model, training)),
    )


def weekly(model: Linear, rows: Rows) -> Array:
    """Return the weekly doses in mg, inside the public range: a clinic gives no negative dose, nor 400 mg."""
    root = np.clip(model.predict(rows.features), CENTRE - HALF_RANGE, CENTRE + HALF_RANGE)
    return np.asarray(root**2)


def treat(doses: Array, patients: Patients, places: NDArray[np.intp]) -> Course:
    """Return the courses of patients who start on these doses."""
    levels = np.array(VKORC1)[patients.vkorc1[places]]
    return simulate(doses, patients.cyp2c9[places], levels, patients.age[places], patients.weight[places])


def compared(course: Course, reference: Course) -> Treated:
    """Return the figures of a course beside those of the reference."""
    risks = {
        harm: Estimate(value, min(low, value), max(high, value), 0.95)
        for harm, (value, low, high) in relative_risks(course, reference).items()
    }
    return Treated(mean(course.time_in_range), risks)


def consequences(session: Session, found: Measured) -> Consequences:
    """Simulate patients and attack models, those of the first repetition."""
    patients = found.patients
    training, test = found.split()
    treated_rows = test.part(np.arange(min(len(test), QUICK_PATIENTS if session.quick else PATIENTS)))
    places = treated_rows.places
    session.report("treating simulated patients", 0, 1)
    reference = treat(weekly(found.models["plain", found.epsilons[0]], treated_rows), patients, places)
    treated = {
        (key, epsilon): compared(treat(weekly(found.models[key, epsilon], treated_rows), patients, places), reference)
        for key in TREATED
        for epsilon in found.epsilons
    }
    one = np.full(len(places), float(np.mean(training.root_dose**2)))
    controls = {
        TRUE_DOSE: compared(treat(treated_rows.root_dose**2, patients, places), reference),
        ONE_DOSE: compared(treat(one, patients, places), reference),
    }
    session.report("treating simulated patients", 1, 1)
    return Consequences(
        compared(reference, reference), treated, controls, len(places),
        _inversions(found, patients, training, test), _memberships(session, patients.rows),
    )  # fmt: skip


def _inversions(
    found: Measured, patients: Patients, training: Rows, test: Rows
) -> dict[tuple[str, str], InversionFinding]:
    """Attack the same models on patients they were trained on, and on patients they never saw."""
    attacked = {"no noise": found.models["plain", found.epsilons[0]]}
    attacked |= {f"default, epsilon {each:g}": found.models["default", each] for each in attacked_epsilons(found)}
    groups = {"trained on": training, "never seen": test}
    return {
        (name, group): invert(model, patients, training, rows)
        for name, model in attacked.items()
        for group, rows in groups.items()
    }


def _memberships(session: Session, rows: Rows) -> dict[str, MembershipFinding]:
    shadows, targets = QUICK_MODELS if session.quick else MODELS

    def noisy(features: Array, target: Array, seed: int) -> Linear:
        return DEFAULT.fit(Rows(features, target, target, np.arange(len(target))), MEMBER_EPSILON, seed)

    def plain(features: Array, target: Array, seed: int) -> Linear:
        return least_squares(np.column_stack([features, np.ones(len(target))]), target)

    outcome = CENTRE + HALF_RANGE * np.clip(rows.target, *LABELS)
    ceiling = eq.lab.Ceiling(MEMBER_EPSILON)
    found = {}
    for step, (name, train, most) in enumerate(
        (("no noise", plain, None), (f"default, epsilon {MEMBER_EPSILON:g}", noisy, ceiling))
    ):
        session.report("membership attacks", step, 2)
        found[name] = eq.lab.membership(
            _on_roots(train), rows.features, outcome, shadows=shadows, targets=targets, ceiling=most
        )
    return found


def _on_roots(train: Callable[[Array, Array, int], Linear]) -> Callable[[Array, Array, int], Linear]:
    """Return a trainer that takes square roots of doses, in which the models predict."""
    return lambda features, roots, seed: train(features, (roots - CENTRE) / HALF_RANGE, seed)
