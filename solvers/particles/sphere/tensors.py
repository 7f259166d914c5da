r"""Potentials that are polynomials of low degree in :math:`\langle x, y\rangle`, on spheres of any dimension.

The monomials of degree k in d variables, weighted by roots of multinomial coefficients, make a vector
:math:`\psi_k` with :math:`\psi_k(x)\cdot\psi_k(y) = \langle x, y\rangle^k`. With
:math:`\sum_l \kappa w_l P_l(u) = \sum_k a_k u^k`, the means :math:`M_k` of the matrices
:math:`\psi_k(y)\,y^T` over the particles give the drift without pair sums,

.. math:: b(x) = -\sum_k (k+1)\,a_{k+1}\, M_k^T\,\psi_k(x),

and those of :math:`\psi_k` alone the lengths of the moments,
:math:`|m_l|^2 = \sum_k [u^k]P_l\;|\langle\psi_k\rangle|^2`.
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Monomials:
    """The vectors psi_0, ..., psi_K at points, one below the other.

    Parameters
    ----------
    dimension
        d.
    degree
        K.

    Attributes
    ----------
    degrees : (F,) int
        k of every entry.
    """

    def __init__(self, dimension: int, degree: int) -> None:
        self.dimension, self.degree = dimension, degree
        exponents: list[tuple[int, ...]] = [()]
        # A monomial is made of one without its last factor; factors do not decrease.
        self._levels: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        weights = [np.ones(1)]
        for _ in range(degree):
            pairs = [(p, v) for p, word in enumerate(exponents) for v in range(word[-1] if word else 0, dimension)]
            words = [(*exponents[p], v) for p, v in pairs]
            parents, variables = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
            # Multinomials: k of a word of length k over the repetitions of its last letter.
            repeated = np.array([word.count(word[-1]) for word in words], dtype=float)
            weights.append(weights[-1][parents] * np.sqrt(len(words[0]) / repeated))
            self._levels.append((parents, variables))
            exponents = words
        self._weights = np.concatenate(weights)[:, np.newaxis]
        self.degrees = np.repeat(np.arange(degree + 1), [part.size for part in weights])
        self.size = self.degrees.size

    def values(self, points: Floats) -> Floats:
        """Return the vectors at points (d, n), (F, n)."""
        result = np.empty((self.size, points.shape[1]))
        result[0] = 1.0
        start, stop = 0, 1
        for parents, variables in self._levels:
            following = result[stop : stop + parents.size]
            np.multiply(result[start:stop][parents], points[variables], out=following)
            start, stop = stop, stop + parents.size
        result *= self._weights
        return result


def count(dimension: int, degree: int) -> int:
    """Return the number of monomials up to a degree."""
    return math.comb(dimension + degree, degree)


def power_coefficients(dimension: int, weights: Floats) -> Floats:
    """Return the a_k with sum_l weights[l] P_l(u) = sum_k a_k u^k."""
    return np.asarray((weights[:, np.newaxis] * polynomials(dimension, weights.size - 1)).sum(axis=0))


def polynomials(dimension: int, degree: int) -> Floats:
    """Return the coefficient of u^k in P_l at [l, k], (degree + 1, degree + 1)."""
    table = np.zeros((degree + 1, degree + 1), dtype=np.longdouble)
    table[0, 0] = 1.0
    for k in range(degree):
        table[k + 1, 1:] = (2 * k + dimension - 2) * table[k, :-1]
        if k:
            table[k + 1] -= k * table[k - 1]
        table[k + 1] /= k + dimension - 2
    return table.astype(np.float64)
