"""What is measured of each data source and of each network, before it is compared with the paper."""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from equipoise.lab import intrinsic
from equipoise.lab.estimate import Bootstrap, Estimate
from equipoise.lab.variability import Distances
from equipoise_studies.frame import Session
from equipoise_studies.intrinsic_privacy import grids, utility
from equipoise_studies.intrinsic_privacy.grids import Network, Source
from equipoise_studies.intrinsic_privacy.preparation import Prepared
from equipoise_studies.intrinsic_privacy.published import LIPSCHITZ

# The weights of Figure 1, and how many seeds it shows, or gradients are looked at.
SHOWN_WEIGHTS, SHOWN_SEEDS, TRACED = (26, 36), 4, 150
# How many runs accuracies are measured on, and how many for the curves over epsilon.
RUNS, CURVE_RUNS = 1000, 60
QUICK_RUNS, QUICK_CURVE_RUNS = 300, 20


@dataclass(frozen=True, eq=False)
class Utilities:
    """Algorithm 2 at epsilon = 1: noiseless, and both ways with either sensitivity, runs of the varying start."""

    noiseless: Estimate
    bound: utility.Paired
    empirical: utility.Paired
    curve: list[dict[str, object]]


@dataclass(frozen=True, eq=False)
class Start:
    """What a start of the runs leads to."""

    sigma: Estimate
    epsilon: Estimate
    epsilon_empirical: Estimate
    pairwise: intrinsic.PairwiseEpsilons


@dataclass(frozen=True, eq=False)
class Measured:
    """Everything about one data source under logistic regression."""

    source: Source
    n_samples: int
    n_test: int
    n_features: int
    side: int
    median_row: float
    longest_row: float
    finding: intrinsic.IntrinsicFinding
    fixed: Start
    half: intrinsic.HalfSize
    utilities: Utilities
    paths: NDArray[np.float32]
    path_steps: tuple[int, ...]
    gradients: intrinsic.GradientNorms

    # What a finding leaves out for a loss without a bound, or for one start alone, is there for these.
    @property
    def bound(self) -> Estimate:
        """The theoretical sensitivity."""
        return cast(Estimate, self.finding.theoretical)

    @property
    def rigorous(self) -> Estimate:
        """The theoretical sensitivity with whole passes."""
        return cast(Estimate, self.finding.rigorous)

    @property
    def epsilons(self) -> intrinsic.Epsilons:
        """The intrinsic epsilon by the theoretical sensitivity."""
        return cast(intrinsic.Epsilons, self.finding.epsilon_theoretical)

    @property
    def rigorous_epsilons(self) -> intrinsic.Epsilons:
        """The intrinsic epsilon by the sensitivity with whole passes."""
        return cast(intrinsic.Epsilons, self.finding.epsilon_rigorous)

    @property
    def laws(self) -> dict[str, Distances]:
        """The distances between runs, by their start."""
        moved = self.finding.variability
        return {"varying": moved.varying, "fixed": cast(Distances, moved.fixed)}


@dataclass(frozen=True, eq=False)
class Reading:
    """Table III and the accuracy of another way to prepare a data source."""

    source: Source
    sigma: Estimate
    empirical: Estimate
    accuracy: Estimate


@dataclass(frozen=True, eq=False)
class MeasuredNetwork:
    """What is measured of a network."""

    network: Network
    n_parameters: int
    sigma: Estimate
    pairwise: intrinsic.PairwiseEpsilons
    variability: intrinsic.Variability


def bootstrap_for(session: Session) -> Bootstrap:
    """Return how intervals are made."""
    return Bootstrap(replicates=80 if session.quick else 300)


def _sample(weights: NDArray[np.float32], most: int) -> NDArray[np.float32]:
    runs = weights.reshape(-1, weights.shape[2])
    chosen = np.random.default_rng(0).choice(len(runs), min(most, len(runs)), replace=False)
    return np.asarray(runs[np.sort(chosen)])


def _side(session: Session, source: Source, prepared: Prepared) -> int:
    return min(grids.QUICK_SIDE if session.quick else source.side, len(prepared.features) // 2)


def measure(session: Session, source: Source) -> Measured:
    """Train the grids of a data source, with either start and on half the rows, and measure them."""
    prepared = source.prepare(session.data)
    side = _side(session, source, prepared)
    data, by = grids.neighbours(prepared, side), bootstrap_for(session)
    weights = {
        start: grids.train(session, f"{source.name}, {start} start", source.training(start), data, side)
        for start in grids.STARTS
    }
    count = len(prepared.features) // 2
    twin = replace(prepared, features=prepared.features[:count], labels=prepared.labels[:count])
    half_data = grids.neighbours(twin, side)
    # The same number of passes, on which the sensitivity depends.
    shorter = replace(source.training("varying"), n_steps=source.n_steps // 2)
    half = grids.train(session, f"{source.name}, half the rows", shorter, half_data, side)
    session.report(f"measuring {source.name}", 0, 3)
    finding = intrinsic.study(
        weights["varying"],
        n_samples=len(prepared.features),
        n_steps=source.n_steps,
        batch_size=source.batch_size,
        step=source.step,
        lipschitz=LIPSCHITZ,
        last_batch="drop",
        fixed=weights["fixed"],
        bootstrap=by,
    )
    session.report(f"measuring {source.name}", 1, 3)
    bound = cast(Estimate, finding.theoretical).value
    fixed = _fixed(weights["fixed"], bound, finding.delta, by)
    halves = intrinsic.half_size_check(weights["varying"], half, bootstrap=by)
    session.report(f"measuring {source.name}", 2, 3)
    utilities = _utilities(session, prepared, weights, finding, fixed, by)
    traced, steps = grids.trace(source.training("fixed"), data, SHOWN_SEEDS, max(1, source.n_steps // TRACED))
    norms = intrinsic.norms_from_trace(traced, steps, source.step)
    gradients = intrinsic.gradient_norms(norms, steps[1:], LIPSCHITZ, by)
    session.report(f"measuring {source.name}", 3, 3)
    rows = np.linalg.norm(prepared.features, axis=1)
    return Measured(
        source,
        len(prepared.features),
        len(prepared.test_features),
        prepared.features.shape[1],
        side,
        float(np.median(rows)),
        float(rows.max()),
        finding,
        fixed,
        halves,
        utilities,
        traced,
        steps,
        gradients,
    )


def _fixed(weights: NDArray[np.float32], bound: float, delta: float, by: Bootstrap) -> Start:
    sigma = intrinsic.sigma(weights, bootstrap=by)
    pairwise = intrinsic.pairwise_epsilons(weights, delta, bootstrap=by)
    low, value, high = (
        intrinsic.intrinsic_epsilon(bound, each, delta) for each in (sigma.high, sigma.value, sigma.low)
    )
    return Start(sigma, Estimate(value, low, high, sigma.confidence), pairwise.paper.maximum, pairwise)


def _utilities(
    session: Session,
    prepared: Prepared,
    weights: dict[str, NDArray[np.float32]],
    finding: intrinsic.IntrinsicFinding,
    fixed: Start,
    by: Bootstrap,
) -> Utilities:
    sensitivities = {"bound": cast(Estimate, finding.theoretical).value, "empirical": finding.empirical.maximum.value}
    sigma, delta = finding.sigma.value, finding.delta
    runs = _sample(weights["varying"], QUICK_RUNS if session.quick else RUNS)
    few = QUICK_CURVE_RUNS if session.quick else CURVE_RUNS
    bound, empirical = (
        utility.at_one(prepared, runs, sigma, utility.target(each, 1.0, delta), by) for each in sensitivities.values()
    )
    curve = utility.curves(
        prepared,
        {start: _sample(each, few) for start, each in weights.items()},
        {"varying": sigma, "fixed": fixed.sigma.value},
        sensitivities,
        delta,
    )
    return Utilities(utility.noiseless(prepared, runs, by), bound, empirical, curve)


def read_otherwise(session: Session, source: Source) -> Reading:
    """Measure sigma, the empirical sensitivity and the accuracy of another way to prepare a data source."""
    prepared = source.prepare(session.data)
    side, by = _side(session, source, prepared), bootstrap_for(session)
    data = grids.neighbours(prepared, side)
    name = f"{source.name}, {source.preparation}"
    weights = grids.train(session, name, source.training("varying"), data, side)
    return Reading(
        source,
        intrinsic.sigma(weights, bootstrap=by),
        intrinsic.empirical_sensitivity(weights, by).maximum,
        utility.noiseless(prepared, _sample(weights, QUICK_RUNS), by),
    )


def measure_network(session: Session, network: Network) -> MeasuredNetwork:
    """Train the grids of a network and measure how far runs lie apart."""
    prepared = network.prepare(session.data)
    seeds, datasets = grids.QUICK_NETWORK if session.quick else (network.seeds, network.datasets)
    data, by = grids.neighbours(prepared, min(datasets, len(prepared.features) // 2)), bootstrap_for(session)
    weights = {
        start: grids.train(session, f"network on {network.name}, {start} start", network.training(start), data, seeds)
        for start in grids.STARTS
    }
    session.report(f"measuring the network on {network.name}", 0, 1)
    delta = 1 / len(prepared.features)
    found = MeasuredNetwork(
        network,
        weights["varying"].shape[2],
        intrinsic.sigma(weights["varying"], bootstrap=by),
        intrinsic.pairwise_epsilons(weights["varying"], delta, bootstrap=by),
        intrinsic.variability(weights["varying"], weights["fixed"], by),
    )
    session.report(f"measuring the network on {network.name}", 1, 1)
    return found
