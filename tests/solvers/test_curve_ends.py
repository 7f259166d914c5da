"""Curves near their ends: in which point they end, what lies in the last step, and how well points are known."""

from itertools import combinations

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Outcome,
    Sphere,
    Transformer,
    critical_couplings,
)
from meanfield.theory import tricritical_points
from solvers import Arclength, bifurcation_diagram, curve, phase_diagram
from solvers.two_parameters.following import events


def on_sphere(*weights):
    return McKeanVlasov(Sphere(3), GegenbauerSeries(weights))


def event_at(problem, interval, kind, coupling):
    diagram = bifurcation_diagram(problem, interval, rates=False)
    return min(diagram.events(kind), key=lambda event: abs(event.coupling - coupling))


def in_steps(start, parameter, interval, steps, **options):
    return [curve(start, parameter, interval, method=Arclength(max_step=step), **options) for step in steps]


def places(found, kind):
    return [point.values for point in found.special_points if point.type == kind]


def test_a_curve_ends_in_the_same_point_in_any_step():
    # Two branch points of octahedral states, 0.03 apart, at which those of D_4h could end.
    start = event_at(on_sphere(0, 0, -1, -1.35), (5, 7), "branch point", 5.9743)
    for found in in_steps(start, "w4", (-1.62, -1.08), (0.1, 0.05, 0.03)):
        (end,) = places(found, "mode interaction")
        assert end == pytest.approx([-1.21935408368, 6.60218034641], rel=1e-11)


def test_organising_points_in_the_last_step_before_an_end_are_located():
    start = event_at(on_sphere(-0.647, -1.624, -2.478, -3.603), (1.8, 3), "branch point", 2.27719)
    coarse, fine = in_steps(start, "w4", (-4.2, -3.0), (0.1, 0.02))
    assert np.diff(coarse.first[coarse.first > -3.5]).max() > 0.05
    assert len(coarse.special_points) == len(fine.special_points) == 2
    for one, other in zip(coarse.special_points, fine.special_points, strict=True):
        assert np.abs(one.values - other.values).max() <= 1e-11


def test_two_classes_that_become_singular_between_two_points_are_told():
    # The number of unstable directions is the same before and after both.
    start = event_at(on_sphere(-0.154, 0.352, -4.162, -4.846), (0.6, 2.5), "branch point", 1.69194)
    found = curve(start, "w4", (-5.4668, -3.5631))
    interactions = np.array(places(found, "mode interaction"))
    assert interactions[1:, 0] == pytest.approx([-5.1018552071, -5.0010943582, -4.9262886086], abs=1e-9)


@pytest.mark.parametrize("weights", [(-0.623, -2.293, -2.857), (-0.623, -2.293, -2.857, -3.9)])
def test_a_line_has_no_triple_point_where_its_state_is_born(weights):
    """The line goes through the place at which its oblate state is born of the uniform one, with both signs."""
    problem = on_sphere(*weights)
    line, interval = ("w3", (-3.2, -2.4))
    diagram = bifurcation_diagram(problem, (1.3, 3), rates=False)
    births = [
        point
        for event in diagram.events("transition")
        for point in curve(event, line, interval).special_points
        if point.type == "end point" and abs(point.coupling + 5 / weights[1]) <= 1e-9
    ]
    found = None
    for birth in births:
        try:
            found = curve(birth, line, interval, born=True)
        except InvalidInput:
            continue
        break
    assert found is not None
    triples = [point for point in found.special_points if point.type == "triple point"]
    # Beside a resonance of the fourth degree there are two nearby.
    near = [point for point in triples if abs(point.values[0] - birth.values[0]) <= 0.05]
    assert len(near) == (2 if len(weights) == 4 else 0)
    for point in near:
        assert point.status == "converged"
        for moments in (point.cosine, *point.other_cosine[:1]):
            assert np.linalg.norm(moments[1:]) > 1e-2


def crossings(generator):
    """Yield lines of a random problem on the circle, each several times, and those that leave their end points."""
    weights = np.round(generator.uniform(-1.6, -0.3, int(generator.integers(2, 5))), 3)
    problem = McKeanVlasov(Circle(), CosineSeries(tuple(weights.tolist())))
    events = bifurcation_diagram(problem, (0.5, 5.0), rates=False).events("transition")
    for event in [event for event in events if event.branch][:2]:
        for name in [name for name in problem.parameters if name.startswith("w")]:
            value = float(problem.parameters[name])
            interval = (round(value - 0.6, 3), round(value + 0.6, 3))
            lines = in_steps(event, name, interval, (0.1, 0.07))
            ends = [point for point in lines[0].special_points if point.type == "end point"]
            yield [*lines, *(curve(end, name, interval) for end in ends)]


@pytest.mark.parametrize("seed", [6, 11, 12])
def test_intervals_of_one_end_point_have_a_value_in_common(seed):
    compared = 0
    for lines in crossings(np.random.default_rng([1, seed])):
        points = [point for line in lines for point in line.special_points if point.type == "end point"]
        for one, other in combinations(points, 2):
            if np.abs(one.values - other.values).max() <= 1e-8:
                compared += 1
                assert max(one.lower, other.lower) <= min(one.upper, other.upper)
    assert compared


def test_a_curve_ends_in_the_tricritical_point_where_it_was_started():
    """Beside it points are known less well than they are near it, and steps fall below their minimum."""
    problem = McKeanVlasov(Circle(), CosineSeries((-1.526, -0.632, -0.749)), confinement=CosineSeries((0, 0.075)))
    events = bifurcation_diagram(problem, (0.5, 4.0), rates=False).events("branch point")
    over = "w1", (-2.0, 0.0)
    point = next(
        point
        for event in events
        for point in curve(event, *over).special_points
        if point.type == "tricritical" and abs(point.values[0] + 1.30474612) <= 1e-7
    )
    for step in (0.1, 0.02):
        found = curve(point, *over, type="fold", method=Arclength(max_step=step))
        assert any(np.abs(other - point.values).max() <= 1e-10 for other in places(found, "tricritical"))
        assert not found.warnings


@pytest.mark.parametrize(("step", "value"), [(0.1, -0.6544), (0.07, -0.6544), (0.1, -0.63), (0.1, -0.72)])
def test_lines_end_where_degrees_one_and_two_are_critical_at_a_power_of_four_thirds(step, value):
    """Along them the tensor of degree 2 has no part along the vector of degree 1, to leading order."""
    diagram = bifurcation_diagram(on_sphere(value, -0.981), relative=(0.57, 1.17), depth=2, rates=False)
    (start,) = diagram.events("transition", "C_2v from prolate")
    (found,) = in_steps(start, "w1", (-1.54, -0.556), (step,))
    assert found.warnings == ()
    (end,) = places(found, "mode interaction")
    assert end == pytest.approx([-0.5886, 3 / 0.5886], rel=1e-13)
    near = found.moments.lengths[:, 1]
    own = (near > 0.0) & (near < 5e-3) & (found.first > -0.6)
    distance = np.abs(found.first[own] + 0.5886)
    powers = np.diff(np.log(distance)) / np.diff(np.log(near[own]))
    assert powers == pytest.approx(4 / 3, abs=0.02)


def random_turning(seed):
    """Return a random family, its parameter, a value beside a tricritical point of mode 1, and an interval of both."""
    generator = np.random.default_rng([3, seed])
    weights = (-1.0, 0.0, *np.round(generator.uniform(-0.2, 0.4, 2), 3).tolist())
    dimension = int(generator.choice([2, 3, 4, 5, 8, 12, 30]))
    domain = Circle() if dimension == 2 else Sphere(dimension)
    problem, name, bounds = [
        (McKeanVlasov(domain, Transformer(1.0)), "beta", (0.3, 5.0)),
        (McKeanVlasov(Circle(), HegselmannKrause(1.0)), "radius", (1.2, 3.0)),
        (McKeanVlasov(Circle(), KellerSegel(1.0)), "screening", (1.0, 2.0)),
        (McKeanVlasov(Circle(), CosineSeries(weights)), "w2", (-0.98, 0.9)),
    ][seed % 4]
    (point,) = tricritical_points(problem, name, bounds, [1])
    far = float(np.exp(generator.uniform(np.log(1e-3), np.log(0.5))))
    for side in (1.0, -1.0):
        value = point.value + side * far * generator.uniform(0.3, 1.0)
        around = bounds[0] < value < bounds[1] and bifurcation_diagram(
            problem.with_parameter(name, value), relative=(0.6, 1.01), depth=1, rates=False
        )
        if around and around.events("fold"):
            break
    low = max(bounds[0], min(value, point.value) - far * generator.uniform(0.1, 2.0))
    return around, name, (low, max(value, point.value) + far * generator.uniform(0.1, 2.0)), point


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 18, 41, 66, 94, 114, 160])
def test_curves_from_beside_a_tricritical_point_end_in_it(seed):
    """Rounding leaves little of the states there, and Newton's method may go over to the threshold."""
    diagram, name, interval, point = random_turning(seed)
    for start in (*diagram.events("fold"), *diagram.events("transition")):
        found = curve(start, name, interval)
        (end,) = places(found, "tricritical")
        assert end[0] == pytest.approx(point.value, rel=1e-13)
        assert found.warnings == ()
        # It does not go on along the threshold.
        assert np.abs(found.first - point.value).min() == np.abs(found.first[[0, -1]] - point.value).min()


def test_a_threshold_stops_where_its_second_parameter_is_not_admissible():
    """Mode 1 is critical at a noise in proportion to 1/(1 + s^2), of the screening s down to zero."""
    problem = McKeanVlasov(Circle(), KellerSegel(0.5))
    diagram = bifurcation_diagram(problem, relative=(0.9, 1.1), depth=0, rates=False)
    (start,) = diagram.events("branch point")
    found = curve(start, "noise", (0.2, 4.0), against="screening")
    noise, screening = found.values.T
    np.testing.assert_allclose(noise * (1.0 + screening**2), 1.25, rtol=1e-12)
    assert sorted((found.first_outcome, found.outcome), key=str) == [
        Outcome.STEP_TOO_SMALL,
        Outcome.LEFT_INTERVAL,
    ]
    assert float(screening.min()) < 1e-8
    (warning,) = found.warnings
    assert "beyond which there is no such problem: screening must be 0 or a positive number" in warning


def test_a_curve_of_states_says_where_its_second_parameter_is_not_admissible():
    field = CosineSeries((0.0, 0.0214))
    problem = McKeanVlasov(Circle(), HegselmannKrause(2.6), confinement=field)
    diagram = bifurcation_diagram(problem, (1.3, 1.6), rates=False)
    found = curve(diagram.events("branch point")[0], "confinement_w1", (0.0, 0.4), against="radius")
    assert np.pi - 1e-8 < found.values[:, 1].max() <= np.pi
    assert len(found.warnings) == 1
    assert "radius = 3.14159, beyond which there is no such problem: radius must be in (0, pi]" in found.warnings[0]


def test_organising_points_that_rounding_moves_to_no_admissible_parameters_lose_no_curve(monkeypatch):
    """As of a threshold towards radius zero, where the noise is 1e-9 and less, and points moved by rounding below it."""

    def moved(*_):
        raise InvalidInput("curves need noise, and it would be -1.5e-09")

    problem = McKeanVlasov(Circle(), Transformer(beta=5.0))
    start = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False, depth=1).events("branch point")[0]
    known = curve(start, "beta", (2.0, 6.0))
    monkeypatch.setattr(events, "_located", moved)
    found = curve(start, "beta", (2.0, 6.0))
    assert [point.type for point in known.special_points] == ["tricritical"]
    assert found.special_points == ()
    (warning,) = found.warnings
    assert "tricriticals between" in warning
    assert "are not told: what vanishes at them is rounding there" in warning
    assert (found.first[0], found.first[-1]) == (2.0, 6.0)


SUMS = (
    (Sphere(3), MaierSaupe(), 0.7, Onsager()),
    (Sphere(3), Onsager(), 0.7, MaierSaupe()),
    (Circle(), Transformer(6.0), 0.4, Kuramoto()),
    (Circle(), CosineSeries((-1.0, -0.8)), 0.2, MaierSaupe()),
)


@pytest.mark.parametrize(("domain", "kept", "factor", "leaving"), SUMS)
@pytest.mark.parametrize("low", [0.0, -0.25])
def test_curves_reach_and_pass_the_value_at_which_a_term_leaves_the_sum(domain, kept, factor, leaving, low):
    """There the equation is that of the rest, whose own diagram has the points."""
    name = f"{leaving.name.replace('-', '_')}_factor"
    problem = McKeanVlasov(domain, kept + factor * leaving)
    diagram = bifurcation_diagram(problem, relative=(0.8, 1.3), rates=False, depth=1)
    alone = bifurcation_diagram(McKeanVlasov(domain, kept), relative=(0.6, 1.3), rates=False, depth=1)
    for kind in ("fold", "transition"):
        found = curve(diagram.events(kind)[0], name, (low, factor))
        assert found.values[0, 0] == low
        assert not any("end of the interval" in warning for warning in found.warnings)
        at_zero = curve(found.point(0), name, (low, 0.0)).values[-1] if low else found.values[0]
        (exact,) = alone.events(kind)
        assert at_zero.tolist() == [0.0, pytest.approx(exact.coupling, rel=1e-11)]


@pytest.mark.parametrize("interval", [(0.0, 1.0), (-0.3, 0.5)])
@pytest.mark.parametrize("name", ["onsager_factor", "maier_saupe_factor"])
def test_phase_diagrams_of_mixtures_begin_at_or_pass_a_vanishing_term(name, interval):
    problem = McKeanVlasov(Sphere(3), MaierSaupe() + 0.7 * Onsager())
    found = phase_diagram(problem, (name, interval), relative=(0.8, 1.2), sections=2)
    assert {each.type for each in found.curves} == {"threshold", "fold", "transition"}
    assert all((each.values[0, 0], each.values[-1, 0]) == interval for each in found.curves)


def test_a_window_whose_couplings_are_no_doubles_is_refused_in_a_sentence():
    """kappa_1 of the transformer is about exp(-beta)."""
    problem = McKeanVlasov(Circle(), Transformer(1.0))
    for interval in ((1.0, 800.0), (600.0, 1200.0), (1.0, 2000.0)):
        with pytest.raises(InvalidInput, match=r"is out of the range of doubles; let the interval of beta end"):
            phase_diagram(problem, ("beta", interval), relative=(0.4, 1.6), examine=False)


@pytest.mark.parametrize(
    ("problem", "name", "interval"),
    [
        (McKeanVlasov(Circle(), HegselmannKrause(1.5)), "radius", (0.5, np.pi)),
        (McKeanVlasov(Circle(), KellerSegel(1.0)), "screening", (0.0, 5.0)),
    ],
)
def test_a_curve_reaches_the_last_admissible_value_of_a_parameter(problem, name, interval):
    diagram = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False, depth=1)
    found = curve(diagram.events("branch point")[0], name, interval)
    assert (found.values[0, 0], found.values[-1, 0]) == interval
    assert found.outcome is found.first_outcome is Outcome.LEFT_INTERVAL
    assert not found.warnings
    assert found.coupling == pytest.approx(
        [float(critical_couplings(problem.with_parameter(name, value), 1)[1]) for value in found.first], rel=1e-12
    )


def test_rounding_beside_the_uniform_state_makes_no_organising_points():
    """Modes of degree one and four are critical there at once, and what vanishes with the fourth power is small."""
    problem = McKeanVlasov(Sphere(4), GegenbauerSeries((-0.5, 0, 0, -1.0), dimension=4))
    found = phase_diagram(problem, ("w1", (-0.3, -0.12)), relative=(0.7, 1.3), examine=False)
    points = [point for point in found.special_points if point.type == "mode interaction"]
    # Numbers of harmonics of degree one and four are 4 and 25.
    assert [point.status for point in points] == ["converged"] * len(points)
    assert sum(point.values == pytest.approx([-0.16, 25.0], abs=1e-2) for point in points) == 1
