"""Files of version 1 of their format, written before results were a package of records, open and hold what they held."""

from pathlib import Path

import numpy as np
import pytest

import meanfield
from meanfield import open_comparison, open_diagram, open_ensemble, open_trajectory
from meanfield.export.states import open_states

DATA = Path(__file__).parent.parent / "data" / "schema_1"


@pytest.mark.parametrize("suffix", [".nc", ".json", ".npz"])
def test_diagrams(suffix):
    diagram = open_diagram(DATA / f"diagram{suffix}")
    assert diagram.problem == meanfield.McKeanVlasov(meanfield.Circle(), meanfield.Kuramoto())
    assert [branch.label for branch in diagram.branches] == ["uniform", "1-cluster"]
    (born,) = diagram.events("branch point")
    assert born.coupling == 2.0
    # r = I_1(x)/I_0(x) with x = kappa r, at every point of the branch.
    branch = diagram.branch("1-cluster")
    exact = [meanfield.kuramoto_order_parameter(float(coupling)) for coupling in branch.coupling[1:]]
    np.testing.assert_allclose(np.abs(branch.moment(1)[1:]), exact, rtol=1e-9)
    assert np.isfinite(branch.slowest_rate).all()
    assert (branch.free_energy_gap[1:] < 0.0).all()


def test_a_diagram_on_the_sphere():
    diagram = open_diagram(DATA / "sphere_diagram.npz")
    assert [branch.label for branch in diagram.branches] == ["uniform", "prolate", "oblate"]
    assert diagram.events("branch point")[0].coupling == 5.0


def test_states():
    states = open_states(DATA / "states.json")
    assert [state.label for state in states] == ["1-cluster", "uniform"]
    assert abs(states[0].cosine[1]) == pytest.approx(meanfield.kuramoto_order_parameter(3.0), rel=1e-14)
    assert states[0].slowest_rate == pytest.approx(1.0813324541107574, rel=1e-12)


@pytest.mark.parametrize("suffix", [".nc", ".json"])
def test_trajectories(suffix):
    trajectory = open_trajectory(DATA / f"trajectory{suffix}")
    assert trajectory.time[-1] == 1.0
    parts = meanfield.free_energy_parts(trajectory.problem, trajectory.cosine[-1], trajectory.sine[-1])
    assert trajectory.free_energy_gap[-1] == pytest.approx(parts.gap, rel=1e-12)


def test_ensembles_and_comparisons():
    ensemble = open_ensemble(DATA / "ensemble.json")
    assert (ensemble.particles, ensemble.replicas) == (50, 2)
    comparison = open_comparison(DATA / "comparison.json")
    assert comparison.problem.coupling == 3.0
    assert "16" in comparison.summary()
