"""The critical directions that AUTO files of branch points need, against subgroups of the symmetries of states."""

import numpy as np
import pytest

from meanfield import Curve, GegenbauerSeries, HarmonicSeries, InvalidInput, McKeanVlasov, Outcome, Sphere
from meanfield.export.auto_directions import critical, require_one
from meanfield.export.auto_space import closed_space, on_grid
from meanfield.harmonics import degrees_and_orders, packed_size, place
from solvers.sphere.groups import (
    ICOSAHEDRAL,
    OCTAHEDRAL,
    TETRAHEDRAL_ROTATIONS,
    antiprismatic,
    axial_group,
    prismatic,
    pyramidal,
)
from solvers.sphere.subgroups import subgroups

DEGREE = 6
SIZE = packed_size(DEGREE)
DEGREES = np.tile(degrees_and_orders(DEGREE)[0], 2)
GROUPS = [
    ICOSAHEDRAL,
    OCTAHEDRAL,
    TETRAHEDRAL_ROTATIONS,
    prismatic(5),
    prismatic(6),
    antiprismatic(4),
    pyramidal(5),
    axial_group(3, False, 0, True),
    axial_group(4, False, 0, False),
]


def invariants(group):
    """Return invariant harmonics of all degrees as packed rows, cosines before sines."""
    rows = []
    for degree in range(1, DEGREE + 1):
        functions, first = group.harmonics(degree), place(degree, 0)
        found = np.zeros((len(functions), 2 * SIZE))
        found[:, first : first + degree + 1] = functions[:, : degree + 1]
        found[:, SIZE + first + 1 : SIZE + first + degree + 1] = functions[:, degree + 1 :]
        rows.append(found)
    return np.vstack(rows)


def critical_curves(group, random):
    """Yield curves at random densities of a symmetry, each critical in other directions, and these, (k, places).

    The densities are no stationary ones; confined, as they are, no rotations of them are taken for critical.
    """
    own = invariants(group)
    weights = random.uniform(-1.0, -0.3, size=DEGREE)
    harmonics, masses = on_grid(60, DEGREE)
    density = np.exp(random.normal(size=len(own)) @ own @ harmonics) * masses
    density /= density.sum()
    # Covariances have moments up to twice the degree.
    longer = on_grid(60, 2 * DEGREE)[0]
    means = harmonics @ density
    covariance = (harmonics * density) @ harmonics.T - np.outer(means, means)
    strengths = np.concatenate([[0.0], weights])[DEGREES]
    roots = np.sqrt(-strengths)
    sizes, directions = np.linalg.eigh(roots[:, None] * covariance * roots)
    domain, field = Sphere(3), HarmonicSeries(*np.split(0.1 * random.normal(size=len(own)) @ own, 2))
    for size in np.unique(np.round(sizes[sizes > 1e-3], 9)):
        chosen = np.abs(sizes - size) <= 2e-9
        kernel = np.linalg.svd((covariance * roots) @ directions[:, chosen], full_matrices=False)[0].T
        if np.linalg.norm(kernel @ own.T) > 1e-6:
            continue
        problem = McKeanVlasov(
            domain, GegenbauerSeries(weights), confinement=field, coupling=1 / sizes[chosen].mean()
        )
        yield curve_of(problem, longer @ density), kernel


def curve_of(problem, means):
    """Return a curve of one point."""
    one = np.ones(1)
    return Curve(
        problem=problem,
        label="branch point of a random state",
        type="branch point",
        parameters=("coupling", "noise"),
        interval=(0.5, 1.5),
        values=np.array([[problem.coupling, 1.0]]),
        coupling=problem.coupling * one,
        relative_coupling=one,
        cosine=means[np.newaxis, : means.size // 2],
        sine=means[np.newaxis, means.size // 2 :],
        observables={},
        residual=0.0 * one,
        unstable=np.zeros(1, dtype=int),
        modes=np.full(1, 2 * DEGREE),
        arclength=0.0 * one,
        tangent=np.array([[1.0, 0.0]]),
        point_labels=("",),
        outcome=Outcome.LEFT_INTERVAL,
        layout="order",
    )


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_a_direction_is_found_if_one_is_alone_among_the_invariants_of_a_subgroup(group):
    random = np.random.default_rng(11)
    fixed = [invariants(subgroup) for subgroup in subgroups(group)]
    known = set()
    for curve, kernel in critical_curves(group, random):
        sizes = [len(rows) for rows in fixed if np.linalg.matrix_rank(kernel @ rows.T, tol=1e-6) == 1]
        if (len(kernel), *sizes) in known:
            continue
        known.add((len(kernel), *sizes))
        found = critical(curve, DEGREE, DEGREE).direction
        moments = np.concatenate(found, axis=1)[0]
        assert np.abs(moments - (moments @ kernel.T) @ kernel).max() < 1e-6 * np.abs(moments).max()
        space = closed_space([curve.problem], [(curve.cosine, curve.sine), found], DEGREE)
        if sizes:
            require_one(curve, space.dimension, DEGREE, space)
            assert space.dimension in sizes
        else:
            with pytest.raises(InvalidInput, match="just one direction"):
                require_one(curve, space.dimension, DEGREE, space)
    assert any(found[1:] for found in known)
