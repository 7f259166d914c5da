r"""The harmonics of :mod:`meanfield.records.state` at the places of particles on S^2, and gradients of their sums.

The products :math:`r^l e^c_{lm}, r^l e^s_{lm}` are polynomials in x, y, z, the real and imaginary parts of
:math:`S_{lm} = \nu_{lm} Q_l^m`, :math:`\nu_{lm} = \sqrt{(2-\delta_{m0})(l-m)!/(l+m)!}`, whose derivatives are
polynomials of one degree less:

.. math::

    \partial_z Q_l^m = (l+m)\,Q_{l-1}^m, \qquad (\partial_x + i\partial_y) Q_l^m = -Q_{l-1}^{m+1}, \qquad
    (\partial_x - i\partial_y) Q_l^m = (l+m)(l+m-1)\,Q_{l-1}^{m-1} \quad (m \ge 1) .

So the gradient of a sum of degree L is a matrix times the
harmonics up to degree L - 1.
"""

import numpy as np
from numpy.typing import NDArray

from meanfield.harmonics import degrees_and_orders, packed_size

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class SolidHarmonics:
    """Harmonics up to a degree at points of S^2.

    Parameters
    ----------
    degree
        Largest degree L.

    Attributes
    ----------
    degrees, orders : (P,) int
        Degree and order of each place.
    """

    def __init__(self, degree: int) -> None:
        self.degree = degree
        self.degrees, self.orders = degrees_and_orders(degree)
        self.size = packed_size(degree)
        orders = np.arange(1, degree + 1)
        factors = np.sqrt((2.0 * orders - 1.0) / (2.0 * orders)) * np.where(orders == 1, np.sqrt(2.0), 1.0)
        self._leading = np.concatenate([[1.0], np.cumprod(factors)])
        self._lower, self._upper = [], []
        for below in range(degree):
            m = np.arange(below + 1)
            root = np.sqrt((below + 1.0) ** 2 - m**2)
            self._upper.append(((2 * below + 1) / root)[:, np.newaxis])
            self._lower.append((np.sqrt(below**2 - m[:below] ** 2) / root[:below])[:, np.newaxis])

    def values(self, points: Floats) -> Floats:
        """Return the harmonics at points (3, n): those with cosines, then those with sines, (2, P, n)."""
        x, y, z = points
        count, waves = points.shape[1], self._waves(x, y)
        result = np.empty((2, self.size, count))
        before, current = np.empty((0, count)), np.ones((1, count))
        for degree in range(self.degree + 1):
            place = slice(packed_size(degree - 1), packed_size(degree))
            np.multiply(current, waves[:, : degree + 1], out=result[:, place])
            if degree < self.degree:
                following = np.empty((degree + 2, count))
                np.multiply(self._upper[degree], z, out=following[: degree + 1])
                following[: degree + 1] *= current
                following[:degree] -= self._lower[degree] * before
                following[degree + 1] = self._leading[degree + 1]
                before, current = current, following
        return result

    def means(self, positions: Floats, block: int = 512) -> tuple[Floats, Floats]:
        """Return the packed moments of particles (3, N): the means of the harmonics over them."""
        sums = np.zeros((2, self.size))
        for start in range(0, positions.shape[1], block):
            sums += self.values(positions[:, start : start + block]).sum(axis=2)
        return sums[0] / positions.shape[1], sums[1] / positions.shape[1]

    def _waves(self, x: Floats, y: Floats) -> Floats:
        """Return the real and imaginary parts of (x + iy)^m, m = 0..L, (2, L + 1, n)."""
        waves = np.empty((2, self.degree + 1, x.size))
        waves[0, 0], waves[1, 0] = 1.0, 0.0
        for m in range(self.degree):
            waves[0, m + 1] = waves[0, m] * x - waves[1, m] * y
            waves[1, m + 1] = waves[0, m] * y + waves[1, m] * x
        return waves


class SolidGradient:
    """The matrix from the harmonics below a degree to gradients of sums up to the degree."""

    def __init__(self, degree: int) -> None:
        degrees, orders = degrees_and_orders(degree)
        size = packed_size(degree - 1)
        self._vertical = _Move(size, degrees, orders, degrees > orders, 0)
        self._up = _Move(size, degrees, orders, degrees > orders + 1, 1)
        self._down = _Move(size, degrees, orders, orders >= 1, -1)

    def matrix(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the matrix (3, 2 P') of the ambient gradient of sum(cosine e^c + sine e^s), r^l included."""
        weights = cosine - 1j * sine
        up, down = self._up(weights), self._down(weights)
        along = np.array([0.5 * (up + down), -0.5j * (up - down), self._vertical(weights)])
        return np.concatenate([along.real, -along.imag], axis=1)


class _Move:
    """Derivatives from some places to one degree less and an order changed by 1, 0 or -1."""

    def __init__(
        self, size: int, degrees: Integers, orders: Integers, chosen: NDArray[np.bool_], change: int
    ) -> None:
        self._sources = np.flatnonzero(chosen)
        degrees, orders = degrees[chosen], orders[chosen]
        self._targets = (degrees - 1) * degrees // 2 + orders + change
        self._factors = _factors(degrees.astype(float), orders.astype(float), change)
        self._size = size

    def __call__(self, weights: NDArray[np.complex128]) -> NDArray[np.complex128]:
        result = np.zeros(self._size, dtype=complex)
        result[self._targets] = weights[self._sources] * self._factors
        return result


def _factors(degrees: Floats, orders: Floats, change: int) -> Floats:
    """Return the factors of the derivatives of Q_l^m times nu_lm / nu_{l-1, m+change}."""
    less, more = degrees - orders, degrees + orders
    if change == 0:
        return np.asarray(np.sqrt(less * more))
    if change == 1:
        # At m = 0 the other of the two derivatives is the complex conjugate of this one.
        return np.asarray(-np.sqrt(np.where(orders == 0, 2.0, 1.0) * less * (less - 1)))
    return np.asarray(np.sqrt(np.where(orders == 1, 2.0, 1.0) * more * (more - 1)))
