r"""Families of clustered states in closed form: Kuramoto on circle and sphere, Maier-Saupe on the sphere.

Kuramoto, W = -cos t: with :math:`x = (\kappa/D) r` the clustered state is the von Mises density of
concentration x and :math:`r = I_1(x)/I_0(x)` (classical; see Bertini, Giacomin, Pakdaman,
J. Stat. Phys. 138 (2010), who use D = 1/2 and K = kappa). On :math:`S^{n-1}`, where it is the O(n) model, the
density is that of von Mises and Fisher and :math:`r = I_{n/2}(x)/I_{n/2-1}(x)` (Frouvelle, Liu, SIAM J. Math. Anal.
44, 2012, who write tau for D and have coupling 1).

Maier-Saupe, :math:`W = -\cos^2 t`: every state is :math:`\rho \sim e^{\eta u^2}` about an axis (on the ordinary
sphere: Fatkullin, Slastikov, Nonlinearity 18, 2005; Liu, Zhang, Zhang, Comm. Math. Sci. 3, 2005), prolate for
eta > 0 and oblate for eta < 0.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

from ..arguments import checked
from ..base import Record
from ..domains import Domain, Sphere, unit_sphere
from ..errors import InvalidInput
from ..harmonics.gegenbauer import multiplicities
from ..potentials.formulas import formulas_of
from ..potentials.series import as_number
from .forms import theory_of

_LARGEST_CONCENTRATION = 1e5
_EPS = float(np.finfo(float).eps)


@checked
def kuramoto_order_parameter(ratio: float, dimension: int = 2) -> float:
    r"""Return r = |<x>| of the stable Kuramoto state at kappa/D = ratio (0 up to n).

    Solves :math:`x I_{n/2+1}(x)/I_{n/2}(x) = \kappa/D - n`, the form of :math:`r = I_{n/2}/I_{n/2-1}` without
    cancellation at the onset. Exact identity on the circle: the second moment is :math:`m_2 = 1 - 2D/\kappa`.

    Parameters
    ----------
    ratio
        kappa/D.
    dimension
        n: 2 on the circle, d on the sphere of :math:`\mathbb R^d`.

    Raises
    ------
    InvalidInput
        If the ratio is not a finite number or the dimension is not that of a domain.

    Examples
    --------
    >>> round(kuramoto_order_parameter(5.0, dimension=3), 12)
    0.725881987191
    """
    ratio, domain = as_number(ratio, "ratio", "a finite number kappa/D"), unit_sphere(dimension)
    return _concentration(ratio, domain) / ratio if ratio > domain.dimension else 0.0


@checked
def kuramoto_gap(ratio: float, dimension: int = 2) -> float:
    r"""Return (F - F_uniform)/D = x r/2 - log <e^(x u)> of the stable Kuramoto state (0 up to n).

    On the circle the mean is I_0(x).

    Parameters
    ----------
    ratio, dimension
        As for `kuramoto_order_parameter`.

    Raises
    ------
    InvalidInput
        If the ratio is not a finite number or the dimension is not that of a domain.
    """
    ratio, domain = as_number(ratio, "ratio", "a finite number kappa/D"), unit_sphere(dimension)
    n = domain.dimension
    if ratio <= n:
        return 0.0
    x = _concentration(ratio, domain)
    return _small_gap(x, n) if x < max(1.0, n / 4) else _large_gap(x, ratio, domain)


def _concentration(ratio: float, domain: Domain) -> float:
    from scipy.optimize import brentq

    excess, theory = ratio - domain.dimension, theory_of(domain)
    if ratio > theory.expansion_limit:
        # x = ratio * r(x), a contraction by (n - 1)/(2 ratio).
        x = ratio
        for _ in range(8):
            x = ratio * theory.large_mean(x)
        return x

    def defect(x: float) -> float:
        return float(x * _bessel_ratio(x, domain) - np.longdouble(excess))

    # I_(n/2+1)/I_(n/2) is at most 1.
    return float(brentq(defect, excess, theory.highest_concentration(ratio), xtol=1e-300, rtol=4 * _EPS))


def _bessel_ratio(x: float, domain: Domain) -> np.longdouble:
    """Return I_(n/2+1)(x) / I_(n/2)(x)."""
    terms = formulas_of(domain).exponential(x, 2)[:3] / multiplicities(domain, 2)
    return np.longdouble(terms[2] / terms[1])


def _small_gap(x: float, n: int) -> float:
    """Return sum_{j >= 2} (j-1) a_j x^(2j), with log <e^(x u)> = sum a_j x^(2j): nothing cancels."""
    slopes = [1 / n]
    for j in range(2, 40):
        slopes.append(-sum(slopes[i] * slopes[j - 2 - i] for i in range(j - 1)) / (2 * j + n - 2))
    terms = [(j - 1) / (2 * j) * slopes[j - 1] * x ** (2 * j) for j in range(2, 40)]
    return math.fsum(terms)


def _large_gap(x: float, ratio: float, domain: Domain) -> float:
    wide = np.longdouble(x)
    return float(wide * (wide / np.longdouble(ratio) / 2 - 1) - theory_of(domain).log_scaled_mean(x))


@dataclass(frozen=True, eq=False, repr=False)
class MaierSaupeState(Record):
    r"""A state :math:`\rho \sim e^{\eta u^2}` of the Maier-Saupe potential on a sphere.

    Attributes
    ----------
    concentration
        eta, positive for prolate and negative for oblate states.
    ratio
        kappa/D at which it is stationary.
    order_parameter
        :math:`S = \langle P_2\rangle = \eta D/\kappa`.
    gap
        (F - F_uniform)/D.
    """

    concentration: float
    ratio: float
    order_parameter: float
    gap: float


@checked
def maier_saupe_state(concentration: float, dimension: int = 3) -> MaierSaupeState:
    r"""Return the state of a concentration eta.

    .. math:: \frac\kappa D = \frac{d(d+2)}{2}\,
              \frac{M(\frac12, \frac d2, \eta)}{M(\frac32, \frac d2+2, \eta)}, \qquad
              \frac{F-F_0}{D} = \frac{\eta S}{2}\,\frac{d-1}{d} - \log M(\tfrac12, \tfrac d2, \eta) + \frac\eta d

    with Kummer's function M, on the ordinary sphere a Dawson integral; nothing cancels at the onset.

    Raises
    ------
    InvalidInput
        If the concentration is not a number of modulus at most 1e5 or the dimension is not that of a sphere.

    Examples
    --------
    >>> maier_saupe_state(0.0).ratio
    7.5
    """
    eta, d = as_number(concentration, "concentration", "a finite number"), Sphere(dimension).dimension
    if abs(eta) > _LARGEST_CONCENTRATION:
        raise InvalidInput(f"the concentration must be at most {_LARGEST_CONCENTRATION:g} in modulus, not {eta!r}")
    log_mean = _log_kummer(0.5, d / 2, eta)
    ratio = d * (d + 2) / 2 * np.exp(log_mean - _log_kummer(1.5, d / 2 + 2, eta))
    order = np.longdouble(eta) / ratio
    if abs(eta) < 0.5:
        gap = _small_nematic_gap(eta, d)
    else:
        gap = float(eta * order * (d - 1) / (2 * d) - (log_mean - np.longdouble(eta) / d))
    return MaierSaupeState(eta, float(ratio), float(order), gap)


def _log_kummer(a: float, b: float, z: float) -> np.longdouble:
    """Return log M(a, b, z), 0 < a < b, from positive terms; M(a, b, z) = e^z M(b - a, b, -z) where z < 0."""
    if z < 0:
        return np.longdouble(z + _log_kummer(b - a, b, -z))
    k = np.arange(int(z + 20 * math.sqrt(z + 10) + 60)).astype(np.longdouble)
    steps = (a + k) / (b + k) * np.longdouble(z) / (k + 1)
    peak = int(np.count_nonzero(steps > 1))
    with np.errstate(under="ignore"):
        above = np.cumprod(steps[peak:]).sum()
        below = np.cumprod(1 / steps[:peak][::-1]).sum() if peak else np.longdouble(0)
    return np.longdouble(np.log(steps[:peak]).sum() + np.log1p(above + below))


def _small_nematic_gap(eta: float, d: int) -> float:
    """Return sum_{j >= 3} (j/2 - 1) a_j eta^j, with log M(1/2, d/2, eta) = sum a_j eta^j."""
    slopes = [1 / d]
    for j in range(1, 40):
        products = sum(slopes[i] * slopes[j - 1 - i] for i in range(j))
        slopes.append((slopes[j - 1] - products) / (d / 2 + j))
    return math.fsum((j / 2 - 1) * slopes[j - 1] / j * eta**j for j in range(3, 41))


@checked
@functools.lru_cache(maxsize=64)
def maier_saupe_fold(dimension: int = 3) -> MaierSaupeState:
    """Return the state at the smallest coupling that has a clustered state, the fold of the prolate branch.

    Examples
    --------
    >>> round(maier_saupe_fold().ratio, 12)
    6.731486396483
    """
    from scipy.optimize import brentq

    d = Sphere(dimension).dimension

    def slope(eta: float) -> float:
        """Return the logarithmic derivative of kappa in eta."""
        first = _log_kummer(1.5, d / 2 + 1, eta) - _log_kummer(0.5, d / 2, eta)
        second = _log_kummer(2.5, d / 2 + 3, eta) - _log_kummer(1.5, d / 2 + 2, eta)
        return float(np.exp(first) / d - 3 / np.longdouble(d + 4) * np.exp(second))

    # kappa/D = eta/S >= eta, and it has come back to its onset value d (d+2)/2 before eta does.
    return maier_saupe_state(brentq(slope, 1e-3, d * (d + 2) / 2, xtol=1e-300, rtol=4 * _EPS), d)


@checked
@functools.lru_cache(maxsize=64)
def maier_saupe_transition(dimension: int = 3) -> MaierSaupeState:
    """Return the clustered state that has the free energy of uniform: the discontinuous transition.

    Examples
    --------
    >>> round(maier_saupe_transition().ratio, 12)
    6.812188488069
    """
    from scipy.optimize import brentq

    d = Sphere(dimension).dimension
    fold = maier_saupe_fold(d).concentration

    def gap(eta: float) -> float:
        return maier_saupe_state(eta, d).gap

    return maier_saupe_state(brentq(gap, fold, d * (d + 2) / 2, xtol=1e-300, rtol=4 * _EPS), d)


@checked
def maier_saupe_states(ratio: float, dimension: int = 3) -> list[MaierSaupeState]:
    """Return all clustered states at kappa/D = ratio, by falling order parameter.

    The first is stable among zonal densities and beyond; between the fold and the onset d (d+2)/2 the second is
    the unstable prolate one, beyond the onset it is the unstable oblate one.

    Raises
    ------
    InvalidInput
        If the ratio is not a number up to 1e5 or the dimension is not that of a sphere.
    """
    from scipy.optimize import brentq

    ratio, d = as_number(ratio, "ratio", "a finite number kappa/D"), Sphere(dimension).dimension
    if ratio > _LARGEST_CONCENTRATION:
        raise InvalidInput(f"the ratio kappa/D must be at most {_LARGEST_CONCENTRATION:g}, not {ratio!r}")
    fold, onset = maier_saupe_fold(d), d * (d + 2) / 2
    if ratio < fold.ratio:
        return []

    def state(low: float, high: float) -> MaierSaupeState:
        eta = brentq(lambda e: maier_saupe_state(e, d).ratio - ratio, low, high, xtol=1e-300, rtol=4 * _EPS)
        return maier_saupe_state(eta, d)

    states = [state(fold.concentration, ratio)]
    if ratio < onset:
        states.append(state(0.0, fold.concentration))
    elif ratio > onset:
        states.append(state(-ratio / (d - 1), 0.0))
    return states
