"""Lines at zero field between a state along an axis of the field and the same one leaning from it."""

import functools

import numpy as np
import pytest
from scipy.special import eval_legendre, iv

from meanfield import Circle, CosineSeries, External, GegenbauerSeries, McKeanVlasov, Sphere
from solvers import bifurcation_diagram, curve, phase_diagram, stationary_states

ROUNDING = 1e-13
EPS = np.finfo(float).eps
# Of a field that shows on which side of the line a state is.
STRENGTH = 1e-4
NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def problem(interaction, field):
    return McKeanVlasov(Sphere(3), GegenbauerSeries(interaction), confinement=GegenbauerSeries(field))


@functools.cache
def diagram(interaction, field, name, window):
    return phase_diagram(problem(interaction, field), (name, (-0.5, 0.5)), coupling=window)


def line_of(found):
    (line,) = [each for each in found.curves if each.type == "transition"]
    return line


def moment(degree, order_parameter, coupling, interaction):
    """<P_degree> of exp(coupling times the moment times P_k), k the degree of the interaction."""
    density = WEIGHTS * np.exp(coupling * order_parameter * eval_legendre(len(interaction), NODES))
    return float(density @ eval_legendre(degree, NODES) / density.sum())


@pytest.mark.parametrize(
    ("interaction", "window", "beginning"),
    [((-1.0,), (2.0, 6.0), 3.0), ((0.0, -1.0), (5.0, 9.0), None)],
)
def test_a_cluster_leans_where_the_field_of_degree_four_changes_its_sign(interaction, window, beginning):
    """P_4 is greatest at the pole and least at cos^2 = 3/7, whatever the moments that do not vanish."""
    found = diagram(interaction, (0.0, 0.0, 0.0, 0.1), "confinement_w4", window)
    line, degree = line_of(found), len(interaction)
    assert not line.first.any()
    assert all(region.agrees for region in found.regions)
    assert {region.minimiser for region in found.regions} >= {"C_s" if degree == 1 else "C_2h"}
    assert not any("not followed:" in text for text in found.warnings)
    cosine = np.sqrt(3.0 / 7.0)
    leaning = {1: cosine, 2: eval_legendre(2, cosine)}[degree]
    place = degree * (degree + 1) // 2
    for row in np.flatnonzero(line.coupling > 1.01 * line.coupling.min()):
        own = line.cosine[row, place]
        assert moment(degree, own, line.coupling[row], interaction) == pytest.approx(own, abs=ROUNDING)
        assert line.cosine[row, 10] == pytest.approx(moment(4, own, line.coupling[row], interaction), abs=ROUNDING)
        # With an odd moment the state may stand on its head, as the field does not.
        assert abs(line.other_cosine[row, place]) == pytest.approx(abs(own * leaning), abs=ROUNDING)
        np.testing.assert_allclose(
            line.state(int(row)).moments.lengths[:6], np.abs(_lengths(line, row)[:6]), atol=ROUNDING
        )
    if beginning is None:
        # Both of its states end in the fold of the nematic without a field.
        free = problem(interaction, (0.1,)).replace(confinement=None)
        beginning = bifurcation_diagram(free, (4.0, 5.0), rates=False).events("fold")[0].coupling
    assert line.coupling.min() == pytest.approx(float(beginning), rel=1e-11)


def _lengths(line, row):
    """The lengths of the second state's moments by degree."""
    cosine, sine = line.other_cosine[row], line.other_sine[row]
    return np.array(
        [
            np.sqrt((cosine[k * (k + 1) // 2 :][: k + 1] ** 2 + sine[k * (k + 1) // 2 :][: k + 1] ** 2).sum())
            for k in range(8)
        ]
    )


def test_a_field_of_several_degrees_turns_the_state_along_the_line():
    """The angle follows the moments, which grow at different rates; the states beside have it."""
    field, couplings = (0.0, 0.02, 0.0, 0.1), (4.5, 5.8)
    line = line_of(diagram((-1.0,), field, "confinement_gegenbauer_series_factor", (2.0, 6.0)))
    angles = []
    for coupling in couplings:
        row = int(np.argmin(np.abs(line.coupling - coupling)))
        length = _lengths(line, row)[1]
        for side, cosines in ((-1.0, line.cosine[row]), (1.0, line.other_cosine[row])):
            beside = problem((-1.0,), tuple(side * STRENGTH * each for each in field))
            lowest = stationary_states(beside.at(coupling=float(line.coupling[row])), rates=False)[0]
            # The field moves moments by as much as its strength.
            assert abs(cosines[1]) == pytest.approx(abs(lowest.cosine[1]), abs=10 * STRENGTH)
        angles.append(abs(line.other_cosine[row, 1]) / length)
    assert abs(angles[0] - angles[1]) > 1e-2


def test_the_line_of_the_nematic_meets_its_transition_without_a_field():
    line = line_of(diagram((0.0, -1.0), (0.0, 0.0, 0.0, 0.1), "confinement_w4", (5.0, 9.0)))
    free = problem((0.0, -1.0), (0.1,)).replace(confinement=None)
    (transition,) = bifurcation_diagram(free, (4.0, 5.0), rates=False).events("transition")
    row = int(np.argmin(np.abs(line.coupling - transition.coupling)))
    # The derivative of the gap is minus half of the order parameter squared, which grows along the line.
    away = abs(float(line.coupling[row] - transition.coupling))
    bound = 0.5 * away * line.cosine[row + 1, 3] ** 2
    # The line may have the transition as a point of its own, where only the rounding of two energies
    # is left, which are of the order of the coupling.
    rounding = 16 * np.finfo(float).eps * line.coupling[row]
    assert abs(line.observables["free_energy_gap"][row]) <= bound + rounding


def circle_diagram(weights, field, power=1):
    """Of the circle over a strength, an odd power of h, that changes its sign."""
    series = External.from_expression(f"h**{power}*({field})", h=0.12)
    interacting = McKeanVlasov(Circle(), CosineSeries(weights), confinement=series)
    return phase_diagram(interacting, ("confinement_h", (-0.3, 0.3)), coupling=(1.4, 2.8))


@pytest.mark.parametrize("power", [1, 3])
@pytest.mark.parametrize(
    ("field", "force"),
    [
        ("cos(t) - 0.6*cos(2*t)", lambda angle: np.cos(angle) - 0.6j * np.cos(2.0 * angle)),
        ("cos(t) + 0.5*sin(2*t)", lambda angle: np.cos(angle) + 0.5j * np.sin(2.0 * angle)),
    ],
)
def test_a_cluster_of_the_circle_leans_where_a_field_of_two_degrees_vanishes(field, force, power):
    """It stands where the average of the field, here among many angles, is least on one side and greatest on the other.

    The real part of the force is that of degree one, the imaginary part that of degree two.
    """
    found = circle_diagram((-1.0,), field, power)
    (line,) = [each for each in found.curves if each.type == "transition" and np.ptp(each.first) < 1e-15]
    assert abs(line.first[0]) <= EPS
    assert not any(text.startswith("a line") and "not followed" in text for text in found.warnings)
    assert line.coupling.min() == pytest.approx(2.0, rel=1e-14)
    assert line.coupling.max() > 2.8
    angles = np.linspace(0.0, 2.0 * np.pi, 20001)
    shape, leant = force(angles), []
    for row in np.flatnonzero(line.coupling > 2.1):
        kappa, own = line.coupling[row], np.hypot(line.cosine[row, 1], line.sine[row, 1])
        first, second = iv(1, kappa * own) / iv(0, kappa * own), iv(2, kappa * own) / iv(0, kappa * own)
        assert first == pytest.approx(own, abs=ROUNDING)
        average = first * shape.real + second * shape.imag
        for side, cosine, sine in (
            (-1.0, line.cosine[row], line.sine[row]),
            (1.0, line.other_cosine[row], line.other_sine[row]),
        ):
            angle = np.arctan2(sine[1], cosine[1])
            own = first * force(angle).real + second * force(angle).imag
            assert side * own <= (side * average).min() + ROUNDING
            density = cosine - 1j * sine
            expected = np.exp(-1j * np.arange(3) * angle) * np.array([1.0, first, second])
            np.testing.assert_allclose(density[:3], expected, atol=ROUNDING)
            leant.append(abs(np.sin(angle)))
    assert max(leant) > 0.1


@pytest.mark.parametrize("power", [1, 2, 3])
def test_folds_end_where_a_confinement_vanishes_with_a_power(power):
    """Steps of Newton's method to there leave the share 1 - 1/power of the way."""
    series = External.from_expression(f"(h - 0.1)**{power}*cos(t)", h=0.4)
    confined = McKeanVlasov(Circle(), CosineSeries((-1.0,)), confinement=series)
    start = bifurcation_diagram(confined, (0.5, 4.0), rates=False).events("fold")[0]
    found = curve(start, "confinement_h", (0.0, 0.5))
    kind = "cusp" if power == 1 else "mode interaction"
    ends = [point for point in found.special_points if point.type == kind]
    assert len(ends) == 1
    assert ends[0].status == "converged"
    assert ends[0].lower <= 0.1 <= ends[0].upper
    assert ends[0].coupling == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("weights", [(-1.0, -0.85), (-1.0, -0.7), (-0.73, -1.0, -0.98)])
def test_the_regions_beside_a_leaning_line_are_confirmed(weights):
    """With two degrees of the interaction the lowest states are of several branches."""
    found = circle_diagram(weights, "cos(t) - 0.6*cos(2*t)")
    assert all(region.agrees for region in found.regions)
    assert not [text for text in found.warnings if "differ inside" in text]


def test_a_state_that_the_field_does_not_turn_has_no_line():
    """To first order a cluster of three is not turned by degrees one and two."""
    found = circle_diagram((-0.49, -0.02, -1.0), "cos(t) + 0.5*sin(2*t)")
    assert not [each for each in found.curves if each.type == "transition"]
    assert any("does not turn the state of the line to first order" in text for text in found.warnings)


def test_a_weak_state_is_no_state_where_the_field_vanishes():
    found = circle_diagram((-1.0, -0.2, -0.42), "cos(t)")
    assert not any("not followed" in text for text in found.warnings)
    # The line and the folds begin there, at one point of one name.
    assert [(point.type, round(point.coupling, 12)) for point in found.special_points] == [("cusp", 2.0)]


def test_branch_points_that_a_high_power_of_the_field_tells_apart_meet_where_it_vanishes():
    """Those of cosines and sines of degree three differ by its cube: rounding where the 2-cluster is small."""
    found = circle_diagram((-0.49, -0.02, -1.0), "cos(2*t)")
    (point,) = [point for point in found.special_points if point.type == "mode interaction"]
    assert abs(point.values[0]) <= EPS
    assert point.coupling == pytest.approx(2.0, rel=1e-14)
    assert point.status == "converged"
