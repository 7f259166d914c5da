r"""The passes over all particles, in numpy; :mod:`.compiled` has the same arithmetic in the same order.

Positions are in units of cells. A particle at x is in cell :math:`\mathrm{rint}(x) \bmod M` at distance
:math:`d = x - \mathrm{rint}(x)` from its centre. Sums over the particles of a cell are taken in the order of the
particles, so that nothing depends on the size of the blocks.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Particles handled at a time: six buffers of this length stay in the second-level cache.
BLOCK = 8192
# Adding 1.5 2^52 rounds a double to the nearest integer and leaves that in its last bits.
ROUNDING = 6755399441055744.0


class Kernel(Protocol):
    """Protocol of passes over the positions (N,) of all particles, in cells; ``table`` and ``sums`` are (4, M)."""

    name: str

    def deposit(self, positions: Floats, sums: Floats) -> None:
        """Write the sums of 1, d, d^2 and d^3 over the particles of every cell to ``sums`` (4, M)."""

    def drift(self, positions: Floats, table: Floats, drift: Floats) -> None:
        """Write the displacements by the drift at positions to ``drift`` (N,)."""

    def euler(
        self, positions: Floats, table: Floats, amplitude: float, generator: np.random.Generator, sums: Floats
    ) -> None:
        """Displace positions, in place, by the drift and by noise of an amplitude, and write sums over cells."""

    def predict(
        self,
        positions: Floats,
        table: Floats,
        amplitude: float,
        generator: np.random.Generator,
        drift: Floats,
        sums: Floats,
    ) -> None:
        """Displace positions as :meth:`euler` does, and write the displacements by the drift to ``drift`` (N,)."""

    def correct(self, positions: Floats, table: Floats, drift: Floats, sums: Floats) -> None:
        """Replace displacements by ``drift`` by their mean with the drift at the positions; write cell sums."""


class ArrayKernel:
    """The passes as array operations on blocks, without allocations."""

    name = "numpy"

    def __init__(self, cells: int) -> None:
        self._mask = cells - 1
        self._rounded: Floats = np.empty(BLOCK)
        self._cell: NDArray[np.int64] = np.empty(BLOCK, dtype=np.int64)
        self._distance: Floats = np.empty(BLOCK)
        self._value: Floats = np.empty(BLOCK)
        self._gathered: Floats = np.empty(BLOCK)

    def deposit(self, positions: Floats, sums: Floats) -> None:
        """Write the sums of 1, d, d^2 and d^3 over the particles of every cell to ``sums`` (4, M)."""
        sums[:] = 0.0
        for start in range(0, positions.size, BLOCK):
            self._add(positions[start : start + BLOCK], sums)

    def drift(self, positions: Floats, table: Floats, drift: Floats) -> None:
        """Write the displacements by the drift at positions to ``drift`` (N,)."""
        for start in range(0, positions.size, BLOCK):
            drift[start : start + BLOCK] = self._drift(positions[start : start + BLOCK], table)

    def euler(
        self, positions: Floats, table: Floats, amplitude: float, generator: np.random.Generator, sums: Floats
    ) -> None:
        """Displace positions, in place, by the drift and by noise of an amplitude, and write sums over cells."""
        sums[:] = 0.0
        for start in range(0, positions.size, BLOCK):
            block = positions[start : start + BLOCK]
            block += self._drift(block, table)
            block += self._noise(block.size, amplitude, generator)
            self._add(block, sums)

    def predict(
        self,
        positions: Floats,
        table: Floats,
        amplitude: float,
        generator: np.random.Generator,
        drift: Floats,
        sums: Floats,
    ) -> None:
        """Displace positions as :meth:`euler` does, and write the displacements by the drift to ``drift`` (N,)."""
        sums[:] = 0.0
        for start in range(0, positions.size, BLOCK):
            block = positions[start : start + BLOCK]
            value = self._drift(block, table)
            drift[start : start + BLOCK] = value
            block += value
            block += self._noise(block.size, amplitude, generator)
            self._add(block, sums)

    def correct(self, positions: Floats, table: Floats, drift: Floats, sums: Floats) -> None:
        """Replace displacements by ``drift`` by their mean with the drift at the positions; write cell sums."""
        sums[:] = 0.0
        for start in range(0, positions.size, BLOCK):
            block = positions[start : start + BLOCK]
            value = self._drift(block, table)
            value -= drift[start : start + BLOCK]
            value *= 0.5
            block += value
            self._add(block, sums)

    def _drift(self, block: Floats, table: Floats) -> Floats:
        """Return the cubic of each particle's cell at its distance, by Horner's rule."""
        cell, distance = self._locate(block)
        value, gathered = self._value[: block.size], self._gathered[: block.size]
        np.take(table[3], cell, out=value, mode="wrap")
        for power in (2, 1, 0):
            value *= distance
            np.take(table[power], cell, out=gathered, mode="wrap")
            value += gathered
        return value

    def _noise(self, size: int, amplitude: float, generator: np.random.Generator) -> Floats:
        noise = self._gathered[:size]
        generator.standard_normal(out=noise)
        noise *= amplitude
        return noise

    def _add(self, block: Floats, sums: Floats) -> None:
        cell, distance = self._locate(block)
        power = self._value[: block.size]
        np.add.at(sums[0], cell, 1.0)
        np.add.at(sums[1], cell, distance)
        np.multiply(distance, distance, out=power)
        np.add.at(sums[2], cell, power)
        power *= distance
        np.add.at(sums[3], cell, power)

    def _locate(self, block: Floats) -> tuple[NDArray[np.int64], Floats]:
        size = block.size
        rounded, cell, distance = self._rounded[:size], self._cell[:size], self._distance[:size]
        np.add(block, ROUNDING, out=rounded)
        np.bitwise_and(rounded.view(np.int64), self._mask, out=cell)
        rounded -= ROUNDING
        np.subtract(block, rounded, out=distance)
        return cell, distance
