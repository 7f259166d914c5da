"""The states met by runs from random starts: distinguished, converged in their symmetry and counted."""

import math

import numpy as np

from meanfield import Equation, Number

from ..bases import Integers
from ..branches.continuation import Point
from ..branches.deflation import resolved_at
from ..branches.orbits import same_orbit, symmetry_of
from ..equation import StationaryEquation
from ..geometry import Geometry
from ..searched import Tally
from ..significant import confining_symmetry
from ..sizing import stationary_equation
from .axes import axis_of
from .ensemble import Ensemble
from .orbits import CLOSE, evened, images_of, row_of, upright
from .rotation import Complexes, turned

# Rows are the same if their lengths and energies agree to this; runs converge to 1e-9, less along flat directions.
SAME, SAME_ENERGY = 1e-6, 1e-8
# Moments below this are none, as components across an axis.
VANISHING = 1e-6
# Ends that turn out to be no states on a finer grid, as those of densities too narrow for it, are not many.
POLISHED = 256
UNIFORM = 0
# The place of an end that is no state.
LOST = -1
# A state that a confinement holds by less than this may stand anywhere for all that rounding tells. It is not
# taken, but so many of them are turned to the axes of the confinement, where there are exact ones.
FLAT, LOOSE = 1e-9, 16
# Of those held by less than this there are others at other axes.
WEAK = 1e-2


class Multistart:
    """States of a problem at a coupling, those known before and those met by runs.

    Parameters
    ----------
    geometry
        That of the circle.
    ensemble
        The runs.
    problem, sign, coupling
        The equation, the sign of the coupling and the coupling.
    known
        States known before.

    Attributes
    ----------
    points : list of Point or None
        All states; None stands for the uniform one.
    loose : (n, size) complex
        Ends of runs whose angle the confinement does not determine.
    runs, relaxations : list of int
        How many runs of Newton's method and how many relaxations ended at each.
    """

    def __init__(
        self,
        geometry: Geometry,
        ensemble: Ensemble,
        problem: Equation,
        sign: int,
        coupling: Number,
        known: list[Point],
    ) -> None:
        self.geometry = geometry
        self.ensemble, self.problem, self.sign, self.coupling = ensemble, problem, sign, coupling
        self._confining, self._axis = confining_symmetry(problem), axis_of(problem)
        self.points: list[Point | None] = [] if ensemble.confined else [None]
        for point in known:
            if (ensemble.confined or symmetry_of(point)) and self._known(point) is None:
                self.points.append(point)
        self._before = len(self.points)
        self._turned = 0
        self.loose: Complexes = np.zeros((0, ensemble.degrees.size), dtype=complex)
        self.stable = [self._is_stable(point) for point in self.points]
        self.runs, self.relaxations = ([0] * len(self.points) for _ in range(2))
        self.rows = np.array([self._row(point) for point in self.points]).reshape(-1, ensemble.degrees.size)
        self._owners = list(range(len(self.points)))
        self._catalogue = self.rows.copy()
        self._energies = ensemble.gaps(self.rows)
        self._equations: dict[tuple[int, bool], StationaryEquation | None] = {}

    @property
    def new(self) -> list[Point]:
        """The states that were not known before."""
        return [point for point in self.points[self._before :] if point is not None]

    @property
    def lost(self) -> int:
        """Number of ends that are no states on a finer grid, or exceed the number of those that are examined."""
        return self._owners.count(LOST)

    def meet(self, rows: Complexes, hits: list[int] | None = None) -> None:
        """Add the ends of runs to the states, counting in ``hits`` how often each state was met."""
        if self.ensemble.confined:
            rows = self._held(rows, hits)
        energies = self.ensemble.gaps(rows)
        while len(rows):
            alike = self._alike(rows, energies, rows[0], energies[0])
            owner = self._owner(rows[0], float(energies[0]))
            if owner is not None and hits is not None:
                hits[owner] += int(alike.sum())
            rows, energies = rows[~alike], energies[~alike]

    def _held(self, rows: Complexes, hits: list[int] | None) -> Complexes:
        """Return the rows whose angle the confinement determines, and keep some of the others in ``loose``.

        These count as hits of the state on an axis that has their energy, of a stable one first.
        """
        even = (rows.imag == 0.0).all(axis=1) & self.ensemble.reflects
        held = even | (self.ensemble.flattest(rows) > FLAT)
        energies = self.ensemble.gaps(self.rows)
        for energy in self.ensemble.gaps(rows[~held]) if hits is not None else ():
            alike = np.flatnonzero(np.abs(energies - energy) < SAME_ENERGY * max(1.0, abs(energy)))
            if alike.size and hits is not None:
                hits[max(alike.tolist(), key=lambda place: self.stable[place])] += 1
        self.loose = np.concatenate([self.loose, rows[~held]])[:LOOSE]
        return np.asarray(rows[held])

    def weakly_held(self) -> Complexes:
        """Return the states whose angle a confinement determines weakly or not at all, each once."""
        rows = self.rows[self._turned :]
        weak = np.concatenate([rows[self.ensemble.flattest(rows) < WEAK], self.loose])
        self._turned, self.loose = len(self.rows), self.loose[:0]
        return weak

    def tallies(self) -> tuple[Tally, Tally]:
        """Return the tallies of all states met by Newton's method, and of the stable ones met by relaxations."""
        stable = [count for count, stays in zip(self.relaxations, self.stable, strict=True) if stays]
        return Tally.of(self.runs), Tally.of(stable)

    def _owner(self, row: Complexes, energy: float) -> int | None:
        """Return the index of the state at which a run ended, None if it is no state on a finer grid."""
        known = self._alike(self._catalogue, self._energies, row, energy)
        if known.any():
            owner = self._owners[int(known.argmax())]
        elif len(self._owners) < POLISHED:
            owner = self._place_of(row)
            self._catalogue = np.vstack([self._catalogue, row])
            self._energies = np.append(self._energies, energy)
            self._owners.append(owner)
        else:
            owner = LOST
            self._owners.append(owner)
        return owner if owner != LOST else None

    def _place_of(self, row: Complexes) -> int:
        """Return the index of the state near a row, added if it is new, LOST if no state is found."""
        point = self._polished(row)
        if point is None:
            return LOST
        if not (self.ensemble.confined or symmetry_of(point)):
            return UNIFORM
        place = self._known(point)
        if place is not None:
            return place
        self.points.append(point)
        self.stable.append(self._is_stable(point))
        self.rows = np.vstack([self.rows, self._row(point)])
        self.runs.append(0)
        self.relaxations.append(0)
        return len(self.points) - 1

    def _known(self, point: Point) -> int | None:
        """Return the index of a state among those known, None if it is new."""
        for place, other in enumerate(self.points):
            if other is not None and same_orbit(point, other):
                return place
        return None

    def _polished(self, row: Complexes) -> Point | None:
        """Return the state near a row, converged in its symmetry or, if that fails, without; None if not found."""
        moments = self.ensemble.moments(row[None])[0]
        symmetry = self._symmetry(moments)
        upon = self._evened(moments)
        if upon is not None and not self.ensemble.confined:
            upon = upright(upon, symmetry, VANISHING)
        point = None if upon is None else self._found(upon, symmetry, even=True)
        return self._found(moments, symmetry, even=False) if point is None else point

    def _evened(self, moments: Complexes) -> Complexes | None:
        """Return the moments of a density with its axis at 0, or that of the confinement; None if it has none."""
        if not self._axis:
            return evened(moments, VANISHING, turning=not self.ensemble.confined)
        along = evened(turned(moments, -self._axis), VANISHING, turning=False)
        return None if along is None else turned(along, self._axis)

    def _found(self, moments: Complexes, symmetry: int, *, even: bool) -> Point | None:
        if (symmetry, even) not in self._equations:
            cells = int(self.ensemble.degrees[-1]) // symmetry
            self._equations[symmetry, even] = stationary_equation(
                self.geometry, self.problem, symmetry, self.sign, even=even, unknowns=cells
            )
        equation = self._equations[symmetry, even]
        if equation is None:
            return None
        b = equation.unknown_with(moments.real, -moments.imag)
        return resolved_at(equation, b, equation.q_at(self.coupling))

    def _symmetry(self, moments: Complexes) -> int:
        """Return n of the rotation symmetry of moments that the problem has as well."""
        significant: Integers = np.flatnonzero(np.abs(moments[1:]) > VANISHING) + 1
        return max(1, math.gcd(int(np.gcd.reduce(significant, initial=0)), self._confining))

    def _row(self, point: Point | None) -> Complexes:
        degrees = self.ensemble.degrees
        return np.zeros(degrees.size, dtype=complex) if point is None else row_of(point, int(degrees[-1]))[degrees]

    def _is_stable(self, point: Point | None) -> bool:
        if point is None:
            return bool((self.ensemble.strengths <= 1.0).all())
        return not any(point.equation.densities.unstable_counts(point))

    def _alike(self, rows: Complexes, energies: np.ndarray, row: Complexes, energy: float) -> np.ndarray:
        """Return which rows are the same as a given one up to rotation and reflection, as a mask."""
        alike = np.abs(np.abs(rows) - np.abs(row)).max(axis=1, initial=0.0) < SAME
        alike &= np.abs(energies - energy) < SAME_ENERGY * max(1.0, abs(energy))
        if self.ensemble.confined:
            images = images_of(row, self.ensemble.degrees, self._confining, self._axis)
            alike &= np.abs(rows[:, None, :] - images).max(axis=2).min(axis=1) < CLOSE
        return np.asarray(alike)
