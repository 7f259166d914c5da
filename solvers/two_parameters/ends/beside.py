"""Organising points beside the end of a followed curve: cusps of folds and tricritical points of branch points."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from meanfield import Outcome
from meanfield.harmonics import largest_degree, zonal_places

from ...bases import Basis, Floats
from ...bases.orientation import to_pole
from ...bases.representations import turned_moments
from ...branches.arclength import Arclength
from ...branches.continuation import End, Point, length, resolve
from ...equations.counts import Counts
from ...equations.geometry import Complement
from ...root_finding.newton import POLISHED, correct
from ..following.following import follow, turned_back
from ..following.knots import Knot
from ..in_plane.at_place import state_at
from ..in_plane.plane import Plane
from ..in_plane.states import AtState
from ..in_plane.unknowns import (
    Symmetric,
    basis_of,
    moments_from,
    packed_moments,
    unknown_of,
    with_or_without_axis,
    without_axis,
)
from ..systems.branch_points import BranchPointEquation, nearest_block
from ..systems.extended import ExtendedEquation, Halving
from ..systems.folds import FoldEquation, null_vectors
from ..systems.system import null_direction
from ..systems.tested import Tests
from ..systems.transitions import TransitionEquation

# The uniform state may be the one that states are born of where a strength is this close to one.
NEARLY_CRITICAL = 0.1
# The place of the uniform state in names of what vanishes along its lines.
UNIFORM = "uniform"
# The curve is followed to both sides by so many steps up to this length, by a few first: most points are near.
NEARBY, FIRST = Arclength(max_step=0.02, max_points=40), 0.002
NEAREST = replace(NEARBY, max_points=10)


class _LineOfAny(TransitionEquation):
    """A first-order line on which every change of the stability of a state is an end point."""

    def changed_states(self, before: tuple[Counts, ...], after: tuple[Counts, ...]) -> set[int]:
        """Return the states of which the number of unstable directions changes between two points."""
        return ExtendedEquation.changed_states(self, before, after)

    @property
    def tests(self) -> Tests:
        """Those of any line, and of one with the uniform state functions that vanish as a mode is critical."""
        found = super().tests
        if len(self.bases) > 1:
            return found
        del found["end point", None]
        places = range(self.plane.reference.size)
        return found | {("end point", (UNIFORM, place)): partial(self._threshold, place) for place in places}

    def _threshold(self, place: int, point: Point) -> float:
        """Return one minus the lambda of a mode."""
        x, q = float(point.b[-1]), point.q
        return 1.0 - float(self.plane.coefficients(x, q, self.plane.reference).strengths[place])


def cusps_beside(plane: Plane, basis: Basis, b: Floats, place: tuple[float, float]) -> Iterator[Knot]:
    """Yield the cusps on the fold curve beside a place, the nearest first, b being the mean of two states."""
    basis = basis.beside(b)
    equation = FoldEquation(plane, (basis,), null_vectors(plane, basis, place, b))
    return _found(equation, np.append(b, place[0]), place[1], "cusp")


def births_beside(plane: Plane, state: AtState, symmetric: Symmetric, kinds: tuple[str, ...]) -> Iterator[Knot]:
    """Yield the points of some types on the curve of branch points beside a state, the nearest first.

    The state is nearly a more symmetric one, on whose branch its own is born.
    """
    basis, b = symmetric
    own, uneven = state.weighted.basis.invariants, state.weighted.basis.fourier is not None

    def leads_here(complement: Complement) -> bool:
        same = own is None or complement.born is None or complement.born.name == own.group.name
        return same and not complement.odd and complement.uneven == uneven

    equation = nearest_block(state_at(plane, basis, state.place, b), plane, admitted=leads_here)
    return iter(()) if equation is None else _found(equation, np.append(b, state.place[0]), state.place[1], *kinds)


def ends_beside(plane: Plane, state: AtState, symmetric: Symmetric, other: AtState | None) -> Iterator[Knot]:
    """Yield the points of a first-order line where a state that is nearly a more symmetric one may be born of it.

    They are on the line of the more symmetric state, which becomes unstable there, and the other, by default the
    uniform one; the nearest is first. Where a mode is nearly critical that state may be the uniform one as well.
    """
    x, q = state.place
    coefficients = plane.coefficients(x, q, plane.reference)
    nearly = float(np.abs(1.0 - coefficients.strengths).min()) <= NEARLY_CRITICAL
    if other is not None and not plane.confined and nearly:
        yield from _found(_LineOfAny(plane, (other.weighted.basis,)), np.append(other.unknown, x), q, "end point")
    basis, b = symmetric
    if other is None:
        yield from _found(_LineOfAny(plane, (basis,)), np.append(b, x), q, "end point")
        return
    equation = _LineOfAny(plane, (other.weighted.basis, basis))
    yield from _found(equation, np.concatenate([other.unknown, b, [x]]), q, "end point")


def symmetric_parts(plane: Plane, state: AtState, halved: Halving) -> Iterator[Symmetric]:
    """Yield the mean of a state and its images, by a transformation or parts of a period, as more symmetric states.

    Beside a state about an axis the mean may differ from one about it by less than from the state itself. Where it
    does by more it is a state of its own, or the axis comes about later: the part about it is second then.
    """
    basis = state.weighted.basis
    if halved.involution is None:
        yield part_of_symmetry(plane, state, halved.multiple * basis.symmetry)
        return
    own = state.unknown
    mean = 0.5 * (own + basis.image(own, halved.involution))
    if basis.fourier is not None:
        yield with_or_without_axis(plane, moments_from(basis, mean), state.place)
        return
    cosine, sine = packed_moments(basis, mean)
    along, rest = _about_axis(cosine, sine, np.eye(3)[2:] if plane.confined else np.eye(3))
    if rest >= length(own - mean, 0.0):
        _, larger, b = without_axis(plane, (cosine, sine), state.place)
        yield larger, b
    about_axis = basis_of(plane, along, state.place)
    yield about_axis, unknown_of(about_axis, along)


def _about_axis(cosine: Floats, sine: Floats, axes: Floats) -> tuple[Floats, float]:
    """Return the moments by degree of a density about the one of some axes that leaves the least rest, and this."""
    zonal = zonal_places(largest_degree(cosine.size))
    turned = [turned_moments(cosine, sine, to_pole(axis)) for axis in axes]
    rests = [float(np.hypot(length(np.delete(c, zonal), 0.0), length(s, 0.0))) for c, s in turned]
    best = int(np.argmin(rests))
    return turned[best][0][zonal], rests[best]


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


def _found(equation: ExtendedEquation, unknown: Floats, q: float, *kinds: str) -> Iterator[Knot]:
    """Yield the organising points of some kinds on the curve beside a place, the nearest first."""
    beside = point_beside(equation, unknown, q)
    if beside is None or equation.has_uniform(beside.b):
        return
    point = resolve(beside)
    if isinstance(point, End):
        return
    told = 0
    for method in (NEAREST, NEARBY):
        sides = [follow(begin, method, FIRST) for begin in (point, turned_back(point, point.arclength))]
        # Beyond the shorter side there may be nearer ones on it.
        going_on = [side.knots[-1].point.arclength for side in sides if side.outcome is Outcome.MAX_STEPS]
        reach = min(going_on, default=math.inf) if method is NEAREST else math.inf
        located = sorted(
            (
                knot
                for side in sides
                for knot in side.knots
                if knot.event is not None and knot.event.type in kinds and knot.point.arclength <= reach
            ),
            key=lambda knot: knot.point.arclength,
        )
        for knot in located[told:]:
            if not _about_other_axis(knot):
                yield knot
        told = len(located)
        if not going_on:
            return
