"""Rates on S^2 without an axis on many harmonics, from those on few, against dense matrices on as many."""

import functools

import numpy as np
import pytest

from meanfield import GegenbauerSeries, McKeanVlasov, Sphere
from solvers.bases import InvariantBasis
from solvers.sphere.groups import TETRAHEDRAL, prismatic
from solvers.sphere.linearised.full_fields import full_field, operator_grid
from solvers.sphere.linearised.full_matrices import Linearisation, lowest_ritz
from solvers.sphere.linearised.full_operators import Operators
from solvers.sphere.linearised.full_spectra import lowest_level
from solvers.sphere.linearised.layouts import slowest_rate
from solvers.sphere.linearised.refinement import Refinement
from tests.solvers.test_full_spectra import SEVERAL_TURNS, crystal, cut, solved, turned

FEW, MANY = 12, 28
STATES = {
    "tetrahedral": (TETRAHEDRAL, (0.0, 0.0, -1.0, 0.5), [3, 4], [2.6, 0.0]),
    "prismatic": (prismatic(3), (0.0, 0.0, -1.0, 0.3), [3, 4], [2.6, 0.0]),
}


@functools.cache
def mixed(name):
    """A state of an attractive and a repulsive degree."""
    group, coefficients, degrees, start = STATES[name]
    basis = InvariantBasis(group, np.array(degrees), 64)
    return solved(McKeanVlasov(Sphere(3), GegenbauerSeries(coefficients), coupling=9.0), basis, start)[0]


@functools.cache
def classes(name):
    """The classes of a state on few harmonics, with their inverses, and on many by dense matrices."""
    field = full_field(mixed(name))
    few, many = Linearisation(field, FEW), Linearisation(field, MANY)
    blocks = [few.matrices(table) for table in few.tables]
    assert max(block.truncation(block.lowest(1)[0]) for block in blocks) > 1e-5
    return [(block, block.inverse(-np.inf), many.matrices(many.table(block.table.first))) for block in blocks]


def refinement_of(block, inverse, degree=MANY):
    field = block.whole.field
    return Refinement(Operators(field, degree, *operator_grid(field, degree)), block, inverse)


@pytest.mark.parametrize("name", STATES)
def test_the_lowest_rate_on_many_harmonics_is_that_of_a_dense_matrix(name):
    for block, inverse, dense in classes(name):
        many = refinement_of(block, inverse)
        ritz = lowest_ritz(inverse, 1e-4)
        x = many.prolonged(block.pair(inverse, ritz.vectors[0]), FEW)
        (found,), error = many.lowest([x], ritz.least[1], 1e-11)
        assert error <= 1e-11 * abs(found.level)
        assert abs(found.level - lowest_level(dense)) < error + many.rounding(found)
        expected = dense.lowest(1)[0]
        assert abs(found.x @ found.y - 1.0) < 1e-12
        assert abs(abs(found.x @ expected.y) - 1.0) < 1e-8
        truncation = many.whole.truncation(many.table, found)
        assert truncation == pytest.approx(dense.truncation(expected), rel=0.02, abs=1e-20)


@pytest.mark.parametrize("name", STATES)
def test_of_several_starts_the_lowest_is_found_whatever_their_order(name):
    """A start that seems higher on few harmonics may be the lowest on many."""
    for block, inverse, dense in classes(name):
        many = refinement_of(block, inverse)
        first, second = (many.prolonged(pair, FEW) for pair in block.lowest(2))
        above = dense.lowest(3)[2].level - 1e-3
        for starts in ([second, first], [second, second + 1e-3 * first]):
            found, error = many.lowest(starts, above, 1e-11)
            assert abs(found[0].level - lowest_level(dense)) < error + many.rounding(found[0])


def test_tiny_rates_have_digits():
    """The factor Q has those that rounding of W takes."""
    field = full_field(crystal("octahedral metastable")[0])
    few, dense = Linearisation(field, 48), Linearisation(field, 76)
    for table in few.tables:
        block = few.matrices(table)
        inverse = block.inverse(-np.inf)
        many = refinement_of(block, inverse, 76)
        pairs = block.lowest(2)
        (found,), error = many.lowest([many.prolonged(pairs[0], 48)], 0.9 * pairs[1].level, 1e-11)
        expected = lowest_level(dense.matrices(dense.table(table.first)))
        assert abs(found.level - expected) < error + many.rounding(found) < 1e-8 * abs(expected)


def test_harmonics_beyond_are_solved_for():
    """A start prolonged has a rate near to that on many harmonics, by zeros it has not."""
    block, inverse, dense = classes("tetrahedral")[-1]
    many = refinement_of(block, inverse)
    pair = block.lowest(1)[0]
    cut_off = np.zeros(many.table.size)
    cut_off[many.table.degrees <= FEW] = pair.x

    def error(x):
        return abs(many._pair(x).level - lowest_level(dense))

    assert error(many.prolonged(pair, FEW)) < 1e-3 * error(cut_off)


def test_where_the_iteration_does_not_converge_a_factorisation_does(monkeypatch):
    expected = slowest_rate(mixed("tetrahedral"))
    monkeypatch.setattr(Refinement, "lowest", lambda *_: None)
    assert abs(slowest_rate(mixed("tetrahedral")) / expected - 1.0) < 1e-9


def test_combinations_of_other_starts_are_given_up():
    block, inverse, _ = classes("tetrahedral")[-1]
    many = refinement_of(block, inverse)
    x = many.prolonged(block.lowest(1)[0], FEW)
    assert many.lowest([x, np.zeros_like(x)], np.inf, 1e-11) is None


def test_many_harmonics_need_no_matrices(monkeypatch):
    """A state turned has one class of them all; matrices of the few of them are enough."""
    state = cut(crystal("tetrahedral")[0], 8)
    image = turned(state, SEVERAL_TURNS)
    expected = slowest_rate(state)
    monkeypatch.setattr("solvers.lanczos.LARGEST_SIZE", 31**2)
    assert abs(slowest_rate(image) / expected - 1.0) < 1e-9
