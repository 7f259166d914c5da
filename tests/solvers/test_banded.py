"""Symmetric matrices by panels of rows, against full ones."""

import numpy as np
import pytest

from meanfield.harmonics import gauss_rule
from solvers.sphere.linearised.banded import WHOLE, Banded, Factor, panels_of
from solvers.sphere.linearised.full_fields import Symmetry
from solvers.sphere.linearised.harmonic_tables import class_tables, waves_of

DEGREE, REACH = 30, 5


def waves_of_degree(rings, seed):
    """Waves of a random function with orders up to REACH, not symmetric, on a grid that resolves the products."""
    rng, azimuths = np.random.default_rng(seed), 2.0 * np.pi * np.arange(4 * DEGREE + 1) / (4 * DEGREE + 1)
    rule = gauss_rule(3, rings)
    values = sum(
        np.multiply.outer(np.sin(rule.polar) ** m, rng.normal() * np.cos(m * azimuths + rng.normal()))
        for m in range(REACH + 1)
    )
    return waves_of(values, rule.weights, 2 * DEGREE)


@pytest.fixture(scope="module")
def matrices():
    """The matrix of a function by panels, and in one panel, of more harmonics than one panel takes."""
    (table,) = class_tables(Symmetry(((1, 1, 1),), 1, False), DEGREE, 2 * DEGREE)
    waves = waves_of_degree(2 * DEGREE, 1)
    assert table.size > WHOLE
    return table.squares(waves, REACH), table.squares(waves, 2 * DEGREE)


def test_products_with_near_orders_are_all(matrices):
    """What panels do not reach is zero: the sums of cosines that vanish, to rounding."""
    banded, whole = matrices
    assert len(banded.panels) > 2
    assert len(whole.panels) == 1
    full = whole.full()
    for other in (banded.full(), banded.full().T):
        assert np.abs(other - full).max() <= 1e-13 * np.abs(full).max()


def test_a_panel_is_not_wider_than_it_must_be(matrices):
    assert sum(rows.size for rows in matrices[0].rows) < 0.5 * matrices[1].size ** 2


def test_products_and_solutions_are_those_of_the_full_matrix(matrices):
    banded, rng = matrices[0], np.random.default_rng(2)
    full = banded.full()
    shift = 1.0 - float(np.linalg.eigvalsh(full)[0])
    columns = rng.standard_normal((banded.size, 3))
    assert np.abs(banded @ columns[:, 0] - full @ columns[:, 0]).max() <= 1e-12 * np.abs(full).sum(axis=1).max()
    factor, shifted = Factor(banded, shift), full + shift * np.eye(banded.size)
    for right in (columns, columns[:, 0]):
        left = shifted @ factor.expand(factor.reduce(right)) - right
        assert left.shape == right.shape
        assert np.abs(left).max() <= 1e-13 * np.abs(shifted).sum(axis=1).max()


def test_a_factor_exists_above_the_lowest_eigenvalue_only(matrices):
    banded = matrices[0]
    lowest = float(np.linalg.eigvalsh(banded.full())[0])
    margin = 1e-9 * abs(lowest)
    Factor(banded, margin - lowest)
    with pytest.raises(np.linalg.LinAlgError):
        Factor(banded, -margin - lowest)


def test_numbers_are_added_to_the_diagonal():
    orders = np.repeat(np.arange(20), 50)
    panels = panels_of(orders, 3)
    banded = Banded(panels, [np.zeros((stop - start, end - start)) for start, stop, end in panels])
    banded.add(np.arange(1000.0))
    assert np.array_equal(banded.full(), np.diag(np.arange(1000.0)))
    assert np.array_equal(banded.diagonal(), np.arange(1000.0))


def test_panels_end_with_orders_and_reach_as_far_as_asked():
    orders = np.repeat(np.arange(40), np.arange(80, 0, -2))
    panels = panels_of(orders, 6)
    assert panels[0].start == 0
    assert [one.stop for one in panels[:-1]] == [other.start for other in panels[1:]]
    assert panels[-1].stop == orders.size
    for start, stop, end in panels:
        assert stop == orders.size or orders[stop] != orders[stop - 1]
        assert not np.any(orders[end:] <= orders[stop - 1] + 6)
        assert np.all(orders[start:end] <= orders[stop - 1] + 6)
