r"""The sphere on paper: seen from afar (orthographic), and as a map of equal areas (Mollweide).

Mollweide's map of the point of latitude :math:`\psi` and longitude :math:`\lambda` is

.. math:: x = \frac{2\sqrt 2}{\pi} (\lambda - \lambda_0) \cos a, \qquad y = \sqrt 2 \sin a,
          \qquad 2a + \sin 2a = \pi \sin\psi .
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arguments import shown
from ..errors import InvalidInput

Floats = NDArray[np.float64]

# Part of the width beyond the rim that is coloured as well, so that the clipped edge is smooth at any size.
MARGIN = 0.03
MERIDIANS = np.deg2rad(np.arange(0, 360, 30))
PARALLELS = np.deg2rad(np.arange(30, 180, 30))
# Meridians end before the poles, where they would be a blot.
CAP = np.deg2rad(10.0)
CURVE_POINTS = 361


@dataclass(frozen=True)
class View:
    """A direction to look from: unit vectors to the right, upwards and towards the eye, (3, 3)."""

    axes: Floats

    @classmethod
    def from_direction(cls, direction: Sequence[float]) -> "View":
        """Return the view of the centre from a direction, with the north pole upwards.

        Raises
        ------
        InvalidInput
            If the direction is not three finite numbers, or all are zero.
        """
        try:
            with np.errstate(over="ignore"):
                vector = np.asarray(direction, dtype=float)
        except (TypeError, ValueError, OverflowError):
            vector = np.empty(0)
        if vector.shape != (3,) or not np.all(np.isfinite(vector)) or not np.any(vector):
            raise InvalidInput(
                f"a view is the direction to look from, three numbers such as (1, 0.6, 0.5), not {shown(direction)}"
            )
        towards = vector / np.max(np.abs(vector))
        towards /= np.linalg.norm(towards)
        # From above a pole, the meridian of azimuth 0 points down.
        above = np.array([-np.sign(towards[2]), 0.0, 0.0]) if np.hypot(*towards[:2]) < 1e-6 else np.eye(3)[2]
        up = above - (above @ towards) * towards
        up /= np.linalg.norm(up)
        return cls(np.stack([np.cross(up, towards), up, towards]))

    def shown(self, points: Floats) -> Floats:
        """Return the place and the height above the paper of points (..., 3) in space."""
        return np.asarray(points @ self.axes.T)


def sphere_points(polar: Floats, azimuth: Floats) -> Floats:
    """Return the unit vectors (..., 3) of polar angles and azimuths."""
    across = np.sin(polar)
    parts = np.broadcast_arrays(across * np.cos(azimuth), across * np.sin(azimuth), np.cos(polar))
    return np.stack(parts, axis=-1)


def angles_of(points: Floats) -> tuple[Floats, Floats]:
    """Return polar angle and azimuth of vectors (..., 3)."""
    x, y, z = np.moveaxis(points, -1, 0)
    return np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)


def centres(count: int, extent: float) -> Floats:
    """Return the centres of ``count`` pixels that divide [-extent, extent]."""
    return extent * (2.0 * np.arange(count) + 1.0 - count) / count


def globe_pixels(view: View, pixels: int) -> tuple[Floats, Floats, NDArray[np.bool_], float]:
    """Return angles of the pixels of a globe, which of the (pixels, pixels) they are, and the half width."""
    extent = 1.0 / (1.0 - 2.0 * MARGIN)
    x, y = np.meshgrid(centres(pixels, extent), centres(pixels, extent))
    radius = np.hypot(x, y)
    used = radius <= extent
    radius, x, y = radius[used], x[used], y[used]
    # Beyond the rim the colour of the rim is repeated.
    paper = np.stack([x, y, np.sqrt(np.maximum(0.0, (1.0 - radius) * (1.0 + radius)))], axis=-1)
    polar, azimuth = angles_of(paper / np.maximum(1.0, radius)[:, np.newaxis] @ view.axes)
    return polar, azimuth, used, extent


def map_pixels(centre: float, pixels: int) -> tuple[Floats, Floats, NDArray[np.bool_], float]:
    """Return angles of the pixels of a map, which of the (pixels/2, pixels) they are, and its relative size."""
    extent = 1.0 / (1.0 - 2.0 * MARGIN)
    x, y = np.meshgrid(centres(pixels, extent), centres(pixels // 2, extent))
    radius = np.hypot(x, y)
    used = radius <= extent
    radius = np.maximum(1.0, radius[used])
    x, y = x[used] / radius, y[used] / radius
    across = np.sqrt(np.maximum(np.finfo(float).tiny, (1.0 - y) * (1.0 + y)))
    # With b = pi/2 - |a|, 2 sin^2(theta/2) = (2 b - sin 2b)/pi keeps the distance to the nearer pole.
    b = 2.0 * np.arctan2(across, np.abs(y))
    nearer = 2.0 * np.arcsin(np.sqrt((b - np.sin(b)) / (2.0 * np.pi)))
    polar = np.where(y < 0, np.pi - nearer, nearer)
    return polar, centre + np.pi * np.clip(x / across, -1.0, 1.0), used, extent


def on_map(polar: Floats, longitude: Floats) -> tuple[Floats, Floats]:
    """Return the place on the map of a polar angle and an azimuth from the middle, within half a turn."""
    sine = np.cos(polar)
    a = np.arcsin(sine)
    for _ in range(60):
        # Newton's step; at the poles the equation has a double root and a is right from the start.
        slope = 2.0 + 2.0 * np.cos(2.0 * a)
        a = a - np.where(slope > 1e-12, (2.0 * a + np.sin(2.0 * a) - np.pi * sine) / np.maximum(slope, 1e-12), 0.0)
    return 2.0 * np.sqrt(2.0) / np.pi * longitude * np.cos(a), np.sqrt(2.0) * np.sin(a)


def globe_graticule(view: View) -> list[Floats]:
    """Return visible parts of meridians and parallels on a globe, each (n, 2), nan where they are behind it."""
    down, around = np.linspace(CAP, np.pi - CAP, CURVE_POINTS), np.linspace(0.0, 2.0 * np.pi, CURVE_POINTS)
    curves = [sphere_points(down, np.asarray(azimuth)) for azimuth in MERIDIANS]
    curves += [sphere_points(np.asarray(polar), around) for polar in PARALLELS]
    places = [view.shown(curve) for curve in curves]
    return [np.where(place[:, 2:] > 0, place[:, :2], np.nan) for place in places]


def map_graticule(centre: float) -> list[Floats]:
    """Return meridians and parallels on a map whose middle has the given azimuth, each (n, 2)."""
    down, across = np.linspace(CAP, np.pi - CAP, CURVE_POINTS), np.linspace(-np.pi, np.pi, CURVE_POINTS)
    longitudes = np.mod(MERIDIANS - centre + np.pi, 2.0 * np.pi) - np.pi
    inner = [float(value) for value in longitudes if abs(abs(value) - np.pi) > 1e-9]
    curves = [on_map(down, np.full(CURVE_POINTS, longitude)) for longitude in inner]
    curves += [on_map(np.full(CURVE_POINTS, polar), across) for polar in PARALLELS]
    return [np.column_stack(curve) for curve in curves]
