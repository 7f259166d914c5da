r"""Relative entropy and the distance in :math:`L^2` of densities given by their moments."""

import math

import numpy as np

from ..arguments import checked
from ..entropy import excess
from ..harmonics import growing, refined_until_two_agree
from .measures import Complexes, Density, Floats, moment_difference

MOST_NODES = 1 << 18
AGREEMENT = 1e-13
EPS = float(np.finfo(float).eps)
ROUNDINGS = 4 * EPS
# Size of the logarithm of a density below rounding, at least.
UNKNOWN_LOGARITHM = -math.log(EPS)
# A result is known if it is to this share.
KNOWN = 1e-3


@checked
def l2_distance(one: Density, other: Density) -> float:
    r"""Return :math:`(\int (p-q)^2)^{1/2} = (\tfrac1\pi\sum_{k\ge1}|c_k-d_k|^2)^{1/2}`, by Parseval's identity."""
    squares = np.abs(moment_difference(one, other)) ** 2
    return math.sqrt(math.fsum(squares[1:]) / math.pi)


@checked
def relative_entropy(one: Density, other: Density) -> float:
    r"""Return :math:`\int p\log(p/q) = \int q\,h((p-q)/q)`, :math:`h(f) = (1+f)\log(1+f)-f \ge 0`.

    The trapezoid rule on grids doubled until two agree; accurate relative to the result, however small, between
    densities that are positive throughout. Below the rounding of its own series, about 1e-14, the logarithm of the
    second density is not known; the result is given only if that matters by less than a thousandth of it.

    Raises
    ------
    ComputationFailed
        If it matters more, or the integral does not settle.
    """

    def entropy(nodes: int) -> tuple[float, float]:
        value, rounding, unknown = _entropy(one, other, nodes)
        return value, math.nan if unknown > KNOWN * value else AGREEMENT * value + rounding + unknown

    return refined_until_two_agree(
        entropy,
        growing(1 << (4 * max(one.degree, other.degree) + 16).bit_length(), MOST_NODES),
        "a relative entropy is not known, for the second density all but vanishes where the first does not; "
        "use wasserstein1",
    )


def _entropy(one: Density, other: Density, nodes: int) -> tuple[float, float, float]:
    """Return the trapezoid sum of q h((p-q)/q), its rounding, and its uncertainty where q is below rounding.

    An error e of p - q changes the integrand by e log(p/q).
    """
    p, q = (_synthesised(density.cosine - 1j * density.sine, nodes) for density in (one, other))
    difference = _synthesised(moment_difference(one, other), nodes)
    floor = _rounding(other)
    vanishing = np.minimum(p, q) < floor
    difference[vanishing] = np.maximum(p, floor)[vanishing] - np.maximum(q, floor)[vanishing]
    lost = float(np.where((q < floor) & (p >= floor), p, 0.0).mean())
    q = np.maximum(q, floor)
    ratio = difference / q
    rounding = ROUNDINGS * float(np.log1p(np.abs(ratio)).mean()) + floor * float(vanishing.mean())
    return float(np.mean(q * excess(ratio))), rounding, UNKNOWN_LOGARITHM * lost


def _synthesised(coefficients: Complexes, nodes: int) -> Floats:
    """Return 2 pi times the density on equispaced angles from 0."""
    spectrum = np.zeros(nodes // 2 + 1, dtype=complex)
    spectrum[: coefficients.size] = coefficients
    return np.asarray(np.fft.irfft(spectrum, nodes) * nodes)


def _rounding(density: Density) -> float:
    """Return the rounding of 2 pi times a density evaluated from its moments."""
    sizes = np.hypot(density.cosine[1:], density.sine[1:])
    return 8 * EPS * (1 + 2 * float(sizes.sum()))
