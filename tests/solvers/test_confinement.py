"""States, diagrams, rates, evolutions and particles in confinements of the circle without symmetry about angle 0.

A confinement that is even about another axis gives the results of the even one, turned. Others are compared with a
dense Newton's method on values at equal angles, and rates with a dense matrix of the linearisation.
"""

import math

import numpy as np
import pytest

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    External,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    NotResolved,
    Perceptron,
    SoftmaxAttention,
    Transformer,
    dissipation,
    free_energy_parts,
)
from meanfield.records.atoms import atoms_of
from solvers import (
    Characteristics,
    MomentDrift,
    PairDrift,
    VonMises,
    bifurcation_diagram,
    contraction_rate,
    evolve,
    simulate,
    spectrum,
    stationary_states,
)
from solvers.circle.axes import axis_of
from tests.oracles import confined_state, linearised_rates

EPS = np.finfo(float).eps
CIRCLE = Circle()
ANGLE = 0.3
EVEN = CosineSeries((0.2, 0.5))
TURNED = External.from_coefficients(
    (0.2 * math.cos(ANGLE), 0.5 * math.cos(2 * ANGLE)), (0.2 * math.sin(ANGLE), 0.5 * math.sin(2 * ANGLE))
)
# Residuals are at rounding level, which the inverse of the Jacobian multiplies.
ROUNDED = 1e-13
POINTS = 255


def problem(confinement, coupling=None, potential=None, noise=1.0):
    return McKeanVlasov(CIRCLE, potential or Kuramoto(), noise, coupling, confinement)


def complex_moments(state, count):
    moments = np.zeros(count, dtype=complex)
    found = (state.cosine - 1j * state.sine)[:count]
    moments[: found.size] = found
    return moments


def turned(moments):
    return moments * np.exp(-1j * ANGLE * np.arange(moments.size))


def dense_moments(density, count):
    return np.fft.fft(density)[:count] * 2 * np.pi / density.size


def drawn(seed):
    generator = np.random.default_rng(seed)
    return External.from_coefficients(0.3 * generator.normal(size=3), 0.3 * generator.normal(size=3))


@pytest.mark.parametrize("coupling", [-1.0, 0.0, 1.0, 3.0, 4.0])
def test_states_of_a_turned_confinement_are_those_of_the_even_one_turned(coupling):
    expected = stationary_states(problem(EVEN, coupling))
    found = stationary_states(problem(TURNED, coupling))
    assert [state.label for state in found] == [state.label for state in expected]
    assert [state.unstable for state in found] == [state.unstable for state in expected]
    for one, other in zip(found, expected, strict=True):
        target = turned(complex_moments(other, 40))
        # An uneven state and its reflection in the axis are one.
        mirrored = target.conj() * np.exp(-2j * ANGLE * np.arange(40))
        apart = min(np.abs(complex_moments(one, 40) - image).max() for image in (target, mirrored))
        assert apart <= ROUNDED
        assert abs(one.free_energy_gap - other.free_energy_gap) <= ROUNDED
        assert abs(one.slowest_rate - other.slowest_rate) <= 1e3 * ROUNDED * abs(other.slowest_rate)


@pytest.mark.parametrize(
    ("weights", "angle"),
    [((0.0, 0.5), 1.2), ((0.0, 0.3, 0.0, -0.2), -0.9), ((0.0, 0.0, 0.4), 1.2), ((0.0, 1e-6), -0.9)],
    ids=str,
)
def test_states_of_a_turned_confinement_with_several_axes(weights, angle):
    degrees = np.arange(1, len(weights) + 1)
    field = External.from_coefficients(weights * np.cos(degrees * angle), weights * np.sin(degrees * angle))
    potential = CosineSeries((-1.0, -1.5))
    expected, found = (
        stationary_states(problem(confinement, 3.0, potential), rates=False)
        for confinement in (CosineSeries(weights), field)
    )
    assert [state.unstable for state in found] == [state.unstable for state in expected]
    gaps = [[state.free_energy_gap for state in states] for states in (found, expected)]
    assert np.abs(np.subtract(*gaps)).max() <= ROUNDED
    assert found.complete == expected.complete


@pytest.mark.parametrize(
    ("confinement", "axis"),
    [
        (External.from_expression("cos(t - 0.4)"), 0.4),
        (External.from_expression("Max(cos(t - 1), 0)"), 1.0),
        (Perceptron((1.0,), (-2.9,)), math.pi - 2.9),
        (Perceptron((1.0, 0.5), (0.3, 0.3 + math.pi)), 0.3),
        (Perceptron((1.0, 1.0), (0.3, 1.3)), 0.8),
        (Perceptron((1.0, 0.5), (0.3, 1.3)), None),
        (External.from_expression("sin(t) + 0.1*cos(2*t + 1e-8)"), None),
        (CosineSeries((0.3,)), 0.0),
    ],
)
def test_the_axis_of_a_confinement(confinement, axis):
    found = axis_of(problem(confinement))
    assert (found is None) == (axis is None)
    if axis is not None:
        assert abs(found - axis) <= 16 * EPS


def test_the_diagram_of_a_turned_confinement_is_that_of_the_even_one():
    expected = bifurcation_diagram(problem(EVEN), (0.0, 5.0))
    found = bifurcation_diagram(problem(TURNED), (0.0, 5.0))
    assert [branch.label for branch in found.branches] == [branch.label for branch in expected.branches]
    assert [point.type for point in found.special_points] == [point.type for point in expected.special_points]
    couplings = [[point.coupling for point in diagram.special_points] for diagram in (found, expected)]
    assert np.abs(np.subtract(*couplings)).max() <= 1e-12 * max(couplings[0])
    assert {"fold", "branch point"} <= {str(point.type) for point in found.special_points}
    assert all(point.status == "converged" for point in found.special_points)


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_states_are_those_of_a_dense_newton_iteration(seed):
    confinement = drawn(seed)
    confined = problem(confinement, 1.0, Transformer(2.0), 0.5)
    states = stationary_states(confined)
    angles = 2 * np.pi * np.arange(POINTS) / POINTS
    for state in states:
        moments = complex_moments(state, 30)
        start = (1 + 2 * (moments[1:] @ np.exp(1j * np.outer(np.arange(1, 30), angles))).real) / (2 * np.pi)
        # From a density that is off by a share of itself.
        start = start * (1 + 1e-3 * np.sin(3 * angles + 1))
        dense = confined_state(lambda t: -0.5 * np.exp(2 * np.cos(t)), confinement.values, 0.5, start)
        assert np.abs(dense_moments(dense, 30) - moments).max() <= ROUNDED
        gap = free_energy_parts(confined, state.cosine, state.sine).gap
        assert abs(gap - state.free_energy_gap) <= ROUNDED * (1 + abs(gap))
        assert dissipation(confined, state.cosine, state.sine) <= (1e4 * EPS) ** 2
        rates = linearised_rates(lambda t: -0.5 * np.exp(2 * np.cos(t)), confinement.values, 0.5, dense)
        assert state.unstable == int((rates > 0).sum())
        assert abs(state.slowest_rate + rates[0]) <= 1e-9 * np.abs(rates).max() / 100
        found = np.sort(np.concatenate([spectrum(state).even, spectrum(state).odd]))[::-1][:4]
        assert np.abs(found - rates[:4]).max() <= 1e-9 * np.abs(rates).max() / 100


@pytest.mark.parametrize(
    "confinement",
    [
        External.from_expression("0.4*sin(t) + 0.3*cos(2*t + 1)"),
        Perceptron((1.0, -0.4), (0.3, 2.2)),
        Perceptron((1.0,), (1.1,)),
        Perceptron((3.0, 0.5), (0.3, -2.0), "gelu"),
        External.from_expression("Max(sin(t - 0.5), 0) + 0.2*Abs(sin(t))"),
    ],
    ids=["smooth", "relu", "one neuron", "gelu", "kinks"],
)
def test_without_interaction_the_state_is_the_boltzmann_density(confinement):
    (state,) = stationary_states(problem(confinement, 0.0, noise=0.5), rates=False)

    # Every kink is at an end of one of these pieces, on which the integrand is analytic.
    kinks = [1.1, 0.3, 2.2, 0.5, 1.1 - np.pi, 0.3 - np.pi, 2.2 - np.pi, 0.5 - np.pi, 0.0, -np.pi, np.pi]
    kinks += [kink - 0.5 * np.pi for kink in (1.1, 0.3, 2.2)] + [
        1.1 + 0.5 * np.pi,
        0.3 + 0.5 * np.pi,
        2.2 - 1.5 * np.pi,
    ]
    ends = np.sort(kinks)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = 0.5 * np.diff(ends)[:, np.newaxis]
    angles, masses = ends[:-1, np.newaxis] + half * (1 + nodes), half * weights
    masses = masses * np.exp(-2 * confinement.values(angles))

    def mean(wave):
        return float((wave(angles) * masses).sum())

    mass = mean(np.ones_like)
    for degree in range(1, 6):
        exact = (mean(lambda t, k=degree: np.cos(k * t)) - 1j * mean(lambda t, k=degree: np.sin(k * t))) / mass
        assert abs(complex_moments(state, 6)[degree] - exact) <= ROUNDED


def test_a_weak_confinement_without_axis_leaves_two_angles():
    """Beside a weak V a cluster stands where the torque on it vanishes, once stable and once not."""
    expected = stationary_states(problem(None, 3.0))[0]
    for size in (1e-2, 1e-5):
        field = External.from_coefficients((0.1 * size,), (0.0, 0.05 * size))
        states = stationary_states(problem(field, 3.0))
        assert [state.unstable for state in states] == [0, 1, 2]
        for state in states[:2]:
            assert abs(np.hypot(state.cosine[1], state.sine[1]) - expected.cosine[1]) <= size
            angle = math.atan2(state.sine[1], state.cosine[1])
            torque = 0.1 * expected.cosine[1] * math.sin(angle) - 0.1 * expected.cosine[2] * math.cos(2 * angle)
            assert abs(torque) <= size
    loose = stationary_states(problem(External.from_coefficients((1e-8,), (0.0, 5e-9)), 3.0), rates=False)
    assert loose.complete is False
    assert "hold" in loose.searched


def test_a_symmetry_that_the_potential_does_not_see_is_lost_at_a_pitchfork():
    """Two neurons with tanh make a field of even degrees without axis, whose states have no moment of degree 1."""
    confined = problem(Perceptron((0.22, 0.18), (-2.34, 0.1), "tanh"), noise=0.5)
    diagram = bifurcation_diagram(confined, (0.0, 2.0), rates=False)
    trunk = diagram.branches[0]
    assert (trunk.label, trunk.symmetry) == ("primary", 2)
    crossings = [float(point.coupling) for point in diagram.special_points if str(point.type) == "branch point"]
    # Degree 1 is critical where D/kappa is an eigenvalue (1 +- |c_2|)/2 of the mean of x x^T.
    second = abs(complex_moments(stationary_states(confined.at(coupling=0.0), rates=False)[0], 3)[2])
    expected = [2 * 0.5 / (1 + second), 2 * 0.5 / (1 - second)]
    assert np.abs(np.array(sorted(crossings)[:2]) / expected - 1).max() <= 1e-9
    states = stationary_states(confined.at(coupling=0.5 * sum(expected)), rates=False)
    assert [state.unstable for state in states] == [0, 1]


def test_a_generic_confinement_unfolds_the_pitchfork():
    diagram = bifurcation_diagram(problem(External.from_expression("0.1*cos(t) + 0.05*sin(2*t)")), (0.0, 6.0))
    assert {str(point.type) for point in diagram.special_points} == {"fold", "endpoint"}
    trunk = diagram.branches[0]
    assert trunk.label == "primary"
    assert not np.any(trunk.unstable)
    fold = next(point for point in diagram.special_points if str(point.type) == "fold")
    for side, count in ((0.999, 1), (1.001, 3)):
        states = stationary_states(diagram.problem.at(coupling=side * float(fold.coupling)), rates=False)
        assert len(states) == count
        assert sum((-1) ** state.unstable for state in states) == 1


def test_states_of_softmax_attention_in_a_confinement_without_symmetry():
    beta, ratio, confinement = 2.0, 3.0, External.from_expression("0.1*cos(t) + 0.05*sin(2*t)")
    equation = ContinuityEquation(CIRCLE, SoftmaxAttention(beta), 1.0, ratio, confinement)
    state = stationary_states(equation)[0]
    angles = 2 * np.pi * np.arange(POINTS) / POINTS
    moments = complex_moments(state, 40)
    density = (1 + 2 * (moments[1:] @ np.exp(1j * np.outer(np.arange(1, 40), angles))).real) / (2 * np.pi)
    weights = np.exp(beta * np.cos(np.subtract.outer(angles, angles))) @ density
    image = weights ** (ratio / beta) * np.exp(-confinement.values(angles))
    image /= image.mean() * 2 * np.pi
    assert np.abs(image - density).max() <= ROUNDED
    assert np.any(np.abs(state.sine) > 1e-3)


@pytest.mark.parametrize("noise", [0.5, 0.0])
def test_evolution_in_a_turned_confinement_is_the_other_turned(noise):
    # Without noise a density soon needs all modes.
    until = 1.5 if noise else 0.6
    expected = evolve(problem(EVEN, 1.5, noise=noise), VonMises(1.0, 2.0), until, times=3)
    found = evolve(problem(TURNED, 1.5, noise=noise), VonMises(1.0 + ANGLE, 2.0), until, times=3)
    for one, other in zip(found.cosine - 1j * found.sine, expected.cosine - 1j * expected.sine, strict=True):
        assert np.abs(one[:12] - turned(other[:12])).max() <= 1e-9
    names = ("free_energy_gap", "dissipation") if noise else ("energy_gap", "energy_dissipation")
    for name in names:
        values = [np.asarray(path.observables[name]) for path in (found, expected)]
        assert np.abs(np.subtract(*values)).max() <= 1e-8 * np.abs(values[0]).max()


@pytest.mark.parametrize("confinement", [TURNED, External.from_expression("0.1*cos(t) + 0.05*sin(2*t)")], ids=repr)
def test_an_evolution_decays_at_the_rate_of_the_spectrum(confinement):
    found = contraction_rate(problem(confinement, 3.0))
    for name in ("L2", "W1", "W2"):
        assert abs(found.fit(name).rate - found.gap) <= 1e-8 * found.gap


def test_characteristics_in_a_turned_confinement():
    paths = [
        evolve(problem(field, 1.5, noise=0.0), VonMises(start, 2.0), 2.0, times=2, method=Characteristics())
        for field, start in ((EVEN, 1.0), (TURNED, 1.0 + ANGLE))
    ]
    one, other = (complex_moments_at_end(path) for path in paths)
    assert np.abs(turned(one) - other).max() <= 1e-10


def complex_moments_at_end(path):
    return (path.cosine - 1j * path.sine)[-1, :12]


def test_the_energy_falls_by_its_dissipation():
    confined = problem(drawn(6), 2.0, Transformer(1.0), 0.7)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    times = 0.5 * (1 + nodes)
    path = evolve(confined, VonMises(0.5, 1.0), 1.0, times=[0.0, *times, 1.0])
    fallen = path.free_energy_gap[0] - path.free_energy_gap[-1]
    assert abs(0.5 * weights @ path.dissipation[1:-1] - fallen) <= 1e-8 * abs(fallen)


@pytest.mark.parametrize("particles", [200, 40], ids=["cells", "modes"])
def test_particles_move_by_the_sum_over_pairs(particles):
    confined = problem(External.from_expression("0.3*cos(t) + 0.2*sin(2*t)"), 1.0, Transformer(2.0), 0.0)
    start = np.linspace(-3.0, 3.0, particles)
    ends = [
        simulate(confined, particles, 1.0, 1, initial=start, step=0.01, drift=drift, keep_positions=True).positions
        for drift in (MomentDrift(tolerance=1e-12), PairDrift())
    ]
    assert np.abs(ends[0] - ends[1]).max() <= 1e-11


def test_softmax_attention_in_a_confinement_without_symmetry():
    """Particles from moments and from pairs, rates from the evolution and from the spectrum."""
    equation = ContinuityEquation(
        CIRCLE, SoftmaxAttention(2.0), 0.0, 1.5, External.from_expression("0.3*cos(t) + 0.2*sin(2*t)")
    )
    start = np.linspace(-3.0, 3.0, 200)
    ends = [
        simulate(equation, 200, 0.5, 1, initial=start, step=0.01, drift=drift, keep_positions=True).positions
        for drift in (MomentDrift(tolerance=1e-12), PairDrift())
    ]
    assert np.abs(ends[0] - ends[1]).max() <= 1e-6
    noisy = equation.replace(noise=1.0)
    (state,) = stationary_states(noisy)
    path = evolve(noisy, VonMises(1.0, 1.0), 34.0, times=[30.0, 34.0], tolerance=1e-12)
    target = complex_moments(state, 12)
    # Before the first of these times the next slowest perturbation, at 0.74, has fallen by exp(-10) more.
    first, last = (np.abs(row[:12] - target).max() for row in path.cosine - 1j * path.sine)
    assert abs(math.log(first / last) / 4.0 - state.slowest_rate) <= 1e-3 * state.slowest_rate


def test_one_neuron_gathers_a_hundred_tokens_in_four_atoms():
    """The descent of arXiv 2601.21366 at beta = 1, its kernel exp(beta (<x, y> - 1)): pairs of atoms, symmetric."""
    descent = problem(Perceptron((-0.5,), (0.0,)), -math.exp(-1.0), Transformer(1.0), 0.0)
    end = simulate(descent, 100, 2000.0, 3, step=1.0, drift=PairDrift(), keep_positions=True, times=2)
    atoms = end.atoms(1e-2)
    assert len(atoms) == 4
    # The count is that at every resolution over three decades.
    assert atoms.widest <= 1e-5
    assert atoms.gap >= 0.1
    assert abs(atoms.masses.sum() - 1.0) <= 4 * EPS
    assert np.abs(np.sort(atoms.places)[[0, 1]] + np.sort(atoms.places)[[3, 2]]).max() <= 1e-2
    assert "4 atoms of mass" in end.summary()


def test_atoms_on_the_circle_are_those_of_vectors():
    generator = np.random.default_rng(0)
    centres, counts = (-3.1, -1.0, 0.5, 3.12), (10, 20, 30, 40)
    clusters = zip(centres, counts, strict=True)
    angles = np.concatenate([centre + 1e-5 * generator.normal(size=count) for centre, count in clusters])
    vectors = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(angles.size)])
    angles = np.remainder(angles + np.pi, 2 * np.pi) - np.pi
    for resolution, masses in ((1e-3, [0.4, 0.3, 0.2, 0.1]), (0.1, [0.5, 0.3, 0.2])):
        one, other = atoms_of(angles, resolution), atoms_of(vectors, resolution)
        assert np.allclose(one.masses, masses, rtol=0, atol=4 * EPS)
        assert np.array_equal(one.masses, other.masses)
        assert abs(one.widest - other.widest) + abs(one.gap - other.gap) <= 64 * EPS
        assert one.widest < resolution <= one.gap
    assert len(atoms_of(np.zeros(5), 0.1)) == len(atoms_of(np.array([[0.0, 0.0, 1.0]]), 0.1)) == 1


@pytest.mark.parametrize("noise", [0.5, 0.0])
def test_what_a_rectified_neuron_allows_of_evolutions(noise):
    confined = problem(Perceptron((1.0,), (0.0,)), 0.5, Kuramoto(), noise)
    if noise:
        with pytest.raises(NotResolved, match="the coefficients of the confinement 'perceptron' decay slowly"):
            evolve(confined, VonMises(1.0, 2.0), 3.0, tolerance=1e-9)
        path = evolve(confined, VonMises(0.0, 2.0), 60.0, times=2, tolerance=1e-5)
        state = stationary_states(confined, rates=False)[0]
        assert np.abs(path.cosine[-1, :8] - state.cosine[:8]).max() <= 1e-5
    else:
        with pytest.raises(InvalidInput, match="and Perceptron"):
            evolve(confined, VonMises(1.0, 2.0), 3.0, method=Characteristics())


def test_atoms_that_cannot_be_counted_are_refused():
    noisy = simulate(problem(TURNED, 1.0), 8, 0.1, 1, keep_positions=True)
    with pytest.raises(InvalidInput, match="with noise"):
        noisy.atoms()
    still = simulate(problem(TURNED, 1.0, noise=0.0), 8, 0.1, 1)
    with pytest.raises(InvalidInput, match="were not kept"):
        still.atoms()
    kept = simulate(problem(TURNED, 1.0, noise=0.0), 8, 0.1, 1, keep_positions=True)
    with pytest.raises(InvalidInput, match="between 0 and pi"):
        kept.atoms(4.0)
    with pytest.raises(InvalidInput, match="choose another"):
        kept.atoms(replica=1)


@pytest.mark.parametrize(
    ("weights", "formula", "window"),
    [
        *(
            ((-1.0, -1.05, -0.965, -0.69), f"{strength}*(0.126*cos(2*t) + 0.175*cos(4*t))", (1.0, 3.0))
            for strength in (-0.28834, -0.28)
        ),
        ((-1.0034, -0.9886, -0.9884, -1.0016, -1.0072), "0.0543*cos(t)", (1.47, 2.86)),
        ((-1.0188, -0.9372, -1.0038, -0.9858, -0.9854), "0.0394*cos(3*t)", (0.88, 2.89)),
    ],
)
def test_a_branch_without_an_axis_ends_where_it_gains_one(weights, formula, window):
    """It does not go on along the symmetric branch, nor, where that is hard to find, through its own image."""
    problem = McKeanVlasov(CIRCLE, CosineSeries(weights), confinement=External.from_expression(formula))
    diagram = bifurcation_diagram(problem, window, rates=False)
    uneven = [
        branch for branch in diagram.branches if branch.label.startswith("uneven") and branch.coupling.size > 2
    ]
    assert uneven
    for branch in uneven:
        assert np.abs(branch.sine[1:-1]).max(axis=1).min() > math.sqrt(EPS)
        assert np.diff(branch.arclength).min() > 0.0
        apart = np.abs(branch.cosine[0] - branch.cosine[-1]).max(), np.abs(branch.sine[0] + branch.sine[-1]).max()
        assert max(apart) > math.sqrt(EPS)


def test_a_fold_beside_a_more_symmetric_state_is_not_lost():
    """In one step a branch turns and passes through three equal clusters, with one count for both."""
    field = External.from_expression("-0.2099*cos(3*t) + 0.072*cos(6*t)")
    problem = McKeanVlasov(CIRCLE, CosineSeries((-1.0171, -1.016, -0.9937)), confinement=field)
    diagram = bifurcation_diagram(problem, (1.02, 3.13), rates=False)
    for branch in diagram.branches:
        rates = branch.tangent_coupling
        turns = np.flatnonzero(rates[1:] * rates[:-1] < 0.0)
        assert all("LP" in branch.point_labels[turn : turn + 2] for turn in turns)
    near = [each for each in diagram.special_points if abs(each.coupling - 2.8726423552) < 1e-9]
    (passing,) = [each for each in near if each.description.startswith("crosses")]
    branch = diagram.branches[passing.branch]
    row = int(np.argmin(np.abs(branch.coupling - passing.coupling)))
    # Two directions are neutral there, and as many unstable on both sides.
    assert branch.unstable[row - 1] == branch.unstable[row + 1] == 5
