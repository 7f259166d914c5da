"""The random streams of replicas; those of small ones are drawn for many steps at a time."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SAMPLING, NOISE = 0, 1
# Numbers drawn ahead: they stay in the second-level cache.
AHEAD = 2**16


def streams(seed: int, index: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the generators of a replica's start and of its noise."""
    return tuple(  # type: ignore[return-value]
        np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(index, purpose))))
        for purpose in (SAMPLING, NOISE)
    )


class Streams:
    """The noise of several replicas, each from its own generator in the order in which it would draw it alone.

    Parameters
    ----------
    generators
        One for each replica.
    numbers
        Number of draws of each at a time.
    """

    def __init__(self, generators: Sequence[np.random.Generator], numbers: int) -> None:
        self._generators = list(generators)
        draws = max(1, AHEAD // (numbers * len(self._generators)))
        self._ahead: NDArray[np.float64] = np.empty((len(self._generators), draws, numbers))
        self._used = draws

    def standard_normal(self, *, out: NDArray[np.float64]) -> None:
        """Fill an array with one draw of every replica, one replica after the other."""
        if self._used == self._ahead.shape[1]:
            for generator, numbers in zip(self._generators, self._ahead, strict=True):
                generator.standard_normal(out=numbers)
            self._used = 0
        out.reshape(len(self._generators), -1)[:] = self._ahead[:, self._used]
        self._used += 1

    def keep(self, replicas: NDArray[np.integer]) -> None:
        """Retain the streams of some of the replicas only."""
        self._generators = [self._generators[replica] for replica in replicas.tolist()]
        self._ahead = self._ahead[replicas]
