r"""Axisymmetric densities on :math:`S^{d-1}`: the polynomials :math:`P_l` of :math:`u = \langle x, e\rangle`.

Densities that are even about the equator have even degrees only; everything is then computed on the northern half.
Fields are dense sums over a Gauss rule, whose weights enter large fields as logarithms, so that neither the
concentrated states of high dimensions nor the tiny weights there leave the range of double precision.
"""

import copy
import functools
import math
from typing import NamedTuple

import numpy as np

from meanfield import Domain, InvalidInput
from meanfield.harmonics import Modes, Rule, gauss_rule, modes_of, multiplicities, polynomials, polynomials_at

from .base import (
    EPS,
    LARGE_FIELD,
    RESOLUTION_TOLERANCE,
    SMALL_FIELD,
    Basis,
    Floats,
    Gibbs,
    Integers,
    Longs,
    exp_beyond_quadratic,
    multiples,
    slice_of,
)
from .gegenbauer import even_rule, polynomial_table
from .limits import MAX_UNKNOWNS, MAX_ZONAL_NODES
from .products import Products, products_of


class ZonalBasis(Basis):
    """The polynomials P_n, P_2n, ... with n = ``symmetry``, on a Gauss rule.

    The rule has 9/8 as many nodes as degrees are resolved: where the last eighth of the moments is at rounding,
    it is then exact for all the moments of a density in up to about fifty dimensions. In more, P_l is so small
    away from the poles that the moments of an equatorial density say nothing about its resolution, and
    :meth:`agrees` is the test.

    Parameters
    ----------
    domain
        The sphere.
    cells : (size,) int
        The unknown modes, in units of the symmetry: degree = symmetry * cell.
    nodes
        Largest resolved cell; at least twice the largest cell.
    symmetry
        1 for all degrees, 2 for even degrees only.
    confinement : (J,) float, optional
        Coefficients in P_l, per cell from 1, of the fixed part -V/D of the field.

    Attributes
    ----------
    rule : Rule
        Nodes and weights; for symmetry 2 the northern half, weights doubled.
    """

    even: bool = True
    most_nodes: int = MAX_ZONAL_NODES
    axis: float = 0.0
    most_cells: int = MAX_UNKNOWNS
    needs_second_rule: bool = True

    def __init__(
        self,
        domain: Domain,
        cells: Integers,
        nodes: int,
        symmetry: int = 1,
        confinement: Floats | None = None,
    ) -> None:
        if symmetry not in (1, 2):
            raise InvalidInput(
                f"zonal densities have symmetry 1, or 2 where they are even about the equator, not {symmetry}"
            )
        self.domain = domain
        self.modes: Modes = modes_of(domain)
        self.cells = cells
        self.symmetry = symmetry
        self.degrees = symmetry * cells
        self.squares = np.array([1.0 / domain.multiplicity(degree) for degree in self.degrees.tolist()])
        self.nodes = nodes
        self.confinement = confinement
        self._modes = slice_of(cells)
        self._count = nodes + nodes // 8 + 1
        self._sampled = self._sample(self._count, nodes)
        self.rule = self._sampled.rule

    def _sample(self, count: int, cells: int) -> "_Sampled":
        """Return the polynomials up to a cell, the modes and the field -V/D on the rule with a number of nodes."""
        dimension, symmetry = self.domain.dimension, self.symmetry
        rule = gauss_rule(dimension, count) if symmetry == 1 else even_rule(dimension, count)
        table = polynomial_table(dimension, count, symmetry * cells, symmetry)
        fixed = None
        if self.confinement is not None:
            significant = min(self.confinement.size, cells)
            fixed = self.confinement[:significant] @ table[1 : significant + 1]
        return _Sampled(rule, table, np.ascontiguousarray(table[self._modes].T), fixed)

    @property
    def polynomials(self) -> Floats:
        """P_l on the nodes for every resolved cell from 0, shape (nodes + 1, n)."""
        return self._sampled.polynomials

    @property
    def profiles(self) -> "ZonalBasis":
        """The basis itself."""
        return self

    @property
    def axial(self) -> "ZonalBasis":
        """The basis itself."""
        return self

    @property
    def extent(self) -> float:
        """The angle from pole to pole, or to the equator of densities that are even about it."""
        return math.pi / self.symmetry

    @property
    def angles(self) -> Floats:
        """The angles of the nodes from the axis."""
        return self.rule.polar

    @property
    def weights(self) -> Floats:
        """The weights of the rule."""
        return self.rule.weights

    def modes_at(self, angles: Floats) -> tuple[Floats, Floats]:
        """Return the modes at angles and their derivatives by the angle, (size, n) each.

        Those of P_l are -l (l + d - 2)/(d - 1) sin(theta) P_(l-1), this in the dimension d + 2.
        """
        dimension, last = self.domain.dimension, int(self.degrees.max())
        factors = self.degrees * (self.degrees + dimension - 2.0) / (dimension - 1.0)
        raised = polynomials_at(last - 1, dimension + 2, angles)[self.degrees - 1]
        values: Floats = polynomials_at(last, dimension, angles)[self.degrees]
        return values, -factors[:, None] * np.sin(angles) * raised

    def resized(self, cells: Integers, nodes: int) -> "ZonalBasis":
        """Return the same basis with other cells and another number of nodes."""
        return ZonalBasis(self.domain, cells, nodes, self.symmetry, self.confinement)

    def confined(self, confinement: Floats) -> "ZonalBasis":
        """Return the same basis in another confinement."""
        basis = copy.copy(self)
        basis.confinement, basis._sampled = confinement, self._sampled.confined(confinement)
        if "_second" in vars(self):
            basis._second = self._second.confined(confinement)
        return basis

    def admissible(self, limit: int) -> Integers:
        """Return the degrees up to a limit that densities of the symmetry can have."""
        return multiples(self.symmetry, limit)

    def gibbs(self, field: Floats) -> Gibbs:
        """Return moments 0..nodes and the logarithm of Z, the uniform mean of e^f."""
        return self._sampled.gibbs(field)

    @property
    def confining(self) -> Floats | None:
        """The field of the confinement on the nodes; None if there is none."""
        return self._sampled.fixed

    def synthesise(self, field: Floats) -> Floats:
        """Return the values of a sum of modes on the nodes."""
        return np.asarray(self._sampled.modes @ field)

    def analyse(self, values: Floats) -> Floats:
        """Return the uniform means of values on the nodes times the polynomials of cells 0..nodes."""
        return np.asarray(self._sampled.polynomials @ (self.rule.weights * values))

    def fine_table(self) -> tuple[Longs, Longs] | None:
        """Return the modes on the nodes, (size, n), and multiples of the nodes' shares, in extended precision.

        The shares are the Christoffel numbers 1/sum_l N_l P_l^2 over the degrees below the number of nodes.
        """
        last = self.symmetry * self._count - 1
        table = polynomials(self.domain.dimension, self.rule, last, np.longdouble)
        return table[self.degrees], 1.0 / (multiplicities(self.domain, last) @ table**2)

    def masses(self, field: Floats) -> Floats:
        """Return the masses of the nodes under the Gibbs density of a field, (n,) with sum one."""
        values = self._sampled.values(field)
        masses, _ = self._sampled.exponentiated(values, float(values.max()))
        masses /= masses.sum()
        return masses

    def response(self, field: Floats, change: Floats) -> Floats:
        """Return the derivative of the moments of the Gibbs density of a field along a change of the field."""
        masses = self.masses(field)
        values = self._sampled.modes @ change
        values -= masses @ values
        values *= masses
        return self._sampled.polynomials @ values

    def mean_beyond_quadratic(self, field: Floats) -> float:
        """Return the uniform mean of e^f - 1 - f - f^2/2, without cancellation for small fields."""
        return float(self.rule.weights @ exp_beyond_quadratic(self._sampled.modes @ field))

    def means(self, moments: Floats) -> Floats:
        """Return the means of the modes."""
        means: Floats = moments[self._modes]
        return means

    @functools.cached_property
    def _products(self) -> Products:
        return products_of(self.domain.dimension, self.degrees, self.symmetry)

    def covariance(self, moments: Floats) -> Floats:
        """Return the covariance matrix of the modes."""
        means = moments[self._modes]
        matrix = self._products(moments)
        matrix -= np.multiply.outer(means, means)
        return matrix

    def rotation(self, moments: Floats) -> None:
        """Return None, since rotations of a density about a fixed axis leave the basis."""
        return

    def images(self, b: Floats) -> list[Floats]:
        """Return a state and its mirror image in the equator, unless it is even or confined."""
        if self.confinement is not None or self.symmetry == 2:
            return [b]
        return [b, np.where(self.degrees % 2 == 1, -b, b)]

    @functools.cached_property
    def _second(self) -> "_Sampled":
        """Modes, and all moments their covariances need, on a rule with half as many nodes again."""
        significant = 0 if self.confinement is None else 1 + int(np.flatnonzero(self.confinement).max(initial=-1))
        return self._sample(3 * self._count // 2, max(2 * int(self.cells[-1]), significant))

    def agrees(self, field: Floats, moments: Floats) -> bool:
        """Return whether a rule with half as many nodes again gives the same means and covariances within rounding.

        The rounding of a field f itself, eps max |f| in each value, is allowed for.
        """
        second = self._second
        largest = float(np.abs(second.values(field)).max())
        count = min(2 * int(self.cells[-1]) + 1, moments.size)
        difference = np.abs(second.gibbs(field).moments[:count] - moments[:count])
        return bool(difference.max() <= max(RESOLUTION_TOLERANCE, EPS * largest))

    def moments_from(self, cosine: Floats, sine: Floats) -> Floats:
        """Return moments by cell from those by degree, zero-padded to ``nodes + 1``."""
        moments = np.zeros(self.nodes + 1)
        cells = cosine[:: self.symmetry][: self.nodes + 1]
        moments[: cells.size] = cells
        return moments

    def expand(self, moments: Floats) -> tuple[Floats, Floats]:
        """Return moments of every degree from 0 to symmetry * nodes, and zeros."""
        zonal = np.zeros(self.symmetry * self.nodes + 1)
        zonal[:: self.symmetry] = moments
        return zonal, np.zeros_like(zonal)

    def tail(self, moments: Floats) -> float:
        """Return the largest modulus of the last eighth of the moments."""
        return float(np.abs(moments[-(self.nodes // 8) :]).max())


class _Sampled(NamedTuple):
    """Polynomials (degrees, n), modes (n, size) and the fixed part of the field on the nodes of a rule."""

    rule: Rule
    polynomials: Floats
    modes: Floats
    fixed: Floats | None

    def confined(self, confinement: Floats) -> "_Sampled":
        """Return the same values with another fixed part of the field, by its coefficients from degree one."""
        count = min(confinement.size, len(self.polynomials) - 1)
        return self._replace(fixed=confinement[:count] @ self.polynomials[1 : count + 1])

    def values(self, field: Floats) -> Floats:
        """Return a field at the nodes."""
        values: Floats = self.modes @ field
        if self.fixed is not None:
            values += self.fixed
        return values

    def gibbs(self, field: Floats) -> Gibbs:
        """Return the moments of all polynomials under the Gibbs density of a field, and log Z."""
        values = self.values(field)
        top = values.item(values.argmax())
        if top < SMALL_FIELD and values.item(values.argmin()) > -SMALL_FIELD:
            return self._near_uniform(values)
        masses, shift = self.exponentiated(values, top)
        moments = self.polynomials @ masses
        mass = moments.item(0)
        moments /= mass
        return Gibbs(moments, shift + math.log(mass))

    def exponentiated(self, values: Floats, top: float) -> tuple[Floats, float]:
        """Return weight times e^(f - shift) at each node, in place of the values, and the shift."""
        if top <= LARGE_FIELD:
            np.exp(values, out=values)
            values *= self.rule.weights
            return values, 0.0
        values += self.rule.log_weights
        top = float(values.max())
        values -= top
        np.exp(values, out=values)
        return values, top

    def _near_uniform(self, values: Floats) -> Gibbs:
        """Return the Gibbs density from e^f - 1, with moments accurate relative to f, however small f is."""
        np.expm1(values, out=values)
        values *= self.rule.weights
        moments = self.polynomials @ values
        excess = moments.item(0)
        moments /= 1.0 + excess
        moments[0] = 1.0
        return Gibbs(moments, math.log1p(excess))
