"""Branches of rotating waves in the coupling: closed forms, waves met from random starts, and continued derivatives."""

from functools import cache

import numpy as np
import pytest

from meanfield import (
    Circle,
    ContinuityEquation,
    CosineSeries,
    Kuramoto,
    NormalisedAttention,
    PhaseLag,
    SoftmaxAttention,
    Transformer,
    critical_couplings,
)
from solvers import bifurcation_diagram, spectrum, stationary_states
from solvers.domains import solvers_of
from solvers.equations.sizing import stationary_equation

EPS = float(np.finfo(float).eps)


def lagged(law, lag, noise):
    return ContinuityEquation(Circle(), PhaseLag(law, lag), noise)


@cache
def two_modes():
    """Return a diagram in which waves leave waves of twice their symmetry, twice."""
    return bifurcation_diagram(lagged(CosineSeries((-0.6, -1.0)), 0.25, 1.0), (2.0, 4.2))


def time_derivative(problem, values, speed):
    """Return the time derivative of a density on a grid in a frame of a speed, by plain sums for W."""
    points = values.size
    angles = 2.0 * np.pi * np.arange(points) / points
    apart = angles[:, None] - angles + problem.velocity.lag
    velocity = -(np.asarray(problem.potential.slope(apart)) @ values) / points
    waves = np.fft.fftfreq(points, 1.0 / points)
    flux = np.fft.fft(values * (problem.coupling * velocity - speed))
    return np.fft.ifft(-problem.noise * waves**2 * np.fft.fft(values) - 1j * waves * flux).real


@pytest.mark.parametrize(
    ("law", "lag", "noise"),
    [
        (Kuramoto(), 0.6, 1.0),
        (Transformer(2.0), -0.4, 0.5),
        (SoftmaxAttention(2.0), 0.5, 0.5),
        (NormalisedAttention(1.2), -0.4, 0.7),
    ],
)
def test_branches_begin_turning_as_the_critical_mode_does(law, lag, noise):
    problem = lagged(law, lag, noise)
    diagram = bifurcation_diagram(problem, relative=(0.95, 1.05), rates=False)
    (branch,) = diagram.branches[1:]
    assert branch.coupling[0] == pytest.approx(critical_couplings(problem, 1)[1], rel=1e-15)
    first, second = branch.observables["angular_velocity"][:2]
    assert abs(first + noise * np.tan(lag)) < 16 * EPS * noise
    # Even in the amplitude, the velocity leaves as its square.
    assert abs(second - first) < 10.0 * np.hypot(branch.cosine, branch.sine)[1, 1] ** 2
    assert list(branch.unstable[1:]) == [0] * (len(branch) - 1)


def test_waves_at_the_end_are_at_rest_in_their_frame():
    diagram = two_modes()
    angles = 2.0 * np.pi * np.arange(127) / 127
    for branch in diagram.branches[1:]:
        end = diagram.state(branch.label, -1)
        speed = end.observables["angular_velocity"]
        assert abs(speed) > 0.1
        change = time_derivative(end.problem, 2.0 * np.pi * end.density(angles), speed)
        # Of the rounding of the density the second derivative in 63 degrees makes this.
        assert np.abs(change).max() < 63**2 * 64 * EPS


def test_waves_of_half_the_symmetry_are_born_where_an_eigenvalue_vanishes():
    diagram = two_modes()
    points = [point for point in diagram.special_points if point.type == "branch point" and point.branch > 0]
    born = [branch for branch in diagram.branches if branch.label.endswith("from 2-cluster")]
    assert len(born) == len(points) > 0
    assert sorted(branch.coupling[0] for branch in born) == sorted(point.coupling for point in points)
    for point in points:
        assert abs(point.unstable_after - point.unstable_before) == 1
        parent = diagram.branches[point.branch]
        state = diagram.state(parent.label, point.point)
        assert np.abs(spectrum(state).eigenvalues).min() < 1e-8


def test_rates_and_counts_are_those_of_states_found_at_one_coupling():
    diagram = two_modes()
    found = stationary_states(diagram.problem.at(coupling=4.2))
    for branch in diagram.branches:
        end = diagram.state(branch.label, -1)
        lengths = np.hypot(end.cosine, end.sine)
        (state,) = [s for s in found if np.abs(np.hypot(s.cosine, s.sine)[1:5] - lengths[1:5]).max() < 1e-9]
        assert end.unstable == state.unstable
        assert end.slowest_rate == pytest.approx(state.slowest_rate, rel=1e-8)
        assert end.observables["angular_velocity"] == pytest.approx(
            state.observables["angular_velocity"], rel=1e-12, abs=1e-12
        )


@pytest.mark.parametrize("law", [Kuramoto(), SoftmaxAttention(2.0), NormalisedAttention(0.5)])
def test_derivatives_are_those_of_differences(law):
    problem = lagged(law, 0.4, 0.5)
    equation = stationary_equation(solvers_of(problem).geometry, problem, 1, 1)
    generator, q, step = np.random.default_rng(2), 1.7, 1e-5
    cells = np.tile(np.arange(1.0, 1.0 + equation.scales.size // 2), 2)
    cosines = np.arange(cells.size) < cells.size // 2
    b = equation.scales * 0.3**cells * (cosines + 0.1 * generator.standard_normal(cells.size))
    b[cells.size // 2] = 0.0
    jacobian, by_q = equation.linearise(b, q, equation.evaluate(b, q).gibbs.moments)

    def difference(along_b, along_q):
        pair = [equation.evaluate(b + s * along_b, q + s * along_q).residual for s in (step, -step)]
        return (pair[0] - pair[1]) / (2.0 * step)

    # Along changes of the means: those of b are divided by scales that decay with the kernel.
    expected = np.array(
        [difference(scale * unit, 0.0) for scale, unit in zip(equation.scales, np.eye(b.size), strict=True)]
    ).T
    # Errors of central differences: the square of the step, and rounding over it.
    assert np.abs(jacobian * equation.scales - expected).max() < 1e-7
    assert np.abs(by_q - difference(np.zeros_like(b), 1.0)).max() < 1e-7
