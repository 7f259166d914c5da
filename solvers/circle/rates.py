r"""Slowest decay rates at many states, small symmetric matrices made for all of them at once.

At an even state of symmetry n the operator S of :mod:`solvers.circle.spectra` couples the degree k to those with
:math:`\pm k` of the same class modulo n only. All classes are searched, since the slowest perturbation need
not share the symmetry. Strictly between 0 and n/2 the sine and the cosine block of a class have the same
eigenvalues: turning the circle by :math:`2\pi/n` mixes the two, so one of them is enough. A state without
reflection axis has one block, of cosines and sines together.

Of each block the lowest eigenvalue alone is computed, and of most not even that: if the Cholesky factorisation of
:math:`S - \mu` exists, no eigenvalue of the block is below the :math:`\mu` of another. The block that had the
slowest perturbation at one state is tried first at the next, and of a large one an eigenvalue near that rate.

The two exact zero modes, rotation and :math:`1/\sqrt\rho`, are moved to the far end of the spectrum. A rate below
the rounding of S is taken from its eigenvectors, :mod:`solvers.circle.rayleigh`, and one too small for that from
:func:`solvers.circle.spectra.spectrum`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from meanfield import NotResolved, State
from meanfield.equations import Interaction

from ..bases import EPS, Floats, Integers
from ..linear_algebra.lanczos import check_size, lowest_value
from .linearisation import (
    UNIFORM,
    Field,
    Matrix,
    align,
    complex_moments,
    cosine_vector,
    gibbs_field,
    last_degree,
    of_class,
    symmetric_pair,
    symmetric_sines,
    symmetric_whole,
    whole_vector,
)
from .rayleigh import (
    Lowest,
    cosine_waves,
    lowest_eigenvalue,
    lowest_vectors,
    sine_waves,
    whole_waves,
    without_cancellation,
)
from .spectra import WHOLE, SymmetryClass, largest_eigenvalue, require_smooth, spectrum, uniform_eigenvalues

Extended = NDArray[np.longdouble]

# The slowest perturbations are resolved by the moments above this, and degrees are rounded up to multiples.
SIGNIFICANT = 1e-11
DEGREES_AT_ONCE = 32
# The same of roots of the density, relative to the largest: errors of eigenvalues are of second order. A rate that
# rounding hides is to be known beside them as well.
ROOT_SIGNIFICANT, HIDDEN_SIGNIFICANT = 3e-8, 1e-9
# A rate is kept if its rounding error, eps |S|, is below this share of it.
RELATIVE_TOLERANCE = 1e-8
# Beyond this size the lowest eigenvalue is computed by Lanczos.
DENSE = 200
# Numbers in the matrices of a block that are made at once.
NUMBERS_AT_ONCE = 2**17


class Blocks(NamedTuple):
    """S of several states by symmetry class, (P, n, n) each, and the degrees of the rows, increasing."""

    matrices: dict[SymmetryClass, Floats]
    degrees: dict[SymmetryClass, Integers]

    def truncated(self, last: Sequence[int]) -> tuple[list[dict[SymmetryClass, Floats]], Floats]:
        """Return the matrices of every state to its own last degree, and their largest diagonals."""
        matrices: list[dict[SymmetryClass, Floats]] = [{} for _ in last]
        largest = np.zeros(len(last))
        for block, matrix in self.matrices.items():
            rows = np.searchsorted(self.degrees[block], last, side="right")
            diagonals = np.abs(np.diagonal(matrix, axis1=-2, axis2=-1))
            largest = np.maximum(largest, np.maximum.accumulate(diagonals, axis=-1)[np.arange(len(last)), rows - 1])
            for place, size in enumerate(rows.tolist()):
                matrices[place][block] = matrix[place, :size, :size]
        return matrices, largest


class Prepared(NamedTuple):
    """A state prepared for its rate: its place, its aligned moments and the degree of truncation."""

    place: int
    state: State
    moments: Matrix
    degree: int


@dataclass
class Expected:
    """What the state before had: the class of its slowest perturbation, the rate, and whether rounding hid it."""

    block: SymmetryClass | None = None
    level: float | None = None
    hidden: bool = False

    def first(self, matrices: dict[SymmetryClass, Floats]) -> dict[SymmetryClass, Floats]:
        """Return matrices by class with the expected class first."""
        return {block: matrices[block] for block in sorted(matrices, key=lambda block: block != self.block)}


def slowest_rate(state: State) -> float:
    """Return the contraction rate of a state, by the cheapest accurate method.

    Raises
    ------
    NotResolved
        If the state needs more modes than a dense matrix affords, or many and its rate is tiny.
    """
    (rate,) = slowest_rates([state])
    if isinstance(rate, Exception):
        raise rate
    return rate


def slowest_rates(states: Sequence[State]) -> list[float | Exception]:
    """Return the contraction rate, or the error instead, of each of several states of one equation."""
    rates: list[float | Exception] = [np.nan] * len(states)
    waiting: dict[tuple[int, bool], list[Prepared]] = {}
    for place, state in enumerate(states):
        moments = complex_moments(state)
        if np.abs(moments[1:]).max(initial=0.0) <= UNIFORM and state.problem.confinement is None:
            rates[place] = -float(uniform_eigenvalues(state.problem, 64)[0])
            continue
        try:
            require_smooth(state.problem)
            aligned, even = align(moments, state.problem.confinement is None)
            degree = last_degree(aligned, SIGNIFICANT) + 8
            check_size(degree if even else 2 * degree + 1)
        except NotResolved as error:
            rates[place] = error
            continue
        prepared = Prepared(place, state, aligned, degree)
        waiting.setdefault((-(-degree // DEGREES_AT_ONCE), even), []).append(prepared)
    strengths = _unit_strengths(one for group in waiting.values() for one in group)
    expected = Expected()
    for (_, even), group in waiting.items():
        largest = max(one.degree for one in group)
        # The classes of a symmetry share the degrees, and have the fewer numbers together.
        shared = int(np.gcd.reduce([one.state.symmetry for one in group])) or 1
        together = max(1, NUMBERS_AT_ONCE * shared // (largest if even else 2 * largest + 1) ** 2)
        for start in range(0, len(group), together):
            part = group[start : start + together]
            for one, rate in zip(part, _rates(part, even, strengths, expected), strict=True):
                rates[one.place] = rate
    return rates


def _rates(
    group: Sequence[Prepared], even: bool, strengths: Extended, expected: Expected
) -> Iterator[float | Exception]:
    """Yield the rates of states of one equation, given its strengths at the coupling 1, or the errors instead."""
    field = _stacked(group, strengths)
    alone = len(group) == 1 and expected.hidden
    resolving = _resolving(field, HIDDEN_SIGNIFICANT if alone else ROOT_SIGNIFICANT)
    degrees = [min(one.degree, degree) for one, degree in zip(group, resolving, strict=True)]
    blocks = _blocks(field, max(degrees), even)
    truncated, sizes = blocks.truncated(degrees)
    for one, whole, rounding in zip(group, truncated, (EPS * sizes / RELATIVE_TOLERANCE).tolist(), strict=True):
        doubtful = _doubtful(whole, rounding) if alone else {}
        if not (doubtful and all(_all_above(matrix, -rounding) for matrix in doubtful.values())):
            slowest, expected.block = _lowest_of_all(expected.first(whole), expected.level)
            expected.level, expected.hidden = slowest, abs(slowest) < rounding
            if not expected.hidden:
                yield slowest
                continue
        if alone:
            yield _refined(one, doubtful or _doubtful(whole, rounding), rounding, even)
        else:
            # More degrees are needed then, and alone the state may have more symmetry, and so other classes.
            yield from _rates([one], even, strengths, expected)


def _doubtful(matrices: dict[SymmetryClass, Floats], rounding: float) -> dict[SymmetryClass, Floats]:
    """Return the matrices of the classes with eigenvalues that rounding may hide, or below."""
    return {block: matrix for block, matrix in matrices.items() if not _all_above(matrix, rounding)}


def _refined(
    one: Prepared, doubtful: dict[SymmetryClass, Floats], rounding: float, even: bool
) -> float | Exception:
    """Return the rate of a state that is lost in the rounding of its matrices, by vectors or by its spectrum."""
    rate = _by_vectors(one, doubtful, rounding)
    if rate is not None:
        return rate
    if one.degree > WHOLE:
        return NotResolved(
            f"the slowest rate of a state of {one.degree} modes is below what rounding leaves, {rounding:.1e}; "
            "call contraction_rate(state), which refines single states"
        )
    try:
        return -largest_eigenvalue(one.state, list(doubtful)) if even else spectrum(one.state).slowest_rate
    except NotResolved as error:
        return error


def _by_vectors(one: Prepared, doubtful: dict[SymmetryClass, Floats], rounding: float) -> float | None:
    """Return the lowest eigenvalue of some blocks of a state by their vectors, None if that is not accurate."""
    # With all moments of the state, so that the density is that of its own field.
    degree = max(one.degree, one.moments.size - 1)
    field = gibbs_field(one.state.problem, Interaction(one.state.problem).strengths(degree), one.moments)
    functions, found = [], []
    for (kind, residue), matrix in doubtful.items():
        vectors, beyond = lowest_vectors(matrix, rounding)
        functions.append((_waves(kind, residue, field.symmetry, vectors), beyond))
        found.append(lowest_eigenvalue(field, *functions[-1]))
    rate = _certain(found)
    if rate is None and one.state.problem.confinement is None:
        lowest = min(each.value + each.error for each in found)
        for place, each in enumerate(found):
            if each.least < lowest:
                found[place] = without_cancellation(field, *functions[place])
        rate = _certain(found)
    return rate


def _certain(found: Sequence[Lowest]) -> float | None:
    """Return the lowest of some eigenvalues, None if it is not known to the share of it that is tolerated."""
    lowest = min(found, key=lambda each: each.value)
    allowed = RELATIVE_TOLERANCE * abs(lowest.value)
    below = min(each.least for each in found)
    return lowest.value if lowest.error <= allowed and below >= lowest.value - allowed else None


def _waves(kind: str, residue: int, symmetry: int, vectors: Floats) -> Matrix:
    """Return functions given in the basis of a block, as coefficients of exp(ik theta)."""
    if kind == "mixed":
        return whole_waves(vectors)
    degrees = of_class(int(kind == "even"), symmetry * vectors.shape[1], symmetry, residue)[: vectors.shape[1]]
    return (sine_waves if kind == "even" else cosine_waves)(vectors, degrees)


def _unit_strengths(all_states: Iterable[Prepared]) -> Extended:
    """Return the strengths of the equation of states at the coupling 1, to the largest degree of any of them."""
    states = list(all_states)
    if not states:
        return np.zeros(1, dtype=np.longdouble)
    first = states[0].state.problem.at(coupling=1.0)
    return Interaction(first).extended_strengths(max(one.degree for one in states))


def _stacked(group: Sequence[Prepared], unit: Extended) -> Field:
    """Return the fields behind states of one equation, of the strengths at the coupling 1."""
    first, degree = group[0].state.problem, max(one.degree for one in group)
    couplings = np.array([one.state.problem.fixed_coupling for one in group], dtype=np.longdouble)
    # Strengths are proportional to the coupling.
    strengths = unit[: degree + 1] * couplings[:, np.newaxis]
    padded = np.zeros((len(group), max(one.moments.size for one in group)), dtype=complex)
    for row, one in zip(padded, group, strict=True):
        row[: one.moments.size] = one.moments
    return gibbs_field(first, strengths.astype(float), padded)


def _resolving(field: Field, significant: float) -> list[int]:
    """Return for each of several states the degree that resolves its slowest perturbations.

    Over the root of the density these are as wide as the root and its inverse, the zero modes: where the density
    is large and where it nearly vanishes. Truncation changes an eigenvalue by the square of the remainder.
    """
    roots = [np.abs(part[..., : field.strengths.shape[-1]]) for part in (field.root, field.inverse_root)]
    present = np.any([part > significant * part.max(axis=-1, keepdims=True) for part in roots], axis=0)
    last = present.shape[-1] - 1 - np.argmax(present[..., ::-1], axis=-1)
    return [int(degree) for degree in last + 8]


def _blocks(field: Field, degree: int, even: bool) -> Blocks:
    """Return S in every class, one of each pair with equal eigenvalues, (P, n, n) each."""
    rotates = field.problem.confinement is None
    if not even:
        vectors = [whole_vector(part, degree) for part in (field.inverse_root, field.root)]
        whole = _without_zeros(symmetric_whole(field, degree), vectors, rotates)
        # Cosines come before sines, so that no leading part is that of a smaller degree.
        return Blocks({("mixed", 0): whole}, {("mixed", 0): np.zeros(2 * degree + 1, dtype=np.int64)})
    blocks: dict[SymmetryClass, Floats] = {}
    rows: dict[SymmetryClass, Integers] = {}
    for residue in range(field.symmetry // 2 + 1):
        degrees = of_class(0, degree, field.symmetry, residue)
        twofold = 0 < 2 * residue < field.symmetry
        both = [symmetric_sines(field, degrees, degrees)] if twofold else symmetric_pair(field, degrees)
        for kind, matrix in zip(("even", "odd"), both, strict=False):
            if matrix.size:
                blocks[kind, residue] = matrix
                rows[kind, residue] = degrees[degrees.size - matrix.shape[-1] :]
        if residue == 0:
            vectors = [cosine_vector(part.real, degrees) for part in (field.inverse_root, field.root)]
            blocks["odd", 0] = _without_zeros(blocks["odd", 0], vectors, rotates)
    return Blocks(blocks, rows)


def _without_zeros(matrix: Floats, vectors: Sequence[Floats], rotates: bool) -> Floats:
    """Return a matrix, overwritten, with its known zero modes moved up by its size."""
    inverse, root = vectors
    # Both are nearly constant beside the uniform state; their difference is not.
    difference = root - inverse * (root[..., :1] / inverse[..., :1])
    basis = np.linalg.qr(np.stack([inverse, difference] if rotates else [inverse], axis=-1))[0]
    sizes = np.abs(np.diagonal(matrix, axis1=-2, axis2=-1)).max(axis=-1)
    matrix += (basis * sizes[:, np.newaxis, np.newaxis]) @ basis.swapaxes(-1, -2)
    return matrix


def _lowest_of_all(matrices: dict[SymmetryClass, Floats], expected: float | None) -> tuple[float, SymmetryClass]:
    """Return the lowest eigenvalue over all blocks of a state, trying the likeliest first, and its block."""
    (found, first), *others = matrices.items()
    lowest = _lowest(first, expected)
    for block, matrix in others:
        if not _all_above(matrix, lowest):
            value = _lowest(matrix, lowest)
            lowest, found = (value, block) if value < lowest else (lowest, found)
    return lowest, found


def _all_above(matrix: Floats, level: float) -> bool:
    """Return whether all eigenvalues are above a level: the Cholesky factorisation proves it."""
    shifted = matrix.copy()
    shifted.reshape(-1)[:: len(matrix) + 1] -= level
    # Of the transposed matrix, which LAPACK need not copy.
    return bool(lapack.dpotrf(shifted.T, lower=0, clean=0, overwrite_a=1)[1] == 0)


def _lowest(matrix: Floats, expected: float | None) -> float:
    if len(matrix) > DENSE:
        return lowest_value(matrix, expected)
    values, *_, info = lapack.dsyevr(matrix, compute_v=0, range="I", il=1, iu=1)
    return float(values[0]) if info == 0 else float(np.linalg.eigvalsh(matrix)[0])
