r"""The subdivision of a window of the plane by curves, done by slabs.

Every curve is cut where it turns in x, into graphs y(x). The ends of all graphs and the places where two of them
cross, or one leaves the window, cut the window into slabs, in each of which the graphs are ordered, and the gaps
between neighbours are cells. Cells of neighbouring slabs that share a part of their boundary are one face.

All lengths are in units of the window, which is the unit square here.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Curves closer than this are not told apart, and cells that touch along less do not share a boundary.
NEAR = 1e-6
# Places that are closer are one.
SAME_PLACE = 1e-9
# Points between two points of a curve, and places at which the cells of a slab are given.
FINER, SAMPLES = 12, 9


class Graph(NamedTuple):
    """A piece of a curve that does not turn: the index of the curve, x, increasing, and y, both (n,)."""

    curve: int
    x: Floats
    y: Floats

    def at(self, x: Floats) -> Floats:
        """Return y at places, by lines between the points."""
        return np.asarray(np.interp(x, self.x, self.y))


class Cell(NamedTuple):
    """The gap between two graphs in a slab.

    Attributes
    ----------
    x, lower, upper : (SAMPLES,) float
        Places across the slab and the ends of the gap there, equal where there is none.
    below, above : int
        Indices of the curves below and above, -1 for the frame.
    """

    x: Floats
    lower: Floats
    upper: Floats
    below: int
    above: int

    @property
    def thickness(self) -> float:
        """The largest height."""
        return float(np.max(self.upper - self.lower))

    @property
    def area(self) -> float:
        """The area."""
        return float(np.trapezoid(self.upper - self.lower, self.x))


def smooth(length: Floats, places: Floats, slopes: Floats) -> Floats:
    """Return more points of a curve, (n, 2), by cubics in the arclength through its points and slopes, (P, 2)."""
    if len(places) < 2:
        return places
    t = (np.arange(FINER) / FINER)[:, np.newaxis, np.newaxis]
    steps = np.diff(length)[:, np.newaxis]
    pieces = (
        (1 + 2 * t) * (1 - t) ** 2 * places[:-1]
        + t**2 * (3 - 2 * t) * places[1:]
        + t * (1 - t) ** 2 * steps * slopes[:-1]
        - t**2 * (1 - t) * steps * slopes[1:]
    )
    return np.vstack([np.moveaxis(pieces, 0, 1).reshape(-1, 2), places[-1:]])


def graphs_of(curve: int, places: Floats) -> list[Graph]:
    """Return the graphs over x of a curve through places (n, 2), cut where it turns; vertical pieces have none."""
    known = places[np.all(np.isfinite(places), axis=1)]
    if len(known) < 2:
        return []
    signs = np.sign(np.diff(known[:, 0]))
    cuts = [0, *(np.flatnonzero(signs[1:] != signs[:-1]) + 1).tolist(), len(known) - 1]
    graphs = []
    for first, last in pairwise(cuts):
        piece = known[first : last + 1]
        if abs(piece[-1, 0] - piece[0, 0]) > SAME_PLACE:
            x, y = (piece if piece[-1, 0] > piece[0, 0] else piece[::-1]).T
            graphs.append(Graph(curve, x, y))
    return graphs


def cells_of(graphs: Sequence[Graph]) -> list[list[Cell]]:
    """Return the cells of every slab, from below; slabs from the left."""
    frame = [Graph(-1, np.array([0.0, 1.0]), np.full(2, height)) for height in (0.0, 1.0)]
    slabs = []
    for left, right in pairwise(_breaks([*graphs, *frame])):
        middle = 0.5 * (left + right)
        within = [graph for graph in graphs if graph.x[0] <= middle <= graph.x[-1]]
        # The ends belong to what is beyond them.
        x = left + (right - left) * np.linspace(1e-9, 1 - 1e-9, SAMPLES)
        heights = sorted(
            ((graph.at(x), graph.curve) for graph in within), key=lambda entry: float(np.mean(entry[0]))
        )
        bounds = [(np.zeros(SAMPLES), -1), *heights, (np.ones(SAMPLES), -1)]
        clipped = [(np.clip(y, 0.0, 1.0), curve) for y, curve in bounds]
        cells = [
            Cell(x, low, np.maximum(low, high), below, above)
            for (low, below), (high, above) in pairwise(clipped)
            if np.max(high - low) > 0.0
        ]
        slabs.append(cells)
    return slabs


def faces_of(slabs: Sequence[Sequence[Cell]]) -> npt.NDArray[np.int64]:
    """Return for every cell, slab by slab, the number of its face, that of a cell of it."""
    faces = np.arange(sum(map(len, slabs)))
    starts = np.cumsum([0, *map(len, slabs)])
    for slab, (cells, beside) in enumerate(pairwise(slabs)):
        for i, cell in enumerate(cells):
            for j, other in enumerate(beside):
                shared = min(cell.upper[-1], other.upper[0]) - max(cell.lower[-1], other.lower[0])
                if shared > NEAR:
                    join(faces, int(starts[slab]) + i, int(starts[slab + 1]) + j)
    return faces


def join(groups: npt.NDArray[np.int64], one: int, other: int) -> None:
    """Make two groups one, in place."""
    groups[groups == groups[other]] = groups[one]


def neighbours(slabs: Sequence[Sequence[Cell]]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of cells with a curve between them, by their numbers as in :func:`faces_of`."""
    start = 0
    for cells in slabs:
        # Two thin cells apart, a curve may lie on another that separates nothing.
        for i, (lower, upper) in enumerate(pairwise(cells)):
            if np.max(np.minimum(lower.upper - lower.lower, upper.upper - upper.lower)) > 0.0:
                yield start + i, start + i + 1
        start += len(cells)


def _breaks(graphs: Sequence[Graph]) -> list[float]:
    """Return the places that cut the window into slabs, from 0 to 1."""
    ends = [float(graph.x[side]) for graph in graphs for side in (0, -1)]
    crossings = [place for one, other in combinations(graphs, 2) for place in _crossings(one, other)]
    places = np.unique(np.clip([0.0, 1.0, *ends, *crossings], 0.0, 1.0))
    kept = [0.0, *(place for place, before in zip(places[1:], places, strict=False) if place - before > SAME_PLACE)]
    return [*(place for place in kept if place <= 1.0 - SAME_PLACE), 1.0]


def _crossings(one: Graph, other: Graph) -> list[float]:
    """Return the places at which two graphs cross, where they come closer than ``NEAR`` in the middle of these."""
    low, high = max(one.x[0], other.x[0], 0.0), min(one.x[-1], other.x[-1], 1.0)
    if high <= low:
        return []
    x = np.unique(np.concatenate([[low, high], one.x, other.x]))
    x = x[(x >= low) & (x <= high)]
    difference = one.at(x) - other.at(x)
    clear = np.flatnonzero(np.abs(difference) > NEAR)
    places = []
    for first, second in pairwise(clear.tolist()):
        if difference[first] * difference[second] < 0.0:
            share = difference[first] / (difference[first] - difference[second])
            places.append(float(x[first] + share * (x[second] - x[first])))
    return places
