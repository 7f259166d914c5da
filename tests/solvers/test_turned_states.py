"""States that a weak confinement of S^2 turns to different places: steps that turn, starts that are turned, what tells.

States are told to be such by integrals over the sphere on a grid and with harmonics that the search does not use.
"""

import numpy as np
import pytest
from scipy.linalg import block_diag, expm
from scipy.spatial.transform import Rotation

from meanfield import GegenbauerSeries, HarmonicSeries, McKeanVlasov, Outcome, Sphere, critical_coupling
from meanfield.harmonics import degrees_of_places, harmonics_at, packed, packed_size
from solvers import stationary_states
from solvers.bases.actions import turnings
from solvers.bases.invariant import mode_matrix
from solvers.bases.representations import TRIVIAL, representation
from solvers.branches.continuation import End
from solvers.domains import solvers_of
from solvers.root_finding.search import known_states, search
from solvers.sphere import search as sphere_search
from solvers.sphere.groups import pyramidal
from solvers.sphere.rotations import Rotations
from solvers.sphere.search import Densities
from solvers.sphere.symmetric import among_harmonics, field_of

DEGREES = np.array([2, 3, 4])
WITHOUT_AXIS = HarmonicSeries(cosine=(0.0, 0.117, 0.015, -0.039, 0.124, -0.156))
RINGS = 96


def _problem(weights, relative, confinement):
    problem = McKeanVlasov(Sphere(3), GegenbauerSeries(weights), confinement=confinement)
    free = McKeanVlasov(Sphere(3), GegenbauerSeries(weights))
    return problem.at(coupling=relative * float(critical_coupling(free)))


def _space(problem):
    coupling = problem.coupling
    return Densities(
        solvers_of(problem).geometry, problem.at(coupling=None), 1, coupling, field_of(problem, coupling, 8)
    )


def _rotations(group):
    return Rotations(tuple(each.toarray() for each in turnings(group, DEGREES)))


def _rotated(moments, element):
    return block_diag(*(representation(element, degree) for degree in DEGREES)) @ moments


def test_moments_are_those_of_the_rotated_density():
    moments = np.random.default_rng(1).standard_normal((5, 21))
    elements = Rotation.random(5, random_state=2).as_matrix()
    # The first has no azimuth of the image of the z axis.
    elements[0] = Rotation.from_rotvec([0.0, 0.0, 0.7]).as_matrix()
    expected = [_rotated(*pair) for pair in zip(moments, elements, strict=True)]
    np.testing.assert_allclose(_rotations(TRIVIAL).turned(moments, elements), expected, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("group", [TRIVIAL, pyramidal(1)], ids=lambda group: group.name)
def test_the_part_of_a_step_along_rotations_turns_a_density(group):
    rotations, generator = _rotations(group), np.random.default_rng(3)
    matrices = [each.toarray() for each in turnings(group, DEGREES)]
    moments = generator.standard_normal((4, len(matrices[0])))
    # The last is longer than what is cut, the first so short that the step is straight.
    turns = (
        np.array([1e-4, 0.1, 0.4, 2.0])[:, None] * np.eye(len(matrices))[generator.integers(len(matrices), size=4)]
    )
    steps = np.einsum("nk,kij,nj->ni", turns, matrices, moments)
    moved = rotations.moved(moments, steps, 100.0)
    for place, factor in enumerate((1.0, 1.0, 1.0, 0.25)):
        turned = expm(factor * np.einsum("k,kij->ij", turns[place], matrices)) @ moments[place]
        # To the square of the share of changes by rotations that hardly count, which the largest exceed thirty times.
        np.testing.assert_allclose(moved[place], turned, rtol=0.0, atol=1e-5)


def test_random_turns_keep_the_symmetry_and_the_lengths_of_moments():
    space = _space(_problem((0.0, 0.0, -1.0), 1.5, GegenbauerSeries((0.03, 0.05))))
    known = [sphere_search._packed(point) for point in _states_of(space)]
    degrees = degrees_of_places(packed_size(3))
    broken = [each for each in space._parts if each.breaks]
    assert len(broken) > 1
    for part in broken:
        turned = part.turned(known, np.random.default_rng(4))
        assert 0 < len(turned) <= len(known)
        assert len(turned) == len(known) or part.group is not TRIVIAL
        lengths = np.sort([np.linalg.norm(np.stack(each)[:, : degrees.size][:, degrees == 3]) for each in known])
        found = np.sort(part.sampled(0).invariants(turned)[:, 3])
        assert np.abs(found[:, None] - lengths).min(axis=1).max() < 1e-9


def _states_of(space):
    return search(space, known_states(space, [], uniform=False)).points


@pytest.mark.parametrize("confinement", [GegenbauerSeries((0.02, 0.1)), WITHOUT_AXIS], ids=["axis", "no axis"])
def test_a_state_has_the_invariants_of_its_moments_on_a_grid(confinement):
    """Were they others a known state would be solved for once more."""
    space = _space(_problem((0.0, 0.0, 0.0, -1.0), 1.2, confinement))
    (part,) = (each for each in space._parts if each.group is space._parts[-1].group)
    sampled, modes = part.sampled(1), mode_matrix(part.group, np.array([4]), 4)
    points = _states_of(space)
    assert len(points) > 5
    for point in points:
        moments = modes @ np.concatenate([each[: packed_size(4)] for each in sphere_search._packed(point)])
        np.testing.assert_allclose(
            space._invariants(point), sampled.invariants(moments[None])[0], rtol=0.0, atol=1e-7
        )


@pytest.mark.parametrize("confinement", [GegenbauerSeries((0.0, 0.02)), WITHOUT_AXIS], ids=["axis", "no axis"])
def test_invariants_tell_where_a_density_stands_in_a_confinement(confinement):
    field = field_of(_problem((0.0, 0.0, 0.0, -1.0), 1.2, confinement), 10.8, 4)
    sampled = among_harmonics(field)[-1].sampled(0)
    moments = sampled.random(np.random.default_rng(5), 1)
    rotations = Rotations(tuple(each.toarray() for each in turnings(TRIVIAL, np.array([4]))))
    about_z = sampled.invariants(rotations.turned(moments, Rotation.from_rotvec([[0.0, 0.0, 0.6]]).as_matrix()))
    tilted = sampled.invariants(rotations.turned(moments, Rotation.from_rotvec([[0.5, 0.0, 0.0]]).as_matrix()))
    given = sampled.invariants(moments)
    count = field.strengths.size
    assert np.abs(tilted - given)[:, count:].max() > 1e-3
    if field.placed.zonal:
        assert np.abs(about_z - given).max() < 1e-9


def _checked(problem, states):
    """Return the largest residual of states, and the least difference in their energies and moments by order."""
    x, weights = np.polynomial.legendre.leggauss(RINGS)
    azimuths = np.pi * np.arange(2 * RINGS) / RINGS
    across = np.sqrt(1.0 - x**2)[:, None]
    z = np.broadcast_to(x[:, None], (RINGS, azimuths.size))
    points = np.stack([across * np.cos(azimuths), across * np.sin(azimuths), z], axis=-1).reshape(-1, 3)
    masses = np.repeat(weights / 2.0, azimuths.size) / azimuths.size
    series = np.r_[0.0, problem.potential.coefficients]
    degrees = degrees_of_places(packed_size(series.size - 1))
    harmonics = harmonics_at(points, series.size - 1)
    confinement = problem.confinement
    if isinstance(confinement, GegenbauerSeries):
        potential = np.polynomial.legendre.legval(points[:, 2], np.r_[0.0, confinement.coefficients])
    else:
        potential = np.einsum("p,pn->n", confinement.cosine, harmonics[0, : len(confinement.cosine)])
    residuals, told = [], []
    for state in states:
        cosine, sine = np.asarray(state.cosine), np.asarray(state.sine)
        if state.layout == "degree":
            cosine, sine = packed(cosine), np.zeros(packed(cosine).size)
        moments = np.stack([cosine, sine])[:, : degrees.size]
        field = -float(problem.coupling) * np.einsum("kp,kpn->n", series[degrees] * moments, harmonics) - potential
        density = masses * np.exp(field)
        found = np.einsum("kpn,n->kp", harmonics, density / density.sum())
        residuals.append(np.abs(found - moments)[:, series[degrees] != 0.0].max())
        # Turned about the axis of a confinement a state is the same.
        sizes = np.hypot(*moments) if problem.zonal else np.abs(moments).ravel()
        told.append(np.r_[state.free_energy_gap, sizes])
    apart = np.abs(np.array(told)[:, None] - told).max(axis=2) + np.eye(len(told))
    return max(residuals), apart.min()


@pytest.mark.parametrize(
    ("weights", "relative", "confinement", "number"),
    [
        ((0.0, 0.0, -1.0), 1.5, GegenbauerSeries((0.03, 0.05)), 15),
        ((0.0, 0.0, 0.0, 0.0, 0.0, -1.0), 1.2, GegenbauerSeries((0.0, 0.02)), 38),
        ((0.0, 0.0, -1.0), 1.36, WITHOUT_AXIS, 25),
        ((0.0, 0.0, 0.0, -1.0), 1.2, HarmonicSeries(cosine=(0.0, 0.1, 0.05, -0.039, 0.124, -0.156)), 26),
    ],
    ids=["degree 3", "degree 6", "degree 3 without axis", "degree 4 without axis"],
)
def test_all_places_in_which_a_weak_confinement_holds_states_are_found(weights, relative, confinement, number):
    """Random starts and straight steps, ends told apart by energies and lengths of moments, gave 14, 30, 21 and 24.

    Of the third the indices added up all the same.
    """
    problem = _problem(weights, relative, confinement)
    states = stationary_states(problem, rates=False)
    residual, apart = _checked(problem, states)
    assert len(states) == number
    assert residual < 1e-12
    assert apart > 1e-4
    assert "missing" not in states.searched


def test_what_a_grid_holds_and_nothing_else_is_no_state_that_is_too_sharp(monkeypatch):
    space = _space(_problem((0.0, 0.0, -1.0), 1.5, GegenbauerSeries((0.03, 0.05))))
    monkeypatch.setattr(sphere_search, "state_at", lambda *_: End(Outcome.DIVERGED))
    found = search(space, known_states(space, [], uniform=False))
    assert found.points == []
    assert found.lost > 0
    assert found.unresolved == 0
    assert not found.settled
