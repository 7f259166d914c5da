"""Confinements of the ordinary sphere without an axis: states, diagrams, evolutions and particles in their field."""

import dataclasses
import functools
import math

import numpy as np
import pytest

from meanfield import (
    ContinuityEquation,
    External,
    GegenbauerSeries,
    HarmonicSeries,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    NormalisedAttention,
    Perceptron,
    SoftmaxAttention,
    Sphere,
    Transformer,
)
from solvers import (
    EulerMaruyama,
    PairDrift,
    VonMises,
    bifurcation_diagram,
    evolve,
    simulate,
    spectrum,
    stationary_states,
)
from tests import brute_force

SPHERE = Sphere(3)
EPS = float(np.finfo(float).eps)
# A rotation that takes no axis to another one.
TURN = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
TURN *= np.linalg.det(TURN)
TWO = Perceptron((0.3, 0.2), (0.4, 1.9), "gelu", (0.3, 2.0))
THREE = Perceptron((0.3, 0.2, 0.25), (0.4, 1.9, 1.2), "gelu", (0.3, 2.0, 4.0))
ATTENTION = McKeanVlasov(SPHERE, Transformer(2.0), 1.0, 4.0, THREE)


@functools.cache
def states_in(neurons):
    """Return the states of attention in the field of neurons."""
    return stationary_states(ATTENTION.replace(confinement=neurons))


def turned(neurons):
    """Return neurons in the directions that the rotation takes theirs to."""
    x, y, z = (neurons.directions @ TURN.T).T
    angles, azimuths = np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)
    return Perceptron(neurons.weights, tuple(angles.tolist()), neurons.activation, tuple(azimuths.tolist()))


def at(cosine, sine, points):
    """Return the sum of harmonics with given moments at unit vectors, by the functions of scipy."""
    from scipy.special import sph_harm_y

    polar, azimuth = np.arccos(np.clip(points[:, 2], -1.0, 1.0)), np.arctan2(points[:, 1], points[:, 0])
    total, place = np.zeros(len(points)), 0
    for degree in range((math.isqrt(8 * cosine.size + 1) - 1) // 2):
        for order in range(degree + 1):
            size = np.sqrt(4.0 * np.pi / (2 * degree + 1)) * (np.sqrt(2.0) * (-1.0) ** order if order else 1.0)
            wave = size * sph_harm_y(degree, order, polar, azimuth)
            total += (2 * degree + 1) * (cosine[place] * wave.real + sine[place] * wave.imag)
            place += 1
    return total


def spread(count, seed=0):
    """Return random unit vectors."""
    points = np.random.default_rng(seed).standard_normal((count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def same_turned(upright, other, tolerance):
    """Say whether a density is another one turned, at random points."""
    points = spread(40)
    lower = slice(0, 21 * 22 // 2)
    first = at(upright.cosine[lower], upright.sine[lower], points)
    second = at(other.cosine[lower], other.sine[lower], points @ TURN.T)
    return np.abs(first - second).max() <= tolerance * np.abs(first).max()


@pytest.mark.parametrize("neurons", [Perceptron((0.3, -0.1), (0.0, math.pi), "gelu"), THREE])
def test_states_turn_with_the_confinement(neurons):
    upright, other = states_in(neurons), states_in(turned(neurons))
    assert [state.unstable for state in upright] == [state.unstable for state in other]
    for one, state in zip(upright, other, strict=True):
        assert state.problem.confinement == turned(neurons)
        # Sums of some hundred harmonics, each known to rounding; rates lose as much as the state is nearly neutral.
        assert one.free_energy_gap == pytest.approx(state.free_energy_gap, abs=64 * EPS)
        assert one.slowest_rate == pytest.approx(state.slowest_rate, abs=1e4 * EPS)
        assert state.residual <= 16 * EPS
        if not neurons.zonal:
            assert same_turned(one, state, 1e4 * EPS)


@pytest.mark.parametrize("seed", [0, 4])
def test_states_are_those_of_brute_force(seed):
    generator = np.random.default_rng(seed)
    weights = (-generator.uniform(0.5, 1.5), -generator.uniform(0.0, 1.0))
    neurons = Perceptron(
        tuple(0.3 * generator.standard_normal(3)),
        tuple(generator.uniform(0.0, math.pi, 3)),
        "sigmoid",
        tuple(generator.uniform(0.0, 2 * math.pi, 3)),
    )
    coupling = 1.4 * min(3.0 / -weights[0], 5.0 / -weights[1])
    found = stationary_states(McKeanVlasov(SPHERE, GegenbauerSeries(weights), 1.0, coupling, neurons), rates=False)
    u, _ = np.polynomial.legendre.leggauss(20)
    azimuth = np.pi * np.arange(40) / 20
    across = np.sqrt(1.0 - u**2)[:, None]
    grid = np.stack(np.broadcast_arrays(across * np.cos(azimuth), across * np.sin(azimuth), u[:, None]), axis=-1)
    cosines = grid.reshape(-1, 3) @ neurons.directions.T
    values = -np.log1p(np.exp(cosines)) @ np.array(neurons.weights)
    space = dataclasses.replace(brute_force.sphere(weights, nodes=20), confinement=values)
    known = brute_force.stationary_states(space, coupling, starts=768)
    degrees = np.array([1, 2])
    assert len(known) == len(found)
    for state, other in zip(found, known, strict=True):
        # Newton's method there ends at steps of 1e-11.
        assert state.free_energy_gap == pytest.approx(other.gap, abs=1e-10)
        lengths = state.moments.lengths[degrees] * np.sqrt(2 * degrees + 1)
        assert lengths == pytest.approx(other.powers, abs=1e-9)
        assert state.unstable == other.unstable


def test_the_indices_of_all_states_add_up_and_agree_with_spectra():
    states = states_in(THREE)
    assert sum((-1) ** state.unstable for state in states) == 1
    for state in (states[0], states[2], states[-1]):
        found = spectrum(state)
        assert found.unstable == state.unstable
        assert found.rotation is None


def test_a_state_solves_its_equation_on_a_grid_of_its_own():
    state = states_in(THREE)[0]
    points = spread(30)
    degrees = np.repeat(np.arange(20), np.arange(1, 21))
    multipliers = Transformer(2.0).multipliers(SPHERE, 19)[degrees] / (2.0 * degrees + 1.0)
    kept = slice(0, degrees.size)
    field = -4.0 * at(multipliers * state.cosine[kept], multipliers * state.sine[kept], points)
    field -= THREE.values_at(points)
    density = at(state.cosine, state.sine, points)
    ratios = density / np.exp(field)
    # Where the density is small its moments give it relative to the peak only.
    weights = density / density.max()
    assert np.abs((ratios / ratios[np.argmax(density)] - 1.0) * weights).max() <= 1e5 * EPS


def test_a_mirror_is_kept_and_broken():
    labels = [state.label for state in states_in(TWO)]
    assert "C_1" in labels
    assert sum(label.startswith("C_s") for label in labels) == 4


def test_the_trunk_of_a_diagram_begins_at_the_gibbs_density():
    diagram = bifurcation_diagram(ATTENTION.replace(confinement=turned(TWO)), (0.0, 2.2), rates=False, depth=1)
    trunk = diagram.branch("primary")
    assert trunk.coupling[0] == 0.0
    first = diagram.state("primary", 0)
    points = spread(30)
    values = np.exp(-turned(TWO).values_at(points))
    density = at(first.cosine, first.sine, points)
    assert np.ptp(density / values) <= 1e3 * EPS * density.max()
    # Every branch that reaches the end of the interval is a state there.
    ends = [state.free_energy_gap for state in stationary_states(diagram.problem.at(coupling=2.2), rates=False)]
    # They are known to roundings, as the interval is.
    assert len(diagram.branches) == 4
    for branch in diagram.branches:
        places = [place for place in (0, -1) if branch.coupling[place] == pytest.approx(2.2, rel=4 * EPS)]
        assert places
        for place in places:
            assert np.abs(np.array(ends) - branch.free_energy_gap[place]).min() <= 1e-10


def test_all_densities_evolve_as_those_about_the_axis():
    neuron = Perceptron((1.0,), (0.0,), "gelu")
    problem = McKeanVlasov(SPHERE, Transformer(2.0), 0.5, 1.5, neuron)
    polar, azimuth = math.acos(TURN[2, 2]), math.atan2(TURN[1, 2], TURN[0, 2])
    upright = evolve(problem, VonMises(0.0, 1.0), 0.3, times=3)
    other = evolve(problem.replace(confinement=turned(neuron)), VonMises(polar, 1.0, azimuth=azimuth), 0.3, times=3)
    assert upright.layout == "degree"
    assert other.layout == "order"
    kept = slice(0, 20)
    # Both are known to the tolerance of the steps.
    assert other.moments.lengths[:, kept] == pytest.approx(np.abs(upright.cosine[:, kept]), abs=1e-8)
    assert other.free_energy_gap == pytest.approx(upright.free_energy_gap, abs=1e-8)
    assert other.dissipation == pytest.approx(upright.dissipation, rel=1e-6)


def test_a_stationary_state_stays_where_it_is():
    state = states_in(THREE)[0]
    path = evolve(ATTENTION, state, 0.1, times=2)
    assert path.outcome.name == "STATIONARY"
    assert np.abs(path.cosine[-1][:100] - state.cosine[:100]).max() <= 1e-9


def test_particles_follow_the_gradient_at_their_places():
    beta, coupling, step, steps = 2.0, -0.5, 0.01, 20
    neurons = Perceptron((-0.5, 0.3), (0.7, 2.0), "relu", (0.4, 3.0))
    starts = spread(12)
    problem = McKeanVlasov(SPHERE, Transformer(beta), 0.0, coupling, neurons)
    run = simulate(problem, 12, step * steps, 1, initial=starts, step=step, drift=PairDrift(), keep_positions=True)

    def velocity(x):
        inner = x @ x.T
        pull = coupling * np.exp(beta * inner) @ x / len(x)
        pull += (np.maximum(x @ neurons.directions.T, 0.0) * np.array(neurons.weights)) @ neurons.directions
        return pull - (pull * x).sum(axis=1)[:, None] * x

    places = starts
    for _ in range(8 * steps):
        small = step / 8
        one = velocity(places)
        two = velocity(places + 0.5 * small * one)
        three = velocity(places + 0.5 * small * two)
        places = places + small / 6 * (one + 2 * two + 2 * three + velocity(places + small * three))
        places /= np.linalg.norm(places, axis=1)[:, None]
    # The scheme is of fourth order in steps eight times as long, but for the kinks of two rectified neurons.
    assert np.abs(np.asarray(run.positions).reshape(-1, 3) - places).max() <= 1e-6


@pytest.mark.parametrize("activation", ["relu", "step"])
@pytest.mark.parametrize(("dimension", "law"), [(3, None), (4, None), (3, SoftmaxAttention(1.0))])
def test_particles_follow_neurons_at_the_poles_exactly(dimension, law, activation):
    """By one short explicit step: the degrees of such neurons, of which 64 were taken once, do not decay."""
    upwards, downwards, step, count = 3.0, -1.5, 1e-6, 40
    neurons = Perceptron((upwards, downwards), (0.0, math.pi), activation)
    starts = np.random.default_rng(5).standard_normal((count, dimension))
    starts[:2, :-1] = 0.0
    starts /= np.linalg.norm(starts, axis=1)[:, None]
    free = McKeanVlasov(Sphere(dimension), Transformer(1.0), 0.0, 1.0)
    if law is not None:
        free = ContinuityEquation(Sphere(dimension), law, 0.0, 1.0)
    options = {"initial": starts, "step": step, "scheme": EulerMaruyama(), "keep_positions": True}

    def velocity(problem):
        places = np.asarray(simulate(problem, count, step, 1, **options).positions).reshape(starts.shape)
        # Steps go along the tangent but for their third power.
        inner = (places * starts).sum(axis=1)[:, None]
        return (places / inner - starts) / step

    height = starts[:, -1]
    sigma = {"relu": lambda s: np.maximum(s, 0.0), "step": lambda s: (s > 0.0) * 1.0}[activation]
    towards = np.zeros_like(starts)
    towards[:, -1] = upwards * sigma(height) - downwards * sigma(-height)
    towards -= (towards * starts).sum(axis=1)[:, None] * starts
    # Positions are rounded to EPS, and divided by the step.
    found = velocity(free.replace(confinement=neurons)) - velocity(free)
    assert np.abs(found - towards).max() <= 100.0 * EPS / step


@pytest.mark.parametrize("drift", [PairDrift(), None])
def test_attention_particles_turn_with_the_confinement(drift):
    neuron = Perceptron((0.5,), (0.0,), "tanh")
    equation = ContinuityEquation(SPHERE, SoftmaxAttention(2.0), 0.0, 1.0, neuron)
    starts = spread(12)
    options = {"step": 0.05, "drift": drift, "keep_positions": True}
    upright = simulate(equation, 12, 0.5, 1, initial=starts, **options)
    other = simulate(equation.replace(confinement=turned(neuron)), 12, 0.5, 1, initial=starts @ TURN.T, **options)
    places = np.asarray(upright.positions).reshape(-1, 3) @ TURN.T
    # About the pole the field is cut where its degrees are below the tolerance of the drift, 1e-9.
    assert np.asarray(other.positions).reshape(-1, 3) == pytest.approx(places, abs=1e-7)


def test_a_function_of_unit_vectors_confines_as_its_neurons():
    function = HarmonicSeries.from_callable(lambda points: THREE.values_at(points))
    one, other = (
        stationary_states(ATTENTION.replace(confinement=each, coupling=1.0), rates=False)[0]
        for each in (THREE, function)
    )
    assert other.free_energy_gap == pytest.approx(one.free_energy_gap, abs=64 * EPS)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda problem: stationary_states(problem), "smooth neurons"),
        (lambda problem: bifurcation_diagram(problem, (0.0, 1.0)), "smooth neurons"),
        (lambda problem: evolve(problem, VonMises(), 0.1), "smooth neurons"),
    ],
)
def test_kinks_without_an_axis_are_refused_where_densities_are_meant(call, sentence):
    kinked = Perceptron((1.0, 1.0), (0.3, 1.0), "relu", (0.0, 2.0))
    with pytest.raises(InvalidInput, match=sentence):
        call(ATTENTION.replace(confinement=kinked))


def test_a_kink_with_an_axis_in_any_direction_is_taken():
    neuron = Perceptron((1.0,), (0.0,), "relu")
    problem = ATTENTION.replace(confinement=neuron, coupling=1.0)
    (upright,) = stationary_states(problem, rates=False)
    (other,) = stationary_states(problem.replace(confinement=turned(neuron)), rates=False)
    assert other.free_energy_gap == pytest.approx(upright.free_energy_gap, abs=64 * EPS)


def test_attention_without_an_axis_is_refused_in_a_sentence():
    equation = ContinuityEquation(SPHERE, NormalisedAttention(2.0), 1.0, 1.0, THREE)
    with pytest.raises(InvalidInput, match="axis"):
        stationary_states(equation)


def test_a_confinement_that_holds_nothing_is_refused():
    faint = Perceptron(tuple(1e-7 * weight for weight in THREE.weights), THREE.angles, "gelu", THREE.azimuths)
    with pytest.raises(InvalidInput, match="no more than rounding"):
        stationary_states(ATTENTION.replace(confinement=faint))


def test_a_weak_confinement_says_what_the_search_does_not_tell():
    weak = Perceptron(tuple(2e-4 * weight for weight in THREE.weights), THREE.angles, "gelu", THREE.azimuths)
    states = stationary_states(McKeanVlasov(SPHERE, Kuramoto(), 1.0, 4.0, weak), rates=False)
    assert states.complete is False
    assert "some may be missing" in states.searched


def test_fields_of_all_kinds_add_up():
    both = External.from_expression("0.1*cos(t)") + THREE
    assert not both.zonal
    points = spread(7)
    assert both.values_at(points) == pytest.approx(0.1 * points[:, 2] + THREE.values_at(points), abs=8 * EPS)
