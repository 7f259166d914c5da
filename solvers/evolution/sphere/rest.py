"""Rest of densities on the ordinary sphere without an axis: the state with an axis that is near, if any."""

import math
from dataclasses import replace

import numpy as np

from meanfield import Equation, State
from meanfield.harmonics import about_axis, harmonics_at, largest_degree, zonal_places

from ...bases import Floats
from ...bases.representations import TRIVIAL
from ...branches.continuation import Point, state_at
from ...branches.recording import state_of
from ...sphere import SPHERE, invariant_equation
from ..rest import NEAR, Rest, rate_of, state_near, without_interaction
from .axes import axis_of

NORTH = np.array([0.0, 0.0, 1.0])


def zonal_state_near(problem: Equation, cosine: Floats, sine: Floats) -> Rest | None:
    """Return the axial stationary state near a density by degree and order, or None if no state is found near it.

    Without a confinement the axis is that of the density's dipole, or of its quadrupole.
    """
    axis = _axis(problem, cosine, sine)
    zonal = projected(cosine, sine, axis)
    zonal[0] = 1.0
    found = state_near(problem, zonal, np.zeros_like(zonal), about_equator, SPHERE)
    if found is None:
        return None
    found = replace(found, distance=distance_in_orders(found.state, cosine, sine))
    return found if found.distance <= NEAR else None


def placed_state_near(problem: Equation, cosine: Floats, sine: Floats) -> Rest | None:
    """Return the stationary state near a density in a confinement without an axis, or None if none is near it.

    It is sought among all densities, so that it stands where the density does.
    """
    coupling = problem.fixed_coupling
    found = _among_all(problem, cosine, sine) if coupling else next(without_interaction(problem, SPHERE), None)
    if found is None:
        return None
    away = placed_distance(found, cosine, sine)
    return Rest(found, away, rate_of(SPHERE, found)) if away <= NEAR else None


def _among_all(problem: Equation, cosine: Floats, sine: Floats) -> State | None:
    """Return the state that Newton's method finds from a density among all harmonics."""
    coupling = problem.fixed_coupling
    sign, modes = 1 if coupling > 0.0 else -1, largest_degree(cosine.size)
    equation = invariant_equation(SPHERE, problem, TRIVIAL, sign, modes=modes)
    if equation is None:
        return None
    point = state_at(equation, equation.unknown_with(cosine, sine), equation.q_at(coupling))
    return state_of(problem, point) if isinstance(point, Point) else None


def placed_distance(state: State, cosine: Floats, sine: Floats) -> float:
    """Return the distance of a density by degree and order from a state."""
    kept = slice(0, max(cosine.size, state.cosine.size))
    one, other = np.zeros((2, 2, kept.stop))
    one[:, : cosine.size], other[:, : state.cosine.size] = (cosine, sine), (state.cosine, state.sine)
    return math.sqrt(2.0) * float(np.linalg.norm(one - other))


def about_equator(sizes: Floats) -> list[int]:
    """Return the symmetries to search for a zonal density: 2 if even about the equator, else 1; both if nearly."""
    odd = float(np.linalg.norm(sizes[1::2]))
    return [2] if odd == 0.0 else [1, 2] if odd <= 0.5 * NEAR else [1]


def distance_in_orders(state: State, cosine: Floats, sine: Floats) -> float:
    """Return the distance of a density from a state with an axis, rotated onto the axis of the density."""
    axis = _axis(state.problem, cosine, sine)
    degree = largest_degree(cosine.size)
    zonal = np.zeros(max(degree + 1, state.cosine.size))
    zonal[: state.cosine.size] = state.cosine
    along, across = about_axis(zonal, axis)
    along[: cosine.size] -= cosine
    across[: sine.size] -= sine
    return math.sqrt(2.0 * (float(along @ along) + float(across @ across)))


def projected(cosine: Floats, sine: Floats, axis: Floats) -> Floats:
    """Return the zonal moments about an axis of a density by degree and order."""
    degree = largest_degree(cosine.size)
    both = harmonics_at(axis[np.newaxis], degree)[..., 0]
    return np.asarray(np.add.reduceat(cosine * both[0] + sine * both[1], zonal_places(degree)))


def _axis(problem: Equation, cosine: Floats, sine: Floats) -> Floats:
    axis = None if problem.confinement is not None else axis_of(cosine, sine)
    return NORTH if axis is None else axis
