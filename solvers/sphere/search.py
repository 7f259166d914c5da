"""The search for states of a sphere that no branch leads to, and its completeness.

States about an axis are searched in every dimension, on S^2 all others too. What is met is brought into the
orientation of its symmetry and solved for among the densities that have it.
"""

import math

import numpy as np

from meanfield import Equation, Number, Sphere
from meanfield.equations import Capability, has_free_energy
from meanfield.harmonics import largest_degree, zonal_places

from ..bases import EPS, Floats
from ..bases.representations import Group
from ..branches.continuation import Point, state_at
from ..branches.orbits import lengths, same_orbit, symmetry_of
from ..branches.uniform import unstable_uniform
from ..equation import StationaryEquation
from ..geometry import Geometry
from ..searched import MISSING, Searched, Tally
from ..significant import confining_symmetry
from ..sizing import stationary_equation
from .identity import copies_of
from .multistart import Met, Search, Space, about_an_axis, allowed_groups, among_harmonics, field_of
from .polyhedral import invariant_equation
from .recognition import fixing, recognised
from .sampled import WIDER, Field
from .zonal_search import zonal_states

# Degrees of the search; larger ones are left to the polishing of what is met.
LARGEST_DEGREE, LARGEST_ZONAL_DEGREE = 8, 48
# Odd moments below this are rounding noise of a state even about the equator.
ODD = 1e-6
# The tail beyond the degrees that a density needs is an eighth of all, in steps of some degrees: states that need
# nearly as many share one basis.
TAIL, STEP = 8.0 / 7.0, 32
# Rounds of a search that misses states are made again so often.
AGAIN = 3
# A confinement smaller than this in all, in units of D, moves states by no more than what counts as the same.
WEAK = 1e-4
HELD = "some may be missing, for the confinement, which has no axis, holds states by little more than rounding"
CONVEX = "the second variation of the free energy is definite at every density"
ONE_DEGREE = "with degree one alone the states are the uniform one and, beyond its threshold, one exp(r cos t)/Z"


def searches(problem: Equation) -> bool:
    """Return whether states of an equation are searched for by :func:`search_all`.

    Softmax attention in a confinement with an axis is left to Newton's method about that axis, whose indices are
    counted, but on S^2, where states may stand anywhere.
    """
    if problem.lacks(Capability.GRADIENT) and not problem.lacks(Capability.GIBBS_MAP):
        return problem.confinement is None or problem.domain.has_azimuth
    return has_free_energy(problem)


def search_covers(geometry: Geometry, problem: Equation, coupling: Number) -> bool:
    """Return whether the search has all significant degrees."""
    return not _field(problem, coupling).cut


def search_all(geometry: Geometry, problem: Equation, sign: int, coupling: Number, known: list[Point]) -> Searched:
    """Return the states at a coupling that are not known, about an axis and on S^2 among all densities."""
    field = _field(problem, coupling)
    most, theorem = _most_states(problem, field)
    count = len(known) + (problem.confinement is None)
    if count >= most:
        return Searched([], "", theorem=theorem)
    task = _Task(geometry, problem, sign, coupling, field)
    zonal = zonal_states(geometry, problem, sign, coupling, field, known) if problem.zonal else []
    if count + len(zonal) >= most:
        return Searched(zonal, "", theorem=theorem)
    if problem.domain.has_azimuth:
        spaces = among_harmonics(field)
        words = f"all densities on the sphere, in {len(spaces)} symmetries up to degree {field.strengths.size - 1}"
    else:
        spaces = about_an_axis(Sphere(problem.domain.dimension), field, task.even)
        words = "densities about an axis (others were not searched)"
    return _searched(task, spaces, known, zonal, words)


def _field(problem: Equation, coupling: Number) -> Field:
    """Return the field of a problem at a coupling, up to the degree to which it is searched."""
    return field_of(problem, coupling, LARGEST_DEGREE if problem.domain.has_azimuth else LARGEST_ZONAL_DEGREE)


class _Task:
    """A problem at a coupling, its field, whether a confinement is even about the equator, and its equations."""

    def __init__(self, geometry: Geometry, problem: Equation, sign: int, coupling: Number, field: Field) -> None:
        self.geometry = geometry
        self.problem, self.sign, self.coupling, self.field = problem, sign, coupling, field
        self.even = confining_symmetry(problem) % 2 == 0
        self._equations: dict[Group, StationaryEquation | None] = {}

    def modes(self, met: Met) -> int:
        """Return the modes that a density which was met needs, by the lengths of its moments.

        With fewer the discretisation is not invariant under rotation, and a rotated density does not solve it.
        """
        lengths = np.abs(met.invariants) * (np.arange(met.invariants.size) > 0)
        needed = self.field.last + WIDER * float(self.field.reach(lengths, self.problem.domain.dimension, EPS))
        return STEP * math.ceil(TAIL * needed / STEP)

    def equation(self, group: Group, modes: int) -> StationaryEquation | None:
        """Return the cached equation of a group with at least a number of modes, or the most of its basis."""
        known = self._equations.get(group)
        if known is None:
            known = invariant_equation(self.geometry, self.problem, group, self.sign, modes=modes)
        elif known.basis.nodes < (nodes := min(modes, known.basis.most_nodes)):
            known = known.on(known.basis.resized(known.basis.cells, nodes))
        self._equations[group] = known
        return known


def _most_states(problem: Equation, field: Field) -> tuple[float, str]:
    """Return a bound of the number of states and the theorem for it; infinity if none applies.

    With degree one alone a state is exp(r cos t)/Z, and the mean of the cosine is concave in r > 0.
    """
    if field.is_convex():
        return 1.0, CONVEX
    alone = problem.confinement is None and field.beyond == 0.0 and not np.any(field.strengths[2:])
    if alone and field.exponent is None:
        return 1.0 + float(field.strengths[1] > problem.domain.dimension), ONE_DEGREE
    return math.inf, ""


def _searched(task: _Task, spaces: list[Space], known: list[Point], zonal: list[Point], words: str) -> Searched:
    """Return the states met in some spaces beside known states and zonal ones just found."""
    places: list[Point | None] = [*known, *zonal]
    if task.problem.confinement is None:
        places.insert(0, None)
    size = spaces[0].size if spaces else 1
    search = Search(spaces, [_invariants(point, size) for point in places])
    search.run()
    states = list(zip(places, search.met, strict=False))
    lost = _placed(task, search, states, len(places))
    missing = _missing(task, states)
    for _ in range(AGAIN if missing == MISSING else 0):
        seen = len(search.met)
        search.go_on()
        lost += _placed(task, search, states, seen)
        missing = _missing(task, states)
        if missing != MISSING:
            break
    new = [*zonal, *(place for place, _ in states[len(places) :] if place is not None)]
    minima = [met.relaxations for point, met in states if _stable(task, point)]
    runs = [met.runs for _, met in states]
    # Where degrees are missing, states of the search need not be any of the equation.
    unresolved = f"{lost} states that were met could not be resolved and are not listed"
    doubt = unresolved if lost and not task.field.cut else missing
    apart = task.problem.domain.has_azimuth and all(space.resolves_all for space in spaces)
    lost += sum(space.lost for space in spaces)
    relaxed = Tally.of(minima) if has_free_energy(task.problem) else None
    return Searched(new, words, Tally.of(runs), relaxed, doubt=doubt, lost=lost, by_symmetry=apart)


def _placed(task: _Task, search: Search, states: list[tuple[Point | None, Met]], seen: int) -> int:
    """Add the states that a search met, from some place on, to those of the equation; return how many were lost."""
    lost = 0
    # With the modes that densities need the grids grow, so that each is made once.
    for met in sorted(search.met[seen:], key=task.modes):
        point = _polished(task, met)
        lost += point is None
        if point is None or not symmetry_of(point):
            continue
        twin = next((other for place, other in states if place is not None and same_orbit(place, point)), None)
        if twin is None:
            states.append((point, met))
        else:
            twin.runs, twin.relaxations = twin.runs + met.runs, twin.relaxations + met.relaxations
    return lost


def _missing(task: _Task, states: list[tuple[Point | None, Met]]) -> str:
    """Return the sentence that states are missing in a confinement without an axis, else the empty text.

    The sum of (-1)^index over all states, with all of their images, is 1. Where the confinement is weak beside the
    rounding of the search, states that it turns to different places are told apart by nothing.
    """
    if task.problem.zonal or task.field.cut:
        return ""
    lengths = task.field.confinement
    if lengths is not None and float(lengths.sum()) < WEAK:
        return HELD
    points = [point for point, _ in states if point is not None]
    counts = [sum(point.equation.densities.unstable_counts(point)) for point in points]
    total = sum((-1) ** count * copies_of(point) for count, point in zip(counts, points, strict=True))
    return "" if total == 1 else MISSING


def _invariants(point: Point | None, size: int) -> Floats:
    """Return the invariants of a state, as in the search; None stands for the uniform one."""
    found = np.zeros(size)
    if point is not None:
        sizes = lengths(point)[:size]
        found[: sizes.size] = sizes
        found[0] = point.invariant
    return found


def _stable(task: _Task, point: Point | None) -> bool:
    """Return whether a state, the uniform one if it is None, is stable among the densities that are searched."""
    if point is None:
        return not unstable_uniform(task.problem, task.coupling)
    densities = point.equation.densities
    if not task.problem.domain.has_azimuth:
        return not densities.unstable_counts(point)[0]
    return densities.is_stable(point)


def _polished(task: _Task, met: Met) -> Point | None:
    """Return the state near one that was met, converged in its own symmetry with all degrees, or None if lost."""
    problem, sign, coupling, even = task.problem, task.sign, task.coupling, task.even
    group, cosine, sine = met.group, met.cosine, met.sine
    placed = task.field.placed
    if group is not None and placed is not None and not placed.zonal:
        group = fixing(allowed_groups(task.field), group, cosine, sine)
    elif group is not None:
        group, cosine, sine = recognised(group, cosine, sine, problem.confinement is not None, even)
        if group is None:
            along = zonal_places(largest_degree(cosine.size))
            cosine, sine = cosine[along], sine[along]
    if group is None:
        odd = np.flatnonzero(np.abs(cosine[1::2]) > ODD)
        if odd.size and problem.confinement is None and cosine[1 + 2 * odd[0]] < 0.0:
            # Turned over, it stands as the branch does that is born with this degree.
            cosine = cosine * (1.0 - 2.0 * (np.arange(cosine.size) % 2))
        equation = stationary_equation(task.geometry, problem, 1 if odd.size or not even else 2, sign)
    else:
        equation = task.equation(group, task.modes(met))
    if equation is None:
        return None
    start = equation.unknown_with(cosine, sine)
    point = state_at(equation, start, equation.q_at(coupling))
    return point if isinstance(point, Point) else None
