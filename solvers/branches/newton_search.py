r"""The search for states in a confinement where there is no free energy that relaxations could descend.

Newton's method from random starts meets states of any kind, stable or not, among densities even about the axis of
the confinement and, under a law with a Gibbs map, among all of them. The rounds end when each
state has been met twice and less than a quarter of one is expected unseen, see :mod:`solvers.searched`. In between
it is started, the known states deflated, from the antipodes of the states: in a weak confinement clusters stand at
each of its critical points, and only those at its minima lie on the branch that begins without interaction.

States are the fixed points of a compact map that is homotopic to a constant, the density without interaction.
Where none is degenerate their indices add up to one (Leray and Schauder),

.. math:: \sum (-1)^{\mathrm{unstable}} = 1,

among even densities with the unstable directions among these: complex pairs do not count. Rounds go on while the
sum is wrong, for then states are missing.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from meanfield import Equation, Number

from ..bases import Floats
from ..equation import StationaryEquation
from ..geometry import Geometry
from ..searched import Searched, Tally
from ..significant import confining_symmetry
from ..sizing import stationary_equation
from .continuation import Point
from .deflation import deflated_newton, resolved_at, search
from .orbits import same_orbit

EVEN, ALL = "densities even about an axis", "all densities"
STARTS, ROUNDS = 24, 8
SEED = 0
# Moments that runs resolve, at most; states that need more are refined.
MOST_MODES = 256
# Decades of the sizes of random fields, and of the times of diffusion that spread points to clusters.
FIELDS, SPREADS = (-1.0, 1.0), (-2.5, 0.0)
# Clusters of a start at most.
CLUSTERS = 3
MISSING = "some are missing, for the indices of those found do not add up (Leray and Schauder)"


def search_states(
    geometry: Geometry, problem: Equation, sign: int, coupling: Number, known: list[Point]
) -> Searched:
    """Return the states at a coupling that are not known, by the geometry or, where it has no search, by Newton.

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
    if geometry.searches(problem):
        return geometry.search_all(problem, sign, coupling, known)
    sizes = (point.equation.basis.symmetry * point.equation.basis.nodes // 2 for point in known)
    modes = min(max(sizes, default=0), MOST_MODES)
    made = partial(stationary_equation, geometry, problem, 1, sign, modes=modes)
    even = made()
    if even is None:
        return Searched([], EVEN, theorem="the potential acts on no density")
    found = _States(coupling, known, even)
    found.search(even)
    uneven = made(even=False) if even.basis.even else None
    if uneven is None or uneven.basis.even:
        among, last = EVEN if even.basis.even else ALL, even
    else:
        found.search(uneven)
        among, last = ALL, uneven
    return Searched(found.new, among, found.tally, doubt=found.doubt(last), lost=found.lost)


class _States:
    """The states of a problem at a coupling, those known before and those met by runs of Newton's method."""

    def __init__(self, coupling: Number, known: list[Point], even: StationaryEquation) -> None:
        self._coupling, self._even = coupling, even
        self.points = list(known)
        self._before = len(self.points)
        self.runs = [0] * len(self.points)
        self.lost = 0

    @property
    def new(self) -> list[Point]:
        """The states that were not known before."""
        return self.points[self._before :]

    @property
    def tally(self) -> Tally:
        """The tally of all states."""
        return Tally.of(self.runs)

    def search(self, equation: StationaryEquation) -> None:
        """Run Newton's method among the densities of an equation until the tally is settled."""
        generator, q = np.random.Generator(np.random.PCG64(SEED)), equation.q_at(self._coupling)
        for _ in range(ROUNDS):
            for start in _starts(equation, STARTS, generator):
                self._meet(equation, deflated_newton(equation, start, q, []))
            for point in list(search(equation, q, self._within(equation), self._antipodes(equation))):
                self._place_of(point)
            if self.tally.settled and not self.doubt(equation):
                return

    def doubt(self, equation: StationaryEquation) -> str:
        """Return the sentence that states are missing among densities of an equation; empty if none are known to.

        Images of states under a rotation that keeps the confinement are not told apart; there it is always empty.
        """
        if confining_symmetry(equation.problem) != 1:
            return ""
        even, mirrored = equation.basis.even, self._even.basis.even
        points = [point for point in self.points if point.equation.basis.even or not even]
        if not all(point.equation.densities.is_counted(point) for point in points):
            return ""
        total = 0
        for point in points:
            along, across = point.equation.densities.unstable_counts(point)
            copies = 2 if mirrored and not point.equation.basis.even else 1
            total += copies * (-1) ** (along if even else along + across)
        return "" if total == 1 else MISSING

    def _meet(self, equation: StationaryEquation, end: Floats | None) -> None:
        """Count the end of a run at its state, which is added if it is new."""
        if end is None:
            return
        point = resolved_at(equation, end, equation.q_at(self._coupling))
        if point is None:
            self.lost += 1
            return
        self.runs[self._place_of(point)] += 1

    def _place_of(self, point: Point) -> int:
        """Return the index of a state among the known ones, to which it is added if it is new."""
        for place, other in enumerate(self.points):
            if same_orbit(point, other):
                return place
        self.points.append(self._evened(point))
        self.runs.append(0)
        return len(self.points) - 1

    def _evened(self, point: Point) -> Point:
        """Return a state among even densities if it is even, else as it is."""
        even = self._even
        if point.equation.basis.even or not even.basis.even:
            return point
        upon = resolved_at(even, even.unknown_with(*point.by_degree), even.q_at(self._coupling))
        return upon if upon is not None and same_orbit(upon, point) else point

    def _within(self, equation: StationaryEquation) -> list[Floats]:
        """Return the known states among the densities of an equation in its unknowns."""
        even = equation.basis.even
        return [point.unknown_in(equation) for point in self.points if point.equation.basis.even or not even]

    def _antipodes(self, equation: StationaryEquation) -> list[Floats]:
        """Return the known states with their odd degrees reversed: by half a turn, or at the equator."""
        return [b * (-1.0) ** equation.basis.degrees for b in self._within(equation)]


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
