"""States of laws without a free energy that no branch leads to, against brute force from random starts."""

import numpy as np
import pytest

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    External,
    GegenbauerSeries,
    NormalisedAttention,
    SoftmaxAttention,
    Sphere,
    critical_coupling,
)
from solvers import bifurcation_diagram, stationary_states
from tests import oracles

POINTS = 96
ANGLES = 2.0 * np.pi * np.arange(POINTS) / POINTS
LAWS = {"softmax": SoftmaxAttention, "ngpt": NormalisedAttention}


def problem_of(name, beta, ratio, confinement, domain=None):
    problem = ContinuityEquation(domain or Circle(), LAWS[name](beta), 1.0, confinement=confinement)
    return problem.at(coupling=ratio * float(critical_coupling(problem.replace(confinement=None))))


def brute(problem, tries, even):
    name = "softmax" if problem.velocity.name.startswith("softmax") else "ngpt"
    beta, values = problem.velocity.beta, np.asarray(problem.confinement.values(ANGLES), dtype=float)
    return oracles.attention_states(name, beta, problem.coupling, 1.0, values, tries, 3, even)


def missing(found, expected):
    """Return the moments of brute states that are not among the states found, up to a reflection of even fields."""
    rows = [np.fft.rfft(density, norm="forward")[1:7] for density in expected]
    known = []
    for state in found:
        padded = np.zeros(7, dtype=complex)
        count = min(7, state.cosine.size)
        padded[:count] = (state.cosine - 1j * state.sine)[:count]
        known.append(padded[1:])
        if state.problem.confinement.even:
            known.append(padded[1:].conj())
    return [row for row in rows if min(np.abs(row - one).max() for one in known) > 1e-6]


@pytest.mark.parametrize("seed", range(3))
def test_softmax_in_weak_fields_has_all_states_of_brute_force(seed):
    """Fields with one, two and several wells, the last without an axis."""
    random = np.random.default_rng(seed)
    confinement = [
        CosineSeries((random.uniform(-0.1, 0.1),)),
        CosineSeries((random.uniform(-0.05, 0.05), random.uniform(-0.1, 0.1))),
        External.from_expression(
            f"{random.uniform(0.02, 0.08):.3f}*cos(t) + {random.uniform(0.02, 0.08):.3f}*sin(2*t)"
        ),
    ][seed % 3]
    problem = problem_of("softmax", random.uniform(1.0, 3.0), random.uniform(1.1, 1.8), confinement)
    expected = brute(problem, 60, False)
    found = stationary_states(problem, rates=False)
    assert len(expected) >= 3
    assert not missing(found, expected)
    assert "runs of Newton's method ended at" in found.searched


@pytest.mark.parametrize("seed", range(2))
def test_normalised_attention_in_weak_fields_has_the_even_states_of_brute_force(seed):
    random = np.random.default_rng(10 + seed)
    field = (random.uniform(-0.02, 0.02), 0.0 if seed else random.uniform(-0.02, 0.02))
    problem = problem_of("ngpt", random.uniform(1.0, 2.0), random.uniform(1.15, 1.3), CosineSeries(field))
    expected = brute(problem, 25, True)
    found = stationary_states(problem, rates=False)
    assert len(expected) >= 2
    assert not missing(found, expected)
    assert "even about an axis" in found.searched


@pytest.mark.parametrize("dimension", [3, 5])
def test_on_spheres_clusters_stand_at_both_poles_of_a_weak_field(dimension):
    field = GegenbauerSeries((-0.05,), dimension)
    found = stationary_states(problem_of("softmax", 2.0, 1.4, field, Sphere(dimension)), rates=False)
    means = sorted(float(state.cosine[1]) for state in found)
    assert means[0] < -0.3
    assert means[-1] > 0.3
    assert found[0].unstable == 0
    assert min(abs(mean) for mean in means) < 0.2


def test_linearisations_on_fine_grids_take_their_drives_from_plain_sums():
    from solvers.circle.law_spectra import _convolved

    random = np.random.default_rng(1)
    kernel, weights = random.normal(size=37), random.normal(size=37)
    expected = [sum(kernel[(i - j) % 37] * weights[j] for j in range(37)) for i in range(37)]
    assert np.abs(_convolved(kernel, weights) - expected).max() < 37 * 4e-16 * np.abs(kernel).sum()


def test_a_diagram_with_a_search_has_the_branch_that_the_field_cuts_off():
    problem = problem_of("softmax", 2.0, 1.5, CosineSeries((-0.05,)))
    without, searched = (
        bifurcation_diagram(problem.at(coupling=None), (0.0, problem.coupling), rates=False, search=search)
        for search in (False, True)
    )
    assert [branch.label for branch in without.branches] == ["primary"]
    assert any("were not looked for (--search)" in text for text in without.warnings)
    found = stationary_states(problem, rates=False)
    ends = [
        branch.cosine[index, 1]
        for branch in searched.branches
        for index in (0, -1)
        if abs(float(branch.coupling[index]) / problem.coupling - 1.0) < 1e-9
    ]
    assert len(searched.branches) > 1
    assert all(min(abs(end - state.cosine[1]) for end in ends) < 1e-7 for state in found)
