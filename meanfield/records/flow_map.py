r"""The flow map of a density without noise: where labelled points are at some times, and the density there.

A density without noise is carried by its characteristics, :math:`\dot X = v(X, t)`, :math:`X(0, a) = a`, along
which on the circle :math:`\rho(t, X) = \rho_0(a) / \partial_a X`. So it is known where its moments no longer
resolve it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import checked, shown
from ..base import Record
from ..errors import InvalidInput

Floats = NDArray[np.float64]


@checked
@dataclass(frozen=True, eq=False, repr=False)
class FlowMap(Record):
    """Positions of labelled points and the density at them, at some of the times of a trajectory.

    Attributes
    ----------
    time : (S,) float
        Times, increasing.
    labels : (L,) float
        Angles of the points at time 0, increasing. On spheres angles to the axis of the density.
    positions : (S, L) float
        Their angles at the times. They are not reduced to one turn, so that points keep their order.
    densities : (S, L) float
        The density at the points, per radian or, on spheres, per unit of surface; nan where
        it is rounding, or the points are too close to each other to tell it.
    cluster : float
        Angle of the mean of the density at the last time, to which a density that collapses contracts; of no
        meaning where the mean is zero.
    """

    time: Floats
    labels: Floats
    positions: Floats
    densities: Floats
    cluster: float

    def __repr__(self) -> str:
        return f"FlowMap(<{self.time.size} times, {self.labels.size} labels>)"

    @property
    def full_turn(self) -> bool:
        """Whether the points are all around the circle, and not on a meridian of a sphere."""
        return bool(np.ptp(self.labels) > np.pi)

    @property
    def separatrix(self) -> int:
        """The index of the label that is nearest to the point opposite to the cluster at the last time."""
        return int(np.argmin(np.cos(self.positions[-1] - self.cluster)))

    def from_cluster(self) -> tuple[NDArray[np.int64], Floats]:
        """Return the order of the points from the separatrix on, (L,), and their angles from the cluster, (S, L).

        Angles are continuous in time and increase with the order. At the last time they are between -pi and pi, on
        a meridian between -pi and 0.
        """
        count, cut = self.labels.size, self.separatrix
        if not self.full_turn:
            order = np.arange(count) if cut == 0 else np.arange(count)[::-1]
            return order, -np.abs(self.positions[:, order] - self.cluster)
        order = (np.arange(count) + cut) % count
        angles = self.positions[:, order] - self.cluster
        angles[:, count - cut :] += 2.0 * np.pi
        # The points in the middle have come to the cluster.
        turns = np.round(np.median(angles[-1]) / (2.0 * np.pi))
        return order, np.asarray(angles - 2.0 * np.pi * turns)

    def density(self, angle: ArrayLike, index: int = -1) -> Floats:
        """Return the density at angles from the cluster (radians) at one of the times.

        The logarithm of the density is interpolated between the points, as for figures; nan where it is not known.

        Raises
        ------
        InvalidInput
            If there is no such time.
        """
        times, count = self.positions.shape
        if not -times <= index < times:
            raise InvalidInput(
                f"the flow map has {times} times and none of number {shown(index)}; give index=0 to "
                f"index={times - 1}"
            )
        order, places = self.from_cluster()
        values = self.densities[index, order]
        logarithms = np.log(values, out=np.full(count, np.nan), where=values > 0.0)
        angles = np.asarray(angle, dtype=float)
        if self.full_turn:
            return np.asarray(np.exp(np.interp(angles, places[index], logarithms, period=2.0 * np.pi)))
        return np.asarray(np.exp(np.interp(-np.abs(angles), places[index], logarithms)))
