"""Flow maps, from the panels of labels at some of the times."""

from collections.abc import Sequence

import numpy as np

from meanfield.records import FlowMap

from ..bases import Floats
from .panels import Panels

# Times of a flow map, and its labels, at most.
MOST_TIMES, MOST_LABELS = 128, 1024
# About so many of the times are looked at to choose the labels.
LOOKS = 16
# Labels that never are this far apart, in radians, are one in a flow map.
APART = 2.0 * np.pi / 128


def kept(times: int) -> frozenset[int]:
    """Return which of a number of times a flow map has, the first and the last among them."""
    return frozenset(np.unique(np.linspace(0, times - 1, min(times, MOST_TIMES)).round().astype(int)).tolist())


def flow_map(times: Floats, frames: Sequence[Panels]) -> FlowMap:
    """Return the flow map of panels at times."""
    flow, looked = frames[0].flow, frames[:: -max(1, len(frames) // LOOKS)]
    labels = _spread(np.unique(np.concatenate([panels.labels.ravel() for panels in looked])), looked)
    found = [panels.at(labels) for panels in frames]
    positions, densities = (np.array(part) for part in zip(*found, strict=True))
    every = flow.images(labels)
    order = np.argsort(every)
    copies = every.size // labels.size
    return FlowMap(
        time=times,
        labels=every[order],
        positions=flow.images(positions)[:, order],
        densities=np.tile(densities, copies)[:, order],
        cluster=_cluster(frames[-1]),
    )


def _spread(labels: Floats, frames: Sequence[Panels]) -> Floats:
    """Return labels whose positions are well apart from those of the one before in some frame."""
    steps = np.abs(np.diff([panels.at(labels)[0] for panels in frames], axis=1)).max(axis=0)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    apart = max(APART, along[-1] / MOST_LABELS)
    return labels[np.unique(along // apart, return_index=True)[1]]


def _cluster(panels: Panels) -> float:
    """Return the angle of the mean of a density."""
    low, high = panels.flow.interval
    mean = complex(np.sum(panels.masses * np.exp(1j * panels.positions)))
    if high - low <= np.pi:
        mean = mean.real + 0j
    return float(panels.flow.images(np.angle([mean]))[0])
