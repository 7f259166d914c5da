r"""Spectrum of the equation linearised at a stationary state, accurate also where it is tiny.

With Q, C and S of :mod:`solvers.circle.linearisation`, the spectrum of the linearisation L is minus that of
:math:`S = Q C Q^*`; rotation is its zero mode :math:`z = \sqrt\rho`.

Nothing in Q and C grows where the density nearly vanishes. Clusters that exchange mass over a gap of density
:math:`\epsilon` have an eigenvalue :math:`\mu \sim \epsilon`, far below the rounding error
:math:`\mathrm{eps}\,\|S\|` of an eigenvalue solver. It is the square of a singular value of Q, and those
have the error :math:`\mathrm{eps}\,\|Q\|` only: with :math:`Q = U \Sigma V^*` and :math:`M = V^* C V` the
eigenvalues of :math:`\Sigma M \Sigma` are taken from this matrix where they are large and from its inverse
:math:`\Sigma^{-1} M^{-1} \Sigma^{-1}` where they are small, see :mod:`solvers.linear_algebra.accurate`.

Clusters that attract each other over a distance have a tiny eigenvalue too, by cancellation in C. There a
Rayleigh-Ritz step with :mod:`solvers.circle.quadratic_form` is made on the doubtful eigenvectors.

Of large blocks only the largest eigenvalues are computed, from S itself, see :mod:`solvers.linear_algebra.lanczos`,
and refined in the same way.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import scipy.linalg

from meanfield import Equation, NotResolved, Spectrum, State, growth_rates

from ..bases import EPS, Floats
from ..equations.significant import confining_degree
from ..linear_algebra.accurate import Eigenvalues, complement, graded, recognised
from ..linear_algebra.lanczos import check_size, deflated, lowest_pairs
from .linearisation import (
    UNIFORM,
    Block,
    Factors,
    Field,
    Matrix,
    align,
    complex_moments,
    cosine_vector,
    even_block,
    even_factors,
    field_of,
    last_degree,
    mixed_block,
    mixed_factors,
    odd_block,
    odd_factors,
    of_class,
    root_cosines,
    significant,
)
from .quadratic_form import SAFETY, quadratic_form

# The last degree that matters has a moment above this.
RESOLVED = 1e-13
# Up to this size all eigenvalues of a block are computed, beyond it the largest only, so many.
WHOLE = 600
LOWEST = 20
# Eigenvalues are reported while truncation changes them by less than this share.
TRUNCATION_TOLERANCE = 1e-10
# Eigenvalues known less accurately than this share are refined, at most so many.
REFINEMENT = 1e-10
MAX_REFINED = 8

# Parity and class of degrees.
SymmetryClass = tuple[str, int]


def spectrum(state: State) -> Spectrum:
    r"""Return the eigenvalues of the equation linearised at a state of the circle, as :func:`solvers.spectrum`.

    These are all that the resolution of the state determines to about 1e-10 of their size, of blocks of more than
    600 degrees the 20 largest. Rotation is recognised by its overlap with the generator :math:`\rho'` and deflated
    exactly, so it does not disturb small eigenvalues beside it. The field is symmetrised about the reflection axis
    of the state where it has one.

    Raises
    ------
    NotResolved
        If the state needs more degrees than a dense matrix affords; the message names the number.
    """
    moments = complex_moments(state)
    if np.abs(moments[1:]).max(initial=0.0) <= UNIFORM and state.problem.confinement is None:
        return _uniform_spectrum(state)
    field, even, solve = _prepared(state, moments)
    if not even:
        mixed = _known(solve("mixed", 0))
        return _assemble(state, mixed, Eigenvalues(np.zeros(0), np.zeros(0), mixed.rotation, mixed.overlap))
    cosines, sines = [], []
    for residue in range(field.symmetry // 2 + 1):
        cosines.append(solve("even", residue))
        # Turning by the symmetry angle mixes the two copies of a class strictly between: they are equal.
        twofold = 0 < 2 * residue < field.symmetry
        sines.append(cosines[-1] if twofold else solve("odd", residue))
    return _assemble(state, _known(_merged(cosines)), _known(_merged(sines)))


def largest_eigenvalue(state: State, classes: Sequence[SymmetryClass]) -> float:
    """Return the largest eigenvalue of some symmetry classes of an even state, rotation excluded."""
    _, _, solve = _prepared(state, complex_moments(state))
    found = [_known(solve(kind, residue)).values for kind, residue in classes]
    return max(float(values[0]) for values in found)


def _prepared(state: State, moments: Matrix) -> tuple[Field, bool, Callable[[str, int], Eigenvalues]]:
    """Return the field of a state, whether it is even, and the function that solves a block."""
    require_smooth(state.problem)
    rotates = state.problem.confinement is None
    aligned, even = align(moments, rotates)
    field = field_of(state.problem, aligned, working_degree(aligned))
    whole = _largest_block(field, even) <= WHOLE
    if not whole:
        # The lowest eigenfunctions are smoother than those of the last degrees.
        field = field_of(state.problem, aligned, last_degree(aligned, RESOLVED))
        check_size(_largest_block(field, even))
    method = _whole_block if whole else _lowest_of_block
    return field, even, partial(method, field=field, uncertainty=_uncertainty(state, field), rotates=rotates)


def _largest_block(field: Field, even: bool) -> int:
    """Return the size of the largest block of the linearisation."""
    degree = _degree(field)
    if not even:
        return 2 * degree
    return max(of_class(1, degree, field.symmetry, residue).size for residue in range(field.symmetry // 2 + 1))


def _merged(classes: list[Eigenvalues]) -> Eigenvalues:
    """Return the merged eigenvalues of all classes, down to the first that some class does not determine."""
    values = np.concatenate([block.values for block in classes])
    errors = np.concatenate([block.errors for block in classes])
    lowest = max(block.values.min(initial=np.inf) for block in classes)
    order = np.argsort(values)[::-1]
    order = order[values[order] >= lowest]
    return Eigenvalues(values[order], errors[order], classes[0].rotation, classes[0].overlap)


def _assemble(state: State, even: Eigenvalues, odd: Eigenvalues) -> Spectrum:
    values = np.concatenate([even.values, odd.values])
    errors = np.concatenate([even.errors, odd.errors])
    error = float(errors[np.argmin(np.abs(values))])
    return Spectrum(state, even.values, odd.values, odd.rotation, odd.overlap, error)


def _known(block: Eigenvalues) -> Eigenvalues:
    """Return the eigenvalues of a block, refusing a block of which none is known, which may have the slowest."""
    if not block.values.size:
        raise NotResolved(
            "the largest eigenvalue of a symmetry class changes by more than a share of 1e-10 with the degree of "
            "truncation, so that the slowest rate is not known; the state is too concentrated"
        )
    return block


def require_smooth(problem: Equation) -> None:
    """Refuse a confinement whose multipliers decay too slowly for the operator, which has its second derivative.

    Raises
    ------
    NotResolved
        If it has a kink or a singularity.
    """
    if problem.confinement is not None and confining_degree(problem) is None:
        raise NotResolved(
            f"rates in a confinement with a kink, also in its derivatives, or a singularity, as "
            f"{problem.confinement.name!r} has, are not computed: its multipliers decay too slowly"
        )


def _uniform_spectrum(state: State) -> Spectrum:
    values = uniform_eigenvalues(state.problem, max(64, state.modes))
    scale = float(np.abs(values).min())
    error = 4.0 * EPS * max(scale, state.problem.noise)
    return Spectrum(state, values, values.copy(), None, None, error)


def uniform_eigenvalues(problem: Equation, degree: int) -> Floats:
    """Return -D k^2 (1 - lambda_k), k = 1..degree, at the uniform state, largest first."""
    return np.sort(growth_rates(problem, degree)[1:])[::-1]


def working_degree(moments: Matrix) -> int:
    """Return the degree of truncation for moments: eigenfunctions need little more than the density itself."""
    last = last_degree(moments, RESOLVED)
    return last + max(24, last // 3)


def _uncertainty(state: State, field: Field) -> float:
    residual = max(float(state.residual), EPS)
    return float(min(residual * amplification(field, state.symmetry), np.sqrt(residual)))


def amplification(field: Field, symmetry: int) -> float:
    """Return the factor from residual to error of the state, by C within the symmetry of the state."""
    degrees = np.arange(0, field.root.size // 4 + 1, max(symmetry, 1))
    modes = significant(field, degrees[1:])
    vectors = root_cosines(field, degrees, modes)
    kernel = cosine_vector(field.root.real, degrees)
    kernel /= np.linalg.norm(kernel)
    triangle = np.linalg.qr(vectors - np.multiply.outer(kernel, kernel @ vectors))[1]
    inner = np.eye(triangle.shape[0]) - 2.0 * (triangle * field.strengths[modes]) @ triangle.T
    smallest = float(np.abs(np.linalg.eigvalsh(inner)).min(initial=1.0))
    # At a fold or branch point that is known exactly the matrix is singular.
    return 1.0 / max(smallest, np.finfo(float).tiny)


def _whole_block(kind: str, residue: int, field: Field, uncertainty: float, rotates: bool) -> Eigenvalues:
    makers: dict[str, Callable[[Field, int, int], Factors]]
    makers = {"even": even_factors, "odd": odd_factors, "mixed": mixed_factors}
    return eigenvalues(makers[kind](field, _degree(field), residue), field, uncertainty, rotates)


def _lowest_of_block(kind: str, residue: int, field: Field, uncertainty: float, rotates: bool) -> Eigenvalues:
    makers: dict[str, Callable[[Field, int, int], Block]]
    makers = {"even": even_block, "odd": odd_block, "mixed": mixed_block}
    return lowest_eigenvalues(makers[kind](field, _degree(field), residue), field, uncertainty, rotates)


def _degree(field: Field) -> int:
    """Return the degree of truncation of a field; fields are kept to twice that."""
    return (field.coefficients.size - 1) // 2


def lowest_eigenvalues(block: Block, field: Field, uncertainty: float, rotates: bool) -> Eigenvalues:
    """Return the converged ones among the largest eigenvalues of a block, rotation deflated."""
    matrix, known = block.inside, []
    rotation, overlap = None, None
    if block.spurious is not None:
        known.append(block.spurious)
        matrix = deflated(block.inside, known)
    if rotates and block.rotation is not None:
        generator = block.rotation
        if block.spurious is not None:
            spurious = block.spurious / np.linalg.norm(block.spurious)
            generator = generator - spurious * (spurious.conj() @ generator)
        generator = generator / np.linalg.norm(generator)
        levels, vectors = lowest_pairs(matrix, LOWEST)
        overlaps = np.abs(generator.conj() @ vectors)
        nearest = int(np.argmax(overlaps))
        rotation, overlap = -float(levels[nearest]), min(1.0, float(np.linalg.norm(overlaps)))
        matrix = deflated(block.inside, [*known, generator])
    levels, vectors = lowest_pairs(matrix, LOWEST)
    values, errors = -levels, _first_order(levels, block, uncertainty, field)
    if field.problem.confinement is None:
        _refine(values, errors, block.synthesis.T @ vectors, field)
    leak = np.linalg.norm(block.outside @ vectors, axis=0)
    return _converged(values, errors, leak, field, rotation, overlap)


def _first_order(levels: Floats, block: Block, uncertainty: float, field: Field) -> Floats:
    """Return first-order bounds on the errors from rounding in S and from the state's own error.

    With mu an eigenvalue of S/D and c = sum 2 |lambda_k| k^2, the eigenvector has |Q^* z|^2 <= |mu| + c.
    """
    degrees = np.arange(field.strengths.size)
    shift = uncertainty * float(np.abs(field.strengths).max())
    lengths = np.sqrt(np.abs(levels) / field.noise + 2.0 * np.abs(field.strengths) @ degrees**2.0)
    inner = 1.0 + 2.0 * float(np.abs(field.strengths).sum())
    state = shift * field.noise * (8.0 * inner * lengths + lengths**2)
    size = float(np.abs(block.inside.diagonal()).max())
    return np.asarray(SAFETY * (EPS * size + state), dtype=float)


def eigenvalues(factors: Factors, field: Field, uncertainty: float, rotates: bool) -> Eigenvalues:
    """Return the converged eigenvalues of a block, rotation deflated."""
    left, sizes, right = _singular(factors)
    inner = _inner(factors, right, field.noise)
    rotation, overlap, start = None, None, np.eye(sizes.size)
    if rotates and factors.rotation is not None:
        generator = left.conj().T @ (factors.rotation / np.linalg.norm(factors.rotation))
        generator /= np.linalg.norm(generator)
        rotation, overlap = recognised(sizes, inner, generator, SAFETY * EPS)
        turned, sizes, start = _deflated(sizes, generator)
        inner = start.conj().T @ inner @ start
        left = left @ turned
    values, vectors, solver = graded(sizes, inner)
    errors = SAFETY * solver + _rounding(sizes, inner, vectors, uncertainty, field)
    if field.problem.confinement is None:
        _refine(values, errors, factors.synthesis.T @ (left @ vectors), field)
    leak = np.linalg.norm(factors.outside @ (left @ vectors), axis=0)
    return _converged(values, errors, leak, field, rotation, overlap)


def _singular(factors: Factors) -> tuple[Matrix, Floats, Matrix]:
    """Return the singular value decomposition of Q on the complement of its kernel."""
    first_order, off_kernel = factors.first_order, None
    if factors.kernel is not None:
        off_kernel = complement(factors.kernel)
        first_order = first_order @ off_kernel
    left, sizes, right = np.linalg.svd(first_order, full_matrices=False)
    columns = right.conj().T
    return left, sizes, columns if off_kernel is None else off_kernel @ columns


def _inner(factors: Factors, right: Matrix, noise: float) -> Matrix:
    modes = right.conj().T @ factors.modes
    matrix = np.eye(right.shape[1]) - (modes * factors.strengths) @ modes.conj().T
    return np.asarray(0.5 * noise * (matrix + matrix.conj().T))


def _deflated(sizes: Floats, generator: Matrix) -> tuple[Matrix, Floats, Matrix]:
    """Return Z U', Sigma', V' of Sigma Z = V' Sigma' U'^*, Z the complement of the generator of rotations."""
    off_generator = complement(generator)
    outer, smaller, inner = np.linalg.svd(sizes[:, None] * off_generator, full_matrices=False)
    return off_generator @ inner.conj().T, smaller, outer


def _rounding(
    sizes: Floats,
    inner: Matrix,
    vectors: Matrix,
    uncertainty: float,
    field: Field,
) -> Floats:
    """Return first-order bounds on the errors from rounding in Q and C and from the state's own error."""
    scaled = sizes[:, None] * vectors
    pulled = np.linalg.norm(inner @ scaled, axis=0)
    lengths = np.linalg.norm(scaled, axis=0)
    shift = uncertainty * float(np.abs(field.strengths).max())
    slope_error = EPS * sizes.max() + shift * 4.0
    inner_error = EPS * np.linalg.norm(inner, 2) + field.noise * shift
    return np.asarray(SAFETY * (2.0 * slope_error * pulled + inner_error * lengths**2), dtype=float)


def _refine(values: Floats, errors: Floats, vectors: Matrix, field: Field) -> None:
    """Replace, in place, doubtful eigenvalues by the Ritz values of the form without cancellation."""
    doubtful = np.flatnonzero(errors > REFINEMENT * np.abs(values))
    doubtful = np.sort(doubtful[np.argsort(np.abs(values[doubtful]))][:MAX_REFINED])
    if not doubtful.size:
        return
    form, mass, rounding = quadratic_form(field, vectors[:, doubtful])
    better = np.flatnonzero(rounding < errors[doubtful])
    if not better.size:
        return
    chosen = np.ix_(better, better)
    values[doubtful[better]] = np.sort(-scipy.linalg.eigvalsh(form[chosen], mass[chosen]))[::-1]
    errors[doubtful[better]] = rounding[better]


def _converged(
    values: Floats,
    errors: Floats,
    leak: Floats,
    field: Field,
    rotation: float | None,
    overlap: float | None,
) -> Eigenvalues:
    """Return the eigenvalues that truncation does not change: by leak^2 over the distance to those beyond."""
    degree = _degree(field)
    distance = np.maximum(field.noise * degree**2 + values, 1e-3 * field.noise * degree**2)
    truncation = leak**2 / distance
    good = truncation <= TRUNCATION_TOLERANCE * np.maximum(np.abs(values), errors / TRUNCATION_TOLERANCE)
    good = np.logical_and.accumulate(good)
    return Eigenvalues(values[good], errors[good] + truncation[good], rotation, overlap)
