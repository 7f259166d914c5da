"""The table of what is particular to each domain: geometry, neighbourhoods, evolution and particles."""

from collections.abc import Callable
from typing import NamedTuple

from meanfield import Circle, McKeanVlasov, Spectrum, Sphere

from .circle import CIRCLE
from .evolution.circle.relaxing import neighbourhood as neighbourhood_on_circle
from .evolution.circle.space import ROOM as EVOLUTION_ON_CIRCLE
from .evolution.neighbourhood import Neighbourhood
from .evolution.space import Room
from .evolution.sphere.relaxing import neighbourhood as neighbourhood_on_spheres
from .evolution.sphere.space import ROOM as EVOLUTION_ON_SPHERES
from .geometry import Geometry
from .particles.circle import circle_setting
from .particles.settings import Motion
from .particles.sphere import sphere_setting
from .sphere import SPHERE


class Rooms(NamedTuple):
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
        Motion of particles on it.
    """

    geometry: Geometry
    neighbourhood: Callable[[Spectrum], Neighbourhood]
    evolution: Room
    particles: Motion


ROOMS = {
    Circle.name: Rooms(CIRCLE, neighbourhood_on_circle, EVOLUTION_ON_CIRCLE, circle_setting),
    Sphere.name: Rooms(SPHERE, neighbourhood_on_spheres, EVOLUTION_ON_SPHERES, sphere_setting),
}


def rooms_of(problem: McKeanVlasov) -> Rooms:
    """Return what is particular to the domain of a problem."""
    return ROOMS[problem.domain.name]
