"""States of softmax attention on S^2 without an axis: against Newton's method and dense matrices of all harmonics."""

from functools import cache

import numpy as np
import pytest
from scipy.special import ive
from sphere_galerkin import harmonics, softmax_growth

from meanfield import ContinuityEquation, NormalisedAttention, Perceptron, SoftmaxAttention, Sphere
from solvers import bifurcation_diagram, spectral_gap, spectrum, stationary_states

BETA, COUPLING = 3.0, 20.0
ATTENTION = ContinuityEquation(Sphere(3), SoftmaxAttention(BETA))
# What the degrees beyond 8 change at this beta and coupling.
CUT = 3e-6


@cache
def states():
    """Return the states at the coupling, with their rates."""
    return stationary_states(ATTENTION.at(coupling=COUPLING))


def brute_states(exponent, count, field=1.0, degree=8):
    """Return lengths of moments and unstable directions of the states that Newton's method meets.

    Of u^p with u = 1 + sum r_i a_i e_i, with all harmonics up to a degree and random starts.
    """
    functions, degrees, weights = harmonics(degree, 30)
    functions, degrees = functions[1:], degrees[1:]
    ratios = ive(degrees + 0.5, BETA) / ive(0.5, BETA)
    generator, found = np.random.default_rng(3), []
    for _ in range(count):
        spread = np.exp(-0.3 * degrees * generator.uniform(0.0, 2.0))
        start = np.exp(
            generator.choice([0.3, 1.0, 3.0]) * (generator.standard_normal(degrees.size) * spread) @ functions
        )
        a = functions @ (weights * start) / (weights @ start)
        for _ in range(40):
            u = np.maximum(1.0 + (ratios * a) @ functions, 1e-12)
            masses = weights * field * u**exponent
            masses /= masses.sum()
            means = functions @ masses
            response = masses / u
            coupled = (
                exponent * ((functions * response) @ functions.T - np.outer(means, functions @ response)) * ratios
            )
            step = np.linalg.lstsq(np.eye(a.size) - coupled, a - means, rcond=1e-9)[0]
            a = a - step / max(1.0, 2.0 * float(np.abs(step).max()))
            if np.abs(step).max() < 1e-12:
                break
        else:
            continue
        lengths = np.sqrt(np.bincount(degrees, a**2 / (2 * degrees + 1.0)))
        unstable = int(np.count_nonzero(np.linalg.eigvals(coupled).real > 1.0 + 1e-7))
        if not any(np.abs(lengths - known).max() < 1e-6 for known, _ in found):
            found.append((lengths, unstable))
    return found


def same(state, lengths):
    """Return whether a state has given lengths of moments, up to the degrees that the others lack."""
    count = min(6, state.moments.lengths.size)
    return np.abs(state.moments.lengths[1:count] - lengths[1:count]).max() < CUT


def test_states_and_counts_are_those_of_newtons_method_among_all_harmonics():
    met = brute_states(COUPLING / BETA, 30)
    assert len(met) >= 4
    assert len(states()) == 5
    for lengths, unstable in met:
        (state,) = [state for state in states() if same(state, lengths)]
        assert state.unstable == unstable
    assert "all densities on the sphere" in states().searched
    assert {"D_3h 3 from oblate", "oblate", "prolate"} < {state.label for state in states()}


def test_counts_and_rates_are_those_of_the_spectrum():
    for state in states():
        assert spectrum(state).unstable == state.unstable
        assert state.slowest_rate == pytest.approx(spectral_gap(state), rel=2e-9)


def test_a_spectrum_is_that_of_the_dense_linearisation():
    (state,) = [state for state in states() if state.label.startswith("D_3h")]
    found = spectrum(state)
    # Three rotations and the mass are among those of the reference, at zero.
    expected = np.sort(softmax_growth(state.problem, state.cosine, state.sine, 27).real)[::-1]
    zeros = np.argsort(np.abs(expected))[:4]
    expected = np.delete(expected, zeros)[: found.eigenvalues.size]
    np.testing.assert_allclose(found.eigenvalues, expected, rtol=1e-8)
    assert abs(found.rotation) < 1e-9
    assert found.rotation_overlap == pytest.approx(1.0, abs=1e-8)


def test_branches_without_an_axis_are_born_where_zonal_ones_lose_stability():
    diagram = bifurcation_diagram(ATTENTION, (15.0, COUPLING), rates=False)
    (born,) = [event for event in diagram.special_points if event.type == "branch point"]
    branch = next(branch for branch in diagram.branches if branch.label == "D_3h 3 from oblate")
    # Quadratic in the distance, the branch begins at the point.
    assert branch.coupling[0] == pytest.approx(born.coupling, abs=1e-12)
    (state,) = [state for state in states() if state.label.startswith("D_3h")]
    end = diagram.state("D_3h 3 from oblate", -1)
    np.testing.assert_allclose(end.moments.lengths[:6], state.moments.lengths[:6], atol=1e-12)
    assert list(branch.unstable[1:]) == [5] * (branch.unstable.size - 1)


def test_a_confinement_without_an_axis_holds_the_states_that_newtons_method_meets():
    neurons = Perceptron(
        weights=(1.0, 0.5, 0.7), angles=(0.4, 1.2, 2.0), azimuths=(0.0, 2.0, 4.0), activation="gelu"
    )
    problem = ContinuityEquation(Sphere(3), SoftmaxAttention(BETA), coupling=8.0, confinement=neurons)
    found = stationary_states(problem, rates=False)
    u = np.polynomial.legendre.leggauss(30)[0]
    polar, azimuth = (part.ravel() for part in np.meshgrid(np.arccos(u), np.pi * np.arange(60) / 30, indexing="ij"))
    points = np.stack([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], axis=1)
    met = brute_states(8.0 / BETA, 16, np.exp(-neurons.values_at(points)))
    assert len(met) >= 4
    for lengths, unstable in met:
        (state,) = [state for state in found if same(state, lengths)]
        assert state.unstable == unstable
    # The indices of the fixed points of a map homotopic to a constant add up to one.
    assert sum((-1) ** state.unstable for state in found) == 1


def test_states_without_an_axis_of_other_laws_are_said_not_to_be_computed():
    found = stationary_states(ContinuityEquation(Sphere(3), NormalisedAttention(1.0), coupling=1.0), rates=False)
    assert "all with an axis of symmetry, for others are computed for laws with a Gibbs map only" in found.searched
