"""States of laws without a Gibbs map: against Newton's method on the collocated equation, evolution and other laws."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ive

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    GegenbauerSeries,
    HegselmannKrause,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    NormalisedAttention,
    NotResolved,
    SoftmaxAttention,
    Sphere,
    Transformer,
    critical_coupling,
)
from meanfield.cli import main
from meanfield.equations import Capability, Gradient
from solvers import PerturbedUniform, VonMises, bifurcation_diagram, evolve, spectrum, stationary_states
from solvers.bases import Panels
from solvers.branches.continuation import Point, state_at
from solvers.branches.recording import state_of
from solvers.circle import law_stability
from solvers.domains import solvers_of
from solvers.equations.law_eigenvalues import signs_in
from solvers.equations.sizing import stationary_equation
from solvers.equations.velocity import VelocityEquation
from tests import oracles

EPS = float(np.finfo(float).eps)
POINTS = 191
ANGLES = 2.0 * np.pi * np.arange(POINTS) / POINTS


def ngpt(beta, ratio=None, noise=1.0, confinement=None):
    """Return the equation at a coupling in units of the critical one, beta D."""
    coupling = None if ratio is None else ratio * beta * noise
    return ContinuityEquation(Circle(), NormalisedAttention(beta), noise, coupling, confinement)


def clusters(problem, **options):
    """Return the states at a coupling by their labels."""
    return {state.label: state for state in stationary_states(problem, **options)}


def cluster_alone(problem, symmetry=1):
    """Return the state of identical clusters by Newton's method from rounds of the stationary map, and its rate.

    The other states of the problem, for which a search takes most of its time, are left out.
    """
    beta, ratio = problem.velocity.beta, problem.coupling / problem.noise
    density = oracles.attention_density("ngpt", beta, ratio, np.exp(np.cos(symmetry * ANGLES)), rounds=100)
    moments = np.fft.rfft(density).real / POINTS
    equation = stationary_equation(solvers_of(problem).geometry, problem, symmetry, 1)
    start = equation.unknown_with(moments, np.zeros(moments.size))
    state = state_of(problem, state_at(equation, start, equation.q_at(problem.coupling)))
    return state.replace(slowest_rate=solvers_of(problem).geometry.slowest_rate(state))


class WithoutMap(SoftmaxAttention):
    """Softmax attention that does not say that it has a Gibbs map."""

    def lacks(self, capability):
        return "this one is kept secret" if capability is Capability.GIBBS_MAP else super().lacks(capability)


LOST = (Capability.GRADIENT, Capability.GIBBS_MAP, Capability.FREE_ENERGY, Capability.CENTRE)


@dataclass(frozen=True)
class Saturated(Gradient):
    """A user's own law: the speed saturates with the slope of the drive."""

    name: ClassVar[str] = "saturated"

    def lacks(self, capability):
        """Return that neither a Gibbs map nor anything of a gradient law is known."""
        return "it saturates" if capability in LOST else ""

    def speed(self, drive, slope_squared, radial):
        """Return 1/sqrt(1 + 4 h'^2)."""
        return 1.0 / np.sqrt(1.0 + 4.0 * slope_squared)


def growing(problem, density, force=0.0):
    """Return the largest growth rates, without those of mass and rotation, of a collocated density."""
    noise = problem.noise
    law = {NormalisedAttention: "ngpt", SoftmaxAttention: "softmax"}[type(problem.velocity)]
    found = oracles.attention_eigenvalues(law, problem.velocity.beta, problem.coupling, noise, density, force).real
    return np.sort(np.delete(found, np.argsort(np.abs(found))[: 1 if problem.confinement else 2]))[::-1]


def test_random_states_are_those_of_the_collocated_equation():
    generator, seen = np.random.default_rng(31), set()
    for beta, ratio in [(0.4, 2.3), (4.0, 1.7), *generator.uniform(1.05, 3.0, size=(1, 2))]:
        noise = generator.uniform(0.3, 1.5)
        problem = ngpt(beta, ratio, noise)
        for state in stationary_states(problem):
            if state.symmetry == 0 or state.modes > POINTS // 2:
                continue
            density = 2.0 * np.pi * state.density(ANGLES)
            start = density * (1.0 + 0.01 * np.cos(state.symmetry * ANGLES))
            exact = oracles.attention_state("ngpt", beta, problem.coupling, noise, start)
            assert np.abs(density - exact).max() < 1e-10 * density.max()
            expected = growing(problem, exact)
            assert (expected > 0.0).sum() == state.unstable
            assert abs(state.slowest_rate + expected[0]) < 1e-8 * noise
            found = spectrum(state)
            assert np.abs(found.eigenvalues[:5] - expected[:5]).max() < 1e-8 * np.abs(expected[:5]).max()
            assert found.rotation_overlap > 1.0 - 1e-8
            assert state.residual < 16 * EPS
            assert "free_energy_gap" not in state.observables
            seen.add(state.symmetry)
    assert seen >= {1, 2}


def test_evolution_settles_at_the_stable_state_and_at_its_rate():
    problem = ngpt(1.5, 2.5, 0.8)
    state = cluster_alone(problem)
    until = 12.0 / state.slowest_rate
    times = np.linspace(0.0, until, 25)
    trajectory = evolve(problem, VonMises(0.0, 4.0), until, times=times, tolerance=1e-12)
    distance = np.abs(trajectory.cosine[:, 1] - state.cosine[1])
    assert distance[-1] < 1e-4 * distance[0]
    # From an even density, the slowest even mode is what is left.
    rate = np.log(distance[14] / distance[18]) / (times[18] - times[14])
    assert abs(rate + spectrum(state).even[0]) < 1e-3 * rate


def test_births_are_at_the_exact_thresholds():
    """Degree k is critical at kappa = D beta I_1/I_k."""
    beta, noise = 7.0, 0.6
    diagram = bifurcation_diagram(ngpt(beta, noise=noise), relative=(0.5, 2.3), rates=False)
    births = [event.coupling for event in diagram.events("branch point") if event.branch == 0]
    expected = [noise * beta * ive(1, beta) / ive(k, beta) for k in (1, 2, 3)]
    assert np.abs(np.array(births) / expected - 1.0).max() < 8 * EPS
    for k in (1, 2, 3):
        branch = diagram.branch(f"{k}-cluster")
        assert abs(branch.coupling[0] / births[k - 1] - 1.0) < 8 * EPS
        # A pitchfork: the coupling changes as the square of the amplitude.
        rise = (branch.coupling[1:3] / branch.coupling[0] - 1.0) / branch.cosine[1:3, k] ** 2
        assert abs(rise[1] / rise[0] - 1.0) < 0.05


@pytest.mark.parametrize("beta", [1.0, 6.0, -1.5])
def test_every_branch_has_as_many_growing_eigenvalues_as_unstable_directions(beta):
    diagram = bifurcation_diagram(ngpt(beta, noise=0.5), relative=(0.8, 2.2), rates=False)
    seen = 0
    for branch in diagram.branches[1:]:
        for point in range(2, branch.coupling.size, 6):
            state = diagram.state(branch.label, point)
            if state.modes > POINTS // 2:
                continue
            expected = growing(state.problem, 2.0 * np.pi * state.density(ANGLES))
            assert (expected > 1e-8).sum() == branch.unstable[point]
            seen += 1
    assert seen >= 4


def test_the_fold_at_negative_beta_is_where_an_eigenvalue_vanishes():
    """The transition is discontinuous there: the branch turns back from below the threshold."""
    diagram = bifurcation_diagram(ngpt(-3.0, noise=0.5), relative=(0.9, 1.001), rates=False)
    (fold,) = diagram.events("fold")
    assert (fold.unstable_before, fold.unstable_after) == (1, 0)
    assert fold.status == "converged"
    state = diagram.state("1-cluster", fold.point)
    values = growing(state.problem, 2.0 * np.pi * state.density(ANGLES))
    assert np.abs(values).min() < 1e-7 * state.problem.noise


def test_growth_rates_may_be_complex():
    """At beta = -3 the slowest perturbations oscillate: two real parts, of one pair, are the same."""
    problem = ContinuityEquation(Circle(), NormalisedAttention(-3.0), 0.5, 1.7)
    state = cluster_alone(problem)
    density = oracles.attention_state("ngpt", -3.0, 1.7, 0.5, 2.0 * np.pi * state.density(ANGLES))
    values = oracles.attention_eigenvalues("ngpt", -3.0, 1.7, 0.5, density)
    slowest = sorted(values, key=lambda value: -value.real)[2:4]
    assert abs(slowest[0].imag) > 0.5
    assert slowest[0] == slowest[1].conjugate()
    even = spectrum(state).even
    assert abs(even[0] - even[1]) < 1e-9
    assert abs(even[0] - slowest[0].real) < 1e-8
    assert abs(state.slowest_rate + slowest[0].real) < 1e-8


def test_the_branch_goes_on_where_the_average_of_the_tokens_vanishes():
    """Opposite to the cluster, at one coupling, where the density has a kink and its moments decay as 1/k^2."""
    problem = ngpt(1.0)
    equation = stationary_equation(solvers_of(problem).geometry, problem, 1, 1)
    equation = equation.on(equation.basis.resized(equation.basis.cells, 4096))
    start = equation.unknown_with(0.41 ** np.arange(41.0), np.zeros(41))

    def opposite(coupling):
        found = state_at(equation, start, equation.q_at(coupling))
        return found.equation.averages(found.b, *found.equation.basis.modes_at(np.array([np.pi])))[2][0]

    vanishing = float(brentq(opposite, 1.25, 1.32, xtol=1e-12))
    state = cluster_alone(problem.at(coupling=vanishing))
    beside = [cluster_alone(problem.at(coupling=vanishing + side * 0.02)) for side in (-1.0, 1.0)]
    assert [one.unstable for one in (state, *beside)] == [0, 0, 0]
    middle = 0.5 * (beside[0].cosine[1] + beside[1].cosine[1])
    assert abs(state.cosine[1] - middle) < 2e-3
    # What the moments leave out is said, and no state smooth to rounding is claimed.
    assert 1e-12 < state.residual < 1e-7
    assert all(one.residual < 1e-13 for one in beside)
    share = abs(state.cosine[2000] / state.cosine[1000])
    assert abs(share - 0.25) < 0.02
    # By an odd number of points none is opposite to the cluster.
    values = growing(state.problem, 2.0 * np.pi * state.density(ANGLES))
    assert abs(state.slowest_rate + values[0]) < 1e-3


@pytest.mark.parametrize(("domain", "beta", "highest"), [(Circle(), 7.0, 1.9), (Sphere(5), 4.0, 2.0)], ids=str)
def test_softmax_attention_has_the_same_diagram_by_either_equation(domain, beta, highest):
    ours, own = (
        bifurcation_diagram(ContinuityEquation(domain, law(beta), 0.7), relative=(0.8, highest), rates=False)
        for law in (WithoutMap, SoftmaxAttention)
    )
    geometry = solvers_of(ours.problem).geometry
    assert isinstance(stationary_equation(geometry, ours.problem, 1, 1), VelocityEquation)
    assert [branch.label for branch in ours.branches] == [branch.label for branch in own.branches]
    assert len(own.branches) >= 3
    for one, other in zip(ours.special_points, own.special_points, strict=True):
        assert one.type == other.type
        assert abs(one.coupling - other.coupling) < 1e-12 * other.coupling
        assert (one.unstable_before, one.unstable_after) == (other.unstable_before, other.unstable_after)
    for one, other in zip(ours.branches, own.branches, strict=True):
        assert set(one.unstable) == set(other.unstable)
    coupling = 0.95 * highest * float(critical_coupling(own.problem))
    for one, other in zip(
        stationary_states(ours.problem.at(coupling=coupling)),
        stationary_states(own.problem.at(coupling=coupling)),
        strict=True,
    ):
        count = min(one.cosine.size, other.cosine.size)
        assert np.abs(one.cosine[:count] - other.cosine[:count]).max() < 1e-13
        assert abs(one.slowest_rate - other.slowest_rate) < 1e-9 * abs(other.slowest_rate)
        assert one.unstable == other.unstable


def sphere_velocity(dimension, beta, density, polar):
    """Return the velocity of nGPT at polar angles by a product rule over the sphere: angles to the axis, about it."""
    nodes, weights = np.polynomial.legendre.leggauss(120)
    other, turn = 0.5 * np.pi * (nodes + 1.0), np.cos(0.5 * np.pi * (nodes + 1.0))
    masses = weights * density(other) * np.sin(other) ** (dimension - 2)
    shares = weights * np.sqrt(1.0 - turn**2) ** (dimension - 3)
    sine, cosine = np.sin(polar)[:, None, None], np.cos(polar)[:, None, None]
    along = np.cos(other)[:, None] * cosine + np.sin(other)[:, None] * turn * sine
    slope = -np.cos(other)[:, None] * sine + np.sin(other)[:, None] * turn * cosine
    kernel = np.exp(beta * (along - 1.0)) * np.multiply.outer(masses, shares)
    tangential, radial = (kernel * slope).sum(axis=(1, 2)), (kernel * along).sum(axis=(1, 2))
    return tangential / np.hypot(tangential, radial)


@pytest.mark.parametrize(("dimension", "beta", "ratio"), [(3, 1.0, 1.6), (4, 2.0, 1.1), (5, 1.5, 1.8)])
def test_zonal_states_have_no_flux(dimension, beta, ratio):
    """D rho' = kappa rho v, integrated along a meridian."""
    problem = ContinuityEquation(Sphere(dimension), NormalisedAttention(beta), 0.6)
    problem = problem.at(coupling=ratio * float(critical_coupling(problem)))
    states = [state for state in stationary_states(problem) if state.symmetry]
    assert states
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for state in states:
        for low, high in ((0.0, 0.9), (0.9, 2.2)):
            polar, half = low + 0.5 * (high - low) * (nodes + 1.0), 0.5 * (high - low)
            expected = (
                problem.coupling / 0.6 * half * weights @ sphere_velocity(dimension, beta, state.density, polar)
            )
            found = np.log(state.density(np.array([low, high])))
            assert abs(found[1] - found[0] - expected) < 1e-9
        values = spectrum(state)
        pairs = zip(values.sectors, values.multiplicities, strict=True)
        assert sum(int((sector > 1e-8).sum()) * copies for sector, copies in pairs) == state.unstable
        assert abs(values.rotation) < 1e-6
        assert values.rotation_overlap > 1.0 - 1e-6
        assert abs(state.slowest_rate + values.eigenvalues[0]) < 1e-6 * abs(state.slowest_rate)


def test_zonal_densities_settle_at_the_stable_state_and_at_its_rate():
    problem = ContinuityEquation(Sphere(3), NormalisedAttention(1.5), 0.8, 3.6)
    state = clusters(problem)["zonal 1"]
    assert state.unstable == 0
    until = 12.0 / state.slowest_rate
    times = np.linspace(0.0, until, 25)
    trajectory = evolve(problem, VonMises(0.0, 6.0), until, times=times, tolerance=1e-12)
    distance = np.abs(trajectory.cosine[:, 1] - state.cosine[1])
    rate = np.log(distance[12] / distance[16]) / (times[16] - times[12])
    assert abs(rate + spectrum(state).sectors[0][0]) < 1e-3 * rate


class Hidden(Gradient):
    """The gradient law, which does not say that it is one."""

    def lacks(self, capability):
        """Return that neither a Gibbs map nor anything of a gradient law is known."""
        return "it is hidden" if capability in LOST else ""


@pytest.mark.parametrize(
    ("potential", "highest", "count"),
    [
        # Both kinds of pitchforks of the two-cluster state, a fold, and what breaks reflection, which is not followed.
        (CosineSeries((-1.0, -0.9)), 4.0, 2),
        (CosineSeries((0.4, -0.9, -0.8)), 3.0, 4),
        # Triangles lose stability to a two-dimensional kernel, on one side with a fold.
        (CosineSeries((-0.5, -0.2, -1.0)), 4.0, 2),
        # Sectors of order 0, 2 and 3.
        (GegenbauerSeries((-0.8, -1.0, -0.9), 3), 2.5, 4),
    ],
)
def test_events_of_gradient_laws_are_the_same_by_either_equation(potential, highest, count):
    """Located by zeros of real eigenvalues, counted by the linearised equation, against inertias."""
    domain = Sphere(3) if isinstance(potential, GegenbauerSeries) else Circle()
    own = bifurcation_diagram(McKeanVlasov(domain, potential), relative=(0.5, highest), rates=False)
    ours = bifurcation_diagram(ContinuityEquation(domain, Hidden(potential)), relative=(0.5, highest), rates=False)

    def events(diagram):
        """Return folds and branch points by the branches that are followed in both diagrams."""
        found = {}
        for event in diagram.special_points:
            branch = diagram.branches[event.branch]
            if event.type in ("fold", "branch point") and branch.label in {one.label for one in ours.branches}:
                found.setdefault(branch.label, []).append(event)
        return found

    expected = events(own)
    assert sum(len(some) for label, some in expected.items() if label != "uniform") == count
    assert events(ours).keys() == expected.keys()
    for label, found in events(ours).items():
        for one, other in zip(found, expected[label], strict=True):
            assert (one.type, one.description) == (other.type, other.description)
            assert abs(one.coupling - other.coupling) < 1e-12 * other.coupling
            assert (one.unstable_before, one.unstable_after) == (other.unstable_before, other.unstable_after)
            assert one.kernel_dimension == other.kernel_dimension


@pytest.mark.parametrize(("label", "beta", "ratio"), [("1-cluster", 1.0, 2.0), ("2-cluster", 6.0, 3.0)])
def test_blocks_of_the_gradient_law_are_the_symmetric_ones(label, beta, ratio):
    """With all modes attractive 1 - T is similar to the symmetric matrix, block by block, rotation included."""
    problem = McKeanVlasov(Circle(), Transformer(beta))
    problem = problem.at(coupling=ratio * float(critical_coupling(problem)))
    state = clusters(problem, rates=False)[label]
    geometry = solvers_of(problem).geometry
    own = stationary_equation(geometry, problem, state.symmetry, 1)
    point = state_at(own, own.unknown_with(state.cosine, state.sine), own.q_at(problem.coupling))
    basis = point.equation.basis
    ours = VelocityEquation(problem, basis, 1, geometry)
    b = ours.unknown_with(state.cosine, state.sine)
    assert np.abs(ours.evaluate(b, ours.q_at(problem.coupling)).residual).max() < 1e-13
    again = state_at(ours, b, ours.q_at(problem.coupling))
    assert isinstance(again, Point)
    for block in point.equation.densities.blocks_of(point):
        expected = point.equation.densities.block_matrix(point, block).eigenvalues()
        found = law_stability.block_matrix(again, block).eigenvalues()
        assert np.abs(found - expected).max() < 1e-12
    assert law_stability.unstable_counts(again) == point.equation.densities.unstable_counts(point)


def test_states_in_a_field_are_those_of_the_collocated_equation():
    field = CosineSeries((-0.3, 0.1))
    problem = ngpt(2.0, 1.4, 0.7, field)
    states = stationary_states(problem)
    for state in states:
        density = 2.0 * np.pi * state.density(ANGLES)
        exact = oracles.attention_state("ngpt", 2.0, problem.coupling, 0.7, density, -field.slope(ANGLES))
        assert np.abs(density - exact).max() < 1e-10 * density.max()
        expected = growing(problem, exact, -field.slope(ANGLES))
        assert (expected > 0.0).sum() == state.unstable
        assert abs(state.slowest_rate + expected[0]) < 1e-8
    assert any(state.unstable == 0 for state in states)


def test_softmax_attention_at_negative_beta_has_states():
    problem = ContinuityEquation(Circle(), SoftmaxAttention(-2.0), 0.5)
    problem = problem.at(coupling=1.6 * float(critical_coupling(problem)))
    state = clusters(problem)["1-cluster"]
    density = 2.0 * np.pi * state.density(ANGLES)
    exact = oracles.attention_state("softmax", -2.0, problem.coupling, 0.5, density * (1.0 + 0.01 * np.cos(ANGLES)))
    assert np.abs(density - exact).max() < 1e-11 * density.max()
    assert abs(state.slowest_rate + growing(problem, exact)[0]) < 1e-8


def test_concentrated_states_far_from_which_averages_are_lost_in_rounding():
    """At beta = 30 those opposite to a cluster are e^-60 of the largest."""
    problem = ngpt(30.0, 1.6)
    equation = stationary_equation(solvers_of(problem).geometry, problem, 1, 1)
    start = equation.unknown_with(0.95 ** np.arange(65.0) ** 1.7, np.zeros(65))
    point = state_at(equation, start, equation.q_at(problem.coupling))
    density = state_of(problem, point).density(ANGLES) * 2.0 * np.pi
    exact = oracles.attention_state("ngpt", 30.0, 48.0, 1.0, density)
    assert np.abs(density - exact).max() < 1e-10 * density.max()


def test_rates_of_clusters_opposite_to_which_the_density_is_below_rounding():
    """Moments have no digit there, and where the velocity is wrong, perturbations seem to linger."""
    generator = np.random.default_rng(12)
    for beta in (20.0, *generator.uniform(4.0, 24.0, 2)):
        ratio, noise = generator.uniform(1.8, 4.0), generator.uniform(0.3, 1.5)
        state = cluster_alone(ngpt(beta, ratio, noise))
        density = oracles.attention_density("ngpt", beta, ratio * beta, 2.0 * np.pi * state.density(ANGLES))
        expected = growing(state.problem, density)
        # Collocated eigenvalues have rounding errors of eps POINTS^2 D times their condition, up to 1e4 here.
        assert np.abs(spectrum(state).eigenvalues[:3] - expected[:3]).max() < 1e4 * EPS * POINTS**2 * noise
        assert abs(state.slowest_rate + expected[0]) < 1e4 * EPS * POINTS**2 * noise
        assert state.unstable == 0


def test_a_law_of_ones_own_has_states():
    """For Kuramoto's drive r cos t with the speed 1/sqrt(1 + 4 h'^2) the field is an elementary function of r."""
    problem = ContinuityEquation(Circle(), Saturated(Kuramoto()), 1.0, 5.0)
    assert float(critical_coupling(problem)) == 2.0
    state = clusters(problem)["1-cluster"]

    def excess(moment):
        # With h' = -r sin t, the integral of h'/sqrt(1 + 4 h'^2) is asin(2 r cos t / sqrt(1 + 4 r^2))/2.
        field = 2.5 * np.arcsin(2.0 * moment * np.cos(ANGLES) / np.sqrt(1.0 + 4.0 * moment**2))
        density = np.exp(field)
        return (density * np.cos(ANGLES)).mean() / density.mean() - moment

    exact = brentq(excess, 0.3, 0.99, xtol=1e-15)
    assert abs(state.cosine[1] - exact) < 1e-14
    assert state.unstable == 0
    trajectory = evolve(problem, VonMises(0.0, 1.0), 20.0)
    assert abs(trajectory.cosine[-1, 1] - exact) < 1e-7


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (ContinuityEquation(Circle(), NormalisedAttention(2.0), noise=0.0, coupling=5.0), "give noise > 0"),
    ],
)
def test_what_has_no_states_says_so(problem, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        stationary_states(problem)
    with pytest.raises(InvalidInput, match=sentence):
        bifurcation_diagram(problem, (1.0, 12.0))


def test_kinks_of_a_confinement_are_refused():
    with pytest.raises(NotResolved, match="of nGPT attention in a confinement with a kink"):
        stationary_states(ngpt(2.0, 1.5, confinement=0.1 * HegselmannKrause(1.0)))


def test_the_command_prints_the_states(capsys):
    line = "stationary attention --normalisation ngpt --beta 2 --coupling 3 --noise 1 --json"
    assert main(line.split()) == 0
    first, uniform = json.loads(capsys.readouterr().out)["states"]
    assert (first["label"], first["unstable"], uniform["unstable"]) == ("1-cluster", 0, 2)
    assert first["m1"] > 0.5
    assert first["slowest_rate"] > 0.0 > uniform["slowest_rate"]


def test_integrals_on_panels_are_exact_beside_a_layer():
    """Of x / sqrt(x^2 + d^2), whose layer of width d lies at either end, and of a polynomial."""
    targets = np.linspace(0.0, 2.0, 23)
    panels = Panels(2.0, 8)
    for width in (1.0, 1e-3, 1e-7):
        root = np.sqrt(targets**2 + width**2)
        found = panels.integrals_to(targets)(panels.angles / np.sqrt(panels.angles**2 + width**2))
        assert np.abs(found - (root - width)).max() < 64 * EPS
        left = 2.0 - panels.angles
        found = panels.integrals_to(targets)(left / np.sqrt(left**2 + width**2))
        exact = np.hypot(2.0, width) - np.hypot(2.0 - targets, width)
        assert np.abs(found - exact).max() < 64 * EPS
    several = Panels(0.5, 2, 4)
    found = several.integrals_to(targets)(np.array([several.angles**9, np.ones_like(several.angles)]))
    assert np.abs(found - [targets**10 / 10.0, targets]).max() < 1e-12 * 102.4
    assert abs(several.weights @ several.angles**3 - 2.0) < 64 * EPS


def test_two_clusters_grow_from_a_perturbation_of_their_symmetry():
    problem = ngpt(4.0, 1.7)
    grown = evolve(problem, PerturbedUniform(1e-3, 2), 40.0)
    assert abs(abs(grown.cosine[-1, 2]) - cluster_alone(problem, 2).cosine[2]) < 1e-6


def test_directions_that_rounding_does_not_determine_are_not_counted():
    """Mass exchange between clusters far apart grows at exp(-barrier); other directions may be known nevertheless.

    By sines alone mass is not exchanged. The collocated eigenvalue of rotation, zero, tells the error of the other.
    """
    generator, odd = np.random.default_rng(3), slice(1, POINTS // 2 + 1)
    mirrored = -np.arange(POINTS) % POINTS
    for beta, coupling in [(2.0, 50.0), (generator.uniform(2.0, 5.0), generator.uniform(40.0, 50.0))]:
        state = cluster_alone(ngpt(beta).at(coupling=coupling), 2)
        density = oracles.attention_density("ngpt", beta, coupling, 2.0 * np.pi * state.density(ANGLES), 1)
        assert density.min() < EPS * density.max()
        assert state.unstable is None
        _, jacobian = oracles.collocated_attention("ngpt", beta, coupling, 1.0, density)
        sines = (jacobian - jacobian[:, mirrored])[odd, odd]
        _, error, growth = np.sort(np.linalg.eigvals(sines).real)[-3:]
        assert growth > 4.0 * abs(error)
        assert abs(state.slowest_rate + growth) < 2.0 * abs(error)


def test_counts_that_rounding_does_not_determine_are_no_changes_without_an_event():
    """Mass exchange between two narrow clusters is rounding on part of a branch, where its sign comes and goes."""
    diagram = bifurcation_diagram(ngpt(12.0), relative=(0.5, 4.0), rates=False)
    (branch,) = (each for each in diagram.branches if each.label == "2-cluster")
    unknown = np.flatnonzero(branch.unstable < 0)
    assert unknown.size
    said = [sentence for sentence in diagram.warnings if sentence.startswith("2-cluster")]
    assert said == [
        "2-cluster: a direction is neutral to rounding on part of the branch; whether it counts as unstable there is "
        "not known"
    ]


def test_a_rotation_beside_a_field_below_rounding_is_not_counted():
    """On top of a field a cluster is unstable, below rounding or not: never is it said to be stable."""
    for beta, strength in [(1.0, 1e-3), (1.0, 1e-14), (0.6, 1e-15)]:
        problem = ngpt(beta, 1.8, 0.3, CosineSeries((-strength,)))
        equation = stationary_equation(solvers_of(problem).geometry, problem, 1, 1)
        alone = cluster_alone(ngpt(beta, 1.8, 0.3))
        signs = (-1.0) ** np.arange(alone.cosine.size)
        start = equation.unknown_with(signs * alone.cosine, np.zeros(signs.size))
        state = state_of(problem, state_at(equation, start, equation.q_at(problem.coupling)))
        assert state.cosine[1] < -0.2
        assert state.unstable == (1 if strength > 1e-12 else None)


def test_no_diagram_without_a_free_energy_is_complete_by_its_convexity():
    """Beyond its threshold beta D a cluster may rest on top of a weak field as well, which no branch leads to."""
    generator = np.random.default_rng(8)
    for beta, ratio in np.transpose([generator.uniform(0.3, 0.9, 2), generator.uniform(1.4, 1.8, 2)]):
        problem = ngpt(beta, confinement=CosineSeries((-0.02 * beta,)))
        diagram = bifurcation_diagram(problem, (0.0, ratio * beta), rates=False)
        (branch,) = diagram.branches
        force = -problem.confinement.slope(ANGLES)
        turned = 2.0 * np.pi * diagram.state(branch.label, -1).density(ANGLES + np.pi)
        other = oracles.attention_state("ngpt", beta, ratio * beta, 1.0, turned, force)
        change, _ = oracles.collocated_attention("ngpt", beta, ratio * beta, 1.0, other, force)
        assert np.abs(change).max() < 1e-10
        assert (other * np.cos(ANGLES)).mean() < -0.1
        assert any("there may be some" in warning for warning in diagram.warnings)


def test_what_breaks_reflection_is_named_and_not_followed():
    """In a field whose axis one cluster leaves sideways; the critical direction is among the sines."""
    field = CosineSeries((-0.3, 0.1))
    diagram = bifurcation_diagram(ngpt(3.0, noise=0.7, confinement=field), (0.0, 6.0), rates=False)
    (event,) = diagram.events("branch point")
    assert "sine" in event.description
    assert any("a flux may run through them" in warning for warning in diagram.warnings)
    state = diagram.state("primary", event.point)
    values = growing(state.problem, 2.0 * np.pi * state.density(ANGLES), -field.slope(ANGLES))
    assert np.abs(values).min() < 1e-6


def test_signs_of_growth_rates_are_those_of_the_eigenvalues():
    """Whether the symmetric part, negative definite, decides them or not; and one within rounding has none."""
    generator, seen = np.random.default_rng(5), set()
    for size in generator.integers(1, 40, 200):
        matrix = generator.normal(size=(size, size)) - generator.uniform(0.0, 4.0) * np.sqrt(size) * np.eye(size)
        rates = np.linalg.eigvals(matrix).real
        found = signs_in(matrix)
        assert found == ((rates > 0.0).sum(), False)
        definite = np.linalg.eigvalsh(matrix + matrix.T).max() < 0.0
        seen.add((definite, found.growing > 0))
    assert seen == {(True, False), (False, False), (False, True)}
    rotation = np.array([[0.0, 1.0], [-1.0, 0.0]])
    assert signs_in(rotation) == (0, True)
    assert signs_in(np.zeros((0, 0))) == (0, False)
    assert signs_in(rotation - 1e-14 * np.eye(2)) == (0, False)
