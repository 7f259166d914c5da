r"""Fields on spheres, and the harmonics of a symmetry on the points of a rule.

A rule has one point for each orbit of the symmetry, and enough of them for products of two of the harmonics.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import eval_legendre

from meanfield import Sphere
from meanfield.harmonics import gauss_rule, packed_size, sum_at, zonal_places

from ..bases import Floats, Integers
from ..bases.actions import turnings
from ..bases.confining import ConfiningField
from ..bases.gegenbauer import polynomial_table
from ..bases.invariant import mode_matrix
from ..bases.legendre import ring_tables
from ..bases.representations import Group
from ..bases.second_moments import orbits
from ..bases.spherical import SphericalTransform
from .tabulated import Functions, Separated, Tabulated

# Densities need so many of the degrees that their curvature asks for.
WIDER = 1.1
# A confinement of at least this size, in units of D, holds what it turns to different places above rounding, by h^3
# times some thousandths; where one hardly does, rounding would make up places.
HOLDING = 1e-2
# Shares of harmonics in products below this are rounding.
NO_PART = 1e-13


class Harmonics(NamedTuple):
    """Some harmonics on the points of a rule.

    Attributes
    ----------
    degrees : (size,) int
        The degree of each.
    squares : (size,) float
        Their uniform mean squares.
    axial : (size,) float
        The coefficient in each of the harmonic of its degree about the z axis.
    functions
        The harmonics as functions.
    log_weights : (points,) float
        Logarithms of the weights of the rule, which has mass one.
    fixed : (points,) float or None
        The field -V/D of the confinement, if there is one.
    turnings : tuple of (size, size) float
        Generators of the rotations that lead from such densities to others of them.
    broken : tuple of (size, size) float
        Those of all rotations that keep the symmetry, if there is a confinement that holds densities in places and
        does not admit them all; else none.
    products : callable
        Functions, the first of them one, then the harmonics, and the coefficients of the products of pairs in them,
        (size * size, count); None if the others are themselves the products.
    """

    degrees: Integers
    squares: Floats
    axial: Floats
    functions: Functions
    log_weights: Floats
    fixed: Floats | None
    turnings: tuple[Floats, ...]
    broken: tuple[Floats, ...]
    products: Callable[[], tuple[Functions, csr_array | None]]


class Field(NamedTuple):
    """The field that acts on a density: interaction and confinement by degree.

    Attributes
    ----------
    strengths : (L + 1,) float
        lambda by degree.
    confinement : (J,) float or None
        The coefficients of -V/D in P_l, from degree 1, if there is a V; where it has no axis their lengths.
    cut : bool
        Whether significant degrees are missing.
    beyond : float
        The sum of the moduli of the strengths of all degrees that are missing.
    placed
        On S^2 the field -V/D by degree and order, if there is a V.
    exponent : float or None
        p of softmax attention, see :mod:`solvers.equations.softmax`; the strengths are those of its linearisation
        at the uniform state.
    """

    strengths: Floats
    confinement: Floats | None
    cut: bool
    beyond: float = 0.0
    placed: ConfiningField | None = None
    exponent: float | None = None

    def is_convex(self, degrees: Integers | None = None) -> bool:
        """Return whether the free energy is strictly convex on densities of some degrees, by default of all.

        The squares of the harmonics of a degree sum up to one, so the second variation is definite at every density
        where the attractive strengths sum up to less than one. Softmax attention has none.
        """
        if self.exponent is not None:
            return False
        strengths = self.strengths if degrees is None else self.strengths[degrees]
        return float(np.maximum(strengths, 0.0).sum()) + self.beyond < 1.0

    @property
    def confining(self) -> int:
        """The last degree of the confinement that is significant."""
        return 0 if self.confinement is None else 1 + int(np.flatnonzero(self.confinement).max(initial=-1))

    @property
    def last(self) -> int:
        """The last degree of interaction and confinement."""
        return max(self.strengths.size - 1, self.confining)

    def lengths(self, invariants: Floats) -> Floats:
        """Return the lengths of moments by degree in invariants of densities, (n, L + 1), zero for degree 0."""
        count = self.strengths.size
        return np.abs(invariants[:, :count]) * (np.arange(count) > 0)

    @property
    def placing(self) -> int:
        """Number of invariants of densities on S^2 that tell where they stand in a confinement."""
        if self.placed is None or not self.holds:
            return 0
        return self.strengths.size if self.placed.zonal else 1

    def placing_of(self, cosine: Floats, sine: Floats) -> Floats:
        """Return these invariants of a density by its packed moments, see :meth:`Sampled.invariants`."""
        assert self.placed is not None
        if self.placed.zonal:
            axial = np.abs(cosine[zonal_places(self.strengths.size - 1)])
            return np.where(self.strengths, axial, 0.0)
        count = min(packed_size(self.confining), cosine.size)
        weights = self.placed.up_to(self.confining)[:, :count]
        return np.array([np.vdot(weights, np.stack([cosine[:count], sine[:count]]))]) / self.confining_size

    @property
    def holds(self) -> bool:
        """Whether a confinement holds densities in places that rounding does not hide."""
        return self.confining_size >= HOLDING

    @property
    def confining_size(self) -> float:
        """The sum of the moduli of the coefficients of the confinement by degree."""
        return 0.0 if self.confinement is None else float(np.abs(self.confinement).sum())

    def reach(self, lengths: Floats, dimension: int, left: float) -> Floats:
        """Return the degrees at which the moments of densities have decayed to a share, by curvatures of fields.

        A harmonic of degree l and unit length has second derivatives of about l (l + d - 2)/(d - 1) at most, and
        exp(-c t^2/2) has moments exp(-l^2/(2 c)).

        Parameters
        ----------
        lengths : (..., L + 1) float
            Those of the moments of the densities by degree.
        """
        degrees = np.arange(self.last + 1)
        sharpness = degrees * (degrees + dimension - 2.0) / (dimension - 1.0)
        curvature = np.abs(self.strengths * lengths) @ sharpness[: self.strengths.size]
        if self.confinement is not None:
            count = self.confining
            curvature = curvature + np.abs(self.confinement[:count]) @ sharpness[1 : count + 1]
        return np.asarray(np.sqrt(-2.0 * np.log(left) * curvature))

    def rings(self, lengths: Floats, dimension: int, left: float) -> Integers:
        """Return the numbers of rings that give the moments of densities up to a share."""
        return np.asarray(self.last + 3 + 0.5 * WIDER * self.reach(lengths, dimension, left), dtype=np.int64)


def about_axis(domain: Sphere, field: Field, degrees: Integers, nodes: int) -> Harmonics:
    """Return P_l of some degrees on a Gauss rule: densities about an axis in any dimension."""
    rule = gauss_rule(domain.dimension, nodes)
    table = polynomial_table(domain.dimension, nodes, max(int(degrees.max()), field.confining), 1)
    squares = np.array([1.0 / domain.multiplicity(degree) for degree in degrees.tolist()])
    values = table[degrees]

    def products() -> tuple[Functions, None]:
        # Points on a line are so few that products are summed over them.
        pairs = (values[:, None] * values).reshape(-1, nodes)
        return Tabulated(np.concatenate([np.ones((1, nodes)), values, pairs])), None

    fixed = None if field.confinement is None else _about_pole(field, table[: field.confining + 1])
    return Harmonics(
        degrees, squares, np.ones(degrees.size), Tabulated(values), rule.log_weights, fixed, (), (), products
    )


def _about_pole(field: Field, polynomials: Floats) -> Floats:
    """Return the field -V/D of a confinement about the pole from the P_l at points, (L + 1, points)."""
    assert field.confinement is not None
    return np.asarray(field.confinement[: field.confining] @ polynomials[1:])


def invariant(group: Group, field: Field, degrees: Integers, rings: int) -> Harmonics:
    """Return the harmonics on S^2 that are invariant under a group, on one point of each orbit of a grid."""
    # Products have degrees up to twice as large, and are taken on the same points.
    rings = max(rings, field.confining + 1, 2 * int(degrees.max()) + 1)
    if group.elements[:, 2, 2].min() < 0.0:
        # Of a ring at the equator the exchange of the poles leaves a half, and no grid on which functions separate.
        rings += rings % 2
    cosines, azimuths, weights, functions = _on_points(group, degrees, rings)
    fixed: Floats | None = None
    if field.placed is not None and field.placed.zonal:
        fixed = _about_pole(field, np.array([eval_legendre(k, cosines) for k in range(field.confining + 1)]))
    elif field.placed is not None:
        sines = np.sqrt(1.0 - cosines**2)
        points = np.stack([sines * np.cos(azimuths), sines * np.sin(azimuths), cosines], axis=1)
        fixed = sum_at(field.placed.up_to(field.confining), points)
    axes = None if field.placed is None else field.placed.axes
    admitted, free = (tuple(each.toarray() for each in turnings(group, degrees, some)) for some in (axes, None))
    of_each = np.repeat(degrees, [group.dimension(degree) for degree in degrees.tolist()])

    def products() -> tuple[Functions, csr_array]:
        # A product of two harmonics has degrees up to twice theirs, and the symmetry of both.
        needed, couplings = _couplings(group, tuple(degrees.tolist()))
        return _on_points(group, _with_one(group, degrees), rings).functions.some(needed), couplings

    return Harmonics(
        of_each,
        np.asarray(1.0 / (2.0 * of_each + 1.0), dtype=float),
        np.concatenate([group.harmonics(degree)[:, 0] for degree in degrees.tolist()]),
        functions,
        np.log(weights),
        fixed,
        admitted,
        free if field.holds and len(free) > len(admitted) else (),
        products,
    )


class _Points(NamedTuple):
    """One point of each orbit of a grid: cos theta, phi, weights of mass one, and invariant harmonics."""

    cosines: Floats
    azimuths: Floats
    weights: Floats
    functions: Functions


def _on_points(group: Group, degrees: Integers, rings: int) -> _Points:
    """Return the points of a grid and the invariant harmonics of some degrees there."""
    return _tabulated(group, tuple(degrees.tolist()), rings)


@functools.lru_cache(maxsize=128)
def _tabulated(group: Group, chosen: tuple[int, ...], rings: int) -> _Points:
    degrees = np.array(chosen)
    top = int(degrees.max())
    rings = max(rings, top + 1)
    grid = SphericalTransform(top, rings, 2 * group.turns * -(-rings // group.turns), "numpy", group.turns)
    places, shares = orbits(group, grid)
    ring, meridian = np.divmod(places, grid.azimuths.size)
    some_rings, some_meridians = np.unique(ring), np.unique(meridian)
    modes = mode_matrix(group, degrees, top)
    used = np.unique(modes.indices)
    where, sine = used % packed_size(top), used >= packed_size(top)
    waves, of_wave = np.unique(2 * grid.orders[where] + sine, return_inverse=True)
    around, along = np.empty((waves.size, some_meridians.size)), np.zeros((waves.size, top + 1, some_rings.size))
    orders, of_order = np.unique(waves // 2, return_inverse=True)
    tables = list(ring_tables(top, orders, rings))
    for place, (order, is_sine) in enumerate(zip((waves // 2).tolist(), (waves % 2).tolist(), strict=True)):
        around[place] = (np.sin if is_sine else np.cos)(order * grid.azimuths[some_meridians])
        along[place, order:] = tables[of_order[place]][some_rings].T
    columns = of_wave * (top + 1) + grid.degrees[where]
    spread = csr_array((np.ones(used.size), (np.arange(used.size), columns)), (used.size, waves.size * (top + 1)))
    separated = Separated(around, along, csr_array(modes[:, used] @ spread))
    if places.size < some_rings.size * some_meridians.size:
        # With a ring at the equator, half of which is enough.
        inside = np.searchsorted(some_rings, ring) * some_meridians.size + np.searchsorted(some_meridians, meridian)
        functions: Functions = Tabulated(separated.values()[:, inside])
    else:
        functions = separated if separated.pays else Tabulated(separated.values())
    return _Points(grid.cosines[ring], grid.azimuths[meridian], shares * grid.weights[ring], functions)


def _with_one(group: Group, degrees: Integers) -> Integers:
    """Return the degrees of products of two invariants of some degrees, zero first."""
    return np.append(0, group.admissible(2 * int(degrees.max())))


@functools.lru_cache(maxsize=128)
def _couplings(group: Group, degrees: tuple[int, ...]) -> tuple[Integers, csr_array]:
    """Return the coefficients of products of two invariants of some degrees in those up to twice the largest.

    Returns
    -------
    needed : (count,) int
        Indices of the needed functions: 1, the invariants themselves, others.
    couplings : (size * size, count)
        Coefficients of every product in these.
    """
    wider = _with_one(group, np.array(degrees))
    of_wider = np.repeat(wider, [group.dimension(degree) for degree in wider.tolist()])
    # Exact for products of three of degrees l, l and 2 l.
    _, _, weights, functions = _on_points(group, wider, int(wider.max()) + 1)
    values = functions.values()
    scaled = (2.0 * of_wider + 1.0)[:, None] * values * weights
    own = np.flatnonzero(np.isin(of_wider, degrees))
    inside = values[own]
    written = np.concatenate([scaled @ (inside * row).T for row in inside], axis=1).T
    # Most products of two orders or parities have no part in a third.
    written[np.abs(written) < NO_PART] = 0.0
    others = np.setdiff1d(np.flatnonzero(written.any(axis=0)), np.append(0, own))
    needed = np.concatenate([[0], own, others])
    return needed, csr_array(written[:, needed])
