"""Equispaced angles, on which densities on the circle that evolve become values by fast Fourier transforms."""

from collections.abc import Iterator

import numpy as np
import scipy.fft

from meanfield.harmonics import growing

from ...bases import Floats
from ..descent import Grid

LARGEST = 2**17


class CircleGrid:
    """Equispaced angles from 0, with weights of sum one."""

    def __init__(self, points: int) -> None:
        self.weights = np.full(points, 1.0 / points)

    def error(self, cosine: Floats, accuracy: float) -> Floats | float:
        """Return 0, since moments and coefficients have the same errors."""
        return 0.0

    def values(self, cosine: Floats, sine: Floats) -> Floats:
        """Return sums of cosines and sines with coefficients (T, size) on the angles, (T, points)."""
        points = self.weights.size
        padded = np.zeros((cosine.shape[0], points // 2 + 1), dtype=complex)
        padded[:, : cosine.shape[1]] = 0.5 * (cosine - 1j * sine)
        padded[:, 0] = cosine[:, 0]
        return np.asarray(scipy.fft.irfft(padded, points, axis=1, norm="forward", overwrite_x=True))

    def gradient(self, cosine: Floats, sine: Floats) -> list[Floats]:
        """Return the derivatives of the sums."""
        degrees = np.arange(cosine.shape[1])
        return [self.values(degrees * sine, -degrees * cosine)]

    def rounding(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the sums of the moduli of the terms, (T, 1)."""
        return np.asarray(np.hypot(cosine, sine).sum(axis=1, keepdims=True))


def circle_grids(degree: int) -> Iterator[Grid]:
    """Yield ever finer grids, the first of which carries products of two densities."""
    first = 1 << (2 * degree + 16).bit_length()
    return (CircleGrid(points) for points in growing(first, max(first, LARGEST)))
