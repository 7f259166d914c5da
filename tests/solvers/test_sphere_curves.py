"""Curves of special points of states about an axis of a sphere, and with confinements, against single diagrams."""

import functools

import numpy as np
import pytest

from meanfield import (
    Circle,
    CosineSeries,
    GegenbauerSeries,
    HegselmannKrause,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Outcome,
    Sphere,
    Transformer,
    maier_saupe_fold,
    maier_saupe_transition,
    tricritical_beta,
)
from solvers import bifurcation_diagram, curve

RANDOM = np.random.default_rng(3)
MIXTURE = McKeanVlasov(Sphere(3), MaierSaupe() + 0.1 * Kuramoto())
IN_A_FIELD = McKeanVlasov(Sphere(3), MaierSaupe(), confinement=GegenbauerSeries((0.0, 0.05)))


@functools.cache
def diagram_of(problem, low, high):
    return bifurcation_diagram(problem, (low, high), rates=False, depth=1)


@functools.cache
def events(problem, low, high):
    diagram = diagram_of(problem, low, high)
    return {kind: diagram.events(kind) for kind in ("fold", "transition", "branch point")}


def with_axis(points):
    return [point for point in points if point.layout == "degree"]


def relative_error(found, kind, place):
    """How far the coupling of a point of a curve is from that of the nearest event of a diagram there."""
    coupling, problem = found.coupling[place], found.state(place).problem.at(coupling=None)
    points = events(problem, 0.7 * coupling, 1.4 * coupling)[kind]
    return min(abs(point.coupling / coupling - 1) for point in points)


@pytest.mark.parametrize("kind", ["fold", "transition"])
def test_a_mode_that_a_state_does_not_have_does_not_matter(kind):
    found = curve(events(MIXTURE, 5.0, 12.0)[kind][0], "kuramoto_factor", (0.05, 1.0))
    exact = {"fold": maier_saupe_fold(3), "transition": maier_saupe_transition(3)}[kind]
    # The coupling of Maier and Saupe in closed form is that of 40 digits.
    assert found.coupling == pytest.approx(np.full(len(found), exact.ratio), rel=1e-11)
    assert (found.symmetry, np.abs(found.slope).max() <= 1e-11) == (2, True)


def test_the_polar_mode_ends_the_line_of_nematics():
    """The uniform state becomes unstable to degree one where kappa_1 = 3/a is the transition's coupling.

    The nematic one does so before, where kappa a <u^2> = 1, with <u^2> = (1 + 2 S)/3 of S = 0.42902902571...
    """
    found = curve(events(MIXTURE, 5.0, 12.0)["transition"][0], "kuramoto_factor", (0.05, 1.0))
    before, end = found.special_points
    assert (before.type, end.type) == ("end point", "end point")
    square = (1.0 + 2.0 * found.moments.lengths[0][2]) / 3.0
    assert before.values[0] == pytest.approx(1.0 / (maier_saupe_transition(3).ratio * square), rel=1e-11)
    assert end.values[0] == pytest.approx(3.0 / maier_saupe_transition(3).ratio, rel=1e-11)
    unstable = found.unstable[[0, -1]]
    assert unstable[0] == 0 <= unstable[1]


@pytest.mark.parametrize(("dimension", "beta"), [(3, float(RANDOM.uniform(3, 15))), (4, 9.0)])
def test_lines_of_the_transformer(dimension, beta):
    start = events(McKeanVlasov(Sphere(dimension), Transformer(8.0)), *_window(dimension, 8.0))["transition"][0]
    found = curve(start, "beta", (min(beta, 7.5), max(beta, 8.5)))
    place = 0 if beta < 7.5 else -1
    assert found.first[place] == beta
    assert relative_error(found, "transition", place) <= 1e-11


def _window(dimension, beta):
    from meanfield import critical_coupling

    critical = critical_coupling(McKeanVlasov(Sphere(dimension), Transformer(beta)))
    return 0.6 * critical, 1.3 * critical


def test_thresholds_know_tricritical_points_of_spheres():
    start = events(McKeanVlasov(Sphere(3), Transformer(1.5)), *_window(3, 1.5))["branch point"][0]
    (point,) = curve(start, "beta", (1.0, 3.0)).special_points
    assert (point.type, point.values[0]) == (
        "tricritical",
        pytest.approx(tricritical_beta(1, Sphere(3)), rel=1e-12),
    )
    folds = curve(point, "beta", (1.0, 2.5), type="fold")
    assert folds.first[0] == pytest.approx(point.values[0], rel=1e-12)
    assert relative_error(folds, "fold", -1) <= 1e-11


def test_folds_in_a_field_on_the_sphere():
    fold = with_axis(events(IN_A_FIELD, 0.5, 9.0)["fold"])[0]
    found = curve(fold, "confinement_w2", (-0.3, 0.1))
    (cusp,) = found.special_points
    assert (cusp.type, cusp.status) == ("cusp", "converged")
    assert cusp.values[0] < 0.0
    assert max(relative_error(found, "fold", place) for place in (0, -1)) <= 1e-11
    line = curve(cusp, "confinement_w2", (-0.3, 0.1), type="transition")
    without = maier_saupe_transition(3).ratio
    crossing = curve(line.point(len(line) // 2), "confinement_w2", (-0.3, 0.0))
    end = 0 if crossing.first[0] == 0.0 else -1
    assert crossing.second[end] == pytest.approx(without, rel=1e-11)
    over_noise = curve(fold, "noise", (0.8, 1.2))
    assert relative_error(over_noise, "fold", -1) <= 1e-11


def test_a_curve_that_leaves_the_resolvable_range_says_so():
    fold = bifurcation_diagram(
        McKeanVlasov(Circle(), Transformer(6.0), confinement=CosineSeries((0.02,))),
        (0.0, 0.12),
        rates=False,
        depth=1,
    ).events("fold")[-1]
    found = curve(fold, "noise", (1e-7, 1.1), against="coupling", largest_coupling=1.0)
    assert found.first_outcome is Outcome.NOT_RESOLVED
    assert any("too concentrated" in warning for warning in found.warnings)
    # Before, interactions are too strong for a state.
    warnings = curve(fold, "noise", (1e-7, 1.1), against="coupling").warnings
    assert any("largest_coupling" in warning for warning in warnings)


def test_a_coupling_beyond_doubles_ends_a_curve():
    fold = bifurcation_diagram(
        McKeanVlasov(Circle(), Transformer(6.0)), relative=(0.7, 1.1), rates=False, depth=1
    ).events("fold")[0]
    found = curve(fold, "beta", (5.0, 2000.0))
    assert found.outcome is Outcome.PARTIAL
    assert (found.coupling > 0.0).all()
    assert "range of doubles" in found.warnings[0]


def test_an_interval_with_inadmissible_values_ends_before_them():
    problem = McKeanVlasov(Circle(), HegselmannKrause(2.5))
    start = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False, depth=0).events("branch point")[0]
    found = curve(start, "radius", (2.4, 4.0))
    assert found.first.max() <= np.pi
    assert found.warnings


@pytest.mark.parametrize(
    ("problem", "name", "kind"),
    [
        (McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, 0.0, -1.0), 3)), "w4", "fold"),
        (McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, 0.0, -1.0), 3)), "w4", "transition"),
        (McKeanVlasov(Sphere(4), GegenbauerSeries((0.0, -1.0), 4)), "w2", "fold"),
        (McKeanVlasov(Circle(), CosineSeries((0.0, -1.0))), "w2", "branch point"),
    ],
    ids=str,
)
def test_the_curve_of_one_harmonic_is_a_hyperbola(problem, name, kind):
    """Its coupling is inverse to the coefficient."""
    (start, *_) = bifurcation_diagram(problem, relative=(0.5, 1.5), rates=False).events(kind)
    line = curve(start, name, (-1.5, -0.5))
    assert np.ptp(line.values[:, 0] * line.values[:, 1]) <= 1e-11 * abs(start.coupling)
    assert line.values[[0, -1], 0].tolist() == [-1.5, -0.5]
