"""Phase diagrams against stationary states at points of the window, closed forms, and what they say of lost curves."""

import dataclasses
import functools
import math
import re

import numpy as np
import pytest

import solvers.phases.found
import solvers.phases.uniform
from meanfield import (
    Circle,
    CommonFrequency,
    ComputationFailed,
    CosineSeries,
    Custom,
    External,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    Sphere,
    Transformer,
    critical_coupling,
    equation_from,
    free_energy_parts,
)
from meanfield.equations import equation_of
from solvers import bifurcation_diagram, curve, phase_diagram, stationary_states
from solvers.branches.labels import own_name
from solvers.phases.found import ON_CURVE, Found
from solvers.phases.window import Window

EPS = float(np.finfo(float).eps)
ON_CIRCLE = McKeanVlasov(Circle(), Transformer(beta=1.0))


@functools.cache
def of_the_transformer():
    return phase_diagram(ON_CIRCLE, ("beta", (1.0, 10.0)), relative=(0.4, 1.6))


@functools.cache
def of_the_cusp():
    return phase_diagram(
        McKeanVlasov(Circle(), CosineSeries([-1.0, -0.4, -0.5])), ("w3", (-0.9, -0.3)), coupling=(1.7, 2.2)
    )


def disagreements(diagram, trials, seed, doubted=(), aside=2e-3):
    """Return the points, of random ones not beside a curve, at which a search finds other states than the region.

    Points in doubted regions are left out.
    """
    random, found = np.random.default_rng(seed), []
    (low, high), (lowest, highest) = diagram.interval, diagram.window
    for x, y in random.random((trials, 2)):
        first, height = low + x * (high - low), lowest + y * (highest - lowest)
        beside = {
            id(diagram.region_at(first, np.clip(height + side * aside * (highest - lowest), lowest, highest)))
            for side in (-1, 0, 1)
        }
        region = diagram.region_at(first, height)
        if len(beside) > 1 or region is None or any(region is other for other in doubted):
            continue
        problem = diagram.problem.with_parameter(diagram.parameter, float(first))
        unit = 1.0 if diagram.unit == "coupling" else critical_coupling(problem)
        states = stationary_states(problem.at(coupling=float(height * unit)), rates=False)
        stable = [state for state in states if state.unstable == 0]
        if (own_name(stable[0].label), len(stable)) != (region.minimiser, region.stable):
            found.append((first, height, region.name, [state.label for state in stable]))
    return found


def test_the_transformer_has_four_regions_about_its_tricritical_point():
    diagram = of_the_transformer()
    # From beta = 8.6 on three modes are critical in the window, and sections look for no isolated branches.
    assert all("branches that none of these leads to" in warning for warning in diagram.warnings)
    assert {(region.minimiser, region.stable) for region in diagram.regions} == {
        ("uniform", 1), ("1-cluster", 1), ("uniform", 2), ("1-cluster", 2),
    }  # fmt: skip
    assert all(region.agrees for region in diagram.regions)
    assert math.fsum(region.area for region in diagram.regions) == pytest.approx(1.0, abs=1e-4)
    first = diagram.events("tricritical")[0]
    # Theory, to 20 digits: I_2/I_1 = 1/2.
    assert first.values[0] == pytest.approx(2.44691831128904613, abs=1e-12)
    assert {"fold of the 1-cluster", "threshold of mode 1", "threshold of mode 2"} <= {
        curve.label for curve in diagram.curves
    }
    assert any(curve.type == "transition" for curve in diagram.curves)
    assert any("tricritical" in origin for origin in diagram.origins)


def test_the_end_of_a_curve_is_on_it_to_rounding():
    problem = McKeanVlasov(Circle(), Transformer(5.0))
    start = bifurcation_diagram(problem, relative=(0.7, 1.4), rates=False).events("fold")[0]
    found = Found(Window(problem, "beta", (1.5, 9.0), True, (0.4, 1.6)))
    found.add(curve(start, "beta", (1.5, 9.0)), "")
    ((end,),) = (each.special_points for each in found.curves)
    for shift in (-1e-13, 0.0, 1e-13):
        assert found.passing("fold", float(end.values[0]) + shift, float(end.coupling)) == 1
    assert found.passing("fold", float(end.values[0]) - 0.01, float(end.coupling)) == 0


@pytest.mark.parametrize("kind", ["fold", "transition"])
def test_a_point_between_those_of_a_long_curve_is_known_to_be_on_it(kind):
    """Lines between the points of a curve over such an interval are farther from it than what tells curves apart."""
    problem = McKeanVlasov(Circle(), Transformer(beta=5.05486868463473))
    start = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False, depth=1).events(kind)[0]
    found = Found(Window(problem, "beta", (1.0, 200.0), True, (0.4, 1.6)))
    found.add(curve(start, "beta", (1.0, 200.0)), "")
    track, known = found.tracks[0], found.curves[0]
    middles = 0.5 * (known.first[1:] + known.first[:-1])
    farther = 0
    for beta in middles[(middles > 3.5) & (middles < 30.0)].tolist():
        own = problem.with_parameter("beta", beta)
        point = bifurcation_diagram(own, relative=(0.4, 1.05), rates=False, depth=1).events(kind)[0]
        assert found.knows(kind, beta, point.coupling)
        x, y = found.window.scaled(beta, point.coupling)
        farther += abs(float(np.interp(x, *track.T)) - y) > ON_CURVE
        for side in (-10.0, 10.0):
            height = found.window.unscaled(x, y + side * ON_CURVE)[1]
            assert not found.knows(kind, beta, height * found.window.unit(beta))
    assert farther >= 3


def test_relative_heights_of_a_curve_have_their_kink_where_two_thresholds_cross():
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.9)))
    start = bifurcation_diagram(problem, relative=(0.8, 1.2), rates=False, depth=1).events("fold")[0]
    window = Window(problem, "w2", (-1.3, -0.8), True, (0.6, 1.2), kinks=(-1.0,))
    track = window.track(curve(start, "w2", (-1.3, -0.8)))
    coupling = curve(start, "w2", (-1.0, -0.8)).coupling[0]
    x, y = window.scaled(-1.0, float(coupling))
    assert abs(float(np.interp(x, *track[np.argsort(track[:, 0])].T)) - y) <= ON_CURVE


def test_a_line_is_drawn_as_one_across_the_kink_of_the_critical_coupling():
    """Where modes 1 and 2 are critical together, between two points of a line that are far apart."""
    potential = CosineSeries((-1.0, -0.9, -0.8))
    diagram = phase_diagram(McKeanVlasov(Circle(), potential), ("w2", (-1.4, -0.6)), examine=False)
    (line,) = [each for each in diagram.curves if each.type == "transition" and not each.unstable.any()]
    track, fine = diagram.track(line), line.track
    assert -1.0 in track[:, 0]
    units = [
        critical_coupling(McKeanVlasov(Circle(), CosineSeries((-1.0, w2, -0.8)))) for w2 in track[:, 0].tolist()
    ]
    order = np.argsort(fine[:, 0])
    np.testing.assert_allclose(track[:, 1] * units, np.interp(track[:, 0], *fine[order].T), rtol=1e-5)
    drawn = [each for each in diagram.plot().get_lines() if each.get_gid() == line.label]
    assert (len(track), True) in [(len(each.get_xdata()), each.get_linewidth() > 2.0) for each in drawn]


@pytest.mark.parametrize("make", [of_the_transformer, of_the_cusp])
def test_regions_hold_at_random_points(make):
    assert disagreements(make(), 30, 7) == []


def test_the_cusp_of_three_modes_is_found():
    (point,) = of_the_cusp().events("cusp")
    # A computation of 40 digits.
    assert point.values[0] == pytest.approx(-0.5830789009561255304, abs=1e-9)
    assert point.values[1] == pytest.approx(2.021439651928438208, abs=1e-9)
    assert point.lower <= point.values[0] <= point.upper


def test_two_clusters_exchange_on_a_line_that_ends_in_the_cusp():
    diagram = of_the_cusp()
    (cusp,) = diagram.events("cusp")
    (line,) = [curve for curve in diagram.curves if curve.label == "transition 1-cluster | 1-cluster"]
    # The states differ like the root of the distance to the cusp, so that this is known to that of rounding.
    assert line.values[np.argmax(line.first)] == pytest.approx(cusp.values, abs=1e-6)
    assert line.label in cusp.curves
    # The other end: at the threshold of mode 1 the 1-cluster has the free energy of the uniform state, where the
    # smaller one is born.
    (end,) = diagram.events("end point")
    assert line.values[np.argmin(line.first)] == pytest.approx(end.values, rel=1e-11)
    assert end.coupling == pytest.approx(2.0, rel=1e-12)
    clusters = [state for state in stationary_states(end.problem, rates=False) if state.symmetry == 1]
    assert min(abs(state.free_energy_gap) for state in clusters) <= 64 * EPS
    # It is there once, from one end to the other.
    assert np.all(np.diff(line.first) > 0.0)
    middle = len(line) // 2
    states = stationary_states(line.state(middle).problem, rates=False)
    stable = [state for state in states if state.unstable == 0]
    assert len(stable) == 2
    # Energies are of the order of 1e-3 and have errors of some roundings of one.
    assert stable[0].free_energy_gap == pytest.approx(stable[1].free_energy_gap, abs=64 * EPS)


def test_the_line_between_two_clusters_is_drawn_bold_up_to_the_cusp():
    diagram = of_the_cusp()
    (cusp,) = diagram.events("cusp")
    pieces = [line for line in diagram.plot().get_lines() if line.get_gid() == "transition 1-cluster | 1-cluster"]
    widest = max(line.get_linewidth() for line in pieces)
    ends = [line.get_xdata().max() for line in pieces if line.get_linewidth() == widest]
    # Less than a third of the width of the marker there, which is 0.015 of that of the window.
    assert max(ends) == pytest.approx(cusp.values[0], abs=0.005 * (diagram.interval[1] - diagram.interval[0]))


def test_a_line_between_states_that_are_not_lowest_is_faint():
    """Left of where the line of the uniform state ends a polar state is lowest, and another one exchanges unseen."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-0.64, -1.911, -0.182)))
    diagram = phase_diagram(problem, ("w1", (-0.8, -0.5)), relative=(0.85, 0.95), sections=2)
    (end,) = diagram.events("end point")
    lines = diagram.plot().get_lines()
    pieces = [line for line in lines if line.get_gid() == "transition prolate | zonal 1"]
    widest = max(line.get_linewidth() for line in lines)
    assert min(line.get_xdata().min() for line in pieces) < -0.7
    assert min(line.get_xdata().min() for line in pieces if line.get_linewidth() == widest) > end.values[0]


def test_lines_that_cross_meet_a_third_one_in_a_triple_point():
    """The uniform state, the 2-cluster and the 1-cluster exchange; the last two do between 0.694 and 0.678."""
    problem = McKeanVlasov(Circle(), CosineSeries([-0.7, -1.0, 0.0, -0.9]))
    diagram = phase_diagram(problem, ("w1", (-0.72, -0.6)), coupling=(1.8, 1.87), sections=2)
    (triple,) = diagram.events("triple point")
    # The 2-cluster is that of -cos t - 0.9 cos 2t, whose transition is known to 18 digits.
    assert triple.coupling == pytest.approx(1.82154444297096003, rel=1e-11)
    assert triple.lower <= triple.values[0] <= triple.upper
    energies = [free_energy_parts(triple.problem, cosine).total for cosine in (triple.cosine, *triple.other_cosine)]
    assert len(energies) == 3
    assert np.ptp(energies) <= 1e-13
    (tricritical,) = diagram.events("tricritical")
    line = diagram.curve("transition 2-cluster | 1-cluster")
    ends = line.values[[0, -1]]
    assert np.abs(ends - tricritical.values).max(axis=1).min() <= 1e-11
    assert not any("a curve is missing" in warning for warning in diagram.warnings)
    assert disagreements(diagram, 10, 3) == []


@pytest.mark.parametrize(
    ("w", "over", "sections"),
    [
        # Lines between two clusters of which one is born of the uniform state.
        ((-0.9633286349266222, -0.4038875165347312, 0.0, -1.0), ("w2", (-0.5355, -0.3389)), 3),
        ((-0.2140117516641363, -0.7230397549842734, -0.3870677790775446, -1.0), ("w2", (-0.79767, -0.52322)), 4),
        # Beside an interaction of the uniform modes states of the curves become the uniform one.
        ((-0.9607934929837078, -1.0, -0.5675721668110163, -0.9676146394458863), ("w1", (-0.99053, -0.87432)), 2),
        ((-0.1562979456122186, -1.0, -0.9536134323029136, -0.3982919932897636), ("w3", (-1.06440, -0.89833)), 2),
    ],
)
def test_no_state_of_a_curve_becomes_the_uniform_one_unnoticed(w, over, sections):
    problem = McKeanVlasov(Circle(), CosineSeries(w))
    diagram = phase_diagram(problem, over, relative=(0.8, 1.3), sections=sections, examine=False)
    # Curves that end at the uniform state have small states beside it; one that became it is zero up to rounding.
    for line in diagram.curves:
        clustered = line.cosine[1:-1, 1:]
        if line.type != "threshold":
            assert np.abs(clustered).max(axis=1).min() > 1e-6
        if line.type == "transition" and line.other_symmetry:
            assert np.abs(line.other_cosine[1:-1, 1:]).max(axis=1).min() > 1e-6
    for point in diagram.events("triple point"):
        others = np.abs(point.other_cosine[:, 1:]).max(axis=1)
        assert np.abs(point.cosine[1:]).max() > 1e-6
        assert np.sort(others)[-1] > 1e-6


def test_a_confinement_may_vanish_within_a_window():
    """Born of the state in the field the cluster is along its axis or across it, whichever the field prefers."""
    problem = McKeanVlasov(Circle(), Kuramoto(), confinement=External(cosine=(0.0, 0.1)))
    diagram = phase_diagram(problem, ("confinement_external_factor", (-1.0, 1.0)), coupling=(1.0, 4.0))
    assert not any("a curve is missing" in warning for warning in diagram.warnings)
    assert {(region.minimiser, region.stable) for region in diagram.regions} == {("primary", 1), ("1-cluster", 1)}
    assert all(region.agrees for region in diagram.regions)
    (exchange,) = [line for line in diagram.curves if line.type == "transition"]
    assert np.abs(exchange.first).max() <= 1e-12
    (born,) = diagram.special_points
    assert (born.type, len(born.curves)) == ("mode interaction", 2)
    assert born.lower <= 0.0 <= born.upper
    assert abs(born.coupling - 2.0) <= 64 * EPS
    angles = 2.0 * np.pi * np.arange(256) / 256
    for line in diagram.curves:
        if line is exchange:
            continue
        for (factor, coupling), cosine in zip(line.values, line.cosine, strict=True):
            # Critical is where kappa times the variance of a first mode is one.
            density = np.exp(-factor * problem.confinement.values(angles))
            density /= density.sum()
            assert abs(cosine[2] - density @ np.cos(2.0 * angles)) < 1e-12
            variances = [density @ wave(angles) ** 2 for wave in (np.cos, np.sin)]
            assert min(abs(coupling * variance - 1.0) for variance in variances) < 1e-11


@pytest.mark.parametrize("interval", [(0.0, 0.5), (-0.5, 0.0)])
def test_a_confinement_may_vanish_at_an_end_of_a_window(interval):
    """The magnet points along the field, so that nothing is exchanged on the side of one sign."""
    problem = McKeanVlasov(Circle(), Kuramoto(), confinement=CosineSeries((0.3,)))
    diagram = phase_diagram(problem, ("confinement_w1", interval), coupling=(1.0, 3.0))
    (region,) = diagram.regions
    assert (region.minimiser, region.stable, region.agrees) == ("primary", 1, True)
    (fold,) = diagram.curves
    assert fold.interval == interval
    # States against the field are metastable up to a fold, which is at the threshold where there is no field.
    assert min(fold.coupling) == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize("window", [(1.0, 3.0), (1.5, 2.5), (1.5, 3.5)])
def test_no_line_without_a_confinement_is_missed_at_the_critical_coupling(window):
    """At a half or a quarter of these windows the lowest state is born where the confinement vanishes."""
    problem = McKeanVlasov(Circle(), Kuramoto(), confinement=CosineSeries((0.3,)))
    diagram = phase_diagram(problem, ("confinement_w1", (-0.2, 0.5)), coupling=window, examine=False)
    assert [line.type for line in diagram.curves] == ["fold", "transition"]
    assert not any("is not followed" in warning for warning in diagram.warnings)


@pytest.mark.parametrize(
    ("harmonic", "interval"), [(1, (-1.0, 1.0)), (1, (-1.0, 1.0 + 1e-9)), (3, (-1.0, 1.0 + 1e-9))]
)
def test_a_section_where_a_confinement_vanishes_is_no_other_phase(harmonic, interval):
    """At zero strength the cluster is born of the uniform state; on both sides of it the primary one is the cluster."""
    field = External(cosine=(0.0,) * (harmonic - 1) + (-0.1,))
    problem = McKeanVlasov(Circle(), CosineSeries((0.0,) * (harmonic - 1) + (-1.0,)), confinement=field)
    diagram = phase_diagram(problem, ("confinement_external_factor", interval), coupling=(1.0, 4.0))
    assert not any("a curve is missing" in warning for warning in diagram.warnings)
    assert all(region.agrees for region in diagram.regions)
    assert {(region.minimiser, region.stable) for region in diagram.regions} == {("primary", 1)}
    assert "confinement_external_factor × external" in diagram.summary()
    (cusp,) = diagram.events("cusp")
    assert cusp.values == pytest.approx((0.0, 2.0), abs=1e-9)


def test_curves_are_not_followed_far_out_of_the_window():
    """The branch points of the prolate state go to infinity as the polar attraction vanishes; kappa_2 is 9."""
    problem = McKeanVlasov(Sphere(4), GegenbauerSeries((-0.11, -1.0), 4))
    diagram = phase_diagram(problem, ("w1", (-0.28, 0.06)), relative=(0.8, 1.3), examine=False)
    assert float(critical_coupling(problem)) == pytest.approx(9.0)
    assert 9.0 * 1.3 < max(float(line.coupling.max()) for line in diagram.curves) <= 16.0 * 9.0 * 1.3
    assert not any("too concentrated" in warning for warning in diagram.warnings)
    branch_points = next(line for line in diagram.curves if line.type == "branch point")
    with pytest.raises(InvalidInput, match="largest_coupling must be at least that of the start"):
        curve(branch_points.point(0), "w1", (-0.28, 0.06), largest_coupling=-1.0)


def random_problem(random, sphere):
    w = -random.uniform(0.0, 1.0, 4)
    w[0] = -1.0
    if sphere:
        return (
            McKeanVlasov(Sphere(3), GegenbauerSeries(w[:2], 3)),
            "w2",
            tuple(np.sort(random.uniform(-1.5, 0.0, 2))),
        )
    return McKeanVlasov(Circle(), CosineSeries(w)), "w2", tuple(np.sort(random.uniform(-1.5, 0.2, 2)))


@pytest.mark.parametrize(("seed", "sphere"), [(2, False), (3, True)])
def test_regions_of_random_problems_hold_or_say_that_they_do_not(seed, sphere):
    problem, name, interval = random_problem(np.random.default_rng(seed), sphere)
    diagram = phase_diagram(problem, (name, interval), relative=(0.6, 1.5))
    doubted = [region for region in diagram.regions if not region.agrees]
    for warning in diagram.warnings:
        if place := re.search(
            rf"inside the region around {name} = (\S+), relative coupling (\S+): a curve", warning
        ):
            doubted.append(diagram.region_at(float(place[1]), float(place[2])))
    assert len(doubted) < len(diagram.regions)
    assert disagreements(diagram, 15, seed, doubted) == []


def test_branches_of_the_third_generation_are_followed():
    """A 1-cluster that is stable is born of a 2-cluster born of a 4-cluster."""
    w = (-0.18610719251094557, -0.8238696731345497, -0.4604454696736604, -1.0)
    problem = McKeanVlasov(Circle(), CosineSeries(w))
    diagram = phase_diagram(problem, ("w1", (-0.3536, -0.0431)), relative=(0.8, 1.3), sections=2)
    assert not any("beyond depth" in warning for warning in diagram.warnings)
    assert all(region.agrees for region in diagram.regions)
    assert disagreements(diagram, 8, 5) == []


def test_a_region_with_a_wrong_number_of_states_is_noticed():
    diagram = of_the_transformer()
    regions = tuple(dataclasses.replace(region, stable=region.stable + 1) for region in diagram.regions)
    wrong = dataclasses.replace(diagram, regions=regions)
    assert disagreements(wrong, 3, 7)
    assert disagreements(wrong, 3, 7, doubted=regions) == []


def test_the_third_line_of_a_triple_point_is_followed_where_another_passes_it_twice():
    """Once with other states, of the same coupling; without it a region of three stable states had the wrong lowest."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0, -1.5)))
    found = phase_diagram(problem, ("w2", (-3.0, -0.5)))
    (triple,) = found.events("triple point")
    assert triple.status == "converged"
    lines = [each for each in found.curves if each.type == "transition" and "zonal 1" in each.label]
    assert any("prolate" in each.label for each in lines)
    assert all(region.agrees for region in found.regions)
    assert {(region.minimiser, region.stable) for region in found.regions} >= {("prolate", 3), ("zonal 1", 3)}
    assert not any("a curve is missing" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("problem", "over", "share"),
    [
        (McKeanVlasov(Circle(), CosineSeries((-1.0, -0.9, -0.8))), ("w2", (-1.4, -0.5)), 0.5),
        (McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0, -1.5))), ("w2", (-3.0, -0.5)), 0.8),
    ],
)
def test_curves_of_unstable_states_separate_no_regions(monkeypatch, problem, over, share):
    """The regions are those between all curves, of which many have unstable states on both sides."""
    drawn = []
    known = Found.borders

    def of_all(self):
        drawn.append([sum(map(len, places)) for places in (known.fget(self), self.tracks)])
        return self.tracks

    between_some = phase_diagram(problem, over)
    monkeypatch.setattr(Found, "borders", property(of_all))
    between_all = phase_diagram(problem, over)
    some, every = drawn[-1]
    assert some < share * every
    one, other = (sorted((r.name, r.area) for r in each.regions) for each in (between_some, between_all))
    assert [name for name, _ in one] == [name for name, _ in other]
    np.testing.assert_allclose([area for _, area in one], [area for _, area in other], atol=2e-5)
    assert all(region.agrees for region in between_some.regions)


def test_a_lost_curve_is_flagged(monkeypatch):
    followed = solvers.phases.found.curve

    def without(event, *arguments, **options):
        if event.type == "fold":
            raise ComputationFailed("lost on purpose")
        return followed(event, *arguments, **options)

    monkeypatch.setattr(solvers.phases.found, "curve", without)
    diagram = phase_diagram(ON_CIRCLE, ("beta", (3.0, 7.0)), relative=(0.7, 1.2))
    assert any("lost on purpose" in warning for warning in diagram.warnings)
    assert any("a curve is missing" in warning for warning in diagram.warnings)


def test_curves_that_are_not_followed_for_one_reason_are_said_once():
    """Of a field of three maxima without mirrors the parent loses its symmetry in two directions at once."""
    field = External.from_expression("h*(cos(3*t) - 0.2*sin(6*t))", h=1.0)
    problem = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.3)), confinement=field)
    diagram = phase_diagram(problem, ("confinement_h", (0.05, 0.5)), coupling=(1.9, 2.1), sections=3, examine=False)
    (said,) = [warning for warning in diagram.warnings if "is not followed" in warning]
    # Three sections, and those at the ends.
    assert said.count("confinement_h = ") == said.count("coupling = ") == 5
    assert "two are neutral at once" in said


def test_a_silently_lost_curve_is_flagged_as_well(monkeypatch):
    real = solvers.phases.found.Found.add

    def without(self, found, origin):
        if found.type != "transition":
            real(self, found, origin)

    monkeypatch.setattr(solvers.phases.found.Found, "add", without)
    diagram = phase_diagram(ON_CIRCLE, ("beta", (3.0, 7.0)), relative=(0.7, 1.2))
    assert any("a curve is missing" in warning for warning in diagram.warnings)


def test_beyond_the_end_of_a_branch_that_is_not_resolved_nothing_is_told():
    problem = McKeanVlasov(Circle(), HegselmannKrause(radius=0.45))
    diagram = phase_diagram(problem, ("radius", (0.43, 0.47)), relative=(1.2, 1.5), sections=2, examine=False)
    assert any("needs about" in warning for warning in diagram.warnings)
    assert not any("a curve is missing" in warning for warning in diagram.warnings)
    # A free energy has a minimiser, which is stable; above the line of another cluster there is no diagram of it.
    assert sorted((region.minimiser, region.stable) for region in diagram.regions) == [("", None), ("1-cluster", 1)]


@pytest.mark.parametrize(
    ("weights", "interval", "window", "place", "stable"),
    [
        ((-0.328, -0.386, -0.625, -0.975), (-1.125, -0.825), (1.744, 2.359), (-0.96191, 2.31907), ("4-cluster", 2)),
        ((-0.718, -0.502, -0.33, -0.982), (-1.132, -0.832), (1.731, 2.342), (-0.95, 2.2), ("1-cluster", 2)),
    ],
)
def test_states_that_come_into_the_window_from_above_are_found(weights, interval, window, place, stable):
    """They are born at thresholds far above it, and folds lead them back."""
    problem = McKeanVlasov(Circle(), CosineSeries(weights))
    diagram = phase_diagram(problem, ("w4", interval), coupling=window, sections=2, examine=False)
    region = diagram.region_at(*place)
    assert (region.minimiser, region.stable) == stable
    found = stationary_states(problem.with_parameter("w4", place[0]).at(coupling=place[1]), rates=False)
    assert next(state.label for state in found if state.unstable == 0) == stable[0]
    assert sum(state.unstable == 0 for state in found) == stable[1]


def test_a_line_is_there_once_whichever_way_its_states_are_turned():
    problem = McKeanVlasov(Circle(), CosineSeries((-0.7, -1.0, 0.0, -0.9)))
    diagram = phase_diagram(problem, ("w1", (-0.9, -0.5)), coupling=(1.5, 2.3), examine=False)
    lines = [line.label for line in diagram.curves if line.type == "transition"]
    assert sorted(lines) == sorted(set(lines))
    assert not any("end point" in warning for warning in diagram.warnings)


def test_points_that_may_be_missing_are_warned_of(monkeypatch):
    def asked():
        return phase_diagram(
            ON_CIRCLE, ("beta", (1.0, 1.5)), relative=(0.8, 1.2), sections=1, examine=False
        ).warnings

    assert asked() == ()
    monkeypatch.setattr(solvers.phases.uniform, "unresolved_points", lambda *_: [(1,), (1, 2)])
    tricritical, interactions = asked()
    assert tricritical.startswith("tricritical points of mode 1 may be missing")
    assert interactions.startswith("interactions of mode 1 and 2 may be missing")


def test_without_attraction_there_is_one_region():
    problem = McKeanVlasov(Circle(), CosineSeries([1.0, 0.5]))
    diagram = phase_diagram(problem, ("w2", (0.1, 0.9)), coupling=(0.0, 3.0))
    (region,) = diagram.regions
    assert (region.minimiser, region.stable, region.agrees, diagram.curves) == ("uniform", 1, True, ())


def test_the_seed_chooses_the_points():
    one, same, other = (
        phase_diagram(ON_CIRCLE, ("beta", (1.0, 2.0)), relative=(0.8, 1.2), seed=seed, examine=False)
        for seed in (1, 1, 2)
    )
    assert [region.point for region in one.regions] == [region.point for region in same.regions]
    for region, beside in zip(one.regions, other.regions, strict=True):
        assert (region.name, region.area) == (beside.name, beside.area)
        assert region.point != beside.point
        assert region.agrees is None


@pytest.mark.parametrize(
    ("problem", "over", "options", "sentence"),
    [
        (ON_CIRCLE, ("bta", (1.0, 2.0)), {}, "did you mean beta"),
        (ON_CIRCLE, ("coupling", (1.0, 2.0)), {}, "a second parameter"),
        (ON_CIRCLE, ("beta", (2.0, 1.0)), {}, "increasing"),
        (ON_CIRCLE, ("noise", (0.0, 1.0)), {}, "need noise, so its interval is above 0, not from 0"),
        (ON_CIRCLE, ("beta", (1.0, 2.0)), {"relative": (0.5, 1.0), "coupling": (0.5, 1.0)}, "not both"),
        (ON_CIRCLE, ("beta", (1.0, 2.0)), {"relative": (1.0, 0.5)}, "increasing"),
        (McKeanVlasov(Circle(), HegselmannKrause(radius=1.0)), ("radius", (-1.0, 2.0)), {}, "radius"),
        (McKeanVlasov(Circle(), CosineSeries([1.0])), ("w1", (0.5, 1.0)), {}, "no positive critical coupling"),
        (equation_of(Circle(), CommonFrequency(Kuramoto(), 0.1)), ("noise", (1.0, 2.0)), {}, "need a map"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(problem, over, options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        phase_diagram(problem, over, **options)
    assert equation_from(problem.to_dict()) == problem


def test_a_parameter_without_its_interval_is_told_how_both_are_given():
    problem = McKeanVlasov(Circle(), Transformer(beta=1.0))
    with pytest.raises(InvalidInput, match=r'such as \("beta", \(1.0, 10.0\)\), not \(.*beta.*, 1.0, 10.0\)'):
        phase_diagram(problem, ("beta", 1.0, 10.0), relative=(0.4, 1.6))


@pytest.mark.parametrize("end", [0.88, 0.91, 0.939])
def test_curves_that_come_in_through_an_end_of_the_interval_are_found(end):
    """They begin in a cusp between the last of the sections that are evenly spaced and the end."""
    formula = "-(1 + 0.2*q)*cos(t) - 0.626*q*cos(2*t) - 0.6856*q**2*cos(3*t) - 0.3*q**3*cos(4*t)"
    problem = McKeanVlasov(Circle(), Custom.from_expression(formula, q=0.5))
    diagram = phase_diagram(problem, ("q", (0.1, end)), relative=(0.5, 1.3), examine=False)
    assert sorted(curve.type for curve in diagram.curves) == sorted(
        ["threshold", "fold", "transition"] + ["transition"] * (end > 0.8745)
    )
    (cusp,) = diagram.events("cusp")
    assert cusp.values[0] == pytest.approx(0.868191383838, abs=1e-11)
    (fold,) = (curve for curve in diagram.curves if curve.type == "fold")
    at_end = bifurcation_diagram(problem.with_parameter("q", end), relative=(0.5, 1.3), rates=False)
    expected = sorted(event.coupling for event in at_end.events("fold"))
    assert sorted(fold.coupling[[0, -1]]) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("domain", "potential", "parameter", "interval"),
    [
        (Circle(), CosineSeries((-1.0, -1.0, 0.2)), "w3", (-0.4, 0.4)),
        (Circle(), CosineSeries((-1.0, -1.0)), "noise", (0.5, 2.0)),
        (Circle(), CosineSeries((-1.0, -0.2, -1.0)), "w2", (-0.5, 0.5)),
        # N_1 = 3 and N_2 = 5 harmonics.
        (Sphere(3), GegenbauerSeries((-3.0, -5.0, 0.5)), "w3", (-1.0, 1.0)),
    ],
)
def test_the_common_threshold_of_two_modes_divides_regions(domain, potential, parameter, interval):
    """Neither of the two is unstable before the other."""
    found = phase_diagram(McKeanVlasov(domain, potential), (parameter, interval), relative=(0.7, 1.3), sections=3)
    assert all(region.agrees for region in found.regions)
    for first in np.linspace(*interval, 7)[1:-1]:
        below, above = (
            [region for region in found.regions if region.contains(first, height)] for height in (0.98, 1.02)
        )
        assert len(below) == len(above) == 1
        assert below != above
