"""Diagrams with many branches near each other contradict themselves nowhere: counts, arclengths, stretches in common.

The problems are those of random ones, see :mod:`tests.campaigns.diagrams`, that did.
"""

from dataclasses import replace

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, Diagram, External, GegenbauerSeries, McKeanVlasov, Outcome, Sphere
from solvers import bifurcation_diagram
from solvers.circle import uneven
from tests.campaigns.diagrams import consistent, same_in_finer_steps
from tests.consistency import contradictions


def diagram(coefficients, field, interval):
    problem = McKeanVlasov(Circle(), CosineSeries(coefficients), confinement=field and External(field))
    return bifurcation_diagram(problem, interval, search=True, rates=False)


@pytest.mark.parametrize(
    ("coefficients", "field", "interval"),
    [
        # A branch leaves nearly along its parent: its first arclength is a distance, not an amplitude.
        ((-1.0197, -0.8371, -1.0115, -1.2833), "-0.0286*cos(3*(t-2.672))", (0.66, 3.36)),
        # Two more symmetric states near the end of a branch, 4e-4 from each other.
        ((-0.9858, -0.9886, -1.0003, -1.013), "0.0358*cos(3*t)-0.0225*cos(6*t)", (0.86, 3.36)),
        # Branches without an axis pass through one of three clusters; one that leads to another's upper end.
        ((-0.506, -1.0143, -1.1562), "0.0154*cos(3*t)-0.0309*cos(6*t)", (0.43, 2.56)),
        ((-1.0048, -0.9868, -0.9974, -0.9848), "-0.0097*cos(3*t)-0.0613*cos(6*t)", (0.77, 2.95)),
        # States without an axis in no field, which must not be turned from point to point.
        ((-0.9588, -1.0371, -1.134, -0.7445, -0.8933), None, (0.62, 2.87)),
        # The end of such a branch, turned, is on its cubic.
        ((-0.779, -0.68, -0.838, -0.906, -1.018), None, (1.5, 2.43)),
        ((-1.05, -0.951, -1.072, -0.992, -0.673), None, (1.5, 3.02)),
        # The more symmetric state at the end of such a branch is turned by 1e-4 against the branch.
        pytest.param(
            *((-0.9058, -1.1339, -1.0499, -0.8602), None, (1.23, 3.34)),
            marks=pytest.mark.xfail(
                strict=True, reason="the last point is turned to the one before, not to the arc"
            ),
        ),
        # The free energy passes that of the uniform state right behind the point at which a branch is born.
        ((-0.603, -0.642), None, (1.5558, 3.7912)),
        ((-1.087, -0.42, -0.497, -1.111, -0.998), None, (1.7721, 4.3196)),
    ],
)
def test_diagrams_found_to_contradict_themselves(coefficients, field, interval):
    found = diagram(coefficients, field, interval)
    assert contradictions(found) == []
    assert not any("without a located event" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("problem", "parameter", "interval", "label"),
    [
        # On two clusters odd modes do not act.
        (McKeanVlasov(Circle(), CosineSeries((-0.5, -1.0, -0.3))), "w1", (-0.9, -0.1), "2-cluster"),
        # The state turns with the field.
        (
            McKeanVlasov(
                Circle(), CosineSeries((-1.0,)), confinement=External.from_expression("-0.3*cos(t-phi)", phi=0.0)
            ),
            "confinement_phi",
            (-1.0, 1.0),
            "primary",
        ),
    ],
)
def test_a_branch_with_one_state_at_both_ends_is_whole(problem, parameter, interval, label):
    found = bifurcation_diagram(problem.at(coupling=3.0), interval, parameter=parameter, rates=False)
    assert not any("its own image" in warning for warning in found.warnings)
    (branch,) = (branch for branch in found.branches if branch.label == label)
    assert {branch.values[0], branch.values[-1]} == set(interval)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_random_diagrams(seed):
    finding = consistent(np.random.default_rng([52, seed]))
    assert finding.detail == "", finding.call


def test_a_branch_point_in_the_last_step_before_a_more_symmetric_state_is_located():
    coefficients = np.array([-0.9965, -0.9392, -1.0068, -1.0333, -0.9828])
    found = diagram(tuple(coefficients), "-0.0284*cos(2*t)+0.1838*cos(4*t)", (0.84, 3.42))
    assert contradictions(found) == []
    (branch,) = (branch for branch in found.branches if branch.label == "uneven 2-cluster from the search")
    places = [place for place, label in enumerate(branch.point_labels) if label == "BP"]
    assert branch.arclength[-1] - branch.arclength[places[-1]] < 0.03
    angles = 2.0 * np.pi * np.arange(256) / 256
    degrees = np.arange(1, 6)
    waves = np.concatenate([np.cos(np.outer(degrees, angles)), np.sin(np.outer(degrees, angles))])
    field = -0.0284 * np.cos(2.0 * angles) + 0.1838 * np.cos(4.0 * angles)
    weights = np.tile(coefficients, 2)
    for place in places:
        moments = np.concatenate([branch.cosine[place, degrees], branch.sine[place, degrees]])
        masses = np.exp(-branch.coupling[place] * (weights * moments) @ waves - field)
        masses /= masses.sum()
        covariance = (waves * masses) @ waves.T - np.outer(moments, moments)
        linearised = np.eye(10) + branch.coupling[place] * covariance * weights
        assert np.abs(waves @ masses - moments).max() < 1e-13
        assert np.abs(np.linalg.eigvals(linearised)).min() < 1e-11


def test_a_branch_without_an_axis_in_no_field_is_not_turned():
    """The moments along it change as their derivatives, and few points suffice."""
    found = diagram((-0.9588, -1.0371, -1.134, -0.7445, -0.8933), None, (0.62, 2.87))
    (branch,) = (branch for branch in found.branches if branch.label == "uneven 1-cluster from 1-cluster")
    bends = np.diff(branch.sine[:, 2], 2)
    assert np.all(bends[:-1] < 1e-2)
    assert len(branch) < 25


def test_a_branch_whose_end_is_not_found_is_cut_with_a_word(monkeypatch):
    """Without that it would go on over images of its own states to where it begins."""
    whole = diagram((-0.9858, -0.9886, -1.0003, -1.013), "0.0358*cos(3*t)-0.0225*cos(6*t)", (0.86, 3.36))
    monkeypatch.setattr(uneven, "_meeting_even", lambda last, point: None)
    found = diagram((-0.9858, -0.9886, -1.0003, -1.013), "0.0358*cos(3*t)-0.0225*cos(6*t)", (0.86, 3.36))
    said = [warning for warning in found.warnings if "turns back as its own image" in warning]
    assert said
    cut = {warning.split(":")[0] for warning in said}
    joined = {branch.label for branch in whole.branches if branch.outcome is Outcome.JOINED_BRANCH}
    assert {"uneven 1-cluster (2) from the search", "uneven 3-cluster from the search"} <= cut & joined
    assert not any(text.startswith(f"{label} has") for text in contradictions(found) for label in cut)


@pytest.fixture(scope="module")
def plain() -> Diagram:
    return diagram((-1.0, -0.9), None, (1.5, 4.0))


def test_a_missing_event_contradicts(plain):
    index = next(
        i for i, point in enumerate(plain.special_points) if point.type == "branch point" and point.branch > 0
    )
    rest = plain.special_points[:index] + plain.special_points[index + 1 :]
    assert any("unstable directions after" in text for text in contradictions(replace(plain, special_points=rest)))


def test_a_wrong_arclength_contradicts(plain):
    branch = plain.branches[1]
    for arclength in (
        np.where(branch.arclength > 1.0, branch.arclength + 0.1, branch.arclength),
        -branch.arclength,
    ):
        wrong = replace(plain, branches=(plain.branches[0], replace(branch, arclength=arclength)))
        assert any("arclength" in text for text in contradictions(wrong))


def test_a_missing_transition_contradicts(plain):
    place, branch = next((i, each) for i, each in enumerate(plain.branches) if "TR" in each.point_labels)
    gaps = branch.free_energy_gap.copy()
    at = branch.point_labels.index("TR")
    gaps[at] = gaps[at + 1]
    doctored = replace(branch, observables={**branch.observables, "free_energy_gap": gaps})
    branches = (*plain.branches[:place], doctored, *plain.branches[place + 1 :])
    assert any("free energy" in text for text in contradictions(replace(plain, branches=branches)))


def test_a_branch_that_is_there_twice_contradicts(plain):
    twice = replace(plain, branches=(*plain.branches, replace(plain.branches[1], label="another")))
    assert any("in a row" in text for text in contradictions(twice))


@pytest.mark.parametrize(
    ("coefficients", "field", "interval"),
    [
        # Two pairs of directions become stable on the branch of five clusters and unstable again, within one step.
        ((-1.073, -1.13, -1.149, -0.795, -1.088), None, (0.8, 2.59)),
        ((-0.791, -1.099, -0.551, -0.837, -0.939), (0.031, 0.076, -0.043), (0.8, 3.59)),
        # The last point of a branch is beside the more symmetric state at which it ends.
        ((-0.957, -0.982, -0.613, -0.619, -0.821), (-0.063, -0.003, -0.044), (0.8, 3.79)),
        # Two directions change one after the other on the two sides of a fold, within one step.
        ((-0.787, -0.751, -0.88, -1.13), (-0.007, -0.024, -0.013), (0.8, 2.75)),
    ],
)
def test_the_special_points_are_those_in_finer_steps(coefficients, field, interval):
    problem = McKeanVlasov(Circle(), CosineSeries(coefficients), confinement=field and CosineSeries(field))
    finding = same_in_finer_steps(problem, interval)
    assert finding.detail == "", finding.call


def test_branch_points_within_one_step_are_where_the_smallest_eigenvalue_vanishes():
    """On five clusters a rotation by 2 pi/5 keeps modes of class 2 apart, here in quadrature without a solver."""
    coefficients = np.array([-1.073, -1.13, -1.149, -0.795, -1.088])
    found = diagram(tuple(coefficients), None, (0.8, 2.59))
    (branch,) = (branch for branch in found.branches if branch.label == "5-cluster")
    places = [place for place, label in enumerate(branch.point_labels) if label == "BP"][1:]
    assert len(places) == 2
    angles = 2.0 * np.pi * np.arange(256) / 256
    degrees = np.arange(1, 6)
    waves = np.cos(np.outer(degrees, angles))
    for place in places:
        moments = branch.cosine[place, degrees]
        masses = np.exp(-branch.coupling[place] * (coefficients * moments) @ waves)
        masses /= masses.sum()
        covariance = (waves * masses) @ waves.T - np.outer(moments, moments)
        linearised = np.eye(5) + branch.coupling[place] * covariance * coefficients
        assert np.abs(np.linalg.eigvals(linearised)).min() < 1e-11


@pytest.mark.parametrize(
    ("coefficients", "field", "interval"),
    [
        # Branches turn back as their own images where the coupling is no parabola, or beside one of their points.
        ((-3.135, -4.701), (-0.028, 0.033), (0.88, 1.35)),
        ((-3.14, -5.16), (0.214, 0.265), (0.73, 1.2)),
        ((-2.995, -5.035), (-0.012, 0.036), (0.9, 1.23)),
    ],
)
def test_branches_on_the_sphere_end_where_they_turn_back(coefficients, field, interval):
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(coefficients, 3), confinement=GegenbauerSeries(field, 3))
    found = bifurcation_diagram(problem, interval, rates=False)
    assert contradictions(found) == []
    assert all(point.status == "converged" for point in found.events("fold"))


def events_of(found: Diagram, label: str) -> list[tuple[str, float, int, int]]:
    (index,) = (place for place, branch in enumerate(found.branches) if branch.label == label)
    return [
        (point.type, point.coupling, point.unstable_before, point.unstable_after)
        for point in found.special_points
        if point.branch == index and point.type != "endpoint"
    ]


def test_directions_of_two_classes_that_change_in_one_step_and_compensate_are_found():
    problem = McKeanVlasov(
        Sphere(3), GegenbauerSeries((-2.771, -5.02, -6.853), 3), confinement=GegenbauerSeries((-0.02, 0.006), 3)
    )
    found = bifurcation_diagram(problem, (0.7, 1.35), search=True, rates=False)
    first, second = events_of(found, "zonal 3 from the search")[:2]
    assert (first[0], *first[2:], second[0], *second[2:]) == ("branch point", 7, 5, "branch point", 5, 7)
    # Another branch ends at the first of them.
    ends = np.array([point.coupling for point in found.special_points if point.type == "endpoint"])
    assert np.abs(ends - first[1]).min() < 1e-9


def test_a_fold_changes_a_direction_of_the_symmetry_of_its_branch():
    """One that seems not to is in one step with a crossing, here of the tetrahedral branch."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-3.013, -4.916, -6.809), 3))
    found = bifurcation_diagram(problem, (0.69, 1.2), search=True, rates=False)
    folds = [
        (point.unstable_before, point.unstable_after)
        for point in found.events("fold")
        if point.unstable_before is not None
    ]
    assert folds
    assert all(abs(before - after) == 1 for before, after in folds)
    crossing, *_ = events_of(found, "C_3v (2) from the search")
    (tetrahedral,) = (
        coupling
        for kind, coupling, *_ in events_of(found, "tetrahedral")
        if kind == "branch point" and abs(coupling - crossing[1]) < 1e-6
    )
    assert abs(crossing[1] / tetrahedral - 1.0) < 1e-9


def test_newtons_method_does_not_go_on_along_a_more_symmetric_branch():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-3.003, -5.032, -6.969), 3))
    found = bifurcation_diagram(problem, (0.83, 1.38), search=True, rates=False)
    assert not any("points in a row" in text for text in contradictions(found))


def test_a_branch_ends_where_states_that_the_parameter_does_not_move_take_over():
    """States even about the equator do not depend on w1: at their size alone no value of it is singled out."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-2.945, -5.31, -5.238), 3), coupling=0.968)
    found = bifurcation_diagram(problem, (-3.501, -2.682), parameter="w1", rates=False)
    assert contradictions(found) == []
    assert not found.events("fold")


@pytest.mark.parametrize(
    ("coefficients", "interval"),
    [((-0.4493, -0.5083), (1.7, 3.9)), ((-0.261, -0.311), (2.022, 6.463)), ((-0.872, -1.131), (0.678, 1.81))],
)
def test_states_that_a_search_finds_are_warned_of(coefficients, interval):
    """A branch born beyond the interval turns back into it, where two clusters are critical before one."""
    problem = McKeanVlasov(Circle(), CosineSeries(coefficients))
    plain = bifurcation_diagram(problem, interval, rates=False)
    searched = bifurcation_diagram(problem, interval, rates=False, search=True)
    assert len(searched.branches) > len(plain.branches)
    assert any("branches that none of these leads to" in warning for warning in plain.warnings)
