r"""
Relaxation to the clustered state
=================================

The noisy transformer at :math:`\beta = 4` and twice its critical coupling,

.. math::

    \partial_t\rho = \partial_\theta\bigl(D\,\partial_\theta\rho + \kappa\,\rho\,\partial_\theta(W*\rho)\bigr),
    \qquad W(t) = -\tfrac1\beta e^{\beta\cos t} ,

starts next to the uniform state. Its free energy falls at the rate of the dissipation,

.. math:: \frac{dF}{dt} = -\int\rho\,\bigl|\partial_\theta(D\log\rho + \kappa W*\rho)\bigr|^2 ,

and in the end the distance to the clustered state falls like :math:`e^{-\gamma t}` with the spectral gap
:math:`\gamma` of that state.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from meanfield import Circle, McKeanVlasov, State, Trajectory, Transformer, critical_coupling
from solvers import PerturbedUniform, evolve, stationary_states

# %%
# Parameters
# ----------

BETA, RELATIVE = 4.0, 2.0
UNTIL = 42.0
FITTED = (18.0, 28.0)

# %%
# Problem and solution
# --------------------
# The start is :math:`(1 + 0.1\cos\theta)/2\pi`. A small tolerance keeps the distance exact over ten decades.


def problem() -> McKeanVlasov:
    """Return the equation with its coupling."""
    free = McKeanVlasov(Circle(), Transformer(BETA))
    return free.at(coupling=RELATIVE * critical_coupling(free))


def compute() -> Trajectory:
    """Evolve the density."""
    return evolve(problem(), PerturbedUniform(0.1), UNTIL, times=240, tolerance=1e-12)


trajectory = compute()
state = stationary_states(problem())[0]
print(trajectory.summary())

# %%
# Plot
# ----


def distances(trajectory: Trajectory, state: State) -> np.ndarray:
    """Return the distance to a state over time, root of the sum of squared differences of moments."""
    size = max(trajectory.cosine.shape[1], state.cosine.size)
    moments = np.zeros((len(trajectory), size))
    moments[:, : trajectory.cosine.shape[1]] = trajectory.cosine
    moments[:, : state.cosine.size] -= state.cosine
    return np.sqrt(2.0) * np.linalg.norm(moments, axis=1)


def draw(trajectory: Trajectory, state: State) -> Figure:
    """Draw the density, the moments, the energy and the distance to the state."""
    figure, axes = plt.subplots(2, 2, figsize=(9.6, 7.0), layout="constrained")
    trajectory.plot(axes[0, 0])
    trajectory.plot_moments(axes[0, 1])
    trajectory.plot_energy(axes[1, 0], dissipation=True)
    draw_distance(axes[1, 1], trajectory, state)
    return figure


def draw_distance(ax: plt.Axes, trajectory: Trajectory, state: State) -> None:
    """Draw the distance to the state beside the exponential of its spectral gap."""
    values = distances(trajectory, state)
    ax.semilogy(trajectory.time, values, color="#0072B2", linewidth=1.6, label="distance")
    slope = np.exp(-state.slowest_rate * (trajectory.time - FITTED[0]))
    start = np.searchsorted(trajectory.time, FITTED[0])
    label = rf"$e^{{-\gamma t}}$, $\gamma = {state.slowest_rate:.6f}$"
    ax.semilogy(trajectory.time[start:], 3.0 * values[start] * slope[start:], "k--", linewidth=1.0, label=label)
    ax.set(xlabel="$t$", ylabel="distance to the clustered state", xlim=(0.0, UNTIL))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)


draw(trajectory, state)
plt.show()

# %%
# Numbers
# -------
# The end is the clustered state found by continuation, the fitted rate is its spectral gap, and the free energy
# has lost what was dissipated.


def fitted_rate(trajectory: Trajectory, state: State) -> float:
    """Return the decay rate of the distance over the fitted window."""
    inside = (trajectory.time >= FITTED[0]) & (trajectory.time <= FITTED[1])
    logarithm = np.log(distances(trajectory, state)[inside])
    return -float(np.polyfit(trajectory.time[inside], logarithm, 1)[0])


def check(trajectory: Trajectory, state: State) -> None:
    """Compare with the stationary state and its spectrum."""
    assert trajectory.outcome.name == "STATIONARY"
    assert abs(trajectory.order_parameter()[-1] - 0.98313585565) < 1e-9
    assert abs(trajectory.free_energy_gap[-1] - state.free_energy_gap) < 1e-12
    assert abs(state.slowest_rate - 0.7422760597) < 1e-9
    assert abs(fitted_rate(trajectory, state) / state.slowest_rate - 1) < 1e-4
    dissipated = np.trapezoid(trajectory.dissipation, trajectory.time)
    lost = trajectory.free_energy_gap[0] - trajectory.free_energy_gap[-1]
    assert abs(dissipated / lost - 1) < 1e-3


check(trajectory, state)
