r"""Gauss panels of labels, halved where their positions are no longer resolved and joined where they are again.

Positions X(a) are smooth functions of the labels a, but the flow of a collapsing density stretches them
exponentially about the label that stays between its ends. A panel of p Gauss nodes resolves them while the last
Legendre coefficients of X and of the steepest wave :math:`e^{iKX}` that is averaged are small, relative to the
mass on the panel: where there is no mass, nothing has to be resolved. Panels that would not are halved *before*
that, and the positions of the new labels interpolated, so that the refinement follows the flow wherever it goes.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.legendre import legder, leggauss, legvander
from numpy.typing import NDArray

from ..bases import Floats
from .flow import Flow

# Gauss nodes of a panel; of their Legendre coefficients the last few are looked at.
NODES, LAST = 16, 3
# The steepest wave may turn by this angle along one of the first panels.
TURN = 12.0
# A rule of p nodes is exact to degree 2p - 1, so that a wave need be known to the root of the tolerance only.
WAVE_SHARE = 1e-2
# Positions resolved to this share of their range have a derivative that is good for figures.
FAITHFUL = 1e-6
# Below this share of its largest value the first density is the rounding of its moments.
ROUNDING = 1e-14
# Two halves are joined if the whole is resolved to this share of the tolerance, so that it stays whole.
JOINED_SHARE = 1e-2


@dataclass(frozen=True, eq=False)
class Panels:
    """Labels on panels with their positions.

    Attributes
    ----------
    flow
        The flow that moves them.
    borders : (R + 1,) float
        Those of the first panels.
    levels, indices : (P,) int
        How often a panel was halved, and its number among all panels of its level.
    positions : (P, NODES) float
        Of the labels, now.
    masses : (P, NODES) float
        Carried by the labels.
    """

    flow: Flow
    borders: Floats
    levels: NDArray[np.int64]
    indices: NDArray[np.int64]
    positions: Floats
    masses: Floats

    @property
    def widths(self) -> Floats:
        """The widths of the panels, (P,)."""
        return np.asarray((self.borders[1] - self.borders[0]) * 0.5**self.levels)

    @property
    def labels(self) -> Floats:
        """The labels, (P, NODES)."""
        first = self.borders[0] + self.indices * self.widths
        return np.asarray(first[:, None] + 0.5 * self.widths[:, None] * (1.0 + tables().nodes))

    def moved(self, positions: Floats) -> "Panels":
        """Return the same labels at other positions, given one after the other."""
        return replace(self, positions=positions.reshape(self.positions.shape))

    def unresolved(self, degree: int, tolerance: float) -> NDArray[np.bool_]:
        """Return which panels, (P,), do not resolve positions or the wave of a degree to a tolerance."""
        last = tables().analysis[-LAST:].T
        mass = np.abs(self.masses).sum(axis=1)
        tail = np.abs(self.positions @ last).max(axis=1)
        steep = np.abs(np.exp(1j * degree * self.positions) @ last).max(axis=1)
        return np.asarray((degree * tail * mass > tolerance) | (steep**2 * mass > WAVE_SHARE * tolerance))

    def halved(self, chosen: NDArray[np.bool_]) -> "Panels":
        """Return panels of which the chosen ones are halved."""
        return self._without(
            chosen,
            self.made(self.levels[chosen] + 1, 2 * self.indices[chosen], self._half(chosen, 0)),
            self.made(self.levels[chosen] + 1, 2 * self.indices[chosen] + 1, self._half(chosen, 1)),
        )

    def joined(self, degree: int, tolerance: float) -> "Panels":
        """Return panels of which two halves are joined where the whole is well resolved."""
        order = np.lexsort((self.indices, self.levels))
        first, second = order[:-1], order[1:]
        pairs = (self.levels[first] == self.levels[second]) & (self.indices[second] == self.indices[first] + 1)
        pairs &= (self.indices[first] % 2 == 0) & (self.levels[first] > 0)
        first, second = first[pairs], second[pairs]
        low, high = tables().whole
        whole = self.made(
            self.levels[first] - 1,
            self.indices[first] // 2,
            self.positions[first] @ low.T + self.positions[second] @ high.T,
        )
        fit = ~whole.unresolved(degree, JOINED_SHARE * tolerance)
        gone = np.zeros(self.levels.size, dtype=bool)
        gone[first[fit]] = gone[second[fit]] = True
        return self._without(gone, whole._chosen(fit))

    def lowest(self, tolerance: float) -> float:
        """Return the smallest value of the density at the labels of panels that are resolved; nan if none is."""
        table = tables()
        stretch = 2.0 * (self.positions @ table.slopes.T) / self.widths[:, None]
        tail = np.abs(self.positions @ table.analysis[-LAST:].T).max(axis=1)
        known = tail <= tolerance * np.ptp(self.positions, axis=1)
        if not known.any():
            return float("nan")
        parts = (self.labels, self.positions, stretch)
        return float(self.flow.density(*(part[known].ravel() for part in parts)).min())

    def at(self, labels: Floats) -> tuple[Floats, Floats]:
        """Return positions of labels (L,) and the density there, nan where it is lost in rounding."""
        table = tables()
        ends = self.borders[0] + self.indices * self.widths
        order = np.argsort(ends)
        panels = order[np.maximum(np.searchsorted(ends[order], labels, side="right") - 1, 0)]
        inside = np.clip(2.0 * (labels - ends[panels]) / self.widths[panels] - 1.0, -1.0, 1.0)
        interpolation = legvander(inside, NODES - 1) @ table.analysis
        positions = np.sum(interpolation * self.positions[panels], axis=1)
        slopes = (self.positions @ table.slopes.T)[panels]
        stretch = 2.0 * np.sum(interpolation * slopes, axis=1) / self.widths[panels]
        tail = np.abs(self.positions @ table.analysis[-LAST:].T).max(axis=1)
        known = (tail <= FAITHFUL * np.ptp(self.positions, axis=1))[panels] & (stretch > 0.0)
        first = self.flow.density(labels, labels, np.ones(labels.size))
        known &= first > ROUNDING * first.max()
        densities = np.full(labels.size, np.nan)
        densities[known] = self.flow.density(labels[known], positions[known], stretch[known])
        return positions, densities

    def _half(self, chosen: NDArray[np.bool_], side: int) -> Floats:
        return np.asarray(self.positions[chosen] @ tables().halves[side].T)

    def made(self, levels: NDArray[Any], indices: NDArray[Any], positions: Floats) -> "Panels":
        """Return panels of levels and indices at positions, with their masses."""
        empty = np.zeros((levels.size, NODES))
        made = replace(self, levels=levels, indices=indices, positions=positions, masses=empty)
        densities = self.flow.masses(made.labels.ravel()).reshape(empty.shape)
        return replace(made, masses=densities * 0.5 * made.widths[:, None] * tables().weights)

    def _chosen(self, chosen: NDArray[np.bool_]) -> "Panels":
        return replace(
            self,
            levels=self.levels[chosen],
            indices=self.indices[chosen],
            positions=self.positions[chosen],
            masses=self.masses[chosen],
        )

    def _without(self, gone: NDArray[np.bool_], *others: "Panels") -> "Panels":
        """Return the panels that are not gone with others."""
        parts = (self._chosen(~gone), *others)
        return replace(
            self,
            levels=np.concatenate([part.levels for part in parts]),
            indices=np.concatenate([part.indices for part in parts]),
            positions=np.concatenate([part.positions for part in parts]),
            masses=np.concatenate([part.masses for part in parts]),
        )


def first_panels(flow: Flow, degree: int) -> Panels:
    """Return panels that resolve the first density and waves of a degree beside its field."""
    low, high = flow.interval
    count = int(np.ceil((high - low) * (degree + flow.reach) / TURN))
    none, empty = np.zeros(0, dtype=np.int64), np.zeros((0, NODES))
    panels = Panels(flow, np.linspace(low, high, count + 1), none, none, empty, empty)
    made = panels.made(np.zeros(count, dtype=np.int64), np.arange(count), np.zeros((count, NODES)))
    return made.moved(made.labels)


class Tables(NamedTuple):
    """Nodes and weights on [-1, 1], and matrices that act on values at the nodes.

    ``analysis`` gives Legendre coefficients, ``halves`` the values at the nodes of both halves, ``whole`` the parts
    of the values at the nodes of the whole that two halves have, and ``slopes`` derivatives.
    """

    nodes: Floats
    weights: Floats
    analysis: Floats
    halves: Floats
    whole: Floats
    slopes: Floats


@cache
def tables() -> Tables:
    """Return the tables of panels."""
    nodes, weights = leggauss(NODES)
    analysis = (legvander(nodes, NODES - 1) * weights[:, None]).T * (np.arange(NODES) + 0.5)[:, None]
    sides = (-1.0, 1.0)
    halves = np.array([legvander(0.5 * (nodes + side), NODES - 1) @ analysis for side in sides])
    own = (nodes < 0.0, nodes > 0.0)
    values = (legvander(2.0 * nodes - side, NODES - 1) @ analysis for side in sides)
    whole = np.array([np.where(mine[:, None], each, 0.0) for mine, each in zip(own, values, strict=True)])
    slopes = legvander(nodes, NODES - 2) @ legder(np.eye(NODES), axis=0) @ analysis
    return Tables(nodes, weights, analysis, halves, whole, slopes)
