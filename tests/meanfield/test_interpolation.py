"""Multipliers of formulas and functions interpolated in a number given by name, and derivatives of functions in it.

References are closed forms: of triangles :math:`-(c - |t|)_+`, whose kinks move with the number and whose multipliers
are waves in it, of Bessel functions, and what the potential gives at each value without interpolation.
"""

import math
import pickle

import numpy as np
import pytest
from scipy.special import ive

from meanfield import (
    Circle,
    CommonFrequency,
    Custom,
    DepthScaled,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    PhaseLag,
    Sphere,
)
from meanfield.potentials import shapes
from meanfield.potentials.interpolation import interpolant, interpolated_derivatives
from solvers import bifurcation_diagram, curve

EPS = float(np.finfo(float).eps)
RANDOM = np.random.default_rng(60)
TRIANGLE, BELL = "-Max(c - Abs(t), 0)", "-exp(-t**2/(2*c**2))"


def triangle(angle, c):
    return -np.maximum(c - np.abs(angle), 0.0)


def attracting(angle, c):
    """Take single angles and real numbers only."""
    return -math.exp(c * (math.cos(angle) - 1.0))


def triangle_multipliers(c, degree):
    k = np.arange(1, degree + 1)
    return np.append(-(c**2) / (2 * np.pi), -2 / np.pi * (1 - np.cos(k * c)) / k**2)


def triangle_derivatives(c, degree):
    k = np.arange(1, degree + 1)
    return np.append(-c / np.pi, -2 / np.pi * np.sin(k * c) / k)


@pytest.mark.parametrize("degree", [1, 16, 256, 700])
@pytest.mark.parametrize("c", [0.4, 1.1, *RANDOM.uniform(0.3, 2.8, 2)])
def test_derivatives_of_kinks_that_move(c, degree):
    """Waves of a high degree in the number, which coarse differences do not see, have their derivatives."""
    potential = Custom.from_callable(triangle, c=float(c))
    exact = triangle_derivatives(c, degree)
    derivatives, errors = interpolated_derivatives(potential, "c", Circle(), degree)
    assert (np.abs(derivatives - exact) <= errors).all()
    assert errors.max() <= 1e-9 * np.abs(exact).max()
    assert np.array_equal(potential.multiplier_derivatives("c", Circle(), degree), derivatives)


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(4)], ids=repr)
@pytest.mark.parametrize(
    "potential",
    [
        Custom.from_expression(TRIANGLE, c=1.0),
        Custom.from_callable(triangle, c=1.0),
        Custom.from_expression(BELL, c=0.7),
        Custom.from_callable(attracting, c=2.0),
        Custom.from_expression("-exp(b*cos(t))*Max(c - Abs(t), 0)", c=1.0, b=1.5),
        2.0 * Kuramoto() - 0.5 * Custom.from_expression(TRIANGLE, c=1.0),
    ],
    ids=["triangle", "function", "bell", "scalar", "product", "sum"],
)
def test_interpolated_multipliers_are_those_at_each_value(potential, domain):
    prepared = potential.interpolated_in("c")
    assert prepared == potential
    # What a potential promises: roundings of its values, of each multiplier by the root of the number of harmonics.
    roots = np.sqrt([float(domain.multiplicity(degree)) for degree in range(41)])
    for value in RANDOM.uniform(0.5, 2.5, 3).tolist():
        direct = potential.with_parameter("c", value)
        near = prepared.with_parameter("c", value)
        expected = direct.multipliers(domain, 40)
        size = float(np.ptp(direct.values(np.linspace(0.0, np.pi, 99))))
        assert (np.abs(near.multipliers(domain, 40) - expected) <= 16 * EPS * size * roots)[1:].all()
        slopes, errors = interpolated_derivatives(direct, "c", domain, 40)
        known = errors.max() + 1e-10 * max(np.abs(slopes).max(), size / value)
        assert np.abs(near.multiplier_derivatives("c", domain, 40) - slopes).max() <= known
        # What is cut off is bounded, by no less than at the value.
        for degree in (2, 8, 33):
            beyond = np.abs(direct.multipliers(domain, 120))[degree + 1 :].max()
            assert max(beyond, direct.tail_bound(domain, degree)) <= near.tail_bound(domain, degree)


def test_interpolated_multipliers_against_closed_forms():
    prepared = Custom.from_expression(TRIANGLE, c=1.0).interpolated_in("c")
    scalar = Custom.from_callable(attracting, c=2.0).interpolated_in("c")
    for value in RANDOM.uniform(0.5, 2.5, 20).tolist():
        there = prepared.with_parameter("c", value)
        exact = triangle_multipliers(value, 128)
        # Potentials of the sizes c and 1.
        assert np.abs(there.multipliers(Circle(), 128) - exact)[1:].max() <= 16 * EPS * value
        bessel = -2.0 * ive(np.arange(1, 20), value)
        found = scalar.with_parameter("c", value).multipliers(Circle(), 19)[1:]
        assert np.abs(found - bessel).max() <= 16 * EPS


def test_what_was_asked_before_changes_no_number():
    prepared = Custom.from_expression(TRIANGLE, c=1.0).interpolated_in("c")
    first = prepared.with_parameter("c", 1.37).multipliers(Circle(), 20)
    shapes._cell.cache_clear()
    for value in (1.3, 2.2, 1.49):
        prepared.with_parameter("c", value).multipliers(Circle(), 90)
    assert np.array_equal(prepared.with_parameter("c", 1.37).multipliers(Circle(), 20), first)


def test_where_multipliers_are_not_analytic_they_are_computed():
    """At c = pi the kink of a triangle leaves the circle."""
    prepared = Custom.from_expression(TRIANGLE, c=1.0).interpolated_in("c")
    direct = Custom.from_expression(TRIANGLE, c=math.pi)
    there = prepared.with_parameter("c", math.pi)
    assert there._cell(Circle()) is None
    assert np.array_equal(there.multipliers(Circle(), 30), direct.multipliers(Circle(), 30))


def test_a_kink_within_the_interval_is_seen():
    found, decayed = interpolant(lambda p: np.array([0.0, abs(p - 0.3)]), 0.3, 0.1)
    assert not decayed
    assert found.derivative_errors(0.3)[1] > 0.5
    smooth, decayed = interpolant(lambda p: np.array([0.0, math.exp(p)]), 0.3, 0.1)
    assert decayed
    assert abs(smooth.values(0.33)[1] - math.exp(0.33)) <= smooth.errors[1]
    assert abs(smooth.derivatives(0.33)[1] - math.exp(0.33)) <= smooth.derivative_errors(0.33)[1] <= 1e-11


def test_what_is_refused_at_a_value_is_refused_there():
    prepared = Custom.from_expression("-Max(c - Abs(t), 0) - sqrt(c - 0.9 + 0*t)", c=1.0).interpolated_in("c")
    with pytest.raises(InvalidInput):
        prepared.with_parameter("c", 0.8).multipliers(Circle(), 4)
    with pytest.raises(InvalidInput, match="no continuous parameter 'd'"):
        Custom(expression=TRIANGLE, given={"c": 1.0}, interpolated="d")


def test_laws_and_equations_prepare_their_potentials():
    potential = Custom.from_expression(TRIANGLE, c=1.0)
    separated = Custom.from_expression("-c*cos(t)", c=1.0)
    assert potential.interpolated_in("c").interpolated == "c"
    assert separated.interpolated_in("c") is separated
    assert potential.interpolated_in("other") is potential
    for law in (PhaseLag(potential, 0.2), CommonFrequency(potential, 0.2), DepthScaled(potential, 0.2)):
        assert law.interpolated_in("c").law.potential.interpolated == "c"
        assert law.interpolated_in("c") == law
    problem = McKeanVlasov(Circle(), potential)
    assert problem.interpolated_in("c", "noise").potential.interpolated == "c"
    assert problem.interpolated_in("noise") is problem
    # Another number at which the multipliers have to be found anew.
    two = Custom.from_expression("-b*Max(c - Abs(t), 0) - exp(b*cos(t))", c=1.0, b=2.0).interpolated_in("c")
    assert two.with_parameter("b", 1.0).interpolated == ""
    assert pickle.loads(pickle.dumps(two.with_parameter("c", 1.2))).interpolated == "c"


def test_a_curve_over_a_function_with_kinks_is_that_over_its_formula():
    ends = []
    for potential in (Custom.from_expression(TRIANGLE, c=1.1), Custom.from_callable(triangle, c=1.1)):
        diagram = bifurcation_diagram(McKeanVlasov(Circle(), potential), rates=False)
        found = curve(diagram.events("transition")[0], "c", (1.0, 1.25))
        assert not found.warnings
        slopes = found.tangent[:, 1] / found.tangent[:, 0]
        ends.append([(found.first[at], found.coupling[at], slopes[at]) for at in np.argsort(found.first)[[0, -1]]])
    formula, function = np.array(ends)
    assert formula[:, 0].tolist() == function[:, 0].tolist() == [1.0, 1.25]
    np.testing.assert_allclose(function[:, 1], formula[:, 1], rtol=1e-11)
    np.testing.assert_allclose(function[:, 2], formula[:, 2], rtol=1e-9)
