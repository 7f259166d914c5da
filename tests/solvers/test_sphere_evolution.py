"""Evolution on spheres against independent integrations, closed forms and exact identities."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import i0e

from meanfield import (
    Circle,
    CosineSeries,
    GegenbauerSeries,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    NotResolved,
    Onsager,
    Outcome,
    Sphere,
    Transformer,
    critical_coupling,
    dissipation,
    free_energy_parts,
    open_trajectory,
)
from meanfield.cli import main
from meanfield.harmonics import about_axis, moduli, place
from solvers import (
    ETDRK4,
    LSODA,
    Checkpoint,
    Mixture,
    PerturbedUniform,
    RandomPerturbation,
    VonMises,
    Watson,
    evolve,
    moments_of,
    stationary_states,
)
from solvers.bases.spherical import ducc
from solvers.evolution.sphere.axes import direction
from solvers.evolution.sphere.hierarchy import HierarchySystem
from solvers.evolution.sphere.spherical import SphericalSystem
from solvers.evolution.sphere.zonal import ZonalSystem
from tests import problems
from tests.problems import Entry

EPS = float(np.finfo(float).eps)
ATTENTION = problems.relative(problems.STRONG_ATTENTION.problem, 2.0)
START = PerturbedUniform(0.1)
DIPOLE = problems.SPINS_AT_5.problem
# Nothing is symmetric here: odd and even degrees, repulsive and attractive, a confinement, another noise.
MIXED = McKeanVlasov(
    Sphere(3), CosineSeries((-1.0, 0.7, -0.4)), noise=0.7, coupling=4.0, confinement=CosineSeries((0.5, -0.6))
)
NO_AXIS = Mixture((VonMises(0.4, 3.0, 0.3), Watson(2.0, 1.2, -1.0), VonMises(2.0, 2.0, 2.5)), (1.0, 1.5, 0.8))


def scaled(values):
    """Relative to the perturbation of the uniform density."""
    return np.linalg.norm(values[1:])


# Oracles


def collocated(problem, kernel, values, times, count=56):
    """Return p_0..p_24 of densities on S^2 by collocation in u: nothing but numpy and a stiff integrator.

    d rho/dt = d/du [(1-u^2) (D rho' + kappa rho d/du int K(u, v) rho(v) dv)], rho a density in u, K the mean of the
    potential over the azimuth.
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    offsets = nodes[:, None] - nodes + np.eye(count)
    logs = np.log(np.abs(offsets)).sum(axis=1)
    signs = np.prod(np.sign(offsets), axis=1)
    ratio = signs[:, None] / signs * np.exp(logs[:, None] - logs)
    slope = ratio / offsets
    slope[np.diag_indices(count)] = 0.0
    slope[np.diag_indices(count)] = -slope.sum(axis=1)
    interaction = slope @ (kernel(nodes[:, None], nodes) * weights)
    across = (1.0 - nodes**2)[:, None]
    diffusion = slope @ (across * slope) * problem.noise

    def derivative(_, density):
        return diffusion @ density + problem.coupling * slope @ (across[:, 0] * density * (interaction @ density))

    def jacobian(_, density):
        field = np.diag(interaction @ density) + density[:, None] * interaction
        return diffusion + problem.coupling * slope @ (across * field)

    path = solve_ivp(
        derivative, (0.0, times[-1]), values(nodes), "Radau", times, jac=jacobian, rtol=1e-10, atol=1e-12
    )
    table = np.polynomial.legendre.legvander(nodes, 24)
    return path.y.T @ (weights[:, None] * table)


def attention_kernel(beta):
    def kernel(u, v):
        inside = beta * np.sqrt((1.0 - u**2) * (1.0 - v**2))
        return -np.exp(beta * u * v + inside) * i0e(inside) / beta

    return kernel


def dipole_hierarchy(dimension, coupling, start, until, degree=60):
    """Return p_l of the O(n) flow from its own closed hierarchy, W = -<x, y>."""
    degrees = np.arange(1.0, degree + 1)
    rates = degrees * (degrees + dimension - 2)
    gains = coupling * rates / (2 * degrees + dimension - 2)

    def derivative(_, p):
        whole = np.concatenate([[1.0], p, [0.0]])
        return -rates * p + gains * p[0] * (whole[:-2] - whole[2:])

    def jacobian(_, p):
        matrix = np.diag(-rates) + np.diag(gains[1:] * p[0], -1) - np.diag(gains[:-1] * p[0], 1)
        whole = np.concatenate([[1.0], p, [0.0]])
        matrix[:, 0] += gains * (whole[:-2] - whole[2:])
        return matrix

    path = solve_ivp(derivative, (0.0, until), start[1:], "Radau", jac=jacobian, rtol=1e-11, atol=1e-13)
    return np.concatenate([[1.0], path.y[:, -1]])


# Accuracy


@pytest.fixture(scope="module")
def reference():
    return collocated(ATTENTION, attention_kernel(4.0), lambda u: 0.5 * (1.0 + 0.1 * u), [0.5, 1.0])


@pytest.mark.parametrize(
    ("tolerance", "method"), [(1e-4, None), (1e-8, None), (1e-4, ETDRK4()), (1e-8, ETDRK4()), (1e-8, LSODA())]
)
def test_error_is_below_the_tolerance(reference, tolerance, method):
    trajectory = evolve(ATTENTION, START, 1.0, times=[0.5, 1.0], tolerance=tolerance, method=method)
    for row, exact in zip(trajectory.cosine, reference, strict=True):
        assert scaled(row[:25] - exact) <= tolerance * scaled(exact)


@pytest.mark.parametrize("dimension", [3, 4, 8, 24, 200])
def test_dipoles_in_any_dimension(dimension):
    problem = McKeanVlasov(Sphere(dimension), Kuramoto(), coupling=2.0 * dimension)
    start = VonMises(0.0, dimension**0.5)
    cosine = moments_of(problem, start).cosine
    until = 0.8 / dimension**0.5
    exact = dipole_hierarchy(dimension, 2.0 * dimension, np.pad(cosine, (0, 61 - cosine.size)), until)
    for method in (LSODA(), ETDRK4()):
        found = evolve(problem, start, until, times=[until], method=method).cosine[-1]
        count = min(found.size, exact.size)
        assert scaled(found[:count] - exact[:count]) <= 1e-8 * scaled(exact)


def test_observed_order_of_fixed_steps():
    exact = evolve(ATTENTION, START, 0.8, times=[0.8], tolerance=1e-12).cosine[-1, :40]
    errors = [
        scaled(evolve(ATTENTION, START, 0.8, times=[0.8], method=ETDRK4(0.8 / n)).cosine[-1, :40] - exact)
        for n in (100, 200, 400)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 4.0) <= 0.15), orders


@pytest.mark.parametrize("dimension", [3, 5])
@pytest.mark.parametrize("symmetry", [1, 2])
def test_jacobian_is_the_derivative(dimension, symmetry):
    confinement = GegenbauerSeries((0.0, -0.6), dimension=dimension)
    interaction = GegenbauerSeries((0.0, -1.0, 0.0, 0.3), dimension=dimension)
    problem = McKeanVlasov(Sphere(dimension), interaction, coupling=9.0, confinement=confinement)
    system = ZonalSystem(problem, 20, symmetry)
    unknown = np.random.default_rng(3).standard_normal(20) * 0.5 ** np.arange(1, 21)
    matrix = system.jacobian(0.0, unknown).copy()
    step = 1e-5
    scale = np.abs(system.derivative(0.0, unknown)).max() + np.abs(matrix).max()
    for column in range(0, 20, 3):
        change = np.zeros(20)
        change[column] = step
        difference = system.derivative(0.0, unknown + change) - system.derivative(0.0, unknown - change)
        # The system is quadratic, so central differences are exact up to the rounding of 60 terms.
        assert np.abs(difference / (2 * step) - matrix[:, column]).max() <= 64 * EPS * scale / step


@pytest.mark.parametrize("dimension", [3, 9])
@pytest.mark.parametrize("symmetry", [1, 2])
def test_products_and_quadrature_are_the_same_equation(dimension, symmetry):
    confinement = GegenbauerSeries((0.0 if symmetry == 2 else 0.3, -0.6), dimension=dimension)
    problem = McKeanVlasov(Sphere(dimension), Transformer(2.0), noise=0.7, coupling=3.0, confinement=confinement)
    systems = [kind(problem, 30, symmetry) for kind in (ZonalSystem, HierarchySystem)]
    unknown = np.random.default_rng(0).standard_normal(30) * 0.5 ** np.arange(1, 31)
    one, other = (system.nonlinear(unknown) for system in systems)
    assert np.abs(one - other).max() <= 64 * EPS * np.abs(one).max()
    one, other = (system.jacobian(0.0, unknown) for system in systems)
    assert np.abs(one - other).max() <= 64 * EPS * np.abs(one).max()


def polynomial_fields():
    """Return points of a cubature of degree 20 on S^2, its weights, and harmonics with their gradients in space."""
    heights, weights = np.polynomial.legendre.leggauss(11)
    turns = 2 * np.pi * np.arange(22) / 22
    z = np.repeat(heights, 22)
    across = np.sqrt(1 - z**2)
    x, y = across * np.cos(np.tile(turns, 11)), across * np.sin(np.tile(turns, 11))
    zero, one = np.zeros_like(x), np.ones_like(x)
    root = math.sqrt
    harmonics = {
        # (l, m, is it a sine): value and gradient of the homogeneous harmonic polynomial
        (1, 0, False): (z, (zero, zero, one)),
        (1, 1, False): (x, (one, zero, zero)),
        (1, 1, True): (y, (zero, one, zero)),
        (2, 0, False): (z * z - (x * x + y * y) / 2, (-x, -y, 2 * z)),
        (2, 2, True): (root(3) * x * y, (root(3) * y, root(3) * x, zero)),
        (2, 1, False): (root(3) * x * z, (root(3) * z, zero, root(3) * x)),
        (3, 2, True): (root(15) * x * y * z, (root(15) * y * z, root(15) * x * z, root(15) * x * y)),
    }
    return np.repeat(weights, 22) / 44, harmonics


def test_derivative_on_the_full_sphere_is_the_integral():
    """Moments of rho grad Y . grad g by a cubature, with gradients of polynomials in x, y, z."""
    weights, harmonics = polynomial_fields()
    keys = list(harmonics)
    amounts = dict(zip(keys, [0.1, -0.07, 0.05, 0.08, 0.04, -0.06, 0.03], strict=True))
    cosine, sine = np.zeros((2, place(4, 0)))
    cosine[0] = 1.0
    for (degree, order, is_sine), amount in amounts.items():
        (sine if is_sine else cosine)[place(degree, order)] = amount
    system = SphericalSystem(MIXED, 16)
    got = system.unpack(system.derivative(0.0, system.pack(cosine, sine)))
    w = MIXED.potential.multipliers(MIXED.domain, 3)
    v = MIXED.confinement.multipliers(MIXED.domain, 3)
    slopes = {key: -MIXED.coupling * w[key[0]] * amounts[key] - v[key[0]] * (key[1] == 0) for key in keys}
    density = 1.0 + sum((2 * key[0] + 1) * amounts[key] * harmonics[key][0] for key in keys)
    for key in keys:
        value, gradient = harmonics[key]
        exact = -MIXED.noise * key[0] * (key[0] + 1) * amounts[key]
        for other in keys:
            # On the sphere the gradient lacks its radial part, l times the value.
            inner = sum(a * b for a, b in zip(gradient, harmonics[other][1], strict=True))
            inner = inner - key[0] * other[0] * value * harmonics[other][0]
            exact += slopes[other] * float(weights @ (density * inner))
        found = (got[1] if key[2] else got[0])[place(key[0], key[1])]
        # The derivative of D is not carried over: got includes the mean of the uniform part.
        assert found == pytest.approx(exact, abs=64 * EPS * 10)


@pytest.mark.skipif(ducc() is None, reason="ducc0 is not installed")
def test_either_library_gives_the_same_derivative(monkeypatch):
    start = moments_of(MIXED, NO_AXIS)
    system = SphericalSystem(MIXED, 32)
    monkeypatch.setenv("MEANFIELD_SHT", "numpy")
    ducc.cache_clear()
    other = SphericalSystem(MIXED, 32)
    ducc.cache_clear()
    unknown = system.pack(start.cosine, start.sine)
    one, two = system.derivative(0.0, unknown), other.derivative(0.0, unknown)
    assert np.abs(one - two).max() <= 256 * EPS * np.abs(one).max()
    # The sines of order 0 stay zero.
    assert not system.unpack(one)[1][[place(k, 0) for k in range(33)]].any()


# Full against zonal


@pytest.mark.parametrize("problem", [ATTENTION, McKeanVlasov(Sphere(3), Onsager(), coupling=15.0)])
@pytest.mark.parametrize("start", [VonMises(0.0, 2.0), Watson(1.5, 0.0)])
def test_tilted_densities_give_the_rotated_zonal_path(problem, start):
    """Three ways: about the pole, about a tilted axis that is found, and about it with all moments."""
    method = ETDRK4(0.004)
    tilted = dataclasses.replace(start, mean=1.1, azimuth=-2.0)
    zonal = evolve(problem, start, 0.1, times=[0.05, 0.1], method=method)
    found = evolve(problem, tilted, 0.1, times=[0.05, 0.1], method=method)
    full = evolve(problem, tilted, 0.1, times=[0.05, 0.1], method=method, full=True)
    assert (zonal.layout, found.layout, full.layout) == ("degree", "order", "order")
    assert found.evaluations == zonal.evaluations
    cosine, sine = about_axis(zonal.cosine, direction(1.1, -2.0))
    for other in (found, full):
        count = min(cosine.shape[1], other.cosine.shape[1])
        assert np.abs(other.cosine[:, :count] - cosine[:, :count]).max() <= 1e-10
        assert np.abs(other.sine[:, :count] - sine[:, :count]).max() <= 1e-10
        assert np.allclose(other.free_energy_gap, zonal.free_energy_gap, rtol=0.0, atol=1e-10)
        assert np.allclose(other.dissipation, zonal.dissipation, rtol=1e-8)


def test_full_follows_a_zonal_density_with_confinement():
    method = ETDRK4(0.005)
    zonal, full = (
        evolve(MIXED, VonMises(0.0, 1.0), 0.3, method=method, times=3, full=full) for full in (False, True)
    )
    for degree in range(1, 12):
        assert np.abs(full.moment(degree) - zonal.moment(degree)).max() <= 1e-11
    rest = np.abs(full.cosine).sum() - sum(np.abs(full.moment(k)).sum() for k in range(int(full.modes.max()) + 1))
    assert rest <= 1e-12
    assert np.abs(full.sine).max() <= 1e-13


@pytest.mark.parametrize("angle", [0.7, -3.0])
def test_turning_about_the_pole_turns_the_path(angle):
    """With a confinement about the pole, turning is still a symmetry: m-th moments get the phase m times the angle."""
    turned = Mixture(
        tuple(dataclasses.replace(part, azimuth=part.azimuth + angle) for part in NO_AXIS.parts), NO_AXIS.weights
    )
    one, other = (evolve(MIXED, start, 0.2, times=[0.2], method=ETDRK4(0.005)) for start in (NO_AXIS, turned))
    degree = int(one.modes[-1])
    orders = np.concatenate([np.arange(k + 1) for k in range(degree + 1)])
    waves = (one.cosine[-1] - 1j * one.sine[-1]) * np.exp(-1j * angle * orders)
    assert np.abs(one.sine).max() > 1e-2
    assert np.abs(other.cosine[-1] - 1j * other.sine[-1] - waves).max() <= 1e-12
    assert np.abs(one.order_parameter(3) - other.order_parameter(3)).max() <= 1e-12


def test_all_rotations_are_symmetries_without_confinement():
    """Lengths of the moments of a degree do not know the axes: x -> z, y -> x, z -> y."""
    generator = np.random.default_rng(5)
    points = generator.standard_normal((4, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]

    def mixture(vectors):
        polar, azimuth = np.arccos(vectors[:, 2]), np.arctan2(vectors[:, 1], vectors[:, 0])
        return Mixture(tuple(VonMises(float(p), 3.0, float(a)) for p, a in zip(polar, azimuth, strict=True)))

    one, other = (
        evolve(ATTENTION, mixture(vectors), 0.3, times=[0.3], method=ETDRK4(0.01))
        for vectors in (points, np.roll(points, 1, axis=1))
    )
    lengths = [moduli(path.cosine, path.sine)[-1] for path in (one, other)]
    assert np.abs(lengths[0] - lengths[1]).max() <= 1e-11
    dipoles = [
        np.array([p.moment(1, order=1)[-1], p.moment(1, order=1, sine=True)[-1], p.moment(1)[-1]])
        for p in (one, other)
    ]
    assert np.abs(np.roll(dipoles[0], 1) - dipoles[1]).max() <= 1e-11
    assert one.free_energy_gap[-1] == pytest.approx(other.free_energy_gap[-1], abs=1e-11)


# Identities


def test_mass_is_exact():
    for trajectory in (evolve(ATTENTION, VonMises(0.0, 2.0), 0.5, times=4), evolve(MIXED, NO_AXIS, 0.1, times=2)):
        assert trajectory.mass_error == 0.0
    nodes, weights = np.polynomial.legendre.leggauss(80)
    zonal = evolve(ATTENTION, VonMises(0.0, 2.0), 0.5, times=4)
    for index in range(len(zonal)):
        mass = 2 * np.pi * weights @ zonal.density(np.arccos(nodes), index=index)
        assert abs(mass - 1.0) <= 1e-12


def weighted_norm(path, dimension, degree=40):
    """Return A_l |f_l|^2, (T, degree), with A_l = (d-2)!/(l(l+1)...(l+d-2))."""
    sphere = Sphere(dimension)
    rows = []
    for k in range(1, degree + 1):
        factor = math.factorial(dimension - 2) / math.prod(range(k, k + dimension - 1))
        rows.append(factor * sphere.multiplicity(k) * path.order_parameter(k) ** 2)
    return np.array(rows).T


def intervals(until, count=6, nodes=8):
    """Return edges of intervals that grow, times with Gauss nodes inside, and how to integrate over each."""
    edges = np.concatenate([[0.0], until * 2.0 ** np.arange(1 - count, 1)])
    places, weights = np.polynomial.legendre.leggauss(nodes)
    half = 0.5 * np.diff(edges)
    inside = edges[:-1, None] + half[:, None] * (1.0 + places)
    times = np.unique(np.concatenate([edges, inside.ravel()]))

    def integrate(values):
        return half * (values[:-1].reshape(half.size, nodes + 1)[:, 1:] @ weights)

    return times, slice(None, None, nodes + 1), integrate


@pytest.mark.parametrize(
    ("dimension", "start"), [(3, VonMises(0.0, 3.0)), (4, VonMises(0.0, 3.0)), (8, START), (3, NO_AXIS)]
)
@pytest.mark.parametrize("relative", [0.5, 2.0])
def test_quadratic_identity_of_dipoles(dimension, start, relative):
    """d/dt sum A_l |f_l|^2/2 = -D sum A_l l(l+d-2) |f_l|^2 + kappa |J|^2 (Frouvelle and Liu), and its bound."""
    noise, coupling = 0.8, relative * 0.8 * dimension
    problem = McKeanVlasov(Sphere(dimension), Kuramoto(), noise=noise, coupling=coupling)
    full = isinstance(start, Mixture)
    times, edges, integrate = intervals(0.4)
    path = evolve(problem, start, 0.4, times=times, tolerance=1e-6 if full else 1e-10)
    norms = weighted_norm(path, dimension)
    degrees = np.arange(1.0, norms.shape[1] + 1)
    loss = -noise * norms @ (degrees * (degrees + dimension - 2)) + coupling * path.order_parameter(1) ** 2
    half = 0.5 * norms.sum(axis=1)
    assert np.abs(np.diff(half[edges]) - integrate(loss)).max() <= (1e-6 if full else 1e-9)
    if relative < 1.0:
        rate = (dimension - 1) * (noise - coupling / dimension)
        assert np.all(half[1:] <= half[0] * np.exp(-2 * rate * path.time[1:]) * (1 + 1e-6))


@pytest.mark.parametrize(("problem", "start"), [(ATTENTION, START), (MIXED, VonMises(0.0, 1.0)), (MIXED, NO_AXIS)])
def test_energy_identity(problem, start):
    full = isinstance(start, Mixture)
    times, edges, integrate = intervals(0.3 if full else 1.0, 4 if full else 7, 6 if full else 9)
    path = evolve(problem, start, times[-1], times=times, tolerance=1e-7 if full else 1e-9)
    drops = -np.diff(path.free_energy_gap[edges])
    assert np.all(drops > 0.0)
    assert np.abs(drops - integrate(path.dissipation)).max() <= (1e-6 if full else 1e-8)


@pytest.mark.parametrize("start", [VonMises(0.0, 1.0), PerturbedUniform(1e-4), NO_AXIS])
def test_energy_is_that_of_the_density(start):
    """Two quadratures: many densities at once, and one at a time."""
    path = evolve(MIXED, start, 0.1, times=2)
    for index in range(len(path)):
        density = path.cosine[index], path.sine[index], path.layout
        assert path.free_energy_gap[index] == pytest.approx(free_energy_parts(MIXED, *density).gap, rel=1e-12)
        lost = dissipation(MIXED, *density) / MIXED.noise
        assert path.dissipation[index] == pytest.approx(lost, rel=1e-11)


@pytest.mark.parametrize("dimension", [3, 4, 16])
@pytest.mark.parametrize("degree", [1, 2, 5])
def test_rates_at_uniform(dimension, degree):
    """Degree l decays at l (l+d-2) D (1 - lambda_l), lambda_l = -kappa w_l/(N_l D), for any size of it."""
    coefficients = tuple(-1.0 if k == degree else 0.0 for k in range(1, degree + 1))
    potential = GegenbauerSeries(coefficients, dimension=dimension)
    problem = McKeanVlasov(Sphere(dimension), potential, noise=0.5, coupling=1.9)
    count = problem.domain.multiplicity(degree)
    rate = degree * (degree + dimension - 2) * 0.5 * (1.0 - 1.9 / (count * 0.5))
    amplitude = 1e-8 * count
    until = 1.0 / abs(rate)
    path = evolve(problem, PerturbedUniform(min(amplitude, 1e-3), degree), until, times=[until], tolerance=1e-9)
    ratio = path.moment(degree)[-1] / (min(amplitude, 1e-3) / count)
    assert ratio == pytest.approx(math.exp(-rate * until), rel=2e-6)


def test_even_densities_stay_even():
    problem = McKeanVlasov(Sphere(4), MaierSaupe(), coupling=12.0)
    path = evolve(problem, Watson(1.0), 0.5, times=5)
    assert not path.cosine[:, 1::2].any()
    # Half of the nodes and none of the odd degrees make the same equation.
    half, whole = ZonalSystem(problem, 10, 2), ZonalSystem(problem, 20, 1)
    both = np.zeros((2, 21))
    both[0] = moments_of(problem, Watson(1.0)).cosine[:21]
    found = half.unpack(half.derivative(0.0, half.pack(*both)))[0]
    expected = whole.unpack(whole.derivative(0.0, whole.pack(*both)))[0]
    assert np.abs(found - expected)[1:].max() <= 64 * EPS * np.abs(expected).max()


# Where it ends


def ratio_of_bessels(order, argument):
    """Return I_order/I_(order-1)."""
    import mpmath

    with mpmath.workdps(30):
        return mpmath.besseli(order, argument) / mpmath.besseli(order - 1, argument)


@pytest.mark.parametrize("dimension", [3, 4, 8, 64, 400])
def test_dipoles_reach_von_mises_fisher(dimension):
    """rho ~ exp(r u), r = kappa m/D, m = I_(d/2)(r)/I_(d/2-1)(r)."""
    path = evolve(McKeanVlasov(Sphere(dimension), Kuramoto(), coupling=5.0 / 3.0 * dimension), START, 14.0, times=2)
    field = 5.0 / 3.0 * dimension * path.order_parameter()[-1]
    exact = VonMises(0.0, field)
    assert path.order_parameter()[-1] == pytest.approx(float(ratio_of_bessels(dimension / 2, field)), abs=1e-9)
    assert moments_of(path.problem, exact).cosine[:6] == pytest.approx(path.cosine[-1, :6], abs=1e-9)
    if dimension == 3:
        spins = problems.SPINS_AT_5
        assert path.order_parameter()[-1] == pytest.approx(spins.exact("order parameter"), abs=1e-9)
        assert path.free_energy_gap[-1] == pytest.approx(spins.exact("free energy gap"), abs=1e-12)


def test_nematic_order():
    """kappa/D = eta/S(eta) for W = -<x, y>^2, S the mean of P_2 under exp(eta u^2)."""
    problem = McKeanVlasov(Sphere(3), MaierSaupe(), coupling=9.0)
    order = evolve(problem, Watson(2.0), 8.0, times=[8.0]).order_parameter(2)[-1]
    nodes, weights = np.polynomial.legendre.leggauss(60)
    density = weights * np.exp(9.0 * order * nodes**2)
    assert order == pytest.approx(density @ (1.5 * nodes**2 - 0.5) / density.sum(), abs=1e-9)


def test_confinement_alone_ends_in_its_gibbs_density():
    confinement = CosineSeries((-1.0, 0.5))
    problem = McKeanVlasov(Sphere(5), Kuramoto(), noise=0.5, coupling=0.0, confinement=confinement)
    path = evolve(problem, VonMises(math.pi, 1.0), 12.0, times=[12.0])
    angle = np.linspace(0.2, 3.0, 40)
    flat = np.log(path.density(angle)) + confinement.values(angle) / 0.5
    assert np.ptp(flat) <= 1e-6


RESTS = [
    (DIPOLE, START, Outcome.STATIONARY, problems.SPINS_AT_5, 0),
    (DIPOLE, VonMises(1.0, 1.0, 2.0), Outcome.STATIONARY, problems.SPINS_AT_5, 0),
    # l = 1 grows at 2 D (kappa/3 - 1), in three directions.
    (DIPOLE, PerturbedUniform(0.0), Outcome.METASTABLE, -4.0 / 3.0, 3),
    # Even densities cannot leave it.
    (DIPOLE, Watson(1.0), Outcome.METASTABLE, -4.0 / 3.0, 3),
    (McKeanVlasov(Sphere(5), Kuramoto(), coupling=-4.0), VonMises(0.0, 2.0), Outcome.STATIONARY, 7.2, 0),
]


@pytest.mark.parametrize(("problem", "start", "outcome", "rate", "unstable"), RESTS)
def test_rest_is_told_by_the_state_nearby(problem, start, outcome, rate, unstable):
    path = evolve(problem, start, np.inf, stop_at_stationarity=True)
    assert path.outcome is outcome
    exact = rate.exact("rate of order 0") if isinstance(rate, Entry) else rate
    assert path.slowest_rate == pytest.approx(exact, abs=1e-9)
    assert path.unstable == unstable
    assert path.distance <= 1e-8


def test_attention_relaxes_at_its_gap():
    clustered = problems.CLUSTERED_SPHERICAL_ATTENTION
    path = evolve(clustered.problem, START, 20.0, times=2)
    assert path.outcome is Outcome.STATIONARY
    assert path.slowest_rate == pytest.approx(clustered.exact("rate of order 0"), abs=1e-9)


def test_girdles_are_unstable_out_of_their_symmetry():
    """The oblate state of a nematic attracts zonal densities; perturbations of order 2 leave it."""
    path = evolve(McKeanVlasov(Sphere(3), MaierSaupe(), coupling=9.0), Watson(-3.0), 10.0, times=[10.0])
    assert path.outcome is Outcome.METASTABLE
    assert path.unstable == 2
    assert path.slowest_rate < 0.0


def test_densities_without_axis_come_to_rest_at_one_with_an_axis():
    path = evolve(DIPOLE, NO_AXIS, np.inf, stop_at_stationarity=True, tolerance=1e-4)
    assert path.outcome is Outcome.STATIONARY
    assert path.slowest_rate == pytest.approx(problems.SPINS_AT_5.exact("rate of order 0"), abs=1e-9)
    assert path.order_parameter()[-1] == pytest.approx(problems.SPINS_AT_5.exact("order parameter"), abs=1e-4)


# Initial densities


def by_quadrature(density, dimension, degree):
    """Return p_l of a density given at cosines, up to a factor, from Gauss-Legendre nodes in the angle."""
    angle, weights = np.polynomial.legendre.leggauss(400)
    angle = 0.5 * np.pi * (1.0 + angle)
    u = np.cos(angle)
    mass = weights * np.sin(angle) ** (dimension - 2) * density(u)
    rows = [np.ones_like(u), u]
    for k in range(1, degree):
        rows.append(((2 * k + dimension - 2) * u * rows[-1] - k * rows[-2]) / (k + dimension - 2))
    return np.array(rows) @ mass / mass.sum()


@pytest.mark.parametrize("dimension", [3, 4, 9])
@pytest.mark.parametrize(
    ("named", "density"),
    [
        (VonMises(0.0, 3.0), lambda u: np.exp(3 * u)),
        (VonMises(math.pi, 3.0), lambda u: np.exp(-3 * u)),
        (Watson(2.5), lambda u: np.exp(2.5 * u**2)),
        (Watson(-2.5), lambda u: np.exp(-2.5 * u**2)),
        (PerturbedUniform(-0.4), lambda u: 1 - 0.4 * u),
    ],
)
def test_named_densities_have_their_moments(dimension, named, density):
    problem = McKeanVlasov(Sphere(dimension), Kuramoto(), coupling=1.0)
    exact = by_quadrature(density, dimension, 12)
    found = moments_of(problem, named)
    assert found.layout == "degree"
    count = min(13, found.cosine.size)
    assert np.abs(found.cosine[:count] - exact[:count]).max() <= 1e-12
    # And given as a function of the angle to the pole they are the same density.
    start = moments_of(problem, named).cosine
    volume = problem.domain.volume
    mass = by_mass(density, dimension)
    other = moments_of(problem, lambda angle: density(np.cos(angle)) / (volume * mass)).cosine
    count = min(start.size, other.size)
    assert np.abs(start[:count] - other[:count]).max() <= 1e-12


def by_mass(density, dimension):
    """Return the uniform mean of a function of u."""
    angle, weights = np.polynomial.legendre.leggauss(400)
    angle = 0.5 * np.pi * (1.0 + angle)
    measure = weights * np.sin(angle) ** (dimension - 2)
    return float(measure @ density(np.cos(angle)) / measure.sum())


def test_densities_of_two_angles():
    def density(polar, azimuth):
        x = np.sin(polar) * np.cos(azimuth)
        return np.exp(2.0 * x) * 2.0 / (4 * np.pi * np.sinh(2.0))

    found, named = (moments_of(ATTENTION, start) for start in (density, VonMises(np.pi / 2, 2.0)))
    assert found.layout == named.layout == "order"
    count = min(found.cosine.size, named.cosine.size)
    assert np.abs(found.cosine[:count] - named.cosine[:count]).max() <= 1e-13
    assert np.abs(found.sine).max() <= 1e-13


def test_random_harmonics_are_positive_and_repeatable():
    one, other = (moments_of(ATTENTION, RandomPerturbation(1.0, 3, 6)) for _ in range(2))
    assert one.layout == "order"
    assert np.array_equal(one.cosine, other.cosine)
    path = evolve(ATTENTION, RandomPerturbation(1.0, 3, 6), 0.0)
    assert path.minimum[0] >= 0.0
    assert path.order_parameter(6)[0] > 0.0
    zonal = moments_of(McKeanVlasov(Sphere(6), Kuramoto(), coupling=1.0), RandomPerturbation(1.0, 3, 6))
    assert zonal.layout == "degree"


def test_paths_and_states_are_starts():
    path = evolve(MIXED, NO_AXIS, 0.1, times=[0.1])
    start = moments_of(MIXED, path)
    assert start.layout == "order"
    assert np.abs(start.cosine - path.cosine[-1][: start.cosine.size]).max() == 0.0
    zonal = evolve(ATTENTION, START, 0.3, times=[0.3])
    assert moments_of(ATTENTION, zonal).layout == "degree"


@pytest.mark.parametrize(
    ("domain", "initial", "sentence"),
    [
        (Sphere(4), VonMises(1.0, 2.0), "the mean must be 0 or pi"),
        (Sphere(4), NO_AXIS, "the mean must be 0 or pi"),
        (Sphere(4), lambda polar, azimuth: polar + azimuth, "only the ordinary sphere has densities of two angles"),
        (Sphere(3), ([1.0, 0.9], [0.0, 0.0]), "the initial density is negative"),
        (Sphere(3), ([1.0, 0.1, 0.1, 0.0], [0.0, 0.0, 0.1, 0.0]), "are by degree and order and 4 in number"),
        (Sphere(3), ([0.5, 0.1], [0.0, 0.0]), "integrates to 0.5, not to 1"),
        (Sphere(3), lambda angle: np.cos(angle), "the initial density is negative"),
        (Sphere(3), lambda angle: np.exp(0 * angle), "integrates to 12.56"),
        (Sphere(3), np.zeros((2, 2, 2)), "an initial density on a sphere is VonMises"),
        (Circle(), VonMises(0.0, 1.0, azimuth=0.3), "the circle has no azimuth"),
    ],
)
def test_starts_that_are_none(domain, initial, sentence):
    problem = McKeanVlasov(domain, Kuramoto(), coupling=1.0)
    with pytest.raises(InvalidInput, match=sentence):
        evolve(problem, initial, 1.0)


def test_jumps_are_not_resolved():
    problem = problems.SPINS_AT_1.problem
    with pytest.raises(NotResolved, match="do not decay"):
        evolve(problem, lambda angle: np.where(angle < np.pi / 2, 1.0, 0.0) / (2 * np.pi), 1.0)


def test_requests_that_do_not_fit():
    with pytest.raises(InvalidInput, match=r"LSODA\(\) needs a Jacobian"):
        evolve(ATTENTION, NO_AXIS, 1.0, method=LSODA())
    with pytest.raises(InvalidInput, match="on the ordinary sphere only"):
        evolve(McKeanVlasov(Sphere(4), Kuramoto(), coupling=1.0), START, 1.0, full=True)


# Records


@pytest.mark.parametrize("suffix", [".nc", ".json"])
@pytest.mark.parametrize("start", [START, NO_AXIS])
def test_records_come_back(tmp_path, suffix, start):
    path = evolve(MIXED, start, 0.05, times=2)
    path.save(tmp_path / f"path{suffix}")
    back = open_trajectory(tmp_path / f"path{suffix}")
    assert back.layout == path.layout
    assert back.problem == path.problem
    for name in ("time", "cosine", "sine", "modes", "free_energy_gap", "dissipation", "minimum"):
        assert np.array_equal(getattr(back, name), getattr(path, name)), name
    assert back.summary() == path.summary()


def test_tables_have_the_moments_of_the_sphere(tmp_path):
    evolve(ATTENTION, START, 0.1, times=2).save(tmp_path / "zonal.csv")
    assert "p1,p2,p3,p4,order_parameter" in (tmp_path / "zonal.csv").read_text().splitlines()[0]
    evolve(MIXED, NO_AXIS, 0.05, times=2).save(tmp_path / "full.csv")
    assert "m1,m2,m3,m4,p1,p2,p3,p4,order_parameter" in (tmp_path / "full.csv").read_text().splitlines()[0]


@pytest.mark.parametrize("start", [START, VonMises(1.0, 1.0, 0.4), NO_AXIS])
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path, start):
    def stop(time):
        if time > 0.1:
            raise KeyboardInterrupt

    whole = evolve(MIXED, start, 0.16, times=8, tolerance=1e-5, checkpoint=Checkpoint(tmp_path / "w", every=0.04))
    keep = Checkpoint(tmp_path / "run", every=0.04)
    with pytest.raises(KeyboardInterrupt):
        evolve(MIXED, start, 0.16, times=8, tolerance=1e-5, checkpoint=keep, progress=stop)
    resumed = evolve(MIXED, start, 0.16, times=8, tolerance=1e-5, checkpoint=keep)
    assert np.array_equal(resumed.cosine, whole.cosine)
    assert np.array_equal(resumed.sine, whole.sine)
    assert resumed.steps == whole.steps


# From the command line


def run(capsys, *arguments):
    code = main(["evolve", *arguments, "--quiet"])
    return code, capsys.readouterr()


def test_the_command_gives_what_the_function_gives(capsys, tmp_path):
    target = tmp_path / "t.nc"
    files = [str(tmp_path / name) for name in ("p.png", "m.png", "e.png", "a.gif")]
    code, streams = run(
        capsys, "transformer", "--beta", "4", "--domain", "sphere", "--relative", "2", "--until", "0.5",
        "--times", "5", "--initial", "watson", "--concentration", "2", "--to", str(target), "--plot", files[0],
        "--moments", files[1], "--energy", files[2], "--animate", files[3],
    )  # fmt: skip
    assert code == 0, streams.err
    expected = evolve(ATTENTION, Watson(2.0), 0.5, times=5)
    assert np.array_equal(open_trajectory(target).cosine, expected.cosine)
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("p.png", "m.png", "e.png", "a.gif"))


def test_mixtures_and_maps_from_the_command(capsys, tmp_path):
    text = "0.6*von-mises:mean=0.7,concentration=4 + 0.4*von-mises:mean=2,azimuth=1,concentration=3"
    options = ("kuramoto", "--domain", "sphere", "--coupling", "5", "--until", "0.1", "--times", "1")
    target = tmp_path / "t.json"
    code, streams = run(capsys, *options, "--initial", text, "--to", str(target), "--plot", str(tmp_path / "p.png"))
    assert code == 0, streams.err
    start = Mixture((VonMises(0.7, 4.0), VonMises(2.0, 3.0, 1.0)), (0.6, 0.4))
    found = open_trajectory(target)
    assert np.array_equal(found.cosine, evolve(DIPOLE, start, 0.1, times=1).cosine)
    with pytest.raises(InvalidInput, match="no axis at the pole"):
        found.animate(tmp_path / "a.gif")
    again, streams = run(capsys, *options, "--initial", str(target), "--full", "--json")
    assert again == 0, streams.err


def test_errors_are_one_sentence(capsys):
    code, streams = run(
        capsys, "kuramoto", "--domain", "sphere", "--coupling", "5", "--until", "1", "--initial", "2*x + uniform"
    )
    assert code == 2
    assert "'2*x' is no part of a mixture" in streams.err
    assert streams.err.count("\n") == 1


def test_stationary_states_are_at_rest():
    state = next(state for state in stationary_states(DIPOLE) if state.unstable == 0)
    path = evolve(DIPOLE, state, 0.5, times=2)
    assert path.outcome is Outcome.STATIONARY
    assert np.ptp(path.order_parameter()) <= 1e-9


# Resolution


def test_resolution_follows_the_density():
    problem = McKeanVlasov(Sphere(3), Transformer(6.0))
    problem = problem.at(coupling=4.0 * critical_coupling(problem))
    path = evolve(problem, VonMises(0.0, 1.0), 0.5, times=4, modes=16)
    exact = evolve(problem, VonMises(0.0, 1.0), 0.5, times=4, modes=128)
    assert path.modes[0] < path.modes[-1]
    assert np.abs(path.cosine[-1, :40] - exact.cosine[-1, :40]).max() <= 1e-8
    full = evolve(problem, VonMises(1.0, 1.0), 0.12, times=[0.0, 0.12], tolerance=1e-4, full=True)
    zonal = evolve(problem, VonMises(0.0, 1.0), 0.12, times=[0.0, 0.12])
    assert full.modes[0] < full.modes[-1]
    assert abs(full.order_parameter(1)[-1] - zonal.order_parameter(1)[-1]) <= 1e-4


def test_the_circle_can_be_followed_in_full():
    problem = McKeanVlasov(Circle(), Transformer(4.0), coupling=1.0)
    one, other = (evolve(problem, START, 1.0, times=[1.0], full=full) for full in (False, True))
    assert np.abs(one.cosine - other.cosine[:, : one.cosine.shape[1]]).max() <= 1e-9
    assert other.outcome is Outcome.REACHED_TIME
