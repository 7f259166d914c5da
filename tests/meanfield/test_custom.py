import math

import numpy as np
import pytest
import sympy

from meanfield import (
    Circle,
    ComputationFailed,
    CosineSeries,
    Custom,
    InvalidInput,
    Kuramoto,
    Sphere,
    Transformer,
    potential_from,
)

CIRCLE = Circle()
EPS = float(np.finfo(float).eps)


def test_expression_gives_exact_coefficients_and_exact_zeros():
    multipliers = Custom.from_expression("-cos(t) - 0.9*cos(2*t)").multipliers(CIRCLE, 40)
    assert multipliers.tolist() == [0, -1, -0.9] + [0] * 38


@pytest.mark.parametrize(
    "custom",
    [
        Custom.from_expression("-exp(5*cos(t))/5"),
        Custom.from_callable(lambda t: -np.exp(5 * np.cos(t)) / 5),
        Custom.from_callable(lambda t: -math.exp(5 * math.cos(t)) / 5),
        Custom.from_sympy(-sympy.exp(5 * sympy.cos(sympy.Symbol("x"))) / 5),
    ],
    ids=["expression", "vectorised", "scalar", "sympy"],
)
def test_smooth_functions_reach_rounding_level(custom):
    expected = Transformer(5.0).multipliers(CIRCLE, 40)
    error = np.abs(custom.multipliers(CIRCLE, 40) - expected)
    # Below 4 eps max|w| coefficients are set to 0; the trapezoid sums round at eps max|W|.
    assert error.max() <= 8 * EPS * np.exp(5.0)
    assert custom.series.size < 40
    angles = np.linspace(-4, 4, 7)
    assert custom.values(angles) == pytest.approx(Transformer(5.0).values(angles), abs=64 * EPS * np.exp(5.0))
    assert custom.slope(angles) == pytest.approx(Transformer(5.0).slope(angles), abs=512 * EPS * np.exp(5.0))


def test_no_spurious_modes_from_rounding():
    custom = Custom.from_callable(lambda t: -np.cos(3 * t) * np.cos(4 * t))
    assert np.flatnonzero(custom.multipliers(CIRCLE, 200)).tolist() == [1, 7]
    assert np.flatnonzero(Custom.from_expression("cos(1000*t)").series).tolist() == [1000]


def test_high_modes_are_not_aliased():
    custom = Custom.from_callable(lambda t: -np.cos(t) - 0.5 * np.cos(64 * t))
    assert np.flatnonzero(custom.series).tolist() == [1, 64]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("__import__('os')", "__import__"),
        ("().__class__", "__class__"),
        ("t.__class__", "__class__"),
        ("cos.__globals__", "__globals__"),
        ("lambda: 1", "lambda"),
        ("(lambda t: t)(t)", "lambda"),
        ("[x for x in (1,)]", "for x in"),
        ("t[0]", "t[0]"),
        ("{1: 2}", "{1: 2}"),
        ("f'{t}'", "f'"),
        ("'a'*9", "'a'"),
        ("1j*t", "1j"),
        ("True*cos(t)", "True"),
        ("t if t else 1", "t if t else 1"),
        ("t < 1", "t < 1"),
        ("cos(t) // 2", "cos(t) // 2"),
        ("cos(t) and 1", "and"),
        ("~t", "~t"),
        ("(x := 1)", "x := 1"),
        ("cos(*t)", "exactly one argument"),
        ("cos(t, t)", "exactly one argument"),
        ("cos(x=t)", "exactly one argument"),
        ("eval('1')", "eval"),
        ("open", "open"),
        ("cos(t)^2", "write ** for a power"),
        ("coz(t)", "did you mean cos?"),
        ("cos", "cos is a function and needs its argument in parentheses, as in cos(t)"),
        ("t(2)", "t is not a function; write t*(...) for a product"),
        ("cos(t", "cannot be read"),
        ("cos(t)\x00", "cannot be read"),
        ("import os", "cannot be read"),
        ("t = 1", "cannot be read"),
        ("", "empty"),
        ("   ", "empty"),
        ("1+" * 5000 + "1", "at most 2000"),
        ("-" * 1900 + "1", "nested"),
        ("(" * 900 + "t" + ")" * 900, "nested"),
        ("1e9999", "too large"),
        ("1e400*cos(t)", "too large"),
        ("9" * 400, "too large"),
        ("9**9**9**9", "at t = 0"),
        ("exp(exp(exp(exp(9 + cos(t)))))", "at t = 0"),
    ],
)
def test_whitelist(text, part):
    # A tower of powers evaluated in integers would not come back at all.
    with pytest.raises(InvalidInput) as caught:
        Custom.from_expression(text)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_long_sums_are_admitted():
    text = " - ".join(f"{1 / k**2:.6f}*cos({k}*t)" for k in range(1, 80))
    assert Custom.from_expression("-" + text).series.size == 80


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sin(t)", "not even: it is 1 at t = 1.5708 and -1 at t = -1.5708"),
        ("1/t", "inf at t = 0"),
        ("log(cos(t))", "nan at t = "),
        ("sqrt(cos(t))", "nan at t = "),
        ("Heaviside(1 - Abs(t))", "jumps by 0.5 at t = 1, where the force would be infinite"),
        ("cos(1e7*t*t)", "is not smooth between t = "),
    ],
)
def test_inadmissible_functions(text, message):
    with pytest.raises(InvalidInput, match=message):
        Custom.from_expression(text)


def test_an_exception_inside_the_function_is_located_and_chained():
    def broken(t):
        if t > 1:
            raise KeyError("lost")
        return -math.cos(t)

    with pytest.raises(ComputationFailed, match=r"broken raised KeyError at t = \d\.\d+: 'lost'") as caught:
        Custom.from_callable(broken)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_function_returning_nonsense_is_reported():
    with pytest.raises(ComputationFailed, match="raised TypeError at t = 0"):
        Custom.from_callable(lambda t: None)
    with pytest.raises(InvalidInput, match="nan at t = 0"):
        Custom.from_callable(lambda t: math.nan)
    with pytest.raises(InvalidInput, match="from_callable needs a function"):
        Custom.from_callable("cos")


def test_exactly_one_source():
    for arguments in ({}, {"expression": "cos(t)", "coefficients": (1.0,)}):
        with pytest.raises(InvalidInput, match="exactly one of"):
            Custom(**arguments)
    with pytest.raises(InvalidInput, match="goes with coefficients"):
        Custom(expression="cos(t)", constant=1.0)
    with pytest.raises(InvalidInput, match="coefficient 2 of coefficients"):
        Custom(coefficients=(1.0, math.inf))


def test_equality_by_value():
    def function(t):
        return -np.cos(t)

    assert Custom.from_expression("-cos(t)") == Custom.from_expression(" -cos(t) ")
    assert hash(Custom.from_expression("-cos(t)")) == hash(Custom.from_expression("-cos(t)"))
    assert Custom.from_callable(function) == Custom.from_callable(function)
    assert Custom.from_callable(function) != Custom.from_callable(lambda t: -np.cos(t))
    assert Custom.from_coefficients([-1.0]) == Custom(coefficients=(-1.0,))


def test_round_trip():
    expression = Custom.from_expression("-cos(t)**3")
    assert potential_from("custom", expression.parameters()) == expression
    wrapped = Custom.from_callable(lambda t: 2 - np.exp(np.cos(t)))
    parameters = wrapped.parameters()
    assert parameters["source"] == "callable <lambda>"
    rebuilt = potential_from("custom", parameters)
    assert (rebuilt.multipliers(CIRCLE, 30) == wrapped.multipliers(CIRCLE, 30)).all()
    assert rebuilt.parameters() == parameters
    assert potential_from("custom", rebuilt.parameters()) == rebuilt


def test_coefficients_agree_with_the_cosine_series():
    custom, series = Custom.from_coefficients((-1.0, 0.3), constant=2.0), CosineSeries((-1.0, 0.3))
    assert (custom.multipliers(CIRCLE, 5)[1:] == series.multipliers(CIRCLE, 5)[1:]).all()
    assert custom.multipliers(CIRCLE, 5)[0] == 2
    assert custom.tail_bound(CIRCLE, 1) == 0.3
    assert custom.tail_bound(CIRCLE, 2) == 0
    assert custom.scale(CIRCLE) == 1


def test_a_constant_is_a_potential_without_modes():
    custom = Custom.from_callable(lambda t: 0 * t + 3.0)
    assert custom.multipliers(CIRCLE, 2).tolist() == [3, 0, 0]
    assert custom.scale(CIRCLE) == 0
    assert potential_from("custom", custom.parameters()).multipliers(CIRCLE, 1).tolist() == [3, 0]


def test_sympy_walk():
    x, y = sympy.symbols("x y")
    custom = Custom.from_sympy(-(sympy.cos(x) ** 2) / 3 + sympy.pi * sympy.Float("0.25") * sympy.cos(x))
    assert custom.multipliers(CIRCLE, 2) == pytest.approx([-1 / 6, np.pi / 4, -1 / 6], rel=4 * EPS)
    with pytest.raises(InvalidInput, match="the symbols x, y"):
        Custom.from_sympy(sympy.cos(x) + y)
    with pytest.raises(InvalidInput, match="is not admitted in a potential"):
        Custom.from_sympy(sympy.gamma(x))
    with pytest.raises(InvalidInput, match="EulerGamma is not a number admitted"):
        Custom.from_sympy(sympy.EulerGamma * sympy.cos(x))
    with pytest.raises(InvalidInput, match="needs a sympy expression"):
        Custom.from_sympy("cos(x)")


@pytest.mark.parametrize(
    "formula", ["exp(-12000)*cos(t)", "exp(-9000 + cos(t))*exp(-9000)", "cos(t)*1e-200*1e-200"]
)
def test_a_potential_that_is_zero_by_underflow_is_refused(formula):
    with pytest.raises(InvalidInput, match="too near the smallest numbers"):
        Custom.from_expression(formula)


@pytest.mark.parametrize("domain", [Circle(), Sphere(3)])
def test_a_potential_that_is_zero_is_none(domain):
    assert not Custom.from_expression("cos(t) - cos(t)").multipliers(domain, 4).any()


@pytest.mark.parametrize("make", [lambda: CosineSeries((-1e-320,)), lambda: 1e-200 * (1e-200 * Kuramoto())])
def test_coefficients_that_underflow_are_refused(make):
    with pytest.raises(InvalidInput, match=r"underflow|too near the smallest numbers"):
        make()
