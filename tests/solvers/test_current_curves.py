"""Densities that carry a current along any parameter, and curves of their folds and branch points."""

import numpy as np
import pytest

from meanfield import (
    Circle,
    CommonFrequency,
    ContinuityEquation,
    CosineSeries,
    External,
    InvalidInput,
    Kuramoto,
    NormalisedAttention,
    Outcome,
    PhaseLag,
    SoftmaxAttention,
    Transformer,
)
from solvers import bifurcation_diagram, curve
from solvers.equations.current import MOST
from solvers.two_parameters.in_plane.at_place import state_at
from solvers.two_parameters.in_plane.plane import Plane
from solvers.two_parameters.in_plane.unknowns import uneven_basis
from tests import oracles

EPS = np.finfo(float).eps
# Active rotators with a second mode in one well.
ROTATORS = ContinuityEquation(
    Circle(), CommonFrequency(CosineSeries((-1.0, -0.5)), 0.3), coupling=3.0, confinement=External(cosine=(0.4,))
)
# A field of two wells, from whose state of two-fold symmetry clusters are born.
WELLS = ContinuityEquation(
    Circle(), CommonFrequency(CosineSeries((-1.0, -0.3)), 0.2), confinement=External(cosine=(0.0, 0.5))
)
FIELD = External(cosine=(0.3, 0.1), sine=(0.0, 0.2))
POINTS = 127


def neutral(problem, cosine, sine):
    """Return the largest change of a density, and the two least singular values among changes of mean zero."""
    change, jacobian, _ = oracles.collocated_at_rest(problem, cosine, sine, POINTS)
    sizes = np.linalg.svd(jacobian @ oracles.of_mean_zero(POINTS), compute_uv=False)
    return np.abs(change).max(), sizes[-1], sizes[-2]


ALONG = {
    "frequency": (ROTATORS, (0.0, 2.0)),
    "noise": (ROTATORS.replace(coupling=2.0), (0.6, 1.5)),
    "lag": (ContinuityEquation(Circle(), PhaseLag(Kuramoto(), 0.4), coupling=1.5, confinement=FIELD), (-0.3, 1.2)),
    "w2": (ROTATORS.replace(coupling=1.5), (-1.0, 0.5)),
    "confinement_sine2": (
        ContinuityEquation(Circle(), PhaseLag(Transformer(2.0), 0.4), coupling=0.8, confinement=FIELD),
        (-0.2, 0.4),
    ),
    "confinement_external_factor": (
        ContinuityEquation(Circle(), NormalisedAttention(2.0), noise=0.8, coupling=0.7, confinement=FIELD),
        (-1.0, 1.0),
    ),
    "beta": (
        ContinuityEquation(
            Circle(), CommonFrequency(PhaseLag(SoftmaxAttention(1.5), -0.4), 0.2), coupling=1.0, confinement=FIELD
        ),
        (0.8, 2.5),
    ),
}


@pytest.mark.parametrize("name", ALONG)
def test_states_along_a_parameter_are_those_of_the_coupling(name):
    problem, interval = ALONG[name]
    diagram = bifurcation_diagram(problem, interval, parameter=name, rates=False)
    (*_, branch) = [each for each in diagram.branches if each.label == "primary"]
    assert {interval[0], interval[1]} & {branch.values[0], branch.values[-1]}
    for row in np.linspace(1, len(branch) - 2, 4).astype(int):
        there = problem.with_parameter(name, float(branch.values[row]))
        change, _, _ = oracles.collocated_at_rest(there, branch.cosine[row], branch.sine[row], POINTS)
        assert np.abs(change).max() < 1e-11 * POINTS**2
    assert np.isfinite(branch.observables["mean_velocity"]).all()


@pytest.fixture(scope="module")
def fold():
    diagram = bifurcation_diagram(ROTATORS, (0.0, 2.0), parameter="frequency", rates=False)
    (found,) = diagram.events("fold")
    return found


@pytest.mark.parametrize(
    ("name", "interval"),
    [("coupling", (1.5, 6.0)), ("noise", (0.5, 1.5)), ("confinement_cosine1", (0.1, 1.0)), ("w2", (-1.0, 0.0))],
)
def test_points_of_fold_curves_have_a_neutral_direction(fold, name, interval):
    found = curve(fold, name, interval)
    assert {found.outcome, found.first_outcome} == {Outcome.LEFT_INTERVAL}
    assert found.parameters == (name, "frequency")
    for row in range(0, len(found), max(1, len(found) // 6)):
        change, one, other = neutral(found.point(row).problem, found.cosine[row], found.sine[row])
        assert change < 1e-11 * POINTS**2
        assert one < 1e-9 * other


def test_fold_curves_are_those_of_diagrams_in_the_frequency(fold):
    found = curve(fold, "coupling", (2.6, 6.0))
    for row in (1, len(found) // 2, len(found) - 2):
        frequency = float(found.second[row])
        near = frequency - 0.2, frequency + 0.2
        there = bifurcation_diagram(found.point(row).problem, near, parameter="frequency", rates=False)
        assert min(abs(event.value - frequency) for event in there.events("fold")) < 1e-12


def test_slopes_of_fold_curves_are_those_of_their_points(fold):
    found = curve(fold, "w2", (-0.55, -0.45))
    middle = len(found) // 2
    first, second = float(found.first[middle]), float(found.second[middle])
    beside = [curve(found.point(middle), "w2", (first - step, first + step)) for step in (2e-3, 1e-3)]
    one, other = ((each.second[-1] - each.second[0]) / (each.first[-1] - each.first[0]) for each in beside)
    assert found.slope[middle] == pytest.approx((4.0 * other - one) / 3.0, rel=1e-9)
    assert second == pytest.approx(beside[0].second[np.argmin(np.abs(beside[0].first - first))], rel=1e-12)


def test_a_curve_passes_the_frequency_zero_and_is_its_own_mirror_image(fold):
    """Both cusps are images of each other by reflection, under which the frequency changes its sign."""
    found = curve(fold, "coupling", (1.5, 6.0))
    one, other = [point for point in found.special_points if point.type == "cusp"]
    assert one.values[0] == pytest.approx(other.values[0], rel=1e-9)
    assert one.values[1] == pytest.approx(-other.values[1], rel=1e-9)
    assert found.second.min() < 0.0 < found.second.max()


def test_where_curves_of_oscillations_begin_the_growth_rate_zero_is_a_double_one(fold):
    """Its two eigenvalues are known to the root of rounding, as of a Jordan block, and one is left at other folds."""
    found = curve(fold, "coupling", (1.5, 6.0))
    points = [point for point in found.special_points if point.type == "Bogdanov-Takens"]
    assert [point.status for point in points] == ["converged"] * 2
    assert points[0].values == pytest.approx(points[1].values * [1.0, -1.0], rel=1e-10)
    of_mean_zero = oracles.of_mean_zero(POINTS)
    for point, count in ((points[0], 2), (found.point(2), 1)):
        _, jacobian, _ = oracles.collocated_at_rest(point.problem, point.cosine, point.sine, POINTS)
        rates = np.linalg.eigvals(of_mean_zero.T @ jacobian @ of_mean_zero)
        assert np.count_nonzero(np.abs(rates) < 1e-5) == count
        assert np.count_nonzero(np.abs(rates) < 1e-1) == count
    again = curve(points[0], "noise", (0.8, 1.2), against="coupling")
    assert again.type == "fold"


@pytest.fixture(scope="module")
def births():
    diagram = bifurcation_diagram(WELLS, (0.0, 6.0), rates=False)
    return curve(diagram.events("branch point")[0], "frequency", (0.05, 0.38))


def test_branch_points_of_states_of_two_wells(births):
    assert births.type == "branch point"
    for row in range(1, len(births), 5):
        change, one, other = neutral(births.point(row).problem, births.cosine[row], births.sine[row])
        assert change < 1e-11 * POINTS**2
        assert one < 1e-9 * other


def test_branches_turn_at_tricritical_points(births):
    """Beside one a fold of the born branch is as far from the branch point as the square of the distance."""
    (end,) = [point for point in births.special_points if point.type == "tricritical"]
    folds = curve(end, "frequency", (0.05, 0.38), type="fold")
    assert min(np.abs(point.values / end.values - 1.0).max() for point in folds.special_points) < 1e-9
    row = len(folds) // 2
    change, one, other = neutral(folds.point(row).problem, folds.cosine[row], folds.sine[row])
    assert change < 1e-11 * POINTS**2
    assert one < 1e-9 * other


def test_the_law_itself_stands_where_lag_and_frequency_are_zero():
    law = CommonFrequency(PhaseLag(Kuramoto(), 0.4), 0.2)
    assert law.with_parameter("frequency", 0.0) == PhaseLag(Kuramoto(), 0.4)
    assert law.with_parameter("lag", 0.0).lag == 0.0
    assert PhaseLag(Kuramoto(), 0.4).with_parameter("lag", 0.0).potential == Kuramoto()


def test_derivatives_of_lagged_multipliers_are_differences():
    for law in (PhaseLag(Transformer(1.5), 0.7), PhaseLag(NormalisedAttention(1.5), -0.3)):
        for name in ("lag", "beta"):
            value, step = law.parameter_values()[name], 1e-4
            potential = law.at_uniform(Circle())
            after, before = (
                law.with_parameter(name, value + side * step).at_uniform(Circle()).multipliers(Circle(), 6)
                for side in (1.0, -1.0)
            )
            assert potential.multiplier_derivatives(name, Circle(), 6) == pytest.approx(
                (after - before) / (2.0 * step), abs=1e-7
            )


def test_a_parameter_on_which_nothing_depends_is_refused(fold):
    with pytest.raises(InvalidInput, match="confinement_sine1"):
        curve(fold, "confinement_sine1", (-0.1, 0.1))


def test_states_of_more_nodes_than_the_dense_equation_has_are_left():
    """The linear equation of a drift of all degrees has as many rows as twice the nodes, and grows with their cube."""
    law, field = NormalisedAttention(2.0), External(cosine=(0.3, 0.1), sine=(0.0, 0.2))
    problem = ContinuityEquation(Circle(), law, noise=0.5, coupling=0.6, confinement=field)
    plane = Plane(problem, ("beta", "coupling"), (1.0, 3.0), 1.0, 0.0, None, np.arange(1, 33))
    branch = bifurcation_diagram(problem, (0.0, 0.6), rates=False).branches[0]
    lengths = np.hypot(branch.cosine[-1], branch.sine[-1])
    basis = uneven_basis(plane, lengths, plane.coordinates(2.0, 0.6))
    moments = branch.cosine[-1] - 1j * branch.sine[-1]
    unknown = basis.means_from(moments) / basis.degrees
    state = state_at(plane, basis, plane.coordinates(2.0, 0.6), unknown)
    assert np.abs(state.residual).max() < 1e-13
    assert state.most_nodes == MOST < basis.most_nodes
