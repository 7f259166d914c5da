r"""
The cusp of three modes
=======================

With three modes, :math:`W = -\cos t - 0.4\cos 2t - b\cos 3t`, the branch of the cluster begins continuously, and
yet for large b it folds over: two clusters, one weak and one strong, are stable at once, with a first-order line
between them. The two folds end in each other in a cusp, where the third cumulant of the critical direction
vanishes.
"""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from meanfield import Circle, CosineSeries, Diagram, McKeanVlasov, PhaseDiagram
from solvers import bifurcation_diagram, phase_diagram

# %%
# Parameters
# ----------

COEFFICIENTS = (-1.0, -0.4, -0.5)
INTERVAL = (-0.9, -0.3)
COUPLINGS = (1.8, 2.1)
SHOWN = (-0.5, -0.62, -0.8)

# %%
# Problem and solution
# --------------------
# The phase diagram in :math:`w_3 = -b` and the coupling, and diagrams on both sides of the cusp.

PROBLEM = McKeanVlasov(Circle(), CosineSeries(COEFFICIENTS))


def solve() -> tuple[PhaseDiagram, list[Diagram]]:
    """Return the phase diagram, and bifurcation diagrams at some values of the parameter."""
    sections = [bifurcation_diagram(PROBLEM.with_parameter("w3", value), COUPLINGS, depth=1) for value in SHOWN]
    return phase_diagram(PROBLEM, ("w3", INTERVAL), coupling=COUPLINGS), sections


# %%
# Figure
# ------


def draw(diagram: PhaseDiagram, sections: list[Diagram]) -> Figure:
    """Return a figure of the phase diagram beside the order parameter at the values of the parameter."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.4), layout="constrained")
    diagram.plot(left, legend=False)
    for value, section in zip(SHOWN, sections, strict=True):
        left.axvline(value, color="0.75", linewidth=0.8, zorder=0.9)
        section.plot("m1", right, label=f"$w_3 = {value}$", labels=False)
    return figure


if __name__ == "__main__":
    phases, diagrams = solve()
    (cusp,) = phases.events("cusp")
    print(cusp.summary())
    draw(phases, diagrams)
    plt.show()
