"""Rotations of densities on the circle onto each other; moments are m_k - i s_k = int rho exp(-ik theta)."""

import numpy as np
from numpy.typing import NDArray

from ..bases import EPS, Floats

Complexes = NDArray[np.complex128]

NEWTON_STEPS = 20


def turned(moments: Complexes, angle: float) -> Complexes:
    """Return the moments of a density turned by an angle."""
    return np.asarray(moments * np.exp(-1j * angle * np.arange(moments.size)))


def overlaps(moments: Complexes, target: Complexes, angles: Floats) -> Floats:
    """Return the real inner product of a density turned by each of the angles with a target."""
    size = min(moments.size, target.size)
    products = moments[1:size] * target[1:size].conj()
    return np.asarray((np.exp(-1j * np.multiply.outer(angles, np.arange(1, size))) @ products).real)


def nearest_angle(moments: Complexes, target: Complexes, start: float = 0.0) -> float:
    """Return the angle near a start by which a density is turned to be nearest, in L2, to a target."""
    size = min(moments.size, target.size)
    products = moments[1:size] * target[1:size].conj()
    degrees = np.arange(1, size)
    angle = start
    for _ in range(NEWTON_STEPS):
        waves = products * np.exp(-1j * degrees * angle)
        slope, bend = float(degrees @ waves.imag), float(degrees**2 @ waves.real)
        if bend <= 0.0:
            break
        step = slope / bend
        angle += step
        if abs(step) <= 4.0 * EPS:
            break
    return angle


def best_angle(moments: Complexes, target: Complexes) -> float:
    """Return the angle by which a density is turned to be nearest, of all angles, to a target."""
    angles = 2.0 * np.pi * np.arange(8 * min(moments.size, target.size)) / (8 * min(moments.size, target.size))
    return nearest_angle(moments, target, float(angles[np.argmax(overlaps(moments, target, angles))]))
