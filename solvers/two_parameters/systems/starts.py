"""From a located point of a diagram or a curve to the first point of a curve through it in two parameters."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from meanfield import CurvePoint, Equation, InvalidInput, NotResolved, OrganisingPoint, SpecialPoint
from meanfield.equations import Capability, require
from meanfield.harmonics import Layout, SphereModes, modes_of, moments_of, packed
from meanfield.records import CurveType
from meanfield.theory import critical_couplings

from ...bases import Basis, Floats, Integers, multiples
from ...branches.continuation import End, Point, length, resolve
from ...domains import solvers_of
from ...equations.geometry import Frame
from ...equations.significant import confining_degree, keep_axis
from ...equations.sizing import stationary_equation
from ...root_finding.newton import POLISHED, ROUNDING, correct
from ...root_finding.solution import Solution
from ..in_plane.at_place import state_at
from ..in_plane.plane import COUPLING, Plane
from ..in_plane.unknowns import (
    SIGNIFICANT,
    Pair,
    basis_of,
    significant_degrees,
    uneven_basis,
    with_or_without_axis,
    without_axis,
)
from .extended import ExtendedEquation

# Distances from an organising point at which a curve that begins there is looked for.
DISTANCES = (0.1, 0.2, 0.05, 0.02, 0.01, 0.005, 0.002)
# The other parameter may change there by this share of its unit, which in a narrow interval is its length.
FARTHEST = 0.5
# A start located at an end of its interval can be beyond it by this share, the rounding of its location.
SLACK = 1e-12
# The start of a curve is where it was said to be within this, in moments and coordinates.
MOVED = 1e-4
# A threshold is that of the mode whose critical coupling is the start's to this share, up to this mode.
CRITICAL, LAST_DEGREE = 1e-9, 512


class Start(NamedTuple):
    """A start of curves: its equation, its type, the parameter it was found in, and moments of its states.

    ``first`` and ``second`` are cosine and sine moments; the second is None for the uniform state and where there
    is one state only. ``organising`` is the type of an organising point. With ``born`` the line is that of the
    state that is born at an end point, in the place of the one that becomes unstable.
    """

    problem: Equation
    kind: CurveType
    found: str
    first: Pair
    second: Pair | None
    layout: Layout
    organising: str = ""
    born: bool = False

    @property
    def halves(self) -> bool:
        """Whether states of half the symmetry are born of the first one, not the uniform, and turn there."""
        return self.organising == "tricritical" and not self.uniform

    @property
    def has_orders(self) -> bool:
        """Whether the moments are those of densities of two angles, not uniform."""
        return modes_of(self.problem.domain, self.layout).angles > 1 and not self.uniform

    @property
    def uniform(self) -> bool:
        """Whether the first state is the uniform one."""
        return self.problem.confinement is None and vanishes(self.first)

    def in_frame(self, frame: Frame | None) -> "Start":
        """Return the start in a turned frame, or as it stands, its moments by degree and order."""
        states = [pair for pair in (self.first, self.second) if pair is not None]
        if modes_of(self.problem.domain, self.layout).angles == 1:
            states = [(packed(cosine), 0.0 * packed(sine)) for cosine, sine in states]
        problem = self.problem
        if frame is not None:
            states, problem = [frame.moments(*pair) for pair in states], frame.problem
        second = None if self.second is None else states[1]
        return self._replace(problem=problem, first=states[0], second=second, layout=SphereModes.layout)

    def between(self, one: Pair, other: Pair) -> "Start":
        """Return the start of the line between two states, the uniform one being second and not named."""
        if self.problem.confinement is None and vanishes(one):
            one, other = other, one
        known = None if self.problem.confinement is None and vanishes(other) else other
        return self._replace(first=one, second=known, organising="")


def vanishes(moments: Pair) -> bool:
    """Return whether moments are those of the uniform density."""
    return not any(np.any(np.abs(part[1:]) > SIGNIFICANT) for part in moments)


def states_of(point: OrganisingPoint) -> list[Pair]:
    """Return the states of equal free energy at an organising point, its own first."""
    if point.other_cosine is None or point.other_sine is None:
        return [(point.cosine, point.sine)]
    return [(point.cosine, point.sine), *zip(point.other_cosine, point.other_sine, strict=True)]


def start_of(given: SpecialPoint | OrganisingPoint | CurvePoint) -> Start:
    """Return what a start is.

    Raises
    ------
    InvalidInput
        If no curve leaves such a point, or it belongs to no diagram and no curve.
    """
    if isinstance(given, CurvePoint):
        second = _pair(given.other_cosine, given.other_sine)
        return Start(
            given.problem, given.type, given.parameters[1], (given.cosine, given.sine), second, given.layout
        )
    if given.problem is None:
        raise InvalidInput(
            "this point belongs to no diagram and to no curve, so its equation is not known; take one of "
            "diagram.events() or of the special_points of a curve"
        )
    if isinstance(given, OrganisingPoint):
        return _of_organising(given)
    if given.type == "endpoint":
        raise InvalidInput(
            "no curve of special points leaves an endpoint; start from a fold, a transition, a branch point or a "
            "Hopf point, such as diagram.events('fold')[0]"
        )
    problem = given.problem.at(coupling=given.coupling)
    second = _pair(given.other_cosine, given.other_sine)
    start = Start(problem, given.type, given.parameter, (given.cosine, given.sine), second, given.layout)
    return start._replace(kind="threshold") if start.kind == "branch point" and start.uniform else start


def _pair(cosine: Floats | None, sine: Floats | None) -> Pair | None:
    return None if cosine is None or sine is None else (cosine, sine)


def _of_organising(point: OrganisingPoint) -> Start:
    """Return the start of the curve that an organising point lies on, on which it is a regular point."""
    kinds: dict[str, CurveType] = {
        "tricritical": "threshold",
        "mode interaction": "threshold",
        "cusp": "fold",
        "triple point": "transition",
        "end point": "transition",
        "Bogdanov-Takens": "fold",
    }
    assert point.problem is not None
    found = COUPLING if COUPLING in point.parameters else point.parameters[1]
    own, *others = states_of(point)
    start = Start(point.problem, kinds[point.type], found, own, None, point.layout, organising=point.type)
    if start.halves or (point.type == "mode interaction" and not start.uniform):
        return start._replace(kind="branch point")
    return start.between(own, others[0]) if others else start


def standing(start: Start, names: tuple[str, str], interval: tuple[float, float]) -> tuple[Start, Frame | None]:
    """Return a start in the frame in which its curve is followed, and this frame, None if that is the given one."""
    plane = _bare(start.problem, names, interval)
    if plane.zonal:
        return start, None
    frame = solvers_of(start.problem).geometry.frame(start.problem, plane.samples)
    return start.in_frame(frame), frame


def _bare(problem: Equation, names: tuple[str, str], interval: tuple[float, float]) -> Plane:
    """Return the plane whose second parameter is its own coordinate, before its unit and axes are known."""
    return Plane(problem.interpolated_in(*names), names, interval, 1.0, 0.0, None, np.arange(1, 33))


def plane_of(start: Start, names: tuple[str, str], interval: tuple[float, float]) -> Plane:
    """Return the plane of two parameters at a start.

    Raises
    ------
    InvalidInput
        If the start is outside of the interval, nothing depends on the second parameter, or the confinement loses
        the reflection axis that it has at the start under a law without a Gibbs map.
    NotResolved
        If both parameters change a confinement with a kink.
    """
    problem, (low, high) = start.problem, interval
    first = problem.parameters[names[0]]
    slack = SLACK * max(abs(low), abs(high))
    if not low - slack <= first <= high + slack:
        raise InvalidInput(
            f"the start has {names[0]} = {float(first):.12g}, outside of the interval [{low:g}, {high:g}]; "
            "give one that contains it"
        )
    bare = _bare(problem, names, interval)
    if len(bare.moving) > 1:
        raise NotResolved(
            f"{names[0]} and {names[1]} both change a confinement with a kink, and one is followed at a time; take "
            "one of them with the coupling or with a parameter of the potential"
        )
    other = bare.other
    x, q = bare.coordinates(first, problem.parameters[names[1]])
    reference = significant_degrees(bare, x, q, partial(multiples, 1))
    unit = float(high - low) if other == names[0] else _unit(start, bare, x, q, reference)
    plane = replace(bare, unit=unit, origin=x / unit, reference=reference)
    if not plane.reflects:
        return plane
    if not plane.zonal:
        return replace(plane, axis=0.0)
    equation = stationary_equation(solvers_of(problem).geometry, problem)
    axis = 0.0 if equation is None else equation.basis.axis
    if not plane.confined or keep_axis(plane.samples, axis):
        return replace(plane, axis=axis)
    require(problem, Capability.GIBBS_MAP, "curves of states without an axis in a confinement")
    return plane


def _unit(start: Start, bare: Plane, x: float, q: float, reference: Integers) -> float:
    """Return the change of the second parameter by which the field of the states changes by one.

    Raises
    ------
    InvalidInput
        If nothing depends on it.
    """
    if not (bare.reflects or start.uniform):
        place, basis, b = located(start, bare, start.first)
        state = state_at(bare, basis, place, b)
        return 1.0 / _dependence(bare, float(np.abs(state.slopes[0]).max()))
    lengths = moments_of(start.problem.domain, start.layout, *start.first).lengths
    coefficients = bare.coefficients(x, q, reference)
    moments = np.zeros(reference.size)
    known = reference < lengths.size
    moments[known] = lengths[reference[known]]
    attractions, forces = coefficients.slopes
    # The direction that is critical beside a state has modes that this does not.
    weights = np.ones(reference.size) if start.uniform or start.kind == "branch point" else moments
    return 1.0 / _dependence(bare, float(np.abs(attractions[0] * weights + forces[0]).max(initial=0.0)))


def _dependence(bare: Plane, change: float) -> float:
    """Return a change of the states with the second parameter, refusing one that is none."""
    if not change > 0.0:
        raise InvalidInput(
            f"the states do not depend on {bare.other}; take another second parameter with against=..."
        )
    return change


def located(start: Start, plane: Plane, moments: Pair) -> tuple[tuple[float, float], Basis, Floats]:
    """Return x and q of a start, and the basis and the unknown of one of its states."""
    first, second = (start.problem.parameters[name] for name in plane.names)
    place = plane.coordinates(first, second)
    if start.has_orders:
        return without_axis(plane, moments, place)
    if start.uniform and start.organising:
        # Beside the uniform state they are those of the critical mode.
        cosine = np.eye(1, threshold_of(start) + 1, threshold_of(start))[0]
        basis = (uneven_basis if plane.rotates else basis_of)(plane, cosine, place)
        return place, basis, np.zeros(basis.degrees.size)
    return place, *with_or_without_axis(plane, moments, place)


def beside(equations: Sequence[ExtendedEquation], b: Floats, q: float, away: Floats) -> tuple[Floats, float]:
    """Return (b, q) of a point of a curve beside where it begins, where states meet; if it can be, in the interval.

    Parameters
    ----------
    equations
        The system of the curve, behind systems of the same unknowns whose points at the distance are near its own.
    b, q
        The place where it begins.
    away : (size,) float
        The unit direction in which the states leave each other, with 0 for x.

    Raises
    ------
    InvalidInput
        If there is none.
    """
    found = inside_first(equations[-1].plane, all_beside(equations, b, q, away))
    if found is None:
        raise InvalidInput(
            f"no {equations[-1].kind} was found to begin at the start; start from a point of it in a diagram"
        )
    return found


def inside_first(plane: Plane, found: Iterable[tuple[Floats, float]]) -> tuple[Floats, float] | None:
    """Return the first (b, q) of some in the interval, the first of all if none is, and None if there are none."""
    nearest = None
    for b, q in found:
        nearest = nearest or (b, q)
        if plane.contains(plane.first_at(float(b[-1]), q)):
            return b, q
    return nearest


def all_beside(
    equations: Sequence[ExtendedEquation], b: Floats, q: float, away: Floats
) -> Iterator[tuple[Floats, float]]:
    """Yield (b, q) of points of a curve at several distances from where it begins, as :func:`beside` has them."""
    for distance in DISTANCES:
        found, place = b + distance * away, q
        for equation in equations:
            solution = correct(equation, found, place, away, 0.0, POLISHED)
            if solution is None or abs(solution.b[-1] - b[-1]) > max(FARTHEST, 3.0 * distance):
                break
            if length(solution.b[:-1] - b[:-1], solution.q - q) > 3.0 * distance:
                break
            found, place = solution.b, solution.q
        else:
            yield found, place


def first_point(equation: ExtendedEquation, b: Floats, q: float, begins_at: str = "") -> Point | End:
    """Return the corrected and resolved first point of a curve, its tangent towards larger x.

    Parameters
    ----------
    equation
        The system of the curve.
    b, q
        A place on it.
    begins_at
        The type of organising point beside the place at which the curve is to begin; empty if at none.

    Raises
    ------
    InvalidInput
        If the curve does not pass the place.
    """
    with np.errstate(all="ignore"):
        tangent = equation.system(b, q).tangent
    solution = correct(equation, b, q, tangent[:-1], float(tangent[-1]), POLISHED)
    moved = solution is None or max(np.abs(solution.b - b).max(), abs(solution.q - q)) > MOVED
    if moved and not begins_at:
        # Beside the beginning of a curve, where its states meet, the system is singular up to rounding.
        evaluation = equation.evaluate(b, q)
        if np.abs(evaluation.residual).max() <= ROUNDING:
            solution, moved = Solution(b, q, evaluation, tangent[:-1], float(tangent[-1]), 0), False
    if solution is None or moved or (equation.has_uniform(solution.b) and not equation.has_uniform(b)):
        if begins_at:
            first, second = equation.plane.names
            raise InvalidInput(
                f"no {equation.kind} was found to begin at the start in {first} and {second}; all points beside it "
                f"may be {begins_at} as it is, and then another pair of parameters has one"
            )
        raise InvalidInput(
            "no curve was found through the start: Newton's method leads elsewhere; start from a point that is "
            "located, whose status is converged, or where a curve begins or ends from one of its special_points"
        )
    return resolve(Point(equation, solution, 1.0))


def threshold_of(start: Start) -> int:
    """Return the degree that is critical at a start on the uniform branch."""
    problem = start.problem
    couplings = critical_couplings(problem, LAST_DEGREE)
    # Those of high degrees may be beyond the range of doubles in units of this one.
    with np.errstate(over="ignore"):
        distances = np.abs(couplings / problem.fixed_coupling - 1.0)
    degree = int(np.argmin(np.where(np.isfinite(distances), distances, np.inf)))
    if not distances[degree] <= CRITICAL:
        raise InvalidInput("no mode is critical at the start, so no threshold passes it")
    return degree


def require_followed(start: Start) -> None:
    """Refuse states that curves do not follow.

    Raises
    ------
    InvalidInput
        If densities have no axis in a confinement, under a law without a Gibbs map on a sphere.
    NotResolved
        If a confinement has kinks on a sphere.
    """
    problem = start.problem
    if problem.confinement is not None and (start.has_orders or not problem.zonal):
        require(problem, Capability.GIBBS_MAP, "curves of states without an axis in a confinement")
    if confining_degree(problem) is None and not solvers_of(problem).geometry.takes_kinks:
        raise NotResolved(
            f"curves in a confinement with a kink or a singularity, as {problem.confinement!r} has, are not "
            "followed on spheres: its multipliers decay too slowly; take a smooth one, of neurons --activation "
            "tanh or gelu"
        )
