"""Thresholds along a parameter, against closed forms: at the ends of the interval, next to each other, and steep.

On the circle mode k of a cosine series w is critical where -coupling w_k = 2 noise.
"""

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, Custom, McKeanVlasov
from solvers import bifurcation_diagram

EPS = np.finfo(float).eps


def diagram_of(weights, coupling, name, interval, **options):
    problem = McKeanVlasov(Circle(), CosineSeries(tuple(weights)), coupling=coupling)
    return bifurcation_diagram(problem, interval, parameter=name, rates=False, search=False, **options)


def born(diagram):
    return sorted(diagram.events("branch point", "uniform"), key=lambda event: event.value)


def modes_of(event):
    return event.description.removeprefix("critical: mode ").removesuffix(" at the uniform state")


def random_case(seed):
    """Return weights, coupling, a parameter and its thresholds by mode, all of them on one side of zero."""
    random = np.random.default_rng(seed)
    weights = -random.uniform(0.3, 1.5, 3)
    coupling = random.uniform(0.5, 3.0)
    if seed % 2:
        return weights, coupling, "noise", {k: -0.5 * coupling * w for k, w in enumerate(weights, 1)}
    mode = int(random.integers(1, 4))
    return weights, coupling, f"w{mode}", {mode: -2.0 / coupling}


def next_to_uniform(diagram, threshold):
    """Return the values at the points next to the ends of branches that are at the uniform state at a threshold."""
    ends = [(branch, end) for branch in diagram.branches if branch.symmetry for end in (0, -1)]
    return [
        branch.values[1 if end == 0 else -2]
        for branch, end in ends
        if branch.values[end] == threshold and np.abs(branch.cosine[end, 1:]).max() < 1e-6
    ]


@pytest.mark.parametrize("name", ["noise", "w1"])
@pytest.mark.parametrize("second", [0.0, -0.25])
def test_a_branch_that_leaves_the_interval_at_once_is_not_followed(name, second):
    # The branch of mode 1 is supercritical, and the strength falls along the interval: it leads out of it.
    interval = {"noise": (1.0, 2.0), "w1": (-1.0, -0.5)}[name]
    diagram = diagram_of((-1.0, second), 2.0, name, interval)
    assert [branch.label for branch in diagram.branches] == ["uniform"]
    assert [(event.type, event.value) for event in diagram.special_points] == [("branch point", interval[0])]


@pytest.mark.parametrize(("seed", "side"), [(seed, ("lower", "upper")[seed % 3 > 0]) for seed in range(8)])
def test_an_end_of_the_interval_that_is_a_threshold(seed, side):
    weights, coupling, name, thresholds = random_case(seed)
    mode, threshold = sorted(thresholds.items())[seed % len(thresholds)]
    width = 0.4 * abs(threshold)
    interval = (threshold, threshold + width) if side == "lower" else (threshold - width, threshold)
    diagram = diagram_of(weights, coupling, name, interval, depth=1)
    inside = {k: value for k, value in thresholds.items() if interval[0] <= value <= interval[1]}
    found = born(diagram)
    assert {int(modes_of(event)): event.value for event in found} == pytest.approx(inside, rel=16 * EPS)
    assert found[0 if side == "lower" else -1].value == threshold

    wider = diagram_of(weights, coupling, name, (interval[0] - 0.1 * width, interval[1] + 0.1 * width), depth=1)
    (there,) = [event for event in born(wider) if modes_of(event) == str(mode)]
    place = 0 if side == "lower" else -1
    event = found[place]
    assert (event.unstable_before, event.unstable_after) == (there.unstable_before, there.unstable_after)
    uniform = diagram.branches[0]
    beside = uniform.unstable[1 if side == "lower" else -2]
    assert beside == (event.unstable_after if side == "lower" else event.unstable_before)

    # The branch born there is followed if it leads into the interval, and there is no trace of it if it does not.
    inwards = [value for value in next_to_uniform(wider, there.value) if interval[0] < value < interval[1]]
    assert len(next_to_uniform(diagram, threshold)) == len(inwards)
    for branch in diagram.branches[1:]:
        assert (np.diff(branch.arclength) > 0.0).all()
    for fold in diagram.events("fold"):
        assert interval[0] < fold.value < interval[1]
        assert any(abs(fold.value - other.value) < 1e-9 * abs(fold.value) for other in wider.events("fold"))


@pytest.mark.parametrize("seed", range(12))
def test_thresholds_next_to_each_other_are_separate(seed):
    random = np.random.default_rng(seed)
    apart = 10.0 ** random.uniform(-6.0, -3.0)
    # The strengths coupling/(2 noise) fall by the share of the lowest noise within a small part of the interval.
    coupling = 10.0 ** random.uniform(-5.0, 0.0)
    first, second = sorted(random.choice(np.arange(1, 6), 2, replace=False).tolist())
    weights = np.zeros(5)
    weights[first - 1], weights[second - 1] = -1.0, -(1.0 + apart)
    interval = (0.1 * coupling, random.uniform(1.0, 3.0))
    diagram = diagram_of(weights, coupling, "noise", interval, depth=0)
    found = born(diagram)
    assert [modes_of(event) for event in found] == [str(first), str(second)]
    assert [(event.unstable_before, event.unstable_after) for event in found] == [(4, 2), (2, 0)]
    for event, weight in zip(found, (1.0, 1.0 + apart), strict=True):
        assert event.lower <= 0.5 * coupling * weight <= event.upper
    assert set(diagram.branches[0].unstable.tolist()) == {4, 2, 0}


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-8, 1e-7])
def test_thresholds_that_are_not_separated_are_one_and_it_is_said(apart):
    diagram = diagram_of((-1.0, -(1.0 + apart)), 1.0, "noise", (0.2, 1.0), depth=0)
    (event,) = born(diagram)
    assert modes_of(event) == "1, 2"
    assert (event.unstable_before, event.unstable_after) == (4, 0)
    assert event.lower <= 0.5 <= 0.5 * (1.0 + apart) <= event.upper
    assert any("taken for one" in text for text in diagram.warnings) == (apart > 0.0)


@pytest.mark.parametrize("coupling", [1e-9, 1e-6, 1e-3])
def test_strengths_that_fall_steeply(coupling):
    diagram = diagram_of((-1.0, -0.5, 0.3), coupling, "noise", (0.1 * coupling, 1.0), depth=0)
    found = born(diagram)
    assert [modes_of(event) for event in found] == ["2", "1"]
    for event, threshold in zip(found, (0.25 * coupling, 0.5 * coupling), strict=True):
        assert event.lower <= threshold <= event.upper
        assert event.upper - event.lower < 1e-4 * threshold
    assert not any("change so fast" in text for text in diagram.warnings)


@pytest.mark.parametrize(("weights", "coupling", "mode"), [((-1.0, -0.5), 2.0, 1), ((-0.3, -0.8, -0.5), 2.5, 2)])
def test_a_mode_that_is_always_critical_is_no_branch_point(weights, coupling, mode):
    problem = McKeanVlasov(Circle(), CosineSeries(weights), coupling=coupling)
    last = f"w{len(weights)}"
    diagram = bifurcation_diagram(problem, (weights[-1] - 0.2, weights[-1] + 0.2), parameter=last, rates=False)
    uniform = diagram.branches[0]
    others = [-2.0 / coupling] if weights[-1] - 0.2 < -2.0 / coupling < weights[-1] + 0.2 else []
    assert [point.value for point in diagram.events("branch point", 0)] == pytest.approx(others, rel=1e-12)
    assert any(f"neutral in mode {mode} at every value" in warning for warning in diagram.warnings)
    assert uniform.symmetry == 0


@pytest.mark.parametrize(
    ("formula", "thresholds"),
    [("-cos(t)/(b-0.3)", [1.3]), ("-cos(t)/(b-0.3)**3", [1.3]), ("-cos(t)*(0.6+Heaviside(b-0.3))", [])],
)
def test_where_a_multiplier_changes_sign_without_a_root_is_no_branch_point(formula, thresholds):
    problem = McKeanVlasov(Circle(), Custom.from_expression(formula, b=1.0), coupling=2.0)
    diagram = bifurcation_diagram(problem, (0.0, 2.0), parameter="b", rates=False, depth=0)
    assert [event.value for event in born(diagram)] == pytest.approx(thresholds, rel=1e-12)
    assert any("change so fast with b" in warning for warning in diagram.warnings)
