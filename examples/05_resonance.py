r"""
The 1:2 resonance
=================

Two modes compete in

.. math::

    W(t) = -\cos t - a\cos 2t, \qquad \kappa_1 = 2D, \qquad \kappa_2 = 2D/a .

For :math:`a < 1` one cluster is born first, subcritically when :math:`a > 1/2`. For :math:`a > 1` two
clusters are born first, and a branch of one cluster leaves them at a secondary bifurcation where
:math:`\kappa(1+m_2) = 2D` with :math:`m_2 = I_1(x)/I_0(x)`, :math:`x = \kappa a m_2/D`. At :math:`a = 1` both
leave the uniform state at the same coupling :math:`\kappa_c(1+\delta)`, and the one-cluster branch is
transcritical:

.. math::

    m_1 = \pm\sqrt2\,|\delta| + O(\delta^2), \qquad m_2 = -\delta + O(\delta^2) .
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.optimize import brentq
from scipy.special import ive

from meanfield import Circle, CosineSeries, Diagram, McKeanVlasov
from meanfield.plotting import style_handles
from meanfield.theory import resonance
from solvers import bifurcation_diagram

# %%
# Parameters
# ----------

RATIOS = (0.9, 1.0, 1.1)
RANGE = (1.3, 2.6)

# %%
# Problem and solution
# --------------------
# The couplings are absolute here: :math:`\kappa_1 = 2` for all three with :math:`D = 1`.


def compute() -> dict[float, Diagram]:
    """Compute the diagram of every ratio."""
    return {
        ratio: bifurcation_diagram(McKeanVlasov(Circle(), CosineSeries((-1.0, -ratio))), RANGE, rates=False)
        for ratio in RATIOS
    }


diagrams = compute()
for ratio in RATIOS:
    print(diagrams[ratio].summary(), end="\n\n")

# %%
# Plot
# ----
# First moment above, second moment below. The solver reports one state of every family of rotations; its
# mirror images, :math:`m_1\to-m_1` of one cluster and :math:`m_2\to-m_2` of two, are added to complete the
# picture.

COLOURS = {0: "#000000", 1: "#0072B2", 2: "#D55E00"}
NAMES = {0: "uniform", 1: "1 cluster", 2: "2 clusters"}


def draw(diagrams: dict[float, Diagram]) -> Figure:
    """Draw two moments in rows and the ratios in columns."""
    figure, axes = plt.subplots(2, 3, figsize=(9.6, 7.0), sharey="row", layout="constrained")
    for column, (ratio, diagram) in enumerate(diagrams.items()):
        for row, moment in enumerate(("m1", "m2")):
            draw_both(axes[row, column], diagram, moment)
        axes[0, column].set(title=rf"$w_2/w_1 = {ratio:g}$", xlabel="")
    for ax in axes[:, 1:].flat:
        ax.set_ylabel("")
    inset = axes[0, 2].inset_axes((0.6, 0.69, 0.38, 0.19))
    draw_both(inset, diagrams[1.1], "m1")
    inset.set(xlim=(0.994, 1.012), ylim=(-0.06, 0.06), xlabel="", ylabel="")
    inset.tick_params(labelsize=7)
    add_key(figure)
    return figure


def draw_both(ax: plt.Axes, diagram: Diagram, moment: str) -> None:
    """Draw all branches and their mirror images, coloured by symmetry."""
    for index, branch in reversed(list(enumerate(diagram.branches))):
        for sign in (1.0, -1.0):
            one = single(diagram, index, sign)
            one.plot(moment, ax, color=COLOURS[branch.symmetry], legend=False, labels=False)
    ax.set_ylim(-1.03, 1.03)


def single(diagram: Diagram, index: int, sign: float) -> Diagram:
    """Return the diagram with one branch only, as it is or rotated by half its period."""
    branch = diagram.branches[index]
    period = max(branch.symmetry, 1)
    factors = np.where(np.arange(branch.cosine.shape[1]) // period % 2, sign, 1.0)
    events = [
        replace(e, branch=0, cosine=e.cosine * factors[: e.cosine.size])
        for e in diagram.events()
        if e.branch == index
    ]
    return replace(
        diagram, branches=(replace(branch, cosine=branch.cosine * factors),), special_points=tuple(events)
    )


def add_key(figure: Figure) -> None:
    """Explain colours, lines and markers below the panels."""
    handles = [Line2D([], [], color=COLOURS[symmetry], label=name) for symmetry, name in NAMES.items()]
    handles += style_handles()
    figure.legend(handles=handles, loc="outside lower center", ncols=8, frameon=False, fontsize=9)


draw(diagrams)
plt.show()

# %%
# Numbers
# -------
# The secondary bifurcation from the equation above, the folds from the two fixed-point equations and their
# determinant with 30 digits, and the slopes of the transcritical branch.


FOLDS = {0.9: 1.79512307814656917, 1.0: 1.72846021877044018, 1.1: 1.66400569099200080}


def secondary(ratio: float) -> float:
    """Return the coupling of the secondary bifurcation on the 2-cluster branch, for D = 1 and a > 1."""

    def excess(coupling: float) -> float:
        moment = 2 / coupling - 1
        argument = coupling * ratio * moment
        return float(ive(1, argument) / ive(0, argument) - moment)

    return float(brentq(excess, 2 / ratio * (1 + 1e-9), 2 - 1e-9, xtol=1e-15, rtol=1e-14))


def transcritical(diagram: Diagram) -> tuple[float, float]:
    """Return |m_1/delta| and m_2/delta interpolated to where one cluster passes through uniform."""
    sides = [branch for branch in diagram.branches if branch.symmetry == 1]
    assert len(sides) == 2
    beside = slice(1, 6)
    detuning = np.concatenate([side.relative_coupling[beside] - 1 for side in sides])
    moments = [np.concatenate([side.moment(k)[beside] for side in sides]) for k in (1, 2)]
    first, second = (np.polyfit(detuning, moment / detuning, detuning.size - 1)[-1] for moment in moments)
    return abs(float(first)), float(second)


def check(diagrams: dict[float, Diagram]) -> None:
    """Compare with reference values."""
    for ratio, exact in FOLDS.items():
        (fold,) = diagrams[ratio].events("fold")
        assert abs(fold.coupling / exact - 1) < 1e-12
    born = [e.coupling for e in diagrams[1.1].events("branch point", "2-cluster")]
    assert len(born) == 1
    assert abs(born[0] / secondary(1.1) - 1) < 1e-12
    for found, exact in zip(
        transcritical(diagrams[1.0]), resonance(diagrams[1.0].problem, 1, 2).mixed_slopes(), strict=True
    ):
        assert abs(found / exact - 1) < 1e-6


check(diagrams)
