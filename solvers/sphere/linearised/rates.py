"""The slowest decay rate of a zonal state, one small symmetric matrix per azimuthal sector.

Sectors are computed in the order m = 0, 1, 2, ... until all others are known to decay faster, by the bound of
:mod:`.bounds`. Of each only the lowest rate is computed, from the Cholesky factor of H. One below the rounding of
that is taken from its vector: with w the image of a chemical potential under :math:`Q^T Q` it is :math:`w^T C w`,
where neither factor is large and w is small with the rate. One too small for this is taken from :mod:`.spectra`.
Rates where the density is negligible are those of :mod:`.vacuum`.

Along a branch the states are alike, and the matrices of a sector are made for all at once that have the same grid,
on the first numbers of polynomials. A state for which these are not enough, or whose density is negligible
anywhere, is taken alone.
"""

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from meanfield import NotResolved, State

from ...bases import EPS, Floats
from ...bases.limits import MAX_NODES
from ...linear_algebra.accurate import complement
from .bounds import SectorBounds
from .fields import (
    TAIL_TOLERANCE,
    Exponent,
    ZonalField,
    exponent_of,
    fields_of,
    is_uniform,
    starting_grid,
    starting_grids,
)
from .grids import Grid, stepped
from .sectors import SectorMatrices, SectorSource, sector_of
from .spectra import GROWTH, LARGEST_SIZE, LAST_ORDER, MISSED, SAFETY, TOP_SHARE, sector_spectrum
from .uniform import uniform_eigenvalues
from .vacuum import Vacuum

# First number of polynomials: the slowest perturbations need few. For many states at once so many are tried, each
# GROWTH times the one before.
FIRST_SIZE, SIZES = 24, 3
# States whose matrices are made at once, at most, and the last azimuthal order: more are hardly ever needed.
TOGETHER, ORDERS = 64, 8
# Truncation may change a rate by this share.
TRUNCATION_TOLERANCE = 1e-9
# A rate is kept if its rounding error, eps times the largest rate, is below this share of it.
RELATIVE_TOLERANCE = 1e-8


def slowest_rate(state: State) -> float:
    """Return the slowest decay rate of perturbations of a zonal state, rotation excluded.

    Raises
    ------
    NotResolved
        If the state needs more polynomials or nodes than are affordable.
    """
    if is_uniform(state):
        return -float(uniform_eigenvalues(state.problem, 0, 1)[0][0])
    source, bounds, slowest, size = SectorSource(state), None, np.inf, FIRST_SIZE
    for order in range(LAST_ORDER):
        if order and bounds is not None and bounds.above(order, slowest):
            return slowest
        lowest, elsewhere, sector, size = _lowest(source, order, size)
        bounds = SectorBounds(sector.field) if bounds is None else bounds
        bounds.visit(sector, elsewhere)
        slowest = min(slowest, -float(sector_spectrum(state, order).values[0]) if lowest is None else lowest)
    raise NotResolved(
        f"the slowest rate of azimuthal orders up to {LAST_ORDER}, {slowest:.3g}, is not known to be the slowest "
        "of all; leave the rates out (--no-rates, rates=False)"
    )


def rates_together(states: Sequence[State]) -> Floats:
    """Return the slowest rates of zonal states of one equation, nan of those to be computed one by one."""
    rates = np.full(len(states), np.nan)
    exponents = [exponent_of(state) for state in states]
    alone = [is_uniform(state) or Vacuum(each).there for state, each in zip(states, exponents, strict=True)]
    for size in (int(GROWTH**tries * FIRST_SIZE) for tries in range(SIZES)):
        waiting = np.flatnonzero(np.isnan(rates) & ~np.array(alone, dtype=bool)).tolist()
        for grid, some in _grids([exponents[place] for place in waiting], stepped(size + ORDERS)).items():
            places = [waiting[each] for each in some]
            for start in range(0, len(places) if grid.size <= MAX_NODES else 0, TOGETHER):
                part = places[start : start + TOGETHER]
                rates[part] = _together(fields_of([exponents[place] for place in part], grid), size)
    return rates


def _grids(exponents: Sequence[Exponent], polynomial: int) -> dict[Grid, list[int]]:
    """Return the places of exponents by their grids, without those that need harmonics out of range."""
    with contextlib.suppress(NotResolved):
        return starting_grids(exponents, polynomial) if exponents else {}
    grids: dict[Grid, list[int]] = {}
    for place, each in enumerate(exponents):
        with contextlib.suppress(NotResolved):
            grids.setdefault(starting_grid(each, polynomial), []).append(place)
    return grids


def _together(field: ZonalField, size: int) -> Floats:
    """Return the slowest rates of several states by a number of polynomials, nan if these are not enough."""
    places = np.arange(len(field.strengths))
    rates, slowest = np.full(places.size, np.nan), np.full(places.size, np.inf)
    bounds = SectorBounds(field)
    for order in range(ORDERS):
        sector = sector_of(field, order, size)
        if sector.values.shape[-1] < field.grid.size:
            # Some lack nodes that the others have.
            break
        lowest, known = _lowest_together(sector, slowest)
        known &= (sector.tail <= TAIL_TOLERANCE) & (sector.missed <= MISSED) & ~sector.empty.any(axis=-1)
        bounds.visit(sector, np.inf)
        slowest = np.minimum(slowest, lowest)
        done = known & bounds.above(order + 1, slowest)
        rates[places[done]] = slowest[done]
        left = known & ~done
        if not left.any():
            break
        if not left.all():
            places, slowest, field, bounds = places[left], slowest[left], field.part(left), bounds.part(left)
    return rates


def _lowest(source: SectorSource, order: int, size: int) -> tuple[float | None, float, SectorMatrices, int]:
    """Return the lowest rate of an order, or None if lost in rounding, a bound, its sector and size.

    The bound is one of the rates, in units of D, from below, where the density is negligible. Sizes are tried
    from the one that resolved the sector before.
    """
    while True:
        sector = source.sector(order, size)
        if sector.missed <= MISSED:
            found = _lowest_of(sector)
            if found is None:
                return None, 0.0, sector, FIRST_SIZE
            if found[1] <= TRUNCATION_TOLERANCE * abs(found[0]):
                lowest, elsewhere = _with_vacuum(source, order, found[0], sector.field.noise)
                return lowest, elsewhere, sector, size
        if GROWTH * size > LARGEST_SIZE:
            return None, 0.0, sector, FIRST_SIZE
        size = int(GROWTH * size)


def _with_vacuum(source: SectorSource, order: int, lowest: float, noise: float) -> tuple[float, float]:
    """Return the lowest rate of an order from that in the bulk, and a lower bound in the vacuum in units of D."""
    beside = source.vacuum.rates(order, lowest / noise, 1)
    if not beside.rates.size and beside.complete < lowest / noise:
        beside = source.vacuum.whole(order, 1)
        return noise * float(beside.rates[0]), 0.0
    elsewhere = float(beside.rates.min(initial=beside.complete))
    return min(lowest, noise * elsewhere), elsewhere


def _lowest_of(sector: SectorMatrices) -> tuple[float, float] | None:
    """Return the lowest rate in the bulk and its truncation error, None if it is lost in rounding."""
    noise = sector.field.noise
    try:
        reduced = _reduced(sector)
    except np.linalg.LinAlgError:
        return None
    levels, vectors = np.linalg.eigh(reduced.matrix) if sector.empty.any() else _lowest_pair(reduced.matrix)
    potentials = reduced.potentials(vectors)
    place = int(np.argmin(sector.in_vacuum(potentials)))
    level, potential = levels[place : place + 1], potentials[:, place : place + 1]
    top = np.abs(np.diagonal(reduced.matrix)).max()
    if EPS * top > RELATIVE_TOLERANCE * abs(level[0]):
        refined = None if sector.empty.any() else _by_slopes(reduced.slopes, reduced.inner)
        if refined is None:
            return None
        level[0], potential = refined[0], reduced.turned(refined[1][:, None])
    residual = sector.residuals(potential, level)[0]
    return noise * float(level[0]), noise * float(abs(level[0]) * residual**2 / (TOP_SHARE * top))


def _lowest_together(sector: SectorMatrices, slowest: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the lowest rates in a sector of several states, and which of them are known.

    A rate above the slowest of the sectors before by more than rounding counts as known: it is not the least.
    """
    try:
        reduced = _reduced(sector)
    except np.linalg.LinAlgError:
        nothing = np.full(len(sector.slopes), np.nan)
        return nothing, np.zeros(nothing.size, dtype=bool)
    pairs = [_lowest_pair(matrix) for matrix in reduced.matrix]
    levels = np.array([values for values, _ in pairs])
    potentials = reduced.potentials(np.array([vectors for _, vectors in pairs]))
    tops = np.abs(np.diagonal(reduced.matrix, axis1=-2, axis2=-1)).max(axis=-1)
    faster = sector.field.noise * (levels[:, 0] - SAFETY * EPS * tops) > slowest
    certain = faster | (EPS * tops <= RELATIVE_TOLERANCE * np.abs(levels[:, 0]))
    for place in np.flatnonzero(~certain).tolist():
        refined = _by_slopes(reduced.slopes[place], reduced.inner[place])
        if refined is not None:
            certain[place], levels[place] = True, refined[0]
            potentials[place] = reduced.turned(refined[1][:, None], place)
    residuals = sector.residuals(potentials, levels)[:, 0]
    settled = residuals**2 <= TRUNCATION_TOLERANCE * TOP_SHARE * tops
    return sector.field.noise * levels[:, 0], settled & certain


class Reduced(NamedTuple):
    """The matrix of the rates of a sector on functions that are no rotation, in units of D, of one or more states.

    Attributes
    ----------
    matrix : (..., r, r) float
        The transpose of the factor times C/D times the factor.
    slopes : (..., n, r) float
        Q on these functions.
    inner : (..., r, r) float
        C/D.
    factor : (..., r, r) float
        The lower triangular factor of H.
    basis : (..., s, r) float or None
        These functions on those of the sector, None for all.
    """

    matrix: Floats
    slopes: Floats
    inner: Floats
    factor: Floats
    basis: Floats | None

    def potentials(self, vectors: Floats) -> Floats:
        """Return chemical potentials on the functions of the sector from eigenvectors of the matrix."""
        shape = self.factor.shape[-2:]
        pairs = zip(self.factor.reshape(-1, *shape), vectors.reshape(-1, *vectors.shape[-2:]), strict=True)
        # The transpose of a triangle in C order is one in Fortran order.
        solved = np.array([lapack.dtrtrs(triangle.T, sides)[0] for triangle, sides in pairs])
        return self.turned(solved.reshape(vectors.shape))

    def turned(self, potentials: Floats, place: int | None = None) -> Floats:
        """Return chemical potentials, of all states or one, on the functions of the sector."""
        if self.basis is None:
            return potentials
        return np.asarray((self.basis if place is None else self.basis[place]) @ potentials)


def _reduced(sector: SectorMatrices) -> Reduced:
    """Return the matrix of the rates without rotation.

    Raises
    ------
    LinAlgError
        If H is singular to rounding.
    """
    gram, inner, slopes, basis = sector.gram, sector.inner(), sector.slopes, None
    if sector.rotation is not None:
        basis = complement(sector.rotation)
        gram, inner = (basis.swapaxes(-1, -2) @ matrix @ basis for matrix in (gram, inner))
        slopes = slopes @ basis
    factor = np.asarray(np.linalg.cholesky(gram), dtype=float)
    return Reduced(np.asarray(factor.swapaxes(-1, -2) @ inner @ factor), slopes, inner, factor, basis)


def _by_slopes(slopes: Floats, inner: Floats) -> tuple[float, Floats] | None:
    """Return the lowest level of Q C Q^T from its vector, and the chemical potential, None if not accurate.

    Errors are bounded to first order: of rounding in Q and C, and of the vector by the square of its residual.
    """
    triangle = np.asarray(np.linalg.qr(slopes, mode="r"))
    matrix = triangle @ inner @ triangle.T
    values, vectors, *_, info = lapack.dsyevr(matrix, range="I", il=1, iu=min(2, len(matrix)))
    if info or values.size < 2:
        return None
    vector = vectors[:, 0]
    small = triangle.T @ vector
    pulled = inner @ small
    level = float(small @ pulled)
    residual = float(np.linalg.norm(triangle @ pulled - level * vector))
    largest, size = float(np.linalg.norm(triangle)), float(np.linalg.norm(inner))
    rounding = EPS * (2.0 * largest * np.linalg.norm(pulled) + size * small @ small)
    error = SAFETY * rounding + residual**2 / max(values[1] - level, np.finfo(float).tiny)
    if not error <= RELATIVE_TOLERANCE * abs(level):
        return None
    return level, np.asarray(lapack.dtrtrs(triangle, vector)[0])


def _lowest_pair(matrix: Floats) -> tuple[Floats, Floats]:
    values, vectors, *_, info = lapack.dsyevr(matrix, range="I", il=1, iu=1)
    if info == 0:
        return values[:1], vectors[:, :1]
    values, vectors = np.linalg.eigh(matrix)
    return values[:1], vectors[:, :1]
