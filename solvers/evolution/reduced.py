r"""Kuramoto's equation without noise by the reduction of Watanabe and Strogatz, exactly for any density.

The equation :math:`\dot\theta = \omega + \kappa\,\mathrm{Im}(Z e^{-i\alpha} e^{-i\theta})`,
:math:`Z = \int e^{i\theta}\rho`, with a common frequency and phase lag, moves every point of the circle by one
Moebius map [1]_ [2]_

.. math:: M(\zeta) = \frac{a + e^{i\psi}\zeta}{1 + \bar a e^{i\psi}\zeta}, \qquad
          \dot a = i\omega a + \tfrac12(H - \bar H a^2), \quad
          \dot\psi = \omega + \mathrm{Im}(\bar a H), \quad H = \kappa e^{-i\alpha} Z,

from the identity. With the moments :math:`C_m = \int \zeta^m \rho_0` of the first density and
:math:`g = -\log(1-|a|^2)`, :math:`\dot g = \mathrm{Re}(\bar a H)`,

.. math:: Z = a + e^{-g} S, \qquad 1 - |Z|^2 = e^{-g}\bigl[1 - 2\mathrm{Re}(\bar a S) - e^{-g}|S|^2\bigr], \qquad
          S = e^{i\psi}\sum_{m\ge1} (-\bar a e^{i\psi})^{m-1} C_m .

The unknown g is redundant, but it keeps the distance of a from the unit circle accurate relative to itself, and
with it 1 - abs(Z), however small; the bracket tends to :math:`2\pi\rho_0` at the point that stays behind. Away from
a = 0 the modulus of a is that of g. Moments of degree k are :math:`\int M^k\rho_0`: Taylor coefficients of
:math:`M^k` follow from those of :math:`M^{k-1}` by one recurrence, multiplication by a function of modulus one,
which magnifies no error.

References
----------
.. [1] S. Watanabe, S. H. Strogatz, Constants of motion for superconducting Josephson arrays, Physica D 74 (1994).
.. [2] S. A. Marvel, R. E. Mirollo, S. H. Strogatz, Identical phase oscillators with global sinusoidal coupling
       evolve by Moebius group action, Chaos 19 (2009).
"""

import cmath
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from meanfield import ComputationFailed

from ..bases import EPS, Floats

Complexes = NDArray[np.complex128]
Number = TypeVar("Number", complex, Complexes)

# The smallest relative tolerance that scipy takes.
SHARPEST = 100.0 * EPS
# Depth g from which the modulus of a follows from it without cancellation.
FAR = 0.5
# Depth from which a no longer moves, in the frame that turns, and g grows linearly, to rounding.
FROZEN = 40.0
# Longest step in units of 1/abs(H): local errors far below rounding, those between two steps included.
STEP = 0.04
# Times whose densities are evaluated at a time.
BLOCK = 256


class MoebiusPath(NamedTuple):
    """Moebius maps at T times: a, psi and g, and what they took."""

    centre: Complexes
    angle: Floats
    depth: Floats
    steps: int
    evaluations: int


def moebius_path(
    coefficients: Complexes,
    coupling: float,
    times: Floats,
    *,
    frequency: float = 0.0,
    lag: float = 0.0,
    tolerance: float = SHARPEST,
    watch: Callable[[float], None] | None = None,
) -> MoebiusPath:
    r"""Return the Moebius maps that move the points of the circle.

    Parameters
    ----------
    coefficients : (n,) complex
        :math:`C_1, \dots, C_n`, the moments of the first density with :math:`e^{+im\theta}`.
    coupling, frequency, lag
        kappa, omega and alpha.
    times : (T,) float
        Increasing, from 0 or later.
    tolerance
        Relative error of a step.
    watch
        Called with the time reached, now and then.
    """
    from scipy.integrate import DOP853

    # In a frame that turns with a collapsed density nothing moves in the end.
    spin = -coupling * math.sin(lag) if coupling * math.cos(lag) > 0.0 else 0.0
    # The unknowns are as small as the first moment while the density is nearly uniform.
    size = min(1.0, float(np.abs(coefficients[0]))) if coefficients.size and coefficients[0] != 0.0 else 1.0
    end = max(float(times[-1]), EPS)
    velocity = _Velocity(coefficients, coupling * cmath.exp(-1j * lag), spin)
    solver = DOP853(velocity, 0.0, np.zeros(4), end, rtol=tolerance, atol=tolerance * size)
    found, steps = _sampled(solver, velocity, times, watch)
    centre, angle, depth = _unpacked(found)
    turned = (frequency + spin) * times
    return MoebiusPath(centre * np.exp(1j * turned), angle + turned, depth, steps, int(solver.nfev))


class _Velocity:
    """The derivatives of the real and imaginary parts of a, of psi and g in a frame that turns."""

    def __init__(self, coefficients: Complexes, factor: complex, spin: float) -> None:
        self._coefficients, self._factor, self._spin = coefficients.tolist(), factor, spin

    def force(self, unknown: Floats) -> tuple[complex, complex]:
        """Return H and a."""
        a, angle, depth = complex(unknown[0], unknown[1]), float(unknown[2]), float(unknown[3])
        if depth > FAR:
            a *= math.sqrt(-math.expm1(-depth)) / abs(a)
        turn = cmath.exp(1j * angle)
        rest = turn * horner(self._coefficients, -a.conjugate() * turn, 0j)
        return self._factor * (a + math.exp(-depth) * rest), a

    def __call__(self, time: float, unknown: Floats) -> Floats:
        force, a = self.force(unknown)
        turning = a.conjugate() * force
        change = 0.5 * (force - force.conjugate() * a * a) - 1j * self._spin * a
        if unknown[3] > FAR:
            # The modulus of the unknowns is free, their angle is not.
            change *= math.hypot(unknown[0], unknown[1]) / abs(a)
        return np.array([change.real, change.imag, turning.imag - self._spin, turning.real])


def _sampled(
    solver: Any, velocity: _Velocity, times: Floats, watch: Callable[[float], None] | None
) -> tuple[Floats, int]:
    """Return the unknowns at times, (T, size), and the number of steps that a solver of scipy made."""
    found, steps = np.repeat(solver.y[None, :], times.size, axis=0), 0
    place = int(np.count_nonzero(times <= 0.0))
    while place < times.size and solver.y[3] < FROZEN:
        solver.max_step = STEP / max(abs(velocity.force(solver.y)[0]), EPS)
        solver.step()
        steps += 1
        if solver.status == "failed":
            raise ComputationFailed(f"the Moebius maps cannot be followed beyond time {solver.t:.6g}")
        end = int(np.searchsorted(times, solver.t, side="right"))
        if end > place:
            found[place:end] = solver.dense_output()(times[place:end]).T
        place = end
        if watch is not None:
            watch(float(solver.t))
    if place < times.size:
        found[place:] = solver.y + np.outer(times[place:] - solver.t, velocity(solver.t, solver.y))
    return found, steps


def _unpacked(unknowns: Floats) -> tuple[Complexes, Floats, Floats]:
    """Return a, psi and g of unknowns (T, 4), a with the modulus that g gives it where a is not small."""
    centre, depth = unknowns[:, 0] + 1j * unknowns[:, 1], unknowns[:, 3]
    far = depth > FAR
    centre[far] *= np.sqrt(-np.expm1(-depth[far])) / np.abs(centre[far])
    return centre, unknowns[:, 2], depth


def order_parameter(centre: Complexes, angle: Floats, depth: Floats, coefficients: Complexes) -> Complexes:
    """Return Z at Moebius maps (T,) of the density with moments C_1..C_n."""
    return np.asarray(centre + np.exp(-depth) * _remainder(centre, angle, coefficients))


def order_deficit(path: MoebiusPath, coefficients: Complexes) -> Floats:
    """Return 1 - abs(Z) at Moebius maps (T,), accurate relative to itself."""
    share, rest = np.exp(-path.depth), _remainder(path.centre, path.angle, coefficients)
    square = share * (1.0 - 2.0 * (path.centre.conj() * rest).real - share * np.abs(rest) ** 2)
    order = np.abs(path.centre + share * rest)
    return np.asarray(square / (1.0 + order))


def _remainder(centre: Complexes, angle: Floats, coefficients: Complexes) -> Complexes:
    """Return S, what a lacks of Z over 1 - |a|^2."""
    turn = np.exp(1j * angle)
    return np.asarray(turn * horner(coefficients.tolist(), -centre.conj() * turn, np.zeros_like(centre)))


def horner(coefficients: list[complex], ratio: Number, zero: Number) -> Number:
    """Return the sum of the coefficients times the powers of a ratio, the first of which is one."""
    total = zero
    for coefficient in reversed(coefficients):
        total = total * ratio + coefficient
    return total


def moved_moments(path: MoebiusPath, coefficients: Complexes, degree: int) -> Complexes:
    r"""Return :math:`\int M^k\rho_0`, k = 0..degree, at Moebius maps (T,), shape (T, degree + 1)."""
    turn = np.exp(1j * path.angle)
    ratio = -path.centre.conj() * turn
    known = np.concatenate([[1.0], coefficients])
    power: Complexes = np.zeros((known.size, turn.size), dtype=complex)
    power[0] = 1.0
    result = np.ones((turn.size, degree + 1), dtype=complex)
    for k in range(1, degree + 1):
        following = path.centre * power
        following[1:] += turn * power[:-1]
        for m in range(1, known.size):
            following[m] += ratio * following[m - 1]
        power = following
        result[:, k] = known @ power
    return result


def moved_minimum(path: MoebiusPath, coefficients: Complexes, nodes: int) -> Floats:
    r"""Return the smallest value of the moved density at equal angles, (T,), per radian.

    The density is :math:`\rho_0(M^{-1}(z))\,|M^{-1\prime}(z)|`, :math:`|M^{-1\prime}| = (1-|a|^2)/|1-\bar a z|^2`.
    """
    points = np.exp(2j * np.pi * np.arange(nodes) / nodes)
    found = []
    for start in range(0, path.angle.size, BLOCK):
        rows = slice(start, start + BLOCK)
        centre, turn = path.centre[rows, None], np.exp(-1j * path.angle[rows, None])
        across = 1.0 - centre.conj() * points
        # A node on the cluster itself has no image; it is not the smallest value.
        across[across == 0.0] = EPS
        before, total = turn * (points - centre) / across, np.zeros((1, 1), dtype=complex)
        for coefficient in coefficients[::-1]:
            total = (total + coefficient.conj()) * before
        stretch = np.exp(-path.depth[rows, None]) / np.abs(across) ** 2
        found.append(((1.0 + 2.0 * total.real) * stretch).min(axis=1) / (2.0 * np.pi))
    return np.concatenate(found)
