import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ive

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    InvalidInput,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    Transformer,
    dissipation,
    first_variation,
    free_energy_parts,
    kuramoto_gap,
    kuramoto_order_parameter,
    second_variation,
    vertical_branches,
)
from tests import oracles
from tests.problems import on_circle

EPS = float(np.finfo(float).eps)


def von_mises(concentration, degree=60):
    return ive(np.arange(degree + 1), concentration) / ive(0, concentration)


def rounding(at, moments):
    """Rounding of log rho and its slope where rho is lowest: the series is rounded at its largest terms."""
    lowest = 1 + 2 * (moments[1:] * np.cos(np.pi * np.arange(1, moments.size))).sum()
    return 16 * EPS * at.noise * (1 + np.arange(moments.size)) @ moments / lowest


@pytest.mark.parametrize("ratio", [2.000001, 2.01, 3.0, 10.0])
def test_kuramoto_state(ratio):
    at = on_circle(Kuramoto(), noise=0.7, coupling=0.7 * ratio)
    moments = von_mises(ratio * kuramoto_order_parameter(ratio))
    energy = free_energy_parts(at, moments)
    exact = kuramoto_gap(ratio)
    # The gap is (1 - lambda) m^2 at leading order: the rounding of the coupling alone costs eps m^2.
    assert energy.gap == pytest.approx(exact, abs=16 * EPS * (abs(exact) + moments[1] ** 2))
    assert energy.total == pytest.approx(energy.entropy + energy.interaction, rel=EPS)
    uniform = -0.7 * math.log(2 * math.pi)
    assert energy.total - uniform == pytest.approx(0.7 * exact, abs=16 * EPS * 4)
    assert dissipation(at, moments) <= rounding(at, moments) ** 2
    assert np.ptp(first_variation(at, moments)[1]) <= rounding(at, moments)
    rotation = np.arange(moments.size) * moments
    zero = second_variation(at, moments, None, np.zeros_like(moments), rotation)
    assert abs(zero) <= 64 * EPS * ratio * (rotation**2).sum()


def test_against_a_double_integral():
    noise, coupling = 0.8, -1.7
    at = on_circle(CosineSeries((-1.0, 0.4, 0.3)), noise=noise, coupling=coupling)
    m, s = np.array([1.0, 0.2, -0.05, 0.02]), np.array([0.0, 0.1, 0.07, -0.03])

    def density(t):
        return (1 + 2 * sum(m[k] * mp.cos(k * t) + s[k] * mp.sin(k * t) for k in (1, 2, 3))) / (2 * mp.pi)

    def potential(t):
        return -mp.cos(t) + mp.mpf("0.4") * mp.cos(2 * t) + mp.mpf("0.3") * mp.cos(3 * t)

    entropy, interaction = oracles.free_energy(density, potential, noise, coupling)
    energy = free_energy_parts(at, m, s)
    assert energy.entropy == pytest.approx(float(entropy), rel=1e-13)
    assert energy.interaction == pytest.approx(float(interaction), rel=1e-13)
    assert energy.gap == pytest.approx(float((entropy + interaction) / noise + mp.log(2 * mp.pi)), abs=1e-13)


@pytest.mark.parametrize("amplitude", [1e-8, 1e-5, 1e-3, 0.1, 0.124, 0.126, 0.3])
def test_gap_has_no_cancellation(amplitude):
    at = on_circle(Kuramoto(), coupling=2.0)
    gap = free_energy_parts(at, [1.0, amplitude]).gap
    with mp.workdps(60):
        a = mp.mpf(amplitude)
        points = 512
        angles = (2 * mp.pi * j / points for j in range(points))
        f = [2 * a * mp.cos(t) for t in angles]
        exact = mp.fsum((1 + v) * mp.log(1 + v) for v in f) / points - a**2
    # Two terms of size a^3 average to a^4/4: a loss of 1/a, not of 1/a^2 or worse.
    assert abs(gap - exact) <= 16 * EPS * amplitude**3


def test_uniform_is_the_reference():
    at = on_circle(Transformer(3.0), coupling=1.0, confinement=CosineSeries((0.5,)))
    energy = free_energy_parts(at, [1.0, 0.0, 0.0])
    assert energy.gap == 0
    assert energy.confinement == 0
    assert energy.interaction == pytest.approx(0.5 * float(at.potential.multipliers(Circle(), 0)[0]), rel=2 * EPS)


def test_first_variation_of_uniform():
    at = on_circle(Transformer(3.0), noise=0.5, coupling=1.2, confinement=CosineSeries((0.5,)))
    angles, values = first_variation(at, [1.0, 0.0], points=7)
    expected = 0.5 - 0.5 * math.log(2 * math.pi) + 1.2 * at.potential.multipliers(Circle(), 0)[0]
    assert values == pytest.approx(expected + 0.5 * np.cos(angles), abs=16 * EPS)


def test_gibbs_density_of_a_confinement_is_stationary():
    at = on_circle(Kuramoto(), noise=0.5, coupling=0.0, confinement=Kuramoto())
    moments = von_mises(2.0)
    assert dissipation(at, moments) <= rounding(at, moments) ** 2
    values = first_variation(at, moments)[1]
    # D log rho + V + D = D - D log Z.
    mass = 2 * math.pi * ive(0, 2.0) * math.exp(2.0)
    assert values == pytest.approx(0.5 - 0.5 * math.log(mass), abs=1e-12)
    assert free_energy_parts(at, moments).confinement == pytest.approx(-moments[1], rel=EPS)
    assert free_energy_parts(at, moments).total == pytest.approx(-0.5 * math.log(mass), rel=16 * EPS)


def test_dissipation_is_the_decay_of_the_energy():
    at = on_circle(CosineSeries((-1.0, -0.6)), noise=0.9, coupling=1.3)
    m, s = np.array([1.0, 0.2, 0.1, 0.0, 0.0]), np.array([0.0, -0.1, 0.05, 0.0, 0.0])
    shares = -1.3 * np.array([0, -1.0, -0.6, 0, 0]) / (2 * 0.9)
    c = m - 1j * s
    full = {k: (c[k] if k >= 0 else np.conj(c[-k])) if abs(k) < 5 else 0 for k in range(-9, 10)}
    rates = [
        0.9 * (-(k**2) * full[k] + k * sum(j * shares[abs(j)] * full[j] * full[k - j] for j in range(-4, 5) if j))
        for k in range(5)
    ]
    step = 1e-4
    shifted = [c + sign * step * np.array(rates) for sign in (1, -1)]
    plus, minus = (free_energy_parts(at, v.real, -v.imag).total for v in shifted)
    assert dissipation(at, m, s) == pytest.approx(-(plus - minus) / (2 * step), rel=1e-6)


def test_variations_are_derivatives():
    at = on_circle(CosineSeries((-1.0, -0.6)), noise=0.9, coupling=1.3, confinement=CosineSeries((0.2,)))
    m, s = np.array([1.0, 0.2, 0.1, 0.05]), np.array([0.0, -0.1, 0.05, 0.02])
    a, b = np.array([0.0, 0.3, -0.2, 0.1]), np.array([0.0, 0.1, 0.4, -0.3])
    step = 1e-3
    total = [free_energy_parts(at, m + j * step * a, s + j * step * b).total for j in (-2, -1, 0, 1, 2)]
    slope = (total[0] - 8 * total[1] + 8 * total[3] - total[4]) / (12 * step)
    bend = (-total[0] + 16 * total[1] - 30 * total[2] + 16 * total[3] - total[4]) / (12 * step**2)
    angles, values = first_variation(at, m, s, points=256)
    modes = np.arange(4)
    direction = (a * np.cos(np.outer(angles, modes)) + b * np.sin(np.outer(angles, modes))).sum(axis=1) / np.pi
    assert (values * direction).mean() * 2 * np.pi == pytest.approx(slope, rel=1e-8)
    assert second_variation(at, m, s, a, b) == pytest.approx(bend, rel=1e-6)


@pytest.mark.parametrize("ratio", [2.5, 4.0, 6.0, 12.0, 40.0, 300.0])
def test_second_variation_of_concentrated_states(ratio):
    # rho = exp(x cos t)/I_0 on the uniform one and u = 2 a cos t: int u^2/rho = 2 a^2 I_0 (I_0 + I_2).
    x = ratio * kuramoto_order_parameter(ratio)
    at = on_circle(Kuramoto(), noise=0.7, coupling=0.7 * ratio)
    with mp.workdps(30):
        exact = 2 * mp.besseli(0, x) * (mp.besseli(0, x) + mp.besseli(2, x))
    found = second_variation(at, von_mises(x, 40 + int(12 * math.sqrt(x))), None, [0.0, 0.1])
    # The exponent is x cos t, and its rounding the relative one of the density.
    assert found == pytest.approx(0.7 * 0.01 * float(exact - ratio), rel=64 * EPS * x)


def test_second_variation_needs_what_the_moments_tell():
    # The same moments at another coupling are of no stationary state, and 1/rho is 1e16 at its largest.
    at = on_circle(Kuramoto(), coupling=21.0)
    moments = von_mises(20 * kuramoto_order_parameter(20.0))
    with pytest.raises(ComputationFailed, match="61 moments in 2 dimensions"):
        second_variation(at, moments, None, [0.0, 0.1])


def test_second_variation_beyond_the_range():
    at = on_circle(Kuramoto(), coupling=900.0)
    moments = von_mises(900 * kuramoto_order_parameter(900.0), 400)
    with pytest.raises(ComputationFailed, match="exceeds the range of numbers"):
        second_variation(at, moments, None, [0.0, 0.1])


def test_shorter_and_longer_directions():
    at = on_circle(Kuramoto(), coupling=1.0)
    moments = von_mises(0.5, 12)
    long = second_variation(at, moments, None, [0, 0.1, 0.2, *([0] * 30)])
    assert second_variation(at, moments, None, [0, 0.1, 0.2]) == pytest.approx(long, rel=32 * EPS)


def test_logarithmic_family_has_the_energy_of_uniform():
    at = on_circle(Logarithmic())
    (branch,) = vertical_branches(at, 1.9, 2.1)
    for radius in (0.05, 0.5, 0.8):
        energy = free_energy_parts(at.at(coupling=branch.coupling), branch.moments(radius, 200))
        assert abs(energy.gap) <= 64 * EPS


def test_extreme_beta_stays_finite():
    potential = Transformer(800.0)
    coupling = 2 / potential.scale(Circle())
    at = McKeanVlasov(Circle(), potential, coupling=coupling)
    moments = von_mises(3.0)
    assert math.isfinite(free_energy_parts(at, moments).gap)
    assert math.isfinite(dissipation(at, moments))


def test_a_concentrated_state_with_an_empty_side_is_admitted():
    # rho at pi is exp(-160) of its maximum: far below the rounding of its own cosine series.
    moments = von_mises(80.0, 120)
    energy = free_energy_parts(on_circle(Kuramoto(), coupling=80.0 / moments[1]), moments)
    assert energy.gap == pytest.approx(kuramoto_gap(80.0 / moments[1]), rel=64 * EPS)


@pytest.mark.parametrize(
    ("cosine", "sine", "message"),
    [
        ([1.0, 0.9], None, "give -1.273e-01 at angle 3.14159"),
        ([2.0, 0.1], None, "mass m_0 = 1"),
        ([], None, "two vectors of one length"),
        ([1.0, 0.1], [0.0], "two vectors of one length"),
        ([1.0, math.nan], None, "cosine must be a finite number or an array of finite numbers"),
        ([1.0, 0.1], [0.5, 0.0], "sine moment 0"),
    ],
)
def test_nonsense_is_refused(cosine, sine, message):
    at = on_circle(Kuramoto(), coupling=1.0)
    for function in (free_energy_parts, dissipation, first_variation):
        with pytest.raises(InvalidInput, match=message):
            function(at, cosine, sine)


def test_more_nonsense():
    at = on_circle(Kuramoto(), coupling=1.0)
    with pytest.raises(InvalidInput, match="coupling"):
        free_energy_parts(on_circle(Kuramoto()), [1.0, 0.1])
    with pytest.raises(InvalidInput, match="keeps the mass"):
        second_variation(at, [1.0, 0.1], None, [1.0, 0.1])
    with pytest.raises(InvalidInput, match="too few for 3 modes"):
        first_variation(at, [1.0, 0.1, 0.0, 0.0], points=6)
