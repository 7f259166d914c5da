r"""
A staircase of metastable clusters
==================================

At large :math:`\beta` the noisy transformer attracts over short distances only. Four clusters form within a time of
order one, but clusters at a distance hardly feel each other: they exchange mass over the gaps between them, slowly,
until one is used up. Every number of clusters is a stationary state, and all but the last are unstable:

.. math:: \text{time spent near a state} \sim \frac{1}{\mu}\log\frac1{\text{share of the unstable direction}} ,

with :math:`\mu` the largest eigenvalue there. The rate of change is tiny on every step of the staircase, so that it
says nothing about having arrived. What does is the stationary state nearby: is it stable?
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from meanfield import Circle, McKeanVlasov, Outcome, Trajectory, Transformer, critical_coupling
from solvers import Bumps, evolve

# %%
# Parameters
# ----------

BETA, RELATIVE = 20.0, 2.5
CLUSTERS = (4, 3, 2, 1)
WEIGHTS = (1.0, 1.3, 1.1, 0.9)
WIDTH = 0.35
TIMES = np.geomspace(1e-2, 3e4, 400)

# %%
# Problem and solution
# --------------------
# Bumps of unequal weights start the staircase. Equal bumps lead to the steps themselves: an exact rotation symmetry
# is kept exactly, so that the density comes to rest at a state that is unstable in truth, and the result says so.


def problem() -> McKeanVlasov:
    """Return the equation with its coupling."""
    free = McKeanVlasov(Circle(), Transformer(BETA))
    return free.at(coupling=RELATIVE * critical_coupling(free))


def compute() -> Trajectory:
    """Evolve four unequal clusters until one is left and at rest."""
    start = Bumps(4, WIDTH, WEIGHTS, mean=np.pi / 4)
    return evolve(problem(), start, TIMES[-1], times=TIMES, tolerance=1e-8)


def steps() -> dict[int, Trajectory]:
    """Evolve n equal clusters to the state of n clusters."""
    return {n: evolve(problem(), Bumps(n, WIDTH), np.inf, stop_at_stationarity=True) for n in CLUSTERS}


trajectory, levels = compute(), steps()
print(trajectory.summary())
for n, level in levels.items():
    print(f"{n} clusters: {level.outcome}; slowest rate {level.slowest_rate:.6g}")

# %%
# Plot
# ----
# Energy against time is a staircase between the levels of the stationary states; the time axis is logarithmic.


def draw(trajectory: Trajectory, levels: dict[int, Trajectory]) -> Figure:
    """Draw the density over time, and the free energy with the levels of the stationary states."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.2), layout="constrained")
    trajectory.plot(left)
    trajectory.plot_energy(right)
    for n, level in levels.items():
        energy = level.free_energy_gap[-1]
        right.axhline(energy, color="0.6", linestyle=":", linewidth=1.0, zorder=1.0)
        name, place = f"{n} cluster{'s' if n > 1 else ''}", {"ha": "right", "x": 0.98}
        if level.outcome is Outcome.METASTABLE:
            name += rf", $1/\mu = {-1 / level.slowest_rate:.4g}$"
        else:
            place = {"ha": "left", "x": 0.02}
        right.text(s=name, y=energy + 0.08, transform=right.get_yaxis_transform(), fontsize=9, **place)
    return figure


draw(trajectory, levels)
plt.show()

# %%
# Numbers
# -------
# The levels, their time scales, and the escape from two clusters at the rate of the linearisation.

GAPS = {4: -0.426558537, 3: -1.134379751, 2: -2.867404652, 1: -8.937564571}
RATES = {4: -0.328964701, 3: -0.0172383603, 2: -1.82898729e-4, 1: 0.394245521}


def escape_rate() -> float:
    """Return the rate at which two almost equal clusters become unequal, from the growth of the first moment."""
    pair = evolve(problem(), Bumps(2, WIDTH, (1.0, 1.0001)), 25_000.0, tolerance=1e-8)
    late = pair.time > 1_000.0
    return float(np.polyfit(pair.time[late], np.log(pair.order_parameter()[late]), 1)[0])


def check(trajectory: Trajectory, levels: dict[int, Trajectory]) -> None:
    """Compare with the stationary states and their spectra."""
    for n, level in levels.items():
        assert level.outcome is (Outcome.STATIONARY if n == 1 else Outcome.METASTABLE)
        assert abs(level.free_energy_gap[-1] - GAPS[n]) < 1e-7
        assert abs(level.slowest_rate / RATES[n] - 1) < 1e-6
    assert trajectory.outcome is Outcome.STATIONARY
    assert abs(trajectory.free_energy_gap[-1] - GAPS[1]) < 1e-8
    assert np.all(np.diff(trajectory.free_energy_gap) < 1e-9)
    # On the steps themselves the energy is that of unequal clusters, a little below the level.
    for n in (4, 3, 2):
        assert np.abs(trajectory.free_energy_gap - GAPS[n]).min() < 0.05
    assert abs(escape_rate() / -RATES[2] - 1) < 1e-3


check(trajectory, levels)
