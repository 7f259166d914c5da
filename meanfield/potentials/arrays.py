"""Types of the results of potentials, and of functions with kinks."""

from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Number: TypeAlias = float | np.longdouble

# Numbers of float64 that keep all digits are from one of these to the other.
_LEAST = float(np.finfo(float).tiny / np.finfo(float).eps)
_LARGEST = float(np.finfo(float).max)
# Roundings of the terms of a sum within which the sum is taken as cancelled.
_CANCELLED = 4 * float(np.finfo(float).eps)


def narrowed(numbers: npt.NDArray[np.longdouble]) -> Array:
    """Return extended numbers as float64 where the largest keeps all digits there, else as they are."""
    largest = np.abs(numbers).max()
    fits = largest == 0 or _LEAST <= largest <= _LARGEST
    return np.asarray(numbers.astype(np.float64) if fits else numbers)


def without_cancelled(rows: list[Any]) -> npt.NDArray[np.longdouble]:
    """Return the sum of rows, 0 where it is within some roundings of their moduli."""
    total = np.asarray(np.sum(rows, axis=0, dtype=np.longdouble))
    total[np.abs(total) <= _CANCELLED * np.abs(rows).sum(axis=0)] = 0
    return np.asarray(total)


class Kinked(Protocol):
    """A function that is smooth except at kinks, with the quantities that bound its multipliers."""

    @property
    def variations(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Sums of jumps of each derivative and bounds of the integrals of its modulus."""
        ...

    def laplacian(self, dimension: int) -> float:
        r"""Return the integral of :math:`|d(\sin^{d-2}t\,p')| / \sin^{(d-2)/2}t`."""
        ...
