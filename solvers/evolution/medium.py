r"""The velocity that moments of a density make, on the circle and for densities about an axis on spheres.

Every function here is one of an angle x: on the circle the angle itself, on spheres that to the axis. A sum
:math:`\sum_l k_l p_l P_l(\cos x)` is rewritten in cosines of multiples of x, with the positive coefficients
:math:`P_l(\cos x) = \sum_j A_{lj}\cos jx`, and the moments :math:`p_l` are :math:`\sum_j A_{lj} c_j` of the cosine
moments :math:`c_j` of the angle. So spheres differ from the circle by a matrix, :math:`A^T\mathrm{diag}(k)A` for
:math:`\mathrm{diag}(k)`, and a density even in the angle on the circle is the case of dimension 2.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from meanfield import InvalidInput, VelocityLaw
from meanfield.domains import Domain
from meanfield.equations import Capability

from ..bases import Floats
from ..bases.transforms import waves_at

Complexes: TypeAlias = NDArray[np.complex128]
# Speeds are differentiated by a complex step, so they take and return real or complex arrays.
Numbers: TypeAlias = NDArray[Any]

EPS = float(np.finfo(float).eps)
# Multipliers are taken up to the degree at which the second derivative of the kernel has converged to this share.
CONVERGED = 1e-13
NEGLIGIBLE = 1e-18
LARGEST_DEGREE = 1024
# Nodes of the mean of a derivative between two points, and the step of the complex derivative.
MEAN_NODES, MEAN_WEIGHTS = np.polynomial.legendre.leggauss(10)
STEP = 1e-30
# Points farther apart than this have no cancellation to speak of in the difference of their velocities.
APART = 0.2


@dataclass(frozen=True)
class Medium:
    """A velocity law on a domain, with its multipliers and its coupling.

    Attributes
    ----------
    law, coupling
        The velocity law and kappa.
    dimension
        d of the space around the sphere, 2 for the circle.
    even
        Whether densities are even in the angle and labels stand for both signs of it, as on all spheres.
    multipliers : tuple of (K + 1,) arrays
        Those of the kernels of the law, of the degrees 0, n, ..., nK.
    symmetry
        n, of densities of n-fold symmetry on the circle.
    turning
        The angular velocity of the frame, in which points of the circle move slower by as much.
    """

    law: VelocityLaw
    coupling: float
    dimension: int
    even: bool
    multipliers: tuple[Floats, ...]
    symmetry: int = 1
    turning: float = 0.0

    @property
    def degree(self) -> int:
        """The last degree K of the kernels, in units of the symmetry."""
        return self.multipliers[0].size - 1

    @cached_property
    def is_gradient(self) -> bool:
        """Whether the speed is one, so that the flow is the gradient flow of an energy."""
        return not self.law.lacks(Capability.GRADIENT)

    @cached_property
    def degrees(self) -> Floats:
        """The degrees 0, n, ..., nK."""
        return self.symmetry * np.arange(self.degree + 1, dtype=np.float64)

    @cached_property
    def _matrices(self) -> tuple[Floats, ...]:
        table = polynomials_in_cosines(self.dimension, self.degree)
        return tuple((table.T * kernel) @ table for kernel in self.multipliers)

    @cached_property
    def _ahead(self) -> tuple[Numbers, ...]:
        """The multipliers of the field a phase lag ahead of a point."""
        if not self.law.lag:
            return self.multipliers
        return tuple(kernel * np.exp(1j * self.law.lag * self.degrees) for kernel in self.multipliers)

    def waves(self, angles: Floats) -> Complexes:
        """Return e^(ilx), l = 0, n, ..., nK in rows, at angles."""
        return waves_at(self.symmetry * angles, self.degree)

    def fields(self, moments: Complexes) -> tuple[Complexes, ...]:
        """Return the coefficients H of the fields, h(x) = Re sum_l H_l e^(ilx), from the moments of e^(ilx).

        With a phase lag they are those of the fields at x + lag, which a particle at x follows.
        """
        if self.even:
            return tuple((matrix @ moments.real).astype(complex) for matrix in self._matrices)
        return tuple(kernel * moments.conj() for kernel in self._ahead)

    def velocity(self, waves: Complexes, fields: tuple[Complexes, ...]) -> Floats:
        """Return the velocity at points given by their waves."""
        if self.is_gradient:
            return np.asarray(self.coupling * ((1j * self.degrees * fields[0]) @ waves).real)
        return self.at(self._parts(waves, fields)).real - self.turning

    def at(self, parts: Numbers) -> Numbers:
        """Return the velocity from h', h and R in the rows of an array, real or complex."""
        slope, field, radial = parts
        return np.asarray(self.coupling * self.law.speed(field, slope * slope, radial) * slope)

    def _parts(self, waves: Complexes, fields: tuple[Complexes, ...]) -> Floats:
        first = fields[0]
        slope = ((1j * self.degrees * first) @ waves).real
        parts = np.zeros((3, *slope.shape))
        parts[0], parts[1] = slope, (first @ waves).real
        if len(fields) > 1:
            parts[2] = (fields[1] @ waves).real
        return parts

    def difference(self, point: float, offsets: Floats, fields: tuple[Complexes, ...]) -> Floats:
        r"""Return v(point + offset) - v(point), accurate relative to the offset.

        Fields differ by :math:`e^{il(s+u)}-e^{ils} = 2i\sin(lu/2)\,e^{il(s+u/2)}`, and velocities by the mean of
        their derivative between the two.
        """
        half = 0.5 * np.multiply.outer(self.degrees, offsets)
        changes = 2j * np.sin(half) * np.exp(1j * (half + self.degrees[:, None] * point))
        if self.is_gradient:
            return self.velocity(changes, fields)
        here = self._parts(self.waves(np.array([point])), fields)
        change = self._parts(changes, fields)
        nodes = 0.5 * (1.0 + MEAN_NODES)[:, None, None]
        between = np.moveaxis(here + (nodes + 1j * STEP) * change, 1, 0)
        near = (0.5 * MEAN_WEIGHTS) @ (self.at(between).imag / STEP)
        far = self.at(here + change) - self.at(here)
        return np.where(np.abs(offsets) > APART, far, near)

    def radial(self, point: float, fields: tuple[Complexes, ...]) -> float:
        """Return R at a point, 0 where the speed does not depend on it."""
        return float(self._parts(self.waves(np.array([point])), fields)[2, 0])

    def rounding(self, point: float, fields: tuple[Complexes, ...]) -> float:
        """Return the rounding of the divergence at a point, by the sum of its terms in the field of a point."""
        slope, field, radial = self._parts(self.waves(np.array([point])), fields)
        speed = float(np.abs(self.law.speed(field, slope * slope, radial))[0])
        return 8.0 * EPS * abs(self.coupling) * speed * float(np.abs(self.multipliers[0] * self.degrees**2).sum())

    def divergence(self, point: float, fields: tuple[Complexes, ...]) -> float:
        """Return the derivative of the velocity in the angle at a point."""
        waves = self.waves(np.array([point]))
        here = self._parts(waves, fields)
        change = self._parts(1j * self.degrees[:, None] * waves, fields)
        return float(self.at(here + 1j * STEP * change).imag[0] / STEP)


def point_fields(medium: Medium) -> tuple[Complexes, ...]:
    """Return the fields of all mass at the angle 0."""
    return medium.fields(np.ones(medium.degree + 1, dtype=complex))


def medium_of(law: VelocityLaw, coupling: float, domain: Domain, even: bool, symmetry: int = 1) -> Medium:
    """Return a velocity law on a domain with the multipliers that are not negligible.

    Raises
    ------
    InvalidInput
        If they do not fit double precision, or decay so slowly that the velocity has a kink or a jump.
    """
    degree = 32
    while degree <= LARGEST_DEGREE:
        with np.errstate(over="ignore", invalid="ignore"):
            kernels = _kernels(law, domain, degree)
            bends = np.abs(kernels[0]) * np.arange(degree + 1.0) ** 2
            total = float(bends.sum())
        if not np.isfinite(total):
            raise InvalidInput(
                "the multipliers of the potential do not fit double precision; take a smaller one, such as a "
                "transformer with abs(beta) <= 20, and count time in other units"
            )
        if total == 0.0:
            last = 1
            break
        if float(bends[degree // 2 :].sum()) <= CONVERGED * total:
            last = int(np.flatnonzero(bends > NEGLIGIBLE * total)[-1])
            break
        degree *= 2
    else:
        raise InvalidInput(
            f"the second derivative of the potential does not converge by degree {LARGEST_DEGREE}, so the velocity "
            "has a kink or a jump, and there is no exponential rate at a point; characteristics without noise need "
            "a smooth potential, such as Transformer(beta=1)"
        )
    kept = slice(0, max(last, symmetry) + 1, symmetry)
    return Medium(law, coupling, domain.dimension, even, tuple(kernel[kept] for kernel in kernels), symmetry)


def _kernels(law: VelocityLaw, domain: Domain, degree: int) -> tuple[Floats, ...]:
    """Return the multipliers 0, ..., degree of the drive, and of the radial drive if the speed depends on it."""
    rows = (law.drive(domain, degree), law.radial(domain, degree))
    return tuple(np.asarray(row, dtype=np.float64) for row in rows if row is not None)


def polynomials_in_cosines(dimension: int, degree: int) -> Floats:
    """Return A with P_l(cos x) = sum_j A_lj cos jx, from the three-term recurrence."""
    table = np.zeros((degree + 1, degree + 2), dtype=np.longdouble)
    table[0, 0] = 1.0
    if degree:
        table[1, 1] = 1.0
    for index in range(1, degree):
        row = table[index]
        # cos x cos jx = (cos (j+1)x + cos (j-1)x) / 2
        times_cosine = np.zeros_like(row)
        times_cosine[1:] = 0.5 * row[:-1]
        times_cosine[1] += 0.5 * row[0]
        times_cosine[:-1] += 0.5 * row[1:]
        scale = 2 * index + dimension - 2
        table[index + 1] = (scale * times_cosine - index * table[index - 1]) / (index + dimension - 2)
    return table[:, : degree + 1].astype(np.float64)
