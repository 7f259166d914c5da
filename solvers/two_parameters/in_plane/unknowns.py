"""Bases and unknowns of states in the plane of two parameters from their moments, and back."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from meanfield import InvalidInput, NotResolved
from meanfield.equations import Capability, require
from meanfield.harmonics import largest_degree, packed, zonal_places

from ...bases import EPS, Basis, Floats, FourierBasis, Integers, InvariantBasis, multiples
from ...bases.limits import MAX_HARMONIC_DEGREE, MAX_SPHERICAL_DEGREE, MAX_UNKNOWNS
from ...domains import solvers_of
from ...equations.significant import even_size
from ...equations.sizing import Size, confinement_field
from ...sphere import TRIVIAL, Group, recognised, stabiliser
from .plane import Plane

Pair = tuple[Floats, Floats]
# A basis and the unknown of a state in it.
Symmetric = tuple[Basis, Floats]
# A moment below this is rounding noise of a state that does not have it.
SIGNIFICANT = 1e-8


def significant_degrees(
    plane: Plane, x: float, q: float, admissible: Callable[[int], Integers], symmetry: int = 1, last: int = 0
) -> Integers:
    """Return the significant degrees of some at a point of the plane.

    Where multipliers decay too slowly for all of them, those up to the last one of a state, and the first ones.
    """
    for limit in (32, 64, 128, 256, 512):
        degrees = plane.significant(x, q, admissible(symmetry * limit))
        if plane.ends_by(symmetry * limit, x, q):
            return degrees
    return plane.significant(x, q, admissible(max(32 * symmetry, last)))


def symmetry_of(plane: Plane, cosine: Floats) -> int:
    """Return the symmetry of the densities among which a state is followed: its own and that of the confinement.

    Which is that all over the plane: at the start alone the confinement may have a larger one.
    """
    sizes = np.abs(cosine[1:])
    largest = float(sizes.max(initial=0.0))
    significant = np.flatnonzero(sizes > SIGNIFICANT * (min(1.0, largest) if plane.confined else 1.0)) + 1
    divisor = int(np.gcd.reduce([*significant.tolist(), plane.confining_symmetry]))
    return max(1, solvers_of(plane.problem).geometry.symmetry(divisor))


def basis_of(plane: Plane, cosine: Floats, place: tuple[float, float], axis: float | None = None) -> Basis:
    """Return the basis of a state at a point of the plane, by its moments from an axis, the first by default.

    Raises
    ------
    InvalidInput
        If the potential does not act on densities of its symmetry.
    NotResolved
        If it has too many significant modes.
    """
    problem = plane.problem
    symmetry = symmetry_of(plane, cosine)
    last = int(np.flatnonzero(np.abs(cosine) > EPS).max(initial=0))
    degrees = significant_degrees(plane, *place, partial(multiples, symmetry), symmetry, last)
    if not degrees.size and plane.by_factor:
        # The state is that of the confinement alone, and has a mode that does not act.
        degrees = multiples(symmetry, symmetry)
    if not degrees.size:
        raise InvalidInput(f"no mode of the potential acts on densities of the symmetry {symmetry} of the start")
    geometry = solvers_of(problem).geometry
    cells = degrees // symmetry
    _require_few(cells)
    nodes = even_size(max(2 * int(cells[-1]), geometry.fewest_nodes))
    basis = _basis(plane, Size(cells, nodes, None), symmetry, even=True)
    return basis if basis.cosines is None else basis.cosines.about(plane.axes[0] if axis is None else axis)


def uneven_basis(plane: Plane, lengths: Floats, place: tuple[float, float]) -> FourierBasis:
    """Return the basis of cosines and sines of a state on the circle at a point of the plane, by moduli of moments.

    Raises
    ------
    InvalidInput
        If the law has no Gibbs map, or the potential does not act on densities of its symmetry.
    NotResolved
        If it has too many significant modes.
    """
    if plane.reflects:
        require(plane.problem, Capability.GIBBS_MAP, "curves of states without an axis on the circle")
    even = basis_of(plane, lengths, place, 0.0)
    if not plane.confined:
        # A mode that is strong keeps its phase: axes, if there are any, are where it has crests and troughs.
        cell = int(np.argmax(lengths[even.degrees[even.degrees < lengths.size]]))
        count = int(even.degrees[cell])
        mirrors = tuple((np.pi * np.arange(count) / count).tolist()) if plane.reflects else ()
        held_by = even.cells.size + cell
        return FourierBasis(even.cells, even.nodes, even.symmetry, None, mirrors, 2 * even.symmetry, held_by)
    basis = _basis(plane, Size(even.cells, even.nodes, None), even.symmetry, even=False)
    assert basis.fourier is not None
    return basis.fourier.with_images(plane.axes, max(1, plane.confining_symmetry))


def _basis(plane: Plane, size: Size, symmetry: int, *, even: bool) -> Basis:
    """Return the basis of densities without a confinement, or with the factor of one with a kink."""
    problem = plane.kinked or plane.problem.replace(confinement=None)
    size = size._replace(confinement=confinement_field(problem, symmetry, size.nodes))
    return solvers_of(problem).geometry.basis(problem, symmetry, size, even=even)


def _require_few(cells: Integers) -> None:
    if cells.size > MAX_UNKNOWNS:
        raise NotResolved(f"the start has {cells.size} significant modes, and {MAX_UNKNOWNS} are admitted")


def without_axis(
    plane: Plane, moments: Pair, place: tuple[float, float]
) -> tuple[tuple[float, float], Basis, Floats]:
    """Return a place, and the basis and the unknown of a state on S^2 in the orientation of its group.

    Where the confinement has no axis this is a group of symmetries of the confinement, as that stands.

    Raises
    ------
    NotResolved
        If it has too many significant modes.
    """
    if not plane.zonal:
        return place, *in_group(plane, stabiliser(plane.symmetries, *moments), moments, place)
    even = plane.confining_symmetry % 2 == 0
    group, cosine, sine = recognised(TRIVIAL, *moments, confined=plane.confined, even=even)
    if group is None:
        cosine = cosine[zonal_places(largest_degree(cosine.size))]
        basis = basis_of(plane, cosine, place)
        return place, basis, unknown_of(basis, cosine)
    return place, *in_group(plane, group, (cosine, sine), place)


def moments_from(basis: Basis, b: Floats) -> Pair:
    """Return the moments of a state as far as it is determined by its unknown: cosines and sines from angle 0.

    On S^2 those of a state without an axis are packed.
    """
    if basis.invariants is not None:
        return packed_moments(basis, b)
    if basis.fourier is not None:
        moments = basis.fourier.complex_moments(b * basis.degrees)
    else:
        moments = np.zeros(int(basis.degrees[-1]) + 1, dtype=complex)
        moments[0], moments[basis.degrees] = 1.0, b * basis.degrees * np.exp(-1j * basis.axis * basis.degrees)
    return moments.real, -moments.imag


def packed_moments(basis: Basis, b: Floats) -> Pair:
    """Return the moments of a state on S^2 by degree and order, as far as it is determined by its unknown."""
    moments = b * basis.degrees
    if basis.invariants is not None:
        cosine, sine = basis.invariants.harmonics(moments)
    else:
        zonal = np.zeros(int(basis.degrees[-1]) + 1)
        zonal[basis.degrees] = moments
        cosine = packed(zonal)
        sine = np.zeros_like(cosine)
    cosine[0] = 1.0
    return cosine, sine


def in_group(plane: Plane, group: Group, moments: Pair, place: tuple[float, float]) -> tuple[Basis, Floats]:
    """Return the basis and the unknown of a state on S^2 among the densities invariant under a group.

    Raises
    ------
    NotResolved
        If it has too many significant modes.
    """
    cosine, sine = moments
    degrees = significant_degrees(plane, *place, group.admissible, last=largest_degree(cosine.size))
    degrees = degrees[degrees <= MAX_HARMONIC_DEGREE]
    _require_few(degrees)
    nodes = even_size(max(2 * int(degrees[-1]), solvers_of(plane.problem).geometry.fewest_nodes))
    basis = InvariantBasis(group, degrees, min(nodes, MAX_SPHERICAL_DEGREE), held_by=plane.held_by)
    b = basis.means(basis.moments_from(cosine, sine)) / basis.degrees
    return basis.beside(b), b


def from_axis(plane: Plane, moments: Pair) -> tuple[float, Floats] | None:
    """Return the reflection axis of a state that a plane admits, and its moments from there; None without."""
    if not plane.reflects:
        return None
    for axis in plane.axes if plane.confined else _possible_axes(moments):
        turned = _counted_from(axis, moments)
        if np.abs(turned.imag).max() <= SIGNIFICANT:
            return axis, turned.real
    return None


def _possible_axes(moments: Pair) -> Iterator[float]:
    """Yield the angles at which a state may have an axis: 0, and the crests and troughs of its strongest mode."""
    yield 0.0
    series = _counted_from(0.0, moments)
    degree = 1 + int(np.argmax(np.abs(series[1:])))
    yield from (np.pi * np.arange(degree) - np.angle(series[degree])) / degree


def with_or_without_axis(plane: Plane, moments: Pair, place: tuple[float, float]) -> tuple[Basis, Floats]:
    """Return the basis and the unknown of a state at a point of the plane, about its axis if it has one.

    Raises
    ------
    InvalidInput
        If it has none and the law no Gibbs map, or the potential does not act on densities of its symmetry.
    NotResolved
        If it has too many significant modes.
    """
    about = from_axis(plane, moments)
    if about is not None:
        basis = basis_of(plane, about[1], place, about[0])
        return basis, unknown_of(basis, about[1])
    series = _counted_from(0.0, moments)
    uneven = uneven_basis(plane, np.abs(series), place)
    if uneven.held_by is not None:
        degree = uneven.degrees[uneven.held_by]
        series = _counted_from(-float(np.angle(series[degree])) / degree, moments)
    return uneven, uneven.means_from(series) / uneven.degrees


def _counted_from(axis: float, moments: Pair) -> npt.NDArray[np.complex128]:
    """Return cosine and sine moments as complex ones of angles counted from an axis."""
    cosine, sine = moments
    return np.asarray((cosine - 1j * sine) * np.exp(1j * axis * np.arange(cosine.size)))


def unknown_of(basis: Basis, cosine: Floats) -> Floats:
    """Return the unknown b of a state with the given moments."""
    moments = np.zeros(basis.degrees.size)
    known = basis.degrees < cosine.size
    moments[known] = cosine[basis.degrees[known]]
    return moments / basis.degrees


def unknown_among(basis: Basis, own: Basis, b: Floats) -> Floats:
    """Return the unknown, among densities of less symmetry, of a state with the unknown b in its own basis."""
    if basis.invariants is not None:
        return np.asarray(basis.means(basis.moments_from(*packed_moments(own, b))) / basis.degrees)
    if basis.fourier is not None:
        return basis.fourier.means_from(_counted_from(0.0, moments_from(own, b))) / basis.degrees
    return unknown_of(basis, _counted_from(basis.axis, moments_from(own, b)).real)
