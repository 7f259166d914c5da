"""Starts of the search on S^2: ends turned upright, cycles, and what resolutions share."""

import numpy as np
import pytest
from scipy.linalg import block_diag, expm
from scipy.spatial.transform import Rotation

from meanfield import GegenbauerSeries, McKeanVlasov, Sphere, critical_coupling
from solvers.bases import InvariantBasis, legendre
from solvers.bases.actions import turnings
from solvers.bases.representations import TRIVIAL, representation
from solvers.branches import deflation
from solvers.equations.sizing import stationary_equation
from solvers.root_finding.batched import in_cycle
from solvers.root_finding.search import Catalogue
from solvers.sphere import SPHERE, symmetric
from solvers.sphere.groups import axial_group, prismatic, pyramidal, searched_groups
from solvers.sphere.points import Field, invariant
from solvers.sphere.rotations import Rotations
from solvers.sphere.sampled import Sampled
from solvers.sphere.symmetric import among_harmonics, field_of
from solvers.sphere.tabulated import Separated
from solvers.sphere.upright import upright

DEGREES = np.array([2, 3, 4])
TURNING = [TRIVIAL, pyramidal(1), axial_group(2, False, 0, False)]


def _field(weights, relative):
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(weights))
    return field_of(problem, relative * critical_coupling(problem), 8)


@pytest.mark.parametrize("group", TURNING, ids=lambda group: group.name)
def test_copies_of_a_density_stand_upright_in_one_place_but_for_reflections(group):
    generators = tuple(each.toarray() for each in turnings(group, DEGREES))
    moments = np.random.default_rng(5).standard_normal(len(generators[0]))
    if group is TRIVIAL:
        elements = [Rotation.random(random_state=seed).as_matrix() for seed in range(6)]
        turns = [block_diag(*(representation(element, degree) for degree in DEGREES)) for element in elements]
    else:
        turns = [expm(angle * generators[0]) for angle in (0.0, 0.4, 1.9, 3.0, 4.4)]
    rotations = Rotations(generators)
    standing = upright(np.array([turn @ moments for turn in turns]), rotations)
    assert np.abs(np.abs(standing) - np.abs(standing[0])).max() < 1e-12
    np.testing.assert_allclose(np.linalg.norm(standing, axis=1), np.linalg.norm(moments), rtol=1e-13)
    again = upright(standing, rotations)
    assert np.abs(np.abs(again) - np.abs(standing)).max() < 1e-12


def test_a_state_that_its_grid_holds_in_place_is_arrived_at():
    """One point of degree one to four far beyond the threshold, on a grid that is off by some parts in a thousand."""
    field, degrees = Field(np.r_[0.0, 12.0, 12.0, 12.0, 12.0], None, False), np.arange(1, 5)
    coarse = Sampled(invariant(TRIVIAL, field, degrees, 18), field)
    starts = coarse.random(np.random.default_rng(6), 60)
    # Without the errors of the grid along rotations taken off one of them arrives.
    assert len(coarse.solved(starts)[0]) == 60
    found, states = coarse.solved(coarse.relaxed(starts[:12]))
    assert len(found) == 12
    assert np.linalg.norm(states[:, :3], axis=1).min() > 0.9


def test_cycles_of_two_and_what_is_infinite_end_an_iteration():
    lengths = np.array([[1.0, 0.5, 1.0, 0.5], [1.0, 0.5, 0.9, 0.5], [0.1, 0.2, 0.4, 0.8], [np.nan] * 4])
    assert in_cycle(lengths.T).tolist() == [True, False, False, True]
    assert not in_cycle(np.array([[0.5], [0.5], [np.inf], [np.inf]])).any()


@pytest.mark.parametrize(
    ("weights", "relative", "symmetry", "spread", "most"),
    [((-1.0, -1.5, 0.7, -2.0), 1.6, 2, 0.3, 360), ((-1.0, -1.0, -1.0, -1.0), 5.0, 1, 1.0, 150)],
    ids=["beyond all states", "among them"],
)
def test_deflated_iterations_with_cycles_of_two_are_ended(weights, relative, symmetry, spread, most):
    """Many known states drive a start to where Newton's step and the deflated one alternate: 633 and 173 without."""
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(weights))
    equation = stationary_equation(SPHERE, problem, symmetry, 1)
    q = float(relative * critical_coupling(problem) / equation.unit)
    size = equation.scales.size
    known = [np.zeros(size), *np.random.default_rng(7).uniform(-spread, spread, (8, size))]
    evaluated = []
    evaluate = equation.evaluate
    equation.evaluate = lambda b, q: evaluated.append(b) or evaluate(b, q)
    ends = [
        deflation.deflated_newton(equation, start, q, known)
        for start in np.random.default_rng(8).uniform(-1.0, 1.0, (12, equation.scales.size))
    ]
    assert any(end is None for end in ends)
    assert len(evaluated) < most


def test_legendre_tables_of_a_lower_degree_are_part_of_those_of_a_larger_one():
    orders = np.array([0, 2, 5])
    legendre._folded.cache_clear()
    expected = legendre.folded(9, orders, 30)
    legendre._folded.cache_clear()
    legendre.folded(24, orders[:2], 30)
    for one, other in zip(legendre.folded(9, orders, 30), expected, strict=True):
        for table, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(table, same)


def test_a_basis_at_another_resolution_shares_its_products():
    group, cells = prismatic(3), np.array([2, 3, 4])
    first = InvariantBasis(group, cells, 32)
    field = np.linspace(-1.0, 1.0, first.degrees.size)
    first.covariance(first.gibbs(field).moments)
    finer, fresh = first.resized(cells, 48), InvariantBasis(group, cells, 48)
    assert finer._products is first._products
    assert first.nodes == 32
    moments = finer.gibbs(field).moments
    np.testing.assert_array_equal(moments, fresh.gibbs(field).moments)
    np.testing.assert_allclose(finer.covariance(moments), fresh.covariance(moments), rtol=0.0, atol=1e-15)


def test_copies_that_a_coarse_grid_does_not_resolve_are_made_alike():
    """Of degree two and four at ten times the threshold; a hundred ends are some ninety by invariants as they stand."""
    (space,) = (each for each in among_harmonics(_field((0.0, -1.0, 0.0, -1.0), 10.0)) if each.group.name == "C_i")
    coarse = space.sampled(0)
    starts = coarse.random(np.random.default_rng(1), 100)
    before = Catalogue().places(coarse.invariants(coarse.solved(starts)[1])).max() + 1
    _, invariants = space.ends(starts)
    assert Catalogue().places(invariants).max() + 1 < before // 4


def test_ends_that_no_grid_resolves_are_left_out(monkeypatch):
    """Of degree two and four far beyond the threshold, with a fine grid that is too coarse for them."""
    monkeypatch.setattr(symmetric, "MOST_RINGS", (32, 40))
    (space,) = (each for each in among_harmonics(_field((0.0, -1.0, 0.0, -1.0), 30.0)) if each.group.name == "C_i")
    ends, invariants = space.ends(space.sampled(0).random(np.random.default_rng(1), 30))
    rows, states, _ = space.resolved(ends, invariants)
    assert not symmetric.resolves_all(_field((0.0, -1.0, 0.0, -1.0), 30.0))
    assert len(ends) > len(rows) == len(states)


@pytest.mark.parametrize("name", ["C_i", "C_2h", "C_s"])
def test_products_separate_whatever_the_number_of_rings_is(name):
    (group,) = (each for each in searched_groups(8) if each.name == name)
    harmonics = invariant(group, Field(np.ones(9), None, False), np.array([8]), 105)
    functions, _ = harmonics.products()
    assert isinstance(functions, Separated)
    np.testing.assert_allclose(functions.values()[0], 1.0, rtol=1e-14)
    assert np.exp(harmonics.log_weights).sum() == pytest.approx(1.0, rel=1e-14)


def test_states_that_a_coarse_grid_corrects_solve_the_equation_of_a_fine_one():
    field, degrees = _field((0.0, -1.0, 0.0, -1.0), 3.0), np.array([2, 4])
    coarse, fine = (Sampled(invariant(prismatic(2), field, degrees, rings), field) for rings in (12, 40))
    _, ends = coarse.solved(coarse.random(np.random.default_rng(2), 40))
    settled, states = fine.corrected(ends, coarse)
    assert np.count_nonzero(settled) > 10
    assert np.abs(states[settled] - ends[settled]).max() > 1e-6
    # Their step is shorter than that of Newton's method after which a polished state is not evaluated again.
    assert np.linalg.norm(fine._step(states[settled]), axis=1).max() < 1e-12
