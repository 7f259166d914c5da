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

An approximate :math:`Y \approx J_1^{-1} Z` with residual :math:`R = Z - J_1 Y` gives
:math:`Z^T J_1^{-1} Z = Y^T Z + Z^T Y - Y^T J_1 Y + R^T J_1^{-1} R`. The matrices with W replaced by its bounds have
as many negative eigenvalues as :math:`J_1` between them, so that their inverses are bounds of its inverse, and give
bounds of the last term: the number is proved again.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import lapack

from ..bases import EPS, Floats, greatest
from .inertia import Factor, factorised

# With fewer modes than this dense matrices cost less.
MANY = 256
# How far weak rows may depart from the diagonal: less takes fewer steps and larger factorisations.
WEAK = 0.25
# A step of this share of the solution leaves at most a seventh of it as error, for e and u are at most WEAK, and
# products by transforms are not known better than to a few EPS.
ROUNDING = 64 * EPS
# A solution of which the square of the error counts is known to this share.
HALF_OF_THE_DIGITS = math.sqrt(EPS)
# The sign of a moved direction is certain beyond this: products of rows of length one have errors of about EPS.
NOISE = 16 * EPS
# Bounds are asked for where the square of the residual is less than this share of the value between them.
SMALL_SHARE = 0.1
# Beside a matrix whose smallest eigenvalue is s rounding ends the iteration at about EPS / s, the error that a
# factorisation has as well; matrices closer to singular than 1e-6 are left to the latter.
STALLED = 1e-10
TINY = float(np.finfo(float).tiny)
# Steps of the iteration, each of which leaves less than that.
STEPS = 40

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
    _factors: dict[tuple[float, float], Factor] = field(default_factory=dict, init=False)

    def negative(
        self, products: Callable[[], tuple[Products, Floats | None]] | None = None, within: float = 0.0
    ) -> int | None:
        """Return the number of negative eigenvalues, or None if the bounds do not determine it.

        Parameters
        ----------
        products
            Makes the product of J with each of some rows, for where the bounds do not tell the number, and a row
            that may be near a neutral direction, or None.
        within
            The number is that of all matrices whose difference from J has at most this norm.
        """
        most = self._factor(-self.below - within, -within).negative
        fewest = self._factor(self.above + within, within).negative if most else 0
        if fewest == most:
            return fewest + int(np.count_nonzero(self.signs < 0.0))
        return None if products is None or fewest > most else self._decided(*products(), fewest, most)

    def _decided(self, times: Products, neutral: Floats | None, fewest: int, most: int) -> int | None:
        """Return the number of negative eigenvalues from a product and the bounds of the number, or None."""
        size, changes, moved = len(self.strong), None, None
        if neutral is not None and most == fewest + 1:
            # Where J y = 0 the solution is y/(Z^T y).
            changes = neutral[None] / max(float(np.linalg.norm(neutral[:size])), TINY)
            moved = self._moved(changes[:, :size])
        if moved is None:
            _, doubtful, *_ = lapack.dsyevr(
                self._complement(self._middle).T, range="I", il=fewest + 1, iu=most, overwrite_a=1
            )
            changes, moved = None, self._moved(doubtful[:, : most - fewest].T)
        if moved is None:
            return None
        partition, strong, known = moved
        lower, upper = (partition._inverse(shift) for shift in (-self.below, self.above))
        near = partition._inverse(self._middle)
        if near is None or lower is None or upper is None:
            return None
        sides = np.zeros((most - fewest, size + self.signs.size))
        sides[:, :size] = strong
        identity, weights, solved = np.eye(len(sides)), partition._weights(), np.zeros_like(sides)
        changes = near(sides) if changes is None else changes
        for _ in range(STEPS):
            solved += changes
            residual = sides - times(solved)
            residual[:, :size] -= (solved[:, :size] @ strong.T) @ strong
            moves = (sides + residual) @ solved.T
            left = identity - 0.5 * (moves + moves.T)
            if np.vdot(residual, residual) <= max(NOISE, SMALL_SHARE * np.abs(left.diagonal()).min()):
                ends = np.linalg.eigvalsh([left - residual @ inverse(residual).T for inverse in (lower, upper)])
                fewest, most = np.count_nonzero(ends < 0.0, axis=1).tolist()
                if fewest == most and np.abs(ends).min() > NOISE:
                    return known + fewest
                if np.abs(ends[1] - ends[0]).max() <= NOISE:
                    return None
            weight = next(weights)
            changes = weight * near(residual) + (weight - 1.0) * changes
        return None

    def _moved(self, strong: Floats) -> "tuple[Partition, Floats, int] | None":
        """Return the matrix with directions of the strong modes moved up, these and its negative eigenvalues."""
        moved = replace(self, strong=self.strong + strong.T @ strong)
        known = moved.negative()
        return None if known is None else (moved, strong, known)

    def solved(
        self,
        times: Products,
        sides: Floats,
        shares: Sequence[float],
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
        shares
            The share of each solution that the last step may have.
        near
            Rows near the solutions, from which the iteration starts; zero by default.
        least
            The size that the last step may have in any case.
        """
        inverse = self._inverse(self._middle)
        if inverse is None:
            return None
        weights = self._weights()
        solution = np.zeros_like(sides) if near is None else near.copy()
        running, residual = list(range(len(sides))), sides.copy()
        begun = [row for row in running if solution[row].any()]
        if begun:
            residual[begun] -= times(solution[begun])
        previous, changes = [np.inf] * len(sides), inverse(residual)
        for _ in range(STEPS):
            left = []
            for place, (row, change) in enumerate(zip(running, changes, strict=True)):
                solution[row] += change
                # Of each row on its own, for their sizes differ.
                length, scale = greatest(change), greatest(solution[row]) + TINY
                if length <= max(shares[row] * scale, least):
                    continue
                if not length < 0.5 * previous[row]:
                    if not length <= STALLED * scale:
                        return None
                    continue
                previous[row] = length
                left.append(place)
            if not left:
                return solution
            if len(left) < len(running):
                running, changes = [running[place] for place in left], changes[left]
            rows = running if len(running) < len(sides) else slice(None)
            weight = next(weights)
            changes *= weight - 1.0
            changes += weight * inverse(sides[rows] - times(solution[rows]))
        return None

    def _weights(self) -> Iterator[float]:
        """Yield the weights of the steps of an iteration after the first, after which only weak modes have errors.

        Of these a step multiplies the error by eigenvalues between -spread and spread. With the step before times
        the weight less one added, the errors are Chebyshev's polynomials of these, by which each step leaves half
        of what it left otherwise.
        """
        spread, weight = 0.5 * (self.above + self.below) / (1.0 - abs(self._middle)), 2.0
        yield 1.0
        while True:
            weight = 1.0 / (1.0 - 0.25 * spread**2 * weight)
            yield weight

    def _inverse(self, shift: float) -> Callable[[Floats], Floats] | None:
        """Return what multiplies rows by the inverse of J with sigma + shift for W; None if that is singular."""
        solve, size = self._factor(shift).solve, len(self.strong)
        if solve is None:
            return None
        weights = 1.0 / (self.signs + shift)

        def inverse(rows: Floats) -> Floats:
            solution, weak = np.empty_like(rows), rows[:, size:] * weights
            solution[:, :size] = solve((rows[:, :size] - weak @ self.coupling.T).T).T
            np.subtract(weak, (solution[:, :size] @ self.coupling) * weights, out=solution[:, size:])
            return solution

        return inverse

    def _factor(self, shift: float, moved: float = 0.0) -> Factor:
        """Return the factorisation of A + moved - B (sigma + shift)^-1 B^T, which grows with both."""
        known = self._factors.get((shift, moved))
        if known is None:
            above = (each for place, each in self._factors.items() if place[0] >= shift and place[1] >= moved)
            definite = all(each.negative == 0 for each in above)
            complement = self._complement(shift)
            complement.flat[:: len(complement) + 1] += moved
            known = self._factors[shift, moved] = factorised(complement, definite=definite)
        return known

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


def covariance_change(
    roots: Floats, before: tuple[float, Floats, Floats], after: tuple[float, Floats, Floats]
) -> float:
    """Return a bound of the norm by which a factor times the covariance of scaled cosines changes.

    The covariance is multiplication by the density less the product of the means with themselves.

    Parameters
    ----------
    roots
        The scales of the cosines.
    before, after
        The factor, the moments of the density from 0, and those of the cosines.
    """
    changes = np.abs(after[0] * after[1] - before[0] * before[1])
    means, new = (math.sqrt(factor) * roots * of for factor, _, of in (before, after))
    dyads = np.linalg.norm(new - means) * (np.linalg.norm(new) + np.linalg.norm(means))
    return float(roots.max() ** 2 * (changes.sum() - 0.5 * changes[0]) + dyads)


def _most_variance(moments: Floats) -> float:
    """Return a bound of the covariances of cosines or sines as a matrix: pi max rho."""
    return 0.5 + float(np.abs(moments[1:]).sum())
