r"""
The mass in flight
==================

Why does the mean field of :doc:`14_contraction` contract at :math:`\kappa e^{-\beta}`? Its characteristics tell:

.. math:: \dot X = v(X, t), \quad X(0, a) = a, \qquad \rho(t, X) = \frac{\rho_0(a)}{\partial_a X} .

Almost all labels arrive within a time of order one. Those beside one label, the separatrix, stay near the point
opposite to the cluster for a time :math:`e^{\beta}\log(1/|a - a^*|)/\kappa`, and leave it one after the other.
In the field :math:`v = \kappa\sin u\,e^{-\beta\cos u}` of the cluster, u being the angle from that point, what is
still on its way has a profile that no longer changes,

.. math:: \rho \to C e^{-\lambda t} g(u), \qquad g = \frac1{v(u)}\exp\Bigl(\lambda\int\frac{du}{v}\Bigr), \qquad
          \lambda = v'(0) = \kappa e^{-\beta},

and that diverges at the cluster like :math:`t^{-1-e^{-2\beta}}` at the distance t.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from meanfield import Circle, McKeanVlasov, Trajectory, Transformer, flight_profile
from meanfield.plotting import caption, entitle_figure
from solvers import Characteristics, contraction_rate, evolve

# %%
# Parameters
# ----------

BETA = 1.0
UNTIL = 20.0

# %%
# Problem and solution
# --------------------
# Without ``method`` moments are followed, up to t = 3, where the cluster is too narrow for them. Along
# characteristics the density is known far beyond that: the trajectory keeps labelled points, ``flow_map``.


def problem() -> McKeanVlasov:
    """Return the equation without noise."""
    return McKeanVlasov(Circle(), Transformer(BETA), noise=0.0, coupling=1.0)


def density(angle: np.ndarray) -> np.ndarray:
    """Return the initial density."""
    return (1.0 + 0.6 * np.cos(angle) + 0.3 * np.sin(2.0 * angle)) / (2.0 * np.pi)


trajectory = evolve(problem(), density, UNTIL, method=Characteristics(), tolerance=1e-8)
print(trajectory.summary())

# %%
# Plot
# ----
# Left: paths of points from equally spaced labels, and of those that pass a right angle from the cluster at equally
# spaced times. Right: the density at some times and, dashed, the profile times the density opposite to the cluster.


def draw(trajectory: Trajectory) -> Figure:
    """Draw characteristics and the density in flight."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.4), layout="constrained")
    trajectory.plot_characteristics(left)
    trajectory.plot_tail(right)
    entitle_figure(figure, caption(trajectory.problem))
    return figure


draw(trajectory)
plt.show()

# %%
# Numbers
# -------
# The label of the separatrix is that of the contraction rate, and the density has the profile and decays at its
# rate up to the share of the mass that is still in flight.


exact = contraction_rate(problem(), initial=density)


def check(trajectory: Trajectory) -> None:
    """Compare separatrix, profile and decay with their exact values."""
    flow = trajectory.flow_map
    assert flow is not None
    assert abs(flow.labels[flow.separatrix] - exact.separatrix) < 1e-3
    assert abs(flow.cluster - exact.limit_point) < 1e-3
    angle = np.concatenate([np.linspace(-np.pi, -1.0, 20), np.linspace(1.0, np.pi, 20)])
    earlier, later = flow.density(angle, 75), flow.density(angle, 100)
    # Labels are as far from the separatrix as the share of the mass that is in flight: deviations are of its order.
    in_flight = np.exp(-np.exp(-BETA) * flow.time[75])
    assert np.abs(later / earlier * np.exp(np.exp(-BETA) * 5.0) - 1.0).max() < 5.0 * in_flight
    assert np.abs(later / later[-1] / flight_profile(problem(), angle) - 1.0).max() < 5.0 * in_flight


check(trajectory)
