r"""The linearised equation at a state on S^2 without an axis, one class of harmonics after the other.

With :math:`h = \rho^{-1/2} x` for the chemical potential the operators of :mod:`.sectors` become

.. math::

    W &= Q^*Q = -\Delta + \tfrac14|\nabla f|^2 + \tfrac12\Delta f, \qquad Q x = \nabla x - \tfrac12 x\,\nabla f, \\
    C &= D\Bigl(1 - \sum_{lm}\lambda_l\, v_{lm} v_{lm}^T\Bigr), \qquad
    v_{lm} = \sqrt{(2l+1)\rho}\; e_{lm}, \quad \lambda_l = -\frac{\kappa w_l}{(2l+1) D} ,

Witten's Laplacian and the second variation of the free energy, both symmetric and without weights on harmonics. The
rates are the eigenvalues of WC, those of :math:`R C R^T` with the Cholesky factor :math:`W = R^T R`. However small
the density somewhere, harmonics of a degree that resolves its root are enough.

Two kernels are known. :math:`W\sqrt\rho = 0`: mass is conserved. And rotation by an axis n changes the density by
:math:`\rho\,(n\times x)\cdot\nabla f`, so that :math:`C y = 0` for :math:`y = \sqrt\rho\,(n\times x)\cdot\nabla f`.
The image of C is orthogonal to these y, so both factors may be restricted to the complement of all of them.

With a pair :math:`Wx = \mu y`, :math:`Cy = x`, :math:`\langle x, Wx\rangle = 1` on harmonics up to a degree, those
beyond lower :math:`\mu` by at most :math:`|\mu||q|^2/\Lambda + |p|^2` to leading order, where q and p are the parts
beyond of Wx and of Cy, and :math:`\Lambda` is the first eigenvalue of minus the Laplacian there.

The lowest rate alone needs one factorisation. With the few significant :math:`v_{lm}` as the columns of V, and
:math:`P = (W + s)^{-1} V`, :math:`H = V^T W P`,

.. math::

    (CW + s)^{-1} = (W + s)^{-1} + P\,(\Lambda^{-1} - H)^{-1}\,(V - sP)^T, \qquad
    \Lambda = \mathrm{diag}\,\lambda_l,

is symmetric in the inner product :math:`\langle x, Wx'\rangle`, and its largest eigenvalue belongs to the lowest
rate if none is below -s: these are as many as :math:`\Lambda^{-1} - H` has more negative eigenvalues than
:math:`\Lambda`, if W + s has none.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from meanfield.equations import NEGLIGIBLE

from ...bases import EPS, Floats
from ...linear_algebra.inertia import factorised
from ...linear_algebra.lanczos import check_size, last_pair, lowest_pairs
from .banded import Banded, Factor
from .full_fields import FullField, averages_on_grid, free_axes, grid_size, on_grid, transform_of, turnings
from .harmonic_tables import ClassTable, class_tables, waves_of

# Rotations of a class are independent if their singular values are above this share of the largest of all.
INDEPENDENT = 1e-9
# Beyond this size the lowest eigenvalues alone are computed by Lanczos.
DENSE = 300
# Factor on first order bounds of rounding errors.
SAFETY = 8.0
# Up to this size the lowest eigenvalue is that of a dense matrix: the calls for a few vectors take longer.
SMALL = 64
# First shift where nothing is known of the rates, the first eigenvalue of minus the Laplacian, and its growth.
FIRST_SHIFT, SHIFT_GROWTH = 2.0, 4.0
# What is known of a growth is exceeded by the fastest by little.
BEYOND_KNOWN = 1.5
# Smaller shifts lose digits where W is nearly singular.
LEAST_SHIFT = 0.1
# An eigenvector of the matrices is computed until its residual is this share.
SOLVED = 1e-10
# Trace of the interaction left out where growths are counted and vectors computed. Rates that it mixes differ by no
# more than it changes them by.
LEFT_OUT = 1e-13


class Linearisation:
    """The linearised equation at a field on harmonics up to a degree.

    Parameters
    ----------
    field
        The field of the state.
    degree
        L.

    Raises
    ------
    NotResolved
        If a class has more harmonics than a dense matrix affords.
    """

    def __init__(self, field: FullField, degree: int) -> None:
        self.field, self.degree = field, degree
        rings, meridians = grid_size(field, degree)
        self.transform = transform_of(degree, rings, meridians)
        self.tables = class_tables(field.symmetry, degree, rings)
        check_size(max(table.size for table in self.tables))
        self.values = on_grid(field, rings, meridians)
        self.lambdas: Floats = field.interaction.attractions(degree) / (2.0 * np.arange(degree + 1.0) + 1.0)
        self.unlisted: float = field.interaction.strongest_beyond(degree)
        root = self.values.root
        over = root if field.averages is None else root / averages_on_grid(field, rings, meridians)
        self._waves = [
            waves_of(values, self.transform.weights, 2 * degree) for values in (self.values.potential, root, over)
        ]

    @property
    def noise(self) -> float:
        """The noise D."""
        return self.field.problem.noise

    @cached_property
    def beyond(self) -> float:
        """Estimate of a lower bound of the rates of perturbations of higher degrees, in units of D."""
        free = (self.degree + 1.0) * (self.degree + 2.0) + float(self.values.potential.min())
        share = 1.0 - self.unlisted * float(self.values.root.max()) ** 2
        return free * share if min(free, share) > 0.0 else -np.inf

    @cached_property
    def kernels(self) -> list[tuple[Floats, Floats]]:
        """Packed coefficients of the root of the density, and of the rotations that the confinement admits."""
        cosines, sines = self._turned
        axes = free_axes(self.field.problem)
        return [self.transform.analyse(self.values.root), *zip(axes @ cosines, axes @ sines, strict=True)]

    @cached_property
    def _turned(self) -> tuple[Floats, Floats]:
        """Packed coefficients of the rotations about x, y and z, (3, n) each."""
        turned = turnings(self.field, self.values, self.transform.rings, self.transform.meridians)
        cosines, sines = zip(*map(self.transform.analyse, turned), strict=True)
        return np.stack(cosines), np.stack(sines)

    @cached_property
    def fastest(self) -> float:
        """Largest length of a rotation, one that the confinement does not admit included.

        Only beside these it is seen that a state does not change when it is turned about an axis of its own.
        """
        cosines, sines = self._turned
        return float(np.sqrt(((cosines**2 + sines**2) @ self.transform.multiplicities).max()))

    def matrices(self, table: ClassTable) -> "ClassMatrices":
        """Return the matrices of a class."""
        potential, root, over = self._waves
        # The potential is a polynomial of this degree.
        witten = table.squares(potential, 2 * self.field.degree)
        witten.add(table.degrees * (table.degrees + 1.0))
        strongest = float(np.abs(self.lambdas).max())
        significant = np.flatnonzero(np.abs(self.lambdas[table.degrees]) > NEGLIGIBLE * strongest)
        modes = table.products(root, significant)
        return ClassMatrices(
            self,
            table,
            witten,
            modes,
            modes if self.field.averages is None else table.products(over, significant),
            self.lambdas[table.degrees[significant]],
            self._mass(table),
            self._rotations(table),
        )

    def _mass(self, table: ClassTable) -> Floats:
        """Return the root of the density in a class as a column of unit length, no column if it vanishes there."""
        column = table.pick(*self.kernels[0])[:, None]
        return column / np.linalg.norm(column) if table.own else column[:, :0]

    def _rotations(self, table: ClassTable) -> Floats:
        """Return an orthonormal basis of the rotations in a class, as columns."""
        if not self.kernels[1:]:
            return np.zeros((table.size, 0))
        columns = np.stack([table.pick(*pair) for pair in self.kernels[1:]], axis=1)
        least = INDEPENDENT * self.fastest
        if np.linalg.norm(columns) <= least:
            return columns[:, :0]
        mass = self._mass(table)
        directions, sizes, _ = np.linalg.svd(columns - mass @ (mass.T @ columns), full_matrices=False)
        return np.asarray(directions[:, sizes > least])


@dataclass(frozen=True, eq=False)
class Pair:
    """A rate mu in units of D with x and y = Wx of unit product."""

    level: float
    x: Floats
    y: Floats


@dataclass(frozen=True, eq=False)
class ClassMatrices:
    """The matrices of one class on n harmonics.

    Attributes
    ----------
    whole
        The linearised equation.
    table
        The harmonics.
    banded
        W by its rows.
    modes : (n, j) float
        The vectors v_lm that are significant.
    averaged : (n, j) float
        The same over u under softmax attention, see :mod:`.softmax_spectra`.
    lambdas : (j,) float
        Their lambda_l.
    mass, rotations : (n, k) float
        Orthonormal bases of the known kernels in the class.
    """

    whole: Linearisation
    table: ClassTable
    banded: Banded
    modes: Floats
    averaged: Floats
    lambdas: Floats
    mass: Floats
    rotations: Floats

    @cached_property
    def witten(self) -> Floats:
        """W, (n, n)."""
        return self.banded.full()

    @cached_property
    def top(self) -> float:
        """Size of the matrix W."""
        return float(np.abs(self.banded.diagonal()).max())

    @property
    def kernel(self) -> Floats:
        """Orthonormal basis of all known kernels in the class."""
        return np.concatenate([self.mass, self.rotations], axis=1)

    def symmetric(self, kernel: Floats) -> tuple[Floats, Floats]:
        """Return R and R C R^T/D with the span of some columns, a known kernel, moved up to the size of W."""
        witten, modes = self.witten, self.modes
        if kernel.size:
            image = witten @ kernel
            image -= 0.5 * kernel @ (kernel.T @ image + self.top * np.eye(kernel.shape[1]))
            modes = modes - kernel @ (kernel.T @ modes)
            witten = witten - kernel @ image.T - image @ kernel.T
        factor = self._root(witten)
        moved = factor @ modes
        return factor, np.asarray(factor @ factor.T - (moved * self.lambdas) @ moved.T)

    def _root(self, witten: Floats) -> Floats:
        """Return the Cholesky factor of W, shifted by the size of its rounding if it is not positive definite."""
        try:
            factor = scipy.linalg.cholesky(witten, check_finite=False)
        except np.linalg.LinAlgError:
            lift = SAFETY * EPS * self.top * self.table.size
            factor = scipy.linalg.cholesky(witten + lift * np.eye(self.table.size), check_finite=False)
        return np.asarray(factor)

    def lowest(self, count: int) -> list[Pair]:
        """Return the pairs of the ``count`` lowest rates, ascending, rotations excluded."""
        factor, matrix = self.symmetric(self.kernel)
        values, vectors = lowest_vectors(matrix, min(count, self.table.size))
        x = scipy.linalg.solve_triangular(factor, vectors, check_finite=False)
        y = factor.T @ vectors
        return [Pair(float(level), x[:, k], y[:, k]) for k, level in enumerate(values)]

    def slowest(self, bound: float, beside: float = np.inf) -> Pair:
        """Return the pair of the lowest rate, rotations excluded.

        It is faster if an estimated bound is not far below or, where there is none, if the rate beside is that of
        another class.
        """
        if self.table.size <= SMALL:
            x = self.lowest(1)[0].x
        else:
            growth = max(FIRST_SHIFT, -BEYOND_KNOWN * beside)
            inverse = _inverse_below(self, max(-bound, LEAST_SHIFT) if np.isfinite(bound) else growth)
            # What is left of other eigenvectors is small, but of rates as large as they are: once more the inverse.
            x = inverse(_largest(inverse))
        pair = self.pair(x)
        # Otherwise W is singular to rounding.
        return self.lowest(1)[0] if pair is None else pair

    def pair(self, x: Floats) -> Pair | None:
        """Return the pair of a multiple of a vector with its Rayleigh quotient, None if rounding hides Wx."""
        y = self.banded @ x
        y -= self.kernel @ (self.kernel.T @ y)
        square = float(x @ y)
        if not square > SAFETY * EPS * self.top * float(x @ x):
            return None
        x, y = x / math.sqrt(square), y / math.sqrt(square)
        attracted = self.modes.T @ y
        return Pair(float(y @ y - (self.lambdas * attracted) @ attracted), x, y)

    def next_to(self, pair: Pair) -> Pair | None:
        """Return the pair of the lowest rate but that of a pair; None if there is none, or rounding hides it."""
        if self.table.size - self.kernel.shape[1] < 2:
            return None
        return self.pair(_largest(_inverse_below(self, LEAST_SHIFT), pair))

    def none_below(self, level: float) -> bool:
        """Return whether no rate of the class is below a positive level, by inertia; false if this is not known."""
        if self.mass.size:
            # W takes the root of the density to nothing, so W minus the level is not definite.
            return False
        try:
            _Inverse(self, -level)
        except np.linalg.LinAlgError:
            return False
        return True

    def faster_growth(self, growth: float) -> float:
        """Return a lower bound of the fastest growth in the class if it exceeds a positive growth, else zero."""
        try:
            _Inverse(self, growth)
        except _FasterGrowth as faster:
            return max(growth, faster.growth)
        except np.linalg.LinAlgError:
            # W is not positive to rounding, and nothing is counted.
            return growth
        return 0.0

    def rounding(self, pair: Pair) -> float:
        """Return a first-order bound of the rounding error of a rate, without that of an eigenvalue solver."""
        of_witten = abs(pair.level) * self.top * float(pair.x @ pair.x)
        return SAFETY * EPS * (of_witten + self.coupled * float(pair.y @ pair.y))

    @cached_property
    def strongest(self) -> NDArray[np.bool_]:
        """The modes without the weakest, whose parts of the interaction have the trace ``LEFT_OUT`` together."""
        traces = np.abs(self.lambdas) * np.einsum("ij,ij->j", self.modes, self.modes)
        order = np.argsort(traces)
        kept = np.empty(traces.size, dtype=bool)
        kept[order] = np.cumsum(traces[order]) > LEFT_OUT
        return kept

    @cached_property
    def coupled(self) -> float:
        """Bound of the norm of C/D and its parts."""
        scaled = self.modes * np.sqrt(np.abs(self.lambdas))
        return 1.0 + float(np.abs(scaled.T @ scaled).sum(axis=1).max(initial=0.0))

    def truncation(self, pair: Pair) -> float:
        """Return the change of a rate by the truncated harmonics, to leading order."""
        whole, degree = self.whole, self.whole.degree
        transform, values = whole.transform, whole.values
        beyond = self._beyond(values.potential * transform.synthesise(*self.table.spread(pair.x, degree)))
        weighted = values.root * transform.synthesise(*self.table.spread(pair.y, degree))
        cosine, sine = transform.analyse(weighted)
        factors = whole.field.interaction.attractions(degree)[transform.degrees]
        attracted = self._beyond(values.root * transform.synthesise(factors * cosine, factors * sine))
        changed = abs(pair.level) * beyond / ((degree + 1.0) * (degree + 2.0)) + attracted
        if whole.unlisted > EPS:
            changed += whole.unlisted * self._beyond(weighted)
        return changed

    def _beyond(self, values: Floats) -> float:
        """Return the mean square of the part of values on the grid beyond the last degree."""
        transform = self.whole.transform
        cosine, sine = transform.analyse(values)
        factors = transform.multiplicities
        rest = values - transform.synthesise(factors * cosine, factors * sine)
        return transform.mean(rest * rest)


def lowest_vectors(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the lowest eigenvalues of a symmetric matrix, ascending, and their vectors as columns."""
    if matrix.shape[0] > DENSE and count < DENSE // 4:
        return lowest_pairs(matrix, count)
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(0, count - 1), check_finite=False)
    return values, vectors


class _FasterGrowth(np.linalg.LinAlgError):
    """There are rates below minus the shift, and below minus this growth as well."""

    def __init__(self, growth: float) -> None:
        super().__init__()
        self.growth = growth


class _Inverse:
    """The map x -> (CW + s)^{-1} x off the known kernels of a class.

    Parameters
    ----------
    block
        The matrices of the class.
    shift
        s; negative ones need W + s to be positive definite.

    Raises
    ------
    numpy.linalg.LinAlgError
        If there are rates below -s, or W + s is not positive definite to rounding.
    """

    def __init__(self, block: ClassMatrices, shift: float) -> None:
        self.shift, self.size = shift, block.table.size
        self._banded, self._kernel = block.banded, block.kernel
        self._factor = Factor(block.banded, shift)
        kept = block.strongest
        self._columns = self._off(block.modes[:, kept] * np.sqrt(np.abs(block.lambdas[kept])))
        signs = np.sign(block.lambdas[kept])
        # With W + s = R^T R on all functions, R^{-T} of the columns gives their products under its inverse; off the
        # kernels if it is off R^{-T} of these.
        reduced = self._factor.reduce(np.concatenate([self._kernel, self._columns], axis=1))
        known, moved = np.split(reduced, [self._kernel.shape[1]], axis=1)
        self._known = np.linalg.qr(known)[0]
        moved -= self._known @ (self._known.T @ moved)
        # V^T W P is V^T V - s V^T P.
        matrix = np.diag(signs) - self._columns.T @ self._columns + shift * (moved.T @ moved)
        self._inner = factorised(matrix.copy())
        if self._inner.negative > np.count_nonzero(signs < 0.0):
            values, vectors = np.linalg.eigh(matrix)
            raise _FasterGrowth(self._growth(signs, vectors[:, values <= 0.0]))
        if self._inner.solve is None:
            raise np.linalg.LinAlgError

    def _growth(self, signs: Floats, tried: Floats) -> float:
        """Return the largest of minus the Rayleigh quotients of some combinations of (W + s)^{-1} V."""
        x = self._solved(self._columns @ tried)
        y = self._columns @ tried - self.shift * x
        levels = np.sum(y * y, axis=0) - signs @ (self._columns.T @ y) ** 2
        return float(np.max(-levels / np.sum(x * y, axis=0)))

    def __call__(self, vector: Floats) -> Floats:
        assert self._inner.solve is not None
        right = self._columns.T @ (vector - self.shift * self._solved(vector))
        return self._solved(vector + self._columns @ self._inner.solve(right[:, np.newaxis])[:, 0])

    def witten(self, vector: Floats) -> Floats:
        """Return W times a vector x."""
        return self._off(self._banded @ vector)

    def _off(self, columns: Floats) -> Floats:
        """Return columns projected off the known kernels."""
        return np.asarray(columns - self._kernel @ (self._kernel.T @ columns))

    def _solved(self, columns: Floats) -> Floats:
        """Return the solutions of (W + s) x = b off the known kernels."""
        reduced = self._factor.reduce(columns)
        return self._factor.expand(reduced - self._known @ (self._known.T @ reduced))


def _inverse_below(block: ClassMatrices, shift: float) -> _Inverse:
    """Return (CW + s)^{-1}, s the first of increasing shifts for which no rate is below -s."""
    while True:
        try:
            return _Inverse(block, shift)
        except np.linalg.LinAlgError as error:
            # No rate is beyond the norm of the matrices, unless they are not finite.
            largest = block.top * block.table.size * block.coupled
            if shift > largest:
                raise
            known = error.growth if isinstance(error, _FasterGrowth) else 0.0
            shift = max(FIRST_SHIFT, SHIFT_GROWTH * shift, min(BEYOND_KNOWN * known, largest))


def _largest(inverse: _Inverse, but: Pair | None = None) -> Floats:
    """Return the eigenvector x of the largest eigenvalue of (CW + s)^{-1}, <x, Wx> = 1, by Lanczos.

    With a pair, that of the largest but its own.
    """
    size = inverse.size
    basis, images, projected = np.empty((size, size)), np.empty((size, size)), np.zeros((size, size))
    vector = inverse(np.random.default_rng(0).standard_normal(size))
    for step in range(size):
        if but is not None:
            vector -= (but.y @ vector) * but.x
        image = inverse.witten(vector)
        length = np.sqrt(vector @ image)
        basis[step], images[step] = vector / length, image / length
        vector = inverse(basis[step])
        known, tested = basis[: step + 1], images[: step + 1]
        projected[: step + 1, step] = tested @ vector
        vector -= projected[: step + 1, step] @ known
        vector -= (tested @ vector) @ known
        largest, coefficients = last_pair(projected[: step + 1, : step + 1])
        # An eigenvalue is as near as the residual is long. Its square over the gap to the next Ritz value bounds no
        # error: where rates nearly agree one Ritz value stands for several.
        residual = np.sqrt(max(float(vector @ inverse.witten(vector)), 0.0)) * abs(coefficients[-1])
        if residual <= max(SOLVED * abs(1.0 - inverse.shift * largest), SAFETY * EPS) * largest:
            break
    return np.asarray(coefficients @ known)
