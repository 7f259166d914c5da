"""Functions and formulas of one's own that are not smooth, not small or not simple."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
import sympy

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    Custom,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    McKeanVlasov,
    Onsager,
    Sphere,
    critical_coupling,
    potential_from,
)
from meanfield.cli import main
from meanfield.harmonics.gegenbauer import zonal_polynomials
from meanfield.potentials.waves import wave_sums
from meanfield.potentials.zonal import polynomial_integrals
from meanfield.wording import describe

EPS = float(np.finfo(float).eps)
DOMAINS = (Circle(), Sphere(3), Sphere(4))
# Errors of multipliers are those of the values times the root of N_l, relative to the size of W.
ROUNDINGS = 64


def close(found, expected, domain, size):
    numbers = np.array([1.0, *(domain.multiplicity(k) for k in range(1, len(expected)))])
    assert (np.abs(found - expected) <= ROUNDINGS * EPS * size * np.sqrt(numbers)).all()


@pytest.mark.parametrize(
    ("radius", "domain"), [(0.05, DOMAINS[0]), *((1.0, domain) for domain in DOMAINS), (2.7, DOMAINS[-1])], ids=repr
)
def test_bounded_confidence_of_ones_own(radius, domain):
    exact = HegselmannKrause(radius)
    multipliers = exact.multipliers(domain, 900)
    for own in (
        Custom.from_callable(lambda t: -0.5 * np.maximum(radius - np.abs(t), 0) ** 2),
        Custom.from_callable(lambda t: -0.5 * max(radius - abs(t), 0) ** 2, breakpoints=[radius]),
        Custom.from_expression(f"-Max({radius} - Abs(t), 0)**2/2"),
        Custom.from_expression(f"Piecewise((-({radius} - abs(t))**2/2, abs(t) < {radius}), (0, True))"),
    ):
        close(own.multipliers(domain, 300), multipliers[:301], domain, radius**2 / 2)
        for degree in (4, 40, 250):
            assert own.tail_bound(domain, degree) >= np.abs(multipliers[degree + 1 :]).max()
        angles = np.linspace(-7, 7, 101)
        assert own.values(angles) == pytest.approx(exact.values(angles), abs=1e-9 * radius**2)
        assert own.slope(angles) == pytest.approx(exact.slope(angles), abs=1e-6 * radius)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_onsager_of_ones_own(domain):
    own = Custom.from_expression("Abs(sin(t))").multipliers(domain, 400)
    assert (own[1::2] == 0).all()
    close(own, Onsager().multipliers(domain, 400), domain, 1.0)


def test_screened_chemotaxis_of_ones_own():
    own = Custom.from_callable(lambda t: -np.cosh(0.7 * (np.pi - abs(t))) / (1.4 * math.sinh(0.7 * np.pi)))
    close(own.multipliers(Circle(), 2000)[1:], KellerSegel(0.7).multipliers(Circle(), 2000)[1:], Circle(), 1.0)


@pytest.mark.parametrize(("centre", "width"), [(0.0, 0.7), (1.03, 0.3), (1.03, 1e-3), (2.9, 1e-3), (math.pi, 0.2)])
def test_a_hat(centre, width):
    # Its multipliers are h (sin(kh/2)/(kh/2))^2 cos(kc), twice that over pi where both halves lie inside.
    own = Custom.from_callable(lambda t: -np.maximum(1 - np.abs(np.abs(t) - centre) / width, 0))
    k = np.arange(1, 3000)
    share = 1 if centre in (0.0, math.pi) else 2
    expected = -share / np.pi * width * np.sinc(k * width / (2 * np.pi)) ** 2 * np.cos(k * centre)
    assert np.abs(own.multipliers(Circle(), 2999)[1:] - expected).max() <= 64 * EPS
    assert own.tail_bound(Circle(), 40) >= np.abs(expected[40:]).max()


@pytest.mark.parametrize(
    ("centre", "width"),
    [*((1.03, width) for width in (0.05, 5e-3, 2e-3, 1e-3, 3e-4, 1e-4)), (0.57, 1e-3), (2.2221, 1e-4)],
)
def test_a_spike_is_not_lost(centre, width):
    own = Custom.from_callable(lambda t: -np.cos(t) - 50 * np.exp(-(((np.abs(t) - centre) / width) ** 2) / 2))
    k = np.arange(1, 200)
    expected = -100 / np.pi * width * math.sqrt(2 * np.pi) * np.exp(-((k * width) ** 2) / 2) * np.cos(k * centre)
    expected[0] -= 1
    # The angle is rounded: eps |t W'|, times the width in which it matters.
    assert np.abs(own.multipliers(Circle(), 199)[1:] - expected).max() <= 256 * EPS * 50


def test_a_feature_between_breakpoints_is_seen():
    edges = (1.0, 1.00001, 1.00002)
    hat = {"xp": [0.0, *edges, math.pi], "fp": [0.0, 0.0, -1000.0, 0.0, 0.0]}
    told = Custom.from_callable(lambda t: -np.cos(t) + np.interp(np.abs(t), **hat), breakpoints=edges)
    expected = -1 - 2 / np.pi * 1000 * 1e-5 * math.cos(edges[1])
    assert told.multipliers(Circle(), 1)[1] == pytest.approx(expected, rel=1e-9)
    # The formula tells of it by itself.
    formula = Custom.from_expression("-cos(t) - 1000*Max(1 - Abs(Abs(t) - 1.00001)/0.00001, 0)")
    assert formula.multipliers(Circle(), 1)[1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("constant", [1e3, -1e6, 1e9, 1e12])
def test_constants_carry_no_information(constant):
    for domain, critical in ((Circle(), 2.0), (Sphere(3), 3.0)):
        formula = Custom.from_expression(f"{constant} - cos(t)")
        assert critical_coupling(McKeanVlasov(domain, formula)) == critical
        assert formula.multipliers(domain, 3).tolist() == [constant, -1, 0, 0]
    own = Custom.from_callable(lambda t: constant - np.cos(t))
    # The function itself is rounded to eps times the constant.
    found = critical_coupling(McKeanVlasov(Circle(), own))
    assert abs(found / 2 - 1) <= max(4 * EPS, EPS * abs(constant))
    assert abs(found / 2 - 1) <= own.accuracy
    assert (own.accuracy > 1e-10) == ("known to" in own.source)
    assert np.flatnonzero(own.multipliers(Circle(), 40)).tolist() == [0, 1]
    assert potential_from(own.name, own.parameters()).source == own.source


def test_a_constant_that_leaves_nothing_is_refused():
    with pytest.raises(InvalidInput, match="a large constant, terms that cancel or single precision"):
        Custom.from_callable(lambda t: 1e14 - np.cos(t))
    with pytest.raises(InvalidInput, match=r"not smooth|known to"):
        Custom.from_callable(lambda t: (1e10 + np.cos(t) * 1e-3 * np.sin(1e8 * t) ** 2) - 1e10)


@pytest.mark.parametrize("large", [1e3, 1e5, 1e8])
def test_terms_that_cancel(large):
    # They leave rounding of eps times their size in the values, which differ from place to place.
    def function(t):
        return large * np.cos(t) ** 2 + large * np.sin(t) ** 2 - large - np.cos(t) - np.maximum(1 - np.abs(t), 0)

    k = np.arange(1, 60)
    expected = -2 / np.pi * (1 - np.cos(k)) / k**2 - (k == 1)
    own = Custom.from_callable(function)
    assert own.accuracy < 64 * EPS * large
    assert (own.accuracy > 1e-10) == ("known to" in own.source)
    assert np.abs(own.multipliers(Circle(), 59)[1:] - expected).max() <= own.accuracy * 1.3
    formula = Custom.from_expression(
        f"{large}*cos(t)**2 + {large}*sin(t)**2 - {large} - cos(t) - Max(1 - Abs(t), 0)"
    )
    assert np.abs(formula.multipliers(Circle(), 59)[1:] - expected).max() <= formula.accuracy * 1.3 + 16 * EPS


def test_a_formula_that_is_rounded_says_so():
    text = "1e12*cos(t)**2 + 1e12*sin(t)**2 - cos(t)"
    own = Custom.from_expression(text)
    assert own.multipliers(Circle(), 1)[1] == pytest.approx(-1, abs=own.accuracy)
    assert describe(McKeanVlasov(Circle(), own)).startswith(f"custom (expression = {text}, known to ")


@pytest.mark.parametrize("unit", [1e-250, 1e-200, 1e200, 1e250])
def test_other_units(unit):
    for own in (
        Custom.from_callable(lambda t: -unit * np.cos(t) - unit / 2 * np.abs(np.sin(t))),
        Custom.from_expression(f"-{unit}*cos(t) - {unit}/2*Abs(sin(t))"),
    ):
        exact = Onsager().multipliers(Circle(), 50) / -2
        exact[1] -= 1
        close(own.multipliers(Circle(), 50) / unit, exact, Circle(), 1.5)
        assert critical_coupling(McKeanVlasov(Circle(), own)) * unit == pytest.approx(2, rel=8 * EPS)


@pytest.mark.parametrize(
    "function",
    [
        lambda t: -np.cos(t) + 1e-9 * np.sin(t),
        lambda t: 1e8 - np.cos(t) + 1e-5 * np.sin(3 * t),
        lambda t: 1e10 - np.cos(t) + 1e-3 * np.sin(t),
        # Beside a peak that is a hundred million times as large.
        lambda t: -np.cos(t) + 1e-5 * np.sin(t) - 1e8 * np.exp(-(((np.abs(t) - 1) / 1e-3) ** 2)),
        # Odd in a narrow place only.
        lambda t: -np.cos(t) - np.exp(-(((t - 1.03) / 2e-3) ** 2)),
        np.sin,
    ],
)
def test_odd_parts_are_compared_with_what_matters(function):
    with pytest.raises(InvalidInput, match=r"is not even: it is .* use its even part"):
        Custom.from_callable(function)


def test_an_even_function_in_other_words_is_even():
    # The wrapped angle is rounded, and so the two sides differ by roundings.
    own = Custom.from_callable(lambda t: -np.exp(3 * np.cos((t + np.pi) % (2 * np.pi) - np.pi)))
    assert own.multipliers(Circle(), 1)[1] == pytest.approx(-2 * np.i0(0) * 3.953370217402609, rel=1e-12)


def only_numbers(t):
    return -math.cos(t)


def column(t):
    return -np.cos(np.atleast_1d(t))[:, np.newaxis]


@pytest.mark.parametrize(
    "function",
    [
        only_numbers,
        column,
        lambda t: [-math.cos(x) for x in t],
        lambda t: -np.cos(np.asarray(t, dtype=float)).reshape(-1).tolist()[0],
        lambda t: np.round(-np.cos(t), 300),
    ],
)
def test_shapes_of_answers(function):
    assert Custom.from_callable(function).multipliers(Circle(), 3).tolist() == [0, -1, 0, 0]


def test_single_precision_is_said():
    own = Custom.from_callable(lambda t: -np.cos(np.asarray(t, dtype=np.float32)))
    assert own.multipliers(Circle(), 1)[1] == pytest.approx(-1, abs=own.accuracy)
    assert "known to" in own.source
    assert 1e-8 < own.accuracy < 1e-5


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: np.exp(1j * t), "must be real, not complex"),
        (lambda t: complex(math.cos(t)), "must be real, not complex"),
        (lambda t: np.where(t == np.pi / 2, np.nan, -np.cos(t)), r"is nan at t = 1\.5707963"),
        (lambda t: -np.cos(t) / np.abs(np.atleast_1d(t)).max(), "must depend on that angle only"),
        (lambda t: np.sort(-np.cos(t)), "must depend on that angle only"),
        (
            lambda t: -np.cos(t) + 1e-3 * np.random.default_rng().random(np.shape(t)),
            "must depend on that angle only",
        ),
        (lambda t: np.where(np.abs(t) < 1, -1, 0), "jumps by 1 at t = 1,"),
        (lambda t: -1.0 * (np.abs(t) < 1.03), r"jumps by 1 at t = 1\.03,"),
        (lambda t: np.floor(5 * np.cos(t)), "jumps by 1 at t = "),
        (lambda t: -np.cos(t) + 1e-2 * np.sin(1e8 * t**2), "is not smooth between"),
    ],
)
def test_functions_that_are_no_potentials(function, message):
    with pytest.raises(InvalidInput, match=message):
        Custom.from_callable(function)


def test_a_function_that_fails_at_an_end():
    def fails(t):
        if t == 0:
            raise ZeroDivisionError("nothing there")
        return -math.cos(t)

    with pytest.raises(ComputationFailed, match=r"fails raised ZeroDivisionError at t = 0: nothing there"):
        Custom.from_callable(fails)


def test_breakpoints_are_checked():
    with pytest.raises(InvalidInput, match=r"angles in \(0, pi\), not 4\.0"):
        Custom.from_callable(np.cos, breakpoints=(4.0,))
    with pytest.raises(InvalidInput, match="go with a function only"):
        Custom(expression="-cos(t)", breakpoints=(1.0,))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("-Max(1 - Abs(t), 0)", "-(1 - Abs(t))*Heaviside(1 - Abs(t))"),
        ("-Max(1 - Abs(t), 0)", "Min(Abs(t) - 1, 0)"),
        ("-max(1 - abs(t), 0, -3)", "Piecewise((0, Abs(t) >= 1), (Abs(t) - 1, True))"),
        ("Max(cos(t), 0.25)", "Piecewise((cos(t), (cos(t) > 0.25) & (Abs(t) < 3)), (0.25, True))"),
        ("Abs(t)", "t*sign(t)"),
        ("Abs(t)", "acos(cos(t))"),
        ("Abs(sin(t))", "sqrt(1 - cos(t)**2)"),
        ("sqrt(Abs(Abs(t) - 1))", "Abs(Abs(t) - 1)**0.5"),
        ("Piecewise((t**2, Abs(t) < 1), (1, Abs(t) < 2), (3 - Abs(t), True))", "Min(t**2, 1, 3 - Abs(t))"),
    ],
)
def test_formulas_that_are_the_same(text, same):
    first, second = (Custom.from_expression(each).multipliers(Circle(), 300) for each in (text, same))
    assert np.abs(first - second)[1:].max() <= 16 * EPS
    assert np.abs(first).max() > 0.01


def test_sympy_has_kinks():
    t = sympy.Symbol("t", real=True)
    hat = sympy.Max(1 - sympy.Abs(t), 0)
    for expression in (
        -hat,
        sympy.Min(sympy.Abs(t) - 1, 0),
        sympy.Piecewise((sympy.Abs(t) - 1, sympy.Abs(t) < 1), (0, True)),
        -(1 - sympy.Abs(t)) * sympy.Heaviside(1 - sympy.Abs(t)),
    ):
        k = np.arange(1, 100)
        expected = -2 / np.pi * (1 - np.cos(k)) / k**2
        assert np.abs(Custom.from_sympy(expression).multipliers(Circle(), 99)[1:] - expected).max() <= 16 * EPS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Max()", "takes one or more arguments"),
        ("Piecewise(1, 2)", "is no pair of a value and a condition"),
        ("Piecewise((1, t))", "is no condition"),
        ("Piecewise((1, Abs(t) < 1))", "is nan at t = "),
        ("t < 1", "not admitted"),
        ("Piecewise", "needs its argument in parentheses"),
        ("Maxx(t, 0)", "did you mean Max?"),
    ],
)
def test_formulas_in_wrong_words(text, message):
    with pytest.raises(InvalidInput) as caught:
        Custom.from_expression(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_function_on_pieces_is_kept_by_its_description():
    own = Custom.from_callable(lambda t: 3 - np.maximum(1 - np.abs(t), 0) - np.cos(t))
    again = potential_from(own.name, own.parameters())
    for domain in DOMAINS:
        assert (again.multipliers(domain, 300) == own.multipliers(domain, 300)).all()
        assert again.tail_bound(domain, 30) == own.tail_bound(domain, 30)
    angles = np.linspace(-4, 4, 33)
    assert (again.values(angles) == own.values(angles)).all()
    assert (again.slope(angles) == own.slope(angles)).all()
    assert potential_from(again.name, again.parameters()) == again
    assert hash(again) == hash(potential_from(again.name, again.parameters()))
    with pytest.raises(InvalidInput, match="no finite sum of cosines"):
        _ = own.series
    broken = own.parameters()
    broken["pieces"]["ends"][1] = -1.0
    with pytest.raises(InvalidInput, match="must increase from 0 to pi"):
        potential_from(own.name, broken)
    with pytest.raises(InvalidInput, match="described by ends, coefficients"):
        potential_from(own.name, {"pieces": {"ends": [0.0]}})


def even(t):
    return -np.maximum(1 - np.abs(t), 0)


@pytest.mark.parametrize(
    "build", [lambda: Custom.from_callable(even), lambda: Custom.from_expression("-Max(1-Abs(t), 0)")]
)
def test_a_function_goes_to_another_process(build):
    own = build()
    again = pickle.loads(pickle.dumps(own))
    assert again == own
    assert (again.multipliers(Circle(), 50) == own.multipliers(Circle(), 50)).all()
    assert dataclasses.replace(own) == own


def test_repulsive_kinks_have_no_critical_coupling():
    assert critical_coupling(McKeanVlasov(Circle(), Custom.from_expression("Max(1 - Abs(t), 0)"))) is None


def test_kinks_on_the_command_line(capsys):
    assert main(["theory", "custom", "--expression", "-Max(1-Abs(t),0)"]) == 0
    # The threshold of degree 1 is pi/(1 - cos 1).
    assert f"{math.pi / (1 - math.cos(1)):.6f}"[:7] in capsys.readouterr().out


@pytest.mark.parametrize("series", [CosineSeries, GegenbauerSeries])
def test_series_take_their_coefficients_by_either_name(series):
    assert series(coefficients=(-1.0, -0.9)) == series((-1.0, -0.9)) == series(w=[-1.0, -0.9])
    assert series(coefficients=(-1.0, -0.9)).coefficients == (-1.0, -0.9)
    with pytest.raises(InvalidInput, match="both are given"):
        series((-1.0,), coefficients=(-1.0,))
    with pytest.raises(InvalidInput, match="none is given"):
        series()


@pytest.mark.parametrize("build", [CosineSeries, GegenbauerSeries, Custom.from_coefficients])
@pytest.mark.parametrize(
    ("container", "message"),
    [
        ({1: -1.0}, "not a mapping"),
        ({-1.0, 2.0}, "must be a sequence of numbers"),
        ("12", "must be a sequence of numbers"),
        (b"12", "must be a sequence of numbers"),
        (bytearray(3), "must be a sequence of numbers"),
        ({1: 2.0}.items(), "must be a sequence of numbers"),
        (np.ones((2, 2)), "not an array of 2 dimensions"),
        (np.float64(1), "not an array of 0 dimensions"),
        (3.0, "must be a sequence of numbers"),
        ((), "at least one coefficient"),
    ],
)
def test_containers_without_an_order(build, container, message):
    with pytest.raises(InvalidInput, match=message):
        build(container)


@pytest.mark.parametrize("build", [CosineSeries, GegenbauerSeries, Custom.from_coefficients])
def test_containers_with_an_order(build):
    numbers = (-1.0, 0.5)
    for container in (list(numbers), np.array(numbers), (x for x in numbers), dict(enumerate(numbers)).values()):
        assert build(container) == build(numbers)


@pytest.mark.parametrize("degree", [0, 7, 300])
def test_sums_of_waves(degree):
    rng = np.random.default_rng(degree)
    angles = (np.pi * rng.random(200)).astype(np.longdouble)
    factors = rng.standard_normal(200).astype(np.longdouble)
    k = np.arange(degree + 1).astype(np.longdouble)
    direct = np.exp(-1j * np.multiply.outer(k, angles)) @ factors
    assert np.abs(wave_sums(factors, angles, degree) - direct).max() <= EPS * np.abs(factors).sum()


@pytest.mark.parametrize("dimension", [3, 5])
def test_sums_of_polynomials(dimension):
    rng = np.random.default_rng(dimension)
    angles, factors = (np.pi * rng.random(100)).astype(np.longdouble), rng.standard_normal(100)
    direct = [float(factors @ row) for row in zonal_polynomials(dimension, 60, np.cos(angles))]
    found = polynomial_integrals(factors.astype(np.longdouble), angles, dimension, 60)
    assert np.abs(found - direct).max() <= 16 * EPS * np.abs(factors).sum()
