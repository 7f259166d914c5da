r"""The factor exp(-V/D) of a confinement on the circle with a kink or a singularity, by its exact moments.

The multipliers of such a V decay like a power of the degree, and a field cut at some degree is another one. The
density is the product :math:`e^{-\kappa W*\rho/D}\, e^{-V/D}`, whose first factor has few degrees. Moments of the
second up to N then give those of the product up to N less the degrees of the first without any error of truncation.
They are integrals over the values of V itself, by Gauss rules on panels divided until each sees a polynomial.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from meanfield import Domain, Equation, NotResolved

from . import EPS, SMALL_FIELD, Boltzmann, Floats

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
# The last moment that is taken, and with it the most nodes of densities.
MOST_MOMENTS = 2048
# Degrees whose waves are summed at once.
TOGETHER = 64


class Panels(NamedTuple):
    """Nodes and weights (n,) of a composite rule on [0, pi], values of functions (n, m), relative errors (m,)."""

    nodes: Floats
    weights: Floats
    values: Floats
    lost: Floats


def boltzmann_factor(problem: Equation, symmetry: int, cells: int) -> Boltzmann:
    """Return the moments of exp(-V/D) by cell from 0 up to ``cells``, for a confinement of a rotation symmetry.

    Raises
    ------
    NotResolved
        If it cannot be integrated to rounding level.
    """
    return _factors((_Factor.of(problem),), symmetry, cells)[0]


def boltzmann_factors(problems: Sequence[Equation], symmetry: int, cells: int) -> list[Boltzmann]:
    """Return the factors of several problems, as :func:`boltzmann_factor`, by one rule for all.

    Raises
    ------
    NotResolved
        If one cannot be integrated to rounding level.
    """
    return _factors(tuple(map(_Factor.of, problems)), symmetry, cells)


class _Factor(NamedTuple):
    """What a factor depends on."""

    confinement: Any
    domain: Domain
    noise: float

    @classmethod
    def of(cls, problem: Equation) -> "_Factor":
        return cls(problem.confinement, problem.domain, problem.positive_noise)

    def field(self, symmetry: int, angle: Floats) -> Floats:
        """Return -(V - <V>)/D at angles in units of cells."""
        confinement, mean = self.confinement, float(self.confinement.multipliers(self.domain, 0)[0])
        with np.errstate(all="ignore"):
            return np.asarray(-(confinement.values(angle / symmetry) - mean) / self.noise, dtype=float)


@functools.lru_cache(maxsize=16)
def _factors(wanted: tuple[_Factor, ...], symmetry: int, cells: int) -> list[Boltzmann]:
    # The two halves of the circle are one for even confinements.
    sides = (1.0,) if all(each.confinement.even for each in wanted) else (1.0, -1.0)
    angles = np.pi * (np.arange(SAMPLES) + 0.5) / SAMPLES
    sampled = np.array([[each.field(symmetry, side * angles) for side in sides] for each in wanted])
    tops, largest = sampled.max(axis=(1, 2)), np.abs(sampled).max(axis=(1, 2))
    weak = largest < SMALL_FIELD
    shifts = np.where(weak, 0.0, tops)
    noises = 64.0 * EPS * (1.0 + largest)

    def factors(side: float, angle: Floats) -> Floats:
        values = np.stack([each.field(symmetry, side * angle) for each in wanted], axis=-1)
        with np.errstate(all="ignore"):
            values[..., weak] = np.expm1(values[..., weak])
            values[..., ~weak] = np.exp(values[..., ~weak] - shifts[~weak])
        return values

    halves: list[Any] = []
    for side in sides:
        rule = _panels(functools.partial(factors, side), noises)
        if not (rule.lost <= LOST).all():
            worst = wanted[int(np.argmax(rule.lost > LOST))]
            raise NotResolved(
                f"exp(-V/D) of the confinement {worst.confinement.name!r} at noise {worst.noise:g} cannot be "
                "integrated to rounding level: its integral diverges or nearly so; take a larger noise or a weaker "
                "confinement"
            )
        halves.append(_means_of_waves(rule.nodes, rule.weights[:, None] * rule.values / np.pi, cells + 1))
    moments = halves[0].real if len(halves) == 1 else 0.5 * (halves[0] + halves[1].conj())
    return [
        Boltzmann(column, 1.0 if small else 0.0, float(shift))
        for column, small, shift in zip(np.ascontiguousarray(moments.T), weak.tolist(), shifts, strict=True)
    ]


def _means_of_waves(nodes: Floats, weighted: Floats, count: int) -> Any:
    """Return the sums of exp(-ikt), k < count, (count, m), with weights (n, m).

    By cos((k + r) t) = cos kt cos rt - sin kt sin rt for a few r.
    """
    phases = np.multiply.outer(np.arange(TOGETHER), nodes)
    cosines, sines = np.cos(phases), np.sin(phases)
    parts = []
    for first in range(0, count, TOGETHER):
        even, odd = weighted * np.cos(first * nodes)[:, None], weighted * np.sin(first * nodes)[:, None]
        parts.append(cosines @ even - sines @ odd - 1j * (sines @ even + cosines @ odd))
    return np.concatenate(parts)[:count]


def _panels(functions: Callable[[Floats], Floats], noises: Floats) -> Panels:
    """Return the rule on panels divided until the last Legendre coefficients on each are rounding noise.

    Parameters
    ----------
    functions
        Those to be integrated, (..., m) at angles.
    noises : (m,) float
        Those of the values, relative to the largest of a panel.
    """
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    last = np.polynomial.legendre.legvander(points, POINTS - 1)[:, -2:] * weights[:, None] * (POINTS - 1.0)
    edges = np.linspace(0.0, np.pi, PANELS + 1)
    left, right = edges[:-1], edges[1:]
    accepted: list[tuple[Floats, Floats, Floats]] = []
    total, lost = np.zeros(noises.size), np.zeros(noises.size)
    while left.size:
        half = 0.5 * (right - left)
        nodes = (left + half)[:, None] + half[:, None] * points
        values = functions(nodes)
        sizes = np.abs(values).max(axis=1)
        finite = np.isfinite(sizes)
        values[~finite[:, None] & np.ones_like(values, dtype=bool)] = 0.0
        if not total.any():
            total = half @ np.einsum("pqm,q->pm", np.abs(values), weights)
        tails = np.abs(np.einsum("pqm,qk->pmk", values, last)).sum(axis=2)
        smooth = finite & ((tails <= noises * sizes) | (tails * half[:, None] <= NEGLIGIBLE * total))
        fine = smooth.all(axis=1)
        narrow = ~fine & ((half < NARROWEST * left) | (half < SMALLEST) | (left.size > MOST_PANELS))
        lost += np.where(finite, tails * half[:, None], np.inf)[narrow].sum(axis=0)
        done = fine | narrow
        accepted.append(
            (nodes[done].ravel(), (half[:, None] * weights)[done].ravel(), values[done].reshape(-1, noises.size))
        )
        middle = (left + half)[~done]
        left, right = np.concatenate([left[~done], middle]), np.concatenate([middle, right[~done]])
    nodes, sizes, values = (np.concatenate(parts) for parts in zip(*accepted, strict=True))
    return Panels(nodes, sizes, values, np.where(total > 0.0, lost / np.where(total > 0.0, total, 1.0), np.inf))
