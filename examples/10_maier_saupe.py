r"""
The nematic transition of Maier and Saupe
=========================================

Rods that prefer to be parallel, whichever end is up, have the potential :math:`W(x,y) = -\langle x,y\rangle^2` on
the sphere. Every stationary density has an axis and the form

.. math::

    \rho \propto e^{\eta\cos^2\theta}, \qquad \frac{\kappa}{D} = \frac{\eta}{S(\eta)}, \qquad
    S = \langle P_2(\cos\theta)\rangle = \frac32\,\frac{\int_{-1}^1 u^2 e^{\eta u^2}du}{\int_{-1}^1 e^{\eta u^2}du}
    - \frac12 ,

with rods along the axis (prolate) for :math:`\eta > 0` and across it (oblate) for :math:`\eta < 0`. The branch
passes *through* the uniform state at :math:`\kappa_2 = \frac{15}{2}D`,
:math:`\kappa/\kappa_2 = 1 - \frac57 S + \dots`, and turns back at a fold, so that the transition from isotropic to
nematic is of first order.

The fold is where ordered states begin to exist, the minimum of :math:`\eta/S(\eta)` over :math:`\eta > 0`. It is
:math:`\kappa/D = 6.731486`; the value 6.731393 that is found in print is wrong from the fifth digit on.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from meanfield import Diagram, MaierSaupe, McKeanVlasov, Sphere, State
from meanfield.plotting import style_handles
from meanfield.theory import maier_saupe_fold, maier_saupe_state, maier_saupe_transition
from solvers import bifurcation_diagram

# %%
# Parameters
# ----------

RANGE = (5.5, 15.0)
CONCENTRATIONS = np.linspace(-9.0, 14.0, 400)

# %%
# Problem and solution
# --------------------
# The solver knows nothing of the closed form.


def compute() -> Diagram:
    """Compute the diagram."""
    return bifurcation_diagram(McKeanVlasov(Sphere(3), MaierSaupe()), RANGE, rates=False)


diagram = compute()
print(diagram.summary())

# %%
# Plot
# ----
# The wide pale line is the closed form. Oblate states are never stable: their rods turn within the equator at no
# cost, and gather.


def draw(diagram: Diagram) -> Figure:
    """Draw order parameter and free energy over the closed form, and two states at one coupling."""
    figure = plt.figure(figsize=(8.6, 6.4), layout="constrained")
    curves, globes = figure.subfigures(1, 2, width_ratios=(2.1, 1.0))
    upper, lower = curves.subplots(2, 1, sharex=True)
    add_key(curves)
    pale = {"color": "#9ecae1", "linewidth": 5.0, "solid_capstyle": "round", "zorder": 1.0}
    closed = [maier_saupe_state(float(eta)) for eta in CONCENTRATIONS]
    relative = np.array([state.ratio for state in closed]) / 7.5
    upper.plot(relative, [state.order_parameter for state in closed], **pale)
    lower.plot(relative, [state.gap for state in closed], **pale)
    diagram.plot("p2", upper, legend=False)
    diagram.plot("free_energy_gap", lower, legend=False)
    upper.set(xlabel="", ylabel=r"$S = \langle P_2(\cos\theta)\rangle$", xlim=(RANGE[0] / 7.5, 2.0), ylim=(-0.5, 1))
    lower.set_ylim(-1.7, 0.25)
    enlarge(lower, diagram, relative, [state.gap for state in closed], pale)
    for ax, (name, state) in zip(globes.subplots(2, 1), ends(diagram).items(), strict=True):
        state.plot_globe(ax)
        ax.set_title(rf"{name}, $\kappa = {state.coupling:g}\,D$", fontsize=10)
    return figure


def enlarge(
    ax: plt.Axes, diagram: Diagram, relative: np.ndarray, gaps: list[float], style: dict[str, object]
) -> None:
    """Show the swallowtail between fold and onset in an inset."""
    inset = ax.inset_axes((0.11, 0.1, 0.35, 0.44))
    inset.plot(relative, gaps, **style)
    diagram.plot("free_energy_gap", inset, legend=False, labels=False)
    inset.set(xlim=(0.89, 1.02), ylim=(-0.012, 0.012), xlabel="", ylabel="")
    inset.tick_params(labelsize=7)


def add_key(figure: Figure) -> None:
    """Explain lines and markers below the panels."""
    handles = [Line2D([], [], color="#9ecae1", linewidth=5.0, label="closed form")]
    handles += style_handles()
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8)


def ends(diagram: Diagram) -> dict[str, State]:
    """Return the last prolate and the last oblate state."""
    return {label: diagram.state(label, -1) for label in ("prolate", "oblate")}


draw(diagram)
plt.show()

# %%
# Numbers
# -------
# Fold and transition from Kummer's functions and from Gauss quadrature in many digits, which agree; and points of
# both branches on the closed curve.

FOLD, TRANSITION = 6.73148639648335651, 6.81218848806855493


def distance(diagram: Diagram) -> float:
    """Return the largest distance in S between the branches and the closed form at the same concentration."""
    states = [diagram.state(label, point) for label in ("prolate", "oblate") for point in range(1, 20)]
    return max(abs(maier_saupe_state(s.coupling * s.moment(2)).order_parameter - s.moment(2)) for s in states)


def check(diagram: Diagram) -> None:
    """Compare with reference values."""
    (fold,) = diagram.events("fold")
    (transition,) = diagram.events("transition")
    assert abs(diagram.critical_coupling - 7.5) < 1e-13
    assert abs(fold.coupling - FOLD) < 1e-12
    assert abs(fold.m2 - 0.32359687690708) < 1e-7
    assert abs(transition.coupling - TRANSITION) < 1e-12
    assert abs(transition.m2 - 0.4290290257163) < 1e-11
    assert abs(maier_saupe_fold().ratio - FOLD) < 1e-14 * FOLD
    assert abs(maier_saupe_transition().ratio - TRANSITION) < 1e-14 * TRANSITION
    assert distance(diagram) < 1e-12
    assert not np.any(diagram.branch("oblate").stable)


check(diagram)
