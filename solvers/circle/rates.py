r"""Slowest decay rates at many states, one small symmetric matrix per class of degrees.

At a state of symmetry n the operator S of :mod:`solvers.circle.spectra` couples the degree k to those with
:math:`\pm k` of the same class modulo n only. All classes are searched, since the slowest perturbation need
not share the symmetry. Strictly between 0 and n/2 the sine and the cosine block of a class have the same
eigenvalues: turning the circle by :math:`2\pi/n` mixes the two, so one of them is enough.

The two exact zero modes of the sine block of class 0, rotation and :math:`1/\sqrt\rho`, are moved to the far
end of the spectrum. A rate too small for this is taken from :func:`solvers.circle.spectra.spectrum`.
"""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import lapack

from meanfield import NotResolved, State

from ..bases import EPS, Floats, Integers
from ..lowest import check_size, lowest_pairs
from .linearisation import (
    UNIFORM,
    Field,
    align,
    complex_moments,
    cosine_vector,
    field_of,
    last_degree,
    of_class,
    symmetric_cosines,
    symmetric_sines,
)
from .spectra import WHOLE, SymmetryClass, largest_eigenvalue, require_smooth, spectrum, uniform_eigenvalues

# The slowest perturbations are resolved by the moments above this.
SIGNIFICANT = 1e-11
# A rate is kept if its rounding error, eps |S|, is below this share of it.
RELATIVE_TOLERANCE = 1e-8
# Beyond this size the largest eigenvalue alone is computed by Lanczos.
DENSE = 300


def slowest_rate(state: State) -> float:
    """Return the contraction rate of a state by the cheapest way that is accurate.

    Raises
    ------
    NotResolved
        If the state needs more modes than a dense matrix affords, or many and its rate is tiny.
    """
    moments = complex_moments(state)
    if np.abs(moments[1:]).max(initial=0.0) <= UNIFORM and state.problem.confinement is None:
        return -float(uniform_eigenvalues(state.problem, 64)[0])
    require_smooth(state.problem)
    aligned, even = align(moments, state.problem.confinement is None)
    if not even:
        return spectrum(state).slowest_rate
    degree = last_degree(aligned, SIGNIFICANT) + 8
    check_size(degree)
    field = field_of(state.problem, aligned, degree)
    sizes, largest = [], {}
    for block, matrix in _matrices(field, degree, state):
        sizes.append(float(np.abs(matrix.diagonal()).max()))
        largest[block] = _largest(matrix)
    rounding = EPS * max(sizes) / RELATIVE_TOLERANCE
    slowest = max(largest.values())
    if abs(slowest) >= rounding:
        return -slowest
    if degree > WHOLE:
        raise NotResolved(
            f"the slowest rate of a state of {degree} modes, {-slowest:.1e}, is below what rounding leaves; "
            "call contraction_rate(state), which refines single states"
        )
    return -largest_eigenvalue(state, [block for block, value in largest.items() if value > -rounding])


def _matrices(field: Field, degree: int, state: State) -> Iterator[tuple[SymmetryClass, Floats]]:
    """Yield minus S in every class, one of each pair with equal eigenvalues."""
    for residue in range(field.symmetry // 2 + 1):
        degrees = of_class(0, degree, field.symmetry, residue)
        sines = degrees[degrees > 0]
        yield ("even", residue), -symmetric_sines(field, sines, sines)
        if residue == 0:
            odd = -symmetric_cosines(field, degrees, degrees)
            yield ("odd", residue), _without_zeros(odd, field, degrees, state)
        elif 2 * residue == field.symmetry:
            yield ("odd", residue), -symmetric_cosines(field, degrees, degrees)


def _without_zeros(matrix: Floats, field: Field, degrees: Integers, state: State) -> Floats:
    """Move the known zero modes down by the size of the matrix."""
    vectors = [cosine_vector(field.inverse_root.real, degrees)]
    if state.problem.confinement is None:
        vectors.append(_difference(field, degrees))
    basis = np.linalg.qr(np.stack(vectors, axis=1))[0]
    size = float(np.abs(matrix.diagonal()).max())
    return np.asarray(matrix - size * basis @ basis.T, dtype=float)


def _difference(field: Field, degrees: Integers) -> Floats:
    root = cosine_vector(field.root.real, degrees)
    inverse = cosine_vector(field.inverse_root.real, degrees)
    return np.asarray(root - inverse * (root[0] / inverse[0]), dtype=float)


def _largest(matrix: Floats) -> float:
    size = matrix.shape[0]
    if size > DENSE:
        return -float(lowest_pairs(-matrix, 1)[0][0])
    values, *_, info = lapack.dsyevr(matrix, compute_v=0, range="I", il=size, iu=size)
    return float(values[0]) if info == 0 else float(np.linalg.eigvalsh(matrix)[-1])
