r"""
Transformers in many dimensions
===============================

On the sphere of :math:`\mathbb R^d` uniform tokens are nearly orthogonal: the angle :math:`\theta` between two of
them has the density :math:`\propto \sin^{d-2}\theta`. Attention gains up to :math:`e^\beta` by gathering them, and
pays with an entropy that grows with the dimension. The uniform density stays stable up to

.. math::

    \kappa_1 = D\,\frac{(\beta/2)^{d/2}}{\Gamma(d/2)}\,\frac{2}{I_{d/2}(\beta)} \approx d\,D ,
    \qquad \beta \ll d ,

while clusters exist from couplings on that are smaller by orders of magnitude. At :math:`\beta = 9` the interval in
which both are stable spans a factor 2 on the ordinary sphere and two decades for :math:`d = 32`. The
branch between, the states on the threshold of gathering, is unstable in one direction, and in many dimensions it
folds back and forth at small order: there it is unstable in two.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln, hyp0f1, ive, roots_gegenbauer

from meanfield import Diagram, McKeanVlasov, Sphere, Transformer
from meanfield.plotting import style_handles
from solvers import bifurcation_diagram

# %%
# Parameters
# ----------

BETA = 9.0
DIMENSIONS = (3, 8, 16, 32)
RANGE = (2e-3, 1.02)
COLOURS = dict(zip(DIMENSIONS, plt.colormaps["viridis"]((0.0, 0.3, 0.55, 0.8)), strict=True))

# %%
# Problem and solution
# --------------------
# A zonal density is expanded in as many degrees as it takes: a few dozen for most, thousands for the
# most concentrated. Where more than the largest basis is needed, the branch ends with a warning.


def compute() -> dict[int, Diagram]:
    """Compute the diagram in every dimension."""
    return {dimension: clustered(dimension) for dimension in DIMENSIONS}


def clustered(dimension: int) -> Diagram:
    """Return the uniform branch and that of one cluster; prolate ones, which reach as far, are left out."""
    problem = McKeanVlasov(Sphere(dimension), Transformer(BETA))
    diagram = bifurcation_diagram(problem, relative=RANGE, depth=1, rates=False)
    events = tuple(event for event in diagram.events() if event.branch < 2)
    return replace(diagram, branches=diagram.branches[:2], special_points=events)


diagrams = compute()
print(diagrams[32].summary())

# %%
# Plot
# ----
# On the left the order parameter over decades of the coupling. On the right, at equal free energy, the angle of a
# token from the axis: in the uniform state (dotted) and in the cluster (solid). They have ever less in common.


def draw(diagrams: dict[int, Diagram]) -> Figure:
    """Draw the order parameter and the law of the angle at equal free energy."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.4), layout="constrained")
    for dimension, diagram in diagrams.items():
        diagram.plot("p1", left, color=COLOURS[dimension], legend=False, labels=False)
        draw_laws(right, diagram, dimension)
    left.axhline(0.0, color="black", linewidth=1.5, zorder=2.5)
    left.set(xscale="log", xlim=RANGE, ylim=(-0.03, 1.03))
    right.set(xlim=(0.0, np.pi), ylim=(0.0, None), xlabel=r"angle $\theta$ from the axis")
    right.set(ylabel="probability density of the angle")
    right.set_xticks(
        [0.0, np.pi / 4, np.pi / 2, 3 * np.pi / 4, np.pi], ["0", r"$\pi/4$", r"$\pi/2$", r"$3\pi/4$", r"$\pi$"]
    )
    right.spines[["top", "right"]].set_visible(False)
    add_key(figure)
    return figure


def draw_laws(ax: plt.Axes, diagram: Diagram, dimension: int) -> None:
    """Draw the laws of the angle from the axis in the uniform and in the clustered state of equal energy."""
    angles = np.linspace(1e-6, np.pi - 1e-6, 1200)
    point = diagram.events("transition")[0].point
    norm = 0.5 * np.log(np.pi) + gammaln((dimension - 1) / 2) - gammaln(dimension / 2)
    uniform = np.exp((dimension - 2) * np.log(np.sin(angles)) - norm)
    cluster = diagram.state("zonal 1", point).relative_density(angles) * uniform
    ax.plot(angles, uniform, ":", color=COLOURS[dimension], linewidth=1.4)
    ax.plot(angles, cluster, color=COLOURS[dimension], linewidth=1.5)


def add_key(figure: Figure) -> None:
    """Explain colours, lines and markers below the panels."""
    handles = [Line2D([], [], color=colour, label=f"$d = {d}$") for d, colour in COLOURS.items()]
    handles += style_handles()
    figure.legend(handles=handles, loc="outside lower center", ncols=9, frameon=False, fontsize=8)


draw(diagrams)
plt.show()

# %%
# Numbers
# -------
# The folds, computed without polynomials or Newton's method: with the kernel of zonal densities,
#
# .. math:: \frac{1}{\beta}\,e^{\beta uv}\;{}_0F_1\Bigl(;\tfrac{d-1}{2};\tfrac{\beta^2}{4}(1-u^2)(1-v^2)\Bigr) ,
#
# on Gauss nodes, Gibbs' map is iterated at fixed order parameter, and the coupling that belongs to it minimised.


def fold_without_newton(dimension: int) -> float:
    """Return the coupling of the fold of the clustered branch."""
    nodes, weights = roots_gegenbauer(300, (dimension - 2) / 2)
    products = np.outer(1 - nodes**2, 1 - nodes**2)
    kernel = np.exp(BETA * (np.outer(nodes, nodes) - 1)) / BETA
    kernel *= hyp0f1((dimension - 1) / 2, BETA**2 * products / 4)

    def coupling(order: float) -> float:
        field = nodes
        for _ in range(40):
            strength = brentq(excess, 0.0, 1e7, (field, order), xtol=1e-9, rtol=1e-15)
            field = kernel @ tilted(strength, field)
        return float(strength * np.exp(-BETA))

    def excess(strength: float, field: np.ndarray, order: float) -> float:
        return float(tilted(strength, field) @ nodes - order)

    def tilted(strength: float, field: np.ndarray) -> np.ndarray:
        density = weights * np.exp(strength * (field - field.max()))
        return density / density.sum()

    return float(minimize_scalar(coupling, bracket=(0.9, 0.945, 0.97), options={"xtol": 1e-9}).fun)


def threshold(dimension: int) -> float:
    """Return kappa_1."""
    half = dimension / 2
    return 2 * np.exp(half * np.log(BETA / 2) - gammaln(half) - BETA) / ive(half, BETA)


def check(diagrams: dict[int, Diagram]) -> None:
    """Compare with reference values."""
    for dimension, diagram in diagrams.items():
        assert abs(diagram.critical_coupling / threshold(dimension) - 1) < 1e-11
    folds = {d: diagram.events("fold")[-1] for d, diagram in diagrams.items()}
    for dimension in (8, 16, 32):
        assert abs(folds[dimension].coupling / fold_without_newton(dimension) - 1) < 1e-11
    assert [len(diagrams[d].events("fold")) for d in DIMENSIONS] == [1, 1, 1, 3]
    assert [fold.unstable_after for fold in diagrams[32].events("fold")] == [2, 1, 0]
    # Branches that the depth or the interval leaves out are warned of; none was left before its end.
    assert not any("was left" in text for diagram in diagrams.values() for text in diagram.warnings)


check(diagrams)
