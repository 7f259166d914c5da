r"""
Where active rotators begin to turn together
============================================

Rotators with the common frequency :math:`\omega` in the potential :math:`a\cos\theta`, coupled by
:math:`-\kappa\cos`, with noise D (Shinomoto and Kuramoto, Progress of Theoretical Physics 75, 1986). At weak
coupling their density rests and carries a current. At strong coupling and small :math:`\omega` they rest in the
field together; at a larger one no density rests, and a pulse goes around. The rest ends in a Hopf bifurcation
at large :math:`\omega`, where the pulse begins as an oscillation with a frequency of its own, and in a fold at
small :math:`\omega`, where the pulse lingers beside the state that has just vanished. Both curves meet at a
Bogdanov-Takens point.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from meanfield import Circle, CommonFrequency, ContinuityEquation, External, Kuramoto, PhaseDiagram
from solvers import VonMises, evolve, phase_diagram

# %%
# Parameters
# ----------

FIELD, NOISE = 0.4, 0.5
FREQUENCIES, COUPLINGS = (0.0, 1.6), (0.5, 3.5)
# Places of the phase diagram at which densities are followed in time: at rest, beside the fold, and beyond Hopf.
PLACES = ((0.3, 3.0), (0.45, 3.0), (1.2, 1.4))
UNTIL = 60.0

# %%
# Problem and solution
# --------------------
# No branch in the coupling has the folds: they are followed from the end of the curve of Hopf bifurcations.


def rotators(frequency: float, coupling: float | None = None) -> ContinuityEquation:
    """Return the equation of rotators with a frequency and a coupling, free by default."""
    law = CommonFrequency(Kuramoto(), frequency)
    return ContinuityEquation(Circle(), law, NOISE, coupling, External(cosine=(FIELD,)))


def solve() -> tuple[PhaseDiagram, list[tuple[np.ndarray, np.ndarray]]]:
    """Return the phase diagram, and times and the cosine moment of degree one at each of the places."""
    diagram = phase_diagram(rotators(1.0), ("frequency", FREQUENCIES), coupling=COUPLINGS)
    found = [evolve(rotators(*place), VonMises(concentration=2.0), UNTIL, times=601) for place in PLACES]
    return diagram, [(each.time, each.cosine[:, 1]) for each in found]


# %%
# Figure
# ------


def draw(diagram: PhaseDiagram, runs: list[tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Return a figure of the phase diagram, and of what densities do at its places."""
    figure = plt.figure(figsize=(9.6, 4.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.25, 1.0))
    ax = left.subplots()
    diagram.plot(ax)
    for (frequency, coupling), name in zip(PLACES, "abc", strict=True):
        ax.plot([frequency], [coupling], "k.", markersize=4.0)
        ax.annotate(name, (frequency, coupling), (4.0, 4.0), textcoords="offset points", fontsize=9)
    for own, (times, moment), name in zip(right.subplots(3, 1, sharex=True), runs, "abc", strict=True):
        own.plot(times, moment, color="0.2", linewidth=1.0)
        own.set_ylabel(f"{name}:  $m_1$", fontsize=9)
        own.spines[["top", "right"]].set_visible(False)
    own.set_xlabel("time", fontsize=9)
    return figure


if __name__ == "__main__":
    found, runs = solve()
    (double,) = found.events("Bogdanov-Takens")
    print(f"Hopf bifurcations end at frequency {double.values[0]:.9g}, coupling {double.values[1]:.9g}")
    draw(found, runs)
    plt.show()
