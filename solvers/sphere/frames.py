r"""Frames in which a confinement of :math:`S^2` stands upright.

A confinement that is a function of the angle to an axis a makes the states of one about the north pole, turned. One
that reflections leave as it is has states that they do, found among fewer harmonics, and pitchforks where these
lose that symmetry: it is turned until they are among the groups of :mod:`.groups`. What is computed there is turned
back.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from meanfield import Diagram, Domain, Equation, HarmonicSeries, Potential, State
from meanfield.equations import NEGLIGIBLE
from meanfield.harmonics import (
    SphereModes,
    about_axis,
    harmonics_at,
    zonal_places,
)
from meanfield.records import StationaryStates

from ..bases import Floats
from ..bases.confining import TELLING, ConfiningField
from ..bases.representations import CYCLE, rotation_about, turned_moments
from ..significant import require_smooth
from ..sizing import confining_field
from .groups import symmetry_of_field
from .recognition import mirror_about_axis

ORDER = SphereModes.layout


@dataclass(frozen=True)
class AboutAxis(Potential):
    """A potential of S^2 that is a function of the angle to an axis, turned until that is the north pole.

    Parameters
    ----------
    potential
        The potential.
    rotation
        The rows of the rotation that takes the axis to the pole.
    """

    potential: Potential
    rotation: tuple[tuple[float, ...], ...]
    name: ClassVar[str] = "turned"
    formula: ClassVar[str] = "V(R^T x)"

    def values(self, angle: npt.ArrayLike) -> Any:
        """Return V at the angles from the axis."""
        angles = np.asarray(angle, dtype=float)
        return self.potential.values_at(self._meridian(angles.ravel())).reshape(angles.shape)

    def slope(self, angle: npt.ArrayLike) -> Any:
        """Return the derivative in that angle."""
        angles = np.asarray(angle, dtype=float)
        gradients = self.potential.gradient_at(self._meridian(angles.ravel()))
        southwards = self._meridian(angles.ravel() + 0.5 * np.pi)
        return (gradients * southwards).sum(axis=1).reshape(angles.shape)

    def multipliers(self, domain: Domain, degree: int) -> Any:
        """Return v_0, ..., v_degree, the parts along the axis of the coefficients by degree and order."""
        coefficients = self.potential.harmonic_multipliers(degree)
        along = (coefficients * harmonics_at(np.array(self.rotation[2:]), degree)[..., 0]).sum(axis=0)
        return np.add.reduceat(along, zonal_places(degree))

    def tail_bound(self, domain: Domain, degree: int) -> Any:
        """Return the bound of the potential."""
        return self.potential.tail_bound(domain, degree)

    def parameters(self) -> dict[str, Any]:
        """Return none; no record holds it."""
        return {}

    def _meridian(self, angles: Floats) -> Floats:
        """Return unit vectors at angles from the axis."""
        upright = np.stack([np.sin(angles), np.zeros_like(angles), np.cos(angles)], axis=1)
        return np.asarray(upright @ np.array(self.rotation))


class UprightFrame:
    """A frame in which the confinement of a problem stands upright, see :class:`solvers.geometry.Frame`.

    Parameters
    ----------
    problem
        The problem as it was given.
    rotation : (3, 3) float
        That which takes its confinement to where it stands upright.
    axial
        Whether it is then a function of the angle to the north pole.
    """

    def __init__(self, problem: Equation, rotation: Floats, axial: bool) -> None:
        self._given, self._rotation = problem, rotation
        confinement: Any = problem.confinement

        def turned(points: Floats) -> Floats:
            return np.asarray(confinement.values_at(points @ rotation))

        rows = tuple(tuple(row) for row in rotation.tolist())
        self.problem = problem.replace(
            confinement=AboutAxis(confinement, rows) if axial else HarmonicSeries.from_callable(turned)
        )

    def states(self, found: StationaryStates) -> StationaryStates:
        """Return stationary states found in the frame as they stand in the given one."""
        return StationaryStates(map(self._state, found), found.searched, found.complete, found.warnings)

    def diagram(self, found: Diagram) -> Diagram:
        """Return a diagram found in the frame as it stands in the given one."""
        branches = [self._replaced(branch, "", "tangent_") for branch in found.branches]
        points = [
            self._replaced(point, "", *(["other_"] if point.other_cosine is not None else []))
            for point in found.special_points
        ]
        return dataclasses.replace(
            found,
            problem=self._given,
            branches=tuple(branches),
            special_points=tuple(points),
            provenance=found.provenance | {"problem": self._given.to_dict()},
        )

    def _state(self, state: State) -> State:
        problem = self._given.at(coupling=state.problem.coupling)
        source = state.provenance | {"problem": problem.to_dict()}
        found: State = self._replaced(state, "").replace(problem=problem, provenance=source)
        return found

    def _replaced(self, record: Any, *prefixes: str) -> Any:
        """Return a record with its moments by degree and order, turned back."""
        moments: dict[str, Any] = {}
        for prefix in prefixes:
            names = [f"{prefix}cosine", f"{prefix}sine"]
            cosine, sine = (getattr(record, name) for name in names)
            turned = (
                about_axis(cosine, self._rotation[2])
                if record.moments.has_axis
                else _back(cosine, sine, self._rotation)
            )
            moments |= zip(names, turned, strict=True)
        return dataclasses.replace(record, layout=ORDER, **moments)


def frame(problem: Equation) -> UprightFrame | None:
    """Return the frame in which to compute, None if the confinement has no symmetry or stands upright already.

    Raises
    ------
    InvalidInput
        If the confinement has no axis and coefficients that decay slowly.
    """
    if problem.zonal:
        return None
    field: Any = confining_field(problem)
    if field.axes.size:
        return UprightFrame(problem, CYCLE.T @ field.own_frame, axial=True)
    require_smooth(problem)
    rotation = max((np.eye(3), *_candidates(field)), key=lambda each: symmetry_of_field(field, each).order)
    return None if np.array_equal(rotation, np.eye(3)) else UprightFrame(problem, rotation, axial=False)


def _candidates(field: ConfiningField) -> list[Floats]:
    """Return rotations that take one axis of symmetry that a field may have to z, and a mirror to the azimuth 0."""
    found, standing = [], field.own_frame
    cosine, sine = field.up_to(TELLING)
    for _ in range(3):
        angle = mirror_about_axis(*turned_moments(cosine, sine, standing))
        found.append(rotation_about(np.array([0.0, 0.0, 1.0]), -angle) @ standing)
        standing = CYCLE @ standing
    return found


def _back(cosine: Floats, sine: Floats, rotation: Floats) -> tuple[Floats, Floats]:
    """Return packed moments (..., places) turned back, those that are rounding left out."""
    both = np.stack([cosine, sine]).reshape(2, -1, cosine.shape[-1])
    sizes = np.hypot(*both)
    kept = np.where(sizes > NEGLIGIBLE * sizes.max(), both, 0.0)
    turn = np.ascontiguousarray(rotation.T)
    rows = [turned_moments(row[0], row[1], turn) for row in kept.swapaxes(0, 1)]
    one, other = np.array(rows).swapaxes(0, 1).reshape(2, *cosine.shape)
    return one, other
