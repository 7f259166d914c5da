r"""
Isotropic and nematic phases of a mixed interaction
===================================================

Rods on the ordinary sphere repel like those of Onsager, :math:`|\sin\gamma|`, and align like those of Maier and
Saupe, :math:`-\cos^2\gamma`. In the mixture :math:`a W_{MS} + W_O` both favour the same nematic order of degree 2,
whose branch is transcritical: the transition is of first order for every a, between a fold below and the threshold
:math:`\kappa_2(a)`, the limit of stability of the isotropic phase.
"""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from meanfield import MaierSaupe, McKeanVlasov, Onsager, PhaseDiagram, Sphere
from solvers import phase_diagram

# %%
# Parameters
# ----------
# At a = 0 the term leaves the sum, so the range begins beside it.

FACTOR = "maier_saupe_factor"
INTERVAL = (1e-6, 2.0)
WINDOW = (0.8, 1.1)

# %%
# Problem and solution
# --------------------


def solve() -> PhaseDiagram:
    """Return the phase diagram in the factor of Maier and Saupe's term and the relative coupling."""
    problem = McKeanVlasov(Sphere(3), 0.5 * MaierSaupe() + Onsager())
    return phase_diagram(problem, (FACTOR, INTERVAL), relative=WINDOW)


# %%
# Figure
# ------


def draw(diagram: PhaseDiagram) -> Figure:
    """Return a figure of the phase diagram."""
    figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    diagram.plot(ax)
    ax.set_xlabel("factor $a$ of Maier and Saupe's interaction")
    return figure


if __name__ == "__main__":
    phases = solve()
    print(phases.summary())
    draw(phases)
    plt.show()
