r"""Matrices of the equation linearised at a stationary state, block by block.

At :math:`\rho = e^f/Z`, :math:`f = -(\kappa W*\rho + V)/D`, the linearisation is :math:`L = -AB` with
:math:`A = -\partial\rho\,\partial` and :math:`B = D/\rho + \kappa W*`. In the variable
:math:`y = u/\sqrt\rho` both factors lose their weights,

.. math::

    \rho^{-1/2} L \rho^{1/2} = -Q^* Q\, C, \qquad Q = \partial - \tfrac12 f', \qquad
    C = \sqrt\rho\, B \sqrt\rho = D \Bigl(1 - \sum_{j \ne 0} \lambda_{|j|}\, v_j v_j^* \Bigr), \quad
    v_j = \sqrt\rho\, e^{ij\theta}, \quad \lambda_j = -\frac{\kappa w_j}{2D},

and the spectrum of L on densities of mass zero is minus that of the Hermitian operator

.. math::

    S = Q C Q^* = D\,(-\partial^2 + \tfrac14 f'^2 - \tfrac12 f'')
        - D\sum_{j \ne 0} \lambda_{|j|} j^2\, v_j v_j^* .

Its eigenfunctions are :math:`z = \sqrt\rho\, g` for perturbations :math:`u = (\rho g)'`, g the velocity. Two
zero modes are known exactly: rotation is g = 1, that is :math:`z = \sqrt\rho`, and
:math:`z = 1/\sqrt\rho` is no perturbation at all (u = 0).

Everything is expanded in normalised cosines and sines, or exp(ik theta) where there is no reflection axis.
"""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meanfield import Equation, State
from meanfield.equations import Interaction

from ..bases import EPS, Floats, Integers
from ..equations.significant import even_size

Matrix = NDArray[Any]

# Sine moments below this, relative to the moments, are rounding noise of an even state.
AXIS_TOLERANCE = 1e-12
# Moments below this are a uniform density.
UNIFORM = 1e-14
# Degrees whose share of the interaction in S is below this are not significant.
SIGNIFICANT = 1e-3 * EPS


@dataclass(frozen=True, eq=False)
class Field:
    """The field of a state and integrals of its Gibbs density, as the linearisation needs them.

    Of several states the arrays have a leading axis, and so have the matrices made of them.

    Attributes
    ----------
    problem
        The equation, at the coupling of the strengths, of several states that of the first.
    strengths : (n + 1,) float
        lambda_0 = 0, lambda_1, ..., lambda_n.
    coefficients : (n + 1,) complex
        Coefficients of exp(ik theta), k = 0..n, of the field f.
    root : (2 n + 1,) complex
        Integrals of sqrt(rho) exp(-ik theta), k = 0..2n.
    inverse_root : (n + 1,) complex
        Those of 1/sqrt(rho), up to a factor.
    symmetry : int
        The density is invariant under rotation by 2 pi/symmetry.
    """

    problem: Equation
    strengths: Floats
    coefficients: Matrix
    root: Matrix
    inverse_root: Matrix
    symmetry: int

    @property
    def noise(self) -> float:
        """The noise D."""
        return self.problem.noise

    @functools.cached_property
    def schroedinger(self) -> Matrix:
        """Coefficients of exp(ik theta) of the potential f'^2/4 - f''/2, for k up to twice the degree of f."""
        count = self.coefficients.shape[-1]
        degrees = np.arange(count)
        points = even_size(4 * count)
        slope = np.fft.irfft(1j * degrees * self.coefficients, points, norm="forward")
        potential = 0.25 * np.fft.rfft(slope**2, norm="forward")[..., : 2 * count]
        potential[..., :count] += 0.5 * degrees**2 * self.coefficients
        return np.asarray(potential)


@dataclass(frozen=True, eq=False)
class Factors:
    """One invariant block of the linearisation, in orthonormal bases.

    Attributes
    ----------
    first_order : (r, c) matrix of Q.
    modes : (c, j) matrix of the vectors v_j, with ``strengths`` (j,) their factors in C/D.
    outside : (t, r) matrix of S from the block to the degrees beyond its truncation.
    synthesis : (r, 2 n + 1) matrix from the basis of z to exp(ik theta)/sqrt(2 pi), k = -n..n.
    rotation : (r,) sqrt(rho), or None if the block does not contain it.
    kernel : (c,) kernel of Q, or None.
    """

    first_order: Matrix
    modes: Matrix
    strengths: Floats
    outside: Matrix
    synthesis: Matrix
    rotation: Matrix | None
    kernel: Matrix | None


@dataclass(frozen=True, eq=False)
class Block:
    """One invariant block of S in an orthonormal basis.

    Attributes
    ----------
    inside : (r, r) matrix of S.
    outside, synthesis
        As in :class:`Factors`.
    rotation : (r,) sqrt(rho), or None if the block does not contain it.
    spurious : (r,) 1/sqrt(rho), the zero mode that is no perturbation, or None.
    """

    inside: Matrix
    outside: Matrix
    synthesis: Matrix
    rotation: Matrix | None
    spurious: Matrix | None


def complex_moments(state: State) -> Matrix:
    """Return the integrals of rho exp(-ik theta) up to the last degree that is not rounding noise."""
    moments = state.cosine - 1j * state.sine
    large = np.flatnonzero(np.abs(moments) > UNIFORM / 10.0)
    return np.asarray(moments[: int(large[-1]) + 1])


def align(moments: Matrix, movable: bool) -> tuple[Matrix, bool]:
    """Return the moments of a density, turned onto its reflection axis if it has one, and whether it has.

    Every axis is one of the strongest moment, so only the axes of that are tried.
    """
    if not moments.imag.any():
        return moments, True
    degrees = np.arange(moments.size)
    strongest = 1 + int(np.argmax(np.abs(moments[1:]))) if moments.size > 1 else 1
    angles = np.zeros(1)
    if movable:
        angles = (np.angle(moments[strongest]) + np.pi * np.arange(strongest)) / strongest
    turned = moments * np.exp(-1j * np.multiply.outer(angles, degrees))
    best = turned[int(np.argmin(np.abs(turned.imag).max(axis=1)))]
    if np.abs(best.imag).max() <= AXIS_TOLERANCE:
        return best.real.astype(complex), True
    return moments, False


def last_degree(moments: Matrix, threshold: float) -> int:
    """Return the last degree whose moment exceeds a threshold."""
    return int(np.flatnonzero(np.abs(moments) > threshold)[-1])


def field_of(problem: Equation, moments: Matrix, degree: int) -> Field:
    """Return the field of a density and its Gibbs density, for truncation at a degree.

    Everything is kept to twice that degree, so that the effect of truncation can be measured.
    """
    return gibbs_field(problem, Interaction(problem).strengths(2 * degree), moments)


def gibbs_field(problem: Equation, strengths: Floats, moments: Matrix) -> Field:
    """Return the field of a density with moments (..., m), for the strengths lambda_k (..., 2 n + 1)."""
    wide = strengths.shape[-1] - 1
    coefficients = np.zeros(strengths.shape, dtype=complex)
    known = min(moments.shape[-1], wide + 1)
    coefficients[..., :known] = strengths[..., :known] * moments[..., :known]
    if problem.confinement is not None:
        coefficients[..., 1:] += 0.5 * Interaction(problem).phased_forces(wide)[1:]
    points = even_size(4 * wide)
    values = np.fft.irfft(coefficients, points, norm="forward")
    values -= values.max(axis=-1, keepdims=True)
    weights = np.exp(values)
    normalised = np.exp(0.5 * values) / np.sqrt(2.0 * np.pi * weights.mean(axis=-1, keepdims=True))
    inverse = np.exp(0.5 * (values.min(axis=-1, keepdims=True) - values))
    root = 2.0 * np.pi * np.fft.rfft(normalised, norm="forward")[..., : 2 * wide + 1]
    inverse_root = np.fft.rfft(inverse, norm="forward")[..., : wide + 1]
    sizes = np.abs(coefficients)
    present = sizes[..., 1:] > UNIFORM * sizes.max(axis=-1, keepdims=True)
    there = np.flatnonzero(present.reshape(-1, wide).any(axis=0)) + 1
    symmetry = max(1, int(np.gcd.reduce(there, initial=0)))
    return Field(problem, strengths, coefficients, root, inverse_root, symmetry)


def of_class(first: int, last: int, symmetry: int, residue: int) -> Integers:
    """Return the degrees from first to last that are plus or minus the residue modulo the symmetry.

    At a state of symmetry n the linearisation couples only degrees of one class.
    """
    degrees = np.arange(first, last + 1)
    remainder = degrees % symmetry
    return np.asarray(degrees[(remainder == residue) | (remainder == symmetry - residue)])


def even_factors(field: Field, degree: int, residue: int) -> Factors:
    """Return the block of even perturbations of a class: y on cosines, z on sines up to a degree."""
    cosines = of_class(0, degree, field.symmetry, residue)
    sines = cosines[cosines > 0]
    first_order = -0.5 * _slope_products(field, sines, cosines)
    first_order -= np.where(sines[:, None] == cosines, cosines, 0)
    outer = of_class(degree + 1, 2 * degree, field.symmetry, residue)
    return Factors(
        first_order,
        root_cosines(field, cosines, sines),
        2.0 * field.strengths[sines],
        symmetric_sines(field, outer, sines),
        _from_sines(sines, degree),
        None,
        None,
    )


def odd_factors(field: Field, degree: int, residue: int) -> Factors:
    """Return the block of odd perturbations of a class: y on sines, z on cosines up to a degree."""
    cosines = of_class(0, degree, field.symmetry, residue)
    sines = cosines[cosines > 0]
    first_order = -0.5 * _slope_products(field, sines, cosines).T
    first_order += np.where(cosines[:, None] == sines, sines, 0)
    outer = of_class(degree + 1, 2 * degree, field.symmetry, residue)
    return Factors(
        first_order,
        root_sines(field, sines, sines),
        2.0 * field.strengths[sines],
        symmetric_cosines(field, outer, cosines),
        _from_cosines(cosines, degree),
        cosine_vector(field.root.real, cosines) if residue == 0 else None,
        None,
    )


def mixed_factors(field: Field, degree: int, _: int = 0) -> Factors:
    """Return all perturbations of a state without reflection axis, on exp(ik theta), abs(k) <= degree."""
    degrees = np.arange(-degree, degree + 1)
    outer = np.concatenate([np.arange(-2 * degree, -degree), np.arange(degree + 1, 2 * degree + 1)])
    slope = 1j * np.arange(field.coefficients.size) * field.coefficients
    first_order = -0.5 * _convolution(slope, degrees, degrees) + np.diag(1j * degrees)
    modes = degrees[degrees != 0]
    return Factors(
        first_order,
        _convolution(field.root, degrees, modes) / np.sqrt(2.0 * np.pi),
        field.strengths[np.abs(modes)],
        _symmetric_mixed(field, outer, degrees),
        np.eye(degrees.size),
        _signed(field.root, degrees),
        _signed(field.root, degrees),
    )


def even_block(field: Field, degree: int, residue: int) -> Block:
    """Return S on even perturbations of a class."""
    sines = of_class(1, degree, field.symmetry, residue)
    outer = of_class(degree + 1, 2 * degree, field.symmetry, residue)
    inside, outside = (symmetric_sines(field, rows, sines) for rows in (sines, outer))
    return Block(inside, outside, _from_sines(sines, degree), None, None)


def odd_block(field: Field, degree: int, residue: int) -> Block:
    """Return S on odd perturbations of a class."""
    cosines = of_class(0, degree, field.symmetry, residue)
    outer = of_class(degree + 1, 2 * degree, field.symmetry, residue)
    inside, outside = (symmetric_cosines(field, rows, cosines) for rows in (cosines, outer))
    root, inverse = (
        cosine_vector(part.real, cosines) if residue == 0 else None for part in (field.root, field.inverse_root)
    )
    return Block(inside, outside, _from_cosines(cosines, degree), root, inverse)


def mixed_block(field: Field, degree: int, _: int = 0) -> Block:
    """Return S on all perturbations of a state without reflection axis."""
    degrees = np.arange(-degree, degree + 1)
    outer = np.concatenate([np.arange(-2 * degree, -degree), np.arange(degree + 1, 2 * degree + 1)])
    inside, outside = (_symmetric_mixed(field, rows, degrees) for rows in (degrees, outer))
    root, inverse = (_signed(part, degrees) for part in (field.root, field.inverse_root))
    return Block(inside, outside, np.eye(degrees.size), root, inverse)


def _from_sines(sines: Integers, degree: int) -> Matrix:
    half = np.eye(degree)[sines - 1] * np.sqrt(0.5)
    return np.hstack([1j * half[:, ::-1], np.zeros((sines.size, 1)), -1j * half])


def _from_cosines(cosines: Integers, degree: int) -> Matrix:
    half = np.vstack([np.zeros(degree), np.eye(degree)])[cosines] * np.sqrt(0.5)
    constant = np.where(cosines == 0, 1.0, 0.0)[:, None]
    return np.hstack([half[:, ::-1], constant, half])


def cosine_vector(integrals: Floats, degrees: Integers) -> Floats:
    """Return the components on normalised cosines of a function, from its cosine integrals."""
    return np.asarray(integrals[..., degrees] / np.sqrt(np.where(degrees == 0, 2.0, 1.0) * np.pi), dtype=float)


def _slope_products(field: Field, sines: Integers, cosines: Integers) -> Floats:
    """Return the matrix of multiplication by f' from normalised cosines to sines."""
    slope = -2.0 * np.arange(field.coefficients.size) * field.coefficients.real
    plus, minus = sines[:, None] + cosines, sines[:, None] - cosines
    products = 0.5 * (slope[plus] + np.sign(minus) * slope[np.abs(minus)])
    return np.asarray(np.where(cosines == 0, np.sqrt(0.5), 1.0) * products, dtype=float)


def root_cosines(field: Field, cosines: Integers, modes: Integers) -> Floats:
    """Return the components of sqrt(rho) cos(j theta) on normalised cosines, (cosines, modes)."""
    root = field.root.real
    sums = root.take(cosines[:, None] + modes, -1) + root.take(np.abs(cosines[:, None] - modes), -1)
    norms = 2.0 * np.sqrt(np.where(cosines == 0, 2.0, 1.0) * np.pi)
    return np.asarray(sums / norms[:, None], dtype=float)


def root_sines(field: Field, sines: Integers, modes: Integers) -> Floats:
    """Return the components of sqrt(rho) sin(j theta) on normalised sines, (sines, modes)."""
    root = field.root.real
    difference = root.take(np.abs(sines[:, None] - modes), -1) - root.take(sines[:, None] + modes, -1)
    return np.asarray(difference / (2.0 * np.sqrt(np.pi)), dtype=float)


def significant(field: Field, modes: Integers) -> Integers:
    """Return which of the degrees have a part in the interaction not far below rounding."""
    weights = np.abs(field.strengths[..., np.abs(modes)]) * modes**2.0
    there = weights > SIGNIFICANT * weights.max(axis=-1, initial=0.0, keepdims=True)
    return np.asarray(modes[there.reshape(-1, modes.size).any(axis=0)])


def symmetric_sines(field: Field, rows: Integers, columns: Integers) -> Floats:
    """Return S of even perturbations between normalised sines."""
    potential = field.schroedinger.real
    difference = np.abs(rows[:, None] - columns)
    matrix = potential.take(difference, -1) - potential.take(rows[:, None] + columns, -1)
    matrix += np.where(difference == 0, columns**2.0, 0.0)
    modes = significant(field, columns[columns > 0])
    left, right = root_sines(field, rows, modes), root_sines(field, columns, modes)
    weights = 2.0 * field.strengths[..., np.newaxis, modes] * modes**2
    return np.asarray(field.noise * (matrix - (left * weights) @ right.swapaxes(-1, -2)), dtype=float)


def symmetric_cosines(field: Field, rows: Integers, columns: Integers) -> Floats:
    """Return S of odd perturbations between normalised cosines."""
    potential = field.schroedinger.real
    difference = np.abs(rows[:, None] - columns)
    matrix = potential.take(difference, -1) + potential.take(rows[:, None] + columns, -1)
    matrix *= np.where(rows == 0, np.sqrt(0.5), 1.0)[:, None] * np.where(columns == 0, np.sqrt(0.5), 1.0)
    matrix += np.where(difference == 0, columns**2.0, 0.0)
    modes = significant(field, columns[columns > 0])
    left, right = root_cosines(field, rows, modes), root_cosines(field, columns, modes)
    weights = 2.0 * field.strengths[..., np.newaxis, modes] * modes**2
    return np.asarray(field.noise * (matrix - (left * weights) @ right.swapaxes(-1, -2)), dtype=float)


def symmetric_pair(field: Field, degrees: Integers) -> tuple[Floats, Floats]:
    """Return S of the even and of the odd perturbations of a class, its degrees equidistant, from 0 or from above.

    These are :func:`symmetric_sines` and :func:`symmetric_cosines` on one set of degrees, from arrays that they
    share: together they take half of the time, and they are made for every state of a branch.
    """
    first, size = int(degrees[0] == 0), degrees.size
    modes = significant(field, degrees[first:])
    columns = _run(np.searchsorted(degrees, modes))
    # Of v_j on normalised waves, the halves of weights 2 lambda_j j^2 and of norms pi.
    weights = field.noise / (2.0 * np.pi) * field.strengths[..., np.newaxis, modes] * modes**2
    near, far = _differences_and_sums(field.noise * field.schroedinger.real, degrees)
    even, odd = near - far, near + far
    near, far = (table[..., columns] for table in _differences_and_sums(field.root.real, degrees))
    # Fresh memory costs more than sums.
    product, waves = np.empty_like(even), np.empty(near.shape)
    for matrix, combined in ((even, np.subtract), (odd, np.add)):
        combined(near, far, out=waves)
        matrix.reshape(-1, size * size)[:, :: size + 1] += field.noise * degrees**2.0
        _subtract_squares(matrix, waves, weights, product)
    if first:
        # The normalised mean is longer than a cosine.
        odd[..., 0, :] *= np.sqrt(0.5)
        odd[..., :, 0] *= np.sqrt(0.5)
    return even[..., first:, first:], odd


def _differences_and_sums(values: Floats, degrees: Integers) -> tuple[Floats, Floats]:
    """Return values at differences and at sums of equidistant degrees, (..., n, n), as views of few numbers."""
    size, step = degrees.size, int(degrees[1] - degrees[0]) if degrees.size > 1 else 1
    here = values[..., : step * size : step]
    last = 2 * int(degrees[0])
    row = np.concatenate([here[..., :0:-1], here, values[..., last : last + step * (2 * size - 1) : step]], axis=-1)
    shape, strides = (*row.shape[:-1], size, size), row.strides
    return (
        np.ndarray(shape, row.dtype, row, (size - 1) * row.itemsize, (*strides[:-1], -row.itemsize, row.itemsize)),
        np.ndarray(shape, row.dtype, row, (2 * size - 1) * row.itemsize, (*strides, row.itemsize)),
    )


def _run(places: Integers) -> slice | Integers:
    """Return ascending places as a slice where they follow each other, which needs no copy."""
    if places.size and places[-1] - places[0] == places.size - 1:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def _subtract_squares(matrix: Floats, waves: Floats, weights: Floats, product: Floats) -> None:
    """Subtract waves times weights times waves in place; the last array is for what is between."""
    # The product of a matrix with its own transpose takes half of the time of another.
    if (weights >= 0.0).all():
        waves *= np.sqrt(weights)
        matrix -= np.matmul(waves, waves.swapaxes(-1, -2), out=product)
        return
    for sign in (1.0, -1.0):
        roots = np.sqrt(np.maximum(sign * weights, 0.0))
        there = roots.reshape(-1, weights.shape[-1]).any(axis=0)
        some = waves[..., there] * roots[..., there]
        matrix -= np.multiply(np.matmul(some, some.swapaxes(-1, -2), out=product), sign, out=product)


def _symmetric_mixed(field: Field, rows: Integers, columns: Integers) -> Matrix:
    matrix = _convolution(field.schroedinger, rows, columns)
    modes = significant(field, columns[columns != 0])
    left, right = (_convolution(field.root, d, modes) / np.sqrt(2.0 * np.pi) for d in (rows, columns))
    weights = field.strengths[np.abs(modes)] * modes**2
    return np.asarray(field.noise * (matrix - (left * weights) @ right.conj().T))


def symmetric_whole(field: Field, degree: int) -> Floats:
    """Return S of all perturbations on the normalised constant, cosines and sines up to a degree."""
    degrees = np.arange(1, degree + 1)
    difference, total = degrees[:, None] - degrees, degrees[:, None] + degrees
    toeplitz, hankel = _signed(field.schroedinger, difference), field.schroedinger[..., total]
    matrix = np.empty((*toeplitz.shape[:-2], 2 * degree + 1, 2 * degree + 1))
    cosines, sines = slice(1, degree + 1), slice(degree + 1, None)
    matrix[..., 0, 0] = field.schroedinger[..., 0].real
    matrix[..., 0, cosines] = np.sqrt(2.0) * field.schroedinger[..., degrees].real
    matrix[..., 0, sines] = -np.sqrt(2.0) * field.schroedinger[..., degrees].imag
    matrix[..., cosines, cosines] = (toeplitz + hankel).real
    matrix[..., cosines, sines] = (toeplitz - hankel).imag
    matrix[..., sines, sines] = (toeplitz - hankel).real
    matrix[..., 1:, 0] = matrix[..., 0, 1:]
    matrix[..., sines, cosines] = matrix[..., cosines, sines].swapaxes(-1, -2)
    places = np.arange(2 * degree + 1)
    matrix[..., places, places] += np.concatenate([[0], degrees, degrees]) ** 2.0
    modes = significant(field, degrees)
    weights = 2.0 * field.strengths[..., np.newaxis, modes] * modes**2
    for vectors in _root_waves(field, degrees, modes):
        matrix -= (vectors * weights) @ vectors.swapaxes(-1, -2)
    return np.asarray(field.noise * matrix)


def _root_waves(field: Field, degrees: Integers, modes: Integers) -> tuple[Floats, Floats]:
    """Return sqrt(rho) cos(j theta) and sqrt(rho) sin(j theta) on the constant, cosines and sines."""
    difference, total = degrees[:, None] - modes, degrees[:, None] + modes
    before, after = _signed(field.root, difference), field.root[..., total]
    norm = 2.0 * np.sqrt(np.pi)
    constant = field.root[..., np.newaxis, modes] * np.sqrt(2.0)
    cosines = np.concatenate([constant.real, (before + after).real, -(before + after).imag], axis=-2) / norm
    sines = np.concatenate([-constant.imag, (before - after).imag, (before - after).real], axis=-2) / norm
    return cosines, sines


def whole_vector(integrals: Matrix, degree: int) -> Floats:
    """Return the components of a function on the normalised constant, cosines and sines, from its integrals."""
    parts = integrals[..., : degree + 1].real, -integrals[..., 1 : degree + 1].imag
    vector = np.concatenate(parts, axis=-1) / np.sqrt(np.pi)
    vector[..., 0] *= np.sqrt(0.5)
    return np.asarray(vector, dtype=float)


def _signed(coefficients: Matrix, degrees: Integers) -> Matrix:
    values = coefficients[..., np.abs(degrees)]
    return np.where(degrees < 0, values.conj(), values)


def _convolution(coefficients: Matrix, rows: Integers, columns: Integers) -> Matrix:
    difference = rows[:, None] - columns
    return np.asarray(_signed(coefficients, difference))
