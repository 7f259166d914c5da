import functools
import math

import mpmath as mp
import numpy as np
import pytest
import sympy

from meanfield import (
    Circle,
    CosineSeries,
    Custom,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    MaierSaupe,
    Onsager,
    Sphere,
    Transformer,
    potential_from,
)
from meanfield.cli import main
from meanfield.harmonics import multiplicities
from meanfield.harmonics.gegenbauer import sum_at_cosines
from meanfield.potentials import POTENTIALS, potential_class
from meanfield.potentials.zonal import angular_rule, polar_mass
from tests import problems
from tests.oracles import exact, zonal_mean

EPS = float(np.finfo(float).eps)


def cosine(degree, t):
    return mp.cos(degree * t)


@pytest.mark.parametrize("dimension", [3, 4, 9])
@pytest.mark.parametrize("profile", problems.profiles(3))
def test_multipliers_against_quadrature(profile, dimension):
    if dimension > profile.largest_dimension:
        pytest.skip("refused there")
    domain = Sphere(dimension)
    multipliers = profile.potential.multipliers(domain, 6)
    with mp.workdps(25):
        for degree in (0, 1, 2, 3, 4, 6):
            expected = domain.multiplicity(degree) * zonal_mean(
                dimension, profile.function, degree, profile.corners
            )
            assert abs(mp.mpf(float(multipliers[degree])) - expected) <= 4 * EPS * abs(expected) + mp.mpf("1e-18")


@pytest.mark.parametrize("beta", [1e-3, 1.0, -3.0, 40.0, 800.0, -800.0])
@pytest.mark.parametrize("dimension", [3, 4, 16, 128, 1024])
def test_transformer_is_the_bessel_function(beta, dimension):
    domain, half = Sphere(dimension), mp.mpf(dimension) / 2
    multipliers = Transformer(beta).multipliers(domain, 60)
    relative = Transformer(beta).relative_multipliers(domain, 60)
    scale = Transformer(beta).scale(domain)
    with mp.workdps(40):
        for degree in (0, 1, 2, 17, 60):
            size = mp.mpf(abs(beta))
            bessel = mp.gamma(half) * (2 / size) ** (half - 1) * mp.besseli(degree + half - 1, size)
            sign = -1 if beta > 0 or degree % 2 else 1
            expected = sign * domain.multiplicity(degree) * bessel / size
            if abs(expected) > 1e-290:
                assert abs(exact(multipliers[degree]) / expected - 1) <= 4 * EPS
            if degree and abs(expected / exact(scale)) > 1e-290:
                assert abs(mp.mpf(relative[degree]) * exact(scale) / expected - 1) <= 4 * EPS
    assert np.isfinite(multipliers.astype(np.longdouble)).all()
    assert np.abs(Transformer(beta).relative_multipliers(domain, 3000)).max() == 1


def test_a_threshold_is_e():
    assert -3 / Transformer(1.0).multipliers(Sphere(3), 1)[1] == pytest.approx(math.e, rel=2 * EPS)


def test_onsager_on_the_ordinary_sphere():
    # kappa_l/D = -N_l/w_l = 2 (l-1) (l+2) (l!!/(l-1)!!)^2 / pi.
    w = Onsager().multipliers(Sphere(3), 7)
    assert [-(2 * k + 1) / w[k] * math.pi for k in (2, 4, 6)] == pytest.approx([32, 256, 4096 / 5], rel=4 * EPS)
    assert not w[1::2].any()


def test_logarithmic_falls_on_its_closed_form():
    for dimension in (3, 7, 64):
        w, k = Logarithmic().multipliers(Sphere(dimension), 9), np.arange(1, 10)
        assert w[1:] == pytest.approx(-(1 / k + 1 / (k + dimension - 2)) / 2, rel=4 * EPS)


def test_the_sum_of_all_multipliers_is_the_value_at_zero():
    for dimension in (3, 20, 128):
        for beta in (0.7, 9.0):
            total = Transformer(beta).multipliers(Sphere(dimension), 600).sum()
            assert total == pytest.approx(-math.exp(beta) / beta, rel=16 * EPS)


@pytest.mark.parametrize("dimension", [3, 4, 24])
@pytest.mark.parametrize("profile", problems.profiles(3))
def test_tail_bound_and_scale(profile, dimension):
    if dimension > profile.largest_dimension:
        pytest.skip("refused there")
    potential = profile.potential
    domain = Sphere(dimension)
    multipliers = np.abs(potential.multipliers(domain, 600))
    for degree in (0, 1, 2, 5, 17, 100):
        bound = float(potential.tail_bound(domain, degree))
        largest = float(multipliers[degree + 1 :].max())
        assert largest <= bound * (1 + 4 * EPS)
        if not isinstance(potential, HegselmannKrause):
            assert bound <= largest * (1 + 4 * EPS)
    assert float(potential.scale(domain)) == pytest.approx(float(multipliers[1:].max()), rel=4 * EPS)
    relative = potential.relative_multipliers(domain, 40)
    assert relative[0] == 0
    assert relative[1:] * float(potential.scale(domain)) == pytest.approx(
        potential.multipliers(domain, 40)[1:], rel=8 * EPS
    )
    assert potential.relative_tail_bound(domain, 4000) < 0.1


def test_gegenbauer_series():
    series = GegenbauerSeries((0.5, -1.0, 0.25), dimension=5)
    assert series.multipliers(Sphere(5), 4).tolist() == [0, 0.5, -1, 0.25, 0]
    angles = np.array([0.0, 0.3, 1.2, math.pi])
    with mp.workdps(30):
        for angle, value in zip(angles, series.values(angles), strict=True):
            u = mp.cos(mp.mpf(angle))
            expected = sum(
                w * mp.gegenbauer(k, 1.5, u) / mp.gegenbauer(k, 1.5, 1) for k, w in enumerate(series.w, start=1)
            )
            assert abs(value - expected) <= 8 * EPS
    step = 1e-6
    central = (series.values(angles + step) - series.values(angles - step)) / (2 * step)
    assert series.slope(angles) == pytest.approx(central, abs=1e-9)
    assert potential_from(series.name, series.parameters()) == series


def test_gegenbauer_series_in_known_cases():
    legendre, cosines = GegenbauerSeries((0.0, -1.0)), GegenbauerSeries((0.3, -1.0), dimension=2)
    angles = np.linspace(0, math.pi, 7)
    assert legendre.values(angles) == pytest.approx(-(3 * np.cos(angles) ** 2 - 1) / 2, abs=4 * EPS)
    assert cosines.values(angles) == pytest.approx(CosineSeries((0.3, -1.0)).values(angles), abs=8 * EPS)
    assert cosines.slope(angles) == pytest.approx(CosineSeries((0.3, -1.0)).slope(angles), abs=8 * EPS)
    assert cosines.multipliers(Circle(), 2).tolist() == [0, 0.3, -1]


@pytest.mark.parametrize(
    ("own", "other", "words"),
    [
        (3, Sphere(4), r"polynomials of Sphere\(3\) and cannot be used on Sphere\(4\)"),
        (3, Circle(), r"cannot be used on Circle\(\).*dimension=2"),
        (2, Sphere(3), r"polynomials of Circle\(\) and cannot"),
    ],
)
def test_a_series_belongs_to_its_domain(own, other, words):
    with pytest.raises(InvalidInput, match=words):
        GegenbauerSeries((1.0,), dimension=own).multipliers(other, 3)


@pytest.mark.parametrize("dimension", [1, 2000, 2.5, True])
def test_a_series_has_a_dimension(dimension):
    with pytest.raises(InvalidInput, match="dimension"):
        GegenbauerSeries((1.0,), dimension=dimension)


def test_cosine_series_is_converted_exactly():
    # cos 2t = (4 P_2 - 1)/3 and cos 4t = (192 P_4 - 80 P_2 - 7)/105 on the ordinary sphere.
    w = CosineSeries((0.0, 1.0, 0.0, 1.0)).multipliers(Sphere(3), 5)
    expected = [-1 / 3 - 7 / 105, 0, 4 / 3 - 80 / 105, 0, 192 / 105, 0]
    assert w == pytest.approx(expected, rel=2 * EPS)
    for dimension in (3, 8, 40):
        series = CosineSeries(tuple(1 / np.arange(1, 31) ** 2))
        w, angles = series.multipliers(Sphere(dimension), 30), np.linspace(0, math.pi, 11)
        error = 64 * EPS * np.abs(w).sum()
        assert sum_at_cosines(w, dimension, np.cos(angles)) == pytest.approx(series.values(angles), abs=error)


def test_a_mode_that_cancels_is_exactly_absent():
    # P_4 on S^2 as a cosine series has no part of degree 2.
    p4 = CosineSeries((0.0, 20 / 64, 0.0, 35 / 64))
    w = p4.multipliers(Sphere(3), 4)
    assert w[1:].tolist() == [0, 0, 0, pytest.approx(1, rel=2 * EPS)]


def test_cosine_series_beyond_the_range():
    with pytest.raises(InvalidInput, match="beyond the range of numbers on a sphere of dimension 1024"):
        CosineSeries((0.0,) * 2999 + (1.0,)).multipliers(Sphere(1024), 3)


@pytest.mark.parametrize("dimension", [3, 4, 5, 16])
def test_custom_of_a_formula_is_the_closed_form(dimension):
    t = sympy.Symbol("t")
    for custom, limit in (
        (Custom.from_expression("-exp(2*cos(t))/2"), 1e-14),
        (Custom.from_sympy(-sympy.exp(2 * sympy.cos(t)) / 2), 1e-14),
        (Custom.from_callable(lambda t: -np.exp(2 * np.cos(t)) / 2), 1e-10 if dimension > 5 else 1e-12),
    ):
        w, exact = (p.multipliers(Sphere(dimension), 40) for p in (custom, Transformer(2.0)))
        assert np.abs(w - exact).max() <= limit * np.abs(exact).max()
    assert np.abs(w[:8] / exact[:8] - 1).max() < 1e-9


def test_custom_of_coefficients_is_converted():
    w = (-1.0, 0.5, 0.0, -0.25)
    for domain in (Sphere(3), Sphere(10)):
        custom = Custom.from_coefficients(w, constant=0.5).multipliers(domain, 6)
        series = CosineSeries(w).multipliers(domain, 6)
        assert custom[1:].tolist() == series[1:].tolist()
        assert custom[0] == pytest.approx(series[0] + 0.5, rel=4 * EPS)


def test_custom_noise_makes_no_modes():
    w = Custom.from_callable(lambda t: -(np.cos(t) ** 2)).multipliers(Sphere(3), 30)
    assert np.flatnonzero(w).tolist() == [0, 2]
    assert w[[0, 2]] == pytest.approx([-1 / 3, -2 / 3], rel=4 * EPS)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Custom.from_expression("log(sin(t)**2)"), r"is -inf at t = 0"),
        (lambda: Custom.from_callable(lambda t: 1 / (1 + np.cos(t))), r"is inf at t = 3.14159265358979"),
        (
            lambda: Custom.from_expression("t**2").multipliers(Sphere(5), 3),
            r"decay like l\^-0\.5.*up to dimension 4",
        ),
        (lambda: Custom.from_expression("t**2").multipliers(Sphere(3), 8193), "computed up to degree 8192"),
    ],
)
def test_custom_functions_that_no_sphere_carries(build, words):
    with pytest.raises(InvalidInput, match=words):
        build()


def test_custom_lost_in_rounding_is_refused():
    custom = Custom.from_callable(lambda t: -np.exp(9 * np.cos(t)))
    with pytest.raises(InvalidInput, match=r"at degree .* of dimension 64 cannot be told from rounding"):
        custom.multipliers(Sphere(64), 3)


def test_what_a_sphere_does_not_carry_is_refused():
    with pytest.raises(InvalidInput, match=r"decay like l\^-1\.5.*up to dimension 4"):
        HegselmannKrause(1.0).multipliers(Sphere(5), 3)
    with pytest.raises(InvalidInput, match="computed up to degree 8192"):
        HegselmannKrause(1e-6).scale(Sphere(3))
    for call in ("multipliers", "tail_bound", "extended_multipliers"):
        with pytest.raises(InvalidInput, match=r"Green function of the circle.*Logarithmic"):
            getattr(KellerSegel(1.0), call)(Sphere(3), 3)


def test_maier_saupe_on_the_circle_is_a_cosine():
    angles = np.linspace(-3, 3, 9)
    w = MaierSaupe().multipliers(Circle(), 4)
    assert w.tolist() == [-0.5, 0, -0.5, 0, 0]
    assert MaierSaupe().values(angles) == pytest.approx(-(np.cos(angles) ** 2), abs=EPS)
    assert MaierSaupe().slope(angles) == pytest.approx(np.sin(2 * angles), abs=2 * EPS)
    assert MaierSaupe().tail_bound(Circle(), 1) == 0.5
    assert MaierSaupe().tail_bound(Circle(), 2) == 0


def test_names():
    assert potential_class("o-n") is Kuramoto
    assert POTENTIALS["maier-saupe"] is MaierSaupe
    assert POTENTIALS["gegenbauer-series"] is GegenbauerSeries


def test_a_series_on_the_command_line_takes_the_dimension_of_the_domain(capsys):
    assert (
        main(["theory", "gegenbauer-series", "--coefficients", "0", "-1", "--domain", "sphere", "--modes", "2"])
        == 0
    )
    assert "kappa_c = 5," in capsys.readouterr().out
    assert main(["theory", "gegenbauer-series", "--coefficients", "-1", "--modes", "2"]) == 0
    assert "kappa_c = 2," in capsys.readouterr().out


@pytest.mark.parametrize("dimension", [3, 4, 7, 20])
def test_angular_rule_is_exact_for_cosines(dimension):
    size = 64
    weights, angles = angular_rule(dimension, size), np.arange(size + 1) * np.pi / size
    for degree in (0, 2, 8, 30):
        expected = zonal_mean(dimension, functools.partial(cosine, degree), 0)
        assert float(weights @ np.cos(degree * angles)) == pytest.approx(float(expected), abs=8 * EPS)


def test_multiplicities_fit_long_doubles():
    for dimension in (3, 4, 128):
        exact = [Sphere(dimension).multiplicity(k) for k in range(41)]
        assert multiplicities(Sphere(dimension), 40).astype(float) == pytest.approx(exact, rel=2 * EPS)
    assert multiplicities(Circle(), 3).tolist() == [1, 2, 2, 2]


@pytest.mark.parametrize("dimension", [2, 3, 4, 9])
def test_polar_mass_is_the_integral_of_the_measure(dimension):
    angles, weights = np.polynomial.legendre.leggauss(64)
    expected = weights @ np.sin(np.pi * (angles + 1) / 2) ** (dimension - 2) * np.pi / 2
    assert float(polar_mass(dimension)) == pytest.approx(expected, rel=8 * EPS)
