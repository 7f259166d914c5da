"""Densities on spheres as spaces of evolution: those symmetric about the pole, and all on the ordinary sphere."""

import functools
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from meanfield import Equation, InvalidInput, Sphere, State
from meanfield.equations import Capability, require
from meanfield.harmonics import Modes, SphereModes, ZonalModes, about_axis, modes_of

from ...bases import Floats
from ...equations.significant import require_smooth
from ...sphere import SPHERE
from ..descent import Descent
from ..flow import Flow, field_degree
from ..initial import Initial
from ..paths import along_path
from ..rest import Rest, distance, state_near
from ..space import EvolutionSpaces, Space
from ..system import System
from .axes import in_orders, on_axis
from .flow import ZonalFlow, ZonalLawFlow
from .grids import full_grids, zonal_grids
from .initial import moments_of
from .rates import curvature
from .rest import about_equator, distance_in_orders, placed_distance, placed_state_near, zonal_state_near
from .spherical import SphericalSystem
from .systems import system_for, system_of


@dataclass(frozen=True, eq=False)
class ZonalSpace:
    """Densities symmetric about the pole of a sphere.

    Attributes
    ----------
    sphere
        The domain.
    axis : (3,) float
        On the ordinary sphere the unit vector that became the north pole, empty if that was it.
    """

    sphere: Sphere
    axis: Floats = field(default_factory=lambda: np.zeros(0))

    multistep: ClassVar[bool] = True
    unsearched: ClassVar[str] = ""

    @property
    def modes(self) -> Modes:
        """The modes of their moments."""
        return ZonalModes(self.sphere)

    def system(self, problem: Equation, start: Initial, degree: int, full: bool) -> System:
        """Return the smallest system whose symmetry a density has: even degrees if it is even about the equator."""
        return system_for(problem, start.cosine, degree)

    def system_of(self, problem: Equation, even: bool, degree: int, symmetry: int) -> System:
        """Return the system of zonal densities of a degree and a symmetry."""
        return system_of(problem, degree, symmetry)

    def curvature(self, problem: Equation, degree: int) -> float | None:
        """Return half the curvature of the field of a point, over the attractive degrees up to a degree.

        None without a drive.
        """
        return None if problem.lacks(Capability.DRIVE) else 0.5 * curvature(problem, degree)

    def harmonic(self, problem: Equation, start: Initial) -> int | None:
        """Return None, since only densities on the circle evolve under Moebius maps of the circle."""
        return None

    def flow(self, problem: Equation, start: Initial, full: bool) -> Flow | None:
        """Return the flow of a density by a velocity law with a drive."""
        symmetry = self.system(problem, start, 1, full).symmetry
        if problem.lacks(Capability.GRADIENT):
            return ZonalLawFlow(problem, start, symmetry)
        return ZonalFlow(problem, start, symmetry, field_degree(problem))

    def descent(self, problem: Equation, cosine: Floats, sine: Floats, accuracy: float) -> Descent:
        """Return free energy, dissipation and extreme values of densities (T, n)."""
        grids = functools.partial(zonal_grids, self.sphere)
        return along_path(problem, self.modes, grids, cosine, sine, accuracy)

    def state_near(self, problem: Equation, cosine: Floats, sine: Floats) -> Rest | None:
        """Return the zonal stationary state nearest to a density, or None if no state is found near it."""
        return state_near(problem, cosine, sine, about_equator, SPHERE)

    def distance(self, state: State, cosine: Floats, sine: Floats) -> float:
        """Return the distance of a density from a state about the same axis."""
        return distance(state, cosine, sine, free=False)

    def recorded(self, cosine: Floats, sine: Floats) -> tuple[Floats, Floats, Modes]:
        """Return moments (T, n) about the pole, or by degree and order if the axis was another, and their modes."""
        if not self.axis.size:
            return cosine, sine, self.modes
        return *about_axis(cosine, self.axis), SphereModes()


@dataclass(frozen=True, eq=False)
class FullSpace:
    """All densities on the ordinary sphere."""

    axis: Floats = field(default_factory=lambda: np.zeros(0))

    modes: ClassVar[Modes] = SphereModes()
    multistep: ClassVar[bool] = False
    unsearched: ClassVar[str] = "; states without an axis were not looked for"

    def system(self, problem: Equation, start: Initial, degree: int, full: bool) -> System:
        """Return the system of all densities."""
        return self.system_of(problem, False, max(16, degree), 1)

    def system_of(self, problem: Equation, even: bool, degree: int, symmetry: int) -> System:
        """Return the system of all densities.

        Raises
        ------
        InvalidInput
            If the velocity is not the gradient of a pair potential, or a confinement without an axis has kinks.
        """
        require(problem, Capability.GRADIENT, "evolutions of densities without an axis")
        if not problem.zonal:
            require_smooth(problem)
        return SphericalSystem(problem, degree)

    def curvature(self, problem: Equation, degree: int) -> float | None:
        """Return None, since each degree costs as much as all before it, and beginning anew with more is cheap."""
        return None

    def harmonic(self, problem: Equation, start: Initial) -> int | None:
        """Return None, since only densities on the circle evolve under Moebius maps of the circle."""
        return None

    def flow(self, problem: Equation, start: Initial, full: bool) -> Flow | None:
        """Return None, since the densities have two angles."""
        return None

    def descent(self, problem: Equation, cosine: Floats, sine: Floats, accuracy: float) -> Descent:
        """Return free energy, dissipation and extreme values of densities (T, n)."""
        return along_path(problem, self.modes, full_grids, cosine, sine, accuracy)

    def state_near(self, problem: Equation, cosine: Floats, sine: Floats) -> Rest | None:
        """Return the stationary state with an axis nearest to a density, or None if no state is found near it.

        In a confinement without an axis, any state.
        """
        return (zonal_state_near if problem.zonal else placed_state_near)(problem, cosine, sine)

    def distance(self, state: State, cosine: Floats, sine: Floats) -> float:
        """Return the distance of a density from a state with an axis, rotated onto that of the density.

        In a confinement without an axis, from the state where it stands.
        """
        return (distance_in_orders if state.problem.zonal else placed_distance)(state, cosine, sine)

    def recorded(self, cosine: Floats, sine: Floats) -> tuple[Floats, Floats, Modes]:
        """Return the moments unchanged, and their modes."""
        return cosine, sine, self.modes


def space_for(problem: Equation, start: Initial, full: bool) -> tuple[Space, Initial]:
    """Return the space of a density and the density, rotated onto its axis if it has one, unless ``full``.

    Raises
    ------
    InvalidInput
        If all shall be unknown in a dimension where they are not followed.
    """
    sphere = Sphere(problem.domain.dimension)
    zonal = modes_of(sphere, start.layout).angles == 1
    if full or not problem.zonal:
        if not sphere.has_azimuth:
            raise InvalidInput(
                "all densities are followed on the ordinary sphere only (--dimension 3); in dimension "
                f"{sphere.dimension} leave out full=True (--full)"
            )
        return FullSpace(), in_orders(start) if zonal else start
    if zonal:
        return ZonalSpace(sphere), start
    # A velocity without a drive is one along the meridians of the north pole.
    turned, axis = on_axis(start, problem.confinement is None and not problem.lacks(Capability.DRIVE))
    return (FullSpace() if turned is start else ZonalSpace(sphere, axis)), turned


SPACES: EvolutionSpaces = EvolutionSpaces(moments_of, space_for)
