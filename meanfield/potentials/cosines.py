r"""Cosine coefficients of a smooth function, by trapezoid sums.

.. math:: w_k \approx \frac2N \sum_j W(2\pi j/N) \cos(2\pi jk/N),

wrong by :math:`w_{N-k}` only. N is doubled until the last third of the coefficients has decayed to rounding level,
two grids agree and the sum is the function at all probes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Array
from .sampling import Sampled

_SMALLEST_GRID, _KINKED_GRID, _LARGEST_GRID = 32, 2**10, 2**15
# On grids from here on the angles are as dense as the probes, of which some are enough to see aliases.
_DENSE_GRID = 2**14
# Multiples of the rounding of the values below which a computed coefficient is noise.
_NOISE = 4


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of f, noise removed, and the bound of their errors."""

    values: npt.NDArray[Any]
    error: float


def cosine_coefficients(function: Sampled, *, kinked: bool = False) -> Coefficients | None:
    """Return the coefficients of an even function, or None if they do not decay to rounding level.

    Those of a function that is thought to have kinks are not looked for on fine grids.
    """
    # Rounding of the values averages out on a fine grid.
    size = _DENSE_GRID if function.noise > function.precision else 2 * _SMALLEST_GRID
    coarse = _trapezoid(function, size // 2)
    while size <= (_KINKED_GRID if kinked else _LARGEST_GRID):
        fine = _trapezoid(function, size)
        error = _NOISE * _rounding(fine, function)
        if _resolved(coarse, fine, error) and _matches(function, fine, size):
            return _cleaned(fine, error)
        coarse, size = fine, 2 * size
    return None


def _trapezoid(function: Sampled, size: int) -> Array:
    """Return the coefficients 0..size/2 from size equispaced points, mirrored exactly."""
    half = function(np.pi * np.arange(size // 2 + 1) / (size // 2))
    samples = np.concatenate([half, half[-2:0:-1]])
    coefficients = np.fft.rfft(samples).real * (2 / samples.dtype.type(size))
    coefficients[[0, -1]] /= 2
    return np.asarray(coefficients)


def _rounding(coefficients: Array, function: Sampled) -> float:
    """Return the rounding of the values: eps (|W| + |W'|), the angle being rounded too, and that of the offset."""
    sizes = np.abs(coefficients) * (1 + np.arange(coefficients.size))
    return function.precision * float(sizes.sum()) + function.noise / 2


def _resolved(coarse: Array, fine: Array, error: float) -> bool:
    """Return whether the tail has decayed to rounding level and the coarser grid agrees with the finer."""
    tail_decayed = np.abs(fine[2 * fine.size // 3 :]).max() <= error
    grids_agree = np.abs(coarse[:-1] - fine[: coarse.size - 1]).max() <= 4 * error
    return bool(tail_decayed and grids_agree)


def _matches(function: Sampled, coefficients: Array, size: int) -> bool:
    """Return whether the series reproduces the function at the probes."""
    stride = 16 if size >= _DENSE_GRID else 1
    some = function.special | (np.arange(function.angles.size) % stride == 0)
    kept = coefficients[: int(np.flatnonzero(coefficients).max(initial=0)) + 1].astype(float)
    small = np.abs(kept) <= np.finfo(float).eps * np.abs(kept).max(initial=0.0) / 64
    kept = kept[: int(np.flatnonzero(~small).max(initial=0)) + 1]
    waves, values = np.exp(1j * function.angles[some].astype(float)), function.values[some].astype(float)
    found = np.zeros_like(waves)
    for coefficient in kept[::-1].tolist():
        found *= waves
        found += coefficient
    # The sum is taken in float64, at angles rounded to it.
    eps = max(float(np.finfo(float).eps), function.precision)
    roundings = eps * float((np.abs(kept) * (4 + np.arange(kept.size))).sum())
    allowed = 16 * (roundings + eps * float(np.abs(values).max(initial=0.0))) + 4 * function.noise
    return bool(np.abs(found.real - values).max() <= allowed)


def _cleaned(coefficients: Array, error: float) -> Coefficients:
    relative = float(np.finfo(float).eps) * float(np.abs(coefficients).max())
    kept = np.where(np.abs(coefficients) > max(_NOISE * relative, error), coefficients, 0.0)
    return Coefficients(kept[: int(np.flatnonzero(kept).max(initial=0)) + 1], error)
