r"""
Phase diagrams of the noisy transformer
=======================================

Tokens on :math:`S^{d-1}` with noise D and the interaction :math:`W = -\frac1\beta e^{\beta\langle x,y\rangle}` are
uniform at weak coupling and form a cluster at strong coupling. For small :math:`\beta` the cluster appears
continuously where the uniform state loses its stability; beyond :math:`\beta^*(d)`, where
:math:`I_{d/2+1}(\beta)/I_{d/2}(\beta) = 1/d`, the transition is of first order, and between a fold and the
threshold both states are stable. The window of bistability grows with the dimension.
"""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from meanfield import Circle, McKeanVlasov, PhaseDiagram, Sphere, Transformer, tricritical_beta
from solvers import phase_diagram

# %%
# Parameters
# ----------

DOMAINS = (Circle(), Sphere(3), Sphere(4), Sphere(8))
INTERVAL = (0.5, 4.0)
WINDOW = (0.6, 1.2)

# %%
# Problems and solution
# ---------------------
# Couplings are relative to the threshold of each :math:`\beta`, which falls like :math:`e^{-\beta}`.


def solve() -> list[PhaseDiagram]:
    """Return the phase diagrams on all domains."""
    problems = [McKeanVlasov(domain, Transformer(beta=1.0)) for domain in DOMAINS]
    return [phase_diagram(problem, ("beta", INTERVAL), relative=WINDOW) for problem in problems]


# %%
# Figure
# ------


def draw(diagrams: list[PhaseDiagram]) -> Figure:
    """Return a figure of all diagrams side by side."""
    figure, axes = plt.subplots(2, 2, figsize=(9.6, 7.2), layout="constrained", sharex=True, sharey=True)
    for ax, diagram in zip(axes.flat, diagrams, strict=True):
        diagram.plot(ax)
        ax.set_title(f"on {diagram.problem.domain.in_words}", fontsize=9, loc="left")
        ax.label_outer()
        explained = ax.get_legend()
        handles, names = explained.legend_handles, [text.get_text() for text in explained.get_texts()]
        explained.remove()
    figure.legend(handles, names, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return figure


if __name__ == "__main__":
    found = solve()
    for domain, diagram in zip(DOMAINS, found, strict=True):
        (point,) = diagram.events("tricritical")[:1]
        print(
            f"{domain.in_words}: tricritical at beta = {point.values[0]:.15g}, "
            f"theory {tricritical_beta(1, domain):.15g}"
        )
    draw(found)
    plt.show()
