"""Curves of thresholds, folds and branch points of rotating waves, and their phase diagrams."""

import numpy as np
import pytest

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    InvalidInput,
    NormalisedAttention,
    Outcome,
    PhaseLag,
    Transformer,
)
from meanfield.potentials import LEAST_VALUE
from solvers import bifurcation_diagram, curve, phase_diagram
from solvers.two_parameters import start_of
from solvers.two_parameters.in_plane.at_place import state_at
from solvers.two_parameters.systems.starts import located, plane_of
from tests import oracles

EPS = np.finfo(float).eps
# Two clusters of one wave become one of another through a fold.
WAVES = ContinuityEquation(Circle(), PhaseLag(CosineSeries((-1.0, -0.9, -0.4)), 0.2))
POINTS = 101
ANGLES = 2.0 * np.pi * np.arange(POINTS) / POINTS


def neutral(problem, cosine, sine):
    """Return the largest change of a wave in its frame, and the two least singular values but that of rotations.

    Among changes of mean zero, orthogonal to rotations, and of the speed of the frame.
    """
    change, jacobian, slope = oracles.collocated_at_rest(problem, cosine, sine, POINTS)
    others = np.linalg.svd(np.array([np.ones(POINTS), slope]))[2][2:].T
    sizes = np.linalg.svd(np.column_stack([jacobian @ others, slope / np.linalg.norm(slope)]), compute_uv=False)
    return np.abs(change).max(), sizes[-1], sizes[-2]


@pytest.fixture(scope="module")
def diagram():
    return bifurcation_diagram(WAVES, relative=(0.4, 1.8), rates=False)


@pytest.fixture(scope="module")
def folds(diagram):
    return curve(diagram.events("fold")[0], "lag", (-0.1, 0.7))


@pytest.fixture(scope="module")
def births(diagram):
    (*_, born) = diagram.events("branch point")
    return curve(born, "lag", (-0.1, 0.7))


@pytest.mark.parametrize("kind", ["fold", "branch point"])
@pytest.mark.parametrize(("name", "interval"), [("noise", (0.6, 1.5)), ("w2", (-1.0, -0.7)), ("w3", (-0.5, -0.2))])
def test_points_of_curves_have_a_neutral_direction(diagram, kind, name, interval):
    found = curve(diagram.events(kind)[-1], name, interval)
    assert {found.outcome, found.first_outcome} == {Outcome.LEFT_INTERVAL}
    for row in range(0, len(found), max(1, len(found) // 5)):
        change, one, other = neutral(found.point(row).problem, found.cosine[row], found.sine[row])
        assert change < 1e-11 * POINTS**2
        assert one < 1e-9 * other


@pytest.mark.parametrize("name", ["folds", "births"])
def test_points_along_the_lag_have_a_neutral_direction(request, name):
    found = request.getfixturevalue(name)
    for row in range(1, len(found), max(1, len(found) // 6)):
        problem = found.point(row).problem
        change, one, other = neutral(problem, found.cosine[row], found.sine[row])
        assert change < 1e-11 * POINTS**2 * problem.coupling
        assert one < 1e-9 * other


def test_points_are_those_of_diagrams_at_other_lags(folds, births):
    for row in (len(folds) // 4, len(folds) // 2):
        lag = float(folds.first[row])
        branch_point = float(curve(births.point(1), "lag", (-0.1, lag)).second[-1])
        problem = WAVES.replace(velocity=PhaseLag(CosineSeries((-1.0, -0.9, -0.4)), lag))
        there = bifurcation_diagram(problem, relative=(0.4, 1.8), rates=False)
        assert there.events("fold")[0].coupling == pytest.approx(float(folds.second[row]), rel=1e-12)
        assert there.events("branch point")[-1].coupling == pytest.approx(branch_point, rel=1e-12)


def test_curves_through_the_lag_zero_are_their_own_mirror_images(folds, births):
    for found in (folds, births):
        again = curve(found.point(1), "lag", (-0.1, 0.1))
        one, other = (float(np.interp(side, again.first, again.second)) for side in (-0.1, 0.1))
        assert one == pytest.approx(other, rel=1e-11)
    ends = [point for point in births.special_points if point.type == "tricritical" and abs(point.values[0]) < 0.1]
    assert ends[0].values == pytest.approx(ends[1].values * [-1.0, 1.0], rel=1e-10)


def test_folds_end_where_the_branch_born_turns(folds, births):
    """The end of one curve is located on the other, by third derivatives."""
    (end,) = [point for point in folds.special_points if point.type == "tricritical"]
    assert end.status == "converged"
    assert folds.outcome is Outcome.JOINED_BRANCH
    assert min(np.abs(point.values / end.values - 1.0).max() for point in births.special_points) < 1e-11
    # The distance of folds from the branch points at the same lag falls like the square of that from the end.
    gaps = []
    for share in (0.02, 0.01):
        lag = float(end.values[0]) - share
        beside = [curve(found.point(1), "lag", (-0.1, lag)).second[-1] for found in (folds, births)]
        gaps.append(beside[1] - beside[0])
    assert gaps[0] / gaps[1] == pytest.approx(4.0, rel=0.05)


def test_the_growth_rate_zero_is_a_double_one_beside_that_of_rotations(births):
    """Of the odd degrees, which rotations have not, one rate vanishes at other branch points."""
    (double,) = [point for point in births.special_points if point.type == "Bogdanov-Takens"]
    odd = np.array([wave(degree * ANGLES) for degree in range(1, POINTS // 2, 2) for wave in (np.cos, np.sin)]).T
    odd /= np.sqrt(0.5 * POINTS)
    for point, count in ((double, 2), (births.point(len(births) // 4), 1)):
        _, jacobian, _ = oracles.collocated_at_rest(point.problem, point.cosine, point.sine, POINTS)
        rates = np.linalg.eigvals(odd.T @ jacobian @ odd)
        assert np.count_nonzero(np.abs(rates) < 1e-5) == count
        assert np.count_nonzero(np.abs(rates) < 3e-2) == count
    assert curve(double, "noise", (0.9, 1.1), against="coupling").type == "branch point"
    near = float(double.values[0]) - 1e-3, float(double.values[0]) + 1e-3
    assert curve(double, "lag", near, type="branch point").type == "branch point"
    with pytest.raises(InvalidInput, match=r"no curve of the type 'fold' .* on a curve of branch points"):
        curve(double, "lag", near, type="fold")


def test_thresholds_are_those_of_the_formula(diagram):
    """Mode k is critical where the coupling is its critical one without a lag over cos(k lag)."""
    for mode, weight in ((1, 1.0), (2, 0.9)):
        start = diagram.events("branch point")[mode - 1]
        found = curve(start, "lag", (-0.3, 0.7))
        assert found.second * np.cos(mode * found.first) == pytest.approx(2.0 / weight, rel=64 * EPS)
        assert found.slope == pytest.approx(
            2.0 * mode / weight * np.sin(mode * found.first) / np.cos(mode * found.first) ** 2, rel=1e-12, abs=1e-12
        )
        assert not found.warnings


@pytest.mark.parametrize(
    "law",
    [
        PhaseLag(CosineSeries((-1.0, -0.9)), 0.3),
        PhaseLag(Transformer(2.0), -0.2),
        PhaseLag(NormalisedAttention(2.0), 0.3),
    ],
)
@pytest.mark.parametrize("names", [("lag", "coupling"), ("noise", "lag")])
def test_derivatives_of_the_stationary_equation_of_waves_are_differences(law, names):
    problem = ContinuityEquation(Circle(), law)
    branch = bifurcation_diagram(problem, relative=(0.5, 1.6), rates=False, depth=1).branches[1]
    row = len(branch) // 2
    there = problem.at(coupling=float(branch.coupling[row]))
    start = start_of(
        bifurcation_diagram(problem, relative=(0.5, 1.2), rates=False, depth=1).events("branch point")[0]
    )
    start = start._replace(problem=there, kind="fold", first=(branch.cosine[row], branch.sine[row]))
    plane = plane_of(start, names, (-0.5, 1.5))
    (x, q), basis, unknown = located(start, plane, start.first)
    # Beside a wave too: derivatives are those of the map, which keeps the phase condition everywhere.
    unknown = unknown + 0.03 * np.random.default_rng(3).normal(size=unknown.size) / basis.degrees
    chi, changes = np.random.default_rng(4).normal(size=(2, unknown.size)) / basis.degrees**2
    state, step = state_at(plane, basis, (x, q), unknown), 2e-4
    weights = state.weighted.weights

    def quotients(function):
        """Return the derivatives of a function of unknown, x and q, by differences of the fourth order."""
        found = []
        for unit in np.eye(unknown.size + 2):
            pairs = [
                function(unknown + side * weights * unit[:-2], x + side * unit[-2], q + side * unit[-1])
                for side in (step, -step, 2.0 * step, -2.0 * step)
            ]
            found.append((8.0 * (pairs[0] - pairs[1]) - (pairs[2] - pairs[3])) / (12.0 * step))
        return np.array(found[:-2]), np.array(found[-2:])

    def means(unknown, x, q):
        return state_at(plane, basis, (x, q), unknown).means

    def response(unknown, x, q):
        return chi @ (changes @ state_at(plane, basis, (x, q), unknown).responses)

    along, in_place = quotients(means)
    assert state.responses == pytest.approx(along, abs=1e-8 * np.abs(along).max())
    assert -state.slopes / weights == pytest.approx(in_place, abs=1e-8 * np.abs(in_place).max())
    along, in_place = quotients(response)
    found = state.response_slopes(chi, changes)
    assert found[0] == pytest.approx(along, abs=1e-8 * np.abs(along).max())
    assert found[1] == pytest.approx(in_place, abs=1e-8 * np.abs(in_place).max())
    # The left null vector of rotations is orthogonal to what the equation leaves, at every unknown.
    left = state.unknown - weights * state.means
    assert abs(float(state.left_null[:, 0] @ left)) < 16 * EPS


@pytest.mark.parametrize("interval", [(0.1, 0.5), (0.0, 0.5), (-0.4, 0.4)])
def test_phase_diagrams_of_waves(interval):
    """Of the two modes the second never acts on stable states; also where the lag is zero at an end or a section."""
    problem = ContinuityEquation(Circle(), PhaseLag(CosineSeries((-1.0, -0.4)), 0.3))
    found = phase_diagram(problem, ("lag", interval), relative=(0.6, 1.4), sections=3)
    assert not found.special_points
    (threshold,) = found.curves
    assert threshold.type == "threshold"
    assert (threshold.first[0], threshold.first[-1]) == interval
    assert threshold.coupling * np.cos(threshold.first) == pytest.approx(2.0, rel=64 * EPS)
    assert sorted(region.stable for region in found.regions) == [1, 1]


def test_no_first_order_line_is_looked_for_at_a_cusp_of_waves():
    """Without a free energy there is none that could end there."""
    found = phase_diagram(WAVES, ("lag", (0.105, 0.125)), relative=(0.9, 1.1), sections=1, examine=False)
    assert {point.type for point in found.special_points} == {"cusp", "tricritical"}
    assert not any("line" in warning for warning in found.warnings)


def test_a_parameter_that_leaves_the_law_at_zero_is_kept_as_the_least_number():
    found = WAVES.keeping_parameter("lag", 0.0)
    assert found.parameters["lag"] == LEAST_VALUE
    assert WAVES.with_parameter("lag", 0.0).velocity.lag == 0.0
    assert WAVES.keeping_parameter("w2", 0.0) == WAVES.with_parameter("w2", 0.0)
    assert WAVES.keeping_parameter("lag", 0.1) == WAVES.with_parameter("lag", 0.1)


def test_what_a_phase_diagram_has_not_is_refused():
    with pytest.raises(InvalidInput, match="lag"):
        phase_diagram(WAVES, ("lagg", (0.1, 0.2)), relative=(0.6, 1.2))
