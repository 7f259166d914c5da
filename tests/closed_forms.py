"""Exact values of test problems in mpmath: closed forms, and roots of scalar equations of closed forms.

Moments of densities about an axis are p_l = <P_l>, m = p_1, S = p_2; on the circle, dimension 2, P_l is cos lt.
"""

import math
from functools import cache
from typing import Any

import mpmath as mp

from meanfield import Sphere
from tests.zonal_states import ZonalBranch, ZonalState, zonal_rate

DIGITS = 25


def attention_mean(dimension: int, beta: float, degree: int) -> Any:
    """Return the mean of W P_l of the transformer, -Gamma(d/2) (2/beta)^(d/2-1) I_(l+d/2-1)(beta)/beta."""
    half, b = mp.mpf(dimension) / 2, mp.mpf(beta)
    return -mp.gamma(half) * (2 / b) ** (half - 1) * mp.besseli(degree + half - 1, b) / b


def fisher(dimension: int, ratio: float) -> tuple[Any, Any]:
    """Return m and (F - F_0)/D of W = -<x, y> at kappa/D: exp(x u) with I_(d/2)(x)/I_(d/2-1)(x) = m = x D/kappa."""
    half, ratio = mp.mpf(dimension) / 2, mp.mpf(ratio)
    # The lower bound of the ratio, x/(d/2 + sqrt(x^2 + d^2/4)), is exact at both ends.
    x = mp.sqrt(ratio**2 - dimension * ratio)
    x = mp.findroot(lambda x: mp.besseli(half, x) / mp.besseli(half - 1, x) - x / ratio, x)
    mean = mp.gamma(half) * (2 / x) ** (half - 1) * mp.besseli(half - 1, x)
    return x / ratio, x**2 / (2 * ratio) - mp.log(mean)


def nematic(dimension: int, eta: Any) -> tuple[Any, Any, Any]:
    """Return kappa/D, S and (F - F_0)/D of exp(eta u^2) for W = -<x, y>^2: means are Kummer's 1F1(1/2, d/2, eta)."""
    half, mean = mp.mpf(dimension) / 2, mp.hyp1f1(0.5, mp.mpf(dimension) / 2, eta)
    square = mp.hyp1f1(1.5, half + 1, eta) / (dimension * mean)
    order = (dimension * square - 1) / (dimension - 1)
    share = mp.mpf(dimension - 1) / dimension
    return eta / order, order, share * eta * order / 2 - mp.log(mean) + eta / dimension


@cache
def monomial_mean(*powers: int) -> Any:
    """Return the mean of x^a y^b z^c over S^2, even powers: (a-1)!! (b-1)!! (c-1)!!/(a+b+c+1)!!."""
    return mp.fprod(mp.fac2(power - 1) for power in powers) / mp.fac2(sum(powers) + 1)


@cache
def quartic_means(most: int) -> list[Any]:
    """Return <(x^4 + y^4 + z^4)^n> over S^2, n! sum over a + b + c = n of <x^4a y^4b z^4c>/(a! b! c!)."""
    single = [mp.fac2(4 * a - 1) / mp.fac(a) for a in range(most + 1)]

    def times(one: list[Any], other: list[Any]) -> list[Any]:
        return [mp.fdot(one[: n + 1], other[n::-1]) for n in range(most + 1)]

    triple = times(times(single, single), single)
    return [mp.fac(n) * value / mp.fac2(4 * n + 1) for n, value in enumerate(triple)]


def octahedral_mean(power: int) -> Any:
    """Return <psi^n> of psi = c (x^4 + y^4 + z^4 - 3/5) with <psi^2> = 1, by the binomial theorem."""

    def mean(n: int) -> Any:
        quartics = quartic_means(n)
        return mp.fsum(mp.binomial(n, k) * (mp.mpf(-3) / 5) ** (n - k) * quartics[k] for k in range(n + 1))

    return mean(power) / mean(2) ** (mp.mpf(power) / 2)


def rate_of_spins(dimension: int, coupling: float, order: int) -> Any:
    """Return the slowest rate of an azimuthal order at the cluster of W = -<x, y>, D = 1."""
    moments = {1: fisher(dimension, coupling)[0]}
    return zonal_rate(dimension, {1: mp.mpf(-1)}, coupling, moments, order)


@cache
def attention_branch(dimension: int, beta: float, coupling: float, degrees: int) -> ZonalBranch:
    """Return the 1-branch of the transformer at D = 1, from a coupling near what is sought."""
    with mp.workdps(DIGITS):
        numbers = {k: 2 if dimension == 2 else Sphere(dimension).multiplicity(k) for k in range(1, degrees + 1)}
        multipliers = {k: number * attention_mean(dimension, beta, k) for k, number in numbers.items()}
        return ZonalBranch(dimension, multipliers, 1, coupling)


@cache
def attention_event(dimension: int, beta: float, event: str, amplitudes: tuple[float, float]) -> ZonalState:
    """Return the state at the ``fold`` or ``transition`` of the 1-branch of the transformer, m_1 near two values."""
    critical = -1 / attention_mean(dimension, beta, 1)
    branch = attention_branch(dimension, beta, float(0.9 * critical), 18)
    with mp.workdps(DIGITS):
        return getattr(branch, event)(amplitudes)


def secondary(second: float) -> tuple[Any, Any]:
    """Return kappa and m_2 where mode 1 is critical on the 2-cluster of -cos t - a cos 2t, D = 1."""

    def order(coupling: Any) -> Any:
        return mp.findroot(
            lambda m: m - mp.besseli(1, second * coupling * m) / mp.besseli(0, second * coupling * m), 0.4
        )

    coupling = mp.findroot(lambda k: k * (1 + order(k)) - 2, 1.44)
    return coupling, order(coupling)


def aligned(coupling: float) -> Any:
    """Return m_1 of W = -cos t in the field V = -cos t, D = 1."""
    return mp.findroot(lambda m: m - mp.besseli(1, coupling * m + 1) / mp.besseli(0, coupling * m + 1), 0.8)


@cache
def nematic_event(event: str) -> tuple[Any, Any]:
    """Return kappa/D and S of the prolate family on S^2 where it turns, or where its free energy is F_0."""
    if event == "fold":
        eta = mp.findroot(lambda e: mp.diff(lambda x: nematic(3, x)[0], e), 2.2)
    else:
        eta = mp.findroot(lambda e: nematic(3, e)[2], 2.9)
    return nematic(3, eta)[:2]


@cache
def octahedral_event(event: str) -> Any:
    """Return kappa of exp(a psi) where it turns, or where its free energy is F_0, from the moments of psi."""
    series = [octahedral_mean(n) / mp.fac(n) for n in range(30)]

    def sums(a: Any) -> list[Any]:
        """Return Z = <exp(a psi)> and its first two derivatives."""
        rows = [series, *([math.perm(n, j) * c for n, c in enumerate(series)][j:] for j in (1, 2))]
        return [mp.polyval(row[::-1], a) for row in rows]

    def turning(a: Any) -> Any:
        value, slope, second = sums(a)
        return value * slope - a * (value * second - slope**2)

    def gap(a: Any) -> Any:
        value, slope, _ = sums(a)
        return a * slope / value / 2 - mp.log(value)

    amplitude = mp.findroot(turning, 0.7) if event == "fold" else mp.findroot(gap, (0.9, 1.0))
    value, slope, _ = sums(amplitude)
    return 9 * amplitude * value / slope
