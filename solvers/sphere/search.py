"""The search for states of a sphere that no branch leads to, and its completeness.

States about an axis are searched in every dimension, on S^2 all others too. What is met is brought into the
orientation of its symmetry and solved for among the densities that have it.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from meanfield import Equation, Number, Outcome, Sphere
from meanfield.equations import Capability, has_free_energy
from meanfield.harmonics import largest_degree, packed, zonal_places

from ..bases import EPS, Floats, Integers
from ..bases.representations import Group
from ..branches.continuation import REFINEMENTS, Point, state_at
from ..branches.orbits import lengths, same_orbit, symmetry_of
from ..branches.uniform import unstable_uniform
from ..equations.equation import StationaryEquation
from ..equations.geometry import Geometry
from ..equations.significant import confining_symmetry
from ..equations.sizing import stationary_equation
from ..root_finding.search import Catalogue, Ends, Kind, Lost, Met, Rounds, SearchSpace, known_states, search
from ..root_finding.searched import Searched, Tally, missing
from .identity import copies_of
from .points import WIDER, Field
from .polyhedral import invariant_equation
from .recognition import fixing, recognised
from .symmetric import SymmetricDensities, about_an_axis, allowed_groups, among_harmonics, field_of, resolves_all
from .zonal_search import zonal_states

# Degrees of the search; larger ones are left to the polishing of what is met.
LARGEST_DEGREE, LARGEST_ZONAL_DEGREE = 8, 48
# Odd moments below this are rounding noise of a state even about the equator.
ODD = 1e-6
# The tail beyond the degrees that a density needs is an eighth of all, in steps of some degrees: states that need
# nearly as many share one basis.
TAIL, STEP = 8.0 / 7.0, 32
# Shares of the modes that curvatures ask for at the most, tried in turn: the terms of a field are seldom all curved
# most at one point.
SHARES = (0.85, 1.0)
# Rounds at the most; of a search that misses states they are made again so often.
ROUNDS, AGAIN = 6, 3
# Where there are few symmetries each is given more starts, as many times as these many over their number.
SHARED = 24
# Relaxations of a round.
RELAXED = 24
# Turns of each known state.
TURNS = 8
# A confinement smaller than this in all, in units of D, moves states by no more than what counts as the same.
WEAK = 1e-4
# In a weaker one energies and lengths of moments of states that it turns to different places may agree: those of
# a cubic state in h P_1 differ by 4e-3 h^2.
STRONG = 0.1
HELD = "some may be missing, for the confinement, which has no axis, holds states by little more than rounding"
ALIKE = " (of those that so weak a confinement turns to different places some may count as one)"
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
    """Return whether the search has all significant degrees and what it meets has a name by its symmetry.

    About an axis all states have the same symmetry, and only the branches tell which degree one was born with. They
    also lead to states between which Newton's method from random starts seldom ends.
    """
    return problem.domain.has_azimuth and not _field(problem, coupling).cut


def search_resolves(geometry: Geometry, problem: Equation, coupling: Number) -> bool:
    """Return whether the search has all densities, in every symmetry apart, resolves them and tells them apart."""
    field = _field(problem, coupling)
    strong = field.confinement is None or field.confining_size >= STRONG
    return problem.domain.has_azimuth and strong and not field.cut and resolves_all(field)


def search_all(
    geometry: Geometry, problem: Equation, sign: int, coupling: Number, known: list[Point], *, minima: bool = False
) -> Searched:
    """Return the states at a coupling that are not known, about an axis and on S^2 among all densities."""
    field = _field(problem, coupling)
    most, theorem = _most_states(problem, field)
    if len(known) + (problem.confinement is None) >= most:
        return Searched([], "", theorem=theorem)
    zonal = zonal_states(geometry, problem, sign, coupling, field, known) if problem.zonal and not minima else []
    space = Densities(geometry, problem, sign, coupling, field)
    met = known_states(space, [*known, *zonal], problem.confinement is None)
    space.know(met)
    searched = search(space, met, minima=minima)
    return searched._replace(points=[*zonal, *searched.points])


def _field(problem: Equation, coupling: Number) -> Field:
    """Return the field of a problem at a coupling, up to the degree to which it is searched."""
    return field_of(problem, coupling, LARGEST_DEGREE if problem.domain.has_azimuth else LARGEST_ZONAL_DEGREE)


class Densities(SearchSpace[Point]):
    """The densities on a sphere, of every symmetry apart: on S^2 all, in other dimensions those about an axis."""

    rounds = Rounds(2, ROUNDS, (1 + AGAIN) * ROUNDS)
    are_same = staticmethod(same_orbit)

    def __init__(self, geometry: Geometry, problem: Equation, sign: int, coupling: Number, field: Field) -> None:
        self._geometry, self._problem, self._sign, self._coupling = geometry, problem, sign, coupling
        self._field, self.bound = field, _most_states(problem, field)
        self._even = confining_symmetry(problem) % 2 == 0
        self._fine, self._states = Catalogue(), list[Point | Lost | None]()
        self._equations: dict[Group, StationaryEquation | None] = {}
        # Those of the least symmetry are the last.
        if problem.domain.has_azimuth:
            self._parts = among_harmonics(field)
            last = field.strengths.size - 1
            self.among = f"all densities on the sphere, in {len(self._parts)} symmetries up to degree {last}"
            if problem.zonal and field.confinement is not None and not field.holds:
                self.among += ALIKE
        else:
            self._parts = about_an_axis(Sphere(problem.domain.dimension), field, self._even)
            self.among = "densities about an axis (others were not searched)"
        share = max(1, round(SHARED / max(1, len(self._parts))))
        self._shares = [part.starts(share) for part in self._parts]
        # None where no densities can have more than one state.
        self.starts = {Kind.NEWTON: sum(self._shares)} if self._parts else {}
        if self._parts and has_free_energy(problem):
            self.starts[Kind.RELAXED] = RELAXED
        self._most = ROUNDS * sum(self._shares)
        # How many states have been turned in each part.
        self._turned_in = [0] * len(self._parts)

    def know(self, met: Sequence[Met[Point]]) -> None:
        """Take note of states that are known, so that they are not solved for once more."""
        for each in met:
            if self._fine.places(self._invariants(each.state)[None])[0] == len(self._states):
                self._states.append(each.state)

    def ends(
        self, kind: Kind, rounds: int, met: Sequence[Met[Point]], generator: np.random.Generator
    ) -> Iterator[Ends]:
        """Yield the ends of the runs of some rounds, those of Newton's method by symmetry."""
        if kind is Kind.NEWTON:
            for place in self._productive(met):
                part, count = self._parts[place], self._shares[place]
                yield Ends(*part.ends(part.sampled(0).random(generator, rounds * count)), place)
        elif kind is Kind.RELAXED:
            part, sampled = self._parts[-1], self._parts[-1].sampled(0)
            starts = sampled.random(generator, rounds * RELAXED)
            yield Ends(*part.ends(sampled.relaxed(starts)), len(self._parts) - 1)
        else:
            yield from self._turned(met, generator)

    def _turned(self, met: Sequence[Met[Point]], generator: np.random.Generator) -> Iterator[Ends]:
        """Yield the ends of runs from known states turned at random, where a confinement does not admit the turns.

        A weak confinement holds a state in several places, of which random starts seldom meet all where there are
        many states, that is where some of them were met once only. Those met here are turned after the next round.
        """
        if not Tally.of([each.runs for each in met]).met_once_at_most:
            return
        for place, part in enumerate(self._parts):
            new, self._turned_in[place] = met[self._turned_in[place] :], len(met)
            if part.breaks and new:
                known = [_packed(each.state) for each in new if each.state is not None]
                yield Ends(*part.ends(part.turned(known * TURNS, generator)), place)

    def _productive(self, met: Sequence[Met[Point]]) -> Sequence[int]:
        """Return the parts in which runs are to be made.

        Where there are so many states that the usual rounds cannot settle the search, those that have met states
        which were met once only, if there are any: in the others hardly anything is left.
        """
        every = range(len(self._parts))
        if sum(each.runs for each in met) + Tally.of([each.runs for each in met]).wanting <= self._most:
            return every
        rare = set[int]().union(*(each.parts for each in met if each.runs == 1))
        return sorted(rare) or every

    def states_at(self, ends: Ends) -> list[Point | Lost | None]:
        """Return the states near ends, on a grid that resolves them; those are solved for that are new there."""
        part = self._parts[ends.part]
        rows, moments, invariants = part.resolved(ends.rows, ends.invariants)
        places = self._fine.places(invariants)
        first = np.unique(places, return_index=True)[1]
        new = first[places[first] >= len(self._states)]
        self._states += [Lost.UNRESOLVED] * new.size
        self._solve(part, places[new], moments[new], invariants[new])
        found: list[Point | Lost | None] = [Lost.ARTEFACT] * len(ends.rows)
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            found[row] = self._states[place]
            if found[row] is Lost.UNRESOLVED:
                self._states[place] = Lost.AGAIN
        return found

    def _solve(self, part: SymmetricDensities, places: Integers, moments: Floats, invariants: Floats) -> None:
        """Set the states at some places, near densities of a symmetry, solved for with the modes that they need."""
        needed = self._modes(invariants)
        for share in SHARES:
            # With the modes that densities need the grids grow, so that each is made once.
            for row in np.argsort(needed, kind="stable").tolist():
                if isinstance(self._states[places[row]], Lost):
                    modes = STEP * math.ceil(share * needed[row] / STEP)
                    refinements = REFINEMENTS if share == SHARES[-1] else 0
                    solved = self._state_at(part.group, *part.by_degree(moments[row]), modes, refinements)
                    self._states[places[row]] = solved

    def is_stable(self, state: Point | None) -> bool:
        """Return whether a state is stable among the densities that are searched."""
        if state is None:
            return not unstable_uniform(self._problem, self._coupling)
        # The numbers are those of the answer as well.
        counts = state.equation.densities.unstable_counts(state)
        return not (any(counts) if self._problem.domain.has_azimuth else counts[0])

    def doubt(self, states: Sequence[Point | None], unresolved: int) -> str:
        """Return the sentence that states are or may be missing, else the empty text.

        In a confinement without an axis the sum of (-1)^index over all states, with all of their images, is 1.
        Where it is weak beside the rounding of the search, states that it turns to different places are told apart
        by nothing. Where degrees are missing, states of the search need not be any of the equation.
        """
        field = self._field
        if field.cut:
            return ""
        if unresolved:
            met = "1 state that was met is" if unresolved == 1 else f"{unresolved} states that were met are"
            return f"{met} not listed, for the grids that are allowed do not resolve so sharp a density"
        if self._problem.zonal:
            return ""
        if field.confinement is not None and field.confining_size < WEAK:
            return HELD
        points = [point for point in states if point is not None]
        counts = [sum(point.equation.densities.unstable_counts(point)) for point in points]
        total = sum((-1) ** count * copies_of(point) for count, point in zip(counts, points, strict=True))
        return "" if total == 1 else missing(self._problem)

    def _invariants(self, point: Point | None) -> Floats:
        """Return the invariants of a state as the densities of a symmetry have them."""
        field = self._field
        found = np.zeros(field.strengths.size + field.placing)
        if point is not None:
            sizes = lengths(point)[: field.strengths.size]
            found[: sizes.size] = np.where(field.strengths[: sizes.size], sizes, 0.0)
            found[0] = point.invariant
            if field.placing:
                found[field.strengths.size :] = field.placing_of(*_packed(point))
        return found

    def _modes(self, invariants: Floats) -> Floats:
        """Return the modes that densities need at the most, (n,), by the lengths of their moments.

        With fewer than a density needs the discretisation is not invariant under rotation, and a rotated density
        does not solve it.
        """
        sizes = self._field.lengths(invariants)
        return TAIL * (self._field.last + WIDER * self._field.reach(sizes, self._problem.domain.dimension, EPS))

    def _equation(self, group: Group, modes: int) -> StationaryEquation | None:
        """Return the cached equation of a group with at least a number of modes, or the most of its basis."""
        known = self._equations.get(group)
        if known is None:
            known = invariant_equation(self._geometry, self._problem, group, self._sign, modes=modes)
        elif known.basis.nodes < (nodes := min(modes, known.basis.most_nodes)):
            known = known.on(known.basis.resized(known.basis.cells, nodes))
        self._equations[group] = known
        return known

    def _state_at(
        self, group: Group | None, cosine: Floats, sine: Floats, modes: int, refinements: int
    ) -> Point | Lost | None:
        """Return the state near a density that was met, converged in its own symmetry with all degrees."""
        problem, placed = self._problem, self._field.placed
        if group is not None and placed is not None and not placed.zonal:
            group = fixing(allowed_groups(self._field), group, cosine, sine)
        elif group is not None:
            group, cosine, sine = recognised(group, cosine, sine, problem.confinement is not None, self._even)
            if group is None:
                along = zonal_places(largest_degree(cosine.size))
                cosine, sine = cosine[along], sine[along]
        if group is None:
            odd = np.flatnonzero(np.abs(cosine[1::2]) > ODD)
            if odd.size and problem.confinement is None and cosine[1 + 2 * odd[0]] < 0.0:
                # Turned over, it stands as the branch does that is born with this degree.
                cosine = cosine * (1.0 - 2.0 * (np.arange(cosine.size) % 2))
            symmetry = 1 if odd.size or not self._even else 2
            equation = stationary_equation(self._geometry, problem, symmetry, self._sign)
        else:
            equation = self._equation(group, modes)
        if equation is None:
            return Lost.UNRESOLVED
        start = equation.unknown_with(cosine, sine)
        point = state_at(equation, start, equation.q_at(self._coupling), refinements)
        if not isinstance(point, Point):
            # From where a grid holds a density that nothing else does there may be no way to a state.
            return Lost.ARTEFACT if point.outcome is Outcome.DIVERGED else Lost.UNRESOLVED
        return point if symmetry_of(point) else None


def _packed(point: Point) -> tuple[Floats, Floats]:
    """Return the packed moments of a state on S^2."""
    cosine, sine = point.by_degree
    return (cosine, sine) if point.equation.basis.invariants is not None else (packed(cosine), packed(sine))


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
