"""Flow maps, from the panels of labels at some of the times."""

from collections.abc import Sequence

import numpy as np

from meanfield.records import FlowMap

from ..bases import Floats
from .panels import Panels

# Times of a flow map, and its labels, at most.
MOST_TIMES, MOST_LABELS = 128, 1024
# They are chosen among so many at most.
CANDIDATES = 2**14
# Labels that never are this far apart, in radians, are one in a flow map.
APART = 2.0 * np.pi / 128


def kept(times: int) -> frozenset[int]:
    """Return which of a number of times a flow map has, the first and the last among them."""
    return frozenset(np.unique(np.linspace(0, times - 1, min(times, MOST_TIMES)).round().astype(int)).tolist())


def flow_map(times: Floats, frames: Sequence[Panels]) -> FlowMap:
    """Return the flow map of panels at times."""
    flow = frames[0].flow
    every = np.unique(np.concatenate([panels.labels.ravel() for panels in frames]))
    labels = _spread(every[:: -(-every.size // CANDIDATES)], frames)
    found = [panels.at(labels) for panels in frames]
    positions, densities = (np.array(part) for part in zip(*found, strict=True))
    images = flow.images(labels)
    order = np.argsort(images)
    copies = images.size // labels.size
    return FlowMap(
        time=times,
        labels=images[order],
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
