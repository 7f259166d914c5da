r"""
Onsager's hard rods
===================

Long hard rods exclude each other from a volume that is smallest when they are parallel,
:math:`W = \lvert\sin\gamma\rvert` at the angle :math:`\gamma`. All even degrees attract, in falling strength,

.. math::

    \kappa_2 = \frac{32}{\pi}D, \qquad \kappa_4 = \frac{256}{\pi}D, \qquad \kappa_6 = \frac{4096}{5\pi}D ,
    \qquad \kappa = \frac{8c}{\pi}D \text{ at the concentration } c .

There is no closed form for the ordered states. As with Maier and Saupe, the branch passes through the uniform
state, :math:`\kappa/\kappa_2 = 1 - \frac57 S + \dots`, which is a matter of symmetry alone, and prolate states are
stable from their fold on. How fast do perturbations decay there? Rods that all point to one end of the axis feel no
force to turn, since the potential has no odd degrees; noise alone takes them across the equator, and the better the
order the longer that takes.

Equal free energy at one coupling is the transition at fixed concentration. Two phases of different concentrations
in contact are another question, of equal pressure and chemical potential, with other answers.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from meanfield import Diagram, MaierSaupe, McKeanVlasov, Onsager, Sphere
from meanfield.plotting import style_handles
from meanfield.theory import critical_couplings
from solvers import bifurcation_diagram

# %%
# Parameters
# ----------
# Beside it the potential of Maier and Saupe, which has the second degree only; couplings in units of
# :math:`\kappa_2`.

RANGE = (0.8, 1.6)
POTENTIALS = {"Onsager": Onsager(), "Maier and Saupe": MaierSaupe()}
COLOURS = {"Onsager": "#0072B2", "Maier and Saupe": "#D55E00"}

# %%
# Problem and solution
# --------------------


def compute() -> dict[str, Diagram]:
    """Compute the diagram of both potentials."""
    return {
        name: bifurcation_diagram(McKeanVlasov(Sphere(3), potential), relative=RANGE)
        for name, potential in POTENTIALS.items()
    }


diagrams = compute()
print(diagrams["Onsager"].summary())

# %%
# Plot
# ----
# The order parameter, the decay rate of the slowest perturbation of stable states, and prolate densities of
# Onsager's rods. The higher degrees make the transition more abrupt. Close to the fold the slowest perturbation
# changes the order; from the kink on it moves rods from one end to the other, and its rate falls exponentially.


def draw(diagrams: dict[str, Diagram]) -> Figure:
    """Draw the order parameter and the slowest rate of both, and densities of Onsager's rods."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11.6, 4.0), layout="constrained")
    for name, diagram in reversed(diagrams.items()):
        diagram.plot("p2", left, color=COLOURS[name], legend=False, labels=False)
        draw_rates(middle, diagram, COLOURS[name])
    left.set(
        ylim=(-0.5, 1.0), xlabel=r"$\kappa/\kappa_2$", ylabel=r"$S = \langle P_2(\cos\theta)\rangle$", xlim=RANGE
    )
    left.set_title("order parameter", fontsize=10)
    draw_densities(right, diagrams["Onsager"])
    add_key(figure)
    return figure


def draw_rates(ax: plt.Axes, diagram: Diagram, colour: str) -> None:
    """Draw the slowest rate of the uniform and of the stable prolate states."""
    for label, line in (("uniform", ":"), ("prolate", "-")):
        branch = diagram.branch(label)
        shown = np.flatnonzero(branch.stable)
        ax.plot(branch.relative_coupling[shown], branch.slowest_rate[shown], line, color=colour, linewidth=1.5)
    ax.set(xlim=RANGE, xlabel=r"$\kappa/\kappa_2$", ylabel=r"slowest rate, in units of $D$")
    ax.set(yscale="log", ylim=(1e-4, 3.0))
    ax.set_title("stable states: uniform (dotted), prolate (solid)", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)


def draw_densities(ax: plt.Axes, diagram: Diagram) -> None:
    """Draw prolate densities over the angle from the axis."""
    branch, angles = diagram.branch("prolate"), np.linspace(0.0, np.pi, 400)
    marks = (diagram.events("fold")[0].point, diagram.events("transition")[0].point)
    stable = np.flatnonzero(branch.stable)
    later = [stable[np.argmin(abs(branch.relative_coupling[stable] - ratio))] for ratio in (1.0, 1.2, 1.6)]
    points = [*marks, *map(int, later)]
    for point, shade in zip(points, plt.colormaps["viridis"](np.linspace(0.0, 0.85, len(points))), strict=True):
        values = diagram.state("prolate", point).relative_density(angles)
        ax.plot(angles, values, color=shade, label=f"{branch.relative_coupling[point]:.3f}")
    ax.axhline(1.0, color="0.7", linestyle=":", linewidth=1.0)
    ax.set(xlim=(0.0, np.pi), ylim=(0.0, None), xlabel=r"angle $\theta$ from the axis", ylabel=r"$\rho/\rho_0$")
    ax.set_xticks([0.0, np.pi / 2, np.pi], ["0", r"$\pi/2$", r"$\pi$"])
    ax.set_title("prolate densities, from the fold on", fontsize=10)
    ax.legend(title=r"$\kappa/\kappa_2$", frameon=False, fontsize=8, loc="upper center")
    ax.spines[["top", "right"]].set_visible(False)


def add_key(figure: Figure) -> None:
    """Explain colours, lines and markers below the panels."""
    handles = [Line2D([], [], color=colour, label=name) for name, colour in COLOURS.items()]
    handles += style_handles()
    figure.legend(handles=handles, loc="outside lower center", ncols=7, frameon=False, fontsize=8)


draw(diagrams)
plt.show()

# %%
# Numbers
# -------
# Fold and transition from an independent computation with Gauss quadrature; the free energy falls along a branch as
# the interaction says, :math:`\frac{d}{d\kappa}(F-F_0) = \frac12\sum_{l\ge1} w_l p_l^2`.


def slope_error(diagram: Diagram) -> float:
    """Return the error of the change of the free energy along the prolate branch against its integrated slope."""
    branch, start = diagram.branch("prolate"), diagram.events("transition")[0].point
    multipliers = diagram.problem.potential.multipliers(diagram.problem.domain, branch.cosine.shape[1] - 1)
    slopes = branch.cosine[start:, 1:] ** 2 @ multipliers[1:] / 2
    change = np.trapezoid(slopes, branch.coupling[start:])
    return abs(float(change / (branch.free_energy_gap[-1] - branch.free_energy_gap[start]) - 1))


def check(diagrams: dict[str, Diagram]) -> None:
    """Compare with reference values."""
    rods = diagrams["Onsager"]
    (fold,) = rods.events("fold")
    (transition,) = rods.events("transition")
    exact = np.array([32, 256, 4096 / 5]) / np.pi
    assert np.allclose(critical_couplings(rods.problem, 6)[2::2], exact, rtol=1e-14, atol=0)
    assert abs(fold.coupling - 8.8765804297958885) < 1e-12
    assert abs(transition.coupling - 9.0119727414812875) < 1e-12
    assert slope_error(rods) < 1e-3
    assert fold.relative_coupling < diagrams["Maier and Saupe"].events("fold")[0].relative_coupling
    assert not any(diagram.warnings for diagram in diagrams.values())


check(diagrams)
