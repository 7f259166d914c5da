r"""The search for states that no branch leads to, among all densities on the circle.

The search itself is that of :mod:`solvers.root_finding.search`; the number of starts of a round is in proportion to
that of the modes that attract. Ends are told apart by energy and lengths of moments, in a confinement by their
moments as well.

The states of a free energy that is bounded below obey the Morse relation: where none is degenerate,

.. math:: \sum (-1)^{\mathrm{ind}} = u

over the circles of states other than the uniform one, which has u unstable modes. An uneven state and its
reflection are two; one whose unstable directions change their orientation when it is turned onto itself does not
count. It is the relation of :math:`S^1`-equivariant Morse theory,
:math:`\sum t^{\mathrm{ind}} + t^{2u}/(1-t^2) = 1/(1-t^2) + (1+t)Q(t)`, at t = -1. With a confinement, which fixes
the angle, the sum over all states is 1. A sum that is wrong shows that states are missing.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from meanfield import Equation, Logarithmic, Number

from ..bases import Integers
from ..branches.continuation import Point
from ..branches.deflation import ARTEFACT, resolved_at
from ..branches.orbits import same_orbit, symmetry_of
from ..equations.bounds import bounded_below
from ..equations.equation import StationaryEquation
from ..equations.geometry import Geometry
from ..equations.significant import confining_symmetry
from ..equations.sizing import confinement_field, stationary_equation
from ..root_finding.search import SAME, SEED, Ends, Kind, Lost, Met, Rounds, SearchSpace, known_states, search
from ..root_finding.searched import Searched, missing
from .axes import axis_of
from .ensemble import MODES, Ensemble
from .orbits import CLOSE, copies_of, evened, images_of, row_of, upright
from .rotation import Complexes, turned
from .stability import unstable_halfway
from .starts import random_starts, starts_between, starts_on_axes, starts_without_torque

AMONG = "all densities on the circle"
# Starts of a round for each mode that attracts more than the share of its threshold, and one more.
STARTS, ATTRACTING = 32, 0.1
# On grids with more nodes there are fewer.
FINE = 512
ROUNDS = 16
# Starts between known states are the same kind of starts until one of them leads to a new state: so many rounds in
# a row without one are the last.
IDLE = 4
# Relaxations that tell how many modes of a slowly decaying potential take part: so many that the last are below
# ARTEFACT, for a state would change by more with the next ones, and be taken for an artefact.
SAMPLED = 16
# Relative distance within which a coupling is that of a family.
VERTICAL = 1e-12
HELD = "some may be missing, for the confinement, which has no axis, holds the angle of one by little but rounding"
# A state with an eigenvalue nearer to zero is taken for degenerate.
DEGENERATE = 1e-7
# Energies of one state agree to this; runs converge to 1e-9, less along flat directions.
SAME_ENERGY = 1e-8
# Moments below this are none, as components across an axis.
VANISHING = 1e-6
# Ends that turn out to be no states on a finer grid, as those of densities too narrow for it, are not many.
POLISHED = 256
# A state that a confinement holds by less than this may stand anywhere for all that rounding tells. It is not
# taken, but so many of them are turned to the axes of the confinement, where there are exact ones.
FLAT, LOOSE = 1e-9, 16
# Of those held by less than this there are others at other axes.
WEAK = 1e-2


def search_covers(geometry: Geometry, problem: Equation, coupling: Number) -> bool:
    """Return whether the search has all significant modes of the potential."""
    equation = stationary_equation(geometry, problem, 1, 1 if coupling > 0 else -1)
    return equation is not None and equation.complete and not equation.basis.needs_second_rule


def search_resolves(geometry: Geometry, problem: Equation, coupling: Number) -> bool:
    """Return False: densities of all symmetries are searched together, and branches may lead to others."""
    return False


def search_all(
    geometry: Geometry, problem: Equation, sign: int, coupling: Number, known: list[Point], *, minima: bool = False
) -> Searched:
    """Return the states at a coupling that are not known, with what was searched."""
    equation = stationary_equation(geometry, problem, 1, sign)
    if equation is None:
        return Searched([], AMONG, theorem="the potential acts on no density")
    space = Densities(geometry, problem, sign, coupling, equation)
    return search(space, known_states(space, known, not space.ensemble.confined), minima=minima)


class Densities(SearchSpace[Point]):
    """All densities on the circle."""

    among = AMONG
    rounds = Rounds(1, ROUNDS, ROUNDS)
    are_same = staticmethod(same_orbit)

    def __init__(
        self, geometry: Geometry, problem: Equation, sign: int, coupling: Number, equation: StationaryEquation
    ) -> None:
        self._geometry, self._problem, self._sign, self._coupling = geometry, problem, sign, coupling
        self.ensemble = ensemble = _resolving(problem, equation, coupling)
        self.bound = _most_states(problem, equation.complete, equation.basis.cells.size, ensemble)
        self._confining, self._axis = confining_symmetry(problem), axis_of(problem)
        count = STARTS * (1 + int(np.count_nonzero(ensemble.strengths > ATTRACTING)))
        count = max(STARTS, min(count, count * FINE // ensemble.nodes))
        self.starts = {Kind.NEWTON: count, Kind.RELAXED: count // 2}
        self._loose: Complexes = np.zeros((0, ensemble.degrees.size), dtype=complex)
        self._turned = self._polished = 0
        self._axes = self._possible_axes()
        self._equations: dict[tuple[int, float | None], StationaryEquation | None] = {}

    def ends(
        self, kind: Kind, rounds: int, met: Sequence[Met[Point]], generator: np.random.Generator
    ) -> Iterator[Ends]:
        """Yield the ends of the runs of some rounds."""
        ensemble, idle = self.ensemble, 0
        for _ in range(rounds):
            states, known = self._rows([each.state for each in met]), len(met)
            if kind is not Kind.BETWEEN:
                starts = random_starts(ensemble, self.starts[kind], generator)
                if kind is Kind.RELAXED:
                    starts = ensemble.relaxed(starts)
            elif len(met):
                starts = starts_between(ensemble, states, self.starts[Kind.NEWTON], generator)
            else:
                continue
            yield self._ends_of(self._held(ensemble.solved(starts), states, met))
            idle = idle + 1 if len(met) == known else 0
            if kind is Kind.BETWEEN and idle == IDLE:
                break
        if kind is Kind.BETWEEN and ensemble.confined:
            pinned = starts_on_axes if ensemble.reflects else starts_without_torque
            rows = self._rows([each.state for each in met])
            starts = pinned(ensemble, self._weakly_held(rows))
            yield self._ends_of(self._held(ensemble.solved(starts), rows, met))

    def _ends_of(self, rows: Complexes) -> Ends:
        """Return ends with their invariants."""
        parts = [(SAME / SAME_ENERGY) * self.ensemble.gaps(rows)[:, None], np.abs(rows)]
        if self.ensemble.confined:
            # Of the images under the confinement the one whose sine moments are the largest stands for all.
            weights = 1.0 / (1.0 + np.arange(self.ensemble.degrees.size))
            images = images_of(rows, self.ensemble.degrees, self._confining, self._axis)
            first = np.argmax(images.imag @ weights, axis=1)
            chosen = (SAME / CLOSE) * images[np.arange(len(rows)), first]
            parts += [chosen.real, chosen.imag]
        return Ends(rows, np.concatenate(parts, axis=1))

    def _held(self, rows: Complexes, states: Complexes, met: Sequence[Met[Point]]) -> Complexes:
        """Return the rows whose angle the confinement determines, and keep some of the others in mind.

        In the place of these are those of the state on an axis that has their energy, of a stable one first.
        """
        ensemble = self.ensemble
        if not ensemble.confined:
            return rows
        even = (rows.imag == 0.0).all(axis=1) & ensemble.reflects
        held = even | (ensemble.flattest(rows) > FLAT)
        energies, found = ensemble.gaps(states), [rows[held]]
        for energy in ensemble.gaps(rows[~held]):
            alike = np.flatnonzero(np.abs(energies - energy) < SAME_ENERGY * max(1.0, abs(energy)))
            if alike.size:
                place = max(alike.tolist(), key=lambda place: met[place].stable)
                found.append(states[place : place + 1])
        self._loose = np.concatenate([self._loose, rows[~held]])[:LOOSE]
        return np.concatenate(found)

    def _weakly_held(self, rows: Complexes) -> Complexes:
        """Return the states whose angle a confinement determines weakly or not at all, each once."""
        new = rows[self._turned :]
        weak = np.concatenate([new[self.ensemble.flattest(new) < WEAK], self._loose])
        self._turned, self._loose = len(rows), self._loose[:0]
        return weak

    def states_at(self, ends: Ends) -> list[Point | Lost | None]:
        """Return the states near ends, converged in their symmetry."""
        return [self._state_at(row) for row in ends.rows]

    def _state_at(self, row: Complexes) -> Point | Lost | None:
        """Return the state near a row, converged in its symmetry or, if that fails, without."""
        self._polished += 1
        if self._polished > POLISHED:
            return Lost.ARTEFACT
        moments = self.ensemble.moments(row[None])[0]
        symmetry = self._symmetry(moments)
        evened = ((axis, self._evened(moments, axis)) for axis in self._axes)
        axis, upon = next(((axis, upon) for axis, upon in evened if upon is not None), (None, moments))
        if axis is not None and not self.ensemble.confined:
            upon = upright(upon, symmetry, VANISHING)
        point = self._found(upon, symmetry, axis)
        if point is None and axis is not None:
            point = self._found(moments, symmetry, None)
        if point is None:
            return Lost.ARTEFACT
        return point if self.ensemble.confined or symmetry_of(point) else None

    def _possible_axes(self) -> list[float]:
        """Return the angles of the axes about which densities may be even; any, for which 0 stands, if free."""
        if not self.ensemble.confined:
            return [0.0]
        # Rotations of the confinement by 2 pi/m turn its axes, which are pi/m apart.
        count = max(1, self._confining)
        return [] if self._axis is None else [self._axis + np.pi * place / count for place in range(count)]

    def _evened(self, moments: Complexes, axis: float) -> Complexes | None:
        """Return the moments of a density with the given axis, if it is free turned so; None if it has none."""
        if not axis:
            return evened(moments, VANISHING, turning=not self.ensemble.confined)
        along = evened(turned(moments, -axis), VANISHING, turning=False)
        return None if along is None else turned(along, axis)

    def _found(self, moments: Complexes, symmetry: int, axis: float | None) -> Point | None:
        if (symmetry, axis) not in self._equations:
            cells = int(self.ensemble.degrees[-1]) // symmetry
            self._equations[symmetry, axis] = stationary_equation(
                self._geometry,
                self._problem,
                symmetry,
                self._sign,
                even=axis is not None,
                axis=axis or 0.0,
                unknowns=cells,
            )
        equation = self._equations[symmetry, axis]
        if equation is None:
            # The potential acts on no density of that symmetry, which is one of the confinement.
            return None if symmetry == 1 else self._found(moments, 1, axis)
        b = equation.unknown_with(moments.real, -moments.imag)
        return resolved_at(equation, b, equation.q_at(self._coupling))

    def _symmetry(self, moments: Complexes) -> int:
        """Return n of the rotation symmetry of moments that the problem has as well."""
        significant: Integers = np.flatnonzero(np.abs(moments[1:]) > VANISHING) + 1
        return max(1, math.gcd(int(np.gcd.reduce(significant, initial=0)), self._confining))

    def _rows(self, states: Sequence[Point | None]) -> Complexes:
        """Return the moments of states in the rows of the ensemble."""
        degrees = self.ensemble.degrees
        rows = np.zeros((len(states), degrees.size), dtype=complex)
        for row, point in zip(rows, states, strict=True):
            if point is not None:
                row[:] = row_of(point, int(degrees[-1]))[degrees]
        return rows

    def is_stable(self, state: Point | None) -> bool:
        """Return whether a state is stable."""
        if state is None:
            return bool((self.ensemble.strengths <= 1.0).all())
        return not any(state.equation.densities.unstable_counts(state))

    def doubt(self, states: Sequence[Point | None], unresolved: int) -> str:
        """Return the sentence that states are or may be missing, else the empty text.

        They are if the Morse relation fails, and may be if a confinement without axis hardly holds one's angle.
        """
        ensemble, symmetry = self.ensemble, self._confining
        bounded = bounded_below(self._problem.at(coupling=float(self._coupling)))
        if not states or not bounded or (ensemble.confined and not symmetry):
            return ""
        if ensemble.flattest(self._rows(states)).min() < DEGENERATE:
            return HELD if ensemble.confined and self._axis is None else ""
        expected = 1 if ensemble.confined else int(np.count_nonzero(ensemble.strengths > 1.0))
        points = [point for point in states if point is not None]
        if not ensemble.confined:
            points = [point for point in points if unstable_halfway(point) % 2 == 0]
        counts = [sum(point.equation.densities.unstable_counts(point)) for point in points]
        total = sum((-1) ** count * copies_of(point, symmetry) for count, point in zip(counts, points, strict=True))
        return "" if total == expected else missing(self._problem)


def _resolving(problem: Equation, equation: StationaryEquation, coupling: Number) -> Ensemble:
    """Return the ensemble of an equation, of a slowly decaying potential with the modes that its clusters need.

    States at stronger couplings have more modes, and without these no run ends at a state.
    """
    generator = np.random.Generator(np.random.PCG64(SEED))
    while True:
        q = equation.q_at(coupling)
        # Angles count from 0, and not from the axis of a basis.
        ensemble = Ensemble(equation, q, confinement_field(problem, 1, equation.basis.nodes))
        reach = int(equation.basis.degrees[-1])
        if equation.complete or reach >= MODES:
            return ensemble
        relaxed = ensemble.relaxed(random_starts(ensemble, SAMPLED, generator))
        if ensemble.last_modes(relaxed) < ARTEFACT:
            return ensemble
        larger = stationary_equation(equation.geometry, problem, 1, equation.sign, unknowns=2 * reach)
        assert larger is not None
        equation = larger


def _most_states(problem: Equation, complete: bool, modes: int, ensemble: Ensemble) -> tuple[float, str]:
    r"""Return a bound of the number of states and the theorem for it; infinity if none applies.

    The second variation of F/D is :math:`\int u^2/\rho - 2\sum\lambda_k|\hat u_k|^2` with
    :math:`|\hat u_k|^2 \le \int u^2/\rho`. On a single mode n, :math:`r = I_1(x)/I_0(x)`, :math:`x = 2\lambda r`,
    has one positive solution beyond the threshold and none below. For the attractive logarithm,
    :math:`\lambda_k = s/k`, the states obey :math:`(k - s) c_k = s\sum_{j<k} c_j c_{k-j}`: all vanish, but where s
    is an integer n, and there they are Poisson kernels in n t, a family.
    """
    strengths = ensemble.strengths
    exact = isinstance(problem.potential, Logarithmic)
    if not np.any(strengths > 0.0) and (complete or exact):
        return 1.0, "no mode attracts, so that the free energy is strictly convex"
    if complete and 2.0 * float(strengths[strengths > 0.0].sum()) < 1.0:
        return 1.0, "2 sum lambda_k < 1 over the modes that attract, so that the free energy is strictly convex"
    if ensemble.confined:
        return math.inf, ""
    if complete and modes == 1:
        return 1.0 + float(strengths[0] > 1.0), "one mode alone: uniform and, beyond its threshold, one cluster"
    if exact and strengths[0] > 0.0:
        family = abs(strengths[0] - round(strengths[0])) <= VERTICAL * strengths[0]
        return 1.0 + float(family), "exact states of the logarithm: uniform and, at kappa = 2 D n, one family"
    return math.inf, ""
