import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ive, sph_harm_y

from meanfield import (
    Circle,
    ComputationFailed,
    GegenbauerSeries,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Sphere,
    Transformer,
    dissipation,
    first_variation,
    free_energy_parts,
    kuramoto_gap,
    kuramoto_order_parameter,
    maier_saupe_states,
    second_variation,
)
from meanfield.harmonics import ZonalModes, packed
from tests.problems import on_sphere

EPS = float(np.finfo(float).eps)


def fisher(concentration, dimension, degree):
    """Moments of e^(x u): ratios of Bessel functions."""
    half = dimension / 2 - 1
    return ive(np.arange(degree + 1) + half, concentration) / ive(half, concentration)


def rounding(at, moments):
    """Rounding of log rho and its slope where rho is lowest: the series is rounded at its largest terms."""
    dimension = at.domain.dimension
    numbers = np.array([at.domain.multiplicity(k) for k in range(moments.size)], dtype=float)
    sizes = numbers * np.abs(moments) + np.sqrt(numbers)
    lowest = (numbers * moments * (-1.0) ** np.arange(moments.size)).sum()
    return 16 * EPS * at.noise * ((dimension + np.arange(moments.size)) * sizes).sum() / lowest


@pytest.mark.parametrize(
    ("ratio", "dimension", "degree"),
    [(3.003, 3, 20), (5.0, 3, 40), (12.0, 3, 60), (6.5, 5, 40), (10.0, 8, 40), (31.2, 24, 60)],
)
def test_fisher_state(ratio, dimension, degree):
    at = on_sphere(Kuramoto(), dimension, noise=0.7, coupling=0.7 * ratio)
    moments = fisher(ratio * kuramoto_order_parameter(ratio, dimension), dimension, degree)
    energy = free_energy_parts(at, moments)
    exact = kuramoto_gap(ratio, dimension)
    # The gap is (1 - lambda) N m^2/2 at leading order: the rounding of the coupling alone costs eps N m^2. The
    # moments here carry several roundings of scipy's Bessel functions.
    assert energy.gap == pytest.approx(exact, abs=256 * EPS * (abs(exact) + dimension * moments[1] ** 2))
    assert energy.total == pytest.approx(energy.entropy + energy.interaction, rel=EPS)
    uniform = -0.7 * math.log(Sphere(dimension).volume)
    assert energy.total - uniform == pytest.approx(0.7 * exact, abs=64 * EPS * (abs(uniform) + 4))
    if dimension < 8:
        assert dissipation(at, moments) <= rounding(at, moments) ** 2
        assert np.ptp(first_variation(at, moments)[1]) <= rounding(at, moments)


def test_nematic_state():
    prolate, oblate = maier_saupe_states(8.0)
    at = on_sphere(MaierSaupe(), coupling=8.0)
    for state in (prolate, oblate):
        with mp.workdps(25):
            mass = mp.quad(lambda u, eta=state.concentration: mp.exp(eta * u * u), [0, 1])
            moments = [
                mp.quad(lambda u, k=k, eta=state.concentration: mp.legendre(k, u) * mp.exp(eta * u * u), [0, 1])
                / mass
                for k in range(0, 41, 2)
            ]
        full = np.zeros(41)
        full[::2] = [float(value) for value in moments]
        assert free_energy_parts(at, full).gap == pytest.approx(state.gap, rel=256 * EPS)
        assert dissipation(at, full) <= 1e-20


def test_against_integrals_of_the_definition():
    dimension, noise, coupling = 5, 0.8, -1.7
    at = on_sphere(
        GegenbauerSeries((-1.0, 0.4, 0.3), 5),
        dimension,
        noise=noise,
        coupling=coupling,
        confinement=GegenbauerSeries((0.2, -0.1), 5),
    )
    p, numbers = np.array([1.0, 0.08, -0.02, 0.005]), [1, 5, 14, 30]

    def legendre(k, u):
        return (1, u, (5 * u**2 - 1) / 4, (7 * u**3 - 3 * u) / 4)[k]

    def mean(function):
        return mp.mpf(3) / 4 * mp.quad(lambda u: function(u) * (1 - u * u), [-1, 0, 1])

    def relative(u):
        return mp.fsum(n * x * legendre(k, u) for k, (n, x) in enumerate(zip(numbers, p, strict=True)))

    def azimuthal(k, u):
        """Mean over the azimuth a of P_k(<x, e>) with e at 0.4 from the axis: on S^3 its weight is sin(a)^2."""
        nodes = [mp.pi * j / 6 for j in range(1, 6)]
        s, across = mp.mpf("0.4"), mp.sqrt((1 - mp.mpf("0.4") ** 2) * (1 - u * u))
        return mp.fsum(legendre(k, s * u + across * mp.cos(a)) * mp.sin(a) ** 2 for a in nodes) / 3

    with mp.workdps(18):
        energy = free_energy_parts(at, p)
        volume = 8 * mp.pi**2 / 3
        entropy = mean(lambda u: relative(u) * mp.log(relative(u) / volume))
        external = mean(lambda u: relative(u) * (0.2 * legendre(1, u) - 0.1 * legendre(2, u)))
        assert energy.entropy == pytest.approx(float(noise * entropy), rel=16 * EPS)
        assert energy.confinement == pytest.approx(float(external), rel=16 * EPS)
        assert energy.interaction == pytest.approx(
            coupling / 2 * (-(0.08**2) + 0.4 * 0.02**2 + 0.3 * 0.005**2), rel=16 * EPS
        )
        # The convolution behind the interaction, at one point, from the integral over the sphere.
        for k, w in ((1, -1.0), (2, 0.4), (3, 0.3)):
            convolved = w * mean(lambda u, k=k: azimuthal(k, u) * relative(u))
            assert float(convolved) == pytest.approx(float(w * p[k] * legendre(k, mp.mpf("0.4"))), abs=1e-12)


def test_gap_near_uniform_has_no_cancellation():
    for dimension in (3, 16, 64):
        at = on_sphere(Kuramoto(), dimension, coupling=0.5 * dimension)
        gap = free_energy_parts(at, [1.0, 1e-9]).gap
        assert gap == pytest.approx(dimension * 0.5 * 1e-18 / 2, rel=16 * EPS)
    assert free_energy_parts(at, [1.0, 0.0, 0.0]).gap == 0


def slope_of_time(p, dimension, noise, coupling):
    """dp_l/dt of the O(n) model: its moment hierarchy, exact."""
    k = np.arange(p.size)
    beyond = np.append(p[1:], 0.0)
    before = np.append(0.0, p[:-1])
    drift = coupling * p[1] * (before - beyond) / (2 * k + dimension - 2)
    return -k * (k + dimension - 2) * (noise * p - drift)


@pytest.mark.parametrize("dimension", [3, 4, 9])
@pytest.mark.parametrize("coupling", [0.0, 4.0])
def test_dissipation_is_minus_the_derivative_of_the_energy(dimension, coupling):
    at = on_sphere(Kuramoto(), dimension, noise=0.6, coupling=coupling)
    moments = fisher(1.5, dimension, 40) * 0.8 ** np.arange(41)
    rate = slope_of_time(moments, dimension, 0.6, coupling)
    step = 1e-6
    plus, minus = (free_energy_parts(at, moments + sign * step * rate).total for sign in (1, -1))
    assert dissipation(at, moments) == pytest.approx(-(plus - minus) / (2 * step), rel=1e-6)
    assert dissipation(at, moments) > 1e-3


@pytest.mark.parametrize("dimension", [3, 6])
def test_variations_are_derivatives(dimension):
    at = on_sphere(
        Transformer(2.0), dimension, noise=0.6, coupling=1.2, confinement=GegenbauerSeries((0.3,), dimension)
    )
    moments = fisher(1.2, dimension, 30)
    direction = np.array([0.0, 0.02, -0.01, 0.004])
    step, longer = 1e-3, np.append(direction, np.zeros(27))
    total = [free_energy_parts(at, moments + j * step * longer).total for j in (-2, -1, 0, 1, 2)]
    slope = (total[0] - 8 * total[1] + 8 * total[3] - total[4]) / (12 * step)
    bend = (-total[0] + 16 * total[1] - 30 * total[2] + 16 * total[3] - total[4]) / (12 * step**2)
    angles, values = first_variation(at, moments, points=100)
    modes = ZonalModes(at.domain)
    assert angles == pytest.approx(modes.grid(100))
    change = modes.values(modes.multiplicities(4) * direction, np.zeros(4), 100)
    derivative = modes.mean(values * change, 100)
    assert derivative == pytest.approx(slope, rel=1e-8)
    assert second_variation(at, moments, None, direction) == pytest.approx(bend, rel=1e-5)


# All densities on S^2


def rotated(zonal, polar, azimuth):
    """Packed moments of the zonal density turned to another axis: p_l e_lm(axis), harmonics from scipy."""
    cosine, sine = packed(np.zeros(zonal.size)), packed(np.zeros(zonal.size))
    for k, p in enumerate(zonal):
        for m in range(k + 1):
            # scipy's are orthonormal over the area and carry the sign (-1)^m.
            value = (-1) ** m * math.sqrt(4 * math.pi / (2 * k + 1)) * sph_harm_y(k, m, polar, azimuth)
            factor = math.sqrt(2.0) if m else 1.0
            cosine[k * (k + 1) // 2 + m] = factor * p * value.real
            sine[k * (k + 1) // 2 + m] = factor * p * value.imag
    return cosine, sine


@pytest.mark.parametrize("axis", [(0.0, 0.0), (1.1, -2.3), (math.pi / 2, 0.4), (3.0, 1.0)])
def test_the_energy_does_not_see_a_rotation(axis):
    at = on_sphere(Transformer(2.0), noise=0.7, coupling=3.0)
    zonal = fisher(2.0, 3, 24) * 0.9 ** np.arange(25)
    cosine, sine = rotated(zonal, *axis)
    turned, upright = free_energy_parts(at, cosine, sine, layout="order"), free_energy_parts(at, zonal)
    for part in ("entropy", "interaction", "total", "gap"):
        assert getattr(turned, part) == pytest.approx(getattr(upright, part), rel=256 * EPS)
    lost = dissipation(at, zonal)
    assert dissipation(at, cosine, sine, layout="order") == pytest.approx(lost, rel=1e-11)
    direction = np.append([0.0, 0.1, -0.05], np.zeros(22))
    bend = second_variation(at, zonal, None, direction)
    turned_direction = rotated(direction, *axis)
    assert second_variation(at, cosine, sine, *turned_direction, layout="order") == pytest.approx(bend, rel=1e-11)


def test_a_turn_costs_nothing():
    # The derivative of a stationary state by rotation is a null direction of the second variation.
    ratio = 5.0
    at = on_sphere(Kuramoto(), coupling=ratio)
    zonal = fisher(ratio * kuramoto_order_parameter(ratio, 3), 3, 40)
    plus, minus = (rotated(zonal, angle, 0.0)[0] for angle in (1e-4, -1e-4))
    direction = (plus - minus) / 2e-4
    direction[0] = 0.0
    bend = second_variation(at, packed(zonal), None, direction, layout="order")
    assert abs(bend) <= 1e-6 * float(direction @ direction)


def test_first_variation_on_the_sphere_is_constant_at_a_state():
    ratio = 5.0
    at = on_sphere(Kuramoto(), noise=1.0, coupling=ratio)
    zonal = fisher(ratio * kuramoto_order_parameter(ratio, 3), 3, 40)
    cosine, sine = rotated(zonal, 0.7, 2.0)
    angles, values = first_variation(at, cosine, sine, points=90, layout="order")
    assert angles.shape == (2, 90, 180)
    assert values.shape == (90, 180)
    assert np.ptp(values) <= 1e-10
    assert angles[0, :, 0] == pytest.approx(np.sort(angles[0, :, 0]))


def test_a_density_without_an_axis_dissipates_what_it_loses():
    # Heat flow: every degree decays on its own.
    at = on_sphere(Onsager(), noise=0.5, coupling=0.0)
    generator = np.random.default_rng(5)
    degrees = np.repeat(np.arange(7), np.arange(1, 8))
    cosine, sine = (0.05 * generator.normal(size=28) / (1 + degrees) for _ in range(2))
    cosine[0], sine[degrees * (degrees + 1) // 2] = 1.0, 0.0
    step = 1e-6

    def later(time):
        decay = np.exp(-0.5 * degrees * (degrees + 1) * time)
        return free_energy_parts(at, cosine * decay, sine * decay, layout="order").total

    expected = -(later(step) - later(-step)) / (2 * step)
    assert dissipation(at, cosine, sine, layout="order") == pytest.approx(expected, rel=1e-7)


# Faults


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda at: free_energy_parts(at, [1.0, 0.5, 0.4]), "a density must be positive"),
        (lambda at: free_energy_parts(at, [0.5, 0.1]), "mass m_0 = 1"),
        (lambda at: free_energy_parts(at, [1.0, 0.1], [0.0, 0.1]), "zonal density has no sine moments"),
        (
            lambda at: free_energy_parts(at, [1.0, 0.1], layout="order"),
            r"2 in number, no whole number of degrees; the nearest are 1 and 3",
        ),
        (
            lambda at: free_energy_parts(at, [1.0, 0.1, 0.0], [0.0, 0.1, 0.0], layout="order"),
            "sine moment of order 0",
        ),
        (lambda at: free_energy_parts(at, [1.0, 0.1], layout="mode"), "'degree' or 'order', not 'mode'"),
        (lambda at: first_variation(at, [1.0, 0.1, 0.0], points=4), "points = 4 is too few"),
        (lambda at: second_variation(at, [1.0, 0.1], None, [0.1, 0.1]), "keeps the mass"),
    ],
)
def test_faults(call, words):
    with pytest.raises(InvalidInput, match=words):
        call(on_sphere(Kuramoto(), coupling=2.0))


def test_layouts_belong_to_domains():
    for domain in (Circle(), Sphere(4)):
        at = McKeanVlasov(domain, Kuramoto(), coupling=1.0)
        with pytest.raises(InvalidInput, match=r"belong to Sphere\(3\)"):
            free_energy_parts(at, [1.0, 0.1, 0.0], layout="order")


def test_what_the_moments_do_not_hold_is_not_given():
    # N_60 is 1e20 here: the density between its peak and the opposite pole is lost in rounding.
    ratio = 41.6
    at = on_sphere(Kuramoto(), 32, coupling=ratio)
    moments = fisher(0.99 * ratio * kuramoto_order_parameter(ratio, 32), 32, 60)
    with pytest.raises(ComputationFailed, match="61 moments in 32 dimensions"):
        second_variation(at, moments, None, [0.0, 0.1, 0.05])


@pytest.mark.parametrize(
    ("dimension", "multiple", "degree"), [(3, 3.0, 40), (3, 10.0, 90), (5, 4.0, 70), (8, 6.0, 90), (32, 1.3, 60)]
)
def test_second_variation_of_concentrated_states(dimension, multiple, degree):
    # int u^2/rho of u = d a P_1 is d^2 a^2 M(x)^2 (1/d + (1 - 1/d) p_2), M the mean of exp(x cos t).
    ratio = multiple * dimension
    x = ratio * kuramoto_order_parameter(ratio, dimension)
    at = on_sphere(Kuramoto(), dimension, noise=0.7, coupling=0.7 * ratio)
    with mp.workdps(30):
        half = mp.mpf(dimension) / 2 - 1
        mean = mp.gamma(half + 1) * (2 / mp.mpf(x)) ** half * mp.besseli(half, x)
        second = mp.besseli(half + 2, x) / mp.besseli(half, x)
        expected = 0.01 * dimension**2 * mean**2 * (1 + (dimension - 1) * second) / dimension - 0.01 * ratio
    found = second_variation(at, fisher(x, dimension, degree), None, [0.0, 0.1])
    # The exponent is x cos t, and its rounding the relative one of the density.
    assert found == pytest.approx(0.7 * float(expected), rel=64 * EPS * x)
