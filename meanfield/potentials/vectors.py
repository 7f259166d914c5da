"""Unit vectors as points of spheres, and functions of the angle to the north pole there."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arguments import shown
from ..errors import InvalidInput

Floats = npt.NDArray[np.float64]


def places_of(points: npt.ArrayLike, dimension: int | None = None) -> Floats:
    """Return points as an array (n, d) of finite numbers, d at least 2 or a given dimension."""
    try:
        places = np.asarray(points, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"points must be unit vectors, an array (n, d), not {shown(points)}") from error
    wanted = f"(n, {dimension or 'd'})"
    if places.ndim != 2 or places.shape[1] < 2 or places.shape[1] != (dimension or places.shape[1]):
        raise InvalidInput(f"points must be unit vectors, an array {wanted}, not one of shape {places.shape}")
    if not np.isfinite(places).all():
        raise InvalidInput(f"points must be unit vectors, an array {wanted} of finite numbers")
    return places


def polar_of(points: npt.ArrayLike) -> Floats:
    """Return the angles of unit vectors (n, d) from the north pole, which is along the last component."""
    places = places_of(points)
    return np.asarray(np.arctan2(np.linalg.norm(places[:, :-1], axis=1), places[:, -1]))


def gradient_about_pole(slope: Callable[[Any], Any], points: npt.ArrayLike) -> Floats:
    """Return the gradient (n, d) of a function of the angle to the north pole, given its slope, at unit vectors."""
    places, polar = places_of(points), polar_of(points)
    southwards = places * places[:, -1:]
    southwards[:, -1] -= 1.0
    sines = np.sin(polar)
    away = np.divide(slope(polar), sines, out=np.zeros(polar.size), where=sines > 0.0)
    return np.asarray(away[:, np.newaxis] * southwards)
