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

A change :math:`dg` changes the moments m by :math:`dm = L^{-1}B[\rho\,dg]`, L being the matrix of the linear
equation and B its right-hand side. With the solution y of :math:`L^Ty = \chi` and the function w of
:math:`y\cdot B[f] = \langle w f\rangle`, a mean changes by :math:`d\langle\chi\rangle = \langle w\rho\,dg\rangle`.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from meanfield.records import MEAN_VELOCITY

from ..bases import Floats, Gibbs, Integers
from ..execution.computed import computed_once
from .drift_matrix import Complexes, DriftMatrix
from .equation import Evaluation, StationaryEquation
from .law_eigenvalues import regularised_velocity, rounding_of, velocity_slopes
from .nodal import NodalEquation

if TYPE_CHECKING:
    from ..root_finding.solution import Solution

# Most resolved degrees over the symmetry, for the density is solved for by a dense matrix of twice as many rows,
# and how many to begin with.
MOST, FEWEST = 512, 64


def _halves(stacked: Floats) -> tuple[Floats, Floats]:
    """Return those of cosines and those of sines of stacked numbers, in rows."""
    count = stacked.shape[-1] // 2
    return stacked[..., :count], stacked[..., count:]


class Slopes(NamedTuple):
    """Derivatives of the moments along the unknowns, (2 N, size), and along q."""

    moments: Floats
    along_q: Floats


class AtRest:
    """The density at rest under a drift, and its response to changes of the drift.

    Parameters
    ----------
    equation
        The equation, of whose grid the drift is.
    drift : (points,) float
        Its values g.
    speed
        The angular velocity, over the noise, of the frame in which it is at rest.
    spectrum : (2 N + 1,) complex, optional
        The coefficients of the drift where they are known.

    Attributes
    ----------
    moments : (2 N,) float
        The moments of cells 1..N.
    speed : float
        That of the frame.
    """

    def __init__(
        self, equation: "CurrentEquation", drift: Floats, speed: float = 0.0, spectrum: Complexes | None = None
    ) -> None:
        self._equation, self.speed, self._points = equation, speed, drift.size
        spectrum = equation._spectrum(drift) if spectrum is None else spectrum
        self._matrix = equation._matrix(spectrum, speed)
        self.moments = self._matrix.solve(equation._sides(spectrum))

    @computed_once
    def density(self) -> Floats:
        """The density on the grid, of mean one, (points,)."""
        return self._equation._density_on_grid(self.moments, self._points)

    def responses(self, changes: Floats) -> Floats:
        """Return the changes of the moments of cells 1..N under changes of the drift, one row each."""
        return self._matrix.solve(self._equation._sides(self._equation._spectrum(changes * self.density)))

    @computed_once
    def faster(self) -> Floats:
        """The derivatives of the moments of cells 1..N in the angular velocity over the noise."""
        cosine, sine = _halves(self.moments)
        return self._matrix.solve(np.concatenate([sine, -cosine]))

    def adjoint(self, form: Floats) -> Floats:
        """Return y of a linear form of the moments of cells 1..N, see the module."""
        return self._matrix.solve(form, transposed=True)

    def weight(self, form: Floats) -> Floats:
        """Return the function w of a linear form of the moments of cells 1..N, (points,), see the module."""
        sine, cosine = _halves(self.adjoint(form))
        return self._equation._whole_series(cosine + 1j * sine)

    def change_on_grid(self, moments: Floats) -> Floats:
        """Return the change of the density on the grid from those of its moments of cells 1..N."""
        return self._equation._density_on_grid(moments, self._points, 0.0)

    def form(self, values: Floats) -> Floats:
        """Return the linear form of the moments that is the mean of a function times a density of mean zero."""
        spectrum = 2.0 * self._equation._spectrum(values)[1 : self._equation.basis.nodes + 1]
        return np.concatenate([spectrum.real, -spectrum.imag])


class CurrentEquation(NodalEquation):
    """The stationary equation of densities with a current; parameters are those of the base."""

    symmetric = False
    invariant_name: str | None = MEAN_VELOCITY

    def _prepare(self) -> None:
        super()._prepare()
        law, domain = self.problem.velocity, self.problem.domain
        last = int(self.basis.degrees.max())
        # The moments of modes that do not act are unknowns as well: another parameter may let them act.
        self.scales = self.signed_scales = np.where(self.scales > 0.0, self.scales, 1.0)
        self._own_degrees = self.basis.symmetry * self.basis.cells
        self._ahead = np.exp(1j * law.lag * self._own_degrees)
        drive, radial = law.drive(domain, last), law.radial(domain, last)
        self._drive = self._coefficients(drive)
        self._radial = None if radial is None else self._coefficients(radial)

    def _coefficients(self, of_degrees: Any) -> tuple[float, Complexes]:
        """Return the mean and the coefficients of the cells of a drive that lags, from those by degree."""
        return float(of_degrees[0]), of_degrees[self._own_degrees] * self._ahead

    def frame_velocity(self, invariant: float) -> float:
        """Return the angular velocity of the frame in which a state with an invariant rests."""
        return 0.0

    def evaluate(self, b: Floats, q: float) -> Evaluation:
        """Return residual and density, with the mean velocity in the place of log Z, at (b, q)."""
        velocities = self._drift(b, q)
        found = AtRest(self, velocities)
        stacked = self.stacked(found.moments, 1.0)
        mean = float(np.mean(velocities * found.density))
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
        return self.stacked(slopes.moments @ solution.tangent_b + slopes.along_q * solution.tangent_q, 0.0)

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

    def stacked(self, moments: Floats, mass: float) -> Floats:
        """Return moments in the layout of the basis from those of cells 1..N and that of cell 0."""
        cosine, sine = _halves(moments)
        return np.concatenate([[mass], cosine, [0.0], sine])

    def _series(self, coefficients: Complexes, constant: float = 0.0) -> Floats:
        """Return the real functions constant + Re sum_k c_k e^(ik phi) on the grid, c_k for the cells, in rows."""
        whole = np.zeros((*coefficients.shape[:-1], self.basis.nodes), dtype=complex)
        whole[..., self.basis.cells - 1] = coefficients
        return self._whole_series(whole, constant)

    def _whole_series(self, coefficients: Complexes, constant: float = 0.0) -> Floats:
        """Return the same functions from coefficients of cells 1..N or fewer of the first ones."""
        points = 4 * self.basis.nodes
        spectrum = np.zeros((*coefficients.shape[:-1], points // 2 + 1), dtype=complex)
        spectrum[..., 1 : coefficients.shape[-1] + 1] = 0.5 * coefficients
        spectrum[..., 0] = constant
        return np.asarray(np.fft.irfft(spectrum, points, norm="forward"))

    def _own_moments(self, unknowns: Floats) -> Complexes:
        """Return the moments m - i s of the cells by unknowns, in rows."""
        cosine, sine = _halves(unknowns / self.scales)
        return np.asarray(cosine - 1j * sine)

    def _averages(self, b: Floats) -> tuple[Floats, Floats, Floats | None, float]:
        """Return the drive, its slope and the radial drive on the grid, and their rounding errors."""
        moments = self._own_moments(b)
        slopes = 1j * self._own_degrees * self._drive[1] * moments
        drive, slope = self._series(self._drive[1] * moments, self._drive[0]), self._series(slopes)
        if self._radial is None:
            return drive, slope, None, rounding_of(slopes)
        terms = self._radial[1] * moments
        return (
            drive,
            slope,
            self._series(terms, self._radial[0]),
            rounding_of(slopes, np.array(self._radial[0]), terms),
        )

    def _ratio(self, q: float) -> float:
        """Return kappa/D."""
        return float(self.coupling(q)) / self.problem.positive_noise

    def _velocities(self, b: Floats, unit: float) -> Floats:
        """Return v on the grid, times a unit."""
        return unit * regularised_velocity(self.problem.velocity, *self._averages(b))

    def _drift(self, b: Floats, q: float) -> Floats:
        """Return g on the grid."""
        drift = self.drift_field(b, q)
        return drift if self.basis.confinement is None else drift + self.forcing(self.basis.confinement)

    def at_rest(self, b: Floats, q: float) -> AtRest:
        """Return the density at rest under g."""
        return AtRest(self, self._drift(b, q))

    def drift_field(self, b: Floats, q: float) -> Floats:
        """Return what the law has in g, with the common frequency, on the grid."""
        return self._velocities(b, self._ratio(q)) + self.problem.velocity.frequency / self.problem.positive_noise

    def forcing(self, confinement: Any) -> Floats:
        """Return -V'/D on the grid from the coefficients of -V/D by cell from 1, real or f - i g."""
        count = min(confinement.size, self.basis.nodes)
        degrees = self.basis.symmetry * np.arange(1, count + 1)
        return self._whole_series(1j * degrees * confinement[:count])

    def drift_changes(self, b: Floats, q: float, directions: Floats) -> Floats:
        """Return the derivatives of g along directions of the unknowns on the grid, one row each."""
        return self._ratio(q) * self._velocity_changes(b, self._own_moments(directions), self._drive, self._radial)

    def _velocity_changes(
        self,
        b: Floats,
        moments: Complexes,
        drive: tuple[float, Complexes],
        radial: tuple[float, Complexes] | None,
        shares: float = 0.0,
    ) -> Floats:
        """Return the changes of v with the drives: with kernels times moments, and shares of their means."""
        by_drive, by_slope, by_radial = velocity_slopes(self.problem.velocity, *self._averages(b))
        changes = by_drive * self._series(drive[1] * moments, shares * drive[0])
        changes += by_slope * self._series(1j * self._own_degrees * drive[1] * moments)
        if by_radial is not None and radial is not None:
            changes += by_radial * self._series(radial[1] * moments, shares * radial[0])
        return np.asarray(changes)

    def law_slope(self, b: Floats, q: float, name: str) -> Floats:
        """Return the derivative of g in a parameter of the law, or its lag or frequency, at fixed moments."""
        law, domain = self.problem.velocity, self.problem.domain
        velocities = self._velocities(b, self._ratio(q))
        if name == "frequency":
            return np.full(velocities.size, 1.0 / self.problem.positive_noise)
        if name == "lag":
            # The velocity is that of a place ahead.
            spectrum = self._spectrum(velocities)
            degrees = self.basis.symmetry * np.arange(spectrum.size)
            return np.asarray(np.fft.irfft(1j * degrees * spectrum, velocities.size, norm="forward"))
        slopes = law.unturned.unlagged.slopes(name, domain, int(self.basis.degrees.max()))
        radial = None if slopes.radial is None else self._coefficients(slopes.radial)
        changes = self._velocity_changes(b, self._own_moments(b), self._coefficients(slopes.drive), radial, 1.0)
        return np.asarray(self._ratio(q) * changes + slopes.speed * velocities)

    def forced_field(self, forces: Floats) -> Floats:
        """Return the drift on the grid of a confinement -V/D that is a sum of the modes."""
        cosine, sine = _halves(forces)
        whole = np.zeros(int(self.basis.cells[-1]), dtype=complex)
        whole[self.basis.cells - 1] = cosine - 1j * sine
        return self.forcing(whole)

    def form_of(self, chi: Floats) -> Floats:
        """Return the linear form of the moments of cells 1..N that is the mean of a sum of the modes."""
        form = np.zeros(2 * self.basis.nodes)
        form[self._places] = chi
        return form

    def place_slope(self, b: Floats, q: float, role: str, own: str) -> Floats:
        """Return the derivative of what the law has in g in a parameter of the equation, at fixed moments."""
        if role == "coupling":
            return self._velocities(b, 1.0 / self.problem.positive_noise)
        return super().place_slope(b, q, role, own)

    def responses(self, b: Floats, q: float, changes: Floats) -> Floats:
        """Return the changes of all moments under changes of g on the grid, one row each."""
        return np.array([self.stacked(row, 0.0) for row in self.at_rest(b, q).responses(changes)])

    def _matrix(self, spectrum: Complexes, speed: float) -> DriftMatrix:
        """Return the matrix of the linear equation of the moments of cells 1..N from the coefficients of g."""
        return DriftMatrix(spectrum, speed, self.basis.symmetry)

    def _spectrum(self, values: Floats) -> Complexes:
        """Return the coefficients of e^(ik phi), k = 0..2N, of functions on the grid, rows each."""
        return np.asarray(np.fft.rfft(values, norm="forward"))

    def _sides(self, spectrum: Complexes) -> Floats:
        """Return the right-hand sides of functions in the place of g, cells 1..N, in rows."""
        inside = spectrum[..., 1 : self.basis.nodes + 1]
        return np.concatenate([inside.imag, inside.real], axis=-1)

    def _density_on_grid(self, moments: Floats, points: int, mean: float = 1.0) -> Floats:
        """Return the density of a mean on the grid from its moments of cells 1..N."""
        cosine, sine = _halves(moments)
        waves = np.zeros(points // 2 + 1, dtype=complex)
        waves[1 : self.basis.nodes + 1], waves[0] = cosine - 1j * sine, mean
        return np.asarray(np.fft.irfft(waves, points, norm="forward"))

    def _slopes(self, b: Floats, q: float) -> Slopes:
        """Return the derivatives of the moments."""
        changes = np.vstack([self.drift_changes(b, q, np.eye(b.size)), self._velocities(b, self._ratio(1.0))])
        found = self.at_rest(b, q).responses(changes)
        return Slopes(found[:-1].T, found[-1])
