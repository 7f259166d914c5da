"""Slowest rates of many zonal states at once are those of each alone."""

import numpy as np
import pytest

from meanfield import GegenbauerSeries, MaierSaupe, McKeanVlasov, Potential, Sphere, State, Transformer
from meanfield.records import state_at
from solvers import bifurcation_diagram, contraction_rate, spectrum, stationary_states
from solvers.sphere.linearised.layouts import slowest_rates
from solvers.sphere.linearised.rates import RELATIVE_TOLERANCE, rates_together, slowest_rate

CASES: list[tuple[int, Potential, bool, tuple[float, float]]] = [
    (3, Transformer(3.0), False, (1.2, 6.0)),
    (5, Transformer(-2.0), False, (2.0, 18.0)),
    (3, Transformer(1.0), True, (0.5, 8.0)),
    (4, GegenbauerSeries((-0.3, -1.0, 0.2), 4), True, (0.5, 20.0)),
]


def states_of(dimension: int, potential: Potential, confined: bool, couplings: tuple[float, float]) -> list[State]:
    """Return every third state of the branches without an axis-free one."""
    field = GegenbauerSeries((0.1, -0.2), dimension) if confined else None
    problem = McKeanVlasov(Sphere(dimension), potential, noise=0.8, confinement=field)
    diagram = bifurcation_diagram(problem, couplings, depth=1, rates=False)
    return [
        state_at(problem, branch, point)
        for branch in diagram.branches
        if branch.layout == "degree" and branch.symmetry > 0
        for point in range(0, len(branch), 3)
    ]


@pytest.mark.parametrize("case", CASES)
def test_rates_of_many_states_are_those_of_each(case: tuple[int, Potential, bool, tuple[float, float]]) -> None:
    states = states_of(*case)
    together = rates_together(states)
    known = ~np.isnan(together)
    # A state is left alone where truncation is significant, the density vanishes or the rate does, as at a fold.
    assert np.count_nonzero(known) >= 0.5 * len(states) > 3
    alone = np.array([slowest_rate(state) for state in states])
    np.testing.assert_allclose(together[known], alone[known], rtol=2.0 * RELATIVE_TOLERANCE)


def test_small_rates_of_exchange_are_those_of_whole_spectra() -> None:
    """Rods that change between the poles more and more rarely: rates from 2e-5 to 2e-7 beside rates of thousands."""
    problem = McKeanVlasov(Sphere(3), MaierSaupe())
    diagram = bifurcation_diagram(problem, (17.0, 22.0), depth=1, rates=False)
    states = [state_at(problem, branch, point) for branch in diagram.branches for point in range(0, len(branch), 2)]
    exact = np.array([spectrum(state).slowest_rate for state in states])
    small = (np.abs(exact) < 2e-5) & (np.abs(exact) > 5e-7)
    assert np.count_nonzero(small) >= 3
    together = rates_together(states)[small]
    np.testing.assert_allclose(together, exact[small], rtol=2.0 * RELATIVE_TOLERANCE)


def test_a_neutral_perturbation_beside_a_growing_one_hides_no_rate() -> None:
    """Where an unstable branch meets another, the rate of one sector is lost in rounding, and not needed."""
    problem = McKeanVlasov(Sphere(4), Transformer(5.0))
    diagram = bifurcation_diagram(problem, relative=(0.5, 3.0), rates=False)
    (oblate,) = (branch for branch in diagram.branches if branch.label == "oblate")
    states = [state_at(problem, oblate, point) for point in range(1, len(oblate))]
    spectra = [spectrum(state) for state in states]
    neutral = [np.abs(found.eigenvalues).min() < 1e-8 for found in spectra]
    growing = [found.slowest_rate < -1.0 for found in spectra]
    assert np.any(np.array(neutral) & np.array(growing))
    assert rates_together(states) == pytest.approx([each.slowest_rate for each in spectra], rel=RELATIVE_TOLERANCE)


def test_the_company_of_a_state_does_not_matter() -> None:
    states = states_of(*CASES[0])
    few = rates_together(states[::4])
    np.testing.assert_allclose(few, rates_together(states)[::4], rtol=RELATIVE_TOLERANCE)


def test_states_for_which_the_first_polynomials_are_too_few_are_left_alone() -> None:
    """A concentrated state is alone, and the others of the branch keep their rates."""
    state = states_of(*CASES[0])[-1]
    sharp = GegenbauerSeries((-300.0,), 3)
    problem = McKeanVlasov(Sphere(3), sharp, coupling=1.0)
    degrees = np.arange(40)
    concentrated = State(problem, np.exp(-degrees * (degrees + 1) / 600.0), 0.0 * degrees, {}, None, 1, 1e-15, 39)
    assert np.isnan(rates_together([concentrated])[0])
    assert rates_together([state])[0] == pytest.approx(slowest_rate(state), rel=RELATIVE_TOLERANCE)


def test_states_with_and_without_an_axis_keep_their_places() -> None:
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, -1.0), 3), coupling=9.0)
    states = stationary_states(problem, rates=False)
    assert {state.layout for state in states} == {"degree", "order"}
    assert slowest_rates([]) == []
    for some in (states, [state for state in states if state.layout == "order"]):
        expected = [contraction_rate(state) for state in some]
        assert slowest_rates(some) == pytest.approx(expected, rel=2.0 * RELATIVE_TOLERANCE, abs=1e-9)
