"""Comparison of states near a resonance with the critical points of a reduced energy: number, size, stability."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from meanfield import Equation, State

from .claims import Evidence, Undecided, compare, missing
from .measures import Floats
from .tools import Tools

# States of amplitudes up to this, relative to the largest of the reduced energy, belong to the resonance; others do
# not shrink with the distance of the thresholds.
NEAR = 3.0
# What the terms of higher order may change of a state, relative to its size. They are smaller by an order of the
# amplitude, which the hypotheses of the claims keep small.
HIGHER_ORDER = 0.25
# Thresholds nearer than this merge in arithmetic of 16 digits; a third one that does not take part is ten times as
# far, at least, as the two may be from each other.
SMALLEST, OTHERS = 1e-6, 0.2
# Eigenvalues of a Hessian below this share of the largest are those of rotations.
ROTATION = 1e-9
# Critical points of larger amplitudes are not compared.
TRUSTED = 0.15
# Critical points are computed at so many couplings, beyond both thresholds by so many of their distances.
GRID, REACH = 1201, 4.0
# Between couplings at which they change that are this close, relative to all of these, states are not compared; the
# couplings looked at are some five times closer.
CLOSE = 0.05


@dataclass(frozen=True)
class Critical:
    """A critical point of the reduced energy: moments of both modes, in modulus, and unstable directions."""

    kind: str
    first: float
    second: float
    unstable: int


def unstable(blocks: list[tuple[Floats, int]]) -> int:
    """Return the number of negative eigenvalues of blocks with their multiplicities; rotations have zeros."""
    values = np.concatenate([np.repeat(np.linalg.eigvalsh(block), copies) for block, copies in blocks])
    return int(np.count_nonzero(values < -ROTATION * np.abs(values).max()))


def changes(critical: Callable[[float], list[Critical]], low: float, high: float) -> list[float]:
    """Return the couplings around two thresholds at which critical points appear, vanish or change stability."""
    grid = np.linspace(low - REACH * (high - low), high + REACH * (high - low), GRID)
    signs = [[(point.kind, point.unstable) for point in critical(float(coupling))] for coupling in grid]
    middles = (0.5 * (grid[1:] + grid[:-1])).tolist()
    return [middle for middle, (one, other) in zip(middles, pairwise(signs), strict=True) if one != other]


def between(special: list[float]) -> list[float]:
    """Return a coupling between each two at which the critical points change, and one beyond on either side."""
    width = special[-1] - special[0]
    gaps = [(a, b) for a, b in pairwise(special) if b - a > CLOSE * width]
    return [special[0] - width, *(0.5 * (a + b) for a, b in gaps), special[-1] + width]


def held_against(
    problem: Equation,
    tools: Tools,
    modes: tuple[int, int],
    thresholds: tuple[float, float],
    critical: Callable[[float], list[Critical]],
    *,
    connected: bool = True,
) -> Iterator[Evidence]:
    """Yield comparisons of states with the critical points, one coupling for each set of these.

    Parameters
    ----------
    thresholds
        The critical couplings of both modes.
    connected
        Whether all states are connected to the uniform one, so that diagrams have them; two couplings a diagram.
        Otherwise the stationary states of every coupling are computed.
    """
    ordered = [
        coupling
        for coupling in between(changes(critical, min(thresholds), max(thresholds)))
        if all(np.hypot(point.first, point.second) <= TRUSTED for point in critical(coupling))
    ]
    if not ordered:
        raise Undecided("no coupling has critical points of small amplitudes only")
    if not connected:
        for coupling in ordered:
            states = [state for state in tools.states(problem.at(coupling=coupling)) if state.symmetry != 0]
            known = [_measured(state, modes, state.unstable) for state in states]
            yield from _at(coupling, known, critical(coupling))
        return
    half = len(ordered) // 2
    pairs = [(ordered[i], ordered[i - half]) for i in range(half)]
    pairs += [(ordered[0], ordered[half])] if len(ordered) % 2 else []
    for ends in pairs:
        diagram = tools.diagram(problem, ends)
        for end in ends:
            known = [
                _measured(diagram.state(index, point), modes, int(branch.unstable[point]))
                for index, branch in enumerate(diagram.branches)
                if branch.symmetry != 0
                for point in (0, len(branch) - 1)
                if abs(float(branch.coupling[point]) / end - 1.0) < 1e-12
            ]
            yield from _at(end, known, critical(end))


def _measured(state: State, modes: tuple[int, int], unstable: int | None) -> tuple[float, float, int]:
    return state.order_parameter(modes[0]), state.order_parameter(modes[1]), -1 if unstable is None else unstable


def _at(coupling: float, known: list[tuple[float, float, int]], expected: list[Critical]) -> Iterator[Evidence]:
    largest = max((float(np.hypot(point.first, point.second)) for point in expected), default=0.0)
    small = [state for state in known if np.hypot(state[0], state[1]) <= NEAR * largest]
    where = f"near the resonance at coupling {coupling:.12g}"
    yield compare(len(small), len(expected), 0.0, f"states {where}")
    for point in expected:
        nearest = min(small, key=lambda s: np.hypot(s[0] - point.first, s[1] - point.second), default=None)
        if nearest is None:
            yield missing(f"no {point.kind} state {where}")
            continue
        bound = HIGHER_ORDER * float(np.hypot(point.first, point.second))
        for found, value in zip(nearest[:2], (point.first, point.second), strict=True):
            yield compare(found, value, bound, f"moment of the {point.kind} state {where}")
        yield compare(nearest[2], point.unstable, 0.0, f"unstable directions of the {point.kind} state {where}")
