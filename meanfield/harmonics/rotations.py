"""Infinitesimal rotations of the sphere on its harmonics, by the ladder operators of angular momentum."""

import functools

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@functools.lru_cache(maxsize=256)
def rotation_generators(degree: int) -> Floats:
    """Return the matrices G_x, G_y, G_z of infinitesimal rotations on the harmonics of a degree.

    Returns
    -------
    ndarray (3, 2 l + 1, 2 l + 1)
        Antisymmetric. A function turned by a small angle a about an axis n has the coefficients
        ``c + a * (n . G) @ c``. Read-only.
    """
    orders = np.arange(-degree, degree + 1)
    raising = np.diag(np.sqrt(degree * (degree + 1.0) - orders[:-1] * (orders[:-1] + 1.0)), -1)
    momenta = [0.5 * (raising + raising.T), -0.5j * (raising - raising.T), np.diag(orders).astype(complex)]
    real = _real_harmonics(degree)
    generators = np.stack([(real.conj().T @ (-1j * momentum) @ real).real for momentum in momenta])
    antisymmetric: Floats = 0.5 * (generators - generators.transpose(0, 2, 1))
    antisymmetric.flags.writeable = False
    return antisymmetric


def _real_harmonics(degree: int) -> NDArray[np.complex128]:
    """Return the real harmonics, as columns, in the complex ones with the sign of Condon and Shortley."""
    columns = np.zeros((2 * degree + 1, 2 * degree + 1), dtype=complex)
    columns[degree, 0] = 1.0
    for order in range(1, degree + 1):
        sign = -1.0 if order % 2 else 1.0
        up, down = degree + order, degree - order
        columns[up, order], columns[down, order] = sign * np.sqrt(0.5), np.sqrt(0.5)
        columns[up, degree + order], columns[down, degree + order] = -1j * sign * np.sqrt(0.5), 1j * np.sqrt(0.5)
    return columns
