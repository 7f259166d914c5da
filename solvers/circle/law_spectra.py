r"""Spectrum of the equation of any velocity law linearised at a stationary state of the circle.

The velocity is :math:`v = s\,h'` with the drive :math:`h = -W*\rho` and a speed s of the drive, its slope and the
radial drive R. A perturbation u changes all three linearly, and

.. math:: L u = \partial\bigl(D u' + u V' - \kappa(u v + \rho\,\delta v)\bigr), \qquad
          \delta v = \frac{d}{d\epsilon}\, s(h + \epsilon\,\delta h, \ldots)\,(h' + \epsilon\,\delta h')
          \Big|_{\epsilon = 0},

whose derivative is taken by a complex step, exact to rounding because speeds are analytic. Where the law is not a
gradient, L is symmetric in no known inner product and its spectrum need not be real; only the real parts, which are
the rates, are reported. Columns of L are made on a grid for all cosines and sines of a degree up to N at once.

Rotation is the kernel vector :math:`\rho'`. The rank-one matrix :math:`-\sigma r r^T/|r|^2`, r its coefficients,
moves its eigenvalue to :math:`-\sigma` and no other one (Brauer).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from meanfield import NotResolved, Spectrum, State, growth_rates

from ..bases import EPS, Floats
from ..lanczos import check_size
from ..significant import even_size
from .linearisation import UNIFORM, Matrix, align, complex_moments, last_degree

# The density is resolved by the moments above this.
RESOLVED = 1e-14
# A complex step: its square is nothing beside one.
STEP = 1e-30
# Eigenvalues are reported while more degrees change them by less than this share of themselves or of the noise.
TRUNCATION_TOLERANCE = 1e-9
# Degrees at the uniform state.
LEAST_DEGREE = 64


class Eigenvalues(NamedTuple):
    """Real parts of the eigenvalues of a block, largest first, and bounds of their rounding errors."""

    values: Floats
    errors: Floats


class Linearisation:
    """Matrices of L at a density on the circle in cosines and sines.

    Parameters
    ----------
    state
        The state.
    moments : (n,) complex
        Its moments, turned onto its axis if it has one.
    degree
        N.
    """

    def __init__(self, state: State, moments: Matrix, degree: int) -> None:
        self.problem, self.degree = state.problem, degree
        self.points = even_size(8 * max(degree, moments.size))
        self.modes = np.arange(1, degree + 1)
        law, domain = self.problem.velocity, self.problem.domain
        largest = max(degree, moments.size - 1)
        self._drive = -np.asarray(law.potential.multipliers(domain, largest), dtype=float)
        self._radial = law.radial(domain, largest)
        self.moments = moments

    def _values(self, coefficients: Matrix) -> Floats:
        """Return real functions with coefficients of cos kt - i sin kt, k from 0, on the grid; rows each."""
        scaled = 0.5 * coefficients
        scaled[..., 0] *= 2.0
        return np.asarray(np.fft.irfft(scaled, self.points, norm="forward"))

    def _averages(self, moments: Matrix) -> tuple[Floats, Floats, Floats | None]:
        """Return drive, slope of the drive and radial drive of a function with moments c_k - i s_k."""
        count = moments.shape[-1]
        drive = self._drive[:count] * moments
        slope = 1j * np.arange(count) * drive
        radial = None if self._radial is None else self._values(self._radial[:count] * moments)
        return self._values(drive), self._values(slope), radial

    def _velocities(self, perturbations: Matrix) -> tuple[Floats, Floats]:
        """Return the velocity at the density, and its derivatives along perturbations, on the grid."""
        law = self.problem.velocity
        drive, slope, radial = self._averages(self.moments)
        steps = [None if step is None else 1j * STEP * step for step in self._averages(perturbations)]
        assert steps[0] is not None
        assert steps[1] is not None
        shifted = slope + steps[1]
        moved = None if radial is None or steps[2] is None else radial + steps[2]
        changed = law.speed(drive + steps[0], shifted * shifted, moved) * shifted
        return np.asarray(law.speed(drive, slope * slope, radial) * slope), np.asarray(changed.imag / STEP)

    def matrix(self, sines: bool) -> tuple[Floats, Floats]:
        """Return the rows of cosines and of sines, (N, N) each, of L applied to the cosines or the sines."""
        unit = np.zeros((self.degree, self.degree + 1), dtype=complex)
        unit[np.arange(self.degree), self.modes] = 0.5 * (-1j if sines else 1.0)
        velocity, changes = self._velocities(unit)
        # Functions with these moments: a unit cosine has the moment 1/2 and the density of moments m is m/pi cos.
        density = self._values(2.0 * np.append(0.5 * self.moments[:1], self.moments[1:]))
        perturbation = self._values(2.0 * unit)
        drift = self.problem.fixed_coupling * (perturbation * velocity + density * changes)
        if self.problem.confinement is not None:
            drift -= perturbation * self._confining()
        flux = np.fft.rfft(drift, norm="forward")[:, 1 : self.degree + 1]
        change = -1j * self.modes * 2.0 * flux
        cosines, odd = change.real.T.copy(), -change.imag.T.copy()
        diagonal = odd if sines else cosines
        diagonal.flat[:: self.degree + 1] -= self.problem.noise * self.modes**2
        return cosines, odd

    def _confining(self) -> Floats:
        """Return the slope of the confinement on the grid."""
        confinement = self.problem.confinement
        assert confinement is not None
        return np.asarray(confinement.slope(2.0 * np.pi * np.arange(self.points) / self.points), dtype=float)


def spectrum(state: State) -> Spectrum:
    """Return the eigenvalues of the linearised equation at a state of the circle, real parts.

    Raises
    ------
    NotResolved
        If the state needs more degrees than a dense matrix affords, or no eigenvalue is resolved.
    """
    moments = complex_moments(state)
    if np.abs(moments[1:]).max(initial=0.0) <= UNIFORM and state.problem.confinement is None:
        values = np.sort(growth_rates(state.problem, max(LEAST_DEGREE, state.modes))[1:])[::-1]
        error = 4.0 * EPS * max(float(np.abs(values).min()), state.problem.noise)
        return Spectrum(state, values, values.copy(), None, None, error)
    aligned, even = align(moments, state.problem.confinement is None)
    degree = last_degree(aligned, RESOLVED)
    coarse, fine = degree + 24, degree + max(40, degree // 2)
    check_size(fine if even else 2 * fine)
    if not even:
        found = _resolved(state, [_solved(state, aligned, size, None) for size in (coarse, fine)])
        rotation = _rotation(state, aligned, fine, None)
        return Spectrum(state, found.values, np.zeros(0), *rotation, _error(found))
    even_part, odd_part = (
        _resolved(state, [_solved(state, aligned, size, sines) for size in (coarse, fine)])
        for sines in (False, True)
    )
    rotation = _rotation(state, aligned, fine, True)
    error = max(_error(even_part), _error(odd_part))
    return Spectrum(state, even_part.values, odd_part.values, *rotation, error)


def slowest_rate(state: State) -> float:
    """Return the contraction rate of a state.

    Raises
    ------
    NotResolved
        As :func:`spectrum`.
    """
    return spectrum(state).slowest_rate


def slowest_rates(states: Sequence[State]) -> list[float | Exception]:
    """Return the contraction rate, or the error instead, of each of several states."""
    rates: list[float | Exception] = []
    for state in states:
        try:
            rates.append(slowest_rate(state))
        except NotResolved as error:
            rates.append(error)
    return rates


def _block(state: State, moments: Matrix, degree: int, sines: bool | None) -> tuple[Floats, Floats]:
    """Return L on cosines, on sines, or on both if ``sines`` is None, and the coefficients of rho'."""
    about = Linearisation(state, moments, degree)
    padded = np.zeros(degree + 1, dtype=complex)
    padded[: min(moments.size, degree + 1)] = moments[: degree + 1]
    slope = -about.modes * padded[1:].real, -about.modes * padded[1:].imag
    if sines is not None:
        matrix = about.matrix(sines)[int(sines)]
        return matrix, slope[0] if sines else np.zeros(degree)
    columns = [np.concatenate(about.matrix(part)) for part in (False, True)]
    return np.hstack(columns), np.concatenate([slope[1], slope[0]])


def _solved(state: State, moments: Matrix, degree: int, sines: bool | None) -> Eigenvalues:
    """Return the eigenvalues of L truncated at a degree, rotation moved behind all others."""
    matrix, generator = _block(state, moments, degree, sines)
    size = float(np.linalg.norm(matrix, 2))
    square = float(generator @ generator)
    if state.problem.confinement is None and square > 0.0:
        matrix = matrix - (2.0 * size / square) * np.multiply.outer(generator, generator)
    found: Any = scipy.linalg.eig(matrix, left=True, right=True)
    values, left, right = found
    condition = 1.0 / np.maximum(np.abs(np.einsum("ij,ij->j", left.conj(), right)), EPS)
    order = np.argsort(values.real)[::-1]
    return Eigenvalues(values.real[order], EPS * size * condition[order])


def _resolved(state: State, found: list[Eigenvalues]) -> Eigenvalues:
    """Return the leading eigenvalues that do not change with the degree of truncation."""
    coarse, fine = found
    count = coarse.values.size
    change = np.abs(coarse.values - fine.values[:count])
    allowed = TRUNCATION_TOLERANCE * np.maximum(np.abs(coarse.values), state.problem.noise) + fine.errors[:count]
    wrong = np.flatnonzero(change > allowed)
    known = int(wrong[0]) if wrong.size else count
    if known == 0:
        raise NotResolved(
            "the largest eigenvalue of the linearisation changes with the degree of truncation, so that the "
            "slowest rate is not known; the state is too concentrated"
        )
    return Eigenvalues(fine.values[:known], np.maximum(fine.errors[:known], change[:known]))


def _error(found: Eigenvalues) -> float:
    """Return the error of the eigenvalue of smallest modulus."""
    return float(found.errors[np.argmin(np.abs(found.values))])


def _rotation(state: State, moments: Matrix, degree: int, sines: bool | None) -> tuple[float | None, float | None]:
    """Return the computed eigenvalue of rotation and the overlap of the kernel vector with the generator."""
    if state.problem.confinement is not None:
        return None, None
    matrix, generator = _block(state, moments, degree, sines)
    unit = generator / np.linalg.norm(generator)
    kernel = np.linalg.svd(matrix)[2][-1]
    return float(unit @ matrix @ unit), float(abs(kernel @ unit))
