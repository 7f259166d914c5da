r"""The factor exp(-V/D) of a confinement on the circle with a kink or a singularity, by its exact moments.

The multipliers of such a V decay like a power of the degree, and a field cut at some degree is another one. The
density is the product :math:`e^{-\kappa W*\rho/D}\, e^{-V/D}`, whose first factor has few degrees. Moments of the
second up to N then give those of the product up to N less the degrees of the first without any error of truncation.
They are integrals over the values of V itself, by Gauss rules on panels divided until each sees a polynomial.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from meanfield import Domain, Equation, NotResolved

from .bases import EPS, SMALL_FIELD, Boltzmann, Floats

# Panels to start with on half a period, which see waves of the highest degree, and the nodes of each.
PANELS, POINTS = 512, 16
# Angles at which the size of the confinement is looked at.
SAMPLES = 4096
# Share of the integral that a panel may miss, and panels of one size beyond which none is divided any more.
NEGLIGIBLE, MOST_PANELS = 1e-3 * EPS, 20000
# A panel this narrow is not divided any more, angles being known no better; near 0 they are known to all digits.
NARROWEST, SMALLEST = 1e-13, 1e-290
# Share of the integral that may be lost.
LOST = 1e-13
# Degrees whose waves are summed at once.
TOGETHER = 64


class Panels(NamedTuple):
    """Nodes and weights of a composite rule on [0, pi], and its relative error."""

    nodes: Floats
    weights: Floats
    values: Floats
    lost: float


def boltzmann_factor(problem: Equation, symmetry: int, cells: int) -> Boltzmann:
    """Return the moments of exp(-V/D) by cell from 0 up to ``cells``, for a confinement of a rotation symmetry.

    Raises
    ------
    NotResolved
        If it cannot be integrated to rounding level.
    """
    confinement: Any = problem.confinement
    return _factor(confinement, problem.domain, problem.noise, symmetry, cells)


@functools.lru_cache(maxsize=16)
def _factor(confinement: Any, domain: Domain, noise: float, symmetry: int, cells: int) -> Boltzmann:
    mean = float(confinement.multipliers(domain, 0)[0])
    # The two halves of the circle are one for an even confinement.
    sides = (1.0,) if confinement.even else (1.0, -1.0)

    def field(angle: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(-(confinement.values(angle / symmetry) - mean) / noise, dtype=float)

    angles = np.pi * (np.arange(SAMPLES) + 0.5) / SAMPLES
    sampled = np.concatenate([field(side * angles) for side in sides])
    top = float(sampled.max())
    weak = bool(np.abs(sampled).max() < SMALL_FIELD)
    shift = 0.0 if weak else top
    noise_of_values = 64.0 * EPS * (1.0 + float(np.abs(sampled).max()))

    def factor(side: float, angle: Floats) -> Floats:
        with np.errstate(all="ignore"):
            values = field(side * angle)
            return np.asarray(np.expm1(values) if weak else np.exp(values - shift))

    halves: list[Any] = []
    for side in sides:
        rule = _panels(functools.partial(factor, side), noise_of_values)
        if not rule.lost <= LOST:
            raise NotResolved(
                f"exp(-V/D) of the confinement {confinement.name!r} at noise {noise:g} cannot be integrated to "
                "rounding level: its integral diverges or nearly so; take a larger noise or a weaker confinement"
            )
        halves.append(_means_of_waves(rule.nodes, rule.weights * rule.values / np.pi, cells + 1))
    moments = halves[0].real if len(halves) == 1 else 0.5 * (halves[0] + halves[1].conj())
    return Boltzmann(moments, 1.0 if weak else 0.0, shift)


def _means_of_waves(nodes: Floats, weighted: Floats, count: int) -> Any:
    """Return the sums of exp(-ikt), k < count, by cos((k + r) t) = cos kt cos rt - sin kt sin rt for a few r."""
    phases = np.multiply.outer(np.arange(TOGETHER), nodes)
    cosines, sines = np.cos(phases), np.sin(phases)
    parts = []
    for first in range(0, count, TOGETHER):
        even, odd = weighted * np.cos(first * nodes), weighted * np.sin(first * nodes)
        parts.append(cosines @ even - sines @ odd - 1j * (sines @ even + cosines @ odd))
    return np.concatenate(parts)[:count]


def _panels(function: Callable[[Floats], Floats], noise: float) -> Panels:
    """Return the rule on panels divided until the last Legendre coefficients on each are rounding noise.

    ``noise`` is that of the values, relative to the largest of a panel.
    """
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    last = np.polynomial.legendre.legvander(points, POINTS - 1)[:, -2:] * weights[:, None] * (POINTS - 1.0)
    edges = np.linspace(0.0, np.pi, PANELS + 1)
    left, right = edges[:-1], edges[1:]
    accepted: list[tuple[Floats, Floats, Floats]] = []
    total, lost = 0.0, 0.0
    while left.size:
        half = 0.5 * (right - left)
        nodes = (left + half)[:, None] + half[:, None] * points
        values = function(nodes)
        sizes = np.abs(values).max(axis=1)
        finite = np.isfinite(sizes)
        values[~finite] = 0.0
        total = total or float(half @ np.abs(values) @ weights)
        tails = np.abs(values @ last).sum(axis=1)
        fine = finite & ((tails <= noise * sizes) | (tails * half <= NEGLIGIBLE * total))
        narrow = ~fine & ((half < NARROWEST * left) | (half < SMALLEST) | (left.size > MOST_PANELS))
        lost += float(np.where(finite, tails * half, np.inf)[narrow].sum())
        done = fine | narrow
        accepted.append((nodes[done].ravel(), (half[:, None] * weights)[done].ravel(), values[done].ravel()))
        middle = (left + half)[~done]
        left, right = np.concatenate([left[~done], middle]), np.concatenate([middle, right[~done]])
    nodes, sizes, values = (np.concatenate(parts) for parts in zip(*accepted, strict=True))
    return Panels(nodes, sizes, values, lost / total if total > 0.0 else np.inf)
