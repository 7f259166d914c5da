"""The table of what is particular to each domain: geometry, neighbourhoods, evolution and particles."""

from collections.abc import Callable
from typing import NamedTuple

from meanfield import Circle, Equation, Spectrum, Sphere, State
from meanfield.equations import Capability

from .characteristics import ON_CIRCLE, ON_SPHERES, LabelDensities
from .circle import CIRCLE, rotating_waves
from .equations.geometry import Geometry
from .evolution.circle.relaxing import neighbourhood as neighbourhood_on_circle
from .evolution.circle.space import SPACES as EVOLUTION_ON_CIRCLE
from .evolution.neighbourhood import Neighbourhood
from .evolution.space import EvolutionSpaces
from .evolution.sphere.relaxing import neighbourhood as neighbourhood_on_spheres
from .evolution.sphere.space import SPACES as EVOLUTION_ON_SPHERES
from .particles.circle import circle_setting
from .particles.circle_velocities import velocity_setting
from .particles.custom_velocities import moment_setting
from .particles.settings import Motion
from .particles.sphere import meridian_setting, sphere_setting, sphere_velocity_setting
from .root_finding.searched import Searched
from .sphere import SPHERE


class DomainSolvers(NamedTuple):
    """What is particular to a domain in the solvers.

    Attributes
    ----------
    geometry
        Symmetry and perturbations of densities on it.
    neighbourhood
        Function of the spectrum of a stable state: the densities whose relaxation to it is measured.
    evolution
        Evolution of densities on it.
    particles
        Motion of particles on it by the gradient of a pair potential.
    velocities
        Motion of particles on it by any other velocity law with a drive.
    customs
        Motion of particles on it by a velocity that is a function of moments.
    labels
        Initial densities on it as functions of the label of a characteristic.
    waves
        Rotating waves on it, of laws with a phase lag; None where there are no such laws.
    """

    geometry: Geometry
    neighbourhood: Callable[[Spectrum], Neighbourhood]
    evolution: EvolutionSpaces
    particles: Motion
    velocities: Motion
    customs: Motion
    labels: LabelDensities
    waves: Callable[[Equation], tuple[list[State], Searched]] | None


SOLVERS = {
    Circle.name: DomainSolvers(
        CIRCLE,
        neighbourhood_on_circle,
        EVOLUTION_ON_CIRCLE,
        circle_setting,
        velocity_setting,
        moment_setting,
        ON_CIRCLE,
        rotating_waves,
    ),
    Sphere.name: DomainSolvers(
        SPHERE,
        neighbourhood_on_spheres,
        EVOLUTION_ON_SPHERES,
        sphere_setting,
        sphere_velocity_setting,
        meridian_setting,
        ON_SPHERES,
        None,
    ),
}


def solvers_of(problem: Equation) -> DomainSolvers:
    """Return what is particular to the domain of a problem."""
    return SOLVERS[problem.domain.name]


def motion_of(problem: Equation) -> Motion:
    """Return how the particles of a problem move, by its domain and its velocity law."""
    solvers = solvers_of(problem)
    if problem.lacks(Capability.DRIVE):
        return solvers.customs
    return solvers.velocities if problem.lacks(Capability.GRADIENT) else solvers.particles
