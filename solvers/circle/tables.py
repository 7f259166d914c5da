"""What matrices of unstable directions at even states are made from: moments at sums and differences of degrees."""

import functools
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ..bases import Floats, Integers
from ..branches.continuation import Point

Parity = Literal["even", "odd", "mixed"]


class Part(NamedTuple):
    """Some of the modes, with the places of their means in the moments of states of a symmetry.

    ``turning`` times the means is the rotation mode.
    """

    degrees: Integers
    signs: Floats
    roots: Floats
    turning: Floats
    repulsive: tuple[int, int]
    means: Integers


class States(NamedTuple):
    """Points of one equation with their moments and responses, and with what multiplies covariances there.

    The place behind the moments stands for those that vanish.
    """

    points: Sequence[Point]
    moments: Floats
    responses: Floats
    factors: Floats


class Tables(NamedTuple):
    """First rows of the weights of covariances, and of the places of their moments.

    Those of equally spaced degrees depend on the sum and the difference of row and column alone: they are rows.
    """

    weights: Floats
    total: Integers
    difference: Integers

    def pairs(self, moments: Floats) -> tuple[Floats, Floats]:
        """Return the moments of the sums of two degrees, and of their differences, (points, rows, size) each."""
        total, difference = (moments.take(each, axis=1) for each in (self.total, self.difference))
        if self.total.ndim == 1:
            shape = (len(moments), *self.weights.shape)
            point, step = total.strides
            # Of the difference, from column minus row, the first row begins in the middle.
            middle = (shape[2] - 1) * step
            total = np.ndarray(shape, buffer=total, strides=(point, step, step))
            difference = np.ndarray(shape, buffer=difference, offset=middle, strides=(point, -step, step))
        return total, difference


def places(degrees: Integers, symmetry: int, moments: int) -> Integers:
    """Return the places of the moments of degrees; the place after the last stands for those that vanish."""
    cells, rest = np.divmod(degrees, symmetry)
    return np.where((rest == 0) & (cells < moments), cells, moments)


@functools.lru_cache(maxsize=64)
def places_of_pairs(first: int, spacing: int, size: int, symmetry: int, moments: int) -> tuple[Integers, Integers]:
    """Return the places of the moments of sums and differences of two equally spaced degrees, which problems share.

    They depend on the sum and the difference of row and column alone, (2 size - 1,) each, the difference being
    counted from that of the first row and the last column.
    """
    steps = spacing * np.arange(2 * size - 1)
    total, difference = steps + 2 * first, np.abs(steps - steps[size - 1])
    return places(total, symmetry, moments), places(difference, symmetry, moments)


def states_of(points: Sequence[Point]) -> States:
    """Return points of one equation with what matrices of their unstable directions are made from."""
    equation = points[0].equation
    own = [point.moments for point in points]
    padded = responses = _padded(own)
    if equation.response(points[0].b, points[0].q, own[0]) is not own[0]:
        responses = _padded([point.response for point in points])
    factors = np.array([point.solution.q for point in points]) / -equation.strongest
    return States(points, padded, responses, factors)


def _padded(rows: Sequence[Floats]) -> Floats:
    """Return rows of moments with a zero behind each."""
    padded = np.zeros((len(rows), rows[0].size + 1))
    padded[:, :-1] = rows
    return padded
