r"""Spectrum of the equation linearised at a state on S^2 without an axis, class by class of harmonics.

With W, C and Q of :mod:`.full_matrices` and :math:`W = U\Sigma^2 U^T` the rates of a class are the
eigenvalues of :math:`\Sigma U^T C U \Sigma`, taken from this matrix where they are large and from its inverse where
they are small. Small values :math:`\Sigma^2`, the rates at which clusters exchange mass over gaps in the density,
are lost in the rounding of W and are taken from Q on the grid, whose squares are accurate where they are tiny.

Every eigenvalue carries a bound on its error, the sum of three: rounding and the error of the state, by first order
perturbation, and the harmonics left out.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from meanfield import Spectrum, State

from ...bases import EPS, Floats
from ...linear_algebra.accurate import graded
from .full_fields import full_field, is_uniform, resolving_degree
from .full_matrices import SAFETY, ClassMatrices, Linearisation, Pair, lowest_vectors
from .slow_rates import slopes
from .uniform import uniform_spectrum

# The root of the density has so little left beyond the first degree tried, then so much less each time.
FIRST_SHARE = 1e-7
SHRINKING = 0.1
# Eigenvalues are reported while truncation changes them by less than this share, than rounding does, or than one
# unit of rounding in units of D.
TRUNCATION_TOLERANCE = 1e-9
# About as many of the largest eigenvalues are reported, and the degree grows until as many are known.
LOWEST = 20
FEWEST = 8
# Up to this size all eigenvalues of a class are computed, beyond it the lowest only.
WHOLE = 1000
# Values of W that rounding leaves less accurate than this share are taken from the grid.
REFINEMENT = 1e-13


class ClassValues(NamedTuple):
    """Pairs of a class by ascending rates, and bounds of their errors by rounding and by the error of the state."""

    block: ClassMatrices
    pairs: list[Pair]
    rounding: Floats
    inherited: Floats

    @property
    def levels(self) -> Floats:
        """The rates in units of D, ascending."""
        return np.array([pair.level for pair in self.pairs])


def spectrum(state: State) -> Spectrum:
    """Return the largest eigenvalues of the equation linearised at a state given by degree and order.

    Parameters
    ----------
    state
        A stationary state on S^2; its field is recomputed from its moments.

    Returns
    -------
    Spectrum
        The largest eigenvalues, about twenty, in units of 1/time, with their multiplicities: positive ones grow.
        ``even`` has those of the class of harmonics that contains the state, ``odd`` all others; the classes are
        those of the reflections of coordinates and rotations about the z axis that leave the state invariant. The
        rotations, up to three, are recognised by their overlap with the generators in the inner product in which
        the linearisation is symmetric, and deflated exactly; of their computed eigenvalues the largest in modulus
        is kept, and of their overlaps the smallest.

    Raises
    ------
    NotResolved
        If the state needs more harmonics than are affordable.
    """
    if is_uniform(state):
        return uniform_spectrum(state, LOWEST)
    field = full_field(state)
    share = FIRST_SHARE
    degree = resolving_degree(field, share)
    while True:
        whole = Linearisation(field, degree)
        blocks = [whole.matrices(table) for table in whole.tables]
        shift = _state_error(next(block for block in blocks if block.table.own), state)
        found = [class_values(block, shift) for block in blocks]
        values, errors, own = _merged(found)
        if values.size >= FEWEST:
            break
        share *= SHRINKING
        degree = resolving_degree(field, share, degree + 1)
    rotations = [rotation_of(block) for block in blocks if block.rotations.size]
    return Spectrum(
        state,
        values[own],
        values[~own],
        max((rotation for rotation, _ in rotations), key=abs, default=None),
        min((overlap for _, overlap in rotations), default=None),
        float(errors[np.argmin(np.abs(values))]),
    )


def class_values(block: ClassMatrices, shift: float) -> ClassValues:
    """Return the pairs of a class, all of them or the lowest if there are many.

    Parameters
    ----------
    block
        The class.
    shift
        Error of the field f, hence relative error of the density.
    """
    if block.table.size > WHOLE:
        pairs = block.lowest(LOWEST)
        rounding = np.array([block.rounding(pair) + SAFETY * EPS * block.top for pair in pairs])
    else:
        pairs, rounding = _graded_pairs(block)
    moved = [abs(pair.level) + block.coupled * float(pair.y @ pair.y) for pair in pairs]
    return ClassValues(block, pairs, rounding, SAFETY * shift * np.array(moved))


class _Graded(NamedTuple):
    """Eigenvalues of a class in the basis of the eigenvectors of W off its known kernels.

    Attributes
    ----------
    values : (k,) float
        Minus the rates in units of D, the slowest first.
    turned : (k, k) float
        Their eigenvectors on the basis, as columns.
    errors : (k,) float
        Their errors by the solver.
    vectors : (n, k) float
        The basis on the harmonics.
    sizes : (k,) float
        The roots of the eigenvalues of W.
    small : int
        How many of these are taken from the grid, the first.
    """

    values: Floats
    turned: Floats
    errors: Floats
    vectors: Floats
    sizes: Floats
    small: int


def lowest_level(block: ClassMatrices) -> float:
    """Return the lowest rate of a class in units of D, by all of its eigenvalues."""
    return -float(_graded(block).values[0])


def _graded_pairs(block: ClassMatrices) -> tuple[list[Pair], Floats]:
    """Return all pairs of a class, and first-order bounds of their rounding errors."""
    values, turned, errors, vectors, sizes, small = _graded(block)
    # Of W where it is used, of its factor Q on the grid elsewhere.
    rounding = np.where(np.arange(sizes.size) < small, np.sqrt(block.top) * sizes, block.top)
    squares = sizes[:, None] ** 2
    errors = errors + EPS * (
        np.abs(values) * (rounding @ (turned**2 / squares)) + block.coupled * np.sum(turned**2 * squares, axis=0)
    )
    x, y = (vectors @ scaled for scaled in (turned / sizes[:, None], turned * sizes[:, None]))
    return [Pair(-float(value), x[:, k], y[:, k]) for k, value in enumerate(values)], SAFETY * errors


def _graded(block: ClassMatrices) -> _Graded:
    """Return the eigenvalues of a class."""
    known = np.concatenate([block.mass, block.rotations], axis=1)
    others = np.linalg.qr(known, mode="complete")[0][:, known.shape[1] :]
    squares, vectors = np.linalg.eigh(others.T @ block.witten @ others)
    vectors = others @ vectors
    small = int(np.count_nonzero(squares < EPS / REFINEMENT * block.top))
    vectors[:, :small], sizes = _refined(block, vectors[:, :small])
    sizes = np.append(sizes, np.sqrt(squares[small:]))
    modes = vectors.T @ block.modes
    inner = np.eye(sizes.size) - (modes * block.lambdas) @ modes.T
    return _Graded(*graded(sizes, inner), vectors, sizes, small)


def _refined(block: ClassMatrices, vectors: Floats) -> tuple[Floats, Floats]:
    """Return the singular vectors of Q, on the grid, in the span of some columns, and ascending singular values."""
    if not vectors.size:
        return vectors, np.zeros(0)
    columns = [slopes(block, vector) for vector in vectors.T]
    _, sizes, right = np.linalg.svd(np.linalg.qr(np.stack(columns, axis=1), mode="r"))
    return vectors @ right[::-1].T, sizes[::-1]


def _state_error(block: ClassMatrices, state: State) -> float:
    """Return the error of f behind the residual of a state, by C in the class that contains it."""
    kernel = block.rotations
    modes = block.modes - kernel @ (kernel.T @ block.modes) - block.mass @ (block.mass.T @ block.modes)
    triangle = np.linalg.qr(modes)[1]
    inner = np.eye(len(triangle)) - (triangle * block.lambdas) @ triangle.T
    amplification = 1.0 / max(float(np.abs(np.linalg.eigvalsh(inner)).min(initial=1.0)), EPS)
    residual = max(float(state.residual), EPS)
    strongest = float(np.abs(block.whole.field.interaction.attractions(block.whole.degree)).max())
    return strongest * float(min(residual * amplification, np.sqrt(residual)))


def _merged(found: list[ClassValues]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the eigenvalues known in all classes, largest first, their errors, and which are of the own class."""
    whole = found[0].block.whole
    noise = whole.noise
    levels = np.sort(np.concatenate([np.repeat(each.levels, each.block.table.copies) for each in found]))
    last = min(whole.beyond, float(levels[:LOWEST][-1]), *(float(each.levels[-1]) for each in found))
    rows = []
    for each in found:
        for pair, rounding, inherited in zip(each.pairs, each.rounding, each.inherited, strict=True):
            truncation = each.block.truncation(pair) if pair.level <= last else np.inf
            if truncation > max(TRUNCATION_TOLERANCE * abs(pair.level), rounding, EPS):
                last = min(last, float(np.nextafter(pair.level, -np.inf)))
                break
            row = (-noise * pair.level, noise * (rounding + inherited + truncation), each.block.table.own)
            rows += each.block.table.copies * [row]
    rows = sorted((row for row in rows if row[0] >= -noise * last), reverse=True)
    values, errors, own = np.array(rows, dtype=float).reshape(-1, 3).T
    return values, errors, own > 0.0


def rotation_of(block: ClassMatrices) -> tuple[float, float]:
    """Return the largest of the computed eigenvalues of the rotations in a class, and the smallest overlap.

    In the variable R x of the chemical potential the rotation is :math:`R^{-T} y`. Eigenvectors whose eigenvalues
    agree to rounding are arbitrary in their span, which then takes their place.
    """
    factor, matrix = block.symmetric(block.mass)
    count = block.table.size if block.table.size <= WHOLE else LOWEST
    values, vectors = lowest_vectors(matrix, count)
    solved = scipy.linalg.solve_triangular(factor, block.rotations, trans=1, check_finite=False)
    generators: Floats = np.asarray(solved)
    shares = vectors.T @ np.linalg.qr(generators)[0]
    chosen = np.argsort(np.linalg.norm(shares, axis=1))[-generators.shape[1] :]
    levels = values[chosen]
    alike = (np.abs(values[:, None] - levels) <= SAFETY * EPS * block.top).any(axis=1)
    overlap = float(np.linalg.svd(shares[alike], compute_uv=False)[-1])
    return -block.whole.noise * float(levels[np.argmax(np.abs(levels))]), min(1.0, overlap)
