r"""The drift of a velocity law on the circle from moments: a cubic in each cell, as that of the gradient law is.

The drive, its slope and the radial drive are band-limited and known at any place from the moments. The velocity,

.. math:: b = \omega + \kappa\, s(h, h'^2, R)\, h' - V',

is not: it has more modes than the drive, and where no particle is near, h may be all rounding. So nothing is
transformed back. The cubic of a cell interpolates the velocity at four Chebyshev points of that cell, and what it
is in cells without particles does not matter. The error of the interpolation is that of :math:`T_4`, largest in
modulus at the centre of the cell, where the velocity is computed as well and the error measured.
"""

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation

from ..bases.transforms import FourierTransform
from .drift import POWERS, MomentForce, Truncation, cell_errors
from .resolution import drives_of, require_interpolated, require_resolved, velocity_errors, velocity_of

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

EPS = float(np.finfo(float).eps)
# Places in a cell: the zeros of T_4, and the centre.
PLACES = np.append(0.5 * np.cos(np.pi * (2.0 * np.arange(POWERS) + 1.0) / (2.0 * POWERS)), 0.0)
# Sums over modes are known to some roundings.
ROUNDINGS = 16.0
TO_CUBICS = np.linalg.inv(np.vander(PLACES[:POWERS], increasing=True))


class VelocityForce(MomentForce):
    """The maps from cell sums to moments and from moments to the cubics of a velocity law.

    Parameters
    ----------
    problem
        The equation.
    modes, degrees
        As for :class:`~solvers.particles.drift.MomentForce`.
    """

    def __init__(self, problem: Equation, modes: Truncation, degrees: int) -> None:
        super().__init__(modes, degrees)
        self._problem = problem
        kept, beyond = drives_of(problem, modes.degree)
        rows, left_out = _with_slope(kept, 0), _with_slope(beyond, modes.degree + 1)
        degrees_kept = np.arange(modes.degree + 1)
        # Half of each coefficient belongs to -k.
        waves = np.exp(2j * np.pi / self.cells * PLACES[:, np.newaxis] * degrees_kept)
        waves *= np.where(degrees_kept == 0, 1.0, 0.5)
        ahead = np.exp(1j * problem.velocity.lag * degrees_kept)
        self._waves: Complexes = np.asarray(rows[:, np.newaxis, :] * waves * ahead)
        self._waves[1] *= 1j
        self._transform = FourierTransform(self.cells, rows.shape[0] * PLACES.size)
        forces: Complexes = np.asarray(-1j * degrees_kept * modes.confinement * waves)
        self._beside = self._synthesised(forces) + problem.velocity.frequency
        self._confining = float(np.abs(degrees_kept * modes.confinement).sum())
        errors = cell_errors(degrees_kept, self.cells) + ROUNDINGS * EPS
        self._errors: Floats = (np.abs(rows) * errors).sum(axis=1) + np.abs(left_out).sum(axis=1)

    def prepare(self, moments: Complexes, step: float) -> None:
        """Fill ``table`` with the displacements of a step among particles of the given moments.

        Raises
        ------
        ComputationFailed
            If moments do not resolve the velocity of a particle.
        """
        transform, kept = self._transform, self.modes.degree + 1
        transform.coefficients[:, kept:] = 0.0
        transform.coefficients[:, :kept] = (self._waves * moments[:kept]).reshape(-1, kept)
        transform.synthesise()
        drives = transform.values.reshape(-1, PLACES.size, self.cells)
        velocity = velocity_of(self._problem, drives) + self._beside
        # Where no particle is near, the velocity may not be finite.
        with np.errstate(invalid="ignore"):
            np.matmul(TO_CUBICS, velocity[:POWERS], out=self.table)
            self._check(drives[:, -1], self.table[0] - velocity[-1])
        self.table *= step * self.cells / (2.0 * np.pi)

    def contraction(self, moments: Complexes, step: float, noise: float) -> float:
        """Return step times the largest slope -b' at the centres of the cells with particles, at least 0."""
        return float(-self.table[1][self._occupied].min(initial=0.0))

    @property
    def _occupied(self) -> NDArray[np.bool_]:
        return np.asarray(self.sums[0] > 0.0)

    def _synthesised(self, coefficients: Complexes) -> Floats:
        """Return the sums of modes (places, K + 1) at the places of all cells."""
        transform = FourierTransform(self.cells, PLACES.size)
        transform.coefficients[:, : coefficients.shape[1]] = coefficients
        transform.synthesise()
        return transform.values

    def _check(self, drives: Floats, interpolation: Floats) -> None:
        """End the run where the moments do not know the velocity of a particle, or the cubics those of many."""
        occupied = self._occupied
        particles = self.sums[0][occupied]
        errors = velocity_errors(self._problem, drives[:, occupied], self._errors)
        require_resolved(self._problem, errors, self._confining)
        mean = float(particles @ np.abs(interpolation[occupied])) / float(particles.sum())
        require_interpolated(self._problem, mean, self._confining)


def _with_slope(coefficients: Floats, first: int) -> Floats:
    """Return rows of coefficients from a degree on, that of the slope (over i) behind that of the drive."""
    slope = np.arange(first, first + coefficients.shape[1]) * coefficients[0]
    return np.insert(coefficients, 1, slope, axis=0)
