"""Paths of deviations from stationary states, by exponentials of their matrix, against an ordinary integrator."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from meanfield import Circle, ComputationFailed, CosineSeries, Kuramoto, McKeanVlasov, Sphere, Transformer
from solvers import stationary_states
from solvers.evolution.deviations import DeviationPaths, DeviationSystem
from solvers.evolution.sphere.systems import system_of as zonal_system
from solvers.evolution.system import FullSystem, System
from tests import problems

PROBLEMS = [
    problems.KURAMOTO_AT_3.problem,
    McKeanVlasov(Circle(), Kuramoto(), coupling=3.0, confinement=CosineSeries((-0.1, 0.4))),
    # Its uniform state: no two unknowns mix.
    problems.KURAMOTO_AT_1.problem,
    McKeanVlasov(Sphere(3), Transformer(2.0), coupling=6.0),
]
TIMES = np.linspace(0.0, 3.0, 7)


@functools.cache
def setting(problem: McKeanVlasov) -> tuple[System, np.ndarray, np.ndarray]:
    """Return a system, the moments of the minimiser, and a deviation of size one with every moment."""
    state = stationary_states(problem, rates=False)[0]
    target = state.cosine - 1j * state.sine
    degrees = np.arange(max(17, target.size))
    start = np.exp(1j * degrees**2) / (1.0 + degrees**4)
    kind = FullSystem
    if isinstance(problem.domain, Sphere):
        start, kind = start.real.astype(complex), zonal_system
    start[0] = 0.0
    return kind(problem, start.size - 1, 1), target, start / abs(start).max()


def followed(system: System, target: np.ndarray, start: np.ndarray, size: float) -> np.ndarray:
    """Return the moments of a path over its size, by Radau's formulas."""
    whole = DeviationSystem(system, target.real.copy(), -target.imag, size)
    unknown = whole.pack(start.real, -start.imag)
    solved = solve_ivp(
        whole.derivative, (0.0, TIMES[-1]), unknown, "Radau", TIMES, jac=whole.jacobian, rtol=1e-10, atol=1e-13
    )
    cosine, sine = system.unpack(solved.y.T)
    return cosine - 1j * sine


@functools.cache
def reference(problem: McKeanVlasov, size: float) -> np.ndarray:
    """Return the path of the deviation of a setting by Radau's formulas."""
    system, target, start = setting(problem)
    return followed(system, target, start, size)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("coarser", [False, True])
def test_a_path_is_that_of_an_ordinary_integrator(problem: McKeanVlasov, coarser: bool) -> None:
    system, target, start = setting(problem)
    # Of what the quadratic terms change, a step of half a unit of time misses a share, a third of it a ninth of that.
    missed = 0.5 if coarser else 0.06
    for size in (1e-10, 1e-4):
        path = DeviationPaths(system, target, 1e-12)(size * start, system.degree, TIMES, coarser)
        expected = reference(problem, size)
        for deviation, wanted in zip(path[1:], expected[1:], strict=True):
            np.testing.assert_allclose(
                deviation[1 : start.size] / size, wanted[1:], rtol=0.0, atol=1e-9 + missed * size
            )


def test_more_unknowns_are_taken_where_they_are_needed() -> None:
    system, target, start = setting(PROBLEMS[3])
    narrow = DeviationPaths(system.resized(12), target, 1e-12)
    path = narrow(1e-8 * start[:13], 12, TIMES)
    assert path[-1].size > 13
    expected = followed(system.resized(64), target, start[:13], 1e-8)[-1]
    np.testing.assert_allclose(path[-1][1:13] / 1e-8, expected[1:13], atol=2e-9)


def test_what_the_matrix_leaves_is_added() -> None:
    """Quadratic terms are no part of the matrix: halving a large deviation more than halves its change by them."""
    system, target, start = setting(PROBLEMS[0])
    of = DeviationPaths(system, target, 1e-12)
    large, small = (of(size * start, system.degree, TIMES)[-1] / size for size in (2e-3, 1e-3))
    linear = of(1e-9 * start, system.degree, TIMES)[-1] / 1e-9
    assert np.abs(large - linear).max() == pytest.approx(2.0 * np.abs(small - linear).max(), rel=0.02)
    assert np.abs(small - linear).max() > 1e-5


def test_more_unknowns_than_are_affordable_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    system, target, start = setting(PROBLEMS[3])
    monkeypatch.setattr("solvers.evolution.deviations.LARGEST", 12)
    with pytest.raises(ComputationFailed, match="needs about"):
        DeviationPaths(system.resized(12), target, 1e-12)(1e-8 * start[:13], 12, TIMES)
