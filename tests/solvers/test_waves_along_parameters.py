"""Rotating waves along the noise, the lag and the parameters of a law, compared with those in the coupling."""

import numpy as np
import pytest

from meanfield import Circle, ContinuityEquation, CosineSeries, Kuramoto, PhaseLag, SoftmaxAttention, Transformer
from solvers import bifurcation_diagram

EPS = np.finfo(float).eps
CASES = {
    "lag through zero": (PhaseLag(Kuramoto(), 0.4), 0.5, 2.0, "lag", (-0.5, 1.4)),
    "lag from zero": (PhaseLag(CosineSeries((-0.5, -1.0)), 0.2), 1.0, 4.5, "lag", (0.0, 0.6)),
    "noise": (PhaseLag(Kuramoto(), 0.4), 0.5, 2.0, "noise", (0.3, 1.4)),
    "w1": (PhaseLag(CosineSeries((-0.5, -1.0)), 0.2), 1.0, 4.0, "w1", (-1.0, 0.0)),
    "beta": (PhaseLag(SoftmaxAttention(2.0), -0.3), 0.3, 1.0, "beta", (1.0, 2.5)),
}


def waves_at(problem):
    """Return the moduli of moments and the angular velocities of all waves at the coupling of a problem, by degree."""
    diagram = bifurcation_diagram(problem, (0.0, problem.coupling), rates=False)
    branches = [branch for branch in diagram.branches if abs(branch.coupling[-1] - problem.coupling) < 1e-12]
    return [
        (np.hypot(branch.cosine[-1], branch.sine[-1])[:5], branch.observables["angular_velocity"][-1])
        for branch in branches
    ]


@pytest.mark.parametrize("name", CASES)
def test_waves_are_those_in_the_coupling(name):
    law, noise, coupling, parameter, interval = CASES[name]
    problem = ContinuityEquation(Circle(), law, noise, coupling)
    diagram = bifurcation_diagram(problem, interval, parameter=parameter, rates=False)
    waves = [branch for branch in diagram.branches if branch.label != "uniform"]
    assert waves
    for branch in waves:
        for row in (len(branch) // 4, len(branch) // 2, len(branch) - 2):
            value = float(branch.values[row])
            moduli = np.hypot(branch.cosine[row], branch.sine[row])[:5]
            velocity = branch.observables["angular_velocity"][row]
            known = waves_at(problem.with_parameter(parameter, value))
            assert min(
                np.abs(moduli[: each.size] - each).max() + abs(velocity - omega) for each, omega in known
            ) < 1e-11 * (1.0 + abs(velocity))


def test_thresholds_along_the_lag_are_those_of_the_formula():
    """Mode 1 of Kuramoto is critical where kappa cos(lag) = 2 D, from where the waves turn with -D tan(lag)."""
    problem = ContinuityEquation(Circle(), PhaseLag(Kuramoto(), 0.4), 0.5, 2.0)
    diagram = bifurcation_diagram(problem, (-0.5, 1.4), parameter="lag", rates=False)
    (born,) = diagram.events("branch point")
    assert born.value == pytest.approx(np.pi / 3.0, abs=16 * EPS)
    (_, branch) = diagram.branches
    # The branch begins beside its birth, where the velocity is that up to the square of the amplitude.
    row = int(np.argmax(branch.values))
    square = branch.cosine[row, 1] ** 2 + branch.sine[row, 1] ** 2
    velocity = branch.observables["angular_velocity"][row]
    assert velocity == pytest.approx(-0.5 * np.tan(np.pi / 3.0), abs=4.0 * square + 16.0 * EPS)
    # Reflection changes the signs of lag and velocity.
    zero = int(np.argmin(np.abs(branch.values)))
    assert np.sign(branch.observables["angular_velocity"][zero]) == -np.sign(branch.values[zero])


def test_waves_of_many_degrees_are_followed_in_long_steps():
    """What keeps guesses from turning would leave the angle at which the residual vanishes: 399 points, not 69."""
    problem = ContinuityEquation(Circle(), PhaseLag(Transformer(3.0), 0.2), 0.3)
    branch = bifurcation_diagram(problem, (0.2, 1.0), rates=False, depth=1).branches[1]
    assert branch.coupling[-1] == 1.0
    assert len(branch) < 120
