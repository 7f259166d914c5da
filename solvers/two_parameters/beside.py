"""Organising points beside the end of a followed curve: cusps of folds and tricritical points of branch points."""

import numpy as np

from meanfield.harmonics import largest_degree, zonal_places

from ..bases import Basis, Floats, Involution
from ..branches.arclength import Arclength
from ..branches.continuation import End, Point, length, resolve
from ..counts import Counts
from ..geometry import Complement
from ..newton import POLISHED, correct
from .at_place import state_at
from .branch_points import BranchPointEquation, nearest_block
from .extended import ExtendedEquation
from .folds import FoldEquation, null_vectors
from .following import follow, turned_back
from .knots import Knot
from .plane import Plane
from .states import AtState
from .system import null_direction
from .transitions import TransitionEquation
from .unknowns import (
    Symmetric,
    basis_of,
    moments_from,
    packed_moments,
    unknown_of,
    with_or_without_axis,
    without_axis,
)

# The uniform state may be the one that states are born of where a strength is this close to one.
NEARLY_CRITICAL = 0.1
# The curve is followed to both sides by so many steps up to this length.
NEARBY, FIRST = Arclength(max_step=0.02, max_points=40), 0.002


class _LineOfAny(TransitionEquation):
    """A first-order line on which every change of the stability of a state is an end point."""

    def changed_states(self, before: tuple[Counts, ...], after: tuple[Counts, ...]) -> set[int]:
        """Return the states of which the number of unstable directions changes between two points."""
        return ExtendedEquation.changed_states(self, before, after)


def cusp_beside(plane: Plane, basis: Basis, b: Floats, place: tuple[float, float]) -> Knot | None:
    """Return the cusp on the fold curve beside a place, b being the mean of two states; None if it has none."""
    equation = FoldEquation(plane, (basis,), null_vectors(plane, basis, place, b))
    return _found(equation, np.append(b, place[0]), place[1], "cusp")


def birth_beside(plane: Plane, state: AtState, symmetric: Symmetric, kinds: tuple[str, ...]) -> Knot | None:
    """Return the nearest point of some types on the curve of branch points beside a state.

    The state is nearly a more symmetric one, on whose branch its own is born. None if there is no such point.
    """
    basis, b = symmetric
    own, uneven = state.weighted.basis.invariants, state.weighted.basis.fourier is not None

    def leads_here(complement: Complement) -> bool:
        same = own is None or complement.born is None or complement.born.name == own.group.name
        return same and not complement.odd and complement.uneven == uneven

    equation = nearest_block(state_at(plane, basis, state.place, b), plane, admitted=leads_here)
    if equation is None:
        return None
    return _found(equation, np.append(b, state.place[0]), state.place[1], *kinds)


def end_beside(plane: Plane, state: AtState, symmetric: Symmetric, other: AtState | None) -> Knot | None:
    """Return the point of a first-order line at which a state that is nearly a more symmetric one is born of that.

    It is on the line of the more symmetric state, which becomes unstable there, and the other, by default the
    uniform one; None if it is not found.
    """
    x, q = state.place
    coefficients = plane.coefficients(x, q, plane.reference)
    nearly = float(np.abs(1.0 - coefficients.strengths).min()) <= NEARLY_CRITICAL
    if other is not None and not plane.confined and nearly:
        equation = _LineOfAny(plane, (other.weighted.basis,))
        found = _found(equation, np.append(other.unknown, x), q, "end point")
        if found is not None:
            return found
    basis, b = symmetric
    if other is None:
        return _found(_LineOfAny(plane, (basis,)), np.append(b, x), q, "end point")
    equation = _LineOfAny(plane, (other.weighted.basis, basis))
    return _found(equation, np.concatenate([other.unknown, b, [x]]), q, "end point")


def symmetric_part(plane: Plane, state: AtState, involution: Involution | None) -> Symmetric:
    """Return the mean of a state and its image, by a transformation or half a period, as a more symmetric state.

    Beside a state about an axis the mean differs from one about it by less than from the state itself.
    """
    basis = state.weighted.basis
    if involution is None:
        return part_of_symmetry(plane, state, 2 * basis.symmetry)
    own = state.unknown
    mean = 0.5 * (own + basis.image(own, involution))
    if basis.fourier is not None:
        return with_or_without_axis(plane, moments_from(basis, mean), state.place)
    cosine, sine = packed_moments(basis, mean)
    zonal = zonal_places(largest_degree(cosine.size))
    rest = np.hypot(length(np.delete(cosine, zonal), 0.0), length(sine, 0.0))
    if rest < length(own - mean, 0.0):
        along = cosine[zonal]
        about_axis = basis_of(plane, along, state.place)
        return about_axis, unknown_of(about_axis, along)
    _, larger, b = without_axis(plane, (cosine, sine), state.place)
    return larger, b


def part_of_symmetry(plane: Plane, state: AtState, symmetry: int) -> Symmetric:
    """Return the basis of densities of a larger symmetry, and the part of a state there."""
    degrees = state.weighted.basis.degrees
    cosine = np.zeros(int(degrees[-1]) + 1)
    cosine[degrees] = np.where(degrees % symmetry == 0, state.moments, 0.0)
    # Also where the part vanishes the basis is that of the symmetry.
    named = cosine + np.where(np.isin(np.arange(cosine.size), degrees[degrees % symmetry == 0]), 1.0, 0.0)
    basis = basis_of(plane, named, state.place, state.weighted.basis.axis)
    return basis, unknown_of(basis, cosine)


def point_beside(equation: ExtendedEquation, unknown: Floats, q: float) -> Point | None:
    """Return the point of a curve that Newton's method finds from a place beside it, None if it finds none."""
    tangent = null_direction(*equation.linearise(unknown, q, unknown))
    solution = correct(equation, unknown, q, tangent[:-1], float(tangent[-1]), POLISHED)
    return None if solution is None else Point(equation, solution, 1.0)


def _about_other_axis(knot: Knot) -> bool:
    """Return whether the branches that turn at a point are even about the other axis of a state on the circle."""
    equation, event = knot.point.equation, knot.event
    if not isinstance(equation, BranchPointEquation) or event is None or event.type != "tricritical":
        return False
    return equation.about_other(knot.point.b, knot.point.q)


def _found(equation: ExtendedEquation, unknown: Floats, q: float, *kinds: str) -> Knot | None:
    """Return the nearest organising point of some kinds on the curve beside a place, None if there is none."""
    beside = point_beside(equation, unknown, q)
    if beside is None or equation.has_uniform(beside.b):
        return None
    point = resolve(beside)
    if isinstance(point, End):
        return None
    located = [
        knot
        for begin in (point, turned_back(point, point.arclength))
        for knot in follow(begin, NEARBY, FIRST).knots
        if knot.event is not None and knot.event.type in kinds and not _about_other_axis(knot)
    ]
    return min(located, key=lambda knot: knot.point.arclength, default=None)
