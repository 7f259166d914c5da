"""Sections in faces that none meets, and curves that none meets: those between two that differ inside a face.

Such a curve may cross the window from below to above between two sections, as one does that begins in an organising
point outside of it; or a section lacks a branch that is connected to no other.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from .faces import THIN, differing, votes_of
from .found import Found
from .plane import Cell, subdivided
from .sections import Section

# Pairs of sections looked at, at most, and the share of the interval within which two are not divided further.
MOST, NARROW = 16, 1.0 / 512.0
# Where two sections are divided: not at the middle, which may be a place of more symmetry.
SHARE = 0.47


def values_without(found: Found) -> Iterator[float]:
    """Yield values of the parameter in faces of which no section tells anything, each once.

    The section at a value is to be added before the next one is asked for.
    """
    tried: set[float] = set()
    while True:
        places = (_inside(cells) for cells in _faces(found) if _is_untold(found, cells))
        value = next((value for value in places if value not in tried), None)
        if value is None:
            return
        tried.add(value)
        yield found.window.unscaled(value, 0.0)[0]


def pairs_between(found: Found) -> Iterator[tuple[Section, Section, bool]]:
    """Yield neighbouring sections that differ inside a face, and whether in how many states are stable.

    Those farthest apart come first. What is between them is to be added before the next ones are asked for.
    """
    low, high = found.window.interval
    for _ in range(MOST):
        pairs = [
            (one, other, first.stable != second.stable)
            for cells in _faces(found)
            for (one, first), (other, second) in differing(found.window, cells, found.sections)
        ]
        if not pairs:
            return
        one, other, counts = max(pairs, key=lambda pair: pair[1].value - pair[0].value)
        if other.value - one.value <= NARROW * (high - low):
            return
        yield one, other, counts


def value_between(one: Section, other: Section) -> float:
    """Return a value of the parameter between those of two sections."""
    return one.value + SHARE * (other.value - one.value)


def _faces(found: Found) -> list[list[Cell]]:
    """Return the cells of each face between the borders that are known."""
    slabs, faces = subdivided(found.borders)
    members: dict[int, list[Cell]] = {}
    for cell, face in zip((cell for slab in slabs for cell in slab), faces.tolist(), strict=True):
        members.setdefault(face, []).append(cell)
    return list(members.values())


def _is_untold(found: Found, cells: Sequence[Cell]) -> bool:
    """Return whether no section tells anything of a face, which is no thin one."""
    return max(cell.thickness for cell in cells) > THIN and not any(
        votes_of(found.window, cells, section) for section in found.sections
    )


def _inside(cells: Sequence[Cell]) -> float:
    """Return the place of the thickest cell that is farthest from its ends in x, of those at which it is thick.

    At the ends other cells begin, and the confinement may vanish.
    """
    cell = max(cells, key=lambda cell: cell.thickness)
    x, heights = cell.x[1:-1], (cell.upper - cell.lower)[1:-1]
    away = np.minimum(x - cell.x[0], cell.x[-1] - x)
    return float(x[np.argmax(np.where(heights >= 0.5 * heights.max(), away, 0.0))])
