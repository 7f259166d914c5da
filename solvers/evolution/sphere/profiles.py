r"""Zonal moments :math:`p_l = \int\rho P_l` of the named densities about their own axes, on any sphere.

==================  ===================================================================================
PerturbedUniform    :math:`1 + a P_k(u)`, :math:`p_k = a/N_k`
VonMises            :math:`e^{\gamma u}` (von Mises-Fisher), :math:`p_l = I_{l+d/2-1}(\gamma)/I_{d/2-1}(\gamma)`
Bumps               heat kernels at time :math:`\sigma^2/2`, :math:`p_l = e^{-l(l+d-2)\sigma^2/2}`
Watson              :math:`e^{\gamma u^2}`, by a Gauss rule
==================  ===================================================================================
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from meanfield import Sphere
from meanfield.harmonics import gauss_rule, polynomials

from ...bases import EPS, Floats
from ..starts import Bumps, Mixture, PerturbedUniform, VonMises, Watson, sufficient, too_narrow

# Moments beyond this are not looked for: the density is too narrow.
LARGEST_DEGREE = 1024

Moments = Callable[[int], Floats]


class Lobe(NamedTuple):
    """A zonal density, its share of the mass and the direction of its axis by two angles."""

    share: float
    polar: float
    azimuth: float
    moments: Moments

    def profile(self) -> Floats:
        """Return the moments about the axis up to the last significant one, see :func:`sufficient`."""
        return sufficient(self.moments, LARGEST_DEGREE)


def lobes_of(initial: Any, sphere: Sphere) -> list[Lobe] | None:
    """Return the zonal densities whose sum is a named density; None if it is no such sum."""
    if isinstance(initial, Mixture):
        return _mixed(initial, sphere)
    if isinstance(initial, Bumps):
        shares = np.ones(initial.count) if initial.weights is None else np.array(initial.weights)
        moments = functools.partial(heat_kernel, sphere.dimension, initial.width)
        turns = 2.0 * math.pi * np.arange(initial.count) / initial.count
        places = zip((shares / math.fsum(shares)).tolist(), (initial.mean + turns).tolist(), strict=True)
        return [Lobe(share, polar, initial.azimuth, moments) for share, polar in places]
    single = _single(initial, sphere)
    return None if single is None else [Lobe(1.0, initial.mean, initial.azimuth, single)]


def _mixed(initial: Mixture, sphere: Sphere) -> list[Lobe] | None:
    lobes: list[Lobe] = []
    for share, part in zip(initial.shares, initial.parts, strict=True):
        inside = lobes_of(part, sphere)
        if inside is None:
            return None
        lobes += [lobe._replace(share=share * lobe.share) for lobe in inside]
    return lobes


def _single(initial: Any, sphere: Sphere) -> Moments | None:
    if isinstance(initial, VonMises):
        _require_held(initial.concentration)
        return functools.partial(von_mises, sphere.dimension, initial.concentration)
    if isinstance(initial, Watson):
        # Near either end of the axis, or its equator, u^2 falls twice as fast as u does at the pole.
        _require_held(2.0 * abs(initial.concentration))
        return functools.partial(watson, sphere.dimension, initial.concentration)
    if isinstance(initial, PerturbedUniform):
        share = initial.amplitude / sphere.multiplicity(initial.degree)
        return functools.partial(perturbed, initial.degree, share)
    return None


def _require_held(concentration: float) -> None:
    r"""Refuse a density too narrow for the largest degree, where :math:`e^{-l^2/2\gamma}` exceeds rounding."""
    if math.sqrt(-2.0 * math.log(EPS) * concentration) > LARGEST_DEGREE:
        raise too_narrow(LARGEST_DEGREE)


def perturbed(place: int, value: float, degree: int) -> Floats:
    """Return the moments p_0 = 1 and one other, of a value, up to a degree."""
    result = np.zeros(degree + 1)
    result[0] = 1.0
    if place <= degree:
        result[place] = value
    return result


def von_mises(dimension: int, concentration: float, degree: int) -> Floats:
    r"""Return the moments :math:`I_{l+d/2-1}(\gamma)/I_{d/2-1}(\gamma)` up to a degree.

    The ratios :math:`r_\nu = I_{\nu+1}/I_\nu` come from :math:`r_{\nu-1} = (2\nu/\gamma + r_\nu)^{-1}`, which
    damps errors downwards, so that it may start at any value far enough above.
    """
    if concentration == 0.0:
        return perturbed(1, 0.0, degree)
    order = 0.5 * dimension - 1.0
    extra = degree + 40 + int(2.0 * math.sqrt(40.0 * concentration))
    ratio, ratios = 0.0, np.zeros(degree)
    for k in range(extra, 0, -1):
        ratio = 1.0 / (2.0 * (order + k) / concentration + ratio)
        if k <= degree:
            ratios[k - 1] = ratio
    return np.concatenate([[1.0], np.cumprod(ratios)])


def heat_kernel(dimension: int, width: float, degree: int) -> Floats:
    """Return the moments of the heat kernel; a small width is its standard deviation in each direction."""
    degrees = np.arange(degree + 1.0)
    return np.asarray(np.exp(-0.5 * width**2 * degrees * (degrees + dimension - 2)))


def watson(dimension: int, concentration: float, degree: int) -> Floats:
    """Return the moments of the density proportional to exp(concentration u^2)."""
    count = 2 * degree + 64 + 8 * int(math.sqrt(abs(concentration)))
    rule = gauss_rule(dimension, count)
    exponent = rule.log_weights + concentration * rule.nodes**2
    weights = np.exp(exponent - exponent.max())
    result = polynomials(dimension, rule, degree) @ (weights / weights.sum())
    result[0], result[1::2] = 1.0, 0.0
    # The sum has the rounding of the polynomials in all degrees, however small the moments are.
    return np.where(np.abs(result) <= 64.0 * EPS, 0.0, result)
