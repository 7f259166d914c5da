r"""
Bifurcation diagram of the noisy transformer
============================================

Tokens on the circle that attend to each other with inverse temperature :math:`\beta` and are perturbed by
noise :math:`D` follow, in the mean-field limit,

.. math::

    \partial_t\rho = \partial_\theta\bigl( D\,\partial_\theta\rho
        + \kappa\,\rho\,\partial_\theta (W*\rho) \bigr),
    \qquad W(t) = -\frac{1}{\beta} e^{\beta\cos t}.

The uniform density loses stability to one cluster at :math:`\kappa_1 = \beta D/I_1(\beta)`. Up to
:math:`\beta^*_1 = 2.4469` the cluster appears gradually. Beyond it the branch bends backwards, so that a
clustered and the uniform state are both stable between the fold and :math:`\kappa_1`; they exchange the
minimum of the free energy at :math:`\kappa_T`, in between. Branches of two and three clusters leave later and
are unstable.
"""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from meanfield import Circle, Diagram, McKeanVlasov, Transformer
from solvers import bifurcation_diagram

# %%
# Parameters
# ----------
# Two inverse temperatures below :math:`\beta^*_1` (the second one barely) and two above it. Couplings are
# measured in units of :math:`\kappa_1`.

BETAS = (1.0, 2.4469, 3.0, 5.0)
RANGE = (0.8, 2.6)
MOMENTS = ("m1", "m2", "m3")

# %%
# Problem and solution
# --------------------
# One call follows the uniform branch, every branch that leaves it and every branch that leaves those.


def compute() -> dict[float, Diagram]:
    """Compute the diagram of every inverse temperature."""
    return {beta: diagram(Transformer(beta=beta)) for beta in BETAS}


def diagram(potential: Transformer) -> Diagram:
    """Compute one diagram; the decay rates are not needed here."""
    return bifurcation_diagram(McKeanVlasov(Circle(), potential), relative=RANGE, rates=False)


diagrams = compute()
print(diagrams[5.0].summary())

# %%
# Plot
# ----
# Solid lines are stable, dashed ones unstable. The insets enlarge the neighbourhood of the fold (square),
# where the diamond marks equal free energy.


def draw(diagrams: dict[float, Diagram]) -> Figure:
    """Draw three moments in rows and the inverse temperatures in columns."""
    figure, axes = plt.subplots(3, 4, figsize=(10.0, 6.6), sharex=True, sharey=True, layout="constrained")
    for column, (beta, diagram) in enumerate(diagrams.items()):
        for row, moment in enumerate(MOMENTS):
            ax = diagram.plot(moment, axes[row, column], legend=False, labels=False)
            if row < 2:
                ax.set_xlabel("")
            if column > 0:
                ax.set_ylabel("")
        axes[0, column].set_title(rf"$\beta = {beta:g}$")
    axes[0, 0].set_ylim(-0.06, 1.04)
    for column, lower in ((2, 0.975), (3, 0.86)):
        enlarge(axes[0, column], diagrams[BETAS[column]], lower)
    add_key(figure, axes[0, 3])
    return figure


def enlarge(ax: plt.Axes, diagram: Diagram, lower: float) -> None:
    """Show the fold and the transition in an inset."""
    inset = ax.inset_axes((0.42, 0.2, 0.54, 0.5))
    diagram.plot("m1", inset, legend=False, labels=False)
    inset.set(xlim=(lower, 1.0 + 0.3 * (1.0 - lower)), ylim=(-0.06, 0.94), xlabel="", ylabel="")
    inset.tick_params(labelsize=7)


def add_key(figure: Figure, ax: plt.Axes) -> None:
    """Explain lines and markers below the panels."""
    from matplotlib.lines import Line2D

    colours = {"uniform": "#000000", "1-cluster": "#0072B2", "2-cluster": "#D55E00", "3-cluster": "#009E73"}
    handles = [Line2D([], [], color=colour, label=label) for label, colour in colours.items()]
    grey = {"color": "0.3"}
    handles += [Line2D([], [], linestyle="-", label="stable", **grey)]
    handles += [Line2D([], [], linestyle=(0, (4.0, 2.0)), label="unstable", **grey)]
    hollow = {"linestyle": "none", "markerfacecolor": "white", **grey}
    for marker, label in (("o", "branch point"), ("s", "fold"), ("D", r"$\kappa_T$")):
        handles.append(Line2D([], [], marker=marker, label=label, **hollow))
    figure.legend(handles=handles, loc="outside lower center", ncols=9, frameon=False, fontsize=8)


draw(diagrams)
plt.show()

# %%
# Numbers
# -------
# For :math:`\beta = 5`, computed independently with 30 digits: critical couplings, fold and transition.


def check(diagrams: dict[float, Diagram]) -> None:
    """Compare with reference values."""
    (fold,) = diagrams[5.0].events("fold")
    (transition,) = diagrams[5.0].events("transition")
    births = [point.relative_coupling for point in diagrams[5.0].events("branch point", "uniform")]
    assert abs(fold.relative_coupling - 0.89701509340337279) < 1e-12
    assert abs(fold.m1 - 0.61419362601933232) < 1e-9
    assert abs(transition.coupling - 0.18797582658066) < 1e-13
    assert all(
        abs(found / exact - 1) < 1e-12
        for found, exact in zip(births, (1.0, 1.3901620816434, 2.3555598112509), strict=True)
    )
    assert not any(diagrams[beta].events("fold") for beta in (1.0, 2.4469))
    # At beta = 5 three modes are critical, and search=True would look for branches that none of these leads to.
    assert not diagrams[1.0].warnings
    assert all("(--search)" in warning for warning in diagrams[5.0].warnings)


check(diagrams)
