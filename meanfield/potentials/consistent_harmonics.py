"""Consistency of a confinement without an axis: whether its answers belong to one function.

The multipliers by degree and order are compared with integrals of the values by two product rules, whose
difference tells how well the integrals are known. The gradient is integrated along arcs of great circles and
compared with differences of the values.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..domains import Sphere
from ..errors import InvalidInput
from ..harmonics.packing import degrees_and_orders, moduli, packed_size
from ..harmonics.points import coefficients_of, spread_points

Floats = npt.NDArray[np.float64]

_EPS = float(np.finfo(float).eps)
# Degrees that are asked for, the last of which is held against bounds; those integrated, by rules of two degrees.
_ASKED, _INTEGRATED, _RULES = (4, 33, 96), 16, (64, 96)
# Points, and the length of the arcs that begin at them.
_POINTS, _ARC = 97, 0.02
# What is refused, relative to the largest, on top of what is not known.
_TOLERANCE = 1e-8


def require_consistent_harmonics(potential: Any, named: str) -> None:
    """Refuse a confinement without an axis whose answers contradict each other, with the numbers.

    Raises
    ------
    InvalidInput
        If an answer is of the wrong shape or not finite, or multipliers, bounds, values and gradient do not belong
        to one function.
    """
    asked = [_multipliers(potential, degree, named) for degree in _ASKED]
    multipliers = asked[-1]
    for degree, shorter in zip(_ASKED, asked, strict=True):
        kept = multipliers[:, : packed_size(degree)]
        if np.abs(shorter - kept).max() > _TOLERANCE * np.abs(kept).max():
            raise InvalidInput(
                f"harmonic_multipliers({degree}) of the {named} differ from the first of harmonic_multipliers("
                f"{_ASKED[-1]}); they must not depend on how many are asked for"
            )
    _require_bounds(potential, multipliers, named)
    _require_integrals(potential, multipliers, named)
    _require_gradient(potential, named)


def _multipliers(potential: Any, degree: int, named: str) -> Floats:
    found = np.asarray(potential.harmonic_multipliers(degree))
    shape = (2, packed_size(degree))
    if found.shape != shape or found.dtype.kind != "f" or not np.isfinite(found).all():
        raise InvalidInput(
            f"harmonic_multipliers({degree}) of the {named} must be finite floats of shape {shape}, those of "
            f"cosines and of sines by degree and order, not of shape {found.shape} and dtype {found.dtype}"
            f"{'' if found.dtype.kind != 'f' or np.isfinite(found).all() else ' with some that are not finite'}"
        )
    return found.astype(float)


def _require_bounds(potential: Any, multipliers: Floats, named: str) -> None:
    lengths = moduli(*multipliers)
    for degree in (1, 2, 4, 8, 16, 32, 64):
        beyond = float(lengths[degree + 1 :].max())
        bound = float(potential.tail_bound(Sphere(3), degree))
        if beyond > bound * (1.0 + _TOLERANCE) + _EPS * float(lengths.max()):
            raise InvalidInput(
                f"tail_bound of the {named} at degree {degree} is {bound:.6g}, but the harmonics of a degree "
                f"beyond have the length {beyond:.6g}; it must bound them all"
            )


def _require_integrals(potential: Any, multipliers: Floats, named: str) -> None:
    places = packed_size(_INTEGRATED)

    def values(points: Floats) -> Floats:
        return _answer(potential, "values_at", points, points.shape[:1], named)

    coarse, fine = (coefficients_of(values, degree)[:, :places] for degree in _RULES)
    stated = multipliers[:, :places]
    size = max(float(np.abs(fine[:, 1:]).max()), float(np.abs(stated[:, 1:]).max()))
    rounding = 64 * _EPS * float(np.abs(values(spread_points(_POINTS))).max())
    excess = np.abs(fine - stated) - 10 * np.abs(fine - coarse) - _TOLERANCE * size - rounding
    # The mean carries no information.
    excess[:, 0] = 0.0
    row, place = np.unravel_index(int(excess.argmax()), excess.shape)
    if excess[row, place] > 0:
        degree, order = (int(each[place]) for each in degrees_and_orders(_INTEGRATED))
        raise InvalidInput(
            f"the multiplier of the {('cosine', 'sine')[row]} of degree {degree} and order {order} of the {named} "
            f"is {stated[row, place]:.9g}, but its values have {fine[row, place]:.9g}; multipliers and values must "
            "be of one function"
        )


def _require_gradient(potential: Any, named: str) -> None:
    points = spread_points(_POINTS)
    across = np.cross(points, np.roll(points, 1, axis=1))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    ends = np.cos(_ARC) * points + np.sin(_ARC) * across
    here, there = (_answer(potential, "values_at", each, (_POINTS,), named) for each in (points, ends))
    integrals = []
    for order in (3, 5):
        places, weights = np.polynomial.legendre.leggauss(order)
        total = np.zeros(_POINTS)
        for angle, weight in zip(0.5 * _ARC * (1.0 + places), 0.5 * _ARC * weights, strict=True):
            at = np.cos(angle) * points + np.sin(angle) * across
            along = np.cos(angle) * across - np.sin(angle) * points
            total += weight * (_answer(potential, "gradient_at", at, (_POINTS, 3), named) * along).sum(axis=1)
        integrals.append(total)
    coarse, fine = integrals
    size = float(np.abs(fine).max() + np.abs(there - here).max())
    excess = np.abs(fine - there + here) - 10 * np.abs(fine - coarse) - _TOLERANCE * size
    excess -= 64 * _EPS * float(np.abs(here).max())
    worst = int(excess.argmax())
    if excess[worst] > 0:
        raise InvalidInput(
            f"the gradient of the {named} integrates to {fine[worst]:.9g} along an arc from "
            f"{points[worst].round(6)}, but its values differ by {there[worst] - here[worst]:.9g} there; it must "
            "be that of the values"
        )


def _answer(potential: Any, method: str, points: Floats, shape: tuple[int, ...], named: str) -> Floats:
    found = np.asarray(getattr(potential, method)(points.copy()))
    if found.shape != shape or found.dtype.kind != "f" or not np.isfinite(found).all():
        raise InvalidInput(
            f"{method} of the {named} must be finite floats of shape {shape} at {len(points)} unit vectors, not of "
            f"shape {found.shape} and dtype {found.dtype}"
        )
    return found.astype(float)
