"""Approximation of a function by polynomials on pieces, see :mod:`meanfield.potentials.pieces`."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev

from ..errors import InvalidInput
from .expressions import Evaluator
from .interpolation import chebyshev_transform
from .pieces import Pieces
from .sampling import PI, Sampled, probes

Working = npt.NDArray[Any]

_SIZE = 24
_STARTING_PIECES = 8
_MOST_PIECES = 2048
# Halvings after which a piece is as short as the rounding of its angles.
_DEEPEST = 44
# Share of the rounding of the whole that a piece may move in integrals without being resolved.
_NEGLIGIBLE = 1 / 64
# What changes by this share on a piece as short as this jumps, and by the other share between two pieces.
_JUMP, _JUMP_WIDTH, _GAP = 1e-3, 1e-10, 1e-9
_ROUNDINGS = 8


class Rough(InvalidInput):
    """The error for a function that does not become smooth on short pieces."""


def split(function: Sampled, breakpoints: Working, constant: np.longdouble, *, jumping: bool = False) -> Pieces:
    """Return a function as polynomials on pieces.

    Parameters
    ----------
    function
        The sampled function, in its own units.
    breakpoints
        Angles in (0, pi) at which pieces end.
    constant
        What was subtracted from the function.
    jumping
        Whether it may jump at the breakpoints, of which only integrals are asked then.

    Raises
    ------
    InvalidInput
        If it jumps elsewhere or does not become smooth on short pieces.
    """
    scale = float(np.abs(function.values).max())
    pending = _starting(breakpoints)
    done: list[tuple[Working, Working, Working]] = []
    for depth in range(_DEEPEST + 1):
        points = _inside(pending) if jumping else _points(pending)
        values = function(points.ravel()).reshape(-1, _SIZE)
        coefficients = values @ chebyshev_transform(_SIZE).T
        allowed = _rounding(function, pending, values)
        missed = np.maximum(
            np.abs(coefficients[:, -_SIZE // 3 :]).max(axis=1), _deviations(function, pending, coefficients) / 16
        )
        ranges, widths = values.max(axis=1) - values.min(axis=1), pending[:, 1] - pending[:, 0]
        negligible = _NEGLIGIBLE * function.precision * scale
        ready = (missed <= allowed) | (missed * widths <= negligible)
        # What is steeper than this is looked at to the end, where it jumps.
        ready &= (ranges <= _JUMP * scale) | (widths > _JUMP_WIDTH)
        if depth == _DEEPEST:
            _require_continuous(function, pending[~ready], ranges[~ready], scale)
            ready[:] = True
        _straighten(values, coefficients, np.flatnonzero((missed > allowed) & ready), negligible / widths)
        done.append((pending[ready], coefficients[ready], np.maximum(allowed, missed)[ready]))
        pending = _halved(pending[~ready])
        if pending.size == 0:
            break
        if len(pending) > _MOST_PIECES:
            _refuse(function, pending, scale)
    found = [np.concatenate(parts) for parts in zip(*done, strict=True)]
    return _assembled(function, constant, *found, jumping=jumping)


def zeros_of(switches: tuple[Evaluator, ...]) -> Working:
    """Return zeros and changes of sign in (0, pi) of functions of the angle, in longdouble, inner ones first."""
    found = np.zeros(0, dtype=np.longdouble)
    grid = np.concatenate([np.linspace(0, 1, 8193).astype(np.longdouble) * PI, probes().astype(np.longdouble)])
    for switch in switches:
        angles = np.unique(np.concatenate([grid, found]))
        signs = _signs(switch, angles)
        touching = (signs == 0) & ((np.roll(signs, 1) != 0) | (np.roll(signs, -1) != 0))
        crossing = np.flatnonzero(signs[:-1] * signs[1:] < 0)
        roots = _bisected(switch, angles[crossing], angles[crossing + 1], signs[crossing])
        found = np.unique(np.concatenate([found, angles[touching], roots]))
    return np.asarray(found[(found > 0) & (found < PI)])


def _signs(switch: Evaluator, angles: Working) -> Working:
    with np.errstate(all="ignore"):
        values = np.asarray(switch(angles) + np.zeros(angles.shape, dtype=np.longdouble))
        return np.asarray(np.sign(np.nan_to_num(values)))


def _bisected(switch: Evaluator, low: Working, high: Working, signs: Working) -> Working:
    for _ in range(70):
        middle = (low + high) / 2
        same = _signs(switch, middle) == signs
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray((low + high) / 2)


def _starting(breakpoints: Working) -> Working:
    """Return the first pieces, (m, 2): between breakpoints, none longer than an eighth of the whole."""
    ends = np.concatenate([[np.longdouble(0)], np.sort(breakpoints.astype(np.longdouble)), [PI]])
    # Roots of several switches that are one but for rounding.
    ends = ends[np.concatenate([[True], np.diff(ends) > 16 * np.finfo(float).eps])]
    ends[-1] = PI
    parts = np.maximum(np.ceil(np.diff(ends) / PI * _STARTING_PIECES).astype(int), 1)
    pairs = zip(ends[:-1], ends[1:], parts.tolist(), strict=True)
    edges = [low + (high - low) * np.arange(count + 1) / count for low, high, count in pairs]
    return np.concatenate([np.stack([edge[:-1], edge[1:]], axis=1) for edge in edges])


def _places() -> Working:
    """Return Chebyshev points with both ends, so that no kink hides behind the outermost."""
    return np.asarray(np.cos(PI * np.arange(_SIZE) / (_SIZE - 1)))


def _points(pieces: Working) -> Working:
    low, high = pieces[:, :1], pieces[:, 1:]
    return np.asarray(low + (high - low) * (1 + _places()) / 2)


def _inside(pieces: Working) -> Working:
    """Return the points, those at the ends moved off the jumps that may be there."""
    inset = _ROUNDINGS * np.finfo(pieces.dtype).eps * PI
    return np.clip(_points(pieces), pieces[:, :1] + inset, pieces[:, 1:] - inset)


def _rounding(function: Sampled, pieces: Working, values: Working) -> Working:
    """Return the rounding of the values of each piece, the angle being rounded too."""
    steepest = np.abs(np.diff(values, axis=1) / np.diff(_points(pieces), axis=1)).max(axis=1)
    sizes = np.abs(values).max(axis=1) + pieces[:, 1] * steepest
    return np.asarray(_ROUNDINGS * function.precision * sizes + 2 * function.noise, dtype=float)


def _deviations(function: Sampled, pieces: Working, coefficients: Working) -> Working:
    """Return the largest deviations of the polynomials from the function at the probes on their pieces."""
    order = np.argsort(pieces[:, 0])
    low, high = pieces[order, 0], pieces[order, 1]
    place = np.searchsorted(low, function.angles, side="right") - 1
    inside = (place >= 0) & (function.angles < high[np.maximum(place, 0)])
    which = order[place[inside]]
    angles, values = function.angles[inside], function.values[inside]
    widths = (pieces[:, 1] - pieces[:, 0])[which]
    places = (angles - pieces[which, 0]) * 2 / widths - 1
    found = chebyshev.chebval(places, coefficients[which].T, tensor=False)
    largest = np.zeros(len(pieces), dtype=np.longdouble)
    np.maximum.at(largest, which, np.abs(found - values))
    return largest


def _straighten(values: Working, coefficients: Working, unresolved: Working, negligible: Working) -> None:
    """Replace, in place, polynomials that oscillate about a kink by lines, where these agree to rounding."""
    right, left = values[unresolved, 0], values[unresolved, -1]
    middle, half = (right + left) / 2, (right - left) / 2
    lines = middle[:, np.newaxis] + half[:, np.newaxis] * _places()
    near = np.abs(values[unresolved] - lines).max(axis=1) <= 256 * negligible[unresolved]
    straight = unresolved[near]
    coefficients[straight] = 0
    coefficients[straight, 0], coefficients[straight, 1] = middle[near], half[near]


def _ends(coefficients: Working) -> tuple[Working, Working]:
    """Return the values of polynomials at the left and the right end."""
    left, right = (np.asarray(chebyshev.chebval(end, coefficients.T)) for end in (-1.0, 1.0))
    return left, right


def _halved(pieces: Working) -> Working:
    middle = pieces.mean(axis=1)
    return np.concatenate([np.stack([pieces[:, 0], middle], axis=1), np.stack([middle, pieces[:, 1]], axis=1)])


def _require_continuous(function: Sampled, pieces: Working, ranges: Working, scale: float) -> None:
    if ranges.size and ranges.max() > _JUMP * scale:
        worst = int(ranges.argmax())
        _jumps(function, ranges[worst], pieces[worst, 0])


def _jumps(function: Sampled, size: Any, angle: Any) -> None:
    raise InvalidInput(
        f"{function.label} jumps by {float(size * function.unit):.6g} at t = {float(angle):.12g}, where the force "
        "would be infinite; a potential must be continuous: replace the jump by a steep slope"
    )


def _refuse(function: Sampled, pieces: Working, scale: float) -> None:
    values = function(_points(pieces[:1]).ravel())
    raise Rough(
        f"{function.label} is not smooth between t = {float(pieces[0, 0]):.6g} and {float(pieces[0, 1]):.6g}, nor "
        f"on {len(pieces) - 1} other pieces as short: it is rough at {float(np.ptp(values) / scale):.0e} of its "
        "size; a potential must be smooth but for some kinks, and computed to rounding in double precision"
    )


def _assembled(
    function: Sampled,
    constant: np.longdouble,
    pieces: Working,
    coefficients: Working,
    allowed: Working,
    *,
    jumping: bool,
) -> Pieces:
    """Return the pieces in order, joined without gaps unless they may jump, in the units of W."""
    order = np.argsort(pieces[:, 0])
    pieces, coefficients, allowed = pieces[order], coefficients[order], allowed[order]
    gaps = np.abs(_ends(coefficients)[1][:-1] - _ends(coefficients)[0][1:])
    wide = gaps - np.maximum(_GAP * np.abs(function.values).max(), 32 * (allowed[:-1] + allowed[1:]))
    if not jumping and wide.size and wide.max() > 0:
        _jumps(function, gaps[int(wide.argmax())], pieces[int(wide.argmax()), 1])
    unit = function.unit
    widths = (pieces[:, 1] - pieces[:, 0]).astype(float)
    error = float(np.sqrt((allowed**2 * widths).sum() / np.pi) * unit)
    ends = np.append(pieces[:, 0], PI)
    coefficients = coefficients * unit
    coefficients[np.abs(coefficients) <= np.finfo(coefficients.dtype).eps * np.abs(coefficients).max() / 16] = 0
    if function.precision >= np.finfo(float).eps:
        # What a file holds, so that it opens as the same.
        ends, coefficients = ends.astype(float), coefficients.astype(float)
    joined = coefficients if jumping else _joined(coefficients)
    return Pieces(ends, joined, error, float(function.offset + constant))


def _joined(coefficients: Working) -> Working:
    """Return the polynomials made continuous by lines of the size of rounding."""
    left, right = _ends(coefficients)
    middle = (right[:-1] + left[1:]) / 2
    wanted_left, wanted_right = np.append(left[:1], middle), np.append(middle, right[-1:])
    joined = coefficients.copy()
    joined[:, 0] += (wanted_left - left + wanted_right - right) / 2
    joined[:, 1] += (wanted_right - right - wanted_left + left) / 2
    return joined
