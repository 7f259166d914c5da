"""Equations say what they have, and what they lack is refused in one sentence."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import solvers
import verification
from meanfield import (
    Circle,
    CosineSeries,
    GegenbauerSeries,
    InvalidInput,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    Sphere,
    Transformer,
    branch_shape,
    critical_coupling,
    critical_couplings,
    critical_modes,
    dissipation,
    first_variation,
    free_energy_parts,
    global_criterion,
    growth_rates,
    resonance,
    vertical_branches,
)
from meanfield.equations import Capability, Interaction
from tests import problems

MOMENTS = np.array([1.0, 0.2, 0.05, 0.0])
QUIET = McKeanVlasov(Circle(), Transformer(2.0), noise=0.0, coupling=2.0)
# Whatever divides by the noise.
DIVIDING: dict[str, Callable[[McKeanVlasov], Any]] = {
    "critical_coupling": critical_coupling,
    "critical_couplings": lambda problem: critical_couplings(problem, 3),
    "critical_modes": lambda problem: critical_modes(problem, 0.1, 3.0),
    "branch_shape": lambda problem: branch_shape(problem, 1),
    "free_energy_parts": lambda problem: free_energy_parts(problem, MOMENTS),
    "dissipation": lambda problem: dissipation(problem, MOMENTS),
    "first_variation": lambda problem: first_variation(problem, MOMENTS),
    "global_criterion": global_criterion,
    "stationary_states": solvers.stationary_states,
    "bifurcation_diagram": lambda problem: solvers.bifurcation_diagram(problem, (0.5, 3.0)),
    "evolve": lambda problem: solvers.evolve(problem, (MOMENTS, np.zeros(4)), 1.0, stop_at_stationarity=True),
}


@pytest.mark.parametrize("name", DIVIDING)
@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(5)], ids=str)
def test_without_noise_what_divides_by_it_is_refused_in_a_sentence(domain, name):
    problem = McKeanVlasov(domain, Transformer(2.0), noise=0.0, coupling=2.0)
    with pytest.raises(InvalidInput, match=r"give noise > 0") as caught:
        DIVIDING[name](problem)
    assert "\n" not in str(caught.value)


def test_an_equation_without_noise_is_named_saved_and_told():
    for domain, field in ((Circle(), CosineSeries((0.3,))), (Sphere(4), GegenbauerSeries((0.3,), 4))):
        problem = McKeanVlasov(domain, Kuramoto(), noise=0.0, coupling=2.0, confinement=field)
        assert McKeanVlasov.from_dict(problem.to_dict()) == problem
    assert str(McKeanVlasov(Circle(), Kuramoto(), noise=-0.0).noise) == "0.0"


def test_exact_states_and_resonances_need_noise():
    logarithm = McKeanVlasov(Circle(), Logarithmic(), noise=0.0)
    pair = McKeanVlasov(Circle(), CosineSeries((-1.0, -1.01)), noise=0.0)
    for refused in (lambda: vertical_branches(logarithm, 0.0, 5.0), lambda: resonance(pair, 1, 2)):
        with pytest.raises(InvalidInput, match="give noise > 0"):
            refused()


@pytest.mark.parametrize("dimension", [3, 5])
@pytest.mark.parametrize("step", [None, 0.05])
def test_particles_on_spheres_without_noise_gather(dimension, step):
    problem = McKeanVlasov(Sphere(dimension), Kuramoto(), noise=0.0, coupling=2.0)
    found = solvers.simulate(problem, 20, 3.0, 1, step=step, initial=solvers.VonMises(0.0, 1.0), times=3)
    assert (np.diff(found.order_parameter().mean) > 0.0).all()


@pytest.mark.parametrize("noise", [-1e-300, 1e-300, float("nan"), float("inf"), True])
def test_other_noise_is_refused(noise):
    with pytest.raises(InvalidInput, match="noise must be"):
        McKeanVlasov(Circle(), Kuramoto(), noise=noise)


def test_growth_rates_have_their_limit_without_noise():
    series = [growth_rates(McKeanVlasov(Circle(), Transformer(2.0), noise=d, coupling=2.0), 5) for d in (1e-9, 0.0)]
    np.testing.assert_allclose(series[1], series[0], atol=2e-9 * 25)
    # The attraction of degree k alone: -kappa w_k k^2/2.
    weights = Transformer(2.0).multipliers(Circle(), 5)
    np.testing.assert_allclose(series[1], -weights * np.arange(6) ** 2, rtol=1e-14)


def test_particles_without_noise_follow_their_velocities():
    """Two of Kuramoto's oscillators: the tangent of half their distance decays at the rate of the coupling."""
    problem = McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=2.0)
    start = np.array([-0.5, 0.7])
    steps = [
        solvers.simulate(problem, 2, 1.0, 1, initial=start, step=step).cosine[0, -1, 1] for step in (1e-2, 5e-3)
    ]
    half = np.arctan(np.tan(0.6) * np.exp(-2.0))
    exact = np.cos(half) * np.cos(0.1)
    errors = [abs(value - exact) for value in steps]
    assert errors[0] < 1e-4
    assert errors[1] < 0.6 * errors[0]


def test_claims_about_noise_do_not_apply_without():
    results = verification.verify("circle.*", [McKeanVlasov(Circle(), Kuramoto(), noise=0.0, coupling=2.0)])
    assert {str(result.verdict) for result in results} == {"not applicable"}
    assert all("without noise" in result.sentence for result in results)


def test_a_claim_that_needs_no_gibbs_map_may_be_about_an_equation_without_noise():
    (item,) = verification.matching("circle.T8")
    assert "Gibbs map" in item.inapplicable(QUIET)
    assert dataclasses.replace(item, needs=()).inapplicable(QUIET) == item.hypotheses(QUIET)


@pytest.mark.parametrize("capability", Capability)
def test_what_an_equation_lacks_is_said(capability):
    needs_noise = capability in (Capability.GIBBS_MAP, Capability.STATIONARY_MAP, Capability.FREE_ENERGY)
    assert bool(QUIET.lacks(capability)) == needs_noise
    assert not problems.KURAMOTO.problem.lacks(capability)
    confined = problems.KURAMOTO.problem.replace(confinement=CosineSeries((-0.1,)))
    assert bool(confined.lacks(capability)) == (capability in (Capability.UNIFORM_STATE, Capability.CENTRE))


@pytest.mark.parametrize("domain", [Circle(), Sphere(3), Sphere(6)], ids=str)
def test_the_interaction_is_what_its_formula_says(domain):
    field = (CosineSeries if domain == Circle() else lambda w: GegenbauerSeries(w, domain.dimension))(
        (0.3, 0.0, -0.2)
    )
    problem = McKeanVlasov(domain, Transformer(2.0), noise=0.7, coupling=1.3, confinement=field)
    found = Interaction(problem)
    weights = Transformer(2.0).multipliers(domain, 6)
    numbers = np.array([domain.multiplicity(k) for k in range(7)])
    np.testing.assert_allclose(found.attractions(6)[1:], -1.3 * weights[1:] / 0.7, rtol=1e-15)
    np.testing.assert_allclose(found.strengths(6)[1:], -1.3 * weights[1:] / numbers[1:] / 0.7, rtol=1e-15)
    np.testing.assert_allclose(found.forces(3), [0.0, -0.3 / 0.7, 0.0, 0.2 / 0.7], rtol=1e-15)
    assert found.strongest_beyond(6) * (1.0 + 4e-15) >= np.abs(found.strengths(40)[7:]).max()
