"""Diagrams and states on spheres against closed forms, published values and dense computations."""

import numpy as np
import pytest
from scipy.special import iv

from meanfield import (
    GegenbauerSeries,
    InvalidInput,
    Kuramoto,
    McKeanVlasov,
    Outcome,
    Sphere,
    Transformer,
)
from meanfield.harmonics import gauss_rule, polynomials
from solvers import bifurcation_diagram, stationary_states
from solvers.equations.sizing import stationary_equation
from solvers.root_finding.newton import solve_at
from solvers.sphere import SPHERE, invariant_equation
from solvers.sphere.groups import OCTAHEDRAL, prismatic
from solvers.sphere.harmonics import harmonic_perturbations
from tests import brute_force, problems

EPS = np.finfo(float).eps
LOCATED = 1e-12


def located(diagram, label, kind):
    (event,) = diagram.events(kind, label)
    assert event.status == "converged"
    return event


@pytest.fixture(scope="module")
def nematic():
    return bifurcation_diagram(problems.NEMATIC.problem, relative=(0.5, 2.0), rates=False)


def test_maier_saupe_against_the_closed_family(nematic):
    assert [branch.label for branch in nematic.branches] == ["uniform", "prolate", "oblate"]
    exact = problems.NEMATIC.exact
    for kind in ("fold", "transition"):
        event = located(nematic, "prolate", kind)
        assert event.coupling == pytest.approx(exact(kind), rel=LOCATED)
        assert event.m2 == pytest.approx(exact(f"order at {kind}"), abs=1e-11)
    assert nematic.critical_coupling == pytest.approx(exact("critical coupling"), rel=4 * EPS)
    assert not nematic.warnings


def test_maier_saupe_stability_is_that_of_the_classification(nematic):
    prolate, oblate = (nematic.branch(label) for label in ("prolate", "oblate"))
    fold = problems.NEMATIC.exact("order at fold")
    after_fold = prolate.moment(2) > fold + 1e-9
    assert np.all(prolate.unstable[after_fold] == 0)
    assert np.all(prolate.unstable[prolate.moment(2) < fold - 1e-9] == 1)
    # In the sector of order two the oblate state gains by tilting: two directions.
    assert np.all(oblate.unstable[1:] == 2)


def test_onsager_against_published_values():
    diagram = bifurcation_diagram(problems.RODS.problem, relative=(0.5, 1.5), rates=False)
    assert diagram.critical_coupling == pytest.approx(problems.RODS.exact("critical coupling"), rel=8 * EPS)
    assert located(diagram, "prolate", "fold").coupling == pytest.approx(8.8765804297958885, rel=LOCATED)
    assert located(diagram, "prolate", "transition").coupling == pytest.approx(9.0119727414812875, rel=LOCATED)


def test_transformer_against_reference():
    diagram = bifurcation_diagram(problems.SPHERICAL_ATTENTION.problem, relative=(0.5, 3.0), rates=False)
    fold, transition = (located(diagram, "zonal 1", kind) for kind in ("fold", "transition"))
    exact = problems.SPHERICAL_ATTENTION.exact
    for event, kind in ((fold, "fold"), (transition, "transition")):
        assert event.coupling == pytest.approx(exact(kind), rel=LOCATED)
        assert event.m1 == pytest.approx(exact(f"order at {kind}"), abs=1e-11)
    assert diagram.critical_coupling == pytest.approx(exact("critical coupling"), rel=8 * EPS)


def test_critical_coupling_of_the_transformer_is_e():
    diagram = bifurcation_diagram(problems.SMOOTH_ATTENTION.problem, relative=(0.5, 1.5), rates=False)
    assert diagram.critical_coupling == pytest.approx(
        problems.SMOOTH_ATTENTION.exact("critical coupling"), rel=8 * EPS
    )
    assert not diagram.events("fold")


@pytest.mark.parametrize("dimension", [3, 4, 8, 64])
@pytest.mark.parametrize("ratio", [1.1, 2.0, 5.0])
def test_dipolar_states_are_von_mises_fisher(dimension, ratio):
    coupling = ratio * dimension
    problem = McKeanVlasov(Sphere(dimension), Kuramoto(), coupling=coupling)
    states = stationary_states(problem, rates=False)
    assert [state.label for state in states] == ["zonal 1", "uniform"]
    order = states[0].order_parameter(1)
    assert order == pytest.approx(bessel_ratio(dimension, coupling * order), abs=64 * EPS * ratio)
    assert states[0].stable
    assert states[1].unstable == dimension


def bessel_ratio(dimension, concentration):
    return iv(dimension / 2, concentration) / iv(dimension / 2 - 1, concentration)


def test_dipolar_free_energy():
    (state, _) = stationary_states(problems.SPINS_AT_5.problem, rates=False)
    assert state.order_parameter(1) == pytest.approx(problems.SPINS_AT_5.exact("order parameter"), abs=1e-13)
    assert state.free_energy_gap == pytest.approx(problems.SPINS_AT_5.exact("free energy gap"), abs=1e-13)


def test_states_of_single_degrees_on_the_ordinary_sphere():
    """Octahedral and tetrahedral states: W = -P_l, values from a family in one parameter."""
    exact = problems.OCTAHEDRAL.exact
    four = bifurcation_diagram(single(4), relative=(0.5, 1.3), depth=1, rates=False)
    assert {branch.label for branch in four.branches} == {"uniform", "zonal 4+", "zonal 4-", "octahedral", "cubic"}
    assert located(four, "octahedral", "fold").coupling == pytest.approx(exact("fold"), rel=LOCATED)
    assert located(four, "octahedral", "transition").coupling == pytest.approx(exact("transition"), rel=LOCATED)
    three = bifurcation_diagram(single(3), relative=(0.5, 1.3), depth=1, rates=False)
    assert {branch.label for branch in three.branches} == {"uniform", "zonal 3", "tetrahedral", "D_3h 3"}
    tetrahedral = three.branch("tetrahedral")
    # The first points of the pitchfork: kappa/kappa_3 = 1 + (19/143) <psi>^2, psi of unit mean square, 1/7 in ours.
    psi = np.sqrt(7.0) * tetrahedral.moment(3)
    near = (psi > 0.01) & (psi < 1.0)
    value, error = intercept(psi[near] ** 2, tetrahedral.relative_coupling[near] - 1.0)
    assert abs(value - 19.0 / 143.0) <= error


def intercept(x, y):
    """Return the limit of y/x at 0 by a polynomial, and how much the last degree of it changes that."""
    lower, higher = (np.polynomial.Polynomial.fit(x, y / x, degree)(0.0) for degree in (1, 2))
    assert abs(higher - lower) < 0.1
    return higher, abs(higher - lower)


def single(degree):
    return McKeanVlasov(Sphere(3), GegenbauerSeries((*[0.0] * (degree - 1), -1.0), 3))


def test_energies_of_two_symmetries_cross():
    """With W = -P_3 the three-fold state is lowest near onset, the zonal one later, where their gaps agree."""
    diagram = bifurcation_diagram(single(3), relative=(0.5, 1.6), depth=1, rates=False)
    zonal, dihedral = diagram.branch("zonal 3"), diagram.branch("D_3h 3")
    (crossing,) = diagram.events("transition")
    states = {state.label: state for state in stationary_states(single(3).at(coupling=crossing.coupling))}
    gaps = [states[label].free_energy_gap for label in ("zonal 3", "D_3h 3")]
    assert gaps[0] == pytest.approx(gaps[1], abs=1e-11)
    ends = [float(b.free_energy_gap[-1]) for b in (zonal, dihedral)]
    assert ends[0] < ends[1]


@pytest.mark.parametrize(("dimension", "beta"), [(3, 3.0), (4, 3.0), (16, 9.0), (64, 1.0)])
def test_points_solve_the_equation_on_another_rule(dimension, beta):
    """The Gibbs density of the moments of a point has those moments, on a rule of twice as many nodes."""
    problem = McKeanVlasov(Sphere(dimension), Transformer(beta))
    diagram = bifurcation_diagram(problem, relative=(0.5, 1.5), depth=1, rates=False)
    for branch in diagram.branches[1:]:
        point = len(branch) // 2
        moments = branch.cosine[point]
        defect = gibbs_moments(problem, branch.coupling[point], moments) - moments[:20]
        assert np.abs(defect).max() <= 1e-11


def gibbs_moments(problem, coupling, moments):
    dimension, degree = problem.domain.dimension, moments.size - 1
    rule = gauss_rule(dimension, max(256, 2 * degree))
    table = polynomials(dimension, rule, degree)
    weights = np.asarray(problem.potential.multipliers(problem.domain, degree), dtype=float)
    field = -(coupling / problem.noise) * (weights[1:] * moments[1:]) @ table[1:]
    density = np.exp(field + rule.log_weights - (field + rule.log_weights).max())
    return table[:20] @ density / density.sum()


def test_envelope_identity_along_a_branch():
    """The gap changes by (1/2) sum w_l p_l^2 with the coupling; a monotone slope bounds its integral."""
    problem = McKeanVlasov(Sphere(8), Transformer(1.0))
    branch = bifurcation_diagram(problem, relative=(0.5, 2.0), depth=1, rates=False).branch("zonal 1")
    weights = np.asarray(problem.potential.multipliers(problem.domain, branch.cosine.shape[1] - 1), dtype=float)
    slopes = 0.5 * (branch.cosine[:, 1:] ** 2 * weights[1:]).sum(axis=1)
    steps = np.diff(branch.coupling)
    expected = 0.5 * (slopes[1:] + slopes[:-1]) * steps
    bend = np.abs(np.diff(slopes)) * np.abs(steps)
    assert np.all(np.abs(np.diff(branch.free_energy_gap) - expected) <= bend / 2 + 1e-13)


def test_curvature_at_onset():
    """kappa/kappa_1 = 1 + c m^2 with c = (d/(d+2))(1 - d r)/(1 - r), r the ratio of the Funk-Hecke eigenvalues."""
    for dimension, beta in ((3, 1.0), (4, 2.0), (8, 1.0)):
        problem = McKeanVlasov(Sphere(dimension), Transformer(beta))
        branch = bifurcation_diagram(problem, relative=(0.5, 1.5), depth=1, rates=False).branch("zonal 1")
        ratio = iv(dimension / 2 + 1, beta) / iv(dimension / 2, beta)
        curvature = dimension / (dimension + 2) * (1 - dimension * ratio) / (1 - ratio)
        near = (branch.moment(1) > 1e-2) & (branch.moment(1) < 0.4)
        value, error = intercept(branch.moment(1)[near] ** 2, branch.relative_coupling[near] - 1.0)
        assert abs(value - curvature) <= error


def test_unstable_counts_are_those_of_the_spectrum():
    problem = McKeanVlasov(Sphere(3), Transformer(3.0), coupling=3.0)
    for state in stationary_states(problem, rates=False)[:-1]:
        spectrum = SPHERE.spectrum(state)
        assert spectrum.unstable == state.unstable


def test_many_states_of_even_and_odd_degrees():
    """Degrees of both parities: branches even about the equator lose that symmetry, and are joined."""
    weights = (-1.092, -1.419, 1.102, -2.202, 0.799)
    diagram = bifurcation_diagram(
        McKeanVlasov(Sphere(3), GegenbauerSeries(weights, 3)), relative=(0.5, 2.5), rates=False
    )
    ends = {diagram.branches[event.branch].label: event.description for event in diagram.events("endpoint")}
    assert ends["zonal 1"] == "joins a branch even about the equator"
    # What is left out is said, and nothing else.
    assert all("followed" in warning or "looked for" in warning for warning in diagram.warnings)
    # Where a branch without an axis turns back as its own image another one has the branch point.
    (mirrored,) = (event for event in diagram.events("endpoint") if event.description.endswith("larger symmetry"))
    met = [event.coupling for event in diagram.events("branch point") if event.branch != mirrored.branch]
    assert min(abs(coupling - mirrored.coupling) for coupling in met) <= 1e-9 * mirrored.coupling


@pytest.mark.parametrize("label", ["octahedral", "cubic", "zonal 4+"])
def test_classes_of_harmonics_have_the_products_of_all_harmonics(label):
    """Sums along rings for one class against those for all harmonics at once."""
    group = OCTAHEDRAL if label != "zonal 4+" else prismatic(4)
    equation = invariant_equation(SPHERE, problems.STRONG_ATTENTION.problem, group, 1)
    field = np.random.default_rng(3).standard_normal(equation.scales.size)
    sign = -1.0 if label == "cubic" else 1.0
    modes = harmonic_perturbations(equation)
    density = equation.basis.gibbs(sign * field).moments
    moments = modes.basis.moments_from(*equation.basis.expand(density))
    assert modes.waves is not None
    everything = modes.basis.covariance(moments) + np.multiply.outer(*2 * [modes.basis.means(moments)])
    rows = modes.waves(*np.split(moments, 2))[..., 0]
    rows = np.concatenate([rows, np.zeros((1, rows.shape[1]))])
    for block in modes.classes:
        products, own = modes.products(block)
        expected = everything[np.ix_(block.places, block.places)]
        assert np.abs(products(rows)[np.ix_(own, own)] - expected).max() <= 64 * EPS


def test_high_dimension_over_decades_of_the_coupling():
    """d = 16, beta = 9: the branch falls to a fortieth of its critical coupling before it turns."""
    problem = McKeanVlasov(Sphere(16), Transformer(9.0))
    diagram = bifurcation_diagram(problem, relative=(0.01, 1.2), depth=1, rates=False)
    fold = located(diagram, "zonal 1", "fold")
    branch = diagram.branch("zonal 1")
    assert fold.relative_coupling < 0.03
    assert branch.outcome is Outcome.LEFT_INTERVAL
    moments = branch.cosine[-1]
    assert np.abs(gibbs_moments(problem, branch.coupling[-1], moments) - moments[:20]).max() <= 1e-11
    # The free energy of the concentrated state, on a rule of its own; 140 nodes would give another, -1031.6.
    assert branch.free_energy_gap[-1] == pytest.approx(-1051.5652998235, rel=1e-12)


def test_confinement_keeps_the_axis():
    problem = McKeanVlasov(Sphere(3), Kuramoto(), coupling=5.0, confinement=GegenbauerSeries((-0.2,), 3))
    states = stationary_states(problem)
    assert len(states) == 3
    # Against the field both the rotations and the flip are unstable or slow; with it the state is stable.
    assert states[0].unstable == 0
    assert states[0].moment(1) > 0.0
    assert states[0].slowest_rate > 0.0


def test_states_that_break_every_symmetry_but_a_mirror():
    """Axial confinement across a polar and nematic interaction: the minimiser is tilted.

    The free energy is the lowest of 200 minimisations over all harmonics from random starts.
    """
    problem = McKeanVlasov(
        Sphere(3), GegenbauerSeries((-1.0, -2.0), 3), coupling=4.0, confinement=GegenbauerSeries((0.3, 0.7), 3)
    )
    states = stationary_states(problem, rates=False)
    assert states[0].minimiser
    assert states[0].unstable == 0
    assert states[0].free_energy_gap == pytest.approx(-2.3974895333517, abs=1e-11)
    assert states[0].layout == "order"
    assert [state.order_parameter(degree) for state in states[:1] for degree in (1, 2)] == pytest.approx(
        [0.95710655, 0.88044906], abs=1e-8
    )


def test_branches_of_the_two_lowest_degrees_are_followed_down():
    """d = 33, beta = 9, below both thresholds: strongly ordered polar and nematic states."""
    problem = McKeanVlasov(Sphere(33), Transformer(9.0), coupling=9.978095313069021)
    states = stationary_states(problem, rates=False)
    assert [state.label for state in states[:3]] == ["zonal 1", "prolate", "uniform"]
    # From a Newton iteration on another discretisation.
    assert states[1].free_energy_gap == pytest.approx(-2114.2492587038, rel=1e-11)


def test_a_start_is_resolved_before_it_is_believed():
    """A spike on too few nodes solves the discrete equation, and is refused by the second rule."""
    problem = McKeanVlasov(Sphere(16), Transformer(9.0))
    equation = stationary_equation(SPHERE, problem)
    coupling = 2.4761604
    q = coupling / equation.unit
    spike = equation.unknown_from(equation.basis.moments_from(0.99 ** np.arange(equation.basis.nodes + 1.0), None))
    solution = solve_at(equation, spike, q)
    assert solution is not None
    assert not equation.resolves(solution.b, q, solution.evaluation.gibbs.moments)


def test_nonsense():
    with pytest.raises(InvalidInput, match=r"from 3 to 1024, not 1"):
        Sphere(1)
    with pytest.raises(InvalidInput, match="is the circle"):
        Sphere(2)
    with pytest.raises(InvalidInput, match="an integer"):
        Sphere(3.5)


def test_a_branch_that_passes_through_another_is_not_followed_again():
    """The two neutral directions of D_3h turn into each other; one branch is born along them, on both sides."""
    diagram = bifurcation_diagram(
        McKeanVlasov(Sphere(3), GegenbauerSeries((0.0, 0.0, -1.0))), (6.0, 11.0), rates=False, depth=3
    )
    assert diagram.warnings == ()
    own = located(diagram, "D_3h 3", "branch point")
    assert own.kernel_dimension == 2
    (crossed,) = [event for event in diagram.events("branch point") if event.description == "crosses D_3h 3"]
    assert crossed.coupling == pytest.approx(own.coupling, rel=LOCATED)
    assert [branch.label for branch in diagram.branches if branch.label.startswith("C_2v")] == ["C_2v from zonal 3"]


def test_an_octahedral_state_becomes_polar_along_the_axes_of_three_kinds():
    """Of the three neutral directions those along axes of four, three and two turns are fixed by a subgroup each."""
    weights = (-0.246, 0.752, -0.36, -1.322)
    diagram = bifurcation_diagram(
        McKeanVlasov(Sphere(3), GegenbauerSeries(weights)), relative=(0.9, 1.4), rates=False
    )
    space = brute_force.sphere(weights, nodes=64)
    u, _ = np.polynomial.legendre.leggauss(64)
    polar, azimuth = np.meshgrid(np.arccos(u), 2.0 * np.pi * np.arange(128) / 128, indexing="ij")
    for name in ("C_4v", "C_3v", "C_2v"):
        (branch,) = [each for each in diagram.branches if each.label == f"{name} from octahedral"]
        assert diagram.special_points[branch.parent].kernel_dimension == 3
        state = diagram.state(branch.label, len(branch) - 1)
        masses = 4.0 * np.pi * state.density(polar.ravel(), azimuth.ravel()) * space.weights
        moments = space.values @ masses
        again = brute_force.gibbs(space, float(state.problem.coupling), 1.0, moments[None])[0]
        assert np.abs(space.values @ again - moments).max() <= LOCATED
        unstable, neutral = brute_force.unstable_directions(space, float(state.problem.coupling), 1.0, masses)
        assert (unstable, neutral) == (branch.unstable[-1], 3)
