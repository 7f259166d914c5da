r"""The subdivision of a window of the plane by curves, done by slabs.

Every curve is cut where it turns in x, into graphs y(x). The ends of all graphs and the places where two of them
cross or touch, or one leaves the window, cut the window into slabs, in each of which the graphs are ordered, and
the gaps between neighbours are cells. Cells of neighbouring slabs that share a part of their boundary are one face.

All lengths are in units of the window, which is the unit square here.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Curves closer than this are not told apart, and cells that touch along less do not share a boundary.
NEAR = 4e-6
# Places that are closer are one; where a curve turns, its two sides are at most the root of this apart.
SAME_PLACE = 1e-13
# Vertical pieces that are closer are on one line.
SAME_WALL = 2 * SAME_PLACE
# Evenly spaced places at which the cells of a slab are given, at the least, and in one as wide as the window. Where
# curves are steep there are more.
FEWEST, EVENLY = 5, 257


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
    x, lower, upper : (S,) float
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


class Wall(NamedTuple):
    """A vertical piece of a curve: x, and the ends in y."""

    x: float
    low: float
    high: float


def graphs_of(curve: int, places: Floats) -> list[Graph]:
    """Return the graphs over x of a curve through places (n, 2), cut where it turns."""
    return [
        Graph(curve, *(piece if piece[-1, 0] > piece[0, 0] else piece[::-1]).T)
        for piece in _pieces(places)
        if not _is_vertical(piece)
    ]


def walls_of(places: Floats) -> list[Wall]:
    """Return the vertical pieces of a curve through places (n, 2)."""
    vertical = [piece for piece in _pieces(places) if _is_vertical(piece)]
    return [Wall(float(piece[0, 0]), float(piece[:, 1].min()), float(piece[:, 1].max())) for piece in vertical]


def _pieces(places: Floats) -> list[Floats]:
    """Return the pieces of a curve in which x rises, falls or stays."""
    known = places[np.all(np.isfinite(places), axis=1)]
    if len(known) < 2:
        return []
    steps = np.diff(known[:, 0])
    signs = np.where(np.abs(steps) > SAME_PLACE, np.sign(steps), 0.0)
    cuts = [0, *(np.flatnonzero(signs[1:] != signs[:-1]) + 1).tolist(), len(known) - 1]
    return [known[first : last + 1] for first, last in pairwise(cuts)]


def _is_vertical(piece: Floats) -> bool:
    return bool(abs(piece[1, 0] - piece[0, 0]) <= SAME_PLACE)


def subdivided(tracks: Sequence[Floats]) -> tuple[list[list[Cell]], npt.NDArray[np.int64]]:
    """Return the cells of every slab between curves through places (n, 2), and the number of each cell's face."""
    walls = [wall for track in tracks for wall in walls_of(track)]
    graphs = [_to_walls(graph, walls) for curve, track in enumerate(tracks) for graph in graphs_of(curve, track)]
    slabs = cells_of(graphs, [wall.x for wall in walls])
    return slabs, faces_of(slabs, walls)


def _to_walls(graph: Graph, walls: Sequence[Wall]) -> Graph:
    """Return a graph of which ends just beside a wall are on it: between them is no way through."""
    curve, x, y = graph
    for wall in walls:
        for side in (0, -1):
            if 0.0 < abs(x[side] - wall.x) <= NEAR and wall.low <= y[side] <= wall.high:
                x = x.copy()
                x[side] = wall.x
    return Graph(curve, x, y)


def cells_of(graphs: Sequence[Graph], stops: Sequence[float] = ()) -> list[list[Cell]]:
    """Return the cells of every slab, from below; slabs from the left, and cut at further stops."""
    frame = [Graph(-1, np.array([0.0, 1.0]), np.full(2, height)) for height in (0.0, 1.0)]
    slabs = []
    for left, right in pairwise(_breaks([*graphs, *frame], stops)):
        middle = 0.5 * (left + right)
        within = [graph for graph in graphs if graph.x[0] <= middle <= graph.x[-1]]
        x = _across(left, right, within)
        heights = sorted(
            ((graph.at(x), graph.curve) for graph in within), key=lambda entry: float(np.mean(entry[0]))
        )
        bounds = [(np.zeros(x.size), -1), *heights, (np.ones(x.size), -1)]
        clipped = [(np.clip(y, 0.0, 1.0), curve) for y, curve in bounds]
        cells = [
            Cell(x, low, np.maximum(low, high), below, above)
            for (low, below), (high, above) in pairwise(clipped)
            if np.max(high - low) > NEAR
        ]
        slabs.append(cells)
    return slabs


def _across(left: float, right: float, graphs: Sequence[Graph]) -> Floats:
    """Return places across a slab such that lines between them miss no graph in the window by over ``NEAR``."""
    x = np.linspace(left, right, max(FEWEST, int(EVENLY * (right - left))))
    while True:
        more = np.setdiff1d(np.concatenate([x[:0], *(_missed(x, graph) for graph in graphs)]), x)
        if not more.size:
            return x
        x = np.union1d(x, more)


def _missed(x: Floats, graph: Graph) -> Floats:
    """Return, of each gap between places, where lines between these miss a graph most, if by more than ``NEAR``."""
    inside = (graph.x > x[0]) & (graph.x < x[-1])
    own = graph.x[inside]
    error = np.abs(np.interp(own, x, np.clip(graph.at(x), 0.0, 1.0)) - np.clip(graph.y[inside], 0.0, 1.0))
    largest = np.argsort(-error)[: np.count_nonzero(error > NEAR)]
    _, first = np.unique(np.searchsorted(x, own[largest]), return_index=True)
    return np.asarray(own[largest[first]])


def faces_of(slabs: Sequence[Sequence[Cell]], walls: Sequence[Wall]) -> npt.NDArray[np.int64]:
    """Return for every cell, slab by slab, the number of its face, that of a cell of it."""
    faces = np.arange(sum(map(len, slabs)))
    starts = np.cumsum([0, *map(len, slabs)])
    for slab, (cells, beside) in enumerate(pairwise(slabs)):
        for i, cell in enumerate(cells):
            for j, other in enumerate(beside):
                low, high = max(cell.lower[-1], other.lower[0]), min(cell.upper[-1], other.upper[0])
                if _open(float(cell.x[-1]), float(low), float(high), walls) > NEAR:
                    join(faces, int(starts[slab]) + i, int(starts[slab + 1]) + j)
    return faces


def _open(x: float, low: float, high: float, walls: Sequence[Wall]) -> float:
    """Return the largest part of a vertical line that no wall covers."""
    own = sorted((wall.low, wall.high) for wall in walls if abs(wall.x - x) <= SAME_WALL)
    largest = 0.0
    for bottom, top in own:
        largest, low = max(largest, min(bottom, high) - low), max(low, top)
    return max(largest, high - low)


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


def _breaks(graphs: Sequence[Graph], stops: Sequence[float]) -> list[float]:
    """Return the places that cut the window into slabs, from 0 to 1."""
    ends = [float(graph.x[side]) for graph in graphs for side in (0, -1)]
    crossed = [place for one, other in combinations(graphs, 2) for place in crossings(one, other)]
    # What ends or crosses beside a wall does on it: no slab between them would be one.
    others = [place for place in (*ends, *crossed) if all(abs(place - stop) > NEAR for stop in stops)]
    places = np.unique(np.clip([0.0, 1.0, *others, *stops], 0.0, 1.0))
    apart = np.diff(places, prepend=-1.0) > SAME_WALL
    kept = [0.0, *places[apart & (places > 0.0)].tolist()]
    return [*(place for place in kept if place <= 1.0 - SAME_PLACE), 1.0]


def crossings(one: Graph, other: Graph) -> list[float]:
    """Return the places at which two graphs cross or touch, one where they are closer than ``NEAR`` for a while."""
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
            # Between lines through neighbouring points the place is exact.
            last = first + 1 + int(np.argmax(difference[first + 1 : second + 1] * difference[first] <= 0.0))
            share = difference[last - 1] / (difference[last - 1] - difference[last])
            places.append(float(x[last - 1] + share * (x[last] - x[last - 1])))
        elif second > first + 1:
            between = first + 1 + int(np.argmin(np.abs(difference[first + 1 : second])))
            places.append(float(x[between]))
    return places
