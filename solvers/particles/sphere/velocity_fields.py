r"""The drift of a velocity law on a sphere, :math:`\kappa\, s\,\nabla h - \nabla V`, as a function of the place."""

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation

from ..drift import steepness
from ..resolution import drives_of, require_resolved, velocity_errors
from ..velocity_pairs import require_finite
from .fields import EPS, AllPairs, Force, block_of, confining_force, tangent
from .harmonics import SolidGradient, SolidHarmonics
from .significant import SphereDegrees

Floats = NDArray[np.float64]

# Sums over harmonics are known to some roundings.
ROUNDINGS = 64.0


class VelocityPairField(AllPairs):
    """The drift by sums over all pairs, each particle with itself as well."""

    def drift(self, points: Floats, own: slice | None = None) -> Floats:
        """Return the drift at points (d, n).

        Raises
        ------
        ComputationFailed
            If a velocity is not finite.
        """
        drive, derivative, radial = self._problem.velocity.kernels(self.cosines(points))
        average = self._positions @ derivative.T / self._positions.shape[1]
        averaged = None if radial is None else radial.mean(axis=1)
        return regulated(self._problem, points, drive.mean(axis=1), average, averaged, self._confinement)


class VelocityHarmonicField:
    """The drift on S^2 from the moments with all significant harmonics: drive, gradient and radial drive."""

    def __init__(self, problem: Equation, significant: SphereDegrees) -> None:
        degree = significant.degree
        self._problem = problem
        self._harmonics, self._gradient = SolidHarmonics(degree), SolidGradient(degree)
        self._below = slice(0, degree * (degree + 1) // 2)
        self._confinement = confining_force(problem, significant)
        kept, beyond = drives_of(problem, degree)
        self._weights: Floats = kept[:, self._harmonics.degrees]
        self._errors = _errors(problem, kept, beyond)
        self._confining = significant.confining_slope
        self._rows: Floats = np.zeros((len(kept), 2 * self._harmonics.size))
        self._matrix: Floats = np.zeros((3, 2 * self._below.stop))
        self.block = block_of(self._harmonics.size)

    def gather(self, positions: Floats) -> None:
        """Compute the field of particles (3, N)."""
        means = np.array(self._harmonics.means(positions, self.block))
        self._matrix = self._gradient.matrix(*(self._weights[0] * means))
        self._rows = (self._weights[:, np.newaxis, :] * means).reshape(self._rows.shape)

    def drift(self, points: Floats, own: slice | None = None) -> Floats:
        """Return the drift at points (3, n).

        Raises
        ------
        ComputationFailed
            If moments do not resolve the velocity.
        """
        values = self._harmonics.values(points)
        drives = self._rows @ values.reshape(-1, points.shape[1])
        gradient = self._matrix @ values[:, self._below].reshape(-1, points.shape[1])
        radial = drives[1] if len(drives) > 1 else None
        slope = np.sqrt((tangent(points, gradient) ** 2).sum(axis=0))
        errors = velocity_errors(self._problem, np.insert(drives, 1, slope, axis=0), self._errors)
        require_resolved(self._problem, errors, self._confining)
        return regulated(self._problem, points, drives[0], gradient, radial, self._confinement)


def _errors(problem: Equation, kept: Floats, beyond: Floats) -> Floats:
    """Return bounds of the errors of drive, slope and radial drive, by rounding and by the degrees left out."""
    slopes = np.sqrt(steepness(problem.domain.dimension, kept.shape[1] + beyond.shape[1] - 1))
    rows = np.concatenate([kept, beyond], axis=1)
    sizes = np.abs(np.insert(rows, 1, slopes * rows[0], axis=0))
    sizes[:, : kept.shape[1]] *= ROUNDINGS * EPS
    return np.asarray(sizes.sum(axis=1))


def regulated(
    problem: Equation,
    points: Floats,
    drive: Floats,
    gradient: Floats,
    radial: Floats | None,
    confinement: Force,
) -> Floats:
    """Return the drift at points (d, n), from the drives there (n,) and the gradient up to a part along the points.

    Raises
    ------
    ComputationFailed
        If a velocity is not finite.
    """
    slope = tangent(points, gradient)
    with np.errstate(all="ignore"):
        speed = problem.velocity.speed(drive, np.einsum("in,in->n", slope, slope), radial)
        slope *= float(problem.fixed_coupling) * speed
    confinement.add(points, slope)
    require_finite(problem, slope)
    return np.asarray(slope)
