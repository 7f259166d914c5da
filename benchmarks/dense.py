"""A straightforward continuation of the same branch in plain numpy: every mode unknown, nothing clever.

The yardstick carries the comparison to other machines. Unknowns a_1..a_n and p = kappa/kappa_1 with
a_k = <cos k t>, density exp(2 p sum r_k a_k cos k t), r_k = I_k(beta)/I_1(beta).
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import ive
from tasks import HIGHEST, STEP, Result

BETA = 5.0


class DenseBranch:
    """Pseudo-arclength continuation with the secant as predictor and numpy.linalg.solve in Newton."""

    def __init__(self, modes: int) -> None:
        degrees = np.arange(1, modes + 1)
        intervals = max(4 * modes, 128)
        self.ratios = ive(degrees, BETA) / ive(1, BETA)
        # Twice the modes, since a covariance of two modes is made of the moments at their sum and difference.
        self.cosines = np.cos(np.outer(np.arange(2 * modes + 1), np.linspace(0.0, np.pi, intervals + 1)))
        self.total = degrees[:, None] + degrees
        self.difference = np.abs(degrees[:, None] - degrees)
        self.weights = np.full(intervals + 1, 1.0)
        self.weights[[0, -1]] = 0.5
        self.solves = 0

    def system(self, x):
        """Return residual and its derivative in (a, p)."""
        field = 2.0 * self.ratios * x[:-1]
        exponent = x[-1] * (field @ self.cosines[1 : x.size])
        density = self.weights * np.exp(exponent - exponent.max())
        density /= density.sum()
        moments = self.cosines @ density
        means = moments[1 : x.size]
        covariance = 0.5 * (moments[self.total] + moments[self.difference]) - np.outer(means, means)
        jacobian = np.eye(means.size) - 2.0 * x[-1] * covariance * self.ratios
        return x[:-1] - means, np.column_stack([jacobian, -covariance @ field])

    def corrected(self, guess, border):
        """Return the point in the hyperplane through a guess, and the unit tangent there."""
        x = guess
        sides = np.zeros((x.size, 2))
        sides[-1, 1] = 1.0
        for _ in range(12):
            residual, derivative = self.system(x)
            sides[:-1, 0] = -residual
            change, tangent = np.linalg.solve(np.vstack([derivative, border]), sides).T
            self.solves += 1
            x = x + change
            if np.linalg.norm(change) < 1e-10:
                return x, tangent / np.linalg.norm(tangent)
        raise RuntimeError("Newton did not converge")

    def run(self) -> Result:
        """Follow the branch from p = 1 over the fold to p = 3."""
        last = np.append(np.zeros(self.ratios.size), 1.0)
        direction = np.eye(last.size)[0]
        point, tangent = self.corrected(last + 0.02 * direction, direction)
        count, fold = 1, np.nan
        while point[-1] < HIGHEST:
            direction = (point - last) / np.linalg.norm(point - last)
            following, turned = self.corrected(point + STEP * direction, direction)
            if tangent[-1] * turned[-1] < 0.0:
                fold = self.fold(point, following)
            last, point, tangent, count = point, following, turned, count + 1
        return Result(count, float(fold))

    def fold(self, one, other) -> float:
        """Return p where its derivative along the branch vanishes between two points."""
        chord = other - one

        def at(share):
            return self.corrected(one + share * chord, chord)

        share = brentq(lambda share: at(share)[1][-1], 0.0, 1.0, xtol=1e-12)
        return at(share)[0][-1]


def dense_branch(modes: int) -> Result:
    """Task A by the dense reference."""
    return DenseBranch(modes).run()


def dense_solves(modes: int) -> int:
    """Return the factorisations of the dense reference in task A."""
    branch = DenseBranch(modes)
    branch.run()
    return branch.solves
