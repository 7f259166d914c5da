"""Spectra at zonal states against the closed forms and a dense, non-symmetric Galerkin matrix of the equation."""

import functools

import numpy as np
import pytest
from numpy.polynomial import legendre
from scipy.optimize import brentq
from scipy.special import eval_gegenbauer, roots_jacobi

from meanfield import CosineSeries, GegenbauerSeries, Kuramoto, McKeanVlasov, Sphere, State, Transformer
from solvers.sphere.linearised.bounds import SectorBounds
from solvers.sphere.linearised.rates import slowest_rate
from solvers.sphere.linearised.sectors import SectorSource
from solvers.sphere.linearised.spectra import sector_spectrum, spectrum
from tests import problems

EPS = np.finfo(float).eps

MAIER_SAUPE = CosineSeries((0.0, -1.0))


class Dense:
    """The linearised equation in orthonormal harmonics, on scipy's quadrature: no weights, no symmetric form."""

    def __init__(self, problem, degree=60, nodes=200):
        self.problem, self.degree = problem, degree
        self.dimension = d = problem.domain.dimension
        self.nodes, weights = roots_jacobi(nodes, 0.5 * (d - 3), 0.5 * (d - 3))
        self.weights = weights / weights.sum()
        multiplicity = np.array([float(problem.domain.multiplicity(k)) for k in range(degree + 1)])
        self.convolution = problem.potential.multipliers(problem.domain, degree).astype(float) / multiplicity
        self.polynomials = self._functions(0)[0] / np.sqrt(multiplicity)[:, None]
        self.slopes = self._functions(0)[1] / np.sqrt(multiplicity)[:, None]
        self.external = np.zeros(degree + 1)
        if problem.confinement is not None:
            self.external = problem.confinement.multipliers(problem.domain, degree).astype(float)

    def _functions(self, order):
        """Orthonormal functions of a sector and their derivatives in u."""
        u, across = self.nodes, 1.0 - self.nodes**2
        index = 0.5 * (self.dimension - 2) + order
        degrees = np.arange(self.degree - order + 1)
        values = np.array([eval_gegenbauer(k, index, u) for k in degrees])
        slopes = np.array([2 * index * eval_gegenbauer(k - 1, index + 1, u) if k else 0 * u for k in degrees])
        slopes = across ** (0.5 * order) * slopes - order * u * across ** (0.5 * order - 1) * values
        values = across ** (0.5 * order) * values
        norms = np.sqrt(values**2 @ self.weights)[:, None]
        return values / norms, slopes / norms

    def field(self, moments):
        """Coefficients of Phi = kappa W * rho + V in the P_l."""
        w = self.problem.potential.multipliers(self.problem.domain, self.degree).astype(float)
        return self.problem.coupling * w * moments + self.external

    def density(self, moments):
        exponent = -(self.field(moments) @ self.polynomials) / self.problem.noise
        density = np.exp(exponent - exponent.max())
        return density / (density @ self.weights)

    def state(self, start):
        """The state nearest to a start, by Newton on the moments."""
        moments = np.append(1.0, np.zeros(self.degree))
        moments[1 : len(start) + 1] = start
        w = self.problem.potential.multipliers(self.problem.domain, self.degree).astype(float)
        for _ in range(60):
            weighted = self.density(moments) * self.weights
            means = self.polynomials @ weighted
            covariance = (self.polynomials * weighted) @ self.polynomials.T - np.outer(means, means)
            jacobian = np.eye(self.degree + 1) + covariance * (self.problem.coupling / self.problem.noise * w)
            step = np.linalg.solve(jacobian, means - moments)
            moments = moments + step
            if np.abs(step).max() < 1e-15:
                break
        residual = float(np.abs(self.polynomials @ (self.density(moments) * self.weights) - moments).max())
        even = self.problem.confinement is None and np.abs(moments[1::2]).max() < 1e-14
        return State(
            self.problem, moments, np.zeros_like(moments), {}, None, 2 if even else 1, residual, self.degree
        )

    def eigenvalues(self, state, order):
        """All eigenvalues of L on densities sum_l a_l psi_l, largest first."""
        problem, across = self.problem, 1.0 - self.nodes**2
        values, slopes = self._functions(order)
        share = order * (order + self.dimension - 3)
        density = self.density(state.cosine)
        drift = self.field(state.cosine) @ self.slopes
        rows, around = slopes * (across * self.weights), values * (share / across * self.weights)
        free = problem.noise * (rows @ slopes.T + around @ values.T)
        carried = (rows * drift) @ values.T
        attracted = (rows * density) @ slopes.T + (around * density) @ values.T
        matrix = free + carried + problem.coupling * attracted * self.convolution[order:]
        if order == 0:
            matrix = matrix[1:, 1:]
        found = np.linalg.eigvals(-matrix)
        assert np.abs(found.imag[np.argsort(-found.real)[:10]]).max() < 1e-9
        return np.sort(found.real)[::-1]


def on(dimension, potential, coupling, noise=1.0, confinement=None):
    return McKeanVlasov(Sphere(dimension), potential, noise, coupling, confinement)


CASES = {
    "transformer": (problems.CLUSTERED_SPHERICAL_ATTENTION.problem, (0.5,)),
    "concentrated": (on(3, Transformer(beta=3.0), 3.0), (0.9, 0.7)),
    "dipole": (problems.SPINS_AT_5.problem, (0.7,)),
    "dipole in 8": (on(8, Kuramoto(), 20.0, noise=1.3), (0.7,)),
    "transformer in 8": (on(8, Transformer(beta=2.0), 12.0), (0.8, 0.6)),
    "prolate": (on(3, MAIER_SAUPE, 6.0), (0.0, 0.6)),
    "oblate": (on(3, MAIER_SAUPE, 6.0), (0.0, -0.2)),
    "oblate in 8": (on(8, MAIER_SAUPE, 60.0, noise=0.7), (0.0, -0.1)),
    "confined": (on(3, Kuramoto(), 2.0, noise=0.8, confinement=CosineSeries((-0.3, 0.5))), (0.2,)),
    "confined in 8": (on(8, Transformer(beta=1.0), 7.0, confinement=CosineSeries((0.8, -0.5))), (-0.3,)),
}

# What the dense matrix itself leaves: its eigenvalue problem is not symmetric, and worse in high dimensions.
DENSE_ERROR = {3: 1e-10, 8: 4e-9}


@functools.cache
def solved(name):
    problem, start = CASES[name]
    dense = Dense(problem)
    return dense, dense.state(start)


def von_mises_fisher(dimension, coupling):
    """The ordered state of the dipole model: exp(r u), r = coupling m, m = I_(d/2)(r)/I_(d/2-1)(r)."""

    def mean(r):
        fraction = 0.0
        for index in range(dimension // 2 + int(r) + 200, 0, -1):
            # The continued fraction of the ratio, from I_(d/2+k) down to I_(d/2-1).
            fraction = 1.0 / ((dimension + 2 * (index - 1)) / r + fraction)
        return fraction

    r = brentq(lambda r: coupling * mean(r) - r, 1e-2 * coupling, coupling, xtol=1e-15, rtol=8 * EPS)
    moments = np.array([1.0, r / coupling])
    return State(on(dimension, Kuramoto(), coupling), moments, np.zeros(2), {}, None, 1, EPS, 64)


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("transformer", problems.CLUSTERED_SPHERICAL_ATTENTION),
        ("dipole", problems.SPINS_AT_5),
    ],
)
def test_the_lowest_rates_of_three_sectors_have_their_exact_values(name, entry):
    rates = [entry.exact(f"rate of order {order}") for order in range(3)]
    found = [-sector_spectrum(solved(name)[1], order).values[0] for order in range(3)]
    np.testing.assert_allclose(found, rates, rtol=1e-12)


@pytest.mark.parametrize("order", range(4))
@pytest.mark.parametrize("name", CASES)
def test_sectors_agree_with_a_dense_matrix_of_another_form(name, order):
    dense, state = solved(name)
    expected = dense.eigenvalues(state, order)
    found = sector_spectrum(state, order)
    rotates = order == 1 and state.problem.confinement is None
    assert (found.rotation is not None) == rotates
    if rotates:
        nearest = np.argmin(np.abs(expected))
        assert abs(expected[nearest]) < 1e-6
        expected = np.delete(expected, nearest)
        assert abs(found.rotation) < 1e3 * EPS * np.abs(found.values).max()
        assert found.overlap == pytest.approx(1.0, abs=1e-9)
    tolerance = DENSE_ERROR[state.problem.domain.dimension] * np.abs(expected[:5])
    if name == "prolate":
        tolerance += 1e-12
    np.testing.assert_array_less(np.abs(found.values[:5] - expected[:5]), tolerance + found.errors[:5])
    np.testing.assert_array_less(found.errors[:5], 1e-10 * np.abs(found.values[:5]))


@pytest.mark.parametrize("name", CASES)
def test_the_slowest_rate_is_the_lowest_of_the_spectrum(name):
    _, state = solved(name)
    whole = spectrum(state)
    assert slowest_rate(state) == pytest.approx(whole.slowest_rate, rel=1e-9)
    merged = np.sort(np.concatenate(whole.sectors[1:]))[::-1]
    np.testing.assert_array_equal(whole.odd, merged)
    np.testing.assert_array_equal(whole.even, whole.sectors[0])


@pytest.mark.parametrize("name", CASES)
def test_a_spectrum_leaves_no_eigenvalue_out(name):
    dense, state = solved(name)
    whole = spectrum(state)
    last = whole.eigenvalues[-1]
    for order in range(len(whole.sectors) + 2):
        expected = dense.eigenvalues(state, order)
        if order == 1 and state.problem.confinement is None:
            expected = np.delete(expected, np.argmin(np.abs(expected)))
        listed = whole.sectors[order].size if order < len(whole.sectors) else 0
        assert (
            np.count_nonzero(expected > last * (1 - 1e-6))
            <= listed
            <= np.count_nonzero(expected > last * (1 + 1e-6))
        )


@pytest.mark.parametrize(("name", "unstable"), [("oblate", 2), ("oblate in 8", 27), ("prolate", 0), ("dipole", 0)])
def test_unstable_directions_count_with_the_harmonics_around_the_axis(name, unstable):
    assert spectrum(solved(name)[1]).unstable == unstable


@pytest.mark.parametrize("name", CASES)
def test_the_bound_on_sectors_not_seen_holds(name):
    _, state = solved(name)
    source = SectorSource(state)
    sectors = SectorBounds(source.sector(0, 32).field)
    bounds = []
    for order in range(6):
        sectors.visit(source.sector(order, 32), np.inf)
        bounds.append(sectors.rate(order + 1))
        lowest = min(-sector_spectrum(state, later).values[0] for later in range(order + 1, order + 4))
        assert bounds[-1] <= lowest
    assert bounds[-1] > 0


@pytest.mark.parametrize("dimension", [3, 8, 256])
def test_uniform_states_have_the_closed_form(dimension):
    problem = on(dimension, Transformer(beta=2.0), 3.0 * dimension, noise=0.4)
    state = State(problem, np.array([1.0, 0.0]), np.zeros(2), {}, None, 0, 0.0, 64)
    degrees = np.arange(1, 21)
    counts = np.array([problem.domain.multiplicity(int(k)) for k in degrees], dtype=float)
    multipliers = problem.potential.multipliers(problem.domain, 20)[1:].astype(float) / counts
    free = degrees * (degrees + dimension - 2.0)
    rates = free * (0.4 + 3.0 * dimension * multipliers)
    whole = spectrum(state)
    for order in (0, 1, 2, 5):
        expected = np.sort(rates[max(order, 1) - 1 :])
        np.testing.assert_allclose(-whole.sectors[order], expected, atol=8 * EPS * free.max())
        np.testing.assert_allclose(
            -sector_spectrum(state, order).values[:4], expected[:4], atol=8 * EPS * free.max()
        )
    assert whole.rotation is None
    assert whole.unstable == sum(problem.domain.multiplicity(int(k)) for k in degrees[rates < 0])
    assert slowest_rate(state) == pytest.approx(rates.min(), rel=1e-13)


@pytest.mark.parametrize(("dimension", "coupling"), [(3, 1e3), (3, 1e5), (16, 1e4), (64, 200.0), (1024, 3e3)])
def test_concentrated_and_high_dimensional_states_are_resolved(dimension, coupling):
    state = von_mises_fisher(dimension, coupling)
    whole = spectrum(state)
    assert whole.rotation_overlap == pytest.approx(1.0, abs=1e-9)
    assert abs(whole.rotation) < 1e-9 * np.abs(whole.eigenvalues).max()
    assert slowest_rate(state) == pytest.approx(whole.slowest_rate, rel=1e-9)
    if dimension == 3 and coupling >= 1e3:
        # On the tangent plane the harmonic rates r (2 k + m) at the cluster, but for the rotation, and
        # r (2 k + m + 2) at the opposite pole, where the density is exp(-2 r) lower.
        r = coupling * state.cosine[1]
        np.testing.assert_allclose(-whole.sectors[0][:4] / r, [2.0, 2.0, 4.0, 4.0], atol=20.0 / coupling)
        np.testing.assert_allclose(-whole.sectors[1][:2] / r, [3.0, 3.0], atol=20.0 / coupling)


def test_turning_the_state_over_changes_nothing():
    _, state = solved("concentrated")
    turned = state.replace(cosine=state.cosine * (-1.0) ** np.arange(state.cosine.size))
    np.testing.assert_allclose(spectrum(turned).eigenvalues, spectrum(state).eigenvalues, rtol=1e-12)


def test_a_potential_of_one_high_degree_is_resolved_though_low_polynomials_do_not_see_it():
    nodes, weights = legendre.leggauss(300)
    weighted = np.exp(1.5 * eval_gegenbauer(30, 0.5, nodes)) * weights
    moments = np.array([eval_gegenbauer(k, 0.5, nodes) @ weighted / weighted.sum() for k in range(241)])
    problem = on(3, GegenbauerSeries((0.0,) * 29 + (-1.0,)), 1.5 / moments[30])
    state = State(problem, moments, np.zeros(241), {}, None, 2, EPS, 240)
    expected = Dense(problem, 240, 340).eigenvalues(state, 7)
    np.testing.assert_allclose(sector_spectrum(state, 7).values[:4], expected[:4], rtol=1e-9)


def exchange_rate(state):
    """Slowest rate of odd zonal perturbations on S^2 when only even degrees interact, by two integrations.

    mu h = -(1/rho) (rho (1-u^2) h')' with h(0) = 0: the flux J = int_u^1 rho h gives h' = mu J/(rho (1-u^2)).
    """
    nodes, _ = legendre.leggauss(160)
    u = 0.5 * (1.0 + nodes)
    strength = (
        1.5 * state.cosine[2] * -state.problem.potential.multipliers(Sphere(3), 2)[2] * state.problem.coupling
    )
    exponent = float(strength) * (u**2 - 1.0)
    h = np.ones_like(u)
    for _ in range(6):
        flux = legendre.legint(legendre.legfit(nodes, np.exp(exponent) * h, 159))
        flux = 0.5 * (legendre.legval(1.0, flux) - legendre.legval(nodes, flux))
        slope = flux * np.exp(-exponent) / (1.0 - u**2)
        total = legendre.legint(legendre.legfit(nodes, slope, 159))
        new = 0.5 * (legendre.legval(nodes, total) - legendre.legval(-1.0, total))
        rate, h = h[-1] / new[-1], new / new[-1]
    return rate


@pytest.mark.parametrize(("coupling", "accuracy"), [(6.0, 1e-11), (10.0, 1e-9), (14.0, 1e-7)])
def test_rates_far_below_rounding_keep_their_digits(coupling, accuracy):
    state = Dense(on(3, MAIER_SAUPE, coupling), 90, 200).state((0.0, 0.8))
    rate = exchange_rate(state)
    found = sector_spectrum(state, 0)
    assert rate < 3e-3
    assert slowest_rate(state) == pytest.approx(rate, rel=accuracy)
    assert abs(found.values[0] + rate) <= found.errors[0]
