"""The first point of a new branch: nothing is hidden between it and the branch point, however near the next event is."""

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, GegenbauerSeries, McKeanVlasov, Sphere
from solvers import bifurcation_diagram
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

    @pytest.mark.parametrize("dimension", [3, 4, 5, 8])
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
@pytest.mark.parametrize("detuning", [1e-8, 1e-10, -1e-12, 1e-14])
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
