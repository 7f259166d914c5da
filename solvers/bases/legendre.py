r"""Tables of the associated Legendre functions on a Gauss rule, one matrix per order, folded about the equator.

The functions are those of the harmonics of :mod:`meanfield.records.state`, without the sign of Condon and Shortley,

.. math:: T_{lm} = \sqrt{(2 - \delta_{m0})\tfrac{(l-m)!}{(l+m)!}}\;P_l^m(\cos\theta), \qquad
          e^c_{lm} = T_{lm}\cos m\varphi, \quad e^s_{lm} = T_{lm}\sin m\varphi ,

found, order by order, from

.. math::

    T_{mm} &= \sqrt{(2-\delta_{m0}) \prod_{k=1}^m \tfrac{2k-1}{2k}}\;\sin^m\theta, \\
    \sqrt{(l+1)^2 - m^2}\;T_{l+1,m} &= (2l+1)\cos\theta\;T_{lm} - \sqrt{l^2-m^2}\;T_{l-1,m} .

The recurrence runs upwards in l, where :math:`T_{lm}` grows out of the polar caps that it does not reach, so it is
stable; powers of the sine that underflow belong to values far below rounding. Since
:math:`T_{lm}(\pi-\theta) = (-1)^{l+m}\,T_{lm}(\theta)`, the northern rings are enough, and sums over even and odd
:math:`l - m` are taken apart.
"""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from meanfield.harmonics import gauss_rule, place

from .base import Floats, Integers

# Entries of the tables that are made at once, 64 megabytes.
TOGETHER = 8_000_000


class Order(NamedTuple):
    """Tables of one order on the northern rings, for even and odd l - m, and the places of their coefficients."""

    even: Floats
    odd: Floats
    even_places: slice
    odd_places: slice


class LegendreTables:
    """Sums over the degrees of each order on the rings of a Gauss rule of S^2, and their adjoint.

    Parameters
    ----------
    degree
        Largest degree L.
    rings
        Nodes of the Gauss rule in dimension 3; rings go from north to south.
    symmetry
        Only orders that are multiples of this have tables.

    Attributes
    ----------
    orders : (M,) int
        The orders 0, symmetry, 2 symmetry, ... up to L.
    places : (size,) int
        The packed places l (l + 1)/2 + m of the coefficients, in the order in which ``sum`` takes them.
    """

    def __init__(self, degree: int, rings: int, symmetry: int = 1) -> None:
        self.orders: Integers = np.arange(0, degree + 1, symmetry)
        self.rings = rings
        self._half = (rings + 1) // 2
        self._tables: list[Order] = []
        places: list[Integers] = []
        start = 0
        for order, (even, odd) in zip(self.orders.tolist(), folded(degree, self.orders, rings), strict=True):
            degrees = np.arange(order, degree + 1)
            places += [place(degrees[::2], order), place(degrees[1::2], order)]
            middle, stop = start + places[-2].size, start + degrees.size
            self._tables.append(Order(even, odd, slice(start, middle), slice(middle, stop)))
            start = stop
        self.places: Integers = np.concatenate(places)

    def sum(self, coefficients: Floats) -> Floats:
        """Return sum_l coefficients T_lm for every order on every ring.

        Parameters
        ----------
        coefficients : (size, columns) float
            In the order of ``places``.

        Returns
        -------
        ndarray (M, rings, columns)
        """
        count, columns, half = self.orders.size, coefficients.shape[1], self._half
        even, odd = np.empty((2, count, half, columns))
        for table, evens, odds in zip(self._tables, even, odd, strict=True):
            np.matmul(table.even, coefficients[table.even_places], out=evens)
            np.matmul(table.odd, coefficients[table.odd_places], out=odds)
        rows = np.empty((count, self.rings, columns))
        np.add(even, odd, out=rows[:, :half])
        southern = self.rings - half
        np.subtract(even[:, :southern], odd[:, :southern], out=rows[:, : half - 1 : -1])
        return rows

    def project(self, rows: Floats) -> Floats:
        """Return sum over rings of rows T_lm, the adjoint of ``sum``: (M, rings, columns) -> (size, columns)."""
        half, southern = self._half, self.rings - self._half
        mirrored = rows[:, : half - 1 : -1]
        even, odd = rows[:, :half].copy(), rows[:, :half].copy()
        even[:, :southern] += mirrored
        odd[:, :southern] -= mirrored
        coefficients = np.empty((self.places.size, rows.shape[2]))
        for table, evens, odds in zip(self._tables, even, odd, strict=True):
            np.matmul(table.even.T, evens, out=coefficients[table.even_places])
            np.matmul(table.odd.T, odds, out=coefficients[table.odd_places])
        return coefficients


@functools.lru_cache(maxsize=8)
def legendre_tables(degree: int, rings: int, symmetry: int = 1) -> LegendreTables:
    """Return the cached tables of a degree on the Gauss rule with a number of rings."""
    return LegendreTables(degree, rings, symmetry)


def folded(degree: int, orders: Integers, rings: int) -> list[tuple[Floats, Floats]]:
    """Return T_lm of some orders on the northern rings, those of even and of odd l - m, (rings, degrees) each.

    Symmetries share the tables of the orders that they have in common, and lower degrees are part of larger ones.
    """
    known, some = _folded(rings), orders.tolist()
    missing = np.array([order for order in some if order not in known or known[order][0] < degree], dtype=np.int64)
    northern = gauss_rule(3, rings).fine[: (rings + 1) // 2]
    for order, table in zip(missing.tolist(), order_tables(degree, missing, northern), strict=True):
        known[order] = degree, np.ascontiguousarray(table[:, ::2]), np.ascontiguousarray(table[:, 1::2])
    counts = (degree + 1 - orders).tolist()
    found = [(known[order][1:], count) for order, count in zip(some, counts, strict=True)]
    return [(even[:, : (count + 1) // 2], odd[:, : count // 2]) for (even, odd), count in found]


@functools.lru_cache(maxsize=8)
def _folded(rings: int) -> dict[int, tuple[int, Floats, Floats]]:
    """Return the cache of a number of rings: by order the largest degree and the tables up to it."""
    return {}


def ring_tables(degree: int, orders: Integers, rings: int) -> Iterator[Floats]:
    """Yield T_lm for l = m..degree on all rings, shape (rings, degree - m + 1), for ascending orders m."""
    half = (rings + 1) // 2
    for northern in order_tables(degree, orders, gauss_rule(3, rings).fine[:half]):
        table = np.empty((rings, northern.shape[1]))
        table[:half] = northern
        table[: half - 1 : -1] = table[: rings - half]
        table[half:, 1::2] *= -1.0
        yield table


def order_tables(degree: int, orders: Integers, complements: NDArray[Any]) -> Iterator[Floats]:
    """Yield T_lm for l = m..degree at 1 - cos(theta), (points, degree - m + 1), for ascending orders m.

    The recurrence runs in the precision of the complements, for some orders at a time.
    """
    kind = complements.dtype.type
    cosine, sine = 1 - complements, np.sqrt(complements * (2 - complements))
    top, reached = np.full_like(cosine, np.sqrt(kind(2))), 0
    together = max(1, TOGETHER // ((degree + 1) * cosine.size))
    for first in range(0, orders.size, together):
        group = orders[first : first + together]
        tops = np.empty((group.size, cosine.size), dtype=kind)
        for row, order in zip(tops, group.tolist(), strict=True):
            for factor in range(reached + 1, order + 1):
                top = top * (sine * np.sqrt(kind(2 * factor - 1) / kind(2 * factor)))
            reached = order
            row[:] = top if order else kind(1)
        yield from _upwards(degree, group, tops, cosine)


def _upwards(degree: int, orders: Integers, tops: NDArray[Any], cosine: NDArray[Any]) -> Iterator[Floats]:
    """Yield T_lm, l = m..degree, for some orders, by the recurrence from T_mm (count, points)."""
    kind = cosine.dtype.type
    first = int(orders[0])
    tables = np.empty((orders.size, degree - first + 1, cosine.size))
    values, before = np.zeros_like(tops), np.zeros_like(tops)
    squares = orders.astype(kind)[:, None] ** 2
    lower = np.zeros_like(squares)
    for current in range(first, degree + 1):
        values[orders == current] = tops[orders == current]
        begun = slice(int(np.searchsorted(orders, current, side="right")))
        tables[begun, current - first] = values[begun]
        upper = np.sqrt(kind(current + 1) ** 2 - squares[begun])
        share = kind(1) / upper
        ahead = (2 * current + 1) * cosine * values[begun] - lower[begun] * before[begun]
        ahead *= share
        before[begun], values[begun], lower[begun] = values[begun], ahead, upper
    for table, order in zip(tables, orders.tolist(), strict=True):
        yield table[order - first :].T
