"""The first point of a new branch: nothing is hidden between it and the branch point, however near the next event is."""

from itertools import combinations

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from meanfield import Circle, CosineSeries, GegenbauerSeries, McKeanVlasov, Sphere
from solvers import bifurcation_diagram, stationary_states
from tests.campaigns import branches as campaign


def degrees_one_and_two(dimension, ratio):
    """Return the problem whose degree 2 is this much more attractive than degree 1, critical at coupling 1."""
    second = (dimension + 2) * (dimension - 1) / 2
    weights = (-float(dimension), -second * ratio)
    return McKeanVlasov(Sphere(dimension), GegenbauerSeries(weights, dimension)), weights


class TestNearResonanceOnSpheres:
    @pytest.mark.parametrize("detuning", [2e-2, 1e-3, 1e-4, -1e-4, -1e-3, -2e-2])
    def test_mixed_branch_leaves_the_pure_one_where_the_cubic_says(self, detuning):
        """d = 3: eps_2 = (3/14) eps_1 with eps_l = (1/g_l - 1/(2 l + 1))/2, g_l = kappa |w_l|."""
        problem, (first, second) = degrees_one_and_two(3, 1.0 + detuning)
        diagram = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False)
        share = 3.0 / 14.0
        predicted = (1.0 / -second - share / -first) / (1.0 / 5.0 - share / 3.0)
        found = [
            event.coupling
            for event in diagram.events("branch point")
            if "odd degree of azimuthal order 0" in event.description
        ]
        assert min(abs(coupling - predicted) for coupling in found) < 20.0 * detuning**2
        assert not diagram.warnings

    @pytest.mark.parametrize("dimension", [3, 5])
    @pytest.mark.parametrize("detuning", [1e-2, 1e-5, 1e-8, 1e-12, 0.0, -1e-12, -1e-5, -1e-2])
    def test_stable_states_are_not_lost(self, dimension, detuning):
        """The uniform state is unstable above both thresholds, and the energy is bounded below."""
        problem, _ = degrees_one_and_two(dimension, 1.0 + detuning)
        diagram = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False)
        ends = [
            branch for branch in diagram.branches if abs(branch.coupling[-1] / diagram.interval[1] - 1.0) < 1e-12
        ]
        assert sum(bool(branch.unstable[-1] == 0) for branch in ends) == 1
        lowest = min(ends, key=lambda branch: branch.free_energy_gap[-1])
        assert lowest.unstable[-1] == 0
        assert any("taken for one" in warning for warning in diagram.warnings) == (0.0 < abs(detuning) < 1e-7)

    def test_two_crossings_before_a_first_point_of_fixed_amplitude(self):
        """One eigenvalue rises through zero and falls again within a thousandth of a moment."""
        weights = (-16.0, -134.9523137007449, -592.0)
        problem = McKeanVlasov(Sphere(16), GegenbauerSeries(weights, 16))
        diagram = bifurcation_diagram(problem, (0.965, 1.084), rates=False)
        assert not list(campaign._wrong_counts_on_sphere(diagram, 16, weights))
        assert {134, 135} <= set(diagram.branch("oblate").unstable)


class TestOppositeSide:
    @pytest.mark.parametrize(
        ("weights", "interval"),
        [
            ((0.682, -0.44, -0.55, -0.545, -0.263, -0.409), (3.6, 3.75)),
            ((-1.0, -1.001), (1.9, 2.1)),
            ((-0.5, -0.98, -0.99, -0.98), (1.5, 3.0)),
        ],
    )
    def test_children_have_the_count_of_their_parent_on_the_other_side(self, weights, interval):
        diagram = bifurcation_diagram(McKeanVlasov(Circle(), CosineSeries(weights)), interval, rates=False)
        space = campaign.brute_force.circle(weights, nodes=384)
        assert not [*campaign._wrong_sides(diagram), *campaign._wrong_counts(diagram, space)]

    def test_a_pitchfork_nearer_than_the_usual_first_step(self):
        weights = (0.682, -0.44, -0.55, -0.545, -0.263, -0.409)
        diagram = bifurcation_diagram(McKeanVlasov(Circle(), CosineSeries(weights)), (3.6, 3.75), rates=False)
        child = diagram.branch("2-cluster from 4-cluster")
        (event,) = diagram.events("branch point", child.label)
        assert (event.unstable_before, event.unstable_after) == (3, 2)
        assert 0.0 < child.coupling[0] - event.coupling < 1e-2


@pytest.mark.parametrize("modes", [(1, 3), (2, 5), (1, 5), (2, 3)])
@pytest.mark.parametrize("detuning", [1e-8, -1e-12])
def test_resonances_that_arithmetic_does_not_separate_are_exact_ones(modes, detuning):
    """States a per cent above both thresholds are those of equal strengths."""
    found = []
    for ratio in (1.0, 1.0 + detuning):
        weights = np.zeros(max(modes))
        weights[[mode - 1 for mode in modes]] = -1.0, -ratio
        problem = McKeanVlasov(Circle(), CosineSeries(tuple(weights.tolist())))
        diagram = bifurcation_diagram(problem, (1.9, 2.02), rates=False)
        ends = [branch for branch in diagram.branches if abs(branch.coupling[-1] - 2.02) < 1e-12]
        found.append(sorted((float(branch.free_energy_gap[-1]), int(branch.unstable[-1])) for branch in ends))
    gaps = [[gap for gap, _ in states] for states in found]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-4, abs=10.0 * abs(detuning))
    assert [count for _, count in found[0]].count(0) == [count for _, count in found[1]].count(0)


def same_states(one, other):
    """Return how many of the points along a branch are on another one too, images in the equator included."""
    count = min(one.cosine.shape[1], other.cosine.shape[1])
    couplings = other.coupling.astype(float)
    found = 0
    for point in np.unique(np.linspace(1, len(one) - 2, 8).astype(int)):
        moments, best = one.cosine[point, 1:count], np.inf
        for i in np.flatnonzero(
            (couplings[1:] - one.coupling[point]) * (couplings[:-1] - one.coupling[point]) < 0.0
        ):
            ends = other.arclength[i : i + 2]
            curve = CubicHermiteSpline(ends, couplings[i : i + 2], other.tangent_coupling[i : i + 2])
            for root in curve.solve(float(one.coupling[point]), extrapolate=False):
                rows = slice(i, i + 2)
                there = CubicHermiteSpline(ends, other.cosine[rows, 1:count], other.tangent_cosine[rows, 1:count])
                mirrored = moments * (-1.0) ** np.arange(1, count)
                best = min(best, *(np.abs(there(root) - image).max() for image in (moments, mirrored)))
        found += best <= 1e-4 * np.abs(moments).max()
    return found


@pytest.mark.parametrize("dimension", [4, 5, 8])
@pytest.mark.parametrize("seed", range(2))
def test_no_curve_is_recorded_twice_near_a_triple_resonance(dimension, seed):
    """Branches between two thresholds are born at one and end on the uniform state at the other."""
    generator = np.random.default_rng([dimension, seed])
    ratios = 1.0 + generator.choice([-1.0, 1.0], 2) * 10.0 ** -generator.uniform(2.0, 8.0, 2)
    numbers = [Sphere(dimension).multiplicity(degree) for degree in (1, 2, 4)]
    weights = (-float(numbers[0]), -numbers[1] * ratios[0], 0.0, -numbers[2] * ratios[1])
    problem = McKeanVlasov(Sphere(dimension), GegenbauerSeries(weights, dimension))
    diagram = bifurcation_diagram(problem, (0.95, 1.08), rates=False)
    curves = [branch for branch in diagram.branches if branch.label != "uniform" and len(branch) > 3]
    assert curves
    for one, other in combinations(curves, 2):
        shorter, longer = sorted((one, other), key=len)
        assert same_states(shorter, longer) < 3, (one.label, other.label)


@pytest.mark.parametrize("excess", [1e-6, 1e-8, 1e-9])
@pytest.mark.parametrize("weights", [(-1.0, -0.12, -1.0 + 1e-12), (-1.0, 0.3, -1.0 - 1e-10), (-1.0, 0.0, -1.0)])
def test_an_interval_that_begins_beside_a_merged_threshold_begins_on_every_branch(weights, excess):
    """Just above the threshold all its branches are within a small distance, each a state of its own."""
    problem = McKeanVlasov(Circle(), CosineSeries(weights))
    diagram = bifurcation_diagram(problem, (2.0 * (1.0 + excess), 2.02), rates=False)
    born = [branch for branch in diagram.branches[1:] if np.abs(branch.cosine[0, 1:4]).max() < 0.01]
    assert len(born) >= 3
    for branch in born:
        assert np.all(branch.unstable[:4] == branch.unstable[1])
    for one, other in combinations([branch.cosine[0, 1:4] for branch in born], 2):
        size = max(np.abs(one).max(), np.abs(other).max())
        assert min(np.abs(one - other).max(), np.abs(one - other * [-1.0, 1.0, -1.0]).max()) > 1e-2 * size


def weakly_coupled(modes, seed):
    """Return strengths of which the first two or three are nearly equal, other modes beside, some of them repulsive.

    Of three the first and the last are equal to 8 digits or so, and the one between is weaker by 10^-3 to 10^-5.
    """
    generator = np.random.default_rng([*modes, seed])
    strengths = {
        modes[0]: 1.0,
        modes[1]: 1.0 + generator.choice([-1.0, 1.0]) * 10.0 ** -generator.uniform(4.5, 6.5),
    }
    if len(modes) == 3:
        strengths[modes[1]] = 1.0 - 10.0 ** -generator.uniform(3.0, 5.0)
        strengths[modes[2]] = 1.0 + generator.choice([-1.0, 1.0]) * 10.0 ** -generator.uniform(7.0, 10.0)
    for mode in range(1, max(modes)):
        if mode not in strengths and generator.uniform() < 0.5:
            strengths[mode] = generator.uniform(-0.8, 0.9)
    return tuple(-strengths.get(mode, 0.0) for mode in range(1, max(modes) + 1))


@pytest.mark.parametrize("modes", [(1, 4), (1, 6), (1, 7), (2, 5), (1, 3, 4), (1, 3, 5)])
def test_no_arm_of_a_nearly_perfect_pitchfork_is_lost(modes):
    """The free energy is bounded below: the lowest of all states is stable, and so is the lowest of those found.

    The phases of modes are coupled so weakly that their branches nearly cross within one symmetry.
    """
    for seed in range(4):
        weights = weakly_coupled(modes, seed)
        diagram = bifurcation_diagram(McKeanVlasov(Circle(), CosineSeries(weights)), (1.95, 2.1), rates=False)
        for end in diagram.interval:
            states = [
                (float(branch.free_energy_gap[point]), int(branch.unstable[point]))
                for branch in diagram.branches
                for point in (0, -1)
                if abs(branch.coupling[point] - end) < 1e-9
            ]
            assert min(states)[1] == 0, (weights, end)


@pytest.mark.parametrize("detuning", [(1.0007263910237292, 1.007710036146838), (0.9987, 1.0031), (1.0002, 0.9992)])
def test_states_that_a_search_meets_at_the_end_are_all_on_branches(detuning):
    """Three modes that are nearly critical together have many branches side by side; none is taken for another."""
    problem = McKeanVlasov(Circle(), CosineSeries((0.0, 0.0, -1.0, *(-ratio for ratio in detuning))))
    interval = (1.85, 2.2770583427720448)
    diagram = bifurcation_diagram(problem, interval=interval, rates=False, depth=4, search=True)
    found = [
        branch.free_energy_gap[place]
        for branch in diagram.branches
        for place in (0, -1)
        if abs(branch.coupling[place] - interval[1]) < 1e-9
    ]
    states = stationary_states(problem.at(coupling=interval[1]), rates=False)
    assert len(states) > 8
    for state in states:
        assert min(abs(gap - state.free_energy_gap) for gap in found) < 1e-9


def test_a_branch_is_born_where_the_potential_hardly_feels_its_surroundings():
    """The block that the rotation of the new branch belongs to holds no degree that matters, and is empty."""
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -1e-18)))
    diagram = bifurcation_diagram(problem, interval=(1.0, 4e18), rates=False)
    branch = diagram.branch("2-cluster")
    assert branch.coupling[0] == pytest.approx(2e18, rel=1e-15)
    assert (branch.unstable[1:] > 0).all()
