"""An integrator of one file of its own, as a third party would add it: nothing else knows of it."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from meanfield import (
    Circle,
    ComputationFailed,
    InvalidInput,
    Kuramoto,
    MaierSaupe,
    McKeanVlasov,
    Outcome,
    Sphere,
    Transformer,
)
from solvers import PerturbedUniform, VonMises, Watson, evolve
from solvers.evolution.integrators import Integrator
from solvers.evolution.semi_implicit import SBDF3
from tests import problems

ROOT = Path(__file__).parents[2]
PROBLEMS = [
    (McKeanVlasov(Circle(), Transformer(2.0), coupling=2.0), VonMises(0.4, 1.0)),
    (problems.ALIGNED.problem, PerturbedUniform(0.3)),
    (McKeanVlasov(Sphere(3), MaierSaupe(), coupling=8.0), Watson(1.0)),
    (McKeanVlasov(Sphere(4), Kuramoto(), coupling=6.0), Watson(1.0)),
]


@pytest.mark.parametrize(("problem", "start"), PROBLEMS)
def test_it_is_of_order_three(problem, start):
    """Halving the step divides the error by eight, the steps being short beside the slowest damping of a cluster."""
    exact = evolve(problem, start, 0.5, times=1, tolerance=1e-12).cosine[-1]
    errors = []
    for step in (1 / 64, 1 / 128, 1 / 256):
        moments = evolve(problem, start, 0.5, times=1, method=SBDF3(step)).cosine[-1]
        size = min(moments.size, exact.size)
        errors.append(np.abs(moments[:size] - exact[:size]).max())
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert rates[-1] == pytest.approx(3.0, abs=0.25)


def test_times_between_steps_are_cubic():
    problem, start = PROBLEMS[0]
    times = [0.1, 0.1 + 1 / 300, 0.2]
    exact = evolve(problem, start, 0.2, times=times, tolerance=1e-12)
    path = evolve(problem, start, 0.2, times=times, method=SBDF3(1 / 128))
    assert np.abs(path.cosine[:, 1:4] - exact.cosine[:, 1:4]).max() <= path.accuracy
    assert path.accuracy < 1e-3


def test_everything_an_evolution_does_it_does_with_it():
    """Rest is found, the record names it, and the accuracy is estimated."""
    problem = problems.KURAMOTO_AT_3.problem
    path = evolve(
        problem, VonMises(0.0, 0.5), math.inf, stop_at_stationarity=True, method=SBDF3(0.01), tolerance=1e-6
    )
    assert path.outcome is Outcome.STATIONARY
    assert path.method == "SBDF3 with step 0.01"
    assert path.tolerance is None
    assert 0.0 < path.accuracy < 1e-3


def test_a_step_that_is_too_large_is_refused_in_its_name():
    problem = McKeanVlasov(Circle(), Transformer(20.0), coupling=40.0)
    with pytest.raises(ComputationFailed, match=r"the step 0\.5 of SBDF3 is too large"):
        evolve(problem, VonMises(0.0, 4.0), 20.0, method=SBDF3(0.5))
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(InvalidInput):
            SBDF3(wrong)


def test_nothing_else_knows_of_it():
    assert isinstance(SBDF3(0.1), Integrator)
    packages = (ROOT / name for name in ("meanfield", "solvers", "verification"))
    texts = {path: path.read_text(encoding="utf-8") for package in packages for path in package.rglob("*.py")}
    assert [path.name for path, text in texts.items() if re.search("import.*(semi_implicit|SBDF3)", text)] == []


@pytest.mark.parametrize("wrong", ["lsoda", 0.01, SBDF3, object()])
def test_what_is_no_integrator_is_refused(wrong):
    with pytest.raises(InvalidInput, match=r"method must be LSODA\(\) or ETDRK4\(\)"):
        evolve(PROBLEMS[0][0], VonMises(), 0.1, method=wrong)
