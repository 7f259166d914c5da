r"""
Critical couplings and the shape of every branch
================================================

The uniform state of the noisy transformer becomes unstable to :math:`n` clusters at

.. math::

    \kappa_n = \frac{\beta D}{I_n(\beta)}, \qquad
    \frac{\kappa}{\kappa_n} = 1 + b_1 m_n^2 + O(m_n^4), \qquad
    b_1 = \frac{1-2q}{2(1-q)}, \quad q = \frac{I_{2n}(\beta)}{I_n(\beta)} .

The couplings come in ascending order for every :math:`\beta` and crowd together as it grows. The sign of
:math:`b_1` decides whether a branch leaves towards larger couplings (supercritical) or smaller ones
(subcritical); it changes at :math:`\beta^*_n`, where :math:`I_{2n} = I_n/2`.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from meanfield import Circle, McKeanVlasov, Transformer
from meanfield.theory import branch_shape, critical_couplings, tricritical_beta

# %%
# Parameters
# ----------

MODES = (1, 2, 3, 4, 5, 6)
BETAS = np.geomspace(0.3, 120.0, 240)

# %%
# Problem and solution
# --------------------
# All of this is closed form; nothing is solved. Bessel functions enter as ratios, so that large :math:`\beta`
# does not overflow.


def problem(beta: float) -> McKeanVlasov:
    """Return the noisy transformer with D = 1."""
    return McKeanVlasov(Circle(), Transformer(beta=beta))


def relative_couplings(betas: np.ndarray) -> np.ndarray:
    """Return kappa_n/kappa_1, one row an inverse temperature."""
    rows = np.array([critical_couplings(problem(beta), max(MODES))[1:] for beta in betas])
    return rows / rows[:, :1]


def curvatures(betas: np.ndarray) -> np.ndarray:
    """Return b_1, one row an inverse temperature."""
    return np.array([[branch_shape(problem(beta), n).curvature for n in MODES] for beta in betas])


ratios, shapes = relative_couplings(BETAS), curvatures(BETAS)
thresholds = {n: float(tricritical_beta(n)) for n in MODES}
for n, beta in thresholds.items():
    print(f"beta*_{n} = {beta:.14g}   (3 n^2/(2 ln 2) = {1.5 * n**2 / np.log(2):.5g})")

# %%
# Plot
# ----
# Circles mark :math:`\beta^*_n`, where branch :math:`n` turns from supercritical (left) to subcritical
# (right).


def draw(ratios: np.ndarray, shapes: np.ndarray, thresholds: dict[int, float]) -> Figure:
    """Draw both quantities over the inverse temperature."""
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(6.4, 6.4), sharex=True, layout="constrained")
    colours = plt.colormaps["viridis"](np.linspace(0.0, 0.88, len(MODES)))
    for column, (n, colour) in enumerate(zip(MODES, colours, strict=True)):
        upper.loglog(BETAS, ratios[:, column], color=colour, label=f"$n = {n}$")
        lower.semilogx(BETAS, shapes[:, column], color=colour)
        mark = {"marker": "o", "color": colour, "markerfacecolor": "white", "zorder": 3}
        upper.plot(thresholds[n], relative_couplings(np.array([thresholds[n]]))[0, column], **mark)
        lower.plot(thresholds[n], 0.0, **mark)
    lower.axhline(0.0, color="0.6", linewidth=0.8, zorder=1)
    lower.text(0.33, 0.04, "supercritical", color="0.4", va="bottom", fontsize=9)
    lower.text(0.33, -0.05, "subcritical", color="0.4", va="top", fontsize=9)
    upper.set(ylim=(0.92, 40), ylabel=r"$\kappa_n/\kappa_1$")
    lower.set(xlim=(BETAS[0], BETAS[-1]), ylim=(-2.0, 0.7), xlabel=r"$\beta$", ylabel=r"$b_1(n)$")
    upper.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    upper.minorticks_off()
    upper.legend(frameon=False, fontsize=9, loc="lower left")
    for ax in (upper, lower):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


draw(ratios, shapes, thresholds)
plt.show()

# %%
# Numbers
# -------
# The thresholds, computed independently with 18 digits.

REFERENCE = {
    1: 2.44691831128904613,
    2: 8.96678425465325508,
    3: 19.7856865186644867,
    4: 34.9332445601335041,
    5: 54.4092480494492919,
    6: 78.2135012284072587,
}


def check(thresholds: dict[int, float]) -> None:
    """Compare with reference values and with the sign of b_1 on both sides."""
    for n, exact in REFERENCE.items():
        assert abs(thresholds[n] / exact - 1) < 1e-12
        assert branch_shape(problem(0.999 * exact), n).type == "supercritical"
        assert branch_shape(problem(1.001 * exact), n).type == "subcritical"
    at_five = relative_couplings(np.array([5.0]))[0, :4]
    assert np.allclose(at_five, [1, 1.3901620816434, 2.3555598112509, 4.7640022959900], rtol=1e-12, atol=0)


check(thresholds)
