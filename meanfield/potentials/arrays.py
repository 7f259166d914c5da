"""Types of the results of potentials, and of functions with kinks."""

from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating[Any]]
Number: TypeAlias = float | np.longdouble


def narrowed(numbers: npt.NDArray[np.longdouble]) -> Array:
    """Return extended numbers as float64 where the largest keeps all digits there, else as they are."""
    largest, limits = np.abs(numbers).max(), np.finfo(np.float64)
    fits = largest == 0 or limits.tiny / limits.eps <= largest <= limits.max
    return np.asarray(numbers.astype(np.float64) if fits else numbers)


class Kinked(Protocol):
    """A function that is smooth except at kinks, with the quantities that bound its multipliers."""

    @property
    def variations(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Sums of jumps of each derivative and bounds of the integrals of its modulus."""
        ...

    def laplacian(self, dimension: int) -> float:
        r"""Return the integral of :math:`|d(\sin^{d-2}t\,p')| / \sin^{(d-2)/2}t`."""
        ...
