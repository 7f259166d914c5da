r"""The stationary equation on the circle of densities that carry a current.

Where nothing reflects the equation, as under a phase lag, a common frequency or a velocity that is no gradient in a
confinement without an axis, stationary densities have a flux:

.. math:: \rho' - g\rho = \text{const}, \qquad g = \frac{\kappa v[\rho] - V' + \omega}{D} ,

with the velocity v of the law, the confinement V and the common frequency :math:`\omega`. For a given g that is a
linear equation for the moments of the density, which has one solution. The unknown is
:math:`b = A\langle c\rangle` for cosines and sines of the significant degrees, see :mod:`.equation`, from which v
follows, and the residual

.. math:: r(b, q) = b - A\langle c\rangle_{\rho[g(b, q)]} .

The mean velocity of the particles is :math:`D\langle g\rangle_\rho`, the flux times :math:`2\pi`.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from meanfield.records import MEAN_VELOCITY

from .bases import Floats, Gibbs, Integers
from .equation import Evaluation, StationaryEquation
from .law_eigenvalues import regularised_velocity, rounding_of, velocity_slopes
from .nodal import NodalEquation

if TYPE_CHECKING:
    from .solution import Solution

# Most resolved degrees over the symmetry, for the density is solved for by a dense matrix of twice as many rows,
# and how many to begin with.
MOST, FEWEST = 512, 64
Complexes = NDArray[np.complex128]


class Slopes(NamedTuple):
    """Derivatives of the moments along the unknowns, (2 N, size), and along q."""

    moments: Floats
    along_q: Floats


class CurrentEquation(NodalEquation):
    """The stationary equation of densities with a current; parameters are those of the base."""

    symmetric = False
    invariant_name: str | None = MEAN_VELOCITY

    def _prepare(self) -> None:
        super()._prepare()
        law, domain = self.problem.velocity, self.problem.domain
        last = int(self.basis.degrees.max())
        # Zero for a mode that does not act, which a density has nevertheless.
        self._inverse_scales = np.divide(1.0, self.scales, out=np.zeros_like(self.scales), where=self.scales > 0.0)
        self._own_degrees = self.basis.symmetry * self.basis.cells
        ahead = np.exp(1j * law.lag * self._own_degrees)
        drive, radial = law.drive(domain, last), law.radial(domain, last)
        self._drive = drive[0], drive[self._own_degrees] * ahead
        self._radial = None if radial is None else (radial[0], radial[self._own_degrees] * ahead)

    def frame_velocity(self, invariant: float) -> float:
        """Return the angular velocity of the frame in which a state with an invariant rests."""
        return 0.0

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return residual and density, with the mean velocity in the place of log Z, at (b, q)."""
        velocities = self._drift(b, q)
        moments = self._at_rest(velocities)
        stacked = self._stacked(moments, 1.0)
        mean = float(np.mean(velocities * self._density_on_grid(moments, velocities.size)))
        residual = b - self.scales * self.basis.means(stacked)
        return Evaluation(residual, Gibbs(stacked, self.problem.positive_noise * mean))

    def linearise(self, b: Floats, q: float, moments: Floats) -> tuple[Floats, Floats]:
        """Return the Jacobian of the residual and its derivative in q."""
        slopes = self._slopes(b, q)
        jacobian = np.eye(b.size) - self.scales[:, None] * slopes.moments[self._places]
        return jacobian, -self.scales * slopes.along_q[self._places]

    def own_block(self, b: Floats, q: float, moments: Floats) -> Floats:
        """Return the Jacobian of the residual."""
        return self.linearise(b, q, moments)[0]

    def moment_slopes(self, solution: "Solution") -> Floats:
        """Return the derivatives of the moments along the tangent of a solution."""
        slopes = self._slopes(solution.b, solution.q)
        return self._stacked(slopes.moments @ solution.tangent_b + slopes.along_q * solution.tangent_q, 0.0)

    def field_bound(self, b: Floats, q: float) -> float:
        """Return the largest modulus of g."""
        return float(np.abs(self._drift(b, q)).max())

    def refined(self, b: Floats, q: float, moments: Floats) -> StationaryEquation | None:
        """Return the equation with twice the nodes or unknowns that do not suffice, or None at the limits."""
        finer = super().refined(b, q, moments)
        return None if finer is None or finer.basis.nodes > MOST else finer

    def invariant_rounding(self, b: Floats, q: float) -> float:
        """Return the rounding error of the mean velocity."""
        return self.problem.positive_noise * super().invariant_rounding(b, q)

    @property
    def _places(self) -> Integers:
        """The places of the unknown modes among the cosines and sines of cells 1..N."""
        cells = self.basis.cells - 1
        return np.concatenate([cells, self.basis.nodes + cells])

    def _stacked(self, moments: Floats, mass: float) -> Floats:
        """Return moments in the layout of the basis from those of cells 1..N and that of cell 0."""
        cosine, sine = np.split(moments, 2)
        return np.concatenate([[mass], cosine, [0.0], sine])

    def _series(self, coefficients: Complexes, constant: float = 0.0) -> Floats:
        """Return the real functions constant + Re sum_k c_k e^(ik phi) on the grid, c_k for the cells, in rows."""
        points = 4 * self.basis.nodes
        spectrum = np.zeros((*coefficients.shape[:-1], points // 2 + 1), dtype=complex)
        spectrum[..., self.basis.cells] = 0.5 * coefficients
        spectrum[..., 0] = constant
        return np.asarray(np.fft.irfft(spectrum, points, norm="forward"))

    def _averages(self, b: Floats) -> tuple[Floats, Floats, Floats | None, float]:
        """Return the drive, its slope and the radial drive on the grid, and their rounding errors."""
        cosine, sine = np.split(b * self._inverse_scales, 2)
        moments = cosine - 1j * sine
        slopes = 1j * self._own_degrees * self._drive[1] * moments
        drive, slope = self._series(self._drive[1] * moments, self._drive[0]), self._series(slopes)
        if self._radial is None:
            return drive, slope, None, rounding_of(slopes)
        terms = self._radial[1] * moments
        return drive, slope, self._series(terms, self._radial[0]), rounding_of(slopes, self._radial[0], terms)

    def _ratio(self, q: float) -> float:
        """Return kappa/D."""
        return float(self.coupling(q)) / self.problem.positive_noise

    def _velocities(self, b: Floats, unit: float) -> Floats:
        """Return v on the grid, times a unit."""
        return unit * regularised_velocity(self.problem.velocity, *self._averages(b))

    def _drift(self, b: Floats, q: float) -> Floats:
        """Return g on the grid."""
        drift = self._velocities(b, self._ratio(q)) + self.problem.velocity.frequency / self.problem.positive_noise
        return drift if self.basis.confinement is None else drift + self._force(drift.size)

    def _force(self, points: int) -> Floats:
        """Return -V'/D on the grid."""
        confinement: Any = self.basis.confinement
        count = min(confinement.size, self.basis.nodes)
        spectrum = np.zeros(points // 2 + 1, dtype=complex)
        spectrum[1 : count + 1] = 0.5j * self.basis.symmetry * np.arange(1, count + 1) * confinement[:count]
        return np.asarray(np.fft.irfft(spectrum, points, norm="forward"))

    def _changes(self, b: Floats, q: float) -> Floats:
        """Return the derivatives of g along the unknowns on the grid, one row each."""
        units = np.concatenate([np.eye(self.basis.cells.size), -1j * np.eye(self.basis.cells.size)])
        units = units * self._inverse_scales[:, None]
        by_drive, by_slope, by_radial = velocity_slopes(self.problem.velocity, *self._averages(b))
        changes = by_drive * self._series(self._drive[1] * units)
        changes += by_slope * self._series(1j * self._own_degrees * self._drive[1] * units)
        if by_radial is not None and self._radial is not None:
            changes += by_radial * self._series(self._radial[1] * units)
        return self._ratio(q) * changes

    def _matrix(self, velocities: Complexes, speed: float) -> Floats:
        """Return the matrix of the linear equation of the moments of cells 1..N from the coefficients of g."""
        count = self.basis.nodes
        near = scipy.linalg.toeplitz(velocities[:count], velocities[:count].conj())
        far = scipy.linalg.hankel(velocities[2 : count + 2], velocities[count + 1 : 2 * count + 1])
        total, difference = near + far, near - far
        degrees = np.diag(self.basis.symmetry * np.arange(1.0, count + 1.0))
        turn = speed * np.eye(count)
        return np.block(
            [
                [degrees - total.imag, difference.real - turn],
                [turn - total.real, degrees - difference.imag],
            ]
        )

    def _spectrum(self, values: Floats) -> Complexes:
        """Return the coefficients of e^(ik phi), k = 0..2N, of functions on the grid, rows each."""
        return np.asarray(np.fft.rfft(values, norm="forward"))

    def _sides(self, spectrum: Complexes) -> Floats:
        """Return the right-hand sides of functions in the place of g, cells 1..N, in rows."""
        inside = spectrum[..., 1 : self.basis.nodes + 1]
        return np.concatenate([inside.imag, inside.real], axis=-1)

    def _at_rest(self, velocities: Floats) -> Floats:
        """Return the moments of cells 1..N of the density at rest under g on the grid."""
        spectrum = self._spectrum(velocities)
        solved: Floats = scipy.linalg.solve(self._matrix(spectrum, 0.0), self._sides(spectrum), check_finite=False)
        return solved

    def _density_on_grid(self, moments: Floats, points: int) -> Floats:
        """Return the density of mean one on the grid from its moments of cells 1..N."""
        cosine, sine = np.split(moments, 2)
        waves = np.zeros(points // 2 + 1, dtype=complex)
        waves[1 : self.basis.nodes + 1], waves[0] = cosine - 1j * sine, 1.0
        return np.asarray(np.fft.irfft(waves, points, norm="forward"))

    def _slopes(self, b: Floats, q: float) -> Slopes:
        """Return the derivatives of the moments."""
        velocities = self._drift(b, q)
        density = self._density_on_grid(self._at_rest(velocities), velocities.size)
        changes = np.vstack([self._changes(b, q), self._velocities(b, self._ratio(1.0))])
        sides = self._sides(self._spectrum(changes * density))
        matrix = self._matrix(self._spectrum(velocities), 0.0)
        found = np.asarray(np.linalg.solve(matrix, sides.T), dtype=float)
        return Slopes(found[:, :-1], found[:, -1])
