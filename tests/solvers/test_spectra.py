"""The linearised spectrum against a dense multiple-precision reference and exact identities."""

import dataclasses
import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ive

from meanfield import (
    Circle,
    CosineSeries,
    InvalidInput,
    Kuramoto,
    Logarithmic,
    McKeanVlasov,
    NotResolved,
    State,
    Transformer,
)
from solvers import bifurcation_diagram, contraction_rate, spectrum
from solvers.branches.rates import unknown_rates, with_rates
from solvers.circle import CIRCLE, linearisation
from tests import oracles, problems

EPS = np.finfo(float).eps


def made(problem: McKeanVlasov, cosine: np.ndarray, sine: np.ndarray | None = None, symmetry: int = 1) -> State:
    return State(
        problem=problem,
        cosine=np.asarray(cosine, dtype=float),
        sine=np.zeros(len(cosine)) if sine is None else sine,
        observables={"free_energy_gap": 0.0},
        unstable=None,
        symmetry=symmetry,
        residual=0.0,
        modes=len(cosine) - 1,
    )


def branch_state(problem: McKeanVlasov, interval: tuple[float, float], label: str, point: int = -1) -> State:
    return bifurcation_diagram(problem, interval, depth=1, rates=False).state(label, point)


@pytest.fixture(scope="module")
def kuramoto() -> State:
    return branch_state(problems.KURAMOTO.problem, (1.0, 3.0), "1-cluster")


@pytest.fixture(scope="module")
def merging() -> State:
    return branch_state(McKeanVlasov(Circle(), Transformer(20.0)), (4.5e-7, 4.833e-7), "2-cluster")


def strengths(coupling: float, beta: float, last: int) -> dict[int, mp.mpf]:
    return {k: mp.mpf(coupling) / mp.mpf(beta) * mp.besseli(k, mp.mpf(beta)) for k in range(1, last + 1)}


def test_kuramoto_reference_values(kuramoto: State) -> None:
    found = spectrum(kuramoto)
    exact = problems.KURAMOTO_AT_3.exact
    assert found.even[0] == pytest.approx(-exact("rate of order 0"), rel=1e-11)
    assert found.odd[0] == pytest.approx(-exact("rate of order 1"), rel=1e-11)
    assert contraction_rate(kuramoto) == found.slowest_rate == -found.even[0]
    assert found.unstable == 0


def test_rotation_is_set_apart_by_overlap(kuramoto: State, merging: State) -> None:
    for state in (kuramoto, merging):
        found = spectrum(state)
        size = state.modes**2
        assert abs(found.rotation) <= 16 * EPS * size
        assert found.rotation_overlap == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("label", "symmetry"), [("1-cluster", 1), ("2-cluster", 2)])
def test_agrees_with_the_fourier_matrix_in_multiple_precision(label: str, symmetry: int) -> None:
    state = branch_state(problems.TRANSFORMER.problem, (0.15, 0.35), label)
    found = spectrum(state)
    with mp.workdps(30):
        # More modes and nodes change the eigenvalues by 3e-15.
        lam = strengths(state.coupling, 5.0, 24)
        inner = {k: value for k, value in lam.items() if k % symmetry == 0}
        moments = oracles.even_state(inner, state.cosine, 104, 64)
        for sign, values in ((1, found.even), (-1, found.odd)):
            for value in values[:3]:
                exact = float(oracles.linearised_eigenvalue(lam, moments, 40, sign, value))
                assert value == pytest.approx(exact, rel=1e-10)


def test_tiny_instability_of_merging_clusters(merging: State) -> None:
    """Trap: an odd unstable eigenvalue of 4e-8 beside rotation; reference from a 36-digit computation."""
    found = spectrum(merging)
    exact = 4.24437233172415632e-8
    assert found.odd[0] == pytest.approx(exact, rel=1e-8)
    assert abs(found.odd[0] - exact) <= found.error <= 1e-6 * exact
    assert found.unstable == 2


def test_tiny_instability_in_multiple_precision(merging: State) -> None:
    with mp.workdps(34):
        lam = strengths(merging.coupling, 20.0, 79)
        inner = {k: value for k, value in lam.items() if k % 2 == 0}
        moments = oracles.even_state(inner, merging.cosine, 260, 160)
        exact = float(oracles.linearised_eigenvalue(lam, moments, 130, -1, 4.2444e-8))
    assert exact == pytest.approx(4.24437233172415632e-8, rel=1e-12)


@pytest.mark.parametrize("beta", [8.0])
def test_error_is_honest_for_metastable_clusters(beta: float) -> None:
    critical = beta / float(mp.besseli(2, beta))
    problem = McKeanVlasov(Circle(), Transformer(beta))
    state = branch_state(problem, (0.9 * critical, 1.25 * critical), "2-cluster")
    found = spectrum(state)
    smallest = min((value for value in found.eigenvalues), key=abs)
    sign = 1 if smallest in found.even else -1
    with mp.workdps(30):
        lam = strengths(state.coupling, beta, 60)
        inner = {k: value for k, value in lam.items() if k % 2 == 0}
        moments = oracles.even_state(inner, state.cosine, 220, 128)
        exact = oracles.linearised_eigenvalue(lam, moments, 100, sign, smallest)
        assert abs(float(exact - mp.mpf(smallest))) <= found.error
    assert smallest == pytest.approx(float(exact), rel=1e-8)


@pytest.mark.parametrize("angle", [0.3, 2.0, np.pi])
def test_turning_a_state_changes_nothing(kuramoto: State, angle: float) -> None:
    turned = kuramoto.cosine * np.exp(1j * angle * np.arange(kuramoto.cosine.size))
    other = spectrum(dataclasses.replace(kuramoto, cosine=turned.real, sine=turned.imag))
    np.testing.assert_allclose(other.even[:8], spectrum(kuramoto).even[:8], rtol=1e-12)
    np.testing.assert_allclose(other.odd[:8], spectrum(kuramoto).odd[:8], rtol=1e-12)


def test_rates_scale_with_the_noise(kuramoto: State) -> None:
    noisy = McKeanVlasov(Circle(), Kuramoto(), noise=2.5, coupling=2.5 * kuramoto.coupling)
    scaled = spectrum(dataclasses.replace(kuramoto, problem=noisy))
    np.testing.assert_allclose(scaled.eigenvalues[:9], 2.5 * spectrum(kuramoto).eigenvalues[:9], rtol=1e-13)


def test_embedding_multiplies_periodic_eigenvalues(kuramoto: State) -> None:
    folded = np.zeros(3 * (kuramoto.cosine.size - 1) + 1)
    folded[::3] = kuramoto.cosine
    potential = CosineSeries((0.0, 0.0, -1.0))
    problem = McKeanVlasov(Circle(), potential, coupling=kuramoto.coupling)
    found = spectrum(made(problem, folded, symmetry=3))
    for periodic, block in ((spectrum(kuramoto).even, found.even), (spectrum(kuramoto).odd, found.odd)):
        for value in 9 * periodic[:3]:
            assert np.abs(block / value - 1).min() <= 1e-12


@pytest.mark.parametrize("ratio", [0.2, 0.5, 0.6])
def test_logarithmic_spectrum_is_exact(ratio: float) -> None:
    """Poisson kernels at kappa = 2D: -D k (k - 1), double, with a second zero mode beside rotation."""
    size = int(np.log(1e-17) / np.log(ratio))
    problem = problems.LOGARITHMIC_AT_2.problem
    found = spectrum(made(problem, ratio ** np.arange(size + 1)))
    degrees = np.arange(1, 7)
    np.testing.assert_allclose(found.even[:6], -degrees * (degrees - 1.0), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found.odd[:5], (-degrees * (degrees - 1.0))[1:], rtol=1e-11)
    assert found.unstable == 0
    assert abs(found.even[0]) <= found.error


def test_uniform_spectrum_is_closed_form() -> None:
    problem = McKeanVlasov(Circle(), Logarithmic(sign=-1), noise=0.5, coupling=3.0)
    found = spectrum(made(problem, np.array([1.0, 0.0, 0.0]), symmetry=0))
    degrees = np.arange(1, 9)
    np.testing.assert_allclose(found.even[:8], -(0.5 * degrees**2 + 1.5 * degrees), rtol=4 * EPS)
    assert found.rotation is None
    assert found.rotation_overlap is None
    assert found.slowest_rate == pytest.approx(2.0, rel=4 * EPS)


def confined(sign: float) -> tuple[McKeanVlasov, np.ndarray]:
    """Return a confined aligned state on the cosine axis: m_k by fixed-point iteration on a grid."""
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=4.0, confinement=CosineSeries((0.0, sign * 0.7)))
    angles = 2 * np.pi * np.arange(256) / 256
    moment = 0.8
    for _ in range(400):
        weights = np.exp(4.0 * moment * np.cos(angles) - sign * 0.7 * np.cos(2 * angles))
        moment = float((weights * np.cos(angles)).sum() / weights.sum())
    moments = np.array([(weights * np.cos(k * angles)).sum() / weights.sum() for k in range(41)])
    return problem, moments


def test_uneven_state_under_confinement_has_one_mixed_block() -> None:
    """The confinement cos 2t seen from the angle pi/2 is -cos 2t: the same state, once uneven, once even."""
    problem, moments = confined(-1.0)
    turned = moments * np.exp(0.5j * np.pi * np.arange(moments.size))
    opposite = dataclasses.replace(problem, confinement=CosineSeries((0.0, 0.7)))
    uneven = spectrum(made(opposite, turned.real, turned.imag))
    even = spectrum(made(problem, moments))
    assert uneven.odd.size == 0
    assert even.rotation is None
    assert uneven.rotation is None
    np.testing.assert_allclose(uneven.even[:10], even.eigenvalues[:10], rtol=1e-11)


def test_confined_particles_without_interaction() -> None:
    """A Fokker-Planck operator: the dense nonsymmetric Fourier matrix of d(du + u dV) as reference."""
    size, strength = 40, 0.9
    problem = McKeanVlasov(Circle(), Kuramoto(), coupling=0.0, confinement=CosineSeries((strength,)))
    bessel = [float(mp.besseli(k, strength) / mp.besseli(0, strength)) * (-1) ** k for k in range(24)]
    matrix = np.diag(-(np.arange(1.0, size + 1) ** 2))
    for k in range(1, size):
        matrix[k - 1, k] = -0.5 * k * strength
        matrix[k, k - 1] = 0.5 * (k + 1) * strength
    exact = np.sort(np.linalg.eigvals(matrix).real)[::-1]
    found = spectrum(made(problem, np.array(bessel)))
    np.testing.assert_allclose(found.even[:6], exact[:6], rtol=1e-10)
    np.testing.assert_allclose(found.odd[:6], exact[:6], rtol=1e-10)


def test_mixed_block_agrees_with_even_and_odd_blocks(kuramoto: State) -> None:
    """A state kept from its axis by a small third harmonic out of phase is as uneven as can be."""
    from solvers.circle.linearisation import field_of, mixed_factors
    from solvers.circle.spectra import eigenvalues

    field = field_of(kuramoto.problem, kuramoto.cosine.astype(complex), 40)
    found = eigenvalues(mixed_factors(field, 40), field, EPS, True)
    np.testing.assert_allclose(found.values[:10], spectrum(kuramoto).eigenvalues[:10], rtol=1e-11)


@pytest.mark.parametrize(("beta", "interval"), [(5.0, (0.15, 0.6)), (20.0, (4e-7, 4.833e-7))])
def test_rates_along_branches_are_those_of_the_states(beta: float, interval: tuple[float, float]) -> None:
    diagram = bifurcation_diagram(McKeanVlasov(Circle(), Transformer(beta)), interval, depth=1, rates=False)
    branches = with_rates(diagram.problem, CIRCLE, diagram.branches)
    for index, branch in enumerate(branches):
        if branch.symmetry == 0:
            assert branch is diagram.branches[index]
            continue
        for point in (1, len(branch) // 2, len(branch) - 1):
            rate = contraction_rate(diagram.state(index, point))
            assert branch.slowest_rate[point] == pytest.approx(rate, rel=1e-8)


def test_rates_of_many_states_are_those_of_each() -> None:
    """Also where states with an axis and without, more and less symmetric ones, and exact branch points are mixed."""
    from solvers.circle.rates import slowest_rates

    tilted = McKeanVlasov(Circle(), CosineSeries((-1.0, -0.9, -1.2)), confinement=CosineSeries((0.0, -0.3)))
    resonant = problems.TWO_MODES.problem
    for problem, interval in ((tilted, (2.0, 4.0)), (resonant, (1.2, 2.5))):
        diagram = bifurcation_diagram(problem, interval, rates=False)
        states = [
            diagram.state(index, point)
            for index, branch in enumerate(diagram.branches)
            if branch.symmetry
            for point in (0, 1, len(branch) // 2, len(branch) - 1)
        ]
        kinds = {bool(np.abs(state.sine).max() > 1e-10) for state in states}
        assert kinds == ({False, True} if problem is tilted else {False})
        for state, rate in zip(states, slowest_rates(states), strict=True):
            found = spectrum(state)
            assert abs(rate - found.slowest_rate) <= 1e-8 * abs(found.slowest_rate) + 2.0 * found.error


def test_lowest_eigenvalues_of_a_block_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = McKeanVlasov(Circle(), Transformer(20.0))
    state = branch_state(problem, (4.5e-7, 9e-7), "1-cluster")
    whole = spectrum(state)
    monkeypatch.setattr("solvers.circle.spectra.WHOLE", 0)
    lowest = spectrum(state)
    # Rounding of S, whose entries reach the square of the degree.
    scale = 64 * EPS * state.modes**2
    np.testing.assert_allclose(lowest.even[:8], whole.even[:8], rtol=1e-10, atol=scale)
    np.testing.assert_allclose(lowest.odd[:8], whole.odd[:8], rtol=1e-10, atol=scale)
    assert abs(lowest.rotation) <= scale
    assert lowest.rotation_overlap == pytest.approx(1.0, abs=1e-6)


def test_unaffordable_rates_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    diagram = bifurcation_diagram(problems.KURAMOTO.problem, (1.0, 3.0), rates=False)
    assert unknown_rates(with_rates(diagram.problem, CIRCLE, diagram.branches)) == ()
    monkeypatch.setattr("solvers.linear_algebra.lanczos.LARGEST_SIZE", 12)
    branches = with_rates(diagram.problem, CIRCLE, diagram.branches)
    assert np.isnan(branches[1].slowest_rate[-1])
    (warning,) = unknown_rates(branches)
    assert "(1-cluster)" in warning
    monkeypatch.setattr("solvers.circle.spectra.WHOLE", 0)
    last = diagram.state("1-cluster", -1)
    with pytest.raises(NotResolved, match="at most 12 are affordable"):
        contraction_rate(last)


def test_extreme_concentration_does_not_underflow() -> None:
    """At beta = 800 the couplings are near 1e-343 and need extended precision."""
    problem = problems.SHARP_ATTENTION.problem
    scale = problem.potential.scale(Circle())
    uniform = made(problem.at(coupling=np.longdouble(1.0) / scale), np.array([1.0, 0.0]), symmetry=0)
    found = spectrum(uniform)
    # lambda_1 = 1/2 and lambda_2/lambda_1 = I_2/I_1.
    ratio = float(mp.besseli(2, 800) / mp.besseli(1, 800))
    assert found.slowest_rate == pytest.approx(0.5, rel=1e-13)
    assert -found.even[1] == pytest.approx(4 * (1 - ratio / 2), rel=1e-12)


# Rates with all their digits, with some of them, and with none; the last one in the largest basis.
@pytest.mark.parametrize(
    ("depth", "count"),
    [*itertools.product([10.0, 20.0, 25.0, 30.0, 40.0], [2, 3, 5]), (100.0, 3), (2000.0, 2)],
)
def test_exchange_between_deep_wells_is_known_or_zero(depth, count):
    """Equal clusters of n-fold symmetry exchange mass at rates that the interaction does not feel.

    In rho ~ exp(h cos n theta) the rate is (2 - 2 cos(2 pi/n)) D n/int 1/rho over a period, as neighbouring wells
    of mass 1/n have it, up to a share of the order of the rate itself, and int 1/rho = (2 pi I_0(h))^2/n.
    """
    weights = np.zeros(count)
    weights[-1] = -1.0
    degrees = np.arange(int(8.0 * math.sqrt(depth)) + 24)
    moments = ive(degrees, depth) / ive(0, depth)
    problem = McKeanVlasov(Circle(), CosineSeries(tuple(weights.tolist())), coupling=float(depth / moments[1]))
    cosine = np.zeros(count * degrees.size)
    cosine[::count] = moments
    state = made(problem, cosine, symmetry=count)
    with mp.workdps(30):
        period = (2 * mp.pi * mp.besseli(0, depth)) ** 2 / count
        expected = (2 - 2 * mp.cos(2 * mp.pi / count)) * count / period
    found = spectrum(state)
    assert abs(found.slowest_rate - expected) <= found.error + 10.0 * expected * expected
    if found.error < abs(found.slowest_rate):
        assert contraction_rate(state) == found.slowest_rate
        return
    assert depth >= 25.0
    assert contraction_rate(state) == 0.0
    with pytest.raises(InvalidInput, match="its slowest rate being 0, known to"):
        contraction_rate(problem, state=state)


@pytest.mark.parametrize("degrees", [np.arange(13), 3 * np.arange(9), 2 + 4 * np.arange(7), np.array([3])])
def test_both_parities_made_together_are_those_of_each(degrees: np.ndarray) -> None:
    """Also of states of both signs of the coupling, for potentials with terms of both signs or of few degrees."""
    random = np.random.default_rng(3)
    last = 2 * int(degrees[-1])
    signs = np.array([1.0, -1.0, 1.0])[:, None]
    for kept in (1.0, random.integers(0, 2, last + 1)):
        strengths = random.uniform(-1.0, 1.0, last + 1) * signs * kept
        for some in (strengths, np.abs(strengths)):
            some[:, 0] = 0.0
            decaying = np.exp(-0.3 * np.arange(2 * last + 1))
            complete, root = (
                random.standard_normal((3, size)) * decaying[:size] for size in (last + 1, 2 * last + 1)
            )
            problem = McKeanVlasov(Circle(), Kuramoto(), noise=1.3, coupling=1.0)
            field = linearisation.Field(problem, some, complete.astype(complex), root.astype(complex), root, 1)
            even, odd = linearisation.symmetric_pair(field, degrees)
            sines = degrees[degrees > 0]
            for found, exact in (
                (even, linearisation.symmetric_sines(field, sines, sines)),
                (odd, linearisation.symmetric_cosines(field, degrees, degrees)),
            ):
                np.testing.assert_allclose(found, exact, rtol=0.0, atol=64 * EPS * np.abs(exact).max())
