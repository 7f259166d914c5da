"""The slowest decay rate of a zonal state, one small symmetric matrix per azimuthal sector.

Sectors are searched in the order m = 0, 1, 2, ... until all others are known to decay faster, by the bound of
:mod:`.bounds`. Of each only the lowest rate is computed, from the Cholesky factor of H; one too
small for this is taken from :mod:`.spectra`. Rates where the density is negligible are those of :mod:`.vacuum`.
"""

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from meanfield import NotResolved, State

from ...bases import EPS, Floats
from ...graded import complement
from .bounds import Unseen
from .fields import is_uniform
from .sectors import SectorMatrices, SectorSource
from .spectra import GROWTH, LARGEST_SIZE, LAST_ORDER, MISSED, TOP_SHARE, sector_spectrum
from .uniform import uniform_eigenvalues

# First number of polynomials: the slowest perturbations need few.
FIRST_SIZE = 24
# Truncation may change a rate by this share.
TRUNCATION_TOLERANCE = 1e-9
# A rate is kept if its rounding error, eps times the largest rate, is below this share of it.
RELATIVE_TOLERANCE = 1e-8


def slowest_rate(state: State) -> float:
    """Return the slowest decay rate of perturbations of a zonal state, rotation excluded.

    Parameters
    ----------
    state
        A zonal stationary state.

    Returns
    -------
    float
        In units of 1/time; negative when unstable.

    Raises
    ------
    NotResolved
        If the state needs more polynomials or nodes than are affordable.
    """
    if is_uniform(state):
        return -float(uniform_eigenvalues(state.problem, 0, 1)[0][0])
    source, unseen, slowest, size = SectorSource(state), None, np.inf, FIRST_SIZE
    for order in range(LAST_ORDER):
        if order and unseen is not None and unseen.rate(order) >= slowest:
            return slowest
        lowest, elsewhere, sector, size = _lowest(source, order, size)
        unseen = Unseen(sector.field) if unseen is None else unseen
        unseen.visit(sector, elsewhere)
        slowest = min(slowest, -float(sector_spectrum(state, order).values[0]) if lowest is None else lowest)
    raise NotResolved(
        f"the slowest rate of azimuthal orders up to {LAST_ORDER}, {slowest:.3g}, is not known to be the slowest "
        "of all; leave the rates out (--no-rates, rates=False)"
    )


def _lowest(source: SectorSource, order: int, size: int) -> tuple[float | None, float, SectorMatrices, int]:
    """Return the lowest rate of a sector, None where it is lost in rounding, the sector and its size.

    The second number is a lower bound of the rates, in units of D, where the density is negligible. Sizes are tried
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
    """Return the lowest rate of a sector from that in the bulk, and a lower bound in the vacuum in units of D."""
    beside = source.vacuum.rates(order, lowest / noise, 1)
    if not beside.rates.size and beside.complete < lowest / noise:
        beside = source.vacuum.whole(order, 1)
        return noise * float(beside.rates[0]), 0.0
    elsewhere = float(beside.rates.min(initial=beside.complete))
    return min(lowest, noise * elsewhere), elsewhere


def _lowest_of(sector: SectorMatrices) -> tuple[float, float] | None:
    """Return the lowest rate in the bulk and what truncation changes, None where it is lost in rounding."""
    noise, inner = sector.field.noise, sector.inner()
    slopes = sector.slopes
    turned = None if sector.rotation is None else complement(sector.rotation)
    if turned is not None:
        slopes, inner = slopes @ turned, turned.T @ inner @ turned
    try:
        factor = scipy.linalg.cholesky(slopes.T @ slopes, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    matrix = factor @ inner @ factor.T
    levels, vectors = np.linalg.eigh(matrix) if sector.empty.any() else _lowest_pair(matrix)
    potentials = scipy.linalg.solve_triangular(factor, vectors, check_finite=False)
    if turned is not None:
        potentials = turned @ potentials
    place = int(np.argmin(sector.in_vacuum(potentials)))
    level, potential = float(levels[place]), potentials[:, place : place + 1]
    top = float(np.abs(matrix.diagonal()).max())
    if EPS * top > RELATIVE_TOLERANCE * abs(level):
        return None
    residual = sector.residuals(potential, np.array([level]))[0]
    return noise * level, noise * abs(level) * residual**2 / (TOP_SHARE * top)


def _lowest_pair(matrix: Floats) -> tuple[Floats, Floats]:
    values, vectors, *_, info = lapack.dsyevr(matrix, range="I", il=1, iu=1)
    if info == 0:
        return values[:1], vectors[:, :1]
    return np.linalg.eigh(matrix)
