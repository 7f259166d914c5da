r"""Densities on spheres on the points of a grid, many at a time: Newton's method and relaxations from many starts.

The unknowns are the moments :math:`a_i = \langle e_i\rangle` of the harmonics of some symmetry. With
:math:`\lambda_i = -\kappa w_i/D` the equation is

.. math:: a = \langle e\rangle_f, \qquad f = \sum_i \lambda_i a_i e_i - V/D,

and its Jacobian, made symmetric by :math:`A = |\lambda|^{1/2}` and the signs :math:`\sigma` of :math:`\lambda`, is
:math:`\sigma - \sigma A\,\mathrm{Cov}\,A\sigma`. Rotations within the symmetry leave the energy invariant, so the
residual is orthogonal to them, and the dyads of their generators, added to the Jacobian, keep Newton's steps from
turning a state. A grid that does not resolve a state holds it where it stands: what is left of the residual along
the generators there is an error of the grid, and is taken off.
"""

import functools

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..bases import LARGE_FIELD, Floats, Integers
from ..equations.softmax import FLOOR
from ..root_finding.batched import newton, parts, relaxed, solutions
from .points import Field, Harmonics
from .rotations import Rotations, across
from .tabulated import Functions

# Entries of the arrays that are worked on at once: they stay in the cache.
BATCH = 400_000
# Steps longer than the first, in moments, are cut. An iteration ends at a step s shorter than the second if the
# next, s^2 over the one before by linear extrapolation, is shorter than the third; Newton's is shorter still.
LONGEST, CLOSE, NEXT = 0.5, 1e-5, 1e-7
# States of large indices have small basins, to which starts find after long ways: on the sphere a fifteenth of all
# states of degrees to 8 are met so only.
ITERATIONS = 60
# Corrections by the Jacobian of a coarser grid, each of which leaves a share of the last, and when they are short:
# a state is then polished on a grid with all degrees in one step.
CORRECTIONS, CORRECTED = 14, 1e-12
RELAXATIONS = 60
# Amplitudes of random fields, as powers of ten in units of the root mean square of the harmonics.
AMPLITUDES = (-0.8, 0.9)


class Sampled:
    """Gibbs densities of fields on some harmonics, many at a time.

    Parameters
    ----------
    harmonics
        The unknowns and the rule.
    field
        What acts on the densities.
    """

    def __init__(self, harmonics: Harmonics, field: Field) -> None:
        self.degrees = harmonics.degrees
        self._amplitudes: Floats = 1.0 / np.sqrt(harmonics.squares)
        fixed = harmonics.log_weights
        if harmonics.fixed is not None:
            fixed = fixed + harmonics.fixed
        self._fixed: Floats = fixed
        self._largest = float(np.abs(fixed).max())
        self._firsts = np.unique(self.degrees, return_index=True)[1]
        self._functions = harmonics.functions
        self._field = field
        self.turnings = harmonics.turnings
        self.broken = Rotations(harmonics.broken) if harmonics.broken else None
        self._harmonics = harmonics
        self._strengths: Floats = field.strengths[self.degrees]
        self._signs, self._roots = np.sign(self._strengths), np.sqrt(np.abs(self._strengths))
        self._scaled: Floats = self._roots * self._signs

    @functools.cached_property
    def _products(self) -> tuple[Functions, csr_array | None]:
        """The functions whose means give those of products, and the map from these to the upper Jacobian."""
        functions, couplings = self._harmonics.products()
        if couplings is not None:
            factors = np.multiply.outer(-self._scaled, self._scaled)
            upper = np.triu(np.ones(factors.shape, dtype=bool)).ravel()
            couplings = csr_array(factors.ravel()[upper, None] * couplings[upper])
        return functions, couplings

    @functools.cached_property
    def _unfolded(self) -> Integers:
        """Indices of the entries of a symmetric matrix in its upper triangle."""
        size = self.degrees.size
        rows, columns = np.triu_indices(size)
        places = np.empty((size, size), dtype=np.int64)
        places[rows, columns] = places[columns, rows] = np.arange(rows.size)
        return places.ravel()

    @property
    def attractive(self) -> float:
        """Number of attractive harmonics, those not critical at the uniform density counted by their share."""
        return float(np.clip(self._strengths / self._amplitudes**2, 0.0, 1.0).sum())

    @property
    def work(self) -> float:
        """Number of multiplications in a step of Newton's method with dense sums over the functions in products."""
        functions, couplings = self._products
        size = self.degrees.size
        coupled = 0 if couplings is None else functions.count * size**2
        return float(functions.count * self._fixed.size + coupled + size**3)

    def random(self, generator: np.random.Generator, count: int) -> Floats:
        """Return the moments of Gibbs densities of random fields, of few and many modes, weak and strong."""
        size = self.degrees.size
        coefficients = generator.standard_normal((count, size)) * (generator.uniform(size=(count, size)) < 0.5)
        coefficients *= 10.0 ** generator.uniform(*AMPLITUDES, (count, 1)) * self._amplitudes
        return self._means(coefficients)[0]

    def relaxed(self, moments: Floats) -> Floats:
        """Return moments after relaxation steps that lower the free energy."""
        return relaxed(moments * self._strengths, self._strengths, self._described, RELAXATIONS)[0]

    def _described(self, fields: Floats) -> tuple[Floats, Floats]:
        """Return the moments and F/D, up to a constant, of the Gibbs densities of fields."""
        moments, log_partition = self._means(fields)
        return moments, (fields * moments).sum(axis=1) - log_partition - 0.5 * moments**2 @ self._strengths

    def solved(self, moments: Floats) -> tuple[Integers, Floats]:
        """Return the rows of moments from which Newton's method converges, and the states."""
        return newton(moments, self._advanced, self._entries, BATCH, ITERATIONS)

    def _advanced(self, moments: Floats, last: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        step = self._step(moments)
        length = np.linalg.norm(step, axis=1)
        if self.broken is None:
            moved = moments + step * np.minimum(1.0, LONGEST / np.maximum(length, LONGEST))[:, None]
        else:
            moved = self.broken.moved(moments, step, LONGEST)
        return moved, length, (length < CLOSE) & (length**2 < NEXT * last)

    def corrected(self, moments: Floats, coarse: "Sampled") -> tuple[NDArray[np.bool_], Floats]:
        """Return which states of a coarser grid converge here by steps with its Jacobians, and the states."""
        moments, settled = moments.copy(), np.zeros(len(moments), dtype=bool)
        for part in parts(np.arange(len(moments)), coarse._entries, BATCH):
            _, jacobians, _ = coarse._linearised(moments[part])
            running = np.arange(part.size)
            for _ in range(CORRECTIONS):
                ahead = moments[part[running]]
                residuals = self._scaled * (self._means(ahead * self._strengths)[0] - ahead)
                step = solutions(jacobians[running], residuals) / self._roots
                moments[part[running]] += step
                length = np.linalg.norm(step, axis=1)
                settled[part[running]] = length < CORRECTED
                running = running[(length >= CORRECTED) & (length < LONGEST)]
        return settled, moments

    @property
    def _entries(self) -> int:
        return int(self._fixed.size) + self.degrees.size**2

    def _step(self, moments: Floats) -> Floats:
        """Return Newton's steps at rows of moments."""
        means, jacobians, turned = self._linearised(moments)
        residuals = self._scaled * (means - moments)
        return solutions(jacobians, across(turned, residuals) if self.turnings else residuals) / self._roots

    def _linearised(self, moments: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the means under Gibbs densities of the fields of moments, the Jacobians, and generators."""
        masses, _ = self._gibbs(moments * self._strengths)
        size = self.degrees.size
        sums = self._products[0].means(masses)
        sums = sums / sums[:, :1]
        means = sums[:, 1 : size + 1]
        jacobians, turned = self._jacobians(moments, sums, means)
        return means, jacobians, turned

    def _jacobians(self, moments: Floats, sums: Floats, means: Floats) -> tuple[Floats, Floats]:
        """Return the Jacobians, and generators, from sums over the response of densities and their own means."""
        size = self.degrees.size
        _, couplings = self._products
        if couplings is None:
            products = sums[:, size + 1 :] * np.multiply.outer(-self._scaled, self._scaled).ravel()
        else:
            products = np.ascontiguousarray((couplings @ sums.T).T)[:, self._unfolded]
        left, right = np.empty((2, len(moments), 1 + len(self.turnings), size))
        left[:, 0], right[:, 0] = self._scaled * means, self._scaled * sums[:, 1 : size + 1]
        lengths = np.sqrt(np.maximum((moments**2).sum(axis=1, keepdims=True), np.finfo(float).tiny))
        for place, turning in enumerate(self.turnings, 1):
            left[:, place] = right[:, place] = self._roots * (moments @ turning.T) / lengths
        jacobians = left.transpose(0, 2, 1) @ right
        jacobians += products.reshape(-1, size, size)
        jacobians.reshape(-1, size**2)[:, :: size + 1] += self._signs
        return jacobians, left[:, 1:]

    def _gibbs(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return multiples of the masses of the Gibbs densities of fields, row by row, and the shift of log Z."""
        values = self._drift(self._functions.sums(coefficients))
        values += self._fixed
        # The squares of the harmonics of a degree sum up to one: fields are at most as large as their coefficients.
        lengths = np.sqrt(np.add.reduceat(coefficients**2, self._firsts, axis=1)).sum(axis=1)
        if lengths.max(initial=0.0) + self._largest < LARGE_FIELD:
            return np.exp(values, out=values), np.zeros(len(values))
        top = values.max(axis=1, initial=-np.inf)
        values -= top[:, None]
        return np.exp(values, out=values), top

    def _drift(self, values: Floats) -> Floats:
        """Return the field of the law from the sums of the harmonics."""
        return values

    def _means(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """Return the moments of the Gibbs densities of fields, a row for each row of coefficients, and log Z."""
        means, logarithms = np.empty(coefficients.shape), np.empty(len(coefficients))
        for part in parts(np.arange(len(coefficients)), self._entries, BATCH):
            masses, top = self._gibbs(coefficients[part])
            totals = masses.sum(axis=1)
            means[part] = self._functions.means(masses) / totals[:, None]
            logarithms[part] = top + np.log(totals)
        return means, logarithms

    def invariants(self, moments: Floats) -> Floats:
        """Return invariants of states: (F - F_uniform)/D, the length of the moments of each degree, and the place.

        The free energy is sum lambda a^2/2 - log Z, over the degrees of the harmonics. A confinement of strength h
        turns states to different places with energies and lengths that may differ by h^3 or less. These are told
        apart by their moments about its axis, or if it has none by the mean of its field, which differs by more.
        """
        count, placed = self._field.strengths.size, self._field.placed if self._field.holds else None
        found = np.zeros((len(moments), count + self._field.placing))
        found[:, 0] = 0.5 * (moments**2) @ self._strengths - self._means(moments * self._strengths)[1]
        for degree in np.unique(self.degrees).tolist():
            inside = self.degrees == degree
            found[:, degree] = np.linalg.norm(moments[:, inside], axis=1)
            if placed is not None and placed.zonal:
                found[:, count + degree] = np.abs(moments[:, inside] @ self._harmonics.axial[inside])
        if placed is not None and not placed.zonal:
            found[:, -1] = self._mean_confining(moments)
        return found

    def _mean_confining(self, moments: Floats) -> Floats:
        """Return the means of the field of the confinement over its size."""
        assert self._harmonics.fixed is not None
        means = np.empty(len(moments))
        for part in parts(np.arange(len(moments)), self._entries, BATCH):
            masses, _ = self._gibbs(moments[part] * self._strengths)
            means[part] = masses @ self._harmonics.fixed / masses.sum(axis=1)
        return means / self._field.confining_size


class SampledSoftmax(Sampled):
    """Densities proportional to u^p, u = 1 + sums of harmonics over p, see :mod:`solvers.equations.softmax`."""

    def _drift(self, values: Floats) -> Floats:
        """Return p log u."""
        assert self._field.exponent is not None
        return np.asarray(self._field.exponent * np.log(self._average(values)))

    def _average(self, values: Floats) -> Floats:
        """Return u from the sums of the harmonics."""
        assert self._field.exponent is not None
        return np.maximum(1.0 + values / self._field.exponent, FLOOR)

    def _linearised(self, moments: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the means under the densities, the Jacobians, which are not symmetric, and generators.

        Rotations are their kernel on both sides, for the mean of the derivative of u under a rotation is that of
        a power of u.
        """
        coefficients = moments * self._strengths
        masses, _ = self._gibbs(coefficients)
        masses /= masses.sum(axis=1, keepdims=True)
        means = self._functions.means(masses)
        masses /= self._average(self._functions.sums(coefficients))
        jacobians, turned = self._jacobians(moments, self._products[0].means(masses), means)
        return means, jacobians, turned

    def invariants(self, moments: Floats) -> Floats:
        """Return invariants of states: log Z in the place of the free energy, else those of other densities."""
        found = super().invariants(moments)
        found[:, 0] = self._means(moments * self._strengths)[1]
        return found


def sampled(harmonics: Harmonics, field: Field) -> Sampled:
    """Return the densities of a field on some harmonics."""
    return (Sampled if field.exponent is None else SampledSoftmax)(harmonics, field)
