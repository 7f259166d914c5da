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
from solvers import PairDrift, contraction_rate, simulate

# %%
# Parameters
# ----------

BETA = 1.0
COUNTS = (25, 100)
UNTIL = 14.0
SEED = 5
# Below this 1 - r of particles is the error of their recorded moments.
ROUNDING = 1e-11

# %%
# Problem and solution
# --------------------
# The rate of the mean field is measured along characteristics; the record says what governs it, and from what time
# on N particles leave it.


def problem() -> McKeanVlasov:
    """Return the equation without noise."""
    return McKeanVlasov(Circle(), Transformer(BETA), noise=0.0, coupling=1.0)


def density(angle: np.ndarray) -> np.ndarray:
    """Return the initial density."""
    return (1.0 + 0.6 * np.cos(angle) + 0.3 * np.sin(2.0 * angle)) / (2.0 * np.pi)


def tokens(count: int) -> Ensemble:
    """Simulate tokens drawn from the initial density."""
    return simulate(
        problem(), count, UNTIL, SEED, initial=density, drift=PairDrift(), step=0.02, times=280, degrees=1
    )


contraction = contraction_rate(problem(), initial=density)
ensembles = {count: tokens(count) for count in COUNTS}
print(contraction.summary())

# %%
# Plot
# ----

COLOURS = ("#D55E00", "#009E73")


def remainders(ensemble: Ensemble) -> np.ndarray:
    """Return 1 - r of the tokens over time."""
    return 1.0 - np.hypot(ensemble.cosine[0, :, 1], ensemble.sine[0, :, 1])


def draw(contraction: Contraction, ensembles: dict[int, Ensemble]) -> Figure:
    """Draw 1 - r of the mean field and of the tokens with both slopes."""
    figure, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
    inside = contraction.time <= UNTIL
    ax.semilogy(contraction.time[inside], contraction.remainder[inside], color="#0072B2", label="mean field")
    for colour, (count, ensemble) in zip(COLOURS, ensembles.items(), strict=True):
        values = remainders(ensemble)
        known = values > ROUNDING
        ax.semilogy(ensemble.time[known], values[known], color=colour, linewidth=1.2, label=f"{count} tokens")
        ax.axvline(contraction.crossover(count), color=colour, linestyle=":", linewidth=0.9)
    times = np.array([6.0, UNTIL])
    slow = contraction.remainder[np.searchsorted(contraction.time, times[0])]
    ax.semilogy(times, 0.5 * slow * np.exp(-contraction.rate * (times - times[0])), "k--", linewidth=0.9)
    ax.annotate(r"$e^{-\kappa e^{-\beta}t}$", (7.2, 0.05 * slow), fontsize=11)
    ax.annotate(r"$e^{-2\kappa e^{\beta}t}$", (4.6, 1e-6), fontsize=11)
    ax.set(xlabel="$t$", ylabel="$1 - r$", ylim=(ROUNDING, 1.5), xlim=(0.0, UNTIL))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)
    return figure


draw(contraction, ensembles)
plt.show()

# %%
# Numbers
# -------
# The sharp rate of the mean field is :math:`\kappa e^{-\beta}` to its error, and the last tokens collapse at
# :math:`2\kappa e^\beta`.


def late_slope(ensemble: Ensemble) -> float:
    """Return the decay rate of 1 - r between the last times at which it is above 1e-4 and above 1e-5."""
    values = remainders(ensemble)
    first, last = (int(np.flatnonzero(values > level)[-1]) for level in (1e-4, 1e-5))
    return float(np.log(values[first] / values[last]) / (ensemble.time[last] - ensemble.time[first]))


def check(contraction: Contraction, ensembles: dict[int, Ensemble]) -> None:
    """Compare both slopes with their exact values."""
    assert abs(contraction.rate - np.exp(-BETA)) <= contraction.error < 1e-11
    assert contraction.governed_by == "separatrix"
    assert abs(contraction.local_rate - 2.0 * np.exp(BETA)) < 1e-12
    for ensemble in ensembles.values():
        assert abs(late_slope(ensemble) / (2.0 * np.exp(BETA)) - 1.0) < 2e-2


check(contraction, ensembles)
