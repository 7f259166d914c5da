r"""The equation in time as a system for Fourier moments.

With :math:`c_k = \int e^{-ik\theta}\rho` and :math:`\lambda_k = -\kappa w_k/(2D)`, for a potential
:math:`W = w_0 + \sum w_k\cos k\theta` and a confinement :math:`V = v_0 + \sum v_k\cos k\theta`,

.. math::

    \dot c_k = D\Bigl[-k^2 c_k + k \sum_{j\ne0} g_j\, c_{k-j}\Bigr],
    \qquad g_j = j\Bigl(\lambda_{|j|} c_j - \frac{v_{|j|}}{2D}\Bigr),

:math:`i g_j` being the coefficients of the derivative of the field :math:`f = -(\kappa W*\rho + V)/D`. The term
j = k is linear because :math:`c_0 = 1` exactly; it joins the diffusion in :math:`L_k = -Dk^2(1-\lambda_k)`, so that
small perturbations of the uniform density keep their relative accuracy. The mass is no unknown: it cannot drift.

A density of symmetry n stays one; in the variable :math:`n\theta` it is a density of symmetry 1 with the
multipliers :math:`w_{nk}` and n^2 times the rates. The products are free of aliasing: 3 K + 1 nodes or more carry
degree K (the rule of two thirds). Degrees beyond K are truncated; :meth:`tail` estimates their size.
"""

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation

from ..bases import Floats
from ..bases.limits import MAX_DEGREE
from ..bases.transforms import FourierTransform
from .derivatives import EvenDerivatives, FullDerivatives
from .rates import Rates

Complexes = NDArray[np.complex128]


class System(Protocol):
    """A system y' = L y + N(t, y) with L diagonal, most often autonomous.

    Attributes
    ----------
    problem
        The equation.
    degree : int
        K, the largest degree in units of the symmetry.
    size : int
        Number of real unknowns.
    symmetry : int
        n: only degrees that are multiples of n occur.
    even : bool
        Whether densities are even about an axis, so that the sines vanish.
    largest : int
        The largest degree, symmetry counted.
    multistep : bool
        Whether a Jacobian, and with it LSODA, is affordable.
    unit : float
        Rate at which diffusion alone damps cell 1, up to a factor of the dimension; without noise the unit of rates
        instead.
    linear : (size,) float
        L.
    weights : (size,) float or None
        Factors that turn the unknowns into coefficients of orthonormal functions, so that the density itself is
        known to the accuracy asked for beside its moments; None if both are nearly the same.
    """

    problem: Equation
    degree: int
    size: int
    symmetry: int
    even: bool
    largest: int
    multistep: bool
    unit: float
    linear: Floats
    weights: Floats | None

    def nonlinear(self, unknown: Floats) -> Floats:
        """Return N(0, y), shape (size,)."""

    def nonlinear_at(self, time: float, unknown: Floats) -> Floats:
        """Return N(t, y), shape (size,)."""
        return self.nonlinear(unknown)

    def derivative(self, time: float, unknown: Floats) -> Floats:
        """Return y', shape (size,)."""
        result = self.nonlinear_at(time, unknown)
        result += self.linear * unknown
        return result

    def jacobian(self, time: float, unknown: Floats) -> Floats:
        """Return the Jacobian of y' in y, (size, size), in a buffer that the next call overwrites."""

    def pack(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the unknowns of a density from its moments by degree, truncated at K."""

    def unpack(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """Return cosine and sine moments by degree, each (..., n K + 1), of unknowns (..., size)."""

    def tail(self, unknown: Floats) -> float:
        """Return the largest of the last eighth of the sizes of moments."""
        return float(self.sizes(unknown)[-(self.degree // 8) :].max())

    def sizes(self, unknown: Floats) -> Floats:
        """Return the size of the moments of each of the K cells, (K,)."""

    def beyond(self, unknown: Floats, share: float) -> Floats:
        """Return the unknowns of the cells beyond a share of K; by default each cell has equally many."""
        return unknown[math.ceil(share * self.size) :]

    def costs(self, duration: float) -> tuple[float, float]:
        """Return estimates of the seconds that LSODA and exponential formulas take for a duration."""

    def resized(self, degree: int) -> "System":
        """Return the same system with another K."""


class AxialSystem(System):
    """Densities with an axis: the unknowns are the moments about it of degree n, 2n, ..., nK."""

    even = True

    def pack(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the unknowns of a density of the symmetry from its moments by degree."""
        return cells_of(cosine, self.symmetry, self.degree)

    def unpack(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """Return the moments of unknowns by degree, and zeros in the place of sines."""
        cosine = np.zeros((*unknowns.shape[:-1], self.symmetry * self.degree + 1))
        cosine[..., 0] = 1.0
        cosine[..., self.symmetry :: self.symmetry] = unknowns
        return cosine, np.zeros_like(cosine)

    def sizes(self, unknown: Floats) -> Floats:
        """Return the modulus of the moment of each cell, (K,)."""
        return np.abs(unknown)


class EvenSystem(AxialSystem):
    """Even densities: the unknowns are the cosine moments of degree n, 2n, ..., nK.

    With e the density and o the slope of the field, both without their mean, the product e o is half the odd
    part of (e + o)^2, so that one transform forth and one back are enough.

    Parameters
    ----------
    problem
        The equation, with its coupling.
    degree
        K.
    symmetry
        n.
    """

    largest = MAX_DEGREE
    multistep = True
    weights: Floats | None = None

    def __init__(self, problem: Equation, degree: int, symmetry: int = 1) -> None:
        self.problem, self.degree, self.size, self.symmetry = problem, degree, degree, symmetry
        self.rates = rates = Rates(problem, degree, symmetry)
        self.unit = rates.unit
        self.linear = rates.linear
        # Density and slope of one size: the square would drown the smaller one in rounding.
        balance = 1.0 / max(float(np.abs(rates.attraction).max()), float(np.abs(rates.force).max()), 1e-300)
        self._slope = balance * rates.attraction
        self._transform = transform = FourierTransform(alias_free(degree))
        self._constant = rates.divergence * rates.force
        self._weights = rates.divergence / (2.0 * balance * transform.nodes)
        self._offset = balance * rates.force if rates.confined else None
        parts = transform.coefficients.view(float).reshape(-1, 2)
        self._density, self._odd = parts[1 : degree + 1, 0], parts[1 : degree + 1, 1]
        self._derivatives: EvenDerivatives | None = None

    def nonlinear(self, unknown: Floats) -> Floats:
        """Return the nonlinear part of the derivative: the quadratic terms and those of the confinement."""
        transform = self._transform
        transform.coefficients.fill(0.0)
        self._density[:] = unknown
        np.multiply(self._slope, unknown, self._odd)
        if self.rates.noise == 0.0 and self._offset is None and not self._odd.any():
            # A density without a field stays, which rounding of the square would not let it.
            return np.zeros(self.size)
        if self._offset is not None:
            self._odd += self._offset
        transform.synthesise()
        values = transform.values
        np.multiply(values, values, values)
        transform.analyse()
        result: Floats = self._odd * self._weights
        if self._offset is not None:
            result += self._constant
        return result

    def jacobian(self, time: float, unknown: Floats) -> Floats:
        """Return the Jacobian of the derivative in the moments."""
        if self._derivatives is None:
            self._derivatives = EvenDerivatives(self.rates)
        return self._derivatives.matrix(unknown)

    def costs(self, duration: float) -> tuple[float, float]:
        """Return estimates of the seconds that LSODA and exponential formulas take for a duration."""
        return costs(self.rates, self.size, duration)

    def resized(self, degree: int) -> "EvenSystem":
        """Return the same system with another K."""
        return EvenSystem(self.problem, degree, self.symmetry)


class FullSystem(System):
    """All densities: the unknowns are real and imaginary parts of c_n, c_2n, ..., c_nK, in turn.

    Parameters
    ----------
    problem, degree, symmetry
        As for :class:`EvenSystem`.
    """

    even = False
    largest = MAX_DEGREE
    multistep = True
    weights: Floats | None = None

    def __init__(self, problem: Equation, degree: int, symmetry: int = 1) -> None:
        self.problem, self.degree, self.size, self.symmetry = problem, degree, 2 * degree, symmetry
        self.rates = rates = Rates(problem, degree, symmetry)
        self.unit = rates.unit
        self.linear = np.repeat(rates.linear, 2)
        nodes = alias_free(degree)
        self._density, self._field = FourierTransform(nodes), FourierTransform(nodes)
        self._slope = 1j * rates.attraction
        self._weights = -1j * rates.divergence / nodes
        self._offset = 1j * rates.force if rates.confined else None
        self._constant = rates.divergence * rates.force
        self._inside = slice(1, degree + 1)
        self._derivatives: FullDerivatives | None = None

    def nonlinear(self, unknown: Floats) -> Floats:
        """Return the nonlinear part of the derivative: the quadratic terms and those of the confinement."""
        moments = unknown.view(complex)
        density, field, inside = self._density, self._field, self._inside
        density.coefficients.fill(0.0)
        field.coefficients.fill(0.0)
        density.coefficients[inside] = moments
        slope = field.coefficients[inside]
        np.multiply(self._slope, moments, slope)
        if self._offset is not None:
            slope += self._offset
        density.synthesise()
        field.synthesise()
        np.multiply(density.values, field.values, density.values)
        density.analyse()
        result: Complexes = self._weights * density.coefficients[inside]
        if self._offset is not None:
            result += self._constant
        return result.view(float)

    def jacobian(self, time: float, unknown: Floats) -> Floats:
        """Return the Jacobian of the derivative in real and imaginary parts."""
        if self._derivatives is None:
            self._derivatives = FullDerivatives(self.rates)
        return self._derivatives.matrix(unknown.view(complex))

    def pack(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the unknowns of a density of the symmetry from its moments by degree."""
        moments = cells_of(cosine, self.symmetry, self.degree) - 1j * cells_of(sine, self.symmetry, self.degree)
        return moments.view(float)

    def unpack(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """Return cosine and sine moments of unknowns by degree."""
        cosine = np.zeros((*unknowns.shape[:-1], self.symmetry * self.degree + 1))
        sine = np.zeros_like(cosine)
        cosine[..., 0] = 1.0
        cosine[..., self.symmetry :: self.symmetry] = unknowns[..., 0::2]
        sine[..., self.symmetry :: self.symmetry] = -unknowns[..., 1::2]
        return cosine, sine

    def sizes(self, unknown: Floats) -> Floats:
        """Return the larger modulus of real and imaginary part of the moment of each cell, (K,)."""
        return np.asarray(np.abs(unknown).reshape(self.degree, 2).max(axis=1))

    def costs(self, duration: float) -> tuple[float, float]:
        """Return estimates of the seconds that LSODA and exponential formulas take for a duration."""
        return costs(self.rates, self.size, duration)

    def resized(self, degree: int) -> "FullSystem":
        """Return the same system with another K."""
        return FullSystem(self.problem, degree, self.symmetry)


def costs(rates: Rates, size: int, duration: float) -> tuple[float, float]:
    """Return estimates of the seconds that LSODA and exponential formulas take for a duration.

    Multistep formulas factorise matrices, some fifty of them for any duration; exponential ones make a number of
    cheap steps in a unit of time.
    """
    steps = duration * rates.explicit_steps()
    return 6e-9 * size**3 + 1e-6 * size**2, steps * (3e-5 + 1.5e-7 * size)


def cells_of(moments: Floats, symmetry: int, degree: int) -> Floats:
    """Return the moments of degree n, 2n, ..., nK, padded with zeros."""
    result = np.zeros(degree)
    given = moments[symmetry::symmetry][:degree]
    result[: given.size] = given
    return result


def alias_free(degree: int) -> int:
    """Return the least even number of nodes above 3 * degree whose only factors are 2, 3 and 5."""
    return smooth_above(3 * degree)


def smooth_above(number: int) -> int:
    """Return the least even number above another whose only factors are 2, 3 and 5."""
    half = number // 2 + 1
    while not _smooth(half):
        half += 1
    return 2 * half


def _smooth(number: int) -> bool:
    for factor in (2, 3, 5):
        while number % factor == 0:
            number //= factor
    return number == 1
