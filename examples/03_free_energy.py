r"""
Continuous and discontinuous transitions
========================================

Stationary states are the critical points of the free energy

.. math::

    F[\rho] = D\int\rho\log\rho + \frac{\kappa}{2}\iint W(\theta-\theta')\,\rho\,\rho', \qquad
    \frac{dF}{d\kappa} = \frac12\sum_{k\ge 0} w_k m_k^2 \quad\text{along a branch.}

The minimum of :math:`F` over all densities is a concave function of the coupling. At :math:`\beta = 2` it
leaves the value of the uniform state with slope zero: a continuous transition. At :math:`\beta = 8` it does
so with a kink at :math:`\kappa_T < \kappa_1`: the order parameter jumps, and

.. math::

    \kappa_T \Bigl[\frac{d F}{d\kappa}\Bigr]_{\text{uniform}}^{\text{1-cluster}}
    = -D \int\rho\log(2\pi\rho).
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from meanfield import Branch, Circle, Diagram, McKeanVlasov, SpecialPoint, Transformer
from meanfield.energy import free_energy_parts
from solvers import bifurcation_diagram

# %%
# Parameters
# ----------

RANGES = {2.0: (0.7, 2.6), 8.0: (0.55, 1.5)}

# %%
# Problem and solution
# --------------------
# The derivative of the gap :math:`(F-F_0)/D` needs nothing but the moments of the states.


def compute() -> dict[float, Diagram]:
    """Compute one diagram for every inverse temperature."""
    return {
        beta: bifurcation_diagram(
            McKeanVlasov(Circle(), Transformer(beta=beta)), relative=relative, depth=1, rates=False
        )
        for beta, relative in RANGES.items()
    }


def slope(diagram: Diagram, cosine: np.ndarray) -> np.ndarray:
    """Return kappa_1 times the derivative of the gap, from moments of shape (..., n + 1)."""
    problem = diagram.problem
    multipliers = problem.potential.multipliers(problem.domain, cosine.shape[-1] - 1)[1:]
    return diagram.critical_coupling * cosine[..., 1:] ** 2 @ multipliers / (2 * problem.noise)


def minimum(diagram: Diagram) -> Branch:
    """Return the 1-cluster branch, which carries the minimum where it lies below zero."""
    return diagram.branch("1-cluster")


diagrams = compute()
(transition,) = diagrams[8.0].events("transition")
jump = slope(diagrams[8.0], transition.cosine) * transition.relative_coupling
print(f"kappa_T/kappa_1 = {transition.relative_coupling:.12f}, kappa_T times the slope jump = {jump:.6f}")

# %%
# Plot
# ----
# Above: the free energy of the uniform, 1-cluster and 2-cluster states; the wide grey line is the minimum.
# Below: its derivative, continuous on the left, with a jump on the right.


def draw(diagrams: dict[float, Diagram]) -> Figure:
    """Draw the free energy and the derivative of its minimum."""
    figure, axes = plt.subplots(2, 2, figsize=(8.4, 5.8), sharex="col", height_ratios=(3, 2), layout="constrained")
    for (beta, diagram), (upper, lower) in zip(diagrams.items(), axes.T, strict=True):
        relative, gap, derivative = envelope(diagram)
        draw_gap(upper, diagram, relative, gap)
        upper.set(title=rf"$\beta = {beta:g}$", xlabel="")
        lower.plot(relative, derivative, color="0.25", linewidth=1.5)
        lower.set(xlabel=r"$\kappa/\kappa_1$", xlim=RANGES[beta])
        lower.spines[["top", "right"]].set_visible(False)
        handles = upper.get_legend().legend_handles
        upper.get_legend().remove()
    axes[1, 0].set_ylabel(r"$\kappa_1\, \frac{d}{d\kappa}\,\min (F-F_0)/D$")
    axes[0, 1].set_ylabel("")
    inset = axes[0, 1].inset_axes((0.16, 0.08, 0.34, 0.5))
    draw_gap(inset, diagrams[8.0], relative, gap)
    inset.get_legend().remove()
    inset.set(xlim=(0.765, 1.02), ylim=(-0.06, 0.06), xlabel="", ylabel="")
    inset.tick_params(labelsize=7)
    least = Line2D([], [], color="0.82", linewidth=6, label="minimum")
    figure.legend(handles=[least, *handles], loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    return figure


def draw_gap(ax: plt.Axes, diagram: Diagram, relative: np.ndarray, gap: np.ndarray) -> None:
    """Draw the free energy of all branches over the minimum."""
    ax.plot(relative, gap, color="0.82", linewidth=6, solid_capstyle="round", zorder=1)
    diagram.plot("free_energy_gap", ax, labels=ax.get_subplotspec() is not None)


def envelope(diagram: Diagram) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return relative coupling, least gap and its derivative; the jump is drawn as a vertical piece."""
    branch = minimum(diagram)
    below = branch.free_energy_gap < 0
    points = diagram.events("transition", branch.label)
    onset = points[0].relative_coupling if points else 1.0
    slopes = slope(diagram, branch.cosine[below])
    start = slope(diagram, points[0].cosine) if points else 0.0
    first = diagram.branches[0].relative_coupling[0]
    relative = np.concatenate([[first, onset, onset], branch.relative_coupling[below]])
    gap = np.concatenate([[0.0, 0.0, 0.0], branch.free_energy_gap[below]])
    return relative, gap, np.concatenate([[0.0, 0.0, start], slopes])


draw(diagrams)
plt.show()

# %%
# Numbers
# -------
# The jump at :math:`\beta = 8` and the identity behind it, with the relative entropy integrated on its own;
# at :math:`\beta = 2` the gap is negative as soon as the branch exists.


def relative_entropy(diagram: Diagram, point: SpecialPoint) -> float:
    """Return the integral of rho log(2 pi rho)."""
    problem = diagram.problem.at(coupling=point.coupling)
    return free_energy_parts(problem, point.cosine).entropy / problem.noise + np.log(2 * np.pi)


def check(diagrams: dict[float, Diagram]) -> None:
    """Compare with reference values."""
    (transition,) = diagrams[8.0].events("transition")
    jump = slope(diagrams[8.0], transition.cosine) * transition.relative_coupling
    assert abs(jump + 1.304199) < 1e-6
    assert abs(jump + relative_entropy(diagrams[8.0], transition)) < 1e-11
    gentle = minimum(diagrams[2.0])
    assert not diagrams[2.0].events("transition")
    assert np.all(gentle.free_energy_gap[1:] < 0)
    assert np.all(gentle.relative_coupling[1:] > 1)


check(diagrams)
