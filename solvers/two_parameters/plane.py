r"""The plane of two parameters in the coordinates in which curves of special points are followed.

The field of a density with moments a is :math:`\sum_k (\sigma_k a_k + f_k) c_k`,
:math:`\sigma_k = -\kappa w_k/D`, :math:`f_k = -v_k/D`. Where the coupling is one of the two parameters, its
coordinate is the dimensionless strength

.. math:: q = \frac{|\kappa|}{D}\Bigl(\sum_k w_k(p)^2\Bigr)^{1/2} > 0, \qquad \sigma_k = \mp q\,w_k/|w|,

since critical couplings themselves fall like :math:`e^{-\beta}` where the multipliers grow. The other parameter has
a unit of its own. Of two parameters without the coupling the first is counted from one, at the lower end of its
interval, and in units of its length, so that its coordinate is positive too.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from meanfield import Equation, Number
from meanfield.equations import NEGLIGIBLE, Interaction

from ..bases import EPS, Floats, Integers

COUPLING = "coupling"


class Place(NamedTuple):
    """A point of the plane: the equation there, its two parameters, and their derivatives in x and q, (2, 2)."""

    problem: Equation
    values: tuple[float, float]
    slopes: Floats


@dataclass(frozen=True, eq=False)
class Plane:
    """Coordinates x and q of two parameters.

    Attributes
    ----------
    problem
        The equation at the start, its coupling fixed.
    names : (str, str)
        The first parameter and the second.
    interval : (float, float)
        Range of the first.
    unit : float
        The change of a parameter, the second or the one beside the coupling, as x changes by one.
    axis : float
        Angle of the reflection axis from which the modes count.
    reference : (n,) int
        The degrees over which the norm of the multipliers is taken.
    """

    problem: Equation
    names: tuple[str, str]
    interval: tuple[float, float]
    unit: float
    axis: float
    reference: Integers

    @property
    def other(self) -> str:
        """The parameter of the coordinate x."""
        return self.names[0] if self.names[1] == COUPLING else self.names[1]

    @cached_property
    def in_coupling(self) -> bool:
        """Whether the coupling is one of the two."""
        return COUPLING in self.names

    @cached_property
    def sign(self) -> int:
        """The sign of the coupling."""
        return 1 if self.problem.fixed_coupling > 0 else -1

    @cached_property
    def scaled(self) -> tuple[tuple[str, float], ...]:
        """The parameters of x and q, with the change of each by one; that of x alone if q is of the coupling."""
        other = (self.other, self.unit)
        return (other,) if self.in_coupling else (other, (self.names[0], self._length))

    @cached_property
    def roles(self) -> dict[str, tuple[str, str]]:
        """The fields of the two parameters, and their names there."""
        return {name: self.problem.place_of(name) for name in self.names}

    def coordinates(self, first: Number, second: Number) -> tuple[float, float]:
        """Return x and q at two parameters."""
        given = dict(zip(self.names, (first, second), strict=True))
        x = float(given[self.other] / self.unit)
        if not self.in_coupling:
            return x, float(1.0 + (first - self.interval[0]) / self._length)
        problem = self.at(x, 1.0)
        norm = np.sqrt((multipliers_of(problem.potential, problem, self.reference) ** 2).sum())
        return x, float(abs(given[COUPLING]) * norm / problem.positive_noise)

    def at(self, x: float, q: float) -> Equation:
        """Return the equation at x and q, its coupling, where that is one of the two, as at the start.

        Raises
        ------
        InvalidInput
            If a parameter is not admissible there.
        """
        problem = self.problem
        for name, value in self._values(x, q):
            problem = problem.with_parameter(name, value)
        return problem

    def place(self, x: float, q: float) -> Place:
        """Return the point of the plane at x and q."""
        problem = self.at(x, q)
        if not self.in_coupling:
            (_, other), (_, first) = self._values(x, q)
            return Place(problem, (first, other), np.array([[0.0, self._length], [self.unit, 0.0]]))
        multipliers = multipliers_of(problem.potential, problem, self.reference)
        square = (multipliers**2).sum()
        coupling = plain(self.sign * q * problem.positive_noise / np.sqrt(square))
        relative = float(multipliers @ self.multiplier_slopes(problem, self.other, self.reference) / square)
        if self.roles[self.other][0] == "noise":
            relative -= 1.0 / problem.positive_noise
        strength, other = float(coupling), x * self.unit
        slopes = np.array([[-relative * strength * self.unit, strength / q], [self.unit, 0.0]])
        swapped = self.names[0] == self.other
        values = (other, strength) if swapped else (strength, other)
        return Place(problem.at(coupling=coupling), values, slopes[::-1] if swapped else slopes)

    def coefficients(self, x: float, q: float, degrees: Integers) -> "Coefficients":
        """Return the coefficients of the modes of some degrees at x and q.

        Raises
        ------
        InvalidInput
            If a parameter is not admissible there.
        """
        return Coefficients(self, x, q, degrees)

    def potential_at(self, x: float, q: float) -> Any:
        """Return the interaction potential at x and q."""
        potential: Any = self.problem.potential
        for name, value in self._values(x, q):
            role, own = self.roles[name]
            if role == self.problem.law_field:
                potential = potential.with_parameter(own, value)
        return potential

    def multiplier_slopes(self, problem: Equation, name: str, degrees: Integers, potential: Any = None) -> Any:
        """Return the derivatives of the multipliers of some degrees in a parameter, longdouble."""
        role, own = self.roles[name]
        if role != problem.law_field:
            return np.zeros(degrees.size, dtype=np.longdouble)
        potential = problem.potential if potential is None else potential
        slopes = potential.multiplier_derivatives(own, problem.domain, int(degrees[-1]))
        return slopes[degrees].astype(np.longdouble)

    def significant(self, x: float, q: float, degrees: Integers) -> Integers:
        """Return which of some degrees the field has at x and q, or acquires with the two parameters."""
        coefficients = self.coefficients(x, q, degrees)
        slopes = coefficients.slopes
        keep = np.zeros(degrees.size, dtype=bool)
        for row in (coefficients.attractions, coefficients.forces, *slopes[0], *slopes[1]):
            sizes = np.abs(row)
            keep |= sizes > NEGLIGIBLE * sizes.max(initial=0.0)
        return degrees[keep]

    def ends_by(self, degree: int, x: float, q: float) -> bool:
        """Return whether no degree beyond one moves a density by a rounding error at x and q."""
        problem = self.at(x, q)
        potential: Any = problem.potential
        if potential.relative_tail_bound(problem.domain, degree) > NEGLIGIBLE:
            return False
        confinement: Any = problem.confinement
        if confinement is None:
            return True
        return bool(confinement.tail_bound(problem.domain, degree) <= EPS * problem.positive_noise)

    @property
    def _length(self) -> float:
        return float(self.interval[1] - self.interval[0])

    def _values(self, x: float, q: float) -> tuple[tuple[str, float], ...]:
        """Return the parameters other than the coupling at x and q."""
        other = (self.other, float(x * self.unit))
        if self.in_coupling:
            return (other,)
        return other, (self.names[0], float(self.interval[0] + (q - 1.0) * self._length))


class Coefficients:
    """The field's coefficients of some modes at a point of the plane: ``attractions`` sigma and ``forces`` f.

    Parameters
    ----------
    plane
        The two parameters.
    x, q
        The point.
    degrees : (size,) int
        The degrees of the modes.
    """

    def __init__(self, plane: Plane, x: float, q: float, degrees: Integers) -> None:
        self._plane, self._degrees, self._place = plane, degrees, (x, q)
        self._potential = plane.potential_at(x, q)
        multipliers = multipliers_of(self._potential, plane.problem, degrees)
        if plane.in_coupling:
            known = multipliers[np.searchsorted(degrees, plane.reference)]
            self._norm = np.sqrt((known * known).sum())
            self._factor = -plane.sign * q / self._norm
        else:
            noise = self._problem.positive_noise
            self._factor = -np.longdouble(plane.problem.fixed_coupling) / noise
        self._extended = self._factor * multipliers
        self.attractions = self._extended.astype(float)
        self.forces = np.zeros(degrees.size)
        if plane.problem.confinement is not None:
            interaction, last = Interaction(self._problem), int(degrees[-1])
            self.forces = self._about(interaction.forces(last), interaction.sine_forces(last))

    @cached_property
    def slopes(self) -> tuple[Floats, Floats]:
        """The derivatives of sigma and of f in x and q, (2, size) each."""
        plane, (_, q) = self._plane, self._place
        attractions, forces = np.zeros((2, 2, self._degrees.size))
        if plane.in_coupling:
            change = self._factor * plane.unit * self._multiplier_slopes(plane.other)
            reference = np.searchsorted(self._degrees, plane.reference)
            along = self._extended[reference] @ change[reference] / np.longdouble(q) ** 2
            attractions[0], attractions[1] = change - self._extended * along, self.attractions / q
        else:
            for row, (name, unit) in enumerate(plane.scaled):
                attractions[row] = unit * self._factor * self._multiplier_slopes(name)
                if plane.roles[name][0] == "noise":
                    attractions[row] -= unit * self.attractions / self._problem.positive_noise
        if plane.problem.confinement is not None:
            interaction, last = Interaction(self._problem), int(self._degrees[-1])
            for row, (name, unit) in enumerate(plane.scaled):
                changes = interaction.force_derivatives(name, last), interaction.sine_force_derivatives(name, last)
                forces[row] = unit * self._about(*changes)
        return attractions, forces

    @cached_property
    def _problem(self) -> Equation:
        return self._plane.at(*self._place)

    def _multiplier_slopes(self, name: str) -> Any:
        return self._plane.multiplier_slopes(self._plane.problem, name, self._degrees, self._potential)

    def _about(self, cosine: Floats, sine: Floats) -> Floats:
        """Return coefficients of cosines about the axis from those of cosines and sines from degree 0."""
        if not self._plane.axis:
            return cosine[self._degrees]
        phases = np.exp(1j * self._plane.axis * self._degrees)
        return np.asarray(((cosine - 1j * sine)[self._degrees] * phases).real)


def multipliers_of(potential: Any, problem: Equation, degrees: Integers) -> Any:
    """Return the multipliers of a potential of some ascending degrees on the domain of a problem, longdouble."""
    return potential.multipliers(problem.domain, int(degrees[-1]))[degrees].astype(np.longdouble)


def plain(number: np.longdouble) -> Number:
    """Return a number as a double where it is one."""
    return float(number) if 1e-290 < abs(number) < 1e300 else number
