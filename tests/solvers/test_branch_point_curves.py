"""Curves of branch points on branches of clustered states: against diagrams, differences and closed forms."""

import functools

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, InvalidInput, McKeanVlasov, Outcome, critical_couplings
from solvers import Arclength, bifurcation_diagram, curve, phase_diagram
from solvers.bases import EPS, CosineBasis
from solvers.circle.complements import complements
from solvers.equations.geometry import Density
from solvers.phases.found import ON_CURVE
from solvers.phases.window import Window

RANDOM = np.random.default_rng(5)


def secondary(w, relative=(0.5, 4.0)):
    problem = McKeanVlasov(Circle(), CosineSeries(w))
    diagram = bifurcation_diagram(problem, relative=relative, rates=False, depth=2)
    return [p for p in diagram.events("branch point") if diagram.branches[p.branch].symmetry]


def nearest(w, coupling):
    couplings = np.array([float(point.coupling) for point in secondary(w, (0.4, 6.0))])
    return couplings[np.argmin(np.abs(couplings - coupling))]


@pytest.mark.parametrize(
    "w",
    [
        [-1.0, -1.2],
        [-1.0, -RANDOM.uniform(1.3, 1.8)],
        [-0.1, -1.2, -1.0],
        [-0.3, -1.2, -RANDOM.uniform(0.1, 0.3), -0.4],
        [-0.3, -1.0, -1.1, -RANDOM.uniform(0.2, 0.4), -0.2],
    ],
)
def test_points_and_slopes_are_those_of_diagrams(w):
    starts = secondary(w)
    assert starts
    for start in starts[:1]:
        found = curve(start, "w2", (w[1] - 0.15, w[1] + 0.1))
        assert found.type == "branch point"
        assert found.label.startswith("branch point of the ")
        # Some curves end in a mode interaction within the interval.
        low, high = max(w[1] - 0.14, found.first.min() + 0.01), min(w[1] + 0.09, found.first.max() - 0.01)
        value = RANDOM.choice([RANDOM.uniform(low, w[1] - 0.01), RANDOM.uniform(w[1] + 0.01, high)])
        end = curve(start, "w2", tuple(sorted((value, 2 * w[1] - value))))
        place = int(np.argmin(np.abs(end.first - value)))
        assert end.first[place] == value
        assert end.coupling[place] == pytest.approx(nearest([w[0], value, *w[2:]], end.coupling[place]), rel=1e-11)
        beside = [
            curve(start, "w2", tuple(sorted((value + step, 2 * w[1] - value)))) for step in 1e-3 * np.arange(-2, 3)
        ]
        couplings = [each.coupling[np.argmin(np.abs(each.first - value))] for each in beside]
        steps = [each.first[np.argmin(np.abs(each.first - value))] - value for each in beside]
        slope = np.polynomial.Polynomial.fit(steps, couplings, 4, domain=[-1, 1]).coef[1]
        assert end.slope[place] == pytest.approx(slope, rel=1e-9, abs=1e-11)


def test_the_curve_begins_where_the_modes_of_both_branches_are_critical_together():
    found = curve(secondary([-1.0, -1.2])[0], "w2", (-2.0, -0.2))
    tricritical, point = found.special_points
    assert (tricritical.type, tricritical.status) == ("tricritical", "converged")
    assert (point.type, point.status) == ("mode interaction", "converged")
    assert point.values == pytest.approx([-1.0, 2.0], abs=1e-14)
    assert found.outcome is Outcome.JOINED_BRANCH
    # In the resonance it is tangent to the threshold of the second mode, 2/|w2|.
    assert found.slope[-1] == pytest.approx(2.0, rel=1e-12)
    assert not found.warnings


def test_the_last_arc_to_a_resonance_is_where_diagrams_have_the_branch_point():
    def clusters(second):
        return McKeanVlasov(Circle(), CosineSeries([-1.0, second, -0.5]))

    def branch_point(second):
        diagram = bifurcation_diagram(clusters(second), relative=(0.99, 1.01), rates=False, depth=1)
        return next(p for p in diagram.events("branch point") if diagram.branches[p.branch].symmetry)

    found = curve(branch_point(-1.05), "w2", (-1.1, -0.6))
    window = Window(clusters(-0.7), "w2", (-1.1, -0.6), False, (1.2, 2.2))
    for second in np.linspace(*found.first[-2:], 4)[1:-1].tolist():
        x, y = window.scaled(second, float(branch_point(second).coupling))
        assert abs(np.interp(x, *window.track(found).T) - y) <= ON_CURVE
    # Its arclength is that of the points before, of which the tangent is the derivative.
    chord = np.diff(found.values[-2:], axis=0)[0] / np.diff(found.arclength[-2:])[0]
    assert chord == pytest.approx(found.tangent[-2:].mean(axis=0), rel=1e-3)


def test_without_a_resonance_the_direction_there_is_the_limit_of_directions():
    start = secondary([-0.1, -1.2, -1.0])[0]
    errors = []
    for step in (0.06, 0.02):
        found = curve(start, "w3", (-1.25, -0.95), method=Arclength(max_step=step))
        (point,) = found.special_points
        assert point.type == "mode interaction"
        assert point.values == pytest.approx([-1.2, 2 / 1.2], rel=1e-12)
        amplitudes, slopes = found.cosine[1:4, 2], found.slope[1:4]
        limit = np.polynomial.Polynomial.fit(amplitudes, slopes, 2)(0.0)
        errors.append(abs(found.slope[0] - limit) / amplitudes[0] ** 2)
    # Errors of the second order in the amplitude.
    assert max(errors) < 2.0


@pytest.mark.parametrize("symmetry", [1, 2, 3, 5])
def test_moments_of_classes_are_those_of_quadrature(symmetry):
    angles = 2 * np.pi * np.arange(512) / 512
    density = np.exp(0.8 * np.cos(symmetry * angles) - 0.5 * np.cos(2 * symmetry * angles))
    density /= density.sum()
    moments = np.array([density @ np.cos(symmetry * cell * angles) for cell in range(40)])
    basis = CosineBasis(np.arange(1, 6), 64, symmetry)
    state = Density(basis, np.zeros(5), moments)
    own_modes = np.cos(np.outer(basis.degrees, angles))
    for found in complements(basis, 12):
        degrees = found.degrees(12)
        modes = (np.cos if found.sign > 0 else np.sin)(np.outer(degrees, angles))
        assert modes @ density == pytest.approx(0.0, abs=1e-14)
        assert found.covariance(state, degrees) == pytest.approx((modes * density) @ modes.T, abs=1e-14)
        chi, phi = RANDOM.normal(size=(2, degrees.size))
        weight = (chi @ modes) * (phi @ modes) * density
        products, mass = found.products(state, degrees, chi, phi)
        assert products == pytest.approx(own_modes @ weight, abs=1e-13)
        assert mass == pytest.approx(weight.sum(), abs=1e-13)


def test_phase_diagrams_have_the_curves():
    problem = McKeanVlasov(Circle(), CosineSeries([-1.0, -1.2]))
    found = phase_diagram(problem, ("w2", (-2.0, -1.1)), coupling=(1.0, 2.4))
    curves = [each for each in found.curves if each.type == "branch point"]
    assert curves
    assert not any("is not followed" in warning or "disagree" in warning for warning in found.warnings)
    assert any(region.minimiser == "2-cluster" for region in found.regions)
    for each in curves:
        below = [critical_couplings(problem.with_parameter("w2", value), 2)[2] for value in each.first]
        assert (each.coupling >= below).all()


@pytest.mark.parametrize(
    ("w", "v", "parameter", "interval"),
    [
        ([-1.0, -0.3], [0.0, 0.4], "confinement_w2", (0.2, 0.5)),
        ([-1.0, -0.3], [0.0, -0.4], "noise", (0.8, 1.2)),
        ([-0.6, -0.7, -1.2, -0.3], None, "w3", (-1.5, -1.0)),
    ],
)
def test_confined_states_and_3_clusters_agree_with_diagrams(w, v, parameter, interval):
    problem = McKeanVlasov(Circle(), CosineSeries(w), confinement=None if v is None else CosineSeries(v))

    def points(value):
        diagram = bifurcation_diagram(problem.with_parameter(parameter, value), (0.2, 8.0), rates=False, depth=2)
        return [p for p in diagram.events("branch point") if diagram.branches[p.branch].symmetry]

    starts = points(problem.parameters[parameter])
    assert starts
    for start in starts:
        found = curve(start, parameter, interval)
        assert tuple(found.first[[0, -1]]) == interval
        for place in (0, -1):
            couplings = [float(point.coupling) for point in points(interval[place])]
            assert min(abs(np.array(couplings) / found.coupling[place] - 1.0)) <= 1e-11


@functools.cache
def of_four_modes():
    """Curves of the 1-cluster that is born of the 2-cluster, first discontinuously, then continuously."""
    problem = McKeanVlasov(Circle(), CosineSeries([-0.69, -1.0, 0.0, -0.9]))
    diagram = bifurcation_diagram(problem, (1.5, 2.2), rates=False)
    born, fold, line = (
        next(p for p in diagram.events(kind)[::-1] if diagram.branches[p.branch].label.startswith(label))
        for kind, label in (("branch point", "2-cluster"), ("fold", "1-cluster"), ("transition", "1-cluster"))
    )
    return [curve(start, "w1", (-0.76, -0.5)) for start in (born, fold, line)]


def test_a_branch_point_turns_where_the_folds_and_the_line_of_the_branch_born_there_end():
    born, fold, line = of_four_modes()
    (point,) = (each for each in born.special_points if each.type == "tricritical")
    (end,) = fold.special_points
    assert (point.status, end.type) == ("converged", "tricritical")
    assert point.upper - point.lower <= 1e-12
    assert (born.label, fold.label) == (point.curves[0], end.curves[0])
    # The folds are those of a pitchfork: the parameter is even in the amplitude, which is zero where they end.
    near = np.argsort(fold.cosine[:, 1])[1:7]
    even = [np.polynomial.Polynomial.fit(fold.cosine[near, 1] ** 2, row, 5)(0.0) for row in fold.values[near].T]
    assert even == pytest.approx(point.values, abs=2e-6)
    assert end.values == pytest.approx(point.values, rel=1e-11)
    triple, last = line.special_points
    assert (triple.type, last.type) == ("triple point", "end point")
    assert last.values == pytest.approx(point.values, rel=1e-11)
    # The 2-cluster is that of -cos t - 0.9 cos 2t, whose transition is known to 18 digits.
    assert triple.coupling == pytest.approx(1.82154444297096003, rel=1e-11)


def test_all_lines_of_a_triple_point_start_from_it():
    *_, line = of_four_modes()
    triple = line.special_points[0]
    assert triple.other_cosine.shape[0] == 2
    found = {curve(triple, "w1", (-0.75, -0.6), between=pair).label: pair for pair in ((0, 1), (0, 2), (2, 1))}
    assert set(found) == {line.label, "transition uniform | 1-cluster", "transition uniform | 2-cluster"}
    for label, pair in found.items():
        again = curve(triple, "w1", (-0.75, -0.6), between=pair)
        nearest = np.argmin(np.abs(again.first - triple.values[0]))
        assert again.values[nearest] == pytest.approx(triple.values, rel=1e-11), label
    with pytest.raises(InvalidInput, match=r"between takes two of the states 0 to 2, not \(0, 3\)"):
        curve(triple, "w1", (-0.75, -0.6), between=(0, 3))
    with pytest.raises(InvalidInput, match="between chooses a line of a triple point, and the start is none"):
        curve(line.point(0), "w1", (-0.75, -0.6), between=(0, 1))


def test_fourth_moments_are_known_to_rounding_where_a_state_is_nearly_a_point():
    # There perturbations vanish like the distance from the point, and sums of its moments would cancel.
    strength = 1e4
    basis = CosineBasis(np.arange(1, 4), 2048, 2)
    field = strength * np.array([1.0, 0.3, 0.1])
    state = Density(basis, field, basis.gibbs(field).moments)
    distances, weights = np.polynomial.legendre.leggauss(200)
    angles = 6.0 / np.sqrt(strength) * (distances + 1.0)
    density = weights * np.exp(field @ (np.cos(np.outer(basis.degrees, angles)) - 1.0))
    for found in complements(basis, 9):
        degrees = found.degrees(7)
        phi = np.linspace(1.0, 2.0, degrees.size)
        values = phi @ (np.cos if found.sign > 0 else np.sin)(np.outer(degrees, angles))
        second, fourth = (float(density @ values**power) / density.sum() for power in (2, 4))
        # The field is known to its rounding.
        moments = [found.integral(state, degrees, np.array([phi] * power)) for power in (2, 4)]
        assert moments == pytest.approx((second, fourth), rel=strength * EPS)


def test_no_curve_turns_by_rounding():
    problem = McKeanVlasov(Circle(), CosineSeries((-0.33, -0.98, -0.29)), noise=0.7)
    diagram = bifurcation_diagram(problem, relative=(0.5, 1.6), rates=False)
    start = next(point for point in diagram.events("branch point") if point.coupling > 1.5)
    found = curve(start, "w1", (-0.6, 0.45), largest_coupling=6e4)
    (point,) = found.special_points
    assert (point.type, point.status) == ("tricritical", "converged")
    assert found.coupling.max() > 5e4
    assert found.warnings == ()


def test_a_parameter_may_act_on_the_critical_direction_alone():
    w = (-0.97, -1.0, -0.64, -0.06)
    problem = McKeanVlasov(Circle(), CosineSeries(w), noise=1.23)
    diagram = bifurcation_diagram(problem, relative=(0.4, 2.0), rates=False)
    start = min(diagram.events("branch point"), key=lambda point: abs(float(point.coupling) - 2.9891))
    assert not start.cosine[1::2].any()
    found = curve(start, "noise", (0.9, 1.4), against="w1")
    assert found.type == "branch point"
    for place in (0, len(found) - 1):
        noise, w1 = found.values[place]
        moved = McKeanVlasov(Circle(), CosineSeries((float(w1), *w[1:])), noise=float(noise))
        diagram = bifurcation_diagram(moved, relative=(0.4, 2.0), rates=False)
        couplings = [float(point.coupling) for point in diagram.events("branch point")]
        assert min(abs(each / float(start.coupling) - 1.0) for each in couplings) < 1e-11


def test_a_start_beside_an_interaction_of_modes_leads_to_it():
    problem = McKeanVlasov(Circle(), CosineSeries((-0.39, -1.006, -0.577, -1.037)))
    diagram = bifurcation_diagram(problem, relative=(0.6, 1.5), rates=False)
    start = min(diagram.events("branch point"), key=lambda point: abs(float(point.coupling) - 1.9295))
    (end,) = curve(start, "w2", (-1.406, -0.706)).special_points
    assert (end.type, end.status) == ("mode interaction", "converged")
    assert end.values == pytest.approx((-1.037, 2.0 / 1.037), rel=1e-12)
