"""What sections find inside a face, and whether states that they name differently are one.

A state is named after the mode in which its branch is born of the uniform one. Where two modes compete that mode
changes along a curve of the plane, through which the state itself goes unchanged: states of one symmetry are one if
the one becomes the other as it is carried from section to section.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from meanfield import CurvePoint, MeanfieldError

from ..two_parameters import becomes
from .plane import Cell
from .sections import Phase, Section
from .window import Window

# A section is asked for the phase of a cell at places so far apart, and at this distance from its ends.
APART, ASIDE = 1.0 / 16.0, 1e-3
# Thinner regions, in units of the window, are left out: curves are not known better between their points.
THIN = 1e-5
# Where it is thinner than this share of its thickness a face may have run through a gap between inexact curves.
TIP = 1e-2
# Places of a path between two sections through a face.
PLACES = 9


def votes_of(window: Window, cells: Sequence[Cell], section: Section) -> "Counter[Phase]":
    """Return how often a section found each phase in the cells of a face that it goes through."""
    votes: Counter[Phase] = Counter()
    x = window.scaled(section.value, 0.0)[0]
    thin = max(THIN, TIP * max(cell.thickness for cell in cells))
    for low, high in _gaps_at(cells, x, thin):
        # Of a thin cell at the middle alone, where it is farthest from errors of the curves about it.
        count = max(1, math.floor((high - low) / APART))
        asked = (low + (high - low) * (np.arange(count) + 0.5) / count).tolist()
        asked += [low + ASIDE, high - ASIDE] if high - low > 4 * ASIDE else []
        found = (section.phase(window.unscaled(x, y)[1]) for y in asked)
        votes.update(phase for phase in found if phase is not None)
    return votes


def differing(
    window: Window, cells: Sequence[Cell], sections: Sequence[Section]
) -> list[tuple[tuple[Section, Phase], tuple[Section, Phase]]]:
    """Return neighbouring sections through a face that find one phase each, of different states, and these."""
    votes = ((section, votes_of(window, cells, section)) for section in sections)
    through = [(section, next(iter(each))) for section, each in votes if len(each) == 1]
    return [
        (one, other)
        for one, other in pairwise(through)
        if one[1] != other[1]
        and not (one[1].stable == other[1].stable and _find_one_state(window, cells, one[0], other[0]))
    ]


def is_divided(window: Window, cells: Sequence[Cell], sections: Sequence[Section]) -> bool:
    """Return whether a curve is missing in a face: a section finds several phases in it, or two differ."""
    several = any(len(votes_of(window, cells, section)) > 1 for section in sections)
    return several or bool(differing(window, cells, sections))


def is_same(
    window: Window, section: Section, height: float, state: CurvePoint, path: Sequence[tuple[float, float]]
) -> bool:
    """Return whether the lowest state of a section at a height becomes another along a path in the window."""
    begin = _lowest(window, section, height)
    if begin is None:
        return False
    places = [(section.value, height), *path]
    try:
        return becomes(
            begin, state, np.array([(value, each * window.unit(value)) for value, each in places]), window.interval
        )
    except MeanfieldError:
        return False


def _lowest(window: Window, section: Section, height: float) -> CurvePoint | None:
    """Return the stable state of least free energy of a section at a height."""
    return section.lowest(height, window.at(section.value).at(coupling=height * window.unit(section.value)))


def _find_one_state(window: Window, cells: Sequence[Cell], one: Section, other: Section) -> bool:
    """Return whether the lowest states of two sections through a face are one."""
    start, end = (window.scaled(section.value, 0.0)[0] for section in (one, other))
    path = []
    for x in np.linspace(start, end, PLACES).tolist():
        gaps = _gaps_at(cells, x)
        if not gaps:
            return False
        path.append(window.unscaled(x, float(np.mean(max(gaps, key=lambda gap: gap[1] - gap[0])))))
    state = _lowest(window, other, path[-1][1])
    return state is not None and is_same(window, one, path[0][1], state, path[1:])


def _gaps_at(cells: Sequence[Cell], x: float, thin: float = THIN) -> list[tuple[float, float]]:
    """Return the ends in y of the cells that have a place in x, of those that are not thin there."""
    within = (cell for cell in cells if cell.x[0] <= x <= cell.x[-1])
    ends = [(float(np.interp(x, cell.x, cell.lower)), float(np.interp(x, cell.x, cell.upper))) for cell in within]
    return [(low, high) for low, high in ends if high - low > thin]
