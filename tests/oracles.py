"""Slow dense references, independent of the code under test: mpmath or plain numpy, no shared formulas."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np
from scipy import optimize


def exact(number: Any) -> Any:
    """Return an mpf with every digit of a float64 or longdouble."""
    return mp.mpf(np.format_float_scientific(number, precision=30, unique=False))


@functools.cache
def zonal_mean(dimension: int, function: Callable[[Any], Any], degree: int, corners: Sequence[float] = ()) -> Any:
    """Return the mean over a sphere, or the circle, of a function of the angle times P_l, by adaptive quadrature."""
    pieces = max(degree, 4)
    points = sorted({mp.pi * j / pieces for j in range(pieces + 1)} | {mp.mpf(c) for c in corners})
    mass = mp.beta(mp.mpf(dimension - 1) / 2, mp.mpf(1) / 2)
    if dimension == 2:
        return mp.quad(lambda t: function(t) * mp.cos(degree * t), points) / mass
    return mp.quad(lambda t: function(t) * _weighted_polynomial(degree, dimension, t, mp.mp.prec), points) / mass


# The quadratures of all functions have their nodes in common.
@functools.lru_cache(maxsize=100_000)
def _weighted_polynomial(degree: int, dimension: int, t: Any, bits: int) -> Any:
    """Return P_l(cos t) sin^(d-2) t in a precision, by the recurrence while it is shorter than the series."""
    if degree == 0:
        return mp.sin(t) ** (dimension - 2)
    if degree > 10:
        index = mp.mpf(dimension - 2) / 2
        value = mp.gegenbauer(degree, index, _cosine(t, bits)) / mp.gegenbauer(degree, index, 1)
        return value * _weighted_polynomial(0, dimension, t, bits)
    last = _weighted_polynomial(degree - 1, dimension, t, bits)
    if degree == 1:
        return _cosine(t, bits) * last
    before, k = _weighted_polynomial(degree - 2, dimension, t, bits), degree - 1
    return ((2 * k + dimension - 2) * _cosine(t, bits) * last - k * before) / (k + dimension - 2)


@functools.lru_cache(maxsize=100_000)
def _cosine(t: Any, bits: int) -> Any:
    return mp.cos(t)


# Potentials and closed forms on the circle


def cosine_coefficient(function: Callable[[Any], Any], k: int, corners: Sequence[float] = ()) -> Any:
    """Return w_k of an even function by adaptive quadrature on [0, pi] split at its corners."""
    pieces = max(k, 1)
    points = sorted({mp.mpf(j) * mp.pi / pieces for j in range(pieces + 1)} | {mp.mpf(c) for c in corners})
    integral = mp.quad(lambda t: function(t) * mp.cos(k * t), points)
    return integral / mp.pi * (1 if k == 0 else 2)


def branch_coupling(shares: Sequence[Any], amplitude: Any, modes: int = 9) -> Any:
    """Return kappa/kappa_1 on the 1-branch where m_1 = amplitude.

    ``shares[k]`` is w_k/w_1 (index 0 unused). Newton on the exponential fixed point m_k = <cos kt e^V>/Z
    with V = 2 L sum_k shares[k] m_k cos kt, its averages by the trapezoid rule.
    """
    points = 4 * modes
    angles = [2 * mp.pi * j / points for j in range(points)]
    table = [[mp.cos(k * t) for t in angles] for k in range(modes + 1)]
    active = [k for k in range(1, modes + 1) if k < len(shares) and shares[k] != 0]

    def defect(*unknown: Any) -> list[Any]:
        moments = {k: (mp.mpf(amplitude) if k == 1 else unknown[active.index(k)]) for k in active}
        strength = unknown[0]
        weights = [
            mp.exp(2 * strength * sum(shares[k] * moments[k] * table[k][j] for k in active)) for j in range(points)
        ]
        mass = mp.fsum(weights)
        means = [mp.fsum(w * c for w, c in zip(weights, table[k], strict=True)) / mass for k in active]
        return [mean - moments[k] for mean, k in zip(means, active, strict=True)]

    start = [mp.mpf(1)] + [mp.mpf(amplitude) ** k for k in active[1:]]
    solution = mp.findroot(defect, start) if len(start) > 1 else mp.findroot(lambda x: defect(x)[0], start[0])
    return solution[0] if len(start) > 1 else solution


def branch_coefficients(shares: Sequence[Any], digits: int = 40) -> tuple[Any, Any]:
    """Return (b1, b2) of the 1-branch by fitting three small amplitudes (error near amplitude^4)."""
    with mp.workdps(digits):
        squares = [mp.mpf(j) * mp.mpf("1e-8") for j in (1, 2, 3)]
        slopes = [(branch_coupling(shares, mp.sqrt(x)) - 1) / x for x in squares]
        first = (slopes[1] - slopes[0]) / (squares[1] - squares[0])
        second = (slopes[2] - slopes[1]) / (squares[2] - squares[1])
        third = (second - first) / (squares[2] - squares[0])
        b1 = slopes[0] - first * squares[0] + third * squares[0] * squares[1]
        b2 = first - third * (squares[0] + squares[1])
        return b1, b2


def free_energy(
    density: Callable[[Any], Any], potential: Callable[[Any], Any], noise: float, coupling: float
) -> tuple[Any, Any]:
    """Return (D int rho log rho, kappa/2 double integral of W rho rho) by trapezoid sums, 64 points."""
    points = 64
    step = 2 * mp.pi / points
    angles = [step * j for j in range(points)]
    rho = [density(t) for t in angles]
    interaction = [potential(t) for t in angles]
    entropy = noise * step * mp.fsum(r * mp.log(r) for r in rho)
    pairs = mp.fsum(interaction[(i - j) % points] * rho[i] * rho[j] for i in range(points) for j in range(points))
    return entropy, coupling / 2 * step**2 * pairs


def kuramoto(ratio: float) -> tuple[Any, Any]:
    """Return (r, (F - F_0)/D) at kappa/D = ratio from r = I_1/I_0."""
    k = mp.mpf(ratio)
    guess = k * mp.sqrt(1 - 2 / k)
    x = mp.findroot(lambda x: mp.besseli(1, x) / mp.besseli(0, x) - x / k, guess)
    return x / k, x**2 / (2 * k) - mp.log(mp.besseli(0, x))


# Linearised spectrum on the circle


def gibbs_moments(strengths: dict[int, Any], moments: dict[int, Any], degree: int, points: int) -> list[Any]:
    """Return m_0..m_degree of the density of exp(2 sum lambda_k m_k cos kt), 2 * points trapezoid nodes."""
    cosines = [mp.cos(mp.pi * j / points) for j in range(2 * points)]
    field = [
        mp.fsum(2 * lam * moments[k] * cosines[k * j % (2 * points)] for k, lam in strengths.items())
        for j in range(points + 1)
    ]
    weights = [mp.exp(value - max(field)) for value in field]
    weights[0], weights[-1] = weights[0] / 2, weights[-1] / 2
    mass = mp.fsum(weights)
    return [
        mp.fsum(w * cosines[k * j % (2 * points)] for j, w in enumerate(weights)) / mass for k in range(degree + 1)
    ]


def sought_even_states(weights: Sequence[float], coupling: float, starts: int) -> list[Any]:
    """Return the even states |m_1|, .., |m_K| at D = 1 that plain damped Newton meets from random starts.

    States that differ by a rotation have the same moduli.
    """
    modes = np.arange(1, len(weights) + 1)
    angles = np.pi * np.arange(97) / 96
    cosines = np.cos(np.outer(np.arange(2 * modes[-1] + 1), angles))
    ends = np.where((angles == 0.0) | (angles == np.pi), 0.5, 1.0)
    strengths = -0.5 * coupling * np.asarray(weights)
    generator = np.random.default_rng(1)
    found: list[Any] = []
    for _ in range(starts):
        a = generator.uniform(-1.0, 1.0, modes.size) * generator.uniform()
        for _ in range(60):
            field = (2.0 * strengths * a) @ cosines[modes]
            masses = np.exp(field - field.max()) * ends
            m = cosines @ masses / masses.sum()
            second = 0.5 * (m[modes[:, None] + modes] + m[np.abs(modes[:, None] - modes)])
            covariance = second - np.outer(m[modes], m[modes])
            step = np.linalg.lstsq(np.eye(modes.size) - 2.0 * covariance * strengths, a - m[modes])[0]
            a = a - step * min(1.0, 0.5 / max(np.abs(step).max(), 1e-300))
            if np.abs(step).max() < 1e-13:
                break
        new = not any(np.abs(np.abs(a) - other).max() < 1e-6 for other in found)
        if new and np.abs(step).max() < 1e-13 and np.abs(a).max() <= 1.0:
            found.append(np.abs(a))
    return found


def even_state(strengths: dict[int, Any], start: Sequence[float], degree: int, points: int) -> list[Any]:
    """Return m_0..m_degree of the even stationary state near the given moments, by Newton."""
    modes = list(strengths)
    moments = {k: mp.mpf(float(start[k])) if k < len(start) else mp.mpf(0) for k in modes}
    for _ in range(8):
        m = gibbs_moments(strengths, moments, max(degree, 2 * max(modes)), points)
        covariances = [[(m[k + j] + m[abs(k - j)]) / 2 - m[k] * m[j] for j in modes] for k in modes]
        jacobian = mp.eye(len(modes)) - mp.matrix(covariances) * mp.diag([2 * strengths[j] for j in modes])
        step = mp.lu_solve(jacobian, mp.matrix([m[k] - moments[k] for k in modes]))
        moments = {k: moments[k] + step[i] for i, k in enumerate(modes)}
        if mp.norm(step) < mp.mpf(10) ** (4 - mp.mp.dps):
            break
    return gibbs_moments(strengths, moments, degree, points)


# Fixed point in the elimination: with 60 digits after it, twice as many as the references are computed with.
_BITS = 200


def _eliminated(rows: Any) -> Callable[[Any], Any]:
    """Return the solution of a system for any right-hand side, by elimination with exchanged rows in fixed point.

    Whole numbers in arrays take a tenth of the time of mpmath's entries one by one.
    """
    matrix = _whole(rows)
    size, order = len(matrix), np.arange(len(matrix))
    for i in range(size):
        chosen = [i, i + int(np.argmax(np.abs(matrix[i:, i])))]
        matrix[chosen], order[chosen] = matrix[chosen[::-1]], order[chosen[::-1]]
        below = slice(i + 1, size)
        matrix[below, i] = (matrix[below, i] << _BITS) // matrix[i, i]
        matrix[below, below] -= np.multiply.outer(matrix[below, i], matrix[i, below]) >> _BITS

    def solve(right: Any) -> Any:
        found = _whole(right)[order]
        for i in range(size):
            found[i] -= (matrix[i, :i] * found[:i]).sum() >> _BITS
        for i in reversed(range(size)):
            found[i] = ((found[i] << _BITS) - (matrix[i, i + 1 :] * found[i + 1 :]).sum()) // matrix[i, i]
        return np.array([mp.ldexp(mp.mpf(entry), -_BITS) for entry in found])

    return solve


def _whole(values: Any) -> Any:
    """Return numbers of any precision times the unit of the fixed point."""
    return np.vectorize(lambda value: int(mp.ldexp(value, _BITS)), otypes=[object])(np.array(values, dtype=object))


def linearised_eigenvalue(strengths: dict[int, Any], m: Sequence[Any], size: int, sign: int, near: float) -> Any:
    """Return the eigenvalue nearest to a number of the Fourier matrix of the linearisation, noise 1.

    ``sign`` +1 is the cosine block, -1 the sine block; inverse iteration on the nonsymmetric matrix.
    """

    def coupled(k: int) -> Any:
        return strengths.get(abs(k), 0) * k * m[abs(k)]

    def entry(k: int, j: int) -> Any:
        feedback = j * strengths.get(j, 0) * (m[abs(k - j)] - sign * m[k + j])
        field = coupled(abs(k - j)) * mp.sign(k - j) + sign * coupled(k + j)
        return -(k**2) * (k == j) + k * (field + feedback)

    shift = mp.mpf(near) * (1 + mp.mpf(10) ** -5)
    rows = [[entry(k, j) - shift * (k == j) for j in range(1, size + 1)] for k in range(1, size + 1)]
    solve = _eliminated(rows)
    vector, value = [mp.mpf(1) / k for k in range(1, size + 1)], shift
    for _ in range(20):
        solved = solve(vector)
        largest = max(range(size), key=lambda i: abs(solved[i]))
        previous, value = value, shift + vector[largest] / solved[largest]
        vector = solved / solved[largest]
        if abs(value - previous) < abs(value) * mp.mpf(10) ** -16:
            break
    return value


# Optimal transport on the circle: numpy and scipy, brute force


def geodesic_costs(x: Any, y: Any, order: int) -> Any:
    """Return the matrix of geodesic distances to the given power."""
    import numpy as np

    apart = np.abs(np.subtract.outer(x, y)) % (2 * np.pi)
    return np.minimum(apart, 2 * np.pi - apart) ** order


def assignment_distance(x: Any, y: Any, order: int) -> float:
    """Return W of two samples by linear assignment, points repeated to a common number."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    size = np.lcm(len(x), len(y))
    costs = geodesic_costs(np.repeat(x, size // len(x)), np.repeat(y, size // len(y)), order)
    return float(costs[linear_sum_assignment(costs)].mean() ** (1 / order))


def programme_distance(x: Any, y: Any, order: int) -> float:
    """Return W of two samples as the minimum of Kantorovich's linear programme."""
    import numpy as np
    from scipy.optimize import linprog

    n, m = len(x), len(y)
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    masses = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    solution = linprog(geodesic_costs(x, y, order).ravel(), A_eq=np.vstack([rows, columns]), b_eq=masses)
    return float(solution.fun ** (1 / order))


def series_quantile(cosine: Any, sine: Any, masses: Any) -> Any:
    """Return the quantiles of a density with these moments by bisection of its distribution function."""
    import numpy as np

    def distribution(t: Any) -> Any:
        terms = ((cosine[k] * np.sin(k * t) + sine[k] * (1 - np.cos(k * t))) / k for k in range(1, len(cosine)))
        return t / (2 * np.pi) + sum(terms, np.zeros_like(t)) / np.pi

    turns = np.floor(masses)
    low, high = np.zeros_like(masses), np.full_like(masses, 2 * np.pi)
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = distribution(middle) < masses - turns
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high) + 2 * np.pi * turns


def coupled_distance(quantile: Callable[[Any], Any], other: Callable[[Any], Any], breaks: Any, order: int) -> float:
    """Return W as the least cost of a quantile coupling over its shift, 20 Gauss nodes between breaks."""
    import numpy as np
    from scipy.optimize import minimize_scalar

    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = 0.5 * np.diff(breaks)
    masses = (breaks[:-1, None] + half[:, None] * (1 + nodes)).ravel()
    weighted = (half[:, None] * weights).ravel()
    points = quantile(masses)

    def cost(shift: float) -> float:
        return float(weighted @ np.abs(points - other(masses - shift)) ** order)

    grid = np.linspace(-1, 1, 41)
    start = grid[np.argmin([cost(shift) for shift in grid])]
    found = minimize_scalar(cost, bracket=(start - 0.05, start, start + 0.05), tol=1e-10)
    return float(found.fun ** (1 / order))


# Particles


def pair_forces(slope: Callable[[Any], Any], positions: Any) -> Any:
    """Return -(1/N) sum_j W'(x_i - x_j) by the double sum."""
    import math

    return [-math.fsum(slope(x - y) for y in positions if y is not x) / len(positions) for x in positions]


def mean_field_scheme(
    attraction: Any, confinement: Any, noise: float, step: float, steps: int, moments: Any, order: int
) -> Any:
    """Return c_0..c_K after steps of a scheme for infinitely many particles, K = 24.

    ``attraction`` and ``confinement`` are kappa w_k and v_k. Quadrature over the density on 128 nodes and over the
    noise with 24 Gauss-Hermite nodes; order 1 is Euler-Maruyama, order 2 the mean of the drifts before and after.
    """
    import numpy as np

    nodes = 2 * np.pi * np.arange(128) / 128
    k = np.arange(len(moments))
    normals, weights = np.polynomial.hermite_e.hermegauss(24)
    normals, weights = np.sqrt(2 * noise * step) * normals, weights / weights.sum()

    def drift(c: Any, at: Any) -> Any:
        return (-1j * np.exp(1j * np.multiply.outer(at, k)) @ (k * (attraction * c + confinement))).real

    c = np.asarray(moments, dtype=complex)
    for _ in range(steps):
        masses = (1 + 2 * (np.exp(1j * np.outer(nodes, k[1:])) @ c[1:]).real) / nodes.size
        before = drift(c, nodes)
        predicted = np.exp(-(k**2) * noise * step) * (np.exp(-1j * np.outer(k, nodes + step * before)) @ masses)
        if order == 2:
            means = [
                0.5 * step * (before + drift(predicted, nodes + step * before + normal)) + normal
                for normal in normals
            ]
            pushed = [np.exp(-1j * np.outer(k, nodes + mean)) @ masses for mean in means]
            predicted = np.tensordot(weights, pushed, 1)
        c = predicted
    return c


# Evolution


def evolved_moments(
    multipliers: Any, coupling: float, noise: float, start: Any, times: Any, confinement: Any = None
) -> Any:
    """Return c_0..c_K at the times by Radau with finite differences, the products as plain convolutions.

    ``multipliers`` and ``confinement`` are w_0..w_K and v_0..v_K; nothing is split off, not even the linear terms:
    c_k' = -D k^2 c_k - k sum_j j u_j c_{k-j} with u_j = (kappa w_j c_j + v_j) / 2, the coefficients of the potential.
    """
    import numpy as np
    from scipy.integrate import solve_ivp

    degree = len(start) - 1
    k = np.arange(degree + 1)
    fixed = np.zeros(degree + 1) if confinement is None else np.asarray(confinement, dtype=float)

    def two_sided(c: Any) -> Any:
        return np.concatenate([c[:0:-1].conj(), c])

    def derivative(_: float, parts: Any) -> Any:
        c = np.concatenate([[1.0], parts[:degree] + 1j * parts[degree:]])
        potential = 0.5 * (coupling * np.asarray(multipliers) * c + fixed)
        slope = np.concatenate([-(k * potential)[:0:-1].conj(), k * potential])
        products = np.convolve(slope, two_sided(c))[2 * degree : 3 * degree + 1]
        change = -noise * k**2 * c - k * products
        return np.concatenate([change[1:].real, change[1:].imag])

    begin = np.asarray(start, dtype=complex)
    solved = solve_ivp(
        derivative, (0.0, times[-1]), np.concatenate([begin[1:].real, begin[1:].imag]), "Radau", times,
        rtol=1e-10, atol=1e-13,
    )  # fmt: skip
    parts = solved.y.T
    return np.hstack([np.ones((len(parts), 1)), parts[:, :degree] + 1j * parts[:, degree:]])


# Densities about an axis by their values at nodes and the kernel itself, without modes: plain numpy


class Collocation:
    """Stationary densities about an axis, even ones on the circle, at D = 1 or another noise.

    ``kernel`` holds the mean of W over the azimuth between two nodes, ``weights`` the uniform probability.
    """

    def __init__(self, problem: Any, nodes: int = 96) -> None:
        self.noise, dimension = float(problem.noise), problem.domain.dimension
        self.angles, self.weights = _polar_nodes(dimension, nodes)
        cosine, sine = np.cos(self.angles), np.sin(self.angles)
        azimuth, shares = (
            (np.array([1.0, -1.0]), np.array([0.5, 0.5])) if dimension == 2 else _gauss_jacobi(dimension - 1, nodes)
        )
        between = np.multiply.outer(np.outer(cosine, cosine), np.ones_like(azimuth))
        between = between + np.multiply.outer(np.outer(sine, sine), azimuth)
        self.kernel = problem.potential.values(np.arccos(np.clip(between, -1.0, 1.0))) @ shares
        field = problem.confinement
        self.field = np.zeros_like(cosine) if field is None else field.values(self.angles)

    def state(self, function: Any, amplitude: float, coupling: float) -> tuple[float, float, float, Any]:
        """Return kappa, its slope in the amplitude, F - F_0 and the density of mean <function> = amplitude.

        Newton's method for the field f of exp(f)/Z and the coupling, from a multiple of the function and a coupling
        nearby.
        """
        from scipy.optimize import brentq

        def density(values: Any) -> Any:
            masses = np.exp(values - values.max())
            return masses / (self.weights @ masses)

        f = function * brentq(lambda x: self.weights @ (density(x * function) * function) - amplitude, -1e3, 1e3)
        for _ in range(60):
            rho = density(f)
            spread = (np.diag(rho) - np.outer(rho, rho * self.weights)) * self.weights[:, None]
            pull = -self.kernel @ (self.weights * rho) / self.noise
            across = np.eye(f.size) + coupling / self.noise * self.kernel @ spread
            jacobian = np.block([[across, -pull[:, None]], [function @ spread, np.zeros((1, 1))]])
            residual = np.append(
                f - coupling * pull + self.field / self.noise, self.weights @ (rho * function) - amplitude
            )
            step = np.linalg.solve(jacobian, residual)
            share = min(1.0, 1.0 / float(np.abs(step[:-1]).max() + 1e-300))
            f, coupling = f - share * step[:-1], coupling - share * step[-1]
            if np.abs(step).max() < 1e-13 * max(1.0, np.abs(f).max()):
                break
        slope = float(np.linalg.solve(jacobian, np.eye(f.size + 1)[-1])[-1])
        return float(coupling), slope, self._gap(density(f), coupling), density(f)

    def at(self, function: Any, coupling: float, amplitudes: tuple[float, float]) -> tuple[float, float, Any]:
        """Return the amplitude, F - F_0 and the density at a coupling, the amplitude between two."""
        from scipy.optimize import brentq

        amplitude = brentq(lambda a: self.state(function, a, coupling)[0] - coupling, *amplitudes, xtol=1e-15)
        _, _, gap, density = self.state(function, amplitude, coupling)
        return amplitude, gap, density

    def _gap(self, density: Any, coupling: float) -> float:
        masses = self.weights * density
        energies = [0.5 * m @ self.kernel @ m for m in (masses, self.weights)]
        entropy = self.noise * float(masses @ np.log(density))
        return entropy + coupling * float(energies[0] - energies[1]) + float((masses - self.weights) @ self.field)


def _polar_nodes(dimension: int, nodes: int) -> tuple[Any, Any]:
    if dimension > 2:
        u, weights = _gauss_jacobi(dimension, nodes)
        return np.arccos(u), weights
    weights = np.full(nodes + 1, 1.0 / nodes)
    weights[[0, -1]] *= 0.5
    return np.pi * np.arange(nodes + 1) / nodes, weights


def _gauss_jacobi(dimension: int, nodes: int) -> tuple[Any, Any]:
    from scipy.special import roots_jacobi

    exponent = (dimension - 3) / 2
    u, weights = roots_jacobi(nodes, exponent, exponent)
    return u, weights / weights.sum()


# Attention as the papers write it: tokens x, y on the unit circle with weights


def confined_state(
    interaction: Callable[[Any], Any], confinement: Callable[[Any], Any], noise: float, start: Any
) -> Any:
    """Return the density at equal angles that solves rho = exp(-(W*rho + V)/D)/Z, by Newton's method from a start.

    W and V are functions of the angle; the unknowns are the values, the Jacobian is dense.
    """
    points = len(start)
    angles = 2 * np.pi * np.arange(points) / points
    kernel = interaction(np.subtract.outer(angles, angles)) * (2 * np.pi / points)
    field, density = confinement(angles), np.asarray(start, dtype=float)

    def mapped(values: Any) -> Any:
        weights = np.exp(-(kernel @ values + field - field.min()) / noise)
        return weights / (weights.mean() * 2 * np.pi)

    for _ in range(60):
        image = mapped(density)
        centred = -(kernel - (2 * np.pi / points) * (image @ kernel)) / noise
        step = np.linalg.solve(np.eye(points) - image[:, None] * centred, image - density)
        density = density + step
        if np.abs(step).max() < 1e-14 * np.abs(density).max():
            break
    return density


def linearised_rates(
    interaction: Callable[[Any], Any], field: Callable[[Any], Any], noise: float, density: Any
) -> Any:
    """Return the eigenvalues of D u' + rho (W*u)' + u (W*rho + V)', differentiated, on densities of mass zero.

    By a dense matrix of spectral differentiation at an odd number of equal angles, largest first. The zero of the
    change of mass is left out.
    """
    points = len(density)
    angles = 2 * np.pi * np.arange(points) / points
    apart = np.subtract.outer(np.arange(points), np.arange(points))
    with np.errstate(divide="ignore"):
        derivative = np.where(apart == 0, 0.0, 0.5 * (-1.0) ** apart / np.sin(np.pi * apart / points))
    kernel = interaction(np.subtract.outer(angles, angles)) * (2 * np.pi / points)
    force = derivative @ (kernel @ density + field(angles))
    flux = noise * derivative + density[:, None] * (derivative @ kernel) + np.diag(force)
    values = np.linalg.eigvals(derivative @ flux)
    return np.sort(np.delete(values, np.argmin(np.abs(values))).real)[::-1]


def attention_velocity(normalisation: str, beta: float, angles: Any, weights: Any, places: Any = None) -> Any:
    """Return the tangential velocity of tokens at places under tokens at angles, by sums over unit vectors.

    The weights, of one density or a row for each, may be complex, for derivatives by complex steps.
    ``normalisation`` is none, softmax or ngpt.
    """
    places = angles if places is None else places
    kernel = np.exp(
        beta * (np.cos(places)[:, None] * np.cos(angles) + np.sin(places)[:, None] * np.sin(angles) - 1.0)
    )
    total, across, up = (weights @ (kernel * part).T for part in (1.0, np.cos(angles), np.sin(angles)))
    along = np.cos(places) * up - np.sin(places) * across
    if normalisation == "none":
        return np.exp(beta) * along
    if normalisation == "softmax":
        return along / total
    return along / np.sqrt(across**2 + up**2)


def collocated_current(problem: Any, density: Any, speed: float = 0.0) -> tuple[Any, Any]:
    """Return the time derivative of a density of mean one on a grid of the circle, and its Jacobian.

    Under attention or the gradient law of a potential, with lag, common frequency and confinement, in a frame that
    turns with a speed, by collocation in trigonometric polynomials; what is not linear in the density is
    differentiated by complex steps.
    """
    points, law = density.size, problem.velocity
    angles = 2.0 * np.pi * np.arange(points) / points
    inner, places = law.unturned.unlagged, angles + law.lag
    normalisation = {"softmax attention": "softmax", "nGPT attention": "ngpt"}.get(inner.name)
    waves = 1j * np.fft.fftfreq(points, 1.0 / points)
    derivative = np.fft.ifft(waves[:, None] * np.fft.fft(np.eye(points), axis=0), axis=0).real
    slope = 0.0 if problem.confinement is None else np.asarray(problem.confinement.slope(angles))
    force = law.frequency - speed - slope
    if normalisation is None:
        kernel = -np.asarray(inner.potential.slope(np.subtract.outer(places, angles)))
        velocities, changes = kernel @ density / points, kernel.T / points
    else:
        moved = density + 1e-30j * np.eye(points)
        velocities, changes = (
            attention_velocity(normalisation, inner.beta, angles, values / points, places)
            for values in (density, moved)
        )
        changes = changes.imag / 1e-30
    along = force + problem.coupling * velocities
    flux = problem.coupling * changes * density + np.diag(along)
    diffusion = problem.noise * derivative @ derivative
    return diffusion @ density - derivative @ (density * along), diffusion - derivative @ flux.T


def collocated_at_rest(problem: Any, cosine: Any, sine: Any, points: int) -> tuple[Any, Any, Any]:
    """Return :func:`collocated_current` at the density of some moments, and the derivative of that by the angle.

    Without a confinement in the frame that turns with the density as nearly as a frame can.
    """
    angles = 2.0 * np.pi * np.arange(points) / points
    degrees = np.arange(min(cosine.size, points // 2))
    waves = (cosine - 1j * sine)[: degrees.size, None] * np.exp(1j * np.multiply.outer(degrees, angles))
    density, slope = 2.0 * waves.sum(axis=0).real - 1.0, 2.0 * (1j * degrees @ waves).real
    change, jacobian = collocated_current(problem, density)
    if problem.confinement is None:
        change, jacobian = collocated_current(problem, density, -float(change @ slope) / float(slope @ slope))
    return change, jacobian, slope


def born_coupling(problem: Any, mode: int, amplitude: float, points: int) -> float:
    """Return the coupling at which a state or wave on the circle has the moment ``amplitude`` of a mode, by Newton.

    Unknown are the density on a grid, the speed of the frame and the coupling. The moment is real, and the start the
    density of that moment alone, at the threshold where it is critical.
    """
    angles, law = 2.0 * np.pi * np.arange(points) / points, problem.velocity
    linear = collocated_current(problem.at(coupling=1.0), np.ones(points))[1]
    wave = np.exp(1j * mode * angles)
    rate = np.vdot(wave, linear @ wave) / points + problem.noise * mode**2
    coupling = problem.noise * mode**2 / rate.real
    density, speed = 1.0 + 2.0 * amplitude * np.cos(mode * angles), -coupling * rate.imag / mode - law.frequency
    conditions = np.array([np.ones(points), np.cos(mode * angles), np.sin(mode * angles)]) / points
    # The sum of the time derivatives vanishes for every density.
    kept = np.eye(points)[1:]
    for _ in range(12):
        change, jacobian = collocated_current(problem.at(coupling=coupling), density, speed)
        doubled, moved = (
            collocated_current(problem.at(coupling=factor * coupling), density, frame)[0]
            for factor, frame in ((2.0, speed), (1.0, speed + 1.0))
        )
        matrix = np.zeros((points + 2, points + 2))
        matrix[: points - 1, :points] = kept @ jacobian
        matrix[: points - 1, points:] = kept @ np.array([(doubled - change) / coupling, moved - change]).T
        matrix[points - 1 :, :points] = conditions
        missed = np.append(kept @ change, conditions @ density - [1.0, amplitude, 0.0])
        step = np.linalg.solve(matrix, missed)
        density, coupling, speed = density - step[:points], coupling - step[points], speed - step[points + 1]
    return float(coupling)


def of_mean_zero(points: int) -> Any:
    """Return an orthonormal basis of the functions of mean zero on a grid of the circle, (points, points - 1)."""
    return np.linalg.svd(np.full((1, points), 1.0))[2][1:].T


def softmax_state(beta: float, exponent: float, points: int, rounds: int = 4000, start: Any = None) -> Any:
    """Return the density (K*rho)^p/Z on a grid of the circle by iteration of this map, by default from a cluster."""
    angles = 2.0 * np.pi * np.arange(points) / points
    kernel = np.exp(beta * (np.cos(angles[:, None] - angles) - 1.0)) / points
    density = np.exp(np.cos(angles)) if start is None else start / start.mean()
    for _ in range(rounds):
        density = (kernel @ density) ** exponent
        density /= density.mean()
    return density


def collocated_attention(
    normalisation: str, beta: float, coupling: float, noise: float, density: Any, force: Any = 0.0
) -> tuple[Any, Any]:
    """Return the time derivative of a density on a grid and its Jacobian, by collocation and complex steps.

    The density has mean one, on an odd number of points; ``force`` is minus the slope of a confinement there.
    """
    points = density.size
    angles = 2.0 * np.pi * np.arange(points) / points
    waves = 1j * np.fft.fftfreq(points, 1.0 / points)
    derivative = np.fft.ifft(waves[:, None] * np.fft.fft(np.eye(points), axis=0), axis=0).real
    jacobian = noise * derivative @ derivative
    step = 1e-30
    velocity = attention_velocity(normalisation, beta, angles, density / points)
    along = coupling * velocity + np.broadcast_to(force, points)
    change = noise * derivative @ derivative @ density - derivative @ (density * along)
    moved = density + 1j * step * np.eye(points)
    flux = coupling * density * attention_velocity(normalisation, beta, angles, moved / points).imag / step
    jacobian -= derivative @ (flux + np.diag(along)).T
    return change, jacobian


def attention_state(
    normalisation: str, beta: float, coupling: float, noise: float, start: Any, force: Any = 0.0
) -> Any:
    """Return the stationary density near a start on a grid, by Newton's method on the collocated time derivative.

    The mass stays, and no step is along the derivative of the start: without a field, rotations are states as well.
    """
    density = start / start.mean()
    waves = 1j * np.fft.fftfreq(density.size, 1.0 / density.size)
    turn = np.zeros(density.size) if np.any(force) else np.fft.ifft(waves * np.fft.fft(density)).real
    for _ in range(30):
        change, jacobian = collocated_attention(normalisation, beta, coupling, noise, density, force)
        rows = np.vstack([jacobian, np.ones(density.size), turn])
        step = np.linalg.lstsq(rows, np.append(change, [0.0, 0.0]), rcond=1e-14)[0]
        density = density - step
        if np.abs(step).max() <= 1e-13 * np.abs(density).max():
            break
    return density


def attention_density(normalisation: str, beta: float, ratio: float, density: Any, rounds: int = 3) -> Any:
    """Return exp(ratio * integral of v)/Z on a grid after some rounds, accurate relative to itself everywhere.

    What may be rounding noise of the start is left out: far from the others its particles would decide.
    """
    angles = 2 * np.pi * np.arange(density.size) / density.size
    waves = 1j * np.fft.fftfreq(density.size, 1.0 / density.size)
    waves[0] = np.inf
    density = np.where(density > 1e-12 * density.max(), density, 0.0)
    for _ in range(rounds):
        velocity = attention_velocity(normalisation, beta, angles, density / density.size)
        field = ratio * np.fft.ifft(np.fft.fft(velocity) / waves).real
        density = np.exp(field - field.max())
        density /= density.mean()
    return density


def attention_eigenvalues(
    normalisation: str, beta: float, coupling: float, noise: float, density: Any, force: Any = 0.0
) -> Any:
    """Return the eigenvalues of the equation linearised at a density on a grid, as :func:`collocated_attention`.

    Zero is an eigenvalue with the mass as its left eigenvector, and another one with rotation.
    """
    return np.linalg.eigvals(collocated_attention(normalisation, beta, coupling, noise, density, force)[1])


# Collapse without noise


def collapsed_remainders(
    slope: Callable[[Any], Any], density: Callable[[Any], Any], coupling: float, times: Any
) -> Any:
    """Return 1 - r at times on the circle, from equispaced labels and sums over all pairs, by Runge-Kutta steps."""
    count = 300
    angles = 2 * np.pi * np.arange(count) / count
    masses = density(angles) * 2 * np.pi / count

    def velocity(x: Any) -> Any:
        return -coupling * slope(x[:, None] - x[None, :]) @ masses

    found, now = [], 0.0
    for time in times:
        steps = max(1, int(np.ceil((time - now) / 0.02)))
        angles = _runge_kutta(velocity, angles, (time - now) / steps, steps)
        now = time
        mean = masses @ np.exp(1j * angles)
        found.append(1.0 - abs(mean))
    return np.array(found)


def ring_remainders(
    slope: Callable[[Any], Any], profile: Callable[[Any], Any], dimension: int, coupling: float, times: Any
) -> Any:
    """Return 1 - r at times for a density about the axis of a sphere, as rings whose forces are sums over points.

    A ring at the angle t attracts x by the mean of W'(gamma) times the derivative of gamma, over directions around
    the axis, with cos gamma = cos x cos t + sin x sin t cos phi and the weight sin^(d-3) phi.
    """
    nodes, weights = np.polynomial.legendre.leggauss(64)
    polar, directions = 0.5 * np.pi * (nodes + 1), 0.5 * np.pi * (np.polynomial.legendre.leggauss(24)[0] + 1)
    around = np.polynomial.legendre.leggauss(24)[1] * np.sin(directions) ** (dimension - 3)
    around = around / around.sum()
    masses = weights * profile(polar) * np.sin(polar) ** (dimension - 2)
    masses = masses / masses.sum()
    cosines = np.cos(directions)

    def velocity(t: Any) -> Any:
        x, y = t[:, None, None], t[None, :, None]
        inner = np.cos(x) * np.cos(y) + np.sin(x) * np.sin(y) * cosines
        change = np.sin(x) * np.cos(y) - np.cos(x) * np.sin(y) * cosines
        gamma = np.arccos(np.clip(inner, -1.0, 1.0))
        sines = np.maximum(np.sin(gamma), 1e-12)
        # d gamma / dx = change / sin gamma
        forces = np.where(sines > 1e-9, slope(gamma) * change / sines, 0.0)
        return -coupling * (forces @ around) @ masses

    found, now, angles = [], 0.0, polar
    for time in times:
        steps = max(1, int(np.ceil((time - now) / 0.05)))
        angles = _runge_kutta(velocity, angles, (time - now) / steps, steps)
        now = time
        found.append(float(masses @ (2 * np.sin(angles / 2) ** 2)))
    return np.array(found)


def _runge_kutta(velocity: Callable[[Any], Any], state: Any, step: float, steps: int) -> Any:
    for _ in range(steps):
        first = velocity(state)
        second = velocity(state + 0.5 * step * first)
        third = velocity(state + 0.5 * step * second)
        fourth = velocity(state + step * third)
        state = state + step / 6 * (first + 2 * second + 2 * third + fourth)
    return state


def particle_remainders(slope: Callable[[Any], Any], angles: Any, times: Any) -> Any:
    """Return 1 - r of particles of equal mass at times, whose forces are sums over pairs, without losing digits."""
    count, now, found = angles.size, 0.0, []

    def velocity(x: Any) -> Any:
        return -slope(x[:, None] - x[None, :]).mean(axis=1)

    for time in times:
        steps = max(1, int(np.ceil((time - now) / 0.04)))
        angles = _runge_kutta(velocity, angles, (time - now) / steps, steps)
        now = time
        mean = np.exp(1j * angles).sum() / count
        found.append(float(np.mean(2 * np.sin(0.5 * (angles - np.angle(mean))) ** 2)))
    return np.array(found)


def extrapolated_slope(function: Callable[[Any], Any], place: Any, step: Any, levels: int = 8) -> tuple[Any, Any]:
    """Return the derivative of an array of numbers by Neville's extrapolation of central differences, and its error.

    In longdouble; the error is the largest change by the last extrapolation, the least over the table, and that of
    rounding.
    """
    place, step = np.longdouble(place), np.longdouble(step)
    column: list[Any] = []
    best, least = None, np.inf
    for _ in range(levels):
        upper, lower = (np.asarray(function(float(place + side)), dtype=np.longdouble) for side in (step, -step))
        width = np.longdouble(float(place + step)) - np.longdouble(float(place - step))
        rounding = 16 * np.finfo(float).eps * max(np.abs(upper).max(), np.abs(lower).max()) / width
        row = [(upper - lower) / width]
        for order, coarse in enumerate(column, start=1):
            row.append(row[-1] + (row[-1] - coarse) / (4**order - 1))
            error = float(np.abs(row[-1] - row[-2]).max() + rounding)
            if error < least:
                best, least = row[-1], error
        column, step = row, step / 2
    return best, least


def attention_states(
    normalisation: str, beta: float, coupling: float, noise: float, values: Any, tries: int, seed: int, even: bool
) -> list[Any]:
    """Return densities on a grid, of mean one, that are fixed points of the stationary map of attention with noise.

    ``values`` are those of V on the grid. By a root finder with differences from random starts, of all densities or of
    even ones: softmax by (K*rho)^p e^(-V/D), others by the integral of the velocity, which needs even densities.
    """
    points = values.size
    angles = 2.0 * np.pi * np.arange(points) / points
    kernel = np.exp(beta * (np.cos(angles[:, None] - angles) - 1.0)) / points
    waves = np.fft.rfftfreq(points, 1.0 / points)

    def mapped(density: Any) -> Any:
        if normalisation == "softmax":
            field = coupling / beta * np.log(np.maximum(kernel @ density, 1e-300))
        else:
            velocity = coupling * attention_velocity(normalisation, beta, angles, density / points)
            series = np.fft.rfft(velocity)
            series[1:] /= 1j * waves[1:]
            series[0] = series[-1] = 0.0
            field = np.fft.irfft(series, points)
        weights = np.exp((field - values - (field - values).max()) / noise)
        return weights / weights.mean()

    random, found = np.random.default_rng(seed), []
    for _ in range(tries):
        places, width = random.uniform(0.0, 2.0 * np.pi, 3), 10.0 ** random.uniform(-0.5, 1.2)
        start = sum(
            share * np.exp(width * (np.cos(angles - place) - 1.0))
            for share, place in zip(random.exponential(size=3), places, strict=True)
        )
        start = start + 1e-3 * start.max()
        start = 0.5 * (start + np.roll(start[::-1], 1)) if even else start
        ended = optimize.root(lambda density: density - mapped(density), start / start.mean(), tol=1e-13)
        if np.abs(ended.fun).max() > 1e-9 or ended.x.min() < -1e-9:
            continue
        if not any(np.abs(ended.x - other).max() < 1e-5 * other.max() for other in found):
            found.append(ended.x)
    return found


def fold_equations(
    unknown: Sequence[Any], couplings: Callable[[Any, Any], Sequence[Any]], points: int
) -> list[Any]:
    """Return the residuals of a fold on the circle, exact rationals apart by trapezoid sums in mpmath.

    The unknowns are moments m_1..m_n, the null vector u_1..u_n, and the two parameters; the equations are
    m = <c>, u = Cov(c) 2 lambda u and |u|^2 = 1, with 2 lambda_k = couplings(first, second)[k].
    """
    n = (len(unknown) - 2) // 2
    m, u, (first, second) = unknown[:n], unknown[n : 2 * n], unknown[2 * n :]
    strengths = couplings(first, second)
    angles = [mp.pi * j / points for j in range(points + 1)]
    waves = [[mp.cos(k * t) for k in range(1, n + 1)] for t in angles]
    sides = [mp.mpf(1) / 2 if j in (0, points) else mp.mpf(1) for j in range(points + 1)]
    weights = [
        side * mp.exp(mp.fsum(s * a * c for s, a, c in zip(strengths, m, wave, strict=True)))
        for side, wave in zip(sides, waves, strict=True)
    ]
    total = mp.fsum(weights)
    weights = [weight / total for weight in weights]
    means = [mp.fsum(w * wave[k] for w, wave in zip(weights, waves, strict=True)) for k in range(n)]
    phi = [mp.fsum(s * v * c for s, v, c in zip(strengths, u, wave, strict=True)) for wave in waves]
    mean = mp.fsum(w * p for w, p in zip(weights, phi, strict=True))
    response = [
        mp.fsum(w * (p - mean) * wave[k] for w, p, wave in zip(weights, phi, waves, strict=True)) for k in range(n)
    ]
    third = mp.fsum(w * (p - mean) ** 3 for w, p in zip(weights, phi, strict=True))
    return [a - b for a, b in zip(m, means, strict=True)] + [a - b for a, b in zip(u, response, strict=True)] + [
        mp.fsum(v * v for v in u) - 1, third
    ]  # fmt: skip
