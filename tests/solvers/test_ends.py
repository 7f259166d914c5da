"""What stands at the ends of branches and beside a diagram: counts, rates, and what is left out."""

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    MaierSaupe,
    McKeanVlasov,
    Outcome,
    Sphere,
    Transformer,
)
from solvers import Arclength, bifurcation_diagram, spectrum, stationary_states
from solvers.circle import CIRCLE
from solvers.linear_algebra.accurate import graded
from tests import brute_force, problems
from tests.campaigns import Verdict, ends_and_rates

EPS = np.finfo(float).eps
# W = -cos t - 1.5 cos 2t: mode 1 becomes critical on the 2-cluster branch.
TWO_MODES = problems.TWO_MODES.problem
SECONDARY = problems.TWO_MODES.exact("secondary coupling")


def own_count(weights, field, branch, point):
    """Unstable directions of a recorded state on the circle among all modes of the potential."""
    space = brute_force.circle(weights, field)
    degrees = space.degrees[: space.degrees.size // 2]
    moments = np.sqrt(2.0) * np.concatenate([branch.cosine[point, degrees], branch.sine[point, degrees]])
    masses = brute_force.gibbs(space, float(branch.coupling[point]), 1.0, moments[None])[0]
    return brute_force.unstable_directions(space, float(branch.coupling[point]), 1.0, masses)[0]


@pytest.mark.parametrize("field", [(), (0.0, 0.01)])
@pytest.mark.parametrize("end", [1.4457, 1.45, 1.46, 1.5])
def test_every_point_has_its_own_count(end, field):
    """Also the end right after a branch point, and points inserted where a branch is short."""
    weights = (-1.0, -1.5)
    problem = McKeanVlasov(Circle(), CosineSeries(weights), confinement=CosineSeries(field) if field else None)
    diagram = bifurcation_diagram(problem, (1.42, end), rates=False)
    for branch in diagram.branches:
        if branch.symmetry == 0:
            continue
        ordinary = [point for point, label in enumerate(branch.point_labels) if label in ("", "EP", "TR")]
        if branch.outcome is Outcome.JOINED_BRANCH:
            ordinary.remove(len(branch) - 1)
        counted = [own_count(weights, field, branch, point) for point in ordinary]
        assert branch.unstable[ordinary].tolist() == counted


@pytest.mark.parametrize("index", range(8))
def test_random_problems_have_the_counts_of_brute_force(index):
    finding = ends_and_rates.counts_at_ends(np.random.default_rng([11, index]))
    assert finding.verdict is Verdict.RIGHT, finding.detail


def test_a_warning_names_the_part_of_a_branch_that_it_means():
    """The branch leaves the interval at its lower end and comes back: two parts, the second unfinished."""
    diagram = bifurcation_diagram(
        problems.TRANSFORMER.problem, relative=(0.95, 1.3), rates=False, method=Arclength(max_points=30)
    )
    assert [branch.label for branch in diagram.branches] == ["uniform", "1-cluster", "1-cluster (2)"]
    (warning,) = diagram.warnings
    assert warning.startswith("1-cluster (2): the branch was left unfinished")


@pytest.mark.parametrize(
    ("depth", "named"),
    [
        (0, ("uniform", f"{problems.TWO_MODES.exact('critical coupling'):.12g}")),
        (1, ("2-cluster", f"{SECONDARY:.12g}")),
    ],
)
def test_branches_beyond_the_depth_are_named(depth, named):
    found = bifurcation_diagram(TWO_MODES, (1.2, 1.6), depth=depth, rates=False).warnings
    # Without branches nothing shows that the one cluster born of two is within, which may turn back from beyond.
    warning, *others = found
    assert ["none of these leads to" in each for each in others] == [True] * (depth == 0)
    assert all(part in warning for part in (*named, f"--depth {depth + 1}"))
    assert not bifurcation_diagram(TWO_MODES, (1.2, 1.6), depth=2, rates=False).warnings


def test_a_branch_that_arrives_at_a_branch_point_is_not_beyond_the_depth():
    """The 2-cluster's branch point within depth 1 is where the 1-cluster ends, at less than the first harmonic's."""
    problem = problems.NEARLY_RESONANT.problem
    diagram = bifurcation_diagram(problem, (1.9, 2.2), depth=1, rates=False)
    joined = [branch for branch in diagram.branches if branch.outcome.name == "JOINED_BRANCH"]
    assert bool(joined) != any("beyond depth" in warning for warning in diagram.warnings)


def test_states_without_an_axis_in_more_dimensions_are_named():
    diagram = bifurcation_diagram(McKeanVlasov(Sphere(5), MaierSaupe()), relative=(0.8, 1.2), rates=False)
    (warning,) = diagram.warnings
    assert f"{float(diagram.critical_coupling):.12g}" in warning
    assert "on the ordinary sphere and for laws with a Gibbs map only" in warning


@pytest.mark.parametrize(
    ("problem", "interval"),
    [
        (problems.KURAMOTO.problem, (1.0, 4.0)),
        (problems.TRANSFORMER.problem, (0.15, 0.4)),
        (problems.BOUNDED_CONFIDENCE.problem, (1.0, 3.0)),
        (problems.NEMATIC.problem, (6.0, 9.0)),
        (problems.MANY_SPINS.problem, (6.0, 12.0)),
        # Strictly convex: the confinement's state is the only one.
        (problems.IN_A_FIELD.problem, (0.1, 0.9)),
    ],
)
def test_complete_diagrams_have_no_warnings(problem, interval):
    assert not bifurcation_diagram(problem, interval).warnings


def test_branches_that_nothing_leads_to_are_not_passed_over():
    """A field and modes beyond their thresholds: the search is at the ends only, and more than three modes mix."""
    fielded = McKeanVlasov(Circle(), CosineSeries((-1.0, -1.2)), confinement=CosineSeries((0.1,)))
    assert any("at the ends of the interval only" in w for w in bifurcation_diagram(fielded, (0.5, 3.0)).warnings)
    mixed = McKeanVlasov(Circle(), CosineSeries((-0.689, -0.229, -1.426, -0.875, -0.548)), noise=0.7)
    assert any("were not looked for" in w for w in bifurcation_diagram(mixed, (1.6, 3.3), rates=False).warnings)


def test_isolated_branches_beside_three_thresholds_are_not_passed_over():
    """Ordered modes that attract, without any secondary branch point: two states are on no branch that is followed."""
    problem = McKeanVlasov(Circle(), CosineSeries((-1.854, -1.2, -0.746)), noise=1.41)
    diagram = bifurcation_diagram(problem, (2.3, 3.93), rates=False)
    states = stationary_states(problem.at(coupling=3.93), rates=False)
    ends = {round(float(branch.free_energy_gap[-1]), 9) for branch in diagram.branches}
    assert {round(float(state.free_energy_gap), 9) for state in states} > ends
    assert any("were not looked for (--search), and there may be some" in warning for warning in diagram.warnings)
    searched = bifurcation_diagram(problem, (2.3, 3.93), rates=False, search=True)
    assert "1-cluster from the search" in [branch.label for branch in searched.branches]


def test_the_rate_at_a_fold_located_to_the_last_digit_is_zero():
    diagram = bifurcation_diagram(McKeanVlasov(Circle(), Transformer(4.377551020408163)), relative=(0.5, 1.2))
    (fold,) = diagram.events("fold")
    state = diagram.state(fold.branch, fold.point)
    assert state.slowest_rate == 0.0
    assert abs(spectrum(state).slowest_rate) < 1e-12
    assert not diagram.warnings


def test_rates_at_branch_points_known_exactly_are_known_too():
    diagram = bifurcation_diagram(problems.NEARLY_RESONANT.problem, (0.99, 3.9))
    assert all(np.isfinite(branch.slowest_rate).all() for branch in diagram.branches)
    assert diagram.warnings == ()


@pytest.mark.parametrize("seed", range(6))
def test_eigenvalues_of_a_singular_product(seed):
    """An exactly singular inner factor, as at a fold: the product has the eigenvalue zero."""
    rng = np.random.default_rng(seed)
    size = 6
    inner = np.diag([0.0, *rng.integers(1, 9, size - 1)]).astype(float)
    # Sums of rows and columns by integers keep the singularity exact.
    shear = np.eye(size)
    shear[0, 1:] = rng.integers(-3, 4, size - 1)
    inner = shear.T @ inner @ shear
    sizes = 10.0 ** -np.linspace(0, 2, size)
    values, vectors, errors = graded(sizes, inner)
    exact = -(sizes[:, None] * inner * sizes)
    assert np.abs(values).min() <= 8 * EPS * np.abs(values).max()
    assert np.abs(exact @ vectors - vectors * values).max() <= 64 * EPS * np.abs(values).max()
    assert errors.shape == values.shape


class _Unforeseen(Exception):
    """An exception that nobody expects."""


def _raising(*arguments, **options):
    raise _Unforeseen("on purpose")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            "solvers.circle.CircleGeometry.slowest_rates",
            "(2-cluster, 1-cluster from 2-cluster) could not be computed",
        ),
        ("solvers.diagram.provenance", "the provenance is not known"),
        ("solvers.diagram.mark_exchanges", "couplings of equal free energy"),
        ("solvers.branches.walk.warn_of_omissions", "branches left out"),
        ("solvers.branches.recording._filled", "points between its own are missing"),
        ("solvers.circle.CircleGeometry.search_all", "the search for states at coupling"),
        ("solvers.branches.exchange._bracket", "which could not be decided"),
    ],
)
def test_nothing_beside_a_diagram_takes_it_away(monkeypatch, target, said):
    problem = problems.TWO_MODES.problem
    plain = bifurcation_diagram(problem, (1.2, 1.6), search=True)
    monkeypatch.setattr(target, _raising)
    diagram = bifurcation_diagram(problem, (1.2, 1.6), search=True)
    assert [branch.label for branch in diagram.branches] == [branch.label for branch in plain.branches]
    assert any(said in warning and "on purpose" in warning for warning in diagram.warnings)
    if target.endswith("slowest_rates"):
        for branch in diagram.branches[1:]:
            # That of a fold is zero without any computation.
            assert np.isnan(branch.slowest_rate[np.array(branch.point_labels) != "LP"]).all()
    assert "Warnings" in diagram.summary()


def test_a_rate_that_fails_takes_no_other_away(monkeypatch):
    problem, interval = problems.TWO_MODES.problem, (1.2, 1.6)
    together = CIRCLE.slowest_rates

    def failing_at_the_end(states):
        if any(state.problem.coupling == interval[1] for state in states):
            raise _Unforeseen("on purpose")
        return together(states)

    plain = bifurcation_diagram(problem, interval)
    monkeypatch.setattr("solvers.circle.CircleGeometry.slowest_rates", staticmethod(failing_at_the_end))
    diagram = bifurcation_diagram(problem, interval)
    for branch, whole in zip(diagram.branches[1:], plain.branches[1:], strict=True):
        lost = branch.coupling == interval[1]
        assert lost.any()
        np.testing.assert_array_equal(np.isnan(branch.slowest_rate), lost | np.isnan(whole.slowest_rate))


@pytest.mark.parametrize("first", [0.67, 0.66, 0.62, -0.32, 0.05])
def test_a_branch_that_passes_the_uniform_state_ends_on_the_one_it_meets(first):
    """Near a triple resonance 1-clusters end on the 2-cluster, at an amplitude of 2e-3, where its branch points are."""
    weights = (first, -1.0, -1.001, -0.999)
    diagram = bifurcation_diagram(McKeanVlasov(Circle(), CosineSeries(weights)), (1.9, 2.1), rates=False)
    met = [point.coupling for point in diagram.events("branch point")]
    for index, branch in enumerate(diagram.branches):
        if branch.outcome is Outcome.JOINED_BRANCH:
            assert np.abs(np.array(met) / branch.coupling[-1] - 1.0).min() < 1e-11
        if branch.symmetry:
            # A count changes at special points only, and no point is one of the uniform state.
            events = [point.point for point in diagram.special_points if point.branch == index]
            changes = np.flatnonzero(np.diff(branch.unstable)) + 1
            assert all(min(abs(change - event) for event in events) <= 1 for change in changes)
            assert np.abs(branch.cosine[1:, 1:]).max(axis=1).min() > 1e-6
