r"""
Contraction to a point
======================

Without noise the tokens of a transformer collapse to a point,

.. math::

    \partial_t\rho + \kappa\,\partial_\theta\bigl(\rho\,\partial_\theta h\bigr) = 0, \qquad
    h(\theta) = \frac1\beta\int e^{\beta\cos(\theta-\theta')}\,d\rho(\theta') .

A cluster shrinks at the local rate :math:`\kappa e^\beta`, and so one might expect :math:`1 - r` to fall like
:math:`e^{-2\kappa e^\beta t}`. It does so for finitely many tokens, in the end. The mean field does not: opposite
to the cluster tokens are at rest, those beside that point leave it at the rate :math:`\kappa e^{-\beta}` only, and
a density that is positive there always has some mass :math:`\sim e^{-\kappa e^{-\beta} t}` on its way. Tokens
follow the mean field until the last of them has left, at a time :math:`\sim e^\beta\log N/\kappa`.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from meanfield import Circle, Contraction, Ensemble, McKeanVlasov, Transformer
from meanfield.plotting import caption, entitle_figure
from solvers import MomentDrift, contraction_rate, simulate

# %%
# Parameters
# ----------

BETA = 1.0
COUNTS = (100, 1000)
UNTIL = 22.0
SEED = 2

# %%
# Problem and solution
# --------------------
# The rate of the mean field is measured along characteristics; the record says what governs it, and from what time
# on N particles leave it: when one of them is left in flight on average.


def problem() -> McKeanVlasov:
    """Return the equation without noise."""
    return McKeanVlasov(Circle(), Transformer(BETA), noise=0.0, coupling=1.0)


def density(angle: np.ndarray) -> np.ndarray:
    """Return the initial density."""
    return (1.0 + 0.6 * np.cos(angle) + 0.3 * np.sin(2.0 * angle)) / (2.0 * np.pi)


def tokens(count: int) -> Ensemble:
    """Simulate tokens drawn from the initial density; their moments are recorded to the tolerance of the drift."""
    drift = MomentDrift(tolerance=1e-13)
    return simulate(problem(), count, UNTIL, SEED, initial=density, drift=drift, step=0.02, times=440, degrees=1)


contraction = contraction_rate(problem(), initial=density)
ensembles = {count: tokens(count) for count in COUNTS}
print(contraction.summary())

# %%
# Plot
# ----
# Steps of the particles' curves are single tokens that have not left yet. Each is followed by the next one, and
# the slope after the last is that of the cluster.


def draw(contraction: Contraction, ensembles: dict[int, Ensemble]) -> Figure:
    """Draw 1 - r of the mean field and of the tokens with both slopes."""
    figure, ax = plt.subplots(figsize=(7.6, 4.8), layout="constrained")
    contraction.plot(ax, ensembles=list(ensembles.values()))
    ax.set_ylim(3e-10, 2.0)
    entitle_figure(figure, caption(contraction.problem))
    return figure


draw(contraction, ensembles)
plt.show()

# %%
# Numbers
# -------
# The sharp rate of the mean field is :math:`\kappa e^{-\beta}` to its error, and the last tokens collapse at
# :math:`2\kappa e^\beta`.


def late_slope(ensemble: Ensemble) -> float:
    """Return the decay rate of 1 - r between the last times at which it is above 1e-7 and above 1e-9."""
    values = 1.0 - ensemble.moments_in_modulus()[0]
    first, last = (int(np.flatnonzero(values > level)[-1]) for level in (1e-7, 1e-9))
    return float(np.log(values[first] / values[last]) / (ensemble.time[last] - ensemble.time[first]))


def check(contraction: Contraction, ensembles: dict[int, Ensemble]) -> None:
    """Compare both slopes with their exact values."""
    assert abs(contraction.rate - np.exp(-BETA)) <= contraction.error < 1e-11
    assert contraction.governed_by == "separatrix"
    assert abs(contraction.local_rate - 2.0 * np.exp(BETA)) < 1e-12
    for ensemble in ensembles.values():
        # The last token is at a distance x, x^2/2N = 1 - r, and its rate differs by a share of x^2 < 2e-4.
        assert abs(late_slope(ensemble) / (2.0 * np.exp(BETA)) - 1.0) < 2e-4


check(contraction, ensembles)
