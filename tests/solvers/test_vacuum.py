"""Rates of perturbations that live where the density of a zonal state is negligible, against a dense Galerkin method."""

import functools

import numpy as np
import pytest
from scipy.integrate import quad

from meanfield import GegenbauerSeries, Kuramoto, McKeanVlasov, Sphere, State, Transformer
from solvers.sphere.linearised.escape import escape_rate
from solvers.sphere.linearised.meridians import functions_on
from solvers.sphere.linearised.rates import slowest_rate
from solvers.sphere.linearised.sectors import SectorSource
from solvers.sphere.linearised.spectra import spectrum
from tests import zonal_galerkin

DEGREES = 200


def concentrated(dimension, potential, strength, noise=1.0, confinement=None):
    """Return the state that iteration from a point reaches; kappa W(0) = -strength * noise."""
    sphere = Sphere(dimension)
    sizes = np.abs(potential.multipliers(sphere, DEGREES)[1:].astype(float)).sum()
    coupling = strength * noise / sizes
    problem = McKeanVlasov(sphere, potential, noise=noise, coupling=coupling, confinement=confinement)
    moments = zonal_galerkin.attracted(problem, np.ones(DEGREES))
    return State(problem, moments, np.zeros(DEGREES), {}, None, 1, 1e-15, DEGREES - 1)


CASES = {
    "tokens": (12, Transformer(7.7), 500.0, 0.6),
    "more tokens": (12, Transformer(7.7), 580.0, 0.6),
    "spins": (3, Kuramoto(), 400.0, 1.0),
    "ordinary": (3, Transformer(5.0), 20.0, 1.0),
    "between": (5, Transformer(6.0), 120.0, 0.8),
    "field": (4, Kuramoto(), 200.0, 1.0, GegenbauerSeries((-0.5,), 4)),
}


@functools.cache
def dense_rates(name, order):
    """Return the six slowest rates of an order and their rounding."""
    state = concentrated(*CASES[name])
    return zonal_galerkin.resolved_rates(state.problem, state.cosine, order, 6)


@pytest.mark.parametrize("name", CASES)
def test_rates_are_those_of_a_dense_method(name):
    state = concentrated(*CASES[name])
    told = spectrum(state)
    last = -min(sector[-1] for sector in told.sectors if sector.size) * (1.0 - 1e-6)
    slowest = np.inf
    for order in range(3):
        rates, rounding = dense_rates(name, order)
        slowest = min(slowest, rates[0])
        listed = -told.sectors[order] if order < len(told.sectors) else np.zeros(0)
        given = listed[listed < last][:6]
        np.testing.assert_allclose(given, rates[rates < last], rtol=1e-8, atol=rounding)
    assert slowest_rate(state) == pytest.approx(slowest, rel=1e-8)
    assert told.slowest_rate == pytest.approx(slowest, rel=1e-8)


def test_the_whole_meridian_agrees_with_both_parts():
    """Where a perturbation reaches from the bulk into the vacuum all of the meridian is taken at once."""
    state = concentrated(*CASES["between"])
    for order in range(3):
        rates, rounding = dense_rates("between", order)
        whole = SectorSource(state).vacuum.whole(order, 4).rates * state.problem.noise
        np.testing.assert_allclose(whole, rates[: whole.size], rtol=1e-8, atol=rounding)


def escape_by_integrals(state, low):
    """Return D / (int 1/w  int w) over the saddle and over the cluster at the south pole, w the mass per angle.

    Its relative error is a power of the exponential of minus half the barrier.
    """
    problem, dimension = state.problem, state.problem.domain.dimension

    def log_mass(angle):
        return zonal_galerkin.exponent(problem, state.cosine, np.cos(angle))[0] + (dimension - 2) * np.log(
            np.sin(angle)
        )

    angles = np.linspace(low, np.pi, 20_001)[1:-1]
    logs = log_mass(angles)
    cluster = int(np.argmax(np.where(angles > 2.5, logs, -np.inf)))
    saddle = int(np.argmin(logs[:cluster]))
    flank = saddle + int(np.argmin(np.abs(logs[saddle:cluster] - 0.5 * (logs[saddle] + logs[cluster]))))
    held = quad(lambda angle: np.exp(log_mass(angle) - logs[cluster]), angles[flank], np.pi, epsrel=1e-12)[0]
    passing = quad(lambda angle: np.exp(logs[saddle] - log_mass(angle)), low, angles[flank], epsrel=1e-12)[0]
    return problem.noise * np.exp(logs[saddle] - logs[cluster]) / (held * passing)


@pytest.mark.parametrize("strength", [105.0, 400.0])
def test_an_escape_far_below_rounding_has_its_digits(strength):
    """A second cluster of negligible mass, whose particles leave over a saddle after exp(40) units of time or more."""
    state = concentrated(4, GegenbauerSeries((-0.046, -0.06), 4), strength)
    expected = escape_by_integrals(state, 1.3)
    assert expected < 1e-13
    assert slowest_rate(state) == pytest.approx(expected, rel=1e-7)
    told = spectrum(state)
    assert told.slowest_rate == pytest.approx(expected, rel=1e-7)
    # The others are those of matrices as before.
    rates, rounding = zonal_galerkin.resolved_rates(state.problem, state.cosine, 0, 4)
    np.testing.assert_allclose(-told.sectors[0][1:3], rates[1:3], rtol=1e-8, atol=rounding)


def test_an_escape_is_that_of_a_matrix_where_that_has_its_digits():
    state = concentrated(3, GegenbauerSeries((-0.46, -0.6), 3), 30.0)
    exponent = SectorSource(state).vacuum._exponent
    span = (1.4, np.pi)
    sizes = np.linalg.svd(functions_on(exponent, 0, span, 60, 240).slopes, compute_uv=False)
    assert escape_rate(exponent, span) == pytest.approx(sizes[-1] ** 2, rel=1e-8)
    mirrored = exponent._replace(
        coefficients=exponent.coefficients * (-1.0) ** np.arange(exponent.coefficients.size)
    )
    assert escape_rate(mirrored, (0.0, np.pi - 1.4)) == pytest.approx(sizes[-1] ** 2, rel=1e-8)
