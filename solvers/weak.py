r"""Symmetric matrices of which most rows are nearly diagonal: those of potentials that decay slowly.

Beyond some mode the Jacobian of the stationary equation is the identity up to signs and a small contraction, for
the covariance of cosines is that of multiplication by the density and at most :math:`\pi \max \rho`. Written as

.. math:: J = \begin{pmatrix} A & B \\ B^T & W \end{pmatrix}, \qquad \sigma - e \le W \le \sigma + u,
          \qquad 0 \le e < 1, \quad 0 \le u < 1,

it is monotone in W, so the number of its negative eigenvalues lies between those with W replaced by its bounds,
which by Haynsworth's inertia formula are those of :math:`\sigma` and of the small Schur complements
:math:`A - B (\sigma - e)^{-1} B^T` and :math:`A - B (\sigma + u)^{-1} B^T`. Where they agree the number is proved.
Linear systems are solved by iteration: with the middle of the bounds in place of W a step leaves less than
:math:`e` of the error, and all that is needed of W are its products with vectors, two transforms each.

Where the numbers differ some directions Z of the strong modes are nearly neutral. These are moved up by one. The
bounds then settle :math:`J_1 = J + ZZ^T`, and Haynsworth's formula, applied to :math:`J_1` bordered by Z, gives

.. math:: \mathrm{neg}\, J = \mathrm{neg}\, J_1 + \mathrm{neg}\,(1 - Z^T J_1^{-1} Z).

An approximate :math:`Y \approx J_1^{-1} Z` gives :math:`Z^T J_1^{-1} Z = Y^T Z + Z^T Y - Y^T J_1 Y` up to the
square of its error.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import lapack

from .bases import EPS, Floats, greatest
from .inertia import BLOCK, count_negative

# With fewer modes than this dense matrices cost less.
MANY = 256
# How far weak rows may depart from the diagonal: less takes fewer steps and larger factorisations.
WEAK = 0.125
# A step of this share of the solution leaves at most an eighth of it as error, for e and u are at most WEAK, and
# products by transforms are not known better than to a few EPS.
ROUNDING = 64 * EPS
# A solution of which the square of the error counts is known to this share.
HALF_OF_THE_DIGITS = math.sqrt(EPS)
# The sign of a moved direction is certain beyond this: products of rows of length one have errors of about EPS.
NOISE = 16 * EPS
# Beside a matrix whose smallest eigenvalue is s rounding ends the iteration at about EPS / s, the error that a
# factorisation has as well; matrices closer to singular than 1e-6 are left to the latter.
STALLED = 1e-10
# Steps of the iteration, each of which leaves less than that.
STEPS = 24

# Of a symmetric matrix with each of some rows.
Products = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Partition:
    """The rows of the strong modes of a symmetric matrix, which come first, and bounds of the block of the others.

    Attributes
    ----------
    strong : (k, k) float
        A.
    coupling : (k, n) float
        B.
    signs : (n,) float
        Diagonal of sigma, of plus and minus one.
    below, above : float
        e and u.
    """

    strong: Floats
    coupling: Floats
    signs: Floats
    below: float
    above: float = 0.0
    _squares: dict[float, Floats] = field(default_factory=dict)

    def negative(self, products: Callable[[], Products] | None = None) -> int | None:
        """Return the number of negative eigenvalues, or None if the bounds do not determine it.

        Parameters
        ----------
        products
            Makes the product of J with each of some rows, for where the bounds do not tell the number.
        """
        most = count_negative(self._complement(-self.below), definite=True)
        fewest = count_negative(self._complement(self.above)) if most else 0
        if fewest == most:
            return fewest + int(np.count_nonzero(self.signs < 0.0))
        return None if products is None or fewest > most else self._decided(products(), fewest, most)

    def _decided(self, times: Products, fewest: int, most: int) -> int | None:
        """Return the number of negative eigenvalues from a product and the bounds of the number, or None."""
        size, middle = len(self.strong), self._complement(self._middle)
        _, doubtful, *_ = lapack.dsyevr(middle.T, range="I", il=fewest + 1, iu=most, overwrite_a=1)
        sides = np.zeros((most - fewest, size + self.signs.size))
        sides[:, :size] = doubtful[:, : most - fewest].T
        moved = replace(self, strong=self.strong + sides[:, :size].T @ sides[:, :size])

        def times_moved(rows: Floats) -> Floats:
            return np.asarray(times(rows) + (rows @ sides.T) @ sides)

        known = moved.negative()
        solved = None if known is None else moved.solved(times_moved, sides, HALF_OF_THE_DIGITS)
        if known is None or solved is None:
            return None
        moves = (2.0 * sides - times_moved(solved)) @ solved.T
        left = np.linalg.eigvalsh(np.eye(len(sides)) - 0.5 * (moves + moves.T))
        return known + int(np.count_nonzero(left < 0.0)) if np.abs(left).min() > NOISE else None

    def solved(
        self,
        times: Products,
        sides: Floats,
        rounding: float = ROUNDING,
        near: Floats | None = None,
        least: float = 0.0,
    ) -> Floats | None:
        """Return the rows x with J x = the rows of sides to rounding, or None if the iteration does not converge.

        Parameters
        ----------
        times
            The product of J with each of some rows.
        sides
            Right-hand sides, (count, k + n).
        rounding
            The share of a solution that the last step may have.
        near
            Rows near the solutions, from which the iteration starts; zero by default.
        least
            The size that the last step may have in any case.
        """
        size, middle = len(self.strong), self._middle
        complement = self._complement(middle)
        factor, pivots, singular = lapack.dsytrf(complement.T, lower=1, lwork=BLOCK * size, overwrite_a=1)
        if singular:
            return None
        inverse = 1.0 / (self.signs + middle)
        solution = np.zeros_like(sides) if near is None else near.copy()
        running = list(range(len(sides)))
        residual = sides if near is None else sides - times(near)
        previous = dict.fromkeys(running, np.inf)
        for _ in range(STEPS):
            step = np.empty_like(residual)
            weak = residual[:, size:] * inverse
            step[:, :size] = lapack.dsytrs(
                factor, pivots, (residual[:, :size] - weak @ self.coupling.T).T, lower=1, overwrite_b=1
            )[0].T
            np.subtract(weak, (step[:, :size] @ self.coupling) * inverse, out=step[:, size:])
            left = []
            for row, change in zip(running, step, strict=True):
                solution[row] += change
                # Of each row on its own, for their sizes differ.
                length, scale = greatest(change), greatest(solution[row]) + np.finfo(float).tiny
                if length <= max(rounding * scale, least):
                    continue
                if not length < 0.5 * previous[row]:
                    if not length <= STALLED * scale:
                        return None
                    continue
                previous[row] = length
                left.append(row)
            if not left:
                return solution
            running = left
            residual = sides[running] - times(solution[running])
        return None

    @property
    def _middle(self) -> float:
        return 0.5 * (self.above - self.below)

    def _complement(self, shift: float) -> Floats:
        """Return A - B (sigma + shift)^-1 B^T."""
        complement = self.strong.copy()
        for sign, square in self._known_squares().items():
            complement -= square / (sign + shift)
        return complement

    def _known_squares(self) -> dict[float, Floats]:
        """Return B B^T of the weak modes of either sign."""
        if not self._squares:
            for sign in (1.0, -1.0):
                there = self.signs == sign
                if there.any():
                    part = self.coupling if there.all() else self.coupling[:, there]
                    self._squares[sign] = part @ part.T
        return self._squares


def strong_modes(roots: Floats, factor: float, moments: Floats) -> tuple[int, float] | None:
    """Return the number of strong modes and the largest departure of the weak ones from their signs.

    Parameters
    ----------
    roots, factor
        The part of a mode in the matrix is at most its squared root times this factor and the largest covariance.
    moments
        Those of the density, from 0.

    Returns
    -------
    tuple or None
        None if dense matrices are better.
    """
    if roots.size < MANY:
        return None
    shares = factor * roots**2 * _most_variance(moments)
    first = int(np.flatnonzero(shares > WEAK).max(initial=-1)) + 1
    return (first, float(shares[first:].max())) if 0 < first <= shares.size // 2 else None


def _most_variance(moments: Floats) -> float:
    """Return a bound of the covariances of cosines or sines as a matrix: pi max rho."""
    return 0.5 + float(np.abs(moments[1:]).sum())
