r"""The equation in time for all densities on the ordinary sphere, in weak form.

With :math:`1 + f = \sum_l (2l+1) \sum_m c_{lm} e^c_{lm} + s_{lm} e^s_{lm}` the density over the uniform one and
:math:`g = -(\kappa W*\rho + V)/D` its field,

.. math::

    \dot c_{lm} = -D\,l(l+1)(1-\lambda_l)\,c_{lm} + D\,\bigl\langle f\,\nabla g\cdot\nabla e^c_{lm}\bigr\rangle
                  - \tfrac{l(l+1)}{2l+1} v_{lm},

and likewise with sines, :math:`v_{lm} = v_l\delta_{m0}` for a confinement about the pole; the means are uniform.
One synthesis, one gradient and the adjoint of the gradient make a time derivative, without a division by the sine.
The field has only the significant degrees of the potential, up to some L'; the products have degree 2 L + L', for
which the grid is exact.
"""

import math

import numpy as np

from meanfield import Equation
from meanfield.harmonics import place, zonal_places

from ...bases import Floats
from ...bases.spherical import SphericalTransform
from ..system import System, smooth_above
from .rates import SphereRates, significant_degree

# A derivative at this degree takes a second without ducc0, and the tables a gigabyte.
LARGEST = 511


class SphericalSystem(System):
    """All densities on S^2: the unknowns are the packed moments with cosines, then those with sines, from l = 1.

    Parameters
    ----------
    problem
        The equation on the ordinary sphere, with its coupling.
    degree
        L.
    """

    even = False
    multistep = False
    weights: Floats | None = None
    symmetry = 1
    largest = LARGEST

    def __init__(self, problem: Equation, degree: int) -> None:
        self.problem, self.degree = problem, degree
        rates = SphereRates(problem, degree)
        self._unit = rates.unit
        self.unit = 2.0 * rates.unit
        significant = significant_degree(rates)
        rings, meridians = (2 * degree + significant) // 2 + 1, smooth_above(2 * degree + significant)
        self._transform = transform = SphericalTransform(degree, rings, meridians)
        self._of_field = SphericalTransform(significant, rings, meridians)
        self._significant = significant = self._of_field.degrees.size
        self.degrees = degrees = transform.degrees[1:]
        self.size = 2 * degrees.size
        self.linear = np.tile(rates.linear[degrees - 1], 2)
        self._multiplicities = transform.multiplicities
        self._attraction = np.concatenate([[0.0], rates.attraction[degrees - 1]])[:significant]
        zonal = transform.orders == 0
        forces = rates.interaction.harmonic_forces(degree)
        self._force = forces[:, :significant]
        eigenvalues = transform.degrees * (transform.degrees + 1.0)
        constant = rates.unit * eigenvalues * forces / self._multiplicities
        self._constant: Floats = constant[:, 1:].ravel()
        self._cosine, self._sine = np.zeros((2, degrees.size + 1))
        self._waves = np.where(zonal, 0.0, rates.unit)[1:]

    def nonlinear(self, unknown: Floats) -> Floats:
        """Return the nonlinear part of the derivative: the quadratic terms and those of the confinement."""
        transform, half, significant = self._transform, self.size // 2, self._significant
        cosine, sine = self._cosine, self._sine
        cosine[1:], sine[1:] = unknown[:half], unknown[half:]
        density = transform.synthesise(self._multiplicities * cosine, self._multiplicities * sine)
        attraction = self._attraction
        along, across = attraction * cosine[:significant], attraction * sine[:significant]
        along += self._force[0]
        across += self._force[1]
        polar, azimuthal = self._of_field.gradient(along, across)
        polar *= density
        azimuthal *= density
        along, across = transform.divergence(polar, azimuthal)
        result = np.empty(self.size)
        np.multiply(along[1:], self._unit, out=result[:half])
        np.multiply(across[1:], self._waves, out=result[half:])
        result += self._constant
        return result

    def jacobian(self, time: float, unknown: Floats) -> Floats:
        """Refuse a Jacobian, which is too large, as :attr:`multistep` says."""
        raise NotImplementedError("densities on the full sphere have too many moments for a Jacobian")

    def pack(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the unknowns of a density from its packed moments."""
        result = np.zeros(self.size)
        count = min(cosine.size - 1, self.size // 2)
        result[:count] = cosine[1 : count + 1]
        result[self.size // 2 :][:count] = sine[1 : count + 1]
        return result

    def unpack(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """Return the packed cosine and sine moments of unknowns."""
        half = self.size // 2
        cosine, sine = np.zeros((2, *unknowns.shape[:-1], half + 1))
        cosine[..., 0] = 1.0
        cosine[..., 1:], sine[..., 1:] = unknowns[..., :half], unknowns[..., half:]
        return cosine, sine

    def tail(self, unknown: Floats) -> float:
        """Return the largest moment of the last eighth of the degrees."""
        return float(np.abs(self._from_degree(unknown, self.degree - self.degree // 8 + 1)).max())

    def sizes(self, unknown: Floats) -> Floats:
        """Return the largest modulus of the moments of each degree."""
        starts = [int(first) - 1 for first in zonal_places(self.degree)[1:]]
        moments = np.abs(unknown).reshape(2, -1)
        return np.asarray(np.maximum.reduceat(moments, starts, axis=1).max(axis=0))

    def beyond(self, unknown: Floats, share: float) -> Floats:
        """Return the moments of the degrees beyond a share of L."""
        return self._from_degree(unknown, math.ceil(share * self.degree) + 1)

    def costs(self, duration: float) -> tuple[float, float]:
        """Return infinite seconds for LSODA, which is not affordable, and 0 for exponential formulas."""
        return math.inf, 0.0

    def resized(self, degree: int) -> "SphericalSystem":
        """Return the same system with another L."""
        return SphericalSystem(self.problem, degree)

    def _from_degree(self, unknown: Floats, degree: int) -> Floats:
        return unknown.reshape(2, -1)[:, place(degree, 0) - 1 :].ravel()
