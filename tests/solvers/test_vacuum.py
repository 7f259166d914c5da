"""Rates of perturbations that live where the density of a zonal state is negligible, against a dense Galerkin method."""

import numpy as np
import pytest

from meanfield import GegenbauerSeries, Kuramoto, McKeanVlasov, Sphere, State, Transformer
from meanfield.errors import NotResolved
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
    return State(problem, moments, np.zeros(DEGREES), 0.0, None, 1, 1e-15, DEGREES - 1)


CASES = {
    "tokens": (12, Transformer(7.7), 500.0, 0.6),
    "more tokens": (12, Transformer(7.7), 580.0, 0.6),
    "spins": (3, Kuramoto(), 400.0, 1.0),
    "ordinary": (3, Transformer(5.0), 20.0, 1.0),
    "between": (5, Transformer(6.0), 120.0, 0.8),
    "field": (4, Kuramoto(), 200.0, 1.0, GegenbauerSeries((-0.5,), 4)),
}


@pytest.mark.parametrize("name", CASES)
def test_rates_are_those_of_a_dense_method(name):
    state = concentrated(*CASES[name])
    told = spectrum(state)
    last = -min(sector[-1] for sector in told.sectors if sector.size) * (1.0 - 1e-6)
    slowest = np.inf
    for order in range(3):
        rates, rounding = zonal_galerkin.resolved_rates(state.problem, state.cosine, order, 6)
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
        rates, rounding = zonal_galerkin.resolved_rates(state.problem, state.cosine, order, 4)
        whole = SectorSource(state).vacuum.whole(order, 4).rates * state.problem.noise
        np.testing.assert_allclose(whole, rates[: whole.size], rtol=1e-8, atol=rounding)


def test_an_escape_below_rounding_is_refused():
    """A second cluster of negligible mass, whose particles leave over a saddle after exp(60) units of time."""
    state = concentrated(4, GegenbauerSeries((-0.046, -0.06), 4), 120.0)
    with pytest.raises(NotResolved, match="below rounding"):
        slowest_rate(state)
