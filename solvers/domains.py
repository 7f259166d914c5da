"""Which rooms belong to which domain: the one place in the solvers that asks."""

from collections.abc import Callable
from typing import NamedTuple

from meanfield import Circle, McKeanVlasov, Sphere

from .evolution.circle.space import ROOM as EVOLUTION_ON_CIRCLE
from .evolution.space import Room
from .evolution.sphere.space import ROOM as EVOLUTION_ON_SPHERES
from .particles.circle import circle_setting
from .particles.drift import MomentDrift, PairDrift
from .particles.settings import Setting
from .particles.sphere import sphere_setting

# A problem, the drift or None for the cheapest, the degrees to be recorded and the number of particles.
Particles = Callable[[McKeanVlasov, MomentDrift | PairDrift | None, int, int], Setting]


class Rooms(NamedTuple):
    """What the verbs need to know of a domain.

    Attributes
    ----------
    evolution
        How densities evolve on it.
    particles
        How particles move on it.
    """

    evolution: Room
    particles: Particles


ROOMS = {
    Circle.name: Rooms(EVOLUTION_ON_CIRCLE, circle_setting),
    Sphere.name: Rooms(EVOLUTION_ON_SPHERES, sphere_setting),
}


def rooms_of(problem: McKeanVlasov) -> Rooms:
    """Return the rooms of the domain of a problem."""
    return ROOMS[problem.domain.name]
