r"""
How many modes of the potential matter
======================================

The potential of the noisy transformer has all modes, :math:`W = -\tfrac1\beta e^{\beta\cos t}` with

.. math::

    W(t) = \sum_{k\ge0} w_k\cos kt, \qquad w_k = -\frac{2}{\beta} I_k(\beta), \qquad
    \rho = \frac1Z\exp\Bigl(-\frac{\kappa}{D} \sum_{k=1}^{K} w_k m_k\cos k\theta\Bigr)

for a symmetric stationary state. What happens if only the first :math:`K` modes are kept? At :math:`\beta =
8` eight modes give the states of the full potential to the eye. At :math:`\beta = 20` the clusters are
narrower, the modes decay slowly, and two or four of them do not suffice. A state of :math:`n` clusters needs
mode :math:`n`, so that two modes cannot hold three clusters at all.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from meanfield import Circle, CosineSeries, McKeanVlasov, Potential, State, Transformer
from meanfield.theory import critical_couplings
from solvers import bifurcation_diagram

# %%
# Parameters
# ----------
# The coupling is a little above the third critical one of the full potential, where all three branches exist.

BETAS = (8.0, 20.0)
KEPT = (2, 4, 8, None)
CLUSTERS = (1, 2, 3)
BEYOND = 1.05

# %%
# Problem and solution
# --------------------
# The diagram is traced up to the coupling in question; each branch that arrives there is a state.


def truncated(beta: float, kept: int | None) -> Potential:
    """Return the potential with its first modes only, or with all of them."""
    full = Transformer(beta=beta)
    if kept is None:
        return full
    return CosineSeries(tuple(float(w) for w in full.multipliers(Circle(), kept)[1:]))


def chosen_coupling(beta: float) -> float:
    """Return the coupling at which the states are compared."""
    return BEYOND * float(critical_couplings(McKeanVlasov(Circle(), Transformer(beta=beta)), 3)[3])


def states(beta: float, kept: int | None) -> dict[int, State]:
    """Return the state of every number of clusters, the most concentrated one where there are several."""
    coupling = chosen_coupling(beta)
    diagram = bifurcation_diagram(
        McKeanVlasov(Circle(), truncated(beta, kept)), (0.3 * coupling, coupling), depth=1, rates=False
    )
    found: dict[int, State] = {}
    for event in diagram.events("endpoint"):
        branch = diagram.branches[event.branch]
        if abs(event.coupling / coupling - 1) > 1e-12 or branch.symmetry not in CLUSTERS:
            continue
        state = diagram.state(event.branch, event.point)
        rival = found.get(branch.symmetry)
        if rival is None or state.order_parameter(branch.symmetry) > rival.order_parameter(branch.symmetry):
            found[branch.symmetry] = state
    return found


found = {(beta, kept): states(beta, kept) for beta in BETAS for kept in KEPT}

# %%
# Plot
# ----
# One row an inverse temperature, one column a number of clusters.


def draw(found: dict[tuple[float, int | None], dict[int, State]]) -> Figure:
    """Draw the densities, one colour a number of modes kept."""
    figure, axes = plt.subplots(2, 3, figsize=(9.6, 5.4), sharex="col", layout="constrained")
    for (beta, kept), by_clusters in found.items():
        for clusters, state in by_clusters.items():
            draw_density(axes[BETAS.index(beta), clusters - 1], state, kept)
    for row, beta in enumerate(BETAS):
        axes[row, 0].set_ylabel(rf"$\beta = {beta:g}$" + "\n" + r"$\rho(\theta)$")
    for column, clusters in enumerate(CLUSTERS):
        axes[0, column].set_title(f"{clusters} cluster" + "s" * (clusters > 1), fontsize=10)
    for ax in axes.flat:
        ax.set_ylim(0.0, 1.06 * max(np.max(line.get_ydata()) for line in ax.get_lines()))
        ax.set_xlabel(r"$\theta$" if ax in axes[1] else "")
        if ax not in axes[:, 0]:
            ax.set_ylabel("")
    axes[0, 0].set_xlim(-np.pi / 3, np.pi / 3)
    axes[0, 0].set_xticks([-np.pi / 4, 0, np.pi / 4], [r"$-\pi/4$", "0", r"$\pi/4$"])
    handles = axes[0, 0].get_legend_handles_labels()[0]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return figure


def draw_density(ax: plt.Axes, state: State, kept: int | None) -> None:
    """Draw one density."""
    colours = {2: "#E69F00", 4: "#009E73", 8: "#0072B2", None: "0.6"}
    text = "all modes" if kept is None else f"{kept} modes"
    width = 3.6 if kept is None else 1.3
    state.plot(ax, color=colours[kept], linewidth=width, zorder=1.5 if kept is None else 2.0, label=text)


draw(found)
plt.show()

# %%
# Numbers
# -------
# Every state solves its fixed-point equation, no three clusters arise from two modes, and the order
# parameters of the truncations approach those of the full potential.


def error(beta: float, kept: int, clusters: int) -> float:
    """Return the error of the order parameter that truncation causes."""
    full = found[beta, None][clusters].order_parameter(clusters)
    return abs(found[beta, kept][clusters].order_parameter(clusters) - full)


def mismatch(state: State) -> float:
    """Return the largest error of the moments m_1..m_8 in the fixed-point equation, by direct integration."""
    angles = np.linspace(-np.pi, np.pi, 4096, endpoint=False)
    waves = np.cos(np.outer(np.arange(state.cosine.size), angles))
    multipliers = state.problem.potential.multipliers(Circle(), state.cosine.size - 1)
    exponent = -state.coupling / state.problem.noise * (multipliers[1:] * state.cosine[1:]) @ waves[1:]
    weights = np.exp(exponent - exponent.max())
    return float(np.abs(waves[:9] @ weights / weights.sum() - state.cosine[:9]).max())


def check() -> None:
    """Compare with direct integration and with what truncation must do."""
    assert all(mismatch(state) < 1e-11 for by_clusters in found.values() for state in by_clusters.values())
    assert all(3 not in found[beta, 2] for beta in BETAS)
    assert all(set(found[beta, None]) == set(CLUSTERS) for beta in BETAS)


for beta in BETAS:
    for kept in KEPT:
        text = ", ".join(
            f"m_{n} = {state.order_parameter(n):.6f}" for n, state in sorted(found[beta, kept].items())
        )
        print(f"beta = {beta:g}, modes kept: {kept or 'all'}: {text}")
check()
