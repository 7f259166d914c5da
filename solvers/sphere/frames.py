r"""Frames in which a confinement of :math:`S^2` stands upright.

A confinement that is a function of the angle to an axis a makes the states of one about the north pole, turned. One
that reflections leave as it is has states that they do, found among fewer harmonics, and pitchforks where these
lose that symmetry: it is turned until they are among the groups of :mod:`.groups`. What is computed there is turned
back.
"""

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from meanfield import Combination, Curve, Diagram, Domain, Equation, InvalidInput, Potential, State
from meanfield.equations import NEGLIGIBLE
from meanfield.harmonics import SphereModes, about_axis, harmonics_at, largest_degree, zonal_places
from meanfield.potentials import Derived
from meanfield.records import StationaryStates

from ..bases import EPS, Floats
from ..bases.confining import TELLING, CommonField, ConfiningField
from ..bases.representations import CYCLE, rotation_about, turned_moments
from ..equations.significant import require_smooth
from ..equations.sizing import common_field
from .groups import symmetry_of_field
from .recognition import mirror_about_axis

ORDER = SphereModes.layout
# Turned coefficients below so many roundings of the largest are rounding.
ROUNDINGS = 64
WITHOUT_AXIS = "this needs a function of the angle to the north pole, and the confinement depends on two angles"


@dataclass(frozen=True)
class InFrame(Derived):
    """A potential of S^2 in a turned frame; the base of the two kinds.

    Parameters
    ----------
    potential
        The potential.
    rotation
        The rows of the rotation into the frame.
    """

    rotation: tuple[tuple[float, ...], ...]
    formula: ClassVar[str] = "V(R^T x)"


@dataclass(frozen=True)
class AboutAxis(InFrame):
    """A potential that is a function of the angle to an axis, turned until that is the north pole."""

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
        return self._along(self.potential.harmonic_multipliers(degree))

    def multiplier_derivatives(self, name: str, domain: Domain, degree: int) -> Any:
        """Return the derivatives of v_0, ..., v_degree in a parameter of the potential."""
        return self._along(self.potential.harmonic_multiplier_derivatives(name, degree))

    def _along(self, coefficients: Any) -> Floats:
        """Return the parts along the axis of packed coefficients, per degree."""
        degree = largest_degree(coefficients.shape[1])
        along = (coefficients * harmonics_at(np.array(self.rotation[2:]), degree)[..., 0]).sum(axis=0)
        return np.asarray(np.add.reduceat(along, zonal_places(degree)))

    def _meridian(self, angles: Floats) -> Floats:
        """Return unit vectors at angles from the axis."""
        upright = np.stack([np.sin(angles), np.zeros_like(angles), np.cos(angles)], axis=1)
        return np.asarray(upright @ np.array(self.rotation))


@dataclass(frozen=True)
class Turned(InFrame):
    """A potential without an axis, turned."""

    @property
    def zonal(self) -> bool:
        """False."""
        return False

    def amplitudes(self, domain: Domain, degree: int) -> Any:
        """Return the lengths of the coefficients of each degree, those of the potential."""
        return self.potential.amplitudes(domain, degree)

    def harmonic_multipliers(self, degree: int) -> Any:
        """Return the turned coefficients, those that are rounding left out."""
        return _turned_multipliers(self, degree)

    def harmonic_multiplier_derivatives(self, name: str, degree: int) -> Any:
        """Return the turned derivatives of the coefficients in a parameter of the potential."""
        return self._turned(self.potential.harmonic_multiplier_derivatives(name, degree))

    def _turned(self, coefficients: Any) -> Floats:
        cosine, sine = coefficients
        return np.stack(turned_moments(cosine, sine, np.array(self.rotation)))

    def values(self, angle: npt.ArrayLike) -> Any:
        """Refuse, since it is no function of one angle."""
        raise InvalidInput(WITHOUT_AXIS)

    def slope(self, angle: npt.ArrayLike) -> Any:
        """Refuse, since it is no function of one angle."""
        raise InvalidInput(WITHOUT_AXIS)

    def multipliers(self, domain: Domain, degree: int) -> Any:
        """Refuse, since it is no function of one angle."""
        raise InvalidInput(WITHOUT_AXIS)

    def values_at(self, points: npt.ArrayLike) -> Any:
        """Return V at unit vectors of the frame."""
        return self.potential.values_at(np.asarray(points, dtype=float) @ np.array(self.rotation))

    def gradient_at(self, points: npt.ArrayLike) -> Any:
        """Return the gradient at unit vectors of the frame, in the frame."""
        rotation = np.array(self.rotation)
        return self.potential.gradient_at(np.asarray(points, dtype=float) @ rotation) @ rotation.T


@functools.lru_cache(maxsize=32)
def _turned_multipliers(turned: Turned, degree: int) -> Floats:
    """Return the cached coefficients of a turned potential, (2, places), read-only."""
    found = turned._turned(turned.potential.harmonic_multipliers(degree))
    found = np.where(np.abs(found) > ROUNDINGS * EPS * np.abs(found).max(), found, 0.0)
    found.flags.writeable = False
    return found


def _in_frame(confinement: Any, rotation: Floats, axial: bool) -> Potential:
    """Return a confinement in a turned frame, of a sum each term, so that its parameters have their names."""
    rows = tuple(tuple(row) for row in rotation.tolist())
    kind = AboutAxis if axial else Turned
    if isinstance(confinement, Combination):
        return Combination(tuple((factor, kind(term, rows)) for factor, term in confinement.terms))
    return kind(confinement, rows)


class UprightFrame:
    """A frame in which the confinement of a problem stands upright, see :class:`solvers.equations.geometry.Frame`.

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
        self.problem = problem.replace(confinement=_in_frame(problem.confinement, rotation, axial))

    def moments(self, cosine: Floats, sine: Floats) -> tuple[Floats, Floats]:
        """Return packed moments of a state in the given frame as they stand in this one."""
        return turned_moments(cosine, sine, self._rotation)

    def states(self, found: StationaryStates) -> StationaryStates:
        """Return stationary states found in the frame as they stand in the given one."""
        return StationaryStates(map(self._state, found), found.searched, found.complete, found.warnings)

    def diagram(self, found: Diagram) -> Diagram:
        """Return a diagram found in the frame as it stands in the given one."""
        branches = [self._replaced(branch, "", "tangent_") for branch in found.branches]
        points = [self._with_others(point) for point in found.special_points]
        return dataclasses.replace(
            found,
            problem=self._given,
            branches=tuple(branches),
            special_points=tuple(points),
            provenance=found.provenance | {"problem": self._given.to_dict()},
        )

    def curve(self, found: Curve) -> Curve:
        """Return a curve of special points found in the frame as it stands in the given one."""
        known = {"problem": self._given, "provenance": found.provenance | {"problem": self._given.to_dict()}}
        points = tuple(self._with_others(point) for point in found.special_points)
        turned: Curve = dataclasses.replace(self._with_others(found), special_points=points, **known)
        return turned

    def _with_others(self, record: Any) -> Any:
        """Return a record with its moments, and those of other states if it has any, turned back."""
        return self._replaced(record, "", *(["other_"] if record.other_cosine is not None else []))

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


def frame(problem: Equation, samples: Sequence[Equation] = ()) -> UprightFrame | None:
    """Return the frame in which to compute, None if the confinement has no symmetry or stands upright already.

    Parameters
    ----------
    samples
        Where the confinement changes with parameters, the problem at several values: the frame is that of the
        symmetries that all have.

    Raises
    ------
    InvalidInput
        If the confinement has no axis and coefficients that decay slowly.
    """
    every = samples or (problem,)
    if all(each.zonal for each in every):
        return None
    field = common_field(every)
    if field.axes.size:
        return UprightFrame(problem, CYCLE.T @ field.own_frame, axial=True)
    for each in every:
        require_smooth(each)
    # The axes of symmetry that several fields have in common are axes of each.
    fields = (field, *field.fields[:1]) if isinstance(field, CommonField) else (field,)
    candidates = [np.eye(3), *(rotation for each in fields for rotation in _candidates(each))]
    rotation = max(candidates, key=lambda each: symmetry_of_field(field, each).order)
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
