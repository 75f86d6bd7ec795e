"""The sections of the page: first what a clinician needs, then the paper's figures in its order."""

from collections.abc import Iterator

from equipoise.lab.estimate import Estimate
from equipoise_studies.private_regression import figures, hindsight, published
from equipoise_studies.private_regression.consequences import (
    MEMBER_EPSILON,
    TRUE_DOSE,
    Consequences,
    attacked_epsilons,
)
from equipoise_studies.private_regression.measure import Measured
from equipoise_studies.private_regression.mechanisms import MECHANISMS, PAIRS, SAME_PRIVACY, SPENT
from equipoise_studies.study_page import Section, Table, number

SHOWN = 1.0


def _text(found: Estimate, digits: int = 3) -> str:
    if found.low == found.high:
        return number(found.value)
    return f"{found.value:.{digits}g} ({found.low:.{digits}g} .. {found.high:.{digits}g})"


def _percent(found: Estimate) -> str:
    return f"{found.value:.1%} ({found.low:.1%} .. {found.high:.1%})"


def name_of(key: str) -> str:
    """Return a mechanism in words.

    Examples
    --------
    >>> name_of("oracle"), name_of("default")
    ('output perturbation in hindsight, exact diameter', 'eq.Ridge, all defaults')
    """
    return MECHANISMS[key].name if key in MECHANISMS else hindsight.NAMES[key]


def summary(found: Measured, effects: Consequences) -> Section:
    """Return the page in five sentences."""
    cost = {epsilon: found.milligrams("default", epsilon) for epsilon in found.epsilons}
    plain, mean_dose = found.milligrams("plain", found.epsilons[0]), found.mean_only.value
    treated = effects.treated["default", SHOWN]
    seen = effects.memberships[f"default, epsilon {MEMBER_EPSILON:g}"]
    lead = (
        f"At epsilon 1, a private dosing model misses the weekly dose by {cost[1.0].value:.3g} mg on average, and a "
        f"model without any privacy by {plain.value:.3g} mg; at epsilon 0.1 it is {cost[0.1].value:.3g} mg."
    )
    bought = (
        "What epsilon buys: whoever sees the model can hardly tell whether a given patient was in the table. An "
        f"attacker who guesses it from the model of epsilon 1 reaches an area under the curve of "
        f"{_text(seen.likelihood_ratio.auc)}, where 0.5 is guessing and {seen.ceiling.auc:.3g} the most that epsilon "
        "allows."
        if seen.ceiling is not None
        else ""
    )
    risk = (
        "What it did to risk, in a simulation that adjusts doses by the INR as a clinic does: at epsilon 1 the time in "
        f"the therapeutic range is {_percent(treated.time_in_range)}, without noise "
        f"{_percent(effects.reference.time_in_range)}; the risk of stroke is {_text(treated.risks['stroke'])} times, "
        f"of bleeding {_text(treated.risks['bleeding'])} times that without noise. It is a rough guide: on the dose "
        f"that each patient in truth needed it gives {_percent(effects.controls[TRUE_DOSE].time_in_range)} in range."
    )
    unknown = effects.inversions[f"default, epsilon {SHOWN:g}", "never seen"]
    known = effects.inversions[f"default, epsilon {SHOWN:g}", "trained on"]
    attacker = (
        "What an attacker still gets: given a patient's other attributes and dose, the model of epsilon 1 names the "
        f"VKORC1 genotype of {_percent(known.accuracy)} of the patients it was trained on and of "
        f"{_percent(unknown.accuracy)} of patients it never saw; guessing has {_percent(unknown.baseline)}. That the "
        "two agree is what privacy promises; that both lie above guessing is what a useful model tells about "
        "anybody, in the table or not. Differential privacy does not stop it, and is not meant to."
    )
    scale = (
        f"Errors below are mean squares on the square root of the weekly dose in mg, as in the paper: {mean_dose:.3g} "
        f"is predicting the mean dose for everybody, {found.squared('plain', found.epsilons[0]).value:.3g} least "
        "squares without privacy."
    )
    rows = tuple(
        (
            f"{epsilon:g}", _text(cost[epsilon]), _text(found.squared("default", epsilon)),
            _percent(found.inversion("default", epsilon)), _percent(effects.treated["default", epsilon].time_in_range),
        )
        for epsilon in found.epsilons
    )  # fmt: skip
    last = (
        "no noise", _text(plain), _text(found.squared("plain", found.epsilons[0])),
        _percent(found.inversion("plain", found.epsilons[0])), _percent(effects.reference.time_in_range),
    )  # fmt: skip
    table = Table(
        ("epsilon", "dose error, mg a week", "mean squared error", "VKORC1 guessed", "time in range"),
        (*rows, last),
        "The product's default, eq.Ridge(epsilon), at each epsilon",
        "Means with 95 % intervals over repetitions; time in range over patients of one repetition.",
    )
    return Section("What a clinician should take from this", (lead, bought, risk, attacker, scale), tables=(table,))


def setting(found: Measured) -> Section:
    """Return the data."""
    words = (
        f"The table has {found.patients.n_table} patients; {len(found.patients.dose)} have a dose, age, height, "
        "weight, a known race, CYP2C9 among the common alleles, and VKORC1 -1639 measured or imputed from linked "
        f"variants by the consortium's rules ({found.n_unimputed} without imputation). Rows that lack "
        "something are dropped. A certified path would not do that: how many are dropped depends on the rows.",
        f"In each of {found.repetitions} repetitions {found.n_training} rows are drawn to train on and {found.n_test} "
        "to test. Columns are scaled by public constants, rows clipped to norm 1, and the square root of the weekly "
        "dose mapped from 1.5 .. 9.5 to [-1, 1]; test doses are never clipped. Noise is seeded: the data are public, "
        "and nothing here is a release.",
    )
    return Section("What was run", words)


def accuracy(found: Measured) -> Section:
    """Return Figures 1, 2 and 4 with every number."""
    # What is fitted at another epsilon than the column's has a table of its own.
    order = [*(key for key, each in MECHANISMS.items() if each.kind != SPENT), *hindsight.NAMES]
    rows = tuple(
        (
            name_of(key),
            MECHANISMS[key].kind if key in MECHANISMS else "hindsight",
            *(number(round(found.squared(key, epsilon).value, 3)) for epsilon in found.epsilons),
            MECHANISMS[key].promise if key in MECHANISMS else "not private: chosen on the test rows",
        )
        for key in order
    )
    header = ("mechanism", "kind", *(f"{epsilon:g}" for epsilon in found.epsilons), "promise")
    table = Table(header, rows, "Mean squared error by epsilon", texts=("promise",))
    words = (
        "The paper's mechanisms as printed stand beside their corrected forms. Predictions of these are clipped to the "
        "public range, which is free and alone bounds an error that is in the thousands as printed. Corrected output "
        "perturbation keeps the paper's parameters. Corrected objective perturbation has half of its ridge and a "
        "constant column, the functional mechanism a radius of 1; the default has a constant column and a ridge from "
        "public facts. None of this looks at the rows of a fit; but half, twice and the radii were settled on this "
        "table, which is public, while the study was written. On private rows they must be set beforehand.",
        "Tuning, corrected, is eq.PrivateGridSearch in the paper's 25 chunks. For objective perturbation a ridge that "
        "is of no use in a chunk is raised, and what becomes equal is tried once. Random stopping is the same search "
        "by its other method, over the same ridges and R2.",
        "The oracle is chosen on the test rows, over the paper's grid; in hindsight with the exact diameter, over R1 "
        "with and without a constant column. That shows what a lucky choice would do, and is not private.",
    )
    tables = (table, fair(found), prototype(found))
    return Section("Accuracy (Figures 1, 2 and 4)", words, figures.accuracy(found), tables)


def fair(found: Measured) -> Table:
    """Return printed mechanisms that spend more than they say beside corrected ones at the same true epsilon."""
    columns, n_rows = found.patients.unscaled.shape[1], found.n_training
    corrected = {family: PAIRS[family][1] for family in SAME_PRIVACY}
    rows = tuple(
        (
            family, f"{epsilon:g}", f"{spent(columns, n_rows, epsilon):.3g}",
            *(_text(found.squared(key, epsilon)) for key in (corrected[family], first, second)),
        )
        for family, (first, second, spent) in SAME_PRIVACY.items()
        for epsilon in found.epsilons
    )  # fmt: skip
    header = ("mechanism", "epsilon said", "epsilon spent", "corrected, at what is said", "as printed",
              "corrected, at what is spent")  # fmt: skip
    note = (
        "As printed these mechanisms are not private for the epsilon that they are given. What they spend is computed "
        "by E2 and E5; a fair comparison is the last two columns. For tuned output perturbation as printed no "
        "epsilon is known: its losses have no bound."
    )
    return Table(header, rows, "Objective perturbation at the same true epsilon", note)


def prototype(found: Measured) -> Table:
    """Return the first prototype's figures beside what is reached with parameters chosen publicly or privately."""
    rows = []
    aimed = {
        **published.PROTOTYPE,
        "rls-out, paper's constants": (published.PROTOTYPE_PRINTED, ("printed-output", "oracle-printed")),
    }
    for name, (aims, keys) in aimed.items():
        rows.append((f"prototype: {name}", *(f"{aim:.2f}" for aim in aims)))
        for key in keys:
            errors = (found.squared(key, epsilon) for epsilon in published.PROTOTYPE_EPSILONS)
            rows.append((name_of(key), *(_text(each) for each in errors)))
    picked = dict(zip(found.epsilons, found.chosen["oracle"], strict=True))
    listed = "; ".join(
        f"{epsilon:g}: ridge {choice.ridge:g}, radius {choice.radius:g}, {'a' if choice.intercept else 'no'} constant"
        for epsilon, choice in ((epsilon, picked[epsilon]) for epsilon in published.PROTOTYPE_EPSILONS)
    )
    note = (
        "The prototype picked its ridge in hindsight, on 3,562 rows without imputation, where least squares has 0.97; "
        f"here it has {found.squared('plain', found.epsilons[0]).value:.3g}, so that figures compare to about 0.05. "
        f"Output perturbation in hindsight, by epsilon: {listed}."
    )
    header = ("", *(f"{epsilon:g}" for epsilon in published.PROTOTYPE_EPSILONS))
    return Table(header, tuple(rows), "The aims of this study", note)


def clinical(effects: Consequences) -> Section:
    """Return Figure 3."""
    rows = tuple(
        (name, _percent(each.time_in_range), *(_text(each.risks[harm]) for harm in ("death", "bleeding", "stroke")))
        for name, each in {"model without noise": effects.reference, **effects.controls}.items()
    )
    table = Table(
        ("starting dose", "time in range", "mortality", "bleeding", "stroke"), rows,
        "Controls: how much the simulation can see",
        "Risks relative to the model without noise. Where the true dose does no better than a model's, the simulated "
        "patients are not those of the table, and Figure 3 says little about dose errors.",
    )  # fmt: skip
    words = (
        "Simulated patients start on the predicted dose; a clinic adjusts it by the INR. The pharmacology and the "
        "relations of INR and harm are published ones, with every parameter in docs/warfarin-model.md. Doses are kept "
        "in 2.25 .. 90.25 mg a week.",
        "These are not predictions for any patient. The relations come from observations, and the pharmacological "
        "model was fitted to other patients than those of this table.",
    )
    return Section("Clinical consequence (Figure 3)", words, figures.clinical(effects), (table,))


def inversion(found: Measured, effects: Consequences) -> Section:
    """Return Figures 5 to 7, and who is attacked."""
    names = ["no noise", *(f"default, epsilon {each:g}" for each in attacked_epsilons(found))]
    rows = tuple(
        (
            name,
            *(_percent(effects.inversions[name, group].accuracy) for group in ("trained on", "never seen")),
            _percent(effects.inversions[name, "never seen"].advantage),
        )
        for name in names
    )
    table = Table(
        ("model", "patients it was trained on", "patients it never saw", "advantage over guessing, never seen"), rows,
        "Who is attacked (eq.lab.inversion)", "Models of one repetition; exact 95 % intervals.",
    )  # fmt: skip
    words = (
        "The attacker knows everything about a patient but VKORC1, the stable dose, how frequent the three levels are, "
        "and the model with the spread of its errors on the training rows, as it would be published. He takes the "
        "level under which the dose is most likely.",
        "The paper observes that better private mechanisms are inverted better, and argues that this must be so. It is "
        "so, and for patients outside the table as much as for those inside: the attack uses what genotype does to "
        "dose, which is medical knowledge, and not the rows.",
    )
    drawn = (*figures.inversion(found), *figures.shares(found))
    return Section("Model inversion (Figures 5 to 7)", words, drawn, (table,))


def membership(effects: Consequences) -> Section:
    """Return membership inference, which privacy does stop."""
    rows = []
    for name, finding in effects.memberships.items():
        for attack, curve in finding.attacks.items():
            rows.append((name, attack, _text(curve.auc), _text(curve.tpr_at_low_fpr), _text(curve.advantage)))
        if finding.ceiling is not None:
            top = finding.ceiling
            low = f"{float(top.at(0.001)):.3g}"
            rows.append((name, "most that epsilon allows", f"{top.auc:.3g}", low, f"{top.advantage:.3g}"))
    table = Table(
        ("model", "attack", "area under the curve", "true positives at 0.1 % false", "advantage"), tuple(rows),
        "Membership attacks (eq.lab.membership)",
    )  # fmt: skip
    words = (
        "Here the attacker asks whether a patient was in the table. A linear model of 14 columns on thousands of rows "
        "hardly betrays it even without noise; what epsilon adds is that no attack, however clever, can do better than "
        "the ceiling.",
    )
    return Section("Membership inference", words, (figures.membership(effects),), (table,))


def wrong() -> Section:
    """Return what is wrong with the printed mechanisms."""
    words = (
        "Algorithm 4: 12 R + 8 is right and 3.8 times too large at R = 1. Privacy holds for every ridge.",
        "Algorithm 3: not private for the squared loss. Its beta is epsilon / 2 where epsilon' / 2 is meant; slopes "
        "reach 2 (R + 1) and not 1; the extra ridge Delta is computed and not used; exact minimisers are assumed.",
        "Algorithm 5: the sensitivity R^2 ignores the label, the averaging over the validation rows, and that noisy "
        "weights of output perturbation leave the ball, where the loss has no bound. With bounded losses the exact one "
        "is (R + 1)^2 over the number of validation rows. Around Algorithm 3 weights stay in the ball and choosing is "
        "cheap: there the candidates themselves are what is not private.",
        "Scaling to the unit ball by the data is not covered by any of its theorems. Here scaling is public.",
    )
    return Section("What is wrong with the printed mechanisms", words)


def all_sections(found: Measured, effects: Consequences) -> Iterator[Section]:
    """Yield the sections of the page in order."""
    yield summary(found, effects)
    yield accuracy(found)
    yield clinical(effects)
    yield inversion(found, effects)
    yield membership(effects)
    yield setting(found)
    yield wrong()
