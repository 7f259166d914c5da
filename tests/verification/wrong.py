"""Deliberately wrong solvers and potentials, each wrong in one way."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import solvers.evolution.running
import verification.circle.bands
import verification.comparison
import verification.tabulation
from meanfield import (
    Branch,
    Circle,
    Comparison,
    ComputationFailed,
    CosineSeries,
    Curve,
    Diagram,
    Domain,
    Ensemble,
    GegenbauerSeries,
    McKeanVlasov,
    Outcome,
    Relaxation,
    SpecialPoint,
    State,
    Trajectory,
)
from solvers import evolve
from verification import Tools, compare
from verification.statistics import power_law

TABULATED: dict[int, tuple[Any, ...]] = {}


def _some_distances(_: Trajectory, ensemble: Ensemble, *others: Any) -> tuple[Any, list[str]]:
    return np.tile(np.arange(1.0, ensemble.replicas + 1.0), (4, 1)), []


def recorded(*arguments: Any, **options: Any) -> Comparison:
    """Compare as the package does, and keep what the result is tabulated from; see :func:`tabulated_again`.

    The claim about bands asks for moments only. Distances of its 480 systems, nearly all of its time, are any numbers.
    """
    calls: list[Any] = []

    def recording(*given: Any) -> Comparison:
        calls.append(given)
        return verification.tabulation.tabulated(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verification.comparison, "tabulated", recording)
        if options["particles"] == verification.circle.bands.SIZES:
            patch.setattr(verification.comparison, "transport", _some_distances)
        found = compare(*arguments, **options)
    (TABULATED[id(found)],) = calls
    return found


def _not_asked(*_: Any) -> float:
    raise ComputationFailed("no claim asks for it")


def evolved(*arguments: Any, **options: Any) -> Trajectory:
    """Evolve as the package does, without the second run that tells the accuracy reached, which no claim asks for.

    One that did would find that it is not known.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solvers.evolution.running, "estimated", _not_asked)
        return evolve(*arguments, **options)


RIGHT = Tools(compare=recorded, evolve=evolved).remembering()


def tabulated_again(*arguments: Any, **options: Any) -> Comparison:
    """Compare particles that were simulated before, or are now, with the bands as they are computed now."""
    return verification.tabulation.tabulated(*TABULATED[id(RIGHT.compare(*arguments, **options))])


@dataclass(frozen=True)
class Lying(CosineSeries):
    """A potential whose multipliers are not those of its values."""

    def multipliers(self, domain: Circle, degree: int) -> Any:
        return super().multipliers(domain, degree) * (1 + 1e-9)


@dataclass(frozen=True)
class LyingOnSphere(GegenbauerSeries):
    """The same on a sphere."""

    def multipliers(self, domain: Domain, degree: int) -> Any:
        return super().multipliers(domain, degree) * (1 + 1e-9)


def branches(change: Callable[[Branch, Diagram], Branch | None]) -> Tools:
    """Change or drop clustered branches."""

    def diagram(problem: McKeanVlasov, interval: tuple[float, float], *depth: int) -> Diagram:
        right = RIGHT.diagram(problem, interval, *depth)
        changed = [branch if branch.symmetry == 0 else change(branch, right) for branch in right.branches]
        return replace(right, branches=tuple(branch for branch in changed if branch is not None))

    return replace(RIGHT, diagram=diagram)


def events(change: Callable[[SpecialPoint, Diagram], SpecialPoint | None]) -> Tools:
    """Change special points; dropped ones become endpoints, so that indices stay."""

    def diagram(problem: McKeanVlasov, interval: tuple[float, float], *depth: int) -> Diagram:
        right = RIGHT.diagram(problem, interval, *depth)
        points = (change(point, right) or replace(point, type="endpoint") for point in right.special_points)
        return replace(right, special_points=tuple(points))

    return replace(RIGHT, diagram=diagram)


def states(change: Callable[[tuple[State, ...]], tuple[State, ...]]) -> Tools:
    """Change the stationary states found."""
    return replace(RIGHT, states=lambda problem: change(RIGHT.states(problem)))


def spectra(change: Callable[[State, Any], Any]) -> Tools:
    """Change the spectra."""
    return replace(RIGHT, spectrum=lambda state: change(state, RIGHT.spectrum(state)))


def curves(change: Callable[[Curve], Curve]) -> Tools:
    """Change the curves followed."""
    return replace(RIGHT, curve=lambda *arguments: change(RIGHT.curve(*arguments)))


def without_cusps() -> Tools:
    """Drop the organising points."""
    return curves(lambda curve: replace(curve, special_points=()))


def cusps_moved(share: float) -> Tools:
    """Move the organising points along the first parameter, and their states with the coupling."""

    def change(curve: Curve) -> Curve:
        moved = tuple(
            replace(point, values=point.values * np.array([1.0 + share, 1.0])) for point in curve.special_points
        )
        return replace(curve, special_points=moved)

    return curves(change)


def moment_off(degree: int, error: float) -> Tools:
    """Add an error to one cosine moment of every clustered state."""

    def change(branch: Branch, _: Diagram) -> Branch:
        cosine = branch.cosine.copy()
        cosine[:, degree] += error
        return replace(branch, cosine=cosine)

    return branches(change)


def moment_scaled(degree: int, factor: float) -> Tools:
    """Scale one cosine moment of every clustered state."""

    def change(branch: Branch, _: Diagram) -> Branch:
        cosine = branch.cosine.copy()
        cosine[:, degree] *= factor
        return replace(branch, cosine=cosine)

    return branches(change)


def energy_off(factor: float) -> Tools:
    """Scale the free energy gap."""
    return branches(
        lambda branch, _: replace(
            branch, observables={**branch.observables, "free_energy_gap": factor * branch.free_energy_gap}
        )
    )


def called_stable() -> Tools:
    """Count no unstable directions at all."""
    return branches(lambda branch, _: replace(branch, unstable=0 * branch.unstable))


def twice(label: str) -> Tools:
    """Report the branches whose label starts so a second time."""

    def diagram(problem: McKeanVlasov, interval: tuple[float, float], *depth: int) -> Diagram:
        right = RIGHT.diagram(problem, interval, *depth)
        copies = tuple(branch for branch in right.branches if branch.label.startswith(label))
        return replace(right, branches=right.branches + copies)

    return replace(RIGHT, diagram=diagram)


def counts_off() -> Tools:
    """Count one unstable direction too many."""
    return branches(lambda branch, _: replace(branch, unstable=branch.unstable + 1))


def coupling_bent(share: float) -> Tools:
    """Bend every clustered branch about its birth by a share of its distance from there."""

    def change(branch: Branch, _: Diagram) -> Branch:
        birth = branch.coupling[0]
        return replace(branch, coupling=birth + (1 + share) * (branch.coupling - birth))

    return branches(change)


def without(label: str) -> Tools:
    """Drop the branches whose label starts so."""
    return branches(lambda branch, _: None if branch.label.startswith(label) else branch)


def without_events(kind: str) -> Tools:
    """Drop the special points of one type."""
    return events(lambda point, _: None if point.type == kind else point)


def events_moved(kind: str, share: float, only: str = "") -> Tools:
    """Move the special points of one type, in problems of one potential only if it is named."""

    def change(point: SpecialPoint, diagram: Diagram) -> SpecialPoint:
        if point.type != kind or only not in ("", diagram.problem.potential.name):
            return point
        return replace(point, coupling=point.coupling * (1 + share))

    return events(change)


def deeper_transitions(factor: float) -> Tools:
    """Scale the distance of the transitions from the critical coupling."""

    def change(point: SpecialPoint, diagram: Diagram) -> SpecialPoint:
        critical = diagram.critical_coupling
        if point.type != "transition":
            return point
        return replace(point, coupling=critical + factor * (point.coupling - critical))

    return events(change)


def early_transition() -> Tools:
    """Report an equal-energy transition below the critical coupling."""

    def change(point: SpecialPoint, diagram: Diagram) -> SpecialPoint:
        return replace(point, type="transition", coupling=0.9 * diagram.critical_coupling)

    return events(change)


def eigenvalues_off(share: float) -> Tools:
    """Scale all eigenvalues."""

    def change(_: State, right: Any) -> Any:
        even, odd = ((1 + share) * values for values in (right.even, right.odd))
        return replace(right, even=even, odd=odd, sectors=tuple((1 + share) * part for part in right.sectors))

    return spectra(change)


def eigenvalues_depend_on_phase() -> Tools:
    """Shift the eigenvalues of states that are not even about 0."""

    def change(state: State, right: Any) -> Any:
        return replace(right, even=right.even + 1e-6) if np.abs(state.sine).max() > 1e-9 else right

    return spectra(change)


def unscaled_eigenvalues() -> Tools:
    """Return the spectrum of the embedded problem wrong."""

    def change(state: State, right: Any) -> Any:
        if state.problem.potential.name != "embedded":
            return right
        return replace(right, even=right.even + 1e-6, odd=right.odd - 1e-6)

    return spectra(change)


def rotation_lost(rotation: float | None) -> Tools:
    """Miss the rotation mode."""
    return spectra(lambda _, right: replace(right, rotation=rotation, rotation_overlap=0.5))


def clusters_missed() -> Tools:
    """Find the uniform state only and call it the minimiser."""
    return states(lambda found: tuple(s.replace(minimiser=True) for s in found if s.symmetry == 0))


def spurious_state() -> Tools:
    """Report one more clustered state, as the minimiser."""

    def change(problem: McKeanVlasov) -> tuple[State, ...]:
        cosine = 0.5 ** np.arange(20.0)
        spike = State(
            problem, cosine, np.zeros(20), {"free_energy_gap": -1.0}, 0, 1, 0.0, 19, label="spike", minimiser=True
        )
        return (spike, uniform(problem))

    return replace(RIGHT, states=change)


def uniform(problem: McKeanVlasov) -> State:
    """Return the uniform state."""
    cosine = np.array([1.0, *np.zeros(19)])
    return State(
        problem, cosine, np.zeros(20), {"free_energy_gap": 0.0}, 0, 0, 0.0, 19, label="uniform", minimiser=False
    )


def trajectories(change: Callable[[Trajectory], Trajectory]) -> Tools:
    """Change what evolution gives."""
    return replace(RIGHT, evolve=lambda *arguments, **options: change(RIGHT.evolve(*arguments, **options)))


def moments_changed(change: Callable[[Any], None]) -> Tools:
    """Change the cosine moments of trajectories in place."""

    def changed(right: Trajectory) -> Trajectory:
        cosine = right.cosine.copy()
        change(cosine)
        return replace(right, cosine=cosine)

    return trajectories(changed)


def dissipation_off(share: float) -> Tools:
    """Scale the dissipation."""
    return trajectories(
        lambda right: replace(
            right, observables={**right.observables, "dissipation": (1 + share) * right.dissipation}
        )
    )


def evolving_faster(share: float) -> Tools:
    """Solve the equation in another unit of time, and report the energies of the right one."""

    def evolve(problem: McKeanVlasov, initial: Any, until: float, **options: Any) -> Trajectory:
        times = options.pop("times")
        times = times if isinstance(times, int) else np.asarray(times) * (1 + share)
        return RIGHT.evolve(problem, initial, until * (1 + share), times=times, **options)

    return replace(RIGHT, evolve=evolve)


def energy_rising(height: float) -> Tools:
    """Let the free energy rise once."""

    def change(right: Trajectory) -> Trajectory:
        gap = right.free_energy_gap.copy()
        gap[-1] = gap[-2] + height
        return replace(right, observables={**right.observables, "free_energy_gap": gap})

    return trajectories(change)


def negative_density(value: float) -> Tools:
    """Report a density below zero."""
    return trajectories(lambda right: replace(right, minimum=np.minimum(right.minimum, value)))


def evolution_depends_on_phase() -> Tools:
    """Drive moments by an amount that depends on where the density stands."""

    def change(cosine: Any) -> None:
        cosine[1:, 2] += 1e-9 * cosine[1:, 1]

    return moments_changed(change)


def staying_clustered(size: float) -> Tools:
    """Leave a moment at the end."""

    def change(cosine: Any) -> None:
        cosine[-1, 1] = size

    return moments_changed(change)


def mass_lost(share: float) -> Tools:
    """Lose mass on the way."""

    def change(cosine: Any) -> None:
        cosine[-1, 0] -= share

    return moments_changed(change)


def rates_off(share: float, norm: str) -> Tools:
    """Fit another rate to one distance."""

    def relaxation(problem: McKeanVlasov) -> Relaxation:
        right = RIGHT.relaxation(problem)
        fits = (replace(fit, rate=(1 + share) * fit.rate) if fit.norm == norm else fit for fit in right.fits)
        return replace(right, fits=tuple(fits))

    return replace(RIGHT, relaxation=relaxation)


def gap_off(share: float) -> Tools:
    """Report another spectral gap."""

    def relaxation(problem: McKeanVlasov) -> Relaxation:
        right = RIGHT.relaxation(problem)
        return replace(right, gap=(1 + share) * right.gap)

    return replace(RIGHT, relaxation=relaxation)


def biased_particles(distance: float) -> Tools:
    """Leave a distance between particles and equation that does not shrink."""

    def compare(*arguments: Any, **options: Any) -> Comparison:
        right = RIGHT.compare(*arguments, **options)
        values = right.distances + distance
        powers = (power_law(right.particles.astype(float), row, right.confidence) for row in values)
        fits = (
            replace(fit, exponent=power.exponent, low=power.interval[0], high=power.interval[1])
            for fit, power in zip(right.fits, powers, strict=True)
        )
        return replace(right, distances=values, fits=tuple(fits))

    return replace(RIGHT, compare=compare)


def without_interaction() -> Tools:
    """Simulate particles that do not feel each other."""

    def simulate(problem: McKeanVlasov, *arguments: Any, **options: Any) -> Ensemble:
        return RIGHT.simulate(problem.at(coupling=0.0), *arguments, **options)

    return replace(RIGHT, simulate=simulate)


def fluctuations_off(share: float) -> Tools:
    """Scale the moments of particles."""

    def simulate(*arguments: Any, **options: Any) -> Ensemble:
        right = RIGHT.simulate(*arguments, **options)
        return replace(right, cosine=(1 + share) * right.cosine, sine=(1 + share) * right.sine)

    return replace(RIGHT, simulate=simulate)


def always_settled() -> Tools:
    """Call the end of every evolution settled."""
    return trajectories(lambda right: replace(right, outcome=Outcome.STATIONARY))


def more_noise(share: float) -> Tools:
    """Simulate particles with another noise."""

    def simulate(problem: McKeanVlasov, *arguments: Any, **options: Any) -> Ensemble:
        return RIGHT.simulate(replace(problem, noise=(1 + share) * problem.noise), *arguments, **options)

    return replace(RIGHT, simulate=simulate)


def other_confinement(factor: float) -> Tools:
    """Simulate particles in a multiple of a confinement given by a series."""

    def simulate(problem: McKeanVlasov, *arguments: Any, **options: Any) -> Ensemble:
        series = problem.confinement
        assert isinstance(series, CosineSeries | GegenbauerSeries)
        changed = replace(series, w=tuple(factor * value for value in series.w))
        return RIGHT.simulate(replace(problem, confinement=changed), *arguments, **options)

    return replace(RIGHT, simulate=simulate)


def narrow_bands(factor: float) -> Tools:
    """Report bands of another width."""

    def compare(*arguments: Any, **options: Any) -> Comparison:
        right = RIGHT.compare(*arguments, **options)
        half = 0.5 * factor * (right.moments.high - right.moments.low)
        return replace(
            right, moments=replace(right.moments, low=right.moments.mean - half, high=right.moments.mean + half)
        )

    return replace(RIGHT, compare=compare)


def distances_off(share: float, which: str) -> Tools:
    """Scale one distance of measures."""

    def distance(name: str, *measures: Any) -> float:
        return (1 + share if name == which else 1.0) * RIGHT.distance(name, *measures)

    return replace(RIGHT, distance=distance)


def branches_kept(label: str) -> Tools:
    """Report the special points of one branch only."""
    return events(lambda point, diagram: point if diagram.branches[point.branch].label == label else None)


def moment_scaled_on_the_way(factor: float) -> Tools:
    """Scale a moment of trajectories."""

    def change(cosine: Any) -> None:
        cosine[:, 1] *= factor

    return moments_changed(change)
