"""Chebyshev series of coefficients that depend on a parameter, on pieces of its range."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput

Floats = NDArray[np.float64]
Coefficients = Callable[[float], Floats]
# An interval, the series of all coefficients on it and their error.
Piece = tuple[tuple[float, float], Floats, float]

# The highest degree of a series on a piece, and how often the range is halved.
DEGREE, HALVINGS = 24, 5
# Errors over the largest coefficient at the same value: of a series that is good, and of one that is written.
GOOD, LARGEST_ERROR = 1e-14, 1e-10
# Numbers that a compiler reads in some seconds.
LARGEST_TABLE = 500_000
# What is taken of the length of the range on each side of it, for Newton's steps beyond the ends.
MARGIN = 0.05
ROUNDING = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Table:
    """Chebyshev series (pieces, places, degree + 1) between breaks; ``anywhere``, if they hold beyond them too."""

    breaks: Floats
    places: NDArray[np.int64]
    series: Floats
    error: float
    anywhere: bool


def widened(along: Coefficients, low: float, high: float) -> tuple[float, float]:
    """Return a range somewhat wider than the given one, where that is admissible."""
    margin = MARGIN * ((high - low) or abs(high) or 1.0)
    return _end(along, low, low - margin), _end(along, high, high + margin)


def _end(along: Coefficients, end: float, beyond: float) -> float:
    try:
        along(beyond)
    except ValueError:
        return end
    return beyond


def tabulated(along: Coefficients, interval: tuple[float, float], split: int) -> Table:
    """Return the series of coefficients in a parameter, those before and behind a place measured separately.

    Raises
    ------
    InvalidInput
        If no series of the highest degree on the shortest pieces is good enough.
    """
    pieces = _straight(along, interval, split)
    anywhere = bool(pieces)
    pieces = pieces or list(_pieces(along, interval, split, HALVINGS))
    error = max(each for _, _, each in pieces)
    if not error <= LARGEST_ERROR:
        raise InvalidInput(
            f"the multipliers are no smooth functions of the parameter: series on {len(pieces)} pieces have an "
            f"error of {error:.1e} of the largest"
        )
    series = np.stack([np.pad(each, ((0, 0), (0, DEGREE + 1 - each.shape[1]))) for _, each, _ in pieces])
    varies = np.flatnonzero(np.any(series[:, :, 1:] != 0.0, axis=(0, 2)) | (np.ptp(series[:, :, 0], axis=0) > 0))
    last = int(np.flatnonzero(np.any(series != 0.0, axis=(0, 1))).max(initial=1))
    breaks = np.array([pieces[0][0][0], *(piece[0][1] for piece in pieces)])
    series = series[:, varies, : last + 1].copy()
    if series.size > LARGEST_TABLE:
        raise InvalidInput(f"the table of the multipliers would have {series.size} numbers")
    return Table(breaks, varies, series, error, anywhere)


def _straight(along: Coefficients, interval: tuple[float, float], split: int) -> list[Piece]:
    """Return the one piece of coefficients that are linear; none if they are not far around the interval too."""
    low, high = interval
    far = max(high - low, abs(low), abs(high), 1.0)
    try:
        series, error = _series(along, (low - far, high + far), 1, split)
    except ValueError:
        return []
    return [((low - far, high + far), series, error)] if error <= 8 * ROUNDING else []


def _pieces(along: Coefficients, interval: tuple[float, float], split: int, halvings: int) -> Iterator[Piece]:
    """Yield pieces of an interval with their series and errors."""
    series, error = _series(along, interval, DEGREE, split)
    if error <= GOOD or halvings == 0:
        yield interval, series, error
        return
    low, high = interval
    middle = (low + high) / 2
    yield from _pieces(along, (low, middle), split, halvings - 1)
    yield from _pieces(along, (middle, high), split, halvings - 1)


def _series(along: Coefficients, interval: tuple[float, float], degree: int, split: int) -> tuple[Floats, float]:
    """Return the Chebyshev series of coefficients on an interval, (places, degree + 1), and their largest error."""
    angles = np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1)
    values = _sampled(along, interval, np.cos(angles))
    waves = np.cos(np.outer(angles, np.arange(degree + 1)))
    series = 2.0 / (degree + 1) * (values.T @ waves)
    series[:, 0] /= 2.0
    largest = np.array([largest_of(values[:, part]) for part in (slice(split), slice(split, None))])
    # Rounding of what does not vary, and of high terms, is no dependence.
    series[np.abs(series) <= 4 * ROUNDING * np.repeat(largest, [split, len(series) - split])[:, np.newaxis]] = 0.0
    between = np.cos(np.pi * np.linspace(0.0, 1.0, degree + 2))
    exact = _sampled(along, interval, between)
    wrong = np.abs(np.polynomial.chebyshev.chebval(between, series.T).T - exact)
    shares = [
        np.max(np.max(wrong[:, part], axis=1, initial=0.0) / _rows(exact[:, part]))
        for part in (slice(split), slice(split, None))
    ]
    return series, float(max(shares))


def _sampled(along: Coefficients, interval: tuple[float, float], places: Floats) -> Floats:
    low, high = interval
    return np.array([along(float(value)) for value in ((high - low) * places + low + high) / 2])


def _rows(values: Floats) -> Floats:
    largest = np.max(np.abs(values), axis=1, initial=0.0)
    return np.where(largest > 0.0, largest, 1.0)


def largest_of(values: Floats) -> float:
    """Return the largest modulus, 1 if all are 0."""
    return float(np.abs(values).max(initial=0.0)) or 1.0
