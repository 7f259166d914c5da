r"""Means of products of two modes on S^2 under a density with known moments.

Products of modes of degree up to F have degrees up to 2F, so the density enters through its moments up to 2F only,
and is summed from them on a grid that integrates everything exactly. Two ways:

- on the points of a grid, one of each orbit of the symmetries that map the grid to itself: a product of tables,
  best where the group is large and the modes are few;
- ring by ring for all harmonics of the degrees at once: with the Fourier coefficients
  :math:`A_k, B_k(\theta) = \langle\rho\cos k\varphi\rangle, \langle\rho\sin k\varphi\rangle` along the ring,

  .. math::

      2\cos m\varphi\cos n\varphi \to A_{m-n} + A_{m+n}, \quad
      2\sin m\varphi\sin n\varphi \to A_{m-n} - A_{m+n}, \quad
      2\cos m\varphi\sin n\varphi \to B_{m+n} + B_{n-m},

  so that nothing is summed over azimuths.
"""

from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from meanfield.harmonics import gauss_rule, packed_size, place

from .base import Floats, Integers
from .legendre import legendre_tables, ring_tables
from .representations import Group
from .spherical import SphericalTransform

# Groups with fewer elements leave so many modes that their products are summed ring by ring.
MANY_ELEMENTS = 4


class SecondMoments(Protocol):
    """Protocol of functions from packed moments to the (size, size) means of products of modes."""

    def __call__(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the means of products under the density with given packed moments, up to twice the degree."""


def second_moments(group: Group, modes: csr_array, degrees: Integers) -> SecondMoments:
    """Return the function from packed moments to the means of products of modes, by points or by rings.

    Parameters
    ----------
    group
        The symmetry of the modes.
    modes : (size, 2 n) sparse
        The modes in packed harmonics up to a degree of at least the largest of ``degrees``, cosines first.
    degrees : (count,) int
        The degrees of the modes, each once.
    """
    if group.order >= MANY_ELEMENTS:
        return PointProducts(group, modes, int(degrees.max()))
    return RingProducts(modes, degrees, group.turns)


class PointProducts:
    """Products of modes tabulated on one point of each orbit of a grid."""

    def __init__(self, group: Group, modes: csr_array, degree: int) -> None:
        self._grid = SphericalTransform(2 * degree, symmetry=group.turns)
        self._places, shares = orbits(group, self._grid)
        self._weights = shares * np.repeat(self._grid.weights, self._grid.azimuths.size)[self._places]
        size = packed_size(2 * degree)
        self._table = np.empty((modes.shape[0], self._places.size))
        for row, mode in zip(self._table, modes.toarray(), strict=True):
            cosine, sine = (_resized(part, size) for part in np.split(mode, 2))
            row[:] = self._grid.synthesise(cosine, sine).ravel()[self._places]

    def __call__(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the (size, size) means of products of modes under the density with given packed moments."""
        factors = self._grid.multiplicities
        density = self._grid.synthesise(factors * cosine[: factors.size], factors * sine[: factors.size])
        return np.asarray((self._table * (self._weights * density.ravel()[self._places])) @ self._table.T)


def orbits(group: Group, grid: SphericalTransform) -> tuple[Integers, Floats]:
    """Return one point of each orbit of a grid under the part of a group that maps the grid to itself.

    Returns
    -------
    places : (count,) int
        Places in the raveled (rings, meridians) of one sector.
    shares : (count,) float
        The size of each orbit over the number of meridians of the sector; each orbit stays within a ring and its
        mirror image, so the mean of an invariant function is the sum of shares times ring weights times values.
    """
    rings, azimuths = grid.rings, grid.azimuths.size
    ring, place = np.divmod(np.arange(rings * azimuths), azimuths)
    first = np.arange(rings * azimuths)
    for element in group.elements[np.abs(np.abs(group.elements[:, 2, 2]) - 1.0) < 1e-9]:
        turn = np.arctan2(element[1, 0], element[0, 0]) * grid.meridians / (2.0 * np.pi)
        if abs(turn - round(turn)) > 1e-6:
            continue
        sense = round(np.linalg.det(element[:2, :2]))
        images = (sense * place + round(turn)) % azimuths
        first = np.minimum(first, (ring if element[2, 2] > 0 else rings - 1 - ring) * azimuths + images)
    places, counts = np.unique(first, return_counts=True)
    return places, counts / azimuths


class RingWaves:
    """Fourier coefficients along the rings of densities of a rotation symmetry, for products up to a degree.

    Parameters
    ----------
    top
        Largest degree of the factors.
    symmetry
        n of the rotation by 2 pi/n about the z axis under which the densities are invariant.
    """

    def __init__(self, top: int, symmetry: int) -> None:
        self.top = top
        self.symmetry = symmetry
        self.rings = 2 * top + 1
        self._tables = legendre_tables(2 * top, self.rings, symmetry)
        self._degrees = np.repeat(2.0 * np.arange(2 * top + 1) + 1.0, np.arange(1, 2 * top + 2))
        self._weights = gauss_rule(3, self.rings).weights

    def __call__(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the weighted A_k and B_k of packed moments on the rings, k = 0, n, 2n, ...: (count, rings, 2)."""
        cosine, sine = (_resized(part, self._degrees.size) for part in (cosine, sine))
        moments = np.stack([cosine, sine], axis=1)
        rows = self._tables.sum((self._degrees[:, None] * moments)[self._tables.places])
        rows[1:] *= 0.5
        rows *= self._weights[:, None]
        return rows


class ClassProducts:
    """Products of cosines, or of sines, of orders +-r modulo n, for densities even in the azimuth.

    Parameters
    ----------
    waves
        The coefficients of the densities, n their symmetry.
    degree, order : (size,) int
        The harmonics, sorted by order.
    sine : bool
        Whether they are sines.
    """

    def __init__(self, waves: RingWaves, degree: Integers, order: Integers, sine: bool) -> None:
        self._sign = -1.0 if sine else 1.0
        self._orders, starts = np.unique(order, return_index=True)
        self._blocks = [slice(*pair) for pair in pairwise([*starts.tolist(), order.size])]
        parts = zip(
            ring_tables(waves.top, self._orders, waves.rings), self._orders.tolist(), self._blocks, strict=True
        )
        tables = [table[:, degree[block] - m] for table, m, block in parts]
        self._table = np.ascontiguousarray(np.concatenate(tables, axis=1).T)
        self._block_of = np.repeat(np.arange(len(tables)), [table.shape[1] for table in tables])
        self._symmetry = waves.symmetry

    def __call__(self, waves: Floats) -> Floats:
        """Return the (size, size) means of products from the A_k on the rings, with a row of zeros behind them."""
        products = np.empty((self._table.shape[0], self._table.shape[0]))
        for order, block in zip(self._orders.tolist(), self._blocks, strict=True):
            total, difference = (
                waves[self._row(k, len(waves))] for k in (self._orders + order, self._orders - order)
            )
            weights = 0.5 * (difference + self._sign * total)
            products[block] = self._table[block] @ (self._table * weights[self._block_of]).T
        return products

    def _row(self, orders: Integers, rows: int) -> Integers:
        """Return the places of the A_k; those that vanish by symmetry are the last row."""
        return np.where(orders % self._symmetry == 0, np.abs(orders) // self._symmetry, rows - 1)


class RingProducts:
    """Products of all harmonics of some degrees, ring by ring, and of modes made of them."""

    def __init__(self, modes: csr_array, degrees: Integers, symmetry: int) -> None:
        top = int(degrees.max())
        self._waves = RingWaves(top, symmetry)
        columns, places, self._blocks = [], [], []
        start = 0
        orders = np.arange(0, top + 1, symmetry)
        for order, table in zip(orders.tolist(), ring_tables(top, orders, self._waves.rings), strict=True):
            here = degrees[degrees >= order]
            columns.append(table[:, here - order])
            places.append(place(here, order))
            self._blocks.append(slice(start, start + here.size))
            start += here.size
        self._table = np.concatenate(columns, axis=1)
        self._block_of = np.repeat(np.arange(len(columns)), [each.shape[1] for each in columns])
        where = np.concatenate(places)
        self._modes = modes[:, np.concatenate([where, modes.shape[1] // 2 + where])]

    def __call__(self, cosine: Floats, sine: Floats) -> Floats:
        """Return the (size, size) means of products of modes under the density with given packed moments."""
        waves = self._waves(cosine, sine)
        count = self._table.shape[1]
        products = np.empty((2, count, 2, count))
        for index, block in enumerate(self._blocks):
            both, across = self._combined(index, waves)
            left = self._table[:, block].T
            products[0, block, 0] = left @ (self._table * both[0])
            products[1, block, 1] = left @ (self._table * both[1])
            products[0, block, 1] = left @ (self._table * across)
        products[1, :, 0] = products[0, :, 1].T
        packed = products.reshape(2 * count, 2 * count)
        return np.asarray(self._modes @ (self._modes @ packed).T)

    def _combined(self, index: int, waves: Floats) -> tuple[Floats, Floats]:
        """Return the means over the rings of products with the order of one block, (rings, columns) each.

        For two cosines and two sines, and for a cosine of that order with a sine.
        """
        others = np.arange(len(self._blocks))
        total, difference = waves[index + others], waves[np.abs(others - index)]
        sign = np.sign(others - index)[:, None]
        same = 0.5 * np.stack([difference[..., 0] + total[..., 0], difference[..., 0] - total[..., 0]])
        across = 0.5 * (total[..., 1] + sign * difference[..., 1])
        return same[:, self._block_of].transpose(0, 2, 1), across[self._block_of].T


def _resized(array: Floats, size: int) -> Floats:
    """Return packed moments truncated or zero-padded to a size."""
    resized = np.zeros(size)
    resized[: array.size] = array[:size]
    return resized
