"""Flow maps of densities without noise: points and densities against Moebius maps and the profile in flight."""

import numpy as np
import pytest

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    Kuramoto,
    McKeanVlasov,
    SoftmaxAttention,
    Sphere,
    Transformer,
    flight_profile,
    open_trajectory,
    ott_antonsen,
)
from solvers import Characteristics, VonMises, WatanabeStrogatz, evolve

FIRST, MEAN = 0.5, 1.2


def poisson(order_parameter, angle):
    """Return the Poisson kernel with moments r^k at an angle."""
    r = order_parameter
    return (1.0 - r * r) / (2.0 * np.pi * (1.0 - 2.0 * r * np.cos(angle) + r * r))


def moved(labels, first, then):
    """Return the points to which a Moebius map takes labels, and with them a Poisson kernel to another."""
    ratio = (1.0 - then) * (1.0 + first) / ((1.0 + then) * (1.0 - first))
    turns = np.round(labels / (2.0 * np.pi))
    return 2.0 * np.arctan(ratio * np.tan(0.5 * (labels - 2.0 * np.pi * turns))) + 2.0 * np.pi * turns


@pytest.mark.parametrize(("fold", "full"), [(1, False), (1, True), (2, False), (3, True)])
def test_points_and_densities_are_those_of_moebius_maps(fold, full):
    # Potentials -cos(n t) move n theta by Kuramoto's equation with the coupling n^2 kappa.
    problem = McKeanVlasov(Circle(), CosineSeries((*(0.0,) * (fold - 1), -1.0)), noise=0.0, coupling=1.0)
    path = evolve(
        problem,
        lambda angle: poisson(FIRST, fold * (angle - MEAN)),
        4.0 / fold**2,
        times=5,
        tolerance=1e-10,
        method=Characteristics(),
        full=full,
    )
    flow = path.flow_map
    assert np.array_equal(flow.time, path.time)
    assert np.all(np.diff(flow.labels) > 0)
    assert flow.full_turn
    assert np.ptp(flow.labels) <= 2.0 * np.pi
    if fold == 1 or not full:
        assert np.cos(fold * (flow.cluster - MEAN)) == pytest.approx(1.0)
    for time, positions, densities in zip(flow.time, flow.positions, flow.densities, strict=True):
        radius = abs(ott_antonsen(FIRST, float(fold**2), [time])[0])
        exact = moved(fold * (flow.labels - MEAN), FIRST, radius)
        # Errors of positions are the tolerance over the mass at them; these are those of the moments, enlarged.
        assert np.abs(np.sin(0.5 * (fold * (positions - MEAN) - exact))).max() < 1e-6
        known = np.isfinite(densities)
        assert known.mean() > 0.8
        # A derivative of positions that are resolved to 1e-6 of their range on a panel of 16 nodes.
        assert densities[known] == pytest.approx(poisson(radius, fold * (positions[known] - MEAN)), rel=1e-3)


def test_angles_from_the_cluster_are_continuous_and_in_order():
    problem = McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=1.0)
    path = evolve(problem, VonMises(3.0, 1.0), 12.0, times=24, method=Characteristics(), full=True)
    order, angles = path.flow_map.from_cluster()
    assert sorted(order) == list(range(path.flow_map.labels.size))
    assert np.all(np.diff(angles, axis=1) > -1e-9)
    assert np.abs(np.diff(angles, axis=0)).max() < 1.0
    assert np.all(np.abs(angles[-1]) <= np.pi + 1e-2)
    assert np.median(np.abs(angles[-1])) < 1e-2
    # The separatrix of a symmetric density is opposite to it.
    label = path.flow_map.labels[path.flow_map.separatrix]
    assert np.cos(label - 3.0) == pytest.approx(-1.0, abs=1e-3)


@pytest.mark.parametrize(("domain", "towards"), [(Circle(), 1.0), (Circle(), -1.0), (Sphere(3), -1.0)])
def test_the_mass_in_flight_has_its_profile(domain, towards):
    beta, until = 0.5, 12.0
    problem = McKeanVlasov(domain, Transformer(beta), noise=0.0, coupling=1.0)

    def start(angle):
        return (1.0 + 0.6 * towards * np.cos(angle)) / domain.volume

    flow = evolve(problem, start, until, times=4, tolerance=1e-10, method=Characteristics()).flow_map
    assert np.cos(flow.cluster) == pytest.approx(towards)
    angle = np.linspace(1.0, np.pi, 9)
    earlier, later = flow.density(angle, 3), flow.density(angle, 4)
    exponent = (domain.dimension - 1) * np.exp(-beta)
    # What is left of the mass in flight changes its own field, by 4e-3 at these times on the circle; and between
    # points 0.05 apart the logarithm of the density is a straight line.
    assert later / earlier == pytest.approx(np.exp(-exponent * until / 4), rel=5e-3)
    assert later / later[-1] == pytest.approx(flight_profile(problem, angle), rel=5e-3)
    assert flow.density(-angle, 4) == pytest.approx(later, rel=5e-3)


def test_the_mass_in_flight_to_a_cluster_of_softmax_attention_has_its_profile():
    problem = ContinuityEquation(Circle(), SoftmaxAttention(2.0), noise=0.0, coupling=1.0)
    flow = evolve(problem, VonMises(0.5, 1.0), 16.0, times=4, tolerance=1e-10, method=Characteristics()).flow_map
    angle = np.linspace(1.0, np.pi, 9)
    earlier, later = flow.density(angle, 3), flow.density(angle, 4)
    # The cluster is complete at a time of 7, and e^-5 of what was in flight is left at 12; the logarithm is
    # interpolated over 0.05.
    assert later / earlier == pytest.approx(np.exp(-4.0), rel=2e-3)
    assert later / later[-1] == pytest.approx(np.sin(0.5 * angle) ** -2, rel=2e-3)


def test_a_density_even_about_the_equator_has_points_on_both_sides():
    problem = McKeanVlasov(Sphere(3), Transformer(1.0), noise=0.0, coupling=1.0)

    def start(angle):
        return (1.0 + 0.5 * np.cos(2.0 * angle)) / (4.0 * np.pi * (1.0 - 0.5 / 3.0))

    flow = evolve(problem, start, 1.0, times=2, method=Characteristics()).flow_map
    for angles in (flow.labels, *flow.positions):
        assert angles + angles[::-1] == pytest.approx(np.pi)
        assert np.all(np.diff(angles) > 0)
    assert not flow.full_turn
    for positions, densities in zip(flow.positions, flow.densities, strict=True):
        assert densities == pytest.approx(densities[::-1])
        # The mass between the first and the last point by trapezoids, whose spacing is 0.05.
        assert np.trapezoid(2.0 * np.pi * np.sin(positions) * densities, positions) == pytest.approx(1.0, abs=3e-3)


def test_flow_maps_are_saved_and_have_a_bounded_size(tmp_path):
    problem = McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=1.0)
    path = evolve(problem, VonMises(0.0, 1.0), 3.0, times=300, method=Characteristics())
    assert path.flow_map.positions.shape[0] == 128
    assert path.flow_map.labels.size <= 2 * 1024
    assert path.flow_map.time[[0, -1]] == pytest.approx([0.0, 3.0])
    for suffix in (".nc", ".json"):
        path.save(tmp_path / f"path{suffix}")
        assert open_trajectory(tmp_path / f"path{suffix}") == path
    assert evolve(problem, VonMises(0.0, 1.0), 3.0, method=WatanabeStrogatz()).flow_map is None
