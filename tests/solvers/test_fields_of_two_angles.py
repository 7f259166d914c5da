"""Confinements of S^2 without an axis: along parameters, in two parameters, and in whatever frame they are given.

Truth are integrals over the sphere, :mod:`tests.two_angles`.
"""

import functools
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from meanfield import (
    GegenbauerSeries,
    HarmonicSeries,
    InvalidInput,
    McKeanVlasov,
    Perceptron,
    Potential,
    Sphere,
    Transformer,
)
from meanfield.harmonics import packed_size
from meanfield.potentials.interpolation import differentiated
from solvers import bifurcation_diagram, curve, phase_diagram
from tests.two_angles import Truth, moments_of

# Relative accuracy promised for points on curves, and rounding of means over some thousand nodes.
POINT, RESIDUAL = 1e-11, 64 * np.finfo(float).eps
FACTOR = "confinement_harmonic_series_factor"
W = GegenbauerSeries((-0.4, -2.0))
# By degree and order, packed: v_11 x, v_20 P_2(z) and v_22 sqrt(3)/2 (x^2 - y^2).
FIELD = HarmonicSeries(cosine=(0.0, 0.0, 0.01, 0.02, 0.0, 0.03))
WINDOW = (1.9, 2.6)
PROBLEM = McKeanVlasov(Sphere(3), W, confinement=FIELD)


@functools.cache
def diagram():
    return bifurcation_diagram(PROBLEM, WINDOW, rates=False)


def event(kind, made=None):
    return (made or diagram()).events(kind)[0]


def at(name, value):
    """What is true at a value of a parameter of the problem."""
    weights, field, noise = [-0.4, -2.0], moments_of(FIELD.cosine, np.zeros(6)), 1.0
    if name == FACTOR:
        field = value * field
    elif name == "noise":
        noise = value
    elif name == "w1":
        weights[0] = value
    else:
        place = {"confinement_cosine_1_0": 0, "confinement_cosine_2_1": 3, "confinement_cosine_2_2": 4}[name]
        field[place] = value
    return Truth(weights, field, noise)


INTERVALS = {
    FACTOR: (0.6, 1.2),
    "noise": (0.9, 1.1),
    "w1": (-0.5, -0.3),
    # The first two break a reflection that the field of the start has.
    "confinement_cosine_1_0": (-0.02, 0.03),
    "confinement_cosine_2_1": (-0.01, 0.02),
    "confinement_cosine_2_2": (0.01, 0.035),
}


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("kind", ["fold", "transition"])
def test_curves_in_a_field_without_an_axis(kind, name):
    found = curve(event(kind), name, INTERVALS[name])
    assert found.type == kind
    assert not any(text.startswith("the curve ends") for text in found.warnings)
    for place in (0, len(found) // 2, len(found) - 1):
        truth, own = at(name, found.first[place]), moments_of(found.cosine[place], found.sine[place])
        coupling = found.coupling[place]
        if kind == "fold":
            exact, moments = truth.fold(coupling, own)
            assert np.abs(moments - own).max() <= POINT
        else:
            other = moments_of(found.other_cosine[place], found.other_sine[place])
            exact = truth.line(coupling, own, other)
        assert abs(exact - coupling) <= POINT * coupling


@pytest.mark.parametrize("name", ["noise", FACTOR, "confinement_cosine_2_1", "w1"])
def test_diagrams_along_parameters_in_a_field_without_an_axis(name):
    """Their folds are where the curve of folds, and integrals over the sphere, have the coupling that is fixed."""
    start = event("fold")
    found = curve(start, name, INTERVALS[name])
    coupling = float(np.quantile(found.coupling, 0.4))
    made = bifurcation_diagram(PROBLEM.at(coupling=coupling), parameter=name, interval=INTERVALS[name], rates=False)
    folds = made.events("fold")
    assert folds
    for each in folds:
        exact, _ = at(name, each.value).fold(coupling, moments_of(each.cosine, each.sine))
        assert abs(exact - coupling) <= POINT * coupling
    crossing = found.first[np.argmin(np.abs(found.coupling - coupling))]
    width = INTERVALS[name][1] - INTERVALS[name][0]
    assert min(abs(each.value - crossing) for each in folds) <= 0.1 * width


def turned(potential, rotation):
    return HarmonicSeries.from_callable(lambda points: potential.values_at(points @ rotation.T))


@pytest.mark.parametrize("seed", range(3))
def test_a_field_is_the_same_in_whatever_frame_it_is_given(seed):
    rotation = Rotation.random(random_state=seed).as_matrix()
    problem = PROBLEM.replace(confinement=turned(FIELD, rotation))
    made = bifurcation_diagram(problem, WINDOW, rates=False)
    one, other = (curve(event("transition", each), FACTOR, (0.6, 1.2)) for each in (diagram(), made))
    assert one.label == other.label
    assert other.problem.confinement != one.problem.confinement
    assert one.coupling[[0, -1]] == pytest.approx(other.coupling[[0, -1]], rel=POINT)
    # Its states are those of the given problem: stationary there.
    at_end = other.state(-1)
    field = problem.confinement.harmonic_multipliers(2) * other.first[-1]
    truth = Truth((-0.4, -2.0), moments_of(*field))
    own = moments_of(at_end.cosine, at_end.sine)
    assert np.abs(truth.residual(other.coupling[-1], own)).max() <= RESIDUAL


def test_a_field_about_another_axis_is_one_about_the_pole():
    axis = np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0)
    across = HarmonicSeries.from_callable(lambda points: 0.03 * (1.5 * (points @ axis) ** 2 - 0.5))
    fields = HarmonicSeries(cosine=(0.0, 0.0, 0.0, 0.03)), across
    diagrams = [bifurcation_diagram(PROBLEM.replace(confinement=each), WINDOW, rates=False) for each in fields]
    for kind in ("fold", "transition"):
        one, other = (curve(event(kind, each), FACTOR, (0.6, 1.2)) for each in diagrams)
        assert one.label == other.label
        assert one.coupling[[0, -1]] == pytest.approx(other.coupling[[0, -1]], rel=POINT)


def test_reflections_that_a_coefficient_breaks_are_no_symmetries_of_the_curve():
    """Quadrupoles of one plane: each has the symmetry of a brick, about axes of its own, all have the inversion."""
    field = HarmonicSeries(cosine=(0.0, 0.0, 0.0, 0.0, 0.04463746, 0.0), sine=(0.0,) * 6)
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0, 0.5, -2.0)), confinement=field)
    start = bifurcation_diagram(problem, (2.5, 3.3), rates=False).events("fold")[0]
    found = curve(start, "confinement_sine_2_2", (-0.01, 0.01))
    assert not found.warnings
    assert found.first[[0, -1]] == pytest.approx([-0.01, 0.01], rel=1e-12)
    assert found.coupling[0] == pytest.approx(found.coupling[-1], rel=POINT)


def test_neurons_of_two_angles():
    """A weight, an angle and an azimuth, along which the field changes its shape."""
    neurons = Perceptron((0.3, -0.2), (0.4, 1.3), "tanh", (0.0, 1.1))
    problem = McKeanVlasov(Sphere(3), W, confinement=neurons)
    start = event("fold", bifurcation_diagram(problem, (2.0, 4.5), rates=False))
    for name, low, high in (("weights2", -0.25, -0.15), ("angles2", 1.2, 1.4), ("azimuths2", 1.0, 1.2)):
        found = curve(start, f"confinement_{name}", (low, high))
        assert not any(text.startswith("the curve ends") for text in found.warnings)
        there = problem.with_parameter(f"confinement_{name}", high)
        again = bifurcation_diagram(there, (2.0, 4.5), rates=False).events("fold")
        assert min(abs(each.coupling / found.coupling[-1] - 1.0) for each in again) <= POINT


def test_phase_diagram_in_a_field_without_an_axis():
    field = HarmonicSeries(cosine=(0.0, 0.0, 0.0, 0.05, 0.0, 0.05))
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, -1.0)), confinement=field)
    found = phase_diagram(problem, ("confinement_cosine_2_0", (-0.1, 0.1)), coupling=(4.0, 5.5))
    assert {region.stable for region in found.regions} == {1, 2}
    assert all(region.agrees for region in found.regions)
    # The line ends in cusps; where the field has an axis, at -v_22/sqrt(3), it unfolds a pitchfork.
    values = [point.values[0] for point in found.special_points if point.type == "cusp"]
    assert min(abs(value + 0.05 / np.sqrt(3.0)) for value in values) <= 1e-12


def test_lines_where_the_field_has_an_axis_or_vanishes():
    """There a director turns from one axis to another, at one value of the parameter, and meets the other lines."""
    for cosine, over, interval, value in (
        ((0.0, 0.0, 0.0, 0.05, 0.0, 0.05), "confinement_cosine_2_0", (-0.1, 0.1), -0.05 / np.sqrt(3.0)),
        ((0.0, 0.0, 0.0, 0.03, 0.0, 0.05), FACTOR, (-1.0, 1.5), 0.0),
    ):
        problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, -1.0)), confinement=HarmonicSeries(cosine))
        found = phase_diagram(problem, (over, interval), coupling=(4.0, 5.0))
        lines = [each for each in found.curves if each.type == "transition" and np.ptp(each.first) < 1e-9]
        assert lines
        assert max(float(np.abs(each.first - value).max()) for each in lines) <= 1e-12
        assert max(each.coupling.max() for each in lines) > 5.0
        (triple,) = [point for point in found.special_points if point.type == "triple point"]
        assert abs(triple.values[0] - value) <= 1e-12
        assert all(region.agrees and region.area > 1e-6 for region in found.regions)


def test_a_diagram_goes_past_a_value_at_which_the_field_has_an_axis():
    field = HarmonicSeries(cosine=(0.0, 0.0, 0.0, 0.05, 0.0, 0.05))
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, -1.0)), confinement=field, coupling=4.45)
    made = bifurcation_diagram(problem, (-0.06, 0.01), parameter="confinement_cosine_2_0", rates=False)
    assert sorted(made.branch("primary").values[[0, -1]]) == [-0.06, 0.01]
    turning = made.events("branch point")
    assert turning
    for each in turning:
        assert "has an axis" in each.description
        assert each.value == pytest.approx(-0.05 / np.sqrt(3.0), abs=1e-4)
    (exchange,) = made.events("transition")
    assert exchange.value == pytest.approx(-0.05 / np.sqrt(3.0), rel=POINT)


def test_a_multiple_by_zero_is_no_confinement():
    assert PROBLEM.with_parameter(FACTOR, 0.0).confinement is None


@pytest.mark.parametrize("seed", range(4))
def test_derivatives_by_degree_and_order(seed):
    generator = np.random.default_rng(seed)
    neurons = Perceptron(
        tuple(generator.normal(size=3)),
        (*generator.uniform(-3.0, 3.0, 2), np.pi),
        "tanh",
        tuple(generator.uniform(-4.0, 4.0, 3)),
    )
    series = HarmonicSeries(cosine=tuple(generator.normal(size=6)), sine=(0.0, 0.0, *generator.normal(size=1)))
    for potential in (neurons, series, 2.0 * neurons - 0.3 * series):
        for name in potential.parameter_names():
            exact = differentiated(potential, name, Sphere(3), 10, of="harmonic_multipliers")
            found = potential.harmonic_multiplier_derivatives(name, 10)
            assert np.abs(found - exact).max() <= 1e-8 * max(1.0, np.abs(exact).max())


def test_coefficients_of_harmonics_have_names():
    assert list(FIELD.parameter_names()) == [
        "cosine_1_0",
        "cosine_1_1",
        "cosine_2_0",
        "cosine_2_1",
        "cosine_2_2",
    ]
    series = HarmonicSeries(sine=(0.0, 0.0, 0.5))
    assert series.parameter_values() == {"sine_1_1": 0.5}
    assert series.with_parameter("sine_1_1", 2.0) == HarmonicSeries(sine=(0.0, 0.0, 2.0))
    with pytest.raises(InvalidInput, match="sine_1_1"):
        series.with_parameter("sine_1_0", 2.0)


def test_no_diagram_begins_where_states_can_be_turned():
    problem = PROBLEM.replace(confinement=HarmonicSeries(cosine=(0.0, 0.0, 0.0, 0.03, 0.0, 0.05)), coupling=3.0)
    with pytest.raises(InvalidInput, match=r"confinement_cosine_2_2 0 .* one angle.* beside"):
        bifurcation_diagram(problem, parameter="confinement_cosine_2_2", interval=(0.0, 0.05))


def test_curves_from_where_the_field_has_an_axis():
    """Folds and lines go on; the branch point of states across the axis is unfolded, as by any field across."""
    field = HarmonicSeries(cosine=(0.0, 0.0, 0.0, 0.02, 0.0, 0.0))
    made = bifurcation_diagram(PROBLEM.replace(confinement=field), WINDOW, rates=False)
    for kind in ("fold", "transition"):
        found = curve(event(kind, made), "confinement_cosine_2_2", (-0.01, 0.01))
        truth = Truth((-0.4, -2.0), [0.0, 0.0, 0.02, 0.0, found.first[-1], 0.0, 0.0, 0.0])
        own = moments_of(found.cosine[-1], found.sine[-1])
        assert np.abs(truth.residual(found.coupling[-1], own)).max() <= RESIDUAL
    refused = [each for each in made.events("branch point") if _unfolds(each)]
    assert refused


def _unfolds(start):
    try:
        curve(start, "confinement_cosine_2_2", (-0.01, 0.01))
    except InvalidInput as error:
        return "has an axis" in str(error)
    return False


@dataclass(frozen=True)
class Saddle(Potential):
    """s sqrt(3) x y, a class of one's own; its answers can be made wrong by a factor each."""

    strength: float = 0.05
    wrong: str = ""
    name = "saddle"
    formula = "s sqrt(3) x y"

    @property
    def zonal(self):
        return False

    def _size(self, answer):
        return self.strength * (1.01 if self.wrong == answer else 1.0)

    def harmonic_multipliers(self, degree):
        found = np.zeros((2, packed_size(degree)))
        if degree >= 2:
            found[1, 5] = self._size("multipliers")
        return found[:, :-1] if self.wrong == "shape" else found

    def values_at(self, points):
        return self._size("values") * np.sqrt(3.0) * points[:, 0] * points[:, 1]

    def gradient_at(self, points):
        x, y, z = points.T
        ambient = self._size("gradient") * np.sqrt(3.0) * np.stack([y, x, 0.0 * z], axis=1)
        return ambient - (ambient * points).sum(axis=1)[:, None] * points

    def tail_bound(self, domain, degree):
        return abs(self.strength) * (degree < 2) * (0.5 if self.wrong == "bound" else 1.0)

    def parameters(self):
        return {"strength": self.strength, "wrong": self.wrong}


def test_a_confinement_without_an_axis_of_ones_own():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, -1.0)), confinement=Saddle())
    named = McKeanVlasov(
        Sphere(3), GegenbauerSeries((0.0, -1.0)), confinement=HarmonicSeries(sine=(0.0,) * 5 + (0.05,))
    )
    couplings = []
    for each, name in ((problem, "confinement_strength"), (named, "confinement_sine_2_2")):
        start = event("fold", bifurcation_diagram(each, (4.0, 5.5), rates=False))
        couplings.append(curve(start, name, (0.04, 0.06)).coupling[[0, -1]])
    assert couplings[0] == pytest.approx(couplings[1], rel=POINT)


@pytest.mark.parametrize("wrong", ["multipliers", "values", "gradient", "bound", "shape"])
def test_answers_that_contradict_each_other_are_refused(wrong):
    with pytest.raises(InvalidInput, match="'saddle'"):
        McKeanVlasov(Sphere(3), Transformer(2.0), confinement=Saddle(wrong=wrong))


def test_a_curve_of_states_that_are_nearly_about_an_axis_ends_where_a_state_is_its_image():
    """Where the field nearly has an axis a state and its image are nearly one about it, and it is no parent."""
    field = HarmonicSeries((0.0, 0.0, 0.0, 0.0, -0.00211, 0.0), (0.0,) * 6)
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-0.498, -1.38)), confinement=field)
    folds = bifurcation_diagram(problem, (2.9, 3.6), rates=False).events("fold")
    start = min(folds, key=lambda each: abs(each.coupling - 3.2367927))
    found = curve(start, "confinement_sine_1_1", (-0.028, 0.0304))
    assert len(found) > 10
    assert [point.type for point in found.special_points] == ["tricritical", "tricritical"]
    assert not found.warnings
    # The opposite field has the states turned over.
    low, high = found.values[[0, -1]].tolist()
    assert [-low[0], low[1]] == pytest.approx(high, rel=1e-11)
