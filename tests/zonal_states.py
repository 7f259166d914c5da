"""Stationary states about an axis and their rates in many digits, by Newton's method and inverse iteration in mpmath.

Dimension 2 is the circle with densities even about 0. Moments are p_l = <P_l>, P_l(1) = 1; multipliers w_l are those
of W = sum_l w_l P_l, divided by the noise, and l counts only where it is a key. Nothing is shared with the code under
test.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np


@functools.cache
def polar_rule(dimension: int, count: int = 48) -> tuple[list[Any], list[Any]]:
    """Return nodes u = cos t and weights of the uniform measure, by the trapezoid rule or Clenshaw and Curtis in t."""
    with mp.workdps(40):
        points = [mp.pi * j / count for j in range(count + 1)]
        # In t the trapezoid rule is Gaussian for even d; an odd power of sin t is done by Clenshaw and Curtis.
        if dimension % 2 == 0:
            weights = [mp.sin(t) ** (dimension - 2) * (1 if 0 < j < count else 0.5) for j, t in enumerate(points)]
        else:
            weights = []
            for j, t in enumerate(points):
                total = mp.fsum(
                    (0.5 if k in (0, count) else 1) * 2 * mp.cos(k * t) / (1 - mp.mpf(k) ** 2)
                    for k in range(0, count + 1, 2)
                )
                weights.append(total * mp.sin(t) ** (dimension - 3) * (1 if 0 < j < count else 0.5))
        mass = mp.fsum(weights)
        return [mp.cos(t) for t in points], [w / mass for w in weights]


def zonal_polynomials(most: int, dimension: int, u: Any) -> list[Any]:
    """Return P_0(u), .., P_n(u), P_l(1) = 1, by the three-term recurrence."""
    values = [mp.mpf(1), u]
    for k in range(1, most):
        values.append(((2 * k + dimension - 2) * u * values[k] - k * values[k - 1]) / (k + dimension - 2))
    return values[: most + 1]


def zonal_polynomial(degree: int, dimension: int, u: Any) -> Any:
    """Return P_l(u), P_l(1) = 1."""
    return zonal_polynomials(degree, dimension, u)[degree]


class ZonalState(NamedTuple):
    """A stationary density by its moments p_l, with kappa, d kappa/d p and (F - F_0)/D along its branch."""

    coupling: Any
    moments: dict[int, Any]
    slope: Any
    gap: Any


class ZonalBranch:
    """The densities exp(-kappa sum_l w_l p_l P_l)/Z with p_l = <P_l>, one moment prescribed, by Newton's method.

    ``multipliers`` are w_l/D of the degrees that count, ``degree`` is that of the prescribed moment. A state starts
    from the one before, the first from the coupling given and moments near those of a concentrated density.
    """

    def __init__(self, dimension: int, multipliers: dict[int, Any], degree: int, coupling: Any, nodes: int = 48):
        points, self.weights = polar_rule(dimension, nodes)
        self.dimension, self.degree, self.multipliers = dimension, degree, multipliers
        rows = [zonal_polynomials(max(multipliers), dimension, u) for u in points]
        self.tables = {k: [row[k] for row in rows] for k in multipliers}
        self.products = {
            (k, j): [a * b for a, b in zip(self.tables[k], self.tables[j], strict=True)]
            for k in multipliers
            for j in multipliers
            if j <= k
        }
        self.coupling, self.moments = mp.mpf(coupling), dict[int, Any]()

    def at(self, amplitude: Any) -> ZonalState:
        """Return the state whose prescribed moment this is."""
        if not self.moments:
            order = {k: mp.mpf(k * (k + self.dimension - 2)) for k in self.multipliers}
            self.moments = {k: abs(amplitude) ** (order[k] / order[self.degree]) for k in self.multipliers}
        self.moments[self.degree] = mp.mpf(amplitude)
        for _ in range(40):
            residual, jacobian, gap = self._equations()
            # The last unknown moment is followed along the branch by the same matrix.
            along = mp.matrix([mp.mpf(0) for _ in residual])
            for row, k in enumerate(self.multipliers):
                along[row] = -self._sensitivity(k, self.degree)
            step = mp.lu_solve(jacobian, mp.matrix(residual))
            if mp.norm(step) < mp.mpf(10) ** (6 - mp.mp.dps):
                return ZonalState(self.coupling, dict(self.moments), mp.lu_solve(jacobian, along)[0], gap)
            self.coupling += step[0]
            for row, k in enumerate(self._unknown(), start=1):
                self.moments[k] += step[row]
        raise ArithmeticError(f"no state of amplitude {amplitude}")

    def fold(self, amplitudes: tuple[Any, Any]) -> ZonalState:
        """Return the state where the coupling turns, near two amplitudes."""
        return self.at(mp.findroot(lambda a: self.at(a).slope, amplitudes))

    def transition(self, amplitudes: tuple[Any, Any]) -> ZonalState:
        """Return the state with the free energy of the uniform one, near two amplitudes."""
        return self.at(mp.findroot(lambda a: self.at(a).gap, amplitudes))

    def _equations(self) -> tuple[Any, Any, Any]:
        """Return p - <P>, the derivatives of <P> - p by the coupling and the unknown moments, and the gap."""
        strengths = {k: -self.coupling * w * self.moments[k] for k, w in self.multipliers.items()}
        field = [mp.fsum(s * self.tables[k][j] for k, s in strengths.items()) for j in range(len(self.weights))]
        masses = [w * mp.exp(f) for w, f in zip(self.weights, field, strict=True)]
        total = mp.fsum(masses)
        means = {k: mp.fdot(masses, table) / total for k, table in self.tables.items()}
        self.covariance = {
            (k, j): mp.fdot(masses, product) / total - means[k] * means[j]
            for (k, j), product in self.products.items()
        }
        self.covariance |= {(j, k): value for (k, j), value in self.covariance.items()}
        rows = [
            [self._along_coupling(k), *(self._sensitivity(k, j) for j in self._unknown())] for k in self.multipliers
        ]
        gap = mp.fsum(s * self.moments[k] for k, s in strengths.items()) / 2 - mp.log(total)
        return [self.moments[k] - means[k] for k in self.multipliers], mp.matrix(rows), gap

    def _unknown(self) -> list[int]:
        return [k for k in self.multipliers if k != self.degree]

    def _along_coupling(self, k: int) -> Any:
        return -mp.fsum(w * self.moments[j] * self.covariance[k, j] for j, w in self.multipliers.items())

    def _sensitivity(self, k: int, j: int) -> Any:
        return -self.coupling * self.multipliers[j] * self.covariance[k, j] - (k == j)


def zonal_rate(
    dimension: int, multipliers: dict[int, Any], coupling: Any, moments: dict[int, Any], order: int, size: int = 22
) -> Any:
    """Return the slowest rate of an azimuthal order at the state exp(-kappa sum_l w_l p_l P_l)/Z, D = 1, no field.

    On the circle order 0 is even and 1 is odd. A perturbation rho g obeys M a' = -H (1 + kappa L M) a in the
    coefficients of g on harmonics y, with M = <y y> - <y><y>, H = <grad y . grad y>, and L the eigenvalues of W*
    over the mean squares of y. Turning the axis, of rate 0 and order 1, is left out.
    """
    nodes, weights = polar_rule(dimension, 2 * size + 24)
    first = max(order, 1)
    harmonics = _harmonics(dimension, order, first, size, nodes)
    polynomials = [zonal_polynomials(max(first + size, *multipliers), dimension, u) for u in nodes]
    field = [mp.fsum(-coupling * w * moments[k] * row[k] for k, w in multipliers.items()) for row in polynomials]
    masses = [w * mp.exp(f) for w, f in zip(weights, field, strict=True)]
    total = mp.fsum(masses)
    means = [mp.fdot(masses, y) / total if order == 0 else mp.mpf(0) for y, _, _ in harmonics]
    weighted = [
        [[m * value / total for m, value in zip(masses, part, strict=True)] for part in parts]
        for parts in harmonics
    ]
    # The part around the axis vanishes on the circle and for order 0.
    around = order * (order + dimension - 3)
    mass, stiffness = mp.matrix(size), mp.matrix(size)
    for i in range(size):
        for j in range(i + 1):
            one, other = weighted[i], harmonics[j]
            mass[i, j] = mass[j, i] = mp.fdot(one[0], other[0]) - means[i] * means[j]
            slopes = mp.fdot(one[1], other[1]) + (around * mp.fdot(one[2], other[2]) if around else 0)
            stiffness[i, j] = stiffness[j, i] = slopes
    inner = mass**-1
    for i, degree in enumerate(range(first, first + size)):
        if degree in multipliers:
            pair = harmonics[i][0], [row[degree] for row in polynomials]
            squares = [mp.fdot(weights, [y**2 for y in values]) for values in pair]
            # 1/<P_l^2> is the number of harmonics of a degree.
            inner[i, i] += coupling * multipliers[degree] * squares[1] / squares[0]
    return _lowest(stiffness * inner, rotation=order == 1)


def _harmonics(
    dimension: int, order: int, first: int, size: int, nodes: Sequence[Any]
) -> list[tuple[list[Any], ...]]:
    """Return s^m P(u) at the nodes, s = sin t, its derivative in t, and itself over s, of each degree from the first."""
    above, last = dimension + 2 * order, first + size - order
    sines = [mp.sqrt(abs(1 - u * u)) for u in nodes]
    tables = [zonal_polynomials(last, above, u) for u in nodes]
    slopes = [zonal_polynomials(last, above + 2, u) for u in nodes]
    outer = [sine ** max(order - 1, 0) for sine in sines]
    found = []
    for index in range(first - order, last):
        factor = mp.mpf(index * (index + above - 2)) / (above - 1)
        around = [o * row[index] for o, row in zip(outer, tables, strict=True)]
        rises = [factor * o * row[index - 1] for o, row in zip(outer, slopes, strict=True)]
        if order:
            values = [sine * value for sine, value in zip(sines, around, strict=True)]
            along = [
                order * u * value - sine**2 * rise
                for u, sine, value, rise in zip(nodes, sines, around, rises, strict=True)
            ]
        else:
            values, along = around, [-sine * rise for sine, rise in zip(sines, rises, strict=True)]
        found.append((values, along, around))
    return found


def _lowest(matrix: Any, rotation: bool) -> Any:
    """Return the lowest eigenvalue, without the one nearest to 0 if that is a rotation, by inverse iteration."""
    size = matrix.rows
    near = np.sort(np.linalg.eigvals(np.array(matrix.tolist(), dtype=float)).real)
    value = mp.mpf(float(np.delete(near, np.argmin(np.abs(near)))[0] if rotation else near[0]))
    vector = mp.matrix([mp.mpf(1) / (i + 1) for i in range(size)])
    for _ in range(12):
        # Beside the value, where the matrix is not singular.
        shift = value * (1 + mp.mpf(10) ** -8)
        solved = mp.lu_solve(matrix - shift * mp.eye(size), vector)
        largest = max(range(size), key=lambda i: abs(solved[i]))
        value, vector = shift + vector[largest] / solved[largest], solved / solved[largest]
        if mp.norm(matrix * vector - value * vector) < abs(value) * mp.mpf(10) ** (10 - mp.mp.dps):
            return value
    raise ArithmeticError("inverse iteration did not settle")
