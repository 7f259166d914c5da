"""The search among all densities on S^2 against brute force, closed forms and groups."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from meanfield import (
    GegenbauerSeries,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Onsager,
    Sphere,
    Transformer,
    branch_shape,
    critical_coupling,
)
from meanfield.harmonics import packed
from solvers import bifurcation_diagram, spectrum, stationary_states
from solvers.bases import FullBasis, InvariantBasis
from solvers.bases.confining import ConfiningField
from solvers.bases.invariant import mode_matrix
from solvers.bases.representations import TRIVIAL, representation
from solvers.branches.labels import own_name
from solvers.domains import solvers_of
from solvers.root_finding.batched import relaxed
from solvers.root_finding.search import Lost, Met
from solvers.sphere import harmonics, recognised
from solvers.sphere.groups import OCTAHEDRAL, axial_group, prismatic, searched_groups, solids
from solvers.sphere.points import Field, about_axis, invariant
from solvers.sphere.sampled import Sampled
from solvers.sphere.search import Densities
from solvers.sphere.symmetric import field_of
from solvers.sphere.tabulated import Separated, Tabulated
from tests import brute_force
from tests.campaign import subjects, trial
from tests.campaigns import Verdict
from tests.campaigns.sphere_states import resolved

# States nearer than this are the same; brute force solves to 1e-11.
SAME = 1e-7


def about_pole(coefficients):
    """Return the field of a confinement about the pole from its coefficients in P_1, P_2, ..."""
    cosine = packed(np.r_[0.0, coefficients])
    return ConfiningField(np.stack([cosine, np.zeros_like(cosine)]), zonal=True)


def _on_sphere(weights, coupling, confinement=()):
    field = GegenbauerSeries(confinement) if confinement else None
    return McKeanVlasov(Sphere(3), GegenbauerSeries(weights), coupling=coupling, confinement=field)


def _missing(answer, states, degrees):
    """Return the energies of states that are not in an answer, or have another number of unstable directions there."""

    def alike(state, other):
        lengths = [other.order_parameter(int(degree)) * np.sqrt(2.0 * degree + 1.0) for degree in degrees]
        near = (
            np.abs(np.array(lengths) - state.powers).max() < SAME and abs(other.free_energy_gap - state.gap) < SAME
        )
        return near and other.unstable == state.unstable

    return [state.gap for state in states if not any(alike(state, other) for other in answer)]


@pytest.mark.parametrize(
    ("weights", "confinement", "coupling"),
    [
        ((0.0, 0.0, -0.967, -0.566), (), 7.92816),
        ((-0.2, -0.6, -1.0), (), 8.5),
        ((-1.0, -0.5), (0.3, 0.2), 4.0),
        ((-0.4, -0.9), (0.0, 0.8), 7.0),
    ],
)
def test_every_state_of_brute_force_is_in_the_answer(weights, confinement, coupling):
    space = brute_force.sphere(weights, confinement, nodes=24)
    finer = brute_force.sphere(weights, confinement, nodes=37)
    every = brute_force.stationary_states(space, coupling, starts=256)
    states = [state for state in every if resolved(state, finer, coupling)]
    answer = stationary_states(_on_sphere(weights, coupling, confinement), depth=1, rates=False)
    assert len(states) > 2
    assert _missing(answer, states, np.unique(space.degrees)) == []
    assert answer[0].free_energy_gap <= min(state.gap for state in states) + SAME
    assert answer[0].minimiser
    assert "all densities on the sphere" in answer.searched


def test_in_a_field_only_the_branch_without_interaction_is_followed_and_named():
    followed: list[str] = []
    problem = _on_sphere((0.0, 0.0, 0.0, -1.0), 12.0, (0.0, 0.2))
    answer = stationary_states(problem, rates=False, watch=lambda done, whole, label: followed.append(label))
    assert followed == ["primary", "search"]
    # It keeps the axis of the field. The others have the names of their symmetries, whatever branches they are on.
    assert {own_name(state.label) for state in answer} == {"primary", "D_2h", "D_3d", "D_4h", "zonal 4-"}
    assert not any("from" in state.label for state in answer)


def test_a_state_that_no_grid_resolves_counts_once_wherever_it_stands(monkeypatch):
    monkeypatch.setattr(Densities, "_state_at", lambda *_: Lost.UNRESOLVED)
    answer = stationary_states(_on_sphere((0.0, -1.0, 0.0, -0.8), 8.0), depth=0, rates=False)
    # Two without an axis, each met in several symmetries; those with one come from the search about it.
    assert "2 states that were met are not listed" in answer.searched
    assert answer.complete is False


def test_states_that_few_modes_do_not_resolve_are_solved_for_with_more(monkeypatch):
    problem = _on_sphere((0.0, -1.0, 0.0, -0.8), 8.0)
    expected = [state.free_energy_gap for state in stationary_states(problem, depth=0, rates=False)]
    solve, tried = Densities._state_at, []

    def with_most(self, group, cosine, sine, modes, refinements):
        tried.append(modes)
        return solve(self, group, cosine, sine, modes, refinements) if refinements else Lost.UNRESOLVED

    monkeypatch.setattr(Densities, "_state_at", with_most)
    answer = stationary_states(problem, depth=0, rates=False)
    np.testing.assert_allclose([state.free_energy_gap for state in answer], expected, rtol=0.0, atol=1e-13)
    assert len(tried) % 2 == 0
    assert min(tried) < max(tried)


def test_unstable_directions_of_a_state_are_counted_once(monkeypatch):
    counted, count = [], harmonics._counted
    monkeypatch.setattr(
        harmonics, "_counted", lambda point, neutral: counted.append(point) or count(point, neutral)
    )
    answer = stationary_states(_on_sphere((0.0, -1.0, 0.0, -0.8), 8.0), depth=0, rates=False)
    assert 0 < len(counted) < len(answer)
    assert len({id(point) for point in counted}) == len(counted)


def test_where_runs_cannot_settle_a_search_those_that_meet_rare_states_go_on():
    problem = _on_sphere((0.0, -1.0, 0.0, -1.0), 8.0)
    field = field_of(problem, 8.0, 4)
    space = Densities(solvers_of(problem).geometry, problem.at(coupling=None), 1, 8.0, field)
    every = list(space._productive([]))
    met = [Met(None, False, runs, 0, parts) for runs, parts in ((9, {0, 1}), (1, {2}), (2, {1}), (1, {1, 3}))]
    assert list(space._productive(met)) == every
    assert list(space._productive(met * 50)) == [1, 2, 3]
    assert list(space._productive(met[:1] * 200)) == every


def test_branches_are_not_needed_to_meet_the_states_of_one_degree():
    # f ~ exp(a psi) with psi the harmonic of degree four of a symmetry has the coupling 9 a/<psi>.
    problem = _on_sphere((0.0, 0.0, 0.0, -1.0), 8.6)
    answer = stationary_states(problem, depth=0, rates=False)
    u, weights = np.polynomial.legendre.leggauss(64)
    azimuth = 2.0 * np.pi * np.arange(128) / 128
    x, y = (np.multiply.outer(np.sqrt(1.0 - u**2), turn(azimuth)) for turn in (np.cos, np.sin))
    psi = x**4 + y**4 + u[:, None] ** 4 - 0.6
    psi /= np.sqrt(weights @ (psi**2).mean(axis=1) / 2.0)

    def coupling(a):
        masses = weights[:, None] * np.exp(a * psi)
        return 9.0 * a * masses.sum() / (masses * psi).sum()

    # Of the two octahedral states between the fold and the threshold the farther one is on the rising part.
    amplitudes = np.linspace(0.01, 6.0, 600)
    fold = int(np.argmin([coupling(a) for a in amplitudes]))
    roots = [brentq(lambda a: coupling(a) - 8.6, *span) for span in (amplitudes[[0, fold]], amplitudes[[fold, -1]])]
    lengths = [state.order_parameter(4) for state in answer if state.label.startswith("octahedral")]
    assert np.abs(np.sort(lengths) - np.array(roots) * 3.0 / 8.6).max() < 1e-12


def test_what_is_known_of_completeness_is_said():
    weak = stationary_states(_on_sphere((-0.3, -0.2, 0.5), 1.5), rates=False)
    assert weak.complete
    assert [state.label for state in weak] == ["uniform"]
    heisenberg = stationary_states(McKeanVlasov(Sphere(7), Kuramoto(), coupling=9.0), rates=False)
    assert heisenberg.complete
    assert heisenberg[0].minimiser
    high = stationary_states(McKeanVlasov(Sphere(5), Transformer(beta=3.0), coupling=4.0), rates=False)
    assert high.complete is None
    assert "about an axis (others were not searched)" in high.searched
    assert high[0].minimiser
    assert "about an axis" in high[0].minimiser_reason


def test_a_state_that_a_field_tilts_is_followed_back_in_a_diagram():
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((-1.0, -0.5)), confinement=GegenbauerSeries((0.3, 0.2)))
    diagram = bifurcation_diagram(problem, (3.5, 4.0), depth=0, rates=False)
    tilted = [branch for branch in diagram.branches if branch.layout == "order"]
    assert any(branch.label == "C_s from the search" and branch.unstable[-1] == 0 for branch in tilted)


RECOGNISED = [*solids(), *searched_groups(5), axial_group(3, False, 1, False), axial_group(2, False, -1, False)]


@pytest.mark.parametrize("group", RECOGNISED, ids=lambda group: group.name)
def test_the_symmetry_of_a_turned_density_is_recognised(group):
    degrees = np.array([degree for degree in range(1, 10) if group.dimension(degree)])
    modes = mode_matrix(group, degrees, 9)
    cosine, sine = np.split(modes.T @ np.random.default_rng(1).standard_normal(modes.shape[0]), 2)
    solid = group in solids()
    if not solid:
        cosine, sine = _turned(cosine, sine, Rotation.random(random_state=2).as_matrix())
    found, *moments = recognised(TRIVIAL, cosine, sine, False, False)
    # The invariants of I up to degree nine are those of I_h.
    assert found.order == (120 if group.name == "I" else group.order)
    for element in found.elements:
        assert np.abs(np.concatenate(_turned(*moments, element)) - np.concatenate(moments)).max() < 1e-9


def test_a_density_about_any_axis_is_recognised():
    zonal = np.zeros(15)
    zonal[[1, 3, 6]] = 0.5, -0.3, 0.2
    cosine, sine = _turned(zonal, np.zeros(15), Rotation.random(random_state=3).as_matrix())
    found = recognised(TRIVIAL, cosine, sine, False, False)
    assert found.group is None
    # The axis may point either way.
    assert np.abs(np.abs(found.cosine) - np.abs(zonal)).max() < 1e-12


def _turned(cosine, sine, element):
    cosine, sine = cosine.copy(), sine.copy()
    for degree in range(1, int(np.sqrt(2 * cosine.size))):
        first = degree * (degree + 1) // 2
        values = (
            representation(element, degree)
            @ np.r_[cosine[first : first + degree + 1], sine[first + 1 : first + degree + 1]]
        )
        cosine[first : first + degree + 1], sine[first + 1 : first + degree + 1] = (
            values[: degree + 1],
            values[degree + 1 :],
        )
    return cosine, sine


@pytest.mark.parametrize("group", [TRIVIAL, prismatic(3), OCTAHEDRAL], ids=lambda group: group.name)
def test_sampled_densities_have_the_moments_and_steps_of_the_basis(group):
    degrees = group.admissible(6)
    basis = FullBasis(degrees, 96) if group is TRIVIAL else InvariantBasis(group, degrees, 96)
    strengths = np.r_[0.0, 1.5, 3.0, -1.0, 3.0, 2.0, 4.0]
    sampled = Sampled(invariant(group, Field(strengths, None, False), degrees, 96), Field(strengths, None, False))
    means = sampled.random(np.random.default_rng(4), 3)
    field = strengths[basis.degrees] * means[1]
    gibbs = basis.gibbs(field)
    assert np.abs(sampled._means(strengths[basis.degrees] * means)[0][1] - basis.means(gibbs.moments)).max() < 1e-10
    # One step of Newton's method from the dense Jacobian; rotations do not enter its length off them.
    jacobian = np.eye(field.size) - basis.covariance(gibbs.moments) * strengths[basis.degrees]
    residual = basis.means(gibbs.moments) - means[1]
    if basis.rotation(gibbs.moments) is None:
        assert np.abs(sampled._step(means)[1] - np.linalg.solve(jacobian, residual)).max() < 1e-8
    else:
        _, states = sampled.solved(sampled.relaxed(means))
        assert len(states) > 0
        for state in states:
            moments = basis.gibbs(strengths[basis.degrees] * state).moments
            assert np.abs(basis.means(moments) - state).max() < 1e-8


@pytest.mark.parametrize("confinement", [None, np.r_[0.7, -1.2]])
def test_relaxations_lower_the_free_energy(confinement):
    """Repulsion of some degrees beside attraction of others makes a whole step too long."""
    strengths = np.r_[0.0, 6.0, -40.0, 12.0, -25.0]
    field, degrees = Field(strengths, confinement, False), np.arange(1, 5)
    sampled = Sampled(about_axis(Sphere(5), field, degrees, 64), field)
    starts = sampled.random(np.random.default_rng(8), 40)
    fields = starts * strengths[degrees]
    levels = [relaxed(fields, strengths[degrees], sampled._described, steps)[1] for steps in (0, 1, 4, 16, 256)]
    assert (np.diff(levels, axis=0) <= 0.0).all()
    # The first by the integral of rho log rho + V rho / D over the rule.
    masses, _ = sampled._gibbs(fields)
    masses /= masses.sum(axis=1, keepdims=True)
    means = sampled._functions.means(masses)
    direct = (masses * (np.log(masses) - sampled._fixed)).sum(axis=1) - 0.5 * means**2 @ strengths[degrees]
    np.testing.assert_allclose(levels[0], direct, rtol=0.0, atol=1e-11)
    ends, _ = relaxed(fields, strengths[degrees], sampled._described, 256)
    left = np.abs(sampled._means(ends * strengths[degrees])[0] - ends).max(axis=1)
    assert np.median(left) < 1e-6


@pytest.mark.parametrize("group", [TRIVIAL, prismatic(2)], ids=lambda group: group.name)
def test_states_of_a_coarse_grid_settle_on_a_finer_one_where_newton_finds_them(group):
    """Of degree six at 1.5 times its threshold, sharp enough for the coarse grid to be off by more than rounding."""
    field, degrees = Field(np.r_[np.zeros(6), 1.5 * 13.0], None, False), np.array([6])
    # With 64 rings the grid itself leaves 2e-8 of the moments of C_1.
    coarse, fine = (Sampled(invariant(group, field, degrees, rings), field) for rings in (22, 80))
    _, ends = coarse.solved(coarse.random(np.random.default_rng(3), 24))
    settled, corrected = fine.corrected(ends, coarse)
    assert settled.sum() > len(ends) // 2
    left = np.abs(fine._means(ends * field.strengths[6])[0] - ends).max(axis=1)
    assert left.max() > 1e-6
    moments = corrected[settled]
    # Steps end at 1e-9, and the Jacobian of residuals is lambda times a covariance of at most one.
    assert np.abs(fine._means(moments * field.strengths[6])[0] - moments).max() < 1e-9 * field.strengths[6]
    kept, states = fine.solved(ends[settled])
    # Newton's method turns a state by what the coarse grid is off.
    assert np.abs(fine.invariants(states) - fine.invariants(moments[kept])).max() < 1e-8


@pytest.mark.parametrize("index", range(6))
def test_the_rings_that_a_density_is_said_to_need_give_its_moments(index):
    """Random fields of several degrees, with and without a confinement, against three times the rings."""
    generator, group = np.random.default_rng([31, index]), axial_group(2, True, 0, False)
    strengths = np.r_[0.0, generator.uniform(-4.0, 12.0, generator.integers(2, 9))]
    confinement = generator.uniform(-3.0, 3.0, 2) if index % 2 else None
    placed = None if confinement is None else about_pole(confinement)
    field, degrees = Field(strengths, confinement, False, 0.0, placed), np.arange(1, strengths.size)
    _, states = (rough := Sampled(invariant(group, field, degrees, 40), field)).solved(
        rough.relaxed(rough.random(generator, 8))
    )
    for state in states:
        lengths = field.lengths(rough.invariants(state[None]))
        rings = int(field.rings(lengths, 3, 1e-8)[0])
        one, other = (Sampled(invariant(group, field, degrees, count), field) for count in (rings, 3 * rings))
        coefficients = state[None] * rough._strengths
        assert np.abs(one._means(coefficients)[0] - other._means(coefficients)[0]).max() < 1e-8


@pytest.mark.parametrize("degree", [7, 8])
def test_no_state_of_little_symmetry_is_lost_to_a_grid_that_does_not_turn_with_it(degree):
    """Newton's method does not end on nodes too few for a sharp state that may be turned."""
    problem = _on_sphere((0.0,) * (degree - 1) + (-1.0,), 1.2 * (2 * degree + 1))
    states = stationary_states(problem, rates=False)
    assert "could not be resolved" not in states.searched
    assert any(state.label.startswith(("C_2", "C_2h")) and state.label[:4] != "C_2v" for state in states)
    assert max(state.residual for state in states) < 1e-12
    # Where some were met once only no more is said than that.
    assert states.complete is None


def test_the_state_of_a_grid_coarser_than_twice_the_degree_is_searched():
    """A random problem whose coarsest grid resolves its harmonics, but not their products."""
    finding = trial(subjects()["states-sphere"], 41, 14)
    assert finding.verdict is not Verdict.SILENT, finding.detail


@pytest.mark.parametrize("weights", [(0.0, 0.0, -1.0), (-1.0, -1.5, 0.7)])
def test_reported_rates_are_those_of_the_spectrum(weights):
    coupling = 1.2 * float(critical_coupling(_on_sphere(weights, 1.0)))
    states = stationary_states(_on_sphere(weights, coupling))
    assert {state.layout for state in states} == {"degree", "order"}
    for state in states:
        found = spectrum(state)
        assert abs(state.slowest_rate - found.slowest_rate) <= 2e-9 * abs(found.slowest_rate) + 2.0 * found.error


@pytest.mark.parametrize("group", [TRIVIAL, prismatic(2)], ids=lambda group: group.name)
def test_sums_taken_along_meridians_and_rings_are_those_of_a_table(group):
    field = Field(np.r_[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], None, False)
    degrees = np.array([degree for degree in range(1, 7) if group.dimension(degree)])
    functions = invariant(group, field, degrees, 30).products()[0]
    assert isinstance(functions, Separated)
    table, generator = Tabulated(functions.values()), np.random.default_rng(3)
    coefficients, masses = generator.standard_normal((5, functions.count)), generator.uniform(size=(5, 1))
    masses = masses * generator.uniform(size=table.values().shape[1])
    np.testing.assert_allclose(functions.sums(coefficients), table.sums(coefficients), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(functions.means(masses), table.means(masses), rtol=0.0, atol=1e-11)


@pytest.mark.parametrize(
    ("potential", "dimension", "degree", "side"),
    [
        (MaierSaupe(), 3, 2, -1),
        (MaierSaupe(), 3, 2, 1),
        (MaierSaupe(), 5, 2, 1),
        (Onsager(), 3, 2, 1),
        (GegenbauerSeries((0.0, 0.0, 0.0, -1.0)), 3, 4, -1),
    ],
    ids=["nematics below", "nematics above", "nematics on S^4", "rods", "degree 4"],
)
def test_the_state_of_a_transcritical_branch_is_found_beside_the_uniform_one(potential, dimension, degree, side):
    """Its moment is the distance from the threshold over the slope of the branch, to leading order."""
    distance = 1e-7
    problem = McKeanVlasov(Sphere(dimension), potential)
    shape = branch_shape(problem, degree)
    states = stationary_states(problem.at(coupling=shape.coupling * (1.0 + side * distance)), rates=False)
    wanted = side * distance / shape.slope
    moments = [state.moment(degree) for state in states if state.symmetry and state.layout == "degree"]
    # The next order is of the relative size of the moment, with a coefficient of a few units.
    assert any(moment == pytest.approx(wanted, rel=10.0 * distance) for moment in moments)
