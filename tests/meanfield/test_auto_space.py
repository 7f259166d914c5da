"""The spaces of harmonics that AUTO files of states on S^2 have as unknowns, against the invariants of groups."""

import numpy as np
import pytest

from meanfield import GegenbauerSeries, McKeanVlasov, Sphere
from meanfield.export.auto_space import closed_space
from meanfield.harmonics import packed_size, place
from solvers.sphere.groups import OCTAHEDRAL, TETRAHEDRAL, antiprismatic, prismatic, pyramidal

DEGREES = 8
GROUPS = [OCTAHEDRAL, TETRAHEDRAL, prismatic(2), prismatic(3), antiprismatic(2), pyramidal(3)]
EVEN = (0.0, -1.0, 0.0, -0.8, 0.0, -0.6, 0.0, -0.5)
EVERY = (-0.3, -1.0, 0.2, -0.8, 0.1, -0.6, -0.2, -0.5)


def invariants(group, degree):
    """Invariant harmonics of a degree as packed rows, cosines before sines."""
    functions, size = group.harmonics(degree), packed_size(DEGREES)
    rows = np.zeros((len(functions), 2 * size))
    first = place(degree, 0)
    rows[:, first : first + degree + 1] = functions[:, : degree + 1]
    rows[:, size + first + 1 : size + first + degree + 1] = functions[:, degree + 1 :]
    return rows


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
@pytest.mark.parametrize("weights", [EVEN, EVERY], ids=["even", "every"])
def test_the_space_of_one_state_has_all_invariants_of_its_symmetry(group, weights):
    random = np.random.default_rng(5)
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(weights))
    degrees = [degree for degree in range(1, DEGREES + 1) if weights[degree - 1]]
    rows = [invariants(group, degree) for degree in degrees]
    state = sum(0.1 * random.normal(size=len(each)) @ each for each in rows).reshape(2, -1)
    space = closed_space([problem], [(state[:1], state[1:])], DEGREES)
    found = space.rows.reshape(len(space.degrees), -1)
    assert np.abs(found @ found.T - np.eye(len(found))).max() <= 1e-13
    for degree, own in zip(degrees, rows, strict=True):
        chosen = found[space.degrees == degree]
        assert len(chosen) == len(own)
        assert np.abs(chosen - (chosen @ own.T) @ own).max(initial=0.0) <= 1e-12
    assert np.abs(space.vectors(state[:1], state[1:]) @ found - state.reshape(1, -1)).max() <= 1e-14


def test_names_are_those_of_the_harmonics():
    random = np.random.default_rng(6)
    rows = invariants(OCTAHEDRAL, 4)
    state = (random.normal() * rows[0]).reshape(2, -1)
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries((0, 0, 0, -1.0)))
    space = closed_space([problem], [(state[:1], state[1:])], 4)
    assert space.names() == ["0.763763 c_4_0 + 0.645497 c_4_4"]


def test_degrees_that_act_anywhere_in_the_ranges_are_in_the_space():
    """Of a coefficient that is zero at the start of a curve, and of a field that is."""
    cubic = (0.5 * invariants(OCTAHEDRAL, 4)[0]).reshape(2, -1)
    free, acting = (
        McKeanVlasov(
            Sphere(3), GegenbauerSeries((0, 0, 0, -1.0, 0, last)), confinement=GegenbauerSeries((0, strength))
        )
        for last, strength in ((0.0, 0.0), (-0.3, 0.1))
    )
    pairs = [(cubic[:1], cubic[1:])]
    # In a field of the second degree the symmetry that is left is that of a square prism.
    assert closed_space([free, acting], pairs, 6).degrees.tolist() == [4, 4, 6, 6]
