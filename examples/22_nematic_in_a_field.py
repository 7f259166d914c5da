r"""
A nematic in a field
====================

Molecules on the ordinary sphere align by Maier and Saupe's interaction :math:`-P_2(\cos\gamma)` in the field
:math:`h P_2(\cos\theta)`. For h < 0 it favours its axis: weak and strong order along it are separated by a line
of first order that ends in a critical point. For h > 0 it drives molecules towards the equator, and beyond a
line they choose a direction there, which breaks the axis: states of symmetry :math:`D_{2h}`. The transition is
continuous in a strong field, of first order in a weak one, and turns at a tricritical point (Frisken,
Bergersen, Palffy-Muhoray, Molecular Crystals and Liquid Crystals 148 (1987) 45). At h = 0 the two orders
exchange, as one may be turned into the other, from the isotropic-nematic transition on, a triple point.
"""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from meanfield import GegenbauerSeries, McKeanVlasov, PhaseDiagram, Sphere
from solvers import phase_diagram

# %%
# Parameters
# ----------

FIELD = "confinement_w2"
INTERVAL = (-0.1, 0.4)
WINDOW = (4.0, 5.2)

# %%
# Problem and solution
# --------------------


def solve() -> PhaseDiagram:
    """Return the phase diagram in the field and the coupling, the free strength of the interaction."""
    interaction, field = GegenbauerSeries((0.0, -1.0)), GegenbauerSeries((0.0, 0.1))
    return phase_diagram(
        McKeanVlasov(Sphere(3), interaction, confinement=field), (FIELD, INTERVAL), coupling=WINDOW
    )


# %%
# Figure
# ------


def draw(diagram: PhaseDiagram) -> Figure:
    """Return a figure of the phase diagram."""
    figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    diagram.plot(ax)
    ax.set_xlabel("field $h$")
    return figure


if __name__ == "__main__":
    phases = solve()
    print(phases.summary())
    draw(phases)
    plt.show()
