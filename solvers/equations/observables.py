"""Which observables the states and evolutions of an equation have."""

from typing import TypeVar

from meanfield import Equation
from meanfield.equations import Capability, has_free_energy
from meanfield.records import ANGULAR_VELOCITY, DISSIPATION, ENERGY_DISSIPATION, ENERGY_GAP, FREE_ENERGY_GAP

from .equation import StationaryEquation
from .rotating import rotates_freely

Numbers = TypeVar("Numbers")


def of_states(problem: Equation, invariant: Numbers) -> dict[str, Numbers]:
    """Return the invariant of one or several states by its name: the free energy gap, or the angular velocity.

    Nothing where states have neither.
    """
    if has_free_energy(problem):
        return {FREE_ENERGY_GAP: invariant}
    return {ANGULAR_VELOCITY: invariant} if rotates_freely(problem) else {}


def of_points(equation: StationaryEquation, invariant: Numbers) -> dict[str, Numbers]:
    """Return the invariant of one or several points of an equation by its name, or nothing if it has none."""
    name = equation.invariant_name
    return {} if name is None else {name: invariant}


def along_path(problem: Equation, gap: Numbers, dissipation: Numbers) -> dict[str, Numbers]:
    """Return free energy gap and dissipation along a path by their names, or nothing without a free energy.

    Without noise they are those of the energy.
    """
    if problem.noise == 0.0 and not problem.lacks(Capability.GRADIENT):
        return {ENERGY_GAP: gap, ENERGY_DISSIPATION: dissipation}
    return {FREE_ENERGY_GAP: gap, DISSIPATION: dissipation} if has_free_energy(problem) else {}
