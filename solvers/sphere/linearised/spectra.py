r"""Spectrum of the equation linearised at a zonal state of a sphere, sector by sector.

The rates of a sector are the eigenvalues of :math:`H^{1/2} C H^{1/2}`, see :mod:`.sectors`. With
:math:`Q = U \Sigma V^T` they are those of :math:`\Sigma V^T C V \Sigma`, taken from this matrix where they are
large and from its inverse where they are small, so that a rate far below rounding, of clusters that exchange mass
over a gap in the density, keeps its digits. The rotation, known in closed form, is taken out beforehand.

Every eigenvalue carries a bound on its error, the sum of three. Rounding and the error of the state, by first
order perturbation. And the polynomials left out: with r = BAh - mu h the residual of an eigenfunction,
:math:`\langle h, Ah\rangle = 1`, their part is :math:`\mu\, |r|^2 / (D\,\Lambda)`, Lambda the distance to the
rates of the functions left out.
"""

import numpy as np

from meanfield import NotResolved, Spectrum, State

from ...bases import EPS, Floats
from ...linear_algebra.accurate import Eigenvalues, complement, graded, recognised
from .bounds import SectorBounds
from .fields import is_uniform
from .interaction import repetitions
from .sectors import SectorMatrices, SectorSource
from .uniform import uniform_eigenvalues, uniform_spectrum
from .vacuum import Vacuum

# Numbers of polynomials: the first tried, its growth, and the last.
FIRST_SIZE = 48
GROWTH = 1.5
LARGEST_SIZE = 400
# Eigenvalues are reported while truncation changes them by less than this share.
TRUNCATION_TOLERANCE = 1e-10
# The polynomials are enough when the interaction with others is below this share of D and so many eigenvalues are
# known, at the last number one.
MISSED = 0.1
WANTED = 8
# Distance to what is left out, as a share of the largest rate that is not.
TOP_SHARE = 0.1
# Rates where the density is negligible are known to this share.
VACUUM_ERROR = 1e-10
# Factor on first order bounds of rounding errors.
SAFETY = 8.0
# So many of the largest eigenvalues are reported, each once.
LOWEST = 20
# Farthest sector looked at.
LAST_ORDER = 400


def spectrum(state: State) -> Spectrum:
    r"""Return the largest eigenvalues of the equation linearised at a zonal state of a sphere.

    Parameters
    ----------
    state
        A zonal stationary state; its field is recomputed from its moments.

    Returns
    -------
    Spectrum
        All eigenvalues down to about the twentieth, in units of 1/time: positive ones grow. ``sectors[m]`` has
        those of the azimuthal sector m, each once, ``multiplicities[m]`` how often each is repeated; ``even`` is
        sector 0 and ``odd`` the others merged. No sector left out has an eigenvalue above the last reported, by
        the bound of :mod:`.bounds`. The rotation of the axis, in sector 1, is recognised by its
        overlap with the generator in the inner product in which the linearisation is symmetric, and deflated
        exactly, so it does not disturb small eigenvalues beside it.

    Raises
    ------
    NotResolved
        If the state needs more polynomials or nodes than are affordable.

    Notes
    -----
    At the uniform state the eigenvalues are :math:`-l(l+d-2)\,D\,(1-\lambda_l)`, each in the sectors 0 to l.
    """
    if is_uniform(state):
        return uniform_spectrum(state, LOWEST)
    source, blocks, floor = SectorSource(state), [], -np.inf
    shift = _state_error(source.sector(0, FIRST_SIZE), state)
    bounds = None
    for order in range(LAST_ORDER):
        block, elsewhere, sector = _resolved_sector(source, order, shift)
        blocks.append(block)
        bounds = SectorBounds(sector.field) if bounds is None else bounds
        bounds.visit(sector, elsewhere)
        floor = _floor(blocks)
        if order and bounds.above(order + 1, -floor):
            return _assembled(state, blocks, floor)
    raise NotResolved(
        f"the state has perturbations of more than {LAST_ORDER} azimuthal orders among its {LOWEST} slowest; "
        "slowest_rate(state) needs fewer"
    )


def sector_spectrum(state: State, order: int) -> Eigenvalues:
    """Return the largest eigenvalues of one azimuthal sector, each once.

    Parameters
    ----------
    state
        A zonal stationary state.
    order
        m >= 0.

    Returns
    -------
    Eigenvalues
        As many as the polynomials used determine to 1e-10 of their size or to their error bound, at least eight
        unless the density is extreme, largest first, in units of 1/time; the rotation, in sector 1, is set
        apart.

    Raises
    ------
    NotResolved
        If the state needs more polynomials or nodes than are affordable.
    """
    if is_uniform(state):
        values, errors = uniform_eigenvalues(state.problem, order, order + WANTED)
        return Eigenvalues(values, errors)
    source = SectorSource(state)
    shift = _state_error(source.sector(0, FIRST_SIZE), state)
    return _resolved_sector(source, order, shift)[0]


def _floor(blocks: list[Eigenvalues]) -> float:
    """Return the eigenvalue down to which all computed sectors are known, about the twentieth."""
    merged = np.sort(np.concatenate([block.values for block in blocks]))[::-1]
    return float(max(merged[min(LOWEST, merged.size) - 1], *(block.values[-1] for block in blocks), -np.inf))


def _assembled(state: State, blocks: list[Eigenvalues], floor: float) -> Spectrum:
    dimension = state.problem.domain.dimension
    sectors = tuple(block.values[block.values >= floor] for block in blocks)
    errors = np.concatenate([block.errors[block.values >= floor] for block in blocks])
    around = np.sort(np.concatenate([np.zeros(0), *sectors[1:]]))[::-1]
    nearest = int(np.argmin(np.abs(np.concatenate(sectors))))
    return Spectrum(
        state,
        sectors[0],
        around,
        blocks[1].rotation,
        blocks[1].overlap,
        float(errors[nearest]),
        sectors,
        tuple(repetitions(dimension, order) for order in range(len(sectors))),
    )


def _state_error(sector: SectorMatrices, state: State) -> float:
    """Return the error of f behind the residual of a state, by C in sector 0 within the symmetry of the state."""
    inner = sector.inner()
    if state.symmetry == 2:
        inner = inner[1::2, 1::2]
    amplification = 1.0 / float(np.abs(np.linalg.eigvalsh(inner)).min(initial=1.0))
    residual = max(float(state.residual), EPS)
    strongest = float(np.abs(sector.field.strengths).max())
    return strongest * float(min(residual * amplification, np.sqrt(residual)))


def _resolved_sector(source: SectorSource, order: int, shift: float) -> tuple[Eigenvalues, float, SectorMatrices]:
    """Return the eigenvalues of an order on enough polynomials, a bound in the vacuum, and the sector.

    The bound is a lower one of the rates, in units of D, where the density is negligible.
    """
    size = FIRST_SIZE
    while size <= LARGEST_SIZE:
        sector = source.sector(order, size)
        bulk = sector_eigenvalues(sector, shift)
        wanted = WANTED if GROWTH * size <= LARGEST_SIZE else 1
        if sector.missed <= MISSED and bulk.values.size >= wanted:
            return *_with_vacuum(bulk, sector, source.vacuum, shift), sector
        size = int(GROWTH * size)
    raise NotResolved(
        f"the perturbations of azimuthal order {order} need more than {LARGEST_SIZE} polynomials; "
        "leave the rates out (--no-rates, rates=False)"
    )


def _with_vacuum(
    bulk: Eigenvalues, sector: SectorMatrices, vacuum: Vacuum, shift: float
) -> tuple[Eigenvalues, float]:
    """Return the eigenvalues of a sector, in bulk and vacuum, and a lower bound of the rates in the vacuum."""
    noise = sector.field.noise
    beside = vacuum.rates(sector.order, -float(bulk.values[-1]) / noise, LOWEST)
    known = bulk.values >= -noise * beside.complete
    values, errors = bulk.values[known], bulk.errors[known]
    elsewhere = float(beside.rates.min(initial=beside.complete)) if vacuum.there else np.inf
    if not values.size and not beside.rates.size:
        # Functions in the bulk and in the vacuum are not told apart.
        beside, elsewhere = vacuum.whole(sector.order, LOWEST), 0.0
    rates = noise * beside.rates
    errors = np.concatenate([errors, VACUUM_ERROR * np.abs(rates) + shift * np.abs(rates)])
    values = np.concatenate([values, -rates])
    order = np.argsort(-values, kind="stable")
    return Eigenvalues(values[order], errors[order], bulk.rotation, bulk.overlap), elsewhere


def sector_eigenvalues(sector: SectorMatrices, shift: float) -> Eigenvalues:
    """Return the eigenvalues of a sector that its polynomials determine in the bulk, rotation deflated.

    Parameters
    ----------
    sector
        The sector.
    shift
        Error of the field f, hence relative error of the density.
    """
    noise, inner = sector.field.noise, sector.inner()
    turned = np.eye(len(inner))
    rotation, overlap = None, None
    if sector.rotation is not None:
        rotation, overlap = _rotation(sector, inner)
        turned = complement(sector.rotation)
    triangle = np.linalg.qr(sector.slopes @ turned, mode="r")
    _, sizes, right = np.linalg.svd(triangle)
    right = right @ turned.T
    reduced = noise * (right @ inner @ right.T)
    values, vectors, solver = graded(sizes, 0.5 * (reduced + reduced.T))
    potentials = right.T @ _amplitudes(sector, sizes, right, vectors)
    errors = SAFETY * (solver + _first_order(sector, reduced, sizes, vectors, shift))
    errors += _unaligned(sector, inner, potentials)
    top = TOP_SHARE * sizes[0] ** 2
    distance = np.maximum(top + values / noise, 1e-3 * top)
    truncation = np.abs(values) * sector.residuals(potentials, -values / noise) ** 2 / distance
    # Residuals are not known better than this.
    noisy = (
        SAFETY
        * EPS
        * float(np.linalg.norm(sector.images(np.eye(len(turned)))))
        * np.linalg.norm(potentials, axis=0)
    )
    allowed = np.maximum(TRUNCATION_TOLERANCE, noisy**2 / distance) * np.abs(values)
    bulk = ~sector.in_vacuum(potentials)
    good = bulk & np.logical_and.accumulate((truncation <= np.maximum(allowed, errors)) | ~bulk)
    return Eigenvalues(values[good], errors[good] + truncation[good], rotation, overlap)


def _amplitudes(sector: SectorMatrices, sizes: Floats, right: Floats, vectors: Floats) -> Floats:
    """Return eigenvectors, in columns, by components on the right singular functions of Q.

    A function of the vacuum whose slope is lost in rounding has no share in those of the bulk, beyond the
    root of its mass: division by that slope would give rounding.
    """
    lost = (sizes <= SAFETY * EPS * sizes[0]) & sector.in_vacuum(right.T)
    others = np.square(vectors[lost]).sum(axis=0) <= 0.5
    return np.asarray(np.where(lost[:, None] & others, 0.0, vectors) / sizes[:, None])


def _rotation(sector: SectorMatrices, inner: Floats) -> tuple[float, float]:
    """Return the computed eigenvalue of the rotation and its overlap with the generator.

    In the variable :math:`H^{-1/2} A^{-1} u` of a perturbation u the rotation is :math:`H^{-1/2} g`.
    """
    _, sizes, right = np.linalg.svd(np.linalg.qr(sector.slopes, mode="r"))
    generator = (right @ sector.rotation) / sizes
    generator /= np.linalg.norm(generator)
    matrix = sector.field.noise * (right @ inner @ right.T)
    return recognised(sizes, matrix, generator, SAFETY * EPS)


def _first_order(sector: SectorMatrices, inner: Floats, sizes: Floats, vectors: Floats, shift: float) -> Floats:
    """Return first-order bounds of the errors from rounding in Q and C and from that of the state.

    The error of the state multiplies the density by a factor close to one, so that of H is relative.
    """
    noise = sector.field.noise
    scaled = sizes[:, None] * vectors
    pulled = np.linalg.norm(inner @ scaled, axis=0)
    squares = np.sum(scaled**2, axis=0)
    levels = np.abs(np.sum(scaled * (inner @ scaled), axis=0))
    coupled = noise * (1.0 + float(np.abs(sector.strengths) @ sector.shares))
    return np.asarray(2.0 * EPS * sizes[0] * pulled + shift * levels + (EPS + shift) * coupled * squares)


def _unaligned(sector: SectorMatrices, inner: Floats, potentials: Floats) -> Floats:
    """Return the change of the eigenvalues by deflating a rotation that C does not map to zero exactly."""
    if sector.rotation is None:
        return np.zeros(potentials.shape[1])
    image = sector.field.noise * (inner @ sector.rotation)
    pulled = sector.slopes.T @ (sector.slopes @ potentials)
    along = np.abs(sector.rotation @ pulled)
    return np.asarray(along * (2.0 * np.abs(image @ pulled) + abs(float(image @ sector.rotation)) * along))
