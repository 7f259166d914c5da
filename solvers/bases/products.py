r"""Means of products :math:`\langle P_k P_l\rangle` from the means :math:`p_j = \langle P_j\rangle`.

The product of two of the polynomials is a convex combination of them (Dougall's linearisation): with
:math:`\lambda = (d-2)/2`, :math:`s = k + l` and Pochhammer's symbols,

.. math:: P_k P_l = \sum_{j=0}^{\min(k,l)} c_j\,P_{s-2j}, \qquad c_0 = \frac{g_k g_l}{g_s}, \quad
          g_n = \frac{(\lambda)_n}{(2\lambda)_n},

.. math:: \frac{c_{j+1}}{c_j} = \frac{s+\lambda-2j-2}{s+\lambda-2j}\;\frac{s+\lambda-j}{s+2\lambda-j-1}\;
          \frac{\lambda+j}{j+1}\;\frac{k-j}{k+\lambda-j-1}\;\frac{l-j}{l+\lambda-j-1} .

All coefficients are positive and their sum is one, so nothing cancels. For many modes the table of them is too
large, and the recurrence of the polynomials in k, with multiplication by u written in l, takes over.
"""

import functools
from collections.abc import Callable

import numpy as np

from .base import Floats, Integers

# Tables with more numbers than this take seconds to set up and gain little.
TABULATED = 1 << 21

Products = Callable[[Floats], Floats]


def products_of(dimension: int, degrees: Integers, symmetry: int) -> Products:
    """Return the function from moments p_0, p_symmetry, ... to the (size, size) means of products of modes.

    The degrees are ascending.
    """
    return _products_of(dimension, tuple(degrees.tolist()), symmetry)


@functools.lru_cache(maxsize=8)
def _products_of(dimension: int, degrees: tuple[int, ...], symmetry: int) -> Products:
    rows = len(degrees) * (len(degrees) + 1) // 2
    kind = TabulatedProducts if rows * (degrees[-1] + 1) <= TABULATED else RecurrentProducts
    return kind(dimension, np.array(degrees, dtype=np.int64), symmetry)


class TabulatedProducts:
    """Products through the table of coefficients, one row for each pair, in two parts by the parity of k + l."""

    def __init__(self, dimension: int, degrees: Integers, symmetry: int) -> None:
        first, second = np.triu_indices(degrees.size)
        odd = (degrees[first] + degrees[second]) % 2 == 1
        order = np.argsort(odd, kind="stable")
        self._place = np.empty((degrees.size, degrees.size), dtype=np.int64)
        self._place[first[order], second[order]] = np.arange(order.size)
        self._place[second[order], first[order]] = np.arange(order.size)
        self._parts: list[tuple[slice, Floats]] = []
        last = 2 * int(degrees[-1])
        for parity, among in ((0, ~odd), (1, odd)):
            if among.any():
                table = _coefficients(
                    dimension, degrees[first[among]], degrees[second[among]], last // 2 + 1 - parity
                )
                where = slice(0, last // 2 + 1) if symmetry == 2 else slice(parity, last + 1, 2)
                self._parts.append((where, table))

    def __call__(self, moments: Floats) -> Floats:
        """Return the (size, size) means of products of modes under a density with moments p_0, p_symmetry, ..."""
        parts = [table @ moments[where] for where, table in self._parts]
        packed = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return packed.take(self._place)


def _coefficients(dimension: int, lower: Integers, upper: Integers, columns: int) -> Floats:
    """Return c with P_k P_l = sum_i c_i P_(2i + parity of k + l) for each pair k <= l, k ascending.

    Shape (pairs, columns).
    """
    index = np.longdouble(dimension - 2) / 2
    degree = np.arange(2 * columns, dtype=np.longdouble)
    falling = np.concatenate([[1.0], np.cumprod((index + degree) / (2 * index + degree))])
    ratio = falling[lower] * falling[upper] / falling[lower + upper]
    table = np.zeros((lower.size, columns))
    rows, places = np.arange(lower.size), (lower + upper) // 2
    for j in range(int(lower[-1]) + 1):
        table[rows, places - j] = ratio
        left = int(np.searchsorted(lower[rows[0] :], j + 1))
        rows, places, ratio = rows[left:], places[left:], ratio[left:]
        k, other = lower[rows].astype(np.longdouble), upper[rows].astype(np.longdouble)
        total = k + other + index
        top = (total - 2 * (j + 1)) * (total - j) * (index + j) * (k - j) * (other - j)
        base = (total - 2 * j) * (total + index - j - 1) * (j + 1) * (k + index - j - 1) * (other + index - j - 1)
        ratio = ratio * (top / base)
    return table


class RecurrentProducts:
    r"""Products by :math:`(k+d-2) P_{k+1} P_l = (2k+d-2)\, P_k\, (u P_l) - k P_{k-1} P_l`, row by row.

    Multiplication by u in l is an average of neighbours, so errors grow at most like the number of rows.
    """

    def __init__(self, dimension: int, degrees: Integers, symmetry: int) -> None:
        self._dimension, self._degrees, self._symmetry = dimension, degrees, symmetry
        degree = np.arange(1.0, 2 * int(degrees[-1]))
        self._down = degree / (2 * degree + dimension - 2)
        self._up = 1.0 - self._down

    def __call__(self, moments: Floats) -> Floats:
        """Return the (size, size) means of products of modes under a density with moments p_0, p_symmetry, ..."""
        degrees, last = self._degrees, int(self._degrees[-1])
        row = np.zeros(2 * last + 1)
        row[:: self._symmetry] = moments[: 2 * last // self._symmetry + 1]
        before = np.zeros_like(row)
        products = np.empty((degrees.size, degrees.size))
        place = dict(zip(degrees.tolist(), products, strict=True))
        for k in range(last + 1):
            if k in place:
                place[k][:] = row[degrees]
            row, before = self._next(row, before, k), row
        return products

    def _next(self, row: Floats, before: Floats, k: int) -> Floats:
        """Return the row k + 1, one shorter; its column 0 is the moment of P_(k+1)."""
        ratio = k / (k + self._dimension - 2)
        after = np.empty(row.size - 1)
        inner = after[1:]
        np.multiply(self._up[: inner.size], row[2:], out=inner)
        inner += self._down[: inner.size] * row[:-2]
        after[0] = row[1]
        after *= 1.0 + ratio
        after -= ratio * before[: after.size]
        return after
