r"""Sums of waves at arbitrary angles, :math:`\sum_j c_j e^{-ikt_j}` for k = 0, 1, ..., by one fast transform.

Each :math:`c_j` is spread over a regular grid, twice as fine as the waves need, by the kernel
:math:`e^{\beta(\sqrt{1-z^2}-1)}` of 20 places (Barnett, Magland, af Klinteberg, SIAM J. Sci. Comput. 41, 2019),
and the transform divided by that of the kernel. The error is about :math:`10^{-17}\sum_j |c_j|`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..harmonics.quadrature import gauss_rule

_WIDTH = 20
_BETA = np.longdouble(2.3 * _WIDTH)


def wave_sums(factors: npt.NDArray[Any], angles: npt.NDArray[Any], degree: int) -> npt.NDArray[np.clongdouble]:
    """Return the sums of factors times exp(-i k angle), k = 0..degree."""
    size = 4 << max(degree, _WIDTH).bit_length()
    pi = 4 * np.arctan(np.longdouble(1))
    places = angles.astype(np.longdouble) * size / (2 * pi)
    first = np.ceil(places - _WIDTH / 2).astype(np.int64)
    grid = np.zeros(size, dtype=np.longdouble)
    for step in range(_WIDTH):
        np.add.at(grid, (first + step) % size, factors * _kernel((first + step - places) * 2 / _WIDTH))
    spectrum = np.fft.rfft(grid)[: degree + 1]
    return np.asarray(spectrum / _transformed(pi * _WIDTH * np.arange(degree + 1) / size), dtype=np.clongdouble)


def _kernel(place: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(np.exp(_BETA * (np.sqrt(np.maximum(1 - place**2, 0)) - 1)))


def _transformed(frequency: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the transform of the kernel, an integral over z = sin s, where it is smooth."""
    rule = gauss_rule(3, 96)
    northern, half_pi = rule.nodes > 0, 2 * np.arctan(np.longdouble(1))
    angles = (1 - rule.fine[northern]) * half_pi
    place = np.sin(angles)
    # Half of the width, dz = cos s ds, and the southern half, which is the same.
    weights = _WIDTH / 2 * half_pi * 4 * rule.weights[northern] * np.cos(angles)
    return np.asarray(np.cos(np.multiply.outer(frequency, place)) @ (weights * _kernel(place)))
