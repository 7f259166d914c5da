r"""A distribution function as a polynomial on each of many cells, so that a million values cost no sums.

The function is :math:`E(x) = \mu x/2\pi + \sum_{k\ge1} 2\,\mathrm{Re}(a_k e^{ikx}) + \text{const}`,
:math:`a_k = c_k/(2\pi i k)`, with :math:`E(0) = 0`. About each of M equispaced nodes it is replaced by its Taylor
polynomial. For degree n and half a cell :math:`\pi/M \le 1/(5n)` the remainder is below
:math:`5^{-12}/12! \approx 10^{-17}` times :math:`\sum_k 2|a_k|`.
"""

import functools
import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

ORDER = 11
CELLS_PER_DEGREE = 16
FEWEST_CELLS = 64
CHUNK = 1 << 14
STEPS = 100
PLACE_ROUNDING = 4 * float(np.finfo(float).eps)


class Cells:
    """E on cells of equal width, periodic up to its increase ``mass`` over one turn.

    Parameters
    ----------
    coefficients : (n + 1,) complex
        c_0..c_n of the derivative of E; the increase over one turn is the real part of c_0.
    """

    def __init__(self, coefficients: NDArray[np.complex128]) -> None:
        degree = _degree(coefficients)
        self.count = max(FEWEST_CELLS, 1 << (CELLS_PER_DEGREE * degree - 1).bit_length())
        self.width = 2 * math.pi / self.count
        self.mass = float(coefficients[0].real)
        self.table = _taylor(coefficients[: degree + 1], self.count)
        self.rounding = float(np.finfo(float).eps * np.abs(self.table[0]).max())

    @functools.cached_property
    def edges(self) -> Floats:
        """Values at the ``count + 1`` edges of the cells, from half a cell left of 0."""
        values = self.polynomial(np.arange(self.count), np.full(self.count, -0.5))
        return np.append(values, values[0] + self.mass)

    def polynomial(self, cell: Integers, place: Floats, derivative: int = 0) -> Floats:
        """Return E, or its derivative in ``place``, at places in [-1/2, 1/2] of cells within one turn."""
        result = np.zeros(place.size)
        for power in range(ORDER, derivative - 1, -1):
            result *= place
            result += math.perm(power, derivative) * self.table[power, cell]
        return result

    def value_and_slope(self, angle: Floats) -> tuple[Floats, Floats]:
        """Return E and its derivative at any angles, shape (N,)."""
        cell, place = self._located(angle / self.width + 0.5)
        turns, inner = np.divmod(cell, self.count)
        value, slope = _value_and_slope(self.table[:, inner], place)
        return value + self.mass * turns, slope / self.width

    def values(self, angle: Floats, derivative: int = 0) -> Floats:
        """Return E or its derivative at any angles, shape (N,)."""
        result = np.empty(angle.size)
        for start in range(0, angle.size, CHUNK):
            part = slice(start, start + CHUNK)
            cell, place = self._located(angle[part] / self.width + 0.5)
            turns, inner = np.divmod(cell, self.count)
            result[part] = self.polynomial(inner, place, derivative) / self.width**derivative
            if derivative == 0:
                result[part] += self.mass * turns
        return result

    def inverse(self, values: Floats) -> Floats:
        """Return the angles where E has the given values, for E increasing with mass 1, shape (N,)."""
        result = np.empty(values.size)
        for start in range(0, values.size, CHUNK):
            part = slice(start, start + CHUNK)
            turns = np.floor((values[part] - self.edges[0]) / self.mass)
            inner = values[part] - turns * self.mass
            cell = np.clip(np.searchsorted(self.edges, inner, side="right") - 1, 0, self.count - 1)
            half = np.full(cell.size, 0.5)
            place = self.solve(cell, inner, -half, half)
            result[part] = (cell + place + turns * self.count) * self.width
        return result

    def solve(self, cell: Integers, target: Floats, left: Floats, right: Floats) -> Floats:
        """Return the place between two places of a cell where E, monotone there, has the target value.

        Newton's method kept inside a shrinking bracket.
        """
        low, high, rows = left.copy(), right.copy(), self.table[:, cell]
        at_low, at_high = (_value_and_slope(rows, place)[0] for place in (low, high))
        rising = at_high >= at_low
        rise = np.where(at_high == at_low, 1.0, at_high - at_low)
        place = np.clip(low + (target - at_low) / rise * (high - low), low, high)
        for _ in range(STEPS):
            value, slope = _value_and_slope(rows, place)
            excess = value - target
            beyond = (excess > 0) == rising
            np.copyto(high, place, where=beyond)
            np.copyto(low, place, where=~beyond)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                moved = place - excess / slope
            inside = (moved >= low) & (moved <= high)
            moved = np.where(inside, moved, 0.5 * (low + high))
            open_still = (np.abs(excess) > self.rounding) & (np.abs(moved - place) > PLACE_ROUNDING)
            place = np.where(open_still, moved, place)
            if not open_still.any():
                break
        return place

    def pieces(self, points: Floats) -> tuple[Integers, Floats, Floats, Integers]:
        """Return the pieces of the intervals between increasing points, split at the edges of cells.

        Returns
        -------
        cell, left, right, owner : (P,)
            Cell, counted on through further turns, the two places in it, and the interval of the piece.
        """
        inner = points / self.width + 0.5
        edges = np.arange(math.floor(inner[0]) + 1, math.ceil(inner[-1]), dtype=float)
        breaks = np.sort(np.concatenate([inner, edges]), kind="stable")
        left, right = breaks[:-1], breaks[1:]
        filled = right > left
        left, right = left[filled], right[filled]
        owner = np.searchsorted(inner, left, side="right") - 1
        cell = np.floor(left).astype(np.intp)
        return cell, left - cell - 0.5, right - cell - 0.5, owner

    @staticmethod
    def _located(inner: Floats) -> tuple[Integers, Floats]:
        cell = np.floor(inner).astype(np.intp)
        return cell, inner - cell - 0.5


def _value_and_slope(rows: Floats, place: Floats) -> tuple[Floats, Floats]:
    """Return polynomials and their derivatives; rows hold the coefficients, shape (ORDER + 1, N)."""
    value, slope = rows[ORDER].copy(), np.zeros(place.size)
    for row in rows[ORDER - 1 :: -1]:
        slope *= place
        slope += value
        value *= place
        value += row
    return value, slope


def _degree(coefficients: NDArray[np.complex128]) -> int:
    """Return the degree of the last coefficient that counts against rounding."""
    sizes = np.abs(coefficients[1:])
    counted = np.flatnonzero(sizes > 1e-3 * np.finfo(float).eps * sizes.max(initial=0.0))
    return int(counted[-1]) + 1 if counted.size else 1


def _taylor(coefficients: NDArray[np.complex128], count: int) -> Floats:
    """Return the coefficients of powers of (x - node)/width, shape (ORDER + 1, count)."""
    degrees = np.arange(1, coefficients.size)
    width = 2 * math.pi / count
    amplitudes = coefficients[1:] / (2j * math.pi * degrees)
    table = np.empty((ORDER + 1, count))
    for power in range(ORDER + 1):
        spectrum = np.zeros(count // 2 + 1, dtype=complex)
        spectrum[1 : coefficients.size] = amplitudes * (1j * degrees * width) ** power / math.factorial(power)
        table[power] = np.fft.irfft(spectrum, count) * count
    # A real series has each mode twice, once conjugated; irfft adds the conjugate itself.
    slope = float(coefficients[0].real) / (2 * math.pi)
    table[0] += slope * width * np.arange(count) - table[0, 0]
    table[1] += slope * width
    return table
