"""Confinements with several axes, of tiny size, with kinks: every state is there, to the digits that it has."""

import numpy as np
import pytest
from scipy.special import rgamma

import solvers.linear_algebra.pinning as pinning
import solvers.sphere.stability as sphere_stability
from meanfield import (
    Circle,
    CosineSeries,
    Custom,
    External,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    KellerSegel,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    NotResolved,
    Onsager,
    Sphere,
    State,
)
from solvers import bifurcation_diagram, contraction_rate, stationary_states
from solvers.bases.boltzmann import boltzmann_factor
from solvers.branches.continuation import state_at
from solvers.equations.significant import confining_error, confining_symmetry
from solvers.equations.sizing import stationary_equation
from solvers.sphere import SPHERE
from tests import brute_force, problems

EPS = float(np.finfo(float).eps)


def states_in(field, coupling=4.0, potential=None, noise=1.0, domain=None, rates=False) -> tuple[State, ...]:
    problem = McKeanVlasov(
        domain or Circle(), potential or Kuramoto(), noise=noise, coupling=coupling, confinement=field
    )
    return stationary_states(problem, rates=rates)


def turned(field: tuple[float, ...], order: int) -> tuple[float, ...]:
    """Return V(t + pi/order) of a V that is invariant under rotation by 2 pi/order."""
    return tuple(v * np.cos((k + 1) * np.pi / order).round() for k, v in enumerate(field))


FIELDS = {
    "one mode of order 2": (2, (0.0, 0.7), (-1.0,)),
    "one mode of order 4": (4, (0.0, 0.0, 0.0, 0.5), (-1.0,)),
    "two modes of order 4": (4, (0.0, 0.0, 0.0, -0.4, 0.0, 0.0, 0.0, 0.05), (-1.0, -1.2)),
    "order 6": (6, (0.0, 0.0, 0.0, 0.0, 0.0, 0.6), (-0.5, 0.2, -1.1)),
}


@pytest.mark.parametrize("name", FIELDS)
def test_states_about_every_axis_are_found(name: str) -> None:
    # The problem turned by pi/order is the same problem, seen from the other axis.
    order, field, potential = FIELDS[name]
    one, other = (states_in(CosineSeries(v), 4.0, CosineSeries(potential)) for v in (field, turned(field, order)))
    for state, image in zip(one, other, strict=True):
        assert state.free_energy_gap == pytest.approx(image.free_energy_gap, abs=1e-11)
        assert (state.unstable, state.minimiser, state.symmetry) == (
            image.unstable,
            image.minimiser,
            image.symmetry,
        )


@pytest.mark.parametrize("name", FIELDS)
def test_stable_states_are_those_of_brute_force(name: str) -> None:
    _, field, potential = FIELDS[name]
    truth = brute_force.stationary_states(brute_force.circle(potential, field), 4.0)
    stable = sorted(state.gap for state in truth if state.unstable == 0)
    found = states_in(CosineSeries(field), 4.0, CosineSeries(potential))
    assert sorted(s.free_energy_gap for s in found if s.unstable == 0) == pytest.approx(stable, abs=1e-9)
    assert found[0].minimiser
    assert found[0].free_energy_gap == pytest.approx(truth[0].gap, abs=1e-9)


def test_branches_leave_along_both_axes() -> None:
    problem = McKeanVlasov(Circle(), Kuramoto(), confinement=CosineSeries((0.0, 0.0, 0.0, 0.5)))
    diagram = bifurcation_diagram(problem, (0.0, 5.0))
    # Kuramoto's feels no multiple of four: the primary state is exp(-V) at every coupling, critical where
    # kappa <cos^2> = 1 in both directions at once.
    assert [(branch.label, int(branch.unstable[-1])) for branch in diagram.branches] == [
        ("primary", 2),
        ("1-cluster from primary", 1),
        ("1-cluster (2) from primary", 0),
    ]
    (point,) = diagram.events("branch point")
    assert point.coupling == pytest.approx(2.0, rel=1e-12)
    # The lowest is even about pi/4, and its moments are those in the frame of the problem.
    lowest = diagram.branches[2]
    phases = np.angle(lowest.cosine[-1, 1:4] - 1j * lowest.sine[-1, 1:4]) / np.pi * 4.0
    assert phases[[0, 1]] == pytest.approx([-1.0, -2.0], abs=1e-9)
    opposite = bifurcation_diagram(
        McKeanVlasov(Circle(), Kuramoto(), confinement=CosineSeries((0.0, 0.0, 0.0, -0.5))), (0.0, 5.0)
    )
    for branch, image in zip(diagram.branches[1:], opposite.branches[:0:-1], strict=True):
        assert branch.slowest_rate[-1] == pytest.approx(image.slowest_rate[-1], rel=1e-9)


def test_every_degree_counts_for_the_symmetry_of_a_field() -> None:
    weights = np.zeros(70)
    weights[[3, 66]] = 0.5, 1e-3
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=0.5, confinement=CosineSeries(tuple(weights)))
    assert confining_symmetry(problem) == 1
    (state,) = stationary_states(problem, rates=False)
    angles = 2.0 * np.pi * np.arange(1024) / 1024
    density = np.exp(-0.5 * np.cos(4.0 * angles) - 1e-3 * np.cos(67.0 * angles))
    assert state.cosine[67] == pytest.approx(density @ np.cos(67.0 * angles) / density.sum(), rel=1e-2)


@pytest.mark.parametrize("exponent", range(-16, -5))
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_states_in_a_tiny_field(exponent: int, sign: float) -> None:
    found = states_in(CosineSeries((sign * 10.0**exponent,)), 3.0)
    assert [(state.unstable, state.minimiser) for state in found] == [(0, True), (1, False), (2, False)]
    # r = I_1(3 r)/I_0(3 r); the stable one where V is low, the other turned by pi, and the nearly uniform one.
    order = problems.KURAMOTO_AT_3.exact("order parameter")
    expected = [-sign * order, sign * order, 0.0]
    assert [state.cosine[1] for state in found] == pytest.approx(expected, abs=3e-6)
    if exponent > -15:
        # m = -v/2 + kappa m/2 to first order.
        assert found[2].cosine[1] == pytest.approx(sign * 10.0**exponent, rel=1e-5)


@pytest.mark.parametrize("size", [1e-16, -1e-14, 1e-12, 1e-9])
def test_states_in_a_tiny_field_on_the_sphere(size: float) -> None:
    found = states_in(GegenbauerSeries((size,)), 6.0, domain=Sphere(3))
    assert [state.unstable for state in found] == [0, 2, 3]
    assert float(found[0].cosine[1]) * size < 0.0
    length = abs(float(found[0].cosine[1]))
    assert [round(float(state.cosine[1]), 6) for state in found[2:]] == [0.0]
    assert {round(float(state.cosine[1]), 5) for state in found} == {round(x, 5) for x in (-length, length, 0.0)}


def test_a_field_turns_a_cluster_on_the_sphere_to_the_pole_or_the_equator() -> None:
    found = states_in(GegenbauerSeries((0.0, 1e-10)), 6.0, domain=Sphere(3))
    assert [state.unstable for state in found] == [0, 2, 3]
    assert [state.layout for state in found[:2]] == ["order", "degree"]


@pytest.mark.parametrize(("domain", "series"), [(Circle(), CosineSeries), (Sphere(3), GegenbauerSeries)])
def test_the_count_beside_a_weak_field_is_that_of_the_whole_matrix(
    monkeypatch: pytest.MonkeyPatch, domain, series
) -> None:
    generator = np.random.default_rng(5)
    for _ in range(3):
        potential = series(tuple(generator.normal(size=3)))
        field = series(tuple(10.0 ** generator.uniform(-5.0, 0.0) * generator.normal(size=2)))
        counts = []
        for share in (1e-6, 1e3):
            monkeypatch.setattr(pinning, "PINNED", share)
            counts.append([state.unstable for state in states_in(field, 6.0, potential, domain=domain)])
        assert counts[0] == counts[1]


@pytest.mark.parametrize("dimension", [3, 5])
def test_the_torque_of_a_field_is_what_the_matrix_makes_of_a_rotation(dimension: int) -> None:
    field, potential = (GegenbauerSeries(w, dimension) for w in ((0.3, -0.2, 0.5), (-1.0, 0.4, -0.6)))
    problem = McKeanVlasov(Sphere(dimension), potential, confinement=field)
    equation = stationary_equation(SPHERE, problem)
    point = state_at(equation, 0.1 * equation.scales, 4.0)
    modes, weights = sphere_stability.perturbations(point.equation), sphere_stability.masses(point)
    (sector,) = modes.sectors[1]
    rotation, pulls = modes.pinning(point, sector)
    torque = pulls.sum(axis=1)
    matrix, *_ = modes.matrix(point, sector, weights)
    assert np.abs(torque).max() > 0.1
    assert matrix @ rotation == pytest.approx(torque, abs=64.0 * EPS)


@pytest.mark.parametrize(("domain", "series"), [(Circle(), CosineSeries), (Sphere(3), GegenbauerSeries)])
def test_a_zero_field_is_none(domain, series) -> None:
    problem = McKeanVlasov(domain, Kuramoto(), coupling=4.0, confinement=series((0.0, 0.0)))
    assert problem == McKeanVlasov(domain, Kuramoto(), coupling=4.0)


def test_a_constant_field_is_refused() -> None:
    with pytest.raises(InvalidInput, match="constant, 3 everywhere"):
        McKeanVlasov(Circle(), Kuramoto(), confinement=Custom.from_callable(lambda t: 3.0 + 0.0 * t))


KINKED = {
    "onsager": (Onsager(), [0.0], 0.7),
    "hegselmann-krause": (HegselmannKrause(1.3), [0.0, 1.3, -1.3], 1.0),
    "weak": (HegselmannKrause(1e-3), [0.0, 1e-3, -1e-3], 1.0),
    "keller-segel": (KellerSegel(0.5), [0.0], 0.4),
    "repulsive logarithm": (Logarithmic(-1), [0.0], 1.5),
}


@pytest.mark.parametrize("name", KINKED)
def test_moments_in_a_kinked_field_are_exact(name: str) -> None:
    field, breaks, noise = KINKED[name]
    weights = np.array([-1.0, 0.4])
    angles, quadrature = brute_force.graded(breaks)
    waves = np.multiply.outer([1.0, 2.0], angles)
    for state in states_in(field, 3.0 * noise, CosineSeries(tuple(weights)), noise):
        moments = state.cosine[1:3] - 1j * state.sine[1:3]
        exponent = -(3.0 * (weights * moments) @ np.exp(1j * waves)).real - field.values(angles) / noise
        masses = quadrature * np.exp(exponent - exponent.max())
        found = np.exp(-1j * waves) @ masses / masses.sum()
        assert np.abs(found - moments).max() <= 64.0 * EPS


@pytest.mark.parametrize(("sign", "noise"), [(1, 1.2), (1, 4.0), (-1, 0.7), (-1, 3.0)])
def test_the_boltzmann_factor_of_a_logarithm(sign: int, noise: float) -> None:
    problem = McKeanVlasov(Circle(), Kuramoto(), noise=noise, confinement=Logarithmic(sign))
    factor = boltzmann_factor(problem, 1, 40)
    # |2 sin(t/2)|^a has the moments (-1)^j Gamma(1 + a)/(Gamma(1 + a/2 + j) Gamma(1 + a/2 - j)).
    half, degrees = -0.5 * sign / noise, np.arange(41)
    exact = (
        (-1.0) ** degrees * rgamma(1.0 + half + degrees) * rgamma(1.0 + half - degrees) / rgamma(1.0 + half) ** 2
    )
    moments = factor.moments + factor.offset * (degrees == 0)
    assert moments / moments[0] == pytest.approx(exact, abs=256.0 * EPS)


def test_a_collapsed_field_is_refused() -> None:
    with pytest.raises(NotResolved, match="diverges"):
        states_in(Logarithmic(1), noise=0.9)


def test_the_contraction_rate_in_a_kinked_field_is_that_of_the_spectrum() -> None:
    found = states_in(Onsager(), 1.0, rates=True)
    assert found[0].slowest_rate > 0.0
    assert contraction_rate(found[0]) == found[0].slowest_rate


def test_what_is_cut_from_a_field_on_a_sphere_is_estimated() -> None:
    problem = McKeanVlasov(Sphere(3), Kuramoto(), noise=0.5, coupling=0.5, confinement=Onsager())
    degrees = (32, 256)
    states = [
        states_in(
            GegenbauerSeries(tuple(Onsager().multipliers(Sphere(3), degree)[1:])), 0.5, noise=0.5, domain=Sphere(3)
        )
        for degree in degrees
    ]
    changes = [np.abs(first.cosine[1:3] - second.cosine[1:3]).max() for first, second in zip(*states, strict=True)]
    estimate = confining_error(problem, degrees[0])
    assert 1e-4 * estimate < max(changes) < estimate


@pytest.mark.parametrize("series", [(0.3,), (0.0, 1.5), "cos(t) + sin(2*t)"])
def test_a_potential_that_vanishes_leaves_the_density_of_the_field(series) -> None:
    # As a coefficient does that a sweep takes through zero.
    field = External.from_expression(series) if isinstance(series, str) else CosineSeries(series)
    problem = McKeanVlasov(Circle(), CosineSeries((0.0,)), coupling=2.0, confinement=field)
    angles = 2.0 * np.pi * np.arange(128) / 128
    weights = np.exp(-field.values(angles))
    moments = np.exp(1j * np.multiply.outer(np.arange(4), angles)) @ weights / weights.sum()
    (state,) = stationary_states(problem)
    assert state.unstable == 0
    np.testing.assert_allclose(state.cosine[:4] + 1j * state.sine[:4], moments, atol=16 * EPS)
    # The Fokker-Planck operator on exp(ik theta).
    degrees = np.arange(-40, 41)
    slope = np.fft.fft(field.slope(angles)) / angles.size
    matrix = -np.diag(degrees**2.0) + 1j * degrees[:, None] * slope[np.subtract.outer(degrees, degrees)]
    assert state.slowest_rate == pytest.approx(-np.sort(np.linalg.eigvals(matrix).real)[-2], rel=1e-10)
    assert [branch.label for branch in bifurcation_diagram(problem.at(coupling=None), (0.5, 3.0)).branches] == [
        "primary"
    ]


@pytest.mark.parametrize("dimension", [3, 5])
def test_a_potential_that_vanishes_on_spheres(dimension: int) -> None:
    nothing = GegenbauerSeries((0.0, 0.0), dimension)
    (uniform,) = stationary_states(McKeanVlasov(Sphere(dimension), nothing, coupling=2.0))
    assert (uniform.label, uniform.slowest_rate) == ("uniform", dimension - 1.0)
    field = GegenbauerSeries((0.3,), dimension)
    problem = McKeanVlasov(Sphere(dimension), nothing, coupling=2.0, confinement=field)
    heights, weights = np.polynomial.legendre.leggauss(32)
    density = weights * (1.0 - heights**2) ** ((dimension - 3) / 2) * np.exp(-0.3 * heights)
    (state,) = stationary_states(problem)
    assert state.cosine[1] == pytest.approx(density @ heights / density.sum(), rel=16 * EPS)
    assert [branch.label for branch in bifurcation_diagram(problem.at(coupling=None), (0.5, 3.0)).branches] == [
        "primary"
    ]
