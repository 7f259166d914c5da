"""Potentials without symmetry, as confinements: formulas, functions, coefficients and neurons."""

import json
import math
import pickle

import mpmath as mp
import numpy as np
import pytest
from scipy.special import sph_harm_y

from meanfield import (
    ArcCosine,
    Circle,
    Custom,
    External,
    HarmonicSeries,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    Perceptron,
    Sphere,
    Transformer,
    growth_rates,
    potential_from,
    two_layer,
)
from meanfield.potentials import ACTIVATIONS
from meanfield.potentials.interpolation import differentiated
from tests.oracles import zonal_mean

EPS = np.finfo(float).eps
CIRCLE = Circle()
ROUNDINGS = 64


def half_wave(degree, shift):
    """Return the coefficients c_k of max(sin(t - shift), 0) = Re sum c_k exp(ikt)."""
    series = np.zeros(degree + 1, dtype=complex)
    even = np.arange(2, degree + 1, 2)
    series[0], series[1], series[even] = 1 / np.pi, -0.5j, -2 / np.pi / (even**2 - 1.0)
    return series * np.exp(-1j * shift * np.arange(degree + 1))


def test_a_formula_has_the_coefficients_that_it_says():
    potential = External.from_expression("cos(t) + 0.3*sin(2*t) - 0.25*cos(3*t - 0.5)")
    cosine = [0.0, 1.0, 0.0, -0.25 * np.cos(0.5), 0.0]
    sine = [0.0, 0.0, 0.3, -0.25 * np.sin(0.5), 0.0]
    assert np.abs(potential.multipliers(CIRCLE, 4) - cosine).max() <= ROUNDINGS * EPS
    assert np.abs(potential.sine_multipliers(CIRCLE, 4) - sine).max() <= ROUNDINGS * EPS
    assert potential.tail_bound(CIRCLE, 3) == 0.0
    assert not potential.even
    assert External.from_expression("cos(t)").even


@pytest.mark.parametrize(
    "potential",
    [
        External.from_expression("Max(sin(t - 0.5), 0)"),
        External.from_callable(lambda t: np.maximum(np.sin(t - 0.5), 0.0)),
        External.from_callable(lambda t: max(np.sin(t - 0.5), 0.0)),
    ],
    ids=["formula", "vectorised", "scalar"],
)
def test_a_function_with_kinks_has_the_coefficients_of_its_series(potential):
    exact = half_wave(4096, 0.5)
    found = potential.multipliers(CIRCLE, 4096) - 1j * potential.sine_multipliers(CIRCLE, 4096)
    assert np.abs(found - exact).max() <= ROUNDINGS * EPS
    angles = np.linspace(-9.0, 9.0, 301)
    assert np.abs(potential.values(angles) - np.maximum(np.sin(angles - 0.5), 0.0)).max() <= ROUNDINGS * EPS
    for degree in (4, 50, 700):
        largest = np.abs(exact[degree + 1 :]).max()
        assert largest <= potential.tail_bound(CIRCLE, degree) <= 10 * largest


@pytest.mark.parametrize(
    "potential",
    [
        External.from_expression("cos(t) + 0.3*sin(2*t) + 1"),
        External.from_coefficients((1.0, 0.2), (0.3,)),
        External.from_callable(lambda t: np.exp(np.sin(t - 0.3))),
        External.from_callable(lambda t: np.abs(np.sin(t - 0.3))),
        Perceptron((1.0, 0.5), (0.0, 1.2), "tanh"),
        External.from_expression("sin(t)") + 2 * Perceptron((1.0,), (0.3,)),
    ],
    ids=lambda potential: potential.name,
)
def test_a_description_gives_the_same_potential(potential):
    problem = McKeanVlasov(CIRCLE, Kuramoto(), coupling=1.0, confinement=potential)
    again = McKeanVlasov.from_dict(json.loads(json.dumps(problem.to_dict()))).confinement
    for method in ("multipliers", "sine_multipliers"):
        assert np.array_equal(getattr(again, method)(CIRCLE, 60), getattr(potential, method)(CIRCLE, 60))
    assert again.even == potential.even
    assert potential_from(again.name, again.parameters()) == again
    assert hash(pickle.loads(pickle.dumps(again))) == hash(again)


@pytest.mark.parametrize("formula", ["sin(t) + 2.5", "Abs(sin(t - 1)) + 2.5"])
def test_a_constant_of_a_formula_is_kept(formula):
    potential = External.from_expression(formula)
    varying = External.from_expression(formula.removesuffix(" + 2.5"))
    assert abs(potential.multipliers(CIRCLE, 2)[0] - varying.multipliers(CIRCLE, 2)[0] - 2.5) <= 4 * EPS
    assert np.abs(potential.values([0.3, -1.0]) - varying.values([0.3, -1.0]) - 2.5).max() <= 4 * EPS


def test_coefficients_are_parameters():
    potential = External.from_coefficients((1.0,), (0.0, 0.3))
    assert potential.parameter_values() == {"cosine1": 1.0, "sine1": 0.0, "sine2": 0.3}
    assert potential.with_parameter("sine2", 0.5) == External.from_coefficients((1.0,), (0.0, 0.5))
    problem = McKeanVlasov(CIRCLE, Kuramoto(), confinement=potential)
    assert problem.with_parameter("confinement_sine1", 0.2).confinement.sine == (0.2, 0.3)


def test_a_sum_has_the_sines_of_its_terms():
    total = (
        External.from_coefficients(sine=(1.0, 0.5)) - 3 * External.from_coefficients((0.2,), (0.25,)) + Kuramoto()
    )
    assert np.abs(total.sine_multipliers(CIRCLE, 3) - [0.0, 0.25, 0.5, 0.0]).max() <= 4 * EPS
    assert np.abs(total.multipliers(CIRCLE, 2) - [0.0, -1.6, 0.0]).max() <= 4 * EPS
    assert not total.even


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_force_of_a_neuron_is_that_of_its_activation(activation):
    functions = {
        "relu": lambda s: max(s, 0),
        "step": lambda s: mp.mpf(s > 0),
        "tanh": mp.tanh,
        "sigmoid": lambda s: 1 / (1 + mp.exp(-s)),
        "softplus": lambda s: mp.log(1 + mp.exp(s)),
        "gelu": lambda s: s * mp.ncdf(s),
    }
    sigma, weight, angle = functions[activation], 0.7, 0.4
    potential = Perceptron((weight,), (angle,), activation)
    for t in (-2.9, -0.3, 0.4, 1.1, 2.4):
        s = mp.cos(mp.mpf(t) - mp.mpf(angle))
        # The velocity is the component of w sigma(<a, x>) a along the circle.
        force = -weight * sigma(s) * mp.sin(mp.mpf(t) - mp.mpf(angle))
        assert abs(-potential.slope(t) - force) <= ROUNDINGS * EPS
        lifted = -weight * mp.quad(sigma, [mp.cos(mp.mpf(angle)), *([0] if s < 0 else []), s])
        assert abs(potential.values(t) - potential.values(0.0) - lifted) <= ROUNDINGS * EPS


def test_a_rectified_neuron_has_its_closed_form():
    degrees = np.arange(3, 400)
    exact = np.zeros(400)
    exact[:3] = 0.25, 4 / (3 * np.pi), 0.25
    exact[3:] = -4 / np.pi * np.sin(degrees * np.pi / 2).round() / (degrees * (degrees**2 - 4.0))
    potential, turn = Perceptron((2.0, -0.5), (0.9, 4.0)), np.arange(400)
    series = -0.5 * exact * (2.0 * np.exp(-0.9j * turn) - 0.5 * np.exp(-4.0j * turn))
    found = potential.multipliers(CIRCLE, 399) - 1j * potential.sine_multipliers(CIRCLE, 399)
    # An angle reduced to a turn is known to a rounding, which the degree multiplies.
    assert np.abs(found - series).max() <= ROUNDINGS * EPS
    for degree in (5, 60, 300):
        assert np.abs(series[degree + 1 :]).max() <= potential.tail_bound(CIRCLE, degree)


def test_neurons_have_derivatives_in_closed_form():
    potential, turn = Perceptron((2.0, -0.5), (0.9, 4.0)), np.arange(200)
    neuron = Perceptron((1.0,), (0.0,)).multipliers(CIRCLE, 199)
    expected = {
        "weights1": neuron * np.exp(-0.9j * turn),
        "angles1": -2.0j * turn * neuron * np.exp(-0.9j * turn),
        "angles2": 0.5j * turn * neuron * np.exp(-4.0j * turn),
    }
    for name, exact in expected.items():
        found = potential.multiplier_derivatives(name, CIRCLE, 199)
        sines = potential.sine_multiplier_derivatives(name, CIRCLE, 199)
        assert np.abs(found - 1j * sines - exact).max() <= ROUNDINGS * EPS


@pytest.mark.parametrize("angles", [(0.0, 1.2), (math.pi, -0.4), (0.7, -0.7)], ids=str)
def test_derivatives_of_neurons_are_those_of_differences(angles):
    """On the axis and off it, and of an even field that is so at these angles only."""
    potential = Perceptron((1.0, 1.0), angles, "tanh")
    for name in ("weights1", "angles1", "angles2"):
        for sines in (False, True):
            kind = f"{'sine_' * sines}multiplier_derivatives"
            found = getattr(potential, kind)(name, CIRCLE, 12)
            assert found == pytest.approx(
                differentiated(potential, name, CIRCLE, 12, of="sine_multipliers" if sines else "multipliers"),
                abs=1e-8,
            )


def test_a_neuron_on_the_axis_of_a_sphere_changes_by_its_weight_only():
    neurons = Perceptron((1.0, -0.3), (0.0, math.pi), "tanh")
    one = Perceptron((1.0,), (math.pi,), "tanh").multipliers(Sphere(3), 9)
    assert np.abs(neurons.multiplier_derivatives("weights2", Sphere(3), 9) - one).max() <= ROUNDINGS * EPS
    with pytest.raises(InvalidInput, match="a neuron that turns leaves it"):
        neurons.multiplier_derivatives("angles1", Sphere(3), 9)
    with pytest.raises(InvalidInput, match="no continuous parameter 'weight'"):
        neurons.multiplier_derivatives("weight", CIRCLE, 9)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_neurons_at_the_poles_of_a_sphere(activation):
    potential = Perceptron((1.0, -0.3), (0.0, np.pi), activation)
    primitives = {"relu": lambda s: max(s, 0) ** 2, "tanh": lambda s: 2 * mp.log(mp.cosh(s))}
    phi = primitives[activation]

    def value(t):
        return -(phi(mp.cos(t)) - mp.mpf(0.3) * phi(-mp.cos(t))) / 2

    for degree in (1, 2, 5):
        exact = zonal_mean(3, value, degree, (float(mp.pi / 2),)) * (2 * degree + 1)
        assert abs(potential.multipliers(Sphere(3), 5)[degree] - exact) <= ROUNDINGS * EPS


def test_neurons_are_even_where_reflection_exchanges_them():
    assert Perceptron((1.0, 1.0, 0.2), (0.7, -0.7, np.pi)).even
    assert not Perceptron((1.0, 0.9), (0.7, -0.7)).even
    assert not np.any(Perceptron((1.0, 1.0), (0.7, -0.7)).sine_multipliers(CIRCLE, 40))


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda: External.from_expression("t"), "is the same place"),
        (lambda: External.from_callable(lambda t: np.where(t > 1, 1.0, 0.0)), "is the same place"),
        (lambda: External.from_callable(lambda t: np.where(np.abs(t - 1) < 1, 1.0, 0.0)), "jumps"),
        (lambda: External.from_expression("1/t"), "must be finite"),
        (lambda: External(), "0 were given"),
        (lambda: External(expression="sin(t)", sine=(1.0,)), "2 were given"),
        (lambda: External(expression="sin(t)", constant=1.0), "goes with coefficients only"),
        (lambda: Perceptron((1.0,), (0.0, 1.0)), "1 weights and 2 angles"),
        (lambda: Perceptron((1.0,), (0.0,), "rleu"), "did you mean relu"),
        (lambda: McKeanVlasov(CIRCLE, External.from_expression("sin(t)")), "must be even"),
        (lambda: McKeanVlasov(CIRCLE, Kuramoto() + Perceptron((1.0,), (0.3,))), "must be even"),
        (
            lambda: McKeanVlasov(Sphere(3), Kuramoto(), confinement=External.from_expression("sin(t)")),
            "angle to the north pole",
        ),
        (lambda: McKeanVlasov(Sphere(4), Kuramoto(), confinement=Perceptron((1.0,), (0.3,))), "north pole"),
        (lambda: Perceptron((1.0,), (0.3,)).multipliers(Sphere(3), 4), "points to the angle 0.3"),
        (
            lambda: McKeanVlasov(CIRCLE, Kuramoto(), confinement=External(cosine=(0.0,), constant=2.0)),
            "is constant",
        ),
    ],
)
def test_what_is_no_confinement_is_refused(made, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        made()


DIRECTED = Perceptron((1.0, -0.7), (0.3, 1.2), "tanh", (0.1, 2.0))


def sphere_points(count):
    points = np.random.default_rng(0).standard_normal((count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


@pytest.mark.parametrize(
    "potential",
    [
        DIRECTED,
        DIRECTED + External.from_expression("0.2*cos(t)"),
        HarmonicSeries((0.1, 0.0, 0.3, -0.5), (0.0, 0.0, 0.2)),
        Perceptron((1.0,), (0.0,), "gelu"),
    ],
)
def test_coefficients_by_degree_and_order_are_those_of_the_values(potential):
    points, degree = sphere_points(20), 40
    cosine, sine = potential.harmonic_multipliers(degree)
    polar, azimuth = np.arccos(points[:, 2]), np.arctan2(points[:, 1], points[:, 0])
    total, place = np.zeros(len(points)), 0
    for each in range(degree + 1):
        for order in range(each + 1):
            wave = sph_harm_y(each, order, polar, azimuth) * np.sqrt(4 * np.pi / (2 * each + 1))
            wave = wave * (np.sqrt(2.0) * (-1.0) ** order if order else 1.0)
            total += cosine[place] * wave.real + sine[place] * wave.imag
            place += 1
    # Sums of hundreds of terms, each known to rounding, and what degrees beyond leave.
    assert np.abs(total - potential.values_at(points)).max() <= 256 * EPS


@pytest.mark.parametrize("potential", [DIRECTED, HarmonicSeries.from_callable(DIRECTED.values_at), Kuramoto()])
def test_gradients_are_those_of_the_values(potential):
    points, small = sphere_points(20), 1e-5
    directions = np.cross(points, [0.3, -0.5, 0.8])
    sizes = np.linalg.norm(directions, axis=1)[:, None]
    ahead, behind = (
        np.cos(small * sizes) * points + side * np.sin(small * sizes) * directions / sizes for side in (1.0, -1.0)
    )
    slopes = (potential.values_at(ahead) - potential.values_at(behind)) / (2 * small)
    gradients = potential.gradient_at(points)
    assert np.abs((gradients * points).sum(axis=1)).max() <= 16 * EPS
    # Differences of second order, with a third derivative of order one, and of rounding over their length.
    assert np.abs((gradients * directions).sum(axis=1) - slopes).max() <= 4 * (small**2 + EPS / small)


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda: HarmonicSeries(), "needs a coefficient"),
        (lambda: HarmonicSeries((0.0, 1.0), (0.0, 1.0)), "sine of order 0"),
        (lambda: HarmonicSeries.from_callable(3), "function of unit vectors"),
        (lambda: HarmonicSeries.from_callable(lambda x: x), "a number for each"),
        (lambda: HarmonicSeries.from_callable(lambda x: np.full(len(x), np.nan)), "finite on the whole sphere"),
        (lambda: HarmonicSeries.from_callable(lambda x: np.maximum(x[:, 0], 0.0)), "is not resolved"),
        (lambda: HarmonicSeries((0.0, 0.0, 1.0)).values(0.5), "depends on the azimuth"),
        (lambda: Perceptron((1.0,), (0.3,), "tanh", (1.0, 2.0)), "2 azimuths and 1 angles"),
        (lambda: DIRECTED.values_at(np.eye(4)), "an array \\(n, 3\\)"),
        (lambda: McKeanVlasov(CIRCLE, Kuramoto(), confinement=DIRECTED), "on the circle a direction is one angle"),
        (lambda: McKeanVlasov(Sphere(4), Kuramoto(), confinement=DIRECTED), "only the ordinary sphere"),
        (lambda: McKeanVlasov(Sphere(3), DIRECTED), "directions of its own"),
    ],
)
def test_what_is_no_function_of_two_angles_is_refused(made, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        made()


def test_a_directed_confinement_survives_its_description():
    confinement = DIRECTED + HarmonicSeries((0.0, 0.0, 0.3)) + External.from_expression("0.1*cos(t)")
    problem = McKeanVlasov(Sphere(3), Kuramoto(), confinement=confinement)
    assert McKeanVlasov.from_dict(problem.to_dict()) == problem
    assert not problem.zonal
    assert problem.replace(confinement=Perceptron((1.0,), (math.pi,), "tanh", (0.7,))).zonal
    assert problem.with_parameter("confinement_azimuths1", 1.0) != problem


def test_only_an_even_confinement_reflects():
    assert McKeanVlasov(CIRCLE, Transformer(2.0), confinement=Custom.from_expression("cos(t)")).reflects
    assert not McKeanVlasov(CIRCLE, Transformer(2.0), confinement=External.from_expression("sin(t)")).reflects


def test_unit_neurons_forget_at_their_rates():
    """At the uniform state without data degree m decays at m^2 (D + kappa c_m^2), c_m being those of a neuron."""
    coefficients = np.array([np.nan, 1 / 4, 1 / (3 * np.pi), 0.0, -1 / (15 * np.pi)])
    modes = np.arange(5.0)
    found = growth_rates(McKeanVlasov(CIRCLE, ArcCosine(), 0.1, 1.0), 4)
    assert np.abs(found + modes**2 * (0.1 + coefficients**2))[1:].max() <= ROUNDINGS * EPS


def test_the_field_of_data_is_the_mean_over_them():
    inputs, outputs = np.array([0.3, 1.9, 4.4, -1.0]), np.array([1.0, -0.5, 2.0, 0.0])
    problem = two_layer(inputs, outputs, noise=0.2)
    angles = np.linspace(-5.0, 5.0, 31)
    neurons = np.maximum(np.cos(np.subtract.outer(angles, inputs)), 0.0)
    assert np.abs(problem.confinement.values(angles) + neurons @ outputs / 4).max() <= ROUNDINGS * EPS
    assert (problem.potential, problem.coupling, problem.noise) == (ArcCosine(), 1.0, 0.2)


def test_many_inputs_of_one_neuron_make_its_kernel():
    """With y = <x, a>_+ the field tends to that of a neuron at a, which repels others as its teacher attracts them."""
    inputs = 2 * np.pi * np.arange(4000) / 4000
    problem = two_layer(inputs, np.maximum(np.cos(inputs - 0.7), 0.0), noise=0.1)
    angles = np.linspace(-3.0, 3.0, 31)
    # The trapezoid rule of functions with kinks.
    assert np.abs(problem.confinement.values(angles) + ArcCosine().values(angles - 0.7)).max() <= 4000.0**-2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0.0, 1.0], [1.0]), "2 inputs and 1 outputs"),
        (([0.0, 1.0], [0.0, 0.0]), "nothing to fit"),
        (([], []), "at least one"),
    ],
)
def test_data_that_say_nothing_are_refused(arguments, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        two_layer(*arguments, noise=0.1)


def test_unit_neurons_of_a_sphere_are_refused():
    with pytest.raises(InvalidInput, match="on the circle"):
        ArcCosine().multipliers(Sphere(3), 4)


@pytest.mark.parametrize("degree", [65, 130, 301])
def test_an_odd_part_of_high_degree_beside_a_kink_is_seen(degree):
    uneven = External.from_expression(f"0.5*Abs(sin(t)) + 0.5*sin({degree}*t)")
    assert not uneven.even
    assert not McKeanVlasov(Circle(), Kuramoto(), confinement=uneven).reflects
    assert uneven.sine_multipliers(Circle(), degree)[degree] == pytest.approx(0.5, abs=1e-9)
    with pytest.raises(InvalidInput):
        uneven.multipliers(Sphere(3), 4)
    assert External.from_expression("0.5*Abs(sin(t)) + 0.5*cos(65*t)").even


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("turn", [0.0, 2 * np.pi, -4 * np.pi])
def test_neurons_that_cancel_are_none(activation, turn):
    cancelling = Perceptron((1.0, -1.0), (0.3, 0.3 + turn), activation)
    assert cancelling.tail_bound(Circle(), 16) == 0.0
    assert cancelling.scale(Circle()) <= 64 * EPS


def test_derivatives_in_coefficients_of_sines():
    series = External.from_coefficients((0.3, 0.1), (0.2,))
    assert series.multiplier_derivatives("cosine1", Circle(), 2).tolist() == [0.0, 1.0, 0.0]
    assert series.sine_multiplier_derivatives("cosine1", Circle(), 2).tolist() == [0.0, 0.0, 0.0]
    assert series.multiplier_derivatives("sine1", Circle(), 2).tolist() == [0.0, 0.0, 0.0]
    assert series.sine_multiplier_derivatives("sine1", Circle(), 2).tolist() == [0.0, 1.0, 0.0]
