r"""The search for states in a confinement where there is no free energy that relaxations could descend.

Newton's method from random starts meets states of any kind, stable or not, among densities even about the axis of
the confinement and, under a law with a Gibbs map, among all of them. The rounds end when each state has been met
twice and less than a quarter of one is expected unseen, see :mod:`solvers.root_finding.searched`. In between it is
started, the known states deflated, from the antipodes of the states: in a weak confinement clusters stand at each
of its critical points, and only those at its minima lie on the branch that begins without interaction.

States are the fixed points of a compact map that is homotopic to a constant, the density without interaction.
Where none is degenerate their indices add up to one (Leray and Schauder),

.. math:: \sum (-1)^{\mathrm{unstable}} = 1,

among even densities with the unstable directions among these: complex pairs do not count. Rounds go on while the
sum is wrong, for then states are missing.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter

import numpy as np

from meanfield import Equation, Number

from ..bases import Floats
from ..equations.equation import StationaryEquation
from ..equations.geometry import Geometry
from ..equations.significant import confining_symmetry
from ..equations.sizing import stationary_equation
from ..root_finding.search import Ends, Kind, Lost, Met, Rounds, SearchSpace, known_states, search
from ..root_finding.searched import Searched, missing
from .continuation import Point
from .deflation import deflated_newton, resolved_at
from .deflation import search as deflated_search
from .orbits import same_orbit, symmetry_of

EVEN, ALL = "densities even about an axis", "all densities"
STARTS, ROUNDS = 24, 8
# Moments that runs resolve, at most; states that need more are refined.
MOST_MODES = 256
# Decades of the sizes of random fields, and of the times of diffusion that spread points to clusters.
FIELDS, SPREADS = (-1.0, 1.0), (-2.5, 0.0)
# Clusters of a start at most.
CLUSTERS = 3


def search_states(
    geometry: Geometry, problem: Equation, sign: int, coupling: Number, known: list[Point]
) -> Searched:
    """Return the states at a coupling that are not known, by the geometry or, where it has no search, by Newton.

    They are in the order of their free energies, or what stands for these, so that no name of theirs is by chance.

    Parameters
    ----------
    geometry
        That of the domain.
    problem, sign
        The equation, which the geometry searches or which has a confinement, and the sign of the couplings.
    coupling
        The coupling.
    known
        States known before.
    """
    known = [point for point in known if symmetry_of(point)]
    if geometry.searches(problem):
        searched = geometry.search_all(problem, sign, coupling, known)
    else:
        searched = _search_without_energy(geometry, problem, sign, coupling, known)
    return searched._replace(points=sorted(searched.points, key=attrgetter("invariant")))


def _search_without_energy(
    geometry: Geometry, problem: Equation, sign: int, coupling: Number, known: list[Point]
) -> Searched:
    """Return the states at a coupling that are not known, of an equation in a confinement."""
    sizes = (point.equation.basis.symmetry * point.equation.basis.nodes // 2 for point in known)
    modes = min(max(sizes, default=0), MOST_MODES)
    made = partial(stationary_equation, geometry, problem, 1, sign, modes=modes)
    even = made()
    if even is None:
        return Searched([], EVEN, theorem="the potential acts on no density")
    space = _Densities(even, even, coupling)
    met = known_states(space, known, uniform=False)
    before, searched = len(met), search(space, met)
    uneven = made(even=False) if even.basis.even else None
    if uneven is not None and not uneven.basis.even:
        searched = search(_Densities(uneven, even, coupling), met)
    return searched._replace(points=[each.state for each in met[before:]])


class _Densities(SearchSpace[Point]):
    """The densities of an equation at a coupling.

    Parameters
    ----------
    equation
        The equation on them.
    even
        That among even densities, where states that are even are solved for.
    coupling
        The coupling.
    """

    rounds = Rounds(1, ROUNDS, ROUNDS)
    are_same = staticmethod(same_orbit)

    def __init__(self, equation: StationaryEquation, even: StationaryEquation, coupling: Number) -> None:
        self._equation, self._even, self._coupling = equation, even, coupling
        self._q, self.starts = equation.q_at(coupling), {Kind.NEWTON: STARTS}
        self.among = EVEN if equation.basis.even else ALL

    def ends(
        self, kind: Kind, rounds: int, met: Sequence[Met[Point]], generator: np.random.Generator
    ) -> Iterator[Ends]:
        """Yield the ends of Newton's method: from random starts, or known states deflated, from their antipodes."""
        equation = self._equation
        if kind is Kind.NEWTON:
            starts = _starts(equation, rounds * STARTS, generator)
            runs = [deflated_newton(equation, start, self._q, []) for start in starts]
            rows = [end for end in runs if end is not None]
        else:
            points = [each.state for each in met if each.state is not None]
            points = [point for point in points if point.equation.basis.even or not equation.basis.even]
            known = [point.unknown_in(equation) for point in points]
            # By half a turn, or at the equator.
            antipodes = [b * (-1.0) ** equation.basis.degrees for b in known]
            rows = [point.unknown_in(equation) for point in deflated_search(equation, self._q, known, antipodes)]
        ends = np.array(rows).reshape(-1, equation.scales.size)
        yield Ends(ends, ends)

    def states_at(self, ends: Ends) -> list[Point | Lost | None]:
        """Return the states near ends."""
        return [self._state_at(row) for row in ends.rows]

    def _state_at(self, end: Floats) -> Point | Lost:
        """Return the state near an end, among even densities if it is even."""
        point = resolved_at(self._equation, end, self._q)
        if point is None:
            return Lost.ARTEFACT
        even = self._even
        if point.equation.basis.even or not even.basis.even:
            return point
        upon = resolved_at(even, even.unknown_with(*point.by_degree), even.q_at(self._coupling))
        return upon if upon is not None and same_orbit(upon, point) else point

    def doubt(self, states: Sequence[Point | None], unresolved: int) -> str:
        """Return the sentence that states are missing; empty if none are known to be.

        Images of states under a rotation that keeps the confinement are not told apart; there it is always empty.
        """
        if confining_symmetry(self._equation.problem) != 1:
            return ""
        even, mirrored = self._equation.basis.even, self._even.basis.even
        points = [point for point in states if point is not None and (point.equation.basis.even or not even)]
        if not all(point.equation.densities.is_counted(point) for point in points):
            return ""
        total = 0
        for point in points:
            along, across = point.equation.densities.unstable_counts(point)
            copies = 2 if mirrored and not point.equation.basis.even else 1
            total += copies * (-1) ** (along if even else along + across)
        return "" if total == 1 else missing(self._equation.problem)


def _starts(equation: StationaryEquation, count: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Yield random densities in the unknowns of an equation: of random fields, and of a few clusters."""
    basis, size = equation.basis, equation.scales.size
    domain = equation.problem.domain
    decay = np.array([float(domain.laplacian_eigenvalue(int(degree))) for degree in basis.degrees])
    for _ in range(count // 2):
        field = 10.0 ** generator.uniform(*FIELDS) * generator.standard_normal(size) * equation.scales
        field *= generator.uniform(size=size) < generator.uniform(0.2, 1.0)
        yield equation.unknown_from(basis.gibbs(field).moments)
        number = int(generator.integers(1, CLUSTERS + 1))
        weights = generator.dirichlet(np.ones(number))
        heat = np.exp(decay * 10.0 ** generator.uniform(*SPREADS))
        yield equation.scales * heat * (_modes_at(equation, generator, number) @ weights)


def _modes_at(equation: StationaryEquation, generator: np.random.Generator, number: int) -> Floats:
    """Return the modes at random angles, (size, number), often at the ends of a meridian."""
    basis = equation.basis
    if basis.axial is None:
        angles = generator.uniform(0.0, 2.0 * np.pi, number)
        phases = np.multiply.outer(np.split(basis.degrees, 2)[0], angles)
        return np.concatenate([np.cos(phases), np.sin(phases)])
    extent = basis.axial.extent
    angles = np.clip(generator.uniform(-0.5, 1.5, number), 0.0, 1.0) * extent
    return basis.axial.modes_at(angles)[0]
