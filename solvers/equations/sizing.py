"""The stationary equation of a problem on densities of a symmetry: its size, basis and Gibbs map."""

import functools
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from meanfield import Equation
from meanfield.equations import Capability, Interaction

from ..bases import Basis, Integers, multiples
from ..bases.confining import CommonField, ConfiningField
from ..bases.limits import MAX_SPHERICAL_DEGREE
from .current import FEWEST, MOST, CurrentEquation
from .equation import SLOW, StationaryEquation
from .geometry import Geometry
from .rotating import RotatingEquation, rotates_freely
from .significant import (
    SignificantDegrees,
    confining_degree,
    confining_error,
    even_size,
    starting_degrees,
)
from .softmax import SoftmaxEquation
from .velocity import VelocityEquation


class Size(NamedTuple):
    """The cells of an equation, the degrees over the symmetry, its nodes, and -V/D on the cells from 1."""

    cells: Integers
    nodes: int
    confinement: Any


def stationary_equation(
    geometry: Geometry,
    problem: Equation,
    symmetry: int = 1,
    sign: int = 1,
    *,
    even: bool = True,
    axis: float = 0.0,
    modes: int = 0,
    unknowns: int = 0,
    negligible: bool = False,
    flux: bool = False,
) -> StationaryEquation | None:
    """Return the equation on densities of a symmetry, sized by the decay of potential and confinement.

    Parameters
    ----------
    geometry
        That of the domain.
    symmetry
        Invariance under rotation by 2 pi/symmetry; on spheres 2 for densities even about the equator.
    sign
        Sign of the couplings.
    even
        Whether the densities are even about an axis; on spheres all of them are symmetric about one.
    axis
        On the circle the angle of a reflection axis of the confinement about which they are even.
    modes
        Smallest number of moments to resolve; the basis grows from there as the state requires.
    unknowns
        Smallest last cell to include, for potentials whose multipliers decay slowly.
    negligible
        Whether to return an equation, with one mode that does not act, where the potential does not act in the
        symmetry: its state is that of the confinement alone.
    flux
        Whether to return that of densities with a flux for laws without a Gibbs map, which is slow to search.

    Returns
    -------
    StationaryEquation or None
        None if the potential does not act on densities of this symmetry, unless ``negligible``, and for densities
        that need not be even of laws without a Gibbs map or a lag, unless ``flux`` and a confinement holds them:
        others may rotate. Those with a lag do. With ``flux`` also where they would need more nodes than MOST.
    """
    rotating, current = rotates_freely(problem), geometry.carries_current(problem)
    if not (even or rotating) and problem.lacks(Capability.GIBBS_MAP):
        if problem.confinement is None or not flux:
            return None
        current = True
    significant = starting_degrees(problem, partial(multiples, symmetry), symmetry, unknowns)
    if negligible and not significant.degrees.size:
        significant = SignificantDegrees(multiples(symmetry, symmetry), True, symmetry)
    if not significant.degrees.size:
        return None
    cells, confining = significant.degrees // symmetry, confining_degree(problem)
    most = max(int(cells.max()), modes // symmetry, (SLOW if confining is None else confining) // symmetry)
    nodes = even_size(max(2 * most, FEWEST if rotating or current else geometry.fewest_nodes))
    if flux and current and nodes > MOST:
        return None
    size = Size(cells, nodes, confinement_field(problem, symmetry, nodes))
    basis = geometry.basis(problem, symmetry, size, even=even and not rotating)
    if axis and basis.cosines is not None:
        basis = basis.cosines.about(axis)
    truncation = 0.0 if geometry.takes_kinks else confining_error(problem, SLOW)
    return equation_in(problem, basis, sign, geometry, significant, truncation)


def equation_among(
    equation: StationaryEquation,
    symmetry: int,
    *,
    even: bool = True,
    axis: float | None = None,
    finer: int = 1,
    flux: bool = False,
) -> StationaryEquation | None:
    """Return the equation on densities of another symmetry that resolves at least as much; None if none acts.

    Parameters
    ----------
    equation
        The equation on densities of one symmetry.
    symmetry, even
        Those of the densities.
    axis
        Angle of their reflection axis; by default that of the basis.
    finer
        Factor of the number of moments to resolve.
    flux
        Whether densities that need not be even may have a flux, see :func:`stationary_equation`.
    """
    basis = equation.basis
    found = stationary_equation(
        equation.geometry,
        equation.problem,
        symmetry,
        equation.sign,
        even=even,
        axis=basis.axis if axis is None else axis,
        modes=finer * basis.symmetry * basis.nodes // 2,
        unknowns=int(basis.degrees.max()) // symmetry,
        negligible=equation.ends is not None,
        flux=flux,
    )
    return equation.lifted(found)


def in_confinement(problem: Equation, basis: Basis, geometry: Geometry) -> Basis:
    """Return the basis of the same densities in the confinement of a problem, free to rotate where it has none.

    A basis that has the factor of a confinement is returned as it is.
    """
    if basis.invariants is not None and (problem.confinement is not None or basis.invariants.held_by is not None):
        return basis.invariants.standing_in(confining_field(problem))
    if problem.confinement is None or basis.kinked is not None:
        return basis
    size = Size(basis.cells, basis.nodes, confinement_field(problem, basis.symmetry, basis.nodes))
    found = geometry.basis(problem, basis.symmetry, size, even=basis.fourier is None)
    return found if found.cosines is None else found.cosines.about(basis.axis)


def equation_in(
    problem: Equation,
    basis: Basis,
    sign: int,
    geometry: Geometry,
    significant: SignificantDegrees | None = None,
    truncation: float = 0.0,
) -> StationaryEquation:
    """Return the stationary equation of a problem in a basis; arguments are those of the classes.

    The Gibbs density is exponential in the drive for the gradient law, and a power of it for softmax attention;
    laws without a Gibbs map have the equation of densities about an axis or, where there is none, of those with a
    current.
    """
    kind: type[StationaryEquation] = StationaryEquation
    uneven = basis.fourier is not None and problem.confinement is not None
    if rotates_freely(problem):
        kind = RotatingEquation
    elif uneven and problem.lacks(Capability.GIBBS_MAP):
        kind = CurrentEquation
    elif problem.lacks(Capability.GIBBS_MAP):
        kind = VelocityEquation
    elif problem.lacks(Capability.GRADIENT):
        kind = SoftmaxEquation
    return kind(problem, basis, sign, geometry, significant, truncation)


def confining_field(problem: Equation) -> ConfiningField | None:
    """Return the field -V/D of the confinement on the ordinary sphere by degree and order, or None without one."""
    return None if problem.confinement is None else _confining_field(problem.at(coupling=None))


@functools.lru_cache(maxsize=16)
def _confining_field(problem: Equation) -> ConfiningField:
    known = None if problem.zonal else confining_degree(problem)
    degree = MAX_SPHERICAL_DEGREE if known is None else min(known, MAX_SPHERICAL_DEGREE)
    return ConfiningField(Interaction(problem).harmonic_forces(degree), problem.zonal)


def common_field(problems: Sequence[Equation]) -> ConfiningField:
    """Return a field that has those symmetries which the confinements of all of some problems have."""
    known: list[ConfiningField] = []
    for problem in problems:
        field = confining_field(problem)
        if field is not None and field.lengths.any() and not any(map(field.is_multiple, known)):
            known.append(field)
    return known[0] if len(known) == 1 else CommonField(known)


def confinement_field(problem: Equation, symmetry: int, cells: int) -> Any:
    """Return the coefficients of -V/D on the cells 1, 2, ..., or None if there is no confinement of one angle.

    Those of cosines or, unless V is even, complex numbers f - i g with those g of the sines.
    """
    if problem.confinement is None or not problem.zonal:
        return None
    degree = symmetry * cells
    return Interaction(problem).phased_forces(degree)[symmetry::symmetry]
