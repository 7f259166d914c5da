"""The passes of :mod:`.kernels` compiled by numba: the same arithmetic in the same order, the same bits.

No fast-math and no contraction of products and sums, and the generator's own normal numbers, drawn in the same
order. The functions below are ordinary Python until the first :class:`CompiledKernel` has them compiled.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..execution.compiling import compiled

Floats = NDArray[np.float64]

# Particles between the gathering and the summing loop: their cells and distances stay in the first-level cache.
BLOCK = 1024


class CompiledKernel:
    """The passes compiled, one thread, without holding the interpreter's lock."""

    name = "numba"

    def __init__(self, cells: int) -> None:
        self._mask = cells - 1
        self._cell: NDArray[np.int64] = np.empty(BLOCK, dtype=np.int64)
        self._distance: Floats = np.empty(BLOCK)
        self._noise: Floats = np.empty(BLOCK)
        self._unused: Floats = np.empty(0)
        self._functions = _functions()

    def deposit(self, positions: Floats, sums: Floats) -> None:
        """Write the sums of 1, d, d^2 and d^3 over the particles of every cell to ``sums`` (4, M)."""
        self._functions["deposit"](positions, sums, self._cell, self._distance, self._mask)

    def drift(self, positions: Floats, table: Floats, drift: Floats) -> None:
        """Write the displacements by the drift at positions to ``drift`` (N,)."""
        self._functions["drift"](positions, table, drift, self._mask)

    def euler(
        self, positions: Floats, table: Floats, amplitude: float, generator: np.random.Generator, sums: Floats
    ) -> None:
        """Displace positions, in place, by the drift and by noise of an amplitude, and write sums over cells."""
        self._displace(positions, table, amplitude, generator, self._unused, sums)

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
        self._displace(positions, table, amplitude, generator, drift, sums)

    def correct(self, positions: Floats, table: Floats, drift: Floats, sums: Floats) -> None:
        """Replace displacements by ``drift`` by their mean with the drift at the positions; write cell sums."""
        self._functions["correct"](positions, table, drift, sums, self._cell, self._distance, self._mask)

    def _displace(
        self,
        positions: Floats,
        table: Floats,
        amplitude: float,
        generator: np.random.Generator,
        drift: Floats,
        sums: Floats,
    ) -> None:
        buffers = (self._noise, self._cell, self._distance)
        # The generator's lock keeps other threads off the stream, as numpy's own methods do.
        with generator.bit_generator.lock:
            self._functions["displace"](positions, table, amplitude, generator, drift, sums, *buffers, self._mask)


@functools.cache
def _functions() -> dict[str, Callable[..., None]]:
    passes: tuple[Callable[..., None], ...] = (_deposit, _drift, _displace, _correct)
    return {function.__name__.removeprefix("_"): compiled(function) for function in passes}


def _deposit(positions: Floats, sums: Floats, cells: Any, distances: Floats, mask: int) -> None:
    sums[:] = 0.0
    for start in range(0, positions.size, cells.size):
        count = min(positions.size - start, cells.size)
        for i in range(count):
            place = positions[start + i]
            rounded = np.rint(place)
            cells[i] = np.int64(rounded) & mask
            distances[i] = place - rounded
        for i in range(count):
            cell, distance = cells[i], distances[i]
            square = distance * distance
            sums[0, cell] += 1.0
            sums[1, cell] += distance
            sums[2, cell] += square
            sums[3, cell] += square * distance


def _drift(positions: Floats, table: Floats, drift: Floats, mask: int) -> None:
    for i in range(positions.size):
        place = positions[i]
        rounded = np.rint(place)
        cell = np.int64(rounded) & mask
        distance = place - rounded
        value = table[3, cell]
        value = value * distance + table[2, cell]
        value = value * distance + table[1, cell]
        drift[i] = value * distance + table[0, cell]


def _displace(
    positions: Floats,
    table: Floats,
    amplitude: float,
    generator: np.random.Generator,
    drift: Floats,
    sums: Floats,
    noise: Floats,
    cells: Any,
    distances: Floats,
    mask: int,
) -> None:
    sums[:] = 0.0
    for start in range(0, positions.size, cells.size):
        count = min(positions.size - start, cells.size)
        for i in range(count):
            noise[i] = generator.standard_normal()
        for i in range(count):
            place = positions[start + i]
            rounded = np.rint(place)
            cell = np.int64(rounded) & mask
            distance = place - rounded
            value = table[3, cell]
            value = value * distance + table[2, cell]
            value = value * distance + table[1, cell]
            value = value * distance + table[0, cell]
            if drift.size > 0:
                drift[start + i] = value
            place = (place + value) + noise[i] * amplitude
            positions[start + i] = place
            rounded = np.rint(place)
            cells[i] = np.int64(rounded) & mask
            distances[i] = place - rounded
        for i in range(count):
            cell, distance = cells[i], distances[i]
            square = distance * distance
            sums[0, cell] += 1.0
            sums[1, cell] += distance
            sums[2, cell] += square
            sums[3, cell] += square * distance


def _correct(
    positions: Floats, table: Floats, drift: Floats, sums: Floats, cells: Any, distances: Floats, mask: int
) -> None:
    sums[:] = 0.0
    for start in range(0, positions.size, cells.size):
        count = min(positions.size - start, cells.size)
        for i in range(count):
            place = positions[start + i]
            rounded = np.rint(place)
            cell = np.int64(rounded) & mask
            distance = place - rounded
            value = table[3, cell]
            value = value * distance + table[2, cell]
            value = value * distance + table[1, cell]
            value = value * distance + table[0, cell]
            place = place + (value - drift[start + i]) * 0.5
            positions[start + i] = place
            rounded = np.rint(place)
            cells[i] = np.int64(rounded) & mask
            distances[i] = place - rounded
        for i in range(count):
            cell, distance = cells[i], distances[i]
            square = distance * distance
            sums[0, cell] += 1.0
            sums[1, cell] += distance
            sums[2, cell] += square
            sums[3, cell] += square * distance
