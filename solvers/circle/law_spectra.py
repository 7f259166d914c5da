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
import scipy.linalg

from meanfield import Equation, NotResolved, Spectrum, State, growth_rates
from meanfield.equations import Capability

from ..bases import EPS, Floats
from ..lanczos import check_size
from ..law_eigenvalues import (
    STEP,
    Values,
    deflated,
    error_of,
    faded_velocity,
    largest_rate,
    resolved_eigenvalues,
    rounding_of,
)
from ..significant import even_size
from .linearisation import UNIFORM, Matrix, align, complex_moments, last_degree

# The density is resolved by the moments above this.
RESOLVED = 1e-14
# Degrees at the uniform state.
LEAST_DEGREE = 64
# Most degrees under a law without a Gibbs map: where its velocity is hardly smooth the moments of a state decay
# slowly, and eigenvalues change little by what is left out. How well two truncations must agree there.
MOST_DEGREES, AGREEING = 512, 1e-6


class Linearisation:
    """Matrices of L at a density on the circle in cosines and sines.

    Parameters
    ----------
    problem
        The equation.
    moments : (n,) complex
        Those of the density, turned onto its axis if it has one.
    degree
        N.
    axis
        The angle at which the confinement has the axis of the density.
    finer
        Points of the grid for every degree, at least.

    Attributes
    ----------
    modes : (N,) int
        The degrees of rows and columns.
    generator : (2, N) float
        The coefficients of rho' in cosines and sines.
    """

    def __init__(self, problem: Equation, moments: Matrix, degree: int, axis: float = 0.0, finer: int = 8) -> None:
        self.problem, self.degree, self._axis = problem, degree, axis
        moments = moments[: degree + 1]
        self.points = even_size(finer * degree)
        self.modes = np.arange(1, degree + 1)
        law, domain = self.problem.velocity, self.problem.domain
        self._kernel = -np.asarray(law.potential.multipliers(domain, degree), dtype=float)
        self._radial_kernel = law.radial(domain, degree)
        padded = np.zeros(degree + 1, dtype=complex)
        padded[: moments.size] = moments
        self.generator = np.array([self.modes * padded[1:].imag, -self.modes * padded[1:].real])
        # Negative values are rounding noise, which would be all there is of a drive far from the particles.
        self.density = np.maximum(self._values(2.0 * np.append(0.5 * moments[:1], moments[1:])), 0.0)
        if self.problem.lacks(Capability.GIBBS_MAP):
            terms = padded * self._kernel
            self.drive, self.slope = self._values(terms), self._values(1j * np.arange(degree + 1) * terms)
        else:
            # The second round starts from a density that is accurate where it is small.
            for _ in range(2):
                self.drive, self.slope = self._drives()
                self._improve_density()
        radial = None if self._radial_kernel is None else self._radial_kernel * padded
        self.radial = None if radial is None else self._values(radial)
        terms = self._kernel * np.arange(degree + 1) * padded
        self._rounding = rounding_of(terms) if radial is None else rounding_of(terms, radial)
        self.velocity = self._velocity(self.drive, self.slope, self.radial)

    @property
    def angles(self) -> Floats:
        """The angles of the grid."""
        return 2.0 * np.pi * np.arange(self.points) / self.points

    def _drives(self) -> tuple[Floats, Floats]:
        """Return the drive of the density and its slope on the grid, by sums over the grid."""
        potential, angles = self.problem.velocity.potential, self.angles
        weights = self.density / self.points
        drive = scipy.linalg.circulant(-np.asarray(potential.values(angles), dtype=float)) @ weights
        slope = scipy.linalg.circulant(-np.asarray(potential.slope(angles), dtype=float)) @ weights
        return drive, slope

    def _improve_density(self) -> None:
        """Take the density from the Gibbs map."""
        ratio = self.problem.fixed_coupling / self.problem.noise
        field = ratio * self.problem.velocity.antiderivative(self.drive)
        confinement = self.problem.confinement
        if confinement is not None:
            field = field - np.asarray(confinement.values(self.angles + self._axis)) / self.problem.noise
        density = np.exp(field - field.max())
        self.density = density / density.mean()

    def _values(self, coefficients: Matrix) -> Floats:
        """Return real functions with coefficients of cos kt - i sin kt, k from 0, on the grid; rows each."""
        scaled = 0.5 * coefficients
        scaled[..., 0] *= 2.0
        return np.asarray(np.fft.irfft(scaled, self.points, norm="forward"))

    def _changes(self, moments: Matrix) -> Floats:
        """Return the derivatives of the velocity along perturbations with moments c - i s, on the grid."""
        drive = self._kernel * moments
        slope = 1j * np.arange(self.degree + 1) * drive
        moved = None
        if self._radial_kernel is not None and self.radial is not None:
            moved = self.radial + 1j * STEP * self._values(self._radial_kernel * moments)
        shifted = self.slope + 1j * STEP * self._values(slope)
        return np.asarray(self._velocity(self.drive + 1j * STEP * self._values(drive), shifted, moved).imag / STEP)

    def _velocity(self, drive: Values, slope: Values, radial: Values | None) -> Values:
        """Return the velocity per unit of the coupling."""
        return faded_velocity(self.problem.velocity, drive, slope, radial, self._rounding)

    def matrix(self, sines: bool) -> tuple[Floats, Floats]:
        """Return the rows of cosines and of sines, (N, N) each, of L applied to the cosines or the sines."""
        unit = np.zeros((self.degree, self.degree + 1), dtype=complex)
        unit[np.arange(self.degree), self.modes] = 0.5 * (-1j if sines else 1.0)
        perturbation = self._values(2.0 * unit)
        drift = self.problem.fixed_coupling * (perturbation * self.velocity + self.density * self._changes(unit))
        confinement = self.problem.confinement
        if confinement is not None:
            drift -= perturbation * np.asarray(confinement.slope(self.angles + self._axis), dtype=float)
        flux = np.fft.rfft(drift, norm="forward")[:, 1 : self.degree + 1]
        change = -2j * self.modes * flux
        cosines, odd = change.real.T.copy(), -change.imag.T.copy()
        diagonal = odd if sines else cosines
        diagonal.flat[:: self.degree + 1] -= self.problem.noise * self.modes**2
        return cosines, odd

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
    aligned, even = align(complex_moments(state), state.problem.confinement is None)
    coarse, fine = (Linearisation(state.problem, aligned, size) for size in _sizes(state, aligned, even))
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
    aligned, even = align(complex_moments(state), state.problem.confinement is None)
    parts, coarse = (False, True) if even else (None,), _sizes(state, aligned, even)[0]

    def rate(degree: int) -> float:
        about = Linearisation(state.problem, aligned, degree)
        return min(largest_rate(about.deflated(part)) for part in parts)

    found = rate(coarse)
    if _is_cut(state, aligned, coarse):
        change = abs(rate(coarse // 2) - found)
        if change > AGREEING * max(abs(found), state.problem.noise):
            raise NotResolved(
                f"the slowest rate changes by {change:.1g} when half of the {coarse} degrees are left out"
            )
    return found


def slowest_rates(states: Sequence[State]) -> list[float | Exception]:
    """Return the contraction rate, or the error instead, of each of several states."""
    rates: list[float | Exception] = []
    for state in states:
        try:
            rates.append(slowest_rate(state))
        except Exception as error:
            rates.append(error)
    return rates


def _is_uniform(state: State) -> bool:
    largest = float(np.abs(complex_moments(state)[1:]).max(initial=0.0))
    return state.problem.confinement is None and largest <= UNIFORM


def _is_cut(state: State, moments: Matrix, degree: int) -> bool:
    """Return whether a truncation leaves out degrees of the density."""
    return last_degree(moments, RESOLVED) > degree


def _sizes(state: State, moments: Matrix, even: bool) -> tuple[int, int]:
    """Return two degrees of truncation; eigenfunctions need little more than the density itself."""
    degree = last_degree(moments, RESOLVED)
    coarse, fine = degree + max(24, degree // 3), degree + max(40, 2 * degree // 3)
    if state.problem.lacks(Capability.GIBBS_MAP):
        coarse, fine = min(coarse, 3 * MOST_DEGREES // 4), min(fine, MOST_DEGREES)
    check_size(fine if even else 2 * fine)
    return coarse, fine


def _rotation(about: Linearisation, sines: bool | None) -> tuple[float | None, float | None]:
    """Return the computed eigenvalue of rotation and the overlap of the kernel vector with the generator."""
    if about.problem.confinement is not None:
        return None, None
    matrix, generator = about.block(sines)
    unit = generator / np.linalg.norm(generator)
    kernel = np.linalg.svd(matrix)[2][-1]
    return float(unit @ matrix @ unit), float(abs(kernel @ unit))
