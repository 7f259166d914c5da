r"""
The noisy transformer on the sphere
===================================

On the unit sphere of :math:`\mathbb R^3`, where tokens live after normalisation, the potential
:math:`W(x,y) = -\frac1\beta e^{\beta\langle x,y\rangle}` acts on the harmonics of degree :math:`l` as a number, its
multiplier (Funk and Hecke), and the uniform density loses stability to degree one at

.. math::

    \kappa_1 = D\sqrt{\frac{2}{\pi}}\,\frac{\beta^{3/2}}{I_{3/2}(\beta)}, \qquad \kappa_1 = e\,D
    \quad\text{for } \beta = 1 .

With :math:`p_1 = \langle\cos\theta\rangle` about the axis of the cluster and
:math:`r = I_{5/2}(\beta)/I_{3/2}(\beta)`,

.. math:: \frac{\kappa}{\kappa_1} = 1 + c\,p_1^2 + O(p_1^4), \qquad c = \frac35\,\frac{1-3r}{1-r} .

Up to :math:`\beta^* = 1.8162`, where :math:`r = \frac13`, the cluster grows continuously out of the uniform state.
Beyond, it appears at a distance, and between the fold and :math:`\kappa_1` both are stable.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from meanfield import Diagram, McKeanVlasov, Sphere, State, Transformer
from meanfield.plotting import style_handles
from meanfield.theory import branch_shape, tricritical_beta
from solvers import bifurcation_diagram, spectrum, stationary_states

# %%
# Parameters
# ----------
# One inverse temperature on each side of :math:`\beta^*`. Couplings are in units of :math:`\kappa_1`.

BETAS = (1.0, 3.0)
RANGE = (0.85, 1.5)

# %%
# Problem and solution
# --------------------
# The branch consists of densities that are symmetric about an axis, and is computed among those; its stability is
# that against all perturbations.


def compute() -> dict[float, Diagram]:
    """Compute the diagram of every inverse temperature."""
    return {beta: bifurcation_diagram(problem(beta), relative=RANGE, depth=1, rates=False) for beta in BETAS}


def problem(beta: float) -> McKeanVlasov:
    """Return the noisy transformer on the ordinary sphere with D = 1."""
    return McKeanVlasov(Sphere(3), Transformer(beta=beta))


diagrams = compute()
print(diagrams[3.0].summary())
print(f"beta* = {tricritical_beta(1, Sphere(3)):.12f}")

# %%
# Plot
# ----
# Above: the order parameter, with the parabola of the onset (dotted). Middle: the free energy of the same states.
# Below: stable states at :math:`\beta = 3`, from the fold on, the density in units of the uniform one.


def draw(diagrams: dict[float, Diagram]) -> Figure:
    """Draw order parameter and free energy for the inverse temperatures, and three states."""
    figure = plt.figure(figsize=(8.4, 8.2), layout="constrained")
    curves, globes = figure.subfigures(2, 1, height_ratios=(2.3, 1.0))
    axes = curves.subplots(2, 2, sharex=True, sharey="row")
    for (beta, diagram), (upper, lower) in zip(diagrams.items(), axes.T, strict=True):
        diagram.plot("p1", upper, legend=False, labels=False)
        diagram.plot("free_energy_gap", lower, legend=False, labels=False)
        draw_onset(upper, diagram)
        upper.set(title=rf"$\beta = {beta:g}$", xlabel="", xlim=RANGE, ylim=(-0.05, 1.0))
    for ax in axes[:, 1]:
        ax.set_ylabel("")
    axes[1, 0].set_ylim(-1.9, 0.25)
    enlarge(axes[1, 1], diagrams[3.0])
    add_key(curves)
    for ax, (name, state) in zip(globes.subplots(1, 3), chosen(diagrams[3.0]).items(), strict=True):
        state.plot_globe(ax)
        ax.set_title(name, fontsize=10)
    return figure


def draw_onset(ax: plt.Axes, diagram: Diagram) -> None:
    """Draw the parabola of the onset."""
    heights = np.linspace(0.0, 0.5, 60)
    curvature = branch_shape(diagram.problem, 1).curvature
    ax.plot(1.0 + curvature * heights**2, heights, ":", color="0.45", linewidth=1.4, zorder=1.5)


def enlarge(ax: plt.Axes, diagram: Diagram) -> None:
    """Show the exchange of the minimum in an inset."""
    inset = ax.inset_axes((0.17, 0.14, 0.38, 0.46))
    diagram.plot("free_energy_gap", inset, legend=False, labels=False)
    inset.set(xlim=(0.89, 1.02), ylim=(-0.06, 0.04), xlabel="", ylabel="")
    inset.tick_params(labelsize=7)


def chosen(diagram: Diagram) -> dict[str, State]:
    """Return the states at the fold, at equal free energy and at the end, by name."""
    points = {kind: diagram.events(kind, "zonal 1")[0].point for kind in ("fold", "transition")}
    couplings = diagram.branch("zonal 1").relative_coupling
    names = {
        rf"fold, $\kappa = {couplings[points['fold']]:.4f}\,\kappa_1$": points["fold"],
        rf"equal free energy, $\kappa = {couplings[points['transition']]:.4f}\,\kappa_1$": points["transition"],
        rf"$\kappa = {couplings[-1]:g}\,\kappa_1$": -1,
    }
    return {name: diagram.state("zonal 1", point) for name, point in names.items()}


def add_key(figure: Figure) -> None:
    """Explain colours, lines and markers below the panels."""
    colours = {"uniform": "#000000", "cluster": "#0072B2"}
    handles = [Line2D([], [], color=colour, label=label) for label, colour in colours.items()]
    grey = {"color": "0.3"}
    handles += [Line2D([], [], linestyle=":", label=r"$1 + c\,p_1^2$", **grey)]
    handles += style_handles()
    figure.legend(handles=handles, loc="outside lower center", ncols=8, frameon=False, fontsize=8)


draw(diagrams)
plt.show()

# %%
# Numbers
# -------
# Fold and transition at :math:`\beta = 3`, computed independently from moments in many digits. At :math:`\beta = 1`
# and twice the critical coupling, perturbations decay at rates that depend on how often they oscillate around the
# axis, :math:`\cos m\varphi`; rotation, one of those of order one, is not among them.

RATES = (4.8152004237299, 8.5787764465392, 12.746609465557)


def rates() -> tuple[float, ...]:
    """Return the slowest rates of azimuthal order 0, 1 and 2 at beta = 1 and twice the critical coupling."""
    cluster = stationary_states(problem(1.0).at(coupling=2.0 * np.e))[0]
    return tuple(-float(sector[0]) for sector in spectrum(cluster).sectors[:3])


def check(diagrams: dict[float, Diagram]) -> None:
    """Compare with reference values."""
    assert abs(diagrams[1.0].critical_coupling / np.e - 1) < 1e-14
    assert not diagrams[1.0].events("fold")
    assert not diagrams[1.0].events("transition")
    (fold,) = diagrams[3.0].events("fold")
    (transition,) = diagrams[3.0].events("transition")
    assert abs(fold.coupling - 1.20844752878) < 1e-11
    assert abs(fold.m1 - 0.637903490) < 1e-8
    assert abs(transition.coupling - 1.23374439459) < 1e-11
    assert abs(transition.m1 - 0.762264211) < 1e-9
    assert abs(branch_shape(problem(3.0), 1).curvature + 0.5478800) < 1e-7
    assert np.allclose(rates(), RATES, rtol=1e-10, atol=0)
    assert not any(diagram.warnings for diagram in diagrams.values())


check(diagrams)
