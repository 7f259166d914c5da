"""The clusters in which a density without noise waits that has not collapsed to one point, in a sentence.

Labels that have come together act like one particle with their mass, so that a few of them tell how long the
clusters wait for each other: the times, exponentially long at large beta, cost nothing.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from ..bases import Floats
from ..bases.transforms import waves_at
from ..evolution.medium import Medium
from .collapse import MOST_STEPS, History, remainder_of
from .labels import LabelDensity

# Neighbours this close belong together, and together are a cluster from this mass on.
LINKED, LEAST_MASS = 1e-3, 1e-3
# Clusters are followed for this time, in units of 1/kappa, until 1 - r is as small as the second number.
LONGEST_WAIT, TOGETHER = 1e15, 1e-3
# What is named in the sentence: so many clusters, if they hold all but this share of the mass.
MOST_SHOWN, LOOSE = 6, 0.05


class Cluster(NamedTuple):
    """Mass at one angle, on both sides of the axis if densities are even."""

    angle: float
    mass: float


def clusters_of(history: History, even: bool) -> list[Cluster]:
    """Return the clusters at the last time, the heaviest first."""
    angles, masses = history.angles, history.masses
    runs = np.split(np.arange(angles.size), np.flatnonzero(np.diff(angles) > LINKED) + 1)
    sums = [float(masses[run].sum()) for run in runs]
    found = [Cluster(float(angles[run] @ masses[run]) / mass, mass) for run, mass in zip(runs, sums, strict=True)]
    if not even and len(found) > 1 and found[0].angle + 2.0 * math.pi - found[-1].angle < LINKED:
        first, last = found[0], found.pop()
        found[0] = Cluster(first.angle, first.mass + last.mass)
    return sorted((one for one in found if one.mass >= LEAST_MASS), key=lambda one: -one.mass)


def meeting_time(medium: Medium, clusters: list[Cluster]) -> float | None:
    """Return the time in which clusters come together in one, or None if they do not while they are followed."""
    angles, masses = (np.array(row) for row in zip(*clusters, strict=True))
    masses = masses / masses.sum()
    # On an axis clusters stay for ever, where rounding would move them.
    fixed = np.abs(np.sin(angles)) < LINKED if medium.even else np.zeros(angles.size, dtype=bool)

    def velocity(_: float, places: Floats) -> Floats:
        waves = waves_at(places, medium.degree)
        return np.where(fixed, 0.0, medium.velocity(waves, medium.fields(waves @ masses)))

    def apart(_: float, places: Floats) -> float:
        return remainder_of(places, masses, medium.even) - TOGETHER

    apart.terminal = True  # type: ignore[attr-defined]
    longest = LONGEST_WAIT / abs(medium.coupling)
    found = solve_ivp(velocity, (0.0, longest), angles, method="LSODA", rtol=1e-6, atol=1e-9, events=apart)
    return float(found.t[-1]) if found.status == 1 else None


def not_collapsed(medium: Medium, density: LabelDensity, history: History) -> str:
    """Return what was seen of a density that did not collapse to a point, in a sentence."""
    until, remainder = history.until, float(history.remainder[-1])
    clusters = clusters_of(history, medium.even)
    spread = 1.0 - sum(cluster.mass for cluster in clusters)
    seen = f"the density has not collapsed to one point by time {until:.4g}"
    if history.ends.size > MOST_STEPS:
        seen += f", after {MOST_STEPS} steps"
    if len(clusters) < 2 or len(clusters) > MOST_SHOWN or spread > LOOSE:
        return (
            f"{seen}: 1 - r is {remainder:.3g} there and was {float(history.remainder.min()):.3g} at least, and no "
            "few clusters hold the mass, so it may gather later, or not at all; try another initial density, or "
            "follow this one (evolve)"
        )
    places = " and ".join(_shown(cluster, density) for cluster in clusters)
    return (
        f"{seen}: it rests in {len(clusters)} clusters, {places}, {_future(medium, clusters, until)}; there is no "
        "contraction rate before, so give an initial density nearer to one cluster, or follow the clusters as "
        "particles (simulate)"
    )


def _shown(cluster: Cluster, density: LabelDensity) -> str:
    if density.even:
        axis = f"from the axis at {_rounded(density.frame)}"
        return f"{cluster.mass:.4g} of the mass at the angle {_rounded(cluster.angle)} {axis}"
    return f"{cluster.mass:.4g} of the mass at the angle {_rounded(cluster.angle + density.frame)}"


def _rounded(angle: float) -> str:
    return f"{round(math.remainder(angle, 2.0 * math.pi), 4) + 0.0:g}"


def _future(medium: Medium, clusters: list[Cluster], until: float) -> str:
    time = meeting_time(medium, clusters)
    if time is None and medium.even:
        return "which symmetry about the axis holds apart"
    if time is None:
        return "which do not meet in any time that was followed"
    return f"which attract each other so weakly that they meet at about time {until + time:.3g}"
