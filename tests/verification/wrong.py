"""Deliberately wrong solvers and potentials, each wrong in one way."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from meanfield import Branch, Circle, CosineSeries, Diagram, Ensemble, McKeanVlasov, SpecialPoint, State
from verification import Tools

RIGHT = Tools().remembering()


@dataclass(frozen=True)
class Lying(CosineSeries):
    """A potential whose multipliers are not those of its values."""

    def multipliers(self, domain: Circle, degree: int) -> Any:
        return super().multipliers(domain, degree) * (1 + 1e-9)


def branches(change: Callable[[Branch, Diagram], Branch | None]) -> Tools:
    """Change or drop clustered branches."""

    def diagram(problem: McKeanVlasov, interval: tuple[float, float]) -> Diagram:
        right = RIGHT.diagram(problem, interval)
        changed = [branch if branch.symmetry == 0 else change(branch, right) for branch in right.branches]
        return replace(right, branches=tuple(branch for branch in changed if branch is not None))

    return replace(RIGHT, diagram=diagram)


def events(change: Callable[[SpecialPoint, Diagram], SpecialPoint | None]) -> Tools:
    """Change special points; dropped ones become endpoints, so that indices stay."""

    def diagram(problem: McKeanVlasov, interval: tuple[float, float]) -> Diagram:
        right = RIGHT.diagram(problem, interval)
        points = (change(point, right) or replace(point, type="endpoint") for point in right.special_points)
        return replace(right, special_points=tuple(points))

    return replace(RIGHT, diagram=diagram)


def states(change: Callable[[tuple[State, ...]], tuple[State, ...]]) -> Tools:
    """Change the stationary states found."""
    return replace(RIGHT, states=lambda problem: change(RIGHT.states(problem)))


def spectra(change: Callable[[State, Any], Any]) -> Tools:
    """Change the spectra."""
    return replace(RIGHT, spectrum=lambda state: change(state, RIGHT.spectrum(state)))


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
    return branches(lambda branch, _: replace(branch, free_energy_gap=factor * branch.free_energy_gap))


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
    return spectra(lambda _, right: replace(right, even=(1 + share) * right.even, odd=(1 + share) * right.odd))


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
        spike = State(problem, cosine, np.zeros(20), -1.0, 0, 1, 0.0, 19, label="spike", minimiser=True)
        return (spike, uniform(problem))

    return replace(RIGHT, states=change)


def uniform(problem: McKeanVlasov) -> State:
    """Return the uniform state."""
    cosine = np.array([1.0, *np.zeros(19)])
    return State(problem, cosine, np.zeros(20), 0.0, 0, 0, 0.0, 19, label="uniform", minimiser=False)


def without_interaction() -> Tools:
    """Simulate particles that do not feel each other."""

    def simulate(problem: McKeanVlasov, *arguments: Any, **options: Any) -> Ensemble:
        return RIGHT.simulate(problem.at(coupling=0.0), *arguments, **options)

    return replace(RIGHT, simulate=simulate)
