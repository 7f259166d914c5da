"""Rates below the rounding of their matrix, from its eigenvectors: against whole spectra, and the bound of the error."""

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, External, McKeanVlasov, State, Transformer
from meanfield.records import state_at
from solvers import bifurcation_diagram, spectrum, stationary_states
from solvers.circle import rates
from solvers.circle.linearisation import align, complex_moments, field_of, symmetric_whole
from solvers.circle.rayleigh import lowest_eigenvalue, lowest_vectors, whole_waves

RANDOM = np.random.default_rng(11)


def random_states(confined: bool) -> list[State]:
    """Return the states of a random series, in a confinement without symmetry or in none."""
    coefficients = RANDOM.uniform(-1.0, 0.3, 4)
    angle = RANDOM.uniform(0.0, 2.0 * np.pi)
    field = External.from_callable(lambda t: 0.3 * np.cos(t - angle) + 0.2 * np.sin(2.0 * t)) if confined else None
    coupling = RANDOM.uniform(2.5, 4.0) / -coefficients.min()
    problem = McKeanVlasov(Circle(), CosineSeries(tuple(coefficients)), coupling=coupling, confinement=field)
    return [state for state in stationary_states(problem, rates=False) if np.abs(state.cosine[1:]).max() > 0.1]


def of_all(state: State, spoilt: float = 0.0) -> tuple[float, float]:
    """Return the lowest eigenvalue of S on all functions but its zero modes, and the bound, from spoilt vectors."""
    rotates = state.problem.confinement is None
    moments, _ = align(complex_moments(state), rotates)
    degree = moments.size + 24
    field = field_of(state.problem, moments, degree)
    vectors = [rates.whole_vector(part, degree)[None] for part in (field.inverse_root, field.root)]
    (whole,) = rates._without_zeros(symmetric_whole(field, degree)[None], vectors, rotates)
    rows, beyond = lowest_vectors(whole, 0.0)
    rows = np.linalg.qr((rows + spoilt * RANDOM.standard_normal(rows.shape)).T)[0].T
    found = lowest_eigenvalue(field, whole_waves(rows), beyond)
    return found.value, found.error


@pytest.mark.parametrize("confined", [False, True])
def test_random_states_have_the_rate_of_their_spectrum_within_the_bound(confined: bool) -> None:
    states = [state for _ in range(4) for state in random_states(confined)]
    assert len(states) >= 4
    for state in states:
        found = spectrum(state)
        value, error = of_all(state)
        # The error of a spectrum is that of its eigenvalue nearest to zero; others have the rounding of S.
        of_size = 8.0 * np.finfo(float).eps * (state.modes + 24.0) ** 2
        assert abs(value - found.slowest_rate) <= error + found.error + of_size
        assert error <= 1e-10 * (1.0 + abs(value))


def test_the_bound_holds_for_spoilt_vectors_and_grows_with_the_square() -> None:
    found = (state for _ in range(6) for state in random_states(True))
    state = next(state for state in found if abs(spectrum(state).slowest_rate) > 0.05)
    exact = spectrum(state).slowest_rate
    errors = []
    for spoilt in (1e-6, 1e-5):
        value, error = of_all(state, spoilt)
        assert 0.0 < value - exact <= error
        errors.append(error)
    assert 30.0 < errors[1] / errors[0] < 300.0


def test_small_rates_along_branches_need_no_whole_spectrum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two to four clusters that attract each other ever more weakly: the smallest rates are 1e-5 beside 1e4."""
    diagram = bifurcation_diagram(McKeanVlasov(Circle(), Transformer(20.0)), depth=1, rates=False)
    states = [state_at(diagram.problem, branch, -1) for branch in diagram.branches[2:5]]
    exact = [spectrum(state).slowest_rate for state in states]
    assert min(abs(rate) for rate in exact) < 1e-3

    def never(*_: object) -> float:
        raise AssertionError("the whole spectrum was computed")

    monkeypatch.setattr(rates, "largest_eigenvalue", never)
    np.testing.assert_allclose(rates.slowest_rates(states), exact, rtol=2.0 * rates.RELATIVE_TOLERANCE)
