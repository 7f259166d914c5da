r"""Spectrum of the equation of any velocity law linearised at a stationary state of the circle.

The velocity is :math:`v = s\,h'` with the drive :math:`h = -W*\rho` and a speed s of the drive, its slope and the
radial drive R. A perturbation u changes all three linearly, and

.. math:: L u = \partial\bigl(D u' + u V' - \kappa(u v + \rho\,\delta v)\bigr), \qquad
          \delta v = \frac{d}{d\epsilon}\, s(h + \epsilon\,\delta h, \ldots)\,(h' + \epsilon\,\delta h')
          \Big|_{\epsilon = 0},

whose derivative is taken by a complex step, exact to rounding because speeds are analytic. Where the law is not a
gradient, L is symmetric in no known inner product and its spectrum need not be real; only the real parts, which are
the rates, are reported. Columns of L are made on a grid for all cosines and sines of a degree up to N. Drives of
one sign are sums over the grid whose terms have one sign as well: where they nearly vanish, far from all particles,
the velocity is as accurate as anywhere, and the density follows from the Gibbs map.

Rotation is the kernel vector :math:`\rho'`. The rank-one matrix :math:`-\sigma r r^T/|r|^2`, r its coefficients,
moves its eigenvalue to :math:`-\sigma` and no other one (Brauer).
"""

from collections.abc import Sequence

import numpy as np

from meanfield import Equation, Spectrum, State, growth_rates
from meanfield.equations import Capability
from meanfield.records import ANGULAR_VELOCITY

from ..bases import EPS, Floats
from ..equations.law_eigenvalues import (
    agreed_rate,
    deflated,
    error_of,
    largest_rate,
    rate_or_error,
    resolved_eigenvalues,
    truncations,
    velocity_slopes,
)
from ..equations.significant import even_size
from ..linear_algebra.lanczos import check_size
from .axial_linearisation import AxialLinearisation
from .linearisation import UNIFORM, Matrix, align, complex_moments, last_degree

# The density is resolved by the moments above this.
RESOLVED = 1e-14
# Degrees at the uniform state.
LEAST_DEGREE = 64


class Linearisation:
    """Matrices of L at a density on the circle in cosines and sines.

    Parameters
    ----------
    problem
        The equation.
    moments : (n,) complex
        Moments of the density, turned onto its axis if it has one.
    degree
        N.
    speed
        Angular velocity of the frame in which the density is at rest.

    Attributes
    ----------
    modes : (N,) int
        The degrees of rows and columns.
    generator : (2, N) float
        The coefficients of rho' in cosines and sines.
    """

    def __init__(self, problem: Equation, moments: Matrix, degree: int, speed: float = 0.0) -> None:
        self.problem, self.degree, self._speed = problem, degree, speed - problem.velocity.frequency
        self.points = even_size(8 * max(degree, moments.size))
        self.modes = np.arange(1, degree + 1)
        law, domain = self.problem.velocity, self.problem.domain
        self._kernel = law.drive(domain, degree)
        self._radial_kernel = law.radial(domain, max(degree, moments.size - 1))
        self._ahead = np.exp(1j * law.lag * np.arange(max(degree, moments.size - 1) + 1))
        padded = np.zeros(degree + 1, dtype=complex)
        padded[: min(moments.size, degree + 1)] = moments[: degree + 1]
        self.generator = np.array([-self.modes * padded[1:].imag, -self.modes * padded[1:].real])
        # Negative values are rounding noise, which would be all there is of a drive far from the particles.
        self.density = np.maximum(self._values(2.0 * np.append(0.5 * moments[:1], moments[1:])), 0.0)
        # The second round starts from a density that is accurate where it is small.
        for _ in range(1 if self.problem.lacks(Capability.GIBBS_MAP) else 2):
            self.drive, self.slope = self._drives()
            self._improve_density()
        radial = self._radial_kernel
        self.radial = None if radial is None else self._values((radial * self._ahead)[: moments.size] * moments)
        self.velocity = law.speed(self.drive, self.slope**2, self.radial) * self.slope
        self._slopes = velocity_slopes(law, self.drive, self.slope, self.radial, 0.0)

    @property
    def angles(self) -> Floats:
        """The angles of the grid."""
        return 2.0 * np.pi * np.arange(self.points) / self.points

    def _drives(self) -> tuple[Floats, Floats]:
        """Return the drive of the density and its slope on the grid, by sums over the grid."""
        law = self.problem.velocity
        potential, angles = law.potential, self.angles + law.lag
        weights = self.density / self.points
        drive = _convolved(-np.asarray(potential.values(angles), dtype=float), weights)
        slope = _convolved(-np.asarray(potential.slope(angles), dtype=float), weights)
        return drive, slope

    def _improve_density(self) -> None:
        """Take the density from the Gibbs map, where the law has one."""
        if self.problem.lacks(Capability.GIBBS_MAP):
            return
        ratio = self.problem.fixed_coupling / self.problem.noise
        field = ratio * self.problem.velocity.antiderivative(self.drive)
        confinement = self.problem.confinement
        if confinement is not None:
            field = field - np.asarray(confinement.values(self.angles), dtype=float) / self.problem.noise
        density = np.exp(field - field.max())
        self.density = density / density.mean()

    def _values(self, coefficients: Matrix) -> Floats:
        """Return real functions with coefficients of cos kt - i sin kt, k from 0, on the grid; rows each."""
        scaled = 0.5 * coefficients
        scaled[..., 0] *= 2.0
        return np.asarray(np.fft.irfft(scaled, self.points, norm="forward"))

    def _products(self) -> tuple[Matrix, Matrix]:
        """Return the coefficients of exp(ijt) in the drift of Re(m exp(ikt)) by m and its conjugate; k the rows.

        The drift is Re(m exp(ikt) g_k(t)), where g_k is a sum of a few real functions with complex factors.
        """
        coupling, degrees = self.problem.fixed_coupling, self.modes
        drift = coupling * self.velocity - self._speed
        confinement = self.problem.confinement
        if confinement is not None:
            drift = drift - np.asarray(confinement.slope(self.angles), dtype=float)
        along, bent = _shifted(drift, self.degree)
        by_drive, by_slope, by_radial = self._slopes
        ahead = 0.5 * coupling * self._ahead[1 : self.degree + 1]
        drive = ahead * self._kernel[1:]
        terms = [(by_drive, drive), (by_slope, 1j * degrees * drive)]
        if self._radial_kernel is not None and by_radial is not None:
            terms += [(by_radial, ahead * self._radial_kernel[1 : self.degree + 1])]
        for values, factors in terms:
            before, behind = _shifted(self.density * values, self.degree)
            along = along + factors[:, None] * before
            bent = bent + factors.conj()[:, None] * behind
        return along, bent

    def matrix(self, sines: bool) -> tuple[Floats, Floats]:
        """Return the rows of cosines and of sines, (N, N) each, of L applied to the cosines or the sines."""
        along, bent = self._products()
        flux = -0.5j * (along - bent) if sines else 0.5 * (along + bent)
        change = -2j * self.modes * flux
        cosines, odd = change.real.T.copy(), -change.imag.T.copy()
        diagonal = odd if sines else cosines
        diagonal.flat[:: self.degree + 1] -= self.problem.noise * self.modes**2
        return cosines, odd

    def change(self, moments: Matrix) -> Matrix:
        """Return the time derivatives of the moments c_1..c_N of the density in its frame, without confinement."""
        drift = self.problem.fixed_coupling * self.velocity - self._speed
        flux = np.fft.rfft(self.density * drift, norm="forward")[1 : self.degree + 1]
        return np.asarray(-self.problem.noise * self.modes**2 * moments[1:] - 1j * self.modes * flux)

    def block(self, sines: bool | None) -> tuple[Floats, Floats]:
        """Return L on cosines, on sines, or on both if ``sines`` is None, and the coefficients of rho' there."""
        if sines is not None:
            return self.matrix(sines)[int(sines)], self.generator[int(sines)]
        columns = [np.concatenate(self.matrix(part)) for part in (False, True)]
        return np.hstack(columns), self.generator.ravel()

    def deflated(self, sines: bool | None) -> Floats:
        """Return a block of L whose rotation eigenvalue is moved behind all others."""
        matrix, generator = self.block(sines)
        return matrix if self.problem.confinement is not None else deflated(matrix, generator)


def _shifted(values: Floats, degree: int) -> tuple[Matrix, Matrix]:
    """Return the Fourier coefficients of degree j - k and of degree j + k, j, k = 1..N, of values on a grid."""
    half = np.fft.rfft(values, norm="forward")[: 2 * degree + 1]
    whole = np.concatenate([half[degree - 1 : 0 : -1].conj(), half])
    rows = np.lib.stride_tricks.sliding_window_view(whole, degree)
    # Element i of the whole is of degree i + 1 - N.
    return rows[degree - 1 :: -1][:degree], rows[degree + 1 : 2 * degree + 1]


def _convolved(kernel: Floats, weights: Floats) -> Floats:
    """Return the circular convolution of values on a grid by its sums, whose terms keep their signs."""
    return np.convolve(np.concatenate([kernel[1:], kernel]), weights, mode="valid")


def spectrum(state: State) -> Spectrum:
    """Return the eigenvalues of the linearised equation at a state of the circle, real parts.

    Raises
    ------
    NotResolved
        If the state needs more degrees than a dense matrix affords, or no eigenvalue is resolved.
    """
    if _is_uniform(state):
        values = np.sort(growth_rates(state.problem, max(LEAST_DEGREE, state.modes))[1:])[::-1]
        error = 4.0 * EPS * max(float(np.abs(values).min()), state.problem.noise)
        return Spectrum(state, values, values.copy(), None, None, error)
    aligned, even = _upright(state)
    coarse, fine = (_linearised(state, aligned, even, size) for size in _sizes(state, aligned, even))
    parts = (False, True) if even else (None,)
    found = [
        resolved_eigenvalues(state.problem.noise, coarse.deflated(part), fine.deflated(part)) for part in parts
    ]
    rotation = _rotation(fine, parts[-1])
    odd = found[1].values if even else np.zeros(0)
    return Spectrum(state, found[0].values, odd, *rotation, max(error_of(part) for part in found))


def slowest_rate(state: State) -> float:
    """Return the contraction rate of a state.

    Raises
    ------
    NotResolved
        If the state needs more degrees than a dense matrix affords, or its rate is below rounding.
    """
    if _is_uniform(state):
        return -float(growth_rates(state.problem, max(LEAST_DEGREE, state.modes))[1:].max())
    aligned, even = _upright(state)
    parts = (False, True) if even else (None,)
    _sizes(state, aligned, even)

    def rate_at(degree: int) -> float:
        about = _linearised(state, aligned, even, degree)
        return largest_rate(about.deflated(part) for part in parts)

    return agreed_rate(state.problem, rate_at, last_degree(aligned, RESOLVED))


def slowest_rates(states: Sequence[State]) -> list[float | Exception]:
    """Return the contraction rate, or the error instead, of each of several states."""
    return [rate_or_error(slowest_rate, state) for state in states]


def _is_uniform(state: State) -> bool:
    largest = float(np.abs(complex_moments(state)[1:]).max(initial=0.0))
    return state.problem.confinement is None and largest <= UNIFORM


def _upright(state: State) -> tuple[Matrix, bool]:
    """Return the moments of a state, turned onto its axis, and whether it has one about which the law is even."""
    moments, even = align(complex_moments(state), state.problem.confinement is None)
    return moments, even and state.problem.reflects


def _linearised(state: State, moments: Matrix, even: bool, degree: int) -> Linearisation | AxialLinearisation:
    """Return the linearised equation at a state, on panels if it has an axis and the law no Gibbs map."""
    if even and state.problem.lacks(Capability.GIBBS_MAP):
        return AxialLinearisation(state.problem, moments.real, 1, degree)
    return Linearisation(state.problem, moments, degree, state.observables.get(ANGULAR_VELOCITY, 0.0))


def _sizes(state: State, moments: Matrix, even: bool) -> tuple[int, int]:
    """Return two degrees of truncation."""
    coarse, fine = truncations(state.problem, last_degree(moments, RESOLVED))
    check_size(fine if even else 2 * fine)
    return coarse, fine


def _rotation(about: Linearisation | AxialLinearisation, sines: bool | None) -> tuple[float | None, float | None]:
    """Return the computed eigenvalue of rotation and the overlap of the kernel vector with the generator."""
    if about.problem.confinement is not None:
        return None, None
    matrix, generator = about.block(sines)
    unit = generator / np.linalg.norm(generator)
    kernel = np.linalg.svd(matrix)[2][-1]
    return float(unit @ matrix @ unit), float(abs(kernel @ unit))
