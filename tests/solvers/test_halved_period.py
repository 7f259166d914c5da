"""States on the circle without an axis that lose half of their period: branch points, curves of them, arrivals."""

from dataclasses import replace

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, External, McKeanVlasov, Outcome
from solvers import bifurcation_diagram, curve, phase_diagram
from solvers.two_parameters.ends import beside
from tests import brute_force

# Relative accuracy promised for points on curves, and for tricritical points.
POINT, TRICRITICAL = 1e-11, 1e-12
FIELDS = [
    ("-h*(cos(2*t) + 0.5*sin(4*t))", 1),
    ("h*(0.6*cos(2*t - 0.4) - 0.9*sin(4*t) + 0.3*cos(6*t + 1.1))", 1),
    ("-h*(cos(4*t) + 0.5*sin(8*t))", 2),
]
HALVING = McKeanVlasov(
    Circle(), CosineSeries((-1.0, -0.4)), confinement=External.from_expression("-0.1*(cos(2*t) + 0.5*sin(4*t))")
)


def critical_couplings_of(field, h, noise, degree):
    """Couplings at which the density of a field alone is critical for W = -cos of a degree, by quadrature.

    The potential does not act on the density, whose period is half of the degree's.
    """
    angles = 2.0 * np.pi * np.arange(1024) / 1024
    values = -External.from_expression(field, h=h).values(angles) / noise
    density = np.exp(values - values.max())
    density /= density.sum()
    modes = np.array([np.cos(degree * angles), np.sin(degree * angles)])
    return np.sort(noise / np.linalg.eigvalsh((modes * density) @ modes.T))


@pytest.mark.parametrize(("field", "degree"), FIELDS)
@pytest.mark.parametrize("second", ["confinement_h", "noise"])
def test_the_density_of_a_field_alone_is_critical_in_closed_form(field, degree, second):
    potential = CosineSeries((-1.0,) if degree == 1 else (0.0, -1.0))
    problem = McKeanVlasov(Circle(), potential, confinement=External.from_expression(field, h=0.7))
    starts = bifurcation_diagram(problem, (0.5, 6.0), rates=False, depth=1).events("branch point")
    known = critical_couplings_of(field, 0.7, 1.0, degree)
    assert [start.coupling for start in starts] == pytest.approx(known[known < 6.0], rel=POINT)
    for place, start in enumerate(starts):
        found = curve(start, second, (0.3, 1.4))
        assert not found.warnings
        for row in range(0, len(found), 3):
            h, noise = (found.first[row], 1.0) if second != "noise" else (0.7, found.first[row])
            exact = critical_couplings_of(field, h, noise, degree)[place]
            assert found.coupling[row] == pytest.approx(exact, rel=POINT)


def test_branch_points_of_states_that_the_potential_acts_on():
    """Against quadrature: there is a neutral direction, in the degrees that the state has not."""
    start = bifurcation_diagram(HALVING, (1.0, 2.0), rates=False).events("branch point")[0]
    found = curve(start, "w2", (-1.1, 0.0))
    angles = 2.0 * np.pi * np.arange(512) / 512
    modes = np.concatenate([np.cos(np.outer((1, 3), angles)), np.sin(np.outer((1, 3), angles))])
    for row in range(0, len(found), 2):
        w2, coupling = found.first[row], found.coupling[row]
        field = HALVING.confinement
        cosines, sines = field.multipliers(Circle(), 8)[1:], field.sine_multipliers(Circle(), 8)[1:]
        space = brute_force.circle((-1.0, w2), cosines, nodes=512, sines=sines)
        state = brute_force.on_circle(space, float(coupling), found.cosine[row], found.sine[row])
        assert state.neutral >= 1
        density = state.density / state.density.sum()
        of_first = (modes[[0, 2]] * density) @ modes[[0, 2]].T
        # W has no third harmonic, and the means of odd ones vanish.
        assert np.abs(np.linalg.eigvalsh(np.eye(2) - coupling * of_first)).min() <= 1e-10


def test_branches_turn_at_tricritical_points_where_folds_and_lines_end():
    start = bifurcation_diagram(HALVING, (1.0, 2.0), rates=False).events("branch point")[0]
    (point,) = curve(start, "w2", (-1.1, 0.0)).special_points
    assert point.type == "tricritical"
    assert point.upper - point.lower <= 4 * TRICRITICAL
    for w2, folds in ((point.values[0] - 0.02, 1), (point.values[0] + 0.02, 0)):
        diagram = bifurcation_diagram(HALVING.with_parameter("w2", w2), (1.5, 2.0), rates=False, depth=2)
        assert len(diagram.events("fold")) == folds
    for kind in ("fold", "transition"):
        found = curve(point, "w2", (-1.1, 0.0), type=kind)
        assert {found.outcome, found.first_outcome} == {Outcome.LEFT_INTERVAL, Outcome.JOINED_BRANCH}
        assert found.first.max() == pytest.approx(point.values[0], rel=TRICRITICAL)
        # It is followed once, and not back over images of its states.
        assert np.all(np.diff(found.first) > 0.0)
        event = bifurcation_diagram(
            HALVING.with_parameter("w2", float(found.first[0])), (1.0, 2.0), rates=False, depth=2
        ).events(kind)[0]
        assert found.coupling[0] == pytest.approx(event.coupling, rel=POINT)


@pytest.mark.parametrize(("few", "first", "goes_on"), [(1, 1e-8, True), (10, 0.002, False)])
def test_where_a_fold_ends_the_curve_of_branch_points_is_followed_farther_if_nothing_is_near(
    monkeypatch, few, first, goes_on
):
    """The point is the same as if it were followed far at once."""
    start = bifurcation_diagram(HALVING, (1.0, 2.0), rates=False).events("branch point")[0]
    (point,) = curve(start, "w2", (-1.1, 0.0)).special_points
    followed, steps = beside.follow, []

    def counted(begin, method, first_step):
        steps.append(method.max_points)
        return followed(begin, method, first_step)

    monkeypatch.setattr(beside, "follow", counted)
    monkeypatch.setattr(beside, "FIRST", first)
    monkeypatch.setattr(beside, "NEAREST", replace(beside.NEARBY, max_points=few))
    (end,) = curve(point, "w2", (-1.1, 0.0), type="fold").special_points
    far = beside.NEARBY.max_points
    assert set(steps) == ({few, far} if goes_on else {few})
    monkeypatch.setattr(beside, "NEAREST", beside.NEARBY)
    (at_once,) = curve(point, "w2", (-1.1, 0.0), type="fold").special_points
    assert end.type == at_once.type == point.type
    assert end.values == pytest.approx(at_once.values, rel=1e-13)


def test_a_branch_from_the_search_ends_at_the_state_of_half_the_period():
    problem = McKeanVlasov(
        Circle(), CosineSeries((-1.0, -1.44)),
        confinement=External.from_expression("-0.3*(cos(2*t) + 0.5*sin(4*t))"),
    )  # fmt: skip
    diagram = bifurcation_diagram(problem, (0.8, 2.6), rates=False, depth=3, search=True)
    (place,) = [event.coupling for event in diagram.events("branch point") if event.coupling > 2.0]
    joined = [branch for branch in diagram.branches if branch.outcome is Outcome.JOINED_BRANCH]
    assert [branch.coupling[-1] for branch in joined] == [pytest.approx(place, rel=POINT)]
    assert all(event.status == "converged" for event in diagram.events("fold"))


def test_a_phase_diagram_in_a_field_that_rotations_keep_and_reflections_do_not():
    problem = McKeanVlasov(
        Circle(), CosineSeries((-1.0,)), confinement=External.from_expression("-h*(cos(2*t)+0.5*sin(4*t))", h=1.0)
    )
    diagram = phase_diagram(problem, ("confinement_h", (0.2, 2.0)), coupling=(0.3, 4.0), sections=2)
    assert [(region.minimiser, region.stable, region.agrees) for region in diagram.regions] == [
        ("uneven 1-cluster", 1, True),
        ("primary", 1, True),
    ]


def test_two_neutral_directions_in_the_place_of_one_end_a_search():
    """A field of four-fold symmetry, in which states of the second degree lose a quarter of a turn in two ways."""
    problem = McKeanVlasov(
        Circle(), CosineSeries((-1.0, -0.4, 0.0, -0.9)),
        confinement=External.from_expression("-0.1*(cos(4*t) + 0.5*sin(8*t))"),
    )  # fmt: skip
    diagram = phase_diagram(problem, ("w2", (-1.2, -1.0)), coupling=(1.0, 2.5), sections=1, examine=False)
    assert diagram.curves
