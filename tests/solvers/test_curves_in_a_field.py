"""Curves and phase diagrams in a confinement: states without an axis, broken symmetries, and where it vanishes."""

import functools

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.optimize import root

from meanfield import Circle, CosineSeries, External, GegenbauerSeries, McKeanVlasov, Outcome, Sphere
from solvers import Arclength, bifurcation_diagram, curve, phase_diagram, stationary_states
from solvers.phases.found import Found
from solvers.phases.lines import follow_zero_field
from solvers.phases.sections import Section
from solvers.phases.window import Window
from tests import brute_force
from tests.campaigns.phases import neutral_sizes

EPS = np.finfo(float).eps
# Relative accuracy promised for points on curves, and for tricritical points in the parameter's own size.
POINT, TRICRITICAL = 1e-11, 1e-12
OVER = "confinement_w2"
# Particles on S^2 that align, W = -P_2, in V = h P_2: for h > 0 it drives them to the equator.
NEMATIC = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, -1.0)), confinement=GegenbauerSeries((0.0, 0.1)))


@functools.cache
def grid():
    """P_2(z), sqrt(3)/2 (x^2 - y^2) and weights of a product rule of degree 127 on the sphere."""
    heights, weights = np.polynomial.legendre.leggauss(64)
    azimuths = 2.0 * np.pi * np.arange(128) / 128
    across = (1.0 - heights**2)[:, None] * np.cos(2.0 * azimuths)
    along = np.repeat((1.5 * heights**2 - 0.5)[:, None], azimuths.size, axis=1)
    return np.array([along, np.sqrt(0.75) * across]), np.repeat(weights[:, None], azimuths.size, axis=1) / 256.0


def mean(density, *factors):
    return float((density * np.prod(factors, axis=0)).sum())


def state(h, coupling, moments):
    """Density of the field of two moments, and its free energy over D."""
    modes, weights = grid()
    values = weights * np.exp(np.tensordot(coupling * np.asarray(moments), modes, 1) - h * modes[0])
    mass = values.sum()
    return values / mass, 0.5 * coupling * np.dot(moments, moments) - np.log(mass)


def residuals(h, coupling, moments):
    density, _ = state(h, coupling, moments)
    return np.array([mean(density, mode) for mode in grid()[0]]) - moments


def biaxial_block(density, coupling):
    """One minus kappa times the mean square of the mode that breaks the axis, zero at branch points."""
    return 1.0 - coupling * mean(density, grid()[0][1], grid()[0][1])


def tricritical(unknown):
    """Conditions for (h, kappa, a_1): stationary, neutral, and no cubic term of the branch that is born."""
    h, coupling, along = unknown
    density, _ = state(h, coupling, (along, 0.0))
    one, other = grid()[0]
    square, fourth = mean(density, other, other), mean(density, other, other, other, other)
    covariance = mean(density, one, other, other) - mean(density, one) * square
    variance = mean(density, one, one) - mean(density, one) ** 2
    cubic = (fourth - 3.0 * square**2) / 6.0 + 0.5 * coupling * covariance**2 / (1.0 - coupling * variance)
    return mean(density, one) - along, 1.0 - coupling * square, cubic


def solved(conditions, guess):
    for _ in range(3):
        guess = root(conditions, guess, tol=EPS).x
    return guess


@functools.cache
def diagram():
    return phase_diagram(NEMATIC, (OVER, (-0.1, 0.4)), coupling=(4.0, 5.5))


def of_type(kind):
    (point,) = [each for each in diagram().special_points if each.type == kind]
    return point


def test_the_tricritical_point_of_biaxial_states():
    h, coupling, _ = solved(tricritical, (0.22, 4.14, -0.19))
    found = of_type("tricritical")
    assert abs(found.values[0] - h) <= TRICRITICAL * h
    assert abs(found.coupling - coupling) <= TRICRITICAL * coupling
    assert {name.split()[0] for name in found.curves} == {"branch", "fold", "transition"}


def test_folds_and_lines_of_biaxial_states():
    """Against integrals over the sphere, at points where the states are apart."""
    modes = grid()[0]
    compared = 0
    for each in diagram().curves:
        if "D_2h" not in each.label or each.type == "branch point" or each.outcome is Outcome.FOLDED:
            continue
        place = int(np.argmin(np.abs(each.first - 0.1)))
        h, coupling, point = each.first[place], each.coupling[place], each.point(place)
        places = [3, 5]  # degree 2, orders 0 and 2, among cosines packed by degree and order
        first = point.cosine[places]

        def fold(unknown, h=h):
            density, _ = state(h, unknown[2], unknown[:2])
            products = [[mean(density, one, other) for one in modes] for other in modes]
            means = [mean(density, one) for one in modes]
            matrix = np.eye(2) - unknown[2] * (np.array(products) - np.outer(means, means))
            return np.append(residuals(h, unknown[2], unknown[:2]), np.linalg.det(matrix))

        def line(unknown, h=h):
            pair = unknown[:2], (unknown[3], 0.0)
            energies = [state(h, unknown[2], moments)[1] for moments in pair]
            return np.array(
                [*residuals(h, unknown[2], pair[0]), residuals(h, unknown[2], pair[1])[0], np.diff(energies)[0]]
            )

        guess = [*first, coupling] if each.type == "fold" else [*first, coupling, point.other_cosine[3]]
        exact = solved(fold if each.type == "fold" else line, guess)
        assert abs(exact[2] - coupling) <= POINT * coupling
        assert np.abs(exact[:2] - first).max() <= POINT
        compared += 1
    assert compared == 2


def test_the_line_of_weak_and_strong_order_ends_where_the_biaxial_state_is_born():
    def conditions(unknown):
        h, coupling, weak, strong = unknown
        (density, energy), (_, other) = state(h, coupling, (weak, 0.0)), state(h, coupling, (strong, 0.0))
        stationary = [residuals(h, coupling, (moment, 0.0))[0] for moment in (weak, strong)]
        return [*stationary, energy - other, biaxial_block(density, coupling)]

    h, coupling, *_ = solved(conditions, (0.0266, 4.665, -0.05, 0.48))
    found = of_type("end point")
    assert abs(found.values[0] - h) <= POINT
    assert abs(found.coupling - coupling) <= POINT * coupling
    assert len(found.curves) == 2


def test_orientations_exchange_where_the_field_vanishes():
    """From the point where the uniform state has the same free energy, by integrals, on: a triple point."""
    along = solved(
        lambda unknown: [
            residuals(0.0, unknown[1], (unknown[0], 0.0))[0],
            state(0.0, unknown[1], (unknown[0], 0.0))[1],
        ],
        (0.43, 4.54),
    )
    found = of_type("triple point")
    assert abs(found.values[0]) <= 1e-12
    assert abs(found.coupling - along[1]) <= POINT * along[1]
    (line,) = [each for each in diagram().curves if np.ptp(each.first) < 1e-12]
    assert line.outcome is Outcome.FOLDED or line.first_outcome is Outcome.FOLDED
    # The lower end is the fold of the nematic state.
    low = solved(
        lambda unknown: [
            residuals(0.0, unknown[1], (unknown[0], 0.0))[0],
            1.0
            - unknown[1]
            * np.diff(
                [
                    mean(state(0.0, unknown[1], (unknown[0], 0.0))[0], grid()[0][0]) ** 2,
                    mean(state(0.0, unknown[1], (unknown[0], 0.0))[0], *2 * [grid()[0][0]]),
                ]
            )[0],
        ],
        (0.32, 4.455),
    )
    assert abs(line.coupling.min() - low[1]) <= POINT * low[1]
    assert line.residual.max() <= 64 * EPS
    assert line.coupling.max() > diagram().window[1]


def test_every_region_in_the_field_is_confirmed():
    regions = diagram().regions
    assert {(region.minimiser, region.stable) for region in regions} == {
        ("primary", 1), ("D_2h", 1), ("D_2h", 2), ("primary", 2),
    }  # fmt: skip
    assert all(region.agrees for region in regions)
    assert not [warning for warning in diagram().warnings if "looked for at the ends" not in warning]


@pytest.mark.parametrize(
    ("weights", "field", "over", "interval", "window"),
    [
        ((0.0, -1.0), (0.0, 0.08), "confinement_w2", (0.05, 0.12), (4.0, 5.0)),
        ((-0.2, -1.0), (0.05, 0.1), "confinement_w1", (0.02, 0.08), (4.0, 5.0)),
        ((-0.2, -1.0), (0.05, 0.1), "w1", (-0.3, -0.1), (4.0, 5.0)),
        ((-0.2, -1.0), (0.05, 0.1), "noise", (0.95, 1.05), (3.8, 5.2)),
        ((0.0, -1.0, 0.0, -0.3), (0.0, 0.12), "w4", (-0.4, -0.2), (3.8, 4.8)),
    ],
)
def test_folds_and_lines_without_an_axis_end_at_those_of_diagrams(weights, field, over, interval, window):
    """Diagrams at the ends of the interval, which know nothing of a second parameter."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(weights), confinement=GegenbauerSeries(field))
    known = bifurcation_diagram(problem, window, rates=False)
    compared = 0
    for event in (*known.events("fold"), *known.events("transition")):
        if event.layout != "order":
            continue
        found = curve(event, over, interval)
        assert not found.warnings
        for place in (0, -1):
            moved = problem.with_parameter(over, float(found.first[place]))
            others = bifurcation_diagram(moved, window, rates=False).events(event.type)
            distances = [abs(float(other.coupling) / float(found.coupling[place]) - 1.0) for other in others]
            assert min(distances) <= POINT
            compared += 1
    assert compared >= 2


def test_a_line_ends_where_the_branch_point_of_its_parent_meets_a_fold():
    """Two directions beside rotation about the axis are neutral among all densities, by quadrature."""
    weights, field = (-0.757, -1.9), (-0.45, -0.401)
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(weights), confinement=GegenbauerSeries(field))
    known = bifurcation_diagram(problem, (1.684, 4.492), rates=False)
    compared = 0
    for event in known.events("branch point"):
        if event.layout != "order":
            continue
        found = curve(event, "w2", (-2.2, -1.8))
        for place, label in enumerate(found.point_labels):
            if label == "mode interaction":
                state, coupling = found.state(place), found.coupling[place]
                space = brute_force.sphere((weights[0], found.first[place]), field, nodes=48)
                density = 4.0 * np.pi * state.density(*angles(48))
                masses = brute_force.gibbs(space, coupling, 1.0, (space.values @ (density * space.weights))[None])[
                    0
                ]
                assert np.abs(space.values @ (masses - density * space.weights)).max() <= 1e-9
                sizes = neutral_sizes(space, coupling, masses)
                assert sizes[2] <= 1e-9
                assert sizes[3] >= 1e-3
                compared += 1
    assert compared


def angles(nodes):
    """Polar angles and azimuths of the nodes of brute force."""
    u, _ = np.polynomial.legendre.leggauss(nodes)
    azimuths = 2.0 * np.pi * np.arange(2 * nodes) / (2 * nodes)
    return tuple(part.ravel() for part in np.meshgrid(np.arccos(u), azimuths, indexing="ij"))


def test_a_field_that_breaks_the_symmetry_of_the_start():
    """States of two clusters without a field of degree one have one cluster in it."""
    problem = McKeanVlasov(Circle(), CosineSeries((-0.5, -1.0, -0.3, -0.8)), confinement=CosineSeries((0.0, 0.1)))
    events = [
        event
        for event in bifurcation_diagram(problem, (0.5, 3.0), rates=False).events("fold")
        if not np.any(np.abs(event.cosine[1::2]) > 1e-8) and not np.any(np.abs(event.sine) > 1e-8)
    ]
    assert events
    for event in events:
        found = curve(event, "confinement_w1", (-0.002, 0.003))
        assert np.ptp(found.coupling) > 1e-5
        last = problem.with_parameter("confinement_w1", float(found.first[-1]))
        others = bifurcation_diagram(last, (0.5, 3.0), rates=False).events("fold")
        assert min(abs(other.coupling / found.coupling[-1] - 1.0) for other in others) <= POINT


def test_rotators_in_a_field_have_a_line_that_ends_in_the_critical_point():
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0,)), confinement=CosineSeries((0.1,)))
    found = phase_diagram(problem, ("confinement_w1", (-0.3, 0.3)), coupling=(1.2, 4.0))
    (line,) = [each for each in found.curves if each.type == "transition"]
    assert np.abs(line.first).max() <= 1e-12
    assert line.coupling.max() > 4.0
    assert not np.any(line.unstable)
    (point,) = found.special_points
    assert point.type == "cusp"
    assert line.label in point.curves
    assert np.abs(point.values - [0.0, 2.0]).max() <= 1e-9
    # One region about the critical point, on both sides of the line.
    assert [(region.minimiser, region.agrees) for region in found.regions] == [("primary", True)]


def test_polar_orders_along_and_across_an_axis_meet_in_a_bicritical_point():
    """The threshold of degree one without a field, kappa = 3/0.353."""
    potential, field = GegenbauerSeries((-0.353, 0.088)), GegenbauerSeries((0.0, 0.1))
    problem = McKeanVlasov(Sphere(3), potential, confinement=field)
    found = phase_diagram(problem, (OVER, (-0.1, 0.2)), coupling=(6.0, 12.0))
    (point,) = found.special_points
    assert point.type == "mode interaction"
    assert abs(point.values[0]) <= 1e-12
    assert abs(point.coupling - 3.0 / 0.353) <= POINT * point.coupling
    (line,) = [each for each in found.curves if each.type == "transition"]
    assert np.abs(line.first).max() <= 1e-12
    assert set(point.curves) == {each.label for each in found.curves}
    assert not np.any(line.unstable)
    # At one coupling it ends where degree one is critical.
    near = {"largest_coupling": 20.0, "method": Arclength(max_points=40)}
    there = curve(line.point(5), OVER, (-0.1, 0.2), against="w1", **near)
    (end,) = there.special_points
    assert (end.type, end.status) == ("mode interaction", "converged")
    assert abs(end.values[1] * line.coupling[5] / 3.0 + 1.0) <= POINT
    phases = {(region.minimiser, region.agrees) for region in found.regions}
    assert phases == {("primary", True), ("zonal 1", True), ("C_2v", True)}
    assert not [warning for warning in found.warnings if "looked for at the ends" not in warning]


def test_a_line_at_one_coupling_ends_in_the_folds_of_both_states():
    (line,) = [each for each in diagram().curves if np.ptp(each.first) <= 1e-9]
    near = {"largest_coupling": 20.0, "method": Arclength(max_points=50)}
    found = curve(line.point(2), OVER, (-0.1, 0.4), against="w2", **near)
    assert Outcome.FOLDED in (found.outcome, found.first_outcome)
    (fold,) = bifurcation_diagram(NEMATIC.replace(confinement=None), (4.0, 5.0), rates=False).events("fold")
    assert abs(found.second.max() * line.coupling[2] / fold.coupling + 1.0) <= POINT


@pytest.mark.parametrize(
    ("field", "zeros"),
    [
        ("a**2*cos(t)", ()),
        ("(a-0.1)*cos(t)", (0.1,)),
        ("sinh(a)*cos(t-0.7)", (0.0,)),
        ("(exp(2*a)-1)*cos(2*t)", (0.0,)),
        ("a*(a-0.2)*cos(t)", (0.0, 0.2)),
        ("a*cos(t)+0.1*a**2*cos(2*t)", (0.0,)),
        ("a*cos(t)+0.1*cos(2*t)", ()),
    ],
)
def test_lines_are_where_all_of_a_field_changes_its_sign(field, zeros):
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0,)), confinement=External.from_expression(field, a=0.3))
    window = Window(problem, "confinement_a", (-0.5, 0.4), False, (1.2, 3.0))
    assert window.freeing == pytest.approx(zeros, abs=1e-15)


def test_a_field_that_returns_has_no_line():
    """Of a^2 cos t states have one orientation on both sides of zero, and of a (1 + a) cos t two."""
    for strength, count in (("a**2", 0), ("a*(1+a)", 1)):
        confinement = External.from_expression(f"{strength}*cos(t)", a=0.3)
        problem = McKeanVlasov(Circle(), CosineSeries((-1.0,)), confinement=confinement)
        of_window = phase_diagram(problem, ("confinement_a", (-0.5, 0.4)), coupling=(1.2, 2.5), sections=1)
        lines = [each for each in of_window.curves if each.type == "transition"]
        assert len(lines) == count
        assert all(region.agrees for region in of_window.regions)
        for line in lines:
            assert np.abs(line.first).max() <= 1e-12
            assert line.coupling.min() == pytest.approx(2.0, rel=1e-9)


def test_negative_couplings_have_the_lines_of_the_opposite_potential():
    lines = []
    for sign in (-1.0, 1.0):
        problem = McKeanVlasov(Circle(), CosineSeries((sign,)), confinement=CosineSeries((0.1,)))
        window = (1.2, 4.0) if sign < 0.0 else (-4.0, -1.2)
        found = phase_diagram(problem, ("confinement_w1", (-0.3, 0.3)), coupling=window)
        lines += [np.sort(np.abs(each.coupling))[[0, -1]] for each in found.curves if each.type == "transition"]
    assert len(lines) == 2
    # They leave the window where a step does.
    assert all(most > 4.0 for _, most in lines)
    assert abs(lines[0][0] - lines[1][0]) <= 1e-9


@pytest.mark.parametrize("interval", [(-0.3, 1e-10), (-5.5e-17, 0.3)])
def test_a_field_that_vanishes_at_an_end_is_no_line(interval):
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0,)), confinement=CosineSeries((0.1,)))
    found = phase_diagram(problem, ("confinement_w1", interval), coupling=(1.2, 4.0))
    assert not [point for point in found.special_points if point.type != "cusp"]
    assert {each.type for each in found.curves} == {"fold"}
    assert [(region.minimiser, region.agrees) for region in found.regions] == [("primary", True)]


def test_a_line_crosses_another_that_passes_it_twice_in_a_triple_point():
    """The clusters of both orientations and the state near the uniform one, as without a field."""
    weights = (-1.0, -0.9)
    problem = McKeanVlasov(Circle(), CosineSeries(weights), confinement=CosineSeries((0.1,)))
    found = phase_diagram(problem, ("confinement_w1", (-0.05, 0.05)), coupling=(1.6, 2.4))
    (triple,) = [point for point in found.special_points if point.type == "triple point"]
    (free,) = bifurcation_diagram(problem.replace(confinement=None), (1.6, 2.4), rates=False).events("transition")
    assert abs(triple.values[0]) <= 1e-12
    assert abs(triple.coupling / free.coupling - 1.0) <= POINT
    assert len([each for each in found.curves if each.type == "transition"]) == 2
    assert all(region.agrees for region in found.regions)
    # It is bold from there on, where the clusters are lower than the uniform state.
    pieces = [line for line in found.plot().get_lines() if str(line.get_gid()).startswith("transition")]
    upright = [line for line in pieces if np.ptp(line.get_xdata()) <= 1e-9]
    widest = max(line.get_linewidth() for line in pieces)
    bold = [line for line in upright if line.get_linewidth() == widest]
    assert min(line.get_ydata().min() for line in bold) == pytest.approx(triple.coupling, abs=0.01)
    assert min(line.get_ydata().min() for line in upright) < triple.coupling - 0.02


def test_each_pair_of_lowest_states_has_its_own_line():
    """Without a field D_3h states are lowest at weak coupling, and zonal ones at strong."""
    potential, field = GegenbauerSeries((0.0, 0.0, -1.0)), GegenbauerSeries((0.0, 0.0, 0.1))
    problem = McKeanVlasov(Sphere(3), potential, confinement=field)
    window = Window(problem, "confinement_w3", (-0.1, 0.1), False, (6.0, 8.0))
    of_window = Found(window, sections=[Section(window, value, False) for value in (-0.002, 0.002)])
    follow_zero_field(of_window, 0.0)
    lines = {each.label: each for each in of_window.curves}
    assert set(lines) == {"transition C_2v | C_2v", "transition zonal 3 | zonal 3"}
    assert all(np.abs(line.first).max() <= 1e-12 for line in lines.values())
    for coupling in (7.2, 7.9):
        states = stationary_states(problem.replace(confinement=None).at(coupling=coupling), rates=False)
        by_name = {state.label: state.free_energy_gap for state in states}
        for label, name in (("transition C_2v | C_2v", "D_3h 3"), ("transition zonal 3 | zonal 3", "zonal 3")):
            line = lines[label]
            order = np.argsort(line.coupling)
            gap = float(CubicSpline(line.coupling[order], line.free_energy_gap[order])(coupling))
            assert gap == pytest.approx(by_name[name], rel=0.02)
    # Where the first falls behind is not told by one height.
    assert lines["transition C_2v | C_2v"].coupling.min() == pytest.approx(7.0, rel=1e-9)


def test_states_of_no_degree_that_is_odd_in_their_symmetry_have_no_image():
    """Of a zonal state of the degrees four and eight nothing breaks a symmetry of four, which is none on spheres."""
    potential, field = GegenbauerSeries((0, 0, 0, -1.0, 0, 0, 0, -0.1)), GegenbauerSeries((0, 0, 0, 0.05))
    for confinement in (None, field):
        problem = McKeanVlasov(Sphere(3), potential, confinement=confinement)
        events = bifurcation_diagram(problem, (7.0, 10.0), rates=False).events("fold")
        start = next(event for event in events if event.layout == "degree")
        assert len(curve(start, "w8", (-0.3, 0.1), method=Arclength(max_points=6))) > 6


def test_below_the_critical_coupling_nothing_exchanges():
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0,)), confinement=CosineSeries((0.1,)))
    found = phase_diagram(problem, ("confinement_w1", (-0.3, 0.3)), coupling=(0.5, 1.8))
    assert not found.curves
    assert not [warning for warning in found.warnings if "vanishes" in warning]
