r"""Labels of characteristics: nodes of Gauss panels, bisected where the density is rough, graded towards a point.

A label is the angle of a particle at time 0. Its mass is the weight of the node times the density, on spheres times
:math:`|S^{d-2}| \sin^{d-2}\theta`. Labels near the separatrix are the last to arrive, so panels shrink by one half
towards it: then every stretch of the tail is seen by as many labels.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meanfield import InvalidInput, NotResolved

from ..bases import Floats
from ..bases.transforms import waves_at
from ..evolution.initial import NEGATIVE_ROUNDING, require_mass
from ..evolution.medium import Complexes

# Nodes in a panel, in one that is graded, and panels on the circle before any is bisected.
NODES, GRADED_NODES, PANELS = 12, 8, 32
# Panels below this width, bisected or graded more than twice, take fewer nodes.
NARROW = math.pi / PANELS / 3.0
# A panel is bisected until the last coefficients of the density in it are below this share of the largest value,
# ...
ROUGHNESS = 1e-12
# ... or it is so narrow that what is missed is below the accuracy of the mass.
NARROWEST = 1e-13
MOST_PANELS = 2000


class Parting(NamedTuple):
    """A label at which the flow parts, and the width of the panels beside it."""

    label: float
    finest: float


@dataclass(frozen=True)
class LabelDensity:
    """An initial density as a function of the label.

    Attributes
    ----------
    profile
        Function of angles: the density over the uniform one.
    dimension
        d of the space around the sphere, 2 for the circle.
    even
        Whether labels are from 0 to pi and stand for both signs of the angle.
    accuracy
        Absolute error of the values.
    description
        Where it comes from.
    frame
        Angle of x = 0 on the circle; on spheres 0, or pi if labels are angles to the south pole.
    note
        What a reader must know; empty if there is nothing.
    """

    profile: Callable[[Floats], Floats]
    dimension: int
    even: bool
    accuracy: float
    description: str
    frame: float = 0.0
    note: str = ""

    @property
    def span(self) -> tuple[float, float]:
        """The range of the labels."""
        return (0.0 if self.even else -math.pi, math.pi)

    def measure(self, angles: Floats) -> Floats:
        """Return the uniform probability by the angle."""
        log_ratio = math.lgamma(0.5 * self.dimension) - math.lgamma(0.5 * (self.dimension - 1))
        # Of the two points of the circle at an angle a label stands for both or for one.
        share = (1.0 if self.even else 0.5) * math.exp(log_ratio) / math.sqrt(math.pi)
        return np.asarray(share * np.abs(np.sin(angles)) ** (self.dimension - 2))


@dataclass(frozen=True)
class Labels:
    """Labels, increasing, and their masses, of sum one."""

    angles: Floats
    masses: Floats

    def moments(self, degree: int) -> Complexes:
        """Return the means of e^(il theta), l = 0..degree."""
        return np.asarray(waves_at(self.angles, degree) @ self.masses)


def panels_of(density: LabelDensity, panels: int = PANELS) -> Floats:
    """Return the ends of panels in which a density is smooth, from so many on the whole circle.

    Raises
    ------
    InvalidInput
        If the density is negative or not finite.
    NotResolved
        If it has too many jumps or corners.
    """
    low, high = density.span
    count = panels // 2 if density.even else panels
    edges = np.linspace(low, high, count + 1)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    # Discrete Legendre transform: the last two coefficients tell whether a panel resolves the density.
    last = (np.polynomial.legendre.legvander(nodes, NODES - 1) * weights[:, None])[:, -2:] * (NODES - 1.0)
    open_panels, done, largest = np.stack([edges[:-1], edges[1:]], axis=1), [], 0.0
    while open_panels.size:
        middle, half = open_panels.mean(axis=1), 0.5 * (open_panels[:, 1] - open_panels[:, 0])
        values = _checked_values(density, middle[:, None] + half[:, None] * nodes)
        largest = max(largest, float(values.max()))
        rough = np.abs(values @ last).max(axis=1) > max(ROUGHNESS * largest, 64.0 * density.accuracy)
        rough &= half > NARROWEST
        done.append(open_panels[~rough])
        broken = open_panels[rough]
        centre = broken.mean(axis=1)
        open_panels = np.concatenate(
            [np.stack([broken[:, 0], centre], axis=1), np.stack([centre, broken[:, 1]], axis=1)]
        )
        if sum(map(len, done)) + len(open_panels) > MOST_PANELS:
            raise NotResolved(
                f"the initial density is not resolved by {MOST_PANELS} panels of labels; give one with fewer jumps "
                "and corners"
            )
    return np.unique(np.concatenate(done))


def _checked_values(density: LabelDensity, angles: Floats) -> Floats:
    """Return the values of the profile, refusing those that are not finite or negative beyond rounding."""
    values = density.profile(angles)
    if not np.isfinite(values).all():
        place = float(angles[~np.isfinite(values)][0])
        raise InvalidInput(f"the initial density is not finite at angle {place + density.frame:.6g}")
    lowest = int(np.argmin(values))
    if values.flat[lowest] < -max(NEGATIVE_ROUNDING * float(values.max()), 64.0 * density.accuracy):
        raise InvalidInput(
            f"the initial density is negative, {values.flat[lowest]:.3g} of the uniform one at angle "
            f"{angles.flat[lowest] + density.frame:.4g}; give a density >= 0"
        )
    return np.maximum(values, 0.0)


def labels_on(density: LabelDensity, edges: Floats, partings: Sequence[Parting] = ()) -> Labels:
    """Return labels on panels, graded towards the labels at which the flow parts.

    Raises
    ------
    InvalidInput
        If the mass is not one.
    """
    for label, finest in partings:
        edges = graded(edges, label, finest, density.span)
    widths = np.diff(edges)
    angles, weights = [], []
    for count in (NODES, GRADED_NODES):
        nodes, parts = np.polynomial.legendre.leggauss(count)
        chosen = (widths < NARROW) == (count == GRADED_NODES)
        middle, half = 0.5 * (edges[:-1] + edges[1:])[chosen], 0.5 * widths[chosen]
        angles.append((middle[:, None] + half[:, None] * nodes).ravel())
        weights.append((half[:, None] * parts).ravel())
    order = np.argsort(np.concatenate(angles), kind="stable")
    places = np.concatenate(angles)[order]
    masses = np.concatenate(weights)[order] * density.measure(places) * np.maximum(density.profile(places), 0.0)
    mass = float(masses.sum())
    require_mass(mass)
    retained = masses > 0.0
    return Labels(places[retained], masses[retained] / mass)


def graded(edges: Floats, centre: float, finest: float, span: tuple[float, float]) -> Floats:
    """Return ends of panels to which those at distances from a point that halve, down to ``finest``, are added."""
    width = float(np.diff(edges).max())
    distances = width * 0.5 ** np.arange(max(1, math.ceil(math.log2(width / finest))) + 1)
    added = np.concatenate([centre - distances, [centre], centre + distances])
    period = span[1] - span[0]
    if span[0] < 0.0:
        added = (added - span[0]) % period + span[0]
    inside = added[(added > span[0]) & (added < span[1])]
    every = np.unique(np.concatenate([edges, inside]))
    # Old ends closer to the point than its own panels would break their order of sizes.
    gap = (
        np.abs((every - centre + 0.5 * period) % period - 0.5 * period) if span[0] < 0.0 else np.abs(every - centre)
    )
    foreign = ~np.isin(every, inside) & (gap < 0.75 * width) & (every != span[0]) & (every != span[1])
    return np.asarray(every[~foreign]) if _smooth_near(edges, width) else every


def _smooth_near(edges: Floats, width: float) -> bool:
    """Return whether no panel was bisected, so that ends may be taken out."""
    return bool(np.diff(edges).min() > 0.5 * width)
