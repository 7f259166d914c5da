"""What the relaxation to a stable state must know of the densities around it; circle and spheres each have theirs.

Moments are complex, cosine minus i sine, in a layout of the records.
"""

import math
from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from meanfield import McKeanVlasov
from meanfield.harmonics import Layout, modes_of

from ..bases import Floats
from .deviations import Complexes as Complexes
from .deviations import DeviationPaths
from .system import System

# Logarithm of the factor by which a deviation decays in the evolution whose rate is fitted.
DECAY = math.log(1e5)

# Size of a generic perturbation relative to the density.
GENERIC = 1e-2
# Where the density is below this share of its maximum, relative changes do not count.
VACUUM = 1e-8
# Size of a deviation whose square does not matter; it is known relative to its size, so it may be small.
SMALL = 1e-10
# Change of a deviation between rounds, relative to it, below which it has settled.
SAME_SHAPE = 1e-7


class Neighbourhood(Protocol):
    """Densities around a stable state, among which one is to be seen relaxing.

    A density is kept by its deviation from the state, accurate relative to the deviation.

    Attributes
    ----------
    problem
        The equation, with its coupling.
    rate : float
        The slowest rate, in units of 1/time, at which these densities relax, rotation excluded.
    densities : str
        Which densities these are if not all, in words, such as "zonal"; else empty.
    norms : tuple of str
        Names of the distances.
    tolerance : float
        Local accuracy of the evolution.
    small : float
        Size of the moments of a deviation whose square does not matter.
    same_shape : float
        Change of a deviation between rounds, relative to it, below which it has settled.
    hopeless : str
        Why an evolution of these densities is out of the question, a clause; else empty.
    warnings : tuple of str
        What a reader must know about the choice of these densities.
    """

    problem: McKeanVlasov
    rate: float
    densities: str
    norms: tuple[str, ...]
    tolerance: float
    small: float
    same_shape: float
    hopeless: str
    warnings: tuple[str, ...]

    @property
    def rounding(self) -> float:
        """What rounding does to rates in an evolution, whatever its accuracy."""

    def generic_perturbation(self) -> Complexes:
        """Return a generic perturbation of the state of the relative size ``GENERIC``, without mass."""

    def evolved(self, start: Complexes, times: Floats, coarser: bool = False) -> list[Complexes]:
        """Return the deviations at times, equal intervals from zero, that begin with the start.

        Coarser ones have larger errors, which are seen beside those that have not.
        """

    def modulo_rotation(self, deviation: Complexes) -> Complexes:
        """Return the deviation of a density turned to where it is nearest to the state, if it may be turned."""

    def steepest(self, deviation: Complexes) -> float:
        """Return the largest relative change of the density where it is not below ``VACUUM``."""

    def distances(self, deviation: Complexes) -> Mapping[str, Callable[[], float]]:
        """Return the distances of a density to the state by name, turned likewise, each yet to be computed."""


class Followed:
    """A neighbourhood whose deviations are followed by the equation, from a system of all of its densities."""

    small = SMALL
    same_shape = SAME_SHAPE
    densities = ""
    warnings: tuple[str, ...] = ()

    problem: McKeanVlasov
    tolerance: float

    def _follow(self, make: Callable[[int], System], target: Complexes, layout: Layout = "degree") -> None:
        """Set how a system of a degree is made, and the state, its moments in the layout of the deviations."""
        self._modes = modes_of(self.problem.domain, layout)
        self._paths = DeviationPaths(make(self._degree(target)), target, self.tolerance)

    def _degree(self, moments: Complexes) -> int:
        """Return the resolution for moments."""
        return max(16, self._modes.degree(moments.size))

    @property
    def rounding(self) -> float:
        """What rounding does to rates in an evolution."""
        return self._paths.rounding

    def evolved(self, start: Complexes, times: Floats, coarser: bool = False) -> list[Complexes]:
        """Return the deviations at times that begin with the start."""
        return self._paths(start, self._degree(start), times, coarser)


def padded(moments: Complexes, size: int) -> Complexes:
    """Return moments with zeros behind them up to a size."""
    result = np.zeros(max(size, moments.size), dtype=complex)
    result[: moments.size] = moments
    return result
