"""Coefficients of the field at a point of the plane of two parameters, see :mod:`.plane`."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from meanfield import Equation, Number
from meanfield.harmonics import moduli

from ...bases import Basis, Floats, Integers
from ...execution.computed import computed_once

if TYPE_CHECKING:
    from .plane import Plane

# Forces up to this share of their change over the unit of a parameter are none.
VANISHED = 1e-9


class Place(NamedTuple):
    """A point of the plane: the equation there, its two parameters, and their derivatives in x and q, (2, 2)."""

    problem: Equation
    values: tuple[float, float]
    slopes: Floats


class Couplings:
    """The coefficients sigma of the modes by degree at a point of the plane, in longdouble.

    Parameters
    ----------
    plane
        The two parameters.
    x, q
        The point.
    last
        The last degree, at least that of the reference of the plane.

    Attributes
    ----------
    point : (float, float)
        x and q.
    law
        The law there.
    noise : float
        That there.
    factor : longdouble
        Sigma over the multipliers.
    sigma : (last + 1,) longdouble
        The coefficients.
    """

    def __init__(self, plane: "Plane", x: float, q: float, last: int) -> None:
        self.plane, self.point, self.last = plane, (x, q), last
        self.noise = plane.noise_at(x, q)
        self.law = plane.law_at(x, q)
        self._potential = plane.potential_of(self.law)
        multipliers = plane.multipliers(self._potential, last)
        if plane.in_coupling:
            own = multipliers[plane.reference]
            self.factor = -plane.sign * q / np.sqrt(own @ own)
        else:
            self.factor = -np.longdouble(plane.problem.fixed_coupling) / self.noise
        self.sigma = self.factor * multipliers

    def change_with(self, name: str, unit: float) -> Any:
        """Return the change of sigma by that of the multipliers as a parameter changes by a unit, (last + 1,)."""
        return self.factor * unit * self.plane.multiplier_slopes(self._potential, name, self.last)

    @computed_once
    def change(self) -> Any:
        """The derivatives of sigma in x by those of the multipliers, the norm of these left as it is."""
        return self.change_with(self.plane.other, self.plane.unit)

    @computed_once
    def growth(self) -> Any:
        """The derivative of the logarithm of the norm of the multipliers in x."""
        reference, q = self.plane.reference, np.longdouble(self.point[1])
        return self.sigma[reference] @ self.change[reference] / q**2


class Coefficients:
    """The field's coefficients of some modes at a point of the plane: ``attractions`` sigma and ``forces`` f.

    Parameters
    ----------
    couplings
        Those at the point, up to the last of the degrees at least.
    degrees : (size,) int
        The degrees of the modes.
    basis
        That of the densities, whose modes the degrees are of; None for cosines about the first axis of the plane,
        of which without an axis the forces, and their slopes, are moduli, on the ordinary sphere of each degree.
    """

    def __init__(self, couplings: Couplings, degrees: Integers, basis: Basis | None = None) -> None:
        self._couplings, self._degrees, self._basis = couplings, degrees, basis
        self._plane = plane = couplings.plane
        self.attractions = couplings.sigma[degrees].astype(float)
        self.forces = np.zeros(degrees.size)
        if plane.confined and plane.zonal:
            self.forces = -self._about(self._confinement.multipliers, self._confinement.sine_multipliers)
        elif plane.confined:
            self.forces = -self._among(self._confinement.harmonic_multipliers(self._couplings.last))

    def among(self, degrees: Integers) -> "Coefficients":
        """Return the coefficients of the modes of other degrees at the same point, without a basis."""
        couplings, last = self._couplings, int(degrees[-1])
        if last > couplings.last:
            couplings = Couplings(self._plane, *couplings.point, last)
        return Coefficients(couplings, degrees)

    @computed_once
    def strengths(self) -> Floats:
        """Lambda_k of the degrees of reference of the plane."""
        return np.asarray(self._couplings.sigma[self._plane.reference].astype(float) / self._plane.numbers)

    @property
    def largest(self) -> float:
        """The largest modulus of lambda_k and of the forces."""
        return float(max(np.abs(self.strengths).max(), np.abs(self.forces).max(initial=0.0)))

    @property
    def forces_vanish(self) -> bool:
        """Whether the plane has a confinement, and it vanishes here up to rounding, so that rotations are free."""
        return self._plane.confined and bool(
            np.abs(self.forces).max() <= VANISHED * np.abs(self.slopes[1]).max(initial=0.0)
        )

    @computed_once
    def slopes(self) -> tuple[Floats, Floats]:
        """The derivatives of sigma and of f in x and q, (2, size) each."""
        plane, couplings = self._plane, self._couplings
        attractions, forces = np.zeros((2, 2, self._degrees.size))
        if plane.in_coupling:
            attractions[0] = (couplings.change - couplings.sigma * couplings.growth)[self._degrees]
            attractions[1] = self.attractions / couplings.point[1]
        else:
            for row, (name, unit) in enumerate(plane.scaled):
                attractions[row] = couplings.change_with(name, unit)[self._degrees]
                if plane.roles[name][0] == "noise":
                    attractions[row] -= unit * self.attractions / couplings.noise
        if plane.confined:
            for row, (name, unit) in enumerate(plane.scaled):
                forces[row] = unit * self._force_slopes(name)
        return attractions, forces

    @property
    def forces_in_field(self) -> Floats:
        """The forces as a part of the field: none where bases have the factor of the confinement."""
        return np.zeros_like(self.forces) if self._plane.by_factor else self.forces

    @property
    def force_slopes_in_field(self) -> Floats:
        """The derivatives of these in x and q, (2, size)."""
        slopes = self.slopes[1]
        return np.zeros_like(slopes) if self._plane.by_factor else slopes

    @property
    def factor_slopes(self) -> Floats:
        """The derivatives, in x and q, of the parameter with which the factor of a confinement changes, (2,)."""
        return self._plane.moved_by

    @computed_once
    def place(self) -> Place:
        """The point of the plane."""
        plane, couplings, (x, q) = self._plane, self._couplings, self._couplings.point
        other = x * plane.unit
        if not plane.in_coupling:
            first, slopes = plane.first(q), np.array([[0.0, plane.length], [plane.unit, 0.0]])
            return Place(plane.at(x, q, law=couplings.law), (first, other), slopes)
        coupling = plain(-couplings.factor * couplings.noise)
        growth = float(couplings.growth)
        if plane.roles[plane.other][0] == "noise":
            growth -= plane.unit / couplings.noise
        strength = float(coupling)
        slopes = np.array([[-growth * strength, strength / q], [plane.unit, 0.0]])
        swapped = plane.names[0] == plane.other
        values = (other, strength) if swapped else (strength, other)
        return Place(plane.at(x, q, coupling, couplings.law), values, slopes[::-1] if swapped else slopes)

    @computed_once
    def _confinement(self) -> Any:
        return self._plane.confinement_at(*self._couplings.point)

    def _force_slopes(self, name: str) -> Any:
        """Return the derivatives of the forces in a parameter."""
        role, own = self._plane.roles[name]
        if role == "noise":
            return -self.forces / self._couplings.noise
        if role != "confinement":
            return 0.0
        confinement = self._confinement
        if not self._plane.zonal:
            return -self._among(confinement.harmonic_multiplier_derivatives(own, self._couplings.last))
        return -self._about(
            partial(confinement.multiplier_derivatives, own), partial(confinement.sine_multiplier_derivatives, own)
        )

    def _among(self, coefficients: Floats) -> Floats:
        """Return packed coefficients, over the noise, as those of the modes, without a basis their lengths."""
        invariants = None if self._basis is None else self._basis.invariants
        if invariants is None:
            found = moduli(*coefficients)[self._degrees]
        else:
            found = invariants.field_of_harmonics(coefficients)
        return np.asarray(found / self._couplings.noise, dtype=float)

    def _about(self, cosine: Callable[..., Any], sine: Callable[..., Any]) -> Floats:
        """Return coefficients of the modes, over the noise, by functions of domain and degree."""
        domain, axis = self._plane.problem.domain, self._plane.axis
        series = cosine(domain, self._couplings.last) - 1j * sine(domain, self._couplings.last)
        if self._basis is not None:
            coefficients = self._basis.field_of(series)
        elif axis is None:
            coefficients = np.abs(series[self._degrees])
        else:
            coefficients = (series[self._degrees] * np.exp(1j * axis * self._degrees)).real
        return np.asarray(coefficients / self._couplings.noise, dtype=float)


def plain(number: np.longdouble) -> Number:
    """Return a number as a double where it is one."""
    return float(number) if is_double(number) else number


def is_double(number: Number) -> bool:
    """Return whether a number is in the range of doubles, with a margin."""
    return 1e-290 < abs(float(number)) < 1e300
