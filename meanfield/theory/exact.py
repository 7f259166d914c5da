r"""Families solved in closed form, and the thresholds at which a transition changes its kind.

Kuramoto, W = -cos t: with :math:`x = (\kappa/D) r` the clustered state is the von Mises density of
concentration x and :math:`r = I_1(x)/I_0(x)` (classical; see Bertini, Giacomin, Pakdaman,
J. Stat. Phys. 138 (2010), who use D = 1/2 and K = kappa).

Logarithmic, :math:`w_k = \mp 1/k`: the moment equations are triangular,
:math:`(k - s) c_k = s \sum_{j<k} c_j c_{k-j}` with :math:`s = \kappa/2D`, so smooth clustered states
exist for integer s = n only and are the Poisson kernels in n t.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InvalidInput
from ..potentials import Logarithmic
from ..potentials.series import as_number, scaled_bessel
from ..problem import McKeanVlasov

_RECURRENCE_LIMIT = 1e4


@functools.lru_cache(maxsize=256)
def tricritical_beta(n: int) -> float:
    r"""Return beta*_n, where the n-branch of the transformer turns from super- to subcritical.

    Solves :math:`I_{2n}(\beta)/I_n(\beta) = 1/2`; asymptotically :math:`3n^2/(2\ln 2)`. Subcritical above.

    Parameters
    ----------
    n
        Mode, a positive integer (at most 300).

    Raises
    ------
    InvalidInput
        If n is not such an integer.

    Examples
    --------
    >>> round(tricritical_beta(1), 12)
    2.446918311289
    """
    from scipy.optimize import brentq

    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= 300:
        raise InvalidInput(f"n must be an integer from 1 to 300, not {n!r}; try tricritical_beta(1)")

    def excess(beta: float) -> float:
        bessel = scaled_bessel(beta, 2 * n)
        return float(2 * bessel[2 * n] / bessel[n] - 1)

    guess = 1.5 * n**2 / math.log(2)
    return float(brentq(excess, 0.8 * guess, 1.3 * guess + 1, xtol=1e-300, rtol=4 * np.finfo(float).eps))


@functools.lru_cache(maxsize=1)
def continuous_radius() -> float:
    """Return R*, above which the Hegselmann-Krause transition is continuous.

    Root of R - 2 sin R + sin R cos R = 0, that is w_2/w_1 = 1/2.
    """
    from scipy.optimize import brentq

    def excess(radius: float) -> float:
        return radius - 2 * math.sin(radius) + math.sin(radius) * math.cos(radius)

    return float(brentq(excess, 2.0, 2.3, xtol=1e-300, rtol=4 * np.finfo(float).eps))


def kuramoto_order_parameter(ratio: float) -> float:
    r"""Return r = |c_1| of the stable Kuramoto state at kappa/D = ratio (0 up to 2).

    Solves :math:`x I_2(x)/I_1(x) = \kappa/D - 2`, the form of :math:`r = I_1/I_0` without cancellation at
    the onset. Exact identity: the second moment is :math:`m_2 = 1 - 2D/\kappa`.

    Raises
    ------
    InvalidInput
        If the ratio is not a finite number.
    """
    ratio = as_number(ratio, "ratio", "a finite number kappa/D")
    return _concentration(ratio) / ratio if ratio > 2 else 0.0


def kuramoto_gap(ratio: float) -> float:
    r"""Return (F - F_uniform)/D = x r/2 - log I_0(x) of the stable Kuramoto state (0 up to 2).

    Raises
    ------
    InvalidInput
        If the ratio is not a finite number.
    """
    ratio = as_number(ratio, "ratio", "a finite number kappa/D")
    if ratio <= 2:
        return 0.0
    x = _concentration(ratio)
    return _small_gap(x) if x < 1 else _large_gap(x, ratio)


def _concentration(ratio: float) -> float:
    from scipy.optimize import brentq

    excess = ratio - 2
    if ratio > _RECURRENCE_LIMIT:
        # x = ratio * (1 - 1/(2x) - 1/(8x^2) - 1/(8x^3) - ...), a contraction by 1/(2 ratio).
        x = ratio
        for _ in range(8):
            x = ratio * (1 - 1 / (2 * x) - 1 / (8 * x**2) - 1 / (8 * x**3) - 25 / (128 * x**4))
        return x

    def defect(x: float) -> float:
        bessel = scaled_bessel(x, 2)
        return float(x * bessel[2] / bessel[1] - np.longdouble(excess))

    return float(brentq(defect, excess, ratio, xtol=1e-300, rtol=4 * np.finfo(float).eps))


def _small_gap(x: float) -> float:
    """Return sum_{j >= 2} (j-1) a_j x^(2j), with log I_0 = sum a_j x^(2j): nothing cancels."""
    slopes = [0.5]
    for j in range(2, 40):
        slopes.append(-sum(slopes[i] * slopes[j - 2 - i] for i in range(j - 1)) / (2 * j))
    terms = [(j - 1) / (2 * j) * slopes[j - 1] * x ** (2 * j) for j in range(2, 40)]
    return math.fsum(terms)


def _large_gap(x: float, ratio: float) -> float:
    if x > _RECURRENCE_LIMIT:
        log_scaled = -0.5 * math.log(2 * math.pi * x) + math.log1p(1 / (8 * x) + 9 / (128 * x**2))
    else:
        log_scaled = float(np.log(scaled_bessel(x, 0)[0]))
    wide = np.longdouble(x)
    return float(wide * (wide / np.longdouble(ratio) / 2 - 1) - log_scaled)


@dataclass(frozen=True)
class VerticalBranch:
    """States of the attractive logarithmic potential: Poisson kernels in n t, at one coupling.

    Attributes
    ----------
    mode
        n, the number of clusters.
    coupling
        2 D n, the only coupling at which they exist.
    """

    mode: int
    coupling: float

    def moments(self, radius: float, degree: int) -> npt.NDArray[np.float64]:
        """Return m_0, ..., m_degree of one member: m_(jn) = radius^j, other moments 0.

        Raises
        ------
        InvalidInput
            If the radius is outside [0, 1).
        """
        radius = as_number(radius, "radius", "in [0, 1)")
        if not 0 <= radius < 1:
            raise InvalidInput(f"radius must be in [0, 1), not {radius!r}")
        moments = np.zeros(degree + 1)
        moments[:: self.mode] = radius ** np.arange(degree // self.mode + 1)
        return moments


def vertical_branches(problem: McKeanVlasov, low: float, high: float) -> list[VerticalBranch]:
    """Return all clustered states of a logarithmic potential with coupling in [low, high].

    There is none for the repulsive sign at positive couplings: uniform is then the only state.

    Raises
    ------
    InvalidInput
        If the potential is not logarithmic, there is a confinement, or the range is reversed or unbounded.
    """
    if not isinstance(problem.potential, Logarithmic) or problem.confinement is not None:
        raise InvalidInput(
            f"vertical branches belong to Logarithmic() without confinement, not to {problem.potential!r}"
        )
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise InvalidInput(f"the coupling range must be finite and increasing, not [{low!r}, {high!r}]")
    unit = 2 * problem.noise * problem.potential.sign
    modes = range(1, int(max(low / unit, high / unit)) + 2)
    branches = [VerticalBranch(mode, unit * mode) for mode in modes if low <= unit * mode <= high]
    return sorted(branches, key=lambda branch: branch.coupling)


def vertical_spectrum(problem: McKeanVlasov, degree: int) -> npt.NDArray[np.float64]:
    """Return the rates -D k (k - 1), k = 1..degree, each double, on the 1-cluster vertical branch.

    They do not depend on the member; the two zeros are rotation and the family itself.
    """
    modes = np.arange(1, degree + 1)
    return np.asarray(-problem.noise * modes * (modes - 1.0))
