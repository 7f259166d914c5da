"""The pieces of a branch that are of one kind, such as stable or unstable."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .branch import Branch

Integers = NDArray[np.int64]

# Labels of the points at which stability changes; at one of equal free energy, or at an end, it does not.
CHANGING = ("BP", "LP", "HB")


def segments(branch: Branch, kinds: Integers) -> Iterator[tuple[int, int, int]]:
    """Yield (first point, last point, kind) of the pieces of a branch that are of one kind.

    Consecutive pieces share a point: the branch point or fold at which the kind changes, if one of the two points
    about the change is one.
    """
    if len(branch) < 2:
        return
    between = [_kind_between(branch, kinds, point) for point in range(len(branch) - 1)]
    start = 0
    for point in range(1, len(between) + 1):
        if point == len(between) or between[point] != between[start]:
            yield start, point, between[start]
            start = point


def _kind_between(branch: Branch, kinds: Integers, point: int) -> int:
    left, right = int(kinds[point]), int(kinds[point + 1])
    first, second = (branch.point_labels[place] in CHANGING for place in (point, point + 1))
    return right if left != right and first and not second else left
