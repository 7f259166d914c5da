"""Softmax attention with noise: states, counts, spectra and diagrams against dense computations and closed forms."""

import numpy as np
import pytest
from scipy.special import ive

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    McKeanVlasov,
    NotResolved,
    SoftmaxAttention,
    Sphere,
    Transformer,
    critical_coupling,
    open_diagram,
)
from meanfield.export.states import open_states, save_states
from solvers import bifurcation_diagram, contraction_rate, spectral_gap, spectrum, stationary_states
from solvers.branches.continuation import state_at
from solvers.circle import law_spectra
from solvers.domains import solvers_of
from solvers.equations.sizing import stationary_equation
from solvers.sphere.linearised import law_spectra as zonal_law_spectra
from tests import oracles
from verification import Verdict, verify

EPS = float(np.finfo(float).eps)


def softmax(beta, ratio=None, noise=1.0, confinement=None):
    """Return the equation at a coupling in units of the critical one, beta D I_0/I_1."""
    coupling = None if ratio is None else ratio * beta * noise * float(ive(0, beta) / ive(1, beta))
    return ContinuityEquation(Circle(), SoftmaxAttention(beta), noise, coupling, confinement)


def moments(density, count):
    """Return the first cosine moments of a density on a grid."""
    return np.fft.rfft(density, norm="forward").real[:count]


@pytest.mark.parametrize(("beta", "ratio"), [(1.0, 1.5), (5.0, 1.1), (0.05, 2.0), (12.0, 1.7), (30.0, 1.02)])
def test_the_cluster_is_the_fixed_point_of_the_gibbs_map(beta, ratio):
    problem = softmax(beta, ratio, noise=0.4)
    state = next(state for state in stationary_states(problem) if state.label == "1-cluster")
    density = oracles.softmax_state(beta, problem.coupling / (beta * problem.noise), 256)
    # The iteration contracts by the largest eigenvalue of the attention matrix times p.
    assert np.abs(state.cosine[:12] - moments(density, 12)).max() < 1e-12
    assert state.residual < 16 * EPS
    assert state.unstable == 0
    assert "free_energy_gap" not in state.observables


def test_random_problems_have_one_stable_state_which_every_start_reaches():
    """The Gibbs map, iterated from random densities, ends at the stable state among those found, and at no other."""
    generator = np.random.default_rng(20)
    for _ in range(5):
        beta, noise = 10.0 ** generator.uniform(-1.0, 1.4), generator.uniform(0.2, 2.0)
        ratio = generator.uniform(1.1, 4.0)
        problem = softmax(beta, ratio, noise)
        (stable,) = [state for state in stationary_states(problem, rates=False) if state.unstable == 0]
        sizes = np.hypot(stable.cosine, stable.sine)[:6]
        waves = np.exp(1j * np.multiply.outer(2.0 * np.pi * np.arange(256) / 256, np.arange(1, 7)))
        for _ in range(3):
            start = np.exp(0.7 * (waves @ (generator.normal(size=6) + 1j * generator.normal(size=6))).real)
            density = oracles.softmax_state(beta, problem.coupling / (beta * noise), 256, 1500, start)
            found = np.abs(np.fft.rfft(density, norm="forward"))[:6]
            assert np.abs(found - sizes).max() < 1e-11


def test_reference_states_and_eigenvalues():
    """Values of an independent computation at two resolutions, beta = 1 at 1.5 p_1 and beta = 5 at 1.1 p_1."""
    first = stationary_states(softmax(1.0, 1.5))[0]
    assert np.abs(first.cosine[1:4] - [0.71888842617353, 0.30124819600811, 0.08100130789593]).max() < 2e-14
    assert np.abs(spectrum(first).eigenvalues[:3] - [-1.232631617, -3.859583808, -3.988849957]).max() < 1e-9
    second = stationary_states(softmax(5.0, 1.1))[0]
    assert np.abs(second.cosine[1:4] - [0.60935354132141, 0.14473656786673, 0.01317719628120]).max() < 2e-14
    assert np.abs(spectrum(second).eigenvalues[:3] - [-0.331162949, -1.546577736, -1.866273335]).max() < 1e-9


@pytest.mark.parametrize(
    ("beta", "ratio", "label"), [(1.0, 1.5, "1-cluster"), (5.0, 2.0, "2-cluster"), (8.0, 1.8, "3-cluster")]
)
def test_spectra_are_those_of_collocation(beta, ratio, label):
    problem = softmax(beta, ratio, noise=0.5)
    state = next(state for state in stationary_states(problem) if state.label == label)
    found, points = spectrum(state), 191
    density = state.density(2.0 * np.pi * np.arange(points) / points) * 2.0 * np.pi
    expected = oracles.attention_eigenvalues("softmax", beta, problem.coupling, problem.noise, density).real
    # Without rotation and mass, two zeros.
    expected = np.sort(np.delete(expected, np.argsort(np.abs(expected))[:2]))[::-1]
    count = 6
    assert np.abs(found.eigenvalues[:count] - expected[:count]).max() < 1e-9 * np.abs(expected[:count]).max()
    assert np.abs(found.eigenvalues[0] - expected[0]) <= found.error
    assert abs(found.rotation) < 1e-10
    assert found.rotation_overlap > 1.0 - 1e-10
    assert (found.eigenvalues > found.error).sum() == state.unstable
    assert abs(spectral_gap(state) + expected[0]) < 1e-9 * abs(expected[0])
    assert abs(state.slowest_rate + expected[0]) < 1e-9 * abs(expected[0])


@pytest.mark.parametrize("beta", [2.0, 7.0])
def test_every_branch_has_as_many_growing_eigenvalues_as_unstable_directions(beta):
    """The counts are inertias of symmetric matrices, the eigenvalues those of a matrix that is not symmetric."""
    diagram = bifurcation_diagram(softmax(beta), relative=(0.8, 2.6))
    # At beta = 7 a third mode is critical in the interval.
    assert all("because there is no free energy to descend" in warning for warning in diagram.warnings)
    seen = 0
    for branch in diagram.branches[1:]:
        for point in range(2, branch.coupling.size, 7):
            found = spectrum(diagram.state(branch.label, point))
            assert (found.eigenvalues > 1e-8).sum() == branch.unstable[point]
            assert abs(found.slowest_rate - branch.slowest_rate[point]) < 1e-8 * max(1.0, abs(found.slowest_rate))
            seen += 1
    assert seen >= 10


def test_the_transition_of_softmax_attention_is_continuous():
    """No branch of one cluster turns back, and all of them leave uniform to larger couplings."""
    for beta in (0.5, 3.0, 6.0):
        diagram = bifurcation_diagram(softmax(beta), relative=(0.5, 2.0), rates=False)
        assert {str(event.type) for event in diagram.special_points} <= {"branch point", "endpoint"}
        branch = diagram.branch("1-cluster")
        assert np.all(np.diff(branch.coupling) > 0.0)
        assert np.all(branch.unstable == 0)


def test_derivatives_along_a_branch_are_differences_of_neighbours():
    diagram = bifurcation_diagram(softmax(4.0), relative=(0.9, 2.0), rates=False)
    branch = diagram.branch("1-cluster")
    middle = branch.coupling.size // 2
    state, step = diagram.state("1-cluster", middle), 1e-4
    slope = branch.tangent_cosine[middle] / branch.tangent_coupling[middle]
    beside = []
    for sign in (1.0, -1.0):
        problem = state.problem.at(coupling=state.problem.coupling * (1.0 + sign * step))
        beside.append(
            next(one for one in stationary_states(problem, rates=False) if one.label == "1-cluster").cosine
        )
    count = min(beside[0].size, beside[1].size, 10)
    width = 2.0 * step * state.problem.coupling
    difference = (beside[0][:count] - beside[1][:count]) / width
    assert np.abs(slope[:count] - difference).max() < 1e-6 * np.abs(difference).max()


def test_states_in_a_field():
    confinement = CosineSeries((-0.3, 0.1))
    problem = softmax(2.0, 1.2, noise=0.7, confinement=confinement)
    states = stationary_states(problem)
    angles = 2.0 * np.pi * np.arange(255) / 255
    kernel = np.exp(2.0 * (np.cos(angles[:, None] - angles) - 1.0)) / 255
    for state in states:
        density = state.density(angles)
        gibbs = (kernel @ density) ** (problem.coupling / 1.4) * np.exp(-confinement.values(angles) / 0.7)
        assert np.abs(density - gibbs / gibbs.mean() / (2.0 * np.pi)).max() < 1e-13 * density.max()
        force = -confinement.slope(angles)
        expected = oracles.attention_eigenvalues(
            "softmax", 2.0, problem.coupling, 0.7, 2.0 * np.pi * density, force
        ).real
        expected = np.sort(np.delete(expected, np.abs(expected).argmin()))[::-1]
        assert abs(state.slowest_rate + expected[0]) < 1e-9 * np.abs(expected[:4]).max()
        assert (expected > 0.0).sum() == state.unstable
    assert any(state.unstable == 0 for state in states)


def test_counts_in_random_fields_are_those_of_collocation():
    """Also of states beside the axis of the field, whose perturbations are not even or odd."""
    generator = np.random.default_rng(5)
    fields = [CosineSeries((0.1, 0.5)), CosineSeries((0.0, 0.3, 0.0, 0.9))]
    fields.append(CosineSeries(tuple(0.5 * generator.normal(size=3))))
    angles, uneven = 2.0 * np.pi * np.arange(191) / 191, 0
    for field in fields:
        beta, ratio, noise = generator.uniform(1.5, 6.0), generator.uniform(1.5, 5.0), generator.uniform(0.3, 1.4)
        problem = softmax(beta, ratio, noise, field)
        for state in stationary_states(problem):
            density = 2.0 * np.pi * state.density(angles)
            expected = oracles.attention_eigenvalues(
                "softmax", beta, problem.coupling, noise, density, -field.slope(angles)
            ).real
            expected = np.sort(np.delete(expected, np.abs(expected).argmin()))[::-1]
            rounding = 1e-9 * np.abs(expected[:4]).max()
            assert (expected > rounding).sum() <= state.unstable <= (expected > -rounding).sum()
            assert abs(state.slowest_rate + expected[0]) < rounding
            uneven += np.abs(state.sine).max() > 1e-6
    assert uneven >= 2


@pytest.mark.parametrize("domain", [Circle(), Sphere(3)], ids=str)
def test_blocks_at_negative_couplings_have_no_unstable_directions(domain):
    """Nothing attracts there: what a block counts as repulsive belongs to its own matrix."""
    field = CosineSeries((-0.3, 0.4)) if domain == Circle() else GegenbauerSeries((-0.3, 0.4), 3)
    problem = ContinuityEquation(domain, SoftmaxAttention(2.0), 1.0, -4.0, field)
    (state,) = stationary_states(problem)
    assert state.unstable == 0
    assert spectrum(state).slowest_rate > 0.0
    equation = stationary_equation(solvers_of(problem).geometry, problem, 1, -1)
    point = state_at(equation, np.zeros(equation.basis.degrees.size), equation.q_at(problem.coupling))
    # On spheres only blocks whose traces reach a bound are formed, and here none does.
    own = [block for block in equation.densities.blocks_of(point) if block.own]
    assert len(own) == (domain == Circle())
    for block in own:
        matrix, _, repulsive = equation.densities.block_matrix(point, block)
        assert (np.linalg.eigvalsh(matrix) < 0.0).sum() == repulsive == 0


def test_files_hold_the_equation(tmp_path):
    diagram = bifurcation_diagram(softmax(3.0), relative=(0.5, 2.0))
    for name in ("diagram.json", "diagram.nc", "diagram.npz"):
        path = tmp_path / name
        diagram.save(path)
        again = open_diagram(path)
        assert again == diagram
        assert again.problem.velocity == SoftmaxAttention(3.0)
    problem = softmax(3.0, 1.5)
    states = stationary_states(problem)
    save_states(states, tmp_path / "states.json", critical_coupling(problem), {})
    assert [state.problem for state in open_states(tmp_path / "states.json")] == [problem] * len(states)
    assert "softmax attention" in diagram.summary()


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (ContinuityEquation(Circle(), SoftmaxAttention(2.0), noise=0.0, coupling=5.0), "give noise > 0"),
    ],
)
def test_what_has_no_states_says_so(problem, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        stationary_states(problem)
    with pytest.raises(InvalidInput, match=sentence):
        bifurcation_diagram(problem, (1.0, 6.0))


def test_kinks_of_a_confinement_are_refused():
    problem = softmax(2.0, 1.2, confinement=0.1 * HegselmannKrause(1.0))
    with pytest.raises(NotResolved, match="a kink or a singularity"):
        stationary_states(problem)


def test_relaxation_without_a_state_to_relax_to_is_refused():
    with pytest.raises(InvalidInput, match="without a state to relax to"):
        contraction_rate(softmax(2.0, 1.5))


@pytest.mark.parametrize(
    ("domain", "confined"), [(Circle(), False), (Circle(), True), (Sphere(3), True), (Sphere(6), False)], ids=str
)
def test_matrices_of_any_law_have_the_spectrum_of_a_gradient_law(domain, confined):
    """The general matrices, which nothing makes symmetric, at states of a gradient law, whose spectra are graded."""
    field = CosineSeries((-0.2,)) if domain == Circle() else GegenbauerSeries((-0.2,), domain.dimension)
    problem = McKeanVlasov(domain, Transformer(2.0), noise=0.7, confinement=field if confined else None)
    problem = problem.at(coupling=1.4 * float(critical_coupling(problem.replace(confinement=None))))
    general = law_spectra if domain == Circle() else zonal_law_spectra
    # On S^2 without a field some states have no axis.
    states = [state for state in stationary_states(problem, depth=1) if state.layout == "degree" and state.symmetry]
    assert states
    for state in states:
        found, expected = general.spectrum(state), spectrum(state)
        parts = zip(found.sectors[:4], expected.sectors[:4], strict=True) if found.sectors else None
        for one, other in parts or ((found.even, expected.even), (found.odd, expected.odd)):
            count = min(5, one.size, other.size)
            assert count >= 3
            assert np.abs(one[:count] - other[:count]).max() < 1e-9 * np.abs(other[:count]).max()
        assert abs(general.slowest_rate(state) - expected.slowest_rate) < 1e-9 * abs(expected.slowest_rate)


@pytest.mark.parametrize(("dimension", "beta"), [(3, 4.0), (5, 4.0), (8, 2.0)])
def test_zonal_branches_have_as_many_growing_eigenvalues_as_unstable_directions(dimension, beta):
    diagram = bifurcation_diagram(
        ContinuityEquation(Sphere(dimension), SoftmaxAttention(beta)), relative=(0.7, 2.0)
    )
    seen = 0
    for branch in diagram.branches[1:]:
        for point in range(2, branch.coupling.size, 9):
            state = diagram.state(branch.label, point)
            found = spectrum(state)
            pairs = zip(found.sectors, found.multiplicities, strict=True)
            assert sum(int((sector > 1e-8).sum()) * copies for sector, copies in pairs) == branch.unstable[point]
            assert abs(found.rotation) < 1e-9
            assert found.rotation_overlap > 1.0 - 1e-9
            assert abs(found.slowest_rate - branch.slowest_rate[point]) < 1e-8 * max(1.0, abs(found.slowest_rate))
            seen += 1
    assert seen >= 4


@pytest.mark.parametrize("dimension", [3, 4, 7])
def test_zonal_states_are_fixed_points_of_the_gibbs_map(dimension):
    """K*rho by a product rule over the sphere: angles to the axis, and about it."""
    beta, noise = 3.0, 0.6
    problem = ContinuityEquation(Sphere(dimension), SoftmaxAttention(beta), noise)
    problem = problem.at(coupling=1.5 * float(critical_coupling(problem)))
    nodes, weights = np.polynomial.legendre.leggauss(80)
    polar, weights = 0.5 * np.pi * (nodes + 1.0), weights * np.sin(0.5 * np.pi * (nodes + 1.0)) ** (dimension - 2)
    turn, share = 0.5 * np.pi * (nodes + 1.0), np.sin(0.5 * np.pi * (nodes + 1.0)) ** (dimension - 3)
    share = np.polynomial.legendre.leggauss(80)[1] * share
    cosines = np.multiply.outer(np.cos(polar), np.cos(polar))[..., None]
    cosines = cosines + np.multiply.outer(np.sin(polar), np.sin(polar))[..., None] * np.cos(turn)
    kernel = np.exp(beta * (cosines - 1.0)) @ (share / share.sum())
    for state in stationary_states(problem):
        density = state.density(polar)
        gibbs = (kernel @ (weights * density)) ** (problem.coupling / (beta * noise))
        scale = (weights @ density) / (weights @ gibbs)
        assert np.abs(density - scale * gibbs).max() < 1e-12 * density.max()


def test_auto_files_describe_no_other_equation(tmp_path):
    diagram = bifurcation_diagram(ContinuityEquation(Circle(), SoftmaxAttention(2.0)), relative=(0.8, 1.2))
    diagram.save(tmp_path / "softmax.auto")
    text = (tmp_path / "d.softmax").read_text()
    assert "Stationary states of softmax attention (beta = 2) on the circle" in text
    assert "McKean-Vlasov" not in text.partition("The line below")[0]
    assert "w_j" not in text.partition("The line below")[0]
    assert open_diagram(tmp_path / "softmax.auto").problem == diagram.problem


def test_claims_on_mckean_vlasov_equations_are_not_judged_on_softmax():
    results = verify("circle.*", [ContinuityEquation(Circle(), SoftmaxAttention(2.0), 0.5)])
    assert {result.verdict for result in results} == {Verdict.NOT_APPLICABLE}
