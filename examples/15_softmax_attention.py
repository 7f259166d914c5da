r"""
Softmax attention has no hysteresis
===================================

With noise, tokens on the circle follow

.. math::

    \partial_t\rho = D\,\partial_\theta^2\rho - \kappa\,\partial_\theta(\rho\,v[\rho]), \qquad
    v = \frac{1}{\mathcal N}\,\partial_\theta h, \quad h = \frac1\beta\,K*\rho, \quad K = e^{\beta\cos\theta},

with :math:`\mathcal N = 1`, the noisy transformer, or with weights normalised to one, :math:`\mathcal N = K*\rho`.
Without normalisation the branch of one cluster turns back from :math:`\beta = 2.4469` on: the transition is
discontinuous and there is hysteresis. With it the branch leaves the uniform state to larger couplings at every
:math:`\beta`, since the velocity towards a cluster is bounded by one however strong the attention.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from meanfield import (
    Circle,
    ContinuityEquation,
    Diagram,
    Equation,
    McKeanVlasov,
    SoftmaxAttention,
    Transformer,
    branch_shape,
)
from solvers import bifurcation_diagram

# %%
# Parameters
# ----------

BETA = 5.0
WINDOW = (0.8, 2.0)

# %%
# Problem and solution
# --------------------
# Softmax attention has a Gibbs map, :math:`\rho = (K*\rho)^{\kappa/(\beta D)}/Z`, and no free energy; its states
# are followed by the same continuation.


def problems() -> dict[str, Equation]:
    """Return the two equations."""
    return {
        "unnormalised": McKeanVlasov(Circle(), Transformer(BETA)),
        "softmax": ContinuityEquation(Circle(), SoftmaxAttention(BETA)),
    }


def compute() -> dict[str, Diagram]:
    """Follow the branches of both."""
    return {name: bifurcation_diagram(problem, relative=WINDOW) for name, problem in problems().items()}


diagrams = compute()
for diagram in diagrams.values():
    print(diagram.summary())

# %%
# Plot
# ----
# Between the fold and the critical coupling, shaded, the uniform state and one cluster are both stable.


def draw(diagrams: dict[str, Diagram]) -> Figure:
    """Draw both diagrams over the coupling in units of the critical one."""
    figure, axes = plt.subplots(1, 2, figsize=(13.0, 4.8), sharey=True, layout="constrained")
    for ax, diagram in zip(axes, diagrams.values(), strict=True):
        diagram.plot(ax=ax)
    (fold,) = diagrams["unnormalised"].events("fold")
    axes[0].axvspan(fold.relative_coupling, 1.0, color="0.92", zorder=0.5)
    axes[1].set_ylabel("")
    return figure


draw(diagrams)
plt.show()

# %%
# Numbers
# -------
# Both normal forms are closed: the curvature :math:`b_1` of the branch of one cluster is negative without
# normalisation and positive with it.


def check(diagrams: dict[str, Diagram]) -> None:
    """Compare the shapes of the branches with their normal forms."""
    plain, softmax = (diagrams[name].branch("1-cluster") for name in ("unnormalised", "softmax"))
    assert (
        branch_shape(problems()["unnormalised"], 1).curvature
        < 0.0
        < branch_shape(problems()["softmax"], 1).curvature
    )
    assert plain.relative_coupling.min() < 1.0 - 1e-3
    assert np.all(np.diff(softmax.relative_coupling) > 0.0)
    assert [str(event.type) for event in diagrams["unnormalised"].events("fold")] == ["fold"]
    assert not diagrams["softmax"].events("fold")


check(diagrams)
