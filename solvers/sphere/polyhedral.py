r"""Branches on S^2 that are not axisymmetric, each followed among the densities invariant under its symmetry.

Where the modes of degree l become critical at the uniform state a branch is born for every axial symmetry of that
degree (equivariant branching lemma; :mod:`solvers.sphere.groups`). With odd l its two directions are images of each
other under the inversion; with even l they are different states. Where a zonal state loses stability in azimuthal
order m, :math:`g(\theta)\cos m\varphi` gives a branch of m-fold symmetry whose two directions are rotations by
:math:`\pi/m` of each other.
"""

from collections.abc import Iterable

import numpy as np

from meanfield import Equation
from meanfield.harmonics import packed, place

from ..bases import Floats, Integers, InvariantBasis
from ..bases.invariant import FullBasis
from ..bases.limits import MAX_HARMONIC_DEGREE, MAX_SPHERICAL_DEGREE
from ..bases.representations import SAME_ELEMENT, Group, representation
from ..branches.births import departures
from ..branches.continuation import Point
from ..branches.junctions import Departure
from ..branches.recording import Register
from ..equations.equation import SLOW, StationaryEquation
from ..equations.geometry import Birth, Geometry, Threshold
from ..equations.significant import (
    confining_degree,
    confining_error,
    even_size,
    significant_among,
    starting_degrees,
    strengths,
)
from ..equations.sizing import confining_field, equation_in
from .groups import axial_groups, breaking_group, pyramidal
from .harmonics import HarmonicClass, HarmonicPerturbations, harmonic_perturbations
from .naming import name_of_departure
from .stability import AzimuthalBlock
from .subgroups import subgroups

FEWEST_NODES = 32
# A critical function and its image are the same up to this share of it.
SAME_FUNCTION = 1e-5
# Invariants of critical functions that are images of each other, found at small amplitudes, differ by less.
SAME_INVARIANTS = 5e-3


def invariant_equation(
    geometry: Geometry, problem: Equation, group: Group, sign: int, *, modes: int = 0, unknowns: int = 0
) -> StationaryEquation | None:
    """Return the equation on densities on S^2 invariant under a group, or None if the potential acts on none.

    Parameters
    ----------
    modes
        Smallest degree to resolve.
    unknowns
        Smallest last degree to include, for potentials whose multipliers decay slowly.
    """
    significant = starting_degrees(problem, group.admissible, least=unknowns)
    if significant.degrees.max(initial=0) > MAX_HARMONIC_DEGREE:
        # Not all degrees that are significant can be unknown: as many as the states ask for.
        most = min(max(FEWEST_NODES, unknowns), MAX_HARMONIC_DEGREE)
        significant = significant_among(problem, group.admissible(most))
    if not significant.degrees.size:
        return None
    confining = confining_degree(problem)
    least = (2 * int(significant.degrees.max()), MAX_SPHERICAL_DEGREE if confining is None else 2 * confining)
    nodes = min(max(even_size(max(*least, FEWEST_NODES)), modes), MAX_SPHERICAL_DEGREE)
    basis = InvariantBasis(group, significant.degrees, nodes, confining_field(problem))
    return equation_in(problem, basis, sign, geometry, significant, confining_error(problem, SLOW))


def polyhedral_births(
    geometry: Geometry, problem: Equation, threshold: Threshold, found: list[Birth], register: Register
) -> list[Birth]:
    """Return the branches of finite symmetry born where degrees are critical at the uniform state.

    Where several are, states mix them; these are looked for with the symmetry of every pyramid.

    Parameters
    ----------
    found
        The branches about an axis.
    """
    if not geometry.follows_all(problem):
        return []
    point = threshold.point
    groups = [group for degree in reversed(point.modes) for group in axial_groups(degree)]
    if len(point.modes) > 1:
        groups += [pyramidal(order) for order in range(max(point.modes), 1, -1)]
    born: list[Birth] = []
    for group in dict.fromkeys(groups):
        for birth in _births_of_group(geometry, problem, group, threshold, register):
            if len(point.modes) == 1 or not any(_same(birth, other, point.modes) for other in (*found, *born)):
                born.append(birth)
    return born


def _same(one: Birth, other: Birth, degrees: tuple[int, ...]) -> bool:
    """Return whether two critical functions are images of each other, by invariants."""
    difference = _invariants(one.departure, degrees) - _invariants(other.departure, degrees)
    return float(np.abs(difference).max()) <= SAME_INVARIANTS


def _invariants(departure: Departure, degrees: tuple[int, ...]) -> Floats:
    """Return invariants of a critical function of unit mean square under rotations: parts by degree, and a mean."""
    basis, direction = departure.equation.basis, departure.direction
    function = direction / np.sqrt(float(basis.squares @ direction**2))
    parts = [basis.squares @ np.where(basis.degrees == degree, function, 0.0) ** 2 for degree in degrees]
    return np.array([*parts, basis.mean_beyond_quadratic(function)])


def _births_of_group(
    geometry: Geometry, problem: Equation, group: Group, threshold: Threshold, register: Register
) -> list[Birth]:
    point = threshold.point
    equation = invariant_equation(geometry, problem, group, 1 if point.coupling > 0 else -1)
    if equation is None or not np.isin(point.modes, equation.basis.degrees).any():
        return []
    return [birth_in_group(departure) for departure in departures(equation, threshold, point.modes, register)]


def birth_in_group(departure: Departure) -> Birth:
    """Return a branch under its name, of symmetry 2 if its densities are equal at antipodes, else 1."""
    basis = departure.equation.basis
    odd = bool((basis.degrees % 2).any()) or (basis.confinement is not None and basis.confinement.odd)
    return Birth(departure, name_of_departure(departure), 1 if odd else 2)


def broken_symmetry(point: Point, kernels: Iterable[tuple[HarmonicClass, Floats]]) -> list[Birth]:
    """Return the branches born where a state without an axis loses stability along harmonic functions.

    The images of such a function under the symmetry of the state span a space in which it acts, of one dimension or
    of more. A branch is born for every subgroup that fixes one direction of it alone (equivariant branching lemma),
    one of each class of images. Of others nothing is known: with cubic terms there is none.
    """
    modes = harmonic_perturbations(point.equation)
    known = np.zeros((0, modes.basis.degrees.size))
    found: list[Birth] = []
    for block, kernel in kernels:
        change = np.zeros(modes.basis.degrees.size)
        places = modes.places(block)
        change[places] = kernel / modes.roots[places]
        change /= np.linalg.norm(change)
        if np.linalg.norm(change - (known @ change) @ known) <= SAME_FUNCTION:
            continue
        images = np.array([_turned(modes.basis, change, element) for element in modes.group.elements])
        _, sizes, directions = np.linalg.svd(images)
        span = directions[: np.count_nonzero(sizes > SAME_FUNCTION * sizes[0])]
        known = np.vstack([known, span])
        found += _births_in(point, modes, span, change)
    return found


def _births_in(point: Point, modes: HarmonicPerturbations, span: Floats, change: Floats) -> list[Birth]:
    """Return the branches born along directions of a space of functions, of which one is given.

    If a symmetry maps a direction to its negative, its two branches are images of each other; otherwise they are
    different states.
    """
    elements = modes.group.elements
    turned = [[_turned(modes.basis, function, element) for function in span] for element in elements]
    actions = np.array(turned) @ span.T
    found = []
    for subgroup in (modes.group, *subgroups(modes.group)):
        inside = np.abs(elements[:, None] - subgroup.elements).max(axis=(2, 3)).min(axis=1) <= SAME_ELEMENT
        projector = actions[inside].mean(axis=0)
        if round(float(np.trace(projector))) != 1:
            continue
        direction = np.linalg.eigh(0.5 * (projector + projector.T))[1][:, -1]
        images = direction @ actions
        kept = np.abs(images - direction).max(axis=1) <= SAME_FUNCTION
        if np.count_nonzero(kept) == subgroup.order:
            function = direction @ span
            side = 1.0 if function @ change >= 0.0 else -1.0
            reversed_by_one = bool((np.abs(images + direction).max(axis=1) <= SAME_FUNCTION).any())
            found += _births_along(point, modes, subgroup, side * function, reversed_by_one)
    return found


def _births_along(
    point: Point, modes: HarmonicPerturbations, group: Group, function: Floats, reversed_by_one: bool
) -> list[Birth]:
    """Return the branches born along a function that a group leaves invariant, in one direction or in both."""
    old = point.equation
    equation = invariant_equation(
        old.geometry, old.problem, group, old.sign, modes=old.basis.nodes, unknowns=int(old.basis.degrees.max())
    )
    if equation is None:
        return []
    b = point.unknown_in(equation)
    direction = equation.unknown_with(*modes.basis.harmonics(function))
    direction /= np.linalg.norm(direction)
    q = equation.q_at(point.coupling)
    order, sides = (2, (1.0,)) if reversed_by_one else (None, (1.0, -1.0))
    return [birth_in_group(Departure(equation, b, q, side * direction, order)) for side in sides]


def _turned(basis: FullBasis, coefficients: Floats, element: Floats) -> Floats:
    """Return the coefficients of a function turned by an orthogonal transformation."""
    turned = np.empty_like(coefficients)
    for degree in np.unique(basis.degrees).tolist():
        inside = basis.degrees == degree
        turned[inside] = representation(element, degree) @ coefficients[inside]
    return turned


def broken_axis(point: Point, block: AzimuthalBlock, degrees: Integers, kernel: Floats) -> list[Birth]:
    """Return the branch born where a zonal state on S^2 loses stability in an azimuthal order."""
    old, order = point.equation, block.order
    if not old.geometry.follows_all(old.problem):
        return []
    group = breaking_group(order, block.parity)
    equation = invariant_equation(
        old.geometry,
        old.problem,
        group,
        old.sign,
        modes=old.basis.symmetry * old.basis.nodes // 2,
        unknowns=int(old.basis.degrees.max()),
    )
    if equation is None:
        return []
    zonal = packed(point.by_degree[0])
    b = equation.unknown_with(zonal, np.zeros_like(zonal))
    roots = np.sqrt(np.abs(strengths(old.problem, int(degrees.max())).relative))
    change = np.zeros(place(int(degrees.max()), int(degrees.max())) + 1)
    change[[place(degree, order) for degree in degrees.tolist()]] = kernel / roots[degrees]
    direction = equation.unknown_with(change, np.zeros_like(change))
    q = equation.q_at(point.coupling)
    return [birth_in_group(Departure(equation, b, q, direction / np.linalg.norm(direction), 2))]
