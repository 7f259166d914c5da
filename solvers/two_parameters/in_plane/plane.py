r"""The plane of two parameters in the coordinates in which curves of special points are followed.

The field of a density with moments a is :math:`\sum_k (\sigma_k a_k + f_k) c_k`,
:math:`\sigma_k = -\kappa w_k/D`, :math:`f_k = -v_k/D`. Where the coupling is one of the two parameters, its
coordinate is the dimensionless strength

.. math:: q = \frac{|\kappa|}{D}\Bigl(\sum_k w_k(p)^2\Bigr)^{1/2} > 0, \qquad \sigma_k = \mp q\,w_k/|w|,

since critical couplings themselves fall like :math:`e^{-\beta}` where the multipliers grow. The other parameter has
a unit of its own. Of two parameters without the coupling the first is counted from one, at the lower end of its
interval, and in units of its length, so that its coordinate is positive too.
"""

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from meanfield import Equation, InvalidInput, Number
from meanfield.equations import NEGLIGIBLE, Capability, is_velocity
from meanfield.potentials import keeping

from ...bases import EPS, Basis, Floats, Integers
from ...bases.confining import ConfiningField
from ...domains import solvers_of
from ...equations.rotating import rotates_freely
from ...equations.significant import common_symmetry
from ...equations.sizing import common_field
from ...execution.computed import computed_once
from ...parameters.factors import FactorAlong, kinked_among
from ...sphere import Group, symmetry_of_field
from .coefficients import Coefficients, Couplings

Complexes = npt.NDArray[np.complex128]
COUPLING = "coupling"
# Values of a parameter of the confinement at which its symmetry is looked at.
SAMPLES = 5


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
    origin : float
        x at the start.
    axis : float or None
        Angle of a reflection axis that the confinement has all over the plane; None if it has none.
    reference : (n,) int
        The degrees over which the norm of the multipliers is taken.
    """

    problem: Equation
    names: tuple[str, str]
    interval: tuple[float, float]
    unit: float
    origin: float
    axis: float | None
    reference: Integers

    @computed_once
    def other(self) -> str:
        """The parameter of the coordinate x."""
        return self.names[0] if self.names[1] == COUPLING else self.names[1]

    @computed_once
    def in_coupling(self) -> bool:
        """Whether the coupling is one of the two."""
        return COUPLING in self.names

    @computed_once
    def _moves_velocity(self) -> bool:
        return is_velocity(self.problem.law)

    @computed_once
    def _has_gibbs_map(self) -> bool:
        return not self.problem.law.lacks(Capability.GIBBS_MAP)

    @computed_once
    def _moves_noise(self) -> bool:
        return any(role == "noise" for role, _ in self.roles.values())

    @computed_once
    def carries_current(self) -> bool:
        """Whether stationary densities have a flux somewhere in the plane."""
        return any(solvers_of(each).geometry.carries_current(each) for each in self.samples)

    @computed_once
    def rotates(self) -> bool:
        """Whether clusters turn by a lag, also where that is zero in the plane."""
        return rotates_freely(self.problem)

    @computed_once
    def reflects(self) -> bool:
        """Whether states may have an axis; they have none where they carry a current or turn."""
        return not (self.carries_current or self.rotates)

    @computed_once
    def confined(self) -> bool:
        """Whether there is a confinement, so that rotations are not free and the uniform density is no state."""
        return self.problem.confinement is not None

    @computed_once
    def samples(self) -> list[Equation]:
        """The equation at the start and, where the confinement changes with a parameter, about the plane."""
        found = [self.problem]
        for name in self.names:
            role, own = self.roles[name]
            if role != "confinement" or self.problem.confinement is None:
                continue
            start = float(self.problem.parameters[name])
            values = [start - self.unit, start + self.unit]
            if name == self.names[0]:
                values = np.linspace(*self.interval, SAMPLES).tolist()
            for value in values:
                # Values beside that of the start need not be admissible.
                with contextlib.suppress(InvalidInput):
                    moved = self.problem.confinement.with_parameter(own, value)
                    found.append(self.problem.replace(confinement=moved))
        return found

    @computed_once
    def by_factor(self) -> bool:
        """Whether bases have the factor exp(-V/D) of the confinement, whose multipliers decay too slowly."""
        return self.kinked is not None

    @computed_once
    def kinked(self) -> Equation | None:
        """The equation where the confinement has a kink on the circle; None if it has none in the plane."""
        return kinked_among(self.samples)

    @computed_once
    def moving(self) -> tuple[str, ...]:
        """The parameters with which the factor exp(-V/D) changes, where bases have that."""
        if not self.by_factor:
            return ()
        return tuple(name for name in self.names if self.roles[name][0] in ("noise", "confinement"))

    @computed_once
    def _factor(self) -> FactorAlong:
        (name,) = self.moving
        unit = self.unit if name == self.other else self.length
        return FactorAlong(partial(self.problem.with_parameter, name), name, unit)

    def in_place(self, basis: Basis, x: float, q: float) -> Basis:
        """Return the basis of a state at x and q: with the factor there, if bases have that and it changes."""
        if not self.moving:
            return basis
        value = x * self.unit if self.moving[0] == self.other else self.first(q)
        assert basis.kinked is not None
        return basis.kinked.with_factor(self._factor.at(value, basis.symmetry))

    @computed_once
    def moved_by(self) -> Floats:
        """The derivatives, in x and q, of the parameter with which the factor changes, (2,); zero without any."""
        if not self.moving:
            return np.zeros(2)
        (name,) = self.moving
        return np.array([self.unit, 0.0] if name == self.other else [0.0, self.length])

    @computed_once
    def zonal(self) -> bool:
        """Whether all over the plane the confinement, if any, is a function of the angle to the north pole."""
        return all(each.zonal for each in self.samples)

    @computed_once
    def confining_symmetry(self) -> int:
        """The greatest common divisor of the degrees of the confinement all over the plane, 0 without one."""
        return common_symmetry(self.samples)

    @computed_once
    def axes(self) -> tuple[float, ...]:
        """The angles of all reflection axes of the confinement on the circle, as many as its symmetry or none."""
        if self.axis is None:
            return ()
        count = max(1, self.confining_symmetry)
        return tuple(self.axis + np.pi * place / count for place in range(count))

    def images(self, moments: Complexes) -> Complexes:
        """Return complex moments of degrees from one, (n,), under all that keeps the confinement, (m, n).

        On the circle rotations and reflections; of states about the axis of a sphere, turned upside down where it
        is the same there.
        """
        count = max(1, solvers_of(self.problem).geometry.symmetry(self.confining_symmetry))
        degrees = np.arange(1, moments.size + 1)
        turned = moments * np.exp(-2j * np.pi / count * np.multiply.outer(np.arange(count), degrees))
        if self.axis is None:
            return np.asarray(turned)
        return np.concatenate([turned, np.exp(-2j * self.axis * degrees) * turned.conj()])

    @computed_once
    def held_by(self) -> ConfiningField | None:
        """On the ordinary sphere a field with the symmetries of the confinement, None without one."""
        if not self.confined:
            return None
        if not self.zonal:
            return common_field(self.samples)
        return ConfiningField.of_one_angle(np.eye(1, 2, 1 - self.confining_symmetry % 2)[0])

    @computed_once
    def symmetries(self) -> Group:
        """The group of the confinement on the ordinary sphere all over the plane, where it has no axis."""
        assert self.held_by is not None
        return symmetry_of_field(self.held_by)

    @computed_once
    def of_gradient(self) -> bool:
        """Whether the law is the gradient law, whose field is a sum of modes."""
        return not self.problem.lacks(Capability.GRADIENT)

    @computed_once
    def sign(self) -> int:
        """The sign of the coupling."""
        return 1 if self.problem.fixed_coupling > 0 else -1

    @computed_once
    def scaled(self) -> tuple[tuple[str, float], ...]:
        """The parameters of x and q, with the change of each by one; that of x alone if q is of the coupling."""
        other = (self.other, self.unit)
        return (other,) if self.in_coupling else (other, (self.names[0], self.length))

    @computed_once
    def roles(self) -> dict[str, tuple[str, str]]:
        """The fields of the two parameters, and their names there."""
        return {name: self.problem.place_of(name) for name in self.names}

    def coordinates(self, first: Number, second: Number) -> tuple[float, float]:
        """Return x and q at two parameters."""
        given = dict(zip(self.names, (first, second), strict=True))
        x = float(given[self.other] / self.unit)
        if not self.in_coupling:
            return x, float(1.0 + (first - self.interval[0]) / self.length)
        problem = self.at(x, 1.0)
        square = (self.multipliers(self.potential_at(x, 1.0), self.last)[self.reference] ** 2).sum()
        return x, float(abs(given[COUPLING]) * np.sqrt(square) / problem.positive_noise)

    def at(self, x: float, q: float, coupling: Number | None = None, law: Any = None) -> Equation:
        """Return the equation at x and q, its coupling, where that is one of the two, as given or at the start.

        Parameters
        ----------
        law
            The law there, if it is known.

        Raises
        ------
        InvalidInput
            If a parameter is not admissible there.
        """
        fields: dict[str, Any] = {} if coupling is None else {COUPLING: coupling}
        if law is not None:
            fields[self.problem.law_field] = law
        for name, value in self._values(x, q):
            role, own = self.roles[name]
            if law is None or role != self.problem.law_field:
                known = fields[role] if role in fields else getattr(self.problem, role)
                fields[role] = keeping(known, own, value) if own else value
        return self.problem.replace(**fields)

    def coefficients(self, x: float, q: float, degrees: Integers, basis: Basis | None = None) -> Coefficients:
        """Return the coefficients of the modes of some degrees at x and q, see the class.

        Raises
        ------
        InvalidInput
            If a parameter is not admissible there.
        """
        # Of a state those of perturbations are asked for as well, up to the next degree.
        last = int(degrees[-1]) + (0 if basis is None else basis.symmetry)
        return Coefficients(Couplings(self, x, q, max(last, self.last)), degrees, basis)

    def law_at(self, x: float, q: float) -> Any:
        """Return the law at x and q.

        Raises
        ------
        InvalidInput
            If a parameter is not admissible there, or a velocity loses or gains a Gibbs map, as softmax attention
            does where beta changes its sign: its states solve another equation.
        """
        law = self._moved(self.problem.law, self.problem.law_field, x, q)
        if not self.reflects:
            return law
        if self._moves_velocity and bool(why := law.lacks(Capability.GIBBS_MAP)) == self._has_gibbs_map:
            raise InvalidInput(f"states of {law.name} solve another equation there; {why or 'it has a Gibbs map'}")
        return law

    def potential_at(self, x: float, q: float) -> Any:
        """Return the interaction potential at x and q, of a law that of the same linearisation at uniform."""
        return self.potential_of(self.law_at(x, q))

    def potential_of(self, law: Any) -> Any:
        """Return the interaction potential of a law, or that of the same linearisation at uniform.

        In a confinement without the lag: no mode is critical then, and one of a right angle acts all the same.
        """
        if not self._moves_velocity:
            return law
        return (law if self.rotates else law.unlagged).at_uniform(self.problem.domain)

    def confinement_at(self, x: float, q: float) -> Any:
        """Return the confinement at x and q, also where it vanishes and the equation has none."""
        return self._moved(self.problem.confinement, "confinement", x, q)

    def noise_at(self, x: float, q: float) -> float:
        """Return the noise at x and q.

        Raises
        ------
        InvalidInput
            If it is a parameter and not positive there.
        """
        if not self._moves_noise:
            return self.problem.positive_noise
        value = next(value for name, value in self._values(x, q) if self.roles[name][0] == "noise")
        if not value > 0.0:
            raise InvalidInput(f"curves need noise, and it would be {value:g}")
        return value

    def _moved(self, potential: Any, field: str, x: float, q: float) -> Any:
        """Return the potential of a field of the equation, its parameters those at x and q."""
        for name, value in self._values(x, q):
            role, own = self.roles[name]
            if role == field:
                potential = keeping(potential, own, value)
        return potential

    @computed_once
    def numbers(self) -> Floats:
        """The numbers of harmonics N_k of the degrees of reference."""
        return np.array([self.problem.domain.multiplicity(k) for k in self.reference.tolist()], dtype=float)

    @computed_once
    def last(self) -> int:
        """The last degree of reference."""
        return int(self.reference[-1])

    def multipliers(self, potential: Any, degree: int) -> Any:
        """Return the multipliers of a potential up to a degree, longdouble."""
        return potential.multipliers(self.problem.domain, degree).astype(np.longdouble)

    def multiplier_slopes(self, potential: Any, name: str, degree: int) -> Any:
        """Return the derivatives of the multipliers of a potential in a parameter up to a degree, longdouble."""
        role, own = self.roles[name]
        # A common frequency, and a lag in a confinement or at zero, are none of the law that turns by them.
        turns = own not in self._unturned
        if role != self.problem.law_field or (turns and own not in potential.parameter_values()):
            return np.zeros(degree + 1, dtype=np.longdouble)
        return potential.multiplier_derivatives(own, self.problem.domain, degree).astype(np.longdouble)

    @computed_once
    def _unturned(self) -> frozenset[str]:
        """The parameters of the law that do not turn its states."""
        return frozenset(self.problem.velocity.unturned.unlagged.parameter_values())

    def significant(self, x: float, q: float, degrees: Integers) -> Integers:
        """Return which of some degrees the field has at x and q, or acquires with the two parameters."""
        if not degrees.size:
            return degrees
        coefficients = self.coefficients(x, q, degrees)
        attractions, forces = coefficients.slopes
        keep = np.zeros(degrees.size, dtype=bool)
        rows = [coefficients.attractions, *attractions]
        if self.rotates:
            # A mode that lags by a right angle turns clusters.
            unlagged = self.law_at(x, q).unlagged.at_uniform(self.problem.domain)
            rows.append(self.multipliers(unlagged, int(degrees[-1]))[degrees].astype(float))
        if not self.by_factor:
            rows += [coefficients.forces, *forces]
        for row in rows:
            sizes = np.abs(row)
            keep |= sizes > NEGLIGIBLE * sizes.max(initial=0.0)
        return degrees[keep]

    def ends_by(self, degree: int, x: float, q: float) -> bool:
        """Return whether no degree beyond one moves a density by a rounding error at x and q."""
        domain = self.problem.domain
        if self.potential_at(x, q).relative_tail_bound(domain, degree) > NEGLIGIBLE:
            return False
        if self.problem.confinement is None or self.by_factor:
            return True
        return bool(self.confinement_at(x, q).tail_bound(domain, degree) <= EPS * self.noise_at(x, q))

    @computed_once
    def first_unit(self) -> float:
        """The change of the first parameter that is of size one, beside its own value; zero of the coupling."""
        if self.in_coupling:
            return self.unit if self.names[0] == self.other else 0.0
        return self.length

    def rounding(self, first: float) -> float:
        """Return how well a value of the first parameter is known at best, also where it vanishes."""
        return 4 * EPS * max(abs(first), self.first_unit)

    def contains(self, first: float) -> bool:
        """Return whether a value of the first parameter is in the interval."""
        return self.interval[0] <= first <= self.interval[1]

    @computed_once
    def length(self) -> float:
        """The length of the interval."""
        return float(self.interval[1] - self.interval[0])

    def first(self, q: float) -> float:
        """Return the first parameter at q where that is its coordinate."""
        return float(self.interval[0] + (q - 1.0) * self.length)

    def first_at(self, x: float, q: float) -> float:
        """Return the first parameter at x and q.

        Raises
        ------
        InvalidInput
            If it is the coupling and the other parameter is not admissible there.
        """
        if self.names[0] == self.other:
            return float(x * self.unit)
        if not self.in_coupling:
            return self.first(q)
        return float(self.coefficients(x, q, self.reference).place.values[0])

    def _values(self, x: float, q: float) -> tuple[tuple[str, float], ...]:
        """Return the parameters other than the coupling at x and q."""
        other = (self.other, float(x * self.unit))
        if self.in_coupling:
            return (other,)
        return other, (self.names[0], self.first(q))
