"""Triple points: three states of equal free energy, where two first-order lines cross that have a state in common.

The unknowns are the states, x and q, the equations those of the states and the differences of their free energies;
the uniform state, whose free energy is the origin, is no unknown.
"""

from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from meanfield import CurvePoint, OrganisingPoint

from ..bases import EPS, Basis, Floats
from ..branches.continuation import Point, length
from ..branches.orbits import same_orbit
from ..root_finding.newton import POLISHED, correct
from .assembling import UNIFORM, WORDS
from .in_plane.at_place import state_at
from .in_plane.plane import Plane
from .in_plane.stability import stationary_point
from .in_plane.states import GradientState
from .in_plane.unknowns import moments_from
from .systems.extended import layout_of
from .systems.recording import Row, moments_in, organising
from .systems.starts import located, plane_of, start_of
from .systems.transitions import MERGED, TransitionEquation, gradient_state, group_of

# States of two lines at one value of the first parameter, near where they cross, are one within this.
SAME = 1e-2
# A line on which x changes by less than this share of q is vertical.
STEEP = 1e-6
# Newton's method ends where steps are this small, relative to parameters above one, after so many at most.
SMALLEST, MOST = 1e-13, 20
# Roundings of a moment and of a free energy.
MOMENT_ROUNDINGS, ENERGY_ROUNDINGS = 8, 32


class _Member(NamedTuple):
    """A state of a line: its basis and unknown; both None for the uniform one."""

    basis: Basis | None
    unknown: Floats | None


def triple_point(
    one: CurvePoint,
    other: CurvePoint,
    interval: tuple[float, float],
    curves: tuple[str, str],
    crossing: tuple[float, float],
) -> OrganisingPoint | None:
    """Return the triple point near where two first-order lines cross.

    Parameters
    ----------
    one, other
        A point of each line near the crossing.
    interval
        The range of the first parameter.
    curves
        The labels of the lines.
    crossing
        About where they cross, the two parameters.

    Returns
    -------
    OrganisingPoint or None
        The state that both lines have is the last one, so that the third line is between the first two. None if
        they have none in common.
    """
    plane = plane_of(start_of(one), one.parameters, interval)
    aim = plane.coordinates(*crossing)
    place, first = _members(plane, one, aim)
    _, second = _members(plane, other, aim)
    pairs = [(i, j) for i in range(2) for j in range(2)]
    shared = [(i, j) for i, j in pairs if _same(plane, first[i], second[j])]
    if len(shared) != 1:
        return None
    ((i, j),) = shared
    return _located(plane, place, [first[1 - i], second[1 - j], first[i]], curves)


def _members(
    plane: Plane, point: CurvePoint, aim: tuple[float, float]
) -> tuple[tuple[float, float], list[_Member]]:
    """Return x and q of a line at the x of an aim, or at its q if x does not change along it, and its states."""
    start = start_of(point)
    place, basis, b = located(start, plane, start.first)
    bases, unknowns = [basis], [b]
    if start.second is not None:
        _, basis, b = located(start, plane, start.second)
        bases, unknowns = [*bases, basis], [*unknowns, b]
    equation = TransitionEquation(plane, tuple(bases))
    unknown, (x, q) = np.concatenate([*unknowns, place[:1]]), place
    across, down = equation.system(unknown, q).normal
    border = np.zeros(equation.scales.size)
    if abs(down) <= STEEP * abs(across):
        found = correct(equation, unknown, aim[1], border, 1.0, POLISHED)
    else:
        border[-1] = 1.0
        found = correct(equation, np.append(unknown[:-1], aim[0]), q, border, 0.0, POLISHED)
    if found is not None:
        unknown, x, q = found.b, float(found.b[-1]), found.q
    parts = np.split(unknown[:-1], np.cumsum([each.degrees.size for each in bases])[:-1])
    known = [_Member(*pair) for pair in zip(bases, parts, strict=True)]
    return (x, q), known if len(known) == 2 else [*known, _Member(None, None)]


def _same(plane: Plane, one: _Member, other: _Member) -> bool:
    """Return whether two states near the crossing are one, or images of each other."""
    if one.basis is None or other.basis is None:
        return one.basis is other.basis
    if one.basis.symmetry != other.basis.symmetry or group_of(one.basis) is not group_of(other.basis):
        return False
    assert one.unknown is not None
    assert other.unknown is not None
    uneven = any(each.fourier is not None for each in (one.basis, other.basis))
    if uneven or (plane.confined and one.basis.invariants is None):
        mine, theirs = (
            _from_zero(basis, b) for basis, b in ((one.basis, one.unknown), (other.basis, other.unknown))
        )
        count = min(mine.size, theirs.size)
        images = plane.images(theirs[:count]) if plane.confined else _turned_to(theirs[:count], mine[:count])
        return bool(np.abs(images - mine[:count]).max(axis=1).min() <= SAME)
    shared = np.isin(one.basis.degrees, other.basis.degrees), np.isin(other.basis.degrees, one.basis.degrees)
    return bool(np.abs(np.abs(one.unknown[shared[0]]) - np.abs(other.unknown[shared[1]])).max(initial=0.0) <= SAME)


def _turned_to(theirs: Any, mine: Any) -> Any:
    """Return the images of moments, by degree from 1, in which the largest of others has the phase it has there.

    Those under rotations and reflections, one a row.
    """
    place, degrees, found = int(np.argmax(np.abs(mine))), np.arange(1, mine.size + 1), []
    for seen in (theirs, np.conj(theirs)):
        turns = np.angle(seen[place] * np.conj(mine[place])) + 2.0 * np.pi * np.arange(place + 1)
        found.append(seen * np.exp(-1j * np.multiply.outer(turns / (place + 1), degrees)))
    return np.concatenate(found)


def _from_zero(basis: Basis, b: Floats) -> Any:
    """Return the unknowns of a state with an axis as complex moments from angle 0, by degree and over it."""
    cosine, sine = moments_from(basis, b)
    return (cosine - 1j * sine)[1:] / np.arange(1, cosine.size)


def _located(
    plane: Plane, place: tuple[float, float], members: list[_Member], curves: tuple[str, str]
) -> OrganisingPoint | None:
    """Return the point at which three states have equal free energy, by Newton's method; None if there is none."""
    bases = [each.basis for each in members if each.basis is not None]
    unknown = np.concatenate([*(each.unknown for each in members if each.unknown is not None), place])
    for _ in range(MOST):
        states = _states(plane, bases, unknown)
        residual, matrix = _system(states)
        try:
            step = np.linalg.solve(matrix, residual)
        except np.linalg.LinAlgError:
            return None
        unknown = unknown - step
        if not (np.isfinite(unknown).all() and unknown[-1] > 0.0):
            return None
        if (np.abs(step) <= SMALLEST * np.maximum(1.0, np.abs(unknown))).all():
            break
    else:
        return None
    states = _states(plane, bases, unknown)
    if not all(state.resolves() for state in states):
        return None
    if not plane.confined and any(length(state.unknown, 0.0) <= MERGED for state in states):
        return None
    points = [stationary_point(state, states[0].coefficients.place.problem) for state in states]
    # Where a confinement is about to vanish states in two orientations are two.
    same = _same_moments if plane.confined else same_orbit
    if any(same(*pair) for pair in combinations(points, 2)):
        return None
    energies = ENERGY_ROUNDINGS * np.ones(2)
    rounding = np.append(MOMENT_ROUNDINGS * np.ones(unknown.size - 2), energies)
    error = EPS * (np.abs(np.linalg.inv(matrix)) @ rounding)[-2:] + np.abs(step[-2:])
    return _recorded(plane, states, points, error, len(bases) < len(members), curves)


def _same_moments(one: Point, other: Point) -> bool:
    """Return whether two states have the same moments."""
    layout = layout_of(point.equation.basis for point in (one, other))
    pairs = [np.stack(moments_in(layout, point)[:2]) for point in (one, other)]
    count = min(pair.shape[1] for pair in pairs)
    return bool(np.abs(pairs[0][:, :count] - pairs[1][:, :count]).max() <= MERGED)


def _states(plane: Plane, bases: list[Basis], unknown: Floats) -> list[GradientState]:
    place = float(unknown[-2]), float(unknown[-1])
    parts = np.split(unknown[:-2], np.cumsum([basis.degrees.size for basis in bases])[:-1])
    return [gradient_state(state_at(plane, basis, place, part)) for basis, part in zip(bases, parts, strict=True)]


def _system(states: list[GradientState]) -> tuple[Floats, Floats]:
    """Return the residual, (size,), and its derivatives in the states, x and q, (size, size)."""
    size = sum(state.unknown.size for state in states) + 2
    residual, matrix, energies = np.zeros(size), np.zeros((size, size)), np.zeros((3, size + 1))
    start = 0
    for row, state in zip(energies, states, strict=False):
        own = slice(start, start := start + state.unknown.size)
        residual[own], matrix[own, own], matrix[own, -2:] = state.residual, state.matrix, state.slopes.T
        row[own], row[-3:-1], row[-1] = state.energy_gradient, state.energy_slopes, state.energy
    # The third is that of the uniform state if there are two.
    differences = energies[:2] - energies[2]
    residual[-2:], matrix[-2:] = differences[:, -1], differences[:, :-1]
    return residual, matrix


def _recorded(
    plane: Plane,
    states: list[GradientState],
    points: list[Point],
    error: Floats,
    uniform: bool,
    curves: tuple[str, str],
) -> OrganisingPoint:
    known = states[0].coefficients.place
    layout = layout_of(point.equation.basis for point in points)
    moments = [moments_in(layout, point)[:2] for point in points]
    row = Row(
        known.values,
        (0.0, 0.0),
        known.problem,
        moments[0],
        None,
        points[0].invariant,
        0.0,
        (),
        0,
        0.0,
        layout=layout,
    )
    value = float(known.values[0])
    spread = float(np.abs(known.slopes[0]) @ error) + plane.rounding(value)
    further = [*moments[1:], UNIFORM] if uniform else moments[1:]
    bounds = value - spread, value + spread
    found = organising(row, "triple point", plane, bounds, curves, WORDS["triple point"], further)
    return replace(found, domain=known.problem.domain, problem=known.problem)
