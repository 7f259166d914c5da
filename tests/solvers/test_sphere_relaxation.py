"""Contraction rates on spheres: what the evolution shows against the spectrum, and the distances it is seen in."""

import dataclasses
import json
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from meanfield import (
    Custom,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Potential,
    Relaxation,
    Sphere,
    State,
    Transformer,
    critical_coupling,
)
from meanfield.harmonics import about_axis, packed
from solvers import contraction_rate, spectrum, stationary_states
from solvers.commands.rate import rate
from solvers.evolution.deviations import DeviationSystem
from solvers.evolution.sphere.axes import direction
from solvers.evolution.sphere.relaxing.distances import ZonalDistances
from solvers.evolution.sphere.relaxing.turning import Nearest, change_by
from solvers.evolution.sphere.spherical import SphericalSystem
from solvers.relaxation import uniform_rate
from tests import problems
from tests.problems import Entry

ZONAL = ("L2", "W1 of the polar angle", "W2 of the polar angle", "relative entropy")
POLAR = Custom.from_coefficients((-1.0,))


def problem_at(potential: Potential, relative: float, dimension: int = 3) -> McKeanVlasov:
    problem = McKeanVlasov(Sphere(dimension), potential)
    critical = critical_coupling(problem)
    assert critical is not None
    return problem.at(coupling=relative * critical)


def minimiser(problem: McKeanVlasov) -> State:
    return next(state for state in stationary_states(problem, rates=False) if state.minimiser)


def honest(found: Relaxation) -> None:
    """Every fit is within its stated error of what the spectrum says, and that error is small."""
    for fit in found.fits:
        assert fit.rate is not None
        assert fit.error is not None
        assert abs(fit.rate - found.expected(fit)) <= fit.error + fit.multiple * found.gap_error
        assert fit.error <= 3e-7 * fit.rate


@pytest.mark.parametrize(
    ("problem", "entry"),
    [
        (problem_at(Transformer(1.0), 2.0), problems.CLUSTERED_SPHERICAL_ATTENTION),
        (problems.SPINS_AT_5.problem, problems.SPINS_AT_5),
        (problem_at(MaierSaupe(), 1.3), None),
        (problem_at(Transformer(1.0), 1.5, 8), None),
    ],
)
def test_zonal_densities_relax_at_the_gap_where_order_zero_is_the_slowest(
    problem: McKeanVlasov, entry: Entry | None
) -> None:
    found = contraction_rate(problem)
    if entry is not None:
        assert found.gap == pytest.approx(entry.exact("rate of order 0"), rel=1e-12)
    assert tuple(fit.norm for fit in found.fits) == ZONAL
    assert (found.followed, found.followed_rate) == ("zonal", found.gap)
    assert (found.theory, found.warnings) == (None, ())
    honest(found)


@pytest.mark.parametrize("dimension", [3, 8])
def test_the_uniform_state_has_the_closed_form(dimension: int) -> None:
    """For O(n) it is (d - 1) (1 - kappa/kappa_1) D, kappa_1 = d D."""
    found = contraction_rate(McKeanVlasov(Sphere(dimension), Kuramoto(), noise=0.7, coupling=1.0))
    assert found.theory == pytest.approx((dimension - 1) * (0.7 - 1.0 / dimension), rel=1e-14)
    assert found.gap == pytest.approx(found.theory, rel=1e-13)
    honest(found)


def test_the_uniform_rate_looks_at_every_degree() -> None:
    problem = McKeanVlasov(Sphere(4), Custom.from_coefficients((0.0, 0.0, -1.0)))
    critical = critical_coupling(problem)
    assert uniform_rate(problem.at(coupling=0.9 * critical)) == pytest.approx(3 * 5 * 0.1, rel=1e-13)


def test_a_confined_state_on_s2_is_seen_with_all_its_perturbations() -> None:
    """Its slowest ones would be rotations without the confinement, of order 1, so zonal ones do not show the gap."""
    problem = McKeanVlasov(Sphere(3), Kuramoto(), coupling=1.5, confinement=POLAR)
    found = contraction_rate(problem)
    assert found.gap < 0.9 * -spectrum(found.state).sectors[0][0]
    assert (found.followed, found.followed_rate) == ("", found.gap)
    assert tuple(fit.norm for fit in found.fits) == ("L2", "relative entropy")
    honest(found)


def test_a_confined_state_in_eight_dimensions_says_that_zonal_densities_are_faster() -> None:
    problem = McKeanVlasov(Sphere(8), Kuramoto(), coupling=1.0, confinement=POLAR)
    found = contraction_rate(problem)
    sectors = spectrum(found.state).sectors
    assert found.gap == -sectors[1][0]
    assert found.followed_rate == -sectors[0][0] > found.gap
    assert "azimuthal order 1" in found.warnings[0]
    assert found.to_dict()["norms"][0]["multiple_of_gap"] is None
    honest(found)


def test_an_unstable_state_is_refused() -> None:
    problem = problem_at(Kuramoto(), 1.5)
    uniform = next(state for state in stationary_states(problem, rates=False) if state.symmetry == 0)
    with pytest.raises(InvalidInput, match="uniform state is not stable"):
        contraction_rate(problem, state=uniform)


def test_a_wrong_gap_is_seen() -> None:
    """A rate that is off by a millionth is far outside the errors of the fits."""
    found = contraction_rate(problems.SPINS_AT_5.problem)
    wrong = dataclasses.replace(found, gap=1.000001 * found.gap, followed_rate=1.000001 * found.gap)
    with pytest.raises(AssertionError):
        honest(wrong)


@pytest.fixture(scope="module")
def pair() -> tuple[State, NDArray[np.float64]]:
    """Return a state in five dimensions, confined only, and a small change of its moments."""
    problem = McKeanVlasov(Sphere(5), Kuramoto(), coupling=0.0, confinement=Custom.from_coefficients((-1.5,)))
    return minimiser(problem), np.array([0.0, 1e-3, -4e-4, 2e-4])


def laws(change: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the distances of laws of the polar angle on S^4 by trapezia: densities exp(3/2 u) and with a change.

    In dimension 5 P_1 = u, P_2 = (5 u^2 - 1)/4, P_3 = (7 u^3 - 3 u)/4 and N_l = 1, 5, 14, 30.
    """
    angles = np.linspace(0.0, math.pi, 400001)
    u, step = np.cos(angles), angles[1]
    surface = 0.75 * np.sin(angles) ** 3
    state = surface * np.exp(1.5 * u)
    state /= step * state.sum()
    added = surface * (
        5 * change[1] * u + 14 * change[2] * (5 * u**2 - 1) / 4 + 30 * change[3] * (7 * u**3 - 3 * u) / 4
    )
    masses = [np.concatenate([[0.0], step * np.cumsum(0.5 * (f[1:] + f[:-1]))]) for f in (state, added)]
    moved = np.interp(masses[0] + masses[1], masses[0], angles) - angles
    second = math.sqrt(step * float(moved**2 @ (state + added)))
    inside = slice(1, -1)
    entropy = step * float((state + added)[inside] @ np.log1p(added[inside] / state[inside]))
    return step * float(np.abs(masses[1]).sum()), second, entropy


def test_distances_of_zonal_densities(pair: tuple[State, NDArray[np.float64]]) -> None:
    state, change = pair
    distances = ZonalDistances(state)
    first, second, entropy = laws(change)
    assert distances.first(change) == pytest.approx(first, rel=1e-8)
    assert distances.second(change) == pytest.approx(second, rel=1e-6)
    assert distances.entropy(change) == pytest.approx(entropy, rel=1e-8)
    assert distances.l2(change) == pytest.approx(1e-3 * math.sqrt(5 + 14 * 0.16 + 30 * 0.04), rel=1e-14)


@pytest.mark.parametrize("share", [1e-3, 1e-8])
def test_distances_are_accurate_relative_to_themselves(
    pair: tuple[State, NDArray[np.float64]], share: float
) -> None:
    """They are homogeneous in the limit: the next order is a hundredth of the whole change, and less of a share."""
    state, change = pair
    distances = ZonalDistances(state)
    for of, power in ((distances.l2, 1), (distances.first, 1), (distances.second, 1), (distances.entropy, 2)):
        assert of(share * change) == pytest.approx(share**power * of(change), rel=0.05)
        assert of(0.5 * share * change) == pytest.approx(0.5**power * of(share * change), rel=0.05 * share)


def test_turning_about_any_axis() -> None:
    """A zonal density turned has the moments p_l e_lm(n); exact to rounding also relative to the angle."""
    zonal = 0.7 ** np.arange(31.0)
    pole = packed(zonal).astype(complex)
    for angle in (0.3, 1e-7):
        cosine, sine = about_axis(zonal, direction(angle, 1.1))
        turned = change_by(pole, angle * np.array([-math.sin(1.1), math.cos(1.1), 0.0]))
        np.testing.assert_allclose(turned, cosine - 1j * sine - pole, atol=4e-16)
    cosine, sine = about_axis(zonal, direction(0.3, 1.1))
    start = cosine - 1j * sine
    cosine, sine = about_axis(zonal, direction(0.3, 1.5))
    np.testing.assert_allclose(change_by(start, np.array([0, 0, 0.4])), cosine - 1j * sine - start, atol=1e-15)


def test_the_nearest_image_has_lost_its_rotation() -> None:
    zonal = 0.7 ** np.arange(31.0)
    pole = packed(zonal).astype(complex)
    cosine, sine = about_axis(zonal, direction(0.02, 1.1))
    added = np.zeros_like(pole)
    added[3] = 1e-6
    nearest = Nearest(pole)
    np.testing.assert_allclose(nearest(cosine - 1j * sine - pole), 0.0, atol=2e-15)
    # Order 0 is orthogonal to rotations.
    np.testing.assert_allclose(nearest(added), added, atol=1e-21)


def test_the_equation_of_deviations_is_that_of_densities() -> None:
    problem = McKeanVlasov(Sphere(3), Transformer(1.0), coupling=7.0, confinement=POLAR)
    state, system = minimiser(problem), SphericalSystem(problem, 24)
    whole = DeviationSystem(system, packed(state.cosine), packed(np.zeros_like(state.cosine)), 0.5)
    deviation = 0.02 * np.sin(np.arange(system.size) ** 2.0) / (1.0 + np.arange(system.size))
    shifted = system.derivative(0.0, whole.point + 0.5 * deviation) - system.derivative(0.0, whole.point)
    np.testing.assert_allclose(0.5 * whole.derivative(0.0, deviation), shifted, atol=1e-11)


def test_the_command_lists_the_orders(capsys: pytest.CaptureFixture[str]) -> None:
    call = ["transformer", "--beta", "1", "--domain", "sphere", "--relative", "2", "--no-fit"]
    assert rate(call) == 0
    text = capsys.readouterr().out
    rates = [problems.CLUSTERED_SPHERICAL_ATTENTION.exact(f"rate of order {order}") for order in range(3)]
    for value in rates:
        assert f"{value:.12g}"[:11] in text
    assert rate([*call, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["states"][0]
    assert [sector["multiplicity"] for sector in row["sectors"][:3]] == [1, 2, 2]
    slowest = [sector["rates"][0] for sector in row["sectors"][:3]]
    assert slowest == pytest.approx(rates, rel=1e-12)
    assert abs(row["rotation"]) <= 1e-12
    assert row["rotation_overlap"] == pytest.approx(1.0, abs=1e-12)


def test_a_state_without_an_axis_too_slow_to_follow_keeps_its_gap() -> None:
    problem = problem_at(Custom.from_coefficients((0.0, 0.0, -1.0)), 1.3)
    state = next(
        state for state in stationary_states(problem, rates=False) if state.layout == "order" and state.stable
    )
    found = contraction_rate(problem, state=state)
    assert found.gap == spectrum(state).slowest_rate > 0.0
    assert found.fit().rate is None
    assert "too long" in found.warnings[0]


def test_a_state_without_a_known_rate_of_zonal_perturbations_keeps_its_gap():
    """All zonal modes but those of the vacuum are lost; one of order 1 is the slowest."""
    problem = McKeanVlasov(Sphere(5), Transformer(5.89), noise=1.08, coupling=1.383, confinement=Kuramoto())
    found = contraction_rate(problem)
    known = spectrum(found.state)
    assert known.sectors[0].size == 0
    assert found.gap == known.slowest_rate > 0.0
    assert found.followed_rate is None
    assert all(fit.rate is None for fit in found.fits)
    assert any("no decay rate of zonal perturbations is known" in warning for warning in found.warnings)
