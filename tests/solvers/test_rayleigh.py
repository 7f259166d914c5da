"""Rates below the rounding of their matrix, from its eigenvectors: against whole spectra, and the bound of the error."""

import numpy as np
import pytest

from meanfield import Circle, CosineSeries, External, HegselmannKrause, McKeanVlasov, State, Transformer
from meanfield.equations import Interaction
from meanfield.records import state_at
from solvers import bifurcation_diagram, spectrum, stationary_states
from solvers.circle import rates
from solvers.circle.linearisation import align, complex_moments, field_of, symmetric_whole
from solvers.circle.quadratic_form import quadratic_form
from solvers.circle.rayleigh import Lowest, lowest_eigenvalue, lowest_vectors, whole_waves, without_cancellation

RANDOM = np.random.default_rng(11)


def random_states(confined: bool) -> list[State]:
    """Return the states of a random series, in a confinement without symmetry or in none."""
    coefficients = RANDOM.uniform(-1.0, 0.3, 4)
    angle = RANDOM.uniform(0.0, 2.0 * np.pi)
    field = External.from_callable(lambda t: 0.3 * np.cos(t - angle) + 0.2 * np.sin(2.0 * t)) if confined else None
    coupling = RANDOM.uniform(2.5, 4.0) / -coefficients.min()
    problem = McKeanVlasov(Circle(), CosineSeries(tuple(coefficients)), coupling=coupling, confinement=field)
    return [state for state in stationary_states(problem, rates=False) if np.abs(state.cosine[1:]).max() > 0.1]


def of_all(state: State, spoilt: float = 0.0, precise: bool = False) -> Lowest:
    """Return the lowest eigenvalue of S on all functions but its zero modes, from spoilt vectors."""
    rotates = state.problem.confinement is None
    moments, _ = align(complex_moments(state), rotates)
    degree = moments.size + 24
    field = field_of(state.problem, moments, degree)
    vectors = [rates.whole_vector(part, degree)[None] for part in (field.inverse_root, field.root)]
    (whole,) = rates._without_zeros(symmetric_whole(field, degree)[None], vectors, rotates)
    rows, beyond = lowest_vectors(whole, 0.0)
    rows = np.linalg.qr((rows + spoilt * RANDOM.standard_normal(rows.shape)).T)[0].T
    return (without_cancellation if precise else lowest_eigenvalue)(field, whole_waves(rows), beyond)


@pytest.mark.parametrize("confined", [False, True])
def test_random_states_have_the_rate_of_their_spectrum_within_the_bound(confined: bool) -> None:
    states = [state for _ in range(4) for state in random_states(confined)]
    assert len(states) >= 4
    for state in states:
        found = spectrum(state)
        known = of_all(state)
        value, error = known.value, known.error
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
        known = of_all(state, spoilt)
        assert 0.0 < known.value - exact <= known.error
        errors.append(known.error)
    assert 30.0 < errors[1] / errors[0] < 300.0


def test_degrees_left_out_along_branches_change_rates_by_no_more_than_rounding() -> None:
    """Of two problems whose rates shrink along their branches, where what is left out shows first."""
    several = CosineSeries((-1.145, -1.689, 0.817, -1.015, -0.012, 0.84, -1.644))
    one = CosineSeries((-0.335, 0.449, 0.127, -0.15, -0.003, 0.126))
    for potential, noise, last in ((several, 2.5, 4.0), (one, 1.0, 8.0)):
        problem = McKeanVlasov(Circle(), potential, noise=noise)
        diagram = bifurcation_diagram(problem, relative=(0.5, last), depth=1, rates=False)
        branches = [branch for branch in diagram.branches if branch.symmetry > 0]
        states = [state_at(problem, branch, point) for branch in branches for point in range(0, len(branch), 6)]
        found = rates.slowest_rates(states)
        for state, rate in zip(states, found, strict=True):
            exact = spectrum(state)
            of_size = 8.0 * np.finfo(float).eps * noise * state.modes**2
            assert not isinstance(rate, Exception)
            assert abs(rate - exact.slowest_rate) <= 5e-10 * abs(rate) + of_size + exact.error


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


def test_the_form_without_cancellation_is_that_of_vectors_within_both_bounds() -> None:
    """Two formulas for the lowest eigenvalue, of which one has the differences of C and the other of velocities."""
    states = [state for _ in range(4) for state in random_states(False)]
    assert len(states) >= 4
    for state in states:
        plain, precise = of_all(state), of_all(state, precise=True)
        assert abs(plain.value - precise.value) <= plain.rounding + precise.rounding
        assert precise.rounding <= plain.rounding


def test_a_second_function_that_is_known_less_spoils_the_lowest_by_its_share_only() -> None:
    """The bound is that of the residual of the lowest Ritz vector, the other counts by its coupling."""
    found = 0
    for state in (state for _ in range(8) for state in random_states(False)):
        moments, _ = align(complex_moments(state), True)
        degree = moments.size + 24
        field = field_of(state.problem, moments, degree)
        zeros = [rates.whole_vector(part, degree)[None] for part in (field.inverse_root, field.root)]
        (whole,) = rates._without_zeros(symmetric_whole(field, degree)[None], zeros, True)
        values, columns = np.linalg.eigh(whole)
        if min(np.diff(values[:3])) < 0.1:
            continue
        spoilt = columns[:, :2] + columns[:, 2:8] @ (RANDOM.standard_normal((6, 2)) * [1e-7, 1e-4])
        known = lowest_eigenvalue(field, whole_waves(np.linalg.qr(spoilt)[0].T), float(values[2]))
        rounding = known.rounding + 64.0 * np.finfo(float).eps * degree**2
        assert -rounding <= known.value - values[0] <= known.of_functions + rounding
        # The second alone is off by 1e-8 times the distance to others.
        assert known.of_functions < 1e-10
        found += 1
    assert found >= 2


def pairs(state: State, vectors: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray]:
    """The form of S and the Gram matrix by sums over all pairs of points, in extended precision."""
    field = field_of(state.problem, align(complex_moments(state), True)[0], vectors.shape[0] // 2)
    angles = np.arange(points) * (2 * np.arccos(np.longdouble(-1.0)) / points)
    waves = np.arange(field.coefficients.size)
    table = np.exp(1j * np.multiply.outer(angles, waves.astype(np.longdouble)))
    values = 2.0 * (table @ field.coefficients).real
    slope = 2.0 * (table @ (1j * waves * field.coefficients)).real
    root = np.exp(0.5 * (values - values.max()))
    step = angles[1]
    root /= np.sqrt(step * (root @ root))
    degrees = np.arange(-(vectors.shape[0] // 2), vectors.shape[0] // 2 + 1)
    exponentials = np.exp(1j * np.multiply.outer(angles, degrees.astype(np.longdouble)))
    z, dz = ((exponentials @ part) / np.sqrt(2.0 * np.pi) for part in (vectors, 1j * degrees[:, None] * vectors))
    first = dz - 0.5 * slope[:, None] * z
    z = z - np.multiply.outer(root, step * (root @ z))
    weights = Interaction(state.problem).extended_strengths(waves.size - 1) * waves**2
    shifts = np.subtract.outer(np.arange(points), np.arange(points)) % points
    kernel = (np.cos(np.multiply.outer(angles, waves)) @ weights)[shifts]
    differences = z[:, None, :] * root[None, :, None] - z[None, :, :] * root[:, None, None]
    form = step * first.conj().T @ first
    form = form + step**2 * np.einsum("xyi,xy,xyj->ij", differences.conj(), kernel, differences)
    return state.problem.noise * form, step * z.conj().T @ z


def test_the_form_by_transforms_is_the_sum_over_pairs_of_points() -> None:
    for state in random_states(False)[:3]:
        degree = 40
        vectors = RANDOM.standard_normal((2 * degree + 1, 3)) + 1j * RANDOM.standard_normal((2 * degree + 1, 3))
        vectors *= np.exp(-0.3 * np.abs(np.arange(-degree, degree + 1)))[:, None]
        field = field_of(state.problem, align(complex_moments(state), True)[0], degree)
        form, gram, rounding = quadratic_form(field, vectors)
        exact, lengths = pairs(state, vectors, 256)
        assert np.all(np.abs(np.diag(form - exact)) <= rounding)
        sizes = np.sqrt(np.abs(np.diag(exact)))
        assert np.abs(form - exact).max() <= 1e-13 * (sizes.max() ** 2 + 1.0)
        np.testing.assert_allclose(gram, lengths.astype(complex), rtol=1e-13, atol=1e-14 * np.abs(lengths).max())


def test_rates_of_clusters_that_hardly_exchange_mass_are_all_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Down to 2e-9 beside 1e6, without a spectrum, and alone as in the company of others."""
    problem = McKeanVlasov(Circle(), HegselmannKrause(0.5))
    diagram = bifurcation_diagram(problem, relative=(0.5, 3.0), depth=1, rates=False)
    branches = {branch.label: branch for branch in diagram.branches}
    states = [state_at(problem, branches[f"{n}-cluster"], -k) for n in (2, 3) for k in range(12, 0, -1)]
    moderate = next(state for state in states[::-1] if state.symmetry == 3 and complex_moments(state).size < 790)
    expected = spectrum(moderate)
    monkeypatch.setattr(rates, "largest_eigenvalue", None)
    found = rates.slowest_rates(states)
    assert all(isinstance(rate, float) and rate < 0.0 for rate in found)
    exact = np.array(found, dtype=float)
    # The logarithm of the exchange bends little along a branch.
    for part in np.split(np.log(-exact), 2):
        assert np.all(np.diff(part)[1:-1] < 0.0)
    slowest = exact[states.index(moderate)]
    assert abs(slowest - expected.slowest_rate) <= 1e-8 * abs(slowest) + expected.error
    for place in (3, 11, 15, 23):
        assert rates.slowest_rate(states[place]) == pytest.approx(found[place], rel=2.0 * rates.RELATIVE_TOLERANCE)
