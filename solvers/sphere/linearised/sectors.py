r"""The linearised equation in one azimuthal sector, on polynomials orthonormal under the density.

At :math:`\rho = e^f/Z` the linearisation is :math:`L = -AB`, :math:`A = -\mathrm{div}\,\rho\nabla`,
:math:`B = D/\rho + \kappa W*`. The chemical potential :math:`h = Bu` of a perturbation u obeys
:math:`\partial_t h = -BAh`. About a zonal state the functions :math:`h(u) Y(\omega)`, Y a harmonic of degree m
on :math:`S^{d-2}`, are invariant: the sector m. With :math:`\langle Y^2\rangle = 1` and functions
:math:`h_k` orthonormal under :math:`\rho`, the matrix of BA is CH,

.. math::

    H_{jk} &= \int \rho\,\Bigl[(1-u^2)\, h_j' h_k' + \frac{m(m+d-3)}{1-u^2}\, h_j h_k\Bigr], \qquad
    C = D\Bigl(1 - \sum_{l\ge m} \sigma_l\, v_l v_l^T\Bigr), \\
    v_{kl} &= \int \rho\, h_k\, \varphi_l^m, \qquad \sigma_l = -\kappa w_l/D = N_l\lambda_l,

where :math:`\varphi_l^m(u) Y(\omega)` are the harmonics of degree l, of uniform mean square
:math:`1/N_l`. Both factors are symmetric and H is positive, so the spectrum is real: that of
:math:`H^{1/2} C H^{1/2}`.

Here :math:`h_k = (1-u^2)^{m/2} \pi_k(u)` with the orthonormal polynomials of the discrete measure
:math:`\rho_i w_i (1-u_i^2)^m`, by Lanczos. However concentrated the density, few are enough: they are large
where it is; where it is negligible see :mod:`.vacuum`. H = Q^T Q is kept as its factor Q, whose singular values
are known to eps times the largest; their squares are the rates at which clusters exchange mass.

States of one equation on one grid are taken together: every array then has a leading axis, one row a state.

In sector 0 constants, the kernel of H, are left out: mass is conserved. In sector 1 the kernel of C is known:
turning the axis changes the density by :math:`\rho g`, :math:`g = \sqrt{1-u^2} f'(u)`, and Bu = 0 there.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from meanfield import State

from ...bases import Floats, Integers
from .fields import TAIL_TOLERANCE, ZonalField, exponent_of, field_of, starting_grid
from .grids import harmonics, last_functions, stepped
from .vacuum import NEGLIGIBLE_DENSITY, Vacuum

# Nodes whose share of the measure is below the exponential of this would underflow. Polynomials of a large degree
# have weight far outside the bulk of the density.
LIGHTEST = -1300.0


@dataclass(frozen=True, eq=False)
class SectorMatrices:
    """The matrices of one sector on r polynomials, and estimates of their truncation.

    Attributes
    ----------
    field
        The state.
    order : int
        m.
    heavy : (n,) int
        The nodes that carry the density, among those of the field.
    slopes : (2 n, r) float
        Q, the gradients of the h_k on the nodes, each times the root of its weight; (n, r) in sector 0.
    modes : (r, j) float
        The vectors v_l, l = m..L.
    strengths : (j,) float
        Their sigma_l.
    values, derivatives : (r, n) float
        The h_k on the nodes and (1-u^2)^(m/2) pi_k', times the root of the weight.
    roots : (n,) float
        The roots of the weights.
    shares : (j,) float
        Means of the squares of the phi_l^m, in sector 0 those of their means included.
    rotation : (r,) float or None
        Components of g, of length one; None if rotation of the state is not in the sector or changes the problem.
    missed : () float
        Bound of the interaction, in units of D, with functions orthogonal to the h_k.
    tail : () float
        Largest of the last coefficients that the nodes resolve of the last h_k times the root of the density.
    """

    field: ZonalField
    order: int
    heavy: Integers
    slopes: Floats
    modes: Floats
    strengths: Floats
    values: Floats
    derivatives: Floats
    roots: Floats
    shares: Floats
    rotation: Floats | None
    missed: Floats
    tail: Floats

    @cached_property
    def gram(self) -> Floats:
        """The matrix Q^T Q of H on the polynomials, in units of D."""
        return np.asarray(self.slopes.swapaxes(-1, -2) @ self.slopes)

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """Nodes on which the density is negligible, by the mass per angle, as a mask (n,)."""
        complements = self.field.rule.complements
        across = 0.5 * (self.field.dimension - 2) * np.log(complements * (2.0 - complements))
        logs = (self.field.log_density + across)[..., self.heavy]
        return np.asarray(logs < logs.max(axis=-1, keepdims=True) - NEGLIGIBLE_DENSITY)

    def in_vacuum(self, vectors: Floats) -> NDArray[np.bool_]:
        """Return which functions, in columns, are concentrated where the density is negligible, as a mask."""
        if not self.empty.any():
            return np.zeros(vectors.shape[1], dtype=bool)
        squares = np.square(vectors.T @ self.values)
        return np.asarray(squares[:, self.empty].sum(axis=1) > 0.5 * squares.sum(axis=1))

    def inner(self) -> Floats:
        """Return the matrix C/D."""
        coupled = (self.modes * self.strengths[..., None, :]) @ self.modes.swapaxes(-1, -2)
        return np.asarray(np.eye(coupled.shape[-1]) - coupled)

    def images(self, rows: Floats) -> Floats:
        """Return A h/rho on the nodes, times the root of the weight, of functions h in rows."""
        order, dimension, rule = self.order, self.field.dimension, self.field.rule
        nodes, complements = rule.nodes[self.heavy], rule.complements[self.heavy]
        across, drift = complements * (2.0 - complements), self.field.slope[..., None, self.heavy]
        function, first = rows @ self.values, rows @ self.derivatives
        # A derivative is a sum of the polynomials again.
        second = (first @ self.values.swapaxes(-1, -2)) @ self.derivatives
        slope = across * first - order * nodes * function
        own = order * (order + dimension - 2.0) * function
        return np.asarray((2 * order + dimension - 1) * nodes * first - across * second + own - drift * slope)

    def residuals(self, vectors: Floats, levels: Floats) -> Floats:
        """Return the norms of BAh/D - mu h under the density, h in columns, with parts beyond the polynomials."""
        rows, plain = vectors.swapaxes(-1, -2), self.roots[..., None, :]
        images = self.images(rows)
        functions = harmonics(self.field.grid, self.order, self.field.strengths.shape[-1] - 1)[:, self.heavy]
        attracted = ((images * plain) @ functions.T) * self.strengths[..., None, :]
        answer = (attracted @ functions) * plain
        if self.order == 0:
            answer -= (answer @ plain.swapaxes(-1, -2)) * plain / np.sum(plain**2, axis=-1, keepdims=True)
        rest = images - answer - levels[..., None] * (rows @ self.values)
        return np.asarray(np.linalg.norm(rest, axis=-1))


class SectorSource:
    """The sectors of one state, on few different rules.

    Parameters
    ----------
    state
        A zonal state.
    """

    def __init__(self, state: State) -> None:
        self._exponent = exponent_of(state)
        self.vacuum = Vacuum(self._exponent)
        self._fields: dict[int, ZonalField] = {}

    def sector(self, order: int, size: int) -> SectorMatrices:
        """Return a sector on polynomials of degree less than a size, on nodes that resolve them.

        Raises
        ------
        NotResolved
            If they need more nodes than are affordable.
        """
        polynomial = stepped(size + order)
        if polynomial not in self._fields:
            self._fields[polynomial] = field_of(self._exponent, starting_grid(self._exponent, polynomial))
        while True:
            field = self._fields[polynomial]
            if measure(field, order)[0].size > size:
                sector = sector_of(field, order, size)
                if sector.tail <= TAIL_TOLERANCE:
                    return sector
            finer = field.grid._replace(size=stepped(field.grid.size + 1))
            self._fields[polynomial] = field_of(self._exponent, finer)


def sector_of(field: ZonalField, order: int, size: int) -> SectorMatrices:
    """Return a sector on polynomials of degree less than a size.

    Parameters
    ----------
    field
        A state, on nodes enough for polynomials of degree ``size + order``.
    order
        m >= 0.
    size
        Number of polynomials, constants included.
    """
    heavy, weights = measure(field, order)
    nodes, complements = field.rule.nodes[heavy], field.rule.complements[heavy]
    sines = np.sqrt(complements * (2.0 - complements))
    values, first = _polynomials(_centred(nodes, complements, weights), weights, size)
    slopes = _gradients(field.dimension, order, nodes, sines, values, first)
    roots = weights / sines**order
    functions = harmonics(field.grid, order, field.strengths.shape[-1] - 1)[:, heavy]
    modes = (values * roots[..., None, :]) @ functions.T
    shares = roots**2 @ (functions**2).T
    last = np.abs(last_functions(field.grid, order, 0)[:, heavy] @ values[..., -1, :, None])
    rotates = order == 1 and field.rotates
    # In sector 0 without constants, the first polynomial.
    kept = slice(int(order == 0), None)
    return SectorMatrices(
        field,
        order,
        heavy,
        slopes[..., kept, :].swapaxes(-1, -2),
        modes[..., kept, :],
        field.strengths[..., order:],
        values[..., kept, :],
        first[..., kept, :],
        roots,
        shares,
        _unit((values @ (field.slope[..., heavy] * sines * roots)[..., None])[..., 0]) if rotates else None,
        _missed(field, order, shares - np.sum(modes**2, axis=-2)),
        last.max(axis=(-2, -1)),
    )


def _gradients(dimension: int, order: int, nodes: Floats, sines: Floats, values: Floats, first: Floats) -> Floats:
    """Return the gradients of functions on the nodes from (1-u^2)^(m/2) pi and (1-u^2)^(m/2) pi', m the order."""
    size = nodes.size
    gradients = np.empty((*values.shape[:-1], size * (1 + (order > 0))))
    along, around = gradients[..., :size], gradients[..., size:]
    np.multiply(sines, first, out=along)
    if order:
        # Fresh memory costs more than sums, so what is subtracted stands where the other part will.
        along -= np.multiply(order * nodes / sines, values, out=around)
        np.multiply(np.sqrt(order * (order + dimension - 3.0)) / sines, values, out=around)
    return gradients


def measure(field: ZonalField, order: int) -> tuple[Integers, Floats]:
    """Return the nodes on which the measure rho (1 - u^2)^m is not negligible, and the roots of its weights."""
    complements = field.rule.complements
    logs = field.log_density + field.rule.log_weights + order * np.log(complements * (2.0 - complements))
    carry = logs > logs.max(axis=-1, keepdims=True) + LIGHTEST
    heavy = np.flatnonzero(carry.reshape(-1, carry.shape[-1]).all(axis=0))
    return heavy, np.exp(0.5 * logs[..., heavy])


def _centred(nodes: Floats, complements: Floats, weights: Floats) -> Floats:
    """Return u less its mean, from 1 - u or 1 + u if the density is concentrated at a pole."""
    squares = weights**2
    squares /= squares.sum(axis=-1, keepdims=True)
    mean = (squares @ nodes)[..., None]
    side = np.sign(mean)
    distances = np.where(side * nodes > 0.0, complements, 2.0 - complements)
    beside = side * (np.sum(distances * squares, axis=-1, keepdims=True) - distances)
    return np.where(np.abs(mean) <= 0.5, nodes - mean, beside)


def _polynomials(position: Floats, weights: Floats, size: int) -> tuple[Floats, Floats]:
    """Return the orthonormal polynomials and their derivatives, times the root of the weight.

    Lanczos with each vector orthogonalised against all before, which changes the recurrence by rounding only.
    """
    # The degree comes first, so that what is added lies together.
    table = np.empty((size, 2, *position.shape))
    table[0, 0] = weights / np.linalg.norm(weights, axis=-1, keepdims=True)
    table[0, 1] = 0.0
    values, derivatives = (np.moveaxis(table[:, kind], 0, -2) for kind in (0, 1))
    norm: Floats | None = None
    for k in range(size - 1):
        here, known = table[k], values[..., : k + 1, :]
        after = np.multiply(position, here, out=table[k + 1])
        diagonal = _products(here[0], after[0])
        after -= diagonal * here
        if norm is not None:
            after -= norm * table[k - 1]
        # The recurrence of the derivatives is that of the polynomials, differentiated.
        after[1] += here[0]
        after[0] -= ((known @ after[0][..., None]).swapaxes(-1, -2) @ known)[..., 0, :]
        norm = np.sqrt(_products(after[0], after[0]))
        after /= norm
    return values, derivatives


def _products(one: Floats, other: Floats) -> Floats:
    """Return the products of vectors, (..., n), state by state, (..., 1)."""
    return np.asarray(np.vecdot(one, other)[..., None])


def accumulated(terms: Floats) -> Floats:
    """Return the cumulative sums of terms from 0, (..., n + 1)."""
    sums = np.zeros((*terms.shape[:-1], terms.shape[-1] + 1))
    np.cumsum(terms, axis=-1, out=sums[..., 1:])
    return sums


def _missed(field: ZonalField, order: int, squares: Floats) -> Floats:
    """Return a bound of sum sigma_l v_l v_l^T off the polynomials, by the squared lengths of the v_l on them.

    Up to some degree by its trace, beyond by max abs(lambda_l) times the peak of |S| rho; at the best degree.
    """
    traces = accumulated(np.abs(field.strengths[..., order:]) * np.maximum(squares, 0.0))
    return np.asarray(np.min(traces + field.beyond(order, np.abs(field.strengths)), axis=-1))


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / np.linalg.norm(vector, axis=-1, keepdims=True))
